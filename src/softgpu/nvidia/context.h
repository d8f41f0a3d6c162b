// An engine, for its own files.
#ifndef IREE_C_SOFTGPU_NVIDIA_CONTEXT_H_
#define IREE_C_SOFTGPU_NVIDIA_CONTEXT_H_

#include <pthread.h>

#include "softgpu/nvidia/module.h"

struct nv_engine_t {
  nv_options_t options;
  uint64_t launches;     // atomic
  pthread_mutex_t lock;  // of the counters
  nv_counters_t counters;
};

#endif  // IREE_C_SOFTGPU_NVIDIA_CONTEXT_H_
