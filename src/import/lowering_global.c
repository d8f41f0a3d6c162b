// Globals of util and ml_program as graph.global. See lowering_control.h.
#include "dialects/ml_program.h"
#include "dialects/tosa.h"
#include "dialects/util.h"
#include "import/lowering_control.h"

bool lower_is_global(const ir_op_t* op) {
  return ir_is(op, UTIL_GLOBAL) || ir_is(op, ML_PROGRAM_GLOBAL) || ir_is(op, TOSA_VARIABLE);
}

// tosa.variable has its shape and its element type apart.
static const ir_attr_t* variable_type(ir_context_t* ctx, const ir_op_t* op) {
  const ir_attr_t *element = ir_op_attr(op, "type"), *shape = ir_op_attr(op, "var_shape");
  int64_t dims[GRAPH_MAX_RANK];
  if (!element || element->kind != IR_ATTR_TYPE || !shape) return element;
  uint32_t rank = ir_attr_ints(shape, dims, GRAPH_MAX_RANK);
  if (rank > GRAPH_MAX_RANK || ir_type_is_shaped(element->type)) return element;
  for (uint32_t i = 0; i < rank; ++i) dims[i] = dims[i] < 0 ? IR_DYNAMIC : dims[i];
  return ir_attr_type(ctx, ir_type_tensor(ctx, element->type, (int32_t)rank, dims));
}

bool lower_global(lowering_t* l, ir_op_t* op) {
  const ir_attr_t *type = ir_op_attr(op, "type"), *value = ir_op_attr(op, "value");
  if (ir_is(op, TOSA_VARIABLE)) type = variable_type(l->ctx, op);
  if (!value) value = ir_op_attr(op, "initial_value");
  const ir_type_t* lowered = type && type->kind == IR_ATTR_TYPE ? lower_type(l->ctx, type->type) : NULL;
  if (!lowered) {
    return ir_op_error(l->ctx, op, "has type %s; tensors of known rank and numbers are supported",
                       type && type->kind == IR_ATTR_TYPE ? ir_type_str(l->ctx, type->type) : "none");
  }
  if (value && value->kind == IR_ATTR_ELEMENTS && value->type != lowered) {
    if (value->type != type->type || (!value->size && ir_type_count(lowered))) {
      return ir_op_error(l->ctx, op, "has a value of type %s where its type is %s", ir_type_str(l->ctx, value->type),
                         ir_type_str(l->ctx, type->type));
    }
    value = ir_attr_retype(l->ctx, value, lowered);
  }
  ir_builder_t b = ir_builder_before(l->ctx, op);
  const char* name = ir_op_string(op, "sym_name", ir_op_string(op, "name", ""));
  ir_named_attr_t attrs[5] = {{"sym_name", ir_attr_cstring(l->ctx, name)}, {"type", ir_attr_type(l->ctx, lowered)}};
  uint32_t count = 2;
  if (ir_op_flag(op, "is_mutable") || ir_is(op, TOSA_VARIABLE))
    attrs[count++] = (ir_named_attr_t){"mutable", ir_attr_unit(l->ctx)};
  if (value) attrs[count++] = (ir_named_attr_t){"value", value};
  ir_op_state_t state = {.info = ir_context_op(l->ctx, GRAPH_GLOBAL), .loc = op->loc, .attrs = attrs};
  state.attr_count = count;
  ir_build(&b, &state);
  return true;
}
