// Running sums, products, extremes along an axis: each element is read once. On CPUs a loop goes along a line, vectors
// across neighbouring lines; long rows of lines go step by step, so that memory is read in its order, and a step adds
// to the results of the one before, which the cache has. On GPUs a thread takes a line where there are many or they are
// short, else a workgroup: pieces of a line one after the other, in which subgroups scan by shuffles and leave what
// they have in workgroup memory for those behind them.
#include "kernels/team.h"

enum { PARTS = 4 };  // of a piece: subgroups scan as many at once

typedef struct scan_t {
  dispatch_t* d;
  ir_op_t* op;
  const char* kind;
  const ir_type_t* scalar;  // of the accumulators
  int64_t axis;
  bool exclusive, reverse;
  extent_t sizes[GRAPH_MAX_RANK], size;  // size: along the axis
  linear_t coords[GRAPH_MAX_RANK];
  ir_value_t* step;  // that neighbouring lines are at (step_lines)
} scan_t;

bool strategy_scan_proposes(const dispatch_t* d, candidate_t* c) {
  bool alone = d->yield->operand_count == 1 && ir_operand(d->yield, 0) == ir_result(d->root, 0);
  if (!alone) return candidate_declines(c, "something follows the sums");
  return candidate_evaluates(d, d->root, c);
}

static ir_value_t* combined(scan_t* s, ir_value_t* x, ir_value_t* y) {
  return kernel_binary(&s->d->k.b, eval_combiner(s->kind), x, y);
}

static ir_value_t* start_value(scan_t* s) { return eval_start_value(&s->d->k, s->kind, s->scalar, s->d->k.lanes); }

// The coordinate of the element that is `number`-th in the order of the scan, which is below the size.
static void set_place(scan_t* s, linear_t number) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* size = extent_value(k, &s->size);
  if (s->reverse) {
    linear_t last = linear_value(size);
    last.constant -= 1;
    number = linear_add(k, last, linear_scale(k, number, -1));
  }
  int64_t constant;
  ir_value_t* place = linear_scalar(k, &number);
  if (!kernel_constant_index(place, &constant)) index_set_facts(k, place, 0, index_facts(size).max - 1, 1);
  s->coords[s->axis] = linear_value(place);
}

static ir_value_t* read_element(scan_t* s) {
  return eval_convert(&s->d->k, eval_lanes(&s->d->k, ir_operand(s->op, 0), s->coords), s->scalar);
}

static void store_element(scan_t* s, ir_value_t* value) {
  const ir_type_t* element = ir_type_scalar(s->op->results[0].type);
  eval_store(&s->d->k, s->d->outputs[0], s->coords, eval_convert(&s->d->k, value, element));
}

//===----------------------------------------------------------------------------------------------------------------===
// A line, or as many as there are lanes, by one thread
//===----------------------------------------------------------------------------------------------------------------===

static void serial_line(scan_t* s) {
  kernel_build_t* k = &s->d->k;
  ir_value_t* sum = start_value(s);
  kernel_loop_t loop = kernel_loop_begin(k, index_constant(k, 0), extent_value(k, &s->size), 1, &sum, 1);
  set_place(s, linear_value(loop.index));
  ir_value_t* next = combined(s, loop.iters[0], read_element(s));
  store_element(s, s->exclusive ? loop.iters[0] : next);
  kernel_for_end(&k->b, &loop, &next, 1);
}

static void strip_body(dispatch_t* d, linear_t at, ir_value_t** accumulators, void* user) {
  (void)d;
  (void)accumulators;
  scan_t* s = user;
  s->coords[ir_operand(s->op, 0)->type->rank - 1] = at;
  serial_line(s);
}

// A vector of the first step, whose place is set.
static void first_body(dispatch_t* d, linear_t at, ir_value_t** accumulators, void* user) {
  (void)d;
  (void)accumulators;
  scan_t* s = user;
  s->coords[ir_operand(s->op, 0)->type->rank - 1] = at;
  store_element(s, s->exclusive ? start_value(s) : combined(s, start_value(s), read_element(s)));
}

// The same of step number `step`.
static void step_body(dispatch_t* d, linear_t at, ir_value_t** accumulators, void* user) {
  (void)accumulators;
  scan_t* s = user;
  linear_t before = linear_value(s->step);
  before.constant -= 1;
  s->coords[ir_operand(s->op, 0)->type->rank - 1] = at;
  set_place(s, before);
  ir_value_t* sum = eval_lanes(&d->k, d->outputs[0], s->coords);
  if (!s->exclusive) set_place(s, linear_value(s->step));
  sum = combined(s, sum, read_element(s));
  set_place(s, linear_value(s->step));
  store_element(s, sum);
}

// Neighbouring lines, step by step.
static void step_lines(scan_t* s, share_t lines, int64_t lanes) {
  kernel_build_t* k = &s->d->k;
  ir_value_t *size = extent_value(k, &s->size), *one = index_constant(k, 1);
  ir_value_t* first = index_binary(k, SCALAR_min, size, one);
  strip_call_t start = {first_body, s, NULL}, next = {step_body, s, NULL};
  kernel_loop_t loop = kernel_loop_begin(k, index_constant(k, 0), first, 1, NULL, 0);
  set_place(s, linear_value(loop.index));
  strips_between(s->d, lines, lanes, NULL, 0, &start);
  kernel_for_end(&k->b, &loop, NULL, 0);
  loop = kernel_loop_begin(k, one, size, 1, NULL, 0);
  s->step = loop.index;
  strips_between(s->d, lines, lanes, NULL, 0, &next);
  kernel_for_end(&k->b, &loop, NULL, 0);
}

// Sizes of all dimensions but the axis and, with vectors across lines, the last.
static int32_t outer_sizes(const scan_t* s, bool across, extent_t* sizes, int32_t* dims, extent_t* count) {
  int32_t rank = ir_operand(s->op, 0)->type->rank - (across ? 1 : 0), n = 0;
  *count = extent_fixed(1);
  for (int32_t i = 0; i < rank; ++i) {
    if (i == s->axis) continue;
    sizes[n] = s->sizes[i];
    dims[n++] = i;
    *count = extent_product(*count, s->sizes[i]);
  }
  return n;
}

// Whether lines lie side by side in rows that are longer than what registers have of them, and results are as exact as
// the sums.
static bool goes_by_steps(const scan_t* s) {
  int32_t last = ir_operand(s->op, 0)->type->rank - 1;
  const extent_t* size = &s->sizes[last];
  if (s->axis == last || s->scalar != ir_type_scalar(s->op->results[0].type)) return false;
  return !extent_is_fixed(size) || size->factor > 2 * dispatch_wide_lanes(s->d, size);
}

// Pieces of rows are shared out where their number is known: long ones, which memory serves best, but of much work so
// many that all cores have some.
static void build_steps(scan_t* s) {
  enum { LONG = 1024, SHORT = 256, MUCH = 1 << 22 };
  dispatch_t* d = s->d;
  kernel_build_t* k = &d->k;
  int32_t last = ir_operand(s->op, 0)->type->rank - 1, dims[GRAPH_MAX_RANK];
  extent_t sizes[GRAPH_MAX_RANK], count, row = s->sizes[last];
  linear_t coords[GRAPH_MAX_RANK];
  int32_t n = outer_sizes(s, true, sizes, dims, &count);
  bool shared = extent_is_fixed(&row);
  int64_t piece = shared && extent_guess(&s->size) > MUCH / row.factor ? SHORT : LONG;
  sizes[n] = extent_fixed(shared ? ceil_div(row.factor, piece) : 1);
  count = extent_product(count, sizes[n]);
  int64_t cost = dispatch_cost(d) * extent_guess(&s->size) * (shared ? piece : extent_guess(&row));
  iterations_t it = iterations_dynamic(d, &count, cost);
  iterations_split_extents(k, it.index, sizes, n + 1, coords);
  for (int32_t i = 0; i < n; ++i) s->coords[dims[i]] = coords[i];
  linear_t lower = linear_scale(k, coords[n], piece);
  ir_value_t *end = extent_value(k, &row), *first = linear_scalar(k, &lower);
  kernel_loop_t loop = {0};
  if (!shared) {
    loop = kernel_loop_begin(k, index_constant(k, 0), end, piece, NULL, 0);
    first = loop.index;
  }
  share_t lines = {first, index_binary(k, SCALAR_add, first, index_constant(k, piece))};
  lines.upper = index_binary(k, SCALAR_min, lines.upper, end);
  step_lines(s, lines, dispatch_wide_lanes(d, &row));
  if (!shared) kernel_for_end(&k->b, &loop, NULL, 0);
  iterations_end(d, &it);
}

static void build_lines(scan_t* s) {
  dispatch_t* d = s->d;
  int32_t last = ir_operand(s->op, 0)->type->rank - 1, dims[GRAPH_MAX_RANK];
  bool across = s->axis != last && d->device->kind == DEVICE_CPU;
  extent_t sizes[GRAPH_MAX_RANK], count;
  linear_t coords[GRAPH_MAX_RANK];
  int32_t n = outer_sizes(s, across, sizes, dims, &count);
  int64_t lanes = across ? dispatch_wide_lanes(d, &s->sizes[last]) : 1;
  int64_t cost = dispatch_cost(d) * extent_guess(&s->size);
  bool whole = across && extent_is_fixed(&s->sizes[last]) && s->sizes[last].factor % lanes == 0;
  if (whole) {  // vectors are shared out too
    sizes[n] = extent_fixed(s->sizes[last].factor / lanes);
    count = extent_product(count, sizes[n]);
  } else if (across) {
    cost *= extent_guess(&s->sizes[last]);
  }
  iterations_t it = iterations_dynamic(d, &count, cost);
  iterations_split_extents(&d->k, it.index, sizes, n + whole, coords);
  for (int32_t i = 0; i < n; ++i) s->coords[dims[i]] = coords[i];
  if (whole) {
    d->k.lanes = lanes;
    linear_t at = linear_scale(&d->k, coords[n], lanes);
    at.lane = lanes > 1;
    strip_body(d, at, NULL, s);
    d->k.lanes = 1;
  } else if (across) {
    strips_extent(d, &s->sizes[last], lanes, NULL, 0, &(strip_call_t){strip_body, s});
  } else {
    serial_line(s);
  }
  iterations_end(d, &it);
}

//===----------------------------------------------------------------------------------------------------------------===
// A line by a workgroup
//===----------------------------------------------------------------------------------------------------------------===

typedef struct piece_t {
  scan_t* s;
  team_t team;
  int64_t parts;
  ir_value_t* totals;         // workgroup memory: of each part, of each subgroup
  linear_t number[PARTS];     // of this thread's elements along the line
  ir_value_t* inside[PARTS];  // i1: there is such an element
  ir_value_t* before[PARTS];  // what is left of it in its subgroup, with it or without
} piece_t;

// Behind `distance` lanes, else `other`.
static ir_value_t* from_below(piece_t* p, ir_value_t* value, int64_t distance, ir_value_t* other) {
  kernel_build_t* k = &p->s->d->k;
  ir_value_t* below = team_shuffle(k, value, "up", distance);
  ir_value_t* is_there =
      kernel_binary(&k->b, SCALAR_ge, linear_scalar(k, &p->team.lane), kernel_index(&k->b, distance));
  return kernel_ternary(&k->b, SCALAR_select, is_there, below, other);
}

static void scan_part(piece_t* p, ir_value_t* first, int64_t part) {
  scan_t* s = p->s;
  kernel_build_t* k = &s->d->k;
  p->number[part] = linear_add(k, linear_value(first), p->team.thread);
  p->number[part].constant += part * p->team.size;
  ir_value_t* number = linear_scalar(k, &p->number[part]);
  p->inside[part] = kernel_binary(&k->b, SCALAR_lt, number, extent_value(k, &s->size));
  ir_value_t* start = start_value(s);
  kernel_branch_t branch = kernel_if_begin(&k->b, p->inside[part], &s->scalar, 1);
  set_place(s, p->number[part]);
  ir_value_t* value = read_element(s);
  kernel_if_else(&k->b, &branch, &value, 1);
  kernel_if_end(&k->b, &branch, &start, 1);
  value = ir_result(branch.op, 0);
  for (int64_t distance = 1; distance < p->team.subgroup; distance *= 2) {
    value = combined(s, from_below(p, value, distance, start), value);
  }
  ir_value_t* last =
      kernel_binary(&k->b, SCALAR_eq, linear_scalar(k, &p->team.lane), kernel_index(&k->b, p->team.subgroup - 1));
  branch = kernel_if_begin(&k->b, last, NULL, 0);
  linear_t slot = p->team.number;
  slot.constant += part * p->team.subgroups;
  kernel_store(&k->b, value, p->totals, linear_scalar(k, &slot));
  kernel_if_end(&k->b, &branch, NULL, 0);
  p->before[part] = s->exclusive ? from_below(p, value, 1, start) : value;
}

// Stores the part, behind `carry`: what is left of it. Returns the same for the next part.
static ir_value_t* finish_part(piece_t* p, int64_t part, ir_value_t* carry) {
  scan_t* s = p->s;
  kernel_build_t* k = &s->d->k;
  ir_value_t* mine = carry;
  for (int64_t i = 0; i < p->team.subgroups; ++i) {
    ir_value_t* is_mine = kernel_binary(&k->b, SCALAR_eq, linear_scalar(k, &p->team.number), kernel_index(&k->b, i));
    mine = i ? kernel_ternary(&k->b, SCALAR_select, is_mine, carry, mine) : carry;
    ir_value_t* slot = kernel_index(&k->b, part * p->team.subgroups + i);
    carry = combined(s, carry, kernel_load(&k->b, p->totals, slot, 1));
  }
  kernel_branch_t branch = kernel_if_begin(&k->b, p->inside[part], NULL, 0);
  set_place(s, p->number[part]);
  store_element(s, combined(s, mine, p->before[part]));
  kernel_if_end(&k->b, &branch, NULL, 0);
  return carry;
}

static void build_teams(scan_t* s) {
  dispatch_t* d = s->d;
  kernel_build_t* k = &d->k;
  extent_t sizes[GRAPH_MAX_RANK], count;
  linear_t coords[GRAPH_MAX_RANK];
  int32_t dims[GRAPH_MAX_RANK];
  piece_t p = {.s = s, .team = team_begin(d, GPU_WORKGROUP), .parts = PARTS};
  bool is_short = extent_is_fixed(&s->size) && s->size.factor <= p.team.size;
  if (is_short || ir_operand(s->op, 0)->def) p.parts = 1;  // what it takes to compute an element is there once
  p.totals = kernel_alloc(&k->b, s->scalar, PARTS * p.team.subgroups, IR_SPACE_WORKGROUP);
  int32_t n = outer_sizes(s, false, sizes, dims, &count);
  iterations_t it = team_iterations(d, &count);
  iterations_split_extents(k, it.index, sizes, n, coords);
  for (int32_t i = 0; i < n; ++i) s->coords[dims[i]] = coords[i];
  ir_value_t *carry = start_value(s), *whole = extent_value(k, &s->size);
  kernel_loop_t loop = kernel_loop_begin(k, index_constant(k, 0), whole, p.parts * p.team.size, &carry, 1);
  carry = loop.iters[0];
  for (int64_t i = 0; i < p.parts; ++i) scan_part(&p, loop.index, i);
  team_barrier(k);
  for (int64_t i = 0; i < p.parts; ++i) carry = finish_part(&p, i, carry);
  team_barrier(k);
  kernel_for_end(&k->b, &loop, &carry, 1);
  iterations_end(d, &it);
}

// Whether threads that take a line each are busy enough, or their lines short.
static bool thread_takes_line(const scan_t* s) {
  enum { SHORT = 32, MANY = 1 << 14, MANY_BESIDE = 1 << 10 };
  extent_t sizes[GRAPH_MAX_RANK], count;
  int32_t dims[GRAPH_MAX_RANK];
  outer_sizes(s, false, sizes, dims, &count);
  if (extent_is_fixed(&s->size) && s->size.factor <= SHORT) return true;
  bool beside = s->axis != ir_operand(s->op, 0)->type->rank - 1;  // neighbouring threads read neighbouring elements
  return extent_is_fixed(&count) && count.factor >= (beside ? MANY_BESIDE : MANY);
}

void strategy_scan_build(dispatch_t* d) {
  const ir_value_t* x = ir_operand(d->root, 0);
  scan_t s = {.d = d,
              .op = d->root,
              .kind = graph_get_kind(d->root),
              .scalar = eval_accumulator(d->ctx, ir_type_scalar(d->root->results[0].type)),
              .axis = graph_get_axis(d->root),
              .exclusive = graph_get_exclusive(d->root),
              .reverse = graph_get_reverse(d->root)};
  eval_extents(x, s.sizes);
  s.size = s.sizes[s.axis];
  if (d->device->kind == DEVICE_CPU && goes_by_steps(&s)) {
    build_steps(&s);
  } else if (d->device->kind == DEVICE_CPU || thread_takes_line(&s)) {
    build_lines(&s);
  } else {
    build_teams(&s);
  }
}
