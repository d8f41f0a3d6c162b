// Target machines and code generation. No IR passes are run: kernels are emitted as clean SSA.
#include <llvm-c/BitWriter.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "target/llvm/codegen.h"

//===----------------------------------------------------------------------------------------------------------------===
// Units
//===----------------------------------------------------------------------------------------------------------------===

// Copies before it frees: what LLVM allocated is not lost when there is no memory for the message.
static bool fail(text_t* error, const char* what, char* message) {
  char text[512];
  snprintf(text, sizeof(text), "%s", message ? message : "failed");
  LLVMDisposeMessage(message);
  text_printf(error, "%s: %s", what, text);
  return false;
}

static LLVMTargetMachineRef create_machine(const target_t* target, text_t* error) {
  LLVMTargetRef backend = NULL;
  char* message = NULL;
  if (LLVMGetTargetFromTriple(target->triple, &backend, &message)) return fail(error, target->triple, message), NULL;
  text_t features = {0};
  // Halves of registers of their own make two moves of what one permutation does.
  bool has_halves = target->backend == TARGET_ROCM && strncmp(target->cpu, "gfx11", 5) == 0;
  if (has_halves) text_printf(&features, "%s%s-real-true16", target->features, *target->features ? "," : "");
  LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
  LLVMTargetMachineOptionsSetCPU(options, target->cpu);
  LLVMTargetMachineOptionsSetFeatures(options, features.data ? features.data : target->features);
  LLVMTargetMachineOptionsSetCodeGenOptLevel(options, LLVMCodeGenLevelDefault);
  if (*target->abi) LLVMTargetMachineOptionsSetABI(options, target->abi);
  LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
  LLVMTargetMachineRef machine = LLVMCreateTargetMachineWithOptions(backend, target->triple, options);
  text_finish(&features);
  LLVMDisposeTargetMachineOptions(options);
  if (!machine) text_printf(error, "no machine for '%s' of '%s'", target->cpu, target->triple);
  return machine;
}

bool codegen_open(codegen_unit_t* unit, const target_t* target, const char* name, text_t* error) {
  unit->machine = create_machine(target, error);
  if (!unit->machine) return false;
  unit->context = LLVMContextCreate();
  guard_watch(unit->context);
  if (target->backend == TARGET_LLVM_CPU && target->arch == TARGET_ARCH_X86) codegen_keep_order(unit->context);
  unit->module = LLVMModuleCreateWithNameInContext(name, unit->context);
  LLVMSetTarget(unit->module, target->triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(unit->machine);
  LLVMSetModuleDataLayout(unit->module, layout);
  LLVMDisposeTargetData(layout);
  return true;
}

static void close_unit(void* user) {
  codegen_unit_t* unit = user;
  if (unit->text) LLVMDisposeMessage(unit->text);
  if (unit->buffer) LLVMDisposeMemoryBuffer(unit->buffer);
  if (unit->debug) LLVMDisposeDIBuilder(unit->debug);
  if (unit->builder) LLVMDisposeBuilder(unit->builder);
  if (unit->copy) LLVMDisposeModule(unit->copy);
  if (unit->module) LLVMDisposeModule(unit->module);
  if (unit->context) LLVMContextDispose(unit->context);
  if (unit->machine) LLVMDisposeTargetMachine(unit->machine);
}

guard_result_t codegen_guarded(guard_t* guard, codegen_unit_t* unit, void (*body)(void* user), void* user) {
  guard_t closing;
  guard_result_t result = guard_run(guard, body, user);
  if (!guard->left_llvm && guard_run(&closing, close_unit, unit) == GUARD_DONE) memory_scope_drop(&closing.scope);
  *unit = (codegen_unit_t){0};
  return result;
}

bool codegen_finish(guard_t* guard, guard_result_t result, bool ok, text_t* said, text_t* error) {
  if (!guard_finish(guard, result, error)) return false;
  if (!ok) text_puts(error, said->data ? said->data : "code generation failed");
  text_finish(said);
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// What comes out
//===----------------------------------------------------------------------------------------------------------------===

static codegen_bytes_t copy_bytes(const void* data, size_t size) {
  codegen_bytes_t bytes = {.data = memory_alloc(size + 1), .size = size};
  memcpy(bytes.data, data, size);
  return bytes;
}

// LLVM gives none when there is no memory for a copy of the code.
static codegen_bytes_t take_buffer(codegen_unit_t* unit) {
  if (!unit->buffer) memory_exhausted(0);
  codegen_bytes_t bytes = copy_bytes(LLVMGetBufferStart(unit->buffer), LLVMGetBufferSize(unit->buffer));
  LLVMDisposeMemoryBuffer(unit->buffer);
  unit->buffer = NULL;
  return bytes;
}

bool codegen_emit(codegen_unit_t* unit, LLVMModuleRef module, LLVMCodeGenFileType kind, codegen_bytes_t* out,
                  text_t* error) {
  char* message = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(unit->machine, module, kind, &message, &unit->buffer)) {
    return fail(error, "code generation", message);
  }
  *out = take_buffer(unit);
  return true;
}

codegen_bytes_t codegen_print_module(codegen_unit_t* unit) {
  unit->text = LLVMPrintModuleToString(unit->module);
  if (!unit->text) memory_exhausted(0);
  codegen_bytes_t bytes = copy_bytes(unit->text, strlen(unit->text));
  LLVMDisposeMessage(unit->text);
  unit->text = NULL;
  return bytes;
}

codegen_bytes_t codegen_bitcode(codegen_unit_t* unit) {
  unit->buffer = LLVMWriteBitcodeToMemoryBuffer(unit->module);
  return take_buffer(unit);
}

static atomic_bool proven[TARGET_BACKEND_COUNT];
bool codegen_is_proven(target_backend_t backend) { return proven[backend]; }
void codegen_set_proven(target_backend_t backend) { proven[backend] = true; }

//===----------------------------------------------------------------------------------------------------------------===
// Initialization
//===----------------------------------------------------------------------------------------------------------------===

static void register_targets(void* user) {
  ((guard_t*)user)->is_fragile = true;
  guard_register_passes();
  LLVMInitializeAllTargetInfos();
  LLVMInitializeAllTargets();
  LLVMInitializeAllTargetMCs();
  LLVMInitializeAllAsmPrinters();
  LLVMInitializeAllAsmParsers();
}

// An empty function sets up what LLVM makes when a target is first used.
typedef struct first_t {
  const target_t* target;
  guard_t guard;
  codegen_unit_t unit;
  text_t error;
  bool ok;
} first_t;

static void generate_first(void* user) {
  first_t* f = user;
  f->guard.is_fragile = true;
  if (!codegen_open(&f->unit, f->target, "first", &f->error)) return;
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(f->unit.context), NULL, 0, false);
  LLVMValueRef function = LLVMAddFunction(f->unit.module, "first", type);
  f->unit.builder = LLVMCreateBuilderInContext(f->unit.context);
  LLVMPositionBuilderAtEnd(f->unit.builder, LLVMAppendBasicBlockInContext(f->unit.context, function, ""));
  LLVMBuildRetVoid(f->unit.builder);
  LLVMCodeGenFileType kind = f->target->backend == TARGET_CUDA ? LLVMAssemblyFile : LLVMObjectFile;
  codegen_bytes_t code;
  f->ok = codegen_emit(&f->unit, f->unit.module, kind, &code, &f->error);
}

// All passes are registered here, so that nobody writes to LLVM's table of them later: a call that is left for want of
// memory while it reads the table never lets go of it.
bool codegen_initialize(const target_t* target, text_t* error) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static atomic_bool is_registered, is_ready[TARGET_BACKEND_COUNT + TARGET_ARCH_COUNT];
  uint32_t number = !target ? 0 : target->arch ? TARGET_BACKEND_COUNT + (uint32_t)target->arch : target->backend;
  first_t first = {.target = target, .ok = true};
  guard_result_t result = GUARD_DONE;
  bool had_guard = false;
  if (is_registered && (!target || is_ready[number])) return true;
  pthread_mutex_lock(&lock);
  if (!is_registered) {
    result = guard_run(&first.guard, register_targets, &first.guard);
    is_registered = result == GUARD_DONE;
    if (is_registered) memory_scope_drop(&first.guard.scope);
  }
  if (result == GUARD_DONE && target && !is_ready[number]) {
    first.ok = false;
    result = codegen_guarded(&first.guard, &first.unit, generate_first, &first);
    had_guard = true;
    is_ready[number] = result == GUARD_DONE && first.ok;
  }
  pthread_mutex_unlock(&lock);
  if (result == GUARD_DONE && !had_guard) return true;
  return codegen_finish(&first.guard, result, first.ok, &first.error, error);
}
