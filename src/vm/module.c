// The module interface's wrappers, and calling conventions.

#include "iree/vm/module.h"

//===----------------------------------------------------------------------------------------------------------------===
// Calling conventions
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_vm_function_call_get_cconv_fragments(const iree_vm_function_signature_t* signature,
                                                        iree_string_view_t* out_arguments,
                                                        iree_string_view_t* out_results) {
  *out_arguments = *out_results = iree_string_view_empty();
  iree_string_view_t convention = signature->calling_convention;
  if (!convention.size) return iree_ok_status();
  if (convention.data[0] != '0') {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "calling convention version '%c'", convention.data[0]);
  }
  iree_string_view_split(iree_string_view_substr(convention, 1, IREE_HOST_SIZE_MAX), '_', out_arguments, out_results);
  if (iree_string_view_equal(*out_arguments, IREE_SV("v"))) *out_arguments = iree_string_view_empty();
  if (iree_string_view_equal(*out_results, IREE_SV("v"))) *out_results = iree_string_view_empty();
  return iree_ok_status();
}

bool iree_vm_function_call_is_variadic_cconv(iree_string_view_t cconv) {
  return iree_string_view_find_char(cconv, IREE_VM_CCONV_TYPE_SPAN_START, 0) != IREE_STRING_VIEW_NPOS;
}

static iree_status_t count_values(iree_string_view_t fragment, iree_host_size_t* out_count) {
  if (iree_vm_function_call_is_variadic_cconv(fragment)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%.*s' has no fixed number of values", (int)fragment.size,
                            fragment.data);
  }
  *out_count = fragment.size;
  return iree_ok_status();
}

iree_status_t iree_vm_function_call_count_arguments_and_results(const iree_vm_function_signature_t* signature,
                                                                iree_host_size_t* out_argument_count,
                                                                iree_host_size_t* out_result_count) {
  iree_string_view_t arguments, results;
  IREE_RETURN_IF_ERROR(iree_vm_function_call_get_cconv_fragments(signature, &arguments, &results));
  IREE_RETURN_IF_ERROR(count_values(arguments, out_argument_count));
  return count_values(results, out_result_count);
}

// Size and alignment of one letter; 0 for letters that are no value.
static iree_host_size_t letter_size(char letter) {
  switch (letter) {
    case IREE_VM_CCONV_TYPE_I32:
    case IREE_VM_CCONV_TYPE_F32:
      return 4;
    case IREE_VM_CCONV_TYPE_I64:
    case IREE_VM_CCONV_TYPE_F64:
      return 8;
    case IREE_VM_CCONV_TYPE_REF:
      return sizeof(iree_vm_ref_t);
    default:
      return 0;
  }
}

typedef struct packing_t {
  iree_host_size_t size, alignment;
} packing_t;

static iree_status_t pack_letter(packing_t* packing, char letter) {
  if (letter == IREE_VM_CCONV_TYPE_VOID) return iree_ok_status();
  iree_host_size_t size = letter_size(letter);
  if (!size) return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "calling convention type '%c'", letter);
  iree_host_size_t alignment = size > 8 ? 8 : size;
  packing->size = iree_host_align(packing->size, alignment) + size;
  packing->alignment = iree_max(packing->alignment, alignment);
  return iree_ok_status();
}

iree_status_t iree_vm_function_call_compute_cconv_fragment_size(iree_string_view_t cconv_fragment,
                                                                const iree_vm_register_list_t* segment_size_list,
                                                                iree_host_size_t* out_required_size) {
  packing_t all = {0, 4};
  for (iree_host_size_t i = 0, segment = 0; i < cconv_fragment.size; ++i, ++segment) {
    if (cconv_fragment.data[i] != IREE_VM_CCONV_TYPE_SPAN_START) {
      IREE_RETURN_IF_ERROR(pack_letter(&all, cconv_fragment.data[i]));
      continue;
    }
    if (!segment_size_list || segment >= segment_size_list->size) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "variadic segment %zu without a size", segment);
    }
    packing_t element = {0, 4};
    for (++i; i < cconv_fragment.size && cconv_fragment.data[i] != IREE_VM_CCONV_TYPE_SPAN_END; ++i) {
      IREE_RETURN_IF_ERROR(pack_letter(&element, cconv_fragment.data[i]));
    }
    element.size = iree_host_align(element.size, element.alignment);
    all.alignment = iree_max(all.alignment, element.alignment);
    all.size = iree_host_align(all.size + sizeof(int32_t), element.alignment) +
               element.size * segment_size_list->registers[segment];
  }
  *out_required_size = iree_host_align(all.size, all.alignment);
  return iree_ok_status();
}

iree_status_t iree_vm_source_location_format(iree_vm_source_location_t* source_location,
                                             iree_vm_source_location_format_flags_t flags,
                                             iree_string_builder_t* builder) {
  if (!source_location || !source_location->format) return iree_status_from_code(IREE_STATUS_UNAVAILABLE);
  return source_location->format(source_location->self, source_location->data, flags, builder);
}

//===----------------------------------------------------------------------------------------------------------------===
// Modules
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_vm_module_initialize(iree_vm_module_t* module, void* self) {
  memset(module, 0, sizeof(*module));
  module->self = self;
  iree_atomic_ref_count_init(&module->ref_count);
  return iree_ok_status();
}

void iree_vm_module_retain(iree_vm_module_t* module) {
  if (module) iree_atomic_ref_count_inc(&module->ref_count);
}

void iree_vm_module_release(iree_vm_module_t* module) {
  if (module && iree_atomic_ref_count_dec(&module->ref_count) == 1 && module->destroy) module->destroy(module->self);
}

iree_string_view_t iree_vm_module_name(const iree_vm_module_t* module) { return module->name(module->self); }

iree_vm_module_signature_t iree_vm_module_signature(const iree_vm_module_t* module) {
  return module->signature(module->self);
}

iree_status_t iree_vm_module_get_attr(const iree_vm_module_t* module, iree_host_size_t index,
                                      iree_string_pair_t* out_attr) {
  if (!module->get_module_attr) return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  return module->get_module_attr(module->self, index, out_attr);
}

iree_string_view_t iree_vm_module_lookup_attr_by_name(const iree_vm_module_t* module, iree_string_view_t key) {
  iree_string_pair_t attr;
  for (iree_host_size_t i = 0, count = iree_vm_module_signature(module).attr_count; i < count; ++i) {
    if (iree_status_consume_code(iree_vm_module_get_attr(module, i, &attr)) != IREE_STATUS_OK) break;
    if (iree_string_view_equal(attr.key, key)) return attr.value;
  }
  return iree_string_view_empty();
}

iree_status_t iree_vm_module_enumerate_dependencies(iree_vm_module_t* module,
                                                    iree_vm_module_dependency_callback_t callback, void* user_data) {
  if (!module->enumerate_dependencies) return iree_ok_status();
  return module->enumerate_dependencies(module->self, callback, user_data);
}

iree_status_t iree_vm_module_lookup_function_by_name(const iree_vm_module_t* module, iree_vm_function_linkage_t linkage,
                                                     iree_string_view_t name, iree_vm_function_t* out_function) {
  memset(out_function, 0, sizeof(*out_function));
  return module->lookup_function(module->self, linkage, name, /*expected_signature=*/NULL, out_function);
}

iree_status_t iree_vm_module_lookup_function_by_ordinal(const iree_vm_module_t* module,
                                                        iree_vm_function_linkage_t linkage, iree_host_size_t ordinal,
                                                        iree_vm_function_t* out_function) {
  memset(out_function, 0, sizeof(*out_function));
  return module->get_function(module->self, linkage, ordinal, out_function, NULL, NULL);
}

iree_status_t iree_vm_module_resolve_source_location(const iree_vm_module_t* module, iree_vm_function_t function,
                                                     iree_vm_source_offset_t pc,
                                                     iree_vm_source_location_t* out_source_location) {
  memset(out_source_location, 0, sizeof(*out_source_location));
  if (!module->resolve_source_location) return iree_status_from_code(IREE_STATUS_UNAVAILABLE);
  return module->resolve_source_location(module->self, function, pc, out_source_location);
}

iree_string_view_t iree_vm_function_name(const iree_vm_function_t* function) {
  iree_string_view_t name = iree_string_view_empty();
  if (function->module) {
    iree_status_ignore(function->module->get_function(function->module->self, function->linkage, function->ordinal,
                                                      NULL, &name, NULL));
  }
  return name;
}

iree_vm_function_signature_t iree_vm_function_signature(const iree_vm_function_t* function) {
  iree_vm_function_signature_t signature = {iree_string_view_empty()};
  if (function->module) {
    iree_status_ignore(function->module->get_function(function->module->self, function->linkage, function->ordinal,
                                                      NULL, NULL, &signature));
  }
  return signature;
}

iree_status_t iree_vm_function_get_attr(iree_vm_function_t function, iree_host_size_t index,
                                        iree_string_pair_t* out_attr) {
  if (!function.module || !function.module->get_function_attr) {
    return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  }
  return function.module->get_function_attr(function.module->self, function.linkage, function.ordinal, index, out_attr);
}

iree_string_view_t iree_vm_function_lookup_attr_by_name(const iree_vm_function_t* function, iree_string_view_t key) {
  iree_string_pair_t attr;
  for (iree_host_size_t i = 0;
       iree_status_consume_code(iree_vm_function_get_attr(*function, i, &attr)) == IREE_STATUS_OK; ++i) {
    if (iree_string_view_equal(attr.key, key)) return attr.value;
  }
  return iree_string_view_empty();
}
