// Command buffers of local devices: recorded into block programs.
#ifndef IREE_C_HAL_LOCAL_COMMAND_BUFFER_H_
#define IREE_C_HAL_LOCAL_COMMAND_BUFFER_H_

#include "hal/idle_list.h"
#include "hal/local/program.h"
#include "iree/hal/api.h"

iree_status_t local_command_buffer_create(iree_hal_command_buffer_mode_t mode,
                                          iree_hal_command_category_t command_categories,
                                          iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                                          const local_program_params_t* params,
                                          iree_hal_command_buffer_t** out_command_buffer);
// A command buffer for one use, from `home`, to which it goes back; its references are not checked.
iree_status_t local_command_buffer_take(hal_idle_list_t* home, iree_hal_queue_affinity_t queue_affinity,
                                        const local_program_params_t* params,
                                        iree_hal_command_buffer_t** out_command_buffer);
void local_command_buffer_free_idle(hal_idle_list_t* home);
// NULL when the command buffer is of another kind of device.
local_program_t* local_command_buffer_program(iree_hal_command_buffer_t* command_buffer);

#endif  // IREE_C_HAL_LOCAL_COMMAND_BUFFER_H_
