// The builtin dialect: module, and casts between the types of different dialects.
#include "dialects/builtin.h"

#include <string.h>

#include "dialects/table.h"

// module [@name] [attributes {...}] { ... }
static ir_op_t* module_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  ir_name_t name = ir_parse_try_symbol_name(p);
  if (name) ir_draft_attr(p, &op, "sym_name", ir_attr_cstring(ir_parse_context(p), name));
  if (!ir_parse_attr_dict_keyword(p, &op) || !ir_draft_region(p, &op, NULL, NULL)) return NULL;
  return ir_draft_finish(p, &op);
}

static void module_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_name", NULL};
  const ir_region_t* body = op->region_count == 1 ? &op->regions[0] : NULL;
  if (!body || !body->first || body->first->next || body->first->arg_count) return ir_emit_generic(pr, op);
  const char* name = ir_op_string(op, "sym_name", NULL);
  ir_emit(pr, "module");
  if (name) {
    ir_emit(pr, " ");
    ir_emit_symbol(pr, name);
  }
  ir_emit_attr_dict_keyword(pr, op, held);
  ir_emit(pr, " ");
  ir_emit_region(pr, body, 0);
}

// builtin.unrealized_conversion_cast %a, %b : t, t to t, t
static ir_op_t* conversion_cast_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_refs(p, &refs)) return NULL;
  if (refs.count && (!ir_parse_expect(p, ":") || !ir_parse_types(p, &types))) return NULL;
  if (!ir_parse_expect(p, "to") || !ir_parse_types(p, &op.results) || !ir_parse_attr_dict(p, &op)) return NULL;
  return ir_draft_operands(p, &op, &refs, &types) ? ir_draft_finish(p, &op) : NULL;
}

static void conversion_cast_print(ir_printer_t* pr, ir_op_t* op) {
  if (!op->result_count) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  if (op->operand_count) {
    ir_emit(pr, " ");
    ir_emit_operands(pr, op, 0, op->operand_count);
    ir_emit(pr, " : ");
    ir_emit_operand_types(pr, op, 0, op->operand_count);
  }
  ir_emit(pr, " to ");
  ir_emit_result_types(pr, op);
  ir_emit_attr_dict(pr, op, NULL);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"builtin." #name, BUILTIN_##ENUM, __VA_ARGS__},
#include "dialects/builtin.def"
#undef OP
};
TABLE_DIALECT(builtin_dialect, IR_DIALECT_BUILTIN, "builtin", ops);
