// Queues: ordering by semaphores, queue-ordered memory, host calls, failures, devices that end with work pending.
#include "cts.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY
#define NOW iree_hal_semaphore_list_empty()

static void wait_for(iree_hal_semaphore_t* semaphore, uint64_t value) {
  CHECK_OK(iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static void barrier(void** state) {
  iree_hal_semaphore_t *a = cts_semaphore(0), *b = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, ANY, NOW, CTS_POINT(a, 1), IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_OK(
      iree_hal_device_queue_barrier(cts.device, ANY, CTS_POINT(a, 2), CTS_POINT(b, 5), IREE_HAL_EXECUTE_FLAG_NONE));
  wait_for(a, 1);
  uint64_t value = 99;
  CHECK_OK(iree_hal_semaphore_query(b, &value));
  assert_int_equal(value, 0);
  CHECK_OK(iree_hal_semaphore_signal(a, 2, NULL));
  wait_for(b, 5);
  iree_hal_semaphore_release(a);
  iree_hal_semaphore_release(b);
}

// Submitted in the opposite order of their semaphores.
static void out_of_order(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 50 };
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_buffer_t* buffer = cts_buffer(4, 0);
  for (uint32_t i = COUNT; i > 0; --i) {
    CHECK_OK(iree_hal_device_queue_update(cts.device, ANY, CTS_POINT(semaphore, i), CTS_POINT(semaphore, i + 1), &i, 0,
                                          buffer, 0, 4, IREE_HAL_UPDATE_FLAG_NONE));
  }
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 1, NULL));
  wait_for(semaphore, COUNT + 1);
  assert_int_equal(cts_word(buffer, 0), COUNT);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
}

// A long chain that one signal sets off: it must not run by recursion.
static void long_chain(void** state) {
  enum { COUNT = 6000 };
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  for (uint32_t i = 1; i <= COUNT; ++i) {
    CHECK_OK(iree_hal_device_queue_barrier(cts.device, ANY, CTS_POINT(semaphore, i), CTS_POINT(semaphore, i + 1),
                                           IREE_HAL_EXECUTE_FLAG_NONE));
  }
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 1, NULL));
  wait_for(semaphore, COUNT + 1);
  iree_hal_semaphore_release(semaphore);
}

// A chain that goes round up to four queues, submitted at once.
static void across_queues(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 200 };
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_buffer_t* buffer = cts_buffer((COUNT + 1) * 4, 0);
  const uint32_t first = 0x12345678;
  CHECK_OK(iree_hal_device_queue_fill(cts.device, 1, NOW, CTS_POINT(semaphore, 1), buffer, 0, 4, &first, 4,
                                      IREE_HAL_FILL_FLAG_NONE));
  for (uint32_t i = 0; i < COUNT; ++i) {
    CHECK_OK(iree_hal_device_queue_copy(cts.device, 1u << i % 4, CTS_POINT(semaphore, i + 1),
                                        CTS_POINT(semaphore, i + 2), buffer, i * 4, buffer, (i + 1) * 4, 4,
                                        IREE_HAL_COPY_FLAG_NONE));
  }
  wait_for(semaphore, COUNT + 1);
  assert_int_equal(cts_word(buffer, COUNT), first);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
}

// Memory that one queue allocates is there for another, and for the host when that one is done.
static void alloca_across_queues(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  for (int round = 0; round < 50; ++round) {
    iree_hal_semaphore_t *a = cts_semaphore(0), *b = cts_semaphore(0), *c = cts_semaphore(0);
    iree_hal_buffer_t *input = cts_buffer(64, 3), *buffer = NULL;
    const uint8_t pattern = 7;
    CHECK_OK(iree_hal_device_queue_fill(cts.device, 1, NOW, CTS_POINT(a, 1), input, 0, 64, &pattern, 1,
                                        IREE_HAL_FILL_FLAG_NONE));
    CHECK_OK(iree_hal_device_queue_alloca(cts.device, 1, CTS_POINT(a, 1), CTS_POINT(b, 1), NULL, params, 64,
                                          IREE_HAL_ALLOCA_FLAG_NONE, &buffer));
    CHECK_OK(iree_hal_device_queue_copy(cts.device, 2, CTS_POINT(b, 1), CTS_POINT(c, 1), input, 0, buffer, 0, 64,
                                        IREE_HAL_COPY_FLAG_NONE));
    wait_for(c, 1);
    cts_expect_bytes(buffer, 0, 64, 7);
    uint64_t value = 0;
    CHECK_OK(iree_hal_semaphore_query(b, &value));
    assert_int_equal(value, 1);
    CHECK_OK(iree_hal_device_queue_dealloca(cts.device, 1, CTS_POINT(c, 1), CTS_POINT(a, 2), buffer,
                                            IREE_HAL_DEALLOCA_FLAG_NONE));
    wait_for(a, 2);
    iree_hal_buffer_release(buffer);
    iree_hal_buffer_release(input);
    iree_hal_semaphore_release(a);
    iree_hal_semaphore_release(b);
    iree_hal_semaphore_release(c);
  }
}

static void wait_for_many(void** state) {
  enum { COUNT = 20 };
  iree_hal_semaphore_t *waits[COUNT], *signals[COUNT];
  uint64_t wait_values[COUNT], signal_values[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    waits[i] = cts_semaphore(0);
    signals[i] = cts_semaphore(0);
    wait_values[i] = signal_values[i] = (uint64_t)i + 1;
  }
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, ANY, (iree_hal_semaphore_list_t){COUNT, waits, wait_values},
                                         (iree_hal_semaphore_list_t){COUNT, signals, signal_values},
                                         IREE_HAL_EXECUTE_FLAG_NONE));
  for (int i = COUNT - 1; i >= 0; --i) {
    uint64_t value = 0;
    CHECK_OK(iree_hal_semaphore_query(signals[0], &value));
    assert_int_equal(value, 0);
    CHECK_OK(iree_hal_semaphore_signal(waits[i], wait_values[i], NULL));
  }
  CHECK_OK(iree_hal_device_wait_semaphores(cts.device, IREE_ASYNC_WAIT_MODE_ALL,
                                           (iree_hal_semaphore_list_t){COUNT, signals, signal_values},
                                           iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  for (int i = 0; i < COUNT; ++i) {
    iree_hal_semaphore_release(waits[i]);
    iree_hal_semaphore_release(signals[i]);
  }
}

static void failure_passes_on(void** state) {
  iree_hal_semaphore_t *a = cts_semaphore(0), *b = cts_semaphore(0), *c = cts_semaphore(0);
  iree_hal_buffer_t* buffer = cts_buffer(4, 0);
  const uint8_t pattern = 1;
  CHECK_OK(iree_hal_device_queue_fill(cts.device, ANY, CTS_POINT(a, 1), CTS_POINT(b, 1), buffer, 0, 4, &pattern, 1,
                                      IREE_HAL_FILL_FLAG_NONE));
  CHECK_OK(
      iree_hal_device_queue_barrier(cts.device, ANY, CTS_POINT(b, 1), CTS_POINT(c, 1), IREE_HAL_EXECUTE_FLAG_NONE));
  iree_hal_semaphore_fail(a, iree_make_status(IREE_STATUS_DATA_LOSS, "lost"));
  CHECK_CODE(DATA_LOSS, iree_hal_semaphore_wait(c, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_CODE(DATA_LOSS, iree_hal_semaphore_wait(b, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  assert_int_equal(cts_word(buffer, 0), 0);
  // Later submissions fail too.
  iree_hal_semaphore_t* d = cts_semaphore(0);
  CHECK_OK(
      iree_hal_device_queue_barrier(cts.device, ANY, CTS_POINT(b, 1), CTS_POINT(d, 1), IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_CODE(DATA_LOSS, iree_hal_semaphore_wait(d, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(a);
  iree_hal_semaphore_release(b);
  iree_hal_semaphore_release(c);
  iree_hal_semaphore_release(d);
  iree_hal_buffer_release(buffer);
}

static void transfers(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { SIZE = 1 << 20 };
  iree_hal_buffer_t *a = cts_buffer(SIZE, 0), *b = cts_buffer(SIZE, 0);
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  const uint16_t pattern = 0x0201;
  uint8_t* data = test_malloc(100000);
  memset(data, 7, 100000);
  CHECK_OK(iree_hal_device_queue_fill(cts.device, ANY, NOW, CTS_POINT(semaphore, 1), a, 0, IREE_HAL_WHOLE_BUFFER,
                                      &pattern, 2, IREE_HAL_FILL_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_copy(cts.device, ANY, CTS_POINT(semaphore, 1), CTS_POINT(semaphore, 2), a, 0, b, 0,
                                      SIZE, IREE_HAL_COPY_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_update(cts.device, ANY, CTS_POINT(semaphore, 2), CTS_POINT(semaphore, 3), data, 0, b,
                                        1000, 100000, IREE_HAL_UPDATE_FLAG_NONE));
  memset(data, 8, 100000);  // was copied
  wait_for(semaphore, 3);
  test_free(data);
  cts_expect_bytes(b, 0, 1, 1);
  cts_expect_bytes(b, 999, 1000, 2);
  cts_expect_bytes(b, 1000, 101000, 7);
  cts_expect_bytes(b, SIZE - 1, SIZE, 2);
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_device_queue_copy(cts.device, ANY, NOW, CTS_POINT(semaphore, 4), a, 0, a, 8, 64,
                                                          IREE_HAL_COPY_FLAG_NONE));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_device_queue_copy(cts.device, ANY, NOW, CTS_POINT(semaphore, 4), a, 8, b, 0, SIZE,
                                                      IREE_HAL_COPY_FLAG_NONE));
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void queue_alloca(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  for (uint64_t i = 0; i < 5; ++i) {
    iree_hal_buffer_t* buffer = NULL;
    const uint8_t pattern = (uint8_t)i;
    uint64_t base = i * 4;
    CHECK_OK(iree_hal_device_queue_alloca(cts.device, ANY, CTS_POINT(semaphore, base + 1),
                                          CTS_POINT(semaphore, base + 2), NULL, params, 5000, IREE_HAL_ALLOCA_FLAG_NONE,
                                          &buffer));
    assert_int_equal(iree_hal_buffer_byte_length(buffer), 5000);
    uint8_t byte = 0;
    CHECK_CODE(FAILED_PRECONDITION, iree_hal_buffer_map_read(buffer, 0, &byte, 1));
    CHECK_OK(iree_hal_device_queue_fill(cts.device, ANY, CTS_POINT(semaphore, base + 2), CTS_POINT(semaphore, base + 3),
                                        buffer, 0, 5000, &pattern, 1, IREE_HAL_FILL_FLAG_NONE));
    CHECK_OK(iree_hal_semaphore_signal(semaphore, base + 1, NULL));
    wait_for(semaphore, base + 3);
    cts_expect_bytes(buffer, 0, 5000, pattern);
    CHECK_OK(iree_hal_device_queue_dealloca(cts.device, ANY, CTS_POINT(semaphore, base + 3),
                                            CTS_POINT(semaphore, base + 4), buffer, IREE_HAL_DEALLOCA_FLAG_NONE));
    wait_for(semaphore, base + 4);
    CHECK_CODE(FAILED_PRECONDITION, iree_hal_buffer_map_read(buffer, 0, &byte, 1));
    iree_hal_buffer_release(buffer);
  }
  iree_hal_semaphore_release(semaphore);
}

// Recorded before the memory is there, and executed with it.
static void alloca_in_command_buffer(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_buffer_t *transient = NULL, *out = cts_buffer(64, 0);
  CHECK_OK(iree_hal_device_queue_alloca(cts.device, ANY, CTS_POINT(semaphore, 1), CTS_POINT(semaphore, 2), NULL, params,
                                        64, IREE_HAL_ALLOCA_FLAG_NONE, &transient));
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  const uint8_t pattern = 6;
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_buffer_ref(transient, 0, 64), &pattern, 1,
                                               IREE_HAL_FILL_FLAG_NONE));
  cts_barrier(commands);
  CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, iree_hal_make_buffer_ref(transient, 16, 32),
                                               iree_hal_make_buffer_ref(out, 0, 32), IREE_HAL_COPY_FLAG_NONE));
  cts_end(commands);
  CHECK_OK(iree_hal_device_queue_execute(cts.device, ANY, CTS_POINT(semaphore, 2), CTS_POINT(semaphore, 3), commands,
                                         iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_dealloca(cts.device, ANY, CTS_POINT(semaphore, 3), CTS_POINT(semaphore, 4), transient,
                                          IREE_HAL_DEALLOCA_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 1, NULL));
  wait_for(semaphore, 4);
  cts_expect_bytes(out, 0, 32, 6);
  cts_expect_bytes(out, 32, 64, 0);
  // There is no memory any more: running it again fails, it does not crash.
  CHECK_CODE(FAILED_PRECONDITION, cts_execute(commands, 0, NULL));
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(transient);
  iree_hal_buffer_release(out);
  iree_hal_semaphore_release(semaphore);
}

static void dealloca_of_others(void** state) {
  iree_hal_buffer_t* buffer = cts_buffer(16, 3);
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  // Of other buffers nothing is freed.
  CHECK_OK(iree_hal_device_queue_dealloca(cts.device, ANY, NOW, CTS_POINT(semaphore, 1), buffer,
                                          IREE_HAL_DEALLOCA_FLAG_NONE));
  wait_for(semaphore, 1);
  cts_expect_bytes(buffer, 0, 16, 3);
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_device_queue_dealloca(cts.device, ANY, NOW, NOW, NULL, IREE_HAL_DEALLOCA_FLAG_NONE));
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// Host calls
//===----------------------------------------------------------------------------------------------------------------===

typedef struct call_record_t {
  iree_atomic_uint32_t count;
  uint64_t args[4];
  iree_status_code_t result;
  iree_hal_semaphore_list_t signals;  // kept by deferring calls
} call_record_t;

static iree_status_t record_call(void* user_data, const uint64_t args[4], iree_hal_host_call_context_t* context) {
  call_record_t* record = (call_record_t*)user_data;
  memcpy(record->args, args, sizeof(record->args));
  if (record->result == IREE_STATUS_DEFERRED) {
    IREE_CHECK_OK(iree_hal_semaphore_list_clone(&context->signal_semaphore_list, cts.host_allocator, &record->signals));
  }
  iree_atomic_fetch_add(&record->count, 1, iree_memory_order_seq_cst);
  return iree_status_from_code(record->result);
}

static void host_call(void** state) {
  call_record_t record = {0};
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  const uint64_t args[4] = {1, 2, 3, UINT64_MAX};
  CHECK_OK(iree_hal_device_queue_host_call(cts.device, ANY, CTS_POINT(semaphore, 1), CTS_POINT(semaphore, 2),
                                           iree_hal_make_host_call(record_call, &record), args,
                                           IREE_HAL_HOST_CALL_FLAG_NONE));
  assert_int_equal(iree_atomic_load(&record.count, iree_memory_order_seq_cst), 0);
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 1, NULL));
  wait_for(semaphore, 2);
  assert_int_equal(record.count, 1);
  assert_memory_equal(record.args, args, sizeof(args));
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_device_queue_host_call(cts.device, ANY, NOW, NOW, iree_hal_make_host_call(NULL, NULL), args,
                                             IREE_HAL_HOST_CALL_FLAG_NONE));
  iree_hal_semaphore_release(semaphore);
}

static void host_call_fails(void** state) {
  call_record_t record = {.result = IREE_STATUS_ABORTED};
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_host_call(cts.device, ANY, NOW, CTS_POINT(semaphore, 1),
                                           iree_hal_make_host_call(record_call, &record), NULL,
                                           IREE_HAL_HOST_CALL_FLAG_NONE));
  CHECK_CODE(ABORTED, iree_hal_semaphore_wait(semaphore, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(semaphore);
}

static void host_call_defers(void** state) {
  call_record_t record = {.result = IREE_STATUS_DEFERRED};
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_host_call(cts.device, ANY, NOW, CTS_POINT(semaphore, 3),
                                           iree_hal_make_host_call(record_call, &record), NULL,
                                           IREE_HAL_HOST_CALL_FLAG_NONE));
  while (!iree_atomic_load(&record.count, iree_memory_order_seq_cst)) iree_wait_until(iree_time_now() + 100000);
  CHECK_CODE(DEADLINE_EXCEEDED,
             iree_hal_semaphore_wait(semaphore, 3, iree_make_timeout_ms(5), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_list_signal(record.signals, NULL));
  wait_for(semaphore, 3);
  iree_hal_semaphore_list_free(record.signals, cts.host_allocator);
  iree_hal_semaphore_release(semaphore);
}

static void host_call_does_not_block(void** state) {
  call_record_t record = {.result = IREE_STATUS_ABORTED};
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_host_call(cts.device, ANY, NOW, CTS_POINT(semaphore, 1),
                                           iree_hal_make_host_call(record_call, &record), NULL,
                                           IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING));
  wait_for(semaphore, 1);
  while (!iree_atomic_load(&record.count, iree_memory_order_seq_cst)) iree_wait_until(iree_time_now() + 100000);
  iree_hal_semaphore_release(semaphore);
}

// A call may submit more work.
static iree_status_t submit_from_call(void* user_data, const uint64_t args[4], iree_hal_host_call_context_t* context) {
  iree_hal_semaphore_t* semaphore = (iree_hal_semaphore_t*)user_data;
  return iree_hal_device_queue_barrier(context->device, ANY, NOW, CTS_POINT(semaphore, 7), IREE_HAL_EXECUTE_FLAG_NONE);
}

static void host_call_submits(void** state) {
  iree_hal_semaphore_t *a = cts_semaphore(0), *b = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_host_call(cts.device, ANY, NOW, CTS_POINT(a, 1),
                                           iree_hal_make_host_call(submit_from_call, b), NULL,
                                           IREE_HAL_HOST_CALL_FLAG_NONE));
  wait_for(a, 1);
  wait_for(b, 7);
  iree_hal_semaphore_release(a);
  iree_hal_semaphore_release(b);
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

static void device_ends_with_work_pending(void** state) {
  iree_hal_device_t* device = NULL;
  CHECK_OK(iree_hal_driver_create_default_device(cts.driver, NULL, cts.host_allocator, &device));
  iree_hal_semaphore_t *a = NULL, *b = NULL, *c = NULL;
  CHECK_OK(iree_hal_semaphore_create(device, ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &a));
  CHECK_OK(iree_hal_semaphore_create(device, ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &b));
  CHECK_OK(iree_hal_semaphore_create(device, ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &c));
  CHECK_OK(iree_hal_device_queue_barrier(device, ANY, CTS_POINT(a, 1), CTS_POINT(b, 1), IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_barrier(device, ANY, CTS_POINT(b, 1), CTS_POINT(c, 1), IREE_HAL_EXECUTE_FLAG_NONE));
  iree_hal_device_release(device);
  CHECK_CODE(CANCELLED, iree_hal_semaphore_wait(b, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_CODE(CANCELLED, iree_hal_semaphore_wait(c, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_signal(a, 1, NULL));
  iree_hal_semaphore_release(a);
  iree_hal_semaphore_release(b);
  iree_hal_semaphore_release(c);
}

static void two_devices(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_device_t* other = NULL;
  CHECK_OK(iree_hal_driver_create_default_device(cts.driver, NULL, cts.host_allocator, &other));
  iree_hal_semaphore_t *a = cts_semaphore(0), *b = NULL;
  CHECK_OK(iree_hal_semaphore_create(other, ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &b));
  assert_true(iree_hal_device_query_semaphore_compatibility(other, a) & IREE_HAL_SEMAPHORE_COMPATIBILITY_DEVICE_WAIT);
  iree_hal_buffer_t* buffer = cts_buffer(4, 0);
  const uint8_t pattern = 1;
  CHECK_OK(iree_hal_device_queue_barrier(other, ANY, CTS_POINT(a, 1), CTS_POINT(b, 1), IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_fill(cts.device, ANY, NOW, CTS_POINT(a, 1), buffer, 0, 4, &pattern, 1,
                                      IREE_HAL_FILL_FLAG_NONE));
  wait_for(b, 1);
  assert_int_equal(cts_word(buffer, 0), 0x01010101);
  iree_hal_device_release(other);
  iree_hal_semaphore_release(a);
  iree_hal_semaphore_release(b);
  iree_hal_buffer_release(buffer);
}

static void groups(void** state) {
  iree_hal_device_group_t* group = NULL;
  CHECK_OK(iree_hal_device_group_create_from_device(cts.device, NULL, cts.host_allocator, &group));
  assert_int_equal(iree_hal_device_group_device_count(group), 1);
  assert_ptr_equal(iree_hal_device_group_device_at(group, 0), cts.device);
  assert_null(iree_hal_device_group_device_at(group, 1));
  iree_hal_device_group_release(group);
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, NULL);
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_device_group_builder_finalize(&builder, cts.host_allocator, &group));
  iree_hal_device_group_builder_initialize(&builder, NULL);
  CHECK_OK(iree_hal_device_group_builder_add_device(&builder, cts.device));
  CHECK_CODE(ALREADY_EXISTS, iree_hal_device_group_builder_add_device(&builder, cts.device));
  iree_hal_device_group_builder_deinitialize(&builder);
  CHECK_OK(iree_hal_device_queue_flush(cts.device, ANY));
}

static iree_status_t count_call(void* user_data, const uint64_t args[4], iree_hal_host_call_context_t* context) {
  ++*(uint32_t*)user_data;
  return iree_ok_status();
}

// Flags that are not known are refused, before anything is done.
static void unknown_flags(void** state) {
  const uint64_t unknown = 1ull << 40;
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_semaphore_list_t signals = CTS_POINT(semaphore, 1);
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  iree_hal_buffer_t* buffer = NULL;
  iree_hal_event_t* event = NULL;
  uint32_t calls = 0;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_device_queue_alloca(cts.device, ANY, NOW, signals, NULL, params, 64, unknown, &buffer));
  assert_null(buffer);
  CHECK_OK(iree_hal_device_queue_alloca(cts.device, ANY, NOW, NOW, NULL, params, 64, 0, &buffer));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_device_queue_dealloca(cts.device, ANY, NOW, signals, buffer, unknown));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_device_queue_barrier(cts.device, ANY, NOW, signals, unknown));
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_device_queue_host_call(cts.device, ANY, NOW, signals, iree_hal_make_host_call(count_call, &calls),
                                             NULL, unknown));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_event_create(cts.device, ANY, 1u << 5, &event));
  iree_hal_executable_params_t executable = {.caching_mode = 1u << 20};
  iree_hal_executable_t* none = NULL;
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_executable_cache_prepare_executable(cts.cache, &executable, &none));
  uint64_t value = 1;
  CHECK_OK(iree_hal_semaphore_query(semaphore, &value));
  assert_int_equal(value, 0);
  assert_int_equal(calls, 0);
  // The refused release is none, and this goes to the queue that the memory came from.
  CHECK_OK(iree_hal_device_queue_dealloca(cts.device, 1ull << 63, NOW, signals, buffer,
                                          IREE_HAL_DEALLOCA_FLAG_PREFER_ORIGIN));
  wait_for(semaphore, 1);
  iree_hal_buffer_release(buffer);
  iree_hal_semaphore_release(semaphore);
}

// The caller keeps the table's buffers: the device takes no references, however long the work waits.
static void borrowed_table(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_RECORDED();
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_command_buffer_t* commands = NULL;
  CHECK_OK(iree_hal_command_buffer_create(cts.device, 0, IREE_HAL_COMMAND_CATEGORY_ANY, ANY, 1, &commands));
  CHECK_OK(iree_hal_command_buffer_begin(commands));
  const uint32_t pattern = 5;
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_indirect_buffer_ref(0, 0, 4), &pattern, 4,
                                               IREE_HAL_FILL_FLAG_NONE));
  cts_end(commands);
  static const iree_hal_execute_flags_t flags[] = {IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME,
                                                   IREE_HAL_EXECUTE_FLAG_NONE};
  for (uint64_t i = 0; i < IREE_ARRAYSIZE(flags); ++i) {
    iree_hal_buffer_t* buffer = cts_buffer(4, 0);
    iree_hal_buffer_binding_t binding = {buffer, 0, IREE_HAL_WHOLE_BUFFER};
    CHECK_OK(iree_hal_device_queue_execute(cts.device, ANY, CTS_POINT(semaphore, 2 * i + 1),
                                           CTS_POINT(semaphore, 2 * i + 2), commands,
                                           (iree_hal_buffer_binding_table_t){1, &binding}, flags[i]));
    assert_int_equal(iree_atomic_ref_count_load(&buffer->resource.ref_count), i + 1);
    CHECK_OK(iree_hal_semaphore_signal(semaphore, 2 * i + 1, NULL));
    wait_for(semaphore, 2 * i + 2);
    assert_int_equal(cts_word(buffer, 0), 5);
    iree_hal_buffer_release(buffer);
  }
  iree_hal_command_buffer_release(commands);
  iree_hal_semaphore_release(semaphore);
}

// What groups of devices are made by.
static void capabilities(void** state) {
  iree_hal_device_capabilities_t has = {0};
  const uint8_t nothing[sizeof(has.physical_device_uuid)] = {0};
  CHECK_OK(iree_hal_device_query_capabilities(cts.device, &has));
  assert_true(has.flags & IREE_HAL_DEVICE_CAPABILITY_TIMELINE_SEMAPHORES);
  assert_true(has.driver_device_handle != 0);
  if (!cts.is_gpu) return;
  assert_true(has.flags & IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE);
  if (!has.has_physical_device_uuid) skip();  // several in one
  assert_memory_not_equal(has.physical_device_uuid, nothing, sizeof(nothing));
}

CTS_SUITE(queue, cmocka_unit_test(unknown_flags), cmocka_unit_test(borrowed_table), cmocka_unit_test(barrier),
          cmocka_unit_test(out_of_order), cmocka_unit_test(long_chain), cmocka_unit_test(across_queues),
          cmocka_unit_test(alloca_across_queues), cmocka_unit_test(wait_for_many), cmocka_unit_test(failure_passes_on),
          cmocka_unit_test(transfers), cmocka_unit_test(queue_alloca), cmocka_unit_test(alloca_in_command_buffer),
          cmocka_unit_test(dealloca_of_others), cmocka_unit_test(host_call), cmocka_unit_test(host_call_fails),
          cmocka_unit_test(host_call_defers), cmocka_unit_test(host_call_does_not_block),
          cmocka_unit_test(host_call_submits), cmocka_unit_test(device_ends_with_work_pending),
          cmocka_unit_test(two_devices), cmocka_unit_test(groups), cmocka_unit_test(capabilities));
