// Statistics of profiles: rows, and what each record adds to them.
#include "hal/detail.h"
#include "iree/hal/utils/profile_records.h"
#include "iree/hal/utils/statistics_sink.h"

typedef iree_hal_profile_statistics_row_t row_t;

typedef struct function_name_t {
  uint64_t executable_id;
  uint32_t function_ordinal;
  uint32_t length;
  char* text;
} function_name_t;

struct iree_hal_profile_statistics_sink_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_host_size_t row_count, row_capacity;
  row_t* rows;
  iree_host_size_t place_capacity;  // of a hash table; a power of two, or 0
  uint32_t* places;                 // number of a row plus 1; 0: none
  iree_host_size_t name_count, name_capacity;
  function_name_t* names;
  iree_host_size_t clock_count, clock_capacity;
  iree_hal_profile_clock_t* clocks;  // by physical device
  uint64_t dropped;
};

typedef iree_hal_profile_statistics_sink_t sink_t;

//===----------------------------------------------------------------------------------------------------------------===
// Rows
//===----------------------------------------------------------------------------------------------------------------===

// What a row is looked up by: everything before its counts, without the flags.
static bool is_same(const row_t* a, const row_t* b) {
  return a->row_type == b->row_type && a->time_domain == b->time_domain &&
         a->physical_device_ordinal == b->physical_device_ordinal && a->queue_ordinal == b->queue_ordinal &&
         a->event_type == b->event_type && a->executable_id == b->executable_id &&
         a->command_buffer_id == b->command_buffer_id && a->function_ordinal == b->function_ordinal &&
         a->command_index == b->command_index;
}

static uint64_t hash(const row_t* row) {
  const uint64_t parts[] = {
      row->row_type,      row->physical_device_ordinal, row->queue_ordinal,    row->event_type,
      row->executable_id, row->command_buffer_id,       row->function_ordinal, row->command_index};
  uint64_t h = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(parts); ++i) h = (h ^ parts[i]) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
  return h;
}

static uint32_t* find_place(const sink_t* sink, const row_t* key) {
  iree_host_size_t mask = sink->place_capacity - 1, i = (iree_host_size_t)hash(key) & mask;
  while (sink->places[i] && !is_same(&sink->rows[sink->places[i] - 1], key)) i = (i + 1) & mask;
  return &sink->places[i];
}

static iree_status_t grow(sink_t* sink) {
  if (sink->row_count == sink->row_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(sink->host_allocator, 64, sizeof(*sink->rows), &sink->row_capacity,
                                                   (void**)&sink->rows));
  }
  if (sink->row_count * 2 < sink->place_capacity) return iree_ok_status();
  uint32_t* places = NULL;
  iree_host_size_t capacity = iree_max(sink->place_capacity * 2, 128);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(sink->host_allocator, capacity, sizeof(*places), (void**)&places));
  iree_allocator_free(sink->host_allocator, sink->places);
  sink->places = places;
  sink->place_capacity = capacity;
  for (iree_host_size_t i = 0; i < sink->row_count; ++i) *find_place(sink, &sink->rows[i]) = (uint32_t)i + 1;
  return iree_ok_status();
}

static uint64_t add(uint64_t a, uint64_t b) { return b > UINT64_MAX - a ? UINT64_MAX : a + b; }

// One sample: `start` and `end` are a time when `is_timed`.
typedef struct sample_t {
  bool is_timed;
  uint64_t start, end;
  uint64_t operations, bytes, tiles, tile_ns;
} sample_t;

static iree_status_t add_sample(sink_t* sink, row_t key, const sample_t* sample) {
  IREE_RETURN_IF_ERROR(grow(sink));
  uint32_t* place = find_place(sink, &key);
  if (!*place) {
    key.first_start_time = key.minimum_duration = UINT64_MAX;
    sink->rows[sink->row_count] = key;
    *place = (uint32_t)++sink->row_count;
  }
  row_t* row = &sink->rows[*place - 1];
  ++row->sample_count;
  row->operation_count = add(row->operation_count, sample->operations);
  row->payload_bytes = add(row->payload_bytes, sample->bytes);
  if (sample->operations) row->flags |= IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_OPERATION_COUNT;
  if (sample->bytes) row->flags |= IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_PAYLOAD_BYTES;
  if (sample->tiles) {
    row->tile_count = add(row->tile_count, sample->tiles);
    row->tile_duration_sum_ns = add(row->tile_duration_sum_ns, sample->tile_ns);
    row->flags |= IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_TILE_TOTALS;
  }
  if (!sample->is_timed || sample->end < sample->start) {
    ++row->invalid_sample_count;
    return iree_ok_status();
  }
  uint64_t duration = sample->end - sample->start;
  row->flags |= IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_TIMING;
  row->total_duration = add(row->total_duration, duration);
  row->first_start_time = iree_min(row->first_start_time, sample->start);
  row->last_end_time = iree_max(row->last_end_time, sample->end);
  row->minimum_duration = iree_min(row->minimum_duration, duration);
  row->maximum_duration = iree_max(row->maximum_duration, duration);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Records
//===----------------------------------------------------------------------------------------------------------------===

static row_t make_key(iree_hal_profile_statistics_row_type_t type, iree_hal_profile_statistics_time_domain_t domain,
                      uint32_t physical, uint32_t queue) {
  return (row_t){
      .row_type = type,
      .time_domain = domain,
      .physical_device_ordinal = physical,
      .queue_ordinal = queue,
      .function_ordinal = UINT32_MAX,
      .command_index = UINT32_MAX,
  };
}

// What a dispatch, or work of the host, is a sample of: its function, its command buffer, its command.
static iree_status_t add_execution(sink_t* sink, row_t key, iree_hal_profile_statistics_row_type_t first_type,
                                   const sample_t* sample) {
  row_t function = key, command_buffer = key;
  function.row_type = first_type;
  function.command_buffer_id = 0;
  function.command_index = UINT32_MAX;
  command_buffer.row_type = first_type + 1;
  command_buffer.executable_id = 0;
  command_buffer.function_ordinal = command_buffer.command_index = UINT32_MAX;
  if (key.executable_id && key.function_ordinal != UINT32_MAX) {
    IREE_RETURN_IF_ERROR(add_sample(sink, function, sample));
  }
  if (!key.command_buffer_id) return iree_ok_status();
  IREE_RETURN_IF_ERROR(add_sample(sink, command_buffer, sample));
  if (key.command_index == UINT32_MAX) return iree_ok_status();
  key.row_type = first_type + 2;
  return add_sample(sink, key, sample);
}

static iree_status_t add_dispatch(sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata, const void* record,
                                  iree_const_byte_span_t trailing) {
  const iree_hal_profile_dispatch_event_t* event = record;
  row_t key = make_key(0, IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_DEVICE_TICK, metadata->physical_device_ordinal,
                       metadata->queue_ordinal);
  key.executable_id = event->executable_id;
  key.function_ordinal = event->function_ordinal;
  key.command_buffer_id = event->command_buffer_id;
  key.command_index = event->command_index;
  sample_t sample = {.is_timed = event->start_tick != 0, .start = event->start_tick, .end = event->end_tick};
  return add_execution(sink, key, IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_DISPATCH_FUNCTION, &sample);
}

static iree_status_t add_queue_device_event(sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata,
                                            const void* record, iree_const_byte_span_t trailing) {
  const iree_hal_profile_queue_device_event_t* event = record;
  row_t key = make_key(IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_QUEUE_DEVICE_OPERATION,
                       IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_DEVICE_TICK, event->physical_device_ordinal,
                       event->queue_ordinal);
  key.event_type = event->type;
  key.command_buffer_id = event->command_buffer_id;
  return add_sample(sink, key,
                    &(sample_t){
                        .is_timed = event->start_tick != 0,
                        .start = event->start_tick,
                        .end = event->end_tick,
                        .operations = event->operation_count,
                        .bytes = event->payload_length,
                    });
}

static bool is_host_span(int64_t start, int64_t end) { return start >= 0 && end >= start; }

static iree_status_t add_queue_event(sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata,
                                     const void* record, iree_const_byte_span_t trailing) {
  const iree_hal_profile_queue_event_t* event = record;
  row_t key = make_key(IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_QUEUE_HOST_OPERATION,
                       IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_IREE_HOST_TIME_NS, event->physical_device_ordinal,
                       event->queue_ordinal);
  key.event_type = event->type;
  key.command_buffer_id = event->command_buffer_id;
  return add_sample(sink, key,
                    &(sample_t){
                        .is_timed = is_host_span(event->host_time_ns, event->ready_host_time_ns),
                        .start = (uint64_t)event->host_time_ns,
                        .end = (uint64_t)event->ready_host_time_ns,
                        .operations = event->operation_count,
                        .bytes = event->payload_length,
                    });
}

static iree_status_t add_host_event(sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata, const void* record,
                                    iree_const_byte_span_t trailing) {
  const iree_hal_profile_host_execution_event_t* event = record;
  row_t key = make_key(IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_QUEUE_OPERATION,
                       IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_IREE_HOST_TIME_NS, event->physical_device_ordinal,
                       event->queue_ordinal);
  sample_t sample = {
      .is_timed = is_host_span(event->start_host_time_ns, event->end_host_time_ns),
      .start = (uint64_t)event->start_host_time_ns,
      .end = (uint64_t)event->end_host_time_ns,
      .operations = event->operation_count,
      .bytes = event->payload_length,
      .tiles = event->tile_count,
      .tile_ns = event->tile_duration_sum_ns > 0 ? (uint64_t)event->tile_duration_sum_ns : 0,
  };
  key.command_buffer_id = event->command_buffer_id;
  row_t queue = key;
  queue.event_type = event->type;
  IREE_RETURN_IF_ERROR(add_sample(sink, queue, &sample));
  key.executable_id = event->executable_id;
  key.function_ordinal = event->function_ordinal;
  key.command_index = event->command_index;
  return add_execution(sink, key, IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_HOST_EXECUTION_FUNCTION, &sample);
}

static iree_status_t add_memory_event(sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata,
                                      const void* record, iree_const_byte_span_t trailing) {
  const iree_hal_profile_memory_event_t* event = record;
  row_t key =
      make_key(IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_MEMORY_LIFECYCLE, IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_NONE,
               event->physical_device_ordinal, event->queue_ordinal);
  key.event_type = event->type;
  return add_sample(sink, key, &(sample_t){.bytes = event->length});
}

static iree_status_t add_function(sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata, const void* record,
                                  iree_const_byte_span_t trailing) {
  const iree_hal_profile_executable_function_record_t* function = record;
  if (function->name_length > trailing.data_length) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the name of a function is longer than its profile record");
  }
  if (sink->name_count == sink->name_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(sink->host_allocator, 64, sizeof(*sink->names), &sink->name_capacity,
                                                   (void**)&sink->names));
  }
  function_name_t name = {function->executable_id, function->function_ordinal, function->name_length, NULL};
  if (name.length) {
    IREE_RETURN_IF_ERROR(iree_allocator_clone(
        sink->host_allocator, iree_make_const_byte_span(trailing.data, name.length), (void**)&name.text));
  }
  sink->names[sink->name_count++] = name;
  return iree_ok_status();
}

static iree_status_t add_clock(sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata, const void* record,
                               iree_const_byte_span_t trailing) {
  const iree_hal_profile_clock_correlation_record_t* clock = record;
  uint32_t physical = clock->physical_device_ordinal;
  if (physical >= 1024) return iree_ok_status();  // nobody has so many
  while (sink->clock_count <= physical) {
    if (sink->clock_count == sink->clock_capacity) {
      IREE_RETURN_IF_ERROR(iree_allocator_grow_array(sink->host_allocator, 8, sizeof(*sink->clocks),
                                                     &sink->clock_capacity, (void**)&sink->clocks));
    }
    sink->clocks[sink->clock_count++] = (iree_hal_profile_clock_t){0};
  }
  iree_hal_profile_clock_add(&sink->clocks[physical], clock);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// The sink
//===----------------------------------------------------------------------------------------------------------------===

static void statistics_destroy(iree_hal_profile_sink_t* base) {
  sink_t* sink = (sink_t*)base;
  for (iree_host_size_t i = 0; i < sink->name_count; ++i)
    iree_allocator_free(sink->host_allocator, sink->names[i].text);
  iree_allocator_free(sink->host_allocator, sink->names);
  iree_allocator_free(sink->host_allocator, sink->clocks);
  iree_allocator_free(sink->host_allocator, sink->places);
  iree_allocator_free(sink->host_allocator, sink->rows);
  iree_allocator_free(sink->host_allocator, sink);
}

static iree_status_t ignore_begin(iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* metadata) {
  return iree_ok_status();
}

static iree_status_t ignore_end(iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* metadata,
                                iree_status_code_t session_status_code) {
  return iree_ok_status();
}

typedef iree_status_t (*add_fn_t)(sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata, const void* record,
                                  iree_const_byte_span_t trailing);

typedef union record_t {
  iree_hal_profile_dispatch_event_t dispatch;
  iree_hal_profile_host_execution_event_t host;
  iree_hal_profile_memory_event_t memory;
} record_t;

static iree_status_t statistics_write(iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* metadata,
                                      iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs) {
  const struct {
    iree_string_view_t content_type;
    size_t length;
    add_fn_t add;
  } kinds[] = {
      {IREE_HAL_PROFILE_CONTENT_TYPE_DISPATCH_EVENTS, sizeof(iree_hal_profile_dispatch_event_t), add_dispatch},
      {IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_DEVICE_EVENTS, sizeof(iree_hal_profile_queue_device_event_t),
       add_queue_device_event},
      {IREE_HAL_PROFILE_CONTENT_TYPE_QUEUE_EVENTS, sizeof(iree_hal_profile_queue_event_t), add_queue_event},
      {IREE_HAL_PROFILE_CONTENT_TYPE_HOST_EXECUTION_EVENTS, sizeof(iree_hal_profile_host_execution_event_t),
       add_host_event},
      {IREE_HAL_PROFILE_CONTENT_TYPE_MEMORY_EVENTS, sizeof(iree_hal_profile_memory_event_t), add_memory_event},
      {IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_FUNCTIONS, sizeof(iree_hal_profile_executable_function_record_t),
       add_function},
      {IREE_HAL_PROFILE_CONTENT_TYPE_CLOCK_CORRELATIONS, sizeof(iree_hal_profile_clock_correlation_record_t),
       add_clock},
  };
  sink_t* sink = (sink_t*)base;
  sink->dropped = add(sink->dropped, metadata->dropped_record_count);
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) {
    if (!iree_string_view_equal(kinds[i].content_type, metadata->content_type)) continue;
    for (iree_host_size_t j = 0; j < iovec_count; ++j) {
      iree_const_byte_span_t payload = iovecs[j], trailing;
      while (payload.data_length) {
        record_t record;
        IREE_RETURN_IF_ERROR(iree_hal_profile_take_record(&payload, kinds[i].length, &record, &trailing));
        IREE_RETURN_IF_ERROR(kinds[i].add(sink, metadata, &record, trailing));
      }
    }
  }
  return iree_ok_status();
}

static const iree_hal_profile_sink_vtable_t statistics_vtable = {
    .destroy = statistics_destroy,
    .begin_session = ignore_begin,
    .write = statistics_write,
    .end_session = ignore_end,
};

iree_status_t iree_hal_profile_statistics_sink_create(iree_allocator_t host_allocator, sink_t** out_sink) {
  sink_t* sink = NULL;
  *out_sink = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*sink), (void**)&sink));
  iree_hal_resource_initialize(&statistics_vtable, &sink->resource);
  sink->host_allocator = host_allocator;
  *out_sink = sink;
  return iree_ok_status();
}

iree_hal_profile_sink_t* iree_hal_profile_statistics_sink_base(sink_t* sink) { return (iree_hal_profile_sink_t*)sink; }

void iree_hal_profile_statistics_sink_retain(sink_t* sink) { iree_hal_resource_retain(sink); }

void iree_hal_profile_statistics_sink_release(sink_t* sink) { iree_hal_resource_release(sink); }

//===----------------------------------------------------------------------------------------------------------------===
// Looking at it
//===----------------------------------------------------------------------------------------------------------------===

iree_host_size_t iree_hal_profile_statistics_sink_row_count(const sink_t* sink) { return sink->row_count; }

uint64_t iree_hal_profile_statistics_sink_dropped_record_count(const sink_t* sink) { return sink->dropped; }

iree_status_t iree_hal_profile_statistics_sink_for_each_row(const sink_t* sink,
                                                            iree_hal_profile_statistics_row_callback_t callback) {
  for (iree_host_size_t i = 0; i < sink->row_count; ++i) {
    row_t row = sink->rows[i];
    if (row.first_start_time == UINT64_MAX) row.first_start_time = 0;
    if (row.minimum_duration == UINT64_MAX) row.minimum_duration = 0;
    IREE_RETURN_IF_ERROR(callback.fn(callback.user_data, &row));
  }
  return iree_ok_status();
}

bool iree_hal_profile_statistics_sink_find_function_name(const sink_t* sink, uint64_t executable_id,
                                                         uint32_t function_ordinal, iree_string_view_t* out_name) {
  for (iree_host_size_t i = 0; i < sink->name_count; ++i) {
    const function_name_t* name = &sink->names[i];
    if (name->executable_id != executable_id || name->function_ordinal != function_ordinal || !name->length) continue;
    *out_name = iree_make_string_view(name->text, name->length);
    return true;
  }
  *out_name = iree_string_view_empty();
  return false;
}

bool iree_hal_profile_statistics_sink_scale_duration_to_ns(const sink_t* sink, const row_t* row, uint64_t duration,
                                                           uint64_t* out_duration_ns) {
  *out_duration_ns = duration;
  if (row->time_domain == IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_IREE_HOST_TIME_NS) return true;
  *out_duration_ns = 0;
  return row->time_domain == IREE_HAL_PROFILE_STATISTICS_TIME_DOMAIN_DEVICE_TICK &&
         row->physical_device_ordinal < sink->clock_count &&
         iree_hal_profile_clock_scale(&sink->clocks[row->physical_device_ordinal], duration, out_duration_ns);
}
