// State of the process behind the CUDA driver API: GPUs, contexts, and the objects that programs hold by handles.
//
// Configuration comes from the environment, read by the first cuInit:
//   IREE_SOFTGPU_TARGET   architecture of the GPUs: "sm_90" (the default)
//   IREE_SOFTGPU_GPUS     how many, or their architectures: "2", "sm_80,sm_90"
//   IREE_SOFTGPU_CHECK    checks of checks.h: "bounds,races", "all"
//   IREE_SOFTGPU_STATS    not empty: counters of each GPU are printed when the process ends
//   IREE_SOFTGPU_LIMIT    instructions after which a warp is stopped
//   IREE_SOFTGPU_VERBOSE  not empty: calls that are not supported say their names, once each
//   CUDA_VISIBLE_DEVICES  ordinals, or UUIDs or how they begin, of the GPUs that exist for this process
//
// Handles are addresses of objects, which objects.c knows: a stale one is refused. One lock, driver.lock, guards
// streams, events, captures and graphs; memory has one of its own, which is taken last. Facts of the interface are from
// the CUDA driver API reference.
#ifndef IREE_C_SOFTGPU_CUDA_DRIVER_H_
#define IREE_C_SOFTGPU_CUDA_DRIVER_H_

#include <pthread.h>
#include <stdio.h>

#include "softgpu/cuda/types.h"
#include "softgpu/nvidia/engine.h"

enum {
  DRIVER_VERSION = 13000,
  DRIVER_MAX_GPUS = 32,
  DRIVER_LIMITS = 10,
  DRIVER_DEFAULT_SHARED = 48 << 10,  // bytes of a block, without asking
};

typedef struct device_t device_t;

struct context_t {
  device_t* device;
  bool is_primary;
  bool is_alive;  // atomic
  uint32_t flags;
  uint64_t id;
  int32_t error;     // atomic: what every later call returns
  int32_t stops;     // atomic: launches are abandoned
  uint32_t threads;  // of its streams; below driver.lock as the rest
  stream_t* legacy;
  stream_t* streams;  // all, the legacy one too
  module_t* modules;
  event_t* events;
  uint64_t limits[DRIVER_LIMITS];
  int cache_config, shared_config;
  context_t* next;
};

struct device_t {
  uint32_t ordinal;
  const nv_target_t* target;
  nv_engine_t* engine;
  uint8_t uuid[16];
  context_t primary;
  uint32_t primary_references;
  uint64_t allocated;  // atomic: bytes
  uint64_t accessors;  // atomic: bits of the GPUs that may use this one's memory
  pool_t* default_pool;
  pool_t* pool;
};

typedef struct driver_t {
  pthread_mutex_t lock;
  pthread_cond_t progress;  // an operation ended, or a context is being stopped
  int32_t state;            // atomic: the result of using the driver now
  memory_map_t* memory;
  device_t devices[DRIVER_MAX_GPUS];
  uint32_t device_count;
  uint64_t next_id;
  context_t* contexts;  // own ones, dead ones too: handles to those are told apart
  bool prints_stats, is_verbose;
} driver_t;
extern driver_t driver;

static inline void driver_lock(void) { pthread_mutex_lock(&driver.lock); }
static inline void driver_unlock(void) { pthread_mutex_unlock(&driver.lock); }
// NULL when there is none.
device_t* driver_device(int ordinal);
uint64_t driver_nanoseconds(void);
// The result of a call that is known and not supported; says `name` once where asked to.
result_t driver_refuse(const char* name, const char* why);

// Whether this thread runs a host function of a stream, in which no call is allowed.
extern _Thread_local bool driver_in_callback;
// What a null stream means to this thread's call.
extern _Thread_local bool driver_per_thread;

#define REQUIRE(condition, result) \
  if (!(condition)) return result
#define CHECK(call)                              \
  do {                                           \
    result_t result_ = (call);                   \
    if (result_ != CUDA_SUCCESS) return result_; \
  } while (0)

// objects.c
typedef enum {
  OBJECT_CONTEXT = 1,
  OBJECT_STREAM,
  OBJECT_EVENT,
  OBJECT_MODULE,
  OBJECT_FUNCTION,
  OBJECT_LIBRARY,
  OBJECT_KERNEL,
  OBJECT_POOL,
  OBJECT_GRAPH,
  OBJECT_NODE,
  OBJECT_EXEC,
  OBJECT_PHYSICAL,
  OBJECT_LINK,
} object_kind_t;
// False when memory is short.
bool object_add(const void* object, object_kind_t kind);
void object_remove(const void* object);
bool object_is(const void* object, object_kind_t kind);

// context.c: CUDA_SUCCESS and the context of this thread, or why a call may not go on: no context, a dead one, a call
// from a host function, or the error that poisoned it.
result_t context_enter(context_t** out_context);
// The same for a call that needs no context.
result_t driver_enter(void);
void context_initialize(context_t* context, device_t* device, bool is_primary);
// Sets the error that sticks, once.
void context_poison(context_t* context, result_t error);
static inline result_t context_error(const context_t* context) {
  return __atomic_load_n(&context->error, __ATOMIC_ACQUIRE);
}
static inline bool context_is_alive(const context_t* context) {
  return __atomic_load_n(&context->is_alive, __ATOMIC_ACQUIRE);
}
context_t* context_current(void);

#endif  // IREE_C_SOFTGPU_CUDA_DRIVER_H_
