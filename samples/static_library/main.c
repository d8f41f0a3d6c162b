// Runs a program whose kernels are linked into this one: nothing is loaded when it starts but the module's bytecode,
// which is data in here, too. `iree_bytecode_module(... STATIC_LIB_PATH ... C_IDENTIFIER ...)` makes the two.
#include <stdio.h>

#include "iree/hal/drivers/local_sync/sync_device.h"
#include "iree/hal/local/loaders/static_library_loader.h"
#include "iree/runtime/api.h"
#include "sample_static_library_module_c.h"
#include "simple_mul.h"

static iree_status_t create_device(iree_allocator_t allocator, iree_hal_device_t** out_device) {
  const iree_hal_executable_library_query_fn_t libraries[] = {LIBRARY_QUERY};
  iree_hal_executable_loader_t* loader = NULL;
  iree_hal_allocator_t* device_allocator = NULL;
  iree_hal_sync_device_params_t params;
  iree_hal_sync_device_params_initialize(&params);
  iree_status_t status = iree_hal_static_library_loader_create(
      IREE_ARRAYSIZE(libraries), libraries, iree_hal_executable_import_provider_null(), allocator, &loader);
  if (iree_status_is_ok(status)) {
    status = iree_hal_allocator_create_heap(IREE_SV("local"), allocator, allocator, &device_allocator);
  }
  if (iree_status_is_ok(status)) {
    const iree_hal_device_create_params_t create_params = iree_hal_device_create_params_default();
    status = iree_hal_sync_device_create(IREE_SV("local-sync"), &params, &create_params, 1, &loader, device_allocator,
                                         allocator, out_device);
  }
  iree_hal_allocator_release(device_allocator);
  iree_hal_executable_loader_release(loader);
  return status;
}

static iree_status_t push_argument(iree_runtime_session_t* session, iree_runtime_call_t* call, float value) {
  const iree_hal_dim_t shape[1] = {4};
  const float values[4] = {value, value, value, value};
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_allocate_buffer_copy(
      iree_runtime_session_device(session), iree_runtime_session_device_allocator(session), 1, shape,
      IREE_HAL_ELEMENT_TYPE_FLOAT_32, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
      (iree_hal_buffer_params_t){.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT},
      iree_make_const_byte_span(values, sizeof(values)), &view));
  iree_status_t status = iree_runtime_call_inputs_push_back_buffer_view(call, view);
  iree_hal_buffer_view_release(view);
  return status;
}

static iree_status_t print_result(iree_runtime_session_t* session, iree_runtime_call_t* call) {
  float values[4] = {0};
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(iree_runtime_call_outputs_pop_front_buffer_view(call, &view));
  iree_status_t status =
      iree_hal_device_transfer_d2h(iree_runtime_session_device(session), iree_hal_buffer_view_buffer(view), 0, values,
                                   sizeof(values), IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
  iree_hal_buffer_view_release(view);
  if (iree_status_is_ok(status)) printf("4 * 2.5 = %g %g %g %g\n", values[0], values[1], values[2], values[3]);
  return status;
}

static iree_status_t call_function(iree_runtime_session_t* session) {
  iree_runtime_call_t call;
  IREE_RETURN_IF_ERROR(iree_runtime_call_initialize_by_name(session, IREE_SV("module.simple_mul"), &call));
  iree_status_t status = push_argument(session, &call, 4.0f);
  if (iree_status_is_ok(status)) status = push_argument(session, &call, 2.5f);
  if (iree_status_is_ok(status)) status = iree_runtime_call_invoke(&call, 0);
  if (iree_status_is_ok(status)) status = print_result(session, &call);
  iree_runtime_call_deinitialize(&call);
  return status;
}

static iree_status_t run(iree_runtime_instance_t* instance, iree_allocator_t allocator) {
  const iree_file_toc_t* file = static_library_module_create();
  iree_runtime_session_options_t options;
  iree_runtime_session_t* session = NULL;
  iree_hal_device_t* device = NULL;
  iree_runtime_session_options_initialize(&options);
  iree_status_t status = create_device(allocator, &device);
  if (iree_status_is_ok(status)) {
    status = iree_runtime_session_create_with_device(instance, &options, device, allocator, &session);
  }
  if (iree_status_is_ok(status)) {
    status = iree_runtime_session_append_bytecode_module_from_memory(
        session, iree_make_const_byte_span(file->data, file->size), iree_allocator_null());
  }
  if (iree_status_is_ok(status)) status = call_function(session);
  iree_runtime_session_release(session);
  iree_hal_device_release(device);
  return status;
}

int main(void) {
  iree_runtime_instance_options_t options;
  iree_runtime_instance_t* instance = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  iree_runtime_instance_options_initialize(&options);
  iree_status_t status = iree_runtime_instance_create(&options, allocator, &instance);
  if (iree_status_is_ok(status)) status = run(instance, allocator);
  iree_runtime_instance_release(instance);
  if (iree_status_is_ok(status)) return 0;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return 1;
}
