// What the parts of a queue so far wait for in the device's other queues: a part that waits for another queue's also
// has waited for whatever that one had, so that no packet need wait for it again.
//
// A queue's own epochs are exact. What others may know of it is a short log of its last waits: what has left it costs
// a packet and nothing else.
#ifndef IREE_C_HAL_GPU_WAITED_H_
#define IREE_C_HAL_GPU_WAITED_H_

#include "hal/gpu/device.h"

enum { GPU_WAITED_LOG = 32 };

// From part `since` of the queue on, everything is behind part `epoch` of the queue with that bit.
typedef struct gpu_waited_entry_t {
  iree_atomic_uint64_t since, bit, epoch;
} gpu_waited_entry_t;

typedef struct gpu_waited_t {
  uint64_t epochs[GPU_MAX_QUEUES];  // by bit; under the queue's `submission`
  // Odd while the log is written, under `submission`; who reads it, without, looks whether it is even and the same
  // before and after.
  iree_atomic_uint64_t version;
  iree_atomic_uint64_t count;  // of entries so far, in a ring
  gpu_waited_entry_t log[GPU_WAITED_LOG];
} gpu_waited_t;

// A barrier of a part that is being issued. `waited` is the queue's, whose `submission` is held.
static inline bool gpu_waited_covers(const gpu_waited_t* waited, uint32_t bit, uint64_t epoch) {
  return waited->epochs[bit] >= epoch;
}
// Whether part `part` of the queue whose log that is was behind part `epoch` of the queue with that bit. False when
// that is not known. Any thread.
bool gpu_waited_implies(gpu_waited_t* log, uint64_t part, uint32_t bit, uint64_t epoch);
// Notes that parts from `since` on wait for part `epoch` of `other`, whose log tells what that had waited for.
// `submission` is held of the queue that `waited` and `own_bit` are of.
typedef struct gpu_waited_wait_t {
  uint64_t since;
  uint32_t own_bit, bit;
  uint64_t epoch;
} gpu_waited_wait_t;
void gpu_waited_note(gpu_waited_t* waited, const gpu_waited_wait_t* wait, gpu_waited_t* other);

#endif  // IREE_C_HAL_GPU_WAITED_H_
