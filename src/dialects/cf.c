// The cf dialect: branches. Values handed to a successor are the op's trailing operands.
#include "dialects/cf.h"

#include <string.h>

#include "dialects/table.h"

// cf.cond_br %c [weights([1, 2])], ^a(%x : t), ^b {attrs}
static ir_op_t* cond_br_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_t condition;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &condition) || !ir_draft_operand(p, &op, &condition, ir_type_int(ctx, 1))) return NULL;
  if (ir_parse_try(p, "weights")) {
    const ir_attr_t* weights = ir_parse_expect(p, "(") ? ir_parse_attr(p, NULL) : NULL;
    if (!weights || !ir_parse_expect(p, ")")) return NULL;
    ir_draft_attr(p, &op, "branch_weights", weights);
  }
  if (!ir_parse_expect(p, ",") || !ir_draft_successor(p, &op) || !ir_parse_expect(p, ",")) return NULL;
  return ir_draft_successor(p, &op) && ir_parse_attr_dict(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

static uint32_t handed_over(const ir_op_t* op) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < op->successor_count; ++i) total += op->successor_operand_counts[i];
  return total;
}

static void cond_br_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"branch_weights", NULL};
  const ir_attr_t* weights = ir_op_attr(op, "branch_weights");
  if (op->successor_count != 2 || op->operand_count != handed_over(op) + 1) return ir_emit_generic(pr, op);
  if (ir_operand(op, 0)->type != ir_type_int(ir_printer_context(pr), 1)) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  if (weights) {
    ir_emit(pr, " weights(");
    ir_emit_attr(pr, weights);
    ir_emit(pr, ")");
  }
  for (uint32_t i = 0; i < 2; ++i) {
    ir_emit(pr, ", ");
    ir_emit_successor(pr, op, i);
  }
  ir_emit_attr_dict(pr, op, held);
}

// cf.switch %flag : i32, [default: ^a(%x : t), 1: ^b, 2: ^c]
static ir_op_t* switch_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_t flag;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &flag) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_draft_operand(p, &op, &flag, type)) return NULL;
  if (type->kind != IR_TYPE_INTEGER || type->width > 64) return ir_parse_fail(p, "expected an integer type"), NULL;
  if (!ir_parse_expect(p, ",") || !ir_parse_expect(p, "[") || !ir_parse_expect(p, "default") ||
      !ir_parse_expect(p, ":") || !ir_draft_successor(p, &op)) {
    return NULL;
  }
  size_t bytes = ir_type_bytes(type);
  char* values = NULL;
  int64_t count = 0;
  while (ir_parse_try(p, ",")) {
    int64_t value;
    values = ir_parse_grow(p, values, (size_t)count, bytes);
    if (!ir_parse_integer(p, &value) || !ir_parse_expect(p, ":") || !ir_draft_successor(p, &op)) return NULL;
    ir_scalar_store_integer(type, value, values + (size_t)count++ * bytes);
  }
  if (!ir_parse_expect(p, "]") || !ir_parse_attr_dict(p, &op)) return NULL;
  if (count) {
    const ir_type_t* list = ir_type_tensor(ctx, type, 1, &count);
    bool equal = true;
    for (int64_t i = 1; i < count; ++i) equal &= memcmp(values, values + (size_t)i * bytes, bytes) == 0;
    ir_draft_attr(p, &op, "case_values", ir_attr_elements(ctx, list, values, equal ? bytes : (size_t)count * bytes));
  }
  return ir_draft_finish(p, &op);
}

static void switch_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"case_values", NULL};
  const ir_attr_t* values = ir_op_attr(op, "case_values");
  int64_t cases = values && values->kind == IR_ATTR_ELEMENTS ? ir_type_count(values->type) : 0;
  bool typed = !cases || ir_type_scalar(values->type) == ir_operand(op, 0)->type;
  bool shape = !cases || (values->type->kind == IR_TYPE_TENSOR && values->type->rank == 1);
  if (op->successor_count != cases + 1 || op->operand_count != handed_over(op) + 1 || !typed || !shape) {
    return ir_emit_generic(pr, op);
  }
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  ir_emit(pr, " : ");
  ir_emit_operand_types(pr, op, 0, 1);
  ir_emit(pr, ", [");
  for (int64_t i = -1; i < cases; ++i) {
    ir_emit_newline(pr);
    if (i < 0) {
      ir_emit(pr, "  default: ");
    } else {
      ir_emitf(pr, "  %lld: ", (long long)ir_attr_element_integer(values, i));
    }
    ir_emit_successor(pr, op, (uint32_t)(i + 1));
    if (i + 1 < cases) ir_emit(pr, ",");
  }
  ir_emit_newline(pr);
  ir_emit(pr, "]");
  ir_emit_attr_dict(pr, op, held);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"cf." #name, CF_##ENUM, __VA_ARGS__},
#include "dialects/cf.def"
#undef OP
};
TABLE_DIALECT(cf_dialect, IR_DIALECT_CF, "cf", ops);
