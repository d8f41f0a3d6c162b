// Finds the first dispatch of a program that computes something else on one device than on another.
//
// Both sides are captures (.ireereplay), of the same program for each device, or one capture for both. The reference is
// replayed step by step, and what each dispatch writes is kept in a temporary file; then the tested side is, and each
// dispatch is compared with the one in its place. What is alike within the tolerance is replaced by the reference's, so
// that small differences do not add up: each dispatch works on the same values.
#ifndef TOOLING_BISECT_H_
#define TOOLING_BISECT_H_

#include "iree/hal/replay/case.h"
#include "tooling/compare.h"

typedef struct bisect_side_t {
  const iree_hal_replay_plan_t* plan;
  iree_hal_device_group_t* group;
  iree_hal_replay_execute_options_t options;
} bisect_side_t;

typedef struct bisect_request_t {
  bisect_side_t reference, tested;
  // Of results; NONE: what the function's name ends with, such as `_f32`, and where that is no type the same bits.
  iree_hal_element_type_t type;
  tooling_tolerance_t tolerance;
  iree_string_view_t case_path;  // of the capture that is written of the first difference; empty: none
  FILE* file;                    // for the verdict
} bisect_request_t;

// *out_found is whether a dispatch differs. Errors: those of the replays, and FAILED_PRECONDITION where the sides are
// not the same program: functions, numbers of bindings, their lengths.
iree_status_t tooling_bisect(const bisect_request_t* request, bool* out_found);

#endif  // TOOLING_BISECT_H_
