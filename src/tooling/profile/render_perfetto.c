// See render.h: packets of Perfetto's trace format.
//
// Slices of a track have to lie within each other, so that those that overlap get tracks beside each other, and all
// packets are in the order of time: what is told is kept first, and sorted.
#include <stdlib.h>

#include "tooling/profile/protobuf.h"
#include "tooling/profile/render.h"
#include "tooling/profile/timeline.h"

// Fields of the messages that are written (perfetto/trace/trace_packet.proto and track_event/*.proto).
enum { TRACE_PACKET = 1 };
enum { PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10, PACKET_EVENT = 11, PACKET_TRACK = 60 };
enum {
  TRACK_UUID = 1,
  TRACK_NAME = 2,
  TRACK_PARENT = 5,
  TRACK_COUNTER = 8,
  TRACK_CHILD_ORDER = 11,
  TRACK_RANK = 12,
};
enum { CHILD_ORDER_EXPLICIT = 3 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_VALUE = 30 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { ANNOTATION_NUMBER = 3, ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };
enum { SEQUENCE = 1001, MAX_LANES = 256 };

// Tracks of a queue, and counters of a device, in order.
typedef enum { QUEUE, SUBMISSIONS, OPERATIONS, DISPATCHES, HOST, COUNTERS } kind_t;
static const struct {
  const char* name;
  uint32_t rank, type;
} kinds[] = {
    [QUEUE] = {NULL, 0, 0},
    [SUBMISSIONS] = {"host queue events", 0, TYPE_INSTANT},
    [OPERATIONS] = {"device queue ops", 1000, TYPE_BEGIN},
    [DISPATCHES] = {"dispatch", 2000, TYPE_BEGIN},
    [HOST] = {"host execution", 3000, TYPE_BEGIN},
    [COUNTERS] = {NULL, 5000, TYPE_COUNTER},
};

// What was told. Counters have no queue, and are one for each series.
typedef struct entry_t {
  uint32_t physical, queue, kind, lane;
  uint64_t start, end;   // ns; of a queue the stream instead
  size_t offset, size;   // what its event has beside type and track, in `texts`
  uint64_t order, uuid;  // as it was told
  bool is_skipped;
} entry_t;

typedef struct moment_t {
  uint64_t ns;
  bool is_end;
  const entry_t* entry;
} moment_t;

typedef struct trace_t {
  iree_allocator_t allocator;
  iree_status_t status;  // the first that failed
  entry_t* entries;
  iree_host_size_t count, capacity;
  bytes_t texts, message, part, packet;
  FILE* file;
  profile_render_counts_t* counts;
} trace_t;

//===----------------------------------------------------------------------------------------------------------------===
// What is told
//===----------------------------------------------------------------------------------------------------------------===

static void check(trace_t* t, iree_status_t status) { t->status = iree_status_join(t->status, status); }

static entry_t* add(trace_t* t, uint32_t physical, uint32_t queue, uint32_t kind, uint64_t start, uint64_t end) {
  if (t->count == t->capacity) {
    check(t, iree_allocator_grow_array(t->allocator, 1024, sizeof(*t->entries), &t->capacity, (void**)&t->entries));
    if (!iree_status_is_ok(t->status)) return NULL;
  }
  entry_t* entry = &t->entries[t->count++];
  *entry = (entry_t){physical, queue, kind, .start = start, .end = end, .offset = t->texts.size, .order = t->count};
  return entry;
}

static void annotate(trace_t* t, const char* name, iree_string_view_t text, uint64_t number) {
  t->part.size = 0;
  check(t, protobuf_text(&t->part, ANNOTATION_NAME, iree_make_cstring_view(name)));
  check(t, text.size ? protobuf_text(&t->part, ANNOTATION_TEXT, text)
                     : protobuf_number(&t->part, ANNOTATION_NUMBER, number));
  check(t, protobuf_message(&t->texts, EVENT_ANNOTATION, &t->part));
}
static void annotate_number(trace_t* t, const char* name, uint64_t number) {
  annotate(t, name, iree_string_view_empty(), number);
}

static void see_queue(void* user_data, const iree_hal_profile_queue_record_t* queue) {
  add((trace_t*)user_data, queue->physical_device_ordinal, queue->queue_ordinal, QUEUE, queue->stream_id, 0);
}

static void see_submission(void* user_data, uint64_t ns, const iree_hal_profile_queue_event_t* event) {
  trace_t* t = (trace_t*)user_data;
  char name[64];
  entry_t* entry = add(t, event->physical_device_ordinal, event->queue_ordinal, SUBMISSIONS, ns, ns);
  if (!entry) return;
  snprintf(name, sizeof(name), "queue:%s", iree_hal_profile_queue_event_type_name(event->type));
  check(t, protobuf_text(&t->texts, EVENT_NAME, iree_make_cstring_view(name)));
  annotate_number(t, "submission_id", event->submission_id);
  annotate_number(t, "payload_length", event->payload_length);
  annotate_number(t, "wait_count", event->wait_count);
  uint64_t waited = (uint64_t)event->ready_host_time_ns - (uint64_t)event->host_time_ns;
  annotate_number(t, "ready_after_ns", event->ready_host_time_ns > event->host_time_ns ? waited : 0);
  entry->size = t->texts.size - entry->offset;
  ++t->counts->instants;
}

static void see_slice(void* user_data, const profile_slice_t* slice) {
  trace_t* t = (trace_t*)user_data;
  const profile_dispatch_t* dispatch = slice->dispatch;
  kind_t kind = dispatch ? DISPATCHES : slice->track == PROFILE_TRACK_HOST ? HOST : OPERATIONS;
  uint64_t end = slice->start_ns + iree_max(slice->duration_ns, 1);
  entry_t* entry = add(t, slice->physical, slice->queue, kind, slice->start_ns, end);
  if (!entry) return;
  check(t, protobuf_text(&t->texts, EVENT_NAME, slice->name));
  annotate_number(t, "submission_id", slice->submission);
  if (dispatch) {
    char counts[48];
    snprintf(counts, sizeof(counts), "[%u, %u, %u]", dispatch->workgroup_count[0], dispatch->workgroup_count[1],
             dispatch->workgroup_count[2]);
    annotate_number(t, "command_buffer_id", dispatch->command_buffer);
    annotate(t, "workgroup_count", iree_make_cstring_view(counts), 0);
    annotate_number(t, "tile_count", dispatch->tiles);
  } else {
    annotate_number(t, "operation_count", slice->operations);
  }
  entry->size = t->texts.size - entry->offset;
}

static void see_memory(void* user_data, uint32_t physical, profile_series_t series, uint64_t ns, uint64_t bytes) {
  trace_t* t = (trace_t*)user_data;
  entry_t* entry = add(t, physical, UINT32_MAX, COUNTERS + series, ns, ns);
  if (!entry) return;
  check(t, protobuf_number(&t->texts, EVENT_VALUE, bytes));
  entry->size = t->texts.size - entry->offset;
  ++t->counts->samples;
}

//===----------------------------------------------------------------------------------------------------------------===
// Packets
//===----------------------------------------------------------------------------------------------------------------===

static void write_packet(trace_t* t, uint32_t field) {
  check(t, protobuf_message(&t->packet, field, &t->message));
  t->part.size = 0;
  check(t, protobuf_message(&t->part, TRACE_PACKET, &t->packet));
  fwrite(t->part.data, 1, t->part.size, t->file);
}

// One number for each track.
static uint64_t uuid_of(uint32_t level, uint32_t physical, uint32_t queue, uint32_t kind, uint32_t lane) {
  const uint32_t parts[] = {level, physical, queue, kind, lane};
  uint64_t hash = 0x9E3779B97F4A7C15ull;
  for (size_t i = 0; i < IREE_ARRAYSIZE(parts); ++i) {
    hash = (hash ^ parts[i]) * 0xBF58476D1CE4E5B9ull;
    hash ^= hash >> 29;
  }
  return hash | 1;
}
enum { LEVEL_ROOT, LEVEL_DEVICE, LEVEL_QUEUE, LEVEL_TRACK };
static uint64_t root_uuid(void) { return uuid_of(LEVEL_ROOT, 0, 0, 0, 0); }
static uint64_t device_uuid(const entry_t* e) { return uuid_of(LEVEL_DEVICE, e->physical, 0, 0, 0); }
static uint64_t queue_uuid(const entry_t* e) { return uuid_of(LEVEL_QUEUE, e->physical, e->queue, 0, 0); }

static void define(trace_t* t, uint64_t uuid, uint64_t parent, const char* name, uint32_t rank, bool is_counter) {
  t->packet.size = t->message.size = t->part.size = 0;
  check(t, protobuf_number(&t->message, TRACK_UUID, uuid));
  check(t, protobuf_text(&t->message, TRACK_NAME, iree_make_cstring_view(name)));
  if (parent) check(t, protobuf_number(&t->message, TRACK_PARENT, parent));
  if (is_counter) {
    check(t, protobuf_number(&t->part, COUNTER_UNIT, UNIT_BYTES));
    check(t, protobuf_message(&t->message, TRACK_COUNTER, &t->part));
  } else {
    check(t, protobuf_number(&t->message, TRACK_CHILD_ORDER, CHILD_ORDER_EXPLICIT));
  }
  check(t, protobuf_number(&t->message, TRACK_RANK, rank));
  write_packet(t, PACKET_TRACK);
}

// The tracks that this entry is the first one below or on; `before` is the one in front of it.
static void define_tracks(trace_t* t, const entry_t* before, const entry_t* e) {
  char name[64];
  bool is_new = !before || before->physical != e->physical;
  if (is_new) {
    snprintf(name, sizeof(name), e->physical == UINT32_MAX ? "device[unknown]" : "device[%u]", e->physical);
    define(t, device_uuid(e), root_uuid(), name, e->physical, false);
  }
  if (e->kind >= COUNTERS) {
    if (!is_new && before->kind == e->kind) return;
    define(t, e->uuid, device_uuid(e), profile_series_name((profile_series_t)(e->kind - COUNTERS)),
           kinds[COUNTERS].rank + e->kind - COUNTERS, true);
    return;
  }
  if (is_new || before->queue != e->queue) {
    int size = snprintf(name, sizeof(name), e->queue == UINT32_MAX ? "device-scope events" : "queue[%u]", e->queue);
    if (e->kind == QUEUE) snprintf(name + size, sizeof(name) - (size_t)size, " stream=%" PRIu64, e->start);
    define(t, queue_uuid(e), device_uuid(e), name, e->queue, false);
  }
}

static void define_lane(trace_t* t, const entry_t* e) {
  char name[64];
  int size = snprintf(name, sizeof(name), "%s", kinds[e->kind].name);
  if (e->lane) snprintf(name + size, sizeof(name) - (size_t)size, " lane %u", e->lane);
  define(t, e->uuid, queue_uuid(e), name, kinds[e->kind].rank + e->lane, false);
}

// The first lane that is free when the slice begins.
static void take_lane(trace_t* t, entry_t* e, uint64_t ends[MAX_LANES], uint32_t* lane_count) {
  while (e->lane < *lane_count && ends[e->lane] > e->start) ++e->lane;
  e->is_skipped = e->lane == MAX_LANES;
  if (e->is_skipped) {
    ++t->counts->skipped;
    return;
  }
  ends[e->lane] = e->end;
  e->uuid = uuid_of(LEVEL_TRACK, e->physical, e->queue, e->kind, e->lane);
  if (e->lane == *lane_count) {
    ++*lane_count;
    define_lane(t, e);
  }
  t->counts->slices += kinds[e->kind].type == TYPE_BEGIN;
}

// Entries are by track and time.
static void place(trace_t* t) {
  uint64_t ends[MAX_LANES];
  uint32_t lane_count = 0;
  define(t, root_uuid(), 0, "IREE HAL profile", 0, false);
  for (iree_host_size_t i = 0; i < t->count; ++i) {
    entry_t* e = &t->entries[i];
    const entry_t* before = i ? e - 1 : NULL;
    if (!before || before->physical != e->physical || before->queue != e->queue || before->kind != e->kind) {
      lane_count = 0;
    }
    if (e->kind >= COUNTERS) e->uuid = uuid_of(LEVEL_TRACK, e->physical, e->queue, e->kind, 0);
    define_tracks(t, before, e);
    if (e->kind > QUEUE && e->kind < COUNTERS) take_lane(t, e, ends, &lane_count);
  }
}

static void write_moment(trace_t* t, const moment_t* moment) {
  const entry_t* e = moment->entry;
  t->packet.size = t->message.size = 0;
  check(t, protobuf_number(&t->packet, PACKET_TIMESTAMP, moment->ns));
  check(t, protobuf_number(&t->packet, PACKET_SEQUENCE, SEQUENCE));
  check(t,
        protobuf_number(&t->message, EVENT_TYPE, moment->is_end ? TYPE_END : kinds[iree_min(e->kind, COUNTERS)].type));
  check(t, protobuf_number(&t->message, EVENT_TRACK, e->uuid));
  if (!moment->is_end) check(t, bytes_append(&t->message, t->texts.data + e->offset, e->size));
  write_packet(t, PACKET_EVENT);
}

#define COMPARE(a, b, field) \
  if ((a)->field != (b)->field) return (a)->field < (b)->field ? -1 : 1

static int compare_entries(const void* left, const void* right) {
  const entry_t *a = left, *b = right;
  COMPARE(a, b, physical);
  COMPARE(a, b, queue);
  COMPARE(a, b, kind);
  COMPARE(a, b, start);
  COMPARE(a, b, order);
  return 0;
}

// Ends come before what begins then.
static int compare_moments(const void* left, const void* right) {
  const moment_t *a = left, *b = right;
  COMPARE(a, b, ns);
  COMPARE(b, a, is_end);
  COMPARE(a, b, entry->order);
  return 0;
}

static void write_moments(trace_t* t) {
  moment_t* moments = NULL;
  iree_host_size_t count = 0;
  check(t, iree_allocator_malloc_array(t->allocator, 2 * t->count + 1, sizeof(*moments), (void**)&moments));
  for (iree_host_size_t i = 0; i < t->count && moments; ++i) {
    const entry_t* e = &t->entries[i];
    if (e->kind == QUEUE || e->is_skipped) continue;
    moments[count++] = (moment_t){e->start, false, e};
    if (kinds[iree_min(e->kind, COUNTERS)].type == TYPE_BEGIN) moments[count++] = (moment_t){e->end, true, e};
  }
  if (count) qsort(moments, count, sizeof(*moments), compare_moments);
  for (iree_host_size_t i = 0; i < count && iree_status_is_ok(t->status); ++i) write_moment(t, &moments[i]);
  iree_allocator_free(t->allocator, moments);
}

iree_status_t profile_render_perfetto(const profile_bundle_t* bundle, FILE* file, profile_render_counts_t* out_counts) {
  iree_allocator_t allocator = bundle->allocator;
  trace_t t = {.allocator = allocator,
               .texts = bytes_make(allocator),
               .message = bytes_make(allocator),
               .part = bytes_make(allocator),
               .packet = bytes_make(allocator),
               .file = file,
               .counts = out_counts};
  const profile_timeline_t timeline = {&t, see_queue, see_slice, see_submission, see_memory};
  *out_counts = (profile_render_counts_t){0};
  check(&t, profile_timeline_visit(bundle, &timeline));
  if (iree_status_is_ok(t.status)) {
    if (t.count) qsort(t.entries, t.count, sizeof(*t.entries), compare_entries);
    place(&t);
    write_moments(&t);
  }
  bytes_free(&t.texts);
  bytes_free(&t.message);
  bytes_free(&t.part);
  bytes_free(&t.packet);
  iree_allocator_free(allocator, t.entries);
  return t.status;
}
