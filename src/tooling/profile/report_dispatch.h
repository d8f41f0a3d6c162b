// What reports on dispatches share.
#ifndef TOOLING_PROFILE_REPORT_DISPATCH_H_
#define TOOLING_PROFILE_REPORT_DISPATCH_H_

#include "tooling/profile/reports.h"

// Dispatches in both times.
typedef struct profile_both_t {
  profile_dispatches_t device, host;
} profile_both_t;

// Free it also after an error.
iree_status_t profile_both_collect(const profile_request_t* request, const profile_selection_t* selection,
                                   profile_dispatch_key_fn_t key_of, profile_both_t* out_both);
void profile_both_free(profile_both_t* both);

// A group in nanoseconds, where the clock is known.
typedef struct profile_scaled_t {
  bool has_ns;
  double ns_per_tick;
  uint64_t min, max, total;
} profile_scaled_t;

profile_scaled_t profile_group_scale(const profile_bundle_t* bundle, uint64_t physical, const profile_group_t* group);

static inline uint64_t profile_group_min(const profile_group_t* group) { return group->valid ? group->min : 0; }
static inline double profile_group_span(const profile_group_t* group) {
  return group->valid ? (double)(group->end - group->start) : 0;
}

#define PROFILE_HOST_CELLS                                                                     \
  CELL_C("timing_source", "host_execution_event"), CELL_C("time_domain", "iree_host_time_ns"), \
      CELL_C("duration_time_domain", "iree_host_duration_ns")

// The report on dispatches alone, of which --id selects by the key's number.
iree_status_t profile_report_dispatches(const profile_request_t* request, profile_dispatch_key_fn_t key_of);

#endif  // TOOLING_PROFILE_REPORT_DISPATCH_H_
