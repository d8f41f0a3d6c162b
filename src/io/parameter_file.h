// Archives of parameters: named bytes that programs take for their weights. Three formats are read, .irpa, .safetensors
// and .gguf, by what the file begins with; none is trusted. Immutable once opened.
#ifndef IO_PARAMETER_FILE_H_
#define IO_PARAMETER_FILE_H_

#include "iree/io/parameter_index.h"

typedef struct parameter_entry_t {
  iree_string_view_t key;
  iree_const_byte_span_t metadata;
  uint64_t length;      // bytes
  const uint8_t* data;  // in the file's contents; NULL: the pattern over and over
  uint8_t pattern[IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH];
  uint8_t pattern_length;
} parameter_entry_t;

typedef struct parameter_file_t {
  iree_allocator_t allocator;
  iree_const_byte_span_t contents;
  parameter_entry_t* entries;  // in the file's order
  iree_host_size_t count, capacity;
  char* text;  // keys that the file does not have as they are
  iree_host_size_t text_used;
} parameter_file_t;

// Reads the table of `contents`, which must outlive the file. INVALID_ARGUMENT for what is no archive or a damaged one,
// UNIMPLEMENTED for what is not supported; *out_file is set on success only.
iree_status_t parameter_file_parse(iree_const_byte_span_t contents, iree_allocator_t allocator,
                                   parameter_file_t** out_file);
void parameter_file_free(parameter_file_t* file);

//===----------------------------------------------------------------------------------------------------------------===
// For the formats' files
//===----------------------------------------------------------------------------------------------------------------===

typedef iree_status_t (*parameter_format_fn_t)(parameter_file_t* file);
// The reader for what a file begins with; NULL for none.
parameter_format_fn_t parameter_format_find(iree_const_byte_span_t contents);
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
