// What devices of GPUs share, whatever their driver: queues whose work ends in order, by count (queue.h); operations
// that wait for each other on the GPU where it can be (operation.h); semaphores that know which queue's work moves
// them; a thread for work of the host; and failure for good.
//
//   hal_queued_device_t <- gpu_device_t <- a driver's device
//
// A device is over one or several physical ones, each with the same count of queues. A driver brings a backend: how one
// command is lowered, and what a queue does with its vendor's library.
#ifndef IREE_C_HAL_GPU_DEVICE_H_
#define IREE_C_HAL_GPU_DEVICE_H_

#include "hal/gpu/affinity.h"
#include "hal/queued_device.h"
#include "hal/recording.h"
#include "iree/base/threading/api.h"

#define GPU_MAX_QUEUES 64

typedef struct gpu_device_t gpu_device_t;
typedef struct gpu_queue_t gpu_queue_t;
typedef struct gpu_operation_t gpu_operation_t;
typedef struct gpu_part_t gpu_part_t;
typedef struct gpu_executable_list_t gpu_executable_list_t;
typedef struct gpu_gate_t gpu_gate_t;

typedef struct gpu_backend_t gpu_backend_t;
typedef struct gpu_command_t gpu_command_t;
typedef struct gpu_slot_t gpu_slot_t;
typedef struct gpu_range_t gpu_range_t;

// Commands (command.h): the first member of what recordings become.
typedef struct gpu_work_t {
  const gpu_backend_t* backend;
  const gpu_command_t* commands;
  uint32_t count;
  uint32_t slot_count;
  const gpu_slot_t* slots;
  void* plan;                    // of the backend, for all of them; NULL: none
  bool is_one_shot;              // nothing pays that is made for a second submission
  hal_profile_id_t* profile_id;  // of the recording; NULL: it is none
} gpu_work_t;

struct gpu_backend_t {
  const char* name;               // of the driver
  iree_device_size_t max_update;  // bytes of one command; larger updates become several
  uint64_t max_grid;              // work-items along an axis; 0: as many as there may be
  bool takes_indirect_arguments;  // dispatches whose arguments are in memory

  // Arguments that the driver adds to a dispatch when it is lowered. NULL: none.
  void (*add_arguments)(const gpu_command_t* command, uint8_t* arguments);
  // What it makes of a dispatch that is lowered, in `form` of that size. Nothing: 0 and NULL.
  size_t form_size;
  void (*make_form)(const gpu_command_t* command, void* form);
  // What it makes of a whole recording, when that ends; NULL where there is nothing. May be NULL. `plan` is one that
  // was cleared, whose memory may be used again, or NULL.
  iree_status_t (*make_plan)(gpu_device_t* device, const gpu_work_t* work, void** plan);
  void (*clear_plan)(void* plan);  // for a recording that is made anew. NULL: it is freed
  void (*free_plan)(void* plan);

  // Executables. The format of those that may be for any GPU of the platform: "rocm-hsaco-fb", "cuda-nvptx-fb".
  const char* any_format;
  // The name of what the device is, for messages and as a format: "gfx1100", "sm_90".
  const char* (*architecture)(const gpu_device_t* device);
  bool (*takes_format)(hal_queued_device_t* device, iree_string_view_t format);
  // The format of some data, which may be in `storage`. Errors: INCOMPATIBLE, INVALID_ARGUMENT.
  iree_status_t (*infer_format)(iree_const_byte_span_t data, char* storage, size_t capacity,
                                iree_string_view_t* out_format);
  // Loads data of a format that the device takes; it is not used after that.
  iree_status_t (*load)(gpu_device_t* device, iree_const_byte_span_t data, iree_hal_executable_t** out_executable);

  // Points of semaphores as the vendor's events (iree_hal_semaphore_import_timepoint). NULL: there are none.
  iree_status_t (*import_event)(gpu_device_t* device, iree_hal_semaphore_t* semaphore, uint64_t value,
                                iree_hal_queue_affinity_t queue_affinity,
                                const iree_hal_external_timepoint_t* timepoint);
  // `timepoint` has the type that is asked for.
  iree_status_t (*export_event)(gpu_device_t* device, iree_hal_semaphore_t* semaphore, uint64_t value,
                                iree_hal_queue_affinity_t queue_affinity, iree_hal_external_timepoint_t* timepoint);

  // The calls below are for one queue.

  // Writes what there is room for of an operation, behind what is there, or reserves it for `publish`. Errors leave
  // nothing behind. The queue's `submission` is held.
  iree_status_t (*write)(gpu_queue_t* queue, const gpu_operation_t* operation, gpu_part_t* part);
  // Lets the GPU see it. Several threads may be here, in any order of parts; it does not fail.
  void (*publish)(gpu_queue_t* queue, const gpu_part_t* part);

  // Waits until a part has ended that was issued, of any thread: by looking until `spin_until`, then asleep where
  // `may_sleep`, else no longer. False when it has not, or the queue failed. NULL: only the completion thread waits,
  // all the time; else it leaves that to those who need an end, and looks now and then.
  bool (*poll)(gpu_queue_t* queue, uint64_t epoch, iree_time_t spin_until, bool may_sleep, uint64_t* out_ended);

  // The rest is the completion thread's; `wake` may come from any thread.

  // Waits until more than `seen` parts have ended, for some milliseconds at most. False when the wait was ended by
  // `wake`.
  bool (*await)(gpu_queue_t* queue, uint64_t seen, uint64_t* out_ended);
  // Ends that wait for good, and returns how many parts have ended: no others will, whatever the GPU does.
  uint64_t (*wake)(gpu_queue_t* queue);
  // Nothing of the queue may run after this.
  void (*stop)(gpu_queue_t* queue);
  // A part has ended. The queue's mutex is held. The status is the part's own failure.
  iree_status_t (*retire)(gpu_queue_t* queue, uint64_t epoch, const gpu_part_t* part);
  // Frees the queue, whose thread is gone and which has nothing in flight, or was made in part only.
  void (*destroy)(gpu_queue_t* queue);
};

struct gpu_device_t {
  hal_queued_device_t base;
  const gpu_backend_t* backend;
  gpu_domain_t domain;
  bool defers_waits;            // the host waits for everything
  size_t recording_block_size;  // bytes; 0: the default

  iree_atomic_intptr_t failure;  // iree_status_t: of the first queue that was lost
  gpu_executable_list_t* executables;
  gpu_gate_t* gate;

  gpu_operation_t* host_head;  // ready ones for the service thread; guarded by base.mutex
  gpu_operation_t* host_tail;
  bool is_closing;
  iree_notification_t host_ready;
  iree_thread_t* service;

  gpu_queue_t* queues[GPU_MAX_QUEUES];  // by bit of affinity; the driver's to make
};

// Of work that a queue holds behind other work: it will be a part, but is none yet.
#define GPU_EPOCH_PROMISED UINT64_MAX
// Work in a queue: up to a part, by the queue's count of them.
typedef struct gpu_producer_t {
  uint64_t queue_id;
  uint64_t epoch;
} gpu_producer_t;

// The same, and the way to the queue's device.
typedef struct gpu_far_producer_t {
  gpu_producer_t producer;
  gpu_gate_t* gate;  // retained
} gpu_far_producer_t;

// Fields of `base` before its mutex, `backend` and `domain` are set, the rest is zero.
iree_status_t gpu_device_initialize(gpu_device_t* device);
// First when a device is destroyed: what waits fails, what runs ends. Later calls do nothing.
void gpu_device_close(gpu_device_t* device);
// Pools for queue-ordered allocations of a physical device: of its own memory, of such as the host sees too, and of the
// host's; those that its allocator has. The driver closes and releases them, also after an error.
typedef struct gpu_pool_params_t {
  iree_device_size_t range_length;  // bytes allocated at a time, a sixteenth where the host sees them; 0: 64 MiB
  iree_device_size_t alignment;     // bytes; 0: the allocator's
  uint32_t frontier_capacity;       // 0: the default
} gpu_pool_params_t;
iree_status_t gpu_device_create_pools(gpu_device_t* device, uint32_t physical, const gpu_pool_params_t* params,
                                      hal_pool_t** out_pools);
// Destroys the queues of a physical device.
void gpu_device_destroy_queues(gpu_device_t* device, uint32_t physical);
// Last, after `close`; frees no memory of the device.
void gpu_device_deinitialize(gpu_device_t* device);

// The device is lost, for good: all later work fails with the first such status. Consumes it. Thread safe.
void gpu_device_fail(gpu_device_t* device, iree_status_t status);
// That status; OK while nothing is lost.
iree_status_t gpu_device_clone_failure(gpu_device_t* device);
static inline bool gpu_device_has_failed(gpu_device_t* device) {
  return iree_atomic_load(&device->failure, iree_memory_order_acquire) != 0;
}
// The way of what may outlive a device to it. Retained by the device and by each of them.
gpu_gate_t* gpu_gate_retain(gpu_gate_t* gate);
void gpu_gate_release(gpu_gate_t* gate);
// The device, which stays until `leave`; NULL when it is closing, or gone, and then there is nothing to leave.
gpu_device_t* gpu_gate_enter(gpu_gate_t* gate);
void gpu_gate_leave(gpu_gate_t* gate);
// Runs an operation on the service thread.
void gpu_device_push_host(gpu_device_t* device, gpu_operation_t* operation);
// The queue of a far producer, whose device stays until `gpu_gate_leave`; NULL when that is closing, or gone: then its
// work is over, and there is nothing to leave.
gpu_queue_t* gpu_far_producer_enter(const gpu_far_producer_t* far);
// NULL when the device has no such queue.
gpu_queue_t* gpu_device_find_queue(const gpu_device_t* device, uint64_t queue_id);
// Whether a point of the device's queues was passed; `device` is a gpu_device_t (hal_pool_params_t).
bool gpu_device_is_over(void* device, hal_pool_point_t point);

// The queue calls of the vtable (queue_calls.c), and creation of semaphores.
#define CALL(result, name, parameters, arguments)
#define CHECKED(result, name, parameters, arguments) result gpu_device_##name parameters;
#include "iree/hal/device_calls.def"
#undef CALL
#undef CHECKED
#define GPU_DEVICE_CALLS                                                                                              \
  HAL_QUEUED_DEVICE_CALLS, .create_command_buffer = gpu_device_create_command_buffer,                                 \
      .create_executable_cache = gpu_device_create_executable_cache, .create_semaphore = gpu_device_create_semaphore, \
      .queue_fill = gpu_device_queue_fill, .queue_update = gpu_device_queue_update,                                   \
      .queue_copy = gpu_device_queue_copy, .queue_dispatch = gpu_device_queue_dispatch,                               \
      .queue_execute = gpu_device_queue_execute

extern const hal_operation_interface_t gpu_operation_interface;

//===----------------------------------------------------------------------------------------------------------------===
// Semaphores (semaphore.c)
//===----------------------------------------------------------------------------------------------------------------===

// Whether only work of that physical device signals it and waits for it.
bool gpu_semaphore_is_local(iree_hal_semaphore_t* semaphore, uint32_t physical);
// That work of a queue of `device` will signal `value`; `fails_late`: unless it fails when it is over. For semaphores
// of other drivers nothing happens. True when somebody waits for the semaphore who is to be woken.
bool gpu_semaphore_set_producer(iree_hal_semaphore_t* semaphore, gpu_device_t* device, gpu_producer_t producer,
                                uint64_t value, bool fails_late);
// Whether work of that queue will reach `value`, be it only promised: what comes behind it in the queue may rely on it.
bool gpu_semaphore_is_promised(iree_hal_semaphore_t* semaphore, uint64_t value, uint64_t queue_id);
// Whether any of its producers did or could.
bool gpu_semaphore_fails_late(iree_hal_semaphore_t* semaphore);
// The work that reaches `value`, or has. False when none is known.
bool gpu_semaphore_find_producer(iree_hal_semaphore_t* semaphore, uint64_t value, gpu_producer_t* out_producer);
// The same, of any device of GPUs.
bool gpu_semaphore_find_far_producer(iree_hal_semaphore_t* semaphore, uint64_t value, gpu_far_producer_t* out_far);

#endif  // IREE_C_HAL_GPU_DEVICE_H_
