// The module `custom`: `call.sync` doubles the numbers of a tensor, on the host.
#ifndef IREE_SAMPLES_CUSTOM_MODULE_SYNC_MODULE_H_
#define IREE_SAMPLES_CUSTOM_MODULE_SYNC_MODULE_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/vm/api.h"

iree_status_t custom_module_create(iree_vm_instance_t* instance, iree_hal_device_t* device, iree_allocator_t allocator,
                                   iree_vm_module_t** out_module);

#endif  // IREE_SAMPLES_CUSTOM_MODULE_SYNC_MODULE_H_
