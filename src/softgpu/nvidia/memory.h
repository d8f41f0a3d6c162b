// Binders of memory rows, for the vector files that execute them.
#ifndef IREE_C_SOFTGPU_NVIDIA_MEMORY_H_
#define IREE_C_SOFTGPU_NVIDIA_MEMORY_H_

#include "softgpu/nvidia/decode.h"

bool memory_bind_load(decoder_t* d, inst_t* inst);
bool memory_bind_store(decoder_t* d, inst_t* inst);

#endif  // IREE_C_SOFTGPU_NVIDIA_MEMORY_H_
