// Making of physical devices.
#include "hal/amdgpu/physical_device.h"

#include "hal/amdgpu/host_queue.h"

enum { DEFAULT_RANGE_LENGTH = 64 << 20 };

static iree_status_t create_pool(logical_device_t* device, physical_device_t* physical) {
  const amdgpu_options_t* options = &device->options.user;
  uint32_t bit = physical->ordinal * device->gpu.domain.queue_count;
  iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH,
      .queue_affinity = 1ull << bit,
      .min_alignment = options->default_pool_alignment,
  };
  hal_pool_params_t pool = {
      .range_length = DEFAULT_RANGE_LENGTH,
      .frontier_capacity = (uint32_t)options->default_pool_frontier_capacity,
      .is_over = gpu_device_is_over,
      .user_data = &device->gpu,
  };
  if (options->default_pool_range_length) pool.range_length = options->default_pool_range_length;
  if (options->default_pool_alignment > AMDGPU_MAX_ALIGNMENT) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "--amdgpu_default_pool_alignment=%" PRIu64 " is more than the %d that memory of GPUs has",
                            options->default_pool_alignment, AMDGPU_MAX_ALIGNMENT);
  }
  if (options->default_pool_frontier_capacity > HAL_POOL_MAX_FRONTIER) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--amdgpu_default_pool_frontier_capacity is at most %d",
                            HAL_POOL_MAX_FRONTIER);
  }
  iree_device_size_t size = pool.range_length;
  iree_hal_allocator_query_buffer_compatibility(device->gpu.base.allocator, params, size, &pool.buffer, &size);
  IREE_RETURN_IF_ERROR(
      hal_pool_create(&pool, device->gpu.base.allocator, device->gpu.base.host_allocator, &physical->pool));
  if (!options->preallocate_pools) return iree_ok_status();
  return iree_status_annotate(hal_pool_preallocate(physical->pool),
                              IREE_SV("preallocating memory (--amdgpu_preallocate_pools=false does without)"));
}

// Only where the packet processors are known to do it.
static wait_packet_t choose_wait_packet(const target_id_t* target) {
  static const struct {
    const char* processor;
    wait_packet_t packet;
  } rows[] = {
      {"gfx90a", WAIT_PACKET_BARRIER_VALUE}, {"gfx940", WAIT_PACKET_BARRIER_VALUE},
      {"gfx941", WAIT_PACKET_BARRIER_VALUE}, {"gfx942", WAIT_PACKET_BARRIER_VALUE},
      {"gfx950", WAIT_PACKET_BARRIER_VALUE}, {"gfx1100", WAIT_PACKET_MEMORY},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (!strcmp(target->processor, rows[i].processor)) return rows[i].packet;
  }
  return WAIT_PACKET_NONE;
}

iree_status_t physical_device_initialize(logical_device_t* device, physical_device_t* physical) {
  IREE_RETURN_IF_ERROR(library_create(device->system->hsa, physical->gpu, &physical->library));
  IREE_RETURN_IF_ERROR(create_pool(device, physical));
  physical->wait_packet = choose_wait_packet(&physical->gpu->target);
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
