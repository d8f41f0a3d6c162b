// The reader of PTX, and short runs of what it takes: no text may crash it, and no kernel may touch what is not its
// own. The first byte says which checks run beside it.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "softgpu/nvidia/engine.h"

enum { FUZZ_WARP_LIMIT = 2000, FUZZ_BUFFER = 4096 };

static memory_map_t* map;

static void* allocate(void* data, size_t size, size_t alignment, const char* kind) {
  if (size > 1 << 20) return NULL;
  size_t rounded = (size + 4095) & ~(size_t)4095;
  void* memory = aligned_alloc(4096, rounded);
  if (!memory) abort();
  memset(memory, 0, rounded);
  memory_range_t range = {(uint64_t)memory, size, 1, true, kind};
  if (!memory_map_insert(map, &range)) abort();
  return memory;
}

static void release(void* data, void* address) {
  memory_map_remove(map, (uint64_t)address);
  free(address);
}

static void launch(nv_function_t* function, void* buffer) {
  nv_function_info_t info;
  nv_fault_t fault;
  nv_function_info(function, &info);
  uint64_t* parameters = calloc(1, info.parameter_size + 8);
  for (uint32_t i = 0; i < info.parameter_size / 8; ++i) parameters[i] = (uint64_t)buffer;
  nv_launch_t launch = {.function = function, .grid = {2, 1, 1}, .block = {40, 1, 1}, .dynamic_shared = 64};
  launch.parameters = parameters;
  if (info.shared_size < 1 << 20 && info.local_size < 1 << 16) nv_launch(&launch, &fault);
  free(parameters);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  setenv("IREE_SOFTGPU_THREADS", "1", 1);
  if (!map) map = memory_map_create();
  nv_options_t options = {.target = nv_target_find("sm_90"), .memory = map, .allocate = allocate, .release = release};
  options.checks = data[0] & 1 ? (1u << ENGINE_CHECK_COUNT) - 1 : 0;
  options.warp_limit = FUZZ_WARP_LIMIT;
  nv_engine_t* engine = nv_engine_create(&options);
  nv_fault_t fault;
  nv_module_t* module = nv_module_create(engine, (const char*)data + 1, size - 1, &fault);
  if (!module && !fault.message[0]) abort();
  void* buffer = allocate(NULL, FUZZ_BUFFER, 256, "device memory");
  for (uint32_t i = 0; module && i < 4; ++i) {
    nv_function_t* function = nv_module_function_at(module, i);
    if (function) launch(function, buffer);
  }
  release(NULL, buffer);
  nv_module_destroy(module);
  nv_engine_destroy(engine);
  return 0;
}
