// Long lines are sorted in rounds (src/passes/expand.c): neighbouring runs of `sorted` elements, each in order, become
// runs of twice that. Every element finds its place on its own: its own place in its run, and how many of the other
// run's elements go before it, which halving finds.
#include <string.h>

#include "kernels/order.h"
#include "kernels/strategy.h"

typedef struct merge_t {
  dispatch_t* d;
  ir_op_t* op;
  int64_t axis, size, sorted;
  uint32_t keys;
  linear_t coords[GRAPH_MAX_RANK];
  ir_value_t* own[REGION_VALUES];
  ir_value_t* is_right;  // i1: the element is of the right run
} merge_t;

bool strategy_merge_matches(const dispatch_t* d) {
  if (!d->root || (!ir_is(d->root, GRAPH_SORT) && !ir_is(d->root, GRAPH_SORT_GENERIC))) return false;
  if (graph_get_sorted(d->root) < 1 || !order_supports(d->root)) return false;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && op != d->root && !eval_supports(op)) return false;
    if (op->result_count && !ir_type_is_static(op->results[0].type)) return false;
  }
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    if (ir_operand(d->yield, i)->def != d->root) return false;
  }
  return true;
}

// i1: the other run's element at `place` goes before this one; of equals, the left run's.
static ir_value_t* goes_before(merge_t* m, ir_value_t* place) {
  kernel_build_t* k = &m->d->k;
  ir_value_t *first[REGION_VALUES], *second[REGION_VALUES];
  linear_t coords[GRAPH_MAX_RANK];
  memcpy(coords, m->coords, sizeof(coords));
  coords[m->axis] = linear_value(place);
  for (uint32_t i = 0; i < m->keys; ++i) {
    ir_value_t* other = eval_at(k, ir_operand(m->op, i), coords);
    first[i] = kernel_ternary(&k->b, SCALAR_select, m->is_right, m->own[i], other);
    second[i] = kernel_ternary(&k->b, SCALAR_select, m->is_right, other, m->own[i]);
  }
  return kernel_binary(&k->b, SCALAR_xor, order_before(k, m->op, first, second), m->is_right);
}

// How many elements from `low` on go before this one; [low, high) is the other run.
static ir_value_t* count_before(merge_t* m, ir_value_t* low, ir_value_t* high) {
  kernel_build_t* k = &m->d->k;
  int64_t rounds = 1;
  while (((int64_t)1 << rounds) <= m->sorted) ++rounds;
  ir_value_t *range[2] = {low, high}, *next[2];
  kernel_loop_t loop = kernel_loop_constant(k, 0, rounds, 1, range, 2);
  ir_value_t *a = loop.iters[0], *b = loop.iters[1];
  ir_value_t* middle = kernel_binary(&k->b, SCALAR_divu, kernel_add(&k->b, a, b), kernel_index(&k->b, 2));
  ir_value_t* place = kernel_binary(&k->b, SCALAR_min, middle, kernel_index(&k->b, m->size - 1));
  index_set_facts(k, place, 0, m->size - 1, 1);
  ir_value_t* left = kernel_binary(&k->b, SCALAR_lt, a, b);
  ir_value_t* up = kernel_binary(&k->b, SCALAR_and, left, goes_before(m, place));
  ir_value_t* stay = kernel_binary(&k->b, SCALAR_or, up, kernel_binary(&k->b, SCALAR_ge, a, b));
  next[0] = kernel_ternary(&k->b, SCALAR_select, up, kernel_add_const(&k->b, middle, 1), a);
  next[1] = kernel_ternary(&k->b, SCALAR_select, stay, b, middle);
  kernel_for_end(&k->b, &loop, next, 2);
  return kernel_binary(&k->b, SCALAR_sub, kernel_loop_result(&loop, 0), low);
}

// The element's place after the round.
static ir_value_t* place_of(merge_t* m) {
  kernel_build_t* k = &m->d->k;
  linear_t run, own, pair, side;
  linear_divide(k, m->coords[m->axis], m->sorted, &run, &own);
  linear_divide(k, run, 2, &pair, &side);
  ir_value_t* is_right = linear_scalar(k, &side);
  m->is_right = kernel_binary(&k->b, SCALAR_ne, is_right, kernel_index(&k->b, 0));
  linear_t start = linear_scale(k, pair, 2 * m->sorted);
  ir_value_t *whole = kernel_index(&k->b, m->size), *first = linear_scalar(k, &start);
  ir_value_t* middle = kernel_binary(&k->b, SCALAR_min, kernel_add_const(&k->b, first, m->sorted), whole);
  ir_value_t* end = kernel_binary(&k->b, SCALAR_min, kernel_add_const(&k->b, first, 2 * m->sorted), whole);
  ir_value_t* low = kernel_ternary(&k->b, SCALAR_select, m->is_right, first, middle);
  ir_value_t* high = kernel_ternary(&k->b, SCALAR_select, m->is_right, middle, end);
  ir_value_t* place = kernel_add(&k->b, kernel_add(&k->b, first, linear_scalar(k, &own)), count_before(m, low, high));
  int64_t constant;
  if (!kernel_constant_index(place, &constant)) index_set_facts(k, place, 0, m->size - 1, 1);
  return place;
}

void strategy_merge_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  const ir_type_t* type = ir_operand(d->root, 0)->type;
  merge_t m = {.d = d, .op = d->root, .axis = graph_get_axis(d->root), .keys = order_keys(d->root)};
  m.size = type->dims[m.axis];
  m.sorted = graph_get_sorted(d->root);
  int64_t count = ir_type_count(type);
  if (!count) return;
  iterations_t it = iterations_begin(d, count, 1000);
  iterations_split(k, it.index, type->dims, type->rank, m.coords);
  for (uint32_t i = 0; i < m.keys; ++i) m.own[i] = eval_at(k, ir_operand(m.op, i), m.coords);
  linear_t to[GRAPH_MAX_RANK];
  memcpy(to, m.coords, sizeof(to));
  to[m.axis] = linear_value(place_of(&m));
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    uint32_t result = ir_operand(d->yield, i)->index;
    ir_value_t* value = result < m.keys ? m.own[result] : eval_at(k, ir_operand(m.op, result), m.coords);
    eval_store(k, d->outputs[i], to, value);
  }
  iterations_end(d, &it);
}
