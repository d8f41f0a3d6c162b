// Host queues whose rings are as small as can be, on whatever GPU there is: everything must fit by waiting, nothing by
// failing. To be run by iree-softgpu where there is no GPU; with two GPUs work crosses between them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../cts/kernels.h"
#include "hal/amdgpu/host_queue.h"
#include "hal/amdgpu/topology.h"
#include "iree/base/threading/thread.h"
#include "iree/io/file_contents.h"

static system_t* gpus;
static iree_hal_device_t* device;
static iree_hal_executable_t* executable;
static uint32_t queue_count;  // of all GPUs

#define OK(expr) IREE_CHECK_OK(expr)
#define NOW iree_hal_semaphore_list_empty()

typedef struct point_t {
  iree_hal_semaphore_t* semaphore;
  uint64_t value;
} point_t;
#define POINT(semaphore, value) list_of(&(point_t){(semaphore), (value)})
static iree_hal_semaphore_list_t list_of(point_t* point) {
  return (iree_hal_semaphore_list_t){1, &point->semaphore, &point->value};
}

//===----------------------------------------------------------------------------------------------------------------===
// The device
//===----------------------------------------------------------------------------------------------------------------===

// The first file of test functions that the device takes.
static void load_kernels(void) {
  static const char* const paths[] = {CTS_KERNELS_PATHS};
  iree_hal_executable_cache_t* cache = NULL;
  OK(iree_hal_executable_cache_create(device, IREE_SV("test"), &cache));
  for (size_t i = 0; i < IREE_ARRAYSIZE(paths) && !executable; ++i) {
    iree_io_file_contents_t* contents = NULL;
    iree_hal_executable_params_t params;
    OK(iree_io_file_contents_read(iree_make_cstring_view(paths[i]), iree_allocator_system(), &contents));
    iree_hal_executable_params_initialize(&params);
    params.executable_format = IREE_SV("rocm-hsaco-fb");
    params.executable_data = contents->const_buffer;
    iree_status_ignore(iree_hal_executable_cache_prepare_executable(cache, &params, &executable));
    iree_io_file_contents_free(contents);
  }
  iree_hal_executable_cache_release(cache);
  if (!executable) exit(EXIT_FAILURE);
}

static void open_device(const logical_device_options_t* options) {
  OK(logical_device_create(gpus, topology_default(gpus), options, NULL, iree_allocator_system(), &device));
  load_kernels();
}

static void close_device(void) {
  iree_hal_executable_release(executable);
  iree_hal_device_release(device);
  executable = NULL;
  device = NULL;
}

static iree_hal_semaphore_t* make_semaphore(void) {
  iree_hal_semaphore_t* semaphore = NULL;
  OK(iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  return semaphore;
}

static void wait_for(iree_hal_semaphore_t* semaphore, uint64_t value) {
  OK(iree_hal_semaphore_wait(semaphore, value, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
}

// Host memory that GPUs reach, zeroed.
static iree_hal_buffer_t* make_buffer(iree_device_size_t size) {
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING |
               IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS,
  };
  iree_hal_buffer_t* buffer = NULL;
  OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device), params, size, &buffer));
  OK(iree_hal_buffer_map_zero(buffer, 0, IREE_HAL_WHOLE_BUFFER));
  return buffer;
}

static uint32_t word(iree_hal_buffer_t* buffer, iree_device_size_t index) {
  uint32_t result = 0;
  OK(iree_hal_buffer_map_read(buffer, index * 4, &result, 4));
  return result;
}

static iree_hal_command_buffer_t* begin(void) {
  iree_hal_command_buffer_t* commands = NULL;
  OK(iree_hal_command_buffer_create(device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, IREE_HAL_COMMAND_CATEGORY_ANY,
                                    IREE_HAL_QUEUE_AFFINITY_ANY, 0, &commands));
  OK(iree_hal_command_buffer_begin(commands));
  return commands;
}

static void barrier(iree_hal_command_buffer_t* commands) {
  const iree_hal_execution_stage_t stages = IREE_HAL_EXECUTION_STAGE_DISPATCH | IREE_HAL_EXECUTION_STAGE_TRANSFER;
  OK(iree_hal_command_buffer_execution_barrier(commands, stages, stages, 0, 0, NULL, 0, NULL));
}

static void record_accumulate(iree_hal_command_buffer_t* commands, iree_hal_buffer_t* buffer, uint32_t groups) {
  iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(buffer, 0, 4);
  OK(iree_hal_command_buffer_dispatch(commands, executable, iree_hal_executable_function_from_index(CTS_ACCUMULATE),
                                      iree_hal_make_static_dispatch_config(groups, 1, 1), iree_const_byte_span_empty(),
                                      (iree_hal_buffer_ref_list_t){1, &ref}, IREE_HAL_DISPATCH_FLAG_NONE));
}

static void record_accumulate_indirectly(iree_hal_command_buffer_t* commands, iree_hal_buffer_t* buffer,
                                         iree_hal_buffer_t* counts, iree_device_size_t offset) {
  iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(buffer, 0, 4);
  iree_hal_dispatch_config_t config = {.workgroup_count_ref = iree_hal_make_buffer_ref(counts, offset, 12)};
  OK(iree_hal_command_buffer_dispatch(commands, executable, iree_hal_executable_function_from_index(CTS_ACCUMULATE),
                                      config, iree_const_byte_span_empty(), (iree_hal_buffer_ref_list_t){1, &ref},
                                      IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS));
}

static void execute(iree_hal_queue_affinity_t affinity, iree_hal_semaphore_list_t waits,
                    iree_hal_semaphore_list_t signals, iree_hal_command_buffer_t* commands) {
  OK(iree_hal_device_queue_execute(device, affinity, waits, signals, commands, iree_hal_buffer_binding_table_empty(),
                                   IREE_HAL_EXECUTE_FLAG_NONE));
}

//===----------------------------------------------------------------------------------------------------------------===
// One producer
//===----------------------------------------------------------------------------------------------------------------===

// Many times more packets, with and without barriers, than the ring has.
static void long_command_buffers(void** state) {
  enum { COUNT = 700 };
  iree_hal_buffer_t* buffer = make_buffer(4);
  iree_hal_semaphore_t* semaphore = make_semaphore();
  iree_hal_command_buffer_t* commands = begin();
  for (int i = 0; i < COUNT; ++i) {
    record_accumulate(commands, buffer, 1 + i % 3);
    if (i % 7 == 0) barrier(commands);
  }
  OK(iree_hal_command_buffer_end(commands));
  for (uint64_t i = 0; i < 3; ++i) {
    execute(1ull << i % queue_count, POINT(semaphore, i), POINT(semaphore, i + 1), commands);
  }
  iree_hal_command_buffer_release(commands);
  wait_for(semaphore, 3);
  uint32_t expected = 0;
  for (int i = 0; i < COUNT; ++i) expected += 1 + i % 3;
  assert_int_equal(word(buffer, 0), 3 * expected);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
}

// Far more submissions than there may be in flight, all held back by the first; another queue's work passes them.
static void many_submissions(void** state) {
  enum { COUNT = 300 };
  iree_hal_buffer_t* buffer = make_buffer(COUNT * 4);
  iree_hal_semaphore_t *start = make_semaphore(), *done = make_semaphore(), *other = make_semaphore();
  for (uint32_t i = 0; i < COUNT; ++i) {
    uint32_t value = i * 3 + 1;
    iree_hal_semaphore_list_t waits = i ? POINT(done, i) : POINT(start, 1);
    OK(iree_hal_device_queue_update(device, 1, waits, POINT(done, i + 1), &value, 0, buffer, i * 4, 4,
                                    IREE_HAL_UPDATE_FLAG_NONE));
  }
  uint32_t pattern = 9;
  OK(iree_hal_device_queue_fill(device, 2, NOW, POINT(other, 1), buffer, 0, 4, &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  wait_for(other, 1);
  assert_int_equal(word(buffer, 0), 9);
  OK(iree_hal_semaphore_signal(start, 1, NULL));
  wait_for(done, COUNT);
  for (uint32_t i = 0; i < COUNT; ++i) assert_int_equal(word(buffer, i), i * 3 + 1);
  iree_hal_semaphore_release(start);
  iree_hal_semaphore_release(done);
  iree_hal_semaphore_release(other);
  iree_hal_buffer_release(buffer);
}

// Counts that the device writes between dispatches that use them, some of them zero.
static void indirect_counts(void** state) {
  enum { COUNT = 60 };
  iree_hal_buffer_t *buffer = make_buffer(4), *counts = make_buffer(COUNT * 12);
  iree_hal_semaphore_t* semaphore = make_semaphore();
  iree_hal_command_buffer_t* commands = begin();
  uint32_t expected = 0;
  for (uint32_t i = 0; i < COUNT; ++i) {
    const uint32_t values[3] = {i % 5, 1 + i % 2, 1 + i % 3};
    iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(counts, i * 12, 12);
    OK(iree_hal_command_buffer_dispatch(commands, executable, iree_hal_executable_function_from_index(CTS_STORE_COUNT),
                                        iree_hal_make_static_dispatch_config(1, 1, 1),
                                        iree_make_const_byte_span(values, sizeof(values)),
                                        (iree_hal_buffer_ref_list_t){1, &ref}, IREE_HAL_DISPATCH_FLAG_NONE));
    barrier(commands);
    record_accumulate_indirectly(commands, buffer, counts, i * 12);
    if (i % 4 == 0) record_accumulate_indirectly(commands, buffer, counts, i * 12);
    record_accumulate(commands, buffer, 2);
    expected += (i % 4 == 0 ? 2 : 1) * values[0] * values[1] * values[2] + 2;
  }
  OK(iree_hal_command_buffer_end(commands));
  for (uint64_t i = 0; i < 4; ++i) {
    execute(1ull << i % queue_count, POINT(semaphore, i), POINT(semaphore, i + 1), commands);
  }
  wait_for(semaphore, 4);
  assert_int_equal(word(buffer, 0), 4 * expected);
  iree_hal_command_buffer_release(commands);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
  iree_hal_buffer_release(counts);
}

static uint64_t address_of(iree_hal_buffer_t* buffer) {
  iree_hal_external_buffer_t external;
  OK(iree_hal_allocator_export_buffer(iree_hal_device_allocator(device), buffer,
                                      IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION,
                                      IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, &external));
  return external.handle.device_allocation.ptr;
}

static iree_status_t record_with_arguments(iree_hal_command_buffer_t* commands, iree_hal_dispatch_config_t config,
                                           iree_host_size_t ref_count, const iree_hal_buffer_ref_t* refs,
                                           iree_hal_dispatch_flags_t flags) {
  return iree_hal_command_buffer_dispatch(commands, executable, iree_hal_executable_function_from_index(CTS_ACCUMULATE),
                                          config, iree_const_byte_span_empty(),
                                          (iree_hal_buffer_ref_list_t){ref_count, refs}, flags);
}

// Arguments that the device writes between dispatches that use them, with counts of the host or of memory; buffers of
// the recording and of the binding table.
static void indirect_arguments(void** state) {
  enum { TARGETS = 3, ROUNDS = 20 };
  const iree_hal_dispatch_flags_t flags = IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_ARGUMENTS;
  iree_hal_buffer_t *targets[TARGETS], *arguments = make_buffer(256), *counts = make_buffer(12);
  iree_hal_semaphore_t* semaphore = make_semaphore();
  const uint32_t two[3] = {2, 1, 1};
  OK(iree_hal_buffer_map_write(counts, 0, two, sizeof(two)));
  iree_hal_command_buffer_t* commands = NULL;
  OK(iree_hal_command_buffer_create(device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, IREE_HAL_COMMAND_CATEGORY_ANY,
                                    IREE_HAL_QUEUE_AFFINITY_ANY, 1, &commands));
  OK(iree_hal_command_buffer_begin(commands));
  for (int i = 0; i < TARGETS; ++i) targets[i] = make_buffer(4);
  iree_hal_dispatch_config_t config = {.workgroup_count_ref = iree_hal_make_buffer_ref(counts, 0, 12)};
  for (int i = 0; i < ROUNDS; ++i) {
    uint64_t address = address_of(targets[i % TARGETS]);
    iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(arguments, 64, IREE_HAL_WHOLE_BUFFER);
    if (i % 2) ref = iree_hal_make_indirect_buffer_ref(0, 64, 8);
    barrier(commands);
    OK(iree_hal_command_buffer_update_buffer(commands, &address, 0, iree_hal_make_buffer_ref(arguments, 64, 8),
                                             IREE_HAL_UPDATE_FLAG_NONE));
    barrier(commands);
    OK(record_with_arguments(commands, iree_hal_make_static_dispatch_config(1, 1, 1), 1, &ref, flags));
    OK(record_with_arguments(commands, iree_hal_make_static_dispatch_config(0, 1, 1), 1, &ref, flags));
    OK(record_with_arguments(commands, config, 1, &ref, flags | IREE_HAL_DISPATCH_FLAG_DYNAMIC_INDIRECT_PARAMETERS));
  }
  const iree_hal_buffer_ref_t wrong[] = {iree_hal_make_buffer_ref(arguments, 64, 4), {0}};
  iree_hal_dispatch_config_t one = iree_hal_make_static_dispatch_config(1, 1, 1);
  assert_int_equal(iree_status_consume_code(record_with_arguments(commands, one, 1, wrong, flags)),
                   IREE_STATUS_INVALID_ARGUMENT);
  assert_int_equal(iree_status_consume_code(record_with_arguments(commands, one, 0, NULL, flags)),
                   IREE_STATUS_INVALID_ARGUMENT);
  OK(iree_hal_command_buffer_end(commands));
  iree_hal_buffer_binding_t binding = {arguments, 0, IREE_HAL_WHOLE_BUFFER};
  for (uint64_t i = 0; i < 2; ++i) {
    OK(iree_hal_device_queue_execute(device, 1ull << i % queue_count, POINT(semaphore, i), POINT(semaphore, i + 1),
                                     commands, (iree_hal_buffer_binding_table_t){1, &binding},
                                     IREE_HAL_EXECUTE_FLAG_NONE));
  }
  iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(arguments, 64, 8);
  OK(iree_hal_device_queue_dispatch(device, 1, POINT(semaphore, 2), POINT(semaphore, 3), executable,
                                    iree_hal_executable_function_from_index(CTS_ACCUMULATE), one,
                                    iree_const_byte_span_empty(), (iree_hal_buffer_ref_list_t){1, &ref},
                                    IREE_HAL_DISPATCH_FLAG_STATIC_INDIRECT_ARGUMENTS));
  wait_for(semaphore, 3);
  for (int i = 0; i < TARGETS; ++i) {
    uint32_t rounds = (uint32_t)(ROUNDS - i + TARGETS - 1) / TARGETS;
    assert_int_equal(word(targets[i], 0), 2 * rounds * 3 + (i == (ROUNDS - 1) % TARGETS ? 1 : 0));
    iree_hal_buffer_release(targets[i]);
  }
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(arguments);
  iree_hal_buffer_release(counts);
  iree_hal_semaphore_release(semaphore);
}

// What can never fit fails by itself; the device goes on.
static void never_fits(void** state) {
  enum { SIZE = 8192 };
  static uint8_t data[SIZE];
  memset(data, 5, SIZE);
  iree_hal_buffer_t* buffer = make_buffer(SIZE);
  iree_hal_semaphore_t *first = make_semaphore(), *second = make_semaphore();
  OK(iree_hal_device_queue_update(device, 1, NOW, POINT(first, 1), data, 0, buffer, 0, SIZE,
                                  IREE_HAL_UPDATE_FLAG_NONE));
  iree_status_t status = iree_hal_semaphore_wait(first, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  assert_int_equal(iree_status_code(status), IREE_STATUS_RESOURCE_EXHAUSTED);
  iree_status_free(status);
  assert_int_equal(word(buffer, 0), 0);
  OK(iree_hal_device_queue_update(device, 1, NOW, POINT(second, 1), data, 0, buffer, 0, 1024,
                                  IREE_HAL_UPDATE_FLAG_NONE));
  wait_for(second, 1);
  assert_int_equal(word(buffer, 255), 0x05050505);
  assert_int_equal(word(buffer, 256), 0);
  iree_hal_semaphore_release(first);
  iree_hal_semaphore_release(second);
  iree_hal_buffer_release(buffer);
}

//===----------------------------------------------------------------------------------------------------------------===
// Many producers
//===----------------------------------------------------------------------------------------------------------------===

enum { PRODUCERS = 4, STEPS = 60, WORDS = 256 };

typedef struct producer_t {
  uint32_t index;
  iree_hal_semaphore_t* timeline;
  struct producer_t* neighbour;
  iree_hal_buffer_t* result;  // STEPS words
  iree_hal_command_buffer_t* commands;
  iree_hal_buffer_t* sum;
  iree_thread_t* thread;
} producer_t;

static uint32_t step_value(uint32_t producer, uint32_t step) { return (producer + 1) * 1000003u + step * 31u; }

// Each step allocates memory, fills and copies it to the result and frees it, in one queue each time another, after its
// step before and, now and then, after its neighbour's.
static void produce_step(producer_t* p, uint32_t step) {
  iree_hal_queue_affinity_t affinity = 1ull << (p->index + step) % queue_count;
  uint64_t base = (uint64_t)step * 5;
  iree_hal_semaphore_t* waits[2] = {p->timeline, p->neighbour->timeline};
  uint64_t values[2] = {base, base};
  bool waits_for_neighbour = step % 3 == 2 && p->neighbour != p;  // of a lower index: no circles
  iree_hal_semaphore_list_t first = {waits_for_neighbour ? 2 : 1, waits, values};
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                     .usage = IREE_HAL_BUFFER_USAGE_TRANSFER};
  iree_hal_buffer_t* transient = NULL;
  uint32_t pattern = step_value(p->index, step);
  OK(iree_hal_device_queue_alloca(device, affinity, first, POINT(p->timeline, base + 1), NULL, params, WORDS * 4,
                                  step % 2 ? IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER : IREE_HAL_ALLOCA_FLAG_NONE,
                                  &transient));
  OK(iree_hal_device_queue_fill(device, affinity, POINT(p->timeline, base + 1), POINT(p->timeline, base + 2), transient,
                                0, WORDS * 4, &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  OK(iree_hal_device_queue_copy(device, affinity << 1 | affinity >> 1, POINT(p->timeline, base + 2),
                                POINT(p->timeline, base + 3), transient, (WORDS - 1) * 4, p->result, step * 4, 4,
                                IREE_HAL_COPY_FLAG_NONE));
  OK(iree_hal_device_queue_dealloca(device, affinity, POINT(p->timeline, base + 3), POINT(p->timeline, base + 4),
                                    transient, IREE_HAL_DEALLOCA_FLAG_NONE));
  iree_hal_buffer_release(transient);
  execute(affinity, POINT(p->timeline, base + 4), POINT(p->timeline, base + 5), p->commands);
}

static int produce(void* arg) {
  producer_t* p = (producer_t*)arg;
  for (uint32_t step = 0; step < STEPS; ++step) {
    produce_step(p, step);
    if (step % 16 == 15) wait_for(p->timeline, (uint64_t)step * 5);
  }
  wait_for(p->timeline, STEPS * 5);
  return 0;
}

static void start_producer(producer_t* p) {
  p->timeline = make_semaphore();
  p->result = make_buffer(STEPS * 4);
  p->sum = make_buffer(4);
  p->commands = begin();
  for (int i = 0; i < 10; ++i) {
    record_accumulate(p->commands, p->sum, 3);
    if (i % 3 == 0) barrier(p->commands);
  }
  OK(iree_hal_command_buffer_end(p->commands));
}

static void many_producers(void** state) {
  producer_t producers[PRODUCERS] = {0};
  for (uint32_t i = 0; i < PRODUCERS; ++i) {
    producers[i].index = i;
    producers[i].neighbour = &producers[i ? i - 1 : 0];
    start_producer(&producers[i]);
  }
  for (int i = 0; i < PRODUCERS; ++i) {
    iree_thread_create_params_t params = {.name = IREE_SV("producer")};
    OK(iree_thread_create(produce, &producers[i], params, iree_allocator_system(), &producers[i].thread));
  }
  for (uint32_t i = 0; i < PRODUCERS; ++i) {
    producer_t* p = &producers[i];
    iree_thread_release(p->thread);
    for (uint32_t step = 0; step < STEPS; ++step) assert_int_equal(word(p->result, step), step_value(i, step));
    assert_int_equal(word(p->sum, 0), STEPS * 30);
  }
  for (uint32_t i = 0; i < PRODUCERS; ++i) {
    iree_hal_command_buffer_release(producers[i].commands);
    iree_hal_buffer_release(producers[i].result);
    iree_hal_buffer_release(producers[i].sum);
    iree_hal_semaphore_release(producers[i].timeline);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Recordings in the GPU's own format
//===----------------------------------------------------------------------------------------------------------------===

enum { SLOT_INPUT, SLOT_MIDDLE, SLOT_OUTPUT, SLOT_IDS, SLOT_COUNT, OWN_GROUPS = 6, OWN_TABLES = 40 };

static void record_slots(iree_hal_command_buffer_t* commands, uint32_t function, const uint32_t count[3],
                         const uint32_t constants[2], uint32_t first_slot, uint32_t slot_count) {
  iree_hal_buffer_ref_t refs[2];
  for (uint32_t i = 0; i < slot_count; ++i) {
    refs[i] = iree_hal_make_indirect_buffer_ref(first_slot + i, 0, IREE_HAL_WHOLE_BUFFER);
  }
  OK(iree_hal_command_buffer_dispatch(commands, executable, iree_hal_executable_function_from_index(function),
                                      iree_hal_make_static_dispatch_config(count[0], count[1], count[2]),
                                      iree_make_const_byte_span(constants, constants ? 2 * sizeof(*constants) : 0),
                                      (iree_hal_buffer_ref_list_t){slot_count, refs}, IREE_HAL_DISPATCH_FLAG_NONE));
}

// Kernels that follow each other and such that do not, one that runs nowhere, local memory, wide workgroups.
static iree_hal_command_buffer_t* record_own(iree_hal_buffer_t* sum, iree_hal_command_buffer_mode_t mode) {
  static const uint32_t count[3] = {OWN_GROUPS, 1, 1}, cube[3] = {2, 3, 2}, none[3] = {2, 0, 1};
  iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(sum, 0, 4);
  const iree_hal_dispatch_config_t wide = {.workgroup_count = {2, 1, 1}, .workgroup_size = {64, 1, 1}};
  iree_hal_command_buffer_t* commands = NULL;
  OK(iree_hal_command_buffer_create(device, mode, IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY,
                                    SLOT_COUNT, &commands));
  OK(iree_hal_command_buffer_begin(commands));
  record_slots(commands, CTS_SCALE, count, (uint32_t[2]){3, 1}, SLOT_INPUT, 2);
  record_slots(commands, CTS_IDS, cube, NULL, SLOT_IDS, 1);
  barrier(commands);
  record_slots(commands, CTS_IDS, none, NULL, SLOT_IDS, 1);
  record_slots(commands, CTS_SCALE, count, (uint32_t[2]){5, 7}, SLOT_MIDDLE, 2);
  barrier(commands);
  record_slots(commands, CTS_SCRATCH, count, NULL, SLOT_MIDDLE, 1);
  OK(iree_hal_command_buffer_dispatch(commands, executable, iree_hal_executable_function_from_index(CTS_WIDE), wide,
                                      iree_const_byte_span_empty(), (iree_hal_buffer_ref_list_t){1, &ref},
                                      IREE_HAL_DISPATCH_FLAG_NONE));
  record_accumulate(commands, sum, 3);
  OK(iree_hal_command_buffer_end(commands));
  return commands;
}

static void check_own_results(iree_hal_buffer_t* memory[SLOT_COUNT], uint32_t seed) {
  for (uint32_t i = 0; i < OWN_GROUPS; ++i) {
    assert_int_equal(word(memory[SLOT_OUTPUT], i), ((seed + i) * 3 + 1) * 5 + 7);
    assert_int_equal(word(memory[SLOT_MIDDLE], i), i);
  }
  for (uint32_t i = 0; i < 12; ++i) {
    assert_int_equal(word(memory[SLOT_IDS], i), i % 2 | i / 2 % 3 << 8 | i / 6 << 16 | 12u << 24);
  }
}

// Submits them with many tables at once, to all queues. Returns how many packets one of the submissions was.
static uint64_t run_own(iree_hal_command_buffer_mode_t mode) {
  iree_hal_semaphore_t *start = make_semaphore(), *done[OWN_TABLES];
  iree_hal_buffer_t *memory[OWN_TABLES][SLOT_COUNT], *sum = make_buffer(4);
  iree_hal_command_buffer_t* commands = NULL;
  const host_queue_t* queue = (const host_queue_t*)((gpu_device_t*)device)->queues[0];
  uint64_t head = queue->packet_head;
  bool is_one_shot = mode & IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT;
  uint32_t count = is_one_shot ? 1 : OWN_TABLES;
  commands = record_own(sum, mode);
  for (uint32_t i = 0; i < count; ++i) {
    iree_hal_buffer_binding_t bindings[SLOT_COUNT];
    for (uint32_t j = 0; j < SLOT_COUNT; ++j) {
      memory[i][j] = make_buffer(64);
      bindings[j] = (iree_hal_buffer_binding_t){memory[i][j], 0, IREE_HAL_WHOLE_BUFFER};
    }
    done[i] = make_semaphore();
    uint32_t values[OWN_GROUPS];
    for (uint32_t j = 0; j < OWN_GROUPS; ++j) values[j] = i * 100 + j;
    OK(iree_hal_buffer_map_write(memory[i][SLOT_INPUT], 0, values, sizeof(values)));
    OK(iree_hal_device_queue_execute(device, 1ull << i % queue_count, i ? POINT(start, 1) : NOW, POINT(done[i], 1),
                                     commands, (iree_hal_buffer_binding_table_t){SLOT_COUNT, bindings},
                                     IREE_HAL_EXECUTE_FLAG_NONE));
    if (i) continue;
    wait_for(done[0], 1);
    head = queue->packet_head - head;
  }
  OK(iree_hal_semaphore_signal(start, 1, NULL));
  for (uint32_t i = 0; i < count; ++i) {
    wait_for(done[i], 1);
    check_own_results(memory[i], i * 100);
    iree_hal_semaphore_release(done[i]);
    for (uint32_t j = 0; j < SLOT_COUNT; ++j) iree_hal_buffer_release(memory[i][j]);
  }
  assert_int_equal(word(sum, 0), count * (2 * 64 + 3));
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(sum);
  iree_hal_semaphore_release(start);
  return head;
}

// One packet where the GPU takes it, and the recording is for more than once; the same results.
static void own_format(void** state) {
  bool is_able = ((logical_device_t*)device)->makes_pm4;
  uint64_t one_shot = run_own(IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT);
  uint64_t packets = run_own(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT);
  assert_true(one_shot >= 6);
  assert_int_equal(packets, is_able ? 1 : one_shot);
}

// More commands than one jump leads to go the other way.
static void own_format_too_long(void** state) {
  enum { COUNT = 40000 };
  iree_hal_buffer_t* buffer = make_buffer(4);
  iree_hal_semaphore_t* semaphore = make_semaphore();
  iree_hal_command_buffer_t* commands = begin();
  for (int i = 0; i < COUNT; ++i) record_accumulate(commands, buffer, 1);
  OK(iree_hal_command_buffer_end(commands));
  execute(1, NOW, POINT(semaphore, 1), commands);
  wait_for(semaphore, 1);
  assert_int_equal(word(buffer, 0), COUNT);
  iree_hal_command_buffer_release(commands);
  iree_hal_semaphore_release(semaphore);
  iree_hal_buffer_release(buffer);
}

// Nobody falls back without being told.
static void own_format_by_name(void** state) {
  const logical_device_t* usual = (const logical_device_t*)device;
  logical_device_options_t options = {.user.command_buffer_mode = AMDGPU_COMMAND_BUFFERS_PM4};
  iree_hal_device_t* other = NULL;
  iree_status_t status =
      logical_device_create(gpus, topology_default(gpus), &options, NULL, iree_allocator_system(), &other);
  bool is_able = usual->physical[0].pm4_format != PM4_FORMAT_NONE;
  assert_int_equal(iree_status_consume_code(status), is_able ? IREE_STATUS_OK : IREE_STATUS_UNIMPLEMENTED);
  iree_hal_device_release(other);
}

//===----------------------------------------------------------------------------------------------------------------===
// Groups
//===----------------------------------------------------------------------------------------------------------------===

static int open_tiny(void** state) {
  logical_device_options_t options = {.queue_size = 64, .epoch_count = 4, .kernarg_size = 4096};
  open_device(&options);
  return 0;
}

static int open_deferring(void** state) {
  logical_device_options_t options = {.queue_count = 3, .queue_size = 64};
  options.user.force_wait_barrier_defer = true;
  open_device(&options);
  return 0;
}

static int open_usual(void** state) {
  logical_device_options_t options = {0};
  open_device(&options);
  return 0;
}

static int open_own(void** state) {
  logical_device_options_t options = {.user.experimental_pm4_command_buffers = true};
  open_device(&options);
  return 0;
}

static int close_group(void** state) {
  close_device();
  return 0;
}

int main(void) {
  libhsa_t* hsa = NULL;
  OK(libhsa_load(0, NULL, iree_allocator_system(), &hsa));
  OK(system_create(hsa, iree_allocator_system(), &gpus));
  libhsa_release(hsa);
  queue_count = gpus->gpu_count * LOGICAL_DEVICE_DEFAULT_QUEUES;
  const struct CMUnitTest tiny[] = {
      cmocka_unit_test(long_command_buffers), cmocka_unit_test(many_submissions), cmocka_unit_test(indirect_counts),
      cmocka_unit_test(never_fits),           cmocka_unit_test(many_producers),   cmocka_unit_test(indirect_arguments),
  };
  const struct CMUnitTest usual[] = {cmocka_unit_test(indirect_counts), cmocka_unit_test(indirect_arguments),
                                     cmocka_unit_test(many_producers)};
  const struct CMUnitTest own[] = {cmocka_unit_test(own_format), cmocka_unit_test(own_format_by_name),
                                   cmocka_unit_test(own_format_too_long), cmocka_unit_test(many_producers)};
  int failures = cmocka_run_group_tests_name("tiny rings", tiny, open_tiny, close_group);
  failures += cmocka_run_group_tests_name("waits on the host", usual, open_deferring, close_group);
  failures += cmocka_run_group_tests_name("as usual", usual, open_usual, close_group);
  failures += cmocka_run_group_tests_name("commands of its own", own, open_own, close_group);
  system_release(gpus);
  return failures != 0;
}
