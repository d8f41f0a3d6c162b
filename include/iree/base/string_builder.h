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
// For functions that write what they are given room for: room for at least `minimum_additional_capacity` characters and
// a terminator behind the end, *out_capacity of them without it; then how many of them were written.
IREE_API_EXPORT iree_status_t iree_string_builder_reserve_for_append(iree_string_builder_t* builder,
                                                                     iree_host_size_t minimum_additional_capacity,
                                                                     char** out_buffer, iree_host_size_t* out_capacity);
IREE_API_EXPORT void iree_string_builder_commit_append(iree_string_builder_t* builder, iree_host_size_t append_size);
// Append; RESOURCE_EXHAUSTED when memory runs out.
IREE_API_EXPORT iree_status_t iree_string_builder_append_string(iree_string_builder_t* builder,
                                                                iree_string_view_t value);
IREE_API_EXPORT iree_status_t iree_string_builder_append_cstring(iree_string_builder_t* builder, const char* value);
IREE_API_EXPORT IREE_PRINTF_ATTRIBUTE(2, 3) iree_status_t
    iree_string_builder_append_format(iree_string_builder_t* builder, const char* format, ...);
// Appends the status's text form; does not consume `status`.
IREE_API_EXPORT iree_status_t iree_string_builder_append_status(iree_string_builder_t* builder, iree_status_t status);

//===----------------------------------------------------------------------------------------------------------------===
// Lists of pairs, with storage for strings that have none of their own. The pairs stay where they are until the next is
// added.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_string_pair_builder_t {
  iree_allocator_t allocator;
  iree_string_pair_t* pairs;
  iree_host_size_t pairs_size;
  iree_host_size_t pairs_capacity;
  char** temp_strings;
  iree_host_size_t temp_strings_size;
  iree_host_size_t temp_strings_capacity;
} iree_string_pair_builder_t;
IREE_API_EXPORT void iree_string_pair_builder_initialize(iree_allocator_t allocator,
                                                         iree_string_pair_builder_t* out_builder);
IREE_API_EXPORT void iree_string_pair_builder_deinitialize(iree_string_pair_builder_t* builder);
static inline iree_string_pair_t* iree_string_pair_builder_pairs(iree_string_pair_builder_t* builder) {
  return builder->pairs;
}
static inline iree_host_size_t iree_string_pair_builder_size(iree_string_pair_builder_t* builder) {
  return builder->pairs_size;
}
// The strings have to live as long as the list.
IREE_API_EXPORT iree_status_t iree_string_pair_builder_add(iree_string_pair_builder_t* builder,
                                                           iree_string_pair_t pair);
IREE_API_EXPORT iree_status_t iree_string_pair_builder_add_int32(iree_string_pair_builder_t* builder,
                                                                 iree_string_view_t key, int32_t value);
// Replaces the string by a copy that lives as long as the builder.
IREE_API_EXPORT iree_status_t iree_string_pair_builder_emplace_string(iree_string_pair_builder_t* builder,
                                                                      iree_string_view_t* inout_string);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_STRING_BUILDER_H_
