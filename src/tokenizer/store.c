// See store.h.
#include "tokenizer/store.h"

#include "tokenizer/unicode.h"

struct store_block_t {
  store_block_t* next;
  char data[];
};

enum { BLOCK_SIZE = 64 << 10, ALIGNMENT = 8 };

void store_free(store_t* memory) {
  for (store_block_t *block = memory->blocks, *next; block; block = next) {
    next = block->next;
    iree_allocator_free(memory->allocator, block);
  }
  *memory = store_make(memory->allocator);
}

iree_status_t store_take(store_t* memory, size_t count, size_t element_size, void** out) {
  size_t size = 0;
  if (__builtin_mul_overflow(count, element_size, &size) || size > SIZE_MAX / 2) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "%zu elements of %zu bytes are too many", count, element_size);
  }
  size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (!memory->blocks || size > memory->capacity - memory->used) {
    store_block_t* block = NULL;
    size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    IREE_RETURN_IF_ERROR(iree_allocator_malloc(memory->allocator, sizeof(*block) + capacity, (void**)&block));
    block->next = memory->blocks;
    memory->blocks = block;
    memory->used = 0;
    memory->capacity = capacity;
  }
  *out = memory->blocks->data + memory->used;
  memory->used += size;
  return iree_ok_status();
}

iree_status_t store_copy(store_t* memory, iree_string_view_t text, iree_string_view_t* out) {
  char* copy = NULL;
  IREE_RETURN_IF_ERROR(store_take(memory, text.size + 1, 1, (void**)&copy));
  if (text.size) memcpy(copy, text.data, text.size);
  *out = iree_make_string_view(copy, text.size);
  return iree_ok_status();
}

void bytes_free(bytes_t* bytes) {
  iree_allocator_free(bytes->allocator, bytes->data);
  *bytes = bytes_make(bytes->allocator);
}

iree_status_t bytes_append(bytes_t* bytes, const void* data, size_t size) {
  if (size > bytes->capacity - bytes->size) {
    size_t capacity = bytes->capacity ? bytes->capacity : 64;
    while (capacity - bytes->size < size) capacity *= 2;
    IREE_RETURN_IF_ERROR(iree_allocator_realloc(bytes->allocator, capacity, (void**)&bytes->data));
    bytes->capacity = capacity;
  }
  if (size) memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
  return iree_ok_status();
}

iree_status_t bytes_append_code(bytes_t* bytes, uint32_t code) {
  char text[4];
  return bytes_append(bytes, text, utf8_encode(code, text));
}
