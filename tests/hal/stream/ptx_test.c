// What is read of PTX: architecture, kernels, their parameters; and text that is none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <string.h>

#include "hal/stream/ptx.h"

static const char good[] =
    "// a comment with .entry wrong(\n"
    ".version 8.4\n"
    ".target sm_90a, debug /* .entry no */\n"
    ".address_size 64\n"
    ".extern .func helper(.param .b64 x);\n"
    ".visible .entry first(\n"
    "  .param .u64 .ptr .global .align 16 a,\n"
    "  .param .u64 .ptr .global .align 1 b,\n"
    "  .param .u32 n,\n"
    "  .param .f32 scale\n"
    ")\n"
    ".reqntid 32, 4\n"
    "{ griddepcontrol.wait; st.param [x], 1; }\n"
    ".entry none() .maxntid 64, 1, 1 { ret; }\n"
    ".entry packed(.param .align 8 .b8 all[20], .param .u8 one) { ret; }\n"
    ".entry swapped(.param .u32 n, .param .u64 a) { ret; }\n";

static ptx_t read_good(void) {
  ptx_t ptx;
  IREE_CHECK_OK(ptx_read(iree_make_cstring_view(good), iree_allocator_system(), &ptx));
  return ptx;
}

static void kernels(void** state) {
  ptx_t ptx = read_good();
  assert_int_equal(ptx.target.number, 90);
  assert_int_equal(ptx.target.kind, 'a');
  assert_int_equal(ptx.count, 4);
  const gpu_function_t* first = &ptx.functions[0];
  assert_true(iree_string_view_equal(first->name, IREE_SV("first")));
  assert_int_equal(first->binding_count, 2);
  assert_int_equal(first->constant_count, 2);
  assert_int_equal(first->argument_size, 24);
  assert_true(first->is_hal);
  assert_true(first->waits);
  const uint32_t size[3] = {32, 4, 1};
  assert_memory_equal(first->workgroup_size, size, sizeof(size));
  assert_int_equal(ptx.functions[1].argument_size, 0);
  assert_int_equal(ptx.functions[1].workgroup_size[0], 0);
  assert_true(ptx.functions[1].is_hal);
  assert_false(ptx.functions[1].waits);
  ptx_free(&ptx, iree_allocator_system());
}

static void other_arguments(void** state) {
  ptx_t ptx = read_good();
  assert_int_equal(ptx.functions[2].argument_size, 21);
  assert_false(ptx.functions[2].is_hal);
  assert_int_equal(ptx.functions[3].argument_size, 16);
  assert_false(ptx.functions[3].is_hal);
  ptx_free(&ptx, iree_allocator_system());
}

static void expect_failure(const char* text, const char* message) {
  ptx_t ptx;
  char buffer[512] = {0};
  iree_status_t status = ptx_read(iree_make_cstring_view(text), iree_allocator_system(), &ptx);
  iree_status_format(status, sizeof(buffer), buffer, NULL);
  assert_int_equal(iree_status_consume_code(status), IREE_STATUS_INVALID_ARGUMENT);
  if (!strstr(buffer, message)) print_error("have: %s\n", buffer);
  assert_non_null(strstr(buffer, message));
}

static void bad_text(void** state) {
  expect_failure("", "line 1: no '.target");
  expect_failure(".target nothing\n", "line 2: no '.target");
  expect_failure(".target sm_80\n.entry f(.param .u64 a", "line 2: the text ends in the middle of parameters");
  expect_failure(".target sm_80\n.entry f(.param .u64 a)\n", "line 3: the text ends before a kernel's body");
  expect_failure(".target sm_80\n.entry f(.u64 a) {}", "'.param' is expected");
  expect_failure(".target sm_80\n.entry f(.param a) {}", "a parameter without a type");
  expect_failure(".target sm_80\n.entry f(.param .align 3 .b8 a[4]) {}", "no power of two");
  expect_failure(".target sm_80\n.entry f(.param .b8 a[x]) {}", "a number is expected");
  expect_failure(".target sm_80\n.entry f() .reqntid x {}", "a number is expected");
}

// Every beginning of good text is read to an end.
static void cut_text(void** state) {
  for (size_t length = 0; length < sizeof(good) - 1; ++length) {
    ptx_t ptx;
    char* copy = (char*)test_malloc(length + 1);
    memcpy(copy, good, length);
    iree_status_t status = ptx_read(iree_make_string_view(copy, length), iree_allocator_system(), &ptx);
    if (iree_status_consume_code(status) == IREE_STATUS_OK) ptx_free(&ptx, iree_allocator_system());
    test_free(copy);
  }
}

static void architectures(void** state) {
  assert_int_equal(ptx_target(IREE_SV("sm_35")).number, 35);
  assert_int_equal(ptx_target(IREE_SV("sm_35")).kind, 0);
  assert_int_equal(ptx_target(IREE_SV("sm_120a")).number, 120);
  assert_int_equal(ptx_target(IREE_SV("sm_120a")).kind, 'a');
  assert_int_equal(ptx_target(IREE_SV("gfx90a")).number, 0);
  assert_int_equal(ptx_target(IREE_SV("sm_")).number, 0);
  assert_int_equal(ptx_target(IREE_SV("sm_a")).number, 0);
}

// Which GPUs take text and machine code for an architecture.
static void places(void** state) {
  static const struct {
    const char* name;
    uint32_t capability;
    bool fits, runs;
  } rows[] = {
      {"sm_80", 80, true, true},      {"sm_80", 89, true, true},      {"sm_80", 90, true, false},
      {"sm_86", 80, false, false},    {"sm_90a", 90, true, true},     {"sm_90a", 100, false, false},
      {"sm_100f", 103, true, true},   {"sm_100f", 110, false, false}, {"sm_103f", 100, false, false},
      {"sm_100a", 103, false, false}, {"sm_101", 120, true, false},   {"", 120, false, false},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    ptx_target_t target = ptx_target(iree_make_cstring_view(rows[i].name));
    assert_int_equal(ptx_target_fits(target, rows[i].capability), rows[i].fits);
    assert_int_equal(ptx_target_runs(target, rows[i].capability), rows[i].runs);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels),       cmocka_unit_test(other_arguments),
                                     cmocka_unit_test(bad_text),      cmocka_unit_test(cut_text),
                                     cmocka_unit_test(architectures), cmocka_unit_test(places)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
