// Devices of the stream core.
#include "hal/detail.h"
#include "hal/gpu/link.h"
#include "hal/stream/code.h"
#include "hal/stream/nccl.h"
#include "hal/stream/queue.h"

enum { DEFAULT_QUEUES = 2, BLOCK_ALIGNMENT = 256 };

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
  stream_lanes_destroy(device);
  gpu_device_deinitialize(&device->gpu);
  for (uint32_t i = 0; i < count; ++i) {
    stream_clock_destroy(&device->gpus[i], host_allocator);
    stream_context_release(&device->gpus[i].context);
  }
  iree_slim_mutex_deinitialize(&device->clock_mutex);
  iree_slim_mutex_deinitialize(&device->lane_mutex);
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

static iree_status_t can_access(const stream_gpu_t* gpu, const stream_gpu_t* peer, bool* out_can) {
  const stream_api_t* api = gpu->context.api;
  int can = gpu->context.device == peer->context.device;
  if (!can && api->device_can_access && api->context_enable_access) {
    IREE_RETURN_IF_ERROR(STREAM_CALL(api, device_can_access, &can, gpu->context.device, peer->context.device));
  }
  *out_can = can != 0;
  return iree_ok_status();
}

// Lets `gpu` use memory of `peer`.
static iree_status_t enable_access(const stream_gpu_t* gpu, const stream_gpu_t* peer) {
  const stream_api_t* api = gpu->context.api;
  if (gpu->context.device == peer->context.device) return iree_ok_status();
  IREE_RETURN_IF_ERROR(stream_context_enter(&gpu->context));
  int result = api->context_enable_access(peer->context.handle, 0);
  if (result == STREAM_API_PEER_ACCESS_ALREADY_ENABLED) return iree_ok_status();
  return stream_api_check(api, result, api->library->symbols.context_enable_access.name);
}

static iree_status_t connect_pair(const stream_gpu_t* gpu, const stream_gpu_t* peer) {
  bool can = false;
  IREE_RETURN_IF_ERROR(can_access(gpu, peer, &can));
  if (can) return enable_access(gpu, peer);
  return iree_make_status(IREE_STATUS_UNAVAILABLE,
                          "GPU %d cannot use the memory of GPU %d, as those of one device must; name them in --device= "
                          "flags of their own",
                          gpu->context.device, peer->context.device);
}

static iree_status_t connect(stream_device_t* device) {
  uint32_t count = device->gpu.domain.physical_count;
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < count; ++j) {
      if (i != j) IREE_RETURN_IF_ERROR(connect_pair(&device->gpus[i], &device->gpus[j]));
    }
  }
  return iree_ok_status();
}

// Whether each GPU of two devices can use memory of all of the other's.
static iree_status_t are_peers(const stream_device_t* device, const stream_device_t* other, bool* out_are) {
  *out_are = device->api == other->api;
  for (uint32_t i = 0; i < device->gpu.domain.physical_count && *out_are; ++i) {
    for (uint32_t j = 0; j < other->gpu.domain.physical_count && *out_are; ++j) {
      bool back = false;
      IREE_RETURN_IF_ERROR(can_access(&device->gpus[i], &other->gpus[j], out_are));
      IREE_RETURN_IF_ERROR(can_access(&other->gpus[j], &device->gpus[i], &back));
      *out_are &= back;
    }
  }
  return iree_ok_status();
}

// The slowest link between a GPU of one and a GPU of the other, in either direction.
static iree_status_t find_link(const stream_device_t* from, const stream_device_t* to,
                               iree_hal_topology_link_class_t* out_link) {
  *out_link = IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE;
  for (uint32_t i = 0; i < from->gpu.domain.physical_count; ++i) {
    for (uint32_t j = 0; j < to->gpu.domain.physical_count; ++j) {
      int a = from->gpus[i].context.device, b = to->gpus[j].context.device;
      iree_hal_topology_link_class_t there = 0, back = 0;
      IREE_RETURN_IF_ERROR(stream_link_find(from->api, a, b, &there));
      IREE_RETURN_IF_ERROR(stream_link_find(from->api, b, a, &back));
      *out_link = gpu_link_slower(*out_link, gpu_link_slower(there, back));
    }
  }
  return iree_ok_status();
}

// Devices of a group use each other's memory where their GPUs can: from now on they do.
static iree_status_t refine_edge(iree_hal_device_t* src, iree_hal_device_t* dst, iree_hal_topology_edge_t* edge) {
  const iree_hal_device_capability_bits_t peers =
      IREE_HAL_DEVICE_CAPABILITY_P2P_COPY | IREE_HAL_DEVICE_CAPABILITY_PEER_ADDRESSABLE;
  if (!iree_hal_resource_is(src, &stream_vtable) || !iree_hal_resource_is(dst, &stream_vtable)) return iree_ok_status();
  const stream_device_t *from = (const stream_device_t*)src, *to = (const stream_device_t*)dst;
  iree_hal_device_capabilities_t ours = from->gpu.base.capabilities, theirs = to->gpu.base.capabilities;
  bool can = false;
  IREE_RETURN_IF_ERROR(are_peers(from, to, &can));
  ours.flags = can ? ours.flags | peers : ours.flags & ~peers;
  theirs.flags = can ? theirs.flags | peers : theirs.flags & ~peers;
  for (uint32_t i = 0; i < from->gpu.domain.physical_count && can; ++i) {
    for (uint32_t j = 0; j < to->gpu.domain.physical_count; ++j) {
      IREE_RETURN_IF_ERROR(enable_access(&from->gpus[i], &to->gpus[j]));
    }
  }
  iree_string_view_t name = from->gpu.base.identifier;
  *edge = iree_hal_topology_edge_from_capabilities(&ours, &theirs, name, name);
  if (from->api != to->api) return iree_ok_status();
  iree_hal_topology_link_class_t link = 0;
  IREE_RETURN_IF_ERROR(find_link(from, to, &link));
  hal_topology_edge_set_link(edge, link);
  return iree_ok_status();
}

// What the library and the device must have for graphs. CUDA 12.3 is the first to take what is launched early into
// them.
static iree_status_t check_graphs(stream_device_t* device) {
  enum { FIRST_WITH_EARLY_LAUNCHES = 12030 };
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
    device->launches_early = api->launch_with && version >= FIRST_WITH_EARLY_LAUNCHES;
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

// Whether all GPUs of the system can use this device's memory, and it theirs.
static iree_status_t has_only_peers(const stream_device_t* device, bool* out_has) {
  int count = 0;
  *out_has = true;
  IREE_RETURN_IF_ERROR(STREAM_CALL(device->api, device_count, &count));
  for (uint32_t i = 0; i < device->gpu.domain.physical_count; ++i) {
    for (int j = 0; j < count && *out_has; ++j) {
      const stream_gpu_t* gpu = &device->gpus[i];
      stream_gpu_t other = {.context = {.api = device->api}};
      bool back = false;
      IREE_RETURN_IF_ERROR(STREAM_CALL(device->api, device_get, &other.context.device, j));
      IREE_RETURN_IF_ERROR(can_access(gpu, &other, out_has));
      IREE_RETURN_IF_ERROR(can_access(&other, gpu, &back));
      *out_has &= back;
    }
  }
  return iree_ok_status();
}

// What devices can do with each other's memory is theirs when they are in one group (refine_edge).
static iree_status_t find_capabilities(stream_device_t* device) {
  iree_hal_device_capabilities_t* capabilities = &device->gpu.base.capabilities;
  uint32_t count = device->gpu.domain.physical_count;
  bool is_coherent = true, has_peers = false;
  IREE_RETURN_IF_ERROR(has_only_peers(device, &has_peers));
  for (uint32_t i = 0; i < count; ++i) is_coherent &= device->gpus[i].has_managed_memory;
  capabilities->flags = IREE_HAL_DEVICE_CAPABILITY_HOST_ZERO_COPY_OK | IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE |
                        IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_DEVICE;
  if (is_coherent) capabilities->flags |= IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT;
  if (has_peers) {
    capabilities->flags |= IREE_HAL_DEVICE_CAPABILITY_P2P_COPY | IREE_HAL_DEVICE_CAPABILITY_PEER_ADDRESSABLE;
  }
  int node = stream_api_attribute(device->api, device->gpus[0].context.device, STREAM_HOST_NUMA_NODE);
  capabilities->numa_node = node > 0 && node < UINT8_MAX ? (uint8_t)node : 0;
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
  for (uint32_t i = 0; i < count && device->options.keeps_pools; ++i) {
    const gpu_pool_params_t pools = {0};
    IREE_RETURN_IF_ERROR(gpu_device_create_pools(&device->gpu, i, &pools, &device->gpus[i].pool));
  }
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
  if (options->has_stream && out_domain->physical_count > 1) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "an external stream is of one GPU, and the device has %u",
                            out_domain->physical_count);
  }
  if (options->has_stream) out_domain->queue_count = 1;
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
  base->refine_topology_edge = refine_edge;
  base->profile_interface = options->tracing == STREAM_MAX_TRACING ? platform->profile_interface
                                                                   : &stream_profile_interfaces[options->tracing];
  device->gpu.backend = &platform->backend;
  device->gpu.domain = domain;
  device->platform = platform;
  device->api = api;
  device->options = *options;
  iree_slim_mutex_initialize(&device->clock_mutex);
  iree_slim_mutex_initialize(&device->lane_mutex);
  iree_status_t status = initialize(device, mask);
  if (!iree_status_is_ok(status)) {
    stream_destroy((iree_hal_device_t*)device);
    return status;
  }
  *out_device = (iree_hal_device_t*)device;
  return iree_ok_status();
}
