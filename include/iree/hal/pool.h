// Pools: where an application wants queue-ordered allocations to come from (iree_hal_device_queue_alloca). A pool hands
// out reservations, ranges of memory of its own, and makes buffers of them. There are three over slabs of memory
// (memory/tlsf_pool.h, memory/fixed_block_pool.h, memory/passthrough_pool.h); an implementation is a type that begins
// with iree_hal_resource_t, initialized with the vtable below. Thread safe.
#ifndef IREE_HAL_POOL_H_
#define IREE_HAL_POOL_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/async/frontier.h"
#include "iree/base/api.h"
#include "iree/hal/buffer.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_async_notification_t iree_async_notification_t;
typedef struct iree_hal_pool_t iree_hal_pool_t;

// What came of asking for a reservation.
enum iree_hal_pool_acquire_result_e {
  IREE_HAL_POOL_ACQUIRE_OK = 0,             // memory used before, by work that is over for the one who asks
  IREE_HAL_POOL_ACQUIRE_OK_FRESH = 1,       // memory never used before
  IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT = 2,  // only where ALLOW_WAIT_FRONTIER: usable after info->wait_frontier
  IREE_HAL_POOL_ACQUIRE_EXHAUSTED = 3,      // nothing is free
  IREE_HAL_POOL_ACQUIRE_OVER_BUDGET = 4,
};
typedef uint32_t iree_hal_pool_acquire_result_t;

typedef struct iree_hal_pool_reservation_t {
  iree_device_size_t offset;  // bytes, in the pool's range
  iree_device_size_t length;  // bytes, at least what was asked for
  uint64_t block_handle;      // the pool's own
  uint16_t slab_index;
  uint16_t reserved[3];
} iree_hal_pool_reservation_t;

enum iree_hal_pool_reserve_flag_bits_e {
  IREE_HAL_POOL_RESERVE_FLAG_NONE = 0u,
  IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER = 1u << 0,
  IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH = 1u << 1,
};
typedef uint32_t iree_hal_pool_reserve_flags_t;

enum iree_hal_pool_acquire_flag_bits_e {
  IREE_HAL_POOL_ACQUIRE_FLAG_NONE = 0u,
  IREE_HAL_POOL_ACQUIRE_FLAG_WAIT_FRONTIER_TAINTED = 1u << 0,  // not known exactly
  IREE_HAL_POOL_ACQUIRE_FLAG_GROWTH_REQUIRED = 1u << 1,        // exhausted as growth was not allowed
};
typedef uint32_t iree_hal_pool_acquire_flags_t;
typedef struct iree_hal_pool_acquire_info_t {
  const iree_async_frontier_t* wait_frontier;  // the pool's
  iree_hal_pool_acquire_flags_t flags;
  uint32_t reserved;
} iree_hal_pool_acquire_info_t;

enum iree_hal_pool_materialize_flag_bits_e {
  IREE_HAL_POOL_MATERIALIZE_FLAG_NONE = 0u,
  // The buffer gives the reservation back when it goes; otherwise that is the caller's to do.
  IREE_HAL_POOL_MATERIALIZE_FLAG_TRANSFER_RESERVATION_OWNERSHIP = 1u << 0,
};
typedef uint32_t iree_hal_pool_materialize_flags_t;

typedef struct iree_hal_pool_capabilities_t {
  iree_hal_memory_type_t memory_type;
  iree_hal_buffer_usage_t supported_usage;
  iree_device_size_t min_allocation_size;  // bytes
  iree_device_size_t max_allocation_size;  // bytes; 0: no limit
} iree_hal_pool_capabilities_t;

typedef struct iree_hal_pool_stats_t {
  iree_device_size_t bytes_reserved;
  iree_device_size_t bytes_free;
  iree_device_size_t bytes_committed;
  iree_device_size_t budget_limit;  // 0: none
  uint32_t reservation_count;       // now
  uint32_t slab_count;
  uint64_t reserve_count;  // ever, as the next
  uint64_t release_count;
  uint64_t reuse_count;
  uint64_t reuse_miss_count;
  uint64_t fresh_count;
  uint64_t exhausted_count;
  uint64_t over_budget_count;
  uint64_t wait_count;
} iree_hal_pool_stats_t;

// Whether an axis has reached an epoch.
typedef bool(IREE_API_PTR* iree_hal_pool_epoch_query_fn_t)(void* user_data, iree_async_axis_t axis, uint64_t epoch);
typedef struct iree_hal_pool_epoch_query_t {
  iree_hal_pool_epoch_query_fn_t fn;
  void* user_data;
} iree_hal_pool_epoch_query_t;
static inline iree_hal_pool_epoch_query_t iree_hal_pool_epoch_query_null(void) {
  iree_hal_pool_epoch_query_t query = {NULL, NULL};
  return query;
}

IREE_API_EXPORT void iree_hal_pool_retain(iree_hal_pool_t* pool);
IREE_API_EXPORT void iree_hal_pool_release(iree_hal_pool_t* pool);
IREE_API_EXPORT void iree_hal_pool_destroy(iree_hal_pool_t* pool);
// Asks for memory, and returns at once. *out_reservation is set for the results that are OK. `requester_frontier` (may
// be NULL) is what has happened before the memory is used.
IREE_API_EXPORT iree_status_t iree_hal_pool_acquire_reservation(iree_hal_pool_t* pool, iree_device_size_t size,
                                                                iree_device_size_t alignment,
                                                                const iree_async_frontier_t* requester_frontier,
                                                                iree_hal_pool_reserve_flags_t flags,
                                                                iree_hal_pool_reservation_t* out_reservation,
                                                                iree_hal_pool_acquire_info_t* out_info,
                                                                iree_hal_pool_acquire_result_t* out_result);
// Gives it back, for use after `death_frontier` (NULL: now).
IREE_API_EXPORT void iree_hal_pool_release_reservation(iree_hal_pool_t* pool,
                                                       const iree_hal_pool_reservation_t* reservation,
                                                       const iree_async_frontier_t* death_frontier);
// A buffer over it.
IREE_API_EXPORT iree_status_t iree_hal_pool_materialize_reservation(iree_hal_pool_t* pool,
                                                                    iree_hal_buffer_params_t params,
                                                                    const iree_hal_pool_reservation_t* reservation,
                                                                    iree_hal_pool_materialize_flags_t flags,
                                                                    iree_hal_buffer_t** out_buffer);
IREE_API_EXPORT void iree_hal_pool_query_capabilities(const iree_hal_pool_t* pool,
                                                      iree_hal_pool_capabilities_t* out_capabilities);
IREE_API_EXPORT void iree_hal_pool_query_stats(const iree_hal_pool_t* pool, iree_hal_pool_stats_t* out_stats);
// Gives unused memory back to the system.
IREE_API_EXPORT iree_status_t iree_hal_pool_trim(iree_hal_pool_t* pool);
// What is notified when reservations are given back; NULL for pools without.
IREE_API_EXPORT iree_async_notification_t* iree_hal_pool_notification(iree_hal_pool_t* pool);
// A buffer that owns its reservation. Where nothing is free, asks again until the timeout: when the pool notifies, else
// now and then. Errors: INVALID_ARGUMENT for
// what the pool does not have, RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_hal_pool_allocate_buffer(iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
                                                            iree_device_size_t allocation_size,
                                                            const iree_async_frontier_t* requester_frontier,
                                                            iree_timeout_t timeout, iree_hal_buffer_t** out_buffer);

typedef struct iree_hal_pool_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_pool_t* pool);
  iree_status_t(IREE_API_PTR* acquire_reservation)(iree_hal_pool_t* pool, iree_device_size_t size,
                                                   iree_device_size_t alignment,
                                                   const iree_async_frontier_t* requester_frontier,
                                                   iree_hal_pool_reserve_flags_t flags,
                                                   iree_hal_pool_reservation_t* out_reservation,
                                                   iree_hal_pool_acquire_info_t* out_info,
                                                   iree_hal_pool_acquire_result_t* out_result);
  void(IREE_API_PTR* release_reservation)(iree_hal_pool_t* pool, const iree_hal_pool_reservation_t* reservation,
                                          const iree_async_frontier_t* death_frontier);
  iree_status_t(IREE_API_PTR* materialize_reservation)(iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
                                                       const iree_hal_pool_reservation_t* reservation,
                                                       iree_hal_pool_materialize_flags_t flags,
                                                       iree_hal_buffer_t** out_buffer);
  void(IREE_API_PTR* query_capabilities)(const iree_hal_pool_t* pool, iree_hal_pool_capabilities_t* out_capabilities);
  void(IREE_API_PTR* query_stats)(const iree_hal_pool_t* pool, iree_hal_pool_stats_t* out_stats);
  iree_status_t(IREE_API_PTR* trim)(iree_hal_pool_t* pool);
  iree_async_notification_t*(IREE_API_PTR* notification)(iree_hal_pool_t* pool);
} iree_hal_pool_vtable_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_POOL_H_
