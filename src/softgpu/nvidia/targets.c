// The GPUs that there are; by themselves, for tools that list them.
#include <string.h>

#include "softgpu/nvidia/engine.h"

static const nv_target_t targets[] = {
#define TARGET(name, product, architecture, units, threads, blocks, registers, shared, block, most, gib) \
  {name, product, architecture, units, threads, blocks, registers, shared, block, most, (uint64_t)(gib) << 30},
#include "isa/nvidia/targets.def"
#undef TARGET
};

const nv_target_t* nv_target_at(uint32_t index) {
  return index < sizeof(targets) / sizeof(targets[0]) ? &targets[index] : NULL;
}

const nv_target_t* nv_target_find(const char* name) {
  for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); ++i) {
    if (strcmp(targets[i].name, name) == 0) return &targets[i];
  }
  return NULL;
}
