// Executable loaders: the public calls, and imports through providers.
#include "iree/hal/local/executable_loader.h"

iree_status_t iree_hal_executable_import_provider_try_resolve(
    const iree_hal_executable_import_provider_t import_provider, iree_host_size_t count,
    const char* const* symbol_names, void** out_fn_ptrs, void** out_fn_contexts,
    iree_hal_executable_import_resolution_t* out_resolution) {
  *out_resolution = 0;
  if (import_provider.resolve) {
    return import_provider.resolve(import_provider.self, count, symbol_names, out_fn_ptrs, out_fn_contexts,
                                   out_resolution);
  }
  for (iree_host_size_t i = 0; i < count; ++i) {
    if (out_fn_ptrs[i]) continue;
    if (!iree_hal_executable_import_is_optional(symbol_names[i])) {
      return iree_make_status(IREE_STATUS_NOT_FOUND, "executable needs import '%s', which nothing provides",
                              symbol_names[i]);
    }
    *out_resolution |= IREE_HAL_EXECUTABLE_IMPORT_RESOLUTION_MISSING_OPTIONAL;
  }
  return iree_ok_status();
}

void iree_hal_executable_loader_initialize(const void* vtable, iree_hal_executable_import_provider_t import_provider,
                                           iree_hal_executable_loader_t* out_base_loader) {
  iree_atomic_ref_count_init(&out_base_loader->ref_count);
  out_base_loader->vtable = (const iree_hal_executable_loader_vtable_t*)vtable;
  out_base_loader->import_provider = import_provider;
}

void iree_hal_executable_loader_retain(iree_hal_executable_loader_t* executable_loader) {
  if (executable_loader) iree_atomic_ref_count_inc(&executable_loader->ref_count);
}

void iree_hal_executable_loader_release(iree_hal_executable_loader_t* executable_loader) {
  if (executable_loader && iree_atomic_ref_count_dec(&executable_loader->ref_count) == 1) {
    executable_loader->vtable->destroy(executable_loader);
  }
}

iree_status_t iree_hal_executable_loader_infer_format(iree_hal_executable_loader_t* executable_loader,
                                                      iree_hal_executable_caching_mode_t caching_mode,
                                                      iree_const_byte_span_t executable_data,
                                                      iree_host_size_t executable_format_capacity,
                                                      char* executable_format, iree_host_size_t* out_inferred_size) {
  *out_inferred_size = 0;
  return executable_loader->vtable->infer_format(executable_loader, caching_mode, executable_data,
                                                 executable_format_capacity, executable_format, out_inferred_size);
}

bool iree_hal_executable_loader_query_support(iree_hal_executable_loader_t* executable_loader,
                                              iree_hal_executable_caching_mode_t caching_mode,
                                              iree_string_view_t executable_format) {
  return executable_loader->vtable->query_support(executable_loader, caching_mode, executable_format);
}

bool iree_hal_query_any_executable_loader_support(iree_host_size_t loader_count, iree_hal_executable_loader_t** loaders,
                                                  iree_hal_executable_caching_mode_t caching_mode,
                                                  iree_string_view_t executable_format) {
  for (iree_host_size_t i = 0; i < loader_count; ++i) {
    if (iree_hal_executable_loader_query_support(loaders[i], caching_mode, executable_format)) return true;
  }
  return false;
}

iree_status_t iree_hal_executable_loader_try_load(iree_hal_executable_loader_t* executable_loader,
                                                  const iree_hal_executable_params_t* executable_params,
                                                  iree_host_size_t worker_capacity,
                                                  iree_hal_executable_t** out_executable) {
  *out_executable = NULL;
  return executable_loader->vtable->try_load(executable_loader, executable_params, worker_capacity, out_executable);
}
