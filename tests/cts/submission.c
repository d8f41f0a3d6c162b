// Submissions: what waits for what, on which queue, from which thread.
#include "cts.h"
#include "iree/base/threading/thread.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY
#define NOW iree_hal_semaphore_list_empty()

static void wait_for(iree_hal_semaphore_t* semaphore, uint64_t value) {
  CHECK_OK(iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

static uint64_t value_of(iree_hal_semaphore_t* semaphore) {
  uint64_t value = 0;
  CHECK_OK(iree_hal_semaphore_query(semaphore, &value));
  return value;
}

static void submit_copy(iree_hal_queue_affinity_t affinity, iree_hal_semaphore_list_t waits,
                        iree_hal_semaphore_list_t signals, iree_hal_buffer_t* buffer, uint32_t from, uint32_t to) {
  CHECK_OK(iree_hal_device_queue_copy(cts.device, affinity, waits, signals, buffer, from * 4, buffer, to * 4, 4,
                                      IREE_HAL_COPY_FLAG_NONE));
}

static void submit_scale(iree_hal_queue_affinity_t affinity, iree_hal_semaphore_list_t waits,
                         iree_hal_semaphore_list_t signals, iree_hal_buffer_t* in, iree_hal_buffer_t* out,
                         uint32_t factor, uint32_t offset) {
  const uint32_t constants[] = {factor, offset};
  const iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(in, 0, IREE_HAL_WHOLE_BUFFER),
                                        iree_hal_make_buffer_ref(out, 0, IREE_HAL_WHOLE_BUFFER)};
  uint32_t count = (uint32_t)(iree_hal_buffer_byte_length(in) / 4);
  CHECK_OK(iree_hal_device_queue_dispatch(
      cts.device, affinity, waits, signals, cts.executable, iree_hal_executable_function_from_index(CTS_SCALE),
      iree_hal_make_static_dispatch_config(count, 1, 1), iree_make_const_byte_span(constants, sizeof(constants)),
      (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
}

// Every bit of the affinity, also those that a device has no queue for, and all at once.
static void affinities(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *in = cts_buffer(64, 1), *out = cts_buffer(64, 0);
  for (int bit = 0; bit <= 64; ++bit) {
    iree_hal_semaphore_t* semaphore = cts_semaphore(0);
    submit_scale(bit == 64 ? ANY : 1ull << bit, NOW, CTS_POINT(semaphore, 1), in, out, 1, (uint32_t)bit);
    wait_for(semaphore, 1);
    assert_int_equal(cts_word(out, 15), 0x01010101 + bit);
    iree_hal_semaphore_release(semaphore);
  }
  iree_hal_buffer_release(in);
  iree_hal_buffer_release(out);
}

// Nothing to wait for, nothing to tell, nothing to do.
static void empty(void** state) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(3);
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, ANY, NOW, NOW, IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, ANY, CTS_POINT(semaphore, 2), NOW, IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, ANY, CTS_POINT(semaphore, 3), CTS_POINT(semaphore, 10),
                                         IREE_HAL_EXECUTE_FLAG_NONE));
  wait_for(semaphore, 10);
  iree_hal_semaphore_release(semaphore);
}

// One point for many, and many points of one.
static void fork_and_join(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 12 };
  iree_hal_buffer_t* buffer = cts_buffer((COUNT + 1) * 4, 0);
  iree_hal_semaphore_t *start = cts_semaphore(0), *branches[COUNT], *end = cts_semaphore(0);
  uint64_t values[COUNT];
  const uint32_t first = 77;
  for (uint32_t i = 0; i < COUNT; ++i) {
    branches[i] = cts_semaphore(0);
    values[i] = i + 1;
    submit_copy(1ull << i % 4, CTS_POINT(start, 1), CTS_POINT(branches[i], i + 1), buffer, 0, i + 1);
  }
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, ANY, (iree_hal_semaphore_list_t){COUNT, branches, values},
                                         CTS_POINT(end, 1), IREE_HAL_EXECUTE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_update(cts.device, 2, NOW, CTS_POINT(start, 1), &first, 0, buffer, 0, 4,
                                        IREE_HAL_UPDATE_FLAG_NONE));
  wait_for(end, 1);
  for (uint32_t i = 0; i <= COUNT; ++i) assert_int_equal(cts_word(buffer, i), first);
  for (uint32_t i = 0; i < COUNT; ++i) {
    assert_int_equal(value_of(branches[i]), i + 1);
    iree_hal_semaphore_release(branches[i]);
  }
  iree_hal_semaphore_release(start);
  iree_hal_semaphore_release(end);
  iree_hal_buffer_release(buffer);
}

// Two queues that hand one value to and fro, all submitted at once, twice: once held back, once running already.
static void ping_pong(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { COUNT = 100 };
  for (int is_held = 0; is_held < 2; ++is_held) {
    iree_hal_buffer_t *a = cts_buffer(256, 0), *b = cts_buffer(256, 0);
    iree_hal_semaphore_t *left = cts_semaphore(0), *right = cts_semaphore(is_held ? 0 : 1);
    for (uint64_t i = 1; i <= COUNT; ++i) {
      submit_scale(1, CTS_POINT(right, i), CTS_POINT(left, i), a, b, 1, 1);
      submit_scale(2, CTS_POINT(left, i), CTS_POINT(right, i + 1), b, a, 1, 2);
    }
    if (is_held) CHECK_OK(iree_hal_semaphore_signal(right, 1, NULL));
    wait_for(right, COUNT + 1);
    assert_int_equal(cts_word(a, 63), COUNT * 3);
    assert_int_equal(cts_word(b, 63), COUNT * 3 - 2);
    iree_hal_semaphore_release(left);
    iree_hal_semaphore_release(right);
    iree_hal_buffer_release(a);
    iree_hal_buffer_release(b);
  }
}

// A wait for less than what is signalled, and for the jump over it.
static void skipped_values(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t* buffer = cts_buffer(16, 0);
  iree_hal_semaphore_t *a = cts_semaphore(0), *b = cts_semaphore(0);
  const uint32_t word = 9;
  submit_copy(2, CTS_POINT(a, 50), CTS_POINT(b, 5), buffer, 0, 1);
  submit_copy(1, CTS_POINT(a, 100), CTS_POINT(b, 70), buffer, 1, 2);
  CHECK_OK(iree_hal_device_queue_update(cts.device, 1, NOW, CTS_POINT(a, 99), &word, 0, buffer, 0, 4,
                                        IREE_HAL_UPDATE_FLAG_NONE));
  wait_for(b, 5);
  assert_int_equal(cts_word(buffer, 1), 9);
  assert_int_equal(value_of(b), 5);
  CHECK_OK(iree_hal_semaphore_signal(a, 1000, NULL));
  wait_for(b, 70);
  assert_int_equal(cts_word(buffer, 2), 9);
  iree_hal_semaphore_release(a);
  iree_hal_semaphore_release(b);
  iree_hal_buffer_release(buffer);
}

// A host call sees what the device did before it, and the device what the call did.
typedef struct relay_t {
  iree_hal_buffer_t* buffer;
  uint32_t seen;
} relay_t;

static iree_status_t relay_call(void* user_data, const uint64_t args[4], iree_hal_host_call_context_t* context) {
  relay_t* relay = (relay_t*)user_data;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_read(relay->buffer, 0, &relay->seen, 4));
  uint32_t next = relay->seen * 2;
  return iree_hal_buffer_map_write(relay->buffer, 0, &next, 4);
}

static void host_call_between(void** state) {
  SKIP_WITHOUT_RESULTS();
  static const iree_hal_host_call_flags_t flags[] = {IREE_HAL_HOST_CALL_FLAG_NONE, IREE_HAL_HOST_CALL_FLAG_WAIT_ACTIVE};
  for (size_t i = 0; i < IREE_ARRAYSIZE(flags); ++i) {
    relay_t relay = {cts_buffer(4, 0), 0};
    iree_hal_buffer_t* out = cts_buffer(4, 0);
    iree_hal_semaphore_t* semaphore = cts_semaphore(0);
    const uint32_t first = 21;
    CHECK_OK(iree_hal_device_queue_update(cts.device, 1, NOW, CTS_POINT(semaphore, 1), &first, 0, relay.buffer, 0, 4,
                                          IREE_HAL_UPDATE_FLAG_NONE));
    CHECK_OK(iree_hal_device_queue_host_call(cts.device, 1, CTS_POINT(semaphore, 1), CTS_POINT(semaphore, 2),
                                             iree_hal_make_host_call(relay_call, &relay), NULL, flags[i]));
    submit_scale(2, CTS_POINT(semaphore, 2), CTS_POINT(semaphore, 3), relay.buffer, out, 1, 1);
    wait_for(semaphore, 3);
    assert_int_equal(relay.seen, 21);
    assert_int_equal(cts_word(out, 0), 43);
    iree_hal_semaphore_release(semaphore);
    iree_hal_buffer_release(relay.buffer);
    iree_hal_buffer_release(out);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Single dispatches
//===----------------------------------------------------------------------------------------------------------------===

// Counts in memory that work before has written, some of them nothing.
static void indirect_dispatches(void** state) {
  SKIP_WITHOUT_RESULTS();
  static const uint32_t counts[][3] = {{3, 2, 1}, {0, 5, 5}, {1, 1, 1}, {7, 1, 0}, {2, 2, 9}};
  static const iree_hal_dispatch_flags_t flags[] = {IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS,
                                                    IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_PARAMETERS};
  iree_hal_buffer_t *memory = cts_buffer(64, 0), *out = cts_buffer(4, 0);
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  const iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(out, 0, 4);
  uint64_t value = 0;
  uint32_t expected = 0;
  for (uint32_t i = 0; i < 2 * IREE_ARRAYSIZE(counts); ++i) {
    const uint32_t* count = counts[i / 2];
    iree_hal_dispatch_config_t config = {.workgroup_count_ref = iree_hal_make_buffer_ref(memory, 4 + i % 3 * 4, 12)};
    CHECK_OK(iree_hal_device_queue_update(cts.device, 1ull << i % 4, CTS_POINT(semaphore, value),
                                          CTS_POINT(semaphore, value + 1), count, 0, memory, 4 + i % 3 * 4, 12,
                                          IREE_HAL_UPDATE_FLAG_NONE));
    CHECK_OK(iree_hal_device_queue_dispatch(
        cts.device, 1ull << i / 3 % 4, CTS_POINT(semaphore, value + 1), CTS_POINT(semaphore, value + 2), cts.executable,
        iree_hal_executable_function_from_index(CTS_ACCUMULATE), config, iree_const_byte_span_empty(),
        (iree_hal_buffer_ref_list_t){1, &ref}, flags[i % 2]));
    value += 2;
    expected += count[0] * count[1] * count[2];
  }
  wait_for(semaphore, value);
  assert_int_equal(cts_word(out, 0), expected);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(memory);
  iree_hal_buffer_release(out);
}

// Ranges of buffers, and buffers that are parts.
static void dispatch_ranges(void** state) {
  SKIP_WITHOUT_RESULTS();
  iree_hal_buffer_t *in = cts_buffer(256, 2), *out = cts_buffer(256, 0), *part = NULL;
  CHECK_OK(iree_hal_buffer_subspan(out, 64, 128, cts.host_allocator, &part));
  const uint32_t constants[] = {1, 5};
  const iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(in, 128, 64), iree_hal_make_buffer_ref(part, 64, 64)};
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_OK(iree_hal_device_queue_dispatch(
      cts.device, ANY, NOW, CTS_POINT(semaphore, 1), cts.executable, iree_hal_executable_function_from_index(CTS_SCALE),
      iree_hal_make_static_dispatch_config(16, 1, 1), iree_make_const_byte_span(constants, sizeof(constants)),
      (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_BORROW_RESOURCE_LIFETIMES));
  wait_for(semaphore, 1);
  cts_expect_bytes(out, 0, 128, 0);
  for (int i = 32; i < 48; ++i) assert_int_equal(cts_word(out, i), 0x02020207);
  cts_expect_bytes(out, 192, 256, 0);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(part);
  iree_hal_buffer_release(in);
  iree_hal_buffer_release(out);
}

static void no_workgroups(void** state) {
  iree_hal_buffer_t* out = cts_buffer(4, 0);
  const iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(out, 0, 4);
  for (int axis = 0; axis < 3; ++axis) {
    iree_hal_semaphore_t* semaphore = cts_semaphore(0);
    CHECK_OK(iree_hal_device_queue_dispatch(cts.device, ANY, NOW, CTS_POINT(semaphore, 1), cts.executable,
                                            iree_hal_executable_function_from_index(CTS_ACCUMULATE),
                                            iree_hal_make_static_dispatch_config(axis != 0, axis != 1, axis != 2),
                                            iree_const_byte_span_empty(), (iree_hal_buffer_ref_list_t){1, &ref},
                                            IREE_HAL_DISPATCH_FLAG_NONE));
    wait_for(semaphore, 1);
    iree_hal_semaphore_release(semaphore);
  }
  assert_int_equal(cts_word(out, 0), 0);
  iree_hal_buffer_release(out);
}

//===----------------------------------------------------------------------------------------------------------------===
// Threads
//===----------------------------------------------------------------------------------------------------------------===

enum { WORKERS = 4, ROUNDS = 40 };

typedef struct worker_t {
  uint32_t index;
  iree_hal_semaphore_t *own, *before, *after;  // of the workers before and after; NULL for none
  iree_hal_buffer_t *in, *out;
} worker_t;

// Round by round each worker's dispatch takes what the worker before has made in the same round, and puts its own where
// the worker after has taken the last.
static int work(void* arg) {
  worker_t* w = (worker_t*)arg;
  for (uint64_t round = 1; round <= ROUNDS; ++round) {
    iree_hal_semaphore_t* semaphores[3] = {w->own};
    uint64_t values[3] = {round - 1};
    iree_hal_semaphore_list_t waits = {1, semaphores, values};
    if (w->before) semaphores[waits.count] = w->before, values[waits.count++] = round;
    if (w->after) semaphores[waits.count] = w->after, values[waits.count++] = round - 1;
    submit_scale(1ull << (w->index + round) % 4, waits, CTS_POINT(w->own, round), w->in, w->out, 1, (uint32_t)round);
    if (round % 8 == w->index) wait_for(w->own, round);
  }
  return 0;
}

static void pipeline_of_threads(void** state) {
  SKIP_WITHOUT_RESULTS();
  worker_t workers[WORKERS];
  iree_thread_t* threads[WORKERS];
  iree_hal_buffer_t* buffers[WORKERS + 1];
  for (int i = 0; i <= WORKERS; ++i) buffers[i] = cts_buffer(64, 0);
  for (uint32_t i = 0; i < WORKERS; ++i) {
    workers[i] = (worker_t){i, cts_semaphore(0), i ? workers[i - 1].own : NULL, NULL, buffers[i], buffers[i + 1]};
    if (i) workers[i - 1].after = workers[i].own;
  }
  // The last first: they wait for what nobody has submitted yet.
  for (int i = WORKERS; i-- > 0;) {
    iree_thread_create_params_t params = {.name = IREE_SV("worker")};
    CHECK_OK(iree_thread_create(work, &workers[i], params, cts.host_allocator, &threads[i]));
  }
  for (int i = 0; i < WORKERS; ++i) iree_thread_release(threads[i]);
  wait_for(workers[WORKERS - 1].own, ROUNDS);
  for (uint32_t i = 0; i <= WORKERS; ++i) assert_int_equal(cts_word(buffers[i], 15), i * ROUNDS);
  for (int i = 0; i < WORKERS; ++i) iree_hal_semaphore_release(workers[i].own);
  for (int i = 0; i <= WORKERS; ++i) iree_hal_buffer_release(buffers[i]);
}

CTS_SUITE(submission, cmocka_unit_test(affinities), cmocka_unit_test(empty), cmocka_unit_test(fork_and_join),
          cmocka_unit_test(ping_pong), cmocka_unit_test(skipped_values), cmocka_unit_test(host_call_between),
          cmocka_unit_test(indirect_dispatches), cmocka_unit_test(dispatch_ranges), cmocka_unit_test(no_workgroups),
          cmocka_unit_test(pipeline_of_threads));
