// iree-run-module as functions: --module, --function, --input, --output, --expected_output and all its other flags.
#ifndef IREE_TOOLING_RUN_MODULE_H_
#define IREE_TOOLING_RUN_MODULE_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Calls the function and prints, writes or compares its results. *out_exit_code is not 0 when they differ from those
// expected.
IREE_API_EXPORT iree_status_t iree_tooling_run_module_from_flags(iree_vm_instance_t* instance,
                                                                 iree_allocator_t host_allocator, int* out_exit_code);
// The same with one more module, the last one, in memory that outlives the call. `default_device_uri` is for no
// --device.
IREE_API_EXPORT iree_status_t iree_tooling_run_module_with_data(iree_vm_instance_t* instance,
                                                                iree_string_view_t default_device_uri,
                                                                iree_const_byte_span_t module_contents,
                                                                iree_allocator_t host_allocator, int* out_exit_code);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_RUN_MODULE_H_
