// Gives every graph.dispatch of a module its kernel.
#ifndef IREE_C_COMPILER_KERNELS_H_
#define IREE_C_COMPILER_KERNELS_H_

#include "ir/ir.h"
#include "kernels/device.h"

typedef struct kernel_list_t {
  ir_op_t* module;  // builtin.module that holds them
  ir_op_t** funcs;  // kernel.func, numbered as the executable's entries
  uint32_t count;
  double* seconds;  // that building each took; or NULL
} kernel_list_t;

// Builds the kernels, equal dispatches sharing one, and sets each dispatch's `entry`, `workgroups` and `strategy`.
// False after diagnostics.
bool kernels_assign(ir_context_t* ctx, ir_op_t* module, const device_info_t* device, kernel_list_t* out);

#endif  // IREE_C_COMPILER_KERNELS_H_
