// LLVM's disassembler, one for each wave size. Some words that are no instruction make LLVM 22 run wild: what is known
// of them is refused beforehand, and the call is guarded.
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <stdio.h>

#include "softgpu/kernel.h"

enum { DISASSEMBLE_EXEC = 0x7e };  // the register's number

static void open_targets(void) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
}

static bool open_one(engine_t* engine, int i) {
  const isa_target_t* target = engine->target;
  char features[64] = "";
  if (isa_has_wave32(target)) {
    snprintf(features, sizeof(features), "%cwavefrontsize32,%cwavefrontsize64%s", i ? '-' : '+', i ? '+' : '-',
             target->major >= 11 ? ",+real-true16" : "");
  }
  engine->disassemblers[i] =
      LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", target->name, features, NULL, 0, NULL, NULL);
  return engine->disassemblers[i] != NULL;
}

bool disassemble_open(engine_t* engine, text_t* error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_targets);
  for (int i = isa_has_wave32(engine->target) ? 0 : 1; i < 2; ++i) {
    if (open_one(engine, i)) continue;
    text_printf(error, "LLVM cannot disassemble %s", engine->target->name);
    return false;
  }
  return true;
}

void disassemble_close(engine_t* engine) {
  for (int i = 0; i < 2; ++i) {
    if (engine->disassemblers[i]) LLVMDisasmDispose(engine->disassemblers[i]);
  }
}

typedef struct call_t {
  void* context;
  uint8_t bytes[32];
  uint64_t address;
  char* text;
  size_t capacity, used;
} call_t;

static void call_llvm(void* data) {
  call_t* call = data;
  call->used =
      LLVMDisasmInstruction(call->context, call->bytes, sizeof(call->bytes), call->address, call->text, call->capacity);
}

// SDWA of VOP1, VOP2 and VOPC with a selection that does not exist.
static bool is_bad_sdwa(const isa_target_t* target, const uint8_t* bytes) {
  uint32_t words[2];
  memcpy(words, bytes, sizeof(words));
  if (target->major < 8 || target->major > 10 || words[0] >> 31 || (words[0] & 511) != 0xf9) return false;
  bool compares = words[0] >> 25 == 62;
  return (!compares && ((words[1] >> 8 & 7) == 7 || (words[1] >> 11 & 3) == 3)) || (words[1] >> 16 & 7) == 7 ||
         (words[1] >> 24 & 7) == 7;
}

// Whether the bytes may be a v_cmpx in its long form. It writes EXEC whatever its field of the result says: LLVM since
// version 16 puts EXEC there, and no longer reads what older ones did.
static bool has_stale_result(const isa_target_t* target, const uint8_t* bytes) {
  enum { VOP3_OF_COMPARES = 0xd4 };
  return target->major >= 10 && bytes[3] == VOP3_OF_COMPARES && bytes[0] != DISASSEMBLE_EXEC;
}

static uint32_t disassemble_stale(call_t* call, size_t size) {
  call->bytes[0] = DISASSEMBLE_EXEC;
  bool ends = run_guarded(call_llvm, call) && call->used <= size;
  return ends && strncmp(call->text + strspn(call->text, "\t "), "v_cmpx", 6) == 0 ? (uint32_t)call->used : 0;
}

uint32_t disassemble(engine_t* engine, uint32_t lanes, const uint8_t* bytes, size_t size, uint64_t address, char* text,
                     size_t capacity) {
  int i = lanes == 64;
  // LLVM fails badly on a literal that is cut off, so there are always bytes enough.
  call_t call = {.context = engine->disassemblers[i], .address = address, .text = text, .capacity = capacity};
  if (size > sizeof(call.bytes)) size = sizeof(call.bytes);
  memcpy(call.bytes, bytes, size);
  if (!call.context || is_bad_sdwa(engine->target, call.bytes)) return 0;
  if (!run_guarded(call_llvm, &call)) {
    // What the call left behind is not to be trusted: the old context is abandoned.
    return open_one(engine, i), 0;
  }
  if (!call.used && has_stale_result(engine->target, call.bytes)) return disassemble_stale(&call, size);
  return call.used <= size ? (uint32_t)call.used : 0;
}
