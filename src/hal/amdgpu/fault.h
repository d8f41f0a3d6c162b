// How queues are lost (fault.c).
#ifndef IREE_C_HAL_AMDGPU_FAULT_H_
#define IREE_C_HAL_AMDGPU_FAULT_H_

#include "hal/amdgpu/host_queue.h"

// HSA's callback for errors of a queue; `data` is the host queue.
void fault_queue_error(hsa_status_t code, hsa_queue_t* source, void* data);
// Asks for the system's events, once HSA is initialized, unless somebody watches them with the same library already.
void fault_watch_events(system_t* system);
void fault_unwatch_events(system_t* system);
// Events of the queue's GPU are told it from here on, until the second returns.
void fault_watch_queue(host_queue_t* queue);
void fault_unwatch_queue(host_queue_t* queue);

#endif  // IREE_C_HAL_AMDGPU_FAULT_H_
