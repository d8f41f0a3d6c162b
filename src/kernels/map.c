// Every output element on its own: elementwise chains, index maps, small windows, and whatever has no better strategy.
// On CPUs vectors run along the output's last dimension; on GPUs a thread makes an element.
#include <assert.h>
#include <string.h>

#include "kernels/strategy.h"

bool strategy_map_matches(const dispatch_t* d) {
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && !eval_supports(op)) return false;
  }
  return true;
}

// All values have one shape (or are single numbers), so that the dimensions do not matter: the kernel sees one.
static bool flattens(const dispatch_t* d) {
  const ir_type_t* shape = ir_operand(d->yield, 0)->type;
  if (shape->rank < 2 || d->yield->operand_count != 1 || !ir_type_is_static(shape)) return false;
  IR_FOR_OPS(op, d->body) {
    if (op == d->yield) continue;
    if (graph_scalar_fn(op) < 0 && !ir_is(op, GRAPH_CONSTANT)) return false;
    if (op->results[0].type->rank != shape->rank) return false;
    if (memcmp(op->results[0].type->dims, shape->dims, sizeof(int64_t) * (size_t)shape->rank)) return false;
  }
  for (uint32_t i = 0; i < d->body->arg_count; ++i) {
    const ir_type_t* type = d->body->args[i]->type;
    if (type->rank != shape->rank || memcmp(type->dims, shape->dims, sizeof(int64_t) * (size_t)shape->rank)) {
      return false;
    }
  }
  return true;
}

static void flatten_value(ir_context_t* ctx, ir_value_t* value) {
  int64_t count = ir_type_count(value->type);
  value->type = ir_type_tensor(ctx, value->type->element, 1, &count);
}

static void flatten(dispatch_t* d) {
  for (uint32_t i = 0; i < d->body->arg_count; ++i) flatten_value(d->ctx, d->body->args[i]);
  IR_FOR_OPS(op, d->body) {
    for (uint32_t i = 0; i < op->result_count; ++i) flatten_value(d->ctx, &op->results[i]);
  }
  for (uint32_t i = 0; i < d->op->result_count; ++i) flatten_value(d->ctx, d->outputs[i]);
}

// Several outputs follow one root: it is computed once and everything else pushed behind it.
static ir_value_t* domain_of(const dispatch_t* d) {
  if (d->yield->operand_count == 1 || !d->root) return ir_operand(d->yield, 0);
  return ir_result(d->root, 0);
}

static void compute(dispatch_t* d, ir_value_t* domain, const linear_t* coords) {
  kernel_build_t* k = &d->k;
  if (d->yield->operand_count == 1) {
    eval_store(k, d->outputs[0], coords, eval_at(k, domain, coords));
    return;
  }
  ir_value_t* values[EVAL_ACCUMULATORS];
  assert(d->root->result_count <= EVAL_ACCUMULATORS);
  for (uint32_t i = 0; i < d->root->result_count; ++i) values[i] = eval_at(k, ir_result(d->root, i), coords);
  for (uint32_t i = 0; i < d->root->result_count; ++i) eval_set_bound(k, ir_result(d->root, i), values[i]);
  epilogue_store(d, ir_result(d->root, 0), coords);
  ir_result(d->root, 0)->data = NULL;
}

// The same with run-time sizes: then the last coordinate alone can be the position.
static bool is_one_shape(const dispatch_t* d, const ir_value_t* domain) {
  if (d->yield->operand_count != 1) return false;
  IR_FOR_OPS(op, d->body) {
    if (op == d->yield) continue;
    bool splat = (ir_is(op, GRAPH_BROADCAST) && ir_operand(op, 0)->type->rank == 0) || ir_is(op, GRAPH_CONSTANT);
    if (op->results[0].type->rank == 0 && splat) continue;
    if (graph_scalar_fn(op) < 0 && !splat) return false;
    if (!eval_same_shape(&op->results[0], domain)) return false;
  }
  for (uint32_t i = 0; i < d->body->arg_count; ++i) {
    const ir_value_t* arg = d->body->args[i];
    if (ir_type_is_tensor(arg->type) && arg->type->rank && !eval_same_shape(arg, domain)) return false;
  }
  return true;
}

typedef struct strip_t {
  ir_value_t* domain;
  linear_t* coords;
  linear_t offset;
  int32_t axis;  // along which it goes
} strip_t;

static void strip_body(dispatch_t* d, linear_t at, ir_value_t** accumulators, void* user) {
  (void)accumulators;
  strip_t* s = user;
  s->coords[s->axis] = linear_add(&d->k, at, s->offset);
  compute(d, s->domain, s->coords);
}

static void build_cpu(dispatch_t* d, ir_value_t* domain) {
  const ir_type_t* type = domain->type;
  linear_t coords[GRAPH_MAX_RANK];
  enum { WORK = 60000 };
  int64_t cost = dispatch_cost(d), last = type->dims[type->rank - 1], outer = last ? ir_type_count(type) / last : 0;
  int64_t lanes = dispatch_lanes(d, last);
  strip_t s = {domain, coords, linear_constant(0), type->rank - 1};
  if (outer == 1 && last % lanes == 0 && last / lanes > 1) {  // one long row: share it out by vectors
    iterations_t it = iterations_begin(d, last / lanes, WORK / (cost * lanes));
    for (int32_t i = 0; i < type->rank - 1; ++i) coords[i] = linear_constant(0);
    d->k.lanes = lanes;
    linear_t at = linear_scale(&d->k, it.index, lanes);
    at.lane = lanes > 1;
    coords[type->rank - 1] = at;
    compute(d, domain, coords);
    d->k.lanes = 1;
    iterations_end(d, &it);
    return;
  }
  iterations_t it = iterations_begin(d, outer, WORK / (cost * (last ? last : 1)));
  iterations_split(&d->k, it.index, type->dims, type->rank - 1, coords);
  strips(d, last, lanes, NULL, 0, strip_body, &s);
  iterations_end(d, &it);
}

// One long line, of which each workgroup takes a part (CPUs) or each thread an element.
static void build_line(dispatch_t* d, ir_value_t* domain) {
  linear_t coords[GRAPH_MAX_RANK];
  extent_t count = eval_count(domain);
  for (int32_t i = 0; i < domain->type->rank; ++i) coords[i] = linear_constant(0);
  int32_t axis = domain->type->rank - 1;
  while (axis > 0 && domain->type->dims[axis] == 1) --axis;  // a coordinate of these is always 0
  if (d->device->kind == DEVICE_GPU) {
    iterations_t it = iterations_dynamic(d, &count, 1);
    coords[axis] = it.index;
    compute(d, domain, coords);
    iterations_end(d, &it);
    return;
  }
  strip_t s = {domain, coords, linear_constant(0), axis};
  int64_t lanes = dispatch_extent_lanes(d, &count);
  share_t part = iterations_share(d, &count, dispatch_cost(d), lanes);
  strips_between(d, part, lanes, NULL, 0, &(strip_call_t){strip_body, &s});
}

// Some sizes are known at run time only.
static void build_dynamic(dispatch_t* d, ir_value_t* domain) {
  int32_t rank = domain->type->rank;
  if (rank == 1 || is_one_shape(d, domain)) {
    build_line(d, domain);
    return;
  }
  extent_t sizes[GRAPH_MAX_RANK], outer = extent_fixed(1);
  linear_t coords[GRAPH_MAX_RANK];
  bool gpu = d->device->kind == DEVICE_GPU;
  eval_extents(domain, sizes);
  int32_t split = gpu ? rank : rank - 1;
  for (int32_t i = 0; i < split; ++i) outer = extent_product(outer, sizes[i]);
  int64_t cost = dispatch_cost(d);
  iterations_t it = iterations_dynamic(d, &outer, gpu ? cost : cost * extent_guess(&sizes[rank - 1]));
  iterations_split_extents(&d->k, it.index, sizes, split, coords);
  strip_t s = {domain, coords, linear_constant(0), rank - 1};
  if (gpu) {
    compute(d, domain, coords);
  } else {
    int64_t lanes = dispatch_extent_lanes(d, &sizes[rank - 1]);
    strips_extent(d, &sizes[rank - 1], lanes, NULL, 0, &(strip_call_t){strip_body, &s});
  }
  iterations_end(d, &it);
}

void strategy_map_build(dispatch_t* d) {
  if (flattens(d)) flatten(d);
  ir_value_t* domain = domain_of(d);
  if (!ir_type_is_static(domain->type)) {
    build_dynamic(d, domain);
    return;
  }
  int64_t count = ir_type_count(domain->type);
  if (count == 0) return;
  if (domain->type->rank == 0) {
    iterations_t it = iterations_begin(d, 1, 1);
    compute(d, domain, NULL);
    iterations_end(d, &it);
    return;
  }
  if (d->device->kind == DEVICE_CPU) {
    build_cpu(d, domain);
    return;
  }
  linear_t coords[GRAPH_MAX_RANK];
  iterations_t it = iterations_begin(d, count, 1);
  iterations_split(&d->k, it.index, domain->type->dims, domain->type->rank, coords);
  compute(d, domain, coords);
  iterations_end(d, &it);
}
