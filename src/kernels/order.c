// See order.h. Two elements, in either order of asking, give one answer: with the position as what decides between
// equals, every element has its own place, even when a program's comparator contradicts itself.
#include "kernels/order.h"

static bool is_descending(const ir_op_t* op) {
  return ir_is(op, GRAPH_TOP_K) ? !graph_get_smallest(op) : graph_get_descending(op);
}

uint32_t order_keys(const ir_op_t* op) {
  if (ir_is(op, GRAPH_SORT_GENERIC)) return op->result_count;
  return ir_is(op, GRAPH_TOP_K) ? 1 : (uint32_t)graph_get_keys(op);
}

bool order_supports(const ir_op_t* op) {
  if (ir_is(op, GRAPH_SORT_GENERIC)) return op->result_count <= REGION_VALUES && region_supports(op);
  return (ir_is(op, GRAPH_SORT) || ir_is(op, GRAPH_TOP_K)) && order_keys(op) <= REGION_VALUES;
}

bool order_proposes(const dispatch_t* d, candidate_t* c) {
  if (!order_supports(d->root)) return candidate_declines(c, "there are too many operands to order");
  for (uint32_t i = 0; i < d->yield->operand_count; ++i) {
    if (ir_operand(d->yield, i)->def != d->root) return candidate_declines(c, "something follows the order");
  }
  return candidate_evaluates(d, d->root, c);
}

// NaN is behind every number when ascending and before every number when descending.
static ir_value_t* key_before(kernel_build_t* k, const ir_op_t* op, ir_value_t* a, ir_value_t* b) {
  ir_builder_t* builder = &k->b;
  if (is_descending(op)) {
    ir_value_t* t = a;
    a = b;
    b = t;
  }
  ir_value_t* less = kernel_binary(builder, graph_get_unsigned(op) ? SCALAR_ltu : SCALAR_lt, a, b);
  if (ir_type_scalar(a->type)->kind != IR_TYPE_FLOAT) return less;
  ir_value_t* b_nan = kernel_unary(builder, SCALAR_is_nan, b);
  ir_value_t* a_number = kernel_binary(builder, SCALAR_eq, a, a);
  return kernel_binary(builder, SCALAR_or, less, kernel_binary(builder, SCALAR_and, b_nan, a_number));
}

ir_value_t* order_before(kernel_build_t* k, const ir_op_t* op, ir_value_t* const* a, ir_value_t* const* b) {
  uint32_t count = order_keys(op);
  ir_value_t* before = NULL;
  if (ir_is(op, GRAPH_SORT_GENERIC)) {
    ir_value_t* args[2 * REGION_VALUES];
    for (uint32_t i = 0; i < count; ++i) args[2 * i] = a[i], args[2 * i + 1] = b[i];
    region_apply(k, op->regions[0].first, args, &before);
    return before;
  }
  for (uint32_t i = count; i-- > 0;) {
    ir_value_t* less = key_before(k, op, a[i], b[i]);
    if (before) {
      ir_value_t* more = key_before(k, op, b[i], a[i]);
      ir_value_t* not_more = kernel_binary(&k->b, SCALAR_eq, more, kernel_integer(&k->b, more->type, 0));
      less = kernel_binary(&k->b, SCALAR_or, less, kernel_binary(&k->b, SCALAR_and, not_more, before));
    }
    before = less;
  }
  return before;
}

// A float's bits are in order but for the sign: of negative ones all are turned around, of others the sign. Zeros are
// one number, and NaNs, which are behind all others.
static ir_value_t* float_bits(kernel_build_t* k, ir_value_t* key) {
  ir_builder_t* b = &k->b;
  const ir_type_t *type = key->type, *whole = ir_type_int(k->ctx, type->width);
  ir_value_t *zero = kernel_number(b, type, 0), *is_zero = kernel_binary(b, SCALAR_eq, key, zero);
  key = kernel_ternary(b, SCALAR_select, is_zero, zero, key);
  ir_value_t *is_nan = kernel_unary(b, SCALAR_is_nan, key), *bits = kernel_cast(b, SCALAR_bitcast, key, whole);
  int64_t sign = (int64_t)(~0ull << (type->width - 1));
  ir_value_t* is_negative = kernel_binary(b, SCALAR_lt, bits, kernel_integer(b, whole, 0));
  ir_value_t* turned = kernel_binary(b, SCALAR_xor, bits, kernel_integer(b, whole, -1));
  bits = kernel_binary(b, SCALAR_xor, bits, kernel_integer(b, whole, sign));
  bits = kernel_ternary(b, SCALAR_select, is_negative, turned, bits);
  return kernel_ternary(b, SCALAR_select, is_nan, kernel_integer(b, whole, -1), bits);
}

ir_value_t* order_bits(kernel_build_t* k, const ir_op_t* op, ir_value_t* key) {
  ir_builder_t* b = &k->b;
  const ir_type_t* type = key->type;
  if (type->kind == IR_TYPE_FLOAT) {
    key = float_bits(k, key);
  } else if (!graph_get_unsigned(op)) {
    int64_t sign = (int64_t)(~0ull << (type->width - 1));
    key = kernel_binary(b, SCALAR_xor, key, kernel_integer(b, type, sign));
  }
  return is_descending(op) ? kernel_binary(b, SCALAR_xor, key, kernel_integer(b, key->type, -1)) : key;
}
