// Large products on GPUs, with both operands brought to workgroup memory a tile at a time. Matrix instructions multiply
// where there are any for the types; else each lane does, where the device has no scalar unit to read one side with.
// A workgroup (columns, rows, batch) has a tile of waves x fragments down and across; where tiles are few, several such
// slices, each of which takes a part of every tile's depth, and whose results are summed at the end (staged_sum.c), so
// that units have enough waves. With asynchronous copies, several
// tiles of the depth are on their way while one is multiplied:
//
//   copy the first stages - 1 steps, each a group
//   for step of taps and depth:
//     wait for all groups but the last stages - 2;  barrier
//     for k of the tile, step of the instruction:
//       copy a part of step + stages - 1 to the stage that was multiplied last (zeros when there is no such step)
//       a[y], b[x] = fragments from the step's stage;  c[y][x] = mma a[y], b[x], c[y][x]
//     those copies are a group
//   the lanes store what they hold of c[y][x]
//
// By matrix instructions fragments are loaded a step of k ahead, also of the next tile, so that the wait is before the
// last products of a tile, not behind them.
//
// Where an operand is computed, or its elements do not lie so that they can be copied, both go through registers:
//
//   next = the threads' pieces of the operands' first tiles
//   for step of taps and depth:
//     stage[step % 2] = next;  barrier
//     next = pieces of the step after it                         on their way while this one is computed
//     multiply as above
//
// With one stage another barrier behind the products, for more workgroups of a unit at a time.
//
// So an element is read from memory once by a workgroup, and computed once where a producer is fused. A piece is a
// vector along what lies one after the other in memory, and the stage is laid out so that a fragment's run of elements
// along the depth is one access and neighbouring lanes are in different banks:
//   memory along the depth:   [row or column][depth], 16 bytes between, or between as many short ones as all banks are
//   else:                     [depth / run][row or column][run], 32 bytes between; run loads make one store,
//     or, where loads are wide, [depth / run][place in a load][load][run]: neighbouring threads store side by side
// kernel.load_matrix, where the device has it, loads fragments from the first, and transposed from the second with a
// run of one, 16 bytes between. Lanes that multiply read four columns at once: those of the right lie side by side
// ([depth][column]) in any case. Past the ends rows and columns repeat the last ones, which are not stored; depth gives
// zeros.
#include "kernels/staged.h"

#include <assert.h>
#include <string.h>

#include "kernels/team.h"

bool strategy_staged_proposes(const dispatch_t* d, candidate_t* c) {
  staged_t s;
  return staged_plan(&s, (dispatch_t*)d) ||
         candidate_declines(c,
                            fragments_decline((dispatch_t*)d, true, "it is too small for tiles of workgroup memory"));
}

//===----------------------------------------------------------------------------------------------------------------===
// Fragments
//===----------------------------------------------------------------------------------------------------------------===

// Where element i of a fragment is in workgroup memory, of the tile at its first element of the depth.
static linear_t fragment_place(staged_t* s, product_side_t which, linear_t first, linear_t step, int32_t i) {
  kernel_build_t* k = &s->f.product.d->k;
  const staged_side_t* side = &s->sides[which];
  place_t place = staged_depth_place(s, which, i);
  linear_t free = fragment_at(&s->f, first, &fragment_frees(&s->f, which)[i / s->joined]);
  if (side->along_depth) return linear_add(k, staged_row_place(s, side, free), fragment_at(&s->f, step, &place));
  int32_t run = (int32_t)side->run;
  place = (place_t){place.base / run, place.low / run, place.high / run};
  linear_t group, rest;
  linear_divide(k, step, run, &group, &rest);
  group = fragment_at(&s->f, group, &place);
  return linear_add(k, linear_scale(k, group, side->stride), staged_free_place(s, side, free));
}

static ir_value_t* load_runs(staged_t* s, product_side_t which, linear_t stage, linear_t first, linear_t step) {
  kernel_build_t* k = &s->f.product.d->k;
  const staged_side_t* side = &s->sides[which];
  int32_t run = side->along_depth ? staged_run(s, which) : (int32_t)side->run, held = staged_held(s, which);
  if (!side->along_depth && run == 1) run = fragment_free_run(&s->f, which);
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, s->f.element, held), 0);
  for (int32_t i = 0; i < held; i += run) {
    linear_t at = fragment_place(s, which, first, step, i);
    at = linear_add(k, linear_scale(k, stage, side->stage), at);
    ir_value_t* value = kernel_load(&k->b, side->memory, linear_scalar(k, &at), run);
    eval_set_alignment(k, value->def, s->f.element, &at);
    if (run == held) result = value;
    for (int32_t j = 0; run < held && j < run; ++j) {
      result = kernel_insert(&k->b, result, run > 1 ? kernel_extract(&k->b, value, j) : value, i + j);
    }
  }
  return s->f.row->instruction ? result : product_widen(&s->f.product, which, result);
}

static void load_fragments(staged_t* s, product_side_t which, linear_t stage, linear_t step, ir_value_t** out) {
  bool left = which == PRODUCT_LEFT;
  linear_t first = left ? s->wave_row : s->wave_column;
  int64_t count = left ? s->down : s->across;
  const staged_side_t* side = &s->sides[which];
  if (side->matrices) {
    linear_t offset = linear_scale(&s->f.product.d->k, stage, side->stage);
    fragment_matrices_t from = {which, side->memory, offset, side->stride, !side->along_depth, first, step};
    fragments_load_matrices(&s->f, &from, 0, count, out);
    return;
  }
  for (int64_t i = 0; i < count; ++i, first.constant += left ? s->f.row->m : s->f.row->n) {
    out[i] = load_runs(s, which, stage, first, step);
  }
}

// What a wave multiplies at a step of the depth, or at joined ones.
typedef struct operands_t {
  ir_value_t *a[STAGED_MAX_DOWN], *b[STAGED_MAX_ACROSS];
} operands_t;

static operands_t load_operands(staged_t* s, linear_t stage, linear_t step) {
  operands_t out = {0};
  load_fragments(s, PRODUCT_LEFT, stage, step, out.a);
  load_fragments(s, PRODUCT_RIGHT, stage, step, out.b);
  return out;
}

static void multiply_step(staged_t* s, const operands_t* o, ir_value_t** acc) {
  for (int64_t y = 0; y < s->down; ++y) {
    for (int64_t x = 0; x < s->across; ++x) {
      ir_value_t** slot = &acc[y * s->across + x];
      *slot = fragment_multiply_add(&s->f, o->a[y], o->b[x], *slot);
    }
  }
}

static void multiply(staged_t* s, const operands_t* o, ir_value_t** acc) {
  if (s->joined == 1) multiply_step(s, o, acc);
  for (int32_t part = 0; s->joined > 1 && part < s->joined; ++part) {
    operands_t step = {0};
    for (int64_t y = 0; y < s->down; ++y) step.a[y] = fragment_part(&s->f, PRODUCT_LEFT, o->a[y], part);
    for (int64_t x = 0; x < s->across; ++x) step.b[x] = fragment_part(&s->f, PRODUCT_RIGHT, o->b[x], part);
    multiply_step(s, &step, acc);
  }
}

enum { MOST_UNROLLED = 256 };  // multiplications

// A tile's depth, in a loop where that is many steps, and copies to another stage (or NULL) among it, so that they do
// not all wait for each other at one time.
static void multiply_tile(staged_t* s, linear_t stage, staged_copies_t* copies, ir_value_t** acc) {
  kernel_build_t* k = &s->f.product.d->k;
  uint32_t count = (uint32_t)staged_fragments(s);
  int64_t depth = s->f.row->k * s->joined, whole = staged_slice_depth(s), unrolled = whole;
  while (unrolled > 4 * depth && unrolled / s->f.row->k * count > MOST_UNROLLED && unrolled % 2 == 0) unrolled /= 2;
  kernel_loop_t loop = {0};
  linear_t first = linear_scale(k, s->slice, whole);
  if (unrolled < whole) {
    if (copies) staged_copies_issue(s, copies, copies->count);
    loop = kernel_loop_constant(k, 0, whole, unrolled, acc, count);
    first = linear_add(k, first, linear_value(loop.index));
    memcpy(acc, loop.iters, sizeof(*acc) * count);
  }
  // Matrices are loaded a step ahead, so that they are there when they are multiplied; or when the scheduler likes.
  bool ahead = s->f.row->instruction && !s->arranged;
  operands_t next = {0};
  if (ahead) next = load_operands(s, stage, first);
  for (int64_t step = 0; step < unrolled; step += depth) {
    operands_t now = ahead ? next : load_operands(s, stage, first);
    first.constant += depth;
    if (ahead && step + depth < unrolled) next = load_operands(s, stage, first);
    if (copies) staged_copies_issue(s, copies, ahead ? copies->count * (step + depth) / unrolled : copies->count);
    multiply(s, &now, acc);
  }
  if (!loop.op) return;
  kernel_for_end(&k->b, &loop, acc, count);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
}

//===----------------------------------------------------------------------------------------------------------------===
// The kernel
//===----------------------------------------------------------------------------------------------------------------===

// Sets how many workgroups there are. Only along x run time tells how many: what is open goes there, columns otherwise.
static void launch(const staged_t* s) {
  const product_t* p = &s->f.product;
  dispatch_t* d = p->d;
  int64_t height = s->sides[PRODUCT_LEFT].size, width = s->sides[PRODUCT_RIGHT].size;
  d->workgroups[0] = p->dynamic ? 1 : ceil_div(p->columns, width);
  d->workgroups[1] = fragments_has_open_rows(p) ? ceil_div(p->columns, width) : ceil_div(p->rows, height);
  d->workgroups[2] = p->batch;
  if (fragments_has_open_rows(p)) dispatch_set_rule(d, &p->row_size, height, INT32_MAX);
  if (fragments_has_open_columns(p)) dispatch_set_rule(d, &p->column_size, width, INT32_MAX);
}

static void find_tile(const staged_t* s, linear_t* out_row, linear_t* out_column) {
  const product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  bool turns = fragments_has_open_rows(p);
  linear_t *first = turns ? out_row : out_column, *second = turns ? out_column : out_row;
  *first =
      fragment_workgroup(k, 0, p->dynamic ? FRAGMENT_MAX_OPEN / s->sides[turns ? 0 : 1].size : p->d->workgroups[0]);
  *second = fragment_workgroup(k, 1, p->d->workgroups[1]);
}

// Whether the tile has anything: there may be no rows or columns at all.
static ir_value_t* tile_exists(staged_t* s) {
  return fragments_has_open_rows(&s->f.product) ? fragments_row_exists(&s->f, &s->sides[PRODUCT_LEFT].first)
                                                : fragments_column_exists(&s->f, &s->sides[PRODUCT_RIGHT].first);
}

static void find_places(staged_t* s) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  const mma_row_t* row = s->f.row;
  team_t team = team_begin(p->d, staged_threads(s));
  linear_t down, across, wave;
  linear_divide(k, team.thread, staged_slice_threads(s), &s->slice, &s->slice_thread);
  linear_divide(k, team.number, s->waves_down * s->waves_across, &s->slice, &wave);
  linear_divide(k, wave, s->waves_across, &down, &across);
  fragments_set_lane(&s->f, team.lane);
  s->wave_row = linear_scale(k, down, s->down * row->m);
  s->wave_column = linear_scale(k, across, s->across * row->n);
  linear_t tile_row, tile_column;
  find_tile(s, &tile_row, &tile_column);
  s->sides[PRODUCT_LEFT].first = linear_scale(k, tile_row, s->sides[0].size);
  s->sides[PRODUCT_RIGHT].first = linear_scale(k, tile_column, s->sides[1].size);
  p->at_batch = fragment_workgroup(k, 2, p->batch);
  for (int which = 0; which < 2; ++which) {
    staged_side_t* side = &s->sides[which];
    side->memory = kernel_alloc(&k->b, s->f.element, s->stages * side->stage, IR_SPACE_WORKGROUP);
    ir_op_set_attr(k->ctx, side->memory->def, "align", ir_attr_i64(k->ctx, 16));
    staged_find_pieces(s, (product_side_t)which, team.thread);
  }
}

// A tile of loads to its stage, the next tile's loads on their way, where there is one, and the products. `values`:
// sums, then loads.
static void pass_tile(staged_t* s, linear_t at, linear_t stage, bool loads_next, ir_value_t** values,
                      uint32_t fragments) {
  kernel_build_t* k = &s->f.product.d->k;
  staged_store(s, stage, values + fragments);
  team_barrier(k);
  at.constant += 1;
  if (loads_next) staged_load(s, fragment_clamp(k, at, staged_steps(s), 1), values + fragments);
  multiply_tile(s, stage, NULL, values);
  if (s->stages == 1 && loads_next) team_barrier(k);
}

// Through registers. Where the order is ours, the first tile is multiplied before the loop, as sums that begin with
// zero take no registers to be set, and the last one behind it, which then loads no tile in vain.
static void reduce_by_loads(staged_t* s, ir_value_t** acc, uint32_t fragments) {
  enum { LEAST_LOOPED = 2 };
  kernel_build_t* k = &s->f.product.d->k;
  ir_value_t* values[STAGED_MAX_FRAGMENTS + STAGED_MAX_LOADS];
  memcpy(values, acc, sizeof(*acc) * fragments);
  int64_t steps = staged_steps(s), first = s->arranged && steps > LEAST_LOOPED, end = s->arranged ? steps - 1 : steps;
  uint32_t count = fragments + staged_load(s, linear_constant(0), values + fragments);
  if (first) pass_tile(s, linear_constant(0), linear_constant(0), true, values, fragments);
  if (first < end) {
    kernel_loop_t loop = kernel_loop_constant(k, first, end, 1, values, count);
    linear_t at = linear_value(loop.index), half, parity;
    linear_divide(k, at, s->stages, &half, &parity);
    memcpy(values, loop.iters, sizeof(*values) * count);
    pass_tile(s, at, parity, true, values, fragments);
    kernel_for_end(&k->b, &loop, values, count);
    for (uint32_t i = 0; i < count; ++i) values[i] = kernel_loop_result(&loop, i);
  }
  linear_t last = linear_constant(end);
  if (end < steps) pass_tile(s, last, linear_constant(end % s->stages), false, values, fragments);
  memcpy(acc, values, sizeof(*acc) * fragments);
}

// The stage before or behind one, round about.
static linear_t turn_stage(kernel_build_t* k, ir_value_t* stage, int64_t stages, bool back) {
  ir_value_t *end = kernel_index(&k->b, back ? 0 : stages - 1), *begin = kernel_index(&k->b, back ? stages - 1 : 0);
  linear_t next = linear_value(stage);
  next.constant += back ? -1 : 1;
  ir_value_t* is_end = kernel_binary(&k->b, SCALAR_eq, stage, end);
  ir_value_t* result = kernel_ternary(&k->b, SCALAR_select, is_end, begin, linear_scalar(k, &next));
  index_set_facts(k, result, 0, stages - 1, 1);
  return linear_value(result);
}

static void begin_copies(staged_t* s) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t steps = staged_steps(s);
  for (int64_t i = 0; i < s->stages - 1; ++i) {
    staged_copies_t copies = staged_copies_begin(s, linear_constant(i < steps ? i : 0), linear_constant(i), NULL);
    if (i < steps) staged_copies_issue(s, &copies, copies.count);
    ir_build_op(&k->b, KERNEL_ASYNC_COMMIT, NULL, 0, NULL);
  }
}

static void await_tile(staged_t* s) {
  kernel_build_t* k = &s->f.product.d->k;
  team_wait_for_copies(k, s->stages - 2);
  team_barrier(k);
}

// The copies of the step stages - 1 behind `step`, into the stage before `stage`.
static staged_copies_t coming_copies(staged_t* s, ir_value_t* step, ir_value_t* stage) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t steps = staged_steps(s);
  linear_t coming = linear_value(step), freed = turn_stage(k, stage, s->stages, true);
  coming.constant += s->stages - 1;
  ir_value_t* exist = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &coming), kernel_index(&k->b, steps));
  return staged_copies_begin(s, fragment_clamp(k, coming, steps, 1), freed, exist);
}

static void reduce_by_copies(staged_t* s, ir_value_t** acc, uint32_t fragments) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t steps = staged_steps(s);
  begin_copies(s);
  ir_value_t* values[STAGED_MAX_FRAGMENTS + 1];
  memcpy(values, acc, sizeof(*acc) * fragments);
  values[fragments] = kernel_index(&k->b, 0);
  kernel_loop_t loop = kernel_loop_constant(k, 0, steps, 1, values, fragments + 1);
  ir_value_t* stage = loop.iters[fragments];
  index_set_facts(k, stage, 0, s->stages - 1, 1);
  await_tile(s);
  staged_copies_t copies = coming_copies(s, loop.index, stage);
  memcpy(values, loop.iters, sizeof(*values) * fragments);
  multiply_tile(s, linear_value(stage), steps >= s->stages ? &copies : NULL, values);
  ir_build_op(&k->b, KERNEL_ASYNC_COMMIT, NULL, 0, NULL);
  linear_t next = turn_stage(k, stage, s->stages, false);
  values[fragments] = linear_scalar(k, &next);
  kernel_for_end(&k->b, &loop, values, fragments + 1);
  for (uint32_t i = 0; i < fragments; ++i) acc[i] = kernel_loop_result(&loop, i);
}

// The same without a pause between tiles: what the next one begins with is loaded before the last of this one is
// multiplied. `next`: this one's first operands, then the next one's.
static void multiply_joined(staged_t* s, linear_t stage, linear_t next_stage, staged_copies_t* copies, operands_t* next,
                            ir_value_t** acc) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t depth = s->f.row->k, whole = staged_slice_depth(s);
  linear_t first = linear_scale(k, s->slice, whole);
  for (int64_t step = depth; step <= whole; step += depth) {
    operands_t now = *next;
    if (step < whole) {
      linear_t at = first;
      at.constant += step;
      *next = load_operands(s, stage, at);
      staged_copies_issue(s, copies, copies->count * step / (whole - depth));
    } else {
      staged_copies_issue(s, copies, copies->count);
      ir_build_op(&k->b, KERNEL_ASYNC_COMMIT, NULL, 0, NULL);
      await_tile(s);
      *next = load_operands(s, next_stage, first);
    }
    multiply(s, &now, acc);
  }
}

static void reduce_joined(staged_t* s, ir_value_t** acc, uint32_t fragments) {
  kernel_build_t* k = &s->f.product.d->k;
  uint32_t down = (uint32_t)s->down, across = (uint32_t)s->across, count = fragments + down + across + 1;
  ir_value_t *values[STAGED_MAX_FRAGMENTS + STAGED_MAX_DOWN + STAGED_MAX_ACROSS + 1], **a = values + fragments;
  begin_copies(s);
  await_tile(s);
  operands_t next = load_operands(s, linear_constant(0), linear_scale(k, s->slice, staged_slice_depth(s)));
  memcpy(values, acc, sizeof(*acc) * fragments);
  memcpy(a, next.a, sizeof(*a) * down);
  memcpy(a + down, next.b, sizeof(*a) * across);
  values[count - 1] = kernel_index(&k->b, 0);
  kernel_loop_t loop = kernel_loop_constant(k, 0, staged_steps(s), 1, values, count);
  ir_value_t* stage = loop.iters[count - 1];
  index_set_facts(k, stage, 0, s->stages - 1, 1);
  staged_copies_t copies = coming_copies(s, loop.index, stage);
  linear_t next_stage = turn_stage(k, stage, s->stages, false);
  memcpy(values, loop.iters, sizeof(*values) * fragments);
  memcpy(next.a, loop.iters + fragments, sizeof(*a) * down);
  memcpy(next.b, loop.iters + fragments + down, sizeof(*a) * across);
  multiply_joined(s, linear_value(stage), next_stage, &copies, &next, values);
  memcpy(a, next.a, sizeof(*a) * down);
  memcpy(a + down, next.b, sizeof(*a) * across);
  values[count - 1] = linear_scalar(k, &next_stage);
  kernel_for_end(&k->b, &loop, values, count);
  for (uint32_t i = 0; i < fragments; ++i) acc[i] = kernel_loop_result(&loop, i);
}

// With as many tiles as stages or more, so that what the last one loads ahead has been written.
static bool joins_tiles(const staged_t* s) {
  return s->async && s->f.row->instruction && staged_steps(s) >= s->stages &&
         staged_slice_depth(s) / s->f.row->k * staged_fragments(s) <= MOST_UNROLLED;
}

static void reduce(staged_t* s, ir_value_t** acc) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  uint32_t fragments = (uint32_t)(s->down * s->across);
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, s->f.row->c_lanes);
  for (uint32_t i = 0; i < fragments; ++i) acc[i] = kernel_number(&k->b, type, 0);
  if (joins_tiles(s)) {
    reduce_joined(s, acc, fragments);
  } else if (s->async) {
    reduce_by_copies(s, acc, fragments);
  } else {
    reduce_by_loads(s, acc, fragments);
  }
}

void strategy_staged_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  staged_t s;
  bool planned = staged_plan(&s, d);
  assert(planned);
  (void)planned;
  if (d->device->lists_candidates) staged_list_plans(d);
  product_t* p = &s.f.product;
  product_measure(p);
  launch(&s);
  int64_t waves = staged_waves(&s);
  if (waves) ir_op_set_attr(k->ctx, k->func, "waves", ir_attr_i64(k->ctx, waves));
  find_places(&s);
  kernel_branch_t any;
  if (p->dynamic) any = kernel_if_begin(&k->b, tile_exists(&s), NULL, 0);
  ir_value_t* acc[STAGED_MAX_FRAGMENTS];
  reduce(&s, acc);
  staged_sum_begin(&s, acc);
  linear_t row = linear_add(k, s.sides[PRODUCT_LEFT].first, s.wave_row);
  linear_t column = linear_add(k, s.sides[PRODUCT_RIGHT].first, s.wave_column);
  for (int64_t y = 0; y < s.down; ++y, row.constant += s.f.row->m) {
    fragments_store(&s.f, row, column, acc + y * s.across, s.across);
  }
  staged_sum_end(&s);
  if (p->dynamic) kernel_if_end(&k->b, &any, NULL, 0);
}
