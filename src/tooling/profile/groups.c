// See groups.h.
#include "tooling/profile/groups.h"

#include <math.h>

void profile_groups_free(profile_groups_t* groups) {
  iree_allocator_free(groups->allocator, groups->groups);
  iree_allocator_free(groups->allocator, groups->places);
}

static uint32_t* find_place(const profile_groups_t* groups, const uint64_t key[PROFILE_GROUP_KEYS]) {
  uint64_t hash = 0;
  for (int i = 0; i < PROFILE_GROUP_KEYS; ++i) hash = ((hash ^ key[i]) * 0x9E3779B97F4A7C15ull) ^ hash >> 31;
  iree_host_size_t mask = groups->place_capacity - 1, i = (iree_host_size_t)(hash >> 20) & mask;
  while (groups->places[i] &&
         memcmp(groups->groups[groups->places[i] - 1].key, key, PROFILE_GROUP_KEYS * sizeof(*key)) != 0) {
    i = (i + 1) & mask;
  }
  return &groups->places[i];
}

static iree_status_t grow(profile_groups_t* groups) {
  if (groups->count == groups->capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(groups->allocator, 64, sizeof(*groups->groups), &groups->capacity,
                                                   (void**)&groups->groups));
  }
  if (groups->count * 2 < groups->place_capacity) return iree_ok_status();
  iree_host_size_t capacity = iree_max(groups->place_capacity * 2, 128);
  uint32_t* places = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(groups->allocator, capacity, sizeof(*places), (void**)&places));
  iree_allocator_free(groups->allocator, groups->places);
  groups->places = places;
  groups->place_capacity = capacity;
  for (iree_host_size_t i = 0; i < groups->count; ++i) *find_place(groups, groups->groups[i].key) = (uint32_t)i + 1;
  return iree_ok_status();
}

profile_group_t* profile_groups_find(profile_groups_t* groups, const uint64_t key[PROFILE_GROUP_KEYS]) {
  if (iree_status_is_ok(groups->status)) groups->status = grow(groups);
  if (!iree_status_is_ok(groups->status)) return NULL;
  uint32_t* place = find_place(groups, key);
  if (!*place) {
    profile_group_t* group = &groups->groups[groups->count++];
    *group = (profile_group_t){.min = UINT64_MAX, .start = UINT64_MAX};
    memcpy(group->key, key, sizeof(group->key));
    *place = (uint32_t)groups->count;
  }
  return &groups->groups[*place - 1];
}

void profile_group_add(profile_group_t* group, bool is_valid, uint64_t start, uint64_t end) {
  uint64_t duration = end - start;
  ++group->count;
  if (!is_valid) return;
  ++group->valid;
  group->min = iree_min(group->min, duration);
  group->max = iree_max(group->max, duration);
  group->sum += (double)duration;
  group->squares += (double)duration * (double)duration;
  group->start = iree_min(group->start, start);
  group->end = iree_max(group->end, end);
}

double profile_group_mean(const profile_group_t* group) { return group->valid ? group->sum / (double)group->valid : 0; }

double profile_group_deviation(const profile_group_t* group) {
  double mean = profile_group_mean(group);
  double variance = group->valid ? group->squares / (double)group->valid - mean * mean : 0;
  return group->valid > 1 && variance > 0 ? sqrt(variance) : 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

static profile_dispatch_t device_dispatch(const profile_item_t* item) {
  const iree_hal_profile_dispatch_event_t* event = item->record;
  const iree_hal_profile_file_record_header_t* header = &item->chunk->record.header;
  return (profile_dispatch_t){
      .physical = header->physical_device_ordinal,
      .queue = header->queue_ordinal,
      .stream = header->stream_id,
      .event_id = event->event_id,
      .submission = event->submission_id,
      .command_buffer = event->command_buffer_id,
      .executable = event->executable_id,
      .function = event->function_ordinal,
      .command_index = event->command_index,
      .is_valid = event->start_tick && event->end_tick >= event->start_tick,
      .start = event->start_tick,
      .end = event->end_tick,
      .workgroup_count = event->workgroup_count,
      .workgroup_size = event->workgroup_size,
  };
}

static profile_dispatch_t host_dispatch(const profile_item_t* item) {
  const iree_hal_profile_host_execution_event_t* event = item->record;
  return (profile_dispatch_t){
      .physical = event->physical_device_ordinal,
      .queue = event->queue_ordinal,
      .stream = event->stream_id,
      .event_id = event->event_id,
      .submission = event->submission_id,
      .command_buffer = event->command_buffer_id,
      .executable = event->executable_id,
      .function = event->function_ordinal,
      .command_index = event->command_index,
      .is_valid = profile_host_span_is_valid(event),
      .start = (uint64_t)event->start_host_time_ns,
      .end = (uint64_t)event->end_host_time_ns,
      .workgroup_count = event->workgroup_count,
      .workgroup_size = event->workgroup_size,
      .tiles = event->tile_count,
      .tile_ns = event->tile_duration_sum_ns > 0 ? (uint64_t)event->tile_duration_sum_ns : 0,
  };
}

profile_dispatch_t profile_dispatch_of(const profile_item_t* item) {
  return item->chunk->kind == PROFILE_KIND_DISPATCH_EVENTS ? device_dispatch(item) : host_dispatch(item);
}

void profile_key_of_function(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id) {
  profile_dispatch_t dispatch = profile_dispatch_of(item);
  memcpy(out_key, (const uint64_t[PROFILE_GROUP_KEYS]){dispatch.physical, dispatch.executable, dispatch.function},
         PROFILE_GROUP_KEYS * sizeof(*out_key));
  *out_id = dispatch.event_id;
}

void profile_key_of_executable(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id) {
  profile_key_of_function(item, out_key, out_id);
  *out_id = out_key[1];
}

void profile_key_of_submission(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id) {
  profile_dispatch_t dispatch = profile_dispatch_of(item);
  memcpy(out_key,
         (const uint64_t[PROFILE_GROUP_KEYS]){dispatch.physical, dispatch.queue, dispatch.stream, dispatch.submission},
         PROFILE_GROUP_KEYS * sizeof(*out_key));
  *out_id = dispatch.submission;
}

void profile_key_of_execution(const profile_item_t* item, uint64_t out_key[PROFILE_GROUP_KEYS], uint64_t* out_id) {
  profile_dispatch_t dispatch = profile_dispatch_of(item);
  memcpy(out_key,
         (const uint64_t[PROFILE_GROUP_KEYS]){dispatch.command_buffer, dispatch.submission, dispatch.physical,
                                              dispatch.queue, dispatch.stream},
         PROFILE_GROUP_KEYS * sizeof(*out_key));
  *out_id = dispatch.command_buffer;
}

static void collect(void* user_data, const profile_item_t* item) {
  profile_dispatches_t* dispatches = (profile_dispatches_t*)user_data;
  uint64_t key[PROFILE_GROUP_KEYS], id = 0;
  char buffer[64];
  if (item->chunk->kind == PROFILE_KIND_HOST_EVENTS && !profile_host_event_is_dispatch(item->record)) return;
  profile_dispatch_t dispatch = profile_dispatch_of(item);
  ++dispatches->total;
  dispatches->key_of(item, key, &id);
  if (dispatches->selection.id >= 0 && (uint64_t)dispatches->selection.id != id) return;
  iree_string_view_t name = profile_bundle_key(dispatches->bundle, dispatch.executable, dispatch.function, buffer);
  if (!iree_string_view_match_pattern(name, dispatches->selection.filter)) return;
  ++dispatches->matched;
  dispatches->valid += dispatch.is_valid;
  if (dispatches->key_of == profile_key_of_execution && !dispatch.command_buffer) return;
  profile_group_t* group = profile_groups_find(&dispatches->groups, key);
  if (!group) return;
  profile_group_add(group, dispatch.is_valid, dispatch.start, dispatch.end);
  group->tiles += dispatch.tiles;
  group->tile_ns += dispatch.tile_ns;
  memcpy(group->workgroup_count, dispatch.workgroup_count, sizeof(group->workgroup_count));
  memcpy(group->workgroup_size, dispatch.workgroup_size, sizeof(group->workgroup_size));
}

iree_status_t profile_dispatches_collect(const profile_bundle_t* bundle, const profile_selection_t* selection,
                                         bool is_host, profile_dispatch_key_fn_t key_of,
                                         profile_dispatches_t* out_dispatches) {
  *out_dispatches = (profile_dispatches_t){.bundle = bundle, .selection = *selection, .key_of = key_of};
  out_dispatches->groups.allocator = bundle->allocator;
  profile_bundle_each(bundle, is_host ? PROFILE_KIND_HOST_EVENTS : PROFILE_KIND_DISPATCH_EVENTS, collect,
                      out_dispatches);
  return out_dispatches->groups.status;
}
