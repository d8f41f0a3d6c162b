// Which GPUs there are by IREE_SOFTGPU_TARGET and IREE_SOFTGPU_GPUS, and which of them ROCR_VISIBLE_DEVICES shows.
#include "softgpu/hsa/gpu_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(gpu_list_t* list, const char* name) {
  const isa_target_t* target = isa_target_find(name);
  const char* refusal = target ? isa_target_refusal(target) : "is no GPU";
  if (refusal) {
    fprintf(stderr, "softgpu: '%s' %s; iree-softgpu without arguments lists what is there\n", name, refusal);
    return false;
  }
  if (list->count == RUNTIME_MAX_GPUS) return fprintf(stderr, "softgpu: more than %u GPUs\n", list->count), false;
  uint32_t number = target->major << 8 | target->minor << 4 | target->stepping;
  char* uuid = list->uuids[list->count];
  snprintf(uuid, sizeof(list->uuids[0]), "GPU-%04x5f67%08x", number, list->count + 1);
  list->targets[list->count++] = target;
  return true;
}

bool gpu_list_read(gpu_list_t* list, const char* target, const char* gpus) {
  *list = (gpu_list_t){0};
  if (!target || !*target) target = "gfx1100";
  if (!gpus) return add(list, target);
  if (gpus[strspn(gpus, "0123456789")] == 0) {
    for (unsigned long i = 0, count = strtoul(gpus, NULL, 10); i < count; ++i) {
      if (!add(list, target)) return false;
    }
    return true;
  }
  for (const char* at = gpus; *at;) {
    char name[32];
    size_t size = strcspn(at, ",");
    snprintf(name, sizeof(name), "%.*s", (int)size, at);
    if (!add(list, name)) return false;
    at += size + (at[size] == ',');
  }
  return true;
}

// The GPU that a word names: its ordinal, or so much of its UUID that no other begins alike. The count when none is.
static uint32_t find(const gpu_list_t* list, const char* word, size_t size) {
  char* end;
  if (size && isdigit((unsigned char)*word)) {
    unsigned long number = strtoul(word, &end, 10);
    return end == word + size && number < list->count ? (uint32_t)number : list->count;
  }
  uint32_t found = list->count;
  for (uint32_t i = 0; size > strlen("GPU-") && i < list->count; ++i) {
    if (strncmp(list->uuids[i], word, size) != 0) continue;
    if (found != list->count) return list->count;
    found = i;
  }
  return found;
}

uint32_t gpu_list_select(const gpu_list_t* list, const char* visible, uint32_t* chosen) {
  uint32_t count = 0;
  for (uint32_t i = 0; !visible && i < list->count; ++i) chosen[count++] = i;
  for (const char* at = visible; at && *at;) {
    at += strspn(at, " ");
    size_t size = strcspn(at, ",");
    size_t word = size;
    while (word && at[word - 1] == ' ') --word;
    uint32_t number = find(list, at, word);
    for (uint32_t i = 0; i < count; ++i) {
      if (chosen[i] == number) number = list->count;
    }
    // What names none, or one again, ends the list: so does ROCm.
    if (number == list->count) break;
    chosen[count++] = number;
    at += size + (at[size] == ',');
  }
  return count;
}
