// The util dialect: globals; functions are read by shared.c, the rest by formats.
#include "dialects/util.h"

#include <string.h>

#include "dialects/table.h"

// util.global [private|public] [mutable] @name {attrs} [= value] [: type]
static ir_op_t* global_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  visibility_parse(p, &op);
  if (ir_parse_try(p, "mutable")) ir_draft_attr(p, &op, "is_mutable", ir_attr_unit(ctx));
  ir_name_t name = ir_parse_symbol_name(p);
  if (!name || !ir_parse_attr_dict(p, &op)) return NULL;
  ir_draft_attr(p, &op, "sym_name", ir_attr_cstring(ctx, name));
  const ir_attr_t* value = NULL;
  if (ir_parse_try(p, "=") && !(value = ir_parse_attr(p, NULL))) return NULL;
  const ir_type_t* type = value ? ir_attr_own_type(value) : NULL;
  if (ir_parse_try(p, ":") && !(type = ir_parse_type(p))) return NULL;
  if (!type) return ir_parse_fail(p, "expected ':' and the global's type"), NULL;
  if (value) ir_draft_attr(p, &op, "initial_value", value);
  ir_draft_attr(p, &op, "type", ir_attr_type(ctx, type));
  return ir_draft_finish(p, &op);
}

static void global_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_visibility", "is_mutable", "sym_name", "initial_value", "type", NULL};
  const char *name = ir_op_string(op, "sym_name", NULL), *visibility = ir_op_string(op, "sym_visibility", NULL);
  const ir_attr_t *type = ir_op_attr(op, "type"), *value = ir_op_attr(op, "initial_value");
  const ir_attr_t *mutable = ir_op_attr(op, "is_mutable"), *seen = ir_op_attr(op, "sym_visibility");
  bool fits = name && type && type->kind == IR_ATTR_TYPE &&
              (!seen || (visibility && (!strcmp(visibility, "private") || !strcmp(visibility, "public")))) &&
              (!mutable || mutable->kind == IR_ATTR_UNIT);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  if (visibility) ir_emitf(pr, " %s", visibility);
  if (mutable) ir_emit(pr, " mutable");
  ir_emit(pr, " ");
  ir_emit_symbol(pr, name);
  ir_emit_attr_dict(pr, op, held);
  if (value) {
    ir_emit(pr, " = ");
    ir_emit_attr(pr, value);
  }
  if (value && ir_attr_own_type(value) == type->type) return;
  ir_emit(pr, " : ");
  ir_emit_type(pr, type->type);
}

// util.buffer.constant ["name"] {attrs} : !util.buffer = value
static ir_op_t* buffer_constant_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_next(p) == '"') {
    const ir_attr_t* name = ir_parse_attr(p, NULL);
    if (!name) return NULL;
    ir_draft_attr(p, &op, "name", name);
  }
  if (!ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_parse_expect(p, "=")) return NULL;
  const ir_attr_t* value = ir_parse_attr(p, NULL);
  if (!value) return NULL;
  ir_draft_attr(p, &op, "value", value);
  ir_draft_result(p, &op, type);
  return ir_draft_finish(p, &op);
}

static void buffer_constant_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"name", "value", NULL};
  const ir_attr_t *value = ir_op_attr(op, "value"), *name = ir_op_attr(op, "name");
  bool fits = value && op->result_count == 1 && !op->operand_count && (!name || name->kind == IR_ATTR_STRING);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  if (name) {
    ir_emit(pr, " ");
    ir_emit_attr(pr, name);
  }
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " : ");
  ir_emit_type(pr, op->results[0].type);
  ir_emit(pr, " = ");
  ir_emit_attr(pr, value);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"util." #name, UTIL_##ENUM, __VA_ARGS__},
#include "dialects/util.def"
#undef OP
};
TABLE_DIALECT(util_dialect, IR_DIALECT_UTIL, "util", ops);
