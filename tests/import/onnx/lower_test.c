// The lowering, on programs as text: what ops become, what is known of shapes, what is refused, what is computed.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialects/evaluate.h"
#include "dialects/register.h"
#include "import/onnx/onnx.h"

typedef struct fixture_t {
  ir_context_t* ctx;
  text_t messages;
} fixture_t;

static void on_message(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                       const char* rendered) {
  text_printf(user, "%s\n", rendered);
}

static int setup(void** state) {
  fixture_t* f = calloc(1, sizeof(*f));
  f->ctx = ir_context_create();
  dialects_register_all(f->ctx);
  ir_context_set_diagnostics(f->ctx, on_message, &f->messages);
  *state = f;
  return 0;
}

static int teardown(void** state) {
  fixture_t* f = *state;
  ir_context_destroy(f->ctx);
  text_finish(&f->messages);
  free(f);
  return 0;
}

// A function with these arguments and body, of the given opset.
static ir_op_t* parse(fixture_t* f, const char* args, const char* body, int opset) {
  char* text = arena_printf(ir_context_arena(f->ctx),
                            "func.func @f(%s) -> !torch.vtensor attributes {torch.onnx_meta.opset_version = %d : si64} "
                            "{\n  %%none = torch.constant.none\n%s\n}\n",
                            args, opset, body);
  ir_op_t* module = ir_parse_module(f->ctx, "test.mlir", text, strlen(text));
  if (!module) fail_msg("%s\n%s", f->messages.data, text);
  return module;
}

static void expect_text(fixture_t* f, ir_op_t* module, const char* const* lines) {
  text_t out = {0};
  if (!onnx_lower_module(f->ctx, module)) fail_msg("%s", f->messages.data);
  assert_true(ir_verify(f->ctx, module));
  ir_print_op(f->ctx, &out, module, 0, 0);
  const char* at = out.data;
  for (int i = 0; i < 6 && lines[i]; ++i) {
    const char* found = strstr(at, lines[i]);
    if (!found) fail_msg("missing: %s\nin:\n%s", lines[i], out.data);
    at = found + strlen(lines[i]);
  }
  text_finish(&out);
}

typedef struct row_t {
  const char *args, *body;
  int opset;
  const char* lines[6];
} row_t;

#define X "%x: !torch.vtensor<"
#define INTS(name, size, values)                                                                          \
  "  " name " = torch.operator \"onnx.Constant\"() {torch.onnx.value = dense<" values "> : tensor<" #size \
  "xsi64>} "                                                                                              \
  ": () -> !torch.vtensor<[" #size "],si64>\n"

static const row_t lowered[] = {
    // Elementwise, with broadcasting, and the function that suits the sign.
    {X "[2,3],f32>, %y: !torch.vtensor<[3],f32>",
     "  %0 = torch.operator \"onnx.Add\"(%x, %y) : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[3],f32>) -> "
     "!torch.vtensor<[2,3],f32>\n  return %0 : !torch.vtensor<[2,3],f32>",
     17,
     {"(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>) -> tensor<2x3xf32>", "graph.broadcast", "graph.add", "return"}},
    {X "[4],ui8>, %y: !torch.vtensor<[4],ui8>",
     "  %0 = torch.operator \"onnx.Less\"(%x, %y) : (!torch.vtensor<[4],ui8>, !torch.vtensor<[4],ui8>) -> "
     "!torch.vtensor<[4],i1>\n  return %0 : !torch.vtensor<[4],i1>",
     17,
     {"-> tensor<4xi1>", "graph.ltu"}},
    // A shape that is computed: all static sizes are found.
    {X "[2,12],f32>",
     INTS("%s", 2, "[-1, 4]") "  %0 = torch.operator \"onnx.Reshape\"(%x, %s) : (!torch.vtensor<[2,12],f32>, "
                              "!torch.vtensor<[2],si64>) -> "
                              "!torch.vtensor<[6,4],f32>\n  return %0 : !torch.vtensor<[6,4],f32>",
     17,
     {"-> tensor<6x4xf32>", "graph.reshape", "tensor<6x4xf32>"}},
    // Shape, Gather and Concat of a batch that is known at run time only; the rest stays static, the batch is read off.
    {X "[?,8,16],f32>",
     INTS("%i", 1, "0")
         INTS("%m", 2, "[-1, 64]") "  %a = torch.operator \"onnx.Shape\"(%x) : (!torch.vtensor<[?,8,16],f32>) -> "
                                   "!torch.vtensor<[3],si64>\n"
                                   "  %b = torch.operator \"onnx.Gather\"(%a, %i) : (!torch.vtensor<[3],si64>, "
                                   "!torch.vtensor<[1],si64>) -> "
                                   "!torch.vtensor<[1],si64>\n"
                                   "  %c = torch.operator \"onnx.Concat\"(%b, %m) {torch.onnx.axis = 0 : si64} : "
                                   "(!torch.vtensor<[1],si64>, "
                                   "!torch.vtensor<[2],si64>) -> !torch.vtensor<[3],si64>\n"
                                   "  %d = torch.operator \"onnx.Reshape\"(%x, %c) : (!torch.vtensor<[?,8,16],f32>, "
                                   "!torch.vtensor<[3],si64>) -> "
                                   "!torch.vtensor<[?,?,?],f32>\n  return %d : !torch.vtensor<[?,?,?],f32>",
     17,
     {"-> tensor<?x2x64xf32>", "graph.dim", "graph.reshape", "tensor<?x2x64xf32>"}},
    // Older forms: axes as attribute, Softmax over all trailing dims.
    {X "[1,3],f32>",
     "  %0 = torch.operator \"onnx.Squeeze\"(%x) {torch.onnx.axes = [0 : si64]} : (!torch.vtensor<[1,3],f32>) -> "
     "!torch.vtensor<[3],f32>\n  return %0 : !torch.vtensor<[3],f32>",
     11,
     {"-> tensor<3xf32>", "graph.reshape"}},
    {X "[2,3,4],f32>",
     "  %0 = torch.operator \"onnx.Softmax\"(%x) {torch.onnx.axis = 1 : si64} : (!torch.vtensor<[2,3,4],f32>) -> "
     "!torch.vtensor<[2,3,4],f32>\n  return %0 : !torch.vtensor<[2,3,4],f32>",
     11,
     {"-> tensor<2x3x4xf32>", "tensor<2x12xf32>", "graph.reduce", "graph.exp", "graph.div"}},
    // A convolution keeps ONNX's layouts; groups and paddings are attributes.
    {X "[1,4,8,8],f32>, %w: !torch.vtensor<[6,2,3,3],f32>",
     "  %0 = torch.operator \"onnx.Conv\"(%x, %w) {torch.onnx.group = 2 : si64, torch.onnx.pads = [1 : si64, 1 : si64, "
     "1 : si64, 1 : si64]} : (!torch.vtensor<[1,4,8,8],f32>, !torch.vtensor<[6,2,3,3],f32>) -> "
     "!torch.vtensor<[1,6,8,8],f32>\n  return %0 : !torch.vtensor<[1,6,8,8],f32>",
     17,
     {"graph.conv", "groups = 2", "-> tensor<1x6x8x8xf32>"}},
};

static void test_lowered(void** state) {
  for (size_t i = 0; i < sizeof(lowered) / sizeof(*lowered); ++i) {
    const row_t* row = &lowered[i];
    expect_text(*state, parse(*state, row->args, row->body, row->opset), row->lines);
  }
}

static const row_t refused[] = {
    {X "[2],f32>",
     "  %0 = torch.operator \"onnx.ImageDecoder\"(%x) : (!torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32>\n"
     "  return %0 : !torch.vtensor<[2],f32>",
     17,
     {"test.mlir:3:", "error: 'onnx.ImageDecoder' op (opset 17): refused: compressed images are decoded before"}},
    {X "[2],f32>, %y: !torch.vtensor<[3],f32>",
     "  %0 = torch.operator \"onnx.Add\"(%x, %y) : (!torch.vtensor<[2],f32>, !torch.vtensor<[3],f32>) -> "
     "!torch.vtensor<[2],f32>\n  return %0 : !torch.vtensor<[2],f32>",
     17,
     {"error: 'onnx.Add' op (opset 17): shapes of tensor<2xf32> and tensor<3xf32> do not broadcast"}},
    {X "[2],f32>, %y: !torch.vtensor<[2],f64>",
     "  %0 = torch.operator \"onnx.Mul\"(%x, %y) : (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f64>) -> "
     "!torch.vtensor<[2],f32>\n  return %0 : !torch.vtensor<[2],f32>",
     17,
     {"inputs 0 and 1 have different element types f32 and f64", "input 0 has type tensor<2xf32>"}},
    {X "[2,2],f32>",
     "  %0 = torch.operator \"onnx.Transpose\"(%x) {torch.onnx.perm = [0 : si64, 0 : si64]} : "
     "(!torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32>\n  return %0 : !torch.vtensor<[2,2],f32>",
     17,
     {"perm is no permutation"}},
    {X "[2,2],f32>",
     "  %0 = torch.operator \"onnx.Softmax\"(%x) {torch.onnx.axis = 7 : si64} : (!torch.vtensor<[2,2],f32>) -> "
     "!torch.vtensor<[2,2],f32>\n  return %0 : !torch.vtensor<[2,2],f32>",
     17,
     {"axis 7 is not within a tensor of rank 2"}},
    {X "[2,2],f32>",
     "  %0 = torch.operator \"onnx.Relu\"() : () -> !torch.vtensor<[2,2],f32>\n  return %0 : !torch.vtensor<[2,2],f32>",
     17,
     {"needs at least 1 inputs, has 0"}},
};

static void test_refused(void** state) {
  fixture_t* f = *state;
  for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); ++i) {
    text_finish(&f->messages);
    f->messages = (text_t){0};
    assert_false(onnx_lower_module(f->ctx, parse(f, refused[i].args, refused[i].body, refused[i].opset)));
    for (int k = 0; k < 6 && refused[i].lines[k]; ++k) {
      if (!strstr(f->messages.data, refused[i].lines[k]))
        fail_msg("missing: %s\nin: %s", refused[i].lines[k], f->messages.data);
    }
  }
}

// The sum of 1..n by a Loop with a carried value and a collected one.
static void test_loop_is_computed(void** state) {
  fixture_t* f = *state;
  static const char body[] =
      "  %n = torch.operator \"onnx.Constant\"() {torch.onnx.value = dense<4> : tensor<si64>} : () -> "
      "!torch.vtensor<[],si64>\n"
      "  %0:2 = torch.operator \"onnx.Loop\"(%n, %none, %x) : (!torch.vtensor<[],si64>, !torch.none, "
      "!torch.vtensor<[2],f32>) -> (!torch.vtensor<[2],f32>, !torch.vtensor<[4,2],f32>) {\n"
      "  ^bb0(%i: !torch.vtensor<[],si64>, %c: !torch.vtensor<[],i1>, %s: !torch.vtensor<[2],f32>):\n"
      "    %t = torch.operator \"onnx.Add\"(%s, %x) : (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) -> "
      "!torch.vtensor<[2],f32>\n"
      "    torch.operator_terminator %c, %t, %t : !torch.vtensor<[],i1>, !torch.vtensor<[2],f32>, "
      "!torch.vtensor<[2],f32>\n"
      "  }\n  return %0#1 : !torch.vtensor<[4,2],f32>";
  static const float x[] = {1, 10};
  static const int64_t two = 2;
  ir_op_t* module = parse(f, X "[2],f32>", body, 17);
  if (!onnx_lower_module(f->ctx, module) || !ir_verify(f->ctx, module)) fail_msg("%s", f->messages.data);
  const ir_type_t* type = ir_type_tensor(f->ctx, ir_type_float(f->ctx, IR_F32), 1, &two);
  const ir_attr_t *in = ir_attr_elements(f->ctx, type, x, sizeof(x)), *out;
  assert_true(graph_evaluate(f->ctx, ir_module_body(module)->first, &in, &out));
  for (int i = 0; i < 4; ++i) {
    assert_true(ir_attr_element_number(out, 2 * i) == 2 + i);
    assert_true(ir_attr_element_number(out, 2 * i + 1) == 10 * (2 + i));
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {TEST(test_lowered), TEST(test_refused), TEST(test_loop_is_computed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
