// Operators on sequences and optionals (holder.h). What is known when compiling costs nothing; of a sequence whose
// length is not, members are ranges of its data.
#include <string.h>

#include "import/onnx/holder.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

enum { MAX_MEMBERS = 4096 };

static bool give(onnx_node_t* n, onnx_value_t value) {
  if (n->out_count) n->out[0] = value;
  return true;
}

// Input i as a copy of the sequence that it is; false after a diagnostic.
static bool read_sequence(onnx_node_t* n, uint32_t i, onnx_holder_t* out) {
  onnx_value_t x = n->in[i];
  if (onnx_is_optional(x)) x = x.holder->value;
  if (!x.v || !onnx_is_sequence(x)) return onnx_error(n, "input %u must be a sequence", i);
  return *out = *x.holder, true;
}

static onnx_dim_t length_of(onnx_node_t* n, const onnx_holder_t* s) {
  return s->data ? onnx_dim(n, s->shapes, 0) : onnx_dim_of(s->count);
}

// A tensor of one number as a number.
static bool to_number(onnx_node_t* n, ir_value_t* v, onnx_dim_t* out) {
  onnx_value_t x = onnx_value(v, onnx_si64(n->ctx));
  onnx_node_t inner = *n;
  inner.in = &x, inner.in_count = 1;
  return onnx_number_input(&inner, 0, out);
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
  return to_number(n, graph_reduce(n->b, counts, &rows, 1, "add"), out);
}

// The shape of member `place` and where its elements are.
static bool find_member(onnx_node_t* n, const onnx_holder_t* s, onnx_dim_t place, onnx_dim_t* dims, span_t* span) {
  uint32_t count;
  if (s->rank < 0) return onnx_unsupported(n, "the rank of the sequence's tensors must be declared");
  onnx_dim_t width = onnx_dim_of(s->rank);
  ir_value_t* row = onnx_reshape(n, take_span(n, s->shapes, (span_t){place, onnx_dim_of(1)}), 1, &width);
  onnx_value_t x = onnx_value(row, onnx_si64(n->ctx));
  onnx_node_t inner = *n;
  inner.in = &x, inner.in_count = 1;
  if (!onnx_dims_input(&inner, 0, dims, ONNX_MAX_RANK, &count) || !offset_of(n, s, place, &span->first)) return false;
  span->size = onnx_dim_of(1);
  for (int32_t i = 0; i < s->rank; ++i) span->size = onnx_dim_mul(n, span->size, dims[i]);
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
  return give(n, onnx_sequence_value(n, n->in, n->in_count, n->in[0].element));
}

bool onnx_lower_sequence_empty(onnx_node_t* n) {
  const ir_type_t* element = onnx_element_type(n->ctx, onnx_int(n, "dtype", 1));
  if (!element) return onnx_unsupported(n, "elements of type %s", onnx_data_type_name(onnx_int(n, "dtype", 1)));
  return give(n, onnx_sequence_value(n, NULL, 0, element));
}

bool onnx_lower_sequence_length(onnx_node_t* n) {
  onnx_holder_t s;
  if (!read_sequence(n, 0, &s)) return false;
  return onnx_return(n, onnx_dim_tensor(n, length_of(n, &s), 0), onnx_si64(n->ctx));
}

bool onnx_lower_sequence_at(onnx_node_t* n) {
  onnx_holder_t s;
  onnx_dim_t place, dims[ONNX_MAX_RANK];
  span_t span;
  if (!read_sequence(n, 0, &s)) return false;
  onnx_dim_t length = length_of(n, &s);
  if (!read_place(n, 1, length, length, &place)) return false;
  if (!s.data && onnx_dim_known(place)) return give(n, s.items[place.size]);
  if (!onnx_sequence_flatten(n, &s)) return false;
  if (s.rank < 0) s.rank = onnx_declared_rank(n, 0);
  if (!find_member(n, &s, place, dims, &span)) return false;
  return onnx_return(n, onnx_reshape(n, take_span(n, s.data, span), s.rank, dims), s.element);
}

// A copy of known members without those from `first` to `last` - 1, and with x there (v NULL: nothing).
static bool edit_members(onnx_node_t* n, const onnx_holder_t* s, uint32_t first, uint32_t last, onnx_value_t x) {
  onnx_value_t* items = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, s->count + 2);
  uint32_t count = 0;
  for (uint32_t i = 0; i < first; ++i) items[count++] = s->items[i];
  if (x.v) items[count++] = x;
  for (uint32_t i = last; i < s->count; ++i) items[count++] = s->items[i];
  return give(n, onnx_sequence_value(n, items, count, s->element));
}

bool onnx_lower_sequence_insert(onnx_node_t* n) {
  onnx_holder_t s;
  onnx_value_t x = n->in[1];
  span_t at = {onnx_dim_of(0), onnx_dim_of(0)};
  if (!read_sequence(n, 0, &s)) return false;
  if (x.holder || x.element != s.element) return onnx_error(n, "the tensor must have the sequence's element type");
  onnx_dim_t length = length_of(n, &s), place = length, limit = onnx_dim_add(n, length, onnx_dim_of(1));
  if (onnx_has(n, 2) && !read_place(n, 2, length, limit, &place)) return false;
  if (!s.data && onnx_dim_known(place)) return edit_members(n, &s, (uint32_t)place.size, (uint32_t)place.size, x);
  onnx_holder_t one = *onnx_sequence_value(n, &x, 1, s.element).holder;
  if (!onnx_sequence_flatten(n, &s) || !onnx_sequence_flatten(n, &one)) return false;
  if (s.rank >= 0 && s.rank != one.rank) return onnx_unsupported(n, "members must have one rank");
  if (s.rank < 0) {
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, s.shapes, 1), onnx_dim_of(one.rank));
    fits = onnx_flag_or(n, fits, onnx_dim_test(n, SCALAR_eq, length, onnx_dim_of(0)));
    if (!onnx_require(n, fits, "members must have one rank")) return false;
    const onnx_dim_t dims[] = {length, onnx_dim_of(one.rank)};
    s.shapes = onnx_reshape(n, s.shapes, 2, dims);
  }
  if (!offset_of(n, &s, place, &at.first)) return false;
  s.data = replace_span(n, s.data, at, one.data);
  at.first = place;
  s.shapes = replace_span(n, s.shapes, at, one.shapes);
  s.rank = one.rank;
  return give(n, onnx_holder_value(n, &s));
}

bool onnx_lower_sequence_erase(onnx_node_t* n) {
  onnx_holder_t s;
  onnx_dim_t dims[ONNX_MAX_RANK], one = onnx_dim_of(1);
  span_t span;
  if (!read_sequence(n, 0, &s)) return false;
  onnx_dim_t length = length_of(n, &s), place = onnx_dim_sub(n, length, one);
  if (onnx_has(n, 1) && !read_place(n, 1, length, length, &place)) return false;
  if (!s.data && onnx_dim_known(place)) {
    if (place.size < 0) return onnx_error(n, "the sequence is empty");
    return edit_members(n, &s, (uint32_t)place.size, (uint32_t)place.size + 1, (onnx_value_t){0});
  }
  if (!onnx_sequence_flatten(n, &s) || !find_member(n, &s, place, dims, &span)) return false;
  s.data = replace_span(n, s.data, span, NULL);
  s.shapes = replace_span(n, s.shapes, (span_t){place, one}, NULL);
  return give(n, onnx_holder_value(n, &s));
}

//===----------------------------------------------------------------------------------------------------------------===
// Splitting and joining
//===----------------------------------------------------------------------------------------------------------------===

// Parts of the axis, with or without it.
static bool split_members(onnx_node_t* n, int64_t axis, const onnx_dim_t* sizes, uint32_t count, bool keep) {
  onnx_value_t x = n->in[0], *items = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, count + 1);
  onnx_dim_t first = onnx_dim_of(0), dims[ONNX_MAX_RANK];
  for (uint32_t i = 0; i < count; ++i) {
    onnx_range_t ranges[ONNX_MAX_RANK];
    int32_t rank = 0;
    for (int32_t d = 0; d < onnx_rank(x); ++d) {
      ranges[d] = (onnx_range_t){onnx_dim_of(0), onnx_dim(n, x.v, d), onnx_dim_of(1)};
      if (d != axis) dims[rank++] = ranges[d].size;
    }
    ranges[axis].first = first, ranges[axis].size = sizes[i];
    items[i] = onnx_value(onnx_take_ranges(n, x.v, ranges), x.element);
    if (!keep) items[i].v = onnx_reshape(n, items[i].v, rank, dims);
    first = onnx_dim_add(n, first, sizes[i]);
  }
  return give(n, onnx_sequence_value(n, items, count, x.element));
}

static ir_value_t* arith(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, onnx_dim_t y) {
  return graph_binary(n->b, fn, x, onnx_dim_like(n, y, x));
}

// Parts of `size` (a number known at run time only), the last one smaller. Element p of the data is in part
// k = p / (before size behind), which is `len` = min(size, length - k size) long, at [o, j, i] of [before, len,
// behind].
static bool split_evenly(onnx_node_t* n, int64_t axis, onnx_dim_t size) {
  onnx_value_t x = n->in[0];
  onnx_dim_t dims[ONNX_MAX_RANK], before = onnx_dim_of(1), behind = before, length = onnx_dim(n, x.v, (int32_t)axis);
  int32_t rank = onnx_rank(x);
  for (int32_t i = 0; i < rank; ++i) {
    dims[i] = onnx_dim(n, x.v, i);
    if (i < axis) before = onnx_dim_mul(n, before, dims[i]);
    if (i > axis) behind = onnx_dim_mul(n, behind, dims[i]);
  }
  onnx_dim_t total = onnx_dim_mul(n, onnx_dim_mul(n, before, length), behind);
  ir_value_t* p = onnx_numbers(n, 1, &total, 0);
  onnx_dim_t step = onnx_dim_mul(n, onnx_dim_mul(n, before, size), behind);
  ir_value_t *k = arith(n, SCALAR_divu, p, step), *rest = arith(n, SCALAR_remu, p, step);
  ir_value_t* first = arith(n, SCALAR_mul, k, size);
  ir_value_t* row = graph_binary(n->b, SCALAR_sub, onnx_dim_like(n, length, p), first);
  row = arith(n, SCALAR_mul, arith(n, SCALAR_min, row, size), behind);  // elements of one o
  ir_value_t* from = arith(n, SCALAR_mul, graph_binary(n->b, SCALAR_divu, rest, row), onnx_dim_mul(n, length, behind));
  from = graph_binary(n->b, SCALAR_add, from, arith(n, SCALAR_mul, first, behind));
  from = graph_binary(n->b, SCALAR_add, from, graph_binary(n->b, SCALAR_remu, rest, row));
  onnx_holder_t s = {.element = x.element, .rank = rank};
  s.data = graph_take(n->b, onnx_reshape(n, x.v, 1, &total), from, 0, false);
  const onnx_dim_t table[] = {onnx_dim_ceil_div(n, length, size), onnx_dim_of(1)};
  ir_value_t* columns[ONNX_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) {
    columns[i] = onnx_numbers(n, 2, table, 0);
    if (i != axis) {
      columns[i] = onnx_dim_like(n, dims[i], columns[i]);
    } else {
      ir_value_t* left = arith(n, SCALAR_mul, columns[i], size);
      left = graph_binary(n->b, SCALAR_sub, onnx_dim_like(n, length, left), left);
      columns[i] = arith(n, SCALAR_min, left, size);
    }
  }
  s.shapes = graph_concat(n->b, columns, (uint32_t)rank, 1);
  return give(n, onnx_holder_value(n, &s));
}

bool onnx_lower_split_to_sequence(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  int64_t axis = onnx_int(n, "axis", 0);
  onnx_dim_t length, size = onnx_dim_of(1), *sizes = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_dim_t, MAX_MEMBERS);
  uint32_t count = 0;
  if (!onnx_check_rank(n, 0, 1, ONNX_MAX_RANK) || !onnx_check_axis(n, &axis, onnx_rank(x))) return false;
  length = onnx_dim(n, x.v, (int32_t)axis);
  bool keep = onnx_has(n, 1) || onnx_int(n, "keepdims", 1);
  if (onnx_has(n, 1) && onnx_rank(n->in[1]) == 1) {
    onnx_dim_t total = onnx_dim_of(0);
    if (!onnx_dims_input(n, 1, sizes, MAX_MEMBERS, &count)) return false;
    for (uint32_t i = 0; i < count; ++i) {
      if (!onnx_require(n, onnx_dim_test(n, SCALAR_ge, sizes[i], onnx_dim_of(0)), "a part has a negative size"))
        return false;
      total = onnx_dim_add(n, total, sizes[i]);
    }
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, total, length);
    return onnx_require(n, fits, "the parts do not add up to the dimension") &&
           split_members(n, axis, sizes, count, keep);
  }
  if (onnx_has(n, 1)) {
    if (!onnx_number_input(n, 1, &size)) return false;
    if (!onnx_require(n, onnx_dim_test(n, SCALAR_gt, size, onnx_dim_of(0)), "parts must be positive")) return false;
  }
  bool known = onnx_dim_known(length) && onnx_dim_known(size);
  if (!known || length.size / size.size >= MAX_MEMBERS) {
    return keep ? split_evenly(n, axis, size)
                : onnx_unsupported(n, "keepdims = 0 needs a static size of the dimension");
  }
  for (int64_t left = length.size; left > 0; left -= size.size) {
    sizes[count++] = onnx_dim_of(left < size.size ? left : size.size);
  }
  return split_members(n, axis, sizes, count, keep);
}

// x with a dimension of size 1 at `axis`.
static ir_value_t* widen(onnx_node_t* n, ir_value_t* x, int64_t axis) {
  int64_t at[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) at[i] = i < axis ? i : i + 1;
  return onnx_spread(n, x, x->type->rank + 1, at);
}

// Members lie one after another: that is how they are joined in front.
static bool join_data(onnx_node_t* n, onnx_holder_t* s, int64_t axis, bool fresh) {
  onnx_dim_t dims[ONNX_MAX_RANK], all[ONNX_MAX_RANK] = {length_of(n, s)}, rest = onnx_dim_of(1);
  int64_t perm[ONNX_MAX_RANK];
  span_t span;
  int32_t rank = s->rank + fresh;
  if (!fresh && axis != 0) {
    return onnx_unsupported(n, "an axis other than 0 of a sequence whose length is known at run time only");
  }
  if (!find_member(n, s, onnx_dim_of(0), dims, &span)) return false;
  for (int32_t i = fresh ? 0 : 1; i < s->rank; ++i) {
    all[fresh ? i + 1 : i] = dims[i];
    rest = onnx_dim_mul(n, rest, dims[i]);
  }
  if (!fresh) all[0] = onnx_dim_div(n, onnx_dim(n, s->data, 0), onnx_dim_max(n, rest, onnx_dim_of(1)));
  ir_value_t* y = onnx_reshape(n, s->data, rank, all);
  for (int32_t i = 0; i < rank; ++i) perm[i] = i < axis ? i + 1 : i == axis ? 0 : i;
  return onnx_return(n, graph_transpose(n->b, y, perm), s->element);
}

bool onnx_lower_concat_from_sequence(onnx_node_t* n) {
  onnx_holder_t s;
  bool fresh = onnx_int(n, "new_axis", 0) != 0;
  int64_t axis = onnx_int(n, "axis", 0);
  if (!read_sequence(n, 0, &s)) return false;
  if (s.rank < 0 || s.rank + fresh > ONNX_MAX_RANK) return onnx_unsupported(n, "members must have one known rank");
  if (!onnx_check_axis(n, &axis, s.rank + fresh)) return false;
  if (s.data) return join_data(n, &s, axis, fresh);
  if (!s.count) return onnx_error(n, "the sequence is empty");
  ir_value_t** parts = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, s.count);
  for (uint32_t i = 0; i < s.count; ++i) {
    parts[i] = fresh ? widen(n, s.items[i].v, axis) : s.items[i].v;
    for (int32_t d = 0; d < parts[i]->type->rank; ++d) {
      int64_t size = parts[i]->type->dims[d], wanted = parts[0]->type->dims[d];
      bool fits = d == axis || size == wanted || size == IR_DYNAMIC || wanted == IR_DYNAMIC;
      if (!fits) return onnx_error(n, "members 0 and %u differ in dimension %d", i, d);
    }
  }
  return onnx_return(n, graph_concat(n->b, parts, s.count, axis), s.element);
}

// The body for each member, with tensors as they are.
bool onnx_lower_sequence_map(onnx_node_t* n) {
  arena_t* arena = ir_context_arena(n->ctx);
  onnx_holder_t s;
  ir_block_t* body = n->op->region_count == 1 ? n->op->regions[0].first : NULL;
  if (!body || !read_sequence(n, 0, &s)) return body && onnx_error(n, "needs a graph as attribute 'body'");
  onnx_value_t* args = ARENA_ARRAY(arena, onnx_value_t, n->in_count + 1);
  onnx_value_t* items = ARENA_ARRAY(arena, onnx_value_t, (size_t)s.count * n->out_count + 1);
  for (uint32_t i = 0; i < n->in_count; ++i) {
    bool known = n->in[i].v && (!onnx_is_sequence(n->in[i]) || !n->in[i].holder->data);
    if (!known) return onnx_unsupported(n, "a sequence whose length is known at run time only");
    if (onnx_is_sequence(n->in[i]) && n->in[i].holder->count != s.count)
      return onnx_error(n, "the sequences differ in length");
  }
  for (uint32_t k = 0; k < s.count; ++k) {
    onnx_values_t results;
    for (uint32_t i = 0; i < n->in_count; ++i) {
      args[i] = onnx_is_sequence(n->in[i]) ? n->in[i].holder->items[k] : n->in[i];
    }
    if (!onnx_lower_block(n->lowering, body, (onnx_values_t){args, n->in_count}, &results)) return false;
    if (results.count != n->out_count) return onnx_error(n, "the body gives %u results", results.count);
    for (uint32_t i = 0; i < n->out_count; ++i) items[i * s.count + k] = results.items[i];
  }
  if (!s.count) return onnx_unsupported(n, "an empty sequence");
  for (uint32_t i = 0; i < n->out_count; ++i) {
    n->out[i] = onnx_sequence_value(n, items + i * s.count, s.count, items[i * s.count].element);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Optionals
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* flag(onnx_node_t* n, bool value) { return graph_scalar_constant(n->b, onnx_bool(n->ctx), value); }

bool onnx_lower_optional(onnx_node_t* n) {
  const ir_attr_t* type = onnx_attr(n, "type");
  onnx_holder_t h = {.is_optional = true};
  if (!onnx_has(n, 0) && type && type->kind == IR_ATTR_TYPE && onnx_optional_of(n, type->type, &h)) {
    return give(n, onnx_holder_value(n, &h));
  }
  h.present = flag(n, onnx_has(n, 0));
  if (onnx_has(n, 0)) h.value = n->in[0];
  return give(n, onnx_holder_value(n, &h));
}

bool onnx_lower_optional_has_element(onnx_node_t* n) {
  bool there = onnx_has(n, 0);
  ir_value_t* present = there && onnx_is_optional(n->in[0]) ? n->in[0].holder->present : flag(n, there);
  return onnx_return(n, present, onnx_bool(n->ctx));
}

bool onnx_lower_optional_get_element(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  if (!onnx_is_optional(x)) return give(n, x);
  const ir_attr_t* known = onnx_constant(n, x.holder->present);
  bool empty = !x.holder->value.v || (known && !ir_attr_element_integer(known, 0));
  if (empty) return onnx_error(n, "the optional holds nothing");
  if (!known) graph_assert(n->b, x.holder->present, "OptionalGetElement: the optional holds nothing");
  return give(n, x.holder->value);
}
