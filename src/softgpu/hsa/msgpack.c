#include "softgpu/hsa/msgpack.h"

#include <string.h>

static uint64_t read_big_endian(msgpack_t* r, uint32_t bytes) {
  uint64_t value = 0;
  if ((size_t)(r->end - r->at) < bytes) return r->bad = true, r->at = r->end, 0;
  for (uint32_t i = 0; i < bytes; ++i) value = value << 8 | *r->at++;
  return value;
}

static msgpack_value_t take_bytes(msgpack_t* r, msgpack_type_t type, uint64_t count) {
  if (count > (uint64_t)(r->end - r->at)) return r->bad = true, r->at = r->end, (msgpack_value_t){0};
  msgpack_value_t value = {.type = type, .text = (const char*)r->at, .count = (uint32_t)count};
  r->at += count;
  return value;
}

// A container cannot have more elements than bytes are left.
static msgpack_value_t open_container(msgpack_t* r, msgpack_type_t type, uint64_t count) {
  if (count > (uint64_t)(r->end - r->at)) return r->bad = true, r->at = r->end, (msgpack_value_t){0};
  return (msgpack_value_t){.type = type, .count = (uint32_t)count};
}

static msgpack_value_t integer(int64_t value) { return (msgpack_value_t){.type = MSGPACK_INTEGER, .integer = value}; }

msgpack_value_t msgpack_read(msgpack_t* r) {
  uint32_t tag = (uint32_t)read_big_endian(r, 1);
  if (r->bad) return (msgpack_value_t){0};
  if (tag < 0x80) return integer(tag);
  if (tag >= 0xe0) return integer((int8_t)tag);
  if (tag < 0x90) return open_container(r, MSGPACK_MAP, tag & 15);
  if (tag < 0xa0) return open_container(r, MSGPACK_ARRAY, tag & 15);
  if (tag < 0xc0) return take_bytes(r, MSGPACK_STRING, tag & 31);
  switch (tag) {
    case 0xc2:
    case 0xc3:
      return (msgpack_value_t){.type = MSGPACK_BOOL, .integer = tag == 0xc3};
    case 0xc4:
    case 0xc5:
    case 0xc6:
      return take_bytes(r, MSGPACK_BINARY, read_big_endian(r, 1u << (tag - 0xc4)));
    case 0xca:
    case 0xcb:
      return read_big_endian(r, tag == 0xca ? 4 : 8), (msgpack_value_t){.type = MSGPACK_FLOAT};
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return integer((int64_t)read_big_endian(r, 1u << (tag - 0xcc)));
    case 0xd0:
      return integer((int8_t)read_big_endian(r, 1));
    case 0xd1:
      return integer((int16_t)read_big_endian(r, 2));
    case 0xd2:
      return integer((int32_t)read_big_endian(r, 4));
    case 0xd3:
      return integer((int64_t)read_big_endian(r, 8));
    case 0xd9:
    case 0xda:
    case 0xdb:
      return take_bytes(r, MSGPACK_STRING, read_big_endian(r, 1u << (tag - 0xd9)));
    case 0xdc:
    case 0xdd:
      return open_container(r, MSGPACK_ARRAY, read_big_endian(r, tag == 0xdc ? 2 : 4));
    case 0xde:
    case 0xdf:
      return open_container(r, MSGPACK_MAP, read_big_endian(r, tag == 0xde ? 2 : 4));
    case 0xc0:
      return (msgpack_value_t){0};
    default:
      return r->bad = true, (msgpack_value_t){0};
  }
}

void msgpack_skip(msgpack_t* r) {
  for (uint64_t left = 1; left && !r->bad; --left) {
    msgpack_value_t value = msgpack_read(r);
    if (value.type == MSGPACK_ARRAY) left += value.count;
    if (value.type == MSGPACK_MAP) left += 2 * (uint64_t)value.count;
  }
}

bool msgpack_is(const msgpack_value_t* value, const char* text) {
  return value->type == MSGPACK_STRING && strlen(text) == value->count && memcmp(value->text, text, value->count) == 0;
}
