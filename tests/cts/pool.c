// Queue-ordered allocations from a pool of the application's.
#include "cts.h"

enum { SLOTS = 2, SLOT_SIZE = 4096 };

// Slots of one buffer of the device.
typedef struct slot_pool_t {
  iree_hal_resource_t resource;
  iree_hal_buffer_t* memory;
  bool is_taken[SLOTS];
  bool fails;  // to make buffers
  bool is_destroyed;
  iree_hal_pool_stats_t stats;
} slot_pool_t;

static slot_pool_t* cast(iree_hal_pool_t* pool) { return (slot_pool_t*)pool; }

static void pool_destroy(iree_hal_pool_t* pool) { cast(pool)->is_destroyed = true; }

static iree_status_t pool_acquire(iree_hal_pool_t* pool, iree_device_size_t size, iree_device_size_t alignment,
                                  const iree_async_frontier_t* requester_frontier, iree_hal_pool_reserve_flags_t flags,
                                  iree_hal_pool_reservation_t* out_reservation, iree_hal_pool_acquire_info_t* out_info,
                                  iree_hal_pool_acquire_result_t* out_result) {
  slot_pool_t* self = cast(pool);
  for (uint64_t i = 0; i < SLOTS; ++i) {
    if (self->is_taken[i]) continue;
    self->is_taken[i] = true;
    ++self->stats.reserve_count;
    *out_reservation = (iree_hal_pool_reservation_t){.offset = i * SLOT_SIZE, .length = SLOT_SIZE, .block_handle = i};
    *out_result = IREE_HAL_POOL_ACQUIRE_OK;
    return iree_ok_status();
  }
  ++self->stats.exhausted_count;
  *out_result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  return iree_ok_status();
}

static void pool_give(iree_hal_pool_t* pool, const iree_hal_pool_reservation_t* reservation,
                      const iree_async_frontier_t* death_frontier) {
  assert_true(cast(pool)->is_taken[reservation->block_handle]);
  cast(pool)->is_taken[reservation->block_handle] = false;
  ++cast(pool)->stats.release_count;
}

static void give_first(void* user_data, iree_hal_buffer_t* buffer) {
  pool_give((iree_hal_pool_t*)user_data, &(iree_hal_pool_reservation_t){.block_handle = 0}, NULL);
}
static void give_second(void* user_data, iree_hal_buffer_t* buffer) {
  pool_give((iree_hal_pool_t*)user_data, &(iree_hal_pool_reservation_t){.block_handle = 1}, NULL);
}

static iree_status_t pool_materialize(iree_hal_pool_t* pool, iree_hal_buffer_params_t params,
                                      const iree_hal_pool_reservation_t* reservation,
                                      iree_hal_pool_materialize_flags_t flags, iree_hal_buffer_t** out_buffer) {
  slot_pool_t* self = cast(pool);
  iree_hal_external_buffer_t external;
  if (self->fails) return iree_make_status(IREE_STATUS_DATA_LOSS, "no buffer");
  assert_int_equal(flags, IREE_HAL_POOL_MATERIALIZE_FLAG_TRANSFER_RESERVATION_OWNERSHIP);
  IREE_RETURN_IF_ERROR(iree_hal_allocator_export_buffer(cts.allocator, self->memory,
                                                        IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION,
                                                        IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
  external.handle.device_allocation.ptr += reservation->offset;
  external.size = reservation->length;
  iree_hal_buffer_release_callback_t release = {reservation->block_handle ? give_second : give_first, pool};
  return iree_hal_allocator_import_buffer(cts.allocator, params, &external, release, out_buffer);
}

static void pool_query_capabilities(const iree_hal_pool_t* pool, iree_hal_pool_capabilities_t* out_capabilities) {
  const slot_pool_t* self = (const slot_pool_t*)pool;
  out_capabilities->memory_type = iree_hal_buffer_memory_type(self->memory);
  out_capabilities->supported_usage = iree_hal_buffer_allowed_usage(self->memory);
  out_capabilities->max_allocation_size = SLOT_SIZE;
}

static void pool_query_stats(const iree_hal_pool_t* pool, iree_hal_pool_stats_t* out_stats) {
  *out_stats = ((const slot_pool_t*)pool)->stats;
}

static iree_status_t pool_trim(iree_hal_pool_t* pool) { return iree_make_status(IREE_STATUS_ABORTED, "trimmed"); }

static iree_async_notification_t* pool_notification(iree_hal_pool_t* pool) { return NULL; }

static const iree_hal_pool_vtable_t pool_vtable = {
    .destroy = pool_destroy,
    .acquire_reservation = pool_acquire,
    .release_reservation = pool_give,
    .materialize_reservation = pool_materialize,
    .query_capabilities = pool_query_capabilities,
    .query_stats = pool_query_stats,
    .trim = pool_trim,
    .notification = pool_notification,
};

static const iree_hal_buffer_params_t params = {
    .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
    .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
};

static iree_status_t try_alloca(slot_pool_t* pool, iree_device_size_t size, iree_hal_semaphore_list_t signals,
                                iree_hal_buffer_t** out_buffer) {
  return iree_hal_device_queue_alloca(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), signals,
                                      (iree_hal_pool_t*)pool, params, size, IREE_HAL_ALLOCA_FLAG_NONE, out_buffer);
}

static void explicit_pool(void** state) {
  SKIP_WITHOUT_RESULTS();
  slot_pool_t pool = {.memory = cts_buffer(SLOTS * SLOT_SIZE, 0)};
  iree_hal_resource_initialize(&pool_vtable, &pool.resource);
  iree_hal_pool_t* base = (iree_hal_pool_t*)&pool;
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_buffer_t *first = NULL, *second = NULL, *third = NULL;
  CHECK_OK(try_alloca(&pool, 100, CTS_POINT(semaphore, 1), &first));
  CHECK_OK(try_alloca(&pool, SLOT_SIZE, CTS_POINT(semaphore, 2), &second));
  CHECK_CODE(RESOURCE_EXHAUSTED, try_alloca(&pool, 1, CTS_POINT(semaphore, 9), &third));
  CHECK_CODE(INVALID_ARGUMENT, try_alloca(&pool, SLOT_SIZE + 1, CTS_POINT(semaphore, 9), &third));
  assert_null(third);
  // The memory is the pool's.
  const uint8_t pattern = 0xC3;
  CHECK_OK(iree_hal_device_queue_fill(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, 2),
                                      CTS_POINT(semaphore, 3), second, 0, SLOT_SIZE, &pattern, 1,
                                      IREE_HAL_FILL_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_dealloca(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, 3),
                                          CTS_POINT(semaphore, 4), second, IREE_HAL_DEALLOCA_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_wait(semaphore, 4, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  cts_expect_bytes(pool.memory, 0, SLOT_SIZE, 0);
  cts_expect_bytes(pool.memory, SLOT_SIZE, 2 * SLOT_SIZE, 0xC3);
  iree_hal_buffer_release(second);
  CHECK_OK(try_alloca(&pool, 8, CTS_POINT(semaphore, 5), &third));
  CHECK_OK(iree_hal_semaphore_wait(semaphore, 5, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_buffer_release(first);
  iree_hal_buffer_release(third);
  // A reservation that becomes no buffer goes back.
  pool.fails = true;
  CHECK_CODE(DATA_LOSS, try_alloca(&pool, 8, CTS_POINT(semaphore, 9), &first));
  assert_null(first);
  iree_hal_pool_stats_t stats;
  iree_hal_pool_query_stats(base, &stats);
  assert_int_equal(stats.reserve_count, 4);
  assert_int_equal(stats.release_count, 4);
  assert_int_equal(stats.exhausted_count, 1);
  CHECK_CODE(ABORTED, iree_hal_pool_trim(base));
  assert_null(iree_hal_pool_notification(base));
  uint64_t value = 0;
  CHECK_OK(iree_hal_semaphore_query(semaphore, &value));
  assert_int_equal(value, 5);  // what failed has signalled nothing
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(pool.memory);
  iree_hal_pool_release(base);
  assert_true(pool.is_destroyed);
}

static void pool_buffers(void** state) {
  slot_pool_t pool = {.memory = cts_buffer(SLOTS * SLOT_SIZE, 0)};
  iree_hal_resource_initialize(&pool_vtable, &pool.resource);
  iree_hal_pool_t* base = (iree_hal_pool_t*)&pool;
  iree_hal_buffer_t *buffers[SLOTS], *another = NULL;
  for (int i = 0; i < SLOTS; ++i) {
    CHECK_OK(iree_hal_pool_allocate_buffer(base, params, 64, NULL, iree_immediate_timeout(), &buffers[i]));
  }
  CHECK_CODE(RESOURCE_EXHAUSTED,
             iree_hal_pool_allocate_buffer(base, params, 64, NULL, iree_make_timeout_ms(5), &another));
  assert_true(pool.stats.exhausted_count > 1);  // asked again
  iree_hal_buffer_params_t bad = params;
  bad.usage |= IREE_HAL_BUFFER_USAGE_SHARING_EXPORT;
  CHECK_CODE(PERMISSION_DENIED, iree_hal_pool_allocate_buffer(base, bad, 64, NULL, iree_infinite_timeout(), &another));
  for (int i = 0; i < SLOTS; ++i) iree_hal_buffer_release(buffers[i]);
  assert_int_equal(pool.stats.release_count, SLOTS);
  iree_hal_pool_reservation_t reservation;
  iree_hal_pool_acquire_info_t info;
  iree_hal_pool_acquire_result_t result;
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_pool_acquire_reservation(base, 64, 3, NULL, IREE_HAL_POOL_RESERVE_FLAG_NONE,
                                                                 &reservation, &info, &result));
  iree_hal_buffer_release(pool.memory);
  iree_hal_pool_release(base);
}

CTS_SUITE(pool, cmocka_unit_test(explicit_pool), cmocka_unit_test(pool_buffers));
