// Buffers: mapping, ranges, access checks, blocking transfers.
#include "cts.h"

static void zero_and_fill(void** state) {
  iree_hal_buffer_t* buffer = cts_buffer(64, 0xAA);
  CHECK_OK(iree_hal_buffer_map_zero(buffer, 8, 16));
  cts_expect_bytes(buffer, 0, 8, 0xAA);
  cts_expect_bytes(buffer, 8, 24, 0);
  cts_expect_bytes(buffer, 24, 64, 0xAA);
  const uint32_t pattern = 0x04030201;
  CHECK_OK(iree_hal_buffer_map_fill(buffer, 32, IREE_HAL_WHOLE_BUFFER, &pattern, sizeof(pattern)));
  assert_int_equal(cts_word(buffer, 8), pattern);
  assert_int_equal(cts_word(buffer, 15), pattern);
  iree_hal_buffer_release(buffer);
}

static void fill_widths(void** state) {
  const uint64_t pattern = 0x0807060504030201ull;
  iree_hal_buffer_t* buffer = cts_buffer(48, 0);
  for (iree_host_size_t width = 1; width <= 8; width *= 2) {
    uint8_t data[48];
    CHECK_OK(iree_hal_buffer_map_fill(buffer, 8, 32, &pattern, width));
    cts_read(buffer, data, sizeof(data));
    for (int i = 0; i < 32; ++i) assert_int_equal(data[8 + i], 1 + i % width);
    assert_int_equal(data[7], 0);
    assert_int_equal(data[40], 0);
  }
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_buffer_map_fill(buffer, 0, 48, &pattern, 3));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_buffer_map_fill(buffer, 2, 4, &pattern, 4));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_buffer_map_fill(buffer, 0, 6, &pattern, 4));
  iree_hal_buffer_release(buffer);
}

static void read_write(void** state) {
  iree_hal_buffer_t* buffer = cts_buffer(16, 0);
  const uint8_t in[4] = {1, 2, 3, 4};
  uint8_t out[4] = {0};
  CHECK_OK(iree_hal_buffer_map_write(buffer, 12, in, sizeof(in)));
  CHECK_OK(iree_hal_buffer_map_read(buffer, 12, out, sizeof(out)));
  assert_memory_equal(in, out, sizeof(in));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_buffer_map_write(buffer, 13, in, sizeof(in)));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_buffer_map_read(buffer, 17, out, 1));
  CHECK_OK(iree_hal_buffer_map_read(buffer, 16, out, 0));
  iree_hal_buffer_release(buffer);
}

static void copy(void** state) {
  iree_hal_buffer_t *a = cts_buffer(32, 1), *b = cts_buffer(32, 2);
  CHECK_OK(iree_hal_buffer_map_copy(a, 4, b, 8, 16));
  cts_expect_bytes(b, 0, 8, 2);
  cts_expect_bytes(b, 8, 24, 1);
  cts_expect_bytes(b, 24, 32, 2);
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_buffer_map_copy(a, 0, a, 8, 16));
  CHECK_OK(iree_hal_buffer_map_copy(a, 0, a, 16, 16));
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void subspan(void** state) {
  iree_hal_buffer_t *buffer = cts_buffer(64, 0), *part = NULL, *inner = NULL, *whole = NULL;
  CHECK_OK(iree_hal_buffer_subspan(buffer, 16, 32, cts.host_allocator, &part));
  CHECK_OK(iree_hal_buffer_subspan(part, 8, IREE_HAL_WHOLE_BUFFER, cts.host_allocator, &inner));
  assert_int_equal(iree_hal_buffer_byte_offset(inner), 24);
  assert_int_equal(iree_hal_buffer_byte_length(inner), 24);
  assert_ptr_equal(iree_hal_buffer_allocated_buffer(inner), buffer);
  CHECK_OK(iree_hal_buffer_subspan(part, 0, 32, cts.host_allocator, &whole));
  assert_ptr_equal(whole, part);
  CHECK_CODE(OUT_OF_RANGE, iree_hal_buffer_subspan(part, 8, 32, cts.host_allocator, &whole));
  // The allocation lives as long as its ranges.
  iree_hal_buffer_retain(buffer);
  const uint8_t value = 7;
  CHECK_OK(iree_hal_buffer_map_fill(inner, 0, IREE_HAL_WHOLE_BUFFER, &value, 1));
  cts_expect_bytes(buffer, 0, 24, 0);
  cts_expect_bytes(buffer, 24, 48, 7);
  cts_expect_bytes(buffer, 48, 64, 0);
  iree_hal_buffer_release(buffer);
  iree_hal_buffer_release(buffer);
  iree_hal_buffer_release(part);
  iree_hal_buffer_release(part);
  cts_expect_bytes(inner, 0, 24, 7);
  iree_hal_buffer_release(inner);
}

static void overlap(void** state) {
  iree_hal_buffer_t *a = cts_buffer(64, 0), *b = cts_buffer(64, 0);
  assert_int_equal(iree_hal_buffer_test_overlap(a, 0, 8, b, 0, 8), IREE_HAL_BUFFER_OVERLAP_DISJOINT);
  assert_int_equal(iree_hal_buffer_test_overlap(a, 0, 8, a, 8, 8), IREE_HAL_BUFFER_OVERLAP_DISJOINT);
  assert_int_equal(iree_hal_buffer_test_overlap(a, 0, 9, a, 8, 8), IREE_HAL_BUFFER_OVERLAP_PARTIAL);
  assert_int_equal(iree_hal_buffer_test_overlap(a, 8, 8, a, 8, 8), IREE_HAL_BUFFER_OVERLAP_COMPLETE);
  assert_int_equal(iree_hal_buffer_test_overlap(a, 8, 0, a, 0, 64), IREE_HAL_BUFFER_OVERLAP_DISJOINT);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void map_subspan_and_flush(void** state) {
  iree_hal_buffer_t* buffer = cts_buffer(64, 3);
  iree_hal_buffer_mapping_t mapping;
  CHECK_OK(iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_PERSISTENT,
                                     IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE, 16, 32, &mapping));
  assert_int_equal(mapping.contents.data_length, 32);
  iree_byte_span_t span;
  CHECK_OK(iree_hal_buffer_mapping_subspan(&mapping, IREE_HAL_MEMORY_ACCESS_WRITE, 8, 4, &span));
  memset(span.data, 4, span.data_length);
  CHECK_OK(iree_hal_buffer_mapping_flush_range(&mapping, 8, 4));
  CHECK_OK(iree_hal_buffer_mapping_invalidate_range(&mapping, 0, IREE_HAL_WHOLE_BUFFER));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_buffer_mapping_flush_range(&mapping, 30, 4));
  CHECK_OK(iree_hal_buffer_unmap_range(&mapping));
  CHECK_OK(iree_hal_buffer_unmap_range(&mapping));  // is unmapped already
  cts_expect_bytes(buffer, 24, 28, 4);
  iree_hal_buffer_release(buffer);
}

static void access_is_checked(void** state) {
  static iree_alignas(64) uint8_t memory[64];
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_heap_buffer_wrap(iree_hal_buffer_placement_undefined(), IREE_HAL_MEMORY_TYPE_HOST_LOCAL,
                                     IREE_HAL_MEMORY_ACCESS_READ, IREE_HAL_BUFFER_USAGE_MAPPING, sizeof(memory),
                                     iree_make_byte_span(memory, sizeof(memory)),
                                     iree_hal_buffer_release_callback_null(), cts.host_allocator, &buffer));
  uint8_t value = 0;
  CHECK_OK(iree_hal_buffer_map_read(buffer, 0, &value, 1));
  CHECK_CODE(PERMISSION_DENIED, iree_hal_buffer_map_write(buffer, 0, &value, 1));
  iree_hal_buffer_mapping_t mapping;
  CHECK_CODE(PERMISSION_DENIED, iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_PERSISTENT,
                                                          IREE_HAL_MEMORY_ACCESS_READ, 0, 1, &mapping));
  assert_null(mapping.contents.data);
  CHECK_CODE(PERMISSION_DENIED, iree_hal_device_queue_fill(
                                    cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                    iree_hal_semaphore_list_empty(), buffer, 0, 4, &value, 1, IREE_HAL_FILL_FLAG_NONE));
  iree_hal_buffer_release(buffer);
}

static void transfers(void** state) {
  iree_hal_buffer_t *a = cts_buffer(64, 0), *b = cts_buffer(64, 0);
  uint8_t data[64];
  for (int i = 0; i < 64; ++i) data[i] = (uint8_t)i;
  const iree_timeout_t timeout = iree_infinite_timeout();
  CHECK_OK(iree_hal_device_transfer_h2d(cts.device, data, a, 0, 64, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, timeout));
  CHECK_OK(iree_hal_device_transfer_d2d(cts.device, a, 8, b, 0, 16, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, timeout));
  memset(data, 0, sizeof(data));
  CHECK_OK(iree_hal_device_transfer_d2h(cts.device, b, 0, data, 16, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, timeout));
  for (int i = 0; i < 16; ++i) assert_int_equal(data[i], 8 + i);
  CHECK_CODE(OUT_OF_RANGE,
             iree_hal_device_transfer_d2h(cts.device, b, 60, data, 16, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, timeout));
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void preserve_and_discard(void** state) {
  iree_hal_buffer_t* buffer = cts_buffer(16, 0);
  assert_true(iree_hal_buffer_allocation_is_terminal(buffer));
  iree_hal_buffer_allocation_preserve(buffer);
  assert_false(iree_hal_buffer_allocation_is_terminal(buffer));
  assert_false(iree_hal_buffer_allocation_discard(buffer));
  assert_true(iree_hal_buffer_allocation_discard(buffer));
  iree_hal_buffer_release(buffer);
}

CTS_SUITE(buffer_, cmocka_unit_test(zero_and_fill), cmocka_unit_test(fill_widths), cmocka_unit_test(read_write),
          cmocka_unit_test(copy), cmocka_unit_test(subspan), cmocka_unit_test(overlap),
          cmocka_unit_test(map_subspan_and_flush), cmocka_unit_test(access_is_checked), cmocka_unit_test(transfers),
          cmocka_unit_test(preserve_and_discard));
