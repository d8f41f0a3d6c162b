// Lists of values as text, for C++.
#ifndef IREE_TOOLING_VM_UTIL_H_
#define IREE_TOOLING_VM_UTIL_H_

#include <iostream>
#include <ostream>
#include <string>
#include <vector>

#include "iree/base/internal/span.h"
#include "iree/base/status_cc.h"
#include "iree/hal/api.h"
#include "iree/tooling/function_io.h"
#include "iree/vm/api.h"
#include "iree/vm/ref_cc.h"

namespace iree {

// Parses strings like those of --input= (function_io.h) into a new list: values are i32, or f32 with a point.
inline Status ParseToVariantList(iree_hal_allocator_t* device_allocator, iree::span<const std::string> input_strings,
                                 iree_allocator_t host_allocator, iree_vm_list_t** out_list) {
  std::vector<iree_string_view_t> specs;
  std::string letters;
  for (const std::string& text : input_strings) {
    specs.push_back(iree_make_string_view(text.data(), text.size()));
    bool is_value = text.find_first_not_of("+-0123456789.eE") == std::string::npos;
    letters += !is_value ? 'r' : text.find_first_of(".eE") == std::string::npos ? 'i' : 'f';
  }
  iree_string_view_list_t list = {specs.size(), specs.data()};
  return iree_tooling_parse_variants(iree_make_string_view(letters.data(), letters.size()), list, nullptr,
                                     device_allocator, host_allocator, out_list);
}

// Prints a list as iree_tooling_format_variants does, with the name `result`.
inline Status PrintVariantList(iree_vm_list_t* variant_list, size_t max_element_count, std::ostream* os) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  iree_status_t status =
      iree_tooling_format_variants(iree_make_cstring_view("result"), variant_list, max_element_count, &builder);
  if (iree_status_is_ok(status)) {
    os->write(iree_string_builder_buffer(&builder), static_cast<std::streamsize>(iree_string_builder_size(&builder)));
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}
inline Status PrintVariantList(iree_vm_list_t* variant_list, std::ostream* os) {
  return PrintVariantList(variant_list, 1024, os);
}
inline Status PrintVariantList(iree_vm_list_t* variant_list, size_t max_element_count = 1024) {
  return PrintVariantList(variant_list, max_element_count, &std::cout);
}

}  // namespace iree

#endif  // IREE_TOOLING_VM_UTIL_H_
