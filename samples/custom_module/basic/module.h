// The module `custom`: strings for programs, as objects of a type of its own.
#ifndef IREE_SAMPLES_CUSTOM_MODULE_BASIC_MODULE_H_
#define IREE_SAMPLES_CUSTOM_MODULE_BASIC_MODULE_H_

#include "iree/base/api.h"
#include "iree/vm/api.h"

// Registers the type !custom.string; before any module that uses it is loaded.
iree_status_t custom_module_register_types(iree_vm_instance_t* instance);
void custom_module_unregister_types(iree_vm_instance_t* instance);

iree_status_t custom_module_create(iree_vm_instance_t* instance, iree_allocator_t allocator,
                                   iree_vm_module_t** out_module);

#endif  // IREE_SAMPLES_CUSTOM_MODULE_BASIC_MODULE_H_
