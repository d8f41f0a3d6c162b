// A plugin that provides one function, built without a C library.
#include "iree/hal/local/executable_plugin.h"

static int twice(void* params, void* context, void* reserved) {
  *(int*)params = *(int*)params * 2 + *(int*)context;
  return 0;
}

static iree_hal_executable_plugin_status_t load(const iree_hal_executable_plugin_environment_v0_t* environment,
                                                size_t param_count,
                                                const iree_hal_executable_plugin_string_pair_t* params,
                                                void** out_self) {
  iree_hal_executable_plugin_status_t status = iree_hal_executable_plugin_allocator_malloc(
      environment->host_allocator, sizeof(iree_hal_executable_plugin_allocator_t) + sizeof(int), out_self);
  if (!iree_hal_executable_plugin_status_is_ok(status)) return status;
  *(iree_hal_executable_plugin_allocator_t*)*out_self = environment->host_allocator;
  *(int*)((iree_hal_executable_plugin_allocator_t*)*out_self + 1) = (int)param_count + 1;
  return iree_hal_executable_plugin_ok_status();
}

static void unload(void* self) {
  iree_hal_executable_plugin_allocator_free(*(iree_hal_executable_plugin_allocator_t*)self, self);
}

static iree_hal_executable_plugin_status_t resolve(void* self,
                                                   const iree_hal_executable_plugin_resolve_params_v0_t* params,
                                                   iree_hal_executable_plugin_resolution_t* out_resolution) {
  *out_resolution = 0;
  bool missing = false;
  for (size_t i = 0; i < params->count; ++i) {
    if (params->out_fn_ptrs[i]) continue;
    const char* name = params->symbol_names[i];
    bool is_optional = iree_hal_executable_plugin_import_is_optional(name);
    if (iree_hal_executable_plugin_strcmp(is_optional ? name + 1 : name, "twice") == 0) {
      params->out_fn_ptrs[i] = (void*)twice;
      params->out_fn_contexts[i] = (iree_hal_executable_plugin_allocator_t*)self + 1;
    } else if (is_optional) {
      *out_resolution |= IREE_HAL_EXECUTABLE_PLUGIN_RESOLUTION_MISSING_OPTIONAL;
    } else {
      missing = true;
    }
  }
  return missing ? iree_hal_executable_plugin_status_from_code(IREE_HAL_EXECUTABLE_PLUGIN_STATUS_NOT_FOUND)
                 : iree_hal_executable_plugin_ok_status();
}

static const iree_hal_executable_plugin_header_t header = {
    .version = IREE_HAL_EXECUTABLE_PLUGIN_VERSION_LATEST,
    .name = "test_plugin",
    .features = IREE_HAL_EXECUTABLE_PLUGIN_FEATURE_STANDALONE,
    .sanitizer = IREE_HAL_EXECUTABLE_PLUGIN_SANITIZER_KIND,
};
static const iree_hal_executable_plugin_v0_t plugin = {&header, load, unload, resolve};

IREE_HAL_EXECUTABLE_PLUGIN_EXPORT const iree_hal_executable_plugin_header_t** iree_hal_executable_plugin_query(
    iree_hal_executable_plugin_version_t max_version, void* reserved) {
  return (const iree_hal_executable_plugin_header_t**)&plugin;
}
