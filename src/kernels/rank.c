// Sorting by rank: each element counts how many of its line come before it, and that is where it goes. Stable, without
// scratch memory, any number of operands, every element on its own; the work grows with the square of the line's
// length, or with the blocks' that are sorted by themselves. top_k is the same with the places from k on left out.
#include <string.h>

#include "kernels/order.h"
#include "kernels/strategy.h"

typedef struct rank_t {
  dispatch_t* d;
  ir_op_t* op;
  int64_t axis;
  extent_t size, places;  // of the line, of the result
  uint32_t keys;
  linear_t coords[GRAPH_MAX_RANK];
  ir_value_t* own[REGION_VALUES];  // keys of the element at work
} rank_t;

bool strategy_rank_proposes(const dispatch_t* d, candidate_t* c) {
  enum { LONG = 1024, SQUARED = 8 };
  const ir_type_t* line = ir_operand(d->root, 0)->type;
  int64_t size = line->rank ? line->dims[graph_get_axis(d->root)] : 1;
  bool blocks = !ir_is(d->root, GRAPH_TOP_K) && graph_get_block(d->root);
  if (ir_is(d->root, GRAPH_SORT) && graph_get_digit(d->root)) return candidate_declines(c, "a digit decides");
  if (!blocks && (size == IR_DYNAMIC || size > LONG)) c->factor = SQUARED;  // each looks at all others
  return order_proposes(d, c);
}

// One more when the element at `at` goes before the one at work; of equals, the earlier one.
static void count_body(kernel_build_t* k, const linear_t* at, ir_value_t** acc, void* user) {
  rank_t* r = user;
  ir_value_t *first[REGION_VALUES], *second[REGION_VALUES];
  linear_t coords[GRAPH_MAX_RANK];
  memcpy(coords, r->coords, sizeof(coords));
  coords[r->axis] = at[0];
  ir_value_t *place = linear_scalar(k, &at[0]), *mine = linear_scalar(k, &r->coords[r->axis]);
  ir_value_t* earlier = kernel_binary(&k->b, SCALAR_lt, place, mine);
  for (uint32_t i = 0; i < r->keys; ++i) {
    ir_value_t* other = eval_at(k, ir_operand(r->op, i), coords);
    first[i] = kernel_ternary(&k->b, SCALAR_select, earlier, r->own[i], other);
    second[i] = kernel_ternary(&k->b, SCALAR_select, earlier, other, r->own[i]);
  }
  // Earlier ones go before unless this one goes before them.
  ir_value_t* before = kernel_binary(&k->b, SCALAR_xor, order_before(k, r->op, first, second), earlier);
  before = kernel_binary(&k->b, SCALAR_and, before, kernel_binary(&k->b, SCALAR_ne, place, mine));
  acc[0] = kernel_add(&k->b, acc[0], kernel_cast(&k->b, SCALAR_castu, before, ir_type_index(k->ctx)));
}

// The rank in the line, or the place in it of the rank in a block.
static ir_value_t* rank_of(rank_t* r) {
  kernel_build_t* k = &r->d->k;
  int64_t block = ir_is(r->op, GRAPH_TOP_K) ? 0 : graph_get_block(r->op);
  ir_value_t *rank = kernel_index(&k->b, 0), *size = extent_value(k, &r->size);
  if (!block) {
    eval_loops(k, &r->size, 1, &rank, 1, count_body, r);
    return rank;
  }
  linear_t number, inside;
  linear_divide(k, r->coords[r->axis], block, &number, &inside);
  number = linear_scale(k, number, block);
  ir_value_t *first = linear_scalar(k, &number), *end = kernel_add_const(&k->b, first, block);
  end = kernel_binary(&k->b, SCALAR_min, end, size);
  kernel_loop_t loop = kernel_loop_begin(k, first, end, 1, &first, 1);
  linear_t at = linear_value(loop.index);
  rank = loop.iters[0];
  count_body(k, &at, &rank, r);
  kernel_for_end(&k->b, &loop, &rank, 1);
  return kernel_loop_result(&loop, 0);
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
  rank_t r = {.d = d, .op = d->root, .axis = graph_get_axis(d->root)};
  bool top_k = ir_is(d->root, GRAPH_TOP_K);
  r.keys = order_keys(d->root);
  const ir_value_t* line = ir_operand(d->root, 0);
  r.size = type->rank ? eval_extent(line, (int32_t)r.axis) : extent_fixed(1);
  r.places = top_k ? eval_extent(ir_result(d->root, 0), (int32_t)r.axis) : r.size;
  extent_t count = eval_count(line), sizes[GRAPH_MAX_RANK];
  if (extent_is(&count, 0) || extent_is(&r.places, 0)) return;
  eval_extents(line, sizes);
  int64_t block = top_k ? 0 : graph_get_block(d->root);
  iterations_t it = iterations_dynamic(d, &count, 3 * ((block ? block : extent_guess(&r.size)) + 1));
  iterations_split_extents(k, it.index, sizes, type->rank, r.coords);
  for (uint32_t i = 0; i < r.keys; ++i) r.own[i] = eval_at(k, ir_operand(r.op, i), r.coords);
  ir_value_t* rank = rank_of(&r);
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
