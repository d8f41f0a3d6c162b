// Addresses and memory apart: reserved ranges of addresses, and memory (a memfd) that is mapped into them. Newer than
// Debian's headers, so the few types are declared here.
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softgpu/hsa/locked.h"

typedef struct hsa_amd_vmem_alloc_handle_s {
  uint64_t handle;
} hsa_amd_vmem_alloc_handle_t;
typedef struct hsa_amd_memory_access_desc_s {
  hsa_access_permission_t permissions;
  hsa_agent_t agent_handle;
} hsa_amd_memory_access_desc_t;

enum { VIRTUAL_PAGE = 4096 };
#define VIRTUAL_LIMIT (UINT64_C(1) << 46)  // of one reservation or alignment

typedef struct memory_t {
  int file;
  size_t size;
  pool_t* pool;
  uint32_t type;
  uint32_t handles, mappings;  // it lives as long as there is one of either
  struct memory_t* next;
} memory_t;

typedef struct reservation_t {
  uint64_t address;
  size_t size;
  struct reservation_t* next;
} reservation_t;

typedef struct mapping_t {
  uint64_t address;
  size_t size;
  memory_t* memory;
  struct mapping_t* next;
} mapping_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static memory_t* memories;
static mapping_t* mappings;
static reservation_t* reservations;

static bool is_inside(uint64_t address, size_t size, uint64_t base, size_t limit) {
  return address >= base && size <= limit && address - base <= limit - size;
}

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
  REQUIRE(out && size && size % VIRTUAL_PAGE == 0 && !flags && !(alignment & (alignment - 1)) &&
              address % VIRTUAL_PAGE == 0 && size <= VIRTUAL_LIMIT && alignment <= VIRTUAL_LIMIT,
          HSA_STATUS_ERROR_INVALID_ARGUMENT);
  size_t slack = alignment > VIRTUAL_PAGE ? alignment : 0;
  char* memory = mmap((void*)address, size + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  reservation_t* reservation = memory == MAP_FAILED ? NULL : malloc(sizeof(*reservation));
  if (!reservation) {
    if (memory != MAP_FAILED) munmap(memory, size + slack);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  if (slack) {
    char* aligned = (char*)(((uintptr_t)memory + alignment - 1) & ~(uintptr_t)(alignment - 1));
    if (aligned != memory) munmap(memory, (size_t)(aligned - memory));
    if (slack != (size_t)(aligned - memory)) munmap(aligned + size, slack - (size_t)(aligned - memory));
    memory = aligned;
  }
  locked_forget((uint64_t)memory, size);
  pthread_mutex_lock(&lock);
  *reservation = (reservation_t){(uint64_t)memory, size, reservations};
  reservations = reservation;
  pthread_mutex_unlock(&lock);
  *out = memory;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_address_reserve(void** out, size_t size, uint64_t address, uint64_t flags) {
  return hsa_amd_vmem_address_reserve_align(out, size, address, 0, flags);
}

hsa_status_t hsa_amd_vmem_address_free(void* address, size_t size) {
  REQUIRE_OPEN();
  REQUIRE(address && size && size % VIRTUAL_PAGE == 0, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  hsa_status_t status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
  pthread_mutex_lock(&lock);
  reservation_t** at = &reservations;
  while (*at && ((*at)->address != (uint64_t)address || (*at)->size != size)) at = &(*at)->next;
  reservation_t* found = *at;
  const mapping_t* used = mappings;
  while (used && !is_inside(used->address, used->size, (uint64_t)address, size)) used = used->next;
  if (found && used) {
    status = HSA_STATUS_ERROR_RESOURCE_FREE;
  } else if (found) {
    *at = found->next;
    munmap(address, size);
    free(found);
    status = HSA_STATUS_SUCCESS;
  }
  pthread_mutex_unlock(&lock);
  return status;
}

// What the process was given as a handle, or NULL. Needs the lock.
static memory_t* find_memory(hsa_amd_vmem_alloc_handle_t handle) {
  memory_t* at = memories;
  while (at && (at != (memory_t*)handle.handle || !at->handles)) at = at->next;
  return at;
}

// Frees memory that has neither handle nor mapping. Needs the lock.
static void drop(memory_t* memory) {
  if (memory->handles || memory->mappings) return;
  memory_t** at = &memories;
  while (*at != memory) at = &(*at)->next;
  *at = memory->next;
  __atomic_sub_fetch(&memory->pool->allocated, memory->size, __ATOMIC_RELAXED);
  close(memory->file);
  free(memory);
}

static memory_t* create(pool_t* pool, size_t size, uint32_t type) {
  memory_t* memory = calloc(1, sizeof(*memory));
  int file = memory ? memfd_create("softgpu", MFD_CLOEXEC) : -1;
  if (file < 0 || ftruncate(file, (off_t)size) != 0) {
    if (file >= 0) close(file);
    free(memory);
    return NULL;
  }
  *memory = (memory_t){.file = file, .size = size, .pool = pool, .type = type, .handles = 1};
  return memory;
}

hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool_handle, size_t size, uint32_t type, uint64_t flags,
                                        hsa_amd_vmem_alloc_handle_t* out) {
  REQUIRE_OPEN();
  pool_t* pool = runtime_pool(pool_handle.handle);
  REQUIRE(pool && pool->segment == HSA_AMD_SEGMENT_GLOBAL, (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  REQUIRE(out && size && size % VIRTUAL_PAGE == 0, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(size <= pool->size, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  uint64_t used = __atomic_add_fetch(&pool->allocated, size, __ATOMIC_RELAXED);
  memory_t* memory = used <= pool->size ? create(pool, size, type) : NULL;
  if (!memory) {
    __atomic_sub_fetch(&pool->allocated, size, __ATOMIC_RELAXED);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  pthread_mutex_lock(&lock);
  memory->next = memories;
  memories = memory;
  pthread_mutex_unlock(&lock);
  out->handle = (uint64_t)memory;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle) {
  REQUIRE_OPEN();
  pthread_mutex_lock(&lock);
  memory_t* memory = find_memory(handle);
  if (memory) {
    --memory->handles;
    drop(memory);
  }
  pthread_mutex_unlock(&lock);
  return memory ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

// Nobody may touch it until access is set; the host's threads may, as a process's own memory. Needs the lock.
static hsa_status_t map(char* address, size_t size, size_t offset, memory_t* memory) {
  const reservation_t* within = reservations;
  while (within && !is_inside((uint64_t)address, size, within->address, within->size)) within = within->next;
  REQUIRE(within && offset <= memory->size && size <= memory->size - offset, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  mapping_t* mapping = malloc(sizeof(*mapping));
  memory_range_t range = {(uint64_t)address, size, 0, true, "virtual memory"};
  if (!mapping || !memory_map_insert(runtime.memory, &range)) {
    free(mapping);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  if (mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file, (off_t)offset) == MAP_FAILED) {
    memory_map_remove(runtime.memory, range.base);
    free(mapping);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  ++memory->mappings;
  *mapping = (mapping_t){range.base, size, memory, mappings};
  mappings = mapping;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_vmem_map(void* address, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t handle,
                              uint64_t flags) {
  REQUIRE_OPEN();
  REQUIRE(address && (uint64_t)address % VIRTUAL_PAGE == 0 && size && size % VIRTUAL_PAGE == 0 &&
              offset % VIRTUAL_PAGE == 0 && !flags,
          HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&lock);
  memory_t* memory = find_memory(handle);
  hsa_status_t status = memory ? map(address, size, offset, memory) : HSA_STATUS_ERROR_INVALID_ALLOCATION;
  pthread_mutex_unlock(&lock);
  return status;
}

// Takes the mapping at `at` off the list; its addresses stay reserved. Needs the lock.
static void unmap(mapping_t** at) {
  mapping_t* mapping = *at;
  *at = mapping->next;
  memory_map_remove(runtime.memory, mapping->address);
  runtime_forget_code(mapping->address, mapping->size);
  mmap((void*)mapping->address, mapping->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  --mapping->memory->mappings;
  drop(mapping->memory);
  free(mapping);
}

hsa_status_t hsa_amd_vmem_unmap(void* address, size_t size) {
  REQUIRE_OPEN();
  pthread_mutex_lock(&lock);
  mapping_t** at = &mappings;
  while (*at && ((*at)->address != (uint64_t)address || (*at)->size != size)) at = &(*at)->next;
  bool found = *at != NULL;
  if (found) unmap(at);
  pthread_mutex_unlock(&lock);
  return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

void virtual_memory_free_all(void) {
  pthread_mutex_lock(&lock);
  while (mappings) unmap(&mappings);
  while (memories) {
    memories->handles = 0;
    drop(memories);
  }
  while (reservations) {
    reservation_t* first = reservations;
    reservations = first->next;
    munmap((void*)first->address, first->size);
    free(first);
  }
  pthread_mutex_unlock(&lock);
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
    if (is_inside(at->address, at->size, (uint64_t)address, size))
      found |= memory_map_update(runtime.memory, at->address, agents, writable);
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
  if (at) ++at->memory->handles, out->handle = (uint64_t)at->memory;
  pthread_mutex_unlock(&lock);
  return at ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_vmem_get_alloc_properties_from_handle(hsa_amd_vmem_alloc_handle_t handle,
                                                           hsa_amd_memory_pool_t* pool, uint32_t* type) {
  REQUIRE_OPEN();
  REQUIRE(pool && type, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&lock);
  const memory_t* memory = find_memory(handle);
  if (memory) pool->handle = (uint64_t)memory->pool, *type = memory->type;
  pthread_mutex_unlock(&lock);
  return memory ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_vmem_export_shareable_handle(int* file, hsa_amd_vmem_alloc_handle_t handle, uint64_t flags) {
  REQUIRE_OPEN();
  REQUIRE(file, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&lock);
  const memory_t* memory = find_memory(handle);
  *file = memory ? dup(memory->file) : -1;
  pthread_mutex_unlock(&lock);
  REQUIRE(memory, HSA_STATUS_ERROR_INVALID_ALLOCATION);
  return *file >= 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static bool is_same_file(int first, int second) {
  struct stat a, b;
  return fstat(first, &a) == 0 && fstat(second, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Another handle of the memory that was exported; sharing between processes is refused.
hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, hsa_amd_vmem_alloc_handle_t* out) {
  REQUIRE_OPEN();
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&lock);
  memory_t* at = memories;
  while (at && !is_same_file(file, at->file)) at = at->next;
  if (at) ++at->handles, out->handle = (uint64_t)at;
  pthread_mutex_unlock(&lock);
  return at ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
