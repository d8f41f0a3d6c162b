// Reading containers (FlatBuffers: "FlatBuffer Internals"). Everything is bounds-checked: the data is untrusted.
#include "hal/gpu/container.h"

// ROW(identifier, field, format): the root table's field that lists the modules, whose field 0 is the code.
#define CONTAINERS(ROW)           \
  ROW("HIP1", 1, "rocm-hsaco-fb") \
  ROW("CDA1", 1, "cuda-nvptx-fb") \
  ROW("AMD1", 2, "")

enum { HEADER_SIZE = 64, SIZE_AT = 8 };

typedef struct buffer_t {
  const uint8_t* data;
  uint64_t size;
} buffer_t;

static iree_status_t fail(void) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the executable's container is damaged");
}

static bool read(buffer_t buffer, uint64_t at, void* out_value, size_t size) {
  if (at > buffer.size || size > buffer.size - at) return false;
  memcpy(out_value, buffer.data + at, size);
  return true;
}

// Follows the offset at a place.
static bool follow(buffer_t buffer, uint64_t at, uint64_t* out_at) {
  uint32_t offset = 0;
  if (!read(buffer, at, &offset, sizeof(offset))) return false;
  *out_at = at + offset;
  return offset != 0;
}

// What a table's field refers to.
static bool follow_field(buffer_t buffer, uint64_t table, unsigned field, uint64_t* out_at) {
  int32_t back = 0;
  uint16_t size = 0, offset = 0;
  if (!read(buffer, table, &back, sizeof(back))) return false;
  uint64_t fields = table - (uint64_t)(int64_t)back;  // wraps when it is before the beginning
  if (!read(buffer, fields, &size, sizeof(size)) || 4 + 2 * field + 2 > size) return false;
  if (!read(buffer, fields + 4 + 2 * field, &offset, sizeof(offset)) || !offset) return false;
  return follow(buffer, table + offset, out_at);
}

static iree_status_t find_code(buffer_t buffer, unsigned modules_field, iree_const_byte_span_t* out_code) {
  uint64_t root = 0, modules = 0, module = 0, code = 0;
  uint32_t count = 0, length = 0;
  if (!follow(buffer, 0, &root) || !follow_field(buffer, root, modules_field, &modules) ||
      !read(buffer, modules, &count, sizeof(count))) {
    return fail();
  }
  if (count != 1) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "an executable with %u modules; one is supported", count);
  }
  if (!follow(buffer, modules + sizeof(count), &module) || !follow_field(buffer, module, 0, &code) ||
      !read(buffer, code, &length, sizeof(length)) || length > buffer.size - code - sizeof(length)) {
    return fail();
  }
  *out_code = iree_make_const_byte_span(buffer.data + code + sizeof(length), length);
  return iree_ok_status();
}

iree_status_t gpu_container_open(iree_const_byte_span_t data, iree_const_byte_span_t* out_code,
                                 iree_string_view_t* out_format) {
  static const struct {
    const char* identifier;
    unsigned field;
    const char* format;
  } rows[] = {
#define ROW(identifier, field, format) {identifier, field, format},
      CONTAINERS(ROW)
#undef ROW
  };
  *out_code = data;
  *out_format = iree_string_view_empty();
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows); ++i) {
    if (data.data_length < 4 || memcmp(data.data, rows[i].identifier, 4) != 0) continue;
    uint64_t size = 0;
    if (!read((buffer_t){data.data, data.data_length}, SIZE_AT, &size, sizeof(size)) ||
        data.data_length < HEADER_SIZE || size > data.data_length - HEADER_SIZE) {
      return fail();
    }
    *out_format = iree_make_cstring_view(rows[i].format);
    return find_code((buffer_t){data.data + HEADER_SIZE, size}, rows[i].field, out_code);
  }
  return iree_ok_status();
}
