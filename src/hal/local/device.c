// Local devices: creation and everything but their queues.
#include "hal/local/device.h"

#include "hal/local/command_buffer.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/internal/cpu.h"
#include "iree/hal/drivers/local_sync/sync_device.h"
#include "iree/hal/drivers/local_task/task_device.h"

#define DEFAULT_BLOCK_SIZE (32 * 1024)
#define DEFAULT_INLINE_THRESHOLD (64 * 1024)

iree_task_executor_t* local_device_executor(local_device_t* device, iree_hal_queue_affinity_t affinity) {
  iree_hal_queue_affinity_t all = device->queue_count == 64 ? ~0ull : (1ull << device->queue_count) - 1;
  affinity &= all;
  iree_task_executor_t* executor = device->executors[affinity ? iree_hal_queue_affinity_find_first_set(affinity) : 0];
  return executor && executor_has_threads(executor) ? executor : NULL;
}

local_program_params_t local_device_program_params(local_device_t* device, iree_hal_queue_affinity_t affinity) {
  iree_task_executor_t* executor = local_device_executor(device, affinity);
  return (local_program_params_t){
      .worker_count = executor ? (uint32_t)iree_task_executor_worker_count(executor) : 1,
      .retain = true,
      .block_size = device->block_size,
      .inline_threshold = device->inline_threshold,
      .host_allocator = device->host_allocator,
  };
}

static void local_destroy(iree_hal_device_t* base) {
  local_device_t* device = (local_device_t*)base;
  iree_allocator_t host_allocator = device->host_allocator;
  local_queue_close(device);
  local_cache_trim(device);
  for (iree_host_size_t i = 0; i < device->queue_count; ++i) iree_task_executor_release(device->executors[i]);
  for (iree_host_size_t i = 0; i < device->loader_count; ++i) iree_hal_executable_loader_release(device->loaders[i]);
  if (device->idle_worker) local_worker_finish(device->idle_worker);
  iree_allocator_free(host_allocator, device->idle_worker);
  iree_allocator_free(host_allocator, device->loaders);
  iree_allocator_free(host_allocator, (void*)device->identifier.data);
  iree_hal_allocator_release(device->allocator);
  iree_async_proactor_pool_release(device->proactor_pool);
  iree_allocator_free(host_allocator, device);
}

static iree_string_view_t local_id(iree_hal_device_t* base) { return ((local_device_t*)base)->identifier; }

static iree_allocator_t local_host_allocator(iree_hal_device_t* base) {
  return ((local_device_t*)base)->host_allocator;
}

static iree_hal_allocator_t* local_allocator(iree_hal_device_t* base) { return ((local_device_t*)base)->allocator; }

static void local_replace_allocator(iree_hal_device_t* base, iree_hal_allocator_t* new_allocator) {
  local_device_t* device = (local_device_t*)base;
  local_cache_trim(device);
  iree_hal_allocator_retain(new_allocator);
  iree_hal_allocator_release(device->allocator);
  device->allocator = new_allocator;
}

static iree_status_t local_trim(iree_hal_device_t* base) {
  local_device_t* device = (local_device_t*)base;
  local_cache_trim(device);
  return iree_hal_allocator_trim(device->allocator);
}

static iree_host_size_t worker_count(local_device_t* device) {
  iree_host_size_t count = 0;
  for (iree_host_size_t i = 0; i < device->queue_count; ++i) {
    count += device->executors[i] ? iree_task_executor_worker_count(device->executors[i]) : 1;
  }
  return count;
}

static iree_status_t local_query_i64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                                     int64_t* out_value) {
  local_device_t* device = (local_device_t*)base;
  *out_value = 0;
  if (iree_string_view_equal(category, IREE_SV("hal.device.id"))) {
    *out_value = iree_string_view_match_pattern(device->identifier, key);
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.executable.format"))) {
    *out_value = iree_hal_query_any_executable_loader_support(device->loader_count, device->loaders, 0, key);
    return iree_ok_status();
  }
  if (iree_string_view_equal(category, IREE_SV("hal.cpu"))) return iree_cpu_lookup_data_by_key(key, out_value);
  if (iree_string_view_equal(key, IREE_SV("concurrency"))) {
    if (iree_string_view_equal(category, IREE_SV("hal.device"))) *out_value = (int64_t)device->queue_count;
    if (iree_string_view_equal(category, IREE_SV("hal.dispatch"))) *out_value = (int64_t)worker_count(device);
    if (*out_value) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND, "unknown device configuration key value '%.*s :: %.*s'",
                          (int)category.size, category.data, (int)key.size, key.data);
}

static iree_hal_semaphore_compatibility_t local_query_semaphore_compatibility(iree_hal_device_t* base,
                                                                              iree_hal_semaphore_t* semaphore) {
  return IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL;  // all are timelines on the host
}

iree_status_t local_create_command_buffer(iree_hal_device_t* base, iree_hal_command_buffer_mode_t mode,
                                          iree_hal_command_category_t categories,
                                          iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                                          iree_hal_command_buffer_t** out_command_buffer) {
  local_program_params_t params = local_device_program_params((local_device_t*)base, queue_affinity);
  return local_command_buffer_create(mode, categories, queue_affinity, binding_capacity, &params, out_command_buffer);
}

iree_status_t local_create_executable_cache(iree_hal_device_t* base, iree_string_view_t identifier,
                                            iree_hal_executable_cache_t** out_executable_cache) {
  return local_executable_cache_create((local_device_t*)base, out_executable_cache);
}

iree_status_t local_import_file(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                iree_hal_external_file_flags_t flags, iree_hal_file_t** out_file) {
  return iree_hal_file_from_handle(access, handle, ((local_device_t*)base)->host_allocator, out_file);
}

iree_status_t local_create_semaphore(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                     uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                     iree_hal_semaphore_t** out_semaphore) {
  local_device_t* device = (local_device_t*)base;
  return local_semaphore_create(local_device_executor(device, queue_affinity), initial_value, device->host_allocator,
                                out_semaphore);
}

static const iree_hal_device_vtable_t local_vtable = {
    .destroy = local_destroy,
#define CALL(result, name, parameters, arguments) .name = local_##name,
#include "iree/hal/device_calls.def"
#undef CALL
};

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t device_initialize(local_device_t* device, const local_device_params_t* params) {
  void* identifier = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, params->identifier.size + 1, &identifier));
  iree_string_view_to_cstring(params->identifier, (char*)identifier, params->identifier.size + 1);
  device->identifier = iree_make_string_view((const char*)identifier, params->identifier.size);
  if (params->loader_count == 0) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(device->host_allocator, params->loader_count,
                                                   sizeof(device->loaders[0]), (void**)&device->loaders));
  device->loader_count = params->loader_count;
  for (iree_host_size_t i = 0; i < params->loader_count; ++i) {
    device->loaders[i] = params->loaders[i];
    iree_hal_executable_loader_retain(device->loaders[i]);
  }
  return iree_ok_status();
}

iree_status_t local_device_create(const local_device_params_t* params, iree_allocator_t host_allocator,
                                  iree_hal_device_t** out_device) {
  *out_device = NULL;
  local_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*device), params->queue_count,
                                                          sizeof(device->executors[0]), (void**)&device));
  iree_hal_resource_initialize(&local_vtable, &device->resource);
  device->host_allocator = host_allocator;
  device->block_size = params->block_size ? params->block_size : DEFAULT_BLOCK_SIZE;
  device->inline_threshold = params->inline_threshold;
  device->aborts_on_failure = params->aborts_on_failure;
  device->allocator = params->allocator;
  iree_hal_allocator_retain(device->allocator);
  device->proactor_pool = params->proactor_pool;
  iree_async_proactor_pool_retain(device->proactor_pool);
  iree_slim_mutex_initialize(&device->mutex);
  device->queue_count = params->queue_count;
  for (iree_host_size_t i = 0; i < params->queue_count && params->executors; ++i) {
    device->executors[i] = params->executors[i];
    iree_task_executor_retain(device->executors[i]);
  }
  iree_status_t status = device_initialize(device, params);
  if (!iree_status_is_ok(status)) {
    local_destroy((iree_hal_device_t*)device);
    return status;
  }
  *out_device = (iree_hal_device_t*)device;
  return iree_ok_status();
}

void iree_hal_sync_device_params_initialize(iree_hal_sync_device_params_t* out_params) {
  out_params->arena_block_size = DEFAULT_BLOCK_SIZE;
}

iree_status_t iree_hal_sync_device_create(iree_string_view_t identifier, const iree_hal_sync_device_params_t* params,
                                          const iree_hal_device_create_params_t* create_params,
                                          iree_host_size_t loader_count, iree_hal_executable_loader_t** loaders,
                                          iree_hal_allocator_t* device_allocator, iree_allocator_t host_allocator,
                                          iree_hal_device_t** out_device) {
  local_device_params_t local_params = {
      .identifier = identifier,
      .block_size = params->arena_block_size,
      .inline_threshold = IREE_DEVICE_SIZE_MAX,
      .queue_count = 1,
      .loader_count = loader_count,
      .loaders = loaders,
      .allocator = device_allocator,
      .proactor_pool = create_params ? create_params->proactor_pool : NULL,
  };
  return local_device_create(&local_params, host_allocator, out_device);
}

void iree_hal_task_device_params_initialize(iree_hal_task_device_params_t* out_params) {
  out_params->arena_block_size = DEFAULT_BLOCK_SIZE;
  out_params->queue_scope_flags = IREE_TASK_SCOPE_FLAG_NONE;
  out_params->inline_transfer_threshold = DEFAULT_INLINE_THRESHOLD;
}

iree_status_t iree_hal_task_device_create(iree_string_view_t identifier, const iree_hal_task_device_params_t* params,
                                          iree_host_size_t queue_count, iree_task_executor_t* const* queue_executors,
                                          iree_host_size_t loader_count, iree_hal_executable_loader_t** loaders,
                                          iree_hal_allocator_t* device_allocator,
                                          const iree_hal_device_create_params_t* create_params,
                                          iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  if (queue_count == 0 || queue_count > IREE_HAL_MAX_QUEUES) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a task device has 1 to %d queues, not %" PRIhsz,
                            (int)IREE_HAL_MAX_QUEUES, queue_count);
  }
  local_device_params_t local_params = {
      .identifier = identifier,
      .block_size = params->arena_block_size,
      .inline_threshold = params->inline_transfer_threshold,
      .aborts_on_failure = params->queue_scope_flags & IREE_TASK_SCOPE_FLAG_ABORT_ON_FAILURE,
      .queue_count = queue_count,
      .executors = queue_executors,
      .loader_count = loader_count,
      .loaders = loaders,
      .allocator = device_allocator,
      .proactor_pool = create_params ? create_params->proactor_pool : NULL,
  };
  return local_device_create(&local_params, host_allocator, out_device);
}
