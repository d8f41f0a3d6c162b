// The drivers' public headers: what applications choose becomes options.
#include "hal/stream/driver.h"
#include "iree/hal/drivers/cuda/api.h"
#include "iree/hal/drivers/hip/api.h"

enum { ARENA_BLOCK_SIZE = 32 << 10, EVENT_POOL_CAPACITY = 32 };

// What both drivers' params have.
typedef struct choice_t {
  const char* driver;
  iree_host_size_t queue_count;
  bool is_graph;
  int32_t tracing, ordinal;
  bool keeps_pools;
} choice_t;

static iree_status_t make_options(const choice_t* choice, stream_options_t* out_options) {
  if (!choice->queue_count || choice->queue_count > UINT32_MAX) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%s: queue_count is %" PRIhsz "; 1 is the least",
                            choice->driver, choice->queue_count);
  }
  if (choice->tracing < 0 || choice->tracing > STREAM_MAX_TRACING) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%s: stream_tracing is %d; 0 to %d are what there is",
                            choice->driver, choice->tracing, STREAM_MAX_TRACING);
  }
  if (choice->ordinal < 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%s: default_device_index %d is no index of a GPU",
                            choice->driver, choice->ordinal);
  }
  *out_options = (stream_options_t){.queue_count = (uint32_t)choice->queue_count,
                                    .default_ordinal = (uint32_t)choice->ordinal,
                                    .graphs = choice->is_graph ? STREAM_GRAPHS_WHERE_POSSIBLE : STREAM_GRAPHS_NEVER,
                                    .keeps_pools = choice->keeps_pools,
                                    .tracing = choice->tracing};
  return iree_ok_status();
}

void iree_hal_cuda_device_params_initialize(iree_hal_cuda_device_params_t* out_params) {
  *out_params = (iree_hal_cuda_device_params_t){.queue_count = 1,
                                                .arena_block_size = ARENA_BLOCK_SIZE,
                                                .event_pool_capacity = EVENT_POOL_CAPACITY,
                                                .command_buffer_mode = IREE_HAL_CUDA_COMMAND_BUFFER_MODE_GRAPH,
                                                .async_allocations = true};
}

void iree_hal_cuda_driver_options_initialize(iree_hal_cuda_driver_options_t* out_options) {
  *out_options = (iree_hal_cuda_driver_options_t){0};
}

iree_status_t iree_hal_cuda_driver_create(iree_string_view_t identifier, const iree_hal_cuda_driver_options_t* options,
                                          const iree_hal_cuda_device_params_t* params, iree_allocator_t host_allocator,
                                          iree_hal_driver_t** out_driver) {
  *out_driver = NULL;
  const choice_t choice = {.driver = "cuda",
                           .queue_count = params->queue_count,
                           .is_graph = params->command_buffer_mode == IREE_HAL_CUDA_COMMAND_BUFFER_MODE_GRAPH,
                           .tracing = params->stream_tracing,
                           .ordinal = options->default_device_index,
                           .keeps_pools = params->async_allocations};
  stream_options_t chosen;
  IREE_RETURN_IF_ERROR(make_options(&choice, &chosen));
  if (!code_cache_default_folder(chosen.code_folder)) chosen.code_folder[0] = 0;
  return stream_driver_create_cuda(identifier, &chosen, host_allocator, out_driver);
}

void iree_hal_hip_device_params_initialize(iree_hal_hip_device_params_t* out_params) {
  *out_params = (iree_hal_hip_device_params_t){.queue_count = 1,
                                               .arena_block_size = ARENA_BLOCK_SIZE,
                                               .event_pool_capacity = EVENT_POOL_CAPACITY,
                                               .command_buffer_mode = IREE_HAL_HIP_COMMAND_BUFFER_MODE_STREAM,
                                               .async_allocations = true,
                                               .async_caching = true,
                                               .external_stream = IREE_HAL_DEVICE_INVALID_EXTERNAL_STREAM};
}

void iree_hal_hip_driver_options_initialize(iree_hal_hip_driver_options_t* out_options) {
  *out_options = (iree_hal_hip_driver_options_t){0};
}

iree_status_t iree_hal_hip_driver_create(iree_string_view_t identifier, const iree_hal_hip_driver_options_t* options,
                                         const iree_hal_hip_device_params_t* params, iree_allocator_t host_allocator,
                                         iree_hal_driver_t** out_driver) {
  *out_driver = NULL;
  const choice_t choice = {.driver = "hip",
                           .queue_count = params->queue_count,
                           .is_graph = params->command_buffer_mode == IREE_HAL_HIP_COMMAND_BUFFER_MODE_GRAPH,
                           .tracing = params->stream_tracing,
                           .ordinal = options->default_device_index,
                           .keeps_pools = params->async_allocations && params->async_caching};
  stream_options_t chosen;
  IREE_RETURN_IF_ERROR(make_options(&choice, &chosen));
  if (params->allow_inline_execution) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "hip: allow_inline_execution: commands run when they are submitted; leave it false");
  }
  chosen.has_stream = params->external_stream != IREE_HAL_DEVICE_INVALID_EXTERNAL_STREAM;
  if (chosen.has_stream) chosen.stream = (void*)(uintptr_t)params->external_stream;
  iree_string_view_list_t paths = {options->hip_lib_search_path_count, options->hip_lib_search_paths};
  return stream_driver_create_hip(identifier, &chosen, paths, host_allocator, out_driver);
}
