// LLVM modules -> machine code, and what surrounds it: the parts of an executable, linking, dumping.
#ifndef IREE_C_TARGET_LLVM_CODEGEN_H_
#define IREE_C_TARGET_LLVM_CODEGEN_H_

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "target/llvm/guard.h"
#include "target/target.h"

typedef struct codegen_bytes_t {
  char* data;  // memory_alloc
  size_t size;
} codegen_bytes_t;

// What LLVM holds for one module. Kept where a guard's body does not end, so that it is given back however that ends.
typedef struct codegen_unit_t {
  LLVMTargetMachineRef machine;
  LLVMContextRef context;
  LLVMModuleRef module, copy;
  LLVMBuilderRef builder;
  LLVMDIBuilderRef debug;
  LLVMMemoryBufferRef buffer;
  char* text;
} codegen_unit_t;

// Registers LLVM's targets, and has that of `target`, unless it is NULL, generate something once, see guard.h. Any
// number of calls from any thread. False after `error` got a message.
bool codegen_initialize(const target_t* target, text_t* error);

// Whether an executable has been made for a target in this process, from its kernels to the linker's end, so that
// nothing is left for LLVM to set up: until then guards are fragile.
bool codegen_is_proven(target_backend_t backend);
void codegen_set_proven(target_backend_t backend);

// Calls body(user) under a guard, and gives back what LLVM holds for the unit, where it may be touched.
guard_result_t codegen_guarded(guard_t* guard, codegen_unit_t* unit, void (*body)(void* user), void* user);

// The same as guard_finish; where the body came to its end but not to a result (`ok`), the error is what it `said`,
// which is freed.
bool codegen_finish(guard_t* guard, guard_result_t result, bool ok, text_t* said, text_t* error);

// All in guarded bodies. False after `error` got a message.
bool codegen_open(codegen_unit_t* unit, const target_t* target, const char* name, text_t* error);
bool codegen_emit(codegen_unit_t* unit, LLVMModuleRef module, LLVMCodeGenFileType kind, codegen_bytes_t* out,
                  text_t* error);
// Code generation for a context keeps instructions in the order they were written in, but for what selection does.
void codegen_keep_order(LLVMContextRef context);
// As text or bitcode, for dumps.
codegen_bytes_t codegen_print_module(codegen_unit_t* unit);
codegen_bytes_t codegen_bitcode(codegen_unit_t* unit);

// The module with the executable library's tables and its query function (hal/local/executable_library.h).
typedef struct library_info_t {
  const char* name;
  const char* query_name;  // symbol of the query function
  ir_op_t* const* funcs;
  const target_entry_t* entries;
  uint32_t count;
  const char* const* imports;  // functions of the runtime's plugins, in the order of their numbers
  uint32_t import_count;
  bool source_locations;
} library_info_t;
bool library_emit(LLVMModuleRef module, const library_info_t* info);

typedef struct lld_messages_t {
  char text[4096];
  size_t size;
} lld_messages_t;
// lld itself, under a guard and one at a time (lld.cpp); lld_reset after it was left in mid-call. What it writes, to
// whatever file, comes out in memory for lld_free; its name must be of none that can be there, since lld removes it.
#define LLD_NO_FILE "/dev/null/out"
bool lld_run(const char* const* argv, unsigned argc, lld_messages_t* messages, codegen_bytes_t* out);
void lld_free(void* data);
void lld_reset(void);

// Links objects in memory with lld; `args` are its options, and inputs in files, without -o. Safe from any thread.
bool lld_link(const char* const* args, unsigned arg_count, const codegen_bytes_t* objects, unsigned object_count,
              codegen_bytes_t* out, text_t* error);

#endif  // IREE_C_TARGET_LLVM_CODEGEN_H_
