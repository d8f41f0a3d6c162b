// Records as rows: one function for each kind, which reports and exports share.
#include "tooling/profile/records.h"

#include <math.h>

#include "iree/hal/profile_metrics.h"

static const char* name_of(const char* const* names, size_t count, uint32_t value) {
  return value < count ? names[value] : "unknown";
}
#define NAME_OF(value, ...) \
  name_of((const char* const[]){__VA_ARGS__}, sizeof((const char* const[]){__VA_ARGS__}) / sizeof(const char*), (value))

const char* profile_strategy_name(uint32_t value) {
  return NAME_OF(value, "none", "inline", "device_barrier", "software_defer");
}
const char* profile_operation_name(uint32_t value) {
  return NAME_OF(value, "none", "barrier", "dispatch", "fill", "copy", "update", "profile_marker", "branch",
                 "cond_branch", "return");
}
const char* profile_counter_unit_name(uint32_t value) { return NAME_OF(value, "none", "count", "cycles", "bytes"); }
const char* profile_counter_scope_name(uint32_t value) {
  return NAME_OF(value, "none", "dispatch", "command_operation", "device_time_range");
}

//===----------------------------------------------------------------------------------------------------------------===
// Spans
//===----------------------------------------------------------------------------------------------------------------===

profile_span_t profile_device_span(const profile_bundle_t* bundle, uint32_t physical, uint64_t start, uint64_t end) {
  const iree_hal_profile_clock_t* clock = profile_bundle_clock(bundle, physical);
  profile_span_t span = {.is_valid = start && end >= start};
  if (!span.is_valid) return span;
  span.ticks = end - start;
  span.has_ns = iree_hal_profile_clock_scale(clock, span.ticks, &span.ns) &&
                iree_hal_profile_clock_map(clock, start, &span.start_ns) &&
                iree_hal_profile_clock_map(clock, end, &span.end_ns);
  return span;
}

bool profile_host_span_is_valid(const iree_hal_profile_host_execution_event_t* event) {
  return event->start_host_time_ns > 0 && event->end_host_time_ns >= event->start_host_time_ns;
}

static uint64_t difference(int64_t end, int64_t start) { return end >= start ? (uint64_t)end - (uint64_t)start : 0; }

// Cells of times in a device's clock; rows of dispatches, and all of exports, name the clocks. Durations of exports are
// those of their times, which are rounded.
#define SPAN_CELLS(out, names_clocks, span, clock, start, end)                                                        \
  CELL_C_IF(names_clocks, "device_tick_domain", "device_tick"), CELL_U("start_tick", start), CELL_U("end_tick", end), \
      CELL_U("duration_ticks", (span).ticks), CELL_B("valid", (span).is_valid),                                       \
      {.name = (out)->is_export ? "derived_time_available" : "clock_fit_available", .kind = 'b', .u = (span).has_ns}, \
      CELL_C_IF((out)->is_export && (span).has_ns, "derived_time_domain", "driver_host_cpu_timestamp_ns"),            \
      CELL_C_IF((out)->is_export && (span).has_ns, "derived_time_basis", "first_last_clock_correlation"),             \
      CELL_U_IF((out)->is_export && (span).has_ns, "clock_fit_first_sample_id", (clock)->first_sample_id),            \
      CELL_U_IF((out)->is_export && (span).has_ns, "clock_fit_last_sample_id", (clock)->last_sample_id),              \
      CELL_U_IF((out)->is_export && (span).has_ns, "start_driver_host_cpu_time_ns", (uint64_t)(span).start_ns),       \
      CELL_U_IF((out)->is_export && (span).has_ns, "end_driver_host_cpu_time_ns", (uint64_t)(span).end_ns),           \
      CELL_C_IF((names_clocks) && (span).has_ns, "duration_time_domain", "device_tick_duration_ns"),                  \
      CELL_U_IF((span).has_ns, "duration_ns",                                                                         \
                (out)->is_export ? difference((span).end_ns, (span).start_ns) : (span).ns)

//===----------------------------------------------------------------------------------------------------------------===
// What there is
//===----------------------------------------------------------------------------------------------------------------===

static void hash_text(const uint64_t hash[2], bool is_present, char text[33]) {
  text[0] = 0;
  if (is_present) snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, hash[0], hash[1]);
}
static iree_string_view_t text_or_null(const char* text) {
  return text[0] ? iree_make_cstring_view(text) : iree_string_view_empty();
}

static void print_device(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_device_record_t* record = item->record;
  bool has_uuid = record->flags & IREE_HAL_PROFILE_DEVICE_FLAG_PHYSICAL_DEVICE_UUID;
  char uuid[33] = "";
  for (int i = 0; i < 16 && has_uuid; ++i) snprintf(uuid + 2 * i, 3, "%02x", record->physical_device_uuid[i]);
  PROFILE_ROW(&p->out, "device", CELL_U("physical_device_ordinal", record->physical_device_ordinal),
              CELL_U("flags", record->flags), CELL_U("queue_count", record->queue_count),
              CELL_B("physical_device_uuid_present", has_uuid), CELL_S("physical_device_uuid", text_or_null(uuid)));
}

static void print_queue(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_queue_record_t* record = item->record;
  PROFILE_ROW(&p->out, "queue", CELL_U("physical_device_ordinal", record->physical_device_ordinal),
              CELL_U("queue_ordinal", record->queue_ordinal), CELL_U("stream_id", record->stream_id));
}

static void print_executable(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_executable_record_t* record = item->record;
  bool has_hash = record->flags & IREE_HAL_PROFILE_EXECUTABLE_FLAG_CODE_OBJECT_HASH;
  char hash[33];
  hash_text(record->code_object_hash, has_hash, hash);
  PROFILE_ROW(&p->out, "executable", CELL_U("executable_id", record->executable_id), CELL_U("flags", record->flags),
              CELL_U("function_count", record->function_count), CELL_B("code_object_hash_present", has_hash),
              CELL_S("code_object_hash", text_or_null(hash)));
}

static void print_code_object(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_executable_code_object_record_t* record = item->record;
  bool has_hash = record->flags & IREE_HAL_PROFILE_EXECUTABLE_FLAG_CODE_OBJECT_HASH;
  char hash[33];
  hash_text(record->code_object_hash, has_hash, hash);
  PROFILE_ROW(&p->out, "executable_code_object", CELL_U("executable_id", record->executable_id),
              CELL_U("code_object_id", record->code_object_id), CELL_U("flags", record->flags),
              CELL_U("data_length", record->data_length), CELL_B("code_object_hash_present", has_hash),
              CELL_S("code_object_hash", text_or_null(hash)));
}

static void print_code_object_load(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_executable_code_object_load_record_t* record = item->record;
  PROFILE_ROW(&p->out, "executable_code_object_load",
              CELL_U("physical_device_ordinal", record->physical_device_ordinal),
              CELL_U("executable_id", record->executable_id), CELL_U("code_object_id", record->code_object_id),
              CELL_I("load_delta", record->load_delta), CELL_U("load_size", record->load_size));
}

static void print_function(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_executable_function_record_t* record = item->record;
  bool has_hash = record->flags & IREE_HAL_PROFILE_EXECUTABLE_FUNCTION_FLAG_FUNCTION_HASH;
  char hash[33];
  hash_text(record->function_hash, has_hash, hash);
  iree_string_view_t name = profile_trailing_text(item->trailing, 0, record->name_length);
  PROFILE_ROW(&p->out, "executable_function", CELL_U("executable_id", record->executable_id),
              CELL_U("function_ordinal", record->function_ordinal), CELL_U("flags", record->flags),
              {.name = p->out.is_export ? "name" : "key", .kind = 's', .s = name},
              CELL_U("constant_count", record->constant_count), CELL_U("binding_count", record->binding_count),
              CELL_U("parameter_count", record->parameter_count), CELL_3("workgroup_size", record->workgroup_size),
              CELL_B("function_hash_present", has_hash), CELL_S("function_hash", text_or_null(hash)));
}

static void print_command_buffer(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_command_buffer_record_t* record = item->record;
  PROFILE_ROW(&p->out, "command_buffer", CELL_U("command_buffer_id", record->command_buffer_id),
              CELL_U_IF(p->out.is_export, "flags", record->flags),
              CELL_U("physical_device_ordinal", record->physical_device_ordinal), CELL_U("mode", record->mode),
              CELL_U("command_categories", record->command_categories),
              CELL_U("queue_affinity", record->queue_affinity));
}

static void print_command_operation(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_command_operation_record_t* record = item->record;
  char buffer[64];
  iree_string_view_t key = record->type == IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH
                               ? profile_bundle_key(p->bundle, record->executable_id, record->function_ordinal, buffer)
                               : iree_make_cstring_view(profile_operation_name(record->type));
  PROFILE_ROW(&p->out, "command_operation", CELL_U("command_buffer_id", record->command_buffer_id),
              CELL_U("command_index", record->command_index), CELL_C("op", profile_operation_name(record->type)),
              CELL_S("key", key), CELL_U("flags", record->flags),
              CELL_B("block_structure", record->flags & IREE_HAL_PROFILE_COMMAND_OPERATION_FLAG_BLOCK_STRUCTURE),
              CELL_U("block_ordinal", record->block_ordinal),
              CELL_U("block_command_ordinal", record->block_command_ordinal),
              CELL_U("executable_id", record->executable_id), CELL_U("function_ordinal", record->function_ordinal),
              CELL_U("binding_count", record->binding_count), CELL_3("workgroup_count", record->workgroup_count),
              CELL_3("workgroup_size", record->workgroup_size), CELL_U("source_ordinal", record->source_ordinal),
              CELL_U("target_ordinal", record->target_ordinal), CELL_U("source_offset", record->source_offset),
              CELL_U("target_offset", record->target_offset), CELL_U("length", record->length),
              CELL_U("target_block_ordinal", record->target_block_ordinal),
              CELL_U("alternate_block_ordinal", record->alternate_block_ordinal));
}

static void print_clock(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_clock_correlation_record_t* record = item->record;
  PROFILE_ROW(&p->out, "clock_correlation", CELL_U("sample_id", record->sample_id), CELL_U("flags", record->flags),
              CELL_U("physical_device_ordinal", record->physical_device_ordinal),
              CELL_C("device_tick_domain", "device_tick"), CELL_U("device_tick", record->device_tick),
              CELL_C("host_cpu_timestamp_domain", "driver_host_cpu_timestamp_ns"),
              CELL_U("host_cpu_timestamp_ns", record->host_cpu_timestamp_ns),
              CELL_C("host_system_timestamp_domain", "driver_host_system_timestamp"),
              CELL_U("host_system_timestamp", record->host_system_timestamp),
              CELL_U("host_system_frequency_hz", record->host_system_frequency_hz),
              CELL_C("host_time_domain", "iree_host_time_ns"), CELL_I("host_time_begin_ns", record->host_time_begin_ns),
              CELL_I("host_time_end_ns", record->host_time_end_ns),
              CELL_U("host_time_uncertainty_ns", difference(record->host_time_end_ns, record->host_time_begin_ns)));
}

//===----------------------------------------------------------------------------------------------------------------===
// What happened
//===----------------------------------------------------------------------------------------------------------------===

static void print_dispatch(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_dispatch_event_t* event = item->record;
  const iree_hal_profile_file_record_header_t* header = &item->chunk->record.header;
  char buffer[64];
  profile_span_t span =
      profile_device_span(p->bundle, header->physical_device_ordinal, event->start_tick, event->end_tick);
  PROFILE_ROW(&p->out, "dispatch_event", CELL_U("physical_device_ordinal", header->physical_device_ordinal),
              CELL_U("queue_ordinal", header->queue_ordinal), CELL_U("stream_id", header->stream_id),
              CELL_U("event_id", event->event_id), CELL_U("submission_id", event->submission_id),
              CELL_U("command_buffer_id", event->command_buffer_id), CELL_U("command_index", event->command_index),
              CELL_U("executable_id", event->executable_id), CELL_U("function_ordinal", event->function_ordinal),
              CELL_S("key", profile_bundle_key(p->bundle, event->executable_id, event->function_ordinal, buffer)),
              CELL_U("flags", event->flags), CELL_3("workgroup_count", event->workgroup_count),
              CELL_3("workgroup_size", event->workgroup_size),
              SPAN_CELLS(&p->out, true, span, profile_bundle_clock(p->bundle, header->physical_device_ordinal),
                         event->start_tick, event->end_tick));
}

static void print_queue_event(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_queue_event_t* event = item->record;
  PROFILE_ROW(&p->out, "queue_event", CELL_U("event_id", event->event_id),
              CELL_C("op", iree_hal_profile_queue_event_type_name(event->type)),
              CELL_U_IF(p->out.is_export, "type_value", event->type), CELL_U("flags", event->flags),
              CELL_C("dependency_strategy", profile_strategy_name(event->dependency_strategy)),
              CELL_U("submission_id", event->submission_id), CELL_U("command_buffer_id", event->command_buffer_id),
              CELL_U("allocation_id", event->allocation_id),
              CELL_U("physical_device_ordinal", event->physical_device_ordinal),
              CELL_U("queue_ordinal", event->queue_ordinal), CELL_U("stream_id", event->stream_id),
              CELL_I("host_time_ns", event->host_time_ns), CELL_I("ready_host_time_ns", event->ready_host_time_ns),
              CELL_C("host_time_domain", "iree_host_time_ns"), CELL_U("wait_count", event->wait_count),
              CELL_U("signal_count", event->signal_count), CELL_U("barrier_count", event->barrier_count),
              CELL_U("operation_count", event->operation_count), CELL_U("payload_length", event->payload_length));
}

static void print_device_event(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_queue_device_event_t* event = item->record;
  profile_span_t span =
      profile_device_span(p->bundle, event->physical_device_ordinal, event->start_tick, event->end_tick);
  PROFILE_ROW(
      &p->out, "queue_device_event", CELL_U("event_id", event->event_id),
      CELL_C("op", iree_hal_profile_queue_event_type_name(event->type)),
      CELL_U_IF(p->out.is_export, "type_value", event->type), CELL_U("flags", event->flags),
      CELL_U("submission_id", event->submission_id), CELL_U("command_buffer_id", event->command_buffer_id),
      CELL_U("allocation_id", event->allocation_id), CELL_U("physical_device_ordinal", event->physical_device_ordinal),
      CELL_U("queue_ordinal", event->queue_ordinal), CELL_U("stream_id", event->stream_id),
      CELL_U("operation_count", event->operation_count), CELL_U("payload_length", event->payload_length),
      SPAN_CELLS(&p->out, p->out.is_export, span, profile_bundle_clock(p->bundle, event->physical_device_ordinal),
                 event->start_tick, event->end_tick));
}

static void print_host_event(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_host_execution_event_t* event = item->record;
  char buffer[64];
  bool is_valid = profile_host_span_is_valid(event);
  iree_string_view_t key = iree_string_view_empty();
  if (event->executable_id) key = profile_bundle_key(p->bundle, event->executable_id, event->function_ordinal, buffer);
  PROFILE_ROW(&p->out, "host_execution_event", CELL_U("event_id", event->event_id),
              CELL_C("op", iree_hal_profile_queue_event_type_name(event->type)),
              CELL_S_IF(p->out.is_export, "key", key), CELL_U_IF(p->out.is_export, "type_value", event->type),
              CELL_U("flags", event->flags), CELL_U("status_code", event->status_code),
              CELL_U("submission_id", event->submission_id), CELL_U("command_buffer_id", event->command_buffer_id),
              CELL_U("command_index", event->command_index), CELL_U("executable_id", event->executable_id),
              CELL_U("function_ordinal", event->function_ordinal), CELL_U("allocation_id", event->allocation_id),
              CELL_U("physical_device_ordinal", event->physical_device_ordinal),
              CELL_U("queue_ordinal", event->queue_ordinal), CELL_U("stream_id", event->stream_id),
              CELL_3_IF(p->out.is_export, "workgroup_count", event->workgroup_count),
              CELL_3_IF(p->out.is_export, "workgroup_size", event->workgroup_size),
              CELL_U("operation_count", event->operation_count), CELL_U("payload_length", event->payload_length),
              CELL_U("tile_count", event->tile_count), CELL_I("tile_duration_sum_ns", event->tile_duration_sum_ns),
              CELL_C("host_time_domain", "iree_host_time_ns"), CELL_I("start_host_time_ns", event->start_host_time_ns),
              CELL_I("end_host_time_ns", event->end_host_time_ns),
              CELL_U("duration_ns", is_valid ? difference(event->end_host_time_ns, event->start_host_time_ns) : 0),
              CELL_B("valid", is_valid));
}

void profile_print_host_dispatch(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_host_execution_event_t* event = item->record;
  char buffer[64];
  bool is_valid = profile_host_span_is_valid(event);
  PROFILE_ROW(&p->out, "host_dispatch_event", CELL_C("timing_source", "host_execution_event"),
              CELL_C("time_domain", "iree_host_time_ns"), CELL_C("duration_time_domain", "iree_host_duration_ns"),
              CELL_U("physical_device_ordinal", event->physical_device_ordinal),
              CELL_U("queue_ordinal", event->queue_ordinal), CELL_U("stream_id", event->stream_id),
              CELL_U("event_id", event->event_id), CELL_U("submission_id", event->submission_id),
              CELL_U("command_buffer_id", event->command_buffer_id), CELL_U("command_index", event->command_index),
              CELL_U("executable_id", event->executable_id), CELL_U("function_ordinal", event->function_ordinal),
              CELL_S("key", profile_bundle_key(p->bundle, event->executable_id, event->function_ordinal, buffer)),
              CELL_U("flags", event->flags), CELL_U("status_code", event->status_code),
              CELL_3("workgroup_count", event->workgroup_count), CELL_3("workgroup_size", event->workgroup_size),
              CELL_I("start_host_time_ns", event->start_host_time_ns),
              CELL_I("end_host_time_ns", event->end_host_time_ns),
              CELL_U("duration_ns", is_valid ? difference(event->end_host_time_ns, event->start_host_time_ns) : 0),
              CELL_B("valid", is_valid), CELL_U("tile_count", event->tile_count),
              CELL_I("tile_duration_sum_ns", event->tile_duration_sum_ns));
}

static void print_memory_event(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_memory_event_t* event = item->record;
  PROFILE_ROW(
      &p->out, "memory_event", CELL_U("event_id", event->event_id),
      CELL_C("event_type", iree_hal_profile_memory_event_type_name(event->type)),
      CELL_U("event_type_value", event->type), CELL_U("flags", event->flags), CELL_U("result", event->result),
      CELL_I("host_time_ns", event->host_time_ns), CELL_U("allocation_id", event->allocation_id),
      CELL_C("host_time_domain", "iree_host_time_ns"), CELL_U("pool_id", event->pool_id),
      CELL_U("backing_id", event->backing_id), CELL_U("submission_id", event->submission_id),
      CELL_U("physical_device_ordinal", event->physical_device_ordinal), CELL_U("queue_ordinal", event->queue_ordinal),
      CELL_U("frontier_entry_count", event->frontier_entry_count), CELL_U("memory_type", event->memory_type),
      CELL_U("buffer_usage", event->buffer_usage), CELL_U("offset", event->offset), CELL_U("length", event->length),
      CELL_U("alignment", event->alignment),
      CELL_B("externally_owned", event->flags & IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_EXTERNALLY_OWNED),
      CELL_B("pool_stats_available", event->flags & IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_STATS),
      CELL_U("pool_bytes_reserved", event->pool_bytes_reserved), CELL_U("pool_bytes_free", event->pool_bytes_free),
      CELL_U("pool_bytes_committed", event->pool_bytes_committed),
      CELL_U("pool_budget_limit", event->pool_budget_limit),
      CELL_U("pool_reservation_count", event->pool_reservation_count),
      CELL_U("pool_slab_count", event->pool_slab_count));
}

static void print_region_event(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_command_region_event_t* event = item->record;
  int64_t start = event->command_region.start_host_time_ns, end = event->command_region.end_host_time_ns;
  PROFILE_ROW_OPEN(
      &p->out, "command_region_event", CELL_U("physical_device_ordinal", event->queue.physical_device_ordinal),
      CELL_U("queue_ordinal", event->queue.queue_ordinal), CELL_U("stream_id", event->stream_id),
      CELL_U("event_id", event->event_id), CELL_U("submission_id", event->submission_id),
      CELL_U("command_buffer_id", event->command_buffer_id),
      CELL_U("block_sequence", event->command_region.block_sequence),
      CELL_U("region_epoch", event->command_region.epoch), CELL_I("region_index", event->command_region.index),
      CELL_I("next_region_index", event->next_command_region.index), CELL_U("flags", event->flags),
      CELL_C("host_time_domain", "iree_host_time_ns"), CELL_I("start_host_time_ns", start),
      CELL_I("end_host_time_ns", end), CELL_U("duration_ns", difference(end, start)), CELL_B("valid", end >= start),
      CELL_U("region_dispatch_count", event->command_region.dispatch_count),
      CELL_U("region_tile_count", event->command_region.tile_count),
      CELL_U("region_width_bucket", event->command_region.width_bucket),
      CELL_U("region_lookahead_width_bucket", event->command_region.lookahead_width_bucket),
      CELL_U("next_region_tile_count", event->next_command_region.tile_count),
      CELL_U("next_region_width_bucket", event->next_command_region.width_bucket),
      CELL_U("next_region_lookahead_width_bucket", event->next_command_region.lookahead_width_bucket),
      CELL_U("worker_count", event->scheduler.worker_count),
      CELL_I("old_wake_budget", event->scheduler.old_wake_budget),
      CELL_I("new_wake_budget", event->scheduler.new_wake_budget), CELL_I("wake_delta", event->scheduler.wake_delta),
      CELL_U("useful_drain_count", event->command_region.useful_drain_count),
      CELL_U("no_work_drain_count", event->command_region.no_work_drain_count),
      CELL_I("first_useful_drain_start_host_time_ns", event->command_region.first_useful_drain_start_host_time_ns),
      CELL_I("last_useful_drain_end_host_time_ns", event->command_region.last_useful_drain_end_host_time_ns),
      CELL_U("retention_keep_active_count", event->retention.keep_active_count),
      CELL_U("retention_publish_keep_active_count", event->retention.publish_keep_active_count),
      CELL_U("retention_keep_warm_count", event->retention.keep_warm_count));
  const uint32_t* buckets = event->command_region.tail_no_work.remaining_tiles.bucket_counts;
  fprintf(p->out.file,
          ",\"tail_no_work\":{\"count\":%u,\"remaining_tiles\":{\"min\":%u,\"max\":%u,\"bucket_counts\":[%u",
          event->command_region.tail_no_work.count, event->command_region.tail_no_work.remaining_tiles.min,
          event->command_region.tail_no_work.remaining_tiles.max, buckets[0]);
  for (int i = 1; i < IREE_HAL_PROFILE_COMMAND_REGION_REMAINING_TILE_BUCKET_COUNT; ++i) {
    fprintf(p->out.file, ",%u", buckets[i]);
  }
  fprintf(p->out.file,
          "]},\"first_start_host_time_ns\":%" PRId64 ",\"last_end_host_time_ns\":%" PRId64
          ",\"time_sums\":{\"start_offset_ns\":%" PRId64 ",\"drain_duration_ns\":%" PRId64 "}}}\n",
          event->command_region.tail_no_work.first_start_host_time_ns,
          event->command_region.tail_no_work.last_end_host_time_ns,
          event->command_region.tail_no_work.time_sums.start_offset_ns,
          event->command_region.tail_no_work.time_sums.drain_duration_ns);
}

static const char* relationship_name(uint32_t value) {
  return NAME_OF(value, "unknown", "queue_submission_dispatch", "queue_submission_queue_device_event",
                 "queue_event_host_execution_event", "queue_submission_host_execution_event");
}
static const char* endpoint_name(uint32_t value) {
  return NAME_OF(value, "unknown", "queue_submission", "queue_event", "dispatch_event", "command_operation",
                 "memory_event", "artifact", "queue_device_event", "host_execution_event");
}

static void print_relationship(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_event_relationship_record_t* record = item->record;
  PROFILE_ROW(
      &p->out, "event_relationship", CELL_U("relationship_id", record->relationship_id),
      CELL_C("kind", relationship_name(record->type)), CELL_U("kind_value", record->type),
      CELL_C("source_type", endpoint_name(record->source_type)), CELL_U("source_type_value", record->source_type),
      CELL_C("target_type", endpoint_name(record->target_type)), CELL_U("target_type_value", record->target_type),
      CELL_U("physical_device_ordinal", record->physical_device_ordinal),
      CELL_U("queue_ordinal", record->queue_ordinal), CELL_U("stream_id", record->stream_id),
      CELL_U("source_id", record->source_id), CELL_U("source_secondary_id", record->source_secondary_id),
      CELL_U("target_id", record->target_id), CELL_U("target_secondary_id", record->target_secondary_id));
}

//===----------------------------------------------------------------------------------------------------------------===
// Counters, metrics, traces
//===----------------------------------------------------------------------------------------------------------------===

static void print_counter_set(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_counter_set_record_t* record = item->record;
  PROFILE_ROW(&p->out, "counter_set", CELL_U("counter_set_id", record->counter_set_id),
              CELL_U("physical_device_ordinal", record->physical_device_ordinal), CELL_U("flags", record->flags),
              CELL_U("counter_count", record->counter_count), CELL_U("sample_value_count", record->sample_value_count),
              CELL_S("name", profile_trailing_text(item->trailing, 0, record->name_length)));
}

static void print_counter(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_counter_record_t* record = item->record;
  uint32_t block = record->block_name_length, name = record->name_length;
  PROFILE_ROW(&p->out, "counter", CELL_U("counter_set_id", record->counter_set_id),
              CELL_U("counter_ordinal", record->counter_ordinal),
              CELL_U("physical_device_ordinal", record->physical_device_ordinal), CELL_U("flags", record->flags),
              CELL_C_IF(!p->out.is_export, "unit", profile_counter_unit_name(record->unit)),
              {.name = p->out.is_export ? "unit" : "unit_value", .kind = 'u', .u = record->unit},
              CELL_U("sample_value_offset", record->sample_value_offset),
              CELL_U("sample_value_count", record->sample_value_count),
              CELL_S("block", profile_trailing_text(item->trailing, 0, block)),
              CELL_S("name", profile_trailing_text(item->trailing, block, name)),
              CELL_S("description", profile_trailing_text(item->trailing, (iree_host_size_t)block + name,
                                                          record->description_length)));
}

static void print_counter_sample(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_counter_sample_record_t* record = item->record;
  const iree_hal_profile_clock_t* clock = profile_bundle_clock(p->bundle, record->physical_device_ordinal);
  profile_span_t span =
      profile_device_span(p->bundle, record->physical_device_ordinal, record->start_tick, record->end_tick);
  PROFILE_ROW_OPEN(
      &p->out, "counter_sample", CELL_U("sample_id", record->sample_id),
      CELL_U("counter_set_id", record->counter_set_id), CELL_C("scope", profile_counter_scope_name(record->scope)),
      CELL_U("scope_value", record->scope), CELL_U("dispatch_event_id", record->dispatch_event_id),
      CELL_U("submission_id", record->submission_id), CELL_U("command_buffer_id", record->command_buffer_id),
      CELL_U("command_index", record->command_index), CELL_U("executable_id", record->executable_id),
      CELL_U("function_ordinal", record->function_ordinal),
      CELL_U("physical_device_ordinal", record->physical_device_ordinal),
      CELL_U("queue_ordinal", record->queue_ordinal), CELL_U("stream_id", record->stream_id),
      CELL_U("flags", record->flags), PROFILE_SAMPLE_TICK_CELLS(record, span),
      CELL_B("derived_time_available", span.has_ns), CELL_C("derived_time_domain", "driver_host_cpu_timestamp_ns"),
      CELL_C("derived_time_basis", "first_last_clock_correlation"),
      CELL_U("clock_fit_first_sample_id", span.has_ns ? clock->first_sample_id : 0),
      CELL_U("clock_fit_last_sample_id", span.has_ns ? clock->last_sample_id : 0),
      CELL_U("start_driver_host_cpu_time_ns", (uint64_t)span.start_ns),
      CELL_U("end_driver_host_cpu_time_ns", (uint64_t)span.end_ns),
      CELL_C("duration_time_domain", "device_tick_duration_ns"),
      CELL_U("duration_ns", difference(span.end_ns, span.start_ns)));
  fputs(",\"values\":[", p->out.file);
  for (uint32_t i = 0; i < record->sample_value_count; ++i) {
    uint64_t value;
    memcpy(&value, item->trailing.data + i * sizeof(value), sizeof(value));
    fprintf(p->out.file, "%s%" PRIu64, i ? "," : "", value);
  }
  fputs("]}\n", p->out.file);
}

static void print_metric_source(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_device_metric_source_record_t* record = item->record;
  PROFILE_ROW(&p->out, "device_metric_source", CELL_U("source_id", record->source_id),
              CELL_U("physical_device_ordinal", record->physical_device_ordinal),
              CELL_C("device_class", NAME_OF(record->device_class, "none", "cpu", "gpu", "npu")),
              CELL_U("device_class_value", record->device_class), CELL_U("flags", record->flags),
              CELL_U("source_kind", record->source_kind), CELL_U("source_revision", record->source_revision),
              CELL_U("metric_count", record->metric_count),
              CELL_S("name", profile_trailing_text(item->trailing, 0, record->name_length)));
}

static void print_metric_descriptor(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_device_metric_descriptor_record_t* record = item->record;
  PROFILE_ROW(
      &p->out, "device_metric_descriptor", CELL_U("source_id", record->source_id),
      CELL_U("metric_id", record->metric_id),
      CELL_B("builtin", iree_hal_profile_metric_id_is_builtin(record->metric_id)),
      CELL_B("producer_specific", iree_hal_profile_metric_id_is_producer_specific(record->metric_id)),
      CELL_U("flags", record->flags), CELL_S("unit", iree_hal_profile_metric_unit_string(record->unit)),
      CELL_U("unit_value", record->unit),
      CELL_S("value_kind", iree_hal_profile_metric_value_kind_string(record->value_kind)),
      CELL_U("value_kind_value", record->value_kind),
      CELL_S("semantic", iree_hal_profile_metric_semantic_string(record->semantic)),
      CELL_U("semantic_value", record->semantic),
      CELL_S("plot_hint", iree_hal_profile_metric_plot_hint_string(record->plot_hint)),
      CELL_U("plot_hint_value", record->plot_hint),
      CELL_S("name", profile_trailing_text(item->trailing, 0, record->name_length)),
      CELL_S("description", profile_trailing_text(item->trailing, record->name_length, record->description_length)));
}

// What describes a metric of a source.
typedef struct metric_search_t {
  uint64_t source_id, metric_id;
  iree_hal_profile_metric_descriptor_t found;
} metric_search_t;

static void find_metric(void* user_data, const profile_item_t* item) {
  metric_search_t* search = (metric_search_t*)user_data;
  const iree_hal_profile_device_metric_descriptor_record_t* record = item->record;
  if (record->source_id != search->source_id || record->metric_id != search->metric_id) return;
  search->found = (iree_hal_profile_metric_descriptor_t){
      .unit = record->unit,
      .value_kind = record->value_kind,
      .semantic = record->semantic,
      .plot_hint = record->plot_hint,
      .name = profile_trailing_text(item->trailing, 0, record->name_length),
  };
}

static void print_metric_value(const profile_printer_t* p, uint64_t source_id,
                               const iree_hal_profile_device_metric_value_t* value) {
  metric_search_t search = {.source_id = source_id, .metric_id = value->metric_id};
  const iree_hal_profile_metric_descriptor_t* metric =
      iree_hal_profile_builtin_metric_descriptor_lookup(value->metric_id);
  if (!metric) {
    profile_bundle_each(p->bundle, PROFILE_KIND_METRIC_DESCRIPTORS, find_metric, &search);
    metric = &search.found;
  }
  const iree_string_view_t texts[] = {metric->name, iree_hal_profile_metric_unit_string(metric->unit),
                                      iree_hal_profile_metric_value_kind_string(metric->value_kind),
                                      iree_hal_profile_metric_semantic_string(metric->semantic),
                                      iree_hal_profile_metric_plot_hint_string(metric->plot_hint)};
  static const char* const names[] = {"name", "unit", "value_kind", "semantic", "plot_hint"};
  fprintf(p->out.file, "{\"metric_id\":%" PRIu64, value->metric_id);
  for (size_t i = 0; i < IREE_ARRAYSIZE(texts); ++i) {
    fprintf(p->out.file, ",\"%s\":", names[i]);
    profile_json_string(p->out.file, texts[i]);
  }
  fprintf(p->out.file, ",\"flags\":%u,\"value\":", value->flags);
  if (metric->value_kind == IREE_HAL_PROFILE_METRIC_VALUE_KIND_F64) {
    double number;
    memcpy(&number, &value->value_bits, sizeof(number));
    fprintf(p->out.file, isfinite(number) ? "%.17g" : "null", number);
  } else {
    bool is_signed = metric->value_kind == IREE_HAL_PROFILE_METRIC_VALUE_KIND_I64;
    fprintf(p->out.file, is_signed ? "%" PRId64 : "%" PRIu64, value->value_bits);
  }
  fprintf(p->out.file, ",\"value_bits\":%" PRIu64 "}", value->value_bits);
}

static void print_metric_sample(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_device_metric_sample_record_t* record = item->record;
  PROFILE_ROW_OPEN(
      &p->out, "device_metric_sample", CELL_U("sample_id", record->sample_id), CELL_U("source_id", record->source_id),
      CELL_U("flags", record->flags), CELL_U("physical_device_ordinal", record->physical_device_ordinal),
      CELL_C("host_time_domain", "iree_host_time_ns"), CELL_I("host_time_begin_ns", record->host_time_begin_ns),
      CELL_I("host_time_end_ns", record->host_time_end_ns),
      CELL_U("host_time_uncertainty_ns", difference(record->host_time_end_ns, record->host_time_begin_ns)),
      CELL_B("source_timestamp_present", record->flags & IREE_HAL_PROFILE_DEVICE_METRIC_SAMPLE_FLAG_SOURCE_TIMESTAMP),
      CELL_U("source_timestamp", record->source_timestamp),
      CELL_U("source_timestamp_frequency_hz", record->source_timestamp_frequency_hz));
  fputs(",\"values\":[", p->out.file);
  for (uint32_t i = 0; i < record->value_count; ++i) {
    iree_hal_profile_device_metric_value_t value;
    memcpy(&value, item->trailing.data + i * sizeof(value), sizeof(value));
    if (i) fputc(',', p->out.file);
    print_metric_value(p, record->source_id, &value);
  }
  fputs("]}\n", p->out.file);
}

static void print_trace(const profile_printer_t* p, const profile_item_t* item) {
  const iree_hal_profile_executable_trace_record_t* record = item->record;
  PROFILE_ROW(&p->out, "executable_trace", CELL_U("trace_id", record->trace_id),
              CELL_C("format", NAME_OF(record->format, "none", "amdgpu_att")), CELL_U("format_value", record->format),
              CELL_U("flags", record->flags), CELL_U("shader_engine", record->shader_engine),
              CELL_U("dispatch_event_id", record->dispatch_event_id), CELL_U("submission_id", record->submission_id),
              CELL_U("command_buffer_id", record->command_buffer_id), CELL_U("command_index", record->command_index),
              CELL_U("executable_id", record->executable_id), CELL_U("function_ordinal", record->function_ordinal),
              CELL_U("physical_device_ordinal", record->physical_device_ordinal),
              CELL_U("queue_ordinal", record->queue_ordinal), CELL_U("stream_id", record->stream_id),
              CELL_U("record_length", record->record_length), CELL_U("data_length", record->data_length));
}

void profile_print_record(const profile_printer_t* printer, const profile_item_t* item) {
  static void (*const printers[PROFILE_KIND_COUNT])(const profile_printer_t* printer, const profile_item_t* item) = {
      [PROFILE_KIND_DEVICES] = print_device,
      [PROFILE_KIND_QUEUES] = print_queue,
      [PROFILE_KIND_EXECUTABLES] = print_executable,
      [PROFILE_KIND_CODE_OBJECTS] = print_code_object,
      [PROFILE_KIND_CODE_OBJECT_LOADS] = print_code_object_load,
      [PROFILE_KIND_FUNCTIONS] = print_function,
      [PROFILE_KIND_COMMAND_BUFFERS] = print_command_buffer,
      [PROFILE_KIND_COMMAND_OPERATIONS] = print_command_operation,
      [PROFILE_KIND_CLOCKS] = print_clock,
      [PROFILE_KIND_DISPATCH_EVENTS] = print_dispatch,
      [PROFILE_KIND_QUEUE_EVENTS] = print_queue_event,
      [PROFILE_KIND_DEVICE_EVENTS] = print_device_event,
      [PROFILE_KIND_HOST_EVENTS] = print_host_event,
      [PROFILE_KIND_REGION_EVENTS] = print_region_event,
      [PROFILE_KIND_MEMORY_EVENTS] = print_memory_event,
      [PROFILE_KIND_RELATIONSHIPS] = print_relationship,
      [PROFILE_KIND_COUNTER_SETS] = print_counter_set,
      [PROFILE_KIND_COUNTERS] = print_counter,
      [PROFILE_KIND_COUNTER_SAMPLES] = print_counter_sample,
      [PROFILE_KIND_METRIC_SOURCES] = print_metric_source,
      [PROFILE_KIND_METRIC_DESCRIPTORS] = print_metric_descriptor,
      [PROFILE_KIND_METRIC_SAMPLES] = print_metric_sample,
      [PROFILE_KIND_TRACES] = print_trace,
  };
  printers[item->chunk->kind](printer, item);
}
