// Elements that come from one of several places: padding, concatenation, dynamic slices and updates, gather.
#include <assert.h>
#include <string.h>

#include "dialects/graph_shape.h"
#include "kernels/eval.h"

//===----------------------------------------------------------------------------------------------------------------===
// Pad
//===----------------------------------------------------------------------------------------------------------------===

typedef struct pad_t {
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK], interior[GRAPH_MAX_RANK];
} pad_t;

static linear_t select_form(kernel_build_t* k, scalar_fn_t fn, const linear_t* x, const linear_t* y) {
  bool uniform = linear_is_uniform(x) && linear_is_uniform(y);
  ir_value_t* a = uniform ? linear_scalar(k, x) : linear_lanes(k, x);
  ir_value_t* b = uniform ? linear_scalar(k, y) : linear_lanes(k, y);
  ir_value_t* v = kernel_binary(&k->b, fn, a, b);
  return uniform ? linear_value(v) : linear_vector(v);
}

static void set_range(kernel_build_t* k, linear_t* x, int64_t max) {
  int64_t constant;
  ir_value_t* value = x->vector ? x->vector : x->count ? x->terms[0].value : NULL;
  if (value && !kernel_constant_index(value, &constant)) index_set_facts(k, value, 0, max, 1);
}

// x fn y with y the same in all lanes.
static linear_t apply_form(kernel_build_t* k, scalar_fn_t fn, const linear_t* x, ir_value_t* y) {
  bool uniform = linear_is_uniform(x);
  ir_value_t* v = uniform ? linear_scalar(k, x) : linear_lanes(k, x);
  v = kernel_binary(&k->b, fn, v, kernel_splat(&k->b, y, kernel_lanes(v)));
  return uniform ? linear_value(v) : linear_vector(v);
}

// x modulo a positive number, for negative x too.
static linear_t wrap_form(kernel_build_t* k, const linear_t* x, ir_value_t* period) {
  linear_t rest = apply_form(k, SCALAR_rem, x, period);
  rest = apply_form(k, SCALAR_add, &rest, period);
  return apply_form(k, SCALAR_rem, &rest, period);
}

// Reflected once at either end, which is all there is to do for most vectors: between -last and 2 last.
static ir_value_t* reflect_once(kernel_build_t* k, ir_value_t* x, ir_value_t* last) {
  ir_value_t* zero = kernel_integer(&k->b, x->type, 0);
  ir_value_t* end = kernel_splat(&k->b, last, kernel_lanes(x));
  x = kernel_binary(&k->b, SCALAR_max, x, kernel_binary(&k->b, SCALAR_sub, zero, x));
  ir_value_t* left = kernel_binary(&k->b, SCALAR_sub, end, x);
  left = kernel_binary(&k->b, SCALAR_max, left, kernel_binary(&k->b, SCALAR_sub, zero, left));
  return kernel_binary(&k->b, SCALAR_sub, end, left);
}

// A triangle wave of period 2 last.
static linear_t reflect_all(kernel_build_t* k, linear_t x, ir_value_t* last) {
  ir_value_t* period = index_binary(k, SCALAR_mul, last, index_constant(k, 2));
  period = index_binary(k, SCALAR_max, period, index_constant(k, 1));
  linear_t phase = wrap_form(k, &x, period);
  linear_t mirrored = linear_add(k, linear_value(period), linear_scale(k, phase, -1));
  linear_t result = select_form(k, SCALAR_min, &phase, &mirrored);
  return apply_form(k, SCALAR_min, &result, last);
}

static linear_t reflect_dynamic(kernel_build_t* k, linear_t x, ir_value_t* last) {
  if (x.lane != 1 || x.vector || k->lanes == 1) return reflect_all(k, x, last);
  linear_t first = x;
  first.lane = 0;
  ir_value_t *low = linear_scalar(k, &first), *high = kernel_add_const(&k->b, low, k->lanes - 1);
  ir_value_t* least = kernel_binary(&k->b, SCALAR_sub, kernel_index(&k->b, 0), last);
  ir_value_t* once = kernel_binary(&k->b, SCALAR_and, kernel_binary(&k->b, SCALAR_ge, low, least),
                                   kernel_binary(&k->b, SCALAR_le, high, kernel_mul_const(&k->b, last, 2)));
  const ir_type_t* type = kernel_vector_type(k->ctx, ir_type_index(k->ctx), k->lanes);
  kernel_branch_t branch = kernel_if_begin(&k->b, once, &type, 1);
  ir_value_t* value = reflect_once(k, linear_lanes(k, &x), last);
  kernel_if_else(&k->b, &branch, &value, 1);
  linear_t other = reflect_all(k, x, last);
  value = linear_lanes(k, &other);
  kernel_if_end(&k->b, &branch, &value, 1);
  return linear_vector(ir_result(branch.op, 0));
}

// wrap_position for a size known at run time.
static linear_t wrap_dynamic(kernel_build_t* k, linear_t x, const extent_t* size, const char* mode) {
  ir_value_t *count = extent_value(k, size), *last = index_binary(k, SCALAR_add, count, index_constant(k, -1));
  linear_t result;
  if (strcmp(mode, "edge") == 0) {
    result = apply_form(k, SCALAR_max, &x, index_constant(k, 0));
    result = apply_form(k, SCALAR_min, &result, last);
  } else if (strcmp(mode, "wrap") == 0) {
    result = wrap_form(k, &x, count);
  } else {
    result = reflect_dynamic(k, x, last);
  }
  set_range(k, &result, index_facts(count).max - 1);
  return result;
}

// Coordinate inside [0, size) that a coordinate outside stands for.
static linear_t wrap_position(kernel_build_t* k, linear_t x, const extent_t* extent, const char* mode) {
  int64_t min, max, size = extent->factor;
  if (!extent_is_fixed(extent)) return wrap_dynamic(k, x, extent, mode);
  linear_range(k, &x, &min, &max);
  if (min >= 0 && max < size) return x;
  linear_t zero = linear_constant(0), last = linear_constant(size - 1);
  linear_t result;
  if (strcmp(mode, "edge") == 0) {
    linear_t at_least_0 = select_form(k, SCALAR_max, &x, &zero);
    result = select_form(k, SCALAR_min, &at_least_0, &last);
  } else if (strcmp(mode, "wrap") == 0) {
    linear_t shifted = linear_add(k, x, linear_constant((-min + size - 1) / size * size)), quotient;
    linear_divide(k, shifted, size, &quotient, &result);
    return result;
  } else {  // reflect: a triangle wave of period 2 (size - 1)
    int64_t period = size > 1 ? 2 * (size - 1) : 1;
    linear_t shifted = linear_add(k, x, linear_constant((-min + period - 1) / period * period)), quotient, phase;
    linear_divide(k, shifted, period, &quotient, &phase);
    linear_t mirrored = linear_add(k, linear_constant(period), linear_scale(k, phase, -1));
    result = select_form(k, SCALAR_min, &phase, &mirrored);
    if (size == 1) result = linear_constant(0);
  }
  set_range(k, &result, size - 1);
  return result;
}

// A vector that lies inside along `dim` is read as it is: `in` has its coordinates, not yet wrapped there.
static ir_value_t* read_wrapped(kernel_build_t* k, ir_value_t* x, linear_t* in, int32_t dim, const char* mode) {
  extent_t extent = eval_extent(x, dim);
  linear_t first = in[dim];
  first.lane = 0;
  ir_value_t *size = extent_value(k, &extent), *at = linear_scalar(k, &first), *zero = kernel_index(&k->b, 0);
  ir_value_t* behind = kernel_add_const(&k->b, at, k->lanes);
  ir_value_t* inside = kernel_binary(&k->b, SCALAR_and, kernel_binary(&k->b, SCALAR_ge, at, zero),
                                     kernel_binary(&k->b, SCALAR_le, behind, size));
  const ir_type_t* type = kernel_vector_type(k->ctx, x->type->element, k->lanes);
  kernel_branch_t branch = kernel_if_begin(&k->b, inside, &type, 1);
  linear_t plain[GRAPH_MAX_RANK];
  memcpy(plain, in, sizeof(*in) * (size_t)x->type->rank);
  ir_value_t* bounded = kernel_binary(&k->b, SCALAR_max, at, zero);
  index_set_facts(k, bounded, 0, index_facts(size).max, 1);
  plain[dim] = linear_value(bounded);
  plain[dim].lane = 1;
  ir_value_t* value = eval_lanes(k, x, plain);
  kernel_if_else(&k->b, &branch, &value, 1);
  in[dim] = wrap_position(k, in[dim], &extent, mode);
  value = eval_lanes(k, x, in);
  kernel_if_end(&k->b, &branch, &value, 1);
  return ir_result(branch.op, 0);
}

ir_value_t* element_pad(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  pad_t pad;
  ir_value_t *x = ir_operand(op, 0), *value = ir_operand(op, 1);
  const char* mode = graph_get_mode(op);
  graph_get_low(op, pad.low);
  graph_get_high(op, pad.high);
  graph_get_interior(op, pad.interior);
  linear_t in[GRAPH_MAX_RANK];
  guard_t guard = {0};
  bool constant = strcmp(mode, "constant") == 0;
  int32_t run = -1;  // the dimension of a size known at run time along which a vector may reach outside
  for (int32_t i = 0; i < x->type->rank; ++i) {
    in[i] = coords[i];
    in[i].constant -= pad.low[i];
    int64_t spread = pad.interior[i] + 1;
    bool changes = pad.low[i] || pad.high[i] || pad.interior[i];
    extent_t size = eval_extent(x, i);
    if (!constant) {
      if (changes && !extent_is_fixed(&size) && k->lanes > 1 && in[i].lane == 1 && !in[i].vector) {
        run = i;
      } else if (changes || extent_is_fixed(&size)) {
        in[i] = wrap_position(k, in[i], &size, mode);
      }
      continue;
    }
    if (changes) in[i] = guard_spread(k, &guard, in[i], &size, spread);
  }
  if (run >= 0) return read_wrapped(k, x, in, run, mode);
  if (!guard.condition && !guard.mask) return eval_at(k, x, in);
  ir_value_t* other = eval_at(k, value, NULL);
  guard_begin(k, &guard, x->type->element);
  return guard_end(k, &guard, eval_at(k, x, in), other);
}

//===----------------------------------------------------------------------------------------------------------------===
// Concat: the piece whose range holds the coordinate
//===----------------------------------------------------------------------------------------------------------------===

// Pieces first .. first + count - 1, by halves; `coords` count from the start of the first.
typedef struct pieces_t {
  ir_op_t* op;
  uint32_t first, count;
} pieces_t;

static linear_t pieces_size(kernel_build_t* k, const pieces_t* p, bool* fixed) {
  linear_t size = linear_constant(0);
  *fixed = true;
  for (uint32_t i = 0; i < p->count; ++i) {
    extent_t piece = eval_extent(ir_operand(p->op, p->first + i), (int32_t)graph_get_axis(p->op));
    bool is_fixed = extent_is_fixed(&piece);
    size = linear_add(k, size, is_fixed ? linear_constant(piece.factor) : linear_value(extent_value(k, &piece)));
    *fixed &= is_fixed;
  }
  return size;
}

// Whether all lanes are on the same side of `size`, as vectors that begin and end where blocks of channels do.
static bool stays_in_piece(const kernel_build_t* k, const linear_t* x, int64_t size) {
  int64_t lanes = k->lanes;
  bool is_power = (lanes & (lanes - 1)) == 0;
  return x->lane == 1 && !x->vector && is_power && size % lanes == 0 && linear_multiple(x, lanes) == lanes;
}

static ir_value_t* eval_pieces(kernel_build_t* k, pieces_t all, const linear_t* coords) {
  int64_t axis = graph_get_axis(all.op), min, max;
  if (all.count == 1) return eval_at(k, ir_operand(all.op, all.first), coords);
  pieces_t left = {all.op, all.first, all.count / 2};
  pieces_t right = {all.op, all.first + left.count, all.count - left.count};
  const ir_type_t* shape = all.op->results[0].type;
  bool fixed;
  linear_t size = pieces_size(k, &left, &fixed), rest[GRAPH_MAX_RANK];
  memcpy(rest, coords, sizeof(linear_t) * (size_t)shape->rank);
  linear_range(k, &coords[axis], &min, &max);
  if (fixed && min >= 0 && max < size.constant) return eval_pieces(k, left, coords);
  rest[axis] = linear_add(k, rest[axis], linear_scale(k, size, -1));
  if (fixed && min >= size.constant) return eval_pieces(k, right, rest);
  guard_t guard = {0};
  linear_t place = coords[axis];
  if (fixed && stays_in_piece(k, &place, size.constant)) place.lane = 0;
  guard_below(k, &guard, &place, linear_scalar(k, &size));
  if (guard.mask) {
    ir_value_t* outer = k->mask;
    ir_value_t* no = kernel_integer(&k->b, guard.mask->type, 0);
    ir_value_t* rest_mask = kernel_binary(&k->b, SCALAR_eq, guard.mask, no);
    k->mask = outer ? kernel_binary(&k->b, SCALAR_and, outer, rest_mask) : rest_mask;
    ir_value_t* other = eval_pieces(k, right, rest);
    k->mask = outer;
    guard_begin(k, &guard, shape->element);
    return guard_end(k, &guard, eval_pieces(k, left, coords), other);
  }
  const ir_type_t* type = kernel_vector_type(k->ctx, shape->element, k->lanes);
  kernel_branch_t branch = kernel_if_begin(&k->b, guard.condition, &type, 1);
  ir_value_t* value = kernel_splat(&k->b, eval_pieces(k, left, coords), k->lanes);
  kernel_if_else(&k->b, &branch, &value, 1);
  value = kernel_splat(&k->b, eval_pieces(k, right, rest), k->lanes);
  kernel_if_end(&k->b, &branch, &value, 1);
  return ir_result(branch.op, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dynamic slice and update
//===----------------------------------------------------------------------------------------------------------------===

// The last start at which `size` elements fit into `whole`.
static ir_value_t* last_start(kernel_build_t* k, const extent_t* whole, const extent_t* size) {
  if (extent_equal(whole, size)) return index_constant(k, 0);
  ir_value_t *x = extent_value(k, whole), *y = extent_value(k, size);
  int64_t max = index_facts(x).max - index_facts(y).min, constant;
  ir_value_t* last = index_binary(k, SCALAR_sub, x, y);
  if (!kernel_constant_index(last, &constant)) index_set_facts(k, last, 0, max, 1);
  return last;
}

// Dimension `i` of x's start, clamped so that as many elements as `part` has fit.
static linear_t clamped_start(kernel_build_t* k, ir_value_t* start, const ir_value_t* x, const ir_value_t* part,
                              int32_t i) {
  extent_t whole = eval_extent(x, i), size = eval_extent(part, i);
  ir_value_t *s = eval_at(k, start, NULL), *last = last_start(k, &whole, &size);
  s = kernel_binary(&k->b, SCALAR_max, s, kernel_index(&k->b, 0));
  s = kernel_binary(&k->b, SCALAR_min, s, last);
  int64_t constant;
  if (!kernel_constant_index(s, &constant) && s != last) index_set_facts(k, s, 0, index_facts(last).max, 1);
  return linear_value(s);
}

ir_value_t* element_dynamic_slice(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  ir_value_t* x = ir_operand(op, 0);
  linear_t in[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) {
    linear_t start = clamped_start(k, ir_operand(op, 1 + (uint32_t)i), x, &op->results[0], i);
    in[i] = linear_add(k, coords[i], start);
  }
  return eval_at(k, x, in);
}

void eval_update_place(kernel_build_t* k, const ir_op_t* op, const linear_t* in, linear_t* out) {
  const ir_value_t *x = ir_operand(op, 0), *update = ir_operand(op, 1);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    out[i] = linear_add(k, in[i], clamped_start(k, ir_operand(op, 2 + (uint32_t)i), x, update, i));
  }
}

ir_value_t* element_dynamic_update(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  ir_value_t *x = ir_operand(op, 0), *update = ir_operand(op, 1);
  linear_t in[GRAPH_MAX_RANK];
  guard_t guard = {0};
  for (int32_t i = 0; i < x->type->rank; ++i) {
    linear_t start = clamped_start(k, ir_operand(op, 2 + (uint32_t)i), x, update, i);
    in[i] = linear_add(k, coords[i], linear_scale(k, start, -1));
    extent_t size = eval_extent(update, i);
    guard_extent(k, &guard, &in[i], &size);
  }
  ir_value_t* other = eval_at(k, x, coords);
  guard_begin(k, &guard, x->type->element);
  return guard_end(k, &guard, eval_at(k, update, in), other);
}

//===----------------------------------------------------------------------------------------------------------------===
// Gather
//===----------------------------------------------------------------------------------------------------------------===

typedef struct gather_t {
  int64_t offset_dims[GRAPH_MAX_RANK], collapsed[GRAPH_MAX_RANK], operand_batch[GRAPH_MAX_RANK];
  int64_t indices_batch[GRAPH_MAX_RANK], start_map[GRAPH_MAX_RANK], slice_sizes[GRAPH_MAX_RANK];
  uint32_t offset_count, collapsed_count, batch_count, start_count;
  int64_t vector_dim;
} gather_t;

static void gather_read(const ir_op_t* op, gather_t* g) {
  g->offset_count = graph_get_offset_dims(op, g->offset_dims);
  g->collapsed_count = graph_get_collapsed_dims(op, g->collapsed);
  g->batch_count = graph_get_operand_batch_dims(op, g->operand_batch);
  graph_get_indices_batch_dims(op, g->indices_batch);
  g->start_count = graph_get_start_index_map(op, g->start_map);
  graph_get_slice_sizes(op, g->slice_sizes);
  g->vector_dim = graph_get_index_vector_dim(op);
}

// The start index along `dim`, loaded, wrapped from the end when asked, and clamped.
static linear_t gather_start(kernel_build_t* k, ir_op_t* op, const gather_t* g, uint32_t component,
                             const linear_t* batch) {
  ir_value_t *x = ir_operand(op, 0), *indices = ir_operand(op, 1);
  linear_t at[GRAPH_MAX_RANK];
  for (int32_t i = 0, next = 0; i < indices->type->rank; ++i) {
    at[i] = i == g->vector_dim ? linear_constant(component) : batch[next++];
  }
  int64_t dim = g->start_map[component];
  extent_t size = eval_extent(x, (int32_t)dim), part = extent_fixed(g->slice_sizes[dim]);
  if (g->slice_sizes[dim] == IR_DYNAMIC) part = size;
  ir_value_t* v = eval_at(k, indices, at);
  const ir_type_t* index = ir_type_index(k->ctx);
  if (ir_type_scalar(v->type) != index) v = kernel_cast(&k->b, SCALAR_cast, v, index);
  int64_t lanes = kernel_lanes(v);
  const ir_type_t* type = kernel_vector_type(k->ctx, index, lanes);
  ir_value_t* zero = kernel_integer(&k->b, type, 0);
  if (graph_get_wrap(op)) {
    ir_value_t* wrapped = kernel_add(&k->b, v, kernel_splat(&k->b, extent_value(k, &size), lanes));
    v = kernel_ternary(&k->b, SCALAR_select, kernel_binary(&k->b, SCALAR_lt, v, zero), wrapped, v);
  }
  ir_value_t* last = last_start(k, &size, &part);
  v = kernel_binary(&k->b, SCALAR_max, v, zero);
  v = kernel_binary(&k->b, SCALAR_min, v, kernel_splat(&k->b, last, lanes));
  int64_t constant;
  if (lanes > 1 || !kernel_constant_index(v, &constant)) index_set_facts(k, v, 0, index_facts(last).max, 1);
  return lanes > 1 ? linear_vector(v) : linear_value(v);
}

ir_value_t* element_gather(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  gather_t g;
  gather_read(op, &g);
  ir_value_t *x = ir_operand(op, 0), *indices = ir_operand(op, 1);
  linear_t in[GRAPH_MAX_RANK], batch[GRAPH_MAX_RANK];
  uint32_t batch_count = 0, offset = 0;
  for (int32_t i = 0; i < op->results[0].type->rank; ++i) {
    if (!shape_contains(g.offset_dims, g.offset_count, i)) batch[batch_count++] = coords[i];
  }
  for (int32_t i = 0; i < x->type->rank; ++i) {
    bool gone = shape_contains(g.collapsed, g.collapsed_count, i) || shape_contains(g.operand_batch, g.batch_count, i);
    in[i] = gone ? linear_constant(0) : coords[g.offset_dims[offset++]];
  }
  for (uint32_t i = 0; i < g.start_count; ++i) {
    in[g.start_map[i]] = linear_add(k, in[g.start_map[i]], gather_start(k, op, &g, i, batch));
  }
  for (uint32_t i = 0; i < g.batch_count; ++i) {
    int64_t dim = g.indices_batch[i];
    if (g.vector_dim < indices->type->rank && dim > g.vector_dim) --dim;
    in[g.operand_batch[i]] = batch[dim];
  }
  return eval_at(k, x, in);
}

ir_value_t* element_concat(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  return eval_pieces(k, (pieces_t){tensor->def, 0, tensor->def->operand_count}, coords);
}
