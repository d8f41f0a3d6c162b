// The flow dialect.
#include "dialects/flow.h"

#include "dialects/table.h"

//===----------------------------------------------------------------------------------------------------------------===
// Pieces
//===----------------------------------------------------------------------------------------------------------------===

// tensor<?x4xf32>{%d}: the sizes of the '?', which the type cannot name.
static const ir_type_t* parse_tied(ir_parser_t* p, ir_ref_list_t* sizes) {
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_parse_try(p, "{")) return type;
  return ir_parse_refs(p, sizes) && ir_parse_expect(p, "}") ? type : NULL;
}

static bool add_indices(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs) {
  for (uint32_t i = 0; i < refs->count; ++i) {
    if (!ir_draft_operand(p, op, &refs->items[i], ir_type_index(ir_parse_context(p)))) return false;
  }
  return true;
}

// `[%i, %j]`, or nothing for a tensor without dimensions.
static bool parse_places(ir_parser_t* p, ir_ref_list_t* places) {
  return !ir_parse_try(p, "[") || (ir_parse_refs(p, places) && ir_parse_expect(p, "]"));
}

static ir_op_t* finish(ir_parser_t* p, ir_draft_t* op, const ir_type_t* type) {
  ir_draft_result(p, op, type);
  return ir_parse_attr_dict(p, op) ? ir_draft_finish(p, op) : NULL;
}

#define PRINT_GENERIC(name) \
  static void name##_print(ir_printer_t* pr, ir_op_t* op) { ir_emit_generic(pr, op); }

//===----------------------------------------------------------------------------------------------------------------===
// Ops
//===----------------------------------------------------------------------------------------------------------------===

// %x : type{sizes} [to device]
static ir_op_t* tie_shape_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &value, type) || !add_indices(p, &op, &sizes)) return NULL;
  if (info->code == FLOW_TENSOR_TRANSFER && ir_parse_try(p, "to")) {
    const ir_attr_t* target = ir_parse_attr(p, NULL);
    if (!target) return NULL;
    ir_draft_attr(p, &op, "target", target);
  }
  return finish(p, &op, type);
}
PRINT_GENERIC(tie_shape)

static ir_op_t* convert_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t from = {0}, to = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = parse_tied(p, &from);
  if (!type || !ir_draft_operand(p, &op, &value, type) || !ir_parse_expect(p, "->")) return NULL;
  type = parse_tied(p, &to);
  return type && add_indices(p, &op, &from) && add_indices(p, &op, &to) ? finish(p, &op, type) : NULL;
}
PRINT_GENERIC(convert)

static ir_op_t* empty_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  const ir_type_t* type = ir_parse_expect(p, ":") ? parse_tied(p, &sizes) : NULL;
  return type && add_indices(p, &op, &sizes) ? finish(p, &op, type) : NULL;
}
PRINT_GENERIC(empty)

static ir_op_t* splat_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &value, ir_type_scalar(type)) || !add_indices(p, &op, &sizes)) return NULL;
  return finish(p, &op, type);
}
PRINT_GENERIC(splat)

// %x[%i, %j] : type{sizes}
static ir_op_t* load_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t sizes = {0}, places = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !parse_places(p, &places) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &value, type) || !add_indices(p, &op, &sizes)) return NULL;
  return add_indices(p, &op, &places) ? finish(p, &op, ir_type_scalar(type)) : NULL;
}
PRINT_GENERIC(load)

// %number, %x[%i, %j] : type{sizes}
static ir_op_t* store_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value, target;
  ir_ref_list_t sizes = {0}, places = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ",") || !ir_parse_ref(p, &target)) return NULL;
  if (!parse_places(p, &places) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &value, ir_type_scalar(type)) || !ir_draft_operand(p, &op, &target, type)) {
    return NULL;
  }
  return add_indices(p, &op, &sizes) && add_indices(p, &op, &places) ? finish(p, &op, type) : NULL;
}
PRINT_GENERIC(store)

// %x[%start, ... for %length, ...] : type{sizes} -> type{sizes}
static ir_op_t* slice_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t starts = {0}, lengths = {0}, from = {0}, to = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, "[") || !ir_parse_refs(p, &starts)) return NULL;
  if (!ir_parse_expect(p, "for") || !ir_parse_refs(p, &lengths) || !ir_parse_expect(p, "]")) return NULL;
  const ir_type_t* type = ir_parse_expect(p, ":") ? parse_tied(p, &from) : NULL;
  if (!type || !ir_draft_operand(p, &op, &value, type) || !ir_parse_expect(p, "->")) return NULL;
  type = parse_tied(p, &to);
  bool ok = type && add_indices(p, &op, &from) && add_indices(p, &op, &starts) && add_indices(p, &op, &lengths) &&
            add_indices(p, &op, &to);
  return ok ? finish(p, &op, type) : NULL;
}
PRINT_GENERIC(slice)

// %update, %x[%start, ...] : type{sizes} -> %x as type{sizes}
static ir_op_t* update_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t update, target, again;
  ir_ref_list_t starts = {0}, from = {0}, to = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &update) || !ir_parse_expect(p, ",") || !ir_parse_ref(p, &target)) return NULL;
  const ir_type_t* type = parse_places(p, &starts) && ir_parse_expect(p, ":") ? parse_tied(p, &from) : NULL;
  if (!type || !ir_parse_expect(p, "->")) return NULL;
  if (ir_parse_try_ref(p, &again) && !ir_parse_expect(p, "as")) return NULL;
  const ir_type_t* whole = parse_tied(p, &to);
  bool ok = whole && ir_draft_operand(p, &op, &target, whole) && add_indices(p, &op, &to) &&
            add_indices(p, &op, &starts) && ir_draft_operand(p, &op, &update, type) && add_indices(p, &op, &from);
  return ok ? finish(p, &op, whole) : NULL;
}
PRINT_GENERIC(update)

// [%workload, ...] -> (type{sizes}, ...) { ... }
static ir_op_t* region_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t workload = {0}, sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!parse_places(p, &workload) || !ir_parse_expect(p, "->") || !ir_parse_expect(p, "(")) return NULL;
  while (!ir_parse_peek(p, ")")) {
    const ir_type_t* type = parse_tied(p, &sizes);
    if (!type) return NULL;
    ir_draft_result(p, &op, type);
    if (!ir_parse_try(p, ",")) break;
  }
  if (!ir_parse_expect(p, ")") || !add_indices(p, &op, &workload) || !add_indices(p, &op, &sizes)) return NULL;
  if (!ir_parse_attr_dict_keyword(p, &op) || !ir_draft_region(p, &op, NULL, NULL)) return NULL;
  if (ir_parse_peek(p, "count")) {
    ir_parse_fail(p, "how many workgroups a dispatch has is not read; leave 'count' out, kernels choose it");
    return NULL;
  }
  return ir_draft_finish(p, &op);
}
PRINT_GENERIC(region)

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"flow." #name, FLOW_##ENUM, __VA_ARGS__},
#include "dialects/flow.def"
#undef OP
};
TABLE_DIALECT(flow_dialect, IR_DIALECT_FLOW, "flow", ops);
