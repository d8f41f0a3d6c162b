// Executables: a code object loaded on every GPU of a logical device, with what its metadata says of its kernels.
#ifndef IREE_C_HAL_AMDGPU_EXECUTABLE_H_
#define IREE_C_HAL_AMDGPU_EXECUTABLE_H_

#include "hal/amdgpu/logical_device.h"
#include "hal/amdgpu/metadata.h"

typedef struct executable_function_t {
  metadata_kernel_t info;
  kernel_object_t* objects;  // by ordinal of the physical device
} executable_function_t;

// `params` as the cache gets them. Errors: INCOMPATIBLE, naming both, when the code is for another target.
iree_status_t amdgpu_executable_create(logical_device_t* device, const iree_hal_executable_params_t* params,
                                       iree_hal_executable_t** out_executable);
// NULL when the executable is of another driver or has no such function.
const executable_function_t* amdgpu_executable_function(iree_hal_executable_t* executable,
                                                        iree_hal_executable_function_t function);

#endif  // IREE_C_HAL_AMDGPU_EXECUTABLE_H_
