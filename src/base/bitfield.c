// Bit fields as text.
#include "iree/base/bitfield.h"

// 16, 0x10, or 10h as it is printed.
static bool parse_number(iree_string_view_t text, uint32_t* out_value) {
  char last = text.data[text.size - 1];
  bool hex = text.size > 1 && (last == 'h' || last == 'H');
  if (hex) return iree_string_view_atoi_uint32_base(iree_string_view_substr(text, 0, text.size - 1), 16, out_value);
  return text.data[0] >= '0' && text.data[0] <= '9' && iree_string_view_atoi_uint32(text, out_value);
}

iree_status_t iree_bitfield_parse(iree_string_view_t value, iree_host_size_t mapping_count,
                                  const iree_bitfield_string_mapping_t* mappings, uint32_t* out_value) {
  uint32_t bits = 0;
  for (iree_string_view_t rest = value, name; rest.size;) {
    iree_string_view_split(rest, '|', &name, &rest);
    name = iree_string_view_trim(name);
    if (name.size == 0 || iree_string_view_equal_case(name, IREE_SV("NONE"))) continue;
    iree_host_size_t i = 0;
    uint32_t number = 0;
    while (i < mapping_count && !iree_string_view_equal_case(name, mappings[i].string)) ++i;
    if (i == mapping_count && parse_number(name, &number)) {
      bits |= number;
      continue;
    }
    if (i == mapping_count) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unknown bit '%.*s' in '%.*s'", (int)name.size, name.data,
                              (int)value.size, value.data);
    }
    bits |= mappings[i].bits;
  }
  *out_value = bits;
  return iree_ok_status();
}

iree_status_t iree_bitfield_format(uint32_t value, iree_host_size_t mapping_count,
                                   const iree_bitfield_string_mapping_t* mappings,
                                   iree_string_builder_t* string_builder) {
  const char* separator = "";
  for (iree_host_size_t i = 0; i < mapping_count && value; ++i) {
    if (mappings[i].bits == 0 || !iree_all_bits_set(value, mappings[i].bits)) continue;
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(string_builder, "%s%.*s", separator,
                                                           (int)mappings[i].string.size, mappings[i].string.data));
    value &= ~mappings[i].bits;
    separator = "|";
  }
  if (value) return iree_string_builder_append_format(string_builder, "%s%" PRIX32 "h", separator, value);
  return iree_ok_status();
}

iree_string_view_t iree_bitfield_format_inline(uint32_t value, iree_host_size_t mapping_count,
                                               const iree_bitfield_string_mapping_t* mappings,
                                               iree_bitfield_string_temp_t* out_temp) {
  iree_string_builder_t builder;
  iree_string_builder_initialize_with_storage(out_temp->buffer, sizeof(out_temp->buffer), &builder);
  out_temp->buffer[0] = 0;
  iree_status_ignore(iree_bitfield_format(value, mapping_count, mappings, &builder));
  return iree_make_cstring_view(out_temp->buffer);
}
