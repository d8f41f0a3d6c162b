// Edit distance and the message for unknown names.
#include "target/names.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

int names_find(const void* rows, uint32_t count, size_t stride, const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    const char* const* row = (const void*)((const char*)rows + stride * i);
    if (strcasecmp(*row, name) == 0) return (int)i;
  }
  return -1;
}

uint32_t names_distance(const char* a, const char* b) {
  enum { LONGEST = 63 };
  size_t size_a = strnlen(a, LONGEST), size_b = strnlen(b, LONGEST);
  uint32_t row[LONGEST + 1];
  for (size_t j = 0; j <= size_b; ++j) row[j] = (uint32_t)j;
  for (size_t i = 1; i <= size_a; ++i) {
    uint32_t diagonal = row[0];
    row[0] = (uint32_t)i;
    for (size_t j = 1; j <= size_b; ++j) {
      bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
      uint32_t best = diagonal + !same;
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[size_b];
}

void names_report(text_t* error, const char* what, const char* name, const char* (*at)(uint32_t index)) {
  enum { SHOWN = 4 };
  const char* best[SHOWN] = {NULL};
  uint32_t distance[SHOWN];
  uint32_t found = 0;
  for (uint32_t i = 0; at(i); ++i) {
    uint32_t d = names_distance(name, at(i)), place = found;
    while (place > 0 && distance[place - 1] > d) --place;
    if (place >= SHOWN) continue;
    if (found < SHOWN) ++found;
    for (uint32_t j = found - 1; j > place; --j) best[j] = best[j - 1], distance[j] = distance[j - 1];
    best[place] = at(i);
    distance[place] = d;
  }
  text_printf(error, "Unknown %s target '%s'", what, name);
  for (uint32_t i = 0; i < found; ++i) {
    text_printf(error, "%s'%s'", i == 0 ? "; nearest names: " : ", ", best[i]);
  }
}
