// The memref dialect. Formats read and write all of it.
#include "dialects/memref.h"

#include "dialects/table.h"

static bool memref_verify_indices(ir_context_t* ctx, ir_op_t* op) {
  uint32_t at = ir_is(op, MEMREF_STORE);
  if (op->operand_count <= at) return ir_op_error(ctx, op, "needs a memref");
  const ir_type_t* type = ir_operand(op, at)->type;
  if (type->kind != IR_TYPE_MEMREF) return ir_op_error(ctx, op, "needs a memref of known rank");
  uint32_t count = op->operand_count - at - 1;
  if ((int64_t)count == type->rank) return true;
  return ir_op_error(ctx, op, "incorrect number of indices for '%s': %u", ir_type_str(ctx, type), count);
}

static bool memref_verify_alloc(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = op->results[0].type;
  if (type->kind != IR_TYPE_MEMREF) return ir_op_error(ctx, op, "result must be a memref of known rank");
  if (ir_type_open_dims(type) == op->operand_count) return true;
  return ir_op_error(ctx, op, "incorrect number of dynamic sizes, has %u, expected %u", op->operand_count,
                     ir_type_open_dims(type));
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"memref." #name, MEMREF_##ENUM, __VA_ARGS__},
#include "dialects/memref.def"
#undef OP
};
TABLE_DIALECT(memref_dialect, IR_DIALECT_MEMREF, "memref", ops);
