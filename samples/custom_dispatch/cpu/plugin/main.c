// Dispatches a kernel written by hand whose import a plugin provides:
//
//   main --device=local-task --executable_plugin=plugin.so --kernel=kernel.so
#include <stdio.h>

#include "iree/base/tooling/flags.h"
#include "iree/hal/api.h"
#include "iree/hal/drivers/init.h"
#include "iree/io/file_contents.h"

IREE_FLAG(string, device, "local-task", "The device.")
IREE_FLAG(string, kernel, "", "The executable.")

enum { ROWS = 2, COLUMNS = 4, COUNT = ROWS * COLUMNS };

static iree_status_t load_kernel(iree_hal_executable_cache_t* cache, iree_const_byte_span_t data,
                                 iree_hal_executable_t** out_executable) {
  char format[64];
  iree_host_size_t size = 0;
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  IREE_RETURN_IF_ERROR(
      iree_hal_executable_cache_infer_format(cache, params.caching_mode, data, sizeof(format), format, &size));
  params.executable_format = iree_make_cstring_view(format);
  params.executable_data = data;
  return iree_hal_executable_cache_prepare_executable(cache, &params, out_executable);
}

static iree_status_t dispatch(iree_hal_device_t* device, iree_hal_executable_t* executable,
                              iree_hal_buffer_t* const buffers[3]) {
  uint64_t done = 1;
  const uint32_t columns = COLUMNS;
  iree_hal_semaphore_t* semaphore = NULL;
  iree_hal_executable_function_t function;
  iree_hal_buffer_ref_t bindings[3];
  for (int i = 0; i < 3; ++i) bindings[i] = iree_hal_make_buffer_ref(buffers[i], 0, IREE_HAL_WHOLE_BUFFER);
  const iree_hal_buffer_ref_list_t list = {IREE_ARRAYSIZE(bindings), bindings};
  IREE_RETURN_IF_ERROR(iree_hal_executable_lookup_function_by_name(executable, IREE_SV("multiply"), &function));
  IREE_RETURN_IF_ERROR(
      iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  const iree_hal_semaphore_list_t signal = {1, &semaphore, &done};
  iree_status_t status = iree_hal_device_queue_dispatch(
      device, IREE_HAL_QUEUE_AFFINITY_ANY, iree_hal_semaphore_list_empty(), signal, executable, function,
      iree_hal_make_static_dispatch_config(ROWS, 1, 1), iree_make_const_byte_span(&columns, sizeof(columns)), list,
      IREE_HAL_DISPATCH_FLAG_NONE);
  if (iree_status_is_ok(status)) {
    status = iree_hal_semaphore_wait(semaphore, done, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  }
  iree_hal_semaphore_release(semaphore);
  return status;
}

static iree_status_t multiply(iree_hal_device_t* device, iree_hal_executable_t* executable) {
  static const float inputs[2][COUNT] = {{1, 2, 3, 4, 5, 6, 7, 8}, {10, 10, 10, 10, 100, 100, 100, 100}};
  const iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING};
  float result[COUNT] = {0};
  iree_hal_buffer_t* buffers[3] = {NULL};
  iree_status_t status = iree_ok_status();
  for (int i = 0; i < 3 && iree_status_is_ok(status); ++i) {
    status = iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device), params, sizeof(result), &buffers[i]);
    if (iree_status_is_ok(status) && i < 2) {
      status = iree_hal_buffer_map_write(buffers[i], 0, inputs[i], sizeof(inputs[i]));
    }
  }
  if (iree_status_is_ok(status)) status = dispatch(device, executable, buffers);
  if (iree_status_is_ok(status)) status = iree_hal_buffer_map_read(buffers[2], 0, result, sizeof(result));
  for (int i = 0; i < 3; ++i) iree_hal_buffer_release(buffers[i]);
  for (int i = 0; i < COUNT && iree_status_is_ok(status); ++i) printf("%g%s", result[i], i + 1 < COUNT ? " " : "\n");
  return status;
}

static iree_status_t run(iree_hal_device_t* device, iree_const_byte_span_t kernel) {
  iree_hal_executable_cache_t* cache = NULL;
  iree_hal_executable_t* executable = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_create(device, IREE_SV("sample"), &cache));
  iree_status_t status = load_kernel(cache, kernel, &executable);
  if (iree_status_is_ok(status)) status = multiply(device, executable);
  iree_hal_executable_release(executable);
  iree_hal_executable_cache_release(cache);
  return status;
}

int main(int argc, char** argv) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  iree_hal_driver_registry_t* registry = iree_hal_driver_registry_default();
  iree_hal_device_t* device = NULL;
  iree_io_file_contents_t* kernel = NULL;
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = iree_hal_register_all_available_drivers(registry);
  if (iree_status_is_ok(status)) {
    status = iree_hal_create_device(registry, iree_make_cstring_view(FLAG_device), &params, allocator, &device);
  }
  if (iree_status_is_ok(status)) {
    status = iree_io_file_contents_read(iree_make_cstring_view(FLAG_kernel), allocator, &kernel);
  }
  if (iree_status_is_ok(status)) status = run(device, kernel->const_buffer);
  iree_io_file_contents_free(kernel);
  iree_hal_device_release(device);
  if (iree_status_is_ok(status)) return 0;
  int code = (int)iree_status_code(status);
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return code;
}
