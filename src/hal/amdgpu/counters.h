// Counters of GPUs while they are profiled, by aqlprofile's packets: of dispatches, around each of which the queue has
// three packets more, or over time, by packets of a queue of their own. Hardware counts for a whole GPU, so what runs
// beside, on other queues, counts, too.
#ifndef IREE_C_HAL_AMDGPU_COUNTERS_H_
#define IREE_C_HAL_AMDGPU_COUNTERS_H_

#include "hal/amdgpu/libaqlprofile.h"
#include "hal/profile/profile.h"

// What takes a sample: its packets, before and after what is counted; and the values of the last time.
typedef struct counter_sample_t {
  struct counter_sample_t* next;
  aqlprofile_handle_t handle;
  aqlprofile_pmc_packets_t packets;
  struct counter_gpu_t* gpu;
} counter_sample_t;

extern const hal_profile_counting_t amdgpu_counting;

#endif  // IREE_C_HAL_AMDGPU_COUNTERS_H_
