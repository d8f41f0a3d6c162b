// See constant_move.h. Transposing and packing are strided copies with runs as long as the layouts have in common.
#include "passes/constant_move.h"

#include <stdlib.h>
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

// One block of `count` (of `tile`) slices, each `inner` elements, interleaved: to[i][t] = from[t][i]. In strips that
// stay in the first-level cache.
static void interleave(const unsigned char* from, unsigned char* to, int64_t inner, int64_t count, int64_t tile,
                       size_t bytes) {
  enum { STRIP = 16 };
  for (int64_t i = 0; i < inner; i += STRIP) {
    int64_t end = i + STRIP < inner ? i + STRIP : inner;
    for (int64_t t = 0; t < count; ++t) {
      const unsigned char* in = from + (size_t)(t * inner) * bytes;
      for (int64_t j = i; j < end; ++j) {
        if (bytes == 4) {
          memcpy(to + (j * tile + t) * 4, in + j * 4, 4);
        } else {
          memcpy(to + (size_t)(j * tile + t) * bytes, in + (size_t)j * bytes, bytes);
        }
      }
    }
  }
}

const ir_attr_t* constant_pack(ir_context_t* ctx, const ir_attr_t* value, int64_t axis, int64_t tile) {
  const ir_type_t* type = value->type;
  int64_t dims[GRAPH_MAX_RANK + 1], outer = 1, inner = 1;
  size_t bytes = ir_type_bytes(type->element);
  int64_t size = type->dims[axis], blocks = (size + tile - 1) / tile;
  memcpy(dims, type->dims, sizeof(int64_t) * (size_t)type->rank);
  dims[axis] = blocks;
  dims[type->rank] = tile;
  for (int32_t i = 0; i < axis; ++i) outer *= dims[i];
  for (int32_t i = (int32_t)axis + 1; i < type->rank; ++i) inner *= dims[i];
  const ir_type_t* to = ir_type_tensor(ctx, type->element, type->rank + 1, dims);
  bool whole = size % tile == 0;
  if (whole && (value->splat || inner == 1)) return ir_attr_elements_borrow(ctx, to, value->data, value->size);
  size_t total = (size_t)ir_type_count(to) * bytes, source_size = (size_t)ir_type_count(type) * bytes;
  unsigned char* data = arena_alloc(ir_context_arena(ctx), total ? total : 1);  // zeroed
  const unsigned char* source = value->data;
  unsigned char* filled = NULL;
  if (value->splat) {
    filled = malloc(source_size ? source_size : 1);
    if (!filled) abort();
    for (size_t i = 0; i < source_size; i += bytes) memcpy(filled + i, value->data, bytes);
    source = filled;
  }
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t block = 0; block < blocks; ++block) {
      int64_t count = size - block * tile < tile ? size - block * tile : tile;
      interleave(source + (size_t)((o * size + block * tile) * inner) * bytes,
                 data + (size_t)((o * blocks + block) * inner * tile) * bytes, inner, count, tile, bytes);
    }
  }
  free(filled);
  return ir_attr_elements_borrow(ctx, to, data, total);
}

const ir_attr_t* constant_reshape(ir_context_t* ctx, const ir_attr_t* value, const ir_type_t* type) {
  return ir_attr_elements_borrow(ctx, type, value->data, value->size);
}
