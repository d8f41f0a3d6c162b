// Small operators of ai.onnx.ml: selections and maps of values.
#include "import/onnx/ml.h"

#include <math.h>
#include <string.h>

#include "import/onnx/ops.h"

// Columns of the last dimension; a vector is one row.
bool onnx_lower_array_feature_extractor(onnx_node_t* n) {
  onnx_value_t x = n->in[0], places = n->in[1];
  if (!onnx_is_int(places) || !onnx_rank(x)) return onnx_error(n, "needs a tensor and integer indices");
  onnx_dim_t row[] = {onnx_dim_of(1), onnx_dim(n, x.v, onnx_rank(x) - 1)};
  onnx_dim_t flat = onnx_dim_of(1);
  for (int32_t i = 0; i < onnx_rank(places); ++i) flat = onnx_dim_mul(n, flat, onnx_dim(n, places.v, i));
  ir_value_t* v = onnx_rank(x) == 1 ? onnx_reshape(n, x.v, 2, row) : x.v;
  ir_value_t* at = onnx_reshape(n, places.v, 1, &flat);
  return onnx_return(n, graph_take(n->b, v, at, v->type->rank - 1, false), x.element);
}

bool onnx_lower_binarizer(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  if (!onnx_is_float(x) && !onnx_is_int(x)) return onnx_error(n, "needs numbers");
  onnx_value_t wide = onnx_is_int(x) ? onnx_cast(n, x, ir_type_float(n->ctx, IR_F64)) : x;
  ir_value_t* above = onnx_binary_number(n, SCALAR_gt, wide.v, onnx_float(n, "threshold", 0));
  n->out[0] = onnx_cast(n, onnx_value(above, onnx_bool(n->ctx)), x.element);
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// LabelEncoder
//===----------------------------------------------------------------------------------------------------------------===

const ir_attr_t* onnx_number_list(onnx_node_t* n, const char* name, const ir_type_t* element) {
  const ir_attr_t* list = onnx_attr(n, name);
  if (!list || list->kind != IR_ATTR_ARRAY) return NULL;
  int64_t count = list->count;
  uint32_t size = ir_type_bytes(element);
  unsigned char* data = ARENA_ARRAY(ir_context_arena(n->ctx), unsigned char, (size_t)size * list->count + 1);
  for (uint32_t i = 0; i < list->count; ++i) {
    const ir_attr_t* item = list->items[i];
    if (item->kind == IR_ATTR_INTEGER) ir_scalar_store_integer(element, item->integer, data + i * size);
    if (item->kind == IR_ATTR_FLOAT) ir_scalar_store_number(element, item->number, data + i * size);
  }
  return ir_attr_elements(n->ctx, ir_type_tensor(n->ctx, element, 1, &count), data, (size_t)size * list->count);
}

// keys_* or values_*: NULL after a diagnostic.
static const ir_attr_t* read_side(onnx_node_t* n, const char* side) {
  arena_t* arena = ir_context_arena(n->ctx);
  const ir_attr_t* tensor = onnx_attr(n, arena_printf(arena, "%s_tensor", side));
  if (onnx_attr(n, arena_printf(arena, "%s_strings", side))) {
    return onnx_unsupported(n, "%s_strings: strings have no form on a device", side), NULL;
  }
  const ir_attr_t* found = tensor && tensor->kind == IR_ATTR_ELEMENTS && tensor->type->rank == 1 ? tensor : NULL;
  if (!found) found = onnx_number_list(n, arena_printf(arena, "%s_int64s", side), onnx_si64(n->ctx));
  if (!found) found = onnx_number_list(n, arena_printf(arena, "%s_floats", side), onnx_f32(n->ctx));
  if (!found) onnx_error(n, "attribute '%s_tensor', '%s_int64s' or '%s_floats' is required", side, side, side);
  return found;
}

// What a key that is not listed gives.
static ir_value_t* default_value(onnx_node_t* n, const ir_type_t* element) {
  const ir_attr_t* tensor = onnx_attr(n, "default_tensor");
  if (tensor && tensor->kind == IR_ATTR_ELEMENTS && ir_type_count(tensor->type) == 1) {
    onnx_value_t value = onnx_value(onnx_graph_constant(n->b, tensor), tensor->type->element);
    value.v = graph_reshape(n->b, value.v, 0, NULL, NULL);
    return onnx_cast(n, value, element).v;
  }
  bool real = ir_type_is_float(element);
  double number = real ? onnx_float(n, "default_float", -0.0) : (double)onnx_int(n, "default_int64", -1);
  return graph_scalar_constant(n->b, onnx_signless(n->ctx, element), number);
}

// x == key for each key; of equal keys the last counts: the place of the last match, -1 without one.
static ir_value_t* find_keys(onnx_node_t* n, ir_value_t* x, ir_value_t* keys) {
  int32_t rank = x->type->rank + 1;
  int64_t at[ONNX_MAX_RANK], last = rank - 1;
  onnx_dim_t dims[ONNX_MAX_RANK];
  for (int32_t i = 0; i < rank - 1; ++i) {
    at[i] = i;
    dims[i] = onnx_dim(n, x, i);
  }
  dims[last] = onnx_dim(n, keys, 0);
  x = onnx_broadcast_to(n, onnx_spread(n, x, rank, at), rank, dims);
  keys = onnx_broadcast_to(n, keys, rank, dims);
  ir_value_t* same = graph_binary(n->b, SCALAR_eq, x, keys);
  if (ir_type_is_float(x->type->element)) {
    ir_value_t* neither =
        graph_binary(n->b, SCALAR_and, onnx_unary(n, SCALAR_is_nan, x), onnx_unary(n, SCALAR_is_nan, keys));
    same = graph_binary(n->b, SCALAR_or, same, neither);
  }
  ir_value_t* places = onnx_numbers(n, rank, dims, last);
  places = graph_select(n->b, same, places, graph_splat_like(n->b, places, -1));
  return graph_reduce(n->b, places, &last, 1, "max");
}

bool onnx_lower_label_encoder(onnx_node_t* n) {
  onnx_value_t x = n->in[0];
  const ir_attr_t *keys = read_side(n, "keys"), *values = keys ? read_side(n, "values") : NULL;
  if (!values) return false;
  const ir_type_t* element = values->type->element;
  if (keys->type->element != x.element) {
    return onnx_error(n, "keys are %s, but the input is %s", ir_type_str(n->ctx, keys->type->element),
                      ir_type_str(n->ctx, x.element));
  }
  if (ir_type_count(keys->type) != ir_type_count(values->type)) return onnx_error(n, "needs as many values as keys");
  if (!ir_type_count(keys->type)) return onnx_error(n, "has no keys");
  if (onnx_rank(x) >= ONNX_MAX_RANK) return onnx_error(n, "the rank is too high");
  ir_value_t* place = find_keys(n, x.v, onnx_graph_constant(n->b, keys));
  ir_value_t* found = graph_take(n->b, onnx_graph_constant(n->b, values), place, 0, true);
  ir_value_t* other = onnx_broadcast_as(n, default_value(n, element), found, NULL);
  ir_value_t* missing = onnx_binary_number(n, SCALAR_lt, place, 0);
  return onnx_return(n, graph_select(n->b, missing, other, found), element);
}
