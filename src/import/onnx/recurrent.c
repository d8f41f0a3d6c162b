// RNN, GRU and LSTM, of which ONNX Runtime has a quantised form. The products with the input are one contraction over
// all steps; a loop does the rest.
#include <math.h>
#include <string.h>

#include "import/onnx/loops.h"
#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

enum { MAX_ACTIVATIONS = 6 };

typedef struct recurrence_t {
  onnx_node_t* n;
  uint32_t gates;  // per cell: 1, 3 or 4
  bool has_cell, coupled, linear_before_reset, batch_first;
  bool quantized;  // weights are integers and turned, with scales and zero points in inputs 8 to 11
  int64_t hidden, directions;
  double clip;
  onnx_activation_t fns[2 * MAX_ACTIVATIONS];
  uint32_t fn_count;  // per direction
  ir_value_t* x;      // [steps, batch, input]
  onnx_dim_t steps, batch;
  ir_value_t* lengths;  // [batch] as i64, or NULL
} recurrence_t;

static ir_value_t* add(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_add, x, y); }
static ir_value_t* sub(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_sub, x, y); }
static ir_value_t* mul(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_mul, x, y); }

//===----------------------------------------------------------------------------------------------------------------===
// Activations
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* activate(recurrence_t* r, uint32_t direction, uint32_t which, ir_value_t* x) {
  onnx_node_t* n = r->n;
  if (r->clip > 0) x = onnx_binary_number(n, SCALAR_min, onnx_binary_number(n, SCALAR_max, x, -r->clip), r->clip);
  return onnx_activate(n, &r->fns[direction * r->fn_count + which], x);
}

static bool read_functions(recurrence_t* r, const char* const* defaults) {
  onnx_node_t* n = r->n;
  const ir_attr_t *names = onnx_attr(n, "activations"), *alphas = onnx_attr(n, "activation_alpha"),
                  *betas = onnx_attr(n, "activation_beta");
  uint32_t total = r->fn_count * (uint32_t)r->directions, alpha = 0, beta = 0;
  if (names && (names->kind != IR_ATTR_ARRAY || names->count != total))
    return onnx_error(n, "needs %u activations", total);
  for (uint32_t i = 0; i < total; ++i) {
    const ir_attr_t* item = names ? names->items[i] : NULL;
    if (item && item->kind != IR_ATTR_STRING) return onnx_error(n, "activations must be names");
    onnx_activation_t* fn = &r->fns[i];
    if (!onnx_find_activation(n, item ? item->text : defaults[i % r->fn_count], fn)) return false;
    // Values are given for the functions that take them, in order.
    if (alphas && alphas->kind == IR_ATTR_ARRAY && fn->parameters > 0 && alpha < alphas->count)
      fn->alpha = alphas->items[alpha++]->number;
    if (betas && betas->kind == IR_ATTR_ARRAY && fn->parameters > 1 && beta < betas->count)
      fn->beta = betas->items[beta++]->number;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reading the node
//===----------------------------------------------------------------------------------------------------------------===

// Input i with the sizes that are not negative; c = -2: of rank 2.
static bool has_shape(onnx_node_t* n, uint32_t i, int64_t a, int64_t b, int64_t c) {
  const int64_t wanted[] = {a, b, c};
  if (!onnx_has(n, i)) return true;
  ir_value_t* v = n->in[i].v;
  const ir_type_t* type = v->type;
  bool fits = type->rank == (c == -2 ? 2 : 3);
  for (int32_t d = 0; fits && d < type->rank; ++d) {
    fits = wanted[d] < 0 || type->dims[d] == IR_DYNAMIC || type->dims[d] == wanted[d];
  }
  if (!fits) return onnx_error(n, "input %u has the wrong shape %s", i, ir_type_str(n->ctx, type));
  for (int32_t d = 0; d < type->rank; ++d) {
    if (wanted[d] >= 0 && !(v = onnx_sized(n, v, d, wanted[d]))) return false;
  }
  return onnx_set_input(n, i, v), true;
}

// W and R are [directions, gates' rows, columns], quantised ones [directions, columns, gates' rows].
static bool has_weights(recurrence_t* r, uint32_t i, int64_t columns) {
  int64_t rows = r->hidden * r->gates;
  if (!r->quantized) return has_shape(r->n, i, r->directions, rows, columns) && onnx_check_same_element(r->n, 0, i);
  return has_shape(r->n, i, r->directions, columns, rows) &&
         (onnx_is_int(r->n->in[i]) || onnx_error(r->n, "input %u must be quantised", i));
}

// Each direction has one number, or one for each of the gates' rows.
static bool check_scales(recurrence_t* r) {
  onnx_node_t* n = r->n;
  for (uint32_t i = 8; i < n->in_count; ++i) {
    if (!onnx_has(n, i)) continue;
    if (!onnx_check_rank(n, i, 1, 2)) return false;
    int64_t wanted[] = {r->directions, r->hidden * r->gates};
    for (int32_t d = 0; d < onnx_rank(n->in[i]); ++d) {
      ir_value_t* v = onnx_sized(n, n->in[i].v, d, wanted[d]);
      if (!v) return false;
      onnx_set_input(n, i, v);
    }
  }
  return (onnx_has(n, 8) && onnx_has(n, 10)) || onnx_error(n, "weights need scales");
}

static bool read_recurrence(recurrence_t* r, const char* const* defaults) {
  onnx_node_t* n = r->n;
  const char* direction = onnx_string(n, "direction", "forward");
  static const int64_t swap[] = {1, 0, 2};
  if (!onnx_check_float(n, 0) || !onnx_check_rank(n, 0, 3, 3)) return false;
  r->batch_first = onnx_int(n, "layout", 0) != 0;
  r->directions = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
  r->clip = onnx_float(n, "clip", 0);
  if (r->directions == 1 && strcmp(direction, "forward") != 0 && strcmp(direction, "reverse") != 0) {
    return onnx_error(n, "direction '%s' is unknown", direction);
  }
  r->x = r->batch_first ? graph_transpose(n->b, n->in[0].v, swap) : n->in[0].v;
  r->steps = onnx_dim(n, r->x, 0);
  r->batch = onnx_dim(n, r->x, 1);
  if (!onnx_check_rank(n, 1, 3, 3) || !onnx_check_rank(n, 2, 3, 3)) return false;
  int32_t inner = r->quantized ? 1 : 2;  // the dimension of weights that products sum over
  r->hidden = onnx_dim_size(n->in[2], inner);
  if (r->hidden == IR_DYNAMIC) r->hidden = onnx_int(n, "hidden_size", IR_DYNAMIC);
  int64_t input = r->x->type->dims[2], rows = r->hidden * r->gates;
  if (input == IR_DYNAMIC) input = onnx_dim_size(n->in[1], inner);
  if (r->hidden == IR_DYNAMIC) return onnx_unsupported(n, "give the attribute hidden_size, or input 2 a shape");
  if (r->hidden < 1 || r->hidden > (1 << 24)) return onnx_error(n, "hidden_size is out of range");
  if (input != IR_DYNAMIC && !(r->x = onnx_sized(n, r->x, 2, input))) return false;
  int64_t first = r->batch_first ? -1 : r->directions, second = r->batch_first ? r->directions : -1;
  if (!has_weights(r, 1, input) || !has_weights(r, 2, r->hidden) || (r->quantized && !check_scales(r))) return false;
  if (!has_shape(n, 3, r->directions, 2 * rows, -2) || !has_shape(n, 5, first, second, r->hidden)) return false;
  if (r->has_cell && (!has_shape(n, 6, first, second, r->hidden) || !has_shape(n, 7, r->directions, 3 * r->hidden, -2)))
    return false;
  for (uint32_t i = 3; i < n->in_count && i < 8; ++i) {
    if (i != 4 && !onnx_check_same_element(n, 0, i)) return false;
  }
  if (onnx_has(n, 4)) {
    if (!onnx_check_rank(n, 4, 1, 1) || !onnx_is_int(n->in[4])) return onnx_error(n, "sequence_lens must be integers");
    r->lengths = onnx_cast(n, n->in[4], onnx_si64(n->ctx)).v;
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim(n, r->lengths, 0), r->batch);
    if (!onnx_require(n, fits, "sequence_lens must have a length for each entry of the batch")) return false;
  }
  return read_functions(r, defaults);
}

// Entry `direction` of the first dim, without it.
static ir_value_t* of_direction(onnx_node_t* n, ir_value_t* v, int64_t direction, int64_t axis) {
  onnx_dim_t dims[3];
  int32_t count = 0;
  for (int32_t i = 0; i < v->type->rank; ++i) {
    if (i != axis) dims[count++] = onnx_dim(n, v, i);
  }
  return onnx_reshape(n, onnx_part(n, v, axis, (onnx_part_t){direction, 1, 1}), count, dims);
}

// Columns [from, from + count) of the last dim.
static ir_value_t* columns(onnx_node_t* n, ir_value_t* v, int64_t from, int64_t count) {
  return onnx_part(n, v, v->type->rank - 1, (onnx_part_t){from, count, 1});
}

// x w'
static ir_value_t* product(onnx_node_t* n, ir_value_t* x, ir_value_t* w) {
  int64_t lhs = x->type->rank - 1, rhs = 1;
  graph_contract_t c = {.lhs_contract = &lhs, .rhs_contract = &rhs, .contract_count = 1};
  return graph_contract(n->b, x, w, &c, x->type->element);
}

// Weights of one direction: floats as rows for the gates, or integers as columns.
typedef struct matrix_t {
  onnx_value_t v, scale, zero;  // `scale` only of integers
} matrix_t;

static matrix_t matrix(recurrence_t* r, uint32_t i, int64_t direction) {
  onnx_node_t* n = r->n;
  matrix_t m = {.v = onnx_value(of_direction(n, n->in[i].v, direction, 0), n->in[i].element)};
  if (!r->quantized) return m;
  onnx_value_t* parts[] = {&m.scale, &m.zero};
  for (uint32_t k = 0; k < 2; ++k) {
    uint32_t from = 8 + 2 * (i - 1) + k;
    if (onnx_has(n, from)) *parts[k] = onnx_value(of_direction(n, n->in[from].v, direction, 0), n->in[from].element);
  }
  return m;
}

// x by weights. Integers multiply x as quantised here, by its own range. NULL after a diagnostic.
static ir_value_t* by_weights(onnx_node_t* n, ir_value_t* x, const matrix_t* m) {
  if (!m->scale.v) return product(n, x, m->v.v);
  const onnx_value_t in[] = {onnx_value(x, n->in[0].element), m->v, m->scale, m->zero};
  onnx_value_t out[3] = {{0}};
  return onnx_apply(n, "DynamicQuantizeMatMul", in, 4, out) ? out[0].v : NULL;
}

static ir_value_t* add_vector(onnx_node_t* n, ir_value_t* x, ir_value_t* v) {
  int64_t last = x->type->rank - 1;
  return v ? add(n, x, onnx_broadcast_as(n, v, x, &last)) : x;
}

//===----------------------------------------------------------------------------------------------------------------===
// Cells: gates are rows of W and R, in ONNX's order
//===----------------------------------------------------------------------------------------------------------------===

typedef struct weights_t {
  matrix_t r;
  ir_value_t *recurrent_bias, *peepholes;  // peepholes: input, output, forget
} weights_t;

static ir_value_t* gate(recurrence_t* r, ir_value_t* v, uint32_t which) {
  return columns(r->n, v, which * r->hidden, r->hidden);
}

static ir_value_t* rnn_cell(recurrence_t* r, uint32_t d, const weights_t* w, ir_value_t* xw, ir_value_t* h) {
  return activate(r, d, 0, add(r->n, xw, product(r->n, h, w->r.v.v)));
}

static ir_value_t* gru_cell(recurrence_t* r, uint32_t d, const weights_t* w, ir_value_t* xw, ir_value_t* h) {
  onnx_node_t* n = r->n;
  int64_t offsets[] = {2 * r->hidden, 0}, sizes[] = {r->hidden, r->hidden}, ones[] = {1, 1};
  ir_value_t *hr, *candidate;
  if (r->linear_before_reset) {
    hr = add_vector(n, product(n, h, w->r.v.v), w->recurrent_bias);
  } else {
    int64_t start[] = {0, 0}, both[] = {2 * r->hidden, r->hidden};
    hr = product(n, h, graph_slice(n->b, w->r.v.v, start, both, ones));
    if (w->recurrent_bias) hr = add_vector(n, hr, columns(n, w->recurrent_bias, 0, 2 * r->hidden));
  }
  ir_value_t* z = activate(r, d, 0, add(n, gate(r, xw, 0), gate(r, hr, 0)));
  ir_value_t* reset = activate(r, d, 0, add(n, gate(r, xw, 1), gate(r, hr, 1)));
  if (r->linear_before_reset) {
    candidate = mul(n, reset, gate(r, hr, 2));
  } else {
    candidate = product(n, mul(n, reset, h), graph_slice(n->b, w->r.v.v, offsets, sizes, ones));
    if (w->recurrent_bias)
      candidate = add_vector(n, candidate, columns(n, w->recurrent_bias, 2 * r->hidden, r->hidden));
  }
  candidate = activate(r, d, 1, add(n, gate(r, xw, 2), candidate));
  ir_value_t* keep = mul(n, z, h);
  return add(n, mul(n, sub(n, graph_splat_like(n->b, z, 1), z), candidate), keep);
}

static ir_value_t* peep(recurrence_t* r, const weights_t* w, uint32_t which, ir_value_t* x, ir_value_t* c) {
  int64_t last = 1;
  if (!w->peepholes) return x;
  return add(r->n, x, mul(r->n, onnx_broadcast_as(r->n, gate(r, w->peepholes, which), c, &last), c));
}

// Gates are input, output, forget, cell.
static ir_value_t* lstm_cell(recurrence_t* r, uint32_t d, const weights_t* w, ir_value_t* xw, ir_value_t* h,
                             ir_value_t** c) {
  onnx_node_t* n = r->n;
  ir_value_t* hr = by_weights(n, h, &w->r);
  if (!hr) return NULL;
  ir_value_t* all = add(n, xw, hr);
  ir_value_t* input = activate(r, d, 0, peep(r, w, 0, gate(r, all, 0), *c));
  ir_value_t* forget = r->coupled ? sub(n, graph_splat_like(n->b, input, 1), input)
                                  : activate(r, d, 0, peep(r, w, 2, gate(r, all, 2), *c));
  ir_value_t* fresh = activate(r, d, 1, gate(r, all, 3));
  ir_value_t* next = add(n, mul(n, forget, *c), mul(n, input, fresh));
  ir_value_t* output = activate(r, d, 0, peep(r, w, 1, gate(r, all, 1), next));
  double clip = r->clip;
  r->clip = 0;
  ir_value_t* y = mul(n, output, activate(r, d, 2, next));
  r->clip = clip;
  *c = next;
  return y;
}

//===----------------------------------------------------------------------------------------------------------------===
// Directions
//===----------------------------------------------------------------------------------------------------------------===

// x with zeros in the steps behind the longest sequence, which have no part in the range that x is quantised by.
static ir_value_t* used_steps(recurrence_t* r) {
  onnx_node_t* n = r->n;
  static const int64_t batch = 0;
  if (!r->quantized || !r->lengths) return r->x;
  ir_value_t* longest = onnx_reduce_keep(n, r->lengths, &batch, 1, "max");
  ir_value_t* step = onnx_iota_like(n, graph_cast(n->b, r->x, ir_type_int(n->ctx, 64), false), 0);
  longest = onnx_scalar_like(n, onnx_entry(n, longest, 0, 0), step);
  return graph_select(n->b, graph_binary(n->b, SCALAR_lt, step, longest), r->x, graph_splat_like(n->b, r->x, 0));
}

// Input products of all steps with the biases that can be added now. NULL after a diagnostic.
static ir_value_t* input_products(recurrence_t* r, int64_t d, weights_t* w) {
  onnx_node_t* n = r->n;
  int64_t rows = r->hidden * r->gates;
  matrix_t input_weights = matrix(r, 1, d);
  ir_value_t* xw = by_weights(n, used_steps(r), &input_weights);
  if (!xw) return NULL;
  w->r = matrix(r, 2, d);
  if (onnx_has(n, 3)) {
    ir_value_t* bias = of_direction(n, n->in[3].v, d, 0);
    ir_value_t *input = columns(n, bias, 0, rows), *recurrent = columns(n, bias, rows, rows);
    if (r->gates == 3) w->recurrent_bias = recurrent;
    xw = add_vector(n, xw, r->gates == 3 ? input : add(n, input, recurrent));
  }
  if (r->has_cell && onnx_has(n, 7)) w->peepholes = of_direction(n, n->in[7].v, d, 0);
  return xw;
}

static ir_value_t* initial_state(recurrence_t* r, uint32_t i, int64_t d) {
  onnx_node_t* n = r->n;
  if (onnx_has(n, i)) return of_direction(n, n->in[i].v, d, r->batch_first ? 1 : 0);
  const onnx_dim_t dims[] = {r->batch, onnx_dim_of(r->hidden)};
  return onnx_broadcast_to(n, graph_scalar_constant(n->b, r->x->type->element, 0), 2, dims);
}

typedef struct outcome_t {
  ir_value_t *all, *h, *c;  // [steps, batch, hidden], [batch, hidden]
} outcome_t;

static bool run_direction(recurrence_t* r, uint32_t d, bool backwards, outcome_t* out) {
  onnx_node_t* n = r->n;
  weights_t w = {0};
  onnx_loop_t loop;
  static const int64_t first = 0;
  ir_value_t* xw = input_products(r, d, &w);
  if (!xw) return false;
  ir_value_t* initial[3] = {initial_state(r, 5, d), r->has_cell ? initial_state(r, 6, d) : NULL};
  uint32_t states = r->has_cell ? 2 : 1, count = states + 1;
  const onnx_dim_t dims[] = {r->steps, r->batch, onnx_dim_of(r->hidden)};
  initial[states] = onnx_broadcast_to(n, graph_scalar_constant(n->b, r->x->type->element, 0), 3, dims);
  ir_value_t* steps = onnx_dim_tensor(n, r->steps, 0);
  const ir_type_t* types[3];
  for (uint32_t i = 0; i < count; ++i) types[i] = initial[i]->type;
  onnx_loop_begin(&loop, n, types, count);
  ir_value_t *at = loop.body->args[0], *h = loop.body->args[1], *c = r->has_cell ? loop.body->args[2] : NULL;
  if (backwards) at = sub(n, onnx_binary_number(n, SCALAR_sub, steps, 1), at);
  ir_value_t *old_h = h, *old_c = c, *step = onnx_element(n, xw, 0, at);
  h = r->gates == 1   ? rnn_cell(r, d, &w, step, h)
      : r->gates == 3 ? gru_cell(r, d, &w, step, h)
                      : lstm_cell(r, d, &w, step, h, &c);
  if (!h) return onnx_loop_drop(&loop), false;
  ir_value_t* y = h;
  if (r->lengths) {
    ir_value_t* inside = graph_binary(n->b, SCALAR_lt, onnx_broadcast_as(n, at, r->lengths, NULL), r->lengths);
    inside = onnx_broadcast_as(n, inside, h, &first);
    y = graph_select(n->b, inside, h, graph_splat_like(n->b, h, 0));
    h = graph_select(n->b, inside, h, old_h);
    if (c) c = graph_select(n->b, inside, c, old_c);
  }
  ir_value_t* next[] = {h, c, NULL};
  next[states] = onnx_put_element(n, loop.body->args[count], y, at);
  ir_op_t* op = onnx_loop_end(&loop, initial, next, steps, -1);
  *out = (outcome_t){ir_result(op, count), ir_result(op, 1), r->has_cell ? ir_result(op, 2) : NULL};
  return true;
}

// Joins the directions' values along a new dim `axis`.
static ir_value_t* join(recurrence_t* r, ir_value_t* const* parts, int32_t axis) {
  onnx_node_t* n = r->n;
  ir_value_t* wide[2];
  for (int64_t d = 0; d < r->directions; ++d) {
    int64_t at[3];
    for (int32_t i = 0; i < parts[d]->type->rank; ++i) at[i] = i < axis ? i : i + 1;
    wide[d] = onnx_spread(n, parts[d], parts[d]->type->rank + 1, at);
  }
  return graph_concat(n->b, wide, (uint32_t)r->directions, axis);
}

static bool lower_recurrence(recurrence_t* r, const char* const* defaults) {
  onnx_node_t* n = r->n;
  static const int64_t batch_first_y[] = {2, 0, 1, 3}, batch_first_h[] = {1, 0, 2};
  if (!read_recurrence(r, defaults)) return false;
  bool reverse = strcmp(onnx_string(n, "direction", "forward"), "reverse") == 0;
  ir_value_t *all[2], *h[2], *c[2];
  for (uint32_t d = 0; d < (uint32_t)r->directions; ++d) {
    outcome_t o;
    if (!run_direction(r, d, d == 1 || reverse, &o)) return false;
    all[d] = o.all;
    h[d] = o.h;
    c[d] = o.c;
  }
  ir_value_t* results[] = {join(r, all, 1), join(r, h, 0), r->has_cell ? join(r, c, 0) : NULL};
  for (uint32_t i = 0; i < n->out_count && i < (r->has_cell ? 3u : 2u); ++i) {
    if (r->batch_first) results[i] = graph_transpose(n->b, results[i], i ? batch_first_h : batch_first_y);
    n->out[i] = onnx_value(results[i], n->in[0].element);
  }
  return true;
}

bool onnx_lower_rnn(onnx_node_t* n) {
  static const char* const defaults[] = {"tanh"};
  recurrence_t r = {.n = n, .gates = 1, .fn_count = 1};
  return lower_recurrence(&r, defaults);
}

bool onnx_lower_gru(onnx_node_t* n) {
  static const char* const defaults[] = {"sigmoid", "tanh"};
  recurrence_t r = {.n = n, .gates = 3, .fn_count = 2};
  r.linear_before_reset = onnx_int(n, "linear_before_reset", 0) != 0;
  return lower_recurrence(&r, defaults);
}

static bool lower_lstm(onnx_node_t* n, bool quantized) {
  static const char* const defaults[] = {"sigmoid", "tanh", "tanh"};
  recurrence_t r = {.n = n, .gates = 4, .fn_count = 3, .has_cell = true, .quantized = quantized};
  r.coupled = onnx_int(n, "input_forget", 0) != 0;
  return lower_recurrence(&r, defaults);
}
bool onnx_lower_lstm(onnx_node_t* n) { return lower_lstm(n, false); }
// ONNX Runtime's own: inputs 8 to 11 are W's scale and zero point and R's.
bool onnx_lower_dynamic_quantize_lstm(onnx_node_t* n) { return lower_lstm(n, true); }
