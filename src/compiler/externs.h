// Executables that the program brings (hal.executable, hal.executable.source, stream.executable, flow.executable): code
// in files, for one target or several, of which each takes the variant that fits it, or functions that are kernels
// (import/linalg/workgroup.h), which every target compiles.
#ifndef IREE_C_COMPILER_EXTERNS_H_
#define IREE_C_COMPILER_EXTERNS_H_

#include "compiler/substitute.h"

// --iree-hal-executable-object-search-path: folders that objects' paths may begin in, beside the current one.
typedef struct extern_options_t {
  const char* const* folders;
  uint32_t count;
} extern_options_t;

// Puts the code of each dispatch of a graph.extern into `out`; the dispatches get the attributes `object` and `entry`.
// False after diagnostics.
bool externs_resolve(ir_context_t* ctx, const extern_options_t* options, const target_t* target, ir_op_t* module,
                     substitute_objects_t* out);
// The code of an executable by itself. False after diagnostics.
bool externs_compile(ir_context_t* ctx, const extern_options_t* options, const target_t* target, ir_op_t* executable,
                     target_executable_t* out);

#endif  // IREE_C_COMPILER_EXTERNS_H_
