// Kernels to vmvx bytecode (module/vmvx.h), one instruction for each op; constants first.
#ifndef IREE_C_TARGET_VMVX_ENCODE_H_
#define IREE_C_TARGET_VMVX_ENCODE_H_

#include "base/text.h"
#include "ir/ir.h"

typedef struct vmvx_code_t {
  void* data;  // the file
  size_t size;
  // The op of each instruction, function after function; function i has its ops from op_first[i] on.
  const ir_op_t** ops;
  uint32_t* op_first;
} vmvx_code_t;

// `funcs` are verified kernel.func ops; their ops' and values' `data` is used. False after `error` got a message: only
// for functions beyond the format's limits.
bool vmvx_encode(const ir_op_t* const* funcs, uint32_t count, vmvx_code_t* out, text_t* error);
void vmvx_code_finish(vmvx_code_t* code);

#endif  // IREE_C_TARGET_VMVX_ENCODE_H_
