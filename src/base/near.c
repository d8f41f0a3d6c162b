// See near.h. Distance of optimal string alignment (Damerau's, no piece edited twice), three rows at a time.
#include "base/near.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST = 63 };

static bool same_letter(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

// The distance, and that to the nearest beginning of `b`.
static uint32_t measure(const char* a, size_t a_size, const char* b, uint32_t* out_beginning) {
  size_t b_size = strnlen(b, LONGEST);
  uint32_t rows[3][LONGEST + 1];
  if (a_size > LONGEST) a_size = LONGEST;
  for (size_t j = 0; j <= b_size; ++j) rows[0][j] = (uint32_t)j;
  for (size_t i = 1; i <= a_size; ++i) {
    uint32_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
    row[0] = (uint32_t)i;
    for (size_t j = 1; j <= b_size; ++j) {
      uint32_t best = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
      if (above[j] + 1 < best) best = above[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
      if (swapped && second[j - 2] + 1 < best) best = second[j - 2] + 1;
      row[j] = best;
    }
  }
  const uint32_t* last = rows[a_size % 3];
  *out_beginning = last[0];
  for (size_t j = 1; j <= b_size; ++j) *out_beginning = last[j] < *out_beginning ? last[j] : *out_beginning;
  return last[b_size];
}

uint32_t near_distance(const char* a, size_t a_size, const char* b) {
  uint32_t beginning;
  return measure(a, a_size, b, &beginning);
}

// What was left out at the end counts as one change, where the rest is right or nearly so.
void near_offer(near_t* near, const char* candidate) {
  uint32_t beginning, distance = measure(near->name, near->size, candidate, &beginning);
  bool cut = near->size >= 3 && beginning <= 1 && beginning + 1 < distance;
  if (cut) distance = beginning + 1;
  bool shorter = cut && distance == near->distance && strlen(candidate) < strlen(near->best);
  if (distance >= near->distance && !shorter) return;
  near->best = candidate;
  near->distance = distance;
}

// Short names are near everything.
const char* near_result(const near_t* near) {
  return near->best && near->distance <= 6 && near->distance < (near->size + 1) / 2 ? near->best : NULL;
}
