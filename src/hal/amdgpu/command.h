// Commands: what recordings and single queue operations are lowered to.
//
// A command names buffers by reference; packets and final kernel arguments are made when it is issued to a queue
// (emit.c). Kernel arguments that do not change from execution to execution are in `arguments` already.
#ifndef IREE_C_HAL_AMDGPU_COMMAND_H_
#define IREE_C_HAL_AMDGPU_COMMAND_H_

#include "hal/amdgpu/executable.h"
#include "hal/gpu/device.h"

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

// What recordings become: command_t's behind a gpu_work_t.
extern const hal_lowering_t command_lowering;
// An empty object for it.
iree_status_t command_list_create(iree_allocator_t host_allocator, void** out_list);
// One command with everything it needs, for gpu_backend_t. Errors: INVALID_ARGUMENT, UNIMPLEMENTED for dispatches that
// the public calls cannot check.
iree_status_t command_measure(const hal_command_t* source, size_t* out_size);
void command_lower_one(const hal_command_t* source, uint8_t* storage);
// Where in the arguments the counts of workgroups are, by axis; 0xFFFF where they are not.
void command_find_counts(const command_t* command, uint16_t offsets[3]);

#endif  // IREE_C_HAL_AMDGPU_COMMAND_H_
