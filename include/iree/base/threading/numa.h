// NUMA nodes of the host.
#ifndef IREE_BASE_THREADING_NUMA_H_
#define IREE_BASE_THREADING_NUMA_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t iree_numa_node_id_t;
#define IREE_NUMA_NODE_ANY ((iree_numa_node_id_t)UINT32_MAX)

#define IREE_NUMA_MAX_NODES 128

// How memory is placed, all of it as far as the system can.
typedef uint32_t iree_memory_placement_flags_t;
enum iree_memory_placement_flag_bits_e {
  IREE_MEMORY_PLACEMENT_FLAG_NONE = 0u,
  IREE_MEMORY_PLACEMENT_FLAG_EXPLICIT_HUGE_PAGES = 1u << 0,
  IREE_MEMORY_PLACEMENT_FLAG_TRANSPARENT_HUGE_PAGES = 1u << 1,
};
typedef struct iree_numa_alloc_options_t {
  iree_numa_node_id_t node_id;
  iree_host_size_t alignment;       // bytes, at most a page
  iree_host_size_t huge_page_size;  // bytes; 0: 2 MiB
  iree_memory_placement_flags_t flags;
} iree_numa_alloc_options_t;
static inline iree_numa_alloc_options_t iree_numa_alloc_options_default(void) {
  iree_numa_alloc_options_t options = {IREE_NUMA_NODE_ANY, 0, 0, IREE_MEMORY_PLACEMENT_FLAG_NONE};
  return options;
}

typedef enum iree_numa_alloc_method_e {
  IREE_NUMA_ALLOC_METHOD_EXPLICIT_HUGE_PAGES = 0,
  IREE_NUMA_ALLOC_METHOD_TRANSPARENT_HUGE_PAGES,
  IREE_NUMA_ALLOC_METHOD_MMAP,
  IREE_NUMA_ALLOC_METHOD_STANDARD,  // not used here
} iree_numa_alloc_method_t;
// What iree_numa_free has to know.
typedef struct iree_numa_alloc_info_t {
  iree_host_size_t allocated_size;  // bytes
  iree_host_size_t huge_page_size;  // bytes; 0: of no explicit huge pages
  iree_numa_alloc_method_t method;
} iree_numa_alloc_info_t;
// Zeroed memory. Errors: INVALID_ARGUMENT for a node that there is not, RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_numa_alloc(iree_host_size_t size, const iree_numa_alloc_options_t* options,
                                              void** out_ptr, iree_numa_alloc_info_t* out_info);
// Accepts NULL.
IREE_API_EXPORT void iree_numa_free(void* ptr, const iree_numa_alloc_info_t* info);
// Moves memory there, where that can be done; whole pages.
IREE_API_EXPORT iree_status_t iree_numa_bind_memory(void* ptr, iree_host_size_t size, iree_numa_node_id_t node_id);

// A bit for each online node; alive as long as the process.
IREE_API_EXPORT iree_bitmap_t iree_numa_online_nodes(void);
// Online nodes; at least 1.
IREE_API_EXPORT iree_host_size_t iree_numa_node_count(void);
// The node of the processor that runs the calling thread; 0 when unknown.
IREE_API_EXPORT iree_numa_node_id_t iree_numa_node_for_current_thread(void);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_THREADING_NUMA_H_
