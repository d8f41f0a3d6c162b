// Parts of the checks, for check.c.
#ifndef IREE_C_SOFTGPU_CHECK_GROUP_H_
#define IREE_C_SOFTGPU_CHECK_GROUP_H_

#include "softgpu/shared.h"
#include "softgpu/wave.h"

// check_group.c: workgroup memory. False when memory is short, or after wave_fault.
bool check_group_start(group_t* group);
void check_group_free(group_t* group);
bool check_group_access(wave_t* wave, const inst_t* inst, uint32_t access, uint32_t lane, uint64_t address,
                        uint32_t bytes);

// Whether the store at hand leaves `size` bytes as they are `there`, which it covers from its byte `from` on.
static inline bool check_stores_same(const wave_t* wave, uint32_t lane, uint32_t from, const void* there,
                                     uint32_t size) {
  uint8_t now[WAVE_MAX_STORE];
  if (!wave->stored) return false;
  shared_read(now, there, size);
  return memcmp(wave->stored[lane] + from, now, size) == 0;
}

// The check_launch_t's time when the workgroup last did what may order it behind others.
uint64_t* check_group_ordered(group_t* group);

// check_global.c: memory of the process. False after wave_fault.
bool check_global_access(wave_t* wave, const inst_t* inst, uint32_t access, uint32_t lane, uint64_t address,
                         uint32_t bytes);
// The wave executes an atomic operation or a fence.
void check_global_order(wave_t* wave);

// check_waits.c: registers that an instruction still owes. False when memory is short, or after wave_fault.
bool check_waits_start(wave_t* wave);
void check_waits_free(wave_t* wave);
bool check_waits_before(wave_t* wave, const inst_t* inst);
void check_waits_after(wave_t* wave, const inst_t* inst);
// Number that the instruction's access of memory, perhaps of the workgroup's, will have among those of a counter, which
// is 0 where it has none; that of the last one known to be done when the wave last came to a barrier; and whether one
// is known to be done now.
uint32_t check_waits_next(const wave_t* wave, const inst_t* inst, bool in_group, uint8_t* counter);
uint32_t check_waits_at_barrier(const wave_t* wave, uint8_t counter);
bool check_waits_is_settled(const wave_t* wave, uint8_t counter, uint32_t number);

#endif  // IREE_C_SOFTGPU_CHECK_GROUP_H_
