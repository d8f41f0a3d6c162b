// The report on counters: samples, and their values by what they are of, counter by counter.
#include "tooling/profile/reports.h"

// Of the keys of a group.
enum { KEY_DEVICE, KEY_QUEUE, KEY_STREAM, KEY_SCOPE, KEY_COUNTER, KEY_BUFFER, KEY_EXECUTABLE, KEY_FUNCTION };

typedef struct counter_t {
  iree_hal_profile_counter_record_t record;
  iree_string_view_t set, block, name, description;
} counter_t;

typedef struct counters_t {
  const profile_request_t* request;
  uint64_t total, matched;
  iree_host_size_t count, capacity;
  counter_t* counters;
  iree_status_t status;  // of memory for them
  profile_groups_t groups;
} counters_t;

//===----------------------------------------------------------------------------------------------------------------===
// Counters
//===----------------------------------------------------------------------------------------------------------------===

typedef struct set_name_t {
  uint64_t id;
  iree_string_view_t name;
} set_name_t;

static void find_set(void* user_data, const profile_item_t* item) {
  set_name_t* wanted = (set_name_t*)user_data;
  const iree_hal_profile_counter_set_record_t* set = item->record;
  if (set->counter_set_id == wanted->id) wanted->name = profile_trailing_text(item->trailing, 0, set->name_length);
}

static counter_t describe(const profile_bundle_t* bundle, const profile_item_t* item) {
  const iree_hal_profile_counter_record_t* c = item->record;
  iree_host_size_t block = c->block_name_length, name = c->name_length;
  set_name_t set = {.id = c->counter_set_id};
  profile_bundle_each(bundle, PROFILE_KIND_COUNTER_SETS, find_set, &set);
  return (counter_t){.record = *c,
                     .set = set.name,
                     .block = profile_trailing_text(item->trailing, 0, block),
                     .name = profile_trailing_text(item->trailing, block, name),
                     .description = profile_trailing_text(item->trailing, block + name, c->description_length)};
}

static void add_counter(void* user_data, const profile_item_t* item) {
  counters_t* c = (counters_t*)user_data;
  if (c->count == c->capacity && iree_status_is_ok(c->status)) {
    c->status = iree_allocator_grow_array(c->request->bundle->allocator, 16, sizeof(*c->counters), &c->capacity,
                                          (void**)&c->counters);
  }
  if (iree_status_is_ok(c->status)) c->counters[c->count++] = describe(c->request->bundle, item);
}

//===----------------------------------------------------------------------------------------------------------------===
// Samples
//===----------------------------------------------------------------------------------------------------------------===

static iree_string_view_t key_of(const profile_request_t* r, uint64_t executable, uint64_t function, char buffer[64]) {
  if (!executable) return IREE_SV("unattributed");
  return profile_bundle_key(r->bundle, executable, (uint32_t)function, buffer);
}

static bool takes(const profile_request_t* r, const iree_hal_profile_counter_sample_record_t* sample) {
  char buffer[64];
  uint64_t id = (uint64_t)r->selection.id;
  if (r->selection.id >= 0 && sample->sample_id != id && sample->dispatch_event_id != id &&
      sample->submission_id != id && sample->command_buffer_id != id) {
    return false;
  }
  return iree_string_view_match_pattern(key_of(r, sample->executable_id, sample->function_ordinal, buffer),
                                        r->selection.filter);
}

// The sum of a counter's values in a sample; false when it has none of that counter.
static bool sum_values(const profile_item_t* item, const iree_hal_profile_counter_record_t* counter,
                       uint64_t* out_sum) {
  const iree_hal_profile_counter_sample_record_t* sample = item->record;
  uint64_t end = (uint64_t)counter->sample_value_offset + counter->sample_value_count;
  *out_sum = 0;
  if (sample->counter_set_id != counter->counter_set_id || end > sample->sample_value_count) return false;
  for (uint64_t i = counter->sample_value_offset; i < end; ++i) {
    uint64_t value;
    memcpy(&value, item->trailing.data + i * sizeof(value), sizeof(value));
    *out_sum += value;
  }
  return true;
}

static void print_sample(const profile_request_t* r, const profile_item_t* item, const counter_t* counter,
                         uint64_t sum) {
  const iree_hal_profile_counter_sample_record_t* s = item->record;
  const iree_hal_profile_counter_record_t* c = &counter->record;
  char buffer[64];
  profile_span_t span = profile_device_span(r->bundle, s->physical_device_ordinal, s->start_tick, s->end_tick);
  PROFILE_ROW_OPEN(&(profile_out_t){.file = r->file}, "counter_sample", CELL_U("sample_id", s->sample_id),
                   CELL_U("counter_set_id", s->counter_set_id), CELL_S("counter_set", counter->set),
                   CELL_U("counter_ordinal", c->counter_ordinal), CELL_S("counter", counter->name),
                   CELL_S("block", counter->block), CELL_C("unit", profile_counter_unit_name(c->unit)),
                   CELL_C("scope", profile_counter_scope_name(s->scope)), CELL_U("scope_value", s->scope),
                   CELL_U("dispatch_event_id", s->dispatch_event_id), CELL_U("submission_id", s->submission_id),
                   CELL_U("command_buffer_id", s->command_buffer_id), CELL_U("command_index", s->command_index),
                   CELL_U("executable_id", s->executable_id), CELL_U("function_ordinal", s->function_ordinal),
                   CELL_S("key", key_of(r, s->executable_id, s->function_ordinal, buffer)),
                   CELL_U("physical_device_ordinal", s->physical_device_ordinal),
                   CELL_U("queue_ordinal", s->queue_ordinal), CELL_U("stream_id", s->stream_id),
                   CELL_U("flags", s->flags), PROFILE_SAMPLE_TICK_CELLS(s, span), CELL_F("value", (double)sum, 3));
  fputs(",\"values\":[", r->file);
  for (uint32_t i = 0; i < c->sample_value_count; ++i) {
    uint64_t value;
    memcpy(&value, item->trailing.data + ((uint64_t)c->sample_value_offset + i) * sizeof(value), sizeof(value));
    fprintf(r->file, "%s%" PRIu64, i ? "," : "", value);
  }
  fputs("]}\n", r->file);
}

static void add_to_group(counters_t* c, const profile_item_t* item, iree_host_size_t counter, uint64_t sum) {
  const iree_hal_profile_counter_sample_record_t* s = item->record;
  const uint64_t key[PROFILE_GROUP_KEYS] = {[KEY_DEVICE] = s->physical_device_ordinal,
                                            [KEY_QUEUE] = s->queue_ordinal,
                                            [KEY_STREAM] = s->stream_id,
                                            [KEY_SCOPE] = s->scope,
                                            [KEY_COUNTER] = counter,
                                            [KEY_BUFFER] = s->command_buffer_id,
                                            [KEY_EXECUTABLE] = s->executable_id,
                                            [KEY_FUNCTION] = s->function_ordinal};
  profile_group_t* group = profile_groups_find(&c->groups, key);
  if (!group) return;
  if (!group->count) group->first_id = s->sample_id;
  group->last_id = s->sample_id;
  group->tiles += c->counters[counter].record.sample_value_count;
  profile_group_add(group, true, 0, sum);
}

static void add_sample(void* user_data, const profile_item_t* item) {
  counters_t* c = (counters_t*)user_data;
  ++c->total;
  if (!takes(c->request, item->record)) return;
  ++c->matched;
  for (iree_host_size_t i = 0; i < c->count; ++i) {
    uint64_t sum = 0;
    if (!sum_values(item, &c->counters[i].record, &sum)) continue;
    add_to_group(c, item, i, sum);
    if (c->request->counter_samples && c->request->is_json) print_sample(c->request, item, &c->counters[i], sum);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// The report
//===----------------------------------------------------------------------------------------------------------------===

static void print_group_row(const counters_t* c, const profile_group_t* g) {
  const profile_request_t* r = c->request;
  const counter_t* counter = &c->counters[g->key[KEY_COUNTER]];
  char buffer[64];
  PROFILE_ROW(
      &(profile_out_t){.file = r->file}, "counter_group", CELL_U("physical_device_ordinal", g->key[KEY_DEVICE]),
      CELL_U("queue_ordinal", g->key[KEY_QUEUE]), CELL_U("stream_id", g->key[KEY_STREAM]),
      CELL_C("scope", profile_counter_scope_name((uint32_t)g->key[KEY_SCOPE])),
      CELL_U("scope_value", g->key[KEY_SCOPE]), CELL_U("counter_set_id", counter->record.counter_set_id),
      CELL_S("counter_set", counter->set), CELL_U("counter_ordinal", counter->record.counter_ordinal),
      CELL_S("counter", counter->name), CELL_S("block", counter->block),
      CELL_C("unit", profile_counter_unit_name(counter->record.unit)), CELL_U("command_buffer_id", g->key[KEY_BUFFER]),
      CELL_U("executable_id", g->key[KEY_EXECUTABLE]), CELL_U("function_ordinal", g->key[KEY_FUNCTION]),
      CELL_S("key", key_of(r, g->key[KEY_EXECUTABLE], g->key[KEY_FUNCTION], buffer)), CELL_U("samples", g->count),
      CELL_U("raw_values", g->tiles), CELL_F("min", (double)g->min, 3), CELL_F("avg", profile_group_mean(g), 3),
      CELL_F("stddev", profile_group_deviation(g), 3), CELL_F("max", (double)g->max, 3), CELL_F("sum", g->sum, 3),
      CELL_U("first_sample_id", g->first_id), CELL_U("last_sample_id", g->last_id));
}

static void print_group_text(const counters_t* c, const profile_group_t* g) {
  const profile_request_t* r = c->request;
  const counter_t* counter = &c->counters[g->key[KEY_COUNTER]];
  char buffer[64];
  iree_string_view_t key = key_of(r, g->key[KEY_EXECUTABLE], g->key[KEY_FUNCTION], buffer);
  fprintf(r->file, "  %.*s / %.*s.%.*s\n", (int)counter->set.size, counter->set.data, (int)counter->block.size,
          counter->block.data, (int)counter->name.size, counter->name.data);
  fprintf(r->file, "    scope=%s device=%" PRIu64 " queue=%" PRIu64 " stream=%" PRIu64 " command_buffer=%" PRIu64,
          profile_counter_scope_name((uint32_t)g->key[KEY_SCOPE]), g->key[KEY_DEVICE], g->key[KEY_QUEUE],
          g->key[KEY_STREAM], g->key[KEY_BUFFER]);
  fprintf(r->file, " executable=%" PRIu64 " function=%" PRIu64 " key=%.*s\n", g->key[KEY_EXECUTABLE],
          g->key[KEY_FUNCTION], (int)key.size, key.data);
  fprintf(r->file,
          "    samples=%" PRIu64 " raw_values=%" PRIu64
          " value[min/avg/stddev/max/total]=%.3f/%.3f/%.3f/%.3f/%.3f unit=%s first_sample=%" PRIu64
          " last_sample=%" PRIu64 "\n",
          g->count, g->tiles, (double)g->min, profile_group_mean(g), profile_group_deviation(g), (double)g->max, g->sum,
          profile_counter_unit_name(counter->record.unit), g->first_id, g->last_id);
}

static void print_set(void* user_data, const profile_item_t* item) {
  FILE* file = ((const profile_request_t*)user_data)->file;
  const iree_hal_profile_counter_set_record_t* set = item->record;
  fprintf(file, "  counter_set %" PRIu64 ": device=%u counters=%u sample_values=%u flags=%u name=%.*s\n",
          set->counter_set_id, set->physical_device_ordinal, set->counter_count, set->sample_value_count, set->flags,
          (int)set->name_length, (const char*)item->trailing.data);
}

static void print_counter(const profile_request_t* r, const counter_t* counter) {
  const iree_hal_profile_counter_record_t* c = &counter->record;
  fprintf(r->file, "  counter %" PRIu64 "#%u: device=%u block=%.*s name=%.*s unit=%s values=[%u,%" PRIu64 ") flags=%u",
          c->counter_set_id, c->counter_ordinal, c->physical_device_ordinal, (int)counter->block.size,
          counter->block.data, (int)counter->name.size, counter->name.data, profile_counter_unit_name(c->unit),
          c->sample_value_offset, (uint64_t)c->sample_value_offset + c->sample_value_count, c->flags);
  if (counter->description.size) {
    fprintf(r->file, " description=%.*s", (int)counter->description.size, counter->description.data);
  }
  fputc('\n', r->file);
}

static void print_rows(const counters_t* c) {
  const profile_request_t* r = c->request;
  const uint64_t* n = r->bundle->record_counts;
  PROFILE_ROW(&(profile_out_t){.file = r->file}, "counter_summary", CELL_S("filter", r->selection.filter),
              CELL_I("id_filter", r->selection.id), CELL_C("mode", r->counter_samples ? "samples" : "aggregate"),
              CELL_U("total_samples", c->total), CELL_U("matched_samples", c->matched),
              CELL_U("truncated_matched_samples", r->bundle->truncated ? c->matched : 0),
              CELL_U("counter_sets", n[PROFILE_KIND_COUNTER_SETS]), CELL_U("counters", n[PROFILE_KIND_COUNTERS]),
              CELL_U("aggregate_groups", c->groups.count));
  profile_print_kind(r, PROFILE_KIND_COUNTER_SETS);
  profile_print_kind(r, PROFILE_KIND_COUNTERS);
  for (iree_host_size_t i = 0; i < c->groups.count; ++i) print_group_row(c, &c->groups.groups[i]);
}

static void print_text(const counters_t* c) {
  const profile_request_t* r = c->request;
  const uint64_t* n = r->bundle->record_counts;
  fprintf(r->file, "IREE HAL profile counter summary\nfilter: %.*s\n", (int)r->selection.filter.size,
          r->selection.filter.data);
  if (r->selection.id >= 0) fprintf(r->file, "id_filter: %" PRId64 "\n", r->selection.id);
  fprintf(r->file,
          "samples: total=%" PRIu64 " matched=%" PRIu64 " truncated_matched=%" PRIu64 " counter_sets=%" PRIu64
          " counters=%" PRIu64 " groups=%" PRIhsz "\ncounter_sets:\n",
          c->total, c->matched, r->bundle->truncated ? c->matched : 0, n[PROFILE_KIND_COUNTER_SETS],
          n[PROFILE_KIND_COUNTERS], c->groups.count);
  profile_bundle_each(r->bundle, PROFILE_KIND_COUNTER_SETS, print_set, (void*)r);
  fprintf(r->file, "counters:\n");
  for (iree_host_size_t i = 0; i < c->count; ++i) print_counter(r, &c->counters[i]);
  fprintf(r->file, "groups:\n");
  for (iree_host_size_t i = 0; i < c->groups.count; ++i) print_group_text(c, &c->groups.groups[i]);
}

iree_status_t profile_report_counter(const profile_request_t* r) {
  counters_t c = {.request = r, .groups = {.allocator = r->bundle->allocator}};
  profile_bundle_each(r->bundle, PROFILE_KIND_COUNTERS, add_counter, &c);
  if (iree_status_is_ok(c.status)) {
    profile_bundle_each(r->bundle, PROFILE_KIND_COUNTER_SAMPLES, add_sample, &c);
    c.status = c.groups.status;
  }
  if (iree_status_is_ok(c.status)) (r->is_json ? print_rows : print_text)(&c);
  profile_groups_free(&c.groups);
  iree_allocator_free(r->bundle->allocator, c.counters);
  return c.status;
}
