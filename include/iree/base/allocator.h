// Byte spans and host allocators.
//
// An `iree_allocator_t` is two words passed by value: a context and one control function. Allocations are aligned to at
// least 16 bytes. Allocators are as thread safe as their control function; the system allocator is thread safe.
#ifndef IREE_BASE_ALLOCATOR_H_
#define IREE_BASE_ALLOCATOR_H_

#include <alloca.h>
#include <stdint.h>
#include <string.h>

#include "iree/base/alignment.h"
#include "iree/base/attributes.h"
#include "iree/base/config.h"
#include "iree/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#if IREE_STATISTICS_ENABLE
#define IREE_STATISTICS(expr) expr
#else
#define IREE_STATISTICS(expr)
#endif

#define iree_alloca(sz) alloca(sz)

//===----------------------------------------------------------------------------------------------------------------===
// Byte spans: a pointer and a length in bytes; not owned.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_byte_span_t {
  uint8_t* data;
  iree_host_size_t data_length;
} iree_byte_span_t;

typedef struct iree_const_byte_span_t {
  const uint8_t* data;
  iree_host_size_t data_length;
} iree_const_byte_span_t;

static inline iree_byte_span_t iree_make_byte_span(void* data, iree_host_size_t data_length) {
  iree_byte_span_t v = {(uint8_t*)data, data_length};
  return v;
}
static inline iree_byte_span_t iree_byte_span_empty(void) { return iree_make_byte_span(NULL, 0); }
static inline bool iree_byte_span_is_empty(iree_byte_span_t span) { return !span.data || !span.data_length; }
static inline iree_const_byte_span_t iree_make_const_byte_span(const void* data, iree_host_size_t data_length) {
  iree_const_byte_span_t v = {(const uint8_t*)data, data_length};
  return v;
}
static inline iree_const_byte_span_t iree_const_byte_span_empty(void) { return iree_make_const_byte_span(NULL, 0); }
static inline bool iree_const_byte_span_is_empty(iree_const_byte_span_t span) {
  return !span.data || !span.data_length;
}
static inline iree_const_byte_span_t iree_const_cast_byte_span(iree_byte_span_t span) {
  return iree_make_const_byte_span(span.data, span.data_length);
}
static inline iree_byte_span_t iree_cast_const_byte_span(iree_const_byte_span_t span) {
  return iree_make_byte_span((void*)(uintptr_t)span.data, span.data_length);
}

// Copies what will not be read again soon; the regions do not overlap.
static inline void iree_memcpy_stream_dst(void* IREE_RESTRICT dst, const void* IREE_RESTRICT src,
                                          iree_host_size_t size) {
  memcpy(dst, src, size);
}

//===----------------------------------------------------------------------------------------------------------------===
// Structs that arrays follow in one allocation
//
//   IREE_RETURN_IF_ERROR(IREE_STRUCT_LAYOUT(sizeof(*list), &total, IREE_STRUCT_FIELD(count, uint64_t, &offset)));
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_struct_field_t {
  iree_host_size_t count[2];  // elements: the product
  iree_host_size_t element_size;
  iree_host_size_t alignment;    // 0: right behind what is before
  iree_host_size_t* out_offset;  // may be NULL
} iree_struct_field_t;

#define IREE_STRUCT_FIELD(count_expr, type, out_offset_ptr) {{(count_expr), 1}, sizeof(type), 0, (out_offset_ptr)}
#define IREE_STRUCT_FIELD_ALIGNED(count_expr, type, align, out_offset_ptr) \
  {{(count_expr), 1}, sizeof(type), (align), (out_offset_ptr)}
#define IREE_STRUCT_ARRAY_FIELD(count1, count2, type, out_offset_ptr) \
  {{(count1), (count2)}, sizeof(type), 0, (out_offset_ptr)}
#define IREE_STRUCT_ARRAY_FIELD_ALIGNED(count1, count2, type, align, out_offset_ptr) \
  {{(count1), (count2)}, sizeof(type), (align), (out_offset_ptr)}
// The array that is the struct's last member.
#define IREE_STRUCT_FIELD_FAM(count_expr, type) {{(count_expr), 1}, sizeof(type), iree_alignof(type), NULL}

#if defined(__cplusplus)
#define IREE_STRUCT_LAYOUT(base_size, out_total, ...)                                                             \
  ([&]() {                                                                                                        \
    const iree_struct_field_t fields_[] = {__VA_ARGS__};                                                          \
    return iree_struct_layout_calculate((base_size), fields_, sizeof(fields_) / sizeof(fields_[0]), (out_total)); \
  }())
#else
#define IREE_STRUCT_LAYOUT(base_size, out_total, ...)                                                            \
  iree_struct_layout_calculate((base_size), (const iree_struct_field_t[]){__VA_ARGS__},                          \
                               sizeof((const iree_struct_field_t[]){__VA_ARGS__}) / sizeof(iree_struct_field_t), \
                               (out_total))
#endif

// Places the fields one after the other behind `base_size` bytes. Errors: OUT_OF_RANGE when sizes do not fit.
IREE_API_EXPORT iree_status_t iree_struct_layout_calculate(iree_host_size_t base_size,
                                                           const iree_struct_field_t* fields,
                                                           iree_host_size_t field_count, iree_host_size_t* out_total);

//===----------------------------------------------------------------------------------------------------------------===
// iree_allocator_t
//===----------------------------------------------------------------------------------------------------------------===

typedef enum iree_allocator_command_e {
  IREE_ALLOCATOR_COMMAND_MALLOC = 0,   // uninitialized; params: iree_allocator_alloc_params_t
  IREE_ALLOCATOR_COMMAND_CALLOC = 1,   // zeroed
  IREE_ALLOCATOR_COMMAND_REALLOC = 2,  // *inout_ptr may be NULL
  IREE_ALLOCATOR_COMMAND_FREE = 3,     // no params; *inout_ptr may be NULL
} iree_allocator_command_t;

typedef struct iree_allocator_alloc_params_t {
  iree_host_size_t byte_length;
} iree_allocator_alloc_params_t;

typedef iree_status_t(IREE_API_PTR* iree_allocator_ctl_fn_t)(void* self, iree_allocator_command_t command,
                                                             const void* params, void** inout_ptr);

struct iree_allocator_t {
  void* self;
  iree_allocator_ctl_fn_t ctl;
};

// The C heap.
IREE_API_EXPORT iree_status_t iree_allocator_libc_ctl(void* self, iree_allocator_command_t command, const void* params,
                                                      void** inout_ptr);
static inline iree_allocator_t iree_allocator_system(void) {
  iree_allocator_t v = {NULL, iree_allocator_libc_ctl};
  return v;
}
// Frees nothing: for memory that is not owned. Allocating from it fails with INVALID_ARGUMENT.
static inline iree_allocator_t iree_allocator_null(void) {
  iree_allocator_t v = {NULL, NULL};
  return v;
}
static inline bool iree_allocator_is_null(iree_allocator_t allocator) { return allocator.ctl == NULL; }

// Zeroed memory. Errors: INVALID_ARGUMENT for 0 bytes, RESOURCE_EXHAUSTED. *out_ptr is NULL on error.
IREE_API_EXPORT iree_status_t iree_allocator_malloc(iree_allocator_t allocator, iree_host_size_t byte_length,
                                                    void** out_ptr);
// As iree_allocator_malloc, not zeroed.
IREE_API_EXPORT iree_status_t iree_allocator_malloc_uninitialized(iree_allocator_t allocator,
                                                                  iree_host_size_t byte_length, void** out_ptr);
// Grows or shrinks; new bytes are not zeroed. On error *inout_ptr stays as it was, and valid.
IREE_API_EXPORT iree_status_t iree_allocator_realloc(iree_allocator_t allocator, iree_host_size_t byte_length,
                                                     void** inout_ptr);
// A copy of `source_bytes`.
IREE_API_EXPORT iree_status_t iree_allocator_clone(iree_allocator_t allocator, iree_const_byte_span_t source_bytes,
                                                   void** out_ptr);
// Frees; accepts NULL.
IREE_API_EXPORT void iree_allocator_free(iree_allocator_t allocator, void* ptr);

// Arrays of `count` elements; as above, with OUT_OF_RANGE when the size overflows. The grow form at least doubles
// *inout_capacity (in elements) to reach `minimum_capacity`.
IREE_API_EXPORT iree_status_t iree_allocator_malloc_array(iree_allocator_t allocator, iree_host_size_t count,
                                                          iree_host_size_t element_size, void** out_ptr);
IREE_API_EXPORT iree_status_t iree_allocator_malloc_array_uninitialized(iree_allocator_t allocator,
                                                                        iree_host_size_t count,
                                                                        iree_host_size_t element_size, void** out_ptr);
IREE_API_EXPORT iree_status_t iree_allocator_realloc_array(iree_allocator_t allocator, iree_host_size_t count,
                                                           iree_host_size_t element_size, void** inout_ptr);
IREE_API_EXPORT iree_status_t iree_allocator_malloc_struct_array(iree_allocator_t allocator,
                                                                 iree_host_size_t struct_size, iree_host_size_t count,
                                                                 iree_host_size_t element_size, void** out_ptr);
// A structure followed by `trailing_size` bytes.
IREE_API_EXPORT iree_status_t iree_allocator_malloc_with_trailing(iree_allocator_t allocator,
                                                                  iree_host_size_t struct_size,
                                                                  iree_host_size_t trailing_size, void** out_ptr);
IREE_API_EXPORT iree_status_t iree_allocator_grow_array(iree_allocator_t allocator, iree_host_size_t minimum_capacity,
                                                        iree_host_size_t element_size, iree_host_size_t* inout_capacity,
                                                        void** inout_ptr);

// Memory whose address plus `offset` is a multiple of `min_alignment`; not zeroed. Only _free_aligned frees it.
IREE_API_EXPORT iree_status_t iree_allocator_malloc_aligned(iree_allocator_t allocator, iree_host_size_t byte_length,
                                                            iree_host_size_t min_alignment, iree_host_size_t offset,
                                                            void** out_ptr);
// Grows or shrinks such memory; new bytes are not zeroed. On error *inout_ptr stays as it was, and valid.
IREE_API_EXPORT iree_status_t iree_allocator_realloc_aligned(iree_allocator_t allocator, iree_host_size_t byte_length,
                                                             iree_host_size_t min_alignment, iree_host_size_t offset,
                                                             void** inout_ptr);
IREE_API_EXPORT void iree_allocator_free_aligned(iree_allocator_t allocator, void* ptr);

//===----------------------------------------------------------------------------------------------------------------===
// Inline arena: a bump allocator over storage of the caller's, for bounded temporaries. Freeing does nothing.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct {
  iree_host_size_t capacity;
  iree_host_size_t length;     // bytes in use
  iree_host_size_t head_size;  // size of the newest allocation: it alone can grow
  uint8_t* buffer;
} iree_allocator_inline_storage_t;

// Declares `var` with `storage_capacity` bytes; pass &var.header to iree_allocator_inline_arena.
#define IREE_ALLOCATOR_INLINE_STORAGE(var, storage_capacity) \
  struct {                                                   \
    iree_allocator_inline_storage_t header;                  \
    uint8_t data[storage_capacity];                          \
  } var = {.header = {.capacity = sizeof((var).data), .length = 0, .buffer = &(var).data[0]}};

IREE_API_EXPORT iree_status_t iree_allocator_inline_arena_ctl(void* self, iree_allocator_command_t command,
                                                              const void* params, void** inout_ptr);
static inline iree_allocator_t iree_allocator_inline_arena(iree_allocator_inline_storage_t* storage) {
  iree_allocator_t v = {storage, iree_allocator_inline_arena_ctl};
  return v;
}

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_ALLOCATOR_H_
