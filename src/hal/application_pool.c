// Pools of applications: the calls, and allocation from them.
#include "hal/detail.h"
#include "hal/notification.h"
#include "iree/hal/pool.h"

#define RETRY_NS ((iree_duration_t)1000000)  // between attempts at an exhausted pool that notifies nobody

HAL_DEFINE_LIFETIME(pool)

#define POOL_CALL(pool, method) HAL_CALL(pool, iree_hal_pool, method)

iree_status_t iree_hal_pool_acquire_reservation(iree_hal_pool_t* pool, iree_device_size_t size,
                                                iree_device_size_t alignment,
                                                const iree_async_frontier_t* requester_frontier,
                                                iree_hal_pool_reserve_flags_t flags,
                                                iree_hal_pool_reservation_t* out_reservation,
                                                iree_hal_pool_acquire_info_t* out_info,
                                                iree_hal_pool_acquire_result_t* out_result) {
  memset(out_info, 0, sizeof(*out_info));
  *out_result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  if (!iree_device_size_is_valid_alignment(alignment)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "alignment %" PRIdsz " is not a power of two", alignment);
  }
  return POOL_CALL(pool, acquire_reservation)(pool, size, alignment, requester_frontier, flags, out_reservation,
                                              out_info, out_result);
}

void iree_hal_pool_release_reservation(iree_hal_pool_t* pool, const iree_hal_pool_reservation_t* reservation,
                                       const iree_async_frontier_t* death_frontier) {
  POOL_CALL(pool, release_reservation)(pool, reservation, death_frontier);
}

iree_status_t iree_hal_pool_materialize_reservation(iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
                                                    const iree_hal_pool_reservation_t* reservation,
                                                    iree_hal_pool_materialize_flags_t flags,
                                                    iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  return POOL_CALL(pool, materialize_reservation)(pool, params, reservation, flags, out_buffer);
}

void iree_hal_pool_query_capabilities(const iree_hal_pool_t* pool, iree_hal_pool_capabilities_t* out_capabilities) {
  memset(out_capabilities, 0, sizeof(*out_capabilities));
  POOL_CALL(pool, query_capabilities)(pool, out_capabilities);
}

void iree_hal_pool_query_stats(const iree_hal_pool_t* pool, iree_hal_pool_stats_t* out_stats) {
  memset(out_stats, 0, sizeof(*out_stats));
  POOL_CALL(pool, query_stats)(pool, out_stats);
}

iree_status_t iree_hal_pool_trim(iree_hal_pool_t* pool) { return POOL_CALL(pool, trim)(pool); }

iree_async_notification_t* iree_hal_pool_notification(iree_hal_pool_t* pool) {
  return POOL_CALL(pool, notification)(pool);
}

static iree_status_t check_request(iree_hal_pool_t* pool, const iree_hal_buffer_params_t* params,
                                   iree_device_size_t size) {
  iree_hal_pool_capabilities_t has;
  iree_hal_pool_query_capabilities(pool, &has);
  const iree_hal_memory_type_t type = params->type & ~(iree_hal_memory_type_t)IREE_HAL_MEMORY_TYPE_OPTIMAL;
  if (size == 0 || (has.max_allocation_size && size > has.max_allocation_size)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the pool has no buffers of %" PRIdsz " bytes: at most %" PRIdsz, size,
                            has.max_allocation_size);
  }
  IREE_RETURN_IF_ERROR(iree_hal_buffer_validate_memory_type(has.memory_type, type));
  return iree_hal_buffer_validate_usage(has.supported_usage, params->usage);
}

// One attempt; *out_buffer stays NULL when nothing is free.
static iree_status_t try_allocate(iree_hal_pool_t* pool, const iree_hal_buffer_params_t* params,
                                  iree_device_size_t size, const iree_async_frontier_t* requester_frontier,
                                  iree_hal_pool_acquire_result_t* out_result, iree_hal_buffer_t** out_buffer) {
  iree_hal_pool_reservation_t reservation;
  iree_hal_pool_acquire_info_t info;
  IREE_RETURN_IF_ERROR(iree_hal_pool_acquire_reservation(pool, size, iree_max(params->min_alignment, 1),
                                                         requester_frontier, IREE_HAL_POOL_RESERVE_FLAG_NONE,
                                                         &reservation, &info, out_result));
  switch (*out_result) {
    case IREE_HAL_POOL_ACQUIRE_OK:
    case IREE_HAL_POOL_ACQUIRE_OK_FRESH:
      break;
    case IREE_HAL_POOL_ACQUIRE_EXHAUSTED:
    case IREE_HAL_POOL_ACQUIRE_OVER_BUDGET:
      return iree_ok_status();
    default:
      iree_hal_pool_release_reservation(pool, &reservation, info.wait_frontier);
      return iree_make_status(IREE_STATUS_INTERNAL, "the pool gave a reservation that needs a wait; none was allowed");
  }
  iree_status_t status = iree_hal_pool_materialize_reservation(
      pool, *params, &reservation, IREE_HAL_POOL_MATERIALIZE_FLAG_TRANSFER_RESERVATION_OWNERSHIP, out_buffer);
  if (!iree_status_is_ok(status)) iree_hal_pool_release_reservation(pool, &reservation, NULL);
  return status;
}

iree_status_t iree_hal_pool_allocate_buffer(iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
                                            iree_device_size_t allocation_size,
                                            const iree_async_frontier_t* requester_frontier, iree_timeout_t timeout,
                                            iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  iree_time_t deadline_ns = iree_timeout_as_deadline_ns(timeout);
  iree_hal_buffer_params_canonicalize(&params);
  IREE_RETURN_IF_ERROR(check_request(pool, &params, allocation_size));
  iree_hal_pool_acquire_result_t result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  iree_async_notification_t* notification = iree_hal_pool_notification(pool);
  iree_notification_t* event = notification ? hal_notification_event(notification) : NULL;
  for (bool is_last = false; !is_last;) {
    is_last = iree_time_now() >= deadline_ns;
    iree_wait_token_t token = event ? iree_notification_prepare_wait(event) : 0;
    iree_status_t status = try_allocate(pool, &params, allocation_size, requester_frontier, &result, out_buffer);
    bool goes_on = iree_status_is_ok(status) && !*out_buffer && !is_last;
    if (event && goes_on) {
      iree_notification_commit_wait(event, token, 0, deadline_ns);
    } else if (event) {
      iree_notification_cancel_wait(event);
    } else if (goes_on) {
      iree_wait_until(iree_min(deadline_ns, iree_time_now() + RETRY_NS));
    }
    if (!iree_status_is_ok(status) || *out_buffer) return status;
  }
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "the pool has no %" PRIdsz " bytes%s", allocation_size,
                          result == IREE_HAL_POOL_ACQUIRE_OVER_BUDGET ? " left in its budget" : "");
}
