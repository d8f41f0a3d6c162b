// The verifier's parts: vmvx_open.c reads sections and decodes instructions, vmvx_verify.c checks each one.
#ifndef MODULE_VMVX_VERIFY_H_
#define MODULE_VMVX_VERIFY_H_

#include "module/vmvx.h"

typedef struct vmvx_check_t {
  const vmvx_function_t* function;
  size_t data_size;
  bool threads;
} vmvx_check_t;

// What is wrong with an instruction whose operands are in range (registers, memories) and whose branch targets are
// instructions; NULL when it is right. Nesting is checked by vmvx_check_nesting.
const char* vmvx_check_instr(const vmvx_check_t* check, const vmvx_instr_t* instr);
// Loops and branches nest and their targets are each other's; the last instruction, and no other, is `return`.
// `out_at`: the instruction that is wrong.
const char* vmvx_check_nesting(const vmvx_function_t* function, uint32_t* out_at);

#endif  // MODULE_VMVX_VERIFY_H_
