// Large products on GPUs, with both operands brought to workgroup memory a tile at a time. Matrix instructions multiply
// where there are any for the types; else each lane does, where the device has no scalar unit to read one side with:
//
//   workgroup (columns, rows, batch): a tile of waves x fragments down and across
//     next = the threads' pieces of the operands' first tiles
//     for step of taps and depth:
//       stage[step % 2] = next;  barrier
//       next = pieces of the step after it                         on their way while this one is computed
//       for k of the tile, step of the instruction:
//         a[y], b[x] = fragments from stage[step % 2];  c[y][x] = mma a[y], b[x], c[y][x]
//     the lanes store what they hold of c[y][x]
//
// So an element is read from memory once by a workgroup, and computed once where a producer is fused. A piece is a
// vector along what lies one after the other in memory, and the stage is laid out so that a fragment's run of elements
// along the depth is one access and neighbouring lanes are in different banks:
//   memory along the depth:   [row or column][depth], 16 bytes between
//   else:                     [depth / run][row or column][run], 32 bytes between; run loads make one store
// Lanes that multiply read four columns at once: those of the right lie side by side ([depth][column]) in any case.
// Past the ends rows and columns repeat the last ones, which are not stored; depth gives zeros.
#include <assert.h>
#include <string.h>

#include "kernels/fragments.h"
#include "kernels/team.h"

enum { MAX_DOWN = 8, MAX_ACROSS = 8, MAX_FRAGMENTS = 32, MAX_PIECES = 16, MAX_LOADS = 64, STAGES = 2 };

typedef struct side_t {
  bool along_depth;       // in workgroup memory
  bool turns;             // loads are along the depth, and their elements stored apart
  int64_t size;           // rows or columns of the tile
  int64_t width;          // elements of a load
  int64_t run;            // loads of a piece
  int64_t pieces;         // of a thread
  int64_t stride, stage;  // elements of workgroup memory: from one row or group to the next, of a stage
  ir_value_t* memory;
  linear_t first;  // row or column of the tile
  linear_t free[MAX_PIECES], depth[MAX_PIECES];
  product_column_t columns[MAX_PIECES];  // of the right
} side_t;

typedef struct staged_t {
  fragments_t f;
  int64_t down, across;              // fragments of a wave
  int64_t waves_down, waves_across;  // of a workgroup
  int64_t depth;                     // of a tile
  side_t sides[2];
  linear_t wave_row, wave_column;  // where the wave begins in the tile
} staged_t;

//===----------------------------------------------------------------------------------------------------------------===
// Choice
//===----------------------------------------------------------------------------------------------------------------===

static int64_t threads_of(const staged_t* s) { return s->f.row->subgroup * s->waves_down * s->waves_across; }

static int64_t tile_depths(const staged_t* s) { return fragment_ceil(s->f.product.depth, s->depth); }

// All places of a fragment's runs begin at multiples of the run.
static bool runs_fit(const fragments_t* f, product_side_t side, int64_t run) {
  const place_t* depths = fragment_depths(f, side);
  for (int32_t i = 0; i < fragment_held(f, side)->count; i += (int32_t)run) {
    if (depths[i].base % run || depths[i].low % run || depths[i].high % run) return false;
  }
  return true;
}

static bool plan_side(staged_t* s, product_side_t which, int64_t size) {
  enum { LOAD_BYTES = 16, STORE_BYTES = 32, SHORT_GAP = 16, LONG_GAP = 32 };
  const product_t* p = &s->f.product;
  side_t* side = &s->sides[which];
  product_along_t along = product_along(p, which);
  int64_t bytes = ir_type_bytes(s->f.element), whole = which == PRODUCT_LEFT ? p->rows : p->columns;
  side->size = size;
  side->turns = along == PRODUCT_ALONG_DEPTH && which == PRODUCT_RIGHT && !s->f.row->instruction;
  side->along_depth = along == PRODUCT_ALONG_DEPTH && !side->turns;
  side->width = LOAD_BYTES / bytes;
  side->run = 1;
  bool deep = along == PRODUCT_ALONG_DEPTH;
  int64_t length = deep ? p->depth : whole, tile = deep ? s->depth : size;
  if (!deep) {
    side->run = fragment_run(&s->f, which);
    if (!runs_fit(&s->f, which, side->run)) side->run = 1;
    if (side->width * side->run * bytes > STORE_BYTES) side->width = STORE_BYTES / (side->run * bytes);
    if (along != PRODUCT_ALONG_ROWS || side->width < 1) side->width = 1;
  }
  while (side->width > 1 && (length % side->width || tile % side->width)) side->width /= 2;
  side->stride = side->along_depth ? s->depth + SHORT_GAP / bytes : size * side->run + LONG_GAP / bytes;
  side->stage = side->along_depth ? size * side->stride : s->depth / side->run * side->stride;
  int64_t pieces = size * s->depth / (side->width * side->run), threads = threads_of(s);
  side->pieces = pieces / threads;
  return s->depth % side->run == 0 && pieces % threads == 0 && side->pieces <= MAX_PIECES &&
         side->pieces * side->run <= MAX_LOADS / 2;
}

// Rough count of a unit's cycles. A step takes what its work does, or as long as its loads and barriers wait where no
// other workgroup of the unit has anything to do meanwhile.
static double plan_cost(const staged_t* s) {
  enum { UNIT_PRODUCTS = 2048, LANE_PRODUCTS = 128, UNIT_BYTES = 40, UNIT_WORKGROUP_BYTES = 128, UNIT_WAVES = 8 };
  enum { WAIT = 1500, MOST_RESIDENT = 2 };
  const product_t* p = &s->f.product;
  const mma_row_t* row = s->f.row;
  double bytes = ir_type_bytes(s->f.element), rows = (double)s->sides[0].size, columns = (double)s->sides[1].size;
  double waves = (double)(s->waves_down * s->waves_across), depth = (double)s->depth;
  double groups = (double)p->batch * (double)fragment_ceil(p->rows, s->sides[0].size) *
                  (double)fragment_ceil(p->columns, s->sides[1].size);
  double per_unit = groups / p->d->device->compute_units;
  double resident = per_unit < 1 ? 1 : per_unit > MOST_RESIDENT ? MOST_RESIDENT : per_unit;
  double compute = rows * columns * depth / (row->instruction ? UNIT_PRODUCTS / bytes : LANE_PRODUCTS);
  double held = (double)(s->down * row->a_lanes + s->across * row->b_lanes) * bytes * row->subgroup;
  double fragments = waves * depth / row->k * held / UNIT_WORKGROUP_BYTES;
  double memory = (rows + columns) * depth * bytes / UNIT_BYTES;
  double step = compute > fragments ? compute : fragments;
  if (waves * resident < UNIT_WAVES) step *= UNIT_WAVES / (waves * resident);
  if (step < memory) step = memory;
  if (step < (WAIT + step) / resident) step = (WAIT + step) / resident;
  double steps = (double)(p->taps * tile_depths(s)) + 4;
  return (double)(int64_t)(per_unit + 0.999) * (step * steps + rows * columns / waves / 8);
}

static bool plan_tile(staged_t* s) {
  const dispatch_t* d = s->f.product.d;
  const mma_row_t* row = s->f.row;
  bool has_room = d->device->registers_per_thread >= 255 && row->instruction && !epilogue_is_long(d);
  int64_t held = s->down * s->across * row->c_lanes, most = has_room ? 128 : 64;
  if (s->down * s->across > MAX_FRAGMENTS || held > most || threads_of(s) > d->device->max_workgroup_size) return false;
  int64_t rows = s->down * s->waves_down * row->m, columns = s->across * s->waves_across * row->n;
  if (!plan_side(s, PRODUCT_LEFT, rows) || !plan_side(s, PRODUCT_RIGHT, columns)) return false;
  int64_t bytes = STAGES * (s->sides[0].stage + s->sides[1].stage) * ir_type_bytes(s->f.element);
  return bytes <= d->device->workgroup_memory_bytes && fragment_ceil(s->f.product.rows, rows) <= FRAGMENT_MAX_GRID;
}

// Tiles of one instruction and depth.
static void plan_tiles(staged_t* s, staged_t* best, double* least) {
  static const uint8_t waves[][2] = {{1, 2}, {2, 1}, {2, 2}, {1, 4}, {4, 1}, {2, 4}, {4, 2}};
  for (size_t w = 0; w < sizeof(waves) / sizeof(waves[0]); ++w) {
    s->waves_down = waves[w][0], s->waves_across = waves[w][1];
    for (s->down = 1; s->down <= MAX_DOWN; s->down *= 2) {
      for (s->across = 1; s->across <= MAX_ACROSS; s->across *= 2) {
        if (!plan_tile(s)) continue;
        double cost = plan_cost(s);
        if (*least > 0 && cost >= *least) continue;
        *least = cost;
        *best = *s;
      }
    }
  }
}

static void plan_depths(staged_t* s, staged_t* best, double* least) {
  int64_t bytes = ir_type_bytes(s->f.element);
  int64_t padded = fragment_ceil(s->f.product.depth, s->f.row->k) * s->f.row->k;
  for (int64_t row_bytes = 32; row_bytes <= 256; row_bytes *= 2) {
    s->depth = row_bytes / bytes;
    if (s->depth && s->depth % s->f.row->k == 0 && s->depth <= padded) plan_tiles(s, best, least);
  }
}

static bool prepare(staged_t* s, dispatch_t* d) {
  enum { LEAST_SIZE = 32, LEAST_DEPTH = 64 };
  memset(s, 0, sizeof(*s));
  if (!fragments_read(&s->f, d)) return false;
  const product_t* p = &s->f.product;
  if (p->batch > FRAGMENT_MAX_GRID || p->rows < LEAST_SIZE || p->columns < LEAST_SIZE) return false;
  if (p->taps * p->depth < LEAST_DEPTH) return false;
  staged_t best = {0};
  double least = 0;
  for (int32_t i = 0; i < d->device->mma_count; ++i) {
    if (fragments_take(&s->f, &d->device->mma[i])) plan_depths(s, &best, &least);
  }
  if (least == 0 && !d->device->has_scalar_unit && fragments_take_lanes(&s->f)) plan_depths(s, &best, &least);
  *s = best;
  return least > 0;
}

bool strategy_staged_matches(const dispatch_t* d) {
  staged_t s;
  return prepare(&s, (dispatch_t*)d);
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory to registers
//===----------------------------------------------------------------------------------------------------------------===

// `at`, or where the last `width` elements begin; both are multiples of the width.
static linear_t clamp_wide(kernel_build_t* k, linear_t at, int64_t size, int64_t width) {
  int64_t min, max;
  linear_range(k, &at, &min, &max);
  if (max <= size - width) return at;
  ir_value_t* last = kernel_index(&k->b, size - width);
  ir_value_t* value = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &at), last);
  index_set_facts(k, value, 0, size - width, width);
  return linear_value(value);
}

// Where this thread's pieces are: in the tile, and of the operand.
static void find_pieces(staged_t* s, product_side_t which, linear_t thread) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  side_t* side = &s->sides[which];
  bool deep = side->along_depth || side->turns;
  int64_t inner = deep ? s->depth / side->width : side->size / side->width, threads = threads_of(s);
  for (int64_t i = 0; i < side->pieces; ++i) {
    linear_t number = thread, high, low;
    number.constant += i * threads;
    linear_divide(k, number, inner, &high, &low);
    side->free[i] = deep ? high : linear_scale(k, low, side->width);
    side->depth[i] = deep ? linear_scale(k, low, side->width) : linear_scale(k, high, side->run);
    if (which == PRODUCT_LEFT) continue;
    linear_t column = linear_add(k, side->first, side->free[i]);
    column = clamp_wide(k, column, p->columns, deep ? 1 : side->width);
    side->columns[i] = product_column(p, column);
    if (!deep) side->columns[i].column.lane = side->width > 1;
  }
}

static ir_value_t* load_element(staged_t* s, product_side_t which, int64_t piece, const product_tap_t* tap,
                                linear_t depth) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  side_t* side = &s->sides[which];
  bool deep = side->along_depth || side->turns;
  ir_value_t* exists = fragment_below(k, &depth, p->depth);
  linear_t safe = clamp_wide(k, depth, p->depth, deep ? side->width : 1);
  if (deep) safe.lane = side->width > 1;
  ir_value_t* value;
  k->lanes = side->width;
  if (which == PRODUCT_LEFT) {
    linear_t row = linear_add(k, side->first, side->free[piece]);
    row = clamp_wide(k, row, p->rows, deep ? 1 : side->width);
    if (!deep) row.lane = side->width > 1;
    value = product_left(p, row, tap, safe);
  } else {
    product_point_t point = product_point(p, &side->columns[piece], tap);
    value = product_right(p, &side->columns[piece], &point, safe);
  }
  k->lanes = 1;
  value = kernel_splat(&k->b, value, kernel_lanes(value) == 1 ? side->width : 1);
  if (!exists) return value;
  return kernel_ternary(&k->b, SCALAR_select, kernel_splat(&k->b, exists, side->width), value,
                        kernel_number(&k->b, value->type, 0));
}

// All loads of this thread for a step, in order.
static uint32_t load_step(staged_t* s, linear_t step, ir_value_t** out) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  linear_t tap_number = linear_constant(0), tile = step;
  if (p->taps > 1) linear_divide(k, step, tile_depths(s), &tap_number, &tile);
  product_tap_t tap = product_tap(p, tap_number);
  linear_t first = linear_scale(k, tile, s->depth);
  uint32_t count = 0;
  for (int which = 0; which < 2; ++which) {
    const side_t* side = &s->sides[which];
    for (int64_t i = 0; i < side->pieces; ++i) {
      for (int64_t r = 0; r < side->run; ++r) {
        linear_t depth = linear_add(k, first, side->depth[i]);
        depth.constant += r;
        out[count++] = load_element(s, (product_side_t)which, i, &tap, depth);
      }
    }
  }
  return count;
}

//===----------------------------------------------------------------------------------------------------------------===
// Registers to workgroup memory, and fragments from there
//===----------------------------------------------------------------------------------------------------------------===

// The loads of a piece, element by element in turn.
static ir_value_t* interleave(kernel_build_t* k, const side_t* side, ir_value_t* const* loads) {
  if (side->run == 1) return loads[0];
  const ir_type_t* type = kernel_vector_type(k->ctx, ir_type_scalar(loads[0]->type), side->width * side->run);
  ir_value_t* result = kernel_number(&k->b, type, 0);
  for (int64_t j = 0; j < side->width; ++j) {
    for (int64_t r = 0; r < side->run; ++r) {
      ir_value_t* one = side->width > 1 ? kernel_extract(&k->b, loads[r], j) : loads[r];
      result = fragment_insert(k, result, one, j * side->run + r);
    }
  }
  return result;
}

static void store_piece(staged_t* s, const side_t* side, linear_t at, ir_value_t* const* loads) {
  kernel_build_t* k = &s->f.product.d->k;
  for (int64_t j = 0; side->turns && side->width > 1 && j < side->width; ++j, at.constant += side->stride) {
    kernel_store(&k->b, kernel_extract(&k->b, loads[0], j), side->memory, linear_scalar(k, &at));
  }
  if (side->turns && side->width > 1) return;
  ir_op_t* store = kernel_store(&k->b, interleave(k, side, loads), side->memory, linear_scalar(k, &at));
  eval_set_alignment(k, store, s->f.element, &at);
}

static void store_step(staged_t* s, const linear_t* parity, ir_value_t* const* loads) {
  kernel_build_t* k = &s->f.product.d->k;
  for (int which = 0; which < 2; ++which) {
    const side_t* side = &s->sides[which];
    for (int64_t i = 0; i < side->pieces; ++i, loads += side->run) {
      linear_t major = side->along_depth ? side->free[i] : side->depth[i], minor = side->depth[i], rest;
      if (!side->along_depth) {
        linear_divide(k, side->depth[i], side->run, &major, &rest);
        minor = linear_scale(k, side->free[i], side->run);
      }
      linear_t at = linear_add(k, linear_scale(k, *parity, side->stage), linear_scale(k, major, side->stride));
      at = linear_add(k, at, minor);
      store_piece(s, side, at, loads);
    }
  }
}

// Where element i of a fragment is in workgroup memory, of the tile at its first element of the depth.
static linear_t fragment_place(staged_t* s, product_side_t which, linear_t first, linear_t step, int32_t i) {
  kernel_build_t* k = &s->f.product.d->k;
  const side_t* side = &s->sides[which];
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

static ir_value_t* load_fragment(staged_t* s, product_side_t which, const linear_t* parity, linear_t first,
                                 linear_t step) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  const side_t* side = &s->sides[which];
  const held_t* held = fragment_held(&s->f, which);
  int32_t run = side->along_depth ? fragment_run(&s->f, which) : (int32_t)side->run;
  if (!side->along_depth && run == 1) run = fragment_free_run(&s->f, which);
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, s->f.element, held->count), 0);
  for (int32_t i = 0; i < held->count; i += run) {
    linear_t at = fragment_place(s, which, first, step, i);
    at = linear_add(k, linear_scale(k, *parity, side->stage), at);
    ir_value_t* value = kernel_load(&k->b, side->memory, linear_scalar(k, &at), run);
    eval_set_alignment(k, value->def, s->f.element, &at);
    if (run == held->count) result = value;
    for (int32_t j = 0; run < held->count && j < run; ++j) {
      result = fragment_insert(k, result, run > 1 ? kernel_extract(&k->b, value, j) : value, i + j);
    }
  }
  return s->f.row->instruction ? result : product_widen(p, which, result);
}

static void multiply_at(staged_t* s, const linear_t* parity, linear_t step, ir_value_t** acc) {
  const mma_row_t* row = s->f.row;
  ir_value_t *a[MAX_DOWN], *b[MAX_ACROSS];
  for (int64_t y = 0; y < s->down; ++y) {
    linear_t first = s->wave_row;
    first.constant += y * row->m;
    a[y] = load_fragment(s, PRODUCT_LEFT, parity, first, step);
  }
  for (int64_t x = 0; x < s->across; ++x) {
    linear_t first = s->wave_column;
    first.constant += x * row->n;
    b[x] = load_fragment(s, PRODUCT_RIGHT, parity, first, step);
  }
  for (int64_t y = 0; y < s->down; ++y) {
    for (int64_t x = 0; x < s->across; ++x) {
      ir_value_t** slot = &acc[y * s->across + x];
      *slot = fragment_multiply_add(&s->f, a[y], b[x], *slot);
    }
  }
}

// A tile's depth, in a loop where that is many steps.
static void multiply_tile(staged_t* s, const linear_t* parity, ir_value_t** acc) {
  enum { MOST_UNROLLED = 256 };  // multiplications
  kernel_build_t* k = &s->f.product.d->k;
  uint32_t count = (uint32_t)(s->down * s->across);
  int64_t depth = s->f.row->k, unrolled = s->depth;
  while (unrolled > 4 * depth && unrolled / depth * count > MOST_UNROLLED && unrolled % 2 == 0) unrolled /= 2;
  kernel_loop_t loop = {0};
  linear_t first = linear_constant(0);
  if (unrolled < s->depth) {
    loop = kernel_loop_constant(k, 0, s->depth, unrolled, acc, count);
    first = linear_value(loop.index);
    memcpy(acc, loop.iters, sizeof(*acc) * count);
  }
  for (int64_t step = 0; step < unrolled; step += depth, first.constant += depth) multiply_at(s, parity, first, acc);
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
  team_t team = team_begin(p->d, threads_of(s));
  linear_t down, across;
  linear_divide(k, team.number, s->waves_across, &down, &across);
  linear_divide(k, team.lane, s->f.split, &s->f.high, &s->f.low);
  s->wave_row = linear_scale(k, down, s->down * row->m);
  s->wave_column = linear_scale(k, across, s->across * row->n);
  s->sides[PRODUCT_LEFT].first = linear_scale(k, fragment_workgroup(k, 1, p->d->workgroups[1]), s->sides[0].size);
  s->sides[PRODUCT_RIGHT].first = linear_scale(k, fragment_workgroup(k, 0, p->d->workgroups[0]), s->sides[1].size);
  p->at_batch = fragment_workgroup(k, 2, p->batch);
  for (int which = 0; which < 2; ++which) {
    side_t* side = &s->sides[which];
    side->memory = kernel_alloc(&k->b, s->f.element, STAGES * side->stage, IR_SPACE_WORKGROUP);
    ir_op_set_attr(k->ctx, side->memory->def, "align", ir_attr_i64(k->ctx, 16));
    find_pieces(s, (product_side_t)which, team.thread);
  }
}

static void reduce(staged_t* s, ir_value_t** acc) {
  product_t* p = &s->f.product;
  kernel_build_t* k = &p->d->k;
  uint32_t fragments = (uint32_t)(s->down * s->across);
  int64_t steps = p->taps * tile_depths(s);
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, s->f.row->c_lanes);
  ir_value_t* values[MAX_FRAGMENTS + MAX_LOADS];
  for (uint32_t i = 0; i < fragments; ++i) values[i] = kernel_number(&k->b, type, 0);
  uint32_t count = fragments + load_step(s, linear_constant(0), values + fragments);
  kernel_loop_t loop = kernel_loop_constant(k, 0, steps, 1, values, count);
  linear_t at = linear_value(loop.index), half, parity;
  linear_divide(k, at, STAGES, &half, &parity);
  store_step(s, &parity, loop.iters + fragments);
  team_barrier(k);
  at.constant += 1;
  load_step(s, clamp_wide(k, at, steps, 1), values + fragments);
  memcpy(values, loop.iters, sizeof(*values) * fragments);
  multiply_tile(s, &parity, values);
  kernel_for_end(&k->b, &loop, values, count);
  for (uint32_t i = 0; i < fragments; ++i) acc[i] = kernel_loop_result(&loop, i);
}

void strategy_staged_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  staged_t s;
  bool prepared = prepare(&s, d);
  assert(prepared);
  (void)prepared;
  const product_t* p = &s.f.product;
  d->workgroups[0] = fragment_ceil(p->columns, s.sides[PRODUCT_RIGHT].size);
  d->workgroups[1] = fragment_ceil(p->rows, s.sides[PRODUCT_LEFT].size);
  d->workgroups[2] = p->batch;
  find_places(&s);
  ir_value_t* acc[MAX_FRAGMENTS];
  reduce(&s, acc);
  for (int64_t y = 0; y < s.down; ++y) {
    for (int64_t x = 0; x < s.across; ++x) {
      linear_t row = linear_add(k, s.sides[PRODUCT_LEFT].first, s.wave_row);
      linear_t column = linear_add(k, s.sides[PRODUCT_RIGHT].first, s.wave_column);
      row.constant += y * s.f.row->m;
      column.constant += x * s.f.row->n;
      for (int32_t i = 0; i < s.f.c.count; ++i) {
        fragment_store(&s.f, row, fragment_at(&s.f, column, &s.f.c.column[i]), acc[y * s.across + x], i);
      }
    }
  }
}
