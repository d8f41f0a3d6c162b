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

// The targets that the program names itself (hal.device.targets); false, after a diagnostic, when it names one that
// there is not. `count` stays 0 when it names none.
bool externs_read_targets(ir_context_t* ctx, const ir_op_t* module, target_t* targets, uint32_t capacity,
                          uint32_t* count);

#endif  // IREE_C_COMPILER_EXTERNS_H_
