// Parameters from the flags of tools: --parameters=[scope=]file and --parameter_mode=.
#ifndef IREE_TOOLING_PARAMETER_UTIL_H_
#define IREE_TOOLING_PARAMETER_UTIL_H_

#include "iree/base/api.h"
#include "iree/io/parameter_provider.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_io_scope_map_t iree_io_scope_map_t;

// Reads the tables of all archives into the indices of their scopes. Of archives of one scope the first that has a
// parameter gives it.
IREE_API_EXPORT iree_status_t iree_tooling_build_parameter_indices_from_flags(iree_io_scope_map_t* scope_map);

// The module `io_parameters` over `providers` (retained; there may be none) and then all of them.
IREE_API_EXPORT iree_status_t iree_tooling_create_parameters_module_from_flags(
    iree_vm_instance_t* instance, iree_host_size_t provider_count, iree_io_parameter_provider_t* const* providers,
    iree_allocator_t host_allocator, iree_vm_module_t** out_module);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_PARAMETER_UTIL_H_
