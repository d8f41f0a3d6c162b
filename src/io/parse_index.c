// Entries of archives into an index of parameters.
#include "io/parameter_file.h"
#include "iree/io/formats/gguf/gguf_parser.h"
#include "iree/io/formats/irpa/irpa_parser.h"
#include "iree/io/formats/parser_registry.h"
#include "iree/io/formats/safetensors/safetensors_parser.h"

static iree_status_t add_entry(const parameter_entry_t* entry, const uint8_t* base, iree_io_file_handle_t* handle,
                               iree_io_parameter_index_t* index) {
  iree_io_parameter_index_entry_t added = {.key = entry->key, .metadata = entry->metadata, .length = entry->length};
  const iree_io_parameter_index_entry_t* found = NULL;
  if (iree_status_consume_code(iree_io_parameter_index_lookup(index, entry->key, &found)) == IREE_STATUS_OK) {
    return iree_ok_status();
  }
  if (entry->data) {
    added.type = IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE;
    added.storage.file.handle = handle;
    added.storage.file.offset = (uint64_t)(entry->data - base);
  } else {
    added.type = IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_SPLAT;
    added.storage.splat.pattern_length = entry->pattern_length;
    memcpy(added.storage.splat.pattern, entry->pattern, sizeof(entry->pattern));
  }
  return iree_io_parameter_index_add(index, &added);
}

static iree_status_t parse_contents(iree_const_byte_span_t contents, iree_io_file_handle_t* handle,
                                    iree_io_parameter_index_t* index, iree_allocator_t allocator) {
  parameter_file_t* file = NULL;
  IREE_RETURN_IF_ERROR(parameter_file_parse(contents, allocator, &file));
  iree_status_t status = iree_io_parameter_index_reserve(index, iree_io_parameter_index_count(index) + file->count);
  for (iree_host_size_t i = 0; i < file->count && iree_status_is_ok(status); ++i) {
    status = add_entry(&file->entries[i], contents.data, handle, index);
  }
  parameter_file_free(file);
  return status;
}

// `wanted` is the only format that counts, or NULL.
static iree_status_t parse(iree_io_file_handle_t* handle, parameter_format_fn_t wanted, const char* name,
                           iree_io_parameter_index_t* index, iree_allocator_t allocator) {
  iree_io_file_mapping_t* mapping = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_map_view(handle, IREE_IO_FILE_ACCESS_READ, 0, IREE_HOST_SIZE_MAX,
                                             IREE_IO_FILE_MAPPING_FLAG_EXCLUDE_FROM_DUMPS, allocator, &mapping));
  iree_const_byte_span_t contents = iree_io_file_mapping_contents_ro(mapping);
  iree_status_t status = iree_ok_status();
  if (wanted && parameter_format_find(contents) != wanted) {
    status = iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "not a .%s archive", name);
  } else {
    status = parse_contents(contents, handle, index, allocator);
  }
  iree_io_file_mapping_release(mapping);
  return status;
}

iree_status_t iree_io_parse_irpa_index(iree_io_file_handle_t* file_handle, iree_io_parameter_index_t* index,
                                       iree_allocator_t host_allocator) {
  return parse(file_handle, parameter_parse_irpa, "irpa", index, host_allocator);
}

iree_status_t iree_io_parse_gguf_index(iree_io_file_handle_t* file_handle, iree_io_parameter_index_t* index,
                                       iree_allocator_t host_allocator) {
  return parse(file_handle, parameter_parse_gguf, "gguf", index, host_allocator);
}

iree_status_t iree_io_parse_safetensors_index(iree_io_file_handle_t* file_handle, iree_io_parameter_index_t* index,
                                              iree_allocator_t host_allocator) {
  return parse(file_handle, parameter_parse_safetensors, "safetensors", index, host_allocator);
}

iree_status_t iree_io_parse_file_index(iree_string_view_t path, iree_io_file_handle_t* file_handle,
                                       iree_io_parameter_index_t* index, iree_allocator_t host_allocator) {
  iree_status_t status = parse(file_handle, NULL, NULL, index, host_allocator);
  if (iree_status_is_ok(status) || !path.size) return status;
  return iree_status_annotate_f(status, "reading parameters '%.*s'", (int)path.size, path.data);
}
