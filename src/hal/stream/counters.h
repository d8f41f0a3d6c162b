// Counters of NVIDIA's GPUs while they are profiled, by CUPTI: of dispatches, each of which has the GPU to itself, or
// over time. What else runs on the GPU counts, too.
#ifndef IREE_C_HAL_STREAM_COUNTERS_H_
#define IREE_C_HAL_STREAM_COUNTERS_H_

#include "hal/profile/profile.h"

extern const hal_profile_counting_t stream_cuda_counting;

// Before and behind a launch that the sample (hal_profile_sample) is of; the context is entered. 0: nothing. Where it
// cannot be counted the sample has no values. From the one to the other nothing else of the GPU's is counted.
void stream_counters_begin(uint64_t sample);
void stream_counters_end(uint64_t sample);

#endif  // IREE_C_HAL_STREAM_COUNTERS_H_
