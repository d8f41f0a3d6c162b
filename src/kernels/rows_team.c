// Rows whose elements several threads of a GPU share: a subgroup or a workgroup each. Thread t has every team-th
// vector, from t on. As many as fit in its registers are held there from the first sweep that computes them to the last
// that needs them, so that such a row is read once:
//
//   for piece:  x[piece] = load                            softmax of a row, for example
//   most = max of x, over the team
//   for piece:  e[piece] = exp(x[piece] - most)
//   sum = sum of e, over the team
//   for piece:  store e[piece] / sum
//
// What of a longer row is behind those pieces is a loop in each sweep, and read as often. A piece past the row's end
// reads the row's last elements and leaves them out.
#include <string.h>

#include "kernels/fragments.h"
#include "kernels/rows.h"

//===----------------------------------------------------------------------------------------------------------------===
// Choice
//===----------------------------------------------------------------------------------------------------------------===

// Last dimensions that are reduced, until there are as many elements as wanted.
static uint32_t flat_dims(const rows_t* r, int64_t wanted) {
  uint32_t flat = 1, rank = (uint32_t)r->full->rank;
  extent_t size = r->sizes[rank - 1];
  while (flat < r->reduced_count && r->reduced[r->reduced_count - 1 - flat] == rank - 1 - flat) {
    if (!extent_is_fixed(&size) || size.factor >= wanted) break;
    size = extent_product(size, r->sizes[rank - 1 - flat++]);
  }
  return flat;
}

static extent_t flat_size(const rows_t* r) {
  extent_t size = extent_fixed(1);
  for (uint32_t i = 0; i < r->flat; ++i) size = extent_product(size, r->sizes[(uint32_t)r->full->rank - 1 - i]);
  return size;
}

// Whether vectors along the result's last dimension are vectors along that of what the op reads.
static bool keeps_vectors(const ir_op_t* op) {
  int64_t list[GRAPH_MAX_RANK];
  if (graph_scalar_fn(op) >= 0 || ir_is(op, GRAPH_REDUCE) || ir_is(op, GRAPH_CONSTANT)) return true;
  if (ir_is(op, GRAPH_BROADCAST) || ir_is(op, GRAPH_IOTA)) return true;
  const ir_type_t *to = op->results[0].type, *from = op->operand_count ? ir_operand(op, 0)->type : to;
  if (!from->rank || !to->rank || !ir_type_is_static(from) || !ir_type_is_static(to)) return false;
  if (ir_is(op, GRAPH_RESHAPE)) return from->dims[from->rank - 1] == to->dims[to->rank - 1];
  if (ir_is(op, GRAPH_TRANSPOSE)) return graph_get_perm(op, list), list[to->rank - 1] == to->rank - 1;
  if (ir_is(op, GRAPH_SLICE)) return graph_get_strides(op, list), list[to->rank - 1] == 1;
  return false;
}

// Bytes of the row's narrowest elements in memory.
static int64_t narrowest(const rows_t* r) {
  const dispatch_t* d = r->d;
  int64_t bytes = 8, last = r->full->dims[r->full->rank - 1];
  for (uint32_t i = 0; i < d->body->arg_count + d->yield->operand_count; ++i) {
    bool in = i < d->body->arg_count;
    const ir_type_t* type = (in ? d->body->args[i] : ir_operand(d->yield, i - d->body->arg_count))->type;
    if (!ir_type_is_tensor(type) || !type->rank || type->dims[type->rank - 1] != last) continue;
    if (ir_type_bytes(type->element) < bytes) bytes = ir_type_bytes(type->element);
  }
  return bytes;
}

// Neighbours that a thread takes at once: as many as an access has, where there are enough for all threads.
static int64_t vector_lanes(const rows_t* r, int64_t length) {
  enum { ACCESS = 16, MOST = 8 };
  int64_t lanes = ACCESS / narrowest(r), last = r->full->dims[r->full->rank - 1];
  if (lanes > MOST) lanes = MOST;
  IR_FOR_OPS(op, r->d->body) {
    if (op != r->d->yield && !keeps_vectors(op)) return 1;
  }
  while (lanes > 1 && (last % lanes || lanes * r->d->device->subgroup_size > length)) lanes /= 2;
  return lanes;
}

// By which sweeps a value is needed at the row's own coordinates.
typedef struct span_t {
  uint32_t first, last;
  bool elsewhere;  // at others too
} span_t;

static span_t* span_of(const rows_t* r, ir_value_map_t* spans, const ir_value_t* value) {
  span_t* span = (span_t*)ir_value_map_get(spans, value);
  if (span) return span;
  span = ARENA_NEW(ir_context_arena(r->d->ctx), span_t);
  *span = (span_t){.first = UINT32_MAX, .elsewhere = !eval_same_shape(value, r->value)};
  ir_value_map_set(spans, value, (ir_value_t*)span);
  IR_FOR_USES(use, value) {
    const ir_op_t* user = use->owner;
    uint32_t at = r->level_count;
    if (ir_is(user, GRAPH_REDUCE)) {
      for (uint32_t i = 0; i < r->reduce_count; ++i) at = r->reduces[i] == user ? r->levels[i] : at;
    } else if (user != r->d->yield) {
      const span_t* next = graph_scalar_fn(user) < 0 ? NULL : span_of(r, spans, &user->results[0]);
      span->elsewhere |= !next || next->elsewhere;
      at = next ? next->first : at;
    }
    if (at == UINT32_MAX) continue;
    if (at < span->first) span->first = at;
    if (at > span->last) span->last = at;
  }
  return span;
}

static void consider_held(rows_t* r, ir_value_map_t* spans, ir_value_t* value) {
  const ir_op_t* op = value->def;
  bool at_hand = op && (ir_is(op, GRAPH_CONSTANT) || ir_is(op, GRAPH_BROADCAST) || ir_is(op, GRAPH_IOTA));
  if (at_hand || r->held_count == ROWS_MAX_HELD || !ir_type_is_tensor(value->type)) return;
  const span_t* span = span_of(r, spans, value);
  if (span->elsewhere || span->first >= span->last) return;
  r->held[r->held_count++] = (rows_held_t){.value = value, .first = span->first, .last = span->last};
}

// Finds what sweeps leave for those after them; the most values of an element at a time.
static int64_t find_held(rows_t* r) {
  int64_t most = 0;
  ir_value_map_t* spans = ir_value_map_create(r->d->ctx);
  for (uint32_t i = 0; i < r->d->body->arg_count; ++i) consider_held(r, spans, r->d->body->args[i]);
  IR_FOR_OPS(op, r->d->body) {
    for (uint32_t i = 0; i < op->result_count; ++i) consider_held(r, spans, &op->results[i]);
  }
  for (uint32_t level = 0; level < r->level_count; ++level) {
    int64_t count = 0;
    for (uint32_t i = 0; i < r->held_count; ++i) count += r->held[i].first <= level && level < r->held[i].last;
    if (count > most) most = count;
  }
  return most;
}

// Elements that a thread may hold: of a long chain of ops fewer, since each makes code.
static int64_t most_elements(const rows_t* r, int64_t values) {
  enum { REGISTERS = 32, CODE = 2048, FEW = 4 };
  int64_t ops = 0, most = FEW;
  IR_FOR_OPS(op, r->d->body)++ ops;
  while (most * 2 * (values ? values : 1) <= REGISTERS && most * 2 * ops <= CODE) most *= 2;
  return most;
}

// Vectors, and the pieces that each of the team's threads holds; `threads` become more where that holds a whole row.
static void plan_pieces(rows_t* r, int64_t length, int64_t* threads) {
  enum { MOST_THREADS = 512 };
  int64_t values = find_held(r), each = most_elements(r, values), limit = r->d->device->max_workgroup_size;
  if (limit > MOST_THREADS) limit = MOST_THREADS;
  r->lanes = vector_lanes(r, length);
  if (r->lanes > each) r->lanes = each;
  while (values && *threads * each < length && *threads * 2 <= limit) *threads *= 2;
  if (values && *threads * each < length && *threads * 2 > limit) each *= 2;
  int64_t all = ceil_div(length, *threads * r->lanes), most = each / r->lanes;
  r->pieces = all <= most ? all : values ? most : 0;
}

// Long rows: a workgroup each where they are few or very long, else a subgroup.
void rows_choose_team(rows_t* r) {
  enum { THREADS = 256, LONG = 1 << 10, VERY_LONG = 1 << 14, BUSY = 1 << 15, MOST_FLAT = 1 << 15 };
  dispatch_t* d = r->d;
  int64_t subgroup = d->device->subgroup_size, threads = subgroup;
  r->team = 1;
  if (d->device->kind != DEVICE_GPU || !r->along) return;
  extent_t rows = extent_fixed(1);
  for (int32_t i = 0; i < r->kept_count; ++i) rows = extent_product(rows, r->sizes[r->kept[i]]);
  bool few = extent_is_fixed(&rows) && rows.factor < BUSY / subgroup;
  r->flat = flat_dims(r, MOST_FLAT);
  extent_t length = flat_size(r);
  if (r->flat < r->reduced_count || !extent_is_fixed(&length) || length.factor > MOST_FLAT) {
    r->flat = flat_dims(r, few ? 4 * LONG : 4 * subgroup);
    length = flat_size(r);
  }
  bool is_fixed = extent_is_fixed(&length);
  if (is_fixed && length.factor < 2 * subgroup) return;
  r->team = subgroup;
  if (is_fixed ? length.factor >= (few ? LONG : VERY_LONG) : few) threads = THREADS;
  if (is_fixed && r->flat == r->reduced_count) plan_pieces(r, length.factor, &threads);
  if (threads == subgroup) return;
  r->threads = team_begin(d, threads);
  r->team = r->threads.size;
  r->lane = r->threads.thread;
  for (uint32_t i = 0; i < r->reduce_count; ++i) {
    const ir_type_t* scalar = eval_accumulator(d->ctx, ir_operand(r->reduces[i], 0)->type->element);
    r->shared[i] = kernel_alloc(&d->k.b, scalar, r->threads.subgroups, IR_SPACE_WORKGROUP);
  }
}

// Several where that is little code.
int64_t rows_team_unroll(const rows_sweep_t* s) {
  enum { FEW_OPS = 16 };
  const rows_t* r = s->r;
  extent_t size = flat_size(r);
  if (r->pieces && size.factor <= r->pieces * r->team * r->lanes) {
    return r->lanes < ROWS_MAX_UNROLL && r->pieces > 1 ? ROWS_MAX_UNROLL / r->lanes : 1;
  }
  bool is_long = size.factor >= 2 * ROWS_MAX_UNROLL * r->team * r->lanes;
  if (!extent_is_fixed(&size) || !is_long || s->count > 2) return 1;
  int32_t ops = 0;
  IR_FOR_OPS(op, r->d->body)++ ops;
  return ops <= FEW_OPS ? ROWS_MAX_UNROLL : 1;
}

//===----------------------------------------------------------------------------------------------------------------===
// Held pieces
//===----------------------------------------------------------------------------------------------------------------===

static void set_position(rows_t* r, linear_t* coords, linear_t position) {
  uint32_t first = (uint32_t)r->full->rank - r->flat;
  iterations_split_extents(&r->d->k, position, r->sizes + first, (int32_t)r->flat, coords + first);
  coords[r->full->rank - 1].lane = r->lanes > 1;
}

// The coordinates of a piece; whether it exists.
static ir_value_t* find_piece(rows_t* r, int64_t piece, linear_t* coords) {
  kernel_build_t* k = &r->d->k;
  extent_t size = flat_size(r);
  linear_t position = linear_scale(k, r->lane, r->lanes);
  position.constant += piece * r->team * r->lanes;
  ir_value_t* exists = fragment_below(k, &position, size.factor);
  set_position(r, coords, fragment_clamp(k, position, size.factor, r->lanes));
  return exists;
}

// Computes what the sweep adds to what is held of a piece.
static void hold_piece(rows_sweep_t* s, int64_t piece, const linear_t* coords) {
  rows_t* r = s->r;
  for (uint32_t i = 0; i < r->held_count; ++i) {
    rows_held_t* held = &r->held[i];
    if (held->first == s->level) held->pieces[piece] = eval_at(&r->d->k, held->value, coords);
    if (held->first <= s->level) eval_set_bound(&r->d->k, held->value, held->pieces[piece]);
  }
}

// Values are read from what is held of a piece; or from where they come, again.
static void bind_piece(rows_sweep_t* s, int64_t piece) {
  rows_t* r = s->r;
  for (uint32_t i = 0; i < r->held_count; ++i) {
    if (r->held[i].first <= s->level) eval_set_bound(&r->d->k, r->held[i].value, r->held[i].pieces[piece]);
  }
}

typedef struct sources_t {
  void* data[ROWS_MAX_HELD];
} sources_t;
static sources_t save_sources(const rows_t* r) {
  sources_t sources;
  for (uint32_t i = 0; i < r->held_count; ++i) sources.data[i] = r->held[i].value->data;
  return sources;
}
static void restore_sources(rows_t* r, const sources_t* sources) {
  for (uint32_t i = 0; i < r->held_count; ++i) r->held[i].value->data = sources->data[i];
}

//===----------------------------------------------------------------------------------------------------------------===
// Quotients
//===----------------------------------------------------------------------------------------------------------------===

// The sum of all of the row's x, in the register that has it, where the division is x / sum; else NULL.
static ir_value_t* own_sum(const ir_op_t* op) {
  const ir_op_t* spread = ir_operand(op, 1)->def;
  if (!spread || !ir_is(spread, GRAPH_BROADCAST)) return NULL;
  const ir_value_t* sum = ir_operand(spread, 0);
  while (sum->def && ir_is(sum->def, GRAPH_RESHAPE)) sum = ir_operand(sum->def, 0);
  if (!sum->def || !ir_is(sum->def, GRAPH_REDUCE) || strcmp(graph_get_kind(sum->def), "add") != 0) return NULL;
  const source_t* source = sum->data;
  bool is_at_hand = source && source->kind == SOURCE_BOUND && ir_operand(sum->def, 0) == ir_operand(op, 0);
  return is_at_hand ? source->value : NULL;
}

// Divisions of the last sweep by the sum of what is divided, as in softmax. Elements of four bytes take longer to move
// than to divide where that is measured on GPUs; a CPU divides vectors four times as long as it takes for this.
void rows_find_quotients(rows_t* r) {
  kernel_build_t* k = &r->d->k;
  ir_value_map_t* spans = ir_value_map_create(k->ctx);
  const ir_type_t* f32 = ir_type_float(k->ctx, IR_F32);
  r->quotient_count = 0;
  bool gpu = k->device->kind == DEVICE_GPU;
  if (gpu ? narrowest(r) >= 4 && !k->device->has_scalar_unit : !r->along || !k->device->has_fma) return;
  IR_FOR_OPS(op, r->d->body) {
    if (graph_scalar_fn(op) != SCALAR_div || op->results[0].type->element != f32) continue;
    const span_t* span = span_of(r, spans, &op->results[0]);
    rows_quotient_t q = {.op = op, .divisor = own_sum(op)};
    if (!q.divisor || span->elsewhere || span->first != r->level_count) continue;
    if (r->quotient_count == ROWS_MAX_QUOTIENTS) return;
    ir_value_t* above = kernel_binary(&k->b, SCALAR_ge, q.divisor, kernel_number(&k->b, f32, 1));
    ir_value_t* below = kernel_binary(&k->b, SCALAR_lt, q.divisor, kernel_number(&k->b, f32, 0x1p64));
    q.fits = kernel_binary(&k->b, SCALAR_and, above, below);
    q.factor = kernel_binary(&k->b, SCALAR_div, kernel_number(&k->b, f32, -1), q.divisor);
    r->quotients[r->quotient_count++] = q;
  }
}

// x / divisor: a product with the reciprocal, and what is missing added, which rounds as a division does; only
// quotients below 2^-100 may be off by a unit of the last place. (P. Markstein, "Computation of elementary functions on
// the IBM RISC System/6000 processor", 1990.) A divisor from 1 on makes no quotient infinite, x is finite since its sum
// is, and with these signs a zero keeps its own.
static ir_value_t* multiply(kernel_build_t* k, const rows_quotient_t* q, ir_value_t* x) {
  int64_t lanes = kernel_lanes(x);
  ir_value_t *divisor = kernel_splat(&k->b, q->divisor, lanes), *factor = kernel_splat(&k->b, q->factor, lanes);
  ir_value_t* minus = kernel_unary(&k->b, SCALAR_neg, x);
  ir_value_t* near = kernel_mul(&k->b, minus, factor);
  ir_value_t* rest = kernel_multiply_add(&k->b, near, divisor, minus);
  return kernel_multiply_add(&k->b, rest, factor, near);
}

static ir_value_t* divide(kernel_build_t* k, const rows_quotient_t* q, ir_value_t* x) {
  if (!q->fits) return multiply(k, q, x);
  kernel_branch_t branch = kernel_if_begin(&k->b, q->fits, &x->type, 1);
  ir_value_t* exact = multiply(k, q, x);
  kernel_if_else(&k->b, &branch, &exact, 1);
  exact = kernel_binary(&k->b, SCALAR_div, x, kernel_splat(&k->b, q->divisor, kernel_lanes(x)));
  kernel_if_end(&k->b, &branch, &exact, 1);
  return ir_result(branch.op, 0);
}

void rows_bind_quotients(rows_t* r, const linear_t* coords) {
  kernel_build_t* k = &r->d->k;
  for (uint32_t i = 0; i < r->quotient_count; ++i) {
    const rows_quotient_t* q = &r->quotients[i];
    eval_set_bound(k, ir_result(q->op, 0), divide(k, q, eval_at(k, ir_operand(q->op, 0), coords)));
  }
}

void rows_release_quotients(rows_t* r) {
  for (uint32_t i = 0; i < r->quotient_count; ++i) ir_result(r->quotients[i].op, 0)->data = NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Pieces
//===----------------------------------------------------------------------------------------------------------------===

// All loads come first, so that they are on their way together.
static void visit_pieces(rows_sweep_t* s, linear_t* coords, ir_value_t** acc) {
  rows_t* r = s->r;
  kernel_build_t* k = &r->d->k;
  sources_t sources = save_sources(r);
  bool adds = false;
  for (uint32_t i = 0; i < r->held_count; ++i) adds |= r->held[i].first == s->level;
  if (s->stores && r->pieces) rows_find_quotients(r);
  k->lanes = r->lanes;
  for (int64_t piece = 0; adds && piece < r->pieces; ++piece) {
    find_piece(r, piece, coords);
    hold_piece(s, piece, coords);
    restore_sources(r, &sources);
  }
  for (int64_t piece = 0; piece < r->pieces; ++piece) {
    s->exists = find_piece(r, piece, coords);
    bind_piece(s, piece);
    kernel_branch_t branch = {0};
    if (s->exists && s->stores) branch = kernel_if_begin(&k->b, s->exists, NULL, 0);
    if (s->stores) rows_bind_quotients(r, coords);
    rows_visit(s, coords, acc, piece % s->unroll);
    if (branch.op) kernel_if_end(&k->b, &branch, NULL, 0);
    s->exists = NULL;
    restore_sources(r, &sources);
    rows_release_quotients(r);
  }
  k->lanes = 1;
}

//===----------------------------------------------------------------------------------------------------------------===
// The rest
//===----------------------------------------------------------------------------------------------------------------===

typedef struct team_range_t {
  ir_value_t *lower, *upper;
  linear_t offset;  // of this thread
  int64_t parts;    // vectors at once
} team_range_t;

static void team_loop(rows_sweep_t* s, linear_t* coords, ir_value_t** acc, const team_range_t* range) {
  rows_t* r = s->r;
  kernel_build_t* k = &r->d->k;
  ir_value_t* inner[ROWS_MAX_REDUCES * ROWS_MAX_UNROLL];
  uint32_t count = s->count * (uint32_t)s->unroll;
  int64_t step = r->team * r->lanes;
  kernel_loop_t loop = kernel_loop_begin(k, range->lower, range->upper, step * range->parts, acc, count);
  memcpy(inner, loop.iters, sizeof(inner[0]) * count);
  k->lanes = r->lanes;
  for (int64_t part = 0; part < range->parts; ++part) {
    linear_t position = linear_add(k, linear_value(loop.index), range->offset);
    position.constant += part * step;
    set_position(r, coords, position);
    rows_visit(s, coords, inner, part);
  }
  k->lanes = 1;
  kernel_for_end(&k->b, &loop, inner, count);
  for (uint32_t i = 0; i < count; ++i) acc[i] = kernel_loop_result(&loop, i);
}

void rows_team_strip(rows_sweep_t* s, linear_t* coords, ir_value_t** acc) {
  rows_t* r = s->r;
  kernel_build_t* k = &r->d->k;
  extent_t size = flat_size(r);
  int64_t step = r->team * r->lanes, round = step * s->unroll, held = r->pieces * step, end = held;
  visit_pieces(s, coords, acc);
  if (extent_is_fixed(&size) && size.factor <= held) return;
  if (extent_is_fixed(&size)) end += (size.factor - held) / round * round;
  linear_t first = linear_scale(k, r->lane, r->lanes);
  if (end > held) {
    team_loop(s, coords, acc, &(team_range_t){index_constant(k, held), index_constant(k, end), first, s->unroll});
  }
  if (extent_is(&size, end)) return;
  first.constant += end;
  team_loop(s, coords, acc, &(team_range_t){linear_scalar(k, &first), extent_value(k, &size), linear_constant(0), 1});
}

void rows_team_combine(rows_sweep_t* s, ir_value_t** sums) {
  rows_t* r = s->r;
  kernel_build_t* k = &r->d->k;
  scalar_fn_t fn[ROWS_MAX_REDUCES];
  for (uint32_t i = 0; i < s->count; ++i) {
    fn[i] = eval_combiner(graph_get_kind(r->reduces[s->members[i]]));
    sums[i] = team_fold(k, fn[i], sums[i]);
  }
  if (r->team != r->threads.size) return;
  ir_value_t* first = kernel_binary(&k->b, SCALAR_eq, linear_scalar(k, &r->threads.lane), kernel_index(&k->b, 0));
  kernel_branch_t branch = kernel_if_begin(&k->b, first, NULL, 0);
  for (uint32_t i = 0; i < s->count; ++i) {
    kernel_store(&k->b, sums[i], r->shared[s->members[i]], linear_scalar(k, &r->threads.number));
  }
  kernel_if_end(&k->b, &branch, NULL, 0);
  team_barrier(k);
  for (uint32_t i = 0; i < s->count; ++i) {
    ir_value_t* shared = r->shared[s->members[i]];
    sums[i] = kernel_load(&k->b, shared, kernel_index(&k->b, 0), 1);
    for (int64_t j = 1; j < r->threads.subgroups; ++j) {
      sums[i] = kernel_binary(&k->b, fn[i], sums[i], kernel_load(&k->b, shared, kernel_index(&k->b, j), 1));
    }
  }
  team_barrier(k);
}
