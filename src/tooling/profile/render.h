// Profiles as traces that Perfetto opens, in its own format (protobuf) or as JSON, which chrome://tracing opens too.
//
// Each physical device has queues; each of those has tracks for what the host submitted, what the host ran, what ran in
// the device's time, and its dispatches, beside each other where they overlap. Memory is counters. Times are the
// host's, from the first event on.
#ifndef TOOLING_PROFILE_RENDER_H_
#define TOOLING_PROFILE_RENDER_H_

#include <stdio.h>

#include "tooling/profile/bundle.h"

// What was written.
typedef struct profile_render_counts_t {
  uint64_t slices, instants, samples;
  uint64_t skipped;  // slices beside more others than tracks are made for
} profile_render_counts_t;

// Errors: RESOURCE_EXHAUSTED; whether the file took it all, its owner looks.
typedef iree_status_t (*profile_render_fn_t)(const profile_bundle_t* bundle, FILE* file,
                                             profile_render_counts_t* out_counts);
iree_status_t profile_render_json(const profile_bundle_t* bundle, FILE* file, profile_render_counts_t* out_counts);
// The tree of tracks is that of IREE's tool.
iree_status_t profile_render_perfetto(const profile_bundle_t* bundle, FILE* file, profile_render_counts_t* out_counts);

#endif  // TOOLING_PROFILE_RENDER_H_
