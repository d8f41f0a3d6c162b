// What handlers of ops share: types, values, index arithmetic, attribute lists. See lowering.h.
#include <math.h>
#include <string.h>

#include "import/lowering.h"
#include "import/quantized.h"

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

const ir_type_t* lower_element(ir_context_t* ctx, const ir_type_t* scalar) {
  const ir_type_t* storage = quantized_storage(ctx, scalar);
  if (storage) return storage;
  return scalar->kind == IR_TYPE_INTEGER && scalar->sign != IR_SIGNLESS ? ir_type_int(ctx, scalar->width) : scalar;
}

static bool is_number(const ir_type_t* type) {
  return (type->kind == IR_TYPE_INTEGER && type->width >= 1 && type->width <= 64) || type->kind == IR_TYPE_INDEX ||
         (type->kind == IR_TYPE_FLOAT && type->float_kind != IR_TF32);
}

// Objects of the runtime and of other modules (`!util.buffer`, `!custom.string`): whatever no input dialect gives a
// meaning to.
static bool is_reference(const ir_type_t* type) {
  static const char* const others[] = {"stablehlo.",  "mhlo.",  "chlo.", "vhlo.", "torch.",  "quant.",
                                       "ml_program.", "shape.", "tosa.", "iree_", "tensor.", "llvm."};
  if (type->kind != IR_TYPE_OPAQUE) return false;
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
    if (strncmp(type->name, others[i], strlen(others[i])) == 0) return false;
  }
  return true;
}

const ir_type_t* lower_type(ir_context_t* ctx, const ir_type_t* type) {
  if (is_reference(type)) return type;
  if (is_number(type)) return lower_element(ctx, type);
  bool tensor = (type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_VTENSOR) && type->element &&
                (is_number(type->element) || quantized_storage(ctx, type->element)) && type->rank >= 0 &&
                type->rank <= GRAPH_MAX_RANK;
  if (!tensor) return NULL;
  return ir_type_tensor(ctx, lower_element(ctx, type->element), type->rank, type->dims);
}

// `items` with room for one more pointer than `count`.
static void* grown(arena_t* arena, void* items, uint32_t count, uint32_t* capacity) {
  if (count < *capacity) return items;
  *capacity = *capacity ? *capacity * 2 : 8;
  void** more = ARENA_ARRAY(arena, void*, *capacity);
  if (count) memcpy(more, items, count * sizeof(*more));
  return more;
}

void lower_types_add(lower_types_t* list, const ir_type_t* type) {
  list->items = grown(list->arena, list->items, list->count, &list->capacity);
  list->items[list->count++] = type;
}

void lower_list_add(lower_list_t* list, ir_value_t* value) {
  list->items = grown(list->arena, list->items, list->count, &list->capacity);
  list->items[list->count++] = value;
}

void lower_list_add_results(lower_list_t* list, ir_op_t* op, uint32_t first) {
  for (uint32_t i = first; i < op->result_count; ++i) lower_list_add(list, ir_result(op, i));
}

bool lower_flat_types(ir_context_t* ctx, const ir_type_t* type, lower_types_t* out) {
  if (type->kind == IR_TYPE_TUPLE) {
    for (uint32_t i = 0; i < type->input_count; ++i) {
      if (!lower_flat_types(ctx, type->inputs[i], out)) return false;
    }
    return true;
  }
  if (type->kind == IR_TYPE_OPAQUE && strcmp(type->name, "stablehlo.token") == 0) return true;
  uint32_t parts = 1;
  const ir_type_t* scalar = ir_type_scalar(type);
  if (scalar && scalar->kind == IR_TYPE_COMPLEX) {
    parts = 2;
    type = ir_type_is_shaped(type) ? ir_type_with_element(ctx, type, scalar->element) : scalar->element;
  }
  const ir_type_t* lowered = lower_type(ctx, type);
  if (!lowered) return false;
  for (uint32_t i = 0; i < parts; ++i) lower_types_add(out, lowered);
  return true;
}

lower_value_t lower_unflatten(lowering_t* l, const ir_type_t* type, ir_value_t* const** next) {
  lower_value_t value = {0};
  const ir_type_t* scalar = ir_type_scalar(type);
  if (type->kind == IR_TYPE_TUPLE) {
    value.count = type->input_count;
    value.items = ARENA_ARRAY(ir_context_arena(l->ctx), lower_value_t, type->input_count + 1);
    for (uint32_t i = 0; i < type->input_count; ++i) value.items[i] = lower_unflatten(l, type->inputs[i], next);
  } else if (type->kind != IR_TYPE_OPAQUE || is_reference(type)) {
    value.v = *(*next)++;
    if (scalar && scalar->kind == IR_TYPE_COMPLEX) value.im = *(*next)++;
  }
  return value;
}

void lower_flatten(lower_value_t value, lower_list_t* out) {
  if (value.v) lower_list_add(out, value.v);
  if (value.im) lower_list_add(out, value.im);
  for (uint32_t i = 0; value.items && i < value.count; ++i) lower_flatten(value.items[i], out);
}

bool lower_is_unsigned(const ir_type_t* type) {
  const ir_type_t* scalar = ir_type_scalar(type);
  return scalar->kind == IR_TYPE_INTEGER && (scalar->sign == IR_UNSIGNED || scalar->width == 1);
}

bool lower_fits(const ir_type_t* from, const ir_type_t* to) {
  if (from == to) return true;
  if (!ir_type_is_tensor(from) || !ir_type_is_tensor(to)) return false;
  if (from->element != to->element || from->rank != to->rank) return false;
  for (int32_t i = 0; i < from->rank; ++i) {
    if (from->dims[i] != to->dims[i] && from->dims[i] != IR_DYNAMIC && to->dims[i] != IR_DYNAMIC) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Shapes
//===----------------------------------------------------------------------------------------------------------------===

uint32_t lower_dynamic_dims(ir_builder_t* b, ir_value_t* x, const ir_type_t* type, ir_value_t** out) {
  uint32_t count = 0;
  for (int32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) out[count++] = graph_dim(b, x, (uint32_t)i);
  }
  return count;
}

ir_value_t* lower_as_tensor(ir_builder_t* b, ir_value_t* v) {
  if (ir_type_is_tensor(v->type)) return v;
  if (ir_is(v->def, GRAPH_TO_SCALAR)) return ir_operand(v->def, 0);
  const ir_attr_t* value = ir_is(v->def, GRAPH_CONSTANT) ? ir_op_attr(v->def, "value") : NULL;
  const ir_type_t* type = ir_type_tensor(b->ctx, v->type, 0, NULL);
  if (value && value->kind == IR_ATTR_FLOAT) return graph_splat_number(b, type, value->number);
  if (value && value->kind == IR_ATTR_INTEGER) return graph_splat_integer(b, type, value->integer);
  return graph_build(b, GRAPH_TO_TENSOR, &v, 1, type, NULL, 0);
}

static ir_value_t* to_scalar(ir_builder_t* b, ir_value_t* v) {
  if (!ir_type_is_tensor(v->type)) return v;
  if (ir_is(v->def, GRAPH_TO_TENSOR)) return ir_operand(v->def, 0);
  return graph_build(b, GRAPH_TO_SCALAR, &v, 1, v->type->element, NULL, 0);
}

ir_value_t* lower_coerce(lowering_t* l, ir_value_t* v, const ir_type_t* type) {
  if (v->type == type) return v;
  if (!ir_type_is_tensor(type) && ir_type_is_tensor(v->type) && v->type->rank == 0 && v->type->element == type) {
    return to_scalar(&l->b, v);
  }
  if (ir_type_is_tensor(type) && type->rank == 0 && v->type == type->element) return lower_as_tensor(&l->b, v);
  if (!lower_fits(v->type, type)) {
    ir_error(l->ctx, l->b.loc, "a value of type %s stands where %s is expected", ir_type_str(l->ctx, v->type),
             ir_type_str(l->ctx, type));
    return NULL;
  }
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(&l->b, v, type, dynamic);
  return graph_reshape(&l->b, v, type->rank, type->dims, dynamic);
}

ir_value_t* lower_splat(ir_builder_t* b, ir_value_t* x, ir_value_t* like) {
  x = lower_as_tensor(b, x);
  if (!ir_type_is_tensor(like->type) || like->type->rank == 0) return x;
  ir_value_t* dynamic[GRAPH_MAX_RANK];
  lower_dynamic_dims(b, like, like->type, dynamic);
  return graph_broadcast(b, x, like->type, NULL, dynamic);
}

static bool same_dims(const ir_type_t* x, const ir_type_t* y) {
  if (x->rank != y->rank) return false;
  for (int32_t i = 0; i < x->rank; ++i) {
    if (x->dims[i] != y->dims[i] && x->dims[i] != IR_DYNAMIC && y->dims[i] != IR_DYNAMIC) return false;
  }
  return true;
}

bool lower_unify(lower_op_t* n, ir_value_t** values, uint32_t count) {
  ir_value_t* like = NULL;
  for (uint32_t i = 0; i < count; ++i) {
    const ir_type_t* type = values[i]->type;
    if (ir_type_is_tensor(type) && (!like || type->rank > like->type->rank)) like = values[i];
  }
  if (!like) return true;
  for (uint32_t i = 0; i < count; ++i) {
    const ir_type_t* type = values[i]->type;
    if (!ir_type_is_tensor(type) || (type->rank == 0 && like->type->rank)) {
      values[i] = lower_splat(n->b, values[i], like);
    } else if (!same_dims(type, like->type)) {
      return lower_error(n, "has operands of different shapes, %s and %s", ir_type_str(n->ctx, type),
                         ir_type_str(n->ctx, like->type));
    }
  }
  return true;
}

// The constant of one number that a value repeats, or NULL.
static const ir_attr_t* splat_attr(const ir_value_t* v) {
  while (v->def && (ir_is(v->def, GRAPH_BROADCAST) || ir_is(v->def, GRAPH_RESHAPE) || ir_is(v->def, GRAPH_TO_TENSOR))) {
    v = ir_operand(v->def, 0);
  }
  const ir_attr_t* value = ir_is(v->def, GRAPH_CONSTANT) ? ir_op_attr(v->def, "value") : NULL;
  if (!value || value->kind == IR_ATTR_INTEGER || value->kind == IR_ATTR_FLOAT) return value;
  bool one = value->kind == IR_ATTR_ELEMENTS && (value->splat || ir_type_count(value->type) == 1);
  return one ? value : NULL;
}

bool lower_splat_value(const ir_value_t* v, double* out) {
  const ir_attr_t* value = splat_attr(v);
  if (!value) return false;
  *out = value->kind == IR_ATTR_INTEGER ? (double)value->integer
         : value->kind == IR_ATTR_FLOAT ? value->number
                                        : ir_attr_element_number(value, 0);
  return true;
}

bool lower_splat_integer(const ir_value_t* v, int64_t* out) {
  const ir_attr_t* value = splat_attr(v);
  if (!value || value->kind == IR_ATTR_FLOAT) return false;
  *out = value->kind == IR_ATTR_INTEGER ? value->integer : ir_attr_element_integer(value, 0);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Kinds of reductions
//===----------------------------------------------------------------------------------------------------------------===

scalar_fn_t lower_kind_fn(const char* kind) {
  static const scalar_fn_t kinds[] = {SCALAR_add,  SCALAR_mul, SCALAR_min, SCALAR_max, SCALAR_minu,
                                      SCALAR_maxu, SCALAR_and, SCALAR_or,  SCALAR_xor};
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (strcmp(scalar_info[kinds[i]].name, kind) == 0) return kinds[i];
  }
  return SCALAR_COUNT;
}

static bool is_float_identity(scalar_fn_t fn, const ir_value_t* start) {
  double number;
  if (!lower_splat_value(start, &number)) return false;
  if (fn == SCALAR_min || fn == SCALAR_max) return isinf(number) && (number > 0) == (fn == SCALAR_min);
  return number == (fn == SCALAR_mul);
}

bool lower_is_identity(const char* kind, const ir_value_t* start) {
  const ir_type_t* element = ir_type_scalar(start->type);
  scalar_fn_t fn = lower_kind_fn(kind);
  int64_t value, most = element->width >= 64 || !element->width ? INT64_MAX : ((int64_t)1 << (element->width - 1)) - 1;
  if (ir_type_is_float(element)) return is_float_identity(fn, start);
  if (!lower_splat_integer(start, &value)) return false;
  switch (fn) {
    case SCALAR_mul:
      return value == 1;
    case SCALAR_min:
      return value == most;
    case SCALAR_max:
      return value == -most - 1;
    case SCALAR_and:
    case SCALAR_minu:
      return value == -1;
    default:
      return value == 0;
  }
}

ir_value_t* lower_with_init(lower_op_t* n, const char* kind, ir_value_t* x, ir_value_t* init) {
  return lower_is_identity(kind, init) ? x : lower_binary(n, lower_kind_fn(kind), x, init);
}

//===----------------------------------------------------------------------------------------------------------------===
// Index arithmetic
//===----------------------------------------------------------------------------------------------------------------===

bool lower_constant_index(const ir_value_t* v, int64_t* out) {
  const ir_attr_t* value = ir_is(v->def, GRAPH_CONSTANT) ? ir_op_attr(v->def, "value") : NULL;
  if (!value) return false;
  if (value->kind == IR_ATTR_ELEMENTS && (value->splat || ir_type_count(value->type) == 1)) {
    *out = ir_attr_element_integer(value, 0);
    return true;
  }
  *out = value->integer;
  return value->kind == IR_ATTR_INTEGER;
}

ir_value_t* lower_index_binary(ir_builder_t* b, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  int64_t xi, yi;
  if (lower_constant_index(x, &xi) && lower_constant_index(y, &yi)) {
    const ir_type_t* index = ir_type_index(b->ctx);
    scalar_value_t in[3] = {{.i = xi}, {.i = yi}};
    return graph_index_constant(b, scalar_eval(fn, in, index, index).i);
  }
  return graph_binary(b, fn, x, y);
}

ir_value_t* lower_index(ir_builder_t* b, ir_value_t* v) {
  int64_t constant;
  if (lower_constant_index(v, &constant)) return graph_index_constant(b, constant);
  if (ir_type_is_tensor(v->type)) return lower_index_element(b, v, 0);
  return graph_as_index(b, v);
}

ir_value_t* lower_index_element(ir_builder_t* b, ir_value_t* tensor, int64_t i) {
  ir_value_t* index = graph_index_of(b, tensor, i);
  if (index) return index;
  int64_t one = 1;
  if (tensor->type->rank == 1) tensor = graph_slice(b, tensor, &i, &one, &one);
  tensor = graph_reshape(b, tensor, 0, NULL, NULL);
  return graph_cast(b, to_scalar(b, tensor), ir_type_index(b->ctx), false);
}

uint32_t lower_split_sizes(ir_value_t* const* sizes, uint32_t count, int64_t* dims, ir_value_t** open) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (lower_constant_index(sizes[i], &dims[i])) continue;
    dims[i] = IR_DYNAMIC;
    open[found++] = sizes[i];
  }
  return found;
}

ir_value_t* lower_reshape(ir_builder_t* b, ir_value_t* x, ir_value_t* const* sizes, uint32_t rank) {
  int64_t dims[GRAPH_MAX_RANK];
  ir_value_t* open[GRAPH_MAX_RANK];
  lower_split_sizes(sizes, rank, dims, open);
  return graph_reshape(b, x, (int32_t)rank, dims, open);
}

ir_value_t* lower_sized(lower_op_t* n, ir_value_t* x, int32_t dim, int64_t size) {
  int64_t dims[GRAPH_MAX_RANK];
  if (x->type->dims[dim] != IR_DYNAMIC || size == IR_DYNAMIC) return x;
  memcpy(dims, x->type->dims, sizeof(*dims) * (size_t)x->type->rank);
  dims[dim] = size;
  return lower_coerce(n->l, x, ir_type_tensor(n->ctx, x->type->element, x->type->rank, dims));
}

ir_value_t* lower_first(lower_op_t* n, ir_value_t* x, int32_t dim, ir_value_t* size) {
  int64_t zeros[GRAPH_MAX_RANK] = {0}, ones[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  ir_value_t* operands[1 + GRAPH_MAX_RANK] = {x};
  uint32_t count = 1;
  for (int32_t i = 0; i < x->type->rank; ++i) {
    ones[i] = 1, dims[i] = x->type->dims[i];
    if (i == dim && !lower_constant_index(size, &dims[i])) dims[i] = IR_DYNAMIC;
    if (dims[i] == IR_DYNAMIC) operands[count++] = i == dim ? size : graph_dim(n->b, x, (uint32_t)i);
  }
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(n->ctx, zeros, (uint32_t)x->type->rank)},
                             {"strides", ir_attr_i64_array(n->ctx, ones, (uint32_t)x->type->rank)}};
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, x->type->rank, dims);
  return type == x->type && count == 1 ? x : lower_build(n, GRAPH_SLICE, operands, count, type, attrs, 2);
}

//===----------------------------------------------------------------------------------------------------------------===
// Constants and attributes
//===----------------------------------------------------------------------------------------------------------------===

static ir_value_t* elements_constant(lower_op_t* n, const ir_type_t* type, const void* data, size_t size) {
  return graph_constant(n->b, ir_attr_elements_borrow(n->ctx, type, data, size));
}

// (re, im), (re, im), ... as two constants.
static bool complex_constant(lower_op_t* n, const ir_attr_t* value, lower_value_t* out) {
  const ir_type_t* part = ir_type_with_element(n->ctx, value->type, value->type->element->element);
  uint32_t bytes = ir_type_bytes(part->element);
  size_t count = value->size / (2 * bytes);
  char* parts[2];
  for (int k = 0; k < 2; ++k) {
    parts[k] = arena_alloc(ir_context_arena(n->ctx), count * bytes + 1);
    for (size_t i = 0; i < count; ++i) {
      memcpy(parts[k] + i * bytes, (const char*)ir_attr_data(value) + (2 * i + (size_t)k) * bytes, bytes);
    }
  }
  out->v = elements_constant(n, part, parts[0], count * bytes);
  out->im = elements_constant(n, part, parts[1], count * bytes);
  return true;
}

bool lower_constant(lower_op_t* n, const ir_attr_t* value, lower_value_t* out) {
  if (value && (value->kind == IR_ATTR_INTEGER || value->kind == IR_ATTR_FLOAT)) {
    const ir_type_t* type = value->type ? lower_type(n->ctx, value->type) : NULL;
    if (!type) return lower_error(n, "has a value of a type without form here");
    if (type != value->type) value = ir_attr_integer(n->ctx, type, value->integer);
    ir_named_attr_t attr = {"value", value};
    out->v = graph_build(n->b, GRAPH_CONSTANT, NULL, 0, type, &attr, 1);
    return true;
  }
  if (!value || value->kind != IR_ATTR_ELEMENTS || value->type->kind != IR_TYPE_TENSOR) {
    return lower_error(n, "has no value of numbers");
  }
  if (!value->size && ir_type_count(value->type) > 0) {
    return lower_error(n, "has no data%s%s: the resource is missing in the file", value->resource ? " for " : "",
                       value->resource ? value->resource : "");
  }
  if (value->type->rank > GRAPH_MAX_RANK) return lower_unsupported(n, "ranks up to %d are", GRAPH_MAX_RANK);
  if (value->type->element->kind == IR_TYPE_COMPLEX) return complex_constant(n, value, out);
  const ir_type_t* type = lower_type(n->ctx, value->type);
  if (!type) return lower_error(n, "has elements of type %s", ir_type_str(n->ctx, value->type->element));
  if (type != value->type || value->resource) value = ir_attr_retype(n->ctx, value, type);
  out->v = graph_constant(n->b, value);
  return true;
}

bool lower_ints(const lower_op_t* n, const char* name, int64_t* values, uint32_t count) {
  uint32_t got = ir_op_ints(n->op, name, values, count);
  return got == count || lower_error(n, "needs %u entries in attribute '%s', has %u", count, name, got);
}

bool lower_list(const lower_op_t* n, const char* name, int64_t* values, uint32_t* count) {
  *count = ir_op_ints(n->op, name, values, GRAPH_MAX_RANK);
  return *count <= GRAPH_MAX_RANK || lower_error(n, "has too many entries in attribute '%s'", name);
}

bool lower_dims(const lower_op_t* n, const char* name, int32_t rank, int64_t* values, uint32_t* count) {
  if (!lower_list(n, name, values, count)) return false;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < *count; ++i) {
    if (values[i] < 0 || values[i] >= rank || (seen & (1u << values[i]))) {
      return lower_error(n, "names dimension %lld in '%s', which is out of range for rank %d or there twice",
                         (long long)values[i], name, rank);
    }
    seen |= 1u << values[i];
  }
  return true;
}

bool lower_check_rank(const lower_op_t* n, uint32_t operand, int32_t rank) {
  const ir_type_t* type = n->in[operand]->type;
  if (ir_type_is_tensor(type) && type->rank == rank) return true;
  return lower_error(n, "needs a tensor of rank %d as operand %u, has %s", rank, operand, ir_type_str(n->ctx, type));
}

bool lower_check_tensors(const lower_op_t* n) {
  for (uint32_t i = 0; i < n->op->operand_count; ++i) {
    if (!ir_type_is_tensor(n->in[i]->type)) return lower_unsupported(n, "tensors are");
  }
  for (uint32_t i = 0; i < n->op->result_count; ++i) {
    if (n->op->results[i].type->kind != IR_TYPE_TENSOR) return lower_unsupported(n, "tensor results are");
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Elementwise
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* lower_number_like(lower_op_t* n, ir_value_t* x, double number) {
  if (ir_type_is_tensor(x->type)) return graph_splat_like(n->b, x, number);
  const ir_attr_t* value = ir_type_is_float(x->type) ? ir_attr_float(n->ctx, x->type, number)
                                                     : ir_attr_integer(n->ctx, x->type, (int64_t)number);
  ir_named_attr_t attr = {"value", value};
  return graph_build(n->b, GRAPH_CONSTANT, NULL, 0, x->type, &attr, 1);
}

ir_value_t* lower_binary(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  if (ir_type_is_tensor(x->type) && (!ir_type_is_tensor(y->type) || y->type->rank == 0)) y = lower_splat(n->b, y, x);
  return graph_binary(n->b, fn, x, y);
}

ir_value_t* lower_with_number(lower_op_t* n, scalar_fn_t fn, ir_value_t* x, double number) {
  return graph_binary(n->b, fn, x, lower_number_like(n, x, number));
}

// Negative numbers have their lower bits turned around; its own inverse.
static ir_value_t* turn_negative(lower_op_t* n, ir_value_t* bits) {
  ir_value_t* sign = lower_with_number(n, SCALAR_shr, bits, ir_type_scalar(bits->type)->width - 1);
  return graph_binary(n->b, SCALAR_xor, bits, lower_with_number(n, SCALAR_shru, sign, 1));
}

ir_value_t* lower_total_order(lower_op_t* n, ir_value_t* x) {
  return turn_negative(n, graph_bitcast(n->b, x, ir_type_int(n->ctx, ir_type_scalar(x->type)->width)));
}

ir_value_t* lower_from_total_order(lower_op_t* n, ir_value_t* keys, const ir_type_t* element) {
  return graph_bitcast(n->b, turn_negative(n, keys), element);
}

ir_value_t* lower_build(lower_op_t* n, uint32_t code, ir_value_t* const* operands, uint32_t count,
                        const ir_type_t* type, const ir_named_attr_t* attrs, uint32_t attr_count) {
  return graph_build(n->b, code, operands, count, type, attrs, attr_count);
}

scalar_fn_t lower_row_fn(const lower_op_t* n, const ir_type_t* type) {
  if (lower_is_bool(type)) return (scalar_fn_t)n->row->bool_scalar;
  return (scalar_fn_t)(lower_is_unsigned(type) ? n->row->unsigned_scalar : n->row->scalar);
}

// Whether a scalar function takes elements of a type.
static bool takes(scalar_fn_t fn, const ir_type_t* element) {
  return (scalar_info[fn].types & (ir_type_is_float(element) ? SCALAR_TYPES_F : SCALAR_TYPES_I)) != 0;
}

bool lower_elementwise(lower_op_t* n) {
  uint32_t count = n->op->operand_count;
  ir_value_t* values[3];
  scalar_fn_t fn = lower_row_fn(n, lower_in_type(n, count - 1));
  if (count != scalar_info[fn].arity) return lower_error(n, "needs %u operands", scalar_info[fn].arity);
  memcpy(values, n->in, sizeof(values[0]) * count);
  if (!lower_unify(n, values, count)) return false;
  const ir_type_t* element = ir_type_scalar(values[count - 1]->type);
  if (!takes(fn, element)) return lower_unsupported(n, NULL);
  for (uint32_t i = fn == SCALAR_select; i + 1 < count; ++i) {
    if (ir_type_scalar(values[i]->type) != element) return lower_error(n, "has operands of different element types");
  }
  if (fn == SCALAR_select) {
    if (!lower_is_bool(values[0]->type)) return lower_error(n, "needs an i1 condition");
    return lower_return(n, graph_select(n->b, values[0], values[1], values[2]));
  }
  if (count == 1) return lower_return(n, graph_unary(n->b, fn, values[0]));
  if (count == 2) return lower_return(n, graph_binary(n->b, fn, values[0], values[1]));
  return lower_return(n, ir_build_value(n->b, graph_scalar_code(fn), values, 3, values[0]->type));
}

ir_value_t* lower_cast(lower_op_t* n, ir_value_t* x, const ir_type_t* from, const ir_type_t* to) {
  const ir_type_t *source = ir_type_scalar(from), *target = ir_type_scalar(to);
  bool is_unsigned = lower_is_unsigned(source->kind == IR_TYPE_FLOAT ? target : source);
  return graph_cast(n->b, x, lower_element(n->ctx, target), is_unsigned && !lower_is_bool(target));
}
