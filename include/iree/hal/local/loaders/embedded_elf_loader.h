// Loads `embedded-elf-x86_64`: position-independent ELF shared objects without a C library, through a loader of our own
// that works anywhere, checks everything and maps code read-only.
#ifndef IREE_HAL_LOCAL_LOADERS_EMBEDDED_ELF_LOADER_H_
#define IREE_HAL_LOCAL_LOADERS_EMBEDDED_ELF_LOADER_H_

#include "iree/base/api.h"
#include "iree/hal/local/executable_loader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_executable_plugin_manager_t iree_hal_executable_plugin_manager_t;

// `plugin_manager` (may be NULL) provides imports and is kept alive.
IREE_API_EXPORT iree_status_t iree_hal_embedded_elf_loader_create(iree_hal_executable_plugin_manager_t* plugin_manager,
                                                                  iree_allocator_t host_allocator,
                                                                  iree_hal_executable_loader_t** out_executable_loader);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_LOCAL_LOADERS_EMBEDDED_ELF_LOADER_H_
