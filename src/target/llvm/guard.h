// Calls into LLVM and lld, whose ways of ending the process end the call instead: fatal errors (an intrinsic that the
// processor does not have), errors that LLVM reports to its context, lld's exits, and memory that runs out in them.
//
// What LLVM was working on when it failed is not touched again: its context, module and target machine are left as they
// are, and their memory is lost. When the memory of our own code runs out, nothing is lost, since LLVM is not left in
// mid-call.
//
// How far this is safe: LLVM's code releases no lock when it is left. In a process that has made an executable for a
// target, from kernels to the linker's end, nothing is locked while LLVM allocates: memory may run out anywhere and the
// process goes on. The first time, passes and targets register themselves under global locks. codegen_initialize does
// what it can of that for one thread at a time, and guards are fragile until a target's first executable is done: when
// memory runs out in one, LLVM is not used again in this process, and every later guard_run fails.
// Failed assertions of LLVM (its packages have none) and memory that the system promised and does not have still end
// the process; so does glibc when it has none for noting the destructor of a thread's variable, of which lld has three
// (some 40 bytes each, in a thread's first link).
#ifndef IREE_C_TARGET_LLVM_GUARD_H_
#define IREE_C_TARGET_LLVM_GUARD_H_

#include <llvm-c/Types.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/text.h"

typedef enum { GUARD_DONE, GUARD_FAILED, GUARD_NO_MEMORY } guard_result_t;

typedef struct guard_t {
  memory_scope_t scope;  // what `body` allocated, as after memory_scope_run: the caller drops or adopts it
  char message[512];     // with GUARD_FAILED
  bool left_llvm;        // in mid-call: what it worked on must not be touched
  bool is_fragile;       // `body` may set it: LLVM holds global locks
} guard_t;

// Calls body(user). Safe from any thread; guards nest. After anything but GUARD_DONE the scope is empty.
guard_result_t guard_run(guard_t* guard, void (*body)(void* user), void* user);

// Has all passes register themselves but those that targets bring. The caller's guard is fragile.
void guard_register_passes(void);

// How often LLVM was left in mid-call in this process, each time with memory that is lost.
unsigned guard_left_count(void);

// Errors that LLVM reports to this context fail the calling thread's guard, but only when its body has returned.
void guard_watch(LLVMContextRef context);

// What becomes of a guard's result in the thread that asked for it: its memory is the current scope's, or that scope
// ends too. False after `error` got the message.
bool guard_finish(guard_t* guard, guard_result_t result, text_t* error);

#endif  // IREE_C_TARGET_LLVM_GUARD_H_
