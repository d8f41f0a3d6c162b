// Memory of what libhsa-amd-aqlprofile64 makes: packets' commands, and what they write. All of it is the host's.
#ifndef IREE_C_HAL_AMDGPU_AQLPROFILE_MEMORY_H_
#define IREE_C_HAL_AMDGPU_AQLPROFILE_MEMORY_H_

#include "hal/amdgpu/libaqlprofile.h"
#include "hal/amdgpu/system.h"

// What the callbacks are called with; it outlives what the library made with it.
typedef struct aqlprofile_memory_t {
  const system_t* system;
  const system_gpu_t* gpu;
  bool is_cleared;  // memory is all zero
} aqlprofile_memory_t;

hsa_status_t aqlprofile_memory_allocate(void** out_ptr, uint64_t size, aqlprofile_buffer_flags_t flags, void* memory);
void aqlprofile_memory_free(void* ptr, void* memory);
hsa_status_t aqlprofile_memory_copy(void* target, const void* source, size_t size, void* memory);

#endif  // IREE_C_HAL_AMDGPU_AQLPROFILE_MEMORY_H_
