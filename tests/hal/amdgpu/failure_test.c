// The amdgpu driver when HSA fails: a library that is too old, agents that are missing, no memory on host or GPU, a
// kernel that stops its queue. Each gives one clear message, and everything is given back.
#include "fake_program.h"
#include "hal/amdgpu/library.h"
#include "iree/io/file_handle.h"

#define OLD_PATH HSA_FOLDERS "/old_hsa"

static iree_status_t use_queue(program_t* p) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(p->device), params, 4096, &p->buffer));
  uint32_t pattern = 7;
  uint64_t before = 0;
  iree_hal_semaphore_list_t wait_list = {1, &p->semaphore, &before}, signal_list = {1, &p->semaphore, &p->value};
  p->value = 1;
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_alloca(p->device, IREE_HAL_QUEUE_AFFINITY_ANY, wait_list, signal_list,
                                                    NULL, params, 1 << 20, IREE_HAL_ALLOCA_FLAG_NONE, &p->transient));
  before = p->value++;
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_fill(p->device, IREE_HAL_QUEUE_AFFINITY_ANY, wait_list, signal_list,
                                                  p->buffer, 0, 4096, &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  before = p->value++;
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_copy(p->device, IREE_HAL_QUEUE_AFFINITY_ANY, wait_list, signal_list,
                                                  p->buffer, 0, p->transient, 0, 4096, IREE_HAL_COPY_FLAG_NONE));
  before = p->value++;
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_dealloca(p->device, IREE_HAL_QUEUE_AFFINITY_ANY, wait_list, signal_list,
                                                      p->transient, IREE_HAL_DEALLOCA_FLAG_NONE));
  return wait(p);
}

static iree_status_t run_device(program_t* p, iree_allocator_t allocator) {
  iree_hal_driver_registry_t* registry = NULL;
  iree_status_t status = open_device(p, allocator, &registry);
  if (iree_status_is_ok(status)) status = use_host_memory(p);
  if (iree_status_is_ok(status)) status = use_queue(p);
  close_device(p, registry);
  return status;
}

// Runs the program with at most `limit` allocations of host memory. What it leaves behind is checked; its message is
// in `text`.
static iree_status_code_t run(int64_t limit, size_t capacity, char* text) {
  memory_t memory = {.limit = limit};
  program_t program = {0};
  iree_status_t status = run_device(&program, (iree_allocator_t){&memory, memory_ctl});
  iree_status_code_t code = iree_status_code(status);
  text[0] = 0;
  if (!iree_status_is_ok(status)) iree_status_format(status, capacity, text, NULL);
  iree_status_free(status);
  assert_int_equal(iree_atomic_load(&memory.live, iree_memory_order_relaxed), 0);
  assert_int_equal(fake->live_count, 0);
  assert_int_equal(fake->memory_size, 0);
  return code;
}

static void expect(iree_status_code_t code, const char* text) {
  char message[4096];
  iree_status_code_t found = run(-1, sizeof(message), message);
  if (found != code || !strstr(message, text)) print_message("got: %s\nexpected: %s\n", message, text);
  assert_int_equal(found, code);
  assert_non_null(strstr(message, text));
}

//===----------------------------------------------------------------------------------------------------------------===
// Tests
//===----------------------------------------------------------------------------------------------------------------===

static void nothing_fails(void** state) {
  reset();
  expect(IREE_STATUS_OK, "");
}

static void old_library(void** state) {
  reset();
  setenv("IREE_HAL_AMDGPU_LIBHSA_PATH", OLD_PATH, 1);
  char text[4096];
  iree_status_code_t code = run(-1, sizeof(text), text);
  setenv("IREE_HAL_AMDGPU_LIBHSA_PATH", FAKE_PATH, 1);
  if (code == IREE_STATUS_OK) skip();  // the system has one that works
  assert_int_equal(code, IREE_STATUS_UNAVAILABLE);
  bool is_only = strstr(text, "libhsa-runtime64 is too old; install a newer ROCm");
  assert_true(is_only || strstr(text, "could not be initialized"));
  assert_non_null(strstr(text, OLD_PATH "/libhsa-runtime64.so: too old: it has no entry point hsa_amd_memory_lock"));
}

// Folders of PATH come after the variable's, whose failures do not end the search.
static void library_in_path(void** state) {
  reset();
  char* before = strdup(getenv("PATH"));
  setenv("IREE_HAL_AMDGPU_LIBHSA_PATH", OLD_PATH ":/no/such", 1);
  setenv("PATH", "/no/such/folder:" HSA_FOLDERS "/fake_hsa", 1);
  fake->failing = "hsa_init";
  expect(IREE_STATUS_UNAVAILABLE, FAKE_PATH " could not be initialized (0x1008: as told)");
  setenv("PATH", before, 1);
  setenv("IREE_HAL_AMDGPU_LIBHSA_PATH", FAKE_PATH, 1);
  free(before);
}

static void missing_agents(void** state) {
  reset();
  fake->gpu_count = 0;
  expect(IREE_STATUS_UNAVAILABLE, "HSA has no GPU agent (ROCR_VISIBLE_DEVICES may hide them)");
  fake->gpu_count = 1;
  fake->cpu_count = 0;
  expect(IREE_STATUS_UNAVAILABLE, "HSA has no CPU agent with fine-grained memory");
  fake->gpu_count = 0;
  expect(IREE_STATUS_UNAVAILABLE, "HSA has no CPU agent with fine-grained memory");
  reset();
  fake->has_memory = false;
  expect(IREE_STATUS_UNAVAILABLE, "HSA has no CPU agent with fine-grained memory");
}

static void several_devices(void** state) {
  reset();
  fake->gpu_count = 33;  // with two queues each
  expect(IREE_STATUS_INVALID_ARGUMENT, "33 GPUs with 2 queues each are more than the 64 queues");
  fake->gpu_count = 32;
  expect(IREE_STATUS_OK, "");
}

// Memory of the host for a GPU is that of the CPU next to it.
static void nearest_cpus(void** state) {
  for (int nearest = 0; nearest < 3; ++nearest) {
    reset();
    fake->cpu_count = 3;
    fake->nearest_cpu = nearest;
    expect(IREE_STATUS_OK, "");
    for (int i = 0; i < 3; ++i) assert_int_equal(fake->pool_sizes[i] != 0, i == nearest);
  }
  reset();
  fake->cpu_count = 3;
  fake->gpu_count = 2;
  fake->nearest_cpu = 1;
  expect(IREE_STATUS_OK, "");
  assert_int_equal(fake->pool_sizes[0], 0);
  assert_true(fake->pool_sizes[1] != 0 && fake->pool_sizes[2] != 0);
}

static void stopped_queue(void** state) {
  reset();
  fake->fault_code = HSA_STATUS_ERROR_EXCEPTION;
  expect(IREE_STATUS_ABORTED, "the GPU's queue failed with 0x1016: as told");
  fake->fault_code = HSA_STATUS_ERROR_EXCEPTION;
  expect(IREE_STATUS_ABORTED, "at the head of queue 0 of GPU 0 is kernel '");
  fake->fault_code = HSA_STATUS_ERROR_EXCEPTION;
  fake->fault_address = 0xBAD000;
  expect(IREE_STATUS_ABORTED, "memory fault of the GPU at address 0xbad000: there is no memory");
}

static iree_status_t fill(program_t* p, iree_hal_queue_affinity_t affinity) {
  uint32_t pattern = 7;
  uint64_t before = p->value++;
  iree_hal_semaphore_list_t wait_list = {1, &p->semaphore, &before}, signal_list = {1, &p->semaphore, &p->value};
  return iree_hal_device_queue_fill(p->device, affinity, wait_list, signal_list, p->buffer, 0, 4096, &pattern, 4,
                                    IREE_HAL_FILL_FLAG_NONE);
}

// Work of two queues, the second waiting for the first by a packet. The first may be lost: then so is the second.
static void check_barriers(const char* processor) {
  for (int is_lost = 0; is_lost < 2; ++is_lost) {
    reset();
    fake->processor = processor;
    fake->is_held = 1;
    if (is_lost) fake->fault_code = HSA_STATUS_ERROR_EXCEPTION;
    program_t p = {0};
    iree_hal_driver_registry_t* registry = NULL;
    assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
    iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                       .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
    iree_hal_allocator_t* allocator = iree_hal_device_allocator(p.device);
    assert_true(iree_status_is_ok(iree_hal_allocator_allocate_buffer(allocator, params, 4096, &p.buffer)));
    for (int i = 0; i < 4; ++i) assert_true(iree_status_is_ok(fill(&p, 1ull << (i % 2))));
    __atomic_store_n(&fake->is_held, 0, __ATOMIC_SEQ_CST);
    assert_int_equal(iree_status_consume_code(wait(&p)), is_lost ? IREE_STATUS_ABORTED : IREE_STATUS_OK);
    close_device(&p, registry);
    if (!is_lost) assert_int_equal(fake->barrier_count, 3);
    assert_int_equal(fake->live_count, 0);
  }
}

static void barriers(void** state) {
  check_barriers("gfx942");
  check_barriers("gfx1100");
}

// A queue waits once for what many of its operations need.
static void implied_barriers(void** state) {
  enum { COUNT = 8 };
  reset();
  fake->processor = "gfx942";
  fake->is_held = 1;
  program_t p = {0};
  iree_hal_driver_registry_t* registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_allocator_t* allocator = iree_hal_device_allocator(p.device);
  assert_true(iree_status_is_ok(iree_hal_allocator_allocate_buffer(allocator, params, 4096, &p.buffer)));
  for (int i = 0; i < 2; ++i) assert_true(iree_status_is_ok(fill(&p, 1)));
  iree_hal_semaphore_t* done = NULL;
  assert_true(iree_status_is_ok(
      iree_hal_semaphore_create(p.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE, &done)));
  for (uint64_t i = 0; i < COUNT; ++i) {
    uint32_t pattern = 7;
    if (i == COUNT / 2) assert_true(iree_status_is_ok(fill(&p, 1)));
    uint64_t needed = i < COUNT / 2 ? 1 + i % 2 : 3, value = i + 1;
    iree_hal_semaphore_list_t waits = {1, &p.semaphore, &needed}, signals = {1, &done, &value};
    assert_true(iree_status_is_ok(iree_hal_device_queue_fill(p.device, 2, waits, signals, p.buffer, 0, 4096, &pattern,
                                                             4, IREE_HAL_FILL_FLAG_NONE)));
  }
  __atomic_store_n(&fake->is_held, 0, __ATOMIC_SEQ_CST);
  assert_int_equal(iree_status_consume_code(
                       iree_hal_semaphore_wait(done, COUNT, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE)),
                   IREE_STATUS_OK);
  assert_int_equal(fake->barrier_count, 2);
  iree_hal_semaphore_release(done);
  close_device(&p, registry);
  assert_int_equal(fake->live_count, 0);
}

static iree_hal_buffer_t* allocate(const program_t* p) {
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_buffer_t* buffer = NULL;
  assert_true(iree_status_is_ok(
      iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(p->device), params, 4096, &buffer)));
  return buffer;
}

// A fill in a queue, behind others.
typedef struct step_t {
  uint32_t queue;
  int waits[2];  // steps before; -1: none
} step_t;

// Runs steps while all queues stand still, and returns how many packets waited for another queue.
static int count_barriers(const step_t* steps, int count) {
  enum { MAX_STEPS = 128 };
  assert_true(count <= MAX_STEPS);
  reset();
  fake->processor = "gfx942";
  fake->gpu_count = 2;
  fake->is_held = 1;
  program_t p = {0};
  iree_hal_driver_registry_t* registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  iree_hal_buffer_t* buffer = allocate(&p);
  iree_hal_semaphore_t* done[MAX_STEPS];
  uint64_t one[2] = {1, 1};
  uint32_t pattern = 7;
  for (int i = 0; i < count; ++i) {
    assert_true(iree_status_is_ok(
        iree_hal_semaphore_create(p.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE, &done[i])));
    iree_hal_semaphore_t* needed[2];
    iree_host_size_t needed_count = 0;
    for (int k = 0; k < 2; ++k) {
      if (steps[i].waits[k] >= 0) needed[needed_count++] = done[steps[i].waits[k]];
    }
    assert_true(iree_status_is_ok(iree_hal_device_queue_fill(
        p.device, 1ull << steps[i].queue, (iree_hal_semaphore_list_t){needed_count, needed, one},
        (iree_hal_semaphore_list_t){1, &done[i], one}, buffer, 0, 4096, &pattern, 4, IREE_HAL_FILL_FLAG_NONE)));
  }
  __atomic_store_n(&fake->is_held, 0, __ATOMIC_SEQ_CST);
  for (int i = 0; i < count; ++i) {
    assert_int_equal(iree_status_consume_code(
                         iree_hal_semaphore_wait(done[i], 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE)),
                     IREE_STATUS_OK);
    iree_hal_semaphore_release(done[i]);
  }
  iree_hal_buffer_release(buffer);
  int barriers = fake->barrier_count;
  close_device(&p, registry);
  assert_int_equal(fake->live_count, 0);
  return barriers;
}

// What a queue waited for had waited for others' work: that needs no packet of its own, neither later nor beside it.
static void transitive_barriers(void** state) {
  const step_t later[] = {{0, {-1, -1}}, {1, {0, -1}}, {2, {1, -1}}, {2, {0, -1}}, {3, {2, -1}}, {3, {0, 1}}};
  assert_int_equal(count_barriers(later, IREE_ARRAYSIZE(later)), 3);
  const step_t beside[] = {{0, {-1, -1}}, {1, {0, -1}}, {2, {0, 1}}};
  assert_int_equal(count_barriers(beside, IREE_ARRAYSIZE(beside)), 2);
  // What the other queue waited for only later.
  const step_t too_late[] = {{0, {-1, -1}}, {1, {-1, -1}}, {1, {0, -1}}, {2, {1, -1}}, {2, {0, -1}}};
  assert_int_equal(count_barriers(too_late, IREE_ARRAYSIZE(too_late)), 3);
}

// Of a queue's waits the last ones are known: what is older costs a packet.
static void forgotten_barriers(void** state) {
  enum { COUNT = 40 };  // more than are kept
  step_t steps[2 * COUNT + 4] = {{3, {-1, -1}}, {1, {0, -1}}};
  int count = 2;
  for (int i = 0; i < COUNT; ++i, count += 2) {
    steps[count] = (step_t){0, {-1, -1}};
    steps[count + 1] = (step_t){1, {count, -1}};
  }
  steps[count] = (step_t){2, {count - 1, -1}};
  steps[count + 1] = (step_t){2, {0, -1}};
  count += 2;
  assert_int_equal(count_barriers(steps, count), 1 + COUNT + 2);
  // The last is still known.
  steps[count - 1] = (step_t){2, {count - 4, -1}};
  assert_int_equal(count_barriers(steps, count), 1 + COUNT + 1);
}

// An operation whose wait fails ends after what it was to follow in its queue, which may still use what its semaphores
// stand for.
static void failure_in_order(void** state) {
  reset();
  fake->is_held = 1;
  program_t p = {0};
  iree_hal_driver_registry_t* registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  p.buffer = allocate(&p);
  assert_true(iree_status_is_ok(fill(&p, 1)));
  iree_hal_semaphore_t* made[2] = {NULL};
  for (int i = 0; i < 2; ++i) {
    assert_true(iree_status_is_ok(
        iree_hal_semaphore_create(p.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE, &made[i])));
  }
  uint64_t one = 1, now = 0;
  iree_hal_semaphore_t* needed[] = {p.semaphore, made[0]};
  uint64_t needed_values[] = {p.value, 1};
  assert_true(iree_status_is_ok(
      iree_hal_device_queue_barrier(p.device, 1, (iree_hal_semaphore_list_t){2, needed, needed_values},
                                    (iree_hal_semaphore_list_t){1, &made[1], &one}, IREE_HAL_EXECUTE_FLAG_NONE)));
  iree_hal_semaphore_fail(made[0], iree_make_status(IREE_STATUS_DATA_LOSS, "given up"));
  assert_int_equal(iree_status_consume_code(iree_hal_semaphore_query(made[1], &now)), IREE_STATUS_OK);
  assert_int_equal(now, 0);
  __atomic_store_n(&fake->is_held, 0, __ATOMIC_SEQ_CST);
  assert_int_equal(
      iree_status_consume_code(iree_hal_semaphore_wait(made[1], 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE)),
      IREE_STATUS_DATA_LOSS);
  assert_int_equal(iree_status_consume_code(iree_hal_semaphore_query(p.semaphore, &now)), IREE_STATUS_OK);
  assert_int_equal(now, p.value);
  for (int i = 0; i < 2; ++i) iree_hal_semaphore_release(made[i]);
  close_device(&p, registry);
  assert_int_equal(fake->live_count, 0);
}

// Events are said to be handled only when they cost a queue. HSA keeps handlers, so two drivers register one.
static void system_events(void** state) {
  reset();
  program_t p = {0}, other = {0};
  iree_hal_driver_registry_t *registry = NULL, *other_registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  assert_true(iree_status_is_ok(open_device(&other, iree_allocator_system(), &other_registry)));
  assert_int_equal(fake->handler_count, 1);
  close_device(&other, other_registry);
  p.buffer = allocate(&p);
  assert_true(iree_status_is_ok(fill(&p, 1)));
  assert_int_equal(iree_status_consume_code(wait(&p)), IREE_STATUS_OK);
  hsa_amd_event_t fault = {HSA_AMD_GPU_MEMORY_FAULT_EVENT, {.memory_fault = {fake->queue_agent, 0xBAD000, 0}}};
  assert_int_equal(fake->event_handler(&fault, NULL), HSA_STATUS_ERROR);  // nothing of ours is running
  hsa_amd_event_t unknown = {1234, {.memory_fault = {fake->queue_agent, 0, 0}}};
  assert_int_equal(fake->event_handler(&unknown, NULL), HSA_STATUS_ERROR);
  hsa_amd_event_t hang = {HSA_AMD_GPU_HW_EXCEPTION_EVENT,
                          {.hw_exception = {{~fake->queue_agent.handle}, 1, HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG}}};
  assert_int_equal(fake->event_handler(&hang, NULL), HSA_STATUS_ERROR);  // of another GPU
  assert_true(iree_status_is_ok(fill(&p, 1)));
  assert_int_equal(iree_status_consume_code(wait(&p)), IREE_STATUS_OK);
  hang.hw_exception.agent = fake->queue_agent;
  assert_int_equal(fake->event_handler(&hang, NULL), HSA_STATUS_SUCCESS);
  assert_true(iree_status_is_ok(fill(&p, 1)));
  char text[1024];
  iree_status_t status = wait(&p);
  assert_int_equal(iree_status_code(status), IREE_STATUS_ABORTED);
  iree_status_format(status, sizeof(text), text, NULL);
  assert_non_null(strstr(text, "the GPU was reset: it hung"));
  iree_status_free(status);
  close_device(&p, registry);
  assert_int_equal(fake->live_count, 0);
}

// Allocates, fills and frees, after what came before.
static void use_memory_of(program_t* p, iree_hal_memory_type_t type, iree_device_size_t size,
                          iree_hal_queue_affinity_t affinity, iree_hal_alloca_flags_t flags) {
  iree_hal_buffer_params_t params = {.type = type, .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_buffer_t* buffer = NULL;
  uint64_t before = p->value++;
  iree_hal_semaphore_list_t wait_list = {1, &p->semaphore, &before}, signal_list = {1, &p->semaphore, &p->value};
  assert_true(iree_status_is_ok(
      iree_hal_device_queue_alloca(p->device, affinity, wait_list, signal_list, NULL, params, size, flags, &buffer)));
  p->buffer = buffer;
  assert_true(iree_status_is_ok(fill(p, affinity)));
  before = p->value++;
  assert_true(iree_status_is_ok(iree_hal_device_queue_dealloca(p->device, affinity, wait_list, signal_list, buffer,
                                                               IREE_HAL_DEALLOCA_FLAG_NONE)));
  iree_hal_buffer_release(buffer);
  p->buffer = NULL;
}

static void use_memory(program_t* p, iree_hal_queue_affinity_t affinity, iree_hal_alloca_flags_t flags) {
  use_memory_of(p, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, 25 << 20, affinity, flags);
}

// Memory is used again by work behind that which frees it, while nothing has run yet; by that of other queues only when
// they may wait.
static void memory_in_queue_order(void** state) {
  reset();
  fake->processor = "gfx942";
  fake->is_held = 1;
  program_t p = {0};
  iree_hal_driver_registry_t* registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  size_t size = fake->memory_size;
  for (int i = 0; i < 10; ++i) use_memory(&p, 1, IREE_HAL_ALLOCA_FLAG_NONE);
  assert_int_equal(fake->memory_size, size);
  use_memory(&p, 2, IREE_HAL_ALLOCA_FLAG_NONE);  // what is left of the range
  use_memory(&p, 2, IREE_HAL_ALLOCA_FLAG_NONE);
  for (int i = 0; i < 4; ++i) use_memory(&p, i % 2 + 1, IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER);
  assert_int_equal(fake->memory_size, size);
  __atomic_store_n(&fake->is_held, 0, __ATOMIC_SEQ_CST);
  assert_int_equal(iree_status_consume_code(wait(&p)), IREE_STATUS_OK);
  // The last release is over a moment after its signal.
  for (int i = 0; i < 1000 && fake->memory_size >= size; ++i) {
    assert_int_equal(iree_status_consume_code(iree_hal_device_trim(p.device)), IREE_STATUS_OK);
    iree_wait_until(iree_time_now() + 1000000);
  }
  assert_true(fake->memory_size < size);
  close_device(&p, registry);
  assert_int_equal(fake->live_count, 0);
}

// So is memory that the host sees, the GPU's and its own; each from a range of its own.
static void visible_memory_in_queue_order(void** state) {
  static const iree_hal_memory_type_t types[] = {IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE,
                                                 IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE};
  reset();
  fake->is_held = 1;
  program_t p = {0};
  iree_hal_driver_registry_t* registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  for (size_t i = 0; i < IREE_ARRAYSIZE(types); ++i) {
    size_t before = fake->memory_size;
    use_memory_of(&p, types[i], 1 << 20, 1, IREE_HAL_ALLOCA_FLAG_NONE);
    size_t size = fake->memory_size;
    assert_int_equal(size, before + (4 << 20));
    for (int k = 0; k < 10; ++k) use_memory_of(&p, types[i], 1 << 20, 1, IREE_HAL_ALLOCA_FLAG_NONE);
    assert_int_equal(fake->memory_size, size);
  }
  __atomic_store_n(&fake->is_held, 0, __ATOMIC_SEQ_CST);
  assert_int_equal(iree_status_consume_code(wait(&p)), IREE_STATUS_OK);
  close_device(&p, registry);
  assert_int_equal(fake->live_count, 0);
}

static void run_with_semaphore(program_t* p, iree_hal_semaphore_flags_t flags, iree_hal_queue_affinity_t affinity) {
  iree_hal_semaphore_release(p->semaphore);
  p->value = 0;
  assert_true(iree_status_is_ok(iree_hal_semaphore_create(p->device, affinity, 0, flags, &p->semaphore)));
  assert_true(iree_status_is_ok(fill(p, 1)));
  assert_int_equal(iree_status_consume_code(wait(p)), IREE_STATUS_OK);
}

// What only one GPU's work sees is fenced for that GPU.
static void fence_scopes(void** state) {
  reset();
  fake->gpu_count = 2;
  program_t p = {0};
  iree_hal_driver_registry_t* registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  assert_true(iree_status_is_ok(
      iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(p.device), params, 4096, &p.buffer)));
  static const struct {
    iree_hal_semaphore_flags_t flags;
    iree_hal_queue_affinity_t affinity;
    int scope;
  } rows[] = {
      {IREE_HAL_SEMAPHORE_FLAG_DEFAULT, 3, HSA_FENCE_SCOPE_SYSTEM},
      {IREE_HAL_SEMAPHORE_FLAG_DEVICE_LOCAL, 3, HSA_FENCE_SCOPE_AGENT},
      {IREE_HAL_SEMAPHORE_FLAG_DEVICE_LOCAL, 1, HSA_FENCE_SCOPE_AGENT},
      {IREE_HAL_SEMAPHORE_FLAG_DEVICE_LOCAL, 12, HSA_FENCE_SCOPE_SYSTEM},  // the other GPU's
      {IREE_HAL_SEMAPHORE_FLAG_DEVICE_LOCAL, 7, HSA_FENCE_SCOPE_SYSTEM},
      {IREE_HAL_SEMAPHORE_FLAG_DEVICE_LOCAL | IREE_HAL_SEMAPHORE_FLAG_EXPORTABLE, 3, HSA_FENCE_SCOPE_SYSTEM},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    run_with_semaphore(&p, rows[i].flags, rows[i].affinity);
    assert_int_equal(fake->last_header >> HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE & 3, rows[i].scope);
    assert_int_equal(fake->last_header >> HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE & 3, rows[i].scope);
  }
  close_device(&p, registry);
  assert_int_equal(fake->live_count, 0);
}

static iree_hal_executable_t* prepare(iree_hal_executable_cache_t* cache, const char* processor) {
  target_id_t target;
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.executable_format = IREE_SV("rocm-hsaco-fb");
  assert_true(iree_status_is_ok(target_id_parse(iree_make_cstring_view(processor), &target)));
  assert_true(iree_status_is_ok(library_select(&target, &params.executable_data)));
  iree_hal_executable_t* executable = NULL;
  assert_true(iree_status_is_ok(iree_hal_executable_cache_prepare_executable(cache, &params, &executable)));
  return executable;
}

static iree_hal_executable_cache_t* make_cache(const program_t* p) {
  iree_hal_executable_cache_t* cache = NULL;
  assert_true(iree_status_is_ok(iree_hal_executable_cache_create(p->device, IREE_SV("test"), &cache)));
  return cache;
}

// The same data is loaded once while a cache or a user has it, by whichever cache; then again.
static void loaded_once(void** state) {
  reset();
  fake->failing = "hsa_executable_create_alt";  // counts its calls
  fake->failing_call = 1000;
  program_t p = {0};
  iree_hal_driver_registry_t* registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  int before = fake->call_count;
  iree_hal_executable_cache_t *cache = make_cache(&p), *other = make_cache(&p);
  iree_hal_executable_t* first = prepare(cache, "gfx1100");
  iree_hal_executable_t* second = prepare(other, "gfx1100");
  assert_ptr_equal(first, second);
  assert_int_equal(fake->call_count, before + 1);
  iree_hal_executable_cache_release(cache);
  iree_hal_executable_release(first);
  iree_hal_executable_release(second);
  iree_hal_executable_release(prepare(other, "gfx1100"));
  assert_int_equal(fake->call_count, before + 1);
  iree_hal_executable_cache_release(other);
  cache = make_cache(&p);
  first = prepare(cache, "gfx1100");
  assert_int_equal(fake->call_count, before + 2);
  iree_hal_executable_cache_release(cache);
  close_device(&p, registry);
  iree_hal_executable_release(first);  // outlives its device
  assert_int_equal(fake->live_count, 0);
}

static iree_hal_file_t* make_file(const program_t* p, uint8_t* data, size_t size) {
  iree_io_file_handle_t* handle = NULL;
  iree_hal_file_t* file = NULL;
  assert_true(iree_status_is_ok(iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ, iree_make_byte_span(data, size), iree_io_file_handle_release_callback_null(),
      iree_allocator_system(), &handle)));
  assert_true(
      iree_status_is_ok(iree_hal_file_import(p->device, IREE_HAL_QUEUE_AFFINITY_ANY, IREE_HAL_MEMORY_ACCESS_READ,
                                             handle, IREE_HAL_EXTERNAL_FILE_FLAG_NONE, &file)));
  iree_io_file_handle_release(handle);
  return file;
}

static iree_hal_semaphore_t* read_file(const program_t* p, iree_hal_file_t* file, iree_hal_buffer_t* buffer) {
  iree_hal_semaphore_t* semaphore = NULL;
  uint64_t value = 1;
  assert_true(iree_status_is_ok(
      iree_hal_semaphore_create(p->device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_NONE, &semaphore)));
  iree_hal_semaphore_list_t signals = {1, &semaphore, &value};
  assert_true(iree_status_is_ok(iree_hal_device_queue_read(p->device, 1, iree_hal_semaphore_list_empty(), signals, file,
                                                           0, buffer, 0, 1024, IREE_HAL_READ_FLAG_NONE)));
  return semaphore;
}

static void expect_reached(iree_hal_semaphore_t* semaphore, iree_status_code_t code) {
  iree_status_t status = iree_hal_semaphore_wait(semaphore, 1, iree_make_timeout_ms(20000), IREE_ASYNC_WAIT_FLAG_NONE);
  assert_int_equal(iree_status_consume_code(status), code);
  iree_hal_semaphore_release(semaphore);
}

static iree_status_t do_nothing(void* user_data, const uint64_t args[4], iree_hal_host_call_context_t* context) {
  return iree_ok_status();
}

// The device's thread does not wait for the GPU to take what it has read.
static void streamed_reads(void** state) {
  static uint8_t data[1024];
  reset();
  fake->is_held = 1;
  program_t p = {0};
  iree_hal_driver_registry_t* registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  p.buffer = allocate(&p);
  iree_hal_file_t* file = make_file(&p, data, sizeof(data));
  iree_hal_semaphore_t *first = read_file(&p, file, p.buffer), *second = read_file(&p, file, p.buffer);
  const uint64_t args[4] = {0};
  uint64_t before = 0;
  p.value = 1;
  iree_hal_semaphore_list_t waits = {1, &p.semaphore, &before}, signals = {1, &p.semaphore, &p.value};
  assert_true(iree_status_is_ok(iree_hal_device_queue_host_call(
      p.device, 1, waits, signals, iree_hal_make_host_call(do_nothing, NULL), args, IREE_HAL_HOST_CALL_FLAG_NONE)));
  iree_hal_semaphore_retain(p.semaphore);
  expect_reached(p.semaphore, IREE_STATUS_OK);
  uint64_t value = 99;
  assert_true(iree_status_is_ok(iree_hal_semaphore_query(first, &value)));
  assert_int_equal(value, 0);
  __atomic_store_n(&fake->is_held, 0, __ATOMIC_SEQ_CST);
  expect_reached(first, IREE_STATUS_OK);
  expect_reached(second, IREE_STATUS_OK);
  for (int i = 0; i < 5; ++i) expect_reached(read_file(&p, file, p.buffer), IREE_STATUS_OK);
  iree_hal_file_release(file);
  close_device(&p, registry);
  assert_int_equal(fake->live_count, 0);
}

// A read that fails when it is copied is nobody else's.
static void reads_after_a_failure(void** state) {
  static uint8_t data[1024];
  reset();
  program_t p = {0};
  iree_hal_driver_registry_t* registry = NULL;
  assert_true(iree_status_is_ok(open_device(&p, iree_allocator_system(), &registry)));
  p.buffer = allocate(&p);
  iree_hal_file_t* file = make_file(&p, data, sizeof(data));
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_buffer_t* gone = NULL;
  const iree_hal_semaphore_list_t none = iree_hal_semaphore_list_empty();
  assert_true(iree_status_is_ok(
      iree_hal_device_queue_alloca(p.device, 1, none, none, NULL, params, 4096, IREE_HAL_ALLOCA_FLAG_NONE, &gone)));
  assert_true(
      iree_status_is_ok(iree_hal_device_queue_dealloca(p.device, 1, none, none, gone, IREE_HAL_DEALLOCA_FLAG_NONE)));
  for (int i = 0; i < 3; ++i) {
    iree_hal_semaphore_t* failing = read_file(&p, file, gone);
    iree_hal_semaphore_t* working = read_file(&p, file, p.buffer);
    expect_reached(working, IREE_STATUS_OK);
    expect_reached(failing, IREE_STATUS_FAILED_PRECONDITION);
  }
  iree_hal_buffer_release(gone);
  iree_hal_file_release(file);
  close_device(&p, registry);
  assert_int_equal(fake->live_count, 0);
}

// Whatever host memory there is: the device works or says what it lacks.
static void little_host_memory(void** state) {
  reset();
  char text[4096];
  int64_t limit = 0;
  while (run(limit, sizeof(text), text) != IREE_STATUS_OK) {
    assert_non_null(strstr(text, "no host memory"));
    ++limit;
    assert_true(limit < 1000);
  }
  assert_true(limit > 5);
}

static void little_device_memory(void** state) {
  char text[4096];
  bool worked = false, failed = false;
  for (size_t limit = 1 << 20; limit < 256u << 20; limit *= 2) {
    reset();
    fake->memory_limit = limit;
    iree_status_code_t code = run(-1, sizeof(text), text);
    worked = worked || code == IREE_STATUS_OK;
    failed = failed || code != IREE_STATUS_OK;
    if (code == IREE_STATUS_OK) continue;
    assert_int_equal(code, IREE_STATUS_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(text, "hsa_amd_memory_pool_allocate failed with 0x1008: as told"));
  }
  assert_true(worked && failed);
}

int main(void) {
  if (!load_fake()) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_fails),
      cmocka_unit_test(old_library),
      cmocka_unit_test(library_in_path),
      cmocka_unit_test(missing_agents),
      cmocka_unit_test(several_devices),
      cmocka_unit_test(nearest_cpus),
      cmocka_unit_test(loaded_once),
      cmocka_unit_test(stopped_queue),
      cmocka_unit_test(barriers),
      cmocka_unit_test(implied_barriers),
      cmocka_unit_test(transitive_barriers),
      cmocka_unit_test(forgotten_barriers),
      cmocka_unit_test(failure_in_order),
      cmocka_unit_test(system_events),
      cmocka_unit_test(memory_in_queue_order),
      cmocka_unit_test(visible_memory_in_queue_order),
      cmocka_unit_test(fence_scopes),
      cmocka_unit_test(streamed_reads),
      cmocka_unit_test(reads_after_a_failure),
      cmocka_unit_test(little_host_memory),
      cmocka_unit_test(little_device_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
