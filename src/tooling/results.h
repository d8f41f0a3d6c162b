// Results of a call by flags: --output, --expected_output, --output_max_element_count.
#ifndef TOOLING_RESULTS_H_
#define TOOLING_RESULTS_H_

#include "tooling/context.h"

// Prints, writes or compares results. *out_exit_code is not 0 when they differ from those expected.
iree_status_t tooling_results_process(const tooling_context_t* context, const tooling_call_t* call,
                                      const iree_vm_list_t* outputs, int* out_exit_code);

#endif  // TOOLING_RESULTS_H_
