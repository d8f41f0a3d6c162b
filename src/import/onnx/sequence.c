// Operators on sequences and optionals (holder.h). What is known when compiling costs nothing; of a sequence whose
// length is not, members are ranges of its data. Splitting and joining is in sequence_parts.c, SequenceMap in
// sequence_map.c.
#include <string.h>

#include "import/onnx/holder.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

bool onnx_sequence_input(onnx_node_t* n, uint32_t i, onnx_holder_t* out) {
  onnx_value_t x = n->in[i];
  if (onnx_is_optional(x)) x = x.holder->value;
  if (!x.v || !onnx_is_sequence(x)) return onnx_error(n, "input %u must be a sequence", i);
  return *out = *x.holder, true;
}

onnx_dim_t onnx_sequence_length(onnx_node_t* n, const onnx_holder_t* s) {
  return s->data ? onnx_dim(n, s->shapes, 0) : onnx_dim_of(s->count);
}

// Input i as a place from 0 to `limit` - 1; negative ones count from `length`, the end.
static bool read_place(onnx_node_t* n, uint32_t i, onnx_dim_t length, onnx_dim_t limit, onnx_dim_t* out) {
  if (!onnx_is_int(n->in[i]) || !onnx_number_input(n, i, out)) return onnx_error(n, "the position must be an integer");
  *out = onnx_dim_wrap(n, *out, length);
  onnx_dim_t low = onnx_dim_test(n, SCALAR_ge, *out, onnx_dim_of(0)), high = onnx_dim_test(n, SCALAR_lt, *out, limit);
  return onnx_require(n, onnx_flag_and(n, low, high), "the position is not within the sequence");
}

//===----------------------------------------------------------------------------------------------------------------===
// Members of sequences of run-time length
//===----------------------------------------------------------------------------------------------------------------===

typedef struct span_t {
  onnx_dim_t first, size;
} span_t;

// Elements of a vector, or rows of a table.
static ir_value_t* take_span(onnx_node_t* n, ir_value_t* x, span_t span) {
  onnx_range_t ranges[2] = {{span.first, span.size, onnx_dim_of(1)}};
  if (x->type->rank == 2) ranges[1] = (onnx_range_t){onnx_dim_of(0), onnx_dim(n, x, 1), onnx_dim_of(1)};
  return onnx_take_ranges(n, x, ranges);
}

// How many elements come before member `place`.
static bool offset_of(onnx_node_t* n, const onnx_holder_t* s, onnx_dim_t place, onnx_dim_t* out) {
  static const int64_t columns = 1, rows = 0;
  ir_value_t* counts = graph_reduce(n->b, s->shapes, &columns, 1, "mul");
  ir_value_t* before = graph_binary(n->b, SCALAR_lt, onnx_iota_like(n, counts, 0), onnx_dim_like(n, place, counts));
  counts = graph_select(n->b, before, counts, graph_splat_like(n->b, counts, 0));
  return onnx_tensor_number(n, graph_reduce(n->b, counts, &rows, 1, "add"), out);
}

// Where the elements of member `place` are.
static bool find_span(onnx_node_t* n, const onnx_holder_t* s, onnx_dim_t place, span_t* out) {
  onnx_dim_t end;
  if (!offset_of(n, s, place, &out->first)) return false;
  if (!offset_of(n, s, onnx_dim_add(n, place, onnx_dim_of(1)), &end)) return false;
  return out->size = onnx_dim_sub(n, end, out->first), true;
}

bool onnx_sequence_member(onnx_node_t* n, const onnx_holder_t* s, onnx_dim_t place, onnx_value_t* out) {
  onnx_dim_t dims[ONNX_MAX_RANK + 1], width = onnx_dim_of(s->rank);
  span_t span = {.size = onnx_dim_of(1)};
  uint32_t count;
  if (s->rank < 0) return onnx_unsupported(n, "the rank of the sequence's tensors must be declared");
  ir_value_t* row = onnx_reshape(n, take_span(n, s->shapes, (span_t){place, onnx_dim_of(1)}), 1, &width);
  onnx_value_t x = onnx_value(row, onnx_si64(n->ctx));
  onnx_node_t inner = *n;
  inner.in = &x, inner.in_count = 1;
  if (!onnx_dims_input(&inner, 0, dims, ONNX_MAX_RANK, &count) || !offset_of(n, s, place, &span.first)) return false;
  for (int32_t i = 0; i < s->rank; ++i) span.size = onnx_dim_mul(n, span.size, dims[i]);
  bool strings = onnx_is_str(s->element);
  if (strings) dims[s->rank] = onnx_dim(n, s->data, 1);
  *out = onnx_value(onnx_reshape(n, take_span(n, s->data, span), s->rank + strings, dims), s->element);
  return true;
}

// Everything but the span, with `between` (may be NULL) in its place.
static ir_value_t* replace_span(onnx_node_t* n, ir_value_t* x, span_t span, ir_value_t* between) {
  onnx_dim_t end = onnx_dim_add(n, span.first, span.size);
  ir_value_t* parts[3] = {take_span(n, x, (span_t){onnx_dim_of(0), span.first}), between};
  ir_value_t* rest = take_span(n, x, (span_t){end, onnx_dim_sub(n, onnx_dim(n, x, 0), end)});
  parts[between ? 2 : 1] = rest;
  return graph_concat(n->b, parts, between ? 3 : 2, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Making and changing
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_lower_sequence_construct(onnx_node_t* n) {
  for (uint32_t i = 0; i < n->in_count; ++i) {
    if (!n->in[i].v || n->in[i].holder) return onnx_error(n, "input %u must be a tensor", i);
    if (!onnx_check_same_element(n, 0, i)) return false;
  }
  return onnx_give(n, onnx_sequence_value(n, n->in, n->in_count, n->in[0].element));
}

bool onnx_lower_sequence_empty(onnx_node_t* n) {
  const ir_type_t* element = onnx_any_element_type(n->ctx, onnx_int(n, "dtype", 1));
  if (!element) return onnx_unsupported(n, "elements of type %s", onnx_data_type_name(onnx_int(n, "dtype", 1)));
  return onnx_give(n, onnx_sequence_value(n, NULL, 0, element));
}

bool onnx_lower_sequence_length(onnx_node_t* n) {
  onnx_holder_t s;
  if (!onnx_sequence_input(n, 0, &s)) return false;
  return onnx_return(n, onnx_dim_tensor(n, onnx_sequence_length(n, &s), 0), onnx_si64(n->ctx));
}

bool onnx_lower_sequence_at(onnx_node_t* n) {
  onnx_holder_t s;
  onnx_dim_t place;
  onnx_value_t member;
  if (!onnx_sequence_input(n, 0, &s)) return false;
  onnx_dim_t length = onnx_sequence_length(n, &s);
  if (!read_place(n, 1, length, length, &place)) return false;
  if (!s.data && onnx_dim_known(place)) return onnx_give(n, s.items[place.size]);
  if (!onnx_sequence_flatten(n, &s)) return false;
  if (s.rank < 0) s.rank = onnx_result_rank(n, 0);
  return onnx_sequence_member(n, &s, place, &member) && onnx_give(n, member);
}

// A copy of known members without those from `first` to `last` - 1, and with x there (v NULL: nothing).
static bool edit_members(onnx_node_t* n, const onnx_holder_t* s, uint32_t first, uint32_t last, onnx_value_t x) {
  onnx_value_t* items = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, s->count + 2);
  uint32_t count = 0;
  for (uint32_t i = 0; i < first; ++i) items[count++] = s->items[i];
  if (x.v) items[count++] = x;
  for (uint32_t i = last; i < s->count; ++i) items[count++] = s->items[i];
  return onnx_give(n, onnx_sequence_value(n, items, count, s->element));
}

bool onnx_lower_sequence_insert(onnx_node_t* n) {
  onnx_holder_t s;
  onnx_value_t x = n->in[1];
  span_t at = {onnx_dim_of(0), onnx_dim_of(0)};
  if (!onnx_sequence_input(n, 0, &s)) return false;
  if (x.holder || x.element != s.element) return onnx_error(n, "the tensor must have the sequence's element type");
  onnx_dim_t length = onnx_sequence_length(n, &s), place = length, limit = onnx_dim_add(n, length, onnx_dim_of(1));
  if (onnx_has(n, 2) && !read_place(n, 2, length, limit, &place)) return false;
  if (!s.data && onnx_dim_known(place)) return edit_members(n, &s, (uint32_t)place.size, (uint32_t)place.size, x);
  onnx_value_t alone = onnx_sequence_value(n, &x, 1, s.element);
  onnx_holder_t one = *alone.holder;
  if (!onnx_sequence_flatten(n, &s) || !onnx_sequence_flatten(n, &one)) return false;
  onnx_dim_t empty = onnx_dim_test(n, SCALAR_eq, length, onnx_dim_of(0));
  if (s.rank >= 0 && s.rank != one.rank)
    return onnx_require(n, empty, "members must have one rank") && onnx_give(n, alone);
  if (s.rank < 0) {
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, s.shapes, 1), onnx_dim_of(one.rank));
    if (!onnx_require(n, onnx_flag_or(n, fits, empty), "members must have one rank")) return false;
    const onnx_dim_t dims[] = {length, onnx_dim_of(one.rank)};
    s.shapes = onnx_reshape(n, s.shapes, 2, dims);
  }
  if (!offset_of(n, &s, place, &at.first)) return false;
  s.data = replace_span(n, s.data, at, one.data);
  at.first = place;
  s.shapes = replace_span(n, s.shapes, at, one.shapes);
  s.rank = one.rank;
  return onnx_give(n, onnx_holder_value(n, &s));
}

bool onnx_lower_sequence_erase(onnx_node_t* n) {
  onnx_holder_t s;
  onnx_dim_t one = onnx_dim_of(1);
  span_t span;
  if (!onnx_sequence_input(n, 0, &s)) return false;
  onnx_dim_t length = onnx_sequence_length(n, &s), place = onnx_dim_sub(n, length, one);
  if (onnx_has(n, 1) && !read_place(n, 1, length, length, &place)) return false;
  onnx_dim_t filled = onnx_dim_test(n, SCALAR_gt, length, onnx_dim_of(0));
  if (!onnx_has(n, 1) && !onnx_require(n, filled, "the sequence is empty")) return false;
  if (!s.data && onnx_dim_known(place)) {
    return edit_members(n, &s, (uint32_t)place.size, (uint32_t)place.size + 1, (onnx_value_t){0});
  }
  if (!onnx_sequence_flatten(n, &s) || !find_span(n, &s, place, &span)) return false;
  s.data = replace_span(n, s.data, span, NULL);
  s.shapes = replace_span(n, s.shapes, (span_t){place, one}, NULL);
  return onnx_give(n, onnx_holder_value(n, &s));
}

//===----------------------------------------------------------------------------------------------------------------===
// Optionals
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* flag(onnx_node_t* n, bool value) { return graph_scalar_constant(n->b, onnx_bool(n->ctx), value); }

bool onnx_lower_optional(onnx_node_t* n) {
  const ir_attr_t* type = onnx_attr(n, "type");
  onnx_holder_t h = {.is_optional = true};
  if (!onnx_has(n, 0) && type && type->kind == IR_ATTR_TYPE && onnx_optional_of(n, type->type, &h)) {
    return onnx_give(n, onnx_holder_value(n, &h));
  }
  if (onnx_has(n, 0) && onnx_is_optional(n->in[0])) return onnx_error(n, "input 0 is an optional already");
  h.present = flag(n, onnx_has(n, 0));
  if (onnx_has(n, 0)) h.value = n->in[0];
  return onnx_give(n, onnx_holder_value(n, &h));
}

bool onnx_lower_optional_has_element(onnx_node_t* n) {
  bool there = onnx_has(n, 0);
  ir_value_t* present = there && onnx_is_optional(n->in[0]) ? n->in[0].holder->present : flag(n, there);
  return onnx_return(n, present, onnx_bool(n->ctx));
}

bool onnx_lower_optional_get_element(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  if (!onnx_is_optional(x)) return onnx_give(n, x);
  const ir_attr_t* known = onnx_constant(n, x.holder->present);
  bool empty = !x.holder->value.v || (known && !ir_attr_element_integer(known, 0));
  if (empty) return onnx_error(n, "the optional holds nothing");
  if (!known) graph_assert(n->b, x.holder->present, "OptionalGetElement: the optional holds nothing");
  return onnx_give(n, x.holder->value);
}
