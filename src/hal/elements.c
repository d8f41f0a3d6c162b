// Single elements and lists of them as text.
//
// Numbers go through one of three wide forms (int64, uint64, double); everything else is hex bytes. Sub-byte elements
// are packed, the first in the low bits.
#include <math.h>

#include "base/small_float.h"
#include "hal/detail.h"
#include "iree/hal/string_util.h"

typedef enum { FORM_HEX, FORM_SIGNED, FORM_UNSIGNED, FORM_FLOAT, FORM_F64 } element_form_t;

typedef struct element_info_t {
  element_form_t form;
  small_float_t format;  // for FORM_FLOAT
  size_t bits;
} element_info_t;

static element_info_t element_info(iree_hal_element_type_t type) {
  static const iree_hal_element_type_t floats[SMALL_FLOAT_COUNT] = {
#define FORMAT(NAME, text, bits, bytes, exponent, mantissa, bias, specials, element) IREE_HAL_ELEMENT_TYPE_##element,
#include "base/formats.def"
#undef FORMAT
  };
  element_info_t info = {FORM_HEX, SMALL_F16, iree_hal_element_bit_count(type)};
  iree_hal_numerical_type_t kind = iree_hal_element_numerical_type(type);
  if (type == IREE_HAL_ELEMENT_TYPE_NONE) return info;
  for (size_t i = 0; i < SMALL_FLOAT_COUNT; ++i) {
    if (floats[i] != type) continue;
    info.form = i == SMALL_F64 ? FORM_F64 : FORM_FLOAT;
    info.format = (small_float_t)i;
  }
  bool is_integer_width = info.bits < 8 || info.bits == 8 || info.bits == 16 || info.bits == 32 || info.bits == 64;
  if (is_integer_width && kind == IREE_HAL_NUMERICAL_TYPE_INTEGER) info.form = FORM_SIGNED;
  if (is_integer_width && kind == IREE_HAL_NUMERICAL_TYPE_INTEGER_SIGNED) info.form = FORM_SIGNED;
  if (is_integer_width && kind == IREE_HAL_NUMERICAL_TYPE_INTEGER_UNSIGNED) info.form = FORM_UNSIGNED;
  return info;
}

// Elements below 8 bits follow each other without gaps, across bytes too.
static uint64_t load_bits(const element_info_t* info, const uint8_t* data, size_t index) {
  uint64_t value = 0;
  if (info->bits >= 8) {
    memcpy(&value, data + index * (info->bits / 8), info->bits / 8);
    return value;
  }
  size_t shift = index * info->bits % 8;
  const uint8_t* byte = &data[index * info->bits / 8];
  uint32_t pair = byte[0] | (shift + info->bits > 8 ? (uint32_t)byte[1] << 8 : 0);
  return pair >> shift & ((1u << info->bits) - 1);
}

static void store_bits(const element_info_t* info, uint8_t* data, size_t index, uint64_t value) {
  if (info->bits >= 8) {
    memcpy(data + index * (info->bits / 8), &value, info->bits / 8);
    return;
  }
  size_t shift = index * info->bits % 8;
  uint32_t mask = ((1u << info->bits) - 1) << shift, bits = (uint32_t)value << shift & mask;
  uint8_t* byte = &data[index * info->bits / 8];
  byte[0] = (uint8_t)((byte[0] & ~mask) | bits);
  if (mask > 0xff) byte[1] = (uint8_t)((byte[1] & ~(mask >> 8)) | bits >> 8);
}

//===----------------------------------------------------------------------------------------------------------------===
// Formatting
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t append_hex(const uint8_t* data, size_t size, iree_string_builder_t* builder) {
  for (size_t i = 0; i < size; ++i) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "%02X", data[i]));
  }
  return iree_ok_status();
}

static iree_status_t append_element(const element_info_t* info, const uint8_t* data, size_t index,
                                    iree_string_builder_t* builder) {
  if (info->form == FORM_HEX) {
    size_t size = (info->bits + 7) / 8;
    return append_hex(data + index * size, size, builder);
  }
  uint64_t bits = load_bits(info, data, index);
  if (info->form == FORM_UNSIGNED) return iree_string_builder_append_format(builder, "%" PRIu64, bits);
  if (info->form == FORM_SIGNED) {
    int unused = 64 - (int)info->bits;
    return iree_string_builder_append_format(builder, "%" PRId64, (int64_t)(bits << unused) >> unused);
  }
  double value = 0;
  if (info->form == FORM_F64) {
    memcpy(&value, &bits, sizeof(value));
  } else {
    value = small_float_decode(info->format, (uint32_t)bits);
  }
  if (isnan(value)) value = NAN;  // without a sign
  return iree_string_builder_append_format(builder, "%G", value);
}

typedef struct single_element_t {
  element_info_t info;
  const uint8_t* data;
} single_element_t;

static iree_status_t append_single(const void* params, iree_string_builder_t* builder) {
  const single_element_t* element = (const single_element_t*)params;
  return append_element(&element->info, element->data, 0, builder);
}

iree_status_t iree_hal_format_element(iree_const_byte_span_t data, iree_hal_element_type_t element_type,
                                      iree_host_size_t buffer_capacity, char* buffer,
                                      iree_host_size_t* out_buffer_length) {
  single_element_t element = {element_info(element_type), data.data};
  if (data.data_length < (element.info.bits + 7) / 8) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "data of %" PRIhsz " bytes holds no element",
                            data.data_length);
  }
  return hal_format_with(append_single, &element, buffer_capacity, buffer, out_buffer_length);
}

typedef struct format_state_t {
  element_info_t info;
  const uint8_t* data;
  iree_host_size_t rank;
  const iree_hal_dim_t* shape;
  size_t next;  // element to print
  size_t left;  // until truncation
  iree_string_builder_t* builder;
} format_state_t;

static iree_status_t append_row(format_state_t* state, iree_hal_dim_t count) {
  for (iree_hal_dim_t i = 0; i < count; ++i) {
    if (state->left == 0) return iree_string_builder_append_cstring(state->builder, "...");
    if (i) IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(state->builder, " "));
    IREE_RETURN_IF_ERROR(append_element(&state->info, state->data, state->next++, state->builder));
    --state->left;
  }
  return iree_ok_status();
}

static iree_status_t append_dimension(format_state_t* state, iree_host_size_t dimension) {
  if (dimension + 1 >= state->rank) return append_row(state, state->rank ? state->shape[dimension] : 1);
  for (iree_hal_dim_t i = 0; i < state->shape[dimension]; ++i) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(state->builder, "["));
    IREE_RETURN_IF_ERROR(append_dimension(state, dimension + 1));
    IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(state->builder, "]"));
  }
  return iree_ok_status();
}

iree_status_t hal_append_buffer_elements(iree_const_byte_span_t data, iree_host_size_t shape_rank,
                                         const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
                                         iree_host_size_t max_element_count, iree_string_builder_t* builder) {
  iree_device_size_t count = 1, size = 0;
  for (iree_host_size_t i = 0; i < shape_rank; ++i) {
    if (!iree_device_size_checked_mul(count, shape[i], &count)) count = IREE_DEVICE_SIZE_MAX / 256;
  }
  size = iree_hal_element_packed_byte_count(element_type, count);
  if (count > IREE_DEVICE_SIZE_MAX / 256 || data.data_length < size) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "buffer of %" PRIhsz " bytes is smaller than its shape",
                            data.data_length);
  }
  format_state_t state = {.info = element_info(element_type),
                          .data = data.data,
                          .rank = shape_rank,
                          .shape = shape,
                          .left = max_element_count,
                          .builder = builder};
  return append_dimension(&state, 0);
}

typedef struct elements_t {
  iree_const_byte_span_t data;
  iree_host_size_t rank;
  const iree_hal_dim_t* shape;
  iree_hal_element_type_t type;
  iree_host_size_t max_count;
} elements_t;

static iree_status_t append_elements(const void* params, iree_string_builder_t* builder) {
  const elements_t* elements = (const elements_t*)params;
  return hal_append_buffer_elements(elements->data, elements->rank, elements->shape, elements->type,
                                    elements->max_count, builder);
}

iree_status_t iree_hal_format_buffer_elements(iree_const_byte_span_t data, iree_host_size_t shape_rank,
                                              const iree_hal_dim_t* shape, iree_hal_element_type_t element_type,
                                              iree_host_size_t max_element_count, iree_host_size_t buffer_capacity,
                                              char* buffer, iree_host_size_t* out_buffer_length) {
  elements_t elements = {data, shape_rank, shape, element_type, max_element_count};
  return hal_format_with(append_elements, &elements, buffer_capacity, buffer, out_buffer_length);
}

//===----------------------------------------------------------------------------------------------------------------===
// Parsing
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t parse_error(iree_string_view_t text, const char* what) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "element '%.*s' is not a valid %s",
                          (int)iree_min(text.size, 64), text.data, what);
}

// Decimal, or 0x...; elements like `010` are not octal.
static int base_of(iree_string_view_t text) {
  iree_string_view_consume_prefix(&text, IREE_SV("-"));
  return iree_string_view_starts_with(text, IREE_SV("0x")) || iree_string_view_starts_with(text, IREE_SV("0X")) ? 16
                                                                                                                : 10;
}

static iree_status_t parse_integer(const element_info_t* info, iree_string_view_t text, uint64_t* out_bits) {
  int64_t value = 0;
  uint64_t unsigned_value = 0;
  int base = base_of(text);
  if (info->form == FORM_UNSIGNED || iree_string_view_atoi_uint64_base(text, base, &unsigned_value)) {
    if (!iree_string_view_atoi_uint64_base(text, base, &unsigned_value)) return parse_error(text, "unsigned integer");
    if (info->bits < 64 && unsigned_value >> info->bits) return parse_error(text, "integer of this width");
    *out_bits = unsigned_value;
    return iree_ok_status();
  }
  if (!iree_string_view_atoi_int64_base(text, base, &value)) return parse_error(text, "integer");
  if (info->bits < 64 && value < -(1ll << (info->bits - 1))) return parse_error(text, "integer of this width");
  *out_bits = (uint64_t)value;
  return iree_ok_status();
}

static iree_status_t parse_number(const element_info_t* info, iree_string_view_t text, uint64_t* out_bits) {
  *out_bits = 0;
  double value = 0;
  float narrow = 0;
  switch (info->form) {
    case FORM_F64:
      if (!iree_string_view_atod(text, &value)) return parse_error(text, "number");
      memcpy(out_bits, &value, sizeof(value));
      return iree_ok_status();
    case FORM_FLOAT:
      if (info->format == SMALL_F32 ? !iree_string_view_atof(text, &narrow) : !iree_string_view_atod(text, &value)) {
        return parse_error(text, "number");
      }
      if (info->format == SMALL_F32) value = narrow;  // rounded once
      *out_bits = small_float_encode(info->format, value);
      return iree_ok_status();
    default:
      return parse_integer(info, text, out_bits);
  }
}

iree_status_t iree_hal_parse_element(iree_string_view_t data_str, iree_hal_element_type_t element_type,
                                     iree_byte_span_t data_ptr) {
  element_info_t info = element_info(element_type);
  size_t size = (info.bits + 7) / 8;
  if (data_ptr.data_length < size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%" PRIhsz " bytes have no room for an element",
                            data_ptr.data_length);
  }
  if (info.form == FORM_HEX) {
    if (iree_string_view_parse_hex_bytes(data_str, size, data_ptr.data)) return iree_ok_status();
    return parse_error(data_str, "hex value of this width");
  }
  uint64_t bits = 0;
  IREE_RETURN_IF_ERROR(parse_number(&info, data_str, &bits));
  if (info.bits < 8) data_ptr.data[0] = 0;
  store_bits(&info, data_ptr.data, 0, bits);
  return iree_ok_status();
}

static bool is_separator(char c) {
  return c == ' ' || c == ',' || c == '[' || c == ']' || c == '\n' || c == '\r' || c == '\t';
}

static bool next_token(iree_string_view_t* rest, iree_string_view_t* out_token) {
  while (rest->size && is_separator(rest->data[0])) *rest = iree_string_view_remove_prefix(*rest, 1);
  size_t length = 0;
  while (length < rest->size && !is_separator(rest->data[length])) ++length;
  *out_token = iree_string_view_substr(*rest, 0, length);
  *rest = iree_string_view_remove_prefix(*rest, length);
  return length > 0;
}

// Repeats the first element until `data` is full.
static void splat_elements(const element_info_t* info, iree_byte_span_t data, size_t capacity) {
  size_t size = info->bits / 8;
  for (size_t i = 1; i < capacity; ++i) {
    if (info->bits < 8) {
      store_bits(info, data.data, i, load_bits(info, data.data, 0));
    } else {
      memcpy(data.data + i * size, data.data, size);
    }
  }
}

// The last byte of packed elements need not be full.
static iree_status_t check_count(const element_info_t* info, size_t count, size_t capacity) {
  size_t slack = info->bits < 8 ? 7 / info->bits : 0;
  if (count + slack < capacity) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "input data string underflow: dst_i=%" PRIhsz " < element_capacity=%" PRIhsz, count,
                            capacity);
  }
  if (count > capacity) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "output data overflow: dst_i=%" PRIhsz " > element_capacity=%" PRIhsz, count, capacity);
  }
  return iree_ok_status();
}

// Hex elements may run together: a token is any number of whole elements. Booleans may be words too.
static iree_status_t parse_hex_token(const element_info_t* info, bool is_boolean, iree_string_view_t token,
                                     iree_byte_span_t data, size_t capacity, size_t* inout_count) {
  size_t size = info->bits / 8;
  if (is_boolean) {
    bool is_true = iree_string_view_equal(token, IREE_SV("true")) || iree_string_view_equal(token, IREE_SV("1"));
    bool is_false = iree_string_view_equal(token, IREE_SV("false")) || iree_string_view_equal(token, IREE_SV("0"));
    if (is_true || is_false) {
      if (*inout_count < capacity) data.data[*inout_count] = is_true;
      ++*inout_count;
      return iree_ok_status();
    }
  }
  if (size == 0 || token.size % (size * 2)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "binary hex element count mismatch: '%.*s' is not a multiple of %" PRIhsz " digits",
                            (int)iree_min(token.size, 64), token.data, size * 2);
  }
  for (size_t i = 0; i < token.size; i += size * 2, ++*inout_count) {
    if (*inout_count >= capacity) continue;
    if (!iree_string_view_parse_hex_bytes(iree_string_view_substr(token, i, size * 2), size,
                                          data.data + *inout_count * size)) {
      return parse_error(token, "hex value");
    }
  }
  return iree_ok_status();
}

iree_status_t iree_hal_parse_buffer_elements(iree_string_view_t data_str, iree_hal_element_type_t element_type,
                                             iree_byte_span_t data_ptr) {
  element_info_t info = element_info(element_type);
  if (info.bits == 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "elements of 0 bits have no values");
  size_t capacity = data_ptr.data_length * 8 / info.bits;
  size_t count = 0;
  bool is_boolean = element_type == IREE_HAL_ELEMENT_TYPE_BOOL_8;
  iree_string_view_t rest = data_str, token;
  while (next_token(&rest, &token)) {
    if (info.form == FORM_HEX) {
      IREE_RETURN_IF_ERROR(parse_hex_token(&info, is_boolean, token, data_ptr, capacity, &count));
      continue;
    }
    uint64_t bits = 0;
    IREE_RETURN_IF_ERROR(parse_number(&info, token, &bits));
    if (count < capacity) store_bits(&info, data_ptr.data, count, bits);
    ++count;
  }
  if (count == 1 && capacity > 1) {
    splat_elements(&info, data_ptr, capacity);
    return iree_ok_status();
  }
  return check_count(&info, count, capacity);
}
