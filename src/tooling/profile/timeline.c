// See timeline.h.
#include "tooling/profile/timeline.h"

#include "tooling/profile/records.h"

enum { MAX_LANE_SETS = 128, MAX_DEVICES = 64 };

typedef struct lanes_t {
  uint64_t key[PROFILE_GROUP_KEYS];  // {physical device, queue, host or device}
  int64_t ends[PROFILE_TRACK_LANES];
} lanes_t;

typedef struct visit_t {
  const profile_bundle_t* bundle;
  const profile_timeline_t* timeline;
  bool has_origin;
  int64_t origin;
  iree_host_size_t lane_count;
  lanes_t lanes[MAX_LANE_SETS];
  uint64_t bytes[MAX_DEVICES][PROFILE_SERIES_COUNT];
} visit_t;

const char* profile_track_name(uint32_t track) {
  static const char* const names[] = {"host queue", "host execution", "device queue", "dispatches"};
  return names[iree_min(track, PROFILE_TRACK_DISPATCH) - PROFILE_TRACK_HOST_QUEUE];
}

const char* profile_series_name(profile_series_t series) {
  static const char* const names[] = {"queue allocation bytes", "buffer bytes"};
  return names[series];
}

static void find_origin(visit_t* v, int64_t ns) {
  if (ns > 0 && (!v->has_origin || ns < v->origin)) {
    v->origin = ns;
    v->has_origin = true;
  }
}

static uint64_t since_origin(const visit_t* v, int64_t ns) {
  return ns > v->origin ? (uint64_t)ns - (uint64_t)v->origin : 0;
}

static bool device_span(const visit_t* v, uint32_t physical, uint64_t start, uint64_t end, profile_span_t* out_span) {
  *out_span = profile_device_span(v->bundle, physical, start, end);
  return out_span->is_valid && out_span->has_ns;
}

static void see_record(void* user_data, const profile_item_t* item) {
  visit_t* v = (visit_t*)user_data;
  profile_span_t span;
  if (item->chunk->kind == PROFILE_KIND_QUEUE_EVENTS) {
    find_origin(v, ((const iree_hal_profile_queue_event_t*)item->record)->host_time_ns);
  } else if (item->chunk->kind == PROFILE_KIND_MEMORY_EVENTS) {
    find_origin(v, ((const iree_hal_profile_memory_event_t*)item->record)->host_time_ns);
  } else if (item->chunk->kind == PROFILE_KIND_HOST_EVENTS) {
    find_origin(v, ((const iree_hal_profile_host_execution_event_t*)item->record)->start_host_time_ns);
  } else if (item->chunk->kind == PROFILE_KIND_DISPATCH_EVENTS) {
    profile_dispatch_t dispatch = profile_dispatch_of(item);
    if (device_span(v, dispatch.physical, dispatch.start, dispatch.end, &span)) find_origin(v, span.start_ns);
  }
}

// The first lane that is free from `start` on, of a queue's dispatches.
static uint32_t take_lane(visit_t* v, const profile_dispatch_t* dispatch, bool is_host, int64_t start, int64_t end) {
  const uint64_t key[PROFILE_GROUP_KEYS] = {dispatch->physical, dispatch->queue, is_host};
  iree_host_size_t i = 0;
  while (i < v->lane_count && memcmp(v->lanes[i].key, key, sizeof(key)) != 0) ++i;
  if (i == MAX_LANE_SETS) return 0;
  if (i == v->lane_count) memcpy(v->lanes[v->lane_count++].key, key, sizeof(key));
  uint32_t lane = 0;
  while (lane < PROFILE_TRACK_LANES - 1 && v->lanes[i].ends[lane] > start) ++lane;
  v->lanes[i].ends[lane] = iree_max(end, v->lanes[i].ends[lane]);
  return lane;
}

static void tell_slice(visit_t* v, profile_slice_t* slice, int64_t start, int64_t end) {
  slice->start_ns = since_origin(v, start);
  slice->duration_ns = end > start ? (uint64_t)end - (uint64_t)start : 0;
  if (v->timeline->slice) v->timeline->slice(v->timeline->user_data, slice);
}

static void tell_dispatch(visit_t* v, const profile_item_t* item, bool is_host) {
  profile_dispatch_t dispatch = profile_dispatch_of(item);
  int64_t start = (int64_t)dispatch.start, end = (int64_t)dispatch.end;
  char buffer[64];
  profile_span_t span;
  if (!dispatch.is_valid) return;
  if (!is_host) {
    if (!device_span(v, dispatch.physical, dispatch.start, dispatch.end, &span)) return;
    start = span.start_ns;
    end = span.end_ns;
  }
  profile_slice_t slice = {
      .physical = dispatch.physical,
      .queue = dispatch.queue,
      .track = PROFILE_TRACK_DISPATCH + take_lane(v, &dispatch, is_host, start, end),
      .name = profile_bundle_key(v->bundle, dispatch.executable, dispatch.function, buffer),
      .submission = dispatch.submission,
      .dispatch = &dispatch,
  };
  tell_slice(v, &slice, start, end);
}

static void tell_queue(void* user_data, const profile_item_t* item) {
  visit_t* v = (visit_t*)user_data;
  if (v->timeline->queue) v->timeline->queue(v->timeline->user_data, item->record);
}

static void tell_submission(void* user_data, const profile_item_t* item) {
  visit_t* v = (visit_t*)user_data;
  const iree_hal_profile_queue_event_t* event = item->record;
  if (v->timeline->submission) {
    v->timeline->submission(v->timeline->user_data, since_origin(v, event->host_time_ns), event);
  }
}

static void tell_host(void* user_data, const profile_item_t* item) {
  visit_t* v = (visit_t*)user_data;
  const iree_hal_profile_host_execution_event_t* event = item->record;
  if (profile_host_event_is_dispatch(event)) {
    if (!v->bundle->record_counts[PROFILE_KIND_DISPATCH_EVENTS]) tell_dispatch(v, item, /*is_host=*/true);
    return;
  }
  if (!profile_host_span_is_valid(event)) return;
  profile_slice_t slice = {
      .physical = event->physical_device_ordinal,
      .queue = event->queue_ordinal,
      .track = PROFILE_TRACK_HOST,
      .name = iree_make_cstring_view(iree_hal_profile_queue_event_type_name(event->type)),
      .submission = event->submission_id,
      .type = event->type,
      .operations = event->operation_count,
  };
  tell_slice(v, &slice, event->start_host_time_ns, event->end_host_time_ns);
}

static void tell_device(void* user_data, const profile_item_t* item) {
  visit_t* v = (visit_t*)user_data;
  const iree_hal_profile_queue_device_event_t* event = item->record;
  profile_span_t span;
  if (!device_span(v, event->physical_device_ordinal, event->start_tick, event->end_tick, &span)) return;
  profile_slice_t slice = {
      .physical = event->physical_device_ordinal,
      .queue = event->queue_ordinal,
      .track = PROFILE_TRACK_DEVICE,
      .name = iree_make_cstring_view(iree_hal_profile_queue_event_type_name(event->type)),
      .submission = event->submission_id,
      .type = event->type,
      .operations = event->operation_count,
  };
  tell_slice(v, &slice, span.start_ns, span.end_ns);
}

static void tell_device_dispatch(void* user_data, const profile_item_t* item) {
  tell_dispatch((visit_t*)user_data, item, /*is_host=*/false);
}

static void tell_memory(void* user_data, const profile_item_t* item) {
  visit_t* v = (visit_t*)user_data;
  const iree_hal_profile_memory_event_t* event = item->record;
  bool is_alloca = event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_ALLOCA;
  bool is_buffer = event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_ALLOCATE;
  profile_series_t series;
  if (is_alloca || event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_DEALLOCA) {
    series = PROFILE_SERIES_QUEUE;
  } else if (is_buffer || event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_FREE) {
    series = PROFILE_SERIES_BUFFER;
  } else {
    return;
  }
  uint64_t* bytes = &v->bytes[iree_min(event->physical_device_ordinal, MAX_DEVICES - 1)][series];
  *bytes = is_alloca || is_buffer ? *bytes + event->length : *bytes - iree_min(*bytes, event->length);
  if (!v->timeline->memory) return;
  v->timeline->memory(v->timeline->user_data, event->physical_device_ordinal, series,
                      since_origin(v, event->host_time_ns), *bytes);
}

iree_status_t profile_timeline_visit(const profile_bundle_t* bundle, const profile_timeline_t* timeline) {
  static const struct {
    profile_kind_t kind;
    profile_item_fn_t tell;
  } kinds[] = {
      {PROFILE_KIND_QUEUES, tell_queue},
      {PROFILE_KIND_QUEUE_EVENTS, tell_submission},
      {PROFILE_KIND_HOST_EVENTS, tell_host},
      {PROFILE_KIND_DEVICE_EVENTS, tell_device},
      {PROFILE_KIND_DISPATCH_EVENTS, tell_device_dispatch},
      {PROFILE_KIND_MEMORY_EVENTS, tell_memory},
  };
  visit_t* v = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(bundle->allocator, sizeof(*v), (void**)&v));
  *v = (visit_t){.bundle = bundle, .timeline = timeline};
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) profile_bundle_each(bundle, kinds[i].kind, see_record, v);
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) profile_bundle_each(bundle, kinds[i].kind, kinds[i].tell, v);
  iree_allocator_free(bundle->allocator, v);
  return iree_ok_status();
}
