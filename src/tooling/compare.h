// Compares results with what was expected.
#ifndef TOOLING_COMPARE_H_
#define TOOLING_COMPARE_H_

#include "tooling/function_io.h"

// |actual - expected| <= absolute(type) + relative * |expected|; NaN equals NaN.
typedef struct tooling_tolerance_t {
  bool exact;  // bits must be the same
  double f16, bf16, f32, f64;
  double relative;
} tooling_tolerance_t;

// What --expected_f32_threshold= and its like say.
iree_status_t tooling_tolerance_from_flags(tooling_tolerance_t* out_tolerance);

// Index of the first of `count` elements that differs, of what is expected and what is there; `count` when none does.
iree_host_size_t tooling_elements_compare(const tooling_tolerance_t* tolerance, iree_hal_element_type_t type,
                                          iree_host_size_t count, const iree_const_byte_span_t views[2]);
void tooling_element_print(iree_hal_element_type_t type, iree_const_byte_span_t data, iree_host_size_t index,
                           FILE* file);

// Compares lists of the same kinds; differences go to `file`, `[FAILED] …` each. *out_match is the verdict; the status
// is about reading the data.
typedef struct tooling_comparison_t {
  tooling_device_t device;
  tooling_tolerance_t tolerance;
  FILE* file;
} tooling_comparison_t;
iree_status_t tooling_lists_compare(const tooling_comparison_t* comparison, const iree_vm_list_t* expected,
                                    const iree_vm_list_t* actual, bool* out_match);

#endif  // TOOLING_COMPARE_H_
