// The parts of block programs.
#ifndef IREE_C_HAL_LOCAL_PROGRAM_INTERNAL_H_
#define IREE_C_HAL_LOCAL_PROGRAM_INTERNAL_H_

#include "hal/local/program.h"

// How a command's work (workgroups or bytes) is cut.
typedef struct program_chunks_t {
  uint32_t count;
  uint64_t size;
} program_chunks_t;

typedef struct program_command_t {
  uint8_t kind;  // hal_command_kind_t
  bool is_sequential;
  bool waits;        // for all commands before it
  bool is_open;      // how much work there is becomes known when the region starts
  uint32_t pointer;  // first of its pointers. DISPATCH: bindings, then the workgroup count; COPY: target, source
  program_chunks_t chunks;
  union {
    struct {
      iree_hal_executable_dispatch_v0_t run;
      const iree_hal_executable_environment_v0_t* environment;
      uint32_t local_memory_size;
      uint32_t function;
      iree_hal_executable_t* executable;
      iree_hal_executable_dispatch_state_v0_t state;  // without binding pointers
    } dispatch;
    struct {
      uint8_t pattern[16];
      uint8_t pattern_length;
    } fill;
    struct {
      const uint8_t* data;
    } update;
  };
} program_command_t;

typedef struct program_region_t {
  uint32_t first, count;  // commands
  uint32_t chunk_count;   // of the commands that are not open
  bool is_open;
} program_region_t;

typedef struct program_pointer_t {
  uint8_t* data;
  iree_device_size_t length;
} program_pointer_t;

// Sets a pointer at execution: `offset` bytes into what slot `slot` is bound to, or into `buffer`.
typedef struct program_patch_t {
  uint32_t pointer;
  uint32_t slot;
  iree_hal_buffer_t* buffer;
  iree_device_size_t offset;
  iree_device_size_t length;
} program_patch_t;

#define PROGRAM_VECTOR(type) \
  struct {                   \
    size_t count, capacity;  \
    type* data;              \
  }

struct local_program_t {
  local_program_params_t params;
  PROGRAM_VECTOR(program_command_t) commands;
  PROGRAM_VECTOR(program_region_t) regions;
  PROGRAM_VECTOR(program_pointer_t) pointers;
  PROGRAM_VECTOR(program_patch_t) patches;
  uint32_t slot_count;
  bool region_is_open;
  uint32_t recording;      // grows each time that the program is recorded anew
  hal_idle_list_t states;  // for the next executions
  hal_profile_id_t profile_id;
};

// One execution. Followed by the pointers, the lengths, the commands that differ from execution to execution, and what
// slots are bound to.
struct local_state_t {
  hal_idle_t idle;
  local_program_t* program;
  size_t size;         // bytes that follow
  uint32_t recording;  // of the program that it was made for
  uint32_t next_region;
  const program_region_t* region;
  hal_profile_operation_t* profile;  // NULL: not watched
  void** pointers;                   // by pointer index
  size_t* lengths;                   // by pointer index
  struct program_live_t* live;       // by command index
  program_pointer_t* slots;          // by slot
  iree_atomic_intptr_t failure;      // iree_status_t
};

typedef struct program_live_t {
  program_chunks_t chunks;
  iree_hal_executable_dispatch_state_v0_t dispatch;
} program_live_t;

program_chunks_t program_cut_transfer(const local_program_t* program, iree_device_size_t length);
program_chunks_t program_cut_dispatch(const local_program_t* program, bool is_sequential, uint64_t workgroup_count);
iree_status_t program_set_workgroup_count(iree_hal_executable_dispatch_state_v0_t* state, const uint32_t count[3],
                                          uint64_t* out_total);

#endif  // IREE_C_HAL_LOCAL_PROGRAM_INTERNAL_H_
