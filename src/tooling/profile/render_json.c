// See render.h.
#include "tooling/profile/render.h"
#include "tooling/profile/rows.h"
#include "tooling/profile/timeline.h"

typedef struct render_t {
  FILE* file;
  bool has_events;
  profile_render_counts_t* counts;
} render_t;

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

static uint32_t track_of(uint32_t queue, uint32_t track) { return queue * PROFILE_TRACKS + track; }

static void print_queue(void* user_data, const iree_hal_profile_queue_record_t* queue) {
  render_t* r = (render_t*)user_data;
  char text[64];
  for (uint32_t i = PROFILE_TRACK_HOST_QUEUE; i <= PROFILE_TRACK_DISPATCH; ++i) {
    snprintf(text, sizeof(text), "queue[%u] %s", queue->queue_ordinal, profile_track_name(i));
    begin_event(r, "M", queue->physical_device_ordinal, track_of(queue->queue_ordinal, i));
    fprintf(r->file, ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}", text);
  }
  begin_event(r, "M", queue->physical_device_ordinal, 0);
  fprintf(r->file, ",\"name\":\"process_name\",\"args\":{\"name\":\"device[%u]\"}}", queue->physical_device_ordinal);
}

static void print_submission(void* user_data, uint64_t ns, const iree_hal_profile_queue_event_t* event) {
  render_t* r = (render_t*)user_data;
  begin_event(r, "i", event->physical_device_ordinal, track_of(event->queue_ordinal, PROFILE_TRACK_HOST_QUEUE));
  print_name(r, "name", iree_make_cstring_view(iree_hal_profile_queue_event_type_name(event->type)));
  print_time(r, "ts", ns);
  fprintf(r->file,
          ",\"s\":\"t\",\"args\":{\"submission\":%" PRIu64 ",\"bytes\":%" PRIu64
          ",\"waits\":%u,\"ready_after_ns\":%" PRIu64 "}}",
          event->submission_id, event->payload_length, event->wait_count,
          event->ready_host_time_ns > event->host_time_ns
              ? (uint64_t)event->ready_host_time_ns - (uint64_t)event->host_time_ns
              : 0);
  ++r->counts->instants;
}

static void print_slice(void* user_data, const profile_slice_t* slice) {
  render_t* r = (render_t*)user_data;
  const profile_dispatch_t* dispatch = slice->dispatch;
  begin_event(r, "X", slice->physical, track_of(slice->queue, slice->track));
  print_name(r, "name", slice->name);
  print_time(r, "ts", slice->start_ns);
  print_time(r, "dur", slice->duration_ns);
  fprintf(r->file, ",\"args\":{\"submission\":%" PRIu64, slice->submission);
  if (dispatch) {
    fprintf(r->file, ",\"command_buffer\":%" PRIu64 ",\"workgroups\":\"%ux%ux%u\",\"tiles\":%" PRIu64,
            dispatch->command_buffer, dispatch->workgroup_count[0], dispatch->workgroup_count[1],
            dispatch->workgroup_count[2], dispatch->tiles);
  } else {
    fprintf(r->file, ",\"operations\":%u", slice->operations);
  }
  fputs("}}", r->file);
  ++r->counts->slices;
}

static void print_memory(void* user_data, uint32_t physical, profile_series_t series, uint64_t ns, uint64_t bytes) {
  render_t* r = (render_t*)user_data;
  begin_event(r, "C", physical, 0);
  print_name(r, "name", iree_make_cstring_view(profile_series_name(series)));
  print_time(r, "ts", ns);
  fprintf(r->file, ",\"args\":{\"bytes\":%" PRIu64 "}}", bytes);
  ++r->counts->samples;
}

iree_status_t profile_render_json(const profile_bundle_t* bundle, FILE* file, profile_render_counts_t* out_counts) {
  render_t render = {.file = file, .counts = out_counts};
  const profile_timeline_t timeline = {&render, print_queue, print_slice, print_submission, print_memory};
  *out_counts = (profile_render_counts_t){0};
  fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file);
  IREE_RETURN_IF_ERROR(profile_timeline_visit(bundle, &timeline));
  fputs("\n]}\n", file);
  return iree_ok_status();
}
