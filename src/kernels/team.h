// GPU threads that work on one thing: what they hand each other.
#ifndef IREE_C_KERNELS_TEAM_H_
#define IREE_C_KERNELS_TEAM_H_

#include "kernels/strategy.h"

// The threads of a workgroup, and their places in its subgroups.
typedef struct team_t {
  int64_t size;                   // threads
  int64_t subgroup;               // of them in a subgroup
  int64_t subgroups;              // size / subgroup
  linear_t thread, lane, number;  // of the thread; in its subgroup; of the subgroup
} team_t;
// A kernel whose workgroups have `threads` threads, a power of two, or as many as the device can.
team_t team_begin(dispatch_t* d, int64_t threads);

// `value` of another lane: "xor", or "up": of the lane `distance` before this one, where there is one;
// "index": of that lane.
ir_value_t* team_shuffle(kernel_build_t* k, ir_value_t* value, const char* mode, int64_t distance);

// What all lanes of the subgroup have, combined by `fn`, in each of them.
ir_value_t* team_fold(kernel_build_t* k, scalar_fn_t fn, ir_value_t* value);

// All threads of the workgroup, and what they have written.
void team_barrier(kernel_build_t* k);

// Until all but the last `pending` groups of this thread's asynchronous copies are there.
void team_wait_for_copies(kernel_build_t* k, int64_t pending);

// One workgroup for each of `count` things, in a loop when there are more than a launch has workgroups. Between it and
// iterations_end `index` is the thing's number, the same in all threads, so that there may be barriers.
iterations_t team_iterations(dispatch_t* d, const extent_t* count);

#endif  // IREE_C_KERNELS_TEAM_H_
