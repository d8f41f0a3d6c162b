// Parts of a text between lines that are a marker, as --split-input-file has them.
#ifndef IREE_C_BASE_PARTS_H_
#define IREE_C_BASE_PARTS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARTS_MARKER "// -----"

typedef struct parts_t {
  const char *at, *end;  // what is left; NULL behind the last part
  const char* marker;
  const char* data;  // the part
  size_t size;
  uint32_t lines, next_lines;  // before it, and before what is left
} parts_t;

static inline parts_t parts_begin(const char* text, size_t size, const char* marker) {
  return (parts_t){.at = text, .end = text + size, .marker = marker};
}
// Finds the next part, of which a text without a marker has one. False behind the last.
bool parts_next(parts_t* parts);

#endif  // IREE_C_BASE_PARTS_H_
