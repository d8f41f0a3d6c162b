// Local devices: local-sync (no executors: work runs on the submitting thread) and local-task (a queue per executor).
#ifndef IREE_C_HAL_LOCAL_DEVICE_H_
#define IREE_C_HAL_LOCAL_DEVICE_H_

#include "hal/local/executor.h"
#include "hal/local/program.h"
#include "iree/base/threading/mutex.h"
#include "iree/hal/api.h"

#define LOCAL_CACHED_BLOCKS 16

typedef struct local_op_t local_op_t;

typedef struct local_device_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_string_view_t identifier;
  iree_hal_allocator_t* allocator;
  iree_async_proactor_pool_t* proactor_pool;  // may be NULL
  size_t block_size;
  iree_device_size_t inline_threshold;  // bytes below which transfers are not worth another thread
  bool aborts_on_failure;

  local_worker_t* idle_worker;  // atomic: for work on submitting threads

  iree_slim_mutex_t mutex;  // guards what follows
  local_op_t* deferred;     // operations whose waits are not reached
  local_op_t* free_ops;
  iree_hal_buffer_t* cached_blocks[LOCAL_CACHED_BLOCKS];  // freed queue-ordered memory
  iree_atomic_uint32_t outstanding;                       // operations on the heap

  iree_host_size_t loader_count;
  iree_hal_executable_loader_t** loaders;
  iree_host_size_t queue_count;
  iree_task_executor_t* executors[];  // queue_count of them; local-sync: one that is NULL
} local_device_t;

typedef struct local_device_params_t {
  iree_string_view_t identifier;
  size_t block_size;
  iree_device_size_t inline_threshold;
  bool aborts_on_failure;
  iree_host_size_t queue_count;
  iree_task_executor_t* const* executors;  // NULL for local-sync
  iree_host_size_t loader_count;
  iree_hal_executable_loader_t** loaders;
  iree_hal_allocator_t* allocator;
  iree_async_proactor_pool_t* proactor_pool;
} local_device_params_t;
iree_status_t local_device_create(const local_device_params_t* params, iree_allocator_t host_allocator,
                                  iree_hal_device_t** out_device);

// Executor of the first queue in `affinity` that the device has; NULL when work runs on the submitting thread.
iree_task_executor_t* local_device_executor(local_device_t* device, iree_hal_queue_affinity_t affinity);
local_program_params_t local_device_program_params(local_device_t* device, iree_hal_queue_affinity_t affinity);

// queue.c: the queue calls of the vtable, and the end of operations.
#define CALL(result, name, parameters, arguments)
#define CHECKED(result, name, parameters, arguments) result local_##name parameters;
#include "iree/hal/device_calls.def"
#undef CALL
#undef CHECKED
iree_status_t local_queue_flush(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity);
// Ends an operation: signals when `status` is OK, else fails. Consumes `status`.
void local_queue_signal(local_device_t* device, iree_hal_semaphore_list_t signals, iree_status_t status);
// Fails operations that still wait, and waits for those that run.
void local_queue_close(local_device_t* device);

// semaphore.c
iree_status_t local_semaphore_create(iree_task_executor_t* executor, uint64_t initial_value,
                                     iree_allocator_t host_allocator, iree_hal_semaphore_t** out_semaphore);

// transient.c: buffers whose memory comes and goes in queue order.
iree_status_t local_transient_create(local_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                     const iree_hal_buffer_params_t* params, iree_device_size_t size,
                                     iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer);
bool local_transient_is(iree_hal_buffer_t* buffer);
iree_status_t local_transient_commit(iree_hal_buffer_t* buffer);
void local_transient_decommit(iree_hal_buffer_t* buffer);
// Drops freed memory that is kept for later.
void local_cache_trim(local_device_t* device);

// cache.c
iree_status_t local_executable_cache_create(local_device_t* device, iree_hal_executable_cache_t** out_cache);

#endif  // IREE_C_HAL_LOCAL_DEVICE_H_
