// AMD GPU targets as facts that the software GPU, the driver's checks and the tools share. Source: LLVM's "User Guide
// for AMDGPU Backend", and the ISA manuals of each generation.
#ifndef IREE_C_ISA_AMD_ISA_H_
#define IREE_C_ISA_AMD_ISA_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct isa_target_t {
  const char* name;      // LLVM's processor: "gfx90a"
  uint8_t major, minor;  // 9, 0
  uint8_t stepping;      // 0xa
  uint8_t wave;          // lanes of a wave unless a kernel says otherwise
  uint16_t lds_kib;      // workgroup memory of one workgroup
  uint16_t registers;    // vector registers a lane can address, accumulation registers included
  uint16_t units;        // compute units of a usual product
  bool has_sramecc, has_xnack;
} isa_target_t;

// By processor, product or code name ("mi300x", "rdna3"); NULL when there is none. "gfx90a:sramecc+:xnack-" is gfx90a;
// settings are not looked at.
const isa_target_t* isa_target_find(const char* name);
// NULL past the end.
const isa_target_t* isa_target_at(uint32_t index);

// Why the software GPU does not run the target, as the end of a sentence that begins with its name; NULL when it does.
const char* isa_target_refusal(const isa_target_t* target);

// Encoding families: what an instruction's text and meaning depend on.
static inline bool isa_is_gfx9(const isa_target_t* t) { return t->major == 9; }
static inline bool isa_is_gfx940(const isa_target_t* t) { return t->major == 9 && t->minor >= 4; }
static inline bool isa_is_gfx90a_or_later_cdna(const isa_target_t* t) {
  return t->major == 9 && (t->minor >= 4 || t->stepping == 0xa);
}
// Waves of 32 lanes exist.
static inline bool isa_has_wave32(const isa_target_t* t) { return t->major >= 10; }
// Work-item ids x, y, z come packed in v0, 10 bits each.
static inline bool isa_packs_ids(const isa_target_t* t) { return isa_is_gfx90a_or_later_cdna(t) || t->major >= 11; }
// The hardware sets the scratch base itself; kernels need no set-up.
static inline bool isa_has_architected_scratch(const isa_target_t* t) { return isa_is_gfx940(t) || t->major >= 11; }
// Workgroup ids come in ttmp9 and ttmp7, not in SGPRs.
static inline bool isa_has_architected_ids(const isa_target_t* t) { return t->major >= 12; }
// VGPRs and accumulation registers are one file, split where the kernel says.
static inline bool isa_has_unified_registers(const isa_target_t* t) { return isa_is_gfx90a_or_later_cdna(t); }

#endif  // IREE_C_ISA_AMD_ISA_H_
