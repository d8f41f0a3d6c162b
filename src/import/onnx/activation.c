// Activation functions.
#include <math.h>
#include <string.h>

#include "import/onnx/loops.h"
#include "import/onnx/ops.h"

static ir_value_t* add(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_add, x, y); }
static ir_value_t* mul(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_mul, x, y); }
static ir_value_t* scale(onnx_node_t* n, ir_value_t* x, double by) {
  return by == 1 ? x : onnx_binary_number(n, SCALAR_mul, x, by);
}
static ir_value_t* splat(onnx_node_t* n, ir_value_t* x, double value) { return graph_splat_like(n->b, x, value); }
static ir_value_t* positive(onnx_node_t* n, ir_value_t* x) { return onnx_binary_number(n, SCALAR_gt, x, 0); }

static bool give(onnx_node_t* n, ir_value_t* v) { return onnx_return(n, v, n->in[0].element); }

bool onnx_lower_relu(onnx_node_t* n) {
  if (onnx_is_unsigned(n->in[0])) return give(n, n->in[0].v);
  return give(n, onnx_binary_number(n, SCALAR_max, n->in[0].v, 0));
}

bool onnx_lower_leaky_relu(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  if (!onnx_check_float(n, 0)) return false;
  return give(
      n, graph_select(n->b, onnx_binary_number(n, SCALAR_lt, x, 0), scale(n, x, onnx_float(n, "alpha", 0.01f)), x));
}

bool onnx_lower_thresholded_relu(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  if (!onnx_check_float(n, 0)) return false;
  ir_value_t* above = onnx_binary_number(n, SCALAR_gt, x, onnx_float(n, "alpha", 1));
  return give(n, graph_select(n->b, above, x, splat(n, x, 0)));
}

bool onnx_lower_prelu(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *slope = n->in[1].v;
  if (!onnx_check_same_element(n, 0, 1)) return false;
  if (!(slope = onnx_broadcast_onto(n, slope, x))) return false;
  if (onnx_is_unsigned(n->in[0])) return give(n, x);  // nothing is negative
  return give(n, graph_select(n->b, onnx_binary_number(n, SCALAR_lt, x, 0), mul(n, x, slope), x));
}

// alpha * (exp(x) - 1)
static ir_value_t* exponential(onnx_node_t* n, ir_value_t* x, double alpha) {
  return scale(n, onnx_unary(n, SCALAR_expm1, x), alpha);
}

bool onnx_lower_elu(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  if (!onnx_check_float(n, 0)) return false;
  return give(n, graph_select(n->b, positive(n, x), x, exponential(n, x, onnx_float(n, "alpha", 1))));
}

bool onnx_lower_selu(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  if (!onnx_check_float(n, 0)) return false;
  double alpha = onnx_float(n, "alpha", 1.67326319217681884765625),
         gamma = onnx_float(n, "gamma", 1.05070102214813232421875);
  return give(n, scale(n, graph_select(n->b, positive(n, x), x, exponential(n, x, alpha)), gamma));
}

bool onnx_lower_celu(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  double alpha = onnx_float(n, "alpha", 1);
  if (!onnx_check_float(n, 0)) return false;
  return give(n, graph_select(n->b, positive(n, x), x, exponential(n, scale(n, x, 1 / alpha), alpha)));
}

// 0.5 x (1 + erf(x / sqrt 2))
static ir_value_t* gelu_exact(onnx_node_t* n, ir_value_t* x) {
  ir_value_t* erf = onnx_unary(n, SCALAR_erf, scale(n, x, M_SQRT1_2));
  return mul(n, scale(n, x, 0.5), onnx_binary_number(n, SCALAR_add, erf, 1));
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
static ir_value_t* gelu_tanh(onnx_node_t* n, ir_value_t* x) {
  ir_value_t* cube = mul(n, mul(n, x, x), x);
  ir_value_t* inner = scale(n, add(n, x, scale(n, cube, 0.044715)), sqrt(2 / M_PI));
  return mul(n, scale(n, x, 0.5), onnx_binary_number(n, SCALAR_add, onnx_unary(n, SCALAR_tanh, inner), 1));
}

bool onnx_lower_gelu(onnx_node_t* n) {
  const char* approximate = onnx_string(n, "approximate", "none");
  if (!onnx_check_float(n, 0)) return false;
  if (strcmp(approximate, "tanh") == 0) return give(n, gelu_tanh(n, n->in[0].v));
  if (strcmp(approximate, "none") == 0) return give(n, gelu_exact(n, n->in[0].v));
  return onnx_error(n, "approximate = '%s' is neither 'none' nor 'tanh'", approximate);
}

static ir_value_t* biased(onnx_node_t* n) {
  if (!onnx_check_float(n, 0) || !onnx_check_same_element(n, 0, 1)) return NULL;
  return onnx_has(n, 1) ? onnx_binary_onto(n, SCALAR_add, n->in[0].v, n->in[1].v) : n->in[0].v;
}
bool onnx_lower_bias_gelu(onnx_node_t* n) {
  ir_value_t* x = biased(n);
  return x && give(n, gelu_exact(n, x));
}
bool onnx_lower_fast_gelu(onnx_node_t* n) {
  ir_value_t* x = biased(n);
  return x && give(n, gelu_tanh(n, x));
}

static bool sigmoid_weighted(onnx_node_t* n, double alpha) {
  ir_value_t* x = n->in[0].v;
  return onnx_check_float(n, 0) && give(n, mul(n, x, onnx_unary(n, SCALAR_logistic, scale(n, x, alpha))));
}
bool onnx_lower_swish(onnx_node_t* n) { return sigmoid_weighted(n, onnx_float(n, "alpha", 1)); }
bool onnx_lower_swiglu(onnx_node_t* n) {
  ir_value_t *x = n->in[0].v, *y = n->in[1].v;
  if (!onnx_check_float(n, 0) || !onnx_check_same_element(n, 0, 1)) return false;
  if (!onnx_merge_types(n->ctx, x->type, y->type)) return onnx_error(n, "the inputs must have one shape");
  ir_value_t* gate = onnx_unary(n, SCALAR_logistic, scale(n, x, onnx_float(n, "alpha", 1)));
  ir_value_t* product = onnx_binary(n, SCALAR_mul, mul(n, x, gate), y);
  return product && give(n, product);
}
bool onnx_lower_quick_gelu(onnx_node_t* n) { return sigmoid_weighted(n, onnx_float(n, "alpha", 1.702)); }

static ir_value_t* hard_sigmoid(onnx_node_t* n, ir_value_t* x, double alpha, double beta) {
  ir_value_t* line = onnx_binary_number(n, SCALAR_add, scale(n, x, alpha), beta);
  return onnx_binary_number(n, SCALAR_min, onnx_binary_number(n, SCALAR_max, line, 0), 1);
}
bool onnx_lower_hard_sigmoid(onnx_node_t* n) {
  if (!onnx_check_float(n, 0)) return false;
  return give(n, hard_sigmoid(n, n->in[0].v, onnx_float(n, "alpha", 0.2), onnx_float(n, "beta", 0.5)));
}
bool onnx_lower_hard_swish(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  return onnx_check_float(n, 0) && give(n, mul(n, x, hard_sigmoid(n, x, 1.0 / 6, 0.5)));
}

// log(1 + exp(x)) without overflow: max(x, 0) + log1p(exp(-|x|))
static ir_value_t* softplus(onnx_node_t* n, ir_value_t* x) {
  ir_value_t* small = onnx_unary(n, SCALAR_exp, onnx_unary(n, SCALAR_neg, onnx_unary(n, SCALAR_abs, x)));
  return add(n, onnx_binary_number(n, SCALAR_max, x, 0), onnx_unary(n, SCALAR_log1p, small));
}
bool onnx_lower_softplus(onnx_node_t* n) { return onnx_check_float(n, 0) && give(n, softplus(n, n->in[0].v)); }
// x tanh(softplus(x)): with e = exp(x) and p = e (e + 2) that is x p / (p + 2), which is x from where p would be large
// on.
bool onnx_lower_mish(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  if (!onnx_check_float(n, 0)) return false;
  double most = ir_type_scalar(x->type)->width < 32 ? 5 : 20;
  ir_value_t* e = onnx_unary(n, SCALAR_exp, onnx_binary_number(n, SCALAR_min, x, most));
  ir_value_t* p = mul(n, e, onnx_binary_number(n, SCALAR_add, e, 2));
  return give(n, mul(n, x, graph_binary(n->b, SCALAR_div, p, onnx_binary_number(n, SCALAR_add, p, 2))));
}

bool onnx_lower_softsign(onnx_node_t* n) {
  ir_value_t* x = n->in[0].v;
  if (!onnx_check_float(n, 0)) return false;
  return give(n, graph_binary(n->b, SCALAR_div, x, onnx_binary_number(n, SCALAR_add, onnx_unary(n, SCALAR_abs, x), 1)));
}

// x + bias below -lambd, x - bias above lambd, else 0. Also for integers.
bool onnx_lower_shrink(onnx_node_t* n) {
  onnx_value_t in = n->in[0];
  if (onnx_is_int(in)) in = onnx_cast(n, in, onnx_f32(n->ctx));
  ir_value_t* x = in.v;
  double bias = onnx_float(n, "bias", 0), lambd = onnx_float(n, "lambd", 0.5);
  ir_value_t* zero = splat(n, x, 0);
  ir_value_t* high =
      graph_select(n->b, onnx_binary_number(n, SCALAR_gt, x, lambd), onnx_binary_number(n, SCALAR_sub, x, bias), zero);
  ir_value_t* low = onnx_binary_number(n, SCALAR_add, x, bias);
  ir_value_t* result = graph_select(n->b, onnx_binary_number(n, SCALAR_lt, x, -lambd), low, high);
  n->out[0] = onnx_cast(n, onnx_value(result, in.element), n->in[0].element);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// By name
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_find_activation(onnx_node_t* n, const char* name, onnx_activation_t* out) {
  static const onnx_activation_t known[] = {{"sigmoid", 0, 0, 0},      {"tanh", 0, 0, 0},
                                            {"relu", 0, 0, 0},         {"affine", 2, 1, 0},
                                            {"leakyrelu", 1, 0.01, 0}, {"thresholdedrelu", 1, 1, 0},
                                            {"scaledtanh", 2, 1, 1},   {"hardsigmoid", 2, 0.2, 0.5},
                                            {"elu", 1, 1, 0},          {"softsign", 0, 0, 0},
                                            {"softplus", 0, 0, 0}};
  for (size_t i = 0; i < sizeof(known) / sizeof(*known); ++i) {
    if (strcasecmp(known[i].name, name) != 0) continue;
    *out = known[i];
    return true;
  }
  return onnx_error(n, "activation '%s' is unknown", name);
}

static ir_value_t* line(onnx_node_t* n, ir_value_t* x, double a, double b) {
  return onnx_binary_number(n, SCALAR_add, onnx_binary_number(n, SCALAR_mul, x, a), b);
}

ir_value_t* onnx_activate(onnx_node_t* n, const onnx_activation_t* fn, ir_value_t* x) {
  ir_value_t* zero = splat(n, x, 0);
  if (strcmp(fn->name, "sigmoid") == 0) return onnx_unary(n, SCALAR_logistic, x);
  if (strcmp(fn->name, "tanh") == 0) return onnx_unary(n, SCALAR_tanh, x);
  if (strcmp(fn->name, "relu") == 0) return graph_binary(n->b, SCALAR_max, x, zero);
  if (strcmp(fn->name, "affine") == 0) return line(n, x, fn->alpha, fn->beta);
  if (strcmp(fn->name, "leakyrelu") == 0) return graph_select(n->b, positive(n, x), x, scale(n, x, fn->alpha));
  if (strcmp(fn->name, "thresholdedrelu") == 0) {
    return graph_select(n->b, onnx_binary_number(n, SCALAR_ge, x, fn->alpha), x, zero);
  }
  if (strcmp(fn->name, "scaledtanh") == 0) {
    return scale(n, onnx_unary(n, SCALAR_tanh, scale(n, x, fn->beta)), fn->alpha);
  }
  if (strcmp(fn->name, "hardsigmoid") == 0) return hard_sigmoid(n, x, fn->alpha, fn->beta);
  if (strcmp(fn->name, "elu") == 0) return graph_select(n->b, positive(n, x), x, exponential(n, x, fn->alpha));
  if (strcmp(fn->name, "softsign") == 0) {
    return graph_binary(n->b, SCALAR_div, x, line(n, onnx_unary(n, SCALAR_abs, x), 1, 1));
  }
  return softplus(n, x);
}
