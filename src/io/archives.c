// See archives.h.
#include "io/archives.h"

#include "iree/io/formats/parser_registry.h"
#include "iree/io/parameter_index_provider.h"

static void release_mapping(void* user_data, iree_io_file_handle_primitive_t primitive) {
  iree_io_file_mapping_release(user_data);
}

// A handle on the mapped file: what uses it needs no copy.
static iree_status_t open_mapped(iree_string_view_t path, iree_allocator_t allocator,
                                 iree_io_file_handle_t** out_handle) {
  iree_io_file_handle_t* file = NULL;
  iree_io_file_mapping_t* mapping = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_handle_open(IREE_IO_FILE_MODE_READ, path, allocator, &file));
  iree_status_t status = iree_io_file_map_view(file, IREE_IO_FILE_ACCESS_READ, 0, IREE_HOST_SIZE_MAX,
                                               IREE_IO_FILE_MAPPING_FLAG_EXCLUDE_FROM_DUMPS, allocator, &mapping);
  iree_io_file_handle_release(file);
  IREE_RETURN_IF_ERROR(status);
  iree_const_byte_span_t contents = iree_io_file_mapping_contents_ro(mapping);
  iree_io_file_handle_release_callback_t release = {release_mapping, mapping};
  status = iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ, iree_make_byte_span((uint8_t*)(uintptr_t)contents.data, contents.data_length), release,
      allocator, out_handle);
  if (!iree_status_is_ok(status)) iree_io_file_mapping_release(mapping);
  return status;
}

iree_status_t archives_add(iree_string_view_t path, bool preload, iree_io_parameter_index_t* index,
                           iree_allocator_t allocator) {
  iree_io_file_handle_t* handle = NULL;
  IREE_RETURN_IF_ERROR(preload ? iree_io_file_handle_preload(IREE_IO_FILE_MODE_READ, path, allocator, &handle)
                               : open_mapped(path, allocator, &handle),
                       "opening parameters '%.*s'", (int)path.size, path.data);
  iree_status_t status = iree_io_parse_file_index(path, handle, index, allocator);
  iree_io_file_handle_release(handle);
  return status;
}

static iree_status_t add_providers(const iree_io_scope_map_t* scope_map, iree_allocator_t allocator,
                                   iree_io_parameter_provider_t** providers) {
  for (iree_host_size_t i = 0; i < scope_map->count; ++i) {
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_provider_create(
        scope_map->entries[i]->scope, scope_map->entries[i]->index,
        IREE_IO_PARAMETER_INDEX_PROVIDER_DEFAULT_MAX_CONCURRENT_OPERATIONS, allocator, &providers[i]));
  }
  return iree_ok_status();
}

iree_status_t archives_create_module(iree_vm_instance_t* instance, iree_host_size_t count,
                                     iree_io_parameter_provider_t* const* providers,
                                     const iree_io_scope_map_t* scope_map, iree_allocator_t allocator,
                                     iree_vm_module_t** out_module) {
  *out_module = NULL;
  iree_io_parameter_provider_t** all = NULL;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(allocator, count + scope_map->count + 1, sizeof(*all), (void**)&all));
  if (count) memcpy(all, providers, count * sizeof(*all));
  iree_status_t status = add_providers(scope_map, allocator, all + count);
  if (iree_status_is_ok(status)) {
    status = iree_io_parameters_module_create(instance, count + scope_map->count, all, allocator, out_module);
  }
  for (iree_host_size_t i = 0; i < scope_map->count; ++i) iree_io_parameter_provider_release(all[count + i]);
  iree_allocator_free(allocator, all);
  return status;
}
