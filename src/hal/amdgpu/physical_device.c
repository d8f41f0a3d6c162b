// Making of physical devices.
#include "hal/amdgpu/physical_device.h"

#include "hal/amdgpu/host_queue.h"
#include "hal/gpu/allocator.h"

static iree_status_t check_options(const amdgpu_options_t* options) {
  if (options->default_pool_alignment > GPU_MAX_ALIGNMENT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "--amdgpu_default_pool_alignment=%" PRIu64 " is more than the %d that memory of GPUs has",
                            options->default_pool_alignment, GPU_MAX_ALIGNMENT);
  }
  if (options->default_pool_frontier_capacity > HAL_POOL_MAX_FRONTIER) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--amdgpu_default_pool_frontier_capacity is at most %d",
                            HAL_POOL_MAX_FRONTIER);
  }
  return iree_ok_status();
}

static iree_status_t create_pools(logical_device_t* device, physical_device_t* physical) {
  const amdgpu_options_t* options = &device->options.user;
  const gpu_pool_params_t params = {.range_length = options->default_pool_range_length,
                                    .alignment = options->default_pool_alignment,
                                    .frontier_capacity = (uint32_t)options->default_pool_frontier_capacity};
  IREE_RETURN_IF_ERROR(check_options(options));
  IREE_RETURN_IF_ERROR(gpu_device_create_pools(&device->gpu, physical->ordinal, &params, &physical->pool));
  if (!options->preallocate_pools) return iree_ok_status();
  return iree_status_annotate(hal_pool_preallocate(physical->pool),
                              IREE_SV("preallocating memory (--amdgpu_preallocate_pools=false does without)"));
}

// What the packet processors do beyond HSA, where that is known. GPUs of several dies run commands of their own on each
// die, so gfx940 to gfx950 take none.
static void find_capabilities(const target_id_t* target, physical_device_t* physical) {
  static const struct {
    const char* processor;
    wait_packet_t wait_packet;
    pm4_format_t pm4_format;
  } rows[] = {
      {"gfx90a", WAIT_PACKET_BARRIER_VALUE, PM4_FORMAT_GFX9}, {"gfx940", WAIT_PACKET_BARRIER_VALUE, PM4_FORMAT_NONE},
      {"gfx941", WAIT_PACKET_BARRIER_VALUE, PM4_FORMAT_NONE}, {"gfx942", WAIT_PACKET_BARRIER_VALUE, PM4_FORMAT_NONE},
      {"gfx950", WAIT_PACKET_BARRIER_VALUE, PM4_FORMAT_NONE}, {"gfx1030", WAIT_PACKET_NONE, PM4_FORMAT_GFX10},
      {"gfx1031", WAIT_PACKET_NONE, PM4_FORMAT_GFX10},        {"gfx1032", WAIT_PACKET_NONE, PM4_FORMAT_GFX10},
      {"gfx1100", WAIT_PACKET_MEMORY, PM4_FORMAT_GFX10},      {"gfx1101", WAIT_PACKET_NONE, PM4_FORMAT_GFX10},
      {"gfx1102", WAIT_PACKET_NONE, PM4_FORMAT_GFX10},        {"gfx1200", WAIT_PACKET_NONE, PM4_FORMAT_GFX10},
      {"gfx1201", WAIT_PACKET_NONE, PM4_FORMAT_GFX10},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (strcmp(target->processor, rows[i].processor)) continue;
    physical->wait_packet = rows[i].wait_packet;
    physical->pm4_format = rows[i].pm4_format;
  }
}

iree_status_t physical_device_initialize(logical_device_t* device, physical_device_t* physical) {
  IREE_RETURN_IF_ERROR(library_create(device->system->hsa, physical->gpu, &physical->library));
  IREE_RETURN_IF_ERROR(create_pools(device, physical));
  find_capabilities(&physical->gpu->target, physical);
  uint32_t count = device->gpu.domain.queue_count;
  for (uint32_t i = 0; i < count; ++i) {
    IREE_RETURN_IF_ERROR(host_queue_create(device, physical, i, &device->gpu.queues[physical->ordinal * count + i]));
  }
  return iree_ok_status();
}

void physical_device_deinitialize(logical_device_t* device, physical_device_t* physical) {
  gpu_device_destroy_queues(&device->gpu, physical->ordinal);
  hal_pool_close(physical->pool);
  hal_pool_release(physical->pool);
  physical->pool = NULL;
  library_destroy(device->system->hsa, &physical->library);
}
