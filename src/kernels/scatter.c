// Scatter: the operand is copied, then the updates are applied in order, so that later ones win and sums do not depend
// on how the work is shared. One workgroup and one thread do it; updates outside the operand are dropped.
#include <string.h>

#include "kernels/region.h"
#include "kernels/strategy.h"

typedef struct scatter_t {
  dispatch_t* d;
  ir_op_t* op;
  uint32_t count;  // operands: the indices come after them, then as many updates
  int64_t window[GRAPH_MAX_RANK], inserted[GRAPH_MAX_RANK], operand_batch[GRAPH_MAX_RANK];
  int64_t indices_batch[GRAPH_MAX_RANK], map[GRAPH_MAX_RANK], vector_dim;
  uint32_t window_count, inserted_count, batch_count, map_count;
} scatter_t;

static bool is_supported(const ir_op_t* op) {
  if (ir_is(op, GRAPH_SCATTER)) return true;
  return ir_is(op, GRAPH_SCATTER_GENERIC) && op->result_count <= REGION_VALUES && region_supports(op);
}

bool strategy_scatter_matches(const dispatch_t* d) {
  if (!d->root || !is_supported(d->root)) return false;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && op != d->root && !eval_supports(op)) return false;
  }
  if (d->yield->operand_count != d->root->result_count) return false;
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    if (ir_operand(d->yield, i) != ir_result(d->root, i)) return false;
  }
  return true;
}

static bool contains(const int64_t* list, uint32_t count, int64_t value) {
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i] == value) return true;
  }
  return false;
}

static void copy_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  (void)acc;
  scatter_t* s = user;
  for (uint32_t i = 0; i < s->count; ++i) {
    eval_store(k, s->d->outputs[i], at, eval_at(k, ir_operand(s->op, i), at));
  }
}

// Index component for the update at `at`, counted from the end when asked.
static linear_t start_of(kernel_build_t* k, scatter_t* s, uint32_t component, const linear_t* batch) {
  ir_value_t *x = ir_operand(s->op, 0), *indices = ir_operand(s->op, s->count);
  linear_t coords[GRAPH_MAX_RANK];
  for (int32_t i = 0, next = 0; i < indices->type->rank; ++i) {
    coords[i] = i == s->vector_dim ? linear_constant(component) : batch[next++];
  }
  ir_value_t* v = eval_at(k, indices, coords);
  const ir_type_t* index = ir_type_index(k->ctx);
  if (v->type != index) v = kernel_cast(&k->b, SCALAR_cast, v, index);
  if (graph_get_wrap(s->op)) {
    ir_value_t* negative = kernel_binary(&k->b, SCALAR_lt, v, kernel_index(&k->b, 0));
    ir_value_t* wrapped = kernel_add(&k->b, v, eval_size(k, x, (int32_t)s->map[component]));
    v = kernel_ternary(&k->b, SCALAR_select, negative, wrapped, v);
  }
  return linear_value(v);
}

static void place_update(kernel_build_t* k, scatter_t* s, const linear_t* at, linear_t* to) {
  ir_value_t *x = ir_operand(s->op, 0), *updates = ir_operand(s->op, s->count + 1);
  linear_t batch[GRAPH_MAX_RANK];
  uint32_t batch_count = 0, next = 0;
  for (int32_t i = 0; i < updates->type->rank; ++i) {
    if (!contains(s->window, s->window_count, i)) batch[batch_count++] = at[i];
  }
  for (int32_t i = 0; i < x->type->rank; ++i) {
    bool gone = contains(s->inserted, s->inserted_count, i) || contains(s->operand_batch, s->batch_count, i);
    to[i] = gone ? linear_constant(0) : at[s->window[next++]];
  }
  for (uint32_t i = 0; i < s->map_count; ++i) {
    to[s->map[i]] = linear_add(k, to[s->map[i]], start_of(k, s, i, batch));
  }
  for (uint32_t i = 0; i < s->batch_count; ++i) {
    int64_t dim = s->indices_batch[i];
    if (s->vector_dim < ir_operand(s->op, s->count)->type->rank && dim > s->vector_dim) --dim;
    to[s->operand_batch[i]] = batch[dim];
  }
}

static void combine_update(kernel_build_t* k, scatter_t* s, const linear_t* at, const linear_t* to) {
  ir_value_t* args[2 * REGION_VALUES];
  bool generic = ir_is(s->op, GRAPH_SCATTER_GENERIC);
  const char* kind = generic ? NULL : graph_get_kind(s->op);
  for (uint32_t i = 0; i < s->count; ++i) {
    args[s->count + i] = eval_at(k, ir_operand(s->op, s->count + 1 + i), at);
    if (generic || strcmp(kind, "set") != 0) args[i] = eval_at(k, s->d->outputs[i], to);
  }
  ir_value_t* value = args[1];
  if (generic) {
    region_apply(k, s->op->regions[0].first, args, args);
  } else if (strcmp(kind, "set") == 0) {
    args[0] = value;
  } else {
    const ir_type_t* wide = eval_accumulator(k->ctx, ir_type_scalar(args[0]->type));
    args[0] = kernel_binary(&k->b, eval_combiner(kind), eval_convert(k, args[0], wide), eval_convert(k, value, wide));
  }
  for (uint32_t i = 0; i < s->count; ++i) eval_store(k, s->d->outputs[i], to, args[i]);
}

static void update_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  (void)acc;
  scatter_t* s = user;
  ir_value_t* x = ir_operand(s->op, 0);
  linear_t to[GRAPH_MAX_RANK];
  place_update(k, s, at, to);
  guard_t guard = {0};
  for (int32_t i = 0; i < x->type->rank; ++i) {
    extent_t size = eval_extent(x, i);
    guard_extent(k, &guard, &to[i], &size);
  }
  kernel_branch_t branch = {0};
  if (guard.condition) branch = kernel_if_begin(&k->b, guard.condition, NULL, 0);
  combine_update(k, s, at, to);
  if (guard.condition) kernel_if_end(&k->b, &branch, NULL, 0);
}

void strategy_scatter_build(dispatch_t* d) {
  scatter_t s = {
      .d = d, .op = d->root, .count = d->root->result_count, .vector_dim = graph_get_index_vector_dim(d->root)};
  s.window_count = graph_get_update_window_dims(d->root, s.window);
  s.inserted_count = graph_get_inserted_dims(d->root, s.inserted);
  s.batch_count = graph_get_operand_batch_dims(d->root, s.operand_batch);
  graph_get_indices_batch_dims(d->root, s.indices_batch);
  s.map_count = graph_get_scatter_dims_map(d->root, s.map);
  const ir_value_t *x = ir_operand(d->root, 0), *updates = ir_operand(d->root, s.count + 1);
  extent_t sizes[GRAPH_MAX_RANK];
  iterations_t it = iterations_begin(d, 1, 1);
  eval_extents(x, sizes);
  eval_loops(&d->k, sizes, (uint32_t)x->type->rank, NULL, 0, copy_body, &s);
  eval_extents(updates, sizes);
  if (ir_type_count(updates->type) != 0) {
    eval_loops(&d->k, sizes, (uint32_t)updates->type->rank, NULL, 0, update_body, &s);
  }
  iterations_end(d, &it);
}
