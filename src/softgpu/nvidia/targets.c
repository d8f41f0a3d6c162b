// The GPUs that there are; by themselves, for tools that list them.
#include <string.h>

#include "base/processors/names.h"
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

// A product's architecture may be one for code of its own, sm_90a; its GPU is that of the number.
const nv_target_t* nv_target_find(const char* name) {
  const processor_name_t* product = processor_name_find(PROCESSOR_NVIDIA, name);
  size_t size = product ? 3 + strspn(product->arch + 3, "0123456789") : strlen(name);
  if (product) name = product->arch;
  for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); ++i) {
    if (strlen(targets[i].name) == size && strncmp(targets[i].name, name, size) == 0) return &targets[i];
  }
  return NULL;
}
