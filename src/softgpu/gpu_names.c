// Lists of GPUs by name.
#include "softgpu/gpu_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gpu_names_each(const char* target, const char* gpus, bool (*add)(void* data, const char* name), void* data) {
  if (!gpus) return add(data, target);
  if (gpus[strspn(gpus, "0123456789")] == 0) {
    for (unsigned long i = 0, count = strtoul(gpus, NULL, 10); i < count; ++i) {
      if (!add(data, target)) return false;
    }
    return true;
  }
  for (const char* at = gpus; *at;) {
    char name[32];
    size_t size = strcspn(at, ",");
    snprintf(name, sizeof(name), "%.*s", (int)size, at);
    if (!add(data, name)) return false;
    at += size + (at[size] == ',');
  }
  return true;
}

// The GPU that a word names; the count when none is.
static uint32_t find(const char* const* uuids, uint32_t count, const char* word, size_t size) {
  char* end;
  if (size && isdigit((unsigned char)*word)) {
    unsigned long number = strtoul(word, &end, 10);
    return end == word + size && number < count ? (uint32_t)number : count;
  }
  uint32_t found = count;
  for (uint32_t i = 0; size > strlen("GPU-") && i < count; ++i) {
    if (strncmp(uuids[i], word, size) != 0) continue;
    if (found != count) return count;
    found = i;
  }
  return found;
}

uint32_t gpu_names_select(const char* const* uuids, uint32_t count, const char* visible, uint32_t* chosen) {
  uint32_t chosen_count = 0;
  for (uint32_t i = 0; !visible && i < count; ++i) chosen[chosen_count++] = i;
  for (const char* at = visible; at && *at;) {
    at += strspn(at, " ");
    size_t size = strcspn(at, ","), word = size;
    while (word && at[word - 1] == ' ') --word;
    uint32_t number = find(uuids, count, at, word);
    for (uint32_t i = 0; i < chosen_count; ++i) {
      if (chosen[i] == number) number = count;
    }
    if (number == count) break;
    chosen[chosen_count++] = number;
    at += size + (at[size] == ',');
  }
  return chosen_count;
}
