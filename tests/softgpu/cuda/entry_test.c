// Every entry point is there under its name, and cuGetProcAddress finds the version that was asked for.
#include <dlfcn.h>

#include "cuda_test.h"

static const char* const symbols[] = {
#define ENTRY(symbol, name, version, parameters) #symbol,
#define STREAM(symbol, name, version, suffix, parameters, arguments) #symbol, #symbol #suffix,
#define REFUSED(symbol, name, version) #symbol,
#include "softgpu/cuda/entry_points.def"
};

// What src/hal/stream looks up.
static const char* const bound[] = {
#define SYMBOL(entry, name) name,
#define OPTIONAL(entry, name) name,
#include "hal/stream/cuda.def"
};

static void all_are_there(void** state) {
  for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
    if (!dlsym(RTLD_DEFAULT, symbols[i])) fail_msg("%s is missing", symbols[i]);
  }
  for (size_t i = 0; i < sizeof(bound) / sizeof(bound[0]); ++i) {
    if (!dlsym(RTLD_DEFAULT, bound[i])) fail_msg("%s is missing", bound[i]);
  }
}

static void versions(void** state) {
  void* call;
  int status;
  OK(cuGetProcAddress_v2("cuMemAlloc", &call, 12000, 0, &status));
  assert_ptr_equal(call, (void*)cuMemAlloc_v2);
  OK(cuGetProcAddress_v2("cuCtxCreate", &call, 4000, 0, &status));
  assert_ptr_equal(call, (void*)cuCtxCreate_v2);
  OK(cuGetProcAddress_v2("cuGraphInstantiate", &call, 12000, 0, &status));
  assert_ptr_equal(call, (void*)cuGraphInstantiateWithFlags);
  OK(cuGetProcAddress_v2("cuMemcpyHtoD", &call, 12000, 2, &status));
  assert_ptr_equal(call, dlsym(RTLD_DEFAULT, "cuMemcpyHtoD_v2_ptds"));
  OK(cuGetProcAddress_v2("cuMemAllocAsync", &call, 9000, 0, &status));
  assert_null(call);
  assert_int_equal(status, 2);
  OK(cuGetProcAddress_v2("cuNothing", &call, 12000, 0, &status));
  assert_int_equal(status, 1);
  FAILS(CUDA_ERROR_NOT_FOUND, cuGetProcAddress("cuNothing", &call, 12000, 0));
}

static void refused_by_name(void** state) {
  result_t (*refused)(void) = (result_t (*)(void))dlsym(RTLD_DEFAULT, "cuArrayCreate_v2");
  FAILS(CUDA_ERROR_NOT_SUPPORTED, refused());
}

static void attributes(void** state) {
  int value, count;
  char name[64], id[32];
  OK(cuDeviceGetCount(&count));
  assert_int_equal(count, 2);
  OK(cuDeviceGetName(name, sizeof(name), 0));
  assert_non_null(strstr(name, "NVIDIA"));
  OK(cuDeviceGetAttribute(&value, 75, 0));
  assert_int_equal(value, 9);
  for (int i = 1; i <= 147; ++i) OK(cuDeviceGetAttribute(&value, i, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, 148, 0));
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, 1, 2));
  OK(cuDeviceGetPCIBusId(id, sizeof(id), 1));
  OK(cuDeviceGetByPCIBusId(&value, id));
  assert_int_equal(value, 1);
}

int main(void) {
  test_environment();
  const struct CMUnitTest tests[] = {TEST(all_are_there), TEST(versions), TEST(refused_by_name), TEST(attributes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
