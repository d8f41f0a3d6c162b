// Programs on devices: command tables, transients, constants, shapes, fences, targets; on both CPU devices.

#include "device_fixture.h"
#include "iree/base/threading/thread.h"
#include "iree/modules/hal/module.h"
#include "recordings.h"

enum { F32 = IREE_HAL_ELEMENT_TYPE_FLOAT_32, I32 = IREE_HAL_ELEMENT_TYPE_INT_32 };

#define LIT MODULE_LIT
#define REGS(...) \
  MODULE_LIST(sizeof((module_reg_t[]){__VA_ARGS__}) / sizeof(module_reg_t), ((module_reg_t[]){__VA_ARGS__}))
#define NO_REGS MODULE_LIST(0, NULL)

//===----------------------------------------------------------------------------------------------------------------===
// A static model: |input * weights|, with the product in a transient
//===----------------------------------------------------------------------------------------------------------------===

static const float weights[16] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16};

// The body of the model as a function with fences, exported as `main` and `main$async`.
static void add_model(builder_t* b) {
  module_writer_t* w = b->writer;
  uint32_t segment =
      module_writer_segment(w, &(module_segment_t){.entry = IREE_SV("constants/weights.bin"),
                                                   .data = iree_make_const_byte_span(weights, sizeof(weights)),
                                                   .alignment = MODULE_CONSTANT_ALIGNMENT});
  uint32_t constant = module_writer_constant(w, b->device, segment, 0, sizeof(weights));
  uint32_t in = add_shape(b, "input0", F32, 2, (int64_t[]){2, 8});
  uint32_t out = add_shape(b, "output0", F32, 2, (int64_t[]){2, 8});
  module_table_t* t = module_writer_table(w, IREE_SV("main"), 0);
  uint32_t s_weights = module_table_constant_slot(t, constant), s_arena = module_table_argument_slot(t, 0, 64);
  uint32_t s_in = module_table_argument_slot(t, 1, 64), s_out = module_table_argument_slot(t, 2, 64);
  module_table_dispatch(
      t, &(module_dispatch_t){.executable = b->executable,
                              .entry = POINT_MUL_F32,
                              .workgroups = {LIT(4), LIT(1), LIT(1)},
                              .push_count = 1,
                              .pushes = (module_push_t[]){{LIT(4), false}},
                              .binding_count = 3,
                              .bindings = (module_binding_t[]){
                                  {s_in, LIT(0), LIT(64)}, {s_weights, LIT(0), LIT(64)}, {s_arena, LIT(0), LIT(64)}}});
  module_table_barrier(t);
  module_table_dispatch(
      t, &(module_dispatch_t){.executable = b->executable,
                              .entry = POINT_ABS_F32,
                              .workgroups = {LIT(16), LIT(1), LIT(1)},
                              .binding_count = 2,
                              .bindings = (module_binding_t[]){{s_arena, LIT(0), LIT(64)}, {s_out, LIT(0), LIT(64)}}});
  module_function_t* f = module_writer_function(w, IREE_SV("main_body"), IREE_SV("0rrr_r"));
  module_reg_t view = module_function_argument(f, 0), wait = module_function_argument(f, 1);
  module_reg_t signal = module_function_argument(f, 2), input = module_function_ref(f);
  module_reg_t size = module_function_i64(f, 64);
  module_emit(f, hal_view_unwrap, MODULE_REG(input), NO_REGS, MODULE_REG(view), MODULE_INDEX(in));
  module_reg_t stream =
      module_emit_value(f, hal_stream_begin, MODULE_INDEX(b->device), MODULE_REG(wait), MODULE_IMM(0));
  module_reg_t arena = module_emit_value(f, hal_transient_acquire, MODULE_REG(stream), MODULE_REG(size));
  module_reg_t output = module_emit_value(f, hal_alloca, MODULE_REG(stream), MODULE_REG(size));
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)), NO_REGS,
              REGS(arena, input, output));
  module_emit(f, hal_transient_release, MODULE_REG(stream), MODULE_REG(arena));
  module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(signal));
  module_reg_t result = module_function_ref(f);
  module_emit(f, hal_view_create, MODULE_REG(result), MODULE_REG(output), MODULE_INDEX(out), NO_REGS);
  module_emit(f, return, REGS(result));
  module_writer_export_pair(w, IREE_SV("main"), f, 0, NULL);
}

static void open_model(session_t* s, const char* driver) {
  builder_t b;
  builder_begin(&b, "embedded-elf-x86_64", "sse3");
  add_model(&b);
  session_open(s, driver);
  EXPECT_OK(session_load(s, builder_end(&b)));
}

static void check_outputs(const float* inputs, const float* outputs) {
  for (int i = 0; i < 16; ++i) {
    float product = inputs[i] * weights[i];
    assert_true(outputs[i] == (product < 0 ? -product : product));
  }
}

static void run_static(const char* driver) {
  session_t s;
  open_model(&s, driver);
  iree_runtime_call_t call;
  EXPECT_OK(iree_runtime_call_initialize_by_name(s.session, IREE_SV("module.main"), &call));
  iree_hal_allocator_statistics_t before = {0}, after = {0};
  for (int n = 0; n < 100; ++n) {
    float inputs[16], outputs[16];
    for (int i = 0; i < 16; ++i) inputs[i] = (float)(i - n);
    iree_hal_buffer_view_t *in = make_view(&s, F32, 2, (iree_hal_dim_t[]){2, 8}, inputs, sizeof(inputs)), *out = NULL;
    iree_runtime_call_reset(&call);
    EXPECT_OK(iree_runtime_call_inputs_push_back_buffer_view(&call, in));
    EXPECT_OK(iree_runtime_call_invoke(&call, 0));
    EXPECT_OK(iree_runtime_call_outputs_pop_front_buffer_view(&call, &out));
    read_view(&s, out, outputs, sizeof(outputs));
    check_outputs(inputs, outputs);
    iree_hal_buffer_view_release(in);
    iree_hal_buffer_view_release(out);
    if (n == 1) iree_hal_allocator_query_statistics(iree_hal_device_allocator(s.device), &before);
    if (n == 2) iree_hal_allocator_query_statistics(iree_hal_device_allocator(s.device), &after);
  }
  // A call allocates its input and its output and nothing else.
  assert_int_equal(after.device_bytes_allocated + after.host_bytes_allocated - before.device_bytes_allocated -
                       before.host_bytes_allocated,
                   2 * 64);
  iree_runtime_call_deinitialize(&call);
  session_close(&s);
}

static void test_static_sync(void** state) { run_static("local-sync"); }
static void test_static_task(void** state) { run_static("local-task"); }

//===----------------------------------------------------------------------------------------------------------------===
// Fences
//===----------------------------------------------------------------------------------------------------------------===

// Two calls in flight: both wait for one fence, results come after it is signaled.
static void run_async(const char* driver) {
  session_t s;
  open_model(&s, driver);
  float inputs[2][16], outputs[16];
  iree_hal_semaphore_t* semaphore = NULL;
  EXPECT_OK(
      iree_hal_semaphore_create(s.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  iree_hal_fence_t *wait = NULL, *signals[2] = {NULL};
  EXPECT_OK(iree_hal_fence_create_at(semaphore, 1, iree_allocator_system(), &wait));
  iree_vm_list_t* results = make_list();
  for (int n = 0; n < 2; ++n) {
    for (int i = 0; i < 16; ++i) inputs[n][i] = (float)(i * (n + 1));
    EXPECT_OK(iree_hal_fence_create_at(semaphore, (uint64_t)n + 2, iree_allocator_system(), &signals[n]));
    iree_vm_list_t* list = make_list();
    iree_vm_ref_t refs[] = {
        iree_hal_buffer_view_move_ref(make_view(&s, F32, 2, (iree_hal_dim_t[]){2, 8}, inputs[n], sizeof(inputs[n]))),
        iree_hal_fence_retain_ref(n == 0 ? wait : signals[0]), iree_hal_fence_retain_ref(signals[n])};
    for (int i = 0; i < 3; ++i) EXPECT_OK(iree_vm_list_push_ref_move(list, &refs[i]));
    EXPECT_OK(iree_runtime_session_call_by_name(s.session, IREE_SV("module.main$async"), list, results));
    iree_vm_list_release(list);
    assert_int_equal(iree_status_consume_code(iree_hal_fence_query(signals[n])), IREE_STATUS_DEFERRED);
  }
  EXPECT_OK(iree_hal_fence_signal(wait));
  for (int n = 0; n < 2; ++n) {
    EXPECT_OK(iree_hal_fence_wait(signals[n], iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
    read_view(&s, iree_vm_list_get_buffer_view_assign(results, (size_t)n), outputs, sizeof(outputs));
    check_outputs(inputs[n], outputs);
    iree_hal_fence_release(signals[n]);
  }
  iree_vm_list_release(results);
  iree_hal_fence_release(wait);
  iree_hal_semaphore_release(semaphore);
  session_close(&s);
}

static void test_async_sync(void** state) { run_async("local-sync"); }
static void test_async_task(void** state) { run_async("local-task"); }

// A fence that fails makes the call's fence fail, and the module goes on working.
static void test_failed_fence(void** state) {
  session_t s;
  open_model(&s, "local-task");
  iree_hal_semaphore_t *source = NULL, *target = NULL;
  iree_hal_fence_t *wait = NULL, *signal = NULL;
  EXPECT_OK(
      iree_hal_semaphore_create(s.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &source));
  EXPECT_OK(
      iree_hal_semaphore_create(s.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &target));
  EXPECT_OK(iree_hal_fence_create_at(source, 1, iree_allocator_system(), &wait));
  EXPECT_OK(iree_hal_fence_create_at(target, 1, iree_allocator_system(), &signal));
  float inputs[16] = {1}, outputs[16];
  iree_vm_list_t* list = make_list();
  iree_vm_ref_t refs[] = {
      iree_hal_buffer_view_move_ref(make_view(&s, F32, 2, (iree_hal_dim_t[]){2, 8}, inputs, sizeof(inputs))),
      iree_hal_fence_retain_ref(wait), iree_hal_fence_retain_ref(signal)};
  for (int i = 0; i < 3; ++i) EXPECT_OK(iree_vm_list_push_ref_move(list, &refs[i]));
  EXPECT_OK(iree_runtime_session_call_by_name(s.session, IREE_SV("module.main$async"), list, NULL));
  iree_hal_fence_fail(wait, iree_make_status(IREE_STATUS_ABORTED, "given up"));
  EXPECT_STATUS(iree_hal_fence_wait(signal, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE), ABORTED, "given up");
  EXPECT_OK(iree_vm_list_resize(list, 1));
  iree_vm_list_t* results = make_list();
  EXPECT_OK(iree_runtime_session_call_by_name(s.session, IREE_SV("module.main"), list, results));
  read_view(&s, iree_vm_list_get_buffer_view_assign(results, 0), outputs, sizeof(outputs));
  check_outputs(inputs, outputs);
  iree_vm_list_release(results);
  iree_vm_list_release(list);
  iree_hal_fence_release(wait);
  iree_hal_fence_release(signal);
  iree_hal_semaphore_release(source);
  iree_hal_semaphore_release(target);
  session_close(&s);
}

//===----------------------------------------------------------------------------------------------------------------===
// Wrong inputs
//===----------------------------------------------------------------------------------------------------------------===

static void expect_rejected(session_t* s, iree_hal_buffer_view_t* view, const char* message) {
  iree_vm_list_t* list = make_list();
  iree_vm_ref_t ref = iree_hal_buffer_view_move_ref(view);
  EXPECT_OK(iree_vm_list_push_ref_move(list, &ref));
  EXPECT_STATUS(iree_runtime_session_call_by_name(s->session, IREE_SV("module.main"), list, NULL), INVALID_ARGUMENT,
                message);
  iree_vm_list_release(list);
}

static void test_wrong_inputs(void** state) {
  session_t s;
  open_model(&s, "local-sync");
  const uint8_t data[256] = {0};
  expect_rejected(&s, make_view(&s, I32, 2, (iree_hal_dim_t[]){2, 8}, data, 64),
                  "input0 element type mismatch; expected f32 (21000020) but have i32 (10000020)");
  expect_rejected(&s, make_view(&s, F32, 2, (iree_hal_dim_t[]){2, 3}, data, 24),
                  "input0 shape dimension 1 mismatch; expected 8 but have 3; expected shape `2x8`, actual shape `2x3`");
  expect_rejected(&s, make_view(&s, F32, 1, (iree_hal_dim_t[]){16}, data, 64),
                  "input0 shape rank mismatch; expected 2 but have 1; expected shape `2x8`, actual shape `16`");
  expect_rejected(&s, make_view(&s, F32, 0, NULL, data, 4), "expected 2 but have 0 (scalar)");
  expect_rejected(&s, make_view(&s, IREE_HAL_ELEMENT_TYPE_OPAQUE_8, 2, (iree_hal_dim_t[]){2, 8}, data, 16),
                  "input0 buffer byte length 16 less than expected minimum 64");
  expect_rejected(&s, NULL, "input0 is null; expected a !hal.buffer_view");
  session_close(&s);
}

//===----------------------------------------------------------------------------------------------------------------===
// Targets
//===----------------------------------------------------------------------------------------------------------------===

static void expect_incompatible(const char* format, const char* features, const char* message) {
  builder_t b;
  session_t s;
  builder_begin(&b, format, features);
  add_model(&b);
  session_open(&s, "local-sync");
  EXPECT_STATUS(session_load(&s, builder_end(&b)), INCOMPATIBLE, message);
  session_close(&s);
}

static void test_targets(void** state) {
  expect_incompatible("rocm-hsaco-fb", "", "the module has [rocm-hsaco-fb (by hand)], the device takes [");
  expect_incompatible("embedded-elf-x86_64", "xop,fma4,amx-int8",
                      "which needs xop], the device takes [embedded-elf-x86_64");
}

// Of an executable's variants those that the device does not take are passed over, and one that does not load leaves it
// to the next.
static void test_variants(void** state) {
  static const char* const narrow[] = {"cuda-cubin-sm_90", "system-elf-x86_64"};
  builder_t b;
  session_t s;
  builder_begin_narrow(&b, "embedded-elf-x86_64", "", narrow);
  add_model(&b);
  session_open(&s, "local-sync");
  EXPECT_OK(session_load(&s, builder_end(&b)));
  session_close(&s);
}

//===----------------------------------------------------------------------------------------------------------------===
// Everything a command table can do, and failures in it
//===----------------------------------------------------------------------------------------------------------------===

// ops(first, count): fills `count` words from `first` on with 7, updates word 0, copies word 0 to 1, reads back.
static void add_transfers(builder_t* b) {
  static const int32_t text[] = {1000, 2000};
  module_writer_t* w = b->writer;
  uint32_t segment = module_writer_segment(w, &(module_segment_t){.entry = IREE_SV("constants/two.bin"),
                                                                  .data = iree_make_const_byte_span(text, sizeof(text)),
                                                                  .alignment = 64});
  module_table_t* t = module_writer_table(w, IREE_SV("ops"), 2);
  uint32_t slot = module_table_argument_slot(t, 0, 32);
  module_table_fill(t, (module_binding_t){slot, MODULE_PARAM(0), MODULE_PARAM(1)}, LIT(7), 4);
  module_table_barrier(t);
  module_table_update(t, segment, LIT(4), (module_binding_t){slot, LIT(0), LIT(4)});
  module_table_barrier(t);
  module_table_copy(t, (module_binding_t){slot, LIT(0), LIT(4)}, (module_binding_t){slot, LIT(4), LIT(4)});
  module_function_t* f = module_writer_function(w, IREE_SV("ops"), IREE_SV("0II_I"));
  module_reg_t first = module_function_argument(f, 0), count = module_function_argument(f, 1);
  module_reg_t null = module_function_null(f), size = module_function_i64(f, 32), zero = module_function_i64(f, 0);
  module_reg_t stream =
      module_emit_value(f, hal_stream_begin, MODULE_INDEX(b->device), MODULE_REG(null), MODULE_IMM(1));
  module_reg_t buffer = module_emit_value(f, hal_alloca, MODULE_REG(stream), MODULE_REG(size));
  module_emit(f, hal_fill, MODULE_REG(stream), MODULE_REG(buffer), MODULE_REG(zero), MODULE_REG(size),
              MODULE_REG(module_function_i32(f, 1)), MODULE_IMM(4));
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)), REGS(first, count),
              REGS(buffer));
  module_reg_t sum = module_function_i64(f, 0);
  for (int i = 0; i < 8; ++i) {
    module_reg_t word = module_emit_value(f, hal_load_i32, MODULE_REG(stream), MODULE_REG(buffer),
                                          MODULE_REG(module_function_i64(f, i * 4)));
    module_reg_t wide = module_emit_value(f, ext_i32_i64_s, MODULE_REG(word));
    module_emit(f, i64_add, MODULE_REG(sum), MODULE_REG(sum), MODULE_REG(wide));
  }
  module_emit(f, return, REGS(sum));
  module_writer_export(w, IREE_SV("ops"), f, 0, NULL);
}

static void add_failing(builder_t* b) {
  module_table_t* t = module_writer_table(b->writer, IREE_SV("failing"), 0);
  module_table_dispatch(
      t,
      &(module_dispatch_t){.executable = b->executable, .entry = POINT_FAIL, .workgroups = {LIT(1), LIT(1), LIT(1)}});
  module_function_t* f = module_writer_function(b->writer, IREE_SV("failing"), IREE_SV("0v_v"));
  module_reg_t null = module_function_null(f);
  module_reg_t stream =
      module_emit_value(f, hal_stream_begin, MODULE_INDEX(b->device), MODULE_REG(null), MODULE_IMM(0));
  module_emit(f, hal_execute, MODULE_REG(stream), MODULE_INDEX(module_table_index(t)), NO_REGS, NO_REGS);
  module_emit(f, hal_stream_end, MODULE_REG(stream), MODULE_REG(null));
  module_emit(f, return, NO_REGS);
  module_writer_export(b->writer, IREE_SV("failing"), f, 0, NULL);
}

static iree_status_t call_ops(session_t* s, int64_t first, int64_t count, int64_t* out_sum) {
  iree_vm_list_t *inputs = make_list(), *outputs = make_list();
  push_i64(inputs, first);
  push_i64(inputs, count);
  iree_status_t status = iree_runtime_session_call_by_name(s->session, IREE_SV("module.ops"), inputs, outputs);
  iree_vm_value_t value = iree_vm_value_make_i64(0);
  if (iree_status_is_ok(status)) status = iree_vm_list_get_value(outputs, 0, &value);
  *out_sum = value.i64;
  iree_vm_list_release(inputs);
  iree_vm_list_release(outputs);
  return status;
}

static void test_transfers(void** state) {
  builder_t b;
  session_t s;
  int64_t sum = 0;
  builder_begin(&b, "embedded-elf-x86_64", "");
  add_transfers(&b);
  add_failing(&b);
  session_open(&s, "local-task");
  EXPECT_OK(session_load(&s, builder_end(&b)));
  EXPECT_OK(call_ops(&s, 8, 24, &sum));
  assert_int_equal(sum, 2000 * 2 + 6 * 7);
  EXPECT_OK(call_ops(&s, 8, 24, &sum));
  assert_int_equal(sum, 2000 * 2 + 6 * 7);
  EXPECT_OK(call_ops(&s, 16, 4, &sum));
  assert_int_equal(sum, 2000 * 2 + 5 + 7);
  EXPECT_OK(call_ops(&s, 0, 0, &sum));
  assert_int_equal(sum, 2000 * 2 + 6);
  EXPECT_STATUS(call_ops(&s, 8, 28, &sum), OUT_OF_RANGE, "buffer 0 of 'ops' has 32 bytes; 36 are used");
  EXPECT_STATUS(call_ops(&s, -4, 4, &sum), OUT_OF_RANGE, NULL);
  EXPECT_STATUS(call_ops(&s, 4, INT64_MAX - 7, &sum), OUT_OF_RANGE, NULL);
  EXPECT_OK(call_ops(&s, 0, 0, &sum));
  // A kernel that fails.
  iree_status_t status = iree_runtime_session_call_by_name(s.session, IREE_SV("module.failing"), NULL, NULL);
  assert_false(iree_status_is_ok(status));
  iree_status_ignore(status);
  EXPECT_OK(call_ops(&s, 0, 32, &sum));
  assert_int_equal(sum, 2000 * 2 + 6 * 7);
  session_close(&s);
}

// A table whose parameters alternate gets a recording for each of a few, and stays right when there are more.
static void test_recordings(void** state) {
  builder_t b;
  session_t s;
  int64_t sum = 0;
  builder_begin(&b, "embedded-elf-x86_64", "");
  add_transfers(&b);
  session_open(&s, "local-sync");
  EXPECT_OK(session_load(&s, builder_end(&b)));
  recordings = 0;
  for (int round = 0; round < 3; ++round) {
    for (int first = 2; first < 8; ++first) {
      EXPECT_OK(call_ops(&s, first * 4, 4, &sum));
      assert_int_equal(sum, 2000 * 2 + 5 + 7);
    }
    assert_int_equal(recordings, round == 0 ? 1 : 6);  // the first time nobody knows that they come back
  }
  for (int count = 1; count <= 6; ++count) {
    EXPECT_OK(call_ops(&s, 8, count * 4, &sum));
    assert_int_equal(sum, 2000 * 2 + 6 + count * 6);
  }
  assert_int_equal(recordings, 6);  // one was there, words 2 to 3, the others took places
  EXPECT_OK(call_ops(&s, 8, 24, &sum));
  assert_int_equal(recordings, 6);  // the last one
  EXPECT_OK(call_ops(&s, 12, 4, &sum));
  assert_int_equal(recordings, 7);  // had lost its place, and gets its own
  assert_int_equal(sum, 2000 * 2 + 5 + 7);
  session_close(&s);
}

//===----------------------------------------------------------------------------------------------------------------===
// What is not there is refused by name
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t select_first(void* user_data, iree_host_size_t device_count,
                                  const iree_hal_device_queue_affinity_pair_t* devices,
                                  iree_hal_memory_type_t memory_types, iree_hal_buffer_usage_t buffer_usage,
                                  iree_hal_module_device_allocator_select_flags_t flags,
                                  iree_host_size_t* out_selection) {
  *out_selection = 0;
  return iree_ok_status();
}

static iree_status_t make_hal_module(iree_vm_instance_t* instance, iree_hal_device_group_t* group,
                                     iree_hal_module_flags_t flags) {
  iree_hal_module_device_policy_t policy = {.allocator_select = {select_first, NULL}};
  iree_vm_module_t* module = NULL;
  iree_status_t status = iree_hal_module_create(instance, policy, group, flags, iree_hal_module_debug_sink_null(),
                                                iree_allocator_system(), &module);
  iree_vm_module_release(module);
  return status;
}

static void test_policies(void** state) {
  session_t s;
  open_model(&s, "local-sync");
  iree_vm_instance_t* instance = iree_runtime_instance_vm_instance(s.instance);
  iree_hal_device_t* second = NULL;
  EXPECT_OK(iree_runtime_instance_try_create_default_device(s.instance, IREE_SV("local-sync"), &second));
  iree_hal_device_group_t *one = NULL, *two = NULL;
  EXPECT_OK(iree_hal_device_group_create_from_device(s.device, NULL, iree_allocator_system(), &one));
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, NULL);
  EXPECT_OK(iree_hal_device_group_builder_add_device(&builder, s.device));
  EXPECT_OK(iree_hal_device_group_builder_add_device(&builder, second));
  EXPECT_OK(iree_hal_device_group_builder_finalize(&builder, iree_allocator_system(), &two));
  EXPECT_OK(make_hal_module(instance, one, IREE_HAL_MODULE_FLAG_SYNCHRONOUS));
  EXPECT_STATUS(make_hal_module(instance, two, IREE_HAL_MODULE_FLAG_NONE), UNIMPLEMENTED, "select allocators");
  EXPECT_STATUS(make_hal_module(instance, one, 1u << 9), INVALID_ARGUMENT, "flags 0x200 are not known");
  iree_vm_module_t* module = NULL;
  EXPECT_STATUS(
      iree_vm_bytecode_module_create(instance, (iree_vm_bytecode_module_flags_t)2, iree_const_byte_span_empty(),
                                     iree_allocator_null(), iree_allocator_system(), &module),
      INVALID_ARGUMENT, "flags 0x2 are not known");
  iree_hal_device_group_release(one);
  iree_hal_device_group_release(two);
  iree_hal_device_release(second);
  session_close(&s);
}

//===----------------------------------------------------------------------------------------------------------------===
// One module in a context for each of many threads
//===----------------------------------------------------------------------------------------------------------------===

enum { CALLERS = 4, CALLS = 250 };

typedef struct caller_t {
  session_t session;
  int completed, failed, refused, wrong;
} caller_t;

static void call_main(caller_t* caller, int n) {
  session_t* s = &caller->session;
  float inputs[16], outputs[16] = {0};
  for (int i = 0; i < 16; ++i) inputs[i] = (float)(i - n);
  iree_hal_buffer_view_t* in = make_view(s, F32, 2, (iree_hal_dim_t[]){2, 8}, inputs, sizeof(inputs));
  iree_vm_list_t *arguments = make_list(), *results = make_list();
  iree_vm_ref_t ref = iree_hal_buffer_view_move_ref(in);
  EXPECT_OK(iree_vm_list_push_ref_move(arguments, &ref));
  iree_status_t status = iree_runtime_session_call_by_name(s->session, IREE_SV("module.main"), arguments, results);
  if (iree_status_is_ok(status)) {
    read_view(s, iree_vm_list_get_buffer_view_assign(results, 0), outputs, sizeof(outputs));
    ++caller->completed;
  } else {
    ++caller->wrong;
  }
  for (int i = 0; i < 16; ++i) {
    float product = inputs[i] * weights[i];
    caller->wrong += outputs[i] != (product < 0 ? -product : product);
  }
  iree_status_free(status);
  iree_vm_list_release(arguments);
  iree_vm_list_release(results);
}

// Calls of three kinds: right ones, one of a function that fails, one with sizes that do not fit.
static int caller_main(void* arg) {
  caller_t* caller = (caller_t*)arg;
  int64_t sum = 0;
  for (int n = 0; n < CALLS; ++n) {
    if (n % 5 == 3) {
      iree_status_code_t code = iree_status_consume_code(
          iree_runtime_session_call_by_name(caller->session.session, IREE_SV("module.failing"), NULL, NULL));
      ++*(code == IREE_STATUS_INTERNAL ? &caller->failed : &caller->wrong);
    } else if (n % 5 == 4) {
      iree_status_code_t code = iree_status_consume_code(call_ops(&caller->session, 8, 28, &sum));
      ++*(code == IREE_STATUS_OUT_OF_RANGE ? &caller->refused : &caller->wrong);
    } else {
      call_main(caller, n);
    }
  }
  return 0;
}

static void run_threads(const char* driver) {
  builder_t b;
  session_t first;
  caller_t callers[CALLERS];
  iree_thread_t* threads[CALLERS];
  builder_begin(&b, "embedded-elf-x86_64", "sse3");
  add_model(&b);
  add_transfers(&b);
  add_failing(&b);
  session_open(&first, driver);
  iree_vm_module_t* module = NULL;
  EXPECT_OK(iree_vm_bytecode_module_create(
      iree_runtime_instance_vm_instance(first.instance), IREE_VM_BYTECODE_MODULE_FLAG_NONE,
      iree_const_cast_byte_span(builder_end(&b)), iree_allocator_system(), iree_allocator_system(), &module));
  for (int i = 0; i < CALLERS; ++i) {
    callers[i] = (caller_t){.session = first};
    iree_runtime_session_options_t options;
    iree_runtime_session_options_initialize(&options);
    EXPECT_OK(iree_runtime_session_create_with_device(first.instance, &options, first.device, iree_allocator_system(),
                                                      &callers[i].session.session));
    EXPECT_OK(iree_runtime_session_append_module(callers[i].session.session, module));
  }
  iree_vm_module_release(module);
  for (int i = 0; i < CALLERS; ++i) {
    iree_thread_create_params_t params = {.name = IREE_SV("caller")};
    EXPECT_OK(iree_thread_create(caller_main, &callers[i], params, iree_allocator_system(), &threads[i]));
  }
  for (int i = 0; i < CALLERS; ++i) iree_thread_release(threads[i]);
  for (int i = 0; i < CALLERS; ++i) {
    assert_int_equal(callers[i].wrong, 0);
    assert_int_equal(callers[i].completed, CALLS / 5 * 3);
    assert_int_equal(callers[i].failed, CALLS / 5);
    assert_int_equal(callers[i].refused, CALLS / 5);
    iree_runtime_session_release(callers[i].session.session);
  }
  session_close(&first);
}

static void test_threads_sync(void** state) { run_threads("local-sync"); }
static void test_threads_task(void** state) { run_threads("local-task"); }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_static_sync), cmocka_unit_test(test_static_task),  cmocka_unit_test(test_async_sync),
      cmocka_unit_test(test_async_task),  cmocka_unit_test(test_failed_fence), cmocka_unit_test(test_wrong_inputs),
      cmocka_unit_test(test_targets),     cmocka_unit_test(test_variants),     cmocka_unit_test(test_transfers),
      cmocka_unit_test(test_policies),    cmocka_unit_test(test_threads_sync), cmocka_unit_test(test_threads_task),
      cmocka_unit_test(test_recordings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
