// Rows: reductions over the same dimensions of one shape, with the scalar functions before, between and after them
// (sums, softmax, norms). A row's reductions run level by level, those that do not need each other in one sweep; then
// one sweep stores what has the full shape. On CPUs vectors run along the row when its last dimension is reduced, else
// across neighbouring rows; on GPUs a thread takes a short row, and a subgroup a long one: each lane every so-manieth
// element, and what the lanes have goes through shuffles.
#include <assert.h>
#include <string.h>

#include "kernels/team.h"
#include "passes/fusion.h"

enum { MAX_REDUCES = FUSION_MAX_REDUCES, MAX_UNROLL = 4 };

typedef struct rows_t {
  dispatch_t* d;
  const ir_value_t* value;  // of the full shape
  const ir_type_t* full;
  extent_t sizes[GRAPH_MAX_RANK];  // of the full shape
  uint32_t reduced_count;
  int64_t reduced[GRAPH_MAX_RANK];
  int64_t kept[GRAPH_MAX_RANK];
  int32_t kept_count;
  bool along;  // vectors along the row
  int64_t lanes;
  int64_t team;                     // threads that share a row
  linear_t lane;                    // number of this one
  linear_t coords[GRAPH_MAX_RANK];  // of the full shape; reduced ones are set inside the sweeps
  ir_op_t* reduces[MAX_REDUCES];
  uint32_t levels[MAX_REDUCES];
  uint32_t reduce_count;
} rows_t;

//===----------------------------------------------------------------------------------------------------------------===
// What there is to do
//===----------------------------------------------------------------------------------------------------------------===

bool strategy_rows_matches(const dispatch_t* d) {
  if (!d->root || !ir_is(d->root, GRAPH_REDUCE)) return false;
  uint32_t count = 0;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && !eval_supports(op)) return false;
    count += ir_is(op, GRAPH_REDUCE);
  }
  return count <= MAX_REDUCES && fusion_has_rows(ir_operand(d->root, 0));
}

static bool is_reduced(const rows_t* r, int64_t dim) {
  for (uint32_t i = 0; i < r->reduced_count; ++i) {
    if (r->reduced[i] == dim) return true;
  }
  return false;
}

// Levels of values: how many sweeps must be over before they can be computed.
static uint32_t level_of(const ir_value_map_t* levels, const ir_value_t* value) {
  return (uint32_t)(uintptr_t)ir_value_map_get(levels, value);
}

static void find_levels(rows_t* r) {
  ir_value_map_t* levels = ir_value_map_create(r->d->ctx);
  IR_FOR_OPS(op, r->d->body) {
    uintptr_t level = 0;
    for (uint32_t i = 0; i < op->operand_count; ++i) {
      uint32_t below = level_of(levels, ir_operand(op, i));
      if (below > level) level = below;
    }
    if (ir_is(op, GRAPH_REDUCE)) {
      r->levels[r->reduce_count] = (uint32_t)level++;
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
  if (r->along && !d->device->has_masks && !extent_is_fixed(&r->sizes[vector_dim])) r->lanes = 1;  // sums want masks
}

//===----------------------------------------------------------------------------------------------------------------===
// Sweeps
//===----------------------------------------------------------------------------------------------------------------===

// Reductions of one level, with `unroll` accumulators each.
typedef struct sweep_t {
  rows_t* r;
  uint32_t level;
  uint32_t members[MAX_REDUCES];
  uint32_t count;
  int64_t unroll, step;
  bool stores;  // the last sweep: outputs of the full shape
} sweep_t;

static void set_outer(rows_t* r, linear_t* coords, const linear_t* at, uint32_t count) {
  memcpy(coords, r->coords, sizeof(linear_t) * GRAPH_MAX_RANK);
  for (uint32_t i = 0; i < count; ++i) coords[r->reduced[i]] = at[i];
}

static ir_value_t* masked(kernel_build_t* k, ir_value_t* value, ir_value_t* identity) {
  if (!k->mask) return value;
  return kernel_ternary(&k->b, SCALAR_select, k->mask, value, identity);
}

static void accumulate(sweep_t* s, const linear_t* coords, ir_value_t** acc, int64_t part) {
  kernel_build_t* k = &s->r->d->k;
  for (uint32_t i = 0; i < s->count; ++i) {
    ir_op_t* op = s->r->reduces[s->members[i]];
    const char* kind = graph_get_kind(op);
    ir_value_t** slot = &acc[i * (uint32_t)s->unroll + (uint32_t)part];
    const ir_type_t* scalar = ir_type_scalar((*slot)->type);
    ir_value_t* value = eval_convert(k, eval_lanes(k, ir_operand(op, 0), coords), scalar);
    if (s->r->along) value = masked(k, value, eval_start_value(k, kind, scalar, k->lanes));
    *slot = kernel_binary(&k->b, eval_combiner(kind), *slot, value);
  }
}

static bool is_full(const rows_t* r, const ir_value_t* value) {
  if (ir_type_is_static(value->type) && ir_type_is_static(r->full)) {
    return ir_type_count(value->type) == ir_type_count(r->full) && value->type->rank == r->full->rank;
  }
  return eval_same_shape(value, r->value);
}

static void store_full(sweep_t* s, const linear_t* coords) {
  dispatch_t* d = s->r->d;
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    ir_value_t* value = ir_operand(d->yield, i);
    linear_t at[GRAPH_MAX_RANK];
    memcpy(at, coords, sizeof(at));
    ir_op_t* pack = NULL;
    if (value->def && ir_is(value->def, GRAPH_PACK)) {
      pack = value->def;
      value = ir_operand(pack, 0);
    }
    if (!is_full(s->r, value)) continue;
    ir_value_t* element = eval_at(&d->k, value, coords);
    if (pack) eval_forward(&d->k, pack, coords, at);
    eval_store(&d->k, d->outputs[i], at, element);
  }
}

typedef struct strip_t {
  sweep_t* s;
  linear_t coords[GRAPH_MAX_RANK];
} strip_t;

static void along_body(dispatch_t* d, linear_t at, ir_value_t** acc, void* user) {
  strip_t* v = user;
  int64_t outer_lanes = d->k.lanes;
  if (v->s->unroll > 1) {  // `at` steps by several vectors
    d->k.lanes = v->s->r->lanes;
    for (int64_t u = 0; u < v->s->unroll; ++u) {
      linear_t position = at;
      position.lane = 1;
      position.constant += u * v->s->r->lanes;
      v->coords[v->s->r->full->rank - 1] = position;
      accumulate(v->s, v->coords, acc, u);
    }
    d->k.lanes = outer_lanes;
    return;
  }
  v->coords[v->s->r->full->rank - 1] = at;
  if (v->s->stores) {
    store_full(v->s, v->coords);
  } else {
    accumulate(v->s, v->coords, acc, 0);
  }
}

static void team_body(sweep_t* s, linear_t* coords, linear_t position, ir_value_t** acc) {
  coords[s->r->full->rank - 1] = linear_add(&s->r->d->k, position, s->r->lane);
  if (s->stores) {
    store_full(s, coords);
  } else {
    accumulate(s, coords, acc, 0);
  }
}

// The row's last dimension by all threads of a team.
static void team_strip(sweep_t* s, linear_t* coords, ir_value_t** acc) {
  rows_t* r = s->r;
  kernel_build_t* k = &r->d->k;
  int64_t size = r->full->dims[r->full->rank - 1], whole = size / r->team * r->team;
  ir_value_t* inner[MAX_REDUCES];
  kernel_loop_t loop = kernel_loop_constant(k, 0, whole, r->team, acc, s->count);
  memcpy(inner, loop.iters, sizeof(inner[0]) * s->count);
  team_body(s, coords, linear_value(loop.index), inner);
  kernel_for_end(&k->b, &loop, inner, s->count);
  for (uint32_t i = 0; i < s->count; ++i) acc[i] = kernel_loop_result(&loop, i);
  if (whole == size) return;
  const ir_type_t* types[MAX_REDUCES];
  for (uint32_t i = 0; i < s->count; ++i) types[i] = acc[i]->type;
  ir_value_t* mine = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &r->lane), kernel_index(&k->b, size - whole));
  kernel_branch_t branch = kernel_if_begin(&k->b, mine, types, s->count);
  memcpy(inner, acc, sizeof(inner[0]) * s->count);
  team_body(s, coords, linear_constant(whole), inner);
  if (s->count) kernel_if_else(&k->b, &branch, inner, s->count);
  kernel_if_end(&k->b, &branch, acc, s->count);
  for (uint32_t i = 0; i < s->count; ++i) acc[i] = ir_result(branch.op, i);
}

// What all threads of the team have, combined; the same in each.
static ir_value_t* team_combine(rows_t* r, ir_value_t* value, const char* kind) {
  kernel_build_t* k = &r->d->k;
  for (int64_t distance = r->team / 2; distance > 0; distance /= 2) {
    value = kernel_binary(&k->b, eval_combiner(kind), value, team_shuffle(k, value, "xor", distance));
  }
  return value;
}

// Innermost: `at` has the reduced coordinates (all but the last when vectors run along the row).
static void sweep_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  sweep_t* s = user;
  rows_t* r = s->r;
  strip_t v = {.s = s};
  if (!r->along) {
    set_outer(r, v.coords, at, r->reduced_count);
    if (s->stores) {
      store_full(s, v.coords);
    } else {
      accumulate(s, v.coords, acc, 0);
    }
    return;
  }
  set_outer(r, v.coords, at, r->reduced_count - 1);
  (void)k;
  if (r->team > 1) {
    team_strip(s, v.coords, acc);
    return;
  }
  strips_extent(r->d, &r->sizes[r->full->rank - 1], r->lanes * s->unroll, acc, s->count * (uint32_t)s->unroll,
                &(strip_call_t){along_body, &v});
}

static void run_sweep(sweep_t* s) {
  rows_t* r = s->r;
  kernel_build_t* k = &r->d->k;
  const extent_t* size = &r->sizes[r->full->rank - 1];
  extent_t sizes[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < r->reduced_count; ++i) sizes[i] = r->sizes[r->reduced[i]];
  s->unroll = 1;
  if (r->along && r->team == 1 && !s->stores && s->count <= 2 && extent_is_fixed(size)) {
    while (s->unroll < MAX_UNROLL && size->factor % (r->lanes * s->unroll * 2) == 0) s->unroll *= 2;
  }
  ir_value_t* acc[MAX_REDUCES * MAX_UNROLL];
  uint32_t acc_count = 0;
  int64_t outer_lanes = k->lanes, acc_lanes = r->along ? r->lanes : k->lanes;
  for (uint32_t i = 0; i < s->count; ++i) {
    ir_op_t* op = r->reduces[s->members[i]];
    const ir_type_t* scalar = eval_accumulator(k->ctx, ir_operand(op, 0)->type->element);
    for (int64_t u = 0; u < s->unroll; ++u) {
      acc[acc_count++] = eval_start_value(k, graph_get_kind(op), scalar, acc_lanes);
    }
  }
  eval_loops(k, sizes, r->along ? r->reduced_count - 1 : r->reduced_count, acc, acc_count, sweep_body, s);
  k->lanes = outer_lanes;
  for (uint32_t i = 0; i < s->count; ++i) {
    ir_op_t* op = r->reduces[s->members[i]];
    const char* kind = graph_get_kind(op);
    ir_value_t* sum = acc[i * (uint32_t)s->unroll];
    for (int64_t u = 1; u < s->unroll; ++u) {
      sum = kernel_binary(&k->b, eval_combiner(kind), sum, acc[i * (uint32_t)s->unroll + (uint32_t)u]);
    }
    if (r->along && r->lanes > 1) sum = kernel_reduce(&k->b, sum, kind);
    if (r->team > 1) sum = team_combine(r, sum, kind);
    eval_set_bound(k, ir_result(op, 0), eval_convert(k, sum, ir_type_scalar(op->results[0].type)));
  }
}

static bool has_full_output(const rows_t* r) {
  for (uint32_t i = 0; i < r->d->yield->operand_count; ++i) {
    const ir_value_t* value = ir_operand(r->d->yield, i);
    if (value->def && ir_is(value->def, GRAPH_PACK)) value = ir_operand(value->def, 0);
    if (is_full(r, value)) return true;
  }
  return false;
}

// Outputs with one element a row: [kept...] or the same with ones for the reduced dimensions.
static void store_outer(rows_t* r) {
  dispatch_t* d = r->d;
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    ir_value_t* value = ir_operand(d->yield, i);
    if (is_full(r, value)) continue;
    if (value->def && ir_is(value->def, GRAPH_PACK)) continue;
    linear_t at[GRAPH_MAX_RANK];
    bool kept = value->type->rank == r->full->rank && r->kept_count != r->full->rank;
    for (int32_t j = 0; j < r->kept_count; ++j) at[kept ? r->kept[j] : j] = r->coords[r->kept[j]];
    for (uint32_t j = 0; kept && j < r->reduced_count; ++j) at[r->reduced[j]] = linear_constant(0);
    eval_store(&d->k, d->outputs[i], at, eval_at(&d->k, value, at));
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

static void row(rows_t* r) {
  uint32_t levels = 0;
  for (uint32_t i = 0; i < r->reduce_count; ++i) {
    if (r->levels[i] + 1 > levels) levels = r->levels[i] + 1;
  }
  for (uint32_t level = 0; level < levels; ++level) {
    sweep_t s = {.r = r, .level = level};
    for (uint32_t i = 0; i < r->reduce_count; ++i) {
      if (r->levels[i] == level) s.members[s.count++] = i;
    }
    if (s.count) run_sweep(&s);
  }
  store_outer_once(r);
  if (has_full_output(r)) {
    sweep_t s = {.r = r, .stores = true};
    run_sweep(&s);
  }
  for (uint32_t i = 0; i < r->reduce_count; ++i) ir_result(r->reduces[i], 0)->data = NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Rows shared out
//===----------------------------------------------------------------------------------------------------------------===

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
  iterations_t it = iterations_dynamic(d, &outer, cost);
  iterations_split_extents(&d->k, it.index, sizes, split, coords);
  for (int32_t i = 0; i < split; ++i) r->coords[r->kept[i]] = coords[i];
  if (across) {
    strips_extent(d, &r->sizes[r->kept[split]], r->lanes, NULL, 0, &call);
  } else {
    if (!r->along) r->lanes = 1;
    row(r);
  }
  iterations_end(d, &it);
}

// Long rows of known size: a subgroup each.
static int64_t team_of(const rows_t* r) {
  const device_info_t* device = r->d->device;
  if (device->kind != DEVICE_GPU || !r->along || !ir_type_is_static(r->full)) return 1;
  return r->full->dims[r->full->rank - 1] >= 2 * device->subgroup_size ? device->subgroup_size : 1;
}

void strategy_rows_build(dispatch_t* d) {
  rows_t r = {.team = 1};
  analyse(&r, d);
  for (int32_t i = 0; i < r.kept_count; ++i) {
    if (extent_is_fixed(&r.sizes[r.kept[i]])) continue;
    build_dynamic(&r);
    return;
  }
  enum { WORK = 60000 };
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
  r.team = team_of(&r);
  iterations_t it = iterations_begin(d, iterations * r.team, WORK / per_iteration);
  linear_t coords[GRAPH_MAX_RANK], number = it.index;
  if (r.team > 1) linear_divide(&d->k, it.index, r.team, &number, &r.lane);
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
