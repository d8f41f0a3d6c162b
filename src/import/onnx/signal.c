// Signal processing: Fourier transforms, windows, the mel matrix.
#include "import/onnx/signal.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

enum { MAX_LENGTH = ONNX_MAX_SIGNAL };

//===----------------------------------------------------------------------------------------------------------------===
// Fourier transforms
//===----------------------------------------------------------------------------------------------------------------===

// A complex tensor with the transformed dimension last.
typedef struct spectrum_t {
  ir_value_t *re, *im;
} spectrum_t;

static ir_value_t* last_range(onnx_node_t* n, ir_value_t* x, int64_t from, int64_t count) {
  return onnx_part(n, x, x->type->rank - 1, (onnx_part_t){from, count, 1});
}

// Cut or padded with zeros to that length.
static ir_value_t* fit_length(onnx_node_t* n, ir_value_t* x, int64_t length) {
  int64_t low[ONNX_MAX_RANK] = {0}, high[ONNX_MAX_RANK] = {0};
  int32_t rank = x->type->rank;
  high[rank - 1] = length - x->type->dims[rank - 1];
  return graph_pad(n->b, x, NULL, low, high, NULL, NULL);
}

static spectrum_t transform(onnx_node_t* n, spectrum_t s, bool inverse) {
  ir_value_t* parts[] = {s.re, s.im};
  graph_fft(n->b, parts, inverse ? "ifft" : "fft", 1);
  return (spectrum_t){parts[0], parts[1]};
}

// The whole spectrum of a real signal from its first half: the rest is its mirror image, conjugated.
static ir_value_t* mirror(onnx_node_t* n, ir_value_t* half, int64_t length, bool negate) {
  int64_t last = half->type->rank - 1;
  int64_t count = length - (length / 2 + 1);
  if (count <= 0) return half;
  ir_value_t* rest = graph_reverse(n->b, last_range(n, half, 1, count), &last, 1);
  if (negate) rest = onnx_unary(n, SCALAR_neg, rest);
  return graph_concat(n->b, (ir_value_t*[]){half, rest}, 2, last);
}

// x: [..., length of `axis`, ..., 1 or 2 components] transformed along `axis`. NULL after a diagnostic.
static ir_value_t* dft(onnx_node_t* n, ir_value_t* x, int64_t axis, int64_t length, bool inverse, bool onesided) {
  int32_t rank = x->type->rank, inner = rank - 1;
  int64_t components = x->type->dims[inner], perm[ONNX_MAX_RANK], back[ONNX_MAX_RANK], at[ONNX_MAX_RANK];
  spectrum_t s = {last_range(n, x, 0, 1), components == 2 ? last_range(n, x, 1, 1) : NULL};
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (int32_t i = 0; i < inner; ++i) {
    dims[i] = onnx_dim(n, x, i);
    perm[i] = i < axis ? i : i + 1;
    at[i] = i;
  }
  perm[inner - 1] = axis;
  for (int32_t i = 0; i < inner; ++i) back[perm[i]] = i;
  s.re = graph_transpose(n->b, onnx_reshape(n, s.re, inner, dims), perm);
  s.im = s.im ? graph_transpose(n->b, onnx_reshape(n, s.im, inner, dims), perm) : graph_splat_like(n->b, s.re, 0);
  bool halves = inverse && onesided;
  int64_t given = halves ? length / 2 + 1 : length;
  s = (spectrum_t){fit_length(n, s.re, given), fit_length(n, s.im, given)};
  if (halves) s = (spectrum_t){mirror(n, s.re, length, false), mirror(n, s.im, length, true)};
  s = transform(n, s, inverse);
  if (onesided && !inverse)
    s = (spectrum_t){last_range(n, s.re, 0, length / 2 + 1), last_range(n, s.im, 0, length / 2 + 1)};
  ir_value_t* parts[] = {graph_transpose(n->b, s.re, back), graph_transpose(n->b, s.im, back)};
  for (int i = 0; i < 2; ++i) parts[i] = onnx_spread(n, parts[i], rank, at);
  return halves ? parts[0] : graph_concat(n->b, parts, 2, inner);
}

// A scalar input; `absent` when it is left out.
static bool number_input(onnx_node_t* n, uint32_t i, onnx_dim_t absent, onnx_dim_t* out) {
  *out = absent;
  return !onnx_has(n, i) || onnx_number_input(n, i, out);
}

// Reads the signal: real or complex. Where only a call knows which, it is made complex.
static bool read_signal(onnx_node_t* n, onnx_value_t* in) {
  int32_t last = onnx_rank(*in) - 1;
  onnx_dim_t components = onnx_dim(n, in->v, last), low[ONNX_MAX_RANK], high[ONNX_MAX_RANK];
  onnx_dim_t one = onnx_dim_of(1), two = onnx_dim_of(2);
  onnx_dim_t fits =
      onnx_flag_or(n, onnx_dim_test(n, SCALAR_eq, components, one), onnx_dim_test(n, SCALAR_eq, components, two));
  if (!onnx_check_float(n, 0) || !onnx_require(n, fits, "the last dimension must have size 1 or 2")) return false;
  if (onnx_dim_known(components)) return true;
  for (int32_t i = 0; i <= last; ++i) low[i] = high[i] = onnx_dim_of(0);
  high[last] = onnx_dim_max(n, onnx_dim_sub(n, two, components), low[last]);
  in->v = onnx_pad(n, in->v, low, high);
  if (in->v) in->v = onnx_sized(n, in->v, last, 2);
  return in->v != NULL;
}

static bool check_length(onnx_node_t* n, int64_t length) {
  return (length > 0 && length <= MAX_LENGTH) || onnx_error(n, "length %lld is out of range", (long long)length);
}

static bool lower_dft(onnx_node_t* n) {
  onnx_dim_t axis, length;
  int32_t rank = onnx_rank(n->in[0]);
  const onnx_transform_t t = {onnx_int(n, "inverse", 0) != 0, onnx_int(n, "onesided", 0) != 0};
  axis = onnx_dim_of(rank - 2);
  if (onnx_has(n, 2) && !onnx_axis_input(n, 2, rank, &axis)) return false;
  if (axis.size == rank - 1) return onnx_error(n, "the last dimension holds the components and cannot be transformed");
  int64_t given = onnx_dim_known(axis) ? onnx_dim_size(n->in[0], (int32_t)axis.size) : IR_DYNAMIC;
  if (given == IR_DYNAMIC) return onnx_dft_any(n, axis, &t);
  if (t.inverse && t.onesided) given = 2 * (given - 1);
  if (!number_input(n, 1, onnx_dim_of(given), &length)) return false;
  if (!onnx_dim_known(length)) return onnx_dft_any(n, axis, &t);
  if (!check_length(n, length.size)) return false;
  return onnx_return(n, dft(n, n->in[0].v, axis.size, length.size, t.inverse, t.onesided), n->in[0].element);
}

// The node with its signal read. False after a diagnostic.
static bool with_signal(onnx_node_t* n, bool (*lower)(onnx_node_t* n)) {
  onnx_node_t inner = *n;
  onnx_value_t* in = ARENA_ARRAY(ir_context_arena(n->ctx), onnx_value_t, n->in_count);
  for (uint32_t i = 0; i < n->in_count; ++i) in[i] = n->in[i];
  inner.in = in;
  return read_signal(n, &in[0]) && lower(&inner);
}

bool onnx_lower_dft(onnx_node_t* n) { return onnx_check_rank(n, 0, 2, ONNX_MAX_RANK) && with_signal(n, lower_dft); }

static ir_value_t* int_constant(onnx_node_t* n, const int64_t* data, int32_t rank, const int64_t* dims) {
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), rank, dims);
  return graph_constant(n->b, ir_attr_elements(n->ctx, type, data, sizeof(int64_t) * (size_t)ir_type_count(type)));
}

// Frames of the signal, each weighted by the window and transformed.
static bool lower_stft(onnx_node_t* n) {
  onnx_dim_t any_step, any_length;
  static const int64_t frame_dim = 2;
  int64_t size = onnx_dim_size(n->in[0], 1), window = onnx_has(n, 2) ? onnx_dim_size(n->in[2], 0) : size;
  if (!number_input(n, 1, onnx_dim_of(0), &any_step) || !number_input(n, 3, onnx_dim_of(window), &any_length))
    return false;
  int64_t step = any_step.size, length = any_length.size;
  if (step == IR_DYNAMIC || length == IR_DYNAMIC || window == IR_DYNAMIC || size == IR_DYNAMIC) return onnx_stft_any(n);
  if (!check_length(n, length)) return false;
  if (step < 1 || length > size || (onnx_has(n, 2) && window != length))
    return onnx_error(n, "frames or window do not fit the signal");
  const int64_t dims[] = {(size - length) / step + 1, length};
  if (dims[0] * dims[1] > MAX_LENGTH) return onnx_unsupported(n, "too many frames");
  int64_t* places = ARENA_ARRAY(ir_context_arena(n->ctx), int64_t, dims[0] * dims[1]);
  for (int64_t i = 0; i < dims[0] * dims[1]; ++i) places[i] = i / length * step + i % length;
  ir_value_t* frames = graph_take(n->b, n->in[0].v, int_constant(n, places, 2, dims), 1, false);
  if (onnx_has(n, 2))
    frames = graph_binary(n->b, SCALAR_mul, frames, onnx_broadcast_as(n, n->in[2].v, frames, &frame_dim));
  bool onesided = onnx_int(n, "onesided", 1) != 0;
  return onnx_return(n, dft(n, frames, 2, length, false, onesided), n->in[0].element);
}

// A real signal may lack the last dimension.
bool onnx_lower_stft(onnx_node_t* n) {
  static const int64_t at[] = {0, 1};
  if (onnx_rank(n->in[0]) == 2) onnx_set_input(n, 0, onnx_spread(n, n->in[0].v, 3, at));
  if (!onnx_check_rank(n, 0, 3, 3) || !onnx_check_same_element(n, 0, 2)) return false;
  return (!onnx_has(n, 2) || onnx_check_rank(n, 2, 1, 1)) && with_signal(n, lower_stft);
}

//===----------------------------------------------------------------------------------------------------------------===
// Constants
//===----------------------------------------------------------------------------------------------------------------===

static const ir_type_t* output_type(onnx_node_t* n) {
  const ir_type_t* element = onnx_element_type(n->ctx, onnx_int(n, "output_datatype", 1));
  bool numbers = element && (ir_type_is_float(element) || ir_type_is_int(element));
  if (!numbers) onnx_unsupported(n, "output_datatype is not supported");
  return numbers ? element : NULL;
}

static bool return_numbers(onnx_node_t* n, const double* data, int32_t rank, const int64_t* dims,
                           const ir_type_t* element) {
  const ir_type_t* type = onnx_tensor_type(n->ctx, element, rank, dims);
  int64_t count = ir_type_count(type);
  uint32_t bytes = ir_type_bytes(element);
  char* elements = arena_alloc(ir_context_arena(n->ctx), (size_t)count * bytes + 1);
  for (int64_t i = 0; i < count; ++i) ir_scalar_store_number(element, data[i], elements + (size_t)i * bytes);
  const ir_attr_t* attr = ir_attr_elements(n->ctx, type, elements, (size_t)count * bytes);
  return onnx_return(n, graph_constant(n->b, attr), element);
}

// a - b cos(2 pi i / n) + c cos(4 pi i / n)
static bool cosine_window(onnx_node_t* n, double a, double b, double c) {
  onnx_dim_t given, zero = onnx_dim_of(0), limit = onnx_dim_of(MAX_LENGTH);
  const double factors[] = {a, -b, c};
  const ir_type_t* element = output_type(n);
  if (!element || !onnx_number_input(n, 0, &given)) return false;
  onnx_dim_t fits =
      onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, given, zero), onnx_dim_test(n, SCALAR_le, given, limit));
  if (!onnx_require(n, fits, "the size is out of range")) return false;
  if (!onnx_dim_known(given)) return onnx_window_any(n, given, factors, element);
  int64_t size = given.size;
  double period = (double)(onnx_int(n, "periodic", 1) ? size : size - 1);
  double* data = memory_array((size_t)size + 1, sizeof(double));
  for (int64_t i = 0; i < size; ++i) {
    double angle = period > 0 ? 2 * M_PI * (double)i / period : 0;
    data[i] = a - b * cos(angle) + c * cos(2 * angle);
  }
  bool done = return_numbers(n, data, 1, &size, element);
  memory_free(data);
  return done;
}
bool onnx_lower_hann_window(onnx_node_t* n) { return cosine_window(n, 0.5, 0.5, 0); }
bool onnx_lower_hamming_window(onnx_node_t* n) { return cosine_window(n, 25.0 / 46, 21.0 / 46, 0); }
bool onnx_lower_blackman_window(onnx_node_t* n) { return cosine_window(n, 0.42, 0.5, 0.08); }

static double to_mel(double hertz) { return 2595 * log10(1 + hertz / 700); }
static double from_mel(double mel) { return 700 * (pow(10, mel / 2595) - 1); }

// Triangles over the spectrum's bins, evenly spaced on the mel scale: [dft_length / 2 + 1, bins].
bool onnx_lower_mel_weight_matrix(onnx_node_t* n) {
  double in[5];
  uint32_t count;
  const ir_type_t* element = output_type(n);
  for (uint32_t i = 0; element && i < 5; ++i) {
    if (!onnx_constant(n, n->in[i].v)) return onnx_mel_any(n, element);
  }
  for (uint32_t i = 0; i < 5; ++i) {
    if (!onnx_const_numbers(n, i, &in[i], 1, &count)) return false;
    if (count != 1 || !(in[i] >= 0 && in[i] < MAX_LENGTH)) return onnx_error(n, "input %u is out of range", i);
  }
  const int64_t dims[] = {(int64_t)in[1] / 2 + 1, (int64_t)in[0]};
  if (!element || dims[1] < 1 || in[2] < 1 || dims[0] * dims[1] > MAX_LENGTH)
    return onnx_error(n, "the sizes are out of range");
  double low = to_mel(in[3]), step = (to_mel(in[4]) - low) / (double)(dims[1] + 2);
  double* data = memory_array((size_t)(dims[0] * dims[1]) + 1, sizeof(double));
  for (int64_t bin = 0; bin < dims[1]; ++bin) {
    int64_t edge[3];
    for (int k = 0; k < 3; ++k)
      edge[k] = (int64_t)floor((in[1] + 1) * from_mel(low + step * (double)(bin + k)) / in[2]);
    if (edge[0] == edge[1] && edge[1] < dims[0]) data[edge[1] * dims[1] + bin] = 1;
    for (int64_t i = edge[0]; i < edge[1] && i <= edge[1] && i < dims[0]; ++i) {
      data[i * dims[1] + bin] = (double)(i - edge[0]) / (double)(edge[1] - edge[0]);
    }
    if (edge[0] != edge[1] && edge[1] < dims[0]) data[edge[1] * dims[1] + bin] = 1;
    for (int64_t i = edge[1]; edge[2] > edge[1] && i < edge[2] && i < dims[0]; ++i) {
      data[i * dims[1] + bin] = (double)(edge[2] - i) / (double)(edge[2] - edge[1]);
    }
  }
  bool done = return_numbers(n, data, 2, dims, element);
  memory_free(data);
  return done;
}
