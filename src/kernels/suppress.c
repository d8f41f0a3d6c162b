// Choosing boxes by their scores (graph.suppress), a line of them at a time: the best that is left is compared with
// those that are chosen. What is left needs no memory: it is what comes behind the last one in the order, so that a
// sweep over the scores finds the next. CPUs sweep by vectors; on GPUs a workgroup's threads share a sweep.
#include <math.h>
#include <string.h>

#include "kernels/team.h"

enum { MASK = 1, LOW = 2, HIGH = 4, OVERLAP = 6, MOST = 7 };  // operands

typedef struct suppress_t {
  dispatch_t* d;
  ir_op_t* op;
  const ir_type_t *number, *place;  // types: of what is computed with, f32 for narrower floats; of places
  int32_t axis;
  extent_t size;
  int64_t lanes;
  linear_t coords[GRAPH_MAX_RANK];
  ir_value_t *after_score, *after_place;  // of the last one in the order
  bool by_team;
  team_t team;
  ir_value_t *team_scores, *team_places;  // workgroup memory
} suppress_t;

// A score and its place; none: the place is the greatest number of its type.
typedef struct found_t {
  ir_value_t *score, *place;
} found_t;

bool strategy_suppress_proposes(const dispatch_t* d, candidate_t* c) {
  bool alone = d->yield->operand_count == 1 && ir_operand(d->yield, 0)->def == d->root;
  if (!alone) return candidate_declines(c, "something follows the choice");
  return candidate_evaluates(d, d->root, c);
}

static ir_value_t* both(suppress_t* s, ir_value_t* x, ir_value_t* y) {
  return kernel_binary(&s->d->k.b, SCALAR_and, x, y);
}

static ir_value_t* either(suppress_t* s, ir_value_t* x, ir_value_t* y) {
  return kernel_binary(&s->d->k.b, SCALAR_or, x, y);
}

static found_t none(suppress_t* s, int64_t lanes) {
  kernel_build_t* k = &s->d->k;
  int64_t most =
      s->place->kind == IR_TYPE_INTEGER && s->place->width < 64 ? ((int64_t)1 << (s->place->width - 1)) - 1 : INT64_MAX;
  return (found_t){kernel_number(&k->b, kernel_vector_type(k->ctx, s->number, lanes), -INFINITY),
                   kernel_integer(&k->b, kernel_vector_type(k->ctx, s->place, lanes), most)};
}

// x comes before y: more, or as much and earlier.
static ir_value_t* comes_before(suppress_t* s, found_t x, found_t y) {
  ir_builder_t* b = &s->d->k.b;
  ir_value_t* equal = kernel_binary(b, SCALAR_eq, x.score, y.score);
  ir_value_t* earlier = kernel_binary(b, SCALAR_lt, x.place, y.place);
  return either(s, kernel_binary(b, SCALAR_gt, x.score, y.score), both(s, equal, earlier));
}

static found_t select_found(suppress_t* s, ir_value_t* condition, found_t x, found_t y) {
  ir_builder_t* b = &s->d->k.b;
  return (found_t){kernel_ternary(b, SCALAR_select, condition, x.score, y.score),
                   kernel_ternary(b, SCALAR_select, condition, x.place, y.place)};
}

// The places of the lanes at `at`.
static ir_value_t* places_at(suppress_t* s, const linear_t* at) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* place = kernel_splat(&k->b, eval_convert(k, linear_scalar(k, at), s->place), k->lanes);
  if (k->lanes == 1) return place;
  const ir_type_t* type = kernel_vector_type(k->ctx, s->place, k->lanes);
  return kernel_add(&k->b, place, ir_build_value(&k->b, KERNEL_IOTA, NULL, 0, type));
}

static ir_value_t* is_none(suppress_t* s, ir_value_t* place) {
  return kernel_binary(&s->d->k.b, SCALAR_eq, place, none(s, kernel_lanes(place)).place);
}

// acc: the best so far of each lane, NaN at first, which nothing is below or at.
static void visit(dispatch_t* d, linear_t at, ir_value_t** acc, void* user) {
  suppress_t* s = user;
  kernel_build_t* k = &d->k;
  s->coords[s->axis] = at;
  ir_value_t* mask = eval_lanes(k, ir_operand(s->op, MASK), s->coords);
  if (k->mask) mask = both(s, mask, k->mask);
  ir_value_t* score = eval_convert(k, eval_lanes(k, ir_operand(s->op, 0), s->coords), s->number);
  found_t x = {score, places_at(s, &at)};
  found_t last = {kernel_splat(&k->b, s->after_score, k->lanes), kernel_splat(&k->b, s->after_place, k->lanes)};
  ir_value_t* is_left = both(s, mask, comes_before(s, last, x));
  ir_value_t* is_below = kernel_binary(&k->b, SCALAR_le, x.score, acc[0]);
  ir_value_t* is_above = kernel_binary(&k->b, SCALAR_eq, is_below, kernel_integer(&k->b, is_below->type, 0));
  found_t best = select_found(s, both(s, is_left, is_above), x, (found_t){acc[0], acc[1]});
  acc[0] = best.score, acc[1] = best.place;
}

static found_t best_lane(suppress_t* s, found_t lanes) {
  kernel_build_t* k = &s->d->k;
  int64_t count = kernel_lanes(lanes.score);
  lanes.score = kernel_ternary(&k->b, SCALAR_select, is_none(s, lanes.place), none(s, count).score, lanes.score);
  if (count == 1) return lanes;
  found_t best = {kernel_reduce(&k->b, lanes.score, "max")};
  ir_value_t* is_best = kernel_binary(&k->b, SCALAR_eq, lanes.score, kernel_splat(&k->b, best.score, count));
  ir_value_t* places = kernel_ternary(&k->b, SCALAR_select, is_best, lanes.place, none(s, count).place);
  best.place = kernel_reduce(&k->b, places, "min");
  return best;
}

// What whole vectors leave, one by one, where there are no masks: it goes into the first lane.
static void visit_rest(dispatch_t* d, share_t part, ir_value_t** acc, void* user) {
  suppress_t* s = user;
  kernel_build_t* k = &d->k;
  found_t whole = best_lane(s, (found_t){acc[0], acc[1]}), start = none(s, 1);
  ir_value_t* inner[] = {kernel_number(&k->b, s->number, NAN), start.place};
  strips_between(d, part, 1, inner, 2, &(strip_call_t){visit, s, NULL});
  found_t rest = best_lane(s, (found_t){inner[0], inner[1]});
  rest = select_found(s, comes_before(s, rest, whole), rest, whole);
  found_t lanes = none(s, kernel_lanes(acc[0]));
  acc[0] = kernel_insert(&k->b, lanes.score, rest.score, 0);
  acc[1] = kernel_insert(&k->b, lanes.place, rest.place, 0);
}

// Of what the threads of a workgroup have; all get it.
static found_t best_of_team(suppress_t* s, found_t mine) {
  kernel_build_t* k = &s->d->k;
  const team_t* team = &s->team;
  for (int64_t distance = team->subgroup / 2; distance > 0; distance /= 2) {
    found_t other = {team_shuffle(k, mine.score, "xor", distance), team_shuffle(k, mine.place, "xor", distance)};
    mine = select_found(s, comes_before(s, other, mine), other, mine);
  }
  if (team->subgroups == 1) return mine;
  team_barrier(k);  // what was there before has been read
  ir_value_t* slot = linear_scalar(k, &team->number);
  ir_value_t* is_first = kernel_binary(&k->b, SCALAR_eq, linear_scalar(k, &team->lane), kernel_index(&k->b, 0));
  kernel_branch_t branch = kernel_if_begin(&k->b, is_first, NULL, 0);
  kernel_store(&k->b, mine.score, s->team_scores, slot);
  kernel_store(&k->b, mine.place, s->team_places, slot);
  kernel_if_end(&k->b, &branch, NULL, 0);
  team_barrier(k);
  for (int64_t i = 0; i < team->subgroups; ++i) {
    ir_value_t* at = kernel_index(&k->b, i);
    found_t other = {kernel_load(&k->b, s->team_scores, at, 1), kernel_load(&k->b, s->team_places, at, 1)};
    mine = i ? select_found(s, comes_before(s, other, mine), other, mine) : other;
  }
  return mine;
}

// The best behind the one that is given.
static found_t find_next(suppress_t* s, found_t last) {
  kernel_build_t* k = &s->d->k;
  s->after_score = last.score, s->after_place = last.place;
  if (s->by_team) {
    ir_value_t* best[] = {kernel_number(&k->b, s->number, NAN), none(s, 1).place};
    ir_value_t* first = linear_scalar(k, &s->team.thread);
    kernel_loop_t loop = kernel_loop_begin(k, first, extent_value(k, &s->size), s->team.size, best, 2);
    best[0] = loop.iters[0], best[1] = loop.iters[1];
    visit(s->d, linear_value(loop.index), best, s);
    kernel_for_end(&k->b, &loop, best, 2);
    found_t mine = {kernel_loop_result(&loop, 0), kernel_loop_result(&loop, 1)};
    return best_of_team(s, best_lane(s, mine));
  }
  int64_t lanes = s->lanes;
  ir_value_t* best[] = {kernel_number(&k->b, kernel_vector_type(k->ctx, s->number, lanes), NAN), none(s, lanes).place};
  share_t all = {index_constant(k, 0), extent_value(k, &s->size)};
  strips_between(s->d, all, lanes, best, 2, &(strip_call_t){visit, s, visit_rest});
  return best_lane(s, (found_t){best[0], best[1]});
}

typedef struct box_t {
  ir_value_t *low[2], *high[2];
} box_t;

static box_t box_at(suppress_t* s, ir_value_t* place) {
  kernel_build_t* k = &s->d->k;
  box_t box;
  int64_t most = index_facts(extent_value(k, &s->size)).max - 1;
  ir_value_t* at = eval_convert(k, place, ir_type_index(k->ctx));
  at = kernel_binary(&k->b, SCALAR_min, kernel_binary(&k->b, SCALAR_max, at, kernel_index(&k->b, 0)),
                     kernel_add_const(&k->b, extent_value(k, &s->size), -1));
  int64_t constant;
  if (!kernel_constant_index(at, &constant)) index_set_facts(k, at, 0, most, 1);
  s->coords[s->axis] = linear_value(at);
  for (uint32_t i = 0; i < 2; ++i) {
    box.low[i] = eval_convert(k, eval_at(k, ir_operand(s->op, LOW + i), s->coords), s->number);
    box.high[i] = eval_convert(k, eval_at(k, ir_operand(s->op, HIGH + i), s->coords), s->number);
  }
  return box;
}

static ir_value_t* area(suppress_t* s, const box_t* box) {
  ir_builder_t* b = &s->d->k.b;
  ir_value_t* side = kernel_binary(b, SCALAR_sub, box->high[0], box->low[0]);
  return kernel_mul(b, side, kernel_binary(b, SCALAR_sub, box->high[1], box->low[1]));
}

// i1: what they share is too much of what both cover.
static ir_value_t* overlaps(suppress_t* s, const box_t* x, const box_t* y) {
  ir_builder_t* b = &s->d->k.b;
  box_t shared;
  for (int i = 0; i < 2; ++i) {
    shared.low[i] = kernel_binary(b, SCALAR_max, x->low[i], y->low[i]);
    shared.high[i] = kernel_binary(b, SCALAR_min, x->high[i], y->high[i]);
    shared.high[i] = kernel_binary(b, SCALAR_max, shared.high[i], shared.low[i]);
  }
  ir_value_t *common = area(s, &shared), *all = kernel_add(b, area(s, x), area(s, y)), *zero;
  all = kernel_binary(b, SCALAR_sub, all, common);
  zero = kernel_number(b, s->number, 0);
  ir_value_t* most = eval_convert(&s->d->k, eval_at(&s->d->k, ir_operand(s->op, OVERLAP), NULL), s->number);
  ir_value_t* over = kernel_binary(b, SCALAR_gt, kernel_binary(b, SCALAR_div, common, all), most);
  over = both(s, over, kernel_binary(b, SCALAR_gt, common, zero));
  return both(s, over, kernel_binary(b, SCALAR_gt, all, zero));
}

static ir_value_t* number_at(suppress_t* s, ir_value_t* place) {
  s->coords[s->axis] = linear_value(place);
  return eval_at(&s->d->k, s->d->outputs[0], s->coords);
}

static void store_number(suppress_t* s, ir_value_t* place, ir_value_t* number) {
  kernel_build_t* k = &s->d->k;
  kernel_branch_t branch = {0};
  if (s->by_team) {
    ir_value_t* thread = linear_scalar(k, &s->team.thread);
    ir_value_t* is_first = kernel_binary(&k->b, SCALAR_eq, thread, kernel_index(&k->b, 0));
    branch = kernel_if_begin(&k->b, is_first, NULL, 0);
  }
  s->coords[s->axis] = linear_value(place);
  eval_store(k, s->d->outputs[0], s->coords, number);
  if (s->by_team) kernel_if_end(&k->b, &branch, NULL, 0);
}

// i1: one of `count` chosen boxes hides it. Threads share them out; where one of them finds it hidden, all do.
static ir_value_t* is_hidden(suppress_t* s, ir_value_t* place, ir_value_t* count) {
  kernel_build_t* k = &s->d->k;
  box_t box = box_at(s, place);
  const ir_type_t* truth = ir_type_int(k->ctx, 32);
  ir_value_t* hidden = kernel_integer(&k->b, truth, 0);
  ir_value_t* first = s->by_team ? linear_scalar(k, &s->team.thread) : kernel_index(&k->b, 0);
  kernel_loop_t loop = kernel_loop_begin(k, first, count, s->by_team ? s->team.size : 1, &hidden, 1);
  box_t other = box_at(s, number_at(s, loop.index));
  ir_value_t* over = kernel_cast(&k->b, SCALAR_castu, overlaps(s, &box, &other), truth);
  ir_value_t* next = kernel_binary(&k->b, SCALAR_or, loop.iters[0], over);
  kernel_for_end(&k->b, &loop, &next, 1);
  hidden = kernel_loop_result(&loop, 0);
  if (s->by_team) {  // the hidden ones come first
    found_t mine = none(s, 1);
    ir_value_t* is_mine = kernel_binary(&k->b, SCALAR_ne, hidden, kernel_integer(&k->b, truth, 0));
    mine.place = kernel_ternary(&k->b, SCALAR_select, is_mine, kernel_integer(&k->b, s->place, 0), mine.place);
    ir_value_t* found = best_of_team(s, mine).place;
    return kernel_binary(&k->b, SCALAR_eq, found, kernel_integer(&k->b, s->place, 0));
  }
  return kernel_binary(&k->b, SCALAR_ne, hidden, kernel_integer(&k->b, truth, 0));
}

// Chooses a line's boxes; gives how many.
static ir_value_t* choose(suppress_t* s) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* most = eval_convert(k, eval_at(k, ir_operand(s->op, MOST), NULL), ir_type_index(k->ctx));
  found_t nothing = {kernel_number(&k->b, s->number, INFINITY), kernel_integer(&k->b, s->place, -1)};
  found_t first = find_next(s, nothing);
  ir_value_t* state[] = {first.score, first.place, kernel_index(&k->b, 0)};
  kernel_while_t loop = kernel_while_begin(&k->b, state, 3);
  ir_value_t* is_there = kernel_binary(&k->b, SCALAR_ne, loop.values[1], none(s, 1).place);
  ir_value_t* goes_on = both(s, is_there, kernel_binary(&k->b, SCALAR_lt, loop.values[2], most));
  kernel_while_do(&k->b, &loop, goes_on);
  found_t box = {loop.values[0], loop.values[1]};
  ir_value_t *count = loop.values[2], *hidden = is_hidden(s, box.place, count);
  index_set_facts(k, count, 0, index_facts(extent_value(k, &s->size)).max - 1, 1);
  store_number(s, count, box.place);  // the next one's place as well, if it is hidden
  if (s->by_team) team_barrier(k);
  ir_value_t* shown = kernel_binary(&k->b, SCALAR_eq, hidden, kernel_integer(&k->b, hidden->type, 0));
  count = kernel_add(&k->b, count, kernel_cast(&k->b, SCALAR_castu, shown, ir_type_index(k->ctx)));
  found_t next = find_next(s, box);
  ir_value_t* carried[] = {next.score, next.place, count};
  kernel_while_end(&k->b, &loop, carried, 3);
  return ir_result(loop.op, 2);
}

static void fill_body(dispatch_t* d, linear_t at, ir_value_t** acc, void* user) {
  (void)acc;
  suppress_t* s = user;
  s->coords[s->axis] = at;
  const ir_type_t* type = kernel_vector_type(d->k.ctx, s->place, d->k.lanes);
  eval_store(&d->k, d->outputs[0], s->coords, kernel_integer(&d->k.b, type, -1));
}

static void fill_rest(suppress_t* s, ir_value_t* count) {
  kernel_build_t* k = &s->d->k;
  index_set_facts(k, count, 0, index_facts(extent_value(k, &s->size)).max, 1);
  share_t part = {count, extent_value(k, &s->size)};
  if (!s->by_team) {
    strips_between(s->d, part, s->lanes, NULL, 0, &(strip_call_t){fill_body, s, NULL});
    return;
  }
  linear_t first = linear_add(k, linear_value(count), s->team.thread);
  kernel_loop_t loop = kernel_loop_begin(k, linear_scalar(k, &first), part.upper, s->team.size, NULL, 0);
  fill_body(s->d, linear_value(loop.index), NULL, s);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

void strategy_suppress_build(dispatch_t* d) {
  enum { THREADS = 256 };
  kernel_build_t* k = &d->k;
  const ir_value_t* x = ir_operand(d->root, 0);
  suppress_t s = {.d = d, .op = d->root, .axis = x->type->rank - 1, .by_team = d->device->kind == DEVICE_GPU};
  s.number = eval_accumulator(d->ctx, x->type->element);
  s.place = ir_type_scalar(d->root->results[0].type);
  s.lanes = d->device->vector_bytes / (ir_type_bytes(s.place) > 4 || ir_type_bytes(s.number) > 4 ? 8 : 4);
  extent_t sizes[GRAPH_MAX_RANK], lines = extent_fixed(1);
  eval_extents(x, sizes);
  s.size = sizes[s.axis];
  for (int32_t i = 0; i < s.axis; ++i) lines = extent_product(lines, sizes[i]);
  if (extent_is(&lines, 0) || extent_is(&s.size, 0)) return;
  iterations_t it;
  if (s.by_team) {
    s.team = team_begin(d, THREADS);
    s.team_scores = kernel_alloc(&k->b, s.number, s.team.subgroups, IR_SPACE_WORKGROUP);
    s.team_places = kernel_alloc(&k->b, s.place, s.team.subgroups, IR_SPACE_WORKGROUP);
    it = team_iterations(d, &lines);
  } else {
    enum { ROUNDS = 16 };
    it = iterations_dynamic(d, &lines, ROUNDS * dispatch_cost(d) * extent_guess(&s.size));
  }
  iterations_split_extents(k, it.index, sizes, s.axis, s.coords);
  fill_rest(&s, choose(&s));
  iterations_end(d, &it);
}
