// Which GPUs make a logical device.
#ifndef IREE_C_HAL_AMDGPU_TOPOLOGY_H_
#define IREE_C_HAL_AMDGPU_TOPOLOGY_H_

#include "hal/amdgpu/system.h"

// All GPUs of the first one's kind, as bits by ordinal.
uint64_t topology_default(const system_t* system);
// The GPUs of a device path: "" or "*" are the default, else ordinals and UUIDs separated by commas. Errors: NOT_FOUND,
// INVALID_ARGUMENT.
iree_status_t topology_parse(const system_t* system, iree_string_view_t path, uint64_t* out_mask);
// Errors: INVALID_ARGUMENT when the GPUs are not of one kind, or are none.
iree_status_t topology_verify(const system_t* system, uint64_t mask);

#endif  // IREE_C_HAL_AMDGPU_TOPOLOGY_H_
