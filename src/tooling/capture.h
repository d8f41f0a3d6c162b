// Captures of what a tool asks of its devices: the flags --device_replay_output, --device_replay_file_policy and
// --device_replay_file_validation.
#ifndef TOOLING_CAPTURE_H_
#define TOOLING_CAPTURE_H_

#include "iree/hal/replay/recorder.h"

// Begins the capture that the flags ask for; *out_recorder is NULL when they ask for none. Errors: INVALID_ARGUMENT,
// and those of the file.
// `path`, unless empty, stands in for the flag that names the file.
iree_status_t tooling_capture_create(iree_string_view_t path, iree_allocator_t allocator,
                                     iree_hal_replay_recorder_t** out_recorder);
// Puts recording devices in the place of a group's, whose reference it takes. Nothing without a recorder.
iree_status_t tooling_capture_wrap(iree_hal_replay_recorder_t* recorder, iree_allocator_t allocator,
                                   iree_hal_device_group_t** group);
// Marks the begin or the end of a scope. Nothing without a recorder.
iree_status_t tooling_capture_mark(iree_hal_replay_recorder_t* recorder, bool begins, const char* name);

#endif  // TOOLING_CAPTURE_H_
