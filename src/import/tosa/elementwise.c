// TOSA: lists and zero points, constants, elementwise ops, reductions; the table.
#include <math.h>
#include <string.h>

#include "dialects/tosa.h"
#include "import/lowering_size.h"
#include "import/tosa/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// Lists, words, zero points
//===----------------------------------------------------------------------------------------------------------------===

bool tosa_list(lower_op_t* n, const char* name, uint32_t operand, int64_t* values, uint32_t* count) {
  const ir_attr_t* attr = ir_op_attr(n->op, name);
  if (attr) {
    *count = ir_attr_ints(attr, values, TOSA_MAX_LIST);
    return *count <= TOSA_MAX_LIST || lower_error(n, "has too many entries in '%s'", name);
  }
  ir_value_t* v = operand < n->op->operand_count ? n->in[operand] : NULL;
  const ir_attr_t* value = v && ir_is(v->def, GRAPH_CONSTANT) ? ir_op_attr(v->def, "value") : NULL;
  if (!value || value->kind != IR_ATTR_ELEMENTS || lower_is_float(value->type)) {
    return v ? lower_unsupported(n, "a constant as '%s' (operand %u) is", name, operand)
             : lower_error(n, "needs '%s'", name);
  }
  int64_t total = ir_type_count(value->type);
  if (total > TOSA_MAX_LIST) return lower_error(n, "has too many entries in '%s'", name);
  for (int64_t i = 0; i < total; ++i) values[i] = ir_attr_element_integer(value, i);
  *count = (uint32_t)total;
  return true;
}

bool tosa_numbers(lower_op_t* n, const char* name, uint32_t operand, int64_t* values, uint32_t count) {
  uint32_t got;
  if (!tosa_list(n, name, operand, values, &got)) return false;
  return got == count || lower_error(n, "needs %u entries in '%s', has %u", count, name, got);
}

const char* tosa_word(lower_op_t* n, const char* name) {
  const ir_attr_t* attr = ir_op_attr(n->op, name);
  if (!attr) return "";
  if (attr->kind == IR_ATTR_STRING) return attr->text;
  const char* body = attr->kind == IR_ATTR_OPAQUE && attr->body ? attr->body : "";
  const char* space = strrchr(body, ' ');
  return space ? space + 1 : body;
}

static ir_value_t* scalar_constant(lower_op_t* n, const ir_type_t* element, int64_t value) {
  return graph_splat_integer(n->b, ir_type_tensor(n->ctx, element, 0, NULL), value);
}

ir_value_t* tosa_zero_point(lower_op_t* n, uint32_t operand, const char* name, const ir_type_t* element) {
  const ir_attr_t* info = ir_op_attr(n->op, "quantization_info");
  const ir_attr_t* member = info ? ir_attr_dict_get(info, name) : ir_op_attr(n->op, name);
  int64_t value;
  if (member && member->kind == IR_ATTR_INTEGER) {
    return member->integer ? scalar_constant(n, element, member->integer) : NULL;
  }
  if (operand >= n->op->operand_count) return NULL;
  ir_value_t* zero = n->in[operand];
  double number;
  if (lower_splat_integer(zero, &value) && value == 0) return NULL;
  if (lower_is_float(zero->type) && lower_splat_value(zero, &number) && number == 0) return NULL;
  zero = graph_reshape(n->b, zero, 0, NULL, NULL);
  return graph_cast(n->b, zero, element, lower_is_unsigned(lower_in_type(n, operand)));
}

ir_value_t* tosa_without_zero(lower_op_t* n, ir_value_t* x, uint32_t operand, const char* name,
                              const ir_type_t* element) {
  ir_value_t* zero = tosa_zero_point(n, operand, name, element);
  return zero ? lower_binary(n, SCALAR_sub, graph_cast(n->b, x, element, false), zero) : x;
}

ir_value_t* tosa_saturate(lower_op_t* n, ir_value_t* x, const ir_type_t* element, bool is_unsigned) {
  const ir_type_t* wide = ir_type_scalar(x->type);
  if (element->width < wide->width) {
    int64_t most = ((int64_t)1 << (element->width - !is_unsigned)) - 1, least = is_unsigned ? 0 : -most - 1;
    x = lower_binary(n, SCALAR_max, x, scalar_constant(n, wide, least));
    x = lower_binary(n, SCALAR_min, x, scalar_constant(n, wide, most));
  }
  return graph_cast(n->b, x, element, false);
}

bool tosa_together(lower_op_t* n, ir_value_t** values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) values[i] = lower_as_tensor(n->b, values[i]);
  return lower_broadcast(n->b, values, count);
}

//===----------------------------------------------------------------------------------------------------------------===
// Elementwise
//===----------------------------------------------------------------------------------------------------------------===

static bool check_elements(lower_op_t* n, ir_value_t* const* values, uint32_t count, scalar_fn_t fn) {
  const ir_type_t* element = values[0]->type->element;
  for (uint32_t i = 1; i < count; ++i) {
    if (values[i]->type->element != element) return lower_error(n, "has operands of different element types");
  }
  bool takes = scalar_info[fn].types & (ir_type_is_float(element) ? SCALAR_TYPES_F : SCALAR_TYPES_I);
  return takes || lower_unsupported(n, NULL);
}

bool tosa_lower_elementwise(lower_op_t* n) {
  ir_value_t* v[2] = {n->in[0], n->op->operand_count > 1 ? n->in[1] : NULL};
  uint32_t count = n->op->operand_count;
  scalar_fn_t fn = lower_row_fn(n, lower_in_type(n, 0));
  if (!tosa_together(n, v, count) || !check_elements(n, v, count, fn)) return false;
  return lower_return(n, count == 1 ? graph_unary(n->b, fn, v[0]) : graph_binary(n->b, fn, v[0], v[1]));
}

static bool extreme(lower_op_t* n, scalar_fn_t fn, scalar_fn_t unsigned_fn, scalar_fn_t ignoring) {
  ir_value_t* v[2] = {n->in[0], n->in[1]};
  if (lower_is_unsigned(lower_in_type(n, 0))) fn = unsigned_fn;
  if (lower_is_float(v[0]->type) && strcmp(tosa_word(n, "nan_mode"), "IGNORE") == 0) fn = ignoring;
  if (!tosa_together(n, v, 2) || !check_elements(n, v, 2, fn)) return false;
  return lower_return(n, graph_binary(n->b, fn, v[0], v[1]));
}
bool tosa_lower_maximum(lower_op_t* n) { return extreme(n, SCALAR_max, SCALAR_maxu, SCALAR_maxnum); }
bool tosa_lower_minimum(lower_op_t* n) { return extreme(n, SCALAR_min, SCALAR_minu, SCALAR_minnum); }

bool tosa_lower_constant(lower_op_t* n) {
  const ir_attr_t* value = ir_op_attr(n->op, "values");
  return lower_constant(n, value ? value : ir_op_attr(n->op, "value"), &n->out[0]);
}

bool tosa_lower_identity(lower_op_t* n) { return lower_return(n, n->in[0]); }

bool tosa_lower_reciprocal(lower_op_t* n) {
  if (!lower_is_float(n->in[0]->type)) return lower_unsupported(n, "floats are");
  return lower_return(n, graph_binary(n->b, SCALAR_div, lower_number_like(n, n->in[0], 1), n->in[0]));
}

// Floats become integers by rounding to even.
bool tosa_lower_cast(lower_op_t* n) {
  ir_value_t* x = n->in[0];
  const ir_type_t* to = ir_type_scalar(lower_out_type(n, 0));
  bool rounds = lower_is_float(x->type) && to->kind == IR_TYPE_INTEGER && to->width > 1;
  if (rounds) x = graph_unary(n->b, SCALAR_roundeven, x);
  return lower_return(n, lower_cast(n, x, lower_in_type(n, 0), to));
}

bool tosa_lower_select(lower_op_t* n) {
  ir_value_t* v[3] = {n->in[0], n->in[1], n->in[2]};
  if (!tosa_together(n, v, 3)) return false;
  if (!lower_is_bool(v[0]->type) || v[1]->type->element != v[2]->type->element) {
    return lower_error(n, "needs an i1 condition and two operands of one type");
  }
  return lower_return(n, graph_select(n->b, v[0], v[1], v[2]));
}

// min_val and max_val, or min_int, max_int, min_fp and max_fp.
bool tosa_lower_clamp(lower_op_t* n) {
  ir_value_t* x = n->in[0];
  const ir_type_t* element = ir_type_scalar(x->type);
  bool floats = ir_type_is_float(element), is_unsigned = lower_is_unsigned(lower_in_type(n, 0));
  for (int high = 0; high < 2; ++high) {
    const ir_attr_t* limit = ir_op_attr(n->op, high ? "max_val" : "min_val");
    if (!limit) limit = ir_op_attr(n->op, floats ? high ? "max_fp" : "min_fp" : high ? "max_int" : "min_int");
    if (!limit || (limit->kind != IR_ATTR_FLOAT && limit->kind != IR_ATTR_INTEGER))
      return lower_error(n, "needs limits");
    double number = limit->kind == IR_ATTR_FLOAT ? limit->number : (double)limit->integer;
    ir_value_t* bound =
        floats ? graph_scalar_constant(n->b, element, number)
               : scalar_constant(n, element, limit->kind == IR_ATTR_FLOAT ? (int64_t)limit->number : limit->integer);
    scalar_fn_t fn = high ? is_unsigned ? SCALAR_minu : SCALAR_min : is_unsigned ? SCALAR_maxu : SCALAR_max;
    x = lower_binary(n, fn, x, bound);
  }
  return lower_return(n, x);
}

// With `round`, half of what is shifted out counts up.
bool tosa_lower_arithmetic_right_shift(lower_op_t* n) {
  ir_value_t* v[2] = {n->in[0], n->in[1]};
  if (!tosa_together(n, v, 2) || !check_elements(n, v, 2, SCALAR_shr)) return false;
  ir_value_t* y = graph_binary(n->b, SCALAR_shr, v[0], v[1]);
  if (!ir_op_flag(n->op, "round")) return lower_return(n, y);
  ir_value_t* last = lower_with_number(n, SCALAR_sub, v[1], 1);
  ir_value_t* bit =
      graph_binary(n->b, SCALAR_and, graph_binary(n->b, SCALAR_shr, v[0], last), lower_number_like(n, y, 1));
  ir_value_t* shifts = lower_with_number(n, SCALAR_gt, v[1], 0);
  bit = graph_select(n->b, shifts, bit, lower_number_like(n, y, 0));
  return lower_return(n, graph_binary(n->b, SCALAR_add, y, bit));
}

// Integers give a wider product; a shift (operand 2 or attribute) scales that of i32 back, rounding.
bool tosa_lower_mul(lower_op_t* n) {
  ir_value_t* v[2] = {n->in[0], n->in[1]};
  int64_t shift = ir_op_int(n->op, "shift", 0);
  if (n->op->operand_count < 2 || n->op->operand_count > 3) return lower_error(n, "needs two operands and a shift");
  const ir_type_t* element = lower_element(n->ctx, ir_type_scalar(lower_out_type(n, 0)));
  bool shifted = n->op->operand_count == 3 && !(lower_splat_integer(n->in[2], &shift) && shift == 0);
  if (!tosa_together(n, v, 2)) return false;
  if (lower_is_float(v[0]->type)) {
    return check_elements(n, v, 2, SCALAR_mul) && lower_return(n, graph_binary(n->b, SCALAR_mul, v[0], v[1]));
  }
  bool is_unsigned = lower_is_unsigned(lower_in_type(n, 0));
  const ir_type_t* wide = shifted || shift ? ir_type_int(n->ctx, 64) : element;
  for (int i = 0; i < 2; ++i) v[i] = graph_cast(n->b, v[i], wide, is_unsigned);
  ir_value_t* y = graph_binary(n->b, SCALAR_mul, v[0], v[1]);
  if (wide == element) return lower_return(n, y);
  ir_value_t* amount = shifted ? graph_cast(n->b, graph_reshape(n->b, n->in[2], 0, NULL, NULL), wide, true)
                               : scalar_constant(n, wide, shift);
  ir_value_t* half = graph_binary(n->b, SCALAR_shr, graph_binary(n->b, SCALAR_shl, scalar_constant(n, wide, 1), amount),
                                  scalar_constant(n, wide, 1));
  y = lower_binary(n, SCALAR_shr, lower_binary(n, SCALAR_add, y, half), amount);
  return lower_return(n, graph_cast(n->b, y, element, false));
}

bool tosa_lower_negate(lower_op_t* n) {
  ir_value_t* x = n->in[0];
  const ir_type_t *element = ir_type_scalar(x->type), *wide = ir_type_int(n->ctx, 64);
  if (n->op->operand_count != 1 && n->op->operand_count != 3) return lower_error(n, "needs one or three operands");
  if (ir_type_is_float(element)) return lower_return(n, graph_unary(n->b, SCALAR_neg, x));
  ir_value_t* zero = tosa_zero_point(n, 2, "output_zp", wide);
  x = tosa_without_zero(n, x, 1, "input_zp", wide);
  if (!zero && ir_type_scalar(x->type) == element && element->width == 32) {
    return lower_return(n, graph_unary(n->b, SCALAR_neg, x));
  }
  x = graph_unary(n->b, SCALAR_neg, graph_cast(n->b, x, wide, false));
  if (zero) x = lower_binary(n, SCALAR_add, x, zero);
  return lower_return(n, tosa_saturate(n, x, element, lower_is_unsigned(lower_in_type(n, 0))));
}

//===----------------------------------------------------------------------------------------------------------------===
// Reductions
//===----------------------------------------------------------------------------------------------------------------===

bool tosa_lower_reduce(lower_op_t* n) {
  ir_value_t *x = n->in[0], *dynamic[GRAPH_MAX_RANK];
  int64_t axis = ir_op_int(n->op, "axis", -1), dims[GRAPH_MAX_RANK];
  const char* kind = n->row->text;
  if (n->op->operand_count != 1 || !ir_type_is_tensor(x->type) || axis < 0 || axis >= x->type->rank) {
    return lower_error(n, "axis %lld is out of range", (long long)axis);
  }
  bool highest = strcmp(kind, "max") == 0, extreme_kind = highest || strcmp(kind, "min") == 0;
  if (extreme_kind && lower_is_unsigned(lower_in_type(n, 0))) kind = highest ? "maxu" : "minu";
  if (extreme_kind && lower_is_float(x->type) && strcmp(tosa_word(n, "nan_mode"), "IGNORE") == 0) {
    ir_value_t* neutral = lower_number_like(n, x, highest ? -INFINITY : INFINITY);
    x = graph_select(n->b, graph_unary(n->b, SCALAR_is_nan, x), neutral, x);
  }
  uint32_t count = 0;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    dims[i] = i == axis ? 1 : x->type->dims[i];
    if (dims[i] == IR_DYNAMIC) dynamic[count++] = graph_dim(n->b, x, (uint32_t)i);
  }
  ir_value_t* y = graph_reduce(n->b, x, &axis, 1, kind);
  return lower_return(n, graph_reshape(n->b, y, x->type->rank, dims, dynamic));
}

#define AT(ENUM) [TOSA_##ENUM - IR_CODE(IR_DIALECT_TOSA, 0)]
#define UNARY(ENUM, fn) AT(ENUM) = {tosa_lower_elementwise, SCALAR_##fn, SCALAR_##fn, SCALAR_##fn, 0, NULL},
#define BINARY(ENUM, fn, unsigned_fn) \
  AT(ENUM) = {tosa_lower_elementwise, SCALAR_##fn, SCALAR_##unsigned_fn, SCALAR_##unsigned_fn, 0, NULL},
#define REDUCE(ENUM, kind) AT(ENUM) = {.fn = tosa_lower_reduce, .text = kind},
#define OP(ENUM, handler) AT(ENUM) = {.fn = tosa_lower_##handler},
#define REFUSED(ENUM, sentence) AT(ENUM) = {.fn = lower_refused, .flags = LOWER_ANY_VALUE, .text = sentence},
static const lower_row_t rows[] = {
#include "import/tosa/ops.def"
};
const lower_table_t lower_tosa_table = {IR_DIALECT_TOSA, rows, sizeof(rows) / sizeof(rows[0])};
