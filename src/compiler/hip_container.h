// Executables of IREE's format `rocm-hsaco-fb`: a header of 64 bytes, then a FlatBuffer with a code object and how each
// of its kernels is launched. Source: runtime/src/iree/schemas/hip_executable_def.fbs in IREE; "FlatBuffer Internals".
#ifndef IREE_C_COMPILER_HIP_CONTAINER_H_
#define IREE_C_COMPILER_HIP_CONTAINER_H_

#include "base/arena.h"
#include "target/target.h"

typedef struct hip_container_t {
  uint8_t* data;
  size_t size;
} hip_container_t;

// The bytes are the arena's; the code object begins at a multiple of 64 of them.
hip_container_t hip_container_make(arena_t* arena, const target_executable_t* executable);

#endif  // IREE_C_COMPILER_HIP_CONTAINER_H_
