// Devices of the stream core.
#include "hal/stream/code.h"
#include "hal/stream/nccl.h"
#include "hal/stream/queue.h"

enum { DEFAULT_QUEUES = 2, RANGE_LENGTH = 64 << 20, BLOCK_ALIGNMENT = 256 };

iree_status_t stream_context_retain(const stream_api_t* api, int device, stream_context_t* out_context) {
  *out_context = (stream_context_t){.api = api, .device = device};
  return STREAM_CALL(api, context_retain, &out_context->handle, device);
}

void stream_context_release(stream_context_t* context) {
  if (context->handle) context->api->context_release(context->device);
  context->handle = NULL;
}

static iree_atomic_uint32_t user_count;

void stream_users_add(void) { iree_atomic_fetch_add(&user_count, 1, iree_memory_order_seq_cst); }

void stream_users_remove(void) { iree_atomic_fetch_sub(&user_count, 1, iree_memory_order_seq_cst); }

bool stream_device_is_alone(void) { return iree_atomic_load(&user_count, iree_memory_order_seq_cst) == 1; }

static void stream_destroy(iree_hal_device_t* base) {
  stream_device_t* device = (stream_device_t*)base;
  if (hal_queued_destroy_elsewhere(&device->gpu.base, stream_destroy)) return;
  iree_allocator_t host_allocator = device->gpu.base.host_allocator;
  uint32_t count = device->gpu.domain.physical_count;
  gpu_device_close(&device->gpu);
  for (uint32_t i = 0; i < count; ++i) {
    gpu_device_destroy_queues(&device->gpu, i);
    hal_pool_close(device->gpus[i].pool);
    hal_pool_release(device->gpus[i].pool);
  }
  gpu_device_deinitialize(&device->gpu);
  for (uint32_t i = 0; i < count; ++i) {
    stream_clock_destroy(&device->gpus[i], host_allocator);
    stream_context_release(&device->gpus[i].context);
  }
  iree_slim_mutex_deinitialize(&device->clock_mutex);
  iree_allocator_free(host_allocator, device);
  stream_users_remove();
}

static iree_status_t stream_query_i64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                                      int64_t* out_value) {
  stream_device_t* device = (stream_device_t*)base;
  hal_device_facts_t facts = {
      .queue_count = device->gpu.domain.physical_count * device->gpu.domain.queue_count,
      .dispatch_concurrency = iree_max(device->gpus[0].multiprocessors, 1u),
      .takes_format = stream_takes_format,
  };
  return hal_device_query_facts(&device->gpu.base, category, key, &facts, out_value);
}

static const iree_hal_device_vtable_t stream_vtable = {
    GPU_DEVICE_CALLS,
    .destroy = stream_destroy,
    .query_i64 = stream_query_i64,
    .transfer = stream_transfer,
};

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t open_gpu(stream_device_t* device, stream_gpu_t* gpu, int ordinal) {
  const stream_api_t* api = device->api;
  int handle = 0, units = 0, shared = 0, managed = 0;
  size_t memory = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_get, &handle, ordinal));
  IREE_RETURN_IF_ERROR(stream_context_retain(api, handle, &gpu->context));
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_memory, &memory, handle));
  gpu->memory_size = memory;
  const struct {
    stream_attribute_t attribute;
    int* value;
  } rows[] = {
      {STREAM_MULTIPROCESSORS, &units},
      {STREAM_MAX_SHARED_MEMORY_OPTIN, &shared},
      {STREAM_HAS_CONCURRENT_MANAGED_ACCESS, &managed},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    IREE_RETURN_IF_ERROR(stream_api_query(api, handle, rows[i].attribute, rows[i].value));
  }
  gpu->multiprocessors = (uint32_t)units;
  gpu->max_shared_memory = (uint32_t)shared;
  gpu->has_managed_memory = managed != 0;
  return device->platform->code->identify(gpu);
}

// Lets `gpu` use memory of `peer`.
static iree_status_t enable_access(const stream_gpu_t* gpu, const stream_gpu_t* peer) {
  const stream_api_t* api = gpu->context.api;
  int can_access = 0;
  if (api->device_can_access && api->context_enable_access) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_can_access, &can_access, gpu->context.device, peer->context.device));
  }
  if (!can_access) {
    return iree_make_status(
        IREE_STATUS_UNAVAILABLE,
        "GPU %d cannot use the memory of GPU %d, as those of one device must; name them in --device= "
        "flags of their own",
        gpu->context.device, peer->context.device);
  }
  IREE_RETURN_IF_ERROR(stream_context_enter(&gpu->context));
  int result = api->context_enable_access(peer->context.handle, 0);
  if (result == STREAM_API_PEER_ACCESS_ALREADY_ENABLED) return iree_ok_status();
  return stream_api_check(api, result, api->library->symbols.context_enable_access.name);
}

static iree_status_t connect(stream_device_t* device) {
  uint32_t count = device->gpu.domain.physical_count;
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < count; ++j) {
      if (i != j) IREE_RETURN_IF_ERROR(enable_access(&device->gpus[i], &device->gpus[j]));
    }
  }
  return iree_ok_status();
}

static iree_status_t create_pool(stream_device_t* device, uint32_t physical) {
  gpu_device_t* gpu = &device->gpu;
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH,
      .queue_affinity = 1ull << physical * gpu->domain.queue_count,
  };
  hal_pool_params_t pool = {.range_length = RANGE_LENGTH, .is_over = gpu_device_is_over, .user_data = gpu};
  iree_device_size_t size = pool.range_length;
  iree_hal_allocator_query_buffer_compatibility(gpu->base.allocator, params, size, &pool.buffer, &size);
  return hal_pool_create(&pool, gpu->base.allocator, gpu->base.host_allocator, &device->gpus[physical].pool);
}

// What the library and the device must have for graphs.
static iree_status_t check_graphs(const stream_device_t* device) {
  const stream_api_t* api = device->api;
  if (device->gpu.domain.physical_count > 1) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "--%s_use_streams=false: a graph is of one GPU, and the device has %u; leave it true",
                            device->platform->backend.name, device->gpu.domain.physical_count);
  }
  int version = 0;
  IREE_RETURN_IF_ERROR(STREAM_CALL(api, driver_version, &version));
  if (version >= api->library->first_with_graphs && api->capture_begin && api->capture_end && api->graph_destroy &&
      api->capture_info && api->graph_instantiate && api->graph_executable_destroy && api->graph_set_kernel &&
      api->graph_launch) {
    return iree_ok_status();
  }
  return iree_make_status(
      IREE_STATUS_UNAVAILABLE,
      "--%s_use_streams=false: the graphs of %s (version %d) are missing or run once only; leave it true",
      device->platform->backend.name, api->path, version);
}

static iree_status_t choose_graphs(stream_device_t* device) {
  if (device->options.graphs == STREAM_GRAPHS_NEVER) return iree_ok_status();
  iree_status_t status = check_graphs(device);
  device->makes_graphs = iree_status_is_ok(status);
  return device->options.graphs == STREAM_GRAPHS_ALWAYS ? status : iree_status_ignore(status);
}

// Memory is within reach of this device's GPUs only.
static iree_status_t find_capabilities(stream_device_t* device) {
  iree_hal_device_capabilities_t* capabilities = &device->gpu.base.capabilities;
  uint32_t count = device->gpu.domain.physical_count;
  bool is_coherent = true;
  for (uint32_t i = 0; i < count; ++i) is_coherent &= device->gpus[i].has_managed_memory;
  capabilities->flags = IREE_HAL_DEVICE_CAPABILITY_HOST_ZERO_COPY_OK | IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE |
                        IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_DEVICE;
  if (is_coherent) capabilities->flags |= IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT;
  if (count > 1) return iree_ok_status();
  capabilities->has_physical_device_uuid = true;
  return STREAM_CALL(device->api, device_uuid, capabilities->physical_device_uuid, device->gpus[0].context.device);
}

static iree_status_t initialize(stream_device_t* device, uint64_t mask) {
  uint32_t count = device->gpu.domain.physical_count;
  // From now on other devices wait for their transfers (transfer.c).
  stream_users_add();
  bool is_first = stream_device_is_alone();
  IREE_RETURN_IF_ERROR(gpu_device_initialize(&device->gpu));
  IREE_RETURN_IF_ERROR(choose_graphs(device));
  for (uint32_t i = 0; i < count; ++i, mask &= mask - 1) {
    IREE_RETURN_IF_ERROR(open_gpu(device, &device->gpus[i], __builtin_ctzll(mask)));
    IREE_RETURN_IF_ERROR(stream_context_enter(&device->gpus[i].context));
    if (!is_first) IREE_RETURN_IF_ERROR(STREAM_CALL(device->api, context_synchronize));
  }
  IREE_RETURN_IF_ERROR(find_capabilities(device));
  IREE_RETURN_IF_ERROR(connect(device));
  IREE_RETURN_IF_ERROR(stream_allocator_create(device, &device->gpu.base.allocator));
  for (uint32_t i = 0; i < count && device->options.keeps_pools; ++i) IREE_RETURN_IF_ERROR(create_pool(device, i));
  for (uint32_t i = 0; i < count * device->gpu.domain.queue_count; ++i) {
    IREE_RETURN_IF_ERROR(stream_queue_create(device, i, &device->gpu.queues[i]));
  }
  return iree_ok_status();
}

static iree_status_t choose_domain(uint64_t mask, const stream_options_t* options, gpu_domain_t* out_domain) {
  *out_domain = (gpu_domain_t){
      .physical_count = (uint32_t)__builtin_popcountll(mask),
      .queue_count = options->queue_count ? options->queue_count : DEFAULT_QUEUES,
  };
  if (out_domain->physical_count * out_domain->queue_count <= GPU_MAX_QUEUES) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "%u GPUs with %u queues each are more than the %d queues that a device can have",
                          out_domain->physical_count, out_domain->queue_count, GPU_MAX_QUEUES);
}

iree_status_t stream_device_create(const stream_platform_t* platform, const stream_api_t* api, uint64_t mask,
                                   const stream_options_t* options,
                                   const iree_hal_device_create_params_t* create_params,
                                   iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  gpu_domain_t domain;
  IREE_RETURN_IF_ERROR(choose_domain(mask, options, &domain));
  stream_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*device), domain.physical_count,
                                                          sizeof(device->gpus[0]), (void**)&device));
  hal_queued_device_t* base = &device->gpu.base;
  iree_hal_resource_initialize(&stream_vtable, &base->resource);
  base->host_allocator = host_allocator;
  base->identifier = iree_make_cstring_view(platform->backend.name);
  base->proactor_pool = create_params ? create_params->proactor_pool : NULL;
  base->block_alignment = BLOCK_ALIGNMENT;
  base->create_channel = stream_channel_create;
  base->profile_interface = &stream_profile_interface;
  device->gpu.backend = &platform->backend;
  device->gpu.domain = domain;
  device->platform = platform;
  device->api = api;
  device->options = *options;
  iree_slim_mutex_initialize(&device->clock_mutex);
  iree_status_t status = initialize(device, mask);
  if (!iree_status_is_ok(status)) {
    stream_destroy((iree_hal_device_t*)device);
    return status;
  }
  *out_device = (iree_hal_device_t*)device;
  return iree_ok_status();
}
