// What the HAL objects' implementations share.
#ifndef IREE_C_HAL_DETAIL_H_
#define IREE_C_HAL_DETAIL_H_

#include "iree/hal/buffer_view.h"
#include "iree/hal/command_buffer.h"
#include "iree/hal/resource.h"
#include "iree/hal/semaphore.h"
#include "iree/hal/topology.h"

// Defines iree_hal_<name>_retain, _release and _destroy for a type that starts with iree_hal_resource_t.
#define HAL_DEFINE_LIFETIME(name)                                                                                    \
  void iree_hal_##name##_retain(iree_hal_##name##_t* object) { iree_hal_resource_retain(object); }                   \
  void iree_hal_##name##_release(iree_hal_##name##_t* object) { iree_hal_resource_release(object); }                 \
  void iree_hal_##name##_destroy(iree_hal_##name##_t* object) {                                                      \
    if (object) ((const iree_hal_resource_vtable_t*)((iree_hal_resource_t*)object)->vtable)->destroy((void*)object); \
  }

// Calls `method` of `object`'s vtable: HAL_CALL(buffer, iree_hal_buffer, map_range)(buffer, ...).
#define HAL_CALL(object, prefix, method) IREE_HAL_VTABLE(object, prefix)->method

// Writes `count` copies of a pattern of 1, 2, 4, 8 or 16 bytes, `length` bytes in all, to `target`.
void hal_pattern_fill(void* target, size_t length, const void* pattern, size_t pattern_length);
// Whether a fill's pattern and range fit each other. Errors: INVALID_ARGUMENT.
iree_status_t hal_pattern_check(size_t pattern_length, uint64_t offset, uint64_t length);

// Implements the format functions of string_util.h: runs `append` once to measure and once to write.
typedef iree_status_t (*hal_append_fn_t)(const void* params, iree_string_builder_t* builder);
iree_status_t hal_format_with(hal_append_fn_t append, const void* params, iree_host_size_t buffer_capacity,
                              char* buffer, iree_host_size_t* out_buffer_length);
// As iree_hal_format_buffer_elements, appending.
iree_status_t hal_append_buffer_elements(iree_const_byte_span_t data, iree_host_size_t shape_rank,
                                         const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
                                         iree_host_size_t max_element_count, iree_string_builder_t* builder);

// First byte of a buffer in host memory. Errors: PERMISSION_DENIED when the host does not see it, FAILED_PRECONDITION
// when a queue-ordered buffer has no memory now.
iree_status_t hal_buffer_pointer(iree_hal_buffer_t* buffer, uint8_t** out_pointer);

// The parts of a device URI.
void hal_uri_split(iree_string_view_t uri, iree_string_view_t* out_driver, iree_string_view_t* out_path,
                   iree_string_view_t* out_params);

// Checks a dispatch's arguments against its function, references aside.
iree_status_t hal_dispatch_check(iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                                 const iree_hal_dispatch_config_t* config, iree_const_byte_span_t constants,
                                 iree_host_size_t binding_count, iree_hal_dispatch_flags_t flags);

// What connects two devices: in an edge, with its costs, and as text.
void hal_topology_edge_set_link(iree_hal_topology_edge_t* edge, iree_hal_topology_link_class_t link);
const char* hal_topology_link_name(iree_hal_topology_link_class_t link);

// The status of timepoints of a type that a semaphore does not share: UNAVAILABLE.
iree_status_t hal_timepoint_refuse(iree_hal_external_timepoint_type_t type);

#endif  // IREE_C_HAL_DETAIL_H_
