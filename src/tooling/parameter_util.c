// See iree/tooling/parameter_util.h.
#include "iree/tooling/parameter_util.h"

#include "base/flag_table.h"
#include "io/archives.h"
#include "iree/base/tooling/flags.h"

IREE_FLAG_LIST(string, parameters,
               "Archive of parameters, `file` or `scope=file`: .irpa, .safetensors or .gguf. Repeated: of archives\n"
               "of one scope the first that has a parameter gives it.")
IREE_FLAG(string, parameter_mode, "file",
          "How archives are loaded:\n  'file': mapped, so that pages come when needed.\n  'preload': read into memory.")
FLAG_VALUES(parameter_mode, "file,preload")

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
    IREE_RETURN_IF_ERROR(archives_add(scoped ? path : value, preload, index, scope_map->host_allocator));
  }
  return iree_ok_status();
}

iree_status_t iree_tooling_create_parameters_module_from_flags(iree_vm_instance_t* instance,
                                                               iree_host_size_t provider_count,
                                                               iree_io_parameter_provider_t* const* providers,
                                                               iree_allocator_t host_allocator,
                                                               iree_vm_module_t** out_module) {
  *out_module = NULL;
  iree_io_scope_map_t scope_map;
  iree_io_scope_map_initialize(host_allocator, &scope_map);
  iree_status_t status = iree_tooling_build_parameter_indices_from_flags(&scope_map);
  if (iree_status_is_ok(status)) {
    status = archives_create_module(instance, provider_count, providers, &scope_map, host_allocator, out_module);
  }
  iree_io_scope_map_deinitialize(&scope_map);
  return status;
}
