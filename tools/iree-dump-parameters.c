// Shows what archives of parameters have, and takes single parameters out of them.

#include <errno.h>

#include "iree/base/tooling/flags.h"
#include "iree/io/scope_map.h"
#include "iree/io/stdio_stream.h"
#include "iree/tooling/parameter_util.h"
#include "tooling/context.h"
#include "tooling/parameter_archive.h"

IREE_FLAG_LIST(string, extract, "Writes a parameter's bytes into a file, as `[scope::]key=file`.")

static const char usage[] =
    "Shows what archives of parameters (.irpa, .safetensors, .gguf) have, as other tools see them.\n"
    "\n"
    "Examples:\n"
    "  iree-dump-parameters --parameters=my_scope=file.gguf\n"
    "  iree-dump-parameters --parameters=my_scope=file.gguf --extract=my_scope::key=key.bin\n";

static iree_status_t write_bytes(const iree_io_parameter_index_entry_t* entry, iree_io_stream_t* stream,
                                 iree_allocator_t allocator) {
  if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) {
    return iree_io_stream_write_file(stream, entry->storage.file.handle, entry->storage.file.offset,
                                     (iree_host_size_t)entry->length, allocator);
  }
  uint8_t size = entry->storage.splat.pattern_length;
  uint64_t count = entry->length / size;
  IREE_RETURN_IF_ERROR(iree_io_stream_fill(stream, (iree_io_stream_pos_t)count, entry->storage.splat.pattern, size));
  return iree_io_stream_write(stream, (iree_host_size_t)(entry->length % size), entry->storage.splat.pattern);
}

static iree_status_t extract(iree_io_scope_map_t* scopes, iree_string_view_t scope, iree_string_view_t key,
                             const char* path, iree_allocator_t allocator) {
  iree_io_parameter_index_t* index = NULL;
  const iree_io_parameter_index_entry_t* entry = NULL;
  IREE_RETURN_IF_ERROR(iree_io_scope_map_lookup(scopes, scope, &index));
  IREE_RETURN_IF_ERROR(iree_io_parameter_index_lookup(index, key, &entry));
  printf("Extracting parameter `%.*s%s%.*s` (%" PRIu64 "b) to `%s`...\n", (int)scope.size, scope.data,
         scope.size ? "::" : "", (int)key.size, key.data, entry->length, path);
  whole_file_t file;
  iree_io_stream_t* stream = NULL;
  if (!whole_file_open(path, &file)) {
    return iree_make_status(iree_status_code_from_errno(errno), "failed to open file '%s': %s", path, strerror(errno));
  }
  iree_status_t status =
      iree_io_stdio_stream_wrap(IREE_IO_STREAM_MODE_WRITABLE, file.file, /*owns_handle=*/false, allocator, &stream);
  if (iree_status_is_ok(status)) status = write_bytes(entry, stream, allocator);
  iree_io_stream_release(stream);
  bool closed = whole_file_close(&file, iree_status_is_ok(status));
  if (closed || !iree_status_is_ok(status)) return status;
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "writing file '%s' failed: %s", path, strerror(errno));
}

// `[scope::]key=file`; keys may have `=`, so that the file is behind the last one.
static iree_status_t extract_flag(iree_io_scope_map_t* scopes, iree_string_view_t flag, iree_allocator_t allocator) {
  iree_host_size_t at = iree_string_view_find_last_of(flag, IREE_SV("="), IREE_STRING_VIEW_NPOS);
  if (at == IREE_STRING_VIEW_NPOS || at + 1 == flag.size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no file; the form is [scope::]key=file");
  }
  iree_string_view_t key = iree_string_view_substr(flag, 0, at), scope = iree_string_view_empty();
  for (iree_host_size_t i = 0; i + 1 < key.size && !scope.size; ++i) {
    if (key.data[i] == ':' && key.data[i + 1] == ':') scope = iree_string_view_substr(key, 0, i);
  }
  if (scope.size) key = iree_string_view_remove_prefix(key, scope.size + 2);
  return extract(scopes, scope, key, flag.data + at + 1, allocator);  // values of flags end with a NUL
}

static iree_status_t run(iree_allocator_t allocator) {
  iree_io_scope_map_t scopes;
  iree_string_builder_t text;
  iree_io_scope_map_initialize(allocator, &scopes);
  iree_string_builder_initialize(allocator, &text);
  iree_status_t status = iree_tooling_build_parameter_indices_from_flags(&scopes);
  if (iree_status_is_ok(status)) status = iree_io_scope_map_dump(&scopes, &text);
  if (iree_status_is_ok(status)) {
    fwrite(iree_string_builder_buffer(&text), 1, iree_string_builder_size(&text), stdout);
  }
  for (iree_host_size_t i = 0; i < FLAG_extract_list().count && iree_status_is_ok(status); ++i) {
    iree_string_view_t flag = FLAG_extract_list().values[i];
    status = extract_flag(&scopes, flag, allocator);
    if (!iree_status_is_ok(status)) {
      status = iree_status_annotate_f(status, "extracting parameter with flag `%.*s`", (int)flag.size, flag.data);
    }
  }
  iree_string_builder_deinitialize(&text);
  iree_io_scope_map_deinitialize(&scopes);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-dump-parameters", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = tooling_refuse_arguments(argc, argv);
  return archive_tool_finish(iree_status_is_ok(status) ? run(iree_allocator_system()) : status);
}
