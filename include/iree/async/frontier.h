// Frontiers: vector clocks over axes. An axis is one ordered timeline (a queue, say), an epoch a position on it, and a
// frontier a set of (axis, epoch): "everything up to here has happened". Entries are sorted by axis, each axis once.
#ifndef IREE_ASYNC_FRONTIER_H_
#define IREE_ASYNC_FRONTIER_H_

#include "iree/base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

enum iree_async_causal_domain_e {
  IREE_ASYNC_CAUSAL_DOMAIN_QUEUE = 0,
  IREE_ASYNC_CAUSAL_DOMAIN_COLLECTIVE = 1,
  IREE_ASYNC_CAUSAL_DOMAIN_EPILOGUE = 2,
  IREE_ASYNC_CAUSAL_DOMAIN_HOST = 3,
};
typedef uint8_t iree_async_causal_domain_t;

// session (8 bits) | machine (8) | domain (8) | ordinal (40)
typedef uint64_t iree_async_axis_t;
static inline iree_async_axis_t iree_async_axis_make(uint8_t session_epoch, uint8_t machine_index,
                                                     iree_async_causal_domain_t domain, uint64_t ordinal) {
  return ((uint64_t)session_epoch << 56) | ((uint64_t)machine_index << 48) | ((uint64_t)domain << 40) |
         (ordinal & 0xFFFFFFFFFFull);
}
// A queue's ordinal is its device's index (8 bits) | its own (8) | 24 zero bits.
static inline iree_async_axis_t iree_async_axis_make_queue(uint8_t session_epoch, uint8_t machine_index,
                                                           uint8_t device_index, uint8_t queue_index) {
  return iree_async_axis_make(session_epoch, machine_index, IREE_ASYNC_CAUSAL_DOMAIN_QUEUE,
                              ((uint64_t)device_index << 32) | ((uint64_t)queue_index << 24));
}

typedef struct iree_async_frontier_entry_t {
  iree_async_axis_t axis;
  uint64_t epoch;
} iree_async_frontier_entry_t;

typedef struct iree_async_frontier_t {
  uint8_t entry_count;
  uint8_t reserved[7];
  iree_async_frontier_entry_t entries[];
} iree_async_frontier_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_ASYNC_FRONTIER_H_
