// The pdl dialect: how its ops are read. Most print in the generic form.
#include "dialects/pdl.h"

#include <stdio.h>

#include "dialects/table.h"

// !pdl.value, or !pdl.range<value>
static const ir_type_t* pdl_type(ir_parser_t* p, const char* kind, bool is_range) {
  char name[32];
  snprintf(name, sizeof(name), "pdl.%s", is_range ? "range" : kind);
  return ir_type_opaque(ir_parse_context(p), name, is_range ? kind : NULL);
}

static bool add_operand(ir_parser_t* p, ir_draft_t* op, const char* kind) {
  ir_ref_t ref;
  return ir_parse_ref(p, &ref) && ir_draft_operand(p, op, &ref, pdl_type(p, kind, false));
}

// (%a, ... : types), or the same without parentheses.
static bool add_typed(ir_parser_t* p, ir_draft_t* op, bool in_parens, uint32_t* count) {
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  bool ok = (!in_parens || ir_parse_expect(p, "(")) && ir_parse_refs(p, &refs);
  if (ok && refs.count) ok = ir_parse_expect(p, ":") && ir_parse_types(p, &types);
  *count = refs.count;
  return ok && (!in_parens || ir_parse_expect(p, ")")) && ir_draft_operands(p, op, &refs, &types);
}

static void add_segments(ir_parser_t* p, ir_draft_t* op, const uint32_t* counts, uint32_t count) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_attr(p, op, "operandSegmentSizes", ir_attr_dense_array(ctx, ir_type_int(ctx, 32), counts, count));
}

static ir_op_t* finish(ir_parser_t* p, ir_draft_t* op, const ir_type_t* type) {
  if (type) ir_draft_result(p, op, type);
  return ir_parse_attr_dict(p, op) ? ir_draft_finish(p, op) : NULL;
}

//   [@name] : benefit(1) [attributes {...}] { ... }
static ir_op_t* pattern_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  int64_t benefit;
  ir_draft_init(p, &op, info, loc);
  ir_name_t name = ir_parse_try_symbol_name(p);
  if (name) ir_draft_attr(p, &op, "sym_name", ir_attr_cstring(ctx, name));
  bool ok = ir_parse_expect(p, ":") && ir_parse_expect(p, "benefit") && ir_parse_expect(p, "(") &&
            ir_parse_integer(p, &benefit) && ir_parse_expect(p, ")") && ir_parse_attr_dict_keyword(p, &op);
  if (!ok) return NULL;
  ir_draft_attr(p, &op, "benefit", ir_attr_integer(ctx, ir_type_int(ctx, 16), benefit));
  return ir_draft_region(p, &op, NULL, NULL) ? ir_draft_finish(p, &op) : NULL;
}

//   [: %type]
static ir_op_t* operand_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  bool many = info->code == PDL_OPERANDS;
  ir_draft_t op;
  ir_ref_t ref;
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_try(p, ":") && (!ir_parse_ref(p, &ref) || !ir_draft_operand(p, &op, &ref, pdl_type(p, "type", many)))) {
    return NULL;
  }
  return finish(p, &op, pdl_type(p, "value", many));
}

//   [: type]      of pdl.types: [: [type, ...]]
static ir_op_t* type_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  bool many = info->code == PDL_TYPES;
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_try(p, ":")) {
    const ir_attr_t* constant = ir_parse_attr(p, NULL);
    if (!constant) return NULL;
    ir_draft_attr(p, &op, many ? "constantTypes" : "constantType", constant);
  }
  return finish(p, &op, pdl_type(p, "type", many));
}

//   [: %type] [= value]
static ir_op_t* attribute_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_try(p, ":") && !add_operand(p, &op, "type")) return NULL;
  if (ir_parse_try(p, "=")) {
    const ir_attr_t* value = ir_parse_attr(p, NULL);
    if (!value) return NULL;
    ir_draft_attr(p, &op, "value", value);
  }
  return finish(p, &op, pdl_type(p, "attribute", false));
}

// {"name" = %value, ...}
static bool add_attributes(ir_parser_t* p, ir_draft_t* op, uint32_t* count) {
  const ir_attr_t** names = NULL;
  *count = 0;
  if (ir_parse_try(p, "{") && !ir_parse_try(p, "}")) {
    do {
      names = ir_parse_grow(p, names, *count, sizeof(*names));
      if (ir_parse_next(p) != '"') return ir_parse_fail(p, "expected the name of an attribute: \"value\"");
      const ir_attr_t* name = ir_parse_attr(p, NULL);
      if (!name || !ir_parse_expect(p, "=") || !add_operand(p, op, "attribute")) return false;
      names[(*count)++] = name;
    } while (ir_parse_try(p, ","));
    if (!ir_parse_expect(p, "}")) return false;
  }
  ir_draft_attr(p, op, "attributeValueNames", ir_attr_array(ir_parse_context(p), names, *count));
  return true;
}

//   ["name"] [(%operands : types)] [{"name" = %value, ...}] [-> (%types : types)]
static ir_op_t* operation_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  uint32_t counts[3] = {0};
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_next(p) == '"') {
    const ir_attr_t* name = ir_parse_attr(p, NULL);
    if (!name) return NULL;
    ir_draft_attr(p, &op, "opName", name);
  }
  bool ok = ir_parse_next(p) != '(' || add_typed(p, &op, true, &counts[0]);
  ok = ok && add_attributes(p, &op, &counts[1]);
  if (ok && ir_parse_try(p, "->")) ok = add_typed(p, &op, true, &counts[2]);
  if (!ok) return NULL;
  add_segments(p, &op, counts, 3);
  return finish(p, &op, pdl_type(p, "operation", false));
}

//   [0] of %op [-> type]
static ir_op_t* results_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  int64_t index;
  const ir_type_t* type = pdl_type(p, "value", true);
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_try_integer(p, &index)) {
    ir_draft_attr(p, &op, "index", ir_attr_integer(ctx, ir_type_int(ctx, 32), index));
  }
  if (!ir_parse_expect(p, "of") || !add_operand(p, &op, "operation")) return NULL;
  if (ir_parse_try(p, "->") && !(type = ir_parse_type(p))) return NULL;
  return finish(p, &op, type);
}

//   %a, ... : types      : type     of none
static ir_op_t* range_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  uint32_t count;
  ir_draft_init(p, &op, info, loc);
  if (!add_typed(p, &op, false, &count)) return NULL;
  if (!count) {
    const ir_type_t* type = ir_parse_expect(p, ":") ? ir_parse_type(p) : NULL;
    return type ? finish(p, &op, type) : NULL;
  }
  bool types = op.operands.items[0]->type == pdl_type(p, "type", false) ||
               op.operands.items[0]->type == pdl_type(p, "type", true);
  return finish(p, &op, pdl_type(p, types ? "type" : "value", true));
}

//   "name" [(%args : types)] [: types]
static ir_op_t* native_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  uint32_t count;
  ir_draft_init(p, &op, info, loc);
  const ir_attr_t* name = ir_parse_attr(p, NULL);
  if (!name) return NULL;
  ir_draft_attr(p, &op, "name", name);
  if (ir_parse_next(p) == '(' && !add_typed(p, &op, true, &count)) return NULL;
  if (ir_parse_try(p, ":") && !ir_parse_types(p, &op.results)) return NULL;
  return finish(p, &op, NULL);
}

//   [%root] [with "name" [(%args : types)]] [{ ... }]
static ir_op_t* rewrite_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  uint32_t counts[2] = {0};
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_next(p) == '%') {
    counts[0] = 1;
    if (!add_operand(p, &op, "operation")) return NULL;
  }
  if (ir_parse_try(p, "with")) {
    const ir_attr_t* name = ir_parse_attr(p, NULL);
    if (!name) return NULL;
    ir_draft_attr(p, &op, "name", name);
    if (ir_parse_next(p) == '(' && !add_typed(p, &op, true, &counts[1])) return NULL;
  }
  if (ir_parse_next(p) != '{') {
    ir_draft_empty_region(p, &op);
  } else if (!ir_draft_region(p, &op, NULL, NULL)) {
    return NULL;
  }
  add_segments(p, &op, counts, 2);
  return finish(p, &op, NULL);
}

//   %op with %other      %op with (%values : types)
static ir_op_t* replace_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  uint32_t counts[3] = {1};
  ir_draft_init(p, &op, info, loc);
  if (!add_operand(p, &op, "operation") || !ir_parse_expect(p, "with")) return NULL;
  bool whole = ir_parse_next(p) == '%';
  counts[1] = whole;
  bool ok = whole ? add_operand(p, &op, "operation") : add_typed(p, &op, true, &counts[2]);
  if (!ok) return NULL;
  add_segments(p, &op, counts, 3);
  return finish(p, &op, NULL);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"pdl." #name, PDL_##ENUM, __VA_ARGS__},
#include "dialects/pdl.def"
#undef OP
};
TABLE_DIALECT(pdl_dialect, IR_DIALECT_PDL, "pdl", ops);
