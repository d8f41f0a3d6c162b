// The ml_program dialect: global variables.
#include "dialects/ml_program.h"

#include <string.h>

#include "dialects/table.h"

// ml_program.global private mutable @name(value) : type {attrs}
static ir_op_t* global_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (!global_name_parse(p, &op)) return NULL;
  const ir_attr_t* value = NULL;
  if (ir_parse_try(p, "(")) {
    if (!(value = ir_parse_attr(p, NULL)) || !ir_parse_expect(p, ")")) return NULL;
    ir_draft_attr(p, &op, "value", value);
  }
  const ir_type_t* type = ir_parse_expect(p, ":") ? ir_parse_type(p) : NULL;
  if (!type || !ir_parse_attr_dict(p, &op)) return NULL;
  ir_draft_attr(p, &op, "type", ir_attr_type(ctx, type));
  return ir_draft_finish(p, &op);
}

static void global_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_visibility", "is_mutable", "sym_name", "value", "type", NULL};
  const char *name = ir_op_string(op, "sym_name", NULL), *visibility = ir_op_string(op, "sym_visibility", "private");
  const ir_attr_t *type = ir_op_attr(op, "type"), *value = ir_op_attr(op, "value");
  const ir_attr_t* mutable = ir_op_attr(op, "is_mutable");
  bool known = !strcmp(visibility, "private") || !strcmp(visibility, "public") || !strcmp(visibility, "nested");
  bool fits = name && type && type->kind == IR_ATTR_TYPE && known && (!mutable || mutable->kind == IR_ATTR_UNIT);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  if (ir_op_attr(op, "sym_visibility")) ir_emitf(pr, " %s", visibility);
  if (mutable) ir_emit(pr, " mutable");
  ir_emit(pr, " ");
  ir_emit_symbol(pr, name);
  if (value) {
    ir_emit(pr, "(");
    ir_emit_attr(pr, value);
    ir_emit(pr, ")");
  }
  ir_emit(pr, " : ");
  ir_emit_type(pr, type->type);
  ir_emit_attr_dict(pr, op, held);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"ml_program." #name, ML_PROGRAM_##ENUM, __VA_ARGS__},
#include "dialects/ml_program.def"
#undef OP
};
TABLE_DIALECT(ml_program_dialect, IR_DIALECT_ML_PROGRAM, "ml_program", ops);
