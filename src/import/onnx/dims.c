// Sizes of dimensions: constants, or index values whose origin is traced, so that equal sizes are recognised.
#include "import/onnx/lower.h"

onnx_dim_t onnx_dim_of(int64_t size) { return (onnx_dim_t){.size = size}; }

// The i-th '?' size among the trailing index operands of an op with that many other operands, by dimension.
static ir_value_t* size_operand(const ir_op_t* op, uint32_t others, int32_t dim) {
  uint32_t at = others;
  for (int32_t i = 0; i < dim; ++i) at += op->results[0].type->dims[i] == IR_DYNAMIC;
  return at < op->operand_count ? ir_operand(op, at) : NULL;
}

static bool listed(const int64_t* list, uint32_t count, int64_t value) {
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i] == value) return true;
  }
  return false;
}

// A dimension of an operand: where a result dimension's size comes from. `operand` UINT32_MAX: from nowhere.
typedef struct origin_t {
  uint32_t operand;
  int32_t dim;
} origin_t;
static const origin_t nowhere = {UINT32_MAX, 0};

// The i-th dim of a type of that rank which is not in the list.
static int32_t unlisted_dim(int32_t rank, const int64_t* list, uint32_t count, int32_t i) {
  for (int32_t d = 0; d < rank; ++d) {
    if (!listed(list, count, d) && i-- == 0) return d;
  }
  return -1;
}

static origin_t contract_origin(const ir_op_t* op, int32_t dim) {
  int64_t batch[GRAPH_MAX_RANK], taken[2 * GRAPH_MAX_RANK];
  uint32_t batches = ir_op_ints(op, "lhs_batch", batch, GRAPH_MAX_RANK);
  if (dim < (int32_t)batches) return (origin_t){0, (int32_t)batch[dim]};
  dim -= (int32_t)batches;
  for (uint32_t side = 0; side < 2; ++side) {
    int32_t rank = ir_operand(op, side)->type->rank;
    uint32_t count = ir_op_ints(op, side ? "rhs_batch" : "lhs_batch", taken, GRAPH_MAX_RANK);
    count += ir_op_ints(op, side ? "rhs_contract" : "lhs_contract", taken + count, GRAPH_MAX_RANK);
    if (dim < rank - (int32_t)count) return (origin_t){side, unlisted_dim(rank, taken, count, dim)};
    dim -= rank - (int32_t)count;
  }
  return nowhere;
}

// Result dims of a gather that are not window dims are those of the indices.
static origin_t gather_origin(const ir_op_t* op, int32_t dim) {
  int64_t offsets[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(op, "offset_dims", offsets, GRAPH_MAX_RANK);
  int64_t vector_dim = ir_op_int(op, "index_vector_dim", 0);
  int32_t at = 0;
  if (listed(offsets, count, dim)) return nowhere;
  for (int32_t i = 0; i < dim; ++i) at += !listed(offsets, count, i);
  return (origin_t){1, at < vector_dim ? at : at + 1};
}

static origin_t window_origin(const ir_op_t* op, int32_t dim) {
  graph_window_t w = graph_window_read(op);
  bool whole =
      w.sizes[dim] == 1 && w.strides[dim] == 1 && w.base_dilations[dim] == 1 && !w.pad_low[dim] && !w.pad_high[dim];
  return whole ? (origin_t){0, dim} : nowhere;
}

static origin_t elementwise_origin(const ir_op_t* op, int32_t dim) {
  uint32_t operand = 0;
  while (operand + 1 < op->operand_count && ir_operand(op, operand)->type->dims[dim] != IR_DYNAMIC) ++operand;
  return (origin_t){operand, dim};
}

static origin_t find_origin(const ir_op_t* op, int32_t dim) {
  int64_t list[GRAPH_MAX_RANK];
  graph_conv_t conv;
  if (graph_scalar_fn(op) >= 0) return elementwise_origin(op, dim);
  switch (ir_code(op)) {
    case GRAPH_TRANSPOSE:
      return ir_op_ints(op, "perm", list, GRAPH_MAX_RANK) ? (origin_t){0, (int32_t)list[dim]} : nowhere;
    case GRAPH_REDUCE: {
      uint32_t count = graph_get_dims(op, list);
      return (origin_t){0, unlisted_dim(ir_operand(op, 0)->type->rank, list, count, dim)};
    }
    case GRAPH_CONCAT:
      return ir_op_int(op, "axis", -1) == dim ? nowhere : elementwise_origin(op, dim);
    case GRAPH_CONTRACT:
      return contract_origin(op, dim);
    case GRAPH_CONV:
      conv = graph_conv_read(op);
      return conv.y_layout[dim] == 'n' && conv.x_layout[dim] == 'n' && conv.batch_groups == 1 ? (origin_t){0, dim}
                                                                                              : nowhere;
    case GRAPH_WINDOW:
      return window_origin(op, dim);
    case GRAPH_GATHER:
      return gather_origin(op, dim);
    case GRAPH_SCAN:
    case GRAPH_REVERSE:
    case GRAPH_DYNAMIC_UPDATE:
    case GRAPH_SCATTER:
      return (origin_t){0, dim};
    default:
      return nowhere;
  }
}

// Where the run-time size of a dimension comes from: an index value that is at hand, or dimension *i of *x, as near to
// the function's arguments as it can be told.
static ir_value_t* find_size(ir_value_t** x, int32_t* i) {
  for (ir_op_t* op; (op = (*x)->def) != NULL;) {
    uint32_t code = ir_code(op);
    if (code == GRAPH_RESHAPE || code == GRAPH_BROADCAST || code == GRAPH_SLICE) return size_operand(op, 1, *i);
    if (code == GRAPH_DYNAMIC_SLICE) return size_operand(op, 1 + (uint32_t)ir_operand(op, 0)->type->rank, *i);
    if (code == GRAPH_IOTA) return size_operand(op, 0, *i);
    origin_t origin = find_origin(op, *i);
    if (origin.operand >= op->operand_count || origin.dim < 0) return NULL;
    ir_value_t* next = ir_operand(op, origin.operand);
    if (next->type->dims[origin.dim] != IR_DYNAMIC) return NULL;
    *x = next;
    *i = origin.dim;
  }
  return NULL;
}

onnx_dim_t onnx_dim(onnx_node_t* n, ir_value_t* x, int32_t i) {
  onnx_dim_t dim = {.size = x->type->dims[i]};
  if (dim.size != IR_DYNAMIC) return dim;
  dim.value = find_size(&x, &i);
  if (!dim.value) dim.value = graph_dim(n->b, x, (uint32_t)i);
  return dim;
}

// The constant that an index value is, if it is one.
static bool constant_index(const ir_value_t* v, int64_t* out) {
  if (!ir_is(v->def, GRAPH_CONSTANT)) return false;
  *out = ir_op_int(v->def, "value", 0);
  return true;
}

static bool same_index(const ir_value_t* a, const ir_value_t* b, int depth) {
  int64_t x, y;
  if (a == b) return true;
  if (constant_index(a, &x) && constant_index(b, &y)) return x == y;
  if (!a->def || !b->def || ir_code(a->def) != ir_code(b->def)) return false;
  if (ir_code(a->def) == GRAPH_DIM) {
    return ir_operand(a->def, 0) == ir_operand(b->def, 0) &&
           ir_op_int(a->def, "index", 0) == ir_op_int(b->def, "index", 0);
  }
  if (ir_code(a->def) == GRAPH_TO_SCALAR) return ir_operand(a->def, 0) == ir_operand(b->def, 0);
  if (graph_scalar_fn(a->def) < 0 || depth > 6) return false;
  for (uint32_t i = 0; i < a->def->operand_count; ++i) {
    if (!same_index(ir_operand(a->def, i), ir_operand(b->def, i), depth + 1)) return false;
  }
  return true;
}

bool onnx_dim_same(onnx_dim_t a, onnx_dim_t b) {
  if (a.size != b.size) return false;
  return a.size != IR_DYNAMIC || same_index(a.value, b.value, 0);
}

bool onnx_dim_is_constant(onnx_dim_t dim, int64_t* out) {
  if (dim.size == IR_DYNAMIC) return constant_index(dim.value, out);
  return *out = dim.size, true;
}

static ir_value_t* dim_value(onnx_node_t* n, onnx_dim_t dim) {
  return dim.size == IR_DYNAMIC ? dim.value : graph_index_constant(n->b, dim.size);
}

onnx_dim_t onnx_dim_binary(onnx_node_t* n, scalar_fn_t fn, onnx_dim_t a, onnx_dim_t b) {
  ir_value_t* operands[] = {dim_value(n, a), dim_value(n, b)};
  ir_value_t* value = ir_build_value(n->b, graph_scalar_code(fn), operands, 2, ir_type_index(n->ctx));
  return (onnx_dim_t){.size = IR_DYNAMIC, .value = value};
}

onnx_dim_t onnx_dim_mul(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  int64_t product;
  if (a.size == 1 || b.size == 0) return b;
  if (b.size == 1 || a.size == 0) return a;
  bool both = a.size != IR_DYNAMIC && b.size != IR_DYNAMIC;
  if (both) return onnx_dim_of(__builtin_mul_overflow(a.size, b.size, &product) ? INT64_MAX : product);
  return onnx_dim_binary(n, SCALAR_mul, a, b);
}

onnx_dim_t onnx_dim_add(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  int64_t sum;
  if (a.size == 0) return b;
  if (b.size == 0) return a;
  bool both = a.size != IR_DYNAMIC && b.size != IR_DYNAMIC;
  if (both) return onnx_dim_of(__builtin_add_overflow(a.size, b.size, &sum) ? INT64_MAX : sum);
  return onnx_dim_binary(n, SCALAR_add, a, b);
}

onnx_dim_t onnx_dim_sub(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  int64_t difference;
  if (b.size == 0) return a;
  if (onnx_dim_same(a, b)) return onnx_dim_of(0);
  if (a.size == IR_DYNAMIC && b.size == IR_DYNAMIC && ir_is(a.value->def, GRAPH_add)) {  // (x + c) - x
    ir_value_t *x = ir_operand(a.value->def, 0), *y = ir_operand(a.value->def, 1);
    if (same_index(x, b.value, 0) && constant_index(y, &difference)) return onnx_dim_of(difference);
    if (same_index(y, b.value, 0) && constant_index(x, &difference)) return onnx_dim_of(difference);
  }
  bool both = a.size != IR_DYNAMIC && b.size != IR_DYNAMIC;
  if (both) return onnx_dim_of(__builtin_sub_overflow(a.size, b.size, &difference) ? INT64_MAX : difference);
  return onnx_dim_binary(n, SCALAR_sub, a, b);
}

onnx_dim_t onnx_dim_div(onnx_node_t* n, onnx_dim_t a, onnx_dim_t b) {
  if (b.size == 1) return a;
  if (a.size == IR_DYNAMIC && onnx_dim_same(a, b)) return onnx_dim_of(1);
  bool both = a.size != IR_DYNAMIC && b.size != IR_DYNAMIC;
  if (both) return onnx_dim_of(b.size ? a.size / b.size : 0);
  return onnx_dim_binary(n, SCALAR_div, a, b);
}

void onnx_split_dims(int32_t rank, const onnx_dim_t* dims, int64_t* sizes, ir_value_t** dynamic) {
  for (int32_t i = 0; i < rank; ++i) {
    sizes[i] = dims[i].size;
    if (dims[i].size == IR_DYNAMIC) *dynamic++ = dims[i].value;
  }
}
