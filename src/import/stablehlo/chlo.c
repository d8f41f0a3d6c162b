// CHLO ops that are more than a row: operands of different shapes, and small ones. The special functions are in
// special.c.
#include "dialects/chlo.h"

#include <math.h>

#include "import/control.h"
#include "import/linalg/ops.h"
#include "import/lowering_size.h"
#include "import/stablehlo/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// Implicit broadcasting
//===----------------------------------------------------------------------------------------------------------------===

// broadcast_dimensions says where the dims of the operand of lower rank go; by default they are the last ones.
static bool place_dims(lower_op_t* n, ir_value_t** low, int32_t rank) {
  int64_t where[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  uint32_t count;
  ir_value_t *x = *low, *dynamic[GRAPH_MAX_RANK];
  if (!ir_op_attr(n->op, "broadcast_dimensions") || x->type->rank == rank) return true;
  if (!lower_dims(n, "broadcast_dimensions", rank, where, &count)) return false;
  if (count != (uint32_t)x->type->rank) return lower_error(n, "needs one broadcast dimension per dimension");
  for (int32_t i = 0; i < rank; ++i) dims[i] = 1;
  for (uint32_t i = 0; i < count; ++i) {
    if (i && where[i] <= where[i - 1]) return lower_error(n, "needs broadcast_dimensions in increasing order");
    dims[where[i]] = x->type->dims[i];
  }
  lower_dynamic_dims(n->b, x, x->type, dynamic);
  *low = graph_reshape(n->b, x, rank, dims, dynamic);
  return true;
}

static bool together(lower_op_t* n, ir_value_t** x, ir_value_t** y) {
  *x = lower_as_tensor(n->b, *x);
  *y = lower_as_tensor(n->b, *y);
  int32_t xr = (*x)->type->rank, yr = (*y)->type->rank;
  if (!(xr < yr ? place_dims(n, x, yr) : place_dims(n, y, xr))) return false;
  return lower_broadcast_together(n->b, x, y);
}

bool chlo_broadcast_operands(lower_op_t* n, ir_value_t** x, ir_value_t** y) {
  *x = n->in[0], *y = n->in[1];
  if (!*x || !*y || !n->values[0].im != !n->values[1].im)
    return lower_unsupported(n, "tensors of one element type are");
  if (!together(n, x, y)) return false;
  return (*x)->type->element == (*y)->type->element || lower_error(n, "has operands of different element types");
}

// Both parts of complex operands.
static bool broadcast_parts(lower_op_t* n) {
  lower_value_t *x = &n->values[0], *y = &n->values[1];
  return chlo_broadcast_operands(n, &x->v, &y->v) && (!x->im || together(n, &x->im, &y->im));
}

bool chlo_lower_broadcast_binary(lower_op_t* n) {
  if (!broadcast_parts(n)) return false;
  if (n->values[0].im) return stablehlo_lower_complex_elementwise(n);
  ir_value_t *x = n->values[0].v, *y = n->values[1].v;
  scalar_fn_t fn = lower_row_fn(n, lower_in_type(n, 0));
  bool takes = scalar_info[fn].types & (lower_is_float(x->type) ? SCALAR_TYPES_F : SCALAR_TYPES_I);
  return takes ? lower_return(n, graph_binary(n->b, fn, x, y)) : lower_unsupported(n, NULL);
}

bool chlo_lower_broadcast_compare(lower_op_t* n) { return broadcast_parts(n) && stablehlo_lower_compare(n); }

bool chlo_lower_broadcast_complex(lower_op_t* n) {
  ir_value_t *x, *y;
  if (!chlo_broadcast_operands(n, &x, &y)) return false;
  n->out[0] = (lower_value_t){.v = x, .im = y};
  return true;
}

bool chlo_lower_broadcast_select(lower_op_t* n) {
  ir_value_t* values[3];
  for (uint32_t i = 0; i < 3; ++i) values[i] = lower_as_tensor(n->b, n->in[i]);
  if (!lower_is_bool(values[0]->type) || values[1]->type->element != values[2]->type->element) {
    return lower_error(n, "needs an i1 predicate and two operands of one type");
  }
  return lower_broadcast(n->b, values, 3) && lower_return(n, graph_select(n->b, values[0], values[1], values[2]));
}

//===----------------------------------------------------------------------------------------------------------------===
// Small ones
//===----------------------------------------------------------------------------------------------------------------===

static bool is_infinity(lower_op_t* n, double sign) {
  if (!lower_is_float(n->in[0]->type)) return lower_unsupported(n, "floats are");
  return lower_return(n, lower_with_number(n, SCALAR_eq, n->in[0], sign * INFINITY));
}
bool chlo_lower_is_pos_inf(lower_op_t* n) { return is_infinity(n, 1); }
bool chlo_lower_is_neg_inf(lower_op_t* n) { return is_infinity(n, -1); }

bool chlo_lower_mulhi(lower_op_t* n) {
  ir_value_t* values[2] = {n->in[0], n->in[1]};
  if (!lower_unify(n, values, 2)) return false;
  const ir_type_t *x = ir_type_scalar(values[0]->type), *y = ir_type_scalar(values[1]->type);
  bool fits = x == y && x->kind == IR_TYPE_INTEGER && (x->width <= 32 || x->width == 64);
  if (!fits) return lower_unsupported(n, "integers of up to 32 and of 64 bits are");
  return lower_return(n, arith_high_product(n, values[0], values[1], lower_is_unsigned(lower_in_type(n, 0))));
}

bool chlo_lower_conj(lower_op_t* n) {
  if (!n->in[0]) return lower_unsupported(n, "tensors are");
  n->out[0] = n->values[0];
  if (n->out[0].im) n->out[0].im = graph_unary(n->b, SCALAR_neg, n->out[0].im);
  return true;
}

bool chlo_lower_constant(lower_op_t* n) { return lower_constant(n, ir_op_attr(n->op, "value"), &n->out[0]); }

bool chlo_lower_constant_like(lower_op_t* n) {
  const ir_attr_t* value = ir_op_attr(n->op, "value");
  bool number = value && (value->kind == IR_ATTR_FLOAT || value->kind == IR_ATTR_INTEGER);
  if (!number) return lower_error(n, "needs a number as 'value'");
  lower_value_t constant = {0};
  if (!lower_constant(n, value, &constant)) return false;
  if (!n->in[0]) return lower_unsupported(n, "tensors are");
  n->out[0].v = lower_splat(n->b, constant.v, n->in[0]);
  if (n->values[0].im) n->out[0].im = lower_number_like(n, n->out[0].v, 0);
  return true;
}

bool chlo_lower_top_k(lower_op_t* n) {
  return lower_top_k(n, n->in[0], graph_index_constant(n->b, ir_op_int(n->op, "k", -1)), false);
}

// The next number from x towards y: one up or down on the bits of x, away from zero or towards it.
bool chlo_lower_next_after(lower_op_t* n) {
  ir_value_t *x, *y;
  if (!chlo_broadcast_operands(n, &x, &y)) return false;
  const ir_type_t* element = x->type->element;
  if (!ir_type_is_float(element)) return lower_unsupported(n, "floats are");
  uint32_t width = 8 * ir_type_bytes(element);
  const ir_type_t* bits_type = ir_type_int(n->ctx, width);
  ir_value_t* bits = graph_bitcast(n->b, x, bits_type);
  ir_value_t* zero = lower_number_like(n, x, 0);
  ir_value_t* up = graph_binary(n->b, SCALAR_gt, y, x);
  ir_value_t* positive = graph_binary(n->b, SCALAR_gt, x, zero);
  ir_value_t* outwards = graph_binary(n->b, SCALAR_eq, up, positive);
  ir_value_t* step = graph_select(n->b, outwards, lower_number_like(n, bits, 1), lower_number_like(n, bits, -1));
  ir_value_t* next = graph_bitcast(n->b, graph_binary(n->b, SCALAR_add, bits, step), element);
  ir_value_t* smallest = graph_bitcast(n->b, lower_number_like(n, bits, 1), element);
  ir_value_t* from_zero = graph_select(n->b, up, smallest, graph_unary(n->b, SCALAR_neg, smallest));
  next = graph_select(n->b, graph_binary(n->b, SCALAR_eq, x, zero), from_zero, next);
  next = graph_select(n->b, graph_binary(n->b, SCALAR_eq, x, y), y, next);
  ir_value_t* sum = graph_binary(n->b, SCALAR_add, x, y);  // NaN when one of them is
  ir_value_t* nan =
      graph_binary(n->b, SCALAR_or, graph_unary(n->b, SCALAR_is_nan, x), graph_unary(n->b, SCALAR_is_nan, y));
  return lower_return(n, graph_select(n->b, nan, sum, next));
}
