// Devices of the stream core: one or several GPUs of a vendor's library, their primary contexts, and streams as queues.
#ifndef IREE_C_HAL_STREAM_DEVICE_H_
#define IREE_C_HAL_STREAM_DEVICE_H_

#include "hal/gpu/allocator.h"
#include "hal/gpu/code_object/target_id.h"
#include "hal/gpu/command.h"
#include "hal/gpu/queue.h"
#include "hal/stream/api.h"
#include "hal/stream/options.h"

// A GPU's primary context, which all of a process share. Retained by whatever needs it.
typedef struct stream_context_t {
  const stream_api_t* api;
  int device;
  void* handle;  // NULL: none
} stream_context_t;

iree_status_t stream_context_retain(const stream_api_t* api, int device, stream_context_t* out_context);
void stream_context_release(stream_context_t* context);
// Calls of this thread are for that context from here on. To ask for the current one costs less than to set it, and
// others of the process may have set one since the last time.
static inline iree_status_t stream_context_enter(const stream_context_t* context) {
  void* current = NULL;
  if (context->api->context_get(&current) == STREAM_API_SUCCESS && current == context->handle) return iree_ok_status();
  return STREAM_CALL(context->api, context_set, context->handle);
}

// What takes times of work in a GPU's streams: two events, which the library tells the distance of.
typedef struct stream_timer_t {
  struct stream_timer_t* next;  // in the list of idle ones
  void *begin, *end;
  uint32_t physical;
  bool has_begun, has_ended;  // in the stream
  bool is_recorded;           // instead, by the library of profiles (activity.h)
} stream_timer_t;

// A GPU's time, in nanoseconds (profile.c).
typedef struct stream_clock_t {
  void* stream;         // for looking at it; NULL: nobody has asked for times yet
  void *base, *latest;  // events
  uint64_t tick;        // of `base`
  stream_timer_t* idle;
} stream_clock_t;

// One GPU of a device.
typedef struct stream_gpu_t {
  stream_context_t context;
  char architecture[64];  // "sm_90", "gfx90a:sramecc+:xnack-"
  uint32_t capability;    // NVIDIA's; 90: compute capability 9.0
  target_id_t target;     // AMD's
  bool runs_generic;      // AMD's: the library knows generic targets
  uint32_t multiprocessors;
  uint32_t max_shared_memory;  // bytes of a workgroup, asked for
  uint64_t memory_size;        // bytes
  bool has_managed_memory;     // that host and GPU may use at a time
  hal_pool_t* pool;            // NULL: none
  stream_clock_t clock;        // guarded by the device's `clock_mutex`
} stream_gpu_t;

typedef struct stream_code_t stream_code_t;
typedef struct nccl_library_t nccl_library_t;
typedef struct stream_counting_t stream_counting_t;

// A driver of the stream core.
typedef struct stream_platform_t {
  const stream_library_t* library;
  const stream_code_t* code;
  const nccl_library_t* nccl;
  const stream_counting_t* counting;
  const hal_profile_interface_t* profile_interface;  // with all times
  void (*prepare)(void);                             // before the library is loaded; NULL: nothing
  gpu_backend_t backend;
  iree_string_view_list_t (*paths)(iree_string_view_t storage[STREAM_MAX_PATHS]);
  iree_status_t (*read_options)(stream_options_t* out_options);
  const char* path_key;     // of --dump_devices
  const char* stream_key;   // of the device parameter for a stream of the caller's
  const char* version_key;  // and of the library's version, of which `version_unit` are a major one
  int version_unit;
} stream_platform_t;

typedef struct stream_lane_t stream_lane_t;

typedef struct stream_device_t {
  gpu_device_t gpu;
  const stream_platform_t* platform;
  const stream_api_t* api;
  stream_options_t options;
  bool makes_graphs;
  bool launches_early;               // in graphs, kernels that wait by themselves for those before
  iree_atomic_uint32_t is_recorded;  // kernels are, while a profile asks for times of dispatches (activity.h)
  char time_source[320];             // what takes times of dispatches, for the profile
  iree_atomic_uint32_t uncounted;    // dispatches whose counters were asked for, and are not known
  iree_slim_mutex_t clock_mutex;     // guards what follows
  uint32_t lost, lost_kernels,
      lost_dispatches;  // submissions without times; of the last, what was recorded of how many
  iree_slim_mutex_t lane_mutex;
  stream_lane_t* lanes;  // guarded by the mutex (timepoint.c)
  stream_gpu_t gpus[];
} stream_device_t;

// A device over the GPUs of a mask, by the library's ordinals.
iree_status_t stream_device_create(const stream_platform_t* platform, const stream_api_t* api, uint64_t mask,
                                   const stream_options_t* options,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device);

// Who uses GPUs' memory in the process: devices of the stream core, and what has streams beside their queues. Whether
// that is one device and nothing else, so that transfers need not be waited for (transfer.c).
void stream_users_add(void);
void stream_users_remove(void);
bool stream_device_is_alone(void);

// link.c: what connects two GPUs, by the library's handles; the host's memory where they are no peers.
iree_status_t stream_link_find(const stream_api_t* api, int device, int peer, iree_hal_topology_link_class_t* out_link);

// memory.c
iree_status_t stream_allocator_create(const stream_device_t* device, iree_hal_allocator_t** out_allocator);

// executable.c
typedef struct stream_function_t {
  gpu_function_t base;
  void** handles;  // by GPU of the device
} stream_function_t;
bool stream_takes_format(hal_queued_device_t* device, iree_string_view_t format);
iree_status_t stream_executable_load(gpu_device_t* device, iree_const_byte_span_t data,
                                     iree_hal_executable_t** out_executable);

// profile.c
extern const hal_profile_interface_t stream_profile_interfaces[STREAM_MAX_TRACING];  // by `tracing` of the options
extern const hal_profile_interface_t stream_cuda_profile_interface, stream_hip_profile_interface;  // with counters
// Begins to take times of a device's GPUs; a GPU's time, in ticks.
iree_status_t stream_clock_start(stream_device_t* device);
iree_status_t stream_clock_read(stream_device_t* device, uint32_t physical, uint64_t* out_tick);
// metrics.c
iree_status_t stream_metrics_open(hal_queued_device_t* device, uint32_t physical, hal_metrics_t** out_metrics);
// When nothing has timers any more.
void stream_clock_destroy(stream_gpu_t* gpu, iree_allocator_t host_allocator);
// Before and behind work in a stream of its GPU; the context is entered. NULL: nothing.
iree_status_t stream_timer_begin(const stream_api_t* api, stream_timer_t* timer, void* stream);
iree_status_t stream_timer_end(const stream_api_t* api, stream_timer_t* timer, void* stream);
// Tells an operation's profile the times of a part, which has ended.
void stream_note_times(gpu_queue_t* queue, const gpu_part_t* part);
// Of the kernels of a part, in the process.
uint64_t stream_part_number(const gpu_queue_t* queue, const gpu_part_t* part);

// timepoint.c, for gpu_backend_t.
iree_status_t stream_import_event(gpu_device_t* device, iree_hal_semaphore_t* semaphore, uint64_t value,
                                  iree_hal_queue_affinity_t queue_affinity,
                                  const iree_hal_external_timepoint_t* timepoint);
iree_status_t stream_export_event(gpu_device_t* device, iree_hal_semaphore_t* semaphore, uint64_t value,
                                  iree_hal_queue_affinity_t queue_affinity, iree_hal_external_timepoint_t* timepoint);
// When nobody imports or exports any more.
void stream_lanes_destroy(stream_device_t* device);

// collective.c
// Of hal_channel_t: the batch as an operation, whose work is in channels' streams, in the order of a queue's.
iree_status_t stream_order_batch(const hal_collective_order_t* order);
// Whether nothing can be written of a batch's operation now: it was posted and has not started.
bool stream_batch_is_held(const gpu_operation_t* operation);

// queue.c
iree_status_t stream_queue_create(stream_device_t* device, uint32_t bit, gpu_queue_t** out_queue);
const char* stream_architecture(const gpu_device_t* device);
iree_status_t stream_queue_write(gpu_queue_t* queue, const gpu_operation_t* operation, gpu_part_t* part);
void stream_queue_publish(gpu_queue_t* queue, const gpu_part_t* part);
bool stream_queue_poll(gpu_queue_t* queue, uint64_t epoch, iree_time_t spin_until, bool may_sleep, uint64_t* out_ended);
bool stream_queue_await(gpu_queue_t* queue, uint64_t seen, uint64_t* out_ended);
uint64_t stream_queue_wake(gpu_queue_t* queue);
void stream_queue_stop(gpu_queue_t* queue);
iree_status_t stream_queue_retire(gpu_queue_t* queue, uint64_t epoch, const gpu_part_t* part);
void stream_queue_destroy(gpu_queue_t* queue);

#endif  // IREE_C_HAL_STREAM_DEVICE_H_
