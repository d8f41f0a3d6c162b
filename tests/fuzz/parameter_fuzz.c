// Archives of parameters: no bytes may crash their readers, and entries lie inside of what was read.
#include <stdint.h>

#include "io/parameter_file.h"
#include "limited_allocator.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t used = 0;
  parameter_file_t* file = NULL;
  iree_status_t status = parameter_file_parse(iree_make_const_byte_span(data, size), limited_allocator(&used), &file);
  if (iree_status_is_ok(status)) {
    for (iree_host_size_t i = 0; i < file->count; ++i) {
      const parameter_entry_t* entry = &file->entries[i];
      if (!parameter_file_find(file, entry->key)) abort();
      if (!entry->data) continue;
      uint8_t* target = malloc(entry->length + 1);
      parameter_entry_read(entry, target);
      free(target);
    }
  }
  iree_status_ignore(status);
  parameter_file_free(file);
  if (used) abort();
  return 0;
}
