// Memory of the host that GPUs may touch once it is locked.
//
// As in ROCr each pair of address and size is a lock of its own with a count, so locks may overlap, share pages and lie
// one in the other, and an unlock names the address that was locked. Nobody says when the host gives locked memory
// back: where new memory of the process appears, locks that were there are gone, but may still be unlocked. What GPUs
// may touch, runtime.memory's layer below the allocations, is the union of all locks, cut where the agents change.
#include "softgpu/hsa/locked.h"

#include <stdlib.h>

typedef struct lock_t {
  uint64_t begin, end;
  uint64_t agents;
  pool_t* pool;
  uint32_t references;
  bool is_gone;
  void* user_data;
  struct lock_t* next;
} lock_t;

static pthread_mutex_t locks_lock = PTHREAD_MUTEX_INITIALIZER;
static lock_t* locks;  // newest first

static bool overlaps(const lock_t* lock, uint64_t begin, uint64_t end) {
  return !lock->is_gone && lock->begin < end && lock->end > begin;
}

// Widens the range to all locks that overlap it or one another in a row. Returns how many they are.
static uint32_t widen(uint64_t* begin, uint64_t* end) {
  for (uint32_t count = 0, before = UINT32_MAX;; before = count) {
    count = 0;
    for (const lock_t* lock = locks; lock; lock = lock->next) {
      if (!overlaps(lock, *begin, *end)) continue;
      ++count;
      if (lock->begin < *begin) *begin = lock->begin;
      if (lock->end > *end) *end = lock->end;
    }
    if (count == before) return count;
  }
}

static int compare_edges(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

static uint64_t agents_of(uint64_t begin, uint64_t end) {
  uint64_t agents = 0;
  for (const lock_t* lock = locks; lock; lock = lock->next) agents |= overlaps(lock, begin, end) ? lock->agents : 0;
  return agents;
}

// Brings the map to what the locks say of a range. False when memory is short.
static bool publish(uint64_t begin, uint64_t end) {
  uint32_t edge_count = 0, range_count = 0, count = widen(&begin, &end);
  uint64_t* edges = malloc((2 * (size_t)count + 2) * sizeof(*edges));
  memory_range_t* ranges = malloc((2 * (size_t)count + 1) * sizeof(*ranges));
  bool done = edges && ranges;
  if (done) {
    edges[edge_count++] = begin, edges[edge_count++] = end;
    for (const lock_t* lock = locks; lock; lock = lock->next) {
      if (overlaps(lock, begin, end)) edges[edge_count++] = lock->begin, edges[edge_count++] = lock->end;
    }
    qsort(edges, edge_count, sizeof(*edges), compare_edges);
    for (uint32_t i = 0; i + 1 < edge_count; ++i) {
      uint64_t agents = edges[i] == edges[i + 1] ? 0 : agents_of(edges[i], edges[i + 1]),
               size = edges[i + 1] - edges[i];
      memory_range_t* last = range_count ? &ranges[range_count - 1] : NULL;
      if (!agents) continue;
      if (last && last->agents == agents && last->base + last->size == edges[i]) {
        last->size += size;
      } else {
        ranges[range_count++] = (memory_range_t){edges[i], size, agents, true, "locked host memory"};
      }
    }
    done = memory_map_replace_below(runtime.memory, begin, end, ranges, range_count);
  }
  free(edges);
  free(ranges);
  return done;
}

static lock_t* find(uint64_t address) {
  lock_t* lock = locks;
  while (lock && !overlaps(lock, address, address + 1)) lock = lock->next;
  return lock;
}

// Memory that an allocation of the runtime holds already is opened to further agents.
static void open_allocation(uint64_t address, uint64_t agents) {
  memory_range_t range;
  if (!memory_map_find(runtime.memory, address, &range)) return;
  memory_map_update(runtime.memory, range.base, range.agents | agents, range.writable);
}

// Takes one away; the lock goes with the last. Needs the lock of locks.
static void drop(lock_t** at) {
  lock_t* lock = *at;
  if (--lock->references) return;
  *at = lock->next;
  publish(lock->begin, lock->end);
  runtime_forget_code(lock->begin, lock->end - lock->begin);
  free(lock);
}

static hsa_status_t add(void* address, size_t size, uint64_t agents, pool_t* pool) {
  uint64_t begin = (uint64_t)address, end = begin + size;
  REQUIRE(end > begin, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  pthread_mutex_lock(&locks_lock);
  open_allocation(begin, agents);
  lock_t **at = &locks, *lock;
  while (*at && ((*at)->begin != begin || (*at)->end != end)) at = &(*at)->next;
  lock = *at;
  if (lock) {
    *at = lock->next;
  } else {
    lock = calloc(1, sizeof(*lock));
  }
  bool done = lock;
  if (lock) {
    *lock = (lock_t){begin, end, lock->agents | agents, pool, lock->references + 1, false, lock->user_data, locks};
    locks = lock;
    done = publish(begin, end);
    if (!done) drop(&locks);
  }
  pthread_mutex_unlock(&locks_lock);
  return done ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

// What no lock begins at is left alone, as by ROCr. Of several that begin there the newest goes.
static void unlock_memory(const void* address) {
  pthread_mutex_lock(&locks_lock);
  lock_t** at = &locks;
  while (*at && (*at)->begin != (uint64_t)address) at = &(*at)->next;
  if (*at) drop(at);
  pthread_mutex_unlock(&locks_lock);
}

bool locked_find(const void* address, locked_info_t* out) {
  pthread_mutex_lock(&locks_lock);
  const lock_t* lock = find((uint64_t)address);
  if (lock) *out = (locked_info_t){(void*)lock->begin, lock->end - lock->begin, lock->pool, lock->user_data};
  pthread_mutex_unlock(&locks_lock);
  return lock;
}

bool locked_set_user_data(const void* address, void* data) {
  pthread_mutex_lock(&locks_lock);
  lock_t* lock = find((uint64_t)address);
  if (lock) lock->user_data = data;
  pthread_mutex_unlock(&locks_lock);
  return lock;
}

bool locked_set_agents(const void* address, uint64_t agents) {
  pthread_mutex_lock(&locks_lock);
  lock_t* lock = find((uint64_t)address);
  if (lock) lock->agents = agents;
  bool done = lock && publish(lock->begin, lock->end);
  pthread_mutex_unlock(&locks_lock);
  return done;
}

void locked_forget(uint64_t address, size_t size) {
  pthread_mutex_lock(&locks_lock);
  for (lock_t* lock = locks; lock; lock = lock->next) {
    if (lock->begin >= address && lock->end <= address + size) lock->is_gone = true;
  }
  publish(address, address + size);
  pthread_mutex_unlock(&locks_lock);
}

void locked_free_all(void) {
  for (lock_t *lock = locks, *next; lock; lock = next) {
    next = lock->next;
    free(lock);
  }
  locks = NULL;
}

static hsa_status_t lock_memory(void* address, size_t size, hsa_agent_t* agents, int count, pool_t* pool) {
  REQUIRE(address && size && (agents != NULL) == (count > 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  uint64_t bits = agents ? UINT64_C(1) << 63 : UINT64_MAX;
  bool has_gpu = !agents;
  for (int i = 0; i < count; ++i) {
    agent_t* agent = runtime_agent(agents[i]);
    REQUIRE(agent, HSA_STATUS_ERROR_INVALID_AGENT);
    bits |= UINT64_C(1) << agent_bit(agent);
    has_gpu |= agent->type == HSA_DEVICE_TYPE_GPU;
  }
  return has_gpu ? add(address, size, bits, pool) : HSA_STATUS_SUCCESS;
}

// As ROCr has it, memory is locked to the first pool of coarse grain.
static pool_t* host_pool(void) {
  agent_t* host = &runtime.agents[0];
  uint32_t i = 0;
  while (!(host->pools[i].flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)) ++i;
  return &host->pools[i];
}

hsa_status_t hsa_amd_memory_lock(void* address, size_t size, hsa_agent_t* agents, int count, void** out) {
  REQUIRE_OPEN();
  REQUIRE(out, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *out = NULL;
  hsa_status_t status = lock_memory(address, size, agents, count, host_pool());
  if (status == HSA_STATUS_SUCCESS) *out = address;
  return status;
}

hsa_status_t hsa_amd_memory_lock_to_pool(void* address, size_t size, hsa_agent_t* agents, int count,
                                         hsa_amd_memory_pool_t handle, uint32_t flags, void** out) {
  REQUIRE_OPEN();
  REQUIRE(out && !flags, HSA_STATUS_ERROR_INVALID_ARGUMENT);
  *out = NULL;
  pool_t* pool = runtime_pool(handle.handle);
  REQUIRE(pool && pool->agent->type == HSA_DEVICE_TYPE_CPU, (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  hsa_status_t status = lock_memory(address, size, agents, count, pool);
  if (status == HSA_STATUS_SUCCESS) *out = address;
  return status;
}

hsa_status_t hsa_amd_memory_unlock(void* address) {
  REQUIRE_OPEN();
  unlock_memory(address);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_register(void* address, size_t size) {
  REQUIRE_OPEN();
  return size ? lock_memory(address, size, NULL, 0, host_pool()) : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_deregister(void* address, size_t size) {
  REQUIRE_OPEN();
  unlock_memory(address);
  return HSA_STATUS_SUCCESS;
}
