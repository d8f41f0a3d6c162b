// TOSA's tensor operators: convolutions, pooling, products, transforms, argmax.
#include <math.h>
#include <string.h>

#include "dialects/tosa.h"
#include "import/tosa/ops.h"

static const ir_type_t* result_element(lower_op_t* n) {
  return lower_element(n->ctx, ir_type_scalar(lower_out_type(n, 0)));
}

// Narrow floats add up in f32.
static const ir_type_t* accumulator_of(lower_op_t* n, const ir_type_t* element) {
  return ir_type_is_float(element) && ir_type_bytes(element) < 4 ? ir_type_float(n->ctx, IR_F32) : element;
}

// A list attribute of sizes, none below `least`.
static bool sizes_attr(lower_op_t* n, const char* name, uint32_t count, int64_t least, int64_t* out) {
  if (!ir_op_attr(n->op, name) && least == 1 && strcmp(name, "dilation") == 0) {
    for (uint32_t i = 0; i < count; ++i) out[i] = 1;
    return true;
  }
  if (!lower_ints(n, name, out, count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    if (out[i] < least || out[i] > INT32_MAX) return lower_error(n, "has %lld in '%s'", (long long)out[i], name);
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Convolutions: input, weight, bias [, input zero point, weight zero point]
//===----------------------------------------------------------------------------------------------------------------===

static bool check_conv(lower_op_t* n, int32_t rank) {
  if (n->op->operand_count != 3 && n->op->operand_count != 5) return lower_error(n, "needs input, weight and bias");
  for (uint32_t i = 0; i < 2; ++i) {
    if (!lower_check_rank(n, i, rank)) return false;
  }
  const ir_type_t* w = n->in[1]->type;
  if (!ir_type_is_static(w) || n->in[0]->type->dims[rank - 1] == IR_DYNAMIC) {
    return lower_unsupported(n, "channels and weights of static shape are");
  }
  if (ir_type_count(w) == 0) return lower_unsupported(n, "weights without elements are not");
  return ir_type_is_tensor(n->in[2]->type) && n->in[2]->type->rank == 1 ? true
                                                                        : lower_error(n, "needs a bias of rank 1");
}

static bool read_steps(lower_op_t* n, uint32_t spatial, graph_conv_t* c) {
  int64_t pad[2 * GRAPH_MAX_SPATIAL];
  if (!sizes_attr(n, "stride", spatial, 1, c->strides) || !sizes_attr(n, "dilation", spatial, 1, c->w_dilation) ||
      !sizes_attr(n, "pad", 2 * spatial, 0, pad)) {
    return false;
  }
  for (uint32_t i = 0; i < spatial; ++i) {
    c->pad_low[i] = pad[2 * i];
    c->pad_high[i] = pad[2 * i + 1];
    c->x_dilation[i] = 1;
  }
  return true;
}

static bool finish_conv(lower_op_t* n, ir_value_t* x, ir_value_t* w, const graph_conv_t* c, int64_t channels) {
  const ir_type_t *element = result_element(n), *accumulator = accumulator_of(n, element);
  ir_value_t* y = graph_cast(n->b, graph_conv(n->b, x, w, c, accumulator), element, false);
  ir_value_t *bias = graph_cast(n->b, n->in[2], element, false), *dynamic[GRAPH_MAX_RANK];
  int64_t last = y->type->rank - 1, count = bias->type->dims[0];
  if (count != 1 && count != channels)
    return lower_error(n, "has a bias of %lld for %lld channels", (long long)count, (long long)channels);
  lower_dynamic_dims(n->b, y, y->type, dynamic);
  double zero;
  if (lower_splat_value(bias, &zero) && zero == 0) return lower_return(n, y);
  bias = graph_broadcast(n->b, bias, y->type, &last, dynamic);
  return lower_return(n, graph_binary(n->b, SCALAR_add, y, bias));
}

static ir_value_t* input_of(lower_op_t* n, uint32_t i) {
  return tosa_without_zero(n, n->in[i], 3 + i, i ? "weight_zp" : "input_zp", result_element(n));
}

static bool conv(lower_op_t* n, uint32_t spatial, const char* x_layout, const char* w_layout) {
  graph_conv_t c = {.x_layout = x_layout, .w_layout = w_layout, .y_layout = x_layout, .groups = 1, .batch_groups = 1};
  if (!check_conv(n, (int32_t)spatial + 2) || !read_steps(n, spatial, &c)) return false;
  const ir_type_t *x = n->in[0]->type, *w = n->in[1]->type;
  if (x->dims[spatial + 1] != w->dims[spatial + 1]) return lower_error(n, "has other channels than its weights");
  return finish_conv(n, input_of(n, 0), input_of(n, 1), &c, w->dims[0]);
}

bool tosa_lower_conv2d(lower_op_t* n) { return conv(n, 2, "n01c", "o01i"); }
bool tosa_lower_conv3d(lower_op_t* n) { return conv(n, 3, "n012c", "o012i"); }

// Weights [h, w, c, m] become [h, w, 1, c * m].
bool tosa_lower_depthwise_conv2d(lower_op_t* n) {
  graph_conv_t c = {.x_layout = "n01c", .w_layout = "01io", .y_layout = "n01c", .batch_groups = 1};
  if (!check_conv(n, 4) || !read_steps(n, 2, &c)) return false;
  const int64_t* w = n->in[1]->type->dims;
  if (n->in[0]->type->dims[3] != w[2]) return lower_error(n, "has other channels than its weights");
  int64_t dims[4] = {w[0], w[1], 1, w[2] * w[3]};
  c.groups = w[2];
  return finish_conv(n, input_of(n, 0), graph_reshape(n->b, input_of(n, 1), 4, dims, NULL), &c, dims[3]);
}

// The convolution whose gradient this is: gaps between the input's elements, weights turned around.
bool tosa_lower_transpose_conv2d(lower_op_t* n) {
  static const int64_t spatial[2] = {1, 2};
  graph_conv_t c = {.x_layout = "n01c", .w_layout = "o01i", .y_layout = "n01c", .groups = 1, .batch_groups = 1};
  int64_t pad[4];
  if (!check_conv(n, 4) || !sizes_attr(n, "stride", 2, 1, c.x_dilation) || !lower_ints(n, "out_pad", pad, 4)) {
    return false;
  }
  const ir_type_t *x = n->in[0]->type, *w = n->in[1]->type;
  if (x->dims[3] != w->dims[3]) return lower_error(n, "has other channels than its weights");
  for (int i = 0; i < 2; ++i) {
    c.strides[i] = c.w_dilation[i] = 1;
    c.pad_low[i] = w->dims[1 + i] - 1 + pad[2 * i];
    c.pad_high[i] = w->dims[1 + i] - 1 + pad[2 * i + 1];
    if (c.pad_low[i] < 0 || c.pad_high[i] < 0) return lower_unsupported(n, "an out_pad that crops so much is not");
  }
  return finish_conv(n, input_of(n, 0), graph_reverse(n->b, input_of(n, 1), spatial, 2), &c, w->dims[0]);
}

//===----------------------------------------------------------------------------------------------------------------===
// Pooling
//===----------------------------------------------------------------------------------------------------------------===

static bool read_pool(lower_op_t* n, graph_window_t* w) {
  int64_t kernel[2], stride[2], pad[4];
  if (!lower_check_rank(n, 0, 4) || !sizes_attr(n, "kernel", 2, 1, kernel) || !sizes_attr(n, "stride", 2, 1, stride) ||
      !sizes_attr(n, "pad", 4, 0, pad)) {
    return false;
  }
  for (int i = 0; i < 4; ++i) {
    bool inner = i == 1 || i == 2;
    w->sizes[i] = inner ? kernel[i - 1] : 1;
    w->strides[i] = inner ? stride[i - 1] : 1;
    w->dilations[i] = w->base_dilations[i] = 1;
    w->pad_low[i] = inner ? pad[2 * (i - 1)] : 0;
    w->pad_high[i] = inner ? pad[2 * (i - 1) + 1] : 0;
  }
  return true;
}

bool tosa_lower_max_pool2d(lower_op_t* n) {
  graph_window_t w = {.kind = lower_is_unsigned(lower_in_type(n, 0)) ? "maxu" : "max"};
  if (n->op->operand_count != 1 || !read_pool(n, &w)) return false;
  ir_value_t* x = n->in[0];
  if (lower_is_float(x->type) && strcmp(tosa_word(n, "nan_mode"), "IGNORE") == 0) {
    x = graph_select(n->b, graph_unary(n->b, SCALAR_is_nan, x), lower_number_like(n, x, -INFINITY), x);
  }
  return lower_return(n, graph_window(n->b, x, &w));
}

// Whether tables with an entry for each window can be made.
static bool check_windows(lower_op_t* n, const ir_type_t* y) {
  bool fits = y->dims[1] >= 0 && y->dims[2] >= 0 && y->dims[1] <= 1 << 14 && y->dims[2] <= 1 << 14;
  return fits || lower_unsupported(n, "heights and widths that are known, and below 16384, are");
}

// How many elements each window has: padding does not count. [1, h, w, 1]
static double* window_counts(lower_op_t* n, const graph_window_t* w, const ir_type_t* x, const ir_type_t* y) {
  int64_t height = y->dims[1], width = y->dims[2];
  double* counts = ARENA_ARRAY(ir_context_arena(n->ctx), double, height* width + 1);
  for (int64_t i = 0; i < height * width; ++i) {
    int64_t at[2] = {i / width, i % width}, product = 1;
    for (int k = 0; k < 2; ++k) {
      int64_t first = at[k] * w->strides[1 + k] - w->pad_low[1 + k], last = first + w->sizes[1 + k];
      if (first < 0) first = 0;
      if (last > x->dims[1 + k]) last = x->dims[1 + k];
      product *= last > first ? last - first : 1;
    }
    counts[i] = (double)product;
  }
  return counts;
}

static ir_value_t* spread_counts(lower_op_t* n, const ir_type_t* element, const double* values, ir_value_t* like) {
  int64_t dims[2] = {like->type->dims[1], like->type->dims[2]}, at[2] = {1, 2}, count = dims[0] * dims[1];
  uint32_t bytes = ir_type_bytes(element);
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  char* data = arena_alloc(ir_context_arena(n->ctx), (size_t)count * bytes + 1);
  for (int64_t i = 0; i < count; ++i) {
    scalar_store(element, (scalar_value_t){.f = values[i], .i = (int64_t)values[i]}, data + i * bytes);
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, element, 2, dims);
  ir_value_t* v = graph_constant(n->b, ir_attr_elements_borrow(n->ctx, type, data, (size_t)count * bytes));
  lower_dynamic_dims(n->b, like, like->type, dynamic);
  return graph_broadcast(n->b, v, ir_type_with_element(n->ctx, like->type, element), at, dynamic);
}

// Integers: the sum times a rounded reciprocal of the count with 30 bits.
static ir_value_t* integer_average(lower_op_t* n, ir_value_t* sum, double* counts) {
  const ir_type_t* wide = ir_type_int(n->ctx, 64);
  int64_t total = sum->type->dims[1] * sum->type->dims[2];
  double *multipliers = ARENA_ARRAY(ir_context_arena(n->ctx), double, total + 1), *shifts = counts;
  for (int64_t i = 0; i < total; ++i) {
    int64_t count = (int64_t)counts[i], bits = 0;
    while (((int64_t)1 << bits) < count) ++bits;
    multipliers[i] = (double)((((int64_t)1 << 30) + 1) * ((int64_t)1 << bits) / count);
    shifts[i] = (double)(30 + bits);
  }
  ir_value_t* multiplier = spread_counts(n, wide, multipliers, sum);
  ir_value_t* shift = spread_counts(n, wide, shifts, sum);
  return tosa_scale(n, graph_cast(n->b, sum, wide, false), multiplier, shift, false);
}

bool tosa_lower_avg_pool2d(lower_op_t* n) {
  graph_window_t w = {.kind = "add"};
  ir_value_t* x = n->in[0];
  if ((n->op->operand_count != 1 && n->op->operand_count != 3) || !read_pool(n, &w)) return false;
  const ir_type_t *element = result_element(n), *i32 = ir_type_int(n->ctx, 32), *type = x->type;
  if (type->dims[1] == IR_DYNAMIC || type->dims[2] == IR_DYNAMIC)
    return lower_unsupported(n, "a known height and width are");
  if (ir_type_is_float(element)) {
    const ir_type_t* sums = accumulator_of(n, element);
    ir_value_t* y = graph_window(n->b, graph_cast(n->b, x, sums, false), &w);
    if (!check_windows(n, y->type)) return false;
    ir_value_t* counts = spread_counts(n, sums, window_counts(n, &w, type, y->type), y);
    return lower_return(n, graph_cast(n->b, graph_binary(n->b, SCALAR_div, y, counts), element, false));
  }
  bool is_unsigned = lower_is_unsigned(lower_in_type(n, 0));
  ir_value_t* zero = tosa_zero_point(n, 1, "input_zp", i32);
  x = graph_cast(n->b, x, i32, is_unsigned);
  if (zero) x = lower_binary(n, SCALAR_sub, x, zero);
  ir_value_t* y = graph_window(n->b, x, &w);
  if (!check_windows(n, y->type)) return false;
  y = integer_average(n, y, window_counts(n, &w, type, y->type));
  zero = tosa_zero_point(n, 2, "output_zp", ir_type_int(n->ctx, 64));
  if (zero) y = lower_binary(n, SCALAR_add, y, zero);
  return lower_return(n, tosa_saturate(n, y, element, is_unsigned));
}

//===----------------------------------------------------------------------------------------------------------------===
// Products
//===----------------------------------------------------------------------------------------------------------------===

// a [n, h, c], b [n, c, w] [, zero points]
bool tosa_lower_matmul(lower_op_t* n) {
  static const int64_t zero = 0, one = 1, two = 2;
  if (n->op->operand_count != 2 && n->op->operand_count != 4) return lower_error(n, "needs two operands");
  if (!lower_check_rank(n, 0, 3) || !lower_check_rank(n, 1, 3)) return false;
  const int64_t *a = n->in[0]->type->dims, *b = n->in[1]->type->dims;
  bool fits = (a[0] == b[0] || a[0] == IR_DYNAMIC || b[0] == IR_DYNAMIC) &&
              (a[2] == b[1] || a[2] == IR_DYNAMIC || b[1] == IR_DYNAMIC);
  if (!fits) return lower_error(n, "has operands that do not fit together");
  const ir_type_t* element = result_element(n);
  graph_contract_t c = {&zero, &zero, &two, &one, 1, 1, false, false};
  ir_value_t* x = tosa_without_zero(n, n->in[0], 2, "a_zp", element);
  ir_value_t* y = tosa_without_zero(n, n->in[1], 3, "b_zp", element);
  ir_value_t* product = graph_contract(n->b, x, y, &c, accumulator_of(n, element));
  return lower_return(n, graph_cast(n->b, product, element, false));
}

// x [n, c], weights [o, c], bias [o]
bool tosa_lower_fully_connected(lower_op_t* n) {
  static const int64_t one = 1;
  if (n->op->operand_count != 3 || !lower_check_rank(n, 0, 2) || !lower_check_rank(n, 1, 2) ||
      !lower_check_rank(n, 2, 1)) {
    return n->op->operand_count == 3 ? false : lower_error(n, "needs three operands");
  }
  const int64_t *x = n->in[0]->type->dims, *w = n->in[1]->type->dims, *bias = n->in[2]->type->dims;
  if (x[1] != w[1] || bias[0] != w[0]) return lower_error(n, "has operands that do not fit together");
  const ir_type_t* element = result_element(n);
  graph_contract_t c = {NULL, NULL, &one, &one, 0, 1, false, false};
  ir_value_t* y = graph_contract(n->b, input_of(n, 0), input_of(n, 1), &c, accumulator_of(n, element));
  y = graph_cast(n->b, y, element, false);
  ir_value_t *offset = graph_cast(n->b, n->in[2], element, false), *dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(n->b, y, y->type, dynamic);
  return lower_return(n, graph_binary(n->b, SCALAR_add, y, graph_broadcast(n->b, offset, y->type, &one, dynamic)));
}

//===----------------------------------------------------------------------------------------------------------------===
// argmax, transforms
//===----------------------------------------------------------------------------------------------------------------===

bool tosa_lower_argmax(lower_op_t* n) {
  ir_value_t* x = n->in[0];
  int64_t axis = ir_op_int(n->op, "axis", -1);
  if (n->op->operand_count != 1 || !ir_type_is_tensor(x->type) || axis < 0 || axis >= x->type->rank) {
    return lower_error(n, "axis %lld is out of range", (long long)axis);
  }
  if (lower_is_float(x->type) && strcmp(tosa_word(n, "nan_mode"), "IGNORE") == 0) {
    x = graph_select(n->b, graph_unary(n->b, SCALAR_is_nan, x), lower_number_like(n, x, -INFINITY), x);
  }
  graph_extreme_t extreme = {.axis = axis, .index = result_element(n)};
  return lower_return(n, ir_result(graph_arg_reduce(n->b, x, &extreme), 1));
}

static bool check_signal(lower_op_t* n) {
  const ir_type_t* type = n->in[0]->type;
  bool fits = ir_type_is_tensor(type) && type->rank == 3 && lower_is_float(type) && type->dims[1] != IR_DYNAMIC &&
              type->dims[2] != IR_DYNAMIC;
  return fits || lower_unsupported(n, "floats [n, h, w] of known height and width are");
}

// The inverse transform is not divided by the number of elements.
bool tosa_lower_fft2d(lower_op_t* n) {
  bool inverse = ir_op_flag(n->op, "inverse");
  if (!check_signal(n)) return false;
  if (n->in[1]->type != n->in[0]->type) return lower_error(n, "needs two operands of one type");
  ir_value_t* parts[2] = {n->in[0], n->in[1]};
  graph_fft(n->b, parts, inverse ? "ifft" : "fft", 2);
  double count = (double)(n->in[0]->type->dims[1] * n->in[0]->type->dims[2]);
  for (uint32_t i = 0; i < 2; ++i) {
    n->out[i].v = inverse ? lower_with_number(n, SCALAR_mul, parts[i], count) : parts[i];
  }
  return true;
}

bool tosa_lower_rfft2d(lower_op_t* n) {
  if (!check_signal(n)) return false;
  const int64_t *dims = n->in[0]->type->dims, zeros[3] = {0}, ones[3] = {1, 1, 1};
  int64_t sizes[3] = {dims[0], dims[1], dims[2] / 2 + 1};
  ir_value_t* parts[2] = {n->in[0], lower_number_like(n, n->in[0], 0)};
  graph_fft(n->b, parts, "fft", 2);
  for (uint32_t i = 0; i < 2; ++i) n->out[i].v = graph_slice(n->b, parts[i], zeros, sizes, ones);
  return true;
}
