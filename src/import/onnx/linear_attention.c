// Operators that carry a state through a sequence: LinearAttention and CausalConvWithState.
#include <math.h>
#include <string.h>

#include "import/onnx/loops.h"
#include "import/onnx/ops.h"

static ir_value_t* mul(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_mul, x, y); }

//===----------------------------------------------------------------------------------------------------------------===
// LinearAttention: S = exp(g) S + k (beta (v - k' exp(g) S)), y = scale q' S, step by step; which parts there are is
// said by update_rule
//===----------------------------------------------------------------------------------------------------------------===

typedef struct linear_t {
  onnx_node_t* n;
  int64_t heads, group, depth, width;  // key heads, query heads of each, sizes of keys and values
  onnx_dim_t batch, steps;
  bool gated, delta;
  double scale;
  const ir_type_t* element;          // of the arithmetic
  ir_value_t *q, *k, *v;             // [b, t, h, g, dk], [b, t, h, dk], [b, t, h, dv]
  ir_value_t *decay, *beta, *state;  // [b, t, h, dk or 1], [b, t, h or 1], [b, h, dk, dv]
} linear_t;

// Input i as [b, t, parts..., size] in the arithmetic's type; NULL after a diagnostic.
static ir_value_t* unpack(linear_t* a, uint32_t i, int32_t rank, const int64_t* parts) {
  onnx_node_t* n = a->n;
  onnx_dim_t dims[5] = {a->batch, a->steps};
  int64_t total = 1;
  if (!onnx_has(n, i) || !onnx_check_float(n, i) || !onnx_check_rank(n, i, 3, 3)) return NULL;
  for (int32_t d = 2; d < rank; ++d) {
    dims[d] = onnx_dim_of(parts[d - 2]);
    total *= parts[d - 2];
  }
  const ir_type_t* type = n->in[i].v->type;
  bool fits = type->dims[2] == IR_DYNAMIC || type->dims[2] == total;
  for (int32_t d = 0; d < 2; ++d) {
    fits &= type->dims[d] == IR_DYNAMIC || dims[d].size == IR_DYNAMIC || type->dims[d] == dims[d].size;
  }
  if (!fits) return onnx_error(n, "input %u does not fit the heads or the query", i), NULL;
  return onnx_reshape(n, onnx_cast(n, n->in[i], a->element).v, rank, dims);
}

static bool read_rule(linear_t* a) {
  onnx_node_t* n = a->n;
  const char* rule = onnx_string(n, "update_rule", "gated_delta");
  a->delta = strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
  a->gated = strcmp(rule, "gated") == 0 || strcmp(rule, "gated_delta") == 0;
  if (!a->delta && !a->gated && strcmp(rule, "linear") != 0) {
    return onnx_error(n, "update_rule '%s' is none of linear, gated, delta, gated_delta", rule);
  }
  if (a->gated != onnx_has(n, 4)) return onnx_error(n, "update_rule '%s' and the input decay do not fit", rule);
  if (a->delta != onnx_has(n, 5)) return onnx_error(n, "update_rule '%s' and the input beta do not fit", rule);
  return true;
}

static bool read_sizes(linear_t* a) {
  onnx_node_t* n = a->n;
  int64_t q_heads = onnx_int(n, "q_num_heads", 0);
  a->heads = onnx_int(n, "kv_num_heads", 0);
  for (uint32_t i = 0; i < 3; ++i) {
    if (!onnx_check_float(n, i) || !onnx_check_rank(n, i, 3, 3)) return false;
    if (onnx_dim_size(n->in[i], 2) == IR_DYNAMIC) {
      return onnx_error(n, "the last dimension of input %u is not static", i);
    }
  }
  if (a->heads < 1 || q_heads < 1 || q_heads % a->heads) {
    return onnx_error(n, "%lld query heads cannot share %lld key heads", (long long)q_heads, (long long)a->heads);
  }
  a->group = q_heads / a->heads;
  if (onnx_dim_size(n->in[0], 2) % q_heads || onnx_dim_size(n->in[2], 2) % a->heads) {
    return onnx_error(n, "the number of heads does not divide the last dimension");
  }
  a->depth = onnx_dim_size(n->in[0], 2) / q_heads;
  a->width = onnx_dim_size(n->in[2], 2) / a->heads;
  a->batch = onnx_dim(n, n->in[0].v, 0);
  a->steps = onnx_dim(n, n->in[0].v, 1);
  a->scale = onnx_float(n, "scale", 0);
  if (a->scale == 0 && a->depth) a->scale = 1 / sqrt((double)a->depth);
  bool wide = n->in[0].element->float_kind == IR_F64;
  a->element = ir_type_float(n->ctx, wide ? IR_F64 : IR_F32);
  return true;
}

static bool read_state(linear_t* a) {
  onnx_node_t* n = a->n;
  const int64_t wanted[] = {a->batch.size, a->heads, a->depth, a->width};
  const onnx_dim_t dims[] = {a->batch, onnx_dim_of(a->heads), onnx_dim_of(a->depth), onnx_dim_of(a->width)};
  if (!onnx_has(n, 3)) {
    a->state = onnx_broadcast_to(n, graph_scalar_constant(n->b, a->element, 0), 4, dims);
    return true;
  }
  if (!onnx_check_float(n, 3) || !onnx_check_rank(n, 3, 4, 4)) return false;
  for (int32_t d = 0; d < 4; ++d) {
    int64_t size = onnx_dim_size(n->in[3], d);
    if (size != wanted[d] && size != IR_DYNAMIC && wanted[d] != IR_DYNAMIC) {
      return onnx_error(n, "past_state has size %lld in dimension %d; it should be %lld", (long long)size, d,
                        (long long)wanted[d]);
    }
  }
  a->state = onnx_reshape(n, onnx_cast(n, n->in[3], a->element).v, 4, dims);
  return true;
}

static bool read_linear(linear_t* a) {
  onnx_node_t* n = a->n;
  if (!read_rule(a) || !read_sizes(a) || !read_state(a)) return false;
  const int64_t q[] = {a->heads, a->group, a->depth}, k[] = {a->heads, a->depth}, v[] = {a->heads, a->width};
  if (!(a->q = unpack(a, 0, 5, q)) || !(a->k = unpack(a, 1, 4, k)) || !(a->v = unpack(a, 2, 4, v))) return false;
  if (a->gated) {
    bool per_head = onnx_rank(n->in[4]) == 3 && onnx_dim_size(n->in[4], 2) == a->heads;
    const int64_t parts[] = {a->heads, per_head ? 1 : a->depth};
    if (!(a->decay = unpack(a, 4, 4, parts))) return false;
    a->decay = onnx_unary(n, SCALAR_exp, a->decay);
  }
  if (a->delta) {
    bool shared = onnx_rank(n->in[5]) == 3 && onnx_dim_size(n->in[5], 2) == 1;
    const int64_t parts[] = {shared ? 1 : a->heads, 1};
    if (!(a->beta = unpack(a, 5, 4, parts))) return false;
  }
  return true;
}

// sum over dk of x [b, h, .., dk] and the state [b, h, dk, dv]
static ir_value_t* read_out(linear_t* a, ir_value_t* x, ir_value_t* state) {
  static const int64_t batch[] = {0, 1};
  int64_t last = x->type->rank - 1, depth = 2;
  graph_contract_t c = {.lhs_batch = batch, .rhs_batch = batch, .batch_count = 2, .contract_count = 1};
  c.lhs_contract = &last, c.rhs_contract = &depth;
  return graph_contract(a->n->b, x, state, &c, a->element);
}

// x [b, h or 1, d or 1] in the shape of `like`, its last dim along like's dim 2.
static ir_value_t* spread(linear_t* a, ir_value_t* x, ir_value_t* like) {
  static const int64_t at[] = {0, 1, 2};
  return onnx_broadcast_as(a->n, x, like, at);
}

// One step; returns y [b, h, g, dv] and changes the state.
static ir_value_t* step_linear(linear_t* a, ir_value_t* at, ir_value_t** state) {
  onnx_node_t* n = a->n;
  static const int64_t of_key[] = {0, 1, 2}, of_value[] = {0, 1, 3};
  ir_value_t *k = onnx_element(n, a->k, 1, at), *v = onnx_element(n, a->v, 1, at);
  if (a->gated) *state = mul(n, *state, spread(a, onnx_element(n, a->decay, 1, at), *state));
  if (a->delta) {
    v = graph_binary(n->b, SCALAR_sub, v, read_out(a, k, *state));
    v = mul(n, v, spread(a, onnx_element(n, a->beta, 1, at), v));
  }
  ir_value_t* outer = mul(n, onnx_broadcast_as(n, k, *state, of_key), onnx_broadcast_as(n, v, *state, of_value));
  *state = graph_binary(n->b, SCALAR_add, *state, outer);
  return onnx_binary_number(n, SCALAR_mul, read_out(a, onnx_element(n, a->q, 1, at), *state), a->scale);
}

// Results [t, b, h, g, dv] and the last state.
static void run_linear(linear_t* a, ir_value_t** all, ir_value_t** state) {
  onnx_node_t* n = a->n;
  onnx_loop_t loop;
  const onnx_dim_t dims[] = {a->steps, a->batch, onnx_dim_of(a->heads), onnx_dim_of(a->group), onnx_dim_of(a->width)};
  ir_value_t* initial[] = {a->state, onnx_broadcast_to(n, graph_scalar_constant(n->b, a->element, 0), 5, dims)};
  const ir_type_t* types[] = {initial[0]->type, initial[1]->type};
  ir_value_t* steps = onnx_dim_tensor(n, a->steps, 0);
  onnx_loop_begin(&loop, n, types, 2);
  ir_value_t *at = loop.body->args[0], *next = loop.body->args[1];
  ir_value_t* y = step_linear(a, at, &next);
  ir_value_t* results[] = {next, onnx_put_element(n, loop.body->args[2], y, at)};
  ir_op_t* op = onnx_loop_end(&loop, initial, results, steps, -1);
  *state = ir_result(op, 1), *all = ir_result(op, 2);
}

bool onnx_lower_linear_attention(onnx_node_t* n) {
  static const int64_t batch_first[] = {1, 0, 2, 3, 4};
  linear_t a = {.n = n};
  ir_value_t *y, *state;
  if (!read_linear(&a)) return false;
  if (a.steps.size == 1) {
    state = a.state;
    y = step_linear(&a, graph_scalar_constant(n->b, ir_type_int(n->ctx, 64), 0), &state);
  } else {
    run_linear(&a, &y, &state);
    y = graph_transpose(n->b, y, batch_first);
  }
  const onnx_dim_t dims[] = {a.batch, a.steps, onnx_dim_of(a.heads * a.group * a.width)};
  const ir_type_t* kept = onnx_has(n, 3) ? n->in[3].element : n->in[0].element;
  if (onnx_wants(n, 1)) n->out[1] = onnx_cast(n, onnx_value(state, a.element), kept);
  n->out[0] = onnx_cast(n, onnx_value(onnx_reshape(n, y, 3, dims), a.element), n->in[0].element);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// CausalConvWithState: a depthwise convolution of [past, x], whose last k - 1 columns are the next past
//===----------------------------------------------------------------------------------------------------------------===

static bool check_causal_conv(onnx_node_t* n) {
  for (uint32_t i = 1; i < 4; ++i) {
    if (!onnx_check_same_element(n, 0, i)) return false;
  }
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 3, 3) || !onnx_check_rank(n, 1, 3, 3)) return false;
  int64_t channels = onnx_dim_size(n->in[0], 1), taps = onnx_dim_size(n->in[1], 2);
  if (channels < 1 || taps < 1) return onnx_error(n, "channels and kernel must have static sizes of at least 1");
  if (onnx_dim_size(n->in[1], 0) != channels || onnx_dim_size(n->in[1], 1) != 1) {
    return onnx_error(n, "the weights must have shape [%lld, 1, k]", (long long)channels);
  }
  if (!onnx_has(n, 3)) return true;
  if (!onnx_check_rank(n, 3, 3, 3)) return false;
  bool fits = onnx_dim_size(n->in[3], 1) == channels && onnx_dim_size(n->in[3], 2) == taps - 1;
  return fits ||
         onnx_error(n, "past_state must have shape [batch, %lld, %lld]", (long long)channels, (long long)taps - 1);
}

// The last `count` columns of x, which has that many more than `length`.
static ir_value_t* last_columns(onnx_node_t* n, ir_value_t* x, onnx_dim_t length, int64_t count) {
  if (length.size != IR_DYNAMIC) return onnx_part(n, x, 2, (onnx_part_t){length.size, count, 1});
  const onnx_dim_t dims[] = {onnx_dim_of(count)};
  ir_value_t* places = onnx_numbers(n, 1, dims, 0);
  ir_value_t* first = onnx_broadcast_as(n, onnx_dim_tensor(n, length, 0), places, NULL);
  return graph_take(n->b, x, graph_binary(n->b, SCALAR_add, places, first), 2, false);
}

bool onnx_lower_causal_conv(onnx_node_t* n) {
  const char* name = onnx_string(n, "activation", "none");
  bool silu = strcmp(name, "silu") == 0 || strcmp(name, "swish") == 0;
  if (!check_causal_conv(n)) return false;
  if (!silu && strcmp(name, "none") != 0) return onnx_error(n, "activation '%s' is none of none, silu, swish", name);
  ir_value_t *x = n->in[0].v, *w = n->in[1].v;
  int64_t channels = x->type->dims[1], past = w->type->dims[2] - 1;
  onnx_dim_t batch = onnx_dim(n, x, 0), length = onnx_dim(n, x, 2);
  const onnx_dim_t dims[] = {batch, onnx_dim_of(channels), onnx_dim_of(past)};
  ir_value_t* state =
      onnx_has(n, 3) ? n->in[3].v : onnx_broadcast_to(n, graph_scalar_constant(n->b, x->type->element, 0), 3, dims);
  ir_value_t* padded = past ? graph_concat(n->b, (ir_value_t*[]){state, x}, 2, 2) : x;
  graph_conv_t c = {.x_layout = "nc0", .w_layout = "oi0", .y_layout = "nc0", .groups = channels, .batch_groups = 1};
  c.strides[0] = c.x_dilation[0] = c.w_dilation[0] = 1;
  ir_value_t* y = graph_conv(n->b, padded, w, &c, x->type->element);
  if (onnx_has(n, 2)) {
    ir_value_t* bias = onnx_along(n, n->in[2].v, 1, y);
    if (!bias) return false;
    y = graph_binary(n->b, SCALAR_add, y, bias);
  }
  if (silu) y = mul(n, y, onnx_unary(n, SCALAR_logistic, y));
  if (onnx_wants(n, 1)) {
    n->out[1] = onnx_value(past ? last_columns(n, padded, length, past) : state, n->in[0].element);
  }
  return onnx_return(n, y, n->in[0].element);
}
