// Runs a program that calls the module `custom` with tensors, in a runtime session: main example.vmfb example.main
#include <stdio.h>

#include "iree/runtime/api.h"
#include "module.h"

static iree_status_t add_modules(iree_runtime_instance_t* instance, iree_runtime_session_t* session, const char* path) {
  iree_vm_module_t* custom = NULL;
  IREE_RETURN_IF_ERROR(custom_module_create(iree_runtime_instance_vm_instance(instance),
                                            iree_runtime_session_device(session), iree_allocator_system(), &custom));
  iree_status_t status = iree_runtime_session_append_module(session, custom);
  iree_vm_module_release(custom);
  if (!iree_status_is_ok(status)) return status;
  return iree_string_view_equal(iree_make_cstring_view(path), IREE_SV("-"))
             ? iree_runtime_session_append_bytecode_module_from_stdin(session)
             : iree_runtime_session_append_bytecode_module_from_file(session, path);
}

static iree_status_t call(iree_runtime_session_t* session, const char* name, const int32_t input[5],
                          int32_t output[5]) {
  const iree_hal_dim_t shape[1] = {5};
  iree_runtime_call_t call;
  iree_hal_buffer_view_t *argument = NULL, *result = NULL;
  IREE_RETURN_IF_ERROR(iree_runtime_call_initialize_by_name(session, iree_make_cstring_view(name), &call));
  iree_status_t status = iree_hal_buffer_view_allocate_buffer_copy(
      iree_runtime_session_device(session), iree_runtime_session_device_allocator(session), 1, shape,
      IREE_HAL_ELEMENT_TYPE_INT_32, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
      (iree_hal_buffer_params_t){.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT},
      iree_make_const_byte_span(input, 5 * sizeof(*input)), &argument);
  if (iree_status_is_ok(status)) status = iree_runtime_call_inputs_push_back_buffer_view(&call, argument);
  iree_hal_buffer_view_release(argument);
  printf("INVOKE BEGIN %s\n", name);
  if (iree_status_is_ok(status)) status = iree_runtime_call_invoke(&call, 0);
  printf("INVOKE END\n");
  if (iree_status_is_ok(status)) status = iree_runtime_call_outputs_pop_front_buffer_view(&call, &result);
  if (iree_status_is_ok(status)) {
    status = iree_hal_device_transfer_d2h(iree_runtime_session_device(session), iree_hal_buffer_view_buffer(result), 0,
                                          output, 5 * sizeof(*output), IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                          iree_infinite_timeout());
  }
  iree_hal_buffer_view_release(result);
  iree_runtime_call_deinitialize(&call);
  return status;
}

static iree_status_t run(iree_runtime_instance_t* instance, const char* path, const char* name) {
  static const int32_t input[5] = {1, 2, 3, 4, 5};
  int32_t output[5] = {0};
  iree_hal_device_t* device = NULL;
  iree_runtime_session_t* session = NULL;
  iree_runtime_session_options_t options;
  iree_runtime_session_options_initialize(&options);
  IREE_RETURN_IF_ERROR(
      iree_runtime_instance_try_create_default_device(instance, iree_make_cstring_view("local-task"), &device));
  iree_status_t status = iree_runtime_session_create_with_device(
      instance, &options, device, iree_runtime_instance_host_allocator(instance), &session);
  iree_hal_device_release(device);
  if (iree_status_is_ok(status)) status = add_modules(instance, session, path);
  if (iree_status_is_ok(status)) status = call(session, name, input, output);
  iree_runtime_session_release(session);
  for (int i = 0; i < 5 && iree_status_is_ok(status); ++i) {
    int32_t expected = 4 * input[i] * input[i] * input[i] * input[i];
    if (output[i] != expected) {
      status = iree_make_status(IREE_STATUS_UNKNOWN, "result %d is %d, not %d", i, output[i], expected);
    }
  }
  if (iree_status_is_ok(status)) printf("MATCHED!\n");
  return status;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODULE.vmfb module.function\n", argv[0]);
    return 1;
  }
  iree_runtime_instance_options_t options;
  iree_runtime_instance_t* instance = NULL;
  iree_runtime_instance_options_initialize(&options);
  iree_runtime_instance_options_use_all_available_drivers(&options);
  iree_status_t status = iree_runtime_instance_create(&options, iree_allocator_system(), &instance);
  if (iree_status_is_ok(status)) status = run(instance, argv[1], argv[2]);
  iree_runtime_instance_release(instance);
  if (iree_status_is_ok(status)) return 0;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return 1;
}
