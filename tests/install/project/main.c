// Multiplies two vectors by the module that the program carries, or by the one in the file that it is given.
#include <iree/runtime/api.h>
#include <stdio.h>

#ifndef NO_MODULE
#include "multiply_c.h"
#endif

static iree_status_t load(iree_runtime_session_t* session, const char* path) {
  if (path) return iree_runtime_session_append_bytecode_module_from_file(session, path);
#ifndef NO_MODULE
  const iree_file_toc_t* file = multiply_module_create();
  return iree_runtime_session_append_bytecode_module_from_memory(
      session, iree_make_const_byte_span(file->data, file->size), iree_allocator_null());
#else
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no module");
#endif
}

static iree_status_t push(iree_runtime_session_t* session, iree_runtime_call_t* call, const float values[4]) {
  const iree_hal_dim_t shape[1] = {4};
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_allocate_buffer_copy(
      iree_runtime_session_device(session), iree_runtime_session_device_allocator(session), IREE_ARRAYSIZE(shape),
      shape, IREE_HAL_ELEMENT_TYPE_FLOAT_32, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
      (iree_hal_buffer_params_t){.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT},
      iree_make_const_byte_span(values, 4 * sizeof(*values)), &view));
  iree_status_t status = iree_runtime_call_inputs_push_back_buffer_view(call, view);
  iree_hal_buffer_view_release(view);
  return status;
}

static iree_status_t multiply(iree_runtime_session_t* session) {
  static const float x[4] = {1, 2, 3, 4}, y[4] = {10, 100, 1000, 10000};
  iree_runtime_call_t call;
  iree_hal_buffer_view_t* result = NULL;
  IREE_RETURN_IF_ERROR(iree_runtime_call_initialize_by_name(session, iree_make_cstring_view("module.multiply"), &call));
  iree_status_t status = push(session, &call, x);
  if (iree_status_is_ok(status)) status = push(session, &call, y);
  if (iree_status_is_ok(status)) status = iree_runtime_call_invoke(&call, 0);
  if (iree_status_is_ok(status)) status = iree_runtime_call_outputs_pop_front_buffer_view(&call, &result);
  if (iree_status_is_ok(status)) status = iree_hal_buffer_view_fprint(stdout, result, 4, iree_allocator_system());
  iree_hal_buffer_view_release(result);
  iree_runtime_call_deinitialize(&call);
  return status;
}

static iree_status_t run(iree_runtime_instance_t* instance, const char* path) {
  iree_hal_device_t* device = NULL;
  iree_runtime_session_t* session = NULL;
  iree_runtime_session_options_t options;
  iree_runtime_session_options_initialize(&options);
  IREE_RETURN_IF_ERROR(
      iree_runtime_instance_try_create_default_device(instance, iree_make_cstring_view("local-sync"), &device));
  iree_status_t status = iree_runtime_session_create_with_device(
      instance, &options, device, iree_runtime_instance_host_allocator(instance), &session);
  iree_hal_device_release(device);
  if (iree_status_is_ok(status)) status = load(session, path);
  if (iree_status_is_ok(status)) status = multiply(session);
  iree_runtime_session_release(session);
  return status;
}

int main(int argc, char** argv) {
  iree_runtime_instance_options_t options;
  iree_runtime_instance_t* instance = NULL;
  iree_runtime_instance_options_initialize(&options);
  iree_runtime_instance_options_use_all_available_drivers(&options);
  iree_status_t status = iree_runtime_instance_create(&options, iree_allocator_system(), &instance);
  if (iree_status_is_ok(status)) status = run(instance, argc > 1 ? argv[1] : NULL);
  iree_runtime_instance_release(instance);
  if (iree_status_is_ok(status)) return 0;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return 1;
}
