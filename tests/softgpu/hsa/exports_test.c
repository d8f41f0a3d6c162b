// The library exports what its table of entry points says, each under the version that programs bind.
#include <dlfcn.h>
#include <stdio.h>

#include "hsa_test.h"

static const char* const names[] = {
#define ENTRY(name, file) #name,
#define BOUND(name, file) #name,
#include "softgpu/hsa/entry_points.def"
#undef ENTRY
#undef BOUND
};

static void test_versions(void** state) {
  void* library = dlopen("libhsa-runtime64.so.1", RTLD_NOW);
  assert_non_null(library);
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (!dlvsym(library, names[i], "ROCR_1")) fail_msg("%s is not exported as ROCR_1", names[i]);
  }
  assert_null(dlsym(library, "engine_create"));
  dlclose(library);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_versions)};
  return cmocka_run_group_tests(tests, test_open, test_close);
}
