// See arena.h.
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

struct arena_chunk_t {
  arena_chunk_t* next;
  size_t size;
};

enum { MIN_CHUNK = 64 * 1024, ALIGNMENT = 16, HEADER = (sizeof(arena_chunk_t) + 15) / 16 * 16 };

void arena_init(arena_t* arena) { memset(arena, 0, sizeof(*arena)); }

void arena_finish(arena_t* arena) {
  for (arena_chunk_t *chunk = arena->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    memory_free(chunk);
  }
  memset(arena, 0, sizeof(*arena));
}

static void grow(arena_t* arena, size_t size) {
  size_t want = arena->chunks ? arena->chunks->size * 2 : MIN_CHUNK;
  if (want > ((size_t)16 << 20)) want = (size_t)16 << 20;
  if (want < size + HEADER) want = size + HEADER;
  arena_chunk_t* chunk = memory_alloc(want);
  chunk->next = arena->chunks;
  chunk->size = want;
  arena->chunks = chunk;
  arena->head = (char*)chunk + HEADER;
  arena->end = (char*)chunk + want;
}

void* arena_alloc(arena_t* arena, size_t size) {
  if (size > SIZE_MAX / 2) memory_exhausted(size);
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (size > (size_t)(arena->end - arena->head)) grow(arena, size);
  void* result = arena->head;
  arena->head += size;
  arena->total += size;
  return result;
}

void* arena_copy(arena_t* arena, const void* data, size_t size) {
  void* result = arena_alloc(arena, size ? size : 1);
  if (size) memcpy(result, data, size);
  return result;
}

char* arena_strndup(arena_t* arena, const char* text, size_t size) {
  char* result = arena_alloc(arena, size + 1);
  if (size) memcpy(result, text, size);
  return result;
}

char* arena_printf(arena_t* arena, const char* format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int size = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char* result = arena_alloc(arena, (size_t)(size < 0 ? 0 : size) + 1);
  if (size >= 0) vsnprintf(result, (size_t)size + 1, format, again);
  va_end(again);
  return result;
}
