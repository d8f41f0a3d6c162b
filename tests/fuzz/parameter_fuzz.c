// Archives of parameters: no bytes may crash their readers, and entries lie inside of what was read.
#include <stdint.h>

#include "io/index_provider.h"
#include "iree/io/formats/parser_registry.h"
#include "limited_allocator.h"

static void check(iree_io_parameter_index_t* index, size_t size) {
  for (iree_host_size_t i = 0; i < iree_io_parameter_index_count(index); ++i) {
    const iree_io_parameter_index_entry_t *entry = NULL, *found = NULL;
    iree_status_ignore(iree_io_parameter_index_get(index, i, &entry));
    iree_status_ignore(iree_io_parameter_index_lookup(index, entry->key, &found));
    if (found != entry) abort();
    if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) {
      if (entry->storage.file.offset > size || entry->length > size - entry->storage.file.offset) abort();
    } else {
      uint8_t part[40];
      index_provider_expand(entry, 3, part, sizeof(part));
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t used = 0;
  iree_allocator_t allocator = limited_allocator(&used);
  iree_io_parameter_index_t* index = NULL;
  iree_io_file_handle_t* handle = NULL;
  iree_byte_span_t contents = {(uint8_t*)(uintptr_t)data, size};
  iree_status_ignore(iree_io_parameter_index_create(allocator, &index));
  iree_status_ignore(iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ, contents, iree_io_file_handle_release_callback_null(), allocator, &handle));
  if (index && handle) {
    iree_status_ignore(iree_io_parse_file_index(iree_string_view_empty(), handle, index, allocator));
    check(index, size);
  }
  iree_io_file_handle_release(handle);
  iree_io_parameter_index_release(index);
  if (used) abort();
  return 0;
}
