// Devices of the stream core.
#include "hal/stream/device.h"

enum { DEFAULT_QUEUES = 2, RANGE_LENGTH = 64 << 20 };

iree_status_t stream_context_retain(const stream_api_t* api, int device, stream_context_t* out_context) {
  *out_context = (stream_context_t){.api = api, .device = device};
  return STREAM_CALL(api, context_retain, &out_context->handle, device);
}

void stream_context_release(stream_context_t* context) { context->api->context_release(context->device); }

static void cuda_destroy(iree_hal_device_t* base) {
  stream_device_t* device = (stream_device_t*)base;
  if (hal_queued_destroy_elsewhere(&device->gpu.base, cuda_destroy)) return;
  iree_allocator_t host_allocator = device->gpu.base.host_allocator;
  gpu_device_close(&device->gpu);
  gpu_device_destroy_queues(&device->gpu, 0);
  hal_pool_close(device->pool);
  hal_pool_release(device->pool);
  gpu_device_deinitialize(&device->gpu);
  if (device->context.handle) stream_context_release(&device->context);
  iree_allocator_free(host_allocator, device);
}

static iree_status_t cuda_query_i64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                                    int64_t* out_value) {
  stream_device_t* device = (stream_device_t*)base;
  hal_device_facts_t facts = {
      .queue_count = device->gpu.domain.queue_count,
      .dispatch_concurrency = iree_max(device->multiprocessors, 1u),
      .takes_format = stream_takes_format,
  };
  return hal_device_query_facts(&device->gpu.base, category, key, &facts, out_value);
}

static const iree_hal_device_vtable_t cuda_vtable = {
    GPU_DEVICE_CALLS,
    .destroy = cuda_destroy,
    .query_i64 = cuda_query_i64,
};

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t query_facts(stream_device_t* device) {
  const stream_api_t* api = device->context.api;
  int handle = device->context.device, major = 0, minor = 0, units = 0, shared = 0, managed = 0;
  size_t memory = 0;
  const struct {
    int attribute;
    int* value;
  } rows[] = {
      {STREAM_API_CAPABILITY_MAJOR, &major},
      {STREAM_API_CAPABILITY_MINOR, &minor},
      {STREAM_API_MULTIPROCESSORS, &units},
      {STREAM_API_MAX_SHARED_MEMORY_OPTIN, &shared},
      {STREAM_API_HAS_CONCURRENT_MANAGED_ACCESS, &managed},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_attribute, rows[i].value, rows[i].attribute, handle));
  }
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_memory, &memory, handle));
  device->capability = (uint32_t)(major * 10 + minor);
  snprintf(device->architecture, sizeof(device->architecture), "sm_%u", device->capability);
  device->multiprocessors = (uint32_t)units;
  device->max_shared_memory = (uint32_t)shared;
  device->has_managed_memory = managed != 0;
  device->memory_size = memory;
  return iree_ok_status();
}

static iree_status_t create_pool(stream_device_t* device) {
  gpu_device_t* gpu = &device->gpu;
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH,
      .queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY,
  };
  hal_pool_params_t pool = {.range_length = RANGE_LENGTH, .is_over = gpu_device_is_over, .user_data = gpu};
  iree_device_size_t size = pool.range_length;
  iree_hal_allocator_query_buffer_compatibility(gpu->base.allocator, params, size, &pool.buffer, &size);
  return hal_pool_create(&pool, gpu->base.allocator, gpu->base.host_allocator, &device->pool);
}

static iree_status_t initialize(stream_device_t* device, const stream_api_t* api, int ordinal,
                                const stream_device_options_t* options) {
  int handle = 0;
  IREE_RETURN_IF_ERROR(gpu_device_initialize(&device->gpu));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_get, &handle, ordinal));
  IREE_RETURN_IF_ERROR(stream_context_retain(api, handle, &device->context));
  IREE_RETURN_IF_ERROR(query_facts(device));
  IREE_RETURN_IF_ERROR(stream_allocator_create(device, &device->gpu.base.allocator));
  IREE_RETURN_IF_ERROR(create_pool(device));
  for (uint32_t i = 0; i < device->gpu.domain.queue_count; ++i) {
    IREE_RETURN_IF_ERROR(stream_queue_create(device, i, options->depth, &device->gpu.queues[i]));
  }
  return iree_ok_status();
}

iree_status_t stream_device_create(const stream_api_t* api, int ordinal, const stream_device_options_t* options,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  enum { BLOCK_ALIGNMENT = 256 };
  *out_device = NULL;
  stream_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*device), (void**)&device));
  hal_queued_device_t* base = &device->gpu.base;
  iree_hal_resource_initialize(&cuda_vtable, &base->resource);
  base->host_allocator = host_allocator;
  base->identifier = IREE_SV("cuda");
  base->proactor_pool = create_params ? create_params->proactor_pool : NULL;
  base->block_alignment = BLOCK_ALIGNMENT;
  device->gpu.backend = &stream_backend;
  device->gpu.domain = (gpu_domain_t){1, options->queue_count ? options->queue_count : DEFAULT_QUEUES};
  iree_status_t status = initialize(device, api, ordinal, options);
  if (!iree_status_is_ok(status)) {
    cuda_destroy((iree_hal_device_t*)device);
    return status;
  }
  *out_device = (iree_hal_device_t*)device;
  return iree_ok_status();
}
