// See iree/tooling/comparison.h: tolerances by flags.
#include "iree/tooling/comparison.h"

#include "base/flag_table.h"
#include "iree/base/tooling/flags.h"
#include "tooling/compare.h"

IREE_FLAG(double, expected_f16_threshold, 0.001, "Absolute tolerance of f16 elements.")
IREE_FLAG(double, expected_f32_threshold, 0.0001, "Absolute tolerance of f32 elements.")
IREE_FLAG(double, expected_f64_threshold, 0.0001, "Absolute tolerance of f64 elements.")
IREE_FLAG(double, expected_bf16_threshold, 0.01, "Absolute tolerance of bf16 elements.")
IREE_FLAG(double, expected_rtol, 1e-05, "Tolerance relative to the expected value, added to the absolute one.")
IREE_FLAG(string, equality_mode, "approximate", "`approximate`: with tolerances; `exact`: the same bits.")
FLAG_VALUES(equality_mode, "approximate,exact")

iree_status_t tooling_tolerance_from_flags(tooling_tolerance_t* out_tolerance) {
  iree_string_view_t mode = iree_make_cstring_view(FLAG_equality_mode);
  *out_tolerance = (tooling_tolerance_t){
      .exact = iree_string_view_equal(mode, IREE_SV("exact")),
      .f16 = FLAG_expected_f16_threshold,
      .bf16 = FLAG_expected_bf16_threshold,
      .f32 = FLAG_expected_f32_threshold,
      .f64 = FLAG_expected_f64_threshold,
      .relative = FLAG_expected_rtol,
  };
  if (out_tolerance->exact || iree_string_view_equal(mode, IREE_SV("approximate"))) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--equality_mode= must be 'approximate' or 'exact'; got '%s'",
                          FLAG_equality_mode);
}

bool iree_tooling_compare_variant_lists(iree_vm_list_t* expected_list, iree_vm_list_t* actual_list,
                                        iree_allocator_t host_allocator, FILE* file) {
  tooling_comparison_t comparison = {.file = file};
  bool match = false;
  iree_status_t status = tooling_tolerance_from_flags(&comparison.tolerance);
  if (iree_status_is_ok(status)) status = tooling_lists_compare(&comparison, expected_list, actual_list, &match);
  if (iree_status_is_ok(status)) return match;
  fprintf(file, "[FAILED] ");
  iree_status_fprint(file, status);
  fputc('\n', file);
  iree_status_free(status);
  return false;
}

bool iree_tooling_compare_variant_lists_and_append(iree_vm_list_t* expected_list, iree_vm_list_t* actual_list,
                                                   iree_allocator_t host_allocator, iree_string_builder_t* builder) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (!file) return false;
  bool match = iree_tooling_compare_variant_lists(expected_list, actual_list, host_allocator, file);
  fclose(file);
  iree_status_ignore(iree_string_builder_append_string(builder, iree_make_string_view(text, size)));
  free(text);
  return match;
}
