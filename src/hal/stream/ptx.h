// What the text of a PTX module says of its kernels (PTX ISA, "Kernel and Function Directives" and "Performance-Tuning
// Directives"). Only what a launch needs is read; the vendor's compiler reads the rest.
#ifndef IREE_C_HAL_STREAM_PTX_H_
#define IREE_C_HAL_STREAM_PTX_H_

#include "hal/gpu/executable.h"

typedef struct ptx_t {
  uint32_t target;  // 90: of `.target sm_90`
  bool is_exact;    // sm_90a: for that architecture only
  iree_host_size_t count;
  gpu_function_t* functions;  // names are in the text
} ptx_t;

// `text` must stay while the result is used. Errors: INVALID_ARGUMENT with a line.
iree_status_t ptx_read(iree_string_view_t text, iree_allocator_t host_allocator, ptx_t* out_ptx);
void ptx_free(ptx_t* ptx, iree_allocator_t host_allocator);
// The number of "sm_90" or "sm_90a"; 0 when it is none.
uint32_t ptx_architecture(iree_string_view_t name, bool* out_is_exact);

#endif  // IREE_C_HAL_STREAM_PTX_H_
