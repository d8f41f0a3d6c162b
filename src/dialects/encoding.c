// The iree_encoding dialect.
#include "dialects/encoding.h"

#include "dialects/table.h"

// %x : type -> type[{sizes}]
static ir_op_t* unset_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_draft_operand(p, &op, &value, type) || !ir_parse_expect(p, "->")) return NULL;
  type = ir_parse_type(p);
  if (!type) return NULL;
  if (ir_parse_try(p, "{") && (!ir_parse_refs(p, &sizes) || !ir_parse_expect(p, "}"))) return NULL;
  for (uint32_t i = 0; i < sizes.count; ++i) {
    if (!ir_draft_operand(p, &op, &sizes.items[i], ir_type_index(ir_parse_context(p)))) return NULL;
  }
  ir_draft_result(p, &op, type);
  return ir_draft_finish(p, &op);
}
static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"iree_encoding." #name, ENCODING_##ENUM, __VA_ARGS__},
#include "dialects/encoding.def"
#undef OP
};
TABLE_DIALECT(encoding_dialect, IR_DIALECT_ENCODING, "iree_encoding", ops);
