// reduce: by the kind of its region where it combines one operand at a time, as index of the extreme where two are
// chosen together, else with the region as it is.
#include <math.h>
#include <string.h>

#include "dialects/stablehlo.h"
#include "import/stablehlo/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// Kinds
//===----------------------------------------------------------------------------------------------------------------===

static const char* kind_of_op(const ir_op_t* op, const ir_type_t* type) {
  static const struct {
    uint32_t code;
    const char *kind, *unsigned_kind, *bool_kind;
  } rows[] = {{STABLEHLO_ADD, "add", "add", "or"},      {STABLEHLO_MULTIPLY, "mul", "mul", "and"},
              {STABLEHLO_MAXIMUM, "max", "maxu", "or"}, {STABLEHLO_MINIMUM, "min", "minu", "and"},
              {STABLEHLO_AND, "and", "and", "and"},     {STABLEHLO_OR, "or", "or", "or"},
              {STABLEHLO_XOR, "xor", "xor", "xor"}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (!ir_is(op, rows[i].code)) continue;
    if (lower_is_bool(type)) return rows[i].bool_kind;
    return lower_is_unsigned(type) ? rows[i].unsigned_kind : rows[i].kind;
  }
  return NULL;
}

const char* stablehlo_region_kind(const ir_region_t* region, uint32_t index, uint32_t count) {
  const ir_block_t* block = region->first;
  if (!block || block->next || !block->last || block->arg_count != 2 * count) return NULL;
  if (index >= block->last->operand_count) return NULL;
  const ir_op_t* op = ir_operand(block->last, index)->def;
  if (!op || op->operand_count != 2) return NULL;
  const ir_value_t *x = ir_operand(op, 0), *y = ir_operand(op, 1);
  const ir_value_t *a = block->args[index], *b = block->args[count + index];
  if (!((x == a && y == b) || (x == b && y == a))) return NULL;
  return kind_of_op(op, a->type);
}

//===----------------------------------------------------------------------------------------------------------------===
// Index of the extreme: (value, index), (value, index) -> the better of the two
//===----------------------------------------------------------------------------------------------------------------===

// What the region does for values x, y at places i, j.
static bool chooses(lower_probe_t* probe, double sign, bool last) {
  static const double samples[][2] = {{1, 2}, {2, 1}, {-3, 5}, {5, -3}, {4, 4}, {-7, -2}, {0, 7}, {7, 0}, {0, 0}};
  for (size_t s = 0; s < sizeof(samples) / sizeof(samples[0]); ++s) {
    for (int swap = 0; swap < 2; ++swap) {
      double i = swap ? 9 : 3, j = swap ? 3 : 9;
      double x = sign * samples[s][0], y = sign * samples[s][1], in[4] = {x, i, y, j}, out[4];
      if (!lower_probe_run(probe, in, out)) return false;
      bool first = x * sign > y * sign || (x == y && (last ? i > j : i < j));
      // Some regions break ties by order of arrival: in a sequential reduction that is the lower place.
      bool tie = x == y && swap;
      if (out[0] != (first ? x : y) || (!tie && out[1] != (first ? i : j))) return false;
    }
  }
  return true;
}

// Whether v counts the places along `dim`.
static bool is_places(const ir_value_t* v, int64_t dim) {
  int64_t dims[GRAPH_MAX_RANK];
  while (v->def && (ir_is(v->def, GRAPH_BROADCAST) || graph_scalar_fn(v->def) == SCALAR_cast)) {
    if (ir_is(v->def, GRAPH_BROADCAST)) {
      const ir_type_t* from = ir_operand(v->def, 0)->type;
      if (graph_get_dims(v->def, dims) != (uint32_t)from->rank) return false;
      int32_t source = 0;
      while (source < from->rank && dims[source] != dim) ++source;
      if (source == from->rank || from->dims[source] != v->type->dims[dim]) return false;
      dim = source;
    }
    v = ir_operand(v->def, 0);
  }
  return ir_is(v->def, GRAPH_IOTA) && ir_op_int(v->def, "axis", -1) == dim;
}

static bool lower_arg_reduce(lower_op_t* n, const int64_t* dims, uint32_t count, bool* done) {
  *done = false;
  ir_block_t* block = n->op->regions[0].first;
  if (n->op->operand_count != 4 || count != 1 || lower_is_float(n->in[1]->type) || !is_places(n->in[1], dims[0])) {
    return true;
  }
  bool is_unsigned = lower_is_unsigned(lower_in_type(n, 0));
  lower_probe_t probe;
  if (is_unsigned || !lower_probe_begin(n->l, block, &probe)) return is_unsigned || !probe.failed;
  for (int variant = 0; variant < 4; ++variant) {
    bool least = variant & 1, last = variant & 2;
    if (!lower_is_identity(least ? "min" : "max", n->in[2]) || !chooses(&probe, least ? -1 : 1, last)) continue;
    const ir_type_t* index = ir_type_scalar(lower_type(n->ctx, lower_out_type(n, 1)));
    graph_extreme_t extreme = {.axis = dims[0], .least = least, .last = last, .index = index};
    ir_op_t* op = graph_arg_reduce(n->b, n->in[0], &extreme);
    for (uint32_t i = 0; i < 2; ++i) n->out[i].v = ir_result(op, i);
    return *done = true;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// reduce
//===----------------------------------------------------------------------------------------------------------------===

const ir_type_t* stablehlo_reduced_type(lower_op_t* n, const ir_type_t* type, const int64_t* dims, uint32_t count) {
  int64_t kept[GRAPH_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < type->rank; ++i) {
    bool reduced = false;
    for (uint32_t k = 0; k < count; ++k) reduced |= dims[k] == i;
    if (!reduced) kept[rank++] = type->dims[i];
  }
  return ir_type_tensor(n->ctx, type->element, rank, kept);
}

lower_list_t stablehlo_flatten(const lower_op_t* n, uint32_t first, uint32_t count) {
  lower_list_t list = LOWER_LIST(n->ctx);
  for (uint32_t i = 0; i < count; ++i) lower_flatten(n->values[first + i], &list);
  return list;
}

// A comparator has the two elements of an operand side by side: (a.re, b.re, a.im, b.im) for (a.re, a.im, b.re, b.im).
static void pair_arguments(const lower_op_t* n, ir_block_t* block) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < n->op->operand_count; ++i, at += 2) {
    if (!n->values[i].im) continue;
    ir_value_t** args = block->args + at;
    ir_value_t* second = args[1];
    args[1] = args[2];
    args[2] = second;
    args[1]->index = at + 1;
    args[2]->index = at + 2;
    at += 2;
  }
}

bool stablehlo_with_region(lower_op_t* n, uint32_t code, const lower_list_t* operands, const ir_type_t* const* types,
                           const ir_named_attr_t* attrs, uint32_t attr_count) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    bool complex = ir_type_scalar(n->op->results[i].type)->kind == IR_TYPE_COMPLEX;
    if (complex != (n->values[i].im != NULL))
      return lower_error(n, "has result %u of another type than operand %u", i, i);
    count += complex ? 2 : 1;
  }
  const ir_type_t** scalars = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, count + 1);
  ir_value_t** results = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) scalars[i] = ir_type_tensor(n->ctx, types[i]->element, 0, NULL);
  ir_op_t* op = ir_build(n->b, &(ir_op_state_t){.info = ir_context_op(n->ctx, code),
                                                .operands = operands->items,
                                                .operand_count = operands->count,
                                                .result_types = types,
                                                .result_count = count,
                                                .attrs = attrs,
                                                .attr_count = attr_count,
                                                .region_count = 1});
  ir_block_t* block = n->op->regions[0].first;
  if (!block || block->next) return lower_error(n, "needs a region of one block");
  bool is_sort = code == GRAPH_SORT_GENERIC;
  const ir_type_t* flag = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 1), 0, NULL);
  if (!lower_region(n->l, block, &op->regions[0], is_sort ? &flag : scalars, is_sort ? 1 : count)) return false;
  if (is_sort) pair_arguments(n, op->regions[0].first);
  for (uint32_t i = 0; i < count; ++i) results[i] = ir_result(op, i);
  ir_value_t* const* next = results;
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    n->out[i] = lower_unflatten(n->l, n->op->results[i].type, &next);
  }
  return true;
}

// Sums and their like: both parts of complex numbers each for itself.
static void reduce_kind(lower_op_t* n, uint32_t i, const int64_t* dims, uint32_t dim_count, const char* kind) {
  lower_value_t x = n->values[i], start = n->values[n->op->result_count + i];
  n->out[i].v = lower_with_init(n, kind, graph_reduce(n->b, x.v, dims, dim_count, kind), start.v);
  if (x.im) n->out[i].im = lower_with_init(n, kind, graph_reduce(n->b, x.im, dims, dim_count, kind), start.im);
}

static bool check_reduce(lower_op_t* n) {
  uint32_t count = n->op->result_count;
  if (!count || n->op->operand_count != 2 * count) return lower_error(n, "needs one start value for each operand");
  ir_block_t* block = n->op->regions[0].first;
  if (!block || block->next || block->arg_count != 2 * count || !block->last) {
    return lower_error(n, "needs a region with %u arguments", 2 * count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t *x = n->in[i], *start = n->in[count + i];
    if (!x || !start) return lower_unsupported(n, "tensors are");
    bool fits = ir_type_is_tensor(x->type) && ir_type_is_tensor(start->type) && start->type->rank == 0 &&
                x->type->rank == n->in[0]->type->rank && start->type->element == x->type->element &&
                !n->values[i].im == !n->values[count + i].im;
    if (!fits) return lower_error(n, "has operands and start values that do not fit");
  }
  return true;
}

bool stablehlo_check_reduce(lower_op_t* n) { return check_reduce(n); }

bool stablehlo_lower_reduce(lower_op_t* n) {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t rank_count, count = n->op->result_count;
  if (!check_reduce(n) || !lower_dims(n, "dimensions", n->in[0]->type->rank, dims, &rank_count)) return false;
  bool done = false, kinds = true, complex = false;
  for (uint32_t i = 0; i < count; ++i) {
    kinds &= stablehlo_kind_fits(&n->values[i], stablehlo_region_kind(&n->op->regions[0], i, count));
    complex |= n->values[i].im != NULL;
  }
  for (uint32_t i = 0; kinds && i < count; ++i) {
    reduce_kind(n, i, dims, rank_count, stablehlo_region_kind(&n->op->regions[0], i, count));
  }
  if (kinds) return true;
  if (!complex && !lower_arg_reduce(n, dims, rank_count, &done)) return false;
  if (done) return true;
  lower_list_t operands = stablehlo_flatten(n, 0, 2 * count);
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, operands.count);
  for (uint32_t i = 0; i < operands.count / 2; ++i) {
    types[i] = stablehlo_reduced_type(n, operands.items[i]->type, dims, rank_count);
  }
  ir_named_attr_t attr = {"dims", ir_attr_i64_array(n->ctx, dims, rank_count)};
  return stablehlo_with_region(n, GRAPH_REDUCE_GENERIC, &operands, types, &attr, 1);
}
