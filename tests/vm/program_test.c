// Programs: control flow, calls, globals, lists, buffers, failures with backtraces, imports of native modules.

#include "vm_test.h"

#define ONE(reg) MODULE_LIST(1, ((module_reg_t[]){reg}))
#define TWO(a, b) MODULE_LIST(2, ((module_reg_t[]){a, b}))

static module_function_t* begin_function(program_t* program, const char* name, const char* convention) {
  module_function_t* f =
      module_writer_function(program->writer, iree_make_cstring_view(name), iree_make_cstring_view(convention));
  module_writer_export(program->writer, iree_make_cstring_view(name), f, 0, NULL);
  return f;
}

static int64_t expect_i64(program_t* program, const char* name, size_t count, const int64_t* values) {
  int64_t result = 0;
  EXPECT_OK(call_i64(program, name, count, values, &result));
  return result;
}

// sum(n): a loop with a phi each for the counter and the sum.
static void add_sum(program_t* program) {
  module_function_t* f = begin_function(program, "sum", "0I_I");
  module_reg_t n = module_function_argument(f, 0), i = module_function_i64(f, 0), sum = module_function_i64(f, 0);
  module_reg_t one = module_function_i64(f, 1);
  module_label_t loop = module_function_label(f), body = module_function_label(f), end = module_function_label(f);
  module_function_bind(f, loop);
  module_reg_t more = module_emit_value(f, i64_le_s, MODULE_REG(i), MODULE_REG(n));
  module_emit(f, br_if, MODULE_REG(more), MODULE_LABEL(body), MODULE_LABEL(end));
  module_function_bind(f, body);
  module_emit(f, i64_add, MODULE_REG(sum), MODULE_REG(sum), MODULE_REG(i));
  module_emit(f, i64_add, MODULE_REG(i), MODULE_REG(i), MODULE_REG(one));
  module_emit(f, br, MODULE_LABEL(loop));
  module_function_bind(f, end);
  module_emit(f, return, ONE(sum));
}

// fib(n), which calls itself.
static void add_fib(program_t* program) {
  module_function_t* f = begin_function(program, "fib", "0I_I");
  module_reg_t n = module_function_argument(f, 0), one = module_function_i64(f, 1), two = module_function_i64(f, 2);
  module_label_t small = module_function_label(f), large = module_function_label(f);
  module_reg_t is_small = module_emit_value(f, i64_lt_s, MODULE_REG(n), MODULE_REG(two));
  module_emit(f, br_if, MODULE_REG(is_small), MODULE_LABEL(small), MODULE_LABEL(large));
  module_function_bind(f, small);
  module_emit(f, return, ONE(n));
  module_function_bind(f, large);
  module_reg_t a = module_emit_value(f, i64_sub, MODULE_REG(n), MODULE_REG(one));
  module_reg_t b = module_emit_value(f, i64_sub, MODULE_REG(n), MODULE_REG(two));
  module_emit(f, call, ONE(a), MODULE_INDEX(module_function_index(f)), ONE(a));
  module_emit(f, call, ONE(b), MODULE_INDEX(module_function_index(f)), ONE(b));
  module_reg_t sum = module_emit_value(f, i64_add, MODULE_REG(a), MODULE_REG(b));
  module_emit(f, return, ONE(sum));
}

static void add_switch(program_t* program) {
  module_function_t* f = begin_function(program, "pick", "0i_I");
  module_label_t labels[3];
  for (int i = 0; i < 3; ++i) labels[i] = module_function_label(f);
  module_emit(f, switch, MODULE_REG(module_function_argument(f, 0)), MODULE_LABEL(labels[2]), MODULE_LABELS(2, labels));
  for (int i = 0; i < 3; ++i) {
    module_function_bind(f, labels[i]);
    module_emit(f, return, ONE(module_function_i64(f, 100 + i)));
  }
}

static void test_control_flow(void** state) {
  program_t program;
  program_begin(&program);
  add_sum(&program);
  add_fib(&program);
  add_switch(&program);
  EXPECT_OK(program_link(&program, 0, NULL));
  assert_int_equal(expect_i64(&program, "sum", 1, (int64_t[]){1000}), 500500);
  assert_int_equal(expect_i64(&program, "fib", 1, (int64_t[]){20}), 6765);
  assert_int_equal(expect_i64(&program, "pick", 1, (int64_t[]){0}), 100);
  assert_int_equal(expect_i64(&program, "pick", 1, (int64_t[]){1}), 101);
  assert_int_equal(expect_i64(&program, "pick", 1, (int64_t[]){2}), 102);
  assert_int_equal(expect_i64(&program, "pick", 1, (int64_t[]){-1}), 102);
  program_end(&program);
}

// fib(-1) never ends: the stack does.
static void test_stack_overflow(void** state) {
  program_t program;
  program_begin(&program);
  module_function_t* f = begin_function(&program, "deep", "0v_v");
  module_emit(f, call, MODULE_LIST(0, NULL), MODULE_INDEX(module_function_index(f)), MODULE_LIST(0, NULL));
  module_emit(f, return, MODULE_LIST(0, NULL));
  EXPECT_OK(program_link(&program, 0, NULL));
  EXPECT_STATUS(program_call(&program, "deep", NULL, NULL), RESOURCE_EXHAUSTED, "stack overflow");
  program_end(&program);
}

static void add_counter(program_t* program) {
  uint32_t value = module_writer_global(program->writer, IREE_SV("value"), VM_TYPE_I64, 7);
  uint32_t kept = module_writer_global(program->writer, IREE_SV("kept"), VM_TYPE_REF, 0);
  module_function_t* f = begin_function(program, "add", "0I_I");
  module_reg_t old = module_function_register(f, VM_TYPE_I64);
  module_emit(f, global_load, MODULE_REG(old), MODULE_INDEX(value));
  module_reg_t sum = module_emit_value(f, i64_add, MODULE_REG(old), MODULE_REG(module_function_argument(f, 0)));
  module_emit(f, global_store, MODULE_INDEX(value), MODULE_REG(sum));
  module_emit(f, return, ONE(sum));
  f = begin_function(program, "keep", "0r_v");
  module_emit(f, global_store_ref, MODULE_INDEX(kept), MODULE_REG(module_function_argument(f, 0)));
  module_emit(f, return, MODULE_LIST(0, NULL));
  f = begin_function(program, "kept", "0v_r");
  module_reg_t ref = module_function_ref(f);
  module_emit(f, global_load_ref, MODULE_REG(ref), MODULE_INDEX(kept));
  module_emit(f, return, ONE(ref));
}

static void test_globals(void** state) {
  program_t program;
  program_begin(&program);
  add_counter(&program);
  EXPECT_OK(program_link(&program, 0, NULL));
  assert_int_equal(expect_i64(&program, "add", 1, (int64_t[]){3}), 10);
  // A fork has the values of now, and then its own.
  iree_vm_context_t* fork = NULL;
  EXPECT_OK(iree_vm_context_fork(program.context, iree_allocator_system(), &fork));
  assert_int_equal(expect_i64(&program, "add", 1, (int64_t[]){3}), 13);
  iree_vm_context_t* original = program.context;
  program.context = fork;
  assert_int_equal(expect_i64(&program, "add", 1, (int64_t[]){100}), 110);
  program.context = original;
  iree_vm_context_release(fork);
  // References in variables are kept alive.
  iree_vm_list_t* inputs = make_list();
  iree_vm_list_t* kept = make_list();
  push_i64(kept, 42);
  iree_vm_ref_t ref = iree_vm_list_move_ref(kept);
  EXPECT_OK(iree_vm_list_push_ref_move(inputs, &ref));
  EXPECT_OK(program_call(&program, "keep", inputs, NULL));
  iree_vm_list_clear(inputs);
  EXPECT_OK(program_call(&program, "kept", NULL, inputs));
  iree_vm_list_t* found = iree_vm_list_get_ref_deref(inputs, 0, iree_vm_list_type());
  iree_vm_value_t value;
  EXPECT_OK(iree_vm_list_get_value(found, 0, &value));
  assert_int_equal(value.i64, 42);
  iree_vm_list_release(inputs);
  program_end(&program);
}

// Makes a list [a, buffer with b in it] and reads both back: a * 1000 + b.
static void add_containers(program_t* program) {
  module_function_t* f = begin_function(program, "pack", "0iI_I");
  module_reg_t a = module_function_argument(f, 0), b = module_function_argument(f, 1);
  module_reg_t zero = module_function_i32(f, 0), one = module_function_i32(f, 1), two = module_function_i32(f, 2);
  module_reg_t list = module_emit_value(f, list_create, MODULE_REG(zero));
  module_emit(f, list_resize, MODULE_REG(list), MODULE_REG(two));
  module_emit(f, list_set, MODULE_REG(list), MODULE_REG(zero), MODULE_REG(a));
  module_reg_t buffer = module_emit_value(f, buffer_alloc, MODULE_REG(module_function_i64(f, 16)));
  module_emit(f, buffer_store_i64, MODULE_REG(buffer), MODULE_REG(module_function_i64(f, 8)), MODULE_REG(b));
  module_emit(f, list_set_ref, MODULE_REG(list), MODULE_REG(one), MODULE_REG(buffer));
  module_emit(f, clear_ref, MODULE_REG(buffer));
  module_reg_t wide = module_function_register(f, VM_TYPE_I64);
  module_emit(f, list_get, MODULE_REG(wide), MODULE_REG(list), MODULE_REG(zero));
  module_reg_t back = module_emit_value(f, list_get_ref, MODULE_REG(list), MODULE_REG(one));
  module_reg_t loaded = module_emit_value(f, buffer_load_i64, MODULE_REG(back), MODULE_REG(module_function_i64(f, 8)));
  module_reg_t scaled = module_emit_value(f, i64_mul, MODULE_REG(wide), MODULE_REG(module_function_i64(f, 1000)));
  module_emit(f, return, ONE(module_emit_value(f, i64_add, MODULE_REG(scaled), MODULE_REG(loaded))));

  uint32_t segment = module_writer_segment(
      program->writer, &(module_segment_t){.entry = IREE_SV("constants/text.bin"), .data = {(const uint8_t*)"abc", 3}});
  f = begin_function(program, "text", "0v_r");
  module_emit(f, return, ONE(module_emit_value(f, buffer_const, MODULE_INDEX(segment))));
  f = begin_function(program, "overrun", "0I_I");
  buffer = module_emit_value(f, buffer_alloc, MODULE_REG(module_function_i64(f, 16)));
  module_emit(
      f, return,
      ONE(module_emit_value(f, buffer_load_i64, MODULE_REG(buffer), MODULE_REG(module_function_argument(f, 0)))));
}

static void test_containers(void** state) {
  program_t program;
  program_begin(&program);
  add_containers(&program);
  EXPECT_OK(program_link(&program, 0, NULL));
  assert_int_equal(expect_i64(&program, "pack", 2, (int64_t[]){12, 345}), 12345);
  int64_t result = 0;
  assert_int_equal(expect_i64(&program, "overrun", 1, (int64_t[]){8}), 0);
  EXPECT_STATUS(call_i64(&program, "overrun", 1, (int64_t[]){9}, &result), OUT_OF_RANGE, "outside a buffer of 16");
  EXPECT_STATUS(call_i64(&program, "overrun", 1, (int64_t[]){-8}, &result), OUT_OF_RANGE, "outside a buffer of 16");
  // The segment outlives its context as long as someone has it.
  iree_vm_list_t* outputs = make_list();
  EXPECT_OK(program_call(&program, "text", NULL, outputs));
  program_end(&program);
  iree_vm_buffer_t* text = iree_vm_list_get_ref_deref(outputs, 0, iree_vm_buffer_type());
  assert_true(iree_string_view_equal(iree_vm_buffer_as_string(text), IREE_SV("abc")));
  iree_vm_list_release(outputs);
}

static void test_failures(void** state) {
  program_t program;
  program_begin(&program);
  module_function_t* inner = begin_function(&program, "inner", "0i_v");
  module_function_location(inner, IREE_SV("model.mlir"), 12, 3);
  uint32_t message = module_writer_string(program.writer, IREE_SV("input must not be odd"));
  module_emit(inner, fail_if, MODULE_REG(module_function_argument(inner, 0)), MODULE_IMM(IREE_STATUS_INVALID_ARGUMENT),
              MODULE_INDEX(message));
  module_emit(inner, return, MODULE_LIST(0, NULL));
  module_function_t* f = begin_function(&program, "outer", "0i_i");
  module_function_location(f, IREE_SV("model.mlir"), 20, 5);
  module_reg_t arg = module_function_argument(f, 0);
  module_emit(f, call, MODULE_LIST(0, NULL), MODULE_INDEX(module_function_index(inner)), ONE(arg));
  module_emit(f, i32_div_s, MODULE_REG(arg), MODULE_REG(arg), MODULE_REG(arg));
  module_emit(f, return, ONE(arg));
  EXPECT_OK(program_link(&program, 0, NULL));
  int64_t result;
  EXPECT_STATUS(call_i64(&program, "outer", 1, (int64_t[]){1}, &result), INVALID_ARGUMENT,
                "input must not be odd; \n[ 1] bytecode m.inner:0 model.mlir:12:3\n"
                "[ 0] bytecode m.outer:0 model.mlir:20:5; invoking function 'outer'");
  EXPECT_STATUS(call_i64(&program, "outer", 1, (int64_t[]){0}, &result), INVALID_ARGUMENT, "division by zero");
  EXPECT_STATUS(call_i64(&program, "outer", 2, (int64_t[]){1, 2}, &result), INVALID_ARGUMENT,
                "input list and function mismatch; expected 1 arguments but passed 2");
  EXPECT_STATUS(call_i64(&program, "other", 0, NULL, &result), NOT_FOUND, "no function `other` exported by module");
  program_end(&program);
}

//===----------------------------------------------------------------------------------------------------------------===
// Native modules
//===----------------------------------------------------------------------------------------------------------------===

typedef struct native_state_t {
  int calls;
} native_state_t;

IREE_VM_ABI_FIXED_STRUCT(Ir, {
  int64_t i0;
  iree_vm_ref_t r1;
})
IREE_VM_ABI_DEFINE_SHIM(rIi, Ir)

// (list, a, b) -> (a + b + calls so far, list)
IREE_VM_ABI_EXPORT(native_mix, native_state_t, rIi, Ir) {
  rets->i0 = args->i1 + args->i2 + state->calls++;
  iree_vm_ref_retain(&args->r0, &rets->r1);
  return args->i2 == 13 ? iree_make_status(IREE_STATUS_OUT_OF_RANGE, "unlucky") : iree_ok_status();
}

static iree_status_t native_alloc_state(void* self, iree_allocator_t allocator, iree_vm_module_state_t** out_state) {
  return iree_allocator_malloc(allocator, sizeof(native_state_t), (void**)out_state);
}
static void native_free_state(void* self, iree_vm_module_state_t* state) {
  iree_allocator_free(iree_allocator_system(), state);
}

static iree_vm_module_t* make_native(iree_vm_instance_t* instance) {
  static const iree_vm_native_export_descriptor_t exports[] = {
      {iree_string_view_literal("mix"), iree_string_view_literal("0rIi_Ir"), 0, NULL}};
  static const iree_vm_native_function_ptr_t functions[] = {{(iree_vm_native_function_shim_t)(void*)iree_vm_shim_rIi_Ir,
                                                             (iree_vm_native_function_target_t)(void*)native_mix}};
  static const iree_vm_native_module_descriptor_t descriptor = {.name = iree_string_view_literal("native"),
                                                                .version = 3,
                                                                .export_count = 1,
                                                                .exports = exports,
                                                                .function_count = 1,
                                                                .functions = functions};
  iree_vm_module_t interface, *module = NULL;
  EXPECT_OK(iree_vm_module_initialize(&interface, NULL));
  interface.alloc_state = native_alloc_state;
  interface.free_state = native_free_state;
  EXPECT_OK(iree_vm_native_module_create(&interface, &descriptor, instance, iree_allocator_system(), &module));
  return module;
}

static void add_import_call(program_t* program, const char* convention) {
  uint32_t import =
      module_writer_import(program->writer, IREE_SV("native.mix"), iree_make_cstring_view(convention), false);
  uint32_t missing = module_writer_import(program->writer, IREE_SV("absent.fn"), IREE_SV("0v_v"), true);
  module_function_t* f = begin_function(program, "mix", "0i_I");
  module_reg_t list = module_emit_value(f, list_create, MODULE_REG(module_function_i32(f, 0)));
  module_reg_t wide = module_function_i64(f, 1000), back = module_function_ref(f);
  module_emit(f, call_import, TWO(wide, back), MODULE_INDEX(import),
              MODULE_LIST(3, ((module_reg_t[]){list, wide, module_function_argument(f, 0)})));
  module_reg_t same = module_emit_value(f, same_ref, MODULE_REG(list), MODULE_REG(back));
  module_reg_t found = module_function_register(f, VM_TYPE_I32);
  module_emit(f, import_resolved, MODULE_REG(found), MODULE_INDEX(missing));
  module_reg_t flags = module_emit_value(f, i32_sub, MODULE_REG(same), MODULE_REG(found));
  module_reg_t flags_wide = module_emit_value(f, ext_i32_i64_s, MODULE_REG(flags));
  module_emit(f, return, ONE(module_emit_value(f, i64_add, MODULE_REG(wide), MODULE_REG(flags_wide))));
}

static void test_imports(void** state) {
  program_t program;
  program_begin(&program);
  add_import_call(&program, "0rIi_Ir");
  iree_vm_module_t* native = make_native(program.instance);
  EXPECT_OK(program_link(&program, 1, &native));
  assert_int_equal(expect_i64(&program, "mix", 1, (int64_t[]){5}), 1006);
  assert_int_equal(expect_i64(&program, "mix", 1, (int64_t[]){5}), 1007);
  int64_t result;
  EXPECT_STATUS(call_i64(&program, "mix", 1, (int64_t[]){13}, &result), OUT_OF_RANGE,
                "unlucky; while invoking native function native.mix; while calling import; \n"
                "[ 1] native native.mix -\n[ 0] bytecode m.mix:");
  iree_vm_module_release(native);
  program_end(&program);
}

static void test_bad_imports(void** state) {
  program_t program;
  program_begin(&program);
  add_import_call(&program, "0rIi_Ir");
  EXPECT_STATUS(program_link(&program, 0, NULL), NOT_FOUND, "required module 'native' not registered");
  program_end(&program);
  program_begin(&program);
  // The function the program expects has other types than the one there is: the call instruction fits the program's.
  uint32_t import = module_writer_import(program.writer, IREE_SV("native.mix"), IREE_SV("0i_i"), false);
  module_function_t* f = begin_function(&program, "f", "0i_i");
  module_reg_t arg = module_function_argument(f, 0);
  module_emit(f, call_import, ONE(arg), MODULE_INDEX(import), ONE(arg));
  module_emit(f, return, ONE(arg));
  iree_vm_module_t* native = make_native(program.instance);
  EXPECT_STATUS(program_link(&program, 1, &native), INVALID_ARGUMENT, "imported as '0i_i' but is '0rIi_Ir'");
  iree_vm_module_release(native);
  program_end(&program);
}

// The initializer runs when the context is made; its failure is the context's.
static void test_initializer(void** state) {
  for (int fails = 0; fails < 2; ++fails) {
    program_t program;
    program_begin(&program);
    add_counter(&program);
    module_function_t* f = module_writer_function(program.writer, IREE_SV("init"), IREE_SV("0v_v"));
    module_reg_t nine = module_function_i64(f, 9);
    module_emit(f, global_store, MODULE_INDEX(0), MODULE_REG(nine));
    if (fails) {
      uint32_t message = module_writer_string(program.writer, IREE_SV("not today"));
      module_emit(f, fail, MODULE_IMM(IREE_STATUS_UNAVAILABLE), MODULE_INDEX(message));
    } else {
      module_emit(f, return, MODULE_LIST(0, NULL));
    }
    module_writer_initializer(program.writer, f);
    if (fails) {
      EXPECT_STATUS(program_link(&program, 0, NULL), UNAVAILABLE, "not today");
    } else {
      EXPECT_OK(program_link(&program, 0, NULL));
      assert_int_equal(expect_i64(&program, "add", 1, (int64_t[]){1}), 10);
      EXPECT_STATUS(program_call(&program, "__init", NULL, NULL), FAILED_PRECONDITION, "initializers run once");
    }
    program_end(&program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_control_flow), cmocka_unit_test(test_stack_overflow), cmocka_unit_test(test_globals),
      cmocka_unit_test(test_containers),   cmocka_unit_test(test_failures),       cmocka_unit_test(test_imports),
      cmocka_unit_test(test_bad_imports),  cmocka_unit_test(test_initializer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
