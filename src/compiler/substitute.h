// --iree-hal-substitute-executable-{source,configuration,object}: kernels and machine code that were edited by hand,
// in the place of what the compiler makes.
//
//   iree-compile ... --iree-hal-dump-executable-files-to=dump
//   (edit dump/module_main_dispatch_0.mlir, or assemble and link dump/module_main_dispatch_0_rocm_hsaco_fb.rocmasm)
//   iree-compile ... --iree-hal-substitute-executable-source=main_dispatch_0=edited.mlir
//   iree-compile ... --iree-hal-substitute-executable-object=main_dispatch_0=edited.hsaco
#ifndef IREE_C_COMPILER_SUBSTITUTE_H_
#define IREE_C_COMPILER_SUBSTITUTE_H_

#include "compiler/kernels.h"
#include "target/target.h"

// What stands for what: NAME=FILE items, and a folder of files called as those that are dumped.
typedef struct substitute_list_t {
  const char* const* items;
  uint32_t count;
  const char* folder;  // or NULL
} substitute_list_t;

typedef struct substitute_options_t {
  substitute_list_t sources;         // kernels as text, before or (they are the same here) after a strategy was chosen
  substitute_list_t configurations;  // later ones win
  substitute_list_t objects;         // code objects, PTX, shared libraries
} substitute_options_t;

// Puts kernels from files in the place of those of the same name. False after diagnostics.
bool substitute_kernels(ir_context_t* ctx, const substitute_options_t* options, kernel_list_t* kernels);

// Code that is not compiled but read from a file: an executable of its own. Dispatches that it is for have its number
// as their attribute `object`.
typedef struct substitute_object_t {
  const char* name;
  ir_op_t* func;                   // the kernel that it stands for, or NULL
  target_executable_t executable;  // entries as they were compiled or declared, the file's data
} substitute_object_t;

typedef struct substitute_objects_t {
  substitute_object_t* items;
  uint32_t count, capacity;
} substitute_objects_t;
substitute_object_t* substitute_objects_add(ir_context_t* ctx, substitute_objects_t* objects, const char* name);

// Takes kernels that files stand for out of `kernels` into `out`. Their dispatches get the attribute `object` (its
// number) and `entry` = 0; the others are numbered anew. False after diagnostics.
bool substitute_take_objects(ir_context_t* ctx, const substitute_options_t* options, const target_t* target,
                             ir_op_t* module, kernel_list_t* kernels, substitute_objects_t* out);
// A file's contents, with a zero behind, for memory_free. False after a diagnostic.
bool substitute_read_file(ir_context_t* ctx, const char* path, char** data, size_t* size);
// What speaks against code of the target having an entry of that name; or NULL.
const char* substitute_reason_against(const target_t* target, const char* data, size_t size, const char* kernel);
void substitute_objects_finish(substitute_objects_t* objects);

// Warns of names that no kernel has.
void substitute_check_names(ir_context_t* ctx, const substitute_options_t* options, const kernel_list_t* kernels);

#endif  // IREE_C_COMPILER_SUBSTITUTE_H_
