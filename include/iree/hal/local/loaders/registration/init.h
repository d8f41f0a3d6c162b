// All loaders of this build.
#ifndef IREE_HAL_LOCAL_LOADERS_REGISTRATION_INIT_H_
#define IREE_HAL_LOCAL_LOADERS_REGISTRATION_INIT_H_

#include "iree/base/api.h"
#include "iree/hal/local/executable_loader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_executable_plugin_manager_t iree_hal_executable_plugin_manager_t;

// Makes one of each. Errors: OUT_OF_RANGE when there are more than `capacity`; *out_count is how many.
IREE_API_EXPORT iree_status_t iree_hal_create_all_available_executable_loaders(
    iree_hal_executable_plugin_manager_t* plugin_manager, iree_host_size_t capacity, iree_host_size_t* out_count,
    iree_hal_executable_loader_t** loaders, iree_allocator_t host_allocator);
// By name: `embedded-elf`, `system-library`, `vmvx-module`. Errors: NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_hal_create_executable_loader_by_name(
    iree_string_view_t name, iree_hal_executable_plugin_manager_t* plugin_manager, iree_allocator_t host_allocator,
    iree_hal_executable_loader_t** out_executable_loader);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_LOCAL_LOADERS_REGISTRATION_INIT_H_
