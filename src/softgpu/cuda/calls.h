// Declarations of everything that the library exports.
#ifndef IREE_C_SOFTGPU_CUDA_CALLS_H_
#define IREE_C_SOFTGPU_CUDA_CALLS_H_

#include "softgpu/cuda/types.h"

#define ENTRY(symbol, name, version, parameters) result_t symbol parameters;
#define STREAM(symbol, name, version, suffix, parameters, arguments) result_t symbol parameters;
#include "softgpu/cuda/entry_points.def"

#endif  // IREE_C_SOFTGPU_CUDA_CALLS_H_
