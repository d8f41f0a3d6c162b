// Products on GPUs by register tiles: a thread makes a few rows of a few columns.
//
//   workgroup (columns, rows, batch):
//     for tap: where the columns' windows are in the image
//       for depth, unrolled:  a[r] = left[row + r][depth]          the same in all threads: scalar loads
//                             b[c] = right[depth][column + c * T]  neighbours in neighbouring threads
//                             acc[r][c] += a[r] * b[c]
// Neither barriers nor workgroup memory: it fits every device and every size. The shape of the tile is the cheapest by
// a count of instructions (plan_cost).
#include <assert.h>
#include <string.h>

#include "kernels/product.h"

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
  bool partial_rows;
  product_column_t at[MAX_COLUMNS];
  ir_value_t* inside[MAX_COLUMNS];  // i1: the column exists; NULL: always
} tile_t;

//===----------------------------------------------------------------------------------------------------------------===
// The shape
//===----------------------------------------------------------------------------------------------------------------===

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

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
  t->partial_rows = t->product.rows % t->rows != 0;
  if (t->along == PRODUCT_ALONG_ROWS && t->partial_rows) t->along = PRODUCT_ALONG_NOTHING;
  t->unroll = t->product.depth < MAX_UNROLL ? t->product.depth : MAX_UNROLL;
  t->at_once = t->product.taps * t->product.depth * t->rows <= STEPS_AT_ONCE;
}

bool strategy_tile_matches(const dispatch_t* d) {
  product_t p;
  if (!product_read(&p, (dispatch_t*)d)) return false;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && (!eval_supports(op) || !ir_type_is_static(op->results[0].type))) return false;
  }
  return p.batch <= MAX_GRID && p.rows <= MAX_GRID;
}

//===----------------------------------------------------------------------------------------------------------------===
// The reduction
//===----------------------------------------------------------------------------------------------------------------===

static linear_t row_at(tile_t* t, int64_t r) {
  kernel_build_t* k = &t->product.d->k;
  linear_t row = t->row;
  row.constant += r;
  int64_t min, max;
  linear_range(k, &row, &min, &max);
  if (max < t->product.rows) return row;
  // Past the end: the last row again, which is not stored.
  ir_value_t* last = kernel_index(&k->b, t->product.rows - 1);
  ir_value_t* clamped = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &row), last);
  index_set_facts(k, clamped, 0, t->product.rows - 1, 1);
  return linear_value(clamped);
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
  bool is_float = p->accumulator->kind == IR_TYPE_FLOAT;
  for (int64_t s = 0; s < steps; ++s) {
    for (int64_t r = 0; r < t->rows; ++r) {
      for (int64_t c = 0; c < t->columns; ++c) {
        ir_value_t *a = left[r * steps + s], *b = right[s * t->columns + c], **slot = &acc[r * t->columns + c];
        *slot = is_float ? kernel_ternary(&k->b, SCALAR_fma, a, b, *slot)
                         : kernel_add(&k->b, *slot, kernel_mul(&k->b, a, b));
      }
    }
  }
}

// All of the depth at one tap.
static void reduce_tap(tile_t* t, linear_t tap_number, ir_value_t** acc) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)(t->rows * t->columns);
  product_tap_t tap = product_tap(p, tap_number);
  product_point_t points[MAX_COLUMNS];
  for (int64_t c = 0; c < t->columns; ++c) points[c] = product_point(p, &t->at[c], &tap);
  int64_t whole = p->depth / t->unroll * t->unroll, at = 0;
  if (whole > t->unroll && !t->at_once) {
    kernel_loop_t loop = kernel_loop_constant(k, 0, whole, t->unroll, acc, count);
    ir_value_t* inner[MAX_ACCUMULATORS];
    memcpy(inner, loop.iters, sizeof(ir_value_t*) * count);
    multiply(t, &tap, points, linear_value(loop.index), t->unroll, inner);
    kernel_for_end(&k->b, &loop, inner, count);
    for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
    at = whole;
  }
  while (at < p->depth) {
    int64_t steps = p->depth - at < t->unroll ? p->depth - at : t->unroll;
    multiply(t, &tap, points, linear_constant(at), steps, acc);
    at += steps;
  }
}

static void reduce(tile_t* t, ir_value_t** acc) {
  product_t* p = &t->product;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)(t->rows * t->columns);
  bool is_float = p->accumulator->kind == IR_TYPE_FLOAT;
  for (uint32_t i = 0; i < count; ++i) {
    acc[i] = is_float ? kernel_number(&k->b, p->accumulator, 0) : kernel_integer(&k->b, p->accumulator, 0);
  }
  if (t->at_once || p->taps == 1) {
    for (int64_t tap = 0; tap < p->taps; ++tap) reduce_tap(t, linear_constant(tap), acc);
    return;
  }
  kernel_loop_t loop = kernel_loop_constant(k, 0, p->taps, 1, acc, count);
  ir_value_t* inner[MAX_ACCUMULATORS];
  memcpy(inner, loop.iters, sizeof(ir_value_t*) * count);
  reduce_tap(t, linear_value(loop.index), inner);
  kernel_for_end(&k->b, &loop, inner, count);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
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
    int64_t min, max;
    linear_range(k, &column, &min, &max);
    if (max >= p->columns) {
      ir_value_t* value = linear_scalar(k, &column);
      t->inside[c] = kernel_binary(&k->b, SCALAR_lt, value, kernel_index(&k->b, p->columns));
      value = kernel_binary(&k->b, SCALAR_min, value, kernel_index(&k->b, p->columns - 1));
      index_set_facts(k, value, 0, p->columns - 1, 1);
      column = linear_value(value);
    }
    t->at[c] = product_column(p, column);
  }
}

static void store_row(tile_t* t, int64_t r, int64_t c, ir_value_t* value) {
  kernel_build_t* k = &t->product.d->k;
  linear_t row = t->row;
  row.constant += r;
  int64_t min, max;
  linear_range(k, &row, &min, &max);
  kernel_branch_t branch;
  bool guarded = max >= t->product.rows;
  if (guarded) {
    ir_value_t* number = linear_scalar(k, &row);
    branch =
        kernel_if_begin(&k->b, kernel_binary(&k->b, SCALAR_lt, number, kernel_index(&k->b, t->product.rows)), NULL, 0);
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

void strategy_tile_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  tile_t t = {0};
  bool read = product_read(&t.product, d);
  assert(read);
  (void)read;
  product_t* p = &t.product;
  bool words = ir_type_bytes(ir_operand(p->op, p->is_conv != p->turned ? 1 : 0)->type->element) >= 4;
  if (words) t.along = product_along(p, PRODUCT_LEFT);  // vectors of less would be badly aligned
  plan(&t);
  int64_t size[3] = {t.threads, 1, 1};
  ir_op_set_attr(d->ctx, k->func, "workgroup_size", ir_attr_i64_array(d->ctx, size, 3));
  d->workgroups[0] = ceil_div(p->columns, t.threads * t.columns);
  d->workgroups[1] = ceil_div(p->rows, t.rows);
  d->workgroups[2] = p->batch;
  t.row = linear_scale(k, id_at(k, KERNEL_WORKGROUP_ID, 1, d->workgroups[1]), t.rows);
  p->at_batch = id_at(k, KERNEL_WORKGROUP_ID, 2, p->batch);
  find_columns(&t, id_at(k, KERNEL_WORKGROUP_ID, 0, d->workgroups[0]));
  ir_value_t* acc[MAX_ACCUMULATORS];
  reduce(&t, acc);
  store(&t, acc);
}
