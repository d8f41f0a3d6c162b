// See elements.h.
#include "modules/check/elements.h"

#include <string.h>

#include "base/small_float.h"

// Formats with their element types; SMALL_FLOAT_COUNT: no float.
static small_float_t format_of(iree_hal_element_type_t type) {
  static const iree_hal_element_type_t types[SMALL_FLOAT_COUNT] = {
#define FORMAT(NAME, text, bits, bytes, exponent, mantissa, bias, specials, element) IREE_HAL_ELEMENT_TYPE_##element,
#include "base/formats.def"
#undef FORMAT
  };
  int format = 0;
  while (format < SMALL_FLOAT_COUNT && (types[format] != type || type == IREE_HAL_ELEMENT_TYPE_NONE)) ++format;
  return (small_float_t)format;
}

bool check_element_is_float(iree_hal_element_type_t type) {
  return format_of(type) < SMALL_FLOAT_COUNT && iree_hal_element_is_byte_aligned(type);
}

static iree_status_t refuse(iree_hal_element_type_t type) {
  char text[32];
  iree_host_size_t length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_format_element_type(type, sizeof(text), text, &length));
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "elements of type %s cannot be checked so", text);
}

iree_status_t check_element_decode(iree_hal_element_type_t type, const uint8_t* data, double* out_value) {
  small_float_t format = format_of(type);
  uint32_t bits = 0;
  *out_value = 0;
  if (!check_element_is_float(type)) return refuse(type);
  if (format == SMALL_F64) {
    memcpy(out_value, data, sizeof(*out_value));
    return iree_ok_status();
  }
  memcpy(&bits, data, float_formats[format].bytes);  // little-endian, as everything here is
  *out_value = small_float_decode(format, bits);
  return iree_ok_status();
}

iree_status_t check_element_is_zero(iree_hal_element_type_t type, const uint8_t* data, bool* out_zero) {
  *out_zero = true;
  if (check_element_is_float(type)) {
    double value = 0;
    IREE_RETURN_IF_ERROR(check_element_decode(type, data, &value));
    *out_zero = value == 0;
    return iree_ok_status();
  }
  bool integer = iree_hal_element_numerical_type_is_integer(type) || iree_hal_element_numerical_type_is_boolean(type);
  if (!integer || !iree_hal_element_is_byte_aligned(type)) return refuse(type);
  iree_host_size_t size = iree_hal_element_dense_byte_count(type);
  for (iree_host_size_t i = 0; i < size; ++i) *out_zero &= data[i] == 0;
  return iree_ok_status();
}
