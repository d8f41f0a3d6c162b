// The first few of a line (graph.top_k), on CPUs: a list in registers, in order. What does not go before its last entry
// is one comparison, of a vector at once; else all entries behind the new one move by one. Along a dimension that is
// not the last each lane of a vector has a line of its own, and the entries are vectors.
#include "kernels/order.h"
#include "kernels/strategy.h"

enum { MOST = 8, LEAST_LANES = 4 };  // of the list

typedef struct select_t {
  dispatch_t* d;
  ir_op_t* op;
  int64_t axis;
  uint32_t most;
  extent_t size;
  linear_t coords[GRAPH_MAX_RANK];
} select_t;

bool strategy_select_lanes_proposes(const dispatch_t* d, candidate_t* c) {
  const ir_type_t* result = d->root->results[0].type;
  int64_t axis = graph_get_axis(d->root), last = result->rank - 1;
  if (result->dims[axis] == IR_DYNAMIC || result->dims[axis] > MOST) {
    return candidate_declines(c, "registers do not hold the list");
  }
  if (axis != last && result->dims[last] != IR_DYNAMIC && result->dims[last] < LEAST_LANES) {
    return candidate_declines(c, "there are too few lines side by side");
  }
  return order_proposes(d, c);
}

// The row at `place` into the list, whose values come first, then its places; a place that is negative: nothing yet.
static void insert_row(select_t* s, ir_value_t* value, ir_value_t* place, ir_value_t** list) {
  kernel_build_t* k = &s->d->k;
  ir_value_t **values = list, **places = list + s->most, *before[MOST];
  for (uint32_t i = s->most; i-- > 0;) {
    ir_value_t* none = kernel_binary(&k->b, SCALAR_lt, places[i], kernel_integer(&k->b, places[i]->type, 0));
    before[i] = kernel_binary(&k->b, SCALAR_or, none, order_before(k, s->op, &value, &values[i]));
  }
  for (uint32_t i = s->most; i-- > 0;) {
    ir_value_t *moved = value, *from = place;
    if (i) {
      moved = kernel_ternary(&k->b, SCALAR_select, before[i - 1], values[i - 1], value);
      from = kernel_ternary(&k->b, SCALAR_select, before[i - 1], places[i - 1], place);
    }
    values[i] = kernel_ternary(&k->b, SCALAR_select, before[i], moved, values[i]);
    places[i] = kernel_ternary(&k->b, SCALAR_select, before[i], from, places[i]);
  }
}

static void visit_row(select_t* s, ir_value_t* row, ir_value_t** list) {
  kernel_build_t* k = &s->d->k;
  uint32_t last = s->most - 1, count = 2 * s->most;
  const ir_type_t* types[2 * MOST];
  ir_value_t* next[2 * MOST];
  s->coords[s->axis] = linear_value(row);
  ir_value_t *value = eval_lanes(k, ir_operand(s->op, 0), s->coords), *tail = list[s->most + last];
  ir_value_t* none = kernel_binary(&k->b, SCALAR_lt, tail, kernel_integer(&k->b, tail->type, 0));
  ir_value_t* enters = kernel_binary(&k->b, SCALAR_or, none, order_before(k, s->op, &value, &list[last]));
  for (uint32_t i = 0; i < count; ++i) types[i] = list[i]->type, next[i] = list[i];
  kernel_branch_t branch = kernel_if_begin(&k->b, kernel_reduce(&k->b, enters, "or"), types, count);
  ir_value_t* place = eval_convert(k, row, ir_type_scalar(tail->type));
  insert_row(s, value, kernel_splat(&k->b, place, k->lanes), next);
  kernel_if_else(&k->b, &branch, next, count);
  kernel_if_end(&k->b, &branch, list, count);
  for (uint32_t i = 0; i < count; ++i) list[i] = ir_result(branch.op, i);
}

static void begin_list(select_t* s, ir_value_t** list) {
  kernel_build_t* k = &s->d->k;
  const ir_type_t *value = ir_type_scalar(ir_operand(s->op, 0)->type), *place = ir_type_scalar(s->op->results[1].type);
  for (uint32_t i = 0; i < s->most; ++i) {
    list[i] = kernel_number(&k->b, kernel_vector_type(k->ctx, value, k->lanes), 0);
    list[s->most + i] = kernel_integer(&k->b, kernel_vector_type(k->ctx, place, k->lanes), -1);
  }
}

static void store_list(select_t* s, ir_value_t* const* list) {
  kernel_build_t* k = &s->d->k;
  for (uint32_t i = 0; i < s->most; ++i) {
    s->coords[s->axis] = linear_constant(i);
    for (uint32_t j = 0; j < s->d->yield->operand_count; ++j) {
      bool is_place = ir_operand(s->d->yield, j)->index;
      eval_store(k, s->d->outputs[j], s->coords, list[(is_place ? s->most : 0) + i]);
    }
  }
}

// Rows [lower, upper), or elements of a line, one after the other.
static void visit_rows(select_t* s, ir_value_t* lower, ir_value_t* upper, ir_value_t** list) {
  kernel_build_t* k = &s->d->k;
  uint32_t count = 2 * s->most;
  kernel_loop_t loop = kernel_loop_begin(k, lower, upper, 1, list, count);
  for (uint32_t i = 0; i < count; ++i) list[i] = loop.iters[i];
  visit_row(s, loop.index, list);
  kernel_for_end(&k->b, &loop, list, count);
  for (uint32_t i = 0; i < count; ++i) list[i] = kernel_loop_result(&loop, i);
}

// A line for each lane.
static void select_body(dispatch_t* d, linear_t at, ir_value_t** accumulators, void* user) {
  (void)accumulators;
  select_t* s = user;
  ir_value_t* list[2 * MOST];
  s->coords[ir_operand(s->op, 0)->type->rank - 1] = at;
  begin_list(s, list);
  visit_rows(s, index_constant(&d->k, 0), extent_value(&d->k, &s->size), list);
  store_list(s, list);
}

// A vector of one line, whose elements are looked at one by one where any of them gets into the list.
static void visit_vector(select_t* s, ir_value_t* first, int64_t lanes, ir_value_t** list) {
  kernel_build_t* k = &s->d->k;
  uint32_t last = s->most - 1, count = 2 * s->most;
  const ir_type_t* types[2 * MOST];
  ir_value_t* next[2 * MOST];
  linear_t at = linear_value(first);
  at.lane = 1;
  s->coords[s->axis] = at;
  k->lanes = lanes;
  ir_value_t* value = eval_lanes(k, ir_operand(s->op, 0), s->coords);
  ir_value_t *end = kernel_splat(&k->b, list[last], lanes), *place = list[s->most + last];
  ir_value_t* enters = kernel_reduce(&k->b, order_before(k, s->op, &value, &end), "or");
  k->lanes = 1;
  ir_value_t* none = kernel_binary(&k->b, SCALAR_lt, place, kernel_integer(&k->b, place->type, 0));
  for (uint32_t i = 0; i < count; ++i) types[i] = list[i]->type, next[i] = list[i];
  kernel_branch_t branch = kernel_if_begin(&k->b, kernel_binary(&k->b, SCALAR_or, none, enters), types, count);
  visit_rows(s, first, kernel_add_const(&k->b, first, lanes), next);
  kernel_if_else(&k->b, &branch, next, count);
  kernel_if_end(&k->b, &branch, list, count);
  for (uint32_t i = 0; i < count; ++i) list[i] = ir_result(branch.op, i);
}

static void select_line(select_t* s) {
  kernel_build_t* k = &s->d->k;
  uint32_t count = 2 * s->most;
  int64_t lanes = dispatch_lanes(s->d, 1 << 20), constant;  // what is left of a line comes one by one
  ir_value_t *list[2 * MOST], *first = index_constant(k, 0), *end = extent_value(k, &s->size);
  begin_list(s, list);
  if (lanes > 1) {
    ir_value_t* rest = index_binary(k, SCALAR_remu, end, index_constant(k, lanes));
    ir_value_t* whole = index_binary(k, SCALAR_sub, end, rest);
    if (!kernel_constant_index(whole, &constant)) index_set_facts(k, whole, 0, index_facts(end).max, lanes);
    kernel_loop_t loop = kernel_loop_begin(k, first, whole, lanes, list, count);
    for (uint32_t i = 0; i < count; ++i) list[i] = loop.iters[i];
    visit_vector(s, loop.index, lanes, list);
    kernel_for_end(&k->b, &loop, list, count);
    for (uint32_t i = 0; i < count; ++i) list[i] = kernel_loop_result(&loop, i);
    first = whole;
  }
  visit_rows(s, first, end, list);
  store_list(s, list);
}

void strategy_select_lanes_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  const ir_value_t* x = ir_operand(d->root, 0);
  int32_t last = x->type->rank - 1;
  select_t s = {.d = d, .op = d->root, .axis = graph_get_axis(d->root)};
  s.most = (uint32_t)d->root->results[0].type->dims[s.axis];
  s.size = eval_extent(x, (int32_t)s.axis);
  extent_t sizes[GRAPH_MAX_RANK], outer = extent_fixed(1);
  eval_extents(x, sizes);
  for (int32_t i = 0; i < last; ++i) {
    if (i != s.axis) outer = extent_product(outer, sizes[i]);
  }
  int64_t cost = 4 * extent_guess(&s.size);
  if (s.axis == last) {
    if (extent_is(&outer, 0) || !s.most) return;
    iterations_t it = iterations_dynamic(d, &outer, cost);
    iterations_split_extents(k, it.index, sizes, last, s.coords);
    select_line(&s);
    iterations_end(d, &it);
    return;
  }
  if (extent_is(&outer, 0) || extent_is(&sizes[last], 0) || !s.most) return;
  int64_t lanes = dispatch_extent_lanes(d, &sizes[last]);
  strip_call_t call = {select_body, &s, NULL};
  extent_t across = sizes[last];
  sizes[s.axis] = extent_fixed(1);
  if (extent_is(&outer, 1)) {  // lines are shared out by vectors
    for (int32_t i = 0; i < last; ++i) s.coords[i] = linear_constant(0);
    strips_between(d, iterations_share(d, &across, cost, lanes), lanes, NULL, 0, &call);
    return;
  }
  iterations_t it = iterations_dynamic(d, &outer, cost * extent_guess(&across));
  iterations_split_extents(k, it.index, sizes, last, s.coords);
  strips_extent(d, &across, lanes, NULL, 0, &call);
  iterations_end(d, &it);
}
