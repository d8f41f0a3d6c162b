// The GPUs of the process by the environment.
#ifndef IREE_C_SOFTGPU_HSA_GPU_LIST_H_
#define IREE_C_SOFTGPU_HSA_GPU_LIST_H_

#include "softgpu/hsa/runtime.h"

typedef struct gpu_list_t {
  const isa_target_t* targets[RUNTIME_MAX_GPUS];
  char uuids[RUNTIME_MAX_GPUS][32];
  uint32_t count;
} gpu_list_t;

// `gpus` is how many GPUs of the target, or their processors with commas between; NULL: one. False after a message.
bool gpu_list_read(gpu_list_t* list, const char* target, const char* gpus);
// Numbers of the GPUs that a list of ordinals and of UUIDs, or their beginnings, names, in its order; all of them for
// NULL. Returns how many.
uint32_t gpu_list_select(const gpu_list_t* list, const char* visible, uint32_t* chosen);

// Where the GPU is on the PCI bus, as the kernel driver and HSA have it: bus, device and function.
static inline uint32_t gpu_list_location(uint32_t ordinal) { return (ordinal + 3) << 8; }

#endif  // IREE_C_SOFTGPU_HSA_GPU_LIST_H_
