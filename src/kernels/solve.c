// Cholesky factors and triangular systems: rows after one another, each from those before it, which are read back from
// the result. What is independent (matrices; columns of a system) is shared out. On GPUs a workgroup makes a factor,
// column by column, a thread a row.
#include "kernels/team.h"

typedef struct solve_t {
  dispatch_t* d;
  ir_op_t* op;
  extent_t size;                   // of the square matrices
  ir_value_t* end;                 // the same as a value
  linear_t batch[GRAPH_MAX_RANK];  // coordinates of the matrix, then of the element at work
  linear_t column;                 // of a system
  bool swap, left, forward;        // see below
} solve_t;

bool strategy_solve_proposes(const dispatch_t* d, candidate_t* c) {
  bool alone = d->yield->operand_count == 1 && ir_operand(d->yield, 0)->def == d->root;
  if (!alone) return candidate_declines(c, "something follows the factor");
  return candidate_evaluates(d, d->root, c);
}

// Coordinates of a matrix's element (i, j), or (j, i) when swapped.
static void element(solve_t* s, const linear_t* i, const linear_t* j, bool swap) {
  int32_t rank = ir_operand(s->op, 0)->type->rank;
  s->batch[rank - 2] = swap ? *j : *i;
  s->batch[rank - 1] = swap ? *i : *j;
}

static ir_value_t* widened(kernel_build_t* k, ir_value_t* value) {
  return eval_convert(k, value, eval_accumulator(k->ctx, ir_type_scalar(value->type)));
}

static ir_value_t* factor_at(solve_t* s, const linear_t* i, const linear_t* j) {
  element(s, i, j, s->swap);
  return widened(&s->d->k, eval_at(&s->d->k, s->d->outputs[0], s->batch));
}

// Element (i, j) of the matrix less the products of the factor's rows i and j before column j.
static ir_value_t* reduced_element(solve_t* s, const linear_t* i, const linear_t* j) {
  kernel_build_t* k = &s->d->k;
  element(s, i, j, s->swap);
  ir_value_t* sum = widened(k, eval_at(k, ir_operand(s->op, 0), s->batch));
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), linear_scalar(k, j), 1, &sum, 1);
  linear_t at = linear_value(loop.index);
  ir_value_t* product = kernel_mul(&k->b, factor_at(s, i, &at), factor_at(s, j, &at));
  ir_value_t* next = kernel_binary(&k->b, SCALAR_sub, loop.iters[0], product);
  kernel_for_end(&k->b, &loop, &next, 1);
  return kernel_loop_result(&loop, 0);
}

static void store_factor(solve_t* s, const linear_t* i, const linear_t* j, ir_value_t* value) {
  element(s, i, j, s->swap);
  eval_store(&s->d->k, s->d->outputs[0], s->batch, value);
}

// One matrix: the lower factor, or its transpose; zeros in the other half.
static void build_cholesky(solve_t* s) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t rows = kernel_loop_begin(k, index_constant(k, 0), s->end, 1, NULL, 0);
  linear_t i = linear_value(rows.index);
  kernel_loop_t columns = kernel_loop_begin(k, kernel_index(&k->b, 0), rows.index, 1, NULL, 0);
  linear_t j = linear_value(columns.index);
  ir_value_t* sum = reduced_element(s, &i, &j);
  store_factor(s, &i, &j, kernel_binary(&k->b, SCALAR_div, sum, factor_at(s, &j, &j)));
  kernel_for_end(&k->b, &columns, NULL, 0);
  store_factor(s, &i, &i, kernel_unary(&k->b, SCALAR_sqrt, reduced_element(s, &i, &i)));
  ir_value_t* after = kernel_add_const(&k->b, rows.index, 1);
  kernel_loop_t rest = kernel_loop_begin(k, after, s->end, 1, NULL, 0);
  j = linear_value(rest.index);
  store_factor(s, &i, &j, kernel_number(&k->b, ir_type_scalar(ir_operand(s->op, 0)->type), 0));
  kernel_for_end(&k->b, &rest, NULL, 0);
  kernel_for_end(&k->b, &rows, NULL, 0);
}

// Column j below the diagonal, whose element is `root`, for the rows of one thread; zeros in row j.
static void column_of_thread(solve_t* s, const team_t* team, const linear_t* j, ir_value_t* root) {
  kernel_build_t* k = &s->d->k;
  linear_t first = linear_add(k, *j, team->thread);
  first.constant += 1;
  kernel_loop_t rows = kernel_loop_begin(k, linear_scalar(k, &first), s->end, team->size, NULL, 0);
  linear_t i = linear_value(rows.index);
  store_factor(s, &i, j, kernel_binary(&k->b, SCALAR_div, reduced_element(s, &i, j), root));
  store_factor(s, j, &i, kernel_number(&k->b, ir_type_scalar(ir_operand(s->op, 0)->type), 0));
  kernel_for_end(&k->b, &rows, NULL, 0);
}

// One matrix by a workgroup: all threads compute a column's diagonal, since all need it.
static void build_cholesky_team(solve_t* s, const team_t* team) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t columns = kernel_loop_begin(k, index_constant(k, 0), s->end, 1, NULL, 0);
  linear_t j = linear_value(columns.index);
  ir_value_t* root = kernel_unary(&k->b, SCALAR_sqrt, reduced_element(s, &j, &j));
  root = widened(k, eval_convert(k, root, ir_type_scalar(ir_operand(s->op, 0)->type)));
  ir_value_t* first = kernel_binary(&k->b, SCALAR_eq, linear_scalar(k, &team->thread), kernel_index(&k->b, 0));
  kernel_branch_t branch = kernel_if_begin(&k->b, first, NULL, 0);
  store_factor(s, &j, &j, root);
  kernel_if_end(&k->b, &branch, NULL, 0);
  column_of_thread(s, team, &j, root);
  team_barrier(k);
  kernel_for_end(&k->b, &columns, NULL, 0);
}

// The row that is solved at a step.
static linear_t row_at(solve_t* s, ir_value_t* step) {
  kernel_build_t* k = &s->d->k;
  linear_t row = linear_value(step), last = linear_value(s->end);
  int64_t constant;
  if (s->forward) return row;
  if (extent_is_fixed(&s->size)) last = linear_constant(s->size.factor);
  last.constant -= 1;
  row = linear_add(k, last, linear_scale(k, row, -1));
  if (extent_is_fixed(&s->size)) return row;
  ir_value_t* place = linear_scalar(k, &row);
  if (!kernel_constant_index(place, &constant)) index_set_facts(k, place, 0, index_facts(s->end).max - 1, 1);
  return linear_value(place);
}

static ir_value_t* coefficient(solve_t* s, const linear_t* i, const linear_t* j) {
  element(s, i, j, s->swap);
  return widened(&s->d->k, eval_at(&s->d->k, ir_operand(s->op, 0), s->batch));
}

// One column of a system.
static void build_system(solve_t* s) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t steps = kernel_loop_begin(k, index_constant(k, 0), s->end, 1, NULL, 0);
  linear_t i = row_at(s, steps.index);
  element(s, &i, &s->column, !s->left);
  ir_value_t* sum = widened(k, eval_at(k, ir_operand(s->op, 1), s->batch));
  kernel_loop_t done = kernel_loop_begin(k, kernel_index(&k->b, 0), steps.index, 1, &sum, 1);
  linear_t j = row_at(s, done.index);
  ir_value_t* factor = coefficient(s, &i, &j);
  element(s, &j, &s->column, !s->left);
  ir_value_t* known = widened(k, eval_at(k, s->d->outputs[0], s->batch));
  ir_value_t* next = kernel_binary(&k->b, SCALAR_sub, done.iters[0], kernel_mul(&k->b, factor, known));
  kernel_for_end(&k->b, &done, &next, 1);
  ir_value_t* value = kernel_loop_result(&done, 0);
  bool unit = ir_is(s->op, GRAPH_TRIANGULAR_SOLVE) && graph_get_unit_diagonal(s->op);
  if (!unit) value = kernel_binary(&k->b, SCALAR_div, value, coefficient(s, &i, &i));
  element(s, &i, &s->column, !s->left);
  eval_store(k, s->d->outputs[0], s->batch, value);
  kernel_for_end(&k->b, &steps, NULL, 0);
}

void strategy_solve_build(dispatch_t* d) {
  solve_t s = {.d = d, .op = d->root};
  const ir_value_t *a = ir_operand(d->root, 0), *y = ir_result(d->root, 0);
  bool lower = graph_get_lower(d->root), system = ir_is(d->root, GRAPH_TRIANGULAR_SOLVE);
  extent_t sizes[GRAPH_MAX_RANK], count = extent_fixed(1);
  int32_t rank = a->type->rank - 2;
  for (int32_t i = 0; i < rank; ++i) sizes[i] = eval_extent(a, i);
  s.size = eval_extent(a, rank);
  s.swap = !lower;
  if (system) {
    bool transpose = graph_get_transpose(d->root);
    s.left = graph_get_left(d->root);
    s.swap = transpose == s.left;
    s.forward = (lower != transpose) == s.left;
    sizes[rank++] = eval_extent(y, y->type->rank - (s.left ? 1 : 2));
  }
  for (int32_t i = 0; i < rank; ++i) count = extent_product(count, sizes[i]);
  if (extent_is(&count, 0) || extent_is(&s.size, 0)) return;
  s.end = extent_value(&d->k, &s.size);
  enum { SMALL = 16, THREADS = 256 };
  int64_t size = extent_guess(&s.size);
  if (d->device->kind == DEVICE_GPU && !system && size > SMALL) {
    team_t team = team_begin(d, THREADS);
    iterations_t it = team_iterations(d, &count);
    iterations_split_extents(&d->k, it.index, sizes, rank, s.batch);
    build_cholesky_team(&s, &team);
    iterations_end(d, &it);
    return;
  }
  iterations_t it = iterations_dynamic(d, &count, 3 * size * size);
  iterations_split_extents(&d->k, it.index, sizes, rank, s.batch);
  if (system) {
    s.column = s.batch[rank - 1];
    build_system(&s);
  } else {
    build_cholesky(&s);
  }
  iterations_end(d, &it);
}
