// What machine code for NVIDIA GPUs says of its kernels. A cubin is an ELF file; section .nv.info.KERNEL lists a
// kernel's parameters and the size of its blocks. NVIDIA documents neither: what is read here is what nvdisasm shows,
// the same from CUDA 11 to 13.
#ifndef IREE_C_HAL_STREAM_CUBIN_H_
#define IREE_C_HAL_STREAM_CUBIN_H_

#include "hal/gpu/executable.h"

typedef struct cubin_t {
  uint32_t target;  // 90: made for sm_90
  iree_host_size_t count;
  gpu_function_t* functions;  // names are in the data
} cubin_t;

// Whether `data` begins as a cubin does.
bool cubin_is(iree_const_byte_span_t data);
// `data` must stay while the result is used. Errors: INVALID_ARGUMENT when it is damaged or of a version not known.
iree_status_t cubin_read(iree_const_byte_span_t data, iree_allocator_t host_allocator, cubin_t* out_cubin);
void cubin_free(cubin_t* cubin, iree_allocator_t host_allocator);
// The architecture that it was made for, of sm_NN; 0 when it is of a version not known.
uint32_t cubin_target(iree_const_byte_span_t data);

#endif  // IREE_C_HAL_STREAM_CUBIN_H_
