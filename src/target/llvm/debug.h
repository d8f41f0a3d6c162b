// Line tables: kernel ops carry the locations of the program they came from.
#ifndef IREE_C_TARGET_LLVM_DEBUG_H_
#define IREE_C_TARGET_LLVM_DEBUG_H_

#include <llvm-c/DebugInfo.h>

#include "target/llvm/emit.h"

struct debug_t {
  emit_t* e;
  LLVMDIBuilderRef builder;
  LLVMMetadataRef unit, type;
};
typedef struct debug_t debug_t;

// `builder` stays the caller's.
void debug_begin(debug_t* debug, LLVMDIBuilderRef builder, emit_t* e);
void debug_end(debug_t* debug);
// Gives e->function a subprogram at `loc`.
void debug_function(debug_t* debug, const char* name, const ir_loc_t* loc);
// Instructions built from now on come from `loc`.
void debug_location(debug_t* debug, const ir_loc_t* loc);

#endif  // IREE_C_TARGET_LLVM_DEBUG_H_
