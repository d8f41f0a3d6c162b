// The code for NVIDIA GPUs on a GPU, where there is one: the scalar suite, cooperation within a workgroup, and every
// matrix instruction against the fragment layouts of dialects/mma.def.
#include "dialects/mma.h"
#include "gpu_kernels.h"
#include "scalar_suite.h"

// CUDA(function, parameters): the part of the driver's interface that the test needs
#define CUDA_FUNCTIONS(CUDA)                                                                                 \
  CUDA(cuInit, (unsigned))                                                                                   \
  CUDA(cuDeviceGet, (int*, int))                                                                             \
  CUDA(cuDeviceGetAttribute, (int*, int, int))                                                               \
  CUDA(cuDevicePrimaryCtxRetain, (void**, int))                                                              \
  CUDA(cuCtxSetCurrent, (void*))                                                                             \
  CUDA(cuModuleLoadData, (void**, const void*))                                                              \
  CUDA(cuModuleUnload, (void*))                                                                              \
  CUDA(cuModuleGetFunction, (void**, void*, const char*))                                                    \
  CUDA(cuMemAllocManaged, (void**, size_t, unsigned))                                                        \
  CUDA(cuLaunchKernel,                                                                                       \
       (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**)) \
  CUDA(cuCtxSynchronize, (void))

#define CUDA(name, parameters) static int(*name) parameters;
CUDA_FUNCTIONS(CUDA)
#undef CUDA

enum { MANAGED_GLOBAL = 1, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

static void check(int result, const char* what) {
  if (result != 0) fail_msg("%s: CUDA error %d", what, result);
}

// The driver and a device's architecture; false where there is none.
static bool open_device(char arch[16]) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return false;
  const struct {
    const char* name;
    void** to;
  } symbols[] = {
#define CUDA(name, parameters) {#name, (void**)&name},
      CUDA_FUNCTIONS(CUDA)
#undef CUDA
  };
  for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); ++i) {
    *symbols[i].to = dlsym(library, symbols[i].name);
    if (!*symbols[i].to) return false;
  }
  int device = 0, major, minor;
  void* context;
  if (cuInit(0) != 0 || cuDeviceGet(&device, 0) != 0) return false;
  check(cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, device), "capability");
  check(cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, device), "capability");
  check(cuDevicePrimaryCtxRetain(&context, device), "context");
  check(cuCtxSetCurrent(context), "context");
  snprintf(arch, 16, "sm_%d%d%s", major, minor, major == 9 ? "a" : "");
  return true;
}

static void* managed(size_t size) {
  void* memory = NULL;
  check(cuMemAllocManaged(&memory, size, MANAGED_GLOBAL), "memory");
  memset(memory, 0, size);
  return memory;
}

static void* load(const harness_t* h) {
  void* module = NULL;
  check(cuModuleLoadData(&module, h->executable.data), "loading the module");
  return module;
}

static void launch(const harness_t* h, void* module, uint32_t i, void** bindings, uint64_t constant, unsigned groups) {
  const target_entry_t* entry = &h->executable.entries[i];
  void* function = NULL;
  check(cuModuleGetFunction(&function, module, entry->name), entry->name);
  uint32_t words[2] = {(uint32_t)constant, (uint32_t)(constant >> 32)};
  void* arguments[8];
  for (uint32_t k = 0; k < entry->binding_count; ++k) arguments[k] = &bindings[k];
  for (uint32_t k = 0; k < 2; ++k) arguments[entry->binding_count + k] = &words[k];
  const uint32_t* size = entry->workgroup_size;
  check(cuLaunchKernel(function, groups, 1, 1, size[0], size[1], size[2], entry->dynamic_memory_bytes, NULL, arguments,
                       NULL),
        "launch");
  check(cuCtxSynchronize(), entry->name);
}

static void run_suite(const char* arch, int64_t lanes, void (*add)(suite_t* s)) {
  suite_t* s = suite_create(lanes, add);
  target_t target;
  harness_resolve(&(target_options_t){.backend = "cuda", .cpu = arch}, &target);
  harness_compile(&s->h, &target, NULL);
  void* module = load(&s->h);
  suite_data_t data;
  for (int k = 0; k < 4; ++k) data.at[k] = managed(8 * SAMPLES);
  for (uint32_t i = 0; i < s->count; ++i) {
    suite_fill(s, &s->cases[i], &data);
    launch(&s->h, module, i, (void**)data.at, SAMPLES, 1);
    suite_check(s, &s->cases[i], &data);
  }
  check(cuModuleUnload(module), "unloading");
  suite_finish(s);
}

static void test_rows(void** state) { run_suite(*state, 1, add_rows); }
static void test_rows_vector(void** state) { run_suite(*state, 4, add_rows); }
static void test_casts(void** state) { run_suite(*state, 1, add_casts); }

//===----------------------------------------------------------------------------------------------------------------===
// Cooperation
//===----------------------------------------------------------------------------------------------------------------===

static void test_cooperation(void** state) {
  harness_t* h = calloc(1, sizeof(*h));
  harness_init(h);
  target_t target;
  harness_resolve(&(target_options_t){.backend = "cuda", .cpu = *state}, &target);
  gpu_add_elementwise(h, &target);
  gpu_add_cooperative(h, &target);
  harness_compile(h, &target, NULL);
  void* module = load(h);
  float *in = managed(4 * 128), *out = managed(4 * 1024);
  for (int i = 0; i < 128; ++i) in[i] = (float)(i % 13);
  launch(h, module, 0, (void*[]){in, out}, 100, 2);
  for (int i = 0; i < 128; ++i) assert_float_equal(out[i], i < 100 ? tanhf(in[i]) : 0, 1e-6);
  memset(out, 0, 4 * 1024);
  launch(h, module, 1, (void*[]){in, out}, 0, 3);
  float want = 0;
  for (int wave = 0; wave < 4; ++wave) want += gpu_cooperative_result(in + 32 * wave, 32);
  assert_float_equal(out[1], 3 * want, 1e-3);
  check(cuModuleUnload(module), "unloading");
  harness_finish(h);
  free(h);
}

//===----------------------------------------------------------------------------------------------------------------===
// Matrix instructions
//===----------------------------------------------------------------------------------------------------------------===

// Small integers, which every format holds and every order of adding sums exactly.
static int matrix_number(int seed, int row, int col) { return (row * 7 + col * 13 + seed) % 5 - 2; }

static void fill_fragments(const ir_type_t* type, mma_layout_fn_t layout, int32_t lanes, int seed, void* out) {
  for (int32_t l = 0; l < 32; ++l) {
    for (int32_t i = 0; i < lanes; ++i) {
      mma_position_t at = layout(l, i);
      void* to = (char*)out + (size_t)(l * lanes + i) * ir_type_bytes(type);
      ir_scalar_store_number(type, matrix_number(seed, at.row, at.col), to);
    }
  }
}

static uint32_t check_matrix(const mma_row_t* row, const ir_type_t* type, const void* result) {
  uint32_t failures = 0;
  for (int32_t l = 0; l < 32; ++l) {
    for (int32_t i = 0; i < row->c_lanes; ++i) {
      mma_position_t at = row->c(l, i);
      int want = matrix_number(3, at.row, at.col);
      for (int k = 0; k < row->k; ++k) want += matrix_number(1, at.row, k) * matrix_number(2, k, at.col);
      const void* from = (const char*)result + (size_t)(l * row->c_lanes + i) * ir_type_bytes(type);
      failures += ir_scalar_load_number(type, from) != want;
    }
  }
  if (failures) print_error("%s: %u of %d elements are wrong\n", row->instruction, failures, row->m * row->n);
  return failures;
}

static void test_matrix(void** state) {
  harness_t* h = calloc(1, sizeof(*h));
  harness_init(h);
  target_t target;
  harness_resolve(&(target_options_t){.backend = "cuda", .cpu = *state}, &target);
  for (int i = 0; i < target.device.mma_count; ++i) gpu_add_matrix(h, &target, &target.device.mma[i]);
  harness_compile(h, &target, NULL);
  void* module = load(h);
  void* data[3] = {managed(65536), managed(65536), managed(65536)};
  uint32_t failures = 0;
  for (int i = 0; i < target.device.mma_count; ++i) {
    const mma_row_t* row = mma_find(target.device.mma[i].instruction);
    const ir_type_t *a_type = gpu_element_type(h->ctx, row->a_type), *c_type = gpu_element_type(h->ctx, row->c_type);
    fill_fragments(a_type, row->a, row->a_lanes, 1, data[0]);
    fill_fragments(a_type, row->b, row->b_lanes, 2, data[1]);
    fill_fragments(c_type, row->c, row->c_lanes, 3, data[2]);
    launch(h, module, (uint32_t)i, data, 0, 1);
    failures += check_matrix(row, c_type, data[2]);
    print_message("%s\n", row->instruction);
  }
  check(cuModuleUnload(module), "unloading");
  harness_finish(h);
  free(h);
  assert_int_equal(failures, 0);
}

int main(void) {
  char arch[16];
  if (!open_device(arch)) {
    printf("no NVIDIA GPU here: nothing to test\n");
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(test_cooperation, arch), cmocka_unit_test_prestate(test_matrix, arch),
      cmocka_unit_test_prestate(test_rows, arch),        cmocka_unit_test_prestate(test_rows_vector, arch),
      cmocka_unit_test_prestate(test_casts, arch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
