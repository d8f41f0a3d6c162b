// Runs a program that calls the module `custom` with tensors, in a runtime session: main example.vmfb example.main
#include <stdio.h>

#include "common/session.h"
#include "module.h"

static iree_status_t add_modules(iree_runtime_session_t* session, const char* path) {
  iree_vm_module_t* custom = NULL;
  iree_vm_instance_t* instance = iree_runtime_instance_vm_instance(iree_runtime_session_instance(session));
  IREE_RETURN_IF_ERROR(
      custom_module_create(instance, iree_runtime_session_device(session), iree_allocator_system(), &custom));
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
  iree_status_t status = sample_tensor_create(session, 1, shape, IREE_HAL_ELEMENT_TYPE_INT_32, input, &argument);
  if (iree_status_is_ok(status)) status = iree_runtime_call_inputs_push_back_buffer_view(&call, argument);
  iree_hal_buffer_view_release(argument);
  printf("INVOKE BEGIN %s\n", name);
  if (iree_status_is_ok(status)) status = iree_runtime_call_invoke(&call, 0);
  printf("INVOKE END\n");
  if (iree_status_is_ok(status)) status = iree_runtime_call_outputs_pop_front_buffer_view(&call, &result);
  if (iree_status_is_ok(status)) status = sample_tensor_read(session, result, output, 5 * sizeof(*output));
  iree_hal_buffer_view_release(result);
  iree_runtime_call_deinitialize(&call);
  return status;
}

static iree_status_t run(iree_runtime_session_t* session, void* user_data) {
  static const int32_t input[5] = {1, 2, 3, 4, 5};
  char** arguments = user_data;
  int32_t output[5] = {0};
  IREE_RETURN_IF_ERROR(add_modules(session, arguments[1]));
  IREE_RETURN_IF_ERROR(call(session, arguments[2], input, output));
  for (int i = 0; i < 5; ++i) {
    int32_t expected = 4 * input[i] * input[i] * input[i] * input[i];
    if (output[i] != expected) {
      return iree_make_status(IREE_STATUS_UNKNOWN, "result %d is %d, not %d", i, output[i], expected);
    }
  }
  printf("MATCHED!\n");
  return iree_ok_status();
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODULE.vmfb module.function\n", argv[0]);
    return 1;
  }
  return sample_run("local-task", run, argv);
}
