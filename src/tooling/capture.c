// See capture.h.
#include "tooling/capture.h"

#include "iree/base/tooling/flags.h"

IREE_FLAG(string, device_replay_output, "",
          "File (.ireereplay) for what is asked of the devices, which iree-run-replay asks again.");
IREE_FLAG(string, device_replay_file_policy, "reference",
          "What that file has of files that a program reads by descriptor:\n"
          "  `reference`: their paths; `capture-ranges`: the bytes that are read; `capture-all`: all their bytes;\n"
          "  `fail`: such files are refused.");
IREE_FLAG(string, device_replay_file_validation, "identity",
          "How a replay knows a file by its path: `identity`: device, inode, time and length; `digest`: its contents.");

// The index of a flag's value among `choices`, which end with NULL.
static iree_status_t choose(const char* flag, const char* value, const char* const* choices, const char* expected,
                            uint32_t* out_index) {
  for (*out_index = 0; choices[*out_index]; ++*out_index) {
    if (strcmp(choices[*out_index], value) == 0) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s must be %s; got `%s`", flag, expected, value);
}

iree_status_t tooling_capture_create(iree_string_view_t path, iree_allocator_t allocator,
                                     iree_hal_replay_recorder_t** out_recorder) {
  static const char* const policies[] = {"reference", "capture-ranges", "capture-all", "fail", NULL};
  static const char* const validations[] = {"identity", "digest", NULL};
  *out_recorder = NULL;
  iree_hal_replay_recorder_options_t options = iree_hal_replay_recorder_options_default();
  IREE_RETURN_IF_ERROR(choose("device_replay_file_policy", FLAG_device_replay_file_policy, policies,
                              "`reference`, `capture-ranges`, `capture-all`, or `fail`",
                              &options.external_file_policy));
  IREE_RETURN_IF_ERROR(choose("device_replay_file_validation", FLAG_device_replay_file_validation, validations,
                              "`identity` or `digest`", &options.external_file_validation));
  if (!path.size) path = iree_make_cstring_view(FLAG_device_replay_output);
  if (!path.size) return iree_ok_status();
  iree_io_file_handle_t* handle = NULL;
  IREE_RETURN_IF_ERROR(
      iree_io_file_handle_create(IREE_IO_FILE_MODE_WRITE | IREE_IO_FILE_MODE_OVERWRITE, path, 0, allocator, &handle),
      "creating the capture's file");
  iree_status_t status = iree_hal_replay_recorder_create(handle, &options, allocator, out_recorder);
  iree_io_file_handle_release(handle);
  return status;
}

iree_status_t tooling_capture_wrap(iree_hal_replay_recorder_t* recorder, iree_allocator_t allocator,
                                   iree_hal_device_group_t** group) {
  if (!recorder) return iree_ok_status();
  iree_hal_device_group_t* base = *group;
  *group = NULL;
  iree_status_t status = iree_hal_replay_wrap_device_group(recorder, base, allocator, group);
  iree_hal_device_group_release(base);
  return status;
}

iree_status_t tooling_capture_mark(iree_hal_replay_recorder_t* recorder, bool begins, const char* name) {
  if (!recorder) return iree_ok_status();
  iree_string_view_t scope = iree_make_cstring_view(name);
  return begins ? iree_hal_replay_recorder_scope_begin(recorder, scope)
                : iree_hal_replay_recorder_scope_end(recorder, scope);
}
