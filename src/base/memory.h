// Memory that may run out. What the compiler allocates belongs to a scope; when the system has no more, the scope ends
// as a whole: everything allocated in it is freed, and memory_scope_run returns false where the scope began. So no code
// between has to look at what an allocation returned, and nothing leaks.
//
//   memory_scope_t scope;
//   if (!memory_scope_run(&scope, compile, &job)) return report("out of memory");   // all that `compile` had is gone
//   memory_scope_drop(&scope);                                                      // so is what it did not free
//
// Each thread has its own scopes, which nest. A block is freed or resized by the thread whose scope it belongs to;
// memory_scope_adopt hands a thread's blocks to another once it is done. What must outlive a scope (files that stay
// mapped, results that the caller frees) is allocated with malloc and checked, or registered as a clean-up.
//
// Without a scope the functions work as well, but there is no way back when memory runs out: every entry point of the
// compiler's libraries and every tool opens one.
#ifndef IREE_C_BASE_MEMORY_H_
#define IREE_C_BASE_MEMORY_H_

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

// In front of each block.
typedef struct memory_block_t {
  struct memory_block_t *previous, *next;
} memory_block_t;

// Part of an object that has more to give back than memory: `run(user)` is called when the scope ends early or is
// dropped, newest first, before the scope's memory is freed. It must not allocate.
typedef struct memory_cleanup_t {
  struct memory_cleanup_t *previous, *next;
  void (*run)(void* user);
  void* user;
} memory_cleanup_t;

typedef struct memory_scope_t {
  struct memory_scope_t* outer;  // of the same thread
  memory_block_t blocks;         // a ring
  memory_cleanup_t cleanups;     // a ring, newest first
  size_t wanted;                 // bytes that were not to be had
  jmp_buf exit;
} memory_scope_t;

// Calls body(user) in a new scope. True: what was allocated and is not freed stays with the scope, for
// memory_scope_drop or memory_scope_adopt; one of them must follow. False: memory ran out and the scope is empty.
bool memory_scope_run(memory_scope_t* scope, void (*body)(void* user), void* user);
// Runs the clean-ups and frees the blocks.
void memory_scope_drop(memory_scope_t* scope);
// Blocks and clean-ups become the calling thread's scope's, or nobody's where it has none.
void memory_scope_adopt(memory_scope_t* scope);
// Ends scopes of the calling thread up to `scope` whose memory_scope_run will not return, since something jumped over
// it: as memory_scope_drop, and the thread is where it was before.
void memory_scope_abandon(memory_scope_t* scope);

// Zeroed, 16-byte aligned, never NULL; size 0 is fine.
void* memory_alloc(size_t size);
// `count` elements; what does not fit a size_t is memory that is not to be had.
void* memory_array(size_t count, size_t size);
// Keeps the first bytes; what is new is not zeroed. NULL is allocated.
void* memory_resize(void* block, size_t size);
// The same, but NULL when there is no memory, and `block` is as it was.
void* memory_resize_or_null(void* block, size_t size);
char* memory_strdup(const char* text);
// NULL is fine.
void memory_free(void* block);

// Ends the calling thread's scope for lack of `wanted` bytes. For those who got NULL from someone else's allocator.
void memory_exhausted(size_t wanted) __attribute__((noreturn));
// Whether there is a scope to end.
bool memory_has_scope(void);

void memory_cleanup_add(memory_cleanup_t* cleanup, void (*run)(void* user), void* user);
// Fine for one that was never added and is zeroed.
void memory_cleanup_remove(memory_cleanup_t* cleanup);

#endif  // IREE_C_BASE_MEMORY_H_
