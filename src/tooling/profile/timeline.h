// What happened when: the records of a profile as slices, instants and sums of memory, for traces and reports.
//
// Each physical device has queues; each queue has tracks, of which the last is followed by lanes for dispatches beside
// each other. Times are nanoseconds of the host's from the first event on; what is in a device's time without a clock
// is left out. Dispatches in the host's time are told where the profile has none in the device's.
#ifndef TOOLING_PROFILE_TIMELINE_H_
#define TOOLING_PROFILE_TIMELINE_H_

#include "tooling/profile/groups.h"

typedef enum {
  PROFILE_TRACK_HOST_QUEUE = 1,
  PROFILE_TRACK_HOST,
  PROFILE_TRACK_DEVICE,
  PROFILE_TRACK_DISPATCH,
  PROFILE_TRACK_LANES = 16,
  PROFILE_TRACKS = PROFILE_TRACK_DISPATCH + PROFILE_TRACK_LANES,
} profile_track_t;
// "host queue" and so on; all lanes are "dispatches".
const char* profile_track_name(uint32_t track);

typedef struct profile_slice_t {
  uint32_t physical, queue, track;
  iree_string_view_t name;
  uint64_t start_ns, duration_ns;
  uint64_t submission;
  const profile_dispatch_t* dispatch;        // NULL: a queue operation
  iree_hal_profile_queue_event_type_t type;  // of a queue operation
  uint32_t operations;                       // in it
} profile_slice_t;

typedef enum { PROFILE_SERIES_QUEUE, PROFILE_SERIES_BUFFER, PROFILE_SERIES_COUNT } profile_series_t;
// "queue allocation bytes" and so on.
const char* profile_series_name(profile_series_t series);

// Functions that are NULL are not called. What they are given lives during the call.
typedef struct profile_timeline_t {
  void* user_data;
  void (*queue)(void* user_data, const iree_hal_profile_queue_record_t* queue);
  void (*slice)(void* user_data, const profile_slice_t* slice);
  void (*submission)(void* user_data, uint64_t ns, const iree_hal_profile_queue_event_t* event);
  void (*memory)(void* user_data, uint32_t physical, profile_series_t series, uint64_t ns, uint64_t bytes);
} profile_timeline_t;

// Errors: RESOURCE_EXHAUSTED.
iree_status_t profile_timeline_visit(const profile_bundle_t* bundle, const profile_timeline_t* timeline);

#endif  // TOOLING_PROFILE_TIMELINE_H_
