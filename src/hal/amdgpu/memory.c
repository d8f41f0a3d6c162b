// Memory of HSA's pools for the allocator, within reach of all GPUs of a logical device.
#include "hal/amdgpu/logical_device.h"
#include "hal/gpu/allocator.h"

typedef struct memory_t {
  iree_allocator_t host_allocator;
  system_t* system;              // retained
  iree_device_size_t page_size;  // bytes of virtual memory; 0: there is none
  uint32_t gpu_count;
  const system_gpu_t* gpus[];
} memory_t;

static void memory_destroy(void* source) {
  memory_t* memory = (memory_t*)source;
  system_release(memory->system);
  iree_allocator_free(memory->host_allocator, memory);
}

// Lets every GPU of the device use the memory, and the host where it is to.
static iree_status_t allow_access(const memory_t* self, void* ptr, const system_gpu_t* host_of) {
  hsa_agent_t agents[SYSTEM_MAX_AGENTS + 1];
  uint32_t count = 0;
  for (uint32_t i = 0; i < self->gpu_count; ++i) agents[count++] = self->gpus[i]->agent;
  if (host_of) agents[count++] = self->system->cpus[host_of->cpu].agent;
  return LIBHSA_CALL(self->system->hsa, hsa_amd_agents_allow_access, count, agents, NULL, ptr);
}

static iree_status_t memory_allocate(void* source, uint32_t physical, gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  const libhsa_t* hsa = self->system->hsa;
  const system_gpu_t* gpu = self->gpus[physical];
  bool is_local = iree_all_bits_set(memory->type, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL);
  bool is_visible = memory->type & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  hsa_amd_memory_pool_t pool = is_local ? gpu->coarse.handle : self->system->cpus[gpu->cpu].fine.handle;
  if (is_local && is_visible && gpu->fine.is_present) pool = gpu->fine.handle;
  void* ptr = NULL;
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(hsa, hsa_amd_memory_pool_allocate, pool, memory->size, 0, &ptr));
  iree_status_t status = allow_access(self, ptr, is_local && is_visible ? gpu : NULL);
  if (!iree_status_is_ok(status)) {
    hsa->hsa_amd_memory_pool_free(ptr);
    return status;
  }
  memory->address = (uint64_t)(uintptr_t)ptr;
  if (is_visible) memory->host = (uint8_t*)ptr;
  return iree_ok_status();
}

static void memory_free(void* source, const gpu_memory_t* memory) {
  ((const memory_t*)source)->system->hsa->hsa_amd_memory_pool_free((void*)(uintptr_t)memory->address);
}

static iree_status_t memory_lock(void* source, gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  hsa_agent_t agents[SYSTEM_MAX_AGENTS];
  for (uint32_t i = 0; i < self->gpu_count; ++i) agents[i] = self->gpus[i]->agent;
  void* address = NULL;
  iree_status_t status = LIBHSA_CALL(self->system->hsa, hsa_amd_memory_lock, memory->host, memory->size, agents,
                                     (int)self->gpu_count, &address);
  memory->address = (uint64_t)(uintptr_t)address;
  return status;
}

static void memory_unlock(void* source, const gpu_memory_t* memory) {
  ((const memory_t*)source)->system->hsa->hsa_amd_memory_unlock(memory->host);
}

//===----------------------------------------------------------------------------------------------------------------===
// Sharing: dmabufs
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t fail_sharing(const char* missing) {
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "libhsa-runtime64 is too old to share memory: it has no %s",
                          missing);
}

static iree_status_t memory_export_fd(void* source, const gpu_memory_t* memory, int* out_fd) {
  const libhsa_t* hsa = ((const memory_t*)source)->system->hsa;
  uint64_t offset = 0;
  if (!hsa->hsa_amd_portable_export_dmabuf) return fail_sharing("hsa_amd_portable_export_dmabuf");
  IREE_RETURN_IF_ERROR(LIBHSA_CALL(hsa, hsa_amd_portable_export_dmabuf, (const void*)(uintptr_t)memory->address,
                                   memory->size, out_fd, &offset));
  if (!offset) return iree_ok_status();
  if (hsa->hsa_amd_portable_close_dmabuf) hsa->hsa_amd_portable_close_dmabuf(*out_fd);
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "the memory is a part of a larger dmabuf");
}

static iree_status_t memory_import_fd(void* source, int fd, gpu_memory_t* memory) {
  const memory_t* self = (const memory_t*)source;
  const libhsa_t* hsa = self->system->hsa;
  hsa_agent_t agents[SYSTEM_MAX_AGENTS];
  size_t size = 0;
  void* address = NULL;
  if (!hsa->hsa_amd_interop_map_buffer || !hsa->hsa_amd_interop_unmap_buffer) {
    return fail_sharing("hsa_amd_interop_map_buffer");
  }
  for (uint32_t i = 0; i < self->gpu_count; ++i) agents[i] = self->gpus[i]->agent;
  IREE_RETURN_IF_ERROR(
      LIBHSA_CALL(hsa, hsa_amd_interop_map_buffer, self->gpu_count, agents, fd, 0, &size, &address, NULL, NULL));
  memory->address = (uint64_t)(uintptr_t)address;
  memory->size = size;
  return iree_ok_status();
}

static void memory_unimport(void* source, const gpu_memory_t* memory) {
  ((const memory_t*)source)->system->hsa->hsa_amd_interop_unmap_buffer((void*)(uintptr_t)memory->address);
}

//===----------------------------------------------------------------------------------------------------------------===
// Virtual memory
//===----------------------------------------------------------------------------------------------------------------===

static const libhsa_t* hsa_of(const void* source) { return ((const memory_t*)source)->system->hsa; }

static iree_status_t virtual_reserve(void* source, iree_device_size_t size, uint64_t* out_address) {
  void* ptr = NULL;
  iree_status_t status = LIBHSA_CALL(hsa_of(source), hsa_amd_vmem_address_reserve, &ptr, size, 0, 0);
  *out_address = (uint64_t)(uintptr_t)ptr;
  return status;
}

static void virtual_unreserve(void* source, uint64_t address, iree_device_size_t size) {
  hsa_of(source)->hsa_amd_vmem_address_free((void*)(uintptr_t)address, size);
}

static iree_status_t virtual_allocate(void* source, uint32_t physical, uint64_t* out_page) {
  const memory_t* self = (const memory_t*)source;
  hsa_amd_vmem_alloc_handle_t handle = {0};
  iree_status_t status = LIBHSA_CALL(hsa_of(source), hsa_amd_vmem_handle_create, self->gpus[physical]->coarse.handle,
                                     self->page_size, HSA_AMD_MEMORY_TYPE_NONE, 0, &handle);
  *out_page = handle.handle;
  return status;
}

static void virtual_free(void* source, uint64_t page) {
  hsa_of(source)->hsa_amd_vmem_handle_release((hsa_amd_vmem_alloc_handle_t){page});
}

static iree_status_t virtual_map(void* source, uint64_t address, uint64_t page) {
  return LIBHSA_CALL(hsa_of(source), hsa_amd_vmem_map, (void*)(uintptr_t)address, ((const memory_t*)source)->page_size,
                     0, (hsa_amd_vmem_alloc_handle_t){page}, 0);
}

static void virtual_unmap(void* source, uint64_t address) {
  hsa_of(source)->hsa_amd_vmem_unmap((void*)(uintptr_t)address, ((const memory_t*)source)->page_size);
}

// What can be written can be read.
static iree_status_t virtual_protect(void* source, uint64_t address, uint64_t gpus,
                                     iree_hal_memory_protection_t protection) {
  const memory_t* self = (const memory_t*)source;
  hsa_amd_memory_access_desc_t descriptors[SYSTEM_MAX_AGENTS];
  int32_t permissions = protection & IREE_HAL_MEMORY_PROTECTION_WRITE  ? HSA_ACCESS_PERMISSION_RW
                        : protection & IREE_HAL_MEMORY_PROTECTION_READ ? HSA_ACCESS_PERMISSION_RO
                                                                       : HSA_ACCESS_PERMISSION_NONE;
  for (uint32_t i = 0; i < self->gpu_count; ++i) {
    int32_t own = gpus >> i & 1 ? permissions : HSA_ACCESS_PERMISSION_NONE;
    descriptors[i] = (hsa_amd_memory_access_desc_t){own, self->gpus[i]->agent};
  }
  return LIBHSA_CALL(hsa_of(source), hsa_amd_vmem_set_access, (void*)(uintptr_t)address, self->page_size, descriptors,
                     self->gpu_count);
}

static const gpu_virtual_calls_t virtual_calls = {
    .reserve = virtual_reserve,
    .unreserve = virtual_unreserve,
    .allocate = virtual_allocate,
    .free = virtual_free,
    .map = virtual_map,
    .unmap = virtual_unmap,
    .protect = virtual_protect,
};

// The page size that HSA recommends; 0 where its library has no virtual memory.
static iree_device_size_t find_page_size(const libhsa_t* hsa, const system_gpu_t* gpu) {
  size_t size = 0;
  bool has_calls = hsa->hsa_amd_vmem_address_reserve && hsa->hsa_amd_vmem_address_free &&
                   hsa->hsa_amd_vmem_handle_create && hsa->hsa_amd_vmem_handle_release && hsa->hsa_amd_vmem_map &&
                   hsa->hsa_amd_vmem_unmap && hsa->hsa_amd_vmem_set_access;
  if (!has_calls ||
      hsa->hsa_amd_memory_pool_get_info(gpu->coarse.handle, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE,
                                        &size) != HSA_STATUS_SUCCESS) {
    return 0;
  }
  return size;
}

iree_status_t amdgpu_allocator_create(const logical_device_t* device, iree_hal_allocator_t** out_allocator) {
  static const gpu_memory_source_vtable_t vtable = {
      .destroy = memory_destroy,
      .allocate = memory_allocate,
      .free = memory_free,
      .lock = memory_lock,
      .unlock = memory_unlock,
      .export_fd = memory_export_fd,
      .import_fd = memory_import_fd,
      .unimport = memory_unimport,
  };
  *out_allocator = NULL;
  memory_t* self = NULL;
  gpu_allocator_params_t params = gpu_allocator_params_of(&device->gpu, &vtable);
  params.memory_size = device->physical[0].gpu->memory_size;
  params.virtual_calls = &virtual_calls;
  uint32_t count = device->gpu.domain.physical_count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(params.host_allocator, sizeof(*self), count,
                                                          sizeof(self->gpus[0]), (void**)&self));
  self->host_allocator = params.host_allocator;
  self->system = device->system;
  system_retain(device->system);
  self->gpu_count = count;
  self->page_size = params.virtual_page_size = find_page_size(device->system->hsa, device->physical[0].gpu);
  for (uint32_t i = 0; i < count; ++i) {
    self->gpus[i] = device->physical[i].gpu;
    params.maps_device_memory = params.maps_device_memory && self->gpus[i]->is_host_visible;
  }
  params.source = self;
  return gpu_allocator_create(&params, out_allocator);
}
