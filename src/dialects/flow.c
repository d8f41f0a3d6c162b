// The flow dialect.
#include "dialects/flow.h"

#include "dialects/dispatch.h"

static ir_op_t* finish(ir_parser_t* p, ir_draft_t* op, const ir_type_t* type) {
  ir_draft_result(p, op, type);
  return ir_parse_attr_dict(p, op) ? ir_draft_finish(p, op) : NULL;
}

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
  const ir_type_t* type = dispatch_parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &value, type) || !dispatch_add_indices(p, &op, &sizes)) return NULL;
  if (info->code == FLOW_TENSOR_TRANSFER && ir_parse_try(p, "to")) {
    const ir_attr_t* target = ir_parse_attr(p, NULL);
    if (!target) return NULL;
    ir_draft_attr(p, &op, "target", target);
  }
  return finish(p, &op, type);
}

static ir_op_t* convert_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t from = {0}, to = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = dispatch_parse_tied(p, &from);
  if (!type || !ir_draft_operand(p, &op, &value, type) || !ir_parse_expect(p, "->")) return NULL;
  type = dispatch_parse_tied(p, &to);
  return type && dispatch_add_indices(p, &op, &from) && dispatch_add_indices(p, &op, &to) ? finish(p, &op, type) : NULL;
}

static ir_op_t* empty_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  const ir_type_t* type = ir_parse_expect(p, ":") ? dispatch_parse_tied(p, &sizes) : NULL;
  return type && dispatch_add_indices(p, &op, &sizes) ? finish(p, &op, type) : NULL;
}

static ir_op_t* splat_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = dispatch_parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &value, ir_type_scalar(type)) || !dispatch_add_indices(p, &op, &sizes))
    return NULL;
  return finish(p, &op, type);
}

// %x[%i, %j] : type{sizes}
static ir_op_t* load_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t sizes = {0}, places = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !dispatch_parse_places(p, &places) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = dispatch_parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &value, type) || !dispatch_add_indices(p, &op, &sizes)) return NULL;
  return dispatch_add_indices(p, &op, &places) ? finish(p, &op, ir_type_scalar(type)) : NULL;
}

// %number, %x[%i, %j] : type{sizes}
static ir_op_t* store_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value, target;
  ir_ref_list_t sizes = {0}, places = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ",") || !ir_parse_ref(p, &target)) return NULL;
  if (!dispatch_parse_places(p, &places) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = dispatch_parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &value, ir_type_scalar(type)) || !ir_draft_operand(p, &op, &target, type)) {
    return NULL;
  }
  return dispatch_add_indices(p, &op, &sizes) && dispatch_add_indices(p, &op, &places) ? finish(p, &op, type) : NULL;
}

// %x[%start, ... for %length, ...] : type{sizes} -> type{sizes}
static ir_op_t* slice_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  ir_ref_list_t starts = {0}, lengths = {0}, from = {0}, to = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, "[") || !ir_parse_refs(p, &starts)) return NULL;
  if (!ir_parse_expect(p, "for") || !ir_parse_refs(p, &lengths) || !ir_parse_expect(p, "]")) return NULL;
  const ir_type_t* type = ir_parse_expect(p, ":") ? dispatch_parse_tied(p, &from) : NULL;
  if (!type || !ir_draft_operand(p, &op, &value, type) || !ir_parse_expect(p, "->")) return NULL;
  type = dispatch_parse_tied(p, &to);
  bool ok = type && dispatch_add_indices(p, &op, &from) && dispatch_add_indices(p, &op, &starts) &&
            dispatch_add_indices(p, &op, &lengths) && dispatch_add_indices(p, &op, &to);
  return ok ? finish(p, &op, type) : NULL;
}

// %update, %x[%start, ...] : type{sizes} -> %x as type{sizes}
static ir_op_t* update_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t update, target, again;
  ir_ref_list_t starts = {0}, from = {0}, to = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &update) || !ir_parse_expect(p, ",") || !ir_parse_ref(p, &target)) return NULL;
  const ir_type_t* type =
      dispatch_parse_places(p, &starts) && ir_parse_expect(p, ":") ? dispatch_parse_tied(p, &from) : NULL;
  if (!type || !ir_parse_expect(p, "->")) return NULL;
  if (ir_parse_try_ref(p, &again) && !ir_parse_expect(p, "as")) return NULL;
  const ir_type_t* whole = dispatch_parse_tied(p, &to);
  bool ok = whole && ir_draft_operand(p, &op, &target, whole) && dispatch_add_indices(p, &op, &to) &&
            dispatch_add_indices(p, &op, &starts) && ir_draft_operand(p, &op, &update, type) &&
            dispatch_add_indices(p, &op, &from);
  return ok ? finish(p, &op, whole) : NULL;
}

// [%workload, ...] -> (type{sizes}, ...) { ... }
static ir_op_t* region_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t workload = {0}, sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!dispatch_parse_places(p, &workload) || !ir_parse_expect(p, "->") || !ir_parse_expect(p, "(")) return NULL;
  while (!ir_parse_peek(p, ")")) {
    const ir_type_t* type = dispatch_parse_tied(p, &sizes);
    if (!type) return NULL;
    ir_draft_result(p, &op, type);
    if (!ir_parse_try(p, ",")) break;
  }
  if (!ir_parse_expect(p, ")") || !dispatch_add_indices(p, &op, &workload) || !dispatch_add_indices(p, &op, &sizes))
    return NULL;
  if (!ir_parse_attr_dict_keyword(p, &op) || !ir_draft_region(p, &op, NULL, NULL)) return NULL;
  return dispatch_parse_count(p, &op, "count") ? ir_draft_finish(p, &op) : NULL;
}

// "key" = [%x : type{sizes}, ...]
static ir_op_t* trace_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  const char* key = NULL;
  size_t size = 0;
  if (!ir_parse_string(p, &key, &size) || !ir_parse_expect(p, "=") || !ir_parse_expect(p, "[")) return NULL;
  ir_draft_attr(p, &op, "key", ir_attr_string(ir_parse_context(p), key, size));
  while (!ir_parse_try(p, "]")) {
    ir_ref_t value;
    const ir_type_t* type = NULL;
    if (op.operands.count && !ir_parse_expect(p, ",")) return NULL;
    if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ":") || !(type = dispatch_parse_tied(p, &sizes))) return NULL;
    if (!ir_draft_operand(p, &op, &value, type)) return NULL;
  }
  int32_t segments[] = {(int32_t)op.operands.count, (int32_t)sizes.count};
  const ir_type_t* i32 = ir_type_int(ir_parse_context(p), 32);
  ir_draft_attr(p, &op, "operandSegmentSizes", ir_attr_dense_array(ir_parse_context(p), i32, segments, 2));
  if (!dispatch_add_indices(p, &op, &sizes) || !ir_parse_attr_dict(p, &op)) return NULL;
  return ir_draft_finish(p, &op);
}

// [%scope::]%key[%offset] : type{sizes}
static ir_op_t* parameter_load_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_t names[2], offset;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &names[0])) return NULL;
  uint32_t count = 1 + ir_parse_try(p, "::");
  if (count == 2 && !ir_parse_ref(p, &names[1])) return NULL;
  if (!ir_parse_expect(p, "[") || !ir_parse_ref(p, &offset) || !ir_parse_expect(p, "]")) return NULL;
  const ir_type_t *type = ir_parse_expect(p, ":") ? dispatch_parse_tied(p, &sizes) : NULL,
                  *buffer = ir_type_opaque(ctx, "util.buffer", NULL);
  for (uint32_t i = 0; type && i < count; ++i) {
    if (!ir_draft_operand(p, &op, &names[i], buffer)) return NULL;
  }
  if (!type || !ir_draft_operand(p, &op, &offset, ir_type_int(ctx, 64)) || !dispatch_add_indices(p, &op, &sizes)) {
    return NULL;
  }
  int32_t segments[] = {(int32_t)count - 1, 1, 1, (int32_t)sizes.count};
  ir_draft_attr(p, &op, "operandSegmentSizes", ir_attr_dense_array(ctx, ir_type_int(ctx, 32), segments, 4));
  ir_draft_result(p, &op, type);
  return ir_parse_attr_dict_keyword(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"flow." #name, FLOW_##ENUM, __VA_ARGS__},
#include "dialects/flow.def"
#undef OP
};
TABLE_DIALECT(flow_dialect, IR_DIALECT_FLOW, "flow", ops);
