// LLVM's disassembler, one for each wave size.
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include "softgpu/kernel.h"

static void open_targets(void) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
}

bool disassemble_open(engine_t* engine, text_t* error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_targets);
  const isa_target_t* target = engine->target;
  for (int i = 0; i < 2; ++i) {
    if (i == 0 && !isa_has_wave32(target)) continue;
    const char* features = !isa_has_wave32(target) ? ""
                           : target->major >= 11   ? i ? "+wavefrontsize64,-wavefrontsize32,+real-true16"
                                                       : "+wavefrontsize32,-wavefrontsize64,+real-true16"
                           : i                     ? "+wavefrontsize64,-wavefrontsize32"
                                                   : "+wavefrontsize32,-wavefrontsize64";
    engine->disassemblers[i] =
        LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", target->name, features, NULL, 0, NULL, NULL);
    if (!engine->disassemblers[i]) {
      text_printf(error, "LLVM cannot disassemble %s", target->name);
      return false;
    }
  }
  return true;
}

void disassemble_close(engine_t* engine) {
  for (int i = 0; i < 2; ++i) {
    if (engine->disassemblers[i]) LLVMDisasmDispose(engine->disassemblers[i]);
  }
}

uint32_t disassemble(engine_t* engine, uint32_t lanes, const uint8_t* bytes, size_t size, uint64_t address, char* text,
                     size_t capacity) {
  void* context = engine->disassemblers[lanes == 64];
  if (!context) return 0;
  // The function does not write to `bytes`.
  return (uint32_t)LLVMDisasmInstruction(context, (uint8_t*)bytes, size > 32 ? 32 : size, address, text, capacity);
}
