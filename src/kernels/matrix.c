// Products on GPUs by matrix instructions (mma.def), when the device has one for the element types:
//
//   workgroup (columns, rows, batch), a few waves side by side; each wave:
//     for tap:
//       for k of the depth, step of the instruction:
//         a[y] = fragments of the left, b[x] = fragments of the right    every lane loads what it holds
//         c[y][x] = mma a[y], b[x], c[y][x]
//     the lanes store what they hold of c[y][x]
// Fragments come straight from memory: the layouts put neighbouring lanes or neighbouring elements of a lane next to
// each other there. Past the ends rows and columns repeat the last one, which is not stored; depth gives zeros.
//
// Where the right's columns lie one after the other in memory, the fragments of a wave are woven: column j of fragment
// x is column j * across + x of the wave, so that a lane reads its elements of all fragments at once.
#include <assert.h>
#include <string.h>

#include "kernels/fragments.h"

enum { MAX_FRAGMENTS = 4, MAX_WAVES = 4, MAX_ACCUMULATORS = 64 };

typedef struct matrix_t {
  fragments_t f;
  int64_t down, across, waves;  // fragments of a wave; waves of a workgroup
  bool can_weave;
  const ir_type_t *a_type, *b_type;
  linear_t first_row, first_column;
  linear_t a_rows[MAX_FRAGMENTS][FRAGMENT_MAX_HELD];
  product_column_t b_columns[MAX_FRAGMENTS];
} matrix_t;

//===----------------------------------------------------------------------------------------------------------------===
// Choice
//===----------------------------------------------------------------------------------------------------------------===

// Woven fragments are read as whole vectors, which must not pass the end of a row.
static bool is_woven(const matrix_t* m) {
  return m->can_weave && m->across > 1 && m->f.product.columns % m->across == 0;
}

// Rough count of instructions; machines with many units need many waves.
static double plan_cost(const matrix_t* m) {
  const product_t* p = &m->f.product;
  const device_info_t* device = p->d->device;
  const mma_row_t* row = m->f.row;
  double waves = (double)p->batch * (double)ceil_div(p->rows, m->down * row->m) *
                 (double)(ceil_div(p->columns, m->across * row->n * m->waves) * m->waves);
  double products = (double)(m->down * m->across) * (double)row->m * row->n * row->k / 128.0;
  double loads = (double)(m->down * row->a_lanes + (is_woven(m) ? 1 : m->across) * row->b_lanes) * 3;
  double steps = (double)(p->taps * ceil_div(p->depth, row->k));
  double per_wave = steps * (products + loads + 4) + (double)(m->down * m->across * row->c_lanes) * 10 + 150;
  return per_wave * (waves + (double)device->compute_units / 8);
}

static bool plan(matrix_t* m) {
  const device_info_t* device = m->f.product.d->device;
  matrix_t best = {0};
  double least = 0;
  for (int32_t i = 0; i < device->mma_count; ++i) {
    if (!fragments_take(&m->f, &device->mma[i])) continue;
    for (m->waves = 1; m->waves <= MAX_WAVES; m->waves *= 2) {
      for (m->down = 1; m->down <= MAX_FRAGMENTS; m->down *= 2) {
        for (m->across = 1; m->across <= MAX_FRAGMENTS; m->across *= 2) {
          if (m->down * m->across * m->f.row->c_lanes > MAX_ACCUMULATORS) continue;
          double cost = plan_cost(m);
          if (least > 0 && cost >= least) continue;
          least = cost;
          best = *m;
        }
      }
    }
  }
  *m = best;
  return least > 0;
}

static bool prepare(matrix_t* m, dispatch_t* d) {
  memset(m, 0, sizeof(*m));
  if (!fragments_read(&m->f, d, false)) return false;
  const product_t* p = &m->f.product;
  if (p->batch > FRAGMENT_MAX_GRID || p->rows > FRAGMENT_MAX_GRID) return false;
  m->can_weave = !p->is_conv && product_along(p, PRODUCT_RIGHT) == PRODUCT_ALONG_ROWS;
  return plan(m);
}

bool strategy_matrix_proposes(const dispatch_t* d, candidate_t* c) {
  matrix_t m;
  return prepare(&m, (dispatch_t*)d) ||
         candidate_declines(c, fragments_decline((dispatch_t*)d, false, "it would leave most of a fragment empty"));
}

//===----------------------------------------------------------------------------------------------------------------===
// Fragments
//===----------------------------------------------------------------------------------------------------------------===

// One side's fragment at work.
typedef struct load_t {
  const product_tap_t* tap;
  const product_point_t* points;
  linear_t depth;
  bool ends;  // the depth ends within this step
} load_t;

static ir_value_t* load_elements(matrix_t* m, const load_t* at, product_side_t side, int64_t fragment, int32_t i,
                                 linear_t depth) {
  product_t* p = &m->f.product;
  if (side == PRODUCT_LEFT) return product_left(p, m->a_rows[fragment][i], at->tap, depth);
  return product_right(p, &m->b_columns[fragment], &at->points[fragment], depth);
}

static ir_value_t* load_fragment(matrix_t* m, const load_t* at, product_side_t side, int64_t fragment) {
  product_t* p = &m->f.product;
  kernel_build_t* k = &p->d->k;
  bool left = side == PRODUCT_LEFT;
  const held_t* held = fragment_held(&m->f, side);
  const place_t* depths = fragment_depths(&m->f, side);
  // Vectors only where they lie in memory as whole words.
  int32_t run = fragment_run(&m->f, side);
  bool words =
      ((int64_t)ir_type_bytes(m->f.element) * p->depth) % 4 == 0 && (run * ir_type_bytes(m->f.element)) % 4 == 0;
  if (at->ends || !words || product_along(p, side) != PRODUCT_ALONG_DEPTH) run = 1;
  ir_value_t* result = kernel_number(&k->b, left ? m->a_type : m->b_type, 0);
  for (int32_t i = 0; i < held->count; i += run) {
    linear_t depth = fragment_at(&m->f, at->depth, &depths[i]), safe = fragment_clamp(k, depth, p->depth, 1);
    k->lanes = run;
    safe.lane = run > 1;
    ir_value_t* value = load_elements(m, at, side, fragment, i, safe);
    k->lanes = 1;
    if (at->ends) {
      ir_value_t* exists = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &depth), kernel_index(&k->b, p->depth));
      value = kernel_ternary(&k->b, SCALAR_select, exists, value, kernel_number(&k->b, value->type, 0));
    }
    if (run == held->count) return value;
    for (int32_t j = 0; j < run; ++j) {
      result = kernel_insert(&k->b, result, run > 1 ? kernel_extract(&k->b, value, j) : value, i + j);
    }
  }
  return result;
}

// All right fragments: each load gives one element of every one.
static void load_woven(matrix_t* m, const load_t* at, ir_value_t** out) {
  product_t* p = &m->f.product;
  kernel_build_t* k = &p->d->k;
  product_column_t columns = m->b_columns[0];
  columns.column.lane = 1;
  for (int64_t x = 0; x < m->across; ++x) out[x] = kernel_number(&k->b, m->b_type, 0);
  for (int32_t i = 0; i < m->f.b.count; ++i) {
    linear_t depth = fragment_at(&m->f, at->depth, &m->f.b.row[i]), safe = fragment_clamp(k, depth, p->depth, 1);
    k->lanes = m->across;
    ir_value_t* value = product_right(p, &columns, &at->points[0], safe);
    k->lanes = 1;
    if (at->ends) {
      ir_value_t* exists = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &depth), kernel_index(&k->b, p->depth));
      exists = kernel_splat(&k->b, exists, m->across);
      value = kernel_ternary(&k->b, SCALAR_select, exists, value, kernel_number(&k->b, value->type, 0));
    }
    for (int64_t x = 0; x < m->across; ++x) out[x] = kernel_insert(&k->b, out[x], kernel_extract(&k->b, value, x), i);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// The reduction
//===----------------------------------------------------------------------------------------------------------------===

static void step(matrix_t* m, const load_t* at, ir_value_t** acc) {
  ir_value_t *a[MAX_FRAGMENTS], *b[MAX_FRAGMENTS];
  for (int64_t y = 0; y < m->down; ++y) a[y] = load_fragment(m, at, PRODUCT_LEFT, y);
  if (is_woven(m)) load_woven(m, at, b);
  for (int64_t x = 0; x < m->across && !is_woven(m); ++x) b[x] = load_fragment(m, at, PRODUCT_RIGHT, x);
  for (int64_t y = 0; y < m->down; ++y) {
    for (int64_t x = 0; x < m->across; ++x) {
      ir_value_t** slot = &acc[y * m->across + x];
      *slot = fragment_multiply_add(&m->f, a[y], b[x], *slot);
    }
  }
}

static void reduce_tap(matrix_t* m, linear_t tap_number, ir_value_t** acc) {
  product_t* p = &m->f.product;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)(m->down * m->across);
  product_tap_t tap = product_tap(p, tap_number);
  product_point_t points[MAX_FRAGMENTS];
  for (int64_t x = 0; x < m->across; ++x) points[x] = product_point(p, &m->b_columns[x], &tap);
  load_t at = {.tap = &tap, .points = points};
  int64_t whole = p->depth / m->f.row->k * m->f.row->k;
  if (whole > 0) {
    kernel_loop_t loop = kernel_loop_constant(k, 0, whole, m->f.row->k, acc, count);
    ir_value_t* inner[MAX_ACCUMULATORS];
    memcpy(inner, loop.iters, sizeof(ir_value_t*) * count);
    at.depth = linear_value(loop.index);
    index_set_facts(k, loop.index, 0, whole - m->f.row->k, m->f.row->k);
    step(m, &at, inner);
    kernel_for_end(&k->b, &loop, inner, count);
    for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
  }
  if (whole == p->depth) return;
  at.depth = linear_constant(whole);
  at.ends = true;
  step(m, &at, acc);
}

static void tap_body(kernel_build_t* k, const linear_t* tap, ir_value_t** acc, void* user) {
  (void)k;
  reduce_tap(user, *tap, acc);
}

static void reduce(matrix_t* m, ir_value_t** acc) {
  product_t* p = &m->f.product;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)(m->down * m->across);
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, m->f.row->c_lanes);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_number(&k->b, type, 0);
  eval_fixed_loops(k, &p->taps, 1, acc, count, tap_body, m);
}

//===----------------------------------------------------------------------------------------------------------------===
// Around it
//===----------------------------------------------------------------------------------------------------------------===

// A fragment's column, of all.
static linear_t column_at(matrix_t* m, int64_t x, const place_t* place) {
  kernel_build_t* k = &m->f.product.d->k;
  if (is_woven(m)) {
    linear_t within = linear_scale(k, fragment_at(&m->f, linear_constant(0), place), m->across);
    within.constant += x;
    return linear_add(k, m->first_column, within);
  }
  linear_t first = m->first_column;
  first.constant += x * m->f.row->n;
  return fragment_at(&m->f, first, place);
}

static void store_fragment(matrix_t* m, int64_t y, int64_t x, ir_value_t* value) {
  int32_t run = is_woven(m) ? 1 : fragment_result_run(&m->f);
  for (int32_t i = 0; i < m->f.c.count; i += run) {
    linear_t row = m->first_row;
    row.constant += y * m->f.row->m;
    fragment_store(&m->f, row, column_at(m, x, &m->f.c.column[i]), value, i, run);
  }
}

// Where this lane's fragments begin.
static void find_places(matrix_t* m) {
  product_t* p = &m->f.product;
  kernel_build_t* k = &p->d->k;
  const mma_row_t* row = m->f.row;
  ir_value_t* thread = kernel_id(&k->b, KERNEL_THREAD_ID, 0);
  index_set_facts(k, thread, 0, row->subgroup * m->waves - 1, 1);
  linear_t wave, lane;
  linear_divide(k, linear_value(thread), row->subgroup, &wave, &lane);
  linear_divide(k, lane, m->f.split, &m->f.high, &m->f.low);
  m->first_row = linear_scale(k, fragment_workgroup(k, 1, p->d->workgroups[1]), m->down * row->m);
  m->first_column = linear_scale(k, fragment_workgroup(k, 0, p->d->workgroups[0]), m->across * row->n * m->waves);
  m->first_column = linear_add(k, m->first_column, linear_scale(k, wave, m->across * row->n));
  p->at_batch = fragment_workgroup(k, 2, p->batch);
  for (int64_t y = 0; y < m->down; ++y) {
    linear_t first = m->first_row;
    first.constant += y * row->m;
    for (int32_t i = 0; i < m->f.a.count; ++i) {
      bool same = i > 0 && place_equal(&m->f.a.row[i], &m->f.a.row[i - 1]);
      m->a_rows[y][i] =
          same ? m->a_rows[y][i - 1] : fragment_clamp(k, fragment_at(&m->f, first, &m->f.a.row[i]), p->rows, 1);
    }
  }
  for (int64_t x = 0; x < m->across; ++x) {
    int64_t past = is_woven(m) ? p->columns - m->across + 1 : p->columns;  // vectors begin before
    m->b_columns[x] =
        product_column(p, fragment_clamp(k, column_at(m, is_woven(m) ? 0 : x, &m->f.b.column[0]), past, 1));
  }
}

void strategy_matrix_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  matrix_t m;
  bool prepared = prepare(&m, d);
  assert(prepared);
  (void)prepared;
  const product_t* p = &m.f.product;
  m.a_type = kernel_vector_type(d->ctx, m.f.element, m.f.row->a_lanes);
  m.b_type = kernel_vector_type(d->ctx, m.f.element, m.f.row->b_lanes);
  int64_t size[3] = {m.f.row->subgroup * m.waves, 1, 1};
  ir_op_set_attr(d->ctx, k->func, "workgroup_size", ir_attr_i64_array(d->ctx, size, 3));
  d->workgroups[0] = ceil_div(p->columns, m.across * m.f.row->n * m.waves);
  d->workgroups[1] = ceil_div(p->rows, m.down * m.f.row->m);
  d->workgroups[2] = p->batch;
  find_places(&m);
  ir_value_t* acc[MAX_ACCUMULATORS];
  reduce(&m, acc);
  for (int64_t y = 0; y < m.down; ++y) {
    for (int64_t x = 0; x < m.across; ++x) store_fragment(&m, y, x, acc[y * m.across + x]);
  }
}
