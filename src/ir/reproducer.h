// Programs with the pipeline that failed on them, in one file: text with what MLIR calls a reproducer behind it, an
// external resource.
//
//   {-# external_resources: { mlir_reproducer: {
//     pipeline: "builtin.module(inline,sizes)", disable_threading: true, verify_each: true } } #-}
#ifndef IREE_C_IR_REPRODUCER_H_
#define IREE_C_IR_REPRODUCER_H_

#include "base/text.h"
#include "ir/ir.h"

// Writes the program, as it was printed, and the pipeline. False with errno set.
bool reproducer_write(const char* path, const text_t* program, const char* pipeline, bool verify_each);

// The pipeline that came with what was parsed last in the context, and whether it verifies; NULL: none did.
const char* reproducer_pipeline(const ir_context_t* ctx, bool* verify_each);

#endif  // IREE_C_IR_REPRODUCER_H_
