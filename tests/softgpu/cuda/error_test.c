// Errors: what is refused before a launch, and what stays when a kernel fails.
#include "cuda_test.h"

static void launches_are_checked(void** state) {
  function_t *spin = test_function("spin"), *increment = test_function("increment");
  uint64_t words = test_words(1, 0);
  void* parameters[] = {&words};
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(spin, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(spin, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(spin, 1, 1, 1, 1, 1, 65, 0, NULL, NULL, NULL));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(spin, 1, 1, 1, 1024, 2, 1, 0, NULL, NULL, NULL));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 49153, NULL, NULL, NULL));
  FAILS(CUDA_ERROR_INVALID_VALUE, test_launch(increment, NULL, NULL));
  FAILS(CUDA_ERROR_INVALID_HANDLE, test_launch(NULL, NULL, NULL));
  size_t size = sizeof(words);
  void* extra[] = {(void*)1, &words, (void*)2, &size, NULL};
  OK(cuLaunchKernel(increment, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(increment, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, extra));
  FAILS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        cuLaunchCooperativeKernel(increment, 1 << 20, 1, 1, 1024, 1, 1, 0, NULL, parameters));
  OK(cuLaunchCooperativeKernel(increment, 2, 1, 1, 1, 1, 1, 0, NULL, parameters));
  launch_attribute_t attributes[] = {{.id = 6, .value = {.number = 1}}, {.id = 4, .value = {.size = {1, 1, 1}}}};
  launch_config_t config = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .attributes = attributes, .attribute_count = 2};
  OK(cuLaunchKernelEx(&config, increment, parameters, NULL));
  attributes[1].value.size[0] = 2;
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernelEx(&config, increment, parameters, NULL));
  OK(cuCtxSynchronize());
  assert_int_equal(test_word(words), 4);
}

static result_t heard = -1;
static void hears(stream_t* stream, result_t status, void* data) { heard = status; }

// A kernel that touches no memory poisons its context, and no other.
static void errors_stay(void** state) {
  stream_t* stream;
  context_t* other;
  uint64_t nowhere = 64, words = test_words(1, 0);
  void* parameters[] = {&nowhere};
  function_t* fault = test_function("fault");
  OK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(test_launch(fault, stream, parameters));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamQuery(stream));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc_v2(&words, 4));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemFree_v2(words));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, test_launch(fault, stream, parameters));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  OK(cuDevicePrimaryCtxRetain(&other, 1));
  OK(cuCtxPushCurrent_v2(other));
  assert_int_equal(test_word(test_words(1, 2)), 2);
  OK(cuCtxPopCurrent_v2(NULL));
  OK(cuDevicePrimaryCtxRelease_v2(1));
  OK(cuDevicePrimaryCtxReset_v2(0));
  assert_int_equal(test_word(test_words(1, 2)), 2);
}

static void what_comes_after_is_not_done(void** state) {
  stream_t* stream;
  test_gate_t gate = {0};
  uint64_t nowhere = 64;
  uint32_t* pinned;
  void* parameters[] = {&nowhere};
  function_t* fault = test_function("fault");
  OK(cuMemAllocHost_v2((void**)&pinned, 4));
  OK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
  OK(cuLaunchHostFunc(stream, test_wait_at, &gate));
  OK(test_launch(fault, stream, parameters));
  OK(cuMemsetD32Async((uint64_t)(uintptr_t)pinned, 1, 1, stream));
  OK(cuStreamAddCallback(stream, hears, NULL, 0));
  test_open(&gate);
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
  assert_int_equal(*pinned, 0);
  assert_int_equal(heard, CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void kernels_without_end_are_stopped(void** state) {
  OK(test_launch(test_function("spin"), NULL, NULL));
  FAILS(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
}

static void freed_memory_is_gone(void** state) {
  uint64_t words = test_words(1, 0);
  void* parameters[] = {&words};
  function_t* increment = test_function("increment");
  OK(cuMemFree_v2(words));
  OK(test_launch(increment, NULL, parameters));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

static void other_gpus_memory_is_not_there(void** state) {
  context_t* other;
  OK(cuDevicePrimaryCtxRetain(&other, 1));
  OK(cuCtxPushCurrent_v2(other));
  uint64_t words = test_words(1, 0);
  OK(cuCtxPopCurrent_v2(NULL));
  void* parameters[] = {&words};
  OK(test_launch(test_function("increment"), NULL, parameters));
  FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  OK(cuDevicePrimaryCtxRelease_v2(1));
}

static void contexts_are_needed(void** state) {
  uint64_t address;
  const char* text;
  OK(cuCtxSetCurrent(NULL));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&address, 4));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent_v2(NULL));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent((context_t*)&address));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet((int*)&address, 2));
  OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorString(12345, &text));
}

int main(void) {
  test_environment();
  setenv("IREE_SOFTGPU_CHECK", "bounds", 1);
  setenv("IREE_SOFTGPU_LIMIT", "100000", 1);
  const struct CMUnitTest tests[] = {
      TEST(launches_are_checked),
      TEST(errors_stay),
      TEST(what_comes_after_is_not_done),
      TEST(freed_memory_is_gone),
      TEST(other_gpus_memory_is_not_there),
      TEST(contexts_are_needed),
      TEST(kernels_without_end_are_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
