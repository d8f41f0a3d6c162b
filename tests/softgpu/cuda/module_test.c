// Modules, libraries, containers, functions and their occupancy.
#include "cuda_test.h"

static void functions_are_found(void** state) {
  module_t* module;
  function_t *function, *all[8];
  unsigned count;
  int value;
  size_t offset, size;
  const char* name;
  OK(cuModuleLoadData(&module, test_ptx));
  OK(cuModuleGetFunctionCount(&count, module));
  assert_int_equal(count, 4);
  OK(cuModuleEnumerateFunctions(all, count, module));
  OK(cuFuncGetName(&name, all[3]));
  assert_string_equal(name, "scale");
  OK(cuModuleGetFunction(&function, module, "scale"));
  assert_ptr_equal(function, all[3]);
  FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "scal"));
  OK(cuFuncGetParamInfo(all[3], 2, &offset, &size));
  assert_int_equal(offset, 12);
  assert_int_equal(size, 4);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(all[3], 3, &offset, &size));
  OK(cuFuncGetAttribute(&value, 0, all[3]));
  assert_int_equal(value, 1024);
  OK(cuFuncSetAttribute(all[3], 8, 100 << 10));
  OK(cuFuncGetAttribute(&value, 8, all[3]));
  assert_int_equal(value, 100 << 10);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(all[3], 8, 1 << 20));
  OK(cuModuleUnload(module));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuFuncGetName(&name, all[3]));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
}

static void variables(void** state) {
  module_t* module;
  uint64_t address;
  size_t size;
  OK(cuModuleLoadData(&module, test_ptx));
  OK(cuModuleGetGlobal_v2(&address, &size, module, "table"));
  assert_int_equal(size, 16);
  assert_int_equal(test_word(address + 8), 3);
  OK(cuMemsetD32_v2(address, 7, 4));
  assert_int_equal(test_word(address), 7);
  FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&address, &size, module, "no_table"));
}

static void libraries_need_no_context(void** state) {
  library_t* library;
  kernel_t* kernel;
  context_t* other;
  uint64_t words;
  OK(cuCtxSetCurrent(NULL));
  OK(cuLibraryLoadData(&library, test_ptx, NULL, NULL, 0, NULL, NULL, 0));
  OK(cuLibraryGetKernel(&kernel, library, "increment"));
  OK(cuDevicePrimaryCtxRetain(&other, 1));
  for (int i = 0; i < 2; ++i) {
    OK(cuCtxSetCurrent(i ? other : test_context));
    words = test_words(1, 5);
    void* parameters[] = {&words};
    // A kernel is taken where a function is.
    OK(test_launch((function_t*)kernel, NULL, parameters));
    OK(cuCtxSynchronize());
    assert_int_equal(test_word(words), 6);
  }
  OK(cuLibraryUnload(library));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernel(&kernel, library, "increment"));
  OK(cuDevicePrimaryCtxRelease_v2(1));
}

// One piece of PTX needs no linker.
static void links(void** state) {
  link_t* link;
  module_t* module;
  unsigned count;
  void* image;
  size_t size;
  OK(cuLinkCreate_v2(0, NULL, NULL, &link));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(link, &image, &size));
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuLinkAddData_v2(link, 3, (void*)test_ptx, sizeof(test_ptx), "", 0, NULL, NULL));
  OK(cuLinkAddData_v2(link, 1, (void*)test_ptx, strlen(test_ptx), "", 0, NULL, NULL));
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuLinkAddData_v2(link, 1, (void*)test_ptx, sizeof(test_ptx), "", 0, NULL, NULL));
  OK(cuLinkComplete(link, &image, &size));
  OK(cuModuleLoadData(&module, image));
  OK(cuLinkDestroy(link));
  OK(cuModuleGetFunctionCount(&count, module));
  assert_int_equal(count, 4);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(link));
}

static void says_why_not(void** state) {
  module_t* module;
  char log[512] = "";
  int options[] = {5, 6};
  void* values[] = {log, (void*)sizeof(log)};
  const char* bad = ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k( { no.such.thing; }\n";
  FAILS(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module, bad, 2, options, values));
  assert_non_null(strstr(log, "line 4"));
  assert_int_equal((size_t)values[1], strlen(log));
  values[1] = (void*)sizeof(log);
  FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadDataEx(&module, "\177ELF\2\1\1", 2, options, values));
  assert_non_null(strstr(log, "PTX would do"));
  FAILS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, ""));
  FAILS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nonexistent"));
  options[0] = 999;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, test_ptx, 2, options, values));
}

typedef struct container_t {
  uint32_t magic;
  uint16_t version, header_size;
  uint64_t size;
  struct {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t compressed, options;
    uint16_t minor, major;
    uint32_t architecture, name_offset, name_size;
    uint64_t flags, reserved, full_size;
  } entry;
  char text[4096];
} container_t;

static void containers(void** state) {
  module_t* module;
  char log[512] = "";
  int options[] = {5, 6};
  void* values[] = {log, (void*)sizeof(log)};
  container_t* c = calloc(1, sizeof(*c));
  *c = (container_t){.magic = 0xba55ed50, .version = 1, .header_size = 16, .size = sizeof(c->entry) + sizeof(c->text)};
  c->entry.kind = 1;
  c->entry.header_size = sizeof(c->entry);
  c->entry.size = sizeof(c->text);
  c->entry.architecture = 60;
  memcpy(c->text, test_ptx, sizeof(test_ptx));
  OK(cuModuleLoadFatBinary(&module, c));
  struct {
    uint32_t magic, version;
    const void* container;
    void* file;
  } wrapper = {0x466243b1, 1, c, NULL};
  OK(cuModuleLoadData(&module, &wrapper));
  c->entry.architecture = 100;
  FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, c));
  c->entry.architecture = 60;
  c->entry.compressed = 10;
  FAILS(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadDataEx(&module, c, 2, options, values));
  assert_non_null(strstr(log, "compressed"));
  c->entry.compressed = 0;
  c->entry.size = UINT64_MAX - 8;
  FAILS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, c));
  free(c);
}

static size_t shared_of(int threads) { return (size_t)threads * 64; }

static void occupancy(void** state) {
  function_t* scale = test_function("scale");
  int blocks = 0, grid = 0, block = 0;
  size_t shared;
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 1024, 0));
  assert_int_equal(blocks, 2);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 32, 100 << 10));
  assert_int_equal(blocks, 2);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, shared_of, 0, 0));
  assert_true(block > 0 && grid > 0);
  OK(cuOccupancyAvailableDynamicSMemPerBlock(&shared, scale, 2, 32));
  assert_true(shared >= 100 << 10);
}

int main(void) {
  test_environment();
  const struct CMUnitTest tests[] = {
      TEST(functions_are_found), TEST(variables), TEST(libraries_need_no_context), TEST(links), TEST(says_why_not),
      TEST(containers),          TEST(occupancy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
