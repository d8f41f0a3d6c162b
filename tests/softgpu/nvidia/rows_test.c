// Rows of the software NVIDIA GPU, one small body each, against values worked out by hand or here.
#include "trial.h"

// %r9 is what lane 0 stores.
static void test_values(void** state) {
  static const struct {
    const char* body;
    uint32_t value;
  } cases[] = {
      {"mov.b32 %r3, 0xf0; lop3.b32 %r9, %r3, 0x3c, 0xaa, 0x96;", 0xf0 ^ 0x3c ^ 0xaa},
      {"mov.b32 %r3, 0x04030201; prmt.b32 %r9, %r3, 0x08070605, 0x7531;", 0x08060402},
      {"mov.b32 %r3, 0x80; prmt.b32 %r9, %r3, 0, 0x8888;", 0xffffffff},
      {"mov.b32 %r3, 0xff00; bfe.s32 %r9, %r3, 8, 8;", 0xffffffff},
      {"mov.b32 %r3, 0xf; bfi.b32 %r9, %r3, 0, 4, 8;", 0xf0},
      {"mov.b32 %r3, 0x10; bfind.u32 %r9, %r3;", 4},
      {"mov.b32 %r3, 1; shf.l.wrap.b32 %r9, 0x80000000, %r3, 1;", 3},
      {"mov.b32 %r3, 0x01020304; dp4a.u32.u32 %r9, %r3, 0x01010101, 5;", 15},
      {"mov.b32 %r3, -1; add.cc.u32 %r4, %r3, 1; addc.u32 %r9, 0, 0;", 1},
      {"mov.b32 %r3, 5; sad.u32 %r9, %r3, 9, 1;", 5},
      {"mov.b32 %r3, 0x7fffffff; add.sat.s32 %r9, %r3, 1;", 0x7fffffff},
      {"mov.f32 %f1, 0f40200000; cvt.rni.s32.f32 %r9, %f1;", 2},
      {"mov.f32 %f1, 0fc0200000; cvt.rzi.u32.f32 %r9, %f1;", 0},
      {"mov.f32 %f1, 0f7f800000; cvt.rzi.s32.f32 %r9, %f1;", 0x7fffffff},
      {"mov.b32 %r3, 300; cvt.sat.u8.u32 %r9, %r3;", 255},
      {"mov.b32 %r3, 0x1ff; cvt.s8.u32 %r9, %r3;", 0xffffffff},
      {"mov.f32 %f1, 0f3f800001; cvt.rn.bf16x2.f32 %r9, %f1, 0f40000000;", 0x3f804000},
      {"mov.f32 %f1, 0f43f00000; cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, 0f3f800000; cvt.u32.u16 %r9, %h1;", 0x7e38},
      {"mov.b16 %h1, 0x3800; cvt.rn.f16x2.e4m3x2 %r9, %h1;", 0x3c000000},
      {"mov.f32 %f1, 0f3f801000; cvt.rna.tf32.f32 %r9, %f1;", 0x3f802000},
      {"mov.f32 %f1, 0f3f800000; add.rp.f32 %f2, %f1, 0f00800000; mov.b32 %r9, %f2;", 0x3f800001},
      {"mov.f32 %f1, 0f00000001; add.ftz.f32 %f2, %f1, %f1; mov.b32 %r9, %f2;", 0},
      {"mov.f32 %f1, 0f40000000; add.sat.f32 %f2, %f1, %f1; mov.b32 %r9, %f2;", 0x3f800000},
      {"mov.f32 %f1, 0f80000000; max.f32 %f2, %f1, 0f00000000; mov.b32 %r9, %f2;", 0},
      {"mov.f32 %f1, 0f7fc00000; min.f32 %f2, %f1, 0f3f800000; mov.b32 %r9, %f2;", 0x3f800000},
      {"mov.f32 %f1, 0f7fc00001; add.f32 %f2, %f1, %f1; mov.b32 %r9, %f2;", 0x7fffffff},
      {"mov.b32 %r3, 0x3c003c00; fma.rn.f16x2 %r9, %r3, %r3, %r3;", 0x40004000},
      {"mov.b32 %r3, 0x3f803f80; fma.rn.bf16x2 %r9, %r3, %r3, %r3;", 0x40004000},
      {"mov.b32 %r3, 0x7c01; mov.b16 %h1, 0x3c00; setp.lt.f16 %p1|%p2, %h1, 0x4000; selp.b32 %r9, 1, 2, %p1;", 1},
      {"mov.b32 %r3, 3; set.lt.u32.u32 %r9, %r3, 4;", 0xffffffff},
      {"mov.f32 %f1, 0f7f800000; testp.infinite.f32 %p1, %f1; selp.b32 %r9, 7, 8, %p1;", 7},
      {"mov.b64 %rd5, {%r1, 9}; mov.b64 {%r8, %r9}, %rd5;", 9},
      {"atom.global.cas.b32 %r3, [%rd1], 0, 44; ld.global.u32 %r9, [%rd1];", 44},
      {"atom.global.inc.u32 %r3, [%rd1], 3; ld.global.u32 %r9, [%rd1];", 1},
      {"red.global.add.f32 [%rd1], 0f3f800000; ld.global.u32 %r9, [%rd1];", 0x3f800000},
      {"mov.u32 %r3, %ntid.x; mov.u32 %r4, %laneid; add.u32 %r9, %r3, %r4;", 1},
      {"mov.f64 %d1, 0d3FF0000000000000; div.rn.f64 %d1, %d1, 0d4008000000000000; cvt.rn.f32.f64 %f1, %d1;\n"
       "mov.b32 %r9, %f1;",
       0x3eaaaaab},
      {"mov.u32 %r3, 1; ts: .branchtargets A, B; brx.idx %r3, ts; A: mov.u32 %r9, 10; bra C; B: mov.u32 %r9, 20; C:",
       20},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char body[600];
    snprintf(body, sizeof(body), "%s st.global.u32 [%%rd3], %%r9;", cases[i].body);
    trial_t t = {.threads = 1};
    run_body(&t, body);
    assert_true(t.is_done);
    if (t.out[0] != cases[i].value) fail_msg("%s: 0x%x, not 0x%x", cases[i].body, t.out[0], cases[i].value);
  }
}

// A's rows are 1 in their first column, so that D is B's first row, and C.
static void test_matrix(void** state) {
  trial_t t = {0};
  run_body(&t,
           "and.b32 %r3, %r2, 3; shr.u32 %r4, %r2, 2; setp.eq.u32 %p1, %r3, 0; selp.b32 %r5, 0x3c00, 0, %p1;\n"
           "mov.b32 %r6, 0; cvt.rn.f16.u32 %h1, %r4; mov.b32 %r7, {%h1, %h1}; mov.f32 %f5, 0f3f000000;\n"
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r5, %r5, %r6, %r6}, {%r7, %r6},\n"
           "{%f5, %f5, %f5, %f5}; add.f32 %f1, %f1, %f2; st.global.f32 [%rd3], %f1;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 32; ++i) {
    float sum;
    memcpy(&sum, &t.out[i], 4);
    // Columns 2 * (i % 4) and the next; B's column n is n in its first row.
    assert_true(sum == (float)(4 * (i % 4) + 1) + 1.0f);
  }
  run_body(&t,
           "mov.b32 %r5, 0x01020304; mov.b32 %r6, 0x01010101; mov.b32 %r7, 100;\n"
           "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r8, %r9, %r10, %r11}, {%r5, %r5, %r5, %r5}, {%r6, %r6},\n"
           "{%r7, %r7, %r7, %r7}; st.global.u32 [%rd3], %r10;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 32; ++i) assert_int_equal(t.out[i], 180);
}

// Rows of 8 halves in shared memory come back as fragments, turned round where asked.
static void test_matrix_load(void** state) {
#define ROWS                                                                                                     \
  ".shared .align 16 .b8 buffer[1024]; .reg .b32 %a<6>; mov.u32 %a1, buffer; shl.b32 %a2, %r2, 2; add.u32 %a2, " \
  "%a1, %a2; shl.b32 %a4, %r2, 1; add.u32 %a5, %a4, 1; shl.b32 %a5, %a5, 16; or.b32 %a4, %a4, %a5;\n"            \
  "st.shared.u32 [%a2], %a4; bar.warp.sync -1; and.b32 %a3, %r2, 7; shl.b32 %a3, %a3, 4; add.u32 %a3, %a3, %a1;\n"
  trial_t t = {0};
  run_body(&t, ROWS "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%a3]; st.global.u32 [%rd3], %r9;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 32; ++i) assert_int_equal(t.out[i], (2 * i) | (2 * i + 1) << 16);
  run_body(&t, ROWS "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r9}, [%a3]; st.global.u32 [%rd3], %r9;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t row = 2 * (i % 4), column = i / 4;
    assert_int_equal(t.out[i], (8 * row + column) | (8 * row + 8 + column) << 16);
  }
}

static void test_memory_barrier(void** state) {
  trial_t t = {.threads = 64, .limit = 1000000};
  run_body(&t,
           ".shared .align 8 .b64 gate; .reg .b64 %state; .reg .b32 %g; mov.u32 %g, gate; setp.ne.u32 %p1, %r2, 0;\n"
           "@%p1 bra MADE; mbarrier.init.shared.b64 [%g], 64; MADE: bar.sync 0;\n"
           "mbarrier.arrive.shared.b64 %state, [%g];\n"
           "WAIT: mbarrier.test_wait.shared.b64 %p2, [%g], %state; @!%p2 bra WAIT; st.global.u32 [%rd3], %r2;");
  assert_true(t.is_done);
  for (uint32_t i = 0; i < 64; ++i) assert_int_equal(t.out[i], i);
}

int main(void) {
  map = memory_map_create();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_matrix),
      cmocka_unit_test(test_matrix_load),
      cmocka_unit_test(test_memory_barrier),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  memory_map_destroy(map);
  return failed;
}
