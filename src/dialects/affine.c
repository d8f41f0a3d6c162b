// The affine dialect. Its ops read in the form that MLIR writes and print in generic form.
//
//   affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%i)[%n]
//   affine.linearize_index disjoint [%i, %j] by (4, %n) : index
//   affine.delinearize_index %x into (4, %n) : index, index
#include "dialects/affine.h"

#include "dialects/table.h"

static bool indices(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs) {
  for (uint32_t i = 0; i < refs->count; ++i) {
    if (!ir_draft_operand(p, op, &refs->items[i], ir_type_index(ir_parse_context(p)))) return false;
  }
  return true;
}

static ir_op_t* affine_map_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  const ir_attr_t* map = ir_parse_attr(p, NULL);
  if (!map) return NULL;
  if (map->kind != IR_ATTR_AFFINE_MAP) return ir_parse_fail(p, "expected an affine map"), NULL;
  ir_draft_attr(p, &op, "map", map);
  if (!ir_parse_expect(p, "(") || !ir_parse_refs(p, &refs) || !ir_parse_expect(p, ")")) return NULL;
  bool symbols = ir_parse_try(p, "[");
  if (refs.count != map->map->dim_count) return ir_parse_fail(p, "expected a value for each dim of the map"), NULL;
  if (symbols && (!ir_parse_refs(p, &refs) || !ir_parse_expect(p, "]"))) return NULL;
  if (!ir_parse_attr_dict(p, &op) || !indices(p, &op, &refs)) return NULL;
  ir_draft_result(p, &op, ir_type_index(ir_parse_context(p)));
  return ir_draft_finish(p, &op);
}
// (4, %n)
static bool parse_basis(ir_parser_t* p, ir_draft_t* op, ir_ref_list_t* refs) {
  enum { MOST = 32 };
  int64_t values[MOST];
  uint32_t count = 0;
  if (!ir_parse_expect(p, "(")) return false;
  while (!ir_parse_peek(p, ")")) {
    ir_ref_t ref;
    if (count == MOST) return ir_parse_fail(p, "up to %d sizes are supported", MOST);
    if (count && !ir_parse_expect(p, ",")) return false;
    values[count] = IR_DYNAMIC;
    if (ir_parse_try_ref(p, &ref)) {
      ir_list_add_ref(p, refs, &ref);
    } else if (!ir_parse_integer(p, &values[count])) {
      return false;
    }
    ++count;
  }
  ir_draft_attr(p, op, "static_basis", ir_attr_i64_array(ir_parse_context(p), values, count));
  return ir_parse_expect(p, ")");
}

static ir_op_t* affine_linearize_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_try(p, "disjoint")) ir_draft_attr(p, &op, "disjoint", ir_attr_unit(ir_parse_context(p)));
  if (!ir_parse_expect(p, "[") || !ir_parse_refs(p, &refs) || !ir_parse_expect(p, "]") || !ir_parse_expect(p, "by") ||
      !parse_basis(p, &op, &refs) || !ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":") ||
      !ir_parse_types(p, &op.results) || !indices(p, &op, &refs)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}
static ir_op_t* affine_delinearize_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_ref_t number;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &number)) return NULL;
  ir_list_add_ref(p, &refs, &number);
  if (!ir_parse_expect(p, "into") || !parse_basis(p, &op, &refs) || !ir_parse_attr_dict(p, &op) ||
      !ir_parse_expect(p, ":") || !ir_parse_types(p, &op.results) || !indices(p, &op, &refs)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}
static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"affine." #name, AFFINE_##ENUM, __VA_ARGS__},
#include "dialects/affine.def"
#undef OP
};
TABLE_DIALECT(affine_dialect, IR_DIALECT_AFFINE, "affine", ops);
