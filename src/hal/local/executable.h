// Executables of local devices: functions as plain rows that the block executor calls.
#ifndef IREE_C_HAL_LOCAL_EXECUTABLE_H_
#define IREE_C_HAL_LOCAL_EXECUTABLE_H_

#include "hal/function_names.h"
#include "iree/hal/api.h"
#include "iree/hal/local/executable_library.h"
#include "iree/hal/local/executable_loader.h"

// One function. `run` is called with `environment` for each workgroup, from any thread; loaders of other formats give
// functions of their own and environments that embed what those need.
typedef struct local_function_t {
  iree_hal_executable_dispatch_v0_t run;
  const iree_hal_executable_environment_v0_t* environment;
  iree_hal_executable_dispatch_attrs_v0_t attrs;
  const char* name;  // may be NULL; lives as long as the executable
  // Rows of `attrs.parameter_count`, and the names their `name` field indexes; may be NULL.
  const iree_hal_executable_dispatch_parameter_v0_t* params;
  const char* const* parameter_names;
} local_function_t;

typedef struct local_executable_t local_executable_t;
struct local_executable_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  void (*destroy)(local_executable_t* executable);  // the loader's: frees what it added, not the object
  uint32_t function_count;
  local_function_t* functions;
  hal_function_names_t names;
};

// Allocates an executable with room for `function_count` functions and, in front, for a loader's own type of
// `struct_size` bytes that starts with local_executable_t. Release it with iree_hal_executable_release.
iree_status_t local_executable_create(size_t struct_size, uint32_t function_count,
                                      void (*destroy)(local_executable_t* executable), iree_allocator_t host_allocator,
                                      void** out_executable);

// When all functions have their names.
iree_status_t local_executable_name_functions(local_executable_t* executable);

// NULL when `executable` is not of a local device, or the function is out of range.
const local_function_t* local_executable_function(iree_hal_executable_t* executable,
                                                  iree_hal_executable_function_t function);

// Checks what pointers from a library are good for. NULL functions: everything is trusted.
typedef struct local_library_bounds_t {
  const void* self;
  bool (*contains)(const void* self, const void* ptr, size_t size);
  bool (*is_code)(const void* self, const void* ptr);
} local_library_bounds_t;

// Queries a library with `query` and makes an executable of its tables: checks versions and tables, copies constants,
// resolves imports. `unload` (may be NULL) is called with `unload_self` when the executable dies, or on failure.
typedef struct local_library_source_t {
  iree_hal_executable_library_query_fn_t query;
  local_library_bounds_t bounds;
  iree_hal_executable_import_provider_t import_provider;
  void (*unload)(void* self);
  void* unload_self;
} local_library_source_t;
iree_status_t local_library_load(const local_library_source_t* source,
                                 const iree_hal_executable_params_t* executable_params, iree_allocator_t host_allocator,
                                 iree_hal_executable_t** out_executable);

#endif  // IREE_C_HAL_LOCAL_EXECUTABLE_H_
