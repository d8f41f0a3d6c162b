// Command buffers: a list of commands, made once and issued as often as wanted.
#ifndef IREE_C_HAL_AMDGPU_COMMAND_BUFFER_H_
#define IREE_C_HAL_AMDGPU_COMMAND_BUFFER_H_

#include "hal/amdgpu/command.h"

iree_status_t amdgpu_command_buffer_create(logical_device_t* device, iree_hal_command_buffer_mode_t mode,
                                           iree_hal_command_category_t categories,
                                           iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                                           iree_hal_command_buffer_t** out_command_buffer);
// The commands; false when the command buffer is of another driver.
bool amdgpu_command_buffer_commands(iree_hal_command_buffer_t* command_buffer, const command_t** out_commands,
                                    uint32_t* out_count);

#endif  // IREE_C_HAL_AMDGPU_COMMAND_BUFFER_H_
