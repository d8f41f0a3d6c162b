// Logical devices: creation and everything but their queues.
#include "hal/amdgpu/device.h"

#include "hal/amdgpu/command_buffer.h"
#include "hal/amdgpu/host_queue.h"
#include "iree/async/util/proactor_pool.h"

//===----------------------------------------------------------------------------------------------------------------===
// The service thread
//===----------------------------------------------------------------------------------------------------------------===

static operation_t* pop_host(amdgpu_device_t* device, bool* out_is_closing) {
  iree_slim_mutex_lock(&device->mutex);
  operation_t* op = device->host_head;
  if (op) device->host_head = op->next;
  if (!device->host_head) device->host_tail = NULL;
  *out_is_closing = device->is_closing;
  iree_slim_mutex_unlock(&device->mutex);
  return op;
}

static bool has_host_work(void* arg) {
  amdgpu_device_t* device = (amdgpu_device_t*)arg;
  iree_slim_mutex_lock(&device->mutex);
  bool result = device->host_head || device->is_closing;
  iree_slim_mutex_unlock(&device->mutex);
  return result;
}

static int service_main(void* arg) {
  amdgpu_device_t* device = (amdgpu_device_t*)arg;
  for (bool is_closing = false;;) {
    operation_t* op = pop_host(device, &is_closing);
    if (op) {
      host_operation_run(op);
    } else if (is_closing) {
      return 0;
    } else {
      iree_notification_await(&device->host_ready, has_host_work, device, iree_infinite_timeout());
    }
  }
}

static void stop_service(amdgpu_device_t* device) {
  if (!device->service) return;
  iree_slim_mutex_lock(&device->mutex);
  device->is_closing = true;
  iree_slim_mutex_unlock(&device->mutex);
  iree_notification_post(&device->host_ready, 1);
  iree_thread_release(device->service);
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

static void amdgpu_destroy(iree_hal_device_t* base) {
  amdgpu_device_t* device = (amdgpu_device_t*)base;
  operation_close_all(device);
  stop_service(device);
  for (uint32_t i = 0; i < device->physical_count; ++i) {
    physical_device_t* physical = &device->physical[i];
    if (physical->queue) physical->queue->vtable->destroy(physical->queue);
    library_destroy(device->system->hsa, &physical->library);
  }
  amdgpu_cache_trim(device);
  iree_hal_allocator_release(device->allocator);
  iree_async_proactor_pool_release(device->proactor_pool);
  iree_notification_deinitialize(&device->host_ready);
  iree_slim_mutex_deinitialize(&device->mutex);
  system_release(device->system);
  iree_allocator_free(device->host_allocator, device);
}

static iree_string_view_t amdgpu_id(iree_hal_device_t* base) { return IREE_SV("amdgpu"); }

static iree_allocator_t amdgpu_host_allocator(iree_hal_device_t* base) {
  return ((amdgpu_device_t*)base)->host_allocator;
}

static iree_hal_allocator_t* amdgpu_allocator(iree_hal_device_t* base) { return ((amdgpu_device_t*)base)->allocator; }

static void amdgpu_replace_allocator(iree_hal_device_t* base, iree_hal_allocator_t* new_allocator) {
  amdgpu_device_t* device = (amdgpu_device_t*)base;
  amdgpu_cache_trim(device);
  iree_hal_allocator_retain(new_allocator);
  iree_hal_allocator_release(device->allocator);
  device->allocator = new_allocator;
}

static iree_status_t amdgpu_trim(iree_hal_device_t* base) {
  amdgpu_device_t* device = (amdgpu_device_t*)base;
  amdgpu_cache_trim(device);
  return iree_hal_allocator_trim(device->allocator);
}

static int64_t takes_format(amdgpu_device_t* device, iree_string_view_t format) {
  iree_hal_executable_cache_t* cache = NULL;
  iree_status_t status = amdgpu_executable_cache_create(device, &cache);
  if (iree_status_consume_code(status) != IREE_STATUS_OK) return 0;
  int64_t result = iree_hal_executable_cache_can_prepare_format(cache, 0, format);
  iree_hal_executable_cache_release(cache);
  return result;
}

static iree_status_t amdgpu_query_i64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                                      int64_t* out_value) {
  amdgpu_device_t* device = (amdgpu_device_t*)base;
  *out_value = 0;
  if (iree_string_view_equal(category, IREE_SV("hal.device.id"))) {
    *out_value = iree_string_view_match_pattern(amdgpu_id(base), key);
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.executable.format"))) {
    *out_value = takes_format(device, key);
    return iree_ok_status();
  }
  if (iree_string_view_equal(key, IREE_SV("concurrency"))) {
    if (iree_string_view_equal(category, IREE_SV("hal.device"))) *out_value = device->physical_count;
    if (iree_string_view_equal(category, IREE_SV("hal.dispatch"))) {
      *out_value = iree_max(device->physical[0].gpu->compute_units, 1u);
    }
    if (*out_value) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "unknown device configuration key value '%.*s :: %.*s'",
                          (int)category.size, category.data, (int)key.size, key.data);
}

static iree_hal_semaphore_compatibility_t amdgpu_query_semaphore_compatibility(iree_hal_device_t* base,
                                                                               iree_hal_semaphore_t* semaphore) {
  return IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL;  // all are timelines on the host
}

iree_status_t amdgpu_create_command_buffer(iree_hal_device_t* base, iree_hal_command_buffer_mode_t mode,
                                           iree_hal_command_category_t categories,
                                           iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                                           iree_hal_command_buffer_t** out_command_buffer) {
  return amdgpu_command_buffer_create((amdgpu_device_t*)base, mode, categories, queue_affinity, binding_capacity,
                                      out_command_buffer);
}

iree_status_t amdgpu_create_executable_cache(iree_hal_device_t* base, iree_string_view_t identifier,
                                             iree_hal_executable_cache_t** out_executable_cache) {
  return amdgpu_executable_cache_create((amdgpu_device_t*)base, out_executable_cache);
}

iree_status_t amdgpu_import_file(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                 iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                 iree_hal_external_file_flags_t flags, iree_hal_file_t** out_file) {
  return iree_hal_file_from_handle(access, handle, ((amdgpu_device_t*)base)->host_allocator, out_file);
}

iree_status_t amdgpu_create_semaphore(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                      uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                      iree_hal_semaphore_t** out_semaphore) {
  return amdgpu_semaphore_create(initial_value, ((amdgpu_device_t*)base)->host_allocator, out_semaphore);
}

static const iree_hal_device_vtable_t amdgpu_vtable = {
    .destroy = amdgpu_destroy,
#define CALL(result, name, parameters, arguments) .name = amdgpu_##name,
#include "iree/hal/device_calls.def"
#undef CALL
};

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t initialize(amdgpu_device_t* device) {
  const system_gpu_t* gpus[SYSTEM_MAX_AGENTS];
  for (uint32_t i = 0; i < device->physical_count; ++i) gpus[i] = device->physical[i].gpu;
  IREE_RETURN_IF_ERROR(amdgpu_allocator_create(device->system, device->physical_count, gpus, device->host_allocator,
                                               &device->allocator));
  for (uint32_t i = 0; i < device->physical_count; ++i) {
    physical_device_t* physical = &device->physical[i];
    IREE_RETURN_IF_ERROR(library_create(device->system->hsa, physical->gpu, &physical->library));
    IREE_RETURN_IF_ERROR(host_queue_create(device, physical, &physical->queue));
  }
  iree_thread_create_params_t thread = {.name = IREE_SV("amdgpu-service")};
  return iree_thread_create(service_main, device, thread, device->host_allocator, &device->service);
}

iree_status_t amdgpu_device_create(system_t* system, uint64_t mask, const amdgpu_device_options_t* options,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  uint32_t count = (uint32_t)__builtin_popcountll(mask);
  amdgpu_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*device), count,
                                                          sizeof(device->physical[0]), (void**)&device));
  iree_hal_resource_initialize(&amdgpu_vtable, &device->resource);
  device->host_allocator = host_allocator;
  device->system = system;
  system_retain(system);
  device->options = *options;
  device->proactor_pool = create_params ? create_params->proactor_pool : NULL;
  iree_async_proactor_pool_retain(device->proactor_pool);
  iree_slim_mutex_initialize(&device->mutex);
  iree_notification_initialize(&device->host_ready);
  for (uint32_t i = 0; i < system->gpu_count; ++i) {
    if (!(mask >> i & 1)) continue;
    physical_device_t* physical = &device->physical[device->physical_count];
    physical->gpu = &system->gpus[i];
    physical->ordinal = device->physical_count++;
  }
  iree_status_t status = initialize(device);
  if (!iree_status_is_ok(status)) {
    amdgpu_destroy((iree_hal_device_t*)device);
    return status;
  }
  *out_device = (iree_hal_device_t*)device;
  return iree_ok_status();
}
