// Traces of instructions while GPUs are profiled, by aqlprofile's packets: around each dispatch that is traced the
// queue has three packets more. Hardware traces one compute unit (or pair of them) of its first shader engine.
#ifndef IREE_C_HAL_AMDGPU_TRACES_H_
#define IREE_C_HAL_AMDGPU_TRACES_H_

#include "hal/amdgpu/libaqlprofile.h"
#include "hal/profile/profile.h"

// What traces a dispatch: its packets, before and after it, and one that tells of its code; and the data of the last
// time.
typedef struct dispatch_trace_t {
  struct dispatch_trace_t* next;
  aqlprofile_handle_t handle;
  aqlprofile_att_packets_t packets;
  uint64_t code_id;  // that `code` tells of
  aqlprofile_handle_t code_handle;
  hsa_amd_pm4_ib_packet_t code;
  struct tracing_gpu_t* gpu;
} dispatch_trace_t;

extern const hal_profile_tracing_t amdgpu_tracing;

#endif  // IREE_C_HAL_AMDGPU_TRACES_H_
