// Buffer views: a buffer with a shape, an element type and an encoding. Immutable but for reshape; reads are thread
// safe. Shapes list the outermost dimension first.
#ifndef IREE_HAL_BUFFER_VIEW_H_
#define IREE_HAL_BUFFER_VIEW_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

// How an element's bits are to be read.
enum iree_hal_numerical_type_bits_t {
  IREE_HAL_NUMERICAL_TYPE_UNKNOWN = 0x00u,
  IREE_HAL_NUMERICAL_TYPE_INTEGER = 0x10u,  // signedness left to the operation
  IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED = 0x11u,
  IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED = 0x12u,
  IREE_HAL_NUMERICAL_TYPE_BOOLEAN = 0x13u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT = 0x20u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_IEEE = 0x21u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_BRAIN = 0x22u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX = 0x23u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E5M2 = 0x24u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E4M3FN = 0x25u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E5M2_FNUZ = 0x26u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E4M3_FNUZ = 0x27u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E8M0_FNU = 0x28u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_6_E3M2FN = 0x29u,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_6_E2M3FN = 0x2Au,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_4_E2M1FN = 0x2Bu,
  // Formats that IREE has no number for; from the end of the range of floats.
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E3M4 = 0x2Du,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E4M3 = 0x2Eu,
  IREE_HAL_NUMERICAL_TYPE_FLOAT_8_E4M3_B11_FNUZ = 0x2Fu,
};
typedef uint8_t iree_hal_numerical_type_t;

// An element type is the numerical type in the top byte and the bit count in the bottom one; other values are opaque.
// Elements below 8 bits are packed without gaps, the first in the lowest bits of the first byte; booleans take a byte.
typedef uint32_t iree_hal_element_type_t;
#define IREE_HAL_ELEMENT_TYPE_VALUE(numerical_type, bit_count) \
  (((uint32_t)(numerical_type) << 24) | (uint32_t)(bit_count))
#define iree_hal_make_element_type(numerical_type, bit_count) \
  ((iree_hal_element_type_t)IREE_HAL_ELEMENT_TYPE_VALUE(numerical_type, bit_count))
#define iree_hal_element_numerical_type(element_type) ((iree_hal_numerical_type_t)((uint32_t)(element_type) >> 24))
#define iree_hal_element_numerical_type_is_opaque(element_type) \
  (iree_hal_element_numerical_type(element_type) == IREE_HAL_NUMERICAL_TYPE_UNKNOWN)
#define iree_hal_element_numerical_type_is_boolean(element_type) \
  iree_all_bits_set(iree_hal_element_numerical_type(element_type), IREE_HAL_NUMERICAL_TYPE_BOOLEAN)
#define iree_hal_element_numerical_type_is_integer(element_type) \
  iree_all_bits_set(iree_hal_element_numerical_type(element_type), IREE_HAL_NUMERICAL_TYPE_INTEGER)
#define iree_hal_element_numerical_type_is_float(element_type) \
  iree_all_bits_set(iree_hal_element_numerical_type(element_type), IREE_HAL_NUMERICAL_TYPE_FLOAT)
#define iree_hal_element_numerical_type_is_complex_float(element_type) \
  (iree_hal_element_numerical_type(element_type) == IREE_HAL_NUMERICAL_TYPE_FLOAT_COMPLEX)
#define iree_hal_element_bit_count(element_type) ((iree_host_size_t)((element_type) & 0xFF))
#define iree_hal_element_is_byte_aligned(element_type) (iree_hal_element_bit_count(element_type) % 8 == 0)
#define iree_hal_element_dense_byte_count(element_type) ((iree_hal_element_bit_count(element_type) + 8 - 1) / 8)
#define iree_hal_element_packed_byte_count(element_type, element_count) \
  (((element_count) * iree_hal_element_bit_count(element_type) + 7) / 8)
#define iree_hal_element_type_is_integer(element_type, bit_width) \
  (iree_hal_element_numerical_type_is_integer(element_type) && iree_hal_element_bit_count(element_type) == (bit_width))

// ELEMENT(name, numerical type, bits, text)
#define IREE_HAL_ELEMENT_TYPES(ELEMENT)                          \
  ELEMENT(NONE, UNKNOWN, 0, "")                                  \
  ELEMENT(OPAQUE_8, UNKNOWN, 8, "*8")                            \
  ELEMENT(OPAQUE_16, UNKNOWN, 16, "*16")                         \
  ELEMENT(OPAQUE_32, UNKNOWN, 32, "*32")                         \
  ELEMENT(OPAQUE_64, UNKNOWN, 64, "*64")                         \
  ELEMENT(BOOL_8, BOOLEAN, 8, "i1")                              \
  ELEMENT(INT_4, INTEGER, 4, "i4")                               \
  ELEMENT(SINT_4, INTEGER_SIGNED, 4, "si4")                      \
  ELEMENT(UINT_4, INTEGER_UNSIGNED, 4, "ui4")                    \
  ELEMENT(INT_8, INTEGER, 8, "i8")                               \
  ELEMENT(SINT_8, INTEGER_SIGNED, 8, "si8")                      \
  ELEMENT(UINT_8, INTEGER_UNSIGNED, 8, "ui8")                    \
  ELEMENT(INT_16, INTEGER, 16, "i16")                            \
  ELEMENT(SINT_16, INTEGER_SIGNED, 16, "si16")                   \
  ELEMENT(UINT_16, INTEGER_UNSIGNED, 16, "ui16")                 \
  ELEMENT(INT_32, INTEGER, 32, "i32")                            \
  ELEMENT(SINT_32, INTEGER_SIGNED, 32, "si32")                   \
  ELEMENT(UINT_32, INTEGER_UNSIGNED, 32, "ui32")                 \
  ELEMENT(INT_64, INTEGER, 64, "i64")                            \
  ELEMENT(SINT_64, INTEGER_SIGNED, 64, "si64")                   \
  ELEMENT(UINT_64, INTEGER_UNSIGNED, 64, "ui64")                 \
  ELEMENT(FLOAT_16, FLOAT_IEEE, 16, "f16")                       \
  ELEMENT(FLOAT_32, FLOAT_IEEE, 32, "f32")                       \
  ELEMENT(FLOAT_64, FLOAT_IEEE, 64, "f64")                       \
  ELEMENT(BFLOAT_16, FLOAT_BRAIN, 16, "bf16")                    \
  ELEMENT(COMPLEX_FLOAT_64, FLOAT_COMPLEX, 64, "cf64")           \
  ELEMENT(COMPLEX_FLOAT_128, FLOAT_COMPLEX, 128, "cf128")        \
  ELEMENT(FLOAT_8_E5M2, FLOAT_8_E5M2, 8, "f8E5M2")               \
  ELEMENT(FLOAT_8_E4M3_FN, FLOAT_8_E4M3FN, 8, "f8E4M3FN")        \
  ELEMENT(FLOAT_8_E5M2_FNUZ, FLOAT_8_E5M2_FNUZ, 8, "f8E5M2FNUZ") \
  ELEMENT(FLOAT_8_E4M3_FNUZ, FLOAT_8_E4M3_FNUZ, 8, "f8E4M3FNUZ") \
  ELEMENT(FLOAT_8_E8M0_FNU, FLOAT_8_E8M0_FNU, 8, "f8E8M0FNU")    \
  ELEMENT(FLOAT_6_E3M2_FN, FLOAT_6_E3M2FN, 6, "f6E3M2FN")        \
  ELEMENT(FLOAT_6_E2M3_FN, FLOAT_6_E2M3FN, 6, "f6E2M3FN")        \
  ELEMENT(FLOAT_4_E2M1_FN, FLOAT_4_E2M1FN, 4, "f4E2M1FN")        \
  ELEMENT(FLOAT_8_E3M4, FLOAT_8_E3M4, 8, "f8E3M4")               \
  ELEMENT(FLOAT_8_E4M3, FLOAT_8_E4M3, 8, "f8E4M3")               \
  ELEMENT(FLOAT_8_E4M3_B11_FNUZ, FLOAT_8_E4M3_B11_FNUZ, 8, "f8E4M3B11FNUZ")
enum iree_hal_element_types_t {
#define IREE_HAL_ELEMENT_ENUM_(name, numerical_type, bits, text) \
  IREE_HAL_ELEMENT_TYPE_##name = IREE_HAL_ELEMENT_TYPE_VALUE(IREE_HAL_NUMERICAL_TYPE_##numerical_type, bits),
  IREE_HAL_ELEMENT_TYPES(IREE_HAL_ELEMENT_ENUM_)
#undef IREE_HAL_ELEMENT_ENUM_
};

enum iree_hal_encoding_types_t {
  IREE_HAL_ENCODING_TYPE_OPAQUE = 0,
  IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR = 1,
};
typedef uint32_t iree_hal_encoding_type_t;

typedef iree_device_size_t iree_hal_dim_t;
#define PRIdim PRIdsz

typedef struct iree_hal_buffer_view_t iree_hal_buffer_view_t;

// A view over `buffer`, which it keeps alive. Errors: INVALID_ARGUMENT when a dense shape does not fit the buffer.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_create(iree_hal_buffer_t* buffer, iree_host_size_t shape_rank,
                                                          const iree_hal_dim_t* shape,
                                                          iree_hal_element_type_t element_type,
                                                          iree_hal_encoding_type_t encoding_type,
                                                          iree_allocator_t host_allocator,
                                                          iree_hal_buffer_view_t** out_buffer_view);
// A view over `buffer` with the shape, type and encoding of `like_view`.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_create_like(iree_hal_buffer_t* buffer,
                                                               iree_hal_buffer_view_t* like_view,
                                                               iree_allocator_t host_allocator,
                                                               iree_hal_buffer_view_t** out_buffer_view);
IREE_API_EXPORT void iree_hal_buffer_view_retain(iree_hal_buffer_view_t* buffer_view);
IREE_API_EXPORT void iree_hal_buffer_view_release(iree_hal_buffer_view_t* buffer_view);
IREE_API_EXPORT void iree_hal_buffer_view_destroy(iree_hal_buffer_view_t* buffer_view);

// Not retained.
IREE_API_EXPORT iree_hal_buffer_t* iree_hal_buffer_view_buffer(const iree_hal_buffer_view_t* buffer_view);
IREE_API_EXPORT iree_host_size_t iree_hal_buffer_view_shape_rank(const iree_hal_buffer_view_t* buffer_view);
// `shape_rank` dimensions, alive as long as the view.
IREE_API_EXPORT const iree_hal_dim_t* iree_hal_buffer_view_shape_dims(const iree_hal_buffer_view_t* buffer_view);
// 0 when `index` is out of range.
IREE_API_EXPORT iree_hal_dim_t iree_hal_buffer_view_shape_dim(const iree_hal_buffer_view_t* buffer_view,
                                                              iree_host_size_t index);
// Copies the shape. Errors: OUT_OF_RANGE when it has more than `rank_capacity` dimensions (*out_shape_rank is set).
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_shape(const iree_hal_buffer_view_t* buffer_view,
                                                         iree_host_size_t rank_capacity, iree_hal_dim_t* out_shape,
                                                         iree_host_size_t* out_shape_rank);
// Changes the shape; the element count must stay the same and the rank must not grow. Not thread safe.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_reshape(iree_hal_buffer_view_t* buffer_view,
                                                           const iree_hal_dim_t* shape, iree_host_size_t shape_rank);
IREE_API_EXPORT iree_host_size_t iree_hal_buffer_view_element_count(const iree_hal_buffer_view_t* buffer_view);
IREE_API_EXPORT iree_hal_element_type_t iree_hal_buffer_view_element_type(const iree_hal_buffer_view_t* buffer_view);
// Bytes per element, rounded up.
IREE_API_EXPORT iree_host_size_t iree_hal_buffer_view_element_size(const iree_hal_buffer_view_t* buffer_view);
IREE_API_EXPORT iree_hal_encoding_type_t iree_hal_buffer_view_encoding_type(const iree_hal_buffer_view_t* buffer_view);
IREE_API_EXPORT iree_device_size_t iree_hal_buffer_view_byte_length(const iree_hal_buffer_view_t* buffer_view);
// Bytes from the view's start to an element, and the range that a slice spans. Errors: INVALID_ARGUMENT, OUT_OF_RANGE.
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_compute_offset(const iree_hal_buffer_view_t* buffer_view,
                                                                  iree_host_size_t indices_count,
                                                                  const iree_hal_dim_t* indices,
                                                                  iree_device_size_t* out_offset);
IREE_API_EXPORT iree_status_t iree_hal_buffer_view_compute_range(
    const iree_hal_buffer_view_t* buffer_view, iree_host_size_t indices_count, const iree_hal_dim_t* start_indices,
    iree_host_size_t lengths_count, const iree_hal_dim_t* lengths, iree_device_size_t* out_start_offset,
    iree_device_size_t* out_length);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_BUFFER_VIEW_H_
