// See near.h. Levenshtein's distance, a row at a time.
#include "base/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST = 63 };

uint32_t near_distance(const char* a, size_t a_size, const char* b) {
  size_t b_size = strnlen(b, LONGEST);
  uint32_t row[LONGEST + 1];
  if (a_size > LONGEST) a_size = LONGEST;
  for (size_t j = 0; j <= b_size; ++j) row[j] = (uint32_t)j;
  for (size_t i = 1; i <= a_size; ++i) {
    uint32_t diagonal = row[0];
    row[0] = (uint32_t)i;
    for (size_t j = 1; j <= b_size; ++j) {
      bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
      uint32_t best = diagonal + !same;
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[b_size];
}

void near_offer(near_t* near, const char* candidate) {
  uint32_t distance = near_distance(near->name, near->size, candidate);
  if (distance >= near->distance) return;
  near->best = candidate;
  near->distance = distance;
}

// Short names are near everything.
const char* near_result(const near_t* near) {
  return near->best && near->distance <= 6 && near->distance < (near->size + 1) / 2 ? near->best : NULL;
}
