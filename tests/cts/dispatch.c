// Dispatches: grids, constants, bindings, barriers, scratch memory, indirect counts, failures.
#include "cts.h"

static void scale(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 1000 };
  iree_hal_buffer_t *in = cts_buffer(COUNT * 4, 1), *out = cts_buffer(COUNT * 4, 0);
  const uint32_t constants[] = {3, 5};
  const iree_hal_buffer_ref_t refs[] = {cts_ref(in, 0, IREE_HAL_WHOLE_BUFFER), cts_ref(out, 0, IREE_HAL_WHOLE_BUFFER)};
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(cts_dispatch(commands, CTS_SCALE, COUNT, 2, constants, 2, refs));
  cts_finish(commands);
  for (int i = 0; i < COUNT; ++i) assert_int_equal(cts_word(out, i), 0x01010101u * 3 + 5);
  iree_hal_buffer_release(in);
  iree_hal_buffer_release(out);
}

static void grid(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t* out = cts_buffer(3 * 4 * 5 * 4, 0);
  iree_hal_buffer_ref_t ref = cts_ref(out, 0, IREE_HAL_WHOLE_BUFFER);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(iree_hal_command_buffer_dispatch(commands, cts.executable, iree_hal_executable_function_from_index(CTS_IDS),
                                            iree_hal_make_static_dispatch_config(3, 4, 5), iree_const_byte_span_empty(),
                                            (iree_hal_buffer_ref_list_t){1, &ref}, IREE_HAL_DISPATCH_FLAG_NONE));
  cts_finish(commands);
  for (uint32_t z = 0, i = 0; z < 5; ++z) {
    for (uint32_t y = 0; y < 4; ++y) {
      for (uint32_t x = 0; x < 3; ++x, ++i) {
        assert_int_equal(cts_word(out, i), x | y << 8 | z << 16 | 60u << 24);
      }
    }
  }
  iree_hal_buffer_release(out);
}

static void every_group_runs_once(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t* out = cts_buffer(4, 0);
  iree_hal_buffer_ref_t ref = cts_ref(out, 0, 4);
  uint32_t expected = 0;
  for (uint32_t count = 1; count < 3000; count = count * 3 + 1) {
    iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
    CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, count, 0, NULL, 1, &ref));
    CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, count, 0, NULL, 1, &ref));
    cts_finish(commands);
    assert_int_equal(cts_word(out, 0), expected += 2 * count);
  }
  iree_hal_buffer_release(out);
}

static void no_groups(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t* out = cts_buffer(4, 0);
  iree_hal_buffer_ref_t ref = cts_ref(out, 0, 4);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, 0, 0, NULL, 1, &ref));
  cts_barrier(commands);
  CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, 2, 0, NULL, 1, &ref));
  cts_finish(commands);
  assert_int_equal(cts_word(out, 0), 2);
  iree_hal_buffer_release(out);
}

// A recording by slots, submitted with the same buffers, with others, with one of them elsewhere, and again as at
// first; and with a fill of a slot before the dispatches.
static void replayed_with_others(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 16, ROUNDS = 12, BUFFERS = 4, SIZE = 256 };
  const uint32_t constants[] = {2, 1}, one = 1;
  iree_hal_buffer_t* buffers[BUFFERS];
  for (int i = 0; i < BUFFERS; ++i) buffers[i] = cts_buffer(SIZE, 0);
  for (int fills = 0; fills < 2; ++fills) {
    iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 2);
    const iree_hal_buffer_ref_t refs[] = {iree_hal_make_indirect_buffer_ref(0, 0, 64),
                                          iree_hal_make_indirect_buffer_ref(1, 0, 64)};
    if (fills) {
      CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, refs[0], &one, 4, IREE_HAL_FILL_FLAG_NONE));
      cts_barrier(commands);
    }
    for (int i = 0; i < 2; ++i) {
      const iree_hal_buffer_ref_t pair[] = {refs[i], refs[1 - i]};
      CHECK_OK(cts_dispatch(commands, CTS_SCALE, COUNT, 2, constants, 2, pair));
      cts_barrier(commands);
    }
    cts_end(commands);
    for (int round = 0; round < ROUNDS; ++round) {
      iree_hal_buffer_t *in = buffers[round / 3 % BUFFERS], *out = buffers[(round / 3 + 1) % BUFFERS];
      iree_device_size_t begin = round % 4 == 3 ? 64 : 0;
      const iree_hal_buffer_binding_t bindings[] = {{in, begin, 64}, {out, 0, 64}};
      uint32_t first = fills ? 1 : cts_word(in, begin / 4), second = first * 2 + 1;
      CHECK_OK(cts_execute(commands, 2, bindings));
      for (int i = 0; i < COUNT; ++i) {
        assert_int_equal(cts_word(out, i), second);
        assert_int_equal(cts_word(in, begin / 4 + i), second * 2 + 1);
      }
    }
    iree_hal_command_buffer_release(commands);
  }
  for (int i = 0; i < BUFFERS; ++i) iree_hal_buffer_release(buffers[i]);
}

// A chain of dispatches, each of which needs all of the one before.
static void barriers(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 64, STEPS = 200 };
  iree_hal_buffer_t* buffers[2] = {cts_buffer(COUNT * 4, 0), cts_buffer(COUNT * 4, 0)};
  const uint32_t constants[] = {1, 1};
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 0);
  for (int step = 0; step < STEPS; ++step) {
    const iree_hal_buffer_ref_t refs[] = {cts_ref(buffers[step % 2], 0, COUNT * 4),
                                          cts_ref(buffers[1 - step % 2], 0, COUNT * 4)};
    CHECK_OK(cts_dispatch(commands, CTS_SCALE, COUNT, 2, constants, 2, refs));
    cts_barrier(commands);
  }
  cts_end(commands);
  for (uint32_t i = 1; i <= 10; ++i) {
    CHECK_OK(cts_execute(commands, 0, NULL));
    for (int j = 0; j < COUNT; ++j) assert_int_equal(cts_word(buffers[0], j), STEPS * i);
  }
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffers[0]);
  iree_hal_buffer_release(buffers[1]);
}

// Many commands between two barriers.
static void wide_region(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COMMANDS = 1500 };
  iree_hal_buffer_t* out = cts_buffer(4, 0);
  iree_hal_buffer_ref_t ref = cts_ref(out, 0, 4);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  for (int i = 0; i < COMMANDS; ++i) CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, 3, 0, NULL, 1, &ref));
  cts_finish(commands);
  assert_int_equal(cts_word(out, 0), 3 * COMMANDS);
  iree_hal_buffer_release(out);
}

static void scratch(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 300 };
  iree_hal_buffer_t* out = cts_buffer(COUNT * 4, 0xFF);
  iree_hal_buffer_ref_t ref = cts_ref(out, 0, IREE_HAL_WHOLE_BUFFER);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(cts_dispatch(commands, CTS_SCRATCH, COUNT, 0, NULL, 1, &ref));
  cts_finish(commands);
  for (int i = 0; i < COUNT; ++i) assert_int_equal(cts_word(out, i), i);
  iree_hal_buffer_release(out);
}

static void sequential(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_ON_GPU();
  enum { COUNT = 200 };
  iree_hal_buffer_t* out = cts_buffer(4, 0);
  iree_hal_buffer_ref_t ref = cts_ref(out, 0, 4);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(cts_dispatch(commands, CTS_SEQUENTIAL, COUNT, 0, NULL, 1, &ref));
  cts_finish(commands);
  uint32_t expected = 0;
  for (uint32_t i = 0; i < COUNT; ++i) expected = expected * 3 + i;
  assert_int_equal(cts_word(out, 0), expected);
  iree_hal_buffer_release(out);
}

static void specialization_constant(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_ON_GPU();
  iree_hal_buffer_t* out = cts_buffer(4, 0);
  iree_hal_buffer_ref_t ref = cts_ref(out, 0, 4);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(cts_dispatch(commands, CTS_CONSTANT, 1, 0, NULL, 1, &ref));
  cts_finish(commands);
  assert_int_equal(cts_word(out, 0), CTS_CONSTANT_VALUE);
  iree_hal_buffer_release(out);
}

static void indirect_bindings(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  enum { COUNT = 16 };
  iree_hal_buffer_t *in = cts_buffer(COUNT * 4, 2), *out = cts_buffer(COUNT * 8, 0);
  const uint32_t constants[] = {1, 1};
  const iree_hal_buffer_ref_t refs[] = {iree_hal_make_indirect_buffer_ref(1, 0, COUNT * 4),
                                        iree_hal_make_indirect_buffer_ref(0, COUNT * 4, COUNT * 4)};
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 2);
  CHECK_OK(cts_dispatch(commands, CTS_SCALE, COUNT, 2, constants, 2, refs));
  cts_end(commands);
  const iree_hal_buffer_binding_t bindings[] = {{out, 0, COUNT * 8}, {in, 0, COUNT * 4}};
  CHECK_OK(cts_execute(commands, 2, bindings));
  cts_expect_bytes(out, 0, COUNT * 4, 0);
  for (int i = 0; i < COUNT; ++i) assert_int_equal(cts_word(out, COUNT + i), 0x02020202u + 1);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(in);
  iree_hal_buffer_release(out);
}

// The count is written by a dispatch before.
static void indirect_count(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *count = cts_buffer(16, 0), *out = cts_buffer(4, 0);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 0);
  cts_dispatch_counted(commands, (const uint32_t[]){7, 5, 3}, count, out);
  cts_end(commands);
  CHECK_OK(cts_execute(commands, 0, NULL));
  CHECK_OK(cts_execute(commands, 0, NULL));
  assert_int_equal(cts_word(out, 0), 2 * 7 * 5 * 3);
  const iree_hal_buffer_ref_t out_ref = cts_ref(out, 0, 4);
  iree_hal_dispatch_config_t config = {.workgroup_count_ref = cts_ref(count, 2, 12)};
  iree_hal_command_buffer_release(commands);
  commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 0);
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_command_buffer_dispatch(
                                   commands, cts.executable, iree_hal_executable_function_from_index(CTS_ACCUMULATE),
                                   config, iree_const_byte_span_empty(), (iree_hal_buffer_ref_list_t){1, &out_ref},
                                   IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS));
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(count);
  iree_hal_buffer_release(out);
}

// More than a work-item to a workgroup, with a count that is known and one that is in memory.
static void wide_groups(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *count = cts_buffer(12, 0), *out = cts_buffer(4, 0);
  const uint32_t constants[] = {5, 2, 3}, size[3] = {64, 1, 1};
  const iree_hal_buffer_ref_t count_ref = cts_ref(count, 0, 12), out_ref = cts_ref(out, 0, 4);
  iree_hal_dispatch_config_t config = {.workgroup_count = {7, 1, 1}};
  if (cts.is_gpu) memcpy(config.workgroup_size, size, sizeof(size));
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(cts_dispatch(commands, CTS_STORE_COUNT, 1, 3, constants, 1, &count_ref));
  CHECK_OK(iree_hal_command_buffer_dispatch(commands, cts.executable, iree_hal_executable_function_from_index(CTS_WIDE),
                                            config, iree_const_byte_span_empty(),
                                            (iree_hal_buffer_ref_list_t){1, &out_ref}, IREE_HAL_DISPATCH_FLAG_NONE));
  cts_barrier(commands);
  config.workgroup_count_ref = count_ref;
  CHECK_OK(iree_hal_command_buffer_dispatch(
      commands, cts.executable, iree_hal_executable_function_from_index(CTS_WIDE), config, iree_const_byte_span_empty(),
      (iree_hal_buffer_ref_list_t){1, &out_ref}, IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS));
  cts_finish(commands);
  assert_int_equal(cts_word(out, 0), (7 + 5 * 2 * 3) * 64);
  iree_hal_buffer_release(count);
  iree_hal_buffer_release(out);
}

static void failure(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_ON_GPU();
  const uint32_t group = 17;
  iree_hal_buffer_t* out = cts_buffer(4, 0);
  iree_hal_buffer_ref_t ref = cts_ref(out, 0, 4);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 0);
  CHECK_OK(cts_dispatch(commands, CTS_FAIL, 100, 1, &group, 0, NULL));
  cts_barrier(commands);
  CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, 100, 0, NULL, 1, &ref));
  cts_end(commands);
  for (int i = 0; i < 3; ++i) CHECK_CODE(INTERNAL, cts_execute(commands, 0, NULL));
  assert_int_equal(cts_word(out, 0), 0);  // what comes after a failure does not run
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(out);
}

static void argument_errors(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  const uint32_t constants[] = {1, 2, 3};
  const iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(buffer, 0, 64);
  const iree_hal_buffer_ref_t refs[] = {ref, ref}, outside[] = {ref, iree_hal_make_buffer_ref(buffer, 60, 8)};
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_CODE(INVALID_ARGUMENT, cts_dispatch(commands, CTS_SCALE, 1, 3, constants, 2, refs));
  CHECK_CODE(INVALID_ARGUMENT, cts_dispatch(commands, CTS_SCALE, 1, 2, constants, 1, refs));
  CHECK_CODE(OUT_OF_RANGE, cts_dispatch(commands, CTS_SCALE, 1, 2, constants, 2, outside));
  CHECK_CODE(OUT_OF_RANGE, cts_dispatch(commands, 1000, 1, 0, NULL, 0, NULL));
  // CPU functions have no layout of arguments of their own.
  cts_check(iree_hal_command_buffer_dispatch(
                commands, cts.executable, iree_hal_executable_function_from_index(CTS_EMPTY),
                iree_hal_make_static_dispatch_config(1, 1, 1), iree_const_byte_span_empty(),
                iree_hal_buffer_ref_list_empty(), IREE_HAL_DISPATCH_FLAG_CUSTOM_DIRECT_ARGUMENTS),
            cts.is_gpu ? IREE_STATUS_OK : IREE_STATUS_UNIMPLEMENTED, __FILE__, __LINE__);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

static void queue_dispatch(void** state) {
  SKIP_WITHOUT_RESULTS();
  SKIP_INDIRECT();
  enum { COUNT = 100 };
  iree_hal_buffer_t *in = cts_buffer(COUNT * 4, 1), *out = cts_buffer(COUNT * 4, 0);
  iree_hal_semaphore_t *start = cts_semaphore(0), *done = cts_semaphore(0);
  uint32_t constants[] = {2, 0};
  iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(in, 0, IREE_HAL_WHOLE_BUFFER),
                                  iree_hal_make_buffer_ref(out, 0, COUNT * 4)};
  CHECK_OK(iree_hal_device_queue_dispatch(
      cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(start, 1), CTS_POINT(done, 1), cts.executable,
      iree_hal_executable_function_from_index(CTS_SCALE), iree_hal_make_static_dispatch_config(COUNT, 1, 1),
      iree_make_const_byte_span(constants, sizeof(constants)), (iree_hal_buffer_ref_list_t){2, refs},
      IREE_HAL_DISPATCH_FLAG_NONE));
  memset(constants, 0, sizeof(constants));  // was copied
  memset(refs, 0, sizeof(refs));
  CHECK_OK(iree_hal_semaphore_signal(start, 1, NULL));
  CHECK_OK(iree_hal_semaphore_wait(done, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  for (int i = 0; i < COUNT; ++i) assert_int_equal(cts_word(out, i), 0x02020202u);
  refs[0] = iree_hal_make_indirect_buffer_ref(0, 0, 4);
  refs[1] = refs[0];
  CHECK_CODE(INVALID_ARGUMENT,
             iree_hal_device_queue_dispatch(
                 cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(),
                 iree_hal_semaphore_list_empty(), cts.executable, iree_hal_executable_function_from_index(CTS_SCALE),
                 iree_hal_make_static_dispatch_config(1, 1, 1), iree_make_const_byte_span(constants, sizeof(constants)),
                 (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
  iree_hal_semaphore_release(start);
  iree_hal_semaphore_release(done);
  iree_hal_buffer_release(in);
  iree_hal_buffer_release(out);
}

CTS_RECORDING_SUITE(dispatch_, cmocka_unit_test(scale), cmocka_unit_test(grid), cmocka_unit_test(every_group_runs_once),
                    cmocka_unit_test(no_groups), cmocka_unit_test(replayed_with_others), cmocka_unit_test(barriers),
                    cmocka_unit_test(wide_region), cmocka_unit_test(scratch), cmocka_unit_test(sequential),
                    cmocka_unit_test(specialization_constant), cmocka_unit_test(indirect_bindings),
                    cmocka_unit_test(indirect_count), cmocka_unit_test(wide_groups), cmocka_unit_test(failure),
                    cmocka_unit_test(argument_errors), cmocka_unit_test(queue_dispatch));
