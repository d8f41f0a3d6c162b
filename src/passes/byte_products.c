// Products of bytes, for processors that add four of them up at once (dot_bytes): what quantised models multiply, bytes
// less a zero point by known weights. The zero point leaves the sums: what it adds to each is known, or one product
// away.
//
//   %1 = sub (castu %x : i8 -> i32), 128             %1 = pad %x, 128
//   %2 = conv %1, dense<...> : i32               =>  %2 = conv %1, dense<...> {unsigned_lhs} : i8 -> i32
//                                                    %3 = sub %2, 128 * (sums of the weights)
//
// Integers wrap around, so every step is exact. Signed bytes become unsigned ones by turning their highest bit. A
// contraction is a convolution of one row. Images may have any number and size that only a call knows. What does not
// fit is left for exact_floats.c.
#include <string.h>

#include "base/memory.h"
#include "dialects/graph.h"
#include "ir/rewrite.h"
#include "passes/integers.h"
#include "passes/passes.h"

enum { WORD = 4, LEAST_CHANNELS = 3, HIGHEST = 128 };

// Numbers x - zero for unsigned bytes x, which are `from` with its highest bits turned or not, and moved as `before` is
// to be the operand.
typedef struct bytes_t {
  ir_value_t *operand, *before, *from;
  const ir_type_t* type;  // of x, or of the one row of pixels that x is taken as
  bool turned;
  int64_t zero;
  ir_value_t* added_zero;  // one i32 more that is known at run time only, or NULL
} bytes_t;

static bool is_int(const ir_type_t* type, uint32_t width) {
  return ir_type_is_tensor(type) && ir_type_is_int(type->element) && type->element->width == width;
}

// The one number that a tensor is full of: known, or a tensor of one element.
static bool read_zero(ir_value_t* value, bytes_t* out) {
  while (value->def && ir_is(value->def, GRAPH_BROADCAST)) value = ir_operand(value->def, 0);
  const ir_attr_t* attr = graph_constant_value(value);
  if (!ir_type_is_static(value->type)) return false;
  if (attr && (attr->splat || ir_type_count(attr->type) == 1)) {
    out->zero = ir_attr_element_integer(attr, 0);
    return true;
  }
  if (attr || ir_type_count(value->type) != 1) return false;
  out->added_zero = value;
  return true;
}

static bool read_bytes(ir_context_t* ctx, ir_value_t* value, bytes_t* out) {
  *out = (bytes_t){.operand = value, .before = integers_before_moves(value)};
  ir_op_t* op = out->before->def;
  if (op && ir_is(op, GRAPH_sub)) {
    if (!read_zero(ir_operand(op, 1), out)) return false;
    op = ir_operand(op, 0)->def;
  }
  if (!op || (!ir_is(op, GRAPH_castu) && !ir_is(op, GRAPH_cast))) return false;
  out->from = ir_operand(op, 0);
  out->type = ir_type_with_element(ctx, value->type, ir_type_scalar(out->from->type));
  out->turned = ir_is(op, GRAPH_cast);
  out->zero += out->turned ? HIGHEST : 0;
  return is_int(out->type, 8) && ir_type_count(out->type) != 0;
}

static ir_value_t* build_bytes(ir_builder_t* b, const bytes_t* x) {
  ir_value_t* value = x->from;
  const ir_type_t* scalar = ir_type_tensor(b->ctx, value->type->element, 0, NULL);
  if (x->turned) {
    ir_value_t* bit = graph_broadcast_like(b, graph_splat_integer(b, scalar, HIGHEST), value, NULL);
    value = graph_binary(b, SCALAR_xor, value, bit);
  }
  value = integers_moved(b, x->operand, x->before, value);
  if (value->type->rank == x->type->rank) return value;
  ir_value_t* rows = graph_dim(b, value, 0);
  return graph_reshape(b, value, x->type->rank, x->type->dims, &rows);
}

//===----------------------------------------------------------------------------------------------------------------===
// Weights
//===----------------------------------------------------------------------------------------------------------------===

// Weights as bytes, and their sum for each output channel. False when one is no byte.
static bool narrow_weights(const ir_attr_t* attr, const char* layout, int8_t* bytes, int32_t* sums) {
  const ir_type_t* type = attr->type;
  int64_t count = ir_type_count(type), inner = 1, channel = graph_layout_axis(layout, 'o');
  for (int32_t d = (int32_t)channel + 1; d < type->rank; ++d) inner *= type->dims[d];
  const char* data = ir_attr_data(attr);
  memset(sums, 0, sizeof(*sums) * (size_t)type->dims[channel]);
  for (int64_t i = 0; i < count; ++i) {
    int32_t element;
    memcpy(&element, data + (attr->splat ? 0 : sizeof(element) * (size_t)i), sizeof(element));
    if (element != (int8_t)element) return false;
    bytes[i] = (int8_t)element;
    int32_t* sum = &sums[i / inner % type->dims[channel]];
    *sum = (int32_t)((uint32_t)*sum + (uint32_t)element);
  }
  return true;
}

// zero * sums of weights, in the shape of the product `y`.
static ir_value_t* share_of_zero(ir_builder_t* b, const bytes_t* x, int32_t* sums, ir_value_t* y, int64_t axis) {
  const ir_type_t* i32 = ir_type_scalar(y->type);
  int64_t channels = y->type->dims[axis];
  const ir_type_t* type = ir_type_tensor(b->ctx, i32, 1, &channels);
  size_t bytes = sizeof(*sums) * (size_t)channels;
  ir_value_t* share = NULL;
  if (x->added_zero) {
    ir_value_t* zero = graph_reshape(b, x->added_zero, 0, NULL, NULL);
    zero = graph_binary(b, SCALAR_add, zero, graph_splat_integer(b, zero->type, x->zero));
    ir_value_t* known = graph_constant(b, ir_attr_elements(b->ctx, type, sums, bytes));
    share = graph_binary(b, SCALAR_mul, graph_broadcast(b, zero, type, NULL, NULL), known);
  } else {
    for (int64_t i = 0; i < channels; ++i) sums[i] = (int32_t)((uint32_t)sums[i] * (uint32_t)x->zero);
    share = graph_constant(b, ir_attr_elements(b->ctx, type, sums, bytes));
  }
  return graph_broadcast_like(b, share, y, &axis);
}

//===----------------------------------------------------------------------------------------------------------------===
// Products
//===----------------------------------------------------------------------------------------------------------------===

// How much the zero point has to be written around the image in place of the padding; the convolution has none then.
typedef struct frame_t {
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK];
  bool any;
} frame_t;

// False when it cannot be.
static bool find_frame(const bytes_t* x, graph_conv_t* c, frame_t* out) {
  bool plain = true;
  *out = (frame_t){0};
  if (x->zero == 0 && !x->added_zero) return true;
  for (int32_t i = 0; i + 2 < x->type->rank; ++i) {
    int64_t axis = graph_layout_axis(c->x_layout, (char)('0' + i));
    out->low[axis] = c->pad_low[i], out->high[axis] = c->pad_high[i];
    out->any |= c->pad_low[i] || c->pad_high[i];
    plain &= c->pad_low[i] >= 0 && c->pad_high[i] >= 0 && c->x_dilation[i] == 1;
    c->pad_low[i] = c->pad_high[i] = 0;
  }
  return plain && (!out->any || (!x->added_zero && x->zero >= 0 && x->zero <= UINT8_MAX));
}

static ir_value_t* write_frame(ir_builder_t* b, const bytes_t* x, ir_value_t* image, const frame_t* frame) {
  static const int64_t none[GRAPH_MAX_RANK];
  if (!frame->any) return image;
  ir_value_t* zero = graph_splat_integer(b, ir_type_tensor(b->ctx, image->type->element, 0, NULL), x->zero);
  return graph_pad(b, image, zero, frame->low, frame->high, none, "constant");
}

// Channels that a group multiplies, as far as words are made of them.
static bool fits_words(const ir_type_t* x, const ir_type_t* w, const graph_conv_t* c) {
  int64_t channels = w->dims[graph_layout_axis(c->w_layout, 'i')], axis = graph_layout_axis(c->x_layout, 'c');
  if (c->batch_groups != 1 || x->rank < 3 || channels < LEAST_CHANNELS) return false;
  if ((c->groups > 1 && channels % WORD) || x->dims[axis] == IR_DYNAMIC) return false;
  return axis == 1 || (axis == x->rank - 1 && x->dims[axis] % WORD == 0);
}

static ir_value_t* convolve(ir_builder_t* b, const bytes_t* x, const ir_attr_t* weights, graph_conv_t* c) {
  const ir_type_t *i32 = ir_type_scalar(weights->type), *i8 = ir_type_int(b->ctx, 8);
  frame_t frame;
  if (!fits_words(x->type, weights->type, c) || !find_frame(x, c, &frame)) return NULL;
  int64_t count = ir_type_count(weights->type), outputs = weights->type->dims[graph_layout_axis(c->w_layout, 'o')];
  int8_t* bytes = memory_alloc((size_t)count + 1);
  int32_t* sums = memory_array((size_t)outputs + 1, sizeof(*sums));
  ir_value_t* y = NULL;
  if (narrow_weights(weights, c->w_layout, bytes, sums)) {
    const ir_type_t* type = ir_type_with_element(b->ctx, weights->type, i8);
    ir_value_t* w = graph_constant(b, ir_attr_elements(b->ctx, type, bytes, (size_t)count));
    c->unsigned_lhs = true;
    y = graph_conv(b, write_frame(b, x, build_bytes(b, x), &frame), w, c, i32);
    if (x->zero || x->added_zero) {
      y = graph_binary(b, SCALAR_sub, y, share_of_zero(b, x, sums, y, graph_layout_axis(c->y_layout, 'c')));
    }
  }
  memory_free(bytes);
  memory_free(sums);
  return y;
}

// [rows, depth] x [depth, columns] as a convolution of one row of pixels.
static ir_value_t* contract_bytes(ir_builder_t* b, ir_op_t* op, bytes_t* x, const ir_attr_t* weights) {
  const ir_type_t *lhs = x->type, *rhs = weights->type;
  int64_t axis = -1, none;
  if (lhs->rank != 2 || rhs->rank != 2 || graph_attr_one(op, GRAPH_ATTR_lhs_batch, &none)) return NULL;
  if (graph_attr_one(op, GRAPH_ATTR_lhs_contract, &axis) != 1 || axis != 1) return NULL;
  if (graph_attr_one(op, GRAPH_ATTR_rhs_contract, &axis) != 1 || axis != 0) return NULL;
  graph_conv_t c = {.x_layout = "n0c", .w_layout = "io0", .y_layout = "n0c", .groups = 1, .batch_groups = 1};
  c.strides[0] = c.x_dilation[0] = c.w_dilation[0] = 1;
  const ir_type_t* taps = ir_type_tensor(b->ctx, rhs->element, 3, (int64_t[]){rhs->dims[0], rhs->dims[1], 1});
  if (weights->splat) return NULL;
  weights = ir_attr_elements(b->ctx, taps, ir_attr_data(weights), weights->size);
  x->type = ir_type_tensor(b->ctx, lhs->element, 3, (int64_t[]){1, lhs->dims[0], lhs->dims[1]});
  ir_value_t* y = convolve(b, x, weights, &c);
  if (!y) return NULL;
  ir_value_t* rows = graph_dim(b, x->operand, 0);
  return graph_reshape(b, y, 2, op->results[0].type->dims, &rows);
}

static ir_value_t* multiply_bytes(ir_builder_t* b, ir_op_t* op) {
  bytes_t x;
  bool is_conv = ir_is(op, GRAPH_CONV);
  if ((!is_conv && !ir_is(op, GRAPH_CONTRACT)) || !is_int(op->results[0].type, 32)) return NULL;
  if (!is_int(ir_operand(op, 1)->type, 32) || !read_bytes(b->ctx, ir_operand(op, 0), &x)) return NULL;
  const ir_attr_t* weights = integers_known(b->ctx, ir_operand(op, 1));
  if (!weights || ir_type_count(weights->type) == 0) return NULL;
  if (!is_conv) return contract_bytes(b, op, &x, weights);
  graph_conv_t c = graph_conv_read(op);
  return convolve(b, &x, weights, &c);
}

pass_result_t pass_byte_products(ir_op_t* module, ir_context_t* ctx) {
  static const rewrite_fn_t rule = multiply_bytes;
  return rewrite_greedily(ctx, module, &rule, 1) ? PASS_CHANGED : PASS_UNCHANGED;
}
