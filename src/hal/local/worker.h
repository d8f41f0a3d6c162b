// What a thread needs to run workgroups: an index below the executor's worker count and scratch memory.
#ifndef IREE_C_HAL_LOCAL_WORKER_H_
#define IREE_C_HAL_LOCAL_WORKER_H_

#include "iree/base/api.h"

typedef struct local_worker_t {
  uint32_t index;
  uint32_t processor_id;
  uint8_t* local_memory;  // page-aligned; NULL until needed
  size_t local_memory_size;
} local_worker_t;

// Makes room for `size` bytes of scratch; contents are lost. Errors: RESOURCE_EXHAUSTED.
iree_status_t local_worker_reserve(local_worker_t* worker, size_t size);
// Frees the scratch.
void local_worker_finish(local_worker_t* worker);

#endif  // IREE_C_HAL_LOCAL_WORKER_H_
