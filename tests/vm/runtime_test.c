// The documented C programs against modules that a compiler would make of their sources: hello world, dynamic shapes,
// variables and state.

#include "device_fixture.h"
// After cmocka.
#include <unistd.h>

enum { F32 = IREE_HAL_ELEMENT_TYPE_FLOAT_32, I32 = IREE_HAL_ELEMENT_TYPE_INT_32 };

#define LIT MODULE_LIT
#define REGS(...) \
  MODULE_LIST(sizeof((module_reg_t[]){__VA_ARGS__}) / sizeof(module_reg_t), ((module_reg_t[]){__VA_ARGS__}))
#define NO_REGS MODULE_LIST(0, NULL)

static iree_byte_span_t embedded;

// What a program does that has its module in memory and lets the session have it for a while.
static void append_embedded(iree_runtime_session_t* session) {
  EXPECT_OK(iree_runtime_session_append_bytecode_module_from_memory(
      session, iree_make_const_byte_span(embedded.data, embedded.data_length), iree_allocator_null()));
}

static char* print_view(iree_hal_buffer_view_t* view) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  EXPECT_OK(iree_hal_buffer_view_fprint(file, view, /*max_element_count=*/4096, iree_allocator_system()));
  fclose(file);
  return text;
}

static void expect_view(iree_hal_buffer_view_t* view, const char* expected) {
  char* text = print_view(view);
  assert_string_equal(text, expected);
  free(text);
}

//===----------------------------------------------------------------------------------------------------------------===
// simple_mul(4xf32, 4xf32) -> 4xf32
//===----------------------------------------------------------------------------------------------------------------===

static void make_simple_mul(void) {
  builder_t b;
  builder_begin(&b, "embedded-elf-x86_64", "");
  uint32_t in0 = add_shape(&b, "input0", F32, 1, (int64_t[]){4}), in1 = add_shape(&b, "input1", F32, 1, (int64_t[]){4});
  module_table_t* t = module_writer_table(b.writer, IREE_SV("simple_mul"), 0);
  module_binding_t bindings[3];
  for (uint32_t i = 0; i < 3; ++i) {
    bindings[i] = (module_binding_t){module_table_argument_slot(t, i, 16), LIT(0), LIT(16)};
  }
  module_table_dispatch(t, &(module_dispatch_t){.executable = b.executable,
                                                .entry = POINT_MUL_F32,
                                                .workgroups = {LIT(1), LIT(1), LIT(1)},
                                                .push_count = 1,
                                                .pushes = (module_push_t[]){{LIT(4), false}},
                                                .binding_count = 3,
                                                .bindings = bindings});
  module_function_t* f = module_writer_function(b.writer, IREE_SV("simple_mul"), IREE_SV("0rr_r"));
  module_reg_t a = module_function_ref(f), c = module_function_ref(f), null = module_function_null(f);
  module_emit(f, hal_view_unwrap, MODULE_REG(a), NO_REGS, MODULE_REG(module_function_argument(f, 0)),
              MODULE_INDEX(in0));
  module_emit(f, hal_view_unwrap, MODULE_REG(c), NO_REGS, MODULE_REG(module_function_argument(f, 1)),
              MODULE_INDEX(in1));
  module_reg_t stream = module_emit_value(f, hal_stream_begin, MODULE_INDEX(b.device), MODULE_REG(null), MODULE_IMM(0));
  module_reg_t out = module_emit_value(f, hal_alloca, MODULE_REG(stream), MODULE_REG(module_function_i64(f, 16)));
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)), NO_REGS, REGS(a, c, out));
  module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(null));
  module_reg_t result = module_function_ref(f);
  module_emit(f, hal_view_create, MODULE_REG(result), MODULE_REG(out), MODULE_INDEX(in0), NO_REGS);
  module_emit(f, return, REGS(result));
  module_writer_export(b.writer, IREE_SV("simple_mul"), f, 0, NULL);
  embedded = builder_end(&b);
}

static void test_hello_world(void** state) {
  make_simple_mul();
  session_t s;
  session_open(&s, "local-task");
  append_embedded(s.session);
  iree_runtime_call_t call;
  EXPECT_OK(iree_runtime_call_initialize_by_name(s.session, iree_make_cstring_view("module.simple_mul"), &call));
  static const iree_hal_dim_t shape[1] = {4};
  static const float arg0[4] = {1.0f, 1.1f, 1.2f, 1.3f}, arg1[4] = {10.0f, 100.0f, 1000.0f, 10000.0f};
  iree_hal_buffer_view_t* views[2] = {make_view(&s, F32, 1, shape, arg0, sizeof(arg0)),
                                      make_view(&s, F32, 1, shape, arg1, sizeof(arg1))};
  expect_view(views[0], "4xf32=1 1.1 1.2 1.3");
  expect_view(views[1], "4xf32=10 100 1000 10000");
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(iree_runtime_call_inputs_push_back_buffer_view(&call, views[i]));
    iree_hal_buffer_view_release(views[i]);
  }
  EXPECT_OK(iree_runtime_call_invoke(&call, /*flags=*/0));
  iree_hal_buffer_view_t* result = NULL;
  EXPECT_OK(iree_runtime_call_outputs_pop_front_buffer_view(&call, &result));
  expect_view(result, "4xf32=10 110 1200 13000");
  iree_hal_buffer_view_release(result);
  EXPECT_STATUS(iree_runtime_call_outputs_pop_front_buffer_view(&call, &result), OUT_OF_RANGE, NULL);
  iree_runtime_call_deinitialize(&call);
  EXPECT_STATUS(iree_runtime_call_initialize_by_name(s.session, IREE_SV("module.nothing"), &call), NOT_FOUND,
                "no function `nothing` exported by module");
  session_close(&s);
  iree_allocator_free(iree_allocator_system(), embedded.data);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dynamic shapes
//===----------------------------------------------------------------------------------------------------------------===

// sum(?x<columns>xi32) over the first dimension: what both reductions of the sample are.
static void add_sum(builder_t* b, const char* name, int64_t columns, bool is_scalar) {
  int64_t dims[2] = {MODULE_DIM_DYNAMIC, columns};
  uint32_t in = add_shape(b, "input0", I32, is_scalar ? 1 : 2, dims);
  uint32_t out = add_shape(b, "output0", I32, is_scalar ? 0 : 1, dims + 1);
  module_table_t* t = module_writer_table(b->writer, iree_make_cstring_view(name), 2);
  uint32_t s_in = module_table_argument_slot(t, 0, 0);
  uint32_t s_out = module_table_argument_slot(t, 1, (uint64_t)columns * 4);
  module_table_dispatch(t, &(module_dispatch_t){.executable = b->executable,
                                                .entry = POINT_SUM_ROWS_I32,
                                                .workgroups = {LIT(columns), LIT(1), LIT(1)},
                                                .push_count = 1,
                                                .pushes = (module_push_t[]){{MODULE_PARAM(0), false}},
                                                .binding_count = 2,
                                                .bindings = (module_binding_t[]){{s_in, LIT(0), MODULE_PARAM(1)},
                                                                                 {s_out, LIT(0), LIT(columns * 4)}}});
  module_function_t* f =
      module_writer_function(b->writer, iree_make_cstring_view(name), is_scalar ? IREE_SV("0r_i") : IREE_SV("0r_r"));
  module_reg_t input = module_function_ref(f), rows = module_function_register(f, VM_TYPE_I64);
  module_reg_t null = module_function_null(f);
  module_emit(f, hal_view_unwrap, MODULE_REG(input), REGS(rows), MODULE_REG(module_function_argument(f, 0)),
              MODULE_INDEX(in));
  module_reg_t bytes = module_emit_value(f, i64_mul, MODULE_REG(rows), MODULE_REG(module_function_i64(f, columns * 4)));
  module_reg_t stream =
      module_emit_value(f, hal_stream_begin, MODULE_INDEX(b->device), MODULE_REG(null), MODULE_IMM(0));
  module_reg_t output =
      module_emit_value(f, hal_alloca, MODULE_REG(stream), MODULE_REG(module_function_i64(f, columns * 4)));
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)), REGS(rows, bytes),
              REGS(input, output));
  if (is_scalar) {
    module_reg_t value = module_emit_value(f, hal_load_i32, MODULE_REG(stream), MODULE_REG(output),
                                           MODULE_REG(module_function_i64(f, 0)));
    module_emit(f, return, REGS(value));
  } else {
    module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(null));
    module_reg_t result = module_function_ref(f);
    module_emit(f, hal_view_create, MODULE_REG(result), MODULE_REG(output), MODULE_INDEX(out), NO_REGS);
    module_emit(f, return, REGS(result));
  }
  module_writer_export(b->writer, iree_make_cstring_view(name), f, 0, NULL);
}

// add_one(?xi32) -> ?xi32
static void add_add_one(builder_t* b) {
  uint32_t shape = add_shape(b, "input0", I32, 1, (int64_t[]){MODULE_DIM_DYNAMIC});
  module_table_t* t = module_writer_table(b->writer, IREE_SV("add_one"), 2);
  uint32_t s_in = module_table_argument_slot(t, 0, 0), s_out = module_table_argument_slot(t, 1, 0);
  module_table_dispatch(t, &(module_dispatch_t){.executable = b->executable,
                                                .entry = POINT_ADD_I32,
                                                .workgroups = {MODULE_PARAM(0), LIT(1), LIT(1)},
                                                .push_count = 1,
                                                .pushes = (module_push_t[]){{LIT(1), false}},
                                                .binding_count = 2,
                                                .bindings = (module_binding_t[]){{s_in, LIT(0), MODULE_PARAM(1)},
                                                                                 {s_out, LIT(0), MODULE_PARAM(1)}}});
  module_function_t* f = module_writer_function(b->writer, IREE_SV("add_one"), IREE_SV("0r_r"));
  module_reg_t input = module_function_ref(f), count = module_function_register(f, VM_TYPE_I64);
  module_reg_t null = module_function_null(f), result = module_function_ref(f);
  module_emit(f, hal_view_unwrap, MODULE_REG(input), REGS(count), MODULE_REG(module_function_argument(f, 0)),
              MODULE_INDEX(shape));
  module_reg_t bytes = module_emit_value(f, i64_mul, MODULE_REG(count), MODULE_REG(module_function_i64(f, 4)));
  module_reg_t stream =
      module_emit_value(f, hal_stream_begin, MODULE_INDEX(b->device), MODULE_REG(null), MODULE_IMM(0));
  module_reg_t output = module_emit_value(f, hal_alloca, MODULE_REG(stream), MODULE_REG(bytes));
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)), REGS(count, bytes),
              REGS(input, output));
  module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(null));
  module_emit(f, hal_view_create, MODULE_REG(result), MODULE_REG(output), MODULE_INDEX(shape), REGS(count));
  module_emit(f, return, REGS(result));
  module_writer_export(b->writer, IREE_SV("add_one"), f, 0, NULL);
}

static void call_view(session_t* s, const char* name, size_t rank, const iree_hal_dim_t* dims, const int32_t* data,
                      const char* expected) {
  iree_runtime_call_t call;
  size_t count = 1;
  for (size_t i = 0; i < rank; ++i) count *= dims[i];
  EXPECT_OK(iree_runtime_call_initialize_by_name(s->session, iree_make_cstring_view(name), &call));
  iree_hal_buffer_view_t *view = make_view(s, IREE_HAL_ELEMENT_TYPE_SINT_32, rank, dims, data, count * 4),
                         *result = NULL;
  EXPECT_OK(iree_runtime_call_inputs_push_back_buffer_view(&call, view));
  iree_hal_buffer_view_release(view);
  EXPECT_OK(iree_runtime_call_invoke(&call, 0));
  EXPECT_OK(iree_runtime_call_outputs_pop_front_buffer_view(&call, &result));
  expect_view(result, expected);
  iree_hal_buffer_view_release(result);
  iree_runtime_call_deinitialize(&call);
}

static int32_t call_scalar(session_t* s, size_t count, const int32_t* data) {
  iree_vm_list_t *inputs = make_list(), *outputs = make_list();
  iree_vm_ref_t ref =
      iree_hal_buffer_view_move_ref(make_view(s, I32, 1, (iree_hal_dim_t[]){count}, data, count * sizeof(*data)));
  EXPECT_OK(iree_vm_list_push_ref_move(inputs, &ref));
  EXPECT_OK(iree_runtime_session_call_by_name(s->session, IREE_SV("module.reduce_sum_1d"), inputs, outputs));
  iree_vm_value_t value;
  EXPECT_OK(iree_vm_list_get_value_as(outputs, 0, IREE_VM_VALUE_TYPE_I32, &value));
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return value.i32;
}

static void test_dynamic_shapes(void** state) {
  builder_t b;
  builder_begin(&b, "embedded-elf-x86_64", "");
  add_sum(&b, "reduce_sum_1d", 1, true);
  add_sum(&b, "reduce_sum_2d", 3, false);
  add_add_one(&b);
  session_t s;
  session_open(&s, "local-task");
  EXPECT_OK(session_load(&s, builder_end(&b)));
  assert_int_equal(call_scalar(&s, 3, (int32_t[]){1, 10, 100}), 111);
  assert_int_equal(call_scalar(&s, 5, (int32_t[]){1, 10, 100, 1000, 10000}), 11111);
  assert_int_equal(call_scalar(&s, 5, (int32_t[]){1, 2, 3, 4, 5}), 15);
  call_view(&s, "module.reduce_sum_2d", 2, (iree_hal_dim_t[]){2, 3}, (int32_t[]){1, 2, 3, 10, 20, 30},
            "3xi32=11 22 33");
  call_view(&s, "module.reduce_sum_2d", 2, (iree_hal_dim_t[]){3, 3}, (int32_t[]){1, 2, 3, 10, 20, 30, 100, 200, 300},
            "3xi32=111 222 333");
  call_view(&s, "module.add_one", 1, (iree_hal_dim_t[]){3}, (int32_t[]){1, 10, 100}, "3xi32=2 11 101");
  call_view(&s, "module.add_one", 1, (iree_hal_dim_t[]){5}, (int32_t[]){1, 10, 100, 1000, 10000},
            "5xi32=2 11 101 1001 10001");
  call_view(&s, "module.add_one", 1, (iree_hal_dim_t[]){0}, (int32_t[]){0}, "0xi32=");
  session_close(&s);
}

//===----------------------------------------------------------------------------------------------------------------===
// Variables and state
//===----------------------------------------------------------------------------------------------------------------===

// A counter in a device buffer that lives in a variable.
static void add_counter(builder_t* b) {
  module_writer_t* w = b->writer;
  uint32_t global = module_writer_global(w, IREE_SV("counter"), VM_TYPE_REF, 0);
  uint32_t shape = add_shape(b, "input0", I32, 0, NULL);
  module_table_t* t = module_writer_table(w, IREE_SV("add"), 0);
  module_binding_t bindings[3];
  for (uint32_t i = 0; i < 3; ++i) {
    bindings[i] = (module_binding_t){module_table_argument_slot(t, i, 4), LIT(0), LIT(4)};
  }
  module_table_dispatch(t, &(module_dispatch_t){.executable = b->executable,
                                                .entry = POINT_ADD2_I32,
                                                .workgroups = {LIT(1), LIT(1), LIT(1)},
                                                .binding_count = 3,
                                                .bindings = bindings});
  static const char* const names[] = {"initialize", "get_value", "set_value", "add_to_value", "reset_value"};
  static const char* const conventions[] = {"0v_v", "0v_r", "0r_v", "0r_v", "0v_v"};
  for (int n = 0; n < 5; ++n) {
    bool makes_zero = n == 0 || n == 4;
    module_function_t* f =
        module_writer_function(w, iree_make_cstring_view(names[n]), iree_make_cstring_view(conventions[n]));
    module_reg_t null = module_function_null(f), zero = module_function_i64(f, 0), four = module_function_i64(f, 4);
    module_reg_t counter = module_function_ref(f);
    module_emit(f, global_load_ref, MODULE_REG(counter), MODULE_INDEX(global));
    module_reg_t stream =
        module_emit_value(f, hal_stream_begin, MODULE_INDEX(b->device), MODULE_REG(null), MODULE_IMM(1));
    module_reg_t fresh = module_emit_value(f, hal_alloca, MODULE_REG(stream), MODULE_REG(four));
    module_reg_t input = module_function_ref(f), result = module_function_ref(f);
    if (n == 2 || n == 3) {
      module_emit(f, hal_view_unwrap, MODULE_REG(input), NO_REGS, MODULE_REG(module_function_argument(f, 0)),
                  MODULE_INDEX(shape));
    }
    if (makes_zero) {
      module_emit(f, hal_fill, MODULE_REG(stream), MODULE_REG(fresh), MODULE_REG(zero), MODULE_REG(four),
                  MODULE_REG(module_function_i32(f, 0)), MODULE_IMM(4));
    } else if (n == 3) {
      module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)), NO_REGS,
                  REGS(counter, input, fresh));
    } else {
      module_emit(f, hal_copy, MODULE_REG(stream), MODULE_REG(n == 1 ? counter : input), MODULE_REG(zero),
                  MODULE_REG(fresh), MODULE_REG(zero), MODULE_REG(four));
    }
    module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(null));
    if (n == 1) {
      module_emit(f, hal_view_create, MODULE_REG(result), MODULE_REG(fresh), MODULE_INDEX(shape), NO_REGS);
      module_emit(f, return, REGS(result));
    } else {
      module_emit(f, global_store_ref, MODULE_INDEX(global), MODULE_REG(fresh));
      module_emit(f, return, NO_REGS);
    }
    if (n == 0) {
      module_writer_initializer(w, f);
    } else {
      module_writer_export(w, iree_make_cstring_view(names[n]), f, 0, NULL);
    }
  }
}

static int32_t get_value(session_t* s) {
  iree_runtime_call_t call;
  iree_hal_buffer_view_t* view = NULL;
  int32_t value = 0;
  EXPECT_OK(iree_runtime_call_initialize_by_name(s->session, IREE_SV("module.get_value"), &call));
  EXPECT_OK(iree_runtime_call_invoke(&call, 0));
  EXPECT_OK(iree_runtime_call_outputs_pop_front_buffer_view(&call, &view));
  read_view(s, view, &value, sizeof(value));
  iree_hal_buffer_view_release(view);
  iree_runtime_call_deinitialize(&call);
  return value;
}

static void call_with(session_t* s, const char* name, const int32_t* value) {
  iree_runtime_call_t call;
  EXPECT_OK(iree_runtime_call_initialize_by_name(s->session, iree_make_cstring_view(name), &call));
  if (value) {
    iree_hal_buffer_view_t* view = make_view(s, I32, 0, NULL, value, sizeof(*value));
    EXPECT_OK(iree_runtime_call_inputs_push_back_buffer_view(&call, view));
    iree_hal_buffer_view_release(view);
  }
  EXPECT_OK(iree_runtime_call_invoke(&call, 0));
  iree_runtime_call_deinitialize(&call);
}

static void test_variables(void** state) {
  builder_t b;
  builder_begin(&b, "embedded-elf-x86_64", "");
  add_counter(&b);
  embedded = builder_end(&b);
  session_t s;
  session_open(&s, "local-sync");
  append_embedded(s.session);
  assert_int_equal(get_value(&s), 0);
  call_with(&s, "module.set_value", &(int32_t){101});
  assert_int_equal(get_value(&s), 101);
  call_with(&s, "module.add_to_value", &(int32_t){20});
  assert_int_equal(get_value(&s), 121);
  call_with(&s, "module.add_to_value", &(int32_t){-50});
  assert_int_equal(get_value(&s), 71);
  call_with(&s, "module.reset_value", NULL);
  assert_int_equal(get_value(&s), 0);
  EXPECT_OK(iree_runtime_session_trim(s.session));
  session_close(&s);
  iree_allocator_free(iree_allocator_system(), embedded.data);
}

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

static void test_files(void** state) {
  make_simple_mul();
  char path[] = "/tmp/vm_runtime_test_XXXXXX";
  int fd = mkstemp(path);
  assert_int_equal(write(fd, embedded.data, embedded.data_length), embedded.data_length);
  close(fd);
  session_t s;
  session_open(&s, "local-sync");
  EXPECT_OK(iree_runtime_session_append_bytecode_module_from_file(s.session, path));
  iree_vm_function_t function;
  EXPECT_OK(iree_runtime_session_lookup_function(s.session, IREE_SV("module.simple_mul"), &function));
  EXPECT_STATUS(iree_runtime_session_append_bytecode_module_from_file(s.session, "/nonexistent"), NOT_FOUND,
                "/nonexistent");
  assert_int_equal(truncate(path, (off_t)embedded.data_length / 2), 0);
  session_close(&s);
  session_open(&s, "local-sync");
  EXPECT_STATUS(iree_runtime_session_append_bytecode_module_from_file(s.session, path), INVALID_ARGUMENT, path);
  session_close(&s);
  unlink(path);
  iree_allocator_free(iree_allocator_system(), embedded.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hello_world),
      cmocka_unit_test(test_dynamic_shapes),
      cmocka_unit_test(test_variables),
      cmocka_unit_test(test_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
