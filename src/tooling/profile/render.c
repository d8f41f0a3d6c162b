// See render.h.
#include "tooling/profile/render.h"

#include "tooling/profile/groups.h"

// Tracks of a queue; those of dispatches are followed by more, for dispatches beside each other.
enum { TRACK_HOST_QUEUE = 1, TRACK_HOST, TRACK_DEVICE, TRACK_DISPATCH, LANES = 16, TRACKS = TRACK_DISPATCH + LANES };

typedef struct lanes_t {
  uint64_t key[PROFILE_GROUP_KEYS];  // {physical device, queue, host or device}
  int64_t ends[LANES];
} lanes_t;

typedef struct render_t {
  const profile_bundle_t* bundle;
  FILE* file;
  bool has_origin, has_events;
  int64_t origin;
  profile_render_counts_t* counts;
  iree_host_size_t lane_count;
  lanes_t lanes[2 * 64];
  uint64_t queue_bytes, buffer_bytes;
} render_t;

//===----------------------------------------------------------------------------------------------------------------===
// Events
//===----------------------------------------------------------------------------------------------------------------===

static void begin_event(render_t* r, const char* phase, uint32_t physical, uint32_t track) {
  fprintf(r->file, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", r->has_events ? ",\n" : "", phase, physical, track);
  r->has_events = true;
}

static void print_name(render_t* r, const char* key, iree_string_view_t name) {
  fprintf(r->file, ",\"%s\":", key);
  profile_json_string(r->file, name);
}

// Microseconds, of which three decimals are nanoseconds.
static void print_time(render_t* r, const char* key, uint64_t ns) {
  fprintf(r->file, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static uint64_t since_origin(const render_t* r, int64_t ns) {
  return ns > r->origin ? (uint64_t)ns - (uint64_t)r->origin : 0;
}

static uint32_t track_of(uint32_t queue, uint32_t track) { return queue * TRACKS + track; }

static void print_slice(render_t* r, uint32_t physical, uint32_t track, iree_string_view_t name, int64_t start,
                        int64_t end) {
  begin_event(r, "X", physical, track);
  print_name(r, "name", name);
  print_time(r, "ts", since_origin(r, start));
  print_time(r, "dur", end > start ? (uint64_t)end - (uint64_t)start : 0);
  ++r->counts->slices;
}

static void print_counter(render_t* r, uint32_t physical, const char* name, int64_t ns, uint64_t value) {
  begin_event(r, "C", physical, 0);
  print_name(r, "name", iree_make_cstring_view(name));
  print_time(r, "ts", since_origin(r, ns));
  fprintf(r->file, ",\"args\":{\"bytes\":%" PRIu64 "}}", value);
  ++r->counts->samples;
}

// The first lane that is free from `start` on, of a queue's dispatches.
static uint32_t take_lane(render_t* r, uint32_t physical, uint32_t queue, bool is_host, int64_t start, int64_t end) {
  const uint64_t key[PROFILE_GROUP_KEYS] = {physical, queue, is_host};
  iree_host_size_t i = 0;
  while (i < r->lane_count && memcmp(r->lanes[i].key, key, sizeof(key)) != 0) ++i;
  if (i == IREE_ARRAYSIZE(r->lanes)) return 0;
  if (i == r->lane_count) memcpy(r->lanes[r->lane_count++].key, key, sizeof(key));
  uint32_t lane = 0;
  while (lane < LANES - 1 && r->lanes[i].ends[lane] > start) ++lane;
  r->lanes[i].ends[lane] = iree_max(end, r->lanes[i].ends[lane]);
  return lane;
}

//===----------------------------------------------------------------------------------------------------------------===
// Records
//===----------------------------------------------------------------------------------------------------------------===

static void find_origin(render_t* r, int64_t ns) {
  if (ns > 0 && (!r->has_origin || ns < r->origin)) {
    r->origin = ns;
    r->has_origin = true;
  }
}

static bool device_span(const render_t* r, uint32_t physical, uint64_t start, uint64_t end, profile_span_t* out_span) {
  *out_span = profile_device_span(r->bundle, physical, start, end);
  return out_span->is_valid && out_span->has_ns;
}

static void see_record(void* user_data, const profile_item_t* item) {
  render_t* r = (render_t*)user_data;
  profile_span_t span;
  if (item->chunk->kind == PROFILE_KIND_QUEUE_EVENTS) {
    find_origin(r, ((const iree_hal_profile_queue_event_t*)item->record)->host_time_ns);
  } else if (item->chunk->kind == PROFILE_KIND_MEMORY_EVENTS) {
    find_origin(r, ((const iree_hal_profile_memory_event_t*)item->record)->host_time_ns);
  } else if (item->chunk->kind == PROFILE_KIND_HOST_EVENTS) {
    find_origin(r, ((const iree_hal_profile_host_execution_event_t*)item->record)->start_host_time_ns);
  } else if (item->chunk->kind == PROFILE_KIND_DISPATCH_EVENTS) {
    profile_dispatch_t dispatch = profile_dispatch_of(item);
    if (device_span(r, dispatch.physical, dispatch.start, dispatch.end, &span)) find_origin(r, span.start_ns);
  }
}

static void print_queue(void* user_data, const profile_item_t* item) {
  static const char* const names[] = {"host queue", "host execution", "device queue", "dispatches"};
  render_t* r = (render_t*)user_data;
  const iree_hal_profile_queue_record_t* queue = item->record;
  char text[64];
  for (uint32_t i = 0; i < IREE_ARRAYSIZE(names); ++i) {
    snprintf(text, sizeof(text), "queue[%u] %s", queue->queue_ordinal, names[i]);
    begin_event(r, "M", queue->physical_device_ordinal, track_of(queue->queue_ordinal, TRACK_HOST_QUEUE + i));
    fprintf(r->file, ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}", text);
  }
  begin_event(r, "M", queue->physical_device_ordinal, 0);
  fprintf(r->file, ",\"name\":\"process_name\",\"args\":{\"name\":\"device[%u]\"}}", queue->physical_device_ordinal);
}

static void print_queue_event(void* user_data, const profile_item_t* item) {
  render_t* r = (render_t*)user_data;
  const iree_hal_profile_queue_event_t* event = item->record;
  begin_event(r, "i", event->physical_device_ordinal, track_of(event->queue_ordinal, TRACK_HOST_QUEUE));
  print_name(r, "name", iree_make_cstring_view(iree_hal_profile_queue_event_type_name(event->type)));
  print_time(r, "ts", since_origin(r, event->host_time_ns));
  fprintf(r->file,
          ",\"s\":\"t\",\"args\":{\"submission\":%" PRIu64 ",\"bytes\":%" PRIu64
          ",\"waits\":%u,\"ready_after_ns\":%" PRIu64 "}}",
          event->submission_id, event->payload_length, event->wait_count,
          event->ready_host_time_ns > event->host_time_ns
              ? (uint64_t)event->ready_host_time_ns - (uint64_t)event->host_time_ns
              : 0);
  ++r->counts->instants;
}

static void print_dispatch(render_t* r, const profile_item_t* item, bool is_host) {
  profile_dispatch_t dispatch = profile_dispatch_of(item);
  int64_t start = (int64_t)dispatch.start, end = (int64_t)dispatch.end;
  char buffer[64];
  profile_span_t span;
  if (!dispatch.is_valid) return;
  if (!is_host) {
    if (!device_span(r, dispatch.physical, dispatch.start, dispatch.end, &span)) return;
    start = span.start_ns;
    end = span.end_ns;
  }
  uint32_t lane = take_lane(r, dispatch.physical, dispatch.queue, is_host, start, end);
  print_slice(r, dispatch.physical, track_of(dispatch.queue, TRACK_DISPATCH + lane),
              profile_bundle_key(r->bundle, dispatch.executable, dispatch.function, buffer), start, end);
  fprintf(r->file,
          ",\"args\":{\"submission\":%" PRIu64 ",\"command_buffer\":%" PRIu64
          ",\"workgroups\":\"%ux%ux%u\",\"tiles\":%" PRIu64 "}}",
          dispatch.submission, dispatch.command_buffer, dispatch.workgroup_count[0], dispatch.workgroup_count[1],
          dispatch.workgroup_count[2], dispatch.tiles);
}

// Dispatches in the device's time are shown rather than the same in the host's.
static void print_host_event(void* user_data, const profile_item_t* item) {
  render_t* r = (render_t*)user_data;
  const iree_hal_profile_host_execution_event_t* event = item->record;
  if (profile_host_event_is_dispatch(event)) {
    if (!r->bundle->record_counts[PROFILE_KIND_DISPATCH_EVENTS]) print_dispatch(r, item, /*is_host=*/true);
    return;
  }
  if (!profile_host_span_is_valid(event)) return;
  print_slice(r, event->physical_device_ordinal, track_of(event->queue_ordinal, TRACK_HOST),
              iree_make_cstring_view(iree_hal_profile_queue_event_type_name(event->type)), event->start_host_time_ns,
              event->end_host_time_ns);
  fprintf(r->file, ",\"args\":{\"submission\":%" PRIu64 ",\"operations\":%u}}", event->submission_id,
          event->operation_count);
}

static void print_device_event(void* user_data, const profile_item_t* item) {
  render_t* r = (render_t*)user_data;
  const iree_hal_profile_queue_device_event_t* event = item->record;
  profile_span_t span;
  if (!device_span(r, event->physical_device_ordinal, event->start_tick, event->end_tick, &span)) return;
  print_slice(r, event->physical_device_ordinal, track_of(event->queue_ordinal, TRACK_DEVICE),
              iree_make_cstring_view(iree_hal_profile_queue_event_type_name(event->type)), span.start_ns, span.end_ns);
  fprintf(r->file, ",\"args\":{\"submission\":%" PRIu64 "}}", event->submission_id);
}

static void print_device_dispatch(void* user_data, const profile_item_t* item) {
  print_dispatch((render_t*)user_data, item, /*is_host=*/false);
}

static void change(uint64_t* bytes, bool is_more, uint64_t length) {
  *bytes = is_more ? *bytes + length : *bytes - iree_min(*bytes, length);
}

static void print_memory_event(void* user_data, const profile_item_t* item) {
  render_t* r = (render_t*)user_data;
  const iree_hal_profile_memory_event_t* event = item->record;
  bool is_alloca = event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_ALLOCA;
  bool is_buffer = event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_ALLOCATE;
  if (is_alloca || event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_DEALLOCA) {
    change(&r->queue_bytes, is_alloca, event->length);
    print_counter(r, event->physical_device_ordinal, "queue allocation bytes", event->host_time_ns, r->queue_bytes);
  } else if (is_buffer || event->type == IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_FREE) {
    change(&r->buffer_bytes, is_buffer, event->length);
    print_counter(r, event->physical_device_ordinal, "buffer bytes", event->host_time_ns, r->buffer_bytes);
  }
}

iree_status_t profile_render(const profile_bundle_t* bundle, FILE* file, profile_render_counts_t* out_counts) {
  static const struct {
    profile_kind_t kind;
    profile_item_fn_t print;
  } kinds[] = {
      {PROFILE_KIND_QUEUES, print_queue},
      {PROFILE_KIND_QUEUE_EVENTS, print_queue_event},
      {PROFILE_KIND_HOST_EVENTS, print_host_event},
      {PROFILE_KIND_DEVICE_EVENTS, print_device_event},
      {PROFILE_KIND_DISPATCH_EVENTS, print_device_dispatch},
      {PROFILE_KIND_MEMORY_EVENTS, print_memory_event},
  };
  render_t* r = NULL;
  *out_counts = (profile_render_counts_t){0};
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(bundle->allocator, sizeof(*r), (void**)&r));
  *r = (render_t){.bundle = bundle, .file = file, .counts = out_counts};
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) profile_bundle_each(bundle, kinds[i].kind, see_record, r);
  fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
  for (size_t i = 0; i < IREE_ARRAYSIZE(kinds); ++i) profile_bundle_each(bundle, kinds[i].kind, kinds[i].print, r);
  fputs("\n]}\n", file);
  iree_allocator_free(bundle->allocator, r);
  return iree_ok_status();
}
