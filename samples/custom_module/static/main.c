// A tool like iree-run-module that has the module `sample` in it: main --module=example.vmfb --input=2 ...
#include <stdio.h>

#include "iree/base/tooling/flags.h"
#include "iree/tooling/context_util.h"
#include "iree/tooling/function_io.h"
#include "module.h"

IREE_FLAG_LIST(string, input, "An argument, once for each.")

// The module, then those of the flags.
static iree_status_t load(iree_vm_instance_t* instance, iree_allocator_t allocator, iree_tooling_module_list_t* list) {
  iree_vm_module_t* sample = NULL;
  IREE_RETURN_IF_ERROR(sample_module_create(instance, allocator, &sample));
  iree_status_t status = iree_tooling_module_list_push_back(list, sample);
  iree_vm_module_release(sample);
  return iree_status_is_ok(status) ? iree_tooling_load_modules_from_flags(instance, allocator, list) : status;
}

static iree_status_t call(iree_vm_context_t* context, iree_vm_function_t function, iree_hal_device_t* device,
                          iree_hal_allocator_t* device_allocator, iree_allocator_t allocator) {
  iree_vm_list_t *inputs = NULL, *outputs = NULL;
  iree_string_builder_t text;
  iree_vm_function_signature_t signature = iree_vm_function_signature(&function);
  iree_string_view_t arguments, results;
  IREE_RETURN_IF_ERROR(iree_vm_function_call_get_cconv_fragments(&signature, &arguments, &results));
  iree_string_builder_initialize(allocator, &text);
  iree_status_t status =
      iree_tooling_parse_variants(arguments, FLAG_input_list(), device, device_allocator, allocator, &inputs);
  if (iree_status_is_ok(status)) {
    status = iree_vm_list_create(iree_vm_make_undefined_type_def(), results.size, allocator, &outputs);
  }
  if (iree_status_is_ok(status)) {
    status =
        iree_vm_invoke(context, function, IREE_VM_INVOCATION_FLAG_NONE, /*policy=*/NULL, inputs, outputs, allocator);
  }
  if (iree_status_is_ok(status)) status = iree_tooling_format_variants(IREE_SV("result"), outputs, 1024, &text);
  if (iree_status_is_ok(status)) {
    printf("%.*s", (int)iree_string_builder_size(&text), iree_string_builder_buffer(&text));
  }
  iree_string_builder_deinitialize(&text);
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return status;
}

static iree_status_t run(iree_vm_instance_t* instance, iree_tooling_module_list_t* list, iree_allocator_t allocator) {
  iree_vm_function_t function;
  iree_vm_context_t* context = NULL;
  iree_hal_device_t* device = NULL;
  iree_hal_allocator_t* device_allocator = NULL;
  IREE_RETURN_IF_ERROR(load(instance, allocator, list));
  IREE_RETURN_IF_ERROR(iree_tooling_find_single_exported_function(list->values[list->count - 1], &function));
  IREE_RETURN_IF_ERROR(iree_tooling_create_context_from_flags(
      instance, list->count, list->values, iree_string_view_empty(), allocator, &context, &device, &device_allocator));
  iree_status_t status = call(context, function, device, device_allocator, allocator);
  iree_vm_context_release(context);
  iree_hal_allocator_release(device_allocator);
  iree_hal_device_release(device);
  return status;
}

int main(int argc, char** argv) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_vm_instance_t* instance = NULL;
  iree_tooling_module_list_t list;
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_tooling_module_list_initialize(&list);
  iree_status_t status = iree_tooling_create_instance(allocator, &instance);
  if (iree_status_is_ok(status)) status = run(instance, &list, allocator);
  iree_tooling_module_list_reset(&list);
  iree_vm_instance_release(instance);
  if (iree_status_is_ok(status)) return 0;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return 1;
}
