// String views: a pointer and a length in bytes, not NUL-terminated and not owned. Positions are byte positions.
// Functions read their arguments only; all are thread safe.
#ifndef IREE_BASE_STRING_VIEW_H_
#define IREE_BASE_STRING_VIEW_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "iree/base/alignment.h"
#include "iree/base/attributes.h"
#include "iree/base/config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_status_handle_t* iree_status_t;

// "Not found" position, or "to the end" length.
#define IREE_STRING_VIEW_NPOS IREE_HOST_SIZE_MAX

typedef struct iree_string_view_t {
  const char* data;
  iree_host_size_t size;
} iree_string_view_t;

static inline iree_string_view_t iree_make_string_view(const char* str, iree_host_size_t str_length) {
  iree_string_view_t v = {str, str_length};
  return v;
}
static inline iree_string_view_t iree_string_view_empty(void) { return iree_make_string_view(NULL, 0); }
// NULL gives the empty view.
static inline iree_string_view_t iree_make_cstring_view(const char* str) {
  return iree_make_string_view(str, str ? strlen(str) : 0);
}
#define iree_string_view_is_empty(sv) (((sv).data == NULL) || ((sv).size == 0))

// A view of a literal: IREE_SV as an expression, IREE_SVL as a static initializer.
#define IREE_SV(cstr) iree_make_cstring_view(cstr)
#define IREE_SVL(cstr) iree_string_view_literal(cstr)
#define iree_string_view_literal(str) {(str), IREE_ARRAYSIZE(str) - 1}

typedef struct iree_mutable_string_view_t {
  char* data;
  iree_host_size_t size;
} iree_mutable_string_view_t;
static inline iree_mutable_string_view_t iree_make_mutable_string_view(char* str, iree_host_size_t str_length) {
  iree_mutable_string_view_t v = {str, str_length};
  return v;
}
static inline iree_mutable_string_view_t iree_mutable_string_view_empty(void) {
  return iree_make_mutable_string_view(NULL, 0);
}
#define iree_mutable_string_view_is_empty(sv) (((sv).data == NULL) || ((sv).size == 0))
static inline iree_string_view_t iree_make_const_string_view(iree_mutable_string_view_t mutable_view) {
  return iree_make_string_view(mutable_view.data, mutable_view.size);
}

typedef struct iree_string_pair_t {
  union {
    iree_string_view_t first;
    iree_string_view_t key;
  };
  union {
    iree_string_view_t second;
    iree_string_view_t value;
  };
} iree_string_pair_t;

static inline iree_string_pair_t iree_make_string_pair(iree_string_view_t first, iree_string_view_t second) {
  iree_string_pair_t v = {{first}, {second}};
  return v;
}
static inline iree_string_pair_t iree_string_pair_empty(void) {
  return iree_make_string_pair(iree_string_view_empty(), iree_string_view_empty());
}
static inline iree_string_pair_t iree_make_cstring_pair(const char* first, const char* second) {
  return iree_make_string_pair(iree_make_cstring_view(first), iree_make_cstring_view(second));
}

typedef struct iree_string_pair_list_t {
  iree_host_size_t count;
  const iree_string_pair_t* pairs;
} iree_string_pair_list_t;
static inline iree_string_pair_list_t iree_string_pair_list_empty(void) {
  iree_string_pair_list_t v = {0, NULL};
  return v;
}

typedef struct iree_string_view_list_t {
  iree_host_size_t count;
  const iree_string_view_t* values;
} iree_string_view_list_t;
static inline iree_string_view_list_t iree_string_view_list_empty(void) {
  iree_string_view_list_t v = {0, NULL};
  return v;
}

// Equality; `_case` ignores the case of ASCII letters.
IREE_API_EXPORT bool iree_string_view_equal(iree_string_view_t lhs, iree_string_view_t rhs);
IREE_API_EXPORT bool iree_string_view_equal_case(iree_string_view_t lhs, iree_string_view_t rhs);
// Below, at or above 0 as strcmp, by unsigned bytes; a prefix sorts first.
IREE_API_EXPORT int iree_string_view_compare(iree_string_view_t lhs, iree_string_view_t rhs);

// First position >= `pos` of `c`, or of any byte of `s`; last position <= `pos` of any byte of `s`. NPOS when none.
IREE_API_EXPORT iree_host_size_t iree_string_view_find_char(iree_string_view_t value, char c, iree_host_size_t pos);
IREE_API_EXPORT iree_host_size_t iree_string_view_find_first_of(iree_string_view_t value, iree_string_view_t s,
                                                                iree_host_size_t pos);
IREE_API_EXPORT iree_host_size_t iree_string_view_find_last_of(iree_string_view_t value, iree_string_view_t s,
                                                               iree_host_size_t pos);

// Nothing starts or ends with an empty string.
IREE_API_EXPORT bool iree_string_view_starts_with(iree_string_view_t value, iree_string_view_t prefix);
IREE_API_EXPORT bool iree_string_view_ends_with(iree_string_view_t value, iree_string_view_t suffix);
static inline bool iree_string_view_starts_with_char(iree_string_view_t value, char c) {
  return value.size > 0 && value.data[0] == c;
}

// Without the first or last `n` bytes (all of them when there are fewer).
IREE_API_EXPORT iree_string_view_t iree_string_view_remove_prefix(iree_string_view_t value, iree_host_size_t n);
IREE_API_EXPORT iree_string_view_t iree_string_view_remove_suffix(iree_string_view_t value, iree_host_size_t n);
// Without `prefix` or `suffix` if it is there.
IREE_API_EXPORT iree_string_view_t iree_string_view_strip_prefix(iree_string_view_t value, iree_string_view_t prefix);
IREE_API_EXPORT iree_string_view_t iree_string_view_strip_suffix(iree_string_view_t value, iree_string_view_t suffix);
// As strip, in place; true when it was there.
IREE_API_EXPORT bool iree_string_view_consume_prefix(iree_string_view_t* value, iree_string_view_t prefix);
IREE_API_EXPORT bool iree_string_view_consume_suffix(iree_string_view_t* value, iree_string_view_t suffix);
static inline bool iree_string_view_consume_prefix_char(iree_string_view_t* value, char c) {
  if (!iree_string_view_starts_with_char(*value, c)) return false;
  ++value->data;
  --value->size;
  return true;
}

// Without white space (isspace in the C locale) at either end.
IREE_API_EXPORT iree_string_view_t iree_string_view_trim(iree_string_view_t value);
// `n` bytes from `pos`, clamped to the string.
IREE_API_EXPORT iree_string_view_t iree_string_view_substr(iree_string_view_t value, iree_host_size_t pos,
                                                           iree_host_size_t n);
// Splits at the first `split_char`, which is in neither part, and returns its position. Without one: -1, everything in
// *out_lhs, *out_rhs empty. Either output may be NULL.
IREE_API_EXPORT intptr_t iree_string_view_split(iree_string_view_t value, char split_char, iree_string_view_t* out_lhs,
                                                iree_string_view_t* out_rhs);
// Replaces bytes in place: `value` must be over writable memory.
IREE_API_EXPORT void iree_string_view_replace_char(iree_string_view_t value, char old_char, char new_char);
// Glob match: `*` is any run of bytes, `?` any one byte.
IREE_API_EXPORT bool iree_string_view_match_pattern(iree_string_view_t value, iree_string_view_t pattern);
// Copies with a terminating NUL, truncating to `buffer_length`.
IREE_API_EXPORT void iree_string_view_to_cstring(iree_string_view_t value, char* buffer,
                                                 iree_host_size_t buffer_length);
// Copies `source_value` to `buffer` (no terminator), sets *target_value to the copy and returns its length.
IREE_API_EXPORT iree_host_size_t iree_string_view_append_to_buffer(iree_string_view_t source_value,
                                                                   iree_string_view_t* target_value, char* buffer);

// Numbers: the whole view, white space around it aside. False (and *out_value untouched) when it is not a number or
// does not fit. Base 0 accepts 0x and 0 prefixes.
#define IREE_IMPL_ATOI_(name, type)                                                                              \
  IREE_API_EXPORT bool iree_string_view_atoi_##name##_base(iree_string_view_t value, int base, type* out_value); \
  IREE_API_EXPORT bool iree_string_view_atoi_##name(iree_string_view_t value, type* out_value);
IREE_IMPL_ATOI_(int32, int32_t)
IREE_IMPL_ATOI_(uint32, uint32_t)
IREE_IMPL_ATOI_(int64, int64_t)
IREE_IMPL_ATOI_(uint64, uint64_t)
#undef IREE_IMPL_ATOI_
IREE_API_EXPORT bool iree_string_view_atof(iree_string_view_t value, float* out_value);
IREE_API_EXPORT bool iree_string_view_atod(iree_string_view_t value, double* out_value);

// Parses exactly `buffer_length` bytes as pairs of hex digits; dashes between them are skipped.
IREE_API_EXPORT bool iree_string_view_parse_hex_bytes(iree_string_view_t value, iree_host_size_t buffer_length,
                                                      uint8_t* out_buffer);

// A size with an optional unit: `123`, `16kb` (1000), `16kib` (1024), up to `gb`/`gib`; any letter case.
// Errors: INVALID_ARGUMENT, OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_string_view_parse_device_size(iree_string_view_t value,
                                                                 iree_device_size_t* out_size);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_STRING_VIEW_H_
