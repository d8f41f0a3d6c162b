// The first few of a line in order (graph.top_k), in one sweep: a list of the best so far is kept sorted, and what
// comes before its last moves in. An element that does not is one comparison, and nearly all of them do not.
#include <string.h>

#include "kernels/order.h"
#include "kernels/strategy.h"

typedef struct select_t {
  dispatch_t* d;
  ir_op_t* op;
  int64_t axis, most;           // of the list
  ir_value_t *values, *places;  // the list; a place that is negative: nothing yet
  linear_t coords[GRAPH_MAX_RANK];
} select_t;

bool strategy_select_matches(const dispatch_t* d) {
  if (!d->root || !ir_is(d->root, GRAPH_TOP_K) || !order_supports(d->root)) return false;
  const ir_type_t* result = d->root->results[0].type;
  int64_t most = result->rank ? result->dims[graph_get_axis(d->root)] : IR_DYNAMIC;
  if (most == IR_DYNAMIC || most > GRAPH_TOP_K_SCANNED) return false;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && op != d->root && !eval_supports(op)) return false;
  }
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    if (ir_operand(d->yield, i)->def != d->root) return false;
  }
  return true;
}

// i1: whether `value` goes before the list's entry at `at`, or that is none.
static ir_value_t* goes_before(select_t* s, ir_value_t* value, ir_value_t* at) {
  kernel_build_t* k = &s->d->k;
  ir_value_t *other = kernel_load(&k->b, s->values, at, 1), *place = kernel_load(&k->b, s->places, at, 1);
  ir_value_t* none = kernel_binary(&k->b, SCALAR_lt, place, kernel_integer(&k->b, place->type, 0));
  return kernel_binary(&k->b, SCALAR_or, none, order_before(k, s->op, &value, &other));
}

// From where the element goes on, each entry moves to the next one.
static void insert(select_t* s, ir_value_t* value, ir_value_t* place) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* carried[3] = {value, place, kernel_integer(&k->b, ir_type_int(k->ctx, 1), 0)};
  kernel_loop_t loop = kernel_loop_constant(k, 0, s->most, 1, carried, 3);
  ir_value_t *old = kernel_load(&k->b, s->values, loop.index, 1), *from = kernel_load(&k->b, s->places, loop.index, 1);
  ir_value_t* moves = kernel_binary(&k->b, SCALAR_or, loop.iters[2], goes_before(s, loop.iters[0], loop.index));
  kernel_store(&k->b, kernel_ternary(&k->b, SCALAR_select, moves, loop.iters[0], old), s->values, loop.index);
  kernel_store(&k->b, kernel_ternary(&k->b, SCALAR_select, moves, loop.iters[1], from), s->places, loop.index);
  ir_value_t* next[3] = {kernel_ternary(&k->b, SCALAR_select, moves, old, loop.iters[0]),
                         kernel_ternary(&k->b, SCALAR_select, moves, from, loop.iters[1]), moves};
  kernel_for_end(&k->b, &loop, next, 3);
}

static void clear_list(select_t* s) {
  kernel_build_t* k = &s->d->k;
  const ir_type_t *number = s->values->type->element, *place = s->places->type->element;
  kernel_loop_t loop = kernel_loop_constant(k, 0, s->most, 1, NULL, 0);
  kernel_store(&k->b, kernel_number(&k->b, number, 0), s->values, loop.index);
  kernel_store(&k->b, kernel_integer(&k->b, place, -1), s->places, loop.index);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

static void sweep_line(select_t* s, const extent_t* size) {
  kernel_build_t* k = &s->d->k;
  ir_value_t *zero = kernel_index(&k->b, 0), *last = kernel_index(&k->b, s->most - 1);
  kernel_loop_t loop = kernel_loop_begin(k, zero, extent_value(k, size), 1, NULL, 0);
  s->coords[s->axis] = linear_value(loop.index);
  ir_value_t* value = eval_at(k, ir_operand(s->op, 0), s->coords);
  kernel_branch_t branch = kernel_if_begin(&k->b, goes_before(s, value, last), NULL, 0);
  insert(s, value, eval_convert(k, loop.index, s->places->type->element));
  kernel_if_end(&k->b, &branch, NULL, 0);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

static void store_list(select_t* s) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t loop = kernel_loop_constant(k, 0, s->most, 1, NULL, 0);
  s->coords[s->axis] = linear_value(loop.index);
  for (uint32_t i = 0; i < s->d->yield->operand_count; ++i) {
    ir_value_t* list = ir_operand(s->d->yield, i)->index ? s->places : s->values;
    eval_store(k, s->d->outputs[i], s->coords, kernel_load(&k->b, list, loop.index, 1));
  }
  kernel_for_end(&k->b, &loop, NULL, 0);
}

void strategy_select_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  const ir_value_t* x = ir_operand(d->root, 0);
  select_t s = {.d = d, .op = d->root, .axis = graph_get_axis(d->root)};
  s.most = d->root->results[0].type->dims[s.axis];
  extent_t sizes[GRAPH_MAX_RANK], lines = extent_fixed(1), size = eval_extent(x, (int32_t)s.axis);
  eval_extents(x, sizes);
  sizes[s.axis] = extent_fixed(1);
  for (int32_t i = 0; i < x->type->rank; ++i) lines = extent_product(lines, sizes[i]);
  if (extent_is(&lines, 0) || !s.most) return;
  s.values = kernel_alloc(&k->b, x->type->element, s.most, IR_SPACE_PRIVATE);
  s.places = kernel_alloc(&k->b, ir_type_int(k->ctx, 64), s.most, IR_SPACE_PRIVATE);
  iterations_t it = iterations_dynamic(d, &lines, 3 * extent_guess(&size));
  iterations_split_extents(k, it.index, sizes, x->type->rank, s.coords);
  clear_list(&s);
  sweep_line(&s, &size);
  store_list(&s);
  iterations_end(d, &it);
}
