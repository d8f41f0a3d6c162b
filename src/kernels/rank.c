// Sorting by rank: each element counts how many of its line come before it, and that is where it goes. Stable, without
// scratch memory, any number of operands, every element on its own; the work grows with the square of the line's
// length. top_k is the same with the places from k on left out.
#include <string.h>

#include "kernels/strategy.h"

typedef struct rank_t {
  dispatch_t* d;
  ir_op_t* op;
  int64_t axis;
  extent_t size, places;  // of the line, of the result
  uint32_t keys;
  bool descending;
  linear_t coords[GRAPH_MAX_RANK];
  ir_value_t* own[8];  // keys of the element at work
} rank_t;

bool strategy_rank_matches(const dispatch_t* d) {
  if (!d->root || (!ir_is(d->root, GRAPH_SORT) && !ir_is(d->root, GRAPH_TOP_K))) return false;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && op != d->root && !eval_supports(op)) return false;
  }
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    if (ir_operand(d->yield, i)->def != d->root) return false;
  }
  return ir_op_int(d->root, "keys", 1) <= 8;
}

// i1: a comes before b; with NaN behind every number when ascending and before every number when descending.
static ir_value_t* comes_before(const rank_t* r, ir_value_t* a, ir_value_t* b) {
  ir_builder_t* builder = &r->d->k.b;
  bool is_unsigned = ir_op_flag(r->op, "unsigned");
  if (r->descending) {
    ir_value_t* t = a;
    a = b;
    b = t;
  }
  ir_value_t* less = kernel_binary(builder, is_unsigned ? SCALAR_ltu : SCALAR_lt, a, b);
  if (ir_type_scalar(a->type)->kind != IR_TYPE_FLOAT) return less;
  ir_value_t* b_nan = kernel_unary(builder, SCALAR_is_nan, b);
  ir_value_t* a_number = kernel_binary(builder, SCALAR_eq, a, a);
  return kernel_binary(builder, SCALAR_or, less, kernel_binary(builder, SCALAR_and, b_nan, a_number));
}

static void count_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  rank_t* r = user;
  linear_t coords[GRAPH_MAX_RANK];
  memcpy(coords, r->coords, sizeof(coords));
  coords[r->axis] = at[0];
  ir_value_t* mine = linear_scalar(k, &r->coords[r->axis]);
  ir_value_t* before = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &at[0]), mine);  // equal: the earlier one
  for (uint32_t i = r->keys; i-- > 0;) {
    ir_value_t* other = eval_at(k, ir_operand(r->op, i), coords);
    ir_value_t *less = comes_before(r, other, r->own[i]), *more = comes_before(r, r->own[i], other);
    ir_value_t* no = kernel_integer(&k->b, more->type, 0);
    ir_value_t* not_more = kernel_binary(&k->b, SCALAR_eq, more, no);
    before = kernel_binary(&k->b, SCALAR_or, less, kernel_binary(&k->b, SCALAR_and, not_more, before));
  }
  acc[0] = kernel_add(&k->b, acc[0], kernel_cast(&k->b, SCALAR_castu, before, ir_type_index(k->ctx)));
}

static void store_results(rank_t* r, linear_t place) {
  kernel_build_t* k = &r->d->k;
  linear_t to[GRAPH_MAX_RANK];
  memcpy(to, r->coords, sizeof(to));
  to[r->axis] = place;
  bool top_k = ir_is(r->op, GRAPH_TOP_K);
  for (uint32_t i = 0; i < r->d->yield->operand_count; ++i) {
    uint32_t result = ir_operand(r->d->yield, i)->index;
    ir_value_t* value = top_k && result == 1 ? linear_scalar(k, &r->coords[r->axis])
                                             : eval_at(k, ir_operand(r->op, top_k ? 0 : result), r->coords);
    eval_store(k, r->d->outputs[i], to, value);
  }
}

void strategy_rank_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  const ir_type_t* type = ir_operand(d->root, 0)->type;
  rank_t r = {.d = d, .op = d->root, .axis = ir_op_int(d->root, "axis", 0)};
  bool top_k = ir_is(d->root, GRAPH_TOP_K);
  r.keys = top_k ? 1 : (uint32_t)ir_op_int(d->root, "keys", 1);
  r.descending = top_k ? !ir_op_flag(d->root, "smallest") : ir_op_flag(d->root, "descending");
  const ir_value_t* line = ir_operand(d->root, 0);
  r.size = type->rank ? eval_extent(line, (int32_t)r.axis) : extent_fixed(1);
  r.places = top_k ? eval_extent(ir_result(d->root, 0), (int32_t)r.axis) : r.size;
  extent_t count = eval_count(line), sizes[GRAPH_MAX_RANK];
  if (extent_is(&count, 0) || extent_is(&r.places, 0)) return;
  eval_extents(line, sizes);
  iterations_t it = iterations_dynamic(d, &count, 3 * (extent_guess(&r.size) + 1));
  iterations_split_extents(k, it.index, sizes, type->rank, r.coords);
  for (uint32_t i = 0; i < r.keys; ++i) r.own[i] = eval_at(k, ir_operand(r.op, i), r.coords);
  ir_value_t* rank = kernel_index(&k->b, 0);
  eval_loops(k, &r.size, 1, &rank, 1, count_body, &r);
  int64_t constant, most = index_facts(extent_value(k, &r.size)).max - 1;
  if (!kernel_constant_index(rank, &constant)) index_set_facts(k, rank, 0, most, 1);
  if (!extent_equal(&r.places, &r.size)) {
    ir_value_t* fits = kernel_binary(&k->b, SCALAR_lt, rank, extent_value(k, &r.places));
    kernel_branch_t branch = kernel_if_begin(&k->b, fits, NULL, 0);
    store_results(&r, linear_value(rank));
    kernel_if_end(&k->b, &branch, NULL, 0);
  } else {
    store_results(&r, linear_value(rank));
  }
  iterations_end(d, &it);
}
