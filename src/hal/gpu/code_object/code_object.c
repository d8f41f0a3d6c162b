// Code objects for AMD GPUs as the data of executables.
#include "hal/gpu/code_object/code_object.h"

bool code_object_takes_format(iree_string_view_t format, const target_id_t* device) {
  target_id_t target;
  return iree_string_view_equal(format, IREE_SV("rocm-hsaco-fb")) ||
         (target_id_read(format, &target) && target_id_match(&target, device) != TARGET_MATCH_NONE);
}

iree_status_t code_object_infer_format(iree_const_byte_span_t data, char* storage, size_t capacity,
                                       iree_string_view_t* out_format) {
  if (!target_id_is_code(data)) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE, "not a code object for AMD GPUs");
  }
  target_id_t target;
  IREE_RETURN_IF_ERROR(target_id_from_elf(data, &target));
  snprintf(storage, capacity, "%s", target.processor);
  *out_format = iree_make_cstring_view(storage);
  return iree_ok_status();
}

static iree_status_t fail_target(const target_id_t* code, const target_id_t* device, iree_string_builder_t* text) {
  const char* generic = target_id_generic(device->processor);
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(text, "the executable is for ["));
  IREE_RETURN_IF_ERROR(target_id_append(code, text));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(text, "], the device needs "));
  IREE_RETURN_IF_ERROR(target_id_append(device, text));
  if (generic) IREE_RETURN_IF_ERROR(iree_string_builder_append_format(text, " (or %s)", generic));
  return iree_make_status(IREE_STATUS_INCOMPATIBLE, "%.*s", (int)iree_string_builder_size(text),
                          iree_string_builder_buffer(text));
}

iree_status_t code_object_check_target(iree_const_byte_span_t data, const target_id_t* device,
                                       iree_allocator_t host_allocator) {
  target_id_t target;
  IREE_RETURN_IF_ERROR(target_id_from_elf(data, &target));
  if (target_id_match(&target, device) != TARGET_MATCH_NONE) return iree_ok_status();
  iree_string_builder_t text;
  iree_string_builder_initialize(host_allocator, &text);
  iree_status_t status = fail_target(&target, device, &text);
  iree_string_builder_deinitialize(&text);
  return status;
}

gpu_function_t code_object_function(const metadata_kernel_t* kernel) {
  gpu_function_t function = {
      .name = kernel->name,
      .max_workgroup_size = kernel->max_workgroup_size,
      .argument_size = kernel->explicit_size,
      .kernarg_size = kernel->kernarg_size,
      .binding_count = kernel->binding_count,
      .constant_count = kernel->constant_count,
      .is_hal = kernel->is_hal,
  };
  memcpy(function.workgroup_size, kernel->workgroup_size, sizeof(function.workgroup_size));
  return function;
}
