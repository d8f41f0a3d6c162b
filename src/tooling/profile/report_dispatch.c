// Reports on dispatches: dispatch, executable.
#include "tooling/profile/report_dispatch.h"

iree_status_t profile_both_collect(const profile_request_t* request, const profile_selection_t* selection,
                                   profile_dispatch_key_fn_t key_of, profile_both_t* out) {
  *out = (profile_both_t){0};
  out->host.groups.allocator = request->bundle->allocator;
  IREE_RETURN_IF_ERROR(profile_dispatches_collect(request->bundle, selection, false, key_of, &out->device));
  return profile_dispatches_collect(request->bundle, selection, true, key_of, &out->host);
}

void profile_both_free(profile_both_t* both) {
  profile_groups_free(&both->device.groups);
  profile_groups_free(&both->host.groups);
}

profile_scaled_t profile_group_scale(const profile_bundle_t* bundle, uint64_t physical, const profile_group_t* group) {
  const iree_hal_profile_clock_t* clock = profile_bundle_clock(bundle, (uint32_t)physical);
  profile_scaled_t scaled = {.ns_per_tick = iree_hal_profile_clock_ns_per_tick(clock)};
  scaled.has_ns = group->valid && iree_hal_profile_clock_scale(clock, group->min, &scaled.min) &&
                  iree_hal_profile_clock_scale(clock, group->max, &scaled.max) &&
                  iree_hal_profile_clock_scale(clock, (uint64_t)group->sum, &scaled.total);
  return scaled;
}

//===----------------------------------------------------------------------------------------------------------------===
// dispatch
//===----------------------------------------------------------------------------------------------------------------===

static void print_group_text(const profile_request_t* r, bool is_host, const profile_group_t* g) {
  char buffer[64];
  iree_string_view_t key = profile_bundle_key(r->bundle, g->key[1], (uint32_t)g->key[2], buffer);
  profile_scaled_t s = profile_group_scale(r->bundle, g->key[0], g);
  double mean = profile_group_mean(g), deviation = profile_group_deviation(g);
  fprintf(r->file, "  %.*s\n    %sdevice=%" PRIu64 " executable=%" PRIu64 " function=%" PRIu64, (int)key.size, key.data,
          is_host ? "timing=host_execution " : "", g->key[0], g->key[1], g->key[2]);
  fprintf(r->file, " count=%" PRIu64 " valid=%" PRIu64 " invalid=%" PRIu64 "\n", g->count, g->valid,
          g->count - g->valid);
  if (is_host) {
    fprintf(r->file,
            "    time_ns: min=%" PRIu64 " avg=%.3f stddev=%.3f max=%" PRIu64 " total=%.0f tile_count=%" PRIu64
            " tile_sum_ns=%" PRIu64 "\n",
            profile_group_min(g), mean, deviation, g->max, g->sum, g->tiles, g->tile_ns);
  } else {
    fprintf(r->file, "    ticks: min=%" PRIu64 " avg=%.3f stddev=%.3f max=%" PRIu64 " total=%.0f\n",
            profile_group_min(g), mean, deviation, g->max, g->sum);
    if (s.has_ns) {
      fprintf(r->file, "    time_ns: min=%" PRIu64 " avg=%.3f stddev=%.3f max=%" PRIu64 " total=%" PRIu64 "\n", s.min,
              mean * s.ns_per_tick, deviation * s.ns_per_tick, s.max, s.total);
    }
  }
  fprintf(r->file, "    last_geometry: workgroup_count=%ux%ux%u workgroup_size=%ux%ux%u\n", g->workgroup_count[0],
          g->workgroup_count[1], g->workgroup_count[2], g->workgroup_size[0], g->workgroup_size[1],
          g->workgroup_size[2]);
}

// As rows of dispatches, or of an executable's functions.
static void print_device_group(const profile_request_t* r, const char* type, const char* count_name, bool is_full,
                               const profile_group_t* g) {
  char buffer[64];
  profile_scaled_t s = profile_group_scale(r->bundle, g->key[0], g);
  double mean = profile_group_mean(g), deviation = profile_group_deviation(g);
#define CELL_F_IF(condition, cell_name, value, digit_count) \
  {.name = cell_name, .kind = (condition) ? 'f' : 0, .digits = digit_count, .f = (value)}
  PROFILE_ROW(&(profile_out_t){.file = r->file}, type, CELL_U("physical_device_ordinal", g->key[0]),
              CELL_U("executable_id", g->key[1]), CELL_U("function_ordinal", g->key[2]),
              CELL_S("key", profile_bundle_key(r->bundle, g->key[1], (uint32_t)g->key[2], buffer)),
              CELL_U(count_name, g->count), CELL_U("valid", g->valid), CELL_U("invalid", g->count - g->valid),
              CELL_U("min_ticks", profile_group_min(g)), CELL_F("avg_ticks", mean, 3),
              CELL_F_IF(is_full, "stddev_ticks", deviation, 3), CELL_U("max_ticks", g->max),
              CELL_F("total_ticks", g->sum, 0), CELL_B("clock_fit_available", s.ns_per_tick > 0),
              CELL_B("time_ns_available", s.has_ns), CELL_U("min_ns", s.min), CELL_F("avg_ns", mean * s.ns_per_tick, 3),
              CELL_F_IF(is_full, "stddev_ns", deviation * s.ns_per_tick, 3), CELL_U("max_ns", s.max),
              CELL_U("total_ns", s.total), CELL_3_IF(is_full, "last_workgroup_count", g->workgroup_count),
              CELL_3_IF(is_full, "last_workgroup_size", g->workgroup_size));
}

static void print_host_group(const profile_request_t* r, const char* type, const char* count_name, bool is_full,
                             const profile_group_t* g) {
  char buffer[64];
  PROFILE_ROW(&(profile_out_t){.file = r->file}, type, PROFILE_HOST_CELLS, CELL_U("physical_device_ordinal", g->key[0]),
              CELL_U("executable_id", g->key[1]), CELL_U("function_ordinal", g->key[2]),
              CELL_S("key", profile_bundle_key(r->bundle, g->key[1], (uint32_t)g->key[2], buffer)),
              CELL_U(count_name, g->count), CELL_U("valid", g->valid), CELL_U("invalid", g->count - g->valid),
              CELL_U("min_ns", profile_group_min(g)), CELL_F("avg_ns", profile_group_mean(g), 3),
              CELL_F("stddev_ns", profile_group_deviation(g), 3), CELL_U("max_ns", g->max),
              CELL_F("total_ns", g->sum, 0), CELL_U("total_tile_count", g->tiles),
              CELL_U("total_tile_duration_sum_ns", g->tile_ns),
              CELL_3_IF(is_full, "last_workgroup_count", g->workgroup_count),
              CELL_3_IF(is_full, "last_workgroup_size", g->workgroup_size));
}

typedef struct events_t {
  profile_printer_t printer;
  const profile_request_t* request;
  profile_dispatch_key_fn_t key_of;
} events_t;

static void print_event(void* user_data, const profile_item_t* item) {
  const events_t* events = (const events_t*)user_data;
  const profile_selection_t* selection = &events->request->selection;
  bool is_host = item->chunk->kind == PROFILE_KIND_HOST_EVENTS;
  char buffer[64];
  if (is_host && !profile_host_event_is_dispatch(item->record)) return;
  profile_dispatch_t dispatch = profile_dispatch_of(item);
  uint64_t group[PROFILE_GROUP_KEYS], id = 0;
  events->key_of(item, group, &id);
  if (selection->id >= 0 && (uint64_t)selection->id != id) return;
  iree_string_view_t key = profile_bundle_key(events->request->bundle, dispatch.executable, dispatch.function, buffer);
  if (!iree_string_view_match_pattern(key, selection->filter)) return;
  (is_host ? profile_print_host_dispatch : profile_print_record)(&events->printer, item);
}

static void print_events(const profile_request_t* request, profile_dispatch_key_fn_t key_of) {
  events_t events = {profile_printer(request), request, key_of};
  profile_bundle_each(request->bundle, PROFILE_KIND_HOST_EVENTS, print_event, &events);
  profile_bundle_each(request->bundle, PROFILE_KIND_DISPATCH_EVENTS, print_event, &events);
}

static void print_dispatches(const profile_request_t* r, const profile_both_t* both) {
  const profile_dispatches_t *d = &both->device, *h = &both->host;
  bool is_single = r->dispatch_events;
  if (is_single) print_events(r, d->key_of);
  if (r->is_json) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "dispatch_summary",
                CELL_C("mode", is_single ? "events" : "aggregate"), CELL_S("filter", r->selection.filter),
                CELL_U("total_dispatches", d->total), CELL_U("matched_dispatches", d->matched),
                CELL_U("valid_dispatches", d->valid), CELL_U("invalid_dispatches", d->matched - d->valid),
                CELL_U("aggregate_groups", is_single ? 0 : d->groups.count), CELL_U("total_host_dispatches", h->total),
                CELL_U("matched_host_dispatches", h->matched), CELL_U("valid_host_dispatches", h->valid),
                CELL_U("invalid_host_dispatches", h->matched - h->valid),
                CELL_U("host_aggregate_groups", is_single ? 0 : h->groups.count));
  } else {
    fprintf(r->file, "IREE HAL profile dispatch summary\nfilter: %.*s\n", (int)r->selection.filter.size,
            r->selection.filter.data);
    for (int i = 0; i < 2; ++i) {
      const profile_dispatches_t* x = i ? h : d;
      fprintf(r->file,
              "%sdispatches: total=%" PRIu64 " matched=%" PRIu64 " valid=%" PRIu64 " invalid=%" PRIu64
              " groups=%" PRIhsz "\n",
              i ? "host_" : "", x->total, x->matched, x->valid, x->matched - x->valid, x->groups.count);
    }
    fprintf(r->file, "groups:\n");
  }
  for (int i = 0; i < 2 && !is_single; ++i) {
    const profile_groups_t* groups = i ? &h->groups : &d->groups;
    for (iree_host_size_t j = 0; j < groups->count; ++j) {
      if (!r->is_json) {
        print_group_text(r, i, &groups->groups[j]);
      } else if (i) {
        print_host_group(r, "host_dispatch_group", "count", true, &groups->groups[j]);
      } else {
        print_device_group(r, "dispatch_group", "count", true, &groups->groups[j]);
      }
    }
  }
}

iree_status_t profile_report_dispatches(const profile_request_t* request, profile_dispatch_key_fn_t key_of) {
  profile_both_t both;
  iree_status_t status = profile_both_collect(request, &request->selection, key_of, &both);
  if (iree_status_is_ok(status)) print_dispatches(request, &both);
  profile_both_free(&both);
  return status;
}

iree_status_t profile_report_dispatch(const profile_request_t* request) {
  return profile_report_dispatches(request, profile_key_of_function);
}

//===----------------------------------------------------------------------------------------------------------------===
// executable
//===----------------------------------------------------------------------------------------------------------------===

typedef struct executables_t {
  const profile_request_t* request;
  profile_both_t both;
} executables_t;

static void print_function_groups(const executables_t* e, const profile_function_t* function) {
  const profile_request_t* r = e->request;
  bool has_any = false;
  for (int i = 0; i < 2; ++i) {
    const profile_groups_t* groups = i ? &e->both.host.groups : &e->both.device.groups;
    for (iree_host_size_t j = 0; j < groups->count; ++j) {
      const profile_group_t* g = &groups->groups[j];
      if (g->key[1] != function->record.executable_id || g->key[2] != function->record.function_ordinal) continue;
      has_any = true;
      if (r->is_json) {
        if (i) {
          print_host_group(r, "executable_function_host_dispatch_group", "dispatches", false, g);
        } else {
          print_device_group(r, "executable_function_dispatch_group", "dispatches", false, g);
        }
        continue;
      }
      profile_scaled_t s = profile_group_scale(r->bundle, g->key[0], g);
      double mean = profile_group_mean(g);
      fprintf(r->file, "    %sdevice=%" PRIu64 " dispatches=%" PRIu64 " valid=%" PRIu64 " invalid=%" PRIu64,
              i ? "timing=host_execution " : "", g->key[0], g->count, g->valid, g->count - g->valid);
      fprintf(r->file, " %s[min/avg/max/total]=%" PRIu64 "/%.3f/%" PRIu64 "/%.0f", i ? "ns" : "ticks",
              profile_group_min(g), mean, g->max, g->sum);
      if (i) {
        fprintf(r->file, " tile_count=%" PRIu64 " tile_sum_ns=%" PRIu64, g->tiles, g->tile_ns);
      } else if (s.has_ns) {
        fprintf(r->file, " ns[min/avg/max/total]=%" PRIu64 "/%.3f/%" PRIu64 "/%" PRIu64, s.min, mean * s.ns_per_tick,
                s.max, s.total);
      }
      fputs("\n", r->file);
    }
  }
  if (!has_any && !r->is_json) fputs("    dispatches=0\n", r->file);
}

static void print_function(void* user_data, const profile_item_t* item) {
  const executables_t* e = (const executables_t*)user_data;
  const profile_request_t* r = e->request;
  const iree_hal_profile_executable_function_record_t* record = item->record;
  profile_function_t function = {*record, profile_trailing_text(item->trailing, 0, record->name_length)};
  if (r->selection.id >= 0 && (uint64_t)r->selection.id != record->executable_id) return;
  if (!iree_string_view_match_pattern(function.name, r->selection.filter)) return;
  if (r->is_json) {
    profile_printer_t printer = profile_printer(r);
    profile_print_record(&printer, item);
  } else {
    fprintf(r->file,
            "  function %u: %.*s flags=%u constants=%u bindings=%u parameters=%u workgroup_size=%ux%ux%u "
            "function_hash=",
            record->function_ordinal, (int)function.name.size, function.name.data, record->flags,
            record->constant_count, record->binding_count, record->parameter_count, record->workgroup_size[0],
            record->workgroup_size[1], record->workgroup_size[2]);
    if (record->flags & IREE_HAL_PROFILE_EXECUTABLE_FUNCTION_FLAG_FUNCTION_HASH) {
      fprintf(r->file, "%016" PRIx64 "%016" PRIx64 "\n", record->function_hash[0], record->function_hash[1]);
    } else {
      fputs("unavailable\n", r->file);
    }
  }
  print_function_groups(e, &function);
}

typedef struct function_filter_t {
  const executables_t* executables;
  uint64_t executable_id;
} function_filter_t;

static void print_function_of(void* user_data, const profile_item_t* item) {
  const function_filter_t* filter = (const function_filter_t*)user_data;
  const iree_hal_profile_executable_function_record_t* record = item->record;
  if (record->executable_id == filter->executable_id) print_function((void*)filter->executables, item);
}

static void print_executable(void* user_data, const profile_item_t* item) {
  const executables_t* e = (const executables_t*)user_data;
  const profile_request_t* r = e->request;
  const iree_hal_profile_executable_record_t* record = item->record;
  if (r->selection.id >= 0 && (uint64_t)r->selection.id != record->executable_id) return;
  if (r->is_json) {
    profile_printer_t printer = profile_printer(r);
    profile_print_record(&printer, item);
  } else {
    fprintf(r->file, "executable %" PRIu64 ": functions=%u flags=%u code_object_hash=", record->executable_id,
            record->function_count, record->flags);
    if (record->flags & IREE_HAL_PROFILE_EXECUTABLE_FLAG_CODE_OBJECT_HASH) {
      fprintf(r->file, "%016" PRIx64 "%016" PRIx64 "\n", record->code_object_hash[0], record->code_object_hash[1]);
    } else {
      fputs("unavailable\n", r->file);
    }
  }
  function_filter_t filter = {e, record->executable_id};
  profile_bundle_each(r->bundle, PROFILE_KIND_FUNCTIONS, print_function_of, &filter);
}

static void print_executables(const executables_t* e) {
  const profile_request_t* r = e->request;
  const profile_dispatches_t *d = &e->both.device, *h = &e->both.host;
  uint64_t executables = r->bundle->record_counts[PROFILE_KIND_EXECUTABLES];
  if (r->is_json) {
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "executable_summary", CELL_S("filter", r->selection.filter),
                CELL_U("executables", executables), CELL_U("functions", r->bundle->function_count),
                CELL_U("matched_dispatches", d->matched), CELL_U("valid_dispatches", d->valid),
                CELL_U("invalid_dispatches", d->matched - d->valid), CELL_U("matched_host_dispatches", h->matched),
                CELL_U("valid_host_dispatches", h->valid), CELL_U("invalid_host_dispatches", h->matched - h->valid));
  } else {
    fprintf(r->file,
            "IREE HAL profile executable summary\nfilter: %.*s\nexecutables=%" PRIu64 " functions=%" PRIhsz
            " matched_dispatches=%" PRIu64 " valid=%" PRIu64 " invalid=%" PRIu64 " matched_host_dispatches=%" PRIu64
            " host_valid=%" PRIu64 " host_invalid=%" PRIu64 "\n",
            (int)r->selection.filter.size, r->selection.filter.data, executables, r->bundle->function_count, d->matched,
            d->valid, d->matched - d->valid, h->matched, h->valid, h->matched - h->valid);
  }
  profile_bundle_each(r->bundle, PROFILE_KIND_EXECUTABLES, print_executable, (void*)e);
}

iree_status_t profile_report_executable(const profile_request_t* request) {
  if (request->dispatch_events) return profile_report_dispatches(request, profile_key_of_executable);
  executables_t executables = {.request = request};
  iree_status_t status =
      profile_both_collect(request, &request->selection, profile_key_of_executable, &executables.both);
  if (iree_status_is_ok(status)) print_executables(&executables);
  profile_both_free(&executables.both);
  return status;
}
