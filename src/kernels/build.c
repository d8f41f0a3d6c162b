// From a dispatch to its kernel: bindings, and what strategies share.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/candidates.h"
#include "passes/fusion.h"

//===----------------------------------------------------------------------------------------------------------------===
// Setting up
//===----------------------------------------------------------------------------------------------------------------===

static ir_op_t* find_root(const dispatch_t* d) {
  ir_op_t* reduce = NULL;
  IR_FOR_OPS(op, d->body) {
    fusion_class_t class = fusion_class(op);
    if (class == FUSION_HEAVY) return op;
    if (class == FUSION_REDUCE && !reduce) reduce = op;
  }
  return reduce;
}

// Numbers below 32 bits are passed as i32.
static const ir_type_t* constant_type(ir_context_t* ctx, const ir_type_t* type) {
  return type->kind == IR_TYPE_INTEGER && type->width < 32 ? ir_type_int(ctx, 32) : type;
}

// Where in the dispatch's `sizes` those of its results start.
static const int64_t* read_sizes(dispatch_t* d) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < d->op->operand_count; ++i) count += ir_type_open_dims(ir_operand(d->op, i)->type);
  uint32_t all = count;
  for (uint32_t i = 0; i < d->op->result_count; ++i) all += ir_type_open_dims(d->op->results[i].type);
  int64_t* sizes = ARENA_ARRAY(ir_context_arena(d->ctx), int64_t, all + 1);
  ir_attr_ints(graph_attr(d->op, GRAPH_ATTR_sizes), sizes, all);
  d->sizes = sizes;
  return sizes + count;
}

// Operands that are numbers come as kernel constants, behind the bindings.
static void bind_operands(dispatch_t* d, uint32_t binding_count) {
  uint32_t binding = 0, constant = binding_count;
  const int64_t* sizes = d->sizes;
  d->k.sizes = ARENA_ARRAY(ir_context_arena(d->ctx), ir_value_t*, d->op->operand_count + 1);
  for (uint32_t i = 0; i < d->op->operand_count; ++i) {
    ir_value_t* arg = d->body->args[i];
    if (ir_type_is_tensor(arg->type)) {
      eval_set_memory(&d->k, arg, kernel_func_arg(d->k.func, binding++), sizes);
      sizes += ir_type_open_dims(arg->type);
    } else {
      ir_value_t* number = kernel_func_arg(d->k.func, constant++);
      eval_set_bound(&d->k, arg, eval_convert(&d->k, number, arg->type));
      d->k.sizes[i] = number;
    }
  }
}

// Sizes are not negative, and below a tebibyte.
static void note_sizes(dispatch_t* d, const int64_t* end) {
  for (const int64_t* number = d->sizes; number < end; ++number) {
    index_set_facts(&d->k, d->k.sizes[*number], 0, (int64_t)1 << 40, 1);
  }
}

// Bindings that are only read: not those of operands that results may be in the place of.
static void set_readonly(dispatch_t* d, uint32_t bindings) {
  int64_t* list = ARENA_ARRAY(ir_context_arena(d->ctx), int64_t, bindings + 1);
  uint32_t count = 0, binding = 0;
  int64_t pairs[4 * GRAPH_MAX_RANK];
  uint32_t pair_count = d->overwrites ? ir_op_ints(d->op, "overwrites", pairs, 4 * GRAPH_MAX_RANK) : 0;
  for (uint32_t i = 0; i < d->op->operand_count; ++i) {
    bool written = false;
    if (!ir_type_is_tensor(ir_operand(d->op, i)->type)) continue;
    for (uint32_t k = 0; k < pair_count; k += 2) written |= pairs[k] == i;
    if (!written) list[count++] = binding;
    ++binding;
  }
  ir_op_set_attr(d->ctx, d->k.func, "readonly", ir_attr_i64_array(d->ctx, list, count));
  if (d->overwrites) ir_op_set_attr(d->ctx, d->k.func, "may_alias", ir_attr_unit(d->ctx));
}

static void begin_func(dispatch_t* d, ir_block_t* into) {
  arena_t* arena = ir_context_arena(d->ctx);
  uint32_t operands = d->op->operand_count, out = d->op->result_count, in = 0, constants = 0;
  const ir_type_t** types = ARENA_ARRAY(arena, const ir_type_t*, operands + out + 1);
  const ir_type_t** numbers = ARENA_ARRAY(arena, const ir_type_t*, operands + 1);
  for (uint32_t i = 0; i < operands; ++i) {
    const ir_type_t* type = ir_operand(d->op, i)->type;
    if (ir_type_is_tensor(type)) {
      types[in++] = type->element;
    } else {
      numbers[constants++] = constant_type(d->ctx, type);
    }
  }
  for (uint32_t i = 0; i < out; ++i) types[in + i] = ir_type_scalar(d->op->results[i].type);
  bool gpu = d->device->kind == DEVICE_GPU;
  kernel_signature_t sig = {.name = ir_op_string(d->op, "sym_name", "dispatch"),
                            .bindings = types,
                            .binding_count = in + out,
                            .constants = numbers,
                            .constant_count = constants,
                            .workgroup_size = {gpu ? GPU_WORKGROUP : 1, 1, 1},
                            .subgroup_size = gpu ? d->device->subgroup_size : 0};
  d->k.func = kernel_func_begin(d->ctx, into, d->op->loc, &sig, &d->k.b);
  set_readonly(d, in);
  const int64_t* sizes = read_sizes(d);
  bind_operands(d, in + out);
  d->outputs = ARENA_ARRAY(arena, ir_value_t*, out + 1);
  for (uint32_t i = 0; i < out; ++i) {
    ir_value_t* tensor = ARENA_NEW(arena, ir_value_t);
    tensor->type = ir_operand(d->yield, i)->type;
    eval_set_memory(&d->k, tensor, kernel_func_arg(d->k.func, in + i), sizes);
    sizes += ir_type_open_dims(tensor->type);
    d->outputs[i] = tensor;
  }
  note_sizes(d, sizes);
}

// Whether no result has elements, whatever its other sizes.
static bool is_empty(const dispatch_t* d) {
  uint32_t empty = 0;
  for (uint32_t i = 0; i < d->op->result_count; ++i) {
    const ir_type_t* type = d->op->results[i].type;
    bool none = false;
    for (int32_t j = 0; j < type->rank; ++j) none |= type->dims[j] == 0;
    empty += none;
  }
  return empty == d->op->result_count;
}

static bool build_dispatch(dispatch_t* d, ir_block_t* into, kernel_plan_t* out) {
  candidate_t candidate;
  const strategy_t* strategy = candidates_choose(d, &candidate);
  if (strategy) {
    d->k = (kernel_build_t){.ctx = d->ctx, .device = d->device, .lanes = 1};
    d->overwrites = strategy->overwrites && graph_attr(d->op, GRAPH_ATTR_overwrites);
    begin_func(d, into);
    if (d->device->lists_candidates) candidates_list(d, strategy);
    *out = (kernel_plan_t){.func = d->k.func, .strategy = strategy->name};
    out->cycles = candidates_least_cycles(d) * candidate.factor;
    out->slow = candidates_explain(d, strategy, candidate.factor);
    if (!is_empty(d)) strategy->build(d);
    kernel_func_end(&d->k.b);
    out->overwrites = d->overwrites;
    memcpy(out->workgroups, d->workgroups, sizeof(out->workgroups));
    memcpy(out->rule, d->rule, sizeof(out->rule));
    out->rule_count = d->rule_count;
    return true;
  }
  IR_FOR_OPS(op, d->body) {
    if (!eval_supports(op) && op != d->yield) {
      return ir_op_error(d->ctx, op, "has no kernel yet for operand type %s and result type %s on this device",
                         op->operand_count ? ir_type_str(d->ctx, ir_operand(op, 0)->type) : "none",
                         ir_type_str(d->ctx, op->results[0].type));
    }
  }
  return ir_op_error(d->ctx, d->op, "has no strategy that builds its kernel");
}

bool kernels_build(ir_context_t* ctx, const ir_op_t* original, ir_block_t* into, const device_info_t* device,
                   kernel_plan_t* out) {
  ir_op_t* dispatch = ir_op_clone(ctx, original, NULL);  // strategies bring their dispatch into the form they want
  dispatch_t d = {.ctx = ctx, .op = dispatch, .device = device, .workgroups = {1, 1, 1}};
  d.body = dispatch->regions[0].first;
  d.yield = d.body->last;
  d.root = find_root(&d);
  int64_t place = graph_in_place(dispatch);
  bool ok = place < 0 || place == dispatch_updated_operand(dispatch);
  ok = ok ? build_dispatch(&d, into, out)
          : ir_op_error(ctx, original, "has in_place = %lld, but is no update of that operand alone", (long long)place);
  ir_op_erase(dispatch);
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// Sharing out iterations
//===----------------------------------------------------------------------------------------------------------------===

static void set_rule(dispatch_t* d, const extent_t* count, int64_t factor, int64_t divisor, int64_t most) {
  d->rule[0] = factor;
  d->rule[1] = divisor;
  d->rule[2] = most;
  for (uint32_t i = 0; i < count->count; ++i) d->rule[3 + i] = count->numbers[i];
  d->rule_count = 3 + count->count;
}

void dispatch_set_rule(dispatch_t* d, const extent_t* count, int64_t divisor, int64_t most) {
  set_rule(d, count, count->factor, divisor, most);
}

static iterations_t gpu_iterations(dispatch_t* d, int64_t count) {
  kernel_build_t* k = &d->k;
  iterations_t it = {.has_branch = true};
  int64_t groups = (count + GPU_WORKGROUP - 1) / GPU_WORKGROUP;
  enum { MAX_GROUPS_X = 65535 };
  int64_t rows = (groups + MAX_GROUPS_X - 1) / MAX_GROUPS_X, along = (groups + rows - 1) / rows;
  d->workgroups[0] = along;
  d->workgroups[1] = rows;
  ir_value_t* group = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0);
  if (rows > 1) {
    ir_value_t* row = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 1);
    group = kernel_add(&k->b, group, kernel_mul_const(&k->b, row, along));
  }
  ir_value_t* thread = kernel_id(&k->b, KERNEL_THREAD_ID, 0);
  ir_value_t* index = kernel_add(&k->b, kernel_mul_const(&k->b, group, GPU_WORKGROUP), thread);
  ir_value_t* inside = kernel_binary(&k->b, SCALAR_lt, index, kernel_index(&k->b, count));
  it.branch = kernel_if_begin(&k->b, inside, NULL, 0);
  index_set_facts(k, index, 0, count - 1, 1);
  it.index = linear_value(index);
  return it;
}

iterations_t iterations_begin(dispatch_t* d, int64_t count, int64_t grain) {
  if (d->device->kind == DEVICE_GPU) return gpu_iterations(d, count);
  kernel_build_t* k = &d->k;
  iterations_t it = {.index = linear_constant(0)};
  if (count <= 1) return it;
  it.has_loop = true;
  enum { MAX_WORKGROUPS = 32 };
  if (grain < 1) grain = 1;
  int64_t groups = (count + grain - 1) / grain;
  if (groups > MAX_WORKGROUPS) groups = MAX_WORKGROUPS;
  int64_t chunk = (count + groups - 1) / groups;
  groups = (count + chunk - 1) / chunk;
  d->workgroups[0] = groups;
  if (groups == 1) {
    it.loop = kernel_loop_constant(k, 0, count, 1, NULL, 0);
  } else {
    ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0);
    index_set_facts(k, id, 0, groups - 1, 1);
    ir_value_t* lower = kernel_mul_const(&k->b, id, chunk);
    ir_value_t* upper = kernel_add_const(&k->b, lower, chunk);
    if (count % chunk) upper = kernel_binary(&k->b, SCALAR_min, upper, kernel_index(&k->b, count));
    if (chunk > 1) index_set_facts(k, lower, 0, count - 1, chunk);
    index_set_facts(k, upper, 1, count, 1);
    it.loop = kernel_loop_begin(k, lower, upper, 1, NULL, 0);
  }
  it.index = linear_value(it.loop.index);
  return it;
}

// Each thread takes every so-manieth: as many as there are in the largest launch, so that most take one.
static iterations_t gpu_dynamic(dispatch_t* d, const extent_t* count) {
  enum { MAX_GROUPS = 65535 };
  kernel_build_t* k = &d->k;
  set_rule(d, count, count->factor, GPU_WORKGROUP, MAX_GROUPS);
  ir_value_t* group = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0);
  ir_value_t* thread = kernel_id(&k->b, KERNEL_THREAD_ID, 0);
  ir_value_t* index = kernel_add(&k->b, kernel_mul_const(&k->b, group, GPU_WORKGROUP), thread);
  index_set_facts(k, index, 0, (int64_t)MAX_GROUPS * GPU_WORKGROUP, 1);
  iterations_t it = {.has_loop = true};
  it.loop = kernel_loop_begin(k, index, extent_value(k, count), (int64_t)MAX_GROUPS * GPU_WORKGROUP, NULL, 0);
  it.index = linear_value(it.loop.index);
  return it;
}

share_t iterations_share(dispatch_t* d, const extent_t* count, int64_t cost, int64_t block) {
  enum { MAX_GROUPS = 32, WORK = 60000 };
  kernel_build_t* k = &d->k;
  set_rule(d, count, __builtin_mul_overflow(count->factor, cost, &cost) ? INT64_MAX / 4 : cost, WORK, MAX_GROUPS);
  ir_value_t *id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0), *groups = kernel_id(&k->b, KERNEL_WORKGROUP_COUNT, 0);
  index_set_facts(k, id, 0, MAX_GROUPS - 1, 1);
  index_set_facts(k, groups, 1, MAX_GROUPS, 1);
  ir_value_t *size = extent_value(k, count), *chunk = index_binary(k, SCALAR_add, size, groups);
  chunk = index_binary(k, SCALAR_add, chunk, index_constant(k, -1));
  chunk = index_binary(k, SCALAR_divu, chunk, groups);
  if (block > 1) {
    chunk = index_binary(k, SCALAR_add, chunk, index_constant(k, block - 1));
    chunk = index_binary(k, SCALAR_divu, chunk, index_constant(k, block));
    chunk = index_binary(k, SCALAR_mul, chunk, index_constant(k, block));
  }
  share_t share;
  ir_value_t* lower = index_binary(k, SCALAR_mul, id, chunk);
  share.upper = index_binary(k, SCALAR_min, index_binary(k, SCALAR_add, lower, chunk), size);
  share.lower = index_binary(k, SCALAR_min, lower, size);
  return share;
}

iterations_t iterations_dynamic(dispatch_t* d, const extent_t* count, int64_t cost) {
  enum { WORK = 60000 };
  if (cost < 1) cost = 1;
  if (extent_is_fixed(count)) return iterations_begin(d, count->factor, WORK / cost);
  if (d->device->kind == DEVICE_GPU) return gpu_dynamic(d, count);
  share_t share = iterations_share(d, count, cost, 1);
  iterations_t it = {.has_loop = true};
  it.loop = kernel_loop_begin(&d->k, share.lower, share.upper, 1, NULL, 0);
  it.index = linear_value(it.loop.index);
  return it;
}

void iterations_end(dispatch_t* d, iterations_t* it) {
  if (it->has_loop) kernel_for_end(&d->k.b, &it->loop, NULL, 0);
  if (it->has_branch) kernel_if_end(&d->k.b, &it->branch, NULL, 0);
}

void iterations_split(kernel_build_t* k, linear_t position, const int64_t* sizes, int32_t rank, linear_t* coords) {
  for (int32_t i = rank; i-- > 0;) {
    if (sizes[i] == 0 || sizes[i] == 1) {  // the first may be IR_DYNAMIC
      coords[i] = linear_constant(0);
    } else if (i == 0) {
      coords[i] = position;
    } else {
      bool first = true;
      for (int32_t j = 0; j < i; ++j) first &= sizes[j] == 1;
      if (first) {
        coords[i] = position;
        position = linear_constant(0);
        continue;
      }
      linear_t quotient;
      linear_divide(k, position, sizes[i], &quotient, &coords[i]);
      position = quotient;
    }
  }
}

void iterations_split_extents(kernel_build_t* k, linear_t position, const extent_t* sizes, int32_t rank,
                              linear_t* coords) {
  int64_t fixed[GRAPH_MAX_RANK];
  int32_t first = 0;
  while (first < rank && extent_is_fixed(&sizes[first])) fixed[first] = sizes[first].factor, ++first;
  if (first == rank) {
    iterations_split(k, position, fixed, rank, coords);
    return;
  }
  first = 0;
  while (first + 1 < rank && extent_is(&sizes[first], 1)) coords[first++] = linear_constant(0);
  for (int32_t i = rank; i-- > first + 1;) {
    linear_t quotient;
    linear_divide_extent(k, position, &sizes[i], &quotient, &coords[i]);
    position = quotient;
  }
  coords[first] = position;
}

//===----------------------------------------------------------------------------------------------------------------===
// Vectors
//===----------------------------------------------------------------------------------------------------------------===

int64_t dispatch_lanes(const dispatch_t* d, int64_t size) {
  if (d->device->kind == DEVICE_GPU) return 1;
  uint32_t widest = 4;
  IR_FOR_OPS(op, d->body) {
    for (uint32_t i = 0; i < op->result_count; ++i) {
      uint32_t bytes = ir_type_bytes(ir_type_scalar(op->results[i].type));
      if (bytes > widest) widest = bytes;
    }
  }
  int64_t lanes = d->device->vector_bytes / widest;
  if (!d->device->has_masks) {
    while (lanes > 1 && size % lanes) lanes /= 2;
  }
  while (lanes > 1 && lanes / 2 >= size) lanes /= 2;
  while (lanes > 4 && size % lanes && size % (lanes / 2) == 0 && size < 4 * lanes) lanes /= 2;
  return lanes < 1 ? 1 : lanes;
}

int64_t dispatch_extent_lanes(const dispatch_t* d, const extent_t* size) {
  enum { LARGE = 1 << 20 };
  if (extent_is_fixed(size)) return dispatch_lanes(d, size->factor);
  return dispatch_lanes(d, LARGE);
}

int64_t dispatch_wide_lanes(const dispatch_t* d, const extent_t* size) {
  enum { MOST = 64, TIMES = 4 };
  int64_t lanes = dispatch_extent_lanes(d, size), wide = lanes;
  if (!extent_is_fixed(size)) return lanes;
  while (wide < MOST && wide < TIMES * lanes && 2 * wide <= size->factor &&
         (d->device->has_masks || size->factor % (2 * wide) == 0)) {
    wide *= 2;
  }
  return wide;
}

static double typical_count(const ir_value_t* value) {
  extent_t count = eval_count(value);
  return (double)extent_guess(&count);
}

// In floating point: guesses at sizes of many dimensions exceed integers.
static double op_cost(const ir_op_t* op) {
  double cost = graph_scalar_fn(op) >= 0 ? 1 : 0;
  if (ir_is(op, GRAPH_CONTRACT)) {
    int64_t dims[GRAPH_MAX_RANK];
    uint32_t count = graph_get_lhs_contract(op, dims);
    cost = 1;
    for (uint32_t i = 0; i < count; ++i) {
      extent_t size = eval_extent(ir_operand(op, 0), (int32_t)dims[i]);
      cost *= (double)extent_guess(&size);
    }
  } else if (ir_is(op, GRAPH_CONV)) {
    double out = typical_count(&op->results[0]);
    const char* layout = graph_get_w_layout(op);
    int64_t channels = ir_operand(op, 1)->type->dims[graph_layout_axis(layout, 'o')];
    cost = out > 0 ? typical_count(ir_operand(op, 1)) : 1;
    if (channels > 0) cost /= (double)channels;
  } else if (ir_is(op, GRAPH_ATTENTION)) {
    const ir_value_t* keys = ir_operand(op, 1);
    extent_t size = eval_extent(keys, keys->type->rank - 2);
    cost = 2 * (double)extent_guess(&size);  // a product of q and k, and one with v
  } else if (ir_is(op, GRAPH_WINDOW)) {
    int64_t sizes[GRAPH_MAX_RANK];
    uint32_t rank = graph_get_sizes(op, sizes);
    cost = 1;
    for (uint32_t i = 0; i < rank; ++i) cost *= (double)sizes[i];
  } else if (ir_is(op, GRAPH_REDUCE) || ir_is(op, GRAPH_ARG_REDUCE) || ir_is(op, GRAPH_SCAN)) {
    double out = typical_count(&op->results[0]);
    cost = out > 0 ? typical_count(ir_operand(op, 0)) / out : 1;
  }
  return cost;
}

int64_t dispatch_cost(const dispatch_t* d) {
  const double most = 1 << 20;  // strategies multiply it by sizes
  double cost = 2;
  IR_FOR_OPS(op, d->body) cost += op_cost(op);
  return (int64_t)(cost < most ? cost : most);
}

double dispatch_operations(const dispatch_t* d) {
  double all = 0;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && op->result_count) all += op_cost(op) * typical_count(&op->results[0]);
  }
  return all;
}

ir_value_t* lane_mask(kernel_build_t* k, int64_t lanes, int64_t count) {
  const ir_type_t* type = kernel_vector_type(k->ctx, ir_type_int(k->ctx, 1), lanes);
  unsigned char bits[256] = {0};
  assert(lanes <= 256);
  for (int64_t i = 0; i < count; ++i) bits[i] = 1;
  ir_named_attr_t attr = {"value", ir_attr_elements(k->ctx, type, bits, (size_t)lanes)};
  ir_op_state_t state = {.info = ir_context_op(k->ctx, KERNEL_CONSTANT),
                         .result_types = &type,
                         .result_count = 1,
                         .attrs = &attr,
                         .attr_count = 1};
  return ir_result(ir_build(&k->b, &state), 0);
}

void strips(dispatch_t* d, int64_t size, int64_t lanes, ir_value_t** accumulators, uint32_t count, strip_body_fn_t body,
            void* user) {
  kernel_build_t* k = &d->k;
  int64_t whole = size / lanes * lanes, outer_lanes = k->lanes;
  k->lanes = lanes;
  ir_value_t* inner[EVAL_ACCUMULATORS];
  assert(count <= EVAL_ACCUMULATORS);
  if (whole == lanes) {
    body(d, lanes > 1 ? linear_lane() : linear_constant(0), accumulators, user);
  } else if (whole > 0) {
    kernel_loop_t loop = kernel_loop_constant(k, 0, whole, lanes, accumulators, count);
    for (uint32_t i = 0; i < count; ++i) inner[i] = loop.iters[i];
    linear_t at = linear_value(loop.index);
    if (lanes > 1) at.lane = 1;
    body(d, at, inner, user);
    kernel_for_end(&k->b, &loop, inner, count);
    for (uint32_t i = 0; i < count; ++i) accumulators[i] = kernel_loop_result(&loop, i);
  }
  if (whole < size) {
    ir_value_t* outer_mask = k->mask;
    k->mask = lane_mask(k, lanes, size - whole);
    linear_t at = linear_constant(whole);
    at.lane = 1;
    body(d, at, accumulators, user);
    k->mask = outer_mask;
  }
  k->lanes = outer_lanes;
}

void strips_whole(dispatch_t* d, int64_t low, int64_t high, int64_t lanes, const strip_call_t* call) {
  kernel_build_t* k = &d->k;
  int64_t outer_lanes = k->lanes;
  while (lanes > 1 && lanes > high - low) lanes /= 2;
  int64_t whole = low + (high - low) / lanes * lanes;
  k->lanes = lanes;
  linear_t at = linear_constant(low);
  at.lane = lanes > 1;
  if (whole == low + lanes) {
    call->body(d, at, NULL, call->user);
  } else if (whole > low) {
    kernel_loop_t loop = kernel_loop_constant(k, low, whole, lanes, NULL, 0);
    linear_t each = linear_value(loop.index);
    each.lane = lanes > 1;
    call->body(d, each, NULL, call->user);
    kernel_for_end(&k->b, &loop, NULL, 0);
  }
  if (whole < high) {
    at.constant = high - lanes;
    call->body(d, at, NULL, call->user);
  }
  k->lanes = outer_lanes;
}

ir_value_t* lanes_below(kernel_build_t* k, int64_t lanes, ir_value_t* count) {
  const ir_type_t* type = kernel_vector_type(k->ctx, ir_type_index(k->ctx), lanes);
  ir_value_t* lane = ir_build_value(&k->b, KERNEL_IOTA, NULL, 0, type);
  return kernel_binary(&k->b, SCALAR_lt, lane, kernel_splat(&k->b, count, lanes));
}

// One loop of the strips from `part.lower` on: whole vectors, or what is left after them, with a mask.
static void strip_loop(dispatch_t* d, share_t part, bool masked, ir_value_t** accumulators, uint32_t count,
                       const strip_call_t* call) {
  kernel_build_t* k = &d->k;
  ir_value_t *inner[EVAL_ACCUMULATORS], *outer_mask = k->mask;
  kernel_loop_t loop = kernel_loop_begin(k, part.lower, part.upper, k->lanes, accumulators, count);
  for (uint32_t i = 0; i < count; ++i) inner[i] = loop.iters[i];
  linear_t at = linear_value(loop.index);
  if (k->lanes > 1) at.lane = 1;
  if (masked) {
    ir_value_t* left = kernel_binary(&k->b, SCALAR_sub, part.upper, loop.index);
    k->mask = lanes_below(k, k->lanes, left);
  }
  call->body(d, at, inner, call->user);
  k->mask = outer_mask;
  kernel_for_end(&k->b, &loop, inner, count);
  for (uint32_t i = 0; i < count; ++i) accumulators[i] = kernel_loop_result(&loop, i);
}

void strips_between(dispatch_t* d, share_t part, int64_t lanes, ir_value_t** accumulators, uint32_t count,
                    const strip_call_t* call) {
  kernel_build_t* k = &d->k;
  int64_t outer_lanes = k->lanes;
  assert(count <= EVAL_ACCUMULATORS && (!count || lanes == 1 || d->device->has_masks || call->rest));
  k->lanes = lanes;
  if (lanes == 1) {
    strip_loop(d, part, false, accumulators, count, call);
  } else {
    ir_value_t* length = kernel_binary(&k->b, SCALAR_sub, part.upper, part.lower);
    ir_value_t* rest = kernel_binary(&k->b, SCALAR_remu, length, kernel_index(&k->b, lanes));
    ir_value_t* middle = kernel_binary(&k->b, SCALAR_sub, part.upper, rest);
    index_set_facts(k, middle, 0, index_facts(part.upper).max, 1);
    strip_loop(d, (share_t){part.lower, middle}, false, accumulators, count, call);
    share_t last = {middle, part.upper};
    if (!d->device->has_masks) k->lanes = 1;
    if (k->lanes == 1 && count) {
      call->rest(d, last, accumulators, call->user);
    } else {
      strip_loop(d, last, d->device->has_masks, accumulators, count, call);
    }
  }
  k->lanes = outer_lanes;
}

void strips_extent(dispatch_t* d, const extent_t* size, int64_t lanes, ir_value_t** accumulators, uint32_t count,
                   const strip_call_t* call) {
  if (extent_is_fixed(size)) {
    strips(d, size->factor, lanes, accumulators, count, call->body, call->user);
    return;
  }
  share_t all = {index_constant(&d->k, 0), extent_value(&d->k, size)};
  strips_between(d, all, lanes, accumulators, count, call);
}

//===----------------------------------------------------------------------------------------------------------------===
// Epilogue
//===----------------------------------------------------------------------------------------------------------------===

typedef struct placed_t {
  ir_value_t* value;
  linear_t coords[GRAPH_MAX_RANK];
} placed_t;

static placed_t* find_placed(placed_t* placed, uint32_t count, const ir_value_t* value) {
  for (uint32_t i = 0; i < count; ++i) {
    if (placed[i].value == value) return &placed[i];
  }
  return NULL;
}

void epilogue_store(dispatch_t* d, ir_value_t* root, const linear_t* coords) {
  kernel_build_t* k = &d->k;
  uint32_t capacity = 1, count = 0;
  for (ir_op_t* op = root->def; op; op = op->next) capacity += op->result_count;
  placed_t* placed = ARENA_ARRAY(ir_context_arena(d->ctx), placed_t, capacity);
  for (uint32_t i = 0; i < root->def->result_count; ++i) {
    if (!ir_result(root->def, i)->data) continue;
    placed[count].value = ir_result(root->def, i);
    for (int32_t j = 0; j < root->type->rank; ++j) placed[count].coords[j] = coords[j];
    ++count;
  }
  for (ir_op_t* op = root->def->next; op && op != d->yield; op = op->next) {
    placed_t* from = NULL;
    for (uint32_t i = 0; i < op->operand_count && !from; ++i) from = find_placed(placed, count, ir_operand(op, i));
    if (!from) continue;  // a producer: evaluated where it is needed
    placed_t* to = &placed[count++];
    to->value = ir_result(op, 0);
    ir_value_t* value;
    if (graph_scalar_fn(op) >= 0) {
      memcpy(to->coords, from->coords, sizeof(to->coords));
      value = eval_at(k, to->value, from->coords);
    } else {
      bool mapped = eval_forward(k, op, from->coords, to->coords);
      assert(mapped && "an epilogue has scalar functions and one-to-one index maps only");
      (void)mapped;
      value = ((source_t*)from->value->data)->value;
    }
    eval_set_bound(k, to->value, value);
  }
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    placed_t* at = find_placed(placed, count, ir_operand(d->yield, i));
    if (at) eval_store(k, d->outputs[i], at->coords, ((source_t*)at->value->data)->value);
  }
  for (uint32_t i = 0; i < count; ++i) {  // the next tile binds anew
    if (placed[i].value != root) placed[i].value->data = NULL;
  }
}

bool epilogue_is_long(const dispatch_t* d) {
  enum { LONG = 20 };
  int64_t length = 0;
  for (ir_op_t* op = d->root->next; op && op != d->yield; op = op->next) {
    int fn = graph_scalar_fn(op);
    length += fn < 0 ? 0 : scalar_info[fn].cost;
  }
  return length > LONG;
}
