// Command buffers: transfers, barriers, reuse, indirect bindings, errors.
#include "cts.h"

static void empty(void** state) {
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  cts_finish(commands);
}

static void fills(void** state) {
  SKIP_WITHOUT_RESULTS();
  const uint64_t pattern = 0x0807060504030201ull;
  for (iree_host_size_t width = 1; width <= 8; width *= 2) {
    iree_hal_buffer_t* buffer = cts_buffer(64, 0xFF);
    iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
    CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, cts_ref(buffer, 8, 40), &pattern, width,
                                                 IREE_HAL_FILL_FLAG_NONE));
    cts_finish(commands);
    uint8_t data[64];
    cts_read(buffer, data, sizeof(data));
    for (int i = 0; i < 64; ++i) assert_int_equal(data[i], i < 8 || i >= 48 ? 0xFF : 1 + (i - 8) % width);
    iree_hal_buffer_release(buffer);
    cts.binding_count = 0;
  }
}

static void fill_whole_subspan(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *buffer = cts_buffer(64, 0), *part = NULL;
  CHECK_OK(iree_hal_buffer_subspan(buffer, 16, 16, cts.host_allocator, &part));
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  const uint8_t pattern = 5;
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, cts_ref(part, 0, IREE_HAL_WHOLE_BUFFER), &pattern, 1,
                                               IREE_HAL_FILL_FLAG_NONE));
  cts_finish(commands);
  cts_expect_bytes(buffer, 0, 16, 0);
  cts_expect_bytes(buffer, 16, 32, 5);
  cts_expect_bytes(buffer, 32, 64, 0);
  iree_hal_buffer_release(part);
  iree_hal_buffer_release(buffer);
}

static void bad_fills(void** state) {
  SKIP_INDIRECT();
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  const uint32_t pattern = 0;
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_buffer_ref(buffer, 0, 9),
                                                                   &pattern, 3, IREE_HAL_FILL_FLAG_NONE));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_buffer_ref(buffer, 0, 6),
                                                                   &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_buffer_ref(buffer, 60, 8),
                                                               &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_indirect_buffer_ref(0, 0, 8),
                                                               &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

static void copies(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *a = cts_buffer(64, 1), *b = cts_buffer(64, 2);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(
      iree_hal_command_buffer_copy_buffer(commands, cts_ref(a, 0, 16), cts_ref(b, 32, 16), IREE_HAL_COPY_FLAG_NONE));
  CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, cts_ref(a, 48, IREE_HAL_WHOLE_BUFFER), cts_ref(b, 0, 16),
                                               IREE_HAL_COPY_FLAG_NONE));
  cts_finish(commands);
  cts_expect_bytes(b, 0, 16, 1);
  cts_expect_bytes(b, 16, 32, 2);
  cts_expect_bytes(b, 32, 48, 1);
  cts_expect_bytes(b, 48, 64, 2);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void bad_copies(void** state) {
  SKIP_INDIRECT();
  iree_hal_buffer_t *a = cts_buffer(64, 1), *b = cts_buffer(32, 2);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_command_buffer_copy_buffer(commands, iree_hal_make_buffer_ref(a, 0, 16),
                                                 iree_hal_make_buffer_ref(a, 8, 16), IREE_HAL_COPY_FLAG_NONE));
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_command_buffer_copy_buffer(commands, iree_hal_make_buffer_ref(a, 0, 16),
                                                 iree_hal_make_buffer_ref(b, 0, 8), IREE_HAL_COPY_FLAG_NONE));
  CHECK_CODE(OUT_OF_RANGE,
             iree_hal_command_buffer_copy_buffer(commands, iree_hal_make_buffer_ref(a, 0, 64),
                                                 iree_hal_make_buffer_ref(b, 0, 64), IREE_HAL_COPY_FLAG_NONE));
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void large_transfers(void** state) {
  SKIP_WITHOUT_RESULTS();
  const iree_device_size_t size = 3 * 1024 * 1024 + 40;
  iree_hal_buffer_t *a = cts_buffer(size, 1), *b = cts_buffer(size, 2);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  const uint32_t pattern = 0x03020100;
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, cts_ref(a, 0, size), &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  cts_barrier(commands);
  CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, cts_ref(a, 4, size - 8), cts_ref(b, 0, size - 8),
                                               IREE_HAL_COPY_FLAG_NONE));
  cts_finish(commands);
  assert_int_equal(cts_word(b, 0), pattern);
  assert_int_equal(cts_word(b, size / 8), pattern);
  assert_int_equal(cts_word(b, size / 4 - 3), pattern);
  cts_expect_bytes(b, size - 8, size, 2);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void updates(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  uint8_t data[16];
  memset(data, 7, sizeof(data));
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(
      iree_hal_command_buffer_update_buffer(commands, data, 4, cts_ref(buffer, 20, 12), IREE_HAL_UPDATE_FLAG_NONE));
  memset(data, 9, sizeof(data));  // was copied
  CHECK_CODE(OUT_OF_RANGE, iree_hal_command_buffer_update_buffer(
                               commands, data, 0, cts_ref(buffer, 0, IREE_HAL_COMMAND_BUFFER_MAX_UPDATE_SIZE + 1),
                               IREE_HAL_UPDATE_FLAG_NONE));
  cts_finish(commands);
  cts_expect_bytes(buffer, 0, 20, 0);
  cts_expect_bytes(buffer, 20, 32, 7);
  cts_expect_bytes(buffer, 32, 64, 0);
  iree_hal_buffer_release(buffer);
}

static void transfer_command_buffer(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  iree_hal_buffer_t *a = cts_buffer(200000, 1), *b = cts_buffer(200000, 2);
  uint8_t* data = test_malloc(150000);
  memset(data, 3, 150000);
  const uint8_t pattern = 4;
  const iree_hal_transfer_command_t transfers[] = {
      {.type = IREE_HAL_TRANSFER_COMMAND_TYPE_UPDATE, .update = {data, 0, a, 100, 150000}},
      {.type = IREE_HAL_TRANSFER_COMMAND_TYPE_FILL, .fill = {b, 0, 100, &pattern, 1}},
      {.type = IREE_HAL_TRANSFER_COMMAND_TYPE_COPY, .copy = {a, 0, b, 100, 100}},
  };
  iree_hal_command_buffer_t* commands = NULL;
  CHECK_OK(iree_hal_create_transfer_command_buffer(cts.device, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                                                   IREE_HAL_QUEUE_AFFINITY_ANY, IREE_ARRAYSIZE(transfers), transfers,
                                                   &commands));
  CHECK_OK(cts_execute(commands, 0, NULL));
  iree_hal_command_buffer_release(commands);
  cts_expect_bytes(a, 0, 100, 1);
  cts_expect_bytes(a, 100, 150100, 3);
  cts_expect_bytes(a, 150100, 200000, 1);
  cts_expect_bytes(b, 0, 100, 4);
  cts_expect_bytes(b, 100, 200, 1);
  cts_expect_bytes(b, 200, 200000, 2);
  test_free(data);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void reuse(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t* buffer = cts_buffer(4, 0);
  const iree_hal_buffer_ref_t ref = cts_ref(buffer, 0, 4);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 0);
  CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, 10, 0, NULL, 1, &ref));
  cts_end(commands);
  for (uint32_t i = 1; i <= 20; ++i) {
    CHECK_OK(cts_execute(commands, 0, NULL));
    assert_int_equal(cts_word(buffer, 0), 10 * i);
  }
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

// Several executions of one command buffer in flight at once.
static void reuse_concurrently(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  enum { EXECUTIONS = 8 };
  iree_hal_buffer_t* buffers[EXECUTIONS];
  iree_hal_semaphore_t *start = cts_semaphore(0), *done = cts_semaphore(0), *each[EXECUTIONS];
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 1);
  const iree_hal_buffer_ref_t ref = iree_hal_make_indirect_buffer_ref(0, 0, 4);
  CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, 100, 0, NULL, 1, &ref));
  cts_end(commands);
  for (int i = 0; i < EXECUTIONS; ++i) {
    buffers[i] = cts_buffer(4, 0);
    each[i] = cts_semaphore(0);
    iree_hal_buffer_binding_t binding = {buffers[i], 0, 4};
    CHECK_OK(iree_hal_device_queue_execute(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(start, 1),
                                           CTS_POINT(each[i], 1), commands,
                                           (iree_hal_buffer_binding_table_t){1, &binding}, IREE_HAL_EXECUTE_FLAG_NONE));
  }
  iree_hal_command_buffer_release(commands);  // executions keep it
  CHECK_OK(iree_hal_semaphore_signal(start, 1, NULL));
  for (int i = 0; i < EXECUTIONS; ++i) {
    CHECK_OK(iree_hal_semaphore_wait(each[i], 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
    assert_int_equal(cts_word(buffers[i], 0), 100);
    iree_hal_semaphore_release(each[i]);
    iree_hal_buffer_release(buffers[i]);
  }
  iree_hal_semaphore_release(start);
  iree_hal_semaphore_release(done);
}

static void indirect_transfers(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  iree_hal_buffer_t *a = cts_buffer(64, 1), *b = cts_buffer(64, 2);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 2);
  const uint8_t pattern = 9;
  CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, iree_hal_make_indirect_buffer_ref(0, 0, 8),
                                               iree_hal_make_indirect_buffer_ref(1, 8, 8), IREE_HAL_COPY_FLAG_NONE));
  CHECK_OK(iree_hal_command_buffer_fill_buffer(
      commands, iree_hal_make_indirect_buffer_ref(1, 16, IREE_HAL_WHOLE_BUFFER), &pattern, 1, IREE_HAL_FILL_FLAG_NONE));
  cts_end(commands);
  const iree_hal_buffer_binding_t bindings[] = {{a, 32, 16}, {b, 8, 32}};
  CHECK_OK(cts_execute(commands, 2, bindings));
  cts_expect_bytes(b, 0, 16, 2);
  cts_expect_bytes(b, 16, 24, 1);
  cts_expect_bytes(b, 24, 40, 9);
  cts_expect_bytes(b, 40, 64, 2);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void bad_binding_tables(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 2);
  const uint8_t pattern = 9;
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_indirect_buffer_ref(1, 16, 16), &pattern, 1,
                                               IREE_HAL_FILL_FLAG_NONE));
  cts_end(commands);
  const iree_hal_buffer_binding_t short_table[] = {{buffer, 0, 64}, {buffer, 40, 24}};
  const iree_hal_buffer_binding_t null_table[] = {{buffer, 0, 64}, {NULL, 0, 64}};
  const iree_hal_buffer_binding_t outside[] = {{NULL, 0, 0}, {buffer, 60, 32}};
  const iree_hal_buffer_binding_t good[] = {{NULL, 0, 0}, {buffer, 32, IREE_HAL_WHOLE_BUFFER}};
  CHECK_CODE(INVALID_ARGUMENT, cts_execute(commands, 0, NULL));
  CHECK_CODE(INVALID_ARGUMENT, cts_execute(commands, 1, short_table));
  CHECK_CODE(OUT_OF_RANGE, cts_execute(commands, 2, short_table));
  CHECK_CODE(INVALID_ARGUMENT, cts_execute(commands, 2, null_table));
  CHECK_CODE(OUT_OF_RANGE, cts_execute(commands, 2, outside));
  CHECK_OK(cts_execute(commands, 2, good));
  cts_expect_bytes(buffer, 0, 48, 0);
  cts_expect_bytes(buffer, 48, 64, 9);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

static void recording_state(void** state) {
  SKIP_INDIRECT();
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  iree_hal_command_buffer_t* commands = NULL;
  const uint8_t pattern = 9;
  CHECK_OK(iree_hal_command_buffer_create(cts.device, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT,
                                          IREE_HAL_COMMAND_CATEGORY_DISPATCH, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                          &commands));
  iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(buffer, 0, 64);
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_command_buffer_end(commands));
  CHECK_CODE(FAILED_PRECONDITION, cts_execute(commands, 0, NULL));
  CHECK_OK(iree_hal_command_buffer_begin(commands));
  // Transfers were not asked for.
  CHECK_CODE(FAILED_PRECONDITION,
             iree_hal_command_buffer_fill_buffer(commands, ref, &pattern, 1, IREE_HAL_FILL_FLAG_NONE));
  CHECK_OK(
      iree_hal_command_buffer_begin_debug_group(commands, IREE_SV("group"), iree_hal_label_color_unspecified(), NULL));
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_command_buffer_end(commands));
  CHECK_OK(iree_hal_command_buffer_end_debug_group(commands));
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_command_buffer_end_debug_group(commands));
  CHECK_OK(iree_hal_command_buffer_end(commands));
  CHECK_CODE(FAILED_PRECONDITION, iree_hal_command_buffer_begin(commands));
  CHECK_OK(cts_execute(commands, 0, NULL));
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

static void events(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *a = cts_buffer(64, 0), *b = cts_buffer(64, 0);
  iree_hal_event_t* event = NULL;
  CHECK_OK(iree_hal_event_create(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, IREE_HAL_EVENT_FLAG_NONE, &event));
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  const uint8_t pattern = 9;
  const iree_hal_event_t* events[] = {event};
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, cts_ref(a, 0, 64), &pattern, 1, IREE_HAL_FILL_FLAG_NONE));
  CHECK_OK(iree_hal_command_buffer_signal_event(commands, event, IREE_HAL_EXECUTION_STAGE_TRANSFER));
  CHECK_OK(iree_hal_command_buffer_wait_events(commands, 1, events, IREE_HAL_EXECUTION_STAGE_TRANSFER,
                                               IREE_HAL_EXECUTION_STAGE_TRANSFER, 0, NULL, 0, NULL));
  CHECK_OK(iree_hal_command_buffer_reset_event(commands, event, IREE_HAL_EXECUTION_STAGE_TRANSFER));
  CHECK_OK(
      iree_hal_command_buffer_copy_buffer(commands, cts_ref(a, 0, 64), cts_ref(b, 0, 64), IREE_HAL_COPY_FLAG_NONE));
  cts_finish(commands);
  cts_expect_bytes(b, 0, 64, 9);
  iree_hal_event_release(event);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void unvalidated_and_unretained(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  iree_hal_command_buffer_t* commands =
      cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED | IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED, 1);
  const uint8_t pattern = 9;
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_indirect_buffer_ref(0, 0, 32), &pattern, 1,
                                               IREE_HAL_FILL_FLAG_NONE));
  cts_end(commands);
  const iree_hal_buffer_binding_t good = {buffer, 0, 64}, bad = {buffer, 0, 16};
  CHECK_OK(cts_execute(commands, 1, &good));
  CHECK_CODE(OUT_OF_RANGE, cts_execute(commands, 1, &bad));  // found when it is bound
  cts_expect_bytes(buffer, 0, 32, 9);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

static void create_errors(void** state) {
  SKIP_INDIRECT();
  iree_hal_command_buffer_t* commands = NULL;
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_command_buffer_create(cts.device, IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION,
                                            IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0, &commands));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_command_buffer_create(cts.device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                                          IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                          1u << 24, &commands));
}

CTS_RECORDING_SUITE(command_buffer, cmocka_unit_test(empty), cmocka_unit_test(fills),
                    cmocka_unit_test(fill_whole_subspan), cmocka_unit_test(bad_fills), cmocka_unit_test(copies),
                    cmocka_unit_test(bad_copies), cmocka_unit_test(large_transfers), cmocka_unit_test(updates),
                    cmocka_unit_test(transfer_command_buffer), cmocka_unit_test(reuse),
                    cmocka_unit_test(reuse_concurrently), cmocka_unit_test(indirect_transfers),
                    cmocka_unit_test(bad_binding_tables), cmocka_unit_test(recording_state), cmocka_unit_test(events),
                    cmocka_unit_test(unvalidated_and_unretained), cmocka_unit_test(create_errors));
