// What devices share whose queue calls become operations (local, amdgpu): the operations themselves, buffers whose
// memory comes and goes in queue order, transfers of files and host calls.
//
//   queue call -> operation on the caller's stack -> the driver's `submit`, which may run it there, or move it to the
//   heap -> waits (hal_operation_defer) -> the driver's `start` -> hal_operation_finish: signals, or fails, its
//   semaphores
//
// A driver's device begins with a hal_queued_device_t, its operations with a hal_operation_t.
//
// Threads of a device, and those that signal semaphores, run what others have asked for when an operation ends:
// callbacks of timepoints, host calls, the release of what the operation kept alive. They hold no lock then but a GPU
// queue's for ending parts. Locks are taken in this order: that one, a list of what is watched (amdgpu/fault.c),
// submission to a queue, a queue, a device, and last a semaphore, a pool or a list of what is idle.
#ifndef IREE_C_HAL_QUEUED_DEVICE_H_
#define IREE_C_HAL_QUEUED_DEVICE_H_

#include "hal/idle_list.h"
#include "hal/pool.h"
#include "hal/profile/profile.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"
#include "iree/hal/api.h"

// Operations of 1 KiB, or what the device says, and of twice that, up to 2 MiB: larger ones are not kept.
#define HAL_OPERATION_CLASSES 12

typedef struct hal_operation_t hal_operation_t;
typedef struct hal_queued_device_t hal_queued_device_t;
typedef struct hal_transient_store_t hal_transient_store_t;
typedef void (*hal_visit_resource_fn_t)(const void* resource);

typedef enum {
  HAL_OPERATION_WORK,  // the driver's own: command buffers, dispatches, transfers
  HAL_OPERATION_ALLOCA,
  HAL_OPERATION_DEALLOCA,
  HAL_OPERATION_HOST_CALL,  // from here on: work for a thread of the host
  HAL_OPERATION_READ,
  HAL_OPERATION_WRITE,
} hal_operation_kind_t;

typedef struct hal_host_call_t {
  iree_hal_host_call_t call;
  uint64_t args[4];
  iree_hal_host_call_flags_t flags;
} hal_host_call_t;

typedef struct hal_file_transfer_t {
  iree_hal_file_t* file;
  uint64_t file_offset;
  iree_hal_buffer_t* buffer;
  iree_device_size_t buffer_offset;
  iree_device_size_t length;
} hal_file_transfer_t;

struct hal_operation_t {
  // On the heap, where they stay what they are when the operation becomes another one.
  uint32_t size_class;           // of the list of free operations that it goes back to; HAL_OPERATION_CLASSES: none
  iree_atomic_uint32_t pending;  // waits that are not reached, plus holds; 0: it does not wait
  hal_idle_t idle;
  hal_operation_t *next_allocated, *prev_allocated;  // guarded by the device's mutex

  hal_operation_kind_t kind;
  hal_queued_device_t* device;
  hal_profile_operation_t* profile;  // NULL: not watched; goes when its semaphores are signalled
  iree_hal_queue_affinity_t queue_affinity;
  iree_hal_semaphore_list_t waits;
  iree_hal_semaphore_list_t signals;
  union {
    struct {
      iree_hal_buffer_t* buffer;  // ALLOCA, DEALLOCA
      iree_hal_alloca_flags_t alloca_flags;
    };
    hal_host_call_t host_call;
    hal_file_transfer_t file;  // READ, WRITE
  };
  // On the heap.
  iree_atomic_intptr_t failure;                  // iree_status_t of a wait
  iree_async_semaphore_timepoint_t* timepoints;  // one per wait
  hal_operation_t* next;                         // in the list that it is in
};

// What a driver does with its device's operations.
typedef struct hal_operation_interface_t {
  // Takes an operation of a kind that is not WORK, on the caller's stack with the caller's lists. On errors nothing
  // has happened.
  iree_status_t (*submit)(const hal_operation_t* operation);
  // Starts an operation on the heap whose waits are over: reached, or failed (hal_operation_take_failure).
  void (*start)(hal_operation_t* operation);
  // Visits what an operation of kind WORK keeps alive.
  void (*visit_work)(const hal_operation_t* operation, hal_visit_resource_fn_t visit);
  // The pool for queue-ordered memory of that queue; and frees what pools do not need. NULL where there are none.
  hal_pool_t* (*pool)(hal_queued_device_t* device, iree_hal_queue_affinity_t queue_affinity);
  void (*trim)(hal_queued_device_t* device);
} hal_operation_interface_t;

struct hal_queued_device_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_string_view_t identifier;
  iree_hal_allocator_t* allocator;                // retained
  iree_async_proactor_pool_t* proactor_pool;      // retained; may be NULL
  iree_hal_device_capabilities_t capabilities;    // beside those of all devices
  iree_hal_channel_provider_t* channel_provider;  // retained; may be NULL
  // Makes channels; NULL: those between ranks of this process (hal/collective.h).
  iree_status_t (*create_channel)(iree_hal_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                  const iree_hal_channel_params_t* params, iree_hal_channel_t** out_channel);
  // Of iree_hal_device_vtable_t; NULL: capabilities say it all.
  iree_status_t (*refine_topology_edge)(iree_hal_device_t* src, iree_hal_device_t* dst, iree_hal_topology_edge_t* edge);
  const hal_operation_interface_t* interface;
  const hal_profile_interface_t* profile_interface;  // NULL: the device has nothing to tell
  iree_device_size_t block_alignment;                // bytes, of what the allocator gives
  size_t pooled_operation_size;                      // bytes of the smallest operations that are kept; 0: 1024
  bool aborts_on_failure;

  iree_atomic_uint32_t outstanding;  // operations on the heap
  iree_atomic_uint32_t is_closing;
  iree_atomic_intptr_t ended;  // hal_operation_t*: what ended since, whose resources are still kept alive
  hal_idle_list_t free_operations[HAL_OPERATION_CLASSES];
  hal_idle_list_t free_staging;
  iree_atomic_intptr_t profile;                   // hal_profile_t*, while one is taken; changed under the mutex
  iree_slim_mutex_t mutex;                        // guards what follows, and the allocator
  hal_operation_t* allocated;                     // all operations on the heap, also free ones
  hal_transient_store_t* transients;              // NULL until there are any
  iree_hal_slab_provider_t* pool_slabs;           // of pools of the application's; NULL until asked for
  iree_async_notification_t* pool_notification;   // likewise
  iree_hal_device_topology_info_t topology_info;  // without a topology when in no group

  void (*destroy)(iree_hal_device_t* device);  // on a thread of its own, which is in `destroyer`
  iree_atomic_intptr_t destroyer;
};

// Fields before `mutex` are the caller's to set.
void hal_queued_initialize(hal_queued_device_t* device);
// First of all when a device is destroyed: the last reference may go where an operation ends, on a thread that the
// device would wait for. Then `destroy` runs again on another thread, and this returns true.
bool hal_queued_destroy_elsewhere(hal_queued_device_t* device, void (*destroy)(iree_hal_device_t* device));
// Fails operations that still wait, and waits for those that run. What any of them keeps alive stays until all have
// ended: operations that run may borrow it. To be called first when a device is destroyed here.
void hal_queued_close(hal_queued_device_t* device);
// Releases everything else; not the memory of the device.
void hal_queued_deinitialize(hal_queued_device_t* device);

//===----------------------------------------------------------------------------------------------------------------===
// Calls of the vtable that are the same for all
//===----------------------------------------------------------------------------------------------------------------===

#define CALL(result, name, parameters, arguments) result hal_device_##name parameters;
#include "iree/hal/device_calls.def"
#undef CALL
// What query_i64 finds when the key is a device's own business no more. Errors: NOT_FOUND.
typedef struct hal_device_facts_t {
  int64_t queue_count;
  int64_t dispatch_concurrency;
  bool (*takes_format)(hal_queued_device_t* device, iree_string_view_t format);
} hal_device_facts_t;
iree_status_t hal_device_query_facts(hal_queued_device_t* device, iree_string_view_t category, iree_string_view_t key,
                                     const hal_device_facts_t* facts, int64_t* out_value);

#define HAL_QUEUED_DEVICE_CALLS                                                                                     \
  .id = hal_device_id, .host_allocator = hal_device_host_allocator, .allocator = hal_device_allocator,              \
  .replace_allocator = hal_device_replace_allocator, .trim = hal_device_trim,                                       \
  .replace_channel_provider = hal_device_replace_channel_provider, .create_channel = hal_device_create_channel,     \
  .query_queue_pool_backend = hal_device_query_queue_pool_backend,                                                  \
  .query_capabilities = hal_device_query_capabilities, .topology_info = hal_device_topology_info,                   \
  .assign_topology_info = hal_device_assign_topology_info, .refine_topology_edge = hal_device_refine_topology_edge, \
  .query_semaphore_compatibility = hal_device_query_semaphore_compatibility, .import_file = hal_device_import_file, \
  .queue_alloca = hal_device_queue_alloca, .queue_dealloca = hal_device_queue_dealloca,                             \
  .queue_read = hal_device_queue_read, .queue_write = hal_device_queue_write,                                       \
  .queue_host_call = hal_device_queue_host_call, .queue_flush = hal_device_queue_flush,                             \
  .profiling_begin = hal_device_profiling_begin, .profiling_flush = hal_device_profiling_flush,                     \
  .profiling_end = hal_device_profiling_end

//===----------------------------------------------------------------------------------------------------------------===
// Operations (operation.c)
//===----------------------------------------------------------------------------------------------------------------===

// An operation of the driver's to be moved to the heap.
typedef struct hal_operation_move_t {
  const hal_operation_t* source;
  size_t size;        // of the driver's struct
  size_t extra_size;  // bytes that the driver wants behind it, aligned to 8
} hal_operation_move_t;
// Copies an operation with its lists and keeps alive what it uses. Pointers of the driver's part are still the
// source's.
iree_status_t hal_operation_move(const hal_operation_move_t* move, hal_operation_t** out_operation,
                                 uint8_t** out_extra);
// Frees operations that are kept for the next.
void hal_operation_trim(hal_queued_device_t* device);
// Starts the operation when its waits are over. It may be gone when this returns.
void hal_operation_defer(hal_operation_t* operation);
// Starts an operation on the heap, after those that this thread is starting already.
void hal_operation_start_in_turn(hal_operation_t* operation);
// The failure of a wait, which is the caller's from then on.
iree_status_t hal_operation_take_failure(hal_operation_t* operation);
// Ends an operation on the heap: signals its semaphores when `status` is OK, else fails them, unless a host call does
// that by itself. Consumes `status`.
void hal_operation_finish(hal_operation_t* operation, iree_status_t status);
// The two halves of that: the semaphores, also for one that is not on the heap, and everything else.
void hal_operation_signal(const hal_operation_t* operation, iree_status_t status);
void hal_operation_release(hal_operation_t* operation);
static inline bool hal_operation_is_for_host(const hal_operation_t* operation) {
  return operation->kind >= HAL_OPERATION_HOST_CALL;
}

// Does what an operation of a kind that is not WORK is about, on this thread, for devices whose memory is the host's.
// The status is for hal_operation_finish or _signal.
iree_status_t hal_operation_run(const hal_operation_t* operation);
// Work of the host: the same.
iree_status_t hal_operation_call_host(const hal_operation_t* operation);
iree_status_t hal_operation_transfer_file(const hal_operation_t* operation);
// The same through staging buffers and copies in the device's queue, for buffers that the host cannot map. Waits for
// copies of other pieces, and for all of a write. Of a read *out_is_submitted says that the last copy is in the queue
// and signals for the operation, which is only to be released.
iree_status_t hal_operation_stage_file(const hal_operation_t* operation, bool* out_is_submitted);
// Frees staging buffers that are kept for the next.
void hal_staging_trim(hal_queued_device_t* device);

//===----------------------------------------------------------------------------------------------------------------===
// Profiles
//===----------------------------------------------------------------------------------------------------------------===

static inline bool hal_profile_is_on(hal_queued_device_t* device) {
  return IREE_UNLIKELY(iree_atomic_load(&device->profile, iree_memory_order_relaxed) != 0);
}
// What an operation of kind WORK is.
typedef struct hal_profile_work_t {
  iree_hal_profile_queue_event_type_t type;
  uint64_t payload_length;  // bytes
  hal_profile_program_t program;
} hal_profile_work_t;
// Begins to watch an operation, of which `work` is only looked at when its kind is WORK.
void hal_operation_watch(hal_operation_t* operation, const hal_profile_work_t* work);

//===----------------------------------------------------------------------------------------------------------------===
// Queue-ordered buffers (transient.c)
//===----------------------------------------------------------------------------------------------------------------===

// The number of a buffer in profiles, which it gets when it is asked for first; 0 when it is not queue-ordered.
uint64_t hal_transient_allocation(iree_hal_buffer_t* buffer);
// A buffer without memory.
iree_status_t hal_transient_create(hal_queued_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                   const iree_hal_buffer_params_t* params, iree_device_size_t size,
                                   iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer);
bool hal_transient_is(iree_hal_buffer_t* buffer);
// Gets memory, which the device may use after `out_frontier`.
iree_status_t hal_transient_stage(iree_hal_buffer_t* buffer, hal_pool_taker_t taker, hal_pool_frontier_t* out_frontier);
// Lets the host see it.
void hal_transient_commit(iree_hal_buffer_t* buffer);
// Notes whether a release is submitted; false when that was noted before.
bool hal_transient_mark_released(iree_hal_buffer_t* buffer, bool is_released);
// Gives memory of a pool back already, for use after `point`, at which nothing uses it any more.
void hal_transient_release_after(iree_hal_buffer_t* buffer, hal_pool_point_t point);
// Gives the memory back to the device.
void hal_transient_decommit(iree_hal_buffer_t* buffer);
// The memory of a transient buffer, which begins at an offset, or NULL when it has none; other buffers are their own
// memory.
iree_hal_buffer_t* hal_transient_block(iree_hal_buffer_t* buffer, iree_device_size_t* out_offset);
// Drops freed memory that is kept for later.
void hal_transient_trim(hal_queued_device_t* device);
// The same, for good.
void hal_transient_close(hal_queued_device_t* device);
// The failure of using a buffer without memory.
iree_status_t hal_transient_fail(void);

#endif  // IREE_C_HAL_QUEUED_DEVICE_H_
