// The table of base/processors/amd.def as isa_target_t.
#include "isa/amd/targets.h"

#include <stddef.h>
#include <string.h>

#include "base/processors/names.h"

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

// Row by row, what those who execute do not ask for.
typedef struct code_t {
  uint32_t machine;
  const char* generic;  // "NONE" without
} code_t;

static const code_t codes[] = {
#define ARCH(arch, machine, generic, ...) {machine, #generic},
#include "base/processors/amd.def"
};

const char* isa_target_generic(const isa_target_t* t) {
  const char* generic = codes[t - targets].generic;
  return strcmp(generic, "NONE") != 0 ? generic : NULL;
}

const isa_target_t* isa_target_of_machine(uint32_t machine) {
  for (uint32_t i = 0; i < TARGET_COUNT; ++i) {
    if (codes[i].machine == machine) return &targets[i];
  }
  return NULL;
}

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
