// Target machines and code generation. No IR passes are run: kernels are emitted as clean SSA.
#include <llvm-c/BitWriter.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "target/llvm/codegen.h"

static void initialize_targets(void) {
#define TARGET(Name)                  \
  LLVMInitialize##Name##TargetInfo(); \
  LLVMInitialize##Name##Target();     \
  LLVMInitialize##Name##TargetMC();   \
  LLVMInitialize##Name##AsmPrinter();
  TARGET(X86)
  TARGET(AMDGPU)
  TARGET(NVPTX)
#undef TARGET
  LLVMInitializeX86AsmParser();
  LLVMInitializeAMDGPUAsmParser();
}

void codegen_initialize(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize_targets);
}

LLVMTargetMachineRef codegen_create_machine(const target_t* target, text_t* error) {
  codegen_initialize();
  LLVMTargetRef backend = NULL;
  char* message = NULL;
  if (LLVMGetTargetFromTriple(target->triple, &backend, &message)) {
    text_printf(error, "triple '%s': %s", target->triple, message ? message : "unknown");
    LLVMDisposeMessage(message);
    return NULL;
  }
  LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
  LLVMTargetMachineOptionsSetCPU(options, target->cpu);
  LLVMTargetMachineOptionsSetFeatures(options, target->features);
  LLVMTargetMachineOptionsSetCodeGenOptLevel(options, LLVMCodeGenLevelDefault);
  LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
  LLVMTargetMachineRef machine = LLVMCreateTargetMachineWithOptions(backend, target->triple, options);
  LLVMDisposeTargetMachineOptions(options);
  if (!machine) text_printf(error, "no machine for '%s' of '%s'", target->cpu, target->triple);
  return machine;
}

codegen_bytes_t codegen_copy(const void* data, size_t size) {
  codegen_bytes_t bytes = {.data = memory_alloc(size + 1), .size = size};
  memcpy(bytes.data, data, size);
  bytes.data[size] = 0;
  return bytes;
}

bool codegen_emit(LLVMTargetMachineRef machine, LLVMModuleRef module, LLVMCodeGenFileType kind, codegen_bytes_t* out,
                  text_t* error) {
  LLVMMemoryBufferRef buffer = NULL;
  char* message = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, kind, &message, &buffer)) {
    text_printf(error, "code generation: %s", message ? message : "failed");
    LLVMDisposeMessage(message);
    return false;
  }
  *out = codegen_copy(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
  LLVMDisposeMemoryBuffer(buffer);
  return true;
}

codegen_bytes_t codegen_print_module(LLVMModuleRef module) {
  char* text = LLVMPrintModuleToString(module);
  codegen_bytes_t bytes = codegen_copy(text, strlen(text));
  LLVMDisposeMessage(text);
  return bytes;
}

codegen_bytes_t codegen_bitcode(LLVMModuleRef module) {
  LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(module);
  codegen_bytes_t bytes = codegen_copy(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
  LLVMDisposeMemoryBuffer(buffer);
  return bytes;
}
