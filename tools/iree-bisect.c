// Finds the first dispatch of a program that computes something else on one device than on another.

#include <stdlib.h>
#include <unistd.h>

#include "iree/base/tooling/flags.h"
#include "tooling/bisect.h"
#include "tooling/devices.h"
#include "tooling/replay.h"

IREE_FLAG(string, reference_device, "", "Device whose results are right, as --device of iree-run-module names it.")
IREE_FLAG(string, tested_device, "", "Device whose results are compared with them.")
IREE_FLAG(string, reference_module, "", "Module for the reference's device, after those of --module.")
IREE_FLAG(string, tested_module, "", "Module for the tested device, after those of --module.")
IREE_FLAG(string, reference_replay, "",
          "Capture (--device_replay_output=) of the reference instead of a module that is run.")
IREE_FLAG(string, tested_replay, "", "Capture of the tested side instead of a module that is run.")
IREE_FLAG(string, case, "", "File (.ireereplay) for the first dispatch that differs, with its inputs.")
IREE_FLAG(
    string, type, "",
    "Type of results' elements: `f32`, …, or `exact` for the same bits. Without it what the function's name ends\n"
    "with, such as `_f32`, or the same bits where that is no type.")
IREE_FLAG(double, absolute, 1e-4, "Absolute tolerance.")
IREE_FLAG(double, relative, 1e-4, "Tolerance relative to the reference's value, added to the absolute one.")

static const char usage[] =
    "Runs a program on two devices, dispatch by dispatch, and names the first one whose results differ.\n"
    "\n"
    "The function and its inputs are given as to iree-run-module. Dispatches work on the reference's values on both\n"
    "sides. The exit code is 0 when all are alike and 1 when one differs; --case= has a capture of that one, which\n"
    "iree-run-replay --replay_verify= runs by itself on the tested device and compares with the reference.\n"
    "\n"
    "Examples:\n"
    "  iree-bisect --reference_device=local-sync --tested_device=local-task --module=model.vmfb --input=4xf32=1\n"
    "  iree-bisect --reference_device=local-task --reference_module=cpu.vmfb --tested_device=amdgpu \\\n"
    "      --tested_module=gpu.vmfb --function=main --input=@x.npy --case=first.ireereplay\n";

// One side: its capture, in a temporary file unless it was there.
typedef struct side_t {
  const char *name, *device, *module, *replay;
  char path[1024];
  iree_io_file_contents_t* contents;
  iree_hal_replay_plan_t* plan;
  iree_hal_device_group_t* group;
} side_t;

static iree_status_t check_side(const side_t* s) {
  if (!s->device[0]) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s_device= is needed", s->name);
  if (s->replay[0] && s->module[0]) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s_module= and --%s_replay= exclude each other", s->name,
                            s->name);
  }
  return iree_ok_status();
}

// Runs the function with a recording device.
static iree_status_t capture_side(side_t* s) {
  const char* folder = getenv("TMPDIR");
  snprintf(s->path, sizeof(s->path), "%.1000s/iree-bisect-XXXXXX", folder && folder[0] ? folder : "/tmp");
  int fd = mkstemp(s->path);
  if (fd < 0) {
    s->path[0] = 0;
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "cannot make a temporary file for a capture");
  }
  close(fd);
  tooling_context_options_t options = {
      .default_device_uri = iree_make_cstring_view(s->device),
      .path = iree_make_cstring_view(s->module),
      .capture_path = iree_make_cstring_view(s->path),
      .is_quiet = true,
  };
  int exit_code = EXIT_SUCCESS;
  return tooling_run(&options, &exit_code);
}

static iree_status_t open_side(side_t* s) {
  iree_allocator_t allocator = iree_allocator_system();
  if (!s->replay[0]) IREE_RETURN_IF_ERROR(capture_side(s));
  const char* path = s->replay[0] ? s->replay : s->path;
  IREE_RETURN_IF_ERROR(
      iree_io_file_contents_map(iree_make_cstring_view(path), IREE_IO_FILE_ACCESS_READ, allocator, &s->contents));
  IREE_RETURN_IF_ERROR(iree_hal_replay_plan_create(s->contents->const_buffer, allocator, &s->plan), "reading '%s'",
                       path);
  return tooling_devices_create(iree_make_cstring_view(s->device), allocator, &s->group);
}

static void close_side(side_t* s) {
  iree_hal_replay_plan_destroy(s->plan);
  iree_hal_device_group_release(s->group);
  iree_io_file_contents_free(s->contents);
  if (s->path[0]) unlink(s->path);
}

static iree_status_t read_request(bisect_request_t* request) {
  bool is_exact = strcmp(FLAG_type, "exact") == 0;
  request->file = stdout;
  request->case_path = iree_make_cstring_view(FLAG_case);
  request->tolerance = (tooling_tolerance_t){.exact = is_exact,
                                             .f16 = FLAG_absolute,
                                             .bf16 = FLAG_absolute,
                                             .f32 = FLAG_absolute,
                                             .f64 = FLAG_absolute,
                                             .relative = FLAG_relative};
  request->type = is_exact ? IREE_HAL_ELEMENT_TYPE_UINT_8 : IREE_HAL_ELEMENT_TYPE_NONE;
  if (is_exact || !FLAG_type[0]) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_hal_parse_element_type(iree_make_cstring_view(FLAG_type), &request->type),
                       "--type= is `exact` or a type of elements");
  if (iree_hal_element_bit_count(request->type) >= 8) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--type= takes types of whole bytes");
}

static iree_status_t bisect(side_t sides[2], const iree_hal_replay_execute_options_t* options, int* out_exit_code) {
  bisect_request_t request = {0};
  bool found = false;
  IREE_RETURN_IF_ERROR(read_request(&request));
  for (int i = 0; i < 2; ++i) IREE_RETURN_IF_ERROR(check_side(&sides[i]));
  for (int i = 0; i < 2; ++i) IREE_RETURN_IF_ERROR(open_side(&sides[i]), "on the %s side", sides[i].name);
  request.reference = (bisect_side_t){sides[0].plan, sides[0].group, *options};
  request.reference.options.executable_substitution_callback.fn = NULL;
  request.tested = (bisect_side_t){sides[1].plan, sides[1].group, *options};
  IREE_RETURN_IF_ERROR(tooling_bisect(&request, &found));
  if (found && FLAG_case[0]) printf("wrote %s\n", FLAG_case);
  *out_exit_code = found ? EXIT_FAILURE : EXIT_SUCCESS;
  return iree_ok_status();
}

static iree_status_t run(int* out_exit_code) {
  side_t sides[2] = {
      {"reference", FLAG_reference_device, FLAG_reference_module, FLAG_reference_replay},
      {"tested", FLAG_tested_device, FLAG_tested_module, FLAG_tested_replay},
  };
  tooling_replay_options_t* options = NULL;
  IREE_RETURN_IF_ERROR(tooling_replay_options_create(&options));
  iree_status_t status = bisect(sides, tooling_replay_execute_options(options), out_exit_code);
  for (int i = 0; i < 2; ++i) close_side(&sides[i]);
  tooling_replay_options_free(options);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-bisect", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  int exit_code = EXIT_SUCCESS;
  iree_status_t status = tooling_refuse_arguments(argc, argv);
  if (iree_status_is_ok(status)) status = run(&exit_code);
  return tooling_run_finish(status, exit_code);
}
