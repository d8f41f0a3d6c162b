// See text.h.
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void text_finish(text_t* text) {
  memory_free(text->data);
  memset(text, 0, sizeof(*text));
}

static bool reserve(text_t* text, size_t extra) {
  if (text->size + extra + 1 <= text->capacity) return true;
  size_t capacity = text->capacity ? text->capacity * 2 : 256;
  while (capacity < text->size + extra + 1) capacity *= 2;
  char* data = memory_resize_or_null(text->data, capacity);
  if (!data && memory_has_scope()) memory_exhausted(capacity);
  if (!data) return false;
  text->data = data;
  text->capacity = capacity;
  return true;
}

void text_append(text_t* text, const char* data, size_t size) {
  if (!reserve(text, size)) return;
  if (size) memcpy(text->data + text->size, data, size);
  text->size += size;
  text->data[text->size] = 0;
}

void text_puts(text_t* text, const char* string) { text_append(text, string, strlen(string)); }

void text_vprintf(text_t* text, const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  int size = vsnprintf(NULL, 0, format, args);
  if (size > 0 && reserve(text, (size_t)size)) {
    vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
    text->size += (size_t)size;
  }
  va_end(again);
}

void text_printf(text_t* text, const char* format, ...) {
  va_list args;
  va_start(args, format);
  text_vprintf(text, format, args);
  va_end(args);
}

void text_indent(text_t* text, int columns) {
  for (int i = 0; i < columns; ++i) text_append(text, " ", 1);
}
