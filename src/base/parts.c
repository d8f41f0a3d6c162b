// See parts.h.
#include "base/parts.h"

#include <string.h>

// Whether the marker at `at` is all that its line has.
static bool is_line(const char* text, const char* at, size_t size, const char* end) {
  if (at > text && at[-1] != '\n') return false;
  for (at += size; at < end && *at != '\n'; ++at) {
    if (*at != ' ' && *at != '\t' && *at != '\r') return false;
  }
  return true;
}

bool parts_next(parts_t* parts) {
  if (!parts->at) return false;
  size_t size = strlen(parts->marker);
  const char *at = parts->at, *end = parts->end, *stop = at;
  do {
    stop = memmem(stop, (size_t)(end - stop), parts->marker, size);
  } while (stop && !is_line(at, stop, size, end) && ++stop);
  const char* line = stop ? memchr(stop, '\n', (size_t)(end - stop)) : NULL;
  parts->data = at;
  parts->size = (size_t)((stop ? stop : end) - at);
  parts->at = line ? line + 1 : NULL;
  parts->lines = parts->next_lines;
  for (const char* c = at; line && c <= line; ++c) parts->next_lines += *c == '\n';
  return true;
}
