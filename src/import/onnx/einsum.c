// Einsum: the operands are contracted one after the other, from the left.
#include <ctype.h>
#include <string.h>

#include "import/onnx/numbers.h"
#include "import/onnx/ops.h"

enum { ELLIPSIS = 128 };  // labels are letters, or ELLIPSIS + distance from the ellipsis' end

typedef struct term_t {
  ir_value_t* v;
  uint8_t labels[ONNX_MAX_RANK];
  int32_t rank;
} term_t;

static int32_t find_label(const term_t* t, uint8_t label) {
  for (int32_t i = 0; i < t->rank; ++i) {
    if (t->labels[i] == label) return i;
  }
  return -1;
}

// Reads the labels of one operand (of `rank` dims, -1: the result) up to ',' or '-' or the end. `*ellipsis` is how many
// dims "..." stands for, to be set by operands.
static bool read_labels(onnx_node_t* n, const char** at, int32_t rank, int32_t* ellipsis, term_t* t) {
  uint8_t letters[ONNX_MAX_RANK];
  int32_t count = 0, dots = -1;
  t->rank = 0;
  for (; **at && **at != ',' && **at != '-'; ++*at) {
    if (**at == ' ') continue;
    if (strncmp(*at, "...", 3) == 0 && dots < 0) {
      dots = count;
      *at += 2;
    } else if (isalpha((unsigned char)**at) && count < ONNX_MAX_RANK) {
      letters[count++] = (uint8_t)**at;
    } else {
      return onnx_error(n, "the equation is malformed at '%s'", *at);
    }
  }
  int32_t covered = dots < 0 ? 0 : rank < 0 ? *ellipsis : rank - count;
  if (covered < 0 || (rank >= 0 && covered + count != rank) || covered + count > ONNX_MAX_RANK) {
    return onnx_error(n, "the equation has %d labels for a tensor of rank %d", count, rank);
  }
  if (covered > *ellipsis) *ellipsis = covered;
  for (int32_t i = 0; i <= count; ++i) {
    for (int32_t k = 0; i == dots && k < covered; ++k) t->labels[t->rank++] = (uint8_t)(ELLIPSIS + covered - 1 - k);
    if (i < count) t->labels[t->rank++] = letters[i];
  }
  return true;
}

// Without "->", the result has the ellipsis and the labels that occur once, in alphabetical order.
static void implicit_result(const term_t* terms, uint32_t count, int32_t ellipsis, term_t* out) {
  for (int32_t k = ellipsis - 1; k >= 0; --k) out->labels[out->rank++] = (uint8_t)(ELLIPSIS + k);
  for (int c = 'A'; c <= 'z' && out->rank < ONNX_MAX_RANK; ++c) {
    int32_t times = 0;
    for (uint32_t i = 0; i < count; ++i) {
      for (int32_t d = 0; d < terms[i].rank; ++d) times += terms[i].labels[d] == c;
    }
    if (times == 1) out->labels[out->rank++] = (uint8_t)c;
  }
}

static void drop_label(term_t* t, int32_t at) {
  for (int32_t i = at; i + 1 < t->rank; ++i) t->labels[i] = t->labels[i + 1];
  --t->rank;
}

static void sum_label(onnx_node_t* n, term_t* t, int32_t at) {
  int64_t dim = at;
  t->v = graph_reduce(n->b, t->v, &dim, 1, "add");
  drop_label(t, at);
}

// Dimensions i and j of one size n become the last one: they are neighbours in n * n elements, of which every n + 1st
// is on the diagonal.
static void slice_diagonal(onnx_node_t* n, term_t* t, int32_t i, int32_t j) {
  int64_t perm[ONNX_MAX_RANK], offsets[ONNX_MAX_RANK] = {0}, sizes[ONNX_MAX_RANK], strides[ONNX_MAX_RANK];
  onnx_dim_t dims[ONNX_MAX_RANK];
  int64_t size = t->v->type->dims[i];
  int32_t count = 0;
  uint8_t label = t->labels[i];
  for (int32_t d = 0; d < t->rank; ++d) {
    if (d == i || d == j) continue;
    dims[count] = onnx_dim(n, t->v, d);
    sizes[count] = t->v->type->dims[d], strides[count] = 1;
    perm[count++] = d;
  }
  perm[count] = i, perm[count + 1] = j;
  dims[count] = onnx_dim_of(size * size);
  sizes[count] = size, strides[count] = size + 1;
  t->v = onnx_reshape(n, graph_transpose(n->b, t->v, perm), count + 1, dims);
  t->v = graph_slice(n->b, t->v, offsets, sizes, strides);
  drop_label(t, j);
  drop_label(t, i);
  t->labels[t->rank++] = label;
}

// A label that an operand has twice: only the diagonal counts.
static bool take_diagonals(onnx_node_t* n, term_t* t) {
  for (int32_t i = 0; i < t->rank; ++i) {
    for (int32_t j = i + 1; j < t->rank; ++j) {
      if (t->labels[i] != t->labels[j]) continue;
      onnx_dim_t dims[ONNX_MAX_RANK];
      for (int32_t d = 0; d < t->rank; ++d) dims[d] = onnx_dim(n, t->v, d);
      onnx_dim_t same = onnx_dim_test(n, SCALAR_eq, dims[i], dims[j]);
      if (!onnx_require(n, same, "label '%c' has two sizes", t->labels[i])) return false;
      if (dims[i].size != IR_DYNAMIC && dims[i].size == dims[j].size && dims[i].size <= INT32_MAX) {
        slice_diagonal(n, t, i--, j);  // another dimension is there now
        break;
      }
      ir_value_t *rows = onnx_numbers(n, t->rank, dims, i), *columns = onnx_numbers(n, t->rank, dims, j);
      ir_value_t* on = graph_binary(n->b, SCALAR_eq, rows, columns);
      t->v = graph_select(n->b, on, t->v, graph_splat_like(n->b, t->v, 0));
      sum_label(n, t, j--);
    }
  }
  return true;
}

// Dims of an ellipsis whose sizes are both known at run time only, of which one may be 1.
static void repeat_dims(onnx_node_t* n, term_t* a, int32_t i, term_t* b, int32_t j) {
  onnx_dim_t common = onnx_dim_common(n, onnx_dim(n, a->v, i), onnx_dim(n, b->v, j));
  for (uint32_t side = 0; side < 2; ++side) {
    term_t* t = side ? b : a;
    onnx_dim_t dims[ONNX_MAX_RANK];
    int32_t at = side ? j : i;
    for (int32_t d = 0; d < t->rank; ++d) dims[d] = onnx_dim(n, t->v, d);
    if (onnx_dim_same(dims[at], common)) continue;
    dims[at] = common;
    t->v = onnx_broadcast_to(n, t->v, t->rank, dims);
  }
}

// Where one side has size 1 and the other may have another, the dim of size 1 is dropped: it repeats.
static bool match_sizes(onnx_node_t* n, term_t* a, term_t* b) {
  for (int32_t i = a->rank - 1; i >= 0; --i) {
    int32_t j = find_label(b, a->labels[i]);
    if (j < 0) continue;
    int64_t x = a->v->type->dims[i], y = b->v->type->dims[j];
    bool any = x == IR_DYNAMIC || y == IR_DYNAMIC;
    if (x == y && any && a->labels[i] >= ELLIPSIS) {
      repeat_dims(n, a, i, b, j);
      continue;
    }
    if (x == y || (any && x != 1 && y != 1)) continue;
    if (x != 1 && y != 1)
      return onnx_error(n, "label '%c' has sizes %lld and %lld", a->labels[i], (long long)x, (long long)y);
    sum_label(n, x == 1 ? a : b, x == 1 ? i : j);
  }
  return true;
}

// How many of the operands that are left, and the result, have each label.
typedef uint32_t needs_t[256];

static void count_labels(const term_t* t, needs_t needs, bool more) {
  for (int32_t i = 0; i < t->rank; ++i) needs[t->labels[i]] += more ? 1u : UINT32_MAX;
}

// Sums labels that only `t` has.
static void sum_unneeded(onnx_node_t* n, term_t* t, const term_t* other, const needs_t needs) {
  for (int32_t i = t->rank - 1; i >= 0; --i) {
    bool shared = other && find_label(other, t->labels[i]) >= 0;
    if (!shared && !needs[t->labels[i]]) sum_label(n, t, i);
  }
}

static bool contract(onnx_node_t* n, term_t* a, term_t* b, const needs_t needs) {
  int64_t lhs_batch[ONNX_MAX_RANK], rhs_batch[ONNX_MAX_RANK], lhs[ONNX_MAX_RANK], rhs[ONNX_MAX_RANK];
  graph_contract_t c = {lhs_batch, rhs_batch, lhs, rhs, 0, 0, false, false};
  if (!match_sizes(n, a, b)) return false;
  sum_unneeded(n, a, b, needs);
  sum_unneeded(n, b, a, needs);
  term_t out = {0};
  for (int32_t i = 0; i < a->rank; ++i) {
    int32_t j = find_label(b, a->labels[i]);
    if (j < 0) continue;
    bool batch = needs[a->labels[i]] != 0;
    uint32_t* number = batch ? &c.batch_count : &c.contract_count;
    (batch ? lhs_batch : lhs)[*number] = i;
    (batch ? rhs_batch : rhs)[(*number)++] = j;
    if (batch) out.labels[out.rank++] = a->labels[i];
  }
  int32_t total = out.rank;
  for (int32_t i = 0; i < a->rank; ++i) total += find_label(b, a->labels[i]) < 0;
  for (int32_t i = 0; i < b->rank; ++i) total += find_label(a, b->labels[i]) < 0;
  if (total > ONNX_MAX_RANK) return onnx_unsupported(n, "an intermediate result has rank %d", total);
  for (int32_t i = 0; i < a->rank; ++i) {
    if (find_label(b, a->labels[i]) < 0) out.labels[out.rank++] = a->labels[i];
  }
  for (int32_t i = 0; i < b->rank; ++i) {
    if (find_label(a, b->labels[i]) < 0) out.labels[out.rank++] = b->labels[i];
  }
  out.v = graph_contract(n->b, a->v, b->v, &c, a->v->type->element);
  *a = out;
  return true;
}

static bool read_equation(onnx_node_t* n, term_t* terms, term_t* result) {
  const char* at = onnx_string(n, "equation", "");
  int32_t ellipsis = 0;
  for (uint32_t i = 0; i < n->in_count; ++i) {
    if (!n->in[i].v || !onnx_check_same_element(n, 0, i)) return onnx_error(n, "input %u does not fit", i);
    terms[i].v = n->in[i].v;
    if (!read_labels(n, &at, onnx_rank(n->in[i]), &ellipsis, &terms[i])) return false;
    if (i + 1 < n->in_count && *at++ != ',') return onnx_error(n, "the equation has too few operands");
  }
  if (*at == 0) {
    implicit_result(terms, n->in_count, ellipsis, result);
    return true;
  }
  if (strncmp(at, "->", 2) != 0) return onnx_error(n, "the equation is malformed at '%s'", at);
  at += 2;
  if (!read_labels(n, &at, -1, &ellipsis, result) || *at) return onnx_error(n, "the equation's result is malformed");
  for (int32_t i = 0; i < result->rank; ++i) {
    bool found = false;
    for (uint32_t k = 0; k < n->in_count; ++k) found |= find_label(&terms[k], result->labels[i]) >= 0;
    for (int32_t j = 0; j < i; ++j) found &= result->labels[i] != result->labels[j];
    if (!found)
      return onnx_error(n, "the equation's result has the label '%c' twice or from nowhere", result->labels[i]);
  }
  return true;
}

bool onnx_lower_einsum(onnx_node_t* n) {
  term_t *terms = ARENA_ARRAY(ir_context_arena(n->ctx), term_t, n->in_count), result = {0};
  int64_t perm[ONNX_MAX_RANK];
  needs_t needs = {0};
  if (!read_equation(n, terms, &result)) return false;
  count_labels(&result, needs, true);
  for (uint32_t i = 0; i < n->in_count; ++i) {
    if (!take_diagonals(n, &terms[i])) return false;
    if (i) count_labels(&terms[i], needs, true);
  }
  for (uint32_t i = 1; i < n->in_count; ++i) {
    count_labels(&terms[i], needs, false);
    if (!contract(n, &terms[0], &terms[i], needs)) return false;
  }
  sum_unneeded(n, &terms[0], NULL, needs);
  if (terms[0].rank != result.rank) return onnx_unsupported(n, "a result label was dropped by broadcasting");
  for (int32_t i = 0; i < result.rank; ++i) perm[i] = find_label(&terms[0], result.labels[i]);
  return onnx_return(n, graph_transpose(n->b, terms[0].v, perm), n->in[0].element);
}
