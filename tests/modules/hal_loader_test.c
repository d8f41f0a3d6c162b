// The module `hal_loader`: each function by its calling convention, as the VM calls it, on a library of this program.
#include <stdlib.h>

#include "../module/module_test.h"
// After cmocka.
#include "iree/hal/local/executable_library.h"
#include "iree/hal/local/loaders/static_library_loader.h"
#include "iree/modules/hal/loader/module.h"
#include "iree/vm/api.h"

//===----------------------------------------------------------------------------------------------------------------===
// An executable
//===----------------------------------------------------------------------------------------------------------------===

// Adds constants[0] and the library's own constant to an element of each workgroup; of workgroup 9 it fails.
static int add(const iree_hal_executable_environment_v0_t* environment,
               const iree_hal_executable_dispatch_state_v0_t* dispatch,
               const iree_hal_executable_workgroup_state_v0_t* workgroup) {
  uint32_t at = workgroup->workgroup_id_x + workgroup->workgroup_id_y * dispatch->workgroup_count_x;
  if (at == 9 || workgroup->local_memory_size < 8192 || dispatch->binding_lengths[0] <= 4 * at) return 3;
  memset(workgroup->local_memory, 1, 8192);
  ((uint32_t*)dispatch->binding_ptrs[0])[at] += dispatch->constants[0] + environment->constants[0];
  return 0;
}

static const iree_hal_executable_dispatch_v0_t entries[] = {add};
static const iree_hal_executable_dispatch_attrs_v0_t attributes[] = {
    {.local_memory_pages = 2, .constant_count = 1, .binding_count = 1}};
static const char* const names[] = {"add"};
static const iree_hal_executable_library_header_t header = {.version = IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST,
                                                            .name = "adder"};
static const iree_hal_executable_library_v0_t library = {
    .header = &header,
    .exports = {.count = 1, .ptrs = entries, .attrs = attributes, .names = names},
    .constants = {.count = 1},
};
static const iree_hal_executable_library_header_t** query(iree_hal_executable_library_version_t max_version,
                                                          const iree_hal_executable_environment_v0_t* environment) {
  return (const iree_hal_executable_library_header_t**)(uintptr_t)&library.header;
}

//===----------------------------------------------------------------------------------------------------------------===
// Fixture
//===----------------------------------------------------------------------------------------------------------------===

typedef struct fixture_t {
  iree_vm_instance_t* instance;
  iree_vm_module_t* module;
  iree_vm_context_t* context;
} fixture_t;

static void begin(fixture_t* f) {
  iree_allocator_t system = iree_allocator_system();
  iree_hal_executable_loader_t* loader = NULL;
  const iree_hal_executable_library_query_fn_t queries[] = {query};
  EXPECT_OK(iree_vm_instance_create(IREE_VM_TYPE_CAPACITY_DEFAULT, system, &f->instance));
  EXPECT_OK(iree_hal_module_register_loader_types(f->instance));
  EXPECT_OK(
      iree_hal_static_library_loader_create(1, queries, iree_hal_executable_import_provider_null(), system, &loader));
  EXPECT_STATUS(iree_hal_loader_module_create(f->instance, 1, 1, &loader, system, &f->module), INVALID_ARGUMENT,
                "no flag");
  EXPECT_OK(
      iree_hal_loader_module_create(f->instance, IREE_HAL_LOADER_MODULE_FLAG_NONE, 1, &loader, system, &f->module));
  iree_hal_executable_loader_release(loader);
  EXPECT_OK(
      iree_vm_context_create_with_modules(f->instance, IREE_VM_CONTEXT_FLAG_NONE, 1, &f->module, system, &f->context));
}

static void end(fixture_t* f) {
  iree_vm_context_release(f->context);
  iree_vm_module_release(f->module);
  iree_vm_instance_release(f->instance);
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

static iree_vm_ref_t bytes_of(const void* data, size_t size) {
  iree_vm_buffer_t* buffer = NULL;
  EXPECT_OK(iree_vm_buffer_create(IREE_VM_BUFFER_ACCESS_MUTABLE | IREE_VM_BUFFER_ACCESS_ORIGIN_HOST, size, 64,
                                  iree_allocator_system(), &buffer));
  memcpy(iree_vm_buffer_data(buffer), data, size);
  return iree_vm_buffer_move_ref(buffer);
}
static iree_vm_ref_t text_of(const char* text) { return bytes_of(text, strlen(text)); }

typedef struct load_t {
  iree_vm_ref_t format, data, constants;
} load_t;

static void release_load(load_t* load) {
  iree_vm_ref_release(&load->format);
  iree_vm_ref_release(&load->data);
  iree_vm_ref_release(&load->constants);
}

static iree_status_t load(fixture_t* fixture, const char* format, size_t constant_bytes, iree_vm_ref_t* out) {
  fixture_t f = *fixture;
  uint32_t words[2] = {100, 0};
  load_t arguments = {text_of(format), text_of("adder"), bytes_of(words, constant_bytes)};
  iree_status_t status = CALL("executable.load", arguments, *out);
  release_load(&arguments);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Tests
//===----------------------------------------------------------------------------------------------------------------===

static void test_load(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_ref_t executable = {0}, formats[] = {text_of("static"), text_of("other")};
  for (int i = 0; i < 2; ++i) {
    int32_t supported = -1;
    EXPECT_OK(CALL("executable.query_support", formats[i], supported));
    assert_int_equal(supported, i == 0);
    iree_vm_ref_release(&formats[i]);
  }
  EXPECT_STATUS(load(&f, "other", 4, &executable), NOT_FOUND, "no loader takes executables of format 'other'");
  EXPECT_STATUS(load(&f, "static", 3, &executable), INVALID_ARGUMENT, "words of 32 bits");
  EXPECT_STATUS(load(&f, "static", 0, &executable), FAILED_PRECONDITION, "");
  EXPECT_OK(load(&f, "static", 4, &executable));
  struct {
    iree_vm_ref_t executable, name;
  } lookup = {executable, text_of("add")};
  int64_t function = -1;
  EXPECT_OK(CALL("executable.lookup.function", lookup, function));
  assert_int_equal(function, 0);
  iree_vm_ref_release(&lookup.name);
  lookup.name = text_of("subtract");
  EXPECT_STATUS(CALL("executable.lookup.function", lookup, function), NOT_FOUND, "subtract");
  iree_vm_ref_release(&lookup.name);
  iree_vm_ref_release(&executable);
  end(&f);
}

// rIiiiCiDCrIID with one constant and one binding.
typedef struct dispatch_t {
  iree_vm_ref_t executable;
  int64_t function;
  int32_t x, y, z, constant_count, constant, binding_count;
  iree_vm_ref_t buffer;
  int64_t offset, length;
} dispatch_t;

static iree_status_t dispatch(fixture_t* f, const dispatch_t* arguments, size_t size) {
  dispatch_t copy = *arguments;
  return call(f, "executable.dispatch", &copy, size, NULL, 0);
}
#define DISPATCH(...) dispatch(&f, &(dispatch_t){executable, __VA_ARGS__}, sizeof(dispatch_t))

static void test_dispatch(void** state) {
  fixture_t f;
  begin(&f);
  iree_vm_ref_t executable = {0};
  uint32_t zeros[12] = {0};
  EXPECT_OK(load(&f, "static", 4, &executable));
  iree_vm_ref_t buffer = bytes_of(zeros, sizeof(zeros));
  const uint32_t* numbers = (const uint32_t*)iree_vm_buffer_data(iree_vm_buffer_deref(buffer));
  EXPECT_OK(DISPATCH(0, 2, 3, 1, 1, 5, 1, buffer, 4, 32));
  for (int i = 0; i < 12; ++i) assert_int_equal(numbers[i], i >= 1 && i <= 6 ? 105 : 0);
  EXPECT_OK(DISPATCH(0, 0, 3, 1, 1, 5, 1, buffer, 0, -1));  // nothing
  EXPECT_OK(DISPATCH(0, 1, 1, 1, 1, 1, 1, buffer, 44, -1));
  assert_int_equal(numbers[0], 0);
  assert_int_equal(numbers[11], 101);
  EXPECT_STATUS(DISPATCH(0, 10, 1, 1, 1, 5, 1, buffer, 0, 48), INTERNAL, "ended with 3");
  EXPECT_STATUS(DISPATCH(1, 1, 1, 1, 1, 5, 1, buffer, 0, 48), NOT_FOUND, "no function 1");
  EXPECT_STATUS(DISPATCH(0, 1, -1, 1, 1, 5, 1, buffer, 0, 48), INVALID_ARGUMENT, "1x-1x1 workgroups");
  EXPECT_STATUS(DISPATCH(0, 1, 1, 65536, 1, 5, 1, buffer, 0, 48), INVALID_ARGUMENT, "workgroups");
  EXPECT_STATUS(DISPATCH(0, 1, 1, 1, 1, 5, 1, buffer, 8, 48), OUT_OF_RANGE, "48 bytes at 8 of a buffer of 48");
  EXPECT_STATUS(DISPATCH(0, 1, 1, 1, 1, 5, 1, buffer, -8, 4), OUT_OF_RANGE, "of a buffer of 48");
  EXPECT_STATUS(DISPATCH(0, 1, 1, 1, 1, 5, 2, buffer, 0, 48), INVALID_ARGUMENT, "do not fit");
  EXPECT_STATUS(DISPATCH(0, 1, 1, 1, -1, 5, 1, buffer, 0, 48), INVALID_ARGUMENT, "do not fit");
  EXPECT_STATUS(DISPATCH(0, 1, 1, 1, INT32_MAX, 5, 1, buffer, 0, 48), INVALID_ARGUMENT, "do not fit");
  EXPECT_STATUS(DISPATCH(0, 1, 1, 1, 1, 5, 1, {0}, 0, 48), INVALID_ARGUMENT, "binding 0");
  dispatch_t none = {executable, 0, 1, 1, 1, 1, 5, 0};
  EXPECT_STATUS(dispatch(&f, &none, offsetof(dispatch_t, buffer)), INVALID_ARGUMENT, "1 bindings, and 0 are passed");
  none.executable = buffer;
  EXPECT_STATUS(dispatch(&f, &none, offsetof(dispatch_t, buffer)), INVALID_ARGUMENT, "");
  iree_vm_ref_release(&buffer);
  iree_vm_ref_release(&executable);
  end(&f);
}

static void test_device(void** state) {
  fixture_t f;
  begin(&f);
  for (int32_t i = 0; i < 2; ++i) {
    iree_vm_ref_t device = {0};
    EXPECT_OK(CALL("devices.get", i, device));
    assert_int_equal(iree_hal_device_isa(device), i == 0);
    iree_vm_ref_release(&device);
  }
  int32_t count = 0;
  EXPECT_OK(call(&f, "devices.count", NULL, 0, &count, sizeof(count)));
  assert_int_equal(count, 1);
  end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_load),
      cmocka_unit_test(test_dispatch),
      cmocka_unit_test(test_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
