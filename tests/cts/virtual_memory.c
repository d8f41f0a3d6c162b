// Virtual memory: address ranges and what is mapped there.
#include "cts.h"

// Devices without it say so.
#define SKIP_WITHOUT_VIRTUAL_MEMORY() \
  if (!iree_hal_allocator_supports_virtual_memory(cts.allocator)) skip()

static iree_device_size_t page_size(void) {
  iree_device_size_t minimum = 0, recommended = 0;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  CHECK_OK(iree_hal_allocator_virtual_memory_query_granularity(cts.allocator, params, &minimum, &recommended));
  assert_true(minimum > 0 && recommended >= minimum && recommended % minimum == 0);
  return minimum;
}

static iree_hal_buffer_t* reserve(iree_device_size_t size) {
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_virtual_memory_reserve(cts.allocator, IREE_HAL_QUEUE_AFFINITY_ANY, size, &buffer));
  assert_int_equal(iree_hal_buffer_byte_length(buffer), size);
  return buffer;
}

static iree_hal_physical_memory_t* allocate(iree_device_size_t size) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  iree_hal_physical_memory_t* memory = NULL;
  CHECK_OK(iree_hal_allocator_physical_memory_allocate(cts.allocator, params, size, cts.host_allocator, &memory));
  return memory;
}

static iree_status_t map(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_hal_physical_memory_t* memory,
                         iree_device_size_t memory_offset, iree_device_size_t size) {
  return iree_hal_allocator_virtual_memory_map(cts.allocator, buffer, offset, memory, memory_offset, size);
}

static iree_status_t protect(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t size,
                             iree_hal_memory_protection_t protection) {
  return iree_hal_allocator_virtual_memory_protect(cts.allocator, buffer, offset, size, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                   protection);
}

static iree_status_t unmap(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t size) {
  return iree_hal_allocator_virtual_memory_unmap(cts.allocator, buffer, offset, size);
}

static void fill(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t length, uint8_t value) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_fill(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                                      CTS_POINT(semaphore, 1), buffer, offset, length, &value, 1,
                                      IREE_HAL_FILL_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_wait(semaphore, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(semaphore);
}

// Both ends of some bytes, whichever way the host sees them.
static void expect_bytes(iree_hal_buffer_t* buffer, iree_device_size_t begin, iree_device_size_t end, uint8_t value) {
  enum { MOST = 4096 };
  uint8_t bytes[MOST], expected[MOST];
  iree_device_size_t length = iree_min(end - begin, (iree_device_size_t)MOST);
  memset(expected, value, sizeof(expected));
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(iree_hal_device_transfer_d2h(cts.device, buffer, i ? end - length : begin, bytes, length,
                                          IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
    assert_memory_equal(bytes, expected, length);
  }
}

// Work of the device writes through one range and the same memory is seen through another, in another order.
static void mapped_twice(void** state) {
  SKIP_WITHOUT_VIRTUAL_MEMORY();
  SKIP_WITHOUT_RESULTS();
  const iree_device_size_t page = page_size();
  iree_hal_buffer_t *first = reserve(4 * page), *second = reserve(2 * page);
  iree_hal_physical_memory_t* memory = allocate(2 * page);
  CHECK_OK(map(first, page, memory, 0, 2 * page));
  CHECK_OK(map(second, 0, memory, page, page));
  CHECK_OK(map(second, page, memory, 0, page));
  CHECK_OK(protect(first, page, 2 * page, IREE_HAL_MEMORY_PROTECTION_READ_WRITE));
  CHECK_OK(protect(second, 0, 2 * page, IREE_HAL_MEMORY_PROTECTION_READ));
  fill(first, page, page, 0xA1);
  fill(first, 2 * page, page, 0xB2);
  expect_bytes(second, 0, page, 0xB2);
  expect_bytes(second, page, 2 * page, 0xA1);
  CHECK_OK(unmap(first, page, 2 * page));
  CHECK_OK(unmap(second, 0, 2 * page));
  CHECK_OK(iree_hal_allocator_virtual_memory_release(cts.allocator, first));
  CHECK_OK(iree_hal_allocator_virtual_memory_release(cts.allocator, second));
  CHECK_OK(iree_hal_allocator_physical_memory_free(cts.allocator, memory));
}

// A buffer that grows in place: what is there stays where it is.
static void grown(void** state) {
  SKIP_WITHOUT_VIRTUAL_MEMORY();
  SKIP_WITHOUT_RESULTS();
  enum { STEPS = 8 };
  const iree_device_size_t page = page_size();
  iree_hal_buffer_t* buffer = reserve(STEPS * page);
  iree_hal_physical_memory_t* memory[STEPS];
  for (uint8_t i = 0; i < STEPS; ++i) {
    memory[i] = allocate(page);
    CHECK_OK(map(buffer, i * page, memory[i], 0, page));
    CHECK_OK(protect(buffer, i * page, page, IREE_HAL_MEMORY_PROTECTION_READ_WRITE));
    expect_bytes(buffer, i * page, (i + 1) * page, 0);  // new memory is zeros
    fill(buffer, i * page, page, (uint8_t)(i + 1));
    for (uint8_t j = 0; j <= i; ++j) expect_bytes(buffer, j * page, (j + 1) * page, (uint8_t)(j + 1));
  }
  CHECK_OK(iree_hal_allocator_virtual_memory_advise(cts.allocator, buffer, 1, 2 * page, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                    IREE_HAL_MEMORY_ADVICE_WILL_NEED));
  expect_bytes(buffer, page, 2 * page, 2);
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_allocator_virtual_memory_advise(cts.allocator, buffer, 0, page, IREE_HAL_QUEUE_AFFINITY_ANY, 64));
  // Memory outlives its place, and keeps what it has.
  CHECK_OK(unmap(buffer, 0, STEPS * page));
  CHECK_OK(map(buffer, 0, memory[5], 0, page));
  CHECK_OK(protect(buffer, 0, page, IREE_HAL_MEMORY_PROTECTION_READ));
  expect_bytes(buffer, 0, page, 6);
  CHECK_OK(unmap(buffer, 0, page));
  CHECK_OK(iree_hal_allocator_virtual_memory_release(cts.allocator, buffer));
  for (int i = 0; i < STEPS; ++i) CHECK_OK(iree_hal_allocator_physical_memory_free(cts.allocator, memory[i]));
}

// What is not in order is told, and changes nothing.
static void misused(void** state) {
  SKIP_WITHOUT_VIRTUAL_MEMORY();
  const iree_device_size_t page = page_size();
  iree_hal_buffer_t *buffer = reserve(4 * page), *none = NULL, *other = cts_buffer(4 * page, 0);
  iree_hal_physical_memory_t* memory = allocate(2 * page);
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_allocator_virtual_memory_reserve(cts.allocator, IREE_HAL_QUEUE_AFFINITY_ANY, page + 1, &none));
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_allocator_virtual_memory_reserve(cts.allocator, IREE_HAL_QUEUE_AFFINITY_ANY, 0, &none));
  CHECK_CODE(INVALID_ARGUMENT, map(buffer, 1, memory, 0, page));
  CHECK_CODE(INVALID_ARGUMENT, map(buffer, 0, memory, 1, page));
  CHECK_CODE(INVALID_ARGUMENT, map(buffer, 0, memory, 0, page / 2));
  CHECK_CODE(INVALID_ARGUMENT, map(other, 0, memory, 0, page));
  CHECK_CODE(OUT_OF_RANGE, map(buffer, 3 * page, memory, 0, 2 * page));
  CHECK_CODE(OUT_OF_RANGE, map(buffer, 0, memory, page, 2 * page));
  CHECK_CODE(OUT_OF_RANGE, map(buffer, UINT64_MAX - page + 1, memory, 0, page));
  CHECK_CODE(FAILED_PRECONDITION, unmap(buffer, 0, page));
  CHECK_CODE(FAILED_PRECONDITION, protect(buffer, 0, page, IREE_HAL_MEMORY_PROTECTION_READ));
  CHECK_OK(map(buffer, page, memory, 0, 2 * page));
  CHECK_CODE(FAILED_PRECONDITION, map(buffer, 0, memory, 0, 2 * page));
  CHECK_CODE(FAILED_PRECONDITION, unmap(buffer, 2 * page, 2 * page));
  CHECK_CODE(INVALID_ARGUMENT, protect(buffer, page, page, 64));
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_allocator_physical_memory_free(cts.allocator, memory));
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_allocator_virtual_memory_release(cts.allocator, buffer));
  CHECK_OK(unmap(buffer, 2 * page, page));
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_allocator_physical_memory_free(cts.allocator, memory));
  CHECK_OK(unmap(buffer, page, page));
  CHECK_OK(iree_hal_allocator_virtual_memory_release(cts.allocator, buffer));
  CHECK_OK(iree_hal_allocator_physical_memory_free(cts.allocator, memory));
  iree_hal_buffer_release(other);
}

static void refused_where_not_there(void** state) {
  if (iree_hal_allocator_supports_virtual_memory(cts.allocator)) skip();
  iree_hal_buffer_t* buffer = NULL;
  CHECK_CODE(UNAVAILABLE,
             iree_hal_allocator_virtual_memory_reserve(cts.allocator, IREE_HAL_QUEUE_AFFINITY_ANY, 1 << 21, &buffer));
  assert_null(buffer);
}

CTS_SUITE(virtual_memory, cmocka_unit_test(mapped_twice), cmocka_unit_test(grown), cmocka_unit_test(misused),
          cmocka_unit_test(refused_where_not_there));
