// Lookup and the message for unknown names.
#include "target/names.h"

#include <string.h>

#include "base/near.h"
#include "base/processors/names.h"

int names_find(const void* rows, uint32_t count, size_t stride, const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    const char* const* row = (const void*)((const char*)rows + stride * i);
    if (processor_name_is(*row, name)) return (int)i;
  }
  return -1;
}

void names_report(text_t* error, const char* what, const char* name, const char* (*at)(uint32_t index)) {
  enum { SHOWN = 4 };
  const char* best[SHOWN] = {NULL};
  uint32_t distance[SHOWN];
  uint32_t found = 0;
  for (uint32_t i = 0; at(i); ++i) {
    uint32_t d = near_distance(name, strlen(name), at(i)), place = found;
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
