// The module `custom`: `call.async` doubles the numbers of a tensor on a thread of its own, between two fences.
#ifndef IREE_SAMPLES_CUSTOM_MODULE_ASYNC_MODULE_H_
#define IREE_SAMPLES_CUSTOM_MODULE_ASYNC_MODULE_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

iree_status_t custom_module_create(iree_vm_instance_t* instance, iree_hal_device_t* device, iree_allocator_t allocator,
                                   iree_vm_module_t** out_module);

#ifdef __cplusplus
}
#endif

#endif  // IREE_SAMPLES_CUSTOM_MODULE_ASYNC_MODULE_H_
