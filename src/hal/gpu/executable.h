// Executables of GPUs: functions by name and number with what is known of their arguments; and caches, which keep
// nothing. A driver's executable begins with a gpu_executable_t, its functions with a gpu_function_t.
#ifndef IREE_C_HAL_GPU_EXECUTABLE_H_
#define IREE_C_HAL_GPU_EXECUTABLE_H_

#include "hal/gpu/device.h"

typedef struct gpu_function_t {
  iree_string_view_t name;
  uint32_t workgroup_size[3];  // that it was compiled for; 0: any
  uint32_t max_workgroup_size;
  uint32_t argument_size;   // bytes that the caller gives
  uint32_t binding_count;   // leading 64-bit pointers
  uint32_t constant_count;  // 32-bit words after them
  bool is_hal;              // its arguments are just that: pointers, then words without gaps
} gpu_function_t;

typedef struct gpu_executable_t gpu_executable_t;
typedef void (*gpu_executable_destroy_fn_t)(gpu_executable_t* executable);

struct gpu_executable_t {
  iree_hal_resource_t resource;
  gpu_executable_destroy_fn_t destroy;  // also says which driver's it is
  iree_host_size_t function_count;
  size_t function_size;  // bytes of a driver's function
  void* functions;
};

// The rest of `executable` is zero.
void gpu_executable_initialize(gpu_executable_t* executable, gpu_executable_destroy_fn_t destroy);
// The driver's function; NULL when the executable is not destroyed so or has no such function.
const void* gpu_executable_function(iree_hal_executable_t* executable, gpu_executable_destroy_fn_t destroy,
                                    iree_hal_executable_function_t function);
// What the public calls cannot check of a dispatch. `function` may be NULL: the executable is another driver's. Errors:
// INVALID_ARGUMENT, UNIMPLEMENTED.
iree_status_t gpu_function_check(const gpu_function_t* function, const hal_dispatch_t* dispatch);

#endif  // IREE_C_HAL_GPU_EXECUTABLE_H_
