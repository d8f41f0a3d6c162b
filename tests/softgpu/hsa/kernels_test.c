// Kernels of four producers on four queues of two GPUs, while another thread loads code, copies and makes signals: what
// the thread sanitizer watches. Once as they are, and once under all checks with counters.
#include "hsa_code.h"

enum { PRODUCERS = 4, ROUNDS = 12, GROUPS = 6, ITEMS = 128, STEPS = 5, BINS = 64, RELAYS = 4, RELAY_ITEMS = 64 };

typedef struct mix_arguments_t {
  const uint32_t* in;
  uint32_t *out, *totals;
  uint32_t rounds;
} mix_arguments_t;

typedef struct relay_arguments_t {
  uint32_t *flags, *values;
} relay_arguments_t;

// What one dispatch reads and writes, all in one allocation.
typedef struct work_t {
  mix_arguments_t mix;
  relay_arguments_t relay;
  uint32_t in[GROUPS * ITEMS], out[GROUPS * ITEMS];
  uint32_t flags[RELAYS], values[RELAYS * RELAY_ITEMS];
} work_t;

static hsa_executable_t executables[2];
static hsa_kernel_dispatch_packet_t mixes[2], relays[2];
static hsa_queue_t* queues[PRODUCERS];
static uint32_t* totals;  // of every dispatch
static int is_over;       // atomic: the producers are done

static hsa_status_t take_region(hsa_region_t region, void* data) {
  *(hsa_region_t*)data = region;
  return HSA_STATUS_INFO_BREAK;
}

static void* allocate(size_t size) {
  hsa_region_t region = {0};
  void* memory = NULL;
  assert_int_equal(hsa_agent_iterate_regions(test_gpus[0], take_region, &region), HSA_STATUS_INFO_BREAK);
  assert_ok(hsa_memory_allocate(region, size, &memory));
  memset(memory, 0, size);
  return memory;
}

// A sanitizer's build may be slow.
static void wait_long(hsa_signal_t signal) {
  hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
}

static uint32_t input(uint32_t producer, uint32_t round, uint32_t i) {
  return (producer * 1000 + round * 77 + i) * 2246822519u;
}

// The kernel `mix` of one workgroup on the host.
static void mix_on_host(uint32_t* tile, uint32_t* bins) {
  for (uint32_t i = 0; i < STEPS; ++i) {
    uint32_t old[ITEMS];
    memcpy(old, tile, sizeof(old));
    for (uint32_t k = 0; k < ITEMS; ++k) {
      uint32_t other = old[(k + 37) % ITEMS] * 2654435761u + i;
      tile[k] = old[k] * 33 + other;
      ++bins[other % BINS];
    }
  }
}

// What is wrong with a dispatch's results: how many values.
static uint32_t check(const work_t* work, uint32_t producer, uint32_t round, uint32_t* bins) {
  uint32_t wrong = 0, tile[ITEMS], value[RELAY_ITEMS];
  for (uint32_t group = 0; group < GROUPS; ++group) {
    for (uint32_t k = 0; k < ITEMS; ++k) tile[k] = input(producer, round, group * ITEMS + k);
    mix_on_host(tile, bins);
    for (uint32_t k = 0; k < ITEMS; ++k) wrong += work->out[group * ITEMS + k] != tile[k];
  }
  for (uint32_t k = 0; k < RELAY_ITEMS; ++k) value[k] = k;
  for (uint32_t group = 0; group < RELAYS; ++group) {
    uint32_t old[RELAY_ITEMS];
    memcpy(old, value, sizeof(old));
    for (uint32_t k = 0; k < RELAY_ITEMS; ++k) {
      if (group) value[k] = old[k ^ 1] + group;
      wrong += work->values[group * RELAY_ITEMS + k] != value[k];
    }
  }
  return wrong;
}

static void submit(work_t* work, uint32_t queue, hsa_signal_t done) {
  hsa_kernel_dispatch_packet_t mix = mixes[queue % 2], relay = relays[queue % 2];
  work->mix = (mix_arguments_t){work->in, work->out, totals, STEPS};
  work->relay = (relay_arguments_t){work->flags, work->values};
  mix.kernarg_address = &work->mix;
  relay.kernarg_address = &work->relay;
  mix.completion_signal = relay.completion_signal = done;
  test_submit(queues[queue], &mix, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
  test_submit(queues[queue], &relay, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
}

typedef struct producer_t {
  uint32_t number, wrong;
  uint32_t bins[BINS];
} producer_t;

// Every round to the next queue; three rounds are on their way at once.
static void* produce(void* data) {
  producer_t* producer = data;
  work_t* works[3];
  hsa_signal_t done[3];
  for (uint32_t i = 0; i < 3; ++i) works[i] = allocate(sizeof(work_t)), done[i] = test_signal(0);
  for (uint32_t round = 0; round < ROUNDS + 3; ++round) {
    work_t* work = works[round % 3];
    if (round >= 3) {
      wait_long(done[round % 3]);
      producer->wrong += check(work, producer->number, round - 3, producer->bins);
    }
    if (round >= ROUNDS) continue;
    memset(work, 0, sizeof(*work));
    for (uint32_t i = 0; i < GROUPS * ITEMS; ++i) work->in[i] = input(producer->number, round, i);
    hsa_signal_store_screlease(done[round % 3], 2);
    submit(work, (producer->number + round) % PRODUCERS, done[round % 3]);
  }
  for (uint32_t i = 0; i < 3; ++i) {
    assert_ok(hsa_memory_free(works[i]));
    assert_ok(hsa_signal_destroy(done[i]));
  }
  return NULL;
}

// Loads and unloads code of the same GPUs, copies, and comes and goes with memory.
static void* disturb(void* unused) {
  static const char* const names[] = {"kernels-gfx1100", "kernels-gfx942"};
  for (uint32_t i = 0; !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE); ++i) {
    hsa_executable_t executable = test_load_file(names[i % 2], i % 2);
    assert_ok(hsa_executable_freeze(executable, NULL));
    uint32_t *from = allocate(4096), *to = allocate(4096);
    hsa_signal_t copied = test_signal(1);
    from[7] = i;
    assert_ok(hsa_amd_memory_async_copy(to, test_gpus[0], from, test_gpus[1], 4096, 0, NULL, copied));
    wait_long(copied);
    assert_int_equal(to[7], i);
    assert_ok(hsa_signal_destroy(copied));
    assert_ok(hsa_memory_free(from));
    assert_ok(hsa_memory_free(to));
    assert_ok(hsa_executable_destroy(executable));
  }
  return NULL;
}

static void open_kernels(void) {
  static const char* const names[] = {"kernels-gfx1100", "kernels-gfx942"};
  for (uint32_t i = 0; i < 2; ++i) {
    executables[i] = test_load_file(names[i], i);
    assert_ok(hsa_executable_freeze(executables[i], NULL));
    mixes[i] = test_dispatch(test_symbol(executables[i], "mix.kd", i), GROUPS, ITEMS);
    relays[i] = test_dispatch(test_symbol(executables[i], "relay.kd", i), RELAYS, RELAY_ITEMS);
  }
  totals = allocate(BINS * sizeof(uint32_t));
  for (uint32_t i = 0; i < PRODUCERS; ++i) queues[i] = test_queue(i % 2, 64, NULL, NULL);
}

static void run_producers(void) {
  static producer_t producers[PRODUCERS];
  pthread_t threads[PRODUCERS], other;
  memset(producers, 0, sizeof(producers));
  is_over = 0;
  for (uint32_t i = 0; i < PRODUCERS; ++i) {
    producers[i].number = i;
    pthread_create(&threads[i], NULL, produce, &producers[i]);
  }
  pthread_create(&other, NULL, disturb, NULL);
  for (uint32_t i = 0; i < PRODUCERS; ++i) pthread_join(threads[i], NULL);
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
  pthread_join(other, NULL);
  for (uint32_t k = 0; k < BINS; ++k) {
    uint32_t expected = 0;
    for (uint32_t i = 0; i < PRODUCERS; ++i) expected += producers[i].bins[k];
    assert_int_equal(totals[k], expected);
  }
  for (uint32_t i = 0; i < PRODUCERS; ++i) assert_int_equal(producers[i].wrong, 0);
}

static void test_producers(void** state) {
  open_kernels();
  run_producers();
  for (uint32_t i = 0; i < PRODUCERS; ++i) assert_ok(hsa_queue_destroy(queues[i]));
  for (uint32_t i = 0; i < 2; ++i) assert_ok(hsa_executable_destroy(executables[i]));
  assert_ok(hsa_memory_free(totals));
}

// A cooperative launch: more workgroups than threads, which all wait for each other.
static void test_together(void** state) {
  enum { TOGETHER = 24, ALL = TOGETHER * ITEMS };
  static const char* const names[] = {"kernels-gfx1100", "kernels-gfx942"};
  for (uint32_t gpu = 0; gpu < 2; ++gpu) {
    hsa_executable_t executable = test_load_file(names[gpu], gpu);
    assert_ok(hsa_executable_freeze(executable, NULL));
    struct {
      uint32_t* data;
      uint32_t groups;
    }* arguments = allocate(sizeof(*arguments));
    uint32_t *data = allocate(3 * ALL * sizeof(*data)), *groups = allocate(sizeof(*groups));
    arguments->data = data, arguments->groups = *groups = TOGETHER;
    hsa_queue_t* queue = test_queue(gpu, 64, NULL, NULL);
    hsa_signal_t done = test_signal(2);
    hsa_kernel_dispatch_packet_t expect = test_dispatch(test_symbol(executable, "expect_groups.kd", gpu), 1, 64);
    hsa_kernel_dispatch_packet_t together = test_dispatch(test_symbol(executable, "together.kd", gpu), TOGETHER, ITEMS);
    expect.kernarg_address = groups, together.kernarg_address = arguments;
    expect.completion_signal = together.completion_signal = done;
    test_submit(queue, &expect, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
    test_submit(queue, &together, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
    wait_long(done);
    for (uint32_t i = 0; i < ALL; ++i) assert_int_equal(data[2 * ALL + i], i + 2);
    assert_ok(hsa_queue_destroy(queue));
    assert_ok(hsa_signal_destroy(done));
    assert_ok(hsa_executable_destroy(executable));
    assert_ok(hsa_memory_free(data));
    assert_ok(hsa_memory_free(groups));
    assert_ok(hsa_memory_free(arguments));
  }
}

static int open_plain(void** state) {
  setenv("IREE_SOFTGPU_THREADS", "3", 1);
  return test_open(state);
}

static int open_checked(void** state) {
  setenv("IREE_SOFTGPU_CHECK", "all", 1);
  setenv("IREE_SOFTGPU_STATS", "1", 1);
  return test_open(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_producers, open_plain, test_close),
      cmocka_unit_test_setup_teardown(test_together, open_plain, test_close),
      cmocka_unit_test_setup_teardown(test_producers, open_checked, test_close),
      cmocka_unit_test_setup_teardown(test_together, open_checked, test_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
