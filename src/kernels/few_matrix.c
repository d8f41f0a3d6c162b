// Products with few rows by matrix instructions: some tokens by a matrix of weights. Rows are padded to those of the
// instruction, which costs nothing: weights are read once, by loads of 16 bytes, and that is what takes time.
//
// What number of the depth an instruction calls k does not matter as long as both operands agree. So a lane gets `run`
// neighbours along the depth in memory, enough for `unroll` instructions, where the instruction's layout has it hold
// some here and some there:
//
//   instruction u, element e of lane group g     <=>     depth  first + g * run + u * each + e
//
// Weights along the depth: a lane reads its column's run at once. Weights along the columns: at each depth of the run
// it reads `across` neighbouring columns, of which each belongs to another fragment. The subgroups of a workgroup share
// the depth; their sums meet in workgroup memory (few_store_sums):
//
//   for step of the depth, this subgroup's:
//     right[x], left[y] = runs
//     for u < unroll:  acc[y][x] = mma left[y] of u, right[x] of u, acc[y][x]
#include <assert.h>
#include <string.h>

#include "kernels/few.h"
#include "kernels/staged.h"

enum {
  MOST_ROWS = 31,
  MOST_COPIED_ROWS = 16,  // where tiles can be copied asynchronously, as staged.c does with more
  ONE_ROW_COLUMNS = 64,   // times the device's units: with more of them one row is faster lane by lane
  MAX_DOWN = 4,
  MAX_ACROSS = 8,
  MAX_RUN = 16,
  MAX_REPEATS = 8,
  MAX_LOADS = 8,  // of the right that a lane has on their way
  MAX_LISTED = MAX_REPEATS * MAX_RUN,
  MAX_ACCUMULATORS = 16
};

typedef struct few_matrix_t {
  fragments_t f;
  bool along_depth;                     // the right in memory
  int64_t each;                         // depths of a lane in an instruction
  int32_t order[2][FRAGMENT_MAX_HELD];  // which of them a fragment's element is
  int32_t free_count;                   // rows of a lane in a left fragment
  place_t frees[2];                     // they
  int32_t free_of[FRAGMENT_MAX_HELD];   // which of them a left fragment's element is
  int64_t unroll, run;                  // instructions of a step; unroll * each
  int64_t down, across;                 // fragments
  int64_t left_width, right_width;      // of loads
  int64_t repeats;                      // steps at once
  bool ahead;                           // their loads are on their way a step before
  int64_t subgroups;                    // of a workgroup
  team_t team;
  linear_t group;                // of the lane along the depth
  linear_t rows[MAX_DOWN][2];    // of the left that a lane reads
  linear_t columns[MAX_ACROSS];  // of the right
} few_matrix_t;

//===----------------------------------------------------------------------------------------------------------------===
// Choice
//===----------------------------------------------------------------------------------------------------------------===

// Which of the right's depths that is; -1: none.
static int32_t rank_of(const held_t* right, const place_t* depth) {
  int32_t rank = 0;
  bool found = false;
  for (int32_t i = 0; i < right->count; ++i) {
    rank += right->row[i].base < depth->base;
    found |= place_equal(&right->row[i], depth);
  }
  return found ? rank : -1;
}

static bool read_left_row(few_matrix_t* m, int32_t i) {
  const place_t* row = &m->f.a.row[i];
  int32_t at = 0;
  while (at < m->free_count && !place_equal(&m->frees[at], row)) ++at;
  if (at == 2) return false;
  if (at == m->free_count) m->frees[m->free_count++] = *row;
  m->free_of[i] = at;
  return true;
}

// Lanes of both sides must have the same depths, those of a group all of its own, and none what another one has.
static bool read_layout(few_matrix_t* m) {
  const fragments_t* f = &m->f;
  const place_t* depth = &f->b.row[0];
  if ((depth->low && depth->high) || f->b.column[0].base != 0) return false;
  m->each = f->b.count;
  for (int32_t i = 0; i < f->b.count; ++i) {
    m->order[PRODUCT_RIGHT][i] = rank_of(&f->b, &f->b.row[i]);
    for (int32_t j = 0; j < i; ++j) {
      if (f->b.row[j].base == f->b.row[i].base) return false;
    }
    if (f->b.row[i].low != depth->low || f->b.row[i].high != depth->high) return false;
  }
  m->free_count = 0;
  for (int32_t i = 0; i < f->a.count; ++i) {
    m->order[PRODUCT_LEFT][i] = rank_of(&f->b, &f->a.column[i]);
    if (m->order[PRODUCT_LEFT][i] < 0 || !read_left_row(m, i)) return false;
  }
  int64_t groups = depth->low ? f->split : depth->high ? f->row->subgroup / f->split : 1;
  return groups * m->each == f->row->k && groups * f->row->n == f->row->subgroup &&
         m->free_count * m->each == f->a.count;
}

static int64_t block_columns(const few_matrix_t* m) { return m->across * m->f.row->n; }

static int64_t workgroup_count(const few_matrix_t* m) {
  return m->f.product.batch * ceil_div(m->f.product.columns, block_columns(m));
}

// Depths that a subgroup takes at once.
static int64_t step_depth(const few_matrix_t* m) { return m->f.row->k * m->unroll * m->repeats; }

// Rows of the block in workgroup memory: whole fragments, but for what no lane has to write.
static int64_t padded_rows(const few_matrix_t* m) {
  int64_t most = 0, rows = m->f.product.rows;
  for (int64_t y = 0; y < m->down; ++y) {
    for (int32_t i = 0; i < m->f.c.count; ++i) {
      const place_t* place = &m->f.c.row[i];
      int64_t first = y * m->f.row->m + place->base;
      int64_t last = first + place->low * (m->f.split - 1) + place->high * (m->f.row->subgroup / m->f.split - 1);
      if (first < rows && last + 1 > most) most = last + 1;
    }
  }
  return most;
}

// From one row to the next, so that the rows of a fragment begin in different banks.
static int64_t row_stride(const few_matrix_t* m) { return block_columns(m) + (m->along_depth ? 8 : 2); }

// Fewer columns where whole rounds of workgroups would leave many units of the device idle.
static void plan_across(few_matrix_t* m, int64_t bytes) {
  const product_t* p = &m->f.product;
  int64_t units = p->d->device->compute_units, least = m->along_depth || bytes >= 4 ? 1 : 4 / bytes;
  m->across = m->along_depth ? 4 : FEW_WORD / bytes;
  while (m->across > 1 && m->across * m->down > MAX_ACCUMULATORS) m->across /= 2;
  for (; m->across > least; m->across /= 2) {
    int64_t count = workgroup_count(m), rounds = ceil_div(count, units);
    if (rounds * units * 4 <= count * 5) break;
  }
  while (!m->along_depth && p->columns % m->across) m->across /= 2;
}

static void plan_subgroups(few_matrix_t* m, int64_t bytes) {
  enum { MAX_THREADS = 512, MAX_THREADS_OF_MANY = 256, MANY = 8, SHARED = 72 << 10 };
  const product_t* p = &m->f.product;
  const device_info_t* device = p->d->device;
  int64_t loads = m->along_depth ? m->across * m->run / m->right_width : m->run;
  m->ahead = m->down == 1;
  m->repeats = m->ahead || loads >= MAX_LOADS ? 1 : few_power_below(MAX_LOADS / loads, MAX_REPEATS);
  int64_t lanes = device->subgroup_size, loaded = loads * m->repeats * m->right_width * bytes;
  int64_t threads = m->down * m->across > MANY ? MAX_THREADS_OF_MANY : MAX_THREADS;
  int64_t most = few_power_below(device->max_workgroup_size, threads) / lanes, least = m->along_depth ? 8 : 4,
          shared = device->workgroup_memory_bytes < SHARED ? device->workgroup_memory_bytes : SHARED,
          sums = padded_rows(m) * row_stride(m) * (int64_t)ir_type_bytes(p->accumulator);
  for (m->subgroups = 1; m->subgroups * 2 <= most && m->subgroups * 2 * sums <= shared; m->subgroups *= 2) {
    bool enough = m->subgroups >= least && workgroup_count(m) * m->subgroups * lanes * loaded >= FEW_BYTES_IN_FLIGHT;
    if (enough || m->subgroups * 2 * step_depth(m) > p->depth) break;
  }
}

// Pads the rows least, then takes the most of the depth.
static bool choose_instruction(few_matrix_t* m) {
  const device_info_t* device = m->f.product.d->device;
  few_matrix_t best = {0};
  int64_t least = INT64_MAX;
  for (int32_t i = 0; i < device->mma_count; ++i) {
    if (!fragments_fit(&m->f, &device->mma[i]) || !read_layout(m)) continue;
    int64_t rows = ceil_div(m->f.product.rows, m->f.row->m) * m->f.row->m, cost = rows * 1024 - m->f.row->k;
    if (cost >= least) continue;
    least = cost;
    best = *m;
  }
  if (least < INT64_MAX) *m = best;
  return least < INT64_MAX;
}

static bool prepare(few_matrix_t* m, dispatch_t* d) {
  memset(m, 0, sizeof(*m));
  if (!fragments_read(&m->f, d, false)) return false;
  const product_t* p = &m->f.product;
  product_along_t along = product_along(p, PRODUCT_RIGHT);
  int64_t bytes = (int64_t)ir_type_bytes(m->f.element);
  if (p->is_conv || p->rows > MOST_ROWS || p->columns < 32 || p->depth < 64) return false;
  if (p->rows == 1 && p->columns >= ONE_ROW_COLUMNS * d->device->compute_units) return false;
  if (along == PRODUCT_ALONG_NOTHING || (along == PRODUCT_ALONG_ROWS && bytes < 2) || bytes > 8) return false;
  m->along_depth = along == PRODUCT_ALONG_DEPTH;
  if (p->rows > MOST_COPIED_ROWS && staged_copies_tiles(d)) return false;
  if (!choose_instruction(m)) return false;
  m->unroll = m->each * bytes < FEW_WORD ? FEW_WORD / (m->each * bytes) : 1;
  m->run = m->unroll * m->each;
  m->down = ceil_div(p->rows, m->f.row->m);
  if (m->run > MAX_RUN || m->down > MAX_DOWN) return false;
  int64_t width = m->run * bytes > FEW_WORD ? FEW_WORD / bytes : m->run;
  while (p->depth % width) width /= 2;
  m->left_width = product_along(p, PRODUCT_LEFT) == PRODUCT_ALONG_DEPTH ? width : 1;
  plan_across(m, bytes);
  m->right_width = m->along_depth ? width : m->across;
  plan_subgroups(m, bytes);
  return p->batch <= FRAGMENT_MAX_GRID && ceil_div(p->columns, block_columns(m)) <= FRAGMENT_MAX_GRID;
}

bool strategy_few_matrix_proposes(const dispatch_t* d, candidate_t* c) {
  few_matrix_t m;
  return prepare(&m, (dispatch_t*)d) ||
         candidate_declines(
             c, fragments_decline(
                    (dispatch_t*)d, false,
                    "it has more than 31 rows, fewer than 32 columns or 64 of depth, or weights lie otherwise"));
}

//===----------------------------------------------------------------------------------------------------------------===
// Runs
//===----------------------------------------------------------------------------------------------------------------===

// What a lane loads of one row or column: vectors along the depth; or of as many columns as there are fragments: a
// vector of them for each depth.
typedef struct run_t {
  ir_value_t* loads[MAX_RUN];
} run_t;

// `ends`: the depth may end within the run.
static run_t load_run(few_matrix_t* m, product_side_t side, linear_t free, linear_t depth, bool ends) {
  product_t* p = &m->f.product;
  kernel_build_t* k = &p->d->k;
  bool columns = side == PRODUCT_RIGHT && !m->along_depth;
  int64_t width = side == PRODUCT_LEFT ? m->left_width : m->right_width, along = columns ? 1 : width;
  run_t run = {0};
  if (columns) free.lane = width > 1;
  for (int64_t i = 0; i < m->run / along; ++i, depth.constant += along) {
    ir_value_t* exists = ends ? fragment_below(k, &depth, p->depth) : NULL;
    linear_t at = ends ? fragment_clamp(k, depth, p->depth, along) : depth;
    at.lane = along > 1;
    run.loads[i] = few_load(p, side, free, at, width, exists);
  }
  return run;
}

// A fragment of the right: of column x of those that a lane has loaded, or of the run of its own.
static ir_value_t* right_fragment(few_matrix_t* m, const run_t* run, int64_t x, int64_t u) {
  kernel_build_t* k = &m->f.product.d->k;
  int32_t count = m->f.b.count;
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, m->f.element, count), 0);
  int64_t width = m->along_depth ? m->right_width : 1, mask[FRAGMENT_MAX_HELD];
  for (int32_t i = 0; i < count; ++i) mask[i] = (u * m->each + m->order[PRODUCT_RIGHT][i]) % width;
  int64_t first = u * m->each / width;
  if (m->along_depth && count > 1 && width >= m->each) {
    return kernel_shuffle(&k->b, run->loads[first], run->loads[first], mask, (uint32_t)count);
  }
  for (int32_t i = 0; i < count; ++i) {
    ir_value_t* load = run->loads[(u * m->each + m->order[PRODUCT_RIGHT][i]) / width];
    int64_t lane = m->along_depth ? mask[i] : x;
    result = kernel_insert(&k->b, result, kernel_lanes(load) > 1 ? kernel_extract(&k->b, load, lane) : load, i);
  }
  return result;
}

// One of the left, of as many runs as a lane has rows.
static ir_value_t* left_fragment(few_matrix_t* m, const run_t* runs, int64_t u) {
  kernel_build_t* k = &m->f.product.d->k;
  int32_t count = m->f.a.count;
  int64_t width = m->left_width, mask[FRAGMENT_MAX_HELD], first = u * m->each / width;
  if (count > 1 && width >= m->each && width > 1) {
    for (int32_t i = 0; i < count; ++i) {
      mask[i] = m->free_of[i] * width + (u * m->each + m->order[PRODUCT_LEFT][i]) % width;
    }
    return kernel_shuffle(&k->b, runs[0].loads[first], runs[m->free_count - 1].loads[first], mask, (uint32_t)count);
  }
  ir_value_t* result = kernel_number(&k->b, kernel_vector_type(k->ctx, m->f.element, count), 0);
  for (int32_t i = 0; i < count; ++i) {
    int64_t at = u * m->each + m->order[PRODUCT_LEFT][i];
    ir_value_t* load = runs[m->free_of[i]].loads[at / width];
    result = kernel_insert(&k->b, result, width > 1 ? kernel_extract(&k->b, load, at % width) : load, i);
  }
  return result;
}

// The left's run of a row; zeros where that is of no lane a row of the product.
static run_t load_left(few_matrix_t* m, int64_t y, int32_t which, linear_t depth, bool ends) {
  kernel_build_t* k = &m->f.product.d->k;
  if (y * m->f.row->m + m->frees[which].base < m->f.product.rows) {
    return load_run(m, PRODUCT_LEFT, m->rows[y][which], depth, ends);
  }
  run_t run = {0};
  const ir_type_t* type = kernel_vector_type(k->ctx, m->f.element, m->left_width);
  for (int64_t i = 0; i < m->run / m->left_width; ++i) run.loads[i] = kernel_number(&k->b, type, 0);
  return run;
}

//===----------------------------------------------------------------------------------------------------------------===
// The reduction
//===----------------------------------------------------------------------------------------------------------------===

// What a lane reads of the right at m->repeats steps.
typedef struct steps_t {
  run_t runs[MAX_REPEATS][MAX_ACROSS];
} steps_t;

// From the first step's depth on.
static linear_t step_place(few_matrix_t* m, linear_t first, int64_t r) {
  kernel_build_t* k = &m->f.product.d->k;
  linear_t depth = linear_add(k, first, linear_scale(k, m->group, m->run));
  depth.constant += r * m->f.row->k * m->unroll;
  return depth;
}

static int64_t run_count(const few_matrix_t* m) { return m->along_depth ? m->across : 1; }

static void load_steps(few_matrix_t* m, linear_t first, bool ends, steps_t* out) {
  for (int64_t r = 0; r < m->repeats; ++r) {
    linear_t depth = step_place(m, first, r);
    for (int64_t x = 0; x < run_count(m); ++x) {
      out->runs[r][x] = load_run(m, PRODUCT_RIGHT, m->columns[x], depth, ends);
    }
  }
}

// All loads in order, as a list, or back.
static uint32_t list_loads(const few_matrix_t* m, steps_t* steps, ir_value_t** list, bool back) {
  uint32_t count = 0;
  int64_t loads = m->run / (m->along_depth ? m->right_width : 1);
  for (int64_t r = 0; r < m->repeats; ++r) {
    for (int64_t x = 0; x < run_count(m); ++x) {
      for (int64_t i = 0; i < loads; ++i, ++count) {
        ir_value_t** load = &steps->runs[r][x].loads[i];
        if (back) *load = list[count];
        list[count] = *load;
      }
    }
  }
  return count;
}

static void multiply_steps(few_matrix_t* m, const steps_t* right, linear_t first, bool ends, ir_value_t** acc) {
  run_t left[2];
  for (int64_t r = 0; r < m->repeats; ++r) {
    linear_t depth = step_place(m, first, r);
    for (int64_t y = 0; y < m->down; ++y) {
      for (int32_t i = 0; i < m->free_count; ++i) left[i] = load_left(m, y, i, depth, ends);
      for (int64_t u = 0; u < m->unroll; ++u) {
        ir_value_t* a = left_fragment(m, left, u);
        for (int64_t x = 0; x < m->across; ++x) {
          ir_value_t* b = right_fragment(m, &right->runs[r][m->along_depth ? x : 0], x, u);
          ir_value_t** slot = &acc[y * m->across + x];
          *slot = fragment_multiply_add(&m->f, a, b, *slot);
        }
      }
    }
  }
}

// Whole steps of all subgroups.
static void reduce_whole(few_matrix_t* m, int64_t whole, int64_t step, linear_t offset, ir_value_t** acc) {
  kernel_build_t* k = &m->f.product.d->k;
  uint32_t count = (uint32_t)(m->down * m->across);
  steps_t steps;
  kernel_loop_t loop = kernel_loop_constant(k, 0, whole, step, acc, count);
  linear_t at = linear_add(k, linear_value(loop.index), offset);
  memcpy(acc, loop.iters, sizeof(*acc) * count);
  load_steps(m, at, false, &steps);
  multiply_steps(m, &steps, at, false, acc);
  kernel_for_end(&k->b, &loop, acc, count);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
}

// The same with the next step's loads always on their way; the last ones load theirs again.
static void reduce_ahead(few_matrix_t* m, int64_t whole, int64_t step, linear_t offset, ir_value_t** acc) {
  kernel_build_t* k = &m->f.product.d->k;
  ir_value_t* values[MAX_ACCUMULATORS + MAX_LISTED];
  uint32_t count = (uint32_t)(m->down * m->across);
  steps_t now, next;
  load_steps(m, offset, false, &now);
  memcpy(values, acc, sizeof(*acc) * count);
  uint32_t all = count + list_loads(m, &now, values + count, false);
  kernel_loop_t loop = kernel_loop_constant(k, 0, whole, step, values, all);
  linear_t coming = linear_value(loop.index);
  coming.constant += step;
  load_steps(m, linear_add(k, fragment_clamp(k, coming, whole, step), offset), false, &next);
  memcpy(values, loop.iters, sizeof(*values) * all);
  list_loads(m, &now, values + count, true);
  multiply_steps(m, &now, linear_add(k, linear_value(loop.index), offset), false, values);
  list_loads(m, &next, values + count, false);
  kernel_for_end(&k->b, &loop, values, all);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
}

static void reduce(few_matrix_t* m, ir_value_t** acc) {
  product_t* p = &m->f.product;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)(m->down * m->across);
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, m->f.row->c_lanes);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_number(&k->b, type, 0);
  int64_t own = step_depth(m), step = own * m->subgroups, whole = p->depth / step * step;
  if (whole) (m->ahead ? reduce_ahead : reduce_whole)(m, whole, step, linear_scale(k, m->team.number, own), acc);
  if (whole == p->depth) return;
  m->repeats = 1;
  own = step_depth(m);
  linear_t at = linear_scale(k, m->team.number, own);
  for (at.constant = whole; at.constant < p->depth; at.constant += own * m->subgroups) {
    steps_t steps;
    load_steps(m, at, true, &steps);
    multiply_steps(m, &steps, at, true, acc);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// The kernel
//===----------------------------------------------------------------------------------------------------------------===

static void find_places(few_matrix_t* m, linear_t block) {
  product_t* p = &m->f.product;
  kernel_build_t* k = &p->d->k;
  const place_t* depth = &m->f.b.row[0];
  linear_divide(k, m->team.lane, m->f.split, &m->f.high, &m->f.low);
  m->group = depth->low ? m->f.low : depth->high ? m->f.high : linear_constant(0);
  for (int64_t y = 0; y < m->down; ++y) {
    for (int32_t i = 0; i < m->free_count; ++i) {
      linear_t row = fragment_at(&m->f, linear_constant(y * m->f.row->m), &m->frees[i]);
      m->rows[y][i] = fragment_clamp(k, row, p->rows, 1);
    }
  }
  linear_t column = fragment_at(&m->f, linear_constant(0), &m->f.b.column[0]);
  if (!m->along_depth) column = linear_scale(k, column, m->across);
  column = linear_add(k, block, column);
  for (int64_t x = 0; x < (m->along_depth ? m->across : 1); ++x, column.constant += m->f.row->n) {
    m->columns[x] = fragment_clamp(k, column, p->columns, m->along_depth ? 1 : m->across);
  }
}

// A lane's sums to workgroup memory, but for those of rows that nobody has.
static void write_sums(few_matrix_t* m, const few_sums_t* sums, ir_value_t* const* acc) {
  product_t* p = &m->f.product;
  kernel_build_t* k = &p->d->k;
  linear_t own = linear_scale(k, m->team.number, sums->each);
  for (int64_t y = 0; y < m->down; ++y) {
    for (int64_t x = 0; x < m->across; ++x) {
      for (int32_t i = 0; i < m->f.c.count; ++i) {
        int64_t first = y * m->f.row->m;
        if (first + m->f.c.row[i].base >= p->rows) continue;
        linear_t row = fragment_at(&m->f, linear_constant(first), &m->f.c.row[i]);
        linear_t column = fragment_at(&m->f, linear_constant(0), &m->f.c.column[i]);
        if (!m->along_depth) column = linear_scale(k, column, m->across);
        column.constant += m->along_depth ? x * m->f.row->n : x;
        linear_t at = linear_add(k, own, linear_add(k, linear_scale(k, row, sums->stride), column));
        ir_value_t* fragment = acc[y * m->across + x];
        ir_value_t* value = m->f.c.count > 1 ? kernel_extract(&k->b, fragment, i) : fragment;
        kernel_store(&k->b, value, sums->memory, linear_scalar(k, &at));
      }
    }
  }
}

void strategy_few_matrix_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  few_matrix_t m;
  bool prepared = prepare(&m, d);
  assert(prepared);
  (void)prepared;
  product_t* p = &m.f.product;
  m.team = team_begin(d, m.subgroups * d->device->subgroup_size);
  d->workgroups[0] = ceil_div(p->columns, block_columns(&m));
  d->workgroups[2] = p->batch;
  p->at_batch = fragment_workgroup(k, 2, p->batch);
  linear_t block = linear_scale(k, fragment_workgroup(k, 0, d->workgroups[0]), block_columns(&m));
  few_sums_t sums = {.columns = block_columns(&m), .stride = row_stride(&m)};
  sums.each = padded_rows(&m) * sums.stride;
  sums.memory = kernel_alloc(&k->b, p->accumulator, m.subgroups * sums.each, IR_SPACE_WORKGROUP);
  find_places(&m, block);
  ir_value_t* acc[MAX_ACCUMULATORS];
  reduce(&m, acc);
  write_sums(&m, &sums, acc);
  team_barrier(k);
  few_store_sums(p, &m.team, &sums, block);
}
