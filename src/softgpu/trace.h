// Traces of instructions: what the waves of one compute unit executed, and when they would have on hardware, by a
// model.
//
//   engine_trace -> dispatches note the steps of some workgroups' waves -> trace_model: times -> the buffer
//
// A unit of four SIMDs is traced: a compute unit before gfx10, then a pair of them. Of a dispatch, it has the
// workgroups that it would hold at first; what comes in their places is not traced.
#ifndef IREE_C_SOFTGPU_TRACE_H_
#define IREE_C_SOFTGPU_TRACE_H_

#include "base/processors/amd_trace.h"
#include "softgpu/kernel.h"

// What a wave executed.
typedef struct trace_step_t {
  const inst_t* inst;
  uint32_t bytes;      // that it moved
  uint32_t conflicts;  // cycles lost to bank conflicts
} trace_step_t;

typedef struct trace_wave_t {
  amd_trace_wave_t record;
  uint32_t count, capacity, most;  // steps; `most` is all that it may have
  bool is_cut;                     // it had more
  uint64_t bytes, conflicts;       // of the workgroup's counters when the instruction began
  trace_step_t* steps;
  amd_trace_event_t* events;  // of each step, once it is modelled; the instruction is set later
} trace_wave_t;

typedef struct trace_launch_t {
  engine_trace_t wanted;
  uint64_t first, stride;  // workgroups: first, first + stride, ...
  uint32_t group_count;
  uint32_t waves_of_group;
  uint32_t wave_count;
  trace_wave_t waves[];
} trace_launch_t;

// Before a launch runs, which may then have launch->trace; false when memory is short. After it has ended: writes what
// there is, and frees it.
bool trace_start_launch(launch_t* launch);
void trace_end_launch(launch_t* launch, bool is_whole);
// Workgroup `number` begins: its waves have w->trace, if it is traced.
void trace_start_group(group_t* group, uint64_t number);

// Around an instruction of a traced wave.
void trace_before(wave_t* wave);
void trace_after(wave_t* wave, const inst_t* inst);

// trace_model.c: fills the events, and gives the cycle in which the last wave ended. False when memory is short.
bool trace_model(const launch_t* launch, trace_launch_t* trace, uint64_t* out_cycles);

#endif  // IREE_C_SOFTGPU_TRACE_H_
