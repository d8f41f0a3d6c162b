// A share of an executable's kernels: one LLVM context and module, compiled by one thread.
#ifndef IREE_C_TARGET_LLVM_CHUNK_H_
#define IREE_C_TARGET_LLVM_CHUNK_H_

#include "target/llvm/codegen.h"

typedef struct chunk_t {
  uint32_t first, count;  // of the functions
  codegen_bytes_t code;   // object, or assembly text (PTX)
  text_t error;
  bool ok;
  guard_t guard;
  guard_result_t result;
} chunk_t;

// The compilation at work.
typedef struct build_job_t {
  const target_t* target;
  ir_op_t* const* funcs;
  uint32_t func_count;
  const target_compile_options_t* options;
  target_entry_t* entries;
  chunk_t* chunks;
  uint32_t chunk_count;
} build_job_t;

// Splits the functions into chunks of about equal work, in order, the same way whatever the number of threads.
void chunk_split(build_job_t* job);
// Compiles all chunks on options->threads threads. False after `error` got the first message.
bool chunk_run_all(build_job_t* job, text_t* error);
void chunk_finish(build_job_t* job);

#endif  // IREE_C_TARGET_LLVM_CHUNK_H_
