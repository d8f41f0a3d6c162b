// Hazards that code must keep clear of by wait states, by an instruction in between, or by s_waitcnt_depctr and
// s_wait_alu. The manuals and LLVM's hazard recognizer are the source: what neither avoids is not reported.
#include "softgpu/check_hazards.h"

#include <fnmatch.h>

uint64_t check_hazards_traits(const char* mnemonic) {
  static const char* const patterns[] = {
#define TRAIT(name, text) text,
#include "softgpu/hazards.def"
  };
  uint64_t traits = 0;
  for (uint32_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); ++i) {
    if (hazard_matches(mnemonic, patterns[i])) traits |= UINT64_C(1) << i;
  }
  return traits;
}

// Whether a pattern, which a space or the end of the text ends, matches. Most differ before they have anything special.
static bool matches_one(const char* mnemonic, const char* pattern, size_t size) {
  char one[64];
  size_t plain = 0;
  while (plain < size && pattern[plain] == mnemonic[plain]) ++plain;
  if (plain == size) return mnemonic[plain] == 0;
  bool is_special = pattern[plain] == '*' || pattern[plain] == '?' || pattern[plain] == '[';
  if (!is_special || size - plain >= sizeof(one)) return false;
  if (size - plain == 1 && pattern[plain] == '*') return true;
  memcpy(one, pattern + plain, size - plain);
  one[size - plain] = 0;
  return fnmatch(one, mnemonic + plain, 0) == 0;
}

bool hazard_matches(const char* mnemonic, const char* patterns) {
  for (const char* at = patterns; *at;) {
    const char* end = at;
    while (*end && *end != ' ') ++end;
    if (matches_one(mnemonic, at, (size_t)(end - at))) return true;
    at = end + (*end == ' ');
  }
  return false;
}

bool hazard_report(wave_t* w, const inst_t* inst, const operand_t* o, uint32_t k, const char* what) {
  bool vector = o->kind == OPERAND_VGPR;
  uint32_t index = o->index + k;
  const char* file = !vector ? "s" : index >= WAVE_ACCUMULATION ? "a" : "v";
  const char* name = vector                       ? NULL
                     : index / 2 == SREG_VCC / 2  ? "vcc"
                     : index / 2 == SREG_EXEC / 2 ? "exec"
                     : index / 2 == SREG_VCCZ / 2 ? "vccz or execz"
                     : index == SREG_M0           ? "m0"
                                                  : NULL;
  if (name) {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address, "wait: register %s is %s", name, what);
  } else {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address, "wait: register %s%u is %s", file,
               vector ? index % WAVE_ACCUMULATION : index, what);
  }
  return false;
}

void check_hazards_start(const wave_t* w, check_hazards_t* h) {
  memset(h, 0, sizeof(*h));
  h->now = 64;
}

bool check_hazards_before(wave_t* w, const inst_t* inst, const check_hazards_t* h) {
  if (h->has_scalar_stores && inst->row->klass == INST_CLASS_BRANCH && strncmp(inst->row->name, "s_endpgm", 8) == 0) {
    wave_fault(w, inst, ENGINE_FAULT_CHECK, inst->address,
               "wait: the wave ends without s_dcache_wb, which writes its scalar stores to memory");
    return false;
  }
  return w->target->major == 9 ? hazard_states_before(w, inst, h) : hazard_pending_before(w, inst, h);
}

void check_hazards_after(const wave_t* w, const inst_t* inst, check_hazards_t* h) {
  if (inst->traits & HAZARD_SCALAR_STORE) h->has_scalar_stores = true;
  if (inst->traits & HAZARD_SCALAR_WRITEBACK) h->has_scalar_stores = false;
  if (w->target->major == 9) {
    hazard_states_after(w, inst, h);
  } else {
    hazard_pending_after(w, inst, h);
  }
  if (inst->row->klass != INST_CLASS_NOTHING) {
    h->now += inst->traits & HAZARD_NOP ? (inst->encoding[0] & 0xffff) + 1 : 1;
  }
}
