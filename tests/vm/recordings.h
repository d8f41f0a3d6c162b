// How often a device was asked for a command buffer: for programs linked with --wrap of the call (CMakeLists.txt). Once
// a program.
#ifndef IREE_C_TESTS_VM_RECORDINGS_H_
#define IREE_C_TESTS_VM_RECORDINGS_H_

#include <stdatomic.h>

#include "iree/hal/api.h"

static atomic_int recordings;
iree_status_t __real_iree_hal_command_buffer_create(iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode,
                                                    iree_hal_command_category_t categories,
                                                    iree_hal_queue_affinity_t queue_affinity,
                                                    iree_host_size_t binding_capacity,
                                                    iree_hal_command_buffer_t** out_command_buffer);
iree_status_t __wrap_iree_hal_command_buffer_create(iree_hal_device_t* device, iree_hal_command_buffer_mode_t mode,
                                                    iree_hal_command_category_t categories,
                                                    iree_hal_queue_affinity_t queue_affinity,
                                                    iree_host_size_t binding_capacity,
                                                    iree_hal_command_buffer_t** out_command_buffer) {
  ++recordings;
  return __real_iree_hal_command_buffer_create(device, mode, categories, queue_affinity, binding_capacity,
                                               out_command_buffer);
}

#endif  // IREE_C_TESTS_VM_RECORDINGS_H_
