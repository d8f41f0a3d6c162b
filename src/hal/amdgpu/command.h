// Commands: what command buffers record and what single queue operations consist of.
//
// A command names buffers by reference; packets and final kernel arguments are made when it is issued to a queue
// (emit.c). Kernel arguments that do not change from execution to execution are in `arguments` already.
#ifndef IREE_C_HAL_AMDGPU_COMMAND_H_
#define IREE_C_HAL_AMDGPU_COMMAND_H_

#include "hal/amdgpu/executable.h"
#include "hal/recording.h"

// A kernel argument that is the address of a reference.
typedef struct command_patch_t {
  uint32_t offset;  // bytes
  iree_hal_buffer_ref_t ref;
} command_patch_t;

typedef struct command_t {
  uint8_t kind;                  // hal_command_kind_t
  bool waits;                    // for all commands before it
  uint32_t kernarg_size;         // bytes, at most
  iree_hal_buffer_ref_t target;  // FILL, COPY, UPDATE; DISPATCH: three workgroup counts when is_indirect
  union {
    uint8_t pattern[16];           // FILL: repeated
    iree_hal_buffer_ref_t source;  // COPY
    const uint8_t* data;           // UPDATE
    struct {
      const executable_function_t* function;
      bool is_indirect;
      uint16_t workgroup_size[3];
      uint32_t workgroup_count[3];
      uint32_t dynamic_memory;  // bytes of workgroup memory beyond the kernel's own
      uint32_t patch_count;
      const uint8_t* arguments;  // kernarg_size bytes
      const command_patch_t* patches;
    } dispatch;
  };
} command_t;

// Make commands of validated arguments.
void command_fill(command_t* command, iree_hal_buffer_ref_t target, const void* pattern, size_t pattern_length);
void command_copy(command_t* command, iree_hal_buffer_ref_t source, iree_hal_buffer_ref_t target);
// `data` must stay.
void command_update(command_t* command, const uint8_t* data, iree_hal_buffer_ref_t target);

// Checks what the public calls cannot. Errors: INVALID_ARGUMENT, UNIMPLEMENTED.
iree_status_t command_dispatch_check(const hal_dispatch_t* dispatch, size_t* out_storage);
// `storage` is of that size, aligned to 8 bytes, and must stay.
void command_dispatch(command_t* command, const hal_dispatch_t* dispatch, uint8_t* storage);
// Where in the arguments the counts of workgroups are, by axis; 0xFFFF where they are not.
void command_find_counts(const command_t* command, uint16_t offsets[3]);

#endif  // IREE_C_HAL_AMDGPU_COMMAND_H_
