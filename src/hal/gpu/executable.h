// Executables of GPUs: functions by name and number with what is known of their arguments; and caches. The same data is
// loaded once for a device, for as long as an executable of it is in use or a cache that prepared it. A driver's
// executable begins with a gpu_executable_t, its functions with a gpu_function_t.
#ifndef IREE_C_HAL_GPU_EXECUTABLE_H_
#define IREE_C_HAL_GPU_EXECUTABLE_H_

#include "hal/function_names.h"
#include "hal/gpu/device.h"

typedef struct gpu_function_t {
  iree_string_view_t name;
  uint32_t workgroup_size[3];  // that it was compiled for; 0: any
  uint32_t max_workgroup_size;
  uint32_t argument_size;   // bytes that the caller gives
  uint32_t kernarg_size;    // bytes, with those that the driver adds
  uint32_t binding_count;   // leading 64-bit pointers
  uint32_t constant_count;  // 32-bit words after them
  bool waits;               // for kernels before it by itself: it may be launched while they run
  bool is_hal;              // its arguments are just that: pointers, then words without gaps
} gpu_function_t;

typedef struct gpu_executable_t gpu_executable_t;
struct gpu_executable_t {
  iree_hal_resource_t resource;
  const gpu_backend_t* backend;  // whose it is
  void (*destroy)(gpu_executable_t* executable);
  iree_host_size_t function_count;
  size_t function_size;  // bytes of a driver's function
  void* functions;
  hal_function_names_t names;   // set when it is loaded
  iree_const_byte_span_t data;  // that it was loaded from, in memory of its own; empty: others are never the same
  // Of the list that it is in, if any.
  gpu_executable_list_t* list;
  gpu_executable_t* next;
  gpu_executable_t* prev;
};

// The executables of a device that are in use. Retained by the device and by each of them.
iree_status_t gpu_executable_list_create(iree_allocator_t host_allocator, gpu_executable_list_t** out_list);
void gpu_executable_list_release(gpu_executable_list_t* list);

// The rest of `executable` is set by the driver.
void gpu_executable_initialize(gpu_executable_t* executable);
// The driver's function; NULL when the executable is another driver's or has no such function.
const void* gpu_executable_function(iree_hal_executable_t* executable, const gpu_backend_t* backend,
                                    iree_hal_executable_function_t function);
// What the public calls cannot check of a dispatch. `function` may be NULL: the executable is another driver's. Errors:
// INVALID_ARGUMENT, UNIMPLEMENTED.
iree_status_t gpu_function_check(const gpu_function_t* function, const hal_dispatch_t* dispatch);

#endif  // IREE_C_HAL_GPU_EXECUTABLE_H_
