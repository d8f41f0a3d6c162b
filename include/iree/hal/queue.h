// Queue affinities: which of a device's queues may run something, one bit per queue.
#ifndef IREE_HAL_QUEUE_H_
#define IREE_HAL_QUEUE_H_

#include <stdint.h>

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t iree_hal_queue_affinity_t;
#define IREE_HAL_QUEUE_AFFINITY_ANY ((iree_hal_queue_affinity_t)(-1))
#define IREE_HAL_MAX_QUEUES (sizeof(iree_hal_queue_affinity_t) * 8)

#define iree_hal_queue_affinity_is_empty(queue_affinity) ((queue_affinity) == 0)
#define iree_hal_queue_affinity_is_any(queue_affinity) ((queue_affinity) == IREE_HAL_QUEUE_AFFINITY_ANY)
#define iree_hal_queue_affinity_count(queue_affinity) __builtin_popcountll(queue_affinity)
// Ordinal of the lowest bit; the affinity must not be empty.
#define iree_hal_queue_affinity_find_first_set(queue_affinity) __builtin_ctzll(queue_affinity)
// A loop over the queues: in its body `queue_ordinal` is the queue, `queue_index` counts, `queue_count` is how many.
#define IREE_HAL_FOR_QUEUE_AFFINITY(queue_affinity)                                               \
  iree_hal_queue_affinity_t queue_bits_ = (queue_affinity);                                       \
  for (int queue_index = 0, queue_count = iree_hal_queue_affinity_count(queue_bits_),             \
           queue_ordinal = queue_bits_ ? iree_hal_queue_affinity_find_first_set(queue_bits_) : 0; \
       queue_index < queue_count; ++queue_index, queue_bits_ &= queue_bits_ - 1,                  \
           queue_ordinal = queue_bits_ ? iree_hal_queue_affinity_find_first_set(queue_bits_) : 0)
#define iree_hal_queue_affinity_shr(queue_affinity, shift_amount) ((queue_affinity) >> (shift_amount))
#define iree_hal_queue_affinity_and_into(inout_affinity, mask_affinity) (inout_affinity) &= (mask_affinity)
#define iree_hal_queue_affinity_or_into(inout_affinity, mask_affinity) (inout_affinity) |= (mask_affinity)

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_QUEUE_H_
