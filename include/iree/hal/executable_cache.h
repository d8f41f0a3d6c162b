// Executable caches: turn executable data into executables of one device. Thread safe.
#ifndef IREE_HAL_EXECUTABLE_CACHE_H_
#define IREE_HAL_EXECUTABLE_CACHE_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/executable.h"

#ifdef __cplusplus
extern "C" {
#endif

// Permissions and hints. Caches here store nothing, optimize nothing, verify always and copy what they keep: none of
// these changes anything. Unknown ones are refused when an executable is prepared.
enum iree_hal_executable_caching_mode_bits_t {
  IREE_HAL_EXECUTABLE_CACHING_MODE_ALIAS_PROVIDED_DATA = 1u << 0,  // the data outlives the executable: do not copy
  IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_PERSISTENT_CACHING = 1u << 1,
  IREE_HAL_EXECUTABLE_CACHING_MODE_ALLOW_OPTIMIZATION = 1u << 2,
  IREE_HAL_EXECUTABLE_CACHING_MODE_ENABLE_DEBUGGING = 1u << 3,
  IREE_HAL_EXECUTABLE_CACHING_MODE_ENABLE_COVERAGE = 1u << 4,
  IREE_HAL_EXECUTABLE_CACHING_MODE_ENABLE_PROFILING = 1u << 5,
  IREE_HAL_EXECUTABLE_CACHING_MODE_DISABLE_VERIFICATION = 1u << 6,
};
typedef uint32_t iree_hal_executable_caching_mode_t;

typedef struct iree_hal_executable_params_t {
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_executable_caching_mode_t caching_mode;
  iree_string_view_t executable_format;  // `embedded-elf-x86_64`, `vmvx-bytecode-fb`, …
  iree_const_byte_span_t executable_data;
  iree_host_size_t constant_count;  // specialization constants, copied
  const uint32_t* constants;
  iree_budget_t* budget;  // that its code works from where the device can stop it (vmvx); may be NULL; not IREE's
} iree_hal_executable_params_t;
IREE_API_EXPORT void iree_hal_executable_params_initialize(iree_hal_executable_params_t* out_executable_params);

typedef struct iree_hal_executable_cache_t iree_hal_executable_cache_t;

// `identifier` tells apart what caches of the same device would store; those here store nothing, and do not read it.
IREE_API_EXPORT iree_status_t iree_hal_executable_cache_create(iree_hal_device_t* device, iree_string_view_t identifier,
                                                               iree_hal_executable_cache_t** out_executable_cache);
IREE_API_EXPORT void iree_hal_executable_cache_retain(iree_hal_executable_cache_t* executable_cache);
IREE_API_EXPORT void iree_hal_executable_cache_release(iree_hal_executable_cache_t* executable_cache);
IREE_API_EXPORT void iree_hal_executable_cache_destroy(iree_hal_executable_cache_t* executable_cache);

// The format of some data, NUL-terminated, and how many bytes of it are the executable. Errors: INCOMPATIBLE when no
// loader knows it, OUT_OF_RANGE when the name does not fit.
IREE_API_EXPORT iree_status_t iree_hal_executable_cache_infer_format(iree_hal_executable_cache_t* executable_cache,
                                                                     iree_hal_executable_caching_mode_t caching_mode,
                                                                     iree_const_byte_span_t executable_data,
                                                                     iree_host_size_t executable_format_capacity,
                                                                     char* executable_format,
                                                                     iree_host_size_t* out_inferred_size);
IREE_API_EXPORT bool iree_hal_executable_cache_can_prepare_format(iree_hal_executable_cache_t* executable_cache,
                                                                  iree_hal_executable_caching_mode_t caching_mode,
                                                                  iree_string_view_t executable_format);
// Appends the formats that it takes, separated by ", ": for messages. Not IREE's.
IREE_API_EXPORT iree_status_t iree_hal_executable_cache_append_formats(iree_hal_executable_cache_t* executable_cache,
                                                                       iree_string_builder_t* builder);
// Loads. Errors: NOT_FOUND when no loader takes the format, INVALID_ARGUMENT and others for bad data.
IREE_API_EXPORT iree_status_t iree_hal_executable_cache_prepare_executable(
    iree_hal_executable_cache_t* executable_cache, const iree_hal_executable_params_t* executable_params,
    iree_hal_executable_t** out_executable);

// For drivers.
typedef struct iree_hal_executable_cache_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_executable_cache_t* executable_cache);
  iree_status_t(IREE_API_PTR* infer_format)(iree_hal_executable_cache_t* executable_cache,
                                            iree_hal_executable_caching_mode_t caching_mode,
                                            iree_const_byte_span_t executable_data,
                                            iree_host_size_t executable_format_capacity, char* executable_format,
                                            iree_host_size_t* out_inferred_size);
  bool(IREE_API_PTR* can_prepare_format)(iree_hal_executable_cache_t* executable_cache,
                                         iree_hal_executable_caching_mode_t caching_mode,
                                         iree_string_view_t executable_format);
  iree_status_t(IREE_API_PTR* prepare_executable)(iree_hal_executable_cache_t* executable_cache,
                                                  const iree_hal_executable_params_t* executable_params,
                                                  iree_hal_executable_t** out_executable);
  // May be NULL. Not IREE's.
  iree_status_t(IREE_API_PTR* append_formats)(iree_hal_executable_cache_t* executable_cache,
                                              iree_string_builder_t* builder);
} iree_hal_executable_cache_vtable_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_EXECUTABLE_CACHE_H_
