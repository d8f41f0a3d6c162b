// Timeline semaphores: a 64-bit value that only grows. Work waits for a value and signals another; that is how all
// asynchronous work is ordered. A semaphore can also fail, once and for good: everything that waits on it fails then.
// Thread safe.
#ifndef IREE_HAL_SEMAPHORE_H_
#define IREE_HAL_SEMAPHORE_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/async/primitive.h"
#include "iree/async/semaphore.h"
#include "iree/base/api.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_device_t iree_hal_device_t;
typedef struct iree_hal_semaphore_t iree_hal_semaphore_t;

enum iree_hal_semaphore_flag_bits_t {
  IREE_HAL_SEMAPHORE_FLAG_NONE = 0ull,
  IREE_HAL_SEMAPHORE_FLAG_DEVICE_LOCAL = 1ull << 0,           // waited for and signalled by the device only
  IREE_HAL_SEMAPHORE_FLAG_HOST_INTERRUPT = 1ull << 1,         // the host will wait
  IREE_HAL_SEMAPHORE_FLAG_EXPORTABLE = 1ull << 2,             // may be shared with other devices
  IREE_HAL_SEMAPHORE_FLAG_EXPORTABLE_TIMEPOINTS = 1ull << 3,  // points on it may be shared
  IREE_HAL_SEMAPHORE_FLAG_SINGLE_PRODUCER = 1ull << 4,        // one thread at a time signals
  IREE_HAL_SEMAPHORE_FLAG_DEFAULT =
      IREE_HAL_SEMAPHORE_FLAG_HOST_INTERRUPT | IREE_HAL_SEMAPHORE_FLAG_EXPORTABLE_TIMEPOINTS,
};
typedef uint64_t iree_hal_semaphore_flags_t;

// Values are at most MAX_VALUE. A failed semaphore's value reads as FAILURE_VALUE or above.
#define IREE_HAL_SEMAPHORE_MAX_VALUE (2147483647ull - 1)
#define IREE_HAL_SEMAPHORE_FAILURE_VALUE (IREE_HAL_SEMAPHORE_MAX_VALUE + 1)

// Who can wait on and signal a semaphore together with a device's work.
enum iree_hal_semaphore_compatibility_bits_t {
  IREE_HAL_SEMAPHORE_COMPATIBILITY_NONE = 0u,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_WAIT = 1u << 0,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT = 1u << 1,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_SIGNAL = 1u << 2,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_SIGNAL = 1u << 3,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_ONLY =
      IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_WAIT | IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_SIGNAL,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_ONLY =
      IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT | IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_SIGNAL,
  IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL =
      IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_ONLY | IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_ONLY,
};
typedef uint32_t iree_hal_semaphore_compatibility_t;
IREE_API_EXPORT iree_status_t iree_hal_semaphore_compatibility_parse(iree_string_view_t value,
                                                                     iree_hal_semaphore_compatibility_t* out_value);
IREE_API_EXPORT iree_string_view_t iree_hal_semaphore_compatibility_format(iree_hal_semaphore_compatibility_t value,
                                                                           iree_bitfield_string_temp_t* out_temp);

// A point of a timeline as something else.
typedef enum iree_hal_external_timepoint_type_e {
  IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_NONE = 0,
  IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_ASYNC_PRIMITIVE,  // a file descriptor that is readable from then on
  IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_CUDA_EVENT,       // of drivers that have them, as the next
  IREE_HAL_EXTERNAL_TIMEPOINT_TYPE_HIP_EVENT,
} iree_hal_external_timepoint_type_t;
enum iree_hal_external_timepoint_flag_bits_t {
  IREE_HAL_EXTERNAL_TIMEPOINT_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_external_timepoint_flags_t;
typedef struct iree_hal_external_timepoint_t {
  iree_hal_external_timepoint_type_t type;
  iree_hal_external_timepoint_flags_t flags;
  iree_hal_semaphore_compatibility_t compatibility;  // what its owner may do
  union {
    iree_async_primitive_t async_primitive;
    void* cuda_event;
    void* hip_event;
  } handle;
} iree_hal_external_timepoint_t;

// A semaphore for work on `device`.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_create(iree_hal_device_t* device,
                                                        iree_hal_queue_affinity_t queue_affinity,
                                                        uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                                        iree_hal_semaphore_t** out_semaphore);
IREE_API_EXPORT void iree_hal_semaphore_retain(iree_hal_semaphore_t* semaphore);
IREE_API_EXPORT void iree_hal_semaphore_release(iree_hal_semaphore_t* semaphore);
IREE_API_EXPORT void iree_hal_semaphore_destroy(iree_hal_semaphore_t* semaphore);

// The value now; later queries never see less. Errors: the failure, with *out_value >= FAILURE_VALUE.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_query(iree_hal_semaphore_t* semaphore, uint64_t* out_value);
// Raises the value to `new_value`; nothing happens when it is there already. `frontier` (may be NULL) says what has
// happened before the signal; devices here order by values alone and do not read it. Errors: the failure, when it has
// failed; OUT_OF_RANGE above MAX_VALUE.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_signal(iree_hal_semaphore_t* semaphore, uint64_t new_value,
                                                        const iree_async_frontier_t* frontier);
// Fails it. Consumes `status`; the first failure stays.
IREE_API_EXPORT void iree_hal_semaphore_fail(iree_hal_semaphore_t* semaphore, iree_status_t status);
// Blocks until the value is reached. The thread may run the device's work meanwhile. Errors: DEADLINE_EXCEEDED (a bare
// code), or a copy of the failure.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_wait(iree_hal_semaphore_t* semaphore, uint64_t value,
                                                      iree_timeout_t timeout, iree_async_wait_flags_t flags);
// The wait as a wait source; the semaphore must outlive it.
IREE_API_EXPORT iree_wait_source_t iree_hal_semaphore_await(iree_hal_semaphore_t* semaphore, uint64_t value);

// Signals `value` when the handle is ready; an end of file without that, as of a pipe that is closed, fails the
// semaphore. The handle is the semaphore's from then on, unless the call fails: duplicate what is still needed. The
// semaphore lives until then. Events, of devices whose driver has them (cuda, hip), are recorded before and stay the
// caller's; a device that is released waits for them. Errors: INVALID_ARGUMENT for what cannot be waited for,
// UNAVAILABLE for other types.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_import_timepoint(iree_hal_semaphore_t* semaphore, uint64_t value,
                                                                  iree_hal_queue_affinity_t queue_affinity,
                                                                  iree_hal_external_timepoint_t external_timepoint);
// A handle that becomes ready when `value` is reached, and also when the semaphore fails or goes: then ask it. The
// caller closes it, when it likes. An event is recorded behind the work that reaches `value`; the caller destroys it.
// Errors: UNAVAILABLE for types that are not the driver's; FAILED_PRECONDITION for an event of a value that nothing in
// a queue reaches yet.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_export_timepoint(
    iree_hal_semaphore_t* semaphore, uint64_t value, iree_hal_queue_affinity_t queue_affinity,
    iree_hal_external_timepoint_type_t requested_type, iree_hal_external_timepoint_flags_t requested_flags,
    iree_hal_external_timepoint_t* out_external_timepoint);

//===----------------------------------------------------------------------------------------------------------------===
// Lists: semaphores with one value each. Not owned unless cloned.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_hal_semaphore_list_t {
  iree_host_size_t count;
  iree_hal_semaphore_t** semaphores;
  uint64_t* payload_values;
} iree_hal_semaphore_list_t;
static inline iree_hal_semaphore_list_t iree_hal_semaphore_list_empty(void) {
  iree_hal_semaphore_list_t list = {0, NULL, NULL};
  return list;
}
static inline bool iree_hal_semaphore_list_is_empty(iree_hal_semaphore_list_t semaphore_list) {
  return semaphore_list.count == 0;
}
IREE_API_EXPORT void iree_hal_semaphore_list_retain(iree_hal_semaphore_list_t semaphore_list);
IREE_API_EXPORT void iree_hal_semaphore_list_release(iree_hal_semaphore_list_t semaphore_list);
// A deep copy with references; free it with iree_hal_semaphore_list_free.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_list_clone(const iree_hal_semaphore_list_t* source_list,
                                                            iree_allocator_t host_allocator,
                                                            iree_hal_semaphore_list_t* out_list);
IREE_API_EXPORT void iree_hal_semaphore_list_free(iree_hal_semaphore_list_t list, iree_allocator_t host_allocator);
// Takes the `i`-th out, in constant time: the last takes its place.
IREE_API_EXPORT void iree_hal_semaphore_list_erase(iree_hal_semaphore_list_t* semaphore_list, iree_host_size_t i);
// True when every value is reached (a failure counts as not reached).
IREE_API_EXPORT bool iree_hal_semaphore_list_poll(iree_hal_semaphore_list_t semaphore_list);
// Signals each to its value. On an error the rest is failed with it.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_list_signal(iree_hal_semaphore_list_t semaphore_list,
                                                             const iree_async_frontier_t* frontier);
// Fails each with a copy; consumes `signal_status`.
IREE_API_EXPORT void iree_hal_semaphore_list_fail(iree_hal_semaphore_list_t semaphore_list,
                                                  iree_status_t signal_status);
// Waits for all. Errors as iree_hal_semaphore_wait.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_list_wait(iree_hal_semaphore_list_t semaphore_list,
                                                           iree_timeout_t timeout, iree_async_wait_flags_t flags);
// Waits for one of them, any. Errors as iree_hal_semaphore_wait; a failure of any is one.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_list_wait_any(iree_hal_semaphore_list_t semaphore_list,
                                                               iree_timeout_t timeout, iree_async_wait_flags_t flags);

//===----------------------------------------------------------------------------------------------------------------===
// For drivers: every semaphore keeps its timeline on the host in this base. A driver's own type embeds it first.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_hal_semaphore_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_semaphore_t* semaphore);
  // Blocks until reached, failed or the deadline; the status as iree_hal_semaphore_wait. The value is not reached yet.
  iree_status_t(IREE_API_PTR* wait)(iree_hal_semaphore_t* semaphore, uint64_t value, iree_time_t deadline_ns,
                                    iree_async_wait_flags_t flags);
  // Optional (NULL): runs after the value changed or the semaphore failed.
  void(IREE_API_PTR* changed)(iree_hal_semaphore_t* semaphore);
  // Optional: runs after a timepoint of that value was added, outside of all locks.
  void(IREE_API_PTR* watched)(iree_hal_semaphore_t* semaphore, uint64_t value);
  // Optional: timepoints of types that are the driver's.
  iree_status_t(IREE_API_PTR* import_timepoint)(iree_hal_semaphore_t* semaphore, uint64_t value,
                                                iree_hal_queue_affinity_t queue_affinity,
                                                iree_hal_external_timepoint_t external_timepoint);
  iree_status_t(IREE_API_PTR* export_timepoint)(iree_hal_semaphore_t* semaphore, uint64_t value,
                                                iree_hal_queue_affinity_t queue_affinity,
                                                iree_hal_external_timepoint_type_t requested_type,
                                                iree_hal_external_timepoint_flags_t requested_flags,
                                                iree_hal_external_timepoint_t* out_external_timepoint);
} iree_hal_semaphore_vtable_t;

// Every asynchronous semaphore is one of these.
static inline iree_hal_semaphore_t* iree_hal_semaphore_cast(iree_async_semaphore_t* async_semaphore) {
  return async_semaphore;
}

struct iree_hal_semaphore_t {
  iree_hal_resource_t resource;
  iree_atomic_uint64_t value;    // FAILURE_VALUE once failed
  iree_atomic_uint32_t waiters;  // timepoints: whether a signal needs the slow path
  iree_slim_mutex_t mutex;       // guards what follows
  iree_status_t failure;
  iree_async_semaphore_timepoint_t* timepoints;  // by growing values
  iree_async_semaphore_timepoint_t* last_timepoint;
};

IREE_API_EXPORT void iree_hal_semaphore_initialize(const iree_hal_semaphore_vtable_t* vtable, uint64_t initial_value,
                                                   iree_hal_semaphore_t* out_semaphore);
// Timepoints that are still pending are called with ABORTED.
IREE_API_EXPORT void iree_hal_semaphore_deinitialize(iree_hal_semaphore_t* semaphore);
// A copy of the failure; OK when it has not failed.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_clone_failure(iree_hal_semaphore_t* semaphore);
// vtable->wait for drivers without a better way: spins a moment, then sleeps.
IREE_API_EXPORT iree_status_t iree_hal_semaphore_wait_default(iree_hal_semaphore_t* semaphore, uint64_t value,
                                                              iree_time_t deadline_ns, iree_async_wait_flags_t flags);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_SEMAPHORE_H_
