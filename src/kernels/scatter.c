// Scatter. Updates of one element are applied in order, so that later ones win and sums do not depend on how the work
// is shared; those outside the operand are dropped. Two ways:
//
//   push  the operand is copied, then all updates are applied. What dimensions have in common with the updates, where
//         no index moves them, is shared out among a GPU's threads; the rest is one thread's, on CPUs all, which has
//         vectors along what is a row of both. In place nothing is copied, which is best for few updates.
//   pull  each element of the result is made on its own: of rising indices (passes/spread_scatter.c) halving finds
//         those that mean it, on GPUs or where something follows, which are taken by whole blocks where they come
//         combined; GPUs look at all when there are few.
#include <string.h>

#include "dialects/graph_shape.h"
#include "kernels/region.h"
#include "kernels/strategy.h"

typedef struct scatter_t {
  dispatch_t* d;
  ir_op_t* op;
  uint32_t count;  // operands: the indices come after them, then as many updates
  int64_t window[GRAPH_MAX_RANK], inserted[GRAPH_MAX_RANK], operand_batch[GRAPH_MAX_RANK];
  int64_t indices_batch[GRAPH_MAX_RANK], map[GRAPH_MAX_RANK], vector_dim;
  uint32_t window_count, inserted_count, batch_count, map_count;
  int32_t owner[GRAPH_MAX_RANK];     // the updates' dimension that has the operand's coordinates, or -1
  linear_t element[GRAPH_MAX_RANK];  // push: the owned coordinates; pull: all of the element
  int32_t row;                       // push: the updates' dimension that vectors are along, or -1
  linear_t from[GRAPH_MAX_RANK], to[GRAPH_MAX_RANK];  // push: the update at work and the operand's element
} scatter_t;

static bool is_supported(const ir_op_t* op) {
  if (ir_is(op, GRAPH_SCATTER)) return true;
  return ir_is(op, GRAPH_SCATTER_GENERIC) && op->result_count <= REGION_VALUES && region_supports(op);
}

static bool is_overwritten(const ir_op_t* op) {
  return !ir_is(op, GRAPH_SCATTER_GENERIC) && strcmp(graph_get_kind(op), "set") == 0;
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

// Which of the updates' dimensions beside the window is that of a batch dimension.
static int64_t index_batch(const scatter_t* s, uint32_t i) {
  int64_t dim = s->indices_batch[i];
  return s->vector_dim < ir_operand(s->op, s->count)->type->rank && dim > s->vector_dim ? dim - 1 : dim;
}

static void place_update(kernel_build_t* k, scatter_t* s, const linear_t* at, linear_t* to) {
  ir_value_t *x = ir_operand(s->op, 0), *updates = ir_operand(s->op, s->count + 1);
  linear_t batch[GRAPH_MAX_RANK];
  uint32_t batch_count = 0, next = 0;
  for (int32_t i = 0; i < updates->type->rank; ++i) {
    if (!shape_contains(s->window, s->window_count, i)) batch[batch_count++] = at[i];
  }
  for (int32_t i = 0; i < x->type->rank; ++i) {
    bool gone =
        shape_contains(s->inserted, s->inserted_count, i) || shape_contains(s->operand_batch, s->batch_count, i);
    to[i] = gone ? linear_constant(0) : at[s->window[next++]];
  }
  for (uint32_t i = 0; i < s->map_count; ++i) {
    to[s->map[i]] = linear_add(k, to[s->map[i]], start_of(k, s, i, batch));
  }
  for (uint32_t i = 0; i < s->batch_count; ++i) to[s->operand_batch[i]] = batch[index_batch(s, i)];
}

// What becomes of the elements `args` by the update at `at`, or by those combined so many times.
static void combine_update(kernel_build_t* k, scatter_t* s, uint32_t level, const linear_t* at, ir_value_t** args) {
  ir_value_t* all[2 * REGION_VALUES];
  memcpy(all, args, sizeof(*all) * s->count);
  for (uint32_t i = 0; i < s->count; ++i)
    all[s->count + i] = eval_lanes(k, ir_operand(s->op, s->count + 1 + level + i), at);
  if (ir_is(s->op, GRAPH_SCATTER_GENERIC)) {
    region_apply(k, s->op->regions[0].first, all, args);
  } else if (is_overwritten(s->op)) {
    args[0] = all[1];
  } else {
    const ir_type_t* wide = eval_accumulator(k->ctx, ir_type_scalar(args[0]->type));
    scalar_fn_t fn = eval_combiner(graph_get_kind(s->op));
    args[0] = kernel_binary(&k->b, fn, eval_convert(k, args[0], wide), eval_convert(k, all[1], wide));
  }
  for (uint32_t i = 0; i < s->count; ++i) {
    args[i] = eval_convert(k, args[i], ir_type_scalar(ir_operand(s->op, i)->type));
  }
}

// The updates' sizes with those that are owned as 1; and coordinates of them with the owned ones in place.
static void loop_sizes(const scatter_t* s, extent_t* sizes) {
  eval_extents(ir_operand(s->op, s->count + 1), sizes);
  for (int32_t i = 0; i < ir_operand(s->op, 0)->type->rank; ++i) {
    if (s->owner[i] >= 0) sizes[s->owner[i]] = extent_fixed(1);
  }
}

static void set_owned(const scatter_t* s, const linear_t* at, linear_t* out) {
  for (int32_t i = 0; i < ir_operand(s->op, s->count + 1)->type->rank; ++i) out[i] = at[i];
  for (int32_t i = 0; i < ir_operand(s->op, 0)->type->rank; ++i) {
    if (s->owner[i] >= 0) out[s->owner[i]] = s->element[i];
  }
}

// Updates may be smaller than the operand where they have its coordinates.
static void guard_owned(kernel_build_t* k, const scatter_t* s, guard_t* guard) {
  for (int32_t i = 0; i < ir_operand(s->op, 0)->type->rank; ++i) {
    if (s->owner[i] < 0) continue;
    extent_t size = eval_extent(ir_operand(s->op, s->count + 1), s->owner[i]);
    guard_extent(k, guard, &s->element[i], &size);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Push
//===----------------------------------------------------------------------------------------------------------------===

static void copy_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  (void)acc;
  scatter_t* s = user;
  linear_t to[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < ir_operand(s->op, 0)->type->rank; ++i) to[i] = s->owner[i] >= 0 ? s->element[i] : at[i];
  for (uint32_t i = 0; i < s->count; ++i) {
    eval_store(k, s->d->outputs[i], to, eval_at(k, ir_operand(s->op, i), to));
  }
}

// What becomes of the elements at `to` by the update at `from`.
static void apply_update(scatter_t* s, const linear_t* from, const linear_t* to) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* args[REGION_VALUES];
  for (uint32_t i = 0; i < s->count; ++i) {
    bool reads = ir_is(s->op, GRAPH_SCATTER_GENERIC) || !is_overwritten(s->op);
    args[i] = reads ? eval_lanes(k, s->d->outputs[i], to) : NULL;
  }
  combine_update(k, s, 0, from, args);
  for (uint32_t i = 0; i < s->count; ++i) eval_store(k, s->d->outputs[i], to, args[i]);
}

static void apply_strip(dispatch_t* d, linear_t at, ir_value_t** acc, void* user) {
  (void)acc;
  scatter_t* s = user;
  s->from[s->row] = at;
  s->to[ir_operand(s->op, 0)->type->rank - 1] = at;
  apply_update(s, s->from, s->to);
}

// One update, or a row of them by vectors.
static void update_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  (void)acc;
  scatter_t* s = user;
  ir_value_t* x = ir_operand(s->op, 0);
  set_owned(s, at, s->from);
  place_update(k, s, s->from, s->to);
  guard_t guard = {0};
  for (int32_t i = 0; i < x->type->rank - (s->row >= 0); ++i) {
    extent_t size = eval_extent(x, i);
    guard_extent(k, &guard, &s->to[i], &size);
  }
  guard_owned(k, s, &guard);
  kernel_branch_t branch = {0};
  if (guard.condition) branch = kernel_if_begin(&k->b, guard.condition, NULL, 0);
  if (s->row >= 0) {
    extent_t size = eval_extent(x, x->type->rank - 1);
    strips_extent(s->d, &size, dispatch_extent_lanes(s->d, &size), NULL, 0, &(strip_call_t){apply_strip, s, NULL});
  } else {
    apply_update(s, s->from, s->to);
  }
  if (guard.condition) kernel_if_end(&k->b, &branch, NULL, 0);
}

static void copy_strip(dispatch_t* d, linear_t at, ir_value_t** acc, void* user) {
  (void)acc;
  scatter_t* s = user;
  s->to[ir_operand(s->op, 0)->type->rank - 1] = at;
  for (uint32_t i = 0; i < s->count; ++i) {
    eval_store(&d->k, d->outputs[i], s->to, eval_lanes(&d->k, ir_operand(s->op, i), s->to));
  }
}

static void copy_row(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  (void)k, (void)acc;
  scatter_t* s = user;
  int32_t last = ir_operand(s->op, 0)->type->rank - 1;
  extent_t size = eval_extent(ir_operand(s->op, 0), last);
  memcpy(s->to, at, sizeof(*at) * (size_t)last);
  strips_extent(s->d, &size, dispatch_extent_lanes(s->d, &size), NULL, 0, &(strip_call_t){copy_strip, s, NULL});
}

static void copy_operands(scatter_t* s, extent_t* sizes) {
  int32_t rank = ir_operand(s->op, 0)->type->rank;
  bool by_rows = rank && s->d->device->kind == DEVICE_CPU;
  if (by_rows) sizes[rank - 1] = extent_fixed(1);
  eval_loops(&s->d->k, sizes, (uint32_t)rank, NULL, 0, by_rows ? copy_row : copy_body, s);
}

// The updates' last dimension, where it is all of the operand's last, which no index moves; or -1.
static int32_t find_row(const scatter_t* s) {
  const ir_value_t *x = ir_operand(s->op, 0), *updates = ir_operand(s->op, s->count + 1);
  int32_t last = x->type->rank - 1, row = last < 0 ? -1 : s->owner[last];
  if (s->d->device->kind != DEVICE_CPU || ir_is(s->op, GRAPH_SCATTER_GENERIC)) return -1;
  if (row < 0 || row != updates->type->rank - 1 || !shape_contains(s->window, s->window_count, row)) return -1;
  extent_t size = eval_extent(x, last), there = eval_extent(updates, row);
  return extent_equal(&size, &there) ? row : -1;
}

static void build_push(scatter_t* s) {
  dispatch_t* d = s->d;
  ir_value_t *x = ir_operand(s->op, 0), *updates = ir_operand(s->op, s->count + 1);
  extent_t sizes[GRAPH_MAX_RANK], owned[GRAPH_MAX_RANK], count = extent_fixed(1);
  linear_t coords[GRAPH_MAX_RANK];
  int32_t n = 0;
  s->row = find_row(s);
  eval_extents(x, sizes);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    if (d->device->kind == DEVICE_CPU) s->owner[i] = -1;
    if (s->owner[i] < 0) continue;
    count = extent_product(count, owned[n++] = sizes[i]);
    sizes[i] = extent_fixed(1);
  }
  iterations_t it = iterations_dynamic(d, &count, 1);
  iterations_split_extents(&d->k, it.index, owned, n, coords);
  for (int32_t i = x->type->rank; i-- > 0;) {
    if (s->owner[i] >= 0) s->element[i] = coords[--n];
  }
  if (graph_in_place(d->op) < 0) copy_operands(s, sizes);
  loop_sizes(s, sizes);
  if (s->row >= 0) sizes[s->row] = extent_fixed(1);
  if (ir_type_count(updates->type) != 0) {
    eval_loops(&d->k, sizes, (uint32_t)updates->type->rank, NULL, 0, update_body, s);
  }
  iterations_end(d, &it);
}

//===----------------------------------------------------------------------------------------------------------------===
// Pull
//===----------------------------------------------------------------------------------------------------------------===

static bool has_few_updates(const scatter_t* s) {
  enum { FEW = 64 };
  extent_t sizes[GRAPH_MAX_RANK], count = extent_fixed(1);
  loop_sizes(s, sizes);
  for (int32_t i = 0; i < ir_operand(s->op, s->count + 1)->type->rank; ++i) count = extent_product(count, sizes[i]);
  return extent_is_fixed(&count) && count.factor <= FEW;
}

static void look_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  scatter_t* s = user;
  linear_t from[GRAPH_MAX_RANK], to[GRAPH_MAX_RANK];
  set_owned(s, at, from);
  place_update(k, s, from, to);
  guard_t guard = {0};
  guard_owned(k, s, &guard);
  for (int32_t i = 0; i < ir_operand(s->op, 0)->type->rank; ++i) {
    if (s->owner[i] >= 0) continue;
    linear_t distance = linear_add(k, to[i], linear_scale(k, s->element[i], -1));
    guard_equal(k, &guard, &distance, 0);
  }
  const ir_type_t* types[REGION_VALUES];
  ir_value_t* next[REGION_VALUES];
  for (uint32_t i = 0; i < s->count; ++i) types[i] = acc[i]->type, next[i] = acc[i];
  kernel_branch_t branch = {0};
  if (guard.condition) branch = kernel_if_begin(&k->b, guard.condition, types, s->count);
  combine_update(k, s, 0, from, next);
  if (guard.condition) {
    kernel_if_else(&k->b, &branch, next, s->count);
    kernel_if_end(&k->b, &branch, acc, s->count);
  }
  for (uint32_t i = 0; i < s->count; ++i) acc[i] = guard.condition ? ir_result(branch.op, i) : next[i];
}

static ir_value_t* row_index(scatter_t* s, ir_value_t* place) {
  kernel_build_t* k = &s->d->k;
  linear_t at = linear_value(place);
  return eval_convert(k, eval_at(k, ir_operand(s->op, s->count), &at), ir_type_index(k->ctx));
}

static ir_value_t* bounded(scatter_t* s, ir_value_t* value, int64_t most) {
  int64_t constant;
  if (!kernel_constant_index(value, &constant)) index_set_facts(&s->d->k, value, 0, most, 1);
  return value;
}

// The first place from `low` on whose index is not below `row`.
static ir_value_t* first_not_below(scatter_t* s, ir_value_t* low, ir_value_t* row) {
  kernel_build_t* k = &s->d->k;
  extent_t size = eval_extent(ir_operand(s->op, s->count), 0);
  ir_value_t *count = extent_value(k, &size), *range[2] = {low, count}, *next[2];
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), index_bits(k, count), 1, range, 2);
  ir_value_t *a = loop.iters[0], *b = loop.iters[1];
  ir_value_t* middle = kernel_binary(&k->b, SCALAR_divu, kernel_add(&k->b, a, b), kernel_index(&k->b, 2));
  ir_value_t* place = kernel_binary(&k->b, SCALAR_min, middle, kernel_add_const(&k->b, count, -1));
  place = bounded(s, place, index_facts(count).max - 1);
  ir_value_t* open = kernel_binary(&k->b, SCALAR_lt, a, b);
  ir_value_t* below = kernel_binary(&k->b, SCALAR_lt, row_index(s, place), row);
  ir_value_t* up = kernel_binary(&k->b, SCALAR_and, open, below);
  ir_value_t* down = kernel_binary(&k->b, SCALAR_xor, open, up);
  next[0] = kernel_ternary(&k->b, SCALAR_select, up, kernel_add_const(&k->b, middle, 1), a);
  next[1] = kernel_ternary(&k->b, SCALAR_select, down, middle, b);
  kernel_for_end(&k->b, &loop, next, 2);
  return bounded(s, kernel_loop_result(&loop, 0), index_facts(count).max);
}

// Of updates, or of blocks of them.
typedef struct range_t {
  ir_value_t *first, *end;
} range_t;

// Updates that are combined so many times.
static void apply_range(scatter_t* s, uint32_t level, range_t range, ir_value_t** acc) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t loop = kernel_loop_begin(k, range.first, range.end, 1, acc, s->count);
  linear_t at[GRAPH_MAX_RANK] = {linear_value(loop.index)}, from[GRAPH_MAX_RANK];
  ir_value_t* next[REGION_VALUES];
  memcpy(next, loop.iters, sizeof(*next) * s->count);
  set_owned(s, at, from);
  combine_update(k, s, level, from, next);
  kernel_for_end(&k->b, &loop, next, s->count);
  for (uint32_t i = 0; i < s->count; ++i) acc[i] = kernel_loop_result(&loop, i);
}

// The range's whole blocks, as a range of blocks; `head` and `tail` are what lies before and behind them.
static range_t whole_blocks(scatter_t* s, range_t range, range_t* head, range_t* tail) {
  ir_builder_t* b = &s->d->k.b;
  int64_t most = index_facts(range.end).max, blocks = most / GRAPH_SCATTER_FAN + 1;
  ir_value_t* fan = kernel_index(b, GRAPH_SCATTER_FAN);
  ir_value_t* first = kernel_binary(b, SCALAR_divu, kernel_add_const(b, range.first, GRAPH_SCATTER_FAN - 1), fan);
  ir_value_t* end = kernel_binary(b, SCALAR_divu, range.end, fan);
  ir_value_t* head_end = kernel_binary(b, SCALAR_min, kernel_mul(b, first, fan), range.end);
  ir_value_t* tail_first = kernel_binary(b, SCALAR_max, kernel_mul(b, end, fan), head_end);
  *head = (range_t){range.first, bounded(s, head_end, most)};
  *tail = (range_t){bounded(s, tail_first, most), range.end};
  end = kernel_binary(b, SCALAR_max, first, end);
  return (range_t){bounded(s, first, blocks), bounded(s, end, blocks)};
}

// All updates of the element's row in their order, or the one that stays.
static void apply_row(scatter_t* s, ir_value_t** acc) {
  kernel_build_t* k = &s->d->k;
  uint32_t levels = s->op->operand_count - 1 - 2 * s->count;
  ir_value_t *row = linear_scalar(k, &s->element[0]), *after = kernel_add_const(&k->b, row, 1);
  range_t range = {.first = first_not_below(s, kernel_index(&k->b, 0), row)}, head, tails[GRAPH_SCATTER_LEVELS];
  range.end = first_not_below(s, range.first, after);
  if (is_overwritten(s->op)) {
    ir_value_t* last = kernel_add_const(&k->b, range.end, -1);
    range.first = bounded(s, kernel_binary(&k->b, SCALAR_max, range.first, last), index_facts(range.end).max);
  }
  for (uint32_t level = 0; level < levels; ++level) {
    range_t blocks = whole_blocks(s, range, &head, &tails[level]);
    apply_range(s, level, head, acc);
    range = blocks;
  }
  apply_range(s, levels, range, acc);
  for (uint32_t level = levels; level-- > 0;) apply_range(s, level, tails[level], acc);
}

static void build_pull(scatter_t* s) {
  dispatch_t* d = s->d;
  ir_value_t *x = ir_operand(s->op, 0), *updates = ir_operand(s->op, s->count + 1), *acc[REGION_VALUES];
  extent_t sizes[GRAPH_MAX_RANK], count = eval_count(x);
  eval_extents(x, sizes);
  iterations_t it = iterations_dynamic(d, &count, 1);
  iterations_split_extents(&d->k, it.index, sizes, x->type->rank, s->element);
  for (uint32_t i = 0; i < s->count; ++i) acc[i] = eval_at(&d->k, ir_operand(s->op, i), s->element);
  if (ir_type_count(updates->type) == 0) {
  } else if (graph_scatter_rises(s->op)) {
    apply_row(s, acc);
  } else {
    loop_sizes(s, sizes);
    eval_loops(&d->k, sizes, (uint32_t)updates->type->rank, acc, s->count, look_body, s);
  }
  for (uint32_t i = 0; i < s->count; ++i) eval_set_bound(&d->k, ir_result(s->op, i), acc[i]);
  epilogue_store(d, ir_result(s->op, 0), s->element);
  ir_result(s->op, 0)->data = NULL;
  iterations_end(d, &it);
}

//===----------------------------------------------------------------------------------------------------------------===
// Strategy
//===----------------------------------------------------------------------------------------------------------------===

// Nothing follows the scatter.
static bool yields_root(const dispatch_t* d) {
  if (d->yield->operand_count != d->root->result_count) return false;
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    if (ir_operand(d->yield, i) != ir_result(d->root, i)) return false;
  }
  return true;
}

bool strategy_scatter_proposes(const dispatch_t* d, candidate_t* c) {
  if (!is_supported(d->root)) return candidate_declines(c, "the update's body has an op without a scalar instruction");
  if (!graph_scatter_rises(d->root) && !yields_root(d)) return candidate_declines(c, "something follows the scatter");
  return candidate_evaluates(d, d->root, c);
}

// Window dimensions that no index moves, and batch dimensions, have the same coordinates in operand and updates.
static void find_owners(scatter_t* s) {
  int32_t batch[GRAPH_MAX_RANK], batch_count = 0, next = 0;
  for (int32_t i = 0; i < ir_operand(s->op, s->count + 1)->type->rank; ++i) {
    if (!shape_contains(s->window, s->window_count, i)) batch[batch_count++] = i;
  }
  for (int32_t i = 0; i < ir_operand(s->op, 0)->type->rank; ++i) {
    bool gone =
        shape_contains(s->inserted, s->inserted_count, i) || shape_contains(s->operand_batch, s->batch_count, i);
    int32_t window = gone ? -1 : (int32_t)s->window[next++];
    s->owner[i] = shape_contains(s->map, s->map_count, i) ? -1 : window;
  }
  for (uint32_t i = 0; i < s->batch_count; ++i) s->owner[s->operand_batch[i]] = batch[index_batch(s, i)];
}

void strategy_scatter_build(dispatch_t* d) {
  scatter_t s = {
      .d = d, .op = d->root, .count = d->root->result_count, .vector_dim = graph_get_index_vector_dim(d->root)};
  s.window_count = graph_get_update_window_dims(d->root, s.window);
  s.inserted_count = graph_get_inserted_dims(d->root, s.inserted);
  s.batch_count = graph_get_operand_batch_dims(d->root, s.operand_batch);
  graph_get_indices_batch_dims(d->root, s.indices_batch);
  s.map_count = graph_get_scatter_dims_map(d->root, s.map);
  find_owners(&s);
  bool gpu = d->device->kind == DEVICE_GPU;
  bool few = gpu && has_few_updates(&s), in_place = graph_in_place(d->op) >= 0;
  if ((graph_scatter_rises(d->root) && (gpu ? !(few && in_place) : !yields_root(d))) || (few && !in_place)) {
    build_pull(&s);
  } else {
    build_push(&s);
  }
}
