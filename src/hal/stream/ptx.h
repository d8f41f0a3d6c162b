// What the text of a PTX module says of its kernels (PTX ISA, "Kernel and Function Directives" and "Performance-Tuning
// Directives"). Only what a launch needs is read; the vendor's compiler reads the rest.
#ifndef IREE_C_HAL_STREAM_PTX_H_
#define IREE_C_HAL_STREAM_PTX_H_

#include "hal/gpu/executable.h"

// What code is for.
typedef struct ptx_target_t {
  uint32_t number;  // 90 of "sm_90"; 0: nothing
  char kind;        // 'a' of "sm_90a": that architecture only; 'f': later ones of its family, too; 0: all later ones
} ptx_target_t;

typedef struct ptx_t {
  ptx_target_t target;
  iree_host_size_t count;
  gpu_function_t* functions;  // names are in the text
} ptx_t;

// `text` must stay while the result is used. Errors: INVALID_ARGUMENT with a line.
iree_status_t ptx_read(iree_string_view_t text, iree_allocator_t host_allocator, ptx_t* out_ptx);
void ptx_free(ptx_t* ptx, iree_allocator_t host_allocator);
ptx_target_t ptx_target(iree_string_view_t name);
// Whether text for it can be compiled for a GPU of compute capability 9.0, 90.
bool ptx_target_fits(ptx_target_t target, uint32_t capability);
// Whether machine code for it runs there: the major version is its own.
bool ptx_target_runs(ptx_target_t target, uint32_t capability);

#endif  // IREE_C_HAL_STREAM_PTX_H_
