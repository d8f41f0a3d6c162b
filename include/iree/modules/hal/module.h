// The `hal` module: gives programs their devices. Thread safe, as every module is; callbacks are called by the thread
// that runs the program.

#ifndef IREE_MODULES_HAL_MODULE_H_
#define IREE_MODULES_HAL_MODULE_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/hal/device_group.h"
#include "iree/modules/hal/debugging.h"
#include "iree/modules/hal/types.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef uint64_t iree_hal_module_device_allocator_select_flags_t;

typedef struct iree_hal_device_queue_affinity_pair_t {
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t queue_affinity;
} iree_hal_device_queue_affinity_pair_t;

// Chooses which of several devices allocates memory that all of them use; *out_selection is its index.
typedef iree_status_t(IREE_API_PTR* iree_hal_module_device_allocator_select_callback_fn_t)(
    void* user_data, iree_host_size_t device_count, const iree_hal_device_queue_affinity_pair_t* devices,
    iree_hal_memory_type_t memory_types, iree_hal_buffer_usage_t buffer_usage,
    iree_hal_module_device_allocator_select_flags_t flags, iree_host_size_t* out_selection);
typedef struct iree_hal_module_device_allocator_select_callback_t {
  iree_hal_module_device_allocator_select_callback_fn_t fn;
  void* user_data;
} iree_hal_module_device_allocator_select_callback_t;

typedef struct iree_hal_module_device_policy_t {
  iree_hal_module_device_allocator_select_callback_t allocator_select;
} iree_hal_module_device_policy_t;

// Selects nothing: programs say which device allocates.
IREE_API_EXPORT iree_hal_module_device_policy_t iree_hal_module_device_policy_default(void);

enum iree_hal_module_flag_bits_t {
  IREE_HAL_MODULE_FLAG_NONE = 0u,
  IREE_HAL_MODULE_FLAG_SYNCHRONOUS = 1u << 0,  // accepted: programs say themselves when they wait
  IREE_HAL_MODULE_FLAG_RETAIN_COMMAND_BUFFER_PROFILE_METADATA = 1u << 1,  // accepted: it is always there
};
typedef uint32_t iree_hal_module_flags_t;

// Creates the module over a group of devices (retained). The types must be registered. `debug_sink` is released with
// the module. Errors: INVALID_ARGUMENT for unknown flags, UNIMPLEMENTED for a policy that is to select among several
// devices (with one there is nothing to select).
IREE_API_EXPORT iree_status_t iree_hal_module_create(iree_vm_instance_t* instance,
                                                     iree_hal_module_device_policy_t device_policy,
                                                     iree_hal_device_group_t* device_group,
                                                     iree_hal_module_flags_t flags,
                                                     iree_hal_module_debug_sink_t debug_sink,
                                                     iree_allocator_t host_allocator, iree_vm_module_t** out_module);

// Devices of the module's state in a context. Not retained; NULL when `index` is out of range.
IREE_API_EXPORT iree_host_size_t iree_hal_module_state_device_count(iree_vm_module_state_t* module_state);
IREE_API_EXPORT iree_hal_device_t* iree_hal_module_state_device_get(iree_vm_module_state_t* module_state,
                                                                    iree_host_size_t index);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_MODULES_HAL_MODULE_H_
