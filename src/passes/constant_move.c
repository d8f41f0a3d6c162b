// See constant_move.h. Transposing and packing are strided copies with runs as long as the layouts have in common.
#include "passes/constant_move.h"

#include <string.h>

#include "dialects/graph.h"

typedef struct strided_t {
  int32_t rank;
  int64_t sizes[GRAPH_MAX_RANK + 1];
  int64_t strides[GRAPH_MAX_RANK + 1];  // of the source, in elements
  size_t bytes;
} strided_t;

// Copies in order of the target; the last dimension is a run when its source stride is 1.
static unsigned char* copy_strided(const strided_t* s, int32_t dim, const unsigned char* from, unsigned char* to) {
  int64_t size = s->sizes[dim];
  int64_t stride = s->strides[dim] * (int64_t)s->bytes;
  if (dim + 1 < s->rank) {
    for (int64_t i = 0; i < size; ++i) to = copy_strided(s, dim + 1, from + i * stride, to);
    return to;
  }
  if (s->strides[dim] == 1) {
    memcpy(to, from, (size_t)size * s->bytes);
  } else if (s->bytes == 4) {
    for (int64_t i = 0; i < size; ++i) memcpy(to + i * 4, from + i * stride, 4);
  } else {
    for (int64_t i = 0; i < size; ++i) memcpy(to + i * (int64_t)s->bytes, from + i * stride, s->bytes);
  }
  return to + size * (int64_t)s->bytes;
}

static void row_major(const ir_type_t* type, int64_t* strides) {
  int64_t stride = 1;
  for (int32_t i = type->rank; i-- > 0;) {
    strides[i] = stride;
    stride *= type->dims[i];
  }
}

const ir_attr_t* constant_transpose(ir_context_t* ctx, const ir_attr_t* value, const int64_t* perm) {
  const ir_type_t* type = value->type;
  int64_t strides[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  strided_t s = {.rank = type->rank, .bytes = ir_type_bytes(type->element)};
  row_major(type, strides);
  for (int32_t i = 0; i < type->rank; ++i) {
    s.sizes[i] = dims[i] = type->dims[perm[i]];
    s.strides[i] = strides[perm[i]];
  }
  const ir_type_t* to = ir_type_tensor(ctx, type->element, type->rank, dims);
  if (value->splat) return ir_attr_elements(ctx, to, value->data, value->size);
  unsigned char* data = arena_alloc(ir_context_arena(ctx), value->size);
  copy_strided(&s, 0, value->data, data);
  return ir_attr_elements_borrow(ctx, to, data, value->size);
}

const ir_attr_t* constant_pack(ir_context_t* ctx, const ir_attr_t* value, int64_t axis, int64_t tile) {
  const ir_type_t* type = value->type;
  int64_t strides[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK + 1];
  row_major(type, strides);
  size_t bytes = ir_type_bytes(type->element);
  int64_t size = type->dims[axis], blocks = (size + tile - 1) / tile;
  memcpy(dims, type->dims, sizeof(int64_t) * (size_t)type->rank);
  dims[axis] = blocks;
  dims[type->rank] = tile;
  const ir_type_t* to = ir_type_tensor(ctx, type->element, type->rank + 1, dims);
  if (value->splat && size % tile == 0) return ir_attr_elements(ctx, to, value->data, value->size);
  size_t total = (size_t)ir_type_count(to) * bytes;
  unsigned char* data = arena_alloc(ir_context_arena(ctx), total ? total : 1);  // zeroed
  // One row of `tile` elements at a time: target order is (.., block, .., tile).
  int64_t rows = ir_type_count(to) / tile, at[GRAPH_MAX_RANK] = {0};
  for (int64_t row = 0; row < rows; ++row) {
    int64_t offset = 0, first = at[axis] * tile, count = size - first < tile ? size - first : tile;
    for (int32_t i = 0; i < type->rank; ++i) offset += (i == axis ? first : at[i]) * strides[i];
    unsigned char* out = data + (size_t)(row * tile) * bytes;
    const unsigned char* in = (const unsigned char*)value->data + (value->splat ? 0 : (size_t)offset * bytes);
    if (strides[axis] == 1 && !value->splat) {
      memcpy(out, in, (size_t)count * bytes);
    } else {
      size_t step = value->splat ? 0 : (size_t)strides[axis] * bytes;
      for (int64_t i = 0; i < count; ++i) memcpy(out + (size_t)i * bytes, in + (size_t)i * step, bytes);
    }
    for (int32_t i = type->rank; i-- > 0 && ++at[i] == dims[i];) at[i] = 0;
  }
  return ir_attr_elements_borrow(ctx, to, data, total);
}

const ir_attr_t* constant_reshape(ir_context_t* ctx, const ir_attr_t* value, const ir_type_t* type) {
  return ir_attr_elements_borrow(ctx, type, value->data, value->size);
}
