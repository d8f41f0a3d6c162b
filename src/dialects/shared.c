// Hooks that several dialects share: constants and functions.
#include <string.h>

#include "dialects/table.h"

//===----------------------------------------------------------------------------------------------------------------===
// Constants
//===----------------------------------------------------------------------------------------------------------------===

// stablehlo.constant() {value = ...} : () -> type, an older spelling.
static ir_op_t* parse_long_constant(ir_parser_t* p, ir_draft_t* op) {
  ir_type_list_t none = {0};
  bool ok = ir_parse_expect(p, "(") && ir_parse_expect(p, ")") && ir_parse_properties(p, op) &&
            ir_parse_attr_dict(p, op) && ir_parse_expect(p, ":") && ir_parse_types_in_parens(p, &none) &&
            ir_parse_expect(p, "->") && ir_parse_result_types(p, &op->results);
  return ok ? ir_draft_finish(p, op) : NULL;
}

ir_op_t* constant_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_next(p) == '(') return parse_long_constant(p, &op);
  if (!ir_parse_attr_dict(p, &op)) return NULL;
  const ir_attr_t* value = ir_parse_attr(p, NULL);
  if (!value) return NULL;
  const ir_type_t* type = ir_attr_own_type(value);
  if (!type) return ir_parse_fail(p, "expected a constant that has a type"), NULL;
  ir_draft_attr(p, &op, "value", value);
  ir_draft_result(p, &op, type);
  return ir_draft_finish(p, &op);
}

void constant_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"value", NULL};
  const ir_attr_t* value = ir_op_attr(op, "value");
  bool fits = value && op->result_count == 1 && !op->operand_count && ir_attr_own_type(value) == op->results[0].type;
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " ");
  ir_emit_attr(pr, value);
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct signature_t {
  ir_ref_list_t refs;
  ir_type_list_t inputs, results;
  ir_attr_list_t input_attrs, result_attrs;  // names unused
} signature_t;

// [%name:] type {attrs} loc(...)
static bool parse_argument(ir_parser_t* p, signature_t* out) {
  ir_ref_t ref;
  const ir_loc_t* ignored;
  bool named = ir_parse_try_ref(p, &ref);
  if ((out->inputs.count && named != (out->refs.count > 0)) || (named && !ir_parse_expect(p, ":"))) {
    return ir_parse_fail(p, "expected names for all arguments or for none");
  }
  const ir_type_t* type = ir_parse_type(p);
  const ir_attr_t* attrs = type ? ir_parse_optional_dict(p) : NULL;
  if (!attrs || !ir_parse_optional_loc(p, &ignored)) return false;
  if (named) ir_list_add_ref(p, &out->refs, &ref);
  ir_list_add_type(p, &out->inputs, type);
  ir_list_add_named_attr(p, &out->input_attrs, "", attrs);
  return true;
}

static bool parse_result(ir_parser_t* p, signature_t* out) {
  ir_ref_t tied;  // `%arg as type`: which argument's memory the result takes, a hint
  if (ir_parse_try_ref(p, &tied) && !ir_parse_expect(p, "as")) return false;
  const ir_type_t* type = ir_parse_type(p);
  const ir_attr_t* attrs = type ? ir_parse_optional_dict(p) : NULL;
  if (!attrs) return false;
  ir_list_add_type(p, &out->results, type);
  ir_list_add_named_attr(p, &out->result_attrs, "", attrs);
  return true;
}

static bool parse_signature(ir_parser_t* p, signature_t* out) {
  if (!ir_parse_expect(p, "(")) return false;
  while (!ir_parse_try(p, ")")) {
    if (out->inputs.count && !ir_parse_expect(p, ",")) return false;
    if (!parse_argument(p, out)) return false;
  }
  if (!ir_parse_try(p, "->")) return true;
  if (!ir_parse_try(p, "(")) return ir_parse_types(p, &out->results);
  while (!ir_parse_try(p, ")")) {
    if (out->results.count && !ir_parse_expect(p, ",")) return false;
    if (!parse_result(p, out)) return false;
  }
  return true;
}

// [{a = 1}, {}], when any of them says something.
static void add_dicts(ir_parser_t* p, ir_draft_t* op, const char* name, const ir_attr_list_t* dicts) {
  bool any = false;
  const ir_attr_t** items = ir_parse_scratch(p, sizeof(*items) * (dicts->count + 1));
  for (uint32_t i = 0; i < dicts->count; ++i) {
    items[i] = dicts->items[i].value;
    any |= items[i]->count > 0;
  }
  if (any) ir_draft_attr(p, op, name, ir_attr_array(ir_parse_context(p), items, dicts->count));
}

void visibility_parse(ir_parser_t* p, ir_draft_t* op) {
  static const char* const words[] = {"private", "public", "nested"};
  for (int i = 0; i < 3; ++i) {
    if (!ir_parse_try(p, words[i])) continue;
    ir_draft_attr(p, op, "sym_visibility", ir_attr_cstring(ir_parse_context(p), words[i]));
    return;
  }
}

ir_op_t* function_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  signature_t s;
  memset(&s, 0, sizeof(s));
  ir_draft_init(p, &op, info, loc);
  visibility_parse(p, &op);
  ir_name_t name = ir_parse_symbol_name(p);
  if (!name || !parse_signature(p, &s)) return NULL;
  const ir_type_t* type = ir_type_function(ctx, s.inputs.items, s.inputs.count, s.results.items, s.results.count);
  ir_draft_attr(p, &op, "sym_name", ir_attr_cstring(ctx, name));
  ir_draft_attr(p, &op, "function_type", ir_attr_type(ctx, type));
  add_dicts(p, &op, "arg_attrs", &s.input_attrs);
  add_dicts(p, &op, "res_attrs", &s.result_attrs);
  if (!ir_parse_attr_dict_keyword(p, &op)) return NULL;
  if (ir_parse_next(p) != '{') {
    ir_draft_empty_region(p, &op);
  } else if (s.inputs.count && !s.refs.count) {
    return ir_parse_fail(p, "expected names for the arguments of a function with a body"), NULL;
  } else if (!ir_draft_region(p, &op, &s.refs, &s.inputs)) {
    return NULL;
  }
  return ir_draft_finish(p, &op);
}

static bool is_dict_list(const ir_attr_t* attr, uint32_t count) {
  if (!attr) return true;
  if (attr->kind != IR_ATTR_ARRAY || attr->count != count) return false;
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (attr->items[i]->kind != IR_ATTR_DICT) return false;
    any |= attr->items[i]->count > 0;
  }
  return any;
}

static const ir_type_t* function_type(const ir_op_t* op) {
  const ir_attr_t* type = ir_op_attr(op, "function_type");
  return type && type->kind == IR_ATTR_TYPE && type->type->kind == IR_TYPE_FUNCTION ? type->type : NULL;
}

// The signature written can be read back: names are strings, the body's arguments are the type's.
static bool function_fits(const ir_op_t* op) {
  const ir_type_t* type = function_type(op);
  const char* visibility = ir_op_string(op, "sym_visibility", "private");
  if (!type || !ir_op_string(op, "sym_name", NULL) || !op->region_count) return false;
  if (strcmp(visibility, "private") && strcmp(visibility, "public") && strcmp(visibility, "nested")) return false;
  if (!is_dict_list(ir_op_attr(op, "arg_attrs"), type->input_count)) return false;
  if (!is_dict_list(ir_op_attr(op, "res_attrs"), type->result_count)) return false;
  const ir_block_t* entry = op->regions[0].first;
  if (!entry) return true;
  if (!entry->first || entry->arg_count != type->input_count) return false;
  for (uint32_t i = 0; i < type->input_count; ++i) {
    if (entry->args[i]->type != type->inputs[i]) return false;
  }
  return true;
}

static void print_dict(ir_printer_t* pr, const ir_attr_t* dicts, uint32_t i) {
  if (!dicts || !dicts->items[i]->count) return;
  ir_emit(pr, " ");
  ir_emit_attr(pr, dicts->items[i]);
}

static void print_signature(ir_printer_t* pr, const ir_op_t* op) {
  const ir_type_t* type = function_type(op);
  const ir_attr_t *inputs = ir_op_attr(op, "arg_attrs"), *results = ir_op_attr(op, "res_attrs");
  const ir_block_t* entry = op->regions[0].first;
  ir_emit(pr, "(");
  for (uint32_t i = 0; i < type->input_count; ++i) {
    if (i) ir_emit(pr, ", ");
    if (entry) {
      ir_emit_value(pr, entry->args[i]);
      ir_emit(pr, ": ");
    }
    ir_emit_type(pr, type->inputs[i]);
    print_dict(pr, inputs, i);
  }
  ir_emit(pr, ")");
  if (!type->result_count) return;
  bool parens = type->result_count > 1 || results || type->results[0]->kind == IR_TYPE_FUNCTION;
  ir_emit(pr, parens ? " -> (" : " -> ");
  for (uint32_t i = 0; i < type->result_count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit_type(pr, type->results[i]);
    print_dict(pr, results, i);
  }
  if (parens) ir_emit(pr, ")");
}

void function_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_name", "function_type", "arg_attrs", "res_attrs", "sym_visibility", NULL};
  if (!function_fits(op)) return ir_emit_generic(pr, op);
  const char* visibility = ir_op_string(op, "sym_visibility", NULL);
  ir_emit_op_name(pr, op);
  if (visibility) ir_emitf(pr, " %s", visibility);
  ir_emit(pr, " ");
  ir_emit_symbol(pr, ir_op_string(op, "sym_name", ""));
  print_signature(pr, op);
  ir_emit_attr_dict_keyword(pr, op, held);
  if (!op->regions[0].first) return;
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Loops: (%arg = %init, ...)
//===----------------------------------------------------------------------------------------------------------------===

bool assignments_parse(ir_parser_t* p, ir_ref_list_t* args, ir_ref_list_t* inits) {
  if (!ir_parse_expect(p, "(")) return false;
  while (!ir_parse_try(p, ")")) {
    ir_ref_t arg, init;
    if (args->count && !ir_parse_expect(p, ",")) return false;
    if (!ir_parse_ref(p, &arg) || !ir_parse_expect(p, "=") || !ir_parse_ref(p, &init)) return false;
    ir_list_add_ref(p, args, &arg);
    ir_list_add_ref(p, inits, &init);
  }
  return true;
}

void assignments_print(ir_printer_t* pr, ir_value_t* const* args, const ir_op_t* op, uint32_t first, uint32_t count) {
  ir_emit(pr, "(");
  for (uint32_t i = 0; i < count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit_value(pr, args[i]);
    ir_emit(pr, " = ");
    ir_emit_value(pr, ir_operand(op, first + i));
  }
  ir_emit(pr, ")");
}

bool args_are_operands(const ir_region_t* region, uint32_t first, const ir_op_t* op, uint32_t operand, uint32_t count) {
  const ir_block_t* entry = region->first;
  if (!entry || entry->arg_count != first + count || operand + count > op->operand_count) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (entry->args[first + i]->type != ir_operand(op, operand + i)->type) return false;
  }
  return true;
}

bool results_are_operands(const ir_op_t* op, uint32_t operand) {
  if (op->operand_count != operand + op->result_count) return false;
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (op->results[i].type != ir_operand(op, operand + i)->type) return false;
  }
  return true;
}

bool global_name_parse(ir_parser_t* p, ir_draft_t* op) {
  ir_context_t* ctx = ir_parse_context(p);
  visibility_parse(p, op);
  if (ir_parse_try(p, "mutable")) ir_draft_attr(p, op, "is_mutable", ir_attr_unit(ctx));
  ir_name_t name = ir_parse_symbol_name(p);
  if (name) ir_draft_attr(p, op, "sym_name", ir_attr_cstring(ctx, name));
  return name != NULL;
}

ir_op_t* global_value_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (!global_name_parse(p, &op) || !ir_parse_attr_dict(p, &op)) return NULL;
  const ir_attr_t* value = NULL;
  if (ir_parse_try(p, "=") && !(value = ir_parse_attr(p, NULL))) return NULL;
  const ir_type_t* type = value ? ir_attr_own_type(value) : NULL;
  if (ir_parse_try(p, ":") && !(type = ir_parse_type(p))) return NULL;
  if (!type) return ir_parse_fail(p, "expected ':' and the global's type"), NULL;
  if (value) ir_draft_attr(p, &op, "initial_value", value);
  ir_draft_attr(p, &op, "type", ir_attr_type(ctx, type));
  return ir_draft_finish(p, &op);
}

void global_value_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_visibility", "is_mutable", "sym_name", "initial_value", "type", NULL};
  const char *name = ir_op_string(op, "sym_name", NULL), *visibility = ir_op_string(op, "sym_visibility", NULL);
  const ir_attr_t *type = ir_op_attr(op, "type"), *value = ir_op_attr(op, "initial_value");
  const ir_attr_t *mutable = ir_op_attr(op, "is_mutable"), *seen = ir_op_attr(op, "sym_visibility");
  bool fits = name && type && type->kind == IR_ATTR_TYPE &&
              (!seen || (visibility && (!strcmp(visibility, "private") || !strcmp(visibility, "public")))) &&
              (!mutable || mutable->kind == IR_ATTR_UNIT);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  if (visibility) ir_emitf(pr, " %s", visibility);
  if (mutable) ir_emit(pr, " mutable");
  ir_emit(pr, " ");
  ir_emit_symbol(pr, name);
  ir_emit_attr_dict(pr, op, held);
  if (value) {
    ir_emit(pr, " = ");
    ir_emit_attr(pr, value);
  }
  if (value && ir_attr_own_type(value) == type->type) return;
  ir_emit(pr, " : ");
  ir_emit_type(pr, type->type);
}

ir_op_t* buffer_constant_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_next(p) == '"') {
    const ir_attr_t* name = ir_parse_attr(p, NULL);
    if (!name) return NULL;
    ir_draft_attr(p, &op, "name", name);
  }
  if (!ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_parse_expect(p, "=")) return NULL;
  const ir_attr_t* value = ir_parse_attr(p, NULL);
  if (!value) return NULL;
  ir_draft_attr(p, &op, "value", value);
  ir_draft_result(p, &op, type);
  return ir_draft_finish(p, &op);
}

void buffer_constant_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"name", "value", NULL};
  const ir_attr_t *value = ir_op_attr(op, "value"), *name = ir_op_attr(op, "name");
  bool fits = value && op->result_count == 1 && !op->operand_count && (!name || name->kind == IR_ATTR_STRING);
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  if (name) {
    ir_emit(pr, " ");
    ir_emit_attr(pr, name);
  }
  ir_emit_attr_dict(pr, op, held);
  ir_emit(pr, " : ");
  ir_emit_type(pr, op->results[0].type);
  ir_emit(pr, " = ");
  ir_emit_attr(pr, value);
}
