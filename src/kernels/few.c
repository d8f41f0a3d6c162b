// Products with few rows on GPUs: a vector, or a few tokens, by a matrix of weights. They read the weights once, and
// nothing else takes time: loads are wide, side by side, and many are on their way. How the weights lie decides.
//
//   along the depth:   a subgroup has a few columns, its lanes stride over the depth
//     for step of the depth:
//       acc[row][column] += left[row, step + lane] * right[column, step + lane]     vectors of the depth
//     acc[row][column] summed over the vector, then over the lanes; one lane stores
//
//   along the columns: a lane has a vector of columns, the subgroups of the workgroup share the depth
//     for step of the depth, this subgroup's:
//       acc[row] += left[row, step] * right[columns, step]                          vectors of columns
//     acc[row] of all subgroups summed through workgroup memory, each thread some of the results
#include "kernels/few.h"

#include <assert.h>
#include <string.h>

#include "passes/spread.h"

enum {
  MAX_SUMS = 64,  // numbers that a lane adds up
  MAX_ACROSS = 4,
  MAX_LOADS = 16,
  MAX_THREADS = 512,  // of a workgroup: more leave too few registers to each
  SHARED = 32 << 10   // bytes of workgroup memory at most
};

typedef struct few_t {
  product_t p;
  bool along_depth;
  int64_t width;       // elements of the right in a load
  int64_t left_width;  // of the left, where the right lies along the columns
  int64_t subgroups;   // of a workgroup
  int64_t across;      // columns of a subgroup, where the right lies along the depth
  int64_t loads;       // of the right, for each column, that are on their way at once
  team_t team;
  product_column_t columns[MAX_ACROSS];  // that the lane reads
} few_t;

//===----------------------------------------------------------------------------------------------------------------===
// Choice
//===----------------------------------------------------------------------------------------------------------------===

int64_t few_power_below(int64_t value, int64_t most) {
  int64_t power = 1;
  while (power * 2 <= value && power * 2 <= most) power *= 2;
  return power;
}

// Columns of a workgroup.
static int64_t block_columns(const few_t* f) {
  return f->along_depth ? f->across * f->subgroups : f->width * f->p.d->device->subgroup_size;
}

static int64_t workgroup_count(const few_t* f) { return f->p.batch * ceil_div(f->p.columns, block_columns(f)); }

static void plan_along_depth(few_t* f) {
  const product_t* p = &f->p;
  while (p->depth % f->width) f->width /= 2;
  f->subgroups = few_power_below(p->d->device->max_workgroup_size / p->d->device->subgroup_size, 4);
  f->across = few_power_below(MAX_SUMS / (p->rows * f->width), MAX_ACROSS);
  f->loads = MAX_ACROSS / f->across;
}

static void plan_along_columns(few_t* f, int64_t bytes) {
  const product_t* p = &f->p;
  const device_info_t* device = p->d->device;
  int64_t lanes = device->subgroup_size;
  while (p->columns % f->width || f->width * p->rows > MAX_SUMS) f->width /= 2;
  while (f->width * bytes > 4 && f->width > 1 && workgroup_count(f) < device->compute_units) f->width /= 2;
  f->loads = few_power_below(MAX_SUMS / f->width, MAX_LOADS);
  int64_t most = few_power_below(device->max_workgroup_size, MAX_THREADS) / lanes,
          shared = device->workgroup_memory_bytes < SHARED ? device->workgroup_memory_bytes : SHARED;
  for (f->subgroups = 1; f->subgroups * 2 <= most; f->subgroups *= 2) {
    int64_t all = workgroup_count(f) * f->subgroups * lanes * f->loads * f->width * bytes;
    int64_t memory = 2 * f->subgroups * p->rows * block_columns(f) * (int64_t)ir_type_bytes(p->accumulator);
    if (memory > shared || f->subgroups * 2 * f->loads > p->depth || (f->subgroups >= 8 && all >= FEW_BYTES_IN_FLIGHT))
      break;
  }
  f->left_width = product_along(p, PRODUCT_LEFT) == PRODUCT_ALONG_DEPTH ? few_power_below(f->loads, 8) : 1;
}

static bool prepare(few_t* f, dispatch_t* d) {
  memset(f, 0, sizeof(*f));
  product_t* p = &f->p;
  if (d->device->kind != DEVICE_GPU || !product_read(p, d) || p->is_conv || p->dynamic) return false;
  if (!spread_is_few(p->rows, p->columns) || p->depth < 2 * d->device->subgroup_size) return false;
  int64_t bytes = (int64_t)ir_type_bytes(ir_operand(p->op, p->turned ? 0 : 1)->type->element);
  product_along_t along = product_along(p, PRODUCT_RIGHT);
  if (along == PRODUCT_ALONG_NOTHING || bytes > FEW_WORD) return false;
  f->along_depth = along == PRODUCT_ALONG_DEPTH;
  f->width = FEW_WORD / bytes;
  if (f->along_depth) {
    plan_along_depth(f);
  } else {
    plan_along_columns(f, bytes);
  }
  return p->batch <= FRAGMENT_MAX_GRID && ceil_div(p->columns, block_columns(f)) <= FRAGMENT_MAX_GRID;
}

bool strategy_few_proposes(const dispatch_t* d, candidate_t* c) {
  few_t f;
  if (prepare(&f, (dispatch_t*)d)) return true;
  return candidate_declines(
      c, "it has more than eight rows or little depth, weights lie otherwise, or only run time knows sizes");
}

//===----------------------------------------------------------------------------------------------------------------===
// Loads
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* few_load(product_t* p, product_side_t side, linear_t free, linear_t depth, int64_t width,
                     ir_value_t* exists) {
  kernel_build_t* k = &p->d->k;
  product_column_t column = {.column = free};
  k->lanes = width;
  ir_value_t* value =
      side == PRODUCT_LEFT ? product_left(p, free, NULL, depth) : product_right(p, &column, NULL, depth);
  k->lanes = 1;
  value = kernel_splat(&k->b, value, kernel_lanes(value) == 1 ? width : 1);
  if (!exists) return value;
  ir_value_t* zero = kernel_number(&k->b, value->type, 0);
  return kernel_ternary(&k->b, SCALAR_select, kernel_splat(&k->b, exists, width), value, zero);
}

//===----------------------------------------------------------------------------------------------------------------===
// Weights that lie along the depth
//===----------------------------------------------------------------------------------------------------------------===

// Adds `loads` vectors of each lane; past the end there are zeros.
static void add_depths(few_t* f, linear_t first, int64_t loads, ir_value_t** sums) {
  product_t* p = &f->p;
  kernel_build_t* k = &p->d->k;
  ir_value_t *right[MAX_LOADS], *exists[MAX_LOADS];
  linear_t at[MAX_LOADS];
  for (int64_t u = 0; u < loads; ++u) {
    linear_t place = linear_add(k, first, linear_scale(k, f->team.lane, f->width));
    place.constant += u * f->team.subgroup * f->width;
    exists[u] = fragment_below(k, &place, p->depth);
    at[u] = fragment_clamp(k, place, p->depth, f->width);
    at[u].lane = f->width > 1;
    for (int64_t c = 0; c < f->across; ++c) {
      right[u * f->across + c] = few_load(&f->p, PRODUCT_RIGHT, f->columns[c].column, at[u], f->width, exists[u]);
    }
  }
  for (int64_t u = 0; u < loads; ++u) {
    for (int64_t c = 0; c < f->across; ++c) {
      ir_value_t** one = &right[u * f->across + c];
      *one = product_widen(p, PRODUCT_RIGHT, *one);
    }
    for (int64_t r = 0; r < p->rows; ++r) {
      linear_t row = linear_constant(r);
      ir_value_t* left = product_widen(p, PRODUCT_LEFT, few_load(&f->p, PRODUCT_LEFT, row, at[u], f->width, exists[u]));
      for (int64_t c = 0; c < f->across; ++c) {
        ir_value_t** slot = &sums[r * f->across + c];
        *slot = eval_multiply_add(k, left, right[u * f->across + c], *slot);
      }
    }
  }
}

// The sum of all lanes' vectors, in every lane.
static ir_value_t* sum_lanes(few_t* f, ir_value_t* value) {
  kernel_build_t* k = &f->p.d->k;
  return team_fold(k, SCALAR_add, kernel_reduce(&k->b, value, "add"));
}

static void store_results(few_t* f, linear_t first, ir_value_t** sums) {
  product_t* p = &f->p;
  kernel_build_t* k = &p->d->k;
  for (int64_t i = 0; i < p->rows * f->across; ++i) sums[i] = sum_lanes(f, sums[i]);
  ir_value_t* is_first = kernel_binary(&k->b, SCALAR_eq, linear_scalar(k, &f->team.lane), kernel_index(&k->b, 0));
  kernel_branch_t lane = kernel_if_begin(&k->b, is_first, NULL, 0);
  for (int64_t c = 0; c < f->across; ++c, ++first.constant) {
    ir_value_t* exists = fragment_below(k, &first, p->columns);
    kernel_branch_t branch = {0};
    if (exists) branch = kernel_if_begin(&k->b, exists, NULL, 0);
    for (int64_t r = 0; r < p->rows; ++r) {
      product_store(p, linear_constant(r), &f->columns[c], sums[r * f->across + c]);
    }
    if (exists) kernel_if_end(&k->b, &branch, NULL, 0);
  }
  kernel_if_end(&k->b, &lane, NULL, 0);
}

static void build_along_depth(few_t* f, linear_t block) {
  product_t* p = &f->p;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)(p->rows * f->across);
  linear_t first = linear_add(k, block, linear_scale(k, f->team.number, f->across)), column = first;
  for (int64_t c = 0; c < f->across; ++c, ++column.constant) {
    f->columns[c] = product_column(p, fragment_clamp(k, column, p->columns, 1));
  }
  ir_value_t* sums[SPREAD_FEW_ROWS * MAX_ACROSS];
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, f->width);
  for (uint32_t i = 0; i < count; ++i) sums[i] = kernel_number(&k->b, type, 0);
  int64_t one = f->team.subgroup * f->width, step = one * f->loads, whole = p->depth / step * step;
  if (whole) {
    kernel_loop_t loop = kernel_loop_constant(k, 0, whole, step, sums, count);
    memcpy(sums, loop.iters, sizeof(*sums) * count);
    add_depths(f, linear_value(loop.index), f->loads, sums);
    kernel_for_end(&k->b, &loop, sums, count);
    for (uint32_t i = 0; i < count; ++i) sums[i] = kernel_loop_result(&loop, i);
  }
  if (whole < p->depth) add_depths(f, linear_constant(whole), ceil_div(p->depth - whole, one), sums);
  store_results(f, first, sums);
}

//===----------------------------------------------------------------------------------------------------------------===
// Weights that lie along the columns
//===----------------------------------------------------------------------------------------------------------------===

// Row r of the left at f->loads depths from `first` on, which is inside: `out`, splat to a vector of columns.
static void load_left(few_t* f, int64_t r, linear_t first, ir_value_t** out) {
  kernel_build_t* k = &f->p.d->k;
  linear_t row = linear_constant(r);
  for (int64_t u = 0; u < f->loads; u += f->left_width, first.constant += f->left_width) {
    linear_t at = first;
    at.lane = f->left_width > 1;
    ir_value_t* values =
        product_widen(&f->p, PRODUCT_LEFT, few_load(&f->p, PRODUCT_LEFT, row, at, f->left_width, NULL));
    for (int64_t i = 0; i < f->left_width; ++i) {
      ir_value_t* value = f->left_width > 1 ? kernel_extract(&k->b, values, i) : values;
      out[u + i] = kernel_splat(&k->b, value, f->width);
    }
  }
}

// Adds the rows of the right at f->loads depths.
static void add_rows(few_t* f, linear_t first, ir_value_t** sums) {
  product_t* p = &f->p;
  kernel_build_t* k = &p->d->k;
  ir_value_t *right[MAX_LOADS], *left[MAX_LOADS];
  linear_t at = first, columns = f->columns[0].column;
  columns.lane = f->width > 1;
  for (int64_t u = 0; u < f->loads; ++u, ++at.constant) {
    right[u] = few_load(&f->p, PRODUCT_RIGHT, columns, at, f->width, NULL);
  }
  for (int64_t u = 0; u < f->loads; ++u) right[u] = product_widen(p, PRODUCT_RIGHT, right[u]);
  for (int64_t r = 0; r < p->rows; ++r) {
    load_left(f, r, first, left);
    for (int64_t u = 0; u < f->loads; ++u) sums[r] = eval_multiply_add(k, left[u], right[u], sums[r]);
  }
}

// The depths behind the last whole step, one by one: every so-manieth is this subgroup's.
static void add_rest(few_t* f, int64_t whole, ir_value_t** sums) {
  product_t* p = &f->p;
  kernel_build_t* k = &p->d->k;
  linear_t columns = f->columns[0].column;
  columns.lane = f->width > 1;
  for (; whole < p->depth; whole += f->subgroups) {
    linear_t at = f->team.number;
    at.constant += whole;
    ir_value_t* exists = fragment_below(k, &at, p->depth);
    at = fragment_clamp(k, at, p->depth, 1);
    ir_value_t* right = product_widen(p, PRODUCT_RIGHT, few_load(&f->p, PRODUCT_RIGHT, columns, at, f->width, exists));
    for (int64_t r = 0; r < p->rows; ++r) {
      linear_t row = linear_constant(r);
      ir_value_t* left = product_widen(p, PRODUCT_LEFT, few_load(&f->p, PRODUCT_LEFT, row, at, 1, exists));
      sums[r] = eval_multiply_add(k, kernel_splat(&k->b, left, f->width), right, sums[r]);
    }
  }
}

void few_store_sums(product_t* p, const team_t* team, const few_sums_t* sums, linear_t block) {
  kernel_build_t* k = &p->d->k;
  int64_t all = p->rows * sums->columns;
  for (int64_t done = 0; done < all; done += team->size) {
    linear_t number = team->thread, row, column;
    number.constant += done;
    ir_value_t* mine = fragment_below(k, &number, all);
    kernel_branch_t branch = {0}, inside = {0};
    if (mine) branch = kernel_if_begin(&k->b, mine, NULL, 0);
    linear_divide(k, fragment_clamp(k, number, all, 1), sums->columns, &row, &column);
    ir_value_t* sum = NULL;
    for (int64_t s = 0; s < team->subgroups; ++s) {
      linear_t from = linear_add(k, linear_scale(k, row, sums->stride), column);
      from.constant += s * sums->each;
      ir_value_t* part = kernel_load(&k->b, sums->memory, linear_scalar(k, &from), 1);
      sum = sum ? kernel_add(&k->b, sum, part) : part;
    }
    column = linear_add(k, block, column);
    ir_value_t* exists = fragment_below(k, &column, p->columns);
    if (exists) inside = kernel_if_begin(&k->b, exists, NULL, 0);
    product_column_t place = product_column(p, fragment_clamp(k, column, p->columns, 1));
    product_store(p, row, &place, sum);
    if (exists) kernel_if_end(&k->b, &inside, NULL, 0);
    if (mine) kernel_if_end(&k->b, &branch, NULL, 0);
  }
}

// Sums of all subgroups.
static void sum_subgroups(few_t* f, linear_t block, ir_value_t** sums) {
  product_t* p = &f->p;
  kernel_build_t* k = &p->d->k;
  int64_t columns = block_columns(f), all = p->rows * columns;
  ir_value_t* memory = kernel_alloc(&k->b, p->accumulator, f->subgroups * all, IR_SPACE_WORKGROUP);
  linear_t at = linear_add(k, linear_scale(k, f->team.number, all), linear_scale(k, f->team.lane, f->width));
  for (int64_t r = 0; r < p->rows; ++r, at.constant += columns) {
    ir_op_t* store = kernel_store(&k->b, sums[r], memory, linear_scalar(k, &at));
    eval_set_alignment(k, store, p->accumulator, &at);
  }
  team_barrier(k);
  few_store_sums(p, &f->team, &(few_sums_t){memory, columns, columns, all}, block);
}

static void build_along_columns(few_t* f, linear_t block) {
  product_t* p = &f->p;
  kernel_build_t* k = &p->d->k;
  uint32_t count = (uint32_t)p->rows;
  linear_t column = linear_add(k, block, linear_scale(k, f->team.lane, f->width));
  f->columns[0] = product_column(p, fragment_clamp(k, column, p->columns, f->width));
  ir_value_t* sums[SPREAD_FEW_ROWS];
  const ir_type_t* type = kernel_vector_type(k->ctx, p->accumulator, f->width);
  for (uint32_t i = 0; i < count; ++i) sums[i] = kernel_number(&k->b, type, 0);
  int64_t step = f->subgroups * f->loads, whole = p->depth / step * step;
  if (whole) {
    kernel_loop_t loop = kernel_loop_constant(k, 0, whole, step, sums, count);
    memcpy(sums, loop.iters, sizeof(*sums) * count);
    add_rows(f, linear_add(k, linear_value(loop.index), linear_scale(k, f->team.number, f->loads)), sums);
    kernel_for_end(&k->b, &loop, sums, count);
    for (uint32_t i = 0; i < count; ++i) sums[i] = kernel_loop_result(&loop, i);
  }
  add_rest(f, whole, sums);
  sum_subgroups(f, block, sums);
}

void strategy_few_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  few_t f;
  bool prepared = prepare(&f, d);
  assert(prepared);
  (void)prepared;
  f.team = team_begin(d, f.subgroups * d->device->subgroup_size);
  d->workgroups[0] = ceil_div(f.p.columns, block_columns(&f));
  d->workgroups[2] = f.p.batch;
  f.p.at_batch = fragment_workgroup(k, 2, f.p.batch);
  linear_t block = linear_scale(k, fragment_workgroup(k, 0, d->workgroups[0]), block_columns(&f));
  if (f.along_depth) {
    build_along_depth(&f, block);
  } else {
    build_along_columns(&f, block);
  }
}
