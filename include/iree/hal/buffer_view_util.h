// Making, sizing, parsing and printing buffer views. Any thread; contents must be at rest.
#ifndef IREE_HAL_BUFFER_VIEW_UTIL_H_
#define IREE_HAL_BUFFER_VIEW_UTIL_H_

#include <stdio.h>

#include "iree/base/api.h"
#include "iree/hal/allocator.h"
#include "iree/hal/buffer_view.h"
#include "iree/hal/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of a dense tensor, and offsets and ranges in it. Errors: OUT_OF_RANGE when a size overflows or an index is
// outside, INVALID_ARGUMENT for ranks that differ, UNIMPLEMENTED for encodings without a layout.
IREE_API_EXPORT iree_status_t iree_hal_buffer_compute_view_size(iree_host_size_t shape_rank,
                                                                const iree_hal_dim_t* shape,
                                                                iree_hal_element_type_t element_type,
                                                                iree_hal_encoding_type_t encoding_type,
                                                                iree_device_size_t* out_allocation_size);
IREE_API_EXPORT iree_status_t iree_hal_buffer_compute_view_offset(
    iree_host_size_t shape_rank, const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_host_size_t indices_count, const iree_hal_dim_t* indices,
    iree_device_size_t* out_offset);
IREE_API_EXPORT iree_status_t iree_hal_buffer_compute_view_range(
    iree_host_size_t shape_rank, const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_host_size_t indices_count, const iree_hal_dim_t* start_indices,
    iree_host_size_t lengths_count, const iree_hal_dim_t* lengths, iree_device_size_t* out_start_offset,
    iree_device_size_t* out_length);

// Allocates a buffer, copies `initial_data` into it (empty: contents undefined) and makes a view of it. Blocks until
// the data is there.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_allocate_buffer_copy(
    iree_hal_device_t* device, iree_hal_allocator_t* allocator, iree_host_size_t shape_rank,
    const iree_hal_dim_t* shape, iree_hal_element_type_t element_type, iree_hal_encoding_type_t encoding_type,
    iree_hal_buffer_params_t buffer_params, iree_const_byte_span_t initial_data,
    iree_hal_buffer_view_t** out_buffer_view);

// Fills mapping->contents. A failure fails the whole.
typedef iree_status_t(IREE_API_PTR* iree_hal_buffer_view_generator_callback_t)(iree_hal_buffer_mapping_t* mapping,
                                                                               void* user_data);
// As allocate_buffer_copy with contents that `callback` writes in place where the memory can be mapped.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_generate_buffer(
    iree_hal_device_t* device, iree_hal_allocator_t* allocator, iree_host_size_t shape_rank,
    const iree_hal_dim_t* shape, iree_hal_element_type_t element_type, iree_hal_encoding_type_t encoding_type,
    iree_hal_buffer_params_t buffer_params, iree_hal_buffer_view_generator_callback_t callback, void* user_data,
    iree_hal_buffer_view_t** out_buffer_view);

// `2x3xf32=[1 2 3][4 5 6]` as a new device buffer; without `=` it is all zeros, with one value a splat. Errors:
// INVALID_ARGUMENT, OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_parse(iree_string_view_t value, iree_hal_device_t* device,
                                                         iree_hal_allocator_t* device_allocator,
                                                         iree_hal_buffer_view_t** out_buffer_view);

// The inverse of parse, with at most `max_element_count` elements (then `...`). The buffer must be mappable. `format`
// works as the format functions of string_util.h.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_format(const iree_hal_buffer_view_t* buffer_view,
                                                          iree_host_size_t max_element_count,
                                                          iree_host_size_t buffer_capacity, char* buffer,
                                                          iree_host_size_t* out_buffer_length);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_fprint(FILE* file, const iree_hal_buffer_view_t* buffer_view,
                                                          iree_host_size_t max_element_count,
                                                          iree_allocator_t host_allocator);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_append_to_builder(iree_hal_buffer_view_t* buffer_view,
                                                                     iree_host_size_t max_element_count,
                                                                     iree_string_builder_t* builder);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_BUFFER_VIEW_UTIL_H_
