// The driver's public header: what applications choose becomes options.
#include "hal/amdgpu/driver.h"
#include "iree/hal/drivers/amdgpu/api.h"

enum { KERNARG_BLOCK = 64 };  // bytes

void iree_hal_amdgpu_logical_device_options_initialize(iree_hal_amdgpu_logical_device_options_t* out_options) {
  *out_options = (iree_hal_amdgpu_logical_device_options_t){
      .pm4_command_buffer_publication_mode = IREE_HAL_AMDGPU_PM4_COMMAND_BUFFER_PUBLICATION_MODE_HOST_COPY,
      .preallocate_pools = 1,
  };
}

void iree_hal_amdgpu_driver_options_initialize(iree_hal_amdgpu_driver_options_t* out_options) {
  *out_options = (iree_hal_amdgpu_driver_options_t){0};
  iree_hal_amdgpu_logical_device_options_initialize(&out_options->default_device_options);
}

iree_status_t iree_hal_amdgpu_logical_device_options_parse(iree_hal_amdgpu_logical_device_options_t* options,
                                                           iree_string_pair_list_t params) {
  if (!params.count) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'amdgpu' has no parameter '%.*s'",
                          (int)params.pairs[0].key.size, params.pairs[0].key.data);
}

iree_status_t iree_hal_amdgpu_driver_options_parse(iree_hal_amdgpu_driver_options_t* options,
                                                   iree_string_pair_list_t params) {
  return iree_hal_amdgpu_logical_device_options_parse(&options->default_device_options, params);
}

static iree_status_t check_sizes(const iree_hal_amdgpu_logical_device_options_t* options) {
  const struct {
    const char* field;
    uint64_t value;
  } sizes[] = {
      {"host_block_pools.small.block_size", options->host_block_pools.small.block_size},
      {"host_block_pools.command_buffer.usable_block_size", options->host_block_pools.command_buffer.usable_block_size},
      {"default_pool.range_length", options->default_pool.range_length},
      {"default_pool.alignment", options->default_pool.alignment},
      {"default_pool.frontier_capacity", options->default_pool.frontier_capacity},
      {"host_queues.aql_capacity", options->host_queues.aql_capacity},
      {"host_queues.notification_capacity", options->host_queues.notification_capacity},
      {"host_queues.kernarg_capacity", options->host_queues.kernarg_capacity},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(sizes); ++i) {
    if (!(sizes[i].value & (sizes[i].value - 1))) continue;
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "amdgpu: %s is %" PRIu64 "; a power of two is expected, or 0 for the default",
                            sizes[i].field, sizes[i].value);
  }
  uint64_t packets = options->host_queues.aql_capacity, blocks = options->host_queues.kernarg_capacity;
  if (!packets || !blocks || blocks / 2 >= packets) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "amdgpu: host_queues.kernarg_capacity is %" PRIu64 "; at least twice aql_capacity, %" PRIu64
                          ", is expected",
                          blocks, packets);
}

static iree_status_t check_modes(const iree_hal_amdgpu_logical_device_options_t* options) {
  const struct {
    const char* what;
    bool is_asked_for;
  } refused[] = {
      {"queue_placement DEVICE: leave it ANY or HOST",
       options->queue_placement == IREE_HAL_AMDGPU_QUEUE_PLACEMENT_DEVICE},
      {"pm4_command_buffer_publication_mode: leave it HOST_COPY",
       options->pm4_command_buffer_publication_mode != IREE_HAL_AMDGPU_PM4_COMMAND_BUFFER_PUBLICATION_MODE_HOST_COPY},
      {"exclusive_execution: leave it 0", options->exclusive_execution},
      {"wait_active_for_ns: leave it 0", options->wait_active_for_ns != 0},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(refused); ++i) {
    if (!refused[i].is_asked_for) continue;
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "amdgpu: %s", refused[i].what);
  }
  return iree_ok_status();
}

static iree_status_t make_options(const iree_hal_amdgpu_logical_device_options_t* from,
                                  logical_device_options_t* out_options) {
  IREE_RETURN_IF_ERROR(check_sizes(from));
  IREE_RETURN_IF_ERROR(check_modes(from));
  *out_options = (logical_device_options_t){
      .queue_size = from->host_queues.aql_capacity,
      .epoch_count = from->host_queues.notification_capacity,
      .kernarg_size = (uint64_t)from->host_queues.kernarg_capacity * KERNARG_BLOCK,
      .user = {.host_block_pool_small_size = from->host_block_pools.small.block_size,
               .host_block_pool_command_buffer_size = from->host_block_pools.command_buffer.usable_block_size,
               .default_pool_range_length = from->default_pool.range_length,
               .default_pool_alignment = from->default_pool.alignment,
               .default_pool_frontier_capacity = from->default_pool.frontier_capacity,
               .preallocate_pools = from->preallocate_pools,
               .force_wait_barrier_defer = from->force_wait_barrier_defer,
               .experimental_pm4_command_buffers = from->enable_experimental_pm4_command_buffers},
  };
  switch (from->command_buffer_mode) {
    case IREE_HAL_AMDGPU_COMMAND_BUFFER_MODE_AQL:
      out_options->user.command_buffer_mode = AMDGPU_COMMAND_BUFFERS_AQL;
      return iree_ok_status();
    case IREE_HAL_AMDGPU_COMMAND_BUFFER_MODE_PM4:
      out_options->user.command_buffer_mode = AMDGPU_COMMAND_BUFFERS_PM4;
      return iree_ok_status();
    case IREE_HAL_AMDGPU_COMMAND_BUFFER_MODE_AUTO:
      out_options->user.command_buffer_mode = AMDGPU_COMMAND_BUFFERS_AUTO;
      return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "amdgpu: command_buffer_mode %d is not known",
                          (int)from->command_buffer_mode);
}

iree_status_t iree_hal_amdgpu_driver_create(iree_string_view_t identifier,
                                            const iree_hal_amdgpu_driver_options_t* options,
                                            iree_allocator_t host_allocator, iree_hal_driver_t** out_driver) {
  *out_driver = NULL;
  logical_device_options_t chosen;
  IREE_RETURN_IF_ERROR(make_options(&options->default_device_options, &chosen));
  return amdgpu_driver_create(identifier, &chosen, options->libhsa_search_paths, host_allocator, out_driver);
}
