// What constants, control flow, calls, dispatches and regions must look like: the rules of ops whose results are as
// large as something else says.
#include <string.h>

#include "dialects/graph_shape.h"

//===----------------------------------------------------------------------------------------------------------------===
// Scalars and constants
//===----------------------------------------------------------------------------------------------------------------===

bool shape_constant(graph_sizer_t* s, graph_shape_t* out) {
  const ir_type_t* type = s->op->results[0].type;
  const ir_attr_t* value = graph_get_value(s->op);
  out->rank = -1;
  if (!ir_type_is_tensor(type)) {
    bool fits = ir_type_is_float(type) ? value->kind == IR_ATTR_FLOAT : value->kind == IR_ATTR_INTEGER;
    return fits || shape_error(s, "has a value that is no '%s'", ir_type_str(s->ctx, type));
  }
  if (value->kind != IR_ATTR_ELEMENTS || value->type->rank != type->rank || value->type->element != type->element) {
    return shape_error(s, "has a value that is not of its result's type '%s'", ir_type_str(s->ctx, type));
  }
  out->rank = type->rank;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (value->type->dims[i] == IR_DYNAMIC) return shape_error(s, "has a value of unknown size");
    out->dims[i] = graph_size(value->type->dims[i]);
  }
  return true;
}

bool shape_run_time_dim(graph_sizer_t* s, graph_shape_t* out) {
  const ir_type_t* type = shape_type(s, 0);
  out->rank = -1;
  if (!ir_type_is_tensor(type) || graph_get_index(s->op) >= type->rank) {
    return shape_error(s, "asks for dimension %lld of '%s'", (long long)graph_get_index(s->op),
                       ir_type_str(s->ctx, type));
  }
  return s->op->results[0].type->kind == IR_TYPE_INDEX || shape_error(s, "gives an index");
}

// Between a scalar and the tensor of rank 0 that holds it.
bool shape_scalar(graph_sizer_t* s, graph_shape_t* out) {
  const ir_type_t *from = shape_type(s, 0), *to = s->op->results[0].type;
  bool makes = ir_is(s->op, GRAPH_TO_TENSOR);
  const ir_type_t *scalar = makes ? from : to, *tensor = makes ? to : from;
  out->rank = -1;
  if (ir_type_is_tensor(scalar) || !ir_type_is_tensor(tensor) || tensor->rank || tensor->element != scalar) {
    return shape_error(s, "goes between a scalar and a tensor of it, not from '%s' to '%s'", ir_type_str(s->ctx, from),
                       ir_type_str(s->ctx, to));
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Regions
//===----------------------------------------------------------------------------------------------------------------===

static const ir_block_t* only_block(graph_sizer_t* s, uint32_t region) {
  const ir_block_t* block = s->op->regions[region].first;
  if (block && !block->next && block->last && ir_is(block->last, GRAPH_YIELD)) return block;
  shape_error(s, "needs one block in region #%u that ends in graph.yield", region);
  return NULL;
}

// A block on scalars that yields `yields` of them.
static bool takes_scalars(graph_sizer_t* s, uint32_t args, uint32_t yields) {
  const ir_block_t* block = only_block(s, 0);
  if (!block) return false;
  if (block->arg_count != args || block->last->operand_count != yields) {
    return shape_error(s, "has a region from %u to %u values, where %u to %u are needed", block->arg_count,
                       block->last->operand_count, args, yields);
  }
  for (uint32_t i = 0; i < args + yields; ++i) {
    const ir_type_t* type = i < args ? block->args[i]->type : ir_operand(block->last, i - args)->type;
    if (!ir_type_is_shaped(type) || !type->rank) continue;
    return shape_error(s, "has a region that takes or yields '%s', which is no scalar", ir_type_str(s->ctx, type));
  }
  return true;
}

bool shape_region(graph_sizer_t* s) {
  if (s->symbols) return true;  // verified
  const ir_op_t* op = s->op;
  switch (ir_code(op)) {
    case GRAPH_SORT_GENERIC:
      return takes_scalars(s, 2 * op->result_count, 1);
    case GRAPH_GENERIC:
      return takes_scalars(s, graph_get_maps(op)->count, op->result_count);
    default:
      return takes_scalars(s, 2 * op->result_count, op->result_count);
  }
}

typedef struct interval_t {
  int64_t low, high;
} interval_t;

// The values of an affine expression over an iteration space; false when they cannot be told.
static bool affine_range(const ir_affine_t* e, const int64_t* sizes, interval_t* out) {
  interval_t a, b;
  if (e->kind == IR_AFFINE_CONST) return *out = (interval_t){e->value, e->value}, true;
  if (e->kind == IR_AFFINE_SYMBOL) return false;
  if (e->kind == IR_AFFINE_DIM) return *out = (interval_t){0, sizes[e->value] - 1}, sizes[e->value] > 0;
  if (!affine_range(e->lhs, sizes, &a) || !affine_range(e->rhs, sizes, &b)) return false;
  if (e->kind == IR_AFFINE_ADD) {
    return !__builtin_add_overflow(a.low, b.low, &out->low) && !__builtin_add_overflow(a.high, b.high, &out->high);
  }
  if (b.low != b.high) return false;
  if (e->kind == IR_AFFINE_MUL) {
    bool fits = !__builtin_mul_overflow(a.low, b.low, &out->low) && !__builtin_mul_overflow(a.high, b.low, &out->high);
    if (b.low < 0) *out = (interval_t){out->high, out->low};
    return fits;
  }
  if (b.low < 1 || a.low < 0) return false;
  if (e->kind == IR_AFFINE_MOD) {
    *out = (interval_t){a.high < b.low ? a.low : 0, a.high < b.low ? a.high : b.low - 1};
  } else {
    int64_t up = e->kind == IR_AFFINE_CEILDIV ? b.low - 1 : 0;
    *out = (interval_t){(a.low + up) / b.low, (a.high + up) / b.low};
  }
  return true;
}

static bool affine_fits(const ir_affine_t* e, uint32_t dims, int depth) {
  if (depth > 64) return false;
  if (e->kind == IR_AFFINE_DIM) return e->value >= 0 && e->value < dims;
  if (e->kind == IR_AFFINE_CONST) return true;
  return e->kind != IR_AFFINE_SYMBOL && affine_fits(e->lhs, dims, depth + 1) && affine_fits(e->rhs, dims, depth + 1);
}

// The operand that map `k` indexes: inputs come first, what results start from last.
static uint32_t mapped_operand(const ir_op_t* op, uint32_t maps, uint32_t k) {
  uint32_t ins = maps - op->result_count;
  return k < ins ? k : op->operand_count - op->result_count + (k - ins);
}

static bool map_fits(graph_sizer_t* s, const ir_attr_t* maps, uint32_t k, int64_t* sizes) {
  const ir_affine_map_t* map = maps->items[k]->map;
  const ir_type_t* type = shape_type(s, mapped_operand(s->op, maps->count, k));
  if (!ir_type_is_tensor(type) || map->result_count != (uint32_t)type->rank || map->symbol_count ||
      map->dim_count != maps->items[0]->map->dim_count) {
    return shape_error(s, "has a map #%u that does not fit its operand", k);
  }
  for (uint32_t i = 0; i < map->result_count; ++i) {
    const ir_affine_t* e = map->results[i];
    if (!affine_fits(e, map->dim_count, 0)) return shape_error(s, "has a map #%u with unknown dimensions", k);
    if (e->kind != IR_AFFINE_DIM) continue;
    if (sizes[e->value] == IR_DYNAMIC) sizes[e->value] = type->dims[i];
    shape_agree(s, graph_size(sizes[e->value]), graph_size(type->dims[i]), "an iteration has one size");
  }
  return !s->failed;
}

bool shape_generic(graph_sizer_t* s, graph_shape_t* out) {
  const ir_attr_t *maps = graph_get_maps(s->op), *iterators = graph_get_iterators(s->op);
  uint32_t results = s->op->result_count, operands = s->op->operand_count, start = operands - results + s->result;
  if (!results || graph_get_outs(s->op) != results || maps->count < results || operands < maps->count) {
    return shape_error(s, "takes a map for each input and result, and a start for each result");
  }
  uint32_t rank = maps->items[0]->map->dim_count;
  int64_t sizes[GRAPH_MAX_RANK];
  if (rank > GRAPH_MAX_RANK) return shape_error(s, "iterates over more than %d dimensions", GRAPH_MAX_RANK);
  if (iterators->count != rank) return shape_error(s, "has %u iterators for %u dimensions", iterators->count, rank);
  for (uint32_t i = 0; i < rank; ++i) sizes[i] = IR_DYNAMIC;
  for (uint32_t k = 0; k < maps->count; ++k) {
    if (!map_fits(s, maps, k, sizes)) return false;
  }
  for (uint32_t k = 0; k < maps->count; ++k) {
    const ir_type_t* type = shape_type(s, mapped_operand(s->op, maps->count, k));
    for (int32_t i = 0; i < type->rank && type->dims[i] != IR_DYNAMIC; ++i) {
      interval_t range;
      if (!affine_range(maps->items[k]->map->results[i], sizes, &range)) continue;
      if (range.low < 0 || range.high >= type->dims[i])
        return shape_error(s, "has a map #%u that leaves its operand", k);
    }
  }
  return shape_region(s) && shape_of_operand(s, start, out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Control flow and calls
//===----------------------------------------------------------------------------------------------------------------===

static bool same_types(graph_sizer_t* s, const ir_type_t* have, const ir_type_t* want, const char* what, uint32_t i) {
  bool alike = have == want || (ir_type_is_tensor(have) && ir_type_is_tensor(want) && have->element == want->element &&
                                have->rank == want->rank);
  for (int32_t d = 0; alike && have != want && d < have->rank; ++d) {
    bool known = have->dims[d] != IR_DYNAMIC && want->dims[d] != IR_DYNAMIC;
    alike = !known || have->dims[d] == want->dims[d];
  }
  if (alike) return true;
  return shape_error(s, "has %s #%u of type '%s' where '%s' is needed", what, i, ir_type_str(s->ctx, have),
                     ir_type_str(s->ctx, want));
}

static bool is_flag(const ir_type_t* type) {
  const ir_type_t* scalar = ir_type_scalar(type);
  return (!ir_type_is_shaped(type) || ir_type_count(type) == 1) && ir_type_is_int(scalar) && scalar->width == 1;
}

static bool yields_results(graph_sizer_t* s, const ir_block_t* block) {
  if (block->last->operand_count != s->op->result_count) {
    return shape_error(s, "has %u results, and a region that yields %u", s->op->result_count,
                       block->last->operand_count);
  }
  for (uint32_t i = 0; i < s->op->result_count; ++i) {
    if (!same_types(s, ir_operand(block->last, i)->type, s->op->results[i].type, "yielded value", i)) return false;
  }
  return true;
}

static bool takes_operands(graph_sizer_t* s, const ir_block_t* block) {
  if (block->arg_count != s->op->operand_count) {
    return shape_error(s, "has %u operands, and a region that takes %u", s->op->operand_count, block->arg_count);
  }
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (!same_types(s, block->args[i]->type, shape_type(s, i), "block argument", i)) return false;
  }
  return true;
}

// All that there is to say of the op is said once, with its first result.
static bool is_checked(const graph_sizer_t* s, graph_shape_t* out) {
  out->rank = -1;
  return s->result > 0;
}

bool shape_if(graph_sizer_t* s, graph_shape_t* out) {
  if (is_checked(s, out)) return true;
  if (!s->op->operand_count || !is_flag(shape_type(s, 0))) return shape_error(s, "takes an i1 as its condition");
  for (uint32_t r = 0; r < 2; ++r) {
    const ir_block_t* block = only_block(s, r);
    if (!block || !yields_results(s, block)) return false;
    if (block->arg_count) return shape_error(s, "has a region that takes values");
  }
  return true;
}

bool shape_while(graph_sizer_t* s, graph_shape_t* out) {
  if (is_checked(s, out)) return true;
  if (s->op->operand_count != s->op->result_count) return shape_error(s, "takes as many operands as it has results");
  for (uint32_t i = 0; i < s->op->result_count; ++i) {
    if (!same_types(s, s->op->results[i].type, shape_type(s, i), "result", i)) return false;
  }
  const ir_block_t *condition = only_block(s, 0), *body = condition ? only_block(s, 1) : NULL;
  if (!body || !takes_operands(s, condition) || !takes_operands(s, body)) return false;
  if (condition->last->operand_count != 1 || !is_flag(ir_operand(condition->last, 0)->type)) {
    return shape_error(s, "needs an i1 from its first region");
  }
  return yields_results(s, body);
}

bool shape_call(graph_sizer_t* s, graph_shape_t* out) {
  ir_op_t* module = s->op;
  if (is_checked(s, out)) return true;
  while (ir_op_parent(module)) module = ir_op_parent(module);
  const ir_op_t* callee = ir_symbol_find(s->ctx, module, graph_get_callee(s->op));
  const ir_attr_t* attr = callee ? ir_op_attr(callee, "function_type") : NULL;
  if (!attr || !attr->type) return shape_error(s, "calls '%s', which is no function here", graph_get_callee(s->op));
  const ir_type_t* type = attr->type;
  if (type->input_count != s->op->operand_count || type->result_count != s->op->result_count) {
    return shape_error(s, "passes %u values for %u results to '%s', which is of type '%s'", s->op->operand_count,
                       s->op->result_count, graph_get_callee(s->op), ir_type_str(s->ctx, type));
  }
  for (uint32_t i = 0; i < type->input_count; ++i) {
    if (!same_types(s, shape_type(s, i), type->inputs[i], "operand", i)) return false;
  }
  for (uint32_t i = 0; i < type->result_count; ++i) {
    if (!same_types(s, s->op->results[i].type, type->results[i], "result", i)) return false;
  }
  return true;
}

// Tensors in the places of tensors.
static bool stands_for(const ir_type_t* own, const ir_type_t* kept) {
  if (ir_type_is_tensor(own) != ir_type_is_tensor(kept)) return false;
  return !ir_type_is_tensor(own) || own->rank == kept->rank;
}

bool shape_call_import(graph_sizer_t* s, graph_shape_t* out) {
  if (is_checked(s, out)) return true;
  const char *name = graph_get_callee(s->op), *dot = strchr(name, '.');
  if (!dot || dot == name || !dot[1]) return shape_error(s, "calls '%s', which is not module.function", name);
  const ir_attr_t* attr = graph_get_type(s->op);
  if (!attr) return true;
  const ir_type_t* type = attr->type;
  bool fits = type->kind == IR_TYPE_FUNCTION && type->input_count == s->op->operand_count &&
              type->result_count == s->op->result_count;
  for (uint32_t i = 0; fits && i < type->input_count; ++i) fits = stands_for(shape_type(s, i), type->inputs[i]);
  for (uint32_t i = 0; fits && i < type->result_count; ++i) {
    fits = stands_for(s->op->results[i].type, type->results[i]);
  }
  return fits || shape_error(s, "has a type %s that is not its operands' and results'", ir_type_str(s->ctx, type));
}

static bool ties_fit(graph_sizer_t* s, uint32_t arguments) {
  int64_t tied[GRAPH_MAX_TIED];
  bool fit = ir_attr_ints(graph_get_tied(s->op), tied, GRAPH_MAX_TIED) == s->op->result_count &&
             s->op->result_count <= GRAPH_MAX_TIED;
  for (uint32_t i = 0; fit && i < s->op->result_count; ++i) {
    fit = tied[i] >= -1 && tied[i] < (int64_t)arguments;
    if (fit && tied[i] >= 0) {
      const ir_type_t *from = shape_type(s, (uint32_t)tied[i]), *to = s->op->results[i].type;
      fit = ir_type_is_tensor(from) && ir_type_is_tensor(to) && from->element == to->element && from->rank == to->rank;
    }
    for (uint32_t k = 0; fit && k < i; ++k) fit = tied[i] < 0 || tied[k] != tied[i];
  }
  return fit || shape_error(s, "has 'tied' that is no argument of the type of each result, or -1");
}

bool shape_extern(graph_sizer_t* s, graph_shape_t* out) {
  const ir_op_t* op = s->op;
  uint64_t arguments = (uint64_t)graph_get_arguments(op), at = arguments + 3, open = 0;
  if (at > op->operand_count) return shape_error(s, "takes its arguments and three numbers of workgroups");
  for (uint32_t i = 0; i < op->result_count; ++i) {
    if (!ir_type_is_tensor(op->results[i].type)) return shape_error(s, "gives tensors only");
    open += ir_type_open_dims(op->results[i].type);
    if (i < s->result) at += ir_type_open_dims(op->results[i].type);
  }
  if (!ties_fit(s, (uint32_t)arguments)) return false;
  if (arguments + 3 + open != op->operand_count) return shape_error(s, "takes a size for each '?' of its results");
  for (uint32_t i = (uint32_t)arguments; i < op->operand_count; ++i) {
    if (shape_type(s, i)->kind != IR_TYPE_INDEX) return shape_error(s, "has a number of workgroups that is no index");
  }
  const ir_type_t* type = op->results[s->result].type;
  out->rank = type->rank;
  for (int32_t i = 0; i < type->rank; ++i) {
    out->dims[i] = graph_size(type->dims[i]);
    if (type->dims[i] != IR_DYNAMIC) continue;
    if (s->symbols) out->dims[i] = s->symbols->operand(s, (uint32_t)at);
    ++at;
  }
  return true;
}

bool shape_import_resolved(graph_sizer_t* s, graph_shape_t* out) {
  out->rank = -1;
  return is_flag(s->op->results[0].type) || shape_error(s, "gives an i1");
}

bool shape_buffer(graph_sizer_t* s, graph_shape_t* out) {
  const ir_attr_t* value = graph_get_value(s->op);
  out->rank = -1;
  if (value->kind != IR_ATTR_STRING && value->kind != IR_ATTR_ELEMENTS) return shape_error(s, "needs text or elements");
  return s->op->results[0].type->kind == IR_TYPE_OPAQUE || shape_error(s, "gives a !util.buffer");
}

bool shape_assert(graph_sizer_t* s, graph_shape_t* out) {
  if (!s->op->operand_count) return shape_error(s, "takes a condition, and perhaps numbers for its message");
  for (uint32_t i = 1; i < s->op->operand_count; ++i) {
    if (shape_type(s, i)->kind != IR_TYPE_INDEX) return shape_error(s, "has a number that is no index");
  }
  return is_flag(shape_type(s, 0)) || shape_error(s, "takes an i1, not '%s'", ir_type_str(s->ctx, shape_type(s, 0)));
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

// `count` numbers of operands that are sizes.
static bool numbers_sizes(graph_sizer_t* s, const ir_attr_t* attr, uint32_t count) {
  bool list = attr && (attr->kind == IR_ATTR_DENSE_ARRAY || attr->kind == IR_ATTR_ARRAY);
  if (!attr && !count) return true;
  if (!list || attr->count != count) return shape_error(s, "needs a number of an operand for each of %u sizes", count);
  int64_t* numbers = ARENA_ARRAY(ir_context_arena(s->ctx), int64_t, count + 1);
  ir_attr_ints(attr, numbers, count);
  for (uint32_t i = 0; i < count; ++i) {
    bool is_operand = numbers[i] >= 0 && numbers[i] < s->op->operand_count;
    if (!is_operand || shape_type(s, (uint32_t)numbers[i])->kind != IR_TYPE_INDEX) {
      return shape_error(s, "has a size that is no index operand: number %lld", (long long)numbers[i]);
    }
  }
  return true;
}

bool shape_dispatch(graph_sizer_t* s, graph_shape_t* out) {
  uint32_t count = 0;
  if (is_checked(s, out)) return true;
  const ir_block_t* block = only_block(s, 0);
  if (!block || !takes_operands(s, block) || !yields_results(s, block)) return false;
  for (uint32_t i = 0; i < s->op->operand_count; ++i) count += ir_type_open_dims(shape_type(s, i));
  for (uint32_t i = 0; i < s->op->result_count; ++i) count += ir_type_open_dims(s->op->results[i].type);
  if (!numbers_sizes(s, graph_attr(s->op, GRAPH_ATTR_sizes), count)) return false;
  IR_FOR_OPS(op, block) {
    uint32_t results = 0;
    if (op == block->last) break;
    for (uint32_t i = 0; i < op->result_count; ++i) results += ir_type_open_dims(op->results[i].type);
    if (!numbers_sizes(s, graph_get_extents(op), results)) return false;
  }
  return true;
}
