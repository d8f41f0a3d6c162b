// Where time goes.
#include <stdlib.h>

#include "tooling/profile/memory.h"
#include "tooling/profile/reports.h"

enum { TOP = 10 };

typedef struct explain_t {
  const profile_request_t* request;
  bool is_host;                    // no dispatches in the device's time: those of the host are ranked
  profile_dispatches_t functions;  // of that time
  uint64_t dispatches, valid, host_dispatches, valid_host, failed_sessions;
  profile_memory_summary_t memory;
  profile_dispatch_t top[TOP];  // the longest ones
  iree_host_size_t top_count;
} explain_t;

static uint64_t duration_of(const profile_dispatch_t* dispatch) { return dispatch->end - dispatch->start; }

static bool takes(const explain_t* e, const profile_item_t* item, profile_dispatch_t* out_dispatch) {
  const profile_selection_t* selection = &e->request->selection;
  char buffer[64];
  if (item->chunk->kind == PROFILE_KIND_HOST_EVENTS && !profile_host_event_is_dispatch(item->record)) return false;
  *out_dispatch = profile_dispatch_of(item);
  if (selection->id >= 0 && (uint64_t)selection->id != out_dispatch->event_id) return false;
  return iree_string_view_match_pattern(
      profile_bundle_key(e->request->bundle, out_dispatch->executable, out_dispatch->function, buffer),
      selection->filter);
}

static void rank_dispatch(void* user_data, const profile_item_t* item) {
  explain_t* e = (explain_t*)user_data;
  profile_dispatch_t dispatch;
  if (!takes(e, item, &dispatch) || !dispatch.is_valid) return;
  iree_host_size_t place = e->top_count;
  while (place > 0 && duration_of(&e->top[place - 1]) < duration_of(&dispatch)) --place;
  if (place == TOP) return;
  iree_host_size_t kept = iree_min(e->top_count, TOP - 1) - place;
  memmove(&e->top[place + 1], &e->top[place], kept * sizeof(e->top[0]));
  e->top[place] = dispatch;
  e->top_count = iree_min(e->top_count + 1, TOP);
}

static iree_status_t count_dispatches(explain_t* e, bool is_host, uint64_t* out_total, uint64_t* out_valid) {
  profile_dispatches_t dispatches;
  iree_status_t status = profile_dispatches_collect(e->request->bundle, &e->request->selection, is_host,
                                                    profile_key_of_function, &dispatches);
  *out_total = dispatches.matched;
  *out_valid = dispatches.valid;
  profile_groups_free(&dispatches.groups);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Queues
//===----------------------------------------------------------------------------------------------------------------===

typedef struct interval_t {
  uint64_t start, end;
} interval_t;

typedef struct queue_times_t {
  const iree_hal_profile_queue_record_t* queue;
  iree_allocator_t allocator;
  iree_status_t status;
  iree_host_size_t count, capacity;
  interval_t* intervals;
  uint64_t submissions, total, busy, gaps, gap_total, gap_most;
} queue_times_t;

static void add_interval(queue_times_t* times, uint64_t start, uint64_t end) {
  if (!iree_status_is_ok(times->status)) return;
  if (times->count == times->capacity) {
    times->status = iree_allocator_grow_array(times->allocator, 64, sizeof(*times->intervals), &times->capacity,
                                              (void**)&times->intervals);
    if (!iree_status_is_ok(times->status)) return;
  }
  times->intervals[times->count++] = (interval_t){start, end};
}

static int compare_intervals(const void* a, const void* b) {
  uint64_t x = ((const interval_t*)a)->start, y = ((const interval_t*)b)->start;
  return x < y ? -1 : x > y;
}

// What is busy, and what is idle between, of spans of submissions.
static void measure(queue_times_t* times) {
  uint64_t end = 0;
  if (times->count) qsort(times->intervals, times->count, sizeof(*times->intervals), compare_intervals);
  for (iree_host_size_t i = 0; i < times->count; ++i) {
    const interval_t* interval = &times->intervals[i];
    if (i && interval->start > end) {
      uint64_t gap = interval->start - end;
      ++times->gaps;
      times->gap_total += gap;
      times->gap_most = iree_max(times->gap_most, gap);
    }
    uint64_t start = iree_max(interval->start, end);
    if (interval->end > start) times->busy += interval->end - start;
    end = iree_max(end, interval->end);
  }
}

// By submission, those of one event.
static void key_of_submission(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id) {
  profile_key_of_submission(item, out_key, out_id);
  *out_id = profile_dispatch_of(item).event_id;
}

static iree_status_t measure_queue(const explain_t* e, queue_times_t* times) {
  profile_dispatches_t submissions;
  iree_status_t status =
      profile_dispatches_collect(e->request->bundle, &e->request->selection, false, key_of_submission, &submissions);
  for (iree_host_size_t i = 0; i < submissions.groups.count && iree_status_is_ok(status); ++i) {
    const profile_group_t* group = &submissions.groups.groups[i];
    if (group->key[0] != times->queue->physical_device_ordinal || group->key[1] != times->queue->queue_ordinal)
      continue;
    ++times->submissions;
    if (!group->valid) continue;
    times->total += (uint64_t)group->sum;
    add_interval(times, group->start, group->end);
  }
  profile_groups_free(&submissions.groups);
  IREE_RETURN_IF_ERROR(status);
  IREE_RETURN_IF_ERROR(times->status);
  measure(times);
  return iree_ok_status();
}

static void print_queue_times(const explain_t* e, const queue_times_t* t) {
  const profile_request_t* r = e->request;
  uint32_t physical = t->queue->physical_device_ordinal;
  double ns = iree_hal_profile_clock_ns_per_tick(profile_bundle_clock(r->bundle, physical));
  uint64_t invalid = t->submissions - t->count;
  if (!r->is_json) {
    fprintf(r->file,
            "  queue device=%u ordinal=%u stream=%" PRIu64 ": submissions=%" PRIu64 " valid=%" PRIhsz
            " invalid=%" PRIu64 " busy_ticks=%.3f total_dispatch_ticks=%" PRIu64,
            physical, t->queue->queue_ordinal, t->queue->stream_id, t->submissions, t->count, invalid, (double)t->busy,
            t->total);
    if (ns > 0 && t->count) {
      fprintf(r->file, " busy_ns=%.3f total_dispatch_ns=%.0f", (double)t->busy * ns, (double)t->total * ns);
    }
    fprintf(r->file, " gaps=%" PRIu64 " total_gap_ticks=%.3f max_gap_ticks=%.3f", t->gaps, (double)t->gap_total,
            (double)t->gap_most);
    if (ns > 0) {
      fprintf(r->file, " total_gap_ns=%.3f max_gap_ns=%.3f", (double)t->gap_total * ns, (double)t->gap_most * ns);
    }
    fputs("\n", r->file);
    return;
  }
  PROFILE_ROW(&(profile_out_t){.file = r->file}, "explain_queue", CELL_U("physical_device_ordinal", physical),
              CELL_U("queue_ordinal", t->queue->queue_ordinal), CELL_U("stream_id", t->queue->stream_id),
              CELL_U("submissions", t->submissions), CELL_U("valid_submissions", t->count),
              CELL_U("invalid_submissions", invalid), CELL_F("busy_ticks", (double)t->busy, 3),
              CELL_U("total_dispatch_ticks", t->total), CELL_B("clock_fit_available", ns > 0),
              CELL_F("busy_ns", (double)t->busy * ns, 3),
              CELL_B("total_dispatch_time_ns_available", ns > 0 && t->count),
              CELL_F("total_dispatch_ns", (double)t->total * ns, 0), CELL_B("gap_analysis_available", true),
              CELL_U("gaps", t->gaps), CELL_F("total_gap_ticks", (double)t->gap_total, 3),
              CELL_F("max_gap_ticks", (double)t->gap_most, 3), CELL_F("total_gap_ns", (double)t->gap_total * ns, 3),
              CELL_F("max_gap_ns", (double)t->gap_most * ns, 3));
}

typedef struct explain_queue_t {
  const explain_t* explain;
  iree_status_t status;
} explain_queue_t;

static void explain_queue(void* user_data, const profile_item_t* item) {
  explain_queue_t* context = (explain_queue_t*)user_data;
  queue_times_t times = {.queue = item->record, .allocator = context->explain->request->bundle->allocator};
  if (!iree_status_is_ok(context->status)) return;
  context->status = measure_queue(context->explain, &times);
  if (iree_status_is_ok(context->status)) print_queue_times(context->explain, &times);
  iree_allocator_free(times.allocator, times.intervals);
}

// The whole of a device: from its first dispatch to its last.
typedef struct device_times_t {
  const explain_t* explain;
  uint32_t physical;
  profile_group_t group;
} device_times_t;

static void add_to_device(void* user_data, const profile_item_t* item) {
  device_times_t* times = (device_times_t*)user_data;
  profile_dispatch_t dispatch;
  if (!takes(times->explain, item, &dispatch) || dispatch.physical != times->physical) return;
  profile_group_add(&times->group, dispatch.is_valid, dispatch.start, dispatch.end);
}

static void explain_device(void* user_data, const profile_item_t* item) {
  const profile_request_t* r = ((const explain_t*)user_data)->request;
  device_times_t times = {(const explain_t*)user_data,
                          ((const iree_hal_profile_device_record_t*)item->record)->physical_device_ordinal,
                          {.min = UINT64_MAX, .start = UINT64_MAX}};
  profile_bundle_each(r->bundle, PROFILE_KIND_DISPATCH_EVENTS, add_to_device, &times);
  const iree_hal_profile_clock_t* clock = profile_bundle_clock(r->bundle, times.physical);
  bool has_valid = times.group.valid != 0;
  if (!has_valid && !clock->sample_count) return;
  double ns = iree_hal_profile_clock_ns_per_tick(clock);
  double span = has_valid ? (double)(times.group.end - times.group.start) : 0;
  double share = span > 0 ? times.group.sum / span : 0;
  if (!r->is_json) {
    fprintf(r->file,
            "  device[%u]: clock_fit=%s clock_samples=%u visible_span_ticks=%.3f active_dispatch_ticks=%.0f "
            "active_over_visible=%.3f\n",
            times.physical, ns > 0 ? "true" : "false", clock->sample_count, span, times.group.sum, share);
    if (ns > 0 && has_valid) {
      fprintf(r->file, "    visible_span_ns=%.3f active_dispatch_ns=%.0f tick_frequency_hz=%.3f\n", span * ns,
              times.group.sum * ns, 1e9 / ns);
    }
    return;
  }
  PROFILE_ROW(&(profile_out_t){.file = r->file}, "explain_device", CELL_U("physical_device_ordinal", times.physical),
              CELL_B("clock_fit_available", ns > 0), CELL_U("clock_samples", clock->sample_count),
              CELL_F("visible_span_ticks", span, 3), CELL_F("active_dispatch_ticks", times.group.sum, 0),
              CELL_F("active_over_visible", share, 6), CELL_F("tick_frequency_hz", ns > 0 ? 1e9 / ns : 0, 3),
              CELL_F("visible_span_ns", span * ns, 3), CELL_B("active_dispatch_time_ns_available", ns > 0 && has_valid),
              CELL_F("active_dispatch_ns", times.group.sum * ns, 0));
}

//===----------------------------------------------------------------------------------------------------------------===
// The slowest
//===----------------------------------------------------------------------------------------------------------------===

static int compare_groups(const void* a, const void* b) {
  double x = ((const profile_group_t*)a)->sum, y = ((const profile_group_t*)b)->sum;
  return x > y ? -1 : x < y;
}

static void print_function(const explain_t* e, iree_host_size_t rank, const profile_group_t* g) {
  const profile_request_t* r = e->request;
  char buffer[64];
  iree_string_view_t key = profile_bundle_key(r->bundle, g->key[1], (uint32_t)g->key[2], buffer);
  double ns = e->is_host ? 1 : iree_hal_profile_clock_ns_per_tick(profile_bundle_clock(r->bundle, (uint32_t)g->key[0]));
  const char* source = e->is_host ? "host_execution_event" : "device_dispatch_event";
  double mean = profile_group_mean(g), total_ticks = e->is_host ? 0 : g->sum;
  uint64_t max_ticks = e->is_host ? 0 : g->max;
  if (r->is_json) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "explain_top_function", CELL_U("rank", rank),
                CELL_U("physical_device_ordinal", g->key[0]), CELL_U("executable_id", g->key[1]),
                CELL_U("function_ordinal", g->key[2]), CELL_S("key", key), CELL_U("dispatches", g->count),
                CELL_U("valid", g->valid), CELL_U("invalid", g->count - g->valid),
                CELL_F("total_ticks", total_ticks, 0), CELL_U("max_ticks", max_ticks), CELL_C("timing_source", source),
                CELL_B("duration_ns_available", ns > 0), CELL_F("total_ns", g->sum * ns, 0),
                CELL_F("avg_ns", mean * ns, 3), CELL_F("max_ns", (double)g->max * ns, 0),
                CELL_U("total_tile_count", g->tiles), CELL_U("total_tile_duration_sum_ns", g->tile_ns));
    return;
  }
  fprintf(r->file,
          "  #%" PRIhsz " %.*s device=%" PRIu64 " executable=%" PRIu64 " function=%" PRIu64 " count=%" PRIu64
          " valid=%" PRIu64 " invalid=%" PRIu64 " timing_source=%s",
          rank, (int)key.size, key.data, g->key[0], g->key[1], g->key[2], g->count, g->valid, g->count - g->valid,
          source);
  if (e->is_host) {
    fprintf(r->file, " total_tile_count=%" PRIu64 " total_tile_duration_sum_ns=%" PRIu64, g->tiles, g->tile_ns);
  } else {
    fprintf(r->file, " total_ticks=%.0f max_ticks=%" PRIu64, total_ticks, max_ticks);
  }
  if (ns > 0) {
    fprintf(r->file, " total_ns=%.0f avg_ns=%.3f max_ns=%.0f", g->sum * ns, mean * ns, (double)g->max * ns);
  }
  fputs("\n", r->file);
}

static void print_dispatch(const explain_t* e, iree_host_size_t rank, const profile_dispatch_t* d) {
  const profile_request_t* r = e->request;
  char buffer[64];
  iree_string_view_t key = profile_bundle_key(r->bundle, d->executable, d->function, buffer);
  double ns = e->is_host ? 1 : iree_hal_profile_clock_ns_per_tick(profile_bundle_clock(r->bundle, d->physical));
  const char* source = e->is_host ? "host_execution_event" : "device_dispatch_event";
  uint64_t duration = duration_of(d), ticks = e->is_host ? 0 : duration;
  if (r->is_json) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "explain_top_dispatch", CELL_U("rank", rank),
                CELL_U("event_id", d->event_id), CELL_U("submission_id", d->submission),
                CELL_U("physical_device_ordinal", d->physical), CELL_U("queue_ordinal", d->queue),
                CELL_U("stream_id", d->stream),
                CELL_U_IF(e->is_host && d->command_buffer, "command_buffer_id", d->command_buffer),
                CELL_U_IF(e->is_host && d->command_buffer, "command_index", d->command_index), CELL_S("key", key),
                CELL_C("timing_source", source), CELL_U("duration_ticks", ticks),
                CELL_B("duration_ns_available", ns > 0), CELL_F("duration_ns", (double)duration * ns, 0),
                CELL_U("tile_count", d->tiles), CELL_U("tile_duration_sum_ns", d->tile_ns));
    return;
  }
  fprintf(r->file,
          "  #%" PRIhsz " event=%" PRIu64 " submission=%" PRIu64 " %.*s device=%u queue=%u stream=%" PRIu64
          " timing_source=%s",
          rank, d->event_id, d->submission, (int)key.size, key.data, d->physical, d->queue, d->stream, source);
  if (!e->is_host) fprintf(r->file, " duration_ticks=%" PRIu64, ticks);
  if (ns > 0) fprintf(r->file, " duration_ns=%.0f", (double)duration * ns);
  if (e->is_host) fprintf(r->file, " tile_count=%" PRIu64 " tile_duration_sum_ns=%" PRIu64, d->tiles, d->tile_ns);
  if (e->is_host && d->command_buffer) {
    fprintf(r->file, " command_buffer=%" PRIu64 " command_index=%u", d->command_buffer, d->command_index);
  }
  fputs("\n", r->file);
}

static void print_top(explain_t* e) {
  profile_groups_t* groups = &e->functions.groups;
  FILE* text = e->request->is_json ? NULL : e->request->file;
  if (groups->count) qsort(groups->groups, groups->count, sizeof(*groups->groups), compare_groups);
  if (text) fprintf(text, "top functions by total dispatch time:\n");
  for (iree_host_size_t i = 0; i < iree_min(groups->count, TOP); ++i) {
    if (groups->groups[i].valid) print_function(e, i + 1, &groups->groups[i]);
  }
  if (text) fprintf(text, "top individual dispatches:\n");
  for (iree_host_size_t i = 0; i < e->top_count; ++i) print_dispatch(e, i + 1, &e->top[i]);
}

//===----------------------------------------------------------------------------------------------------------------===
// Operations, memory, hints
//===----------------------------------------------------------------------------------------------------------------===

typedef struct operations_t {
  uint64_t strategies[4], types[12], bytes[12];
} operations_t;

static void add_operation(void* user_data, const profile_item_t* item) {
  const iree_hal_profile_queue_event_t* event = item->record;
  operations_t* operations = (operations_t*)user_data;
  if (event->dependency_strategy < IREE_ARRAYSIZE(operations->strategies)) {
    ++operations->strategies[event->dependency_strategy];
  }
  if (event->type >= IREE_ARRAYSIZE(operations->types)) return;
  ++operations->types[event->type];
  operations->bytes[event->type] += event->payload_length;
}

static void print_operations(const profile_request_t* r) {
  operations_t o = {0};
  profile_bundle_each(r->bundle, PROFILE_KIND_QUEUE_EVENTS, add_operation, &o);
  uint64_t events = r->bundle->record_counts[PROFILE_KIND_QUEUE_EVENTS];
  const uint64_t *n = o.types, *b = o.bytes, *s = o.strategies;
  if (r->is_json) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "explain_queue_operations", CELL_U("events", events),
                CELL_U("strategy_none", s[0]), CELL_U("strategy_inline", s[1]), CELL_U("strategy_device_barrier", s[2]),
                CELL_U("strategy_software_defer", s[3]), CELL_U("copy_bytes", b[4]), CELL_U("fill_bytes", b[5]),
                CELL_U("update_bytes", b[6]), CELL_U("read_bytes", b[7]), CELL_U("write_bytes", b[8]),
                CELL_U("dispatches", n[2]), CELL_U("executes", n[3]), CELL_U("allocas", n[9]),
                CELL_U("deallocas", n[10]), CELL_U("host_calls", n[11]));
    return;
  }
  fprintf(r->file,
          "queue operations: events=%" PRIu64 " strategies none/inline/device_barrier/software_defer=%" PRIu64
          "/%" PRIu64 "/%" PRIu64 "/%" PRIu64 "\n  transfer_payload_bytes copy/fill/update/read/write=%" PRIu64
          "/%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64
          "\n  operation_counts dispatch/execute/alloca/dealloca/host_call=%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64
          "/%" PRIu64 "\n",
          events, s[0], s[1], s[2], s[3], b[4], b[5], b[6], b[7], b[8], n[2], n[3], n[9], n[10], n[11]);
}

static void print_pressure(const explain_t* e) {
  const profile_request_t* r = e->request;
  if (!r->is_json) fprintf(r->file, "memory pressure:\n");
  for (iree_host_size_t i = 0; i < e->memory.device_count; ++i) {
    const profile_memory_device_t* d = &e->memory.devices[i];
    const profile_balance_t* b = d->balances;
    uint64_t waits = d->types[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_WAIT];
    if (r->is_json) {
      PROFILE_ROW(&(profile_out_t){.file = r->file}, "explain_memory_pressure",
                  CELL_U("physical_device_ordinal", d->physical),
                  CELL_U("slab_high_water_bytes", b[PROFILE_OPEN_SLAB].most_bytes),
                  CELL_U("pool_reserved_high_water_bytes", b[PROFILE_OPEN_RESERVATION].most_bytes),
                  CELL_U("pool_materialized_high_water_bytes", b[PROFILE_OPEN_MATERIALIZATION].most_bytes),
                  CELL_U("queue_inflight_high_water_bytes", b[PROFILE_OPEN_ALLOCATION].most_bytes),
                  CELL_U("buffer_high_water_bytes", b[PROFILE_OPEN_BUFFER].most_bytes), CELL_U("pool_waits", waits));
    } else {
      fprintf(r->file,
              "  device[%u]: slab_high_water=%" PRIu64 " pool_reserved_high_water=%" PRIu64
              " pool_materialized_high_water=%" PRIu64 " queue_inflight_high_water=%" PRIu64
              " buffer_high_water=%" PRIu64 " pool_waits=%" PRIu64 "\n",
              d->physical, b[PROFILE_OPEN_SLAB].most_bytes, b[PROFILE_OPEN_RESERVATION].most_bytes,
              b[PROFILE_OPEN_MATERIALIZATION].most_bytes, b[PROFILE_OPEN_ALLOCATION].most_bytes,
              b[PROFILE_OPEN_BUFFER].most_bytes, waits);
    }
  }
}

static void print_hint(const profile_request_t* r, bool applies, const char* severity, const char* category,
                       const char* message) {
  if (!applies) return;
  if (r->is_json) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "explain_hint", CELL_C("severity", severity),
                CELL_C("category", category), CELL_C("message", message));
  } else {
    fprintf(r->file, "  [%s] %s: %s\n", severity, category, message);
  }
}

static void print_hints(const explain_t* e) {
  const profile_request_t* r = e->request;
  const profile_bundle_t* b = r->bundle;
  bool waits = false;
  for (iree_host_size_t i = 0; i < e->memory.device_count; ++i) {
    waits |= e->memory.devices[i].types[IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_WAIT] != 0;
  }
  if (!r->is_json) fprintf(r->file, "hints:\n");
  print_hint(r, b->chunk_counts[PROFILE_KIND_UNKNOWN] != 0, "warning", "format",
             "some records or chunks are of kinds that are not known here, and left out");
  print_hint(r, b->truncated != 0, "error", "format",
             "records were dropped while the profile was taken: totals are too low");
  print_hint(r, e->failed_sessions != 0, "error", "session", "a session of the profile ended with a failure");
  print_hint(r, e->dispatches > e->valid, "warning", "dispatch",
             "some dispatches have no times, and are left out of totals");
  print_hint(r, e->host_dispatches > e->valid_host, "warning", "dispatch",
             "some dispatches of the host have no times, and are left out of totals");
  print_hint(r, !b->record_counts[PROFILE_KIND_QUEUE_EVENTS], "info", "queue",
             "there are no queue events; --device_profiling_mode=queue-events has them");
  print_hint(r, waits, "warning", "memory", "allocations waited for memory of a pool");
  print_hint(r, e->is_host, "info", "dispatch",
             "device dispatch events are absent; top dispatch analysis is using host execution dispatch spans");
  print_hint(r, !e->valid && !e->valid_host, "info", "dispatch",
             "there are no dispatches with times; --device_profiling_mode=dispatch-events or host-execution has them");
}

//===----------------------------------------------------------------------------------------------------------------===
// All of it
//===----------------------------------------------------------------------------------------------------------------===

static void print_head(const explain_t* e) {
  const profile_request_t* r = e->request;
  const profile_bundle_t* b = r->bundle;
  const uint64_t* n = b->record_counts;
  uint64_t chunks = 0, unknown_chunks = 0, unknown_records = 0;
  profile_bundle_count_unknown(b, &unknown_chunks, &unknown_records);
  for (iree_host_size_t i = 0; i < b->chunk_count; ++i) chunks += b->chunks[i].kind != PROFILE_KIND_SESSION;
  if (r->is_json) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "explain_summary", CELL_U("file_records", b->chunk_count),
                CELL_U("chunk_records", chunks), CELL_U("unknown_records", unknown_records),
                CELL_U("unknown_chunks", unknown_chunks), CELL_U("truncated_chunks", b->truncated),
                CELL_U("dropped_records", b->dropped), CELL_U("non_ok_session_end_records", e->failed_sessions),
                CELL_U("dispatches", e->dispatches), CELL_U("valid_dispatches", e->valid),
                CELL_U("invalid_dispatches", e->dispatches - e->valid), CELL_U("host_dispatches", e->host_dispatches),
                CELL_U("valid_host_dispatches", e->valid_host),
                CELL_U("invalid_host_dispatches", e->host_dispatches - e->valid_host),
                CELL_U("queues", n[PROFILE_KIND_QUEUES]), CELL_U("queue_events", n[PROFILE_KIND_QUEUE_EVENTS]),
                CELL_U("command_buffers", n[PROFILE_KIND_COMMAND_BUFFERS]),
                CELL_U("command_operations", n[PROFILE_KIND_COMMAND_OPERATIONS]),
                CELL_U("memory_events", n[PROFILE_KIND_MEMORY_EVENTS]));
    return;
  }
  fprintf(r->file,
          "IREE HAL profile explain\nhealth: records=%" PRIhsz " chunks=%" PRIu64 " unknown_records=%" PRIu64
          " unknown_chunks=%" PRIu64 " truncated_chunks=%" PRIu64 " dropped_records=%" PRIu64 "\n",
          b->chunk_count, chunks, unknown_records, unknown_chunks, b->truncated, b->dropped);
  fprintf(r->file,
          "coverage: dispatches=%" PRIu64 " valid=%" PRIu64 " invalid=%" PRIu64 " host_dispatches=%" PRIu64
          " valid_host=%" PRIu64 " invalid_host=%" PRIu64 " queues=%" PRIu64 " queue_events=%" PRIu64
          " command_buffers=%" PRIu64 " command_operations=%" PRIu64 " memory_events=%" PRIu64 "\n",
          e->dispatches, e->valid, e->dispatches - e->valid, e->host_dispatches, e->valid_host,
          e->host_dispatches - e->valid_host, n[PROFILE_KIND_QUEUES], n[PROFILE_KIND_QUEUE_EVENTS],
          n[PROFILE_KIND_COMMAND_BUFFERS], n[PROFILE_KIND_COMMAND_OPERATIONS], n[PROFILE_KIND_MEMORY_EVENTS]);
}

static iree_status_t print_all(explain_t* e) {
  const profile_request_t* r = e->request;
  print_head(e);
  if (!r->is_json) fprintf(r->file, "devices:\n");
  profile_bundle_each(r->bundle, PROFILE_KIND_DEVICES, explain_device, e);
  if (!r->is_json) fprintf(r->file, "queues:\n");
  explain_queue_t queues = {e, iree_ok_status()};
  profile_bundle_each(r->bundle, PROFILE_KIND_QUEUES, explain_queue, &queues);
  IREE_RETURN_IF_ERROR(queues.status);
  profile_bundle_each(r->bundle, e->is_host ? PROFILE_KIND_HOST_EVENTS : PROFILE_KIND_DISPATCH_EVENTS, rank_dispatch,
                      e);
  print_top(e);
  print_operations(r);
  print_pressure(e);
  print_hints(e);
  return iree_ok_status();
}

iree_status_t profile_report_explain(const profile_request_t* request) {
  const profile_bundle_t* bundle = request->bundle;
  const profile_selection_t all = {IREE_SV("*"), -1};
  explain_t explain = {.request = request};
  for (iree_host_size_t i = 0; i < bundle->chunk_count; ++i) {
    const iree_hal_profile_file_record_header_t* header = &bundle->chunks[i].record.header;
    explain.failed_sessions += header->session_status_code && bundle->chunks[i].kind == PROFILE_KIND_SESSION;
  }
  IREE_RETURN_IF_ERROR(count_dispatches(&explain, false, &explain.dispatches, &explain.valid));
  IREE_RETURN_IF_ERROR(count_dispatches(&explain, true, &explain.host_dispatches, &explain.valid_host));
  explain.is_host = !explain.valid && explain.valid_host;
  iree_status_t status = profile_memory_collect(bundle, &all, &explain.memory);
  if (iree_status_is_ok(status)) {
    status = profile_dispatches_collect(bundle, &request->selection, explain.is_host, profile_key_of_function,
                                        &explain.functions);
    if (iree_status_is_ok(status)) status = print_all(&explain);
    profile_groups_free(&explain.functions.groups);
  }
  profile_memory_free(&explain.memory);
  return status;
}
