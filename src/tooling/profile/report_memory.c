// The report on memory.
#include "tooling/profile/memory.h"
#include "tooling/profile/reports.h"

// Names of what is open: of pools and allocations, in the text of devices, and in their rows.
static const struct {
  const char *kind, *text, *row;
} names[PROFILE_OPEN_COUNT] = {
    {"slab", "slab_provider_events", "slab"},
    {"pool_reservation", "pool_reservations", "pool_reserved"},
    {"pool_materialization", "pool_materializations", "pool_materialized"},
    {"queue_allocation", "queue_inflight_allocations", "queue_inflight"},
    {"buffer_allocation", "buffer_allocations", "buffer"},
    {"buffer_import", "buffer_imports", "imported_buffer"},
};

static void print_balance_text(FILE* file, const profile_balance_t* b) {
  fprintf(file,
          "open_at_end=%" PRIu64 " peak_open=%" PRIu64 " current_bytes=%" PRIu64 " high_water_bytes=%" PRIu64
          " opened_bytes=%" PRIu64 " closed_bytes=%" PRIu64 " partial_closes=%" PRIu64 " partial_close_bytes=%" PRIu64,
          b->count, b->most, b->bytes, b->most_bytes, b->opened_bytes, b->closed_bytes, b->partial, b->partial_bytes);
}

static void print_balance_cells(FILE* file, const char* name, const profile_balance_t* b) {
  const struct {
    const char* suffix;
    uint64_t value;
  } cells[] = {
      {"current_count", b->count},
      {"high_water_count", b->most},
      {"total_open_count", b->opened},
      {"total_close_count", b->closed},
      {"partial_close_count", b->partial},
      {"current_bytes", b->bytes},
      {"high_water_bytes", b->most_bytes},
      {"total_open_bytes", b->opened_bytes},
      {"total_close_bytes", b->closed_bytes},
      {"partial_close_bytes", b->partial_bytes},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(cells); ++i) {
    fprintf(file, ",\"%s_%s\":%" PRIu64, name, cells[i].suffix, cells[i].value);
  }
}

static void print_event(void* user_data, const profile_item_t* item) {
  const profile_request_t* request = (const profile_request_t*)user_data;
  profile_printer_t printer = profile_printer(request);
  if (profile_memory_takes(&request->selection, item->record)) profile_print_record(&printer, item);
}

static void print_device(const profile_request_t* r, const profile_memory_device_t* d) {
  const uint64_t* n = d->types;
  if (!r->is_json) {
    fprintf(r->file,
            "device[%u]: events=%" PRIu64 " slab_acquire/release=%" PRIu64 "/%" PRIu64
            " pool_reserve/materialize/release/wait=%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64
            " queue_alloca/dealloca=%" PRIu64 "/%" PRIu64 " buffer_allocate/free=%" PRIu64 "/%" PRIu64
            " buffer_import/unimport=%" PRIu64 "/%" PRIu64 "\n",
            d->physical, d->events, n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12]);
    for (int i = 0; i < PROFILE_OPEN_COUNT; ++i) {
      fprintf(r->file, "  %s: ", names[i].text);
      print_balance_text(r->file, &d->balances[i]);
      fputs("\n", r->file);
    }
    return;
  }
  PROFILE_ROW_OPEN(&(profile_out_t){.file = r->file}, "memory_device", CELL_U("physical_device_ordinal", d->physical),
                   CELL_U("events", d->events), CELL_U("slab_acquires", n[1]), CELL_U("slab_releases", n[2]),
                   CELL_U("pool_reserves", n[3]), CELL_U("pool_materializes", n[4]), CELL_U("pool_releases", n[5]),
                   CELL_U("pool_waits", n[6]), CELL_U("queue_allocas", n[7]), CELL_U("queue_deallocas", n[8]),
                   CELL_U("buffer_allocates", n[9]), CELL_U("buffer_frees", n[10]), CELL_U("buffer_imports", n[11]),
                   CELL_U("buffer_unimports", n[12]));
  for (int i = 0; i < PROFILE_OPEN_COUNT; ++i) print_balance_cells(r->file, names[i].row, &d->balances[i]);
  fputs("}\n", r->file);
}

static void print_pool(const profile_request_t* r, const profile_memory_entry_t* p) {
  uint64_t least_free = p->stats_samples ? p->least_free : 0;
  if (!r->is_json) {
    fprintf(r->file,
            "pool[%s device=%u id=%" PRIu64 " memory_type=%" PRIu64 "]: events=%" PRIu64 " waits=%" PRIu64
            " materializes=%" PRIu64 " ",
            names[p->kind].kind, p->physical, p->id, p->memory_type, p->events, p->waits, p->materializes);
    print_balance_text(r->file, &p->balance);
    if (p->kind == PROFILE_OPEN_RESERVATION) {
      fprintf(r->file, " materialized_at_end=%" PRIu64 " materialized_high_water_bytes=%" PRIu64, p->materialized.count,
              p->materialized.most_bytes);
    }
    if (p->stats_samples) {
      fprintf(r->file,
              " pool_stats_samples=%" PRIu64 " pool_bytes_reserved=%" PRIu64 " pool_bytes_reserved_high_water=%" PRIu64
              " pool_bytes_free=%" PRIu64 " pool_bytes_free_low_water=%" PRIu64 " pool_bytes_committed=%" PRIu64
              " pool_bytes_committed_high_water=%" PRIu64 " pool_budget_limit=%" PRIu64
              " pool_reservations=%u pool_reservation_high_water=%u pool_slabs=%u pool_slab_high_water=%u",
              p->stats_samples, p->reserved, p->most_reserved, p->free, least_free, p->committed, p->most_committed,
              p->budget, p->reservations, p->most_reservations, p->slabs, p->most_slabs);
    }
    fputs("\n", r->file);
    return;
  }
  PROFILE_ROW_OPEN(&(profile_out_t){.file = r->file}, "memory_pool", CELL_C("kind", names[p->kind].kind),
                   CELL_U("physical_device_ordinal", p->physical), CELL_U("pool_id", p->id),
                   CELL_U("memory_type", p->memory_type), CELL_U("buffer_usage", p->buffer_usage),
                   CELL_U("events", p->events), CELL_U("waits", p->waits), CELL_U("materializes", p->materializes),
                   CELL_B("pool_stats_available", p->stats_samples != 0),
                   CELL_U("pool_stats_samples", p->stats_samples), CELL_U("pool_bytes_reserved", p->reserved),
                   CELL_U("pool_bytes_reserved_high_water", p->most_reserved), CELL_U("pool_bytes_free", p->free),
                   CELL_U("pool_bytes_free_low_water", least_free), CELL_U("pool_bytes_committed", p->committed),
                   CELL_U("pool_bytes_committed_high_water", p->most_committed), CELL_U("pool_budget_limit", p->budget),
                   CELL_U("pool_reservation_count", p->reservations),
                   CELL_U("pool_reservation_high_water_count", p->most_reservations),
                   CELL_U("pool_slab_count", p->slabs), CELL_U("pool_slab_high_water_count", p->most_slabs));
  print_balance_cells(r->file, "lifecycle", &p->balance);
  print_balance_cells(r->file, "materialized", &p->materialized);
  fputs("}\n", r->file);
}

// The operation in the device's time that an allocation began or ended with.
typedef struct lifetime_t {
  uint32_t physical;
  uint64_t allocation, alloca_event, dealloca_event, start, end;
} lifetime_t;

static void find_lifetime(void* user_data, const profile_item_t* item) {
  const iree_hal_profile_queue_device_event_t* event = item->record;
  lifetime_t* lifetime = (lifetime_t*)user_data;
  if (event->allocation_id != lifetime->allocation || event->physical_device_ordinal != lifetime->physical) return;
  if (event->type == IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_ALLOCA) {
    lifetime->alloca_event = event->event_id;
    lifetime->start = event->start_tick;
  } else if (event->type == IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DEALLOCA) {
    lifetime->dealloca_event = event->event_id;
    lifetime->end = event->end_tick;
  }
}

static bool is_open(const profile_memory_entry_t* entry) { return entry->balance.bytes || entry->materialized.bytes; }

static void print_allocation_text(FILE* file, const profile_memory_entry_t* a, uint64_t duration_ns,
                                  const lifetime_t* lifetime, const profile_span_t* span) {
  const profile_balance_t* b = &a->balance;
  fprintf(file,
          "allocation[%s device=%u id=%" PRIu64 " pool=%" PRIu64 " backing=%" PRIu64
          " externally_owned=%s]: events=%" PRIu64 " waits=%" PRIu64 " materializes=%" PRIu64
          " open_at_end=%s current_bytes=%" PRIu64 " high_water_bytes=%" PRIu64 " opened_bytes=%" PRIu64
          " closed_bytes=%" PRIu64 " partial_closes=%" PRIu64 " partial_close_bytes=%" PRIu64 " first_event=%" PRIu64
          " last_event=%" PRIu64 " duration_ns=%" PRIu64 "\n",
          names[a->kind].kind, a->physical, a->id, a->pool_id, a->backing_id, a->is_external ? "true" : "false",
          a->events, a->waits, a->materializes, is_open(a) ? "true" : "false", b->bytes, b->most_bytes, b->opened_bytes,
          b->closed_bytes, b->partial, b->partial_bytes, a->first_event, a->last_event, duration_ns);
  if (a->kind != PROFILE_OPEN_ALLOCATION) return;
  fprintf(file,
          "  device_lifetime: available=%s alloca_event=%" PRIu64 " dealloca_event=%" PRIu64 " duration_ticks=%" PRIu64,
          span->is_valid ? "true" : "false", lifetime->alloca_event, lifetime->dealloca_event, span->ticks);
  if (span->has_ns) fprintf(file, " duration_ns=%" PRIu64, span->ns);
  fputs("\n", file);
}

static void print_allocation(const profile_request_t* r, const profile_memory_entry_t* a) {
  lifetime_t lifetime = {a->physical, a->id, 0, 0, 0, 0};
  uint64_t duration_ns = a->last_ns >= a->first_ns ? (uint64_t)a->last_ns - (uint64_t)a->first_ns : 0;
  if (a->kind == PROFILE_OPEN_ALLOCATION) {
    profile_bundle_each(r->bundle, PROFILE_KIND_DEVICE_EVENTS, find_lifetime, &lifetime);
  }
  profile_span_t span = profile_device_span(r->bundle, a->physical, lifetime.start, lifetime.end);
  if (!r->is_json) {
    print_allocation_text(r->file, a, duration_ns, &lifetime, &span);
    return;
  }
  PROFILE_ROW_OPEN(
      &(profile_out_t){.file = r->file}, "memory_allocation", CELL_C("kind", names[a->kind].kind),
      CELL_U("physical_device_ordinal", a->physical), CELL_U("allocation_id", a->id), CELL_U("pool_id", a->pool_id),
      CELL_U("backing_id", a->backing_id), CELL_B("externally_owned", a->is_external),
      CELL_U("memory_type", a->memory_type), CELL_U("buffer_usage", a->buffer_usage), CELL_U("events", a->events),
      CELL_U("waits", a->waits), CELL_U("materializes", a->materializes), CELL_B("open_at_end", is_open(a)),
      CELL_U("first_event_id", a->first_event), CELL_U("last_event_id", a->last_event),
      CELL_I("first_host_time_ns", a->first_ns), CELL_I("last_host_time_ns", a->last_ns),
      CELL_C("host_time_domain", "iree_host_time_ns"), CELL_U("duration_ns", duration_ns),
      CELL_U("first_submission_id", a->first_submission), CELL_U("last_submission_id", a->last_submission),
      CELL_U("first_queue_ordinal", a->first_queue), CELL_U("last_queue_ordinal", a->last_queue),
      CELL_U("alloca_device_event_id", lifetime.alloca_event),
      CELL_U("dealloca_device_event_id", lifetime.dealloca_event), CELL_B("device_lifetime_available", span.is_valid),
      CELL_U("device_lifetime_start_tick", span.is_valid ? lifetime.start : 0),
      CELL_U("device_lifetime_end_tick", span.is_valid ? lifetime.end : 0),
      CELL_U("device_lifetime_duration_ticks", span.ticks), CELL_B("device_lifetime_time_ns_available", span.has_ns),
      CELL_U("device_lifetime_duration_ns", span.ns));
  print_balance_cells(r->file, "lifecycle", &a->balance);
  print_balance_cells(r->file, "materialized", &a->materialized);
  fputs("}\n", r->file);
}

static void print_memory(const profile_request_t* r, const profile_memory_summary_t* s) {
  uint64_t open = 0, partial = 0;
  for (iree_host_size_t i = 0; i < s->allocations.count; ++i) {
    const profile_memory_entry_t* a = &s->allocations.entries[i];
    open += is_open(a);
    partial += a->balance.partial + a->materialized.partial;
  }
  uint64_t truncated_matched = r->bundle->truncated ? s->matched : 0;
  if (r->is_json) {
    profile_bundle_each(r->bundle, PROFILE_KIND_MEMORY_EVENTS, print_event, (void*)r);
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "memory_summary", CELL_S("filter", r->selection.filter),
                CELL_I("id_filter", r->selection.id), CELL_U("total_events", s->total),
                CELL_U("matched_events", s->matched), CELL_U("truncated_chunks", r->bundle->truncated),
                CELL_U("dropped_records", r->bundle->dropped), CELL_U("truncated_matched_events", truncated_matched),
                CELL_U("devices", s->device_count), CELL_U("pools", s->pools.count),
                CELL_U("allocation_lifecycles", s->allocations.count), CELL_U("open_allocation_lifecycles", open),
                CELL_U("partial_lifecycle_closes", partial));
  } else {
    fprintf(r->file, "IREE HAL profile memory summary\nfilter: %.*s\n", (int)r->selection.filter.size,
            r->selection.filter.data);
    if (r->selection.id >= 0) fprintf(r->file, "id_filter: %" PRId64 "\n", r->selection.id);
    fprintf(r->file,
            "events: total=%" PRIu64 " matched=%" PRIu64 " truncated_chunks=%" PRIu64 " dropped_records=%" PRIu64
            " truncated_matched=%" PRIu64 " devices=%" PRIhsz " pools=%" PRIhsz " allocation_lifecycles=%" PRIhsz
            " open_lifecycles=%" PRIu64 " partial_closes=%" PRIu64 "\n",
            s->total, s->matched, r->bundle->truncated, r->bundle->dropped, truncated_matched, s->device_count,
            s->pools.count, s->allocations.count, open, partial);
  }
  for (iree_host_size_t i = 0; i < s->device_count; ++i) print_device(r, &s->devices[i]);
  for (iree_host_size_t i = 0; i < s->pools.count; ++i) print_pool(r, &s->pools.entries[i]);
  bool has_allocations = r->is_json || r->selection.id >= 0;
  for (iree_host_size_t i = 0; i < s->allocations.count && has_allocations; ++i) {
    print_allocation(r, &s->allocations.entries[i]);
  }
}

iree_status_t profile_report_memory(const profile_request_t* request) {
  profile_memory_summary_t summary;
  iree_status_t status = profile_memory_collect(request->bundle, &request->selection, &summary);
  if (iree_status_is_ok(status)) print_memory(request, &summary);
  profile_memory_free(&summary);
  return status;
}
