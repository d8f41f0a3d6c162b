// Checks and counters of instrumented launches (launch->instrumented): what execute.c calls and check_*.c implement.
#ifndef IREE_C_SOFTGPU_CHECK_H_
#define IREE_C_SOFTGPU_CHECK_H_

#include "softgpu/wave.h"

// Around a launch: what its workgroups share. False when memory is short.
bool check_start_launch(launch_t* launch);
void check_end_launch(launch_t* launch);

// A workgroup begins on this thread, its waves' registers are set: makes or resets group->check and each wave's check.
// The memory stays with the group for the next one, until check_free_group.
bool check_start_group(group_t* group);
void check_free_group(group_t* group);

// Before and after each instruction; both halves of a dual instruction come before either is executed. check_before
// returns false after wave_fault.
bool check_before(wave_t* wave, const inst_t* inst);
void check_after(wave_t* wave, const inst_t* inst);
// Adds the instruction to group->counters; only with launch->counts.
void check_count(wave_t* wave, const inst_t* inst);

#endif  // IREE_C_SOFTGPU_CHECK_H_
