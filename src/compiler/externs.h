// Executables that the program brings (hal.executable, hal.executable.source, stream.executable with objects): code in
// files, for one target or several. Each target takes the variant that fits it.
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

#endif  // IREE_C_COMPILER_EXTERNS_H_
