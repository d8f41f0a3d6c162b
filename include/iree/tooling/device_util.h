// Devices from the flags of tools: --device=.
#ifndef IREE_TOOLING_DEVICE_UTIL_H_
#define IREE_TOOLING_DEVICE_UTIL_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// All drivers of this build. It lives as long as the process.
IREE_API_EXPORT iree_hal_driver_registry_t* iree_hal_available_driver_registry(void);
// What is used when nobody names a device.
IREE_API_EXPORT iree_string_view_t iree_hal_default_device_uri(void);
// The values of --device. Parsing flags makes it invalid.
IREE_API_EXPORT iree_string_view_list_t iree_hal_device_flag_list(void);
// The device of the flag, or `default_device` without one. Errors: INVALID_ARGUMENT for several, NOT_FOUND,
// UNAVAILABLE, ...
IREE_API_EXPORT iree_status_t iree_hal_create_device_from_flags(iree_hal_driver_registry_t* driver_registry,
                                                                iree_string_view_t default_device,
                                                                const iree_hal_device_create_params_t* create_params,
                                                                iree_allocator_t host_allocator,
                                                                iree_hal_device_t** out_device);
// The same for any number; the list is the caller's (iree_hal_device_list_free).
IREE_API_EXPORT iree_status_t iree_hal_create_devices_from_flags(iree_hal_driver_registry_t* driver_registry,
                                                                 iree_string_view_t default_device,
                                                                 const iree_hal_device_create_params_t* create_params,
                                                                 iree_allocator_t host_allocator,
                                                                 iree_hal_device_list_t** out_device_list);

// What --device_profiling_mode= and the flags beside it ask for.
typedef struct iree_hal_profiling_from_flags_t iree_hal_profiling_from_flags_t;

// Whether it needs command buffers that keep what they record for profiles
// (IREE_HAL_COMMAND_BUFFER_MODE_RETAIN_PROFILE_METADATA). Errors: INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t
iree_hal_profiling_from_flags_requires_retained_command_buffer_metadata(bool* out_required);
// Begins to profile a device, or all of a group in one profile; *out_profiling is NULL when the flags do not ask for
// it.
IREE_API_EXPORT iree_status_t iree_hal_begin_profiling_from_flags(iree_hal_device_t* device,
                                                                  iree_allocator_t host_allocator,
                                                                  iree_hal_profiling_from_flags_t** out_profiling);
IREE_API_EXPORT iree_status_t
iree_hal_begin_device_group_profiling_from_flags(iree_hal_device_group_t* device_group, iree_allocator_t host_allocator,
                                                 iree_hal_profiling_from_flags_t** out_profiling);
// Writes what is there so far; accepts NULL.
IREE_API_EXPORT iree_status_t iree_hal_flush_profiling_from_flags(iree_hal_profiling_from_flags_t* profiling);
// Ends the profile and frees it; accepts NULL. Errors: those of the output.
IREE_API_EXPORT iree_status_t iree_hal_end_profiling_from_flags(iree_hal_profiling_from_flags_t* profiling);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_DEVICE_UTIL_H_
