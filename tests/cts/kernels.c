// A CPU executable written by hand, built without a C library.
#include "kernels.h"

#include "iree/hal/local/executable_library.h"

#define KERNEL(name)                                                       \
  static int name(const iree_hal_executable_environment_v0_t* environment, \
                  const iree_hal_executable_dispatch_state_v0_t* dispatch, \
                  const iree_hal_executable_workgroup_state_v0_t* group)

static uint32_t linear_group(const iree_hal_executable_dispatch_state_v0_t* dispatch,
                             const iree_hal_executable_workgroup_state_v0_t* group) {
  return (group->workgroup_id_z * dispatch->workgroup_count_y + group->workgroup_id_y) * dispatch->workgroup_count_x +
         group->workgroup_id_x;
}

KERNEL(empty) { return 0; }

KERNEL(scale) {
  const uint32_t* in = dispatch->binding_ptrs[0];
  uint32_t* out = dispatch->binding_ptrs[1];
  uint32_t i = linear_group(dispatch, group);
  if ((i + 1) * 4ull > dispatch->binding_lengths[0] || (i + 1) * 4ull > dispatch->binding_lengths[1]) return 1;
  out[i] = in[i] * dispatch->constants[0] + dispatch->constants[1];
  return 0;
}

KERNEL(ids) {
  uint32_t* out = dispatch->binding_ptrs[0];
  uint32_t count = dispatch->workgroup_count_x * dispatch->workgroup_count_y * dispatch->workgroup_count_z;
  out[linear_group(dispatch, group)] =
      group->workgroup_id_x | group->workgroup_id_y << 8 | (uint32_t)group->workgroup_id_z << 16 | count << 24;
  return 0;
}

KERNEL(accumulate) {
  __atomic_fetch_add((uint32_t*)dispatch->binding_ptrs[0], 1, __ATOMIC_RELAXED);
  return 0;
}

KERNEL(scratch) {
  uint32_t* out = dispatch->binding_ptrs[0];
  volatile uint32_t* memory = group->local_memory;
  if (group->local_memory_size < 2 * 4096) return 1;
  for (uint32_t i = 0; i < 2048; ++i) memory[i] = group->workgroup_id_x + i;
  for (uint32_t i = 0; i < 2048; ++i) {
    if (memory[i] != group->workgroup_id_x + i) return 2;
  }
  out[group->workgroup_id_x] = group->workgroup_id_x;
  return 0;
}

KERNEL(fail) { return linear_group(dispatch, group) == dispatch->constants[0] ? 7 : 0; }

KERNEL(sequential) {
  uint32_t* out = dispatch->binding_ptrs[0];
  out[0] = out[0] * 3 + group->workgroup_id_x;
  return 0;
}

KERNEL(constant) {
  *(uint32_t*)dispatch->binding_ptrs[0] = environment->constants[0];
  return 0;
}

KERNEL(wide) {
  __atomic_fetch_add((uint32_t*)dispatch->binding_ptrs[0], 64, __ATOMIC_RELAXED);
  return 0;
}

KERNEL(store_count) {
  uint32_t* out = dispatch->binding_ptrs[0];
  for (int i = 0; i < 3; ++i) out[i] = dispatch->constants[i];
  return 0;
}

static const iree_hal_executable_dispatch_v0_t functions[] = {
    [CTS_EMPTY] = empty,
    [CTS_SCALE] = scale,
    [CTS_IDS] = ids,
    [CTS_ACCUMULATE] = accumulate,
    [CTS_SCRATCH] = scratch,
    [CTS_FAIL] = fail,
    [CTS_SEQUENTIAL] = sequential,
    [CTS_CONSTANT] = constant,
    [CTS_STORE_COUNT] = store_count,
    [CTS_WIDE] = wide,
};
#define COUNT (sizeof(functions) / sizeof(functions[0]))

static const iree_hal_executable_dispatch_attrs_v0_t attributes[COUNT] = {
    [CTS_SCALE] = {.constant_count = 2, .binding_count = 2, .parameter_count = 4},
    [CTS_IDS] = {.binding_count = 1},
    [CTS_ACCUMULATE] = {.binding_count = 1},
    [CTS_SCRATCH] = {.binding_count = 1, .local_memory_pages = 2},
    [CTS_FAIL] = {.constant_count = 1},
    [CTS_SEQUENTIAL] = {.binding_count = 1, .flags = IREE_HAL_EXECUTABLE_DISPATCH_FLAG_V0_SEQUENTIAL},
    [CTS_CONSTANT] = {.binding_count = 1},
    [CTS_STORE_COUNT] = {.constant_count = 3, .binding_count = 1},
    [CTS_WIDE] = {.binding_count = 1},
};

static const char* const names[COUNT] = {
    [CTS_EMPTY] = "empty",
    [CTS_SCALE] = "scale",
    [CTS_IDS] = "ids",
    [CTS_ACCUMULATE] = "accumulate",
    [CTS_SCRATCH] = "scratch",
    [CTS_FAIL] = "fail",
    [CTS_SEQUENTIAL] = "sequential",
    [CTS_CONSTANT] = "constant",
    [CTS_STORE_COUNT] = "store_count",
    [CTS_WIDE] = "wide",
};

static const iree_hal_executable_dispatch_parameter_v0_t scale_parameters[] = {
    {.type = IREE_HAL_EXECUTABLE_DISPATCH_PARAM_TYPE_V0_CONSTANT, .size = 4, .name = 0, .offset = 0},
    {.type = IREE_HAL_EXECUTABLE_DISPATCH_PARAM_TYPE_V0_CONSTANT, .size = 4, .name = 1, .offset = 4},
    {.type = IREE_HAL_EXECUTABLE_DISPATCH_PARAM_TYPE_V0_BINDING, .name = 2, .offset = 0},
    {.type = IREE_HAL_EXECUTABLE_DISPATCH_PARAM_TYPE_V0_BINDING, .name = 3, .offset = 1},
};
static const iree_hal_executable_dispatch_parameter_v0_t* parameters[COUNT] = {[CTS_SCALE] = scale_parameters};
static const char* const parameter_names[] = {"factor", "offset", "in", "out"};

static const char* const imports[] = {"?cts_optional"};

static const iree_hal_executable_library_header_t header = {
    .version = IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST,
    .name = "cts_kernels",
};
static const iree_hal_executable_library_v0_t library = {
    .header = &header,
    .imports = {1, imports},
    .exports = {.count = COUNT,
                .ptrs = functions,
                .attrs = attributes,
                .params = parameters,
                .names = names,
                .parameter_names = parameter_names},
    .constants = {1},
};

__attribute__((visibility("default"))) const iree_hal_executable_library_header_t** iree_hal_executable_library_query(
    iree_hal_executable_library_version_t max_version, const iree_hal_executable_environment_v0_t* environment) {
  if (max_version < IREE_HAL_EXECUTABLE_LIBRARY_VERSION_0_6) return (void*)0;
  return (const iree_hal_executable_library_header_t**)&library;
}
