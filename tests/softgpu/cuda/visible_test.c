// Which GPUs a process sees: a list of two architectures, of which CUDA_VISIBLE_DEVICES names some, in its order.
#include "cuda_test.h"

static int capability(int ordinal) {
  int major = 0, minor = 0;
  OK(cuDeviceComputeCapability(&major, &minor, ordinal));
  return 10 * major + minor;
}

static void order_is_the_lists(void** state) {
  int count = 0;
  uint8_t first[16], second[16];
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  assert_int_equal(count, 2);
  assert_int_equal(capability(0), 90);
  assert_int_equal(capability(1), 70);
  OK(cuDeviceGetUuid_v2(first, 0));
  OK(cuDeviceGetUuid_v2(second, 1));
  assert_memory_not_equal(first, second, sizeof(first));
  // Of sm_90, the third of the list.
  assert_int_equal(first[0], 90);
  assert_int_equal(first[3], 3);
}

int main(void) {
  setenv("IREE_SOFTGPU_GPUS", "sm_70,sm_80,sm_90", 1);
  unsetenv("IREE_SOFTGPU_TARGET");
  // What names none ends the list.
  setenv("CUDA_VISIBLE_DEVICES", "GPU-5a5f6703,0,7,1", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(order_is_the_lists)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
