// Where programs' debug output goes. Callbacks are called by the thread that runs the program, one at a time for a
// context.

#ifndef IREE_MODULES_HAL_DEBUGGING_H_
#define IREE_MODULES_HAL_DEBUGGING_H_

#include <stdio.h>

#include "iree/base/api.h"
#include "iree/hal/api.h"
#include "iree/vm/api.h"

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

typedef void(IREE_API_PTR* iree_hal_module_debug_sink_release_callback_fn_t)(void* user_data);
typedef struct iree_hal_module_debug_sink_release_callback_t {
  iree_hal_module_debug_sink_release_callback_fn_t fn;
  void* user_data;
} iree_hal_module_debug_sink_release_callback_t;

// Gets tensors that a program traces: `key` says which, the views live during the call.
typedef iree_status_t(IREE_API_PTR* iree_hal_module_buffer_view_trace_callback_fn_t)(
    void* user_data, iree_string_view_t key, iree_host_size_t buffer_view_count, iree_hal_buffer_view_t** buffer_views,
    iree_allocator_t host_allocator);
typedef struct iree_hal_module_buffer_view_trace_callback_t {
  iree_hal_module_buffer_view_trace_callback_fn_t fn;
  void* user_data;
} iree_hal_module_buffer_view_trace_callback_t;

typedef struct iree_hal_module_debug_sink_t {
  iree_hal_module_debug_sink_release_callback_t release;  // when the module goes
  iree_hal_module_buffer_view_trace_callback_t buffer_view_trace;
} iree_hal_module_debug_sink_t;

// Drops everything.
IREE_API_EXPORT iree_hal_module_debug_sink_t iree_hal_module_debug_sink_null(void);
// Prints to a file that outlives the module.
IREE_API_EXPORT iree_hal_module_debug_sink_t iree_hal_module_debug_sink_stdio(FILE* file);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  // IREE_MODULES_HAL_DEBUGGING_H_
