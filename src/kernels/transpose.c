// Transposes: where the dimension that memory has innermost is not the result's last one, squares are read along the
// one and stored along the other. What is computed before comes with the rows that are read, what follows with those
// that are stored.
//
// On CPUs a square has as many rows as a vector has lanes, and is turned in registers; where more is read before the
// next squares of the same lines than a cache holds, these come at once. Squares at the end of a dimension end with it,
// so that they share elements with those before them, and none needs a mask. On GPUs a workgroup turns a square in
// workgroup memory: 32 lanes read and store four bytes each side by side, and lines there are an element longer than
// the square, so that neither way two lanes meet in a bank.
#include <string.h>

#include "kernels/strategy.h"
#include "kernels/team.h"

enum { MAX_LANES = 16, LEAST_LANES = 4, SQUARES = 2 };
enum { SIDE_LANES = 32, WORKGROUP = 256, LEAST_SIDE = 16, WORD = 4 };

typedef struct turn_t {
  dispatch_t* d;
  ir_value_t *result, *turned;  // turned: of the transpose, which has the result's shape
  int32_t last, inner;          // dimensions of both: stored along, read along
  int64_t lanes;
  linear_t coords[GRAPH_MAX_RANK];
} turn_t;

// Memory, or what is computed of it element by element.
static bool reads_runs(const ir_value_t* value, int depth) {
  enum { DEEP = 8 };
  if (!value->def) return true;
  if (ir_is(value->def, GRAPH_CONSTANT)) return true;
  if (depth == DEEP || graph_scalar_fn(value->def) < 0) return false;
  for (uint32_t i = 0; i < value->def->operand_count; ++i) {
    if (!reads_runs(ir_operand(value->def, i), depth + 1)) return false;
  }
  return true;
}

// Which of the result's dimensions is the operand's last one.
static int32_t inner_dim(const ir_op_t* op) {
  int64_t perm[GRAPH_MAX_RANK];
  int32_t rank = op->results[0].type->rank, inner = 0;
  graph_get_perm(op, perm);
  while (inner < rank && perm[inner] != rank - 1) ++inner;
  return inner;
}

static int64_t square_lanes(const dispatch_t* d, const ir_type_t* type, int32_t inner) {
  enum { LARGE = 1 << 20 };  // as far as is known
  int64_t rows = type->dims[inner], columns = type->dims[type->rank - 1];
  if (rows == IR_DYNAMIC) rows = LARGE;
  if (columns == IR_DYNAMIC) columns = LARGE;
  int64_t lanes = dispatch_lanes(d, LARGE), most = rows < columns ? rows : columns;
  if (lanes > MAX_LANES) lanes = MAX_LANES;
  while (lanes > most) lanes /= 2;
  return lanes;
}

// Whether squares of the transposed value, whose dimension `inner` is read along, are worth it.
static bool has_squares(const dispatch_t* d, const ir_type_t* type, int32_t inner) {
  if (d->device->kind == DEVICE_CPU) {
    return eval_shuffles(type->element) && square_lanes(d, type, inner) >= LEAST_LANES;
  }
  const ir_type_t* element = type->element;
  bool is_whole = (element->kind == IR_TYPE_FLOAT || element->kind == IR_TYPE_INTEGER) && element->width >= 8 &&
                  element->width == 8 * ir_type_bytes(element);
  return is_whole && type->dims[inner] >= LEAST_SIDE && type->dims[type->rank - 1] >= LEAST_SIDE;
}

// Whether something else than elementwise functions reads the value, or what they make of it, so at other places than
// those that are turned together.
static bool is_read_elsewhere(const dispatch_t* d, const ir_value_t* value) {
  uint32_t count = 1, most = 1;
  for (const ir_op_t* op = value->def; op != d->yield; op = op->next) most += op->result_count;
  const ir_value_t** made = ARENA_ARRAY(ir_context_arena(d->ctx), const ir_value_t*, most);
  made[0] = value;
  for (const ir_op_t* op = value->def->next; op != d->yield; op = op->next) {
    bool reads = false;
    for (uint32_t i = 0; i < op->operand_count && !reads; ++i) {
      for (uint32_t j = 0; j < count && !reads; ++j) reads = ir_operand(op, i) == made[j];
    }
    if (reads && graph_scalar_fn(op) < 0) return true;
    for (uint32_t i = 0; reads && i < op->result_count; ++i) made[count++] = &op->results[i];
  }
  return false;
}

// A transpose that elementwise functions lead to from `value`, of its shape.
static ir_value_t* find_transpose(const dispatch_t* d, ir_value_t* value, int depth) {
  enum { DEEP = 8 };
  ir_op_t* op = value->def;
  if (!op || depth == DEEP) return NULL;
  if (ir_is(op, GRAPH_TRANSPOSE)) {
    int32_t inner = inner_dim(op);
    bool turns = inner != value->type->rank - 1 && reads_runs(ir_operand(op, 0), 0);
    return turns && has_squares(d, value->type, inner) && !is_read_elsewhere(d, value) ? value : NULL;
  }
  if (graph_scalar_fn(op) < 0) return NULL;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_value_t* found = find_transpose(d, ir_operand(op, i), depth + 1);
    if (found) return found;
  }
  return NULL;
}

bool strategy_transpose_proposes(const dispatch_t* d, candidate_t* c) {
  ir_value_t* result = ir_operand(d->yield, 0);
  bool is_known = ir_type_is_static(result->type) || d->device->kind == DEVICE_CPU;
  if (graph_in_place(d->op) >= 0 || d->yield->operand_count != 1 || !is_known)
    return candidate_declines(c, "squares are of one result of known size");
  if (!candidate_evaluates(d, NULL, c)) return false;
  return find_transpose(d, result, 0) || candidate_declines(c, "the last dimension stays where it is");
}

// Segments that processors shuffle within, and as a whole, by one instruction without a table.
static int64_t segment_lanes(const ir_type_t* element, int64_t lanes) {
  enum { SEGMENT = 16 };
  int64_t segment = SEGMENT / (int64_t)ir_type_bytes(element);
  return segment < 1 ? 1 : segment < lanes ? segment : lanes;
}

// Of pairs of vectors: lanes of both in turn, of the segments' lower halves and of their upper ones.
static void zip_segments(kernel_build_t* k, ir_value_t* x, ir_value_t* y, int64_t lanes, int64_t segment,
                         ir_value_t** out) {
  int64_t low[MAX_LANES], high[MAX_LANES];
  for (int64_t i = 0; i < lanes; ++i) {
    int64_t from = i / segment * segment + i % segment / 2 + (i % 2 ? lanes : 0);
    low[i] = from;
    high[i] = from + segment / 2;
  }
  out[0] = kernel_shuffle(&k->b, x, y, low, (uint32_t)lanes);
  out[1] = kernel_shuffle(&k->b, x, y, high, (uint32_t)lanes);
}

// Of pairs of vectors: the even segments of both one behind the other, and the odd ones.
static void split_segments(kernel_build_t* k, ir_value_t* x, ir_value_t* y, int64_t lanes, int64_t segment,
                           ir_value_t** even, ir_value_t** odd) {
  int64_t evens[MAX_LANES], odds[MAX_LANES];
  for (int64_t i = 0; i < lanes; ++i) {
    evens[i] = 2 * (i / segment) * segment + i % segment;  // beyond `lanes`: y's
    odds[i] = evens[i] + segment;
  }
  *even = kernel_shuffle(&k->b, x, y, evens, (uint32_t)lanes);
  *odd = kernel_shuffle(&k->b, x, y, odds, (uint32_t)lanes);
}

// Lane i of vector j becomes lane j of vector i: first in squares of segments, by zips of as many vectors as a segment
// has lanes; then segments change places as a whole.
static void turn_square(kernel_build_t* k, ir_value_t** rows, int64_t lanes) {
  int64_t segment = segment_lanes(ir_type_scalar(rows[0]->type), lanes), count = lanes / segment;
  ir_value_t *next[MAX_LANES], **from = rows, **to = next;
  for (int64_t step = 1; step < segment; step *= 2) {
    for (int64_t i = 0; i < lanes; i += segment) {
      for (int64_t j = 0; j < segment / 2; ++j) {
        zip_segments(k, from[i + j], from[i + j + segment / 2], lanes, segment, &to[i + 2 * j]);
      }
    }
    ir_value_t** other = from;
    from = to;
    to = other;
  }
  // Vectors c, c + segment, ... have column c of each segment.
  for (int64_t step = 1; step < count; step *= 2) {
    for (int64_t c = 0; c < segment; ++c) {
      for (int64_t i = 0; i < count / 2; ++i) {
        ir_value_t **low = &to[i * segment + c], **high = &to[(i + count / 2) * segment + c];
        split_segments(k, from[2 * i * segment + c], from[(2 * i + 1) * segment + c], lanes, segment, low, high);
      }
    }
    ir_value_t** other = from;
    from = to;
    to = other;
  }
  if (from != rows) memcpy(rows, from, sizeof(*rows) * (size_t)lanes);
}

// Of lines that are stored a vector at a time, which processors do not see as streams, the next vectors come near.
static void fetch_next(turn_t* t, const linear_t* coords) {
  enum { LINE = 64, FIRST_LEVEL = 3 };
  kernel_build_t* k = &t->d->k;
  ir_value_t* output = t->d->outputs[0];
  if (t->lanes * (int64_t)ir_type_bytes(output->type->element) < LINE / 2) return;
  linear_t next = eval_offset(k, output, coords);
  next.constant += t->lanes;
  next.lane = 0;
  kernel_prefetch(&k->b, ((const source_t*)output->data)->memory, linear_scalar(k, &next), FIRST_LEVEL, true);
}

// The square whose first elements are at `row` along the inner and at `column` along the last dimension.
static void build_square(turn_t* t, linear_t row, linear_t column) {
  kernel_build_t* k = &t->d->k;
  ir_value_t* rows[MAX_LANES];
  linear_t lane = linear_lane();
  k->lanes = t->lanes;
  for (int64_t i = 0; i < t->lanes; ++i) {
    t->coords[t->last] = linear_add(k, column, linear_constant(i));
    t->coords[t->inner] = linear_add(k, row, lane);
    rows[i] = eval_lanes(k, t->turned, t->coords);
  }
  turn_square(k, rows, t->lanes);
  t->coords[t->last] = linear_add(k, column, lane);
  for (int64_t i = 0; i < t->lanes; ++i) {
    t->coords[t->inner] = linear_add(k, row, linear_constant(i));
    fetch_next(t, t->coords);
    eval_set_bound(k, t->turned, rows[i]);
    eval_store(k, t->d->outputs[0], t->coords, eval_at(k, t->result, t->coords));
    t->turned->data = NULL;
  }
  k->lanes = 1;
}

// How many squares of the lines that are read are turned together: more than one where caches do not hold what is read
// and stored, unless many at the end are made twice.
static int64_t squares_together(const turn_t* t) {
  const device_info_t* device = t->d->device;
  const ir_type_t* type = t->result->type;
  int64_t squares = ceil_div(type->dims[t->inner], t->lanes), together = SQUARES;
  if (2 * ir_type_count(type) * (int64_t)ir_type_bytes(type->element) <= device->l2_bytes) return 1;
  while (together > 1 && ceil_div(squares, together) * together - squares > squares / 8) together /= 2;
  return together;
}

static void build_cpu(turn_t* turn) {
  enum { WORK = 60000 };
  turn_t t = *turn;
  dispatch_t* d = t.d;
  kernel_build_t* k = &d->k;
  const ir_type_t* type = t.result->type;
  t.lanes = square_lanes(d, type, t.inner);
  int64_t sizes[GRAPH_MAX_RANK], columns = type->dims[t.last], whole = columns / t.lanes * t.lanes, count = 1;
  memcpy(sizes, type->dims, sizeof(sizes));
  int64_t block = squares_together(&t), side = block * t.lanes;
  sizes[t.inner] = ceil_div(type->dims[t.inner], side);
  for (int32_t i = 0; i < t.last; ++i) count *= sizes[i];
  iterations_t it = iterations_begin(d, count, WORK / (dispatch_cost(d) * columns * side));
  iterations_split(k, it.index, sizes, t.last, t.coords);
  linear_t rows[SQUARES];
  for (int64_t i = 0; i < block; ++i) {
    rows[i] = linear_scale(k, t.coords[t.inner], side);
    rows[i].constant += i * t.lanes;
    if (type->dims[t.inner] % side == 0) continue;
    ir_value_t* end = index_constant(k, type->dims[t.inner] - t.lanes);
    rows[i] = linear_value(index_binary(k, SCALAR_min, linear_scalar(k, &rows[i]), end));
  }
  kernel_loop_t loop = kernel_loop_constant(k, 0, whole, t.lanes, NULL, 0);
  for (int64_t i = 0; i < block; ++i) build_square(&t, rows[i], linear_value(loop.index));
  kernel_for_end(&k->b, &loop, NULL, 0);
  for (int64_t i = 0; whole < columns && i < block; ++i) build_square(&t, rows[i], linear_constant(columns - t.lanes));
  iterations_end(d, &it);
}

// Of a range that is at least as long as a square, the squares that begin at or before its end, `count` at once: the
// last ends with it.
static kernel_loop_t begin_squares(turn_t* t, share_t part, ir_value_t* size, int64_t count, linear_t* at) {
  kernel_build_t* k = &t->d->k;
  kernel_loop_t loop = kernel_loop_begin(k, part.lower, part.upper, count * t->lanes, NULL, 0);
  ir_value_t* last = index_binary(k, SCALAR_add, size, index_constant(k, -t->lanes));
  for (int64_t i = 0; i < count; ++i) {
    ir_value_t* first = index_binary(k, SCALAR_add, loop.index, index_constant(k, i * t->lanes));
    first = kernel_binary(&k->b, SCALAR_min, first, last);
    index_set_facts(k, first, 0, index_facts(size).max - 1, 1);
    at[i] = linear_value(first);
  }
  return loop;
}

// The rows of `part`, one element after the other.
static void build_elements(turn_t* t, share_t part, ir_value_t* columns) {
  kernel_build_t* k = &t->d->k;
  kernel_loop_t rows = kernel_loop_begin(k, part.lower, part.upper, 1, NULL, 0);
  kernel_loop_t loop = kernel_loop_begin(k, index_constant(k, 0), columns, 1, NULL, 0);
  t->coords[t->inner] = linear_value(rows.index);
  t->coords[t->last] = linear_value(loop.index);
  eval_store(k, t->d->outputs[0], t->coords, eval_at(k, t->result, t->coords));
  kernel_for_end(&k->b, &loop, NULL, 0);
  kernel_for_end(&k->b, &rows, NULL, 0);
}

// Whole squares where both sizes are at least theirs.
static void build_part(turn_t* t, share_t part, const extent_t* sizes) {
  kernel_build_t* k = &t->d->k;
  ir_value_t *rows = extent_value(k, &sizes[t->inner]), *columns = extent_value(k, &sizes[t->last]);
  ir_value_t* least = index_binary(k, SCALAR_min, rows, columns);
  ir_value_t* fits = kernel_binary(&k->b, SCALAR_ge, least, index_constant(k, t->lanes));
  kernel_branch_t branch = kernel_if_begin(&k->b, fits, NULL, 0);
  linear_t row[SQUARES], column;
  kernel_loop_t outer = begin_squares(t, part, rows, SQUARES, row);
  kernel_loop_t inner = begin_squares(t, (share_t){index_constant(k, 0), columns}, columns, 1, &column);
  for (int i = 0; i < SQUARES; ++i) build_square(t, row[i], column);
  kernel_for_end(&k->b, &inner, NULL, 0);
  kernel_for_end(&k->b, &outer, NULL, 0);
  kernel_if_else(&k->b, &branch, NULL, 0);
  build_elements(t, part, columns);
  kernel_if_end(&k->b, &branch, NULL, 0);
}

// Some sizes are known at run time only. Where there is nothing but rows and columns, the rows are shared out.
static void build_dynamic(turn_t* turn) {
  turn_t t = *turn;
  dispatch_t* d = t.d;
  kernel_build_t* k = &d->k;
  extent_t sizes[GRAPH_MAX_RANK], others[GRAPH_MAX_RANK], count = extent_fixed(1);
  eval_extents(d->outputs[0], sizes);
  memcpy(others, sizes, sizeof(others));
  others[t.inner] = extent_fixed(1);
  for (int32_t i = 0; i < t.last; ++i) count = extent_product(count, others[i]);
  t.lanes = square_lanes(d, t.result->type, t.inner);
  int64_t cost = dispatch_cost(d) * extent_guess(&sizes[t.last]);
  if (extent_is(&count, 1)) {
    for (int32_t i = 0; i < t.last; ++i) t.coords[i] = linear_constant(0);
    build_part(&t, iterations_share(d, &sizes[t.inner], cost, SQUARES * t.lanes), sizes);
    return;
  }
  iterations_t it = iterations_dynamic(d, &count, cost * extent_guess(&sizes[t.inner]));
  iterations_split_extents(k, it.index, others, t.last, t.coords);
  build_part(&t, (share_t){index_constant(k, 0), extent_value(k, &sizes[t.inner])}, sizes);
  iterations_end(d, &it);
}

//===----------------------------------------------------------------------------------------------------------------===
// GPUs
//===----------------------------------------------------------------------------------------------------------------===

// i1: both coordinates are inside; NULL where they always are.
static ir_value_t* find_inside(turn_t* t) {
  kernel_build_t* k = &t->d->k;
  const int32_t dims[] = {t->last, t->inner};
  ir_value_t* inside = NULL;
  for (int i = 0; i < 2; ++i) {
    linear_t at = t->coords[dims[i]];
    at.lane = 0;
    int64_t min, max, size = t->result->type->dims[dims[i]];
    linear_range(k, &at, &min, &max);
    if (max < size) continue;
    ir_value_t* below = kernel_binary(&k->b, SCALAR_lt, linear_scalar(k, &at), kernel_index(&k->b, size));
    inside = inside ? kernel_binary(&k->b, SCALAR_and, inside, below) : below;
  }
  return inside;
}

enum { MAX_SHARE = SIDE_LANES * WORD * SIDE_LANES / WORKGROUP };

// A thread's share of the square, a vector of each of so many lines.
typedef struct share_of_t {
  ir_value_t* memory;
  const linear_t* first;  // coordinates of the square
  linear_t line, lane;    // of the share's first line
  int64_t count, step, stride;
} share_of_t;

// Sets the coordinates of the share's vector number i, that goes along `along`; i1: whether that is inside, or NULL.
static ir_value_t* find_vector(turn_t* t, const share_of_t* share, int64_t i, int32_t along, int32_t across) {
  linear_t line = share->line;
  line.constant += i * share->step;
  t->coords[along] = linear_add(&t->d->k, share->first[along], share->lane);
  t->coords[across] = linear_add(&t->d->k, share->first[across], line);
  ir_value_t* inside = find_inside(t);
  t->coords[along].lane = t->lanes > 1;
  return inside;
}

// Reads all of it, then brings it to workgroup memory.
static void read_share(turn_t* t, const share_of_t* share) {
  kernel_build_t* k = &t->d->k;
  const ir_type_t* type = kernel_vector_type(k->ctx, t->turned->type->element, t->lanes);
  ir_value_t* values[MAX_SHARE];
  for (int64_t i = 0; i < share->count; ++i) {
    ir_value_t* inside = find_vector(t, share, i, t->inner, t->last);
    kernel_branch_t branch = {0};
    if (inside) branch = kernel_if_begin(&k->b, inside, &type, 1);
    k->lanes = t->lanes;
    values[i] = eval_lanes(k, t->turned, t->coords);
    k->lanes = 1;
    if (!inside) continue;
    kernel_if_else(&k->b, &branch, &values[i], 1);
    ir_value_t* none = kernel_number(&k->b, type, 0);
    kernel_if_end(&k->b, &branch, &none, 1);
    values[i] = ir_result(branch.op, 0);
  }
  for (int64_t i = 0; i < share->count; ++i) {
    linear_t at = linear_add(k, linear_scale(k, share->line, share->stride), share->lane);
    at.constant += i * share->step * share->stride;
    for (int64_t v = 0; v < t->lanes; ++v, ++at.constant) {
      kernel_store(&k->b, kernel_extract(&k->b, values[i], v), share->memory, linear_scalar(k, &at));
    }
  }
}

static void store_share(turn_t* t, const share_of_t* share) {
  kernel_build_t* k = &t->d->k;
  for (int64_t i = 0; i < share->count; ++i) {
    ir_value_t* inside = find_vector(t, share, i, t->last, t->inner);
    kernel_branch_t branch = {0};
    if (inside) branch = kernel_if_begin(&k->b, inside, NULL, 0);
    linear_t at = linear_add(k, linear_scale(k, share->lane, share->stride), share->line);
    at.constant += i * share->step;
    ir_value_t* turned = kernel_number(&k->b, kernel_vector_type(k->ctx, t->turned->type->element, t->lanes), 0);
    for (int64_t v = 0; v < t->lanes; ++v, at.constant += share->stride) {
      turned = kernel_insert(&k->b, turned, kernel_load(&k->b, share->memory, linear_scalar(k, &at), 1), v);
    }
    k->lanes = t->lanes;
    eval_set_bound(k, t->turned, turned);
    eval_store(k, t->d->outputs[0], t->coords, eval_at(k, t->result, t->coords));
    t->turned->data = NULL;
    k->lanes = 1;
    if (inside) kernel_if_end(&k->b, &branch, NULL, 0);
  }
}

static void build_gpu(turn_t* t) {
  dispatch_t* d = t->d;
  kernel_build_t* k = &d->k;
  const ir_type_t *type = t->result->type, *element = t->turned->type->element;
  t->lanes = WORD / (int64_t)ir_type_bytes(element);
  if (t->lanes < 1 || type->dims[t->inner] % t->lanes || type->dims[t->last] % t->lanes) t->lanes = 1;
  int64_t side = SIDE_LANES * t->lanes, sizes[GRAPH_MAX_RANK], count = 1;
  memcpy(sizes, type->dims, sizeof(sizes));
  sizes[t->inner] = (sizes[t->inner] + side - 1) / side;
  sizes[t->last] = (sizes[t->last] + side - 1) / side;
  for (int32_t i = 0; i < type->rank; ++i) count *= sizes[i];
  team_t team = team_begin(d, WORKGROUP);
  extent_t squares = extent_fixed(count);
  iterations_t it = team_iterations(d, &squares);
  iterations_split(k, it.index, sizes, type->rank, t->coords);
  linear_t first[GRAPH_MAX_RANK];
  memcpy(first, t->coords, sizeof(first));
  first[t->inner] = linear_scale(k, first[t->inner], side);
  first[t->last] = linear_scale(k, first[t->last], side);
  share_of_t share = {.first = first, .step = WORKGROUP / SIDE_LANES, .stride = side + 1};
  share.count = side / share.step;
  share.memory = kernel_alloc(&k->b, element, side * share.stride, IR_SPACE_WORKGROUP);
  linear_divide(k, team.thread, SIDE_LANES, &share.line, &share.lane);
  share.lane = linear_scale(k, share.lane, t->lanes);
  if (it.has_loop) team_barrier(k);  // all have stored the square before
  read_share(t, &share);
  team_barrier(k);
  store_share(t, &share);
  iterations_end(d, &it);
}

void strategy_transpose_build(dispatch_t* d) {
  turn_t t = {.d = d, .result = ir_operand(d->yield, 0)};
  t.last = t.result->type->rank - 1;
  t.turned = find_transpose(d, t.result, 0);
  t.inner = inner_dim(t.turned->def);
  if (!ir_type_is_static(t.result->type)) {
    build_dynamic(&t);
  } else if (d->device->kind == DEVICE_CPU) {
    build_cpu(&t);
  } else {
    build_gpu(&t);
  }
}
