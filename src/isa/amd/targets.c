// The table of base/processors/amd.def as isa_target_t.
#include <stddef.h>
#include <string.h>

#include "base/processors/names.h"
#include "isa/amd/isa.h"

static const isa_target_t targets[] = {
#define ARCH(arch, machine, generic, high, mid, low, lanes, lds, regs, cus, matrix, f16, bf16, ecc, retry) \
  {.name = #arch,                                                                                          \
   .major = high,                                                                                          \
   .minor = mid,                                                                                           \
   .stepping = low,                                                                                        \
   .wave = lanes,                                                                                          \
   .lds_kib = lds,                                                                                         \
   .registers = regs,                                                                                      \
   .units = cus,                                                                                           \
   .has_sramecc = ecc,                                                                                     \
   .has_xnack = retry},
#include "base/processors/amd.def"
};
enum { TARGET_COUNT = sizeof(targets) / sizeof(targets[0]) };

const isa_target_t* isa_target_at(uint32_t index) { return index < TARGET_COUNT ? &targets[index] : NULL; }

const isa_target_t* isa_target_find(const char* name) {
  const processor_name_t* product = processor_name_find(PROCESSOR_AMD, name);
  if (product) name = product->arch;
  size_t size = strcspn(name, ":");
  for (uint32_t i = 0; i < TARGET_COUNT; ++i) {
    if (strlen(targets[i].name) == size && strncmp(targets[i].name, name, size) == 0) return &targets[i];
  }
  return NULL;
}

const char* isa_target_refusal(const isa_target_t* t) {
  if (strstr(t->name, "generic")) return "is no GPU: it is code that several run";
  if (t->major < 9) return "is older than gfx9, and not executed";
  if (t->major == 12 && t->minor == 5) return "has 1024 registers and instructions of its own, and is not executed";
  return NULL;
}
