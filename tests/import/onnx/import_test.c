// The importer: what it prints, what it refuses, and what it must not reach.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dialects/register.h"
#include "import/onnx/onnx.h"
#include "model.h"

typedef struct fixture_t {
  ir_context_t* ctx;
  onnx_files_t files;
  onnx_options_t options;
  text_t messages;
} fixture_t;

static void on_message(void* user, ir_severity_t severity, const ir_loc_t* loc, const char* text,
                       const char* rendered) {
  if (severity == IR_ERROR) text_printf(user, "%s\n", rendered);
}

static int setup(void** state) {
  fixture_t* f = calloc(1, sizeof(*f));
  f->ctx = ir_context_create();
  dialects_register_all(f->ctx);
  ir_context_set_diagnostics(f->ctx, on_message, &f->messages);
  f->options = (onnx_options_t){.infer_types = true, .externalize_inputs = -1, .minimum_elements = 2, .scope = "model"};
  *state = f;
  return 0;
}

static int teardown(void** state) {
  fixture_t* f = *state;
  ir_context_destroy(f->ctx);
  onnx_files_finish(&f->files);
  text_finish(&f->messages);
  free(f);
  return 0;
}

static ir_op_t* import(fixture_t* f, const text_t* model) {
  onnx_source_t source = {"model.onnx", model->data, model->size};
  return onnx_import_buffer(f->ctx, &source, &f->options, &f->files);
}

// The module's text must contain these lines, in order; the last is NULL.
static void expect_lines(fixture_t* f, ir_op_t* module, const char* const* lines) {
  text_t out = {0};
  if (!module) fail_msg("%s", f->messages.data);
  assert_true(ir_verify(f->ctx, module));
  ir_print_op(f->ctx, &out, module, 0, 0);
  const char* at = out.data;
  for (; *lines; ++lines) {
    const char* found = strstr(at, *lines);
    if (!found) fail_msg("missing: %s\nin:\n%s", *lines, out.data);
    at = found + strlen(*lines);
  }
  text_finish(&out);
}

static void expect_refused(fixture_t* f, const text_t* model, const char* message) {
  assert_null(import(f, model));
  if (!f->messages.data || !strstr(f->messages.data, message)) {
    fail_msg("expected '%s', got '%s'", message, f->messages.data ? f->messages.data : "nothing");
  }
}

static void add(text_t* graph, int field, text_t message) { pb_message(graph, field, &message); }

// y = op(x) over f32 [1, 4].
static text_t unary_model(const char* op, int64_t opset) {
  static const int64_t dims[] = {1, 4};
  text_t graph = {0};
  char spec[64];
  snprintf(spec, sizeof(spec), "%s x -> y", op);
  add(&graph, GRAPH_NODE, model_node(spec));
  pb_string(&graph, GRAPH_NAME, "my graph");
  add(&graph, GRAPH_INPUT, model_value("x", 1, 2, dims));
  add(&graph, GRAPH_OUTPUT, model_value("y", 1, 2, dims));
  return model_finish(&graph, opset);
}

static void test_prints_as_iree(void** state) {
  fixture_t* f = *state;
  text_t model = unary_model("Relu", 17);
  static const char* const lines[] = {
      "func.func @\"my graph\"(%arg0: !torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32> attributes "
      "{torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, "
      "torch.onnx_meta.producer_name = \"test\", torch.onnx_meta.producer_version = \"\"} {",
      "%none = torch.constant.none",
      "%0 = torch.operator \"onnx.Relu\"(%arg0) : (!torch.vtensor<[1,4],f32>) -> !torch.vtensor<[1,4],f32>",
      "return %0 : !torch.vtensor<[1,4],f32>", NULL};
  expect_lines(f, import(f, &model), lines);
  text_finish(&model);
}

static void test_unknown_operator_keeps_its_declared_type(void** state) {
  fixture_t* f = *state;
  text_t model = unary_model("Frobnicate", 17);
  static const char* const lines[] = {"\"onnx.Frobnicate\"(%arg0)", "-> !torch.vtensor<[1,4],f32>", NULL};
  ir_op_t* module = import(f, &model);
  expect_lines(f, module, lines);
  assert_false(onnx_lower_module(f->ctx, module));
  assert_non_null(strstr(f->messages.data, "'onnx.Frobnicate' op (opset 17): this operator is not supported"));
  text_finish(&model);
}

// Weights stay where they are in the file.
static void test_raw_data_is_borrowed(void** state) {
  fixture_t* f = *state;
  static const int64_t dims[] = {256};
  float values[256];
  text_t graph = {0};
  for (int i = 0; i < 256; ++i) values[i] = (float)i;
  add(&graph, GRAPH_INITIALIZER, model_tensor("w:0", 1, 1, dims, values, sizeof(values)));
  add(&graph, GRAPH_OUTPUT, model_value("w:0", 1, 1, dims));
  text_t model = model_finish(&graph, 17);
  ir_op_t* module = import(f, &model);
  static const char* const lines[] = {"torch.onnx.value = dense_resource<_w_0> : tensor<256xf32>", NULL};
  expect_lines(f, module, lines);
  ir_op_t* constant = ir_module_body(module)->first->regions[0].first->first;
  const char* data = ir_attr_data(ir_op_attr(constant, "torch.onnx.value"));
  assert_true(data > model.data && data < model.data + model.size);
  assert_true(onnx_lower_module(f->ctx, module));
  constant = ir_module_body(module)->first->regions[0].first->first;
  assert_ptr_equal(ir_attr_data(ir_op_attr(constant, "value")), data);
  text_finish(&model);
}

// Every element type, in typed fields (varints) and packed below a byte.
static void test_typed_data(void** state) {
  static const struct {
    int type, field;
    const char* expected;
  } rows[] = {{6, 5, "dense<[1, -2]> : tensor<2xsi32>"},
              {2, 5, "dense<[1, 254]> : tensor<2xui8>"},
              {3, 5, "dense<[1, -2]> : tensor<2xsi8>"},
              {7, 7, "dense<[1, -2]> : tensor<2xsi64>"},
              {13, 11, "dense<[1, 18446744073709551614]> : tensor<2xui64>"},
              {9, 5, "dense<true> : tensor<2xi1>"}};
  fixture_t* f = *state;
  static const int64_t dims[] = {2};
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
    text_t graph = {0}, tensor = model_tensor("t", rows[i].type, 1, dims, NULL, 0);
    pb_int(&tensor, rows[i].field, 1);
    pb_int(&tensor, rows[i].field, rows[i].type == 9 ? 1 : -2);
    pb_message(&graph, GRAPH_INITIALIZER, &tensor);
    text_t model = model_finish(&graph, 17);
    const char* const lines[] = {rows[i].expected, NULL};
    expect_lines(f, import(f, &model), lines);
    text_finish(&model);
  }
  // int4: two elements a byte, the first in the low bits.
  text_t graph = {0}, tensor = model_tensor("t", 22, 1, dims, "\xe1", 1);
  pb_message(&graph, GRAPH_INITIALIZER, &tensor);
  text_t model = model_finish(&graph, 21);
  ir_op_t* module = import(f, &model);
  assert_non_null(module);
  const ir_attr_t* value = ir_op_attr(ir_module_body(module)->first->regions[0].first->first, "torch.onnx.value");
  assert_int_equal(ir_attr_element_integer(value, 0), 1);
  assert_int_equal(ir_attr_element_integer(value, 1), -2);
  text_finish(&model);
}

static void test_subgraphs_are_regions(void** state) {
  fixture_t* f = *state;
  static const int64_t dims[] = {4};
  text_t graph = {0}, yes = {0}, no = {0}, node = model_node("If c -> y");
  add(&yes, GRAPH_NODE, model_node("Abs x -> a"));
  add(&yes, GRAPH_OUTPUT, model_value("a", 1, 1, dims));
  add(&no, GRAPH_NODE, model_node("Neg x -> b"));
  add(&no, GRAPH_OUTPUT, model_value("b", 1, 1, dims));
  node_graph(&node, "then_branch", &yes);
  node_graph(&node, "else_branch", &no);
  pb_message(&graph, GRAPH_NODE, &node);
  add(&graph, GRAPH_INPUT, model_value("c", 9, 0, NULL));
  add(&graph, GRAPH_INPUT, model_value("x", 1, 1, dims));
  add(&graph, GRAPH_OUTPUT, model_value("y", 1, 1, dims));
  text_t model = model_finish(&graph, 17);
  static const char* const lines[] = {"torch.operator \"onnx.If\"(%arg0)",
                                      "onnx.Neg",
                                      "torch.operator_terminator",
                                      "}, {",
                                      "onnx.Abs",
                                      "torch.operator_terminator",
                                      "return %0",
                                      NULL};
  expect_lines(f, import(f, &model), lines);
  text_finish(&model);
}

// Nodes in any order, also where only a subgraph reads a value; a subgraph's own names are others.
static void test_nodes_are_sorted(void** state) {
  fixture_t* f = *state;
  static const int64_t dims[] = {4};
  text_t graph = {0}, yes = {0}, no = {0}, node = model_node("If c -> chosen");
  add(&yes, GRAPH_NODE, model_node("Abs late -> y"));
  add(&yes, GRAPH_OUTPUT, model_value("y", 1, 1, dims));
  add(&no, GRAPH_NODE, model_node("Neg x -> y"));
  add(&no, GRAPH_OUTPUT, model_value("y", 1, 1, dims));
  node_graph(&node, "then_branch", &yes);
  node_graph(&node, "else_branch", &no);
  add(&graph, GRAPH_NODE, model_node("Relu chosen -> y"));
  pb_message(&graph, GRAPH_NODE, &node);
  add(&graph, GRAPH_NODE, model_node("Exp x -> late"));
  add(&graph, GRAPH_INPUT, model_value("c", 9, 0, NULL));
  add(&graph, GRAPH_INPUT, model_value("x", 1, 1, dims));
  add(&graph, GRAPH_OUTPUT, model_value("y", 1, 1, dims));
  text_t model = model_finish(&graph, 17);
  static const char* const lines[] = {"%0 = torch.operator \"onnx.Exp\"(%arg1)",
                                      "%1 = torch.operator \"onnx.If\"(%arg0)",
                                      "onnx.Neg",
                                      "onnx.Abs\"(%0)",
                                      "%2 = torch.operator \"onnx.Relu\"(%1)",
                                      "return %2",
                                      NULL};
  expect_lines(f, import(f, &model), lines);
  text_finish(&model);
  text_t circle = {0};
  add(&circle, GRAPH_NODE, model_node("Relu b -> a"));
  add(&circle, GRAPH_NODE, model_node("Relu a -> b"));
  model = model_finish(&circle, 17);
  expect_refused(f, &model, "input 'a' is not defined, or not before its use");
  text_finish(&model);
}

// A result that is maps is the tensor of their values; an argument is refused.
static void test_maps(void** state) {
  fixture_t* f = *state;
  static const int64_t dims[] = {-1, 2};
  for (int i = 0; i < 2; ++i) {
    text_t map = {0}, type = {0}, list = {0}, wrapped = {0}, maps = {0}, value = {0}, graph = {0};
    pb_int(&map, 1, 7);
    pb_message(&type, 5, &map);
    pb_message(&list, 1, &type);
    pb_message(&wrapped, 4, &list);
    pb_string(&maps, 1, i ? "x" : "y");
    pb_message(&maps, 2, &wrapped);
    value = model_value(i ? "y" : "x", 1, 2, dims);
    text_t node = model_node("ZipMap x -> y");
    node_ints(&node, "classlabels_int64s", 2, (int64_t[]){3, 5});
    pb_message(&graph, GRAPH_NODE, &node);
    pb_message(&graph, i ? GRAPH_INPUT : GRAPH_OUTPUT, &maps);
    pb_message(&graph, i ? GRAPH_OUTPUT : GRAPH_INPUT, &value);
    text_t model = model_finish(&graph, 17);
    static const char* const lines[] = {"-> !torch.vtensor<[?,2],f32>", NULL};
    if (i) {
      expect_refused(f, &model, "'x' is a sequence of other things than tensors; only tensors are supported");
    } else {
      expect_lines(f, import(f, &model), lines);
    }
    text_finish(&model);
  }
}

// A local function is expanded where it is called, with the attribute that the call gives.
static void test_functions_are_expanded(void** state) {
  fixture_t* f = *state;
  static const int64_t dims[] = {2, 3};
  text_t graph = {0}, function = {0}, inner = model_node("Softmax p -> q"), call = model_node("Mine x -> y");
  text_t reference = {0};
  pb_string(&reference, 1, "axis");
  pb_string(&reference, 21, "along");
  pb_int(&reference, 20, 2);
  pb_message(&inner, 5, &reference);
  pb_string(&call, 7, "own");
  node_int(&call, "along", 0);
  pb_message(&graph, GRAPH_NODE, &call);
  add(&graph, GRAPH_INPUT, model_value("x", 1, 2, dims));
  add(&graph, GRAPH_OUTPUT, model_value("y", 1, 2, dims));
  text_t model = model_finish(&graph, 17);
  pb_string(&function, 1, "Mine");
  pb_string(&function, 4, "p");
  pb_string(&function, 5, "q");
  pb_message(&function, 7, &inner);
  pb_string(&function, 10, "own");
  pb_message(&model, 25, &function);
  static const char* const lines[] = {"torch.operator \"onnx.Softmax\"(%arg0) {torch.onnx.axis = 0 : si64}", "return",
                                      NULL};
  expect_lines(f, import(f, &model), lines);
  text_finish(&model);
}

static void test_recursive_function_is_refused(void** state) {
  fixture_t* f = *state;
  text_t graph = {0}, function = {0};
  add(&graph, GRAPH_NODE, model_node("Mine"));
  text_t model = model_finish(&graph, 17);
  pb_string(&function, 1, "Mine");
  add(&function, 7, model_node("Mine"));
  pb_message(&model, 25, &function);
  expect_refused(f, &model, "nested too deep or calls itself");
  text_finish(&model);
}

static void test_opset_is_upgraded(void** state) {
  fixture_t* f = *state;
  static const int64_t dims[] = {1, 3}, axes[] = {0};
  text_t graph = {0}, node = model_node("Squeeze x -> y");
  node_ints(&node, "axes", 1, axes);
  pb_message(&graph, GRAPH_NODE, &node);
  add(&graph, GRAPH_INPUT, model_value("x", 1, 2, dims));
  add(&graph, GRAPH_OUTPUT, model_value("y", 1, 1, dims + 1));
  text_t model = model_finish(&graph, 11);
  f->options.opset_version = 17;
  static const char* const lines[] = {
      "torch.onnx_meta.opset_version = 17 : si64",
      "torch.operator \"onnx.Constant\"() {torch.onnx.value = dense<0> : tensor<1xsi64>}",
      "torch.operator \"onnx.Squeeze\"(%arg0, %0) : ", "-> !torch.vtensor<[3],f32>", NULL};
  expect_lines(f, import(f, &model), lines);
  text_finish(&model);
}

// A weight's data in another file, of `length` bytes.
static text_t external_model(const char* location, const char* offset, const char* length) {
  static const int64_t dims[] = {2};
  const char* const entries[][2] = {{"location", location}, {"offset", offset}, {"length", length}};
  text_t graph = {0}, tensor = model_tensor("w", 1, 1, dims, NULL, 0);
  for (int i = 0; i < 3; ++i) {
    text_t entry = {0};
    pb_string(&entry, 1, entries[i][0]);
    pb_string(&entry, 2, entries[i][1]);
    pb_message(&tensor, 13, &entry);
  }
  pb_int(&tensor, 14, 1);
  pb_message(&graph, GRAPH_INITIALIZER, &tensor);
  add(&graph, GRAPH_OUTPUT, model_value("w", 1, 1, dims));
  return model_finish(&graph, 17);
}

static void write_file(const char* path, const void* data, size_t size) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  fclose(file);
}

static void test_external_data(void** state) {
  fixture_t* f = *state;
  static const float values[] = {9, 1.5f, 2.5f};
  static const struct {
    const char *location, *offset, *length, *error;
  } rows[] = {{"weights.bin", "4", "8", NULL},
              {"weights.bin", "8", "8", "do not lie within"},
              {"weights.bin", "4", "4", "needs 2 elements"},
              {"weights.bin", "-4", "8", "do not lie within"},
              {"missing.bin", "0", "8", "No such file"},
              {"../outside.bin", "0", "8", "outside the directory"},
              {"link.bin", "0", "8", "outside the directory"},
              {"/etc/hostname", "0", "8", "outside the directory"}};
  char base[] = "/tmp/onnx_test_XXXXXX", path[64], outside[64];
  assert_non_null(mkdtemp(base));
  snprintf(path, sizeof(path), "%s/data", base);
  assert_int_equal(mkdir(path, 0700), 0);
  f->options.data_dir = path;
  char file[80], link[80];
  snprintf(file, sizeof(file), "%s/weights.bin", path);
  snprintf(link, sizeof(link), "%s/link.bin", path);
  snprintf(outside, sizeof(outside), "%s/outside.bin", base);
  write_file(file, values, sizeof(values));
  write_file(outside, values, sizeof(values));
  assert_int_equal(symlink(outside, link), 0);
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
    text_t model = external_model(rows[i].location, rows[i].offset, rows[i].length);
    if (rows[i].error) {
      expect_refused(f, &model, rows[i].error);
    } else {
      ir_op_t* module = import(f, &model);
      assert_non_null(module);
      const ir_attr_t* value = ir_op_attr(ir_module_body(module)->first->regions[0].first->first, "torch.onnx.value");
      assert_true(ir_attr_element_number(value, 1) == 2.5);
    }
    text_finish(&model);
  }
  unlink(link), unlink(file), unlink(outside), rmdir(path), rmdir(base);
}

static void test_damaged_files(void** state) {
  fixture_t* f = *state;
  text_t model = unary_model("Relu", 17);
  for (size_t size = 1; size < model.size; size += 3) {  // every prefix is a message or lacks something, never a crash
    text_t part = {.data = model.data, .size = size};
    import(f, &part);
  }
  text_t cut = {.data = model.data, .size = model.size - 1};
  expect_refused(f, &cut, "not a well-formed ONNX model");
  text_t empty = {.data = "", .size = 0};
  expect_refused(f, &empty, "not an ONNX model: it has no graph");
  text_finish(&model);
}

static void test_bad_models(void** state) {
  fixture_t* f = *state;
  static const int64_t dims[] = {2}, huge[] = {1ll << 40, 1ll << 40}, three[] = {3};
  text_t graph = {0};
  add(&graph, GRAPH_NODE, model_node("Relu nowhere -> y"));
  text_t model = model_finish(&graph, 17);
  expect_refused(f, &model, "input 'nowhere' is not defined, or not before its use");
  text_finish(&model);
  add(&graph, GRAPH_INITIALIZER, model_tensor("w", 1, 2, huge, "", 0));
  model = model_finish(&graph, 17);
  expect_refused(f, &model, "tensor 'w' has an invalid or too large shape");
  text_finish(&model);
  add(&graph, GRAPH_INITIALIZER, model_tensor("s", 8, 1, dims, "ab", 2));
  model = model_finish(&graph, 17);
  expect_refused(f, &model, "tensor 's' needs 2 strings but its data holds 0");
  text_finish(&model);
  add(&graph, GRAPH_NODE, model_node("Add x y -> z"));
  add(&graph, GRAPH_INPUT, model_value("x", 1, 1, dims));
  add(&graph, GRAPH_INPUT, model_value("y", 1, 1, three));
  model = model_finish(&graph, 17);
  expect_refused(f, &model, "do not broadcast");
  text_finish(&model);
  model = unary_model("Relu", 99);
  expect_refused(f, &model, "the model uses opset 99");
  text_finish(&model);
}

static void test_externalized_parameters(void** state) {
  fixture_t* f = *state;
  static const int64_t dims[] = {2};
  static const float values[] = {1, 2};
  parameter_list_t parameters = {0};
  f->options.externalize = true;
  f->options.parameters = &parameters;
  text_t graph = {0};
  add(&graph, GRAPH_INITIALIZER, model_tensor("w::0", 1, 1, dims, values, sizeof(values)));
  add(&graph, GRAPH_NODE, model_node("Relu w::0 -> y"));
  add(&graph, GRAPH_OUTPUT, model_value("y", 1, 1, dims));
  text_t model = model_finish(&graph, 17);
  static const char* const lines[] = {
      "util.global private @w__0 = #stream.parameter.named<\"model\"::\"w__0\"> : tensor<2xf32>",
      "= util.global.load @w__0 : tensor<2xf32>", "torch_c.from_builtin_tensor", "onnx.Relu", NULL};
  expect_lines(f, import(f, &model), lines);
  assert_int_equal(parameters.count, 1);
  char* archive = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&archive, &size);
  assert_true(parameter_list_write(&parameters, file));
  fclose(file);
  assert_memory_equal(archive, "IRPA", 4);
  uint64_t storage;
  memcpy(&storage, archive + 0x48, 8);
  assert_int_equal(storage % 64, 0);
  assert_memory_equal(archive + storage, values, sizeof(values));
  free(archive);
  text_finish(&model);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(test_prints_as_iree),
      TEST(test_unknown_operator_keeps_its_declared_type),
      TEST(test_raw_data_is_borrowed),
      TEST(test_typed_data),
      TEST(test_subgraphs_are_regions),
      TEST(test_nodes_are_sorted),
      TEST(test_maps),
      TEST(test_functions_are_expanded),
      TEST(test_recursive_function_is_refused),
      TEST(test_opset_is_upgraded),
      TEST(test_external_data),
      TEST(test_damaged_files),
      TEST(test_bad_models),
      TEST(test_externalized_parameters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
