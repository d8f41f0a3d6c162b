// Operators that carry a state through a sequence: LinearAttention and CausalConvWithState.
#include <math.h>
#include <string.h>

#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

static ir_value_t* mul(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_mul, x, y); }

//===----------------------------------------------------------------------------------------------------------------===
// LinearAttention: S = exp(g) S + k (beta (v - k' exp(g) S)), y = scale q' S, step by step; which parts there are is
// said by update_rule
//===----------------------------------------------------------------------------------------------------------------===

typedef struct linear_t {
  onnx_node_t* n;
  int64_t heads, group;                   // key heads, query heads of each
  onnx_dim_t batch, steps, depth, width;  // depth, width: sizes of keys and values
  bool gated, delta;
  double scale;
  const ir_type_t* element;          // of the arithmetic
  ir_value_t *q, *k, *v;             // [b, t, h, g, dk], [b, t, h, dk], [b, t, h, dv]
  ir_value_t *decay, *beta, *state;  // [b, t, h, dk or 1], [b, t, h or 1], [b, h, dk, dv]
} linear_t;

// Input i as [b, t, parts..., size] in the arithmetic's type; NULL after a diagnostic.
static ir_value_t* unpack(linear_t* a, uint32_t i, int32_t rank, const onnx_dim_t* parts) {
  onnx_node_t* n = a->n;
  onnx_dim_t dims[5] = {a->batch, a->steps}, total = onnx_dim_of(1);
  if (!onnx_has(n, i) || !onnx_check_float(n, i) || !onnx_check_rank(n, i, 3, 3)) return NULL;
  for (int32_t d = 2; d < rank; ++d) {
    dims[d] = parts[d - 2];
    total = onnx_dim_mul(n, total, parts[d - 2]);
  }
  const onnx_dim_t wanted[] = {a->batch, a->steps, total};
  for (int32_t d = 0; d < 3; ++d) {
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, n->in[i].v, d), wanted[d]);
    if (!onnx_require(n, fits, "input %u does not fit the heads or the query", i)) return NULL;
  }
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
  }
  if (a->heads < 1 || q_heads < 1 || q_heads % a->heads) {
    return onnx_error(n, "%lld query heads cannot share %lld key heads", (long long)q_heads, (long long)a->heads);
  }
  a->group = q_heads / a->heads;
  onnx_dim_t depths = onnx_dim(n, n->in[0].v, 2), widths = onnx_dim(n, n->in[2].v, 2);
  a->depth = onnx_dim_div(n, depths, onnx_dim_of(q_heads));
  a->width = onnx_dim_div(n, widths, onnx_dim_of(a->heads));
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim_mul(n, a->depth, onnx_dim_of(q_heads)), depths);
  onnx_dim_t whole = onnx_dim_test(n, SCALAR_eq, onnx_dim_mul(n, a->width, onnx_dim_of(a->heads)), widths);
  if (!onnx_require(n, onnx_flag_and(n, fits, whole), "the number of heads does not divide the last dimension"))
    return false;
  a->batch = onnx_dim(n, n->in[0].v, 0);
  a->steps = onnx_dim(n, n->in[0].v, 1);
  a->scale = onnx_float(n, "scale", 0);
  if (a->scale == 0 && a->depth.size > 0) a->scale = 1 / sqrt((double)a->depth.size);
  bool wide = n->in[0].element->float_kind == IR_F64;
  a->element = ir_type_float(n->ctx, wide ? IR_F64 : IR_F32);
  return true;
}

static bool read_state(linear_t* a) {
  onnx_node_t* n = a->n;
  const onnx_dim_t dims[] = {a->batch, onnx_dim_of(a->heads), a->depth, a->width};
  if (!onnx_has(n, 3)) {
    a->state = onnx_broadcast_to(n, graph_scalar_constant(n->b, a->element, 0), 4, dims);
    return true;
  }
  if (!onnx_check_float(n, 3) || !onnx_check_rank(n, 3, 4, 4)) return false;
  for (int32_t d = 0; d < 4; ++d) {
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, n->in[3].v, d), dims[d]);
    if (!onnx_require(n, fits, "past_state has the wrong size in dimension %d", d)) return false;
  }
  a->state = onnx_reshape(n, onnx_cast(n, n->in[3], a->element).v, 4, dims);
  return true;
}

static bool read_linear(linear_t* a) {
  onnx_node_t* n = a->n;
  if (!read_rule(a) || !read_sizes(a) || !read_state(a)) return false;
  const onnx_dim_t heads = onnx_dim_of(a->heads), one = onnx_dim_of(1);
  const onnx_dim_t q[] = {heads, onnx_dim_of(a->group), a->depth}, k[] = {heads, a->depth}, v[] = {heads, a->width};
  if (!(a->q = unpack(a, 0, 5, q)) || !(a->k = unpack(a, 1, 4, k)) || !(a->v = unpack(a, 2, 4, v))) return false;
  static const int64_t last = 4;
  if (a->scale != 0) {
    a->q = onnx_binary_number(n, SCALAR_mul, a->q, a->scale);
  } else {
    ir_value_t* root = onnx_unary(n, SCALAR_sqrt, onnx_size_like(n, a->q, &last, 1, a->q));
    a->q = graph_binary(n->b, SCALAR_div, a->q, root);
  }
  if (a->gated) {
    if (!onnx_check_rank(n, 4, 3, 3)) return false;
    const onnx_dim_t parts[] = {heads, onnx_dim_div(n, onnx_dim(n, n->in[4].v, 2), heads)};  // a number, or one each
    if (!(a->decay = unpack(a, 4, 4, parts))) return false;
    a->decay = onnx_unary(n, SCALAR_exp, a->decay);
  }
  if (a->delta) {
    if (!onnx_check_rank(n, 5, 3, 3)) return false;
    const onnx_dim_t parts[] = {onnx_dim(n, n->in[5].v, 2), one};
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
  return onnx_broadcast_onto(a->n, onnx_spread(a->n, x, like->type->rank, at), like);
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
  return read_out(a, onnx_element(n, a->q, 1, at), *state);
}

// Results [t, b, h, g, dv] and the last state.
static void run_linear(linear_t* a, ir_value_t** all, ir_value_t** state) {
  onnx_node_t* n = a->n;
  onnx_loop_t loop;
  const onnx_dim_t dims[] = {a->steps, a->batch, onnx_dim_of(a->heads), onnx_dim_of(a->group), a->width};
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
  const onnx_dim_t dims[] = {a.batch, a.steps, onnx_dim_mul(n, a.width, onnx_dim_of(a.heads * a.group))};
  const ir_type_t* kept = onnx_has(n, 3) ? n->in[3].element : n->in[0].element;
  if (onnx_wants(n, 1)) n->out[1] = onnx_cast(n, onnx_value(state, a.element), kept);
  n->out[0] = onnx_cast(n, onnx_value(onnx_reshape(n, y, 3, dims), a.element), n->in[0].element);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// CausalConvWithState: a depthwise convolution of [past, x], whose last k - 1 columns are the next past
//===----------------------------------------------------------------------------------------------------------------===

typedef struct causal_t {
  ir_value_t *x, *w;  // [batch, channels, length], [channels, 1, taps]
  onnx_dim_t batch, channels, length, past;
} causal_t;

static bool read_causal_conv(onnx_node_t* n, causal_t* c) {
  for (uint32_t i = 1; i < 4; ++i) {
    if (!onnx_check_same_element(n, 0, i)) return false;
  }
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 3, 3) || !onnx_check_rank(n, 1, 3, 3)) return false;
  c->x = n->in[0].v;
  int64_t channels = onnx_dim_size(n->in[1], 0);
  if (channels != IR_DYNAMIC && !(c->x = onnx_sized(n, c->x, 1, channels))) return false;
  if (!(c->w = onnx_sized(n, n->in[1].v, 1, 1))) return false;
  channels = c->x->type->dims[1];
  if (channels != IR_DYNAMIC && !(c->w = onnx_sized(n, c->w, 0, channels))) return false;
  c->batch = onnx_dim(n, c->x, 0), c->channels = onnx_dim(n, c->x, 1), c->length = onnx_dim(n, c->x, 2);
  onnx_dim_t one = onnx_dim_of(1), taps = onnx_dim(n, c->w, 2);
  onnx_dim_t fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_ge, taps, one),
                                  onnx_dim_test(n, SCALAR_eq, onnx_dim(n, c->w, 0), c->channels));
  if (!onnx_require(n, fits, "the weights must have shape [channels, 1, k]")) return false;
  c->past = onnx_dim_sub(n, taps, one);
  if (!onnx_has(n, 3)) return true;
  if (!onnx_check_rank(n, 3, 3, 3)) return false;
  fits = onnx_flag_and(n, onnx_dim_test(n, SCALAR_eq, onnx_dim(n, n->in[3].v, 1), c->channels),
                       onnx_dim_test(n, SCALAR_eq, onnx_dim(n, n->in[3].v, 2), c->past));
  return onnx_require(n, fits, "past_state must have shape [batch, channels, k - 1]");
}

// Element i + t of the padded x for each place i and tap t, times that tap. Where only a call knows the channels.
static ir_value_t* convolve_any(onnx_node_t* n, const causal_t* c, ir_value_t* padded) {
  static const int64_t lhs_batch = 1, rhs_batch = 0, lhs = 3, rhs = 1, perm[] = {1, 0, 2};
  const onnx_dim_t taps = onnx_dim(n, c->w, 2), places[] = {c->length, taps}, table[] = {c->channels, taps};
  ir_value_t* at = graph_binary(n->b, SCALAR_add, onnx_numbers(n, 2, places, 0), onnx_numbers(n, 2, places, 1));
  graph_contract_t product = {&lhs_batch, &rhs_batch, &lhs, &rhs, 1, 1, false, false};
  ir_value_t *windows = graph_take(n->b, padded, at, 2, false), *w = onnx_reshape(n, c->w, 2, table);
  return graph_transpose(n->b, graph_contract(n->b, windows, w, &product, padded->type->element), perm);
}

static ir_value_t* convolve(onnx_node_t* n, const causal_t* c, ir_value_t* padded) {
  if (!onnx_dim_known(c->channels)) return convolve_any(n, c, padded);
  graph_conv_t conv = {
      .x_layout = "nc0", .w_layout = "oi0", .y_layout = "nc0", .groups = c->channels.size, .batch_groups = 1};
  conv.strides[0] = conv.x_dilation[0] = conv.w_dilation[0] = 1;
  return graph_conv(n->b, padded, c->w, &conv, padded->type->element);
}

bool onnx_lower_causal_conv(onnx_node_t* n) {
  causal_t c;
  const char* name = onnx_string(n, "activation", "none");
  bool silu = strcmp(name, "silu") == 0 || strcmp(name, "swish") == 0;
  if (!read_causal_conv(n, &c)) return false;
  if (!silu && strcmp(name, "none") != 0) return onnx_error(n, "activation '%s' is none of none, silu, swish", name);
  if (c.channels.size == 0) return onnx_error(n, "there are no channels");
  const onnx_dim_t dims[] = {c.batch, c.channels, c.past};
  ir_value_t* zero = graph_scalar_constant(n->b, c.x->type->element, 0);
  ir_value_t* state = onnx_has(n, 3) ? n->in[3].v : onnx_broadcast_to(n, zero, 3, dims);
  ir_value_t* padded = c.past.size == 0 ? c.x : graph_concat(n->b, (ir_value_t*[]){state, c.x}, 2, 2);
  ir_value_t* y = convolve(n, &c, padded);
  if (onnx_has(n, 2)) {
    ir_value_t* bias = onnx_along(n, n->in[2].v, 1, y);
    if (!bias) return false;
    y = graph_binary(n->b, SCALAR_add, y, bias);
  }
  if (silu) y = mul(n, y, onnx_unary(n, SCALAR_logistic, y));
  onnx_range_t last = {c.length, c.past, onnx_dim_of(1)};
  if (onnx_wants(n, 1)) {
    n->out[1] = onnx_value(c.past.size == 0 ? state : onnx_span(n, padded, 2, last), n->in[0].element);
  }
  return onnx_return(n, y, n->in[0].element);
}
