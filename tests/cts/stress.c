// Many calls from many threads at once, some of which fail or are cancelled: nothing is lost. Every call ends as it
// must, exactly once, and when the device is gone so is all memory.
#include <stdio.h>

#include "counting.h"
#include "cts.h"
#include "iree/base/internal/atomics.h"
#include "iree/base/threading/thread.h"
#include "iree/base/tooling/flags.h"

#define ANY IREE_HAL_QUEUE_AFFINITY_ANY
#define NOW iree_hal_semaphore_list_empty()

IREE_FLAG(int32_t, stress_calls, 6000, "Calls of the suite 'stress'.")

enum { THREADS = 4, CHAIN = 8, GOOD_CALLS = 16, SMALL = 4096, LARGE = 100 << 10, DEVICE_PERIOD = 4000 };

// How calls end.
#define OUTCOMES(X) X(COMPLETED) X(FAILED) X(CANCELLED) X(REFUSED)
typedef enum {
#define OUTCOME(name) OUTCOME_##name,
  OUTCOMES(OUTCOME)
#undef OUTCOME
      OUTCOME_COUNT
} outcome_t;

typedef struct stress_t {
  cts_own_t target;
  iree_atomic_int64_t calls_left;
  iree_atomic_uint64_t submitted;
  iree_atomic_uint64_t ended[OUTCOME_COUNT];
  iree_atomic_uint64_t timeouts;
  iree_atomic_uint32_t wrong;  // what was not as it must be
  iree_hal_semaphore_t* timelines[THREADS];
  iree_atomic_uint64_t promised[THREADS];  // values of those that submitted calls will reach
} stress_t;

typedef struct client_t {
  stress_t* stress;
  uint32_t index;
  uint64_t random;
  uint64_t value;    // of the timeline
  uint64_t pending;  // calls that are on their way
  uint32_t sum;      // that the counter must have after them
  iree_hal_buffer_t *counter, *source, *memory;
  iree_hal_buffer_t* chain_memory;      // of calls behind gates
  iree_hal_command_buffer_t* commands;  // adds 2 to the counter
} client_t;

static void expect(client_t* c, iree_status_t status, iree_status_code_t code, const char* what) {
  if (iree_status_code(status) != code && !iree_atomic_fetch_add(&c->stress->wrong, 1, iree_memory_order_relaxed)) {
    char text[512] = "OK";
    if (!iree_status_is_ok(status)) iree_status_format(status, sizeof(text), text, NULL);
    print_error("thread %u, %s: expected %s, have %s\n", c->index, what, iree_status_code_string(code), text);
  }
  iree_status_free(status);
}

static void submitted(client_t* c, iree_status_t status) {
  expect(c, status, IREE_STATUS_OK, "a submission");
  iree_atomic_fetch_add(&c->stress->submitted, 1, iree_memory_order_relaxed);
}

static void ended(client_t* c, outcome_t outcome, uint64_t count) {
  iree_atomic_fetch_add(&c->stress->ended[outcome], count, iree_memory_order_relaxed);
}

static uint32_t choose(client_t* c, uint32_t count) {
  c->random = c->random * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(c->random >> 33) % count;
}

static iree_status_t dispatch(const cts_own_t* target, uint32_t function, uint32_t groups,
                              iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                              iree_hal_buffer_t* buffer) {
  const iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(buffer, 0, 4);
  const uint32_t group = 0;
  return iree_hal_device_queue_dispatch(
      target->device, ANY, waits, signals, target->executable, iree_hal_executable_function_from_index(function),
      iree_hal_make_static_dispatch_config(groups, 1, 1),
      iree_make_const_byte_span(&group, function == CTS_FAIL ? sizeof(group) : 0),
      (iree_hal_buffer_ref_list_t){buffer ? 1 : 0, &ref}, IREE_HAL_DISPATCH_FLAG_NONE);
}

static iree_status_t fill(iree_hal_device_t* device, iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
                          iree_hal_buffer_t* buffer, iree_device_size_t length) {
  const uint32_t pattern = 0x01020304;
  return iree_hal_device_queue_fill(device, ANY, waits, signals, buffer, 0, length, &pattern, 4,
                                    IREE_HAL_FILL_FLAG_NONE);
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls that complete
//===----------------------------------------------------------------------------------------------------------------===

// Waits for what the thread has on its way, and counts it.
static void settle(client_t* c) {
  expect(c,
         iree_hal_semaphore_wait(c->stress->timelines[c->index], c->value, iree_infinite_timeout(),
                                 IREE_ASYNC_WAIT_FLAG_NONE),
         IREE_STATUS_OK, "a chain");
  uint32_t sum = 0;
  expect(c, iree_hal_buffer_map_read(c->counter, 0, &sum, sizeof(sum)), IREE_STATUS_OK, "reading");
  if (sum != c->sum && !iree_atomic_fetch_add(&c->stress->wrong, 1, iree_memory_order_relaxed)) {
    print_error("thread %u: the counter is %u, not %u\n", c->index, sum, c->sum);
  }
  ended(c, OUTCOME_COMPLETED, c->pending);
  c->pending = 0;
}

// Waits for the call before, and maybe for one of another thread; signals the timeline.
typedef struct points_t {
  iree_hal_semaphore_t* semaphores[2];
  uint64_t wait_values[2], signal_value;
  iree_hal_semaphore_list_t waits, signals;
} points_t;

static void next_points(client_t* c, points_t* p) {
  uint32_t other = choose(c, THREADS);
  p->semaphores[0] = c->stress->timelines[c->index];
  p->semaphores[1] = c->stress->timelines[other];
  p->wait_values[0] = c->value;
  p->wait_values[1] = iree_atomic_load(&c->stress->promised[other], iree_memory_order_acquire);
  p->signal_value = ++c->value;
  p->waits = (iree_hal_semaphore_list_t){other == c->index ? 1 : 2, p->semaphores, p->wait_values};
  p->signals = (iree_hal_semaphore_list_t){1, p->semaphores, &p->signal_value};
  ++c->pending;
}

static void use_memory(client_t* c) {
  const cts_own_t* t = &c->stress->target;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  iree_hal_buffer_t* buffer = NULL;
  points_t p;
  next_points(c, &p);
  submitted(c, iree_hal_device_queue_alloca(t->device, ANY, p.waits, p.signals, NULL, params, 1 + choose(c, LARGE),
                                            IREE_HAL_ALLOCA_FLAG_NONE, &buffer));
  next_points(c, &p);
  submitted(c, iree_hal_device_queue_dealloca(t->device, ANY, p.waits, p.signals, buffer, IREE_HAL_DEALLOCA_FLAG_NONE));
  iree_hal_buffer_release(buffer);
}

static void submit_good(client_t* c) {
  const cts_own_t* t = &c->stress->target;
  uint32_t kind = choose(c, 7), groups = 1 + choose(c, 3);
  if (kind == 6) {
    use_memory(c);
    return;
  }
  points_t p;
  next_points(c, &p);
  iree_device_size_t length = choose(c, 8) ? 64 : LARGE;
  switch (kind) {
    case 0:
      submitted(c, dispatch(t, CTS_ACCUMULATE, groups, p.waits, p.signals, c->counter));
      c->sum += groups;
      break;
    case 1:
      submitted(c, fill(t->device, p.waits, p.signals, c->memory, length));
      break;
    case 2:
      submitted(c, iree_hal_device_queue_copy(t->device, ANY, p.waits, p.signals, c->source, 0, c->memory, 0, length,
                                              IREE_HAL_COPY_FLAG_NONE));
      break;
    case 3:
      submitted(c, iree_hal_device_queue_update(t->device, ANY, p.waits, p.signals, &groups, 0, c->memory, 8, 4,
                                                IREE_HAL_UPDATE_FLAG_NONE));
      break;
    case 4:
      submitted(c, iree_hal_device_queue_barrier(t->device, ANY, p.waits, p.signals, IREE_HAL_EXECUTE_FLAG_NONE));
      break;
    case 5:
      submitted(c, iree_hal_device_queue_execute(t->device, ANY, p.waits, p.signals, c->commands,
                                                 iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
      c->sum += 2;
      break;
  }
}

static void run_good(client_t* c) {
  for (int i = 0; i < GOOD_CALLS; ++i) {
    submit_good(c);
    iree_atomic_store(&c->stress->promised[c->index], c->value, iree_memory_order_release);
  }
  if (c->pending > 4 * GOOD_CALLS || !choose(c, 3)) settle(c);
}

//===----------------------------------------------------------------------------------------------------------------===
// Chains behind a gate, each call of which has a semaphore of its own
//===----------------------------------------------------------------------------------------------------------------===

typedef struct chain_t {
  iree_hal_device_t* device;
  iree_hal_semaphore_t* gate;
  iree_hal_semaphore_t* ends[CHAIN];
} chain_t;

static void chain_begin(chain_t* chain, iree_hal_device_t* device) {
  chain->device = device;
  chain->gate = cts_semaphore_of(device);
  for (int i = 0; i < CHAIN; ++i) chain->ends[i] = cts_semaphore_of(device);
}

// Submits calls from `first` on: of those, the first waits for the gate.
static void chain_submit(client_t* c, chain_t* chain, int first, iree_hal_buffer_t* memory) {
  for (int i = first; i < CHAIN; ++i) {
    iree_hal_semaphore_list_t waits = CTS_POINT(i > first ? chain->ends[i - 1] : chain->gate, 1);
    iree_hal_semaphore_list_t signals = CTS_POINT(chain->ends[i], 1);
    submitted(c, i % 2 ? fill(chain->device, waits, signals, memory, i % 4 == 1 ? 64 : LARGE)
                       : iree_hal_device_queue_barrier(chain->device, ANY, waits, signals, IREE_HAL_EXECUTE_FLAG_NONE));
  }
}

// Calls [begin, end) end so.
static void chain_expect(client_t* c, const chain_t* chain, int begin, int end, iree_status_code_t code,
                         outcome_t outcome, const char* what) {
  for (int i = begin; i < end; ++i) {
    expect(c, iree_hal_semaphore_wait(chain->ends[i], 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE), code,
           what);
    ended(c, outcome, 1);
  }
}

static void chain_end(chain_t* chain) {
  iree_hal_semaphore_release(chain->gate);
  for (int i = 0; i < CHAIN; ++i) iree_hal_semaphore_release(chain->ends[i]);
}

static void open_gate(client_t* c, chain_t* chain) {
  expect(c, iree_hal_semaphore_signal(chain->gate, 1, NULL), IREE_STATUS_OK, "a gate");
}

// Who waits fails with what its semaphore fails with.
static void run_failed_gate(client_t* c) {
  chain_t chain;
  chain_begin(&chain, c->stress->target.device);
  chain_submit(c, &chain, 0, c->chain_memory);
  iree_hal_semaphore_fail(chain.gate, iree_make_status(IREE_STATUS_CANCELLED, "as the test wants"));
  chain_expect(c, &chain, 0, CHAIN, IREE_STATUS_CANCELLED, OUTCOME_CANCELLED, "a chain behind a failed gate");
  chain_end(&chain);
}

// A semaphore fails before the call that is to signal it has run: those before complete.
static void run_failed_middle(client_t* c) {
  enum { MIDDLE = 4 };  // nothing but semaphores: it may run yet when everything is told
  chain_t chain;
  chain_begin(&chain, c->stress->target.device);
  chain_submit(c, &chain, 0, c->chain_memory);
  iree_hal_semaphore_fail(chain.ends[MIDDLE], iree_make_status(IREE_STATUS_DATA_LOSS, "as the test wants"));
  open_gate(c, &chain);
  chain_expect(c, &chain, 0, MIDDLE, IREE_STATUS_OK, OUTCOME_COMPLETED, "a chain before what failed");
  chain_expect(c, &chain, MIDDLE, CHAIN, IREE_STATUS_DATA_LOSS, OUTCOME_CANCELLED, "a chain behind what failed");
  chain_end(&chain);
}

// Waits that end by their deadline change nothing.
static void run_timed_out(client_t* c) {
  chain_t chain;
  chain_begin(&chain, c->stress->target.device);
  chain_submit(c, &chain, 0, c->chain_memory);
  for (int i = 0; i < CHAIN; ++i) {
    iree_timeout_t timeout = i % 4 ? iree_immediate_timeout() : iree_make_timeout_ns(20000);
    expect(c, iree_hal_semaphore_wait(chain.ends[i], 1, timeout, IREE_ASYNC_WAIT_FLAG_NONE),
           IREE_STATUS_DEADLINE_EXCEEDED, "a wait before its time");
    iree_atomic_fetch_add(&c->stress->timeouts, 1, iree_memory_order_relaxed);
  }
  open_gate(c, &chain);
  chain_expect(c, &chain, 0, CHAIN, IREE_STATUS_OK, OUTCOME_COMPLETED, "a chain that was waited for in vain");
  chain_end(&chain);
}

// A function fails; on GPUs it stops the device, so that this is one of its own.
static void run_failing_function(client_t* c) {
  iree_status_code_t code = cts.is_gpu ? IREE_STATUS_ABORTED : IREE_STATUS_INTERNAL;
  cts_own_t own = cts.is_gpu ? cts_own_open() : (cts_own_t){0};
  const cts_own_t* target = cts.is_gpu ? &own : &c->stress->target;
  iree_hal_buffer_t* memory = cts_buffer_of(target->device, LARGE);
  chain_t chain;
  chain_begin(&chain, target->device);
  submitted(c, dispatch(target, CTS_FAIL, 1, CTS_POINT(chain.gate, 1), CTS_POINT(chain.ends[0], 1), NULL));
  iree_hal_semaphore_t* gate = chain.gate;
  chain.gate = chain.ends[0];
  chain_submit(c, &chain, 1, memory);
  chain.gate = gate;
  open_gate(c, &chain);
  chain_expect(c, &chain, 0, CHAIN, code, OUTCOME_FAILED, "a chain with a function that fails");
  chain_end(&chain);
  iree_hal_buffer_release(memory);
  cts_own_close(&own);
}

// What still waits when its device goes is cancelled; what runs completes.
static void run_released(client_t* c) {
  iree_hal_device_t* device = NULL;
  expect(c, iree_hal_driver_create_default_device(cts.driver, NULL, cts.host_allocator, &device), IREE_STATUS_OK,
         "a device");
  iree_hal_buffer_t* memory = cts_buffer_of(device, LARGE);
  chain_t waiting, running;
  chain_begin(&waiting, device);
  chain_begin(&running, device);
  chain_submit(c, &waiting, 0, memory);
  chain_submit(c, &running, 0, memory);
  open_gate(c, &running);
  expect(c, iree_hal_semaphore_wait(running.ends[0], 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE),
         IREE_STATUS_OK, "a chain that runs");
  chain_expect(c, &running, 0, CHAIN, IREE_STATUS_OK, OUTCOME_COMPLETED, "a chain that runs");
  iree_hal_buffer_release(memory);
  iree_hal_device_release(device);
  chain_expect(c, &waiting, 0, CHAIN, IREE_STATUS_CANCELLED, OUTCOME_CANCELLED, "a chain of a device that is gone");
  chain_end(&waiting);
  chain_end(&running);
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls that are refused
//===----------------------------------------------------------------------------------------------------------------===

static void refused(client_t* c, iree_status_t status, iree_status_code_t code) {
  expect(c, status, code, "a call with bad arguments");
  iree_atomic_fetch_add(&c->stress->submitted, 1, iree_memory_order_relaxed);
  ended(c, OUTCOME_REFUSED, 1);
}

static void run_refused(client_t* c) {
  const cts_own_t* t = &c->stress->target;
  iree_hal_semaphore_t* semaphore = cts_semaphore_of(t->device);
  iree_hal_semaphore_list_t signals = CTS_POINT(semaphore, 1);
  refused(c, fill(t->device, NOW, signals, c->memory, LARGE + 4), IREE_STATUS_OUT_OF_RANGE);
  refused(c, dispatch(t, CTS_ACCUMULATE, 1, NOW, signals, NULL), IREE_STATUS_INVALID_ARGUMENT);
  refused(c, dispatch(t, CTS_KERNEL_COUNT, 1, NOW, signals, c->counter), IREE_STATUS_OUT_OF_RANGE);
  refused(
      c,
      iree_hal_device_queue_copy(t->device, ANY, NOW, signals, c->memory, 0, c->memory, 8, 64, IREE_HAL_COPY_FLAG_NONE),
      IREE_STATUS_INVALID_ARGUMENT);
  uint64_t value = 1;
  expect(c, iree_hal_semaphore_query(semaphore, &value), IREE_STATUS_OK, "a semaphore of a refused call");
  if (value) iree_atomic_fetch_add(&c->stress->wrong, 1, iree_memory_order_relaxed);
  iree_hal_semaphore_release(semaphore);
}

//===----------------------------------------------------------------------------------------------------------------===
// Threads
//===----------------------------------------------------------------------------------------------------------------===

static void run_some(client_t* c) {
  typedef void (*run_fn_t)(client_t* c);
  static const run_fn_t runs[] = {run_good, run_good,        run_good,      run_good, run_good, run_refused,
                                  run_good, run_failed_gate, run_timed_out, run_good, run_good, run_failed_middle};
  uint32_t kind = choose(c, IREE_ARRAYSIZE(runs) + !cts.is_gpu);
  if (kind == IREE_ARRAYSIZE(runs)) {
    run_failing_function(c);
  } else {
    runs[kind](c);
  }
}

static int client_main(void* arg) {
  client_t* c = (client_t*)arg;
  uint64_t next_device = 0;
  for (;;) {
    uint64_t before = iree_atomic_load(&c->stress->submitted, iree_memory_order_relaxed);
    if (before >= (uint64_t)FLAG_stress_calls) break;
    if (before >= next_device) {
      // What costs a device is for now and then.
      run_released(c);
      if (cts.is_gpu && !cts.fault_is_final) run_failing_function(c);
      next_device = before + DEVICE_PERIOD * (uint64_t)THREADS;
    }
    run_some(c);
  }
  settle(c);
  return 0;
}

static iree_hal_command_buffer_t* record(const cts_own_t* target, iree_hal_buffer_t* counter) {
  const iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(counter, 0, 4);
  iree_hal_command_buffer_t* commands = NULL;
  CHECK_OK(iree_hal_command_buffer_create(target->device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
                                          IREE_HAL_COMMAND_CATEGORY_ANY, ANY, 0, &commands));
  CHECK_OK(iree_hal_command_buffer_begin(commands));
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(iree_hal_command_buffer_dispatch(
        commands, target->executable, iree_hal_executable_function_from_index(CTS_ACCUMULATE),
        iree_hal_make_static_dispatch_config(1, 1, 1), iree_const_byte_span_empty(),
        (iree_hal_buffer_ref_list_t){1, &ref}, IREE_HAL_DISPATCH_FLAG_NONE));
    cts_barrier(commands);
  }
  CHECK_OK(iree_hal_command_buffer_end(commands));
  return commands;
}

static void client_begin(client_t* c, stress_t* stress, uint32_t index) {
  iree_hal_device_t* device = stress->target.device;
  *c = (client_t){.stress = stress, .index = index, .random = index + 1};
  stress->timelines[index] = cts_semaphore_of(device);
  c->counter = cts_buffer_of(device, 64);
  c->source = cts_buffer_of(device, LARGE);
  c->memory = cts_buffer_of(device, LARGE);
  c->chain_memory = cts_buffer_of(device, LARGE);
  c->commands = record(&stress->target, c->counter);
}

static void client_end(client_t* c) {
  iree_hal_semaphore_release(c->stress->timelines[c->index]);
  iree_hal_buffer_release(c->counter);
  iree_hal_buffer_release(c->source);
  iree_hal_buffer_release(c->memory);
  iree_hal_buffer_release(c->chain_memory);
  iree_hal_command_buffer_release(c->commands);
}

static void run_clients(stress_t* stress) {
  client_t clients[THREADS];
  iree_thread_t* threads[THREADS];
  for (uint32_t i = 0; i < THREADS; ++i) client_begin(&clients[i], stress, i);
  for (uint32_t i = 0; i < THREADS; ++i) {
    iree_thread_create_params_t params = {.name = IREE_SV("stress")};
    CHECK_OK(iree_thread_create(client_main, &clients[i], params, cts.host_allocator, &threads[i]));
  }
  for (uint32_t i = 0; i < THREADS; ++i) iree_thread_release(threads[i]);
  for (uint32_t i = 0; i < THREADS; ++i) client_end(&clients[i]);
}

static void nothing_is_lost(void** state) {
  SKIP_WITHOUT_RESULTS();
  cts_close_device();  // what its work gives back late would be counted
  int64_t live_before = counting_live();
  stress_t stress = {.target = cts_own_open()};
  run_clients(&stress);
  cts_own_close(&stress.target);
  int64_t live = counting_live();
  cts_open_device();
  uint64_t total = 0;
  printf("%" PRIu64 " calls:", stress.submitted);
  for (int i = 0; i < OUTCOME_COUNT; ++i) {
#define OUTCOME(name) #name,
    static const char* const names[] = {OUTCOMES(OUTCOME)};
#undef OUTCOME
    printf(" %" PRIu64 " %s", stress.ended[i], names[i]);
    total += stress.ended[i];
  }
  printf("; %" PRIu64 " waits TIMED OUT\n", stress.timeouts);
  assert_int_equal(stress.wrong, 0);
  assert_int_equal(total, stress.submitted);
  assert_true(stress.submitted >= (uint64_t)FLAG_stress_calls);
  if (!cts.is_recorded) assert_int_equal(live - live_before, 0);
}

CTS_SUITE(stress, cmocka_unit_test(nothing_is_lost));
