// Elements that are sums (or other combinations) of many: reduction, contraction, convolution, windows. Written
// as plain loops around eval_at; strategies do better for the shapes that matter.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernels/eval.h"

//===----------------------------------------------------------------------------------------------------------------===
// Kinds
//===----------------------------------------------------------------------------------------------------------------===

typedef struct kind_row_t {
  const char* name;
  scalar_fn_t combine;
} kind_row_t;
static const kind_row_t kinds[] = {{"add", SCALAR_add}, {"mul", SCALAR_mul},   {"min", SCALAR_min},
                                   {"max", SCALAR_max}, {"minu", SCALAR_minu}, {"maxu", SCALAR_maxu},
                                   {"and", SCALAR_and}, {"or", SCALAR_or},     {"xor", SCALAR_xor}};

scalar_fn_t eval_combiner(const char* kind) {
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (strcmp(kinds[i].name, kind) == 0) return kinds[i].combine;
  }
  assert(!"unknown reduction kind");
  return SCALAR_add;
}

const ir_type_t* eval_accumulator(ir_context_t* ctx, const ir_type_t* element) {
  bool narrow = element->kind == IR_TYPE_FLOAT && element->width < 32;
  return narrow ? ir_type_float(ctx, IR_F32) : element;
}

ir_value_t* eval_start_value(kernel_build_t* k, const char* kind, const ir_type_t* scalar, int64_t lanes) {
  const ir_type_t* type = kernel_vector_type(k->ctx, scalar, lanes);
  scalar_fn_t fn = eval_combiner(kind);
  if (scalar->kind == IR_TYPE_FLOAT) {
    double value = fn == SCALAR_mul ? 1 : fn == SCALAR_min ? INFINITY : fn == SCALAR_max ? -INFINITY : 0;
    return kernel_number(&k->b, type, value);
  }
  int width = scalar->kind == IR_TYPE_INDEX ? 64 : (int)scalar->width;
  int64_t high = width == 1 ? 1 : (int64_t)(~0ull >> (65 - width)), low = width == 1 ? 0 : -high - 1;
  int64_t value = fn == SCALAR_mul                        ? 1
                  : fn == SCALAR_min                      ? high
                  : fn == SCALAR_max                      ? low
                  : fn == SCALAR_minu || fn == SCALAR_and ? -1
                                                          : 0;
  return kernel_integer(&k->b, type, value);
}

ir_value_t* eval_multiply_add(kernel_build_t* k, ir_value_t* x, ir_value_t* y, ir_value_t* sum) {
  if (k->device->has_fma || ir_type_scalar(sum->type)->kind != IR_TYPE_FLOAT) {
    return kernel_multiply_add(&k->b, x, y, sum);
  }
  return kernel_binary(&k->b, SCALAR_add, kernel_binary(&k->b, SCALAR_mul, x, y), sum);
}

static ir_value_t* combine(kernel_build_t* k, scalar_fn_t fn, ir_value_t* accumulator, ir_value_t* value) {
  value = eval_convert(k, value, ir_type_scalar(accumulator->type));
  return kernel_binary(&k->b, fn, accumulator, kernel_splat(&k->b, value, kernel_lanes(accumulator)));
}

//===----------------------------------------------------------------------------------------------------------------===
// Reduce
//===----------------------------------------------------------------------------------------------------------------===

typedef struct reduce_t {
  ir_op_t* op;
  scalar_fn_t fn;
  uint32_t dim_count;
  int64_t dims[GRAPH_MAX_RANK];
  linear_t at[GRAPH_MAX_RANK];  // kept coordinates in place
  int64_t vector_dim;           // position in dims of the dimension that runs over lanes, or -1
} reduce_t;

static void reduce_body(kernel_build_t* k, const linear_t* at, ir_value_t** accumulators, void* user) {
  reduce_t* r = user;
  linear_t coords[GRAPH_MAX_RANK];
  memcpy(coords, r->at, sizeof(coords));
  for (uint32_t i = 0; i < r->dim_count; ++i) {
    coords[r->dims[i]] = at[i];
    if (r->vector_dim == (int64_t)i) {
      coords[r->dims[i]] = linear_add(k, linear_scale(k, at[i], k->lanes), linear_lane());
    }
  }
  accumulators[0] = combine(k, r->fn, accumulators[0], eval_at(k, ir_operand(r->op, 0), coords));
}

// Lanes to run over the innermost reduced dimension when the result itself is one scalar on a machine with vectors.
static int64_t inner_lanes(const kernel_build_t* k, const reduce_t* r) {
  const ir_type_t* type = ir_operand(r->op, 0)->type;
  int64_t last = r->dims[r->dim_count - 1];
  if (k->lanes != 1 || k->device->kind != DEVICE_CPU || last != type->rank - 1) return 1;
  int64_t lanes = k->device->vector_bytes / (int64_t)ir_type_bytes(eval_accumulator(k->ctx, type->element));
  if (type->dims[last] == IR_DYNAMIC) return 1;
  while (lanes > 1 && type->dims[last] % lanes) lanes /= 2;
  return lanes < 4 ? 1 : lanes;
}

static void sort_dims(int64_t* dims, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {
    for (uint32_t j = i; j > 0 && dims[j - 1] > dims[j]; --j) {
      int64_t t = dims[j];
      dims[j] = dims[j - 1];
      dims[j - 1] = t;
    }
  }
}

ir_value_t* element_reduce(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  const char* kind = graph_get_kind(op);
  reduce_t r = {.op = op, .fn = eval_combiner(kind), .vector_dim = -1};
  const ir_type_t* type = ir_operand(op, 0)->type;
  r.dim_count = graph_get_dims(op, r.dims);
  sort_dims(r.dims, r.dim_count);
  extent_t sizes[GRAPH_MAX_RANK];
  for (int32_t i = 0, kept = 0; i < type->rank; ++i) {
    bool reduced = false;
    for (uint32_t d = 0; d < r.dim_count; ++d) {
      if (r.dims[d] == i) sizes[d] = eval_extent(ir_operand(op, 0), i), reduced = true;
    }
    if (!reduced) r.at[i] = coords[kept++];
  }
  const ir_type_t* accumulator_type = eval_accumulator(k->ctx, type->element);
  int64_t outer_lanes = k->lanes, lanes = inner_lanes(k, &r);
  if (lanes > 1) {
    r.vector_dim = (int64_t)r.dim_count - 1;
    sizes[r.vector_dim].factor /= lanes;
    k->lanes = lanes;
  }
  ir_value_t* accumulator = eval_start_value(k, kind, accumulator_type, k->lanes);
  eval_loops(k, sizes, r.dim_count, &accumulator, 1, reduce_body, &r);
  k->lanes = outer_lanes;
  if (lanes > 1) accumulator = kernel_reduce(&k->b, accumulator, kind);
  return eval_convert(k, accumulator, type->element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Arg-reduce: (value, index) pairs
//===----------------------------------------------------------------------------------------------------------------===

typedef struct arg_reduce_t {
  ir_op_t* op;
  int64_t axis;
  bool is_max, last;
  const linear_t* coords;
} arg_reduce_t;

// Whether `value` replaces what is there: it is better, or the first NaN, which stays.
static ir_value_t* arg_reduce_takes(kernel_build_t* k, const arg_reduce_t* a, ir_value_t* value, ir_value_t* before) {
  scalar_fn_t better = a->is_max ? (a->last ? SCALAR_ge : SCALAR_gt) : (a->last ? SCALAR_le : SCALAR_lt);
  ir_value_t* take = kernel_binary(&k->b, better, value, before);
  if (ir_type_scalar(value->type)->kind != IR_TYPE_FLOAT) return take;
  ir_value_t* number_before = kernel_binary(&k->b, SCALAR_eq, before, before);
  ir_value_t* fresh_nan = kernel_binary(&k->b, SCALAR_and, kernel_unary(&k->b, SCALAR_is_nan, value), number_before);
  return kernel_binary(&k->b, SCALAR_or, take, fresh_nan);
}

static void arg_reduce_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  arg_reduce_t* a = user;
  ir_value_t* x = ir_operand(a->op, 0);
  linear_t coords[GRAPH_MAX_RANK];
  for (int32_t i = 0, kept = 0; i < x->type->rank; ++i) coords[i] = i == a->axis ? at[0] : a->coords[kept++];
  ir_value_t* value = eval_lanes(k, x, coords);
  ir_value_t* take = arg_reduce_takes(k, a, value, acc[0]);
  ir_value_t* place = linear_is_uniform(&at[0]) ? linear_scalar(k, &at[0]) : linear_lanes(k, &at[0]);
  ir_value_t* index = eval_convert(k, place, ir_type_scalar(acc[1]->type));
  acc[0] = kernel_ternary(&k->b, SCALAR_select, take, value, acc[0]);
  acc[1] = kernel_ternary(&k->b, SCALAR_select, take, kernel_splat(&k->b, index, k->lanes), acc[1]);
}

int64_t eval_arg_lanes(const device_info_t* device, const ir_op_t* op) {
  enum { SHORT = 4 };
  const ir_value_t* x = ir_operand(op, 0);
  int64_t axis = graph_get_axis(op), size = x->type->dims[axis];
  if (device->kind != DEVICE_CPU || axis != x->type->rank - 1) return 1;
  uint32_t bytes = ir_type_bytes(x->type->element), widest = size == IR_DYNAMIC || size > INT32_MAX ? 8 : 4;
  int64_t lanes = device->vector_bytes / (bytes > widest ? bytes : widest);
  return size != IR_DYNAMIC && size < SHORT * lanes ? 1 : lanes;
}

// `count` lanes from `first` on.
static ir_value_t* part_of(kernel_build_t* k, ir_value_t* v, int64_t first, int64_t count) {
  int64_t mask[64];
  if (count == 1) return kernel_extract(&k->b, v, first);
  for (int64_t i = 0; i < count; ++i) mask[i] = first + i;
  return kernel_shuffle(&k->b, v, v, mask, (uint32_t)count);
}

// The upper half of the lanes joins the lower one until one is left; of equals the place decides.
static void join_lanes(kernel_build_t* k, const arg_reduce_t* a, ir_value_t** acc) {
  for (int64_t half = kernel_lanes(acc[0]) / 2; half > 0; half /= 2) {
    ir_value_t *low[2], *high[2];
    for (int i = 0; i < 2; ++i) {
      low[i] = part_of(k, acc[i], 0, half);
      high[i] = part_of(k, acc[i], half, half);
    }
    ir_value_t* earlier = kernel_binary(&k->b, SCALAR_lt, high[1], low[1]);
    ir_value_t* wins = a->last ? kernel_binary(&k->b, SCALAR_gt, high[1], low[1]) : earlier;
    ir_value_t* take = kernel_binary(&k->b, a->is_max ? SCALAR_gt : SCALAR_lt, high[0], low[0]);
    ir_value_t* equal = kernel_binary(&k->b, SCALAR_eq, high[0], low[0]);
    take = kernel_binary(&k->b, SCALAR_or, take, kernel_binary(&k->b, SCALAR_and, equal, wins));
    if (ir_type_scalar(low[0]->type)->kind == IR_TYPE_FLOAT) {
      ir_value_t* fresh = kernel_binary(&k->b, SCALAR_or, kernel_binary(&k->b, SCALAR_eq, low[0], low[0]), earlier);
      fresh = kernel_binary(&k->b, SCALAR_and, kernel_unary(&k->b, SCALAR_is_nan, high[0]), fresh);
      take = kernel_binary(&k->b, SCALAR_or, take, fresh);
    }
    for (int i = 0; i < 2; ++i) acc[i] = kernel_ternary(&k->b, SCALAR_select, take, high[i], low[i]);
  }
}

// Elements [lower, upper), as many at once as there are lanes.
static void arg_reduce_range(kernel_build_t* k, arg_reduce_t* a, ir_value_t* lower, ir_value_t* upper,
                             ir_value_t** acc) {
  kernel_loop_t loop = kernel_loop_begin(k, lower, upper, k->lanes, acc, 2);
  ir_value_t* inner[2] = {loop.iters[0], loop.iters[1]};
  linear_t at = linear_value(loop.index);
  at.lane = k->lanes > 1;
  arg_reduce_body(k, &at, inner, a);
  kernel_for_end(&k->b, &loop, inner, 2);
  for (uint32_t i = 0; i < 2; ++i) acc[i] = kernel_loop_result(&loop, i);
}

// Along a line by vectors, whose lanes are joined at the end, then what is left. `acc`: the first element.
static void arg_reduce_vectors(kernel_build_t* k, arg_reduce_t* a, int64_t lanes, ir_value_t** acc) {
  extent_t size = eval_extent(ir_operand(a->op, 0), (int32_t)a->axis);
  ir_value_t *end = extent_value(k, &size), *rest = index_binary(k, SCALAR_remu, end, index_constant(k, lanes));
  ir_value_t* whole = index_binary(k, SCALAR_sub, end, rest);
  int64_t constant;
  if (!kernel_constant_index(whole, &constant)) index_set_facts(k, whole, 0, index_facts(end).max, lanes);
  const ir_type_t *index = ir_type_scalar(acc[1]->type), *narrow = index;
  if (extent_is_fixed(&size) && size.factor <= INT32_MAX) narrow = ir_type_int(k->ctx, 32);
  acc[0] = kernel_splat(&k->b, acc[0], lanes);
  acc[1] = kernel_integer(&k->b, kernel_vector_type(k->ctx, narrow, lanes), 0);
  k->lanes = lanes;
  arg_reduce_range(k, a, index_constant(k, 0), whole, acc);
  k->lanes = 1;
  join_lanes(k, a, acc);
  acc[1] = eval_convert(k, acc[1], index);
  if (!extent_is_fixed(&size) || size.factor % lanes) arg_reduce_range(k, a, whole, end, acc);
}

ir_value_t* element_arg_reduce(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  uint32_t result = tensor->index;
  const char* kind = graph_get_kind(op);
  ir_value_t* x = ir_operand(op, 0);
  arg_reduce_t a = {.op = op,
                    .axis = graph_get_axis(op),
                    .is_max = strcmp(kind, "max") == 0,
                    .last = graph_get_last(op),
                    .coords = coords};
  const ir_type_t* index = ir_type_scalar(op->results[1].type);
  linear_t first[GRAPH_MAX_RANK];
  for (int32_t i = 0, kept = 0; i < x->type->rank; ++i) first[i] = i == a.axis ? linear_constant(0) : coords[kept++];
  ir_value_t* acc[2] = {eval_lanes(k, x, first), kernel_integer(&k->b, kernel_vector_type(k->ctx, index, k->lanes), 0)};
  extent_t size = eval_extent(x, (int32_t)a.axis);
  int64_t lanes = k->lanes == 1 ? eval_arg_lanes(k->device, op) : 1;
  if (lanes > 1) {
    arg_reduce_vectors(k, &a, lanes, acc);
  } else {
    eval_loops(k, &size, 1, acc, 2, arg_reduce_body, &a);
  }
  return acc[result];
}

//===----------------------------------------------------------------------------------------------------------------===
// Contraction
//===----------------------------------------------------------------------------------------------------------------===

typedef struct contract_t {
  ir_op_t* op;
  uint32_t contract_count;
  int64_t lhs_contract[GRAPH_MAX_RANK], rhs_contract[GRAPH_MAX_RANK];
  linear_t lhs[GRAPH_MAX_RANK], rhs[GRAPH_MAX_RANK];
} contract_t;

ir_value_t* eval_widened(kernel_build_t* k, ir_op_t* op, uint32_t operand, const linear_t* coords) {
  bool is_unsigned = graph_reads_unsigned(op, operand);
  const ir_type_t* accumulator = ir_type_scalar(op->results[0].type);
  const ir_type_t* wide = eval_accumulator(k->ctx, accumulator);
  ir_value_t* value = eval_lanes(k, ir_operand(op, operand), coords);
  if (ir_type_scalar(value->type) == wide) return value;
  return kernel_cast(&k->b, is_unsigned ? SCALAR_castu : SCALAR_cast, value, wide);
}

static void contract_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  contract_t* c = user;
  for (uint32_t i = 0; i < c->contract_count; ++i) c->lhs[c->lhs_contract[i]] = c->rhs[c->rhs_contract[i]] = at[i];
  acc[0] = eval_multiply_add(k, eval_widened(k, c->op, 0, c->lhs), eval_widened(k, c->op, 1, c->rhs), acc[0]);
}

// Spreads result coordinates over the operands' batch and free dimensions.
static void contract_spread(ir_op_t* op, const linear_t* coords, contract_t* c) {
  int64_t batch[2][GRAPH_MAX_RANK];
  uint32_t batch_count = graph_get_lhs_batch(op, batch[0]), next = batch_count;
  graph_get_rhs_batch(op, batch[1]);
  c->contract_count = graph_get_lhs_contract(op, c->lhs_contract);
  graph_get_rhs_contract(op, c->rhs_contract);
  for (uint32_t side = 0; side < 2; ++side) {
    linear_t* out = side ? c->rhs : c->lhs;
    const int64_t* contracted = side ? c->rhs_contract : c->lhs_contract;
    for (int32_t d = 0; d < ir_operand(op, side)->type->rank; ++d) {
      bool taken = false;
      for (uint32_t i = 0; i < batch_count; ++i) {
        if (batch[side][i] == d) out[d] = coords[i], taken = true;
      }
      for (uint32_t i = 0; i < c->contract_count; ++i) taken |= contracted[i] == d;
      if (!taken) out[d] = coords[next++];
    }
  }
}

ir_value_t* element_contract(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  contract_t c = {.op = op};
  contract_spread(op, coords, &c);
  extent_t sizes[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < c.contract_count; ++i) {
    sizes[i] = eval_extent(ir_operand(op, 0), (int32_t)c.lhs_contract[i]);
    if (extent_is_fixed(&sizes[i])) continue;  // the other side may say a number
    extent_t other = eval_extent(ir_operand(op, 1), (int32_t)c.rhs_contract[i]);
    if (extent_is_fixed(&other)) sizes[i] = other;
  }
  const ir_type_t* element = ir_type_scalar(op->results[0].type);
  ir_value_t* acc = eval_start_value(k, "add", eval_accumulator(k->ctx, element), k->lanes);
  eval_loops(k, sizes, c.contract_count, &acc, 1, contract_body, &c);
  return eval_convert(k, acc, element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Convolution
//===----------------------------------------------------------------------------------------------------------------===

typedef struct conv_t {
  ir_op_t* op;
  graph_conv_t c;
  uint32_t spatial;
  linear_t batch, out_channel, group, first_batch;
  linear_t out[GRAPH_MAX_SPATIAL];
} conv_t;

// What is known of where a window's taps are.
typedef enum { TAP_ANYWHERE, TAP_BEFORE_END, TAP_INSIDE } tap_place_t;

static tap_place_t tap_place(const kernel_build_t* k, const ir_op_t* op, int64_t result_dim) {
  if (k->inside_op != op) return TAP_ANYWHERE;
  if (k->inside_dims >> result_dim & 1) return TAP_INSIDE;
  return k->before_end_dims >> result_dim & 1 ? TAP_BEFORE_END : TAP_ANYWHERE;
}

linear_t eval_tap(kernel_build_t* k, guard_t* guard, const eval_tap_t* tap) {
  const eval_reach_t* reach = &tap->reach;
  tap_place_t place = tap_place(k, tap->op, tap->dim);
  linear_t x = linear_add(k, linear_scale(k, tap->out, reach->stride), linear_scale(k, tap->tap, reach->dilation));
  x.constant -= reach->low;
  int64_t number;
  bool after_begin = linear_is_constant(&tap->tap, &number) && number * reach->dilation >= reach->low;
  bool inside = place == TAP_INSIDE || (place == TAP_BEFORE_END && after_begin);
  return inside ? x : guard_spread(k, guard, x, &tap->size, reach->spread);
}

// Few taps one after the other, each at its own constant distance: of the last dimensions, the others in loops.
typedef struct taps_t {
  eval_body_fn_t body;
  void* user;
  uint32_t outer, count;
  const extent_t* sizes;
  int64_t inner;  // how many taps those have
} taps_t;

static void taps_body(kernel_build_t* k, const linear_t* outer, ir_value_t** acc, void* user) {
  const taps_t* t = user;
  linear_t at[2 * GRAPH_MAX_RANK];
  memcpy(at, outer, sizeof(*at) * t->outer);
  for (int64_t tap = 0; tap < t->inner; ++tap) {
    int64_t rest = tap;
    for (uint32_t i = t->count; i-- > t->outer; rest /= t->sizes[i].factor) {
      at[i] = linear_constant(rest % t->sizes[i].factor);
    }
    t->body(k, at, acc, t->user);
  }
}

static void eval_taps(kernel_build_t* k, const extent_t* sizes, uint32_t count, ir_value_t** acc, eval_body_fn_t body,
                      void* user) {
  enum { FEW = 16 };
  taps_t t = {.body = body, .user = user, .outer = count, .count = count, .sizes = sizes, .inner = 1};
  while (k->device->kind == DEVICE_CPU && t.outer && extent_is_fixed(&sizes[t.outer - 1])) {
    int64_t more = sizes[t.outer - 1].factor;
    if (more < 1 || more > FEW / t.inner) break;
    t.inner *= more;
    --t.outer;
  }
  eval_loops(k, sizes, t.outer, acc, 1, taps_body, &t);
}

// at: input channel within the group, then spatial taps.
static void conv_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  conv_t* v = user;
  linear_t x[GRAPH_MAX_RANK], w[GRAPH_MAX_RANK];
  guard_t guard = {0};
  for (uint32_t i = 0; i < v->spatial; ++i) {
    char digit = (char)('0' + i);
    int64_t xd = graph_layout_axis(v->c.x_layout, digit);
    eval_tap_t tap = {.op = v->op,
                      .dim = graph_layout_axis(v->c.y_layout, digit),
                      .reach = {v->c.strides[i], v->c.w_dilation[i], v->c.pad_low[i], v->c.x_dilation[i]},
                      .out = v->out[i],
                      .tap = at[1 + i],
                      .size = eval_extent(ir_operand(v->op, 0), (int32_t)xd)};
    x[xd] = eval_tap(k, &guard, &tap);
    w[graph_layout_axis(v->c.w_layout, digit)] = at[1 + i];
  }
  extent_t per_group = eval_extent(ir_operand(v->op, 1), (int32_t)graph_layout_axis(v->c.w_layout, 'i'));
  x[graph_layout_axis(v->c.x_layout, 'n')] = v->batch;
  x[graph_layout_axis(v->c.x_layout, 'c')] = linear_add(k, linear_scale_extent(k, v->group, &per_group), at[0]);
  w[graph_layout_axis(v->c.w_layout, 'i')] = at[0];
  w[graph_layout_axis(v->c.w_layout, 'o')] = v->out_channel;
  const ir_type_t* scalar = ir_type_scalar(acc[0]->type);
  ir_value_t* before = acc[0];
  guard_begin(k, &guard, scalar);
  ir_value_t* sum = eval_multiply_add(k, eval_widened(k, v->op, 0, x), eval_widened(k, v->op, 1, w), before);
  acc[0] = guard_end(k, &guard, sum, before);
}

ir_value_t* element_conv(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  conv_t v = {.op = op, .c = graph_conv_read(op)};
  const ir_type_t *xt = ir_operand(op, 0)->type, *wt = ir_operand(op, 1)->type;
  v.spatial = (uint32_t)xt->rank - 2;
  v.batch = coords[graph_layout_axis(v.c.y_layout, 'n')];
  v.out_channel = coords[graph_layout_axis(v.c.y_layout, 'c')];
  v.group = linear_constant(0);
  linear_t within;
  int64_t out_channels = wt->dims[graph_layout_axis(v.c.w_layout, 'o')];
  if (v.c.groups > 1 && out_channels != IR_DYNAMIC) {
    linear_divide(k, v.out_channel, out_channels / v.c.groups, &v.group, &within);
  } else if (v.c.groups > 1) {  // x / (channels / groups), with groups a divisor of the channels
    extent_t channels = eval_extent(ir_operand(op, 1), (int32_t)graph_layout_axis(v.c.w_layout, 'o'));
    linear_divide_extent(k, linear_scale(k, v.out_channel, v.c.groups), &channels, &v.group, &within);
  }
  if (v.c.batch_groups > 1) {
    linear_t part;
    linear_divide(k, v.out_channel, out_channels / v.c.batch_groups, &part, &within);
    int64_t batch = xt->dims[graph_layout_axis(v.c.x_layout, 'n')] / v.c.batch_groups;
    v.batch = linear_add(k, v.batch, linear_scale(k, part, batch));
  }
  const ir_value_t* w = ir_operand(op, 1);
  extent_t sizes[1 + GRAPH_MAX_SPATIAL] = {eval_extent(w, (int32_t)graph_layout_axis(v.c.w_layout, 'i'))};
  for (uint32_t i = 0; i < v.spatial; ++i) {
    v.out[i] = coords[graph_layout_axis(v.c.y_layout, (char)('0' + i))];
    sizes[1 + i] = eval_extent(w, (int32_t)graph_layout_axis(v.c.w_layout, (char)('0' + i)));
  }
  const ir_type_t* element = ir_type_scalar(op->results[0].type);
  ir_value_t* acc = eval_start_value(k, "add", eval_accumulator(k->ctx, element), k->lanes);
  eval_taps(k, sizes, 1 + v.spatial, &acc, conv_body, &v);
  return eval_convert(k, acc, element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Windows
//===----------------------------------------------------------------------------------------------------------------===

typedef struct window_t {
  ir_op_t* op;
  graph_window_t w;
  const linear_t* coords;
} window_t;

static void window_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  window_t* v = user;
  ir_value_t* x = ir_operand(v->op, 0);
  linear_t in[GRAPH_MAX_RANK];
  guard_t guard = {0};
  for (int32_t i = 0; i < x->type->rank; ++i) {
    in[i] = v->coords[i];
    if (eval_window_stays(&v->w, i)) continue;
    eval_tap_t tap = {.op = v->op,
                      .dim = i,
                      .reach = {v->w.strides[i], v->w.dilations[i], v->w.pad_low[i], v->w.base_dilations[i]},
                      .out = v->coords[i],
                      .tap = at[i],
                      .size = eval_extent(x, i)};
    in[i] = eval_tap(k, &guard, &tap);
  }
  ir_value_t* before = acc[0];
  guard_begin(k, &guard, ir_type_scalar(before->type));
  ir_value_t* after = combine(k, eval_combiner(v->w.kind), before, eval_at(k, x, in));
  acc[0] = guard_end(k, &guard, after, before);
}

bool eval_window_stays(const graph_window_t* w, int32_t dim) {
  return w->sizes[dim] == 1 && w->strides[dim] == 1 && w->base_dilations[dim] == 1 && w->pad_low[dim] == 0 &&
         w->pad_high[dim] == 0;
}

ir_value_t* element_window(kernel_build_t* k, ir_value_t* tensor, const linear_t* coords) {
  ir_op_t* op = tensor->def;
  window_t v = {.op = op, .coords = coords, .w = graph_window_read(op)};
  const ir_type_t* element = ir_type_scalar(op->results[0].type);
  ir_value_t* acc = eval_start_value(k, v.w.kind, eval_accumulator(k->ctx, element), k->lanes);
  extent_t sizes[GRAPH_MAX_RANK];
  uint32_t rank = (uint32_t)op->results[0].type->rank;
  for (uint32_t i = 0; i < rank; ++i) sizes[i] = extent_fixed(v.w.sizes[i]);
  eval_taps(k, sizes, rank, &acc, window_body, &v);
  return eval_convert(k, acc, element);
}
