// Operators that draw random numbers. Element i of a result depends on the node's seed and i only: a program gives the
// same numbers at every call, and two nodes without a seed give different ones.
#include <math.h>
#include <string.h>

#include "import/generator.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

// The generator's key: from the seed, or from the node's place in the program.
static int64_t key_of(onnx_node_t* n) {
  const ir_attr_t* seed = onnx_attr(n, "seed");
  union {
    double number;
    int64_t bits;
  } value = {.bits = 0};
  if (seed && seed->kind == IR_ATTR_INTEGER) return seed->integer;
  if (seed && seed->kind == IR_ATTR_FLOAT) return value.number = seed->number, value.bits;
  for (const ir_op_t* at = n->op; at; at = at->prev ? at->prev : ir_op_parent(at)) ++value.bits;
  return (int64_t)((uint64_t)value.bits * 0x9E3779B97F4A7C15ull + 1);
}

typedef struct draw_t {
  int32_t rank;
  onnx_dim_t dims[ONNX_MAX_RANK];
} draw_t;

static draw_t shape_of(onnx_node_t* n, ir_value_t* x) {
  draw_t d = {.rank = x->type->rank};
  for (int32_t i = 0; i < d.rank; ++i) d.dims[i] = onnx_dim(n, x, i);
  return d;
}

// Two independent f32 tensors of numbers from 0 (not 1) in steps of 2^-24.
static void draw_uniform(onnx_node_t* n, const draw_t* d, ir_value_t* out[2]) {
  const ir_type_t* word = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 0, NULL);
  onnx_dim_t total = onnx_dim_of(1);
  for (int32_t i = 0; i < d->rank; ++i) total = onnx_dim_mul(n, total, d->dims[i]);
  ir_value_t* counters = onnx_reshape(n, onnx_numbers(n, 1, &total, 0), d->rank, d->dims);
  import_threefry(n->b, graph_splat_integer(n->b, word, key_of(n)), counters, out);
  for (int i = 0; i < 2; ++i) {
    ir_value_t* top = onnx_binary_number(n, SCALAR_shru, out[i], 8);
    out[i] = onnx_binary_number(n, SCALAR_mul, graph_cast(n->b, top, onnx_f32(n->ctx), true), 0x1p-24);
  }
}

// The element type that attribute dtype names, or `absent`. NULL after a diagnostic.
static const ir_type_t* drawn_type(onnx_node_t* n, const ir_type_t* absent) {
  const ir_type_t* element = onnx_attr(n, "dtype") ? onnx_element_type(n->ctx, onnx_int(n, "dtype", 0)) : absent;
  if (element && (ir_type_is_float(element) || ir_type_is_int(element))) return element;
  return onnx_error(n, "dtype is no type of numbers"), NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Distributions
//===----------------------------------------------------------------------------------------------------------------===

// Box and Muller's transform of two uniform numbers.
static ir_value_t* normal(onnx_node_t* n, ir_value_t* const u[2]) {
  ir_value_t* positive = onnx_binary_number(n, SCALAR_add, u[0], 0x1p-25);
  ir_value_t* square = onnx_binary_number(n, SCALAR_mul, onnx_unary(n, SCALAR_log, positive), -2);
  ir_value_t* angle = onnx_binary_number(n, SCALAR_mul, u[1], 2 * M_PI);
  return graph_binary(n->b, SCALAR_mul, onnx_unary(n, SCALAR_sqrt, square), onnx_unary(n, SCALAR_cos, angle));
}

static bool drawn_shape(onnx_node_t* n, draw_t* d) {
  int64_t shape[ONNX_MAX_RANK];
  uint32_t rank;
  if (n->in_count) return *d = shape_of(n, n->in[0].v), true;
  if (!onnx_ints(n, "shape", shape, ONNX_MAX_RANK, &rank)) return false;
  if (!onnx_attr(n, "shape")) return onnx_error(n, "attribute 'shape' is required");
  d->rank = (int32_t)rank;
  for (uint32_t i = 0; i < rank; ++i) {
    if (shape[i] < 0) return onnx_error(n, "size %lld is negative", (long long)shape[i]);
    d->dims[i] = onnx_dim_of(shape[i]);
  }
  return true;
}

// RandomNormal and RandomUniform, and the forms that take their shape from an input.
bool onnx_lower_random(onnx_node_t* n) {
  draw_t d;
  ir_value_t* u[2];
  bool is_normal = strncmp(n->name, "RandomNormal", 12) == 0;
  if (!drawn_shape(n, &d)) return false;
  const ir_type_t* element = drawn_type(n, n->in_count ? n->in[0].element : onnx_f32(n->ctx));
  if (!element) return false;
  if (!ir_type_is_float(element)) return onnx_error(n, "dtype must be a floating-point type");
  double low = onnx_float(n, "low", 0), high = onnx_float(n, "high", 1);
  double factor = is_normal ? onnx_float(n, "scale", 1) : high - low,
         offset = is_normal ? onnx_float(n, "mean", 0) : low;
  draw_uniform(n, &d, u);
  ir_value_t* y = onnx_binary_number(n, SCALAR_mul, is_normal ? normal(n, u) : u[0], factor);
  y = onnx_binary_number(n, SCALAR_add, y, offset);
  n->out[0] = onnx_cast(n, onnx_value(y, onnx_f32(n->ctx)), element);
  return true;
}

// 1 with the probability that the input says.
bool onnx_lower_bernoulli(onnx_node_t* n) {
  ir_value_t* u[2];
  if (!onnx_check_float(n, 0)) return false;
  const ir_type_t* element = drawn_type(n, n->in[0].element);
  if (!element) return false;
  draw_t d = shape_of(n, n->in[0].v);
  draw_uniform(n, &d, u);
  ir_value_t* y = graph_binary(n->b, SCALAR_lt, u[0], onnx_cast(n, n->in[0], onnx_f32(n->ctx)).v);
  n->out[0] = onnx_cast(n, onnx_value(y, onnx_bool(n->ctx)), element);
  return true;
}

// How many of the classes' cumulated probabilities lie at or below a uniform number.
bool onnx_lower_multinomial(onnx_node_t* n) {
  static const int64_t of_sample[] = {0, 1}, of_class[] = {0, 2};
  ir_value_t* u[2];
  int64_t samples = onnx_int(n, "sample_size", 1), last = 2;
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 2, 2)) return false;
  const ir_type_t* element = drawn_type(n, ir_type_integer(n->ctx, 32, IR_SIGNED));
  if (!element || samples < 0) return element && onnx_error(n, "sample_size is negative");
  onnx_dim_t classes = onnx_dim(n, n->in[0].v, 1), one = onnx_dim_of(1);
  if (!onnx_require(n, onnx_dim_test(n, SCALAR_ge, classes, one), "there are no classes")) return false;
  classes = onnx_dim_sub(n, classes, one);  // the last ends at 1, whatever rounding makes of it
  ir_value_t* p = onnx_softmax(n, onnx_cast(n, n->in[0], onnx_f32(n->ctx)).v, 1);
  ir_named_attr_t attrs[] = {{"axis", ir_attr_i64(n->ctx, 1)}, {"kind", ir_attr_cstring(n->ctx, "add")}};
  p = graph_build(n->b, GRAPH_SCAN, &p, 1, p->type, attrs, 2);
  p = onnx_prefix(n, p, 1, classes);
  draw_t d = {.rank = 2, .dims = {onnx_dim(n, n->in[0].v, 0), onnx_dim_of(samples)}};
  draw_uniform(n, &d, u);
  const onnx_dim_t dims[] = {d.dims[0], d.dims[1], classes};
  p = onnx_broadcast_to(n, onnx_spread(n, p, 3, of_class), 3, dims);
  ir_value_t* below = graph_binary(n->b, SCALAR_le, p, onnx_broadcast_as(n, u[0], p, of_sample));
  ir_value_t* y = graph_reduce(n->b, graph_cast(n->b, below, ir_type_int(n->ctx, 64), true), &last, 1, "add");
  n->out[0] = onnx_cast(n, onnx_value(y, onnx_si64(n->ctx)), element);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Dropout
//===----------------------------------------------------------------------------------------------------------------===

// Input i (one value, `absent` without it) as that element type in the shape of `like`. NULL after a diagnostic.
static ir_value_t* one_value(onnx_node_t* n, uint32_t i, double absent, const ir_type_t* element, ir_value_t* like) {
  ir_value_t* scalar = graph_scalar_constant(n->b, element, absent);
  if (onnx_has(n, i)) {
    if (!onnx_check_single(n, i)) return NULL;
    scalar = onnx_cast(n, n->in[i], element).v;
  }
  return onnx_scalar_like(n, scalar, like);
}

static bool is_zero(onnx_node_t* n, uint32_t i) {
  const ir_attr_t* known = onnx_constant(n, n->in[i].v);
  return known && ir_type_count(known->type) == 1 && ir_attr_element_number(known, 0) == 0;
}

// Whether nothing is dropped: not in training, or none by the ratio.
static bool is_inert(onnx_node_t* n) { return !onnx_has(n, 2) || is_zero(n, 2) || (onnx_has(n, 1) && is_zero(n, 1)); }

bool onnx_lower_dropout(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  ir_value_t *kept, *u[2];
  const ir_type_t* f32 = onnx_f32(n->ctx);
  if (is_inert(n)) {
    kept = onnx_broadcast_as(n, graph_scalar_constant(n->b, onnx_bool(n->ctx), 1), x.v, NULL);
    n->out[0] = x;
  } else {
    if (!onnx_check_float(n, 0) || !onnx_is_bool(n->in[2])) return onnx_error(n, "training_mode must be a boolean");
    draw_t d = shape_of(n, x.v);
    draw_uniform(n, &d, u);
    ir_value_t* ratio = one_value(n, 1, 0.5, f32, u[0]);
    ir_value_t* training = ratio ? one_value(n, 2, 0, onnx_bool(n->ctx), u[0]) : NULL;
    if (!training) return false;
    ratio = graph_select(n->b, training, ratio, graph_splat_like(n->b, ratio, 0));
    kept = graph_binary(n->b, SCALAR_ge, u[0], ratio);
    ir_value_t* rest = onnx_binary_number(n, SCALAR_add, onnx_unary(n, SCALAR_neg, ratio), 1);
    ir_value_t* y = graph_binary(n->b, SCALAR_mul, x.v,
                                 graph_binary(n->b, SCALAR_div, graph_splat_like(n->b, x.v, 1),
                                              onnx_cast(n, onnx_value(rest, f32), x.element).v));
    n->out[0] = onnx_value(graph_select(n->b, kept, y, graph_splat_like(n->b, y, 0)), x.element);
  }
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(kept, onnx_bool(n->ctx));
  return true;
}
