// State of the process behind the HSA interface: agents, their memory pools, what is configured.
//
// Configuration comes from the environment, read by the first hsa_init:
//   IREE_SOFTGPU_TARGET   processor of the GPUs: "gfx1100" (the default)
//   IREE_SOFTGPU_GPUS     how many, or their processors: "2", "gfx90a,gfx942"
//   IREE_SOFTGPU_CHECK    checks of engine.h: "bounds,waits", "all"
//   IREE_SOFTGPU_STATS    not empty: counters of each GPU are printed when the runtime shuts down
//   IREE_SOFTGPU_LIMIT    instructions after which a wave is stopped
//   IREE_SOFTGPU_EVENT    what happens to GPUs: "hang:1:5", see event.c
//   ROCR_VISIBLE_DEVICES  ordinals, or UUIDs or how they begin, of the GPUs that exist for this process
// Handles are addresses of the objects; those of agents, pools and ISAs are checked against the tables here.
#ifndef IREE_C_SOFTGPU_HSA_RUNTIME_H_
#define IREE_C_SOFTGPU_HSA_RUNTIME_H_

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>

#include "softgpu/engine.h"

enum { RUNTIME_MAX_GPUS = 32, RUNTIME_MAX_AGENTS = RUNTIME_MAX_GPUS + 1, AGENT_MAX_POOLS = 4, AGENT_MAX_ISAS = 2 };

typedef struct agent_t agent_t;

// A memory pool, and the region of the same memory.
typedef struct pool_t {
  agent_t* agent;
  hsa_amd_segment_t segment;
  uint32_t flags;      // HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_*
  uint64_t size;       // bytes
  uint64_t allocated;  // atomic
  const char* kind;    // for the memory map
} pool_t;

typedef struct isa_t {
  agent_t* agent;
  char name[64];  // "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
} isa_t;

struct agent_t {
  hsa_device_type_t type;
  uint32_t ordinal;            // among those of its type
  uint32_t node;               // among all agents
  const isa_target_t* target;  // GPUs only, as the rest
  engine_t* engine;
  char uuid[32];
  pool_t pools[AGENT_MAX_POOLS];
  uint32_t pool_count;
  isa_t isas[AGENT_MAX_ISAS];
  uint32_t isa_count;
  uint32_t kernel_count;  // atomic; while events are asked for
  bool is_lost;           // atomic: no queue goes on
};

typedef struct runtime_t {
  pthread_mutex_t lock;
  uint32_t references;  // hsa_init less hsa_shut_down
  memory_map_t* memory;
  agent_t agents[RUNTIME_MAX_AGENTS];  // the CPU first
  uint32_t agent_count;
  bool prints_stats;
} runtime_t;
extern runtime_t runtime;

// True between hsa_init and the last hsa_shut_down.
bool runtime_is_open(void);
// NULL when the handle is none.
agent_t* runtime_agent(hsa_agent_t handle);
pool_t* runtime_pool(uint64_t handle);
isa_t* runtime_isa(hsa_isa_t handle);
static inline uint32_t agent_bit(const agent_t* agent) {
  return agent->type == HSA_DEVICE_TYPE_GPU ? agent->ordinal : 63;
}

// The GPUs forget what they decoded in memory that is about to go.
void runtime_forget_code(uint64_t base, uint64_t size);

// memory.c: pages of the process that all agents of `agents` may touch. NULL when memory is short.
void* memory_map_pages(size_t size, size_t alignment, uint64_t agents, const char* kind);
void memory_unmap_pages(void* address);
// Frees what the process never gave back.
void memory_free_all(void);
void virtual_memory_free_all(void);
void dmabuf_free_all(void);

// signal.c: what completes packets. Safe for the null handle.
void signal_subtract(hsa_signal_t signal, hsa_signal_value_t value);
hsa_signal_value_t signal_load(hsa_signal_t signal);
void signal_set_times(hsa_signal_t signal, uint64_t begin, uint64_t end);
// Where the value is: in the signal, or where a doorbell points.
volatile int64_t* signal_value(hsa_signal_t signal);
// Whether the handle points to memory that a signal can be in.
bool signal_exists(hsa_signal_t signal);
bool signal_holds(hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_signal_value_t compare);
// Wakes those who wait for any signal; for values that were stored as plain memory.
void signal_notify(void);
// Sleeps until a signal changes through this interface after `seen` was read, or `nanoseconds` are over.
uint32_t signal_change_count(void);
void signal_sleep(uint32_t seen, uint64_t nanoseconds);

// executable.c
void executable_destroy_all(void);

// queue.c. The second: the doorbell of that queue was rung.
void queue_close_all(void);
void queue_ring(amd_queue_t* queue);

// async.c: the thread of asynchronous copies and handlers stops.
void async_stop(void);

// event.c: reads which events are asked for; false after a message when that cannot be understood. The second forgets
// the handlers of events.
bool event_open(void);
void event_close(void);
// Tells the handlers of a memory fault.
void event_memory_fault(agent_t* agent, uint64_t address);

// agent_info.c: the agent's name; bytes of its caches by level, 0 where there is none; its memory's bits and MHz.
enum { AGENT_CACHE_LEVELS = 3 };
void agent_name(const agent_t* agent, char out[64]);
void agent_cache_sizes(const agent_t* agent, uint32_t sizes[AGENT_CACHE_LEVELS]);
uint32_t agent_memory_width(const agent_t* agent);
uint32_t agent_memory_clock(const agent_t* agent);

uint64_t runtime_timestamp(void);  // nanoseconds
// The GPUs' clock, which timestamps of packets and of PM4 are in.
enum { RUNTIME_TICK = 10 };  // nanoseconds
static inline uint64_t runtime_ticks(void) { return runtime_timestamp() / RUNTIME_TICK; }

#define REQUIRE_OPEN() \
  if (!runtime_is_open()) return HSA_STATUS_ERROR_NOT_INITIALIZED
#define REQUIRE(condition, status) \
  if (!(condition)) return status

#endif  // IREE_C_SOFTGPU_HSA_RUNTIME_H_
