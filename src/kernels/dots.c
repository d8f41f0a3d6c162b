// A matrix by a column: each result is a product of two rows in memory's order, summed by vectors along it. Some rows
// of the matrix are taken at once, which share what they read of the column and hide each other's additions.
#include "kernels/strategy.h"

enum { ROWS = 8 };

typedef struct dots_t {
  dispatch_t* d;
  ir_op_t* op;
  ir_value_t* depth;
} dots_t;

bool strategy_dots_proposes(const dispatch_t* d, candidate_t* c) {
  const ir_type_t *lhs = ir_operand(d->root, 0)->type, *rhs = ir_operand(d->root, 1)->type;
  const ir_type_t* type = d->root->results[0].type->element;
  int64_t lc = -1, rc = -1;
  const ir_op_t* def = ir_operand(d->root, 1)->def;
  if (!candidate_evaluates(d, NULL, c)) return false;
  bool is_one = lhs->rank == 2 && rhs->rank == 2 && rhs->dims[1] == 1 &&
                graph_attr_one(d->root, GRAPH_ATTR_lhs_contract, &lc) == 1 && lc == 1 &&
                graph_attr_one(d->root, GRAPH_ATTR_rhs_contract, &rc) == 1 && rc == 0;
  if (!is_one || (def && ir_is(def, GRAPH_UNPACK))) return candidate_declines(c, "the right operand is no column");
  bool is_plain = type->kind == IR_TYPE_FLOAT && eval_accumulator(d->ctx, type) == type && lhs->element == type;
  if (!is_plain || rhs->element != type) return candidate_declines(c, "types have to be converted");
  int64_t lanes = d->device->vector_bytes / ir_type_bytes(type);
  bool is_short = lhs->dims[1] != IR_DYNAMIC && lhs->dims[1] < 2 * lanes;
  return !is_short || candidate_declines(c, "the rows are short");
}

// Sums of products at places [lower, upper), a multiple of k->lanes apart, of so many rows from `row` on.
static void add_products(dots_t* s, linear_t row, ir_value_t* lower, ir_value_t* upper, ir_value_t** sums,
                         uint32_t rows) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t loop = kernel_loop_begin(k, lower, upper, k->lanes, sums, rows);
  linear_t at = linear_value(loop.index);
  at.lane = k->lanes > 1;
  ir_value_t* y = eval_lanes(k, ir_operand(s->op, 1), (linear_t[]){at, linear_constant(0)});
  for (uint32_t i = 0; i < rows; ++i, ++row.constant) {
    ir_value_t* x = eval_lanes(k, ir_operand(s->op, 0), (linear_t[]){row, at});
    sums[i] = eval_multiply_add(k, x, y, loop.iters[i]);
  }
  kernel_for_end(&k->b, &loop, sums, rows);
  for (uint32_t i = 0; i < rows; ++i) sums[i] = kernel_loop_result(&loop, i);
}

static void make_rows(dots_t* s, linear_t row, uint32_t rows) {
  kernel_build_t* k = &s->d->k;
  ir_value_t *result = ir_result(s->op, 0), *sums[ROWS];
  const ir_type_t* type = ir_type_scalar(result->type);
  int64_t lanes = s->d->device->vector_bytes / ir_type_bytes(type), constant;
  if (lanes < 1) lanes = 1;
  ir_value_t* rest = index_binary(k, SCALAR_remu, s->depth, index_constant(k, lanes));
  ir_value_t* whole = index_binary(k, SCALAR_sub, s->depth, rest);
  if (!kernel_constant_index(whole, &constant)) index_set_facts(k, whole, 0, index_facts(s->depth).max, lanes);
  for (uint32_t i = 0; i < rows; ++i) sums[i] = eval_start_value(k, "add", type, lanes);
  k->lanes = lanes;
  add_products(s, row, index_constant(k, 0), whole, sums, rows);
  k->lanes = 1;
  for (uint32_t i = 0; i < rows; ++i) sums[i] = kernel_reduce(&k->b, sums[i], "add");
  if (lanes > 1) add_products(s, row, whole, s->depth, sums, rows);
  for (uint32_t i = 0; i < rows; ++i, ++row.constant) {
    eval_set_bound(k, result, sums[i]);
    epilogue_store(s->d, result, (linear_t[]){row, linear_constant(0)});
  }
  result->data = NULL;
}

void strategy_dots_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  dots_t s = {.d = d, .op = d->root};
  extent_t rows = eval_extent(ir_operand(d->root, 0), 0), depth = eval_extent(ir_operand(d->root, 0), 1);
  if (!extent_is_fixed(&depth)) {  // the other side may say a number
    extent_t other = eval_extent(ir_operand(d->root, 1), 0);
    if (extent_is_fixed(&other)) depth = other;
  }
  s.depth = extent_value(k, &depth);
  share_t part = iterations_share(d, &rows, extent_guess(&depth), ROWS);
  ir_value_t* length = index_binary(k, SCALAR_sub, part.upper, part.lower);
  ir_value_t* rest = index_binary(k, SCALAR_remu, length, index_constant(k, ROWS));
  ir_value_t* middle = index_binary(k, SCALAR_sub, part.upper, rest);
  int64_t constant;
  if (!kernel_constant_index(middle, &constant)) index_set_facts(k, middle, 0, index_facts(part.upper).max, 1);
  kernel_loop_t loop = kernel_loop_begin(k, part.lower, middle, ROWS, NULL, 0);
  make_rows(&s, linear_value(loop.index), ROWS);
  kernel_for_end(&k->b, &loop, NULL, 0);
  loop = kernel_loop_begin(k, middle, part.upper, 1, NULL, 0);
  make_rows(&s, linear_value(loop.index), 1);
  kernel_for_end(&k->b, &loop, NULL, 0);
}
