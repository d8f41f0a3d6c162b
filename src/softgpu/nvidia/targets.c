// The GPUs that there are; by themselves, for tools that list them.
#include <string.h>

#include "base/processors/names.h"
#include "softgpu/nvidia/engine.h"

// The same for all of them.
enum { REGISTERS_PER_UNIT = 65536, SHARED_PER_BLOCK = 48 << 10 };

enum {
#define ARCH(name, ptx, shared_kib, ...) SHARED_KIB_##name = shared_kib,
#include "base/processors/nvidia.def"
};

static const nv_target_t targets[] = {
#define GPU(arch, number, product_name, multiprocessors, threads, blocks, unit_shared_kib, memory_gib) \
  {.name = #arch,                                                                                      \
   .product = product_name,                                                                            \
   .architecture = number,                                                                             \
   .units = multiprocessors,                                                                           \
   .threads_per_unit = threads,                                                                        \
   .blocks_per_unit = blocks,                                                                          \
   .registers_per_unit = REGISTERS_PER_UNIT,                                                           \
   .shared_per_unit = unit_shared_kib << 10,                                                           \
   .shared_per_block = SHARED_PER_BLOCK,                                                               \
   .shared_per_block_most = SHARED_KIB_##arch << 10,                                                   \
   .memory = (uint64_t)memory_gib << 30},
#include "base/processors/nvidia.def"
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
