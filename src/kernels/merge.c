// Long lines are sorted in rounds (src/passes/expand_sort.c): neighbouring runs, each in order, become runs of twice
// their length, a number or one that the host gives. On GPUs every element finds its place on its own: its own place in
// its run, and how many of the other run's elements go before it, which halving finds. A CPU's workgroup takes a part
// of the result, finds by halving where both runs are at its start, and merges from there.
#include <string.h>

#include "kernels/order.h"
#include "kernels/strategy.h"

typedef struct merge_t {
  dispatch_t* d;
  ir_op_t* op;
  int64_t axis;
  ir_value_t *size, *run;  // of the line, of the runs
  int64_t sorted;          // the runs' length, 0: known at run time only
  uint32_t keys;
  linear_t coords[GRAPH_MAX_RANK];
  ir_value_t* own[REGION_VALUES];
  ir_value_t* is_right;  // i1: the element is of the right run
} merge_t;

bool strategy_merge_proposes(const dispatch_t* d, candidate_t* c) {
  bool runs = graph_get_sorted(d->root) >= 1 || d->root->operand_count != d->root->result_count;
  if (!runs) return candidate_declines(c, "lines are not of sorted runs");
  return order_proposes(d, c);
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

// A place of the line, which is not empty.
static ir_value_t* as_place(merge_t* m, ir_value_t* place) {
  int64_t constant;
  if (!kernel_constant_index(place, &constant)) index_set_facts(&m->d->k, place, 0, index_facts(m->size).max - 1, 1);
  return place;
}

// How many elements from `low` on go before this one; [low, high) is the other run.
static ir_value_t* count_before(merge_t* m, ir_value_t* low, ir_value_t* high) {
  kernel_build_t* k = &m->d->k;
  ir_value_t *range[2] = {low, high}, *next[2];
  kernel_loop_t loop = kernel_loop_begin(k, kernel_index(&k->b, 0), index_bits(k, m->run), 1, range, 2);
  ir_value_t *a = loop.iters[0], *b = loop.iters[1];
  ir_value_t* middle = kernel_binary(&k->b, SCALAR_divu, kernel_add(&k->b, a, b), kernel_index(&k->b, 2));
  ir_value_t* last = index_binary(k, SCALAR_add, m->size, index_constant(k, -1));
  ir_value_t* place = as_place(m, kernel_binary(&k->b, SCALAR_min, middle, last));
  ir_value_t* left = kernel_binary(&k->b, SCALAR_lt, a, b);
  ir_value_t* up = kernel_binary(&k->b, SCALAR_and, left, goes_before(m, place));
  ir_value_t* stay = kernel_binary(&k->b, SCALAR_or, up, kernel_binary(&k->b, SCALAR_ge, a, b));
  next[0] = kernel_ternary(&k->b, SCALAR_select, up, kernel_add_const(&k->b, middle, 1), a);
  next[1] = kernel_ternary(&k->b, SCALAR_select, stay, b, middle);
  kernel_for_end(&k->b, &loop, next, 2);
  return kernel_binary(&k->b, SCALAR_sub, kernel_loop_result(&loop, 0), low);
}

// Where the element's two runs begin, its place in its own, and whether that is the right one.
static void find_runs(merge_t* m, ir_value_t** first, ir_value_t** own) {
  kernel_build_t* k = &m->d->k;
  ir_value_t *at = linear_scalar(k, &m->coords[m->axis]), *side;
  if (m->sorted) {
    linear_t run, inside, pair, which;
    linear_divide(k, m->coords[m->axis], m->sorted, &run, &inside);
    linear_divide(k, run, 2, &pair, &which);
    pair = linear_scale(k, pair, 2 * m->sorted);
    *first = linear_scalar(k, &pair);
    *own = linear_scalar(k, &inside);
    side = linear_scalar(k, &which);
  } else {  // a power of two
    *own = kernel_binary(&k->b, SCALAR_and, at, kernel_add_const(&k->b, m->run, -1));
    side = kernel_binary(&k->b, SCALAR_and, at, m->run);
    *first = kernel_binary(&k->b, SCALAR_sub, kernel_binary(&k->b, SCALAR_sub, at, *own), side);
  }
  m->is_right = kernel_binary(&k->b, SCALAR_ne, side, kernel_index(&k->b, 0));
}

// The element's place after the round.
static ir_value_t* place_of(merge_t* m) {
  kernel_build_t* k = &m->d->k;
  ir_value_t *first, *own;
  find_runs(m, &first, &own);
  ir_value_t* middle = kernel_binary(&k->b, SCALAR_min, kernel_add(&k->b, first, m->run), m->size);
  ir_value_t* end = kernel_binary(&k->b, SCALAR_min, kernel_add(&k->b, middle, m->run), m->size);
  ir_value_t* low = kernel_ternary(&k->b, SCALAR_select, m->is_right, first, middle);
  ir_value_t* high = kernel_ternary(&k->b, SCALAR_select, m->is_right, middle, end);
  return as_place(m, kernel_add(&k->b, kernel_add(&k->b, first, own), count_before(m, low, high)));
}

//===----------------------------------------------------------------------------------------------------------------===
// One after the other
//===----------------------------------------------------------------------------------------------------------------===

// Two runs of which a place of the result is: where they begin, their lengths, and the place among their elements.
typedef struct pair_t {
  ir_value_t *first, *left, *right, *place;
} pair_t;

static pair_t find_pair(merge_t* m) {
  kernel_build_t* k = &m->d->k;
  pair_t p;
  if (m->sorted) {
    linear_t pair, inside;
    linear_divide(k, m->coords[m->axis], 2 * m->sorted, &pair, &inside);
    pair = linear_scale(k, pair, 2 * m->sorted);
    p.first = linear_scalar(k, &pair);
    p.place = linear_scalar(k, &inside);
  } else {  // a power of two
    ir_value_t* at = linear_scalar(k, &m->coords[m->axis]);
    p.place = kernel_binary(&k->b, SCALAR_and, at, kernel_add_const(&k->b, kernel_add(&k->b, m->run, m->run), -1));
    p.first = kernel_binary(&k->b, SCALAR_sub, at, p.place);
  }
  ir_value_t* rest = kernel_binary(&k->b, SCALAR_sub, m->size, p.first);
  p.left = kernel_binary(&k->b, SCALAR_min, m->run, rest);
  p.right = kernel_binary(&k->b, SCALAR_min, m->run, kernel_binary(&k->b, SCALAR_sub, rest, p.left));
  return p;
}

// An element of the left run and one of the right: their places and keys. Behind the end of a run it is any.
typedef struct heads_t {
  ir_value_t* place[2];
  ir_value_t* keys[2][REGION_VALUES];
} heads_t;

// i1: the right one goes before the left one.
static ir_value_t* compare_heads(merge_t* m, const pair_t* p, ir_value_t* left, ir_value_t* right, heads_t* out) {
  kernel_build_t* k = &m->d->k;
  ir_value_t* last = index_binary(k, SCALAR_add, m->size, index_constant(k, -1));
  ir_value_t* at[2] = {kernel_add(&k->b, p->first, left),
                       kernel_add(&k->b, kernel_add(&k->b, p->first, p->left), right)};
  linear_t coords[GRAPH_MAX_RANK];
  memcpy(coords, m->coords, sizeof(coords));
  for (int side = 0; side < 2; ++side) {
    out->place[side] = as_place(m, kernel_binary(&k->b, SCALAR_min, at[side], last));
    coords[m->axis] = linear_value(out->place[side]);
    for (uint32_t i = 0; i < m->keys; ++i) out->keys[side][i] = eval_at(k, ir_operand(m->op, i), coords);
  }
  return order_before(k, m->op, out->keys[1], out->keys[0]);
}

// How many elements of the left run are before the place.
static ir_value_t* count_left(merge_t* m, const pair_t* p) {
  kernel_build_t* k = &m->d->k;
  ir_value_t *zero = kernel_index(&k->b, 0), *next[2];
  ir_value_t* low = kernel_binary(&k->b, SCALAR_max, kernel_binary(&k->b, SCALAR_sub, p->place, p->right), zero);
  ir_value_t* range[2] = {low, kernel_binary(&k->b, SCALAR_min, p->place, p->left)};
  kernel_loop_t loop = kernel_loop_begin(k, zero, index_bits(k, m->run), 1, range, 2);
  ir_value_t *a = loop.iters[0], *b = loop.iters[1];
  ir_value_t* middle = kernel_binary(&k->b, SCALAR_divu, kernel_add(&k->b, a, b), kernel_index(&k->b, 2));
  ir_value_t* across = kernel_binary(&k->b, SCALAR_sub, kernel_add_const(&k->b, p->place, -1), middle);
  heads_t heads;
  ir_value_t* is_behind = compare_heads(m, p, middle, kernel_binary(&k->b, SCALAR_max, across, zero), &heads);
  ir_value_t* open = kernel_binary(&k->b, SCALAR_lt, a, b);
  ir_value_t* down = kernel_binary(&k->b, SCALAR_and, open, is_behind);
  ir_value_t* up = kernel_binary(&k->b, SCALAR_xor, open, down);
  next[0] = kernel_ternary(&k->b, SCALAR_select, up, kernel_add_const(&k->b, middle, 1), a);
  next[1] = kernel_ternary(&k->b, SCALAR_select, down, middle, b);
  kernel_for_end(&k->b, &loop, next, 2);
  return kernel_loop_result(&loop, 0);
}

// The element at the place, of which `before` elements of the left run are in front; returns how many are then.
static ir_value_t* take_next(merge_t* m, ir_value_t* before) {
  dispatch_t* d = m->d;
  kernel_build_t* k = &d->k;
  pair_t p = find_pair(m);
  heads_t heads;
  ir_value_t* zero = kernel_index(&k->b, 0);
  before = kernel_ternary(&k->b, SCALAR_select, kernel_binary(&k->b, SCALAR_eq, p.place, zero), zero, before);
  ir_value_t* right = kernel_binary(&k->b, SCALAR_sub, p.place, before);
  ir_value_t* wins = compare_heads(m, &p, before, right, &heads);
  wins = kernel_binary(&k->b, SCALAR_and, wins, kernel_binary(&k->b, SCALAR_lt, right, p.right));
  wins = kernel_binary(&k->b, SCALAR_or, wins, kernel_binary(&k->b, SCALAR_ge, before, p.left));
  linear_t from[GRAPH_MAX_RANK];
  memcpy(from, m->coords, sizeof(from));
  ir_value_t* place = kernel_ternary(&k->b, SCALAR_select, wins, heads.place[1], heads.place[0]);
  from[m->axis] = linear_value(as_place(m, place));
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    uint32_t result = ir_operand(d->yield, i)->index;
    ir_value_t* value = result < m->keys
                            ? kernel_ternary(&k->b, SCALAR_select, wins, heads.keys[1][result], heads.keys[0][result])
                            : eval_at(k, ir_operand(m->op, result), from);
    eval_store(k, d->outputs[i], m->coords, value);
  }
  return kernel_ternary(&k->b, SCALAR_select, wins, before, kernel_add_const(&k->b, before, 1));
}

// Neighbours in memory are neighbours in the line.
static bool is_innermost(const merge_t* m) {
  const ir_type_t* type = ir_operand(m->op, 0)->type;
  for (int64_t i = m->axis + 1; i < type->rank; ++i) {
    if (type->dims[i] != 1) return false;
  }
  return true;
}

static void merge_in_turn(merge_t* m, const extent_t* count, const extent_t* sizes) {
  enum { COST = 12 };
  kernel_build_t* k = &m->d->k;
  int32_t rank = ir_operand(m->op, 0)->type->rank;
  share_t part = iterations_share(m->d, count, COST, 1);
  ir_value_t* some = kernel_binary(&k->b, SCALAR_lt, part.lower, part.upper);
  kernel_branch_t branch = kernel_if_begin(&k->b, some, NULL, 0);
  iterations_split_extents(k, linear_value(part.lower), sizes, rank, m->coords);
  pair_t start = find_pair(m);
  ir_value_t* before = count_left(m, &start);
  kernel_loop_t loop = kernel_loop_begin(k, part.lower, part.upper, 1, &before, 1);
  iterations_split_extents(k, linear_value(loop.index), sizes, rank, m->coords);
  before = take_next(m, loop.iters[0]);
  kernel_for_end(&k->b, &loop, &before, 1);
  kernel_if_end(&k->b, &branch, NULL, 0);
}

void strategy_merge_build(dispatch_t* d) {
  kernel_build_t* k = &d->k;
  const ir_value_t* line = ir_operand(d->root, 0);
  merge_t m = {.d = d, .op = d->root, .axis = graph_get_axis(d->root), .keys = order_keys(d->root)};
  uint32_t run = d->root->result_count;
  extent_t count = eval_count(line), size = eval_extent(line, (int32_t)m.axis), sizes[GRAPH_MAX_RANK];
  if (extent_is(&count, 0)) return;
  eval_extents(line, sizes);
  m.size = extent_value(k, &size);
  m.sorted = d->root->operand_count > run ? 0 : graph_get_sorted(d->root);
  m.run = m.sorted ? kernel_index(&k->b, m.sorted) : eval_at(k, ir_operand(d->root, run), NULL);
  if (d->device->kind == DEVICE_CPU && is_innermost(&m)) {
    merge_in_turn(&m, &count, sizes);
    return;
  }
  enum { COST = 60 };
  iterations_t it = iterations_dynamic(d, &count, COST);
  iterations_split_extents(k, it.index, sizes, line->type->rank, m.coords);
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
