// The flow dialect's tensor ops, and dispatch regions. Operands that are sizes say nothing new but where a result's are
// not its operands': those come last. iree_encoding's ops too.
#include "dialects/flow.h"

#include <string.h>

#include "dialects/encoding.h"
#include "import/linalg/ops.h"

// The operands from `first` on as indices; false after a diagnostic when there are not that many.
static bool read_indices(lower_op_t* n, uint32_t first, uint32_t count, ir_value_t** out) {
  if (first + count > n->op->operand_count) return lower_error(n, "needs more indices or sizes");
  for (uint32_t i = 0; i < count; ++i) {
    if (!n->in[first + i] || ir_type_is_tensor(n->in[first + i]->type)) return lower_error(n, "needs indices");
    out[i] = lower_index(n->b, n->in[first + i]);
  }
  return true;
}

// The result as lowered and its open sizes, the last operands; NULL after a diagnostic.
static const ir_type_t* read_result(lower_op_t* n, ir_value_t** sizes) {
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  if (!type || !ir_type_is_tensor(type)) {
    lower_unsupported(n, "ranked tensors of numbers are");
    return NULL;
  }
  uint32_t count = ir_type_open_dims(type);
  if (count > n->op->operand_count) return lower_error(n, "needs the size of each '?' of its result"), NULL;
  return read_indices(n, n->op->operand_count - count, count, sizes) ? type : NULL;
}

static bool is_tensor(lower_op_t* n, uint32_t i) {
  bool is = i < n->op->operand_count && n->in[i] && ir_type_is_tensor(n->in[i]->type);
  return is || lower_error(n, "needs a tensor as operand %u", i);
}

//===----------------------------------------------------------------------------------------------------------------===
// Whole tensors
//===----------------------------------------------------------------------------------------------------------------===

// The operand: its sizes are known from where it comes from.
static bool flow_lower_same(lower_op_t* n) { return is_tensor(n, 0) && lower_return(n, n->in[0]); }

// How a tensor lies in memory is the compiler's choice here, and no matter of its value.
static bool flow_lower_encoding(lower_op_t* n) {
  ir_note(n->ctx, n->op->loc, "the encoding is left out: layouts are chosen for the target");
  return flow_lower_same(n);
}

static bool flow_lower_reshape(lower_op_t* n) {
  ir_value_t* sizes[GRAPH_MAX_RANK];
  const ir_type_t* type = is_tensor(n, 0) ? read_result(n, sizes) : NULL;
  if (!type) return false;
  ir_value_t* x = n->in[0];
  if (ir_type_bytes(type->element) != ir_type_bytes(x->type->element)) {
    return lower_unsupported(n, "elements of one width are");
  }
  int64_t from = ir_type_count(x->type), to = ir_type_count(type);
  if (from != to && from != IR_DYNAMIC && to != IR_DYNAMIC) return lower_error(n, "changes the number of elements");
  return lower_return(n, graph_reshape(n->b, graph_bitcast(n->b, x, type->element), type->rank, type->dims, sizes));
}

// A byte for each i1, as reshape takes them, where there are as many elements; else packed.
static bool flow_lower_bitcast(lower_op_t* n) {
  ir_value_t* sizes[GRAPH_MAX_RANK];
  const ir_type_t* type = is_tensor(n, 0) ? read_result(n, sizes) : NULL;
  if (!type) return false;
  int64_t from = ir_type_count(n->in[0]->type), to = ir_type_count(type);
  bool open = from == IR_DYNAMIC || to == IR_DYNAMIC;
  if (open ? n->in[0]->type->element->width == type->element->width : from == to) return flow_lower_reshape(n);
  ir_value_t* x = lower_repack_bits(n, n->in[0], type, sizes);
  return x && lower_return(n, x);
}

static bool flow_lower_empty(lower_op_t* n) {
  ir_value_t* sizes[GRAPH_MAX_RANK];
  const ir_type_t* type = read_result(n, sizes);
  return type && lower_return(n, lower_build(n, GRAPH_EMPTY, sizes, ir_type_open_dims(type), type, NULL, 0));
}

static bool flow_lower_splat(lower_op_t* n) {
  ir_value_t* sizes[GRAPH_MAX_RANK];
  const ir_type_t* type = n->op->operand_count ? read_result(n, sizes) : NULL;
  if (!type) return lower_error(n, "needs a number");
  ir_value_t* number = lower_as_tensor(n->b, n->in[0]);
  if (number->type->rank || number->type->element != type->element) return lower_error(n, "needs a number of its type");
  return lower_return(n, graph_broadcast(n->b, number, type, NULL, sizes));
}

//===----------------------------------------------------------------------------------------------------------------===
// Elements and pieces
//===----------------------------------------------------------------------------------------------------------------===

static bool flow_lower_load(lower_op_t* n) {
  if (!is_tensor(n, 0)) return false;
  ir_value_t *x = n->in[0], *operands[1 + GRAPH_MAX_RANK] = {x};
  uint32_t rank = (uint32_t)x->type->rank;
  int64_t ones[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < rank; ++i) ones[i] = 1;
  if (n->op->operand_count != 1 + ir_type_open_dims(lower_in_type(n, 0)) + rank)
    return lower_error(n, "needs an index for each dimension");
  if (!read_indices(n, n->op->operand_count - rank, rank, operands + 1)) return false;
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)rank, ones);
  if (rank) x = lower_build(n, GRAPH_DYNAMIC_SLICE, operands, 1 + rank, type, NULL, 0);
  x = graph_reshape(n->b, x, 0, NULL, NULL);
  return lower_return(n, lower_build(n, GRAPH_TO_SCALAR, &x, 1, x->type->element, NULL, 0));
}

// `update` into `x` from the indices on that begin at operand `first`.
static bool put(lower_op_t* n, ir_value_t* x, ir_value_t* update, uint32_t first) {
  uint32_t rank = (uint32_t)x->type->rank;
  ir_value_t* operands[2 + GRAPH_MAX_RANK] = {x, update};
  if (update->type->element != x->type->element || update->type->rank != x->type->rank) {
    return lower_error(n, "needs a piece of the tensor's type");
  }
  for (uint32_t i = 0; i < rank; ++i) {
    bool known = update->type->dims[i] != IR_DYNAMIC && x->type->dims[i] != IR_DYNAMIC;
    if (known && update->type->dims[i] > x->type->dims[i]) return lower_error(n, "needs a piece that fits");
  }
  if (!read_indices(n, first, rank, operands + 2)) return false;
  if (!rank) return lower_return(n, update);
  return lower_return(n, lower_build(n, GRAPH_DYNAMIC_UPDATE, operands, 2 + rank, x->type, NULL, 0));
}

// Number, tensor, its sizes, indices.
static bool flow_lower_store(lower_op_t* n) {
  if (!is_tensor(n, 1)) return false;
  ir_value_t* x = n->in[1];
  uint32_t rank = (uint32_t)x->type->rank;
  int64_t ones[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < rank; ++i) ones[i] = 1;
  ir_value_t* number = lower_as_tensor(n->b, n->in[0]);
  if (number->type->rank) return lower_error(n, "needs a number");
  if (n->op->operand_count != 2 + ir_type_open_dims(lower_in_type(n, 1)) + rank)
    return lower_error(n, "needs an index for each dimension");
  return put(n, x, graph_reshape(n->b, number, (int32_t)rank, ones, NULL), n->op->operand_count - rank);
}

// Tensor, its sizes, starts, piece, its sizes.
static bool flow_lower_update(lower_op_t* n) {
  if (!is_tensor(n, 0)) return false;
  ir_value_t* x = n->in[0];
  uint32_t first = 1 + ir_type_open_dims(lower_in_type(n, 0)), piece = first + (uint32_t)x->type->rank;
  return is_tensor(n, piece) && put(n, x, n->in[piece], first);
}

// Tensor, its sizes, starts, lengths, the result's sizes.
static bool flow_lower_slice(lower_op_t* n) {
  ir_value_t *sizes[GRAPH_MAX_RANK], *operands[1 + 2 * GRAPH_MAX_RANK];
  const ir_type_t* type = is_tensor(n, 0) ? read_result(n, sizes) : NULL;
  if (!type) return false;
  ir_value_t* x = operands[0] = n->in[0];
  uint32_t rank = (uint32_t)x->type->rank, count = ir_type_open_dims(type);
  bool fits = type->rank == x->type->rank && type->element == x->type->element;
  for (uint32_t i = 0; fits && i < rank; ++i) {
    fits = type->dims[i] == IR_DYNAMIC || x->type->dims[i] == IR_DYNAMIC || type->dims[i] <= x->type->dims[i];
  }
  if (!fits) return lower_error(n, "needs a result that is a piece of the tensor");
  if (!read_indices(n, 1 + ir_type_open_dims(lower_in_type(n, 0)), rank, operands + 1)) return false;
  memcpy(operands + 1 + rank, sizes, sizeof(*sizes) * count);
  return lower_return(n, lower_build(n, GRAPH_DYNAMIC_SLICE, operands, 1 + rank + count, type, NULL, 0));
}

//===----------------------------------------------------------------------------------------------------------------===
// Regions
//===----------------------------------------------------------------------------------------------------------------===

// What is in it is fused as if it stood outside.
static bool flow_lower_region(lower_op_t* n) {
  ir_block_t* block = n->op->region_count ? n->op->regions[0].first : NULL;
  lower_value_t* values;
  uint32_t count;
  if (!block || block->next || block->arg_count || !block->last) return lower_error(n, "needs a region of one block");
  if (ukernel_is_in(block)) return ukernel_lower_region(n);
  if (!lower_block(n->l, block, NULL, &values, &count)) return false;
  if (count != n->op->result_count) return lower_error(n, "returns other values");
  memcpy(n->out, values, sizeof(*values) * count);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Traces
//===----------------------------------------------------------------------------------------------------------------===

// The tensors as views under a key, for whoever listens to the module hal.
static bool flow_lower_trace(lower_op_t* n) {
  int64_t segments[2] = {n->op->operand_count, 0};
  const ir_attr_t* key = ir_op_attr(n->op, "key");
  bool told = ir_op_ints(n->op, "operandSegmentSizes", segments, 2) == 2;
  if (!key || key->kind != IR_ATTR_STRING || segments[0] < 0 || segments[0] > n->op->operand_count) {
    return lower_error(n, "needs a key and tensors%s", told ? "" : " (operandSegmentSizes)");
  }
  ir_value_t** views = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, segments[0] + 1);
  for (uint32_t i = 0; i < segments[0]; ++i) {
    if (!is_tensor(n, i)) return false;
    bool packed = ir_type_is_packed(n->in[i]->type->element);
    views[i] = packed ? graph_cast(n->b, n->in[i], ir_type_int(n->ctx, 8), false) : n->in[i];
  }
  ir_named_attr_t attrs[] = {{"callee", ir_attr_symbol(n->ctx, "hal.buffer_view.trace")}, {"message", key}};
  ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, GRAPH_CALL_IMPORT),
                                  .operands = views,
                                  .operand_count = (uint32_t)segments[0],
                                  .attrs = attrs,
                                  .attr_count = 2});
  return true;
}

#define ROW(ENUM, ...) [FLOW_##ENUM - IR_CODE(IR_DIALECT_FLOW, 0)] = {__VA_ARGS__}
#define AT(ENUM, function) ROW(ENUM, .fn = function)
#define VIEW(ENUM) ROW(ENUM, .fn = dispatch_lower_view, .flags = LOWER_STANDS_FOR)
static const lower_row_t rows[] = {
    AT(TENSOR_CONSTANT, parameter_lower_constant),
    AT(TENSOR_DYNAMIC_CONSTANT, lower_unfoldable),
    AT(TENSOR_TIE_SHAPE, flow_lower_same),
    AT(TENSOR_CLONE, flow_lower_same),
    AT(TENSOR_TRANSFER, flow_lower_same),
    AT(TENSOR_ENCODE, flow_lower_encoding),
    AT(TENSOR_RESHAPE, flow_lower_reshape),
    AT(TENSOR_BITCAST, flow_lower_bitcast),
    AT(TENSOR_EMPTY, flow_lower_empty),
    AT(TENSOR_ALLOCA, flow_lower_empty),
    AT(TENSOR_SPLAT, flow_lower_splat),
    AT(TENSOR_LOAD, flow_lower_load),
    AT(TENSOR_STORE, flow_lower_store),
    AT(TENSOR_UPDATE, flow_lower_update),
    AT(TENSOR_SLICE, flow_lower_slice),
    AT(DISPATCH_REGION, flow_lower_region),
    AT(TENSOR_TRACE, flow_lower_trace),
    AT(PARAMETER_LOAD, parameter_lower_load),
    AT(DISPATCH_WORKGROUPS, dispatch_lower_workgroups),
    AT(DISPATCH, dispatch_lower_dispatch),

    AT(DISPATCH_TENSOR_LOAD, dispatch_lower_load),
    AT(DISPATCH_TENSOR_STORE, dispatch_lower_store),
    AT(DISPATCH_WORKLOAD_ORDINAL, dispatch_lower_same),
    VIEW(DISPATCH_TIE_SHAPE),
    ROW(DISPATCH_ID, .fn = dispatch_lower_id, .text = DISPATCH_NO_PLACE),
    ROW(DISPATCH_COUNT, .fn = dispatch_lower_count, .text = DISPATCH_NO_PLACE),
    ROW(DISPATCH_SIZE, .fn = dispatch_lower_size, .text = DISPATCH_NO_PLACE),
    AT(DISPATCH_FROM_SLICE, dispatch_lower_any_count),
    AT(DISPATCH_FROM_DAG, dispatch_lower_any_count),
};
const lower_table_t lower_flow_table = {IR_DIALECT_FLOW, rows, sizeof(rows) / sizeof(rows[0])};

#define ENCODING(ENUM) [ENCODING_##ENUM - IR_CODE(IR_DIALECT_ENCODING, 0)] = {.fn = flow_lower_encoding}
static const lower_row_t encoding_rows[] = {ENCODING(SET_ENCODING), ENCODING(UNSET_ENCODING)};
const lower_table_t lower_encoding_table = {IR_DIALECT_ENCODING, encoding_rows,
                                            sizeof(encoding_rows) / sizeof(encoding_rows[0])};
