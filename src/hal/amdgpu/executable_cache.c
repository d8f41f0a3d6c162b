// Executable caches: which formats the device takes. Nothing is kept.
#include "hal/amdgpu/executable.h"

#define ANY_TARGET_FORMAT "rocm-hsaco-fb"

typedef struct amdgpu_cache_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  logical_device_t* device;  // not owned: caches do not outlive their device
} amdgpu_cache_t;

static void cache_destroy(iree_hal_executable_cache_t* base) {
  iree_allocator_free(((amdgpu_cache_t*)base)->host_allocator, base);
}

static iree_status_t cache_infer_format(iree_hal_executable_cache_t* base,
                                        iree_hal_executable_caching_mode_t caching_mode,
                                        iree_const_byte_span_t executable_data,
                                        iree_host_size_t executable_format_capacity, char* executable_format,
                                        iree_host_size_t* out_inferred_size) {
  if (!target_id_is_code(executable_data)) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "not a code object for AMD GPUs");
  }
  target_id_t target;
  IREE_RETURN_IF_ERROR(target_id_from_elf(executable_data, &target));
  iree_string_view_t format = iree_make_cstring_view(target.processor);
  if (format.size >= executable_format_capacity) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "format '%s' does not fit", target.processor);
  }
  iree_string_view_to_cstring(format, executable_format, executable_format_capacity);
  *out_inferred_size = executable_data.data_length;
  return iree_ok_status();
}

bool amdgpu_takes_format(hal_queued_device_t* device, iree_string_view_t format) {
  if (iree_string_view_equal(format, IREE_SV(ANY_TARGET_FORMAT))) return true;
  target_id_t target;
  return target_id_read(format, &target) &&
         target_id_match(&target, &((logical_device_t*)device)->physical[0].gpu->target) != TARGET_MATCH_NONE;
}

static bool cache_can_prepare_format(iree_hal_executable_cache_t* base, iree_hal_executable_caching_mode_t caching_mode,
                                     iree_string_view_t executable_format) {
  return amdgpu_takes_format(&((amdgpu_cache_t*)base)->device->gpu.base, executable_format);
}

static iree_status_t cache_prepare_executable(iree_hal_executable_cache_t* base,
                                              const iree_hal_executable_params_t* executable_params,
                                              iree_hal_executable_t** out_executable) {
  logical_device_t* device = ((amdgpu_cache_t*)base)->device;
  iree_string_view_t format = executable_params->executable_format;
  if (!cache_can_prepare_format(base, executable_params->caching_mode, format)) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "executables of format '%.*s' do not run on the device, a %s",
                            (int)format.size, format.data, device->physical[0].gpu->isa);
  }
  return amdgpu_executable_create(device, executable_params, out_executable);
}

static const iree_hal_executable_cache_vtable_t cache_vtable = {
    .destroy = cache_destroy,
    .infer_format = cache_infer_format,
    .can_prepare_format = cache_can_prepare_format,
    .prepare_executable = cache_prepare_executable,
};

iree_status_t amdgpu_executable_cache_create(logical_device_t* device, iree_hal_executable_cache_t** out_cache) {
  *out_cache = NULL;
  amdgpu_cache_t* cache = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->gpu.base.host_allocator, sizeof(*cache), (void**)&cache));
  iree_hal_resource_initialize(&cache_vtable, &cache->resource);
  cache->host_allocator = device->gpu.base.host_allocator;
  cache->device = device;
  *out_cache = (iree_hal_executable_cache_t*)cache;
  return iree_ok_status();
}
