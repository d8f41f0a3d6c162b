// Local devices: local-sync (no executors: work runs on the submitting thread) and local-task (a queue per executor).
#ifndef IREE_C_HAL_LOCAL_DEVICE_H_
#define IREE_C_HAL_LOCAL_DEVICE_H_

#include "hal/local/executor.h"
#include "hal/local/program.h"
#include "hal/queued_device.h"
#include "iree/hal/api.h"

typedef struct local_device_t {
  hal_queued_device_t base;
  size_t block_size;
  iree_device_size_t inline_threshold;  // bytes below which transfers are not worth another thread

  hal_idle_list_t idle_workers;            // for work on submitting threads
  hal_idle_list_t single_command_buffers;  // for queue operations that are one command

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
// A command buffer whose recording becomes a block program; one that has a home may come from there.
iree_status_t local_device_record(local_device_t* device, const hal_recorded_params_t* params,
                                  iree_hal_command_buffer_t** out_command_buffer);

// queue.c: the queue calls of the vtable, and operations.
void local_device_free_workers(local_device_t* device);
#define CALL(result, name, parameters, arguments)
#define CHECKED(result, name, parameters, arguments) result local_##name parameters;
#include "iree/hal/device_calls.def"
#undef CALL
#undef CHECKED
extern const hal_operation_interface_t local_operation_interface;
// What runs a command buffer: the application's, or one made for a single command.
typedef struct local_work_t {
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_semaphore_list_t waits;
  iree_hal_semaphore_list_t signals;
  iree_hal_command_buffer_t* command_buffer;  // NULL: nothing to run
  iree_hal_buffer_binding_table_t binding_table;
  iree_hal_execute_flags_t flags;
  iree_hal_profile_queue_event_type_t single;  // the single command; NONE for others
  uint64_t length;                             // bytes that it moves
} local_work_t;
iree_status_t local_queue_submit(iree_hal_device_t* device, const local_work_t* work);

// semaphore.c
iree_status_t local_semaphore_create(iree_task_executor_t* executor, uint64_t initial_value,
                                     iree_allocator_t host_allocator, iree_hal_semaphore_t** out_semaphore);

// cache.c
// A cache over loaders, which are retained, for as many workers.
iree_status_t local_executable_cache_create(iree_host_size_t loader_count, iree_hal_executable_loader_t* const* loaders,
                                            iree_host_size_t worker_capacity, iree_allocator_t host_allocator,
                                            iree_hal_executable_cache_t** out_cache);

#endif  // IREE_C_HAL_LOCAL_DEVICE_H_
