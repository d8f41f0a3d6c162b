// Bit tests, and bit fields as text: names joined by `|`. Thread safe.
#ifndef IREE_BASE_BITFIELD_H_
#define IREE_BASE_BITFIELD_H_

#include "iree/base/string_builder.h"
#include "iree/base/string_view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define iree_any_bit_set(lhs, rhs) (((lhs) & (rhs)) != 0)
#define iree_all_bits_set(lhs, rhs) (((lhs) & (rhs)) == (rhs))

// A name for a set of bits. In a table, names of several bits come before those of their parts.
typedef struct iree_bitfield_string_mapping_t {
  uint32_t bits;
  iree_string_view_t string;
} iree_bitfield_string_mapping_t;

// Parses `A|B`, in any case; a part may be a number: 16, 0x10 or 10h. Errors: INVALID_ARGUMENT naming the unknown part.
IREE_API_EXPORT iree_status_t iree_bitfield_parse(iree_string_view_t value, iree_host_size_t mapping_count,
                                                  const iree_bitfield_string_mapping_t* mappings, uint32_t* out_value);
// Appends the text form, which iree_bitfield_parse reads; bits without a name are appended in hex, as `A0h`. 0 is
// nothing.
IREE_API_EXPORT iree_status_t iree_bitfield_format(uint32_t value, iree_host_size_t mapping_count,
                                                   const iree_bitfield_string_mapping_t* mappings,
                                                   iree_string_builder_t* string_builder);

typedef struct iree_bitfield_string_temp_t {
  char buffer[128];
} iree_bitfield_string_temp_t;
// As iree_bitfield_format into storage of the caller's, which the result points into; cut off when too long.
IREE_API_EXPORT iree_string_view_t iree_bitfield_format_inline(uint32_t value, iree_host_size_t mapping_count,
                                                               const iree_bitfield_string_mapping_t* mappings,
                                                               iree_bitfield_string_temp_t* out_temp);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_BITFIELD_H_
