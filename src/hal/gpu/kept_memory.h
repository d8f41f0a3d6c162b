// Memory of GPUs that was freed and is kept for the next allocation like it: libraries of GPUs wait for the GPU and
// change its page tables when memory is allocated or freed, which a program that is called again and again would do
// each time. Thread safe.
#ifndef IREE_C_HAL_GPU_KEPT_MEMORY_H_
#define IREE_C_HAL_GPU_KEPT_MEMORY_H_

#include "hal/gpu/allocator.h"
#include "iree/base/threading/mutex.h"

enum { GPU_KEPT_BLOCKS = 32 };

typedef struct gpu_kept_memory_t {
  const gpu_memory_source_vtable_t* vtable;  // that frees what is not kept
  void* source;
  uint64_t most;            // bytes to keep
  iree_slim_mutex_t mutex;  // guards what follows
  uint64_t total;           // bytes
  uint32_t count;
  gpu_memory_t blocks[GPU_KEPT_BLOCKS];  // oldest first
} gpu_kept_memory_t;

void gpu_kept_memory_initialize(gpu_kept_memory_t* kept, const gpu_allocator_params_t* params);
// Frees all, as trim does.
void gpu_kept_memory_deinitialize(gpu_kept_memory_t* kept);
// False when there was nothing to free.
bool gpu_kept_memory_trim(gpu_kept_memory_t* kept);
// Memory of the type, GPU and size that `memory` has, aligned as it asks for; false when none is kept.
bool gpu_kept_memory_take(gpu_kept_memory_t* kept, gpu_memory_t* memory);
// Keeps the memory, or frees it.
void gpu_kept_memory_give(gpu_kept_memory_t* kept, const gpu_memory_t* memory);

#endif  // IREE_C_HAL_GPU_KEPT_MEMORY_H_
