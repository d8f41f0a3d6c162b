// In a steady state submissions allocate no host memory, whatever they are, however much they wait for and use, and in
// whatever queue; and the thread that submits takes at most one lock for each, or as many as are said to be needed.
#include "counting.h"
#include "cts.h"
#include "iree/base/tooling/flags.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY

enum { SEMAPHORES = 40, SLOTS = 100, DISPATCHES = 60, DEPTH = 8, WARM_UP = 32, LARGE = 130 << 10, QUEUES = 4 };
enum { FEWER = 100 };             // submissions, with many semaphores
enum { RARELY = 10, TRIES = 5 };  // one in that many submissions, in one of so many counts

IREE_FLAG(int32_t, steady_submissions, 1000, "Suite steady: submissions of each kind.")

typedef struct steady_t {
  iree_hal_semaphore_t* semaphores[SEMAPHORES];
  iree_host_size_t semaphore_count;  // that submissions wait for and signal
  uint64_t value;                    // of the last one
  iree_hal_queue_affinity_t queue;   // of the next one
  iree_hal_buffer_t *small, *large, *other;
  iree_hal_buffer_t* hidden;  // from the host, where the device has memory of its own
  iree_hal_file_t* file;      // memory, of LARGE bytes
  uint8_t* contents;
  iree_hal_command_buffer_t *commands, *dispatches;
  iree_hal_buffer_binding_t bindings[SLOTS];
} steady_t;

// What a submission waits for, the one before, and signals.
typedef struct points_t {
  uint64_t wait_values[SEMAPHORES], signal_values[SEMAPHORES];
  iree_hal_semaphore_list_t waits, signals;
} points_t;

static void next_points(steady_t* s, points_t* points) {
  for (iree_host_size_t i = 0; i < s->semaphore_count; ++i) {
    points->wait_values[i] = s->value;
    points->signal_values[i] = s->value + 1;
  }
  ++s->value;
  points->waits = (iree_hal_semaphore_list_t){s->semaphore_count, s->semaphores, points->wait_values};
  points->signals = (iree_hal_semaphore_list_t){s->semaphore_count, s->semaphores, points->signal_values};
}

typedef void (*submit_fn_t)(steady_t* s);

static void submit_barrier(steady_t* s) {
  points_t p;
  next_points(s, &p);
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, s->queue, p.waits, p.signals, IREE_HAL_EXECUTE_FLAG_NONE));
}

static void execute(steady_t* s, iree_hal_command_buffer_t* commands, iree_host_size_t slot_count) {
  points_t p;
  next_points(s, &p);
  CHECK_OK(iree_hal_device_queue_execute(cts.device, s->queue, p.waits, p.signals, commands,
                                         (iree_hal_buffer_binding_table_t){slot_count, s->bindings},
                                         IREE_HAL_EXECUTE_FLAG_NONE));
}

static void submit_table(steady_t* s) { execute(s, s->commands, SLOTS); }
static void submit_dispatches(steady_t* s) { execute(s, s->dispatches, 2); }

static void submit_dispatch(steady_t* s) {
  const uint32_t constants[] = {1, 1};
  const iree_hal_buffer_ref_t refs[] = {iree_hal_make_buffer_ref(s->small, 0, 64),
                                        iree_hal_make_buffer_ref(s->other, 0, 64)};
  points_t p;
  next_points(s, &p);
  CHECK_OK(iree_hal_device_queue_dispatch(
      cts.device, s->queue, p.waits, p.signals, cts.executable, iree_hal_executable_function_from_index(CTS_SCALE),
      iree_hal_make_static_dispatch_config(16, 1, 1), iree_make_const_byte_span(constants, sizeof(constants)),
      (iree_hal_buffer_ref_list_t){2, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
}

static void submit_fill(steady_t* s, iree_device_size_t length) {
  points_t p;
  next_points(s, &p);
  CHECK_OK(iree_hal_device_queue_fill(cts.device, s->queue, p.waits, p.signals, s->large, 0, length, &length, 1,
                                      IREE_HAL_FILL_FLAG_NONE));
}

static void submit_copy(steady_t* s, iree_device_size_t length) {
  points_t p;
  next_points(s, &p);
  CHECK_OK(iree_hal_device_queue_copy(cts.device, s->queue, p.waits, p.signals, s->large, 0, s->other, 0, length,
                                      IREE_HAL_COPY_FLAG_NONE));
}

static void submit_update(steady_t* s, iree_device_size_t length) {
  static const uint8_t data[LARGE];
  points_t p;
  next_points(s, &p);
  CHECK_OK(iree_hal_device_queue_update(cts.device, s->queue, p.waits, p.signals, data, 0, s->large, 0, length,
                                        IREE_HAL_UPDATE_FLAG_NONE));
}

// From queue to queue, as far as there are several: bits that are none's do not count.
static void submit_crossing(steady_t* s) {
  s->queue = 1ull << s->value % QUEUES;
  submit_fill(s, 64);
  s->queue = 1ull << s->value % QUEUES;
  submit_dispatches(s);
  s->queue = ANY;
}

static void submit_small_fill(steady_t* s) { submit_fill(s, 64); }
static void submit_large_fill(steady_t* s) { submit_fill(s, LARGE); }
static void submit_small_copy(steady_t* s) { submit_copy(s, 64); }
static void submit_large_copy(steady_t* s) { submit_copy(s, LARGE); }
static void submit_small_update(steady_t* s) { submit_update(s, 64); }
static void submit_large_update(steady_t* s) { submit_update(s, LARGE); }

// Two sizes of queue-ordered memory, one of which the host may see.
static void submit_memory(steady_t* s) {
  const iree_hal_memory_type_t types[] = {IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                          IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE};
  iree_hal_buffer_t* buffers[2] = {NULL, NULL};
  points_t p;
  for (int i = 0; i < 2; ++i) {
    iree_hal_buffer_params_t params = {.type = types[i], .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
    next_points(s, &p);
    CHECK_OK(iree_hal_device_queue_alloca(cts.device, s->queue, p.waits, p.signals, NULL, params, (i + 1) * 10000,
                                          IREE_HAL_ALLOCA_FLAG_NONE, &buffers[i]));
  }
  for (int i = 0; i < 2; ++i) {
    next_points(s, &p);
    CHECK_OK(iree_hal_device_queue_fill(cts.device, s->queue, p.waits, p.signals, buffers[i], 0, 10000, &i, 1,
                                        IREE_HAL_FILL_FLAG_NONE));
    next_points(s, &p);
    CHECK_OK(iree_hal_device_queue_dealloca(cts.device, s->queue, p.waits, p.signals, buffers[i],
                                            IREE_HAL_DEALLOCA_FLAG_NONE));
    iree_hal_buffer_release(buffers[i]);
  }
}

static void submit_file(steady_t* s, iree_device_size_t length) {
  points_t p;
  next_points(s, &p);
  CHECK_OK(iree_hal_device_queue_read(cts.device, s->queue, p.waits, p.signals, s->file, 0, s->hidden, 0, length,
                                      IREE_HAL_READ_FLAG_NONE));
  next_points(s, &p);
  CHECK_OK(iree_hal_device_queue_write(cts.device, s->queue, p.waits, p.signals, s->hidden, 0, s->file, 0, length,
                                       IREE_HAL_WRITE_FLAG_NONE));
}

static void submit_small_file(steady_t* s) { submit_file(s, 64); }
static void submit_large_file(steady_t* s) { submit_file(s, LARGE); }

static void wait_for(steady_t* s, uint64_t value) {
  for (iree_host_size_t i = 0; i < s->semaphore_count; ++i) {
    CHECK_OK(iree_hal_semaphore_wait(s->semaphores[i], value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  }
}

// Many at once behind a gate, so that there is one of everything for each of them.
static void warm_up(steady_t* s, submit_fn_t submit) {
  iree_hal_semaphore_t* gate = cts_semaphore(0);
  points_t p;
  next_points(s, &p);
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, ANY, CTS_POINT(gate, 1), p.signals, IREE_HAL_EXECUTE_FLAG_NONE));
  for (int i = 0; i < WARM_UP; ++i) submit(s);
  CHECK_OK(iree_hal_semaphore_signal(gate, 1, NULL));
  wait_for(s, s->value);
  iree_hal_semaphore_release(gate);
}

typedef struct submission_t {
  submit_fn_t submit;
  const char* name;
  uint32_t locks;     // of an operation at most; 0: one
  const char* why;    // it takes more
  bool is_for_hosts;  // the host does it, and waits for it, on every device
} submission_t;

static const submission_t submissions[] = {
    {submit_barrier, "barrier"},
    {submit_table, "execute"},
    {submit_dispatches, "execute of dispatches"},
    {submit_dispatch, "dispatch"},
    {submit_crossing, "from queue to queue", .locks = 2,
     .why = "the queue's and the marks of the other, where queues are streams"},
    {submit_small_fill, "small fill"},
    {submit_large_fill, "large fill"},
    {submit_small_copy, "small copy"},
    {submit_large_copy, "large copy"},
    {submit_small_update, "small update"},
    {submit_large_update, "large update"},
    {submit_memory, "memory", .locks = 2, .why = "the queue's and the pool's"},
    {submit_small_file, "small file", .is_for_hosts = true},
    {submit_large_file, "large file", .is_for_hosts = true},
};

// Locks that one operation may take. Where the host waits, a time point of each semaphore is asked for under that
// semaphore's, and what is reached meanwhile starts on the same thread, or is signalled there.
static uint64_t most_locks(const steady_t* s, const submission_t* submission) {
  // What another queue has not been given yet is waited for on the host, too.
  bool may_wait = submission->submit == submit_crossing && s->semaphore_count > 1;
  bool waits_on_host = submission->is_for_hosts || may_wait || !cts.is_gpu;
  return iree_max(submission->locks, 1) + (waits_on_host ? s->semaphore_count * (may_wait ? 2 : 1) : 0);
}

typedef struct counted_t {
  uint64_t calls;  // allocations, of all threads
  uint64_t locks;  // more than may be
  uint64_t rare;   // submissions that took more than usual, up to one for each operation
} counted_t;

// A chain of submissions of which some are on their way.
static counted_t count(steady_t* s, const submission_t* submission, int count) {
  counted_t counted = {.calls = counting_calls()};
  for (int i = 0; i < count; ++i) {
    uint64_t locks = counting_locks(), value = s->value;
    submission->submit(s);
    locks = counting_locks() - locks;
    uint64_t most = (s->value - value) * most_locks(s, submission);
    // Where queues are streams, an operation may need the marks of one more: they have a lock. Few do.
    uint64_t with_others = most + (s->value - value);
    counted.rare += locks > most;
    if (locks > with_others) counted.locks += locks - with_others;
    if (s->value > DEPTH) wait_for(s, s->value - DEPTH);
  }
  wait_for(s, s->value);
  counted.calls = counting_calls() - counted.calls;
  return counted;
}

static bool is_rare(const counted_t* counted, int submissions_count) {
  return counted->rare <= (uint64_t)submissions_count / RARELY;
}

// What is kept grows once more, and more submissions take more than usual, where threads are off their processor for
// long: on a machine with other work they are counted a few times. What every submission costs is there each time.
static counted_t count_calmly(steady_t* s, const submission_t* submission, int submissions_count) {
  counted_t counted = {0};
  for (int i = 0; i < TRIES; ++i) {
    counted = count(s, submission, submissions_count);
    if (!counted.calls && !counted.locks && is_rare(&counted, submissions_count)) break;
  }
  return counted;
}

static void check(steady_t* s, const submission_t* submission) {
  // A second time, since what has grown may be put together.
  for (int i = 0; i < 2; ++i) warm_up(s, submission->submit);
  int submissions_count = s->semaphore_count > 1 ? iree_min(FEWER, FLAG_steady_submissions) : FLAG_steady_submissions;
  counted_t counted = count_calmly(s, submission, submissions_count);
  if (counted.calls || counted.locks || !is_rare(&counted, submissions_count)) {
    print_error("%s: %zu allocations and %zu locks more than %s in %d submissions, of which %zu took one more\n",
                submission->name, (size_t)counted.calls, (size_t)counted.locks,
                submission->why ? submission->why : "the queue's", submissions_count, (size_t)counted.rare);
  }
  assert_int_equal(counted.calls, 0);
  assert_int_equal(counted.locks, 0);
  assert_true(is_rare(&counted, submissions_count));
}

// Fills of every slot of a large table.
static iree_hal_command_buffer_t* record_table(void) {
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, SLOTS);
  for (uint32_t i = 0; i < SLOTS; ++i) {
    CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, iree_hal_make_indirect_buffer_ref(i, i * 4, 4), &i, 4,
                                                 IREE_HAL_FILL_FLAG_NONE));
  }
  cts_end(commands);
  return commands;
}

// Dispatches one after the other, of the first two slots.
static iree_hal_command_buffer_t* record_dispatches(void) {
  const uint32_t constants[] = {1, 1};
  const iree_hal_buffer_ref_t refs[] = {iree_hal_make_indirect_buffer_ref(0, 0, 64),
                                        iree_hal_make_indirect_buffer_ref(1, 0, 64)};
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 2);
  for (uint32_t i = 0; i < DISPATCHES; ++i) {
    CHECK_OK(cts_dispatch(commands, CTS_SCALE, 1, 2, constants, 2, refs));
    cts_barrier(commands);
  }
  cts_end(commands);
  return commands;
}

static void set_up(steady_t* s, iree_host_size_t semaphore_count) {
  s->semaphore_count = semaphore_count;
  for (iree_host_size_t i = 0; i < semaphore_count; ++i) s->semaphores[i] = cts_semaphore(0);
  s->small = cts_buffer(4096, 0);
  s->large = cts_buffer(LARGE, 0);
  s->other = cts_buffer(LARGE, 0);
  for (int i = 0; i < SLOTS; ++i) s->bindings[i] = (iree_hal_buffer_binding_t){s->small, 0, 4096};
  s->commands = record_table();
  s->dispatches = record_dispatches();
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  CHECK_OK(iree_hal_allocator_allocate_buffer(cts.allocator, params, LARGE, &s->hidden));
  CHECK_OK(iree_allocator_malloc(cts.host_allocator, LARGE, (void**)&s->contents));
  s->file = cts_memory_file(s->contents, LARGE, IREE_IO_FILE_ACCESS_READ | IREE_IO_FILE_ACCESS_WRITE);
}

static void tear_down(steady_t* s) {
  for (iree_host_size_t i = 0; i < s->semaphore_count; ++i) iree_hal_semaphore_release(s->semaphores[i]);
  iree_hal_buffer_release(s->small);
  iree_hal_buffer_release(s->large);
  iree_hal_buffer_release(s->other);
  iree_hal_command_buffer_release(s->commands);
  iree_hal_command_buffer_release(s->dispatches);
  iree_hal_buffer_release(s->hidden);
  iree_hal_file_release(s->file);
  iree_allocator_free(cts.host_allocator, s->contents);
}

static void check_all(iree_host_size_t semaphore_count) {
  steady_t s = {.queue = ANY};
  set_up(&s, semaphore_count);
  for (size_t i = 0; i < IREE_ARRAYSIZE(submissions); ++i) check(&s, &submissions[i]);
  tear_down(&s);
}

static void one_semaphore(void** state) { check_all(1); }
static void many_semaphores(void** state) { check_all(SEMAPHORES); }

CTS_SUITE(steady, cmocka_unit_test(one_semaphore), cmocka_unit_test(many_semaphores));
