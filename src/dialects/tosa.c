// The tosa dialect: one hook for almost all of it, and control flow.
#include "dialects/tosa.h"

#include "dialects/table.h"

//===----------------------------------------------------------------------------------------------------------------===
// tosa.add %a, %b {attrs} : (t, t) -> t; newer texts write attributes as words: axis(3) pad([0, 0]) mode<BILINEAR>
//===----------------------------------------------------------------------------------------------------------------===

typedef enum { WORD_ANY, WORD_I64S, WORD_I32S, WORD_I32, WORD_ENUM } word_kind_t;
static const struct {
  const char* name;
  word_kind_t kind;
  const char* attr;  // of enums
} words[] = {{"pad", WORD_I64S, NULL},
             {"stride", WORD_I64S, NULL},
             {"dilation", WORD_I64S, NULL},
             {"kernel", WORD_I64S, NULL},
             {"out_pad", WORD_I64S, NULL},
             {"perms", WORD_I32S, NULL},
             {"axis", WORD_I32, NULL},
             {"acc_type", WORD_ANY, NULL},
             {"local_bound", WORD_ANY, NULL},
             {"min_val", WORD_ANY, NULL},
             {"max_val", WORD_ANY, NULL},
             {"inverse", WORD_ANY, NULL},
             {"scale32", WORD_ANY, NULL},
             {"per_channel", WORD_ANY, NULL},
             {"input_unsigned", WORD_ANY, NULL},
             {"output_unsigned", WORD_ANY, NULL},
             {"values", WORD_ANY, NULL},
             {"operator_name", WORD_ANY, NULL},
             {"domain_name", WORD_ANY, NULL},
             {"implementation_attrs", WORD_ANY, NULL},
             {"mode", WORD_ENUM, "tosa.resize_mode"},
             {"rounding_mode", WORD_ENUM, "tosa.rounding_mode"},
             {"nan_mode", WORD_ENUM, "tosa.nan_mode"}};

static const ir_attr_t* parse_word_value(ir_parser_t* p, word_kind_t kind) {
  ir_context_t* ctx = ir_parse_context(p);
  int64_t* values;
  uint32_t count;
  if (kind == WORD_ANY) return ir_parse_attr(p, NULL);
  if (kind == WORD_I32) return ir_parse_attr(p, ir_type_int(ctx, 32));
  if (!ir_parse_int_list(p, &values, &count)) return NULL;
  if (kind == WORD_I64S) return ir_attr_i64_array(ctx, values, count);
  int32_t* narrow = ir_parse_scratch(p, sizeof(*narrow) * (count + 1));
  for (uint32_t i = 0; i < count; ++i) narrow[i] = (int32_t)values[i];
  return ir_attr_dense_array(ctx, ir_type_int(ctx, 32), narrow, count);
}

static bool parse_word(ir_parser_t* p, ir_draft_t* op) {
  size_t row = 0;
  while (row < sizeof(words) / sizeof(words[0]) && !ir_parse_try(p, words[row].name)) ++row;
  if (row == sizeof(words) / sizeof(words[0])) return ir_parse_fail(p, "expected ':', '{' or the name of an attribute");
  if (words[row].kind == WORD_ENUM) {
    const ir_attr_t* value = ir_parse_dialect_attr(p, words[row].attr);
    if (value) ir_draft_attr(p, op, words[row].name, value);
    return value != NULL;
  }
  if (!ir_parse_expect(p, "(")) return false;
  const ir_attr_t* value = parse_word_value(p, words[row].kind);
  if (!value || !ir_parse_expect(p, ")")) return false;
  ir_draft_attr(p, op, words[row].name, value);
  return true;
}

static ir_op_t* plain_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_refs(p, &refs)) return NULL;
  while (ir_parse_next(p) != ':' && ir_parse_next(p) != '{') {
    if (!parse_word(p, &op)) return NULL;
  }
  if (!ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":") || !ir_parse_types_in_parens(p, &types) ||
      !ir_parse_expect(p, "->") || !ir_parse_result_types(p, &op.results) ||
      !ir_draft_operands(p, &op, &refs, &types)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}

static void plain_print(ir_printer_t* pr, ir_op_t* op) {
  if (!op->operand_count) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, op->operand_count);
  ir_emit_attr_dict(pr, op, NULL);
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Control flow
//===----------------------------------------------------------------------------------------------------------------===

static bool fits_region(const ir_region_t* region) {
  return region->first && !region->first->next && region->first->first;
}

// tosa.cond_if %c (%a = %x, ...) : tensor<i1> [(types)] -> types { ^bb0(...): ... } else { ... }
static ir_op_t* cond_if_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t condition;
  ir_ref_list_t args = {0}, inits = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &condition)) return NULL;
  if (ir_parse_next(p) == '(' && !assignments_parse(p, &args, &inits)) return NULL;
  const ir_type_t* type = ir_parse_expect(p, ":") ? ir_parse_type(p) : NULL;
  if (!type || !ir_draft_operand(p, &op, &condition, type)) return NULL;
  if (ir_parse_next(p) == '(' && !ir_parse_types_in_parens(p, &types)) return NULL;
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &op.results)) return NULL;
  if (!ir_draft_operands(p, &op, &inits, &types) || !ir_draft_region(p, &op, &args, &types) ||
      !ir_parse_expect(p, "else") || !ir_draft_region(p, &op, &args, &types) || !ir_parse_attr_dict(p, &op)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}

static void cond_if_print(ir_printer_t* pr, ir_op_t* op) {
  uint32_t inputs = op->operand_count ? op->operand_count - 1 : 0;
  bool fits = op->operand_count && fits_region(&op->regions[0]) && fits_region(&op->regions[1]) &&
              args_are_operands(&op->regions[0], 0, op, 1, inputs) &&
              args_are_operands(&op->regions[1], 0, op, 1, inputs);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  if (inputs) {
    ir_emit(pr, " ");
    assignments_print(pr, op->regions[0].first->args, op, 1, inputs);
  }
  ir_emit(pr, " : ");
  ir_emit_operand_types(pr, op, 0, 1);
  if (inputs) {
    ir_emit(pr, " (");
    ir_emit_operand_types(pr, op, 1, inputs);
    ir_emit(pr, ")");
  }
  ir_emit_arrow_types(pr, op);
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
  ir_emit(pr, " else ");
  ir_emit_region(pr, &op->regions[1], 0);
  ir_emit_attr_dict(pr, op, NULL);
}

// tosa.while_loop (%a = %x, ...) : (types) -> types { ... } do { ^bb0(...): ... }
static ir_op_t* while_loop_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t args = {0}, inits = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (!assignments_parse(p, &args, &inits) || !ir_parse_expect(p, ":") || !ir_parse_types_in_parens(p, &types) ||
      !ir_parse_expect(p, "->") || !ir_parse_result_types(p, &op.results) ||
      !ir_draft_operands(p, &op, &inits, &types) || !ir_draft_region(p, &op, &args, &types) ||
      !ir_parse_expect(p, "do") || !ir_draft_region(p, &op, NULL, NULL) || !ir_parse_attr_dict_keyword(p, &op)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}

static void while_loop_print(ir_printer_t* pr, ir_op_t* op) {
  bool fits = fits_region(&op->regions[0]) && fits_region(&op->regions[1]) &&
              args_are_operands(&op->regions[0], 0, op, 0, op->operand_count);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  assignments_print(pr, op->regions[0].first->args, op, 0, op->operand_count);
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
  ir_emit(pr, " do ");
  ir_emit_region(pr, &op->regions[1], IR_REGION_ENTRY_ARGS);
  ir_emit_attr_dict_keyword(pr, op, NULL);
}

// tosa.variable @name = value, or tosa.variable @name : type
static ir_op_t* variable_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  visibility_parse(p, &op);
  ir_name_t name = ir_parse_symbol_name(p);
  if (!name || !ir_parse_attr_dict(p, &op)) return NULL;
  ir_draft_attr(p, &op, "sym_name", ir_attr_cstring(ctx, name));
  const ir_attr_t* value = NULL;
  if (ir_parse_try(p, "=")) {
    if (!(value = ir_parse_attr(p, NULL))) return NULL;
    ir_draft_attr(p, &op, "initial_value", value);
  }
  const ir_type_t* type = value ? value->type : ir_parse_expect(p, ":") ? ir_parse_type(p) : NULL;
  if (!type) return NULL;
  ir_draft_attr(p, &op, "type", ir_attr_type(ctx, type));
  return ir_draft_finish(p, &op);
}

static void variable_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_name", "initial_value", "type", NULL};
  const char* name = ir_op_string(op, "sym_name", NULL);
  const ir_attr_t *type = ir_op_attr(op, "type"), *value = ir_op_attr(op, "initial_value");
  bool fits = name && type && type->kind == IR_ATTR_TYPE && ir_type_is_shaped(type->type) &&
              !ir_op_attr(op, "sym_visibility") && (!value || value->type == type->type);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_symbol(pr, name);
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, value ? " = " : " : ");
  if (value) return ir_emit_attr(pr, value);
  ir_emit_type(pr, type->type);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"tosa." #name, TOSA_##ENUM, __VA_ARGS__},
#include "dialects/tosa.def"
#undef OP
};
TABLE_DIALECT(tosa_dialect, IR_DIALECT_TOSA, "tosa", ops);
