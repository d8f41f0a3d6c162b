// The vm dialect: how its ops are read, where no format says it. They print in the generic form.
#include "dialects/vm.h"

#include <string.h>

#include "dialects/table.h"

static ir_op_t* finish(ir_parser_t* p, ir_draft_t* op) {
  return ir_parse_attr_dict(p, op) ? ir_draft_finish(p, op) : NULL;
}

static const ir_type_t* i32_type(ir_parser_t* p) { return ir_type_int(ir_parse_context(p), 32); }

static bool parse_name(ir_parser_t* p, ir_draft_t* op, const char* attr) {
  ir_name_t name = ir_parse_symbol_name(p);
  if (name) ir_draft_attr(p, op, attr, ir_attr_cstring(ir_parse_context(p), name));
  return name != NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Parts of a module
//===----------------------------------------------------------------------------------------------------------------===

//   [visibility] @name [attributes {...}] { ... }
static ir_op_t* module_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  visibility_parse(p, &op);
  if (!parse_name(p, &op, "sym_name") || !ir_parse_attr_dict_keyword(p, &op)) return NULL;
  return ir_draft_region(p, &op, NULL, NULL) ? ir_draft_finish(p, &op) : NULL;
}

//   @function [as("name")] [attributes {...}]
static ir_op_t* export_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  const char* alias = NULL;
  size_t size = 0;
  ir_draft_init(p, &op, info, loc);
  visibility_parse(p, &op);
  ir_name_t function = ir_parse_symbol_name(p);
  if (!function) return NULL;
  if (ir_parse_try(p, "as") &&
      (!ir_parse_expect(p, "(") || !ir_parse_string(p, &alias, &size) || !ir_parse_expect(p, ")"))) {
    return NULL;
  }
  ir_draft_attr(p, &op, "function_ref", ir_attr_symbol(ctx, function));
  ir_draft_attr(p, &op, "export_name", alias ? ir_attr_string(ctx, alias, size) : ir_attr_cstring(ctx, function));
  return ir_parse_attr_dict_keyword(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

// ([%name :] type [...], ...); behind types of which there may be any number are three dots
static bool parse_import_types(ir_parser_t* p, ir_draft_t* op, ir_type_list_t* types) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_named_attr_t mark = {"vm.variadic", ir_attr_unit(ctx)};
  const ir_attr_t *plain = ir_attr_dict(ctx, NULL, 0), *span = ir_attr_dict(ctx, &mark, 1), **attrs = NULL;
  bool has_spans = false;
  ir_ref_t ref;
  if (!ir_parse_expect(p, "(")) return false;
  while (!ir_parse_try(p, ")")) {
    if (types->count && !ir_parse_expect(p, ",")) return false;
    if (ir_parse_try_ref(p, &ref) && !ir_parse_expect(p, ":")) return false;
    const ir_type_t* type = ir_parse_type(p);
    if (!type) return false;
    bool is_span = ir_parse_try(p, "...");
    has_spans |= is_span;
    attrs = ir_parse_grow(p, attrs, types->count, sizeof(*attrs));
    attrs[types->count] = is_span ? span : plain;
    ir_list_add_type(p, types, type);
  }
  if (has_spans) ir_draft_attr(p, op, "arg_attrs", ir_attr_array(ctx, attrs, types->count));
  return true;
}

//   [visibility] [optional] @module.function(%name : type [...], ...) [-> types] [attributes {...}]
static ir_op_t* import_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_type_list_t inputs = {0}, results = {0};
  ir_draft_init(p, &op, info, loc);
  visibility_parse(p, &op);
  if (ir_parse_try(p, "optional")) ir_draft_attr(p, &op, "is_optional", ir_attr_unit(ctx));
  if (!parse_name(p, &op, "sym_name") || !parse_import_types(p, &op, &inputs)) return NULL;
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &results)) return NULL;
  const ir_type_t* type = ir_type_function(ctx, inputs.items, inputs.count, results.items, results.count);
  ir_draft_attr(p, &op, "function_type", ir_attr_type(ctx, type));
  return ir_parse_attr_dict_keyword(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

//   [visibility] @name [{...}] value
static ir_op_t* rodata_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  visibility_parse(p, &op);
  if (!parse_name(p, &op, "sym_name") || !ir_parse_attr_dict(p, &op)) return NULL;
  const ir_attr_t* value = ir_parse_attr(p, NULL);
  if (!value) return NULL;
  ir_draft_attr(p, &op, "value", value);
  return ir_draft_finish(p, &op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Values and control
//===----------------------------------------------------------------------------------------------------------------===

// The type that the op's name has behind its first dot but one: vm.const.i32.
static const ir_type_t* type_of_name(ir_parser_t* p, const ir_op_info_t* info) {
  ir_context_t* ctx = ir_parse_context(p);
  const char* type = strchr(strchr(info->name, '.') + 1, '.') + 1;
  uint32_t width = strstr(type, "64") ? 64 : 32;
  return type[0] == 'i' ? ir_type_int(ctx, width) : ir_type_float(ctx, width == 64 ? IR_F64 : IR_F32);
}

//   value [: type]      nothing of vm.const.*.zero
static ir_op_t* const_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  const ir_type_t* type = type_of_name(p, info);
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (!strstr(info->name, ".zero")) {
    const ir_attr_t* value = ir_parse_attr(p, type);
    if (!value) return NULL;
    ir_draft_attr(p, &op, "value", value);
  }
  ir_draft_result(p, &op, type);
  return finish(p, &op);
}

//   %index[%value, ...] else %default : type      operands are index, default, values
static ir_op_t* switch_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t index, other;
  ir_ref_list_t values = {0};
  const ir_type_t* type = NULL;
  ir_draft_init(p, &op, info, loc);
  bool ok = ir_parse_ref(p, &index) && ir_parse_expect(p, "[") && ir_parse_refs(p, &values) &&
            ir_parse_expect(p, "]") && ir_parse_expect(p, "else") && ir_parse_ref(p, &other) &&
            ir_parse_expect(p, ":") && (type = ir_parse_type(p));
  ok = ok && ir_draft_operand(p, &op, &index, i32_type(p)) && ir_draft_operand(p, &op, &other, type);
  for (uint32_t i = 0; ok && i < values.count; ++i) ok = ir_draft_operand(p, &op, &values.items[i], type);
  if (!ok) return NULL;
  ir_draft_result(p, &op, type);
  return finish(p, &op);
}

//   %condition, ^a(...), ^b(...)
static ir_op_t* cond_br_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t condition;
  ir_draft_init(p, &op, info, loc);
  bool ok = ir_parse_ref(p, &condition) && ir_draft_operand(p, &op, &condition, i32_type(p)) &&
            ir_parse_expect(p, ",") && ir_draft_successor(p, &op) && ir_parse_expect(p, ",") &&
            ir_draft_successor(p, &op);
  return ok ? finish(p, &op) : NULL;
}

//   %index { default: ^a(...), 0: ^b, 1: ^c }
static ir_op_t* br_table_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t index;
  ir_draft_init(p, &op, info, loc);
  bool ok = ir_parse_ref(p, &index) && ir_draft_operand(p, &op, &index, i32_type(p)) && ir_parse_expect(p, "{") &&
            ir_parse_expect(p, "default") && ir_parse_expect(p, ":") && ir_draft_successor(p, &op);
  for (int64_t next = 0, value; ok && ir_parse_try(p, ","); ++next) {
    ok = ir_parse_integer(p, &value) && ir_parse_expect(p, ":");
    if (ok && value != next) return ir_parse_fail(p, "expected cases from 0 on, in order"), NULL;
    ok = ok && ir_draft_successor(p, &op);
  }
  return ok && ir_parse_expect(p, "}") ? finish(p, &op) : NULL;
}

//   [%condition,] %status [, "message"]
static ir_op_t* cond_fail_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t ref;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &ref) || !ir_draft_operand(p, &op, &ref, i32_type(p))) return NULL;
  while (ir_parse_try(p, ",")) {
    if (ir_parse_next(p) == '"') {
      const ir_attr_t* message = ir_parse_attr(p, NULL);
      if (!message) return NULL;
      ir_draft_attr(p, &op, "message", message);
      break;
    }
    if (op.operands.count == 2) return ir_parse_fail(p, "expected a message"), NULL;
    if (!ir_parse_ref(p, &ref) || !ir_draft_operand(p, &op, &ref, i32_type(p))) return NULL;
  }
  return finish(p, &op);
}

// %a, %b    or, of tuples,    (%a, %b), (%c, %d)    up to the bracket
static bool parse_span(ir_parser_t* p, ir_ref_list_t* refs) {
  for (bool first = true; !ir_parse_try(p, "]"); first = false) {
    if (!first && !ir_parse_expect(p, ",")) return false;
    if (ir_parse_try(p, "(")) {
      if (!ir_parse_refs(p, refs) || !ir_parse_expect(p, ")")) return false;
    } else {
      ir_ref_t ref;
      if (!ir_parse_ref(p, &ref)) return false;
      ir_list_add_ref(p, refs, &ref);
    }
  }
  return true;
}

// A call's arguments: values, and spans of any number of them.
typedef struct spans_t {
  ir_ref_list_t refs;  // all of them
  ir_type_list_t types;
  int64_t* sizes;  // how many refs each argument is; -1: it is no span
  const ir_attr_t** segment_types;
  uint32_t count;
} spans_t;

//   (%a, [%b, %c], ...)
static bool parse_span_values(ir_parser_t* p, spans_t* spans) {
  if (!ir_parse_expect(p, "(")) return false;
  while (!ir_parse_try(p, ")")) {
    if (spans->count && !ir_parse_expect(p, ",")) return false;
    uint32_t before = spans->refs.count;
    bool is_span = ir_parse_try(p, "[");
    ir_ref_t ref;
    if (is_span ? !parse_span(p, &spans->refs) : !ir_parse_ref(p, &ref)) return false;
    if (!is_span) ir_list_add_ref(p, &spans->refs, &ref);
    spans->sizes = ir_parse_grow(p, spans->sizes, spans->count, sizeof(*spans->sizes));
    spans->sizes[spans->count++] = is_span ? (int64_t)(spans->refs.count - before) : -1;
  }
  return true;
}

// The type of one argument; its size becomes that in tuples.
static bool add_span_type(ir_parser_t* p, spans_t* spans, uint32_t index, const ir_type_t* type, bool is_span) {
  int64_t* size = &spans->sizes[index];
  if (is_span != (*size >= 0)) return ir_parse_fail(p, "expected dots behind the types of spans, and of no others");
  if (!is_span) return ir_list_add_type(p, &spans->types, type), true;
  bool is_tuple = type->kind == IR_TYPE_TUPLE;
  uint32_t width = is_tuple ? type->input_count : 1;
  if (!width || *size % width) return ir_parse_fail(p, "expected whole tuples");
  for (uint32_t i = 0; i < *size; ++i) ir_list_add_type(p, &spans->types, is_tuple ? type->inputs[i % width] : type);
  *size /= width;
  return true;
}

//   : (type, type ..., ...)
static bool parse_span_types(ir_parser_t* p, spans_t* spans) {
  uint32_t index = 0;
  spans->segment_types = ir_parse_scratch(p, (spans->count + 1) * sizeof(*spans->segment_types));
  if (!ir_parse_expect(p, ":") || !ir_parse_expect(p, "(")) return false;
  for (; !ir_parse_try(p, ")"); ++index) {
    if (index == spans->count) return ir_parse_fail(p, "expected as many types as arguments");
    if (index && !ir_parse_expect(p, ",")) return false;
    const ir_type_t* type = ir_parse_type(p);
    if (!type || !add_span_type(p, spans, index, type, ir_parse_try(p, "..."))) return false;
    spans->segment_types[index] = ir_attr_type(ir_parse_context(p), type);
  }
  return index == spans->count || ir_parse_fail(p, "expected as many types as arguments");
}

//   @function(%a, [%b, %c], ...) : (type, type ..., ...) [-> types]
static ir_op_t* call_variadic_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  spans_t spans = {0};
  ir_type_list_t results = {0};
  ir_draft_init(p, &op, info, loc);
  ir_name_t callee = ir_parse_symbol_name(p);
  if (!callee || !parse_span_values(p, &spans) || !ir_parse_attr_dict(p, &op) || !parse_span_types(p, &spans) ||
      !ir_draft_operands(p, &op, &spans.refs, &spans.types)) {
    return NULL;
  }
  if (ir_parse_try(p, "->") && !ir_parse_result_types(p, &results)) return NULL;
  int16_t* sizes = ir_parse_scratch(p, (spans.count + 1) * sizeof(*sizes));
  for (uint32_t i = 0; i < spans.count; ++i) {
    if (spans.sizes[i] > INT16_MAX) return ir_parse_fail(p, "expected at most 32767 in a span"), NULL;
    sizes[i] = (int16_t)spans.sizes[i];
  }
  const ir_type_t* type = ir_type_vector(ctx, ir_type_int(ctx, 16), 1, &(int64_t){spans.count});
  ir_draft_attr(p, &op, "callee", ir_attr_symbol(ctx, callee));
  ir_draft_attr(p, &op, "segment_sizes", ir_attr_elements(ctx, type, sizes, spans.count * sizeof(*sizes)));
  ir_draft_attr(p, &op, "segment_types", ir_attr_array(ctx, spans.segment_types, spans.count));
  ir_draft_results(p, &op, &results);
  return ir_draft_finish(p, &op);
}

//   @function(%a, ...) {...} : (types) -> ^block (types)      segment_sizes of variadic ones are among the attributes
static ir_op_t* call_yieldable_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  ir_type_list_t types = {0}, results = {0};
  ir_draft_init(p, &op, info, loc);
  ir_name_t callee = ir_parse_symbol_name(p);
  bool ok = callee && ir_parse_expect(p, "(") && ir_parse_refs(p, &refs) && ir_parse_expect(p, ")") &&
            ir_parse_attr_dict(p, &op) && ir_parse_expect(p, ":") && ir_parse_types_in_parens(p, &types) &&
            ir_draft_operands(p, &op, &refs, &types) && ir_parse_expect(p, "->") && ir_draft_block(p, &op);
  if (ok && ir_parse_peek(p, "(")) ok = ir_parse_types_in_parens(p, &results);
  if (!ok) return NULL;
  const ir_attr_t** attrs = ir_parse_scratch(p, (results.count + 1) * sizeof(*attrs));
  for (uint32_t i = 0; i < results.count; ++i) attrs[i] = ir_attr_type(ctx, results.items[i]);
  ir_draft_attr(p, &op, "callee", ir_attr_symbol(ctx, callee));
  ir_draft_attr(p, &op, "result_types", ir_attr_array(ctx, attrs, results.count));
  return ir_draft_finish(p, &op);
}

//   i32 {...} : type, type = [value, ...]      one buffer of pairs of an offset and a size, and one of the values
static ir_op_t* rodata_table_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_type_list_t types = {0};
  const ir_attr_t* values = NULL;
  ir_draft_init(p, &op, info, loc);
  const ir_type_t* type = ir_parse_type(p);
  bool ok = type && ir_parse_attr_dict(p, &op) && ir_parse_expect(p, ":") && ir_parse_types(p, &types) &&
            ir_parse_expect(p, "=") && (values = ir_parse_attr(p, NULL));
  if (!ok) return NULL;
  ir_draft_attr(p, &op, "table_type", ir_attr_type(ir_parse_context(p), type));
  ir_draft_attr(p, &op, "data_array", values);
  ir_draft_results(p, &op, &types);
  return ir_draft_finish(p, &op);
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, operands, results, regions, traits, verify, assembly, how) \
  {"vm." #name, VM_##ENUM, operands, results, regions, traits, verify, assembly},
#include "dialects/vm.def"
#undef OP
};
TABLE_DIALECT(vm_dialect, IR_DIALECT_VM, "vm", ops);
