// Programs that nobody trusts: those that do not end, take all memory, wait for what never comes, or hold native code.

#include "device_fixture.h"
// After cmocka.
#include "iree/base/threading/thread.h"

#define REGS(...) \
  MODULE_LIST(sizeof((module_reg_t[]){__VA_ARGS__}) / sizeof(module_reg_t), ((module_reg_t[]){__VA_ARGS__}))
#define NO_REGS MODULE_LIST(0, NULL)

static module_function_t* begin_function(module_writer_t* writer, const char* name, const char* convention) {
  module_function_t* f =
      module_writer_function(writer, iree_make_cstring_view(name), iree_make_cstring_view(convention));
  module_writer_export(writer, iree_make_cstring_view(name), f, 0, NULL);
  return f;
}

static void add_spin(module_writer_t* writer) {
  module_function_t* f = begin_function(writer, "spin", "0v_v");
  module_label_t again = module_function_label(f);
  module_function_bind(f, again);
  module_emit(f, br, MODULE_LABEL(again));
}

// hoard(size): buffers of `size` bytes, each in a list with the one before, without an end.
static void add_hoard(module_writer_t* writer) {
  module_function_t* f = begin_function(writer, "hoard", "0I_v");
  module_reg_t all = module_function_ref(f), zero = module_function_i32(f, 0);
  module_reg_t two = module_function_i32(f, 2), list = module_function_ref(f), buffer = module_function_ref(f);
  module_emit(f, list_create, MODULE_REG(all), MODULE_REG(two));
  module_label_t again = module_function_label(f);
  module_function_bind(f, again);
  module_emit(f, list_create, MODULE_REG(list), MODULE_REG(two));
  module_emit(f, list_resize, MODULE_REG(list), MODULE_REG(two));
  module_emit(f, buffer_alloc, MODULE_REG(buffer), MODULE_REG(module_function_argument(f, 0)));
  module_emit(f, list_set_ref, MODULE_REG(list), MODULE_REG(zero), MODULE_REG(all));
  module_emit(f, list_set_ref, MODULE_REG(list), MODULE_REG(module_function_i32(f, 1)), MODULE_REG(buffer));
  module_emit(f, take_ref, MODULE_REG(all), MODULE_REG(list));
  module_emit(f, br, MODULE_LABEL(again));
}

// ring(): two lists that hold each other. deep(n): lists in lists, built from the outermost.
static void add_lists(module_writer_t* writer) {
  module_function_t* f = begin_function(writer, "ring", "0v_v");
  module_reg_t a = module_function_ref(f), b = module_function_ref(f), one = module_function_i32(f, 1);
  module_reg_t zero = module_function_i32(f, 0);
  module_emit(f, list_create, MODULE_REG(a), MODULE_REG(one));
  module_emit(f, list_create, MODULE_REG(b), MODULE_REG(one));
  module_emit(f, list_resize, MODULE_REG(a), MODULE_REG(one));
  module_emit(f, list_resize, MODULE_REG(b), MODULE_REG(one));
  module_emit(f, list_set_ref, MODULE_REG(a), MODULE_REG(zero), MODULE_REG(b));
  module_emit(f, list_set_ref, MODULE_REG(b), MODULE_REG(zero), MODULE_REG(a));
  module_emit(f, return, NO_REGS);
  f = begin_function(writer, "deep", "0i_r");
  module_reg_t top = module_function_ref(f), at = module_function_ref(f), next = module_function_ref(f);
  module_reg_t left = module_function_argument(f, 0);
  one = module_function_i32(f, 1), zero = module_function_i32(f, 0);
  module_label_t again = module_function_label(f), end = module_function_label(f);
  module_emit(f, list_create, MODULE_REG(top), MODULE_REG(one));
  module_emit(f, list_resize, MODULE_REG(top), MODULE_REG(one));
  module_emit(f, mov_ref, MODULE_REG(at), MODULE_REG(top));
  module_function_bind(f, again);
  module_emit(f, list_create, MODULE_REG(next), MODULE_REG(one));
  module_emit(f, list_resize, MODULE_REG(next), MODULE_REG(one));
  module_emit(f, list_set_ref, MODULE_REG(at), MODULE_REG(zero), MODULE_REG(next));
  module_emit(f, take_ref, MODULE_REG(at), MODULE_REG(next));
  module_emit(f, i32_sub, MODULE_REG(left), MODULE_REG(left), MODULE_REG(one));
  module_emit(f, br_if, MODULE_REG(left), MODULE_LABEL(again), MODULE_LABEL(end));
  module_function_bind(f, end);
  module_emit(f, return, REGS(top));
}

static void add_answer(module_writer_t* writer) {
  module_function_t* f = begin_function(writer, "answer", "0v_I");
  module_emit(f, return, REGS(module_function_i64(f, 42)));
}

static iree_status_t link_limited(program_t* program, const iree_vm_context_limits_t* limits) {
  iree_byte_span_t data;
  iree_vm_module_t* module = NULL;
  EXPECT_OK(module_writer_finish_memory(program->writer, iree_allocator_system(), &data));
  EXPECT_OK(iree_vm_bytecode_module_create(program->instance, IREE_VM_BYTECODE_MODULE_FLAG_PORTABLE_ONLY,
                                           iree_const_cast_byte_span(data), iree_allocator_system(),
                                           iree_allocator_system(), &module));
  EXPECT_OK(
      iree_vm_context_create(program->instance, IREE_VM_CONTEXT_FLAG_NONE, iree_allocator_system(), &program->context));
  EXPECT_OK(iree_vm_context_set_limits(program->context, limits));
  iree_status_t status = iree_vm_context_register_modules(program->context, 1, &module);
  iree_vm_module_release(module);
  return status;
}

static void expect_answer(program_t* program) {
  int64_t answer = 0;
  EXPECT_OK(call_i64(program, "answer", 0, NULL, &answer));
  assert_int_equal(answer, 42);
}

static void test_steps(void** state) {
  program_t program;
  program_begin(&program);
  add_spin(program.writer);
  add_answer(program.writer);
  EXPECT_OK(link_limited(&program, &(iree_vm_context_limits_t){.max_steps = 100000}));
  EXPECT_STATUS(program_call(&program, "spin", NULL, NULL), RESOURCE_EXHAUSTED, "stopped after 100000 steps");
  expect_answer(&program);
  EXPECT_STATUS(program_call(&program, "spin", NULL, NULL), RESOURCE_EXHAUSTED, "m.spin");
  program_end(&program);
}

static void test_initializer(void** state) {
  program_t program;
  program_begin(&program);
  module_function_t* f = module_writer_function(program.writer, IREE_SV("init"), IREE_SV("0v_v"));
  module_label_t again = module_function_label(f);
  module_function_bind(f, again);
  module_emit(f, br, MODULE_LABEL(again));
  module_writer_initializer(program.writer, f);
  EXPECT_STATUS(link_limited(&program, &(iree_vm_context_limits_t){.max_steps = 1000}), RESOURCE_EXHAUSTED, "m.__init");
  program_end(&program);
}

static void test_deadline(void** state) {
  program_t program;
  program_begin(&program);
  add_spin(program.writer);
  add_answer(program.writer);
  EXPECT_OK(link_limited(&program, &(iree_vm_context_limits_t){0}));
  iree_vm_function_t function;
  EXPECT_OK(iree_vm_context_resolve_function(program.context, IREE_SV("m.spin"), &function));
  iree_vm_invocation_policy_t policy = {.deadline_ns = iree_time_now() + 1000000};
  EXPECT_STATUS(iree_vm_invoke(program.context, function, IREE_VM_INVOCATION_FLAG_NONE, &policy, NULL, NULL,
                               iree_allocator_system()),
                DEADLINE_EXCEEDED, "m.spin");
  policy = (iree_vm_invocation_policy_t){.max_steps = 5};
  EXPECT_STATUS(iree_vm_invoke(program.context, function, IREE_VM_INVOCATION_FLAG_NONE, &policy, NULL, NULL,
                               iree_allocator_system()),
                RESOURCE_EXHAUSTED, "after 5 steps");
  expect_answer(&program);
  program_end(&program);
}

typedef struct canceller_t {
  iree_vm_context_t* context;
  iree_atomic_uint32_t done;
} canceller_t;

static int cancel_until_done(void* arg) {
  canceller_t* canceller = arg;
  while (!iree_atomic_load(&canceller->done, iree_memory_order_acquire)) {
    iree_vm_context_cancel(canceller->context);
    iree_thread_yield();
  }
  return 0;
}

static void test_cancel(void** state) {
  program_t program;
  program_begin(&program);
  add_spin(program.writer);
  add_answer(program.writer);
  EXPECT_OK(link_limited(&program, &(iree_vm_context_limits_t){0}));
  canceller_t canceller = {.context = program.context};
  iree_thread_t* thread = NULL;
  EXPECT_OK(iree_thread_create(cancel_until_done, &canceller, (iree_thread_create_params_t){0}, iree_allocator_system(),
                               &thread));
  EXPECT_STATUS(program_call(&program, "spin", NULL, NULL), CANCELLED, "m.spin");
  iree_atomic_store(&canceller.done, 1, iree_memory_order_release);
  iree_thread_release(thread);
  expect_answer(&program);
  program_end(&program);
}

static void test_memory(void** state) {
  program_t program;
  program_begin(&program);
  add_hoard(program.writer);
  add_lists(program.writer);
  add_answer(program.writer);
  EXPECT_OK(link_limited(&program, &(iree_vm_context_limits_t){.max_memory = 1 << 20}));
  iree_budget_t* budget = iree_vm_context_budget(program.context);
  uint64_t before = iree_budget_memory_in_use(budget);
  for (int64_t size = 1; size < 1 << 24; size *= 64) {
    iree_vm_list_t* inputs = make_list();
    push_i64(inputs, size);
    EXPECT_STATUS(program_call(&program, "hoard", inputs, NULL), RESOURCE_EXHAUSTED, "more than may be used");
    iree_vm_list_release(inputs);
    assert_true(iree_budget_memory_in_use(budget) == before);
  }
  EXPECT_STATUS(program_call(&program, "ring", NULL, NULL), INVALID_ARGUMENT, "can not hold itself");
  assert_true(iree_budget_memory_in_use(budget) == before);
  expect_answer(&program);
  program_end(&program);
}

// What is returned outlives the context, and lists nest deeper than any stack.
static void test_nesting(void** state) {
  program_t program;
  program_begin(&program);
  add_lists(program.writer);
  EXPECT_OK(link_limited(&program, &(iree_vm_context_limits_t){.max_memory = 1 << 30}));
  iree_vm_list_t *inputs = make_list(), *outputs = make_list();
  push_i64(inputs, 200000);
  EXPECT_OK(program_call(&program, "deep", inputs, outputs));
  iree_budget_t* budget = iree_vm_context_budget(program.context);
  iree_budget_retain(budget);
  program_end(&program);
  assert_true(iree_budget_memory_in_use(budget) > 200000 * sizeof(iree_vm_variant_t));
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  assert_true(iree_budget_memory_in_use(budget) == 0);
  iree_budget_release(budget);
}

//===----------------------------------------------------------------------------------------------------------------===
// Devices
//===----------------------------------------------------------------------------------------------------------------===

// stuck(): waits for a fence that nothing signals; queued(): work behind one. buffers(size): device memory of which
// only small parts are kept, without an end.
static iree_byte_span_t make_waits(void) {
  module_writer_t* w = NULL;
  EXPECT_OK(module_writer_create(IREE_SV("module"), iree_allocator_system(), &w));
  uint32_t device = module_writer_device(w, IREE_SV("__device_0"), 0);
  module_function_t* f = begin_function(w, "stuck", "0v_v");
  module_reg_t fence = module_emit_value(f, hal_fence_create, MODULE_INDEX(device));
  module_emit(f, hal_fence_await, MODULE_REG(fence));
  module_emit(f, return, NO_REGS);
  f = begin_function(w, "queued", "0v_v");
  fence = module_emit_value(f, hal_fence_create, MODULE_INDEX(device));
  module_reg_t stream = module_emit_value(f, hal_stream_begin, MODULE_INDEX(device), MODULE_REG(fence), MODULE_IMM(0));
  module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(module_function_null(f)));
  module_emit(f, return, NO_REGS);
  f = begin_function(w, "buffers", "0I_v");
  stream =
      module_emit_value(f, hal_stream_begin, MODULE_INDEX(device), MODULE_REG(module_function_null(f)), MODULE_IMM(0));
  module_reg_t all = module_function_ref(f), list = module_function_ref(f), buffer = module_function_ref(f);
  module_reg_t part = module_function_ref(f), two = module_function_i32(f, 2), zero = module_function_i64(f, 0);
  module_reg_t one = module_function_i64(f, 1), i0 = module_function_i32(f, 0), i1 = module_function_i32(f, 1);
  module_label_t again = module_function_label(f);
  module_function_bind(f, again);
  module_emit(f, list_create, MODULE_REG(list), MODULE_REG(two));
  module_emit(f, list_resize, MODULE_REG(list), MODULE_REG(two));
  module_emit(f, hal_alloca, MODULE_REG(buffer), MODULE_REG(stream), MODULE_REG(module_function_argument(f, 0)));
  module_emit(f, hal_subspan, MODULE_REG(part), MODULE_REG(buffer), MODULE_REG(zero), MODULE_REG(one));
  module_emit(f, clear_ref, MODULE_REG(buffer));
  module_emit(f, list_set_ref, MODULE_REG(list), MODULE_REG(i0), MODULE_REG(all));
  module_emit(f, list_set_ref, MODULE_REG(list), MODULE_REG(i1), MODULE_REG(part));
  module_emit(f, take_ref, MODULE_REG(all), MODULE_REG(list));
  module_emit(f, br, MODULE_LABEL(again));
  iree_byte_span_t data;
  EXPECT_OK(module_writer_finish_memory(w, iree_allocator_system(), &data));
  module_writer_destroy(w);
  return data;
}

static iree_status_t call(session_t* s, const char* name, const iree_vm_invocation_policy_t* policy,
                          const iree_vm_list_t* inputs) {
  iree_vm_context_t* context = iree_runtime_session_context(s->session);
  char full_name[64];
  snprintf(full_name, sizeof(full_name), "module.%s", name);
  iree_vm_function_t function;
  EXPECT_OK(iree_vm_context_resolve_function(context, iree_make_cstring_view(full_name), &function));
  return iree_vm_invoke(context, function, IREE_VM_INVOCATION_FLAG_NONE, policy, inputs, NULL, iree_allocator_system());
}

static void test_waits(void** state) {
  static const char* const drivers[] = {"local-sync", "local-task"};
  for (size_t i = 0; i < IREE_ARRAYSIZE(drivers); ++i) {
    session_t s;
    session_open(&s, drivers[i]);
    iree_vm_context_t* context = iree_runtime_session_context(s.session);
    EXPECT_OK(iree_vm_context_set_limits(context, &(iree_vm_context_limits_t){.max_memory = 64 << 20}));
    EXPECT_OK(session_load(&s, make_waits()));
    iree_budget_t* budget = iree_vm_context_budget(context);
    iree_vm_list_t* inputs = make_list();
    push_i64(inputs, 1 << 20);
    EXPECT_STATUS(call(&s, "buffers", NULL, inputs), RESOURCE_EXHAUSTED, "module.buffers");
    iree_vm_list_release(inputs);
    assert_true(iree_budget_memory_in_use(budget) < 1 << 20);
    iree_vm_invocation_policy_t policy = {.deadline_ns = iree_time_now() + 20000000};
    EXPECT_STATUS(call(&s, "stuck", &policy, NULL), DEADLINE_EXCEEDED, "module.stuck");
    policy.deadline_ns = iree_time_now() + 20000000;
    EXPECT_STATUS(call(&s, "queued", &policy, NULL), DEADLINE_EXCEEDED, "module.queued");
    canceller_t canceller = {.context = context};
    iree_thread_t* thread = NULL;
    EXPECT_OK(iree_thread_create(cancel_until_done, &canceller, (iree_thread_create_params_t){0},
                                 iree_allocator_system(), &thread));
    EXPECT_STATUS(call(&s, "queued", NULL, NULL), CANCELLED, "module.queued");
    iree_atomic_store(&canceller.done, 1, iree_memory_order_release);
    iree_thread_release(thread);
    session_close(&s);  // the work that waits ends with the program's fences
  }
}

static void test_portable(void** state) {
  builder_t b;
  builder_begin(&b, "embedded-elf-x86_64", "");
  iree_byte_span_t data = builder_end(&b);
  program_t program;
  program_begin(&program);
  EXPECT_OK(iree_hal_module_register_all_types(program.instance));
  iree_vm_module_t* module = NULL;
  EXPECT_STATUS(iree_vm_bytecode_module_create(program.instance, IREE_VM_BYTECODE_MODULE_FLAG_PORTABLE_ONLY,
                                               iree_const_cast_byte_span(data), iree_allocator_system(),
                                               iree_allocator_system(), &module),
                PERMISSION_DENIED, "embedded-elf-x86_64");
  iree_allocator_free(iree_allocator_system(), data.data);
  program_end(&program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps),  cmocka_unit_test(test_initializer), cmocka_unit_test(test_deadline),
      cmocka_unit_test(test_cancel), cmocka_unit_test(test_memory),      cmocka_unit_test(test_nesting),
      cmocka_unit_test(test_waits),  cmocka_unit_test(test_portable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
