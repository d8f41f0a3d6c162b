// Sparse tensors of a model, as the dense ones that they stand for.
#include <string.h>

#include "import/onnx/importer.h"

enum { MAX_BYTES = 1 << 30 };  // of the dense tensor: a few bytes of a file may ask for any size

// Where entry i belongs: its index is one number, or one for each dimension. -1 when that is outside of the shape.
static int64_t find_place(const ir_type_t* type, const ir_attr_t* indices, int64_t i) {
  int64_t total = ir_type_count(type), place = 0;
  if (indices->type->rank == 1) {
    place = ir_attr_element_integer(indices, i);
    return place >= 0 && place < total ? place : -1;
  }
  for (int32_t d = 0; d < type->rank; ++d) {
    int64_t at = ir_attr_element_integer(indices, i * type->rank + d);
    if (at < 0 || at >= type->dims[d]) return -1;
    place = place * type->dims[d] + at;
  }
  return place;
}

// The type of the dense tensor. NULL after a diagnostic.
static const ir_type_t* dense_type(onnx_importer_t* im, const onnx_pb_sparse_tensor_t* t, const ir_type_t* element,
                                   const char* name) {
  uint64_t bytes = ir_type_bytes(element);
  bool fits = t->dims.count <= ONNX_MAX_RANK;
  for (size_t i = 0; fits && i < t->dims.count; ++i) {
    fits = t->dims.data[i] >= 0 && !__builtin_mul_overflow(bytes, (uint64_t)t->dims.data[i], &bytes);
  }
  if (fits && bytes <= MAX_BYTES) return ir_type_tensor(im->ctx, element, (int32_t)t->dims.count, t->dims.data);
  return ir_error(im->ctx, im->loc, "sparse tensor '%s' has an invalid shape, or one of more than %d bytes", name,
                  MAX_BYTES),
         NULL;
}

const ir_attr_t* onnx_sparse_attr(onnx_importer_t* im, const onnx_pb_sparse_tensor_t* t, const char* name) {
  ir_context_t* ctx = im->ctx;
  if (!t->values || !t->indices)
    return ir_error(ctx, im->loc, "sparse tensor '%s' lacks values or indices", name), NULL;
  const ir_attr_t* values = onnx_tensor_attr(im, t->values, name);
  const ir_attr_t* indices = values ? onnx_tensor_attr(im, t->indices, name) : NULL;
  const ir_type_t* type = indices ? dense_type(im, t, values->type->element, name) : NULL;
  if (!type) return NULL;
  int64_t count = ir_type_count(values->type), width = indices->type->rank == 2 ? type->rank : 1;
  bool listed = values->type->rank == 1 && indices->type->rank >= 1 && indices->type->rank <= 2 &&
                ir_type_is_int(indices->type->element) && indices->type->dims[0] == count &&
                ir_type_count(indices->type) == count * width;
  if (!listed) {
    return ir_error(ctx, im->loc, "sparse tensor '%s' needs an index, or a row of %d, for each of %lld values", name,
                    type->rank, (long long)count),
           NULL;
  }
  size_t bytes = ir_type_bytes(type->element), size = bytes * (size_t)ir_type_count(type);
  char* data = arena_alloc(ir_context_arena(ctx), size + 1);
  const char* stored = ir_attr_data(values);
  memset(data, 0, size);
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = find_place(type, indices, i);
    if (place < 0)
      return ir_error(ctx, im->loc, "sparse tensor '%s': index %lld is outside of its shape", name, (long long)i), NULL;
    memcpy(data + (size_t)place * bytes, stored + (values->splat ? 0 : (size_t)i * bytes), bytes);
  }
  return ir_attr_elements_borrow(ctx, type, data, size);
}
