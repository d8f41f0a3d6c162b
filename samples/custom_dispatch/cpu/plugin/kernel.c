// An executable of local devices by hand, as a shared library without a C library: `multiply` of two tensors, a row a
// workgroup. What it does with a row it does not know itself: that is an import.
#include "iree/hal/local/executable_library.h"
#include "row.h"

enum { IMPORT_MULTIPLY_ROW };
static const char* const imports[] = {"multiply_row"};

// Bindings: x, y, result; constant: elements of a row.
static int multiply(const iree_hal_executable_environment_v0_t* environment,
                    const iree_hal_executable_dispatch_state_v0_t* dispatch,
                    const iree_hal_executable_workgroup_state_v0_t* workgroup) {
  uint32_t count = dispatch->constants[0], first = workgroup->workgroup_id_x * count;
  for (int i = 0; i < 3; ++i) {
    if ((first + (uint64_t)count) * sizeof(float) > dispatch->binding_lengths[i]) return 1;
  }
  row_t row = {
      .x = (const float*)dispatch->binding_ptrs[0] + first,
      .y = (const float*)dispatch->binding_ptrs[1] + first,
      .result = (float*)dispatch->binding_ptrs[2] + first,
      .count = count,
  };
  return environment->import_thunk(environment->import_funcs[IMPORT_MULTIPLY_ROW], &row,
                                   (void*)(uintptr_t)environment->import_contexts[IMPORT_MULTIPLY_ROW], 0);
}

static const iree_hal_executable_dispatch_v0_t functions[] = {multiply};
static const iree_hal_executable_dispatch_attrs_v0_t attributes[] = {{.constant_count = 1, .binding_count = 3}};
static const char* const names[] = {"multiply"};
static const iree_hal_executable_library_header_t header = {
    .version = IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST,
    .name = "custom_dispatch",
};
static const iree_hal_executable_library_v0_t library = {
    .header = &header,
    .imports = {.count = 1, .symbols = imports},
    .exports = {.count = 1, .ptrs = functions, .attrs = attributes, .names = names},
};

__attribute__((visibility("default"))) const iree_hal_executable_library_header_t** iree_hal_executable_library_query(
    iree_hal_executable_library_version_t max_version, const iree_hal_executable_environment_v0_t* environment) {
  return max_version >= IREE_HAL_EXECUTABLE_LIBRARY_VERSION_LATEST
             ? (const iree_hal_executable_library_header_t**)(uintptr_t)&library.header
             : 0;
}
