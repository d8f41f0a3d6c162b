// Small operators of ai.onnx.ml: selections and maps of values.
#include "import/onnx/ml.h"

#include <math.h>
#include <string.h>

#include "import/onnx/ops.h"
#include "import/onnx/strings.h"

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
// LabelEncoder and CategoryMapper
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

// A list of keys or values as a constant vector; `v` NULL after a diagnostic.
static onnx_value_t list_value(onnx_node_t* n, const ir_attr_t* list) {
  return onnx_value(onnx_graph_constant(n->b, list), list->type->element);
}

static onnx_value_t string_list(onnx_node_t* n, const char* name) {
  return onnx_string_value(n, onnx_string_list(n, name));
}

// keys_* or values_*; `v` NULL after a diagnostic.
static onnx_value_t read_side(onnx_node_t* n, const char* side) {
  arena_t* arena = ir_context_arena(n->ctx);
  const char *tensor = arena_printf(arena, "%s_tensor", side), *strings = arena_printf(arena, "%s_strings", side);
  const ir_attr_t* found = onnx_attr(n, tensor);
  if (found && found->kind == IR_ATTR_ARRAY) return string_list(n, tensor);
  if (found && (found->kind != IR_ATTR_ELEMENTS || found->type->rank != 1)) found = NULL;
  if (!found && onnx_attr(n, strings)) return string_list(n, strings);
  if (!found) found = onnx_number_list(n, arena_printf(arena, "%s_int64s", side), onnx_si64(n->ctx));
  if (!found) found = onnx_number_list(n, arena_printf(arena, "%s_floats", side), onnx_f32(n->ctx));
  if (found) return list_value(n, found);
  onnx_error(n, "attribute '%s_tensor', '%s_strings', '%s_int64s' or '%s_floats' is required", side, side, side, side);
  return (onnx_value_t){0};
}

// What a key that is not listed gives: one of such values. NULL after a diagnostic.
static ir_value_t* default_value(onnx_node_t* n, const ir_type_t* element) {
  const ir_attr_t* tensor = onnx_attr(n, "default_tensor");
  if (onnx_is_str(element)) {
    onnx_value_t value;
    bool listed = tensor && tensor->kind == IR_ATTR_ARRAY && tensor->count == 1;
    const ir_attr_t* given = listed ? tensor->items[0] : onnx_attr(n, "default_string");
    if (!given) given = ir_attr_cstring(n->ctx, "_Unused");
    if (given->kind != IR_ATTR_STRING) return onnx_error(n, "the default must be one string"), NULL;
    return onnx_string_constant(n, given, &value) ? value.v : NULL;
  }
  if (tensor && tensor->kind == IR_ATTR_ELEMENTS && ir_type_count(tensor->type) == 1) {
    onnx_value_t value = onnx_value(onnx_graph_constant(n->b, tensor), tensor->type->element);
    value.v = graph_reshape(n->b, value.v, 0, NULL, NULL);
    return onnx_cast(n, value, element).v;
  }
  bool real = ir_type_is_float(element);
  double number = real ? onnx_float(n, "default_float", -0.0) : (double)onnx_int(n, "default_int64", -1);
  return graph_scalar_constant(n->b, onnx_signless(n->ctx, element), number);
}

// x == key for each key: [shape of x, keys].
static ir_value_t* match_keys(onnx_node_t* n, onnx_value_t in, ir_value_t* keys) {
  ir_value_t* x = in.v;
  if (onnx_is_string(in)) return onnx_string_matches(n, x, keys);
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
  return same;
}

// Of equal keys the last counts.
ir_value_t* onnx_find_key(onnx_node_t* n, onnx_value_t x, ir_value_t* keys) {
  ir_value_t* same = match_keys(n, x, keys);
  const int64_t last = same->type->rank - 1;
  ir_value_t* wide = graph_cast(n->b, same, ir_type_int(n->ctx, 64), true);
  ir_value_t* places = graph_select(n->b, same, onnx_iota_like(n, wide, last), graph_splat_like(n->b, wide, -1));
  places = graph_reduce(n->b, places, &last, 1, "max");
  return onnx_binary_number(n, SCALAR_max, places, -1);
}

static bool map_keys(onnx_node_t* n, onnx_value_t keys, onnx_value_t values) {
  onnx_value_t x = n->in[0];
  int64_t count = keys.v->type->dims[0];
  if (keys.element != x.element) {
    return onnx_error(n, "keys are %s, but the input is %s", ir_type_str(n->ctx, keys.element),
                      ir_type_str(n->ctx, x.element));
  }
  if (count != values.v->type->dims[0]) return onnx_error(n, "needs as many values as keys");
  if (!count) return onnx_error(n, "has no keys");
  if (x.v->type->rank >= ONNX_MAX_RANK) return onnx_error(n, "the rank is too high");
  ir_value_t *place = onnx_find_key(n, x, keys.v), *both[] = {values.v, default_value(n, values.element)};
  if (!both[1]) return false;
  if (onnx_is_string(values)) onnx_string_align(n, both, 2);
  ir_value_t* found = graph_take(n->b, both[0], place, 0, true);
  int64_t at[ONNX_MAX_RANK], width = found->type->rank - 1;
  for (int32_t i = 0; i < place->type->rank; ++i) at[i] = i;
  ir_value_t* missing = onnx_broadcast_as(n, onnx_binary_number(n, SCALAR_lt, place, 0), found, at);
  ir_value_t* other = onnx_broadcast_as(n, both[1], found, &width);
  return onnx_return(n, graph_select(n->b, missing, other, found), values.element);
}

bool onnx_lower_label_encoder(onnx_node_t* n) {
  onnx_value_t keys = read_side(n, "keys"), values = keys.v ? read_side(n, "values") : keys;
  return values.v && map_keys(n, keys, values);
}

bool onnx_lower_category_mapper(onnx_node_t* n) {
  const ir_attr_t* list = onnx_number_list(n, "cats_int64s", onnx_si64(n->ctx));
  if (!list) return onnx_error(n, "attribute 'cats_int64s' is required");
  onnx_value_t strings = string_list(n, "cats_strings"), numbers = list_value(n, list);
  if (!strings.v) return false;
  return onnx_is_string(n->in[0]) ? map_keys(n, strings, numbers) : map_keys(n, numbers, strings);
}
