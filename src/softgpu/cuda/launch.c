// Launches of kernels.
#include <stdlib.h>
#include <string.h>

#include "softgpu/cuda/calls.h"
#include "softgpu/cuda/graph.h"
#include "softgpu/cuda/module.h"

enum { MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535, WARP = 32 };

#define EXTRA_END ((void*)0)
#define EXTRA_BUFFER ((void*)1)
#define EXTRA_SIZE ((void*)2)

static result_t check_sizes(const kernel_params_t* p, const function_t* function) {
  const nv_function_info_t* info = &function->info;
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(p->grid[i] && p->block[i], CUDA_ERROR_INVALID_VALUE);
    REQUIRE(p->block[i] <= 1024, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!info->required_threads[i] || p->block[i] == info->required_threads[i], CUDA_ERROR_INVALID_VALUE);
    threads *= p->block[i];
  }
  REQUIRE(p->block[2] <= MAX_BLOCK_Z && threads <= 1024, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(p->grid[0] <= INT32_MAX && p->grid[1] <= MAX_GRID_YZ && p->grid[2] <= MAX_GRID_YZ, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(threads <= info->max_threads, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  REQUIRE(p->shared <= (uint32_t)function->max_dynamic_shared, CUDA_ERROR_INVALID_VALUE);
  return nv_function_occupancy(function->function, (uint32_t)threads, p->shared) ? CUDA_SUCCESS
                                                                                 : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

// Parameters in one piece, as `extra` passes them.
static result_t take_buffer(void** extra, uint8_t* block, uint32_t block_size) {
  const void* buffer = NULL;
  size_t size = 0;
  for (; *extra != EXTRA_END; extra += 2) {
    if (*extra == EXTRA_BUFFER) {
      buffer = extra[1];
    } else if (*extra == EXTRA_SIZE) {
      size = *(const size_t*)extra[1];
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  REQUIRE(buffer || !size, CUDA_ERROR_INVALID_VALUE);
  REQUIRE(size <= block_size, CUDA_ERROR_INVALID_VALUE);
  if (size) memcpy(block, buffer, size);
  return CUDA_SUCCESS;
}

static result_t take_parameters(const kernel_params_t* p, const nv_function_info_t* info, uint8_t* block) {
  REQUIRE(!p->parameters || !p->extra, CUDA_ERROR_INVALID_VALUE);
  if (p->extra) return take_buffer(p->extra, block, info->parameter_size);
  REQUIRE(p->parameters || !info->parameter_count, CUDA_ERROR_INVALID_VALUE);
  for (uint32_t i = 0; i < info->parameter_count; ++i) {
    REQUIRE(p->parameters[i], CUDA_ERROR_INVALID_VALUE);
    memcpy(block + info->parameters[i].offset, p->parameters[i], info->parameters[i].size);
  }
  return CUDA_SUCCESS;
}

result_t kernel_make(const kernel_params_t* p, context_t* context, work_t* out) {
  function_t* function;
  CHECK(function_find(p->function, context, &function));
  CHECK(check_sizes(p, function));
  const nv_function_info_t* info = &function->info;
  uint8_t* block = info->parameter_size ? calloc(1, info->parameter_size) : NULL;
  REQUIRE(block || !info->parameter_size, CUDA_ERROR_OUT_OF_MEMORY);
  result_t result = take_parameters(p, info, block);
  if (result != CUDA_SUCCESS) {
    free(block);
    return result;
  }
  *out = (work_t){
      .kind = WORK_KERNEL,
      .kernel = {
          .function = function, .shared = p->shared, .parameters = block, .parameter_size = info->parameter_size}};
  memcpy(out->kernel.grid, p->grid, sizeof(p->grid));
  memcpy(out->kernel.block, p->block, sizeof(p->block));
  return CUDA_SUCCESS;
}

static result_t check_cooperative(const work_t* work) {
  const function_t* function = work->kernel.function;
  uint32_t threads = work->kernel.block[0] * work->kernel.block[1] * work->kernel.block[2];
  uint64_t held = (uint64_t)nv_function_occupancy(function->function, threads, work->kernel.shared) *
                  function->module->context->device->target->units;
  uint64_t blocks = (uint64_t)work->kernel.grid[0] * work->kernel.grid[1] * work->kernel.grid[2];
  return blocks <= held ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

enum {
  ATTRIBUTE_COOPERATIVE = 2,
  ATTRIBUTE_CLUSTER = 4,
  ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
  ATTRIBUTE_PREFERRED_CLUSTER = 11,
  ATTRIBUTE_COMPLETION_EVENT = 12,
  ATTRIBUTE_UPDATABLE = 13,
  LAST_ATTRIBUTE = 16,
};

// Hints are taken and change nothing: kernels of a stream run one after the other.
static result_t take_attribute(const launch_attribute_t* a, bool* out_cooperative) {
  REQUIRE(a->id >= 0 && a->id <= LAST_ATTRIBUTE, CUDA_ERROR_INVALID_VALUE);
  switch (a->id) {
    case ATTRIBUTE_COOPERATIVE:
      *out_cooperative = a->value.number != 0;
      return CUDA_SUCCESS;
    case ATTRIBUTE_CLUSTER:
    case ATTRIBUTE_PREFERRED_CLUSTER:
      return a->value.size[0] <= 1 && a->value.size[1] <= 1 && a->value.size[2] <= 1
                 ? CUDA_SUCCESS
                 : driver_refuse("cuLaunchKernelEx", "with clusters of more than one block: blocks run by themselves");
    case ATTRIBUTE_PROGRAMMATIC_EVENT:
    case ATTRIBUTE_COMPLETION_EVENT:
      return driver_refuse("cuLaunchKernelEx", "with an event in the midst of a launch: cuEventRecord would do");
    case ATTRIBUTE_UPDATABLE:
      return a->value.number ? driver_refuse("cuLaunchKernelEx", "as a node that kernels update") : CUDA_SUCCESS;
    default:
      return CUDA_SUCCESS;
  }
}

static result_t launch(const kernel_params_t* p, stream_t* stream, bool is_cooperative) {
  context_t* context;
  work_t work;
  CHECK(context_enter(&context));
  REQUIRE(p->function, CUDA_ERROR_INVALID_HANDLE);
  CHECK(stream_find(stream, context, &stream));
  CHECK(kernel_make(p, stream->context, &work));
  work.kernel.cooperative = is_cooperative;
  result_t result = is_cooperative ? check_cooperative(&work) : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS) return stream_submit(stream, &work);
  work_release(&work);
  return result;
}

result_t cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, stream_t* stream, void** parameters,
                        void** extra) {
  kernel_params_t p = {.function = function,
                       .grid = {grid_x, grid_y, grid_z},
                       .block = {block_x, block_y, block_z},
                       .shared = shared,
                       .parameters = parameters,
                       .extra = extra};
  return launch(&p, stream, false);
}

result_t cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                   unsigned block_y, unsigned block_z, unsigned shared, stream_t* stream,
                                   void** parameters) {
  kernel_params_t p = {.function = function,
                       .grid = {grid_x, grid_y, grid_z},
                       .block = {block_x, block_y, block_z},
                       .shared = shared,
                       .parameters = parameters};
  return launch(&p, stream, true);
}

result_t cuLaunchKernelEx(const launch_config_t* config, void* function, void** parameters, void** extra) {
  bool is_cooperative = false;
  REQUIRE(config && (config->attributes || !config->attribute_count), CUDA_ERROR_INVALID_VALUE);
  for (uint32_t i = 0; i < config->attribute_count; ++i) CHECK(take_attribute(&config->attributes[i], &is_cooperative));
  kernel_params_t p = {.function = function, .shared = config->shared, .parameters = parameters, .extra = extra};
  memcpy(p.grid, config->grid, sizeof(p.grid));
  memcpy(p.block, config->block, sizeof(p.block));
  return launch(&p, config->stream, is_cooperative);
}
