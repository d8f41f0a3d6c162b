// Executors: pools of worker threads that run the workgroups of local devices. Thread safe.
#ifndef IREE_TASK_EXECUTOR_H_
#define IREE_TASK_EXECUTOR_H_

#include "iree/base/api.h"
#include "iree/task/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t iree_task_scope_flags_t;
#define IREE_TASK_SCOPE_FLAG_NONE 0u
#define IREE_TASK_SCOPE_FLAG_ABORT_ON_FAILURE 1u  // print and abort the process at the first failure

typedef struct iree_task_executor_options_t {
  // Ordinal of worker 0 in thread names.
  iree_host_size_t worker_base_index;
  // How long an idle worker polls before it sleeps. 0: a short default.
  iree_duration_t worker_spin_ns;
  // Bytes; 0 is the system's default.
  iree_host_size_t worker_stack_size;
  // Scratch memory per worker for workgroups, in bytes, grown when an executable asks for more. 0: its L2 cache's size.
  iree_host_size_t worker_local_memory_size;
} iree_task_executor_options_t;
IREE_API_EXPORT void iree_task_executor_options_initialize(iree_task_executor_options_t* out_options);

typedef struct iree_task_executor_t iree_task_executor_t;

// Starts one worker per group of `topology`. A thread that waits for this executor's work takes part as worker 0, so
// that no more threads run than there are groups.
IREE_API_EXPORT iree_status_t iree_task_executor_create(iree_task_executor_options_t options,
                                                        const iree_task_topology_t* topology,
                                                        iree_allocator_t allocator,
                                                        iree_task_executor_t** out_executor);
IREE_API_EXPORT void iree_task_executor_retain(iree_task_executor_t* executor);
// The last release stops and joins the threads; devices keep their executors alive.
IREE_API_EXPORT void iree_task_executor_release(iree_task_executor_t* executor);
IREE_API_EXPORT iree_task_topology_node_id_t iree_task_executor_node_id(iree_task_executor_t* executor);
IREE_API_EXPORT iree_host_size_t iree_task_executor_worker_count(iree_task_executor_t* executor);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TASK_EXECUTOR_H_
