// Counters of processors while local devices are profiled: what the threads that run a command's pieces count, by
// Linux's perf events (perf_event_open(2)), of user code alone.
#ifndef IREE_C_HAL_LOCAL_COUNTERS_H_
#define IREE_C_HAL_LOCAL_COUNTERS_H_

#include "hal/profile/profile.h"

extern const hal_profile_counting_t local_counting;

enum { LOCAL_MAX_COUNTERS = 8 };
// What a thread had counted when a piece began.
typedef struct local_reading_t {
  bool is_there;
  uint64_t enabled, running;  // ns
  uint64_t values[LOCAL_MAX_COUNTERS];
} local_reading_t;

// Before and behind a piece of a command, on the same thread. `counting` (hal_profile_counting, not NULL): what counts;
// `sample`: of the command, or 0.
void local_counters_begin(void* counting, local_reading_t* out_reading);
void local_counters_end(void* counting, uint64_t sample, const local_reading_t* reading);

#endif  // IREE_C_HAL_LOCAL_COUNTERS_H_
