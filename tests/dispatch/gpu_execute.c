#include "gpu_execute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/engine.h"
#include "softgpu/hsa/code_object.h"

struct gpu_execute_t {
  const target_executable_t* executable;
  memory_map_t* memory;
  engine_t* engine;
  code_object_t object;
  uint8_t* file;  // aligned copy
  uint8_t* image;
};

static bool complain(text_t* message) {
  fprintf(stderr, "%s\n", message->data ? message->data : "the software GPU cannot be made");
  text_finish(message);
  return false;
}

static bool open_gpu(gpu_execute_t* gpu, const char* arch) {
  text_t message = {0};
  const isa_target_t* target = isa_target_find(arch);
  const target_executable_t* executable = gpu->executable;
  gpu->memory = memory_map_create();
  gpu->file = aligned_alloc(64, (executable->size + 63) & ~(size_t)63);
  if (!target || !gpu->memory || !gpu->file) return complain(&message);
  memcpy(gpu->file, executable->data, executable->size);
  engine_options_t options = {.target = target, .memory = gpu->memory};
  const char* checks = getenv("IREE_SOFTGPU_CHECK");
  if (!engine_parse_checks(checks ? checks : "all", &options.checks, &message)) return complain(&message);
  gpu->engine = engine_create(&options, &message);
  if (!gpu->engine || !code_object_open(gpu->file, executable->size, &gpu->object, &message) ||
      !code_object_fits(&gpu->object, target, &message)) {
    return complain(&message);
  }
  gpu->image = mmap(NULL, gpu->object.image_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (gpu->image == MAP_FAILED) return gpu->image = NULL, complain(&message);
  if (!code_object_load(&gpu->object, gpu->image, NULL, NULL, &message)) return complain(&message);
  memory_range_t range = {(uint64_t)gpu->image, gpu->object.image_size, UINT64_MAX, true, "code"};
  engine_code_t code = {gpu->image, gpu->object.image_size, gpu->file, executable->size, arch};
  engine_add_code(gpu->engine, &code);
  return memory_map_insert(gpu->memory, &range);
}

gpu_execute_t* gpu_execute_open(const char* arch, const target_executable_t* executable) {
  gpu_execute_t* gpu = calloc(1, sizeof(*gpu));
  if (!gpu) return NULL;
  gpu->executable = executable;
  if (open_gpu(gpu, arch)) return gpu;
  gpu_execute_close(gpu);
  return NULL;
}

void gpu_execute_close(gpu_execute_t* gpu) {
  if (!gpu) return;
  engine_destroy(gpu->engine);
  memory_map_destroy(gpu->memory);
  if (gpu->image) munmap(gpu->image, gpu->object.image_size);
  free(gpu->file);
  free(gpu);
}

static uint64_t find_kernel(const gpu_execute_t* gpu, const char* name) {
  for (uint64_t i = 0; i < gpu->object.symbol_count; ++i) {
    code_object_symbol_t symbol;
    if (!code_object_symbol(&gpu->object, i, &symbol) || !symbol.is_kernel) continue;
    size_t size = strlen(name);
    if (strncmp(symbol.name, name, size) == 0 && strcmp(symbol.name + size, ".kd") == 0) {
      return (uint64_t)gpu->image + symbol.value;
    }
  }
  return 0;
}

// Tells the map of the buffers; a buffer that is bound twice is there once.
static void insert_buffers(gpu_execute_t* gpu, const gpu_buffer_t* buffers, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    memory_range_t range = {(uint64_t)buffers[i].data, buffers[i].size, UINT64_MAX, buffers[i].is_written, "a buffer"};
    if (!memory_map_insert(gpu->memory, &range) && buffers[i].is_written) {
      memory_map_update(gpu->memory, range.base, UINT64_MAX, true);
    }
  }
}

bool gpu_execute_run(gpu_execute_t* gpu, const gpu_launch_t* launch) {
  const target_entry_t* of = &gpu->executable->entries[launch->entry];
  const gpu_buffer_t* buffers = launch->buffers;
  uint32_t buffer_count = launch->buffer_count;
  static uint64_t arguments[256] __attribute__((aligned(64)));
  static hsa_kernel_dispatch_packet_t packet __attribute__((aligned(64)));
  packet = (hsa_kernel_dispatch_packet_t){.setup = 3};
  packet.kernel_object = find_kernel(gpu, of->name);
  packet.kernarg_address = arguments;
  for (uint32_t i = 0; i < buffer_count; ++i) arguments[i] = (uint64_t)buffers[i].data;
  memcpy(&arguments[buffer_count], launch->constants, sizeof(*launch->constants) * launch->constant_count);
  uint16_t* sizes[3] = {&packet.workgroup_size_x, &packet.workgroup_size_y, &packet.workgroup_size_z};
  uint32_t* grids[3] = {&packet.grid_size_x, &packet.grid_size_y, &packet.grid_size_z};
  for (int i = 0; i < 3; ++i) {
    *sizes[i] = (uint16_t)of->workgroup_size[i];
    *grids[i] = launch->workgroups[i] * of->workgroup_size[i];
  }
  memory_range_t range = {(uint64_t)arguments, sizeof(arguments), UINT64_MAX, false, "kernel arguments"};
  memory_range_t own = {(uint64_t)&packet, sizeof(packet), UINT64_MAX, false, "the packet"};
  memory_map_insert(gpu->memory, &range);
  memory_map_insert(gpu->memory, &own);  // kernels ask it for the size of the grid
  insert_buffers(gpu, buffers, buffer_count);
  engine_dispatch_t dispatch = {.packet = &packet};
  engine_fault_t fault;
  bool done = packet.kernel_object && engine_dispatch(gpu->engine, &dispatch, &fault);
  for (uint32_t i = 0; i < buffer_count; ++i) memory_map_remove(gpu->memory, (uint64_t)buffers[i].data);
  memory_map_remove(gpu->memory, range.base);
  memory_map_remove(gpu->memory, own.base);
  if (!done) fprintf(stderr, "%s: %s\n", of->name, packet.kernel_object ? fault.message : "no such kernel");
  return done;
}
