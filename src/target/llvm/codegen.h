// LLVM modules -> machine code, and what surrounds it: the parts of an executable, linking, dumping.
#ifndef IREE_C_TARGET_LLVM_CODEGEN_H_
#define IREE_C_TARGET_LLVM_CODEGEN_H_

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "target/target.h"

typedef struct codegen_bytes_t {
  char* data;  // memory_alloc
  size_t size;
} codegen_bytes_t;

// Registers LLVM's targets; any number of calls from any thread.
void codegen_initialize(void);
// NULL after `error` got a message.
LLVMTargetMachineRef codegen_create_machine(const target_t* target, text_t* error);
bool codegen_emit(LLVMTargetMachineRef machine, LLVMModuleRef module, LLVMCodeGenFileType kind, codegen_bytes_t* out,
                  text_t* error);
// The same through a file-free memory buffer of LLVM bitcode or text, for dumps.
codegen_bytes_t codegen_print_module(LLVMModuleRef module);
codegen_bytes_t codegen_bitcode(LLVMModuleRef module);
codegen_bytes_t codegen_copy(const void* data, size_t size);

// The module with the executable library's tables and its query function (hal/local/executable_library.h).
typedef struct library_info_t {
  const char* name;
  const char* query_name;  // symbol of the query function
  ir_op_t* const* funcs;
  const target_entry_t* entries;
  uint32_t count;
  bool source_locations;
} library_info_t;
bool library_emit(LLVMModuleRef module, const library_info_t* info);

// Links objects in memory with lld; `args` are its options without the inputs and -o. Safe from any thread.
bool lld_link(const char* const* args, unsigned arg_count, const codegen_bytes_t* objects, unsigned object_count,
              codegen_bytes_t* out, text_t* error);

#endif  // IREE_C_TARGET_LLVM_CODEGEN_H_
