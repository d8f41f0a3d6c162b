// Executables: loaded device code with functions that can be dispatched. Immutable; thread safe.
#ifndef IREE_HAL_EXECUTABLE_H_
#define IREE_HAL_EXECUTABLE_H_

#include <stdbool.h>
#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/queue.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_buffer_t iree_hal_buffer_t;
typedef struct iree_hal_device_t iree_hal_device_t;
typedef struct iree_hal_executable_t iree_hal_executable_t;

// Names a function of one executable: its ordinal, or whatever its driver gave out by name.
typedef struct iree_hal_executable_function_t {
  uint64_t value;
} iree_hal_executable_function_t;
#define IREE_HAL_EXECUTABLE_FUNCTION_INVALID_VALUE UINT64_MAX
static inline iree_hal_executable_function_t iree_hal_executable_function_from_value(uint64_t value) {
  iree_hal_executable_function_t v = {value};
  return v;
}
static inline iree_hal_executable_function_t iree_hal_executable_function_invalid(void) {
  return iree_hal_executable_function_from_value(IREE_HAL_EXECUTABLE_FUNCTION_INVALID_VALUE);
}
static inline iree_hal_executable_function_t iree_hal_executable_function_from_index(uint32_t index) {
  return iree_hal_executable_function_from_value(index);
}
static inline bool iree_hal_executable_function_is_valid(iree_hal_executable_function_t function) {
  return function.value != IREE_HAL_EXECUTABLE_FUNCTION_INVALID_VALUE;
}
static inline bool iree_hal_executable_function_is_index_in_range(iree_hal_executable_function_t function,
                                                                  iree_host_size_t function_count) {
  return function.value <= UINT32_MAX && function.value < function_count;
}
static inline uint32_t iree_hal_executable_function_index(iree_hal_executable_function_t function) {
  return (uint32_t)function.value;
}

typedef struct iree_hal_occupancy_info_t {
  int reserved;
} iree_hal_occupancy_info_t;

enum iree_hal_executable_function_flag_bits_e {
  IREE_HAL_EXECUTABLE_FUNCTION_FLAG_NONE = 0ull,
  IREE_HAL_EXECUTABLE_FUNCTION_FLAG_SEQUENTIAL = 1ull << 0,              // workgroups run in order
  IREE_HAL_EXECUTABLE_FUNCTION_FLAG_WORKGROUP_SIZE_DYNAMIC = 1ull << 1,  // the dispatch chooses the size
};
typedef uint64_t iree_hal_executable_function_flags_t;

typedef struct iree_hal_executable_function_info_t {
  iree_string_view_t name;  // alive as long as the executable; may be empty
  iree_hal_executable_function_flags_t flags;
  uint16_t constant_count;  // 32-bit words
  uint16_t binding_count;
  uint16_t parameter_count;
  uint32_t workgroup_size[3];
  iree_hal_occupancy_info_t occupancy_info;
} iree_hal_executable_function_info_t;

enum iree_hal_executable_function_parameter_type_e {
  IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_CONSTANT = 0,
  IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BINDING = 1,
  IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BUFFER_PTR = 2,
};
typedef uint8_t iree_hal_executable_function_parameter_type_t;
enum iree_hal_executable_function_parameter_flag_bits_e {
  IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_FLAG_NONE = 0,
};
typedef uint16_t iree_hal_executable_function_parameter_flags_t;

typedef struct iree_hal_executable_function_parameter_t {
  iree_hal_executable_function_parameter_type_t type;
  uint8_t size;  // bytes
  iree_hal_executable_function_parameter_flags_t flags;
  iree_string_view_t name;  // alive as long as the executable; may be empty
  uint16_t offset;          // bytes among the constants, or the binding's ordinal
} iree_hal_executable_function_parameter_t;

IREE_API_EXPORT void iree_hal_executable_retain(iree_hal_executable_t* executable);
IREE_API_EXPORT void iree_hal_executable_release(iree_hal_executable_t* executable);
IREE_API_EXPORT void iree_hal_executable_destroy(iree_hal_executable_t* executable);

IREE_API_EXPORT iree_host_size_t iree_hal_executable_function_count(iree_hal_executable_t* executable);
// Errors: OUT_OF_RANGE for a function it does not have.
IREE_API_EXPORT iree_status_t iree_hal_executable_function_info(iree_hal_executable_t* executable,
                                                                iree_hal_executable_function_t function,
                                                                iree_hal_executable_function_info_t* out_info);
// The first `capacity` parameters; info.parameter_count says how many there are.
IREE_API_EXPORT iree_status_t iree_hal_executable_function_parameters(
    iree_hal_executable_t* executable, iree_hal_executable_function_t function, iree_host_size_t capacity,
    iree_hal_executable_function_parameter_t* out_parameters);
// Errors: NOT_FOUND.
IREE_API_EXPORT iree_status_t iree_hal_executable_lookup_function_by_name(iree_hal_executable_t* executable,
                                                                          iree_string_view_t name,
                                                                          iree_hal_executable_function_t* out_function);
// A buffer over a variable of the executable's. Errors: UNIMPLEMENTED, for no format here shows its variables.
IREE_API_EXPORT iree_status_t iree_hal_executable_lookup_global_by_name(iree_hal_executable_t* executable,
                                                                        iree_string_view_t name,
                                                                        iree_hal_queue_affinity_t queue_affinity,
                                                                        struct iree_hal_buffer_t** out_buffer);

// For drivers.
typedef struct iree_hal_executable_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_executable_t* executable);
  iree_host_size_t(IREE_API_PTR* function_count)(iree_hal_executable_t* executable);
  iree_status_t(IREE_API_PTR* function_info)(iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                                             iree_hal_executable_function_info_t* out_info);
  iree_status_t(IREE_API_PTR* function_parameters)(iree_hal_executable_t* executable,
                                                   iree_hal_executable_function_t function, iree_host_size_t capacity,
                                                   iree_hal_executable_function_parameter_t* out_parameters);
  iree_status_t(IREE_API_PTR* lookup_function_by_name)(iree_hal_executable_t* executable, iree_string_view_t name,
                                                       iree_hal_executable_function_t* out_function);
} iree_hal_executable_vtable_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_EXECUTABLE_H_
