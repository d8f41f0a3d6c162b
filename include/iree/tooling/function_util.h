// Around calls: fences, and results on other devices.
#ifndef IREE_TOOLING_FUNCTION_UTIL_H_
#define IREE_TOOLING_FUNCTION_UTIL_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Appends the fences of functions that take them (iree.abi.model = coarse-fences): `wait_fence` (NULL: nothing to wait
// for) and a new one, in *out_signal_fence. For other functions nothing is appended and that is NULL.
IREE_API_EXPORT iree_status_t iree_tooling_append_async_fences(iree_vm_list_t* list, iree_vm_function_t function,
                                                               iree_hal_device_t* device, iree_hal_fence_t* wait_fence,
                                                               iree_hal_fence_t** out_signal_fence);
// Replaces buffers and views that are not as `target_params` say by copies that are. The copies begin after
// `wait_fence`, and signal `signal_fence`; without that they are waited for. Without a device they are made by mapping.
IREE_API_EXPORT iree_status_t iree_tooling_transfer_variants(iree_vm_list_t* list, iree_hal_device_t* target_device,
                                                             iree_hal_allocator_t* target_allocator,
                                                             iree_hal_buffer_params_t target_params,
                                                             iree_hal_fence_t* wait_fence,
                                                             iree_hal_fence_t* signal_fence);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_FUNCTION_UTIL_H_
