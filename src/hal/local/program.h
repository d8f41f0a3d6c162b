// Block programs: what the recording of a command buffer becomes, ready to run.
//
// A program is a list of regions (what is between two barriers) of commands. Lowering resolves everything that does
// not change between executions: functions, pointers of direct references, how the work is cut into chunks. What does
// change is in a state, one per execution in flight: pointers of indirect references and indirect workgroup counts.
// States are kept with the program, so that executing it again allocates nothing.
//
//   state_acquire -> state_bind -> { next_region -> run_chunk x n }... -> state_release
#ifndef IREE_C_HAL_LOCAL_PROGRAM_H_
#define IREE_C_HAL_LOCAL_PROGRAM_H_

#include "hal/local/executable.h"
#include "hal/local/worker.h"
#include "hal/profile/profile.h"
#include "hal/recording.h"
#include "iree/hal/api.h"

typedef struct local_program_t local_program_t;
typedef struct local_state_t local_state_t;

// `worker_count` is how many threads will share the chunks; chunks of transfers below `inline_threshold` bytes are not
// cut.
typedef struct local_program_params_t {
  uint32_t worker_count;
  iree_device_size_t inline_threshold;
  iree_allocator_t host_allocator;
} local_program_params_t;

iree_status_t local_program_create(const local_program_params_t* params, local_program_t** out_program);
// Before anything is lowered.
void local_program_set_workers(local_program_t* program, uint32_t worker_count);

// What a profile tells of the program. The command buffer that it is of, or NULL.
hal_profile_program_t local_program_profile(local_program_t* program, iree_hal_command_buffer_t* command_buffer);

// Of recordings to programs.
extern const hal_lowering_t local_lowering;
// NULL when the command buffer is of another kind of device.
static inline local_program_t* local_program_of(iree_hal_command_buffer_t* command_buffer) {
  return (local_program_t*)hal_recorded_lowered(command_buffer, &local_lowering);
}

//===----------------------------------------------------------------------------------------------------------------===
// Executing
//===----------------------------------------------------------------------------------------------------------------===

// `profile`: of the operation that is executed; NULL when it is not watched.
iree_status_t local_state_acquire(local_program_t* program, hal_profile_operation_t* profile,
                                  local_state_t** out_state);
// Resolves indirect and late references. The table's ranges are checked.
iree_status_t local_state_bind(local_state_t* state, iree_hal_buffer_binding_table_t binding_table);
// Moves to the next region that has work and returns its number of chunks; 0 at the end or after a failure. One thread,
// with all chunks of the region before done.
uint32_t local_state_next_region(local_state_t* state);
// Runs one chunk of the region. Any thread. Failures are kept in the state.
void local_state_run_chunk(local_state_t* state, uint32_t chunk, local_worker_t* worker);
// Runs everything on this thread.
void local_state_run(local_state_t* state, local_worker_t* worker);
// Takes the first failure; OK when there was none.
iree_status_t local_state_take_failure(local_state_t* state);
void local_state_release(local_state_t* state);

#endif  // IREE_C_HAL_LOCAL_PROGRAM_H_
