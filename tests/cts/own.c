// Devices of a test's own, and what is made on them.
#include "cts.h"

static cts_own_t open_on(iree_hal_device_t* device) {
  cts_own_t own = {.device = device};
  static const uint32_t constants[] = {CTS_CONSTANT_VALUE};
  CHECK_OK(iree_hal_executable_cache_create(own.device, IREE_SV("own"), &own.cache));
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.executable_format = iree_make_cstring_view(cts.format);
  params.executable_data = cts.kernels->const_buffer;
  params.constant_count = cts.is_gpu ? 0 : 1;
  params.constants = constants;
  CHECK_OK(iree_hal_executable_cache_prepare_executable(own.cache, &params, &own.executable));
  return own;
}

cts_own_t cts_own_open(void) { return open_on(cts_create_device()); }

cts_own_t cts_own_open_at(int ordinal) { return open_on(cts_create_device_at(ordinal)); }

void cts_own_close(cts_own_t* own) {
  iree_hal_executable_release(own->executable);
  iree_hal_executable_cache_release(own->cache);
  iree_hal_device_release(own->device);
}

iree_hal_semaphore_t* cts_semaphore_of(iree_hal_device_t* device) {
  iree_hal_semaphore_t* semaphore = NULL;
  IREE_CHECK_OK(
      iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  return semaphore;
}

iree_hal_buffer_t* cts_buffer_of(iree_hal_device_t* device, iree_device_size_t size) {
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
  };
  iree_hal_buffer_t* buffer = NULL;
  IREE_CHECK_OK(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device), params, size, &buffer));
  IREE_CHECK_OK(iree_hal_buffer_map_zero(buffer, 0, IREE_HAL_WHOLE_BUFFER));
  return buffer;
}
