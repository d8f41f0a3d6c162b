// Code generators behind target_compile.
#ifndef IREE_C_TARGET_BACKEND_H_
#define IREE_C_TARGET_BACKEND_H_

#include "target/target.h"

// `out` comes with named and described entries; the backend adds the data and the memory sizes.
bool backend_llvm(const target_t* target, ir_op_t* const* funcs, uint32_t count,
                  const target_compile_options_t* options, target_executable_t* out, text_t* error);
bool backend_vmvx(const target_t* target, ir_op_t* const* funcs, uint32_t count,
                  const target_compile_options_t* options, target_executable_t* out, text_t* error);

// Writes module_<name>_<format><suffix> into `directory` (NULL target: without the format); NULL directory: nothing to
// do.
bool dump_write(const char* directory, const target_t* target, const char* name, const char* suffix, const void* data,
                size_t size, text_t* error);
// The same with the file's whole name; the directory must be given.
bool dump_write_file(const char* directory, const char* name, const void* data, size_t size, text_t* error);

#endif  // IREE_C_TARGET_BACKEND_H_
