// Events: what a wait orders, seen through memory.
#include "cts.h"

static iree_hal_event_t* make_event(void) {
  iree_hal_event_t* event = NULL;
  CHECK_OK(iree_hal_event_create(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, IREE_HAL_EVENT_FLAG_NONE, &event));
  return event;
}

static void signal_event(iree_hal_command_buffer_t* commands, iree_hal_event_t* event) {
  CHECK_OK(iree_hal_command_buffer_signal_event(commands, event,
                                                IREE_HAL_EXECUTION_STAGE_TRANSFER | IREE_HAL_EXECUTION_STAGE_DISPATCH));
}

static iree_status_t wait_events(iree_hal_command_buffer_t* commands, iree_host_size_t count,
                                 const iree_hal_event_t** events) {
  const iree_hal_execution_stage_t stages = IREE_HAL_EXECUTION_STAGE_TRANSFER | IREE_HAL_EXECUTION_STAGE_DISPATCH;
  const iree_hal_memory_barrier_t barrier = {IREE_HAL_ACCESS_SCOPE_MEMORY_WRITE, IREE_HAL_ACCESS_SCOPE_MEMORY_READ};
  return iree_hal_command_buffer_wait_events(commands, count, events, stages, stages, 1, &barrier, 0, NULL);
}

static void fill(iree_hal_command_buffer_t* commands, iree_hal_buffer_t* buffer, uint8_t value,
                 iree_device_size_t length) {
  CHECK_OK(
      iree_hal_command_buffer_fill_buffer(commands, cts_ref(buffer, 0, length), &value, 1, IREE_HAL_FILL_FLAG_NONE));
}

static void copy(iree_hal_command_buffer_t* commands, iree_hal_buffer_t* source, iree_hal_buffer_t* target,
                 iree_device_size_t length) {
  CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, cts_ref(source, 0, length), cts_ref(target, 0, length),
                                               IREE_HAL_COPY_FLAG_NONE));
}

// Large enough to take a while, and for work of other commands to run beside it.
enum { SIZE = 1 << 20, LINKS = 8 };

// A chain of copies, each after the event of the one before; the event is reset and signalled again each time.
static void chain(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t* buffers[LINKS + 1];
  for (int i = 0; i <= LINKS; ++i) buffers[i] = cts_buffer(SIZE, (uint8_t)i);
  iree_hal_event_t* event = make_event();
  const iree_hal_event_t* waited = event;
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 0);
  fill(commands, buffers[0], 0xA5, SIZE);
  signal_event(commands, event);
  for (int i = 0; i < LINKS; ++i) {
    CHECK_OK(wait_events(commands, 1, &waited));
    CHECK_OK(iree_hal_command_buffer_reset_event(commands, event, IREE_HAL_EXECUTION_STAGE_TRANSFER));
    copy(commands, buffers[i], buffers[i + 1], SIZE);
    signal_event(commands, event);
  }
  iree_hal_event_release(event);  // is not used any more once all is recorded
  cts_end(commands);
  for (int run = 0; run < 2; ++run) {
    const uint8_t dirt = 0x11;
    CHECK_OK(iree_hal_buffer_map_fill(buffers[LINKS], 0, SIZE, &dirt, 1));
    CHECK_OK(cts_execute(commands, 0, NULL));
    cts_expect_bytes(buffers[LINKS], 0, SIZE, 0xA5);
  }
  iree_hal_command_buffer_release(commands);
  for (int i = 0; i <= LINKS; ++i) iree_hal_buffer_release(buffers[i]);
}

// A wait for several is for all of them; an event stays signalled for later waits.
static void several(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t* sources[4];
  iree_hal_event_t* events[4];
  iree_hal_buffer_t *target = cts_buffer(4 * SIZE, 0), *later = cts_buffer(SIZE, 0);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  for (uint8_t i = 0; i < 4; ++i) {
    sources[i] = cts_buffer(SIZE, 0);
    events[i] = make_event();
    fill(commands, sources[i], (uint8_t)(i + 1), SIZE);
    signal_event(commands, events[i]);
  }
  CHECK_OK(wait_events(commands, 4, (const iree_hal_event_t**)events));
  for (iree_device_size_t i = 0; i < 4; ++i) {
    CHECK_OK(iree_hal_command_buffer_copy_buffer(commands, cts_ref(sources[i], 0, SIZE),
                                                 cts_ref(target, i * SIZE, SIZE), IREE_HAL_COPY_FLAG_NONE));
  }
  signal_event(commands, events[1]);
  CHECK_OK(wait_events(commands, 1, (const iree_hal_event_t**)&events[1]));
  copy(commands, target, later, SIZE);
  cts_finish(commands);
  for (iree_device_size_t i = 0; i < 4; ++i) {
    cts_expect_bytes(target, i * SIZE, (i + 1) * SIZE, (uint8_t)(i + 1));
    iree_hal_event_release(events[i]);
    iree_hal_buffer_release(sources[i]);
  }
  cts_expect_bytes(later, 0, SIZE, 1);
  iree_hal_buffer_release(target);
  iree_hal_buffer_release(later);
}

// A dispatch behind an event reads what transfers before it wrote, and the other way around.
static void dispatches(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *a = cts_buffer(1024, 0), *b = cts_buffer(1024, 0), *c = cts_buffer(1024, 0);
  iree_hal_event_t* event = make_event();
  const iree_hal_event_t* waited = event;
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  const uint32_t pattern = 7;
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, cts_ref(a, 0, 1024), &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  signal_event(commands, event);
  CHECK_OK(wait_events(commands, 1, &waited));
  const uint32_t constants[] = {3, 5};
  const iree_hal_buffer_ref_t bindings[] = {cts_ref(a, 0, 1024), cts_ref(b, 0, 1024)};
  CHECK_OK(cts_dispatch(commands, CTS_SCALE, 256, 2, constants, 2, bindings));
  signal_event(commands, event);
  CHECK_OK(wait_events(commands, 1, &waited));
  copy(commands, b, c, 1024);
  cts_finish(commands);
  assert_int_equal(cts_word(c, 255), 7 * 3 + 5);
  iree_hal_event_release(event);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
  iree_hal_buffer_release(c);
}

// What takes long before the signal, on one thread, is over for what is behind the wait and would run on another.
static void slow_before(void** state) {
  SKIP_ON_GPU();  // functions there do not run in order
  SKIP_WITHOUT_RESULTS();
  enum { GROUPS = 3000000 };
  iree_hal_buffer_t *a = cts_buffer(64, 0), *b = cts_buffer(64, 0);
  iree_hal_event_t* event = make_event();
  const iree_hal_event_t* waited = event;
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  const iree_hal_buffer_ref_t binding = cts_ref(a, 0, 64);
  CHECK_OK(cts_dispatch(commands, CTS_SEQUENTIAL, GROUPS, 0, NULL, 1, &binding));
  signal_event(commands, event);
  CHECK_OK(wait_events(commands, 1, &waited));
  copy(commands, a, b, 64);
  cts_finish(commands);
  uint32_t expected = 0;
  for (uint32_t group = 0; group < GROUPS; ++group) expected = expected * 3 + group;
  assert_int_equal(cts_word(b, 0), expected);
  iree_hal_event_release(event);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

// An event is one command buffer's; semaphores order command buffers, and a wait of the second one adds nothing.
static void two_command_buffers(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *a = cts_buffer(64, 0), *b = cts_buffer(64, 0);
  iree_hal_event_t* event = make_event();
  const iree_hal_event_t* waited = event;
  iree_hal_command_buffer_t* first = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  fill(first, a, 9, 64);
  signal_event(first, event);
  iree_hal_command_buffer_t* second = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_OK(wait_events(second, 1, &waited));
  copy(second, a, b, 64);
  cts_finish(first);
  cts_finish(second);
  cts_expect_bytes(b, 0, 64, 9);
  iree_hal_event_release(event);
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
}

static void bad_events(void** state) {
  SKIP_INDIRECT();
  iree_hal_event_t* event = NULL;
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_event_create(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, 1u << 7, &event));
  event = make_event();
  const iree_hal_event_t* waited[] = {event, NULL};
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT, 0);
  CHECK_CODE(INVALID_ARGUMENT, wait_events(commands, 2, waited));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_command_buffer_signal_event(commands, NULL, IREE_HAL_EXECUTION_STAGE_TRANSFER));
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_command_buffer_reset_event(commands, NULL, IREE_HAL_EXECUTION_STAGE_TRANSFER));
  cts_end(commands);
  CHECK_CODE(FAILED_PRECONDITION,
             iree_hal_command_buffer_signal_event(commands, event, IREE_HAL_EXECUTION_STAGE_TRANSFER));
  iree_hal_command_buffer_release(commands);
  iree_hal_event_release(event);
}

CTS_RECORDING_SUITE(event, cmocka_unit_test(chain), cmocka_unit_test(several), cmocka_unit_test(dispatches),
                    cmocka_unit_test(slow_before), cmocka_unit_test(two_command_buffers), cmocka_unit_test(bad_events));
