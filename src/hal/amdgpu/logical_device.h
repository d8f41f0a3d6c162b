// Logical devices: one HAL device over one or several GPUs of the same kind.
#ifndef IREE_C_HAL_AMDGPU_LOGICAL_DEVICE_H_
#define IREE_C_HAL_AMDGPU_LOGICAL_DEVICE_H_

#include "hal/amdgpu/options.h"
#include "hal/amdgpu/physical_device.h"
#include "hal/amdgpu/system.h"
#include "hal/gpu/device.h"

#define LOGICAL_DEVICE_DEFAULT_QUEUES 2u  // of each GPU

typedef struct logical_device_options_t {
  uint32_t queue_count;   // of each GPU; 0: the default
  uint32_t queue_size;    // packets; 0: as many as the GPU allows, at most 64 Ki
  uint32_t epoch_count;   // submissions in flight, a power of two; 0: 1024
  uint64_t kernarg_size;  // bytes of the ring of kernel arguments; 0: 16 MiB
  amdgpu_options_t user;
} logical_device_options_t;

struct logical_device_t {
  gpu_device_t gpu;
  system_t* system;
  logical_device_options_t options;
  bool makes_pm4;                // of command buffers that qualify (pm4.h)
  physical_device_t physical[];  // gpu.domain.physical_count
};

// A device over the GPUs of `system` whose bits are set in `mask`. They must be of one kind (checked by the driver).
// Errors: INVALID_ARGUMENT when they have more than 64 queues together.
iree_status_t logical_device_create(system_t* system, uint64_t mask, const logical_device_options_t* options,
                                    const iree_hal_device_create_params_t* create_params,
                                    iree_allocator_t host_allocator, iree_hal_device_t** out_device);

// memory.c
iree_status_t amdgpu_allocator_create(const logical_device_t* device, iree_hal_allocator_t** out_allocator);

#endif  // IREE_C_HAL_AMDGPU_LOGICAL_DEVICE_H_
