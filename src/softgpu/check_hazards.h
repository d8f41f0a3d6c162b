// Hazards between instructions close to each other that hardware does not resolve, part of the check of waits.
#ifndef IREE_C_SOFTGPU_CHECK_HAZARDS_H_
#define IREE_C_SOFTGPU_CHECK_HAZARDS_H_

#include "softgpu/wave.h"

// What a wave's last instructions may still do. Times are in wait states: one for an instruction, more for s_nop.
typedef struct check_hazards_t {
  uint32_t now;
  // A vector instruction must not overwrite the register up to this time: a store or a matrix instruction reads it.
  uint32_t read_until[WAVE_REGISTERS];
  // Nothing but a matrix instruction may touch it up to this time: one still writes it.
  uint32_t written_until[WAVE_REGISTERS];
  // When vector instructions last wrote it, 0: never.
  uint32_t vector_written[WAVE_REGISTERS], scalar_written[SREG_COUNT];
  // gfx10.1: scalar loads, and vector memory, that read these scalar registers may not have done so yet.
  uint8_t scalar_load_reads[SREG_COUNT], memory_reads[SREG_COUNT];
  bool exec_is_read;  // gfx10.1: by something other than vector instructions
} check_hazards_t;

// Before an instruction: false after wave_fault.
bool check_hazards_before(wave_t* wave, const inst_t* inst, const check_hazards_t* hazards);
void check_hazards_after(const wave_t* wave, const inst_t* inst, check_hazards_t* hazards);

#endif  // IREE_C_SOFTGPU_CHECK_HAZARDS_H_
