// Comparing results: metadata, then elements by their type's tolerance.

#include "tooling/compare.h"

#include <math.h>

#include "base/small_float.h"
#include "iree/modules/hal/types.h"

enum { ELEMENT_TEXT_SIZE = 128, PRINTED_ELEMENTS = 1024 };

//===----------------------------------------------------------------------------------------------------------------===
// Elements
//===----------------------------------------------------------------------------------------------------------------===

static double decode_f32(const uint8_t* data) {
  float value;
  memcpy(&value, data, sizeof(value));
  return value;
}
static double decode_f64(const uint8_t* data) {
  double value;
  memcpy(&value, data, sizeof(value));
  return value;
}
static double decode_f16(const uint8_t* data) {
  return small_float_decode(SMALL_F16, data[0] | (uint32_t)data[1] << 8);
}
static double decode_bf16(const uint8_t* data) {
  return small_float_decode(SMALL_BF16, data[0] | (uint32_t)data[1] << 8);
}

// Types that are compared with a tolerance.
typedef struct float_type_t {
  iree_hal_element_type_t type;
  iree_host_size_t size;   // of one number
  iree_host_size_t count;  // numbers in an element: 2 when complex
  double (*decode)(const uint8_t* data);
  size_t tolerance;  // offset of the field in tooling_tolerance_t
} float_type_t;

static const float_type_t float_types[] = {
    {IREE_HAL_ELEMENT_TYPE_FLOAT_16, 2, 1, decode_f16, offsetof(tooling_tolerance_t, f16)},
    {IREE_HAL_ELEMENT_TYPE_BFLOAT_16, 2, 1, decode_bf16, offsetof(tooling_tolerance_t, bf16)},
    {IREE_HAL_ELEMENT_TYPE_FLOAT_32, 4, 1, decode_f32, offsetof(tooling_tolerance_t, f32)},
    {IREE_HAL_ELEMENT_TYPE_FLOAT_64, 8, 1, decode_f64, offsetof(tooling_tolerance_t, f64)},
    {IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_64, 4, 2, decode_f32, offsetof(tooling_tolerance_t, f32)},
    {IREE_HAL_ELEMENT_TYPE_COMPLEX_FLOAT_128, 8, 2, decode_f64, offsetof(tooling_tolerance_t, f64)},
};

static bool numbers_match(double expected, double actual, double absolute, double relative) {
  if (isnan(expected) || isnan(actual)) return isnan(expected) && isnan(actual);
  if (expected == actual) return true;
  if (isinf(expected) || isinf(actual)) return false;
  return fabs(actual - expected) <= absolute + relative * fabs(expected);
}

static bool floats_match(const float_type_t* type, const tooling_tolerance_t* tolerance, const uint8_t* expected,
                         const uint8_t* actual) {
  double absolute;
  memcpy(&absolute, (const uint8_t*)tolerance + type->tolerance, sizeof(absolute));
  for (iree_host_size_t i = 0; i < type->count; ++i) {
    if (!numbers_match(type->decode(expected + i * type->size), type->decode(actual + i * type->size), absolute,
                       tolerance->relative)) {
      return false;
    }
  }
  return true;
}

static const float_type_t* find_float_type(iree_hal_element_type_t type, const tooling_tolerance_t* tolerance) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(float_types) && !tolerance->exact; ++i) {
    if (float_types[i].type == type) return &float_types[i];
  }
  return NULL;
}

// The bits of an element below 8, which may lie across two bytes.
static uint8_t packed_element(iree_const_byte_span_t data, iree_host_size_t bits, iree_host_size_t index) {
  iree_host_size_t at = index * bits / 8, shift = index * bits % 8;
  uint32_t pair = data.data[at] | (at + 1 < data.data_length ? (uint32_t)data.data[at + 1] << 8 : 0);
  return (uint8_t)(pair >> shift & ((1u << bits) - 1));
}

iree_host_size_t tooling_elements_compare(const tooling_tolerance_t* tolerance, iree_hal_element_type_t type,
                                          iree_host_size_t count, const iree_const_byte_span_t views[2]) {
  iree_const_byte_span_t expected = views[0], actual = views[1];
  const float_type_t* float_type = find_float_type(type, tolerance);
  iree_host_size_t size = iree_hal_element_dense_byte_count(type), bits = iree_hal_element_bit_count(type);
  for (iree_host_size_t i = 0; i < count; ++i) {
    if (bits < 8) {
      if (packed_element(expected, bits, i) != packed_element(actual, bits, i)) return i;
      continue;
    }
    const uint8_t *a = expected.data + i * size, *b = actual.data + i * size;
    if (memcmp(a, b, size) == 0) continue;
    if (!float_type || !floats_match(float_type, tolerance, a, b)) return i;
  }
  return count;
}

//===----------------------------------------------------------------------------------------------------------------===
// Views
//===----------------------------------------------------------------------------------------------------------------===

static bool types_match(iree_hal_element_type_t expected, iree_hal_element_type_t actual) {
  if (expected == actual) return true;
  // Programs' integers have no sign, NumPy's do.
  return iree_hal_element_numerical_type_is_integer(expected) && iree_hal_element_numerical_type_is_integer(actual) &&
         iree_hal_element_bit_count(expected) == iree_hal_element_bit_count(actual);
}

static bool metadata_matches(const iree_hal_buffer_view_t* expected, const iree_hal_buffer_view_t* actual) {
  iree_host_size_t rank = iree_hal_buffer_view_shape_rank(expected);
  return types_match(iree_hal_buffer_view_element_type(expected), iree_hal_buffer_view_element_type(actual)) &&
         rank == iree_hal_buffer_view_shape_rank(actual) &&
         memcmp(iree_hal_buffer_view_shape_dims(expected), iree_hal_buffer_view_shape_dims(actual),
                rank * sizeof(iree_hal_dim_t)) == 0 &&
         iree_hal_buffer_view_encoding_type(expected) == iree_hal_buffer_view_encoding_type(actual);
}

static void print_metadata(const iree_hal_buffer_view_t* view, FILE* file) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  IREE_IGNORE_ERROR(iree_hal_append_shape_and_element_type_string(iree_hal_buffer_view_shape_rank(view),
                                                                  iree_hal_buffer_view_shape_dims(view),
                                                                  iree_hal_buffer_view_element_type(view), &builder));
  fwrite(iree_string_builder_buffer(&builder), 1, iree_string_builder_size(&builder), file);
  iree_string_builder_deinitialize(&builder);
}

void tooling_element_print(iree_hal_element_type_t type, iree_const_byte_span_t data, iree_host_size_t index,
                           FILE* file) {
  iree_host_size_t size = iree_hal_element_dense_byte_count(type), length = 0;
  char text[ELEMENT_TEXT_SIZE] = "?";
  uint8_t packed;
  iree_host_size_t bits = iree_hal_element_bit_count(type);
  iree_const_byte_span_t element = {&packed, 1};
  if (bits < 8) {
    packed = packed_element(data, bits, index);
  } else {
    element = iree_make_const_byte_span(data.data + index * size, size);
  }
  IREE_IGNORE_ERROR(iree_hal_format_element(element, type, sizeof(text), text, &length));
  fputs(text, file);
}

// Everything that comparing two results needs.
typedef struct comparison_t {
  tooling_device_t device;
  const tooling_tolerance_t* tolerance;
  FILE* file;
  iree_host_size_t index;  // of the result
} comparison_t;

static iree_status_t print_views(const comparison_t* comparison, const iree_hal_buffer_view_t* expected,
                                 const iree_hal_buffer_view_t* actual) {
  FILE* file = comparison->file;
  fprintf(file, "; expected that the view is equal to contents of a view of ");
  print_metadata(expected, file);
  fprintf(file, "\n  expected:\n");
  IREE_RETURN_IF_ERROR(tooling_view_print(expected, comparison->device, PRINTED_ELEMENTS, file));
  fprintf(file, "\n  actual:\n");
  IREE_RETURN_IF_ERROR(tooling_view_print(actual, comparison->device, PRINTED_ELEMENTS, file));
  fputc('\n', file);
  return iree_ok_status();
}

static iree_status_t compare_elements(const comparison_t* comparison, const iree_hal_buffer_view_t* expected,
                                      const iree_hal_buffer_view_t* actual, bool* out_match) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_byte_span_t expected_span, actual_span;
  IREE_RETURN_IF_ERROR(tooling_view_read(expected, comparison->device, allocator, &expected_span));
  iree_status_t status = tooling_view_read(actual, comparison->device, allocator, &actual_span);
  if (iree_status_is_ok(status)) {
    iree_const_byte_span_t a = iree_const_cast_byte_span(expected_span), b = iree_const_cast_byte_span(actual_span);
    iree_hal_element_type_t type = iree_hal_buffer_view_element_type(expected);
    iree_host_size_t count = iree_hal_buffer_view_element_count(expected);
    iree_host_size_t index =
        tooling_elements_compare(comparison->tolerance, type, count, (iree_const_byte_span_t[]){a, b});
    *out_match = index == count;
    if (!*out_match) {
      fprintf(comparison->file, "[FAILED] result[%zu]: element at index %zu (", comparison->index, index);
      tooling_element_print(type, b, index, comparison->file);
      fprintf(comparison->file, ") does not match the expected (");
      tooling_element_print(type, a, index, comparison->file);
      fputc(')', comparison->file);
      status = print_views(comparison, expected, actual);
    }
    iree_allocator_free(allocator, actual_span.data);
  }
  iree_allocator_free(allocator, expected_span.data);
  return status;
}

static iree_status_t compare_views(const comparison_t* comparison, const iree_hal_buffer_view_t* expected,
                                   const iree_hal_buffer_view_t* actual, bool* out_match) {
  if (metadata_matches(expected, actual)) return compare_elements(comparison, expected, actual, out_match);
  *out_match = false;
  fprintf(comparison->file, "[FAILED] result[%zu]: metadata is ", comparison->index);
  print_metadata(actual, comparison->file);
  fprintf(comparison->file, "; expected that the view matches ");
  print_metadata(expected, comparison->file);
  return print_views(comparison, expected, actual);
}

//===----------------------------------------------------------------------------------------------------------------===
// Values and lists
//===----------------------------------------------------------------------------------------------------------------===

static bool values_match(iree_vm_value_t expected, iree_vm_value_t actual, const tooling_tolerance_t* tolerance) {
  if (expected.type != actual.type) return false;
  switch (expected.type) {
    case IREE_VM_VALUE_TYPE_I32:
      return expected.i32 == actual.i32;
    case IREE_VM_VALUE_TYPE_I64:
      return expected.i64 == actual.i64;
    case IREE_VM_VALUE_TYPE_F32:
      if (tolerance->exact) return memcmp(&expected.f32, &actual.f32, sizeof(float)) == 0;
      return numbers_match(expected.f32, actual.f32, tolerance->f32, tolerance->relative);
    default:
      if (tolerance->exact) return memcmp(&expected.f64, &actual.f64, sizeof(double)) == 0;
      return numbers_match(expected.f64, actual.f64, tolerance->f64, tolerance->relative);
  }
}

static void describe(iree_vm_variant_t variant, FILE* file) {
  if (iree_vm_variant_is_empty(variant)) {
    fputs("(null)", file);
    return;
  }
  if (iree_vm_variant_is_ref(variant)) {
    iree_string_view_t type = iree_vm_ref_type_name(variant.ref.type);
    fprintf(file, "!%.*s", (int)type.size, type.data);
    return;
  }
  switch (iree_vm_type_def_as_value(variant.type)) {
    case IREE_VM_VALUE_TYPE_I32:
      fprintf(file, "i32=%" PRIi32, variant.i32);
      break;
    case IREE_VM_VALUE_TYPE_I64:
      fprintf(file, "i64=%" PRIi64, variant.i64);
      break;
    case IREE_VM_VALUE_TYPE_F32:
      fprintf(file, "f32=%.9g", variant.f32);
      break;
    default:
      fprintf(file, "f64=%.17g", variant.f64);
      break;
  }
}

static iree_status_t compare_variants(const comparison_t* comparison, iree_vm_variant_t expected,
                                      iree_vm_variant_t actual, bool* out_match) {
  *out_match = true;
  if (tooling_variant_is_ignored(expected)) return iree_ok_status();
  bool refs = iree_vm_variant_is_ref(expected) && iree_vm_variant_is_ref(actual);
  if (refs && iree_hal_buffer_view_isa(expected.ref) && iree_hal_buffer_view_isa(actual.ref)) {
    return compare_views(comparison, iree_hal_buffer_view_deref(expected.ref), iree_hal_buffer_view_deref(actual.ref),
                         out_match);
  }
  *out_match = iree_vm_variant_is_empty(expected) && iree_vm_variant_is_empty(actual);
  if (iree_vm_variant_is_value(expected) && iree_vm_variant_is_value(actual)) {
    *out_match = values_match(iree_vm_variant_value(expected), iree_vm_variant_value(actual), comparison->tolerance);
  }
  if (*out_match) return iree_ok_status();
  fprintf(comparison->file, "[FAILED] result[%zu]: ", comparison->index);
  describe(actual, comparison->file);
  fprintf(comparison->file, " does not match the expected ");
  describe(expected, comparison->file);
  fputc('\n', comparison->file);
  return iree_ok_status();
}

iree_status_t tooling_lists_compare(const tooling_comparison_t* comparison, const iree_vm_list_t* expected,
                                    const iree_vm_list_t* actual, bool* out_match) {
  iree_host_size_t count = iree_vm_list_size(actual);
  *out_match = iree_vm_list_size(expected) == count;
  if (!*out_match) {
    fprintf(comparison->file, "[FAILED] expected %zu list elements but %zu provided\n", iree_vm_list_size(expected),
            count);
    return iree_ok_status();
  }
  for (iree_host_size_t i = 0; i < count; ++i) {
    comparison_t one = {comparison->device, &comparison->tolerance, comparison->file, i};
    iree_vm_variant_t expected_variant, actual_variant;
    bool match = false;
    IREE_RETURN_IF_ERROR(iree_vm_list_get_variant_assign(expected, i, &expected_variant));
    IREE_RETURN_IF_ERROR(iree_vm_list_get_variant_assign(actual, i, &actual_variant));
    IREE_RETURN_IF_ERROR(compare_variants(&one, expected_variant, actual_variant, &match));
    *out_match &= match;
  }
  fflush(comparison->file);
  return iree_ok_status();
}
