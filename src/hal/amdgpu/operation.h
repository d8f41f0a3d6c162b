// What the driver adds to the operations of queued devices: the commands of work, and where it goes.
#ifndef IREE_C_HAL_AMDGPU_OPERATION_H_
#define IREE_C_HAL_AMDGPU_OPERATION_H_

#include "hal/amdgpu/command.h"
#include "hal/amdgpu/logical_device.h"

enum { OPERATION_MAX_RESOURCES = 2, OPERATION_MAX_BARRIERS = HAL_POOL_MAX_FRONTIER };

// Work of another queue that the GPU waits for by a packet.
typedef struct operation_barrier_t {
  virtual_queue_t* queue;
  uint64_t epoch;
} operation_barrier_t;

struct operation_t {
  hal_operation_t base;
  physical_device_t* physical;
  virtual_queue_t* queue;
  bool is_staged;        // ALLOCA: the memory is there already
  bool acquires_agent;   // sees what its own GPU wrote; else what everybody did
  bool releases_agent;   // is seen by its own GPU; else by everybody
  bool relies_on_order;  // some wait is left to queues and packets
  uint32_t barrier_count;
  operation_barrier_t barriers[OPERATION_MAX_BARRIERS];
  // Of WORK; others are empty. No commands: nothing but semaphores.
  const void* resources[OPERATION_MAX_RESOURCES];  // kept alive on the heap; NULL for none
  struct {
    const command_t* commands;
    uint32_t count;
    iree_hal_buffer_binding_table_t bindings;
    iree_hal_buffer_ref_list_t refs;  // of a single dispatch: what it uses
    bool borrows_bindings;            // tables and references are not kept alive
    // Progress in the queue.
    uint32_t next;  // command: those before are in the queue
  } commands;
  // One command of its own, and what it is made of when the operation is moved: the data of an UPDATE, or a dispatch
  // with the bytes that it needs.
  command_t command;
  iree_const_byte_span_t data;
  const hal_dispatch_t* dispatch;
  size_t dispatch_size;
};

static inline logical_device_t* operation_device(const operation_t* operation) {
  return (logical_device_t*)operation->base.device;
}

// An operation of kind WORK, on the caller's stack with the caller's lists, without commands.
operation_t operation_make(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                           iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals);
// Errors: RESOURCE_EXHAUSTED; then nothing has happened.
iree_status_t operation_submit(operation_t* operation);
// Ends an operation on the heap: as hal_operation_finish, with what happens to memory.
void operation_finish(operation_t* operation, iree_status_t status);
// Its first half: memory and semaphores; then hal_operation_release.
void operation_signal(operation_t* operation, iree_status_t status);
// Memory that a DEALLOCA gives back is there for others after `point`, where it is over.
void operation_release_memory(const operation_t* operation, hal_pool_point_t point);
// Whether a point of the device's queues was passed; `device` is a logical_device_t.
bool operation_is_over(void* device, hal_pool_point_t point);
// Runs an operation of the service thread, to its end.
void operation_run_on_host(operation_t* operation);

extern const hal_operation_interface_t operation_interface;

#endif  // IREE_C_HAL_AMDGPU_OPERATION_H_
