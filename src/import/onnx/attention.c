// Attention and RotaryEmbedding, written out as products and softmax; a later pass recognises the pattern.
#include "import/onnx/attention.h"

#include <math.h>
#include <string.h>

#include "import/onnx/ops.h"

static ir_value_t* mul(onnx_node_t* n, ir_value_t* x, ir_value_t* y) { return graph_binary(n->b, SCALAR_mul, x, y); }

ir_value_t* onnx_split_heads(onnx_node_t* n, ir_value_t* x, onnx_dim_t heads) {
  static const int64_t perm[] = {0, 2, 1, 3};
  static const char* const rule = "an input of rank 3 needs a number of heads that divides its last dimension";
  if (x->type->rank == 4) return x;
  if (x->type->rank != 3 || (onnx_dim_known(heads) && heads.size < 1)) return onnx_error(n, "%s", rule), NULL;
  onnx_dim_t width = onnx_dim(n, x, 2), size = onnx_dim_div(n, width, heads);
  onnx_dim_t divides = onnx_dim_test(n, SCALAR_eq, onnx_dim_mul(n, size, heads), width);
  if (!onnx_require(n, divides, "%s", rule)) return NULL;
  const onnx_dim_t dims[] = {onnx_dim(n, x, 0), onnx_dim(n, x, 1), heads, size};
  return graph_transpose(n->b, onnx_reshape(n, x, 4, dims), perm);
}

ir_value_t* onnx_scale_heads(onnx_node_t* n, ir_value_t* x, bool fourth) {
  static const int64_t last = 3;
  int64_t size = x->type->dims[last];
  double root = sqrt((double)size);
  if (size != IR_DYNAMIC) return onnx_binary_number(n, SCALAR_mul, x, size < 1 ? 1 : 1 / (fourth ? sqrt(root) : root));
  ir_value_t* by = onnx_unary(n, SCALAR_sqrt, onnx_size_like(n, x, &last, 1, x));
  return graph_binary(n->b, SCALAR_div, x, fourth ? onnx_unary(n, SCALAR_sqrt, by) : by);
}

ir_value_t* onnx_join_heads(onnx_node_t* n, ir_value_t* x) {
  static const int64_t perm[] = {0, 2, 1, 3};
  x = graph_transpose(n->b, x, perm);
  const onnx_dim_t dims[] = {onnx_dim(n, x, 0), onnx_dim(n, x, 1),
                             onnx_dim_mul(n, onnx_dim(n, x, 2), onnx_dim(n, x, 3))};
  return onnx_reshape(n, x, 3, dims);
}

ir_value_t* onnx_repeat_heads(onnx_node_t* n, ir_value_t* x, onnx_dim_t heads) {
  static const int64_t at[] = {0, 1, 3, 4};
  onnx_dim_t own = onnx_dim(n, x, 1);
  if (onnx_dim_agrees(own, heads)) return x;
  onnx_dim_t each = onnx_dim_div(n, heads, onnx_dim_max(n, own, onnx_dim_of(1)));
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim_mul(n, each, own), heads);
  if (!onnx_require(n, fits, "the keys' heads do not divide the queries'")) return NULL;
  onnx_dim_t b = onnx_dim(n, x, 0), s = onnx_dim(n, x, 2), d = onnx_dim(n, x, 3);
  const onnx_dim_t wide[] = {b, own, each, s, d}, joined[] = {b, heads, s, d};
  return onnx_reshape(n, onnx_broadcast_to(n, onnx_spread(n, x, 5, at), 5, wide), 4, joined);
}

typedef struct attention_t {
  onnx_node_t* n;
  ir_value_t *q, *k, *v;  // [b, heads, s, d]
  onnx_dim_t past;        // length of the past keys
  const ir_type_t* element;
} attention_t;

static bool read_attention(onnx_node_t* n, attention_t* a) {
  int64_t q_heads = onnx_int(n, "q_num_heads", 0), kv_heads = onnx_int(n, "kv_num_heads", 0);
  a->n = n;
  a->past = onnx_dim_of(0);
  a->element = n->in[0].element;
  if (!onnx_has(n, 2)) return onnx_error(n, "input 2 is required");
  for (uint32_t i = 1; i < 3; ++i) {
    if (!onnx_check_float(n, i) || !onnx_check_same_element(n, 0, i)) return false;
  }
  if (onnx_has(n, 4) != onnx_has(n, 5)) return onnx_error(n, "past_key and past_value must be given together");
  a->q = onnx_split_heads(n, n->in[0].v, onnx_dim_of(q_heads));
  a->k = a->q ? onnx_split_heads(n, n->in[1].v, onnx_dim_of(kv_heads)) : NULL;
  a->v = a->k ? onnx_split_heads(n, n->in[2].v, onnx_dim_of(kv_heads)) : NULL;
  if (!a->v) return false;
  for (uint32_t i = 4; onnx_has(n, 4) && i < 6; ++i) {
    ir_value_t** state = i == 4 ? &a->k : &a->v;
    if (!onnx_check_same_element(n, 0, i) || !onnx_check_rank(n, i, 4, 4)) return false;
    for (int32_t d = 0; d < 4; ++d) {
      int64_t x = n->in[i].v->type->dims[d], y = (*state)->type->dims[d];
      if (d != 2 && x != y && x != IR_DYNAMIC && y != IR_DYNAMIC) return onnx_error(n, "input %u does not fit", i);
    }
    if (i == 4) a->past = onnx_dim(n, n->in[4].v, 2);
    *state = graph_concat(n->b, (ir_value_t*[]){n->in[i].v, *state}, 2, 2);
  }
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(a->k, a->element);
  if (onnx_wants(n, 2)) n->out[2] = onnx_value(a->v, a->element);
  onnx_dim_t heads = onnx_dim(n, a->q, 1);
  a->k = onnx_repeat_heads(n, a->k, heads);
  a->v = a->k ? onnx_repeat_heads(n, a->v, heads) : NULL;
  return a->v != NULL;
}

ir_value_t* onnx_as_bias(onnx_node_t* n, ir_value_t* kept, const ir_type_t* element) {
  ir_value_t* zero = graph_scalar_constant(n->b, element, 0);
  ir_value_t* low = graph_scalar_constant(n->b, element, -INFINITY);
  return graph_select(n->b, kept, onnx_broadcast_as(n, zero, kept, NULL), onnx_broadcast_as(n, low, kept, NULL));
}

// row - column + offset: how far back each key lies. The offset is the length of the past, or, when the number of valid
// keys is given per batch entry (input 6), that number less the length of the queries.
static ir_value_t* distances(attention_t* a, ir_value_t* scores) {
  onnx_node_t* n = a->n;
  static const int64_t batch = 0;
  onnx_dim_t dims[4];
  for (int32_t i = 0; i < 4; ++i) dims[i] = onnx_dim(n, scores, i);
  if (onnx_has(n, 6) && !onnx_has(n, 4)) {
    ir_value_t* offset = onnx_cast(n, n->in[6], onnx_si64(n->ctx)).v;
    offset = graph_binary(n->b, SCALAR_sub, offset, onnx_dim_like(n, dims[2], offset));
    ir_value_t* row = onnx_numbers(n, 4, dims, 2);
    row = graph_binary(n->b, SCALAR_add, row, onnx_broadcast_as(n, offset, row, &batch));
    return graph_binary(n->b, SCALAR_sub, row, onnx_numbers(n, 4, dims, 3));
  }
  ir_value_t* row = onnx_numbers(n, 2, dims + 2, 0);
  row = graph_binary(n->b, SCALAR_add, row, onnx_dim_like(n, a->past, row));
  return graph_binary(n->b, SCALAR_sub, row, onnx_numbers(n, 2, dims + 2, 1));
}

// Which keys each query may see by their position: causal, and within a window. NULL when all, or after a diagnostic
// (`*failed`).
static ir_value_t* position_bias(attention_t* a, ir_value_t* scores, bool* failed) {
  onnx_node_t* n = a->n;
  static const int64_t at[] = {2, 3};
  int64_t left = onnx_int(n, "left_window_size", -1), right = onnx_int(n, "right_window_size", -1);
  bool causal = onnx_int(n, "is_causal", 0) != 0;
  if (causal && (right < 0 || right > 0)) right = 0;
  if (left < 0 && right < 0) return NULL;
  ir_value_t *back = distances(a, scores), *kept = NULL;
  *failed = !back;
  if (back && left >= 0) kept = onnx_binary_number(n, SCALAR_le, back, (double)left);
  if (back && right >= 0) {
    ir_value_t* near = onnx_binary_number(n, SCALAR_ge, back, -(double)right);
    kept = kept ? graph_binary(n->b, SCALAR_and, kept, near) : near;
  }
  if (!kept) return NULL;
  ir_value_t* bias = onnx_as_bias(n, kept, scores->type->element);
  return bias->type->rank == 4 ? bias : onnx_broadcast_as(n, bias, scores, at);
}

// The mask with its last dim padded by "not allowed" to that of the scores, unless it is 1.
static ir_value_t* pad_mask(onnx_node_t* n, ir_value_t* bias, ir_value_t* scores) {
  onnx_dim_t dims[4], one = onnx_dim_of(1);
  int32_t last = bias->type->rank - 1;
  for (int32_t i = 0; i <= last; ++i) dims[i] = onnx_dim(n, bias, i);
  onnx_dim_t own = dims[last], wanted = onnx_dim(n, scores, 3);
  if (own.size == 1 || wanted.size == 1 || onnx_dim_meets(own, wanted)) return bias;
  onnx_dim_t more = onnx_dim_max(n, onnx_dim_sub(n, wanted, own), onnx_dim_of(0));
  dims[last] = onnx_dim_select(n, onnx_dim_test(n, SCALAR_eq, own, one), onnx_dim_of(0), more);
  if (dims[last].size == 0) return bias;
  ir_value_t* low = graph_scalar_constant(n->b, bias->type->element, -INFINITY);
  return graph_concat(n->b, (ir_value_t*[]){bias, onnx_broadcast_to(n, low, last + 1, dims)}, 2, last);
}

// The mask (input 3), boolean or additive, broadcast to the scores.
static ir_value_t* mask_bias(attention_t* a, ir_value_t* scores) {
  onnx_node_t* n = a->n;
  onnx_value_t mask = n->in[3];
  ir_value_t* bias =
      onnx_is_bool(mask) ? onnx_as_bias(n, mask.v, scores->type->element) : onnx_cast(n, mask, a->element).v;
  int32_t rank = bias->type->rank;
  if (rank < 1 || rank > 4 || bias->type->element != scores->type->element)
    return onnx_error(n, "the mask does not fit"), NULL;
  return onnx_broadcast_onto(n, pad_mask(n, bias, scores), scores);
}

// Columns at or beyond each batch entry's number of keys (input 6) are not allowed.
static ir_value_t* length_bias(attention_t* a, ir_value_t* scores) {
  onnx_node_t* n = a->n;
  static const int64_t batch = 0;
  if (!onnx_check_rank(n, 6, 1, 1) || !onnx_is_int(n->in[6])) return NULL;
  ir_value_t* lengths = onnx_cast(n, n->in[6], onnx_si64(n->ctx)).v;
  onnx_dim_t dims[4];
  for (int32_t i = 0; i < 4; ++i) dims[i] = onnx_dim(n, scores, i);
  ir_value_t* column = onnx_numbers(n, 4, dims, 3);
  lengths = onnx_broadcast_as(n, lengths, column, &batch);
  return onnx_as_bias(n, graph_binary(n->b, SCALAR_lt, column, lengths), scores->type->element);
}

ir_value_t* onnx_contract_heads(onnx_node_t* n, ir_value_t* x, ir_value_t* y, int64_t y_dim) {
  static const int64_t batch[] = {0, 1};
  int64_t lhs = 3;
  graph_contract_t c = {.lhs_batch = batch, .rhs_batch = batch, .batch_count = 2};
  c.lhs_contract = &lhs;
  c.rhs_contract = &y_dim;
  c.contract_count = 1;
  for (int32_t d = 0; d < 2; ++d) {
    if (x->type->dims[d] != y->type->dims[d] && x->type->dims[d] != IR_DYNAMIC && y->type->dims[d] != IR_DYNAMIC) {
      return onnx_error(n, "batch or heads differ between the inputs"), NULL;
    }
  }
  if (x->type->dims[3] != y->type->dims[y_dim] && x->type->dims[3] != IR_DYNAMIC &&
      y->type->dims[y_dim] != IR_DYNAMIC) {
    return onnx_error(n, "head sizes or lengths differ between the inputs"), NULL;
  }
  return graph_contract(n->b, x, y, &c, x->type->element);
}

static void give_scores(onnx_node_t* n, int64_t mode, int64_t stage, ir_value_t* scores) {
  if (onnx_wants(n, 3) && mode == stage) n->out[3] = onnx_value(scores, n->in[0].element);
}

// The sum of what is added to the scores, in their shape; NULL: nothing. False after a diagnostic.
static bool add_biases(attention_t* a, ir_value_t* scores, ir_value_t** bias) {
  onnx_node_t* n = a->n;
  bool failed = false;
  ir_value_t* parts[] = {position_bias(a, scores, &failed), NULL, NULL};
  if (failed || (onnx_has(n, 3) && !(parts[1] = mask_bias(a, scores)))) return false;
  if (onnx_has(n, 6) && !(parts[2] = length_bias(a, scores))) return false;
  for (int i = 0; i < 3; ++i) {
    if (parts[i]) *bias = *bias ? graph_binary(n->b, SCALAR_add, *bias, parts[i]) : parts[i];
  }
  return true;
}

// softmax(softcap(q k' scale) + biases) v
static ir_value_t* attend(attention_t* a) {
  onnx_node_t* n = a->n;
  int64_t mode = onnx_int(n, "qk_matmul_output_mode", 0);
  bool given = onnx_attr(n, "scale") != NULL;
  double scale = sqrt(onnx_float(n, "scale", 1)), cap = onnx_float(n, "softcap", 0);
  ir_value_t* q = given ? onnx_binary_number(n, SCALAR_mul, a->q, scale) : onnx_scale_heads(n, a->q, true);
  ir_value_t* k = given ? onnx_binary_number(n, SCALAR_mul, a->k, scale) : onnx_scale_heads(n, a->k, true);
  ir_value_t* scores = onnx_contract_heads(n, q, k, 3);
  if (!scores) return NULL;
  give_scores(n, mode, 0, scores);
  if (cap > 0) {
    scores = onnx_unary(n, SCALAR_tanh, onnx_binary_number(n, SCALAR_div, scores, cap));
    scores = onnx_binary_number(n, SCALAR_mul, scores, cap);
  }
  give_scores(n, mode, 1, scores);
  ir_value_t* bias = NULL;
  if (!add_biases(a, scores, &bias)) return NULL;
  if (bias) scores = graph_binary(n->b, SCALAR_add, scores, bias);
  give_scores(n, mode, 2, scores);
  const ir_type_t* precise = onnx_element_type(n->ctx, onnx_int(n, "softmax_precision", 0));
  onnx_value_t wide = onnx_value(scores, a->element);
  if (precise && ir_type_is_float(precise)) wide = onnx_cast(n, wide, precise);
  ir_value_t* weights = onnx_softmax(n, wide.v, 3);
  weights = onnx_cast(n, onnx_value(weights, wide.element), a->element).v;
  if (onnx_has(n, 3) || onnx_has(n, 6) || onnx_int(n, "left_window_size", -1) >= 0) {
    // A query that may see no key at all has weights 0 rather than NaN.
    int64_t last = 3;
    ir_value_t* most = onnx_reduce_spread(n, bias, &last, 1, "max");
    ir_value_t* none = onnx_binary_number(n, SCALAR_eq, most, -INFINITY);
    weights = graph_select(n->b, none, graph_splat_like(n->b, weights, 0), weights);
  }
  give_scores(n, mode, 3, weights);
  return onnx_contract_heads(n, weights, a->v, 2);
}

// ONNX Runtime's own operator of the name has weights and a number of heads.
bool onnx_lower_attention(onnx_node_t* n) {
  if (onnx_attr(n, "num_heads")) return onnx_lower_own_attention(n);
  attention_t a;
  if (!onnx_check_float(n, 0) || !read_attention(n, &a)) return false;
  ir_value_t* y = attend(&a);
  if (y && onnx_rank(n->in[0]) == 3) y = onnx_join_heads(n, y);
  return onnx_return(n, y, a.element);
}

//===----------------------------------------------------------------------------------------------------------------===
// RotaryEmbedding
//===----------------------------------------------------------------------------------------------------------------===

// cos or sin in the shape of `like`. NULL after a diagnostic.
static ir_value_t* spread_angles(onnx_node_t* n, ir_value_t* v, ir_value_t* like) {
  static const int64_t at[] = {0, 2, 3};
  bool fits = v->type->rank == 3;
  for (int32_t d = 0; fits && d < 3; ++d) {
    int64_t x = v->type->dims[d], y = like->type->dims[at[d]];
    fits = x == y || x == IR_DYNAMIC || y == IR_DYNAMIC || (d < 2 && x == 1);
  }
  if (!fits) return onnx_error(n, "the caches do not fit"), NULL;
  return onnx_broadcast_onto(n, onnx_spread(n, v, 4, at), like);
}

ir_value_t* onnx_rotate(onnx_node_t* n, ir_value_t* x, const onnx_rotation_t* r) {
  const onnx_dim_t zero = onnx_dim_of(0), one = onnx_dim_of(1), two = onnx_dim_of(2);
  onnx_dim_t width = onnx_dim(n, x, 3), part = r->part.size == 0 ? width : r->part, half = onnx_dim_div(n, part, two);
  onnx_dim_t even = onnx_dim_test(n, SCALAR_eq, onnx_dim_mul(n, half, two), part);
  onnx_dim_t fits = onnx_flag_and(n, even, onnx_dim_test(n, SCALAR_ge, part, two));
  fits = onnx_flag_and(n, fits, onnx_dim_test(n, SCALAR_le, part, width));
  if (!onnx_require(n, fits, "rotary_embedding_dim does not fit")) return NULL;
  ir_value_t* a = onnx_span(n, x, 3, (onnx_range_t){zero, half, r->interleaved ? two : one});
  ir_value_t* b = onnx_span(n, x, 3, (onnx_range_t){r->interleaved ? one : half, half, r->interleaved ? two : one});
  ir_value_t* cos = spread_angles(n, r->cos, a);
  ir_value_t* sin = cos ? spread_angles(n, r->sin, a) : NULL;
  if (!sin) return NULL;
  ir_value_t* turned[] = {graph_binary(n->b, SCALAR_sub, mul(n, a, cos), mul(n, b, sin)),
                          graph_binary(n->b, SCALAR_add, mul(n, a, sin), mul(n, b, cos))};
  ir_value_t* y;
  if (r->interleaved) {
    onnx_dim_t apart[5], joined[4];
    for (int32_t i = 0; i < 4; ++i) joined[i] = apart[i] = onnx_dim(n, a, i);
    apart[4] = one;
    joined[3] = part;
    for (int i = 0; i < 2; ++i) turned[i] = onnx_reshape(n, turned[i], 5, apart);
    y = onnx_reshape(n, graph_concat(n->b, turned, 2, 4), 4, joined);
  } else {
    y = graph_concat(n->b, turned, 2, 3);
  }
  if (onnx_dim_same(part, width)) return y;
  ir_value_t* rest = onnx_span(n, x, 3, (onnx_range_t){part, onnx_dim_sub(n, width, part), one});
  return graph_concat(n->b, (ir_value_t*[]){y, rest}, 2, 3);
}

// Inputs x, cos cache, sin cache, position ids; ONNX Runtime's own has the position ids second.
bool onnx_lower_rotary_embedding(onnx_node_t* n) {
  if (onnx_is_int(n->in[1])) return onnx_lower_own_rotary_embedding(n);
  ir_value_t *x = n->in[0].v, *caches[2];
  if (!onnx_check_float(n, 0) || !onnx_check_same_element(n, 0, 1) || !onnx_check_same_element(n, 0, 2)) return false;
  bool flat = x->type->rank == 3;
  x = onnx_split_heads(n, x, onnx_dim_of(onnx_int(n, "num_heads", 0)));
  if (!x) return false;
  for (uint32_t i = 0; i < 2; ++i) {
    caches[i] = n->in[1 + i].v;
    if (!onnx_has(n, 3)) continue;
    if (caches[i]->type->rank != 2 || onnx_rank(n->in[3]) != 2 || !onnx_is_int(n->in[3]))
      return onnx_error(n, "the caches do not fit");
    caches[i] = graph_take(n->b, caches[i], n->in[3].v, 0, false);
  }
  onnx_rotation_t r = {caches[0], caches[1], onnx_dim_of(onnx_int(n, "rotary_embedding_dim", 0)),
                       onnx_int(n, "interleaved", 0) != 0};
  ir_value_t* y = onnx_rotate(n, x, &r);
  return onnx_return(n, y && flat ? onnx_join_heads(n, y) : y, n->in[0].element);
}
