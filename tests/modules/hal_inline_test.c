// The module `hal_inline`: each function by its calling convention, as the VM calls it.
#include <stdlib.h>

#include "../module/module_test.h"
// After cmocka.
#include "iree/modules/hal/inline/module.h"
#include "iree/vm/api.h"

typedef struct fixture_t {
  iree_vm_instance_t* instance;
  iree_vm_module_t* module;
  iree_vm_context_t* context;
  iree_hal_allocator_t* memory;
  int traced, released;
} fixture_t;

static iree_status_t trace(void* user_data, iree_string_view_t key, iree_host_size_t count,
                           iree_hal_buffer_view_t** views, iree_allocator_t allocator) {
  fixture_t* f = user_data;
  assert_true(iree_string_view_equal(key, IREE_SV("key")));
  f->traced += (int)count;
  return iree_ok_status();
}
static void release(void* user_data) { ((fixture_t*)user_data)->released++; }

static void begin(fixture_t* f) {
  iree_allocator_t system = iree_allocator_system();
  *f = (fixture_t){0};
  const iree_hal_module_debug_sink_t sink = {.release = {release, f}, .buffer_view_trace = {trace, f}};
  EXPECT_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, system, &f->instance));
  EXPECT_OK(iree_hal_module_register_all_types(f->instance));
  EXPECT_OK(iree_hal_allocator_create_heap(IREE_SV("heap"), system, system, &f->memory));
  EXPECT_STATUS(iree_hal_inline_module_create(f->instance, 1, sink, f->memory, system, &f->module), INVALID_ARGUMENT,
                "no flag");
  EXPECT_OK(iree_hal_inline_module_create(f->instance, IREE_HAL_INLINE_MODULE_FLAG_NONE, sink, f->memory, system,
                                          &f->module));
  EXPECT_OK(
      iree_vm_context_create_with_modules(f->instance, IREE_VM_CONTEXT_FLAG_NONE, 1, &f->module, system, &f->context));
}

static void end(fixture_t* f) {
  iree_vm_context_release(f->context);
  iree_vm_module_release(f->module);
  iree_hal_allocator_release(f->memory);
  iree_vm_instance_release(f->instance);
  assert_int_equal(f->released, 1);
}

static iree_status_t call(fixture_t* f, const char* name, void* arguments, size_t argument_size, void* results,
                          size_t result_size) {
  iree_vm_function_call_t call = {.arguments = iree_make_byte_span(arguments, argument_size),
                                  .results = iree_make_byte_span(results, result_size)};
  EXPECT_OK(iree_vm_module_lookup_function_by_name(f->module, IREE_VM_FUNCTION_LINKAGE_EXPORT,
                                                   iree_make_cstring_view(name), &call.function));
  IREE_VM_INLINE_STACK_INITIALIZE(stack, IREE_VM_INVOCATION_FLAG_NONE, iree_vm_context_state_resolver(f->context),
                                  iree_allocator_system());
  iree_status_t status = f->module->begin_call(f->module->self, stack, call);
  iree_vm_stack_deinitialize(stack);
  return status;
}
#define CALL(name, arguments, results) call(&f, name, &(arguments), sizeof(arguments), &(results), sizeof(results))
#define CALL_VOID(name, arguments) call(&f, name, &(arguments), sizeof(arguments), NULL, 0)

// With two entries in the list at their end.
typedef struct view_create_t {
  iree_vm_ref_t r0;
  int64_t i1, i2;
  int32_t i3, i4, count;
  int64_t dims[2];
} view_create_t;

static iree_vm_ref_t text_of(const char* text) {
  iree_vm_buffer_t* buffer = NULL;
  EXPECT_OK(iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_MUTABLE | IREE_VM_BUFFER_ACCESS_ORIGIN_HOST, strlen(text), 64,
                                  iree_allocator_system(), &buffer));
  memcpy(iree_vm_buffer_data(buffer), text, strlen(text));
  return iree_vm_buffer_move_ref(buffer);
}

// What is written to the storage is the buffer's, also after the buffer's last other reference has gone.
static void test_allocate(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_abi_iI_t size = {64, 40};
  iree_vm_abi_rr_t made = {0};
  EXPECT_OK(CALL("buffer.allocate", size, made));
  iree_vm_buffer_t* storage = iree_vm_buffer_deref(made.r1);
  assert_int_equal(iree_vm_buffer_length(storage), 40);
  memset(iree_vm_buffer_data(storage), 7, 40);
  iree_vm_abi_r_t buffer = {made.r0}, again = {0};
  EXPECT_OK(CALL("buffer.storage", buffer, again));
  assert_int_equal(iree_vm_buffer_data(iree_vm_buffer_deref(again.r0))[39], 7);
  iree_vm_ref_release(&made.r0);
  iree_vm_ref_release(&made.r1);
  assert_int_equal(iree_vm_buffer_data(iree_vm_buffer_deref(again.r0))[0], 7);
  iree_vm_ref_release(&again.r0);
  size.i1 = -1;
  EXPECT_STATUS(CALL("buffer.allocate", size, made), INVALID_ARGUMENT, "-1 bytes");
  size.i1 = 0;  // nothing to map
  EXPECT_OK(CALL("buffer.allocate", size, made));
  assert_int_equal(iree_vm_buffer_length(iree_vm_buffer_deref(made.r1)), 0);
  iree_vm_ref_release(&made.r0);
  iree_vm_ref_release(&made.r1);
  end(&f);
}

static void test_buffers(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_abi_irII_t from = {16, text_of("0123456789"), 2, 5};
  iree_vm_abi_rr_t made = {0};
  EXPECT_OK(CALL("buffer.allocate.initialized", from, made));
  assert_memory_equal(iree_vm_buffer_data(iree_vm_buffer_deref(made.r1)), "23456", 5);
  iree_vm_ref_release(&made.r1);
  iree_vm_abi_rII_t part = {made.r0, 1, 3};
  iree_vm_abi_r_t piece = {0}, storage = {0};
  EXPECT_OK(CALL("buffer.subspan", part, piece));
  iree_vm_abi_I_t length = {0};
  EXPECT_OK(CALL("buffer.length", piece, length));
  assert_int_equal(length.i0, 3);
  EXPECT_OK(CALL("buffer.storage", piece, storage));
  assert_memory_equal(iree_vm_buffer_data(iree_vm_buffer_deref(storage.r0)), "345", 3);
  iree_vm_ref_release(&storage.r0);
  iree_vm_ref_release(&piece.r0);
  part.i2 = 5;
  EXPECT_STATUS(CALL("buffer.subspan", part, piece), OUT_OF_RANGE, "subspan of 5 bytes at 1");
  iree_vm_ref_release(&made.r0);
  from.i3 = 9;
  EXPECT_STATUS(CALL("buffer.allocate.initialized", from, made), OUT_OF_RANGE, NULL);
  // The wrapped memory lives as long as the wrapper.
  iree_vm_abi_rII_t whole = {from.r1, 0, 10};
  iree_vm_abi_r_t wrapper = {0};
  whole.i1 = 1;
  EXPECT_STATUS(CALL("buffer.wrap", whole, wrapper), OUT_OF_RANGE, NULL);
  whole.i2 = 9;
  EXPECT_STATUS(CALL("buffer.wrap", whole, wrapper), UNAVAILABLE, "aligned");
  whole = (iree_vm_abi_rII_t){from.r1, 0, 10};
  EXPECT_OK(CALL("buffer.wrap", whole, wrapper));
  iree_vm_ref_release(&from.r1);
  EXPECT_OK(CALL("buffer.storage", wrapper, storage));
  assert_memory_equal(iree_vm_buffer_data(iree_vm_buffer_deref(storage.r0)), "0123456789", 10);
  iree_vm_ref_release(&wrapper.r0);
  iree_vm_ref_release(&storage.r0);
  end(&f);
}

static void test_views(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_abi_iI_t size = {16, 64};
  iree_vm_abi_rr_t made = {0};
  EXPECT_OK(CALL("buffer.allocate", size, made));
  view_create_t create = {
      made.r0, 16, 24, (int32_t)IREE_HAL_ELEMENT_TYPE_FLOAT_32, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, 2, {2, 3}};
  iree_vm_abi_r_t view = {0}, buffer = {0};
  iree_vm_abi_i_t number = {0};
  EXPECT_OK(CALL("buffer_view.create", create, view));
  EXPECT_OK(CALL("buffer_view.rank", view, number));
  assert_int_equal(number.i0, 2);
  EXPECT_OK(CALL("buffer_view.element_type", view, number));
  assert_int_equal(number.i0, IREE_HAL_ELEMENT_TYPE_FLOAT_32);
  EXPECT_OK(CALL("buffer_view.encoding_type", view, number));
  assert_int_equal(number.i0, IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR);
  EXPECT_OK(CALL("buffer_view.buffer", view, buffer));
  assert_int_equal(iree_hal_buffer_byte_length(iree_hal_buffer_deref(buffer.r0)), 24);
  iree_vm_ref_release(&buffer.r0);
  iree_vm_abi_ri_t at = {view.r0, 1};
  iree_vm_abi_I_t dim = {0};
  EXPECT_OK(CALL("buffer_view.dim", at, dim));
  assert_int_equal(dim.i0, 3);
  at.i1 = 2;
  EXPECT_STATUS(CALL("buffer_view.dim", at, dim), OUT_OF_RANGE, "no dimension 2");
  create.i2 = 8;
  iree_vm_abi_r_t none = {0};
  EXPECT_STATUS(CALL("buffer_view.create", create, none), INVALID_ARGUMENT, "too small");
  // A view that is as it must be, but for one thing; -1 is any size.
  struct {
    iree_vm_ref_t r0, r1;
    int32_t i2, i3, count;
    int64_t dims[2];
  } expected = {view.r0, text_of("input7"), create.i3, create.i4, 2, {2, -1}};
  EXPECT_OK(CALL_VOID("buffer_view.assert", expected));
  expected.dims[0] = 3;
  EXPECT_STATUS(CALL_VOID("buffer_view.assert", expected), INVALID_ARGUMENT,
                "input7 shape dimension 0 mismatch; expected 3 but have 2");
  expected.i2 = (int32_t)IREE_HAL_ELEMENT_TYPE_INT_32;
  EXPECT_STATUS(CALL_VOID("buffer_view.assert", expected), INVALID_ARGUMENT, "input7 element type mismatch");
  struct {
    iree_vm_ref_t key;
    int32_t count;
    iree_vm_ref_t views[2];
  } traced = {text_of("key"), 2, {view.r0, view.r0}};
  EXPECT_OK(CALL_VOID("buffer_view.trace", traced));
  assert_int_equal(f.traced, 2);
  iree_vm_ref_release(&traced.key);
  iree_vm_ref_release(&expected.r1);
  iree_vm_ref_release(&view.r0);
  iree_vm_ref_release(&made.r0);
  iree_vm_ref_release(&made.r1);
  end(&f);
}

static void test_query(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_abi_rr_t key = {text_of("hal.device"), text_of("concurrency")};
  iree_vm_abi_iI_t result = {0};
  EXPECT_OK(CALL("device.query.i64", key, result));
  assert_int_equal(result.i0, 1);
  assert_int_equal(result.i1, 1);
  iree_vm_ref_release(&key.r1);
  key.r1 = text_of("other");
  EXPECT_OK(CALL("device.query.i64", key, result));
  assert_int_equal(result.i0, 0);
  iree_vm_ref_release(&key.r0);
  iree_vm_ref_release(&key.r1);
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocate), cmocka_unit_test(test_buffers),
                                     cmocka_unit_test(test_views), cmocka_unit_test(test_query)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
