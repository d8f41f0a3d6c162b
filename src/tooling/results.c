// See results.h.

#include "tooling/results.h"

#include "iree/base/tooling/flags.h"
#include "tooling/compare.h"

IREE_FLAG_LIST(string, output,
               "What to do with a result, one for each in order: empty: nothing; `-`: print it;\n"
               "`@file.npy` write it as a NumPy array, `+file.npy` append it; `@file.bin` and `+file.bin` the same\n"
               "as raw bytes. Without the flag all are printed.")
IREE_FLAG_LIST(string, expected_output,
               "What a result must be, written like --input; `(ignored)` may be anything. Failing that the exit\n"
               "code is 1.")
IREE_FLAG(int32_t, output_max_element_count, 1024, "Elements of a tensor that are printed.")

static iree_status_t compare_outputs(const tooling_context_t* context, const tooling_call_t* call,
                                     const iree_vm_list_t* outputs, int* out_exit_code) {
  tooling_comparison_t comparison = {.device = context->device, .file = stdout};
  IREE_RETURN_IF_ERROR(tooling_tolerance_from_flags(&comparison.tolerance));
  iree_vm_list_t* expected = NULL;
  IREE_RETURN_IF_ERROR(
      tooling_expected_parse(call->result_letters, FLAG_expected_output_list(), context->device, &expected),
      "parsing expected function outputs");
  bool match = false;
  iree_status_t status = tooling_lists_compare(&comparison, expected, outputs, &match);
  iree_vm_list_release(expected);
  IREE_RETURN_IF_ERROR(status);
  if (match) printf("[SUCCESS] all function outputs matched their expected values.\n");
  *out_exit_code = match ? EXIT_SUCCESS : EXIT_FAILURE;
  return iree_ok_status();
}

iree_status_t tooling_results_process(const tooling_context_t* context, const tooling_call_t* call,
                                      const iree_vm_list_t* outputs, int* out_exit_code) {
  iree_host_size_t limit = FLAG_output_max_element_count < 0 ? 0 : (iree_host_size_t)FLAG_output_max_element_count;
  if (FLAG_output_list().count) {
    IREE_RETURN_IF_ERROR(tooling_outputs_write(outputs, FLAG_output_list(), context->device, limit, stdout),
                         "outputting results");
  }
  if (FLAG_expected_output_list().count) return compare_outputs(context, call, outputs, out_exit_code);
  if (FLAG_output_list().count || context->is_quiet) return iree_ok_status();
  return iree_status_annotate_f(tooling_outputs_print(outputs, IREE_SV("result"), context->device, limit, stdout),
                                "printing results");
}
