// The tensor dialect.
#include "dialects/tensor.h"

#include <string.h>

#include "dialects/graph_shape.h"
#include "import/linalg/ops.h"

//===----------------------------------------------------------------------------------------------------------------===
// Mixed lists
//===----------------------------------------------------------------------------------------------------------------===

bool mixed_read(lower_op_t* n, const char* name, uint32_t* operand, mixed_t* out) {
  out->count = ir_op_ints(n->op, name, out->values, GRAPH_MAX_RANK);
  if (out->count > GRAPH_MAX_RANK) return lower_error(n, "has too many entries in '%s'", name);
  for (uint32_t i = 0; i < out->count; ++i) {
    if (out->values[i] != IR_DYNAMIC) continue;
    if (*operand >= n->op->operand_count) return lower_error(n, "needs an operand for each '?' in '%s'", name);
    ir_value_t* v = n->in[(*operand)++];
    if (ir_type_is_tensor(v->type) && v->type->rank) return lower_unsupported(n, "sizes that are numbers are");
    out->v[i] = lower_index(n->b, v);
    lower_constant_index(out->v[i], &out->values[i]);
  }
  return true;
}

ir_value_t* mixed_index(lower_op_t* n, const mixed_t* list, uint32_t i) {
  return list->values[i] == IR_DYNAMIC ? list->v[i] : graph_index_constant(n->b, list->values[i]);
}

uint32_t mixed_dims(lower_op_t* n, const mixed_t* sizes, const ir_type_t* type, ir_value_t** out) {
  uint32_t count = 0;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) out[count++] = mixed_index(n, sizes, (uint32_t)i);
  }
  return count;
}

// The result's type as lowered; NULL after a diagnostic.
static const ir_type_t* result_type(lower_op_t* n) {
  const ir_type_t* type = lower_type(n->ctx, lower_out_type(n, 0));
  if (type && ir_type_is_tensor(type)) return type;
  lower_unsupported(n, "a ranked tensor of numbers is what it can give");
  return NULL;
}

// Operands from `first` on as the sizes of the result's '?' dims.
static bool size_operands(lower_op_t* n, const ir_type_t* type, uint32_t first, ir_value_t** out) {
  uint32_t count = 0;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] != IR_DYNAMIC) continue;
    if (first + count >= n->op->operand_count) return lower_error(n, "needs an operand for each '?' of its result");
    out[count] = lower_index(n->b, n->in[first + count]);
    ++count;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Making tensors
//===----------------------------------------------------------------------------------------------------------------===

static bool tensor_lower_empty(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  ir_value_t* sizes[GRAPH_MAX_RANK];
  if (!type || !size_operands(n, type, 0, sizes)) return false;
  return lower_return(n, lower_build(n, GRAPH_EMPTY, sizes, n->op->operand_count, type, NULL, 0));
}

static bool tensor_lower_splat(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  ir_value_t* sizes[GRAPH_MAX_RANK];
  if (!type || !n->op->operand_count || !size_operands(n, type, 1, sizes)) return false;
  return lower_return(n, graph_broadcast(n->b, lower_as_tensor(n->b, n->in[0]), type, NULL, sizes));
}

// Numbers that are all constants, as one constant; NULL when they are not.
static ir_value_t* constant_elements(lower_op_t* n, const ir_type_t* type) {
  uint32_t bytes = ir_type_bytes(type->element), count = n->op->operand_count;
  char* data = arena_alloc(ir_context_arena(n->ctx), (size_t)count * bytes + 1);
  for (uint32_t i = 0; i < count; ++i) {
    const ir_attr_t* value = ir_is(n->in[i]->def, GRAPH_CONSTANT) ? ir_op_attr(n->in[i]->def, "value") : NULL;
    if (!value || (value->kind != IR_ATTR_INTEGER && value->kind != IR_ATTR_FLOAT)) return NULL;
    scalar_store(type->element, (scalar_value_t){.f = value->number, .i = value->integer}, data + (size_t)i * bytes);
  }
  return graph_constant(n->b, ir_attr_elements_borrow(n->ctx, type, data, (size_t)count * bytes));
}

static bool tensor_lower_from_elements(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  uint32_t count = n->op->operand_count;
  if (!type) return false;
  if (ir_type_count(type) != count) return lower_error(n, "needs one operand for each element");
  ir_value_t* constant = constant_elements(n, type);
  if (constant) return lower_return(n, constant);
  int64_t one = 1;
  ir_value_t** parts = ARENA_ARRAY(ir_context_arena(n->ctx), ir_value_t*, count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    ir_value_t* v = lower_as_tensor(n->b, n->in[i]);
    if (v->type->rank || v->type->element != type->element) return lower_error(n, "needs numbers of its element type");
    parts[i] = graph_reshape(n->b, v, 1, &one, NULL);
  }
  if (!count) return lower_return(n, lower_build(n, GRAPH_EMPTY, NULL, 0, type, NULL, 0));
  return lower_return(n, graph_reshape(n->b, graph_concat(n->b, parts, count, 0), type->rank, type->dims, NULL));
}

// generate: the region on all indices at once.
static bool tensor_lower_generate(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  ir_block_t* block = n->op->regions[0].first;
  loops_t l = {.outs = 1};
  if (!type || !size_operands(n, type, 0, l.dynamic)) return false;
  if (!block || block->next || block->arg_count != (uint32_t)type->rank) {
    return lower_error(n, "needs a region with one index for each dimension");
  }
  l.rank = (uint32_t)type->rank;
  l.type = ir_type_with_element(n->ctx, type, ir_type_index(n->ctx));
  lower_value_t args[GRAPH_MAX_RANK] = {{0}}, *results;
  int64_t loops[GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < l.rank; ++i) {
    loops[i] = i;
    if (block->args[i]->uses) args[i].v = graph_iota(n->b, l.type, i, l.dynamic);
  }
  loops_map_from_list(n->ctx, loops, l.rank, l.rank, &l.maps[0]);
  uint32_t count;
  if (!loops_run(n, &l, block, args, &results, &count)) return false;
  if (count != 1 || !results[0].v) return lower_error(n, "needs a region that yields one number");
  return lower_return(n, loops_collect(n, &l, 0, results[0].v));
}

//===----------------------------------------------------------------------------------------------------------------===
// Sizes and shapes
//===----------------------------------------------------------------------------------------------------------------===

static bool tensor_lower_dim(lower_op_t* n) {
  ir_value_t *x = n->in[0], *index = n->in[1];
  int64_t i;
  bool in_memory = n->l->kernel && n->values[0].items && lower_constant_index(index, &i);
  if (in_memory && i >= 0 && i < lower_in_type(n, 0)->rank) return lower_return(n, n->values[0].items[1 + i].v);
  if (!ir_type_is_tensor(x->type)) return lower_unsupported(n, "tensors are");
  if (lower_constant_index(index, &i)) {
    if (i < 0 || i >= x->type->rank) return lower_error(n, "dimension %lld is out of range", (long long)i);
    return lower_return(n, graph_dim(n->b, x, (uint32_t)i));
  }
  if (ir_type_is_tensor(index->type) || !x->type->rank) return lower_unsupported(n, "a number as index is");
  ir_value_t* size = graph_dim(n->b, x, 0);
  for (i = 1; i < x->type->rank; ++i) {
    ir_value_t* here = graph_binary(n->b, SCALAR_eq, index, graph_index_constant(n->b, i));
    size = graph_select(n->b, here, graph_dim(n->b, x, (uint32_t)i), size);
  }
  return lower_return(n, size);
}

static bool tensor_lower_rank(lower_op_t* n) {
  return lower_return(n, graph_index_constant(n->b, n->in[0]->type->rank));
}

static bool tensor_lower_cast(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  if (!type) return false;
  // What the operand's type knows stays known.
  return lower_return(n, lower_fits(n->in[0]->type, type) ? n->in[0] : lower_coerce(n->l, n->in[0], type));
}

static bool tensor_lower_bitcast(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  if (!type) return false;
  if (ir_type_bytes(type->element) != ir_type_bytes(n->in[0]->type->element)) return lower_unsupported(n, NULL);
  return lower_return(n, graph_bitcast(n->b, n->in[0], type->element));
}

static bool tensor_lower_reshape(lower_op_t* n) {
  const ir_type_t *type = result_type(n), *shape = n->in[1]->type;
  ir_value_t* sizes[GRAPH_MAX_RANK];
  uint32_t count = 0;
  if (!type) return false;
  if (!ir_type_is_tensor(shape) || shape->rank != 1 || lower_is_float(shape) || shape->dims[0] != type->rank) {
    return lower_error(n, "needs a shape of %d integers", type->rank);
  }
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) sizes[count++] = lower_index_element(n->b, n->in[1], i);
  }
  int64_t from = ir_type_count(n->in[0]->type), to = ir_type_count(type);
  if (from != to && from != IR_DYNAMIC && to != IR_DYNAMIC) return lower_error(n, "changes the number of elements");
  return lower_return(n, graph_reshape(n->b, n->in[0], type->rank, type->dims, sizes));
}

// Result dims of expand_shape that no operand gives: the group's size divided by its known sizes.
static ir_value_t* divided_size(lower_op_t* n, uint32_t group, const int64_t* members, uint32_t count,
                                const ir_type_t* type) {
  int64_t known = 1;
  for (uint32_t i = 0; i < count; ++i) known *= type->dims[members[i]] == IR_DYNAMIC ? 1 : type->dims[members[i]];
  ir_value_t* size = graph_dim(n->b, n->in[0], group);
  return lower_index_binary(n->b, SCALAR_div, size, graph_index_constant(n->b, known > 0 ? known : 1));
}

static bool tensor_lower_expand_shape(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  const ir_attr_t* groups = ir_op_attr(n->op, "reassociation");
  mixed_t sizes;
  uint32_t operand = 1, count = 0;
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  if (!type || !groups || !mixed_read(n, "static_output_shape", &operand, &sizes)) return false;
  if (sizes.count == (uint32_t)type->rank) {
    count = mixed_dims(n, &sizes, type, dynamic);
  } else {
    for (uint32_t g = 0; g < groups->count; ++g) {
      int64_t members[GRAPH_MAX_RANK];
      uint32_t size = ir_attr_ints(groups->items[g], members, GRAPH_MAX_RANK), unknown = 0;
      for (uint32_t i = 0; i < size; ++i) unknown += type->dims[members[i]] == IR_DYNAMIC;
      if (unknown > 1) return lower_error(n, "needs output_shape where two sizes of a group are unknown");
      if (unknown) dynamic[count++] = divided_size(n, g, members, size, type);
    }
  }
  return lower_return(n, graph_reshape(n->b, n->in[0], type->rank, type->dims, dynamic));
}

static bool tensor_lower_collapse_shape(lower_op_t* n) {
  const ir_type_t* type = result_type(n);
  const ir_attr_t* groups = ir_op_attr(n->op, "reassociation");
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t count = 0;
  if (!type || !groups) return false;
  for (uint32_t g = 0; g < groups->count && (int32_t)g < type->rank; ++g) {
    int64_t members[GRAPH_MAX_RANK];
    if (type->dims[g] != IR_DYNAMIC) continue;
    uint32_t size = ir_attr_ints(groups->items[g], members, GRAPH_MAX_RANK);
    ir_value_t* product = graph_index_constant(n->b, 1);
    for (uint32_t i = 0; i < size; ++i) {
      ir_value_t* dim = graph_dim(n->b, n->in[0], (uint32_t)members[i]);
      product = lower_index_binary(n->b, SCALAR_mul, product, dim);
    }
    dynamic[count++] = product;
  }
  return lower_return(n, graph_reshape(n->b, n->in[0], type->rank, type->dims, dynamic));
}

static bool tensor_lower_concat(lower_op_t* n) {
  int64_t axis = ir_op_int(n->op, "dim", -1);
  const ir_type_t* first = n->op->operand_count ? n->in[0]->type : NULL;
  if (!first || axis < 0 || axis >= first->rank) return lower_error(n, "dim %lld is out of range", (long long)axis);
  for (uint32_t i = 1; i < n->op->operand_count; ++i) {
    bool fits = n->in[i]->type->rank == first->rank && n->in[i]->type->element == first->element;
    for (int32_t d = 0; fits && d < first->rank; ++d) {
      int64_t x = first->dims[d], y = n->in[i]->type->dims[d];
      fits = d == axis || x == y || x == IR_DYNAMIC || y == IR_DYNAMIC;
    }
    if (!fits) return lower_error(n, "has operands that do not fit together");
  }
  return lower_return(n, graph_concat(n->b, n->in, n->op->operand_count, axis));
}

//===----------------------------------------------------------------------------------------------------------------===
// Single elements
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* scalar_of(lower_op_t* n, ir_value_t* x) {
  x = graph_reshape(n->b, x, 0, NULL, NULL);
  if (n->l->whole) return x;
  const ir_attr_t* value = ir_is(x->def, GRAPH_CONSTANT) ? ir_op_attr(x->def, "value") : NULL;
  if (value && value->kind == IR_ATTR_ELEMENTS && ir_type_count(value->type) == 1) {
    const ir_type_t* type = x->type->element;
    const ir_attr_t* one = ir_type_is_float(type) ? ir_attr_float(n->ctx, type, ir_attr_element_number(value, 0))
                                                  : ir_attr_integer(n->ctx, type, ir_attr_element_integer(value, 0));
    ir_named_attr_t attr = {"value", one};
    return lower_build(n, GRAPH_CONSTANT, NULL, 0, type, &attr, 1);
  }
  if (ir_is(x->def, GRAPH_TO_TENSOR)) return ir_operand(x->def, 0);
  return lower_build(n, GRAPH_TO_SCALAR, &x, 1, x->type->element, NULL, 0);
}

// The element at indices that are numbers.
static ir_value_t* extract_one(lower_op_t* n, ir_value_t* x) {
  uint32_t rank = (uint32_t)x->type->rank;
  int64_t offsets[GRAPH_MAX_RANK], ones[GRAPH_MAX_RANK];
  bool constant = true;
  ir_value_t* operands[1 + GRAPH_MAX_RANK] = {x};
  for (uint32_t i = 0; i < rank; ++i) {
    ones[i] = 1;
    constant &= lower_constant_index(n->in[1 + i], &offsets[i]);
    operands[1 + i] = ir_type_is_tensor(n->in[1 + i]->type) ? n->in[1 + i] : lower_index(n->b, n->in[1 + i]);
  }
  for (uint32_t i = 0; constant && i < rank; ++i) {
    constant = offsets[i] >= 0 && (x->type->dims[i] == IR_DYNAMIC || offsets[i] < x->type->dims[i]);
  }
  if (constant) return graph_slice(n->b, x, offsets, ones, ones);
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)rank, ones);
  return lower_build(n, GRAPH_DYNAMIC_SLICE, operands, 1 + rank, type, NULL, 0);
}

static bool tensor_lower_extract(lower_op_t* n) {
  ir_value_t* x = n->in[0];
  bool many = false;
  for (uint32_t i = 1; i < n->op->operand_count; ++i) {
    many |= ir_type_is_tensor(n->in[i]->type) && n->in[i]->type->rank;
  }
  if (many) return lower_return(n, loops_gather(n, n->l->loops, x, n->in + 1));
  return lower_return(n, scalar_of(n, extract_one(n, x)));
}

static bool tensor_lower_insert(lower_op_t* n) {
  ir_value_t* x = n->in[1];
  uint32_t rank = (uint32_t)x->type->rank;
  int64_t ones[GRAPH_MAX_RANK];
  ir_value_t* operands[2 + GRAPH_MAX_RANK] = {x};
  for (uint32_t i = 0; i < rank; ++i) {
    ones[i] = 1;
    operands[2 + i] = lower_index(n->b, n->in[2 + i]);
  }
  operands[1] = graph_reshape(n->b, lower_as_tensor(n->b, n->in[0]), (int32_t)rank, ones, NULL);
  if (operands[1]->type->element != x->type->element) return lower_error(n, "needs a number of the element type");
  if (!rank) return lower_return(n, operands[1]);
  return lower_return(n, lower_build(n, GRAPH_DYNAMIC_UPDATE, operands, 2 + rank, x->type, NULL, 0));
}

//===----------------------------------------------------------------------------------------------------------------===
// Slices
//===----------------------------------------------------------------------------------------------------------------===

typedef struct slice_t {
  mixed_t offsets, sizes, strides;
} slice_t;

static bool read_slice(lower_op_t* n, uint32_t first, const ir_type_t* whole, slice_t* s) {
  if (!mixed_read(n, "static_offsets", &first, &s->offsets) || !mixed_read(n, "static_sizes", &first, &s->sizes) ||
      !mixed_read(n, "static_strides", &first, &s->strides)) {
    return false;
  }
  uint32_t rank = (uint32_t)whole->rank;
  if (s->offsets.count != rank || s->sizes.count != rank || s->strides.count != rank) {
    return lower_error(n, "needs offsets, sizes and strides for each dimension");
  }
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t offset = s->offsets.values[i], size = s->sizes.values[i], stride = s->strides.values[i], last;
    if (stride == IR_DYNAMIC) return lower_unsupported(n, "constant strides are");
    bool fits = stride > 0 && (offset == IR_DYNAMIC || offset >= 0) && (size == IR_DYNAMIC || size >= 0);
    bool known = fits && offset != IR_DYNAMIC && size > 0 && whole->dims[i] != IR_DYNAMIC;
    if (known && (__builtin_mul_overflow(size - 1, stride, &last) || __builtin_add_overflow(last, offset, &last) ||
                  last >= whole->dims[i])) {
      fits = false;
    }
    if (!fits) return lower_error(n, "leaves %s in dimension %u", ir_type_str(n->ctx, whole), i);
  }
  return true;
}

static bool all_static(const mixed_t* list) {
  for (uint32_t i = 0; i < list->count; ++i) {
    if (list->values[i] == IR_DYNAMIC) return false;
  }
  return true;
}

static bool all_ones(const mixed_t* list) {
  for (uint32_t i = 0; i < list->count; ++i) {
    if (list->values[i] != 1) return false;
  }
  return true;
}

// graph.slice with sizes that may be computed.
static ir_value_t* plain_slice(lower_op_t* n, ir_value_t* x, const slice_t* s) {
  uint32_t rank = (uint32_t)x->type->rank;
  if (all_static(&s->sizes)) return graph_slice(n->b, x, s->offsets.values, s->sizes.values, s->strides.values);
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)rank, s->sizes.values);
  ir_value_t* operands[1 + GRAPH_MAX_RANK] = {x};
  uint32_t count = 1 + mixed_dims(n, &s->sizes, type, operands + 1);
  ir_named_attr_t attrs[2] = {{"offsets", ir_attr_i64_array(n->ctx, s->offsets.values, rank)},
                              {"strides", ir_attr_i64_array(n->ctx, s->strides.values, rank)}};
  return lower_build(n, GRAPH_SLICE, operands, count, type, attrs, 2);
}

// Offsets that are computed: first everything from the first to the last element, then every stride-th.
static ir_value_t* moving_slice(lower_op_t* n, ir_value_t* x, const slice_t* s) {
  uint32_t rank = (uint32_t)x->type->rank, count = 1 + rank;
  slice_t extent = *s;
  ir_value_t* operands[1 + 2 * GRAPH_MAX_RANK] = {x};
  for (uint32_t i = 0; i < rank; ++i) {
    operands[1 + i] = mixed_index(n, &s->offsets, i);
    int64_t size = s->sizes.values[i], stride = s->strides.values[i];
    if (stride != 1 && size == IR_DYNAMIC) {
      lower_unsupported(n, "a stride other than 1 with offset and size computed is not");
      return NULL;
    }
    if (stride != 1) extent.sizes.values[i] = size ? (size - 1) * stride + 1 : 0;
  }
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)rank, extent.sizes.values);
  count += mixed_dims(n, &extent.sizes, type, operands + count);
  ir_value_t* y = lower_build(n, GRAPH_DYNAMIC_SLICE, operands, count, type, NULL, 0);
  if (all_ones(&s->strides)) return y;
  int64_t zeros[GRAPH_MAX_RANK] = {0};
  return graph_slice(n->b, y, zeros, s->sizes.values, s->strides.values);
}

// Which dims of `full` a tensor of lower rank leaves out: ones. False when that does not work out.
static bool dropped_dims(const int64_t* full, uint32_t rank, const ir_type_t* to, bool* dropped) {
  int32_t left = (int32_t)rank - to->rank, next = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    bool stays =
        next < to->rank && (full[i] == to->dims[next] || to->dims[next] == IR_DYNAMIC || full[i] == IR_DYNAMIC);
    bool prefer = full[i] == 1 && left > 0 && (!stays || to->dims[next] != 1);
    dropped[i] = prefer || (!stays && left > 0);
    if (dropped[i] && full[i] != 1) return false;
    left -= dropped[i];
    next += !dropped[i];
  }
  return left == 0 && next == to->rank;
}

// In functions over memory (shim.c): where the slice begins, its sizes and its strides.
static bool slice_memory(lower_op_t* n) {
  lower_value_t memory = n->values[0];
  const ir_type_t *whole = lower_in_type(n, 0), *type = lower_out_type(n, 0);
  slice_t s;
  bool dropped[GRAPH_MAX_RANK];
  if (!memory.items) return lower_unsupported(n, "what its dispatch is given has slices");
  if (!read_slice(n, 1, whole, &s)) return false;
  if (!dropped_dims(s.sizes.values, s.sizes.count, type, dropped)) {
    return lower_error(n, "has a result of type %s that its sizes do not give", ir_type_str(n->ctx, type));
  }
  uint32_t from = s.sizes.count, to = (uint32_t)type->rank, at = 0;
  lower_value_t* items = ARENA_ARRAY(ir_context_arena(n->ctx), lower_value_t, 1 + 2 * to);
  ir_value_t* start = memory.items[0].v;
  for (uint32_t i = 0; i < from; ++i) {
    ir_value_t *stride = memory.items[1 + from + i].v, *step = graph_index_constant(n->b, s.strides.values[i]);
    ir_value_t* place = lower_index_binary(n->b, SCALAR_mul, mixed_index(n, &s.offsets, i), stride);
    start = lower_index_binary(n->b, SCALAR_add, start, place);
    if (dropped[i]) continue;
    items[1 + at] = (lower_value_t){.v = mixed_index(n, &s.sizes, i)};
    items[1 + to + at++] = (lower_value_t){.v = lower_index_binary(n->b, SCALAR_mul, stride, step)};
  }
  items[0] = (lower_value_t){.v = start};
  n->out[0] = (lower_value_t){.v = memory.v, .items = items, .count = 1 + 2 * to};
  return true;
}

bool tensor_lower_extract_slice(lower_op_t* n) {
  if (n->l->kernel) return slice_memory(n);
  const ir_type_t* type = result_type(n);
  ir_value_t* x = n->in[0];
  slice_t s;
  bool dropped[GRAPH_MAX_RANK];
  if (!type || !lower_check_rank(n, 0, x->type->rank) || !read_slice(n, 1, x->type, &s)) return false;
  if (!dropped_dims(s.sizes.values, s.sizes.count, type, dropped)) {
    return lower_error(n, "has a result of type %s that its sizes do not give", ir_type_str(n->ctx, type));
  }
  ir_value_t* y = all_static(&s.offsets) ? plain_slice(n, x, &s) : moving_slice(n, x, &s);
  if (!y || type->rank == x->type->rank) return lower_return(n, y);
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  uint32_t rank = 0, count = 0;
  for (uint32_t i = 0; i < s.sizes.count; ++i) {
    if (dropped[i]) continue;
    dims[rank++] = s.sizes.values[i];
    if (s.sizes.values[i] == IR_DYNAMIC) dynamic[count++] = s.sizes.v[i];
  }
  return lower_return(n, graph_reshape(n->b, y, (int32_t)rank, dims, dynamic));
}

// The same by places that are computed: at (i - offset) / stride, where nothing is left of that.
static ir_value_t* computed_insert(lower_op_t* n, ir_value_t* source, ir_value_t* x, const slice_t* s) {
  int64_t zeros[GRAPH_MAX_RANK] = {0}, ones[GRAPH_MAX_RANK];
  ir_value_t *open[GRAPH_MAX_RANK], *mask = NULL, *sizes[GRAPH_MAX_RANK];
  int32_t rank = x->type->rank;
  for (int32_t i = 0; i < rank; ++i) ones[i] = 1, sizes[i] = graph_dim(n->b, source, (uint32_t)i);
  source = graph_pad(n->b, source, NULL, zeros, ones, NULL, "constant");  // something is there to be taken
  lower_dynamic_dims(n->b, x, x->type, open);
  const ir_type_t *i64 = ir_type_int(n->ctx, 64),
                  *flags = ir_type_with_element(n->ctx, x->type, ir_type_int(n->ctx, 1));
  for (int64_t i = 0; i < rank; ++i) {
    ir_value_t* length = graph_dim(n->b, x, (uint32_t)i);
    const ir_type_t* line = ir_type_tensor(n->ctx, i64, 1, &x->type->dims[i]);
    ir_value_t* numbers[3] = {mixed_index(n, &s->offsets, (uint32_t)i), mixed_index(n, &s->strides, (uint32_t)i),
                              sizes[i]};
    ir_value_t* at = graph_iota(n->b, line, 0, &length);
    for (int k = 0; k < 3; ++k) {
      numbers[k] = lower_splat(n->b, graph_cast(n->b, lower_as_tensor(n->b, numbers[k]), i64, false), at);
    }
    ir_value_t *zero = lower_number_like(n, at, 0), *from = graph_binary(n->b, SCALAR_sub, at, numbers[0]);
    ir_value_t* place = graph_binary(n->b, SCALAR_div, from, numbers[1]);
    ir_value_t* inside = graph_binary(n->b, SCALAR_eq, graph_binary(n->b, SCALAR_rem, from, numbers[1]), zero);
    inside = graph_binary(n->b, SCALAR_and, inside, graph_binary(n->b, SCALAR_ge, from, zero));
    inside = graph_binary(n->b, SCALAR_and, inside, graph_binary(n->b, SCALAR_lt, place, numbers[2]));
    place = graph_binary(n->b, SCALAR_max, graph_binary(n->b, SCALAR_min, place, numbers[2]), zero);
    source = graph_take(n->b, source, place, i, false);
    inside = graph_broadcast(n->b, inside, flags, &i, open);
    mask = mask ? graph_binary(n->b, SCALAR_and, mask, inside) : inside;
  }
  return mask ? graph_select(n->b, mask, source, x) : source;
}

// Every stride-th place: the source with gaps, chosen where a mask of the same form is set.
static ir_value_t* strided_insert(lower_op_t* n, ir_value_t* source, ir_value_t* x, const slice_t* s) {
  int64_t low[GRAPH_MAX_RANK], high[GRAPH_MAX_RANK], interior[GRAPH_MAX_RANK];
  bool known = all_static(&s->offsets) && ir_type_is_static(x->type);
  if (!known || !ir_type_is_static(source->type)) return computed_insert(n, source, x, s);
  for (int32_t i = 0; i < x->type->rank; ++i) {
    int64_t size = source->type->dims[i];
    interior[i] = s->strides.values[i] - 1;
    low[i] = s->offsets.values[i];
    high[i] = x->type->dims[i] - low[i] - (size ? (size - 1) * (interior[i] + 1) + 1 : 0);
  }
  const ir_type_t* flag = ir_type_int(n->ctx, 1);
  ir_value_t* ones = graph_splat_integer(n->b, ir_type_with_element(n->ctx, source->type, flag), 1);
  ir_value_t* mask = graph_pad(n->b, ones, graph_scalar_constant(n->b, flag, 0), low, high, interior, "constant");
  return graph_select(n->b, mask, graph_pad(n->b, source, NULL, low, high, interior, "constant"), x);
}

// `source` put into `x`.
static bool insert_slice(lower_op_t* n, ir_value_t* source, ir_value_t* x, uint32_t first) {
  slice_t s;
  bool dropped[GRAPH_MAX_RANK];
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  if (!ir_type_is_tensor(source->type) || source->type->element != x->type->element) {
    return lower_error(n, "needs tensors of one element type");
  }
  if (!read_slice(n, first, x->type, &s)) return false;
  if (!dropped_dims(s.sizes.values, s.sizes.count, source->type, dropped)) {
    return lower_error(n, "has a source of type %s that its sizes do not fit", ir_type_str(n->ctx, source->type));
  }
  if (source->type->rank != x->type->rank) {
    const ir_type_t* full = ir_type_tensor(n->ctx, x->type->element, x->type->rank, s.sizes.values);
    mixed_dims(n, &s.sizes, full, dynamic);
    source = graph_reshape(n->b, source, full->rank, full->dims, dynamic);
  }
  if (!all_ones(&s.strides)) return lower_return(n, strided_insert(n, source, x, &s));
  uint32_t rank = (uint32_t)x->type->rank;
  ir_value_t* operands[2 + GRAPH_MAX_RANK] = {x, source};
  for (uint32_t i = 0; i < rank; ++i) operands[2 + i] = mixed_index(n, &s.offsets, i);
  return lower_return(n, lower_build(n, GRAPH_DYNAMIC_UPDATE, operands, 2 + rank, x->type, NULL, 0));
}

static bool tensor_lower_insert_slice(lower_op_t* n) { return insert_slice(n, n->in[0], n->in[1], 2); }

// In scf.forall: the argument that stands for the shared result now stands for the updated one.
bool tensor_lower_parallel_insert_slice(lower_op_t* n) {
  lower_value_t result = {0}, *out = n->out;
  n->out = &result;
  bool ok = insert_slice(n, n->in[0], n->in[1], 2);
  n->out = out;
  if (ok) lower_set(n->l, ir_operand(n->op, 1), result);
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// pad
//===----------------------------------------------------------------------------------------------------------------===

// The number that the region yields, when it is the same everywhere; NULL after a diagnostic.
static ir_value_t* padding_value(lower_op_t* n, const ir_type_t* element) {
  ir_block_t* block = n->op->regions[0].first;
  lower_value_t args[GRAPH_MAX_RANK] = {{0}}, *results;
  uint32_t count;
  if (!block || block->next || block->arg_count > GRAPH_MAX_RANK) return lower_error(n, "needs a region"), NULL;
  for (uint32_t i = 0; i < block->arg_count; ++i) {
    if (!block->args[i]->uses) continue;
    lower_unsupported(n, "padding that depends on the place is not");
    return NULL;
  }
  if (!lower_block(n->l, block, args, &results, &count)) return NULL;
  ir_value_t* v = count == 1 && results[0].v ? lower_as_tensor(n->b, results[0].v) : NULL;
  if (v && v->type->rank == 0 && v->type->element == element) return v;
  lower_error(n, "needs a region that yields one number of the element type");
  return NULL;
}

static bool tensor_lower_pad(lower_op_t* n) {
  const ir_type_t *type = result_type(n), *x = n->in[0]->type;
  mixed_t low, high;
  uint32_t operand = 1, rank = (uint32_t)x->rank, count = 0;
  if (!type || !mixed_read(n, "static_low", &operand, &low) || !mixed_read(n, "static_high", &operand, &high)) {
    return false;
  }
  if (low.count != rank || high.count != rank || type->rank != x->rank) return lower_error(n, "needs two lists");
  ir_value_t* value = padding_value(n, x->element);
  if (!value) return false;
  if (all_static(&low) && all_static(&high)) {
    for (uint32_t i = 0; i < rank; ++i) {
      bool fits = low.values[i] >= 0 && high.values[i] >= 0 && low.values[i] < INT32_MAX && high.values[i] < INT32_MAX;
      if (!fits) return lower_error(n, "needs padding that is not negative");
    }
    return lower_return(n, graph_pad(n->b, n->in[0], value, low.values, high.values, NULL, "constant"));
  }
  ir_value_t *sizes[GRAPH_MAX_RANK], *operands[2 + GRAPH_MAX_RANK];
  for (uint32_t i = 0; i < rank; ++i) {
    operands[2 + i] = mixed_index(n, &low, i);
    if (type->dims[i] != IR_DYNAMIC) continue;
    ir_value_t* size = lower_index_binary(n->b, SCALAR_add, operands[2 + i], graph_dim(n->b, n->in[0], i));
    sizes[count++] = lower_index_binary(n->b, SCALAR_add, size, mixed_index(n, &high, i));
  }
  operands[0] = graph_broadcast(n->b, value, type, NULL, sizes);
  operands[1] = n->in[0];
  return lower_return(n, lower_build(n, GRAPH_DYNAMIC_UPDATE, operands, 2 + rank, type, NULL, 0));
}

//===----------------------------------------------------------------------------------------------------------------===
// gather and scatter: the last dimension of the indices has coordinates of the dims listed
//===----------------------------------------------------------------------------------------------------------------===

// `windowed`: the gather's result or the scatter's source.
static bool read_places(lower_op_t* n, const char* name, const ir_type_t* x, const ir_type_t* indices,
                        const ir_type_t* windowed, places_t* p) {
  *p = (places_t){0};
  if (!lower_dims(n, name, x->rank, p->map, &p->depth)) return false;
  memcpy(p->sorted, p->map, sizeof(p->sorted));
  int32_t batch = indices->rank - 1;
  if (batch < 0 || indices->dims[batch] != p->depth || lower_is_float(indices)) {
    return lower_error(n, "needs indices with a last dimension of %u", p->depth);
  }
  p->vector_dim = batch;
  p->whole = windowed->rank == batch + x->rank;
  if (!p->whole && windowed->rank != batch + x->rank - (int32_t)p->depth) {
    return lower_error(n, "has a tensor of type %s that does not fit", ir_type_str(n->ctx, windowed));
  }
  for (int32_t i = 0, at = batch; i < x->rank; ++i) {
    if (p->whole || !shape_contains(p->map, p->depth, i)) p->window[p->window_count++] = at++;
  }
  return true;
}

static bool tensor_lower_gather(lower_op_t* n) {
  const ir_type_t *type = result_type(n), *x = n->in[0]->type, *indices = n->in[1]->type;
  places_t p;
  int64_t sizes[GRAPH_MAX_RANK];
  ir_named_attr_t attrs[7];
  if (!type || !lower_check_tensors(n) || !read_places(n, "gather_dims", x, indices, type, &p)) return false;
  for (int32_t i = 0; i < x->rank; ++i) sizes[i] = shape_contains(p.map, p.depth, i) ? 1 : x->dims[i];
  uint32_t count = places_attrs(n, &p, false, attrs);
  attrs[count++] = (ir_named_attr_t){"slice_sizes", ir_attr_i64_array(n->ctx, sizes, (uint32_t)x->rank)};
  return lower_return(n, lower_build(n, GRAPH_GATHER, n->in, 2, type, attrs, count));
}

static bool tensor_lower_scatter(lower_op_t* n) {
  const ir_type_t *source = n->in[0]->type, *x = n->in[1]->type, *indices = n->in[2]->type;
  places_t p;
  ir_named_attr_t attrs[7];
  if (!lower_check_tensors(n) || !read_places(n, "scatter_dims", x, indices, source, &p)) return false;
  uint32_t count = places_attrs(n, &p, true, attrs);
  attrs[count++] = (ir_named_attr_t){"kind", ir_attr_cstring(n->ctx, "set")};
  ir_value_t* operands[3] = {n->in[1], n->in[2], n->in[0]};
  return lower_return(n, lower_build(n, GRAPH_SCATTER, operands, 3, x, attrs, count));
}

#define AT(ENUM, handler) [TENSOR_##ENUM - IR_CODE(IR_DIALECT_TENSOR, 0)] = {.fn = tensor_lower_##handler}
#define PARTS(ENUM, handler) \
  [TENSOR_##ENUM - IR_CODE(IR_DIALECT_TENSOR, 0)] = {.fn = tensor_lower_##handler, .flags = LOWER_BY_PARTS}
static const lower_row_t rows[] = {
    PARTS(EMPTY, empty),
    PARTS(DIM, dim),
    PARTS(RANK, rank),
    PARTS(CAST, cast),
    AT(BITCAST, bitcast),
    PARTS(EXTRACT, extract),
    PARTS(INSERT, insert),
    PARTS(FROM_ELEMENTS, from_elements),
    PARTS(SPLAT, splat),
    PARTS(RESHAPE, reshape),
    AT(GENERATE, generate),
    PARTS(CONCAT, concat),
    PARTS(GATHER, gather),
    PARTS(SCATTER, scatter),
    PARTS(EXPAND_SHAPE, expand_shape),
    PARTS(COLLAPSE_SHAPE, collapse_shape),
    PARTS(EXTRACT_SLICE, extract_slice),
    PARTS(INSERT_SLICE, insert_slice),
    AT(PARALLEL_INSERT_SLICE, parallel_insert_slice),
    AT(PAD, pad),
};
const lower_table_t lower_tensor_table = {IR_DIALECT_TENSOR, rows, sizeof(rows) / sizeof(rows[0])};
