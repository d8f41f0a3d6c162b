// The scalar suite on the host's instructions, and on processors that lack fma, rounding and half conversions.
#include "scalar_suite.h"

static void run_suite(const char* cpu, int64_t lanes, void (*add)(suite_t* s)) {
  suite_t* s = suite_create(lanes, add);
  target_t target;
  harness_resolve(&(target_options_t){.backend = "llvm-cpu", .cpu = cpu}, &target);
  harness_compile(&s->h, &target, NULL);
  harness_load(&s->h);
  suite_data_t data;
  for (int k = 0; k < 4; ++k) data.at[k] = aligned_alloc(64, 8 * SAMPLES);
  for (uint32_t i = 0; i < s->count; ++i) {
    suite_fill(s, &s->cases[i], &data);
    harness_call(&s->h, i, (void**)data.at, 4, SAMPLES);
    suite_check(s, &s->cases[i], &data);
  }
  for (int k = 0; k < 4; ++k) free(data.at[k]);
  suite_finish(s);
}

static void test_rows_vector(void** state) { run_suite("host", 16, add_rows); }
static void test_rows_scalar(void** state) { run_suite("host", 1, add_rows); }
static void test_rows_generic(void** state) { run_suite("generic", 4, add_rows); }
static void test_casts_vector(void** state) { run_suite("host", 16, add_casts); }
static void test_casts_scalar(void** state) { run_suite("host", 1, add_casts); }
static void test_casts_generic(void** state) { run_suite("generic", 4, add_casts); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_vector),  cmocka_unit_test(test_rows_scalar),  cmocka_unit_test(test_rows_generic),
      cmocka_unit_test(test_casts_vector), cmocka_unit_test(test_casts_scalar), cmocka_unit_test(test_casts_generic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
