// Profiles by command line flags: --device_profiling_mode=, --device_profiling_output=, --print_device_statistics, and
// what narrows them down.
#ifndef TOOLING_PROFILING_H_
#define TOOLING_PROFILING_H_

#include "iree/hal/api.h"
#include "iree/hal/utils/statistics_sink.h"

typedef struct tooling_profiling_t tooling_profiling_t;

// Checks the flags. Errors: INVALID_ARGUMENT.
iree_status_t tooling_profiling_check(void);
// Begins to profile all devices of the group, as the flags say; NULL when they do not ask for it. An error leaves
// nothing on, but may leave a file without records.
iree_status_t tooling_profiling_begin(iree_hal_device_group_t* group, iree_allocator_t allocator,
                                      tooling_profiling_t** out_profiling);
// Writes what is there so far; accepts NULL.
iree_status_t tooling_profiling_flush(tooling_profiling_t* profiling);
// Ends that, prints statistics, and frees it; accepts NULL. Errors: those of the output.
iree_status_t tooling_profiling_end(tooling_profiling_t* profiling);

#endif  // TOOLING_PROFILING_H_
