// The torch dialect: torch.operator "onnx.X", which is what an ONNX import looks like, constants, and a reader for all
// of torch.aten and its kin, which stay ops without a row.
#include "dialects/torch.h"

#include <string.h>

#include "dialects/table.h"

// torch.operator "onnx.Relu"(%a) {attrs} : (types) -> types {region}, {region}
static ir_op_t* operator_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  const char* name;
  size_t size;
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_string(p, &name, &size)) return NULL;
  ir_draft_attr(p, &op, "name", ir_attr_string(ir_parse_context(p), name, size));
  if (!ir_parse_expect(p, "(") || !ir_parse_refs(p, &refs) || !ir_parse_expect(p, ")") || !ir_parse_attr_dict(p, &op) ||
      !ir_parse_expect(p, ":") || !ir_parse_types_in_parens(p, &types) || !ir_parse_expect(p, "->") ||
      !ir_parse_result_types(p, &op.results) || !ir_draft_operands(p, &op, &refs, &types)) {
    return NULL;
  }
  while (ir_parse_next(p) == '{') {
    if (!ir_draft_region(p, &op, NULL, NULL)) return NULL;
    ir_parse_try(p, ",");
  }
  return ir_draft_finish(p, &op);
}

static void operator_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"name", NULL};
  const ir_attr_t* name = ir_op_attr(op, "name");
  if (!name || name->kind != IR_ATTR_STRING) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_attr(pr, name);
  ir_emit(pr, "(");
  ir_emit_operands(pr, op, 0, op->operand_count);
  ir_emit(pr, ")");
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
  for (uint32_t i = 0; i < op->region_count; ++i) {
    ir_emit(pr, i ? ", " : " ");
    ir_emit_region(pr, &op->regions[i], IR_REGION_ENTRY_ARGS);
  }
}

// torch.vtensor.literal(dense<...> : tensor<...>) {attrs} : type
static ir_op_t* literal_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_expect(p, "(")) return NULL;
  const ir_attr_t* value = ir_parse_attr(p, NULL);
  if (!value || !ir_parse_expect(p, ")") || !ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type) return NULL;
  ir_draft_attr(p, &op, "value", value);
  ir_draft_result(p, &op, type);
  return ir_draft_finish(p, &op);
}

static void literal_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"value", NULL};
  const ir_attr_t* value = ir_op_attr(op, "value");
  if (!value) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, "(");
  ir_emit_attr(pr, value);
  ir_emit(pr, ")");
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " : ");
  ir_emit_result_types(pr, op);
}

// torch.constant.float 1.0
static ir_op_t* float_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  const ir_attr_t* value = ir_parse_attr(p, ir_type_float(ctx, IR_F64));
  if (!value || !ir_parse_attr_dict(p, &op)) return NULL;
  ir_draft_attr(p, &op, "value", value);
  ir_draft_result(p, &op, ir_type_opaque(ctx, "torch.float", NULL));
  return ir_draft_finish(p, &op);
}

static void float_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"value", NULL};
  ir_context_t* ctx = ir_printer_context(pr);
  const ir_attr_t* value = ir_op_attr(op, "value");
  bool fits = value && value->kind == IR_ATTR_FLOAT && value->type == ir_type_float(ctx, IR_F64) &&
              op->results[0].type == ir_type_opaque(ctx, "torch.float", NULL);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_attr_bare(pr, value);
  ir_emit_attr_dict(pr, op, held);
}

// torch.prim.If %c -> (types) { ... } else { ... }
static ir_op_t* prim_if_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t condition;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &condition) || !ir_parse_expect(p, "->") || !ir_parse_result_types(p, &op.results)) return NULL;
  if (!ir_draft_operand(p, &op, &condition, ir_type_opaque(ir_parse_context(p), "torch.bool", NULL))) return NULL;
  if (!ir_draft_region(p, &op, NULL, NULL) || !ir_parse_expect(p, "else") || !ir_draft_region(p, &op, NULL, NULL)) {
    return NULL;
  }
  return ir_parse_attr_dict(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

static void prim_if_print(ir_printer_t* pr, ir_op_t* op) {
  if (ir_operand(op, 0)->type != ir_type_opaque(ir_printer_context(pr), "torch.bool", NULL)) {
    return ir_emit_generic(pr, op);
  }
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  ir_emit(pr, " -> (");
  ir_emit_result_types(pr, op);
  ir_emit(pr, ") ");
  ir_emit_region(pr, &op->regions[0], IR_REGION_ENTRY_ARGS);
  ir_emit(pr, " else ");
  ir_emit_region(pr, &op->regions[1], IR_REGION_ENTRY_ARGS);
  ir_emit_attr_dict(pr, op, NULL);
}

// torch.copy.to_vtensor %a {attrs} : result type; the operand's type is where it is defined
static ir_op_t* copy_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t ref;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &ref) || !ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t *type = ir_parse_type(p), *from = ir_parse_ref_type(p, &ref);
  if (!type) return NULL;
  if (!from) return ir_parse_fail_at(p, &ref, "this operand must be defined before the op"), NULL;
  ir_draft_result(p, &op, type);
  return ir_draft_operand(p, &op, &ref, from) ? ir_draft_finish(p, &op) : NULL;
}

static void copy_print(ir_printer_t* pr, ir_op_t* op) {
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  ir_emit_attr_dict(pr, op, NULL);
  ir_emit(pr, " : ");
  ir_emit_result_types(pr, op);
}

// torch.aten.add.Tensor %a, %b, %c {attrs} : t, t, t -> t; written in the generic form, as there is no row.
static ir_op_t* any_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, NULL, loc);
  op.name = ir_parse_op_name(p);
  if (!ir_parse_refs(p, &refs) || !ir_parse_attr_dict(p, &op)) return NULL;
  if (ir_parse_try(p, ":")) {
    bool ok = ir_parse_next(p) == '(' ? ir_parse_types_in_parens(p, &types) : ir_parse_types(p, &types);
    if (!ok) return NULL;
  }
  if (ir_parse_try(p, "->")) {
    bool ok = ir_parse_next(p) == '(' ? ir_parse_types_in_parens(p, &op.results) : ir_parse_types(p, &op.results);
    if (!ok) return NULL;
  }
  return ir_draft_operands(p, &op, &refs, &types) ? ir_draft_finish(p, &op) : NULL;
}
static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"torch." #name, TORCH_##ENUM, __VA_ARGS__},
#include "dialects/torch.def"
#undef OP
    {"torch_c.*", TORCH_ANY + 1, V, V, V, NONE, NULL, PARSED(any)},
};
TABLE_DIALECT(torch_dialect, IR_DIALECT_TORCH, "torch", ops);
