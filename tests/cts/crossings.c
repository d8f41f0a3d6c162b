// Many threads whose work goes from queue to queue, each step waiting for the one before and for another thread's:
// counts that are read and written step by step, in memory that all queues share, are right only in that order.
#include <stdio.h>

#include "cts.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/thread.h"
#include "iree/base/tooling/flags.h"

IREE_FLAG(int32_t, crossing_threads, 8, "Threads of the suite 'crossings', at most 64.")
IREE_FLAG(int32_t, crossing_submissions, 200, "Submissions of each of its threads.")

// Of the queues of a device those that are used, or as many as it has; steps that add many; steps on their way.
enum { MOST_THREADS = 64, QUEUES = 8, RECORDED_PERIOD = 8, RECORDED_STEPS = 3, IN_FLIGHT = 64 };

typedef struct crossing_t {
  uint32_t index;
  uint32_t count;   // submissions so far
  uint32_t sum;     // what its count is after them
  uint32_t errors;  // of calls
  iree_hal_semaphore_t* timeline;
  iree_atomic_uint64_t promised;  // the value that submitted work will reach
  iree_hal_buffer_t* counter;
  iree_hal_command_buffer_t* commands;
  struct crossing_t* others;
  iree_thread_t* thread;
} crossing_t;

static const uint32_t plus_one[2] = {1, 1};  // times 1 and plus 1

static void refs_of(iree_hal_buffer_t* counter, iree_hal_buffer_ref_t refs[2]) {
  refs[0] = refs[1] = iree_hal_make_buffer_ref(counter, 0, 4);
}

static void check(crossing_t* c, iree_status_t status) {
  if (!iree_status_is_ok(status) && !c->errors) iree_status_fprint(stderr, status);
  c->errors += !iree_status_is_ok(status);
  iree_status_free(status);
}

// A recording that adds to the count several times.
static iree_hal_command_buffer_t* record(iree_hal_buffer_t* counter) {
  iree_hal_buffer_ref_t refs[2];
  iree_hal_command_buffer_t* commands = NULL;
  refs_of(counter, refs);
  CHECK_OK(iree_hal_command_buffer_create(cts.device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                          IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0, &commands));
  CHECK_OK(iree_hal_command_buffer_begin(commands));
  for (int i = 0; i < RECORDED_STEPS; ++i) {
    if (i) cts_barrier(commands);
    CHECK_OK(iree_hal_command_buffer_dispatch(
        commands, cts.executable, iree_hal_executable_function_from_index(CTS_SCALE),
        iree_hal_make_static_dispatch_config(1, 1, 1), iree_make_const_byte_span(plus_one, sizeof(plus_one)),
        (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
  }
  CHECK_OK(iree_hal_command_buffer_end(commands));
  return commands;
}

static void step(crossing_t* c) {
  crossing_t* other = &c->others[(c->index + 1 + c->count / QUEUES) % (uint32_t)FLAG_crossing_threads];
  iree_hal_queue_affinity_t queue = 1ull << (c->index + c->count) % QUEUES;
  iree_hal_semaphore_t* semaphores[2] = {c->timeline, other->timeline};
  uint64_t values[2] = {c->count, iree_atomic_load(&other->promised, iree_memory_order_acquire)};
  iree_hal_semaphore_list_t waits = {other == c ? 1 : 2, semaphores, values};
  iree_hal_semaphore_list_t signals = CTS_POINT(c->timeline, c->count + 1);
  bool is_recorded = c->count % RECORDED_PERIOD == RECORDED_PERIOD - 1;
  if (is_recorded) {
    check(c, iree_hal_device_queue_execute(cts.device, queue, waits, signals, c->commands,
                                           iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
  } else {
    iree_hal_buffer_ref_t refs[2];
    refs_of(c->counter, refs);
    check(c, iree_hal_device_queue_dispatch(
                 cts.device, queue, waits, signals, cts.executable, iree_hal_executable_function_from_index(CTS_SCALE),
                 iree_hal_make_static_dispatch_config(1, 1, 1), iree_make_const_byte_span(plus_one, sizeof(plus_one)),
                 (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
  }
  c->sum += is_recorded ? RECORDED_STEPS : 1;
  iree_atomic_store(&c->promised, ++c->count, iree_memory_order_release);
}

static int cross(void* arg) {
  crossing_t* c = (crossing_t*)arg;
  while (c->count < (uint32_t)FLAG_crossing_submissions && !c->errors) {
    step(c);
    bool is_last = c->count == (uint32_t)FLAG_crossing_submissions;
    if (c->count % IN_FLIGHT && !is_last) continue;
    check(c, iree_hal_semaphore_wait(c->timeline, c->count, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  }
  return 0;
}

static void counts_are_right(void** state) {
  SKIP_WITHOUT_RESULTS();
  static crossing_t all[MOST_THREADS];
  uint32_t count = (uint32_t)FLAG_crossing_threads;
  uint64_t submissions = 0;
  assert_true(count >= 1 && count <= MOST_THREADS);
  memset(all, 0, sizeof(all));
  for (uint32_t i = 0; i < count; ++i) {
    all[i].index = i;
    all[i].others = all;
    all[i].timeline = cts_semaphore(0);
    all[i].counter = cts_buffer(4, 0);
    all[i].commands = record(all[i].counter);
  }
  for (uint32_t i = 0; i < count; ++i) {
    iree_thread_create_params_t params = {.name = IREE_SV("crossing")};
    CHECK_OK(iree_thread_create(cross, &all[i], params, cts.host_allocator, &all[i].thread));
  }
  for (uint32_t i = 0; i < count; ++i) iree_thread_release(all[i].thread);
  for (uint32_t i = 0; i < count; ++i) {
    assert_int_equal(all[i].errors, 0);
    assert_int_equal(cts_word(all[i].counter, 0), all[i].sum);
    submissions += all[i].count;
    iree_hal_command_buffer_release(all[i].commands);
    iree_hal_buffer_release(all[i].counter);
    iree_hal_semaphore_release(all[i].timeline);
  }
  assert_int_equal(submissions, (uint64_t)count * (uint32_t)FLAG_crossing_submissions);
  printf("%" PRIu64 " submissions of %u threads\n", submissions, count);
}

CTS_SUITE(crossings, cmocka_unit_test(counts_are_right));
