// Calls kernels in the process that compiled them: constants are computed so, and tests run programs dispatch by
// dispatch. No runtime is needed: a dispatch is a loop over its workgroups.
#ifndef IREE_C_COMPILER_EXECUTE_H_
#define IREE_C_COMPILER_EXECUTE_H_

#include "target/target.h"

typedef struct execute_code_t execute_code_t;

// Loads an ELF executable of llvm-cpu. NULL when this machine or system cannot.
execute_code_t* execute_open(const target_executable_t* executable);
void execute_close(execute_code_t* code);

typedef struct execute_call_t {
  uint32_t entry;
  void* const* bindings;  // operands, then results
  const size_t* lengths;  // bytes
  const uint32_t* words;  // 32-bit constants
  uint32_t binding_count, word_count;
  uint32_t workgroups[3];
  uint32_t threads;  // that share the workgroups; 0 or 1: the caller's only
} execute_call_t;

// Runs all workgroups. False when a kernel fails.
bool execute_run(const execute_code_t* code, const execute_call_t* call);

#endif  // IREE_C_COMPILER_EXECUTE_H_
