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

#include "dialects/mma.h"
#include "kernels/product.h"

enum { MAX_FRAGMENTS = 4, MAX_HELD = 16, MAX_WAVES = 4, MAX_ACCUMULATORS = 64, MAX_GRID = 65535 };

// A position that grows with the lane: base + low * (lane % split) + high * (lane / split).
typedef struct place_t {
  int32_t base, low, high;
} place_t;

// Places of a fragment's elements.
typedef struct held_t {
  int32_t count;
  place_t row[MAX_HELD], column[MAX_HELD];
} held_t;

typedef struct matrix_t {
  product_t product;
  const mma_row_t* row;
  int32_t split;
  held_t a, b, c;
  int64_t down, across, waves;  // fragments of a wave; waves of a workgroup
  bool can_weave;
  const ir_type_t *element, *a_type, *b_type;
  linear_t low, high;  // of the lane
  linear_t first_row, first_column;
  linear_t a_rows[MAX_FRAGMENTS][MAX_HELD];
  product_column_t b_columns[MAX_FRAGMENTS];
} matrix_t;

//===----------------------------------------------------------------------------------------------------------------===
// Layouts
//===----------------------------------------------------------------------------------------------------------------===

static int32_t position(mma_layout_fn_t layout, int32_t lane, int32_t element, bool column) {
  mma_position_t at = layout(lane, element);
  return column ? at.col : at.row;
}

static bool read_place(const mma_row_t* row, mma_layout_fn_t layout, int32_t element, bool column, int32_t split,
                       place_t* out) {
  out->base = position(layout, 0, element, column);
  out->low = position(layout, 1, element, column) - out->base;
  out->high = split < row->subgroup ? position(layout, split, element, column) - out->base : 0;
  for (int32_t lane = 0; lane < row->subgroup; ++lane) {
    int32_t expected = out->base + out->low * (lane % split) + out->high * (lane / split);
    if (position(layout, lane, element, column) != expected) return false;
  }
  return true;
}

static bool read_layout(const mma_row_t* row, mma_layout_fn_t layout, int32_t count, int32_t split, held_t* out) {
  if (count > MAX_HELD) return false;
  out->count = count;
  for (int32_t i = 0; i < count; ++i) {
    if (!read_place(row, layout, i, false, split, &out->row[i])) return false;
    if (!read_place(row, layout, i, true, split, &out->column[i])) return false;
  }
  return true;
}

static bool same_place(const place_t* x, const place_t* y) {
  return x->base == y->base && x->low == y->low && x->high == y->high;
}

// All elements of the right fragment of a lane must be of one column.
static bool read_layouts(matrix_t* m) {
  for (m->split = 4; m->split <= 32; m->split *= 2) {
    const mma_row_t* row = m->row;
    if (!read_layout(row, row->a, row->a_lanes, m->split, &m->a)) continue;
    if (!read_layout(row, row->b, row->b_lanes, m->split, &m->b)) continue;
    if (!read_layout(row, row->c, row->c_lanes, m->split, &m->c)) continue;
    for (int32_t i = 1; i < m->b.count; ++i) {
      if (!same_place(&m->b.column[i], &m->b.column[0])) return false;
    }
    return true;
  }
  return false;
}

// Elements of a fragment that follow each other along the depth, from each multiple of that number on.
static int32_t run_of(const held_t* held, const place_t* depth, const place_t* free) {
  int32_t run = held->count;
  for (int32_t i = 0; i < held->count; ++i) {
    while (i % run && (!same_place(&free[i], &free[i - 1]) || depth[i].base != depth[i - 1].base + 1)) run /= 2;
  }
  return run;
}

//===----------------------------------------------------------------------------------------------------------------===
// Choice
//===----------------------------------------------------------------------------------------------------------------===

static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Woven fragments are read as whole vectors, which must not pass the end of a row.
static bool is_woven(const matrix_t* m) { return m->can_weave && m->across > 1 && m->product.columns % m->across == 0; }

// Rough count of instructions; machines with many units need many waves.
static double plan_cost(const matrix_t* m) {
  const product_t* p = &m->product;
  const device_info_t* device = p->d->device;
  const mma_row_t* row = m->row;
  double waves = (double)p->batch * (double)ceil_div(p->rows, m->down * row->m) *
                 (double)(ceil_div(p->columns, m->across * row->n * m->waves) * m->waves);
  double products = (double)(m->down * m->across) * (double)row->m * row->n * row->k / 128.0;
  double loads = (double)(m->down * row->a_lanes + (is_woven(m) ? 1 : m->across) * row->b_lanes) * 3;
  double steps = (double)(p->taps * ceil_div(p->depth, row->k));
  double per_wave = steps * (products + loads + 4) + (double)(m->down * m->across * row->c_lanes) * 10 + 150;
  return per_wave * (waves + (double)device->compute_units / 8);
}

// Padding to whole fragments must not cost more than the instruction brings.
static bool fills(const product_t* p, const mma_row_t* row) {
  double padded = (double)(ceil_div(p->rows, row->m) * row->m) * (double)(ceil_div(p->columns, row->n) * row->n) *
                  (double)(ceil_div(p->depth, row->k) * row->k);
  return padded <= 2.5 * (double)p->rows * (double)p->columns * (double)p->depth;
}

static bool takes(const matrix_t* m, const mma_row_t* row) {
  ir_context_t* ctx = m->product.d->ctx;
  if (row->subgroup != m->product.d->device->subgroup_size || !fills(&m->product, row)) return false;
  return strcmp(ir_type_str(ctx, m->element), row->a_type) == 0 &&
         strcmp(ir_type_str(ctx, m->product.accumulator), row->c_type) == 0;
}

static bool plan(matrix_t* m) {
  const device_info_t* device = m->product.d->device;
  matrix_t best = {0};
  double least = 0;
  for (int32_t i = 0; i < device->mma_count; ++i) {
    m->row = mma_find(device->mma[i].instruction);
    if (!m->row || !takes(m, m->row) || !read_layouts(m)) continue;
    for (m->waves = 1; m->waves <= MAX_WAVES; m->waves *= 2) {
      for (m->down = 1; m->down <= MAX_FRAGMENTS; m->down *= 2) {
        for (m->across = 1; m->across <= MAX_FRAGMENTS; m->across *= 2) {
          if (m->down * m->across * m->row->c_lanes > MAX_ACCUMULATORS) continue;
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
  if (!d->device->mma_count || !product_read(&m->product, d) || m->product.dynamic) return false;
  const product_t* p = &m->product;
  if (p->batch > MAX_GRID || p->rows > MAX_GRID) return false;
  m->element = ir_operand(p->op, 0)->type->element;
  if (ir_operand(p->op, 1)->type->element != m->element) return false;
  if (graph_reads_unsigned(p->op, 0) || graph_reads_unsigned(p->op, 1)) return false;
  m->can_weave = !p->is_conv && product_along(p, PRODUCT_RIGHT) == PRODUCT_ALONG_ROWS;
  return plan(m);
}

bool strategy_matrix_matches(const dispatch_t* d) {
  matrix_t m;
  if (!d->root || d->device->kind != DEVICE_GPU) return false;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && (!eval_supports(op) || !ir_type_is_static(op->results[0].type))) return false;
  }
  return prepare(&m, (dispatch_t*)d);
}

//===----------------------------------------------------------------------------------------------------------------===
// Fragments
//===----------------------------------------------------------------------------------------------------------------===

static linear_t place_at(matrix_t* m, linear_t first, const place_t* place) {
  kernel_build_t* k = &m->product.d->k;
  linear_t at = linear_add(k, linear_scale(k, m->low, place->low), linear_scale(k, m->high, place->high));
  at = linear_add(k, first, at);
  at.constant += place->base;
  return at;
}

// The last one instead of what is past the end.
static linear_t clamped(kernel_build_t* k, linear_t at, int64_t size) {
  int64_t min, max;
  linear_range(k, &at, &min, &max);
  if (max < size) return at;
  ir_value_t* value = kernel_binary(&k->b, SCALAR_min, linear_scalar(k, &at), kernel_index(&k->b, size - 1));
  index_set_facts(k, value, 0, size - 1, 1);
  return linear_value(value);
}

static ir_value_t* insert(kernel_build_t* k, ir_value_t* into, ir_value_t* value, int64_t index) {
  if (kernel_lanes(into) == 1) return value;
  ir_named_attr_t attr = {"index", ir_attr_i64(k->ctx, index)};
  ir_value_t* operands[] = {value, into};
  ir_op_state_t state = {.info = ir_context_op(k->ctx, KERNEL_INSERT),
                         .operands = operands,
                         .operand_count = 2,
                         .result_types = &into->type,
                         .result_count = 1,
                         .attrs = &attr,
                         .attr_count = 1};
  return ir_result(ir_build(&k->b, &state), 0);
}

// One side's fragment at work.
typedef struct load_t {
  const product_tap_t* tap;
  const product_point_t* points;
  linear_t depth;
  bool ends;  // the depth ends within this step
} load_t;

static ir_value_t* load_elements(matrix_t* m, const load_t* at, product_side_t side, int64_t fragment, int32_t i,
                                 linear_t depth) {
  product_t* p = &m->product;
  if (side == PRODUCT_LEFT) return product_left(p, m->a_rows[fragment][i], at->tap, depth);
  return product_right(p, &m->b_columns[fragment], &at->points[fragment], depth);
}

static ir_value_t* load_fragment(matrix_t* m, const load_t* at, product_side_t side, int64_t fragment) {
  product_t* p = &m->product;
  kernel_build_t* k = &p->d->k;
  bool left = side == PRODUCT_LEFT;
  const held_t* held = left ? &m->a : &m->b;
  const place_t *depths = left ? held->column : held->row, *free = left ? held->row : held->column;
  // Vectors only where they lie in memory as whole words.
  int32_t run = run_of(held, depths, free);
  bool words = ((int64_t)ir_type_bytes(m->element) * p->depth) % 4 == 0 && (run * ir_type_bytes(m->element)) % 4 == 0;
  if (at->ends || !words || product_along(p, side) != PRODUCT_ALONG_DEPTH) run = 1;
  ir_value_t* result = kernel_number(&k->b, left ? m->a_type : m->b_type, 0);
  for (int32_t i = 0; i < held->count; i += run) {
    linear_t depth = place_at(m, at->depth, &depths[i]), safe = clamped(k, depth, p->depth);
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
      result = insert(k, result, run > 1 ? kernel_extract(&k->b, value, j) : value, i + j);
    }
  }
  return result;
}

// All right fragments: each load gives one element of every one.
static void load_woven(matrix_t* m, const load_t* at, ir_value_t** out) {
  product_t* p = &m->product;
  kernel_build_t* k = &p->d->k;
  product_column_t columns = m->b_columns[0];
  columns.column.lane = 1;
  for (int64_t x = 0; x < m->across; ++x) out[x] = kernel_number(&k->b, m->b_type, 0);
  for (int32_t i = 0; i < m->b.count; ++i) {
    linear_t depth = place_at(m, at->depth, &m->b.row[i]), safe = clamped(k, depth, p->depth);
    k->lanes = m->across;
    ir_value_t* value = product_right(p, &columns, &at->points[0], safe);
    k->lanes = 1;
    if (at->ends) {
      ir_value_t* exists = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &depth), kernel_index(&k->b, p->depth));
      exists = kernel_splat(&k->b, exists, m->across);
      value = kernel_ternary(&k->b, SCALAR_select, exists, value, kernel_number(&k->b, value->type, 0));
    }
    for (int64_t x = 0; x < m->across; ++x) out[x] = insert(k, out[x], kernel_extract(&k->b, value, x), i);
  }
}

static ir_value_t* multiply_add(matrix_t* m, ir_value_t* a, ir_value_t* b, ir_value_t* c) {
  kernel_build_t* k = &m->product.d->k;
  ir_named_attr_t attr = {"instruction", ir_attr_cstring(k->ctx, m->row->instruction)};
  ir_value_t* operands[] = {a, b, c};
  ir_op_state_t state = {.info = ir_context_op(k->ctx, KERNEL_MMA),
                         .operands = operands,
                         .operand_count = 3,
                         .result_types = &c->type,
                         .result_count = 1,
                         .attrs = &attr,
                         .attr_count = 1};
  return ir_result(ir_build(&k->b, &state), 0);
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
      *slot = multiply_add(m, a[y], b[x], *slot);
    }
  }
}

static void reduce_tap(matrix_t* m, linear_t tap_number, ir_value_t** acc) {
  product_t* p = &m->product;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)(m->down * m->across);
  product_tap_t tap = product_tap(p, tap_number);
  product_point_t points[MAX_FRAGMENTS];
  for (int64_t x = 0; x < m->across; ++x) points[x] = product_point(p, &m->b_columns[x], &tap);
  load_t at = {.tap = &tap, .points = points};
  int64_t whole = p->depth / m->row->k * m->row->k;
  if (whole > 0) {
    kernel_loop_t loop = kernel_loop_constant(k, 0, whole, m->row->k, acc, count);
    ir_value_t* inner[MAX_ACCUMULATORS];
    memcpy(inner, loop.iters, sizeof(ir_value_t*) * count);
    at.depth = linear_value(loop.index);
    index_set_facts(k, loop.index, 0, whole - m->row->k, m->row->k);
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
  product_t* p = &m->product;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)(m->down * m->across);
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, m->row->c_lanes);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_number(&k->b, type, 0);
  eval_fixed_loops(k, &p->taps, 1, acc, count, tap_body, m);
}

//===----------------------------------------------------------------------------------------------------------------===
// Around it
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* below(kernel_build_t* k, const linear_t* at, int64_t size) {
  int64_t min, max;
  linear_range(k, at, &min, &max);
  if (max < size) return NULL;
  return kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, at), kernel_index(&k->b, size));
}

// A fragment's column, of all.
static linear_t column_at(matrix_t* m, int64_t x, const place_t* place) {
  kernel_build_t* k = &m->product.d->k;
  if (is_woven(m)) {
    linear_t within = linear_scale(k, place_at(m, linear_constant(0), place), m->across);
    within.constant += x;
    return linear_add(k, m->first_column, within);
  }
  linear_t first = m->first_column;
  first.constant += x * m->row->n;
  return place_at(m, first, place);
}

static void store_fragment(matrix_t* m, int64_t y, int64_t x, ir_value_t* value) {
  product_t* p = &m->product;
  kernel_build_t* k = &p->d->k;
  for (int32_t i = 0; i < m->c.count; ++i) {
    linear_t first_row = m->first_row;
    first_row.constant += y * m->row->m;
    linear_t row = place_at(m, first_row, &m->c.row[i]), column = column_at(m, x, &m->c.column[i]);
    ir_value_t *row_exists = below(k, &row, p->rows), *column_exists = below(k, &column, p->columns);
    ir_value_t* exists = row_exists ? row_exists : column_exists;
    if (row_exists && column_exists) exists = kernel_binary(&k->b, SCALAR_and, row_exists, column_exists);
    ir_value_t* one = m->c.count > 1 ? kernel_extract(&k->b, value, i) : value;
    kernel_branch_t branch;
    if (exists) branch = kernel_if_begin(&k->b, exists, NULL, 0);
    product_column_t place = product_column(p, column_exists ? clamped(k, column, p->columns) : column);
    product_store(p, row_exists ? clamped(k, row, p->rows) : row, &place, one);
    if (exists) kernel_if_end(&k->b, &branch, NULL, 0);
  }
}

static linear_t id_at(kernel_build_t* k, int64_t axis, int64_t count) {
  if (count == 1) return linear_constant(0);
  ir_value_t* id = kernel_id(&k->b, KERNEL_WORKGROUP_ID, axis);
  index_set_facts(k, id, 0, count - 1, 1);
  return linear_value(id);
}

// Where this lane's fragments begin.
static void find_places(matrix_t* m) {
  product_t* p = &m->product;
  kernel_build_t* k = &p->d->k;
  const mma_row_t* row = m->row;
  ir_value_t* thread = kernel_id(&k->b, KERNEL_THREAD_ID, 0);
  index_set_facts(k, thread, 0, row->subgroup * m->waves - 1, 1);
  linear_t wave, lane;
  linear_divide(k, linear_value(thread), row->subgroup, &wave, &lane);
  linear_divide(k, lane, m->split, &m->high, &m->low);
  m->first_row = linear_scale(k, id_at(k, 1, p->d->workgroups[1]), m->down * row->m);
  m->first_column = linear_scale(k, id_at(k, 0, p->d->workgroups[0]), m->across * row->n * m->waves);
  m->first_column = linear_add(k, m->first_column, linear_scale(k, wave, m->across * row->n));
  p->at_batch = id_at(k, 2, p->batch);
  for (int64_t y = 0; y < m->down; ++y) {
    linear_t first = m->first_row;
    first.constant += y * row->m;
    for (int32_t i = 0; i < m->a.count; ++i) {
      bool same = i > 0 && same_place(&m->a.row[i], &m->a.row[i - 1]);
      m->a_rows[y][i] = same ? m->a_rows[y][i - 1] : clamped(k, place_at(m, first, &m->a.row[i]), p->rows);
    }
  }
  for (int64_t x = 0; x < m->across; ++x) {
    int64_t past = is_woven(m) ? p->columns - m->across + 1 : p->columns;  // vectors begin before
    m->b_columns[x] = product_column(p, clamped(k, column_at(m, is_woven(m) ? 0 : x, &m->b.column[0]), past));
  }
}

void strategy_matrix_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  matrix_t m;
  bool prepared = prepare(&m, d);
  assert(prepared);
  (void)prepared;
  const product_t* p = &m.product;
  m.a_type = kernel_vector_type(d->ctx, m.element, m.row->a_lanes);
  m.b_type = kernel_vector_type(d->ctx, m.element, m.row->b_lanes);
  int64_t size[3] = {m.row->subgroup * m.waves, 1, 1};
  ir_op_set_attr(d->ctx, k->func, "workgroup_size", ir_attr_i64_array(d->ctx, size, 3));
  d->workgroups[0] = ceil_div(p->columns, m.across * m.row->n * m.waves);
  d->workgroups[1] = ceil_div(p->rows, m.down * m.row->m);
  d->workgroups[2] = p->batch;
  find_places(&m);
  ir_value_t* acc[MAX_ACCUMULATORS];
  reduce(&m, acc);
  for (int64_t y = 0; y < m.down; ++y) {
    for (int64_t x = 0; x < m.across; ++x) store_fragment(&m, y, x, acc[y * m.across + x]);
  }
}
