// The check of what was never written: parts that its files share.
//
// A register's bit is undefined until something defined is written there, as in valgrind's memcheck. Undefined bits may
// be copied, spilled and computed with; what they reach is undefined in turn. A kernel is accused where they matter:
// addresses, branches, EXEC, MODE, stores to global memory, atomic operations.
#ifndef IREE_C_SOFTGPU_CHECK_UNDEFINED_H_
#define IREE_C_SOFTGPU_CHECK_UNDEFINED_H_

#include "softgpu/wave.h"

// What the check knows of an instruction (inst->flow).
enum {
  CHECK_FLOW_PURE = 1,   // computes registers from registers
  CHECK_FLOW_CROSS = 2,  // a lane may see other lanes, inactive ones too
  CHECK_FLOW_READS = 4,  // what the destination held may matter
  CHECK_FLOW_SCC = 8,    // these registers may be read or written though the text does not say so
  CHECK_FLOW_VCC = 16,
  CHECK_FLOW_M0 = 32,
  CHECK_FLOW_RELATIVE = 64,  // M0 displaces operands
  CHECK_FLOW_ATOMIC = 128,
  CHECK_FLOW_ONE_LANE = 8192,  // of a vector register one lane is read or written
  CHECK_FLOW_DATA = 256,       // shifted left by i: source i is stored; others are addresses
};
// check_flow.c: by the row and what the text says.
uint16_t check_flow_of(const inst_t* inst);

enum { CHECK_TRIAL_REGISTERS = (INST_MAX_DESTINATIONS + INST_MAX_SOURCES) * 32 };

// Where what is undefined comes from: the number of a vector register, WAVE_REGISTERS + that of a scalar one, or a byte
// of memory; plus one. 0: the register itself.
enum { CHECK_ORIGIN_LDS = 1 << 24, CHECK_ORIGIN_SCRATCH = 1 << 25 };

typedef uint32_t check_lanes_t[WAVE_MAX_LANES];

struct check_undefined_t {
  // Of vector registers: lanes with an undefined bit; those among them where `bits` says which ones, else it is all.
  uint64_t any[WAVE_REGISTERS], partial[WAVE_REGISTERS];
  uint32_t scalar[SREG_COUNT];  // undefined bits
  uint32_t origin[WAVE_REGISTERS + SREG_COUNT];
  // Defined bits of the wave's scratch, laid out like it, and how much of it may differ from 0.
  uint8_t* scratch;
  size_t scratch_size, scratch_used;
  check_lanes_t bits[WAVE_REGISTERS];
  // check_trial.c: what registers held, their undefined bits, the first trial's results, what differed.
  check_lanes_t saved[CHECK_TRIAL_REGISTERS], undefined[CHECK_TRIAL_REGISTERS], first[CHECK_TRIAL_REGISTERS],
      differing[CHECK_TRIAL_REGISTERS];
};

static inline uint32_t check_undefined_bits(const check_undefined_t* c, uint32_t index, uint32_t lane) {
  if (!(c->any[index] >> lane & 1)) return 0;
  return c->partial[index] >> lane & 1 ? c->bits[index][lane] : UINT32_MAX;
}

static inline void check_undefined_set(check_undefined_t* c, uint32_t index, uint32_t lane, uint32_t bits) {
  uint64_t bit = UINT64_C(1) << lane;
  c->any[index] = bits ? c->any[index] | bit : c->any[index] & ~bit;
  c->partial[index] = bits && bits != UINT32_MAX ? c->partial[index] | bit : c->partial[index] & ~bit;
  c->bits[index][lane] = bits;
}

// check_undefined.c. A wave begins or is no longer needed; false when memory is short.
bool check_undefined_start(wave_t* wave);
void check_undefined_free(wave_t* wave);
// Before an instruction, both halves of a dual one at once. False after wave_fault.
bool check_undefined_before(wave_t* wave, const inst_t* inst);
// Before an access: what is undefined moves along. Arguments as those of check_memory.
bool check_undefined_move(wave_t* wave, const inst_t* inst, check_space_t space, uint32_t access,
                          const uint64_t* address, uint64_t mask, uint32_t bytes);
// Accuses the kernel: `index` counts scalar registers from WAVE_REGISTERS on; `what` the register is. Returns false.
bool check_undefined_report(wave_t* wave, const inst_t* inst, uint32_t index, uint32_t lane, const char* what);

// check_trial.c: an instruction that reads undefined bits: finds what of its results depends on them. False after
// wave_fault.
bool check_trial(wave_t* wave, const inst_t* inst);

// check_group.c: defined bits of workgroup memory, byte by byte.
uint8_t* check_group_defined(group_t* group);

#endif  // IREE_C_SOFTGPU_CHECK_UNDEFINED_H_
