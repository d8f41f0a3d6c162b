// Bump allocation for objects that live and die together (an IR module, a compilation). Memory comes in growing
// chunks, is zeroed, and is freed all at once. Not thread safe.
#ifndef IREE_C_BASE_ARENA_H_
#define IREE_C_BASE_ARENA_H_

#include <stddef.h>

typedef struct arena_chunk_t arena_chunk_t;
typedef struct arena_t {
  arena_chunk_t* chunks;  // newest first
  char* head;
  char* end;
  size_t total;  // bytes handed out, for statistics
} arena_t;

void arena_init(arena_t* arena);
void arena_finish(arena_t* arena);

// Zeroed, 16-byte aligned, never NULL: when memory runs out, the scope ends (memory.h).
void* arena_alloc(arena_t* arena, size_t size);
void* arena_copy(arena_t* arena, const void* data, size_t size);
// NUL-terminated copy of `size` characters.
char* arena_strndup(arena_t* arena, const char* text, size_t size);
char* arena_printf(arena_t* arena, const char* format, ...) __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(arena, type) ((type*)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type*)arena_alloc((arena), sizeof(type) * (size_t)(count)))

#endif  // IREE_C_BASE_ARENA_H_
