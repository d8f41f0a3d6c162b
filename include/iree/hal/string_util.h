// Shapes, element types and elements as text. Thread safe.
//
// Shapes are `4x8`, element types `f32`, `i1`, `bf16`, … (IREE_HAL_ELEMENT_TYPES; `xN` and `*N` are opaque), both
// together `4x8xf32`. Lists of elements accept spaces, commas and brackets as separators.
//
// Format functions write a NUL-terminated string to `buffer` and its length without the terminator to
// `*out_buffer_length`. Errors: OUT_OF_RANGE when it does not fit, with the length set: call again with one byte more.
#ifndef IREE_HAL_STRING_UTIL_H_
#define IREE_HAL_STRING_UTIL_H_

#include "iree/base/api.h"
#include "iree/hal/buffer_view.h"

#ifdef __cplusplus
extern "C" {
#endif

// Errors: INVALID_ARGUMENT, OUT_OF_RANGE when there are more than `shape_capacity` dimensions (*out_shape_rank is how
// many). The empty string is rank 0.
IREE_API_EXPORT iree_status_t iree_hal_parse_shape(iree_string_view_t value, iree_host_size_t shape_capacity,
                                                   iree_host_size_t* out_shape_rank, iree_hal_dim_t* out_shape);
IREE_API_EXPORT iree_status_t iree_hal_format_shape(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                    iree_host_size_t buffer_capacity, char* buffer,
                                                    iree_host_size_t* out_buffer_length);
IREE_API_EXPORT iree_status_t iree_hal_append_shape_string(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                           iree_string_builder_t* string_builder);

IREE_API_EXPORT iree_status_t iree_hal_parse_element_type(iree_string_view_t value,
                                                          iree_hal_element_type_t* out_element_type);
IREE_API_EXPORT iree_status_t iree_hal_format_element_type(iree_hal_element_type_t element_type,
                                                           iree_host_size_t buffer_capacity, char* buffer,
                                                           iree_host_size_t* out_buffer_length);
IREE_API_EXPORT iree_status_t iree_hal_append_element_type_string(iree_hal_element_type_t element_type,
                                                                  iree_string_builder_t* string_builder);

IREE_API_EXPORT iree_status_t iree_hal_parse_shape_and_element_type(iree_string_view_t value,
                                                                    iree_host_size_t shape_capacity,
                                                                    iree_host_size_t* out_shape_rank,
                                                                    iree_hal_dim_t* out_shape,
                                                                    iree_hal_element_type_t* out_element_type);
IREE_API_EXPORT iree_status_t iree_hal_append_shape_and_element_type_string(iree_host_size_t shape_rank,
                                                                            const iree_hal_dim_t* shape,
                                                                            iree_hal_element_type_t element_type,
                                                                            iree_string_builder_t* string_builder);

// One element: integers and floats as such, complex and opaque ones and i1 as hex bytes in memory order. Floats print
// as `%G`. Errors: INVALID_ARGUMENT, OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_parse_element(iree_string_view_t data_str, iree_hal_element_type_t element_type,
                                                     iree_byte_span_t data_ptr);
IREE_API_EXPORT iree_status_t iree_hal_format_element(iree_const_byte_span_t data, iree_hal_element_type_t element_type,
                                                      iree_host_size_t buffer_capacity, char* buffer,
                                                      iree_host_size_t* out_buffer_length);

// Parses elements until `data_ptr` is full; a single one fills it all. Errors: OUT_OF_RANGE for too few or too many,
// INVALID_ARGUMENT.
IREE_API_EXPORT iree_status_t iree_hal_parse_buffer_elements(iree_string_view_t data_str,
                                                             iree_hal_element_type_t element_type,
                                                             iree_byte_span_t data_ptr);
// Elements of a dense tensor: `[1 2 3][4 5 6]`, or `1 2 3` for ranks 0 and 1; `...` after `max_element_count`.
IREE_API_EXPORT iree_status_t iree_hal_format_buffer_elements(iree_const_byte_span_t data, iree_host_size_t shape_rank,
                                                              const iree_hal_dim_t* shape,
                                                              iree_hal_element_type_t element_type,
                                                              iree_host_size_t max_element_count,
                                                              iree_host_size_t buffer_capacity, char* buffer,
                                                              iree_host_size_t* out_buffer_length);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_STRING_UTIL_H_
