// Buffers of command tables: a call's stream keeps each alive once, however often it is submitted, until the work is
// done; queues borrow them.
#include "device_fixture.h"

#define LIT MODULE_LIT
#define REGS(...) \
  MODULE_LIST(sizeof((module_reg_t[]){__VA_ARGS__}) / sizeof(module_reg_t), ((module_reg_t[]){__VA_ARGS__}))
#define NO_REGS MODULE_LIST(0, NULL)

typedef struct borrowing_t {
  session_t s;
  iree_hal_semaphore_t* semaphore;
  iree_hal_fence_t *wait, *signal;
  iree_hal_buffer_view_t* view;
} borrowing_t;

// f(view, wait, signal): executes |input| into `output_count` buffers, `execution_count` times in turn, and fails then
// if told to.
typedef struct shape_t {
  const char* name;
  int execution_count, output_count;
  bool fails;
} shape_t;

static const shape_t shapes[] = {
    {"once", 1, 1, false},
    {"often", 12, 1, false},
    {"many", 40, 40, false},
    {"broken", 5, 2, true},
};

static void add_function(builder_t* b, const shape_t* shape) {
  module_writer_t* w = b->writer;
  uint32_t in = add_shape(b, "input0", IREE_HAL_ELEMENT_TYPE_FLOAT_32, 2, (int64_t[]){2, 8});
  module_table_t* t = module_writer_table(w, iree_make_cstring_view(shape->name), 0);
  uint32_t s_in = module_table_argument_slot(t, 0, 64), s_out = module_table_argument_slot(t, 1, 64);
  module_table_dispatch(
      t, &(module_dispatch_t){.executable = b->executable,
                              .entry = POINT_ABS_F32,
                              .workgroups = {LIT(16), LIT(1), LIT(1)},
                              .binding_count = 2,
                              .bindings = (module_binding_t[]){{s_in, LIT(0), LIT(64)}, {s_out, LIT(0), LIT(64)}}});
  module_function_t* f = module_writer_function(w, iree_make_cstring_view(shape->name), IREE_SV("0rrr_v"));
  module_reg_t view = module_function_argument(f, 0), wait = module_function_argument(f, 1);
  module_reg_t signal = module_function_argument(f, 2), input = module_function_ref(f);
  module_reg_t size = module_function_i64(f, 64);
  module_emit(f, hal_view_unwrap, MODULE_REG(input), NO_REGS, MODULE_REG(view), MODULE_INDEX(in));
  module_reg_t stream =
      module_emit_value(f, hal_stream_begin, MODULE_INDEX(b->device), MODULE_REG(wait), MODULE_IMM(0));
  module_reg_t outputs[40];
  for (int i = 0; i < shape->output_count; ++i) {
    outputs[i] = module_emit_value(f, hal_alloca, MODULE_REG(stream), MODULE_REG(size));
  }
  for (int i = 0; i < shape->execution_count; ++i) {
    module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)), NO_REGS,
                REGS(input, outputs[i % shape->output_count]));
  }
  if (shape->fails) {
    module_emit(f, fail, MODULE_IMM(IREE_STATUS_DATA_LOSS), MODULE_INDEX(module_writer_string(w, IREE_SV("lost"))));
  } else {
    module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(signal));
    module_emit(f, return, NO_REGS);
  }
  module_writer_export(w, iree_make_cstring_view(shape->name), f, 0, NULL);
}

static void begin(borrowing_t* b) {
  builder_t builder;
  builder_begin(&builder, "embedded-elf-x86_64", "sse3");
  for (size_t i = 0; i < IREE_ARRAYSIZE(shapes); ++i) add_function(&builder, &shapes[i]);
  // On one thread: what signals a fence has done all that waited for it when it returns.
  session_open(&b->s, "local-sync");
  EXPECT_OK(session_load(&b->s, builder_end(&builder)));
  EXPECT_OK(iree_hal_semaphore_create(b->s.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT,
                                      &b->semaphore));
  EXPECT_OK(iree_hal_fence_create_at(b->semaphore, 1, iree_allocator_system(), &b->wait));
  EXPECT_OK(iree_hal_fence_create_at(b->semaphore, 2, iree_allocator_system(), &b->signal));
  float inputs[16] = {-1};
  b->view = make_view(&b->s, IREE_HAL_ELEMENT_TYPE_FLOAT_32, 2, (iree_hal_dim_t[]){2, 8}, inputs, sizeof(inputs));
}

static void end(borrowing_t* b) {
  iree_hal_buffer_view_release(b->view);
  iree_hal_fence_release(b->wait);
  iree_hal_fence_release(b->signal);
  iree_hal_semaphore_release(b->semaphore);
  session_close(&b->s);
}

static iree_status_t call(borrowing_t* b, const char* name) {
  char full_name[32];
  snprintf(full_name, sizeof(full_name), "module.%s", name);
  iree_vm_list_t* list = make_list();
  iree_vm_ref_t refs[] = {iree_hal_buffer_view_retain_ref(b->view), iree_hal_fence_retain_ref(b->wait),
                          iree_hal_fence_retain_ref(b->signal)};
  for (int i = 0; i < 3; ++i) EXPECT_OK(iree_vm_list_push_ref_move(list, &refs[i]));
  iree_status_t status = iree_runtime_session_call_by_name(b->s.session, iree_make_cstring_view(full_name), list, NULL);
  iree_vm_list_release(list);
  return status;
}

static uint32_t references(const borrowing_t* b) {
  return (uint32_t)iree_atomic_ref_count_load(&iree_hal_buffer_view_buffer(b->view)->resource.ref_count);
}

static void expect_kept_once(const char* name) {
  borrowing_t b;
  begin(&b);
  EXPECT_OK(call(&b, name));
  assert_int_equal(references(&b), 2);
  EXPECT_OK(iree_hal_fence_signal(b.wait));
  EXPECT_OK(iree_hal_fence_wait(b.signal, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  assert_int_equal(references(&b), 1);
  end(&b);
}

static void test_once(void** state) { expect_kept_once("once"); }
static void test_often(void** state) { expect_kept_once("often"); }

// More buffers than a stream keeps: queues keep the others' executions by themselves.
static void test_many(void** state) {
  borrowing_t b;
  begin(&b);
  EXPECT_OK(call(&b, "many"));
  assert_in_range(references(&b), 3, 2 + 40);
  EXPECT_OK(iree_hal_fence_signal(b.wait));
  EXPECT_OK(iree_hal_fence_wait(b.signal, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  assert_int_equal(references(&b), 1);
  end(&b);
}

// What a call submitted before it failed still runs, and uses its buffers.
static void test_broken(void** state) {
  borrowing_t b;
  begin(&b);
  EXPECT_STATUS(call(&b, "broken"), DATA_LOSS, "lost");
  assert_int_equal(references(&b), 2);
  EXPECT_OK(iree_hal_fence_signal(b.wait));
  assert_int_equal(references(&b), 1);
  end(&b);
}

// The same with a device that goes before the work could begin.
static void test_abandoned(void** state) {
  borrowing_t b;
  begin(&b);
  EXPECT_STATUS(call(&b, "broken"), DATA_LOSS, "lost");
  EXPECT_OK(call(&b, "often"));
  assert_int_equal(references(&b), 3);
  end(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_once),   cmocka_unit_test(test_often),     cmocka_unit_test(test_many),
      cmocka_unit_test(test_broken), cmocka_unit_test(test_abandoned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
