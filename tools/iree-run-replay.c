// Replays a capture of a program's devices (.ireereplay).

#include "iree/base/tooling/flags.h"
#include "tooling/devices.h"
#include "tooling/guides.h"
#include "tooling/replay.h"
#include "tooling/replay_verify.h"

static const char usage[] =
    "Executes an IREE HAL replay file: asks of devices what a program asked of its own when --device_replay_output=\n"
    "captured it.\n"
    "\n"
    "Prints nothing when all of it could be done. Devices may be others than those of the capture where they take its\n"
    "executables, or others in their place.\n"
    "\n"
    "Examples:\n"
    "  iree-run-replay --device=local-sync model.ireereplay\n"
    "  iree-run-replay --device=local-sync --replay_verify model.ireereplay\n"
    "  iree-run-replay --device=amdgpu --replay_executable_substitution=4=kernels.hsaco model.ireereplay\n";

static iree_status_t replay(iree_const_byte_span_t contents, tooling_replay_options_t* options, int* out_exit_code) {
  iree_allocator_t allocator = iree_allocator_system();
  replay_verifier_t verifier;
  iree_hal_device_group_t* group = NULL;
  iree_hal_replay_plan_t* plan = NULL;
  iree_hal_replay_execute_options_t* execute = tooling_replay_execute_options(options);
  IREE_RETURN_IF_ERROR(replay_verifier_initialize(&verifier, execute));
  IREE_RETURN_IF_ERROR(iree_hal_replay_plan_create(contents, allocator, &plan));
  iree_status_t status = tooling_devices_create(iree_string_view_empty(), allocator, &group);
  if (iree_status_is_ok(status)) status = iree_hal_replay_plan_execute(plan, group, execute, allocator);
  if (iree_status_is_ok(status)) *out_exit_code = replay_verifier_finish(&verifier);
  iree_hal_replay_plan_destroy(plan);
  iree_hal_device_group_release(group);
  return status;
}

static iree_status_t run(int argc, char** argv, int* out_exit_code) {
  iree_io_file_contents_t* contents = NULL;
  tooling_replay_options_t* options = NULL;
  IREE_RETURN_IF_ERROR(tooling_replay_open(argc, argv, &contents));
  iree_status_t status = tooling_replay_options_create(&options);
  if (iree_status_is_ok(status)) status = replay(contents->const_buffer, options, out_exit_code);
  tooling_replay_options_free(options);
  iree_io_file_contents_free(contents);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-run-replay", usage);
  flags_set_guide(guide_replay_md);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  int exit_code = EXIT_SUCCESS;
  iree_status_t status = run(argc, argv, &exit_code);
  return tooling_run_finish(status, exit_code);
}
