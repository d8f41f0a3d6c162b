// Which GPUs there are by IREE_SOFTGPU_TARGET and IREE_SOFTGPU_GPUS, and which of them ROCR_VISIBLE_DEVICES shows.
#include "softgpu/hsa/gpu_list.h"

#include <stdio.h>

#include "softgpu/gpu_names.h"

static bool add(void* data, const char* name) {
  gpu_list_t* list = data;
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
  return gpu_names_each(target && *target ? target : "gfx1100", gpus, add, list);
}

uint32_t gpu_list_select(const gpu_list_t* list, const char* visible, uint32_t* chosen) {
  const char* uuids[RUNTIME_MAX_GPUS];
  for (uint32_t i = 0; i < list->count; ++i) uuids[i] = list->uuids[i];
  return gpu_names_select(uuids, list->count, visible, chosen);
}
