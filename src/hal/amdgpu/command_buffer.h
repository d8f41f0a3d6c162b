// Command buffers: a list of commands, made once and issued as often as wanted.
#ifndef IREE_C_HAL_AMDGPU_COMMAND_BUFFER_H_
#define IREE_C_HAL_AMDGPU_COMMAND_BUFFER_H_

#include "hal/amdgpu/command.h"
#include "hal/amdgpu/logical_device.h"

// What a recording becomes.
typedef struct command_list_t {
  iree_allocator_t host_allocator;
  uint32_t count;
  command_t* commands;  // followed by the arguments of their dispatches
} command_list_t;

// NULL when the command buffer is of another driver.
const command_list_t* amdgpu_command_buffer_commands(iree_hal_command_buffer_t* command_buffer);

#endif  // IREE_C_HAL_AMDGPU_COMMAND_BUFFER_H_
