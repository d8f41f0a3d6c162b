// Reads MessagePack, which code objects keep their metadata in. Values are read in order; nothing past the end is
// touched. Source: the MessagePack specification.
#ifndef IREE_C_SOFTGPU_HSA_MSGPACK_H_
#define IREE_C_SOFTGPU_HSA_MSGPACK_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  MSGPACK_NIL,
  MSGPACK_BOOL,
  MSGPACK_INTEGER,
  MSGPACK_FLOAT,
  MSGPACK_STRING,
  MSGPACK_BINARY,
  MSGPACK_ARRAY,
  MSGPACK_MAP
} msgpack_type_t;

typedef struct msgpack_t {
  const uint8_t *at, *end;
  bool bad;  // damaged or cut off; values are then nil
} msgpack_t;

typedef struct msgpack_value_t {
  msgpack_type_t type;
  int64_t integer;   // BOOL too
  const char* text;  // STRING, BINARY: not ended by zero
  uint32_t count;    // bytes of those; elements of ARRAY; pairs of MAP, which follow
} msgpack_value_t;

msgpack_value_t msgpack_read(msgpack_t* reader);
// Passes over a value and all that it holds.
void msgpack_skip(msgpack_t* reader);
bool msgpack_is(const msgpack_value_t* value, const char* text);

#endif  // IREE_C_SOFTGPU_HSA_MSGPACK_H_
