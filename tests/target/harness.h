// Shared by the target tests: builds kernels, compiles them, loads the executable with the system's loader and calls
// its entry points.
#ifndef IREE_C_TESTS_TARGET_HARNESS_H_
#define IREE_C_TESTS_TARGET_HARNESS_H_

// clang-format off: cmocka.h needs these before it
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dialects/kernel.h"
#include "iree/hal/local/executable_library.h"
#include "target/target.h"

typedef struct harness_t {
  ir_context_t* ctx;
  ir_block_t* block;
  ir_op_t* funcs[4096];
  uint32_t count;
  void* library;
  const iree_hal_executable_library_v0_t* tables;
  target_executable_t executable;
} harness_t;

static inline void harness_init(harness_t* h) {
  memset(h, 0, sizeof(*h));
  h->ctx = ir_context_create();
  kernel_register(h->ctx);
  h->block = ir_module_body(ir_module_create(h->ctx, ir_loc_unknown(h->ctx)));
}

// A kernel.func with bindings of the given element types and one index constant.
static inline ir_op_t* harness_func(harness_t* h, const ir_type_t* const* bindings, uint32_t count, ir_builder_t* b) {
  char name[32];
  snprintf(name, sizeof(name), "kernel_%u", h->count);
  const ir_type_t* constants[1] = {ir_type_index(h->ctx)};
  kernel_signature_t signature = {.name = name,
                                  .bindings = bindings,
                                  .binding_count = count,
                                  .constants = constants,
                                  .constant_count = 1,
                                  .workgroup_size = {1, 1, 1}};
  ir_op_t* func = kernel_func_begin(h->ctx, h->block, ir_loc_unknown(h->ctx), &signature, b);
  h->funcs[h->count++] = func;
  return func;
}

static inline void harness_resolve(const target_options_t* options, target_t* target) {
  text_t error = {0};
  if (!target_resolve(options, target, &error)) fail_msg("%s", error.data);
  text_finish(&error);
}

static inline void harness_compile(harness_t* h, const target_t* target, const target_compile_options_t* given) {
  target_compile_options_t options = {.name = "test", .threads = 2};
  if (given) options = *given;
  text_t error = {0};
  if (!target_compile(target, h->funcs, h->count, &options, &h->executable, &error)) fail_msg("%s", error.data);
  text_finish(&error);
}

static inline void harness_load(harness_t* h) {
  char path[32];
  int fd = memfd_create("executable", MFD_CLOEXEC);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, h->executable.data, h->executable.size), h->executable.size);
  h->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(fd);
  if (!h->library) fail_msg("%s", dlerror());
  union {
    void* symbol;
    iree_hal_executable_library_query_fn_t query;
  } entry = {.symbol = dlsym(h->library, IREE_HAL_EXECUTABLE_LIBRARY_EXPORT_NAME)};
  assert_non_null(entry.symbol);
  assert_null(entry.query(0, NULL));
  h->tables = (const void*)entry.query(IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST, NULL);
  assert_non_null(h->tables);
  assert_int_equal(h->tables->exports.count, h->count);
}

// Calls entry `i` for one workgroup with `constant` as its index constant.
static inline void harness_call(const harness_t* h, uint32_t i, void** bindings, uint32_t count, uint64_t constant) {
  size_t lengths[8] = {0};
  static char memory[1 << 20] __attribute__((aligned(4096)));
  iree_hal_executable_dispatch_state_v0_t dispatch = {.workgroup_count_x = 3,
                                                      .workgroup_count_y = 5,
                                                      .workgroup_count_z = 7,
                                                      .binding_count = (uint8_t)count,
                                                      .constant_count = 2,
                                                      .constants = (const uint32_t*)&constant,
                                                      .binding_ptrs = bindings,
                                                      .binding_lengths = lengths};
  iree_hal_executable_workgroup_state_v0_t workgroup = {.workgroup_id_x = 1,
                                                        .workgroup_id_y = 2,
                                                        .workgroup_id_z = 3,
                                                        .local_memory = memory,
                                                        .local_memory_size = sizeof(memory)};
  assert_int_equal(h->tables->exports.ptrs[i](NULL, &dispatch, &workgroup), 0);
}

static inline void harness_finish(harness_t* h) {
  if (h->library) dlclose(h->library);
  target_executable_finish(&h->executable);
  ir_context_destroy(h->ctx);
}

// Random numbers: splitmix64.
static inline uint64_t harness_random(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

#endif  // IREE_C_TESTS_TARGET_HARNESS_H_
