// Transposes on CPUs: where the dimension that memory has innermost is not the result's last one, squares of as many
// rows as a vector has lanes are read along the one, turned in registers and stored along the other. What is computed
// before comes with the rows that are read, what follows with those that are stored. Squares at the end of a dimension
// end with it, so that they share elements with those before them, and none needs a mask.
#include <string.h>

#include "kernels/strategy.h"

enum { MAX_LANES = 16, LEAST_LANES = 4 };

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
  int64_t rows = type->dims[inner], columns = type->dims[type->rank - 1];
  int64_t lanes = dispatch_lanes(d, 1 << 20), most = rows < columns ? rows : columns;
  if (lanes > MAX_LANES) lanes = MAX_LANES;
  while (lanes > most) lanes /= 2;
  return lanes;
}

// A transpose that elementwise functions lead to from `value`, of its shape.
static ir_value_t* find_transpose(const dispatch_t* d, ir_value_t* value, int depth) {
  enum { DEEP = 8 };
  ir_op_t* op = value->def;
  if (!op || depth == DEEP) return NULL;
  if (ir_is(op, GRAPH_TRANSPOSE)) {
    int32_t inner = inner_dim(op);
    bool turns = inner != value->type->rank - 1 && eval_shuffles(value->type->element);
    return turns && reads_runs(ir_operand(op, 0), 0) && square_lanes(d, value->type, inner) >= LEAST_LANES ? value
                                                                                                           : NULL;
  }
  if (graph_scalar_fn(op) < 0) return NULL;
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    ir_value_t* found = find_transpose(d, ir_operand(op, i), depth + 1);
    if (found) return found;
  }
  return NULL;
}

bool strategy_transpose_matches(const dispatch_t* d) {
  const ir_value_t* result = ir_operand(d->yield, 0);
  if (d->root || d->yield->operand_count != 1 || !ir_type_is_static(result->type)) return false;
  IR_FOR_OPS(op, d->body) {
    if (op != d->yield && !eval_supports(op)) return false;
  }
  return find_transpose(d, ir_operand(d->yield, 0), 0) != NULL;
}

// Lane i of vector j becomes lane j of vector i: by halves, quarters and so on, of pairs of vectors.
static void turn_square(kernel_build_t* k, ir_value_t** rows, int64_t lanes) {
  for (int64_t part = lanes / 2; part > 0; part /= 2) {
    int64_t low[MAX_LANES], high[MAX_LANES];
    for (int64_t i = 0; i < lanes; ++i) {
      low[i] = i & part ? lanes + i - part : i;
      high[i] = i & part ? lanes + i : i + part;
    }
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & part) continue;
      ir_value_t *x = rows[i], *y = rows[i + part];
      rows[i] = kernel_shuffle(&k->b, x, y, low, (uint32_t)lanes);
      rows[i + part] = kernel_shuffle(&k->b, x, y, high, (uint32_t)lanes);
    }
  }
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
    eval_set_bound(k, t->turned, rows[i]);
    eval_store(k, t->d->outputs[0], t->coords, eval_at(k, t->result, t->coords));
    t->turned->data = NULL;
  }
  k->lanes = 1;
}

void strategy_transpose_build(dispatch_t* d) {
  enum { WORK = 60000 };
  kernel_build_t* k = &d->k;
  turn_t t = {.d = d, .result = ir_operand(d->yield, 0)};
  const ir_type_t* type = t.result->type;
  t.turned = find_transpose(d, t.result, 0);
  t.last = type->rank - 1;
  t.inner = inner_dim(t.turned->def);
  t.lanes = square_lanes(d, type, t.inner);
  int64_t sizes[GRAPH_MAX_RANK], columns = type->dims[t.last], whole = columns / t.lanes * t.lanes, count = 1;
  memcpy(sizes, type->dims, sizeof(sizes));
  sizes[t.inner] = (type->dims[t.inner] + t.lanes - 1) / t.lanes;
  for (int32_t i = 0; i < t.last; ++i) count *= sizes[i];
  iterations_t it = iterations_begin(d, count, WORK / (dispatch_cost(d) * columns * t.lanes));
  iterations_split(k, it.index, sizes, t.last, t.coords);
  linear_t row = linear_scale(k, t.coords[t.inner], t.lanes);
  if (type->dims[t.inner] % t.lanes) {
    ir_value_t* end = index_constant(k, type->dims[t.inner] - t.lanes);
    row = linear_value(index_binary(k, SCALAR_min, linear_scalar(k, &row), end));
  }
  kernel_loop_t loop = kernel_loop_constant(k, 0, whole, t.lanes, NULL, 0);
  build_square(&t, row, linear_value(loop.index));
  kernel_for_end(&k->b, &loop, NULL, 0);
  if (whole < columns) build_square(&t, row, linear_constant(columns - t.lanes));
  iterations_end(d, &it);
}
