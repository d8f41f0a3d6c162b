// Runs small pieces of PTX for the tests of this folder.
#ifndef IREE_C_TESTS_SOFTGPU_NVIDIA_TRIAL_H_
#define IREE_C_TESTS_SOFTGPU_NVIDIA_TRIAL_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs those above
#include <cmocka.h>

#include "softgpu/nvidia/engine.h"

static memory_map_t* map;

static void* allocate(void* data, size_t size, size_t alignment, const char* kind) {
  void* memory = aligned_alloc(256, (size + 255) & ~(size_t)255);
  memset(memory, 0, (size + 255) & ~(size_t)255);
  memory_range_t range = {(uint64_t)memory, size, 1, true, kind};
  assert_true(memory_map_insert(map, &range));
  return memory;
}
static void release(void* data, void* address) {
  assert_true(memory_map_remove(map, (uint64_t)address));
  free(address);
}

static const char head[] =
    ".version 8.3\n.target sm_80\n.address_size 64\n"
    ".visible .entry test(.param .u64 out, .param .u32 number)\n{\n"
    ".reg .pred %p<8>;\n.reg .b16 %h<16>;\n.reg .b32 %r<32>;\n.reg .f32 %f<16>;\n.reg .b64 %rd<16>;\n.reg .f64 %d<8>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [number];\nmov.u32 %r2, %tid.x;\nmul.wide.u32 %rd2, %r2, 4;\n"
    "add.u64 %rd3, %rd1, %rd2;\n";

typedef struct trial_t {
  uint32_t threads, blocks, number, checks;
  uint64_t limit;
  uint32_t out[64];
  nv_fault_t fault;
  bool is_loaded, is_done;
} trial_t;

// Runs a whole module, or a body behind `head`, with 64 words of memory.
static void run_text(trial_t* t, const char* text) {
  nv_options_t options = {.target = nv_target_find("sm_90"), .memory = map, .allocate = allocate, .release = release};
  options.checks = t->checks, options.warp_limit = t->limit;
  nv_engine_t* engine = nv_engine_create(&options);
  nv_module_t* module = nv_module_create(engine, text, strlen(text), &t->fault);
  t->is_loaded = module != NULL;
  if (module) {
    uint32_t* memory = allocate(NULL, sizeof(t->out), 256, "device memory");
    struct {
      uint64_t out;
      uint32_t number;
    } parameters = {(uint64_t)memory, t->number};
    nv_launch_t launch = {.function = nv_module_function(module, "test"), .parameters = &parameters};
    assert_non_null(launch.function);
    for (int i = 0; i < 3; ++i) launch.grid[i] = launch.block[i] = 1;
    launch.grid[0] = t->blocks ? t->blocks : 1, launch.block[0] = t->threads ? t->threads : 32;
    t->is_done = nv_launch(&launch, &t->fault);
    memcpy(t->out, memory, sizeof(t->out));
    release(NULL, memory);
  }
  if (!t->is_loaded || !t->is_done) print_message("%s\n", t->fault.message);
  nv_module_destroy(module);
  nv_engine_destroy(engine);
}
static void run_body(trial_t* t, const char* body) {
  size_t size = sizeof(head) + strlen(body) + 8;
  char* text = malloc(size);
  snprintf(text, size, "%s%s\n}\n", head, body);
  run_text(t, text);
  free(text);
}

#endif  // IREE_C_TESTS_SOFTGPU_NVIDIA_TRIAL_H_
