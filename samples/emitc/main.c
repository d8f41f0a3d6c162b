// Calls a function of a module that is C code in this program: main --function=NAME --input=... --device=...
//
// The header comes from `iree-compile --output-format=vm-c`; MODULE_HEADER names it, MODULE_CREATE its function.
#include <stdio.h>

#include "iree/base/tooling/flags.h"
#include "iree/hal/api.h"
#include "iree/tooling/context_util.h"
#include "iree/tooling/function_io.h"
#include "iree/vm/api.h"
#include MODULE_HEADER

IREE_FLAG(string, function, "", "The function to call.");
IREE_FLAG_LIST(string, input, "An argument, as iree-run-module takes it.");

static iree_status_t call(iree_vm_context_t* context, iree_hal_device_t* device, iree_hal_allocator_t* device_allocator,
                          iree_vm_module_t* module, iree_allocator_t allocator) {
  iree_vm_function_t function;
  IREE_RETURN_IF_ERROR(iree_vm_module_lookup_function_by_name(module, IREE_VM_FUNCTION_LINKAGE_EXPORT,
                                                              iree_make_cstring_view(FLAG_function), &function));
  iree_vm_function_signature_t signature = iree_vm_function_signature(&function);
  iree_string_view_t arguments, results;
  IREE_RETURN_IF_ERROR(iree_vm_function_call_get_cconv_fragments(&signature, &arguments, &results));
  iree_vm_list_t *inputs = NULL, *outputs = NULL;
  IREE_RETURN_IF_ERROR(
      iree_tooling_parse_variants(arguments, FLAG_input_list(), device, device_allocator, allocator, &inputs));
  iree_string_builder_t text;
  iree_string_builder_initialize(allocator, &text);
  iree_status_t status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 8, allocator, &outputs);
  if (iree_status_is_ok(status)) {
    status = iree_vm_invoke(context, function, IREE_VM_INVOCATION_FLAG_NONE, NULL, inputs, outputs, allocator);
  }
  if (iree_status_is_ok(status)) {
    status = iree_tooling_format_variants(IREE_SV("result"), outputs, 1024, &text);
  }
  if (iree_status_is_ok(status)) {
    printf("EXEC @%s\n%.*s", FLAG_function, (int)iree_string_builder_size(&text), iree_string_builder_buffer(&text));
  }
  iree_string_builder_deinitialize(&text);
  iree_vm_list_release(outputs);
  iree_vm_list_release(inputs);
  return status;
}

static iree_status_t run(iree_vm_instance_t* instance, iree_allocator_t allocator) {
  iree_vm_module_t* module = NULL;
  iree_vm_context_t* context = NULL;
  iree_hal_device_t* device = NULL;
  iree_hal_allocator_t* device_allocator = NULL;
  IREE_RETURN_IF_ERROR(MODULE_CREATE(instance, allocator, &module));
  iree_status_t status = iree_tooling_create_context_from_flags(instance, 1, &module, iree_string_view_empty(),
                                                                allocator, &context, &device, &device_allocator);
  if (iree_status_is_ok(status)) status = call(context, device, device_allocator, module, allocator);
  iree_vm_context_release(context);
  iree_hal_allocator_release(device_allocator);
  iree_hal_device_release(device);
  iree_vm_module_release(module);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("emitc", "Calls a function of the module in this program.\n");
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_allocator_t allocator = iree_allocator_system();
  iree_vm_instance_t* instance = NULL;
  iree_status_t status = iree_tooling_create_instance(allocator, &instance);
  if (iree_status_is_ok(status)) status = run(instance, allocator);
  iree_vm_instance_release(instance);
  if (iree_status_is_ok(status)) return 0;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return 1;
}
