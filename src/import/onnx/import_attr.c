// Types and attributes of a model as the torch dialect has them.
#include <string.h>

#include "base/memory.h"
#include "import/onnx/importer.h"

static ir_name_t intern(onnx_importer_t* im, onnx_bytes_t bytes) {
  return ir_intern(im->ctx, bytes.data ? bytes.data : "", bytes.size);
}

static const ir_type_t* tensor_type(onnx_importer_t* im, const onnx_pb_tensor_type_t* type) {
  const ir_type_t* element = onnx_any_element_type(im->ctx, type->elem_type);
  if (!element) {
    ir_error(im->ctx, im->loc, "element type %s (%lld) has no counterpart here", onnx_data_type_name(type->elem_type),
             (long long)type->elem_type);
    return NULL;
  }
  int64_t dims[ONNX_MAX_RANK];
  if (!type->shape) return ir_type_vtensor(im->ctx, element, -1, NULL);
  if (type->shape->dims.count > ONNX_MAX_RANK) {
    ir_error(im->ctx, im->loc, "a shape of rank %zu is beyond the supported %d", type->shape->dims.count,
             ONNX_MAX_RANK);
    return NULL;
  }
  for (size_t i = 0; i < type->shape->dims.count; ++i) {
    const onnx_chunks_t* value = &type->shape->dims.data[i].value;
    dims[i] = value->count ? onnx_bytes_varint(value->data[0], -1) : -1;
    if (dims[i] < 0) dims[i] = IR_DYNAMIC;
  }
  return ir_type_vtensor(im->ctx, element, (int32_t)type->shape->dims.count, dims);
}

// Sequences and optionals as torch spells them; `!torch.` is dropped inside.
static const ir_type_t* holder_type(onnx_importer_t* im, const char* name, const onnx_pb_holder_type_t* holder) {
  const onnx_pb_type_t* inner = holder->elem_type;
  const ir_type_t* type = NULL;
  if (inner && inner->tensor_type) type = tensor_type(im, inner->tensor_type);
  if (inner && inner->sequence_type) type = holder_type(im, "torch.list", inner->sequence_type);
  if (!type) return NULL;
  return ir_type_opaque(im->ctx, name, ir_type_str(im->ctx, type) + strlen("!torch."));
}

const ir_type_t* onnx_import_type(onnx_importer_t* im, const onnx_pb_type_t* type, const char* name) {
  const ir_type_t* result = NULL;
  if (!type) return ir_type_opaque(im->ctx, "torch.none", NULL);
  if (type->tensor_type) result = tensor_type(im, type->tensor_type);
  if (type->sequence_type) result = holder_type(im, "torch.list", type->sequence_type);
  if (type->optional_type) result = holder_type(im, "torch.optional", type->optional_type);
  if (!result) {
    const char* kind = type->map_type             ? "a map"
                       : type->sequence_type      ? "a sequence of other things than tensors"
                       : type->sparse_tensor_type ? "a sparse tensor"
                                                  : "an unknown type";
    if (!type->tensor_type) ir_error(im->ctx, im->loc, "'%s' is %s; only tensors are supported", name, kind);
  }
  return result;
}

static bool attr_refused(onnx_importer_t* im, const char* name, const char* what) {
  return ir_error(im->ctx, im->loc, "attribute '%s' is %s, which is not supported", name, what);
}

static const ir_attr_t* number_list(onnx_importer_t* im, const onnx_pb_attribute_t* a, bool floats) {
  size_t count = floats ? a->floats.count : a->ints.count;
  const ir_type_t* f32 = ir_type_float(im->ctx, IR_F32);
  const ir_type_t* si64 = ir_type_integer(im->ctx, 64, IR_SIGNED);
  const ir_attr_t** items = memory_array(count + 1, sizeof(*items));
  for (size_t i = 0; i < count; ++i) {
    items[i] = floats ? ir_attr_float(im->ctx, f32, (double)a->floats.data[i])
                      : ir_attr_integer(im->ctx, si64, a->ints.data[i]);
  }
  const ir_attr_t* list = ir_attr_array(im->ctx, items, (uint32_t)count);
  memory_free(items);
  return list;
}

static const ir_attr_t* other_list(onnx_importer_t* im, const onnx_pb_attribute_t* a, bool tensors) {
  size_t count = tensors ? a->tensors.count : a->strings.count;
  const ir_attr_t** items = memory_array(count + 1, sizeof(*items));
  bool complete = true;
  for (size_t i = 0; i < count && complete; ++i) {
    onnx_bytes_t s = tensors ? (onnx_bytes_t){0} : a->strings.data[i];
    items[i] = tensors ? onnx_tensor_attr(im, &a->tensors.data[i], intern(im, a->tensors.data[i].name))
                       : ir_attr_string(im->ctx, s.data, s.size);
    complete = items[i] != NULL;
  }
  const ir_attr_t* list = complete ? ir_attr_array(im->ctx, items, (uint32_t)count) : NULL;
  memory_free(items);
  return list;
}

// Files before IR version 2 do not say an attribute's type.
static int64_t attribute_type(const onnx_pb_attribute_t* a) {
  if (a->type) return a->type;
  if (a->ints.count) return ONNX_ATTR_INTS;
  if (a->floats.count) return ONNX_ATTR_FLOATS;
  if (a->strings.count) return ONNX_ATTR_STRINGS;
  if (a->t) return ONNX_ATTR_TENSOR;
  if (a->g) return ONNX_ATTR_GRAPH;
  if (a->s.data) return ONNX_ATTR_STRING;
  return a->f != 0 ? ONNX_ATTR_FLOAT : ONNX_ATTR_INT;
}

bool onnx_import_attr(onnx_importer_t* im, const onnx_pb_attribute_t* a, const ir_attr_t** out) {
  ir_context_t* ctx = im->ctx;
  const char* name = intern(im, a->name);
  *out = NULL;
  switch (attribute_type(a)) {
    case ONNX_ATTR_FLOAT:
      *out = ir_attr_float(ctx, ir_type_float(ctx, IR_F32), (double)a->f);
      return true;
    case ONNX_ATTR_INT:
      *out = ir_attr_integer(ctx, ir_type_integer(ctx, 64, IR_SIGNED), a->i);
      return true;
    case ONNX_ATTR_STRING:
      *out = ir_attr_string(ctx, a->s.data ? a->s.data : "", a->s.size);
      return true;
    case ONNX_ATTR_TENSOR:
      if (a->t) *out = onnx_tensor_attr(im, a->t, intern(im, a->t->name));
      return *out || (a->t == NULL && attr_refused(im, name, "a tensor without value"));
    case ONNX_ATTR_GRAPH:
      return a->g || attr_refused(im, name, "a graph without value");
    case ONNX_ATTR_FLOATS:
      return (*out = number_list(im, a, true)) != NULL;
    case ONNX_ATTR_INTS:
      return (*out = number_list(im, a, false)) != NULL;
    case ONNX_ATTR_STRINGS:
      return (*out = other_list(im, a, false)) != NULL;
    case ONNX_ATTR_TENSORS:
      return (*out = other_list(im, a, true)) != NULL;
    case ONNX_ATTR_GRAPHS:
      return attr_refused(im, name, "a list of graphs");
    case ONNX_ATTR_SPARSE_TENSOR:
    case ONNX_ATTR_SPARSE_TENSORS:
      return attr_refused(im, name, "a sparse tensor");
    case ONNX_ATTR_TYPE_PROTO: {
      const ir_type_t* type = a->tp ? onnx_import_type(im, a->tp, name) : NULL;
      if (!type) return a->tp ? false : attr_refused(im, name, "a type without value");
      return *out = ir_attr_type(ctx, type), true;
    }
    case ONNX_ATTR_TYPE_PROTOS:
      return attr_refused(im, name, "a type");
    default:
      return attr_refused(im, name, "of an unknown kind");
  }
}
