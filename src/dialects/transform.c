// The transform dialect: how its ops are read. They print in the generic form.
#include "dialects/transform.h"

#include "dialects/table.h"

// : (type, ...) -> type, of the operands and the results.
static ir_op_t* finish(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs) {
  ir_type_list_t types = {0};
  bool ok = ir_parse_expect(p, ":") && ir_parse_types_in_parens(p, &types) && ir_draft_operands(p, op, refs, &types) &&
            ir_parse_expect(p, "->") && ir_parse_result_types(p, &op->results);
  return ok ? ir_draft_finish(p, op) : NULL;
}

//   %x : type [-> types] { ^bb(%a: type): ... }
static ir_op_t* foreach_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  bool ok = ir_parse_refs(p, &refs) && ir_parse_expect(p, ":") && ir_parse_types(p, &types) &&
            ir_draft_operands(p, &op, &refs, &types);
  if (ok && ir_parse_try(p, "->")) ok = ir_parse_result_types(p, &op.results);
  return ok && ir_draft_region(p, &op, NULL, NULL) ? ir_draft_finish(p, &op) : NULL;
}

//   in %x @matcher -> @action, ... : (type) -> type
static ir_op_t* foreach_match_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  enum { MAX_PAIRS = 64 };
  const ir_attr_t *matchers[MAX_PAIRS], *actions[MAX_PAIRS];
  uint32_t count = 0;
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  bool ok = ir_parse_expect(p, "in") && ir_parse_refs(p, &refs);
  do {
    if (count == MAX_PAIRS) return ir_parse_fail(p, "expected at most %d matchers", MAX_PAIRS), NULL;
    ok = ok && (matchers[count] = ir_parse_symbol(p)) && ir_parse_expect(p, "->") &&
         (actions[count] = ir_parse_symbol(p));
    ++count;
  } while (ok && ir_parse_try(p, ","));
  if (!ok) return NULL;
  ir_draft_attr(p, &op, "matchers", ir_attr_array(ir_parse_context(p), matchers, count));
  ir_draft_attr(p, &op, "actions", ir_attr_array(ir_parse_context(p), actions, count));
  return finish(p, &op, &refs);
}

//   ops{["name", ...]} in %x : (type) -> type
static ir_op_t* match_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_expect(p, "ops") || !ir_parse_expect(p, "{")) return NULL;
  const ir_attr_t* names = ir_parse_attr(p, NULL);
  if (!names || !ir_parse_expect(p, "}") || !ir_parse_expect(p, "in") || !ir_parse_refs(p, &refs)) return NULL;
  ir_draft_attr(p, &op, "ops", names);
  return finish(p, &op, &refs);
}

//   %root { ^bb0(%a: type, ...): ... } : (type) -> (type, type)
static ir_op_t* dag_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  return ir_parse_refs(p, &refs) && ir_draft_region(p, &op, NULL, NULL) ? finish(p, &op, &refs) : NULL;
}

//   @symbol into %x [if undefined] : (type) -> type
static ir_op_t* import_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  const ir_attr_t* symbol = ir_parse_symbol(p);
  if (!symbol || !ir_parse_expect(p, "into") || !ir_parse_refs(p, &refs)) return NULL;
  ir_draft_attr(p, &op, "symbol", symbol);
  if (ir_parse_try(p, "if")) {
    if (!ir_parse_expect(p, "undefined")) return NULL;
    ir_draft_attr(p, &op, "if_undefined", ir_attr_unit(ir_parse_context(p)));
  }
  return finish(p, &op, &refs);
}

//   %func(%values) -> %replaced after|before %place [{ ... }] : (types) -> type
static ir_op_t* call_in_place_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  const char* const marks[] = {"(", ")", NULL};
  for (int i = 0; i < 2; ++i) {
    ir_ref_t ref;
    if (!ir_parse_ref(p, &ref) || !ir_parse_expect(p, marks[i])) return NULL;
    ir_list_add_ref(p, &refs, &ref);
  }
  ir_ref_t ref;
  if (!ir_parse_expect(p, "->") || !ir_parse_ref(p, &ref)) return NULL;
  ir_list_add_ref(p, &refs, &ref);
  bool before = ir_parse_try(p, "before");
  if (before) ir_draft_attr(p, &op, "insert_before", ir_attr_unit(ir_parse_context(p)));
  if ((!before && !ir_parse_expect(p, "after")) || !ir_parse_ref(p, &ref)) return NULL;
  ir_list_add_ref(p, &refs, &ref);
  if (ir_parse_next(p) != '{') {
    ir_draft_empty_region(p, &op);
  } else if (!ir_draft_region(p, &op, NULL, NULL)) {
    return NULL;
  }
  return finish(p, &op, &refs);
}

//   to %x : type
static ir_op_t* apply_to_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  bool ok = ir_parse_expect(p, "to") && ir_parse_refs(p, &refs) && ir_parse_expect(p, ":") &&
            ir_parse_types(p, &types) && ir_draft_operands(p, &op, &refs, &types);
  return ok ? ir_draft_finish(p, &op) : NULL;
}

//   "pass" to %x : (type) -> type
static ir_op_t* apply_pass_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  const ir_attr_t* name = ir_parse_attr(p, NULL);
  if (!name || !ir_parse_expect(p, "to") || !ir_parse_refs(p, &refs)) return NULL;
  ir_draft_attr(p, &op, "pass_name", name);
  return finish(p, &op, &refs);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"transform." #name, TRANSFORM_##ENUM, __VA_ARGS__},
#include "dialects/transform.def"
#undef OP
};
TABLE_DIALECT(transform_dialect, IR_DIALECT_TRANSFORM, "transform", ops);
