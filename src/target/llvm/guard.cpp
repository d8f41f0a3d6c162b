// See guard.h. LLVM's handlers, that of `operator new` and lld's exits jump out of the call.
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>

#include "llvm-c/Core.h"
#include "llvm/Analysis/CallGraphSCCPass.h"
#include "llvm/InitializePasses.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"

extern "C" {
#include "target/llvm/guard.h"
}

namespace {

struct frame_t {
  guard_t* guard;
  frame_t* outer;
  void (*body)(void* user);
  void* user;
  const void* stack_trace;  // LLVM's list of what the thread is doing
  bool has_error;           // reported to a context
  jmp_buf exit;
};

thread_local frame_t* current;
std::atomic<bool> is_broken;
std::atomic<unsigned> left_count;
enum { EXIT_FATAL = 1, EXIT_MEMORY = 2 };

void set_message(frame_t* frame, const char* text) {
  snprintf(frame->guard->message, sizeof(frame->guard->message), "%s", text && *text ? text : "no reason given");
}

// What LLVM does in threads without a guard is LLVM's affair.
void on_fatal(void*, const char* reason, bool) {
  if (!current) {
    fprintf(stderr, "LLVM ERROR: %s\n", reason);
    return;
  }
  set_message(current, reason);
  longjmp(current->exit, EXIT_FATAL);
}

void on_no_memory(void*, const char*, bool) {
  if (current) longjmp(current->exit, EXIT_MEMORY);
}

// Stands before whatever handler there was. An exception would do where there is memory to throw one.
std::new_handler previous_handler;
void on_new_failed() {
  if (current) longjmp(current->exit, EXIT_MEMORY);
  if (!previous_handler) throw std::bad_alloc();
  previous_handler();
}

void on_diagnostic(LLVMDiagnosticInfoRef info, void*) {
  if (!current || LLVMGetDiagInfoSeverity(info) != LLVMDSError || current->has_error) return;
  char* text = LLVMGetDiagInfoDescription(info);
  set_message(current, text);
  LLVMDisposeMessage(text);
  current->has_error = true;
}

void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(on_fatal);
    llvm::install_bad_alloc_error_handler(on_no_memory);
    previous_handler = std::set_new_handler(on_new_failed);
  });
}

guard_result_t call(frame_t* frame) {
  try {
    if (!memory_scope_run(&frame->guard->scope, frame->body, frame->user)) return GUARD_NO_MEMORY;
    return frame->has_error ? GUARD_FAILED : GUARD_DONE;
  } catch (const std::exception&) {  // sizes that no memory has
    frame->guard->left_llvm = true;
    return GUARD_NO_MEMORY;
  }
}

void nothing(void*) {}

}  // namespace

extern "C" guard_result_t guard_run(guard_t* guard, void (*body)(void* user), void* user) {
  install_handlers();
  guard->left_llvm = guard->is_fragile = false;
  guard->message[0] = 0;
  if (is_broken) {
    snprintf(guard->message, sizeof(guard->message),
             "LLVM ran out of memory while it was set up; this process cannot use it any more");
    memory_scope_run(&guard->scope, nothing, nullptr);
    return GUARD_FAILED;
  }
  frame_t frame = {guard, current, body, user, llvm::SavePrettyStackState(), false, {}};
  current = &frame;
  guard_result_t result;
  switch (setjmp(frame.exit)) {
    case 0:
      result = call(&frame);
      break;
    case EXIT_FATAL:
      guard->left_llvm = true;
      result = GUARD_FAILED;
      break;
    default:
      guard->left_llvm = true;
      result = GUARD_NO_MEMORY;
  }
  current = frame.outer;
  llvm::RestorePrettyStackState(frame.stack_trace);
  if (guard->left_llvm) memory_scope_abandon(&guard->scope);
  left_count += guard->left_llvm;
  if (result == GUARD_FAILED) memory_scope_drop(&guard->scope);
  if (guard->is_fragile && result == GUARD_NO_MEMORY && guard->left_llvm) is_broken = true;
  return result;
}

extern "C" void guard_register_passes(void) {
  llvm::PassRegistry& registry = *llvm::PassRegistry::getPassRegistry();
  for (auto* initialize :
       {llvm::initializeCore, llvm::initializeTransformUtils, llvm::initializeScalarOpts, llvm::initializeVectorization,
        llvm::initializeInstCombine, llvm::initializeIPO, llvm::initializeAnalysis, llvm::initializeCodeGen,
        llvm::initializeGlobalISel, llvm::initializeTarget,
        // What the groups leave out of what code generation and lld register when they first meet it.
        llvm::initializeComplexDeinterleavingLegacyPassPass, llvm::initializeDummyCGSCCPassPass,
        llvm::initializeExpandReductionsPass, llvm::initializeGlobalMergePass, llvm::initializeRegAllocScoringPass,
        llvm::initializeReplaceWithVeclibLegacyPass}) {
    initialize(registry);
  }
}

extern "C" unsigned guard_left_count(void) { return left_count; }

extern "C" void guard_watch(LLVMContextRef context) {
  LLVMContextSetDiagnosticHandler(context, on_diagnostic, nullptr);
}

extern "C" bool guard_finish(guard_t* guard, guard_result_t result, text_t* error) {
  if (result == GUARD_NO_MEMORY) memory_exhausted(guard->scope.wanted);
  if (result == GUARD_FAILED) text_puts(error, guard->message);
  if (result == GUARD_DONE) memory_scope_adopt(&guard->scope);
  return result == GUARD_DONE;
}

// lld ends the process when it cannot go on, after it has taken LLVM down with it. The linker sends its calls here.
extern "C" {
[[noreturn]] void __real__ZN4llvm3sys7Process4ExitEib(int code, bool no_cleanup);
[[noreturn]] void __wrap__ZN4llvm3sys7Process4ExitEib(int code, bool no_cleanup);
void __real__ZN4llvm13llvm_shutdownEv(void);
void __wrap__ZN4llvm13llvm_shutdownEv(void);
}

extern "C" void __wrap__ZN4llvm3sys7Process4ExitEib(int code, bool no_cleanup) {
  if (current) longjmp(current->exit, EXIT_FATAL);
  __real__ZN4llvm3sys7Process4ExitEib(code, no_cleanup);
}

extern "C" void __wrap__ZN4llvm13llvm_shutdownEv(void) {
  if (!current) __real__ZN4llvm13llvm_shutdownEv();
}
