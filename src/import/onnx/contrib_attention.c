// Attention as ONNX Runtime's optimiser and exporters write it (domain com.microsoft): Attention with its projections,
// MultiHeadAttention, GroupQueryAttention with its cache, RotaryEmbedding.
#include <math.h>
#include <string.h>

#include "import/onnx/attention.h"
#include "import/onnx/ops.h"

typedef struct own_t {
  onnx_node_t* n;
  ir_value_t *q, *k, *v;  // heads
  onnx_dim_t past;        // keys before the first query's
  const ir_type_t* element;
  ir_value_t* scores;
} own_t;

static ir_value_t* add(own_t* a, ir_value_t* x, ir_value_t* y) { return graph_binary(a->n->b, SCALAR_add, x, y); }

// Inputs `first` to `last` have the query's element type, as far as they are there.
static bool check_elements(onnx_node_t* n, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; ++i) {
    if (!onnx_check_same_element(n, 0, i)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Scores
//===----------------------------------------------------------------------------------------------------------------===

// q k' scale, softly capped
static bool score(own_t* a) {
  onnx_node_t* n = a->n;
  double scale = onnx_float(n, "scale", 0), cap = onnx_float(n, "softcap", 0);
  ir_value_t* q = scale ? onnx_binary_number(n, SCALAR_mul, a->q, scale) : onnx_scale_heads(n, a->q, false);
  a->scores = onnx_contract_heads(n, q, a->k, 3);
  if (a->scores && cap > 0) {
    a->scores = onnx_unary(n, SCALAR_tanh, onnx_binary_number(n, SCALAR_div, a->scores, cap));
    a->scores = onnx_binary_number(n, SCALAR_mul, a->scores, cap);
  }
  return a->scores != NULL;
}

// Coordinates of the scores as i64: 2 the query, 3 the key.
static ir_value_t* coordinate(own_t* a, int64_t axis) {
  onnx_node_t* n = a->n;
  return onnx_iota_like(n, graph_cast(n->b, a->scores, ir_type_int(n->ctx, 64), false), axis);
}

static void keep(own_t* a, ir_value_t* kept) {
  a->scores = add(a, a->scores, onnx_as_bias(a->n, kept, a->scores->type->element));
}

// Queries see keys up to their own position.
static void keep_causal(own_t* a) {
  onnx_node_t* n = a->n;
  ir_value_t* own = coordinate(a, 2);
  own = add(a, own, onnx_broadcast_as(n, onnx_dim_tensor(n, a->past, 0), own, NULL));
  keep(a, graph_binary(n->b, SCALAR_le, coordinate(a, 3), own));
}

// What is masked is not forbidden but made improbable.
static void discourage(own_t* a, ir_value_t* kept) {
  onnx_node_t* n = a->n;
  ir_value_t* filter = graph_splat_like(n->b, a->scores, onnx_float(n, "mask_filter_value", -10000));
  a->scores = graph_select(n->b, kept, a->scores, add(a, a->scores, filter));
}

// Lengths [batch], or ends and starts [2 batch].
static bool apply_lengths(own_t* a, ir_value_t* mask) {
  static const int64_t along = 0;
  onnx_node_t* n = a->n;
  onnx_dim_t count = onnx_dim(n, mask, 0), batch = onnx_dim(n, a->scores, 0), twice = onnx_dim_add(n, batch, batch);
  ir_value_t *key = coordinate(a, 3), *kept;
  bool plain = onnx_dim_agrees(count, batch);
  onnx_dim_t once = onnx_dim_test(n, SCALAR_eq, count, batch), fits = onnx_dim_test(n, SCALAR_eq, count, twice);
  if (!plain && !onnx_require(n, onnx_flag_or(n, once, fits), "the mask does not fit")) return false;
  if (plain) {
    kept = graph_binary(n->b, SCALAR_lt, key, onnx_broadcast_as(n, mask, key, &along));
  } else {  // where there are no starts, zeros follow
    ir_value_t* zeros = onnx_broadcast_to(n, graph_scalar_constant(n->b, mask->type->element, 0), 1, &batch);
    ir_value_t* both = graph_concat(n->b, (ir_value_t*[]){mask, zeros}, 2, 0);
    ir_value_t* end = onnx_prefix(n, both, 0, batch);
    ir_value_t* start = onnx_span(n, both, 0, (onnx_range_t){batch, batch, onnx_dim_of(1)});
    kept = graph_binary(n->b, SCALAR_lt, key, onnx_broadcast_as(n, end, key, &along));
    ir_value_t* begun = graph_binary(n->b, SCALAR_ge, key, onnx_broadcast_as(n, start, key, &along));
    kept = graph_binary(n->b, SCALAR_and, kept, begun);
  }
  discourage(a, kept);
  return true;
}

// Lengths [batch], ends and starts [2 batch], or flags [batch, keys] or [batch, queries, keys] of what counts.
static bool apply_mask(own_t* a, uint32_t i) {
  static const int64_t plane[] = {0, 3}, cube[] = {0, 2, 3};
  onnx_node_t* n = a->n;
  if (!onnx_has(n, i)) return true;
  if (!onnx_is_int(n->in[i])) return onnx_error(n, "the mask must hold integers");
  ir_value_t* mask = onnx_cast(n, n->in[i], onnx_si64(n->ctx)).v;
  int32_t rank = mask->type->rank;
  if (rank == 1) return apply_lengths(a, mask);
  if (rank != 2 && rank != 3) return onnx_unsupported(n, "this form of mask is not supported");
  const int64_t* at = rank == 2 ? plane : cube;
  for (int32_t d = 0; d < rank; ++d) {
    int64_t x = mask->type->dims[d], y = a->scores->type->dims[at[d]];
    if (x != y && x != IR_DYNAMIC && y != IR_DYNAMIC) return onnx_error(n, "the mask does not fit");
  }
  mask = onnx_binary_number(n, SCALAR_gt, mask, 0);
  discourage(a, onnx_broadcast_as(n, mask, a->scores, at));
  return true;
}

// Input i, which broadcasts to the scores, added to them.
static bool add_bias(own_t* a, uint32_t i) {
  onnx_node_t* n = a->n;
  if (!onnx_has(n, i)) return true;
  if (onnx_rank(n->in[i]) > 4 || !onnx_check_same_element(n, 0, i)) return onnx_error(n, "input %u does not fit", i);
  ir_value_t* sum = onnx_binary_onto(n, SCALAR_add, a->scores, n->in[i].v);
  return (a->scores = sum) != NULL;
}

// softmax(scores) v as [batch, queries, heads * size]. `sink`: one more score for each head [heads], or NULL.
static bool finish(own_t* a, ir_value_t* sink) {
  static const int64_t at = 1;
  onnx_node_t* n = a->n;
  ir_value_t* weights = a->scores;
  int64_t last = 3;
  if (sink) {
    ir_value_t* column = onnx_reduce_keep(n, weights, &last, 1, "max");  // for its shape
    column = onnx_broadcast_as(n, sink, column, &at);
    weights = onnx_softmax(n, graph_concat(n->b, (ir_value_t*[]){weights, column}, 2, 3), 3);
    weights = onnx_prefix(n, weights, 3, onnx_dim(n, a->scores, 3));
  } else {
    weights = onnx_softmax(n, weights, 3);
  }
  ir_value_t* y = onnx_contract_heads(n, weights, a->v, 2);
  return onnx_return(n, y ? onnx_join_heads(n, y) : NULL, a->element);
}

//===----------------------------------------------------------------------------------------------------------------===
// Attention and MultiHeadAttention
//===----------------------------------------------------------------------------------------------------------------===

// The past (heads) in front of keys or values.
static bool prepend(own_t* a, ir_value_t* past, ir_value_t** state) {
  bool fits = past->type->rank == 4 && past->type->element == (*state)->type->element;
  for (int32_t d = 0; fits && d < 4; ++d) {
    int64_t x = past->type->dims[d], y = (*state)->type->dims[d];
    fits = d == 2 || x == y || x == IR_DYNAMIC || y == IR_DYNAMIC;
  }
  if (!fits) return onnx_error(a->n, "the past does not fit");
  a->past = onnx_dim(a->n, past, 2);
  *state = graph_concat(a->n->b, (ir_value_t*[]){past, *state}, 2, 2);
  return true;
}

// Parts of x along its last dimension as heads: q, k, v.
static bool split_projections(own_t* a, ir_value_t* x, const onnx_dim_t* sizes, const int64_t* heads) {
  ir_value_t** parts[] = {&a->q, &a->k, &a->v};
  onnx_dim_t from = onnx_dim_of(0);
  for (int i = 0; i < 3; ++i) {
    ir_value_t* part = onnx_span(a->n, x, 2, (onnx_range_t){from, sizes[i], onnx_dim_of(1)});
    if (!(*parts[i] = onnx_split_heads(a->n, part, onnx_dim_of(heads[i])))) return false;
    from = onnx_dim_add(a->n, from, sizes[i]);
  }
  return true;
}

// present: [2, batch, heads, keys, size]
static void give_present(own_t* a) {
  onnx_node_t* n = a->n;
  if (!onnx_wants(n, 1)) return;
  onnx_dim_t dims[5] = {onnx_dim_of(1)};
  ir_value_t* parts[] = {a->k, a->v};
  for (int32_t i = 0; i < 4; ++i) dims[1 + i] = onnx_dim(n, a->k, i);
  for (int i = 0; i < 2; ++i) parts[i] = onnx_reshape(n, parts[i], 5, dims);
  n->out[1] = onnx_value(graph_concat(n->b, parts, 2, 0), a->element);
}

static bool read_past(own_t* a, uint32_t i) {
  onnx_node_t* n = a->n;
  if (!onnx_has(n, i)) return true;
  ir_value_t** states[] = {&a->k, &a->v};
  ir_value_t* past = onnx_check_rank(n, i, 5, 5) ? onnx_sized(n, n->in[i].v, 0, 2) : NULL;
  for (int64_t k = 0; k < 2; ++k) {
    if (!past || !prepend(a, onnx_entry(n, past, 0, k), states[k])) return false;
  }
  return true;
}

// Inputs x, weights [size, q + k + v], bias, mask, past, bias of the scores.
bool onnx_lower_own_attention(onnx_node_t* n) {
  own_t a = {.n = n, .past = onnx_dim_of(0), .element = n->in[0].element};
  const int64_t heads = onnx_int(n, "num_heads", 0), each[] = {heads, heads, heads};
  int64_t given[3];
  onnx_dim_t sizes[3], total = onnx_dim_of(0);
  uint32_t count;
  if (!onnx_check_float(n, 0) || !check_elements(n, 1, 2) || !onnx_check_rank(n, 0, 3, 3)) return false;
  if (!onnx_check_rank(n, 1, 2, 2) || !onnx_ints(n, "qkv_hidden_sizes", given, 3, &count)) return false;
  if (onnx_int(n, "do_rotary", 0)) return onnx_unsupported(n, "do_rotary is not supported");
  if (count && count != 3) return onnx_error(n, "qkv_hidden_sizes needs three sizes");
  onnx_dim_t width = onnx_dim(n, n->in[1].v, 1);
  for (int i = 0; i < 3; ++i) {
    sizes[i] = count ? onnx_dim_of(given[i]) : onnx_dim_div(n, width, onnx_dim_of(3));
    bool fits = onnx_require(n, onnx_dim_test(n, SCALAR_ge, sizes[i], onnx_dim_of(1)), "a hidden size is below 1");
    if (!fits) return false;
    total = onnx_dim_add(n, total, sizes[i]);
  }
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, total, width);
  if (!onnx_require(n, fits, "the weights do not fit queries, keys and values")) return false;
  ir_value_t* x = onnx_matmul(n, n->in[0].v, n->in[1].v, (graph_contract_t){0}, n->in[0].v->type->element);
  if (x && onnx_has(n, 2)) x = onnx_binary_onto(n, SCALAR_add, x, n->in[2].v);
  if (!x || !split_projections(&a, x, sizes, each) || !read_past(&a, 4)) return false;
  give_present(&a);
  if (!score(&a)) return false;
  if (onnx_int(n, "unidirectional", 0)) keep_causal(&a);
  return apply_mask(&a, 3) && add_bias(&a, 5) && finish(&a, NULL);
}

// x: [batch, length, heads, parts, size]; part i of it as heads.
static ir_value_t* unpack_part(onnx_node_t* n, ir_value_t* x, int64_t i) {
  static const int64_t perm[] = {0, 2, 1, 3};
  return graph_transpose(n->b, onnx_entry(n, x, 3, i), perm);
}

// Query, key or value `i` as heads, with its part of the bias.
static ir_value_t* read_heads(onnx_node_t* n, uint32_t i, int64_t heads, onnx_dim_t* bias_at) {
  ir_value_t* x = n->in[i].v;
  if (x->type->rank == 3 && onnx_has(n, 3)) {
    if (!onnx_check_rank(n, 3, 1, 1)) return NULL;
    onnx_range_t range = {*bias_at, onnx_dim(n, x, 2), onnx_dim_of(1)};
    *bias_at = onnx_dim_add(n, *bias_at, range.size);
    onnx_dim_t fits = onnx_dim_test(n, SCALAR_le, *bias_at, onnx_dim(n, n->in[3].v, 0));
    if (!onnx_require(n, fits, "the bias does not fit")) return NULL;
    ir_value_t* bias = onnx_along(n, onnx_span(n, n->in[3].v, 0, range), 2, x);
    x = graph_binary(n->b, SCALAR_add, x, bias);
  }
  return onnx_split_heads(n, x, onnx_dim_of(heads));
}

// Query, key and value apart, or packed into the query [batch, length, heads, 3, size], or key and value into the key.
static bool read_inputs(own_t* a, int64_t heads) {
  onnx_node_t* n = a->n;
  onnx_dim_t bias_at = onnx_dim_of(0);
  bool packed = !onnx_has(n, 1), pair = !packed && onnx_rank(n->in[1]) == 5;
  if ((packed && onnx_rank(n->in[0]) != 5) || (!packed && !pair && !onnx_has(n, 2)))
    return onnx_error(n, "queries, keys and values do not fit");
  ir_value_t* parts = packed || pair ? onnx_sized(n, n->in[pair].v, 3, packed ? 3 : 2) : NULL;
  if ((packed || pair) && !parts) return false;
  if ((packed || pair) && onnx_has(n, 3)) return onnx_unsupported(n, "a bias of packed inputs is not supported");
  a->q = packed ? unpack_part(n, parts, 0) : read_heads(n, 0, heads, &bias_at);
  if (packed || pair) {
    a->k = unpack_part(n, parts, packed), a->v = unpack_part(n, parts, packed + 1);
  } else {
    a->k = a->q ? read_heads(n, 1, heads, &bias_at) : NULL;
    a->v = a->k ? read_heads(n, 2, heads, &bias_at) : NULL;
  }
  return a->v != NULL && a->q != NULL;
}

// Inputs query, key, value, bias, mask of keys, bias of the scores, past keys, past values.
bool onnx_lower_multi_head_attention(onnx_node_t* n) {
  own_t a = {.n = n, .past = onnx_dim_of(0), .element = n->in[0].element};
  if (!onnx_check_float(n, 0) || !check_elements(n, 1, 3) || !check_elements(n, 6, 7)) return false;
  if (!read_inputs(&a, onnx_int(n, "num_heads", 0))) return false;
  if (onnx_has(n, 6) != onnx_has(n, 7)) return onnx_error(n, "past_key and past_value must be given together");
  if (onnx_has(n, 6) && !(prepend(&a, n->in[6].v, &a.k) && prepend(&a, n->in[7].v, &a.v))) return false;
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(a.k, a.element);
  if (onnx_wants(n, 2)) n->out[2] = onnx_value(a.v, a.element);
  if (!score(&a)) return false;
  if (onnx_int(n, "unidirectional", 0)) keep_causal(&a);
  return apply_mask(&a, 4) && add_bias(&a, 5) && finish(&a, NULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// RotaryEmbedding and GroupQueryAttention
//===----------------------------------------------------------------------------------------------------------------===

// Rows of both caches at positions [batch, length].
static bool read_caches(onnx_node_t* n, uint32_t i, ir_value_t* positions, onnx_rotation_t* out) {
  if (!onnx_has(n, i) || !onnx_has(n, i + 1)) return onnx_error(n, "inputs %u and %u are required", i, i + 1);
  if (!onnx_check_rank(n, i, 2, 2) || !onnx_check_rank(n, i + 1, 2, 2)) return false;
  out->cos = graph_take(n->b, n->in[i].v, positions, 0, false);
  out->sin = graph_take(n->b, n->in[i + 1].v, positions, 0, false);
  out->part = onnx_dim_mul(n, onnx_dim(n, n->in[i].v, 1), onnx_dim_of(2));
  return true;
}

// 0, 1, ... for every query of `heads`, after `first` ([batch] or one number): [batch, length]
static ir_value_t* positions_from(onnx_node_t* n, ir_value_t* first, ir_value_t* heads) {
  static const int64_t at[] = {0};
  const onnx_dim_t dims[] = {onnx_dim(n, heads, 0), onnx_dim(n, heads, 2)};
  ir_value_t* number = onnx_numbers(n, 2, dims, 1);
  bool single = ir_type_count(first->type) == 1;
  first = single ? onnx_scalar_like(n, first, number) : onnx_broadcast_as(n, first, number, at);
  return graph_binary(n->b, SCALAR_add, number, first);
}

// Inputs x, position ids [1] or [batch, length], cos cache, sin cache.
bool onnx_lower_own_rotary_embedding(onnx_node_t* n) {
  onnx_rotation_t r = {.interleaved = onnx_int(n, "interleaved", 0) != 0};
  ir_value_t *x = n->in[0].v, *positions = onnx_cast(n, n->in[1], onnx_si64(n->ctx)).v;
  bool flat = x->type->rank == 3;
  onnx_dim_t heads = onnx_dim_of(onnx_int(n, "num_heads", 0));
  if (!onnx_check_float(n, 0) || !onnx_check_same_element(n, 0, 2) || !onnx_check_same_element(n, 0, 3)) return false;
  if (onnx_int(n, "is_packed_batching", 0)) return onnx_unsupported(n, "packed batches are not supported");
  if (onnx_float(n, "scale", 1) != 1) return onnx_unsupported(n, "a scale is not supported");
  if (!onnx_check_rank(n, 2, 2, 2)) return false;
  if (flat && !heads.size) {
    onnx_dim_t width = onnx_dim_mul(n, onnx_dim(n, n->in[2].v, 1), onnx_dim_of(2));
    heads = onnx_dim_div(n, onnx_dim(n, x, 2), onnx_dim_max(n, width, onnx_dim_of(1)));
  }
  x = onnx_split_heads(n, x, heads);
  if (!x) return false;
  if (positions->type->rank == 1) positions = positions_from(n, positions, x);
  if (positions->type->rank != 2) return onnx_error(n, "the position ids do not fit");
  if (!read_caches(n, 2, positions, &r)) return false;
  ir_value_t* y = onnx_rotate(n, x, &r);
  return onnx_return(n, y && flat ? onnx_join_heads(n, y) : y, n->in[0].element);
}

typedef struct cache_t {
  ir_value_t* first;  // [batch]: number of keys before these
  onnx_dim_t length;  // of the cache as it comes out
} cache_t;

// How many keys each batch entry has already: seqlens_k + 1 less the queries; none when these are all keys.
static bool read_cache(own_t* a, cache_t* out) {
  onnx_node_t* n = a->n;
  onnx_dim_t total, queries = onnx_dim(n, a->q, 2), past = onnx_dim_of(0);
  if (!onnx_has(n, 5) || !onnx_has(n, 6)) return onnx_error(n, "inputs 5 and 6 are required");
  if (!onnx_is_int(n->in[5]) || !onnx_is_int(n->in[6])) return onnx_error(n, "inputs 5 and 6 must be integers");
  if (!onnx_number_input(n, 6, &total)) return false;
  ir_value_t* lengths = onnx_cast(n, n->in[5], onnx_si64(n->ctx)).v;
  onnx_dim_t batch = onnx_dim(n, a->q, 0);
  int64_t given = ir_type_count(lengths->type);
  if (given != batch.size && given != IR_DYNAMIC && batch.size != IR_DYNAMIC)
    return onnx_error(n, "input 5 must hold a length for each batch entry");
  lengths = onnx_reshape(n, lengths, 1, &batch);
  if (onnx_has(n, 3)) past = onnx_dim(n, n->in[3].v, 2);
  ir_value_t* own = onnx_broadcast_as(n, onnx_dim_tensor(n, queries, 0), lengths, NULL);
  ir_value_t* all = onnx_broadcast_as(n, onnx_dim_tensor(n, total, 0), lengths, NULL);
  ir_value_t* first = graph_binary(n->b, SCALAR_sub, onnx_binary_number(n, SCALAR_add, lengths, 1), own);
  ir_value_t* is_start = graph_binary(n->b, SCALAR_eq, own, all);
  out->first = graph_select(n->b, is_start, graph_splat_like(n->b, first, 0), first);
  out->length = onnx_dim_same(past, onnx_dim_of(0)) ? total : onnx_dim_binary(n, SCALAR_max, past, total);
  return true;
}

// The cache with these keys or values behind the first ones, and zeros behind them: place t is the past's, or the new
// one t - first.
static ir_value_t* update_cache(own_t* a, const cache_t* cache, ir_value_t* past, ir_value_t* own) {
  static const int64_t batch = 0;
  onnx_node_t* n = a->n;
  onnx_dim_t dims[4], before = onnx_dim_of(0);
  ir_value_t* all = own;
  if (past) {
    before = onnx_dim(n, past, 2);
    all = graph_concat(n->b, (ir_value_t*[]){past, own}, 2, 2);
  }
  for (int32_t i = 0; i < 4; ++i) dims[i] = i == 2 ? cache->length : onnx_dim(n, own, i);
  ir_value_t* place = onnx_numbers(n, 4, dims, 2);
  ir_value_t* fresh = graph_binary(n->b, SCALAR_sub, place, onnx_broadcast_as(n, cache->first, place, &batch));
  ir_value_t* count = onnx_broadcast_as(n, onnx_dim_tensor(n, onnx_dim(n, own, 2), 0), place, NULL);
  ir_value_t* moved =
      graph_binary(n->b, SCALAR_add, fresh, onnx_broadcast_as(n, onnx_dim_tensor(n, before, 0), place, NULL));
  ir_value_t* from = graph_select(n->b, onnx_binary_number(n, SCALAR_ge, fresh, 0), moved, place);
  ir_value_t* y = onnx_gather_elements(n, all, from, 2);
  return y ? graph_select(n->b, graph_binary(n->b, SCALAR_lt, fresh, count), y, graph_splat_like(n->b, y, 0)) : NULL;
}

static bool read_group_heads(own_t* a) {
  onnx_node_t* n = a->n;
  int64_t heads = onnx_int(n, "num_heads", 0), own = onnx_int(n, "kv_num_heads", 0);
  if (heads < 1 || own < 1 || heads % own) return onnx_error(n, "num_heads and kv_num_heads do not fit");
  if (onnx_has(n, 1)) {
    if (!onnx_has(n, 2)) return onnx_error(n, "input 2 is required");
    a->q = onnx_split_heads(n, n->in[0].v, onnx_dim_of(heads));
    a->k = a->q ? onnx_split_heads(n, n->in[1].v, onnx_dim_of(own)) : NULL;
    a->v = a->k ? onnx_split_heads(n, n->in[2].v, onnx_dim_of(own)) : NULL;
    return a->v != NULL;
  }
  if (!onnx_check_rank(n, 0, 3, 3)) return false;
  const int64_t each[] = {heads, own, own};
  const onnx_dim_t width = onnx_dim(n, n->in[0].v, 2), all = onnx_dim_of(heads + 2 * own);
  onnx_dim_t size = onnx_dim_div(n, width, all), sizes[3];
  onnx_dim_t fits = onnx_dim_test(n, SCALAR_eq, onnx_dim_mul(n, size, all), width);
  if (!onnx_require(n, fits, "the packed input does not fit the heads")) return false;
  for (int i = 0; i < 3; ++i) sizes[i] = onnx_dim_mul(n, size, onnx_dim_of(each[i]));
  return split_projections(a, n->in[0].v, sizes, each);
}

// Queries see keys up to their own position, and no further back than the window.
static void keep_window(own_t* a, const cache_t* cache) {
  static const int64_t batch = 0;
  onnx_node_t* n = a->n;
  int64_t window = onnx_int(n, "local_window_size", -1);
  ir_value_t *own = coordinate(a, 2), *key = coordinate(a, 3);
  own = add(a, own, onnx_broadcast_as(n, cache->first, own, &batch));
  ir_value_t* kept = graph_binary(n->b, SCALAR_le, key, own);
  if (window > 0) {
    ir_value_t* from = onnx_binary_number(n, SCALAR_sub, own, (double)window);
    kept = graph_binary(n->b, SCALAR_and, kept, graph_binary(n->b, SCALAR_gt, key, from));
  }
  keep(a, kept);
}

// Inputs query, key, value, past key, past value, seqlens_k, total length, cos cache, sin cache, position ids, bias of
// the scores, sink.
bool onnx_lower_group_query_attention(onnx_node_t* n) {
  own_t a = {.n = n, .element = n->in[0].element};
  cache_t cache;
  onnx_rotation_t r = {.interleaved = onnx_int(n, "rotary_interleaved", 0) != 0};
  if (!onnx_check_float(n, 0) || !check_elements(n, 1, 4) || !check_elements(n, 7, 8)) return false;
  if (!read_group_heads(&a) || !read_cache(&a, &cache)) return false;
  if (onnx_has(n, 3) != onnx_has(n, 4)) return onnx_error(n, "past_key and past_value must be given together");
  if (onnx_int(n, "do_rotary", 0)) {
    ir_value_t* positions = positions_from(n, cache.first, a.q);
    if (onnx_has(n, 9)) {
      if (!onnx_check_rank(n, 9, 2, 2) || !onnx_is_int(n->in[9])) return onnx_error(n, "the position ids do not fit");
      positions = onnx_cast(n, n->in[9], onnx_si64(n->ctx)).v;
    }
    if (!read_caches(n, 7, positions, &r)) return false;
    a.q = onnx_rotate(n, a.q, &r);
    a.k = a.q ? onnx_rotate(n, a.k, &r) : NULL;
    if (!a.k) return false;
  }
  a.k = update_cache(&a, &cache, onnx_has(n, 3) ? n->in[3].v : NULL, a.k);
  a.v = a.k ? update_cache(&a, &cache, onnx_has(n, 4) ? n->in[4].v : NULL, a.v) : NULL;
  if (!a.v) return false;
  if (onnx_wants(n, 1)) n->out[1] = onnx_value(a.k, a.element);
  if (onnx_wants(n, 2)) n->out[2] = onnx_value(a.v, a.element);
  onnx_dim_t heads = onnx_dim(n, a.q, 1);
  a.k = onnx_repeat_heads(n, a.k, heads);
  a.v = a.k ? onnx_repeat_heads(n, a.v, heads) : NULL;
  if (!a.v || !score(&a)) return false;
  keep_window(&a, &cache);
  ir_value_t* sink = onnx_has(n, 11) ? onnx_cast(n, n->in[11], a.element).v : NULL;
  if (!sink && onnx_int(n, "smooth_softmax", 0) > 0) {
    sink = onnx_broadcast_to(n, graph_scalar_constant(n->b, a.q->type->element, 0), 1, &heads);
  }
  if (sink && sink->type->rank != 1) return onnx_error(n, "the sink does not fit");
  onnx_dim_t given = sink ? onnx_dim_test(n, SCALAR_eq, onnx_dim(n, sink, 0), heads) : onnx_dim_of(1);
  if (!onnx_require(n, given, "the sink does not fit")) return false;
  return add_bias(&a, 10) && finish(&a, sink);
}
