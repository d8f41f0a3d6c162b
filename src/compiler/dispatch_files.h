// What --iree-hal-dump-executable-*-to writes for each dispatch.
#ifndef IREE_C_COMPILER_DISPATCH_FILES_H_
#define IREE_C_COMPILER_DISPATCH_FILES_H_

#include "compiler/kernels.h"
#include "target/target.h"

// Writes, for each kernel, a program that calls its dispatch alone; and for GPUs compiles each kernel alone for the
// files that are named after it. `options` then has the dumps that are left for the linked executable. False after
// `error` got a message.
bool dispatch_files_write(ir_op_t* module, const kernel_list_t* kernels, const target_t* target,
                          target_compile_options_t* options, text_t* error);

#endif  // IREE_C_COMPILER_DISPATCH_FILES_H_
