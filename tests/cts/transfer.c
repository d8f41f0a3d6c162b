// Transfers of every width, offset and length, recorded and queued, against the same done by the host.
#include "cts.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY
#define NOW iree_hal_semaphore_list_empty()

enum { SLOT = 192, MAX_PATTERN = 16 };

static const iree_device_size_t lengths[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 100};

static uint8_t byte_at(size_t i) { return (uint8_t)(i * 7 + i / 256 * 3 + 1); }

static void wait_for(iree_hal_semaphore_t* semaphore, uint64_t value) {
  CHECK_OK(iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static void expect(iree_hal_buffer_t* buffer, uint8_t* expected, size_t size) {
  uint8_t* data = (uint8_t*)test_malloc(size);
  cts_read(buffer, data, size);
  for (size_t i = 0; i < size; ++i) {
    if (data[i] == expected[i]) continue;
    print_error("byte %zu of slot %zu is %02X, expected %02X\n", i % SLOT, i / SLOT, data[i], expected[i]);
    fail();
  }
  test_free(data);
  test_free(expected);
}

//===----------------------------------------------------------------------------------------------------------------===
// Recorded
//===----------------------------------------------------------------------------------------------------------------===

// Each fill has a slot of its own.
static void fill_everything(void** state) {
  SKIP_WITHOUT_RESULTS();
  uint8_t pattern[MAX_PATTERN];
  for (int i = 0; i < MAX_PATTERN; ++i) pattern[i] = byte_at(i);
  for (iree_host_size_t width = 1; width <= MAX_PATTERN; width *= 2) {
    enum { SLOTS = 17 * IREE_ARRAYSIZE(lengths), SIZE = SLOTS * SLOT };
    iree_hal_buffer_t* buffer = cts_buffer(SIZE, 0xEE);
    uint8_t* expected = (uint8_t*)test_malloc(SIZE);
    memset(expected, 0xEE, SIZE);
    iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
    for (size_t slot = 0; slot < SLOTS; ++slot) {
      iree_device_size_t offset = slot * SLOT + slot % 17 / width * width;
      iree_device_size_t length = lengths[slot / 17] / width * width;
      CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, cts_ref(buffer, offset, length), pattern, width,
                                                   IREE_HAL_FILL_FLAG_NONE));
      for (size_t i = 0; i < length; ++i) expected[offset + i] = pattern[i % width];
    }
    cts_finish(commands);
    expect(buffer, expected, SIZE);
    iree_hal_buffer_release(buffer);
    cts.binding_count = 0;
  }
}

// Every remainder by 16 of source and target.
static void copy_everything(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { SLOTS = 17 * 17, SIZE = SLOTS * SLOT };
  iree_hal_buffer_t *source = cts_buffer(SIZE, 0), *target = cts_buffer(SIZE, 0xEE);
  uint8_t* expected = (uint8_t*)test_malloc(SIZE);
  for (size_t i = 0; i < SIZE; ++i) expected[i] = byte_at(i);
  CHECK_OK(iree_hal_buffer_map_write(source, 0, expected, SIZE));
  memset(expected, 0xEE, SIZE);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  for (size_t slot = 0; slot < SLOTS; ++slot) {
    iree_device_size_t from = slot * SLOT + slot % 17, to = slot * SLOT + slot / 17;
    iree_device_size_t length = lengths[(slot * 5 + slot / 17) % IREE_ARRAYSIZE(lengths)];
    CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, cts_ref(source, from, length), cts_ref(target, to, length),
                                                 IREE_HAL_COPY_FLAG_NONE));
    for (size_t i = 0; i < length; ++i) expected[to + i] = byte_at(from + i);
  }
  cts_finish(commands);
  expect(target, expected, SIZE);
  iree_hal_buffer_release(source);
  iree_hal_buffer_release(target);
}

static void update_everything(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { SLOTS = 17 * IREE_ARRAYSIZE(lengths), SIZE = SLOTS * SLOT };
  iree_hal_buffer_t* buffer = cts_buffer(SIZE, 0xEE);
  uint8_t data[SLOT];
  uint8_t* expected = (uint8_t*)test_malloc(SIZE);
  memset(expected, 0xEE, SIZE);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  for (size_t slot = 0; slot < SLOTS; ++slot) {
    iree_device_size_t offset = slot * SLOT + slot % 17, length = lengths[slot / 17];
    for (int i = 0; i < SLOT; ++i) data[i] = byte_at(slot + i);
    CHECK_OK(iree_hal_command_buffer_update_buffer(commands, data, slot % 5, cts_ref(buffer, offset, length),
                                                   IREE_HAL_UPDATE_FLAG_NONE));
    memcpy(expected + offset, data + slot % 5, length);
  }
  cts_finish(commands);
  expect(buffer, expected, SIZE);
  iree_hal_buffer_release(buffer);
}

// A value that goes from slot to slot, each step after a barrier; and back by a second execution.
static void copy_chain(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 150 };
  iree_hal_buffer_t* buffer = cts_buffer((COUNT + 1) * 12, 0);
  const uint32_t first = 0xABCD1234;
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 0);
  CHECK_OK(
      iree_hal_command_buffer_update_buffer(commands, &first, 0, cts_ref(buffer, 0, 4), IREE_HAL_UPDATE_FLAG_NONE));
  for (int i = 0; i < COUNT; ++i) {
    cts_barrier(commands);
    CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, cts_ref(buffer, i * 12, 4), cts_ref(buffer, (i + 1) * 12, 4),
                                                 IREE_HAL_COPY_FLAG_NONE));
  }
  cts_end(commands);
  for (int round = 0; round < 2; ++round) {
    CHECK_OK(cts_execute(commands, 0, NULL));
    assert_int_equal(cts_word(buffer, COUNT * 3), first);
    assert_int_equal(cts_word(buffer, COUNT * 3 - 1), 0);
    CHECK_OK(iree_hal_buffer_map_zero(buffer, 0, IREE_HAL_WHOLE_BUFFER));
  }
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

// Parts of parts, and whole ones.
static void subspans(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *buffer = cts_buffer(256, 1), *part = NULL, *inner = NULL;
  CHECK_OK(iree_hal_buffer_subspan(buffer, 64, 128, cts.host_allocator, &part));
  CHECK_OK(iree_hal_buffer_subspan(part, 16, 32, cts.host_allocator, &inner));
  const uint8_t pattern = 7;
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, cts_ref(inner, 4, IREE_HAL_WHOLE_BUFFER), &pattern, 1,
                                               IREE_HAL_FILL_FLAG_NONE));
  cts_barrier(commands);
  CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, cts_ref(inner, 0, 32), cts_ref(part, 64, 32),
                                               IREE_HAL_COPY_FLAG_NONE));
  cts_finish(commands);
  cts_expect_bytes(buffer, 0, 84, 1);
  cts_expect_bytes(buffer, 84, 112, 7);
  cts_expect_bytes(buffer, 112, 132, 1);
  cts_expect_bytes(buffer, 132, 160, 7);
  cts_expect_bytes(buffer, 160, 256, 1);
  iree_hal_buffer_release(inner);
  iree_hal_buffer_release(part);
  iree_hal_buffer_release(buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// Queued
//===----------------------------------------------------------------------------------------------------------------===

// One after the other over the same bytes, on all queues.
static void queued_transfers(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  enum { SIZE = 4096 };
  iree_hal_buffer_t *a = cts_buffer(SIZE, 0), *b = cts_buffer(SIZE, 0);
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  uint8_t pattern[MAX_PATTERN], *expected = (uint8_t*)test_malloc(SIZE), *second = (uint8_t*)test_malloc(SIZE);
  memset(expected, 0, SIZE);
  memset(second, 0, SIZE);
  uint64_t value = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    iree_host_size_t width = (iree_host_size_t)1 << round % 5;
    iree_device_size_t offset = (round * 53 % 1000) / width * width, length = (round * 97 % 3000) / width * width;
    for (int i = 0; i < MAX_PATTERN; ++i) pattern[i] = byte_at(round + i);
    CHECK_OK(iree_hal_device_queue_fill(cts.device, 1ull << round % 4, CTS_POINT(semaphore, value),
                                        CTS_POINT(semaphore, value + 1), a, offset, length, pattern, width,
                                        IREE_HAL_FILL_FLAG_NONE));
    for (size_t i = 0; i < length; ++i) expected[offset + i] = pattern[i % width];
    iree_device_size_t from = round * 31 % 500, to = round * 17 % 700, size = round * 61 % 3000;
    CHECK_OK(iree_hal_device_queue_copy(cts.device, 1ull << (round + 1) % 4, CTS_POINT(semaphore, value + 1),
                                        CTS_POINT(semaphore, value + 2), a, from, b, to, size,
                                        IREE_HAL_COPY_FLAG_NONE));
    memcpy(second + to, expected + from, size);
    CHECK_OK(iree_hal_device_queue_update(cts.device, 1ull << (round + 2) % 4, CTS_POINT(semaphore, value + 2),
                                          CTS_POINT(semaphore, value + 3), pattern, round % 3, b, round * 11, 13,
                                          IREE_HAL_UPDATE_FLAG_NONE));
    memcpy(second + round * 11, pattern + round % 3, 13);
    value += 3;
  }
  wait_for(semaphore, value);
  expect(a, expected, SIZE);
  expect(b, second, SIZE);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void large_update(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  enum { SIZE = (3 << 20) + 12345 };
  uint8_t *data = (uint8_t*)test_malloc(SIZE), *expected = (uint8_t*)test_malloc(SIZE + 100);
  iree_hal_buffer_t* buffer = cts_buffer(SIZE + 100, 9);
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  for (size_t i = 0; i < SIZE; ++i) data[i] = byte_at(i);
  memset(expected, 9, SIZE + 100);
  memcpy(expected + 50, data, SIZE);
  CHECK_OK(iree_hal_device_queue_update(cts.device, ANY, NOW, CTS_POINT(semaphore, 1), data, 0, buffer, 50, SIZE,
                                        IREE_HAL_UPDATE_FLAG_NONE));
  memset(data, 0, SIZE);  // was copied
  wait_for(semaphore, 1);
  expect(buffer, expected, SIZE + 100);
  test_free(data);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
}

// To memory that the host does not see, and back: in one piece and in several.
static void host_transfers(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  enum { SIZE = (13 << 20) + 77, GAP = 5 };
  const size_t sizes[] = {1, 4096, (4 << 20) + 1, SIZE - 3};  // each from a byte further on
  uint8_t *data = (uint8_t*)test_malloc(SIZE), *back = (uint8_t*)test_malloc(SIZE);
  for (size_t i = 0; i < SIZE; ++i) data[i] = byte_at(i);
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_buffer_t* buffer = NULL;
  CHECK_OK(iree_hal_allocator_allocate_buffer(cts.allocator, params, SIZE + GAP, &buffer));
  for (size_t i = 0; i < IREE_ARRAYSIZE(sizes); ++i) {
    memset(back, 0, SIZE);
    CHECK_OK(iree_hal_device_transfer_h2d(cts.device, data + i, buffer, GAP, sizes[i],
                                          IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
    CHECK_OK(iree_hal_device_transfer_d2h(cts.device, buffer, GAP, back, sizes[i],
                                          IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout()));
    assert_memory_equal(back, data + i, sizes[i]);
  }
  iree_hal_buffer_release(buffer);
  test_free(data);
  test_free(back);
}

// Refused at once, or by the semaphore: never done in part.
static void expect_refusal(iree_status_t status, iree_hal_semaphore_t* semaphore) {
  if (iree_status_is_ok(status)) {
    status = iree_hal_semaphore_wait(semaphore, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  assert_false(iree_status_is_ok(status));
  iree_status_free(status);
}

static void refused_transfers(void** state) {
  SKIP_INDIRECT();
  iree_hal_buffer_t *buffer = cts_buffer(64, 3), *other = NULL;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE};
  CHECK_OK(iree_hal_allocator_allocate_buffer(cts.allocator, params, 64, &other));
  const uint64_t pattern = 0;
  for (int i = 0; i < 6; ++i) {
    iree_hal_semaphore_t* semaphore = cts_semaphore(0);
    iree_hal_semaphore_list_t signals = CTS_POINT(semaphore, 1);
    iree_status_t status = iree_ok_status();
    if (i < 4) {
      static const struct {
        iree_device_size_t offset, length;
        iree_host_size_t width;
      } bad[] = {{0, 65, 1}, {65, 0, 1}, {2, 8, 4}, {0, 9, 3}};
      status = iree_hal_device_queue_fill(cts.device, ANY, NOW, signals, buffer, bad[i].offset, bad[i].length, &pattern,
                                          bad[i].width, IREE_HAL_FILL_FLAG_NONE);
    } else if (i == 4) {
      status = iree_hal_device_queue_update(cts.device, ANY, NOW, signals, &pattern, 0, buffer, 60, 8,
                                            IREE_HAL_UPDATE_FLAG_NONE);
    } else {
      status =
          iree_hal_device_queue_copy(cts.device, ANY, NOW, signals, buffer, 60, buffer, 0, 8, IREE_HAL_COPY_FLAG_NONE);
    }
    expect_refusal(status, semaphore);
    iree_hal_semaphore_release(semaphore);
  }
  cts_expect_bytes(buffer, 0, 64, 3);
  iree_hal_buffer_release(buffer);
  iree_hal_buffer_release(other);
}

CTS_RECORDING_SUITE(transfer, cmocka_unit_test(fill_everything), cmocka_unit_test(copy_everything),
                    cmocka_unit_test(update_everything), cmocka_unit_test(copy_chain), cmocka_unit_test(subspans),
                    cmocka_unit_test(queued_transfers), cmocka_unit_test(large_update),
                    cmocka_unit_test(host_transfers), cmocka_unit_test(refused_transfers));
