// The arith dialect. Its assembly is all formats; here are the checks that traits cannot say.
#include "dialects/arith.h"

#include "dialects/table.h"

static bool arith_verify_constant(ir_context_t* ctx, ir_op_t* op) {
  const ir_attr_t* value = ir_op_attr(op, "value");
  const ir_type_t* type = value ? ir_attr_own_type(value) : NULL;
  if (!value) return ir_op_error(ctx, op, "needs attribute 'value'");
  if (type == op->results[0].type) return true;
  return ir_op_error(ctx, op, "value has type '%s' where the result is '%s'", type ? ir_type_str(ctx, type) : "none",
                     ir_type_str(ctx, op->results[0].type));
}

// What a cast takes and gives: i integer, x index, f float, b as wide.
static const struct {
  uint32_t code;
  const char *from, *to;
} casts[] = {
    {ARITH_EXTF, "f", "f"},         {ARITH_TRUNCF, "f", "f"},         {ARITH_EXTSI, "i", "i"},
    {ARITH_EXTUI, "i", "i"},        {ARITH_TRUNCI, "i", "i"},         {ARITH_SITOFP, "i", "f"},
    {ARITH_UITOFP, "i", "f"},       {ARITH_FPTOSI, "f", "i"},         {ARITH_FPTOUI, "f", "i"},
    {ARITH_INDEX_CAST, "ix", "ix"}, {ARITH_INDEX_CASTUI, "ix", "ix"}, {ARITH_BITCAST, "if", "if"},
    {ARITH_CONVERTF, "f", "f"},
};

static bool is_class(const ir_type_t* type, const char* classes) {
  for (; *classes; ++classes) {
    if (*classes == 'i' && type->kind == IR_TYPE_INTEGER) return true;
    if (*classes == 'x' && type->kind == IR_TYPE_INDEX) return true;
    if (*classes == 'f' && type->kind == IR_TYPE_FLOAT) return true;
  }
  return false;
}

static bool arith_verify_floats(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = ir_type_scalar(ir_operand(op, 0)->type);
  if (type->kind == IR_TYPE_FLOAT) return true;
  return ir_op_error(ctx, op, "takes floats, not %s; the integer op ends in 'i'", ir_type_str(ctx, type));
}

static bool arith_verify_integers(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = ir_type_scalar(ir_operand(op, 0)->type);
  if (type->kind == IR_TYPE_INTEGER || type->kind == IR_TYPE_INDEX) return true;
  return ir_op_error(ctx, op, "takes integers or index, not %s; the float op ends in 'f'", ir_type_str(ctx, type));
}

static bool arith_verify_cast(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t *from = ir_type_scalar(ir_operand(op, 0)->type), *to = ir_type_scalar(op->results[0].type);
  for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); ++i) {
    if (casts[i].code != ir_code(op)) continue;
    if (is_class(from, casts[i].from) && is_class(to, casts[i].to)) break;
    return ir_op_error(ctx, op, "operand type '%s' and result type '%s' are cast incompatible",
                       ir_type_str(ctx, ir_operand(op, 0)->type), ir_type_str(ctx, op->results[0].type));
  }
  bool widens = ir_is(op, ARITH_EXTF) || ir_is(op, ARITH_EXTSI) || ir_is(op, ARITH_EXTUI);
  bool narrows = ir_is(op, ARITH_TRUNCF) || ir_is(op, ARITH_TRUNCI);
  if ((widens && from->width >= to->width) || (narrows && from->width <= to->width) ||
      (ir_is(op, ARITH_BITCAST) && from->width != to->width)) {
    return ir_op_error(ctx, op, "operand type '%s' and result type '%s' are cast incompatible",
                       ir_type_str(ctx, ir_operand(op, 0)->type), ir_type_str(ctx, op->results[0].type));
  }
  return true;
}

static bool arith_verify_compare(ir_context_t* ctx, ir_op_t* op) {
  const ir_attr_t* predicate = ir_op_attr(op, "predicate");
  int64_t count = ir_is(op, ARITH_CMPI) ? 10 : 16;
  if (!predicate || predicate->kind != IR_ATTR_INTEGER || predicate->integer < 0 || predicate->integer >= count) {
    return ir_op_error(ctx, op, "needs attribute 'predicate', an integer from 0 to %d", (int)count - 1);
  }
  const ir_type_t* type = ir_operand(op, 0)->type;
  bool floats = ir_type_scalar(type)->kind == IR_TYPE_FLOAT;
  if (ir_operand(op, 1)->type != type) return ir_op_error(ctx, op, "operands have different types");
  if (floats != ir_is(op, ARITH_CMPF)) return ir_op_error(ctx, op, "cannot compare '%s'", ir_type_str(ctx, type));
  if (ir_type_with_element(ctx, type, ir_type_int(ctx, 1)) != op->results[0].type) {
    return ir_op_error(ctx, op, "result must be of i1 in the operands' shape, got '%s'",
                       ir_type_str(ctx, op->results[0].type));
  }
  return true;
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"arith." #name, ARITH_##ENUM, __VA_ARGS__},
#include "dialects/arith.def"
#undef OP
};
TABLE_DIALECT(arith_dialect, IR_DIALECT_ARITH, "arith", ops);
