// The reader of MLIR text on input that is hostile or large.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

#include "dialects/register.h"
#include "ir/ir.h"

typedef struct message_t {
  char text[512];
  uint32_t line, column;
  int count;
} message_t;

static void remember(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text, const char* rendered) {
  message_t* message = user;
  if (severity != IR_ERROR || message->count++) return;
  strncpy(message->text, text, sizeof(message->text) - 1);
  const ir_loc_t* file = ir_loc_find_file(loc);
  message->line = file ? file->line : 0;
  message->column = file ? file->column : 0;
}

static ir_context_t* create(message_t* message) {
  ir_context_t* ctx = ir_context_create();
  memset(message, 0, sizeof(*message));
  ir_context_set_diagnostics(ctx, remember, message);
  dialects_register_all(ctx);
  return ctx;
}

// The text must be refused with one message that has `expected` in it.
static void refuse(const char* text, size_t size, const char* expected) {
  message_t message;
  ir_context_t* ctx = create(&message);
  assert_null(ir_parse_module(ctx, "test.mlir", text, size));
  assert_int_equal(message.count, 1);
  if (!strstr(message.text, expected)) fail_msg("'%s' lacks '%s'", message.text, expected);
  ir_context_destroy(ctx);
}

// head, then `part` many times, then tail.
static text_t repeat(const char* head, const char* part, int count, const char* tail) {
  text_t text = {0};
  text_puts(&text, head);
  for (int i = 0; i < count; ++i) text_puts(&text, part);
  text_puts(&text, tail);
  return text;
}

static void test_nesting_is_bounded(void** unused) {
  static const char* const parts[][2] = {{"\"a\"() : () -> ", "tuple<"},
                                         {"\"a\"() {a = ", "["},
                                         {"\"a\"() {a = ", "{b = "},
                                         {"\"a\"() {a = affine_map<(d0) -> (", "("},
                                         {"\"a\"() {a = affine_map<(d0) -> (", "-"},
                                         {"\"a\"() : () -> () loc(", "callsite("},
                                         {"\"a\"() : ", "() -> ("},
                                         {"", "\"a\"() ({ "},
                                         {"", "module { "},
                                         {"\"a\"() : () -> !a.b<", "["},
                                         {"\"a\"() {a = #a.b<c = ", "#a.b<c = "}};
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
    text_t text = repeat(parts[i][0], parts[i][1], 100000, "");
    refuse(text.data, text.size, i == 9 ? "balanced" : i == 10 ? "" : "nested more than");
    text_finish(&text);
  }
}

// Names for names: each level doubles what it stands for.
static void test_aliases_do_not_explode(void** unused) {
  text_t text = {0};
  text_puts(&text, "!t0 = tensor<1xf32>\n");
  for (int i = 1; i < 60; ++i) text_printf(&text, "!t%d = tuple<!t%d, !t%d>\n", i, i - 1, i - 1);
  text_puts(&text, "\"a\"() : () -> !t59\n");
  refuse(text.data, text.size, "aliases expand to too much");
  text_finish(&text);
  text_puts(&text, "#a0 = 1\n");
  for (int i = 1; i < 1000; ++i) text_printf(&text, "#a%d = [#a%d]\n", i, i - 1);
  refuse(text.data, text.size, "nested more than");
  text_finish(&text);
}

static void test_data_must_fit_its_type(void** unused) {
  static const char* const texts[][2] = {
      {"\"a\"() {a = dense<[1, 2]> : tensor<9999999999999xi32>} : () -> ()", "fewer elements"},
      {"\"a\"() {a = dense<1> : tensor<?xi32>} : () -> ()", "static shape"},
      {"\"a\"() {a = dense<\"0x0\"> : tensor<1xi8>} : () -> ()", "even number"},
      {"\"a\"() {a = dense<\"0xGG\"> : tensor<1xi8>} : () -> ()", "hexadecimal"},
      {"\"a\"() {a = dense<[[1], [2, 3]]> : tensor<2x1xi8>} : () -> ()", "only 1 elements"},
      {"\"a\"() {a = dense<[300]> : tensor<1xi8>} : () -> ()", "out of range"},
      {"\"a\"() : () -> tensor<4294967296x4294967296x4294967296xi8>", "too many elements"},
      {"\"a\"() : () -> i129", "128 bits"},
  };
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) refuse(texts[i][0], strlen(texts[i][0]), texts[i][1]);
}

// Every prefix of a program is refused or read, but never read past its end.
static void test_cut_text(void** unused) {
  static const char text[] =
      "#m = affine_map<(d0)[s0] -> (d0 * 2 + s0)>\nfunc.func @f(%a: tensor<4x?xf32> {x = 1.5 : f32}, %b: i1) -> i1 {\n"
      "  %0:2 = \"t.op\"(%a) <{a = dense<\"0x00FF\"> : tensor<2xi8>, b = \"x\\22\"}> ({\n ^bb0(%x: i8):\n"
      "  t.t }) {m = #m} : (tensor<4x?xf32>) -> (i1, !t.t<[1]>) loc(\"f\":1:2)\n"
      "  %1 = stablehlo.slice %a [0:1, 2:3:4] : (tensor<4x?xf32>) -> tensor<1x1xf32>\n  cf.cond_br %b, ^bb1(%b : i1), "
      "^bb1(%0#0 : i1)\n^bb1(%y: i1):\n  return %y : i1\n}\n{-# dialect_resources: {builtin: {r: \"0x0400000001\"}} "
      "#-}\n";
  for (size_t size = 0; size < sizeof(text); ++size) {
    message_t message;
    ir_context_t* ctx = create(&message);
    char* exact = malloc(size ? size : 1);  // so that a checker sees a read past the end
    assert_non_null(exact);
    memcpy(exact, text, size);
    ir_parse_module(ctx, "cut.mlir", exact, size);
    ir_context_destroy(ctx);
    free(exact);
  }
}

static void test_places(void** unused) {
  message_t message;
  ir_context_t* ctx = create(&message);
  static const char text[] = "// comment\nfunc.func @f() {\n  // \"{\n    foo.bar\n}\n";
  assert_null(ir_parse_module(ctx, "place.mlir", text, sizeof(text) - 1));
  assert_int_equal(message.line, 4);
  assert_int_equal(message.column, 5);
  ir_context_destroy(ctx);
}

static void test_large_data(void** unused) {
  enum { COUNT = 1 << 20 };
  message_t message;
  ir_context_t* ctx = create(&message);
  text_t text = repeat("func.func @f() {\n  %0 = arith.constant dense<\"0x", "0000803F0000C07F", COUNT / 2,
                       "\"> : tensor<1048576xf32>\n  return\n}\n");
  ir_op_t* module = ir_parse_module(ctx, "large.mlir", text.data, text.size);
  assert_non_null(module);
  ir_op_t* constant = ir_symbol_lookup(module, "f")->regions[0].first->first;
  const ir_attr_t* value = ir_op_attr(constant, "value");
  assert_int_equal(value->size, COUNT * 4);
  assert_true(ir_attr_element_number(value, COUNT - 2) == 1.0);
  ir_context_destroy(ctx);
  text_finish(&text);
}

// Data in hexadecimal, small and large, in both cases, as a literal and as a resource: the same bytes. A digit that is
// none is found wherever it stands.
static void test_hexadecimal(void** unused) {
  for (size_t size = 1; size <= 6000; size += size < 300 ? 1 : 1777) {
    text_t digits = {0}, text = {0};
    for (size_t i = 0; i < size; ++i) text_printf(&digits, i % 3 ? "%02x" : "%02X", (unsigned)(i * 37 + 11) & 255);
    text_printf(&text,
                "\"a\"() {x = dense<\"0x%s\"> : tensor<%zuxi8>, y = dense_resource<r> : tensor<%zuxi8>} : () -> ()\n",
                digits.data, size, size);
    text_printf(&text, "{-# dialect_resources: { builtin: { r: \"0x01000000%s\" } } #-}\n", digits.data);
    message_t message;
    ir_context_t* ctx = create(&message);
    ir_op_t* module = ir_parse_module(ctx, "test.mlir", text.data, text.size);
    assert_non_null(module);
    const ir_op_t* op = ir_module_body(module)->first;
    const ir_attr_t* attrs[] = {ir_op_attr(op, "x"), ir_op_attr(op, "y")};
    for (int k = 0; k < 2; ++k) {
      unsigned char part[7] = {0};
      size_t from = size / 2, count = size - from < sizeof(part) ? size - from : sizeof(part);
      ir_attr_read(attrs[k], from, count, part);
      const unsigned char* data = ir_attr_data(attrs[k]);
      for (size_t i = 0; i < size; ++i) assert_int_equal(data[i], (i * 37 + 11) & 255);
      assert_memory_equal(part, data + from, count);
    }
    ir_context_destroy(ctx);
    char* place = strstr(text.data, "0x") + 2 + size;
    *place = 'g';
    refuse(text.data, text.size, "hexadecimal digits");
    text_finish(&digits);
    text_finish(&text);
  }
}

static void check_parts(const text_t* text, uint32_t regions, uint32_t successors) {
  message_t message;
  ir_context_t* ctx = create(&message);
  ir_op_t* module = ir_parse_module(ctx, "test.mlir", text->data, text->size);
  assert_non_null(module);
  const ir_op_t* op = ir_module_body(module)->first->regions[0].first->first;
  assert_int_equal(op->region_count, regions);
  assert_int_equal(op->successor_count, successors);
  if (ir_op_attr(op, "cases")) assert_int_equal(ir_attr_element_integer(ir_op_attr(op, "cases"), regions - 2), 3);
  ir_context_destroy(ctx);
}

// Regions, cases and successors have no limit but memory.
static void test_many_parts(void** unused) {
  static const char head[] = "func.func @f(%x: index, %y: i32) {\n  ";
  static const int counts[] = {2, 7, 8, 9, 16, 17, 5000};
  for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
    int n = counts[i];
    text_t start = {0};
    text_printf(&start, "%s\"a.b\"() ({}", head);
    text_t text = repeat(start.data, ", {}", n - 1, ") : () -> ()\n  return\n}\n");
    check_parts(&text, (uint32_t)n, 0);
    text_finish(&text);
    text_finish(&start);
    text_printf(&start, "%sscf.index_switch %%x\n", head);
    text = repeat(start.data, "  case 3 {\n    scf.yield\n  }\n", n, "  default {\n  }\n  return\n}\n");
    check_parts(&text, (uint32_t)n + 1, 0);
    text_finish(&text);
    text_finish(&start);
    text_printf(&start, "%scf.switch %%y : i32, [\n    default: ^a", head);
    text = repeat(start.data, ",\n    7: ^a", n, "\n  ]\n^a:\n  return\n}\n");
    check_parts(&text, 0, (uint32_t)n + 1);
    text_finish(&text);
    text_finish(&start);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nesting_is_bounded),
      cmocka_unit_test(test_aliases_do_not_explode),
      cmocka_unit_test(test_data_must_fit_its_type),
      cmocka_unit_test(test_cut_text),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_large_data),
      cmocka_unit_test(test_hexadecimal),
      cmocka_unit_test(test_many_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
