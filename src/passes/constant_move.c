// See constant_move.h. Transposing and packing are strided copies with runs as long as the layouts have in common.
#include "passes/constant_move.h"

#include <string.h>

#include "base/memory.h"
#include "dialects/graph.h"

//===----------------------------------------------------------------------------------------------------------------===
// Transposing
//===----------------------------------------------------------------------------------------------------------------===

// A transposed copy, in order of its own elements: runs of `run` bytes from `from`, over dims with strides in bytes.
typedef struct strided_t {
  ir_lazy_t lazy;
  const ir_attr_t* from;
  int32_t rank;
  int64_t sizes[GRAPH_MAX_RANK + 1];
  int64_t strides[GRAPH_MAX_RANK + 1];
  size_t run;
} strided_t;

static void strided_read(const ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out) {
  const strided_t* s = (const strided_t*)lazy;
  int64_t at[GRAPH_MAX_RANK + 1], number = (int64_t)(offset / s->run), place = 0;
  size_t within = offset % s->run;
  for (int32_t i = s->rank; i-- > 0; number /= s->sizes[i]) {
    at[i] = number % s->sizes[i];
    place += at[i] * s->strides[i];
  }
  while (size) {
    size_t bytes = s->run - within < size ? s->run - within : size;
    ir_attr_read(s->from, (size_t)place + within, bytes, out);
    out += bytes;
    size -= bytes;
    within = 0;
    for (int32_t i = s->rank; i-- > 0;) {
      place += s->strides[i];
      if (++at[i] < s->sizes[i]) break;
      place -= s->sizes[i] * s->strides[i];
      at[i] = 0;
    }
  }
}

// Copies of short runs go through all of the source at once.
static unsigned char* copy_strided(const strided_t* s, int32_t dim, const unsigned char* from, unsigned char* to) {
  int64_t size = s->sizes[dim], stride = s->strides[dim];
  if (dim + 1 < s->rank) {
    for (int64_t i = 0; i < size; ++i) to = copy_strided(s, dim + 1, from + i * stride, to);
    return to;
  }
  if (s->run == 4) {
    for (int64_t i = 0; i < size; ++i) memcpy(to + i * 4, from + i * stride, 4);
  } else {
    for (int64_t i = 0; i < size; ++i) memcpy(to + (size_t)i * s->run, from + i * stride, s->run);
  }
  return to + (size_t)size * s->run;
}

// All at once.
static void turned_read(const ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out) {
  const strided_t* s = (const strided_t*)lazy;
  unsigned char* from = memory_alloc(lazy->size);
  ir_attr_read(s->from, 0, lazy->size, from);
  copy_strided(s, 0, from, out);
  memory_free(from);
}

static void row_major(const ir_type_t* type, int64_t* strides) {
  int64_t stride = 1;
  for (int32_t i = type->rank; i-- > 0;) {
    strides[i] = stride;
    stride *= type->dims[i];
  }
}

// Dims at the end that stay together are one run.
static void merge_runs(strided_t* s) {
  while (s->rank > 1 && s->strides[s->rank - 1] == (int64_t)s->run) {
    s->run *= (size_t)s->sizes[s->rank - 1];
    --s->rank;
  }
}

const ir_attr_t* constant_transpose(ir_context_t* ctx, const ir_attr_t* value, const int64_t* perm) {
  enum { SHORT_RUN = 64, SMALL = 4096 };
  const ir_type_t* type = value->type;
  int64_t strides[GRAPH_MAX_RANK], dims[GRAPH_MAX_RANK];
  strided_t s = {.from = value, .rank = type->rank, .run = ir_type_bytes(type->element)};
  s.lazy = (ir_lazy_t){.read = strided_read, .size = value->size, .unit = 1, .recipe = sizeof(s) - sizeof(s.lazy)};
  row_major(type, strides);
  for (int32_t i = 0; i < type->rank; ++i) {
    s.sizes[i] = dims[i] = type->dims[perm[i]];
    s.strides[i] = strides[perm[i]] * (int64_t)s.run;
  }
  const ir_type_t* to = ir_type_tensor(ctx, type->element, type->rank, dims);
  if (value->splat || !value->size) return ir_attr_elements(ctx, to, ir_attr_data(value), value->size);
  merge_runs(&s);
  if (value->size >= SMALL) {  // by its recipe, so that one that is asked for again is the same
    bool pieces = s.run >= SHORT_RUN && (!value->lazy || value->lazy->unit == 1);
    if (!pieces) s.lazy.read = turned_read, s.lazy.unit = value->size;
    return ir_attr_lazy(ctx, to, NULL, arena_copy(ir_context_arena(ctx), &s, sizeof(s)));
  }
  unsigned char* data = arena_alloc(ir_context_arena(ctx), value->size);
  copy_strided(&s, 0, ir_attr_data(value), data);
  return ir_attr_elements_borrow(ctx, to, data, value->size);
}

//===----------------------------------------------------------------------------------------------------------------===
// Packing
//===----------------------------------------------------------------------------------------------------------------===

// Blocks of `tile` slices of `inner` elements, interleaved; zeros where a last block has fewer. A unit is a block.
typedef struct packed_t {
  ir_lazy_t lazy;
  const ir_attr_t* from;
  int64_t size, tile, inner;  // of the packed axis and what lies inside
  size_t bytes;
} packed_t;

// One block of `count` (of `tile`) slices: to[i][t] = from[t][i]. In strips that stay in the first-level cache.
static void interleave(const packed_t* p, const unsigned char* from, unsigned char* to, int64_t count) {
  enum { STRIP = 16 };
  size_t bytes = p->bytes;
  for (int64_t i = 0; i < p->inner; i += STRIP) {
    int64_t end = i + STRIP < p->inner ? i + STRIP : p->inner;
    for (int64_t t = 0; t < count; ++t) {
      const unsigned char* in = from + (size_t)(t * p->inner) * bytes;
      for (int64_t j = i; j < end; ++j) {
        if (bytes == 4) {
          memcpy(to + (j * p->tile + t) * 4, in + j * 4, 4);
        } else {
          memcpy(to + (size_t)(j * p->tile + t) * bytes, in + (size_t)j * bytes, bytes);
        }
      }
    }
  }
}

static void packed_read(const ir_lazy_t* lazy, size_t offset, size_t size, unsigned char* out) {
  const packed_t* p = (const packed_t*)lazy;
  size_t unit = p->lazy.unit, slice = (size_t)p->inner * p->bytes;
  int64_t blocks = (p->size + p->tile - 1) / p->tile;
  unsigned char* source = memory_alloc(unit);
  for (int64_t number = (int64_t)(offset / unit); size; ++number, size -= unit, out += unit) {
    int64_t first = number % blocks * p->tile, count = p->size - first < p->tile ? p->size - first : p->tile;
    if (p->from->splat) {
      for (size_t i = 0; i < (size_t)count * slice; i += p->bytes) ir_attr_read(p->from, 0, p->bytes, source + i);
    } else {
      ir_attr_read(p->from, (size_t)(number / blocks * p->size + first) * slice, (size_t)count * slice, source);
    }
    if (count < p->tile) memset(out, 0, unit);
    interleave(p, source, out, count);
  }
  memory_free(source);
}

const ir_attr_t* constant_pack(ir_context_t* ctx, const ir_attr_t* value, int64_t axis, int64_t tile) {
  const ir_type_t* type = value->type;
  int64_t dims[GRAPH_MAX_RANK + 1];
  packed_t p = {.from = value, .size = type->dims[axis], .tile = tile, .inner = 1};
  memcpy(dims, type->dims, sizeof(int64_t) * (size_t)type->rank);
  dims[axis] = (p.size + tile - 1) / tile;
  dims[type->rank] = tile;
  for (int32_t i = (int32_t)axis + 1; i < type->rank; ++i) p.inner *= dims[i];
  const ir_type_t* to = ir_type_tensor(ctx, type->element, type->rank + 1, dims);
  p.bytes = ir_type_bytes(type->element);
  if (p.size % tile == 0 && (value->splat || p.inner == 1)) return ir_attr_retype(ctx, value, to);
  p.lazy = (ir_lazy_t){.read = packed_read,
                       .size = (size_t)ir_type_count(to) * p.bytes,
                       .unit = (size_t)(p.inner * tile) * p.bytes,
                       .recipe = sizeof(p) - sizeof(p.lazy)};
  if (!p.lazy.size) return ir_attr_elements(ctx, to, NULL, 0);
  if (value->lazy && value->lazy->unit > 1) ir_attr_data(value);  // it is read in other pieces
  return ir_attr_lazy(ctx, to, NULL, arena_copy(ir_context_arena(ctx), &p, sizeof(p)));
}

const ir_attr_t* constant_reshape(ir_context_t* ctx, const ir_attr_t* value, const ir_type_t* type) {
  return ir_attr_retype(ctx, value, type);
}
