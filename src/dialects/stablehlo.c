// The stablehlo dialect: table, checks, and short assembly hooks; contractions and loops are in files of their own.
#include "dialects/stablehlo.h"

#include <string.h>

#include "dialects/stablehlo_hooks.h"
#include "dialects/table.h"

const char* stablehlo_enum(const ir_attr_t* attr) {
  if (!attr) return NULL;
  if (attr->kind == IR_ATTR_STRING) return attr->text;
  if (attr->kind != IR_ATTR_OPAQUE || !attr->body) return NULL;
  const char* space = strrchr(attr->body, ' ');
  return space ? space + 1 : attr->body;
}

static bool stablehlo_verify_constant(ir_context_t* ctx, ir_op_t* op) {
  const ir_attr_t* value = ir_op_attr(op, "value");
  const ir_type_t* type = value ? ir_attr_own_type(value) : NULL;
  if (!type || !ir_type_is_shaped(type)) return ir_op_error(ctx, op, "needs attribute 'value', element data");
  if (type == op->results[0].type) return true;
  if (ir_type_scalar(op->results[0].type)->kind == IR_TYPE_OPAQUE) return true;  // quantised: stored as integers
  return ir_op_error(ctx, op, "value has type '%s' where the result is '%s'", ir_type_str(ctx, type),
                     ir_type_str(ctx, op->results[0].type));
}

//===----------------------------------------------------------------------------------------------------------------===
// stablehlo.slice %a [0:2, 1:3:2] : (t) -> t
//===----------------------------------------------------------------------------------------------------------------===

enum { MAX_RANK = 64 };
static const char* const range_names[] = {"start_indices", "limit_indices", "strides", NULL};

static bool finish_functional(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs) {
  ir_type_list_t types = {0};
  return ir_parse_attr_dict(p, op) && ir_parse_expect(p, ":") && ir_parse_types_in_parens(p, &types) &&
         ir_parse_expect(p, "->") && ir_parse_result_types(p, &op->results) && ir_draft_operands(p, op, refs, &types);
}

ir_op_t* stablehlo_slice_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  int64_t values[3][MAX_RANK];
  uint32_t rank = 0;
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_refs(p, &refs) || !ir_parse_expect(p, "[")) return NULL;
  while (!ir_parse_try(p, "]")) {
    if (rank && !ir_parse_expect(p, ",")) return NULL;
    if (rank == MAX_RANK) return ir_parse_fail(p, "more than %d dimensions", MAX_RANK), NULL;
    values[2][rank] = 1;
    if (!ir_parse_integer(p, &values[0][rank]) || !ir_parse_expect(p, ":") || !ir_parse_integer(p, &values[1][rank])) {
      return NULL;
    }
    if (ir_parse_try(p, ":") && !ir_parse_integer(p, &values[2][rank])) return NULL;
    ++rank;
  }
  for (int i = 0; i < 3; ++i) {
    ir_draft_attr(p, &op, range_names[i], ir_attr_i64_array(ir_parse_context(p), values[i], rank));
  }
  return finish_functional(p, &op, &refs) ? ir_draft_finish(p, &op) : NULL;
}

void stablehlo_slice_print(ir_printer_t* pr, ir_op_t* op) {
  const ir_attr_t* lists[3];
  bool fits = op->operand_count == 1;
  for (int i = 0; i < 3; ++i) {
    lists[i] = ir_op_attr(op, range_names[i]);
    fits = fits && lists[i] && lists[i]->kind == IR_ATTR_DENSE_ARRAY && lists[i]->type->width == 64 &&
           lists[i]->count == lists[0]->count;
  }
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  ir_emit(pr, " [");
  for (uint32_t i = 0; i < lists[0]->count; ++i) {
    long long stride = ir_attr_element_integer(lists[2], i);
    ir_emitf(pr, i ? ", %lld:%lld" : "%lld:%lld", (long long)ir_attr_element_integer(lists[0], i),
             (long long)ir_attr_element_integer(lists[1], i));
    if (stride != 1) ir_emitf(pr, ":%lld", stride);
  }
  ir_emit(pr, "]");
  ir_emit_attr_dict(pr, op, range_names);
  ir_emit(pr, " : ");
  ir_emit_function_type(pr, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// stablehlo.reduce_precision %a, format = e5m10 : t
//===----------------------------------------------------------------------------------------------------------------===

static const char* const precision_names[] = {"exponent_bits", "mantissa_bits", NULL};

static bool parse_bits(const char** text, int64_t* value) {
  *value = 0;
  if (**text < '0' || **text > '9') return false;
  for (; **text >= '0' && **text <= '9' && *value < 1000; ++*text) *value = *value * 10 + (**text - '0');
  return true;
}

ir_op_t* stablehlo_reduce_precision_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
  ir_context_t* ctx = ir_parse_context(p);
  ir_draft_t op;
  ir_ref_list_t refs = {0};
  int64_t bits[2];
  ir_draft_init(p, &op, info, loc);
  if (!ir_parse_refs(p, &refs) || !ir_parse_expect(p, ",") || !ir_parse_expect(p, "format") ||
      !ir_parse_expect(p, "=")) {
    return NULL;
  }
  ir_name_t word = ir_parse_keyword(p, "a format such as e5m10");
  if (!word) return NULL;
  const char* at = word;
  if (*at++ != 'e' || !parse_bits(&at, &bits[0]) || *at++ != 'm' || !parse_bits(&at, &bits[1]) || *at) {
    return ir_parse_fail(p, "expected a format such as e5m10"), NULL;
  }
  for (int i = 0; i < 2; ++i) {
    ir_draft_attr(p, &op, precision_names[i], ir_attr_integer(ctx, ir_type_int(ctx, 32), bits[i]));
  }
  if (!ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":")) return NULL;
  ir_type_list_t types = {0};
  if (ir_parse_next(p) == '(') {
    if (!ir_parse_types_in_parens(p, &types) || !ir_parse_expect(p, "->") || !ir_parse_result_types(p, &op.results)) {
      return NULL;
    }
  } else if (!ir_parse_types(p, &types)) {
    return NULL;
  } else {
    ir_draft_results(p, &op, &types);
  }
  return ir_draft_operands(p, &op, &refs, &types) ? ir_draft_finish(p, &op) : NULL;
}

void stablehlo_reduce_precision_print(ir_printer_t* pr, ir_op_t* op) {
  const ir_attr_t *exponent = ir_op_attr(op, "exponent_bits"), *mantissa = ir_op_attr(op, "mantissa_bits");
  const ir_type_t* i32 = ir_type_int(ir_printer_context(pr), 32);
  bool fits = exponent && mantissa && exponent->kind == IR_ATTR_INTEGER && mantissa->kind == IR_ATTR_INTEGER &&
              exponent->type == i32 && mantissa->type == i32 && exponent->integer >= 0 && mantissa->integer >= 0 &&
              exponent->integer < 1000 && mantissa->integer < 1000;
  if (!fits) return ir_emit_generic(pr, op);
  ir_emit_op_name(pr, op);
  ir_emit(pr, " ");
  ir_emit_operands(pr, op, 0, 1);
  ir_emitf(pr, ", format = e%dm%d", (int)exponent->integer, (int)mantissa->integer);
  ir_emit_attr_dict(pr, op, precision_names);
  ir_emit(pr, " : ");
  if (ir_operand(op, 0)->type == op->results[0].type) {
    ir_emit_result_types(pr, op);
  } else {
    ir_emit_function_type(pr, op);
  }
}

static const ir_op_info_t ops[] = {
#define OP(ENUM, name, ...) {"stablehlo." #name, STABLEHLO_##ENUM, __VA_ARGS__},
#include "dialects/stablehlo.def"
#undef OP
};
TABLE_DIALECT(stablehlo_dialect, IR_DIALECT_STABLEHLO, "stablehlo", ops);
