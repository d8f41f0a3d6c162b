// See text.h.
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_finish(text_t* text) {
  free(text->data);
  memset(text, 0, sizeof(*text));
}

static void reserve(text_t* text, size_t extra) {
  if (text->size + extra + 1 <= text->capacity) return;
  size_t capacity = text->capacity ? text->capacity * 2 : 256;
  while (capacity < text->size + extra + 1) capacity *= 2;
  text->data = realloc(text->data, capacity);
  if (!text->data) abort();
  text->capacity = capacity;
}

void text_append(text_t* text, const char* data, size_t size) {
  reserve(text, size);
  if (size) memcpy(text->data + text->size, data, size);
  text->size += size;
  text->data[text->size] = 0;
}

void text_puts(text_t* text, const char* string) { text_append(text, string, strlen(string)); }

void text_vprintf(text_t* text, const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  int size = vsnprintf(NULL, 0, format, args);
  if (size > 0) {
    reserve(text, (size_t)size);
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
