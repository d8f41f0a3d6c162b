// Counters of GPUs while they are profiled: of dispatches, or over time. NVIDIA's by CUPTI, which runs each dispatch
// that it counts alone (what else runs on the GPU counts, too), AMD's by rocprofiler-sdk.
#ifndef IREE_C_HAL_STREAM_COUNTERS_H_
#define IREE_C_HAL_STREAM_COUNTERS_H_

#include "hal/gpu/command.h"
#include "hal/profile/profile.h"

typedef struct stream_counting_t {
  hal_profile_counting_t base;
  // Before and behind the launch of a dispatch, on the same thread, that the sample (hal_profile_sample, not 0) is of;
  // the context is entered. Where it cannot be counted the sample has no values.
  void (*begin_launch)(uint64_t sample, const gpu_command_t* command, const uint32_t counts[3]);
  void (*end_launch)(uint64_t sample);
} stream_counting_t;
extern const stream_counting_t stream_cuda_counting, stream_hip_counting;

// Before HIP is loaded: loads rocprofiler-sdk, which must be there first, if it is known that somebody will count. That
// it is not there is told when they do.
void stream_hip_counting_prepare(void);

#endif  // IREE_C_HAL_STREAM_COUNTERS_H_
