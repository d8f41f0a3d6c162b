// What GPUs add to the operations of queued devices: the commands of work, and where it goes.
#ifndef IREE_C_HAL_GPU_OPERATION_H_
#define IREE_C_HAL_GPU_OPERATION_H_

#include "hal/collective.h"
#include "hal/gpu/device.h"

enum { GPU_MAX_RESOURCES = 2, GPU_MAX_BARRIERS = HAL_POOL_MAX_FRONTIER, GPU_MAX_KEPT_WAITS = 4 };

// Work of another queue that the GPU waits for.
typedef struct gpu_barrier_t {
  gpu_queue_t* queue;
  uint64_t epoch;
  bool is_implied;   // what is before it in its queue waits for that already
  gpu_gate_t* gate;  // of another device, which stays until the operation ends; NULL: the queue is of this one
} gpu_barrier_t;

// A wait that is left to queues, whose semaphore may still fail when all work is over: what another device reaches, or
// what depends on that. The GPU waits for the former.
typedef struct gpu_kept_wait_t {
  gpu_far_producer_t far;  // of another device, which may go, where there is a gate; barriers have those that stay
  iree_hal_semaphore_t* semaphore;  // retained
  uint64_t value;
} gpu_kept_wait_t;

struct gpu_operation_t {
  hal_operation_t base;
  gpu_queue_t* queue;
  bool is_staged;        // ALLOCA: the memory is there already
  bool acquires_agent;   // sees what its own GPU wrote; else what everybody did
  bool releases_agent;   // is seen by its own GPU; else by everybody
  bool relies_on_order;  // some wait is left to queues and barriers
  uint32_t barrier_count;
  gpu_barrier_t barriers[GPU_MAX_BARRIERS];
  uint32_t kept_count;
  gpu_kept_wait_t kept_waits[GPU_MAX_KEPT_WAITS];  // on the heap
  // Of WORK; others are empty. No commands: nothing but semaphores.
  const void* resources[GPU_MAX_RESOURCES];  // kept alive on the heap; NULL for none
  gpu_work_t work;
  iree_hal_buffer_binding_table_t bindings;
  gpu_range_t* ranges;              // of the work's slots, from its start on
  iree_hal_buffer_ref_list_t refs;  // of a single dispatch: what it uses
  bool borrows_bindings;            // tables and references are not kept alive
  uint32_t next;                    // command: those before are in the queue
  bool is_promised;                 // it is blocked by a batch, and others rely on the queue for it
  hal_collective_batch_t* batch;    // that the work is: one of the resources; NULL: it is none
  // One command of its own, and the bytes for lowering it, which happens when the operation is moved to the heap.
  const hal_command_t* command;
  size_t command_size;
};

static inline gpu_device_t* gpu_operation_device(const gpu_operation_t* operation) {
  return (gpu_device_t*)operation->base.device;
}

// An operation of kind WORK, on the caller's stack with the caller's lists, without commands.
gpu_operation_t gpu_operation_make(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                   iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals);
// Errors: RESOURCE_EXHAUSTED; then nothing has happened.
iree_status_t gpu_operation_submit(gpu_operation_t* operation);
// Ends an operation on the heap: as hal_operation_finish, with what happens to memory.
void gpu_operation_finish(gpu_operation_t* operation, iree_status_t status);
// Its first half: memory and semaphores; then hal_operation_release.
void gpu_operation_signal(gpu_operation_t* operation, iree_status_t status);
// Waits until the ends of what the operation waited for, which is over, are told. Errors: its failure.
iree_status_t gpu_operation_await_kept(const gpu_operation_t* operation);
// Memory that a DEALLOCA gives back is there for others after `point`, where it is over.
void gpu_operation_release_memory(const gpu_operation_t* operation, hal_pool_point_t point);
// Runs an operation of the service thread, to its end.
void gpu_operation_run_on_host(gpu_operation_t* operation);

// profile.c: what all devices of GPUs tell; their drivers' interfaces add times.
uint32_t gpu_profile_queues(hal_queued_device_t* device, hal_profile_queue_t out_queues[HAL_PROFILE_MAX_QUEUES]);
#define GPU_PROFILE_FAMILIES                                                                          \
  (IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA | \
   IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS)
// The same of drivers that have the device's times of dispatches and operations, and what of it is lightweight.
#define GPU_TIMED_PROFILE_FAMILIES                                         \
  (GPU_PROFILE_FAMILIES | IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS | \
   IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS)
#define GPU_TIMED_PROFILE_LIGHTWEIGHT                                                                 \
  (IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA | \
   IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS)
// Begins to watch an operation, which came from `source`: on the heap where it has commands.
void gpu_profile_watch(gpu_operation_t* operation, const gpu_operation_t* source);

#endif  // IREE_C_HAL_GPU_OPERATION_H_
