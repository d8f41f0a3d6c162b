// Rows: reductions over the same dimensions of one shape, with the scalar functions before, between and after them
// (sums, softmax, norms). A row's reductions run level by level, those that do not need each other in one sweep; then
// one sweep stores what has the full shape. On CPUs vectors run along the row when its last dimension is reduced, else
// across neighbouring rows; on GPUs a thread takes a short row, a subgroup a long one, and a workgroup a long one of
// few: each lane every so-manieth element; what the lanes have goes through shuffles, and what the subgroups have
// through workgroup memory.
#include "kernels/rows.h"

#include <assert.h>
#include <string.h>

//===----------------------------------------------------------------------------------------------------------------===
// What there is to do
//===----------------------------------------------------------------------------------------------------------------===

bool strategy_rows_proposes(const dispatch_t* d, candidate_t* c) {
  uint32_t count = 0;
  if (!candidate_evaluates(d, NULL, c)) return false;
  IR_FOR_OPS(op, d->body) count += ir_is(op, GRAPH_REDUCE);
  if (count > ROWS_MAX_REDUCES) return candidate_declines(c, "there are too many reductions for one sweep's registers");
  return fusion_has_rows(ir_operand(d->root, 0)) || candidate_declines(c, "what is reduced has no rows");
}

static bool is_reduced(const rows_t* r, int64_t dim) {
  for (uint32_t i = 0; i < r->reduced_count; ++i) {
    if (r->reduced[i] == dim) return true;
  }
  return false;
}

static uint32_t level_of(const ir_value_map_t* levels, const ir_value_t* value) {
  return (uint32_t)(uintptr_t)ir_value_map_get(levels, value);
}

static void find_levels(rows_t* r) {
  ir_value_map_t* levels = r->after = ir_value_map_create(r->d->ctx);
  IR_FOR_OPS(op, r->d->body) {
    uintptr_t level = 0;
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      uint32_t below = level_of(levels, ir_operand(op, i));
      if (below > level) level = below;
    }
    if (ir_is(op, GRAPH_REDUCE)) {
      r->levels[r->reduce_count] = (uint32_t)level++;
      if (level > r->level_count) r->level_count = (uint32_t)level;
      r->reduces[r->reduce_count++] = op;
    }
    for (uint32_t i = 0; i < op->result_count; ++i) ir_value_map_set(levels, &op->results[i], (ir_value_t*)level);
  }
}

// Innermost packed dimension read by the rows: vectors go across rows when memory has the kept dimension innermost.
static bool packed_across(const rows_t* r, const ir_value_t* value, int depth) {
  if (!value->def || depth > 8) return false;
  if (ir_is(value->def, GRAPH_UNPACK)) {
    int64_t axes[GRAPH_MAX_RANK];
    uint32_t count = graph_get_axes(value->def, axes);
    return count > 0 && !is_reduced(r, axes[count - 1]);
  }
  for (uint32_t i = 0; i < value->def->operand_count; ++i) {
    if (packed_across(r, ir_operand(value->def, i), depth + 1)) return true;
  }
  return false;
}

static void analyse(rows_t* r, dispatch_t* d) {
  enum { LARGE = 1 << 20 };
  r->d = d;
  r->value = ir_operand(d->root, 0);
  r->full = r->value->type;
  eval_extents(r->value, r->sizes);
  r->reduced_count = graph_get_dims(d->root, r->reduced);
  for (uint32_t i = 1; i < r->reduced_count; ++i) {
    for (uint32_t j = i; j > 0 && r->reduced[j - 1] > r->reduced[j]; --j) {
      int64_t t = r->reduced[j];
      r->reduced[j] = r->reduced[j - 1];
      r->reduced[j - 1] = t;
    }
  }
  for (int32_t i = 0; i < r->full->rank; ++i) {
    if (!is_reduced(r, i)) r->kept[r->kept_count++] = i;
  }
  find_levels(r);
  bool last_reduced = is_reduced(r, r->full->rank - 1);
  r->along = last_reduced && !(r->kept_count && packed_across(r, ir_operand(d->root, 0), 0));
  int64_t vector_dim = r->along ? r->full->rank - 1 : r->kept_count ? r->kept[r->kept_count - 1] : -1;
  r->lanes = vector_dim < 0 ? 1 : dispatch_extent_lanes(d, &r->sizes[vector_dim]);
  if (r->along && extent_is_fixed(&r->sizes[vector_dim])) {  // whole vectors and a rest, where there are no masks
    extent_t any = r->sizes[vector_dim];
    any.factor = LARGE;
    int64_t most = dispatch_extent_lanes(d, &any);
    if (r->sizes[vector_dim].factor >= 2 * most && r->lanes < most) r->lanes = most;
  }
  r->next_row = rows_find_next(r);
}

//===----------------------------------------------------------------------------------------------------------------===
// Sweeps
//===----------------------------------------------------------------------------------------------------------------===

static void set_outer(rows_t* r, linear_t* coords, const linear_t* at, uint32_t count) {
  memcpy(coords, r->coords, sizeof(linear_t) * GRAPH_MAX_RANK);
  for (uint32_t i = 0; i < count; ++i) coords[r->reduced[i]] = at[i];
}

// What does not exist changes nothing.
static ir_value_t* masked(const rows_sweep_t* s, ir_value_t* value, ir_value_t* identity) {
  kernel_build_t* k = &s->r->d->k;
  ir_value_t* mask = s->exists ? kernel_splat(&k->b, s->exists, k->lanes) : k->mask;
  return mask ? kernel_ternary(&k->b, SCALAR_select, mask, value, identity) : value;
}

static void accumulate(rows_sweep_t* s, const linear_t* coords, ir_value_t** acc, int64_t part) {
  kernel_build_t* k = &s->r->d->k;
  for (uint32_t i = 0; i < s->count; ++i) {
    ir_op_t* op = s->r->reduces[s->members[i]];
    const char* kind = graph_get_kind(op);
    ir_value_t** slot = &acc[i * (uint32_t)s->unroll + (uint32_t)part];
    const ir_type_t* scalar = ir_type_scalar((*slot)->type);
    ir_value_t *element = eval_lanes(k, ir_operand(op, 0), coords), *keeper = s->r->keepers[s->members[i]];
    if (keeper) eval_store(k, keeper, coords, element);
    ir_value_t* value = eval_convert(k, element, scalar);
    if (s->r->along) value = masked(s, value, eval_start_value(k, kind, scalar, k->lanes));
    *slot = kernel_binary(&k->b, eval_combiner(kind), *slot, value);
  }
}

// A size that one type leaves open was seen to be the other's.
static bool may_be_equal(int64_t x, int64_t y) { return x == y || x == IR_DYNAMIC || y == IR_DYNAMIC; }

bool rows_is_full(const rows_t* r, const ir_value_t* value) {
  if (ir_type_is_static(value->type) && ir_type_is_static(r->full)) {
    return ir_type_count(value->type) == ir_type_count(r->full) && value->type->rank == r->full->rank;
  }
  if (eval_same_shape(value, r->value)) return true;
  // Sizes of which different numbers tell: the host has seen that they agree.
  bool fits = value->type->rank == r->full->rank;
  for (int32_t i = 0; fits && i < r->full->rank; ++i) {
    int64_t dim = value->type->dims[i], whole = r->full->dims[i];
    fits = may_be_equal(dim, whole) && (dim != 1 || whole == 1);
  }
  return fits;
}

static void store_full(rows_sweep_t* s, const linear_t* coords) {
  dispatch_t* d = s->r->d;
  bool alone = s->r->team == 1;  // else it is done for pieces
  if (alone) rows_bind_quotients(s->r, coords);
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    ir_value_t* value = ir_operand(d->yield, i);
    linear_t at[GRAPH_MAX_RANK];
    memcpy(at, coords, sizeof(at));
    ir_op_t* pack = NULL;
    if (value->def && ir_is(value->def, GRAPH_PACK)) {
      pack = value->def;
      value = ir_operand(pack, 0);
    }
    if (!rows_is_full(s->r, value)) continue;
    ir_value_t* element = eval_at(&d->k, value, coords);
    if (pack) eval_forward(&d->k, pack, coords, at);
    eval_store(&d->k, d->outputs[i], at, element);
  }
  if (alone) rows_release_quotients(s->r);
}

void rows_visit(rows_sweep_t* s, const linear_t* coords, ir_value_t** acc, int64_t part) {
  if (!extent_is(&s->r->next_row, 0) && s->level == 1) rows_fetch_next(s, coords);
  if (s->stores) {
    store_full(s, coords);
  } else {
    accumulate(s, coords, acc, part);
  }
}

typedef struct strip_t {
  rows_sweep_t* s;
  linear_t coords[GRAPH_MAX_RANK];
  int64_t offset;  // where the row's rest begins
} strip_t;

static void along_body(dispatch_t* d, linear_t at, ir_value_t** acc, void* user) {
  strip_t* v = user;
  v->coords[v->s->r->full->rank - 1] = linear_add(&d->k, at, linear_constant(v->offset));
  rows_visit(v->s, v->coords, acc, 0);
}

// What whole vectors leave of a row, element by element, where there are no masks: it goes into the first lane.
static void along_rest(dispatch_t* d, share_t part, ir_value_t** acc, void* user) {
  strip_t* v = user;
  rows_sweep_t* s = v->s;
  kernel_build_t* k = &d->k;
  ir_value_t *sums[ROWS_MAX_REDUCES], *first = lane_mask(k, s->r->lanes, 1);
  int64_t unroll = s->unroll;
  for (uint32_t i = 0; i < s->count; ++i) {
    const ir_type_t* scalar = ir_type_scalar(acc[i * (uint32_t)unroll]->type);
    sums[i] = eval_start_value(k, graph_get_kind(s->r->reduces[s->members[i]]), scalar, 1);
  }
  s->unroll = 1;
  strips_between(d, part, 1, sums, s->count, &(strip_call_t){along_body, v, NULL});
  s->unroll = unroll;
  for (uint32_t i = 0; i < s->count; ++i) {
    const char* kind = graph_get_kind(s->r->reduces[s->members[i]]);
    ir_value_t** slot = &acc[i * (uint32_t)unroll];
    ir_value_t* none = eval_start_value(k, kind, ir_type_scalar((*slot)->type), s->r->lanes);
    ir_value_t* rest = kernel_ternary(&k->b, SCALAR_select, first, kernel_splat(&k->b, sums[i], s->r->lanes), none);
    *slot = kernel_binary(&k->b, eval_combiner(kind), *slot, rest);
  }
}

// Along a row by vectors, several at once with accumulators of their own as far as there are so many, so that one sum
// does not wait for the other.
static void along_row(strip_t* v, ir_value_t** acc) {
  rows_t* r = v->s->r;
  kernel_build_t* k = &r->d->k;
  const extent_t* size = &r->sizes[r->full->rank - 1];
  int64_t unroll = v->s->unroll, block = r->lanes * unroll, outer_lanes = k->lanes;
  uint32_t count = v->s->count * (uint32_t)unroll;
  strip_call_t call = {along_body, v, along_rest};
  bool is_fixed = extent_is_fixed(size) && (r->d->device->has_masks || size->factor % r->lanes == 0);
  if (unroll == 1 && is_fixed) {
    strips(r->d, size->factor, r->lanes, acc, count, along_body, v);
    return;
  }
  if (unroll == 1) {
    strips_between(r->d, (share_t){index_constant(k, 0), extent_value(k, size)}, r->lanes, acc, count, &call);
    return;
  }
  ir_value_t *whole = extent_value(k, size), *inner[ROWS_MAX_REDUCES * ROWS_MAX_UNROLL];
  if (is_fixed) {
    whole = index_constant(k, size->factor / block * block);
  } else {
    ir_value_t* rest = index_binary(k, SCALAR_remu, whole, index_constant(k, block));
    whole = index_binary(k, SCALAR_sub, whole, rest);
    index_set_facts(k, whole, 0, index_facts(extent_value(k, size)).max, block);
  }
  k->lanes = r->lanes;
  kernel_loop_t loop = kernel_loop_begin(k, index_constant(k, 0), whole, block, acc, count);
  memcpy(inner, loop.iters, sizeof(inner[0]) * count);
  for (int64_t u = 0; u < unroll; ++u) {
    linear_t at = linear_value(loop.index);
    at.lane = r->lanes > 1;
    at.constant += u * r->lanes;
    v->coords[r->full->rank - 1] = at;
    accumulate(v->s, v->coords, inner, u);
  }
  kernel_for_end(&k->b, &loop, inner, count);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
  k->lanes = outer_lanes;
  if (!is_fixed) {
    strips_between(r->d, (share_t){whole, extent_value(k, size)}, r->lanes, acc, count, &call);
  } else if (size->factor % block) {
    v->offset = size->factor / block * block;
    strips(r->d, size->factor - v->offset, r->lanes, acc, count, along_body, v);
    v->offset = 0;
  }
}

// Reduced dimensions that plain loops run over: all but the last, or last ones, when vectors or teams run along the
// row.
static uint32_t loop_count(const rows_t* r) { return r->reduced_count - (r->team > 1 ? r->flat : r->along ? 1 : 0); }

// Innermost: `at` has the coordinates of those.
static void sweep_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  rows_sweep_t* s = user;
  rows_t* r = s->r;
  strip_t v = {.s = s};
  if (!r->along) {
    set_outer(r, v.coords, at, r->reduced_count);
    rows_visit(s, v.coords, acc, 0);
    return;
  }
  set_outer(r, v.coords, at, loop_count(r));
  (void)k;
  if (r->team > 1) {
    rows_team_strip(s, v.coords, acc);
    return;
  }
  along_row(&v, acc);
}

// What it takes to compute an element of a sweep, up to a limit.
static int64_t chain_cost(const ir_value_t* value, int64_t limit) {
  int fn = value->def && !value->data ? graph_scalar_fn(value->def) : -1;
  int64_t cost = fn < 0 ? 0 : scalar_info[fn].cost;
  if (!value->def || value->data || ir_is(value->def, GRAPH_REDUCE)) return 0;
  for (uint32_t i = 0; i < value->def->operand_count && cost < limit; ++i) {
    cost += chain_cost(ir_operand(value->def, i), limit - cost);
  }
  return cost + 1;
}

// An output of the element type and full shape of `value` that holds nothing yet.
static ir_value_t* free_keeper(const rows_t* r, const ir_value_t* value) {
  for (uint32_t i = 0; i < r->d->yield->operand_count; ++i) {
    const ir_value_t* yielded = ir_operand(r->d->yield, i);
    bool fits = rows_is_full(r, yielded) && !(yielded->def && ir_is(yielded->def, GRAPH_PACK)) &&
                eval_same_shape(yielded, value) && yielded->type->element == value->type->element;
    for (uint32_t j = 0; j < r->reduce_count; ++j) fits &= r->keepers[j] != r->d->outputs[i];
    if (fits) return r->d->outputs[i];
  }
  return NULL;
}

// A dear operand of a reduction that something else wants too stays in an output's memory until that is stored.
static void choose_keepers(rows_sweep_t* s) {
  enum { DEAR = 8 };
  rows_t* r = s->r;
  if (r->d->device->kind == DEVICE_GPU) return;  // where other threads might read it
  for (uint32_t i = 0; i < s->count; ++i) {
    ir_value_t* x = ir_operand(r->reduces[s->members[i]], 0);
    bool is_wanted = x->def && !x->data && !ir_has_one_use(x) && rows_is_full(r, x) && chain_cost(x, DEAR) >= DEAR;
    for (uint32_t j = 0; j < i; ++j) is_wanted &= ir_operand(r->reduces[s->members[j]], 0) != x;
    if (is_wanted) r->keepers[s->members[i]] = free_keeper(r, x);
  }
}

// After the sweep the values are read from there.
static void read_keepers(rows_sweep_t* s) {
  rows_t* r = s->r;
  for (uint32_t i = 0; i < s->count; ++i) {
    const ir_value_t* keeper = r->keepers[s->members[i]];
    if (!keeper) continue;
    const source_t* source = keeper->data;
    eval_set_memory(&r->d->k, ir_operand(r->reduces[s->members[i]], 0), source->memory, source->numbers);
  }
}

static void release_keepers(rows_t* r) {
  for (uint32_t i = 0; i < r->reduce_count; ++i) {
    if (r->keepers[i]) ir_operand(r->reduces[i], 0)->data = NULL;
    r->keepers[i] = NULL;
  }
}

// Vectors that a row's sweep has on their way at once: several where that is little code.
static int64_t along_unroll(const rows_sweep_t* s) {
  enum { LITTLE = 12 };
  const rows_t* r = s->r;
  int64_t unroll = 1;
  if (!r->full->rank || !r->along || s->stores || s->count > 2) return 1;
  const extent_t* size = &r->sizes[r->full->rank - 1];
  bool is_fixed = extent_is_fixed(size);
  if (r->d->device->kind == DEVICE_GPU) {
    while (is_fixed && unroll < ROWS_MAX_UNROLL && size->factor % (r->lanes * unroll * 2) == 0) unroll *= 2;
    return unroll;
  }
  int64_t cost = 0;
  for (uint32_t i = 0; i < s->count; ++i) cost += chain_cost(ir_operand(r->reduces[s->members[i]], 0), LITTLE);
  if (cost >= LITTLE || (!is_fixed && r->lanes == 1)) return 1;
  while (unroll < ROWS_MAX_UNROLL && (!is_fixed || size->factor >= r->lanes * unroll * 2)) unroll *= 2;
  return unroll;
}

static void run_sweep(rows_sweep_t* s) {
  rows_t* r = s->r;
  kernel_build_t* k = &r->d->k;
  extent_t sizes[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < r->reduced_count; ++i) sizes[i] = r->sizes[r->reduced[i]];
  s->unroll = r->team > 1 ? rows_team_unroll(s) : along_unroll(s);
  ir_value_t* acc[ROWS_MAX_REDUCES * ROWS_MAX_UNROLL];
  uint32_t acc_count = 0;
  int64_t outer_lanes = k->lanes, acc_lanes = r->along ? r->lanes : k->lanes;
  for (uint32_t i = 0; i < s->count; ++i) {
    ir_op_t* op = r->reduces[s->members[i]];
    const ir_type_t* scalar = eval_accumulator(k->ctx, ir_operand(op, 0)->type->element);
    for (int64_t u = 0; u < s->unroll; ++u) {
      acc[acc_count++] = eval_start_value(k, graph_get_kind(op), scalar, acc_lanes);
    }
  }
  eval_loops(k, sizes, loop_count(r), acc, acc_count, sweep_body, s);
  k->lanes = outer_lanes;
  ir_value_t* sums[ROWS_MAX_REDUCES];
  for (uint32_t i = 0; i < s->count; ++i) {
    const char* kind = graph_get_kind(r->reduces[s->members[i]]);
    sums[i] = acc[i * (uint32_t)s->unroll];
    for (int64_t u = 1; u < s->unroll; ++u) {
      sums[i] = kernel_binary(&k->b, eval_combiner(kind), sums[i], acc[i * (uint32_t)s->unroll + (uint32_t)u]);
    }
    if (r->along && r->lanes > 1) sums[i] = kernel_reduce(&k->b, sums[i], kind);
  }
  if (r->team > 1 && s->count) rows_team_combine(s, sums);
  for (uint32_t i = 0; i < s->count; ++i) {
    ir_value_t* result = ir_result(r->reduces[s->members[i]], 0);
    eval_set_bound(k, result, eval_convert(k, sums[i], ir_type_scalar(result->type)));
  }
}

static bool has_full_output(const rows_t* r) {
  for (uint32_t i = 0; i < r->d->yield->operand_count; ++i) {
    const ir_value_t* value = ir_operand(r->d->yield, i);
    if (value->def && ir_is(value->def, GRAPH_PACK)) value = ir_operand(value->def, 0);
    if (rows_is_full(r, value)) return true;
  }
  return false;
}

// This row's coordinates of a value with one element a row: [kept...] or the same with ones for the reduced dimensions.
static bool outer_coords(const rows_t* r, const ir_value_t* value, linear_t* at) {
  int32_t rank = value->type->rank;
  bool kept = rank == r->full->rank && r->kept_count != rank;
  if (!kept && rank != r->kept_count) return false;
  for (uint32_t j = 0; kept && j < r->reduced_count; ++j) {
    if (value->type->dims[r->reduced[j]] != 1) return false;
    at[r->reduced[j]] = linear_constant(0);
  }
  for (int32_t j = 0; j < r->kept_count; ++j) {
    int32_t dim = kept ? (int32_t)r->kept[j] : j;
    if (!may_be_equal(value->type->dims[dim], r->full->dims[r->kept[j]])) return false;
    at[dim] = r->coords[r->kept[j]];
  }
  return true;
}

static void store_outer(rows_t* r) {
  dispatch_t* d = r->d;
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    ir_value_t* value = ir_operand(d->yield, i);
    if (rows_is_full(r, value)) continue;
    if (value->def && ir_is(value->def, GRAPH_PACK)) continue;
    linear_t at[GRAPH_MAX_RANK];
    bool has_row = outer_coords(r, value, at);
    assert(has_row && "rows give full shapes or one element a row");
    (void)has_row;
    eval_store(&d->k, d->outputs[i], at, eval_at(&d->k, value, at));
  }
}

// What is computed of the first `level` sweeps' results and repeated over the row is computed once for all of it.
static void bind_outer(rows_t* r, uint32_t level) {
  IR_FOR_OPS(op, r->d->body) {
    if (!ir_is(op, GRAPH_BROADCAST) || !rows_is_full(r, &op->results[0])) continue;
    ir_value_t* x = ir_operand(op, 0);
    linear_t at[GRAPH_MAX_RANK];
    bool computed = x->def && !x->data && graph_scalar_fn(x->def) >= 0;
    if (!computed || level_of(r->after, x) != level || !outer_coords(r, x, at)) continue;
    eval_set_bound(&r->d->k, x, eval_at(&r->d->k, x, at));
  }
}

static void release_outer(rows_t* r) {
  IR_FOR_OPS(op, r->d->body) {
    if (ir_is(op, GRAPH_BROADCAST) && ir_operand(op, 0)->def) ir_operand(op, 0)->data = NULL;
  }
}

// One thread of a team stores what there is once a row.
static void store_outer_once(rows_t* r) {
  kernel_build_t* k = &r->d->k;
  if (r->team == 1) {
    store_outer(r);
    return;
  }
  ir_value_t* first = kernel_binary(&k->b, SCALAR_eq, linear_scalar(k, &r->lane), kernel_index(&k->b, 0));
  kernel_branch_t branch = kernel_if_begin(&k->b, first, NULL, 0);
  store_outer(r);
  kernel_if_end(&k->b, &branch, NULL, 0);
}

// Whether the last sweep is so little code that a branch around it is better than one for each vector.
static bool stores_little(const rows_t* r) {
  enum { LITTLE = 12 };
  int64_t cost = 0;
  for (uint32_t i = 0; i < r->d->yield->operand_count; ++i) cost += chain_cost(ir_operand(r->d->yield, i), LITTLE);
  return cost < LITTLE;
}

// The last sweep.
static void store_row(rows_t* r) {
  kernel_build_t* k = &r->d->k;
  rows_sweep_t s = {.r = r, .level = r->level_count, .stores = true};
  if (r->d->device->kind == DEVICE_CPU) rows_find_quotients(r);
  bool branches = r->team == 1 && r->quotient_count && stores_little(r);
  kernel_branch_t branch = {0};
  if (branches) {
    ir_value_t* fits = r->quotients[0].fits;
    for (uint32_t i = 0; i < r->quotient_count; ++i) {
      if (i) fits = kernel_binary(&k->b, SCALAR_and, fits, r->quotients[i].fits);
      r->quotients[i].fits = NULL;
    }
    branch = kernel_if_begin(&k->b, fits, NULL, 0);
  }
  run_sweep(&s);
  if (r->team == 1) r->quotient_count = 0;
  if (!branches) return;
  kernel_if_else(&k->b, &branch, NULL, 0);
  run_sweep(&s);
  kernel_if_end(&k->b, &branch, NULL, 0);
}

static void row(rows_t* r) {
  for (uint32_t level = 0; level < r->level_count; ++level) {
    rows_sweep_t s = {.r = r, .level = level};
    for (uint32_t i = 0; i < r->reduce_count; ++i) {
      if (r->levels[i] == level) s.members[s.count++] = i;
    }
    choose_keepers(&s);
    if (s.count) run_sweep(&s);
    read_keepers(&s);
    bind_outer(r, level + 1);
  }
  store_outer_once(r);
  if (has_full_output(r)) store_row(r);
  release_outer(r);
  release_keepers(r);
  for (uint32_t i = 0; i < r->reduce_count; ++i) ir_result(r->reduces[i], 0)->data = NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Rows shared out
//===----------------------------------------------------------------------------------------------------------------===

// `rows` rows among workgroups, subgroups or threads: `number` is the row's.
static iterations_t rows_begin(rows_t* r, const extent_t* rows, int64_t cost, linear_t* number) {
  if (r->threads.size) {
    iterations_t it = team_iterations(r->d, rows);
    *number = it.index;
    return it;
  }
  extent_t count = extent_product(*rows, extent_fixed(r->team));
  iterations_t it = iterations_dynamic(r->d, &count, cost);
  *number = it.index;
  if (r->team > 1) linear_divide(&r->d->k, it.index, r->team, number, &r->lane);
  return it;
}

typedef struct across_t {
  rows_t* r;
  linear_t offset;
} across_t;

static void across_body(dispatch_t* d, linear_t at, ir_value_t** acc, void* user) {
  (void)acc;
  across_t* a = user;
  a->r->coords[a->r->kept[a->r->kept_count - 1]] = linear_add(&d->k, at, a->offset);
  row(a->r);
}

// Rows whose number is known at run time only.
static void build_dynamic(rows_t* r) {
  dispatch_t* d = r->d;
  extent_t sizes[GRAPH_MAX_RANK], length = extent_fixed(1), outer = extent_fixed(1);
  bool across = !r->along && r->kept_count && r->lanes > 1;
  int32_t split = r->kept_count - (across ? 1 : 0);
  for (uint32_t i = 0; i < r->reduced_count; ++i) length = extent_product(length, r->sizes[r->reduced[i]]);
  for (int32_t i = 0; i < split; ++i) outer = extent_product(outer, sizes[i] = r->sizes[r->kept[i]]);
  int64_t cost = dispatch_cost(d) + extent_guess(&length);
  linear_t coords[GRAPH_MAX_RANK];
  across_t a = {.r = r};
  strip_call_t call = {across_body, &a};
  if (across && !split) {  // neighbouring rows only: each workgroup takes some
    const extent_t* rows = &r->sizes[r->kept[0]];
    strips_between(d, iterations_share(d, rows, cost, r->lanes), r->lanes, NULL, 0, &call);
    return;
  }
  if (across) cost *= extent_guess(&r->sizes[r->kept[split]]);
  linear_t number;
  iterations_t it = rows_begin(r, &outer, cost, &number);
  iterations_split_extents(&d->k, number, sizes, split, coords);
  for (int32_t i = 0; i < split; ++i) r->coords[r->kept[i]] = coords[i];
  if (across) {
    strips_extent(d, &r->sizes[r->kept[split]], r->lanes, NULL, 0, &call);
  } else {
    if (!r->along) r->lanes = 1;
    row(r);
  }
  iterations_end(d, &it);
}

void strategy_rows_build(dispatch_t* d) {
  rows_t r = {0};
  analyse(&r, d);
  rows_choose_team(&r);
  for (int32_t i = 0; i < r.kept_count; ++i) {
    if (extent_is_fixed(&r.sizes[r.kept[i]])) continue;
    build_dynamic(&r);
    return;
  }
  int64_t sizes[GRAPH_MAX_RANK], length = 1, outer = 1;
  for (uint32_t i = 0; i < r.reduced_count; ++i) length *= extent_guess(&r.sizes[r.reduced[i]]);
  bool across = !r.along && r.kept_count && r.lanes > 1;
  int32_t split = r.kept_count - (across ? 1 : 0);
  for (int32_t i = 0; i < split; ++i) outer *= sizes[i] = r.full->dims[r.kept[i]];
  int64_t last = across ? r.full->dims[r.kept[r.kept_count - 1]] : 1;
  int64_t strip_count = across && last % r.lanes == 0 ? last / r.lanes : 1;
  bool share_strips = across && strip_count > 1;
  if (share_strips) sizes[split] = strip_count;
  int64_t iterations = share_strips ? outer * strip_count : outer;
  int64_t per_iteration = dispatch_cost(d) * (across ? (share_strips ? r.lanes : last) : 1) + length;
  linear_t coords[GRAPH_MAX_RANK], number;
  extent_t rows = extent_fixed(iterations);
  iterations_t it = rows_begin(&r, &rows, per_iteration, &number);
  iterations_split(&d->k, number, sizes, split + (share_strips ? 1 : 0), coords);
  for (int32_t i = 0; i < split; ++i) r.coords[r.kept[i]] = coords[i];
  across_t a = {.r = &r};
  if (share_strips) {
    d->k.lanes = r.lanes;
    linear_t at = linear_scale(&d->k, coords[split], r.lanes);
    at.lane = 1;
    across_body(d, at, NULL, &a);
    d->k.lanes = 1;
  } else if (across) {
    strips(d, last, r.lanes, NULL, 0, across_body, &a);
  } else {
    if (!r.along) r.lanes = 1;
    row(&r);
  }
  iterations_end(d, &it);
}
