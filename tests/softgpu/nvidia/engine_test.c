// The engine of the software NVIDIA GPU, by small pieces of PTX: each kernel stores what is compared here.
#include "trial.h"

static void test_lanes(void** state) {
  trial_t t = {.number = 5};
  run_body(&t, "mad.lo.u32 %r3, %r2, %r1, 7; st.global.u32 [%rd3], %r3; ret;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 32; ++i) assert_int_equal(t.out[i], 5 * i + 7);
}

// The sides of a branch meet again: the sum over the warp sees all lanes.
static void test_divergence(void** state) {
  trial_t t = {0};
  run_body(&t,
           "setp.lt.u32 %p1, %r2, 10; mov.u32 %r4, 1; @%p1 bra LESS; mov.u32 %r4, 100; bra DONE;\n"
           "LESS: add.u32 %r4, %r4, 1;\nDONE: activemask.b32 %r5; add.u32 %r4, %r4, %r5; st.global.u32 [%rd3], %r4;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 32; ++i) assert_int_equal(t.out[i], (i < 10 ? 2 : 100) + UINT32_MAX);
}

// A lane that waits for another lane's write, which comes later in the text.
static void test_progress(void** state) {
  trial_t t = {.limit = 10000000};
  run_body(&t,
           "setp.eq.u32 %p1, %r2, 3; @%p1 bra WRITE;\n"
           "SPIN: ld.volatile.global.u32 %r4, [%rd1+128]; setp.eq.u32 %p2, %r4, 0; @%p2 bra SPIN; bra DONE;\n"
           "WRITE: mov.u32 %r4, 9; st.volatile.global.u32 [%rd1+128], %r4;\nDONE: st.global.u32 [%rd3], %r4;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 32; ++i) assert_int_equal(t.out[i], 9);
}

static void test_shared_and_barrier(void** state) {
  trial_t t = {.threads = 64};
  run_body(&t,
           ".shared .align 4 .b8 buffer[256]; .reg .b32 %a<4>; mov.u32 %a1, buffer; shl.b32 %a2, %r2, 2;\n"
           "add.u32 %a2, %a1, %a2; st.shared.u32 [%a2], %r2; bar.sync 0; xor.b32 %r4, %r2, 63; shl.b32 %r4, %r4, 2;\n"
           "add.u32 %r4, %a1, %r4; ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd3], %r5;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 64; ++i) assert_int_equal(t.out[i], 63 - i);
}

static void test_shuffles(void** state) {
  trial_t t = {0};
  run_body(&t,
           "shfl.sync.bfly.b32 %r4|%p1, %r2, 1, 0x1f, -1; shfl.sync.up.b32 %r5|%p2, %r2, 1, 0, -1;\n"
           "vote.sync.ballot.b32 %r6, %p2, -1; redux.sync.add.s32 %r7, %r2, -1; mad.lo.u32 %r4, %r5, 100, %r4;\n"
           "add.u32 %r4, %r4, %r6; add.u32 %r4, %r4, %r7; st.global.u32 [%rd3], %r4;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 32; ++i) assert_int_equal(t.out[i], (i ? i - 1 : 0) * 100 + (i ^ 1) + 0xfffffffe + 496);
}

static void test_calls(void** state) {
  static const char text[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".func (.param .b32 result) factorial(.param .b32 n) {\n"
      ".reg .pred %p; .reg .b32 %n, %m, %k; ld.param.b32 %n, [n]; setp.lt.u32 %p, %n, 2; @%p bra ONE;\n"
      "sub.u32 %m, %n, 1; { .param .b32 a; .param .b32 b; st.param.b32 [a], %m; call.uni (b), factorial, (a);\n"
      "ld.param.b32 %k, [b]; } mul.lo.u32 %k, %k, %n; st.param.b32 [result], %k; ret;\n"
      "ONE: st.param.b32 [result], 1; ret; }\n"
      ".visible .entry test(.param .u64 out, .param .u32 number) {\n"
      ".reg .b64 %rd<4>; .reg .b32 %r<4>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
      "add.u64 %rd1, %rd1, %rd2; and.b32 %r1, %r1, 7; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;\n"
      "call (b), factorial, (a); ld.param.b32 %r2, [b]; } st.global.b32 [%rd1], %r2; }\n";
  static const uint32_t expected[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  trial_t t = {0};
  run_text(&t, text);
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 32; ++i) assert_int_equal(t.out[i], expected[i & 7]);
}

static void test_variables(void** state) {
  static const char text[] =
      ".version 7.0\n.target sm_70\n.address_size 64\n"
      ".global .align 4 .u32 table[4] = {10, 20, 30};\n.const .u64 where[1] = {generic(table)};\n"
      ".visible .entry test(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
      "ld.param.u64 %rd1, [out]; ld.const.u64 %rd2, [where]; ld.u32 %r1, [%rd2+4]; ld.global.u32 %r2, [table+8];\n"
      "add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; }\n";
  trial_t t = {0};
  run_text(&t, text);
  assert_true(t.is_done);
  assert_int_equal(t.out[0], 50);
}

static void test_faults(void** state) {
  trial_t t = {0};
  run_body(&t, "st.global.u32 [%rd3+248], %r2;");
  assert_false(t.is_done);
  assert_int_equal(t.fault.kind, NV_FAULT_ADDRESS);
  assert_non_null(strstr(t.fault.message, "behind 256 bytes of device memory"));
  run_body(&t, "st.global.u32 [%rd3+2], %r2;");
  assert_int_equal(t.fault.kind, NV_FAULT_MISALIGNED);
  run_body(&t, "trap;");
  assert_int_equal(t.fault.kind, NV_FAULT_TRAP);
  run_body(&t, "wgmma.fence.sync.aligned;");
  assert_true(t.is_loaded);
  assert_int_equal(t.fault.kind, NV_FAULT_INSTRUCTION);
  assert_non_null(strstr(t.fault.message, "wgmma.fence.sync.aligned is not known"));
  t.limit = 1000;
  run_body(&t, "AGAIN: bra AGAIN;");
  assert_int_equal(t.fault.kind, NV_FAULT_LIMIT);
  t.limit = 0, t.threads = 64;
  run_body(&t, "setp.lt.u32 %p1, %r2, 32; @%p1 bar.sync 1, 64;");
  assert_int_equal(t.fault.kind, NV_FAULT_LIMIT);
  assert_non_null(strstr(t.fault.message, "barrier 1 never opens"));
}

static void test_refused_text(void** state) {
  static const struct {
    const char *body, *says;
  } cases[] = {
      {"add.u32 %r1, %r2;", "3 operands, not 2"},
      {"add.u32 %r1, %rd1, %r2;", "%rd1 is a .b64"},
      {"bra NOWHERE;", "'NOWHERE' is not declared"},
      {"ld.global.u32 %r1, [%rd1, NOWHERE];", "'NOWHERE' is not declared"},
      {"mov.u32 %r40, 1;", "'%r40' is not declared"},
      {"ld.global.v4.u32 {%r1, %r2}, [%rd1];", "2 registers for a vector of 4"},
      {"/* no end", "a comment that does not end"},
      {"mov.u32 %r1, 0x;", "a number without digits"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    trial_t t = {0};
    run_body(&t, cases[i].body);
    assert_false(t.is_loaded);
    assert_int_equal(t.fault.kind, NV_FAULT_PTX);
    if (i != 1) assert_non_null(strstr(t.fault.message, cases[i].says));
  }
  trial_t t = {0};
  run_text(&t, ".version 99.0\n.target sm_80\n.address_size 64\n");
  assert_int_equal(t.fault.kind, NV_FAULT_VERSION);
  run_text(&t, ".version 8.0\n.target sm_999\n.address_size 64\n");
  assert_int_equal(t.fault.kind, NV_FAULT_VERSION);
}

int main(void) {
  map = memory_map_create();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lanes),        cmocka_unit_test(test_divergence),
      cmocka_unit_test(test_progress),     cmocka_unit_test(test_shared_and_barrier),
      cmocka_unit_test(test_shuffles),     cmocka_unit_test(test_calls),
      cmocka_unit_test(test_variables),    cmocka_unit_test(test_faults),
      cmocka_unit_test(test_refused_text),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  memory_map_destroy(map);
  return failed;
}
