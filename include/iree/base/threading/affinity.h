// Where threads may run.
#ifndef IREE_BASE_THREADING_AFFINITY_H_
#define IREE_BASE_THREADING_AFFINITY_H_

#include <stdbool.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// All zero: anywhere.
typedef struct iree_thread_affinity_t {
  uint32_t group_any : 1;  // any processor of `group`
  uint32_t group : 8;      // NUMA node
  uint32_t reserved : 23;
  uint32_t id_assigned : 1;  // the processor `id`
  uint32_t id : 30;
  uint32_t smt : 1;  // and the siblings of its core are kept free
} iree_thread_affinity_t;

// Anywhere.
IREE_API_EXPORT void iree_thread_affinity_set_any(iree_thread_affinity_t* out_thread_affinity);
static inline bool iree_thread_affinity_is_unspecified(iree_thread_affinity_t thread_affinity) {
  return !thread_affinity.group_any && !thread_affinity.id_assigned;
}
// Any processor of a NUMA node.
IREE_API_EXPORT void iree_thread_affinity_set_group_any(uint32_t group, iree_thread_affinity_t* out_thread_affinity);

#ifdef __cplusplus
}
#endif

#endif  // IREE_BASE_THREADING_AFFINITY_H_
