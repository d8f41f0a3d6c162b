// Which processors an executor's workers run on.
#ifndef IREE_TASK_TOPOLOGY_H_
#define IREE_TASK_TOPOLOGY_H_

#include "iree/base/api.h"
#include "iree/base/threading/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t iree_task_topology_node_id_t;
#define IREE_TASK_TOPOLOGY_NODE_ID_ANY ((iree_task_topology_node_id_t) - 1)

// Most workers of one executor.
#define IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT 256

// NUMA nodes, and the calling thread's.
IREE_API_EXPORT iree_host_size_t iree_task_topology_query_node_count(void);
IREE_API_EXPORT iree_task_topology_node_id_t iree_task_topology_query_current_node(void);

// A bit for each group.
#define IREE_TASK_AFFINITY_SET_WORD_COUNT ((IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT + 63) / 64)
typedef struct iree_task_affinity_set_t {
  uint64_t words[IREE_TASK_AFFINITY_SET_WORD_COUNT];
} iree_task_affinity_set_t;
typedef iree_task_affinity_set_t iree_task_topology_group_mask_t;

// Sizes in bytes; 0: there is none, or the system does not say.
typedef struct iree_task_topology_caches_t {
  uint32_t l1_data;
  uint32_t l2_data;
  uint32_t l3_data;
} iree_task_topology_caches_t;

// One worker.
typedef struct iree_task_topology_group_t {
  uint8_t group_index;
  char name[32 - 1];
  uint32_t processor_index;  // logical processor; UINT32_MAX when not bound to one
  iree_task_topology_caches_t caches;
  iree_thread_affinity_t ideal_thread_affinity;
  iree_task_topology_group_mask_t constructive_sharing_mask;  // workers with the same last cache, as far as known
} iree_task_topology_group_t;

// A worker that the system places, with the name `iree-worker-N`.
IREE_API_EXPORT void iree_task_topology_group_initialize(uint8_t group_index, iree_task_topology_group_t* out_group);

typedef struct iree_task_topology_t {
  iree_task_topology_node_id_t node_id;
  iree_host_size_t group_count;
  iree_task_topology_group_t groups[IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT];
} iree_task_topology_t;

// Empty.
IREE_API_EXPORT void iree_task_topology_initialize(iree_task_topology_t* out_topology);
IREE_API_EXPORT void iree_task_topology_deinitialize(iree_task_topology_t* topology);
IREE_API_EXPORT iree_host_size_t iree_task_topology_group_count(const iree_task_topology_t* topology);
IREE_API_EXPORT iree_host_size_t iree_task_topology_group_capacity(const iree_task_topology_t* topology);
// NULL when there are fewer.
IREE_API_EXPORT const iree_task_topology_group_t* iree_task_topology_get_group(const iree_task_topology_t* topology,
                                                                               iree_host_size_t group_index);
// Appends a copy, whose index becomes that of its place. Errors: RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_task_topology_push_group(iree_task_topology_t* topology,
                                                            const iree_task_topology_group_t* group);

// `group_count` workers that the system places, at most IREE_TASK_TOPOLOGY_MAX_GROUP_COUNT.
IREE_API_EXPORT void iree_task_topology_initialize_from_group_count(iree_host_size_t group_count,
                                                                    iree_task_topology_t* out_topology);
// One worker for each affinity. Errors: RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_task_topology_initialize_from_thread_affinities(
    iree_host_size_t group_count, const iree_thread_affinity_t* group_affinities, iree_task_topology_t* out_topology);
// One worker bound to each logical processor. Errors: INVALID_ARGUMENT for unknown ones, OUT_OF_RANGE for too many.
IREE_API_EXPORT iree_status_t iree_task_topology_initialize_from_logical_cpu_set(iree_host_size_t cpu_count,
                                                                                 const uint32_t* cpu_ids,
                                                                                 iree_task_topology_t* out_topology);
// The set as text: `0,2-5`.
IREE_API_EXPORT iree_status_t iree_task_topology_initialize_from_logical_cpu_set_string(
    iree_string_view_t cpu_id_set, iree_task_topology_t* out_topology);

typedef enum iree_task_topology_performance_level_e {
  IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_ANY = 0,
  IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_LOW,   // efficiency cores only
  IREE_TASK_TOPOLOGY_PERFORMANCE_LEVEL_HIGH,  // performance cores only
} iree_task_topology_performance_level_t;

typedef enum iree_task_topology_distribution_e {
  IREE_TASK_TOPOLOGY_DISTRIBUTION_COMPACT = 0,  // neighbours first
  IREE_TASK_TOPOLOGY_DISTRIBUTION_SCATTER = 1,  // spread over last-level caches
} iree_task_topology_distribution_t;

// One worker per physical core of `node_id` that the process may use, up to `max_core_count` (0: all).
IREE_API_EXPORT iree_status_t iree_task_topology_initialize_from_physical_cores(
    iree_task_topology_node_id_t node_id, iree_task_topology_performance_level_t performance_level,
    iree_task_topology_distribution_t distribution, iree_host_size_t max_core_count,
    iree_task_topology_t* out_topology);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TASK_TOPOLOGY_H_
