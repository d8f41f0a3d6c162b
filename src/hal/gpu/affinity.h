// Bits of queue affinities: physical device times queues of each, plus queue.
#ifndef IREE_C_HAL_GPU_AFFINITY_H_
#define IREE_C_HAL_GPU_AFFINITY_H_

#include "iree/hal/queue.h"

typedef struct gpu_domain_t {
  uint32_t physical_count;
  uint32_t queue_count;  // of each; physical_count * queue_count is at most 64
} gpu_domain_t;

// Bits that there are queues for.
static inline iree_hal_queue_affinity_t gpu_domain_all(gpu_domain_t domain) {
  uint32_t count = domain.physical_count * domain.queue_count;
  return count >= 64 ? ~0ull : (1ull << count) - 1;
}

// The first queue in `affinity` that there is, by bit; 0 when there is none.
static inline uint32_t gpu_domain_first(gpu_domain_t domain, iree_hal_queue_affinity_t affinity) {
  affinity &= gpu_domain_all(domain);
  return affinity ? (uint32_t)iree_hal_queue_affinity_find_first_set(affinity) : 0;
}

static inline uint32_t gpu_domain_physical(gpu_domain_t domain, uint32_t bit) { return bit / domain.queue_count; }

static inline uint32_t gpu_domain_queue(gpu_domain_t domain, uint32_t bit) { return bit % domain.queue_count; }

#endif  // IREE_C_HAL_GPU_AFFINITY_H_
