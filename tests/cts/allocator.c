// Allocators: properties, statistics, imported and exported memory.
#include "cts.h"

static void baseline(void** state) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_allocate_buffer(cts.allocator, params, 300, &buffer));
  assert_int_equal(iree_hal_buffer_byte_length(buffer), 300);
  assert_true(iree_hal_buffer_allocation_size(buffer) >= 300);
  assert_int_equal(iree_hal_buffer_byte_offset(buffer), 0);
  assert_true(iree_all_bits_set(iree_hal_buffer_memory_type(buffer), IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL));
  assert_true(iree_all_bits_set(iree_hal_buffer_allowed_usage(buffer), IREE_HAL_BUFFER_USAGE_DEFAULT));
  assert_int_equal(iree_hal_buffer_allowed_access(buffer), IREE_HAL_MEMORY_ACCESS_ALL);
  iree_hal_buffer_release(buffer);
}

static void empty_buffer(void** state) {
  iree_hal_buffer_t* buffer = cts_buffer(0, 0);
  assert_int_equal(iree_hal_buffer_byte_length(buffer), 0);
  iree_hal_buffer_release(buffer);
}

static void alignment(void** state) {
  for (iree_device_size_t alignment = 1; alignment <= 4096; alignment *= 4) {
    iree_hal_buffer_params_t params = {.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
                                       .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
                                       .min_alignment = alignment};
    iree_hal_buffer_t* buffer = NULL;
    iree_hal_buffer_mapping_t mapping;
    CHECK_OK(iree_hal_allocator_allocate_buffer(cts.allocator, params, 100, &buffer));
    CHECK_OK(
        iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, 0, 100, &mapping));
    assert_int_equal((uintptr_t)mapping.contents.data % alignment, 0);
    CHECK_OK(iree_hal_buffer_unmap_range(&mapping));
    iree_hal_buffer_release(buffer);
  }
}

static void bad_alignment(void** state) {
  iree_hal_buffer_params_t params = {.min_alignment = 3};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_allocator_allocate_buffer(cts.allocator, params, 100, &buffer));
  assert_null(buffer);
}

static void too_large(void** state) {
  iree_hal_buffer_params_t params = {0};
  iree_hal_buffer_t* buffer = NULL;
  iree_status_t status = iree_hal_allocator_allocate_buffer(cts.allocator, params, IREE_DEVICE_SIZE_MAX - 10, &buffer);
  assert_true(iree_status_is_out_of_range(status) || iree_status_is_resource_exhausted(status));
  iree_status_free(status);
}

static void heaps(void** state) {
  iree_host_size_t count = 0;
  CHECK_CODE(OUT_OF_RANGE, iree_hal_allocator_query_memory_heaps(cts.allocator, 0, NULL, &count));
  assert_in_range(count, 1, 16);
  iree_hal_allocator_memory_heap_t rows[16];
  CHECK_OK(iree_hal_allocator_query_memory_heaps(cts.allocator, 16, rows, &count));
  for (iree_host_size_t i = 0; i < count; ++i) {
    assert_true(iree_device_size_is_power_of_two(rows[i].min_alignment));
    assert_true(rows[i].max_allocation_size > 0);
  }
}

static void compatibility(void** state) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL}, out_params;
  iree_device_size_t size = 0;
  iree_hal_buffer_compatibility_t result =
      iree_hal_allocator_query_buffer_compatibility(cts.allocator, params, 100, &out_params, &size);
  assert_true(result & IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE);
  assert_true(result & IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER);
  assert_true(result & IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH);
  assert_true(size >= 100);
  assert_int_equal(out_params.access, IREE_HAL_MEMORY_ACCESS_ALL);
}

// Memory that moves between host and GPU by pages is not what inputs should be put into.
static void mapped_memory(void** state) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE};
  iree_hal_buffer_params_t out_params;
  iree_device_size_t size = 0;
  iree_hal_buffer_compatibility_t result =
      iree_hal_allocator_query_buffer_compatibility(cts.allocator, params, 100, &out_params, &size);
  bool moves = !strcmp(cts.driver_name, "cuda") || !strcmp(cts.driver_name, "hip");
  if (!(result & IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE)) skip();
  assert_int_equal(moves, !!(result & IREE_HAL_BUFFER_COMPATIBILITY_LOW_PERFORMANCE));
}

static void statistics(void** state) {
  iree_hal_allocator_statistics_t before, during, after;
  iree_hal_allocator_query_statistics(cts.allocator, &before);
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_allocate_buffer(cts.allocator, params, 1000, &buffer));
  iree_hal_allocator_query_statistics(cts.allocator, &during);
  iree_hal_buffer_release(buffer);
  iree_hal_allocator_query_statistics(cts.allocator, &after);
  assert_true(during.device_bytes_allocated - before.device_bytes_allocated >= 1000);
  assert_true(after.device_bytes_freed - before.device_bytes_freed >= 1000);
  assert_true(after.device_bytes_peak >= 1000);
}

static void count_release(void* user_data, iree_hal_buffer_t* buffer) { ++*(int*)user_data; }

static void import_host(void** state) {
  static iree_alignas(64) uint8_t memory[256];
  int released = 0;
  iree_hal_external_buffer_t external = {.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
                                         .size = sizeof(memory),
                                         .handle.host_allocation.ptr = memory};
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE};
  iree_hal_buffer_release_callback_t callback = {count_release, &released};
  iree_hal_buffer_t* buffer = NULL;
  memory[7] = 42;
  CHECK_OK(iree_hal_allocator_import_buffer(cts.allocator, params, &external, callback, &buffer));
  cts_expect_bytes(buffer, 7, 8, 42);
  uint8_t value = 43;
  CHECK_OK(iree_hal_buffer_map_write(buffer, 8, &value, 1));
  assert_int_equal(memory[8], 43);
  iree_hal_buffer_release(buffer);
  assert_int_equal(released, 1);
}

static void import_misaligned(void** state) {
  static iree_alignas(64) uint8_t memory[256];
  int released = 0;
  iree_hal_external_buffer_t external = {
      .type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION, .size = 100, .handle.host_allocation.ptr = memory + 1};
  iree_hal_buffer_params_t params = {0};
  iree_hal_buffer_release_callback_t callback = {count_release, &released};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_CODE(UNAVAILABLE, iree_hal_allocator_import_buffer(cts.allocator, params, &external, callback, &buffer));
  external.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_WIN32;
  CHECK_CODE(UNAVAILABLE, iree_hal_allocator_import_buffer(cts.allocator, params, &external, callback, &buffer));
  assert_int_equal(released, 0);
}

static void export_host(void** state) {
  iree_hal_buffer_t* buffer = cts_buffer(64, 9);
  iree_hal_external_buffer_t external;
  CHECK_OK(iree_hal_allocator_export_buffer(cts.allocator, buffer, IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
                                            IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
  assert_int_equal(external.size, 64);
  assert_int_equal(((uint8_t*)external.handle.host_allocation.ptr)[63], 9);
  iree_hal_buffer_release(buffer);
}

static void trim(void** state) {
  CHECK_OK(iree_hal_allocator_trim(cts.allocator));
  CHECK_OK(iree_hal_device_trim(cts.device));
}

CTS_SUITE(allocator, cmocka_unit_test(baseline), cmocka_unit_test(empty_buffer), cmocka_unit_test(alignment),
          cmocka_unit_test(bad_alignment), cmocka_unit_test(too_large), cmocka_unit_test(heaps),
          cmocka_unit_test(compatibility), cmocka_unit_test(mapped_memory), cmocka_unit_test(statistics),
          cmocka_unit_test(import_host), cmocka_unit_test(import_misaligned), cmocka_unit_test(export_host),
          cmocka_unit_test(trim));
