// Memory of agents as buffers.
#ifndef IREE_C_HAL_AMDGPU_ALLOCATOR_H_
#define IREE_C_HAL_AMDGPU_ALLOCATOR_H_

#include "hal/amdgpu/logical_device.h"

// Counters by place: 0 of the host, 1 of GPUs.
typedef struct allocator_statistics_t {
  iree_atomic_uint64_t allocated[2];
  iree_atomic_uint64_t freed[2];
  iree_atomic_uint64_t peak[2];
} allocator_statistics_t;

typedef struct amdgpu_allocator_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  system_t* system;  // retained
  allocator_statistics_t statistics;
  gpu_domain_t domain;
  uint32_t gpu_count;
  const system_gpu_t* gpus[];
} amdgpu_allocator_t;

// buffer.c
typedef enum { BUFFER_POOL, BUFFER_LOCKED, BUFFER_BORROWED } buffer_source_t;
typedef struct buffer_memory_t {
  buffer_source_t source;
  uint8_t* host;  // NULL: the host has no address for it
  uint64_t address;
  iree_device_size_t size;    // bytes of the memory
  iree_device_size_t length;  // bytes of the buffer
  iree_hal_buffer_release_callback_t release;
} buffer_memory_t;
// Takes over `memory`, also when it fails. `allocator` is retained.
iree_status_t amdgpu_buffer_create(amdgpu_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                   const buffer_memory_t* memory, iree_hal_buffer_t** out_buffer);
// The memory behind a buffer, which begins at an offset; NULL when it is not of such an allocator.
const buffer_memory_t* amdgpu_buffer_memory(iree_hal_buffer_t* buffer, iree_device_size_t* out_offset);
void amdgpu_allocator_record(amdgpu_allocator_t* allocator, iree_hal_memory_type_t type, iree_device_size_t size,
                             bool is_free);

#endif  // IREE_C_HAL_AMDGPU_ALLOCATOR_H_
