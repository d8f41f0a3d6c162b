// Element types, and shapes.
#include "pjrt/pjrt.h"

static const pjrt_type_t types[] = {
#define TYPE(name, hal, bits, text) {#name, hal, bits, text},
#include "pjrt/types.def"
};
enum { TYPE_COUNT = sizeof(types) / sizeof(types[0]) };

const pjrt_type_t* pjrt_type_find(int type) {
  return type > 0 && type < TYPE_COUNT && types[type].bits ? &types[type] : NULL;
}

int pjrt_type_parse(const char* text) {
  for (int i = 0; i < TYPE_COUNT; ++i) {
    if (types[i].bits && strcmp(types[i].text, text) == 0) return i;
  }
  return 0;
}

bool pjrt_shape_count(const int64_t* dims, size_t rank, size_t* count) {
  size_t total = 1;
  bool is_empty = false;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0) return false;
    is_empty |= dims[i] == 0;
  }
  for (size_t i = 0; i < rank && !is_empty; ++i) {
    if (__builtin_mul_overflow(total, (size_t)dims[i], &total) || total > (size_t)1 << 56) return false;
  }
  *count = is_empty ? 0 : total;
  return true;
}

bool pjrt_layout_strides(const PJRT_Buffer_MemoryLayout* layout, const int64_t* dims, size_t rank, size_t bytes,
                         int64_t* strides) {
  if (layout && layout->kind == PJRT_LAYOUT_STRIDES) {
    if (layout->strides.num_byte_strides != rank) return false;
    if (rank) memcpy(strides, layout->strides.byte_strides, rank * sizeof(*strides));
    return true;
  }
  if (layout && (layout->tiled.num_tiles || layout->tiled.minor_to_major_size != rank)) return false;
  int64_t step = (int64_t)bytes;
  uint64_t seen = 0;
  for (size_t i = 0; i < rank; ++i) {
    int64_t d = layout ? layout->tiled.minor_to_major[i] : (int64_t)(rank - 1 - i);
    if (d < 0 || (size_t)d >= rank || seen >> d & 1) return false;
    seen |= (uint64_t)1 << d;
    strides[d] = step;
    step *= dims[d];
  }
  return true;
}

static void copy_line(char* target, int64_t target_stride, const char* source, int64_t source_stride, int64_t count,
                      size_t bytes) {
  if (target_stride == (int64_t)bytes && source_stride == (int64_t)bytes) {
    memcpy(target, source, (size_t)count * bytes);
    return;
  }
  for (int64_t i = 0; i < count; ++i) memcpy(target + i * target_stride, source + i * source_stride, bytes);
}

void pjrt_copy_strided(char* target, const int64_t* target_strides, const char* source, const int64_t* source_strides,
                       const int64_t* dims, size_t rank, size_t bytes) {
  for (size_t i = 0; i < rank; ++i) {
    if (!dims[i]) return;
  }
  // Dimensions that follow each other without a gap on both sides are one.
  int64_t size = 1;
  while (rank && target_strides[rank - 1] == size * (int64_t)bytes &&
         source_strides[rank - 1] == size * (int64_t)bytes) {
    size *= dims[--rank];
  }
  bytes *= (size_t)size;
  if (!rank) {
    memcpy(target, source, bytes);
  } else if (rank == 1) {
    copy_line(target, target_strides[0], source, source_strides[0], dims[0], bytes);
  } else {
    for (int64_t i = 0; i < dims[0]; ++i) {
      pjrt_copy_strided(target + i * target_strides[0], target_strides + 1, source + i * source_strides[0],
                        source_strides + 1, dims + 1, rank - 1, bytes);
    }
  }
}
