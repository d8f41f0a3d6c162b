// The hal dialect.
#include "dialects/hal.h"

#include "dialects/dispatch.h"

// word(attribute), to the attribute `name`; another one may be there or not.
static bool parse_part(ir_parser_t* p, ir_draft_t* op, const char* word, const char* name, bool* found) {
  *found = ir_parse_try(p, word);
  if (!*found) return true;
  const ir_attr_t* attr = ir_parse_expect(p, "(") ? ir_parse_attr(p, NULL) : NULL;
  if (!attr || !ir_parse_expect(p, ")")) return false;
  ir_draft_attr(p, op, name, attr);
  return true;
}

static bool parse_layout(ir_parser_t* p, ir_draft_t* op) {
  bool found = false;
  if (!parse_part(p, op, "layout", "layout", &found)) return false;
  return found || ir_parse_fail(p, "expected layout(#hal.pipeline.layout<...>)");
}

// [visibility] @name target(#target) [objects([...])] [attributes {...}] { ... }
static ir_op_t* hal_variant_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  bool found = false;
  ir_draft_init(p, &op, info, loc);
  if (!dispatch_parse_name(p, &op) || !parse_part(p, &op, "target", "target", &found)) return NULL;
  if (!found) return ir_parse_fail(p, "expected target(#hal.executable.target<...>)"), NULL;
  if (!parse_part(p, &op, "objects", "objects", &found) || !ir_parse_attr_dict_keyword(p, &op)) return NULL;
  return ir_draft_region(p, &op, NULL, NULL) ? ir_draft_finish(p, &op) : NULL;
}

// [visibility] @name [ordinal(n)] layout(#layout) [count(...) -> (...) { ... }] [attributes {...}] [{ ... }]
static ir_op_t* hal_export_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  bool found = false;
  ir_draft_init(p, &op, info, loc);
  bool ok = dispatch_parse_name(p, &op) && parse_part(p, &op, "ordinal", "ordinal", &found) && parse_layout(p, &op) &&
            dispatch_parse_count(p, &op, "count") && ir_parse_attr_dict_keyword(p, &op);
  if (!ok) return NULL;
  bool older = ir_parse_peek(p, "{");  // the count, with its arguments at a label
  return !older || ir_draft_region(p, &op, NULL, NULL) ? ir_draft_finish(p, &op) : NULL;
}

// word(attribute), where the op has it.
static void print_part(ir_printer_t* pr, const ir_op_t* op, const char* word, const char* name) {
  const ir_attr_t* attr = ir_op_attr(op, name);
  if (!attr) return;
  ir_emitf(pr, " %s(", word);
  if (ir_attr_own_type(attr) == ir_type_int(ir_printer_context(pr), 64)) {
    ir_emit_attr_bare(pr, attr);
  } else {
    ir_emit_attr(pr, attr);
  }
  ir_emit(pr, ")");
}

static void hal_variant_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_name", "sym_visibility", "target", "objects", NULL};
  if (!dispatch_has_name(op) || !dispatch_has_body(op) || !ir_op_attr(op, "target")) return ir_emit_generic(pr, op);
  dispatch_print_name(pr, op);
  print_part(pr, op, "target", "target");
  print_part(pr, op, "objects", "objects");
  ir_emit_attr_dict_keyword(pr, op, held);
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
}

static void hal_export_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_name", "sym_visibility", "ordinal", "layout", NULL};
  bool fits = dispatch_has_name(op) && dispatch_has_count(op, 0) && ir_op_attr(op, "layout");
  if (!fits) return ir_emit_generic(pr, op);
  dispatch_print_name(pr, op);
  print_part(pr, op, "ordinal", "ordinal");
  print_part(pr, op, "layout", "layout");
  dispatch_print_count(pr, op, 0, "count");
  ir_emit_attr_dict_keyword(pr, op, held);
}

// {#target [ordinal(n)] = [objects], ...} as #hal.executable.objects<...>
static const ir_attr_t* parse_objects(ir_parser_t* p) {
  ir_context_t* ctx = ir_parse_context(p);
  text_t text = {0};
  bool ok = ir_parse_expect(p, "(") && ir_parse_expect(p, "{");
  text_puts(&text, "{");
  while (ok && !ir_parse_try(p, "}")) {
    if (text.size > 1) ok = ir_parse_expect(p, ",");
    const ir_attr_t* target = ok ? ir_parse_attr(p, NULL) : NULL;
    int64_t ordinal = 0;
    if ((ok = target != NULL) && ir_parse_try(p, "ordinal")) {
      ok = ir_parse_expect(p, "(") && ir_parse_integer(p, &ordinal) && ir_parse_expect(p, ")");
    }
    const ir_attr_t* objects = ok && ir_parse_expect(p, "=") ? ir_parse_attr(p, NULL) : NULL;
    if (!(ok = objects != NULL)) break;
    if (text.size > 1) text_puts(&text, ", ");
    ir_print_attr(&text, target);
    text_printf(&text, " ordinal(%lld) = ", (long long)ordinal);
    ir_print_attr(&text, objects);
  }
  text_puts(&text, "}");
  const ir_attr_t* attr = ok ? ir_attr_opaque(ctx, "hal.executable.objects", text.data, NULL, 0) : NULL;
  text_finish(&text);
  return attr && ir_parse_expect(p, ")") ? attr : NULL;
}

//   "export"[%workload, ...](%argument, ...) : (...) -> (...) [count(...) ...] layout(#layout) [bindings(...)]
//   objects({...}) [{...}]
static ir_op_t* hal_extern_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  const char* name = NULL;
  size_t size = 0;
  bool found = false;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_string(p, &name, &size)) return NULL;
  ir_draft_attr(p, &op, "export_name", ir_attr_string(ir_parse_context(p), name, size));
  if (!dispatch_parse_call(p, &op) || !dispatch_parse_count(p, &op, "count") || !parse_layout(p, &op)) return NULL;
  if (!parse_part(p, &op, "bindings", "bindings", &found) || !ir_parse_expect(p, "objects")) return NULL;
  const ir_attr_t* objects = parse_objects(p);
  if (!objects) return NULL;
  ir_draft_attr(p, &op, "objects", objects);
  return ir_parse_attr_dict(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

//   layout(#layout) ordinal(n) [alignment(n)] [values([...])] : type
static ir_op_t* hal_constant_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  bool found = false;
  ir_draft_init(p, &op, info, loc);
  bool ok = parse_layout(p, &op) && parse_part(p, &op, "ordinal", "ordinal", &found) &&
            parse_part(p, &op, "alignment", "alignment", &found) && parse_part(p, &op, "values", "values", &found) &&
            ir_parse_attr_dict(p, &op) && ir_parse_expect(p, ":");
  const ir_type_t* type = ok ? ir_parse_type(p) : NULL;
  if (!type) return NULL;
  ir_draft_result(p, &op, type);
  return ir_draft_finish(p, &op);
}

// flags(ReadOnly|Indirect), which say nothing that is needed here.
static bool parse_flags(ir_parser_t* p) {
  if (!ir_parse_try(p, "flags")) return true;
  if (!ir_parse_expect(p, "(")) return false;
  do {
    if (ir_parse_next(p) == '"' ? !ir_parse_attr(p, NULL) : !ir_parse_keyword(p, "a flag")) return false;
  } while (ir_parse_try(p, "|"));
  return ir_parse_expect(p, ")");
}

//   layout(#layout) binding(n) [alignment(n)] [offset(%offset)] [flags(...)] : type{sizes}
static ir_op_t* hal_subspan_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  bool found = false;
  ir_ref_list_t refs = {0};
  ir_draft_init(p, &op, info, loc);
  if (!parse_layout(p, &op) || !parse_part(p, &op, "binding", "binding", &found)) return NULL;
  if (!parse_part(p, &op, "alignment", "alignment", &found)) return NULL;
  if (ir_parse_try(p, "offset")) {
    if (!ir_parse_expect(p, "(") || !ir_parse_refs(p, &refs) || !ir_parse_expect(p, ")")) return NULL;
    ir_draft_attr(p, &op, "has_offset", ir_attr_unit(ir_parse_context(p)));
  }
  if (!parse_flags(p) || !ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) {
    return NULL;
  }
  const ir_type_t* type = dispatch_parse_tied(p, &refs);
  if (!type || !dispatch_add_indices(p, &op, &refs)) return NULL;
  ir_draft_result(p, &op, type);
  return ir_draft_finish(p, &op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Views
//===----------------------------------------------------------------------------------------------------------------===

// [on(#affinity)], which says nothing that is needed here.
static bool parse_affinity(ir_parser_t* p) {
  if (!ir_parse_try(p, "on")) return true;
  return ir_parse_expect(p, "(") && ir_parse_attr(p, NULL) && ir_parse_expect(p, ")");
}

// ["name"] `:`
static bool parse_name(ir_parser_t* p, ir_draft_t* op) {
  const char* name = NULL;
  size_t size = 0;
  if (ir_parse_next(p) != '"') return ir_parse_expect(p, ":");
  if (!ir_parse_string(p, &name, &size)) return false;
  ir_draft_attr(p, op, "name", ir_attr_string(ir_parse_context(p), name, size));
  return ir_parse_expect(p, ":");
}

// A tensor's type, and the one that it has outside: `inside as outside`, or one for both; then its sizes.
static const ir_type_t* parse_encoding(ir_parser_t* p, ir_draft_t* op, const char* name, ir_ref_list_t* sizes) {
  const ir_type_t *outside = ir_parse_type(p), *inside = outside;
  if (outside && ir_parse_try(p, "as")) inside = ir_parse_type(p);
  if (!outside || !inside) return NULL;
  ir_draft_attr(p, op, name, ir_attr_type(ir_parse_context(p), outside));
  bool sized = !ir_parse_try(p, "{") || (ir_parse_refs(p, sizes) && ir_parse_expect(p, "}"));
  return sized ? inside : NULL;
}

//   [on(#affinity)] [wait(%fence) =>] [consume] %view [offset(%bytes)] ["name"] : type -> type{sizes}
static ir_op_t* tensor_import_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t view;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!parse_affinity(p)) return NULL;
  if (ir_parse_peek(p, "wait")) {
    return ir_parse_fail(p,
                         "expected a view without a fence to wait for; iree.abi.model = \"coarse-fences\" adds those"),
           NULL;
  }
  ir_parse_try(p, "consume");
  if (!ir_parse_ref(p, &view) || !parse_name(p, &op)) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_draft_operand(p, &op, &view, type) || !ir_parse_expect(p, "->")) return NULL;
  type = parse_encoding(p, &op, "target_encoding", &sizes);
  if (!type || !dispatch_add_indices(p, &op, &sizes)) return NULL;
  ir_draft_result(p, &op, type);
  return ir_parse_attr_dict(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

//   [on(#affinity)] %tensor ["name"] : type{sizes} -> type
static ir_op_t* tensor_export_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t tensor;
  ir_ref_list_t sizes = {0};
  ir_draft_init(p, &op, info, loc);
  if (!parse_affinity(p) || !ir_parse_ref(p, &tensor) || !parse_name(p, &op)) return NULL;
  const ir_type_t* type = parse_encoding(p, &op, "source_encoding", &sizes);
  if (!type || !ir_draft_operand(p, &op, &tensor, type) || !dispatch_add_indices(p, &op, &sizes)) return NULL;
  if (!ir_parse_expect(p, "->") || !(type = ir_parse_type(p))) return NULL;
  ir_draft_result(p, &op, type);
  return ir_parse_attr_dict(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

//   <%view : !hal.buffer_view>[0] : index
static ir_op_t* view_dim_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t view;
  int64_t index = 0;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_expect(p, "<") || !ir_parse_ref(p, &view) || !ir_parse_expect(p, ":")) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type || !ir_draft_operand(p, &op, &view, type) || !ir_parse_expect(p, ">") || !ir_parse_expect(p, "[")) {
    return NULL;
  }
  if (!ir_parse_integer(p, &index) || !ir_parse_expect(p, "]") || !ir_parse_expect(p, ":")) return NULL;
  ir_draft_attr(p, &op, "index", ir_attr_i64(ir_parse_context(p), index));
  if (!(type = ir_parse_type(p))) return NULL;
  ir_draft_result(p, &op, type);
  return ir_parse_attr_dict(p, &op) ? ir_draft_finish(p, &op) : NULL;
}

//   %index : !hal.device
static ir_op_t* devices_get_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_t number;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_ref(p, &number) || !ir_draft_operand(p, &op, &number, ir_type_index(ir_parse_context(p)))) return NULL;
  const ir_type_t* type = ir_parse_attr_dict(p, &op) && ir_parse_expect(p, ":") ? ir_parse_type(p) : NULL;
  if (!type) return NULL;
  ir_draft_result(p, &op, type);
  return ir_draft_finish(p, &op);
}

//   [on(#affinity)] : !hal.device, ...
static ir_op_t* device_resolve_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_draft_init(p, &op, info, loc);
  if (ir_parse_try(p, "on")) {
    const ir_attr_t* affinity = ir_parse_expect(p, "(") ? ir_parse_attr(p, NULL) : NULL;
    if (!affinity || !ir_parse_expect(p, ")")) return NULL;
    ir_draft_attr(p, &op, "affinity", affinity);
  }
  bool ok = ir_parse_attr_dict(p, &op) && ir_parse_expect(p, ":") && ir_parse_types(p, &op.results);
  return ok ? ir_draft_finish(p, &op) : NULL;
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"hal." #name, HAL_##ENUM, __VA_ARGS__},
#include "dialects/hal.def"
#undef OP
};
TABLE_DIALECT(hal_dialect, IR_DIALECT_HAL, "hal", ops);
