// Host allocators: the C heap, aligned and array forms over any allocator, and the inline arena.
#include "iree/base/allocator.h"

// glibc's calloc takes nothing of what the thread has freed last, and locks its arena. Compilers make a calloc of the
// two calls unless something is between them.
static void* allocate_zeros(size_t size) {
  enum { MOST_CLEARED = 1024 };
  if (size > MOST_CLEARED) return calloc(1, size);
  void* ptr = malloc(size);
  __asm__("" : "+r"(ptr));
  return ptr ? memset(ptr, 0, size) : NULL;
}

iree_status_t iree_allocator_libc_ctl(void* self, iree_allocator_command_t command, const void* params,
                                      void** inout_ptr) {
  iree_host_size_t size =
      command == IREE_ALLOCATOR_COMMAND_FREE ? 0 : ((const iree_allocator_alloc_params_t*)params)->byte_length;
  void* ptr = NULL;
  switch (command) {
    case IREE_ALLOCATOR_COMMAND_MALLOC:
      ptr = malloc(size);
      break;
    case IREE_ALLOCATOR_COMMAND_CALLOC:
      ptr = allocate_zeros(size);
      break;
    case IREE_ALLOCATOR_COMMAND_REALLOC:
      ptr = realloc(*inout_ptr, size);
      break;
    case IREE_ALLOCATOR_COMMAND_FREE:
      free(*inout_ptr);
      return iree_ok_status();
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "allocator command %d", (int)command);
  }
  if (!ptr) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory allocating %" PRIhsz " bytes", size);
  *inout_ptr = ptr;
  return iree_ok_status();
}

static iree_status_t allocator_issue(iree_allocator_t allocator, iree_allocator_command_t command,
                                     iree_host_size_t byte_length, void** inout_ptr) {
  if (byte_length == 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "allocations must be >0 bytes");
  if (!allocator.ctl) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the null allocator cannot allocate");
  iree_allocator_alloc_params_t params = {byte_length};
  return allocator.ctl(allocator.self, command, &params, inout_ptr);
}

iree_status_t iree_allocator_malloc(iree_allocator_t allocator, iree_host_size_t byte_length, void** out_ptr) {
  *out_ptr = NULL;
  return allocator_issue(allocator, IREE_ALLOCATOR_COMMAND_CALLOC, byte_length, out_ptr);
}

iree_status_t iree_allocator_malloc_uninitialized(iree_allocator_t allocator, iree_host_size_t byte_length,
                                                  void** out_ptr) {
  *out_ptr = NULL;
  return allocator_issue(allocator, IREE_ALLOCATOR_COMMAND_MALLOC, byte_length, out_ptr);
}

iree_status_t iree_allocator_realloc(iree_allocator_t allocator, iree_host_size_t byte_length, void** inout_ptr) {
  return allocator_issue(allocator, IREE_ALLOCATOR_COMMAND_REALLOC, byte_length, inout_ptr);
}

iree_status_t iree_allocator_clone(iree_allocator_t allocator, iree_const_byte_span_t source_bytes, void** out_ptr) {
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(allocator, source_bytes.data_length, out_ptr));
  memcpy(*out_ptr, source_bytes.data, source_bytes.data_length);
  return iree_ok_status();
}

void iree_allocator_free(iree_allocator_t allocator, void* ptr) {
  if (ptr && allocator.ctl) {
    iree_status_ignore(allocator.ctl(allocator.self, IREE_ALLOCATOR_COMMAND_FREE, NULL, &ptr));
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Arrays
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t array_size(iree_host_size_t header, iree_host_size_t count, iree_host_size_t element_size,
                                iree_host_size_t* out_size) {
  if (iree_host_size_checked_mul_add(header, count, element_size, out_size)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "array of %" PRIhsz " elements of %" PRIhsz " bytes is too large",
                          count, element_size);
}

iree_status_t iree_allocator_malloc_array(iree_allocator_t allocator, iree_host_size_t count,
                                          iree_host_size_t element_size, void** out_ptr) {
  return iree_allocator_malloc_struct_array(allocator, 0, count, element_size, out_ptr);
}

iree_status_t iree_allocator_malloc_array_uninitialized(iree_allocator_t allocator, iree_host_size_t count,
                                                        iree_host_size_t element_size, void** out_ptr) {
  *out_ptr = NULL;
  iree_host_size_t size = 0;
  IREE_RETURN_IF_ERROR(array_size(0, count, element_size, &size));
  return iree_allocator_malloc_uninitialized(allocator, size, out_ptr);
}

iree_status_t iree_allocator_realloc_array(iree_allocator_t allocator, iree_host_size_t count,
                                           iree_host_size_t element_size, void** inout_ptr) {
  iree_host_size_t size = 0;
  IREE_RETURN_IF_ERROR(array_size(0, count, element_size, &size));
  return iree_allocator_realloc(allocator, size, inout_ptr);
}

iree_status_t iree_allocator_malloc_struct_array(iree_allocator_t allocator, iree_host_size_t struct_size,
                                                 iree_host_size_t count, iree_host_size_t element_size,
                                                 void** out_ptr) {
  *out_ptr = NULL;
  iree_host_size_t size = 0;
  IREE_RETURN_IF_ERROR(array_size(struct_size, count, element_size, &size));
  return iree_allocator_malloc(allocator, size, out_ptr);
}

iree_status_t iree_allocator_malloc_with_trailing(iree_allocator_t allocator, iree_host_size_t struct_size,
                                                  iree_host_size_t trailing_size, void** out_ptr) {
  return iree_allocator_malloc_struct_array(allocator, struct_size, trailing_size, 1, out_ptr);
}

iree_status_t iree_allocator_grow_array(iree_allocator_t allocator, iree_host_size_t minimum_capacity,
                                        iree_host_size_t element_size, iree_host_size_t* inout_capacity,
                                        void** inout_ptr) {
  iree_host_size_t doubled = *inout_capacity <= IREE_HOST_SIZE_MAX / 2 ? *inout_capacity * 2 : *inout_capacity;
  iree_host_size_t capacity = iree_max(doubled, minimum_capacity);
  IREE_RETURN_IF_ERROR(iree_allocator_realloc_array(allocator, capacity, element_size, inout_ptr));
  *inout_capacity = capacity;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Aligned memory: the block's own pointer is kept in the word before the aligned one.
//===----------------------------------------------------------------------------------------------------------------===

// The size of a block for aligned memory.
static iree_status_t aligned_block_size(iree_host_size_t byte_length, iree_host_size_t alignment,
                                        iree_host_size_t* out_size) {
  if (byte_length == 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "allocations must be >0 bytes");
  if (!iree_host_size_is_power_of_two(alignment)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "alignment %" PRIhsz " is not a power of two", alignment);
  }
  if (!iree_host_size_checked_add(byte_length, sizeof(void*) + alignment, out_size)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "allocation of %" PRIhsz " bytes is too large", byte_length);
  }
  return iree_ok_status();
}

// Where the memory is in its block.
static uint8_t* align_in_block(void* block, iree_host_size_t alignment, iree_host_size_t offset) {
  uintptr_t first = (uintptr_t)block + sizeof(void*);
  uintptr_t aligned = iree_host_align(first + offset % alignment, alignment) - offset % alignment;
  return (uint8_t*)(aligned < first ? aligned + alignment : aligned);
}

static void set_block(uint8_t* ptr, void* block) {
  memcpy(ptr - sizeof(block), &block, sizeof(block));  // `ptr` need not be aligned, for an offset
}

static void* get_block(const void* ptr) {
  void* block = NULL;
  memcpy(&block, (const uint8_t*)ptr - sizeof(block), sizeof(block));
  return block;
}

iree_status_t iree_allocator_malloc_aligned(iree_allocator_t allocator, iree_host_size_t byte_length,
                                            iree_host_size_t min_alignment, iree_host_size_t offset, void** out_ptr) {
  *out_ptr = NULL;
  iree_host_size_t alignment = iree_max(min_alignment, sizeof(void*)), size = 0;
  IREE_RETURN_IF_ERROR(aligned_block_size(byte_length, alignment, &size));
  void* block = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(allocator, size, &block));
  uint8_t* ptr = align_in_block(block, alignment, offset);
  set_block(ptr, block);
  *out_ptr = ptr;
  return iree_ok_status();
}

iree_status_t iree_allocator_realloc_aligned(iree_allocator_t allocator, iree_host_size_t byte_length,
                                             iree_host_size_t min_alignment, iree_host_size_t offset,
                                             void** inout_ptr) {
  if (!*inout_ptr) return iree_allocator_malloc_aligned(allocator, byte_length, min_alignment, offset, inout_ptr);
  iree_host_size_t alignment = iree_max(min_alignment, sizeof(void*)), size = 0;
  IREE_RETURN_IF_ERROR(aligned_block_size(byte_length, alignment, &size));
  void* block = get_block(*inout_ptr);
  iree_host_size_t distance = (iree_host_size_t)((uint8_t*)*inout_ptr - (uint8_t*)block);
  // Room for the contents where they are now and where they have to be.
  if (!iree_host_size_checked_add(size, distance, &size)) return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  IREE_RETURN_IF_ERROR(iree_allocator_realloc(allocator, size, &block));
  uint8_t* ptr = align_in_block(block, alignment, offset);
  memmove(ptr, (uint8_t*)block + distance, byte_length);
  set_block(ptr, block);
  *inout_ptr = ptr;
  return iree_ok_status();
}

void iree_allocator_free_aligned(iree_allocator_t allocator, void* ptr) {
  if (ptr) iree_allocator_free(allocator, get_block(ptr));
}

//===----------------------------------------------------------------------------------------------------------------===
// Inline arena
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t inline_arena_allocate(iree_allocator_inline_storage_t* storage, iree_host_size_t size,
                                           void** out_ptr) {
  iree_host_size_t start =
      iree_host_align((uintptr_t)storage->buffer + storage->length, 16) - (uintptr_t)storage->buffer;
  if (start > storage->capacity || size > storage->capacity - start) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "inline storage of %" PRIhsz " bytes has no room for %" PRIhsz " more", storage->capacity,
                            size);
  }
  storage->length = start + size;
  storage->head_size = size;
  *out_ptr = storage->buffer + start;
  return iree_ok_status();
}

static iree_status_t inline_arena_grow(iree_allocator_inline_storage_t* storage, iree_host_size_t size,
                                       void** inout_ptr) {
  if (!*inout_ptr) return inline_arena_allocate(storage, size, inout_ptr);
  iree_host_size_t start = storage->length - storage->head_size;
  if (*inout_ptr != storage->buffer + start || size > storage->capacity - start) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "inline storage cannot grow this block to %" PRIhsz, size);
  }
  storage->length = start + size;
  storage->head_size = size;
  return iree_ok_status();
}

iree_status_t iree_allocator_inline_arena_ctl(void* self, iree_allocator_command_t command, const void* params,
                                              void** inout_ptr) {
  iree_allocator_inline_storage_t* storage = (iree_allocator_inline_storage_t*)self;
  if (command == IREE_ALLOCATOR_COMMAND_FREE) return iree_ok_status();
  iree_host_size_t size = ((const iree_allocator_alloc_params_t*)params)->byte_length;
  if (command == IREE_ALLOCATOR_COMMAND_REALLOC) return inline_arena_grow(storage, size, inout_ptr);
  IREE_RETURN_IF_ERROR(inline_arena_allocate(storage, size, inout_ptr));
  if (command == IREE_ALLOCATOR_COMMAND_CALLOC) memset(*inout_ptr, 0, size);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Struct layouts
//===----------------------------------------------------------------------------------------------------------------===

static bool place_field(const iree_struct_field_t* field, iree_host_size_t* total) {
  iree_host_size_t count = 0;
  if (field->alignment && !iree_host_size_checked_align(*total, field->alignment, total)) return false;
  if (field->out_offset) *field->out_offset = *total;
  return iree_host_size_checked_mul(field->count[0], field->count[1], &count) &&
         iree_host_size_checked_mul_add(*total, count, field->element_size, total);
}

iree_status_t iree_struct_layout_calculate(iree_host_size_t base_size, const iree_struct_field_t* fields,
                                           iree_host_size_t field_count, iree_host_size_t* out_total) {
  iree_host_size_t total = base_size;
  for (iree_host_size_t i = 0; i < field_count; ++i) {
    if (!place_field(&fields[i], &total)) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "field %" PRIhsz " of a struct is too large", i);
    }
  }
  *out_total = total;
  return iree_ok_status();
}
