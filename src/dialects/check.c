// The check dialect: what a test program expects of its own values. Read in IREE's form and in StableHLO's:
//
//   check.expect_almost_eq_const(%a, dense<1.0> : tensor<4xf32>, atol 1.0e-3) : tensor<4xf32>
//   check.expect_almost_eq_const %a, dense<1.0> : tensor<4xf32>
#include "dialects/check.h"

#include "dialects/table.h"

static const struct {
  const char* name;
  bool integer;
} parameters[] = {
    {"atol", false}, {"rtol", false}, {"tolerance", false}, {"max_ulp_difference", true}, {"min_ulp_difference", true}};
enum { PARAMETER_COUNT = sizeof(parameters) / sizeof(parameters[0]) };

// `atol 1.0e-3`, `max_ulp_difference = 3`
static bool parse_parameter(ir_parser_t* p, ir_draft_t* op) {
  ir_context_t* ctx = ir_parse_context(p);
  for (int i = 0; i < PARAMETER_COUNT; ++i) {
    if (!ir_parse_try(p, parameters[i].name)) continue;
    ir_parse_try(p, "=");
    const ir_type_t* type = parameters[i].integer ? ir_type_int(ctx, 64) : ir_type_float(ctx, IR_F32);
    const ir_attr_t* value = ir_parse_attr(p, type);
    if (value) ir_draft_attr(p, op, parameters[i].name, value);
    return value != NULL;
  }
  return ir_parse_fail(p, "expected atol, rtol, tolerance, max_ulp_difference or min_ulp_difference");
}

static bool parse_arguments(ir_parser_t* p, ir_draft_t* op, ir_ref_list_t* refs, const ir_attr_t** value) {
  if (!ir_parse_refs(p, refs)) return false;
  while (ir_parse_try(p, ",")) {
    bool element_data = ir_parse_peek(p, "dense") || ir_parse_peek(p, "dense_resource") || ir_parse_next(p) == '#';
    if (element_data) {
      if (!(*value = ir_parse_attr(p, NULL))) return false;
      ir_draft_attr(p, op, "value", *value);
    } else if (!parse_parameter(p, op)) {
      return false;
    }
  }
  return true;
}

static ir_op_t* expect_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  const ir_attr_t* value = NULL;
  ir_draft_init(p, &op, info, loc);
  ir_ref_t device;  // whose memory it is, which views know themselves
  if (ir_parse_try(p, "<") && (!ir_parse_ref(p, &device) || !ir_parse_expect(p, ">"))) return NULL;
  bool parens = ir_parse_try(p, "(");
  if (!parse_arguments(p, &op, &refs, &value) || (parens && !ir_parse_expect(p, ")"))) return NULL;
  if (!ir_parse_attr_dict(p, &op)) return NULL;
  if (ir_parse_try(p, ":")) {
    if (!ir_parse_attr_dict(p, &op) || !ir_parse_types(p, &types)) return NULL;
  } else if (value && ir_attr_own_type(value)) {
    ir_list_add_type(p, &types, ir_attr_own_type(value));
  } else {
    return ir_parse_fail(p, "expected ':' and a type"), NULL;
  }
  while (types.count < refs.count) ir_list_add_type(p, &types, types.items[0]);
  return ir_draft_operands(p, &op, &refs, &types) ? ir_draft_finish(p, &op) : NULL;
}

static bool parameters_fit(ir_context_t* ctx, const ir_op_t* op) {
  for (int i = 0; i < PARAMETER_COUNT; ++i) {
    const ir_attr_t* attr = ir_op_attr(op, parameters[i].name);
    const ir_type_t* type = parameters[i].integer ? ir_type_int(ctx, 64) : ir_type_float(ctx, IR_F32);
    if (attr && attr->type != type) return false;
  }
  return op->operand_count < 2 || ir_operand(op, 0)->type == ir_operand(op, 1)->type;
}

static void expect_print(ir_printer_t* pr, ir_op_t* op) {
  const char* held[PARAMETER_COUNT + 2] = {"value"};
  const ir_attr_t* value = ir_op_attr(op, "value");
  bool data = !value || value->kind == IR_ATTR_ELEMENTS;
  if (!data || !op->operand_count || !parameters_fit(ir_printer_context(pr), op)) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, "(");
  ir_emit_operands(pr, op, 0, op->operand_count);
  if (value) {
    ir_emit(pr, ", ");
    ir_emit_attr(pr, value);
  }
  for (int i = 0; i < PARAMETER_COUNT; ++i) {
    held[i + 1] = parameters[i].name;
    const ir_attr_t* attr = ir_op_attr(op, parameters[i].name);
    if (!attr) continue;
    ir_emitf(pr, ", %s ", parameters[i].name);
    ir_emit_attr_bare(pr, attr);
  }
  ir_emit(pr, ")");
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " : ");
  ir_emit_operand_types(pr, op, 0, 1);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"check." #name, CHECK_##ENUM, __VA_ARGS__},
#include "dialects/check.def"
#undef OP
};
TABLE_DIALECT(check_dialect, IR_DIALECT_CHECK, "check", ops);
