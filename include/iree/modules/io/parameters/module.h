// The VM module `io_parameters`, from which compiled programs get their parameters:
//
//   io_parameters.find(scope: !vm.buffer, key: !vm.buffer, length: i64) -> !vm.buffer
//
// Bytes of a file are not copied: the buffer is a mapping of them. Calls fail with NOT_FOUND when no provider of the
// scope has the key, and with OUT_OF_RANGE when it has another length.
#ifndef IREE_MODULES_IO_PARAMETERS_MODULE_H_
#define IREE_MODULES_IO_PARAMETERS_MODULE_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/io/parameter_provider.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Providers (retained) are asked in order.
IREE_API_EXPORT iree_status_t iree_io_parameters_module_create(iree_vm_instance_t* instance,
                                                               iree_host_size_t provider_count,
                                                               iree_io_parameter_provider_t* const* providers,
                                                               iree_allocator_t host_allocator,
                                                               iree_vm_module_t** IREE_RESTRICT out_module);

#ifdef __cplusplus
}
#endif

#endif  // IREE_MODULES_IO_PARAMETERS_MODULE_H_
