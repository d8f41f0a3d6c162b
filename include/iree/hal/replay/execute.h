// Replays captures: makes the objects that a program made and asks of devices what it asked, in the same order.
//
// Calls that failed are left out. Work is ordered by its semaphores as it was; before the host touches a buffer, all
// work that was submitted until then has ended. Where work waits for what no work of the capture signals, the host did,
// and does again. Objects go after their last use.
#ifndef IREE_HAL_REPLAY_EXECUTE_H_
#define IREE_HAL_REPLAY_EXECUTE_H_

#include <stdbool.h>
#include <string.h>

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// The number of an object within a capture.
typedef uint64_t iree_hal_replay_object_id_t;
#define IREE_HAL_REPLAY_OBJECT_ID_NONE 0ull

typedef uint32_t iree_hal_replay_execute_flags_t;
enum iree_hal_replay_execute_flag_bits_t {
  IREE_HAL_REPLAY_EXECUTE_FLAG_NONE = 0u,
};

// A capture that was read and checked. Immutable; thread safe. It borrows the file's contents.
typedef struct iree_hal_replay_plan_t iree_hal_replay_plan_t;

// Paths of captured files that begin with one prefix are opened with the other.
typedef struct iree_hal_replay_file_path_remap_t {
  iree_string_view_t captured_prefix;
  iree_string_view_t replay_prefix;
} iree_hal_replay_file_path_remap_t;

// An executable that is about to be made, and what to make instead.
typedef struct iree_hal_replay_executable_substitution_request_t {
  uint64_t sequence_ordinal;  // of the record
  iree_hal_replay_object_id_t device_id;
  iree_hal_replay_object_id_t executable_cache_id;
  iree_hal_replay_object_id_t executable_id;
  const iree_hal_executable_params_t* captured_params;  // borrowed
} iree_hal_replay_executable_substitution_request_t;
typedef struct iree_hal_replay_executable_substitution_t {
  bool substitute;                       // false: the captured one
  iree_string_view_t source;             // for messages; may be empty
  iree_string_view_t executable_format;  // empty: found out from the data
  iree_const_byte_span_t executable_data;
} iree_hal_replay_executable_substitution_t;
typedef iree_status_t(IREE_API_PTR* iree_hal_replay_executable_substitution_fn_t)(
    void* user_data, const iree_hal_replay_executable_substitution_request_t* request,
    iree_hal_replay_executable_substitution_t* out_substitution);
typedef struct iree_hal_replay_executable_substitution_callback_t {
  iree_hal_replay_executable_substitution_fn_t fn;
  void* user_data;
} iree_hal_replay_executable_substitution_callback_t;

// Begin and end of a scope that the capture names.
typedef uint32_t iree_hal_replay_scope_event_type_t;
enum iree_hal_replay_scope_event_type_e {
  IREE_HAL_REPLAY_SCOPE_EVENT_TYPE_BEGIN = 1u,
  IREE_HAL_REPLAY_SCOPE_EVENT_TYPE_END = 2u,
};
typedef struct iree_hal_replay_scope_event_t {
  uint64_t sequence_ordinal;  // of the record
  iree_hal_replay_scope_event_type_t type;
  uint32_t reserved0;
  iree_string_view_t name;
} iree_hal_replay_scope_event_t;
typedef iree_status_t(IREE_API_PTR* iree_hal_replay_scope_event_fn_t)(void* user_data,
                                                                      const iree_hal_replay_scope_event_t* event);
typedef struct iree_hal_replay_scope_event_callback_t {
  iree_hal_replay_scope_event_fn_t fn;
  void* user_data;
} iree_hal_replay_scope_event_callback_t;

// What the program read from a buffer, beside what the replay has there. Not IREE's.
typedef struct iree_hal_replay_read_event_t {
  uint64_t sequence_ordinal;  // of the record
  iree_hal_replay_object_id_t buffer_id;
  iree_device_size_t byte_offset;
  iree_const_byte_span_t captured, replayed;  // as long as each other; valid during the call
} iree_hal_replay_read_event_t;
typedef iree_status_t(IREE_API_PTR* iree_hal_replay_read_event_fn_t)(void* user_data,
                                                                     const iree_hal_replay_read_event_t* event);
typedef struct iree_hal_replay_read_event_callback_t {
  iree_hal_replay_read_event_fn_t fn;
  void* user_data;
} iree_hal_replay_read_event_callback_t;

// A dispatch, before and after it runs. Not IREE's.
//
// A replay with a callback for them is stepped: commands are submitted one by one, each after the end of the one
// before.
typedef struct iree_hal_replay_dispatch_event_t {
  uint64_t index;             // among the dispatches that were run
  uint64_t sequence_ordinal;  // of the record
  bool has_run;
  iree_hal_device_t* device;
  iree_string_view_t function_name;
  iree_hal_buffer_ref_list_t bindings;  // with their buffers and lengths; valid during the call
} iree_hal_replay_dispatch_event_t;
typedef iree_status_t(IREE_API_PTR* iree_hal_replay_dispatch_event_fn_t)(void* user_data,
                                                                         const iree_hal_replay_dispatch_event_t* event);
typedef struct iree_hal_replay_dispatch_event_callback_t {
  iree_hal_replay_dispatch_event_fn_t fn;
  void* user_data;
} iree_hal_replay_dispatch_event_callback_t;

// Callbacks may have no function. Their failures end the replay.
typedef struct iree_hal_replay_execute_options_t {
  iree_hal_replay_execute_flags_t flags;
  iree_host_size_t file_path_remap_count;
  const iree_hal_replay_file_path_remap_t* file_path_remaps;
  iree_hal_replay_executable_substitution_callback_t executable_substitution_callback;
  iree_hal_replay_scope_event_callback_t scope_event_callback;
  iree_hal_replay_read_event_callback_t read_event_callback;
  iree_hal_replay_dispatch_event_callback_t dispatch_event_callback;
} iree_hal_replay_execute_options_t;
static inline iree_hal_replay_execute_options_t iree_hal_replay_execute_options_default(void) {
  iree_hal_replay_execute_options_t options;
  memset(&options, 0, sizeof(options));
  return options;
}

// Reads and checks a capture. Errors: DATA_LOSS, INVALID_ARGUMENT, UNIMPLEMENTED for what is damaged or not known.
IREE_API_EXPORT iree_status_t iree_hal_replay_plan_create(iree_const_byte_span_t file_contents,
                                                          iree_allocator_t host_allocator,
                                                          iree_hal_replay_plan_t** out_plan);
IREE_API_EXPORT void iree_hal_replay_plan_destroy(iree_hal_replay_plan_t* plan);
// Replays on as many devices as were captured, and waits for the end of all work. `options` may be NULL. Errors:
// FAILED_PRECONDITION for another number of devices or executables that do not fit, NOT_FOUND for files that are gone,
// UNIMPLEMENTED for calls that cannot be replayed, and those of the devices; each names its record.
IREE_API_EXPORT iree_status_t iree_hal_replay_plan_execute(const iree_hal_replay_plan_t* plan,
                                                           iree_hal_device_group_t* device_group,
                                                           const iree_hal_replay_execute_options_t* options,
                                                           iree_allocator_t host_allocator);
// Both.
IREE_API_EXPORT iree_status_t iree_hal_replay_execute_file(iree_const_byte_span_t file_contents,
                                                           iree_hal_device_group_t* device_group,
                                                           const iree_hal_replay_execute_options_t* options,
                                                           iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_REPLAY_EXECUTE_H_
