// See parameter_file.h.
#include "io/parameter_file.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(iree_string_view_t a, iree_string_view_t b) {
  iree_host_size_t size = a.size < b.size ? a.size : b.size;
  int order = size ? memcmp(a.data, b.data, size) : 0;
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int compare_entries(const void* a, const void* b) {
  return compare_keys(((const parameter_entry_t*)a)->key, ((const parameter_entry_t*)b)->key);
}

static int compare_in_order(const void* a, const void* b) {
  iree_host_size_t first = ((const parameter_entry_t*)a)->order, second = ((const parameter_entry_t*)b)->order;
  int order = compare_entries(a, b);
  return order ? order : (first > second) - (first < second);
}

static void sort_entries(parameter_file_t* file) {
  if (file->count) qsort(file->entries, file->count, sizeof(*file->entries), compare_in_order);
  iree_host_size_t kept = 0;
  for (iree_host_size_t i = 0; i < file->count; ++i) {
    if (kept && compare_entries(&file->entries[kept - 1], &file->entries[i]) == 0) continue;
    file->entries[kept++] = file->entries[i];
  }
  file->count = kept;
}

iree_status_t parameter_file_add(parameter_file_t* file, const parameter_entry_t* entry) {
  if (file->count == file->capacity) {
    iree_host_size_t capacity = file->capacity ? 2 * file->capacity : 16;
    IREE_RETURN_IF_ERROR(
        iree_allocator_realloc(file->allocator, capacity * sizeof(*file->entries), (void**)&file->entries));
    file->capacity = capacity;
  }
  file->entries[file->count] = *entry;
  file->entries[file->count].order = file->count;
  ++file->count;
  return iree_ok_status();
}

// What a file begins with; a safetensors file with the size of its JSON header, and that with a brace.
static parameter_format_fn_t find_format(iree_const_byte_span_t contents) {
  if (contents.data_length < 4) return NULL;
  if (memcmp(contents.data, "IRPA", 4) == 0) return parameter_parse_irpa;
  if (memcmp(contents.data, "GGUF", 4) == 0) return parameter_parse_gguf;
  return contents.data_length > 8 && contents.data[8] == '{' ? parameter_parse_safetensors : NULL;
}

iree_status_t parameter_file_parse(iree_const_byte_span_t contents, iree_allocator_t allocator,
                                   parameter_file_t** out_file) {
  parameter_format_fn_t parse = find_format(contents);
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
  sort_entries(file);
  *out_file = file;
  return status;
}

void parameter_file_free(parameter_file_t* file) {
  if (!file) return;
  iree_allocator_free(file->allocator, file->entries);
  iree_allocator_free(file->allocator, file->text);
  iree_allocator_free(file->allocator, file);
}

const parameter_entry_t* parameter_file_find(const parameter_file_t* file, iree_string_view_t key) {
  parameter_entry_t wanted = {.key = key};
  if (!file->count) return NULL;
  return bsearch(&wanted, file->entries, file->count, sizeof(*file->entries), compare_entries);
}

void parameter_entry_read(const parameter_entry_t* entry, uint8_t* target) {
  if (entry->data && entry->length) memcpy(target, entry->data, entry->length);
  for (uint64_t i = 0; !entry->data && i < entry->length; ++i) target[i] = entry->pattern[i % entry->pattern_length];
}
