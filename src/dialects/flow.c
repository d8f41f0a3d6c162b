// The flow dialect.
#include "dialects/flow.h"

#include "dialects/table.h"

// %x : tensor<?x4xf32>{%d}: the sizes of the '?', which the type cannot name.
static ir_op_t* tie_shape_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_draft_operand(p, &op, &value, type)) return NULL;
  if (ir_parse_try(p, "{") && (!ir_parse_refs(p, &sizes) || !ir_parse_expect(p, "}"))) return NULL;
  for (uint32_t i = 0; i < sizes.count; ++i) {
    if (!ir_draft_operand(p, &op, &sizes.items[i], ir_type_index(ir_parse_context(p)))) return NULL;
  }
  ir_draft_result(p, &op, type);
  return ir_draft_finish(p, &op);
}
static void tie_shape_print(ir_printer_t* pr, ir_op_t* op) { ir_emit_generic(pr, op); }

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"flow." #name, FLOW_##ENUM, __VA_ARGS__},
#include "dialects/flow.def"
#undef OP
};
TABLE_DIALECT(flow_dialect, IR_DIALECT_FLOW, "flow", ops);
