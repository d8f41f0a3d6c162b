// Parts of the checks.
#ifndef IREE_C_SOFTGPU_NVIDIA_CHECK_H_
#define IREE_C_SOFTGPU_NVIDIA_CHECK_H_

#include "softgpu/nvidia/access.h"

typedef enum { CHECK_GLOBAL, CHECK_SHARED, CHECK_STACK } check_place_t;

// Which bytes of shared memory, or of a lane's stack, somebody wrote: 1 or 0 each.
uint8_t* check_defined(const warp_t* w, check_place_t place, uint32_t lane, uint64_t offset);
// A byte of shared memory is about to be touched; `stored`: what is written, or -1. False after warp_fault.
bool check_shared_byte(warp_t* w, const inst_t* inst, uint32_t lane, uint64_t offset, uint32_t access, int stored);

// check_global.c: a word of global memory is about to be touched: `bytes` has a bit for each of its bytes, `is_same`
// says that a store leaves it as it is. False after warp_fault.
bool check_global_word(warp_t* w, const inst_t* inst, uint32_t lane, uint64_t address, uint32_t bytes, uint32_t access,
                       bool is_same);

// check_undefined.c: registers that nobody wrote. Before an instruction: false after warp_fault. After it: its results.
bool check_registers_before(warp_t* w, const inst_t* inst, uint32_t lanes);
void check_undefined_after(warp_t* w, const frame_t* frame, const inst_t* inst, uint32_t lanes);
// Lanes of `lanes` in which an operand has no value.
uint32_t check_undefined_lanes(const frame_t* frame, const operand_t* o, uint32_t lanes);

#endif  // IREE_C_SOFTGPU_NVIDIA_CHECK_H_
