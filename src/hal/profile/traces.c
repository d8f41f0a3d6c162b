// Traces of what dispatches executed: a driver's data becomes records, each a chunk of its own.
#include "hal/profile/session.h"

iree_status_t profile_begin_tracing(hal_queued_device_t* device, hal_profile_t* profile,
                                    const iree_hal_device_profiling_options_t* options) {
  if (!profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_TRACES)) return iree_ok_status();
  if (iree_hal_profile_capture_filter_is_default(&options->capture_filter)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "traces of each dispatch of %s devices would be very large; a filter says which are wanted "
                            "(--device_profiling_filter_function=, _command_buffer=, _command_index=, "
                            "_physical_device= or _queue=)",
                            profile->interface->kind);
  }
  return profile->interface->tracing->begin(device, &profile->tracing);
}

void profile_end_tracing(hal_profile_t* profile) {
  if (profile->tracing) profile->interface->tracing->end(profile->tracing);
}

static bool find_code(const hal_profile_t* profile, iree_hal_executable_t* executable, uint32_t physical,
                      hal_profile_code_t* out_code) {
  return profile->interface->tracing->find_code(executable, physical, out_code);
}

void profile_describe_code(hal_profile_t* profile, iree_hal_executable_t* executable, uint64_t id) {
  hal_profile_code_t code;
  if (!profile->tracing || !find_code(profile, executable, profile->queues[0].physical, &code)) return;
  iree_hal_profile_executable_code_object_record_t record = iree_hal_profile_executable_code_object_record_default();
  record.record_length += (uint32_t)code.data.data_length;
  record.executable_id = record.code_object_id = id;
  record.data_length = code.data.data_length;
  profile_append_with(profile, PROFILE_CODE_OBJECTS, &record, sizeof(record), code.data.data, code.data.data_length);
  for (uint32_t i = 0, seen = UINT32_MAX; i < profile->queue_count; ++i) {
    if (profile->queues[i].physical == seen) continue;  // queues of a device come together
    seen = profile->queues[i].physical;
    if (!find_code(profile, executable, seen, &code)) continue;
    iree_hal_profile_executable_code_object_load_record_t load =
        iree_hal_profile_executable_code_object_load_record_default();
    load.physical_device_ordinal = seen;
    load.executable_id = load.code_object_id = id;
    load.load_delta = code.load_delta;
    load.load_size = code.load_size;
    profile_append(profile, PROFILE_CODE_OBJECT_LOADS, &load, sizeof(load));
  }
}

uint64_t profile_make_trace(hal_profile_t* profile, const hal_profile_queue_t* queue,
                            iree_hal_executable_t* executable) {
  hal_profile_code_t code;
  iree_slim_mutex_lock(&profile->mutex);
  uint64_t id = profile_executable(profile, executable), trace = 0;
  if (id && find_code(profile, executable, queue->physical, &code)) {
    trace = profile->interface->tracing->make_trace(profile->tracing, queue, id, &code);
  }
  if (!trace) ++profile->records[PROFILE_TRACES].dropped;
  iree_slim_mutex_unlock(&profile->mutex);
  return trace;
}

// What records of a trace say but for their data.
typedef struct part_t {
  hal_profile_t* profile;
  iree_hal_profile_executable_trace_record_t* record;
  uint32_t count;
} part_t;

static void append_part(void* user_data, uint32_t shader_engine, const void* data, uint64_t length) {
  part_t* part = (part_t*)user_data;
  if (!length) return;
  part->record->shader_engine = shader_engine;
  part->record->data_length = length;
  profile_append_with(part->profile, PROFILE_TRACES, part->record, sizeof(*part->record), data, (size_t)length);
  ++part->count;
}

void profile_append_trace(hal_profile_t* profile, iree_hal_profile_executable_trace_record_t* record, uint64_t trace) {
  part_t part = {.profile = profile, .record = record};
  record->trace_id = ++profile->events[PROFILE_TRACES];
  record->format = profile->interface->tracing->format;
  bool is_read = profile->interface->tracing->read_trace(profile->tracing, trace, append_part, &part);
  if (!is_read || !part.count) ++profile->records[PROFILE_TRACES].dropped;
}

iree_status_t profile_write_traces(hal_profile_t* profile, const profile_records_t* records) {
  for (size_t at = 0; at < records->length;) {
    iree_hal_profile_executable_trace_record_t record;
    memcpy(&record, records->data + at, sizeof(record));
    iree_hal_profile_chunk_metadata_t metadata =
        profile_metadata(profile, IREE_HAL_PROFILE_CONTENT_TYPE_EXECUTABLE_TRACES);
    metadata.stream_id = record.stream_id;
    metadata.event_id = record.dispatch_event_id;
    metadata.executable_id = record.executable_id;
    metadata.command_buffer_id = record.command_buffer_id;
    metadata.physical_device_ordinal = record.physical_device_ordinal;
    metadata.queue_ordinal = record.queue_ordinal;
    size_t length = sizeof(record) + (size_t)record.data_length;
    iree_const_byte_span_t span = iree_make_const_byte_span(records->data + at, length);
    IREE_RETURN_IF_ERROR(iree_hal_profile_sink_write(profile->sink, &metadata, 1, &span));
    at += length;
  }
  if (!records->dropped) return iree_ok_status();
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                          "%" PRIu64
                          " dispatches have no trace: there was no memory for one, or it held nothing; "
                          "a narrower filter takes fewer",
                          records->dropped);
}
