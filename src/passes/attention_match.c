// Finds attention where a program spells it out, as exports do:
//
//   contract(softmax(x), v),  x = scale contract(q, k), masks added or selected, causal ones by position or as numbers
//   =>  graph.attention q, k, v[, mask] {scale, causal}
//
// with q, k, v and the result in whatever order of dimensions the products have them, heads of q that share those of k
// and v, casts between, and zeros for rows that see no key. Nothing on the way may be used elsewhere. Scores are not
// rounded to a narrow type any more, and probabilities are, to the operands': nothing else changes.
#include <math.h>
#include <string.h>

#include "dialects/graph_shape.h"
#include "passes/attention.h"

enum { MAX_MASKS = 4, MAX_LEVELS = 4 };

// What is added to scores: `value`, or `other` where the condition `value` is not (`hides`: is) so; times a factor.
typedef struct mask_t {
  ir_value_t *value, *other;
  bool hides;
  double factor;
  int32_t level;  // reshapes of scores below it
} mask_t;

typedef struct match_t {
  ir_context_t* ctx;
  ir_op_t *product, *scores;   // the contractions
  ir_op_t* turned;             // `scores`, if it was built where the program transposes them
  bool first;                  // probabilities are the product's first operand
  ir_value_t* probabilities;   // as the product takes them
  int64_t query, key;          // their dimensions
  int64_t low_query, low_key;  // of the scores' contraction
  double scale;
  bool causal, blank;  // blank: rows without keys give 0
  mask_t masks[MAX_MASKS];
  uint32_t mask_count;
  const ir_type_t* levels[MAX_LEVELS];  // of scores below each reshape
  int32_t level_count;
} match_t;

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

// Who only asks for sizes does not count.
static bool has_uses(const ir_value_t* x, uint32_t count) {
  IR_FOR_USES(use, x) {
    if (ir_is(use->owner, GRAPH_DIM)) continue;
    if (count-- == 0) return false;
  }
  return count == 0;
}

static bool is_fn(const ir_value_t* x, scalar_fn_t fn) { return x->def && graph_scalar_fn(x->def) == (int)fn; }

static bool is_op(const ir_value_t* x, uint32_t code) { return x->def && ir_is(x->def, code); }

// What a cast between floats is of, used by nothing else.
static ir_value_t* before_casts(ir_value_t* x) {
  while (is_fn(x, SCALAR_cast) && ir_type_is_float(ir_operand(x->def, 0)->type->element) &&
         ir_type_is_float(x->type->element) && has_uses(ir_operand(x->def, 0), 1)) {
    x = ir_operand(x->def, 0);
  }
  return x;
}

// Whether all elements are one number.
static bool is_number(const ir_value_t* x, double* out) {
  while (is_op(x, GRAPH_BROADCAST) || is_op(x, GRAPH_RESHAPE) || (is_fn(x, SCALAR_cast))) x = ir_operand(x->def, 0);
  const ir_attr_t* value = graph_constant_value(x);
  if (!value || !ir_type_is_float(x->type->element) || !(value->splat || ir_type_count(value->type) == 1)) return false;
  *out = ir_attr_element_number(value, 0);
  return true;
}

// The number of each row that `x` repeats along `axis`, without that dimension; NULL where it is none.
static ir_value_t* row_number(ir_value_t* x, int64_t axis) {
  int64_t dims[GRAPH_MAX_RANK];
  if (!is_op(x, GRAPH_BROADCAST) || !has_uses(x, 1)) return NULL;
  ir_value_t* row = ir_operand(x->def, 0);
  int32_t rank = x->type->rank;
  graph_get_dims(x->def, dims);
  bool kept = row->type->rank == rank;
  if (!kept && row->type->rank != rank - 1) return NULL;
  for (int32_t i = 0; i < row->type->rank; ++i) {
    if (dims[i] != i + (!kept && i >= axis) || (i != axis && row->type->dims[i] != x->type->dims[dims[i]])) return NULL;
  }
  if (!kept) return row;
  if (row->type->dims[axis] != 1 || !is_op(row, GRAPH_RESHAPE)) return NULL;
  ir_value_t* inner = ir_operand(row->def, 0);
  if (inner->type->rank != rank - 1 || !has_uses(row, 1)) return NULL;
  for (int32_t i = 0; i < rank - 1; ++i) {
    if (inner->type->dims[i] != row->type->dims[i + (i >= axis)]) return NULL;
  }
  return inner;
}

// What `row` reduces along `axis`.
static ir_value_t* reduced(ir_value_t* row, int64_t axis, const char* kind) {
  int64_t dims[GRAPH_MAX_RANK];
  row = row ? before_casts(row) : NULL;
  if (!row || !is_op(row, GRAPH_REDUCE) || strcmp(graph_get_kind(row->def), kind) != 0) return NULL;
  return graph_get_dims(row->def, dims) == 1 && dims[0] == axis ? ir_operand(row->def, 0) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Softmax
//===----------------------------------------------------------------------------------------------------------------===

// max(-inf, x) is x.
static ir_value_t* before_limit(ir_value_t* x) {
  double number;
  for (uint32_t i = 0; x && (is_fn(x, SCALAR_max) || is_fn(x, SCALAR_maxnum)) && i < 2; ++i) {
    if (is_number(ir_operand(x->def, i), &number) && number == -INFINITY) return ir_operand(x->def, 1 - i);
  }
  return x;
}

// The same value, perhaps in a wider type.
static bool is_same(ir_value_t* x, const ir_value_t* y) {
  while (x != y && is_fn(x, SCALAR_cast)) x = ir_operand(x->def, 0);
  while (y != x && is_fn(y, SCALAR_cast)) y = ir_operand(y->def, 0);
  return x == y;
}

// Scores of exp(x - max x), or NULL.
static ir_value_t* before_exponential(ir_value_t* e, int64_t axis) {
  if (!is_fn(e, SCALAR_exp) || !has_uses(ir_operand(e->def, 0), 1)) return NULL;
  ir_value_t* difference = ir_operand(e->def, 0);
  if (!is_fn(difference, SCALAR_sub)) return NULL;
  ir_value_t* x = ir_operand(difference->def, 0);
  ir_value_t* most = before_limit(row_number(ir_operand(difference->def, 1), axis));
  most = reduced(most, axis, "max");
  return most && is_same(most, x) && has_uses(x, 2) ? x : NULL;
}

// Zero where p is no number, else p.
static ir_value_t* before_blank(match_t* m, ir_value_t* p) {
  double number;
  if (!is_fn(p, SCALAR_select)) return p;
  ir_value_t *condition = ir_operand(p->def, 0), *inner = ir_operand(p->def, 2);
  bool differs = is_fn(condition, SCALAR_ne) && ir_operand(condition->def, 1) == inner;  // from itself
  bool is_nan = (differs || is_fn(condition, SCALAR_is_nan)) && ir_operand(condition->def, 0) == inner;
  if (!is_nan || !is_number(ir_operand(p->def, 1), &number) || number != 0) return p;
  if (!has_uses(inner, differs ? 3 : 2)) return p;
  m->blank = true;
  return inner;
}

static ir_value_t* before_softmax(match_t* m, ir_value_t* p, int64_t axis) {
  if (!has_uses(p, 1)) return NULL;
  p = before_casts(p);
  ir_value_t* q = before_blank(m, p);
  p = q == p ? p : before_casts(q);
  if (!is_fn(p, SCALAR_div)) return NULL;
  ir_value_t* e = ir_operand(p->def, 0);
  ir_value_t* sum = reduced(row_number(ir_operand(p->def, 1), axis), axis, "add");
  return sum && is_same(sum, e) && has_uses(e, 2) ? before_exponential(e, axis) : NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Masks by position
//===----------------------------------------------------------------------------------------------------------------===

// rows * row + columns * column + constant.
typedef struct line_t {
  int64_t rows, columns, constant;
} line_t;

static bool read_line(const ir_value_t* x, int64_t row, int64_t column, line_t* out);

static bool read_broadcast(const ir_op_t* op, int64_t row, int64_t column, line_t* out) {
  int64_t dims[GRAPH_MAX_RANK], to[2] = {-1, -1};
  const ir_value_t* from = ir_operand(op, 0);
  graph_get_dims(op, dims);
  for (int32_t i = 0; i < from->type->rank; ++i) {
    if (from->type->dims[i] == 1) continue;
    if (dims[i] == row) to[0] = i;
    if (dims[i] == column) to[1] = i;
  }
  return read_line(from, to[0], to[1], out);
}

// Dimensions of 1 come or go.
static bool read_reshape(const ir_op_t* op, int64_t row, int64_t column, line_t* out) {
  const ir_type_t *from = ir_operand(op, 0)->type, *to = op->results[0].type;
  int64_t at[2] = {-1, -1};
  int32_t i = 0, j = 0;
  for (;; ++i, ++j) {
    while (i < from->rank && from->dims[i] == 1) ++i;
    while (j < to->rank && to->dims[j] == 1) ++j;
    if (i == from->rank || j == to->rank) break;
    if (from->dims[i] != to->dims[j] || from->dims[i] == IR_DYNAMIC) return false;
    if (j == row) at[0] = i;
    if (j == column) at[1] = i;
  }
  return i == from->rank && j == to->rank && read_line(ir_operand(op, 0), at[0], at[1], out);
}

static bool read_line(const ir_value_t* x, int64_t row, int64_t column, line_t* out) {
  const ir_op_t* op = x->def;
  line_t y;
  *out = (line_t){0};
  if (!op) return false;
  if (ir_is(op, GRAPH_BROADCAST)) return read_broadcast(op, row, column, out);
  if (ir_is(op, GRAPH_RESHAPE)) return read_reshape(op, row, column, out);
  if (ir_is(op, GRAPH_IOTA)) {
    out->rows = graph_get_axis(op) == row, out->columns = graph_get_axis(op) == column;
    return true;
  }
  const ir_attr_t* value = graph_constant_value(x);
  if (value) {
    bool one = value->splat || ir_type_count(value->type) == 1;
    if (one && !ir_type_is_float(x->type->element)) out->constant = ir_attr_element_integer(value, 0);
    return one && !ir_type_is_float(x->type->element);
  }
  if (is_fn(x, SCALAR_cast))
    return !ir_type_is_float(x->type->element) && read_line(ir_operand(op, 0), row, column, out);
  int64_t sign = is_fn(x, SCALAR_add) ? 1 : is_fn(x, SCALAR_sub) ? -1 : 0;
  if (!sign || ir_type_is_float(x->type->element)) return false;
  if (!read_line(ir_operand(op, 0), row, column, out) || !read_line(ir_operand(op, 1), row, column, &y)) return false;
  out->rows += sign * y.rows, out->columns += sign * y.columns, out->constant += sign * y.constant;
  return true;
}

// Whether the comparison says row + ahead >= column; `hides`: row + ahead < column.
static bool compares_places(const ir_value_t* x, int64_t row, int64_t column, bool hides, int64_t ahead) {
  static const scalar_fn_t kinds[] = {SCALAR_ge, SCALAR_gt, SCALAR_le, SCALAR_lt};
  line_t left, right;
  int kind = 0;
  while (kind < 4 && !is_fn(x, kinds[kind])) ++kind;
  if (kind == 4 || !read_line(ir_operand(x->def, 0), row, column, &left) ||
      !read_line(ir_operand(x->def, 1), row, column, &right))
    return false;
  int64_t rows = left.rows - right.rows, columns = left.columns - right.columns,
          constant = left.constant - right.constant;
  bool strict = kind & 1;
  if (kind >= 2) rows = -rows, columns = -columns, constant = -constant;  // now: what is > 0 or >= 0
  if (hides) rows = -rows, columns = -columns, constant = -constant, strict = !strict;
  return rows == 1 && columns == -1 && constant - strict == ahead;
}

// Whether element (row, column) of the last two dimensions is kept as in a causal mask, all others being of size 1.
typedef enum { FLAG_HIDES, FLAG_KEEPS, FLAG_NEITHER } flag_t;
static bool numbers_are_causal(const ir_value_t* x, flag_t (*flag)(const ir_attr_t* value, int64_t at), int64_t queries,
                               int64_t keys) {
  const ir_attr_t* value = graph_constant_value(x);
  if (!value || value->splat || ir_type_count(x->type) != queries * keys) return false;
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < keys; ++j) {
      flag_t wanted = j <= i + keys - queries ? FLAG_KEEPS : FLAG_HIDES;
      if (flag(value, i * keys + j) != wanted) return false;
    }
  }
  return true;
}

// So low that a score is nothing beside it.
static bool is_low(double number, const ir_type_t* element) {
  double least = element->width < 32 && element->kind == IR_TYPE_FLOAT ? -6e4 : -1e30;
  return number <= least;
}

static flag_t flag_keeps(const ir_attr_t* value, int64_t at) {
  return ir_attr_element_integer(value, at) ? FLAG_KEEPS : FLAG_HIDES;
}
static flag_t flag_hides(const ir_attr_t* value, int64_t at) {
  return ir_attr_element_integer(value, at) ? FLAG_HIDES : FLAG_KEEPS;
}
static flag_t flag_number(const ir_attr_t* value, int64_t at) {
  double number = ir_attr_element_number(value, at);
  return number == 0 ? FLAG_KEEPS : is_low(number, value->type->element) ? FLAG_HIDES : FLAG_NEITHER;
}

// What is the same for all but the last dimensions.
static const ir_value_t* before_broadcasts(const ir_value_t* x, int64_t* row, int64_t* column) {
  int64_t dims[GRAPH_MAX_RANK];
  while (is_op(x, GRAPH_BROADCAST)) {
    const ir_value_t* from = ir_operand(x->def, 0);
    int64_t to[2] = {-1, -1};
    graph_get_dims(x->def, dims);
    for (int32_t i = 0; i < from->type->rank; ++i) {
      if (dims[i] == *row) to[0] = i;
      if (dims[i] == *column) to[1] = i;
    }
    if (to[0] < 0 || to[1] < 0) return x;
    *row = to[0], *column = to[1];
    x = from;
  }
  return x;
}

// Whether the condition is that of a causal attention.
static bool is_causal(const match_t* m, const ir_value_t* condition, bool hides) {
  const ir_type_t* type = condition->type;
  int64_t row = m->query, column = m->key, queries = type->dims[row], keys = type->dims[column];
  if (queries == IR_DYNAMIC || keys == IR_DYNAMIC || keys < queries) return false;
  const ir_value_t* x = before_broadcasts(condition, &row, &column);
  if (compares_places(x, row, column, hides, keys - queries)) return true;
  return row < column && numbers_are_causal(x, hides ? flag_hides : flag_keeps, queries, keys);
}

//===----------------------------------------------------------------------------------------------------------------===
// Scores
//===----------------------------------------------------------------------------------------------------------------===

static bool add_mask(match_t* m, mask_t mask) {
  if (m->mask_count == MAX_MASKS) return false;
  mask.level = m->level_count;
  m->masks[m->mask_count++] = mask;
  return true;
}

// A mask that is added: perhaps one of positions.
static bool take_added(match_t* m, ir_value_t* mask, double factor) {
  double kept, low;
  int64_t row = m->query, column = m->key, queries = mask->type->dims[row], keys = mask->type->dims[column];
  const ir_value_t* x = before_broadcasts(mask, &row, &column);
  bool is_static = queries != IR_DYNAMIC && keys != IR_DYNAMIC && keys >= queries && factor > 0;
  if (is_static && row < column && row >= 0 && numbers_are_causal(x, flag_number, queries, keys)) {
    m->causal = true;
    return true;
  }
  if (is_static && is_fn(x, SCALAR_select) && is_number(ir_operand(x->def, 1), &kept) &&
      is_number(ir_operand(x->def, 2), &low)) {
    bool hides = kept != 0;
    if (hides) kept = low, low = -INFINITY, is_number(ir_operand(x->def, 1), &low);
    match_t inner = *m;
    inner.query = row, inner.key = column;
    if (kept == 0 && is_low(low * factor, x->type->element) && is_causal(&inner, ir_operand(x->def, 0), hides)) {
      m->causal = true;
      return true;
    }
  }
  return add_mask(m, (mask_t){.value = mask, .factor = factor});
}

// Scores where the condition holds (`first`), or where it does not, else a number that hides them.
static bool take_selected(match_t* m, ir_value_t* condition, ir_value_t* other, bool hides) {
  double low;
  if (m->scale <= 0 || !is_number(other, &low) || !is_low(low * m->scale, other->type->element)) return false;
  if (is_causal(m, condition, hides)) {
    m->causal = true;
    return true;
  }
  return add_mask(m, (mask_t){.value = condition, .other = other, .hides = hides, .factor = m->scale});
}

static bool find_scores(match_t* m, ir_value_t* x);

static bool leads_to_product(ir_value_t* x, int depth) {
  for (; depth > 0 && x->def; --depth) {
    if (ir_is(x->def, GRAPH_CONTRACT)) return true;
    if (is_fn(x, SCALAR_add) && leads_to_product(ir_operand(x->def, 1), depth - 1)) return true;
    if (is_fn(x, SCALAR_select)) {
      if (leads_to_product(ir_operand(x->def, 1), depth - 1)) return true;
      x = ir_operand(x->def, 2);
      continue;
    }
    bool passes = graph_scalar_fn(x->def) >= 0 || ir_is(x->def, GRAPH_RESHAPE) || ir_is(x->def, GRAPH_TRANSPOSE);
    if (!passes) return false;
    double number;
    x = ir_operand(x->def, is_fn(x, SCALAR_mul) && is_number(ir_operand(x->def, 0), &number) ? 1 : 0);
  }
  return false;
}

enum { FAR = 10 };  // ops between the scores' product and their softmax

static bool find_through_scale(match_t* m, ir_op_t* op) {
  double number;
  bool divides = graph_scalar_fn(op) == SCALAR_div;
  uint32_t other = 1;
  if (!is_number(ir_operand(op, 1), &number)) {
    if (divides || !is_number(ir_operand(op, 0), &number)) return false;
    other = 0;
  }
  m->scale *= divides ? 1 / number : number;
  return isfinite(m->scale) && m->scale != 0 && find_scores(m, ir_operand(op, 1 - other));
}

static bool find_through_sum(match_t* m, ir_op_t* op) {
  bool minus = graph_scalar_fn(op) == SCALAR_sub;
  uint32_t scores = !minus && !leads_to_product(ir_operand(op, 0), FAR) ? 1 : 0;
  return take_added(m, ir_operand(op, 1 - scores), minus ? -m->scale : m->scale) &&
         find_scores(m, ir_operand(op, scores));
}

static bool find_through_select(match_t* m, ir_op_t* op) {
  bool first = leads_to_product(ir_operand(op, 1), FAR);
  return take_selected(m, ir_operand(op, 0), ir_operand(op, first ? 2 : 1), !first) &&
         find_scores(m, ir_operand(op, first ? 1 : 2));
}

// Whether dims first .. first + count - 1 of a permutation are the same numbers.
static bool permutes(const int64_t* perm, int32_t first, int32_t count) {
  for (int32_t i = first; i < first + count; ++i) {
    if (perm[i] < first || perm[i] >= first + count) return false;
  }
  return true;
}

// The operand with its dimensions in the result's new order, of which its own begin at `first`: the others as they are.
static ir_value_t* turn_operand(ir_builder_t* b, const ir_op_t* op, uint32_t operand, const int64_t* perm,
                                int32_t first) {
  int64_t batch[GRAPH_MAX_RANK], summed[GRAPH_MAX_RANK], own[GRAPH_MAX_RANK], order[GRAPH_MAX_RANK];
  ir_value_t* x = ir_operand(op, operand);
  uint32_t batches = operand ? graph_get_rhs_batch(op, batch) : graph_get_lhs_batch(op, batch);
  uint32_t sums = operand ? graph_get_rhs_contract(op, summed) : graph_get_lhs_contract(op, summed);
  int32_t count = 0, next = 0;
  for (int32_t d = 0; d < x->type->rank; ++d) {
    if (!shape_contains(batch, batches, d) && !shape_contains(summed, sums, d)) own[count++] = d;
  }
  for (int32_t d = 0; d < x->type->rank; ++d) {
    bool free = !shape_contains(batch, batches, d) && !shape_contains(summed, sums, d);
    order[d] = free ? own[perm[first + next++] - first] : d;
  }
  return graph_transpose(b, x, order);
}

// transpose(contract(q, k)) as a contraction of transposed operands, where each of them keeps its own dimensions.
static bool find_through_transpose(match_t* m, const ir_op_t* op) {
  ir_op_t* product = ir_operand(op, 0)->def;
  int64_t perm[GRAPH_MAX_RANK], lb[GRAPH_MAX_RANK], rb[GRAPH_MAX_RANK], lc[GRAPH_MAX_RANK], rc[GRAPH_MAX_RANK];
  if (!product || !ir_is(product, GRAPH_CONTRACT) || !has_uses(ir_operand(op, 0), 1)) return false;
  uint32_t batch = graph_get_lhs_batch(product, lb), sums = graph_get_lhs_contract(product, lc);
  graph_get_rhs_batch(product, rb);
  graph_get_rhs_contract(product, rc);
  graph_get_perm(op, perm);
  int32_t rank = op->results[0].type->rank, left = (int32_t)batch,
          right = ir_operand(product, 0)->type->rank - (int32_t)sums;
  for (int32_t i = 0; i < left; ++i) {
    if (perm[i] != i) return false;
  }
  if (!permutes(perm, left, right - left) || !permutes(perm, right, rank - right)) return false;
  ir_builder_t b = ir_builder_before(m->ctx, product);
  ir_value_t *q = turn_operand(&b, product, 0, perm, left), *k = turn_operand(&b, product, 1, perm, right);
  graph_contract_t dims = {.lhs_batch = lb,
                           .rhs_batch = rb,
                           .lhs_contract = lc,
                           .rhs_contract = rc,
                           .batch_count = batch,
                           .contract_count = sums,
                           .unsigned_lhs = graph_get_unsigned_lhs(product),
                           .unsigned_rhs = graph_get_unsigned_rhs(product)};
  m->scores = m->turned = graph_contract(&b, q, k, &dims, product->results[0].type->element)->def;
  return true;
}

// Leading dimensions in another form.
static bool find_through_reshape(match_t* m, ir_op_t* op) {
  const ir_type_t *from = ir_operand(op, 0)->type, *to = op->results[0].type;
  int32_t a = from->rank, b = to->rank;
  if (a < 2 || b < 2 || m->level_count == MAX_LEVELS || !ir_type_is_static(from) || !ir_type_is_static(to))
    return false;
  if (m->query != b - 2 || m->key != b - 1) return false;
  if (from->dims[a - 1] != to->dims[b - 1] || from->dims[a - 2] != to->dims[b - 2]) return false;
  m->levels[m->level_count++] = from;
  m->query = a - 2, m->key = a - 1;
  return find_scores(m, ir_operand(op, 0));
}

// From the softmax's argument back to the product.
static bool find_below(match_t* m, ir_value_t* x) {
  ir_op_t* op = x->def;
  if (!op || !ir_type_is_float(x->type->element)) return false;
  if (ir_is(op, GRAPH_CONTRACT)) {
    m->scores = op;
    return true;
  }
  if (ir_is(op, GRAPH_TRANSPOSE)) return find_through_transpose(m, op);
  if (ir_is(op, GRAPH_RESHAPE)) return find_through_reshape(m, op);
  switch (graph_scalar_fn(op)) {
    case SCALAR_cast:
      return find_scores(m, ir_operand(op, 0));
    case SCALAR_mul:
    case SCALAR_div:
      return find_through_scale(m, op);
    case SCALAR_add:
    case SCALAR_sub:
      return find_through_sum(m, op);
    case SCALAR_select:
      return find_through_select(m, op);
    default:
      return false;
  }
}

static bool find_scores(match_t* m, ir_value_t* x) { return has_uses(x, 1) && find_below(m, x); }

//===----------------------------------------------------------------------------------------------------------------===
// Operands
//===----------------------------------------------------------------------------------------------------------------===

// One side of a contraction: which of the result's dimensions each of its own is, or -1: the one that is summed up.
typedef struct side_t {
  ir_value_t* value;
  int64_t dims[GRAPH_MAX_RANK], summed;
} side_t;

static bool read_sides(const ir_op_t* op, side_t sides[2]) {
  int64_t batch[2][GRAPH_MAX_RANK];
  uint32_t count = graph_get_lhs_batch(op, batch[0]);
  graph_get_rhs_batch(op, batch[1]);
  int64_t next = count;
  if (graph_reads_unsigned(op, 0) || graph_reads_unsigned(op, 1)) return false;
  for (uint32_t s = 0; s < 2; ++s) {
    side_t* side = &sides[s];
    side->value = ir_operand(op, s);
    uint32_t summed = s ? graph_attr_one(op, GRAPH_ATTR_rhs_contract, &side->summed)
                        : graph_attr_one(op, GRAPH_ATTR_lhs_contract, &side->summed);
    if (summed != 1 || !ir_type_is_float(side->value->type->element)) return false;
    for (int32_t d = 0; d < side->value->type->rank; ++d) {
      side->dims[d] = d == side->summed ? -1 : -2;
      for (uint32_t i = 0; i < count; ++i) {
        if (batch[s][i] == d) side->dims[d] = i;
      }
      if (side->dims[d] == -2) side->dims[d] = next++;
    }
  }
  return true;
}

static int64_t dim_of(const side_t* side, int64_t result) {
  for (int32_t d = 0; d < side->value->type->rank; ++d) {
    if (side->dims[d] == result) return d;
  }
  return -1;
}

// `side` with its dimensions in the order of those of the result that `order` lists, then `rows` and `columns` of its
// own; what it does not have of the former is repeated to the sizes of `like`.
static ir_value_t* arranged(ir_builder_t* b, const side_t* side, const int64_t* order, int32_t count, int64_t rows,
                            int64_t columns, ir_value_t* like) {
  int64_t perm[GRAPH_MAX_RANK], to[GRAPH_MAX_RANK], sizes[GRAPH_MAX_RANK], own[2] = {rows, columns};
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  int32_t n = 0;
  uint32_t open = 0;
  for (int32_t i = 0; i < count; ++i) {
    int64_t d = dim_of(side, order[i]);
    sizes[i] = like->type->dims[order[i]];
    if (sizes[i] == IR_DYNAMIC) dynamic[open++] = graph_dim(b, like, (uint32_t)order[i]);
    if (d < 0) continue;
    perm[n] = d;
    to[n++] = i;
  }
  bool whole = n == count;
  perm[n] = rows, to[n++] = count;
  perm[n] = columns, to[n++] = count + 1;
  ir_value_t* x = graph_transpose(b, side->value, perm);
  if (whole) return x;
  for (int32_t i = 0; i < 2; ++i) {
    sizes[count + i] = side->value->type->dims[own[i]];
    if (sizes[count + i] == IR_DYNAMIC) dynamic[open++] = graph_dim(b, side->value, (uint32_t)own[i]);
  }
  return graph_broadcast(b, x, ir_type_tensor(b->ctx, x->type->element, count + 2, sizes), to, dynamic);
}

// Dimensions of scores but the query's and the key's.
static int32_t other_dims(int32_t rank, int64_t query, int64_t key, int64_t* out) {
  int32_t count = 0;
  for (int32_t d = 0; d < rank; ++d) {
    if (d != query && d != key) out[count++] = d;
  }
  return count;
}

// x c, of one number: c is taken into the scale.
static ir_value_t* without_scale(match_t* m, ir_value_t* x) {
  double number;
  for (uint32_t i = 0; i < 2 && is_fn(x, SCALAR_mul); ++i) {
    if (!is_number(ir_operand(x->def, i), &number) || !isfinite(number * m->scale) || number * m->scale == 0) continue;
    m->scale *= number;
    return ir_operand(x->def, 1 - i);
  }
  if (!is_fn(x, SCALAR_div) || !is_number(ir_operand(x->def, 1), &number)) return x;
  if (!isfinite(m->scale / number) || m->scale / number == 0) return x;
  m->scale /= number;
  return ir_operand(x->def, 0);
}

static ir_value_t* cast_up(ir_builder_t* b, ir_value_t* x, const ir_type_t* element) {
  return x->type->element == element ? x : graph_cast(b, x, element, false);
}

// One type for all three operands, that has all their values.
static const ir_type_t* common_element(const match_t* m, const ir_value_t* q, const ir_value_t* k,
                                       const ir_value_t* v) {
  const ir_type_t *a = q->type->element, *b = k->type->element, *c = v->type->element;
  if (a == b && b == c) return a;
  bool wide = a->width > 32 || b->width > 32 || c->width > 32;
  return ir_type_float(m->ctx, wide ? IR_F64 : IR_F32);
}

// Sizes for a broadcast of dims that only run time knows.
static ir_value_t* like_scores(ir_builder_t* b, ir_value_t* number, ir_value_t* scores) {
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0;
  for (int32_t i = 0; i < scores->type->rank; ++i) {
    if (scores->type->dims[i] == IR_DYNAMIC) dynamic[count++] = graph_dim(b, scores, (uint32_t)i);
  }
  return graph_broadcast(b, number, ir_type_with_element(b->ctx, scores->type, number->type->element), NULL, dynamic);
}

// A mask as numbers to add: before it is repeated, where it is.
static ir_value_t* mask_values(match_t* m, ir_builder_t* b, const mask_t* mask, ir_value_t* x) {
  const ir_type_t* f32 = ir_type_float(m->ctx, IR_F32);
  if (!mask->other && mask->factor == 1) return x;
  if (is_op(x, GRAPH_BROADCAST)) {
    int64_t dims[GRAPH_MAX_RANK];
    ir_value_t *dynamic[GRAPH_MAX_RANK] = {0}, *from = mask_values(m, b, mask, ir_operand(x->def, 0));
    graph_get_dims(x->def, dims);
    for (uint32_t i = 1; i < x->def->operand_count; ++i) dynamic[i - 1] = ir_operand(x->def, i);
    return graph_broadcast(b, from, ir_type_with_element(b->ctx, x->type, f32), dims, dynamic);
  }
  if (mask->other) {
    ir_value_t* zero = like_scores(b, graph_scalar_constant(b, f32, 0), x);
    double number = -INFINITY;
    is_number(mask->other, &number);
    if (isfinite(number)) number = -2e38;  // beside which a score is nothing, as it was
    ir_value_t* low = like_scores(b, graph_scalar_constant(b, f32, number), x);
    return graph_select(b, x, mask->hides ? low : zero, mask->hides ? zero : low);
  }
  x = graph_cast(b, x, f32, false);
  return graph_binary(b, SCALAR_mul, x, like_scores(b, graph_scalar_constant(b, f32, mask->factor), x));
}

// The same in the shape of the scores' product.
static ir_value_t* mask_numbers(match_t* m, ir_builder_t* b, const mask_t* mask) {
  ir_value_t* x = mask_values(m, b, mask, mask->value);
  for (int32_t l = mask->level; l < m->level_count; ++l) {
    x = graph_reshape(b, x, m->levels[l]->rank, m->levels[l]->dims, NULL);
  }
  return x;
}

static ir_value_t* all_masks(match_t* m, ir_builder_t* b) {
  ir_value_t* sum = NULL;
  const ir_type_t* f32 = ir_type_float(m->ctx, IR_F32);
  for (uint32_t i = 0; i < m->mask_count; ++i) {
    ir_value_t* x = mask_numbers(m, b, &m->masks[i]);
    if (m->mask_count > 1) x = cast_up(b, x, f32);
    sum = sum ? graph_binary(b, SCALAR_add, sum, x) : x;
  }
  return sum;
}

//===----------------------------------------------------------------------------------------------------------------===
// The op
//===----------------------------------------------------------------------------------------------------------------===

typedef struct parts_t {
  side_t q, k, p, v;
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK];  // other dimensions of the scores' product, of probabilities
  int32_t low_count, high_count;
  int64_t width;  // v's columns
} parts_t;

// Which operand is which; false where a product is more than one of rows and columns.
static bool read_parts(match_t* m, parts_t* x) {
  side_t scores[2], product[2];
  if (!read_sides(m->scores, scores) || !read_sides(m->product, product)) return false;
  const ir_type_t *low = m->scores->results[0].type, *high = m->probabilities->type;
  bool second = dim_of(&scores[1], m->low_key) >= 0 && dim_of(&scores[0], m->low_key) < 0;
  x->k = scores[second], x->q = scores[!second];
  x->p = product[!m->first], x->v = product[m->first];
  x->low_count = other_dims(low->rank, m->low_query, m->low_key, x->low);
  x->high_count = other_dims(high->rank, m->query, m->key, x->high);
  if (dim_of(&x->q, m->low_query) < 0 || dim_of(&x->k, m->low_query) >= 0 || dim_of(&x->q, m->low_key) >= 0 ||
      dim_of(&x->k, m->low_key) < 0)
    return false;
  for (int32_t i = 0; i < x->low_count; ++i) {  // of q, and perhaps of k
    if (dim_of(&x->q, x->low[i]) < 0) return false;
  }
  x->width = -1;
  for (int32_t d = 0; d < x->v.value->type->rank; ++d) {
    if (d == x->v.summed || dim_of(&x->p, x->v.dims[d]) >= 0) continue;
    if (x->width >= 0) return false;
    x->width = d;
  }
  if (x->width < 0 || dim_of(&x->v, x->p.dims[m->query]) >= 0) return false;
  return x->p.summed == m->key;
}

// v's dimensions by those of the probabilities instead of the product's.
static side_t by_probabilities(const parts_t* x) {
  side_t v = x->v;
  for (int32_t d = 0; d < v.value->type->rank; ++d) {
    if (v.dims[d] >= 0) v.dims[d] = dim_of(&x->p, v.dims[d]);
    if (v.dims[d] < 0) v.dims[d] = -1;
  }
  return v;
}

// [.., rows, columns] with the leading dimensions of `like`.
static ir_value_t* lead_as(ir_builder_t* b, ir_value_t* x, const ir_type_t* like) {
  int64_t dims[GRAPH_MAX_RANK];
  int32_t rank = like->rank;
  memcpy(dims, like->dims, sizeof(*dims) * (size_t)rank);
  dims[rank - 2] = x->type->dims[x->type->rank - 2];
  dims[rank - 1] = x->type->dims[x->type->rank - 1];
  return graph_reshape(b, x, rank, dims, NULL);
}

static ir_op_t* build_op(match_t* m, ir_builder_t* b, ir_value_t* const* operands, uint32_t count) {
  ir_named_attr_t attrs[3];
  uint32_t n = 0;
  if (m->blank) attrs[n++] = (ir_named_attr_t){"blank", ir_attr_unit(m->ctx)};
  if (m->causal) attrs[n++] = (ir_named_attr_t){"causal", ir_attr_unit(m->ctx)};
  attrs[n++] = (ir_named_attr_t){"scale", ir_attr_float(m->ctx, ir_type_float(m->ctx, IR_F64), m->scale)};
  const ir_type_t *q = operands[0]->type, *v = operands[2]->type;
  int64_t dims[GRAPH_MAX_RANK];
  memcpy(dims, q->dims, sizeof(*dims) * (size_t)q->rank);
  dims[q->rank - 1] = v->dims[v->rank - 1];
  const ir_type_t* type = ir_type_tensor(m->ctx, m->product->results[0].type->element, q->rank, dims);
  return graph_build(b, GRAPH_ATTENTION, operands, count, type, attrs, n)->def;
}

// The result in the product's order of dimensions.
static ir_value_t* in_order(ir_builder_t* b, const parts_t* x, ir_value_t* result) {
  int64_t perm[GRAPH_MAX_RANK];
  int32_t rank = result->type->rank;
  for (int32_t r = 0; r < rank; ++r) {
    int64_t p = dim_of(&x->p, r);
    perm[r] = p < 0 ? rank - 1 : rank - 2;
    for (int32_t i = 0; p >= 0 && i < x->high_count; ++i) {
      if (x->high[i] == p) perm[r] = i;
    }
  }
  return graph_transpose(b, result, perm);
}

static bool match_side(match_t* m, ir_op_t* op, bool first) {
  int64_t summed = -1, batch[GRAPH_MAX_RANK];
  graph_attr_one(op, first ? GRAPH_ATTR_lhs_contract : GRAPH_ATTR_rhs_contract, &summed);
  *m = (match_t){.ctx = m->ctx, .product = op, .first = first, .key = summed, .query = -1, .scale = 1};
  m->probabilities = ir_operand(op, first ? 0 : 1);
  uint32_t count = first ? graph_get_lhs_batch(op, batch) : graph_get_rhs_batch(op, batch);
  for (int32_t d = 0; d < m->probabilities->type->rank; ++d) {  // the last that v does not have
    bool shared = d == summed;
    for (uint32_t i = 0; i < count; ++i) shared |= batch[i] == d;
    if (!shared) m->query = d;
  }
  int64_t query = m->query, key = m->key;
  if (query < 0 || key < 0) return false;
  ir_value_t* scores = before_softmax(m, m->probabilities, key);
  if (!scores || !find_below(m, scores)) return false;
  m->low_query = m->query, m->low_key = m->key;
  m->query = query, m->key = key;
  return true;
}

static void forget(ir_op_t* op) {
  if (!op || op->results[0].uses) return;
  ir_op_t* operands[] = {ir_operand(op, 0)->def, ir_operand(op, 1)->def};
  ir_op_erase(op);
  for (uint32_t i = 0; i < 2; ++i) {
    bool own = operands[i] && ir_is(operands[i], GRAPH_TRANSPOSE) && !operands[i]->results[0].uses;
    if (own && (i == 0 || operands[1] != operands[0])) ir_op_erase(operands[i]);
  }
}

static bool find_parts(match_t* m, ir_op_t* op, parts_t* x) {
  if (match_side(m, op, true) && read_parts(m, x)) return true;
  forget(m->turned);
  if (match_side(m, op, false) && read_parts(m, x)) return true;
  forget(m->turned);
  return false;
}

void attention_forget(attention_found_t* found, const ir_op_t* before, ir_op_t* product) {
  while (product->prev != before) ir_op_erase(product->prev);
  forget(found->turned);
}

attention_found_t attention_match(ir_context_t* ctx, ir_op_t* op) {
  match_t m = {.ctx = ctx};
  parts_t x;
  int64_t summed;
  attention_found_t none = {NULL, NULL, NULL};
  if (!ir_is(op, GRAPH_CONTRACT) || graph_attr_one(op, GRAPH_ATTR_lhs_contract, &summed) != 1) return none;
  if (!ir_type_is_float(op->results[0].type->element)) return none;
  if (!find_parts(&m, op, &x)) return none;
  ir_builder_t b = ir_builder_before(ctx, op);
  x.q.value = without_scale(&m, x.q.value), x.k.value = without_scale(&m, x.k.value);
  ir_value_t* low = ir_result(m.scores, 0);
  const ir_type_t* element = common_element(&m, x.q.value, x.k.value, x.v.value);
  side_t values = by_probabilities(&x);
  ir_value_t *operands[4], *mask = all_masks(&m, &b);
  operands[0] = arranged(&b, &x.q, x.low, x.low_count, dim_of(&x.q, m.low_query), x.q.summed, low);
  operands[1] = arranged(&b, &x.k, x.low, x.low_count, dim_of(&x.k, m.low_key), x.k.summed, low);
  operands[2] = arranged(&b, &values, x.high, x.high_count, values.summed, x.width, m.probabilities);
  const ir_type_t* high = operands[2]->type;
  if (m.level_count) operands[2] = lead_as(&b, operands[2], operands[0]->type);
  for (int i = 0; i < 3; ++i) operands[i] = cast_up(&b, operands[i], element);
  if (mask) {
    int64_t perm[GRAPH_MAX_RANK];
    memcpy(perm, x.low, sizeof(*perm) * (size_t)x.low_count);
    perm[x.low_count] = m.low_query, perm[x.low_count + 1] = m.low_key;
    operands[3] = graph_transpose(&b, mask, perm);
  }
  ir_op_t* attention = build_op(&m, &b, operands, mask ? 4 : 3);
  ir_value_t* result = ir_result(attention, 0);
  if (m.level_count) result = lead_as(&b, result, high);
  return (attention_found_t){attention, in_order(&b, &x, result), m.turned};
}
