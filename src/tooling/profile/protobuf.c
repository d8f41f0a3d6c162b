// See protobuf.h.
#include "tooling/profile/protobuf.h"

enum { VARINT = 0, LENGTH_DELIMITED = 2 };

static iree_status_t append_varint(bytes_t* out, uint64_t value) {
  uint8_t digits[10];
  size_t count = 0;
  for (; value >= 0x80; value >>= 7) digits[count++] = (uint8_t)(value | 0x80);
  digits[count++] = (uint8_t)value;
  return bytes_append(out, digits, count);
}

iree_status_t protobuf_number(bytes_t* out, uint32_t field, uint64_t value) {
  IREE_RETURN_IF_ERROR(append_varint(out, (uint64_t)field << 3 | VARINT));
  return append_varint(out, value);
}

iree_status_t protobuf_text(bytes_t* out, uint32_t field, iree_string_view_t text) {
  IREE_RETURN_IF_ERROR(append_varint(out, (uint64_t)field << 3 | LENGTH_DELIMITED));
  IREE_RETURN_IF_ERROR(append_varint(out, text.size));
  return bytes_append_view(out, text);
}
