// Logical devices: creation and everything but their queues.
#include "hal/amdgpu/logical_device.h"

#include "hal/amdgpu/host_queue.h"
#include "hal/detail.h"
#include "hal/gpu/allocator.h"
#include "hal/gpu/link.h"

static void amdgpu_destroy(iree_hal_device_t* base) {
  logical_device_t* device = (logical_device_t*)base;
  if (hal_queued_destroy_elsewhere(&device->gpu.base, amdgpu_destroy)) return;
  gpu_device_close(&device->gpu);
  for (uint32_t i = 0; i < device->gpu.domain.physical_count; ++i) {
    physical_device_deinitialize(device, &device->physical[i]);
  }
  gpu_device_deinitialize(&device->gpu);
  system_release(device->system);
  iree_allocator_free(device->gpu.base.host_allocator, device);
}

static iree_status_t amdgpu_query_i64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                                      int64_t* out_value) {
  logical_device_t* device = (logical_device_t*)base;
  hal_device_facts_t facts = {
      .queue_count = device->gpu.domain.physical_count * device->gpu.domain.queue_count,
      .dispatch_concurrency = iree_max(device->physical[0].gpu->compute_units, 1u),
      .takes_format = amdgpu_takes_format,
  };
  return hal_device_query_facts(&device->gpu.base, category, key, &facts, out_value);
}

static const iree_hal_device_vtable_t amdgpu_vtable = {
    GPU_DEVICE_CALLS,
    .destroy = amdgpu_destroy,
    .query_i64 = amdgpu_query_i64,
};

//===----------------------------------------------------------------------------------------------------------------===
// Creation
//===----------------------------------------------------------------------------------------------------------------===

// The slowest link between a GPU of one and a GPU of the other.
static iree_status_t refine_edge(iree_hal_device_t* src, iree_hal_device_t* dst, iree_hal_topology_edge_t* edge) {
  if (!iree_hal_resource_is(src, &amdgpu_vtable) || !iree_hal_resource_is(dst, &amdgpu_vtable)) return iree_ok_status();
  const logical_device_t *from = (const logical_device_t*)src, *to = (const logical_device_t*)dst;
  const system_t* system = from->system;
  iree_hal_topology_link_class_t link = IREE_HAL_TOPOLOGY_LINK_CLASS_SAME_DIE;
  if (system != to->system) return iree_ok_status();
  for (uint32_t i = 0; i < from->gpu.domain.physical_count; ++i) {
    for (uint32_t j = 0; j < to->gpu.domain.physical_count; ++j) {
      uint32_t gpu = (uint32_t)(from->physical[i].gpu - system->gpus);
      link = gpu_link_slower(link, system_find_link(system, gpu, (uint32_t)(to->physical[j].gpu - system->gpus)));
    }
  }
  hal_topology_edge_set_link(edge, link);
  return iree_ok_status();
}

// A GPU's UUID as HIP has it: the digits of "GPU-0e12865a3bf5b7ab".
static void set_uuid(const char* uuid, iree_hal_device_capabilities_t* capabilities) {
  enum { PREFIX = 4, DIGITS = sizeof(capabilities->physical_device_uuid) };
  capabilities->has_physical_device_uuid = strlen(uuid) == PREFIX + DIGITS;
  if (capabilities->has_physical_device_uuid) memcpy(capabilities->physical_device_uuid, uuid + PREFIX, DIGITS);
}

// Memory is within reach of this device's GPUs only; others import it.
static void find_capabilities(logical_device_t* device) {
  const iree_hal_topology_handle_type_t shared =
      IREE_HAL_TOPOLOGY_HANDLE_TYPE_OPAQUE_FD | IREE_HAL_TOPOLOGY_HANDLE_TYPE_DMA_BUF;
  const libhsa_t* hsa = device->system->hsa;
  const system_gpu_t* gpu = device->physical[0].gpu;
  iree_hal_device_capabilities_t* capabilities = &device->gpu.base.capabilities;
  capabilities->flags = IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT | IREE_HAL_DEVICE_CAPABILITY_HOST_ZERO_COPY_OK |
                        IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE | IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_DEVICE;
  if (hsa->hsa_amd_portable_export_dmabuf) capabilities->buffer_export_types = shared;
  if (hsa->hsa_amd_interop_map_buffer && hsa->hsa_amd_interop_unmap_buffer) capabilities->buffer_import_types = shared;
  capabilities->numa_node = (uint8_t)device->system->cpus[gpu->cpu].node;
  if (device->gpu.domain.physical_count == 1) set_uuid(gpu->uuid, capabilities);
}

static iree_status_t choose_command_buffers(logical_device_t* device) {
  const amdgpu_options_t* user = &device->options.user;
  bool is_able = device->physical[0].pm4_format != PM4_FORMAT_NONE;
  bool is_pm4 = user->command_buffer_mode == AMDGPU_COMMAND_BUFFERS_PM4;
  if (is_pm4 && !is_able) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "--amdgpu_command_buffer_mode=pm4 is not supported on %s; auto and aql are",
                            device->physical[0].gpu->name);
  }
  bool is_auto = user->command_buffer_mode == AMDGPU_COMMAND_BUFFERS_AUTO;
  device->makes_pm4 = is_pm4 || (is_auto && is_able && user->experimental_pm4_command_buffers);
  return iree_ok_status();
}

static iree_status_t initialize(logical_device_t* device) {
  IREE_RETURN_IF_ERROR(gpu_device_initialize(&device->gpu));
  find_capabilities(device);
  IREE_RETURN_IF_ERROR(amdgpu_allocator_create(device, &device->gpu.base.allocator));
  for (uint32_t i = 0; i < device->gpu.domain.physical_count; ++i) {
    IREE_RETURN_IF_ERROR(physical_device_initialize(device, &device->physical[i]));
  }
  return choose_command_buffers(device);
}

static iree_status_t choose_domain(uint64_t mask, const logical_device_options_t* options, gpu_domain_t* out_domain) {
  *out_domain = (gpu_domain_t){
      .physical_count = (uint32_t)__builtin_popcountll(mask),
      .queue_count = options->queue_count ? options->queue_count : LOGICAL_DEVICE_DEFAULT_QUEUES,
  };
  if (out_domain->queue_count > PHYSICAL_DEVICE_MAX_QUEUES ||
      out_domain->physical_count * out_domain->queue_count > GPU_MAX_QUEUES) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "%u GPUs with %u queues each are more than the %d queues that a device can have",
                            out_domain->physical_count, out_domain->queue_count, GPU_MAX_QUEUES);
  }
  return iree_ok_status();
}

iree_status_t logical_device_create(system_t* system, uint64_t mask, const logical_device_options_t* options,
                                    const iree_hal_device_create_params_t* create_params,
                                    iree_allocator_t host_allocator, iree_hal_device_t** out_device) {
  *out_device = NULL;
  gpu_domain_t domain;
  IREE_RETURN_IF_ERROR(choose_domain(mask, options, &domain));
  logical_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*device), domain.physical_count,
                                                          sizeof(device->physical[0]), (void**)&device));
  hal_queued_device_t* base = &device->gpu.base;
  iree_hal_resource_initialize(&amdgpu_vtable, &base->resource);
  base->host_allocator = host_allocator;
  base->identifier = IREE_SV("amdgpu");
  base->proactor_pool = create_params ? create_params->proactor_pool : NULL;
  base->block_alignment = GPU_MAX_ALIGNMENT;
  base->pooled_operation_size = options->user.host_block_pool_small_size;
  base->refine_topology_edge = refine_edge;
  base->profile_interface = &amdgpu_profile_interface;
  device->gpu.backend = &host_queue_backend;
  device->gpu.domain = domain;
  device->gpu.defers_waits = options->user.force_wait_barrier_defer;
  device->gpu.recording_block_size = options->user.host_block_pool_command_buffer_size;
  device->system = system;
  system_retain(system);
  device->options = *options;
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
