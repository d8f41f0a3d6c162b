// Profiles as traces that Perfetto and chrome://tracing open: JSON in the trace event format.
//
// Each physical device is a process; each of its queues has tracks for what the host submitted, what the host ran, what
// ran in the device's time, and its dispatches. Memory is counters. Times are the host's, from the first event on.
#ifndef TOOLING_PROFILE_RENDER_H_
#define TOOLING_PROFILE_RENDER_H_

#include <stdio.h>

#include "tooling/profile/bundle.h"

// What was written.
typedef struct profile_render_counts_t {
  uint64_t slices, instants, samples;
} profile_render_counts_t;

iree_status_t profile_render(const profile_bundle_t* bundle, FILE* file, profile_render_counts_t* out_counts);

#endif  // TOOLING_PROFILE_RENDER_H_
