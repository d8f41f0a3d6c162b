// Registers of thread traces, between the packets that libhsa-amd-aqlprofile64.so makes (softgpu/aqlprofile) and the
// GPU that runs them: where hardware has its own, too, though not these.
#ifndef IREE_C_SOFTGPU_HSA_THREAD_TRACE_H_
#define IREE_C_SOFTGPU_HSA_THREAD_TRACE_H_

#include <stdbool.h>
#include <stdint.h>

// Written by SET_UCONFIG_REG, counted as those of pmc.h. Numbers of 64 bits are two registers, the lower half first.
enum {
  THREAD_TRACE_FIRST = 0xd900,
  THREAD_TRACE_BUFFER = THREAD_TRACE_FIRST,  // address
  THREAD_TRACE_SIZE = THREAD_TRACE_FIRST + 2,
  THREAD_TRACE_UNIT = THREAD_TRACE_FIRST + 4,
  THREAD_TRACE_SIMDS = THREAD_TRACE_FIRST + 5,
  THREAD_TRACE_CODE = THREAD_TRACE_FIRST + 6,  // number, base and size of a code object
  THREAD_TRACE_CONTROL = THREAD_TRACE_FIRST + 12,
  THREAD_TRACE_REGISTERS = 13,
  // What CONTROL is set to: begins, ends, takes a code object after it has begun.
  THREAD_TRACE_START = 1,
  THREAD_TRACE_STOP = 2,
  THREAD_TRACE_MARK = 3,
};

typedef struct pm4_t pm4_t;
// A write to a register, if it is one of these. False after pm4_refuse.
bool thread_trace_write(pm4_t* pm4, uint32_t reg, uint32_t value);

#endif  // IREE_C_SOFTGPU_HSA_THREAD_TRACE_H_
