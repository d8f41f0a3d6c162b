// What the checks of the software NVIDIA GPU report, and that they say nothing where all is well.
#include "trial.h"

#define SHARED                                                                                       \
  ".shared .align 16 .b8 buffer[1024]; .reg .b32 %a<6>; mov.u32 %a1, buffer; shl.b32 %a2, %r2, 2;\n" \
  "add.u32 %a2, %a1, %a2; xor.b32 %a3, %r2, 32; shl.b32 %a3, %a3, 2; add.u32 %a3, %a1, %a3;\n"

static void expect(const char* body, uint32_t checks, const char* says) {
  trial_t t = {.threads = 64, .checks = checks};
  run_body(&t, body);
  assert_true(t.is_loaded);
  if (!says) {
    assert_true(t.is_done);
    return;
  }
  assert_false(t.is_done);
  assert_int_equal(t.fault.kind, NV_FAULT_CHECK);
  if (!strstr(t.fault.message, says)) fail_msg("'%s' does not say '%s'", t.fault.message, says);
  // The same without the check ends.
  t.checks = 0;
  run_body(&t, body);
  assert_true(t.is_done);
}

static void test_races(void** state) {
  expect(SHARED "st.shared.u32 [%a2], %r2; ld.shared.u32 %r4, [%a3];", ENGINE_CHECK_RACES,
         "shared memory, which warp 0 read since the last barrier");
  expect(SHARED "st.shared.u32 [%a2], %r2; bar.sync 0; ld.shared.u32 %r4, [%a3];", ENGINE_CHECK_RACES, NULL);
  expect(SHARED "atom.shared.add.u32 %r4, [%a1], 1;", ENGINE_CHECK_RACES, NULL);
  expect(SHARED "st.shared.u32 [%a1], 7;", ENGINE_CHECK_RACES, NULL);
  expect(SHARED "shr.u32 %r4, %r2, 5; st.shared.u32 [%a1], %r4;", ENGINE_CHECK_RACES, "warp 0 wrote since");
  expect("st.global.u32 [%rd1], %r2;", ENGINE_CHECK_RACES, "lanes 0 and 1 write different values");
  expect("mov.u32 %r4, 5; st.global.u32 [%rd1], %r4;", ENGINE_CHECK_RACES, NULL);
}

// Blocks of a launch: each writes its own number to one word, or to a word of its own.
static void test_global_races(void** state) {
  trial_t t = {.threads = 1, .blocks = 4, .checks = ENGINE_CHECK_RACES};
  run_body(&t, "mov.u32 %r4, %ctaid.x; st.global.u32 [%rd1], %r4;");
  assert_false(t.is_done);
  assert_non_null(strstr(t.fault.message, "of the launch wrote, and nothing orders them"));
  run_body(&t,
           "mov.u32 %r4, %ctaid.x; mul.wide.u32 %rd5, %r4, 4; add.u64 %rd5, %rd5, %rd1; st.global.u32 [%rd5], %r4;");
  assert_true(t.is_done);
  run_body(&t, "atom.global.add.u32 %r4, [%rd1], 1;");
  assert_true(t.is_done);
}

static void test_uninitialized(void** state) {
  expect("st.global.u32 [%rd3], %r9;", ENGINE_CHECK_UNINITIALIZED, "stores registers that nobody wrote");
  expect("add.u32 %r8, %r9, 1; st.global.u32 [%rd3], %r8;", ENGINE_CHECK_UNINITIALIZED, "stores registers");
  expect("setp.eq.u32 %p1, %r9, 0; @%p1 bra END; add.u32 %r8, %r1, 1; END: ret;", ENGINE_CHECK_UNINITIALIZED,
         "a branch by a predicate");
  expect("setp.lt.u32 %p1, %r2, 8; @%p1 mov.u32 %r9, 3; st.global.u32 [%rd3], %r9;", ENGINE_CHECK_UNINITIALIZED,
         "lanes 0xffffff00");
  expect(SHARED "ld.shared.u32 %r4, [%a2]; st.global.u32 [%rd3], %r4;", ENGINE_CHECK_UNINITIALIZED, "stores registers");
  expect(SHARED "st.shared.u32 [%a2], %r2; ld.shared.u32 %r4, [%a2]; st.global.u32 [%rd3], %r4;",
         ENGINE_CHECK_UNINITIALIZED, NULL);
}

static void test_waits(void** state) {
#define COPY SHARED "mul.wide.u32 %rd5, %r2, 4; add.u64 %rd5, %rd5, %rd1; cp.async.ca.shared.global [%a2], [%rd5], 4;\n"
  expect(COPY "cp.async.commit_group; ld.shared.u32 %r4, [%a2];", ENGINE_CHECK_WAITS, "before a wait for the cp.async");
  expect(COPY "cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r4, [%a2];", ENGINE_CHECK_WAITS,
         "before a wait for the cp.async");
  expect(COPY "cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r4, [%a2];", ENGINE_CHECK_WAITS, NULL);
  expect(COPY "cp.async.wait_all; ld.shared.u32 %r4, [%a2];", ENGINE_CHECK_WAITS, NULL);
}

static void test_barriers(void** state) {
  expect("setp.lt.u32 %p1, %r2, 48; @%p1 bra OVER; ret; OVER: bar.sync 0;", ENGINE_CHECK_BARRIERS,
         "16 of the block's 64 threads have ended before it");
  expect("bar.sync 0; bar.sync 1, 64;", ENGINE_CHECK_BARRIERS, NULL);
  // The sides of a branch meet at a barrier above them, or at none.
  expect(
      "setp.lt.u32 %p1, %r2, 48; bra IN; MEET: bar.sync 0; ret;\n"
      "IN: @%p1 bra MEET; st.global.u32 [%rd3], %r2; bra MEET;",
      ENGINE_CHECK_BARRIERS, NULL);
  expect("setp.lt.u32 %p1, %r2, 48; @%p1 bra ONE; bar.sync 0; ret; ONE: bar.sync 0;", ENGINE_CHECK_BARRIERS,
         "lanes 0xffff0000 of the warp are not at it");
}

int main(void) {
  map = memory_map_create();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_races), cmocka_unit_test(test_global_races), cmocka_unit_test(test_uninitialized),
      cmocka_unit_test(test_waits), cmocka_unit_test(test_barriers),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  memory_map_destroy(map);
  return failed;
}
