// What the tests that load code objects share: the files that the build made by clang, their symbols.
#ifndef IREE_C_TESTS_SOFTGPU_HSA_HSA_CODE_H_
#define IREE_C_TESTS_SOFTGPU_HSA_HSA_CODE_H_

#include <stdio.h>

#include "hsa_test.h"

typedef struct test_file_t {
  uint8_t* data;
  size_t size;
} test_file_t;

// Skips the test where clang was not there to make the file.
static inline test_file_t test_read_file(const char* name) {
  char path[4096];
  test_file_t file = {0};
  snprintf(path, sizeof(path), "%s/%s.hsaco", HSA_TEST_FOLDER, name);
  FILE* stream = fopen(path, "rb");
  if (!stream) skip();
  fseek(stream, 0, SEEK_END);
  file.size = (size_t)ftell(stream);
  file.data = malloc(file.size);
  rewind(stream);
  assert_int_equal(fread(file.data, 1, file.size, stream), file.size);
  fclose(stream);
  return file;
}

static inline hsa_executable_t test_executable(void) {
  hsa_executable_t executable;
  assert_ok(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
  return executable;
}

static inline hsa_status_t test_load(hsa_executable_t executable, uint32_t gpu, const uint8_t* data, size_t size) {
  hsa_code_object_reader_t reader;
  hsa_status_t status = hsa_code_object_reader_create_from_memory(data, size, &reader);
  if (status != HSA_STATUS_SUCCESS) return status;
  status = hsa_executable_load_agent_code_object(executable, test_gpus[gpu], reader, NULL, NULL);
  assert_ok(hsa_code_object_reader_destroy(reader));
  return status;
}

static inline hsa_executable_t test_load_file(const char* name, uint32_t gpu) {
  test_file_t file = test_read_file(name);
  hsa_executable_t executable = test_executable();
  assert_ok(test_load(executable, gpu, file.data, file.size));
  free(file.data);
  return executable;
}

static inline hsa_executable_symbol_t test_symbol(hsa_executable_t executable, const char* name, uint32_t gpu) {
  hsa_executable_symbol_t symbol = {0};
  assert_ok(hsa_executable_get_symbol_by_name(executable, name, &test_gpus[gpu], &symbol));
  return symbol;
}

static inline uint64_t test_symbol_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute) {
  uint64_t value = 0;
  assert_ok(hsa_executable_symbol_get_info(symbol, attribute, &value));
  return value;
}

// A dispatch of `groups` workgroups of `items`, without arguments or completion signal.
static inline hsa_kernel_dispatch_packet_t test_dispatch(hsa_executable_symbol_t kernel, uint32_t groups,
                                                         uint32_t items) {
  return (hsa_kernel_dispatch_packet_t){
      .workgroup_size_x = (uint16_t)items,
      .workgroup_size_y = 1,
      .workgroup_size_z = 1,
      .grid_size_x = groups * items,
      .grid_size_y = 1,
      .grid_size_z = 1,
      .private_segment_size =
          (uint32_t)test_symbol_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE),
      .group_segment_size = (uint32_t)test_symbol_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE),
      .kernel_object = test_symbol_info(kernel, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT)};
}

#endif  // IREE_C_TESTS_SOFTGPU_HSA_HSA_CODE_H_
