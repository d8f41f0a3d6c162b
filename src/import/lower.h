// From input dialects to graph: picks the frontend of each module.
#ifndef IREE_C_IMPORT_LOWER_H_
#define IREE_C_IMPORT_LOWER_H_

#include "ir/ir.h"

// Replaces every function of input dialects by one of graph ops over tensors. `input_type` is --iree-input-type
// (NULL or "auto": decided by the ops present; else ops of other frontends are refused). False after diagnostics, also
// when ops remain that no frontend knows.
bool lower_module(ir_context_t* ctx, ir_op_t* module, const char* input_type);

// A function of an executable that the program brings, over memory: it computes arguments for functions of the objects
// beside it, which it calls.
typedef struct lower_shim_t {
  ir_op_t* module;       // builtin.module that holds it, and declares what it calls
  const char* function;  // in which
  const char* name;      // the kernel's
  uint32_t bindings;     // of a function without arguments: as its layout says
  uint32_t constants;    // of 32 bits each
  int64_t sizes[3];      // that the function is told a workgroup has; 0: 1
  bool gpu;              // threads share its work and its own memory
} lower_shim_t;
// As a kernel.func at the end of `into`, whose kernel.call of a plugin's function have number 0 all. NULL after
// diagnostics.
ir_op_t* lower_shim(ir_context_t* ctx, const lower_shim_t* shim, ir_block_t* into);

// Whether the op is an executable that a program brings. What has no function that dispatches bring in stays in the
// module when it is lowered: dispatches run its code.
bool lower_is_executable(const ir_op_t* op);

#endif  // IREE_C_IMPORT_LOWER_H_
