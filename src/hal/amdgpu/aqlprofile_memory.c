// Memory of aqlprofile's; see aqlprofile_memory.h.
#include "hal/amdgpu/aqlprofile_memory.h"

hsa_status_t aqlprofile_memory_allocate(void** out_ptr, uint64_t size, aqlprofile_buffer_flags_t flags, void* data) {
  const aqlprofile_memory_t* memory = (const aqlprofile_memory_t*)data;
  const libhsa_t* hsa = memory->system->hsa;
  hsa_amd_memory_pool_t pool = memory->system->cpus[memory->gpu->cpu].fine.handle;
  *out_ptr = NULL;
  if (!size) return HSA_STATUS_SUCCESS;
  hsa_status_t status = hsa->hsa_amd_memory_pool_allocate(pool, size, HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG, out_ptr);
  if (status == HSA_STATUS_ERROR_INVALID_ARGUMENT) {
    status = hsa->hsa_amd_memory_pool_allocate(pool, size, 0, out_ptr);
  }
  if (status != HSA_STATUS_SUCCESS) return status;
  if (memory->is_cleared) memset(*out_ptr, 0, size);
  status = hsa->hsa_amd_agents_allow_access(1, &memory->gpu->agent, NULL, *out_ptr);
  if (status == HSA_STATUS_SUCCESS) return status;
  hsa->hsa_amd_memory_pool_free(*out_ptr);
  *out_ptr = NULL;
  return status;
}

void aqlprofile_memory_free(void* ptr, void* memory) {
  if (ptr) ((const aqlprofile_memory_t*)memory)->system->hsa->hsa_amd_memory_pool_free(ptr);
}

hsa_status_t aqlprofile_memory_copy(void* target, const void* source, size_t size, void* memory) {
  memcpy(target, source, size);
  return HSA_STATUS_SUCCESS;
}
