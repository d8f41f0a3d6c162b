// Logical devices: creation and everything but their queues.
#include "hal/amdgpu/logical_device.h"

#include "hal/amdgpu/operation.h"

enum { MAX_QUEUES = 64 };

//===----------------------------------------------------------------------------------------------------------------===
// The service thread
//===----------------------------------------------------------------------------------------------------------------===

static operation_t* pop_host(logical_device_t* device, bool* out_is_closing) {
  iree_slim_mutex_lock(&device->base.mutex);
  operation_t* op = device->host_head;
  if (op) device->host_head = (operation_t*)op->base.next;
  if (!device->host_head) device->host_tail = NULL;
  *out_is_closing = device->is_closing;
  iree_slim_mutex_unlock(&device->base.mutex);
  return op;
}

static bool has_host_work(void* arg) {
  logical_device_t* device = (logical_device_t*)arg;
  iree_slim_mutex_lock(&device->base.mutex);
  bool result = device->host_head || device->is_closing;
  iree_slim_mutex_unlock(&device->base.mutex);
  return result;
}

static int service_main(void* arg) {
  logical_device_t* device = (logical_device_t*)arg;
  for (bool is_closing = false;;) {
    operation_t* op = pop_host(device, &is_closing);
    if (op) {
      operation_run_on_host(op);
    } else if (is_closing) {
      return 0;
    } else {
      iree_notification_await(&device->host_ready, has_host_work, device, iree_infinite_timeout());
    }
  }
}

static void stop_service(logical_device_t* device) {
  if (!device->service) return;
  iree_slim_mutex_lock(&device->base.mutex);
  device->is_closing = true;
  iree_slim_mutex_unlock(&device->base.mutex);
  iree_notification_post(&device->host_ready, 1);
  iree_thread_release(device->service);
}

//===----------------------------------------------------------------------------------------------------------------===
// Calls
//===----------------------------------------------------------------------------------------------------------------===

static void amdgpu_destroy(iree_hal_device_t* base) {
  logical_device_t* device = (logical_device_t*)base;
  if (hal_queued_destroy_elsewhere(&device->base, amdgpu_destroy)) return;
  hal_queued_close(&device->base);
  stop_service(device);
  for (uint32_t i = 0; i < device->domain.physical_count; ++i) {
    physical_device_deinitialize(device->system->hsa, &device->physical[i]);
  }
  hal_queued_deinitialize(&device->base);
  iree_status_free((iree_status_t)device->failure);
  iree_notification_deinitialize(&device->host_ready);
  system_release(device->system);
  iree_allocator_free(device->base.host_allocator, device);
}

static iree_status_t amdgpu_query_i64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                                      int64_t* out_value) {
  logical_device_t* device = (logical_device_t*)base;
  hal_device_facts_t facts = {
      .queue_count = device->domain.physical_count * device->domain.queue_count,
      .dispatch_concurrency = iree_max(device->physical[0].gpu->compute_units, 1u),
      .takes_format = amdgpu_takes_format,
  };
  return hal_device_query_facts(&device->base, category, key, &facts, out_value);
}

iree_status_t amdgpu_create_executable_cache(iree_hal_device_t* base, iree_string_view_t identifier,
                                             iree_hal_executable_cache_t** out_executable_cache) {
  return amdgpu_executable_cache_create((logical_device_t*)base, out_executable_cache);
}

iree_status_t amdgpu_create_semaphore(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                      uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                      iree_hal_semaphore_t** out_semaphore) {
  return amdgpu_semaphore_create((logical_device_t*)base, queue_affinity, initial_value, flags, out_semaphore);
}

void logical_device_fail(logical_device_t* device, iree_status_t status) {
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(&device->failure, &expected, (intptr_t)status, iree_memory_order_acq_rel,
                                           iree_memory_order_relaxed)) {
    iree_status_free(status);
  }
}

iree_status_t logical_device_clone_failure(logical_device_t* device) {
  return iree_status_clone((iree_status_t)iree_atomic_load(&device->failure, iree_memory_order_acquire));
}

static const iree_hal_device_vtable_t amdgpu_vtable = {
    HAL_QUEUED_DEVICE_CALLS,
    .destroy = amdgpu_destroy,
    .query_i64 = amdgpu_query_i64,
    .create_command_buffer = amdgpu_create_command_buffer,
    .create_executable_cache = amdgpu_create_executable_cache,
    .create_semaphore = amdgpu_create_semaphore,
    .queue_fill = amdgpu_queue_fill,
    .queue_update = amdgpu_queue_update,
    .queue_copy = amdgpu_queue_copy,
    .queue_dispatch = amdgpu_queue_dispatch,
    .queue_execute = amdgpu_queue_execute,
};

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t initialize(logical_device_t* device) {
  IREE_RETURN_IF_ERROR(amdgpu_allocator_create(device, &device->base.allocator));
  for (uint32_t i = 0; i < device->domain.physical_count; ++i) {
    IREE_RETURN_IF_ERROR(physical_device_initialize(device, device->domain.queue_count, &device->physical[i]));
  }
  iree_thread_create_params_t thread = {.name = IREE_SV("amdgpu-service")};
  return iree_thread_create(service_main, device, thread, device->base.host_allocator, &device->service);
}

static iree_status_t choose_domain(uint64_t mask, const logical_device_options_t* options,
                                   queue_affinity_domain_t* out_domain) {
  *out_domain = (queue_affinity_domain_t){
      .physical_count = (uint32_t)__builtin_popcountll(mask),
      .queue_count = options->queue_count ? options->queue_count : LOGICAL_DEVICE_DEFAULT_QUEUES,
  };
  if (out_domain->queue_count > PHYSICAL_DEVICE_MAX_QUEUES ||
      out_domain->physical_count * out_domain->queue_count > MAX_QUEUES) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%u GPUs with %u queues each are more than the %d queues that a device can have",
                            out_domain->physical_count, out_domain->queue_count, MAX_QUEUES);
  }
  return iree_ok_status();
}

iree_status_t logical_device_create(system_t* system, uint64_t mask, const logical_device_options_t* options,
                                    const iree_hal_device_create_params_t* create_params,
                                    iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  queue_affinity_domain_t domain;
  IREE_RETURN_IF_ERROR(choose_domain(mask, options, &domain));
  logical_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*device), domain.physical_count,
                                                          sizeof(device->physical[0]), (void**)&device));
  iree_hal_resource_initialize(&amdgpu_vtable, &device->base.resource);
  device->base.host_allocator = host_allocator;
  device->base.identifier = IREE_SV("amdgpu");
  device->base.proactor_pool = create_params ? create_params->proactor_pool : NULL;
  device->base.interface = &operation_interface;
  device->base.block_alignment = AMDGPU_MAX_ALIGNMENT;
  device->base.pooled_operation_size = options->user.host_block_pool_small_size;
  hal_queued_initialize(&device->base);
  device->system = system;
  system_retain(system);
  device->options = *options;
  device->domain = domain;
  iree_notification_initialize(&device->host_ready);
  for (uint32_t i = 0, ordinal = 0; i < system->gpu_count; ++i) {
    if (!(mask >> i & 1)) continue;
    device->physical[ordinal].gpu = &system->gpus[i];
    device->physical[ordinal].ordinal = ordinal;
    ++ordinal;
  }
  iree_status_t status = initialize(device);
  if (!iree_status_is_ok(status)) {
    amdgpu_destroy((iree_hal_device_t*)device);
    return status;
  }
  *out_device = (iree_hal_device_t*)device;
  return iree_ok_status();
}
