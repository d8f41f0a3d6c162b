// Quantised operators of ONNX Runtime (domain com.microsoft), as its quantisers write them: operators on floats between
// a dequantisation and a quantisation, products of integers, and weights of 2 to 8 bits with a scale for each block.
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

static bool check_single(onnx_node_t* n, uint32_t i) { return !onnx_has(n, i) || onnx_check_single(n, i); }

// Input i with its scale and zero point behind it, as f32. False after a diagnostic.
static bool dequantize(onnx_node_t* n, uint32_t i, onnx_value_t* out) {
  const ir_type_t* f32 = onnx_f32(n->ctx);
  if (!onnx_has(n, i) || !onnx_has(n, i + 1)) return onnx_error(n, "inputs %u and %u are required", i, i + 1);
  if (!onnx_is_int(n->in[i])) return onnx_error(n, "input %u must be quantised", i);
  if (!check_single(n, i + 1) || !check_single(n, i + 2)) return false;
  ir_value_t* x = onnx_centered(n, i, i + 2, 0);
  if (!x) return false;
  x = graph_cast(n->b, x, f32, false);
  ir_value_t* scale = onnx_scalar_like(n, onnx_cast(n, n->in[i + 1], f32).v, x);
  *out = onnx_value(graph_binary(n->b, SCALAR_mul, x, scale), f32);
  return true;
}

// Output 0 from y (f32) with the scale and zero point of inputs i and i + 1; without a zero point in the type `absent`.
static bool quantize(onnx_node_t* n, ir_value_t* y, uint32_t i, const ir_type_t* absent) {
  const ir_type_t* f32 = onnx_f32(n->ctx);
  if (!onnx_has(n, i)) return onnx_error(n, "input %u is required", i);
  if (!check_single(n, i) || !check_single(n, i + 1)) return false;
  y = graph_binary(n->b, SCALAR_div, y, onnx_scalar_like(n, onnx_cast(n, n->in[i], f32).v, y));
  ir_value_t* zero = onnx_has(n, i + 1) ? onnx_scalar_like(n, onnx_cast(n, n->in[i + 1], f32).v, y) : NULL;
  n->out[0] = onnx_saturate(n, onnx_value(y, f32), zero, zero ? n->in[i + 1].element : absent);
  return true;
}

ir_value_t* onnx_move_channels(onnx_node_t* n, ir_value_t* x, bool to_front) {
  int64_t perm[ONNX_MAX_RANK], last = x->type->rank - 1;
  for (int64_t i = 0; i <= last; ++i) perm[i] = i == 0 ? 0 : to_front ? (i == 1 ? last : i - 1) : i == last ? 1 : i + 1;
  return graph_transpose(n->b, x, perm);
}

//===----------------------------------------------------------------------------------------------------------------===
// Sums, products and means as ONNX Runtime rounds them: where two results are equally near, another order of the same
// arithmetic gives the other one
//===----------------------------------------------------------------------------------------------------------------===

// A scale or zero point as one number, f32; 0 where there is none.
static ir_value_t* number_of(onnx_node_t* n, uint32_t i) {
  const ir_type_t* f32 = onnx_f32(n->ctx);
  if (!onnx_has(n, i)) return graph_scalar_constant(n->b, f32, 0);
  return onnx_reshape(n, onnx_cast(n, n->in[i], f32).v, 0, NULL);
}

static ir_value_t* multiply_add(onnx_node_t* n, ir_value_t* x, ir_value_t* y, ir_value_t* z) {
  return ir_build_value(n->b, graph_scalar_code(SCALAR_fma), (ir_value_t*[]){x, y, z}, 3, x->type);
}

// Scales are required and numbers, zero points are numbers; operands are integers.
static bool check_quantized(onnx_node_t* n, uint32_t tensors, uint32_t result) {
  for (uint32_t i = 0; i <= tensors; ++i) {
    uint32_t scale = i < tensors ? 3 * i + 1 : result;
    if (!onnx_has(n, scale)) return onnx_error(n, "input %u is required", scale);
    if (i < tensors && !onnx_is_int(n->in[3 * i])) return onnx_error(n, "input %u must be quantised", 3 * i);
    if (!check_single(n, scale) || !check_single(n, scale + 1)) return false;
  }
  return true;
}

static bool round_result(onnx_node_t* n, ir_value_t* y, uint32_t zero) {
  const ir_type_t* element = onnx_has(n, zero) ? n->in[zero].element : n->in[0].element;
  n->out[0] = onnx_saturate(n, onnx_value(y, onnx_f32(n->ctx)), NULL, element);
  return true;
}

// round(a ra + (b rb + z)), ra and rb being scales over the result's, and z all that the zero points come to.
bool onnx_lower_qlinear_add(onnx_node_t* n) {
  if (!check_quantized(n, 2, 6)) return false;
  ir_value_t *a = onnx_cast(n, n->in[0], onnx_f32(n->ctx)).v, *b = onnx_cast(n, n->in[3], onnx_f32(n->ctx)).v;
  ir_value_t *ra = graph_binary(n->b, SCALAR_div, number_of(n, 1), number_of(n, 6)),
             *rb = graph_binary(n->b, SCALAR_div, number_of(n, 4), number_of(n, 6));
  ir_value_t* away = multiply_add(n, ra, number_of(n, 2), graph_binary(n->b, SCALAR_mul, rb, number_of(n, 5)));
  ir_value_t* point = graph_binary(n->b, SCALAR_sub, number_of(n, 7), away);
  if (!onnx_broadcast(n, &a, &b)) return false;
  ir_value_t* y = multiply_add(n, b, onnx_scalar_like(n, rb, b), onnx_scalar_like(n, point, b));
  return round_result(n, multiply_add(n, a, onnx_scalar_like(n, ra, a), y), 7);
}

// round((a - za) (b - zb) (a_scale b_scale / y_scale) + zy)
bool onnx_lower_qlinear_mul(onnx_node_t* n) {
  if (!check_quantized(n, 2, 6)) return false;
  ir_value_t *a = onnx_centered(n, 0, 2, 0), *b = onnx_centered(n, 3, 5, 0);
  if (!a || !b || !onnx_broadcast(n, &a, &b)) return false;
  const ir_type_t* f32 = onnx_f32(n->ctx);
  ir_value_t* scale = graph_binary(n->b, SCALAR_mul, number_of(n, 1), number_of(n, 4));
  scale = graph_binary(n->b, SCALAR_div, scale, number_of(n, 6));
  ir_value_t* y = graph_binary(n->b, SCALAR_mul, graph_cast(n->b, a, f32, false), graph_cast(n->b, b, f32, false));
  y = graph_binary(n->b, SCALAR_mul, y, onnx_scalar_like(n, scale, y));
  return round_result(n, graph_binary(n->b, SCALAR_add, y, onnx_scalar_like(n, number_of(n, 7), y)), 7);
}

// round(mean / y_scale + zy)
bool onnx_lower_qlinear_pool(onnx_node_t* n) {
  onnx_value_t in[2], out[3] = {{0}};
  bool channels_last = onnx_int(n, "channels_last", 0) != 0;
  if (!check_quantized(n, 1, 3) || !dequantize(n, 0, &in[0])) return false;
  if (channels_last && onnx_rank(in[0]) < 3) return onnx_error(n, "needs spatial dimensions");
  if (channels_last) in[0].v = onnx_move_channels(n, in[0].v, true);
  if (!onnx_apply(n, "AveragePool", in, 1, out)) return false;
  ir_value_t* y = channels_last ? onnx_move_channels(n, out[0].v, false) : out[0].v;
  y = graph_binary(n->b, SCALAR_div, y, onnx_scalar_like(n, number_of(n, 3), y));
  return round_result(n, graph_binary(n->b, SCALAR_add, y, onnx_scalar_like(n, number_of(n, 4), y)), 4);
}

// round(sum x_scale / (y_scale size)) + zy, of the sum of integers.
bool onnx_lower_qlinear_global_pool(onnx_node_t* n) {
  if (!check_quantized(n, 1, 3)) return false;
  if (onnx_rank(n->in[0]) < 3) return onnx_error(n, "needs spatial dimensions");
  ir_value_t* x = onnx_centered(n, 0, 2, 0);
  if (!x) return false;
  bool channels_last = onnx_int(n, "channels_last", 0) != 0;
  int64_t dims[ONNX_MAX_RANK];
  onnx_dim_t shape[ONNX_MAX_RANK];
  int32_t rank = x->type->rank, count = 0;
  for (int32_t i = 0; i < rank; ++i) {
    bool is_summed = i > 0 && (channels_last ? i < rank - 1 : i > 1);
    shape[i] = is_summed ? onnx_dim_of(1) : onnx_dim(n, x, i);
    if (is_summed) dims[count++] = i;
  }
  const ir_type_t* f32 = onnx_f32(n->ctx);
  ir_value_t *sum = graph_cast(n->b, graph_reduce(n->b, x, dims, (uint32_t)count, "add"), f32, false),
             *scale = number_of(n, 1);
  ir_value_t* size = onnx_size_like(n, x, dims, (uint32_t)count, scale);
  scale = graph_binary(n->b, SCALAR_div, scale, graph_binary(n->b, SCALAR_mul, number_of(n, 3), size));
  sum = onnx_reshape(n, graph_binary(n->b, SCALAR_mul, sum, onnx_scalar_like(n, scale, sum)), rank, shape);
  const ir_type_t* element = onnx_has(n, 4) ? n->in[4].element : n->in[0].element;
  n->out[0] = onnx_saturate(n, onnx_value(sum, f32), onnx_scalar_like(n, number_of(n, 4), sum), element);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Others: by their bytes' numbers
//===----------------------------------------------------------------------------------------------------------------===

// QLinear + the name of an operator: its inputs, each with scale and zero point, then the result's.
bool onnx_lower_qlinear(onnx_node_t* n) {
  const char* name = n->name + strlen("QLinear");
  uint32_t operands = n->row->max_inputs > 5 ? 2 : 1;
  onnx_value_t in[2], out[3] = {{0}};
  bool channels_last = onnx_int(n, "channels_last", 0) != 0;
  for (uint32_t i = 0; i < operands; ++i) {
    if (!dequantize(n, 3 * i, &in[i])) return false;
  }
  if (channels_last && onnx_rank(in[0]) < 3) return onnx_error(n, "needs spatial dimensions");
  if (channels_last) in[0].v = onnx_move_channels(n, in[0].v, true);
  if (strcmp(name, "Softmax") == 0 && onnx_int(n, "opset", 13) < 13) {
    int64_t axis = onnx_int(n, "axis", 1);
    if (!onnx_check_axis(n, &axis, onnx_rank(in[0]))) return false;
    if (axis != onnx_rank(in[0]) - 1) return onnx_unsupported(n, "before opset 13 the axis must be the last");
  }
  if (!onnx_apply(n, name, in, operands, out)) return false;
  ir_value_t* y = channels_last ? onnx_move_channels(n, out[0].v, false) : out[0].v;
  return quantize(n, y, 3 * operands, n->in[0].element);
}

// Inputs y_scale, y_zero_point, then each tensor with its own.
bool onnx_lower_qlinear_concat(onnx_node_t* n) {
  uint32_t count = (n->in_count - 2) / 3;
  if (!count || n->in_count != 2 + 3 * count) return onnx_error(n, "every tensor needs a scale and a zero point");
  onnx_value_t *in = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, count), out[3] = {{0}};
  for (uint32_t i = 0; i < count; ++i) {
    if (!dequantize(n, 2 + 3 * i, &in[i])) return false;
  }
  return onnx_apply(n, "Concat", in, count, out) && quantize(n, out[0].v, 0, n->in[2].element);
}

bool onnx_lower_qlinear_where(onnx_node_t* n) {
  onnx_value_t in[3] = {n->in[0]}, out[3] = {{0}};
  if (!dequantize(n, 1, &in[1]) || !dequantize(n, 4, &in[2])) return false;
  return onnx_apply(n, "Where", in, 3, out) && quantize(n, out[0].v, 7, n->in[1].element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Products of integers
//===----------------------------------------------------------------------------------------------------------------===

// y times a scale: one number, or one for each column.
static ir_value_t* scale_columns(onnx_node_t* n, ir_value_t* y, onnx_value_t scale) {
  ir_value_t* v = onnx_cast(n, scale, onnx_f32(n->ctx)).v;
  v = onnx_one_or_along(n, v, y->type->rank - 1, y);
  return v ? graph_binary(n->b, SCALAR_mul, y, v) : NULL;
}

// float(a b) a_scale b_scale + bias, for integers less their zero points.
static bool integer_product(onnx_node_t* n, ir_value_t* a, ir_value_t* b, onnx_value_t a_scale, uint32_t b_scale,
                            uint32_t bias) {
  const ir_type_t* f32 = onnx_f32(n->ctx);
  ir_value_t* y = onnx_matmul(n, a, b, (graph_contract_t){0}, ir_type_int(n->ctx, 32));
  y = y ? scale_columns(n, graph_cast(n->b, y, f32, false), a_scale) : NULL;
  y = y ? scale_columns(n, y, n->in[b_scale]) : NULL;
  if (y && onnx_has(n, bias)) {
    ir_value_t* added = onnx_along(n, onnx_cast(n, n->in[bias], f32).v, y->type->rank - 1, y);
    y = added ? graph_binary(n->b, SCALAR_add, y, added) : NULL;
  }
  return onnx_return(n, y, f32);
}

static bool check_matrices(onnx_node_t* n) {
  if (onnx_rank(n->in[0]) < 2 || onnx_rank(n->in[1]) < 2) return onnx_error(n, "needs matrices");
  return onnx_is_int(n->in[1]) || onnx_error(n, "input 1 must be quantised");
}

// Inputs a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias.
bool onnx_lower_matmul_integer_to_float(onnx_node_t* n) {
  if (!check_matrices(n) || !onnx_is_int(n->in[0])) return onnx_error(n, "needs integers");
  ir_value_t *a = onnx_centered(n, 0, 4, onnx_rank(n->in[0]) - 2), *b = onnx_centered(n, 1, 5, onnx_rank(n->in[1]) - 1);
  return a && b && check_single(n, 2) && integer_product(n, a, b, n->in[2], 3, 6);
}

// Inputs a (floats, quantised as they come), b, b_scale, b_zero_point, bias.
bool onnx_lower_dynamic_quantize_matmul(onnx_node_t* n) {
  onnx_value_t in[] = {n->in[0], {0}}, out[3] = {{0}};
  if (!check_matrices(n) || !onnx_check_float(n, 0) || !onnx_apply(n, "DynamicQuantizeLinear", in, 1, out))
    return false;
  onnx_node_t quantized = *n;
  onnx_value_t pair[] = {out[0], out[2]};
  quantized.in = pair, quantized.in_count = 2;
  ir_value_t* a = onnx_centered(&quantized, 0, 1, 0);
  ir_value_t* b = onnx_centered(n, 1, 3, onnx_rank(n->in[1]) - 1);
  return a && b && integer_product(n, a, b, out[1], 2, 4);
}

// Inputs a, b and c (i32, in units of a_scale b_scale), a and b with scale and zero point; then y's, or floats come
// out.
bool onnx_lower_qgemm(onnx_node_t* n) {
  static const int64_t perm[] = {1, 0};
  const ir_type_t *f32 = onnx_f32(n->ctx), *si32 = ir_type_integer(n->ctx, 32, IR_SIGNED);
  if (!onnx_check_rank(n, 0, 2, 2) || !onnx_check_rank(n, 3, 2, 2)) return false;
  if (!onnx_is_int(n->in[0]) || !onnx_is_int(n->in[3])) return onnx_error(n, "needs integers");
  bool transposed = onnx_int(n, "transB", 0) != 0;
  ir_value_t *a = onnx_centered(n, 0, 2, 0), *b = onnx_centered(n, 3, 5, transposed ? 0 : 1);
  if (!a || !b || !check_single(n, 1)) return false;
  if (onnx_int(n, "transA", 0)) a = graph_transpose(n->b, a, perm);
  if (transposed) b = graph_transpose(n->b, b, perm);
  ir_value_t* y = onnx_matmul(n, a, b, (graph_contract_t){0}, ir_type_int(n->ctx, 32));
  if (y && onnx_has(n, 6)) y = onnx_binary_onto(n, SCALAR_add, y, onnx_cast(n, n->in[6], si32).v);
  y = y ? scale_columns(n, graph_cast(n->b, y, f32, false), n->in[1]) : NULL;
  y = y ? scale_columns(n, y, n->in[4]) : NULL;
  if (!y) return false;
  y = onnx_binary_number(n, SCALAR_mul, y, onnx_float(n, "alpha", 1));
  return onnx_has(n, 7) ? quantize(n, y, 7, n->in[0].element) : onnx_return(n, y, f32);
}

//===----------------------------------------------------------------------------------------------------------------===
// Weights of few bits
//===----------------------------------------------------------------------------------------------------------------===

// Bytes along the last dimension as 8 / bits numbers each (i32), the low bits first. They have been of so few bits, as
// which constants are stored.
static ir_value_t* unpack(onnx_node_t* n, ir_value_t* x, int64_t bits) {
  int32_t rank = x->type->rank;
  int64_t at[ONNX_MAX_RANK];
  onnx_dim_t dims[ONNX_MAX_RANK];
  x = graph_cast(n->b, x, ir_type_int(n->ctx, 32), true);
  if (bits == 8) return x;
  for (int32_t i = 0; i < rank; ++i) at[i] = i, dims[i] = onnx_dim(n, x, i);
  dims[rank] = onnx_dim_of(8 / bits);
  x = onnx_broadcast_to(n, onnx_spread(n, x, rank + 1, at), rank + 1, dims);
  ir_value_t* shift = onnx_binary_number(n, SCALAR_mul, onnx_iota_like(n, x, rank), (double)bits);
  x = onnx_binary_number(n, SCALAR_and, graph_binary(n->b, SCALAR_shru, x, shift), (double)((1 << bits) - 1));
  dims[rank - 1] = onnx_dim_mul(n, dims[rank - 1], onnx_dim_of(8 / bits));
  x = graph_cast(n->b, onnx_reshape(n, x, rank, dims), ir_type_int(n->ctx, (uint32_t)bits), true);
  return graph_cast(n->b, x, ir_type_int(n->ctx, 32), true);
}

static ir_value_t* cut_last(onnx_node_t* n, ir_value_t* x, onnx_dim_t size) {
  return onnx_prefix(n, x, x->type->rank - 1, size);
}

// The values along `axis` repeated `block` times each, and cut to `size`.
static ir_value_t* repeat_blocks(onnx_node_t* n, ir_value_t* x, int64_t axis, int64_t block, onnx_dim_t size) {
  int32_t rank = x->type->rank;
  int64_t at[ONNX_MAX_RANK];
  onnx_dim_t wide[ONNX_MAX_RANK], joined[ONNX_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) {
    at[i] = i <= axis ? i : i + 1;
    joined[i] = wide[at[i]] = onnx_dim(n, x, i);
  }
  wide[axis + 1] = onnx_dim_of(block);
  joined[axis] = onnx_dim_mul(n, joined[axis], wide[axis + 1]);
  x = onnx_broadcast_to(n, onnx_spread(n, x, rank + 1, at), rank + 1, wide);
  return onnx_prefix(n, onnx_reshape(n, x, rank, joined), axis, size);
}

typedef struct blocks_t {
  int64_t bits, block, rows, columns;
} blocks_t;

// Input i as [rows, blocks] floats: given so, or packed into bytes. NULL after a diagnostic.
static ir_value_t* block_parameter(onnx_node_t* n, const blocks_t* w, uint32_t i, const ir_type_t* element) {
  int64_t blocks = (w->columns + w->block - 1) / w->block, bytes = (blocks * w->bits + 7) / 8;
  const onnx_dim_t dims[] = {onnx_dim_of(w->rows), onnx_dim_of(blocks)},
                   packed[] = {onnx_dim_of(w->rows), onnx_dim_of(bytes)};
  onnx_value_t x = n->in[i];
  int64_t count = ir_type_count(x.v->type);
  bool any = count == IR_DYNAMIC;
  if (onnx_is_int(x) && x.element->width == 8 && (any || count == w->rows * bytes)) {
    ir_value_t* y = cut_last(n, unpack(n, onnx_reshape(n, x.v, 2, packed), w->bits), onnx_dim_of(blocks));
    return graph_cast(n->b, y, element, false);
  }
  if (!any && count != w->rows * blocks) return onnx_error(n, "input %u does not fit the blocks", i), NULL;
  return onnx_cast(n, onnx_value(onnx_reshape(n, x.v, 2, dims), x.element), element).v;
}

// One of each row's parameters [rows, blocks] for each column: that of its block, or of the one that input 4 says.
static ir_value_t* by_column(onnx_node_t* n, const blocks_t* w, ir_value_t* parameters) {
  onnx_dim_t columns = onnx_dim_of(w->columns);
  if (!onnx_has(n, 4)) return repeat_blocks(n, parameters, 1, w->block, columns);
  ir_value_t* order = onnx_prefix(n, onnx_cast(n, n->in[4], onnx_si64(n->ctx)).v, 0, columns);
  return graph_take(n->b, parameters, order, 1, false);
}

// y = a (w - zero_point) scale + bias, w: [rows, columns] with a scale and zero point for each block of columns.
bool onnx_lower_matmul_nbits(onnx_node_t* n) {
  blocks_t w = {onnx_int(n, "bits", 4), onnx_int(n, "block_size", 0), onnx_int(n, "N", 0), onnx_int(n, "K", 0)};
  const ir_type_t* element = n->in[0].element;
  bool known = w.bits == 2 || w.bits == 4 || w.bits == 8;
  if (!onnx_check_float(n, 0) || !onnx_check_same_element(n, 0, 5) || !onnx_check_rank(n, 0, 1, ONNX_MAX_RANK))
    return false;
  if (!known) return onnx_unsupported(n, "bits = %lld is none of 2, 4, 8", (long long)w.bits);
  if (w.block < 8 || w.block > 1 << 20 || w.rows < 1 || w.columns < 1 || w.rows > INT32_MAX || w.columns > INT32_MAX)
    return onnx_error(n, "block_size, N or K is out of range");
  if (onnx_has(n, 4) && (!onnx_is_int(n->in[4]) || onnx_rank(n->in[4]) != 1))
    return onnx_error(n, "the order of the groups must be a vector of integers");
  if (onnx_has(n, 4) && onnx_dim_size(n->in[4], 0) != IR_DYNAMIC && onnx_dim_size(n->in[4], 0) < w.columns)
    return onnx_error(n, "the order of the groups is shorter than K");
  int64_t blocks = (w.columns + w.block - 1) / w.block, bytes = w.block * w.bits / 8;
  int64_t given = ir_type_count(n->in[1].v->type);
  if ((given != IR_DYNAMIC && given != w.rows * blocks * bytes) || n->in[1].element->width != 8)
    return onnx_error(n, "the weights do not fit block_size, N and K");
  const onnx_dim_t packed[] = {onnx_dim_of(w.rows), onnx_dim_of(blocks * bytes)}, columns = onnx_dim_of(w.columns);
  ir_value_t* weights = cut_last(n, unpack(n, onnx_reshape(n, n->in[1].v, 2, packed), w.bits), columns);
  ir_value_t* scale = block_parameter(n, &w, 2, element);
  if (!scale) return false;
  ir_value_t* zero = graph_splat_like(n->b, scale, (double)(1 << (w.bits - 1)));
  if (onnx_has(n, 3) && !(zero = block_parameter(n, &w, 3, element))) return false;
  weights = graph_cast(n->b, weights, element, false);
  weights = graph_binary(n->b, SCALAR_sub, weights, by_column(n, &w, zero));
  weights = graph_binary(n->b, SCALAR_mul, weights, by_column(n, &w, scale));
  static const int64_t perm[] = {1, 0};
  weights = graph_transpose(n->b, weights, perm);
  ir_value_t* y = onnx_matmul(n, n->in[0].v, weights, (graph_contract_t){0}, n->in[0].v->type->element);
  if (y && onnx_has(n, 5)) y = onnx_binary_onto(n, SCALAR_add, y, n->in[5].v);
  return onnx_return(n, y, element);
}

// What four bits stand for, before their block's factor: bitsandbytes' floats of one exponent more than usual, and
// quantiles of the normal distribution.
static const float four_bits[][16] = {
    {0, 5.208333333e-03f, 0.66666667f, 1, 0.33333333f, 0.5f, 0.16666667f, 0.25f, -0.0f, -5.208333333e-03f, -0.66666667f,
     -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f},
    {-1, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
     -0.18477343022823334f, -0.09105003625154495f, 0, 0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f,
     0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1},
};

// Numbers that the high and low halves of bytes stand for, [rows, columns].
static ir_value_t* look_up(onnx_node_t* n, const blocks_t* w, const float* table, const ir_type_t* element) {
  const onnx_dim_t packed[] = {onnx_dim_of(w->rows), onnx_dim_of((w->columns + 1) / 2)};
  ir_value_t* bytes = onnx_reshape(n, n->in[1].v, 2, packed);
  ir_value_t* swapped = graph_binary(n->b, SCALAR_or, onnx_binary_number(n, SCALAR_shl, bytes, 4),
                                     onnx_binary_number(n, SCALAR_shru, bytes, 4));
  ir_value_t* codes = cut_last(n, unpack(n, swapped, 4), onnx_dim_of(w->columns));
  int64_t size = 16;
  const ir_type_t* type = ir_type_tensor(n->ctx, onnx_f32(n->ctx), 1, &size);
  ir_value_t* values = graph_constant(n->b, ir_attr_elements(n->ctx, type, table, sizeof(four_bits[0])));
  return graph_take(n->b, graph_cast(n->b, values, element, false), codes, 0, false);
}

// y = a w^T, w: [N, K] by four bits each, whose blocks go on from row to row; or a w.
bool onnx_lower_matmul_bnb4(onnx_node_t* n) {
  int64_t rows = onnx_int(n, "N", 0), columns = onnx_int(n, "K", 0), kind = onnx_int(n, "quant_type", -1);
  blocks_t w = {.block = onnx_int(n, "block_size", 0), .bits = 4};
  const ir_type_t* element = n->in[0].element;
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 1, ONNX_MAX_RANK)) return false;
  if (kind != 0 && kind != 1) return onnx_error(n, "quant_type %lld is none of 0 (fp4), 1 (nf4)", (long long)kind);
  if (w.block < 16 || w.block > 1 << 20 || w.block & (w.block - 1) || rows < 1 || columns < 1 || rows > INT32_MAX ||
      columns > INT32_MAX)
    return onnx_error(n, "block_size, N or K is out of range");
  bool by_rows = columns % w.block == 0;
  w.rows = by_rows ? rows : 1, w.columns = by_rows ? columns : rows * columns;
  int64_t given = ir_type_count(n->in[1].v->type);
  if ((given != IR_DYNAMIC && given != (rows * columns + 1) / 2) || !onnx_is_unsigned(n->in[1]) ||
      n->in[1].element->width != 8)
    return onnx_error(n, "the weights do not fit N and K");
  if (onnx_is_int(n->in[2])) return onnx_error(n, "absmax must be floats");
  ir_value_t *weights = look_up(n, &w, four_bits[kind], element), *scale = block_parameter(n, &w, 2, element);
  if (!scale) return false;
  scale = repeat_blocks(n, scale, 1, w.block, onnx_dim_of(w.columns));
  const onnx_dim_t dims[] = {onnx_dim_of(rows), onnx_dim_of(columns)};
  weights = onnx_reshape(n, graph_binary(n->b, SCALAR_mul, weights, scale), 2, dims);
  static const int64_t perm[] = {1, 0};
  if (onnx_int(n, "transB", 1)) weights = graph_transpose(n->b, weights, perm);
  return onnx_return(n, onnx_matmul(n, n->in[0].v, weights, (graph_contract_t){0}, n->in[0].v->type->element), element);
}

// Rows of a quantised table: inputs data, indices, scales, zero points; a scale for each block along quantize_axis.
bool onnx_lower_gather_block_quantized(onnx_node_t* n) {
  onnx_value_t data = n->in[0], indices = n->in[1];
  const ir_type_t* element = n->in[2].element;
  int64_t axis = onnx_int(n, "gather_axis", 0), along = onnx_int(n, "quantize_axis", 1), bits = onnx_int(n, "bits", 4);
  int64_t block = onnx_int(n, "block_size", 128);
  int32_t rank = onnx_rank(data);
  if (!onnx_check_axis(n, &axis, rank) || !onnx_check_axis(n, &along, rank)) return false;
  if (!onnx_is_int(indices)) return onnx_error(n, "indices must be integers");
  if (!onnx_check_float(n, 2)) return false;
  bool is_bytes = data.element->width == 8, fits = rank < ONNX_MAX_RANK && onnx_is_int(data) && block > 0;
  if (is_bytes && bits != 4 && bits != 8) return onnx_unsupported(n, "bits = %lld is neither 4 nor 8", (long long)bits);
  ir_value_t* x = is_bytes ? unpack(n, data.v, bits) : onnx_cast(n, data, ir_type_integer(n->ctx, 32, IR_SIGNED)).v;
  ir_value_t *scale = n->in[2].v, *zero = onnx_has(n, 3) ? n->in[3].v : NULL;
  if (zero) zero = is_bytes ? unpack(n, zero, bits) : onnx_cast(n, n->in[3], ir_type_integer(n->ctx, 32, IR_SIGNED)).v;
  fits = fits && scale->type->rank == rank && (!zero || zero->type->rank == rank);
  if (!fits) return onnx_error(n, "data, scales and zero points do not fit each other");
  for (int32_t i = 0; i < rank; ++i) {
    onnx_dim_t wanted = onnx_dim(n, x, i);
    if (i == along) wanted = onnx_dim_ceil_div(n, wanted, onnx_dim_of(block));
    onnx_dim_t same = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, scale, i), wanted);
    if (zero) same = onnx_flag_and(n, same, onnx_dim_test(n, SCALAR_ge, onnx_dim(n, zero, i), wanted));
    if (!onnx_require(n, same, "data, scales and zero points do not fit each other")) return false;
  }
  onnx_dim_t size = onnx_dim(n, x, (int32_t)along);
  x = graph_cast(n->b, x, element, false);
  if (zero) {
    zero = graph_cast(n->b, cut_last(n, zero, onnx_dim(n, scale, rank - 1)), element, false);
    x = graph_binary(n->b, SCALAR_sub, x, repeat_blocks(n, zero, along, block, size));
  } else if (is_bytes) {
    x = onnx_binary_number(n, SCALAR_sub, x, (double)(1 << (bits - 1)));
  }
  x = graph_binary(n->b, SCALAR_mul, x, repeat_blocks(n, scale, along, block, size));
  return onnx_return(n, graph_take(n->b, x, indices.v, axis, true), element);
}

// Attention of bytes: of x and the weights as the numbers that they stand for.
bool onnx_lower_qattention(onnx_node_t* n) {
  static const uint32_t scale_at[] = {3, 4}, zero_at[] = {6, 7};
  const ir_type_t* f32 = onnx_f32(n->ctx);
  onnx_value_t in[5] = {{0}}, out[3] = {{0}};
  if (!onnx_check_rank(n, 0, 3, 3) || !onnx_check_rank(n, 1, 2, 2)) return false;
  for (uint32_t i = 0; i < 2; ++i) {
    int64_t last = onnx_rank(n->in[i]) - 1;
    if (!onnx_is_int(n->in[i]) || !onnx_has(n, scale_at[i])) return onnx_error(n, "input %u must be quantised", i);
    ir_value_t *x = onnx_centered(n, i, zero_at[i], last), *scale = onnx_cast(n, n->in[scale_at[i]], f32).v;
    if (!x) return false;
    x = graph_cast(n->b, x, f32, false);
    scale = onnx_one_or_along(n, scale, last, x);
    if (!scale) return false;
    in[i] = onnx_value(graph_binary(n->b, SCALAR_mul, x, scale), f32);
  }
  in[2] = n->in[2];
  if (onnx_has(n, 5)) in[3] = n->in[5];
  if (onnx_has(n, 8)) in[4] = n->in[8];
  if (!onnx_apply(n, "Attention", in, 5, out)) return false;
  for (uint32_t i = 0; i < n->out_count && i < 2; ++i) n->out[i] = out[i];
  return true;
}

// The largest of windows over [n, spatial..., c].
bool onnx_lower_nhwc_max_pool(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  onnx_node_t inner = *n;
  if (!onnx_check_rank(n, 0, 3, ONNX_MAX_RANK)) return false;
  x.v = onnx_move_channels(n, x.v, true);
  inner.row = onnx_find_row("MaxPool");
  inner.in = &x, inner.out_count = 1;
  if (!inner.row->handler(&inner)) return false;
  return onnx_return(n, onnx_move_channels(n, n->out[0].v, false), x.element);
}
