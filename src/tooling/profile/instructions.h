// What traces say of each instruction: how often waves issued it, how long that took, and why they stood before it.
#ifndef TOOLING_PROFILE_INSTRUCTIONS_H_
#define TOOLING_PROFILE_INSTRUCTIONS_H_

#include "base/processors/amd_trace.h"
#include "tooling/profile/groups.h"

// Times are cycles.
typedef struct profile_instruction_t {
  uint64_t address, code_object;
  iree_string_view_t text, place;
  uint32_t category;
  uint64_t hits, duration, stall;
  uint64_t stalls[AMD_TRACE_CAUSES];
  uint64_t first_time, last_time;
} profile_instruction_t;

// A trace of a dispatch, of software GPUs.
typedef struct profile_instructions_t {
  const iree_hal_profile_executable_trace_record_t* record;
  uint64_t byte_count;  // of all that the record has
  amd_trace_t trace;
  uint32_t count;  // by address
  profile_instruction_t* instructions;
} profile_instructions_t;

typedef iree_status_t (*profile_instructions_fn_t)(void* user_data, const profile_instructions_t* instructions);
// Calls `fn` for each trace whose function, and trace or dispatch, the selection takes, until it fails. Errors:
// UNIMPLEMENTED for what hardware traced, DATA_LOSS for what is damaged; fn's.
iree_status_t profile_instructions_each(const profile_bundle_t* bundle, const profile_selection_t* selection,
                                        profile_instructions_fn_t fn, void* user_data, uint64_t* out_count);

// The cause that most of an instruction's stall has.
uint32_t profile_instruction_cause(const profile_instruction_t* instruction);

#endif  // TOOLING_PROFILE_INSTRUCTIONS_H_
