// Links programs: functions without a body get the one that another module has for them, with what that needs.
//
// A function `@module.name` is the public function @name of the module @module, `@name` that of a module without a
// name. Modules come from files that are named, several in one file if they are nested, and from folders that are
// searched for module.mlir and module.mlirbc.
#ifndef IREE_C_COMPILER_LINK_H_
#define IREE_C_COMPILER_LINK_H_

#include "compiler/source.h"

// Files that are read, to be closed after the context is gone.
typedef struct link_sources_t {
  source_file_t** files;
  uint32_t count, capacity;
} link_sources_t;

typedef struct link_options_t {
  const char* const* modules;  // files
  uint32_t module_count;
  const char* const* library_paths;
  uint32_t library_path_count;
} link_options_t;

// The file's module, verified, or NULL after diagnostics.
ir_op_t* link_load(ir_context_t* ctx, const char* path, link_sources_t* sources);
void link_sources_finish(link_sources_t* sources);

// Gives the functions of `module` their bodies. What they need comes along, private and under another name where it is
// taken. Globals of others are refused. False after diagnostics.
bool link_module(ir_context_t* ctx, ir_op_t* module, const link_options_t* options, link_sources_t* sources);

// A module of all modules: those with a name are nested, what is in others is beside them, private symbols under
// another name where it is taken. NULL after diagnostics.
ir_op_t* link_bundle(ir_context_t* ctx, const link_options_t* options, link_sources_t* sources);

// Whether the op is a function with a body that others may call.
bool link_is_public(const ir_op_t* op);

#endif  // IREE_C_COMPILER_LINK_H_
