// Operations that are watched, and what becomes of them when they end.
#include "hal/profile/session.h"

struct hal_profile_operation_t {
  hal_profile_t* profile;  // retained
  hal_queued_device_t* device;
  const hal_profile_queue_t* queue;
  iree_hal_profile_queue_event_t event;
  hal_profile_program_t program;
  bool is_ready;
  bool is_timed;
  uint64_t timer;              // the driver's (make_timer), of the whole operation
  iree_atomic_int64_t start;   // on the host
  uint64_t ticks[2];           // of the device; 0: not known
  hal_profile_span_t spans[];  // by command
};

static iree_atomic_uint64_t last_allocation;

uint64_t hal_profile_new_allocation(void) {
  return iree_atomic_fetch_add(&last_allocation, 1, iree_memory_order_relaxed) + 1;
}

//===----------------------------------------------------------------------------------------------------------------===
// Watching
//===----------------------------------------------------------------------------------------------------------------===

// Operations of an operation: commands, with barriers.
static uint32_t count_operations(const hal_profile_program_t* program) {
  uint32_t count = program->command_count;
  for (uint32_t i = 0; i < program->command_count; ++i) {
    hal_profile_command_t command = {0};
    program->describe(program->commands, i, &command);
    count += command.waits;
  }
  return iree_max(count, 1);
}

static void set_event(hal_profile_operation_t* op, const hal_profile_submission_t* submission, int64_t now) {
  hal_profile_t* profile = op->profile;
  iree_hal_profile_queue_event_t* event = &op->event;
  *event = iree_hal_profile_queue_event_default();
  event->type = submission->type;
  event->host_time_ns = now;
  event->stream_id = op->queue->bit;
  event->physical_device_ordinal = op->queue->physical;
  event->queue_ordinal = op->queue->ordinal;
  event->wait_count = (uint32_t)submission->waits.count;
  event->signal_count = (uint32_t)submission->signals.count;
  event->operation_count = count_operations(&submission->program);
  event->payload_length = submission->payload_length;
  if (submission->buffer) event->allocation_id = hal_transient_allocation(submission->buffer);
  iree_slim_mutex_lock(&profile->mutex);
  event->submission_id = ++profile->submissions;
  event->event_id = ++profile->events[PROFILE_QUEUE_EVENTS];
  event->command_buffer_id = profile_command_buffer(profile, &submission->program, op->queue);
  iree_slim_mutex_unlock(&profile->mutex);
}

// Whether the filter takes a command; `index` as records have it.
static bool is_taken(const hal_profile_operation_t* op, const hal_profile_command_t* command, uint32_t index) {
  return iree_hal_profile_capture_filter_matches_location(&op->profile->filter, op->event.command_buffer_id, index,
                                                          op->queue->physical, op->queue->ordinal) &&
         profile_takes_function(op->profile, command);
}

// What times, counts and traces dispatches. On the host, nothing but counters.
static void make_timers(hal_profile_operation_t* op) {
  const hal_profile_interface_t* interface = op->profile->interface;
  bool counts = profile_wants(op->profile, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES);
  if (!(interface->make_timer || counts) || !profile_wants(op->profile, PROFILE_TICKS)) return;
  if (interface->times_operations) {
    bool is_wanted = profile_wants(op->profile, IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS);
    if (is_wanted && op->program.command_count) op->timer = interface->make_timer(op->device, op->queue);
    if (!profile_wants(op->profile, IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS)) return;
  }
  for (uint32_t i = 0, index = 0; i < op->program.command_count; ++i, ++index) {
    hal_profile_command_t command = {0};
    op->program.describe(op->program.commands, i, &command);
    index += command.waits;
    if (command.type != IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH) continue;
    if (interface->make_timer) op->spans[i].timer = interface->make_timer(op->device, op->queue);
    op->is_timed = true;
    if (!(counts || op->profile->tracing) || !is_taken(op, &command, index)) continue;
    if (counts) op->spans[i].sample = interface->counting->make_sample(op->profile->counting, op->queue);
    if (op->profile->tracing) op->spans[i].trace = profile_make_trace(op->profile, op->queue, command.executable);
  }
}

hal_profile_operation_t* hal_profile_submit_watched(hal_queued_device_t* device,
                                                    const hal_profile_submission_t* submission) {
  int64_t now = iree_time_now();
  hal_profile_t* profile = profile_acquire(device);
  hal_profile_operation_t* op = NULL;
  if (!profile) return NULL;
  iree_status_t status = iree_allocator_malloc_struct_array(
      profile->host_allocator, sizeof(*op), submission->program.command_count, sizeof(op->spans[0]), (void**)&op);
  if (!iree_status_is_ok(status)) {
    iree_status_free(status);
    iree_slim_mutex_lock(&profile->mutex);
    ++profile->records[PROFILE_QUEUE_EVENTS].dropped;
    iree_slim_mutex_unlock(&profile->mutex);
    profile_release(profile);
    return NULL;
  }
  op->profile = profile;
  op->queue = profile_queue(profile, submission->queue_affinity);
  op->device = device;
  op->program = submission->program;
  set_event(op, submission, now);
  make_timers(op);
  return op;
}

void hal_profile_ready(hal_profile_operation_t* op, bool on_device) {
  iree_hal_profile_queue_event_t* event = &op->event;
  if (op->is_ready) return;
  op->is_ready = true;
  event->ready_host_time_ns = iree_time_now();
  if (on_device) event->dependency_strategy = IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_DEVICE_BARRIER;
}

void hal_profile_defer(hal_profile_operation_t* op) {
  op->event.dependency_strategy = IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_SOFTWARE_DEFER;
  op->event.flags |= IREE_HAL_PROFILE_QUEUE_EVENT_FLAG_SOFTWARE_DEFERRED;
}

void hal_profile_start(hal_profile_operation_t* op) {
  int64_t expected = 0;
  iree_atomic_compare_exchange_strong(&op->start, &expected, iree_time_now(), iree_memory_order_relaxed,
                                      iree_memory_order_relaxed);
}

void hal_profile_piece(hal_profile_operation_t* op, uint32_t command, uint64_t count, iree_time_t start,
                       iree_time_t end) {
  hal_profile_span_t* span = &op->spans[command];
  int64_t first = iree_atomic_load(&span->start, iree_memory_order_relaxed);
  int64_t last = iree_atomic_load(&span->end, iree_memory_order_relaxed);
  while ((!first || first > start) &&
         !iree_atomic_compare_exchange_weak(&span->start, &first, start, iree_memory_order_relaxed,
                                            iree_memory_order_relaxed)) {
  }
  while (last < end && !iree_atomic_compare_exchange_weak(&span->end, &last, end, iree_memory_order_relaxed,
                                                          iree_memory_order_relaxed)) {
  }
  iree_atomic_fetch_add(&span->pieces, count, iree_memory_order_relaxed);
  iree_atomic_fetch_add(&span->sum, (uint64_t)(end - start), iree_memory_order_relaxed);
}

void hal_profile_set_command_ticks(hal_profile_operation_t* op, uint32_t command, uint64_t start, uint64_t end) {
  op->spans[command].start = (int64_t)start;
  op->spans[command].end = (int64_t)end;
}

void hal_profile_set_ticks(hal_profile_operation_t* op, uint64_t start, uint64_t end) {
  if (!op->ticks[0]) op->ticks[0] = start;  // the first part's
  op->ticks[1] = end;
}

bool hal_profile_is_timed_watched(const hal_profile_operation_t* op) { return op->is_timed; }

uint64_t hal_profile_timer(const hal_profile_operation_t* op, uint32_t command) { return op->spans[command].timer; }

uint64_t hal_profile_sample_watched(const hal_profile_operation_t* op, uint32_t command) {
  return op->spans[command].sample;
}

void* hal_profile_counting(const hal_profile_operation_t* op) { return op->profile->counting; }

uint64_t hal_profile_trace_watched(const hal_profile_operation_t* op, uint32_t command) {
  return op->spans[command].trace;
}

uint64_t hal_profile_operation_timer_watched(const hal_profile_operation_t* op) { return op->timer; }

void hal_profile_drop_operation(hal_profile_operation_t* op) {
  if (!op) return;
  iree_allocator_t host_allocator = op->profile->host_allocator;
  for (uint32_t i = 0; i < op->program.command_count && op->is_timed; ++i) {
    const hal_profile_interface_t* interface = op->profile->interface;
    if (op->spans[i].timer) interface->free_timer(op->device, op->spans[i].timer);
    if (op->spans[i].sample) interface->counting->free_sample(op->profile->counting, op->spans[i].sample);
    if (op->spans[i].trace) interface->tracing->free_trace(op->profile->tracing, op->spans[i].trace);
  }
  if (op->timer) op->profile->interface->free_timer(op->device, op->timer);
  profile_release(op->profile);
  iree_allocator_free(host_allocator, op);
}

//===----------------------------------------------------------------------------------------------------------------===
// The end: commands
//===----------------------------------------------------------------------------------------------------------------===

static bool is_on_host(const hal_profile_t* profile) { return profile->interface->runs_on_host; }

static iree_hal_profile_host_execution_event_t make_host_event(const hal_profile_operation_t* op) {
  iree_hal_profile_host_execution_event_t event = iree_hal_profile_host_execution_event_default();
  event.type = op->event.type;
  event.submission_id = op->event.submission_id;
  event.command_buffer_id = op->event.command_buffer_id;
  event.allocation_id = op->event.allocation_id;
  event.stream_id = op->event.stream_id;
  event.physical_device_ordinal = op->event.physical_device_ordinal;
  event.queue_ordinal = op->event.queue_ordinal;
  if (event.command_buffer_id) event.flags |= IREE_HAL_PROFILE_HOST_EXECUTION_EVENT_FLAG_COMMAND_BUFFER;
  if (op->event.flags & IREE_HAL_PROFILE_QUEUE_EVENT_FLAG_SOFTWARE_DEFERRED) {
    event.flags |= IREE_HAL_PROFILE_HOST_EXECUTION_EVENT_FLAG_DEFERRED;
  }
  return event;
}

static void append_host_event(hal_profile_t* profile, iree_hal_profile_host_execution_event_t* event) {
  event->event_id = ++profile->events[PROFILE_HOST_EVENTS];
  profile_append(profile, PROFILE_HOST_EVENTS, event, sizeof(*event));
}

static void tell_host_dispatch(const hal_profile_operation_t* op, const hal_profile_command_t* command, uint32_t index,
                               const hal_profile_span_t* span, uint32_t status_code) {
  iree_hal_profile_host_execution_event_t event = make_host_event(op);
  event.type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH;
  event.status_code = status_code;
  event.executable_id = profile_executable(op->profile, command->executable);
  event.function_ordinal = command->function;
  if (op->event.command_buffer_id) event.command_index = index;
  memcpy(event.workgroup_count, command->workgroup_count, sizeof(event.workgroup_count));
  memcpy(event.workgroup_size, command->workgroup_size, sizeof(event.workgroup_size));
  event.start_host_time_ns = span->start;
  event.end_host_time_ns = span->end;
  event.tile_count = span->pieces;
  event.tile_duration_sum_ns = (int64_t)span->sum;
  event.operation_count = 1;
  append_host_event(op->profile, &event);
}

// What a submission led to on the device, where its queue events are collected, too.
static void tell_relationship(const hal_profile_operation_t* op, iree_hal_profile_event_relationship_type_t type,
                              iree_hal_profile_event_endpoint_type_t target, uint64_t event_id) {
  hal_profile_t* profile = op->profile;
  if (!profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS)) return;
  iree_hal_profile_event_relationship_record_t record = iree_hal_profile_event_relationship_record_default();
  record.type = type;
  record.relationship_id = ++profile->events[PROFILE_RELATIONSHIPS];
  record.source_type = IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_QUEUE_SUBMISSION;
  record.target_type = target;
  record.physical_device_ordinal = op->queue->physical;
  record.queue_ordinal = op->queue->ordinal;
  record.stream_id = op->event.stream_id;
  record.source_id = op->event.submission_id;
  record.target_id = event_id;
  profile_append(profile, PROFILE_RELATIONSHIPS, &record, sizeof(record));
}

// Which dispatch a record of counters, or of a trace, is of: both name it alike.
#define NAME_DISPATCH(record, op, event)                       \
  do {                                                         \
    (record)->dispatch_event_id = (event)->event_id;           \
    (record)->submission_id = (event)->submission_id;          \
    (record)->command_buffer_id = (event)->command_buffer_id;  \
    (record)->executable_id = (event)->executable_id;          \
    (record)->stream_id = (op)->queue->bit;                    \
    (record)->command_index = (event)->command_index;          \
    (record)->function_ordinal = (event)->function_ordinal;    \
    (record)->physical_device_ordinal = (op)->queue->physical; \
    (record)->queue_ordinal = (op)->queue->ordinal;            \
  } while (0)

static void tell_sample(const hal_profile_operation_t* op, const iree_hal_profile_dispatch_event_t* event,
                        uint64_t sample) {
  iree_hal_profile_counter_sample_record_t record = iree_hal_profile_counter_sample_record_default();
  record.scope = IREE_HAL_PROFILE_COUNTER_SAMPLE_SCOPE_DISPATCH;
  record.flags = IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_DISPATCH_EVENT;
  if (event->command_buffer_id) record.flags |= IREE_HAL_PROFILE_COUNTER_SAMPLE_FLAG_COMMAND_OPERATION;
  NAME_DISPATCH(&record, op, event);
  profile_append_sample(op->profile, &record, sample);
}

static void tell_trace(const hal_profile_operation_t* op, const iree_hal_profile_dispatch_event_t* event,
                       uint64_t trace) {
  iree_hal_profile_executable_trace_record_t record = iree_hal_profile_executable_trace_record_default();
  record.flags = IREE_HAL_PROFILE_EXECUTABLE_TRACE_FLAG_DISPATCH_EVENT;
  if (event->command_buffer_id) record.flags |= IREE_HAL_PROFILE_EXECUTABLE_TRACE_FLAG_COMMAND_OPERATION;
  NAME_DISPATCH(&record, op, event);
  profile_append_trace(op->profile, &record, trace);
}

static void tell_device_dispatch(const hal_profile_operation_t* op, const hal_profile_command_t* command,
                                 uint32_t index, const hal_profile_span_t* span) {
  iree_hal_profile_dispatch_event_t event = iree_hal_profile_dispatch_event_default();
  event.event_id = ++op->profile->events[PROFILE_DISPATCH_EVENTS];
  event.submission_id = op->event.submission_id;
  event.command_buffer_id = op->event.command_buffer_id;
  event.executable_id = profile_executable(op->profile, command->executable);
  event.function_ordinal = command->function;
  if (event.command_buffer_id) {
    event.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_COMMAND_BUFFER;
    event.command_index = index;
  }
  if (command->flags & IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_INDIRECT_PARAMETERS) {
    event.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_INDIRECT_PARAMETERS;
  }
  memcpy(event.workgroup_count, command->workgroup_count, sizeof(event.workgroup_count));
  memcpy(event.workgroup_size, command->workgroup_size, sizeof(event.workgroup_size));
  event.start_tick = (uint64_t)span->start;
  event.end_tick = (uint64_t)span->end;
  profile_append_dispatch(op->profile, op->queue, &event);
  tell_relationship(op, IREE_HAL_PROFILE_EVENT_RELATIONSHIP_TYPE_QUEUE_SUBMISSION_DISPATCH,
                    IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_DISPATCH_EVENT, event.event_id);
  if (span->sample) tell_sample(op, &event, span->sample);
  if (span->trace) tell_trace(op, &event, span->trace);
}

// What is between two barriers.
typedef struct region_t {
  int32_t index;
  uint32_t dispatches;
  uint64_t tiles;
  int64_t start, end;
} region_t;

static void tell_region(const hal_profile_operation_t* op, const region_t* region, const region_t* next) {
  iree_hal_profile_command_region_event_t event = iree_hal_profile_command_region_event_default();
  uint32_t workers = op->profile->worker_count;
  if (!region->start) return;
  event.event_id = ++op->profile->events[PROFILE_REGION_EVENTS];
  event.flags = IREE_HAL_PROFILE_COMMAND_REGION_EVENT_FLAG_COMMAND_BUFFER;
  event.submission_id = op->event.submission_id;
  event.command_buffer_id = op->event.command_buffer_id;
  event.stream_id = op->event.stream_id;
  event.queue.physical_device_ordinal = op->queue->physical;
  event.queue.queue_ordinal = op->queue->ordinal;
  event.command_region.epoch = (uint32_t)region->index + 1;
  event.command_region.index = region->index;
  event.command_region.dispatch_count = region->dispatches;
  event.command_region.tile_count = (uint32_t)iree_min(region->tiles, UINT32_MAX);
  event.command_region.width_bucket = (uint32_t)iree_min(region->tiles, workers);
  event.command_region.start_host_time_ns = region->start;
  event.command_region.end_host_time_ns = region->end;
  event.command_region.first_useful_drain_start_host_time_ns = region->start;
  event.command_region.last_useful_drain_end_host_time_ns = region->end;
  event.scheduler.worker_count = workers;
  if (next) {
    event.flags |= IREE_HAL_PROFILE_COMMAND_REGION_EVENT_FLAG_HAS_NEXT_REGION;
    event.next_command_region.index = next->index;
    event.next_command_region.tile_count = (uint32_t)iree_min(next->tiles, UINT32_MAX);
    event.next_command_region.width_bucket = (uint32_t)iree_min(next->tiles, workers);
  } else {
    event.flags |= IREE_HAL_PROFILE_COMMAND_REGION_EVENT_FLAG_TERMINAL;
  }
  profile_append(op->profile, PROFILE_REGION_EVENTS, &event, sizeof(event));
}

static void add_to_region(region_t* region, const hal_profile_command_t* command, const hal_profile_span_t* span) {
  region->dispatches += command->type == IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH;
  region->tiles += span->pieces;
  if (span->start && (!region->start || region->start > span->start)) region->start = span->start;
  region->end = iree_max(region->end, span->end);
}

static void tell_command(const hal_profile_operation_t* op, const hal_profile_command_t* command, uint32_t index,
                         const hal_profile_span_t* span, uint32_t status_code) {
  const hal_profile_t* profile = op->profile;
  if (command->type != IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH || !span->start) return;
  bool tells_host = is_on_host(profile) && profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS);
  bool tells_device = profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS);
  if (!(tells_host || tells_device) || !is_taken(op, command, index)) return;
  if (tells_host) tell_host_dispatch(op, command, index, span, status_code);
  if (tells_device) tell_device_dispatch(op, command, index, span);
}

static void tell_commands(hal_profile_operation_t* op, uint32_t status_code) {
  bool tells_regions =
      profile_wants(op->profile, IREE_HAL_DEVICE_PROFILING_DATA_COMMAND_REGION_EVENTS) && op->event.command_buffer_id;
  region_t region = {0}, last = {.index = -1};
  for (uint32_t i = 0, index = 0; i < op->program.command_count; ++i, ++index) {
    hal_profile_command_t command = {0};
    op->program.describe(op->program.commands, i, &command);
    if (command.waits) {
      if (tells_regions && last.index >= 0) tell_region(op, &last, &region);
      last = region;
      region = (region_t){.index = last.index + 1};
      ++index;
    }
    add_to_region(&region, &command, &op->spans[i]);
    tell_command(op, &command, index, &op->spans[i], status_code);
  }
  if (!tells_regions || !op->program.command_count) return;
  if (last.index >= 0) tell_region(op, &last, &region);
  tell_region(op, &region, NULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// The end: operations
//===----------------------------------------------------------------------------------------------------------------===

// A single dispatch has told everything itself.
static void tell_host_operation(hal_profile_operation_t* op, int64_t end, uint32_t status_code) {
  bool is_single_dispatch = op->event.type == IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH && op->program.command_count;
  if (!op->start || is_single_dispatch) return;
  iree_hal_profile_host_execution_event_t event = make_host_event(op);
  event.status_code = status_code;
  event.payload_length = op->event.payload_length;
  event.operation_count = op->event.operation_count;
  event.start_host_time_ns = op->start;
  event.end_host_time_ns = end;
  append_host_event(op->profile, &event);
}

static void tell_device_operation(hal_profile_operation_t* op) {
  iree_hal_profile_queue_device_event_t event = iree_hal_profile_queue_device_event_default();
  if (!op->ticks[0]) return;
  event.type = op->event.type;
  event.event_id = ++op->profile->events[PROFILE_DEVICE_EVENTS];
  event.submission_id = op->event.submission_id;
  event.command_buffer_id = op->event.command_buffer_id;
  event.allocation_id = op->event.allocation_id;
  event.stream_id = op->event.stream_id;
  event.payload_length = op->event.payload_length;
  event.physical_device_ordinal = op->queue->physical;
  event.queue_ordinal = op->queue->ordinal;
  event.operation_count = op->event.operation_count;
  event.start_tick = op->ticks[0];
  event.end_tick = op->ticks[1];
  profile_append(op->profile, PROFILE_DEVICE_EVENTS, &event, sizeof(event));
  tell_relationship(op, IREE_HAL_PROFILE_EVENT_RELATIONSHIP_TYPE_QUEUE_SUBMISSION_QUEUE_DEVICE_EVENT,
                    IREE_HAL_PROFILE_EVENT_ENDPOINT_TYPE_QUEUE_DEVICE_EVENT, event.event_id);
}

void hal_profile_end_operation(hal_profile_operation_t* op, iree_status_t status) {
  hal_profile_t* profile = op->profile;
  int64_t end = iree_time_now();
  uint32_t status_code = (uint32_t)iree_status_code(status);
  if (!op->is_ready) op->event.ready_host_time_ns = end;
  if (!op->event.dependency_strategy && op->event.wait_count) {
    op->event.dependency_strategy = IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_INLINE;
  }
  if (is_on_host(profile)) hal_profile_set_ticks(op, (uint64_t)op->start, (uint64_t)end);
  iree_slim_mutex_lock(&profile->mutex);
  if (profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS)) {
    profile_append(profile, PROFILE_QUEUE_EVENTS, &op->event, sizeof(op->event));
  }
  tell_commands(op, status_code);
  bool is_taken = iree_hal_profile_capture_filter_matches_location(&profile->filter, op->event.command_buffer_id,
                                                                   UINT32_MAX, op->queue->physical, op->queue->ordinal);
  if (is_taken && profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS)) {
    tell_host_operation(op, end, status_code);
  }
  if (is_taken && profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS)) tell_device_operation(op);
  iree_slim_mutex_unlock(&profile->mutex);
  hal_profile_drop_operation(op);
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory
//===----------------------------------------------------------------------------------------------------------------===

void profile_append_memory(hal_profile_t* profile, const hal_profile_memory_t* memory) {
  const hal_profile_queue_t* queue = profile_queue(profile, memory->queue_affinity);
  iree_hal_profile_memory_event_t event = iree_hal_profile_memory_event_default();
  event.type = memory->type;
  event.flags = memory->flags;
  event.event_id = ++profile->events[PROFILE_MEMORY_EVENTS];
  event.host_time_ns = iree_time_now();
  event.allocation_id = memory->allocation_id;
  event.pool_id = memory->pool_id;
  event.backing_id = memory->backing_id;
  event.physical_device_ordinal = queue->physical;
  if (memory->flags & IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_QUEUE_OPERATION) event.queue_ordinal = queue->ordinal;
  event.memory_type = memory->memory_type;
  event.buffer_usage = memory->buffer_usage;
  event.offset = memory->offset;
  event.length = memory->length;
  event.alignment = memory->alignment;
  event.pool_bytes_reserved = memory->bytes_reserved;
  event.pool_bytes_free = memory->bytes_free;
  event.pool_bytes_committed = memory->bytes_committed;
  profile_append(profile, PROFILE_MEMORY_EVENTS, &event, sizeof(event));
}

void hal_profile_memory_watched(hal_queued_device_t* device, const hal_profile_memory_t* memory) {
  hal_profile_t* profile = profile_acquire(device);
  if (!profile) return;
  if (profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS)) {
    iree_slim_mutex_lock(&profile->mutex);
    profile_append_memory(profile, memory);
    iree_slim_mutex_unlock(&profile->mutex);
  }
  profile_release(profile);
}
