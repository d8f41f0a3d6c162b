// ONNX files as C structs. A small protobuf reader of our own rather than protobuf-c: that library copies every byte
// field, which for a model means a second copy of all weights, and it cannot read messages above 2 GB. Here strings and
// tensor data point into the file's bytes, which the caller keeps mapped; only the structs are allocated.
//
// proto.def lists messages and fields; this header makes a struct onnx_pb_<message>_t of each.
#ifndef IREE_C_IMPORT_ONNX_PROTO_H_
#define IREE_C_IMPORT_ONNX_PROTO_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct onnx_bytes_t {
  const char* data;  // not NUL-terminated; NULL when the field is absent
  size_t size;
} onnx_bytes_t;
typedef struct onnx_ints_t {
  int64_t* data;
  size_t count;
} onnx_ints_t;
typedef struct onnx_floats_t {
  float* data;
  size_t count;
} onnx_floats_t;
typedef struct onnx_chunks_t {
  onnx_bytes_t* data;
  size_t count;
} onnx_chunks_t;

#define MESSAGE(name)                                   \
  typedef struct onnx_pb_##name##_t onnx_pb_##name##_t; \
  typedef struct onnx_pb_##name##s_t {                  \
    onnx_pb_##name##_t* data;                           \
    size_t count;                                       \
  } onnx_pb_##name##s_t;
#define INT(number, member)
#define FLOAT(number, member)
#define BYTES(number, member)
#define SUB(number, member, message)
#define INTS(number, member)
#define FLOATS(number, member)
#define CHUNKS(number, member)
#define SUBS(number, member, message)
#define END(name)
#include "import/onnx/proto.def"

#define MESSAGE(name) struct onnx_pb_##name##_t {
#define INT(number, member) int64_t member;
#define FLOAT(number, member) float member;
#define BYTES(number, member) onnx_bytes_t member;
#define SUB(number, member, message) onnx_pb_##message##_t* member;
#define INTS(number, member) onnx_ints_t member;
#define FLOATS(number, member) onnx_floats_t member;
#define CHUNKS(number, member) onnx_chunks_t member;
#define SUBS(number, member, message) onnx_pb_##message##s_t member;
#define END(name) \
  }               \
  ;
#include "import/onnx/proto.def"

// Values of tensor.data_type and tensor_type.elem_type.
typedef enum {
  ONNX_UNDEFINED,
  ONNX_FLOAT,
  ONNX_UINT8,
  ONNX_INT8,
  ONNX_UINT16,
  ONNX_INT16,
  ONNX_INT32,
  ONNX_INT64,
  ONNX_STRING,
  ONNX_BOOL,
  ONNX_FLOAT16,
  ONNX_DOUBLE,
  ONNX_UINT32,
  ONNX_UINT64,
  ONNX_COMPLEX64,
  ONNX_COMPLEX128,
  ONNX_BFLOAT16,
  ONNX_FLOAT8E4M3FN,
  ONNX_FLOAT8E4M3FNUZ,
  ONNX_FLOAT8E5M2,
  ONNX_FLOAT8E5M2FNUZ,
  ONNX_UINT4,
  ONNX_INT4,
  ONNX_FLOAT4E2M1,
  ONNX_FLOAT8E8M0,
  ONNX_UINT2,
  ONNX_INT2,
} onnx_data_type_t;

// Values of attribute.type.
typedef enum {
  ONNX_ATTR_UNDEFINED,
  ONNX_ATTR_FLOAT,
  ONNX_ATTR_INT,
  ONNX_ATTR_STRING,
  ONNX_ATTR_TENSOR,
  ONNX_ATTR_GRAPH,
  ONNX_ATTR_FLOATS,
  ONNX_ATTR_INTS,
  ONNX_ATTR_STRINGS,
  ONNX_ATTR_TENSORS,
  ONNX_ATTR_GRAPHS,
  ONNX_ATTR_SPARSE_TENSOR,
  ONNX_ATTR_SPARSE_TENSORS,
  ONNX_ATTR_TYPE_PROTO,
  ONNX_ATTR_TYPE_PROTOS,
} onnx_attribute_type_t;

// Reads a model. Returns NULL and a message when the bytes are no well-formed protobuf; `*error_offset` is where.
// The result lives in `arena` and points into `data`.
onnx_pb_model_t* onnx_proto_read(arena_t* arena, const void* data, size_t size, const char** error,
                                 size_t* error_offset);

bool onnx_bytes_equal(onnx_bytes_t bytes, const char* text);
// The one varint in `bytes`, or `absent` when there is none.
int64_t onnx_bytes_varint(onnx_bytes_t bytes, int64_t absent);
// Takes a varint off the front of [*at, end). False at the end or when it is malformed.
bool onnx_varint_next(const uint8_t** at, const uint8_t* end, uint64_t* value);

#endif  // IREE_C_IMPORT_ONNX_PROTO_H_
