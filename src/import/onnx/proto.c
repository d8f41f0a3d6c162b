// The protobuf reader: walks each message twice, first to count repeated fields, then to fill the struct that the
// message's descriptor (made from proto.def) describes. Unknown fields are skipped, as protobuf asks.
#include "import/onnx/proto.h"

#include <string.h>

enum { MAX_DEPTH = 220 };  // of messages in messages: a graph in a graph takes three

typedef enum { KIND_INT, KIND_FLOAT, KIND_BYTES, KIND_SUB, KIND_INTS, KIND_FLOATS, KIND_CHUNKS, KIND_SUBS } kind_t;
typedef struct message_t message_t;
typedef struct field_t {
  uint32_t number;
  kind_t kind;
  size_t offset;                      // of the member in the struct
  const message_t* (*message)(void);  // SUB, SUBS
} field_t;
struct message_t {
  size_t size;
  const field_t* fields;  // ends with number 0
};

#define INT(number, member)
#define FLOAT(number, member)
#define BYTES(number, member)
#define SUB(number, member, message)
#define INTS(number, member)
#define FLOATS(number, member)
#define CHUNKS(number, member)
#define SUBS(number, member, message)
#define END(name)
#define MESSAGE(name) static const message_t* name##_message(void);
#include "import/onnx/proto.def"

#define MESSAGE(name)                            \
  static const message_t* name##_message(void) { \
    typedef onnx_pb_##name##_t self_t;           \
    static const field_t fields[] = {
#define INT(number, member) {number, KIND_INT, offsetof(self_t, member), NULL},
#define FLOAT(number, member) {number, KIND_FLOAT, offsetof(self_t, member), NULL},
#define BYTES(number, member) {number, KIND_BYTES, offsetof(self_t, member), NULL},
#define SUB(number, member, message) {number, KIND_SUB, offsetof(self_t, member), message##_message},
#define INTS(number, member) {number, KIND_INTS, offsetof(self_t, member), NULL},
#define FLOATS(number, member) {number, KIND_FLOATS, offsetof(self_t, member), NULL},
#define CHUNKS(number, member) {number, KIND_CHUNKS, offsetof(self_t, member), NULL},
#define SUBS(number, member, message) {number, KIND_SUBS, offsetof(self_t, member), message##_message},
#define END(name)                                            \
    {0}                                                          \
    }                                                        \
  ;                                                          \
  static const message_t message = {sizeof(self_t), fields}; \
  return &message;                                           \
  }
#include "import/onnx/proto.def"

typedef struct reader_t {
  arena_t* arena;
  const uint8_t* start;
  const char* error;
  size_t error_offset;
} reader_t;

// One field as it stands in the bytes. Length-delimited: [data, data + size). Others: also the encoded value.
typedef struct wire_t {
  uint32_t number;
  uint32_t type;
  const uint8_t* data;
  size_t size;
  uint64_t varint;
} wire_t;

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

bool onnx_varint_next(const uint8_t** at, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  const uint8_t* p = *at;
  for (uint32_t shift = 0; p < end && shift < 64; shift += 7) {
    uint8_t byte = *p++;
    result |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    *at = p;
    *value = result;
    return true;
  }
  return false;
}

int64_t onnx_bytes_varint(onnx_bytes_t bytes, int64_t absent) {
  const uint8_t* at = (const uint8_t*)bytes.data;
  uint64_t value;
  return at && onnx_varint_next(&at, at + bytes.size, &value) ? (int64_t)value : absent;
}

bool onnx_bytes_equal(onnx_bytes_t bytes, const char* text) {
  return bytes.size == strlen(text) && (bytes.size == 0 || memcmp(bytes.data, text, bytes.size) == 0);
}

static bool fail(reader_t* r, const uint8_t* at, const char* error) {
  r->error = error;
  r->error_offset = (size_t)(at - r->start);
  return false;
}

static bool next_field(reader_t* r, const uint8_t** at, const uint8_t* end, wire_t* out) {
  const uint8_t* start = *at;
  uint64_t tag, length = 0;
  if (!onnx_varint_next(at, end, &tag)) return fail(r, start, "broken field tag");
  if (tag >> 3 == 0 || tag >> 32) return fail(r, start, "invalid field number");
  out->number = (uint32_t)(tag >> 3);
  out->type = tag & 7;
  out->data = *at;
  size_t left = (size_t)(end - *at);
  switch (out->type) {
    case WIRE_VARINT:
      if (!onnx_varint_next(at, end, &out->varint)) return fail(r, start, "broken varint");
      out->size = (size_t)(*at - out->data);
      return true;
    case WIRE_FIXED64:
      length = 8;
      break;
    case WIRE_FIXED32:
      length = 4;
      break;
    case WIRE_BYTES:
      if (!onnx_varint_next(at, end, &length)) return fail(r, start, "broken length");
      out->data = *at;
      left = (size_t)(end - *at);
      break;
    default:
      return fail(r, start, "unknown wire type");
  }
  if (length > left) return fail(r, start, "field runs past the end (truncated file?)");
  out->size = (size_t)length;
  *at += length;
  return true;
}

static const field_t* find_field(const message_t* message, const wire_t* wire) {
  for (const field_t* f = message->fields; f->number; ++f) {
    if (f->number == wire->number) return f;
  }
  return NULL;
}

// Whether the wire type suits the field.
static bool type_fits(kind_t kind, uint32_t type) {
  switch (kind) {
    case KIND_INT:
      return type == WIRE_VARINT;
    case KIND_FLOAT:
      return type == WIRE_FIXED32;
    case KIND_INTS:
      return type == WIRE_VARINT || type == WIRE_BYTES;
    case KIND_FLOATS:
      return type == WIRE_FIXED32 || type == WIRE_BYTES;
    case KIND_CHUNKS:
      return true;
    default:
      return type == WIRE_BYTES;
  }
}

static size_t count_varints(const uint8_t* data, size_t size) {
  size_t count = 0;
  for (size_t i = 0; i < size; ++i) count += !(data[i] & 0x80);
  return count;
}

// How many array elements the field adds.
static size_t element_count(const field_t* field, const wire_t* wire) {
  if (field->kind == KIND_INTS && wire->type == WIRE_BYTES) return count_varints(wire->data, wire->size);
  if (field->kind == KIND_FLOATS && wire->type == WIRE_BYTES) return wire->size / 4;
  return 1;
}

static size_t element_size(const field_t* field) {
  switch (field->kind) {
    case KIND_INTS:
      return sizeof(int64_t);
    case KIND_FLOATS:
      return sizeof(float);
    case KIND_CHUNKS:
      return sizeof(onnx_bytes_t);
    case KIND_SUBS:
      return field->message()->size;
    default:
      return 0;
  }
}

// All array members have the layout {data, count}.
typedef struct array_t {
  char* data;
  size_t count;
} array_t;

static bool read_message(reader_t* r, const message_t* message, const uint8_t* at, const uint8_t* end, void* out,
                         int depth);

static bool fill_ints(reader_t* r, const wire_t* wire, array_t* array) {
  const uint8_t *at = wire->data, *end = wire->data + wire->size;
  while (at < end) {
    uint64_t value;
    if (!onnx_varint_next(&at, end, &value)) return fail(r, at, "broken packed integer");
    ((int64_t*)array->data)[array->count++] = (int64_t)value;
  }
  return true;
}

static bool fill_field(reader_t* r, const field_t* field, const wire_t* wire, void* out, int depth) {
  void* member = (char*)out + field->offset;
  array_t* array = member;
  onnx_bytes_t bytes = {(const char*)wire->data, wire->size};
  switch (field->kind) {
    case KIND_INT:
      *(int64_t*)member = (int64_t)wire->varint;
      return true;
    case KIND_FLOAT:
      memcpy(member, wire->data, 4);
      return true;
    case KIND_BYTES:
      *(onnx_bytes_t*)member = bytes;
      return true;
    case KIND_INTS:
      return fill_ints(r, wire, array);
    case KIND_CHUNKS:
      ((onnx_bytes_t*)array->data)[array->count++] = bytes;
      return true;
    case KIND_FLOATS: {
      if (wire->size % 4) return fail(r, wire->data, "broken packed floats");
      if (wire->size) memcpy((float*)array->data + array->count, wire->data, wire->size);
      array->count += wire->size / 4;
      return true;
    }
    case KIND_SUB:
    case KIND_SUBS: {
      const message_t* message = field->message();
      void* sub;
      if (field->kind == KIND_SUBS) {
        sub = array->data + message->size * array->count++;
      } else if (!(sub = *(void**)member)) {
        *(void**)member = sub = arena_alloc(r->arena, message->size);
      } else {
        return fail(r, wire->data, "a message that must be single occurs twice");
      }
      return read_message(r, message, wire->data, wire->data + wire->size, sub, depth + 1);
    }
  }
  return true;
}

// Counts the elements of repeated fields and allocates their arrays, with counts reset to 0.
static bool allocate_arrays(reader_t* r, const message_t* message, const uint8_t* at, const uint8_t* end, void* out) {
  while (at < end) {
    wire_t wire;
    if (!next_field(r, &at, end, &wire)) return false;
    const field_t* field = find_field(message, &wire);
    if (!field) continue;
    if (!type_fits(field->kind, wire.type)) return fail(r, wire.data, "field has the wrong wire type");
    if (element_size(field)) ((array_t*)((char*)out + field->offset))->count += element_count(field, &wire);
  }
  for (const field_t* field = message->fields; field->number; ++field) {
    array_t* array = (array_t*)((char*)out + field->offset);
    if (!element_size(field) || !array->count) continue;
    array->data = arena_alloc(r->arena, element_size(field) * array->count);
    array->count = 0;
  }
  return true;
}

static bool read_message(reader_t* r, const message_t* message, const uint8_t* at, const uint8_t* end, void* out,
                         int depth) {
  if (depth > MAX_DEPTH) return fail(r, at, "messages nest too deep");
  if (!allocate_arrays(r, message, at, end, out)) return false;
  while (at < end) {
    wire_t wire;
    if (!next_field(r, &at, end, &wire)) return false;
    const field_t* field = find_field(message, &wire);
    if (field && !fill_field(r, field, &wire, out, depth)) return false;
  }
  return true;
}

onnx_pb_model_t* onnx_proto_read(arena_t* arena, const void* data, size_t size, const char** error,
                                 size_t* error_offset) {
  reader_t reader = {.arena = arena, .start = data};
  onnx_pb_model_t* model = ARENA_NEW(arena, onnx_pb_model_t);
  const uint8_t* start = data;
  if (read_message(&reader, model_message(), start, start + size, model, 0)) return model;
  *error = reader.error;
  *error_offset = reader.error_offset;
  return NULL;
}
