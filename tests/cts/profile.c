// Profiles: what devices tell of what was done, and when they refuse to.
#include "cts.h"
#include "iree/hal/utils/profile_records.h"

typedef struct told_t {
  uint32_t begun, ended, chunks, truncated;
  uint32_t queue_events[12];  // by type
  uint32_t host_dispatches, host_operations, dispatches, device_operations, functions, command_buffers, operations,
      regions;
  uint32_t memory[13];  // by type
  uint64_t submission;  // of the last event
  uint32_t backwards;   // spans that end before they begin
  uint64_t tiles;
  uint64_t first_tick, last_tick;  // of dispatches
  uint64_t begin_tick, end_tick;   // of operations on the device
  iree_hal_profile_clock_t clock;
  uint32_t samples;
  uint64_t sums[16];  // of the samples' values
} told_t;

static void widen(uint64_t* begin, uint64_t* end, uint64_t start_tick, uint64_t end_tick) {
  if (!*begin || start_tick < *begin) *begin = start_tick;
  *end = iree_max(*end, end_tick);
}

static iree_status_t tell_begin(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata) {
  ++((told_t*)user_data)->begun;
  return iree_ok_status();
}

static iree_status_t tell_end(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata,
                              iree_status_code_t session_status_code) {
  ++((told_t*)user_data)->ended;
  return iree_ok_status();
}

static void tell_record(told_t* told, iree_string_view_t content_type, iree_const_byte_span_t* payload) {
  iree_const_byte_span_t trailing;
#define IS(type) iree_string_view_equal(content_type, IREE_HAL_PROFILE_CONTENT_TYPE_##type)
#define TAKE(record_t, record) \
  record_t record;             \
  CHECK_OK(iree_hal_profile_take_record(payload, sizeof(record), &record, &trailing))
  if (IS(QUEUE_EVENTS)) {
    TAKE(iree_hal_profile_queue_event_t, event);
    assert_true(event.type < IREE_ARRAYSIZE(told->queue_events));
    ++told->queue_events[event.type];
    told->backwards += event.ready_host_time_ns < event.host_time_ns;
    told->submission = event.submission_id;
  } else if (IS(HOST_EXECUTION_EVENTS)) {
    TAKE(iree_hal_profile_host_execution_event_t, event);
    bool is_dispatch = event.executable_id != 0;
    told->host_dispatches += is_dispatch;
    told->host_operations += !is_dispatch;
    told->tiles += event.tile_count;
    told->backwards += event.end_host_time_ns < event.start_host_time_ns || event.start_host_time_ns <= 0;
  } else if (IS(DISPATCH_EVENTS)) {
    TAKE(iree_hal_profile_dispatch_event_t, event);
    ++told->dispatches;
    told->backwards += event.end_tick < event.start_tick || !event.start_tick;
    widen(&told->first_tick, &told->last_tick, event.start_tick, event.end_tick);
  } else if (IS(CLOCK_CORRELATIONS)) {
    TAKE(iree_hal_profile_clock_correlation_record_t, record);
    if (record.physical_device_ordinal == 0) iree_hal_profile_clock_add(&told->clock, &record);
  } else if (IS(QUEUE_DEVICE_EVENTS)) {
    TAKE(iree_hal_profile_queue_device_event_t, event);
    ++told->device_operations;
    widen(&told->begin_tick, &told->end_tick, event.start_tick, event.end_tick);
    told->backwards += event.end_tick < event.start_tick || !event.start_tick;
  } else if (IS(EXECUTABLE_FUNCTIONS)) {
    TAKE(iree_hal_profile_executable_function_record_t, function);
    assert_int_equal(trailing.data_length, function.name_length);
    ++told->functions;
  } else if (IS(COMMAND_BUFFERS)) {
    TAKE(iree_hal_profile_command_buffer_record_t, command_buffer);
    ++told->command_buffers;
  } else if (IS(COMMAND_OPERATIONS)) {
    TAKE(iree_hal_profile_command_operation_record_t, operation);
    ++told->operations;
  } else if (IS(COMMAND_REGION_EVENTS)) {
    TAKE(iree_hal_profile_command_region_event_t, region);
    ++told->regions;
  } else if (IS(MEMORY_EVENTS)) {
    TAKE(iree_hal_profile_memory_event_t, event);
    assert_true(event.type < IREE_ARRAYSIZE(told->memory));
    ++told->memory[event.type];
  } else if (IS(COUNTER_SAMPLES)) {
    TAKE(iree_hal_profile_counter_sample_record_t, sample);
    assert_int_equal(trailing.data_length, sample.sample_value_count * sizeof(uint64_t));
    assert_true(told->samples < IREE_ARRAYSIZE(told->sums));
    for (uint32_t i = 0; i < sample.sample_value_count; ++i) {
      uint64_t value;
      memcpy(&value, trailing.data + i * sizeof(value), sizeof(value));
      told->sums[told->samples] += value;
    }
    ++told->samples;
  } else {
    *payload = iree_const_byte_span_empty();
  }
#undef TAKE
#undef IS
}

static iree_status_t tell(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata,
                          iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs) {
  told_t* told = (told_t*)user_data;
  ++told->chunks;
  told->truncated += (metadata->flags & IREE_HAL_PROFILE_CHUNK_FLAG_TRUNCATED) != 0;
  for (iree_host_size_t i = 0; i < iovec_count; ++i) {
    iree_const_byte_span_t payload = iovecs[i];
    while (payload.data_length) tell_record(told, metadata->content_type, &payload);
  }
  return iree_ok_status();
}

static iree_status_t begin_counting(told_t* told, iree_hal_device_profiling_data_families_t families,
                                    const char* pattern, const char* counter) {
  memset(told, 0, sizeof(*told));
  iree_hal_profile_sink_callbacks_t callbacks = {
      .user_data = told, .begin_session = tell_begin, .write = tell, .end_session = tell_end};
  iree_hal_device_profiling_options_t options = {.data_families = families};
  iree_string_view_t name = iree_make_cstring_view(counter);
  iree_hal_profile_counter_set_selection_t set = {.counter_name_count = 1, .counter_names = &name};
  if (counter) options.counter_set_count = 1, options.counter_sets = &set;
  if (pattern) {
    options.capture_filter.flags = IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN;
    options.capture_filter.executable_function_pattern = iree_make_cstring_view(pattern);
  }
  CHECK_OK(iree_hal_profile_sink_create(callbacks, cts.host_allocator, &options.sink));
  iree_status_t status = iree_hal_device_profiling_begin(cts.device, &options);
  iree_hal_profile_sink_release(options.sink);
  return status;
}

static iree_status_t begin(told_t* told, iree_hal_device_profiling_data_families_t families, const char* pattern) {
  return begin_counting(told, families, pattern, NULL);
}

// What the device tells: nothing, or queues, memory and metadata, and times of one or two kinds.
static iree_hal_device_profiling_data_families_t families_of_device(void) {
  const iree_hal_device_profiling_data_families_t all = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS |
                                                        IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA |
                                                        IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS;
  const iree_hal_device_profiling_data_families_t ticks =
      IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS;
  if (!cts.executes) return 0;
  if (!cts.is_gpu) {
    return all | ticks | IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS |
           IREE_HAL_DEVICE_PROFILING_DATA_COMMAND_REGION_EVENTS;
  }
  told_t told;
  iree_status_code_t code = iree_status_consume_code(begin(&told, ticks, NULL));
  assert_true(code == IREE_STATUS_OK || code == IREE_STATUS_UNIMPLEMENTED);
  CHECK_OK(iree_hal_device_profiling_end(cts.device));
  return code == IREE_STATUS_OK ? all | ticks : all;
}

#define SKIP_UNLESS_PROFILED()                                                       \
  const iree_hal_device_profiling_data_families_t everything = families_of_device(); \
  if (!everything) skip()
#define TELLS(family) ((everything & IREE_HAL_DEVICE_PROFILING_DATA_##family) != 0)

// A command buffer of a fill and, behind a barrier, two dispatches.
static iree_hal_command_buffer_t* record(iree_hal_buffer_t* buffer, uint32_t group_count) {
  iree_hal_buffer_ref_t ref = cts_ref(buffer, 0, 64);
  const uint32_t zero = 0;
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 0);
  CHECK_OK(iree_hal_command_buffer_fill_buffer(commands, ref, &zero, 4, IREE_HAL_FILL_FLAG_NONE));
  cts_barrier(commands);
  CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, group_count, 0, NULL, 1, &ref));
  CHECK_OK(cts_dispatch(commands, CTS_EMPTY, 1, 0, NULL, 0, NULL));
  cts_end(commands);
  return commands;
}

static void command_buffers(void** state) {
  SKIP_UNLESS_PROFILED();
  enum { GROUPS = 33, RUNS = 3 };
  told_t told;
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  iree_hal_command_buffer_t* commands = record(buffer, GROUPS);
  CHECK_OK(begin(&told, everything, NULL));
  for (int i = 0; i < RUNS; ++i) CHECK_OK(cts_execute(commands, 0, NULL));
  CHECK_OK(iree_hal_device_profiling_flush(cts.device));
  assert_int_equal(told.queue_events[IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE], RUNS);
  CHECK_OK(cts_execute(commands, 0, NULL));
  CHECK_OK(iree_hal_device_profiling_end(cts.device));
  CHECK_OK(cts_execute(commands, 0, NULL));  // which nobody watches
  assert_int_equal(told.begun, 1);
  assert_int_equal(told.ended, 1);
  assert_int_equal(told.truncated, 0);
  assert_int_equal(told.backwards, 0);
  assert_int_equal(told.queue_events[IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE], RUNS + 1);
  assert_int_equal(told.submission, RUNS + 1);
  assert_int_equal(told.command_buffers, 1);
  assert_int_equal(told.operations, 4);
  assert_int_equal(told.functions, iree_hal_executable_function_count(cts.executable));
  const uint32_t runs = RUNS + 1;
  assert_int_equal(told.host_dispatches, TELLS(HOST_EXECUTION_EVENTS) ? 2 * runs : 0);
  assert_int_equal(told.host_operations, TELLS(HOST_EXECUTION_EVENTS) ? runs : 0);
  assert_int_equal(told.tiles, TELLS(HOST_EXECUTION_EVENTS) ? (GROUPS + 1) * runs : 0);
  assert_int_equal(told.regions, TELLS(COMMAND_REGION_EVENTS) ? 2 * runs : 0);
  assert_int_equal(told.dispatches, TELLS(DISPATCH_EVENTS) ? 2 * runs : 0);
  assert_int_equal(told.device_operations, TELLS(DEVICE_QUEUE_EVENTS) ? runs : 0);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

// The device's times, by the clocks' samples, are when the host waited for the work; dispatches are within operations.
static void device_times(void** state) {
  enum { NOISE_NS = 1000000000, ROUNDING_TICKS = 1000 };
  SKIP_UNLESS_PROFILED();
  if (!TELLS(DISPATCH_EVENTS)) skip();
  told_t told;
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  iree_hal_command_buffer_t* commands = record(buffer, 5);
  CHECK_OK(begin(&told,
                 IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS,
                 NULL));
  int64_t before = iree_time_now(), first = 0, last = 0;
  for (int i = 0; i < 3; ++i) CHECK_OK(cts_execute(commands, 0, NULL));
  int64_t after = iree_time_now();
  CHECK_OK(iree_hal_device_profiling_end(cts.device));
  assert_int_equal(told.dispatches, 6);
  assert_int_equal(told.device_operations, 3);
  assert_true(told.begin_tick <= told.first_tick + ROUNDING_TICKS);
  assert_true(told.last_tick <= told.end_tick + ROUNDING_TICKS);
  assert_true(iree_hal_profile_clock_map(&told.clock, told.first_tick, &first));
  assert_true(iree_hal_profile_clock_map(&told.clock, told.last_tick, &last));
  assert_true(before - NOISE_NS <= first && last <= after + NOISE_NS);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

// Only what its name is asked for by has its dispatches told.
static void filters(void** state) {
  SKIP_UNLESS_PROFILED();
  told_t told;
  iree_hal_executable_function_info_t info;
  CHECK_OK(
      iree_hal_executable_function_info(cts.executable, iree_hal_executable_function_from_index(CTS_EMPTY), &info));
  char name[64];
  iree_string_view_to_cstring(info.name, name, sizeof(name));
  iree_hal_buffer_t* buffer = cts_buffer(64, 0);
  iree_hal_command_buffer_t* commands = record(buffer, 5);
  CHECK_OK(begin(&told, everything, name));
  CHECK_OK(cts_execute(commands, 0, NULL));
  CHECK_OK(iree_hal_device_profiling_end(cts.device));
  assert_int_equal(told.host_dispatches, TELLS(HOST_EXECUTION_EVENTS) ? 1 : 0);
  assert_int_equal(told.dispatches, TELLS(DISPATCH_EVENTS) ? 1 : 0);
  assert_int_equal(told.operations, 4);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(buffer);
}

static void run_transfers(iree_hal_buffer_t* a, iree_hal_buffer_t* b, iree_hal_semaphore_t* semaphore) {
  const uint32_t pattern = 7;
  iree_hal_semaphore_list_t none = iree_hal_semaphore_list_empty();
  CHECK_OK(iree_hal_device_queue_fill(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, none, CTS_POINT(semaphore, 1), a, 0, 256,
                                      &pattern, 4, IREE_HAL_FILL_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_copy(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, 1),
                                      CTS_POINT(semaphore, 2), a, 0, b, 0, 256, IREE_HAL_COPY_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_update(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, 2),
                                        CTS_POINT(semaphore, 3), &pattern, 0, b, 0, 4, IREE_HAL_UPDATE_FLAG_NONE));
  CHECK_OK(iree_hal_device_queue_barrier(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, 3),
                                         CTS_POINT(semaphore, 4), IREE_HAL_EXECUTE_FLAG_NONE));
}

static void queue_operations(void** state) {
  SKIP_UNLESS_PROFILED();
  told_t told;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  CHECK_OK(begin(&told, everything, NULL));
  iree_hal_semaphore_t* semaphore = cts_semaphore(0);
  iree_hal_buffer_t *a = cts_buffer(256, 0), *b = cts_buffer(256, 0), *transient = NULL;
  run_transfers(a, b, semaphore);
  CHECK_OK(iree_hal_device_queue_alloca(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, 4),
                                        CTS_POINT(semaphore, 5), NULL, params, 1024, IREE_HAL_ALLOCA_FLAG_NONE,
                                        &transient));
  CHECK_OK(iree_hal_device_queue_dealloca(cts.device, IREE_HAL_QUEUE_AFFINITY_ANY, CTS_POINT(semaphore, 5),
                                          CTS_POINT(semaphore, 6), transient, IREE_HAL_DEALLOCA_FLAG_NONE));
  CHECK_OK(iree_hal_semaphore_wait(semaphore, 6, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_buffer_release(a);
  iree_hal_buffer_release(b);
  CHECK_OK(iree_hal_device_profiling_end(cts.device));
  if (cts.has_streams && TELLS(DEVICE_QUEUE_EVENTS)) assert_int_equal(told.device_operations, 3);
  assert_int_equal(told.backwards, 0);
  const iree_hal_profile_queue_event_type_t types[] = {
      IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL,    IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY,
      IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_UPDATE,  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER,
      IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_ALLOCA,  IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DEALLOCA,
      IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE,
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(types); ++i) {
    assert_int_equal(told.queue_events[types[i]], types[i] != IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE);
  }
  assert_int_equal(told.memory[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_ALLOCA], 1);
  assert_int_equal(told.memory[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_DEALLOCA], 1);
  assert_true(told.memory[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_ALLOCATE] >= 2);
  assert_true(told.memory[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_FREE] >= 2);
  iree_hal_buffer_release(transient);
  iree_hal_semaphore_release(semaphore);
}

// Of devices that count: waves of each dispatch, and of all of them from one flush to the next. A count in memory is
// one, too, and what makes it a grid is no part of the dispatch.
static void counters(void** state) {
  SKIP_UNLESS_PROFILED();
  static const char* const names[] = {"SQ_WAVES", "smsp__warps_launched.sum"};  // AMD's, NVIDIA's
  told_t told;
  const char* name = names[0];
  iree_status_code_t code = IREE_STATUS_UNIMPLEMENTED;
  for (int i = 0; i < 2 && code == IREE_STATUS_UNIMPLEMENTED; ++i) {
    name = names[i];
    code = iree_status_consume_code(begin_counting(&told, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES, NULL, name));
  }
  if (code == IREE_STATUS_UNIMPLEMENTED || code == IREE_STATUS_UNAVAILABLE) skip();
  assert_int_equal(code, IREE_STATUS_OK);
  iree_hal_buffer_t *count = cts_buffer(16, 0), *out = cts_buffer(4, 0);
  const iree_hal_buffer_ref_t out_ref = cts_ref(out, 0, 4);
  iree_hal_command_buffer_t* commands = cts_begin(IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT, 0);
  cts_dispatch_counted(commands, (const uint32_t[]){7, 5, 3}, count, out);
  cts_barrier(commands);
  CHECK_OK(cts_dispatch(commands, CTS_ACCUMULATE, 9, 0, NULL, 1, &out_ref));
  cts_end(commands);
  for (int i = 0; i < 2; ++i) CHECK_OK(cts_execute(commands, 0, NULL));
  CHECK_OK(iree_hal_device_profiling_end(cts.device));
  assert_int_equal(cts_word(out, 0), 2 * (7 * 5 * 3 + 9));
  assert_int_equal(told.dispatches, 6);
  assert_int_equal(told.samples, 6);
  const uint64_t waves[] = {1, 7 * 5 * 3, 9};
  for (int i = 0; i < 6; ++i) assert_int_equal(told.sums[i], waves[i % 3]);
  CHECK_OK(begin_counting(&told, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES, NULL, name));
  CHECK_OK(cts_execute(commands, 0, NULL));
  CHECK_OK(iree_hal_device_profiling_flush(cts.device));
  CHECK_OK(cts_execute(commands, 0, NULL));
  CHECK_OK(cts_execute(commands, 0, NULL));
  CHECK_OK(iree_hal_device_profiling_end(cts.device));
  // Of each physical device one at each flush.
  uint32_t each = told.samples / 2;
  uint64_t first = 0, second = 0;
  for (uint32_t i = 0; i < each; ++i) first += told.sums[i], second += told.sums[each + i];
  assert_int_equal(told.samples, 2 * each);
  assert_true(first >= waves[0] + waves[1] + waves[2]);
  assert_int_equal(second, 2 * first);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(count);
  iree_hal_buffer_release(out);
}

static void refusals(void** state) {
  told_t told, other;
  CHECK_CODE(UNIMPLEMENTED, begin(&told, 1ull << 40, NULL));
  CHECK_CODE(INVALID_ARGUMENT, begin(&told, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES, NULL));
  iree_hal_device_profiling_options_t options = {.data_families = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS};
  CHECK_CODE(INVALID_ARGUMENT, iree_hal_device_profiling_begin(cts.device, &options));
  CHECK_OK(iree_hal_device_profiling_flush(cts.device));
  CHECK_OK(iree_hal_device_profiling_end(cts.device));
  assert_int_equal(told.begun, 0);
  SKIP_UNLESS_PROFILED();
  CHECK_OK(begin(&told, IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS, NULL));
  CHECK_CODE(FAILED_PRECONDITION, begin(&other, IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS, NULL));
  CHECK_OK(iree_hal_device_profiling_end(cts.device));
  assert_int_equal(other.begun, 0);
  assert_int_equal(told.ended, 1);
}

CTS_RECORDING_SUITE(profile, cmocka_unit_test(command_buffers), cmocka_unit_test(device_times),
                    cmocka_unit_test(filters), cmocka_unit_test(queue_operations), cmocka_unit_test(counters),
                    cmocka_unit_test(refusals));
