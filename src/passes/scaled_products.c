// Products of scaled bytes, as quantised models write them between a dequantisation and the next quantisation: what is
// multiplied are the bytes, and the sums are scaled.
//
//   %1 = mul (cast (sub (cast %x : i8 -> i32), 3) : f32), 0.05      %1 = sub (cast %x : i8 -> i32), 3
//   %2 = mul (cast (cast dense<...> : i8 -> i32) : f32), %s    =>   %2 = cast dense<...> : i8 -> i32
//   %3 = conv %1, %2 : f32                                          %3 = mul (cast (conv %1, %2 : i32) : f32), 0.05 *
//   %s
//
// Sums of integers are exact, so the result is at least as near to the true one as sums of rounded floats are. Scales
// are one for the left operand and one, or one for each output channel, for the right one, whose bytes are known; sizes
// of the left one may be known at a call only.
// byte_products.c and exact_floats.c multiply the integers.
#include "dialects/graph.h"
#include "ir/rewrite.h"
#include "passes/integers.h"
#include "passes/passes.h"

enum { MOST_PRODUCTS = INT32_MAX / (255 * 255) };  // that surely add up to an i32

// `integers` times `scale`: one number, or one for each entry of dimension `axis` (-1: one).
typedef struct scaled_t {
  ir_value_t *integers, *scale;
  const ir_attr_t* known;  // the number, in place of `scale`
  int64_t axis;
  const ir_value_t* bytes;
} scaled_t;

static bool is_tensor_of(const ir_type_t* type, const ir_type_t* element) {
  return ir_type_is_tensor(type) && type->element == element;
}

static bool is_cast(const ir_value_t* value) {
  return value->def && (ir_is(value->def, GRAPH_cast) || ir_is(value->def, GRAPH_castu));
}

// Bytes as i32, less a zero point of as many bits.
static bool read_integers(ir_context_t* ctx, ir_value_t* value, scaled_t* out) {
  const ir_type_t *i8 = ir_type_int(ctx, 8), *i32 = ir_type_int(ctx, 32);
  if (!is_tensor_of(value->type, i32)) return false;
  const ir_value_t* from = value;
  if (from->def && ir_is(from->def, GRAPH_sub)) {
    const ir_value_t* zero = ir_operand(from->def, 1);
    while (zero->def && ir_is(zero->def, GRAPH_BROADCAST)) zero = ir_operand(zero->def, 0);
    const ir_attr_t* known = graph_constant_value(zero);
    bool is_byte = is_cast(zero) && is_tensor_of(ir_operand(zero->def, 0)->type, i8);
    bool one = known && (known->splat || ir_type_count(known->type) == 1);
    if (!is_byte &&
        !(one && ir_attr_element_integer(known, 0) >= INT8_MIN && ir_attr_element_integer(known, 0) <= UINT8_MAX)) {
      return false;
    }
    from = ir_operand(from->def, 0);
  }
  if (!is_cast(from)) return false;
  out->integers = value;
  out->bytes = ir_operand(from->def, 0);
  return is_tensor_of(out->bytes->type, i8);
}

static bool read_scale(ir_value_t* value, scaled_t* out) {
  const ir_attr_t* known = graph_constant_value(value);
  out->axis = -1;
  out->known = known && known->splat ? known : NULL;
  if (out->known) return true;
  if (!value->def || !ir_is(value->def, GRAPH_BROADCAST)) return false;
  out->scale = ir_operand(value->def, 0);
  const ir_type_t* type = out->scale->type;
  if (type->rank == 1) graph_get_dims(value->def, &out->axis);
  return type->rank == 0 || (type->rank == 1 && type->dims[0] == value->type->dims[out->axis]);
}

static ir_value_t* build_scale(ir_builder_t* b, const scaled_t* x) {
  if (!x->known) return x->scale;
  const ir_type_t* scalar = ir_type_tensor(b->ctx, x->known->type->element, 0, NULL);
  return graph_constant(b, ir_attr_elements(b->ctx, scalar, ir_attr_data(x->known), x->known->size));
}

static bool read_scaled(ir_context_t* ctx, ir_value_t* value, scaled_t* out) {
  const ir_type_t* f32 = ir_type_float(ctx, IR_F32);
  if (!value->def || !ir_is(value->def, GRAPH_mul) || !is_tensor_of(value->type, f32)) return false;
  for (uint32_t i = 0; i < 2; ++i) {
    ir_value_t* floats = ir_operand(value->def, i);
    if (!floats->def || !ir_is(floats->def, GRAPH_cast)) continue;
    if (!read_integers(ctx, ir_operand(floats->def, 0), out)) continue;
    return read_scale(ir_operand(value->def, 1 - i), out);
  }
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Products
//===----------------------------------------------------------------------------------------------------------------===

// What of a product's operands and result holds its output channels.
typedef struct channels_t {
  int64_t weights, result;  // dimensions
} channels_t;

// False where the scales of weights are none of output channels.
static bool find_channels(const ir_op_t* op, const ir_type_t* weights, int64_t scaled, channels_t* out) {
  if (ir_is(op, GRAPH_CONV)) {
    graph_conv_t conv = graph_conv_read(op);
    out->weights = graph_layout_axis(conv.w_layout, 'o');
    out->result = graph_layout_axis(conv.y_layout, 'c');
  } else {
    int64_t list[GRAPH_MAX_RANK];
    if (graph_get_lhs_batch(op, list) || graph_get_rhs_contract(op, list) != 1 || weights->rank != 2) return false;
    out->weights = 1 - list[0];
    out->result = op->results[0].type->rank - 1;
  }
  return scaled < 0 || scaled == out->weights;
}

// The scales of both operands, as what the result `y` is multiplied by.
static ir_value_t* join_scales(ir_builder_t* b, ir_value_t* y, int64_t channel, const scaled_t* x, const scaled_t* w) {
  ir_value_t *left = build_scale(b, x), *right = build_scale(b, w);
  const ir_type_t* type = right->type;
  if (type->rank) left = graph_broadcast(b, left, type, NULL, NULL);
  ir_value_t* both = graph_binary(b, SCALAR_mul, left, right);
  return graph_broadcast_like(b, both, y, type->rank ? &channel : NULL);
}

static ir_value_t* multiply_integers(ir_builder_t* b, ir_op_t* op) {
  const ir_type_t *f32 = ir_type_float(b->ctx, IR_F32), *y = op->results[0].type;
  scaled_t x, w;
  channels_t channels;
  if ((!ir_is(op, GRAPH_CONV) && !ir_is(op, GRAPH_CONTRACT)) || !is_tensor_of(y, f32)) return NULL;
  ir_value_t *lhs = ir_operand(op, 0), *before = integers_before_moves(lhs);
  if (!read_scaled(b->ctx, before, &x) || x.axis >= 0) return NULL;
  if (!read_scaled(b->ctx, ir_operand(op, 1), &w) || !graph_constant_value(w.bytes)) return NULL;
  const ir_type_t* weights = w.integers->type;
  if (!find_channels(op, weights, w.axis, &channels)) return NULL;
  int64_t products = ir_type_count(weights), outputs = weights->dims[channels.weights];
  if (outputs == 0 || products / outputs > MOST_PRODUCTS) return NULL;
  ir_value_t* integers = integers_moved(b, lhs, before, x.integers);
  ir_value_t* sums = integers_product(b, op, integers, w.integers, ir_type_int(b->ctx, 32));
  sums = graph_cast(b, sums, f32, false);
  return graph_binary(b, SCALAR_mul, sums, join_scales(b, sums, channels.result, &x, &w));
}

pass_result_t pass_scaled_products(ir_op_t* module, ir_context_t* ctx) {
  static const rewrite_fn_t rule = multiply_integers;
  return rewrite_greedily(ctx, module, &rule, 1) ? PASS_CHANGED : PASS_UNCHANGED;
}
