// IREE's headers of tools as its own programs use them: a module of flags is called with arguments as text, its results
// are moved, printed, written, compared; .npy files and matchers by themselves; iree-run-module as a function.
#include <stdlib.h>

#include "../module/module_test.h"
// After cmocka.
#include "iree/base/tooling/flags.h"
#include "iree/io/memory_stream.h"
#include "iree/io/vec_stream.h"
#include "iree/modules/hal/types.h"
#include "iree/tooling/buffer_view_matchers.h"
#include "iree/tooling/comparison.h"
#include "iree/tooling/context_util.h"
#include "iree/tooling/device_util.h"
#include "iree/tooling/function_io.h"
#include "iree/tooling/function_util.h"
#include "iree/tooling/instrument_util.h"
#include "iree/tooling/modules/resolver.h"
#include "iree/tooling/numpy_io.h"
#include "iree/tooling/process_results.h"
#include "iree/tooling/run_module.h"
#include "iree/vm/api.h"
#include "tooling_program_c.h"

#define OUTPUT_PATH SCRATCH "/tooling_output.npy"
#define INSTRUMENT_PATH SCRATCH "/tooling_instruments.bin"

static iree_string_view_list_t specs_of(iree_host_size_t count, const iree_string_view_t* specs) {
  return (iree_string_view_list_t){count, specs};
}
#define SPECS(...)                                                                   \
  specs_of(sizeof((iree_string_view_t[]){__VA_ARGS__}) / sizeof(iree_string_view_t), \
           (iree_string_view_t[]){__VA_ARGS__})

// A context of the flags and its only function.
typedef struct fixture_t {
  iree_allocator_t allocator;
  iree_vm_instance_t* instance;
  iree_vm_context_t* context;
  iree_hal_device_t* device;
  iree_hal_allocator_t* device_allocator;
  iree_vm_function_t function;
} fixture_t;

static void begin(fixture_t* f) {
  iree_tooling_module_list_t list;
  *f = (fixture_t){.allocator = iree_allocator_system()};
  iree_tooling_module_list_initialize(&list);
  EXPECT_OK(iree_tooling_create_instance(f->allocator, &f->instance));
  EXPECT_OK(iree_tooling_load_modules_from_flags(f->instance, f->allocator, &list));
  assert_int_equal(list.count, 1);
  EXPECT_OK(iree_tooling_find_single_exported_function(list.values[0], &f->function));
  EXPECT_OK(iree_tooling_create_context_from_flags(f->instance, list.count, list.values, iree_string_view_empty(),
                                                   f->allocator, &f->context, &f->device, &f->device_allocator));
  iree_tooling_module_list_reset(&list);
  assert_int_equal(list.count, 0);
}

static void end(fixture_t* f) {
  iree_vm_context_release(f->context);
  iree_hal_allocator_release(f->device_allocator);
  iree_hal_device_release(f->device);
  iree_vm_instance_release(f->instance);
}

static iree_vm_list_t* parse(fixture_t* f, iree_string_view_t letters, iree_string_view_list_t specs) {
  iree_vm_list_t* list = NULL;
  EXPECT_OK(iree_tooling_parse_variants(letters, specs, f->device, f->device_allocator, f->allocator, &list));
  return list;
}

static void expect_text(iree_string_builder_t* builder, const char* wanted) {
  iree_string_view_t text = iree_string_builder_view(builder);
  if (!iree_string_view_equal(text, iree_make_cstring_view(wanted))) {
    fail_msg("got '%.*s', not '%s'", (int)text.size, text.data, wanted);
  }
  iree_string_builder_reset(builder);
}

// scale of 1, 2, 3, 4, there when the fence is signaled.
static iree_vm_list_t* call(fixture_t* f, iree_hal_fence_t** out_fence) {
  iree_vm_list_t *inputs = parse(f, IREE_SV("r"), SPECS(IREE_SV("4xf32=1,2,3,4"))), *outputs = NULL;
  EXPECT_OK(iree_tooling_append_async_fences(inputs, f->function, f->device, NULL, out_fence));
  assert_non_null(*out_fence);
  assert_int_equal(iree_vm_list_size(inputs), 3);
  EXPECT_OK(iree_vm_list_create(iree_vm_make_undefined_type_def(), 1, f->allocator, &outputs));
  EXPECT_OK(iree_vm_invoke(f->context, f->function, IREE_VM_INVOCATION_FLAG_NONE, NULL, inputs, outputs, f->allocator));
  iree_vm_list_release(inputs);
  return outputs;
}

static void test_call(void** state) {
  fixture_t f;
  iree_hal_fence_t* fence = NULL;
  iree_string_builder_t builder;
  begin(&f);
  iree_string_builder_initialize(f.allocator, &builder);
  iree_vm_list_t* outputs = call(&f, &fence);
  // Nothing is wrong with where it is.
  const iree_hal_buffer_params_t device = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE};
  iree_hal_buffer_view_t* view = iree_vm_list_get_buffer_view_assign(outputs, 0);
  EXPECT_OK(iree_tooling_transfer_variants(outputs, f.device, f.device_allocator, device, fence, NULL));
  assert_ptr_equal(iree_vm_list_get_buffer_view_assign(outputs, 0), view);
  iree_hal_fence_release(fence);
  EXPECT_OK(iree_tooling_format_variants(IREE_SV("y"), outputs, 3, &builder));
  expect_text(&builder, "y[0]: hal.buffer_view\n4xf32=2 4 6...\n");
  iree_string_builder_deinitialize(&builder);
  iree_vm_list_release(outputs);
  end(&f);
}

// Copies for another use, made behind a fence and ended by one.
static void test_transfer(void** state) {
  fixture_t f;
  iree_hal_fence_t *made = NULL, *moved = NULL;
  iree_hal_semaphore_t* semaphore = NULL;
  begin(&f);
  iree_vm_list_t* outputs = call(&f, &made);
  iree_hal_buffer_view_t* before = iree_vm_list_get_buffer_view_assign(outputs, 0);
  EXPECT_OK(
      iree_hal_semaphore_create(f.device, IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &semaphore));
  EXPECT_OK(iree_hal_fence_create_at(semaphore, 1, f.allocator, &moved));
  iree_hal_allocator_t* heap = NULL;
  EXPECT_OK(iree_hal_allocator_create_heap(IREE_SV("heap"), f.allocator, f.allocator, &heap));
  const iree_hal_buffer_params_t host = {.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL,
                                         .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING |
                                                  IREE_HAL_BUFFER_USAGE_SHARING_REPLICATE};
  EXPECT_OK(iree_tooling_transfer_variants(outputs, f.device, heap, host, made, moved));
  EXPECT_OK(iree_hal_fence_wait(moved, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_buffer_view_t* after = iree_vm_list_get_buffer_view_assign(outputs, 0);
  assert_ptr_not_equal(before, after);
  iree_vm_list_t* expected = parse(&f, IREE_SV("r"), SPECS(IREE_SV("4xf32=2,4,6,8")));
  assert_true(iree_tooling_compare_variant_lists(expected, outputs, f.allocator, stdout));
  iree_vm_list_release(expected);
  iree_vm_list_release(outputs);
  iree_hal_allocator_release(heap);
  iree_hal_fence_release(made);
  iree_hal_fence_release(moved);
  iree_hal_semaphore_release(semaphore);
  end(&f);
}

static void test_compare(void** state) {
  fixture_t f;
  iree_string_builder_t builder;
  begin(&f);
  iree_string_builder_initialize(f.allocator, &builder);
  iree_vm_list_t* a = parse(&f, IREE_SV("ir"), SPECS(IREE_SV("5"), IREE_SV("2xf32=1,2")));
  iree_vm_list_t* b = parse(&f, IREE_SV("ir"), SPECS(IREE_SV("5"), IREE_SV("2xf32=1,2.00001")));
  iree_vm_list_t* c = parse(&f, IREE_SV("ir"), SPECS(IREE_SV("6"), IREE_SV("2xf32=1,3")));
  assert_true(iree_tooling_compare_variant_lists_and_append(a, b, f.allocator, &builder));
  assert_int_equal(iree_string_builder_size(&builder), 0);
  assert_false(iree_tooling_compare_variant_lists_and_append(a, c, f.allocator, &builder));
  const char* text = iree_string_builder_buffer(&builder);
  assert_non_null(strstr(text, "[FAILED] result[0]"));
  assert_non_null(strstr(text, "[FAILED] result[1]: element at index 1 (3) does not match the expected (2)"));
  iree_vm_list_release(a);
  iree_vm_list_release(b);
  iree_vm_list_release(c);
  iree_string_builder_deinitialize(&builder);
  end(&f);
}

static iree_status_t append_block(void* user_data, iree_const_byte_span_t block) {
  return iree_string_builder_append_string(user_data,
                                           iree_make_string_view((const char*)block.data, block.data_length));
}

static void test_print_and_write(void** state) {
  fixture_t f;
  iree_io_stream_t* stream = NULL;
  iree_string_builder_t builder;
  begin(&f);
  iree_string_builder_initialize(f.allocator, &builder);
  iree_vm_list_t* list = parse(&f, IREE_SV("Ir"), SPECS(IREE_SV("9"), IREE_SV("2x2xi8=1,2,3,4")));
  EXPECT_OK(
      iree_io_vec_stream_create(IREE_IO_STREAM_MODE_WRITABLE | IREE_IO_STREAM_MODE_READABLE, 16, f.allocator, &stream));
  EXPECT_OK(iree_tooling_print_variants(IREE_SV("v"), list, 100, stream, f.allocator));
  EXPECT_OK(iree_io_vec_stream_enumerate_blocks(stream, append_block, &builder));
  expect_text(&builder, "v[0]: i64=9\nv[1]: hal.buffer_view\n2x2xi8=[1 2][3 4]\n");
  EXPECT_OK(iree_tooling_write_variants(list, SPECS(IREE_SV("-"), IREE_SV("@" OUTPUT_PATH)), 100, stream, f.allocator));
  EXPECT_OK(iree_io_vec_stream_enumerate_blocks(stream, append_block, &builder));
  expect_text(&builder, "v[0]: i64=9\nv[1]: hal.buffer_view\n2x2xi8=[1 2][3 4]\ni64=9\n");
  EXPECT_STATUS(iree_tooling_write_variants(list, SPECS(IREE_SV("-")), 100, stream, f.allocator), OUT_OF_RANGE, NULL);
  // What was written is an input.
  iree_vm_list_t* again = parse(&f, IREE_SV("Ir"), SPECS(IREE_SV("9"), IREE_SV("@" OUTPUT_PATH)));
  assert_true(iree_tooling_compare_variant_lists(list, again, f.allocator, stdout));
  iree_vm_list_release(again);
  iree_vm_list_release(list);
  iree_io_stream_release(stream);
  iree_string_builder_deinitialize(&builder);
  end(&f);
}

// Two arrays in one stream, the second one at a position that is not the start.
static void test_npy(void** state) {
  fixture_t f;
  iree_io_stream_t* stream = NULL;
  uint8_t memory[1024];
  begin(&f);
  iree_vm_list_t* list = parse(&f, IREE_SV("rr"), SPECS(IREE_SV("2xf32=1,2"), IREE_SV("1x3xsi64=7,8,9")));
  EXPECT_OK(iree_io_memory_stream_wrap(
      IREE_IO_STREAM_MODE_READABLE | IREE_IO_STREAM_MODE_WRITABLE | IREE_IO_STREAM_MODE_SEEKABLE,
      iree_make_byte_span(memory, sizeof(memory)), iree_io_memory_stream_release_callback_null(), f.allocator,
      &stream));
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(iree_numpy_npy_save_ndarray(stream, IREE_NUMPY_NPY_SAVE_OPTION_DEFAULT,
                                          iree_vm_list_get_buffer_view_assign(list, i), f.allocator));
  }
  iree_io_stream_pos_t size = iree_io_stream_offset(stream);
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 0));
  const iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
                                           .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING};
  for (int i = 0; i < 2; ++i) {
    iree_hal_buffer_view_t* view = NULL;
    iree_string_builder_t builder;
    bool matched = false;
    iree_string_builder_initialize(f.allocator, &builder);
    EXPECT_OK(iree_numpy_npy_load_ndarray(stream, IREE_NUMPY_NPY_LOAD_OPTION_DEFAULT, params, f.device,
                                          f.device_allocator, &view));
    EXPECT_OK(iree_hal_buffer_view_match_equal((iree_hal_buffer_equality_t){IREE_HAL_BUFFER_EQUALITY_EXACT}, view,
                                               iree_vm_list_get_buffer_view_assign(list, i), &builder, &matched));
    expect_text(&builder, "");
    assert_true(matched);
    iree_string_builder_deinitialize(&builder);
    iree_hal_buffer_view_release(view);
  }
  assert_int_equal(iree_io_stream_offset(stream), size);
  iree_hal_buffer_view_t* none = NULL;
  EXPECT_STATUS(iree_numpy_npy_load_ndarray(stream, IREE_NUMPY_NPY_LOAD_OPTION_DEFAULT, params, f.device,
                                            f.device_allocator, &none),
                INVALID_ARGUMENT, NULL);  // zeros
  iree_io_stream_release(stream);
  iree_vm_list_release(list);
  end(&f);
}

static void test_matchers(void** state) {
  fixture_t f;
  iree_string_builder_t builder;
  bool matched = true;
  begin(&f);
  iree_string_builder_initialize(f.allocator, &builder);
  iree_vm_list_t* list = parse(&f, IREE_SV("rr"), SPECS(IREE_SV("2x2xf32=1,1,1,1.5"), IREE_SV("2xf16=4")));
  iree_hal_buffer_view_t* view = iree_vm_list_get_buffer_view_assign(list, 0);
  const iree_hal_dim_t shape[2] = {2, 3};
  EXPECT_OK(iree_hal_buffer_view_match_metadata(2, shape, IREE_HAL_ELEMENT_TYPE_NONE, IREE_HAL_ENCODING_TYPE_OPAQUE,
                                                view, &builder, &matched));
  assert_false(matched);
  expect_text(&builder, "metadata is 2x2xf32; expected that the view matches 2x3xf32");
  iree_hal_buffer_equality_t near = {.mode = IREE_HAL_BUFFER_EQUALITY_APPROXIMATE_ABSOLUTE, .f32_threshold = 0.25f};
  EXPECT_OK(iree_hal_buffer_view_match_elements(near, iree_hal_make_buffer_element_f32(1), view, &builder, &matched));
  assert_false(matched);
  expect_text(&builder, "element at index 3 (1.5) does not match the expected (1)");
  near.f32_threshold = 0.5f;
  EXPECT_OK(iree_hal_buffer_view_match_elements(near, iree_hal_make_buffer_element_f32(1), view, &builder, &matched));
  assert_true(matched);
  EXPECT_OK(iree_hal_buffer_view_match_elements(near, iree_hal_make_buffer_element_f16(4),
                                                iree_vm_list_get_buffer_view_assign(list, 1), &builder, &matched));
  assert_true(matched);
  EXPECT_OK(iree_hal_buffer_view_match_elements(near, iree_hal_make_buffer_element_i32(4), view, &builder, &matched));
  assert_false(matched);
  expect_text(&builder, "element type is f32; expected i32");
  // A share of what is expected.
  const float expected[4] = {1, 1, 1, 2};
  iree_hal_buffer_equality_t relative = {.mode = IREE_HAL_BUFFER_EQUALITY_APPROXIMATE_RELATIVE, .f32_threshold = 0.2f};
  iree_const_byte_span_t data = iree_make_const_byte_span(expected, sizeof(expected));
  EXPECT_OK(
      iree_hal_buffer_view_match_array(relative, IREE_HAL_ELEMENT_TYPE_FLOAT_32, 4, data, view, &builder, &matched));
  assert_false(matched);
  iree_string_builder_reset(&builder);
  relative.f32_threshold = 0.25f;
  EXPECT_OK(
      iree_hal_buffer_view_match_array(relative, IREE_HAL_ELEMENT_TYPE_FLOAT_32, 4, data, view, &builder, &matched));
  assert_true(matched);
  iree_host_size_t index = 0;
  assert_false(
      iree_hal_compare_buffer_elements_broadcast(relative, iree_hal_make_buffer_element_f32(1), 4, data, &index));
  assert_int_equal(index, 3);
  assert_true(
      iree_hal_compare_buffer_elements_elementwise(relative, IREE_HAL_ELEMENT_TYPE_FLOAT_32, 4, data, data, &index));
  iree_vm_list_release(list);
  iree_string_builder_deinitialize(&builder);
  end(&f);
}

static void test_matcher_objects(void** state) {
  fixture_t f;
  iree_string_builder_t builder;
  bool matched = true;
  begin(&f);
  iree_string_builder_initialize(f.allocator, &builder);
  const iree_hal_buffer_equality_t exact = {.mode = IREE_HAL_BUFFER_EQUALITY_EXACT};
  const int32_t elements[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const iree_hal_dim_t shape[2] = {3, 3};
  iree_vm_list_t* list = parse(&f, IREE_SV("rr"), SPECS(IREE_SV("3x3xi32=1,2,3,4,5,6,7,8,9"), IREE_SV("9xi32=5")));
  iree_hal_buffer_view_t* views[2] = {iree_vm_list_get_buffer_view_assign(list, 0),
                                      iree_vm_list_get_buffer_view_assign(list, 1)};
  iree_hal_buffer_view_metadata_matcher_t metadata;
  EXPECT_OK(iree_hal_buffer_view_metadata_matcher_initialize(2, shape, IREE_HAL_ELEMENT_TYPE_INT_32,
                                                             IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, &metadata));
  EXPECT_OK(iree_hal_buffer_view_metadata_matcher_describe(&metadata, &builder));
  expect_text(&builder, "matches 3x3xi32");
  iree_hal_buffer_view_element_matcher_t element;
  EXPECT_OK(iree_hal_buffer_view_element_matcher_initialize(exact, iree_hal_make_buffer_element_i32(5), &element));
  EXPECT_OK(iree_hal_buffer_view_element_matcher_describe(&element, &builder));
  expect_text(&builder, "matches all elements to 5");
  iree_hal_buffer_view_array_matcher_t array;
  EXPECT_OK(iree_hal_buffer_view_array_matcher_initialize(
      exact, IREE_HAL_ELEMENT_TYPE_INT_32, 9, iree_make_const_byte_span(elements, sizeof(elements)), &array));
  EXPECT_OK(iree_hal_buffer_view_array_matcher_describe(&array, &builder));
  expect_text(&builder, "matches elements 1 2 3 4 5 6 7 8...");
  iree_hal_buffer_view_matcher_t whole;
  EXPECT_OK(iree_hal_buffer_view_matcher_initialize(exact, views[0], &whole));
  EXPECT_OK(iree_hal_buffer_view_matcher_describe(&whole, &builder));
  expect_text(&builder, "matches a view 3x3xi32");
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(iree_hal_buffer_view_metadata_matcher_match(&metadata, views[i], &builder, &matched));
    assert_int_equal(matched, i == 0);
    EXPECT_OK(iree_hal_buffer_view_element_matcher_match(&element, views[i], &builder, &matched));
    assert_int_equal(matched, i == 1);
    EXPECT_OK(iree_hal_buffer_view_array_matcher_match(&array, views[i], &builder, &matched));
    assert_int_equal(matched, i == 0);
    EXPECT_OK(iree_hal_buffer_view_matcher_match(&whole, views[i], &builder, &matched));
    assert_int_equal(matched, i == 0);
  }
  iree_hal_buffer_view_metadata_matcher_deinitialize(&metadata);
  iree_hal_buffer_view_element_matcher_deinitialize(&element);
  iree_hal_buffer_view_array_matcher_deinitialize(&array);
  iree_hal_buffer_view_matcher_deinitialize(&whole);
  iree_vm_list_release(list);
  iree_string_builder_deinitialize(&builder);
  end(&f);
}

static void test_devices(void** state) {
  iree_hal_device_create_params_t params = iree_hal_device_create_params_default();
  iree_hal_driver_registry_t* registry = iree_hal_available_driver_registry();
  iree_hal_device_t* device = NULL;
  iree_hal_device_list_t* devices = NULL;
  iree_string_view_list_t flags = iree_hal_device_flag_list();
  assert_int_equal(flags.count, 1);
  assert_true(iree_string_view_equal(flags.values[0], IREE_SV("local-sync")));
  // The flag is stronger than the default.
  EXPECT_OK(iree_hal_create_device_from_flags(registry, iree_hal_default_device_uri(), &params, iree_allocator_system(),
                                              &device));
  assert_true(iree_string_view_starts_with(iree_hal_device_id(device), IREE_SV("local-sync")));
  iree_hal_device_release(device);
  EXPECT_OK(iree_hal_create_devices_from_flags(registry, iree_string_view_empty(), &params, iree_allocator_system(),
                                               &devices));
  assert_int_equal(devices->count, 1);
  iree_hal_device_list_free(devices);
}

static iree_status_t find_hal(void* user_data, const iree_vm_module_dependency_t* dependency) {
  *(bool*)user_data |= iree_string_view_equal(dependency->name, IREE_SV("hal"));
  return iree_ok_status();
}

static void test_modules(void** state) {
  iree_vm_instance_t* instance = NULL;
  iree_vm_module_t* module = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  EXPECT_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, allocator, &instance));
  EXPECT_OK(iree_tooling_register_all_module_types(instance));
  iree_vm_module_dependency_t dependency = {.name = IREE_SV("check"), .flags = IREE_VM_MODULE_DEPENDENCY_FLAG_REQUIRED};
  EXPECT_OK(iree_tooling_resolve_module_dependency(instance, &dependency, allocator, &module));
  assert_true(iree_string_view_equal(iree_vm_module_name(module), IREE_SV("check")));
  dependency.name = IREE_SV("unknown");
  iree_vm_module_t* none = NULL;
  EXPECT_STATUS(iree_tooling_resolve_module_dependency(instance, &dependency, allocator, &none), NOT_FOUND,
                "required module 'unknown'");
  dependency.flags = IREE_VM_MODULE_DEPENDENCY_FLAG_OPTIONAL;
  EXPECT_OK(iree_tooling_resolve_module_dependency(instance, &dependency, allocator, &none));
  assert_null(none);
  // Each module once, behind what it needs; no device without need of one.
  iree_tooling_module_list_t list, resolved, copy;
  iree_hal_device_t* device = NULL;
  iree_hal_allocator_t* device_allocator = NULL;
  iree_tooling_module_list_initialize(&resolved);
  EXPECT_OK(iree_tooling_resolve_modules(instance, 1, &module, iree_string_view_empty(), allocator, &resolved, &device,
                                         &device_allocator));
  bool needs_hal = false;
  EXPECT_OK(iree_vm_module_enumerate_dependencies(module, find_hal, &needs_hal));
  assert_int_equal(resolved.count, needs_hal ? 2 : 1);
  assert_int_equal(device != NULL, needs_hal);
  assert_non_null(device_allocator);
  iree_hal_allocator_release(device_allocator);
  iree_hal_device_release(device);
  iree_tooling_module_list_initialize(&list);
  EXPECT_OK(iree_tooling_load_modules_from_flags(instance, allocator, &list));
  EXPECT_OK(iree_tooling_resolve_modules(instance, list.count, list.values, IREE_SV("local-task"), allocator, &resolved,
                                         &device, NULL));
  assert_true(iree_string_view_starts_with(iree_hal_device_id(device), IREE_SV("local-sync")));
  assert_true(iree_string_view_equal(iree_vm_module_name(resolved.values[resolved.count - 2]), IREE_SV("hal")));
  iree_tooling_module_list_clone(&resolved, &copy);
  assert_int_equal(copy.count, resolved.count);
  for (iree_host_size_t i = copy.count; i < copy.capacity; ++i) {
    EXPECT_OK(iree_tooling_module_list_push_back(&copy, module));
  }
  EXPECT_STATUS(iree_tooling_module_list_push_back(&copy, module), RESOURCE_EXHAUSTED, "modules");
  iree_tooling_module_list_reset(&copy);
  iree_tooling_module_list_reset(&resolved);
  iree_tooling_module_list_reset(&list);
  iree_hal_device_release(device);
  iree_vm_module_release(module);
  iree_vm_instance_release(instance);
}

// The flags' expected output is right; that of another program in memory is the same.
static void test_run(void** state) {
  iree_vm_instance_t* instance = NULL;
  int exit_code = -1;
  EXPECT_OK(iree_tooling_create_instance(iree_allocator_system(), &instance));
  EXPECT_OK(iree_tooling_run_module_from_flags(instance, iree_allocator_system(), &exit_code));
  assert_int_equal(exit_code, 0);
  const iree_file_toc_t* file = tooling_program_create();
  exit_code = -1;
  EXPECT_OK(iree_tooling_run_module_with_data(instance, IREE_SV("local-task"),
                                              iree_make_const_byte_span(file->data, file->size),
                                              iree_allocator_system(), &exit_code));
  assert_int_equal(exit_code, 0);
  iree_vm_instance_release(instance);
}

//===----------------------------------------------------------------------------------------------------------------===
// Instruments
//===----------------------------------------------------------------------------------------------------------------===

IREE_VM_ABI_EXPORT(query_instruments, void, r, v) {
  iree_vm_list_t* list = NULL;
  iree_vm_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_list_check_deref(args->r0, &list));
  IREE_RETURN_IF_ERROR(iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_MUTABLE | IREE_VM_BUFFER_ACCESS_ORIGIN_HOST, 5, 1,
                                             iree_allocator_system(), &buffer));
  memcpy(iree_vm_buffer_data(buffer), "count", 5);
  iree_vm_ref_t ref = iree_vm_buffer_move_ref(buffer);
  return iree_vm_list_push_ref_move(list, &ref);
}
static const iree_vm_native_export_descriptor_t instrument_exports[] = {
    {iree_string_view_literal("__query_instruments"), iree_string_view_literal("0r_v"), 0, NULL},
};
static const iree_vm_native_function_ptr_t instrument_functions[] = {
    {(iree_vm_native_function_shim_t)(void*)iree_vm_shim_r_v,
     (iree_vm_native_function_target_t)(void*)query_instruments},
};
static const iree_vm_native_module_descriptor_t instrument_descriptor = {
    .name = iree_string_view_literal("instrumented"),
    .export_count = 1,
    .exports = instrument_exports,
    .function_count = 1,
    .functions = instrument_functions,
};

static void test_instruments(void** state) {
  iree_vm_instance_t* instance = NULL;
  iree_vm_module_t interface, *module = NULL;
  iree_vm_context_t* context = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  remove(INSTRUMENT_PATH);
  EXPECT_OK(iree_tooling_create_instance(allocator, &instance));
  EXPECT_OK(iree_vm_module_initialize(&interface, NULL));
  EXPECT_OK(iree_vm_native_module_create(&interface, &instrument_descriptor, instance, allocator, &module));
  EXPECT_OK(iree_vm_context_create_with_modules(instance, IREE_VM_CONTEXT_FLAG_NONE, 1, &module, allocator, &context));
  EXPECT_OK(iree_tooling_process_instrument_data(context, allocator));
  char text[16] = {0};
  FILE* file = fopen(INSTRUMENT_PATH, "rb");
  assert_non_null(file);
  assert_int_equal(fread(text, 1, sizeof(text), file), 5);
  fclose(file);
  assert_string_equal(text, "count");
  iree_vm_context_release(context);
  iree_vm_module_release(module);
  iree_vm_instance_release(instance);
}

// What a result is said to be, by --expected_output=4xf32=2,4,6,8.
static int judge(const char* result, char* text, size_t capacity) {
  fixture_t f;
  iree_vm_list_t* list = NULL;
  iree_io_stream_t* stream = NULL;
  iree_host_size_t length = 0;
  int exit_code = -1;
  begin(&f);
  EXPECT_OK(iree_tooling_parse_variants(IREE_SV("r"), SPECS(iree_make_cstring_view(result)), f.device,
                                        f.device_allocator, f.allocator, &list));
  EXPECT_OK(iree_io_vec_stream_create(IREE_IO_STREAM_MODE_WRITABLE | IREE_IO_STREAM_MODE_READABLE |
                                          IREE_IO_STREAM_MODE_SEEKABLE | IREE_IO_STREAM_MODE_RESIZABLE,
                                      64, f.allocator, &stream));
  EXPECT_OK(iree_tooling_process_results(f.device, IREE_SV("r"), list, stream, f.allocator, &exit_code));
  EXPECT_OK(iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, 0));
  EXPECT_OK(iree_io_stream_read(stream, capacity - 1, text, &length));
  text[length] = 0;
  iree_io_stream_release(stream);
  iree_vm_list_release(list);
  end(&f);
  return exit_code;
}

static void test_results(void** state) {
  char text[512];
  assert_int_equal(judge("4xf32=2,4,6,8", text, sizeof(text)), 0);
  assert_non_null(strstr(text, "[SUCCESS]"));
  assert_int_equal(judge("4xf32=2,4,6,9", text, sizeof(text)), 1);
  assert_non_null(strstr(text, "[FAILED]"));
}

static void test_no_profile(void** state) {
  bool required = true;
  EXPECT_OK(iree_hal_profiling_from_flags_requires_retained_command_buffer_metadata(&required));
  assert_false(required);
  fixture_t f;
  begin(&f);
  iree_hal_profiling_from_flags_t* profiling = (void*)&f;
  EXPECT_OK(iree_hal_begin_profiling_from_flags(f.device, f.allocator, &profiling));
  assert_null(profiling);  // no flag asks for it
  EXPECT_OK(iree_hal_flush_profiling_from_flags(profiling));
  EXPECT_OK(iree_hal_end_profiling_from_flags(profiling));
  end(&f);
}

int main(void) {
  char* flags[] = {"tooling_api_test",
                   "--module=" PROGRAM_PATH,
                   "--device=local-sync",
                   "--input=4xf32=1,2,3,4",
                   "--expected_output=4xf32=2,4,6,8",
                   "--instrument_file=" INSTRUMENT_PATH,
                   NULL};
  char** argv = flags;
  int argc = IREE_ARRAYSIZE(flags) - 1;
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_call),
      cmocka_unit_test(test_transfer),
      cmocka_unit_test(test_compare),
      cmocka_unit_test(test_npy),
      cmocka_unit_test(test_matchers),
      cmocka_unit_test(test_print_and_write),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_modules),
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_instruments),
      cmocka_unit_test(test_matcher_objects),
      cmocka_unit_test(test_results),
      cmocka_unit_test(test_no_profile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
