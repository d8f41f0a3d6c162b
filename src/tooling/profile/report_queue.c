// Reports on what queues were given: command, queue.
#include "tooling/profile/report_dispatch.h"

//===----------------------------------------------------------------------------------------------------------------===
// Executions, submissions
//===----------------------------------------------------------------------------------------------------------------===

// What a group of an execution or a submission is named by.
typedef struct place_t {
  uint64_t command_buffer, submission, physical, queue, stream;
} place_t;

static void print_place(const profile_request_t* r, const char* type, bool is_host, const place_t* at,
                        const profile_group_t* g) {
  profile_scaled_t s = profile_group_scale(r->bundle, at->physical, g);
  profile_cell_t command_buffer = CELL_U_IF(at->command_buffer != 0, "command_buffer_id", at->command_buffer);
  if (is_host) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, type, PROFILE_HOST_CELLS, command_buffer,
                CELL_U("submission_id", at->submission), CELL_U("physical_device_ordinal", at->physical),
                CELL_U("queue_ordinal", at->queue), CELL_U("stream_id", at->stream), CELL_U("dispatches", g->count),
                CELL_U("valid", g->valid), CELL_U("invalid", g->count - g->valid),
                CELL_F("span_ns", profile_group_span(g), 0), CELL_F("total_dispatch_ns", g->sum, 0),
                CELL_U("total_tile_count", g->tiles), CELL_U("total_tile_duration_sum_ns", g->tile_ns));
    return;
  }
  PROFILE_ROW(&(profile_out_t){.file = r->file}, type, command_buffer, CELL_U("submission_id", at->submission),
              CELL_U("physical_device_ordinal", at->physical), CELL_U("queue_ordinal", at->queue),
              CELL_U("stream_id", at->stream), CELL_U("dispatches", g->count), CELL_U("valid", g->valid),
              CELL_U("invalid", g->count - g->valid), CELL_F("span_ticks", profile_group_span(g), 3),
              CELL_F("total_dispatch_ticks", g->sum, 0), CELL_B("clock_fit_available", s.ns_per_tick > 0),
              CELL_B("total_dispatch_time_ns_available", s.has_ns),
              CELL_F("span_ns", profile_group_span(g) * s.ns_per_tick, 3), CELL_U("total_dispatch_ns", s.total));
}

static void print_place_text(const profile_request_t* r, bool is_host, bool has_place, const place_t* at,
                             const profile_group_t* g) {
  profile_scaled_t s = profile_group_scale(r->bundle, at->physical, g);
  fprintf(r->file, "  %ssubmission=%" PRIu64, is_host ? "host_" : "", at->submission);
  if (has_place) fprintf(r->file, " queue=%" PRIu64 " stream=%" PRIu64, at->queue, at->stream);
  fprintf(r->file, " dispatches=%" PRIu64 " valid=%" PRIu64 " invalid=%" PRIu64, g->count, g->valid,
          g->count - g->valid);
  if (is_host) {
    fprintf(r->file, " span_ns=%.0f total_dispatch_ns=%.0f tile_count=%" PRIu64 " tile_sum_ns=%" PRIu64 "\n",
            profile_group_span(g), g->sum, g->tiles, g->tile_ns);
    return;
  }
  fprintf(r->file, " span_ticks=%.3f total_dispatch_ticks=%.0f", profile_group_span(g), g->sum);
  if (s.has_ns) {
    fprintf(r->file, " span_ns=%.3f total_dispatch_ns=%" PRIu64, profile_group_span(g) * s.ns_per_tick, s.total);
  }
  fputs("\n", r->file);
}

typedef struct commands_t {
  const profile_request_t* request;
  profile_both_t both;
  uint64_t command_buffer;  // whose operations are printed
  uint64_t matched;         // operations
} commands_t;

static bool takes_operation(const profile_request_t* r, const iree_hal_profile_command_operation_record_t* record) {
  char buffer[64];
  if (r->selection.id >= 0 && (uint64_t)r->selection.id != record->command_buffer_id) return false;
  if (iree_string_view_match_pattern(iree_make_cstring_view(profile_operation_name(record->type)),
                                     r->selection.filter)) {
    return true;
  }
  return record->executable_id && iree_string_view_match_pattern(profile_bundle_key(r->bundle, record->executable_id,
                                                                                    record->function_ordinal, buffer),
                                                                 r->selection.filter);
}

static void count_operation(void* user_data, const profile_item_t* item) {
  commands_t* c = (commands_t*)user_data;
  c->matched += takes_operation(c->request, item->record);
}

static void print_operation(void* user_data, const profile_item_t* item) {
  const commands_t* c = (const commands_t*)user_data;
  const profile_request_t* r = c->request;
  const iree_hal_profile_command_operation_record_t* record = item->record;
  char buffer[64];
  if (record->command_buffer_id != c->command_buffer || !takes_operation(r, record)) return;
  if (r->is_json) {
    profile_printer_t printer = profile_printer(r);
    profile_print_record(&printer, item);
    return;
  }
  fprintf(r->file, "    command[%u]: op=%s flags=0x%x", record->command_index, profile_operation_name(record->type),
          record->flags);
  if (record->type == IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH) {
    iree_string_view_t key = profile_bundle_key(r->bundle, record->executable_id, record->function_ordinal, buffer);
    fprintf(r->file,
            " executable=%" PRIu64 " function=%u key=%.*s bindings=%u workgroups=[%u,%u,%u] workgroup_size=[%u,%u,%u]",
            record->executable_id, record->function_ordinal, (int)key.size, key.data, record->binding_count,
            record->workgroup_count[0], record->workgroup_count[1], record->workgroup_count[2],
            record->workgroup_size[0], record->workgroup_size[1], record->workgroup_size[2]);
  } else if (record->type != IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_BARRIER) {
    fprintf(r->file, " length=%" PRIu64, record->length);
  }
  fputs("\n", r->file);
}

static void print_command_buffer(void* user_data, const profile_item_t* item) {
  commands_t* c = (commands_t*)user_data;
  const profile_request_t* r = c->request;
  const iree_hal_profile_command_buffer_record_t* record = item->record;
  if (r->selection.id >= 0 && (uint64_t)r->selection.id != record->command_buffer_id) return;
  c->command_buffer = record->command_buffer_id;
  if (r->is_json) {
    profile_printer_t printer = profile_printer(r);
    profile_print_record(&printer, item);
  } else {
    fprintf(r->file,
            "command_buffer %" PRIu64 ": device=%u mode=%" PRIu64 " categories=%" PRIu64 " queue_affinity=%" PRIu64
            "\n",
            record->command_buffer_id, record->physical_device_ordinal, record->mode, record->command_categories,
            record->queue_affinity);
  }
  profile_bundle_each(r->bundle, PROFILE_KIND_COMMAND_OPERATIONS, print_operation, c);
  for (int i = 0; i < 2; ++i) {
    const profile_groups_t* groups = i ? &c->both.host.groups : &c->both.device.groups;
    for (iree_host_size_t j = 0; j < groups->count; ++j) {
      const profile_group_t* g = &groups->groups[j];
      if (g->key[0] != record->command_buffer_id) continue;
      place_t at = {g->key[0], g->key[1], g->key[2], g->key[3], g->key[4]};
      if (r->is_json) {
        print_place(r, i ? "command_host_execution" : "command_execution", i, &at, g);
      } else {
        print_place_text(r, i, true, &at, g);
      }
    }
  }
}

static void print_commands(commands_t* c) {
  const profile_request_t* r = c->request;
  const profile_dispatches_t *d = &c->both.device, *h = &c->both.host;
  const uint64_t* n = r->bundle->record_counts;
  profile_bundle_each(r->bundle, PROFILE_KIND_COMMAND_OPERATIONS, count_operation, c);
  if (r->is_json) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "command_summary", CELL_S("filter", r->selection.filter),
                CELL_U("command_buffers", n[PROFILE_KIND_COMMAND_BUFFERS]), CELL_U("executions", d->groups.count),
                CELL_U("host_executions", h->groups.count),
                CELL_U("command_operations", n[PROFILE_KIND_COMMAND_OPERATIONS]),
                CELL_U("matched_command_operations", c->matched), CELL_U("matched_dispatches", d->matched),
                CELL_U("valid_dispatches", d->valid), CELL_U("invalid_dispatches", d->matched - d->valid),
                CELL_U("matched_host_dispatches", h->matched), CELL_U("valid_host_dispatches", h->valid),
                CELL_U("invalid_host_dispatches", h->matched - h->valid));
  } else {
    fprintf(r->file,
            "IREE HAL profile command-buffer summary\nfilter: %.*s\ncommand_buffers=%" PRIu64 " executions=%" PRIhsz
            " host_executions=%" PRIhsz " command_operations=%" PRIu64 " matched_command_operations=%" PRIu64
            " matched_dispatches=%" PRIu64 " valid=%" PRIu64 " invalid=%" PRIu64 " matched_host_dispatches=%" PRIu64
            " host_valid=%" PRIu64 " host_invalid=%" PRIu64 "\n",
            (int)r->selection.filter.size, r->selection.filter.data, n[PROFILE_KIND_COMMAND_BUFFERS], d->groups.count,
            h->groups.count, n[PROFILE_KIND_COMMAND_OPERATIONS], c->matched, d->matched, d->valid,
            d->matched - d->valid, h->matched, h->valid, h->matched - h->valid);
  }
  profile_bundle_each(r->bundle, PROFILE_KIND_COMMAND_BUFFERS, print_command_buffer, c);
}

iree_status_t profile_report_command(const profile_request_t* request) {
  if (request->dispatch_events) return profile_report_dispatches(request, profile_key_of_execution);
  commands_t commands = {.request = request};
  iree_status_t status = profile_both_collect(request, &request->selection, profile_key_of_execution, &commands.both);
  if (iree_status_is_ok(status)) print_commands(&commands);
  profile_both_free(&commands.both);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// queue
//===----------------------------------------------------------------------------------------------------------------===

typedef struct queues_t {
  const profile_request_t* request;
  profile_both_t both;
  const iree_hal_profile_queue_record_t* queue;  // whose events are printed
  uint64_t executions;                           // of command buffers by the host
  uint64_t events[PROFILE_KIND_COUNT];           // that are taken, by kind
} queues_t;

// What events of queues have in common.
typedef struct queue_facts_t {
  uint32_t type, physical, queue;
  uint64_t submission;
} queue_facts_t;

static queue_facts_t facts_of(const profile_item_t* item) {
#define FACTS(event_t)             \
  const event_t* e = item->record; \
  return (queue_facts_t) { e->type, e->physical_device_ordinal, e->queue_ordinal, e->submission_id }
  if (item->chunk->kind == PROFILE_KIND_QUEUE_EVENTS) {
    FACTS(iree_hal_profile_queue_event_t);
  } else if (item->chunk->kind == PROFILE_KIND_DEVICE_EVENTS) {
    FACTS(iree_hal_profile_queue_device_event_t);
  } else {
    FACTS(iree_hal_profile_host_execution_event_t);
  }
#undef FACTS
}

static bool takes_event(const profile_request_t* r, const queue_facts_t* facts) {
  if (r->selection.id >= 0 && (uint64_t)r->selection.id != facts->submission) return false;
  return iree_string_view_match_pattern(iree_make_cstring_view(iree_hal_profile_queue_event_type_name(facts->type)),
                                        r->selection.filter);
}

static void count_queue_event(void* user_data, const profile_item_t* item) {
  queues_t* q = (queues_t*)user_data;
  queue_facts_t facts = facts_of(item);
  q->events[item->chunk->kind] += takes_event(q->request, &facts);
}

static void print_queue_event_text(const profile_request_t* r, const profile_item_t* item) {
  if (item->chunk->kind == PROFILE_KIND_QUEUE_EVENTS) {
    const iree_hal_profile_queue_event_t* e = item->record;
    fprintf(r->file,
            "  event=%" PRIu64 " type=%s submission=%" PRIu64 " strategy=%s submit=%" PRId64 " ready=%" PRId64
            " waits=%u signals=%u barriers=%u ops=%u bytes=%" PRIu64 "\n",
            e->event_id, iree_hal_profile_queue_event_type_name(e->type), e->submission_id,
            profile_strategy_name(e->dependency_strategy), e->host_time_ns, e->ready_host_time_ns, e->wait_count,
            e->signal_count, e->barrier_count, e->operation_count, e->payload_length);
  } else if (item->chunk->kind == PROFILE_KIND_DEVICE_EVENTS) {
    const iree_hal_profile_queue_device_event_t* e = item->record;
    profile_span_t span = profile_device_span(r->bundle, e->physical_device_ordinal, e->start_tick, e->end_tick);
    fprintf(r->file,
            "  device_event=%" PRIu64 " type=%s submission=%" PRIu64 " command_buffer=%" PRIu64 " allocation=%" PRIu64
            " ops=%u ticks=%" PRIu64 " valid=%s",
            e->event_id, iree_hal_profile_queue_event_type_name(e->type), e->submission_id, e->command_buffer_id,
            e->allocation_id, e->operation_count, span.ticks, span.is_valid ? "true" : "false");
    if (span.has_ns) fprintf(r->file, " ns=%" PRIu64, span.ns);
    fputs("\n", r->file);
  } else {
    const iree_hal_profile_host_execution_event_t* e = item->record;
    bool is_valid = profile_host_span_is_valid(e);
    fprintf(r->file,
            "  host_execution_event=%" PRIu64 " type=%s submission=%" PRIu64 " command_buffer=%" PRIu64
            " allocation=%" PRIu64 " ops=%u tiles=%" PRIu64 " ns=%" PRIu64 " tile_sum_ns=%" PRId64 " valid=%s\n",
            e->event_id, iree_hal_profile_queue_event_type_name(e->type), e->submission_id, e->command_buffer_id,
            e->allocation_id, e->operation_count, e->tile_count,
            is_valid ? (uint64_t)e->end_host_time_ns - (uint64_t)e->start_host_time_ns : 0, e->tile_duration_sum_ns,
            is_valid ? "true" : "false");
  }
}

static void print_queue_event(void* user_data, const profile_item_t* item) {
  const queues_t* q = (const queues_t*)user_data;
  const profile_request_t* r = q->request;
  queue_facts_t facts = facts_of(item);
  if (facts.physical != q->queue->physical_device_ordinal || facts.queue != q->queue->queue_ordinal) return;
  if (!takes_event(r, &facts)) return;
  if (r->is_json) {
    profile_printer_t printer = profile_printer(r);
    profile_print_record(&printer, item);
  } else {
    print_queue_event_text(r, item);
  }
}

static void print_queue(void* user_data, const profile_item_t* item) {
  queues_t* q = (queues_t*)user_data;
  const profile_request_t* r = q->request;
  q->queue = item->record;
  if (!r->is_json) {
    fprintf(r->file, "queue device=%u ordinal=%u stream=%" PRIu64 "\n", q->queue->physical_device_ordinal,
            q->queue->queue_ordinal, q->queue->stream_id);
  }
  for (iree_host_size_t j = 0; j < q->both.device.groups.count; ++j) {
    const profile_group_t* g = &q->both.device.groups.groups[j];
    if (g->key[0] != q->queue->physical_device_ordinal || g->key[1] != q->queue->queue_ordinal) continue;
    place_t at = {0, g->key[3], g->key[0], g->key[1], g->key[2]};
    if (r->is_json) {
      print_place(r, "queue_submission", false, &at, g);
    } else {
      print_place_text(r, false, false, &at, g);
    }
  }
  profile_bundle_each(r->bundle, PROFILE_KIND_DEVICE_EVENTS, print_queue_event, q);
  profile_bundle_each(r->bundle, PROFILE_KIND_HOST_EVENTS, print_queue_event, q);
  profile_bundle_each(r->bundle, PROFILE_KIND_QUEUE_EVENTS, print_queue_event, q);
}

static void print_queues(queues_t* q) {
  static const profile_kind_t kinds[] = {PROFILE_KIND_QUEUE_EVENTS, PROFILE_KIND_DEVICE_EVENTS,
                                         PROFILE_KIND_HOST_EVENTS};
  const profile_request_t* r = q->request;
  const profile_dispatches_t *d = &q->both.device, *h = &q->both.host;
  const uint64_t* n = q->events;
  uint64_t queues = r->bundle->record_counts[PROFILE_KIND_QUEUES];
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) profile_bundle_each(r->bundle, kinds[i], count_queue_event, q);
  if (r->is_json) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "queue_summary", CELL_S("filter", r->selection.filter),
                CELL_U("queues", queues), CELL_U("queue_events", n[PROFILE_KIND_QUEUE_EVENTS]),
                CELL_U("queue_device_events", n[PROFILE_KIND_DEVICE_EVENTS]),
                CELL_U("host_execution_events", n[PROFILE_KIND_HOST_EVENTS]),
                CELL_U("truncated_chunks", r->bundle->truncated), CELL_U("dropped_records", r->bundle->dropped),
                CELL_U("submissions", d->groups.count), CELL_U("matched_dispatches", d->matched),
                CELL_U("valid_dispatches", d->valid), CELL_U("invalid_dispatches", d->matched - d->valid),
                CELL_U("matched_host_dispatches", h->matched), CELL_U("valid_host_dispatches", h->valid),
                CELL_U("invalid_host_dispatches", h->matched - h->valid),
                CELL_U("host_command_executions", q->executions));
    profile_print_kind(r, PROFILE_KIND_QUEUES);
  } else {
    fprintf(r->file,
            "IREE HAL profile queue summary\nfilter: %.*s\nqueues=%" PRIu64 " queue_events=%" PRIu64
            " queue_device_events=%" PRIu64 " host_execution_events=%" PRIu64 " truncated_chunks=%" PRIu64
            " dropped_records=%" PRIu64 " submissions=%" PRIhsz " matched_dispatches=%" PRIu64 " valid=%" PRIu64
            " invalid=%" PRIu64 "\nhost_dispatches: matched=%" PRIu64 " valid=%" PRIu64 " invalid=%" PRIu64
            " command_executions=%" PRIu64 "\n",
            (int)r->selection.filter.size, r->selection.filter.data, queues, n[PROFILE_KIND_QUEUE_EVENTS],
            n[PROFILE_KIND_DEVICE_EVENTS], n[PROFILE_KIND_HOST_EVENTS], r->bundle->truncated, r->bundle->dropped,
            d->groups.count, d->matched, d->valid, d->matched - d->valid, h->matched, h->valid, h->matched - h->valid,
            q->executions);
  }
  profile_bundle_each(r->bundle, PROFILE_KIND_QUEUES, print_queue, q);
}

// Executions of command buffers, by submission.
static void key_of_execution(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id) {
  profile_key_of_execution(item, out_key, out_id);
  *out_id = profile_dispatch_of(item).submission;
}

static uint64_t count_executions(const profile_groups_t* groups) {
  uint64_t count = 0;
  for (iree_host_size_t i = 0; i < groups->count; ++i) count += groups->groups[i].key[0] != 0;
  return count;
}

iree_status_t profile_report_queue(const profile_request_t* request) {
  if (request->dispatch_events) return profile_report_dispatches(request, profile_key_of_submission);
  queues_t queues = {.request = request};
  const profile_selection_t* selection = &request->selection;
  profile_both_t executions;
  iree_status_t status = profile_both_collect(request, selection, key_of_execution, &executions);
  queues.executions = count_executions(&executions.host.groups);
  profile_both_free(&executions);
  if (iree_status_is_ok(status)) {
    status = profile_both_collect(request, selection, profile_key_of_submission, &queues.both);
  }
  if (iree_status_is_ok(status)) print_queues(&queues);
  profile_both_free(&queues.both);
  return status;
}
