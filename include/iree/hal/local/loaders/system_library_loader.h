// Loads `system-elf-x86_64`: shared libraries through the system's dynamic loader, for debuggers and profilers. It runs
// whatever the library contains: only for code that is trusted.
#ifndef IREE_HAL_LOCAL_LOADERS_SYSTEM_LIBRARY_LOADER_H_
#define IREE_HAL_LOCAL_LOADERS_SYSTEM_LIBRARY_LOADER_H_

#include "iree/base/api.h"
#include "iree/hal/local/executable_loader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_executable_plugin_manager_t iree_hal_executable_plugin_manager_t;

// `plugin_manager` (may be NULL) provides imports and is kept alive.
IREE_API_EXPORT iree_status_t iree_hal_system_library_loader_create(
    iree_hal_executable_plugin_manager_t* plugin_manager, iree_allocator_t host_allocator,
    iree_hal_executable_loader_t** out_executable_loader);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_LOCAL_LOADERS_SYSTEM_LIBRARY_LOADER_H_
