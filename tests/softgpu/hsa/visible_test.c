// Which GPUs there are: IREE_SOFTGPU_TARGET, IREE_SOFTGPU_GPUS and ROCR_VISIBLE_DEVICES, as ROCm reads the last.
#include <stdio.h>

#include "hsa_test.h"

static hsa_status_t take_name(hsa_agent_t agent, void* names) {
  hsa_device_type_t type;
  char name[64];
  assert_ok(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  assert_ok(hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name));
  if (type == HSA_DEVICE_TYPE_GPU) strcat(strcat(names, name), " ");
  return HSA_STATUS_SUCCESS;
}

static void set(const char* name, const char* value) { value ? setenv(name, value, 1) : unsetenv(name); }

static void check(const char* gpus, const char* visible, const char* expected) {
  char names[2048] = "";
  set("IREE_SOFTGPU_GPUS", gpus);
  set("ROCR_VISIBLE_DEVICES", visible);
  assert_ok(hsa_init());
  assert_ok(hsa_iterate_agents(take_name, names));
  assert_ok(hsa_shut_down());
  assert_string_equal(names, expected);
}

static void test_lists(void** state) {
  set("IREE_SOFTGPU_TARGET", NULL);
  check(NULL, NULL, "gfx1100 ");
  check("gfx90a,gfx942", NULL, "gfx90a gfx942 ");
  check("0", NULL, "");
  set("IREE_SOFTGPU_TARGET", "gfx1030");
  check("2", NULL, "gfx1030 gfx1030 ");
  set("IREE_SOFTGPU_TARGET", NULL);
}

static void test_visible(void** state) {
  static const char* const cases[][2] = {
      {"", ""},
      {"-1", ""},
      {"GPU-XX", ""},
      {"1", "gfx942 "},
      {"2,0", "gfx1100 gfx90a "},
      {"0, 1", "gfx90a gfx942 "},
      {"GPU-09425f6700000002,0", "gfx942 gfx90a "},
      {"GPU-0b", "gfx1100 "},
      {"GPU-09", ""},        // begins two
      {"1,7,0", "gfx942 "},  // ends at what names none
      {"2,2,0", "gfx1100 "},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i)
    check("gfx90a,gfx942,gfx1100", cases[i][0], cases[i][1]);
}

static void test_refused(void** state) {
  static const char* const bad[] = {"999", "-1", "gfx90a,gfx9", "gfx9-generic", "two"};
  set("ROCR_VISIBLE_DEVICES", NULL);
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    set("IREE_SOFTGPU_GPUS", bad[i]);
    assert_int_not_equal(hsa_init(), HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_iterate_agents(take_name, NULL), HSA_STATUS_ERROR_NOT_INITIALIZED);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_visible),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
