// See parameter_file.h.
#include "io/parameter_file.h"

#include <string.h>

iree_status_t parameter_file_add(parameter_file_t* file, const parameter_entry_t* entry) {
  if (file->count == file->capacity) {
    iree_host_size_t capacity = file->capacity ? 2 * file->capacity : 16;
    IREE_RETURN_IF_ERROR(
        iree_allocator_realloc(file->allocator, capacity * sizeof(*file->entries), (void**)&file->entries));
    file->capacity = capacity;
  }
  file->entries[file->count++] = *entry;
  return iree_ok_status();
}

// What a file begins with; a safetensors file with the size of its JSON header, and that with a brace.
parameter_format_fn_t parameter_format_find(iree_const_byte_span_t contents) {
  if (contents.data_length < 4) return NULL;
  if (memcmp(contents.data, "IRPA", 4) == 0) return parameter_parse_irpa;
  if (memcmp(contents.data, "GGUF", 4) == 0) return parameter_parse_gguf;
  return contents.data_length > 8 && contents.data[8] == '{' ? parameter_parse_safetensors : NULL;
}

iree_status_t parameter_file_parse(iree_const_byte_span_t contents, iree_allocator_t allocator,
                                   parameter_file_t** out_file) {
  parameter_format_fn_t parse = parameter_format_find(contents);
  if (!parse) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "not an archive of parameters; .irpa, .safetensors and .gguf "
                            "files are");
  }
  parameter_file_t* file = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*file), (void**)&file));
  memset(file, 0, sizeof(*file));
  file->allocator = allocator;
  file->contents = contents;
  iree_status_t status = parse(file);
  if (!iree_status_is_ok(status)) {
    parameter_file_free(file);
    return status;
  }
  *out_file = file;
  return status;
}

void parameter_file_free(parameter_file_t* file) {
  if (!file) return;
  iree_allocator_free(file->allocator, file->entries);
  iree_allocator_free(file->allocator, file->text);
  iree_allocator_free(file->allocator, file);
}
