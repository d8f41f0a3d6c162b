// Executables and their caches: the public calls.
#include "iree/hal/executable.h"

#include "base/trace.h"
#include "hal/detail.h"
#include "iree/hal/device.h"
#include "iree/hal/executable_cache.h"

HAL_DEFINE_LIFETIME(executable)
HAL_DEFINE_LIFETIME(executable_cache)

iree_host_size_t iree_hal_executable_function_count(iree_hal_executable_t* executable) {
  return HAL_CALL(executable, iree_hal_executable, function_count)(executable);
}

iree_status_t iree_hal_executable_function_info(iree_hal_executable_t* executable,
                                                iree_hal_executable_function_t function,
                                                iree_hal_executable_function_info_t* out_info) {
  memset(out_info, 0, sizeof(*out_info));
  return HAL_CALL(executable, iree_hal_executable, function_info)(executable, function, out_info);
}

iree_status_t iree_hal_executable_function_parameters(iree_hal_executable_t* executable,
                                                      iree_hal_executable_function_t function,
                                                      iree_host_size_t capacity,
                                                      iree_hal_executable_function_parameter_t* out_parameters) {
  return HAL_CALL(executable, iree_hal_executable, function_parameters)(executable, function, capacity, out_parameters);
}

iree_status_t iree_hal_executable_lookup_function_by_name(iree_hal_executable_t* executable, iree_string_view_t name,
                                                          iree_hal_executable_function_t* out_function) {
  *out_function = iree_hal_executable_function_invalid();
  return HAL_CALL(executable, iree_hal_executable, lookup_function_by_name)(executable, name, out_function);
}

iree_status_t iree_hal_executable_lookup_global_by_name(iree_hal_executable_t* executable, iree_string_view_t name,
                                                        iree_hal_queue_affinity_t queue_affinity,
                                                        struct iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "executables show no variables, '%.*s' or others; bindings are",
                          (int)name.size, name.data);
}

void iree_hal_executable_params_initialize(iree_hal_executable_params_t* out_executable_params) {
  memset(out_executable_params, 0, sizeof(*out_executable_params));
  out_executable_params->queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY;
  out_executable_params->caching_mode =
      IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_PERSISTENT_CACHING | IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_OPTIMIZATION;
}

iree_status_t iree_hal_executable_cache_create(iree_hal_device_t* device, iree_string_view_t identifier,
                                               iree_hal_executable_cache_t** out_executable_cache) {
  *out_executable_cache = NULL;
  return HAL_CALL(device, iree_hal_device, create_executable_cache)(device, identifier, out_executable_cache);
}

iree_status_t iree_hal_executable_cache_infer_format(iree_hal_executable_cache_t* executable_cache,
                                                     iree_hal_executable_caching_mode_t caching_mode,
                                                     iree_const_byte_span_t executable_data,
                                                     iree_host_size_t executable_format_capacity,
                                                     char* executable_format, iree_host_size_t* out_inferred_size) {
  *out_inferred_size = 0;
  return HAL_CALL(executable_cache, iree_hal_executable_cache, infer_format)(
      executable_cache, caching_mode, executable_data, executable_format_capacity, executable_format,
      out_inferred_size);
}

bool iree_hal_executable_cache_can_prepare_format(iree_hal_executable_cache_t* executable_cache,
                                                  iree_hal_executable_caching_mode_t caching_mode,
                                                  iree_string_view_t executable_format) {
  return HAL_CALL(executable_cache, iree_hal_executable_cache, can_prepare_format)(executable_cache, caching_mode,
                                                                                   executable_format);
}

iree_status_t iree_hal_executable_cache_append_formats(iree_hal_executable_cache_t* executable_cache,
                                                       iree_string_builder_t* builder) {
  iree_status_t (*append)(iree_hal_executable_cache_t*, iree_string_builder_t*) =
      HAL_CALL(executable_cache, iree_hal_executable_cache, append_formats);
  return append ? append(executable_cache, builder) : iree_ok_status();
}

iree_status_t iree_hal_executable_cache_prepare_executable(iree_hal_executable_cache_t* executable_cache,
                                                           const iree_hal_executable_params_t* executable_params,
                                                           iree_hal_executable_t** out_executable) {
  TRACE_SCOPE("prepare_executable");
  *out_executable = NULL;
  const iree_hal_executable_caching_mode_t known = (IREE_HAL_EXECUTABLE_CACHING_MODE_DISABLE_VERIFICATION << 1) - 1;
  if (executable_params->caching_mode & ~known) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "caching mode 0x%X is not known",
                            executable_params->caching_mode & ~known);
  }
  if (executable_params->constant_count && !executable_params->constants) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%" PRIhsz " constants are announced but not given",
                            executable_params->constant_count);
  }
  return HAL_CALL(executable_cache, iree_hal_executable_cache, prepare_executable)(executable_cache, executable_params,
                                                                                   out_executable);
}
