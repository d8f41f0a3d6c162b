// The first of a line in order (graph.top_k), some of them (few: select_lanes.c; many: select_digits.c), in one sweep:
// a list of the best so far is a heap, whose first entry is what goes last; an element that goes before that takes its
// place. One that does not is one comparison, of a vector at once, and nearly all do not. In the end the heap is
// sorted.
#include "kernels/order.h"
#include "kernels/strategy.h"

typedef struct select_t {
  dispatch_t* d;
  ir_op_t* op;
  int64_t axis, most;           // of the list
  ir_value_t *values, *places;  // the list; a place that is negative: nothing yet
  linear_t coords[GRAPH_MAX_RANK];
} select_t;

bool strategy_select_proposes(const dispatch_t* d, candidate_t* c) {
  const ir_type_t* result = d->root->results[0].type;
  int64_t most = result->rank ? result->dims[graph_get_axis(d->root)] : IR_DYNAMIC;
  bool is_short = most != IR_DYNAMIC && most <= GRAPH_TOP_K_SCANNED;
  if (!is_short) return candidate_declines(c, "the list of the first ones is long, or only run time knows how long");
  return order_proposes(d, c);
}

static ir_value_t* has_none(select_t* s, ir_value_t* place) {
  kernel_build_t* k = &s->d->k;
  return kernel_binary(&k->b, SCALAR_lt, place, kernel_integer(&k->b, place->type, 0));
}

static ir_value_t* negated(kernel_build_t* k, ir_value_t* x) {
  return kernel_binary(&k->b, SCALAR_eq, x, kernel_integer(&k->b, x->type, 0));
}

// i1, for each lane of `value`: it goes before the last of the list, or that is nothing yet. Of equals the list's are
// earlier ones.
static ir_value_t* goes_before_last(select_t* s, ir_value_t* value) {
  kernel_build_t* k = &s->d->k;
  ir_value_t *first = kernel_index(&k->b, 0), *place = kernel_load(&k->b, s->places, first, 1);
  ir_value_t* last = kernel_splat(&k->b, kernel_load(&k->b, s->values, first, 1), kernel_lanes(value));
  ir_value_t* none = kernel_splat(&k->b, has_none(s, place), kernel_lanes(value));
  return kernel_binary(&k->b, SCALAR_or, none, order_before(k, s->op, &value, &last));
}

typedef struct entry_t {
  ir_value_t *value, *place;
} entry_t;

static entry_t load_entry(select_t* s, ir_value_t* at) {
  kernel_build_t* k = &s->d->k;
  return (entry_t){kernel_load(&k->b, s->values, at, 1), kernel_load(&k->b, s->places, at, 1)};
}

static void store_entry(select_t* s, entry_t entry, ir_value_t* at) {
  kernel_build_t* k = &s->d->k;
  kernel_store(&k->b, entry.value, s->values, at);
  kernel_store(&k->b, entry.place, s->places, at);
}

// i1: x goes behind y: nothing goes behind all, of equals the later one.
static ir_value_t* goes_behind(select_t* s, entry_t x, entry_t y) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* behind = order_before(k, s->op, &y.value, &x.value);
  ir_value_t* is_equal =
      negated(k, kernel_binary(&k->b, SCALAR_or, behind, order_before(k, s->op, &x.value, &y.value)));
  ir_value_t* later = kernel_binary(&k->b, SCALAR_gt, x.place, y.place);
  behind = kernel_binary(&k->b, SCALAR_or, behind, kernel_binary(&k->b, SCALAR_and, is_equal, later));
  behind = kernel_binary(&k->b, SCALAR_and, behind, negated(k, has_none(s, y.place)));
  return kernel_binary(&k->b, SCALAR_or, behind, has_none(s, x.place));
}

static entry_t select_entry(kernel_build_t* k, ir_value_t* condition, entry_t x, entry_t y) {
  return (entry_t){kernel_ternary(&k->b, SCALAR_select, condition, x.value, y.value),
                   kernel_ternary(&k->b, SCALAR_select, condition, x.place, y.place)};
}

// Puts an entry in place of the first of `count` and moves up what goes behind it: the heap's order again.
static void sift_down(select_t* s, entry_t entry, ir_value_t* count) {
  kernel_build_t* k = &s->d->k;
  int64_t rounds = 0;
  while ((int64_t)2 << rounds <= s->most) ++rounds;
  ir_value_t *hole = kernel_index(&k->b, 0), *end = kernel_add_const(&k->b, count, -1);
  kernel_loop_t loop = kernel_loop_constant(k, 0, rounds, 1, &hole, 1);
  ir_value_t* left = kernel_add_const(&k->b, kernel_mul_const(&k->b, loop.iters[0], 2), 1);
  ir_value_t* has_child = kernel_binary(&k->b, SCALAR_lt, left, count);
  ir_value_t* right = kernel_binary(&k->b, SCALAR_min, kernel_add_const(&k->b, left, 1), end);
  left = kernel_binary(&k->b, SCALAR_min, left, end);
  entry_t x = load_entry(s, left), y = load_entry(s, right);
  ir_value_t* takes_left = goes_behind(s, x, y);
  entry_t child = select_entry(k, takes_left, x, y);
  ir_value_t* at = kernel_ternary(&k->b, SCALAR_select, takes_left, left, right);
  ir_value_t* moves = kernel_binary(&k->b, SCALAR_and, has_child, goes_behind(s, child, entry));
  kernel_branch_t branch = kernel_if_begin(&k->b, moves, NULL, 0);
  store_entry(s, child, loop.iters[0]);
  kernel_if_end(&k->b, &branch, NULL, 0);
  ir_value_t* next = kernel_ternary(&k->b, SCALAR_select, moves, at, loop.iters[0]);
  kernel_for_end(&k->b, &loop, &next, 1);
  store_entry(s, entry, kernel_loop_result(&loop, 0));
}

static void clear_list(select_t* s) {
  kernel_build_t* k = &s->d->k;
  const ir_type_t *number = s->values->type->element, *place = s->places->type->element;
  kernel_loop_t loop = kernel_loop_constant(k, 0, s->most, 1, NULL, 0);
  store_entry(s, (entry_t){kernel_number(&k->b, number, 0), kernel_integer(&k->b, place, -1)}, loop.index);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// Elements [lower, upper) one by one.
static void sweep_elements(select_t* s, ir_value_t* lower, ir_value_t* upper) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t loop = kernel_loop_begin(k, lower, upper, 1, NULL, 0);
  s->coords[s->axis] = linear_value(loop.index);
  ir_value_t* value = eval_at(k, ir_operand(s->op, 0), s->coords);
  kernel_branch_t branch = kernel_if_begin(&k->b, goes_before_last(s, value), NULL, 0);
  entry_t entry = {value, eval_convert(k, loop.index, s->places->type->element)};
  sift_down(s, entry, kernel_index(&k->b, s->most));
  kernel_if_end(&k->b, &branch, NULL, 0);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// By vectors along a line in memory's order; of those that have a better element, one by one.
static void sweep_line(select_t* s, const extent_t* size) {
  kernel_build_t* k = &s->d->k;
  ir_value_t *first = index_constant(k, 0), *end = extent_value(k, size);
  int64_t lanes = s->axis == ir_operand(s->op, 0)->type->rank - 1 ? dispatch_extent_lanes(s->d, size) : 1;
  if (lanes > 1) {
    ir_value_t* rest = index_binary(k, SCALAR_remu, end, index_constant(k, lanes));
    ir_value_t* whole = index_binary(k, SCALAR_sub, end, rest);
    int64_t constant;
    if (!kernel_constant_index(whole, &constant)) index_set_facts(k, whole, 0, index_facts(end).max, lanes);
    kernel_loop_t loop = kernel_loop_begin(k, first, whole, lanes, NULL, 0);
    linear_t at = linear_value(loop.index);
    at.lane = 1;
    s->coords[s->axis] = at;
    k->lanes = lanes;
    ir_value_t* is_better = goes_before_last(s, eval_lanes(k, ir_operand(s->op, 0), s->coords));
    k->lanes = 1;
    kernel_branch_t branch = kernel_if_begin(&k->b, kernel_reduce(&k->b, is_better, "or"), NULL, 0);
    sweep_elements(s, loop.index, kernel_add_const(&k->b, loop.index, lanes));
    kernel_if_end(&k->b, &branch, NULL, 0);
    kernel_for_end(&k->b, &loop, NULL, 0);
    first = whole;
  }
  sweep_elements(s, first, end);
}

// From the heap, whose first is the last, to order.
static void sort_list(select_t* s) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t loop = kernel_loop_constant(k, 0, s->most - 1, 1, NULL, 0);
  linear_t from_end = linear_scale(k, linear_value(loop.index), -1);
  from_end.constant += s->most - 1;
  ir_value_t *end = linear_scalar(k, &from_end), *first = kernel_index(&k->b, 0);
  entry_t last = load_entry(s, first), entry = load_entry(s, end);
  store_entry(s, last, end);
  sift_down(s, entry, end);
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
  sort_list(&s);
  store_list(&s);
  iterations_end(d, &it);
}
