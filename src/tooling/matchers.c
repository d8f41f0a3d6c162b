// See iree/tooling/buffer_view_matchers.h.
#include <math.h>

#include "base/small_float.h"
#include "iree/tooling/buffer_view_matchers.h"

//===----------------------------------------------------------------------------------------------------------------===
// Elements
//===----------------------------------------------------------------------------------------------------------------===

#define MAKE(suffix, field, ctype, name)                                         \
  iree_hal_buffer_element_t iree_hal_make_buffer_element_##suffix(ctype value) { \
    iree_hal_buffer_element_t element = {.type = IREE_HAL_ELEMENT_TYPE_##name};  \
    element.field = value;                                                       \
    return element;                                                              \
  }
MAKE(i8, i8, int8_t, INT_8)
MAKE(i16, i16, int16_t, INT_16)
MAKE(i32, i32, int32_t, INT_32)
MAKE(i64, i64, int64_t, INT_64)
MAKE(f32, f32, float, FLOAT_32)
MAKE(f64, f64, double, FLOAT_64)
#undef MAKE

iree_hal_buffer_element_t iree_hal_make_buffer_element_f16(float value) {
  iree_hal_buffer_element_t element = {.type = IREE_HAL_ELEMENT_TYPE_FLOAT_16};
  element.i16 = (int16_t)small_float_encode(SMALL_F16, value);
  return element;
}

iree_hal_buffer_element_t iree_hal_make_buffer_element_bf16(float value) {
  iree_hal_buffer_element_t element = {.type = IREE_HAL_ELEMENT_TYPE_BFLOAT_16};
  element.i16 = (int16_t)small_float_encode(SMALL_BF16, value);
  return element;
}

// The number of an element and the threshold of its type; false for types that have none.
static bool decode(const iree_hal_buffer_equality_t* equality, iree_hal_element_type_t type, const uint8_t* data,
                   double* out_number, double* out_threshold) {
  float narrow;
  switch (type) {
    case IREE_HAL_ELEMENT_TYPE_FLOAT_16:
      *out_number = small_float_decode(SMALL_F16, data[0] | (uint32_t)data[1] << 8);
      *out_threshold = equality->f16_threshold;
      return true;
    case IREE_HAL_ELEMENT_TYPE_BFLOAT_16:
      *out_number = small_float_decode(SMALL_BF16, data[0] | (uint32_t)data[1] << 8);
      *out_threshold = equality->bf16_threshold;
      return true;
    case IREE_HAL_ELEMENT_TYPE_FLOAT_32:
      memcpy(&narrow, data, sizeof(narrow));
      *out_number = narrow;
      *out_threshold = equality->f32_threshold;
      return true;
    case IREE_HAL_ELEMENT_TYPE_FLOAT_64:
      memcpy(out_number, data, sizeof(*out_number));
      *out_threshold = equality->f64_threshold;
      return true;
    default:
      return false;
  }
}

static bool elements_match(const iree_hal_buffer_equality_t* equality, iree_hal_element_type_t type,
                           const uint8_t* expected, const uint8_t* actual) {
  double a = 0, b = 0, threshold = 0;
  if (memcmp(expected, actual, iree_hal_element_dense_byte_count(type)) == 0) return true;
  if (equality->mode == IREE_HAL_BUFFER_EQUALITY_EXACT || !decode(equality, type, expected, &a, &threshold) ||
      !decode(equality, type, actual, &b, &threshold)) {
    return false;
  }
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (a == b) return true;
  if (equality->mode == IREE_HAL_BUFFER_EQUALITY_APPROXIMATE_RELATIVE) threshold *= fabs(a);
  return !isinf(a) && !isinf(b) && fabs(a - b) <= threshold;
}

static bool compare(const iree_hal_buffer_equality_t* equality, iree_hal_element_type_t type, iree_host_size_t count,
                    const uint8_t* expected, iree_host_size_t step, iree_const_byte_span_t actual,
                    iree_host_size_t* out_index) {
  iree_host_size_t size = iree_hal_element_dense_byte_count(type);
  *out_index = 0;
  for (iree_host_size_t i = 0; i < count; ++i) {
    bool inside = size && i < actual.data_length / size;
    if (inside && elements_match(equality, type, expected + i * step, actual.data + i * size)) continue;
    *out_index = i;
    return false;
  }
  return true;
}

bool iree_hal_compare_buffer_elements_broadcast(iree_hal_buffer_equality_t equality,
                                                iree_hal_buffer_element_t expected_element,
                                                iree_host_size_t element_count, iree_const_byte_span_t actual_elements,
                                                iree_host_size_t* out_index) {
  return compare(&equality, expected_element.type, element_count, expected_element.storage, 0, actual_elements,
                 out_index);
}

bool iree_hal_compare_buffer_elements_elementwise(iree_hal_buffer_equality_t equality,
                                                  iree_hal_element_type_t element_type, iree_host_size_t element_count,
                                                  iree_const_byte_span_t expected_elements,
                                                  iree_const_byte_span_t actual_elements, iree_host_size_t* out_index) {
  iree_host_size_t size = iree_hal_element_dense_byte_count(element_type);
  iree_host_size_t there = size ? iree_min(element_count, expected_elements.data_length / size) : 0;
  if (!compare(&equality, element_type, there, expected_elements.data, size, actual_elements, out_index)) return false;
  *out_index = there == element_count ? 0 : there;
  return there == element_count;
}

//===----------------------------------------------------------------------------------------------------------------===
// Metadata
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_hal_buffer_view_match_metadata(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                  iree_hal_element_type_t element_type,
                                                  iree_hal_encoding_type_t encoding_type,
                                                  iree_hal_buffer_view_t* matchee, iree_string_builder_t* builder,
                                                  bool* out_matched) {
  iree_host_size_t rank = iree_hal_buffer_view_shape_rank(matchee);
  const iree_hal_dim_t* dims = iree_hal_buffer_view_shape_dims(matchee);
  iree_hal_element_type_t type = iree_hal_buffer_view_element_type(matchee);
  bool same = rank == shape_rank && (!rank || memcmp(dims, shape, rank * sizeof(*dims)) == 0);
  same &= element_type == IREE_HAL_ELEMENT_TYPE_NONE || element_type == type;
  same &=
      encoding_type == IREE_HAL_ENCODING_TYPE_OPAQUE || encoding_type == iree_hal_buffer_view_encoding_type(matchee);
  *out_matched = same;
  if (same) return iree_ok_status();
  iree_hal_element_type_t wanted = element_type == IREE_HAL_ELEMENT_TYPE_NONE ? type : element_type;
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "metadata is "));
  IREE_RETURN_IF_ERROR(iree_hal_append_shape_and_element_type_string(rank, dims, type, builder));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "; expected that the view matches "));
  return iree_hal_append_shape_and_element_type_string(shape_rank, shape, wanted, builder);
}

iree_status_t iree_hal_buffer_view_match_metadata_like(iree_hal_buffer_view_t* expected,
                                                       iree_hal_buffer_view_t* matchee, iree_string_builder_t* builder,
                                                       bool* out_matched) {
  return iree_hal_buffer_view_match_metadata(
      iree_hal_buffer_view_shape_rank(expected), iree_hal_buffer_view_shape_dims(expected),
      iree_hal_buffer_view_element_type(expected), iree_hal_buffer_view_encoding_type(expected), matchee, builder,
      out_matched);
}

//===----------------------------------------------------------------------------------------------------------------===
// Contents
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t append_element(iree_hal_element_type_t type, const uint8_t* data, iree_string_builder_t* builder) {
  char text[128];
  iree_host_size_t length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_format_element(iree_make_const_byte_span(data, iree_hal_element_dense_byte_count(type)),
                                               type, sizeof(text), text, &length));
  return iree_string_builder_append_string(builder, iree_make_string_view(text, length));
}

// What elements must be: `count` ones, or one for all when `step` is 0.
typedef struct expectation_t {
  const iree_hal_buffer_equality_t* equality;
  iree_hal_element_type_t type;
  const uint8_t* data;
  iree_host_size_t step;
} expectation_t;

static iree_status_t match_mapped(const expectation_t* expected, iree_host_size_t count, iree_const_byte_span_t actual,
                                  iree_string_builder_t* builder, bool* out_matched) {
  iree_host_size_t index = 0, size = iree_hal_element_dense_byte_count(expected->type);
  *out_matched = compare(expected->equality, expected->type, count, expected->data, expected->step, actual, &index);
  if (*out_matched) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "element at index %" PRIhsz " (", index));
  IREE_RETURN_IF_ERROR(append_element(expected->type, actual.data + index * size, builder));
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, ") does not match the expected ("));
  IREE_RETURN_IF_ERROR(append_element(expected->type, expected->data + index * expected->step, builder));
  return iree_string_builder_append_cstring(builder, ")");
}

static iree_status_t match_view(const expectation_t* expected, iree_hal_buffer_view_t* matchee,
                                iree_string_builder_t* builder, bool* out_matched) {
  iree_hal_element_type_t type = iree_hal_buffer_view_element_type(matchee);
  iree_hal_buffer_mapping_t mapping = {{0}};
  *out_matched = false;
  if (type != expected->type) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "element type is "));
    IREE_RETURN_IF_ERROR(iree_hal_append_element_type_string(type, builder));
    IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "; expected "));
    return iree_hal_append_element_type_string(expected->type, builder);
  }
  if (!iree_hal_element_is_byte_aligned(type)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "elements of less than a byte are not compared one by one");
  }
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(iree_hal_buffer_view_buffer(matchee), IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_READ, 0,
                                                 iree_hal_buffer_view_byte_length(matchee), &mapping));
  iree_status_t status = match_mapped(expected, iree_hal_buffer_view_element_count(matchee),
                                      iree_const_cast_byte_span(mapping.contents), builder, out_matched);
  iree_status_ignore(iree_hal_buffer_unmap_range(&mapping));
  return status;
}

iree_status_t iree_hal_buffer_view_match_elements(iree_hal_buffer_equality_t equality, iree_hal_buffer_element_t value,
                                                  iree_hal_buffer_view_t* matchee, iree_string_builder_t* builder,
                                                  bool* out_matched) {
  expectation_t expected = {&equality, value.type, value.storage, 0};
  return match_view(&expected, matchee, builder, out_matched);
}

iree_status_t iree_hal_buffer_view_match_array(iree_hal_buffer_equality_t equality,
                                               iree_hal_element_type_t element_type, iree_host_size_t element_count,
                                               iree_const_byte_span_t elements, iree_hal_buffer_view_t* matchee,
                                               iree_string_builder_t* builder, bool* out_matched) {
  iree_host_size_t count = iree_hal_buffer_view_element_count(matchee);
  iree_host_size_t size = iree_hal_element_dense_byte_count(element_type);
  *out_matched = false;
  if (count != element_count) {
    return iree_string_builder_append_format(builder, "it has %" PRIhsz " elements; expected %" PRIhsz, count,
                                             element_count);
  }
  if (size && elements.data_length / size < element_count) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the expected elements are fewer than %" PRIhsz, element_count);
  }
  expectation_t expected = {&equality, element_type, elements.data, size};
  return match_view(&expected, matchee, builder, out_matched);
}

iree_status_t iree_hal_buffer_view_match_equal(iree_hal_buffer_equality_t equality, iree_hal_buffer_view_t* expected,
                                               iree_hal_buffer_view_t* matchee, iree_string_builder_t* builder,
                                               bool* out_matched) {
  IREE_RETURN_IF_ERROR(iree_hal_buffer_view_match_metadata_like(expected, matchee, builder, out_matched));
  if (!*out_matched) return iree_ok_status();
  iree_hal_buffer_mapping_t mapping = {{0}};
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(iree_hal_buffer_view_buffer(expected), IREE_HAL_MAPPING_MODE_SCOPED,
                                                 IREE_HAL_MEMORY_ACCESS_READ, 0,
                                                 iree_hal_buffer_view_byte_length(expected), &mapping));
  iree_status_t status = iree_hal_buffer_view_match_array(
      equality, iree_hal_buffer_view_element_type(expected), iree_hal_buffer_view_element_count(expected),
      iree_const_cast_byte_span(mapping.contents), matchee, builder, out_matched);
  iree_status_ignore(iree_hal_buffer_unmap_range(&mapping));
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Objects
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_hal_buffer_view_metadata_matcher_initialize(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                               iree_hal_element_type_t element_type,
                                                               iree_hal_encoding_type_t encoding_type,
                                                               iree_hal_buffer_view_metadata_matcher_t* out_matcher) {
  memset(out_matcher, 0, sizeof(*out_matcher));
  if (shape_rank > IREE_ARRAYSIZE(out_matcher->shape)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "rank %" PRIhsz " is too large", shape_rank);
  }
  out_matcher->shape_rank = shape_rank;
  if (shape_rank) memcpy(out_matcher->shape, shape, shape_rank * sizeof(*shape));
  out_matcher->element_type = element_type;
  out_matcher->encoding_type = encoding_type;
  return iree_ok_status();
}

void iree_hal_buffer_view_metadata_matcher_deinitialize(iree_hal_buffer_view_metadata_matcher_t* matcher) {}

iree_status_t iree_hal_buffer_view_metadata_matcher_describe(iree_hal_buffer_view_metadata_matcher_t* matcher,
                                                             iree_string_builder_t* builder) {
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "matches "));
  if (matcher->element_type == IREE_HAL_ELEMENT_TYPE_NONE) {
    return iree_hal_append_shape_string(matcher->shape_rank, matcher->shape, builder);
  }
  return iree_hal_append_shape_and_element_type_string(matcher->shape_rank, matcher->shape, matcher->element_type,
                                                       builder);
}

iree_status_t iree_hal_buffer_view_metadata_matcher_match(iree_hal_buffer_view_metadata_matcher_t* matcher,
                                                          iree_hal_buffer_view_t* matchee,
                                                          iree_string_builder_t* builder, bool* out_matched) {
  return iree_hal_buffer_view_match_metadata(matcher->shape_rank, matcher->shape, matcher->element_type,
                                             matcher->encoding_type, matchee, builder, out_matched);
}

iree_status_t iree_hal_buffer_view_element_matcher_initialize(iree_hal_buffer_equality_t equality,
                                                              iree_hal_buffer_element_t value,
                                                              iree_hal_buffer_view_element_matcher_t* out_matcher) {
  *out_matcher = (iree_hal_buffer_view_element_matcher_t){equality, value};
  return iree_ok_status();
}

void iree_hal_buffer_view_element_matcher_deinitialize(iree_hal_buffer_view_element_matcher_t* matcher) {}

iree_status_t iree_hal_buffer_view_element_matcher_describe(iree_hal_buffer_view_element_matcher_t* matcher,
                                                            iree_string_builder_t* builder) {
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "matches all elements to "));
  return append_element(matcher->value.type, matcher->value.storage, builder);
}

iree_status_t iree_hal_buffer_view_element_matcher_match(iree_hal_buffer_view_element_matcher_t* matcher,
                                                         iree_hal_buffer_view_t* matchee,
                                                         iree_string_builder_t* builder, bool* out_matched) {
  return iree_hal_buffer_view_match_elements(matcher->equality, matcher->value, matchee, builder, out_matched);
}

iree_status_t iree_hal_buffer_view_array_matcher_initialize(iree_hal_buffer_equality_t equality,
                                                            iree_hal_element_type_t element_type,
                                                            iree_host_size_t element_count,
                                                            iree_const_byte_span_t elements,
                                                            iree_hal_buffer_view_array_matcher_t* out_matcher) {
  *out_matcher = (iree_hal_buffer_view_array_matcher_t){equality, element_type, element_count, elements};
  return iree_ok_status();
}

void iree_hal_buffer_view_array_matcher_deinitialize(iree_hal_buffer_view_array_matcher_t* matcher) {}

// At most so many elements are shown.
enum { DESCRIBED_ELEMENTS = 8 };

iree_status_t iree_hal_buffer_view_array_matcher_describe(iree_hal_buffer_view_array_matcher_t* matcher,
                                                          iree_string_builder_t* builder) {
  iree_host_size_t size = iree_hal_element_dense_byte_count(matcher->element_type);
  iree_host_size_t count = size ? iree_min(matcher->element_count, matcher->elements.data_length / size) : 0;
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "matches elements "));
  for (iree_host_size_t i = 0; i < iree_min(count, (iree_host_size_t)DESCRIBED_ELEMENTS); ++i) {
    if (i) IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, " "));
    IREE_RETURN_IF_ERROR(append_element(matcher->element_type, matcher->elements.data + i * size, builder));
  }
  return count > DESCRIBED_ELEMENTS ? iree_string_builder_append_cstring(builder, "...") : iree_ok_status();
}

iree_status_t iree_hal_buffer_view_array_matcher_match(iree_hal_buffer_view_array_matcher_t* matcher,
                                                       iree_hal_buffer_view_t* matchee, iree_string_builder_t* builder,
                                                       bool* out_matched) {
  return iree_hal_buffer_view_match_array(matcher->equality, matcher->element_type, matcher->element_count,
                                          matcher->elements, matchee, builder, out_matched);
}

iree_status_t iree_hal_buffer_view_matcher_initialize(iree_hal_buffer_equality_t equality,
                                                      iree_hal_buffer_view_t* expected,
                                                      iree_hal_buffer_view_matcher_t* out_matcher) {
  *out_matcher = (iree_hal_buffer_view_matcher_t){equality, expected};
  iree_hal_buffer_view_retain(expected);
  return iree_ok_status();
}

void iree_hal_buffer_view_matcher_deinitialize(iree_hal_buffer_view_matcher_t* matcher) {
  iree_hal_buffer_view_release(matcher->expected);
  matcher->expected = NULL;
}

iree_status_t iree_hal_buffer_view_matcher_describe(iree_hal_buffer_view_matcher_t* matcher,
                                                    iree_string_builder_t* builder) {
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "matches a view "));
  return iree_hal_append_shape_and_element_type_string(iree_hal_buffer_view_shape_rank(matcher->expected),
                                                       iree_hal_buffer_view_shape_dims(matcher->expected),
                                                       iree_hal_buffer_view_element_type(matcher->expected), builder);
}

iree_status_t iree_hal_buffer_view_matcher_match(iree_hal_buffer_view_matcher_t* matcher,
                                                 iree_hal_buffer_view_t* matchee, iree_string_builder_t* builder,
                                                 bool* out_matched) {
  return iree_hal_buffer_view_match_equal(matcher->equality, matcher->expected, matchee, builder, out_matched);
}
