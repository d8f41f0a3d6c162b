// A pool of I/O contexts, one per NUMA node, shared by the devices of a process.
//
// Devices of this runtime do file I/O on their own queues and need no I/O threads: a pool is the list of nodes that a
// device may place itself on.
#ifndef IREE_ASYNC_UTIL_PROACTOR_POOL_H_
#define IREE_ASYNC_UTIL_PROACTOR_POOL_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_proactor_options_t {
  iree_host_size_t max_concurrent_operations;  // 0: the implementation's choice
  iree_string_view_t debug_name;
} iree_async_proactor_options_t;

typedef struct iree_async_proactor_pool_options_t {
  iree_async_proactor_options_t proactor_options;
} iree_async_proactor_pool_options_t;
IREE_API_EXPORT iree_async_proactor_pool_options_t iree_async_proactor_pool_options_default(void);

typedef struct iree_async_proactor_pool_t iree_async_proactor_pool_t;

// A pool over `node_count` nodes: `node_ids`, or 0 to node_count-1 when NULL. Errors: INVALID_ARGUMENT for no nodes.
IREE_API_EXPORT iree_status_t iree_async_proactor_pool_create(iree_host_size_t node_count, const uint32_t* node_ids,
                                                              iree_async_proactor_pool_options_t options,
                                                              iree_allocator_t allocator,
                                                              iree_async_proactor_pool_t** out_pool);
IREE_API_EXPORT void iree_async_proactor_pool_retain(iree_async_proactor_pool_t* pool);
IREE_API_EXPORT void iree_async_proactor_pool_release(iree_async_proactor_pool_t* pool);
IREE_API_EXPORT iree_host_size_t iree_async_proactor_pool_count(const iree_async_proactor_pool_t* pool);
// Node of entry `index`, below the count.
IREE_API_EXPORT uint32_t iree_async_proactor_pool_node_id(const iree_async_proactor_pool_t* pool,
                                                          iree_host_size_t index);

#ifdef __cplusplus
}
#endif

#endif  // IREE_ASYNC_UTIL_PROACTOR_POOL_H_
