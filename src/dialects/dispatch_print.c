// Executables and their dispatches as text: see dispatch.h. What the form cannot say is written as any op is.
#include <string.h>

#include "dialects/dispatch.h"

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

bool dispatch_has_name(const ir_op_t* op) {
  const char* visibility = ir_op_string(op, "sym_visibility", NULL);
  if (!ir_op_string(op, "sym_name", NULL)) return false;
  if (!ir_op_attr(op, "sym_visibility")) return true;
  return visibility &&
         (!strcmp(visibility, "private") || !strcmp(visibility, "public") || !strcmp(visibility, "nested"));
}

static void print_symbol(ir_printer_t* pr, const ir_op_t* op, const char* symbol) {
  const char* visibility = ir_op_string(op, "sym_visibility", NULL);
  ir_emit_op_name(pr, op);
  if (visibility) ir_emitf(pr, " %s", visibility);
  ir_emit(pr, " ");
  ir_emit_symbol(pr, symbol);
}

void dispatch_print_name(ir_printer_t* pr, const ir_op_t* op) {
  print_symbol(pr, op, ir_op_string(op, "sym_name", ""));
}

// A body of one block without arguments.
bool dispatch_has_body(const ir_op_t* op) {
  const ir_block_t* body = op->region_count == 1 ? op->regions[0].first : NULL;
  return body && !body->next && !body->arg_count;
}

void executable_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_name", "sym_visibility", NULL};
  if (!dispatch_has_name(op) || !dispatch_has_body(op)) return ir_emit_generic(pr, op);
  dispatch_print_name(pr, op);
  ir_emit_attr_dict_keyword(pr, op, held);
  ir_emit(pr, " ");
  ir_emit_region(pr, &op->regions[0], 0);
}

bool dispatch_has_count(const ir_op_t* op, uint32_t region) {
  const ir_block_t* body = op->region_count == region + 1 ? op->regions[region].first : NULL;
  return op->region_count == region || (body && !body->next && body->last && !body->last->result_count);
}

void dispatch_print_count(ir_printer_t* pr, const ir_op_t* op, uint32_t region, const char* word) {
  if (op->region_count == region) return;
  const ir_block_t* body = op->regions[region].first;
  ir_emitf(pr, " %s(", word);
  for (uint32_t i = 0; i < body->arg_count; ++i) {
    if (i) ir_emit(pr, ", ");
    ir_emit_value(pr, body->args[i]);
    ir_emit(pr, ": ");
    ir_emit_type(pr, body->args[i]->type);
  }
  ir_emit(pr, ") -> (");
  ir_emit_operand_types(pr, body->last, 0, body->last->operand_count);
  ir_emit(pr, ") ");
  ir_emit_region(pr, &op->regions[region], 0);
}

void export_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"sym_name", "sym_visibility", "function_ref", NULL};
  const ir_attr_t* function = ir_op_attr(op, "function_ref");
  bool fits = dispatch_has_name(op) && dispatch_has_count(op, 0) && function && function->kind == IR_ATTR_SYMBOL &&
              !function->count;
  if (!fits) return ir_emit_generic(pr, op);
  print_symbol(pr, op, function->text);
  if (strcmp(function->text, ir_op_string(op, "sym_name", ""))) {
    ir_emit(pr, " as(");
    ir_emit_attr(pr, ir_op_attr(op, "sym_name"));
    ir_emit(pr, ")");
  }
  dispatch_print_count(pr, op, 0, "workgroups");
  ir_emit_attr_dict_keyword(pr, op, held);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

enum { WORKLOAD, ARGUMENTS, ARGUMENT_SIZES, RESULT_SIZES, SEGMENTS, MAX_RESULTS = 64 };

typedef struct segments_t {
  int64_t counts[SEGMENTS], first[SEGMENTS];
  int64_t tied[MAX_RESULTS];
} segments_t;

// The first argument that is the same value is the one it names.
static bool names_argument(const ir_op_t* op, const segments_t* s, int64_t argument) {
  const ir_value_t* value = ir_operand(op, (uint32_t)(s->first[ARGUMENTS] + argument));
  for (int64_t i = 0; i < argument; ++i) {
    if (ir_operand(op, (uint32_t)(s->first[ARGUMENTS] + i)) == value) return false;
  }
  return true;
}

// Whether each type takes its sizes, all of them.
static bool read_segments(const ir_op_t* op, segments_t* s) {
  int64_t total = 0, sizes[2] = {0, 0};
  bool fits = ir_op_ints(op, "operandSegmentSizes", s->counts, SEGMENTS) == SEGMENTS && op->result_count &&
              op->result_count <= MAX_RESULTS &&
              ir_op_ints(op, "tied_operands", s->tied, MAX_RESULTS) == op->result_count;
  for (int i = 0; fits && i < SEGMENTS; ++i) {
    s->first[i] = total;
    fits = s->counts[i] >= 0 && s->counts[i] <= op->operand_count;
    total += s->counts[i];
  }
  if (!fits || total != op->operand_count) return false;
  for (int64_t i = 0; i < s->counts[ARGUMENTS]; ++i) {
    sizes[0] += ir_type_open_dims(ir_operand(op, (uint32_t)(s->first[ARGUMENTS] + i))->type);
  }
  for (uint32_t i = 0; i < op->result_count && fits; ++i) {
    sizes[1] += ir_type_open_dims(op->results[i].type);
    fits = s->tied[i] < s->counts[ARGUMENTS] && (s->tied[i] < 0 || names_argument(op, s, s->tied[i]));
  }
  return fits && sizes[0] == s->counts[ARGUMENT_SIZES] && sizes[1] == s->counts[RESULT_SIZES];
}

static void print_sizes(ir_printer_t* pr, const ir_op_t* op, const ir_type_t* type, int64_t* next) {
  int64_t count = ir_type_open_dims(type);
  if (!count) return;
  ir_emit(pr, "{");
  ir_emit_operands(pr, op, (uint32_t)*next, (uint32_t)count);
  ir_emit(pr, "}");
  *next += count;
}

static void print_result(ir_printer_t* pr, const ir_op_t* op, const segments_t* s, uint32_t i, int64_t* next) {
  const ir_type_t* type = op->results[i].type;
  const ir_value_t* argument = s->tied[i] < 0 ? NULL : ir_operand(op, (uint32_t)(s->first[ARGUMENTS] + s->tied[i]));
  if (argument) ir_emit_value(pr, argument);
  if (argument && argument->type != type) ir_emit(pr, " as ");
  if (!argument || argument->type != type) ir_emit_type(pr, type);
  print_sizes(pr, op, type, next);
}

static void print_call_types(ir_printer_t* pr, const ir_op_t* op, const segments_t* s) {
  int64_t next = s->first[ARGUMENT_SIZES];
  ir_emit(pr, " : (");
  for (int64_t i = 0; i < s->counts[ARGUMENTS]; ++i) {
    const ir_type_t* type = ir_operand(op, (uint32_t)(s->first[ARGUMENTS] + i))->type;
    if (i) ir_emit(pr, ", ");
    ir_emit_type(pr, type);
    print_sizes(pr, op, type, &next);
  }
  next = s->first[RESULT_SIZES];
  ir_emit(pr, op->result_count > 1 ? ") -> (" : ") -> ");
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (i) ir_emit(pr, ", ");
    print_result(pr, op, s, i, &next);
  }
  if (op->result_count > 1) ir_emit(pr, ")");
}

void call_print(ir_printer_t* pr, ir_op_t* op) {
  static const char* const held[] = {"entry_points", "operandSegmentSizes", "tied_operands", NULL};
  segments_t s;
  const ir_attr_t* entry = ir_op_attr(op, "entry_points");
  if (!entry || entry->kind != IR_ATTR_SYMBOL || !read_segments(op, &s)) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_attr(pr, entry);
  if (s.counts[WORKLOAD]) {
    ir_emit(pr, "[");
    ir_emit_operands(pr, op, 0, (uint32_t)s.counts[WORKLOAD]);
    ir_emit(pr, "]");
  }
  ir_emit(pr, "(");
  ir_emit_operands(pr, op, (uint32_t)s.first[ARGUMENTS], (uint32_t)s.counts[ARGUMENTS]);
  ir_emit(pr, ")");
  ir_emit_attr_dict(pr, op, held);
  print_call_types(pr, op, &s);
}
