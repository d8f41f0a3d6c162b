// Memory of one owner: pieces that are freed together, and bytes that grow.
#ifndef IREE_C_TOKENIZER_STORE_H_
#define IREE_C_TOKENIZER_STORE_H_

#include "iree/base/api.h"

typedef struct store_block_t store_block_t;
typedef struct store_t {
  iree_allocator_t allocator;
  store_block_t* blocks;
  size_t used, capacity;  // of the first block
} store_t;

static inline store_t store_make(iree_allocator_t allocator) { return (store_t){.allocator = allocator}; }
void store_free(store_t* memory);
// Zeros.
iree_status_t store_take(store_t* memory, size_t count, size_t element_size, void** out);
// A copy with a NUL behind it.
iree_status_t store_copy(store_t* memory, iree_string_view_t text, iree_string_view_t* out);

typedef struct bytes_t {
  iree_allocator_t allocator;
  char* data;
  size_t size, capacity;
} bytes_t;

static inline bytes_t bytes_make(iree_allocator_t allocator) { return (bytes_t){.allocator = allocator}; }
void bytes_free(bytes_t* bytes);
iree_status_t bytes_append(bytes_t* bytes, const void* data, size_t size);
static inline iree_status_t bytes_append_view(bytes_t* bytes, iree_string_view_t view) {
  return bytes_append(bytes, view.data, view.size);
}
iree_status_t bytes_append_code(bytes_t* bytes, uint32_t code);
static inline iree_string_view_t bytes_view(const bytes_t* bytes) {
  return iree_make_string_view(bytes->data, bytes->size);
}

#endif  // IREE_C_TOKENIZER_STORE_H_
