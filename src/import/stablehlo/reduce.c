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

// `code` with all operands and start values and the op's region, which works on scalars.
bool stablehlo_with_region(lower_op_t* n, uint32_t code, ir_value_t* const* operands, uint32_t operand_count,
                           const ir_type_t* const* types, const ir_named_attr_t* attrs, uint32_t attr_count) {
  uint32_t count = n->op->result_count;
  const ir_type_t** scalars = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) scalars[i] = ir_type_tensor(n->ctx, types[i]->element, 0, NULL);
  ir_op_state_t state = {.info = ir_context_op(n->ctx, code),
                         .operands = operands,
                         .operand_count = operand_count,
                         .result_types = types,
                         .result_count = count,
                         .attrs = attrs,
                         .attr_count = attr_count,
                         .region_count = 1};
  ir_op_t* op = ir_build(n->b, &state);
  ir_block_t* block = n->op->regions[0].first;
  if (!block || block->next) return lower_error(n, "needs a region of one block");
  bool is_sort = code == GRAPH_SORT_GENERIC;
  const ir_type_t* flag = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 1), 0, NULL);
  if (!lower_region(n->l, block, &op->regions[0], is_sort ? &flag : scalars, is_sort ? 1 : count)) return false;
  for (uint32_t i = 0; i < count; ++i) n->out[i].v = ir_result(op, i);
  return true;
}

static bool reduce_parts(lower_op_t* n, const int64_t* dims, uint32_t count) {
  const char* kind = stablehlo_region_kind(&n->op->regions[0], 0, 1);
  if (!kind || strcmp(kind, "add") != 0) return lower_unsupported(n, "sums of complex numbers are");
  for (int part = 0; part < 2; ++part) {
    ir_value_t* start = part ? n->values[1].im : n->values[1].v;
    if (!start) return lower_error(n, "needs a complex start value");
    ir_value_t* x = graph_reduce(n->b, part ? n->values[0].im : n->values[0].v, dims, count, kind);
    *(part ? &n->out[0].im : &n->out[0].v) = lower_with_init(n, kind, x, start);
  }
  return true;
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
                x->type->rank == n->in[0]->type->rank && start->type->element == x->type->element;
    if (!fits) return lower_error(n, "has operands and start values that do not fit");
  }
  return true;
}

bool stablehlo_check_reduce(lower_op_t* n) { return check_reduce(n); }

bool stablehlo_lower_reduce(lower_op_t* n) {
  int64_t dims[GRAPH_MAX_RANK];
  uint32_t rank_count, count = n->op->result_count;
  if (!check_reduce(n) || !lower_dims(n, "dimensions", n->in[0]->type->rank, dims, &rank_count)) return false;
  if (n->values[0].im) return count == 1 ? reduce_parts(n, dims, rank_count) : lower_unsupported(n, "one operand is");
  bool done, kinds = true;
  for (uint32_t i = 0; i < count; ++i) kinds &= stablehlo_region_kind(&n->op->regions[0], i, count) != NULL;
  for (uint32_t i = 0; kinds && i < count; ++i) {
    const char* kind = stablehlo_region_kind(&n->op->regions[0], i, count);
    ir_value_t* x = graph_reduce(n->b, n->in[i], dims, rank_count, kind);
    n->out[i].v = lower_with_init(n, kind, x, n->in[count + i]);
  }
  if (kinds) return true;
  if (!lower_arg_reduce(n, dims, rank_count, &done)) return false;
  if (done) return true;
  const ir_type_t** types = ARENA_ARRAY(ir_context_arena(n->ctx), const ir_type_t*, count);
  for (uint32_t i = 0; i < count; ++i) types[i] = stablehlo_reduced_type(n, n->in[i]->type, dims, rank_count);
  ir_named_attr_t attr = {"dims", ir_attr_i64_array(n->ctx, dims, rank_count)};
  return stablehlo_with_region(n, GRAPH_REDUCE_GENERIC, n->in, 2 * count, types, &attr, 1);
}
