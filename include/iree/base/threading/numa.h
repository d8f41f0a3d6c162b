// NUMA nodes of the host.
#ifndef IREE_BASE_THREADING_NUMA_H_
#define IREE_BASE_THREADING_NUMA_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t iree_numa_node_id_t;
#define IREE_NUMA_NODE_ANY ((iree_numa_node_id_t)UINT32_MAX)

// Online nodes; at least 1.
IREE_API_EXPORT iree_host_size_t iree_numa_node_count(void);
// The node of the processor that runs the calling thread; 0 when unknown.
IREE_API_EXPORT iree_numa_node_id_t iree_numa_node_for_current_thread(void);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_THREADING_NUMA_H_
