// Comparing results with what was expected, with the tolerances of --expected_f32_threshold= and its like.
#ifndef IREE_TOOLING_COMPARISON_H_
#define IREE_TOOLING_COMPARISON_H_

#include <stdio.h>

#include "iree/base/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether all elements match. Differences, and failures to read a buffer, are appended as lines of text. Buffers must
// be such that the host can map them.
IREE_API_EXPORT bool iree_tooling_compare_variant_lists_and_append(iree_vm_list_t* expected_list,
                                                                   iree_vm_list_t* actual_list,
                                                                   iree_allocator_t host_allocator,
                                                                   iree_string_builder_t* builder);
IREE_API_EXPORT bool iree_tooling_compare_variant_lists(iree_vm_list_t* expected_list, iree_vm_list_t* actual_list,
                                                        iree_allocator_t host_allocator, FILE* file);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_COMPARISON_H_
