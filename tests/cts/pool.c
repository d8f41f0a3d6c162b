// Queue-ordered allocations from a pool of the application's.
#include "cts.h"
#include "iree/base/threading/thread.h"
#include "iree/hal/memory/fixed_block_pool.h"
#include "iree/hal/memory/passthrough_pool.h"
#include "iree/hal/memory/tlsf_pool.h"

enum { SLOTS = 2, SLOT_SIZE = 4096 };

// Slots of one buffer of the device.
typedef struct slot_pool_t {
  iree_hal_resource_t resource;
  iree_hal_buffer_t* memory;
  iree_atomic_int32_t is_taken[SLOTS];  // given back by the device's threads
  bool fails;                           // to make buffers
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
    if (iree_atomic_exchange(&self->is_taken[i], 1, iree_memory_order_acq_rel)) continue;
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
  ++cast(pool)->stats.release_count;
  assert_int_equal(iree_atomic_exchange(&cast(pool)->is_taken[reservation->block_handle], 0, iree_memory_order_acq_rel),
                   1);
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
  // The queue lets go of it after it has told of its end.
  while (iree_atomic_load(&pool.is_taken[1], iree_memory_order_acquire)) iree_thread_yield();
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

//===----------------------------------------------------------------------------------------------------------------===
// Pools over the device's slabs
//===----------------------------------------------------------------------------------------------------------------===

static iree_hal_queue_pool_backend_t backend(void) {
  iree_hal_queue_pool_backend_t backend;
  CHECK_OK(iree_hal_device_query_queue_pool_backend(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, &backend));
  assert_non_null(backend.slab_provider);
  assert_non_null(backend.notification);
  return backend;
}

static iree_hal_buffer_params_t slab_params(const iree_hal_pool_t* pool) {
  iree_hal_pool_capabilities_t has;
  iree_hal_pool_query_capabilities(pool, &has);
  return (iree_hal_buffer_params_t){.type = has.memory_type, .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
}

// Queue-ordered memory of a pool, written and read by the device; at the end all is the pool's again.
static void run_pool(iree_hal_pool_t* pool) {
  enum { COUNT = 4, LENGTH = 1000 };
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_buffer_t* buffers[COUNT];
  uint64_t value = 0;
  for (uint8_t i = 0; i < COUNT; ++i) {
    const uint8_t pattern = (uint8_t)(0x40 + i);
    CHECK_OK(iree_hal_device_queue_alloca(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, value),
                                          CTS_POINT(semaphore, value + 1), pool, slab_params(pool), LENGTH,
                                          IREE_HAL_ALLOCA_FLAG_NONE, &buffers[i]));
    CHECK_OK(iree_hal_device_queue_fill(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, value + 1),
                                        CTS_POINT(semaphore, value + 2), buffers[i], 0, LENGTH, &pattern, 1,
                                        IREE_HAL_FILL_FLAG_NONE));
    value += 2;
  }
  for (uint8_t i = 0; i < COUNT; ++i) {
    uint8_t read[LENGTH];
    CHECK_OK(iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
    CHECK_OK(iree_hal_device_transfer_d2h(cts.device, buffers[i], 0, read, LENGTH,
                                          IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
    assert_int_equal(read[0], 0x40 + i);
    assert_int_equal(read[LENGTH - 1], 0x40 + i);
    CHECK_OK(iree_hal_device_queue_dealloca(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, value),
                                            CTS_POINT(semaphore, value + 1), buffers[i], IREE_HAL_DEALLOCA_FLAG_NONE));
    ++value;
  }
  CHECK_OK(iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  for (int i = 0; i < COUNT; ++i) iree_hal_buffer_release(buffers[i]);
  cts_close_device();  // what work holds goes with it
  cts_open_device();
  iree_hal_semaphore_release(semaphore);
}

static void passthrough(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_queue_pool_backend_t from = backend();
  iree_hal_pool_t* pool = NULL;
  iree_hal_passthrough_pool_options_t options = {0};
  CHECK_OK(iree_hal_passthrough_pool_create(options, from.slab_provider, from.notification, cts.host_allocator, &pool));
  iree_hal_pool_stats_t stats;
  iree_hal_slab_provider_stats_t before, after;
  iree_hal_slab_provider_query_stats(from.slab_provider, &before);
  iree_hal_buffer_t *first = NULL, *second = NULL;
  CHECK_OK(iree_hal_pool_allocate_buffer(pool, slab_params(pool), 100, NULL, iree_immediate_timeout(), &first));
  CHECK_OK(iree_hal_pool_allocate_buffer(pool, slab_params(pool), 1 << 20, NULL, iree_immediate_timeout(), &second));
  iree_hal_pool_query_stats(pool, &stats);
  assert_int_equal(stats.slab_count, 2);
  assert_int_equal(stats.fresh_count, 2);
  iree_hal_buffer_release(first);
  iree_hal_buffer_release(second);
  iree_hal_pool_query_stats(pool, &stats);
  assert_int_equal(stats.slab_count + stats.reservation_count + stats.bytes_committed, 0);
  iree_hal_slab_provider_query_stats(from.slab_provider, &after);
  assert_int_equal(after.total_acquired - before.total_acquired, 2);
  assert_int_equal(after.total_released - before.total_released, 2);
  iree_hal_pool_release(pool);
}

static bool has_ended(void* user_data, iree_async_axis_t axis, uint64_t epoch) {
  return axis == 7 && epoch <= *(const uint64_t*)user_data;
}

static iree_hal_pool_t* make_tlsf(iree_device_size_t range_length, iree_device_size_t budget, uint64_t* ended) {
  iree_hal_queue_pool_backend_t from = backend();
  iree_hal_tlsf_pool_options_t options = {.tlsf_options.range_length = range_length, .budget_limit = budget};
  iree_hal_pool_epoch_query_t query = {has_ended, ended};
  iree_hal_pool_t* pool = NULL;
  CHECK_OK(iree_hal_tlsf_pool_create(options, from.slab_provider, from.notification, query, cts.host_allocator, &pool));
  return pool;
}

static iree_hal_pool_acquire_result_t acquire(iree_hal_pool_t* pool, iree_device_size_t size,
                                              const iree_async_frontier_t* after, iree_hal_pool_reserve_flags_t flags,
                                              iree_hal_pool_reservation_t* out_reservation) {
  iree_hal_pool_acquire_info_t info;
  iree_hal_pool_acquire_result_t result;
  CHECK_OK(iree_hal_pool_acquire_reservation(pool, size, 1, after, flags, out_reservation, &info, &result));
  return result;
}

// A frontier of one entry, on axis 7.
typedef struct frontier_storage_t {
  uint64_t words[3];
} frontier_storage_t;
static const iree_async_frontier_t* frontier_of(frontier_storage_t* storage, uint64_t epoch) {
  iree_async_frontier_t* frontier = (iree_async_frontier_t*)memset(storage, 0, sizeof(*storage));
  frontier->entry_count = 1;
  frontier->entries[0] = (iree_async_frontier_entry_t){.axis = 7, .epoch = epoch};
  return frontier;
}

// Pieces of one slab, which are used again when what used them is over, for everybody or for who comes after it.
static void tlsf(void** state) {
  enum { SLAB = 1 << 16, HALF = SLAB / 2 };
  const iree_hal_pool_reserve_flags_t modest = IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH;
  uint64_t ended = 0;
  iree_hal_pool_t* pool = make_tlsf(SLAB, 2 * SLAB, &ended);
  iree_hal_pool_reservation_t first, second, third, fourth;
  assert_int_equal(acquire(pool, HALF, NULL, modest, &first), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
  assert_int_equal(acquire(pool, HALF, NULL, IREE_HAL_POOL_RESERVE_FLAG_NONE, &first), IREE_HAL_POOL_ACQUIRE_OK);
  assert_int_equal(acquire(pool, HALF, NULL, modest, &second), IREE_HAL_POOL_ACQUIRE_OK);
  assert_int_equal(acquire(pool, HALF, NULL, modest, &third), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
  frontier_storage_t death_storage, later_storage;
  const iree_async_frontier_t *death = frontier_of(&death_storage, 3), *later = frontier_of(&later_storage, 4);
  iree_hal_pool_release_reservation(pool, &first, death);
  assert_int_equal(acquire(pool, HALF, NULL, modest, &third), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
  assert_int_equal(acquire(pool, HALF, later, modest, &third), IREE_HAL_POOL_ACQUIRE_OK);
  iree_hal_pool_release_reservation(pool, &third, death);
  ended = 3;
  assert_int_equal(acquire(pool, HALF, NULL, modest, &third), IREE_HAL_POOL_ACQUIRE_OK);
  assert_int_equal(acquire(pool, SLAB, NULL, IREE_HAL_POOL_RESERVE_FLAG_NONE, &fourth), IREE_HAL_POOL_ACQUIRE_OK);
  assert_int_equal(acquire(pool, 1, NULL, IREE_HAL_POOL_RESERVE_FLAG_NONE, &first), IREE_HAL_POOL_ACQUIRE_OVER_BUDGET);
  iree_hal_pool_stats_t stats;
  iree_hal_pool_query_stats(pool, &stats);
  assert_int_equal(stats.slab_count, 2);
  assert_int_equal(stats.bytes_reserved, 2 * SLAB);
  iree_hal_buffer_t* buffer = NULL;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_pool_allocate_buffer(pool, slab_params(pool), SLAB + 1, NULL, iree_immediate_timeout(), &buffer));
  iree_hal_pool_release_reservation(pool, &second, NULL);
  iree_hal_pool_release_reservation(pool, &third, NULL);
  iree_hal_pool_release_reservation(pool, &fourth, NULL);
  CHECK_OK(iree_hal_pool_trim(pool));
  iree_hal_pool_query_stats(pool, &stats);
  assert_int_equal(stats.slab_count + stats.bytes_reserved + stats.reservation_count, 0);
  iree_hal_pool_release(pool);
}

static iree_hal_pool_t* make_blocks(iree_device_size_t size, uint32_t count, iree_device_size_t budget,
                                    uint64_t* ended) {
  iree_hal_queue_pool_backend_t from = backend();
  iree_hal_fixed_block_pool_options_t options = {
      .block_allocator_options = {.block_size = size, .block_count = count, .frontier_capacity = 1},
      .budget_limit = budget};
  iree_hal_pool_epoch_query_t query = {has_ended, ended};
  iree_hal_pool_t* pool = NULL;
  CHECK_OK(iree_hal_fixed_block_pool_create(options, from.slab_provider, from.notification, query, cts.host_allocator,
                                            &pool));
  return pool;
}

// Blocks of one slab: fresh ones, then those that are over, for everybody or for who comes after them, then those that
// may be waited for.
static void fixed_blocks(void** state) {
  enum { BLOCK = 4096 };
  const iree_hal_pool_reserve_flags_t none = IREE_HAL_POOL_RESERVE_FLAG_NONE;
  uint64_t ended = 0;
  iree_hal_pool_t* pool = make_blocks(BLOCK, 2, 0, &ended);
  iree_hal_pool_reservation_t first, second, third;
  assert_int_equal(acquire(pool, BLOCK, NULL, none, &first), IREE_HAL_POOL_ACQUIRE_OK_FRESH);
  assert_int_equal(acquire(pool, 10, NULL, none, &second), IREE_HAL_POOL_ACQUIRE_OK_FRESH);
  assert_int_equal(second.offset - first.offset, BLOCK);
  assert_int_equal(acquire(pool, 1, NULL, none, &third), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
  iree_hal_pool_release_reservation(pool, &second, NULL);
  assert_int_equal(acquire(pool, 1, NULL, none, &second), IREE_HAL_POOL_ACQUIRE_OK);
  frontier_storage_t death_storage, later_storage;
  const iree_async_frontier_t *death = frontier_of(&death_storage, 3), *later = frontier_of(&later_storage, 4);
  iree_hal_pool_release_reservation(pool, &first, death);
  assert_int_equal(acquire(pool, 1, NULL, none, &third), IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
  iree_hal_pool_acquire_info_t info;
  iree_hal_pool_acquire_result_t result;
  CHECK_OK(iree_hal_pool_acquire_reservation(pool, 1, 1, NULL, IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER, &third,
                                             &info, &result));
  assert_int_equal(result, IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT);
  assert_int_equal(info.wait_frontier->entry_count, 1);
  assert_int_equal(info.wait_frontier->entries[0].epoch, 3);
  iree_hal_pool_release_reservation(pool, &third, death);
  assert_int_equal(acquire(pool, 1, later, none, &third), IREE_HAL_POOL_ACQUIRE_OK);
  iree_hal_pool_release_reservation(pool, &third, death);
  ended = 3;
  assert_int_equal(acquire(pool, 1, NULL, none, &third), IREE_HAL_POOL_ACQUIRE_OK);
  // A frontier larger than are kept is not waited for.
  union {
    iree_async_frontier_t frontier;
    uint64_t words[8];
  } large = {0};
  large.frontier.entry_count = 2;
  iree_hal_pool_release_reservation(pool, &third, &large.frontier);
  assert_int_equal(acquire(pool, 1, NULL, IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER, &third),
                   IREE_HAL_POOL_ACQUIRE_EXHAUSTED);
  iree_hal_buffer_t* buffer = NULL;
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_pool_allocate_buffer(pool, slab_params(pool), BLOCK + 1, NULL,
                                                             iree_immediate_timeout(), &buffer));
  iree_hal_pool_release_reservation(pool, &second, NULL);
  iree_hal_pool_stats_t stats;
  iree_hal_pool_query_stats(pool, &stats);
  assert_int_equal(stats.bytes_committed, 2 * BLOCK);
  assert_int_equal(stats.reservation_count + stats.bytes_reserved, 0);
  iree_hal_pool_release(pool);
  pool = make_blocks(BLOCK, 4096, 100, &ended);
  assert_int_equal(acquire(pool, 60, NULL, none, &first), IREE_HAL_POOL_ACQUIRE_OK_FRESH);
  assert_int_equal(acquire(pool, 60, NULL, none, &second), IREE_HAL_POOL_ACQUIRE_OVER_BUDGET);
  iree_hal_pool_release_reservation(pool, &first, NULL);
  iree_hal_pool_release(pool);
  iree_hal_queue_pool_backend_t from = backend();
  const iree_hal_fixed_block_pool_options_t bad = {.block_allocator_options = {.block_size = 1, .block_count = 4097}};
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_fixed_block_pool_create(bad, from.slab_provider, from.notification,
                                              iree_hal_pool_epoch_query_null(), cts.host_allocator, &pool));
}

static void fixed_block_queues(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_RECORDED();
  uint64_t ended = 0;
  iree_hal_pool_t* pool = make_blocks(1 << 12, 16, 0, &ended);
  run_pool(pool);
  iree_hal_pool_stats_t stats;
  iree_hal_pool_query_stats(pool, &stats);
  assert_int_equal(stats.reservation_count, 0);
  iree_hal_pool_release(pool);
}

static void tlsf_queues(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_RECORDED();
  uint64_t ended = 0;
  iree_hal_pool_t* pool = make_tlsf(1 << 16, 0, &ended);
  run_pool(pool);
  iree_hal_pool_stats_t stats;
  iree_hal_pool_query_stats(pool, &stats);
  assert_int_equal(stats.slab_count, 1);
  assert_int_equal(stats.reservation_count, 0);
  iree_hal_pool_release(pool);
}

static int release_later(void* arg) {
  iree_wait_until(iree_time_now() + 20 * 1000000);
  iree_hal_buffer_release((iree_hal_buffer_t*)arg);
  return 0;
}

// Who waits for memory is woken by who gives it back.
static void tlsf_notifies(void** state) {
  uint64_t ended = 0;
  iree_hal_pool_t* pool = make_tlsf(4096, 4096, &ended);
  iree_hal_buffer_t *first = NULL, *second = NULL;
  iree_thread_t* thread = NULL;
  CHECK_OK(iree_hal_pool_allocate_buffer(pool, slab_params(pool), 4096, NULL, iree_immediate_timeout(), &first));
  CHECK_CODE(RESOURCE_EXHAUSTED,
             iree_hal_pool_allocate_buffer(pool, slab_params(pool), 1, NULL, iree_make_timeout_ms(2), &second));
  iree_thread_create_params_t params = {.name = IREE_SV("release")};
  CHECK_OK(iree_thread_create(release_later, first, params, cts.host_allocator, &thread));
  CHECK_OK(iree_hal_pool_allocate_buffer(pool, slab_params(pool), 64, NULL, iree_infinite_timeout(), &second));
  iree_thread_release(thread);
  iree_hal_buffer_release(second);
  iree_hal_pool_release(pool);
}

CTS_SUITE(pool, cmocka_unit_test(explicit_pool), cmocka_unit_test(pool_buffers), cmocka_unit_test(passthrough),
          cmocka_unit_test(tlsf), cmocka_unit_test(tlsf_notifies), cmocka_unit_test(tlsf_queues),
          cmocka_unit_test(fixed_blocks), cmocka_unit_test(fixed_block_queues));
