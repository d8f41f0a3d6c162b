// One step of an optimiser. Inputs: the learning rate R, the update count T, then for k tensors all X, all gradients G,
// and all of each kind of state; results: all new X, then all new states.
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

typedef struct step_t {
  onnx_node_t* n;
  uint32_t tensors, tensor;  // how many, and which one is at work
  ir_value_t *x, *gradient;  // the gradient with that of the regularisation
  const ir_type_t* element;
} step_t;

static ir_value_t* mul(step_t* s, ir_value_t* x, ir_value_t* y) { return graph_binary(s->n->b, SCALAR_mul, x, y); }
static ir_value_t* add(step_t* s, ir_value_t* x, ir_value_t* y) { return graph_binary(s->n->b, SCALAR_add, x, y); }
static ir_value_t* scale(step_t* s, ir_value_t* x, double by) { return onnx_binary_number(s->n, SCALAR_mul, x, by); }

// The tensor at work of group `group`: 0 X, 1 G, from 2 on states.
static ir_value_t* member(step_t* s, uint32_t group) { return s->n->in[2 + group * s->tensors + s->tensor].v; }

static void give(step_t* s, uint32_t group, ir_value_t* v) {
  uint32_t i = group * s->tensors + s->tensor;
  if (onnx_wants(s->n, i)) s->n->out[i] = onnx_value(v, s->element);
}

// R or T as a scalar in the type at work.
static ir_value_t* number(step_t* s, uint32_t i) {
  ir_value_t* v = onnx_cast(s->n, s->n->in[i], s->element).v;
  return v->type->rank ? graph_reshape(s->n->b, v, 0, NULL, NULL) : v;
}

// a at the first update (T = 0), else b.
static ir_value_t* unless_first(step_t* s, ir_value_t* a, ir_value_t* b) {
  ir_value_t* later = onnx_binary_number(s->n, SCALAR_gt, number(s, 1), 0);
  return graph_select(s->n->b, later, b, a);
}

// x - rate * direction
static ir_value_t* move(step_t* s, ir_value_t* rate, ir_value_t* direction) {
  ir_value_t* by = mul(s, onnx_broadcast_as(s->n, rate, direction, NULL), direction);
  return graph_binary(s->n->b, SCALAR_sub, s->x, by);
}

typedef void (*rule_t)(step_t* s);

static bool run_steps(onnx_node_t* n, uint32_t groups, rule_t rule) {
  step_t s = {.n = n, .tensors = (n->in_count - 2) / groups};
  if ((n->in_count - 2) % groups) return onnx_error(n, "needs %u inputs for each tensor, behind R and T", groups);
  for (uint32_t i = 0; i < 2; ++i) {
    if (!onnx_check_single(n, i)) return false;
  }
  if (!onnx_check_float(n, 0) || !onnx_is_int(n->in[1])) return onnx_error(n, "T must be an integer");
  for (; s.tensor < s.tensors; ++s.tensor) {
    for (uint32_t g = 0; g < groups; ++g) {
      uint32_t i = 2 + g * s.tensors + s.tensor;
      if (!n->in[i].v) return onnx_error(n, "input %u is left out", i);
      if (!onnx_check_float(n, i)) return false;
      if (n->in[i].v->type != n->in[2 + s.tensor].v->type) {
        return onnx_error(n, "input %u must have the type of input %u", i, 2 + s.tensor);
      }
    }
    s.x = member(&s, 0);
    s.element = n->in[2 + s.tensor].element;
    s.gradient = add(&s, scale(&s, s.x, onnx_float(n, "norm_coefficient", 0)), member(&s, 1));
    rule(&s);
  }
  return true;
}

static void step_adagrad(step_t* s) {
  onnx_node_t* n = s->n;
  ir_value_t* slowdown = scale(s, number(s, 1), onnx_float(n, "decay_factor", 0));
  ir_value_t* rate = graph_binary(n->b, SCALAR_div, number(s, 0), onnx_binary_number(n, SCALAR_add, slowdown, 1));
  ir_value_t* squares = add(s, member(s, 2), mul(s, s->gradient, s->gradient));
  ir_value_t* root =
      onnx_binary_number(n, SCALAR_add, onnx_unary(n, SCALAR_sqrt, squares), onnx_float(n, "epsilon", 1e-6));
  give(s, 0, move(s, rate, graph_binary(n->b, SCALAR_div, s->gradient, root)));
  give(s, 1, squares);
}

// 1 - base^T
static ir_value_t* unbiased(step_t* s, double base) {
  ir_value_t* count = number(s, 1);
  ir_value_t* power = graph_binary(s->n->b, SCALAR_pow, graph_splat_like(s->n->b, count, base), count);
  return onnx_binary_number(s->n, SCALAR_add, onnx_unary(s->n, SCALAR_neg, power), 1);
}

static void step_adam(step_t* s) {
  onnx_node_t* n = s->n;
  double alpha = onnx_float(n, "alpha", 0.9f), beta = onnx_float(n, "beta", 0.999f);
  ir_value_t* mean = add(s, scale(s, member(s, 2), alpha), scale(s, s->gradient, 1 - alpha));
  ir_value_t* squares = mul(s, s->gradient, s->gradient);
  squares = add(s, scale(s, member(s, 3), beta), scale(s, squares, 1 - beta));
  ir_value_t* root =
      onnx_binary_number(n, SCALAR_add, onnx_unary(n, SCALAR_sqrt, squares), onnx_float(n, "epsilon", 1e-6));
  ir_value_t* rate = mul(s, number(s, 0), onnx_unary(n, SCALAR_sqrt, unbiased(s, beta)));
  rate = unless_first(s, number(s, 0), graph_binary(n->b, SCALAR_div, rate, unbiased(s, alpha)));
  ir_value_t* x = move(s, rate, graph_binary(n->b, SCALAR_div, mean, root));
  give(s, 0, scale(s, x, 1 - onnx_float(n, "norm_coefficient_post", 0)));
  give(s, 1, mean);
  give(s, 2, squares);
}

static void step_momentum(step_t* s) {
  onnx_node_t* n = s->n;
  double alpha = onnx_float(n, "alpha", 0);
  ir_value_t* rate = number(s, 0);
  ir_value_t* beta =
      unless_first(s, graph_splat_like(n->b, rate, 1), graph_splat_like(n->b, rate, onnx_float(n, "beta", 0)));
  ir_value_t* fresh = mul(s, onnx_broadcast_as(n, beta, s->gradient, NULL), s->gradient);
  ir_value_t* momentum = add(s, scale(s, member(s, 2), alpha), fresh);
  bool nesterov = strcmp(onnx_string(n, "mode", ""), "nesterov") == 0;
  give(s, 0, move(s, rate, nesterov ? add(s, s->gradient, scale(s, momentum, alpha)) : momentum));
  give(s, 1, momentum);
}

bool onnx_lower_adagrad(onnx_node_t* n) { return run_steps(n, 3, step_adagrad); }
bool onnx_lower_adam(onnx_node_t* n) { return run_steps(n, 4, step_adam); }
bool onnx_lower_momentum(onnx_node_t* n) {
  const char* mode = onnx_string(n, "mode", "");
  bool known = strcmp(mode, "standard") == 0 || strcmp(mode, "nesterov") == 0;
  return known ? run_steps(n, 3, step_momentum) : onnx_error(n, "mode '%s' is neither standard nor nesterov", mode);
}
