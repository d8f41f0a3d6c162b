// Calls in steps, on loops and as objects: they stop where they would wait, in a function or one that it calls, go on
// with the same results, and end as waits, limits, cancellation and failures say. Loops by themselves.

#include "device_fixture.h"
#include "iree/base/loop_inline.h"
#include "iree/base/loop_sync.h"
#include "iree/modules/hal/module.h"

#define REGS(...) \
  MODULE_LIST(sizeof((module_reg_t[]){__VA_ARGS__}) / sizeof(module_reg_t), ((module_reg_t[]){__VA_ARGS__}))

//===----------------------------------------------------------------------------------------------------------------===
// A module whose functions wait
//===----------------------------------------------------------------------------------------------------------------===

static iree_hal_semaphore_t* native_semaphore;  // what the native function waits for

// Stops for the semaphore, then gives 99.
IREE_VM_ABI_EXPORT(native_wait, void, v, i) {
  iree_vm_wait_frame_t* frame = NULL;
  iree_vm_wait_result_t result;
  if (iree_vm_stack_top(stack)->pc == 0) {
    iree_vm_stack_top(stack)->pc = 1;
    IREE_RETURN_IF_ERROR(iree_vm_stack_wait_enter(stack, IREE_VM_WAIT_ALL, 1, iree_infinite_timeout(), 0, &frame));
    frame->wait_sources[0] = iree_hal_semaphore_await(native_semaphore, 1);
    return iree_status_from_code(IREE_STATUS_DEFERRED);
  }
  IREE_RETURN_IF_ERROR(iree_vm_stack_wait_leave(stack, &result));
  IREE_RETURN_IF_ERROR(result.status);
  rets->i0 = 99;
  return iree_ok_status();
}

static const iree_vm_native_export_descriptor_t native_exports[] = {
    {iree_string_view_literal("wait"), iree_string_view_literal("0v_i"), 0, NULL},
};
static const iree_vm_native_function_ptr_t native_functions[] = {
    {(iree_vm_native_function_shim_t)(void*)iree_vm_shim_v_i, (iree_vm_native_function_target_t)(void*)native_wait},
};
static const iree_vm_native_module_descriptor_t native_descriptor = {
    .name = iree_string_view_literal("native"),
    .export_count = 1,
    .exports = native_exports,
    .function_count = 1,
    .functions = native_functions,
};

typedef struct fixture_t {
  program_t program;
  session_t session;  // for its device
  iree_hal_semaphore_t* semaphores[2];
} fixture_t;

// inner(fence) -> 7 after it; outer(fence, fence) -> inner's and 35 after both; import() -> native.wait; fail(fence).
static void add_functions(program_t* program) {
  module_writer_t* w = program->writer;
  module_function_t* inner = module_writer_function(w, IREE_SV("inner"), IREE_SV("0r_I"));
  module_emit(inner, hal_fence_await, MODULE_REG(module_function_argument(inner, 0)));
  module_emit(inner, return, REGS(module_function_i64(inner, 7)));
  module_function_t* outer = module_writer_function(w, IREE_SV("outer"), IREE_SV("0rr_I"));
  module_reg_t seven = module_function_register(outer, VM_TYPE_I64);
  module_emit(outer, call, REGS(seven), MODULE_INDEX(module_function_index(inner)),
              REGS(module_function_argument(outer, 0)));
  module_emit(outer, hal_fence_await, MODULE_REG(module_function_argument(outer, 1)));
  module_emit(outer, return,
              REGS(module_emit_value(outer, i64_add, MODULE_REG(seven), MODULE_REG(module_function_i64(outer, 35)))));
  module_writer_export(w, IREE_SV("outer"), outer, 0, NULL);
  uint32_t imported = module_writer_import(w, IREE_SV("native.wait"), IREE_SV("0v_i"), false);
  module_function_t* import = module_writer_function(w, IREE_SV("import"), IREE_SV("0v_i"));
  module_reg_t result = module_function_register(import, VM_TYPE_I32);
  module_emit(import, call_import, REGS(result), MODULE_INDEX(imported), MODULE_LIST(0, NULL));
  module_emit(import, return, REGS(result));
  module_writer_export(w, IREE_SV("import"), import, 0, NULL);
  module_function_t* fail = module_writer_function(w, IREE_SV("fail"), IREE_SV("0r_v"));
  module_emit(fail, hal_fence_await, MODULE_REG(module_function_argument(fail, 0)));
  module_emit(fail, fail, MODULE_IMM(IREE_STATUS_DATA_LOSS), MODULE_INDEX(module_writer_string(w, IREE_SV("lost"))));
  module_writer_export(w, IREE_SV("fail"), fail, 0, NULL);
}

static void begin(fixture_t* f) {
  iree_vm_module_t interface, *native = NULL;
  session_open(&f->session, "local-sync");
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(iree_hal_semaphore_create(f->session.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                        IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &f->semaphores[i]));
  }
  native_semaphore = f->semaphores[0];
  program_begin(&f->program);
  EXPECT_OK(iree_hal_module_register_all_types(f->program.instance));
  add_functions(&f->program);
  EXPECT_OK(iree_vm_module_initialize(&interface, NULL));
  EXPECT_OK(iree_vm_native_module_create(&interface, &native_descriptor, f->program.instance, iree_allocator_system(),
                                         &native));
  EXPECT_OK(program_link(&f->program, 1, &native));
  iree_vm_module_release(native);
}

static void end(fixture_t* f) {
  program_end(&f->program);
  for (int i = 0; i < 2; ++i) iree_hal_semaphore_release(f->semaphores[i]);
  session_close(&f->session);
}

static iree_vm_function_t find(fixture_t* f, const char* name) {
  iree_vm_function_t function;
  EXPECT_OK(iree_vm_context_resolve_function(f->program.context, iree_make_cstring_view(name), &function));
  return function;
}

static iree_vm_list_t* make_fences(fixture_t* f, int count) {
  iree_vm_list_t* inputs = make_list();
  for (int i = 0; i < count; ++i) {
    iree_hal_fence_t* fence = NULL;
    EXPECT_OK(iree_hal_fence_create_at(f->semaphores[i], 1, iree_allocator_system(), &fence));
    iree_vm_ref_t ref = iree_hal_fence_move_ref(fence);
    EXPECT_OK(iree_vm_list_push_ref_move(inputs, &ref));
  }
  return inputs;
}

static void signal(fixture_t* f, int i) { EXPECT_OK(iree_hal_semaphore_signal(f->semaphores[i], 1, NULL)); }

static int64_t take_result(iree_vm_list_t* outputs) {
  iree_vm_value_t value = iree_vm_value_make_i64(0);
  assert_int_equal(iree_vm_list_size(outputs), 1);
  EXPECT_OK(iree_vm_list_get_value_as(outputs, 0, IREE_VM_VALUE_TYPE_I64, &value));
  return value.i64;
}

//===----------------------------------------------------------------------------------------------------------------===
// In steps
//===----------------------------------------------------------------------------------------------------------------===

static void expect_deferred(iree_status_t status) {
  assert_int_equal(iree_status_consume_code(status), IREE_STATUS_DEFERRED);
}

static iree_vm_wait_frame_t* wait_frame(iree_vm_invoke_state_t* state) {
  iree_vm_stack_frame_t* frame = iree_vm_stack_current_frame(state->stack);
  assert_int_equal(frame->type, IREE_VM_STACK_FRAME_WAIT);
  assert_int_not_equal(iree_vm_stack_top(state->stack)->type, IREE_VM_STACK_FRAME_WAIT);
  return iree_vm_stack_frame_storage(frame);
}

static void test_steps(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_invoke_state_t call;
  iree_vm_list_t *inputs = make_fences(&f, 2), *outputs = make_list();
  iree_status_t result = iree_ok_status();
  expect_deferred(
      iree_vm_begin_invoke(&call, f.program.context, find(&f, "m.outer"), 0, NULL, inputs, iree_allocator_system()));
  iree_vm_list_release(inputs);
  // Resumed too early, it stops in the same place.
  EXPECT_OK(iree_vm_wait_invoke(&call, wait_frame(&call), IREE_TIME_INFINITE_PAST));
  assert_int_equal(iree_status_code(wait_frame(&call)->wait_status), IREE_STATUS_DEADLINE_EXCEEDED);
  signal(&f, 0);
  EXPECT_OK(iree_vm_wait_invoke(&call, wait_frame(&call), IREE_TIME_INFINITE_FUTURE));
  assert_int_equal(wait_frame(&call)->count, 1);
  expect_deferred(iree_vm_resume_invoke(&call));
  signal(&f, 1);
  EXPECT_OK(iree_vm_wait_invoke(&call, wait_frame(&call), IREE_TIME_INFINITE_FUTURE));
  EXPECT_OK(iree_vm_resume_invoke(&call));
  EXPECT_STATUS(iree_vm_resume_invoke(&call), FAILED_PRECONDITION, "not waiting");
  EXPECT_OK(iree_vm_end_invoke(&call, outputs, &result));
  EXPECT_OK(result);
  assert_int_equal(take_result(outputs), 42);
  iree_vm_list_release(outputs);
  end(&f);
}

// The failure of a wait and of a function are the call's; a wrong call is none.
static void test_step_failures(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_invoke_state_t call;
  iree_vm_list_t* inputs = make_fences(&f, 1);
  iree_status_t result = iree_ok_status();
  expect_deferred(
      iree_vm_begin_invoke(&call, f.program.context, find(&f, "m.fail"), 0, NULL, inputs, iree_allocator_system()));
  EXPECT_OK(iree_vm_wait_invoke(&call, wait_frame(&call), IREE_TIME_INFINITE_PAST));
  EXPECT_OK(iree_vm_resume_invoke(&call));
  EXPECT_OK(iree_vm_end_invoke(&call, NULL, &result));
  EXPECT_STATUS(result, DEADLINE_EXCEEDED, "m.fail");
  expect_deferred(
      iree_vm_begin_invoke(&call, f.program.context, find(&f, "m.fail"), 0, NULL, inputs, iree_allocator_system()));
  iree_vm_abort_invoke(&call);
  EXPECT_STATUS(
      iree_vm_begin_invoke(&call, f.program.context, find(&f, "m.outer"), 0, NULL, inputs, iree_allocator_system()),
      INVALID_ARGUMENT, "expected 2 arguments but passed 1");
  iree_vm_abort_invoke(&call);
  signal(&f, 0);
  EXPECT_OK(
      iree_vm_begin_invoke(&call, f.program.context, find(&f, "m.fail"), 0, NULL, inputs, iree_allocator_system()));
  EXPECT_OK(iree_vm_end_invoke(&call, NULL, &result));
  EXPECT_STATUS(result, DATA_LOSS, "lost");
  iree_vm_list_release(inputs);
  end(&f);
}

// A module in C stops when it is called itself, and holds up a program that calls it.
static void test_native(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_invoke_state_t call;
  iree_vm_list_t* outputs = make_list();
  iree_status_t result = iree_ok_status();
  expect_deferred(
      iree_vm_begin_invoke(&call, f.program.context, find(&f, "native.wait"), 0, NULL, NULL, iree_allocator_system()));
  signal(&f, 0);
  EXPECT_OK(iree_vm_wait_invoke(&call, wait_frame(&call), IREE_TIME_INFINITE_FUTURE));
  EXPECT_OK(iree_vm_resume_invoke(&call));
  EXPECT_OK(iree_vm_end_invoke(&call, outputs, &result));
  EXPECT_OK(result);
  assert_int_equal(take_result(outputs), 99);
  iree_vm_list_clear(outputs);
  EXPECT_OK(
      iree_vm_invoke(f.program.context, find(&f, "native.wait"), 0, NULL, NULL, outputs, iree_allocator_system()));
  assert_int_equal(take_result(outputs), 99);
  iree_vm_list_clear(outputs);
  EXPECT_OK(program_call(&f.program, "import", NULL, outputs));
  assert_int_equal(take_result(outputs), 99);
  iree_vm_list_release(outputs);
  end(&f);
}

// A function on a device stops where it waits for the device's work.
static void test_stream(void** state) {
  fixture_t f;
  builder_t b;
  begin(&f);
  builder_begin(&b, "embedded-elf-x86_64", "");
  module_function_t* function = module_writer_function(b.writer, IREE_SV("main"), IREE_SV("0r_I"));
  module_reg_t stream = module_emit_value(function, hal_stream_begin, MODULE_INDEX(b.device),
                                          MODULE_REG(module_function_argument(function, 0)), MODULE_IMM(0));
  module_emit(function, hal_stream_end, MODULE_REG(stream), MODULE_REG(module_function_null(function)));
  module_emit(function, return, REGS(module_function_i64(function, 5)));
  module_writer_export(b.writer, IREE_SV("main"), function, 0, NULL);
  EXPECT_OK(session_load(&f.session, builder_end(&b)));
  iree_vm_function_t main;
  EXPECT_OK(iree_runtime_session_lookup_function(f.session.session, IREE_SV("module.main"), &main));
  iree_vm_list_t *inputs = make_fences(&f, 1), *outputs = make_list();
  iree_vm_invoke_state_t call;
  iree_status_t result = iree_ok_status();
  expect_deferred(iree_vm_begin_invoke(&call, iree_runtime_session_context(f.session.session), main, 0, NULL, inputs,
                                       iree_allocator_system()));
  signal(&f, 0);
  EXPECT_OK(iree_vm_wait_invoke(&call, wait_frame(&call), IREE_TIME_INFINITE_FUTURE));
  EXPECT_OK(iree_vm_resume_invoke(&call));
  EXPECT_OK(iree_vm_end_invoke(&call, outputs, &result));
  EXPECT_OK(result);
  assert_int_equal(take_result(outputs), 5);
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  end(&f);
}

//===----------------------------------------------------------------------------------------------------------------===
// On loops
//===----------------------------------------------------------------------------------------------------------------===

typedef struct async_t {
  iree_vm_async_invoke_state_t state;
  int calls;
  iree_status_code_t code;
  int64_t result;
} async_t;

static iree_status_t note_end(void* user_data, iree_loop_t loop, iree_status_t status, iree_vm_list_t* outputs) {
  async_t* async = user_data;
  ++async->calls;
  if (iree_status_is_ok(status) && iree_vm_list_size(outputs)) async->result = take_result(outputs);
  async->code = iree_status_consume_code(status);
  iree_vm_list_release(outputs);
  return iree_ok_status();
}

static void start(fixture_t* f, iree_loop_t loop, const char* name, int fences, async_t* async) {
  iree_vm_list_t* inputs = make_fences(f, fences);
  *async = (async_t){.calls = 0};
  EXPECT_OK(iree_vm_async_invoke(loop, &async->state, f->program.context, find(f, name), 0, NULL, inputs, NULL,
                                 iree_allocator_system(), note_end, async));
  iree_vm_list_release(inputs);
}

// Two calls of one context are pending at once.
static void test_async(void** state) {
  fixture_t f;
  begin(&f);
  static async_t first, second, third;
  iree_loop_sync_t* sync = NULL;
  iree_loop_sync_scope_t scope;
  EXPECT_OK(iree_loop_sync_allocate((iree_loop_sync_options_t){0}, iree_allocator_system(), &sync));
  iree_loop_sync_scope_initialize(sync, NULL, NULL, &scope);
  start(&f, iree_loop_sync_scope(&scope), "m.outer", 2, &first);
  start(&f, iree_loop_sync_scope(&scope), "m.fail", 1, &second);
  EXPECT_STATUS(iree_loop_sync_wait_idle(sync, iree_make_timeout_ms(5)), DEADLINE_EXCEEDED, "");
  assert_int_equal(first.calls + second.calls, 0);
  signal(&f, 0);
  EXPECT_STATUS(iree_loop_sync_wait_idle(sync, iree_make_timeout_ms(5)), DEADLINE_EXCEEDED, "");
  assert_int_equal(first.calls, 0);
  assert_int_equal(second.calls, 1);
  assert_int_equal(second.code, IREE_STATUS_DATA_LOSS);
  signal(&f, 1);
  EXPECT_OK(iree_loop_drain(iree_loop_sync_scope(&scope), iree_infinite_timeout()));
  assert_int_equal(first.calls, 1);
  assert_int_equal(first.result, 42);
  iree_status_t failure = iree_ok_status();
  start(&f, iree_loop_inline(&failure), "m.outer", 2, &third);
  assert_int_equal(third.result, 42);
  EXPECT_OK(failure);
  // Whoever gives the loop up gets told.
  iree_hal_semaphore_release(f.semaphores[1]);
  EXPECT_OK(iree_hal_semaphore_create(f.session.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                      &f.semaphores[1]));
  start(&f, iree_loop_sync_scope(&scope), "m.outer", 2, &first);
  EXPECT_STATUS(iree_loop_sync_wait_idle(sync, iree_immediate_timeout()), DEADLINE_EXCEEDED, "");
  iree_loop_sync_scope_deinitialize(&scope);
  assert_int_equal(first.calls, 1);
  assert_int_equal(first.code, IREE_STATUS_ABORTED);
  iree_loop_sync_free(sync);
  EXPECT_STATUS(iree_vm_async_invoke(iree_loop_null(), &first.state, f.program.context, find(&f, "m.import"), 0, NULL,
                                     NULL, NULL, iree_allocator_system(), note_end, &first),
                FAILED_PRECONDITION, "null loop");
  end(&f);
}

typedef struct chain_t {
  int left, aborted;
  iree_status_code_t last;
} chain_t;

static iree_status_t go_on(void* user_data, iree_loop_t loop, iree_status_t status) {
  chain_t* chain = user_data;
  chain->last = iree_status_consume_code(status);
  if (chain->last == IREE_STATUS_ABORTED) ++chain->aborted;
  if (chain->last != IREE_STATUS_OK) return iree_ok_status();
  if (--chain->left > 0) return iree_loop_call(loop, IREE_LOOP_PRIORITY_DEFAULT, go_on, chain);
  return chain->left == 0 ? iree_ok_status() : iree_make_status(IREE_STATUS_DATA_LOSS, "the chain is over");
}

static void keep_code(void* user_data, iree_status_t status) {
  *(iree_status_code_t*)user_data = iree_status_consume_code(status);
}

// Chains of callbacks do not nest; waits end with their sources and deadlines; a failure ends its scope and no other.
static void test_loops(void** state) {
  fixture_t f;
  begin(&f);
  iree_status_t failure = iree_ok_status();
  chain_t chain = {.left = 200000}, other = {.left = 1};
  EXPECT_OK(iree_loop_call(iree_loop_inline(&failure), IREE_LOOP_PRIORITY_DEFAULT, go_on, &chain));
  assert_int_equal(chain.left, 0);
  EXPECT_OK(iree_loop_call(iree_loop_inline(&failure), IREE_LOOP_PRIORITY_DEFAULT, go_on, &chain));
  EXPECT_STATUS(iree_status_clone(failure), DATA_LOSS, "over");
  EXPECT_STATUS(iree_loop_call(iree_loop_inline(&failure), IREE_LOOP_PRIORITY_DEFAULT, go_on, &chain), ABORTED, "");
  iree_status_ignore(failure);

  iree_loop_sync_t* sync = NULL;
  iree_loop_sync_scope_t a, b;
  iree_status_code_t code = IREE_STATUS_OK;
  EXPECT_OK(iree_loop_sync_allocate((iree_loop_sync_options_t){.max_queue_depth = 2}, iree_allocator_system(), &sync));
  iree_loop_sync_scope_initialize(sync, keep_code, &code, &a);
  iree_loop_sync_scope_initialize(sync, NULL, NULL, &b);
  iree_wait_source_t sources[2] = {iree_hal_semaphore_await(f.semaphores[0], 1),
                                   iree_hal_semaphore_await(f.semaphores[1], 1)};
  signal(&f, 1);
  chain = (chain_t){.left = 1};
  EXPECT_OK(iree_loop_wait_any(iree_loop_sync_scope(&a), 2, sources, iree_infinite_timeout(), go_on, &chain));
  EXPECT_OK(iree_loop_wait_until(iree_loop_sync_scope(&b), iree_make_timeout_ms(1), go_on, &other));
  EXPECT_OK(iree_loop_sync_wait_idle(sync, iree_infinite_timeout()));
  assert_int_equal(chain.left + other.left, 0);
  chain.left = other.left = 1;
  EXPECT_OK(iree_loop_wait_all(iree_loop_sync_scope(&b), 2, sources, iree_make_timeout_ms(1), go_on, &other));
  EXPECT_OK(iree_loop_sync_wait_idle(sync, iree_infinite_timeout()));
  assert_int_equal(other.last, IREE_STATUS_DEADLINE_EXCEEDED);
  // A failing callback: what else is in its scope is told, the other scope goes on.
  chain_t waiting = {.left = 1};
  chain.left = 0;
  EXPECT_OK(iree_loop_wait_one(iree_loop_sync_scope(&a), sources[0], iree_infinite_timeout(), go_on, &waiting));
  EXPECT_OK(iree_loop_call(iree_loop_sync_scope(&a), IREE_LOOP_PRIORITY_DEFAULT, go_on, &chain));
  EXPECT_OK(iree_loop_call(iree_loop_sync_scope(&b), IREE_LOOP_PRIORITY_DEFAULT, go_on, &other));
  EXPECT_STATUS(iree_loop_call(iree_loop_sync_scope(&b), IREE_LOOP_PRIORITY_DEFAULT, go_on, &other), RESOURCE_EXHAUSTED,
                "2 pending calls");
  EXPECT_OK(iree_loop_sync_wait_idle(sync, iree_infinite_timeout()));
  assert_int_equal(code, IREE_STATUS_DATA_LOSS);
  assert_int_equal(waiting.aborted, 1);
  assert_int_equal(other.left, 0);
  iree_loop_sync_scope_deinitialize(&a);
  iree_loop_sync_scope_deinitialize(&b);
  iree_loop_sync_free(sync);
  end(&f);
}

//===----------------------------------------------------------------------------------------------------------------===
// As objects
//===----------------------------------------------------------------------------------------------------------------===

static void test_objects(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_invocation_t *invocation = NULL, *cancelled = NULL, *dropped = NULL;
  iree_vm_list_t* inputs = make_fences(&f, 2);
  EXPECT_OK(iree_vm_invocation_create(f.program.context, find(&f, "m.outer"), 0, NULL, inputs, iree_allocator_system(),
                                      &invocation));
  EXPECT_OK(iree_vm_invocation_create(f.program.context, find(&f, "m.outer"), 0, NULL, inputs, iree_allocator_system(),
                                      &cancelled));
  EXPECT_OK(iree_vm_invocation_create(f.program.context, find(&f, "m.outer"), 0, NULL, inputs, iree_allocator_system(),
                                      &dropped));
  iree_vm_list_release(inputs);
  expect_deferred(iree_vm_invocation_query_status(invocation));
  assert_null(iree_vm_invocation_outputs(invocation));
  EXPECT_STATUS(iree_vm_invocation_await(invocation, iree_time_now() + 1000000), DEADLINE_EXCEEDED, "");
  iree_vm_invocation_cancel(cancelled);
  EXPECT_STATUS(iree_vm_invocation_await(cancelled, IREE_TIME_INFINITE_FUTURE), CANCELLED, "cancelled");
  EXPECT_STATUS(iree_vm_invocation_query_status(cancelled), CANCELLED, "cancelled");
  signal(&f, 0);
  expect_deferred(iree_vm_invocation_query_status(invocation));
  signal(&f, 1);
  EXPECT_OK(iree_vm_invocation_retain(invocation));
  EXPECT_OK(iree_vm_invocation_release(invocation));
  EXPECT_OK(iree_vm_invocation_await(invocation, IREE_TIME_INFINITE_FUTURE));
  iree_vm_invocation_cancel(invocation);
  EXPECT_OK(iree_vm_invocation_query_status(invocation));
  assert_int_equal(take_result((iree_vm_list_t*)(uintptr_t)iree_vm_invocation_outputs(invocation)), 42);
  EXPECT_OK(iree_vm_invocation_release(invocation));
  EXPECT_OK(iree_vm_invocation_release(cancelled));
  EXPECT_OK(iree_vm_invocation_release(dropped));
  // A failure, of the call or of the function, is what it is queried for.
  EXPECT_OK(iree_vm_invocation_create(f.program.context, find(&f, "m.outer"), 0, NULL, NULL, iree_allocator_system(),
                                      &invocation));
  EXPECT_STATUS(iree_vm_invocation_query_status(invocation), INVALID_ARGUMENT, "expected 2 arguments");
  assert_null(iree_vm_invocation_outputs(invocation));
  EXPECT_OK(iree_vm_invocation_release(invocation));
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps),   cmocka_unit_test(test_step_failures), cmocka_unit_test(test_native),
      cmocka_unit_test(test_stream),  cmocka_unit_test(test_async),         cmocka_unit_test(test_loops),
      cmocka_unit_test(test_objects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
