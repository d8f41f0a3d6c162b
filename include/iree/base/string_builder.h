// A growing string. One thread at a time.
#ifndef IREE_BASE_STRING_BUILDER_H_
#define IREE_BASE_STRING_BUILDER_H_

#include "iree/base/allocator.h"
#include "iree/base/string_view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_string_builder_t {
  iree_allocator_t allocator;
  char* buffer;           // NULL until something is appended; NUL-terminated afterwards
  iree_host_size_t size;  // bytes, without the terminator
  iree_host_size_t capacity;
} iree_string_builder_t;

// An empty builder whose storage comes from `allocator`.
IREE_API_EXPORT void iree_string_builder_initialize(iree_allocator_t allocator, iree_string_builder_t* out_builder);
// An empty builder over fixed storage; appending past it fails with RESOURCE_EXHAUSTED but `size` keeps counting what
// would be needed. With `buffer` NULL it only measures and appending succeeds.
IREE_API_EXPORT void iree_string_builder_initialize_with_storage(char* buffer, iree_host_size_t buffer_capacity,
                                                                 iree_string_builder_t* out_builder);
IREE_API_EXPORT void iree_string_builder_deinitialize(iree_string_builder_t* builder);

IREE_API_EXPORT const char* iree_string_builder_buffer(const iree_string_builder_t* builder);
IREE_API_EXPORT iree_host_size_t iree_string_builder_size(const iree_string_builder_t* builder);
IREE_API_EXPORT iree_host_size_t iree_string_builder_capacity(const iree_string_builder_t* builder);
IREE_API_EXPORT iree_string_view_t iree_string_builder_view(const iree_string_builder_t* builder);
// The storage, now the caller's to free with the builder's allocator; the builder is empty afterwards. NULL if empty.
IREE_API_EXPORT IREE_MUST_USE_RESULT char* iree_string_builder_take_storage(iree_string_builder_t* builder);
// Makes room for `minimum_capacity` bytes in all, terminator included.
IREE_API_EXPORT iree_status_t iree_string_builder_reserve(iree_string_builder_t* builder,
                                                          iree_host_size_t minimum_capacity);
// Empties it, keeping the storage.
IREE_API_EXPORT void iree_string_builder_reset(iree_string_builder_t* builder);
// Appends `count` bytes for the caller to fill at *out_head (NULL when only measuring).
IREE_API_EXPORT iree_status_t iree_string_builder_append_inline(iree_string_builder_t* builder, iree_host_size_t count,
                                                                char** out_head);
// Append; RESOURCE_EXHAUSTED when memory runs out.
IREE_API_EXPORT iree_status_t iree_string_builder_append_string(iree_string_builder_t* builder,
                                                                iree_string_view_t value);
IREE_API_EXPORT iree_status_t iree_string_builder_append_cstring(iree_string_builder_t* builder, const char* value);
IREE_API_EXPORT IREE_PRINTF_ATTRIBUTE(2, 3) iree_status_t
    iree_string_builder_append_format(iree_string_builder_t* builder, const char* format, ...);
// Appends the status's text form; does not consume `status`.
IREE_API_EXPORT iree_status_t iree_string_builder_append_status(iree_string_builder_t* builder, iree_status_t status);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_STRING_BUILDER_H_
