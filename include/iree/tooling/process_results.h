// Results of a call by the flags of tools: --output=, --expected_output=, --output_max_element_count=.
#ifndef IREE_TOOLING_PROCESS_RESULTS_H_
#define IREE_TOOLING_PROCESS_RESULTS_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/io/stream.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Prints results to the stream, writes them to files or compares them with what is expected, as the flags say.
// `results_cconv` has a letter for each, as iree_vm_function_call_get_cconv_fragments gives them. `device` is where
// tensors are, NULL for the host's memory. *out_exit_code is not 0 where they differ from what is expected.
IREE_API_EXPORT iree_status_t iree_tooling_process_results(iree_hal_device_t* device, iree_string_view_t results_cconv,
                                                           iree_vm_list_t* results, iree_io_stream_t* stream,
                                                           iree_allocator_t host_allocator, int* out_exit_code);
// To stdout.
IREE_API_EXPORT iree_status_t iree_tooling_process_results_and_print(iree_hal_device_t* device,
                                                                     iree_string_view_t results_cconv,
                                                                     iree_vm_list_t* results,
                                                                     iree_allocator_t host_allocator,
                                                                     int* out_exit_code);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_PROCESS_RESULTS_H_
