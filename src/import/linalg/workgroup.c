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
