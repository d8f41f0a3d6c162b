// Records what a program asks of its devices into a file (.ireereplay), which iree_hal_replay_execute_file replays.
//
// A recording device stands for another one: it writes down each call and passes it on. Semaphores, executables and
// files are those of the device behind it; buffers, command buffers and executable caches wrap its own. What cannot be
// replayed (host calls, collectives, handles of other libraries) is passed on too, and noted as such. Thread safe.
#ifndef IREE_HAL_REPLAY_RECORDER_H_
#define IREE_HAL_REPLAY_RECORDER_H_

#include <string.h>

#include "iree/base/api.h"
#include "iree/hal/device_group.h"
#include "iree/io/file_handle.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_replay_recorder_t iree_hal_replay_recorder_t;

typedef uint32_t iree_hal_replay_recorder_flags_t;
enum iree_hal_replay_recorder_flag_bits_t {
  IREE_HAL_REPLAY_RECORDER_FLAG_NONE = 0u,
};

// What to do with files that a program imports by descriptor. Files in memory are always written whole.
typedef uint32_t iree_hal_replay_recorder_external_file_policy_t;
enum iree_hal_replay_recorder_external_file_policy_e {
  IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_REFERENCE = 0u,       // their paths
  IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_CAPTURE_RANGES = 1u,  // the bytes that are read
  IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_CAPTURE_ALL = 2u,     // all their bytes
  IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_FAIL = 3u,            // refuse them
};
// How a replay knows a file again whose path was written.
typedef uint32_t iree_hal_replay_recorder_external_file_validation_t;
enum iree_hal_replay_recorder_external_file_validation_e {
  IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_VALIDATION_IDENTITY = 0u,        // device, inode, time and length
  IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_VALIDATION_CONTENT_DIGEST = 1u,  // a digest of all its bytes
};
typedef struct iree_hal_replay_recorder_options_t {
  iree_hal_replay_recorder_flags_t flags;
  iree_hal_replay_recorder_external_file_policy_t external_file_policy;
  iree_hal_replay_recorder_external_file_validation_t external_file_validation;
} iree_hal_replay_recorder_options_t;
static inline iree_hal_replay_recorder_options_t iree_hal_replay_recorder_options_default(void) {
  iree_hal_replay_recorder_options_t options;
  memset(&options, 0, sizeof(options));
  return options;
}

// Writes into a descriptor or memory, from its start. `options` may be NULL. Errors: INVALID_ARGUMENT, and those of
// writing.
IREE_API_EXPORT iree_status_t iree_hal_replay_recorder_create(iree_io_file_handle_t* file_handle,
                                                              const iree_hal_replay_recorder_options_t* options,
                                                              iree_allocator_t host_allocator,
                                                              iree_hal_replay_recorder_t** out_recorder);
IREE_API_EXPORT void iree_hal_replay_recorder_retain(iree_hal_replay_recorder_t* recorder);
IREE_API_EXPORT void iree_hal_replay_recorder_release(iree_hal_replay_recorder_t* recorder);
// Writes the file's length, without which it counts as cut off. What is asked of the devices afterwards is passed on
// and not recorded. Errors: the first one of writing; again with each call.
IREE_API_EXPORT iree_status_t iree_hal_replay_recorder_close(iree_hal_replay_recorder_t* recorder);

// Marks where a part of the capture begins and ends, for who replays it. They may nest.
IREE_API_EXPORT iree_status_t iree_hal_replay_recorder_scope_begin(iree_hal_replay_recorder_t* recorder,
                                                                   iree_string_view_t scope_name);
IREE_API_EXPORT iree_status_t iree_hal_replay_recorder_scope_end(iree_hal_replay_recorder_t* recorder,
                                                                 iree_string_view_t scope_name);

// A group of recording devices for those of `base_group`, which it keeps alive.
IREE_API_EXPORT iree_status_t iree_hal_replay_wrap_device_group(iree_hal_replay_recorder_t* recorder,
                                                                iree_hal_device_group_t* base_group,
                                                                iree_allocator_t host_allocator,
                                                                iree_hal_device_group_t** out_group);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_REPLAY_RECORDER_H_
