// Shapes and element types as text.
#include "iree/hal/string_util.h"

#include "hal/detail.h"

iree_status_t hal_format_with(hal_append_fn_t append, const void* params, iree_host_size_t buffer_capacity,
                              char* buffer, iree_host_size_t* out_buffer_length) {
  iree_string_builder_t builder;
  iree_string_builder_initialize_with_storage(NULL, 0, &builder);
  IREE_RETURN_IF_ERROR(append(params, &builder));
  iree_host_size_t length = iree_string_builder_size(&builder);
  if (out_buffer_length) *out_buffer_length = length;
  if (length >= buffer_capacity) return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
  buffer[0] = 0;
  iree_string_builder_initialize_with_storage(buffer, buffer_capacity, &builder);
  return append(params, &builder);
}

//===----------------------------------------------------------------------------------------------------------------===
// Shapes
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t parse_dim(iree_string_view_t text, iree_hal_dim_t* out_dim) {
  uint64_t value = 0;
  if (!iree_string_view_atoi_uint64_base(text, 10, &value)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "shape dimension '%.*s' is not a number", (int)text.size,
                            text.data);
  }
  *out_dim = (iree_hal_dim_t)value;
  return iree_ok_status();
}

iree_status_t iree_hal_parse_shape(iree_string_view_t value, iree_host_size_t shape_capacity,
                                   iree_host_size_t* out_shape_rank, iree_hal_dim_t* out_shape) {
  *out_shape_rank = 0;
  iree_host_size_t rank = 0;
  if (value.size && value.data[value.size - 1] == 'x') {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "shape '%.*s' ends with an x", (int)value.size, value.data);
  }
  for (iree_string_view_t rest = value, text; rest.size; ++rank) {
    iree_hal_dim_t dim = 0;
    iree_string_view_split(rest, 'x', &text, &rest);
    IREE_RETURN_IF_ERROR(parse_dim(text, &dim));
    if (rank < shape_capacity) out_shape[rank] = dim;
  }
  *out_shape_rank = rank;
  return rank <= shape_capacity ? iree_ok_status() : iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
}

iree_status_t iree_hal_append_shape_string(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                           iree_string_builder_t* string_builder) {
  for (iree_host_size_t i = 0; i < shape_rank; ++i) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(string_builder, i ? "x%" PRIdim : "%" PRIdim, shape[i]));
  }
  return iree_ok_status();
}

typedef struct shape_t {
  iree_host_size_t rank;
  const iree_hal_dim_t* dims;
} shape_t;
static iree_status_t append_shape(const void* params, iree_string_builder_t* builder) {
  const shape_t* shape = (const shape_t*)params;
  return iree_hal_append_shape_string(shape->rank, shape->dims, builder);
}
iree_status_t iree_hal_format_shape(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                    iree_host_size_t buffer_capacity, char* buffer,
                                    iree_host_size_t* out_buffer_length) {
  shape_t params = {shape_rank, shape};
  return hal_format_with(append_shape, &params, buffer_capacity, buffer, out_buffer_length);
}

//===----------------------------------------------------------------------------------------------------------------===
// Element types
//===----------------------------------------------------------------------------------------------------------------===

static const struct {
  iree_hal_element_type_t type;
  iree_string_view_t text;
} element_rows[] = {
#define ELEMENT_ROW(name, numerical_type, bits, text) {IREE_HAL_ELEMENT_TYPE_##name, IREE_SVL(text)},
    IREE_HAL_ELEMENT_TYPES(ELEMENT_ROW)
#undef ELEMENT_ROW
};

// Integers of any width: `i2`, `ui6`. NUMERICAL(prefix, type)
#define INTEGER_PREFIXES(NUMERICAL) \
  NUMERICAL("i", INTEGER)           \
  NUMERICAL("si", INTEGER_SIGNED)   \
  NUMERICAL("ui", INTEGER_UNSIGNED)
static const struct {
  iree_hal_numerical_type_t type;
  iree_string_view_t prefix;
} integer_rows[] = {
#define NUMERICAL(prefix, type) {IREE_HAL_NUMERICAL_TYPE_##type, IREE_SVL(prefix)},
    INTEGER_PREFIXES(NUMERICAL)
#undef NUMERICAL
};

static bool parse_width(iree_string_view_t text, uint32_t most, uint32_t* out_bits) {
  bool digits = text.size && text.data[0] >= '1' && text.data[0] <= '9';
  return digits && iree_string_view_atoi_uint32_base(text, 10, out_bits) && *out_bits <= most;
}

iree_status_t iree_hal_parse_element_type(iree_string_view_t value, iree_hal_element_type_t* out_element_type) {
  *out_element_type = IREE_HAL_ELEMENT_TYPE_NONE;
  for (size_t i = 0; i < IREE_ARRAYSIZE(element_rows) && value.size; ++i) {
    if (!iree_string_view_equal(element_rows[i].text, value)) continue;
    *out_element_type = element_rows[i].type;
    return iree_ok_status();
  }
  uint32_t bits = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(integer_rows); ++i) {
    iree_string_view_t width = value;
    if (!iree_string_view_consume_prefix(&width, integer_rows[i].prefix) || !parse_width(width, 64, &bits)) continue;
    *out_element_type = iree_hal_make_element_type(integer_rows[i].type, bits);
    return iree_ok_status();
  }
  bool is_opaque = value.size && (value.data[0] == 'x' || value.data[0] == '*');
  if (is_opaque && parse_width(iree_string_view_remove_prefix(value, 1), 255, &bits)) {
    *out_element_type = iree_hal_make_element_type(IREE_HAL_NUMERICAL_TYPE_UNKNOWN, bits);
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unhandled element type '%.*s'", (int)value.size, value.data);
}

iree_status_t iree_hal_append_element_type_string(iree_hal_element_type_t element_type,
                                                  iree_string_builder_t* string_builder) {
  for (size_t i = 0; i < IREE_ARRAYSIZE(element_rows); ++i) {
    if (element_rows[i].type != element_type || !element_rows[i].text.size) continue;
    return iree_string_builder_append_string(string_builder, element_rows[i].text);
  }
  for (size_t i = 0; i < IREE_ARRAYSIZE(integer_rows); ++i) {
    iree_host_size_t bits = iree_hal_element_bit_count(element_type);
    if (element_type != iree_hal_make_element_type(integer_rows[i].type, bits) || !bits) continue;
    return iree_string_builder_append_format(string_builder, "%.*s%" PRIhsz, (int)integer_rows[i].prefix.size,
                                             integer_rows[i].prefix.data, bits);
  }
  return iree_string_builder_append_format(string_builder, "*%u", (unsigned)(element_type & 0xFF));
}

static iree_status_t append_element_type(const void* params, iree_string_builder_t* builder) {
  return iree_hal_append_element_type_string(*(const iree_hal_element_type_t*)params, builder);
}
iree_status_t iree_hal_format_element_type(iree_hal_element_type_t element_type, iree_host_size_t buffer_capacity,
                                           char* buffer, iree_host_size_t* out_buffer_length) {
  return hal_format_with(append_element_type, &element_type, buffer_capacity, buffer, out_buffer_length);
}

//===----------------------------------------------------------------------------------------------------------------===
// Both
//===----------------------------------------------------------------------------------------------------------------===

// The dimensions are all leading `<digits>x`; what follows is the type, which may itself start with an x.
iree_status_t iree_hal_parse_shape_and_element_type(iree_string_view_t value, iree_host_size_t shape_capacity,
                                                    iree_host_size_t* out_shape_rank, iree_hal_dim_t* out_shape,
                                                    iree_hal_element_type_t* out_element_type) {
  *out_shape_rank = 0;
  *out_element_type = IREE_HAL_ELEMENT_TYPE_NONE;
  value = iree_string_view_trim(value);
  iree_host_size_t shape_length = 0;  // with the last x
  for (iree_host_size_t i = 0; i < value.size; ++i) {
    if (value.data[i] == 'x' && i > shape_length) {
      shape_length = i + 1;
    } else if (value.data[i] < '0' || value.data[i] > '9') {
      break;
    }
  }
  iree_string_view_t shape_text = iree_string_view_substr(value, 0, shape_length ? shape_length - 1 : 0);
  IREE_RETURN_IF_ERROR(iree_hal_parse_shape(shape_text, shape_capacity, out_shape_rank, out_shape));
  return iree_hal_parse_element_type(iree_string_view_remove_prefix(value, shape_length), out_element_type);
}

iree_status_t iree_hal_append_shape_and_element_type_string(iree_host_size_t shape_rank, const iree_hal_dim_t* shape,
                                                            iree_hal_element_type_t element_type,
                                                            iree_string_builder_t* string_builder) {
  IREE_RETURN_IF_ERROR(iree_hal_append_shape_string(shape_rank, shape, string_builder));
  if (shape_rank) IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(string_builder, "x"));
  return iree_hal_append_element_type_string(element_type, string_builder);
}
