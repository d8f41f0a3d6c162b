// See iree/tooling/parameter_util.h.
#include "iree/tooling/parameter_util.h"

#include "iree/base/tooling/flags.h"
#include "iree/io/formats/parser_registry.h"
#include "iree/io/parameter_index_provider.h"
#include "iree/io/scope_map.h"
#include "iree/modules/io/parameters/module.h"

IREE_FLAG_LIST(string, parameters,
               "Archive of parameters, `file` or `scope=file`: .irpa, .safetensors or .gguf. Repeated: of archives\n"
               "of one scope the first that has a parameter gives it.")
IREE_FLAG(string, parameter_mode, "file",
          "How archives are loaded:\n  'file': mapped, so that pages come when needed.\n  'preload': read into memory.")

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

static iree_status_t add_archive(iree_string_view_t path, bool preload, iree_io_parameter_index_t* index,
                                 iree_allocator_t allocator) {
  iree_io_file_handle_t* handle = NULL;
  IREE_RETURN_IF_ERROR(preload ? iree_io_file_handle_preload(IREE_IO_FILE_MODE_READ, path, allocator, &handle)
                               : open_mapped(path, allocator, &handle),
                       "opening parameters '%.*s'", (int)path.size, path.data);
  iree_status_t status = iree_io_parse_file_index(path, handle, index, allocator);
  iree_io_file_handle_release(handle);
  return status;
}

iree_status_t iree_tooling_build_parameter_indices_from_flags(iree_io_scope_map_t* scope_map) {
  iree_string_view_t mode = iree_make_cstring_view(FLAG_parameter_mode);
  bool preload = iree_string_view_equal(mode, IREE_SV("preload"));
  if (!preload && !iree_string_view_equal(mode, IREE_SV("file"))) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "unrecognized --parameter_mode= value '%s'; file and preload are", FLAG_parameter_mode);
  }
  for (iree_host_size_t i = 0; i < FLAG_parameters_list().count; ++i) {
    iree_string_view_t value = FLAG_parameters_list().values[i], scope, path;
    bool scoped = iree_string_view_split(value, '=', &scope, &path) >= 0;
    iree_io_parameter_index_t* index = NULL;
    IREE_RETURN_IF_ERROR(iree_io_scope_map_lookup(scope_map, scoped ? scope : iree_string_view_empty(), &index));
    IREE_RETURN_IF_ERROR(add_archive(scoped ? path : value, preload, index, scope_map->host_allocator));
  }
  return iree_ok_status();
}

// `first` providers are there already.
static iree_status_t create_module(const iree_io_scope_map_t* scope_map, iree_host_size_t first,
                                   iree_io_parameter_provider_t** providers, iree_vm_instance_t* instance,
                                   iree_allocator_t host_allocator, iree_vm_module_t** out_module) {
  for (iree_host_size_t i = 0; i < scope_map->count; ++i) {
    IREE_RETURN_IF_ERROR(iree_io_parameter_index_provider_create(
        scope_map->entries[i]->scope, scope_map->entries[i]->index,
        IREE_IO_PARAMETER_INDEX_PROVIDER_DEFAULT_MAX_CONCURRENT_OPERATIONS, host_allocator, &providers[first + i]));
  }
  return iree_io_parameters_module_create(instance, first + scope_map->count, providers, host_allocator, out_module);
}

iree_status_t iree_tooling_create_parameters_module_from_flags(iree_vm_instance_t* instance,
                                                               iree_host_size_t provider_count,
                                                               iree_io_parameter_provider_t* const* providers,
                                                               iree_allocator_t host_allocator,
                                                               iree_vm_module_t** out_module) {
  *out_module = NULL;
  iree_io_scope_map_t scope_map;
  iree_io_parameter_provider_t** all = NULL;
  iree_io_scope_map_initialize(host_allocator, &scope_map);
  iree_status_t status = iree_tooling_build_parameter_indices_from_flags(&scope_map);
  if (iree_status_is_ok(status)) {
    status =
        iree_allocator_malloc_array(host_allocator, provider_count + scope_map.count + 1, sizeof(*all), (void**)&all);
  }
  if (iree_status_is_ok(status)) {
    if (provider_count) memcpy(all, providers, provider_count * sizeof(*all));
    status = create_module(&scope_map, provider_count, all, instance, host_allocator, out_module);
  }
  for (iree_host_size_t i = 0; all && i < scope_map.count; ++i) {
    iree_io_parameter_provider_release(all[provider_count + i]);
  }
  iree_allocator_free(host_allocator, all);
  iree_io_scope_map_deinitialize(&scope_map);
  return status;
}
