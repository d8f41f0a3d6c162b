// Resize: one dimension after the other. Each result position along a dimension is a weighted sum of a few input
// positions ("taps") that are computed here, so that what is left are gathers with constant indices and sums; repeating
// by a whole factor becomes a broadcast.
#include "import/onnx/resize.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

enum { MAX_TAPS = 256, MAX_SIZE = 1 << 18 };  // keep the constants of a dimension below a gigabyte

//===----------------------------------------------------------------------------------------------------------------===
// Where a result position lies in the input
//===----------------------------------------------------------------------------------------------------------------===

// In f32, as scales are and as resize_any.c computes: 3 / 0.6 is 5 there, so that places fall where a model's author
// saw them fall.
static float source_position(const resize_t* r, int32_t d, int64_t i) {
  float x = (float)i, in = (float)r->in[d], out = (float)r->out[d], scale = (float)r->scale[d];
  float start = (float)r->start[d], end = (float)r->end[d];
  switch (r->coordinates) {
    case AT_ASYMMETRIC:
      return x / scale;
    case AT_ALIGN_CORNERS:
      return out == 1 ? 0 : x * (in - 1) / (out - 1);
    case AT_PYTORCH_HALF_PIXEL:
      return out == 1 ? 0 : (x + 0.5f) / scale - 0.5f;
    case AT_TF_HALF_PIXEL_FOR_NN:
      return (x + 0.5f) / scale;
    case AT_HALF_PIXEL_SYMMETRIC:
      return in / 2 * (1 - out / (scale * in)) + (x + 0.5f) / scale - 0.5f;
    case AT_TF_CROP_AND_RESIZE:
      if (out > 1) return start * (in - 1) + x * (end - start) * (in - 1) / (out - 1);
      return 0.5f * (start + end) * (in - 1);
    default:
      return (x + 0.5f) / scale - 0.5f;
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
  double x = (double)source_position(r, d, i), total = 0;
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
    int64_t at = nearest_position(r, (double)source_position(r, d, i));
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
  for (int64_t d = 0; d < y->type->rank; ++d) {
    ir_value_t* kept;
    if (!r->resized[d]) continue;
    if (r->in[d] == IR_DYNAMIC) {
      kept = onnx_resize_inside(n, onnx_dim(n, n->in[0].v, (int32_t)d), (int32_t)d, r);
      kept = onnx_broadcast_as(n, kept, y, &d);
    } else {
      double* inside = memory_array((size_t)r->out[d] + 1, sizeof(double));
      for (int64_t i = 0; i < r->out[d]; ++i) {
        float x = source_position(r, (int32_t)d, i);
        inside[i] = x >= 0 && x <= (float)(r->in[d] - 1);
      }
      kept = onnx_binary_number(n, SCALAR_ne, vector_along(n, inside, r->out[d], d, y), 0);
      memory_free(inside);
    }
    y = graph_select(n->b, kept, y, graph_splat_like(n->b, y, r->extrapolation));
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

// Numbers per axis: constants, or NAN and a number at run time.
typedef struct numbers_t {
  bool given;
  double known[2 * ONNX_MAX_RANK];
  ir_value_t* at[2 * ONNX_MAX_RANK];
} numbers_t;

// Input i when it is there and not empty.
static bool read_numbers(onnx_node_t* n, uint32_t i, uint32_t wanted, numbers_t* out) {
  static const int64_t one = 1;
  uint32_t count = 0;
  *out = (numbers_t){.given = onnx_has(n, i) && ir_type_count(n->in[i].v->type) != 0};
  if (!out->given) return true;
  ir_value_t* v = n->in[i].v;
  if (onnx_constant(n, v)) {
    if (!onnx_const_numbers(n, i, out->known, 2 * ONNX_MAX_RANK, &count)) return false;
    return count == wanted || onnx_error(n, "input %u has %u entries, needs %u", i, count, wanted);
  }
  int64_t length = v->type->rank == 1 ? v->type->dims[0] : 0;
  if (length != wanted && length != IR_DYNAMIC) return onnx_error(n, "input %u needs %u entries", i, wanted);
  if (!(v = onnx_vector_of(n, i, wanted))) return false;
  v = onnx_cast(n, onnx_value(v, n->in[i].element), onnx_f32(n->ctx)).v;
  for (int64_t k = 0; k < (int64_t)wanted; ++k) {
    out->known[k] = NAN;
    out->at[k] = onnx_reshape(n, graph_slice(n->b, v, &k, &one, &one), 0, NULL);
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

// What is asked for: the numbers of each axis.
typedef struct request_t {
  int64_t axes[ONNX_MAX_RANK];
  uint32_t count;
  numbers_t roi, scales;
  bool has_sizes;
  onnx_dim_t sizes[ONNX_MAX_RANK];
} request_t;

static bool read_request(onnx_node_t* n, const resize_t* r, request_t* q) {
  if (!read_axes(n, q->axes, &q->count)) return false;
  q->has_sizes = onnx_has(n, 3) && ir_type_count(n->in[3].v->type) != 0;
  bool open_scales = onnx_has(n, 2) && ir_type_count(n->in[2].v->type) == IR_DYNAMIC;  // none beside sizes
  if (r->crop && !read_numbers(n, 1, 2 * q->count, &q->roi)) return false;
  if (!(open_scales && q->has_sizes) && !read_numbers(n, 2, q->count, &q->scales)) return false;
  if (q->has_sizes && !onnx_dims_exactly(n, 3, q->count, q->sizes)) return false;
  for (uint32_t k = 0; q->has_sizes && k < q->count; ++k) {
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_ge, q->sizes[k], onnx_dim_of(0));
    bool sure = !onnx_dim_known(q->sizes[k]) && !q->sizes[k].loaded;
    if (!sure && !onnx_require(n, fits, "a size is negative")) return false;
  }
  return q->scales.given != q->has_sizes || onnx_error(n, "needs either scales or sizes");
}

// Whether axis k has something that is known at run time only.
static bool is_any(const resize_t* r, const request_t* q, uint32_t k) {
  bool any = r->in[q->axes[k]] == IR_DYNAMIC;
  any |= q->has_sizes ? !onnx_dim_known(q->sizes[k]) : q->scales.at[k] != NULL;
  return any || (r->crop && q->roi.given && (q->roi.at[k] || q->roi.at[q->count + k]));
}

static bool read_any(onnx_node_t* n, resize_t* r, const request_t* q, uint32_t k) {
  int64_t d = q->axes[k];
  onnx_dim_t in = onnx_dim(n, n->in[0].v, (int32_t)d);
  double scale = q->has_sizes ? 0 : q->scales.at[k] ? NAN : q->scales.known[k];
  r->resized[d] = r->crop || (scale != 1 && (scale != 0 || !onnx_dim_same(in, q->sizes[k])));
  r->scale[d] = scale;
  r->scale_at[d] = q->has_sizes ? NULL : q->scales.at[k];
  if (r->crop && q->roi.given) {
    r->start[d] = q->roi.known[k], r->start_at[d] = q->roi.at[k];
    r->end[d] = q->roi.known[q->count + k], r->end_at[d] = q->roi.at[q->count + k];
  }
  r->in[d] = IR_DYNAMIC;
  if (r->scale_at[d]) return onnx_scaled_dim_at(n, in, r->scale_at[d], 0, &r->to[d]);
  if (scale != 0) return onnx_scaled_dim(n, in, scale, &r->to[d]);
  r->to[d] = q->sizes[k];
  return true;
}

static bool read_fixed(onnx_node_t* n, resize_t* r, const request_t* q, uint32_t k) {
  const double limit = MAX_SIZE;
  int64_t d = q->axes[k];
  double scale = q->has_sizes ? (double)q->sizes[k].size / (double)r->in[d] : q->scales.known[k];
  r->resized[d] = true;
  if (r->in[d] < 1 || (double)r->in[d] > limit)
    return onnx_error(n, "dimension %lld has an unusable size", (long long)d);
  r->scale[d] = scale;
  // Rounded to f32 before: 5 times 1.8 is 9.
  r->out[d] = q->has_sizes ? q->sizes[k].size : (int64_t)floorf((float)r->in[d] * (float)scale);
  if (q->roi.given && !(fabs(q->roi.known[k]) < 1e4 && fabs(q->roi.known[q->count + k]) < 1e4))
    return onnx_error(n, "roi is out of range");
  if (q->roi.given && r->crop) r->start[d] = q->roi.known[k], r->end[d] = q->roi.known[q->count + k];
  return r->out[d] <= MAX_SIZE || onnx_error(n, "the result is too large");
}

// One scale for all axes, so that the result is not larger (or not smaller) than asked for: the sizes that this gives.
static bool keep_aspect(onnx_node_t* n, resize_t* r, request_t* q, bool larger) {
  bool any = false;
  double common = 0;
  for (uint32_t k = 0; k < q->count; ++k) {
    double scale = (double)q->sizes[k].size / (double)r->in[q->axes[k]];
    any |= is_any(r, q, k);
    if (k == 0 || (larger ? scale > common : scale < common)) common = scale;
  }
  ir_value_t* at = any ? onnx_common_scale(n, q->axes, q->sizes, q->count, larger) : NULL;
  for (uint32_t k = 0; k < q->count; ++k) {
    int64_t d = q->axes[k];
    if (any && !onnx_scaled_dim_at(n, onnx_dim(n, n->in[0].v, (int32_t)d), at, 0.5, &q->sizes[k])) return false;
    if (!any) q->sizes[k] = onnx_dim_of((int64_t)floor(common * (double)r->in[d] + 0.5));
    if (!any ? !read_fixed(n, r, q, k) : !read_any(n, r, q, k)) return false;
    r->scale[d] = common;
    if (any) r->resized[d] = true, r->scale_at[d] = graph_cast(n->b, at, onnx_f32(n->ctx), false);
  }
  return true;
}

static bool read_sizes(onnx_node_t* n, resize_t* r) {
  static const char* const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
  request_t q = {0};
  int policy = one_of(n, "keep_aspect_ratio_policy", "stretch", policies);
  if (policy < 0 || !read_request(n, r, &q)) return false;
  for (int32_t d = 0; d < onnx_rank(n->in[0]); ++d) {
    r->in[d] = r->out[d] = onnx_dim_size(n->in[0], d);
    r->scale[d] = 1;
    r->end[d] = 1;
  }
  if (q.has_sizes && policy) return keep_aspect(n, r, &q, policy == 2);
  for (uint32_t k = 0; k < q.count; ++k) {
    double wanted = q.has_sizes ? (double)q.sizes[k].size : q.scales.known[k];
    bool known = q.has_sizes ? onnx_dim_known(q.sizes[k]) : q.scales.at[k] == NULL;
    if (known && !(wanted >= 0 && wanted <= MAX_SIZE)) return onnx_error(n, "scale or size %g is out of range", wanted);
    if (!q.has_sizes && wanted == 1 && !r->crop) continue;
    if (!q.has_sizes && wanted == 0) return onnx_error(n, "a scale of 0 leaves nothing");
    if (is_any(r, &q, k) ? !read_any(n, r, &q, k) : !read_fixed(n, r, &q, k)) return false;
  }
  return true;
}

// Whether result element i is element i / scale, for a whole scale.
static bool repeats(const resize_t* r, int32_t d) {
  if (r->mode != MODE_NEAREST || !(r->scale[d] >= 1) || r->scale_at[d] || r->scale[d] != floor(r->scale[d]))
    return false;
  resize_t one = *r;
  one.in[d] = 2, one.out[d] = 2 * (int64_t)r->scale[d];
  if (r->coordinates == AT_ALIGN_CORNERS || r->crop || one.out[d] > MAX_TAPS) return false;
  for (int64_t i = 0; i < one.out[d]; ++i) {
    int64_t at = nearest_position(&one, (double)source_position(&one, d, i));
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
  if (y && integers && r.crop) r.extrapolation = nearbyint(r.extrapolation);
  if (y && r.crop) y = extrapolate(n, y, &r);
  if (!y) return false;
  if (integers && r.mode != MODE_NEAREST) y = onnx_unary(n, SCALAR_roundeven, y);
  n->out[0] = onnx_cast(n, onnx_value(y, x.element), n->in[0].element);
  return true;
}
