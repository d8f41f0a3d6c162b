// An index of parameters: where the bytes of each name are. Entries are only added, so that those that were returned
// stay; all functions are thread safe.
#ifndef IREE_IO_PARAMETER_INDEX_H_
#define IREE_IO_PARAMETER_INDEX_H_

#include <stdint.h>
#include <stdio.h>

#include "iree/base/api.h"
#include "iree/io/file_handle.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iree_io_parameter_index_entry_storage_type_e {
  IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT = 0u,  // a pattern over and over
  IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE,        // bytes of a file
} iree_io_parameter_index_entry_storage_type_t;

#define IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH 16  // complex<f64>

typedef struct iree_io_parameter_index_entry_t {
  iree_string_view_t key;
  iree_const_byte_span_t metadata;  // may be empty
  uint64_t length;                  // bytes
  iree_io_parameter_index_entry_storage_type_t type;
  union {
    struct {
      uint8_t pattern_length;
      uint8_t pattern[IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH];
    } splat;
    struct {
      iree_io_file_handle_t* handle;  // retained by the index
      uint64_t offset;                // from the file's first byte
    } file;
  } storage;
} iree_io_parameter_index_entry_t;

typedef struct iree_io_parameter_index_t iree_io_parameter_index_t;

IREE_API_EXPORT iree_status_t iree_io_parameter_index_create(iree_allocator_t host_allocator,
                                                             iree_io_parameter_index_t** out_index);
IREE_API_EXPORT void iree_io_parameter_index_retain(iree_io_parameter_index_t* index);
IREE_API_EXPORT void iree_io_parameter_index_release(iree_io_parameter_index_t* index);
IREE_API_EXPORT iree_host_size_t iree_io_parameter_index_count(iree_io_parameter_index_t* index);
IREE_API_EXPORT iree_status_t iree_io_parameter_index_reserve(iree_io_parameter_index_t* index,
                                                              iree_host_size_t new_capacity);
// Copies the entry with its strings. Of entries with one key the first is found.
IREE_API_EXPORT iree_status_t iree_io_parameter_index_add(iree_io_parameter_index_t* index,
                                                          const iree_io_parameter_index_entry_t* entry);
// The entry that was added as number `i`. It lives as long as the index. Errors: OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_io_parameter_index_get(iree_io_parameter_index_t* index, iree_host_size_t i,
                                                          const iree_io_parameter_index_entry_t** out_entry);
// Errors: NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_io_parameter_index_lookup(iree_io_parameter_index_t* index, iree_string_view_t key,
                                                             const iree_io_parameter_index_entry_t** out_entry);
// The entries as a table, under the name of their scope (empty: the global one).
IREE_API_EXPORT iree_status_t iree_io_parameter_index_dump(iree_string_view_t scope, iree_io_parameter_index_t* index,
                                                           iree_string_builder_t* builder);
IREE_API_EXPORT iree_status_t iree_io_parameter_index_fprint(FILE* file, iree_string_view_t scope,
                                                             iree_io_parameter_index_t* index);

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_PARAMETER_INDEX_H_
