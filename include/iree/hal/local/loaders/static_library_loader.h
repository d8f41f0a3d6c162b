// Loads `static`: libraries linked into the program. The executable data is the name of one of them.
#ifndef IREE_HAL_LOCAL_LOADERS_STATIC_LIBRARY_LOADER_H_
#define IREE_HAL_LOCAL_LOADERS_STATIC_LIBRARY_LOADER_H_

#include "iree/base/api.h"
#include "iree/hal/local/executable_library.h"
#include "iree/hal/local/executable_loader.h"

#ifdef __cplusplus
extern "C" {
#endif

// Queries the libraries at once. Errors: UNAVAILABLE when one does not support this runtime's version.
IREE_API_EXPORT iree_status_t iree_hal_static_library_loader_create(
    iree_host_size_t library_count, const iree_hal_executable_library_query_fn_t* library_query_fns,
    iree_hal_executable_import_provider_t import_provider, iree_allocator_t host_allocator,
    iree_hal_executable_loader_t** out_executable_loader);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_LOCAL_LOADERS_STATIC_LIBRARY_LOADER_H_
