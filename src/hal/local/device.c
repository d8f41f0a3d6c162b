// Local devices: creation and everything but their queues.
#include "hal/local/device.h"

#include "hal/local/counters.h"
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

iree_status_t local_device_record(local_device_t* device, const hal_recorded_params_t* params,
                                  iree_hal_command_buffer_t** out_command_buffer) {
  iree_task_executor_t* executor = local_device_executor(device, params->queue_affinity);
  local_program_params_t program_params = {
      .worker_count = executor ? (uint32_t)iree_task_executor_worker_count(executor) : 1,
      .inline_threshold = device->inline_threshold,
      .host_allocator = params->host_allocator,
  };
  *out_command_buffer = params->home ? hal_recorded_take(params) : NULL;
  if (*out_command_buffer) {
    local_program_set_workers(local_program_of(*out_command_buffer), program_params.worker_count);
    return iree_ok_status();
  }
  local_program_t* program = NULL;
  IREE_RETURN_IF_ERROR(local_program_create(&program_params, &program));
  return hal_recorded_create(params, &local_lowering, program, out_command_buffer);
}

static void local_destroy(iree_hal_device_t* base) {
  local_device_t* device = (local_device_t*)base;
  if (hal_queued_destroy_elsewhere(&device->base, local_destroy)) return;
  iree_allocator_t host_allocator = device->base.host_allocator;
  hal_queued_close(&device->base);
  for (iree_host_size_t i = 0; i < device->queue_count; ++i) iree_task_executor_release(device->executors[i]);
  for (iree_host_size_t i = 0; i < device->loader_count; ++i) iree_hal_executable_loader_release(device->loaders[i]);
  hal_recorded_free_idle(&device->single_command_buffers);
  hal_idle_list_deinitialize(&device->single_command_buffers);
  local_device_free_workers(device);
  hal_idle_list_deinitialize(&device->idle_workers);
  iree_allocator_free(host_allocator, device->loaders);
  iree_allocator_free(host_allocator, (void*)device->base.identifier.data);
  hal_queued_deinitialize(&device->base);
  iree_allocator_free(host_allocator, device);
}

static iree_host_size_t worker_count(local_device_t* device) {
  iree_host_size_t count = 0;
  for (iree_host_size_t i = 0; i < device->queue_count; ++i) {
    count += device->executors[i] ? iree_task_executor_worker_count(device->executors[i]) : 1;
  }
  return count;
}

static bool takes_format(hal_queued_device_t* base, iree_string_view_t format) {
  local_device_t* device = (local_device_t*)base;
  return iree_hal_query_any_executable_loader_support(device->loader_count, device->loaders, 0, format);
}

static iree_status_t local_query_i64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                                     int64_t* out_value) {
  local_device_t* device = (local_device_t*)base;
  *out_value = 0;
  if (iree_string_view_equal(category, IREE_SV("hal.cpu"))) return iree_cpu_lookup_data_by_key(key, out_value);
  hal_device_facts_t facts = {(int64_t)device->queue_count, (int64_t)worker_count(device), takes_format};
  return hal_device_query_facts(&device->base, category, key, &facts, out_value);
}

iree_status_t local_create_command_buffer(iree_hal_device_t* base, iree_hal_command_buffer_mode_t mode,
                                          iree_hal_command_category_t categories,
                                          iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                                          iree_hal_command_buffer_t** out_command_buffer) {
  local_device_t* device = (local_device_t*)base;
  hal_recorded_params_t params = {
      mode, categories, queue_affinity, binding_capacity, device->block_size, NULL, device->base.host_allocator};
  return local_device_record(device, &params, out_command_buffer);
}

iree_status_t local_create_executable_cache(iree_hal_device_t* base, iree_string_view_t identifier,
                                            iree_hal_executable_cache_t** out_executable_cache) {
  const local_device_t* device = (const local_device_t*)base;
  iree_host_size_t most = 1;  // workers of an executor
  for (iree_host_size_t i = 0; i < device->queue_count && device->executors[i]; ++i) {
    iree_host_size_t workers = iree_task_executor_worker_count(device->executors[i]);
    most = iree_max(most, workers);
  }
  return local_executable_cache_create(device->loader_count, device->loaders, most, device->base.host_allocator,
                                       out_executable_cache);
}

iree_status_t local_create_semaphore(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                     uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                     iree_hal_semaphore_t** out_semaphore) {
  local_device_t* device = (local_device_t*)base;
  return local_semaphore_create(local_device_executor(device, queue_affinity), initial_value,
                                device->base.host_allocator, out_semaphore);
}

static const iree_hal_device_vtable_t local_vtable = {
    HAL_QUEUED_DEVICE_CALLS,
    .destroy = local_destroy,
    .query_i64 = local_query_i64,
    .create_command_buffer = local_create_command_buffer,
    .create_executable_cache = local_create_executable_cache,
    .create_semaphore = local_create_semaphore,
    .queue_fill = local_queue_fill,
    .queue_update = local_queue_update,
    .queue_copy = local_queue_copy,
    .queue_dispatch = local_queue_dispatch,
    .queue_execute = local_queue_execute,
};

//===----------------------------------------------------------------------------------------------------------------===
// Profiling
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t profile_queues(hal_queued_device_t* base, hal_profile_queue_t out_queues[HAL_PROFILE_MAX_QUEUES]) {
  uint32_t count = (uint32_t)((local_device_t*)base)->queue_count;
  for (uint32_t i = 0; i < count; ++i) out_queues[i] = (hal_profile_queue_t){.bit = i, .ordinal = i};
  return count;
}

static uint32_t profile_workers(hal_queued_device_t* base) { return (uint32_t)worker_count((local_device_t*)base); }

static iree_status_t open_metrics(hal_queued_device_t* base, uint32_t physical, hal_metrics_t** out_metrics) {
  return hal_metrics_open_host(base->host_allocator, out_metrics);
}

static const hal_profile_interface_t local_profile_interface = {
    .kind = "local",
    .runs_on_host = true,
    .families = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS |
                IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS |
                IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA | IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS |
                IREE_HAL_DEVICE_PROFILING_DATA_COMMAND_REGION_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_METRICS |
                IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES | IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES,
    .lightweight = IREE_HAL_DEVICE_PROFILING_DATA_QUEUE_EVENTS | IREE_HAL_DEVICE_PROFILING_DATA_HOST_EXECUTION_EVENTS |
                   IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_METADATA,
    .queues = profile_queues,
    .worker_count = profile_workers,
    .counting = &local_counting,
    .open_metrics = open_metrics,
};

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t device_initialize(local_device_t* device, const local_device_params_t* params) {
  void* identifier = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->base.host_allocator, params->identifier.size + 1, &identifier));
  iree_string_view_to_cstring(params->identifier, (char*)identifier, params->identifier.size + 1);
  device->base.identifier = iree_make_string_view((const char*)identifier, params->identifier.size);
  if (params->loader_count == 0) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(device->base.host_allocator, params->loader_count,
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
  iree_hal_resource_initialize(&local_vtable, &device->base.resource);
  device->base.host_allocator = host_allocator;
  device->base.interface = &local_operation_interface;
  device->base.profile_interface = &local_profile_interface;
  device->base.block_alignment = IREE_HAL_HEAP_BUFFER_ALIGNMENT;
  device->block_size = params->block_size ? params->block_size : DEFAULT_BLOCK_SIZE;
  device->inline_threshold = params->inline_threshold;
  device->base.aborts_on_failure = params->aborts_on_failure;
  device->base.allocator = params->allocator;
  device->base.proactor_pool = params->proactor_pool;
  device->base.capabilities.flags =
      IREE_HAL_DEVICE_CAPABILITY_UNIFIED_MEMORY | IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT |
      IREE_HAL_DEVICE_CAPABILITY_PEER_COHERENT | IREE_HAL_DEVICE_CAPABILITY_P2P_COPY |
      IREE_HAL_DEVICE_CAPABILITY_HOST_ZERO_COPY_OK | IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE |
      IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_DEVICE | IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_SYSTEM |
      IREE_HAL_DEVICE_CAPABILITY_PEER_ADDRESSABLE | IREE_HAL_DEVICE_CAPABILITY_SHARED_VIRTUAL_ADDRESS;
  hal_queued_initialize(&device->base);
  hal_idle_list_initialize(&device->idle_workers);
  hal_idle_list_initialize(&device->single_command_buffers);
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
