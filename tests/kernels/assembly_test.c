// The kernel dialect as text: what is printed parses to the same, and looks as it should.
#include "base/memory.h"
#include "dialects/register.h"
#include "random_program.h"

static char* print(ir_context_t* ctx, ir_op_t* module) {
  text_t text = {0};
  ir_print_op(ctx, &text, module, 0, 0);
  return text.data;
}

static char* reprint(const char* source) {
  ir_context_t* ctx = ir_context_create();
  dialects_register_all(ctx);
  ir_op_t* module = ir_parse_module(ctx, "test", source, strlen(source));
  char* text = module && ir_verify(ctx, module) ? print(ctx, module) : NULL;
  ir_context_destroy(ctx);
  return text;
}

static void random_kernels(void** state) {
  (void)state;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    fixture_t f;
    fixture_begin(&f);
    dialects_register_all(f.ctx);
    random_program(&f, seed, 8);
    char* first = print(f.ctx, f.module);
    assert_null(strstr(first, "\"kernel."));
    char *second = reprint(first), *third = second ? reprint(second) : NULL;
    assert_non_null(third);
    assert_string_equal(second, third);
    memory_free(first);
    memory_free(second);
    memory_free(third);
    fixture_end(&f);
  }
}

static const char golden[] =
    "module {\n"
    "  kernel.func @sum(%arg0: memref<?xf32>, %arg1: memref<?xf32>, %arg2: i32) attributes {bindings = 2 : i64, "
    "subgroup_size = 32 : i64, workgroup_size = array<i64: 64, 1, 1>} {\n"
    "    %alloc = kernel.alloc {align = 16 : i64} : memref<64xf32, 3>\n"
    "    %thread = kernel.thread_id 0\n"
    "    %c0 = kernel.constant 0 : index\n"
    "    %c64 = kernel.constant 64 : index\n"
    "    %c1_i32 = kernel.constant 1 : i32\n"
    "    %cst = kernel.constant dense<0.000000e+00> : vector<4xf32>\n"
    "    %true = kernel.constant true\n"
    "    kernel.async_copy %arg0[%thread], %alloc[%thread] {bytes = 4 : i64} : (memref<?xf32>, index, memref<64xf32, "
    "3>, "
    "index) -> ()\n"
    "    kernel.async_copy %arg0[%c0], %alloc[%thread], %true {bytes = 4 : i64} : (memref<?xf32>, index, "
    "memref<64xf32, "
    "3>, "
    "index, i1) -> ()\n"
    "    kernel.async_commit\n"
    "    kernel.async_wait 0\n"
    "    kernel.barrier\n"
    "    %0 = kernel.for %arg3 = %c0 to %c64 step %c64 iter_args(%arg4 = %cst) -> (vector<4xf32>) {\n"
    "      %7 = kernel.load %alloc[%arg3] {align = 16 : i64} : (memref<64xf32, 3>, index) -> vector<4xf32>\n"
    "      %8 = kernel.add %arg4, %7 : vector<4xf32>\n"
    "      kernel.yield %8 : vector<4xf32>\n"
    "    } {unroll}\n"
    "    %1 = kernel.reduce add %0 : vector<4xf32>\n"
    "    %2 = kernel.load_matrix %alloc[%c0] {count = 2 : i64} : (memref<64xf32, 3>, index) -> vector<2xf32>\n"
    "    %3 = kernel.extract %2[0] : vector<2xf32>\n"
    "    %4 = kernel.subgroup_shuffle xor %3, %c1_i32 : (f32, i32) -> f32\n"
    "    %5 = kernel.lt %thread, %c64 : index\n"
    "    %6 = kernel.select %5, %1, %4 : f32\n"
    "    kernel.if %5 {\n"
    "      kernel.store %6, %arg1[%thread], %true : (f32, memref<?xf32>, index, i1) -> ()\n"
    "    }\n"
    "    %old = kernel.atomic add %1, %arg1[%c0] : f32, memref<?xf32>\n"
    "    kernel.return\n"
    "  }\n"
    "}\n";

static void looks(void** state) {
  (void)state;
  char* text = reprint(golden);
  assert_non_null(text);
  assert_string_equal(text, golden);
  memory_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_kernels), cmocka_unit_test(looks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
