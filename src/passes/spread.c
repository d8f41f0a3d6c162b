// See spread.h. Before the ops are grouped, so that each step becomes a dispatch with what belongs to it.
//
//   reduce [n] -> []          reduce [parts, length] -> [parts], reduce [parts] -> []
//   arg_reduce, reduce_generic  alike: parts in order, so that the first of equals stays the first
//   contract [n] x [n]        spread_contract.c
//   scan [n]                  scan [parts, length] along each part; the parts' totals scanned; both combined
//
// A size that is no product, or known at run time only, is padded with what changes nothing.
#include "passes/spread.h"

#include <stdlib.h>
#include <string.h>

#include "dialects/evaluate.h"
#include "dialects/graph_shape.h"
#include "ir/rewrite.h"
#include "passes/spread_impl.h"

typedef struct spread_t {
  ir_context_t* ctx;
  const spread_target_t* target;
  uint32_t round;  // how often what is looked at took the place of what a program has
} spread_t;

//===----------------------------------------------------------------------------------------------------------------===
// Dimensions taken apart
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* index_op(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, int64_t y) {
  return graph_binary(b, fn, x, graph_index_constant(b, y));
}

// The run-time sizes of x in order; of dimension `dim` it is `size`.
static uint32_t sizes_except(ir_builder_t* b, ir_value_t* x, int64_t dim, ir_value_t* size, ir_value_t** out) {
  uint32_t count = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (x->type->dims[i] == IR_DYNAMIC) out[count++] = i == dim ? size : graph_dim(b, x, (uint32_t)i);
  }
  return count;
}

// The first elements along a dimension, as many as `size` says.
static ir_value_t* slice_first(ir_builder_t* b, ir_value_t* x, int64_t dim, ir_value_t* size) {
  int64_t zeros[GRAPH_MAX_RANK] = {0}, ones[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank;
  for (uint32_t i = 0; i < rank; ++i) ones[i] = 1;
  ir_value_t* operands[1 + GRAPH_MAX_RANK] = {x};
  uint32_t count = 1 + sizes_except(b, x, dim, size, operands + 1);
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(b->ctx, zeros, rank)},
                             {"strides", ir_attr_i64_array(b->ctx, ones, rank)}};
  return graph_build(b, GRAPH_SLICE, operands, count, x->type, attrs, 2);
}

ir_value_t* spread_split(ir_builder_t* b, ir_value_t* x, const split_t* s) {
  int64_t zeros[GRAPH_MAX_RANK] = {0}, high[GRAPH_MAX_RANK] = {0}, dims[GRAPH_MAX_RANK], size = x->type->dims[s->dim];
  int64_t fixed = s->parts == IR_DYNAMIC ? s->length : s->parts;
  ir_value_t *rounds = NULL, *dynamic[GRAPH_MAX_RANK];
  high[s->dim] = size == IR_DYNAMIC ? fixed - 1 : s->parts * s->length - size;
  if (size == IR_DYNAMIC) {
    rounds = index_op(b, SCALAR_add, graph_dim(b, x, (uint32_t)s->dim), fixed - 1);
    rounds = index_op(b, SCALAR_div, rounds, fixed);
  }
  x = graph_pad(b, x, s->fill, zeros, high, NULL, s->mode);
  if (rounds) x = slice_first(b, x, s->dim, index_op(b, SCALAR_mul, rounds, fixed));
  int32_t rank = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    dims[rank++] = i == s->dim ? s->parts : x->type->dims[i];
    if (i == s->dim) dims[rank++] = s->length;
  }
  sizes_except(b, x, s->dim, rounds, dynamic);
  return graph_reshape(b, x, rank, dims, dynamic);
}

ir_value_t* spread_join(ir_builder_t* b, ir_value_t* x, int64_t first, int64_t count) {
  int64_t dims[GRAPH_MAX_RANK], size = 1;
  ir_value_t *dynamic[GRAPH_MAX_RANK], *product = NULL;
  int32_t rank = 0;
  uint32_t dynamic_count = 0;
  if (count == 1) return x;
  for (int64_t i = first; i < first + count; ++i) size = x->type->dims[i] == IR_DYNAMIC ? IR_DYNAMIC : size;
  for (int64_t i = first; i < first + count; ++i) {
    if (size != IR_DYNAMIC) {
      size *= x->type->dims[i];
    } else {
      ir_value_t* own = graph_dim(b, x, (uint32_t)i);
      product = product ? graph_binary(b, SCALAR_mul, product, own) : own;
    }
  }
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (i > first && i < first + count) continue;
    dims[rank] = i == first ? size : x->type->dims[i];
    if (dims[rank++] == IR_DYNAMIC) dynamic[dynamic_count++] = i == first ? product : graph_dim(b, x, (uint32_t)i);
  }
  return graph_reshape(b, x, rank, dims, dynamic);
}

ir_value_t* spread_element(ir_builder_t* b, ir_value_t* x, int64_t dim, int64_t at) {
  int64_t offsets[GRAPH_MAX_RANK] = {0}, dims[GRAPH_MAX_RANK], ones[GRAPH_MAX_RANK], kept[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    ones[i] = 1;
    dims[i] = i == dim ? 1 : x->type->dims[i];
    if (i != dim) kept[rank++] = dims[i];
  }
  offsets[dim] = at;
  x = graph_slice(b, x, offsets, dims, ones);
  sizes_except(b, x, dim, NULL, dynamic);
  return graph_reshape(b, x, rank, kept, dynamic);
}

void spread_choose_parts(split_t* s, int64_t size, int64_t wanted) {
  int64_t best = 0;
  for (int64_t parts = wanted / 2; parts <= wanted * 2; ++parts) {
    bool nearer = !best || llabs(parts - wanted) < llabs(best - wanted);
    if (parts > 1 && size % parts == 0 && nearer) best = parts;
  }
  s->parts = best ? best : wanted;
  s->length = (size + s->parts - 1) / s->parts;
  s->parts = (size + s->length - 1) / s->length;
}

// Sums are kept in what kernels sum in: of narrow floats f32.
static ir_value_t* widened(ir_builder_t* b, ir_value_t* x) {
  const ir_type_t* element = ir_type_scalar(x->type);
  bool narrow = ir_type_is_float(element) && element->width < 32;
  return narrow ? graph_cast(b, x, ir_type_float(b->ctx, IR_F32), false) : x;
}

int64_t spread_count(const ir_type_t* type, const int64_t* dims, uint32_t count) {
  int64_t product = 1;
  for (uint32_t i = 0; i < count; ++i) {
    if (type->dims[dims[i]] == IR_DYNAMIC) return IR_DYNAMIC;
    if (__builtin_mul_overflow(product, type->dims[dims[i]], &product)) return IR_DYNAMIC;
  }
  return product;
}

// The dimensions that are in no list; how many.
static uint32_t kept_dims(const ir_type_t* type, const int64_t* dims, uint32_t count, int64_t* kept) {
  uint32_t kept_count = 0;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (!shape_contains(dims, count, i)) kept[kept_count++] = i;
  }
  return kept_count;
}

static int64_t kept_count(const ir_type_t* type, const int64_t* dims, uint32_t count) {
  int64_t kept[GRAPH_MAX_RANK];
  return spread_count(type, kept, kept_dims(type, dims, count, kept));
}

//===----------------------------------------------------------------------------------------------------------------===
// Reductions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct reduction_t {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t count;
  uint32_t first, run;  // of `dims`: neighbours that become one dimension
  int64_t size;         // of that, or IR_DYNAMIC
} reduction_t;

// The neighbours among the reduced dimensions with the most elements, or with an unknown number.
static reduction_t read_reduction(const ir_op_t* op) {
  const ir_type_t* type = ir_operand(op, 0)->type;
  reduction_t r = {.count = graph_get_dims(op, r.dims)};
  for (uint32_t i = 1; i < r.count; ++i) {
    for (uint32_t j = i; j > 0 && r.dims[j - 1] > r.dims[j]; --j) {
      int64_t t = r.dims[j];
      r.dims[j] = r.dims[j - 1];
      r.dims[j - 1] = t;
    }
  }
  for (uint32_t i = 0, end; i < r.count; i = end) {
    for (end = i + 1; end < r.count && r.dims[end] == r.dims[end - 1] + 1;) ++end;
    int64_t size = spread_count(type, r.dims + i, end - i);
    bool larger = size == IR_DYNAMIC ? r.size != IR_DYNAMIC : r.size != IR_DYNAMIC && size > r.size;
    if (!r.run || larger) r.first = i, r.run = end - i, r.size = size;
  }
  return r;
}

// Into how many parts it should go; 0 or 1: none.
static int64_t wanted_parts(const spread_t* s, const reduction_t* r, const ir_type_t* type) {
  enum { THREADS = 1 << 17, TEAM = 256, LONG = 1 << 13, LONG_COLUMN = 1 << 6, FEW = 4, FEW_COLUMNS = 1 << 12 };
  enum { WORKERS = 32, WORK = 1 << 18 };
  int64_t kept = kept_count(type, r->dims, r->count), length = spread_count(type, r->dims, r->count), parts, most;
  bool along = r->count && r->dims[r->count - 1] == type->rank - 1;
  if (kept == IR_DYNAMIC || kept <= 0 || !r->count || type->rank >= GRAPH_MAX_RANK || !length) return 0;
  if (length == IR_DYNAMIC) {
    bool few = kept <= (along ? FEW : FEW_COLUMNS);
    return s->target->gpu && r->size == IR_DYNAMIC && few ? IR_DYNAMIC : 0;
  }
  if (s->target->gpu) {
    parts = THREADS / (along ? TEAM * kept : kept);
    most = length / (along ? LONG : LONG_COLUMN);
  } else {
    parts = along ? WORKERS / kept : 0;
    most = length / WORK;
  }
  if (parts > most) parts = most;
  if (parts > r->size / 2) parts = r->size / 2;
  return parts < FEW ? 0 : parts;
}

// The first step over the split dimension's `inside` and the other reduced dimensions, the second over its `outside`.
static ir_value_t* reduce_twice(ir_builder_t* b, ir_value_t* x, const reduction_t* r, bool parts_first) {
  const char* kind = graph_get_kind(b->before);
  int64_t dim = r->dims[r->first], inside = parts_first ? dim + 1 : dim, dims[GRAPH_MAX_RANK], outside = dim;
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->count; ++i) {
    if (i == r->first) dims[count++] = inside;
    if (i < r->first) dims[count++] = r->dims[i], --outside;
    if (i >= r->first + r->run) dims[count++] = r->dims[i] - (int64_t)r->run + 2;
  }
  return graph_reduce(b, graph_reduce(b, x, dims, count, kind), &outside, 1, kind);
}

static ir_op_t* spread_reduce(spread_t* s, ir_op_t* op) {
  enum { MOST_COLUMNS = 1 << 12, BUSY = 1 << 15 };
  reduction_t r = read_reduction(op);
  ir_builder_t b = ir_builder_before(s->ctx, op);
  int64_t parts = wanted_parts(s, &r, ir_operand(op, 0)->type);
  if (!parts) return NULL;
  const ir_type_t* element = ir_type_scalar(ir_operand(op, 0)->type);
  ir_value_t* x = spread_join(&b, widened(&b, ir_operand(op, 0)), r.dims[r.first], r.run);
  int64_t columns = BUSY / kept_count(ir_operand(op, 0)->type, r.dims, r.count);
  if (columns > MOST_COLUMNS) columns = MOST_COLUMNS;
  split_t split_to = {.dim = r.dims[r.first], .parts = parts, .length = columns, .mode = "constant"};
  split_to.fill = graph_constant(&b, graph_identity(s->ctx, graph_get_kind(op), ir_type_scalar(x->type)));
  if (parts != IR_DYNAMIC) spread_choose_parts(&split_to, r.size, parts);
  ir_value_t* sum = reduce_twice(&b, spread_split(&b, x, &split_to), &r, parts != IR_DYNAMIC);
  ir_op_t* last = sum->def;
  ir_value_replace(ir_result(op, 0), graph_cast(&b, sum, element, false));
  ir_op_erase(op);
  return last;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reductions one thread makes a result of: parts of hundreds, their results again
//===----------------------------------------------------------------------------------------------------------------===

// Elements that a thread takes one after the other; 0: all of them. Of what is known at run time only a few, and of
// what comes of them again.
static int64_t serial_length(const spread_t* s, int64_t size, int64_t lines) {
  enum { SHORT = 512, MOST = 256, BUSY = 1 << 14, RUN_TIME = 32, RUN_TIME_ROUNDS = 2 };
  if (!s->target->gpu || lines >= BUSY) return 0;
  if (size == IR_DYNAMIC) return lines != IR_DYNAMIC && s->round < RUN_TIME_ROUNDS ? RUN_TIME : 0;
  if (size < SHORT) return 0;
  int64_t length = 16;
  while (length < MOST && length * length < size) length *= 2;
  return length;
}

static ir_value_t* like(ir_builder_t* b, ir_value_t* x, ir_value_t* as, const int64_t* dims) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  sizes_except(b, as, -1, NULL, dynamic);
  return graph_broadcast(b, x, ir_type_with_element(b->ctx, as->type, ir_type_scalar(x->type)), dims, dynamic);
}

// The last place along an axis, in the form of places.
static ir_value_t* last_place(ir_builder_t* b, ir_value_t* x, int64_t axis, ir_value_t* places) {
  if (x->type->dims[axis] != IR_DYNAMIC) return graph_splat_like(b, places, (double)(x->type->dims[axis] - 1));
  ir_value_t* last = index_op(b, SCALAR_add, graph_dim(b, x, (uint32_t)axis), -1);
  const ir_type_t* type = ir_type_tensor(b->ctx, ir_type_index(b->ctx), 0, NULL);
  last = graph_build(b, GRAPH_TO_TENSOR, &last, 1, type, NULL, 0);
  return like(b, graph_cast(b, last, ir_type_scalar(places->type), false), places, NULL);
}

static ir_op_t* spread_arg_reduce(spread_t* s, ir_op_t* op) {
  ir_value_t* x = ir_operand(op, 0);
  int64_t axis = graph_get_axis(op), size = x->type->dims[axis];
  const ir_type_t* index = ir_type_scalar(op->results[1].type);
  bool is_max = strcmp(graph_get_kind(op), "max") == 0, last = graph_get_last(op);
  int64_t length = serial_length(s, size, kept_count(x->type, &axis, 1));
  if (!length || x->type->rank >= GRAPH_MAX_RANK || (index->kind == IR_TYPE_INTEGER && index->width < 32)) return NULL;
  ir_builder_t b = ir_builder_before(s->ctx, op);
  split_t split_to = {.dim = axis, .parts = IR_DYNAMIC, .length = length, .mode = "edge"};
  if (size != IR_DYNAMIC) split_to.parts = (size + length - 1) / length;
  graph_extreme_t extreme = {.axis = axis + 1, .least = !is_max, .last = last, .index = index};
  ir_op_t* inner = graph_arg_reduce(&b, spread_split(&b, x, &split_to), &extreme);
  extreme.axis = axis;
  ir_op_t* outer = graph_arg_reduce(&b, ir_result(inner, 0), &extreme);
  // The place: of the part that won, its start and the place inside.
  ir_value_t *inside = ir_result(inner, 1), *dynamic[GRAPH_MAX_RANK];
  int64_t dims[GRAPH_MAX_RANK];
  for (int32_t i = 0, next = 0; i < inside->type->rank; ++i) {
    if (i != axis) dims[next++] = i;
  }
  sizes_except(&b, inside, -1, NULL, dynamic);
  ir_value_t* part = graph_iota(&b, inside->type, axis, dynamic);
  ir_value_t* start = graph_binary(&b, SCALAR_mul, part, graph_splat_like(&b, part, (double)length));
  ir_value_t* place = graph_binary(&b, SCALAR_add, start, inside);
  place = graph_binary(&b, SCALAR_min, place, last_place(&b, x, axis, place));  // of equal padding
  ir_value_t* won = graph_binary(&b, SCALAR_eq, part, like(&b, ir_result(outer, 1), inside, dims));
  place = graph_select(&b, won, place, graph_splat_like(&b, place, 0));
  ir_value_replace(ir_result(op, 0), ir_result(outer, 0));
  ir_value_replace(ir_result(op, 1), graph_reduce(&b, place, &axis, 1, "max"));
  ir_op_erase(op);
  return outer;
}

// The same region over other operands.
static ir_op_t* reduce_again(ir_builder_t* b, ir_op_t* op, ir_value_t* const* operands, const int64_t* dims,
                             uint32_t count) {
  ir_op_t* copy = ir_op_clone(b->ctx, op, NULL);
  for (uint32_t i = 0; i < op->operand_count; ++i) ir_op_set_operand(copy, i, operands[i]);
  ir_op_set_attr(b->ctx, copy, "dims", ir_attr_i64_array(b->ctx, dims, count));
  for (uint32_t i = 0; i < op->result_count; ++i) {
    const ir_type_t* type = operands[i]->type;
    int64_t kept[GRAPH_MAX_RANK];
    uint32_t rank = kept_dims(type, dims, count, kept);
    for (uint32_t d = 0; d < rank; ++d) kept[d] = type->dims[kept[d]];
    copy->results[i].type = ir_type_tensor(b->ctx, op->results[i].type->element, (int32_t)rank, kept);
  }
  ir_block_insert_before(op->parent, copy, op);
  return copy;
}

// Any associative body; its start values change nothing, so that there may be as many of them as there are parts.
static ir_op_t* spread_generic(spread_t* s, ir_op_t* op) {
  const ir_type_t* type = ir_operand(op, 0)->type;
  reduction_t r = read_reduction(op);
  uint32_t count = op->result_count;
  if (!ir_type_is_static(type) || type->rank >= GRAPH_MAX_RANK || r.run != r.count || count > SPREAD_VALUES)
    return NULL;
  int64_t length = serial_length(s, r.size, kept_count(type, r.dims, r.count));
  if (!length) return NULL;
  ir_builder_t b = ir_builder_before(s->ctx, op);
  ir_value_t* operands[2 * SPREAD_VALUES];
  for (uint32_t i = 0; i < count; ++i) {
    split_t split_to = {.dim = r.dims[0],
                        .parts = (r.size + length - 1) / length,
                        .length = length,
                        .mode = "constant",
                        .fill = ir_operand(op, count + i)};
    operands[i] = spread_split(&b, spread_join(&b, ir_operand(op, i), r.dims[0], r.count), &split_to);
    operands[count + i] = ir_operand(op, count + i);
  }
  int64_t dim = r.dims[0] + 1;
  ir_op_t* inner = reduce_again(&b, op, operands, &dim, 1);
  for (uint32_t i = 0; i < count; ++i) operands[i] = ir_result(inner, i);
  ir_op_t* outer = reduce_again(&b, op, operands, &r.dims[0], 1);
  for (uint32_t i = 0; i < count; ++i) ir_value_replace(ir_result(op, i), ir_result(outer, i));
  ir_op_erase(op);
  return outer;
}

//===----------------------------------------------------------------------------------------------------------------===
// Scans
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* scan(ir_builder_t* b, const ir_op_t* like, ir_value_t* x, int64_t axis, bool exclusive) {
  ir_named_attr_t attrs[4] = {{"axis", ir_attr_i64(b->ctx, axis)},
                              {"kind", ir_attr_cstring(b->ctx, graph_get_kind(like))}};
  uint32_t count = 2;
  if (exclusive) attrs[count++] = (ir_named_attr_t){"exclusive", ir_attr_unit(b->ctx)};
  if (graph_get_reverse(like)) attrs[count++] = (ir_named_attr_t){"reverse", ir_attr_unit(b->ctx)};
  return graph_build(b, GRAPH_SCAN, &x, 1, x->type, attrs, count);
}

// The parts behind each other again, without the padding; of an exclusive scan each element is the one before.
static ir_value_t* unsplit(ir_builder_t* b, ir_value_t* y, const ir_op_t* op, const split_t* s) {
  const ir_type_t* type = ir_operand(op, 0)->type;
  int64_t low[GRAPH_MAX_RANK] = {0}, high[GRAPH_MAX_RANK] = {0}, dims[GRAPH_MAX_RANK];
  memcpy(dims, type->dims, sizeof(int64_t) * (size_t)type->rank);
  dims[s->dim] = s->parts * s->length;
  if (graph_get_exclusive(op)) low[s->dim] = graph_get_reverse(op) ? -1 : 1;
  high[s->dim] = type->dims[s->dim] - dims[s->dim] - low[s->dim];
  return graph_pad(b, graph_reshape(b, y, type->rank, dims, NULL), s->fill, low, high, NULL, "constant");
}

// Of a length known at run time only: some parts, and what they come to by themselves.
static ir_op_t* spread_open_scan(spread_t* s, ir_op_t* op) {
  enum { PARTS = 128 };
  const ir_type_t* element = ir_type_scalar(op->results[0].type);
  const char* kind = graph_get_kind(op);
  int64_t axis = graph_get_axis(op), dims[GRAPH_MAX_RANK], within = axis + 1;
  ir_builder_t b = ir_builder_before(s->ctx, op);
  ir_value_t *x = ir_operand(op, 0), *size = graph_dim(&b, x, (uint32_t)axis);
  x = widened(&b, x);
  split_t split_to = {.dim = axis, .parts = PARTS, .length = IR_DYNAMIC, .mode = "constant"};
  split_to.fill = graph_constant(&b, graph_identity(s->ctx, kind, ir_type_scalar(x->type)));
  x = spread_split(&b, x, &split_to);
  ir_value_t* inside = scan(&b, op, x, within, graph_get_exclusive(op));
  ir_value_t* before = scan(&b, op, graph_reduce(&b, x, &within, 1, kind), axis, true);
  for (int32_t i = 0; i < before->type->rank; ++i) dims[i] = i <= axis ? i : i + 1;
  ir_value_t* y = graph_binary(&b, graph_kind_fn(kind), like(&b, before, x, dims), inside);
  y = slice_first(&b, spread_join(&b, y, axis, 2), axis, size);
  ir_value_replace(ir_result(op, 0), graph_cast(&b, y, element, false));
  ir_op_erase(op);
  return before->def;
}

static ir_op_t* spread_scan(spread_t* s, ir_op_t* op) {
  enum { LONG = 1 << 14, LENGTH = 1 << 11, LINES = 1 << 7 };
  const ir_type_t *type = ir_operand(op, 0)->type, *element = ir_type_scalar(type);
  int64_t axis = graph_get_axis(op), dims[GRAPH_MAX_RANK];
  if (!s->target->gpu || type->rank >= GRAPH_MAX_RANK) return NULL;
  int64_t lines = kept_count(type, &axis, 1);
  if (lines == IR_DYNAMIC || lines > LINES) return NULL;
  if (type->dims[axis] == IR_DYNAMIC) return spread_open_scan(s, op);
  if (type->dims[axis] < LONG) return NULL;
  ir_builder_t b = ir_builder_before(s->ctx, op);
  ir_value_t* x = widened(&b, ir_operand(op, 0));
  split_t split_to = {.dim = axis, .mode = "constant"};
  split_to.fill = graph_constant(&b, graph_identity(s->ctx, graph_get_kind(op), ir_type_scalar(x->type)));
  spread_choose_parts(&split_to, type->dims[axis], type->dims[axis] / LENGTH);
  x = spread_split(&b, x, &split_to);
  ir_value_t* inside = scan(&b, op, x, axis + 1, false);
  ir_value_t* totals = spread_element(&b, inside, axis + 1, graph_get_reverse(op) ? 0 : split_to.length - 1);
  ir_value_t* before = scan(&b, op, totals, axis, true);
  for (int32_t i = 0; i < before->type->rank; ++i) dims[i] = i <= axis ? i : i + 1;
  ir_value_t* spread = graph_broadcast(&b, before, x->type, dims, NULL);
  ir_value_t* y = graph_binary(&b, graph_kind_fn(graph_get_kind(op)), spread, inside);
  ir_value_replace(ir_result(op, 0), graph_cast(&b, unsplit(&b, y, op, &split_to), element, false));
  ir_op_erase(op);
  return before->def;
}

//===----------------------------------------------------------------------------------------------------------------===
// All ops
//===----------------------------------------------------------------------------------------------------------------===

// The op that took the op's place and may be long itself, or NULL.
static ir_op_t* spread_op(spread_t* s, ir_op_t* op) {
  switch (ir_code(op)) {
    case GRAPH_REDUCE:
      return spread_reduce(s, op);
    case GRAPH_ARG_REDUCE:
      return spread_arg_reduce(s, op);
    case GRAPH_REDUCE_GENERIC:
      return spread_generic(s, op);
    case GRAPH_SCAN:
      return spread_scan(s, op);
    case GRAPH_CONTRACT:
      return s->target->gpu ? spread_contract(s->ctx, op) : NULL;
    case GRAPH_SCATTER:
    case GRAPH_SCATTER_GENERIC:
      return s->target->gpu ? spread_scatter(s->ctx, op) : NULL;
    default:
      return NULL;
  }
}

static bool visit(void* user, ir_op_t* op) {
  spread_t* s = user;
  bool changed = false;
  for (s->round = 0; (op = spread_op(s, op)); ++s->round) changed = true;
  return changed;
}

pass_result_t spread_work(ir_op_t* module, ir_context_t* ctx, const spread_target_t* target) {
  spread_t s = {.ctx = ctx, .target = target};
  return rewrite_each(module, visit, &s) ? PASS_CHANGED : PASS_UNCHANGED;
}
