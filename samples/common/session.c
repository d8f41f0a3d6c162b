// See session.h.
#include "session.h"

#include <stdio.h>

// The device goes when the session does.
static iree_status_t create_session(iree_runtime_instance_t* instance, const char* driver,
                                    iree_runtime_session_t** out_session) {
  iree_hal_device_t* device = NULL;
  iree_runtime_session_options_t options;
  iree_runtime_session_options_initialize(&options);
  IREE_RETURN_IF_ERROR(
      iree_runtime_instance_try_create_default_device(instance, iree_make_cstring_view(driver), &device));
  iree_status_t status = iree_runtime_session_create_with_device(
      instance, &options, device, iree_runtime_instance_host_allocator(instance), out_session);
  iree_hal_device_release(device);
  return status;
}

int sample_run(const char* driver, iree_status_t (*run)(iree_runtime_session_t* session, void* user_data),
               void* user_data) {
  iree_runtime_instance_options_t options;
  iree_runtime_instance_t* instance = NULL;
  iree_runtime_session_t* session = NULL;
  iree_runtime_instance_options_initialize(&options);
  iree_runtime_instance_options_use_all_available_drivers(&options);
  iree_status_t status = iree_runtime_instance_create(&options, iree_allocator_system(), &instance);
  if (iree_status_is_ok(status)) status = create_session(instance, driver, &session);
  if (iree_status_is_ok(status)) status = run(session, user_data);
  iree_runtime_session_release(session);
  iree_runtime_instance_release(instance);
  if (iree_status_is_ok(status)) return 0;
  int code = (int)iree_status_code(status);
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return code;
}

iree_status_t sample_tensor_create(iree_runtime_session_t* session, iree_host_size_t rank, const iree_hal_dim_t* shape,
                                   iree_hal_element_type_t type, const void* data, iree_hal_buffer_view_t** out_view) {
  iree_host_size_t size = iree_hal_element_dense_byte_count(type);
  for (iree_host_size_t i = 0; i < rank; ++i) size *= (iree_host_size_t)shape[i];
  const iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                           .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  return iree_hal_buffer_view_allocate_buffer_copy(
      iree_runtime_session_device(session), iree_runtime_session_device_allocator(session), rank, shape, type,
      IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, iree_make_const_byte_span(data, size), out_view);
}

iree_status_t sample_tensor_read(iree_runtime_session_t* session, iree_hal_buffer_view_t* view, void* data,
                                 iree_host_size_t size) {
  return iree_hal_device_transfer_d2h(iree_runtime_session_device(session), iree_hal_buffer_view_buffer(view), 0, data,
                                      size, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
}
