// Archives of parameters: named bytes that programs take for their weights. Three formats are read, .irpa, .safetensors
// and .gguf, by what the file begins with; none is trusted. Immutable once opened, so any thread may find entries.
#ifndef IO_PARAMETER_FILE_H_
#define IO_PARAMETER_FILE_H_

#include "iree/base/api.h"

enum { PARAMETER_PATTERN_LIMIT = 16 };

typedef struct parameter_entry_t {
  iree_string_view_t key;
  uint64_t length;      // bytes
  const uint8_t* data;  // in the file's contents; NULL: the pattern over and over
  uint8_t pattern[PARAMETER_PATTERN_LIMIT];
  uint8_t pattern_length;
  iree_host_size_t order;  // of the file's entries; the first of a name counts
} parameter_entry_t;

typedef struct parameter_file_t {
  iree_allocator_t allocator;
  iree_const_byte_span_t contents;
  parameter_entry_t* entries;  // sorted by key once read
  iree_host_size_t count, capacity;
  char* text;  // keys that the file does not have as they are
  iree_host_size_t text_used;
} parameter_file_t;

// Reads the table of `contents`, which must outlive the file. INVALID_ARGUMENT for what is no archive or a damaged one;
// *out_file is set on success only.
iree_status_t parameter_file_parse(iree_const_byte_span_t contents, iree_allocator_t allocator,
                                   parameter_file_t** out_file);
void parameter_file_free(parameter_file_t* file);
// NULL when there is none of that name.
const parameter_entry_t* parameter_file_find(const parameter_file_t* file, iree_string_view_t key);
// Writes the entry's bytes to `target`, which has as many.
void parameter_entry_read(const parameter_entry_t* entry, uint8_t* target);

//===----------------------------------------------------------------------------------------------------------------===
// For the formats' files
//===----------------------------------------------------------------------------------------------------------------===

typedef iree_status_t (*parameter_format_fn_t)(parameter_file_t* file);
iree_status_t parameter_parse_irpa(parameter_file_t* file);
iree_status_t parameter_parse_safetensors(parameter_file_t* file);
iree_status_t parameter_parse_gguf(parameter_file_t* file);

iree_status_t parameter_file_add(parameter_file_t* file, const parameter_entry_t* entry);
// Whether `length` bytes at `offset` lie in the first `size`.
static inline bool parameter_range_fits(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}
static inline uint32_t parameter_u32(const uint8_t* p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t parameter_u64(const uint8_t* p) {
  return parameter_u32(p) | (uint64_t)parameter_u32(p + 4) << 32;
}

#endif  // IO_PARAMETER_FILE_H_
