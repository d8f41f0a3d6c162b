// Entry points for the tests, without a C library.

#include "iree/hal/local/executable_library.h"

typedef const iree_hal_executable_environment_v0_t environment_t;
typedef const iree_hal_executable_dispatch_state_v0_t dispatch_t;
typedef const iree_hal_executable_workgroup_state_v0_t workgroup_t;

// out[i] = a[i] * b[i], constants[0] elements a workgroup.
static int mul_f32(environment_t* environment, dispatch_t* dispatch, workgroup_t* workgroup) {
  const float *a = dispatch->binding_ptrs[0], *b = dispatch->binding_ptrs[1];
  float* out = dispatch->binding_ptrs[2];
  uint32_t count = dispatch->constants[0], first = workgroup->workgroup_id_x * count;
  for (uint32_t i = first; i < first + count; ++i) out[i] = a[i] * b[i];
  return 0;
}

// out[i] = |a[i]|
static int abs_f32(environment_t* environment, dispatch_t* dispatch, workgroup_t* workgroup) {
  const float* a = dispatch->binding_ptrs[0];
  float* out = dispatch->binding_ptrs[1];
  uint32_t i = workgroup->workgroup_id_x;
  out[i] = a[i] < 0 ? -a[i] : a[i];
  return 0;
}

// out[x] = sum over y < constants[0] of a[y * columns + x]; columns is the number of workgroups.
static int sum_rows_i32(environment_t* environment, dispatch_t* dispatch, workgroup_t* workgroup) {
  const int32_t* a = dispatch->binding_ptrs[0];
  int32_t *out = dispatch->binding_ptrs[1], sum = 0;
  uint32_t x = workgroup->workgroup_id_x, columns = dispatch->workgroup_count_x;
  for (uint32_t y = 0; y < dispatch->constants[0]; ++y) sum += a[y * columns + x];
  out[x] = sum;
  return 0;
}

// out[x] = a[x] + constants[0]
static int add_i32(environment_t* environment, dispatch_t* dispatch, workgroup_t* workgroup) {
  const int32_t* a = dispatch->binding_ptrs[0];
  int32_t* out = dispatch->binding_ptrs[1];
  out[workgroup->workgroup_id_x] = a[workgroup->workgroup_id_x] + (int32_t)dispatch->constants[0];
  return 0;
}

// out[x] = a[x] + b[x]
static int add2_i32(environment_t* environment, dispatch_t* dispatch, workgroup_t* workgroup) {
  const int32_t *a = dispatch->binding_ptrs[0], *b = dispatch->binding_ptrs[1];
  int32_t* out = dispatch->binding_ptrs[2];
  uint32_t x = workgroup->workgroup_id_x;
  out[x] = a[x] + b[x];
  return 0;
}

static int fail_always(environment_t* environment, dispatch_t* dispatch, workgroup_t* workgroup) { return 5; }

// POINT(function, bindings, constants): in the order of device_fixture.h
#define POINTS(POINT)       \
  POINT(mul_f32, 3, 1)      \
  POINT(abs_f32, 2, 0)      \
  POINT(sum_rows_i32, 2, 1) \
  POINT(add_i32, 2, 1)      \
  POINT(add2_i32, 3, 0)     \
  POINT(fail_always, 0, 0)

static const iree_hal_executable_dispatch_v0_t functions[] = {
#define POINT(function, bindings, constants) function,
    POINTS(POINT)
#undef POINT
};
static const iree_hal_executable_dispatch_attrs_v0_t attrs[] = {
#define POINT(function, bindings, constants) {.constant_count = constants, .binding_count = bindings},
    POINTS(POINT)
#undef POINT
};
static const char* const names[] = {
#define POINT(function, bindings, constants) #function,
    POINTS(POINT)
#undef POINT
};

static const iree_hal_executable_library_header_t header = {IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST, "vm_kernels",
                                                            IREE_HAL_EXECUTABLE_LIBRARY_FEATURE_NONE,
                                                            IREE_HAL_EXECUTABLE_LIBRARY_SANITIZER_NONE};
static const iree_hal_executable_library_v0_t library = {
    .header = &header,
    .exports = {.count = sizeof(functions) / sizeof(functions[0]), .ptrs = functions, .attrs = attrs, .names = names}};

__attribute__((visibility("default"))) const iree_hal_executable_library_header_t** iree_hal_executable_library_query(
    iree_hal_executable_library_version_t max_version, environment_t* environment) {
  return max_version >= IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST
             ? (const iree_hal_executable_library_header_t**)(uintptr_t)&library.header
             : 0;
}
