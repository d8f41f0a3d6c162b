// What tests of libcuda share: two GPUs, a context of the first, kernels, and host functions that wait.
#ifndef IREE_C_TESTS_SOFTGPU_CUDA_CUDA_TEST_H_
#define IREE_C_TESTS_SOFTGPU_CUDA_CUDA_TEST_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
// After those that it needs:
#include <cmocka.h>

#include "softgpu/cuda/calls.h"

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(result, call) assert_int_equal(call, result)

// increment(word): adds one; spin(): never ends; fault(word): writes to no memory; scale(words, count, factor);
// shared(): wants dynamic shared memory; variables: a table of four words.
static const char test_ptx[] =
    ".version 7.0\n.target sm_60\n.address_size 64\n"
    ".visible .global .align 4 .b32 table[4] = {1, 2, 3, 4};\n"
    ".visible .entry increment(.param .u64 increment_0)\n{\n"
    "  .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
    "  ld.param.u64 %rd1, [increment_0];\n  cvta.to.global.u64 %rd2, %rd1;\n"
    "  atom.global.add.u32 %r1, [%rd2], 1;\n  ret;\n}\n"
    ".visible .entry spin()\n{\n"
    "$again:\n  bra.uni $again;\n}\n"
    ".visible .entry fault(.param .u64 fault_0)\n{\n"
    "  .reg .b64 %rd<3>; .reg .b32 %r<3>;\n"
    "  ld.param.u64 %rd1, [fault_0];\n  mov.u32 %r1, 1;\n  st.global.u32 [%rd1], %r1;\n  ret;\n}\n"
    ".visible .entry scale(.param .u64 scale_0, .param .u32 scale_1, .param .u32 scale_2)\n{\n"
    "  .reg .pred %p<2>; .reg .b64 %rd<4>; .reg .b32 %r<10>;\n"
    "  ld.param.u64 %rd1, [scale_0];\n  ld.param.u32 %r1, [scale_1];\n  ld.param.u32 %r2, [scale_2];\n"
    "  mov.u32 %r3, %ctaid.x;\n  mov.u32 %r4, %ntid.x;\n  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.u32 %r6, %r3, %r4, %r5;\n  setp.ge.u32 %p1, %r6, %r1;\n  @%p1 bra $done;\n"
    "  mul.wide.u32 %rd2, %r6, 4;\n  add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r7, [%rd3];\n  mul.lo.u32 %r8, %r7, %r2;\n  st.global.u32 [%rd3], %r8;\n"
    "$done:\n  ret;\n}\n";

static context_t* test_context;

static inline function_t* test_function(const char* name) {
  module_t* module;
  function_t* function;
  OK(cuModuleLoadData(&module, test_ptx));
  OK(cuModuleGetFunction(&function, module, name));
  return function;
}

static inline int test_setup(void** state) {
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&test_context, 0));
  OK(cuCtxSetCurrent(test_context));
  return 0;
}
static inline int test_teardown(void** state) {
  cuCtxSetCurrent(NULL);
  cuDevicePrimaryCtxReset_v2(0);
  cuDevicePrimaryCtxRelease_v2(0);
  return 0;
}

// A host function that waits until it is let go.
typedef struct test_gate_t {
  int is_open;   // atomic
  int is_there;  // atomic: something waits at it
} test_gate_t;
static inline void test_pause(void) {
  struct timespec time = {0, 200000};
  nanosleep(&time, NULL);
}
static inline void test_wait_at(void* data) {
  test_gate_t* gate = data;
  __atomic_store_n(&gate->is_there, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&gate->is_open, __ATOMIC_ACQUIRE)) test_pause();
}
static inline void test_open(test_gate_t* gate) { __atomic_store_n(&gate->is_open, 1, __ATOMIC_RELEASE); }
static inline void test_until_there(test_gate_t* gate) {
  while (!__atomic_load_n(&gate->is_there, __ATOMIC_ACQUIRE)) test_pause();
}

static inline uint32_t test_word(uint64_t address) {
  uint32_t word = 0;
  OK(cuMemcpyDtoH_v2(&word, address, sizeof(word)));
  return word;
}

static inline uint64_t test_words(uint32_t count, uint32_t value) {
  uint64_t address;
  OK(cuMemAlloc_v2(&address, count * sizeof(uint32_t)));
  OK(cuMemsetD32_v2(address, value, count));
  OK(cuCtxSynchronize());
  return address;
}

static inline result_t test_launch(function_t* function, stream_t* stream, void** parameters) {
  return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

static inline void test_environment(void) {
  setenv("IREE_SOFTGPU_TARGET", "sm_90", 1);
  setenv("IREE_SOFTGPU_GPUS", "2", 1);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_setup, test_teardown)

#endif  // IREE_C_TESTS_SOFTGPU_CUDA_CUDA_TEST_H_
