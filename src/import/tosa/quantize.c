// TOSA's integer scaling: rescale and table.
#include <string.h>

#include "dialects/tosa.h"
#include "import/tosa/ops.h"

static ir_value_t* wide_constant(lower_op_t* n, int64_t value) {
  return graph_splat_integer(n->b, ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 0, NULL), value);
}

static ir_value_t* op2(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  return lower_binary(n, fn, x, y);
}

ir_value_t* tosa_scale(lower_op_t* n, ir_value_t* x, ir_value_t* multiplier, ir_value_t* shift, bool double_round) {
  ir_value_t *one = lower_splat(n->b, wide_constant(n, 1), shift), *zero = wide_constant(n, 0);
  ir_value_t* round = graph_binary(n->b, SCALAR_shl, one, graph_binary(n->b, SCALAR_sub, shift, one));
  if (double_round) {  // for shifts above 31 half of the product's low part counts too, away from zero
    ir_value_t* extra = op2(n, SCALAR_shl, one, wide_constant(n, 30));
    ir_value_t* negative = op2(n, SCALAR_lt, x, zero);
    extra = graph_select(n->b, negative, graph_unary(n->b, SCALAR_neg, extra), extra);
    ir_value_t* far = op2(n, SCALAR_gt, shift, wide_constant(n, 31));
    round = graph_binary(n->b, SCALAR_add, round, graph_select(n->b, far, extra, lower_splat(n->b, zero, extra)));
  }
  ir_value_t* y = graph_binary(n->b, SCALAR_add, graph_binary(n->b, SCALAR_mul, x, multiplier), round);
  return graph_binary(n->b, SCALAR_shr, y, shift);
}

// multiplier or shift, for each channel or for all: spread over x.
static ir_value_t* spread_list(lower_op_t* n, const char* name, uint32_t operand, ir_value_t* x, bool per_channel) {
  const ir_type_t* wide = ir_type_int(n->ctx, 64);
  const ir_attr_t* attr = ir_op_attr(n->op, name);
  ir_value_t* v;
  if (attr) {
    const ir_type_t* own = attr->type;
    bool list = attr->kind == IR_ATTR_DENSE_ARRAY && attr->count && own;
    if (!list) return lower_error(n, "needs a list of integers as '%s'", name), NULL;
    int64_t count = attr->count;
    int64_t* data = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, count);
    for (int64_t i = 0; i < count; ++i) data[i] = ir_attr_element_integer(attr, i);
    v = graph_constant(n->b,
                       ir_attr_elements(n->ctx, ir_type_tensor(n->ctx, wide, 1, &count), data, (size_t)count * 8));
  } else {
    v = operand < n->op->operand_count ? n->in[operand] : NULL;
    if (!v || lower_is_float(v->type)) return lower_error(n, "needs integers as '%s'", name), NULL;
    v = graph_cast(n->b, v, wide, false);
  }
  int64_t last = x->type->rank - 1, count = ir_type_count(v->type);
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  if (!per_channel || count == 1) {
    if (count != 1) return lower_error(n, "needs one entry in '%s'", name), NULL;
    return graph_broadcast(n->b, graph_reshape(n->b, v, 0, NULL, NULL), x->type, NULL, dynamic);
  }
  if (last < 0 || v->type->rank != 1 || x->type->dims[last] != count) {
    return lower_error(n, "needs an entry in '%s' for each channel", name), NULL;
  }
  return graph_broadcast(n->b, v, x->type, &last, dynamic);
}

// (x - input zero point) * multiplier >> shift, rounded, + output zero point, within the result's range
bool tosa_lower_rescale(lower_op_t* n) {
  const ir_type_t *wide = ir_type_int(n->ctx, 64), *to = ir_type_scalar(lower_out_type(n, 0));
  if (!n->op->operand_count || lower_is_float(n->in[0]->type) || to->kind != IR_TYPE_INTEGER) {
    return lower_unsupported(n, "integers are");
  }
  bool from_unsigned = lower_is_unsigned(lower_in_type(n, 0)) || ir_op_flag(n->op, "input_unsigned");
  bool to_unsigned = lower_is_unsigned(lower_out_type(n, 0)) || ir_op_flag(n->op, "output_unsigned");
  bool double_round = ir_op_flag(n->op, "double_round") || strcmp(tosa_word(n, "rounding_mode"), "DOUBLE_ROUND") == 0;
  ir_value_t* x = graph_cast(n->b, lower_as_tensor(n->b, n->in[0]), wide, from_unsigned);
  ir_value_t* zero = tosa_zero_point(n, 3, "input_zp", wide);
  if (zero) x = op2(n, SCALAR_sub, x, zero);
  bool per_channel = ir_op_flag(n->op, "per_channel");
  ir_value_t* multiplier = spread_list(n, "multiplier", 1, x, per_channel);
  ir_value_t* shift = multiplier ? spread_list(n, "shift", 2, x, per_channel) : NULL;
  if (!shift) return false;
  x = tosa_scale(n, x, multiplier, shift, double_round);
  zero = tosa_zero_point(n, 4, "output_zp", wide);
  if (zero) x = op2(n, SCALAR_add, x, zero);
  return lower_return(n, tosa_saturate(n, x, lower_element(n->ctx, to), to_unsigned));
}

// i8: the table's 256 entries from -128 on. i16: 513 entries, 128 apart, with straight lines between them.
bool tosa_lower_table(lower_op_t* n) {
  ir_value_t *x = n->in[0], *table = n->in[1];
  const ir_type_t* element = ir_type_scalar(x->type);
  bool bytes = element == ir_type_int(n->ctx, 8), words = element == ir_type_int(n->ctx, 16);
  if (!ir_type_is_tensor(x->type) || table->type->rank != 1 || (!bytes && !words) ||
      table->type->dims[0] != (bytes ? 256 : 513) || table->type->element != element) {
    return lower_unsupported(n, "i8 with 256 entries and i16 with 513 are");
  }
  ir_value_t* index = graph_cast(n->b, x, ir_type_int(n->ctx, 32), false);
  if (bytes) {
    index = lower_with_number(n, SCALAR_add, index, 128);
    return lower_return(n, graph_take(n->b, table, index, 0, false));
  }
  const ir_type_t* wide = ir_type_int(n->ctx, 32);
  ir_value_t* part = lower_with_number(n, SCALAR_and, index, 127);
  index = lower_with_number(n, SCALAR_add, lower_with_number(n, SCALAR_shr, index, 7), 256);
  ir_value_t* base = graph_cast(n->b, graph_take(n->b, table, index, 0, false), wide, false);
  ir_value_t* after = graph_take(n->b, table, lower_with_number(n, SCALAR_add, index, 1), 0, false);
  ir_value_t* slope = graph_binary(n->b, SCALAR_sub, graph_cast(n->b, after, wide, false), base);
  slope = graph_cast(n->b, tosa_saturate(n, slope, element, false), wide, false);
  ir_value_t* y = lower_with_number(n, SCALAR_shl, base, 7);
  return lower_return(n, graph_binary(n->b, SCALAR_add, y, graph_binary(n->b, SCALAR_mul, slope, part)));
}
