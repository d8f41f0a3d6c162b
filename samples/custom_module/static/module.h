// The module `sample`, a part of the program: `next` counts for each context.
#ifndef IREE_SAMPLES_CUSTOM_MODULE_STATIC_MODULE_H_
#define IREE_SAMPLES_CUSTOM_MODULE_STATIC_MODULE_H_

#include "iree/base/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

iree_status_t sample_module_create(iree_vm_instance_t* instance, iree_allocator_t allocator,
                                   iree_vm_module_t** out_module);

#ifdef __cplusplus
}
#endif

#endif  // IREE_SAMPLES_CUSTOM_MODULE_STATIC_MODULE_H_
