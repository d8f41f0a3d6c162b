// See results.h.

#include "tooling/results.h"

#include "iree/base/tooling/flags.h"
#include "iree/tooling/process_results.h"
#include "tooling/compare.h"
#include "tooling/stream_file.h"

IREE_FLAG_LIST(string, output,
               "What to do with a result, one for each in order: empty: nothing; `-`: print it;\n"
               "`@file.npy` write it as a NumPy array, `+file.npy` append it; `@file.bin` and `+file.bin` the same\n"
               "as raw bytes. Without the flag all are printed.")
IREE_FLAG_LIST(string, expected_output,
               "What a result must be, written like --input; `(ignored)` may be anything. Failing that the exit\n"
               "code is 1.")
IREE_FLAG(int32_t, output_max_element_count, 1024, "Elements of a tensor that are printed.")

typedef struct destination_t {
  tooling_device_t device;
  bool is_quiet;  // what no flag asks for is not printed
  FILE* file;
} destination_t;

static iree_status_t compare_outputs(const destination_t* to, iree_string_view_t letters, const iree_vm_list_t* outputs,
                                     int* out_exit_code) {
  tooling_comparison_t comparison = {.device = to->device, .file = to->file};
  IREE_RETURN_IF_ERROR(tooling_tolerance_from_flags(&comparison.tolerance));
  iree_vm_list_t* expected = NULL;
  IREE_RETURN_IF_ERROR(tooling_expected_parse(letters, FLAG_expected_output_list(), to->device, &expected),
                       "parsing expected function outputs");
  bool match = false;
  iree_status_t status = tooling_lists_compare(&comparison, expected, outputs, &match);
  iree_vm_list_release(expected);
  IREE_RETURN_IF_ERROR(status);
  if (match) fprintf(to->file, "[SUCCESS] all function outputs matched their expected values.\n");
  *out_exit_code = match ? EXIT_SUCCESS : EXIT_FAILURE;
  return iree_ok_status();
}

static iree_status_t process(const destination_t* to, iree_string_view_t letters, const iree_vm_list_t* outputs,
                             int* out_exit_code) {
  iree_host_size_t limit = FLAG_output_max_element_count < 0 ? 0 : (iree_host_size_t)FLAG_output_max_element_count;
  if (FLAG_output_list().count) {
    IREE_RETURN_IF_ERROR(tooling_outputs_write(outputs, FLAG_output_list(), to->device, limit, to->file),
                         "outputting results");
  }
  if (FLAG_expected_output_list().count) return compare_outputs(to, letters, outputs, out_exit_code);
  if (FLAG_output_list().count || to->is_quiet) return iree_ok_status();
  return iree_status_annotate_f(tooling_outputs_print(outputs, IREE_SV("result"), to->device, limit, to->file),
                                "printing results");
}

iree_status_t tooling_results_process(const tooling_context_t* context, const tooling_call_t* call,
                                      const iree_vm_list_t* outputs, int* out_exit_code) {
  const destination_t to = {.device = context->device, .is_quiet = context->is_quiet, .file = stdout};
  return process(&to, call->result_letters, outputs, out_exit_code);
}

//===----------------------------------------------------------------------------------------------------------------===
// For other programs
//===----------------------------------------------------------------------------------------------------------------===

static tooling_device_t use_device(iree_hal_device_t* device) {
  return (tooling_device_t){.device = device, .allocator = device ? iree_hal_device_allocator(device) : NULL};
}

iree_status_t iree_tooling_process_results(iree_hal_device_t* device, iree_string_view_t results_cconv,
                                           iree_vm_list_t* results, iree_io_stream_t* stream,
                                           iree_allocator_t host_allocator, int* out_exit_code) {
  stream_file_t file;
  *out_exit_code = EXIT_SUCCESS;
  IREE_RETURN_IF_ERROR(stream_file_open(stream, &file));
  const destination_t to = {.device = use_device(device), .file = file.file};
  return stream_file_close(&file, process(&to, results_cconv, results, out_exit_code));
}

iree_status_t iree_tooling_process_results_and_print(iree_hal_device_t* device, iree_string_view_t results_cconv,
                                                     iree_vm_list_t* results, iree_allocator_t host_allocator,
                                                     int* out_exit_code) {
  const destination_t to = {.device = use_device(device), .file = stdout};
  *out_exit_code = EXIT_SUCCESS;
  return process(&to, results_cconv, results, out_exit_code);
}
