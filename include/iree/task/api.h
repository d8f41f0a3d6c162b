// Executors from the command line: the --task_* flags. After flags were parsed, any thread.
#ifndef IREE_TASK_API_H_
#define IREE_TASK_API_H_

#include "iree/base/api.h"
#include "iree/task/executor.h"
#include "iree/task/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

// Options and topology as the flags say.
IREE_API_EXPORT iree_status_t
iree_task_executor_options_initialize_from_flags(iree_task_executor_options_t* out_options);
IREE_API_EXPORT iree_status_t iree_task_topology_initialize_from_flags(iree_task_topology_node_id_t node_id,
                                                                       iree_task_topology_t* out_topology);
// One executor per NUMA node that --task_topology_nodes names ("current": the caller's), or per group of
// --task_topology_cpu_ids. The caller owns a reference to each. Errors: OUT_OF_RANGE when there are more than
// `executor_capacity` (*out_executor_count is how many), INVALID_ARGUMENT for bad flags.
IREE_API_EXPORT iree_status_t iree_task_executors_create_from_flags(iree_allocator_t host_allocator,
                                                                    iree_host_size_t executor_capacity,
                                                                    iree_task_executor_t** executors,
                                                                    iree_host_size_t* out_executor_count);
// Prints the topologies as the flags say them: what --dump_task_topologies shows.
IREE_API_EXPORT iree_status_t iree_task_flags_dump_topologies(FILE* file);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TASK_API_H_
