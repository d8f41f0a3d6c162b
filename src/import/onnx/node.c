// What handlers of ops share: attributes, checks, and building with ONNX's broadcasting and sign rules. See lower.h.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "import/lowering_size.h"
#include "import/onnx/lower.h"
#include "import/onnx/strings.h"

//===----------------------------------------------------------------------------------------------------------------===
// Messages
//===----------------------------------------------------------------------------------------------------------------===

static void report(onnx_node_t* n, const char* format, va_list args) {
  text_t text = {0};
  text_vprintf(&text, format, args);
  if (n->name) {
    ir_error(n->ctx, n->op->loc, "'onnx.%s' op (opset %lld): %s", n->name, (long long)n->lowering->opset, text.data);
  } else {
    ir_op_error(n->ctx, n->op, "%s", text.data);
  }
  for (uint32_t i = 0; n->in && i < n->in_count; ++i) {
    if (n->in[i].v) ir_note(n->ctx, n->op->loc, "input %u has type %s", i, ir_type_str(n->ctx, n->in[i].v->type));
  }
  text_finish(&text);
}

bool onnx_error(onnx_node_t* n, const char* format, ...) {
  onnx_lowering_t* l = n->lowering;
  if (l->inferring && l->tentative) return l->unsupported = true, false;
  va_list args;
  va_start(args, format);
  report(n, format, args);
  va_end(args);
  return false;
}

bool onnx_unsupported(onnx_node_t* n, const char* format, ...) {
  n->lowering->unsupported = true;
  if (n->lowering->inferring) return false;
  va_list args;
  va_start(args, format);
  report(n, format, args);
  va_end(args);
  return false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Types and attributes
//===----------------------------------------------------------------------------------------------------------------===

const ir_type_t* onnx_si64(ir_context_t* ctx) { return ir_type_integer(ctx, 64, IR_SIGNED); }
const ir_type_t* onnx_bool(ir_context_t* ctx) { return ir_type_int(ctx, 1); }
const ir_type_t* onnx_f32(ir_context_t* ctx) { return ir_type_float(ctx, IR_F32); }

const ir_type_t* onnx_signless(ir_context_t* ctx, const ir_type_t* element) {
  if (ir_type_is_int(element)) return ir_type_int(ctx, element->width);
  return onnx_is_str(element) ? ir_type_int(ctx, 32) : onnx_is_place(element) ? ir_type_int(ctx, 64) : element;
}

const ir_type_t* onnx_tensor_type(ir_context_t* ctx, const ir_type_t* element, int32_t rank, const int64_t* dims) {
  const ir_type_t* signless = onnx_signless(ctx, element);
  int64_t with_width[ONNX_MAX_RANK + 1] = {0};
  if (!onnx_is_str(element)) return ir_type_tensor(ctx, signless, rank, dims);
  for (int32_t i = 0; i < rank; ++i) with_width[i] = dims[i];
  with_width[rank] = IR_DYNAMIC;
  return ir_type_tensor(ctx, signless, rank + 1, with_width);
}

ir_value_t* onnx_graph_constant(ir_builder_t* b, const ir_attr_t* value) {
  const ir_type_t* type = onnx_tensor_type(b->ctx, value->type->element, value->type->rank, value->type->dims);
  if (type != value->type || value->resource) value = ir_attr_retype(b->ctx, value, type);
  return graph_constant(b, value);
}

bool onnx_return(onnx_node_t* n, ir_value_t* v, const ir_type_t* element) {
  if (v && n->out_count) n->out[0] = onnx_value(v, element);
  return v != NULL;
}

const ir_attr_t* onnx_attr(const onnx_node_t* n, const char* name) {
  for (uint32_t i = 0; i < n->op->attr_count; ++i) {
    const char* full = n->op->attrs[i].name;
    if (strncmp(full, "torch.onnx.", 11) == 0 && strcmp(full + 11, name) == 0) return n->op->attrs[i].value;
  }
  return NULL;
}

int64_t onnx_int(const onnx_node_t* n, const char* name, int64_t absent) {
  const ir_attr_t* attr = onnx_attr(n, name);
  return attr && attr->kind == IR_ATTR_INTEGER ? attr->integer : absent;
}

double onnx_float(const onnx_node_t* n, const char* name, double absent) {
  const ir_attr_t* attr = onnx_attr(n, name);
  return attr && attr->kind == IR_ATTR_FLOAT ? attr->number : absent;
}

const char* onnx_string(const onnx_node_t* n, const char* name, const char* absent) {
  const ir_attr_t* attr = onnx_attr(n, name);
  return attr && attr->kind == IR_ATTR_STRING ? attr->text : absent;
}

bool onnx_ints(onnx_node_t* n, const char* name, int64_t* values, uint32_t capacity, uint32_t* count) {
  const ir_attr_t* attr = onnx_attr(n, name);
  *count = 0;
  if (!attr) return true;
  bool list = attr->kind == IR_ATTR_ARRAY || attr->kind == IR_ATTR_DENSE_ARRAY;
  for (uint32_t i = 0; attr->kind == IR_ATTR_ARRAY && i < attr->count; ++i) {
    list &= attr->items[i]->kind == IR_ATTR_INTEGER;
  }
  if (!list) return onnx_error(n, "attribute '%s' must be a list of integers", name);
  *count = ir_attr_ints(attr, values, capacity);
  return *count <= capacity ||
         onnx_error(n, "attribute '%s' has %u entries; at most %u make sense", name, *count, capacity);
}

//===----------------------------------------------------------------------------------------------------------------===
// Checks
//===----------------------------------------------------------------------------------------------------------------===

bool onnx_check_axis(onnx_node_t* n, int64_t* axis, int32_t rank) {
  if (*axis < -rank || *axis >= rank) {
    return onnx_error(n, "axis %lld is not within a tensor of rank %d", (long long)*axis, rank);
  }
  if (*axis < 0) *axis += rank;
  return true;
}

bool onnx_check_same_element(onnx_node_t* n, uint32_t i, uint32_t j) {
  if (!onnx_has(n, i) || !onnx_has(n, j) || n->in[i].element == n->in[j].element) return true;
  return onnx_error(n, "inputs %u and %u have different element types %s and %s", i, j,
                    ir_type_str(n->ctx, n->in[i].element), ir_type_str(n->ctx, n->in[j].element));
}

bool onnx_check_rank(onnx_node_t* n, uint32_t i, int32_t low, int32_t high) {
  int32_t rank = onnx_rank(n->in[i]);
  if (rank >= low && rank <= high) return true;
  if (low == high) return onnx_error(n, "input %u must have rank %d, has %d", i, low, rank);
  return onnx_error(n, "input %u must have rank %d to %d, has %d", i, low, high, rank);
}

bool onnx_check_float(onnx_node_t* n, uint32_t i) {
  return onnx_is_float(n->in[i]) ||
         onnx_error(n, "input %u must have floating-point elements, has %s", i, ir_type_str(n->ctx, n->in[i].element));
}

//===----------------------------------------------------------------------------------------------------------------===
// Building
//===----------------------------------------------------------------------------------------------------------------===

onnx_value_t onnx_cast(onnx_node_t* n, onnx_value_t x, const ir_type_t* element) {
  if (x.element == element) return x;
  bool from_int = ir_type_is_int(x.element);
  bool is_unsigned = from_int ? onnx_is_unsigned(x) : ir_type_is_int(element) && element->sign == IR_UNSIGNED;
  const ir_type_t* signless = onnx_signless(n->ctx, element);
  ir_value_t* v = x.v->type->element == signless ? x.v : graph_cast(n->b, x.v, signless, is_unsigned);
  return onnx_value(v, element);
}

ir_value_t* onnx_unary(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x) { return graph_unary(n->b, fn, x); }

static bool dims_agree(int64_t a, int64_t b) {
  return a == b || a == 1 || b == 1 || a == IR_DYNAMIC || b == IR_DYNAMIC;
}

static bool check_broadcast(onnx_node_t* n, const ir_type_t* a, const ir_type_t* b) {
  for (int32_t i = 1; i <= a->rank && i <= b->rank; ++i) {
    if (!dims_agree(a->dims[a->rank - i], b->dims[b->rank - i])) {
      return onnx_error(n, "shapes of %s and %s do not broadcast", ir_type_str(n->ctx, a), ir_type_str(n->ctx, b));
    }
  }
  return true;
}

bool onnx_broadcast(onnx_node_t* n, ir_value_t** x, ir_value_t** y) {
  return check_broadcast(n, (*x)->type, (*y)->type) && lower_broadcast_together(n->b, x, y);
}

bool onnx_broadcast_all(onnx_node_t* n, ir_value_t** values, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < i; ++k) {
      if (!check_broadcast(n, values[k]->type, values[i]->type)) return false;
    }
  }
  return lower_broadcast(n->b, values, count);
}

ir_value_t* onnx_broadcast_onto(onnx_node_t* n, ir_value_t* x, ir_value_t* like) {
  const ir_type_t *a = x->type, *b = like->type;
  bool fits = a->rank <= b->rank && check_broadcast(n, a, b);
  for (int32_t i = 1; fits && i <= a->rank; ++i) fits = b->dims[b->rank - i] != 1 || a->dims[a->rank - i] <= 1;
  if (fits) return lower_broadcast_onto(n->b, x, like);
  onnx_error(n, "%s does not broadcast to %s", ir_type_str(n->ctx, a), ir_type_str(n->ctx, b));
  return NULL;
}

ir_value_t* onnx_binary(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  if (x->type->element != y->type->element) {
    onnx_error(n, "element types %s and %s differ", ir_type_str(n->ctx, x->type->element),
               ir_type_str(n->ctx, y->type->element));
    return NULL;
  }
  return onnx_broadcast(n, &x, &y) ? graph_binary(n->b, fn, x, y) : NULL;
}

ir_value_t* onnx_binary_onto(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, ir_value_t* y) {
  if (x->type->element != y->type->element) return onnx_binary(n, fn, x, y);  // says what is wrong
  y = onnx_broadcast_onto(n, y, x);
  return y ? graph_binary(n->b, fn, x, y) : NULL;
}

ir_value_t* onnx_binary_number(onnx_node_t* n, scalar_fn_t fn, ir_value_t* x, double y) {
  return graph_binary(n->b, fn, x, graph_splat_like(n->b, x, y));
}

ir_value_t* onnx_reshape(onnx_node_t* n, ir_value_t* x, int32_t rank, const onnx_dim_t* dims) {
  int64_t sizes[ONNX_MAX_RANK];
  ir_value_t* dynamic[ONNX_MAX_RANK];
  onnx_split_dims(rank, dims, sizes, dynamic);
  return graph_reshape(n->b, x, rank, sizes, dynamic);
}

ir_value_t* onnx_broadcast_to(onnx_node_t* n, ir_value_t* x, int32_t rank, const onnx_dim_t* dims) {
  int64_t sizes[ONNX_MAX_RANK], map[ONNX_MAX_RANK];
  ir_value_t* dynamic[ONNX_MAX_RANK];
  onnx_split_dims(rank, dims, sizes, dynamic);
  for (int32_t i = 0; i < x->type->rank; ++i) map[i] = rank - x->type->rank + i;
  return graph_broadcast(n->b, x, ir_type_tensor(n->ctx, x->type->element, rank, sizes), map, dynamic);
}

ir_value_t* onnx_spread(onnx_node_t* n, ir_value_t* x, int32_t rank, const int64_t* at) {
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) dims[i] = onnx_dim_of(1);
  for (int32_t i = 0; i < x->type->rank; ++i) dims[at[i]] = onnx_dim(n, x, i);
  return onnx_reshape(n, x, rank, dims);
}

ir_value_t* onnx_broadcast_as(onnx_node_t* n, ir_value_t* x, ir_value_t* like, const int64_t* at) {
  ir_value_t* dynamic[ONNX_MAX_RANK];
  const ir_type_t* type = ir_type_with_element(n->ctx, like->type, x->type->element);
  for (int32_t i = 0, count = 0; i < type->rank; ++i) {
    if (type->dims[i] == IR_DYNAMIC) dynamic[count++] = onnx_dim(n, like, i).value;
  }
  return graph_broadcast(n->b, x, type, at, dynamic);
}

ir_value_t* onnx_along(onnx_node_t* n, ir_value_t* vector, int64_t axis, ir_value_t* like) {
  int64_t own = vector->type->rank == 1 ? vector->type->dims[0] : 0, size = like->type->dims[axis];
  if (vector->type->rank != 1 || !dims_agree(own, size) || (size == 1 && own != 1 && own != IR_DYNAMIC)) {
    onnx_error(n, "needs one value per index of dimension %lld of %s, gets %s", (long long)axis,
               ir_type_str(n->ctx, like->type), ir_type_str(n->ctx, vector->type));
    return NULL;
  }
  return onnx_broadcast_as(n, vector, like, &axis);
}

ir_value_t* onnx_one_or_along(onnx_node_t* n, ir_value_t* v, int64_t axis, ir_value_t* like) {
  if (ir_type_count(v->type) == 1) return onnx_scalar_like(n, v, like);
  if (v->type->rank != 1 || v->type->dims[0] != IR_DYNAMIC) return onnx_along(n, v, axis, like);
  return onnx_broadcast_onto(n, onnx_spread(n, v, like->type->rank, &axis), like);
}

ir_value_t* onnx_scalar_like(onnx_node_t* n, ir_value_t* scalar, ir_value_t* like) {
  const ir_attr_t* value = onnx_constant(n, scalar);
  if (value && ir_type_is_float(scalar->type->element)) {
    return graph_splat_like(n->b, like, ir_attr_element_number(value, 0));
  }
  if (scalar->type->rank) scalar = graph_reshape(n->b, scalar, 0, NULL, NULL);
  return onnx_broadcast_as(n, scalar, like, NULL);
}

// The dims that are not in the list; returns their number.
static int32_t other_dims(int32_t rank, const int64_t* dims, uint32_t count, int64_t* others) {
  int32_t other_count = 0;
  for (int32_t i = 0; i < rank; ++i) {
    bool listed = false;
    for (uint32_t j = 0; j < count; ++j) listed |= dims[j] == i;
    if (!listed) others[other_count++] = i;
  }
  return other_count;
}

ir_value_t* onnx_reduce_keep(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count, const char* kind) {
  if (!count) return x;
  onnx_dim_t kept[ONNX_MAX_RANK];
  int64_t others[ONNX_MAX_RANK];
  int32_t other_count = other_dims(x->type->rank, dims, count, others);
  for (int32_t i = 0; i < x->type->rank; ++i) kept[i] = onnx_dim_of(1);
  for (int32_t i = 0; i < other_count; ++i) kept[others[i]] = onnx_dim(n, x, (int32_t)others[i]);
  return onnx_reshape(n, graph_reduce(n->b, x, dims, count, kind), x->type->rank, kept);
}

ir_value_t* onnx_reduce_spread(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count, const char* kind) {
  if (!count) return x;
  int64_t others[ONNX_MAX_RANK];
  other_dims(x->type->rank, dims, count, others);
  return onnx_broadcast_as(n, graph_reduce(n->b, x, dims, count, kind), x, others);
}

ir_value_t* onnx_size_like(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count, ir_value_t* like) {
  onnx_dim_t size = onnx_dim_of(1);
  for (uint32_t i = 0; i < count; ++i) size = onnx_dim_mul(n, size, onnx_dim(n, x, (int32_t)dims[i]));
  if (size.size != IR_DYNAMIC) return graph_splat_like(n->b, like, (double)size.size);
  const ir_type_t* index = ir_type_tensor(n->ctx, ir_type_index(n->ctx), 0, NULL);
  ir_value_t* scalar = ir_build_value(n->b, GRAPH_TO_TENSOR, &size.value, 1, index);
  scalar = graph_cast(n->b, scalar, like->type->element, false);
  return onnx_broadcast_as(n, scalar, like, NULL);
}

ir_value_t* onnx_mean_spread(onnx_node_t* n, ir_value_t* x, const int64_t* dims, uint32_t count) {
  if (!count) return x;
  int64_t others[ONNX_MAX_RANK];
  other_dims(x->type->rank, dims, count, others);
  ir_value_t* sum = graph_reduce(n->b, x, dims, count, "add");
  ir_value_t* mean = graph_binary(n->b, SCALAR_div, sum, onnx_size_like(n, x, dims, count, sum));
  return onnx_broadcast_as(n, mean, x, others);
}

ir_value_t* onnx_iota_like(onnx_node_t* n, ir_value_t* like, int64_t axis) {
  ir_value_t* dynamic[ONNX_MAX_RANK];
  for (int32_t i = 0, count = 0; i < like->type->rank; ++i) {
    if (like->type->dims[i] == IR_DYNAMIC) dynamic[count++] = graph_dim(n->b, like, (uint32_t)i);
  }
  return graph_iota(n->b, like->type, axis, dynamic);
}

//===----------------------------------------------------------------------------------------------------------------===
// Parts
//===----------------------------------------------------------------------------------------------------------------===

ir_value_t* onnx_part(onnx_node_t* n, ir_value_t* x, int64_t axis, onnx_part_t part) {
  int64_t offsets[ONNX_MAX_RANK] = {0}, sizes[ONNX_MAX_RANK], strides[ONNX_MAX_RANK];
  for (int32_t i = 0; i < x->type->rank; ++i) sizes[i] = x->type->dims[i], strides[i] = 1;
  offsets[axis] = part.from, sizes[axis] = part.count, strides[axis] = part.stride;
  return graph_slice(n->b, x, offsets, sizes, strides);
}

ir_value_t* onnx_entry(onnx_node_t* n, ir_value_t* x, int64_t axis, int64_t at) {
  ir_value_t* number = graph_scalar_constant(n->b, ir_type_int(n->ctx, 64), (double)at);
  return graph_take(n->b, x, number, axis, false);
}

ir_value_t* onnx_first(onnx_node_t* n, ir_value_t* x, ir_value_t* count) {
  ir_value_t* index = graph_cast(n->b, count, ir_type_index(n->ctx), false);
  ir_value_t* size = ir_build_value(n->b, GRAPH_TO_SCALAR, &index, 1, ir_type_index(n->ctx));
  return onnx_prefix(n, x, 0, (onnx_dim_t){.size = IR_DYNAMIC, .value = size});
}

ir_value_t* onnx_prefix(onnx_node_t* n, ir_value_t* x, int64_t axis, onnx_dim_t count) {
  int64_t offsets[ONNX_MAX_RANK] = {0}, strides[ONNX_MAX_RANK], sizes[ONNX_MAX_RANK];
  ir_value_t* operands[1 + ONNX_MAX_RANK] = {x};
  onnx_dim_t dims[ONNX_MAX_RANK];
  uint32_t rank = (uint32_t)x->type->rank, dynamic = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    strides[i] = 1;
    dims[i] = i == axis ? count : onnx_dim(n, x, (int32_t)i);
    dynamic += dims[i].size == IR_DYNAMIC;
  }
  onnx_split_dims((int32_t)rank, dims, sizes, operands + 1);
  ir_named_attr_t attrs[] = {{"offsets", ir_attr_i64_array(n->ctx, offsets, rank)},
                             {"strides", ir_attr_i64_array(n->ctx, strides, rank)}};
  const ir_type_t* type = ir_type_tensor(n->ctx, x->type->element, (int32_t)rank, sizes);
  return graph_build(n->b, GRAPH_SLICE, operands, 1 + dynamic, type, attrs, 2);
}

ir_value_t* onnx_numbers(onnx_node_t* n, int32_t rank, const onnx_dim_t* dims, int64_t axis) {
  int64_t sizes[ONNX_MAX_RANK];
  ir_value_t* dynamic[ONNX_MAX_RANK];
  onnx_split_dims(rank, dims, sizes, dynamic);
  return graph_iota(n->b, ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), rank, sizes), axis, dynamic);
}

ir_value_t* onnx_index_vector(onnx_node_t* n, const int64_t* data, int64_t count) {
  const ir_type_t* type = ir_type_tensor(n->ctx, ir_type_int(n->ctx, 64), 1, &count);
  return graph_constant(n->b, ir_attr_elements(n->ctx, type, data, sizeof(int64_t) * (size_t)count));
}
