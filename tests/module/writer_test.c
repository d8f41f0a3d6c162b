// The writer's modules are what the verifier accepts and the disassembler shows; its own misuse is reported.

#include <unistd.h>

#include "module/dump.h"
#include "module_test.h"

enum { F32 = 0x21000020, DENSE = 1 };

// One dispatch with constants, a transient and an update, in a function with every kind of operand.
static module_writer_t* make_model(void) {
  module_writer_t* w = NULL;
  EXPECT_OK(module_writer_create(IREE_SV("model"), iree_allocator_system(), &w));
  module_writer_attr(w, IREE_SV("made.by"), IREE_SV("test"));
  uint32_t device = module_writer_device(w, IREE_SV("__device_0"), 0);
  uint32_t target = module_writer_target(w, &(module_target_desc_t){.backend = IREE_SV("llvm-cpu"),
                                                                    .format = IREE_SV("embedded-elf-x86_64"),
                                                                    .description = IREE_SV("cpu generic"),
                                                                    .features = IREE_SV("avx2,fma")});
  uint32_t exe = module_writer_executable(w, IREE_SV("exe"), 1);
  static const uint8_t binary[100] = {1, 2, 3};
  module_writer_variant(w, exe,
                        &(module_variant_desc_t){.target = target,
                                                 .extension = IREE_SV("so"),
                                                 .data = {binary, sizeof(binary)},
                                                 .points = &(module_point_t){.name = IREE_SV("main_dispatch_0"),
                                                                             .binding_count = 3,
                                                                             .constant_count = 2,
                                                                             .workgroup_size = {1, 1, 1}}});
  static const float weights[512];
  uint32_t segment = module_writer_segment(w, &(module_segment_t){.entry = IREE_SV("constants/weights.bin"),
                                                                  .data = {(const uint8_t*)weights, sizeof(weights)},
                                                                  .alignment = MODULE_CONSTANT_ALIGNMENT});
  uint32_t constant = module_writer_constant(w, device, segment, 0, sizeof(weights));
  uint32_t in = module_writer_shape(w, IREE_SV("input0"), F32, DENSE, 2, (int64_t[]){4, MODULE_DIM_DYNAMIC});
  uint32_t out = module_writer_shape(w, IREE_SV("output0"), F32, DENSE, 1, (int64_t[]){16});

  module_table_t* t = module_writer_table(w, IREE_SV("main"), 2);
  uint32_t s_weights = module_table_constant_slot(t, constant);
  uint32_t s_in = module_table_argument_slot(t, 0, 0), s_out = module_table_argument_slot(t, 1, 64);
  module_table_location(t, IREE_SV("model.mlir"), 7, 5);
  module_table_dispatch(
      t, &(module_dispatch_t){.executable = exe,
                              .workgroups = {MODULE_PARAM(0), MODULE_LIT(1), MODULE_LIT(1)},
                              .push_count = 2,
                              .pushes = (module_push_t[]){{MODULE_PARAM(1), false}, {MODULE_PARAM(1), true}},
                              .binding_count = 3,
                              .bindings = (module_binding_t[]){{s_in, MODULE_LIT(0), MODULE_LIT(MODULE_WHOLE_BUFFER)},
                                                               {s_weights, MODULE_LIT(64), MODULE_LIT(128)},
                                                               {s_out, MODULE_LIT(0), MODULE_LIT(64)}}});
  module_table_barrier(t);
  module_table_fill(t, (module_binding_t){s_out, MODULE_LIT(0), MODULE_LIT(4)}, MODULE_LIT(7), 4);
  module_table_copy(t, (module_binding_t){s_weights, MODULE_LIT(0), MODULE_LIT(8)},
                    (module_binding_t){s_out, MODULE_LIT(8), MODULE_LIT(8)});
  module_table_update(t, segment, MODULE_LIT(16), (module_binding_t){s_out, MODULE_LIT(16), MODULE_LIT(8)});

  module_function_t* f = module_writer_function(w, IREE_SV("main"), IREE_SV("0r_r"));
  module_function_location(f, IREE_SV("model.mlir"), 3, 1);
  module_reg_t view = module_function_argument(f, 0), null = module_function_null(f);
  module_reg_t input = module_function_ref(f), dim = module_function_register(f, VM_TYPE_I64);
  module_emit(f, hal_view_unwrap, MODULE_REG(input), MODULE_LIST(1, &dim), MODULE_REG(view), MODULE_INDEX(in));
  module_reg_t stream = module_function_ref(f);
  module_emit(f, hal_stream_begin, MODULE_REG(stream), MODULE_INDEX(device), MODULE_REG(null), MODULE_IMM(0));
  module_reg_t output = module_emit_value(f, hal_alloca, MODULE_REG(stream), MODULE_REG(module_function_i64(f, 64)));
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)),
              MODULE_LIST(2, ((module_reg_t[]){dim, dim})), MODULE_LIST(2, ((module_reg_t[]){input, output})));
  module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(null));
  module_reg_t result = module_function_ref(f);
  module_emit(f, hal_view_create, MODULE_REG(result), MODULE_REG(output), MODULE_INDEX(out), MODULE_LIST(0, NULL));
  module_emit(f, return, MODULE_LIST(1, &result));
  module_writer_export(w, IREE_SV("main"), f, 1,
                       (module_pair_t[]){{IREE_SV("iree.abi.declaration"), IREE_SV("sync func @main")}});
  return w;
}

static iree_byte_span_t finish(module_writer_t* w) {
  iree_byte_span_t data;
  EXPECT_OK(module_writer_finish_memory(w, iree_allocator_system(), &data));
  module_writer_destroy(w);
  return data;
}

static void open_image(iree_byte_span_t data, module_image_t* image) {
  EXPECT_OK(module_image_open(iree_const_cast_byte_span(data), iree_allocator_system(), image));
}

static char* disassemble(const module_image_t* image, const char* function) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  uint32_t ordinal = 0;
  if (*function) {
    assert_true(module_dump_find_function(image, iree_make_cstring_view(function), &ordinal));
    module_dump_function(image, ordinal, false, file);
  } else {
    module_dump_disassembly(image, false, file);
  }
  fclose(file);
  return text;
}

static const char expected_function[] =
    "vm.func @main(%r0: ref) -> (ref) {\n"
    "^bb0:\n"
    "  %r2, [%I0] = hal_view_unwrap %r0, @input0  // model.mlir:3:1\n"
    "  %r3 = hal_stream_begin @__device_0, %r1, 0\n"
    "  %I1 = const_i64 64\n"
    "  %r4 = hal_alloca %r3, %I1\n"
    "  hal_execute %r3, @main, [%I0, %I0], [%r2, %r4]\n"
    "  hal_stream_end %r3, %r1\n"
    "  %r5 = hal_view_create %r4, @output0, []\n"
    "  return [%r5]\n"
    "}\n";

static const char expected_table[] =
    "hal.commands @main(%param0: i64, %param1: i64) {\n"
    "  // const0: 2048 bytes\n"
    "  // arg0: 0 bytes\n"
    "  // arg1: 64 bytes\n"
    "  dispatch @exe::@main_dispatch_0 workgroups(%param0, 1, 1) constants(%param1, %param1 >> 32) "
    "bindings(arg0[0 for end], const0[64 for 128], arg1[0 for 64])  // model.mlir:7:5\n"
    "  barrier\n"
    "  fill arg1[0 for 4] with 7 : i32\n"
    "  copy const0[0 for 8], arg1[8 for 8]\n"
    "  update arg1[16 for 8] from @constants/weights.bin[16]\n"
    "}\n";

static void test_model(void** state) {
  iree_byte_span_t data = finish(make_model());
  module_image_t image;
  open_image(data, &image);
  char* text = disassemble(&image, "main");
  assert_string_equal(text, expected_function);
  free(text);
  text = disassemble(&image, "");
  assert_non_null(strstr(text, expected_table));
  assert_non_null(strstr(text, expected_function));
  free(text);
  const module_export_t* row = &image.exports[0];
  iree_string_view_t value =
      module_image_attr(&image, row->attr_first, row->attr_count, IREE_SV("iree.abi.declaration"));
  assert_true(iree_string_view_equal(value, IREE_SV("sync func @main")));
  assert_int_equal(((uintptr_t)image.segment_data[1].data - (uintptr_t)data.data) % 4096, 0);
  module_image_close(&image, iree_allocator_system());
  iree_allocator_free(iree_allocator_system(), data.data);
}

// Memory that is not aligned, as embedded arrays are: the tables are copied.
static void test_unaligned(void** state) {
  iree_byte_span_t data = finish(make_model());
  uint8_t* copy = malloc(data.data_length + 1);
  memcpy(copy + 1, data.data, data.data_length);
  module_image_t image;
  open_image(iree_make_byte_span(copy + 1, data.data_length), &image);
  assert_non_null(image.program_copy);
  module_image_close(&image, iree_allocator_system());
  free(copy);
  iree_allocator_free(iree_allocator_system(), data.data);
}

static void test_metadata(void** state) {
  iree_byte_span_t data = finish(make_model());
  module_image_t image;
  open_image(data, &image);
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  module_dump_metadata(&image, data.data_length, file);
  module_dump_json(&image, true, file);
  fclose(file);
  assert_non_null(strstr(text, "// @model : version 0\n"));
  assert_non_null(strstr(text, "  hal, version >= 0, required\n"));
  assert_non_null(
      strstr(text, "  [  0] main(!vm.ref<?>) -> (!vm.ref<?>)\n        iree.abi.declaration: sync func @main\n"));
  assert_non_null(strstr(text, "embedded-elf-x86_64 (cpu generic) needs avx2,fma"));
  assert_non_null(strstr(text, "`executables/exe_embedded_elf_x86_64.so`"));
  assert_non_null(strstr(text, "\"backend\": \"llvm-cpu\""));
  free(text);
  module_image_close(&image, iree_allocator_system());
  iree_allocator_free(iree_allocator_system(), data.data);
}

static void test_file(void** state) {
  char path[] = "/tmp/module_writer_test_XXXXXX";
  int fd = mkstemp(path);
  close(fd);
  module_writer_t* w = make_model();
  EXPECT_OK(module_writer_finish_file(w, path));
  iree_byte_span_t data = finish(w);  // the same once more
  FILE* file = fopen(path, "rb");
  uint8_t* read = malloc(data.data_length + 1);
  assert_int_equal(fread(read, 1, data.data_length + 1, file), data.data_length);
  assert_memory_equal(read, data.data, data.data_length);
  fclose(file);
  free(read);
  unlink(path);
  iree_allocator_free(iree_allocator_system(), data.data);
  w = make_model();
  EXPECT_STATUS(module_writer_finish_file(w, "/nonexistent/x.vmfb"), NOT_FOUND, "cannot create");
  module_writer_destroy(w);
}

static void test_pair(void** state) {
  module_writer_t* w = NULL;
  EXPECT_OK(module_writer_create(IREE_SV("m"), iree_allocator_system(), &w));
  module_function_t* body = module_writer_function(w, IREE_SV("body"), IREE_SV("0rirr_ir"));
  module_reg_t results[] = {module_function_argument(body, 1), module_function_argument(body, 0)};
  module_emit(body, return, MODULE_LIST(2, results));
  module_writer_export_pair(w, IREE_SV("f"), body, 0, NULL);
  iree_byte_span_t data = finish(w);
  module_image_t image;
  open_image(data, &image);
  char* text = disassemble(&image, "f");
  assert_string_equal(text,
                      "vm.func @f(%r0: ref, %i0: i32) -> (i32, ref) {\n"
                      "^bb0:\n"
                      "  [%i1, %r3] = call @body, [%r0, %i0, %r1, %r2]\n"
                      "  return [%i1, %r3]\n"
                      "}\n");
  free(text);
  assert_int_equal(image.exports_count, 2);
  assert_true(iree_string_view_equal(module_image_string(&image, image.exports[1].name), IREE_SV("f$async")));
  module_image_close(&image, iree_allocator_system());
  iree_allocator_free(iree_allocator_system(), data.data);
}

// Misuse is an error that names the place, at the end.
static void test_misuse(void** state) {
  iree_byte_span_t data;
  module_writer_t* w = NULL;
  EXPECT_OK(module_writer_create(IREE_SV("m"), iree_allocator_system(), &w));
  module_function_t* f = module_writer_function(w, IREE_SV("f"), IREE_SV("0i_v"));
  module_reg_t arg = module_function_argument(f, 0);
  module_emit(f, i64_add, MODULE_REG(arg), MODULE_REG(arg), MODULE_REG(arg));
  EXPECT_STATUS(module_writer_finish_memory(w, iree_allocator_system(), &data), INTERNAL,
                "operand 0 of i64_add does not fit `I=II`");
  module_writer_destroy(w);

  EXPECT_OK(module_writer_create(IREE_SV("m"), iree_allocator_system(), &w));
  f = module_writer_function(w, IREE_SV("f"), IREE_SV("0v_v"));
  module_emit(f, br, MODULE_LABEL(module_function_label(f)));
  EXPECT_STATUS(module_writer_finish_memory(w, iree_allocator_system(), &data), INTERNAL, "unbound label 0");
  module_writer_destroy(w);

  EXPECT_OK(module_writer_create(IREE_SV("m"), iree_allocator_system(), &w));
  module_writer_function(w, IREE_SV("f"), IREE_SV("0x_v"));
  EXPECT_STATUS(module_writer_finish_memory(w, iree_allocator_system(), &data), INTERNAL, "bad convention '0x_v'");
  module_writer_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_model), cmocka_unit_test(test_unaligned), cmocka_unit_test(test_metadata),
      cmocka_unit_test(test_file),  cmocka_unit_test(test_pair),      cmocka_unit_test(test_misuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
