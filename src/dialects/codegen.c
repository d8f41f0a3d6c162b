// The iree_codegen dialect.
#include "dialects/codegen.h"

#include "dialects/table.h"

enum { SEGMENTS = 3 };  // of operands: ins, outs and others

// (%x, ... : type, ...)
static bool parse_operands(ir_parser_t* p, ir_draft_t* op, int32_t* count) {
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  ir_ref_t ref;
  do {
    if (!ir_parse_ref(p, &ref)) return false;
    ir_list_add_ref(p, &refs, &ref);
  } while (ir_parse_try(p, ","));
  *count = (int32_t)refs.count;
  return ir_parse_expect(p, ":") && ir_parse_types(p, &types) && ir_parse_expect(p, ")") &&
         ir_draft_operands(p, op, &refs, &types);
}

static bool parse_attr(ir_parser_t* p, ir_draft_t* op, const char* name) {
  const ir_attr_t* attr = ir_parse_attr(p, NULL);
  if (attr) ir_draft_attr(p, op, name, attr);
  return attr != NULL;
}

// {attrs} "name" [ins(...)] [outs(...)] [(...)] [fn_def_attrs {...}] [strided_dims([[0], ...])] [-> type, ...]
static ir_op_t* ukernel_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  static const char* const words[SEGMENTS] = {"ins", "outs", NULL};
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  int32_t counts[SEGMENTS] = {0};
  ir_type_list_t results = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_attr_dict(p, &op) || !parse_attr(p, &op, "u_kernel_fn_name")) return NULL;
  for (int i = 0; i < SEGMENTS; ++i) {
    if (words[i] && !ir_parse_try(p, words[i])) continue;
    if (words[i] ? !ir_parse_expect(p, "(") : !ir_parse_try(p, "(")) {
      if (words[i]) return NULL;
      continue;
    }
    if (!parse_operands(p, &op, &counts[i])) return NULL;
  }
  if (ir_parse_try(p, "fn_def_attrs") && !parse_attr(p, &op, "fn_def_attrs")) return NULL;
  if (ir_parse_try(p, "strided_dims") &&
      (!ir_parse_expect(p, "(") || !parse_attr(p, &op, "strided_dims") || !ir_parse_expect(p, ")"))) {
    return NULL;
  }
  if (ir_parse_try(p, "->") && !ir_parse_types(p, &results)) return NULL;
  ir_draft_results(p, &op, &results);
  ir_draft_attr(p, &op, "operandSegmentSizes", ir_attr_dense_array(ctx, ir_type_int(ctx, 32), counts, SEGMENTS));
  return ir_draft_finish(p, &op);
}

static bool codegen_verify_ukernel(ir_context_t* ctx, ir_op_t* op) {
  int64_t counts[SEGMENTS], total = 0;
  bool fits = ir_op_ints(op, "operandSegmentSizes", counts, SEGMENTS) == SEGMENTS;
  for (int i = 0; fits && i < SEGMENTS; ++i) {
    fits = counts[i] >= 0 && counts[i] <= op->operand_count;
    total += counts[i];
  }
  if (!fits || total != op->operand_count) {
    return ir_op_error(ctx, op, "needs as many operands as operandSegmentSizes says, of ins, outs and others");
  }
  const ir_attr_t* name = ir_op_attr(op, "u_kernel_fn_name");
  if (!name || name->kind != IR_ATTR_STRING || !name->size) return ir_op_error(ctx, op, "needs the function's name");
  bool tensors = counts[1] && ir_type_is_tensor(ir_operand(op, (uint32_t)counts[0])->type);
  if (op->result_count != (tensors ? counts[1] : 0)) {
    return ir_op_error(ctx, op, "has as many results as tensors in outs");
  }
  return true;
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"iree_codegen." #name, CODEGEN_##ENUM, __VA_ARGS__},
#include "dialects/codegen.def"
#undef OP
};
TABLE_DIALECT(codegen_dialect, IR_DIALECT_CODEGEN, "iree_codegen", ops);
