// The summary of a profile.
#include "tooling/profile/reports.h"

typedef struct summary_t {
  const profile_bundle_t* bundle;
  uint64_t functions;
  uint64_t host_ns, invalid_host, region_ns, invalid_regions;
  uint64_t code_bytes, trace_bytes, metric_values, invalid_metrics;
  uint64_t sessions_begun, sessions_ended, failed_sessions;
} summary_t;

static void add_host_event(void* user_data, const profile_item_t* item) {
  const iree_hal_profile_host_execution_event_t* event = item->record;
  summary_t* summary = (summary_t*)user_data;
  if (profile_host_span_is_valid(event)) {
    summary->host_ns += (uint64_t)event->end_host_time_ns - (uint64_t)event->start_host_time_ns;
  } else {
    ++summary->invalid_host;
  }
}

static void add_region(void* user_data, const profile_item_t* item) {
  const iree_hal_profile_command_region_event_t* event = item->record;
  summary_t* summary = (summary_t*)user_data;
  int64_t start = event->command_region.start_host_time_ns, end = event->command_region.end_host_time_ns;
  if (start > 0 && end >= start) {
    summary->region_ns += (uint64_t)end - (uint64_t)start;
  } else {
    ++summary->invalid_regions;
  }
}

static void add_code(void* user_data, const profile_item_t* item) {
  ((summary_t*)user_data)->code_bytes +=
      ((const iree_hal_profile_executable_code_object_record_t*)item->record)->data_length;
}

static void add_trace(void* user_data, const profile_item_t* item) {
  ((summary_t*)user_data)->trace_bytes +=
      ((const iree_hal_profile_executable_trace_record_t*)item->record)->data_length;
}

static void add_metric(void* user_data, const profile_item_t* item) {
  const iree_hal_profile_device_metric_sample_record_t* record = item->record;
  summary_t* summary = (summary_t*)user_data;
  summary->metric_values += record->value_count;
  summary->invalid_metrics += record->host_time_end_ns < record->host_time_begin_ns;
}

static void count_sessions(summary_t* summary) {
  for (iree_host_size_t i = 0; i < summary->bundle->chunk_count; ++i) {
    const iree_hal_profile_file_record_header_t* header = &summary->bundle->chunks[i].record.header;
    bool is_end = header->record_type == IREE_HAL_PROFILE_FILE_RECORD_TYPE_SESSION_END;
    summary->sessions_begun += header->record_type == IREE_HAL_PROFILE_FILE_RECORD_TYPE_SESSION_BEGIN;
    summary->sessions_ended += is_end;
    summary->failed_sessions += is_end && header->session_status_code;
  }
}

static uint64_t count_chunks(const profile_bundle_t* bundle) {
  uint64_t count = 0;
  for (iree_host_size_t i = 0; i < bundle->chunk_count; ++i) {
    count += bundle->chunks[i].record.header.record_type == IREE_HAL_PROFILE_FILE_RECORD_TYPE_CHUNK;
  }
  return count;
}

//===----------------------------------------------------------------------------------------------------------------===
// The file
//===----------------------------------------------------------------------------------------------------------------===

static void print_text(const summary_t* s, FILE* file) {
  const profile_bundle_t* b = s->bundle;
  const uint64_t* n = b->record_counts;
  uint64_t unknown_chunks = 0, unknown_records = 0;
  profile_bundle_count_unknown(b, &unknown_chunks, &unknown_records);
  fprintf(file, "IREE HAL profile summary\n");
  fprintf(file,
          "records: file=%" PRIhsz " session_begin=%" PRIu64 " chunks=%" PRIu64 " session_end=%" PRIu64
          " non_ok_session_end=%" PRIu64 " unknown=%" PRIu64 "\nchunks:",
          b->chunk_count, s->sessions_begun, count_chunks(b), s->sessions_ended, s->failed_sessions, unknown_records);
  for (int i = 0; i < PROFILE_KIND_COUNT; ++i) {
    fprintf(file, " %ss=%" PRIu64, profile_kind_name((profile_kind_t)i), b->chunk_counts[i]);
  }
  fprintf(file, " unknown=%" PRIu64 " truncated=%" PRIu64 " dropped_records=%" PRIu64 "\n", unknown_chunks,
          b->truncated, b->dropped);
  fprintf(file,
          "metadata_records: executables=%" PRIu64 " executable_code_objects=%" PRIu64
          " executable_code_object_loads=%" PRIu64 " executable_functions=%" PRIu64 " command_buffers=%" PRIu64
          " command_operations=%" PRIu64 "\n",
          n[PROFILE_KIND_EXECUTABLES], n[PROFILE_KIND_CODE_OBJECTS], n[PROFILE_KIND_CODE_OBJECT_LOADS],
          n[PROFILE_KIND_FUNCTIONS], n[PROFILE_KIND_COMMAND_BUFFERS], n[PROFILE_KIND_COMMAND_OPERATIONS]);
  fprintf(file,
          "event_records: queue_events=%" PRIu64 " queue_device_events=%" PRIu64 " host_execution_events=%" PRIu64
          " invalid_host_execution_events=%" PRIu64 " host_execution_duration_ns=%" PRIu64 " memory_events=%" PRIu64
          " command_region_events=%" PRIu64 " invalid_command_region_events=%" PRIu64
          " command_region_duration_ns=%" PRIu64 " event_relationships=%" PRIu64 " counter_samples=%" PRIu64
          " executable_traces=%" PRIu64 "\n",
          n[PROFILE_KIND_QUEUE_EVENTS], n[PROFILE_KIND_DEVICE_EVENTS], n[PROFILE_KIND_HOST_EVENTS], s->invalid_host,
          s->host_ns, n[PROFILE_KIND_MEMORY_EVENTS], n[PROFILE_KIND_REGION_EVENTS], s->invalid_regions, s->region_ns,
          n[PROFILE_KIND_RELATIONSHIPS], n[PROFILE_KIND_COUNTER_SAMPLES], n[PROFILE_KIND_TRACES]);
  fprintf(file, "trace_data_bytes: code_objects=%" PRIu64 " executable_traces=%" PRIu64 "\n", s->code_bytes,
          s->trace_bytes);
  fprintf(file, "counter_records: counter_sets=%" PRIu64 " counters=%" PRIu64 "\n", n[PROFILE_KIND_COUNTER_SETS],
          n[PROFILE_KIND_COUNTERS]);
  fprintf(file,
          "device_metric_records: sources=%" PRIu64 " descriptors=%" PRIu64 " samples=%" PRIu64 " values=%" PRIu64
          " invalid_samples=%" PRIu64 "\ndevices:\n",
          n[PROFILE_KIND_METRIC_SOURCES], n[PROFILE_KIND_METRIC_DESCRIPTORS], n[PROFILE_KIND_METRIC_SAMPLES],
          s->metric_values, s->invalid_metrics);
}

static void print_json(const summary_t* s, FILE* file) {
  // Counts of records that rows have; the others are counted by what they tell.
  static const bool has_records[PROFILE_KIND_COUNT] = {
      [PROFILE_KIND_EXECUTABLES] = true,
      [PROFILE_KIND_CODE_OBJECTS] = true,
      [PROFILE_KIND_CODE_OBJECT_LOADS] = true,
      [PROFILE_KIND_FUNCTIONS] = true,
      [PROFILE_KIND_COMMAND_BUFFERS] = true,
      [PROFILE_KIND_COMMAND_OPERATIONS] = true,
      [PROFILE_KIND_QUEUE_EVENTS] = true,
      [PROFILE_KIND_DEVICE_EVENTS] = true,
      [PROFILE_KIND_HOST_EVENTS] = true,
      [PROFILE_KIND_REGION_EVENTS] = true,
      [PROFILE_KIND_MEMORY_EVENTS] = true,
      [PROFILE_KIND_RELATIONSHIPS] = true,
      [PROFILE_KIND_COUNTER_SETS] = true,
      [PROFILE_KIND_COUNTERS] = true,
      [PROFILE_KIND_COUNTER_SAMPLES] = true,
      [PROFILE_KIND_METRIC_SOURCES] = true,
      [PROFILE_KIND_METRIC_DESCRIPTORS] = true,
      [PROFILE_KIND_METRIC_SAMPLES] = true,
      [PROFILE_KIND_TRACES] = true,
  };
  const profile_bundle_t* b = s->bundle;
  uint64_t unknown_chunks = 0, unknown_records = 0;
  profile_bundle_count_unknown(b, &unknown_chunks, &unknown_records);
  PROFILE_ROW_OPEN(
      &(profile_out_t){.file = file}, "summary", CELL_U("file_records", b->chunk_count),
      CELL_U("session_begin_records", s->sessions_begun), CELL_U("chunk_records", count_chunks(b)),
      CELL_U("session_end_records", s->sessions_ended), CELL_U("non_ok_session_end_records", s->failed_sessions),
      CELL_U("unknown_records", unknown_records), CELL_U("executable_code_object_data_bytes", s->code_bytes),
      CELL_U("invalid_host_execution_event_records", s->invalid_host),
      CELL_U("total_host_execution_duration_ns", s->host_ns),
      CELL_U("invalid_command_region_event_records", s->invalid_regions),
      CELL_U("total_command_region_duration_ns", s->region_ns), CELL_U("device_metric_values", s->metric_values),
      CELL_U("invalid_device_metric_sample_records", s->invalid_metrics),
      CELL_U("executable_trace_data_bytes", s->trace_bytes), CELL_U("unknown_chunks", unknown_chunks),
      CELL_U("truncated_chunks", b->truncated), CELL_U("dropped_records", b->dropped));
  for (int i = 0; i < PROFILE_KIND_COUNT; ++i) {
    const char* name = profile_kind_name((profile_kind_t)i);
    fprintf(file, ",\"%s_chunks\":%" PRIu64, name, b->chunk_counts[i]);
    if (has_records[i]) fprintf(file, ",\"%s_records\":%" PRIu64, name, b->record_counts[i]);
  }
  fputs("}\n", file);
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

typedef struct device_summary_t {
  uint32_t physical;
  uint64_t records, queue_records, queues, metric_samples, metric_values, invalid_metrics;
  profile_group_t dispatches;  // in ticks
} device_summary_t;

static void add_device(void* user_data, const profile_item_t* item) {
  const iree_hal_profile_device_record_t* record = item->record;
  device_summary_t* device = (device_summary_t*)user_data;
  if (record->physical_device_ordinal != device->physical) return;
  ++device->records;
  device->queues += record->queue_count;
}

static void add_queue(void* user_data, const profile_item_t* item) {
  device_summary_t* device = (device_summary_t*)user_data;
  device->queue_records +=
      ((const iree_hal_profile_queue_record_t*)item->record)->physical_device_ordinal == device->physical;
}

static void add_dispatch(void* user_data, const profile_item_t* item) {
  device_summary_t* device = (device_summary_t*)user_data;
  profile_dispatch_t dispatch = profile_dispatch_of(item);
  if (dispatch.physical != device->physical) return;
  profile_group_add(&device->dispatches, dispatch.is_valid, dispatch.start, dispatch.end);
}

static void add_device_metric(void* user_data, const profile_item_t* item) {
  const iree_hal_profile_device_metric_sample_record_t* record = item->record;
  device_summary_t* device = (device_summary_t*)user_data;
  if (record->physical_device_ordinal != device->physical) return;
  ++device->metric_samples;
  device->metric_values += record->value_count;
  device->invalid_metrics += record->host_time_end_ns < record->host_time_begin_ns;
}

static uint64_t scale(const iree_hal_profile_clock_t* clock, double ticks) {
  uint64_t ns = 0;
  iree_hal_profile_clock_scale(clock, (uint64_t)ticks, &ns);
  return ns;
}

static void print_device_text(const device_summary_t* d, const iree_hal_profile_clock_t* clock, FILE* file) {
  const profile_group_t* g = &d->dispatches;
  bool is_fit = iree_hal_profile_clock_is_fit(clock);
  double ns_per_tick = iree_hal_profile_clock_ns_per_tick(clock);
  fprintf(file, "  device[%u]: device_records=%" PRIu64 " queues=%" PRIu64 "/%" PRIu64 "\n", d->physical, d->records,
          d->queue_records, d->queues);
  fprintf(file,
          "    clock_samples=%u min_uncertainty_ns=%" PRId64 " max_uncertainty_ns=%" PRId64
          " invalid_alignment_samples=%u\n",
          clock->sample_count, clock->min_uncertainty_ns, clock->max_uncertainty_ns, clock->unaligned_count);
  if (is_fit) {
    fprintf(file,
            "    clock_fit: ns_per_tick=%.9f tick_frequency_hz=%.3f device_delta_ticks=%" PRIu64
            " host_delta_ns=%" PRId64 "\n",
            ns_per_tick, 1e9 / ns_per_tick, clock->last_tick - clock->first_tick,
            (int64_t)((uint64_t)clock->last_ns - (uint64_t)clock->first_ns));
  } else {
    fprintf(file, "    clock_fit: unavailable\n");
  }
  fprintf(file, "    dispatches=%" PRIu64 " valid=%" PRIu64 " invalid=%" PRIu64 "\n", g->count, g->valid,
          g->count - g->valid);
  if (g->valid) {
    bool is_covered = g->start >= clock->first_tick && g->end <= clock->last_tick;
    fprintf(file, "    dispatch_tick_range: start=%" PRIu64 " end=%" PRIu64 " covered_by_clock_samples=%s\n", g->start,
            g->end, is_covered ? "true" : "false");
    fprintf(file, "    dispatch_ticks: min=%" PRIu64 " avg=%.3f max=%" PRIu64 " total=%.0f\n", g->min,
            profile_group_mean(g), g->max, g->sum);
    if (is_fit) {
      fprintf(file, "    dispatch_time_ns: min=%" PRIu64 " avg=%.3f max=%" PRIu64 " total=%" PRIu64 "\n",
              scale(clock, (double)g->min), profile_group_mean(g) * ns_per_tick, scale(clock, (double)g->max),
              scale(clock, g->sum));
    }
  }
  fprintf(file, "    device_metrics: samples=%" PRIu64 " values=%" PRIu64 " invalid_samples=%" PRIu64 "\n",
          d->metric_samples, d->metric_values, d->invalid_metrics);
}

static void print_device_json(const device_summary_t* d, const iree_hal_profile_clock_t* clock, FILE* file) {
  const profile_group_t* g = &d->dispatches;
  bool is_fit = iree_hal_profile_clock_is_fit(clock), has_any = g->valid != 0;
  double ns_per_tick = iree_hal_profile_clock_ns_per_tick(clock);
  PROFILE_ROW(
      &(profile_out_t){.file = file}, "device_summary", CELL_U("physical_device_ordinal", d->physical),
      CELL_U("device_records", d->records), CELL_U("queue_records", d->queue_records), CELL_U("queues", d->queues),
      CELL_U("clock_samples", clock->sample_count), CELL_U("invalid_clock_alignment_samples", clock->unaligned_count),
      CELL_B("clock_fit_available", is_fit), CELL_F("ns_per_tick", ns_per_tick, 9),
      CELL_F("tick_frequency_hz", is_fit ? 1e9 / ns_per_tick : 0, 3),
      CELL_I("min_clock_uncertainty_ns", clock->min_uncertainty_ns),
      CELL_I("max_clock_uncertainty_ns", clock->max_uncertainty_ns), CELL_U("dispatches", g->count),
      CELL_U("valid_dispatches", g->valid), CELL_U("invalid_dispatches", g->count - g->valid),
      CELL_U("min_dispatch_ticks", has_any ? g->min : 0), CELL_F("avg_dispatch_ticks", profile_group_mean(g), 3),
      CELL_U("max_dispatch_ticks", g->max), CELL_F("total_dispatch_ticks", g->sum, 0),
      CELL_U("earliest_dispatch_start_tick", has_any ? g->start : 0), CELL_U("latest_dispatch_end_tick", g->end),
      CELL_B("dispatch_ticks_covered_by_clock_samples",
             has_any && g->start >= clock->first_tick && g->end <= clock->last_tick),
      CELL_B("dispatch_time_available", has_any && is_fit),
      CELL_U("min_dispatch_ns", has_any ? scale(clock, (double)g->min) : 0),
      CELL_F("avg_dispatch_ns", profile_group_mean(g) * ns_per_tick, 3),
      CELL_U("max_dispatch_ns", scale(clock, (double)g->max)), CELL_U("total_dispatch_ns", scale(clock, g->sum)),
      CELL_U("device_metric_samples", d->metric_samples), CELL_U("device_metric_values", d->metric_values),
      CELL_U("invalid_device_metric_samples", d->invalid_metrics));
}

static void print_device(void* user_data, const profile_item_t* item) {
  const profile_request_t* request = (const profile_request_t*)user_data;
  const profile_bundle_t* bundle = request->bundle;
  device_summary_t device = {
      .physical = ((const iree_hal_profile_device_record_t*)item->record)->physical_device_ordinal,
      .dispatches = {.min = UINT64_MAX, .start = UINT64_MAX},
  };
  profile_bundle_each(bundle, PROFILE_KIND_DEVICES, add_device, &device);
  profile_bundle_each(bundle, PROFILE_KIND_QUEUES, add_queue, &device);
  profile_bundle_each(bundle, PROFILE_KIND_DISPATCH_EVENTS, add_dispatch, &device);
  profile_bundle_each(bundle, PROFILE_KIND_METRIC_SAMPLES, add_device_metric, &device);
  const iree_hal_profile_clock_t* clock = profile_bundle_clock(bundle, device.physical);
  (request->is_json ? print_device_json : print_device_text)(&device, clock, request->file);
}

iree_status_t profile_report_summary(const profile_request_t* request) {
  summary_t summary = {.bundle = request->bundle};
  count_sessions(&summary);
  profile_bundle_each(request->bundle, PROFILE_KIND_HOST_EVENTS, add_host_event, &summary);
  profile_bundle_each(request->bundle, PROFILE_KIND_REGION_EVENTS, add_region, &summary);
  profile_bundle_each(request->bundle, PROFILE_KIND_CODE_OBJECTS, add_code, &summary);
  profile_bundle_each(request->bundle, PROFILE_KIND_TRACES, add_trace, &summary);
  profile_bundle_each(request->bundle, PROFILE_KIND_METRIC_SAMPLES, add_metric, &summary);
  (request->is_json ? print_json : print_text)(&summary, request->file);
  profile_bundle_each(request->bundle, PROFILE_KIND_DEVICES, print_device, (void*)request);
  return iree_ok_status();
}
