// Growing arrays of plain rows, for the writer.
#ifndef MODULE_ROWS_H_
#define MODULE_ROWS_H_

#include "iree/base/api.h"

// Zero-initialise, set row_size, rows_finish.
typedef struct rows_t {
  void* data;
  size_t row_size;
  size_t count;
  size_t capacity;
} rows_t;

static inline void rows_finish(rows_t* rows, iree_allocator_t allocator) {
  iree_allocator_free(allocator, rows->data);
  rows->data = NULL;
  rows->count = rows->capacity = 0;
}

// Room for `count` more rows at the end, not counted yet.
static inline iree_status_t rows_reserve(rows_t* rows, size_t count, iree_allocator_t allocator) {
  if (rows->capacity - rows->count >= count) return iree_ok_status();
  if (count > SIZE_MAX / 4 - rows->count) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED);
  return iree_allocator_grow_array(allocator, rows->count + count < 16 ? 16 : rows->count + count, rows->row_size,
                                   &rows->capacity, &rows->data);
}

// Appends copies of `count` rows (zeros when `source` is NULL).
static inline iree_status_t rows_append(rows_t* rows, size_t count, const void* source, iree_allocator_t allocator) {
  if (!count) return iree_ok_status();
  IREE_RETURN_IF_ERROR(rows_reserve(rows, count, allocator));
  uint8_t* target = (uint8_t*)rows->data + rows->count * rows->row_size;
  if (source) {
    memcpy(target, source, count * rows->row_size);
  } else {
    memset(target, 0, count * rows->row_size);
  }
  rows->count += count;
  return iree_ok_status();
}

#define ROWS_AT(rows, type, index) (&((type*)(rows)->data)[index])

#endif  // MODULE_ROWS_H_
