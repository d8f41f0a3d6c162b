// Tensors cut into sequences, and sequences joined to tensors. Of a sequence whose length is known at run time only
// (holder.h), the elements of the one are gathered from those of the other. Both ways need the same numbers: part k has
// lengths[k] places of the axis, from starts[k] on, and place j is in part owner[j].
#include "import/onnx/holder.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

enum { MAX_MEMBERS = 4096 };

static ir_value_t* arith(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, onnx_dim_t y) {
  return graph_binary(n->b, fn, x, onnx_dim_like(n, y, x));
}

// Along one axis of a tensor seen as [before, total, behind].
typedef struct parts_t {
  onnx_dim_t before, total, behind;
  ir_value_t *lengths, *starts;  // by part
  ir_value_t* owner;             // by place
} parts_t;

static void view_axis(onnx_node_t* n, const onnx_dim_t* dims, int32_t rank, int64_t axis, parts_t* out) {
  out->before = out->behind = onnx_dim_of(1);
  for (int32_t i = 0; i < rank; ++i) {
    if (i < axis) out->before = onnx_dim_mul(n, out->before, dims[i]);
    if (i > axis) out->behind = onnx_dim_mul(n, out->behind, dims[i]);
  }
  out->total = dims[axis];
}

static ir_value_t* running_sum(onnx_node_t* n, ir_value_t* x) {
  const ir_named_attr_t attrs[] = {{"axis", ir_attr_i64(n->ctx, 0)}, {"kind", ir_attr_cstring(n->ctx, "add")}};
  return graph_build(n->b, GRAPH_SCAN, &x, 1, x->type, attrs, 2);
}

// Sets starts and owner for parts of any lengths: place j belongs to the part that as many parts end before as end at
// or before j.
static void own_places(onnx_node_t* n, parts_t* p) {
  static const int64_t along_places = 0, along_parts = 1;
  ir_value_t* ends = running_sum(n, p->lengths);
  p->starts = graph_binary(n->b, SCALAR_sub, ends, p->lengths);
  const onnx_dim_t table[] = {p->total, onnx_dim(n, ends, 0)};
  ir_value_t* place = onnx_numbers(n, 2, table, along_places);
  ir_value_t* past = graph_binary(n->b, SCALAR_le, onnx_broadcast_as(n, ends, place, &along_parts), place);
  p->owner = graph_reduce(n->b, graph_cast(n->b, past, ir_type_int(n->ctx, 64), true), &along_parts, 1, "add");
}

static ir_value_t* numbers_to(onnx_node_t* n, onnx_dim_t count) { return onnx_numbers(n, 1, &count, 0); }

static onnx_dim_t count_all(onnx_node_t* n, const parts_t* p) {
  return onnx_dim_mul(n, onnx_dim_mul(n, p->before, p->total), p->behind);
}

//===----------------------------------------------------------------------------------------------------------------===
// Splitting
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
  return onnx_give(n, onnx_sequence_value(n, items, count, x.element));
}

// The members' shapes: those of x, with the parts' lengths as the axis, or without it.
static ir_value_t* part_shapes(onnx_node_t* n, const parts_t* p, int64_t axis, bool keep) {
  ir_value_t *x = n->in[0].v, *columns[ONNX_MAX_RANK];
  const onnx_dim_t table[] = {onnx_dim(n, p->lengths, 0), onnx_dim_of(1)};
  const onnx_dim_t none[] = {table[0], onnx_dim_of(0)};
  ir_value_t* lengths = onnx_reshape(n, p->lengths, 2, table);
  uint32_t count = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (i == axis && !keep) continue;
    columns[count++] = i == axis ? lengths : onnx_dim_like(n, onnx_dim(n, x, i), lengths);
  }
  if (!count) return onnx_broadcast_to(n, graph_scalar_constant(n->b, ir_type_int(n->ctx, 64), 0), 2, none);
  return graph_concat(n->b, columns, count, 1);
}

// As many parts as there are lengths. Element e of the data is number `rest` of its member.
static bool split_parts(onnx_node_t* n, const parts_t* p, int64_t axis, bool keep) {
  onnx_dim_t total = count_all(n, p);
  ir_value_t* e = numbers_to(n, total);
  ir_value_t* owner =
      graph_take(n->b, p->owner, arith(n, SCALAR_divu, e, onnx_dim_mul(n, p->before, p->behind)), 0, false);
  ir_value_t* start = arith(n, SCALAR_mul, graph_take(n->b, p->starts, owner, 0, false), p->behind);
  ir_value_t* row = arith(n, SCALAR_mul, graph_take(n->b, p->lengths, owner, 0, false), p->behind);
  ir_value_t* rest = graph_binary(n->b, SCALAR_sub, e, arith(n, SCALAR_mul, start, p->before));
  ir_value_t* from = graph_binary(n->b, SCALAR_divu, rest, row);
  from = arith(n, SCALAR_mul, from, onnx_dim_mul(n, p->total, p->behind));
  from = graph_binary(n->b, SCALAR_add, from, start);
  from = graph_binary(n->b, SCALAR_add, from, graph_binary(n->b, SCALAR_remu, rest, row));
  onnx_holder_t s = {.element = n->in[0].element, .rank = onnx_rank(n->in[0]) - !keep};
  s.data = graph_take(n->b, onnx_reshape(n, n->in[0].v, 1, &total), from, 0, false);
  s.shapes = part_shapes(n, p, axis, keep);
  return onnx_give(n, onnx_holder_value(n, &s));
}

// Parts of `size`, the last one smaller.
static bool split_evenly(onnx_node_t* n, parts_t* p, int64_t axis, onnx_dim_t size, bool keep) {
  p->starts = arith(n, SCALAR_mul, numbers_to(n, onnx_dim_ceil_div(n, p->total, size)), size);
  p->lengths = graph_binary(n->b, SCALAR_sub, onnx_dim_like(n, p->total, p->starts), p->starts);
  p->lengths = arith(n, SCALAR_min, p->lengths, size);
  p->owner = arith(n, SCALAR_divu, numbers_to(n, p->total), size);
  return split_parts(n, p, axis, keep);
}

// Parts of the lengths that input 1 has, which are known at run time only, and how many they are.
static bool split_by_vector(onnx_node_t* n, parts_t* p, int64_t axis) {
  static const int64_t all = 0;
  onnx_dim_t sum;
  p->lengths = onnx_cast(n, n->in[1], onnx_si64(n->ctx)).v;
  graph_assert(n->b, onnx_binary_number(n, SCALAR_ge, p->lengths, 0), "SplitToSequence: a part has a negative size");
  if (!onnx_tensor_number(n, graph_reduce(n->b, p->lengths, &all, 1, "add"), &sum)) return false;
  if (!onnx_require(n, onnx_dim_test(n, SCALAR_eq, sum, p->total), "the parts do not add up to the dimension"))
    return false;
  own_places(n, p);
  return split_parts(n, p, axis, true);
}

static bool split_by_sizes(onnx_node_t* n, int64_t axis, onnx_dim_t length, onnx_dim_t* sizes) {
  onnx_dim_t total = onnx_dim_of(0);
  uint32_t count;
  if (!onnx_dims_input(n, 1, sizes, MAX_MEMBERS, &count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!onnx_require(n, onnx_dim_test(n, SCALAR_ge, sizes[i], onnx_dim_of(0)), "a part has a negative size"))
      return false;
    total = onnx_dim_add(n, total, sizes[i]);
  }
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, total, length);
  return onnx_require(n, fits, "the parts do not add up to the dimension") &&
         split_members(n, axis, sizes, count, true);
}

bool onnx_lower_split_to_sequence(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  int64_t axis = onnx_int(n, "axis", 0);
  onnx_dim_t dims[ONNX_MAX_RANK], length, size = onnx_dim_of(1);
  onnx_dim_t* sizes = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_dim_t, MAX_MEMBERS);
  parts_t parts = {0};
  uint32_t count = 0;
  if (!onnx_check_rank(n, 0, 1, ONNX_MAX_RANK) || !onnx_check_axis(n, &axis, onnx_rank(x))) return false;
  for (int32_t i = 0; i < onnx_rank(x); ++i) dims[i] = onnx_dim(n, x.v, i);
  view_axis(n, dims, onnx_rank(x), axis, &parts);
  length = parts.total;
  bool keep = onnx_has(n, 1) || onnx_int(n, "keepdims", 1);
  if (onnx_has(n, 1) && onnx_rank(n->in[1]) == 1) {
    if (!onnx_is_int(n->in[1])) return onnx_error(n, "input 1 must have integer elements");
    int64_t given = onnx_dim_size(n->in[1], 0);
    bool counted = given != IR_DYNAMIC && given <= MAX_MEMBERS;
    return counted ? split_by_sizes(n, axis, length, sizes) : split_by_vector(n, &parts, axis);
  }
  if (onnx_has(n, 1)) {
    if (!onnx_number_input(n, 1, &size)) return false;
    if (!onnx_require(n, onnx_dim_test(n, SCALAR_gt, size, onnx_dim_of(0)), "parts must be positive")) return false;
  }
  bool known = onnx_dim_known(length) && onnx_dim_known(size);
  if (!known || length.size / size.size >= MAX_MEMBERS) return split_evenly(n, &parts, axis, size, keep);
  for (int64_t left = length.size; left > 0; left -= size.size) {
    sizes[count++] = onnx_dim_of(left < size.size ? left : size.size);
  }
  return split_members(n, axis, sizes, count, keep);
}

//===----------------------------------------------------------------------------------------------------------------===
// Joining
//===----------------------------------------------------------------------------------------------------------------===

// x with a dimension of size 1 at `axis`.
static ir_value_t* widen(onnx_node_t* n, ir_value_t* x, int64_t axis) {
  int64_t at[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) at[i] = i < axis ? i : i + 1;
  return onnx_spread(n, x, x->type->rank + 1, at);
}

// The shape of the members, which must be the same for all but for dimension `free` (-1: for none).
static bool common_shape(onnx_node_t* n, onnx_holder_t* s, int64_t free, onnx_dim_t* dims) {
  static const int64_t columns = 1;
  uint32_t count;
  onnx_dim_t length = onnx_sequence_length(n, s), width = onnx_dim_of(s->rank);
  const onnx_dim_t table[] = {length, width};
  if (!onnx_require(n, onnx_dim_test(n, SCALAR_gt, length, onnx_dim_of(0)), "the sequence is empty")) return false;
  onnx_range_t first[] = {{onnx_dim_of(0), onnx_dim_of(1), onnx_dim_of(1)}, {onnx_dim_of(0), width, onnx_dim_of(1)}};
  ir_value_t* shapes = s->shapes = onnx_reshape(n, s->shapes, 2, table);
  ir_value_t* row = onnx_reshape(n, onnx_take_ranges(n, shapes, first), 1, &width);
  ir_value_t* same = graph_binary(n->b, SCALAR_eq, shapes, onnx_broadcast_as(n, row, shapes, &columns));
  if (free >= 0) {
    ir_value_t* is_free = onnx_binary_number(n, SCALAR_eq, onnx_iota_like(n, shapes, 1), (double)free);
    same = graph_binary(n->b, SCALAR_or, same, is_free);
  }
  graph_assert(n->b, same, "ConcatFromSequence: the members differ in shape");
  onnx_value_t x = onnx_value(row, onnx_si64(n->ctx));
  onnx_node_t inner = *n;
  inner.in = &x, inner.in_count = 1;
  return onnx_dims_input(&inner, 0, dims, ONNX_MAX_RANK, &count);
}

// All members have one shape and lie one after another: that is how they are joined in front.
static bool stack_data(onnx_node_t* n, onnx_holder_t* s, int64_t axis) {
  onnx_dim_t dims[ONNX_MAX_RANK + 1] = {onnx_sequence_length(n, s)};
  int64_t perm[ONNX_MAX_RANK];
  if (!common_shape(n, s, -1, dims + 1)) return false;
  ir_value_t* y = onnx_reshape(n, s->data, s->rank + 1, dims);
  for (int32_t i = 0; i <= s->rank; ++i) perm[i] = i < axis ? i + 1 : i == axis ? 0 : i;
  return onnx_return(n, graph_transpose(n->b, y, perm), s->element);
}

// Element e of the result is at [o, j, i] of [before, total, behind].
static bool join_data(onnx_node_t* n, onnx_holder_t* s, int64_t axis) {
  static const int64_t all = 0;
  onnx_dim_t dims[ONNX_MAX_RANK];
  parts_t p = {0};
  if (!common_shape(n, s, axis, dims)) return false;
  p.lengths = onnx_entry(n, s->shapes, 1, axis);
  if (!onnx_tensor_number(n, graph_reduce(n->b, p.lengths, &all, 1, "add"), &dims[axis])) return false;
  view_axis(n, dims, s->rank, axis, &p);
  if (axis == 0) return onnx_return(n, onnx_reshape(n, s->data, s->rank, dims), s->element);
  own_places(n, &p);
  ir_value_t *e = numbers_to(n, count_all(n, &p)), *slice = arith(n, SCALAR_divu, e, p.behind);
  ir_value_t *o = arith(n, SCALAR_divu, slice, p.total), *j = arith(n, SCALAR_remu, slice, p.total);
  ir_value_t* owner = graph_take(n->b, p.owner, j, 0, false);
  ir_value_t* start = graph_take(n->b, p.starts, owner, 0, false);
  ir_value_t* from = graph_binary(n->b, SCALAR_mul, o, graph_take(n->b, p.lengths, owner, 0, false));
  from = graph_binary(n->b, SCALAR_add, from, graph_binary(n->b, SCALAR_sub, j, start));
  from = graph_binary(n->b, SCALAR_add, from, arith(n, SCALAR_mul, start, p.before));
  from = graph_binary(n->b, SCALAR_add, arith(n, SCALAR_mul, from, p.behind), arith(n, SCALAR_remu, e, p.behind));
  ir_value_t* y = graph_take(n->b, s->data, from, 0, false);
  return onnx_return(n, onnx_reshape(n, y, s->rank, dims), s->element);
}

bool onnx_lower_concat_from_sequence(onnx_node_t* n) {
  onnx_holder_t s;
  bool fresh = onnx_int(n, "new_axis", 0) != 0;
  int64_t axis = onnx_int(n, "axis", 0);
  if (!onnx_sequence_input(n, 0, &s)) return false;
  if (s.data && s.rank < 0 && onnx_result_rank(n, 0) >= fresh) s.rank = onnx_result_rank(n, 0) - fresh;
  if (s.rank < 0 || s.rank + fresh > ONNX_MAX_RANK) return onnx_unsupported(n, "members must have one known rank");
  if (!onnx_check_axis(n, &axis, s.rank + fresh)) return false;
  if (s.data) return fresh ? stack_data(n, &s, axis) : join_data(n, &s, axis);
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
