// See dispatch.h. Operands of dispatches are workload, arguments, sizes of arguments, sizes of results, counted by
// operandSegmentSizes; tied_operands has for each result the argument whose memory it is, or -1.
#include "dialects/dispatch.h"

#include <string.h>

//===----------------------------------------------------------------------------------------------------------------===
// Pieces
//===----------------------------------------------------------------------------------------------------------------===

const ir_type_t* dispatch_parse_tied(ir_parser_t* p, ir_ref_list_t* sizes) {
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_parse_try(p, "{")) return type;
  return ir_parse_refs(p, sizes) && ir_parse_expect(p, "}") ? type : NULL;
}

bool dispatch_add_indices(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs) {
  for (uint32_t i = 0; i < refs->count; ++i) {
    if (!ir_draft_operand(p, op, &refs->items[i], ir_type_index(ir_parse_context(p)))) return false;
  }
  return true;
}

bool dispatch_parse_places(ir_parser_t* p, ir_ref_list_t* places) {
  return !ir_parse_try(p, "[") || (ir_parse_refs(p, places) && ir_parse_expect(p, "]"));
}

// (%a: type, ...)
static bool parse_arguments(ir_parser_t* p, ir_ref_list_t* refs, ir_type_list_t* types) {
  ir_ref_t ref;
  if (!ir_parse_expect(p, "(")) return false;
  while (!ir_parse_try(p, ")")) {
    const ir_type_t* type = NULL;
    if (refs->count && !ir_parse_expect(p, ",")) return false;
    if (!ir_parse_ref(p, &ref) || !ir_parse_expect(p, ":") || !(type = ir_parse_type(p))) return false;
    ir_list_add_ref(p, refs, &ref);
    ir_list_add_type(p, types, type);
  }
  return true;
}

bool dispatch_parse_count(ir_parser_t* p, ir_draft_t* op, const char* word) {
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0}, results = {0};
  if (!ir_parse_try(p, word)) return true;
  return parse_arguments(p, &refs, &types) && ir_parse_expect(p, "->") && ir_parse_types_in_parens(p, &results) &&
         ir_draft_region(p, op, &refs, &types);
}

bool dispatch_parse_name(ir_parser_t* p, ir_draft_t* op) {
  visibility_parse(p, op);
  ir_name_t name = ir_parse_symbol_name(p);
  if (name) ir_draft_attr(p, op, "sym_name", ir_attr_cstring(ir_parse_context(p), name));
  return name != NULL;
}

static ir_op_t* finish(ir_parser_t* p, ir_draft_t* op, const ir_type_t* type) {
  if (type) ir_draft_result(p, op, type);
  return ir_parse_attr_dict(p, op) ? ir_draft_finish(p, op) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

ir_op_t* executable_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (!dispatch_parse_name(p, &op) || !ir_parse_attr_dict_keyword(p, &op)) return NULL;
  return ir_draft_region(p, &op, NULL, NULL) ? ir_draft_finish(p, &op) : NULL;
}

ir_op_t* export_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (!dispatch_parse_name(p, &op)) return NULL;
  const ir_attr_t* name = ir_draft_find_attr(&op, "sym_name");
  ir_draft_attr(p, &op, "function_ref", ir_attr_symbol(ctx, name->text));
  if (ir_parse_try(p, "as")) {
    const char* alias = NULL;
    size_t size = 0;
    if (!ir_parse_expect(p, "(") || !ir_parse_string(p, &alias, &size) || !ir_parse_expect(p, ")")) return NULL;
    for (uint32_t i = 0; i < op.attrs.count; ++i) {
      if (op.attrs.items[i].value == name) op.attrs.items[i].value = ir_attr_string(ctx, alias, size);
    }
  }
  if (!dispatch_parse_count(p, &op, "workgroups") || !ir_parse_attr_dict_keyword(p, &op)) return NULL;
  return ir_draft_finish(p, &op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

typedef struct call_t {
  ir_ref_list_t workload, arguments, argument_sizes, result_sizes;
  ir_type_list_t types;
  int64_t tied[64];
} call_t;

// A type, or the argument whose memory and type the result has: `%a{sizes}`, `%a as type{sizes}`.
static bool parse_result(ir_parser_t* p, ir_draft_t* op, call_t* call) {
  ir_ref_t ref;
  uint32_t number = op->results.count;
  if (number == 64) return ir_parse_fail(p, "expected at most 64 results");
  call->tied[number] = -1;
  const ir_type_t* type = NULL;
  if (ir_parse_try_ref(p, &ref)) {
    for (uint32_t i = 0; i < call->arguments.count && call->tied[number] < 0; ++i) {
      const ir_ref_t* other = &call->arguments.items[i];
      bool same = other->size == ref.size && other->number == ref.number && !memcmp(other->name, ref.name, ref.size);
      if (same) call->tied[number] = i;
    }
    if (call->tied[number] < 0) return ir_parse_fail_at(p, &ref, "expected an argument of the dispatch");
    type = call->types.items[call->tied[number]];
    if (ir_parse_try(p, "as") && !(type = ir_parse_type(p))) return false;
    if (ir_parse_try(p, "{") && (!ir_parse_refs(p, &call->result_sizes) || !ir_parse_expect(p, "}"))) return false;
  } else if (!(type = dispatch_parse_tied(p, &call->result_sizes))) {
    return false;
  }
  ir_draft_result(p, op, type);
  return true;
}

// (type{sizes}, ...) -> result or (result, ...)
static bool parse_call_types(ir_parser_t* p, ir_draft_t* op, call_t* call) {
  if (!ir_parse_expect(p, "(")) return false;
  while (!ir_parse_try(p, ")")) {
    if (call->types.count && !ir_parse_expect(p, ",")) return false;
    const ir_type_t* type = dispatch_parse_tied(p, &call->argument_sizes);
    if (!type) return false;
    ir_list_add_type(p, &call->types, type);
  }
  if (!ir_parse_expect(p, "->")) return false;
  if (!ir_parse_try(p, "(")) return parse_result(p, op, call);
  while (!ir_parse_try(p, ")")) {
    if (op->results.count && !ir_parse_expect(p, ",")) return false;
    if (!parse_result(p, op, call)) return false;
  }
  return true;
}

static bool add_call(ir_parser_t* p, ir_draft_t* op, const call_t* call) {
  ir_context_t* ctx = ir_parse_context(p);
  int32_t segments[] = {(int32_t)call->workload.count, (int32_t)call->arguments.count,
                        (int32_t)call->argument_sizes.count, (int32_t)call->result_sizes.count};
  ir_draft_attr(p, op, "operandSegmentSizes", ir_attr_dense_array(ctx, ir_type_int(ctx, 32), segments, 4));
  ir_draft_attr(p, op, "tied_operands", ir_attr_i64_array(ctx, call->tied, op->results.count));
  return dispatch_add_indices(p, op, &call->workload) && ir_draft_operands(p, op, &call->arguments, &call->types) &&
         dispatch_add_indices(p, op, &call->argument_sizes) && dispatch_add_indices(p, op, &call->result_sizes);
}

static bool parse_call(ir_parser_t* p, call_t* call) {
  return dispatch_parse_places(p, &call->workload) && ir_parse_expect(p, "(") && ir_parse_refs(p, &call->arguments) &&
         ir_parse_expect(p, ")");
}

bool dispatch_parse_call(ir_parser_t* p, ir_draft_t* op) {
  call_t call = {0};
  return parse_call(p, &call) && ir_parse_expect(p, ":") && parse_call_types(p, op, &call) && add_call(p, op, &call);
}

ir_op_t* call_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  call_t call = {0};
  ir_draft_init(p, &op, info, loc);
  bool several = ir_parse_try(p, "{");  // of variants, of which the first counts
  const ir_attr_t* entry = ir_parse_symbol(p);
  if (!entry) return NULL;
  ir_draft_attr(p, &op, "entry_points", entry);
  while (several && ir_parse_try(p, ",")) {
    if (!ir_parse_symbol(p)) return NULL;
  }
  if (several && !ir_parse_expect(p, "}")) return NULL;
  bool ok = parse_call(p, &call) && ir_parse_attr_dict(p, &op) && ir_parse_expect(p, ":") &&
            parse_call_types(p, &op, &call) && add_call(p, &op, &call);
  return ok ? ir_draft_finish(p, &op) : NULL;
}

ir_op_t* workgroups_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  call_t call = {0};
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0};
  ir_draft_init(p, &op, info, loc);
  bool ok = parse_call(p, &call) && ir_parse_expect(p, ":") && parse_call_types(p, &op, &call) &&
            ir_parse_attr_dict_keyword(p, &op) && ir_parse_expect(p, "=") && add_call(p, &op, &call) &&
            parse_arguments(p, &refs, &types) && ir_draft_region(p, &op, &refs, &types) &&
            dispatch_parse_count(p, &op, "count");
  return ok ? ir_draft_finish(p, &op) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Inside of dispatches
//===----------------------------------------------------------------------------------------------------------------===

// `, word = [%a, 1, ...]`: values to the operands, numbers to the attribute.
static bool parse_mixed(ir_parser_t* p, ir_ref_list_t* values, ir_draft_t* op, const char* word, const char* name) {
  enum { MAX = 32 };
  int64_t numbers[MAX];
  uint32_t count = 0;
  ir_ref_t ref;
  if (!ir_parse_expect(p, ",") || !ir_parse_expect(p, word) || !ir_parse_expect(p, "=") || !ir_parse_expect(p, "["))
    return false;
  while (!ir_parse_try(p, "]")) {
    if (count && !ir_parse_expect(p, ",")) return false;
    if (count == MAX) return ir_parse_fail(p, "expected at most %d dimensions", MAX);
    numbers[count] = IR_DYNAMIC;
    if (ir_parse_try_ref(p, &ref)) {
      ir_list_add_ref(p, values, &ref);
    } else if (!ir_parse_integer(p, &numbers[count])) {
      return false;
    }
    ++count;
  }
  ir_draft_attr(p, op, name, ir_attr_i64_array(ir_parse_context(p), numbers, count));
  return true;
}

static bool parse_slice(ir_parser_t* p, ir_ref_list_t* values, ir_draft_t* op) {
  return parse_mixed(p, values, op, "offsets", "static_offsets") &&
         parse_mixed(p, values, op, "sizes", "static_sizes") && parse_mixed(p, values, op, "strides", "static_strides");
}

ir_op_t* tensor_load_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t source;
  ir_ref_list_t values = {0}, sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &source) || !parse_slice(p, &values, &op) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = dispatch_parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &source, type) || !dispatch_add_indices(p, &op, &values)) return NULL;
  type = ir_parse_expect(p, "->") ? dispatch_parse_tied(p, &sizes) : NULL;
  return type ? finish(p, &op, type) : NULL;
}

ir_op_t* tensor_store_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value, target;
  ir_ref_list_t values = {0}, sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ",") || !ir_parse_ref(p, &target)) return NULL;
  if (!parse_slice(p, &values, &op) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = dispatch_parse_tied(p, &sizes);
  if (!type || !ir_draft_operand(p, &op, &value, type) || !ir_parse_expect(p, "->")) return NULL;
  type = dispatch_parse_tied(p, &sizes);
  bool ok = type && ir_draft_operand(p, &op, &target, type) && dispatch_add_indices(p, &op, &values);
  return ok ? finish(p, &op, NULL) : NULL;
}

ir_op_t* ordinal_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t value;
  int64_t number = 0;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &value) || !ir_parse_expect(p, ",") || !ir_parse_integer(p, &number)) return NULL;
  ir_draft_attr(p, &op, "ordinal", ir_attr_i64(ir_parse_context(p), number));
  const ir_type_t* type = ir_parse_expect(p, ":") ? ir_parse_type(p) : NULL;
  return type && ir_draft_operand(p, &op, &value, type) ? finish(p, &op, type) : NULL;
}

ir_op_t* from_slice_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  bool enclosed = ir_parse_try(p, "(");
  if (!ir_parse_refs(p, &refs) || (enclosed && !ir_parse_expect(p, ")"))) return NULL;
  if (!dispatch_add_indices(p, &op, &refs)) return NULL;
  for (int i = 0; i < 3; ++i) ir_draft_result(p, &op, ir_type_index(ir_parse_context(p)));
  return finish(p, &op, NULL);
}

ir_op_t* subspan_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t binding;
  ir_ref_list_t places = {0}, sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &binding) || !dispatch_parse_places(p, &places) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_draft_operand(p, &op, &binding, type) || !ir_parse_expect(p, "->")) return NULL;
  type = dispatch_parse_tied(p, &sizes);
  bool ok = type && dispatch_add_indices(p, &op, &places) && dispatch_add_indices(p, &op, &sizes);
  return ok ? finish(p, &op, type) : NULL;
}
