// From a dispatch to its kernel: bindings, the choice of a strategy, and what strategies share.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/strategy.h"
#include "passes/fusion.h"

static const strategy_t strategies[] = {
    {"contract", DEVICE_CPU, strategy_contract_matches, strategy_contract_build},
    {"conv", DEVICE_CPU, strategy_conv_matches, strategy_conv_build},
    {"rows", DEVICE_CPU, strategy_rows_matches, strategy_rows_build},
    {"map", DEVICE_CPU, strategy_map_matches, strategy_map_build},
    {"rank", DEVICE_CPU, strategy_rank_matches, strategy_rank_build},
    {"scatter", DEVICE_CPU, strategy_scatter_matches, strategy_scatter_build},
    {"tile", DEVICE_GPU, strategy_tile_matches, strategy_tile_build},
    {"rows", DEVICE_GPU, strategy_rows_matches, strategy_rows_build},
    {"map", DEVICE_GPU, strategy_map_matches, strategy_map_build},
    {"rank", DEVICE_GPU, strategy_rank_matches, strategy_rank_build},
    {"scatter", DEVICE_GPU, strategy_scatter_matches, strategy_scatter_build},
};

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

static void clear_sources(ir_block_t* body) {
  for (uint32_t i = 0; i < body->arg_count; ++i) body->args[i]->data = NULL;
  IR_FOR_OPS(op, body) {
    for (uint32_t i = 0; i < op->result_count; ++i) op->results[i].data = NULL;
  }
}

// Numbers below 32 bits are passed as i32.
static const ir_type_t* constant_type(ir_context_t* ctx, const ir_type_t* type) {
  return type->kind == IR_TYPE_INTEGER && type->width < 32 ? ir_type_int(ctx, 32) : type;
}

// Operands that are numbers come as kernel constants, behind the bindings.
static void bind_operands(dispatch_t* d, uint32_t binding_count) {
  uint32_t binding = 0, constant = binding_count;
  for (uint32_t i = 0; i < d->op->operand_count; ++i) {
    ir_value_t* arg = d->body->args[i];
    if (ir_type_is_tensor(arg->type)) {
      eval_set_memory(&d->k, arg, kernel_func_arg(d->k.func, binding++));
    } else {
      ir_value_t* number = kernel_func_arg(d->k.func, constant++);
      eval_set_bound(&d->k, arg, eval_convert(&d->k, number, arg->type));
    }
  }
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
  int64_t* readonly = ARENA_ARRAY(arena, int64_t, in + 1);
  for (uint32_t i = 0; i < in; ++i) readonly[i] = i;
  ir_op_set_attr(d->ctx, d->k.func, "readonly", ir_attr_i64_array(d->ctx, readonly, in));
  bind_operands(d, in + out);
  d->outputs = ARENA_ARRAY(arena, ir_value_t*, out + 1);
  for (uint32_t i = 0; i < out; ++i) {
    ir_value_t* tensor = ARENA_NEW(arena, ir_value_t);
    tensor->type = ir_operand(d->yield, i)->type;
    eval_set_memory(&d->k, tensor, kernel_func_arg(d->k.func, in + i));
    d->outputs[i] = tensor;
  }
}

bool kernels_build(ir_context_t* ctx, ir_op_t* dispatch, ir_block_t* into, const device_info_t* device,
                   kernel_plan_t* out) {
  dispatch_t d = {.ctx = ctx, .op = dispatch, .device = device, .workgroups = {1, 1, 1}};
  d.body = dispatch->regions[0].first;
  d.yield = d.body->last;
  d.root = find_root(&d);
  for (uint32_t i = 0; i < dispatch->operand_count; ++i) {
    const ir_type_t* type = ir_operand(dispatch, i)->type;
    if (ir_type_is_tensor(type) && !ir_type_is_static(type) && d.yield == d.body->first) {
      return ir_op_error(ctx, dispatch,
                         "copies a value of type %s; kernels need static shapes: give the inputs fixed sizes",
                         ir_type_str(ctx, type));
    }
  }
  for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); ++i) {
    const strategy_t* strategy = &strategies[i];
    if (strategy->kind != device->kind || !strategy->matches(&d)) continue;
    d.k = (kernel_build_t){.ctx = ctx, .device = device, .lanes = 1};
    begin_func(&d, into);
    strategy->build(&d);
    kernel_func_end(&d.k.b);
    clear_sources(d.body);
    *out = (kernel_plan_t){.func = d.k.func, .strategy = strategy->name};
    memcpy(out->workgroups, d.workgroups, sizeof(out->workgroups));
    return true;
  }
  IR_FOR_OPS(op, d.body) {
    for (uint32_t i = 0; i < op->result_count; ++i) {
      const ir_type_t* type = op->results[i].type;
      if (!ir_type_is_static(type)) {
        return ir_op_error(ctx, op, "has a result of type %s; kernels need static shapes: give the inputs fixed sizes",
                           ir_type_str(ctx, type));
      }
    }
    if (!eval_supports(op) && op != d.yield) {
      return ir_op_error(ctx, op, "has no kernel yet for operand type %s and result type %s on this device",
                         op->operand_count ? ir_type_str(ctx, ir_operand(op, 0)->type) : "none",
                         ir_type_str(ctx, op->results[0].type));
    }
  }
  return ir_op_error(ctx, dispatch, "has no strategy that builds its kernel");
}

//===----------------------------------------------------------------------------------------------------------------===
// Sharing out iterations
//===----------------------------------------------------------------------------------------------------------------===

static iterations_t gpu_iterations(dispatch_t* d, int64_t count) {
  kernel_build_t* k = &d->k;
  iterations_t it = {.has_branch = true};
  int64_t groups = (count + GPU_WORKGROUP - 1) / GPU_WORKGROUP;
  enum { MAX_GROUPS_X = 65535 };
  d->workgroups[0] = groups > MAX_GROUPS_X ? MAX_GROUPS_X : groups;
  d->workgroups[1] = (groups + MAX_GROUPS_X - 1) / MAX_GROUPS_X;
  ir_value_t* group = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0);
  if (d->workgroups[1] > 1) {
    ir_value_t* row = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 1);
    group = kernel_add(&k->b, group, kernel_mul_const(&k->b, row, MAX_GROUPS_X));
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

void iterations_end(dispatch_t* d, iterations_t* it) {
  if (it->has_loop) kernel_for_end(&d->k.b, &it->loop, NULL, 0);
  if (it->has_branch) kernel_if_end(&d->k.b, &it->branch, NULL, 0);
}

void iterations_split(kernel_build_t* k, linear_t position, const int64_t* sizes, int32_t rank, linear_t* coords) {
  for (int32_t i = rank; i-- > 0;) {
    if (sizes[i] == 1) {
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

static int64_t op_cost(const ir_op_t* op) {
  int64_t cost = graph_scalar_fn(op) >= 0 ? 1 : 0;
  if (ir_is(op, GRAPH_CONTRACT)) {
    int64_t dims[GRAPH_MAX_RANK];
    uint32_t count = ir_op_ints(op, "lhs_contract", dims, GRAPH_MAX_RANK);
    cost = 1;
    for (uint32_t i = 0; i < count; ++i) cost *= ir_operand(op, 0)->type->dims[dims[i]];
  } else if (ir_is(op, GRAPH_CONV)) {
    int64_t out = ir_type_count(op->results[0].type);
    graph_conv_t c;
    cost = graph_conv_read(op, &c) && out > 0 ? ir_type_count(ir_operand(op, 1)->type) : 1;
    const char* o = strchr(c.w_layout, 'o');
    if (o)
      cost /= ir_operand(op, 1)->type->dims[o - c.w_layout] > 0 ? ir_operand(op, 1)->type->dims[o - c.w_layout] : 1;
  } else if (ir_is(op, GRAPH_WINDOW)) {
    graph_window_t w;
    cost = 1;
    if (graph_window_read(op, &w)) {
      for (int32_t i = 0; i < op->results[0].type->rank; ++i) cost *= w.sizes[i];
    }
  } else if (ir_is(op, GRAPH_REDUCE) || ir_is(op, GRAPH_ARG_REDUCE) || ir_is(op, GRAPH_SCAN)) {
    int64_t out = ir_type_count(op->results[0].type);
    cost = out > 0 ? ir_type_count(ir_operand(op, 0)->type) / out : 1;
  }
  return cost;
}

int64_t dispatch_cost(const dispatch_t* d) {
  int64_t cost = 2;
  IR_FOR_OPS(op, d->body) cost += op_cost(op);
  return cost;
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
  placed[count].value = root;
  memcpy(placed[count++].coords, coords, sizeof(linear_t) * (size_t)root->type->rank);
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
  for (uint32_t i = 1; i < count; ++i) placed[i].value->data = NULL;  // the next tile binds anew
}
