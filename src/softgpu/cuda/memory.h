// Memory that GPUs may touch: every allocation, by address, and in driver.memory.
#ifndef IREE_C_SOFTGPU_CUDA_MEMORY_H_
#define IREE_C_SOFTGPU_CUDA_MEMORY_H_

#include "softgpu/cuda/driver.h"

// KIND(name, what messages call it)
#define MEMORY_KINDS(KIND)                   \
  KIND(DEVICE, "device memory")              \
  KIND(MANAGED, "managed memory")            \
  KIND(HOST, "host memory")                  \
  KIND(REGISTERED, "registered host memory") \
  KIND(POOL, "memory of a pool")             \
  KIND(MAPPED, "mapped memory")              \
  KIND(VARIABLE, "a module's variable")
typedef enum {
#define KIND(name, what) MEMORY_##name,
  MEMORY_KINDS(KIND)
#undef KIND
} memory_kind_t;

typedef struct allocation_t {
  uint64_t base;
  size_t size;    // bytes, as asked for
  size_t mapped;  // pages of its own; 0: none
  memory_kind_t kind;
  device_t* device;
  context_t* context;  // NULL: of no one
  pool_t* pool;
  uint32_t flags;  // as asked for
  uint64_t id;
  uint64_t agents;
  bool is_of_graph;  // freed with the graph that allocates it
} allocation_t;

// Pages as `wanted` describes them; fills its base.
result_t allocation_create(allocation_t* wanted);
// A description of memory that has its pages already.
result_t allocation_add(allocation_t* allocation);
// What holds the address.
bool allocation_find(uint64_t address, allocation_t* out);
// Whether all of the bytes are in allocations.
bool allocation_holds(uint64_t address, size_t size);
// Forgets what begins at the address, and frees its pages. False when nothing of that kind does.
bool allocation_free(uint64_t base, memory_kind_t kind);
void allocation_free_context(context_t* context);
// The agents of all that begins in the range, which is of kind MAPPED.
void allocation_set_agents(uint64_t base, uint64_t agents, bool is_writable);
// All memory of a GPU, after its accessors or those of a pool changed.
void allocation_update_agents(device_t* device);
static inline bool memory_is_host(memory_kind_t kind) { return kind == MEMORY_HOST || kind == MEMORY_REGISTERED; }

// For the engine (nv_options_t); `data` is the device.
void* allocation_create_variable(void* data, size_t size, size_t alignment, const char* kind);
void allocation_release_variable(void* data, void* address);

// pool.c. NULL when memory is short.
struct pool_t {
  device_t* device;
  bool is_default, is_dead;
  uint64_t max_size;
  uint64_t threshold;
  int reuse[3];
  uint64_t used, used_high;  // bytes
  uint64_t agents;           // of peers that may use it
};
pool_t* pool_create(device_t* device, uint64_t max_size);
void pool_account(pool_t* pool, int64_t bytes);

#endif  // IREE_C_SOFTGPU_CUDA_MEMORY_H_
