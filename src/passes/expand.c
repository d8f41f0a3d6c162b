// Ops that have no kernel of their own, or none that is quick for what is long, in terms of others.
//
//   graph.fft of length n      products with the matrix of roots of unity where n is short; else n = a * b, which is
//                              transforms of length a, factors, transforms of length b; long primes by a convolution
//   graph.sort of a long line  rounds that merge sorted neighbours (expand_sort.c); graph.top_k: a sort and a slice
//   graph.window over much     one dimension after the other
//   graph.concat of many      concatenations of as many as a kernel reads
#include "passes/expand.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "dialects/graph.h"
#include "ir/rewrite.h"
#include "passes/fusion.h"
#include "passes/passes.h"

typedef struct complex_t {
  ir_value_t *re, *im;
} complex_t;

//===----------------------------------------------------------------------------------------------------------------===
// Building blocks
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* numbers(ir_builder_t* b, const ir_type_t* element, int32_t rank, const int64_t* dims,
                           const double* data) {
  const ir_type_t* type = ir_type_tensor(b->ctx, ir_type_float(b->ctx, IR_F64), rank, dims);
  if (ir_type_bytes(element) == 4 && element->width == 32) {
    type = ir_type_tensor(b->ctx, element, rank, dims);
    float* rounded = ARENA_ARRAY(ir_context_arena(b->ctx), float, ir_type_count(type));
    for (int64_t i = 0; i < ir_type_count(type); ++i) rounded[i] = (float)data[i];
    return graph_constant(b, ir_attr_elements(b->ctx, type, rounded, sizeof(float) * (size_t)ir_type_count(type)));
  }
  ir_value_t* x = graph_constant(b, ir_attr_elements(b->ctx, type, data, sizeof(double) * (size_t)ir_type_count(type)));
  return graph_cast(b, x, element, false);
}

static int64_t product(const int64_t* dims, int32_t count) {
  int64_t all = 1;
  for (int32_t i = 0; i < count; ++i) all = all == IR_DYNAMIC || dims[i] == IR_DYNAMIC ? IR_DYNAMIC : all * dims[i];
  return all;
}

// A reshape whose first dimension alone may have an open size: what the others leave.
static ir_value_t* reshape(ir_builder_t* b, ir_value_t* x, int32_t rank, const int64_t* dims) {
  ir_value_t* size = NULL;
  if (rank && dims[0] == IR_DYNAMIC) {
    size = graph_index_constant(b, 1);
    for (int32_t i = 0; i < x->type->rank; ++i) {
      size = graph_binary(b, SCALAR_mul, size, graph_dim(b, x, (uint32_t)i));
    }
    size = graph_binary(b, SCALAR_div, size, graph_index_constant(b, product(dims + 1, rank - 1)));
  }
  return graph_reshape(b, x, rank, dims, &size);
}

static complex_t reshaped(ir_builder_t* b, complex_t x, int32_t rank, const int64_t* dims) {
  return (complex_t){reshape(b, x.re, rank, dims), reshape(b, x.im, rank, dims)};
}

static complex_t transposed(ir_builder_t* b, complex_t x, const int64_t* perm) {
  return (complex_t){graph_transpose(b, x.re, perm), graph_transpose(b, x.im, perm)};
}

static complex_t multiply(ir_builder_t* b, complex_t x, complex_t y) {
  ir_value_t* re =
      graph_binary(b, SCALAR_sub, graph_binary(b, SCALAR_mul, x.re, y.re), graph_binary(b, SCALAR_mul, x.im, y.im));
  ir_value_t* im =
      graph_binary(b, SCALAR_add, graph_binary(b, SCALAR_mul, x.re, y.im), graph_binary(b, SCALAR_mul, x.im, y.re));
  return (complex_t){re, im};
}

// e^(sign * 2 pi i * places[k] / n) along `axis` of x's shape, times `scale`.
static complex_t roots_along(ir_builder_t* b, ir_value_t* x, int64_t axis, int32_t rank, const double* re,
                             const double* im) {
  const ir_type_t* like = x->type;
  int64_t dims[3];
  ir_value_t* outer = like->dims[0] == IR_DYNAMIC ? graph_dim(b, x, 0) : NULL;
  for (int32_t i = 0; i < rank; ++i) dims[i] = axis + i;
  complex_t roots = {numbers(b, like->element, rank, like->dims + axis, re),
                     numbers(b, like->element, rank, like->dims + axis, im)};
  return (complex_t){graph_broadcast(b, roots.re, like, dims, &outer),
                     graph_broadcast(b, roots.im, like, dims, &outer)};
}

//===----------------------------------------------------------------------------------------------------------------===
// Fourier transforms of dim 1 of [outer, n, inner], outer of any size; sign -1 forward, +1 backward
//===----------------------------------------------------------------------------------------------------------------===

enum { FFT_MATRIX = 64, FFT_PRIME = 160 };

static complex_t transform(ir_builder_t* b, complex_t x, int sign);

static double angle_of(int64_t product, int64_t n, int sign) {
  return sign * 2 * M_PI * (double)(product % n) / (double)n;
}

// One product: the real and imaginary parts side by side times [[cos, sin], [-sin, cos]].
static complex_t by_matrix(ir_builder_t* b, complex_t x, int sign) {
  const ir_type_t* type = x.re->type;
  int64_t n = type->dims[1], order[3] = {0, 2, 1}, dims[2] = {2 * n, 2 * n};
  double* matrix = memory_alloc(sizeof(double) * (size_t)(4 * n * n));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t k = 0; k < n; ++k) {
      double angle = angle_of(j * k, n, sign), c = cos(angle), s = sin(angle);
      matrix[j * 2 * n + k] = matrix[(n + j) * 2 * n + n + k] = c;
      matrix[j * 2 * n + n + k] = s;
      matrix[(n + j) * 2 * n + k] = -s;
    }
  }
  ir_value_t* w = numbers(b, type->element, 2, dims, matrix);
  memory_free(matrix);
  complex_t rows = transposed(b, x, order);  // [outer, inner, n]
  ir_value_t* both = graph_concat(b, (ir_value_t*[]){rows.re, rows.im}, 2, 2);
  int64_t lines[2] = {product((int64_t[]){type->dims[0], type->dims[2]}, 2), 2 * n}, zero = 0, one = 1;
  both = reshape(b, both, 2, lines);
  graph_contract_t contract = {.lhs_contract = &one, .rhs_contract = &zero, .contract_count = 1};
  ir_value_t* y = graph_contract(b, both, w, &contract, type->element);
  int64_t parts[4] = {type->dims[0], type->dims[2], 2, n}, sizes[4] = {parts[0], parts[1], 1, n};
  int64_t offsets[4] = {0}, ones[4] = {1, 1, 1, 1}, plain[3] = {parts[0], parts[1], n};
  y = reshape(b, y, 4, parts);
  complex_t out = {graph_slice(b, y, offsets, sizes, ones), NULL};
  offsets[2] = 1;
  out.im = graph_slice(b, y, offsets, sizes, ones);
  return transposed(b, reshaped(b, out, 3, plain), order);
}

// n = a * c: element j = c * j1 + j2 goes to k = k1 + a * k2.
static complex_t by_factors(ir_builder_t* b, complex_t x, int64_t a, int sign) {
  const ir_type_t* type = x.re->type;
  int64_t outer = type->dims[0], n = type->dims[1], inner = type->dims[2], c = n / a;
  x = transform(b, reshaped(b, x, 3, (int64_t[]){outer, a, c * inner}), sign);
  x = reshaped(b, x, 4, (int64_t[]){outer, a, c, inner});
  double *re = memory_alloc(sizeof(double) * (size_t)(2 * n)), *im = re + n;
  for (int64_t k = 0; k < a; ++k) {
    for (int64_t j = 0; j < c; ++j) {
      double angle = angle_of(k * j, n, sign);
      re[k * c + j] = cos(angle);
      im[k * c + j] = sin(angle);
    }
  }
  x = multiply(b, x, roots_along(b, x.re, 1, 2, re, im));
  memory_free(re);
  x = transform(b, reshaped(b, x, 3, (int64_t[]){product((int64_t[]){outer, a}, 2), c, inner}), sign);
  x = reshaped(b, x, 4, (int64_t[]){outer, a, c, inner});
  x = transposed(b, x, (int64_t[]){0, 2, 1, 3});
  return reshaped(b, x, 3, (int64_t[]){outer, n, inner});
}

// The chirp e^(sign * pi i * k^2 / n): j * k = (j^2 + k^2 - (k - j)^2) / 2 makes the transform a convolution with it.
static void fill_chirp(int64_t n, int sign, double* re, double* im) {
  int64_t square = 0;  // k^2 modulo 2 n
  for (int64_t k = 0; k < n; ++k) {
    double angle = sign * M_PI * (double)square / (double)n;
    re[k] = cos(angle);
    im[k] = sin(angle);
    square = (square + 2 * k + 1) % (2 * n);
  }
}

// The transform of the chirp's conjugate, around 0 of a line of m, by definition of what a power of two's is.
static void transform_chirp(int64_t n, int64_t m, const double* re, const double* im, double* out_re, double* out_im) {
  memset(out_re, 0, sizeof(double) * (size_t)m);
  memset(out_im, 0, sizeof(double) * (size_t)m);
  for (int64_t k = 0; k < n; ++k) {
    out_re[k] = out_re[(m - k) % m] = re[k];
    out_im[k] = out_im[(m - k) % m] = -im[k];
  }
  for (int64_t i = 1, j = 0; i < m; ++i) {  // bits reversed, then butterflies
    int64_t bit = m >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    double t = out_re[i];
    out_re[i] = out_re[j], out_re[j] = t;
    t = out_im[i];
    out_im[i] = out_im[j], out_im[j] = t;
  }
  for (int64_t size = 2; size <= m; size *= 2) {
    for (int64_t start = 0; start < m; start += size) {
      for (int64_t k = 0; k < size / 2; ++k) {
        double angle = -2 * M_PI * (double)k / (double)size, c = cos(angle), s = sin(angle);
        int64_t lo = start + k, hi = lo + size / 2;
        double x = out_re[hi] * c - out_im[hi] * s, y = out_re[hi] * s + out_im[hi] * c;
        out_re[hi] = out_re[lo] - x, out_im[hi] = out_im[lo] - y;
        out_re[lo] += x, out_im[lo] += y;
      }
    }
  }
}

static complex_t resized(ir_builder_t* b, complex_t x, int64_t n) {
  int64_t zeros[3] = {0}, high[3] = {0, n - x.re->type->dims[1], 0};
  ir_value_t* zero = graph_scalar_constant(b, x.re->type->element, 0);
  return (complex_t){graph_pad(b, x.re, zero, zeros, high, zeros, "constant"),
                     graph_pad(b, x.im, zero, zeros, high, zeros, "constant")};
}

static complex_t by_convolution(ir_builder_t* b, complex_t x, int sign) {
  int64_t n = x.re->type->dims[1], m = 1;
  while (m < 2 * n - 1) m *= 2;
  double *chirp = memory_alloc(sizeof(double) * (size_t)(2 * n + 2 * m)), *kernel = chirp + 2 * n;
  fill_chirp(n, sign, chirp, chirp + n);
  transform_chirp(n, m, chirp, chirp + n, kernel, kernel + m);
  for (int64_t i = 0; i < 2 * m; ++i) kernel[i] /= (double)m;
  complex_t factors = roots_along(b, x.re, 1, 1, chirp, chirp + n);
  complex_t y = transform(b, resized(b, multiply(b, x, factors), m), -1);
  y = multiply(b, y, roots_along(b, y.re, 1, 1, kernel, kernel + m));
  y = resized(b, transform(b, y, 1), n);
  memory_free(chirp);
  return multiply(b, y, factors);
}

// The divisor up to FFT_MATRIX that leaves the most even halves, or 1.
static int64_t best_divisor(int64_t n) {
  int64_t best = 1;
  for (int64_t a = 2; a <= FFT_MATRIX && a < n; ++a) {
    if (n % a == 0 && (best == 1 || (a + n / a < best + n / best))) best = a;
  }
  return best;
}

static complex_t transform(ir_builder_t* b, complex_t x, int sign) {
  int64_t n = x.re->type->dims[1], divisor = best_divisor(n);
  if (n <= 1) return x;
  if (n <= FFT_MATRIX || (divisor == 1 && n <= FFT_PRIME)) return by_matrix(b, x, sign);
  return divisor > 1 ? by_factors(b, x, divisor, sign) : by_convolution(b, x, sign);
}

static void expand_fft(ir_context_t* ctx, ir_op_t* op) {
  const ir_type_t* type = op->results[0].type;
  bool inverse = strcmp(graph_get_kind(op), "ifft") == 0;
  int64_t dims = graph_get_rank(op);
  int64_t points = product(type->dims + type->rank - dims, (int32_t)dims);
  if (points == IR_DYNAMIC) {
    expand_open_fft(ctx, op);
    return;
  }
  ir_builder_t b = ir_builder_before(ctx, op);
  complex_t x = {ir_operand(op, 0), ir_operand(op, 1)};
  double scale = 1;
  ir_value_t* open[GRAPH_MAX_RANK];
  for (int32_t i = 0, count = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) open[count++] = graph_dim(&b, x.re, (uint32_t)i);
  }
  for (int64_t d = type->rank - dims; d < type->rank && points; ++d) {
    int64_t sizes[3] = {product(type->dims, (int32_t)d), type->dims[d],
                        product(type->dims + d + 1, type->rank - (int32_t)d - 1)};
    x = transform(&b, reshaped(&b, x, 3, sizes), inverse ? 1 : -1);
    scale /= (double)type->dims[d];
  }
  x.re = graph_reshape(&b, x.re, type->rank, type->dims, open);
  x.im = graph_reshape(&b, x.im, type->rank, type->dims, open);
  if (inverse && points) {
    ir_value_t* factor = graph_splat_like(&b, x.re, scale);
    x = (complex_t){graph_binary(&b, SCALAR_mul, x.re, factor), graph_binary(&b, SCALAR_mul, x.im, factor)};
  }
  ir_value_replace(ir_result(op, 0), x.re);
  ir_value_replace(ir_result(op, 1), x.im);
  ir_op_erase(op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Long concatenations
//===----------------------------------------------------------------------------------------------------------------===

// Of more pieces than a kernel reads: of concatenations of some each.
static bool expand_concat(ir_context_t* ctx, ir_op_t* op) {
  uint32_t count = op->operand_count;
  if (count <= FUSION_MAX_OPERANDS) return false;
  ir_builder_t b = ir_builder_before(ctx, op);
  ir_value_t** parts = ARENA_ARRAY(ir_context_arena(ctx), ir_value_t*, count);
  int64_t axis = graph_get_axis(op);
  for (uint32_t i = 0; i < count; ++i) parts[i] = ir_operand(op, i);
  while (count > FUSION_MAX_OPERANDS) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i += FUSION_MAX_OPERANDS) {
      uint32_t some = count - i < FUSION_MAX_OPERANDS ? count - i : FUSION_MAX_OPERANDS;
      parts[next++] = some == 1 ? parts[i] : graph_concat(&b, parts + i, some, axis);
    }
    count = next;
  }
  ir_op_set_operands(ctx, op, parts, count);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Large windows
//===----------------------------------------------------------------------------------------------------------------===

// Over several dimensions: one after the other.
static bool expand_window(ir_context_t* ctx, ir_op_t* op) {
  enum { MANY_TAPS = 16 };
  graph_window_t w = graph_window_read(op);
  const ir_type_t* type = op->results[0].type;
  int64_t taps = 1, sum = 0;
  for (int32_t d = 0; d < type->rank; ++d) {
    if (w.sizes[d] <= 1) continue;
    taps = taps > INT32_MAX / w.sizes[d] ? INT32_MAX : taps * w.sizes[d];
    sum += w.sizes[d];
  }
  bool rounds = ir_type_is_float(type->element) && type->element->width < 32;  // sums on the way would be
  if (taps < MANY_TAPS || sum >= taps || (rounds && (strcmp(w.kind, "add") == 0 || strcmp(w.kind, "mul") == 0)))
    return false;
  ir_builder_t b = ir_builder_before(ctx, op);
  ir_value_t* x = ir_operand(op, 0);
  for (int32_t d = 0; d < type->rank; ++d) {
    graph_window_t one = {.kind = w.kind};
    bool works = w.sizes[d] > 1 || w.strides[d] != 1 || w.base_dilations[d] != 1 || w.pad_low[d] || w.pad_high[d];
    if (!works) continue;
    for (int32_t i = 0; i < type->rank; ++i) {
      one.sizes[i] = one.strides[i] = one.dilations[i] = one.base_dilations[i] = 1;
    }
    one.sizes[d] = w.sizes[d], one.strides[d] = w.strides[d], one.dilations[d] = w.dilations[d];
    one.base_dilations[d] = w.base_dilations[d], one.pad_low[d] = w.pad_low[d], one.pad_high[d] = w.pad_high[d];
    x = graph_window(&b, x, &one);
  }
  if (x->type != type) return false;
  ir_value_replace(ir_result(op, 0), x);
  ir_op_erase(op);
  return true;
}

typedef struct expand_t {
  ir_context_t* ctx;
  int64_t block;
} expand_t;

static bool visit(void* user, ir_op_t* op) {
  const expand_t* e = user;
  ir_context_t* ctx = e->ctx;
  switch (ir_code(op)) {
    case GRAPH_FFT:
      expand_fft(ctx, op);
      return true;
    case GRAPH_SORT:
    case GRAPH_SORT_GENERIC:
      return expand_sort(ctx, op, e->block);
    case GRAPH_TOP_K:
      return expand_top_k(ctx, op, false, e->block);
    case GRAPH_WINDOW:
      return expand_window(ctx, op);
    case GRAPH_CONCAT:
      return expand_concat(ctx, op);
    default:
      return false;
  }
}

pass_result_t expand_run(ir_op_t* module, ir_context_t* ctx, int64_t block) {
  return rewrite_each(module, visit, &(expand_t){ctx, block}) ? PASS_CHANGED : PASS_UNCHANGED;
}

pass_result_t pass_expand(ir_op_t* module, ir_context_t* ctx) { return expand_run(module, ctx, EXPAND_BLOCK); }
