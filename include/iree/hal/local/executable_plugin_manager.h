// The plugins that provide imports to CPU executables. Later plugins are asked first. Thread safe.
#ifndef IREE_HAL_LOCAL_EXECUTABLE_PLUGIN_MANAGER_H_
#define IREE_HAL_LOCAL_EXECUTABLE_PLUGIN_MANAGER_H_

#include "iree/base/api.h"
#include "iree/hal/local/executable_loader.h"
#include "iree/hal/local/executable_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_executable_plugin_manager_t iree_hal_executable_plugin_manager_t;

// Reference counted; loaders made with it keep it alive.
IREE_API_EXPORT iree_status_t iree_hal_executable_plugin_manager_create(
    iree_host_size_t capacity, iree_allocator_t host_allocator, iree_hal_executable_plugin_manager_t** out_manager);
IREE_API_EXPORT void iree_hal_executable_plugin_manager_retain(iree_hal_executable_plugin_manager_t* manager);
IREE_API_EXPORT void iree_hal_executable_plugin_manager_release(iree_hal_executable_plugin_manager_t* manager);

// Adds a provider that lives as long as the manager. Errors: RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_hal_executable_plugin_manager_register_provider(
    iree_hal_executable_plugin_manager_t* manager, iree_hal_executable_import_provider_t provider);
// Loads a plugin from a shared library with the system's loader. Errors: NOT_FOUND, INCOMPATIBLE (version or
// sanitizer), those of the plugin.
IREE_API_EXPORT iree_status_t
iree_hal_executable_plugin_manager_load_system(iree_hal_executable_plugin_manager_t* manager, iree_string_view_t path,
                                               iree_host_size_t param_count, const iree_string_pair_t* params);
// As load_system through the embedded ELF loader: for STANDALONE plugins.
IREE_API_EXPORT iree_status_t
iree_hal_executable_plugin_manager_load_embedded(iree_hal_executable_plugin_manager_t* manager, iree_string_view_t path,
                                                 iree_host_size_t param_count, const iree_string_pair_t* params);
// Resolves through all plugins. NULL is the null provider.
IREE_API_EXPORT iree_hal_executable_import_provider_t
iree_hal_executable_plugin_manager_provider(iree_hal_executable_plugin_manager_t* manager);

// A manager with what --executable_plugin= names (`[embedded:]path`).
IREE_API_EXPORT iree_status_t iree_hal_executable_plugin_manager_create_from_flags(
    iree_allocator_t host_allocator, iree_hal_executable_plugin_manager_t** out_manager);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_LOCAL_EXECUTABLE_PLUGIN_MANAGER_H_
