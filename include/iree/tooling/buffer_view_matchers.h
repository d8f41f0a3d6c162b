// Whether buffer views are as expected, with text that says why not. Buffers must be such that the host can map them.
// Functions return whether they could tell; *out_matched is the verdict.
#ifndef IREE_TOOLING_BUFFER_VIEW_MATCHERS_H_
#define IREE_TOOLING_BUFFER_VIEW_MATCHERS_H_

#include "iree/base/api.h"
#include "iree/hal/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  IREE_HAL_BUFFER_EQUALITY_EXACT = 0,             // the same bytes
  IREE_HAL_BUFFER_EQUALITY_APPROXIMATE_ABSOLUTE,  // |a - b| <= threshold; integers the same
  IREE_HAL_BUFFER_EQUALITY_APPROXIMATE_RELATIVE,  // |a - b| <= threshold * |a|, where a is what is expected
} iree_hal_buffer_equality_mode_t;

typedef struct {
  iree_hal_buffer_equality_mode_t mode;
  float f16_threshold;
  float f32_threshold;
  double f64_threshold;
  float bf16_threshold;
} iree_hal_buffer_equality_t;

typedef struct {
  iree_hal_element_type_t type;
  union {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    uint8_t storage[8];
  };
} iree_hal_buffer_element_t;

IREE_API_EXPORT iree_hal_buffer_element_t iree_hal_make_buffer_element_i8(int8_t value);
IREE_API_EXPORT iree_hal_buffer_element_t iree_hal_make_buffer_element_i16(int16_t value);
IREE_API_EXPORT iree_hal_buffer_element_t iree_hal_make_buffer_element_i32(int32_t value);
IREE_API_EXPORT iree_hal_buffer_element_t iree_hal_make_buffer_element_i64(int64_t value);
IREE_API_EXPORT iree_hal_buffer_element_t iree_hal_make_buffer_element_f16(float value);
IREE_API_EXPORT iree_hal_buffer_element_t iree_hal_make_buffer_element_bf16(float value);
IREE_API_EXPORT iree_hal_buffer_element_t iree_hal_make_buffer_element_f32(float value);
IREE_API_EXPORT iree_hal_buffer_element_t iree_hal_make_buffer_element_f64(double value);

// Whether all elements match one value, or those of another list. *out_index is the first that does not.
IREE_API_EXPORT bool iree_hal_compare_buffer_elements_broadcast(iree_hal_buffer_equality_t equality,
                                                                iree_hal_buffer_element_t expected_element,
                                                                iree_host_size_t element_count,
                                                                iree_const_byte_span_t actual_elements,
                                                                iree_host_size_t* out_index);
IREE_API_EXPORT bool iree_hal_compare_buffer_elements_elementwise(
    iree_hal_buffer_equality_t equality, iree_hal_element_type_t element_type, iree_host_size_t element_count,
    iree_const_byte_span_t expected_elements, iree_const_byte_span_t actual_elements, iree_host_size_t* out_index);

// Shape, element type (IREE_HAL_ELEMENT_TYPE_NONE: any) and encoding (IREE_HAL_ENCODING_TYPE_OPAQUE: any).
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_match_metadata(iree_host_size_t shape_rank,
                                                                  const iree_hal_dim_t* shape,
                                                                  iree_hal_element_type_t element_type,
                                                                  iree_hal_encoding_type_t encoding_type,
                                                                  iree_hal_buffer_view_t* matchee,
                                                                  iree_string_builder_t* builder, bool* out_matched);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_match_metadata_like(iree_hal_buffer_view_t* expected,
                                                                       iree_hal_buffer_view_t* matchee,
                                                                       iree_string_builder_t* builder,
                                                                       bool* out_matched);
// All elements are `value`.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_match_elements(iree_hal_buffer_equality_t equality,
                                                                  iree_hal_buffer_element_t value,
                                                                  iree_hal_buffer_view_t* matchee,
                                                                  iree_string_builder_t* builder, bool* out_matched);
// The elements, of any shape, are these.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_match_array(iree_hal_buffer_equality_t equality,
                                                               iree_hal_element_type_t element_type,
                                                               iree_host_size_t element_count,
                                                               iree_const_byte_span_t elements,
                                                               iree_hal_buffer_view_t* matchee,
                                                               iree_string_builder_t* builder, bool* out_matched);
// Metadata and elements are those of `expected`.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_match_equal(iree_hal_buffer_equality_t equality,
                                                               iree_hal_buffer_view_t* expected,
                                                               iree_hal_buffer_view_t* matchee,
                                                               iree_string_builder_t* builder, bool* out_matched);

// The same as objects: initialize, then match any number of views; `describe` appends what is expected. They own
// nothing but a reference to the view of a view matcher; shapes longer than the limit are refused (OUT_OF_RANGE).
#define IREE_HAL_BUFFER_VIEW_MATCHER_MAX_RANK 128
typedef struct {
  iree_host_size_t shape_rank;
  iree_hal_dim_t shape[IREE_HAL_BUFFER_VIEW_MATCHER_MAX_RANK];
  iree_hal_element_type_t element_type;
  iree_hal_encoding_type_t encoding_type;
} iree_hal_buffer_view_metadata_matcher_t;
typedef struct {
  iree_hal_buffer_equality_t equality;
  iree_hal_buffer_element_t value;
} iree_hal_buffer_view_element_matcher_t;
typedef struct {
  iree_hal_buffer_equality_t equality;
  iree_hal_element_type_t element_type;
  iree_host_size_t element_count;
  iree_const_byte_span_t elements;
} iree_hal_buffer_view_array_matcher_t;
typedef struct {
  iree_hal_buffer_equality_t equality;
  iree_hal_buffer_view_t* expected;
} iree_hal_buffer_view_matcher_t;

IREE_API_EXPORT iree_status_t iree_hal_buffer_view_metadata_matcher_initialize(
    iree_host_size_t shape_rank, const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
    iree_hal_encoding_type_t encoding_type, iree_hal_buffer_view_metadata_matcher_t* out_matcher);
IREE_API_EXPORT iree_status_t
iree_hal_buffer_view_element_matcher_initialize(iree_hal_buffer_equality_t equality, iree_hal_buffer_element_t value,
                                                iree_hal_buffer_view_element_matcher_t* out_matcher);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_array_matcher_initialize(
    iree_hal_buffer_equality_t equality, iree_hal_element_type_t element_type, iree_host_size_t element_count,
    iree_const_byte_span_t elements, iree_hal_buffer_view_array_matcher_t* out_matcher);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_matcher_initialize(iree_hal_buffer_equality_t equality,
                                                                      iree_hal_buffer_view_t* expected,
                                                                      iree_hal_buffer_view_matcher_t* out_matcher);

IREE_API_EXPORT void iree_hal_buffer_view_metadata_matcher_deinitialize(
    iree_hal_buffer_view_metadata_matcher_t* matcher);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_metadata_matcher_describe(
    iree_hal_buffer_view_metadata_matcher_t* matcher, iree_string_builder_t* builder);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_metadata_matcher_match(
    iree_hal_buffer_view_metadata_matcher_t* matcher, iree_hal_buffer_view_t* matchee, iree_string_builder_t* builder,
    bool* out_matched);

IREE_API_EXPORT void iree_hal_buffer_view_element_matcher_deinitialize(iree_hal_buffer_view_element_matcher_t* matcher);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_element_matcher_describe(
    iree_hal_buffer_view_element_matcher_t* matcher, iree_string_builder_t* builder);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_element_matcher_match(
    iree_hal_buffer_view_element_matcher_t* matcher, iree_hal_buffer_view_t* matchee, iree_string_builder_t* builder,
    bool* out_matched);

IREE_API_EXPORT void iree_hal_buffer_view_array_matcher_deinitialize(iree_hal_buffer_view_array_matcher_t* matcher);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_array_matcher_describe(iree_hal_buffer_view_array_matcher_t* matcher,
                                                                          iree_string_builder_t* builder);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_array_matcher_match(iree_hal_buffer_view_array_matcher_t* matcher,
                                                                       iree_hal_buffer_view_t* matchee,
                                                                       iree_string_builder_t* builder,
                                                                       bool* out_matched);

IREE_API_EXPORT void iree_hal_buffer_view_matcher_deinitialize(iree_hal_buffer_view_matcher_t* matcher);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_matcher_describe(iree_hal_buffer_view_matcher_t* matcher,
                                                                    iree_string_builder_t* builder);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_matcher_match(iree_hal_buffer_view_matcher_t* matcher,
                                                                 iree_hal_buffer_view_t* matchee,
                                                                 iree_string_builder_t* builder, bool* out_matched);

#ifdef __cplusplus
}
#endif

#endif  // IREE_TOOLING_BUFFER_VIEW_MATCHERS_H_
