// What rows of memory call, in tests that have no engine: faults only end the wave, and no check finds anything.
#ifndef IREE_C_TESTS_ISA_STAND_INS_H_
#define IREE_C_TESTS_ISA_STAND_INS_H_

#include "softgpu/wave.h"

const inst_t* wave_fault(wave_t* wave, const inst_t* inst, engine_fault_kind_t kind, uint64_t address,
                         const char* format, ...) {
  wave->state = WAVE_FAULTED;
  return NULL;
}

bool check_memory(wave_t* wave, const inst_t* inst, check_space_t space, uint32_t access, const uint64_t* address,
                  uint64_t mask, uint32_t bytes) {
  return true;
}

#endif  // IREE_C_TESTS_ISA_STAND_INS_H_
