// Logical devices: one HAL device over one or several GPUs of the same kind, each with a host queue. Bit i of a queue
// affinity is GPU i of the device.
#ifndef IREE_C_HAL_AMDGPU_DEVICE_H_
#define IREE_C_HAL_AMDGPU_DEVICE_H_

#include "hal/amdgpu/library.h"
#include "hal/amdgpu/system.h"
#include "hal/amdgpu/virtual_queue.h"
#include "iree/base/threading/api.h"
#include "iree/hal/api.h"

#define AMDGPU_CACHED_BLOCKS 16

// One GPU of a logical device.
typedef struct physical_device_t {
  const system_gpu_t* gpu;
  uint32_t ordinal;  // within the logical device
  library_t library;
  virtual_queue_t* queue;
} physical_device_t;

typedef struct amdgpu_device_options_t {
  uint32_t queue_size;    // packets; 0: as many as the GPU allows, at most 64 Ki
  uint32_t epoch_count;   // submissions in flight, a power of two; 0: 1024
  uint64_t kernarg_size;  // bytes of the ring of kernel arguments; 0: 16 MiB
  bool force_defer;       // every wait is deferred on the host, also those that the queue's order gives
} amdgpu_device_options_t;

typedef struct amdgpu_device_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  system_t* system;
  iree_hal_allocator_t* allocator;
  iree_async_proactor_pool_t* proactor_pool;  // may be NULL
  amdgpu_device_options_t options;

  iree_slim_mutex_t mutex;  // guards what follows
  operation_t* deferred;    // whose waits are not reached
  operation_t* free_operations;
  iree_hal_buffer_t* cached_blocks[AMDGPU_CACHED_BLOCKS];  // freed queue-ordered memory
  operation_t* host_head;                                  // ready ones that run on the service thread
  operation_t* host_tail;
  bool is_closing;
  iree_atomic_uint32_t outstanding;  // operations that are not over
  iree_notification_t host_ready;
  iree_thread_t* service;

  uint32_t physical_count;
  physical_device_t physical[];
} amdgpu_device_t;

// A device over the GPUs of `system` whose bits are set in `mask`. They must be of one kind (checked by the driver).
iree_status_t amdgpu_device_create(system_t* system, uint64_t mask, const amdgpu_device_options_t* options,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device);

// The GPU of the first queue in `affinity` that the device has; the first GPU when there is none.
static inline physical_device_t* amdgpu_device_physical(amdgpu_device_t* device, iree_hal_queue_affinity_t affinity) {
  iree_hal_queue_affinity_t all = device->physical_count == 64 ? ~0ull : (1ull << device->physical_count) - 1;
  affinity &= all;
  return &device->physical[affinity ? iree_hal_queue_affinity_find_first_set(affinity) : 0];
}

// queue_calls.c: the queue calls of the vtable.
#define CALL(result, name, parameters, arguments)
#define CHECKED(result, name, parameters, arguments) result amdgpu_##name parameters;
#include "iree/hal/device_calls.def"
#undef CALL
#undef CHECKED
iree_status_t amdgpu_queue_flush(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity);

// semaphore.c
iree_status_t amdgpu_semaphore_create(uint64_t initial_value, iree_allocator_t host_allocator,
                                      iree_hal_semaphore_t** out_semaphore);
// Work in the queue with this id will signal `value`. For semaphores of other drivers nothing happens.
void amdgpu_semaphore_set_producer(iree_hal_semaphore_t* semaphore, uint64_t queue_id, uint64_t value);
// Whether work in that queue reaches `value`, or has.
bool amdgpu_semaphore_is_produced(iree_hal_semaphore_t* semaphore, uint64_t queue_id, uint64_t value);

// allocator.c
iree_status_t amdgpu_allocator_create(system_t* system, uint32_t gpu_count, const system_gpu_t* const* gpus,
                                      iree_allocator_t host_allocator, iree_hal_allocator_t** out_allocator);

// buffer.c: the address of a buffer's first byte for the GPU. Errors: INVALID_ARGUMENT for buffers of other devices,
// FAILED_PRECONDITION when a queue-ordered buffer has no memory.
iree_status_t amdgpu_buffer_address(iree_hal_buffer_t* buffer, uint64_t* out_address);
// Whether that address never changes.
bool amdgpu_buffer_is_fixed(iree_hal_buffer_t* buffer);

// transient.c: buffers whose memory comes and goes in queue order. `stage` gets memory for the GPU's use, `commit` lets
// the host see it, `decommit` gives it back.
iree_status_t amdgpu_transient_create(amdgpu_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                      const iree_hal_buffer_params_t* params, iree_device_size_t size,
                                      iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer);
// The memory of a transient buffer, NULL when it has none; other buffers are their own memory.
iree_hal_buffer_t* amdgpu_transient_block(iree_hal_buffer_t* buffer);
bool amdgpu_transient_is(iree_hal_buffer_t* buffer);
iree_status_t amdgpu_transient_stage(iree_hal_buffer_t* buffer);
void amdgpu_transient_commit(iree_hal_buffer_t* buffer);
void amdgpu_transient_decommit(iree_hal_buffer_t* buffer);
void amdgpu_cache_trim(amdgpu_device_t* device);

// executable_cache.c
iree_status_t amdgpu_executable_cache_create(amdgpu_device_t* device, iree_hal_executable_cache_t** out_cache);

#endif  // IREE_C_HAL_AMDGPU_DEVICE_H_
