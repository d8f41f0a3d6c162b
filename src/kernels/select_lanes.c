// The first few along a dimension that is not the last (graph.top_k), on CPUs: each lane of a vector has a line of its
// own, and the list is as many vectors, in order. A vector of which no lane goes before the last of its list is one
// comparison; else all entries behind the new one move by one.
#include "kernels/order.h"
#include "kernels/strategy.h"

enum { MOST = 8, LEAST_LANES = 4 };  // of the list, which is in registers

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
  if (axis == last) return candidate_declines(c, "lines are along the last dimension");
  if (result->dims[axis] == IR_DYNAMIC || result->dims[axis] > MOST) {
    return candidate_declines(c, "registers do not hold the list");
  }
  if (result->dims[last] != IR_DYNAMIC && result->dims[last] < LEAST_LANES) {
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

// A line for each lane.
static void select_body(dispatch_t* d, linear_t at, ir_value_t** accumulators, void* user) {
  (void)accumulators;
  select_t* s = user;
  kernel_build_t* k = &d->k;
  const ir_type_t *value = ir_type_scalar(ir_operand(s->op, 0)->type), *place = ir_type_scalar(s->op->results[1].type);
  ir_value_t *list[2 * MOST], *next[2 * MOST];
  s->coords[ir_operand(s->op, 0)->type->rank - 1] = at;
  for (uint32_t i = 0; i < s->most; ++i) {
    list[i] = kernel_number(&k->b, kernel_vector_type(k->ctx, value, k->lanes), 0);
    list[s->most + i] = kernel_integer(&k->b, kernel_vector_type(k->ctx, place, k->lanes), -1);
  }
  kernel_loop_t loop = kernel_loop_begin(k, index_constant(k, 0), extent_value(k, &s->size), 1, list, 2 * s->most);
  for (uint32_t i = 0; i < 2 * s->most; ++i) next[i] = loop.iters[i];
  visit_row(s, loop.index, next);
  kernel_for_end(&k->b, &loop, next, 2 * s->most);
  for (uint32_t i = 0; i < s->most; ++i) {
    s->coords[s->axis] = linear_constant(i);
    for (uint32_t j = 0; j < d->yield->operand_count; ++j) {
      bool is_place = ir_operand(d->yield, j)->index;
      eval_store(k, d->outputs[j], s->coords, kernel_loop_result(&loop, (is_place ? s->most : 0) + i));
    }
  }
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
  if (extent_is(&outer, 0) || extent_is(&sizes[last], 0) || !s.most) return;
  int64_t lanes = dispatch_extent_lanes(d, &sizes[last]), cost = 4 * extent_guess(&s.size);
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
