// Memory pools and regions, access of agents, information on pointers.
//
// Memory of a GPU is memory of the host: anonymous pages with a gap after each allocation, so that an access past the
// end is found. Every allocation is in runtime.memory with the agents that may touch it, and here with who made it.
#include <stdlib.h>
#include <string.h>

#include "softgpu/hsa/locked.h"
#include "softgpu/pages.h"

// Who wants to know when memory goes.
typedef struct notifier_t {
  void* address;
  hsa_amd_deallocation_callback_t callback;
  void* data;
  struct notifier_t* next;
} notifier_t;

typedef struct allocation_t {
  char* address;
  size_t size;    // as asked for
  size_t mapped;  // bytes, gap included
  pool_t* pool;   // NULL: pages of the runtime's own
  void* user_data;
  notifier_t* notifiers;
  struct allocation_t* next;
} allocation_t;

static pthread_mutex_t allocations_lock = PTHREAD_MUTEX_INITIALIZER;
static allocation_t* allocations;

static allocation_t** find(const void* address) {
  allocation_t** at = &allocations;
  while (*at && (*at)->address != address) at = &(*at)->next;
  return at;
}

static allocation_t* find_inside(const void* address) {
  allocation_t* at = allocations;
  while (at && ((const char*)address < at->address || (const char*)address >= at->address + at->size)) at = at->next;
  return at;
}

static bool add(char* address, size_t size, size_t mapped, pool_t* pool, uint64_t agents, const char* kind) {
  allocation_t* allocation = malloc(sizeof(*allocation));
  memory_range_t range = {(uint64_t)address, size, agents, true, kind};
  if (!allocation || !memory_map_insert(runtime.memory, &range)) return free(allocation), false;
  locked_forget((uint64_t)address, mapped);
  pthread_mutex_lock(&allocations_lock);
  *allocation = (allocation_t){address, size, mapped, pool, NULL, NULL, allocations};
  allocations = allocation;
  pthread_mutex_unlock(&allocations_lock);
  return true;
}

static char* allocate(size_t size, size_t alignment, pool_t* pool, uint64_t agents, const char* kind) {
  size_t mapped = 0;
  char* memory = pages_map(size, alignment, &mapped);
  if (memory && !add(memory, size, mapped, pool, agents, kind)) {
    pages_unmap(memory, mapped);
    memory = NULL;
  }
  return memory;
}

void* memory_map_pages(size_t size, size_t alignment, uint64_t agents, const char* kind) {
  return allocate(size, alignment, NULL, agents, kind);
}

// Off the list already.
static void release(allocation_t* allocation) {
  for (notifier_t *at = allocation->notifiers, *next; at; at = next) {
    next = at->next;
    at->callback(at->address, at->data);
    free(at);
  }
  memory_map_remove(runtime.memory, (uint64_t)allocation->address);
  locked_forget((uint64_t)allocation->address, allocation->mapped);
  runtime_forget_code((uint64_t)allocation->address, allocation->size);
  if (allocation->pool) __atomic_sub_fetch(&allocation->pool->allocated, allocation->size, __ATOMIC_RELAXED);
  pages_unmap(allocation->address, allocation->mapped);
  free(allocation);
}

// Takes an allocation off the list; NULL when there is none, or it is not of the sort: of a pool, or pages of the
// runtime's own.
static allocation_t* take(const void* address, bool is_of_pool) {
  pthread_mutex_lock(&allocations_lock);
  allocation_t **at = find(address), *found = *at;
  if (found && (found->pool != NULL) != is_of_pool) found = NULL;
  if (found) *at = found->next;
  pthread_mutex_unlock(&allocations_lock);
  return found;
}

void memory_unmap_pages(void* address) {
  allocation_t* found = address ? take(address, false) : NULL;
  if (found) release(found);
}

void memory_free_all(void) {
  while (allocations) {
    allocation_t* first = allocations;
    allocations = first->next;
    release(first);
  }
  locked_free_all();
}

// Pools

static uint64_t default_agents(const pool_t* pool) {
  // Host memory with fine grain is open to all; the rest to its own agent until others are let in.
  bool open = pool->agent->type == HSA_DEVICE_TYPE_CPU;
  return open ? UINT64_MAX : UINT64_C(1) << agent_bit(pool->agent) | UINT64_C(1) << 63;
}

static hsa_status_t allocate_from(pool_t* pool, size_t size, void** out) {
  REQUIRE(size && out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(pool->segment == HSA_AMD_SEGMENT_GLOBAL, HSA_STATUS_ERROR_INVALID_ALLOCATION);
  REQUIRE(size <= pool->size, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  uint64_t used = __atomic_add_fetch(&pool->allocated, size, __ATOMIC_RELAXED);
  char* memory = used <= pool->size ? allocate(size, PAGES_SIZE, pool, default_agents(pool), pool->kind) : NULL;
  if (!memory) {
    __atomic_sub_fetch(&pool->allocated, size, __ATOMIC_RELAXED);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  *out = memory;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t free_pointer(void* address) {
  REQUIRE_OPEN();
  if (!address) return HSA_STATUS_SUCCESS;
  allocation_t* found = take(address, true);
  REQUIRE(found, HSA_STATUS_ERROR_INVALID_ALLOCATION);
  release(found);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t handle,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void* data),
                                                void* data) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(handle);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < agent->pool_count; ++i) {
    hsa_status_t status = callback((hsa_amd_memory_pool_t){(uint64_t)&agent->pools[i]}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle, hsa_amd_memory_pool_info_t attribute,
                                          void* out) {
  REQUIRE_OPEN();
  pool_t* pool = runtime_pool(handle.handle);
  REQUIRE(pool, (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  bool is_global = pool->segment == HSA_AMD_SEGMENT_GLOBAL;
  switch ((int)attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
      *(hsa_amd_segment_t*)out = pool->segment;
      break;
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
      *(uint32_t*)out = pool->flags;
      break;
    case HSA_AMD_MEMORY_POOL_INFO_SIZE:
      *(size_t*)out = pool->size;
      break;
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
      *(bool*)out = is_global;
      break;
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
    case 18:  // RUNTIME_ALLOC_REC_GRANULE
      *(size_t*)out = is_global ? PAGES_SIZE : 0;
      break;
    case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
      *(bool*)out = pool->agent->type == HSA_DEVICE_TYPE_CPU;
      break;
    case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
      *(size_t*)out = is_global ? pool->size : 0;
      break;
    case 17:  // LOCATION: 0 the CPU, 1 a GPU
      REQUIRE(is_global, HSA_STATUS_ERROR_INVALID_ARGUMENT);
      *(uint32_t*)out = pool->agent->type == HSA_DEVICE_TYPE_GPU;
      break;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t size, uint32_t flags, void** out) {
  REQUIRE_OPEN();
  pool_t* pool = runtime_pool(handle.handle);
  REQUIRE(pool, (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  return allocate_from(pool, size, out);
}

hsa_status_t hsa_amd_memory_pool_free(void* address) { return free_pointer(address); }

hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t* agents, const uint32_t* flags,
                                         const void* address) {
  REQUIRE_OPEN();
  REQUIRE(count && agents && address && !flags, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  uint64_t bits = UINT64_C(1) << 63;
  for (uint32_t i = 0; i < count; ++i) {
    agent_t* agent = runtime_agent(agents[i]);
    REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
    bits |= UINT64_C(1) << agent_bit(agent);
  }
  pthread_mutex_lock(&allocations_lock);
  allocation_t* found = find_inside(address);
  // The owner always keeps its access.
  if (found && found->pool) bits |= default_agents(found->pool);
  bool done = found && memory_map_update(runtime.memory, (uint64_t)found->address, bits, true);
  pthread_mutex_unlock(&allocations_lock);
  if (!found) done = locked_set_agents(address, bits);
  return done ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t from, hsa_amd_memory_pool_t to, bool* result) {
  REQUIRE_OPEN();
  REQUIRE(runtime_pool(from.handle) && runtime_pool(to.handle), (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  REQUIRE(result, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *result = false;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_migrate(const void* address, hsa_amd_memory_pool_t pool, uint32_t flags) {
  return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent_handle, hsa_amd_memory_pool_t handle,
                                                hsa_amd_agent_memory_pool_info_t attribute, void* out) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(agent_handle);
  pool_t* pool = runtime_pool(handle.handle);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(pool, (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  bool own = pool->agent == agent, host = pool->agent->type == HSA_DEVICE_TYPE_CPU;
  bool is_global = pool->segment == HSA_AMD_SEGMENT_GLOBAL;
  uint32_t hops = own || !is_global ? 0 : 1;
  switch (attribute) {
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
      *(hsa_amd_memory_pool_access_t*)out = !is_global && !own ? HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED
                                            : own || host      ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                                               : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
      *(uint32_t*)out = hops;
      return HSA_STATUS_SUCCESS;
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
      memset(out, 0, sizeof(hsa_amd_memory_pool_link_info_t));
      if (hops) {
        *(hsa_amd_memory_pool_link_info_t*)out =
            (hsa_amd_memory_pool_link_info_t){.min_latency = 0,
                                              .max_latency = 0,
                                              .min_bandwidth = 0,
                                              .max_bandwidth = 0,
                                              .atomic_support_32bit = true,
                                              .atomic_support_64bit = true,
                                              .coherent_support = true,
                                              .link_type = HSA_AMD_LINK_INFO_TYPE_PCIE,
                                              .numa_distance = 20};
      }
      return HSA_STATUS_SUCCESS;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

// Regions are the pools under another name.

hsa_status_t hsa_agent_iterate_regions(hsa_agent_t handle, hsa_status_t (*callback)(hsa_region_t region, void* data),
                                       void* data) {
  REQUIRE_OPEN();
  agent_t* agent = runtime_agent(handle);
  REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
  REQUIRE(callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  for (uint32_t i = 0; i < agent->pool_count; ++i) {
    hsa_status_t status = callback((hsa_region_t){(uint64_t)&agent->pools[i]}, data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_region_get_info(hsa_region_t handle, hsa_region_info_t attribute, void* out) {
  REQUIRE_OPEN();
  pool_t* pool = runtime_pool(handle.handle);
  REQUIRE(pool, HSA_STATUS_ERROR_INVALID_REGION);
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  bool is_global = pool->segment == HSA_AMD_SEGMENT_GLOBAL;
  switch ((int)attribute) {
    case HSA_REGION_INFO_SEGMENT:
      *(hsa_region_segment_t*)out = is_global ? HSA_REGION_SEGMENT_GLOBAL : HSA_REGION_SEGMENT_GROUP;
      break;
    case HSA_REGION_INFO_GLOBAL_FLAGS:
      *(uint32_t*)out = pool->flags;
      break;
    case HSA_REGION_INFO_SIZE:
      *(size_t*)out = pool->size;
      break;
    case HSA_REGION_INFO_ALLOC_MAX_SIZE:
      *(size_t*)out = is_global ? pool->size : 0;
      break;
    case HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE:
      *(uint32_t*)out = 1 << 20;
      break;
    case HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED:
      *(bool*)out = is_global;
      break;
    case HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT:
      *(size_t*)out = is_global ? PAGES_SIZE : 0;
      break;
    case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE:
      *(bool*)out = pool->agent->type == HSA_DEVICE_TYPE_CPU;
      break;
    case HSA_AMD_REGION_INFO_BASE:
      *(void**)out = NULL;
      break;
    case HSA_AMD_REGION_INFO_BUS_WIDTH:
      *(uint32_t*)out = agent_memory_width(pool->agent);
      break;
    case HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY:
      *(uint32_t*)out = agent_memory_clock(pool->agent);
      break;
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_allocate(hsa_region_t handle, size_t size, void** out) {
  REQUIRE_OPEN();
  pool_t* pool = runtime_pool(handle.handle);
  REQUIRE(pool, HSA_STATUS_ERROR_INVALID_REGION);
  return allocate_from(pool, size, out);
}
hsa_status_t hsa_memory_free(void* address) { return free_pointer(address); }
hsa_status_t hsa_memory_assign_agent(void* address, hsa_agent_t agent, hsa_access_permission_t access) {
  REQUIRE_OPEN();
  REQUIRE(address && access <= HSA_ACCESS_PERMISSION_RW, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  REQUIRE(runtime_agent(agent), HSA_STATUS_ERROR_INVALID_AGENT);
  return HSA_STATUS_SUCCESS;
}

// Pointers

static void list_agents(const void* address, void* (*alloc)(size_t), uint32_t* count, hsa_agent_t** out) {
  memory_range_t range;
  *count = 0;
  if (!memory_map_find(runtime.memory, (uint64_t)address, &range)) return;
  *out = alloc(runtime.agent_count * sizeof(hsa_agent_t));
  for (uint32_t i = 0; *out && i < runtime.agent_count; ++i) {
    agent_t* agent = &runtime.agents[i];
    if (range.agents >> agent_bit(agent) & 1) (*out)[(*count)++] = (hsa_agent_t){(uint64_t)agent};
  }
}

// What holds the address: an allocation, else a lock.
static hsa_amd_pointer_type_t describe(const void* address, locked_info_t* out) {
  pthread_mutex_lock(&allocations_lock);
  const allocation_t* found = find_inside(address);
  if (found) *out = (locked_info_t){found->address, found->size, found->pool, found->user_data};
  pthread_mutex_unlock(&allocations_lock);
  if (found) return HSA_EXT_POINTER_TYPE_HSA;
  return locked_find(address, out) ? HSA_EXT_POINTER_TYPE_LOCKED : HSA_EXT_POINTER_TYPE_UNKNOWN;
}

hsa_status_t hsa_amd_pointer_info(const void* address, hsa_amd_pointer_info_t* info, void* (*alloc)(size_t),
                                  uint32_t* count, hsa_agent_t** agents) {
  REQUIRE_OPEN();
  REQUIRE(address && info && info->size >= 8, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  uint32_t size = info->size < sizeof(*info) ? info->size : (uint32_t)sizeof(*info);
  locked_info_t found;
  hsa_amd_pointer_info_t result = {.size = size, .type = describe(address, &found)};
  if (count) *count = 0;
  if (result.type != HSA_EXT_POINTER_TYPE_UNKNOWN) {
    result.agentBaseAddress = found.address;
    result.hostBaseAddress = found.address;
    result.sizeInBytes = found.size;
    result.userData = found.user_data;
    result.agentOwner.handle = (uint64_t)(found.pool ? found.pool->agent : &runtime.agents[0]);
    result.global_flags = found.pool ? found.pool->flags : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED;
    if (alloc && count && agents) list_agents(address, alloc, count, agents);
  }
  memcpy(info, &result, size);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void* address, void* data) {
  REQUIRE_OPEN();
  pthread_mutex_lock(&allocations_lock);
  allocation_t* found = *find(address);
  if (found) found->user_data = data;
  pthread_mutex_unlock(&allocations_lock);
  bool done = found || locked_set_user_data(address, data);
  return done ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_register_deallocation_callback(void* address, hsa_amd_deallocation_callback_t callback,
                                                    void* data) {
  REQUIRE_OPEN();
  REQUIRE(address && callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  notifier_t* notifier = malloc(sizeof(*notifier));
  REQUIRE(notifier, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  pthread_mutex_lock(&allocations_lock);
  allocation_t* found = find_inside(address);
  if (found) {
    *notifier = (notifier_t){address, callback, data, found->notifiers};
    found->notifiers = notifier;
  }
  pthread_mutex_unlock(&allocations_lock);
  if (!found) free(notifier);
  return found ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_deregister_deallocation_callback(void* address, hsa_amd_deallocation_callback_t callback) {
  REQUIRE_OPEN();
  REQUIRE(address && callback, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  notifier_t* gone = NULL;
  pthread_mutex_lock(&allocations_lock);
  allocation_t* found = find_inside(address);
  notifier_t** at = found ? &found->notifiers : &gone;
  while (*at && ((*at)->address != address || (*at)->callback != callback)) at = &(*at)->next;
  gone = *at;
  if (gone) *at = gone->next;
  pthread_mutex_unlock(&allocations_lock);
  REQUIRE(gone, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  free(gone);
  return HSA_STATUS_SUCCESS;
}
