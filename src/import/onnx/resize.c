// Resize: one dimension after the other. Each result position along a dimension is a weighted sum of a few input
// positions ("taps") that are computed here, so that what is left are gathers with constant indices and sums; repeating
// by a whole factor becomes a broadcast.
#include "import/onnx/resize.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "import/onnx/ops.h"

enum { MAX_TAPS = 256, MAX_SIZE = 1 << 18 };  // keep the constants of a dimension below a gigabyte

//===----------------------------------------------------------------------------------------------------------------===
// Where a result position lies in the input
//===----------------------------------------------------------------------------------------------------------------===

static double source_position(const resize_t* r, int32_t d, int64_t i) {
  double x = (double)i, in = (double)r->in[d], out = (double)r->out[d], scale = r->scale[d];
  switch (r->coordinates) {
    case AT_ASYMMETRIC:
      return x / scale;
    case AT_ALIGN_CORNERS:
      return out == 1 ? 0 : x * (in - 1) / (out - 1);
    case AT_PYTORCH_HALF_PIXEL:
      return out == 1 ? 0 : (x + 0.5) / scale - 0.5;
    case AT_TF_HALF_PIXEL_FOR_NN:
      return (x + 0.5) / scale;
    case AT_HALF_PIXEL_SYMMETRIC:
      return in / 2 * (1 - out / (scale * in)) + (x + 0.5) / scale - 0.5;
    case AT_TF_CROP_AND_RESIZE:
      if (out > 1) return r->start[d] * (in - 1) + x * (r->end[d] - r->start[d]) * (in - 1) / (out - 1);
      return 0.5 * (r->start[d] + r->end[d]) * (in - 1);
    default:
      return (x + 0.5) / scale - 0.5;
  }
}

static int64_t nearest_position(const resize_t* r, double x) {
  switch (r->nearest) {
    case ROUND_FLOOR:
      return (int64_t)floor(x);
    case ROUND_CEIL:
      return (int64_t)ceil(x);
    case ROUND_PREFER_CEIL:
      return (int64_t)floor(x + 0.5);
    default:
      return (int64_t)ceil(x - 0.5);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Taps
//===----------------------------------------------------------------------------------------------------------------===

typedef struct taps_t {
  int64_t count;     // per result position
  int64_t* indices;  // [count][out]
  double* weights;
} taps_t;

static double cubic_weight(double a, double x) {
  x = fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double tap_weight(const resize_t* r, double distance, double stretch) {
  distance *= stretch;
  if (r->mode == MODE_CUBIC) return cubic_weight(r->cubic_a, distance);
  return fabs(distance) < 1 ? 1 - fabs(distance) : 0;
}

// The taps of one result position, from `first` on.
static void position_taps(const resize_t* r, int32_t d, int64_t i, int64_t before, double stretch, taps_t* t) {
  double x = source_position(r, d, i), total = 0;
  int64_t base = (int64_t)floor(x);
  for (int64_t k = 0; k < t->count; ++k) {
    int64_t at = base - before + k, last = r->in[d] - 1;
    double weight = tap_weight(r, (double)at - x, stretch);
    if (r->exclude_outside && (at < 0 || at > last)) weight = 0;
    t->indices[k * r->out[d] + i] = at < 0 ? 0 : at > last ? last : at;
    t->weights[k * r->out[d] + i] = weight;
    total += weight;
  }
  bool normalize = r->exclude_outside || stretch != 1;
  for (int64_t k = 0; normalize && total != 0 && k < t->count; ++k) t->weights[k * r->out[d] + i] /= total;
}

static bool make_taps(onnx_node_t* n, const resize_t* r, int32_t d, taps_t* t) {
  double stretch = r->antialias && r->scale[d] < 1 ? r->scale[d] : 1;
  double reach = (r->mode == MODE_CUBIC ? 2 : 1) / stretch;
  if (reach > MAX_TAPS / 2) return onnx_unsupported(n, "antialias with a scale of %g is not supported", r->scale[d]);
  int64_t before = (int64_t)ceil(reach) - 1;
  t->count = 2 * (before + 1);
  t->indices = memory_array((size_t)(t->count * r->out[d]) + 1, sizeof(int64_t));
  t->weights = memory_array((size_t)(t->count * r->out[d]) + 1, sizeof(double));
  for (int64_t i = 0; i < r->out[d]; ++i) position_taps(r, d, i, before, stretch, t);
  return true;
}

// A constant vector along dimension d of `like`.
static ir_value_t* vector_along(onnx_node_t* n, const double* data, int64_t count, int64_t d, ir_value_t* like) {
  const ir_type_t* element = like->type->element;
  const ir_type_t* type = ir_type_tensor(n->ctx, element, 1, &count);
  uint32_t bytes = ir_type_bytes(element);
  char* elements = memory_array((size_t)count + 1, bytes);
  for (int64_t i = 0; i < count; ++i) ir_scalar_store_number(element, data[i], elements + (size_t)i * bytes);
  ir_value_t* vector = graph_constant(n->b, ir_attr_elements(n->ctx, type, elements, (size_t)count * bytes));
  memory_free(elements);
  return onnx_broadcast_as(n, vector, like, &d);
}

// Whether tap k has weight w everywhere.
static bool uniform(const taps_t* t, int64_t out, int64_t k, double w) {
  for (int64_t i = 0; i < out; ++i) {
    if (t->weights[k * out + i] != w) return false;
  }
  return true;
}

static ir_value_t* sum_taps(onnx_node_t* n, ir_value_t* x, int32_t d, const taps_t* t, int64_t out) {
  ir_value_t* sum = NULL;
  for (int64_t k = 0; k < t->count; ++k) {
    if (uniform(t, out, k, 0)) continue;
    ir_value_t* part = graph_take(n->b, x, onnx_index_vector(n, t->indices + k * out, out), d, false);
    if (!uniform(t, out, k, 1)) {
      part = graph_binary(n->b, SCALAR_mul, part, vector_along(n, t->weights + k * out, out, d, part));
    }
    sum = sum ? graph_binary(n->b, SCALAR_add, sum, part) : part;
  }
  return sum ? sum
             : onnx_binary_number(n, SCALAR_mul, graph_take(n->b, x, onnx_index_vector(n, t->indices, out), d, false),
                                  0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dimensions
//===----------------------------------------------------------------------------------------------------------------===

// x with dimension d repeated element by element: [a] -> [a, 1] -> [a, factor] -> [a * factor].
static ir_value_t* repeat(onnx_node_t* n, ir_value_t* x, int32_t d, int64_t factor) {
  onnx_dim_t apart[ONNX_MAX_RANK + 1], wide[ONNX_MAX_RANK + 1], joined[ONNX_MAX_RANK];
  int32_t rank = x->type->rank, count = 0;
  if (rank >= ONNX_MAX_RANK) return onnx_unsupported(n, "the rank is too high"), NULL;
  for (int32_t i = 0; i < rank; ++i) {
    joined[i] = onnx_dim(n, x, i);
    apart[count] = wide[count] = joined[i];
    ++count;
    if (i != d) continue;
    apart[count] = onnx_dim_of(1);
    wide[count++] = onnx_dim_of(factor);
    joined[i] = onnx_dim_mul(n, joined[i], onnx_dim_of(factor));
  }
  ir_value_t* y = onnx_broadcast_to(n, onnx_reshape(n, x, count, apart), count, wide);
  return onnx_reshape(n, y, rank, joined);
}

// The factor when the nearest element of i is i / factor, else 0.
static int64_t whole_factor(const resize_t* r, const int64_t* indices, int32_t d) {
  if (r->in[d] < 1 || r->out[d] % r->in[d]) return 0;
  int64_t factor = r->out[d] / r->in[d];
  for (int64_t i = 0; i < r->out[d]; ++i) {
    if (indices[i] != i / factor) return 0;
  }
  return factor;
}

static ir_value_t* resize_nearest(onnx_node_t* n, ir_value_t* x, int32_t d, const resize_t* r) {
  int64_t* indices = memory_array((size_t)r->out[d] + 1, sizeof(int64_t));
  for (int64_t i = 0; i < r->out[d]; ++i) {
    int64_t at = nearest_position(r, source_position(r, d, i));
    indices[i] = at < 0 ? 0 : at >= r->in[d] ? r->in[d] - 1 : at;
  }
  int64_t factor = whole_factor(r, indices, d);
  ir_value_t* y =
      factor ? repeat(n, x, d, factor) : graph_take(n->b, x, onnx_index_vector(n, indices, r->out[d]), d, false);
  memory_free(indices);
  return y;
}

static ir_value_t* resize_dim(onnx_node_t* n, ir_value_t* x, int32_t d, const resize_t* r) {
  taps_t taps = {0};
  if (r->mode == MODE_NEAREST || r->out[d] == 0) return resize_nearest(n, x, d, r);
  if (!make_taps(n, r, d, &taps)) return NULL;
  ir_value_t* y = sum_taps(n, x, d, &taps, r->out[d]);
  memory_free(taps.indices);
  memory_free(taps.weights);
  return y;
}

// Positions outside of the input get the extrapolation value.
static ir_value_t* extrapolate(onnx_node_t* n, ir_value_t* y, const resize_t* r) {
  for (int32_t d = 0; d < y->type->rank; ++d) {
    if (!r->resized[d]) continue;
    double* inside = memory_array((size_t)r->out[d] + 1, sizeof(double));
    for (int64_t i = 0; i < r->out[d]; ++i) {
      double x = source_position(r, d, i);
      inside[i] = x >= 0 && x <= (double)(r->in[d] - 1);
    }
    ir_value_t* kept = onnx_binary_number(n, SCALAR_ne, vector_along(n, inside, r->out[d], d, y), 0);
    y = graph_select(n->b, kept, y, graph_splat_like(n->b, y, r->extrapolation));
    memory_free(inside);
  }
  return y;
}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes and sizes
//===----------------------------------------------------------------------------------------------------------------===

// Position of an attribute's value in a list, or -1 after a diagnostic.
static int one_of(onnx_node_t* n, const char* name, const char* absent, const char* const* values) {
  const char* value = onnx_string(n, name, absent);
  for (int i = 0; values[i]; ++i) {
    if (strcmp(value, values[i]) == 0) return i;
  }
  onnx_error(n, "%s = '%s' is unknown", name, value);
  return -1;
}

static bool read_modes(onnx_node_t* n, resize_t* r) {
  static const char* const modes[] = {"nearest", "linear", "cubic", NULL};
  static const char* const coordinates[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                            "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize", NULL};
  static const char* const nearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
  int mode = one_of(n, "mode", "nearest", modes);
  int at = mode < 0 ? -1 : one_of(n, "coordinate_transformation_mode", "half_pixel", coordinates);
  int rounding = at < 0 ? -1 : one_of(n, "nearest_mode", "round_prefer_floor", nearest);
  if (rounding < 0) return false;
  r->mode = (resize_mode_t)mode;
  r->coordinates = (coordinates_t)at;
  r->nearest = (rounding_t)rounding;
  r->cubic_a = onnx_float(n, "cubic_coeff_a", -0.75);
  r->extrapolation = onnx_float(n, "extrapolation_value", 0);
  r->antialias = onnx_int(n, "antialias", 0) != 0;
  r->exclude_outside = onnx_int(n, "exclude_outside", 0) != 0;
  r->crop = at == AT_TF_CROP_AND_RESIZE;
  return true;
}

// Input i when it is there and not empty: one number per axis.
static bool read_numbers(onnx_node_t* n, uint32_t i, uint32_t wanted, double* values, bool* given) {
  uint32_t count = 0;
  *given = onnx_has(n, i) && ir_type_count(n->in[i].v->type) != 0;
  if (!*given) return true;
  if (!onnx_const_numbers(n, i, values, 2 * ONNX_MAX_RANK, &count)) return false;
  return count == wanted || onnx_error(n, "input %u has %u entries, needs %u", i, count, wanted);
}

// One scale for all axes, so that the result is not larger (or not smaller) than asked for.
static bool keep_aspect(onnx_node_t* n, resize_t* r, const int64_t* axes, uint32_t count, double* sizes) {
  static const char* const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
  int policy = one_of(n, "keep_aspect_ratio_policy", "stretch", policies);
  bool larger = policy == 2, stretch = policy == 0;
  if (policy < 0) return false;
  double common = 0;
  for (uint32_t k = 0; k < count; ++k) {
    if (isnan(sizes[k])) continue;
    double scale = sizes[k] / (double)r->in[axes[k]];
    if (common == 0 || (larger ? scale > common : scale < common)) common = scale;
  }
  for (uint32_t k = 0; k < count; ++k) {
    if (isnan(sizes[k])) continue;
    r->scale[axes[k]] = stretch ? sizes[k] / (double)r->in[axes[k]] : common;
    if (!stretch) sizes[k] = floor(common * (double)r->in[axes[k]] + 0.5);
    r->out[axes[k]] = (int64_t)sizes[k];
  }
  return true;
}

static bool read_axes(onnx_node_t* n, int64_t* axes, uint32_t* count) {
  int32_t rank = onnx_rank(n->in[0]);
  bool seen[ONNX_MAX_RANK] = {0};
  if (!onnx_ints(n, "axes", axes, ONNX_MAX_RANK, count)) return false;
  if (!onnx_attr(n, "axes")) {
    for (*count = 0; *count < (uint32_t)rank; ++*count) axes[*count] = *count;
  }
  for (uint32_t k = 0; k < *count; ++k) {
    if (!onnx_check_axis(n, &axes[k], rank)) return false;
    if (seen[axes[k]]) return onnx_error(n, "axis %lld is given twice", (long long)axes[k]);
    seen[axes[k]] = true;
  }
  return true;
}

// Input 3; a size that is known at run time only is NAN, and stands in `dims`.
static bool read_wanted(onnx_node_t* n, uint32_t count, double* sizes, onnx_dim_t* dims, bool* given) {
  uint32_t found;
  for (uint32_t k = 0; k < count; ++k) dims[k] = onnx_dim_of(0);
  if (!onnx_has(n, 3) || onnx_constant(n, n->in[3].v)) {
    if (!read_numbers(n, 3, count, sizes, given)) return false;
    for (uint32_t k = 0; *given && k < count; ++k) dims[k] = onnx_dim_of((int64_t)sizes[k]);
    return true;
  }
  if (!onnx_dims_input(n, 3, dims, ONNX_MAX_RANK, &found)) return false;
  if (found != count) return onnx_error(n, "sizes has %u entries, needs %u", found, count);
  for (uint32_t k = 0; k < count; ++k) sizes[k] = dims[k].size == IR_DYNAMIC ? NAN : (double)dims[k].size;
  return *given = true;
}

// Dimension d where the input's or the result's size is known at run time only; `scale` 0: from the sizes.
static bool read_any(onnx_node_t* n, resize_t* r, int64_t d, onnx_dim_t to, double scale) {
  onnx_dim_t in = onnx_dim(n, n->in[0].v, (int32_t)d);
  r->resized[d] = scale != 1 && (scale != 0 || !onnx_dim_same(in, to));
  r->scale[d] = scale;
  r->to[d] = scale != 0 ? onnx_scaled_dim(n, in, scale) : to;
  if (!r->resized[d]) return true;
  if (r->crop) return onnx_unsupported(n, "tf_crop_and_resize needs static sizes");
  if (r->antialias && r->mode != MODE_NEAREST && scale < 1)
    return onnx_unsupported(n, "antialias needs static sizes, or a scale that is not below 1");
  r->in[d] = IR_DYNAMIC;
  return true;
}

static bool read_sizes(onnx_node_t* n, resize_t* r) {
  double roi[2 * ONNX_MAX_RANK], scales[2 * ONNX_MAX_RANK], sizes[2 * ONNX_MAX_RANK];
  bool has_roi = false, has_scales, has_sizes;
  int64_t axes[ONNX_MAX_RANK];
  onnx_dim_t dims[ONNX_MAX_RANK];
  uint32_t count;
  const double limit = MAX_SIZE;
  if (!read_axes(n, axes, &count)) return false;
  if (r->crop && !read_numbers(n, 1, 2 * count, roi, &has_roi)) return false;
  if (!read_numbers(n, 2, count, scales, &has_scales) || !read_wanted(n, count, sizes, dims, &has_sizes)) {
    return false;
  }
  if (has_scales == has_sizes) return onnx_error(n, "needs either scales or sizes");
  for (int32_t d = 0; d < onnx_rank(n->in[0]); ++d) {
    r->in[d] = r->out[d] = onnx_dim_size(n->in[0], d);
    r->scale[d] = 1;
    r->end[d] = 1;
  }
  for (uint32_t k = 0; k < count; ++k) {
    int64_t d = axes[k];
    double wanted = has_sizes ? sizes[k] : scales[k];
    bool any = r->in[d] == IR_DYNAMIC || (has_sizes && dims[k].size == IR_DYNAMIC);
    if (any && has_sizes) {
      if (strcmp(onnx_string(n, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0)
        return onnx_unsupported(n, "keeping the aspect ratio needs static sizes");
      sizes[k] = NAN;
      if (!read_any(n, r, d, dims[k], 0)) return false;
      continue;
    }
    if (!(wanted >= 0 && wanted <= limit)) return onnx_error(n, "scale or size %g is out of range", wanted);
    if (has_scales && wanted == 1 && !r->crop) continue;
    if (any) {
      if (wanted == 0) return onnx_error(n, "a scale of 0 leaves nothing");
      if (!read_any(n, r, d, dims[k], wanted)) return false;
      continue;
    }
    r->resized[d] = true;
    if (r->in[d] < 1 || (double)r->in[d] > limit)
      return onnx_error(n, "dimension %lld has an unusable size", (long long)d);
    if (has_scales) r->scale[d] = wanted;
    if (has_scales) r->out[d] = (int64_t)floor((double)r->in[d] * wanted);
    if (has_roi && !(fabs(roi[k]) < 1e4 && fabs(roi[count + k]) < 1e4)) return onnx_error(n, "roi is out of range");
    if (has_roi) r->start[d] = roi[k], r->end[d] = roi[count + k];
    if (r->out[d] > MAX_SIZE) return onnx_error(n, "the result is too large");
  }
  return has_scales || keep_aspect(n, r, axes, count, sizes);
}

// Whether result element i is element i / scale, for a whole scale.
static bool repeats(const resize_t* r, int32_t d) {
  if (r->mode != MODE_NEAREST || r->scale[d] < 1 || r->scale[d] != floor(r->scale[d])) return false;
  resize_t one = *r;
  one.in[d] = 2, one.out[d] = 2 * (int64_t)r->scale[d];
  if (r->coordinates == AT_ALIGN_CORNERS || one.out[d] > MAX_TAPS) return false;
  for (int64_t i = 0; i < one.out[d]; ++i) {
    int64_t at = nearest_position(&one, source_position(&one, d, i));
    if ((at < 0 ? 0 : at > 1 ? 1 : at) != i / (one.out[d] / 2)) return false;
  }
  return true;
}

bool onnx_lower_resize(onnx_node_t* n) {
  resize_t r = {0};
  onnx_value_t x = n->in[0];
  if (!read_modes(n, &r) || !read_sizes(n, &r)) return false;
  bool integers = !onnx_is_float(x);
  if (integers && r.mode != MODE_NEAREST) x = onnx_cast(n, x, onnx_f32(n->ctx));
  ir_value_t* y = x.v;
  for (int32_t d = 0; y && d < y->type->rank; ++d) {
    if (!r.resized[d] || (r.in[d] == r.out[d] && r.in[d] != IR_DYNAMIC && r.scale[d] == 1 && !r.crop)) continue;
    if (r.in[d] != IR_DYNAMIC) {
      y = resize_dim(n, y, d, &r);
    } else {
      y = repeats(&r, d) ? repeat(n, y, d, (int64_t)r.scale[d]) : onnx_resize_any(n, y, d, &r);
    }
  }
  if (y && r.crop && !integers) y = extrapolate(n, y, &r);
  if (!y) return false;
  if (integers && r.mode != MODE_NEAREST) y = onnx_unary(n, SCALAR_roundeven, y);
  n->out[0] = onnx_cast(n, onnx_value(y, x.element), n->in[0].element);
  return true;
}
