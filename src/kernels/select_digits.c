// The first of a line in order (graph.top_k), on CPUs, where they are many: the places of what goes before the last of
// the best so far are put on a list as they come, in one sweep by vectors, without looking at what else is new there.
// When it is full, digits sort it, which leaves the best of it and tells which is the last of them: about as often as
// the line is a power of a number longer than the list. Equal ones keep the order in which they came.
#include <math.h>

#include "kernels/order.h"
#include "kernels/strategy.h"

enum { SPARE = 512 };  // room for new ones beside those that double the list

typedef struct list_t {
  ir_value_t *keys, *places;
} list_t;

typedef struct select_t {
  dispatch_t* d;
  ir_op_t* op;
  int64_t axis, most, room, lanes;  // of the result, and of the list before it is sorted
  int64_t digits, longest;          // of a key; places are below it
  const ir_type_t *key, *place;
  list_t lists[2];
  ir_value_t* counts;  // of the keys' digits
  linear_t coords[GRAPH_MAX_RANK];
} select_t;

// Whether sorting takes less than a heap (select.c), where what gets into it moves others. Of elements in any order
// that is the i-th with a chance of most / i. Nanoseconds.
static bool is_worth_it(int64_t size, int64_t most, int64_t digits) {
  const double guess = 1000, step = 11, sort = 128, move = 1;
  double n = size == IR_DYNAMIC ? guess : (double)size, k = (double)most, room = 2 * k + SPARE, sorts = 1, sorted = n;
  double heap = k * (2 + (n > k ? log(n / k) : 0)) * log2(k + 1) * step;
  if (n > room) {
    double late = k * log(n / room);
    sorts += 1 + late / (room - k);
    sorted = room + late + (sorts - 1) * k;
  }
  return sorts * sort * (double)digits + sorted * move * (double)(digits + 1) < heap;
}

bool strategy_select_digits_proposes(const dispatch_t* d, candidate_t* c) {
  const ir_type_t *line = ir_operand(d->root, 0)->type, *result = d->root->results[0].type;
  int64_t most = result->rank ? result->dims[graph_get_axis(d->root)] : IR_DYNAMIC;
  int64_t digits = graph_sort_digits(line->element);
  if (!digits) return candidate_declines(c, "its numbers have no digits");
  bool is_long = most == IR_DYNAMIC || most > GRAPH_TOP_K_SCANNED;
  if (is_long) return candidate_declines(c, "the list of the first ones is long, or only run time knows how long");
  if (!is_worth_it(line->dims[graph_get_axis(d->root)], most, digits)) {
    return candidate_declines(c, "the list of the first ones is too short");
  }
  return order_proposes(d, c);
}

static ir_value_t* load_place(select_t* s, const list_t* list, ir_value_t* at) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* place = eval_convert(k, kernel_load(&k->b, list->places, at, 1), ir_type_index(k->ctx));
  index_set_facts(k, place, 0, s->longest - 1, 1);
  return place;
}

static ir_value_t* element_at(select_t* s, ir_value_t* place) {
  s->coords[s->axis] = linear_value(place);
  return eval_at(&s->d->k, ir_operand(s->op, 0), s->coords);
}

//===----------------------------------------------------------------------------------------------------------------===
// Sorting the list
//===----------------------------------------------------------------------------------------------------------------===

// Where a digit of the key is counted: what digits of one value have is side by side.
static ir_value_t* slot_of(select_t* s, ir_value_t* key, int64_t digit) {
  kernel_build_t* k = &s->d->k;
  if (digit) key = kernel_binary(&k->b, SCALAR_shru, key, kernel_integer(&k->b, key->type, ORDER_DIGIT_BITS * digit));
  ir_value_t* slot = kernel_cast(&k->b, SCALAR_castu, key, ir_type_index(k->ctx));
  slot = kernel_binary(&k->b, SCALAR_and, slot, kernel_index(&k->b, ORDER_DIGITS - 1));
  return kernel_add_const(&k->b, kernel_mul_const(&k->b, slot, s->digits), digit);
}

static ir_value_t* take_number(select_t* s, ir_value_t* slot) {
  kernel_build_t* k = &s->d->k;
  ir_value_t *number = kernel_load(&k->b, s->counts, slot, 1), *one = kernel_integer(&k->b, number->type, 1);
  kernel_store(&k->b, kernel_add(&k->b, number, one), s->counts, slot);
  return eval_convert(k, number, ir_type_index(k->ctx));
}

// The keys of `count` places, of which the first `known` have theirs; and how often each of their digits is there.
static void count_digits(select_t* s, ir_value_t* known, ir_value_t* count) {
  kernel_build_t* k = &s->d->k;
  ir_value_t *zero = kernel_index(&k->b, 0), *no_count = kernel_integer(&k->b, ir_type_int(k->ctx, 32), 0);
  kernel_loop_t loop = kernel_loop_constant(k, 0, s->digits * ORDER_DIGITS, s->lanes, NULL, 0);
  kernel_store(&k->b, kernel_splat(&k->b, no_count, s->lanes), s->counts, loop.index);
  kernel_for_end(&k->b, &loop, NULL, 0);
  loop = kernel_loop_begin(k, known, count, 1, NULL, 0);
  ir_value_t* key = order_bits(k, s->op, element_at(s, load_place(s, &s->lists[0], loop.index)));
  kernel_store(&k->b, key, s->lists[0].keys, loop.index);
  kernel_for_end(&k->b, &loop, NULL, 0);
  loop = kernel_loop_begin(k, zero, count, 1, NULL, 0);
  key = kernel_load(&k->b, s->lists[0].keys, loop.index, 1);
  for (int64_t i = 0; i < s->digits; ++i) take_number(s, slot_of(s, key, i));
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// Counts become where each digit's entries begin.
static void sum_counts(select_t* s) {
  kernel_build_t* k = &s->d->k;
  const ir_type_t* type = kernel_vector_type(k->ctx, ir_type_int(k->ctx, 32), s->digits);
  ir_value_t* before = kernel_integer(&k->b, type, 0);
  kernel_loop_t loop = kernel_loop_constant(k, 0, s->digits * ORDER_DIGITS, s->digits, &before, 1);
  ir_value_t* next = kernel_add(&k->b, loop.iters[0], kernel_load(&k->b, s->counts, loop.index, s->digits));
  kernel_store(&k->b, loop.iters[0], s->counts, loop.index);
  kernel_for_end(&k->b, &loop, &next, 1);
}

// Entries go behind those of their digit that came before them: to the other list, or back to the same place.
static void move_entries(select_t* s, ir_value_t* count, const list_t* from, const list_t* to, int64_t digit) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), count, 1, NULL, 0);
  ir_value_t *key = kernel_load(&k->b, from->keys, loop.index, 1), *at = loop.index;
  ir_value_t* place = kernel_load(&k->b, from->places, loop.index, 1);
  if (digit < s->digits) at = take_number(s, slot_of(s, key, digit));
  kernel_store(&k->b, key, to->keys, at);
  kernel_store(&k->b, place, to->places, at);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

static void sort_list(select_t* s, ir_value_t* known, ir_value_t* count) {
  count_digits(s, known, count);
  sum_counts(s);
  for (int64_t i = 0; i < s->digits + s->digits % 2; ++i) {
    move_entries(s, count, &s->lists[i % 2], &s->lists[1 - i % 2], i);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Finding what gets onto it
//===----------------------------------------------------------------------------------------------------------------===

// The vector's elements that go before `last`, which may be none; returns how many are on the list then.
static ir_value_t* visit_vector(select_t* s, ir_value_t* last, ir_value_t* at, ir_value_t* count) {
  kernel_build_t* k = &s->d->k;
  const ir_type_t* type = ir_type_index(k->ctx);
  linear_t place = linear_value(at);
  place.lane = 1;
  s->coords[s->axis] = place;
  k->lanes = s->lanes;
  ir_value_t* value = eval_lanes(k, ir_operand(s->op, 0), s->coords);
  k->lanes = 1;
  last = kernel_splat(&k->b, last, s->lanes);
  ir_value_t* enters = order_before(k, s->op, &value, &last);
  kernel_branch_t branch = kernel_if_begin(&k->b, kernel_reduce(&k->b, enters, "or"), &type, 1);
  ir_value_t* next = count;
  place.lane = 0;
  for (int64_t i = 0; i < s->lanes; ++i, ++place.constant) {
    ir_value_t* one = s->lanes > 1 ? kernel_extract(&k->b, enters, i) : enters;
    kernel_store(&k->b, eval_convert(k, linear_scalar(k, &place), s->place), s->lists[0].places, next);
    next = kernel_add(&k->b, next, kernel_cast(&k->b, SCALAR_castu, one, type));
  }
  kernel_if_else(&k->b, &branch, &next, 1);
  kernel_if_end(&k->b, &branch, &count, 1);
  return ir_result(branch.op, 0);
}

// What is known between sweeps: where the next one begins, the list's length, how many of its first ones have keys.
typedef struct state_t {
  ir_value_t *at, *count, *known;
} state_t;

// Until the list is full or the line ends.
static void sweep(select_t* s, ir_value_t* last, state_t* state, ir_value_t* end) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* init[2] = {state->at, state->count};
  kernel_while_t loop = kernel_while_begin(&k->b, init, 2);
  ir_value_t* has_room = kernel_binary(&k->b, SCALAR_lt, loop.values[1], kernel_index(&k->b, s->room));
  ir_value_t* is_inside = kernel_binary(&k->b, SCALAR_lt, loop.values[0], end);
  kernel_while_do(&k->b, &loop, kernel_binary(&k->b, SCALAR_and, has_room, is_inside));
  ir_value_t* at = loop.values[0];
  index_set_facts(k, at, 0, s->longest > s->lanes ? s->longest - s->lanes : 0, 1);
  ir_value_t* next[2] = {kernel_add_const(&k->b, at, s->lanes), visit_vector(s, last, at, loop.values[1])};
  kernel_while_end(&k->b, &loop, next, 2);
  state->at = ir_result(loop.op, 0), state->count = ir_result(loop.op, 1);
}

// The list begins with as many as it has room for, and what is less than a vector. Returns how many.
static ir_value_t* begin_list(select_t* s, ir_value_t* end) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* rest = index_binary(k, SCALAR_remu, end, index_constant(k, s->lanes));
  ir_value_t* count = index_binary(k, SCALAR_add, rest, index_constant(k, s->room));
  count = index_binary(k, SCALAR_min, count, end);
  kernel_loop_t loop = kernel_loop_begin(k, index_constant(k, 0), count, s->lanes, NULL, 0);
  linear_t places = linear_value(loop.index);
  places.lane = 1;
  k->lanes = s->lanes;
  kernel_store(&k->b, eval_convert(k, linear_lanes(k, &places), s->place), s->lists[0].places, loop.index);
  k->lanes = 1;
  kernel_for_end(&k->b, &loop, NULL, 0);
  return count;
}

// Returns how many are on the list in the end: all that are asked for, or as many as there are.
static ir_value_t* select_line(select_t* s, ir_value_t* end) {
  kernel_build_t* k = &s->d->k;
  ir_value_t *first = begin_list(s, end), *zero = kernel_index(&k->b, 0);
  if (s->longest <= s->room) {  // the list is all of the line
    sort_list(s, zero, first);
    return kernel_binary(&k->b, SCALAR_min, first, kernel_index(&k->b, s->most));
  }
  ir_value_t* init[] = {first, first, zero};
  kernel_while_t loop = kernel_while_begin(&k->b, init, 3);
  state_t state = {loop.values[0], loop.values[1], loop.values[2]};
  kernel_while_do(&k->b, &loop, kernel_binary(&k->b, SCALAR_lt, state.known, state.count));
  state = (state_t){loop.values[0], loop.values[1], loop.values[2]};
  sort_list(s, state.known, state.count);
  state.count = state.known = kernel_binary(&k->b, SCALAR_min, state.count, kernel_index(&k->b, s->most));
  ir_value_t* tail = load_place(s, &s->lists[0], kernel_add_const(&k->b, state.count, -1));
  sweep(s, element_at(s, tail), &state, end);
  ir_value_t* next[] = {state.at, state.count, state.known};
  kernel_while_end(&k->b, &loop, next, 3);
  return ir_result(loop.op, 1);
}

// A line of a length that only run time knows may be shorter than the list, whose other entries stay what they are.
static void store_list(select_t* s, ir_value_t* count) {
  kernel_build_t* k = &s->d->k;
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), count, 1, NULL, 0);
  ir_value_t* place = load_place(s, &s->lists[0], loop.index);
  ir_value_t* results[2] = {element_at(s, place), eval_convert(k, place, ir_type_scalar(s->op->results[1].type))};
  s->coords[s->axis] = linear_value(loop.index);
  for (uint32_t i = 0; i < s->d->yield->operand_count; ++i) {
    eval_store(k, s->d->outputs[i], s->coords, results[ir_operand(s->d->yield, i)->index]);
  }
  kernel_for_end(&k->b, &loop, NULL, 0);
}

static void allocate(select_t* s) {
  kernel_build_t* k = &s->d->k;
  s->key = ir_type_int(k->ctx, 8 * (uint32_t)s->digits);
  s->place = ir_type_int(k->ctx, s->longest <= INT32_MAX ? 32 : 64);
  s->counts = kernel_alloc(&k->b, ir_type_int(k->ctx, 32), s->digits * ORDER_DIGITS, IR_SPACE_PRIVATE);
  for (int i = 0; i < 2; ++i) {
    s->lists[i].keys = kernel_alloc(&k->b, s->key, s->room + 2 * s->lanes, IR_SPACE_PRIVATE);
    s->lists[i].places = kernel_alloc(&k->b, s->place, s->room + 2 * s->lanes, IR_SPACE_PRIVATE);
  }
}

// Of the elements and their places; what is less than a vector is no part of the sweep.
static int64_t lanes_of(const dispatch_t* d, const ir_type_t* element) {
  uint32_t bytes = ir_type_bytes(element);
  int64_t lanes = d->device->vector_bytes / (bytes > sizeof(int32_t) ? bytes : sizeof(int32_t));
  return lanes > 1 ? lanes : 1;
}

void strategy_select_digits_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  const ir_value_t* x = ir_operand(d->root, 0);
  select_t s = {.d = d, .op = d->root, .axis = graph_get_axis(d->root), .lanes = 1};
  s.most = d->root->results[0].type->dims[s.axis];
  extent_t sizes[GRAPH_MAX_RANK], lines = extent_fixed(1), size = eval_extent(x, (int32_t)s.axis);
  eval_extents(x, sizes);
  sizes[s.axis] = extent_fixed(1);
  for (int32_t i = 0; i < x->type->rank; ++i) lines = extent_product(lines, sizes[i]);
  if (extent_is(&lines, 0) || extent_is(&size, 0)) return;
  if (s.axis == x->type->rank - 1) s.lanes = lanes_of(d, x->type->element);
  s.digits = graph_sort_digits(x->type->element);
  s.longest = index_facts(extent_value(k, &size)).max;
  s.room = ceil_div(2 * s.most + SPARE, s.lanes) * s.lanes;
  allocate(&s);
  iterations_t it = iterations_dynamic(d, &lines, 2 * extent_guess(&size));
  iterations_split_extents(k, it.index, sizes, x->type->rank, s.coords);
  store_list(&s, select_line(&s, extent_value(k, &size)));
  iterations_end(d, &it);
}
