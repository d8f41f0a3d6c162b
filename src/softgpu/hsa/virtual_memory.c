// Addresses and memory apart: reserved ranges of addresses, and memory (a memfd) that is mapped into them. Newer than
// Debian's headers, so the few types are declared here.
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/hsa/runtime.h"

typedef struct hsa_amd_vmem_alloc_handle_s {
  uint64_t handle;
} hsa_amd_vmem_alloc_handle_t;
typedef struct hsa_amd_memory_access_desc_s {
  hsa_access_permission_t permissions;
  hsa_agent_t agent_handle;
} hsa_amd_memory_access_desc_t;

enum { VIRTUAL_PAGE = 4096 };

typedef struct memory_t {
  int file;
  size_t size;
  pool_t* pool;
  uint32_t type;
  uint32_t references;  // handles and mappings
} memory_t;

typedef struct mapping_t {
  uint64_t address;
  size_t size;
  memory_t* memory;
  struct mapping_t* next;
} mapping_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mapping_t* mappings;

hsa_status_t hsa_amd_vmem_address_reserve_align(void** out, size_t size, uint64_t address, uint64_t alignment,
                                                uint64_t flags);
hsa_status_t hsa_amd_vmem_address_reserve(void** out, size_t size, uint64_t address, uint64_t flags);
hsa_status_t hsa_amd_vmem_address_free(void* address, size_t size);
hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size, uint32_t type, uint64_t flags,
                                        hsa_amd_vmem_alloc_handle_t* out);
hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle);
hsa_status_t hsa_amd_vmem_map(void* address, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t handle,
                              uint64_t flags);
hsa_status_t hsa_amd_vmem_unmap(void* address, size_t size);
hsa_status_t hsa_amd_vmem_set_access(void* address, size_t size, const hsa_amd_memory_access_desc_t* access,
                                     size_t count);
hsa_status_t hsa_amd_vmem_get_access(void* address, hsa_access_permission_t* out, hsa_agent_t agent);
hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* out, void* address);
hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t handle,
                                                           hsa_amd_memory_pool_t* pool, uint32_t* type);
hsa_status_t hsa_amd_vmem_export_shareable_handle(int* file, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags);
hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, hsa_amd_vmem_alloc_handle_t* out);

hsa_status_t hsa_amd_vmem_address_reserve_align(void** out, size_t size, uint64_t address, uint64_t alignment,
                                                uint64_t flags) {
  REQUIRE_OPEN();
  REQUIRE(out && size && size % VIRTUAL_PAGE == 0 && !flags && !(alignment & (alignment - 1)),
          HSA_STATUS_ERROR_INVALID_ARGUMENT);
  size_t slack = alignment > VIRTUAL_PAGE ? alignment : 0;
  char* memory = mmap((void*)address, size + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  if (slack) {
    char* aligned = (char*)(((uintptr_t)memory + alignment - 1) & ~(uintptr_t)(alignment - 1));
    if (aligned != memory) munmap(memory, (size_t)(aligned - memory));
    if (slack != (size_t)(aligned - memory)) munmap(aligned + size, slack - (size_t)(aligned - memory));
    memory = aligned;
  }
  *out = memory;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_address_reserve(void** out, size_t size, uint64_t address, uint64_t flags) {
  return hsa_amd_vmem_address_reserve_align(out, size, address, 0, flags);
}

hsa_status_t hsa_amd_vmem_address_free(void* address, size_t size) {
  REQUIRE_OPEN();
  REQUIRE(address && size && size % VIRTUAL_PAGE == 0, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  return munmap(address, size) == 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool_handle, size_t size, uint32_t type, uint64_t flags,
                                        hsa_amd_vmem_alloc_handle_t* out) {
  REQUIRE_OPEN();
  pool_t* pool = runtime_pool(pool_handle.handle);
  REQUIRE(pool, (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  REQUIRE(out && size && size % VIRTUAL_PAGE == 0, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  memory_t* memory = calloc(1, sizeof(*memory));
  int file = memory ? memfd_create("softgpu", MFD_CLOEXEC) : -1;
  if (file < 0 || ftruncate(file, (off_t)size) != 0) {
    if (file >= 0) close(file);
    free(memory);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  *memory = (memory_t){.file = file, .size = size, .pool = pool, .type = type, .references = 1};
  out->handle = (uint64_t)memory;
  return HSA_STATUS_SUCCESS;
}

// Needs the lock.
static void drop(memory_t* memory) {
  if (--memory->references) return;
  close(memory->file);
  free(memory);
}

hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle) {
  REQUIRE_OPEN();
  REQUIRE(handle.handle, HSA_STATUS_ERROR_INVALID_ALLOCATION);
  pthread_mutex_lock(&lock);
  drop((memory_t*)handle.handle);
  pthread_mutex_unlock(&lock);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_map(void* address, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t handle,
                              uint64_t flags) {
  REQUIRE_OPEN();
  memory_t* memory = (memory_t*)handle.handle;
  REQUIRE(memory, HSA_STATUS_ERROR_INVALID_ALLOCATION);
  REQUIRE(address && size && size % VIRTUAL_PAGE == 0 && offset % VIRTUAL_PAGE == 0 && offset <= memory->size &&
              size <= memory->size - offset,
          HSA_STATUS_ERROR_INVALID_ARGUMENT);
  mapping_t* mapping = malloc(sizeof(*mapping));
  REQUIRE(mapping, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  // Nobody may touch it until access is set; the host's threads may, as a process's own memory.
  void* mapped = mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file, (off_t)offset);
  memory_range_t range = {(uint64_t)address, size, 0, true, "virtual memory"};
  if (mapped == MAP_FAILED || !memory_map_insert(runtime.memory, &range)) {
    free(mapping);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  pthread_mutex_lock(&lock);
  ++memory->references;
  *mapping = (mapping_t){(uint64_t)address, size, memory, mappings};
  mappings = mapping;
  pthread_mutex_unlock(&lock);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_unmap(void* address, size_t size) {
  REQUIRE_OPEN();
  pthread_mutex_lock(&lock);
  mapping_t** at = &mappings;
  while (*at && ((*at)->address != (uint64_t)address || (*at)->size != size)) at = &(*at)->next;
  mapping_t* found = *at;
  if (found) {
    *at = found->next;
    drop(found->memory);
    memory_map_remove(runtime.memory, found->address);
    mmap(address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    free(found);
  }
  pthread_mutex_unlock(&lock);
  return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_vmem_set_access(void* address, size_t size, const hsa_amd_memory_access_desc_t* access,
                                     size_t count) {
  REQUIRE_OPEN();
  REQUIRE(address && size && access && count, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  uint64_t agents = UINT64_C(1) << 63;
  bool writable = false, found = false;
  for (size_t i = 0; i < count; ++i) {
    agent_t* agent = runtime_agent(access[i].agent_handle);
    REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
    if (access[i].permissions) agents |= UINT64_C(1) << agent_bit(agent);
    writable |= access[i].permissions & HSA_ACCESS_PERMISSION_WO;
  }
  pthread_mutex_lock(&lock);
  for (mapping_t* at = mappings; at; at = at->next) {
    bool inside = at->address >= (uint64_t)address && at->address + at->size <= (uint64_t)address + size;
    if (inside) found |= memory_map_update(runtime.memory, at->address, agents, writable);
  }
  pthread_mutex_unlock(&lock);
  return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_vmem_get_access(void* address, hsa_access_permission_t* out, hsa_agent_t agent_handle) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(agent_handle);
  memory_range_t range;
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(memory_map_find(runtime.memory, (uint64_t)address, &range), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  bool may = range.agents >> agent_bit(agent) & 1;
  *out = !may ? (hsa_access_permission_t)0 : range.writable ? HSA_ACCESS_PERMISSION_RW : HSA_ACCESS_PERMISSION_RO;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* out, void* address) {
  REQUIRE_OPEN();
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&lock);
  mapping_t* at = mappings;
  while (at && (uint64_t)address - at->address >= at->size) at = at->next;
  if (at) ++at->memory->references, out->handle = (uint64_t)at->memory;
  pthread_mutex_unlock(&lock);
  return at ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t handle,
                                                           hsa_amd_memory_pool_t* pool, uint32_t* type) {
  REQUIRE_OPEN();
  const memory_t* memory = (const memory_t*)handle.handle;
  REQUIRE(memory, HSA_STATUS_ERROR_INVALID_ALLOCATION);
  REQUIRE(pool && type, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pool->handle = (uint64_t)memory->pool;
  *type = memory->type;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_export_shareable_handle(int* file, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags) {
  REQUIRE_OPEN();
  REQUIRE(file && handle.handle, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *file = dup(((memory_t*)handle.handle)->file);
  return *file >= 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, hsa_amd_vmem_alloc_handle_t* out) {
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;  // sharing between processes is refused
}
