// Where sizes of dimensions come from, as far as it can be told while lowering, and broadcasting by it. See
// lowering_size.h.
#include "import/lowering_size.h"

#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------------------------------------------------===
// Origins
//===----------------------------------------------------------------------------------------------------------------===

// The i-th '?' size among the trailing index operands of an op with that many other operands, by dimension.
static ir_value_t* size_operand(const ir_op_t* op, uint32_t others, int32_t dim) {
  uint32_t at = others;
  for (int32_t i = 0; i < dim; ++i) at += op->results[0].type->dims[i] == IR_DYNAMIC;
  return at < op->operand_count ? ir_operand(op, at) : NULL;
}

static bool listed(const int64_t* list, uint32_t count, int64_t value) {
  for (uint32_t i = 0; i < count; ++i) {
    if (list[i] == value) return true;
  }
  return false;
}

// A dimension of an operand: where a result dimension's size comes from. `operand` UINT32_MAX: from nowhere.
typedef struct origin_t {
  uint32_t operand;
  int32_t dim;
} origin_t;
static const origin_t nowhere = {UINT32_MAX, 0};

// The i-th dim of a type of that rank which is not in the list.
static int32_t unlisted_dim(int32_t rank, const int64_t* list, uint32_t count, int32_t i) {
  for (int32_t d = 0; d < rank; ++d) {
    if (!listed(list, count, d) && i-- == 0) return d;
  }
  return -1;
}

static origin_t contract_origin(const ir_op_t* op, int32_t dim) {
  int64_t batch[GRAPH_MAX_RANK], taken[2 * GRAPH_MAX_RANK];
  uint32_t batches = ir_op_ints(op, "lhs_batch", batch, GRAPH_MAX_RANK);
  if (dim < (int32_t)batches) return (origin_t){0, (int32_t)batch[dim]};
  dim -= (int32_t)batches;
  for (uint32_t side = 0; side < 2; ++side) {
    int32_t rank = ir_operand(op, side)->type->rank;
    uint32_t count = ir_op_ints(op, side ? "rhs_batch" : "lhs_batch", taken, GRAPH_MAX_RANK);
    count += ir_op_ints(op, side ? "rhs_contract" : "lhs_contract", taken + count, GRAPH_MAX_RANK);
    if (dim < rank - (int32_t)count) return (origin_t){side, unlisted_dim(rank, taken, count, dim)};
    dim -= rank - (int32_t)count;
  }
  return nowhere;
}

// Result dims of a gather that are not window dims are those of the indices.
static origin_t gather_origin(const ir_op_t* op, int32_t dim) {
  int64_t offsets[GRAPH_MAX_RANK];
  uint32_t count = ir_op_ints(op, "offset_dims", offsets, GRAPH_MAX_RANK);
  int64_t vector_dim = ir_op_int(op, "index_vector_dim", 0);
  int32_t at = 0;
  if (listed(offsets, count, dim)) return nowhere;
  for (int32_t i = 0; i < dim; ++i) at += !listed(offsets, count, i);
  return (origin_t){1, at < vector_dim ? at : at + 1};
}

static origin_t window_origin(const ir_op_t* op, int32_t dim) {
  graph_window_t w = graph_window_read(op);
  bool whole =
      w.sizes[dim] == 1 && w.strides[dim] == 1 && w.base_dilations[dim] == 1 && !w.pad_low[dim] && !w.pad_high[dim];
  return whole ? (origin_t){0, dim} : nowhere;
}

static origin_t elementwise_origin(const ir_op_t* op, int32_t dim) {
  uint32_t operand = 0;
  while (operand + 1 < op->operand_count && ir_operand(op, operand)->type->dims[dim] != IR_DYNAMIC) ++operand;
  return (origin_t){operand, dim};
}

static origin_t find_origin(const ir_op_t* op, int32_t dim) {
  int64_t list[GRAPH_MAX_RANK];
  graph_conv_t conv;
  if (graph_scalar_fn(op) >= 0) return elementwise_origin(op, dim);
  switch (ir_code(op)) {
    case GRAPH_TRANSPOSE:
      return ir_op_ints(op, "perm", list, GRAPH_MAX_RANK) ? (origin_t){0, (int32_t)list[dim]} : nowhere;
    case GRAPH_REDUCE: {
      uint32_t count = graph_get_dims(op, list);
      return (origin_t){0, unlisted_dim(ir_operand(op, 0)->type->rank, list, count, dim)};
    }
    case GRAPH_CONCAT:
      return ir_op_int(op, "axis", -1) == dim ? nowhere : elementwise_origin(op, dim);
    case GRAPH_CONTRACT:
      return contract_origin(op, dim);
    case GRAPH_CONV:
      conv = graph_conv_read(op);
      return conv.y_layout[dim] == 'n' && conv.x_layout[dim] == 'n' && conv.batch_groups == 1 ? (origin_t){0, dim}
                                                                                              : nowhere;
    case GRAPH_WINDOW:
      return window_origin(op, dim);
    case GRAPH_GATHER:
      return gather_origin(op, dim);
    case GRAPH_SCAN:
    case GRAPH_REVERSE:
    case GRAPH_DYNAMIC_UPDATE:
    case GRAPH_SCATTER:
      return (origin_t){0, dim};
    default:
      return nowhere;
  }
}

// Where the run-time size of a dimension comes from: an index value that is at hand, or dimension *i of *x, as near to
// the function's arguments as it can be told.
static ir_value_t* find_size(ir_value_t** x, int32_t* i, int64_t steps) {
  for (ir_op_t* op; (op = (*x)->def) != NULL && steps-- > 0;) {
    uint32_t code = ir_code(op);
    if (code == GRAPH_RESHAPE || code == GRAPH_BROADCAST || code == GRAPH_SLICE) return size_operand(op, 1, *i);
    if (code == GRAPH_DYNAMIC_SLICE) return size_operand(op, 1 + (uint32_t)ir_operand(op, 0)->type->rank, *i);
    if (code == GRAPH_IOTA) return size_operand(op, 0, *i);
    origin_t origin = find_origin(op, *i);
    if (origin.operand >= op->operand_count || origin.dim < 0) return NULL;
    ir_value_t* next = ir_operand(op, origin.operand);
    if (next->type->dims[origin.dim] != IR_DYNAMIC) return NULL;
    *x = next;
    *i = origin.dim;
  }
  return NULL;
}

static ir_value_t* near_size(ir_builder_t* b, ir_value_t* x, int32_t i, int64_t steps) {
  ir_value_t* value = x->type->dims[i] == IR_DYNAMIC ? find_size(&x, &i, steps) : NULL;
  return value ? value : graph_dim(b, x, (uint32_t)i);
}

ir_value_t* lower_size(ir_builder_t* b, ir_value_t* x, int32_t i) { return near_size(b, x, i, INT64_MAX); }

//===----------------------------------------------------------------------------------------------------------------===
// Equal sizes
//===----------------------------------------------------------------------------------------------------------------===

bool lower_size_constant(const ir_value_t* v, int64_t* out) {
  if (!ir_is(v->def, GRAPH_CONSTANT)) return false;
  *out = ir_op_int(v->def, "value", 0);
  return true;
}

static bool same_index(const ir_value_t* a, const ir_value_t* b, int depth) {
  int64_t x, y;
  if (a == b) return true;
  if (lower_size_constant(a, &x) && lower_size_constant(b, &y)) return x == y;
  if (!a->def || !b->def || ir_code(a->def) != ir_code(b->def)) return false;
  if (ir_code(a->def) == GRAPH_DIM) {
    return ir_operand(a->def, 0) == ir_operand(b->def, 0) &&
           ir_op_int(a->def, "index", 0) == ir_op_int(b->def, "index", 0);
  }
  if (ir_code(a->def) == GRAPH_TO_SCALAR) return ir_operand(a->def, 0) == ir_operand(b->def, 0);
  if (graph_scalar_fn(a->def) < 0 || depth > 6) return false;
  for (uint32_t i = 0; i < a->def->operand_count; ++i) {
    if (!same_index(ir_operand(a->def, i), ir_operand(b->def, i), depth + 1)) return false;
  }
  return true;
}

bool lower_size_same(const ir_value_t* a, const ir_value_t* b) { return same_index(a, b, 0); }

// Strips what is added to it off a value.
static const ir_value_t* without_numbers(const ir_value_t* v, int64_t* sum) {
  for (int64_t number; v->def;) {
    bool add = ir_is(v->def, GRAPH_add), sub = ir_is(v->def, GRAPH_sub);
    const ir_value_t *x = add || sub ? ir_operand(v->def, 0) : NULL, *y = x ? ir_operand(v->def, 1) : NULL;
    if (y && lower_size_constant(y, &number)) {
      *sum += add ? number : -number;
      v = x;
    } else if (add && lower_size_constant(x, &number)) {
      *sum += number;
      v = y;
    } else {
      break;
    }
  }
  return v;
}

bool lower_size_distance(const ir_value_t* a, const ir_value_t* b, int64_t* out) {
  int64_t x = 0, y = 0;
  bool same = lower_size_same(without_numbers(a, &x), without_numbers(b, &y));
  *out = x - y;
  return same;
}

// Whether `size` is what x and other sizes broadcast to.
static bool is_common_of(const ir_value_t* size, const ir_value_t* x, int depth) {
  ir_value_t *a, *b;
  if (lower_size_same(size, x)) return true;
  if (depth > 6 || !graph_common_parts(size, &a, &b)) return false;
  return is_common_of(a, x, depth + 1) || is_common_of(b, x, depth + 1);
}

ir_value_t* lower_size_common(ir_builder_t* b, ir_value_t* x, ir_value_t* y) {
  if (is_common_of(x, y, 0)) return x;
  return is_common_of(y, x, 0) ? y : graph_common_size(b, x, y);
}

// FAR: each op of a long chain is asked for; what is behind passes/sizes.c finds.
enum { MAX_NAMES = 16, MAX_DEPTH = 8, FAR = 1000 };

// A sum of names that the model gives to sizes, and a number.
typedef struct names_t {
  struct {
    const char* text;
    size_t length;
  } items[MAX_NAMES];
  uint32_t count;
  int64_t number;
  bool unbounded;  // without_bound of each
} names_t;

static bool same_names(const names_t* x, const names_t* y) {
  bool same = x->count == y->count && x->number == y->number;
  for (uint32_t i = 0; same && i < x->count; ++i) {
    same =
        x->items[i].length == y->items[i].length && memcmp(x->items[i].text, y->items[i].text, x->items[i].length) == 0;
  }
  return same;
}

// "past + 1", as exporters write it.
static bool add_text(names_t* out, const char* text) {
  for (const char* end; *text; text = *end ? end + 1 : end) {
    end = text + strcspn(text, "+");
    const char* last = end;
    while (*text == ' ') ++text;
    while (last > text && last[-1] == ' ') --last;
    size_t digits = strspn(text, "0123456789");
    if (last == text || out->count == MAX_NAMES) return false;
    if (digits == (size_t)(last - text)) {
      if (digits > 9) return false;
      out->number += strtol(text, NULL, 10);
      continue;
    }
    uint32_t at = out->count++;
    for (; at && strncmp(out->items[at - 1].text, text, (size_t)(last - text)) > 0; --at) {
      out->items[at] = out->items[at - 1];
    }
    out->items[at].text = text, out->items[at].length = (size_t)(last - text);
  }
  return true;
}

// What the model calls a dimension of an argument of the function.
static const char* declared_name(const ir_value_t* x, int32_t i) {
  const ir_op_t* func = x->block && x->block->parent ? x->block->parent->parent : NULL;
  const ir_attr_t* names = func ? ir_op_attr(func, LOWER_SIZE_NAMES) : NULL;
  names = names && x->index < names->count ? names->items[x->index] : NULL;
  if (!names || names->kind != IR_ATTR_ARRAY || (uint32_t)i >= names->count) return NULL;
  return names->items[i]->kind == IR_ATTR_STRING ? names->items[i]->text : NULL;
}

static bool add_value(names_t* out, const ir_value_t* v, int depth);

static bool add_dim(names_t* out, ir_value_t* x, int32_t i, int depth) {
  const ir_value_t* size = x->type->dims[i] == IR_DYNAMIC ? find_size(&x, &i, FAR) : NULL;
  if (size) return add_value(out, size, depth + 1);
  if (x->type->dims[i] != IR_DYNAMIC) return out->number += x->type->dims[i], x->type->dims[i] < INT32_MAX;
  if (ir_is(x->def, GRAPH_CONCAT) && depth < MAX_DEPTH) {
    bool fits = true;
    for (uint32_t k = 0; fits && k < x->def->operand_count; ++k)
      fits = add_dim(out, ir_operand(x->def, k), i, depth + 1);
    return fits;
  }
  const char* name = x->def ? NULL : declared_name(x, i);
  return name && *name && add_text(out, name);
}

// What a size is that a constant other than 0 and 1 bounds: a part of a table of so many rows.
static const ir_value_t* without_bound(const ir_value_t* v) {
  int64_t number;
  while (ir_is(v->def, GRAPH_min)) {
    const ir_value_t *x = ir_operand(v->def, 0), *y = ir_operand(v->def, 1);
    bool first = lower_size_constant(x, &number) && number > 1;
    if (!first && !(lower_size_constant(y, &number) && number > 1)) break;
    v = first ? y : x;
  }
  return v;
}

// The smaller of two that the model calls the same.
static bool add_min(names_t* out, const ir_op_t* min, int depth) {
  names_t x = {.unbounded = out->unbounded}, y = x;
  const ir_value_t *first = ir_operand(min, 0), *second = ir_operand(min, 1);
  return add_value(&x, first, depth + 1) && add_value(&y, second, depth + 1) && same_names(&x, &y) &&
         add_value(out, first, depth + 1);
}

static bool add_value(names_t* out, const ir_value_t* v, int depth) {
  int64_t number;
  if (out->unbounded) v = without_bound(v);
  if (!v->def || depth > MAX_DEPTH) return false;
  if (ir_is(v->def, GRAPH_min)) return add_min(out, v->def, depth);
  if (lower_size_constant(v, &number)) return out->number += number, number >= 0 && number < INT32_MAX;
  if (ir_is(v->def, GRAPH_DIM)) return add_dim(out, ir_operand(v->def, 0), (int32_t)graph_get_index(v->def), depth + 1);
  return ir_is(v->def, GRAPH_add) && add_value(out, ir_operand(v->def, 0), depth + 1) &&
         add_value(out, ir_operand(v->def, 1), depth + 1);
}

static bool agree(const ir_value_t* a, const ir_value_t* b, bool unbounded) {
  names_t x = {.unbounded = unbounded}, y = x;
  return add_value(&x, a, 0) && add_value(&y, b, 0) && same_names(&x, &y);
}

bool lower_size_agrees(const ir_value_t* a, const ir_value_t* b) { return lower_size_same(a, b) || agree(a, b, false); }

bool lower_size_meets(const ir_value_t* a, const ir_value_t* b) {
  return lower_size_same(without_bound(a), without_bound(b)) || agree(a, b, true);
}

//===----------------------------------------------------------------------------------------------------------------===
// Broadcasting
//===----------------------------------------------------------------------------------------------------------------===

// An operand, its sizes and those that it is to have.
typedef struct side_t {
  ir_value_t* v;
  int32_t rank;
  int64_t from[GRAPH_MAX_RANK], to[GRAPH_MAX_RANK];
  ir_value_t *from_values[GRAPH_MAX_RANK], *to_values[GRAPH_MAX_RANK];
} side_t;

static void read_side(ir_builder_t* b, side_t* side, ir_value_t* v, int32_t rank) {
  side->v = v;
  side->rank = rank;
  for (int32_t i = 0; i < rank; ++i) {
    int32_t own = i - (rank - v->type->rank);
    side->from[i] = side->to[i] = own < 0 ? 1 : v->type->dims[own];
    side->from_values[i] = side->to_values[i] = side->from[i] == IR_DYNAMIC ? near_size(b, v, own, FAR) : NULL;
  }
}

// An operand keeps a size that the model says is the common one: they must agree.
static void set_size(side_t* side, int32_t i, int64_t size, ir_value_t* value) {
  bool agrees = side->from[i] == IR_DYNAMIC && size == IR_DYNAMIC && lower_size_meets(side->from_values[i], value);
  if (!agrees) side->to[i] = size, side->to_values[i] = value;
}

// The operand that does not fit those before it, or NULL.
static const side_t* find_common_dim(ir_builder_t* b, side_t* sides, uint32_t count, int32_t i) {
  int64_t size = 1;
  ir_value_t* value = NULL;
  for (uint32_t k = 0; k < count; ++k) {
    int64_t own = sides[k].from[i];
    ir_value_t* own_value = sides[k].from_values[i];
    if (size == IR_DYNAMIC && own == IR_DYNAMIC) {
      if (!lower_size_meets(value, own_value)) value = lower_size_common(b, value, own_value);
    } else if (size == 1 || (size == IR_DYNAMIC && own != 1)) {
      size = own, value = own_value;
    } else if (own != 1 && own != IR_DYNAMIC && own != size) {
      return &sides[k];
    }
  }
  for (uint32_t k = 0; k < count; ++k) set_size(&sides[k], i, size, value);
  return NULL;
}

static ir_value_t* widened(ir_builder_t* b, const side_t* side) {
  int64_t map[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  int32_t own = side->v->type->rank;
  bool same = own == side->rank;
  for (int32_t i = 0, count = 0; i < side->rank; ++i) {
    same &= side->from[i] == side->to[i];
    if (side->to[i] != IR_DYNAMIC) continue;
    dynamic[count++] = side->to_values[i];
    if (same) same = lower_size_same(side->from_values[i], side->to_values[i]);
  }
  if (same) return side->v;
  for (int32_t i = 0; i < own; ++i) map[i] = side->rank - own + i;
  return graph_broadcast(b, side->v, ir_type_tensor(b->ctx, side->v->type->element, side->rank, side->to), map,
                         dynamic);
}

bool lower_broadcast(ir_builder_t* b, ir_value_t** values, uint32_t count) {
  int32_t rank = 0;
  side_t few[4], *sides = count <= 4 ? few : ARENA_ARRAY(ir_context_arena(b->ctx), side_t, count);
  for (uint32_t k = 0; k < count; ++k) rank = values[k]->type->rank > rank ? values[k]->type->rank : rank;
  if (rank > GRAPH_MAX_RANK) return ir_error(b->ctx, b->loc, "rank %d is above %d", rank, GRAPH_MAX_RANK);
  for (uint32_t k = 0; k < count; ++k) read_side(b, &sides[k], values[k], rank);
  for (int32_t i = 0; i < rank; ++i) {
    const side_t* wrong = find_common_dim(b, sides, count, i);
    if (!wrong) continue;
    const side_t* other = sides;
    while (other->from[i] == 1 || other->from[i] == IR_DYNAMIC) ++other;
    return ir_error(b->ctx, b->loc, "shapes %s and %s do not broadcast: sizes %lld and %lld at dimension %d",
                    ir_type_str(b->ctx, other->v->type), ir_type_str(b->ctx, wrong->v->type), (long long)other->from[i],
                    (long long)wrong->from[i], i);
  }
  for (uint32_t k = 0; k < count; ++k) values[k] = widened(b, &sides[k]);
  return true;
}

bool lower_broadcast_together(ir_builder_t* b, ir_value_t** x, ir_value_t** y) {
  ir_value_t* values[] = {*x, *y};
  if (!lower_broadcast(b, values, 2)) return false;
  *x = values[0], *y = values[1];
  return true;
}

ir_value_t* lower_broadcast_onto(ir_builder_t* b, ir_value_t* x, ir_value_t* like) {
  side_t side, target;
  read_side(b, &side, x, like->type->rank);
  read_side(b, &target, like, like->type->rank);
  for (int32_t i = 0; i < side.rank; ++i) set_size(&side, i, target.from[i], target.from_values[i]);
  return widened(b, &side);
}
