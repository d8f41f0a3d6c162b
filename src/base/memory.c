// See memory.h. A block's links are in front of it, so that it can leave its scope from the middle; without a scope it
// is a ring of its own.
#include "base/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(memory_block_t) % 16 == 0, "blocks stay aligned");

static _Thread_local memory_scope_t* current;

//===----------------------------------------------------------------------------------------------------------------===
// Rings
//===----------------------------------------------------------------------------------------------------------------===

#define RING_RESET(ring) ((ring)->previous = (ring)->next = (ring))
#define RING_IS_EMPTY(ring) ((ring)->next == (ring))
#define RING_REMOVE(node)                      \
  do {                                         \
    (node)->previous->next = (node)->next;     \
    (node)->next->previous = (node)->previous; \
    RING_RESET(node);                          \
  } while (0)
#define RING_ADD(ring, node)         \
  do {                               \
    (node)->previous = (ring);       \
    (node)->next = (ring)->next;     \
    (node)->next->previous = (node); \
    (ring)->next = (node);           \
  } while (0)
// Everything in `from` comes in front of what `to` has.
#define RING_MOVE(to, from)                  \
  do {                                       \
    if (RING_IS_EMPTY(from)) break;          \
    (from)->previous->next = (to)->next;     \
    (to)->next->previous = (from)->previous; \
    (from)->next->previous = (to);           \
    (to)->next = (from)->next;               \
    RING_RESET(from);                        \
  } while (0)

//===----------------------------------------------------------------------------------------------------------------===
// Scopes
//===----------------------------------------------------------------------------------------------------------------===

bool memory_scope_run(memory_scope_t* scope, void (*body)(void* user), void* user) {
  scope->outer = current;
  scope->wanted = 0;
  RING_RESET(&scope->blocks);
  RING_RESET(&scope->cleanups);
  current = scope;
  bool fits = setjmp(scope->exit) == 0;
  if (fits) body(user);
  current = scope->outer;
  return fits;
}

void memory_scope_drop(memory_scope_t* scope) {
  while (!RING_IS_EMPTY(&scope->cleanups)) {
    memory_cleanup_t* cleanup = scope->cleanups.next;
    RING_REMOVE(cleanup);
    cleanup->run(cleanup->user);
  }
  while (!RING_IS_EMPTY(&scope->blocks)) memory_free(scope->blocks.next + 1);
}

static void make_nobodys(memory_scope_t* scope) {
  while (!RING_IS_EMPTY(&scope->cleanups)) RING_REMOVE(scope->cleanups.next);
  for (memory_block_t* block; !RING_IS_EMPTY(&scope->blocks);) {
    block = scope->blocks.next;
    RING_REMOVE(block);
  }
}

void memory_scope_adopt(memory_scope_t* scope) {
  if (!current) {
    make_nobodys(scope);
    return;
  }
  RING_MOVE(&current->blocks, &scope->blocks);
  RING_MOVE(&current->cleanups, &scope->cleanups);
}

void memory_scope_abandon(memory_scope_t* scope) {
  while (current != scope->outer) {
    memory_scope_t* inner = current;
    current = inner->outer;
    memory_scope_drop(inner);
  }
}

void memory_exhausted(size_t wanted) {
  memory_scope_t* scope = current;
  assert(scope && "memory ran out where nobody opened a scope");
  if (!scope) __builtin_trap();
  scope->wanted = wanted;
  memory_scope_drop(scope);
  longjmp(scope->exit, 1);
}

bool memory_has_scope(void) { return current != NULL; }

void memory_cleanup_add(memory_cleanup_t* cleanup, void (*run)(void* user), void* user) {
  cleanup->run = run;
  cleanup->user = user;
  if (current) {
    RING_ADD(&current->cleanups, cleanup);
  } else {
    RING_RESET(cleanup);
  }
}

void memory_cleanup_remove(memory_cleanup_t* cleanup) {
  if (cleanup->next) RING_REMOVE(cleanup);
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks
//===----------------------------------------------------------------------------------------------------------------===

// The current scope's from now on.
static void* own(memory_block_t* block) {
  if (!block) return NULL;
  if (current) {
    RING_ADD(&current->blocks, block);
  } else {
    RING_RESET(block);
  }
  return block + 1;
}

void* memory_alloc(size_t size) { return memory_resize(NULL, size); }

void* memory_array(size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) memory_exhausted(SIZE_MAX);
  return memory_alloc(count * size);
}

void* memory_resize_or_null(void* block, size_t size) {
  size_t total = size <= SIZE_MAX - sizeof(memory_block_t) ? sizeof(memory_block_t) + size : SIZE_MAX;
  if (!block) return own(calloc(1, total));
  memory_block_t* old = (memory_block_t*)block - 1;
  memory_block_t *previous = old->previous, *next = old->next;
  bool is_alone = next == old;
  memory_block_t* moved = realloc(old, total);
  if (!moved) return NULL;
  if (is_alone) {
    RING_RESET(moved);
  } else {
    previous->next = next->previous = moved;
  }
  return moved + 1;
}

void* memory_resize(void* block, size_t size) {
  void* moved = memory_resize_or_null(block, size);
  if (!moved) memory_exhausted(size);
  return moved;
}

char* memory_strdup(const char* text) {
  size_t size = strlen(text) + 1;
  return memcpy(memory_alloc(size), text, size);
}

void memory_free(void* block) {
  if (!block) return;
  memory_block_t* links = (memory_block_t*)block - 1;
  RING_REMOVE(links);
  free(links);
}
