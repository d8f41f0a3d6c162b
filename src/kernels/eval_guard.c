// Conditions around element reads, and loops with accumulators. See eval.h.
#include <assert.h>

#include "kernels/eval.h"

static ir_value_t* both(kernel_build_t* k, ir_value_t* x, ir_value_t* y) {
  if (!x) return y;
  return y ? kernel_binary(&k->b, SCALAR_and, x, y) : x;
}

static void add_condition(kernel_build_t* k, guard_t* guard, ir_value_t* condition) {
  if (kernel_lanes(condition) > 1) {
    guard->mask = both(k, guard->mask, condition);
  } else {
    guard->condition = both(k, guard->condition, condition);
  }
}

void guard_range(kernel_build_t* k, guard_t* guard, const linear_t* x, int64_t low, int64_t high) {
  int64_t min, max;
  linear_range(k, x, &min, &max);
  if (min >= low && max < high) return;
  ir_value_t* value = linear_is_uniform(x) ? linear_scalar(k, x) : linear_lanes(k, x);
  if (low == 0) {  // one unsigned comparison covers both ends
    add_condition(k, guard, kernel_binary(&k->b, SCALAR_ltu, value, kernel_integer(&k->b, value->type, high)));
    return;
  }
  if (min < low) {
    add_condition(k, guard, kernel_binary(&k->b, SCALAR_ge, value, kernel_integer(&k->b, value->type, low)));
  }
  if (max >= high) {
    add_condition(k, guard, kernel_binary(&k->b, SCALAR_lt, value, kernel_integer(&k->b, value->type, high)));
  }
}

void guard_below(kernel_build_t* k, guard_t* guard, const linear_t* x, ir_value_t* high) {
  ir_value_t* value = linear_is_uniform(x) ? linear_scalar(k, x) : linear_lanes(k, x);
  add_condition(k, guard, kernel_binary(&k->b, SCALAR_lt, value, kernel_splat(&k->b, high, kernel_lanes(value))));
}

void guard_extent(kernel_build_t* k, guard_t* guard, const linear_t* x, const extent_t* high) {
  if (extent_is_fixed(high)) {
    guard_range(k, guard, x, 0, high->factor);
    return;
  }
  ir_value_t* value = linear_is_uniform(x) ? linear_scalar(k, x) : linear_lanes(k, x);
  ir_value_t* size = kernel_splat(&k->b, extent_value(k, high), kernel_lanes(value));
  add_condition(k, guard, kernel_binary(&k->b, SCALAR_ltu, value, size));
}

void guard_equal(kernel_build_t* k, guard_t* guard, const linear_t* x, int64_t value) {
  int64_t constant;
  if (linear_is_constant(x, &constant) && constant == value) return;
  ir_value_t* v = linear_is_uniform(x) ? linear_scalar(k, x) : linear_lanes(k, x);
  add_condition(k, guard, kernel_binary(&k->b, SCALAR_eq, v, kernel_integer(&k->b, v->type, value)));
}

linear_t guard_spread(kernel_build_t* k, guard_t* guard, linear_t x, const extent_t* size, int64_t spread) {
  if (spread == 1) {
    guard_extent(k, guard, &x, size);
    return x;
  }
  if (extent_is_fixed(size)) {
    guard_range(k, guard, &x, 0, size->factor > 0 ? (size->factor - 1) * spread + 1 : 0);
  } else {
    guard_range(k, guard, &x, 0, INT64_MAX / 4);
    ir_value_t* end = index_binary(k, SCALAR_mul, extent_value(k, size), index_constant(k, spread));
    guard_below(k, guard, &x, index_binary(k, SCALAR_add, end, index_constant(k, 1 - spread)));
  }
  linear_t quotient, remainder;
  linear_divide(k, x, spread, &quotient, &remainder);
  guard_equal(k, guard, &remainder, 0);
  // All lanes in one gap: what is read once for all of them is no longer kept off by the lanes' mask.
  if (linear_is_uniform(&quotient) && !linear_is_uniform(&x)) guard_extent(k, guard, &quotient, size);
  return quotient;
}

void guard_begin_all(kernel_build_t* k, guard_t* guard, const ir_type_t* scalar, uint32_t count) {
  const ir_type_t* types[GUARD_VALUES];
  assert(count <= GUARD_VALUES);
  for (uint32_t i = 0; i < count; ++i) types[i] = kernel_vector_type(k->ctx, scalar, k->lanes);
  guard->outer_mask = k->mask;
  if (guard->mask) k->mask = both(k, k->mask, guard->mask);
  if (guard->condition) guard->branch = kernel_if_begin(&k->b, guard->condition, types, count);
}

void guard_begin(kernel_build_t* k, guard_t* guard, const ir_type_t* scalar) { guard_begin_all(k, guard, scalar, 1); }

void guard_end_all(kernel_build_t* k, guard_t* guard, ir_value_t** values, ir_value_t* const* others, uint32_t count) {
  ir_value_t* all[GUARD_VALUES];
  for (uint32_t i = 0; guard->mask && i < count; ++i) {
    values[i] = kernel_ternary(&k->b, SCALAR_select, guard->mask, kernel_splat(&k->b, values[i], k->lanes),
                               kernel_splat(&k->b, others[i], k->lanes));
  }
  k->mask = guard->outer_mask;
  if (!guard->condition) return;
  for (uint32_t i = 0; i < count; ++i) all[i] = kernel_splat(&k->b, values[i], k->lanes);
  kernel_if_else(&k->b, &guard->branch, all, count);
  for (uint32_t i = 0; i < count; ++i) all[i] = kernel_splat(&k->b, others[i], k->lanes);
  kernel_if_end(&k->b, &guard->branch, all, count);
  for (uint32_t i = 0; i < count; ++i) values[i] = ir_result(guard->branch.op, i);
}

ir_value_t* guard_end(kernel_build_t* k, guard_t* guard, ir_value_t* value, ir_value_t* other) {
  guard_end_all(k, guard, &value, &other, 1);
  return value;
}

typedef struct nest_t {
  const extent_t* sizes;
  uint32_t count;
  uint32_t accumulator_count;
  eval_body_fn_t body;
  void* user;
  linear_t at[2 * GRAPH_MAX_RANK];
} nest_t;

static void build_nest(kernel_build_t* k, nest_t* nest, uint32_t depth, ir_value_t** accumulators) {
  while (depth < nest->count && extent_is(&nest->sizes[depth], 1)) nest->at[depth++] = linear_constant(0);
  if (depth == nest->count) {
    nest->body(k, nest->at, accumulators, nest->user);
    return;
  }
  const extent_t* size = &nest->sizes[depth];
  kernel_loop_t loop =
      extent_is_fixed(size)
          ? kernel_loop_constant(k, 0, size->factor, 1, accumulators, nest->accumulator_count)
          : kernel_loop_begin(k, index_constant(k, 0), extent_value(k, size), 1, accumulators, nest->accumulator_count);
  nest->at[depth] = linear_value(loop.index);
  ir_value_t* inner[EVAL_ACCUMULATORS];
  for (uint32_t i = 0; i < nest->accumulator_count; ++i) inner[i] = loop.iters[i];
  build_nest(k, nest, depth + 1, inner);
  kernel_for_end(&k->b, &loop, inner, nest->accumulator_count);
  for (uint32_t i = 0; i < nest->accumulator_count; ++i) accumulators[i] = kernel_loop_result(&loop, i);
}

void eval_loops(kernel_build_t* k, const extent_t* sizes, uint32_t count, ir_value_t** accumulators,
                uint32_t accumulator_count, eval_body_fn_t body, void* user) {
  assert(accumulator_count <= EVAL_ACCUMULATORS);
  nest_t nest = {.sizes = sizes, .count = count, .accumulator_count = accumulator_count, .body = body, .user = user};
  build_nest(k, &nest, 0, accumulators);
}

void eval_fixed_loops(kernel_build_t* k, const int64_t* sizes, uint32_t count, ir_value_t** accumulators,
                      uint32_t accumulator_count, eval_body_fn_t body, void* user) {
  extent_t extents[2 * GRAPH_MAX_RANK];
  assert(count <= 2 * GRAPH_MAX_RANK);
  for (uint32_t i = 0; i < count; ++i) extents[i] = extent_fixed(sizes[i]);
  eval_loops(k, extents, count, accumulators, accumulator_count, body, user);
}
