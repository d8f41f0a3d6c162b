// Code objects that clang made of loader.cl: what is known of them once they are loaded, that they run, which GPUs
// refuse them, and that damaged ones get a status.
#include <fcntl.h>
#include <hsa/hsa_ven_amd_loader.h>

#include "hsa_code.h"
#include "softgpu/shared.h"

static void test_symbols(void** state) {
  hsa_executable_t executable = test_load_file("gfx1100", 0);
  hsa_executable_symbol_t kernel = test_symbol(executable, "gather.kd", 0);
  char name[64] = "";
  assert_int_equal(test_symbol_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_KERNEL);
  assert_int_equal(test_symbol_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH), 9);
  assert_ok(hsa_executable_symbol_get_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name));
  assert_string_equal(name, "gather.kd");
  assert_int_equal(test_symbol_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE), 20);
  assert_int_equal(test_symbol_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE), 256);
  assert_true(test_symbol_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE) >= 32);
  hsa_executable_symbol_t counter = test_symbol(executable, "counter", 0);
  hsa_executable_symbol_t pointer = test_symbol(executable, "pointer", 0);
  assert_int_equal(test_symbol_info(counter, HSA_EXECUTABLE_SYMBOL_INFO_TYPE), HSA_SYMBOL_KIND_VARIABLE);
  assert_int_equal(test_symbol_info(counter, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE), 4);
  uint64_t at = test_symbol_info(counter, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS);
  assert_int_equal(*(int*)at, 41);
  assert_int_equal(*(uint64_t*)test_symbol_info(pointer, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS), at);
  hsa_executable_symbol_t none;
  assert_int_equal(hsa_executable_get_symbol_by_name(executable, "gather", &test_gpus[0], &none),
                   HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  assert_int_equal(hsa_executable_get_symbol_by_name(executable, "gather.kd", &test_gpus[1], &none),
                   HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
  assert_ok(hsa_executable_destroy(executable));
  assert_int_equal(hsa_executable_destroy(executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
}

typedef struct arguments_t {
  int* out;
  const int* in;
  int n;
} arguments_t;

static void run(hsa_executable_t executable, uint32_t gpu) {
  int out[64] = {0}, in[8] = {10, 11, 12, 13, 14, 15, 16, 17};
  arguments_t arguments = {out, in, 3};
  void* at;
  assert_ok(hsa_amd_memory_lock(out, sizeof(out), NULL, 0, &at));
  assert_ok(hsa_amd_memory_lock(in, sizeof(in), NULL, 0, &at));
  assert_ok(hsa_amd_memory_lock(&arguments, sizeof(arguments), NULL, 0, &at));
  hsa_executable_symbol_t kernel = test_symbol(executable, "gather.kd", gpu);
  hsa_signal_t done = test_signal(1);
  hsa_kernel_dispatch_packet_t packet = test_dispatch(kernel, 1, 64);
  packet.kernarg_address = &arguments;
  packet.completion_signal = done;
  hsa_queue_t* queue = test_queue(gpu, 64, NULL, NULL);
  test_submit(queue, &packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, 1);
  test_wait_zero(done);
  for (int i = 0; i < 64; ++i) assert_int_equal(out[i], in[(3 + 63 - i) & 7] + 41);
  assert_ok(hsa_queue_destroy(queue));
  assert_ok(hsa_signal_destroy(done));
  assert_ok(hsa_amd_memory_unlock(out));
  assert_ok(hsa_amd_memory_unlock(in));
  assert_ok(hsa_amd_memory_unlock(&arguments));
}

static void test_runs(void** state) {
  static const struct {
    const char* name;
    uint32_t gpu;
  } files[] = {{"gfx1100", 0}, {"gfx11-generic", 0}, {"gfx1100-v4", 0}, {"gfx942", 1}, {"gfx9-4-generic", 1}};
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
    hsa_executable_t executable = test_load_file(files[i].name, files[i].gpu);
    assert_ok(hsa_executable_freeze(executable, NULL));
    run(executable, files[i].gpu);
    assert_ok(hsa_executable_destroy(executable));
  }
}

static void test_wrong_target(void** state) {
  static const struct {
    const char* name;
    uint32_t gpu;
  } files[] = {{"gfx1100", 1}, {"gfx942", 0}, {"gfx90a", 1}, {"gfx11-generic", 1}};
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
    test_file_t file = test_read_file(files[i].name);
    hsa_executable_t executable = test_executable();
    assert_int_equal(test_load(executable, files[i].gpu, file.data, file.size),
                     HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
    assert_ok(hsa_executable_destroy(executable));
    free(file.data);
  }
}

static void test_states(void** state) {
  hsa_executable_t executable = test_load_file("gfx1100", 0);
  test_file_t file = test_read_file("gfx1100");
  int outside = 0;
  assert_ok(hsa_executable_global_variable_define(executable, "outside", &outside));
  assert_int_equal(hsa_executable_global_variable_define(executable, "outside", &outside),
                   HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
  assert_int_equal(hsa_executable_agent_global_variable_define(executable, test_gpus[0], "counter", &outside),
                   HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
  assert_ok(hsa_executable_freeze(executable, NULL));
  assert_int_equal(hsa_executable_freeze(executable, NULL), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  assert_int_equal(test_load(executable, 0, file.data, file.size), HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
  assert_int_equal(test_load((hsa_executable_t){42}, 0, file.data, file.size), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
  uint32_t result = 1;
  assert_ok(hsa_executable_validate(executable, &result));
  assert_int_equal(result, 0);
  assert_ok(hsa_executable_destroy(executable));
  free(file.data);
}

static hsa_status_t count_loaded(hsa_executable_t executable, hsa_loaded_code_object_t loaded, void* data) {
  ++*(int*)data;
  return HSA_STATUS_SUCCESS;
}

static void test_extension(void** state) {
  hsa_ven_amd_loader_1_03_pfn_t loader;
  assert_ok(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader), &loader));
  hsa_executable_t executable = test_load_file("gfx1100", 0), found = {0};
  const void* object =
      (const void*)test_symbol_info(test_symbol(executable, "gather.kd", 0), HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
  assert_ok(loader.hsa_ven_amd_loader_query_executable(object, &found));
  assert_int_equal(found.handle, executable.handle);
  const void* host = NULL;
  assert_ok(loader.hsa_ven_amd_loader_query_host_address(object, &host));
  assert_ptr_equal(host, object);
  int count = 0;
  assert_ok(loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, count_loaded, &count));
  assert_int_equal(count, 1);
  hsa_ven_amd_loader_segment_descriptor_t segments[4];
  size_t size = 4;
  assert_ok(loader.hsa_ven_amd_loader_query_segment_descriptors(segments, &size));
  assert_int_equal(size, 1);
  assert_int_equal(segments[0].agent.handle, test_gpus[0].handle);
  assert_true((const char*)object - (const char*)segments[0].segment_base < (ptrdiff_t)segments[0].segment_size);
  assert_ok(hsa_executable_destroy(executable));
  assert_int_equal(loader.hsa_ven_amd_loader_query_executable(object, &found), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

// What is not destroyed goes when the runtime is shut down.
static void test_left_over(void** state) {
  hsa_executable_t executable = test_load_file("gfx1100", 0);
  assert_ok(hsa_executable_freeze(executable, NULL));
  assert_int_equal(test_close(state), 0);
  assert_int_equal(test_open(state), 0);
  assert_int_equal(hsa_executable_destroy(executable), HSA_STATUS_ERROR_INVALID_EXECUTABLE);
}

// HSA 1.0's way.
static void test_code_object(void** state) {
  test_file_t file = test_read_file("gfx1100");
  hsa_code_object_t object;
  hsa_code_symbol_t kernel;
  hsa_isa_t isa, expected;
  uint32_t size = 0;
  assert_int_equal(hsa_code_object_deserialize(file.data, 100, NULL, &object), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  assert_ok(hsa_code_object_deserialize(file.data, file.size, NULL, &object));
  free(file.data);
  assert_ok(hsa_code_object_get_symbol(object, "gather.kd", &kernel));
  assert_ok(hsa_code_symbol_get_info(kernel, HSA_CODE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &size));
  assert_int_equal(size, 20);
  assert_ok(hsa_code_object_get_info(object, HSA_CODE_OBJECT_INFO_ISA, &isa));
  assert_ok(hsa_agent_get_info(test_gpus[0], HSA_AGENT_INFO_ISA, &expected));
  assert_int_equal(isa.handle, expected.handle);
  hsa_executable_t executable = test_executable();
  assert_ok(hsa_executable_load_code_object(executable, test_gpus[0], object, NULL));
  assert_ok(hsa_code_object_destroy(object));
  assert_int_equal(hsa_code_object_destroy(object), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  run(executable, 0);
  assert_ok(hsa_executable_destroy(executable));
}

// Files cut off anywhere are refused; with a damaged byte they get some status.
static void test_hostile(void** state) {
  test_file_t file = test_read_file("gfx1100");
  int errors = dup(2), nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, 2);
  hsa_executable_t executable = test_executable();
  uint32_t accepted = 0;
  for (size_t size = 0; size < file.size; size += 61) accepted += test_load(executable, 0, file.data, size) == 0;
  assert_ok(hsa_executable_destroy(executable));
  // Mapping memory is slow under the thread sanitizer.
  for (size_t at = 0; at < file.size; at += SHARED_IS_WATCHED ? 61 : 3) {
    file.data[at] ^= 0xff;
    executable = test_executable();
    test_load(executable, 0, file.data, file.size);
    assert_ok(hsa_executable_destroy(executable));
    file.data[at] ^= 0xff;
  }
  dup2(errors, 2);
  close(errors);
  close(nowhere);
  free(file.data);
  assert_int_equal(accepted, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_symbols),   cmocka_unit_test(test_runs),      cmocka_unit_test(test_wrong_target),
      cmocka_unit_test(test_states),    cmocka_unit_test(test_extension), cmocka_unit_test(test_code_object),
      cmocka_unit_test(test_left_over), cmocka_unit_test(test_hostile),
  };
  return cmocka_run_group_tests(tests, test_open, test_close);
}
