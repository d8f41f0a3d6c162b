// Pools: slices never overlap, are aligned, and all memory comes back in one piece.
#include "hal/pool.h"

#include "hal_test.h"

enum { RANGE = 1 << 20, ALIGNMENT = 256 };

static hal_pool_t* make_pool_with(hal_pool_params_t params, iree_hal_allocator_t** out_allocator) {
  hal_pool_t* pool = NULL;
  CHECK_OK(
      iree_hal_allocator_create_heap(IREE_SV("test"), iree_allocator_system(), iree_allocator_system(), out_allocator));
  params.buffer.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL;
  params.buffer.usage = IREE_HAL_BUFFER_USAGE_TRANSFER;
  iree_hal_buffer_params_canonicalize(&params.buffer);
  params.buffer.min_alignment = ALIGNMENT;
  CHECK_OK(hal_pool_create(&params, *out_allocator, iree_allocator_system(), &pool));
  return pool;
}

static hal_pool_t* make_pool(iree_hal_allocator_t** out_allocator) {
  return make_pool_with((hal_pool_params_t){.range_length = RANGE}, out_allocator);
}

static iree_status_t take(hal_pool_t* pool, iree_device_size_t length, hal_pool_slice_t* out_slice) {
  hal_pool_frontier_t frontier;
  iree_status_t status = hal_pool_take(pool, length, (hal_pool_taker_t){0}, out_slice, &frontier);
  assert_int_equal(frontier.count, 0);
  return status;
}

static void give(hal_pool_t* pool, hal_pool_slice_t slice) { hal_pool_give(pool, slice, (hal_pool_point_t){0}); }

static void fill_and_empty(void** state) {
  iree_hal_allocator_t* allocator = NULL;
  hal_pool_t* pool = make_pool(&allocator);
  hal_pool_slice_t slices[RANGE / 4096];
  for (size_t i = 0; i < IREE_ARRAYSIZE(slices); ++i) {
    CHECK_OK(take(pool, 4000, &slices[i]));  // 4096 with the alignment
    assert_ptr_equal(slices[i].range, slices[0].range);
    assert_int_equal(slices[i].offset, i * 4096);
  }
  hal_pool_slice_t other;
  CHECK_OK(take(pool, 1, &other));
  assert_ptr_not_equal(other.range, slices[0].range);
  // Every second one, then the others: neighbours become one again.
  for (size_t i = 0; i < IREE_ARRAYSIZE(slices); i += 2) give(pool, slices[i]);
  for (size_t i = 1; i < IREE_ARRAYSIZE(slices); i += 2) give(pool, slices[i]);
  hal_pool_slice_t whole;
  CHECK_OK(take(pool, RANGE, &whole));
  assert_int_equal(whole.offset, 0);
  give(pool, whole);
  give(pool, other);
  hal_pool_trim(pool);
  hal_pool_release(pool);
  iree_hal_allocator_release(allocator);
}

// Random sizes and orders against a map of what is taken.
static void random_use(void** state) {
  enum { COUNT = 200, ROUNDS = 20000, UNITS = RANGE / ALIGNMENT };
  static uint8_t taken[8][UNITS];
  static struct {
    hal_pool_slice_t slice;
    size_t units;
    int range;
  } live[COUNT];
  iree_hal_buffer_t* ranges[8] = {0};
  iree_hal_allocator_t* allocator = NULL;
  hal_pool_t* pool = make_pool(&allocator);
  uint32_t random = 1;
  for (int round = 0; round < ROUNDS; ++round) {
    random = random * 1664525 + 1013904223;
    size_t i = (random >> 8) % COUNT;
    if (live[i].units) {
      memset(&taken[live[i].range][live[i].slice.offset / ALIGNMENT], 0, live[i].units);
      give(pool, live[i].slice);
      live[i].units = 0;
      continue;
    }
    size_t length = 1 + ((random >> 16) % 97) * ((random >> 24) % 53) * 3;
    CHECK_OK(take(pool, length, &live[i].slice));
    live[i].units = (length + ALIGNMENT - 1) / ALIGNMENT;
    assert_int_equal(live[i].slice.offset % ALIGNMENT, 0);
    int range = 0;
    while (ranges[range] && ranges[range] != live[i].slice.range) ++range;
    assert_true(range < 7);
    ranges[range] = live[i].slice.range;
    live[i].range = range;
    size_t first = live[i].slice.offset / ALIGNMENT;
    assert_true(first + live[i].units <= UNITS);
    for (size_t k = 0; k < live[i].units; ++k) assert_int_equal(taken[range][first + k]++, 0);
  }
  assert_true(ranges[2] == NULL);  // 200 slices of 7 KiB on average need not more
  for (size_t i = 0; i < COUNT; ++i) {
    if (live[i].units) give(pool, live[i].slice);
  }
  hal_pool_release(pool);
  iree_hal_allocator_release(allocator);
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory that work still uses
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t passed[4];  // by queue

static bool is_over(void* user_data, hal_pool_point_t point) { return passed[point.queue_id] >= point.epoch; }

static iree_device_size_t take_for(hal_pool_t* pool, uint64_t queue_id, bool can_wait, hal_pool_slice_t* out_slice,
                                   hal_pool_frontier_t* out_frontier) {
  CHECK_OK(hal_pool_take(pool, RANGE / 2, (hal_pool_taker_t){queue_id, can_wait}, out_slice, out_frontier));
  return out_slice->offset;
}

static void frontiers(void** state) {
  iree_hal_allocator_t* allocator = NULL;
  hal_pool_params_t params = {.range_length = RANGE, .frontier_capacity = 1, .is_over = is_over};
  hal_pool_t* pool = make_pool_with(params, &allocator);
  hal_pool_slice_t a, b, c;
  hal_pool_frontier_t frontier;
  memset(passed, 0, sizeof(passed));
  assert_int_equal(take_for(pool, 1, false, &a, &frontier), 0);
  iree_hal_buffer_t* range = a.range;
  hal_pool_give(pool, a, (hal_pool_point_t){1, 5});
  // The queue itself follows, others do not; who may wait does.
  take_for(pool, 1, false, &a, &frontier);
  assert_int_equal(frontier.count, 1);
  assert_int_equal(frontier.points[0].epoch, 5);
  hal_pool_give(pool, a, (hal_pool_point_t){1, 6});
  assert_int_equal(take_for(pool, 2, false, &b, &frontier), RANGE / 2);
  assert_int_equal(frontier.count, 0);
  take_for(pool, 2, true, &a, &frontier);
  assert_int_equal(a.offset, 0);
  assert_int_equal(frontier.points[0].queue_id, 1);
  assert_int_equal(frontier.points[0].epoch, 6);
  // Two points do not fit one frontier: the neighbours stay apart, and nobody gets both.
  hal_pool_give(pool, a, (hal_pool_point_t){2, 3});
  hal_pool_give(pool, b, (hal_pool_point_t){3, 3});
  hal_pool_trim(pool);
  CHECK_OK(hal_pool_take(pool, RANGE, (hal_pool_taker_t){2, true}, &c, &frontier));
  assert_ptr_not_equal(c.range, range);
  hal_pool_give(pool, c, (hal_pool_point_t){0});
  passed[2] = passed[3] = 3;
  hal_pool_trim(pool);  // both ranges go
  take_for(pool, 1, false, &a, &frontier);
  assert_int_equal(frontier.count, 0);
  hal_pool_give(pool, a, (hal_pool_point_t){1, 100});
  hal_pool_close(pool);
  hal_pool_release(pool);
  iree_hal_allocator_release(allocator);
}

// Of pools in a chain the first that has such memory is chosen; what trims and releases the first does so to all.
static void chains(void** state) {
  iree_hal_allocator_t *allocator = NULL, *other_allocator = NULL;
  hal_pool_t* first = make_pool(&allocator);
  hal_pool_t* second = make_pool_with((hal_pool_params_t){.range_length = 4 * RANGE}, &other_allocator);
  hal_pool_t* third = NULL;
  hal_pool_params_t params = {.range_length = 2 * RANGE};
  params.buffer.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL;
  params.buffer.usage = IREE_HAL_BUFFER_USAGE_TRANSFER;
  iree_hal_buffer_params_canonicalize(&params.buffer);
  iree_hal_buffer_params_t wanted = params.buffer;
  params.buffer.min_alignment = 4096;
  CHECK_OK(hal_pool_create(&params, allocator, iree_allocator_system(), &third));
  hal_pool_append(first, second);
  hal_pool_append(first, third);
  assert_ptr_equal(hal_pool_choose(first, allocator, &wanted, 100), first);
  assert_ptr_equal(hal_pool_choose(first, allocator, &wanted, RANGE), third);
  assert_ptr_equal(hal_pool_choose(first, other_allocator, &wanted, RANGE), second);
  assert_null(hal_pool_choose(first, allocator, &wanted, 2 * RANGE));
  assert_null(hal_pool_choose(NULL, allocator, &wanted, 1));
  wanted.min_alignment = 4096;
  assert_ptr_equal(hal_pool_choose(first, allocator, &wanted, 100), third);
  wanted.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
  assert_null(hal_pool_choose(first, allocator, &wanted, 100));
  hal_pool_slice_t slice;
  CHECK_OK(take(third, 4096, &slice));
  give(third, slice);
  iree_hal_allocator_statistics_t statistics;
  iree_hal_allocator_query_statistics(allocator, &statistics);
  assert_true(statistics.host_bytes_allocated > statistics.host_bytes_freed);
  hal_pool_trim(first);
  iree_hal_allocator_query_statistics(allocator, &statistics);
  assert_int_equal(statistics.host_bytes_allocated, statistics.host_bytes_freed);
  hal_pool_release(first);
  iree_hal_allocator_release(allocator);
  iree_hal_allocator_release(other_allocator);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains), cmocka_unit_test(fill_and_empty),
                                     cmocka_unit_test(random_use), cmocka_unit_test(frontiers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
