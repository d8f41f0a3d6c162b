// Reports on the file itself: cat, summary, statistics, export.
#include "iree/hal/utils/statistics_sink.h"
#include "tooling/profile/reports.h"

const profile_report_t* profile_reports(iree_host_size_t* out_count) {
  static const profile_report_t reports[] = {
#define REPORT(name, formats, options, help) {#name, formats, options, help, profile_report_##name},
#include "tooling/profile/reports.def"
  };
  *out_count = IREE_ARRAYSIZE(reports);
  return reports;
}

const profile_report_t* profile_report_find(iree_string_view_t name) {
  iree_host_size_t count = 0;
  const profile_report_t* reports = profile_reports(&count);
  for (iree_host_size_t i = 0; i < count; ++i) {
    if (iree_string_view_equal(name, iree_make_cstring_view(reports[i].name))) return &reports[i];
  }
  return NULL;
}

static void print_item(void* user_data, const profile_item_t* item) {
  profile_print_record((const profile_printer_t*)user_data, item);
}

void profile_print_kind(const profile_request_t* request, profile_kind_t kind) {
  profile_printer_t printer = profile_printer(request);
  profile_bundle_each(request->bundle, kind, print_item, &printer);
}

//===----------------------------------------------------------------------------------------------------------------===
// cat
//===----------------------------------------------------------------------------------------------------------------===

static const char* record_type_name(uint32_t type) {
  static const char* const names[] = {"none", "session_begin", "chunk", "session_end"};
  return type < IREE_ARRAYSIZE(names) ? names[type] : "unknown";
}

static void cat_text(FILE* file, iree_host_size_t index, const iree_hal_profile_file_record_t* record) {
  const iree_hal_profile_file_record_header_t* h = &record->header;
  fprintf(file, "[%" PRIhsz "] %s record_length=%" PRIu64 " payload_length=%" PRIu64 "\n", index,
          record_type_name(h->record_type), h->record_length, h->payload_length);
  fprintf(file, "  content_type: %.*s\n  name: %.*s\n", (int)record->content_type.size, record->content_type.data,
          (int)record->name.size, record->name.data);
  fprintf(file, "  session_id=%" PRIu64 " stream_id=%" PRIu64 " event_id=%" PRIu64 "\n", h->session_id, h->stream_id,
          h->event_id);
  fprintf(file, "  executable_id=%" PRIu64 " command_buffer_id=%" PRIu64 "\n", h->executable_id, h->command_buffer_id);
  fprintf(file, "  physical_device_ordinal=%u queue_ordinal=%u\n", h->physical_device_ordinal, h->queue_ordinal);
  fprintf(file, "  chunk_flags=0x%016" PRIx64 " session_status_code=%u session_status=%s\n", h->chunk_flags,
          h->session_status_code, iree_status_code_string((iree_status_code_t)h->session_status_code));
}

static void cat_json(const profile_out_t* out, iree_host_size_t index, const iree_hal_profile_file_record_t* record) {
  const iree_hal_profile_file_record_header_t* h = &record->header;
  PROFILE_ROW(out, "record", CELL_U("index", index), CELL_C("record_type", record_type_name(h->record_type)),
              CELL_U("record_type_value", h->record_type), CELL_U("record_length", h->record_length),
              CELL_U("payload_length", h->payload_length), CELL_S("content_type", record->content_type),
              CELL_S("name", record->name), CELL_U("session_id", h->session_id), CELL_U("stream_id", h->stream_id),
              CELL_U("event_id", h->event_id), CELL_U("executable_id", h->executable_id),
              CELL_U("command_buffer_id", h->command_buffer_id),
              CELL_U("physical_device_ordinal", h->physical_device_ordinal), CELL_U("queue_ordinal", h->queue_ordinal),
              CELL_U("chunk_flags", h->chunk_flags), CELL_U("session_status_code", h->session_status_code),
              CELL_C("session_status", iree_status_code_string((iree_status_code_t)h->session_status_code)));
}

iree_status_t profile_report_cat(const profile_request_t* request) {
  const iree_hal_profile_file_header_t* header = &request->bundle->header;
  profile_out_t out = {.file = request->file};
  if (request->is_json) {
    PROFILE_ROW(&out, "file", CELL_C("magic", "IRPF"), CELL_U("version_major", header->version_major),
                CELL_U("version_minor", header->version_minor), CELL_U("header_length", header->header_length),
                CELL_U("flags", header->flags));
  } else {
    fprintf(request->file, "IREE HAL profile bundle\nversion: %u.%u\nheader_length: %u\nflags: 0x%08x\nrecords:\n",
            header->version_major, header->version_minor, header->header_length, header->flags);
  }
  for (iree_host_size_t i = 0; i < request->bundle->chunk_count; ++i) {
    if (request->is_json) {
      cat_json(&out, i, &request->bundle->chunks[i].record);
    } else {
      cat_text(request->file, i, &request->bundle->chunks[i].record);
    }
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// export
//===----------------------------------------------------------------------------------------------------------------===

static void export_head(const profile_bundle_t* bundle, FILE* file) {
  fprintf(
      file,
      "{\"schema_version\":%d,\"record_type\":\"schema\",\"format\":\"ireeperf-jsonl\",\"contract\":"
      "\"schema_versioned_interchange\",\"row_key\":\"record_type\",\"source_format\":\"ireeprof\","
      "\"source_version_major\":%u,\"source_version_minor\":%u,\"time_domains\":{\"iree_host_time_ns\":"
      "\"iree_time_now monotonic nanoseconds\",\"device_tick\":\"raw physical-device timestamp ticks\","
      "\"driver_host_cpu_timestamp_ns\":\"driver-sampled CPU timestamp nanoseconds\","
      "\"driver_host_system_timestamp\":\"driver-sampled system timestamp units scaled by "
      "host_system_frequency_hz\",\"device_tick_duration_ns\":\"duration nanoseconds derived from device_tick clock "
      "fit\"},\"clock_fit\":{\"basis\":\"first_last_clock_correlation\",\"rounding\":"
      "\"nearest_integer_nanosecond\"}}\n",
      PROFILE_EXPORT_VERSION, bundle->header.version_major, bundle->header.version_minor);
}

static void export_session(const profile_out_t* out, const iree_hal_profile_file_record_header_t* h) {
  bool is_begin = h->record_type == IREE_HAL_PROFILE_FILE_RECORD_TYPE_SESSION_BEGIN;
  PROFILE_ROW(out, "session", CELL_C("event", is_begin ? "begin" : "end"), CELL_U("session_id", h->session_id),
              CELL_U("stream_id", h->stream_id), CELL_U("event_id", h->event_id),
              CELL_U("session_status_code", h->session_status_code),
              CELL_C("session_status", iree_status_code_string((iree_status_code_t)h->session_status_code)));
}

static void export_diagnostic(const profile_out_t* out, const char* severity, const char* category, const char* message,
                              const iree_hal_profile_file_record_t* record) {
  PROFILE_ROW(out, "diagnostic", CELL_C("severity", severity), CELL_C("category", category), CELL_C("message", message),
              CELL_S("content_type", record->content_type),
              CELL_U("dropped_records", record->header.dropped_record_count));
}

iree_status_t profile_report_export(const profile_request_t* request) {
  profile_printer_t printer = profile_printer(request);
  printer.out.is_export = true;
  export_head(request->bundle, request->file);
  for (iree_host_size_t i = 0; i < request->bundle->chunk_count; ++i) {
    const profile_chunk_t* chunk = &request->bundle->chunks[i];
    printer.out.source = i;
    if (chunk->kind == PROFILE_KIND_SESSION) {
      export_session(&printer.out, &chunk->record.header);
    } else if (chunk->kind == PROFILE_KIND_UNKNOWN) {
      export_diagnostic(&printer.out, "warning", "unknown_chunk", "unknown profile chunk content type", &chunk->record);
    } else {
      profile_chunk_each(request->bundle, i, print_item, &printer);
    }
    if (chunk->record.header.chunk_flags & IREE_HAL_PROFILE_CHUNK_FLAG_TRUNCATED) {
      export_diagnostic(&printer.out, "error", "truncated_chunk", "records of this chunk were dropped", &chunk->record);
    }
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// statistics
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t feed(const profile_bundle_t* bundle, iree_hal_profile_sink_t* sink) {
  for (iree_host_size_t i = 0; i < bundle->chunk_count; ++i) {
    const iree_hal_profile_file_record_t* record = &bundle->chunks[i].record;
    if (bundle->chunks[i].kind >= PROFILE_KIND_COUNT) continue;
    iree_hal_profile_chunk_metadata_t metadata = iree_hal_profile_chunk_metadata_default();
    metadata.content_type = record->content_type;
    metadata.physical_device_ordinal = record->header.physical_device_ordinal;
    metadata.queue_ordinal = record->header.queue_ordinal;
    metadata.dropped_record_count = record->header.dropped_record_count;
    IREE_RETURN_IF_ERROR(iree_hal_profile_sink_write(sink, &metadata, 1, &record->payload));
  }
  return iree_ok_status();
}

typedef struct statistics_t {
  profile_out_t out;
  const iree_hal_profile_statistics_sink_t* sink;
} statistics_t;

static iree_status_t print_statistics_row(void* user_data, const iree_hal_profile_statistics_row_t* row) {
  static const char* const types[] = {"none",
                                      "dispatch_function",
                                      "dispatch_command_buffer",
                                      "dispatch_command_operation",
                                      "queue_device_operation",
                                      "queue_host_operation",
                                      "host_execution_function",
                                      "host_execution_command_buffer",
                                      "host_execution_command_operation",
                                      "host_execution_queue_operation",
                                      "memory_lifecycle"};
  static const char* const domains[] = {"none", "device_tick", "iree_host_time_ns"};
  static const char* const units[] = {"none", "device_tick", "ns"};
  const statistics_t* statistics = (const statistics_t*)user_data;
  iree_string_view_t name, event = iree_string_view_empty();
  uint64_t total = 0, minimum = 0, maximum = 0;
  bool is_timed = row->flags & IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_TIMING;
  bool has_ns =
      is_timed &&
      iree_hal_profile_statistics_sink_scale_duration_to_ns(statistics->sink, row, row->total_duration, &total) &&
      iree_hal_profile_statistics_sink_scale_duration_to_ns(statistics->sink, row, row->minimum_duration, &minimum) &&
      iree_hal_profile_statistics_sink_scale_duration_to_ns(statistics->sink, row, row->maximum_duration, &maximum);
  iree_hal_profile_statistics_sink_find_function_name(statistics->sink, row->executable_id, row->function_ordinal,
                                                      &name);
  if (row->event_type) {
    event = iree_make_cstring_view(row->row_type == IREE_HAL_PROFILE_STATISTICS_ROW_TYPE_MEMORY_LIFECYCLE
                                       ? iree_hal_profile_memory_event_type_name(row->event_type)
                                       : iree_hal_profile_queue_event_type_name(row->event_type));
  }
#define NS_CELL(cell_name, value) {.name = cell_name, .kind = has_ns ? 'u' : 's', .u = has_ns ? (value) : 0}
  PROFILE_ROW(&statistics->out, "statistics_row", CELL_C("row_type", types[row->row_type]),
              CELL_U("row_type_value", row->row_type), CELL_C("time_domain", domains[row->time_domain]),
              CELL_U("time_domain_value", row->time_domain), CELL_C("duration_unit", units[row->time_domain]),
              CELL_U("flags", row->flags), CELL_B("has_timing", is_timed),
              CELL_B("has_payload_bytes", row->flags & IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_PAYLOAD_BYTES),
              CELL_B("has_operation_count", row->flags & IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_OPERATION_COUNT),
              CELL_B("has_tile_totals", row->flags & IREE_HAL_PROFILE_STATISTICS_ROW_FLAG_TILE_TOTALS),
              CELL_U("physical_device_ordinal", row->physical_device_ordinal),
              CELL_U("queue_ordinal", row->queue_ordinal), CELL_U("event_type", row->event_type),
              CELL_S("event_name", event), CELL_U("executable_id", row->executable_id),
              CELL_U("command_buffer_id", row->command_buffer_id), CELL_U("function_ordinal", row->function_ordinal),
              CELL_U("command_index", row->command_index), CELL_S("function_name", name),
              CELL_U("sample_count", row->sample_count), CELL_U("invalid_sample_count", row->invalid_sample_count),
              CELL_U("operation_count", row->operation_count), CELL_U("payload_bytes", row->payload_bytes),
              CELL_U("tile_count", row->tile_count), CELL_U("tile_duration_sum_ns", row->tile_duration_sum_ns),
              CELL_U("first_start_time", row->first_start_time), CELL_U("last_end_time", row->last_end_time),
              CELL_U("total_duration", row->total_duration), CELL_U("minimum_duration", row->minimum_duration),
              CELL_U("maximum_duration", row->maximum_duration), NS_CELL("total_duration_ns", total),
              NS_CELL("minimum_duration_ns", minimum), NS_CELL("maximum_duration_ns", maximum));
  return iree_ok_status();
}

static iree_status_t print_statistics(const profile_request_t* request, iree_hal_profile_statistics_sink_t* sink) {
  statistics_t statistics = {{.file = request->file}, sink};
  IREE_RETURN_IF_ERROR(feed(request->bundle, iree_hal_profile_statistics_sink_base(sink)));
  if (!request->is_json) return iree_hal_profile_statistics_sink_fprint(request->file, sink);
  PROFILE_ROW(&statistics.out, "statistics_summary",
              CELL_U("row_count", iree_hal_profile_statistics_sink_row_count(sink)),
              CELL_U("dropped_record_count", iree_hal_profile_statistics_sink_dropped_record_count(sink)));
  return iree_hal_profile_statistics_sink_for_each_row(
      sink, (iree_hal_profile_statistics_row_callback_t){print_statistics_row, &statistics});
}

iree_status_t profile_report_statistics(const profile_request_t* request) {
  iree_hal_profile_statistics_sink_t* sink = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_profile_statistics_sink_create(request->bundle->allocator, &sink));
  iree_status_t status = print_statistics(request, sink);
  iree_hal_profile_statistics_sink_release(sink);
  return status;
}
