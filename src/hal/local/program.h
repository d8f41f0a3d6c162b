// Block programs: what a command buffer records, ready to run.
//
// A program is a list of regions (what is between two barriers) of commands. Recording resolves everything that does
// not change between executions: functions, constants, pointers of direct references, how the work is cut into chunks.
// What does change is in a state, one per execution in flight: pointers of indirect references and indirect workgroup
// counts. States are kept with the program, so that executing it again allocates nothing.
//
//   recording:  local_program_add_*, local_program_barrier, ..., local_program_end
//   executing:  state_acquire -> state_bind -> { next_region -> run_chunk x n }... -> state_release
#ifndef IREE_C_HAL_LOCAL_PROGRAM_H_
#define IREE_C_HAL_LOCAL_PROGRAM_H_

#include "hal/local/executable.h"
#include "hal/local/worker.h"
#include "iree/hal/api.h"

typedef struct local_program_t local_program_t;
typedef struct local_state_t local_state_t;

// `worker_count` is how many threads will share the chunks; chunks of transfers below `inline_threshold` bytes are not
// cut.
typedef struct local_program_params_t {
  uint32_t worker_count;
  bool retain;  // whether executables and buffers are kept alive
  size_t block_size;
  iree_device_size_t inline_threshold;
  iree_allocator_t host_allocator;
} local_program_params_t;

iree_status_t local_program_create(const local_program_params_t* params, local_program_t** out_program);
void local_program_free(local_program_t* program);
// Forgets what was recorded, to be recorded anew. No execution may be left.
void local_program_reset(local_program_t* program);
// Before anything is recorded.
void local_program_set_workers(local_program_t* program, uint32_t worker_count);

//===----------------------------------------------------------------------------------------------------------------===
// Recording: arguments as validated by the public calls. After an error the program must not run.
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t local_program_barrier(local_program_t* program);
iree_status_t local_program_add_fill(local_program_t* program, iree_hal_buffer_ref_t target, const void* pattern,
                                     size_t pattern_length);
iree_status_t local_program_add_update(local_program_t* program, const void* source, iree_hal_buffer_ref_t target);
iree_status_t local_program_add_copy(local_program_t* program, iree_hal_buffer_ref_t source,
                                     iree_hal_buffer_ref_t target);
typedef struct local_dispatch_t {
  iree_hal_executable_t* executable;
  iree_hal_executable_function_t function;
  const iree_hal_dispatch_config_t* config;
  iree_const_byte_span_t constants;
  iree_hal_buffer_ref_list_t bindings;
  iree_hal_dispatch_flags_t flags;
} local_dispatch_t;
iree_status_t local_program_add_dispatch(local_program_t* program, const local_dispatch_t* dispatch);
iree_status_t local_program_end(local_program_t* program);

//===----------------------------------------------------------------------------------------------------------------===
// Executing
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t local_state_acquire(local_program_t* program, local_state_t** out_state);
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

// First byte of a buffer in host memory. Errors: PERMISSION_DENIED when the host does not see it, FAILED_PRECONDITION
// when a queue-ordered buffer has no memory now.
iree_status_t local_buffer_pointer(iree_hal_buffer_t* buffer, uint8_t** out_pointer);

#endif  // IREE_C_HAL_LOCAL_PROGRAM_H_
