// Hazards between instructions close to each other that hardware does not resolve, part of the check of waits.
#ifndef IREE_C_SOFTGPU_CHECK_HAZARDS_H_
#define IREE_C_SOFTGPU_CHECK_HAZARDS_H_

#include "softgpu/wave.h"

// Kinds of instructions, bits of inst_t's traits.
enum {
#define TRAIT(name, patterns) HAZARD_INDEX_##name,
#include "softgpu/hazards.def"
};
#define TRAIT(name, patterns) static const uint64_t HAZARD_##name = UINT64_C(1) << HAZARD_INDEX_##name;
#include "softgpu/hazards.def"

// Who wrote a vector register last. Times are in wait states: one for an instruction, more for s_nop.
typedef struct hazard_write_t {
  uint32_t time;
  uint8_t writer, passes;  // of hazards.def
  uint16_t first, count;   // all registers that were written together
  const inst_row_t* row;
} hazard_write_t;

// gfx9: wait states.
typedef struct hazard_states_t {
  hazard_write_t vectors[WAVE_REGISTERS];
  uint32_t read_until[WAVE_REGISTERS];  // a store or a matrix instruction reads it: no vector instruction may write it
  uint32_t matrix_until[WAVE_REGISTERS];  // the same where v_accvgpr_write and loads must not either
  uint32_t by_vector[SREG_COUNT], m0_written;
  uint32_t dgemm, accumulation;  // last instruction of the kind
  uint32_t set_reg;              // last s_setreg, and its register
  uint8_t set_reg_number;
} hazard_states_t;

enum { HAZARD_EXEC_CHANGES = 4 };

// gfx10 and later: what is still on its way, until something waits for it.
typedef struct hazard_pending_t {
  uint32_t vectors, transcendentals;  // vector instructions so far
  // gfx11: how many there were of either when a transcendental function wrote the register; 0: none is near.
  uint32_t trans_written[WAVE_REGISTERS], trans_number[WAVE_REGISTERS];
  // gfx11, waves of 64: how many there were when the register was last written, and when EXEC last was.
  uint32_t written[WAVE_REGISTERS], exec_written[HAZARD_EXEC_CHANGES];
  // gfx10.1: scalar loads, and vector memory, that read these scalar registers may not have done so yet.
  uint8_t scalar_load_reads[SREG_COUNT], memory_reads[SREG_COUNT];
  // gfx11, waves of 64: read as a mask. gfx12: pairs that a vector instruction ever read.
  uint8_t masks[SREG_COUNT], tracked[SREG_COUNT / 2];
  uint8_t unsettled[SREG_COUNT];      // BY_*: who wrote it while it was watched so
  bool exec_is_read;                  // gfx10.1: by something other than vector instructions
  bool after_cmpx;                    // the last vector instruction was v_cmpx
  uint8_t memory_kind, branch_since;  // gfx10.1: the last one was of LDS (1) or of vector memory (2)
  uint32_t fp_atomic;                 // gfx10: time of the last one
  const inst_t* matrix;               // the last vector instruction, where it was WMMA
} hazard_pending_t;

typedef struct check_hazards_t {
  uint32_t now;
  bool has_scalar_stores;  // that s_dcache_wb has not written back
  union {
    hazard_states_t states;
    hazard_pending_t pending;
  };
} check_hazards_t;

// The traits of an instruction that has been decoded.
uint64_t check_hazards_traits(const char* mnemonic);
// Passes of four cycles that a matrix instruction of gfx9 takes; 0: it is none.
uint8_t check_hazards_passes(const isa_target_t* target, const char* mnemonic);

// When a wave begins.
void check_hazards_start(const wave_t* wave, check_hazards_t* hazards);
// Before an instruction: false after wave_fault.
bool check_hazards_before(wave_t* wave, const inst_t* inst, const check_hazards_t* hazards);
void check_hazards_after(const wave_t* wave, const inst_t* inst, check_hazards_t* hazards);

// For the files of the check.
bool hazard_matches(const char* mnemonic, const char* patterns);
bool hazard_report(wave_t* wave, const inst_t* inst, const operand_t* operand, uint32_t k, const char* what);
static inline bool hazard_is_vector(const inst_t* inst) {
  return inst->row->klass == INST_CLASS_VALU || inst->row->klass == INST_CLASS_MATRIX;
}
static inline bool hazard_is_memory(const inst_t* inst) {
  uint8_t klass = inst->row->klass;
  return klass == INST_CLASS_LOAD || klass == INST_CLASS_STORE || klass == INST_CLASS_FLAT || klass == INST_CLASS_LDS;
}
// check_states.c: gfx9. check_pending.c: gfx10 and later.
bool hazard_states_before(wave_t* wave, const inst_t* inst, const check_hazards_t* hazards);
void hazard_states_after(const wave_t* wave, const inst_t* inst, check_hazards_t* hazards);
bool hazard_pending_before(wave_t* wave, const inst_t* inst, const check_hazards_t* hazards);
void hazard_pending_after(const wave_t* wave, const inst_t* inst, check_hazards_t* hazards);

#endif  // IREE_C_SOFTGPU_CHECK_HAZARDS_H_
