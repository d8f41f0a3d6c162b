// Which ops mean something else in functions that become kernels. See workgroup.h.
#include "import/linalg/workgroup.h"

#include "dialects/arith.h"
#include "dialects/flow.h"
#include "dialects/tensor_ext.h"

// Whether a value of the op is of this kind.
static bool has(const ir_op_t* op, ir_type_kind_t kind) {
  for (uint32_t i = 0; i < op->operand_count; ++i) {
    if (ir_operand(op, i)->type->kind == kind) return true;
  }
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (op->results[i].type->kind == kind) return true;
  }
  return false;
}

static bool is_transfer(const ir_op_t* op) {
  return ir_is(op, FLOW_DISPATCH_TIE_SHAPE) || ir_is(op, FLOW_DISPATCH_TENSOR_LOAD) ||
         ir_is(op, FLOW_DISPATCH_TENSOR_STORE) || ir_is(op, TENSOR_EXT_DISPATCH_TENSOR_LOAD) ||
         ir_is(op, TENSOR_EXT_DISPATCH_TENSOR_STORE);
}

bool workgroup_lower(lower_op_t* n) {
  const ir_op_t* op = n->op;
  if (is_transfer(op)) return workgroup_lower_tensor(n);
  switch (ir_op_dialect(op)) {
    case IR_DIALECT_MEMREF:
      return workgroup_lower_memref(n);
    case IR_DIALECT_VECTOR:
      return workgroup_lower_vector(n);
    case IR_DIALECT_SCF:
      return workgroup_lower_scf(n);
    case IR_DIALECT_LINALG:
      return workgroup_lower_linalg(n);
    case IR_DIALECT_TENSOR:
      return workgroup_lower_tensor(n);
    case IR_DIALECT_ARITH:
    case IR_DIALECT_MATH:
      if (ir_is(op, ARITH_CONSTANT)) return workgroup_lower_constant(n);
      if (has(op, IR_TYPE_TENSOR)) return workgroup_lower_tensor(n);
      return has(op, IR_TYPE_VECTOR) ? workgroup_lower_lanes(n) : n->row->fn(n);
    default:
      return n->row->fn(n);
  }
}

// Elements of one vector or memory are of one type; memory has an offset, sizes and strides.
static bool is_of_type(lower_op_t* n, const ir_type_t* type, lower_value_t value) {
  const ir_type_t *seen = shim_view_type(n->ctx, type), *shape = seen ? seen : type;
  const ir_type_t* element = lower_type(n->ctx, ir_type_scalar(shape));
  if (!value.v || !element) return false;
  if (type->kind == IR_TYPE_VECTOR) return value.count == ir_type_count(type) && value.v->type == element;
  if (!ir_type_is_shaped(shape)) return value.v->type == element;
  bool memory = value.v->type->kind == IR_TYPE_MEMREF && value.v->type->element == element;
  return memory && shape->rank >= 0 && value.count == 1 + 2 * (uint32_t)shape->rank;
}

bool workgroup_check_result(lower_op_t* n, uint32_t i) {
  const ir_type_t* type = n->op->results[i].type;
  return is_of_type(n, type, n->out[i]) ||
         lower_error(n, "has a result of type %s, which its operands do not give", ir_type_str(n->ctx, type));
}

bool workgroup_check_args(lower_op_t* n, const ir_block_t* block, const lower_value_t* args) {
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (!block->args[i]->uses || is_of_type(n, block->args[i]->type, args[i])) continue;
    return lower_error(n, "has a region whose argument %u has type %s, which it is not given", i,
                       ir_type_str(n->ctx, block->args[i]->type));
  }
  return true;
}
