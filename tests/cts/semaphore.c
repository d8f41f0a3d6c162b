// Semaphores and fences: values, waits with timeouts, failures, timepoints, several threads.
#include "cts.h"
#include "iree/base/threading/thread.h"

static void values(void** state) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(5);
  uint64_t value = 0;
  CHECK_OK(iree_hal_semaphore_query(semaphore, &value));
  assert_int_equal(value, 5);
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 9, NULL));
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 7, NULL));  // is there already
  CHECK_OK(iree_hal_semaphore_query(semaphore, &value));
  assert_int_equal(value, 9);
  CHECK_OK(iree_hal_semaphore_wait(semaphore, 9, iree_immediate_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_CODE(OUT_OF_RANGE, iree_hal_semaphore_signal(semaphore, IREE_HAL_SEMAPHORE_MAX_VALUE + 1, NULL));
  iree_hal_semaphore_release(semaphore);
  CHECK_CODE(OUT_OF_RANGE,
             iree_hal_semaphore_create(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, IREE_HAL_SEMAPHORE_FAILURE_VALUE,
                                       IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
}

static void timeouts(void** state) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  CHECK_CODE(DEADLINE_EXCEEDED,
             iree_hal_semaphore_wait(semaphore, 1, iree_immediate_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  static const iree_async_wait_flags_t flags[] = {IREE_ASYNC_WAIT_FLAG_NONE, IREE_ASYNC_WAIT_FLAG_YIELD,
                                                  IREE_ASYNC_WAIT_FLAG_ACTIVE};
  for (size_t i = 0; i < IREE_ARRAYSIZE(flags); ++i) {
    iree_time_t start = iree_time_now();
    CHECK_CODE(DEADLINE_EXCEEDED, iree_hal_semaphore_wait(semaphore, 1, iree_make_timeout_ms(10), flags[i]));
    assert_true(iree_time_now() - start >= 10000000);
  }
  CHECK_CODE(DEADLINE_EXCEEDED, iree_hal_semaphore_wait(semaphore, 1, iree_make_deadline(iree_time_now() - 1000),
                                                        IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(semaphore);
}

static void failure(void** state) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(3);
  uint64_t value = 0;
  iree_hal_semaphore_fail(semaphore, iree_make_status(IREE_STATUS_DATA_LOSS, "the first"));
  iree_hal_semaphore_fail(semaphore, iree_make_status(IREE_STATUS_ABORTED, "the second"));
  iree_status_t status = iree_hal_semaphore_query(semaphore, &value);
  assert_true(value >= IREE_HAL_SEMAPHORE_FAILURE_VALUE);
  assert_true(iree_string_view_equal(iree_status_message(status), IREE_SV("the first")));
  CHECK_CODE(DATA_LOSS, status);
  CHECK_CODE(DATA_LOSS, iree_hal_semaphore_signal(semaphore, 10, NULL));
  CHECK_CODE(DATA_LOSS, iree_hal_semaphore_wait(semaphore, 2, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(semaphore);
}

//===----------------------------------------------------------------------------------------------------------------===
// Threads
//===----------------------------------------------------------------------------------------------------------------===

typedef struct ping_pong_t {
  iree_hal_semaphore_t *ping, *pong;
  uint64_t rounds;
} ping_pong_t;

static int pong_main(void* arg) {
  ping_pong_t* game = (ping_pong_t*)arg;
  for (uint64_t i = 1; i <= game->rounds; ++i) {
    IREE_CHECK_OK(iree_hal_semaphore_wait(game->ping, i, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
    IREE_CHECK_OK(iree_hal_semaphore_signal(game->pong, i, NULL));
  }
  return 0;
}

static iree_thread_t* start(iree_thread_entry_t entry, void* arg) {
  iree_thread_t* thread = NULL;
  iree_thread_create_params_t params = {.name = IREE_SV("cts")};
  CHECK_OK(iree_thread_create(entry, arg, params, cts.host_allocator, &thread));
  return thread;
}

static void ping_pong(void** state) {
  ping_pong_t game = {cts_semaphore(0), cts_semaphore(0), 2000};
  iree_thread_t* thread = start(pong_main, &game);
  for (uint64_t i = 1; i <= game.rounds; ++i) {
    CHECK_OK(iree_hal_semaphore_signal(game.ping, i, NULL));
    CHECK_OK(iree_hal_semaphore_wait(game.pong, i, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  }
  iree_thread_release(thread);
  iree_hal_semaphore_release(game.ping);
  iree_hal_semaphore_release(game.pong);
}

// Threads that wait until a failure or a value wakes them all.
static int wait_main(void* arg) {
  iree_status_t status =
      iree_hal_semaphore_wait((iree_hal_semaphore_t*)arg, 10, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_YIELD);
  iree_status_free(status);
  return 0;
}

static void many_waiters(void** state) {
  for (int round = 0; round < 4; ++round) {
    iree_hal_semaphore_t* semaphore = cts_semaphore(0);
    iree_thread_t* threads[6];
    for (int i = 0; i < 6; ++i) threads[i] = start(wait_main, semaphore);
    iree_wait_until(iree_time_now() + 3000000);
    if (round % 2) {
      iree_hal_semaphore_fail(semaphore, iree_make_status(IREE_STATUS_ABORTED, "over"));
    } else {
      CHECK_OK(iree_hal_semaphore_signal(semaphore, 10, NULL));
    }
    for (int i = 0; i < 6; ++i) iree_thread_release(threads[i]);
    iree_hal_semaphore_release(semaphore);
  }
}

typedef struct racer_t {
  iree_hal_semaphore_t* semaphore;
  iree_hal_buffer_t* buffer;
  int submissions;
} racer_t;

// Submits work of its own, and waits for each.
static int racer_main(void* arg) {
  racer_t* racer = (racer_t*)arg;
  iree_hal_command_buffer_t* commands = NULL;
  iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(racer->buffer, 0, 4);
  IREE_CHECK_OK(iree_hal_command_buffer_create(cts.device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                               IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                               &commands));
  IREE_CHECK_OK(iree_hal_command_buffer_begin(commands));
  IREE_CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, 37, 0, NULL, 1, &ref));
  IREE_CHECK_OK(iree_hal_command_buffer_execution_barrier(commands, IREE_HAL_EXECUTION_STAGE_DISPATCH,
                                                          IREE_HAL_EXECUTION_STAGE_DISPATCH, 0, 0, NULL, 0, NULL));
  IREE_CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, 5, 0, NULL, 1, &ref));
  IREE_CHECK_OK(iree_hal_command_buffer_end(commands));
  for (int i = 1; i <= racer->submissions; ++i) {
    IREE_CHECK_OK(iree_hal_device_queue_execute(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY,
                                                CTS_POINT(racer->semaphore, (uint64_t)i - 1),
                                                CTS_POINT(racer->semaphore, (uint64_t)i), commands,
                                                iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
    if (i % 3) continue;
    IREE_CHECK_OK(
        iree_hal_semaphore_wait(racer->semaphore, (uint64_t)i, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  }
  IREE_CHECK_OK(iree_hal_semaphore_wait(racer->semaphore, (uint64_t)racer->submissions, iree_infinite_timeout(),
                                        IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_command_buffer_release(commands);
  return 0;
}

static void submit_from_many_threads(void** state) {
  SKIP_WITHOUT_RESULTS();
  enum { RACERS = 4, SUBMISSIONS = 200 };
  racer_t racers[RACERS];
  iree_thread_t* threads[RACERS];
  for (int i = 0; i < RACERS; ++i) {
    racers[i] = (racer_t){cts_semaphore(0), cts_buffer(4, 0), SUBMISSIONS};
    threads[i] = start(racer_main, &racers[i]);
  }
  for (int i = 0; i < RACERS; ++i) {
    iree_thread_release(threads[i]);
    assert_int_equal(cts_word(racers[i].buffer, 0), 42 * SUBMISSIONS);
    iree_hal_semaphore_release(racers[i].semaphore);
    iree_hal_buffer_release(racers[i].buffer);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Timepoints, lists, fences
//===----------------------------------------------------------------------------------------------------------------===

typedef struct reached_t {
  iree_async_semaphore_timepoint_t timepoint;
  int count;
  iree_status_code_t code;
} reached_t;

static void on_reached(void* user_data, iree_async_semaphore_timepoint_t* timepoint, iree_status_t status) {
  reached_t* reached = (reached_t*)user_data;
  ++reached->count;
  reached->code = iree_status_consume_code(status);
}

static void acquire(iree_hal_semaphore_t* semaphore, uint64_t value, reached_t* reached) {
  *reached = (reached_t){{.callback = on_reached, .user_data = reached}};
  CHECK_OK(iree_async_semaphore_acquire_timepoint(semaphore, value, &reached->timepoint));
}

static void timepoints(void** state) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(1);
  reached_t past, near_future, far_future, cancelled, failed;
  acquire(semaphore, 1, &past);
  assert_int_equal(past.count, 1);
  acquire(semaphore, 2, &near_future);
  acquire(semaphore, 5, &far_future);
  acquire(semaphore, 5, &cancelled);
  acquire(semaphore, 6, &failed);
  assert_true(iree_async_semaphore_cancel_timepoint(semaphore, &cancelled.timepoint));
  assert_false(iree_async_semaphore_cancel_timepoint(semaphore, &past.timepoint));
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 3, NULL));
  assert_int_equal(near_future.count, 1);
  assert_int_equal(far_future.count, 0);
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 5, NULL));
  assert_int_equal(far_future.count, 1);
  assert_int_equal(cancelled.count, 0);
  iree_hal_semaphore_fail(semaphore, iree_make_status(IREE_STATUS_ABORTED, "over"));
  assert_int_equal(failed.count, 1);
  assert_int_equal(failed.code, IREE_STATUS_ABORTED);
  iree_hal_semaphore_release(semaphore);
}

static void wait_any_and_all(void** state) {
  iree_hal_semaphore_t* semaphores[3] = {cts_semaphore(0), cts_semaphore(0), cts_semaphore(0)};
  uint64_t values[3] = {1, 1, 1};
  iree_hal_semaphore_list_t list = {3, semaphores, values};
  CHECK_CODE(DEADLINE_EXCEEDED, iree_hal_device_wait_semaphores(cts.device, IREE_ASYNC_WAIT_MODE_ANY, list,
                                                                iree_make_timeout_ms(5), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_signal(semaphores[1], 1, NULL));
  CHECK_OK(iree_hal_device_wait_semaphores(cts.device, IREE_ASYNC_WAIT_MODE_ANY, list, iree_infinite_timeout(),
                                           IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_CODE(DEADLINE_EXCEEDED, iree_hal_device_wait_semaphores(cts.device, IREE_ASYNC_WAIT_MODE_ALL, list,
                                                                iree_make_timeout_ms(5), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_signal(semaphores[0], 1, NULL));
  CHECK_OK(iree_hal_semaphore_signal(semaphores[2], 1, NULL));
  CHECK_OK(iree_hal_device_wait_semaphores(cts.device, IREE_ASYNC_WAIT_MODE_ALL, list, iree_infinite_timeout(),
                                           IREE_ASYNC_WAIT_FLAG_NONE));
  values[2] = 2;
  values[0] = values[1] = 5;
  iree_hal_semaphore_fail(semaphores[2], iree_make_status(IREE_STATUS_ABORTED, "over"));
  CHECK_CODE(ABORTED, iree_hal_device_wait_semaphores(cts.device, IREE_ASYNC_WAIT_MODE_ANY, list,
                                                      iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  assert_false(iree_hal_semaphore_list_poll(list));
  for (int i = 0; i < 3; ++i) iree_hal_semaphore_release(semaphores[i]);
}

static void wait_source(void** state) {
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_wait_source_t source = iree_hal_semaphore_await(semaphore, 2);
  iree_status_code_t code = IREE_STATUS_OK;
  CHECK_OK(iree_wait_source_query(source, &code));
  assert_int_equal(code, IREE_STATUS_DEFERRED);
  CHECK_OK(iree_hal_semaphore_signal(semaphore, 2, NULL));
  CHECK_OK(iree_wait_source_query(source, &code));
  assert_int_equal(code, IREE_STATUS_OK);
  CHECK_OK(iree_wait_source_wait_one(source, iree_infinite_timeout()));
  iree_hal_semaphore_release(semaphore);
}

static void fences(void** state) {
  iree_hal_semaphore_t *a = cts_semaphore(0), *b = cts_semaphore(0);
  iree_hal_fence_t *first = NULL, *second = NULL, *joined = NULL;
  CHECK_OK(iree_hal_fence_create_at(a, 2, cts.host_allocator, &first));
  CHECK_OK(iree_hal_fence_create(2, cts.host_allocator, &second));
  CHECK_OK(iree_hal_fence_query(second));  // empty
  CHECK_OK(iree_hal_fence_insert(second, b, 1));
  CHECK_OK(iree_hal_fence_insert(second, b, 3));
  CHECK_OK(iree_hal_fence_insert(second, a, 1));
  assert_int_equal(iree_hal_fence_timepoint_count(second), 2);
  iree_hal_fence_t* fences[] = {first, NULL, second};
  CHECK_OK(iree_hal_fence_join(3, fences, cts.host_allocator, &joined));
  iree_hal_semaphore_list_t list = iree_hal_fence_semaphore_list(joined);
  assert_int_equal(list.count, 2);
  assert_ptr_equal(list.semaphores[0], a);
  assert_int_equal(list.payload_values[0], 2);
  assert_int_equal(list.payload_values[1], 3);
  CHECK_CODE(DEFERRED, iree_hal_fence_query(joined));
  CHECK_CODE(DEADLINE_EXCEEDED, iree_hal_fence_wait(joined, iree_make_timeout_ms(2), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_OK(iree_hal_fence_signal(joined));
  CHECK_OK(iree_hal_fence_query(second));
  CHECK_OK(iree_hal_fence_wait(joined, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_fence_fail(first, iree_make_status(IREE_STATUS_ABORTED, "over"));
  CHECK_CODE(ABORTED, iree_hal_fence_wait(joined, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_hal_fence_insert(first, b, 1));
  CHECK_OK(iree_hal_fence_wait(NULL, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_fence_t* none = first;
  CHECK_OK(iree_hal_fence_join(0, NULL, cts.host_allocator, &none));
  assert_null(none);
  iree_hal_fence_release(first);
  iree_hal_fence_release(second);
  iree_hal_fence_release(joined);
  iree_hal_semaphore_release(a);
  iree_hal_semaphore_release(b);
}

static void list_signal_and_fail(void** state) {
  iree_hal_semaphore_t* semaphores[2] = {cts_semaphore(0), cts_semaphore(0)};
  uint64_t values[2] = {1, 2};
  iree_hal_semaphore_list_t list = {2, semaphores, values}, copy;
  CHECK_OK(iree_hal_semaphore_list_clone(&list, cts.host_allocator, &copy));
  CHECK_OK(iree_hal_semaphore_list_signal(copy, NULL));
  assert_true(iree_hal_semaphore_list_poll(list));
  iree_hal_semaphore_list_fail(copy, iree_make_status(IREE_STATUS_ABORTED, "over"));
  CHECK_CODE(ABORTED, iree_hal_semaphore_list_wait(list, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_list_free(copy, cts.host_allocator);
  iree_hal_semaphore_release(semaphores[0]);
  iree_hal_semaphore_release(semaphores[1]);
}

CTS_SUITE(semaphore_, cmocka_unit_test(values), cmocka_unit_test(timeouts), cmocka_unit_test(failure),
          cmocka_unit_test(ping_pong), cmocka_unit_test(many_waiters), cmocka_unit_test(submit_from_many_threads),
          cmocka_unit_test(timepoints), cmocka_unit_test(wait_any_and_all), cmocka_unit_test(wait_source),
          cmocka_unit_test(fences), cmocka_unit_test(list_signal_and_fail));
