// Products on GPUs by register tiles: a thread makes a few rows of a few columns.
//
//   workgroup (columns, rows, batch):
//     for tap: where the columns' windows are in the image
//       for depth, unrolled:  a[r] = left[row + r][depth]          the same in all threads: scalar loads
//                             b[c] = right[depth][column + c * T]  neighbours in neighbouring threads
//                             acc[r][c] += a[r] * b[c]
// Neither barriers nor workgroup memory: it fits every device and every size. The shape of the tile is the cheapest by
// a count of instructions (plan_cost). Where sizes are known at run time only, workgroups take tiles by number, one
// after the other as long as there are any.
#include <assert.h>
#include <string.h>

#include "kernels/fragments.h"

enum { MAX_ROWS = 16, MAX_COLUMNS = 4, MAX_ACCUMULATORS = 64, MAX_UNROLL = 4, MAX_GRID = 65535 };
// Reductions with at most so many left elements need no loops; more would not fit registers.
enum { STEPS_AT_ONCE = 64 };

typedef struct tile_t {
  product_t product;
  int64_t threads, rows, columns;  // of a workgroup; per thread
  product_along_t along;
  int64_t unroll;  // of the depth
  bool at_once;    // no loops at all
  linear_t row;    // first of the workgroup
  product_column_t at[MAX_COLUMNS];
  ir_value_t* inside[MAX_COLUMNS];  // i1: the column exists; NULL: always
} tile_t;

//===----------------------------------------------------------------------------------------------------------------===
// The shape
//===----------------------------------------------------------------------------------------------------------------===

// Instructions of all waves; machines with many units need many waves.
static double plan_cost(const tile_t* t, const device_info_t* device) {
  const product_t* p = &t->product;
  int64_t wave = device->subgroup_size;
  double groups =
      (double)p->batch * (double)ceil_div(p->rows, t->rows) * (double)ceil_div(p->columns, t->columns * t->threads);
  double products = (double)(t->rows * t->columns), loads = (double)t->columns * (p->taps > 1 ? 6 : 4);
  bool vector = t->along != PRODUCT_ALONG_NOTHING && (t->along == PRODUCT_ALONG_DEPTH || p->rows % t->rows == 0);
  double left = (double)t->rows * (!vector ? 1.5 : t->along == PRODUCT_ALONG_ROWS ? 0.1 : 0.5);
  double steps = (double)(p->taps * p->depth);
  double per_wave = steps * (products + loads + left + 1) + (double)(p->taps * t->columns) * 12 + products * 8 + 80;
  return per_wave * (groups * (double)(t->threads / wave) + (double)device->compute_units / 8);
}

static void plan(tile_t* t) {
  const device_info_t* device = t->product.d->device;
  tile_t best = {0};
  double least = 0;
  for (int64_t threads = device->subgroup_size; threads <= 4 * device->subgroup_size; threads *= 2) {
    for (int64_t rows = 1; rows <= MAX_ROWS && rows <= t->product.rows; ++rows) {
      for (int64_t columns = 1; columns <= MAX_COLUMNS; columns *= 2) {
        if (rows * columns > MAX_ACCUMULATORS) continue;
        t->threads = threads;
        t->rows = rows;
        t->columns = columns;
        double cost = plan_cost(t, device);
        if (least > 0 && cost >= least) continue;
        least = cost;
        best = *t;
      }
    }
  }
  *t = best;
  bool partial_rows = !extent_is_fixed(&t->product.row_size) || t->product.rows % t->rows != 0;
  if (t->along == PRODUCT_ALONG_ROWS && partial_rows) t->along = PRODUCT_ALONG_NOTHING;
  t->unroll = t->product.depth < MAX_UNROLL ? t->product.depth : MAX_UNROLL;
  t->at_once = t->product.taps * t->product.depth * t->rows <= STEPS_AT_ONCE && extent_is_fixed(&t->product.depth_size);
}

bool strategy_tile_proposes(const dispatch_t* d, candidate_t* c) {
  enum { WITHOUT_INSTRUCTION = 5 };  // where there is one
  product_t p;
  if (!product_read(&p, (dispatch_t*)d)) return candidate_declines(c, "its dimensions are no rows and columns");
  IR_FOR_OPS(op, d->body) {
    bool fixed = p.dynamic || op == d->yield || ir_type_is_static(op->results[0].type);
    if (op != d->yield && (!eval_supports(op) || !fixed)) return candidate_declines(c, "only run time knows sizes");
  }
  if (!fragments_decline((dispatch_t*)d, false, NULL)) c->factor = WITHOUT_INSTRUCTION;
  return (p.batch <= MAX_GRID && p.rows <= MAX_GRID) || candidate_declines(c, "there are too many rows for a launch");
}

//===----------------------------------------------------------------------------------------------------------------===
// The reduction
//===----------------------------------------------------------------------------------------------------------------===

// Whether a position may be `size` or more.
static bool may_pass(const kernel_build_t* k, const linear_t* at, const extent_t* size) {
  int64_t min, max;
  linear_range(k, at, &min, &max);
  return !extent_is_fixed(size) || max >= size->factor;
}

// A position past the end becomes the last, which is not stored again.
static linear_t clamped(kernel_build_t* k, const linear_t* at, const extent_t* size) {
  ir_value_t* count = extent_value(k, size);
  ir_value_t* last = index_binary(k, SCALAR_add, count, index_constant(k, -1));
  ir_value_t* value = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, at), last);
  int64_t most = index_facts(count).max;
  index_set_facts(k, value, 0, most > 0 ? most - 1 : 0, 1);
  return linear_value(value);
}

static linear_t row_at(tile_t* t, int64_t r) {
  kernel_build_t* k = &t->product.d->k;
  linear_t row = t->row;
  row.constant += r;
  return may_pass(k, &row, &t->product.row_size) ? clamped(k, &row, &t->product.row_size) : row;
}

// left[r * steps + s], in the accumulator's type.
static void load_left(tile_t* t, const product_tap_t* tap, linear_t depth, int64_t steps, ir_value_t** left) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  bool rows = t->along == PRODUCT_ALONG_ROWS && t->rows > 1, deep = t->along == PRODUCT_ALONG_DEPTH && steps > 1;
  k->lanes = rows ? t->rows : deep ? steps : 1;
  for (int64_t i = 0; i < (rows ? 1 : t->rows); ++i) {
    for (int64_t s = 0; s < (deep ? 1 : steps); ++s) {
      linear_t row = rows ? t->row : row_at(t, i), at = depth;
      at.constant += s;
      row.lane = rows;
      at.lane = deep;
      ir_value_t* value = product_widen(p, PRODUCT_LEFT, product_left(p, row, tap, at));
      for (int64_t lane = 0; lane < k->lanes; ++lane) {
        ir_value_t* one = kernel_lanes(value) > 1 ? kernel_extract(&k->b, value, lane) : value;
        left[(rows ? lane : i) * steps + (deep ? lane : s)] = one;
      }
    }
  }
  k->lanes = 1;
}

static void multiply(tile_t* t, const product_tap_t* tap, const product_point_t* points, linear_t depth, int64_t steps,
                     ir_value_t** acc) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  ir_value_t *left[MAX_ROWS * MAX_UNROLL], *right[MAX_COLUMNS * MAX_UNROLL];
  load_left(t, tap, depth, steps, left);
  for (int64_t s = 0; s < steps; ++s) {
    linear_t at = depth;
    at.constant += s;
    for (int64_t c = 0; c < t->columns; ++c) {
      right[s * t->columns + c] = product_widen(p, PRODUCT_RIGHT, product_right(p, &t->at[c], &points[c], at));
    }
  }
  for (int64_t s = 0; s < steps; ++s) {
    for (int64_t r = 0; r < t->rows; ++r) {
      for (int64_t c = 0; c < t->columns; ++c) {
        ir_value_t *a = left[r * steps + s], *b = right[s * t->columns + c], **slot = &acc[r * t->columns + c];
        *slot = eval_multiply_add(k, a, b, *slot);
      }
    }
  }
}

static void reduce_depth(tile_t* t, const product_tap_t* tap, const product_point_t* points, share_t part, int64_t step,
                         ir_value_t** acc) {
  kernel_build_t* k = &t->product.d->k;
  uint32_t count = (uint32_t)(t->rows * t->columns);
  kernel_loop_t loop = kernel_loop_begin(k, part.lower, part.upper, step, acc, count);
  ir_value_t* inner[MAX_ACCUMULATORS];
  memcpy(inner, loop.iters, sizeof(ir_value_t*) * count);
  multiply(t, tap, points, linear_value(loop.index), step, inner);
  kernel_for_end(&k->b, &loop, inner, count);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
}

// A depth of run-time size: as far as it goes in steps, then one by one.
static void reduce_open(tile_t* t, const product_tap_t* tap, const product_point_t* points, ir_value_t** acc) {
  kernel_build_t* k = &t->product.d->k;
  ir_value_t* depth = extent_value(k, &t->product.depth_size);
  ir_value_t* rest = index_binary(k, SCALAR_remu, depth, index_constant(k, t->unroll));
  ir_value_t* whole = index_binary(k, SCALAR_sub, depth, rest);
  index_set_facts(k, whole, 0, index_facts(depth).max, t->unroll);
  reduce_depth(t, tap, points, (share_t){index_constant(k, 0), whole}, t->unroll, acc);
  reduce_depth(t, tap, points, (share_t){whole, depth}, 1, acc);
}

// All of the depth at one tap.
static void reduce_tap(tile_t* t, linear_t tap_number, ir_value_t** acc) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  product_tap_t tap = product_tap(p, tap_number);
  product_point_t points[MAX_COLUMNS];
  for (int64_t c = 0; c < t->columns; ++c) points[c] = product_point(p, &t->at[c], &tap);
  if (!extent_is_fixed(&p->depth_size)) {
    reduce_open(t, &tap, points, acc);
    return;
  }
  int64_t whole = p->depth / t->unroll * t->unroll, at = 0;
  if (whole > t->unroll && !t->at_once) {
    share_t all = {kernel_index(&k->b, 0), kernel_index(&k->b, whole)};
    reduce_depth(t, &tap, points, all, t->unroll, acc);
    at = whole;
  }
  while (at < p->depth) {
    int64_t steps = p->depth - at < t->unroll ? p->depth - at : t->unroll;
    multiply(t, &tap, points, linear_constant(at), steps, acc);
    at += steps;
  }
}

static void tap_body(kernel_build_t* k, const linear_t* tap, ir_value_t** acc, void* user) {
  (void)k;
  reduce_tap(user, *tap, acc);
}

static void reduce(tile_t* t, ir_value_t** acc) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)(t->rows * t->columns);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_number(&k->b, p->accumulator, 0);
  if (!t->at_once) {
    eval_fixed_loops(k, &p->taps, 1, acc, count, tap_body, t);
    return;
  }
  for (int64_t tap = 0; tap < p->taps; ++tap) reduce_tap(t, linear_constant(tap), acc);
}

//===----------------------------------------------------------------------------------------------------------------===
// Around it
//===----------------------------------------------------------------------------------------------------------------===

static linear_t id_at(kernel_build_t* k, uint32_t code, int64_t axis, int64_t count) {
  if (count == 1) return linear_constant(0);
  ir_value_t* id = kernel_id(&k->b, code, axis);
  index_set_facts(k, id, 0, count - 1, 1);
  return linear_value(id);
}

static void find_columns(tile_t* t, linear_t group) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  linear_t first =
      linear_add(k, linear_scale(k, group, t->threads * t->columns), id_at(k, KERNEL_THREAD_ID, 0, t->threads));
  for (int64_t c = 0; c < t->columns; ++c) {
    linear_t column = first;
    column.constant += c * t->threads;
    t->inside[c] = NULL;
    if (may_pass(k, &column, &p->column_size)) {
      t->inside[c] = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &column), extent_value(k, &p->column_size));
      column = clamped(k, &column, &p->column_size);
    }
    t->at[c] = product_column(p, column);
  }
}

static void store_row(tile_t* t, int64_t r, int64_t c, ir_value_t* value) {
  kernel_build_t* k = &t->product.d->k;
  linear_t row = t->row;
  row.constant += r;
  kernel_branch_t branch;
  bool guarded = may_pass(k, &row, &t->product.row_size);
  if (guarded) {
    ir_value_t* below = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &row), extent_value(k, &t->product.row_size));
    branch = kernel_if_begin(&k->b, below, NULL, 0);
  }
  product_store(&t->product, row, &t->at[c], value);
  if (guarded) kernel_if_end(&k->b, &branch, NULL, 0);
}

static void store(tile_t* t, ir_value_t** acc) {
  kernel_build_t* k = &t->product.d->k;
  for (int64_t c = 0; c < t->columns; ++c) {
    kernel_branch_t branch;
    if (t->inside[c]) branch = kernel_if_begin(&k->b, t->inside[c], NULL, 0);
    for (int64_t r = 0; r < t->rows; ++r) store_row(t, r, c, acc[r * t->columns + c]);
    if (t->inside[c]) kernel_if_end(&k->b, &branch, NULL, 0);
  }
}

static void build_tile(tile_t* t, linear_t column_group) {
  find_columns(t, column_group);
  ir_value_t* acc[MAX_ACCUMULATORS];
  reduce(t, acc);
  store(t, acc);
}

// How many tiles of `size` there are along an extent.
static ir_value_t* tiles_along(kernel_build_t* k, const extent_t* extent, int64_t size) {
  if (extent_is_fixed(extent)) return index_constant(k, ceil_div(extent->factor, size));
  ir_value_t* up = index_binary(k, SCALAR_add, extent_value(k, extent), index_constant(k, size - 1));
  return index_binary(k, SCALAR_divu, up, index_constant(k, size));
}

// As many workgroups as there are tiles, where sizes are no smaller than those: each takes every so-manieth tile.
static void launch_open(tile_t* t) {
  product_t* p = &t->product;
  const extent_t* sizes[] = {&p->batch_size, &p->row_size, &p->column_size};
  const int64_t tile[] = {1, t->rows, t->threads * t->columns};
  extent_t numbers = extent_fixed(1);
  int64_t factor = 1, divisor = 1;
  for (int i = 0; i < 3; ++i) {
    bool fixed = extent_is_fixed(sizes[i]);
    if (fixed) {
      factor *= ceil_div(sizes[i]->factor, tile[i]);
    } else {
      numbers = extent_product(numbers, *sizes[i]);
      divisor *= tile[i];
    }
  }
  numbers.factor *= factor;
  dispatch_set_rule(p->d, &numbers, divisor, MAX_GRID);
}

static ir_value_t* part_of(kernel_build_t* k, scalar_fn_t fn, ir_value_t* number, ir_value_t* count, int64_t most) {
  ir_value_t* part = kernel_binary(&k->b, fn, number, count);
  index_set_facts(k, part, 0, most > 0 ? most - 1 : 0, 1);
  return part;
}

static void build_open(tile_t* t) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  launch_open(t);
  ir_value_t *across = tiles_along(k, &p->column_size, t->threads * t->columns),
             *down = tiles_along(k, &p->row_size, t->rows), *deep = extent_value(k, &p->batch_size);
  ir_value_t* total = index_binary(k, SCALAR_mul, index_binary(k, SCALAR_mul, across, down), deep);
  ir_value_t *group = kernel_id(&k->b, KERNEL_WORKGROUP_ID, 0), *groups = kernel_id(&k->b, KERNEL_WORKGROUP_COUNT, 0);
  index_set_facts(k, group, 0, MAX_GRID - 1, 1);
  index_set_facts(k, groups, 1, MAX_GRID, 1);
  // tiles group, group + groups, ...: ceil((total - group) / groups) of them
  ir_value_t* left =
      kernel_binary(&k->b, SCALAR_sub, kernel_add(&k->b, total, kernel_add_const(&k->b, groups, -1)), group);
  ir_value_t* rounds = kernel_binary(&k->b, SCALAR_divu, left, groups);
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), rounds, 1, NULL, 0);
  ir_value_t* number = kernel_add(&k->b, kernel_mul(&k->b, loop.index, groups), group);
  ir_value_t* above = kernel_binary(&k->b, SCALAR_divu, number, across);
  ir_value_t* column = part_of(k, SCALAR_remu, number, across, index_facts(across).max);
  t->row = linear_scale(k, linear_value(part_of(k, SCALAR_remu, above, down, index_facts(down).max)), t->rows);
  p->at_batch = linear_value(part_of(k, SCALAR_divu, above, down, index_facts(deep).max));
  build_tile(t, linear_value(column));
  kernel_for_end(&k->b, &loop, NULL, 0);
}

void strategy_tile_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  tile_t t = {0};
  bool read = product_read(&t.product, d);
  assert(read);
  (void)read;
  product_t* p = &t.product;
  product_measure(p);
  bool words = ir_type_bytes(ir_operand(p->op, p->is_conv != p->turned ? 1 : 0)->type->element) >= 4;
  if (words) t.along = product_along(p, PRODUCT_LEFT);  // vectors of less would be badly aligned
  plan(&t);
  int64_t size[3] = {t.threads, 1, 1};
  ir_op_set_attr(d->ctx, k->func, "workgroup_size", ir_attr_i64_array(d->ctx, size, 3));
  if (p->dynamic) {
    build_open(&t);
    return;
  }
  d->workgroups[0] = ceil_div(p->columns, t.threads * t.columns);
  d->workgroups[1] = ceil_div(p->rows, t.rows);
  d->workgroups[2] = p->batch;
  t.row = linear_scale(k, id_at(k, KERNEL_WORKGROUP_ID, 1, d->workgroups[1]), t.rows);
  p->at_batch = id_at(k, KERNEL_WORKGROUP_ID, 2, p->batch);
  build_tile(&t, id_at(k, KERNEL_WORKGROUP_ID, 0, d->workgroups[0]));
}
