// Large products on GPUs, with both operands brought to workgroup memory a tile at a time. Matrix instructions multiply
// where there are any for the types; else each lane does, where the device has no scalar unit to read one side with.
// A workgroup (columns, rows, batch) has a tile of waves x fragments down and across. With asynchronous copies, several
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
// Where an operand is computed, or its elements do not lie so that they can be copied, both go through registers:
//
//   next = the threads' pieces of the operands' first tiles
//   for step of taps and depth:
//     stage[step % 2] = next;  barrier
//     next = pieces of the step after it                         on their way while this one is computed
//     multiply as above
//
// So an element is read from memory once by a workgroup, and computed once where a producer is fused. A piece is a
// vector along what lies one after the other in memory, and the stage is laid out so that a fragment's run of elements
// along the depth is one access and neighbouring lanes are in different banks:
//   memory along the depth:   [row or column][depth], 16 bytes between
//   else:                     [depth / run][row or column][run], 32 bytes between; run loads make one store
// kernel.load_matrix, where the device has it, loads fragments from the first, and transposed from the second with a
// run of one, 16 bytes between. Lanes that multiply read four columns at once: those of the right lie side by side
// ([depth][column]) in any case. Past the ends rows and columns repeat the last ones, which are not stored; depth gives
// zeros.
#include "kernels/staged.h"

#include <assert.h>
#include <string.h>

#include "kernels/team.h"

bool strategy_staged_matches(const dispatch_t* d) {
  staged_t s;
  return staged_plan(&s, (dispatch_t*)d);
}

//===----------------------------------------------------------------------------------------------------------------===
// Fragments
//===----------------------------------------------------------------------------------------------------------------===

// Where element i of a fragment is in workgroup memory, of the tile at its first element of the depth.
static linear_t fragment_place(staged_t* s, product_side_t which, linear_t first, linear_t step, int32_t i) {
  kernel_build_t* k = &s->f.product.d->k;
  const staged_side_t* side = &s->sides[which];
  place_t place = fragment_depths(&s->f, which)[i];
  linear_t free = fragment_at(&s->f, first, &fragment_frees(&s->f, which)[i]);
  if (side->along_depth) return linear_add(k, linear_scale(k, free, side->stride), fragment_at(&s->f, step, &place));
  int32_t run = (int32_t)side->run;
  place = (place_t){place.base / run, place.low / run, place.high / run};
  linear_t group, rest;
  linear_divide(k, step, run, &group, &rest);
  group = fragment_at(&s->f, group, &place);
  return linear_add(k, linear_scale(k, group, side->stride), linear_scale(k, free, run));
}

static ir_value_t* load_runs(staged_t* s, product_side_t which, linear_t stage, linear_t first, linear_t step) {
  kernel_build_t* k = &s->f.product.d->k;
  const staged_side_t* side = &s->sides[which];
  const held_t* held = fragment_held(&s->f, which);
  int32_t run = side->along_depth ? fragment_run(&s->f, which) : (int32_t)side->run;
  if (!side->along_depth && run == 1) run = fragment_free_run(&s->f, which);
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, s->f.element, held->count), 0);
  for (int32_t i = 0; i < held->count; i += run) {
    linear_t at = fragment_place(s, which, first, step, i);
    at = linear_add(k, linear_scale(k, stage, side->stage), at);
    ir_value_t* value = kernel_load(&k->b, side->memory, linear_scalar(k, &at), run);
    eval_set_alignment(k, value->def, s->f.element, &at);
    if (run == held->count) result = value;
    for (int32_t j = 0; run < held->count && j < run; ++j) {
      result = kernel_insert(&k->b, result, run > 1 ? kernel_extract(&k->b, value, j) : value, i + j);
    }
  }
  return s->f.row->instruction ? result : product_widen(&s->f.product, which, result);
}

// Matrix number m of a side's fragments, one fragment after the other: where it begins.
typedef struct corner_t {
  int64_t free, depth;
} corner_t;
static corner_t matrix_corner(const staged_t* s, product_side_t which, int64_t m) {
  int64_t each = s->sides[which].matrices, size = which == PRODUCT_LEFT ? s->f.row->m : s->f.row->n;
  int32_t element = (int32_t)(m % each * (4 / (int64_t)ir_type_bytes(s->f.element)));
  return (corner_t){m / each * size + fragment_frees(&s->f, which)[element].base,
                    fragment_depths(&s->f, which)[element].base};
}

// `unit` matrices from number m on: each lane says where one row of one of them begins. Their corners make a
// parallelogram, so that two bits of the lane say where.
static ir_value_t* load_matrices(staged_t* s, product_side_t which, linear_t stage, linear_t first, linear_t step,
                                 int64_t m, int64_t unit) {
  kernel_build_t* k = &s->f.product.d->k;
  const staged_side_t* side = &s->sides[which];
  corner_t corner = matrix_corner(s, which, m);
  linear_t free = first, depth = step;
  free.constant += corner.free, depth.constant += corner.depth;
  for (int bit = 0; 1 << bit < unit; ++bit) {
    corner_t other = matrix_corner(s, which, m + (1 << bit));
    free = linear_add(k, free, linear_scale(k, s->matrix_bits[bit], other.free - corner.free));
    depth = linear_add(k, depth, linear_scale(k, s->matrix_bits[bit], other.depth - corner.depth));
  }
  if (side->along_depth) {
    free = linear_add(k, free, s->matrix_row);
  } else {
    depth = linear_add(k, depth, s->matrix_row);
  }
  linear_t at =
      linear_add(k, linear_scale(k, side->along_depth ? free : depth, side->stride), side->along_depth ? depth : free);
  at = linear_add(k, linear_scale(k, stage, side->stage), at);
  ir_value_t* operands[] = {side->memory, linear_scalar(k, &at)};
  int64_t lanes = unit * 4 / (int64_t)ir_type_bytes(s->f.element);
  ir_value_t* value =
      ir_build_value(&k->b, KERNEL_LOAD_MATRIX, operands, 2, kernel_vector_type(k->ctx, s->f.element, lanes));
  ir_op_set_attr(k->ctx, value->def, "count", ir_attr_i64(k->ctx, unit));
  if (!side->along_depth) ir_op_set_attr(k->ctx, value->def, "transpose", ir_attr_unit(k->ctx));
  return value;
}

// Four corners, the last of which is where the two others lead to.
static bool is_parallelogram(const staged_t* s, product_side_t which, int64_t m) {
  corner_t a = matrix_corner(s, which, m), b = matrix_corner(s, which, m + 1), c = matrix_corner(s, which, m + 2);
  corner_t d = matrix_corner(s, which, m + 3);
  return d.free - c.free == b.free - a.free && d.depth - c.depth == b.depth - a.depth;
}

// All fragments of a side at a step by matrices: as many at a time as one instruction loads.
static void load_by_matrices(staged_t* s, product_side_t which, linear_t stage, linear_t first, linear_t step,
                             ir_value_t** out) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t count = which == PRODUCT_LEFT ? s->down : s->across, each = s->sides[which].matrices, total = count * each;
  int64_t held = fragment_held(&s->f, which)->count;
  const ir_type_t* type = kernel_vector_type(k->ctx, s->f.element, held);
  for (int64_t i = 0; i < count; ++i) out[i] = kernel_number(&k->b, type, 0);
  for (int64_t m = 0, unit; m < total; m += unit) {
    unit = total - m >= 4 && is_parallelogram(s, which, m) ? 4 : total - m >= 2 ? 2 : 1;
    ir_value_t* value = load_matrices(s, which, stage, first, step, m, unit);
    int64_t lanes = kernel_lanes(value), from = m * held / each;
    for (int64_t i = 0; i < lanes; ++i) {
      ir_value_t** fragment = &out[(from + i) / held];
      ir_value_t* one = lanes > 1 ? kernel_extract(&k->b, value, i) : value;
      *fragment = lanes == held ? value : kernel_insert(&k->b, *fragment, one, (from + i) % held);
    }
  }
}

static void load_fragments(staged_t* s, product_side_t which, linear_t stage, linear_t step, ir_value_t** out) {
  bool left = which == PRODUCT_LEFT;
  linear_t first = left ? s->wave_row : s->wave_column;
  if (s->sides[which].matrices) {
    load_by_matrices(s, which, stage, first, step, out);
    return;
  }
  for (int64_t i = 0; i < (left ? s->down : s->across); ++i, first.constant += left ? s->f.row->m : s->f.row->n) {
    out[i] = load_runs(s, which, stage, first, step);
  }
}

// What a wave multiplies at a step of the depth.
typedef struct operands_t {
  ir_value_t *a[STAGED_MAX_DOWN], *b[STAGED_MAX_ACROSS];
} operands_t;

static operands_t load_operands(staged_t* s, linear_t stage, linear_t step) {
  operands_t out = {0};
  load_fragments(s, PRODUCT_LEFT, stage, step, out.a);
  load_fragments(s, PRODUCT_RIGHT, stage, step, out.b);
  return out;
}

static void multiply(staged_t* s, const operands_t* o, ir_value_t** acc) {
  for (int64_t y = 0; y < s->down; ++y) {
    for (int64_t x = 0; x < s->across; ++x) {
      ir_value_t** slot = &acc[y * s->across + x];
      *slot = fragment_multiply_add(&s->f, o->a[y], o->b[x], *slot);
    }
  }
}

// A tile's depth, in a loop where that is many steps, and copies to another stage (or NULL) among it, so that they do
// not all wait for each other at one time.
static void multiply_tile(staged_t* s, linear_t stage, staged_copies_t* copies, ir_value_t** acc) {
  enum { MOST_UNROLLED = 256 };  // multiplications
  kernel_build_t* k = &s->f.product.d->k;
  uint32_t count = (uint32_t)(s->down * s->across);
  int64_t depth = s->f.row->k, unrolled = s->depth;
  while (unrolled > 4 * depth && unrolled / depth * count > MOST_UNROLLED && unrolled % 2 == 0) unrolled /= 2;
  kernel_loop_t loop = {0};
  linear_t first = linear_constant(0);
  if (unrolled < s->depth) {
    if (copies) staged_copies_issue(s, copies, copies->count);
    loop = kernel_loop_constant(k, 0, s->depth, unrolled, acc, count);
    first = linear_value(loop.index);
    memcpy(acc, loop.iters, sizeof(*acc) * count);
  }
  // Matrices are loaded a step ahead, so that they are there when they are multiplied.
  bool ahead = s->f.row->instruction != NULL;
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

static void find_places(staged_t* s) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  const mma_row_t* row = s->f.row;
  team_t team = team_begin(p->d, staged_threads(s));
  linear_t down, across, matrix;
  linear_divide(k, team.number, s->waves_across, &down, &across);
  linear_divide(k, team.lane, s->f.split, &s->f.high, &s->f.low);
  linear_divide(k, team.lane, 8, &matrix, &s->matrix_row);
  linear_divide(k, matrix, 2, &s->matrix_bits[1], &s->matrix_bits[0]);
  s->wave_row = linear_scale(k, down, s->down * row->m);
  s->wave_column = linear_scale(k, across, s->across * row->n);
  s->sides[PRODUCT_LEFT].first = linear_scale(k, fragment_workgroup(k, 1, p->d->workgroups[1]), s->sides[0].size);
  s->sides[PRODUCT_RIGHT].first = linear_scale(k, fragment_workgroup(k, 0, p->d->workgroups[0]), s->sides[1].size);
  p->at_batch = fragment_workgroup(k, 2, p->batch);
  for (int which = 0; which < 2; ++which) {
    staged_side_t* side = &s->sides[which];
    side->memory = kernel_alloc(&k->b, s->f.element, s->stages * side->stage, IR_SPACE_WORKGROUP);
    ir_op_set_attr(k->ctx, side->memory->def, "align", ir_attr_i64(k->ctx, 16));
    staged_find_pieces(s, (product_side_t)which, team.thread);
  }
}

// Through registers.
static void reduce_by_loads(staged_t* s, ir_value_t** acc, uint32_t fragments) {
  kernel_build_t* k = &s->f.product.d->k;
  ir_value_t* values[STAGED_MAX_FRAGMENTS + STAGED_MAX_LOADS];
  memcpy(values, acc, sizeof(*acc) * fragments);
  int64_t steps = staged_steps(s);
  uint32_t count = fragments + staged_load(s, linear_constant(0), values + fragments);
  kernel_loop_t loop = kernel_loop_constant(k, 0, steps, 1, values, count);
  linear_t at = linear_value(loop.index), half, parity;
  linear_divide(k, at, s->stages, &half, &parity);
  staged_store(s, parity, loop.iters + fragments);
  team_barrier(k);
  at.constant += 1;
  staged_load(s, fragment_clamp(k, at, steps, 1), values + fragments);
  memcpy(values, loop.iters, sizeof(*values) * fragments);
  multiply_tile(s, parity, NULL, values);
  kernel_for_end(&k->b, &loop, values, count);
  for (uint32_t i = 0; i < fragments; ++i) acc[i] = kernel_loop_result(&loop, i);
}

static void wait_for_copies(kernel_build_t* k, int64_t pending) {
  ir_op_t* wait = ir_build_op(&k->b, KERNEL_ASYNC_WAIT, NULL, 0, NULL);
  ir_op_set_attr(k->ctx, wait, "pending", ir_attr_i64(k->ctx, pending));
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

static void reduce_by_copies(staged_t* s, ir_value_t** acc, uint32_t fragments) {
  kernel_build_t* k = &s->f.product.d->k;
  int64_t steps = staged_steps(s), ahead = s->stages - 1;
  for (int64_t i = 0; i < ahead; ++i) {
    staged_copies_t copies = staged_copies_begin(s, linear_constant(i < steps ? i : 0), linear_constant(i), NULL);
    if (i < steps) staged_copies_issue(s, &copies, copies.count);
    ir_build_op(&k->b, KERNEL_ASYNC_COMMIT, NULL, 0, NULL);
  }
  ir_value_t* values[STAGED_MAX_FRAGMENTS + 1];
  memcpy(values, acc, sizeof(*acc) * fragments);
  values[fragments] = kernel_index(&k->b, 0);
  kernel_loop_t loop = kernel_loop_constant(k, 0, steps, 1, values, fragments + 1);
  ir_value_t* stage = loop.iters[fragments];
  index_set_facts(k, stage, 0, s->stages - 1, 1);
  wait_for_copies(k, ahead - 1);
  team_barrier(k);
  linear_t coming = linear_value(loop.index), freed = turn_stage(k, stage, s->stages, true);
  coming.constant += ahead;
  ir_value_t* exist = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &coming), kernel_index(&k->b, steps));
  staged_copies_t copies = staged_copies_begin(s, fragment_clamp(k, coming, steps, 1), freed, exist);
  memcpy(values, loop.iters, sizeof(*values) * fragments);
  multiply_tile(s, linear_value(stage), steps > ahead ? &copies : NULL, values);
  ir_build_op(&k->b, KERNEL_ASYNC_COMMIT, NULL, 0, NULL);
  linear_t next = turn_stage(k, stage, s->stages, false);
  values[fragments] = linear_scalar(k, &next);
  kernel_for_end(&k->b, &loop, values, fragments + 1);
  for (uint32_t i = 0; i < fragments; ++i) acc[i] = kernel_loop_result(&loop, i);
}

static void reduce(staged_t* s, ir_value_t** acc) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  uint32_t fragments = (uint32_t)(s->down * s->across);
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, s->f.row->c_lanes);
  for (uint32_t i = 0; i < fragments; ++i) acc[i] = kernel_number(&k->b, type, 0);
  if (s->async) {
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
  const product_t* p = &s.f.product;
  d->workgroups[0] = fragment_ceil(p->columns, s.sides[PRODUCT_RIGHT].size);
  d->workgroups[1] = fragment_ceil(p->rows, s.sides[PRODUCT_LEFT].size);
  d->workgroups[2] = p->batch;
  find_places(&s);
  ir_value_t* acc[STAGED_MAX_FRAGMENTS];
  reduce(&s, acc);
  int32_t run = fragment_result_run(&s.f);
  for (int64_t y = 0; y < s.down; ++y) {
    for (int64_t x = 0; x < s.across; ++x) {
      linear_t row = linear_add(k, s.sides[PRODUCT_LEFT].first, s.wave_row);
      linear_t column = linear_add(k, s.sides[PRODUCT_RIGHT].first, s.wave_column);
      row.constant += y * s.f.row->m;
      column.constant += x * s.f.row->n;
      for (int32_t i = 0; i < s.f.c.count; i += run) {
        linear_t at = fragment_at(&s.f, column, &s.f.c.column[i]);
        fragment_store(&s.f, row, at, acc[y * s.across + x], i, run);
      }
    }
  }
}
