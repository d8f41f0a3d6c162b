// Scatters with many updates, for GPUs: which row of the operand each update means is computed as a number, the numbers
// are sorted, and the updates put in their order. Then each element of the result finds its updates by itself, in the
// order in which they were: where a row has many, by the combinations of aligned blocks of them, of blocks of blocks
// ...
//
//   scatter %x, %indices, %updates    =>    %k = row numbers of %indices    %s, %o = sort %k, iota
//                                           %u = %updates at %o    %v = reduce %u by 32    %w = reduce %v by 32 ...
//                                           scatter %x as rows, %s, %u, %v, %w ... {sorted = 1}
#include <string.h>

#include "dialects/evaluate.h"
#include "dialects/graph_shape.h"
#include "passes/spread_impl.h"

typedef struct rows_t {
  ir_builder_t b;
  ir_op_t* op;
  uint32_t count;  // results
  ir_value_t *x, *indices, *updates;
  const ir_type_t* number;  // of the arithmetic on indices
  int64_t map[GRAPH_MAX_RANK], vector_dim;
  uint32_t map_count;
  // Of each of x's dimensions: the updates' with its window or batch coordinates, or -1.
  int32_t from[GRAPH_MAX_RANK];
  int32_t batch[GRAPH_MAX_RANK], batch_count;  // the updates' dimensions beside the window, in order
  // Dimensions that number rows, then those within a row: of x, of the updates.
  int64_t x_dims[GRAPH_MAX_RANK], u_dims[GRAPH_MAX_RANK];
  int32_t x_rows, u_rows;
} rows_t;

static void read_dims(rows_t* r) {
  int64_t window[GRAPH_MAX_RANK], inserted[GRAPH_MAX_RANK], batched[GRAPH_MAX_RANK], of_indices[GRAPH_MAX_RANK];
  uint32_t window_count = graph_get_update_window_dims(r->op, window), next = 0;
  uint32_t inserted_count = graph_get_inserted_dims(r->op, inserted);
  uint32_t batch_count = graph_get_operand_batch_dims(r->op, batched);
  graph_get_indices_batch_dims(r->op, of_indices);
  r->map_count = graph_get_scatter_dims_map(r->op, r->map);
  r->vector_dim = graph_get_index_vector_dim(r->op);
  for (int32_t i = 0; i < r->updates->type->rank; ++i) {
    if (!shape_contains(window, window_count, i)) r->batch[r->batch_count++] = i;
  }
  for (int32_t i = 0; i < r->x->type->rank; ++i) {
    bool gone = shape_contains(inserted, inserted_count, i) || shape_contains(batched, batch_count, i);
    r->from[i] = gone ? -1 : (int32_t)window[next++];
  }
  for (uint32_t i = 0; i < batch_count; ++i) {
    int64_t dim = of_indices[i];
    if (r->vector_dim < r->indices->type->rank && dim > r->vector_dim) --dim;
    r->from[batched[i]] = r->batch[dim];
  }
}

// Within a row are the window's dimensions that no index moves, where the updates are as large as the operand.
static void read_rows(rows_t* r) {
  int32_t x_inside = 0, u_inside = 0;
  int64_t x_within[GRAPH_MAX_RANK], u_within[GRAPH_MAX_RANK];
  bool within[GRAPH_MAX_RANK] = {0};
  for (int32_t i = 0; i < r->x->type->rank; ++i) {
    int32_t from = r->from[i];
    bool is_window = from >= 0;
    for (int32_t j = 0; j < r->batch_count; ++j) is_window &= r->batch[j] != from;
    bool whole = is_window && !shape_contains(r->map, r->map_count, i) && r->x->type->dims[i] != IR_DYNAMIC &&
                 r->x->type->dims[i] == r->updates->type->dims[from];
    if (whole) {
      x_within[x_inside++] = i;
      u_within[u_inside++] = from;
      within[from] = true;
    } else {
      r->x_dims[r->x_rows++] = i;
    }
  }
  for (int32_t i = 0; i < r->updates->type->rank; ++i) {
    if (!within[i]) r->u_dims[r->u_rows++] = i;
  }
  memcpy(r->x_dims + r->x_rows, x_within, sizeof(*x_within) * (size_t)x_inside);
  memcpy(r->u_dims + r->u_rows, u_within, sizeof(*u_within) * (size_t)u_inside);
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers of rows: tensors over the updates' dimensions that number them
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t row_shape(rows_t* r, int64_t* dims, ir_value_t** dynamic) {
  uint32_t count = 0;
  for (int32_t i = 0; i < r->u_rows; ++i) {
    dims[i] = r->updates->type->dims[r->u_dims[i]];
    if (dims[i] == IR_DYNAMIC) dynamic[count++] = graph_dim(&r->b, r->updates, (uint32_t)r->u_dims[i]);
  }
  return count;
}

static ir_value_t* spread_over_rows(rows_t* r, ir_value_t* x, const int64_t* at) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  row_shape(r, dims, dynamic);
  return graph_broadcast(&r->b, x, ir_type_tensor(r->b.ctx, r->number, r->u_rows, dims), at, dynamic);
}

static int32_t row_place(const rows_t* r, int32_t dim) {
  int32_t place = 0;
  while (r->u_dims[place] != dim) ++place;
  return place;
}

// The coordinate along one of the updates' dimensions.
static ir_value_t* coordinate_of(rows_t* r, int32_t dim) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  row_shape(r, dims, dynamic);
  return graph_iota(&r->b, ir_type_tensor(r->b.ctx, r->number, r->u_rows, dims), row_place(r, dim), dynamic);
}

static ir_value_t* size_of(rows_t* r, int32_t dim) {
  int64_t size = r->x->type->dims[dim];
  const ir_type_t* scalar = ir_type_tensor(r->b.ctx, r->number, 0, NULL);
  if (size != IR_DYNAMIC) return spread_over_rows(r, graph_splat_integer(&r->b, scalar, size), NULL);
  ir_value_t* run_time = graph_dim(&r->b, r->x, (uint32_t)dim);
  const ir_type_t* type = ir_type_tensor(r->b.ctx, ir_type_index(r->b.ctx), 0, NULL);
  run_time = graph_build(&r->b, GRAPH_TO_TENSOR, &run_time, 1, type, NULL, 0);
  return spread_over_rows(r, graph_cast(&r->b, run_time, r->number, false), NULL);
}

// A component of the indices.
static ir_value_t* start_of(rows_t* r, uint32_t component, ir_value_t* size) {
  ir_builder_t* b = &r->b;
  const ir_type_t* type = r->indices->type;
  ir_value_t* start = r->indices;
  if (r->vector_dim < type->rank) start = spread_element(b, start, r->vector_dim, component);
  int64_t at[GRAPH_MAX_RANK];
  for (int32_t i = 0; i < r->batch_count; ++i) at[i] = row_place(r, r->batch[i]);
  start = spread_over_rows(r, graph_cast(b, start, r->number, false), at);
  if (!graph_get_wrap(r->op)) return start;
  ir_value_t* negative = graph_binary(b, SCALAR_lt, start, graph_splat_like(b, start, 0));
  return graph_select(b, negative, graph_binary(b, SCALAR_add, start, size), start);
}

// Row-major over x's dimensions that number rows; the number of rows for what lies outside.
static ir_value_t* row_numbers(rows_t* r) {
  ir_builder_t* b = &r->b;
  ir_value_t *number = NULL, *rows = NULL, *inside = NULL;
  for (int32_t i = 0; i < r->x_rows; ++i) {
    int32_t dim = (int32_t)r->x_dims[i];
    ir_value_t *size = size_of(r, dim), *at = r->from[dim] >= 0 ? coordinate_of(r, r->from[dim]) : NULL;
    for (uint32_t c = 0; c < r->map_count; ++c) {
      if (r->map[c] != dim) continue;
      ir_value_t* start = start_of(r, c, size);
      at = at ? graph_binary(b, SCALAR_add, at, start) : start;
      ir_value_t* fits = graph_binary(b, SCALAR_ltu, at, size);
      inside = inside ? graph_binary(b, SCALAR_and, inside, fits) : fits;
    }
    if (!at) at = graph_splat_like(b, size, 0);
    number = number ? graph_binary(b, SCALAR_add, graph_binary(b, SCALAR_mul, number, size), at) : at;
    rows = rows ? graph_binary(b, SCALAR_mul, rows, size) : size;
  }
  return inside ? graph_select(b, inside, number, rows) : number;
}

//===----------------------------------------------------------------------------------------------------------------===
// The scatter of rows
//===----------------------------------------------------------------------------------------------------------------===

// [rows, elements of a row], or [rows].
static ir_value_t* as_rows(ir_builder_t* b, ir_value_t* x, const int64_t* dims, int32_t rows) {
  int32_t rank = x->type->rank;
  x = spread_join(b, graph_transpose(b, x, dims), 0, rows);
  return rank > rows ? spread_join(b, x, 1, rank - rows) : x;
}

static ir_value_t* from_rows(rows_t* r, ir_value_t* y) {
  int64_t dims[GRAPH_MAX_RANK], back[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (int32_t i = 0; i < r->x->type->rank; ++i) {
    dims[i] = r->x->type->dims[r->x_dims[i]];
    back[r->x_dims[i]] = i;
    if (dims[i] == IR_DYNAMIC) dynamic[count++] = graph_dim(&r->b, r->x, (uint32_t)r->x_dims[i]);
  }
  return graph_transpose(&r->b, graph_reshape(&r->b, y, r->x->type->rank, dims, dynamic), back);
}

static ir_op_t* sorted_numbers(rows_t* r, ir_value_t* numbers) {
  ir_builder_t* b = &r->b;
  ir_value_t* count = numbers->type->dims[0] == IR_DYNAMIC ? graph_dim(b, numbers, 0) : NULL;
  ir_value_t* operands[2] = {numbers, graph_iota(b, numbers->type, 0, &count)};
  return graph_sort(b, operands, 2, &(graph_sort_t){.keys = 1});
}

// The same region or kind over rows.
static ir_op_t* scatter_rows(rows_t* r, ir_value_t** operands, uint32_t operand_count) {
  ir_context_t* ctx = r->b.ctx;
  ir_op_t* copy = ir_op_clone(ctx, r->op, NULL);
  int64_t zero = 0, one = 1;
  const ir_attr_t* none = ir_attr_i64_array(ctx, NULL, 0);
  ir_op_set_operands(ctx, copy, operands, operand_count);
  for (uint32_t i = 0; i < r->count; ++i) copy->results[i].type = operands[i]->type;
  ir_op_set_attr(ctx, copy, "update_window_dims", ir_attr_i64_array(ctx, &one, operands[0]->type->rank > 1));
  ir_op_set_attr(ctx, copy, "inserted_dims", ir_attr_i64_array(ctx, &zero, 1));
  ir_op_set_attr(ctx, copy, "operand_batch_dims", none);
  ir_op_set_attr(ctx, copy, "indices_batch_dims", none);
  ir_op_set_attr(ctx, copy, "scatter_dims_map", ir_attr_i64_array(ctx, &zero, 1));
  ir_op_set_attr(ctx, copy, "index_vector_dim", ir_attr_i64(ctx, 1));
  ir_op_set_attr(ctx, copy, "sorted", ir_attr_i64(ctx, 1));
  ir_op_remove_attr(copy, "wrap");
  ir_block_insert_before(r->op->parent, copy, r->op);
  return copy;
}

// Behind the operands of a scatter of sorted rows: its updates combined, those again, until few are left or they are
// enough for any number that only the host knows. What a body does need not combine.
enum { SERIAL_UPDATES = 256, LEVELS_RUN_TIME = 3 };
static uint32_t add_combined(rows_t* r, ir_value_t** operands) {
  ir_builder_t* b = &r->b;
  uint32_t count = r->op->operand_count;
  if (!ir_is(r->op, GRAPH_SCATTER) || strcmp(graph_get_kind(r->op), "set") == 0) return count;
  const char* kind = graph_get_kind(r->op);
  const ir_type_t* element = ir_type_scalar(operands[2]->type);
  ir_value_t* fill = graph_constant(b, graph_identity(b->ctx, kind, element));
  int64_t within = 1;
  for (uint32_t level = 0; level < GRAPH_SCATTER_LEVELS; ++level, ++count) {
    int64_t size = operands[count - 1]->type->dims[0], parts = IR_DYNAMIC;
    if (size == IR_DYNAMIC ? level == LEVELS_RUN_TIME : size <= SERIAL_UPDATES) break;
    if (size != IR_DYNAMIC) parts = (size + GRAPH_SCATTER_FAN - 1) / GRAPH_SCATTER_FAN;
    split_t split_to = {.parts = parts, .length = GRAPH_SCATTER_FAN, .mode = "constant", .fill = fill};
    operands[count] = graph_reduce(b, spread_split(b, operands[count - 1], &split_to), &within, 1, kind);
  }
  return count;
}

// Whether sorting is worth it: not for few updates, nor where the rows' elements keep threads busy for long.
static bool is_long(const rows_t* r, int64_t rows, int64_t count) {
  enum { FEW = 64, SERIAL = 1 << 10, WIDE = 1 << 8 };
  const ir_type_t* x = r->x->type;
  int64_t width = spread_count(x, r->x_dims + r->x_rows, (uint32_t)(x->rank - r->x_rows));
  if (count != IR_DYNAMIC && count <= FEW) return false;
  bool is_static = count != IR_DYNAMIC && rows != IR_DYNAMIC;
  return !is_static || width < WIDE || rows + count > SERIAL;
}

ir_op_t* spread_scatter(ir_context_t* ctx, ir_op_t* op) {
  rows_t r = {.b = ir_builder_before(ctx, op), .op = op, .count = op->result_count};
  r.x = ir_operand(op, 0);
  r.indices = ir_operand(op, r.count);
  r.updates = ir_operand(op, r.count + 1);
  r.number = ir_type_int(ctx, 64);
  read_dims(&r);
  read_rows(&r);
  ir_value_t* operands[2 * SPREAD_VALUES + 1 + GRAPH_SCATTER_LEVELS];
  if (graph_scatter_rises(op) || r.count > SPREAD_VALUES || !r.x_rows || !r.u_rows) return NULL;
  int64_t rows = spread_count(r.x->type, r.x_dims, (uint32_t)r.x_rows);
  int64_t count = spread_count(r.updates->type, r.u_dims, (uint32_t)r.u_rows);
  if (!is_long(&r, rows, count)) return NULL;
  ir_value_t* numbers = spread_join(&r.b, row_numbers(&r), 0, r.u_rows);
  bool narrow = rows != IR_DYNAMIC && rows < INT32_MAX && count != IR_DYNAMIC && count < INT32_MAX;
  if (narrow) numbers = graph_cast(&r.b, numbers, ir_type_int(ctx, 32), false);
  ir_op_t* sort = sorted_numbers(&r, numbers);
  operands[r.count] = ir_result(sort, 0);
  for (uint32_t i = 0; i < r.count; ++i) {
    operands[i] = as_rows(&r.b, ir_operand(op, i), r.x_dims, r.x_rows);
    ir_value_t* updates = as_rows(&r.b, ir_operand(op, r.count + 1 + i), r.u_dims, r.u_rows);
    operands[r.count + 1 + i] = graph_take(&r.b, updates, ir_result(sort, 1), 0, false);
  }
  ir_op_t* scatter = scatter_rows(&r, operands, add_combined(&r, operands));
  for (uint32_t i = 0; i < r.count; ++i) ir_value_replace(ir_result(op, i), from_rows(&r, ir_result(scatter, i)));
  ir_op_erase(op);
  return scatter;
}
