// IREE's containers of GPU executables: a header of 64 bytes, and a FlatBuffer with the code that the vendor's library
// loads. Formats by IREE's names, `rocm-hsaco-fb` and `cuda-nvptx-fb`, are such containers; code by itself is taken
// under the same names: modules made before had it so, and those for CUDA have. Source: runtime/src/iree/schemas in
// IREE.
#ifndef IREE_C_HAL_GPU_CONTAINER_H_
#define IREE_C_HAL_GPU_CONTAINER_H_

#include "iree/base/api.h"

// What is in the container that `data` is, or `data` itself when it is none. `out_format` is the name by which it goes
// whatever it is for, empty for the others. Errors: INVALID_ARGUMENT when a container is damaged, UNIMPLEMENTED when
// its kernels are in several pieces.
iree_status_t gpu_container_open(iree_const_byte_span_t data, iree_const_byte_span_t* out_code,
                                 iree_string_view_t* out_format);

#endif  // IREE_C_HAL_GPU_CONTAINER_H_
