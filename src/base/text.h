// A growing string, for printers and messages. Not thread safe. When memory runs out, the scope ends (memory.h); in a
// thread without a scope the text stays as it is, so that a message is cut.
#ifndef IREE_C_BASE_TEXT_H_
#define IREE_C_BASE_TEXT_H_

#include <stdarg.h>
#include <stddef.h>

// Zero-initialise, use, text_finish. `data` is NUL-terminated once anything was appended;
// memory_free frees it too.
typedef struct text_t {
  char* data;
  size_t size;
  size_t capacity;
} text_t;

void text_finish(text_t* text);
void text_append(text_t* text, const char* data, size_t size);
void text_puts(text_t* text, const char* string);
void text_printf(text_t* text, const char* format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(text_t* text, const char* format, va_list args);
void text_indent(text_t* text, int columns);

#endif  // IREE_C_BASE_TEXT_H_
