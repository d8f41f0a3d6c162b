// Executable caches of local devices: the device's loaders, asked in order.
#include "hal/local/device.h"
#include "module/vmvx.h"

typedef struct local_cache_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_host_size_t worker_capacity;
  iree_host_size_t loader_count;
  iree_hal_executable_loader_t* loaders[];
} local_cache_t;

static void cache_destroy(iree_hal_executable_cache_t* base) {
  local_cache_t* cache = (local_cache_t*)base;
  for (iree_host_size_t i = 0; i < cache->loader_count; ++i) iree_hal_executable_loader_release(cache->loaders[i]);
  iree_allocator_free(cache->host_allocator, cache);
}

static iree_status_t cache_infer_format(iree_hal_executable_cache_t* base,
                                        iree_hal_executable_caching_mode_t caching_mode,
                                        iree_const_byte_span_t executable_data,
                                        iree_host_size_t executable_format_capacity, char* executable_format,
                                        iree_host_size_t* out_inferred_size) {
  local_cache_t* cache = (local_cache_t*)base;
  for (iree_host_size_t i = 0; i < cache->loader_count; ++i) {
    iree_status_t status =
        iree_hal_executable_loader_infer_format(cache->loaders[i], caching_mode, executable_data,
                                                executable_format_capacity, executable_format, out_inferred_size);
    if (!iree_status_is_incompatible(status)) return status;
    iree_status_free(status);
  }
  return iree_make_status(IREE_STATUS_INCOMPATIBLE, "no executable loader knows this data");
}

static bool cache_can_prepare_format(iree_hal_executable_cache_t* base, iree_hal_executable_caching_mode_t caching_mode,
                                     iree_string_view_t executable_format) {
  local_cache_t* cache = (local_cache_t*)base;
  return iree_hal_query_any_executable_loader_support(cache->loader_count, cache->loaders, caching_mode,
                                                      executable_format);
}

// Loaders are asked for a format, and name none.
static iree_status_t cache_append_formats(iree_hal_executable_cache_t* base, iree_string_builder_t* builder) {
  static const char* const known[] = {"embedded-elf-" IREE_ARCH, "system-elf-" IREE_ARCH, "static", VMVX_FORMAT};
  const char* separator = "";
  for (iree_host_size_t i = 0; i < IREE_ARRAYSIZE(known); ++i) {
    if (!cache_can_prepare_format(base, 0, iree_make_cstring_view(known[i]))) continue;
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "%s%s", separator, known[i]));
    separator = ", ";
  }
  return iree_ok_status();
}

static iree_status_t cache_prepare_executable(iree_hal_executable_cache_t* base,
                                              const iree_hal_executable_params_t* executable_params,
                                              iree_hal_executable_t** out_executable) {
  local_cache_t* cache = (local_cache_t*)base;
  iree_string_view_t format = executable_params->executable_format;
  for (iree_host_size_t i = 0; i < cache->loader_count; ++i) {
    if (!iree_hal_executable_loader_query_support(cache->loaders[i], executable_params->caching_mode, format)) {
      continue;
    }
    iree_status_t status = iree_hal_executable_loader_try_load(cache->loaders[i], executable_params,
                                                               cache->worker_capacity, out_executable);
    if (!iree_status_is_cancelled(status)) return status;
    iree_status_free(status);
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "no executable loader registered for the given executable format '%.*s'", (int)format.size,
                          format.data);
}

static const iree_hal_executable_cache_vtable_t cache_vtable = {
    .destroy = cache_destroy,
    .infer_format = cache_infer_format,
    .can_prepare_format = cache_can_prepare_format,
    .prepare_executable = cache_prepare_executable,
    .append_formats = cache_append_formats,
};

iree_status_t local_executable_cache_create(iree_host_size_t loader_count, iree_hal_executable_loader_t* const* loaders,
                                            iree_host_size_t worker_capacity, iree_allocator_t host_allocator,
                                            iree_hal_executable_cache_t** out_cache) {
  *out_cache = NULL;
  local_cache_t* cache = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*cache), loader_count,
                                                          sizeof(cache->loaders[0]), (void**)&cache));
  iree_hal_resource_initialize(&cache_vtable, &cache->resource);
  cache->host_allocator = host_allocator;
  cache->worker_capacity = worker_capacity;
  cache->loader_count = loader_count;
  for (iree_host_size_t i = 0; i < loader_count; ++i) {
    cache->loaders[i] = loaders[i];
    iree_hal_executable_loader_retain(loaders[i]);
  }
  *out_cache = (iree_hal_executable_cache_t*)cache;
  return iree_ok_status();
}
