// Executables: a code object loaded on every GPU of a logical device, with what its metadata says of its kernels.
#ifndef IREE_C_HAL_AMDGPU_EXECUTABLE_H_
#define IREE_C_HAL_AMDGPU_EXECUTABLE_H_

#include "hal/amdgpu/logical_device.h"
#include "hal/gpu/code_object/code_object.h"
#include "hal/gpu/code_object/descriptor.h"

typedef struct executable_function_t {
  gpu_function_t base;
  metadata_kernel_t info;
  kernel_object_t* objects;  // by ordinal of the physical device
  bool has_descriptor;
  descriptor_t descriptor;
} executable_function_t;

// For gpu_backend_t. Errors: INCOMPATIBLE, naming both, when the code is for another target.
iree_status_t amdgpu_executable_load(gpu_device_t* device, iree_const_byte_span_t data,
                                     iree_hal_executable_t** out_executable);
// Its code, as it lies on a physical device; false where no kernel tells.
bool amdgpu_executable_find_code(iree_hal_executable_t* executable, uint32_t physical, hal_profile_code_t* out_code);
bool amdgpu_takes_format(hal_queued_device_t* device, iree_string_view_t format);
const char* amdgpu_architecture(const gpu_device_t* device);

#endif  // IREE_C_HAL_AMDGPU_EXECUTABLE_H_
