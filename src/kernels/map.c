// Every output element on its own: elementwise chains, index maps, small windows, and whatever has no better strategy.
// On CPUs vectors run along the output's last dimension, before it is merged with others by a reshape, and apart in the
// pieces of it that come from different places (pieces.h: rows of a tile, inside and border of a pad, parts of a
// concatenation), so that each reads runs of memory; on GPUs a thread makes an element, or where there are many and
// they are computed alike, a few that lie side by side.
#include <assert.h>
#include <string.h>

#include "kernels/pieces.h"
#include "kernels/strategy.h"
#include "kernels/sweep.h"

bool strategy_map_proposes(const dispatch_t* d, candidate_t* c) {
  enum { ALONE = 20 };  // each result reads all that it is made of, and shares none of it
  if (graph_in_place(d->op) >= 0 && d->root) return candidate_declines(c, "results are in an operand's place");
  if (!candidate_evaluates(d, NULL, c)) return false;
  bool reduces = d->root && ir_is(d->root, GRAPH_REDUCE);
  if (d->yield->operand_count > 1 && (!d->root || reduces)) return candidate_declines(c, "results have several shapes");
  if (reduces || (d->root && (ir_is(d->root, GRAPH_CONTRACT) || ir_is(d->root, GRAPH_CONV)))) c->factor = ALONE;
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

static bool is_update_in_place(const dispatch_t* d) {
  return graph_in_place(d->op) >= 0 && ir_is(ir_operand(d->yield, 0)->def, GRAPH_DYNAMIC_UPDATE);
}

// Several outputs follow one root: it is computed once and everything else pushed behind it. In place it is what is
// new.
static ir_value_t* domain_of(const dispatch_t* d) {
  if (is_update_in_place(d)) return ir_operand(ir_operand(d->yield, 0)->def, 1);
  if (d->yield->operand_count == 1 || !d->root) return ir_operand(d->yield, 0);
  return ir_result(d->root, 0);
}

// What reshapes at the end are of, where that has runs long enough for vectors.
static ir_value_t* before_reshapes(const dispatch_t* d, ir_value_t* domain) {
  enum { SHORT = 4 };
  if (d->device->kind != DEVICE_CPU || d->yield->operand_count != 1) return domain;
  while (domain->def && ir_is(domain->def, GRAPH_RESHAPE)) {
    ir_value_t* x = ir_operand(domain->def, 0);
    int64_t last = x->type->rank ? x->type->dims[x->type->rank - 1] : 0;
    if (!x->def || (last != IR_DYNAMIC && last < SHORT)) break;
    domain = x;
  }
  return domain;
}

// Coordinates of what is yielded for those of `domain`, which reshapes, and at the end an update in place, are between.
static void follow_maps(kernel_build_t* k, const ir_value_t* yielded, const ir_value_t* domain, linear_t* coords) {
  if (yielded == domain) return;
  linear_t to[GRAPH_MAX_RANK];
  bool updates = ir_is(yielded->def, GRAPH_DYNAMIC_UPDATE);
  follow_maps(k, ir_operand(yielded->def, updates ? 1 : 0), domain, coords);
  if (updates) {
    eval_update_place(k, yielded->def, coords, to);
  } else {
    eval_forward(k, yielded->def, coords, to);
  }
  memcpy(coords, to, sizeof(to));
}

static void compute(dispatch_t* d, ir_value_t* domain, const linear_t* coords) {
  kernel_build_t* k = &d->k;
  if (d->yield->operand_count == 1) {
    linear_t to[GRAPH_MAX_RANK];
    // A scalar may have no coordinates.
    if (coords) memcpy(to, coords, sizeof(*to) * (size_t)domain->type->rank);
    ir_value_t* value = eval_at(k, domain, coords);
    follow_maps(k, ir_operand(d->yield, 0), domain, to);
    eval_store(k, d->outputs[0], to, value);
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

// Of vectors over `size` results; 1 where they run along what a result is made of.
static int64_t lanes_for(const dispatch_t* d, const extent_t* size) {
  if (!d->root || !ir_is(d->root, GRAPH_ARG_REDUCE)) return dispatch_extent_lanes(d, size);
  return eval_arg_lanes(d->device, d->root) > 1 ? 1 : dispatch_wide_lanes(d, size);
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

// The pieces of the last dimension one after the other.
static void pieces_body(dispatch_t* d, strip_t* s, const pieces_t* pieces, int64_t lanes) {
  int64_t size = pieces->starts[pieces->count];
  if (size < lanes || d->overwrites) {  // the rest of them, or all of it, under a mask
    strips(d, size, lanes, NULL, 0, strip_body, s);
    return;
  }
  for (uint32_t i = 0; i < pieces->count; ++i) {
    s->offset = linear_constant(0);
    strips_whole(d, pieces->starts[i], pieces->starts[i + 1], lanes, &(strip_call_t){strip_body, s});
  }
}

// The same for a row, whose number is the coordinate before; of windows those rows apart where none reaches outside.
static void row_body(dispatch_t* d, strip_t* s, const pieces_t* pieces, int64_t lanes) {
  kernel_build_t* k = &d->k;
  int32_t dim = s->axis - 1;
  bool windows = dim >= 0 && d->root && ir_is(d->root, GRAPH_WINDOW);
  pieces_t rows = windows ? pieces_find(s->domain, dim) : (pieces_t){.count = 1};
  uint32_t best = 0;
  for (uint32_t i = 1; i < rows.count; ++i) {
    if (rows.starts[i + 1] - rows.starts[i] > rows.starts[best + 1] - rows.starts[best]) best = i;
  }
  if (rows.count == 1) {
    pieces_body(d, s, pieces, lanes);
    return;
  }
  linear_t row = s->coords[dim];
  int64_t low = rows.starts[best], high = rows.starts[best + 1];
  ir_value_t* at = linear_scalar(k, &row);
  ir_value_t* from_low = kernel_add_const(&k->b, at, -low);
  ir_value_t* inside = kernel_binary(&k->b, SCALAR_ltu, from_low, kernel_index(&k->b, high - low));
  kernel_branch_t branch = kernel_if_begin(&k->b, inside, NULL, 0);
  ir_value_t* bounded = kernel_binary(&k->b, SCALAR_max, at, kernel_index(&k->b, low));
  bounded = kernel_binary(&k->b, SCALAR_min, bounded, kernel_index(&k->b, high - 1));
  index_set_facts(k, bounded, low, high - 1, 1);
  s->coords[dim] = linear_value(bounded);
  pieces_body(d, s, pieces, lanes);
  kernel_if_else(&k->b, &branch, NULL, 0);
  s->coords[dim] = row;
  pieces_body(d, s, pieces, lanes);
  kernel_if_end(&k->b, &branch, NULL, 0);
}

static void build_cpu(dispatch_t* d, ir_value_t* domain) {
  const ir_type_t* type = domain->type;
  linear_t coords[GRAPH_MAX_RANK];
  enum { WORK = 60000, MANY = 32 };
  int32_t split = type->rank - 1;
  int64_t cost = dispatch_cost(d), last = type->dims[split], outer = last ? ir_type_count(type) / last : 0;
  int64_t lanes = lanes_for(d, &(extent_t){.factor = last});
  strip_t s = {domain, coords, linear_constant(0), split};
  pieces_t pieces = pieces_find(domain, split);
  if (outer == 1 && last % lanes == 0 && last / lanes > 1 && pieces.count == 1) {  // share it out by vectors
    iterations_t it = iterations_begin(d, last / lanes, WORK / (cost * lanes));
    for (int32_t i = 0; i < split; ++i) coords[i] = linear_constant(0);
    d->k.lanes = lanes;
    linear_t at = linear_scale(&d->k, it.index, lanes);
    at.lane = lanes > 1;
    coords[split] = at;
    compute(d, domain, coords);
    d->k.lanes = 1;
    iterations_end(d, &it);
    return;
  }
  int64_t rows = split > 1 ? type->dims[split - 1] : 1;  // short ones are in a loop of their own
  bool is_short = last < 4 * lanes && rows > 1 && outer / rows >= MANY;
  if (!is_short) rows = 1;
  iterations_t it = iterations_begin(d, outer / rows, WORK / (cost * (last ? last : 1) * rows));
  iterations_split(&d->k, it.index, type->dims, is_short ? split - 1 : split, coords);
  kernel_loop_t loop = {0};
  if (is_short) {
    loop = kernel_loop_constant(&d->k, 0, rows, 1, NULL, 0);
    coords[split - 1] = linear_value(loop.index);
  }
  row_body(d, &s, &pieces, lanes);
  if (is_short) kernel_for_end(&d->k.b, &loop, NULL, 0);
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
  int64_t lanes = lanes_for(d, &count);
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
    int64_t lanes = lanes_for(d, &sizes[rank - 1]);
    strip_call_t call = {strip_body, &s, NULL};
    sweep_t sweep;
    if (lanes > 1 && sweep_find(d, domain, &sweep)) {
      sweep_line(d, &sweep, domain, coords, lanes, &call);
    } else {
      strips_extent(d, &sizes[rank - 1], lanes, NULL, 0, &call);
    }
  }
  iterations_end(d, &it);
}

// How many neighbours a thread of a GPU makes: as many as one access takes, as long as that leaves enough threads.
static int64_t neighbours(const dispatch_t* d, const ir_value_t* domain) {
  enum { ACCESS = 16, THREADS_PER_UNIT = 1024 };
  int64_t bytes = 1, last = domain->type->dims[domain->type->rank - 1];
  for (uint32_t i = 0; i < d->body->arg_count; ++i) {
    const ir_type_t* type = d->body->args[i]->type;
    if (ir_type_is_tensor(type) && ir_type_bytes(type->element) > bytes) bytes = ir_type_bytes(type->element);
  }
  IR_FOR_OPS(op, d->body) {
    if (op == d->yield) continue;
    bool is_alike = graph_scalar_fn(op) >= 0 || ir_is(op, GRAPH_CONSTANT) || ir_is(op, GRAPH_BROADCAST);
    if (!is_alike || !ir_type_is_tensor(op->results[0].type)) return 1;
    if (ir_type_bytes(op->results[0].type->element) > bytes) bytes = ir_type_bytes(op->results[0].type->element);
  }
  int64_t lanes = bytes < ACCESS ? ACCESS / bytes : 1;
  while (lanes > 1 && last % lanes) lanes /= 2;
  return ir_type_count(domain->type) / lanes >= (int64_t)THREADS_PER_UNIT * d->device->compute_units ? lanes : 1;
}

void strategy_map_build(dispatch_t* d) {
  if (flattens(d)) flatten(d);
  ir_value_t* domain = before_reshapes(d, domain_of(d));
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
  int64_t lanes = neighbours(d, domain);
  iterations_t it = iterations_begin(d, count / lanes, 1);
  linear_t position = linear_scale(&d->k, it.index, lanes);
  iterations_split(&d->k, position, domain->type->dims, domain->type->rank, coords);
  coords[domain->type->rank - 1].lane = lanes > 1;
  d->k.lanes = lanes;
  compute(d, domain, coords);
  d->k.lanes = 1;
  iterations_end(d, &it);
}
