// The tensor dialect: its checks. Formats read and write all of it.
#include "dialects/tensor.h"

#include "dialects/table.h"

enum { MAX_RANK = 64 };

// One index operand for each '?' of the result.
static bool tensor_verify_dynamic_dims(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = op->results[0].type;
  if (type->kind != IR_TYPE_TENSOR) return ir_op_error(ctx, op, "result must be a ranked tensor");
  if (ir_type_open_dims(type) == op->operand_count) return true;
  return ir_op_error(ctx, op, "incorrect number of dynamic sizes, has %u, expected %u", op->operand_count,
                     ir_type_open_dims(type));
}

static bool verify_indices(ir_context_t* ctx, ir_op_t* op, const ir_type_t* tensor, uint32_t count) {
  if (tensor->kind != IR_TYPE_TENSOR) return ir_op_error(ctx, op, "needs a ranked tensor");
  if ((int64_t)count == tensor->rank) return true;
  return ir_op_error(ctx, op, "incorrect number of indices for '%s': %u", ir_type_str(ctx, tensor), count);
}
static bool tensor_verify_extract(ir_context_t* ctx, ir_op_t* op) {
  if (!op->operand_count) return ir_op_error(ctx, op, "needs a tensor");
  return verify_indices(ctx, op, ir_operand(op, 0)->type, op->operand_count - 1);
}
static bool tensor_verify_insert(ir_context_t* ctx, ir_op_t* op) {
  if (op->operand_count < 2) return ir_op_error(ctx, op, "needs an element and a tensor");
  return verify_indices(ctx, op, ir_operand(op, 1)->type, op->operand_count - 2);
}

static bool tensor_verify_from_elements(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = op->results[0].type;
  if (type->kind == IR_TYPE_TENSOR && ir_type_count(type) == op->operand_count) return true;
  return ir_op_error(ctx, op, "has %u elements for result '%s'", op->operand_count, ir_type_str(ctx, type));
}

// [[0, 1], [2]]: every dimension of the larger shape once, in order; one group for each of the smaller.
static bool tensor_verify_reassociation(ir_context_t* ctx, ir_op_t* op) {
  const ir_attr_t* groups = ir_op_attr(op, "reassociation");
  if (!op->operand_count || !groups || groups->kind != IR_ATTR_ARRAY) {
    return ir_op_error(ctx, op, "needs a tensor and attribute 'reassociation', a list of lists");
  }
  const ir_type_t *from = ir_operand(op, 0)->type, *to = op->results[0].type;
  const ir_type_t *large = ir_is(op, TENSOR_EXPAND_SHAPE) ? to : from, *small = large == to ? from : to;
  if (from->kind != IR_TYPE_TENSOR || to->kind != IR_TYPE_TENSOR) return ir_op_error(ctx, op, "needs ranked tensors");
  int64_t next = 0, values[MAX_RANK];
  for (uint32_t i = 0; i < groups->count; ++i) {
    uint32_t count = ir_attr_ints(groups->items[i], values, MAX_RANK);
    for (uint32_t k = 0; k < count && k < MAX_RANK; ++k) {
      if (values[k] != next++) return ir_op_error(ctx, op, "'reassociation' must name the dimensions in order");
    }
  }
  if (groups->count ? next != large->rank || (int64_t)groups->count != small->rank : small->rank != 0) {
    return ir_op_error(ctx, op, "'reassociation' does not fit '%s' and '%s'", ir_type_str(ctx, from),
                       ir_type_str(ctx, to));
  }
  return true;
}

static bool tensor_verify_slice(ir_context_t* ctx, ir_op_t* op) {
  static const char* const names[] = {"static_offsets", "static_sizes", "static_strides"};
  bool inserts = !ir_is(op, TENSOR_EXTRACT_SLICE);
  int64_t values[MAX_RANK], dynamic = 0;
  if (op->operand_count < 1u + inserts) return ir_op_error(ctx, op, "needs tensors");
  const ir_type_t* type = ir_operand(op, inserts)->type;
  if (type->kind != IR_TYPE_TENSOR) return ir_op_error(ctx, op, "needs a ranked tensor");
  for (int i = 0; i < 3; ++i) {
    uint32_t count = ir_op_ints(op, names[i], values, MAX_RANK);
    if ((int64_t)count != type->rank) {
      return ir_op_error(ctx, op, "expected %d values in '%s', got %u", type->rank, names[i], count);
    }
    for (uint32_t k = 0; k < count; ++k) dynamic += values[k] == IR_DYNAMIC;
  }
  if (dynamic + 1 + inserts == op->operand_count) return true;
  return ir_op_error(ctx, op, "has %lld dynamic offsets, sizes and strides but %u operands", (long long)dynamic,
                     op->operand_count);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"tensor." #name, TENSOR_##ENUM, __VA_ARGS__},
#include "dialects/tensor.def"
#undef OP
};
TABLE_DIALECT(tensor_dialect, IR_DIALECT_TENSOR, "tensor", ops);
