// The report on counters.
#include "tooling/profile/reports.h"

typedef struct counters_t {
  const profile_request_t* request;
  uint64_t total, matched, group_count;
  bool only_counts;
  const iree_hal_profile_counter_record_t* counter;  // whose groups are collected
  profile_groups_t groups;                           // {physical, queue, scope, executable, function}
} counters_t;

static bool takes(const profile_request_t* r, const iree_hal_profile_counter_sample_record_t* sample) {
  char buffer[64];
  uint64_t id = (uint64_t)r->selection.id;
  if (r->selection.id >= 0 && sample->sample_id != id && sample->dispatch_event_id != id &&
      sample->submission_id != id && sample->command_buffer_id != id) {
    return false;
  }
  if (!sample->executable_id) return iree_string_view_equal(r->selection.filter, IREE_SV("*"));
  return iree_string_view_match_pattern(
      profile_bundle_key(r->bundle, sample->executable_id, sample->function_ordinal, buffer), r->selection.filter);
}

static void count_sample(void* user_data, const profile_item_t* item) {
  counters_t* c = (counters_t*)user_data;
  ++c->total;
  c->matched += takes(c->request, item->record);
}

static void print_sample(void* user_data, const profile_item_t* item) {
  const counters_t* c = (const counters_t*)user_data;
  profile_printer_t printer = profile_printer(c->request);
  if (takes(c->request, item->record)) profile_print_record(&printer, item);
}

// A sample's values of the counter, as one.
static void add_sample(void* user_data, const profile_item_t* item) {
  counters_t* c = (counters_t*)user_data;
  const iree_hal_profile_counter_sample_record_t* sample = item->record;
  if (sample->counter_set_id != c->counter->counter_set_id || !takes(c->request, sample)) return;
  const uint64_t key[PROFILE_GROUP_KEYS] = {sample->physical_device_ordinal, sample->queue_ordinal, sample->scope,
                                            sample->executable_id, sample->function_ordinal};
  profile_group_t* group = profile_groups_find(&c->groups, key);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < c->counter->sample_value_count && group; ++i) {
    uint64_t place = c->counter->sample_value_offset + i, value = 0;
    if (place >= sample->sample_value_count) break;
    memcpy(&value, item->trailing.data + place * sizeof(value), sizeof(value));
    sum += value;
    ++group->tiles;  // values
  }
  if (group) profile_group_add(group, true, 0, sum);
}

static void print_groups(void* user_data, const profile_item_t* item) {
  counters_t* c = (counters_t*)user_data;
  const profile_request_t* r = c->request;
  c->counter = item->record;
  uint32_t block_length = c->counter->block_name_length;
  iree_string_view_t block = profile_trailing_text(item->trailing, 0, block_length);
  iree_string_view_t name = profile_trailing_text(item->trailing, block_length, c->counter->name_length);
  c->groups = (profile_groups_t){.allocator = r->bundle->allocator};
  profile_bundle_each(r->bundle, PROFILE_KIND_COUNTER_SAMPLES, add_sample, c);
  if (c->only_counts) c->group_count += c->groups.count;
  for (iree_host_size_t i = 0; i < c->groups.count && !c->only_counts; ++i) {
    const profile_group_t* g = &c->groups.groups[i];
    char buffer[64];
    iree_string_view_t key =
        g->key[3] ? profile_bundle_key(r->bundle, g->key[3], (uint32_t)g->key[4], buffer) : IREE_SV("");
    if (r->is_json) {
      PROFILE_ROW(&(profile_out_t){.file = r->file}, "counter_group", CELL_U("physical_device_ordinal", g->key[0]),
                  CELL_U("queue_ordinal", g->key[1]), CELL_C("scope", profile_counter_scope_name((uint32_t)g->key[2])),
                  CELL_U("scope_value", g->key[2]), CELL_U("counter_set_id", c->counter->counter_set_id),
                  CELL_U("counter_ordinal", c->counter->counter_ordinal), CELL_S("counter", name),
                  CELL_S("block", block), CELL_C("unit", profile_counter_unit_name(c->counter->unit)),
                  CELL_U("executable_id", g->key[3]), CELL_U("function_ordinal", g->key[4]), CELL_S("key", key),
                  CELL_U("samples", g->count), CELL_U("raw_values", g->tiles), CELL_F("min", (double)g->min, 3),
                  CELL_F("avg", profile_group_mean(g), 3), CELL_F("stddev", profile_group_deviation(g), 3),
                  CELL_F("max", (double)g->max, 3), CELL_F("sum", g->sum, 3));
    } else {
      fprintf(r->file, "  %.*s / %.*s.%.*s\n    scope=%s device=%" PRIu64 " queue=%" PRIu64, (int)key.size, key.data,
              (int)block.size, block.data, (int)name.size, name.data, profile_counter_scope_name((uint32_t)g->key[2]),
              g->key[0], g->key[1]);
      fprintf(r->file, " samples=%" PRIu64 " min=%" PRIu64 " avg=%.3f stddev=%.3f max=%" PRIu64 " sum=%.3f\n", g->count,
              g->min, profile_group_mean(g), profile_group_deviation(g), g->max, g->sum);
    }
  }
  iree_status_ignore(c->groups.status);
  profile_groups_free(&c->groups);
}

static void print_set(void* user_data, const profile_item_t* item) {
  FILE* file = ((const profile_request_t*)user_data)->file;
  const iree_hal_profile_counter_set_record_t* set = item->record;
  fprintf(file, "  counter_set %" PRIu64 ": device=%u counters=%u sample_values=%u flags=%u name=%.*s\n",
          set->counter_set_id, set->physical_device_ordinal, set->counter_count, set->sample_value_count, set->flags,
          (int)set->name_length, (const char*)item->trailing.data);
}

static void print_counter(void* user_data, const profile_item_t* item) {
  FILE* file = ((const profile_request_t*)user_data)->file;
  const iree_hal_profile_counter_record_t* c = item->record;
  const char* text = (const char*)item->trailing.data;
  fprintf(file, "  counter %" PRIu64 "#%u: device=%u block=%.*s name=%.*s unit=%s values=[%u,%u) flags=%u\n",
          c->counter_set_id, c->counter_ordinal, c->physical_device_ordinal, (int)c->block_name_length, text,
          (int)c->name_length, text + c->block_name_length, profile_counter_unit_name(c->unit), c->sample_value_offset,
          c->sample_value_offset + c->sample_value_count, c->flags);
}

iree_status_t profile_report_counter(const profile_request_t* r) {
  counters_t c = {.request = r};
  const uint64_t* n = r->bundle->record_counts;
  profile_bundle_each(r->bundle, PROFILE_KIND_COUNTER_SAMPLES, count_sample, &c);
  c.only_counts = true;
  if (!r->counter_samples) profile_bundle_each(r->bundle, PROFILE_KIND_COUNTERS, print_groups, &c);
  c.only_counts = false;
  if (r->is_json) {
    profile_print_kind(r, PROFILE_KIND_COUNTER_SETS);
    profile_print_kind(r, PROFILE_KIND_COUNTERS);
    if (r->counter_samples) profile_bundle_each(r->bundle, PROFILE_KIND_COUNTER_SAMPLES, print_sample, &c);
    PROFILE_ROW(&(profile_out_t){.file = r->file}, "counter_summary", CELL_S("filter", r->selection.filter),
                CELL_I("id_filter", r->selection.id), CELL_C("mode", r->counter_samples ? "samples" : "aggregate"),
                CELL_U("total_samples", c.total), CELL_U("matched_samples", c.matched),
                CELL_U("truncated_matched_samples", r->bundle->truncated ? c.matched : 0),
                CELL_U("counter_sets", n[PROFILE_KIND_COUNTER_SETS]), CELL_U("counters", n[PROFILE_KIND_COUNTERS]),
                CELL_U("aggregate_groups", c.group_count));
  } else {
    fprintf(r->file,
            "IREE HAL profile counter summary\nfilter: %.*s\nsamples: total=%" PRIu64 " matched=%" PRIu64
            " truncated_matched=%" PRIu64 " counter_sets=%" PRIu64 " counters=%" PRIu64 " groups=%" PRIu64
            "\ncounter_sets:\n",
            (int)r->selection.filter.size, r->selection.filter.data, c.total, c.matched,
            r->bundle->truncated ? c.matched : 0, n[PROFILE_KIND_COUNTER_SETS], n[PROFILE_KIND_COUNTERS],
            c.group_count);
    profile_bundle_each(r->bundle, PROFILE_KIND_COUNTER_SETS, print_set, (void*)r);
    fprintf(r->file, "counters:\n");
    profile_bundle_each(r->bundle, PROFILE_KIND_COUNTERS, print_counter, (void*)r);
    fprintf(r->file, "groups:\n");
  }
  if (!r->counter_samples) profile_bundle_each(r->bundle, PROFILE_KIND_COUNTERS, print_groups, &c);
  return iree_ok_status();
}
