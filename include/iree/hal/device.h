// Devices: queues that run work, with their memory, semaphores and executables. Thread safe.
//
// Queue operations return at once: the work starts when every wait semaphore has reached its value and raises every
// signal semaphore when it is done. Operations are ordered by semaphores alone, not by submission. When a wait fails,
// or the work does, the signal semaphores fail with that status. Arguments are copied or kept alive as needed; what
// the call itself returns are errors of the arguments (then nothing is enqueued and no semaphore changes); flags that
// are not known are INVALID_ARGUMENT.
//
// Every device has its work's failures on semaphores; iree_hal_semaphore_wait reports them.
#ifndef IREE_HAL_DEVICE_H_
#define IREE_HAL_DEVICE_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/async/frontier.h"
#include "iree/async/types.h"
#include "iree/base/api.h"
#include "iree/hal/allocator.h"
#include "iree/hal/buffer.h"
#include "iree/hal/channel.h"
#include "iree/hal/channel_provider.h"
#include "iree/hal/command_buffer.h"
#include "iree/hal/executable_cache.h"
#include "iree/hal/file.h"
#include "iree/hal/memory/slab_provider.h"
#include "iree/hal/pool.h"
#include "iree/hal/profile_options.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"
#include "iree/hal/semaphore.h"
#include "iree/hal/topology.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_frontier_tracker_t iree_async_frontier_tracker_t;
typedef struct iree_async_proactor_pool_t iree_async_proactor_pool_t;

// A device's number within its driver; 0 is the driver's default.
typedef uintptr_t iree_hal_device_id_t;
#define IREE_HAL_DEVICE_ID_DEFAULT 0ull

// One available device. Strings live as long as the list they came in.
typedef struct iree_hal_device_info_t {
  iree_hal_device_id_t device_id;
  iree_string_view_t path;  // after `driver://` in a URI; may be empty
  iree_string_view_t name;  // for people
} iree_hal_device_info_t;

typedef struct iree_hal_device_create_params_t {
  const void* next;
  iree_async_proactor_pool_t* proactor_pool;  // retained by the device; may be NULL: no device here uses it yet
} iree_hal_device_create_params_t;
static inline iree_hal_device_create_params_t iree_hal_device_create_params_default(void) {
  iree_hal_device_create_params_t params = {NULL, NULL};
  return params;
}

typedef uint64_t iree_hal_alloca_flags_t;
enum iree_hal_alloca_flag_bits_t {
  IREE_HAL_ALLOCA_FLAG_NONE = 0,
  IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME = 1ull << 0,    // queue_dealloca may never come: free with the buffer
  IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER = 1ull << 1,  // may wait for memory that is being freed
};
typedef uint64_t iree_hal_dealloca_flags_t;
enum iree_hal_dealloca_flag_bits_t {
  IREE_HAL_DEALLOCA_FLAG_NONE = 0,
  IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN = 1ull << 0,  // on the queue that allocated it, where that is known
};
typedef uint64_t iree_hal_read_flags_t;
enum iree_hal_read_flag_bits_t { IREE_HAL_READ_FLAG_NONE = 0 };
typedef uint64_t iree_hal_write_flags_t;
enum iree_hal_write_flag_bits_t { IREE_HAL_WRITE_FLAG_NONE = 0 };
typedef uint64_t iree_hal_execute_flags_t;
enum iree_hal_execute_flag_bits_t {
  IREE_HAL_EXECUTE_FLAG_NONE = 0,
  // The caller keeps the table's buffers alive until the work is done.
  IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME = 1ull << 0,
};

typedef uint64_t iree_hal_host_call_flags_t;
enum iree_hal_host_call_flag_bits_e {
  IREE_HAL_HOST_CALL_FLAG_NONE = 0ull,
  IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING = 1ull << 0,  // signals before the call; its failure goes nowhere
  // Hints, which devices here ignore: that the wait may spin, and that the call touches no device memory.
  IREE_HAL_HOST_CALL_FLAG_WAIT_ACTIVE = 1ull << 1,
  IREE_HAL_HOST_CALL_FLAG_RELAXED = 1ull << 2,
};
typedef struct iree_hal_host_call_context_t {
  iree_hal_device_t* device;
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_semaphore_list_t signal_semaphore_list;  // valid during the call: clone it to signal later
} iree_hal_host_call_context_t;
// Runs on some thread of the device's. OK signals; DEFERRED means that the callee signals or fails the list itself;
// other failures fail the list. It must not block on work of the same device.
typedef iree_status_t(IREE_API_PTR* iree_hal_host_call_fn_t)(void* user_data, const uint64_t args[4],
                                                             iree_hal_host_call_context_t* context);
typedef struct iree_hal_host_call_t {
  iree_hal_host_call_fn_t fn;
  void* user_data;
} iree_hal_host_call_t;
static inline iree_hal_host_call_t iree_hal_make_host_call(iree_hal_host_call_fn_t fn, void* user_data) {
  iree_hal_host_call_t call = {fn, user_data};
  return call;
}

//===----------------------------------------------------------------------------------------------------------------===
// What topologies are made of
//===----------------------------------------------------------------------------------------------------------------===

typedef uint64_t iree_hal_device_capability_bits_t;
enum iree_hal_device_capability_bits_e {
  IREE_HAL_DEVICE_CAPABILITY_NONE = 0,
  IREE_HAL_DEVICE_CAPABILITY_TIMELINE_SEMAPHORES = 1ull << 0,
  IREE_HAL_DEVICE_CAPABILITY_UNIFIED_MEMORY = 1ull << 1,
  IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT = 1ull << 2,
  IREE_HAL_DEVICE_CAPABILITY_PEER_COHERENT = 1ull << 3,
  IREE_HAL_DEVICE_CAPABILITY_P2P_COPY = 1ull << 4,  // with devices of the same driver
  IREE_HAL_DEVICE_CAPABILITY_HOST_ZERO_COPY_OK = 1ull << 5,
  IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE = 1ull << 6,
  IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_DEVICE = 1ull << 7,
  IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_SYSTEM = 1ull << 8,
  IREE_HAL_DEVICE_CAPABILITY_ISOLATED = 1ull << 9,
  IREE_HAL_DEVICE_CAPABILITY_PEER_ADDRESSABLE = 1ull << 10,  // by loads and stores, with P2P_COPY
  IREE_HAL_DEVICE_CAPABILITY_SHARED_VIRTUAL_ADDRESS = 1ull << 11,
};

typedef struct iree_hal_device_capabilities_t {
  iree_hal_device_capability_bits_t flags;
  iree_hal_topology_handle_type_t semaphore_export_types;
  iree_hal_topology_handle_type_t semaphore_import_types;
  iree_hal_topology_handle_type_t buffer_export_types;
  iree_hal_topology_handle_type_t buffer_import_types;
  uint8_t numa_node;
  uint8_t reserved[3];
  uint8_t physical_device_uuid[16];  // tells two drivers of one device
  bool has_physical_device_uuid;
  uintptr_t driver_device_handle;  // tells two devices that are one, of one driver; 0: unknown
  uint32_t device_group_index;
  bool has_device_group;
} iree_hal_device_capabilities_t;

typedef struct iree_hal_queue_pool_backend_t {
  iree_hal_slab_provider_t* slab_provider;
  iree_async_notification_t* notification;
  iree_hal_pool_epoch_query_t epoch_query;  // `fn` is NULL: what has ended is told by semaphores
} iree_hal_queue_pool_backend_t;

// A device's place in a group.
typedef struct iree_hal_device_topology_info_t {
  iree_hal_topology_edge_scheduling_word_t self_edge;
  uint32_t topology_index;
  const iree_hal_topology_t* topology;  // the group's; NULL when in none
  // Devices whose semaphores this one can wait for, that can wait for its own, whose buffers it can use, with or
  // without importing them, and with which it shares memory or copies without the host.
  iree_hal_topology_device_bitmap_t can_wait_from;
  iree_hal_topology_device_bitmap_t can_signal_to;
  iree_hal_topology_device_bitmap_t can_import_from;
  iree_hal_topology_device_bitmap_t can_p2p_with;
  struct {
    iree_async_frontier_tracker_t* tracker;  // the group's; may be NULL
    iree_async_axis_t base_axis;             // of queue 0
  } frontier;
} iree_hal_device_topology_info_t;
// The edge between two devices of one group, or the empty one.
static inline iree_hal_topology_edge_t iree_hal_device_topology_query_edge(
    const iree_hal_device_topology_info_t* src_info, const iree_hal_device_topology_info_t* dst_info) {
  if (!src_info->topology || src_info->topology != dst_info->topology) return iree_hal_topology_edge_empty();
  return iree_hal_topology_query_edge(src_info->topology, src_info->topology_index, dst_info->topology_index);
}

//===----------------------------------------------------------------------------------------------------------------===
// iree_hal_device_t
//===----------------------------------------------------------------------------------------------------------------===

IREE_API_EXPORT void iree_hal_device_retain(iree_hal_device_t* device);
// The last release waits for the device's work to end.
IREE_API_EXPORT void iree_hal_device_release(iree_hal_device_t* device);
IREE_API_EXPORT void iree_hal_device_destroy(iree_hal_device_t* device);

// The name it was created with ("local-task"); alive as long as the device.
IREE_API_EXPORT iree_string_view_t iree_hal_device_id(iree_hal_device_t* device);
IREE_API_EXPORT iree_allocator_t iree_hal_device_host_allocator(iree_hal_device_t* device);
// Not retained.
IREE_API_EXPORT iree_hal_allocator_t* iree_hal_device_allocator(iree_hal_device_t* device);
// Only before the device is used.
IREE_API_EXPORT void iree_hal_device_replace_allocator(iree_hal_device_t* device, iree_hal_allocator_t* new_allocator);
// Retained; NULL for none. Only before channels are made.
IREE_API_EXPORT void iree_hal_device_replace_channel_provider(iree_hal_device_t* device,
                                                              iree_hal_channel_provider_t* new_provider);
// Frees what can be had again.
IREE_API_EXPORT iree_status_t iree_hal_device_trim(iree_hal_device_t* device);
// Facts about the device. Categories: `hal.device.id` and `hal.executable.format` (key: a pattern or a format; 1 when
// it matches), `hal.device` (`concurrency`), `hal.dispatch` (`concurrency`), `hal.cpu` (a feature). Errors: NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_hal_device_query_i64(iree_hal_device_t* device, iree_string_view_t category,
                                                        iree_string_view_t key, int64_t* out_value);
IREE_API_EXPORT iree_hal_semaphore_compatibility_t
iree_hal_device_query_semaphore_compatibility(iree_hal_device_t* device, iree_hal_semaphore_t* semaphore);
IREE_API_EXPORT iree_status_t iree_hal_device_query_capabilities(iree_hal_device_t* device,
                                                                 iree_hal_device_capabilities_t* out_capabilities);
// What pools of the application's own are made of, for queues of that affinity (iree_hal_tlsf_pool_create). Both are
// the device's, which must outlive the pools.
IREE_API_EXPORT iree_status_t iree_hal_device_query_queue_pool_backend(iree_hal_device_t* device,
                                                                       iree_hal_queue_affinity_t queue_affinity,
                                                                       iree_hal_queue_pool_backend_t* out_backend);
// NULL when the device is in no group; valid until the group goes or the device joins another.
IREE_API_EXPORT const iree_hal_device_topology_info_t* iree_hal_device_topology_info(iree_hal_device_t* device);
// What a driver knows better of the edge between two of its devices.
IREE_API_EXPORT iree_status_t iree_hal_device_refine_topology_edge(iree_hal_device_t* src_device,
                                                                   iree_hal_device_t* dst_device,
                                                                   iree_hal_topology_edge_t* edge);
// For device groups: puts the device in its place, which is copied; NULL takes it out.
IREE_API_EXPORT iree_status_t
iree_hal_device_assign_topology_info(iree_hal_device_t* device, const iree_hal_device_topology_info_t* topology_info);

// Allocates. The buffer is returned at once and may be named in other operations; its memory is there only once the
// signal semaphores are. `pool` (NULL: the device's own) gives the memory; it has to be there when this is called, and
// goes back with the buffer. Errors: RESOURCE_EXHAUSTED of a pool.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_alloca(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_hal_pool_t* pool, iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
    iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer);
// Frees the memory of a buffer from queue_alloca; using it afterwards fails. For other buffers nothing happens.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_dealloca(iree_hal_device_t* device,
                                                             iree_hal_queue_affinity_t queue_affinity,
                                                             const iree_hal_semaphore_list_t wait_semaphore_list,
                                                             const iree_hal_semaphore_list_t signal_semaphore_list,
                                                             iree_hal_buffer_t* buffer,
                                                             iree_hal_dealloca_flags_t flags);
// The pattern is 1, 2, 4, 8 or 16 bytes; offset and length are multiples of its size.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_fill(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset, iree_device_size_t length, const void* pattern,
    iree_host_size_t pattern_length, iree_hal_fill_flags_t flags);
// The source is copied during the call.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_update(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    const void* source_buffer, iree_host_size_t source_offset, iree_hal_buffer_t* target_buffer,
    iree_device_size_t target_offset, iree_device_size_t length, iree_hal_update_flags_t flags);
IREE_API_EXPORT iree_status_t iree_hal_device_queue_copy(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset, iree_hal_buffer_t* target_buffer,
    iree_device_size_t target_offset, iree_device_size_t length, iree_hal_copy_flags_t flags);
IREE_API_EXPORT iree_status_t iree_hal_device_queue_read(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_hal_file_t* source_file, uint64_t source_offset, iree_hal_buffer_t* target_buffer,
    iree_device_size_t target_offset, iree_device_size_t length, iree_hal_read_flags_t flags);
IREE_API_EXPORT iree_status_t iree_hal_device_queue_write(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset, iree_hal_file_t* target_file,
    uint64_t target_offset, iree_device_size_t length, iree_hal_write_flags_t flags);
// Calls the host.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_host_call(iree_hal_device_t* device,
                                                              iree_hal_queue_affinity_t queue_affinity,
                                                              const iree_hal_semaphore_list_t wait_semaphore_list,
                                                              const iree_hal_semaphore_list_t signal_semaphore_list,
                                                              iree_hal_host_call_t call, const uint64_t args[4],
                                                              iree_hal_host_call_flags_t flags);
// As iree_hal_command_buffer_dispatch, alone; references must be direct.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_dispatch(
    iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
    const iree_hal_semaphore_list_t wait_semaphore_list, const iree_hal_semaphore_list_t signal_semaphore_list,
    iree_hal_executable_t* executable, iree_hal_executable_function_t function, const iree_hal_dispatch_config_t config,
    iree_const_byte_span_t constants, const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags);
// Runs a finished command buffer; NULL runs nothing (a barrier between the semaphores).
IREE_API_EXPORT iree_status_t iree_hal_device_queue_execute(iree_hal_device_t* device,
                                                            iree_hal_queue_affinity_t queue_affinity,
                                                            const iree_hal_semaphore_list_t wait_semaphore_list,
                                                            const iree_hal_semaphore_list_t signal_semaphore_list,
                                                            iree_hal_command_buffer_t* command_buffer,
                                                            iree_hal_buffer_binding_table_t binding_table,
                                                            iree_hal_execute_flags_t flags);
IREE_API_EXPORT iree_status_t iree_hal_device_queue_barrier(iree_hal_device_t* device,
                                                            iree_hal_queue_affinity_t queue_affinity,
                                                            const iree_hal_semaphore_list_t wait_semaphore_list,
                                                            const iree_hal_semaphore_list_t signal_semaphore_list,
                                                            iree_hal_execute_flags_t flags);
// Starts whatever a device may be holding back to batch it.
IREE_API_EXPORT iree_status_t iree_hal_device_queue_flush(iree_hal_device_t* device,
                                                          iree_hal_queue_affinity_t queue_affinity);
// Blocks until all, or any, of the semaphores are reached. Errors: DEADLINE_EXCEEDED, or a failure.
IREE_API_EXPORT iree_status_t iree_hal_device_wait_semaphores(iree_hal_device_t* device,
                                                              iree_async_wait_mode_t wait_mode,
                                                              const iree_hal_semaphore_list_t semaphore_list,
                                                              iree_timeout_t timeout, iree_async_wait_flags_t flags);

//===----------------------------------------------------------------------------------------------------------------===
// Profiling
//===----------------------------------------------------------------------------------------------------------------===

// Starts to watch what is submitted from here on, for a sink that gets it when the profile is flushed or ends. Without
// families nothing happens, and neither call below need follow. Errors: FAILED_PRECONDITION while a profile is taken;
// UNIMPLEMENTED, naming them, for families, counters and filters that the device does not have; INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t iree_hal_device_profiling_begin(iree_hal_device_t* device,
                                                              const iree_hal_device_profiling_options_t* options);
// Gives the sink what there is. Errors: the sink's.
IREE_API_EXPORT iree_status_t iree_hal_device_profiling_flush(iree_hal_device_t* device);
// Ends the profile; work that has not ended by then is left out. Errors: the sink's; RESOURCE_EXHAUSTED when events in
// the device's time had to be dropped.
IREE_API_EXPORT iree_status_t iree_hal_device_profiling_end(iree_hal_device_t* device);

// Captures by a tool outside, which has formats of its own.
typedef uint64_t iree_hal_device_external_capture_flags_t;
enum iree_hal_device_external_capture_flag_bits_t {
  IREE_HAL_DEVICE_EXTERNAL_CAPTURE_FLAG_NONE = 0u,
};
typedef struct iree_hal_device_external_capture_options_t {
  iree_string_view_t provider;   // the tool: "renderdoc", "metal"
  iree_string_view_t file_path;  // the tool's, or empty
  iree_string_view_t label;      // of the capture, or empty
  iree_hal_device_external_capture_flags_t flags;
} iree_hal_device_external_capture_options_t;
// Starts and ends one. No device here has such tools. Errors: INVALID_ARGUMENT without a provider; UNIMPLEMENTED; of
// the end FAILED_PRECONDITION, for there is no capture.
IREE_API_EXPORT iree_status_t iree_hal_device_external_capture_begin(
    iree_hal_device_t* device, const iree_hal_device_external_capture_options_t* options);
IREE_API_EXPORT iree_status_t iree_hal_device_external_capture_end(iree_hal_device_t* device);

//===----------------------------------------------------------------------------------------------------------------===
// Lists of devices, which they retain, of a fixed capacity
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_hal_device_list_t {
  iree_allocator_t host_allocator;
  iree_host_size_t capacity;
  iree_host_size_t count;
  iree_hal_device_t* devices[];
} iree_hal_device_list_t;
IREE_API_EXPORT iree_status_t iree_hal_device_list_allocate(iree_host_size_t capacity, iree_allocator_t host_allocator,
                                                            iree_hal_device_list_t** out_list);
IREE_API_EXPORT void iree_hal_device_list_free(iree_hal_device_list_t* list);
// Errors: RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_hal_device_list_push_back(iree_hal_device_list_t* list, iree_hal_device_t* device);
// Not retained; NULL when `i` is out of range.
IREE_API_EXPORT iree_hal_device_t* iree_hal_device_list_at(const iree_hal_device_list_t* list, iree_host_size_t i);

//===----------------------------------------------------------------------------------------------------------------===
// For drivers
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_hal_device_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_device_t* device);
#define CALL(result, name, parameters, arguments) result(IREE_API_PTR* name) parameters;
#include "iree/hal/device_calls.def"
#undef CALL
  // Optional (NULL): copies `length` bytes between the host and memory of the device that the host does not see, ranges
  // being checked. What is submitted later sees it.
  // Errors: DEFERRED when the copy is to go through the queue.
  iree_status_t(IREE_API_PTR* transfer)(iree_hal_device_t* device, bool to_host, void* host, iree_hal_buffer_t* buffer,
                                        iree_device_size_t offset, iree_device_size_t length, iree_timeout_t timeout);
} iree_hal_device_vtable_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_DEVICE_H_
