// Captures of what a program asked of its devices: the .ireereplay file format, version 2.0, as IREE 3.13 writes it.
//
//   header | record | record | …          record: header, fields and parts of its payload (format.def)
//
// Objects have numbers, from 1, which the record of the call that makes one gives it. What a file says is checked once,
// here: a payload that was parsed has all its parts inside of the file. Only for little-endian hosts.
#ifndef IREE_C_HAL_REPLAY_FORMAT_H_
#define IREE_C_HAL_REPLAY_FORMAT_H_

#include "iree/hal/api.h"

#define REPLAY_MAGIC 0x50525249u  // "IRRP"
enum { REPLAY_VERSION_MAJOR = 2, REPLAY_VERSION_MINOR = 0, REPLAY_RECORD_OPTIONAL = 1 };
enum { REPLAY_DIGEST_NONE = 0, REPLAY_DIGEST_FNV1A_64 = 1 };
enum { REPLAY_REFERENCE_NONE, REPLAY_REFERENCE_PATH, REPLAY_REFERENCE_INLINE, REPLAY_REFERENCE_RANGES };
enum { REPLAY_VALIDATION_NONE, REPLAY_VALIDATION_IDENTITY, REPLAY_VALIDATION_DIGEST };

enum {
#define RECORD(name, code) REPLAY_RECORD_##name = code,
#define OBJECT(name, code) REPLAY_OBJECT_##name = code,
#define OPERATION(text, name, code) REPLAY_##name = code,
#define PAYLOAD(name, code, fields, parts, text, json) REPLAY_PAYLOAD_##name = code,
#include "hal/replay/format.def"
};

typedef struct replay_ref_t {
  uint64_t buffer_id;  // 0: the slot
  uint64_t offset, length;
  uint32_t slot, pad0;
} replay_ref_t;

typedef struct replay_timepoint_t {
  uint64_t semaphore_id, value;
} replay_timepoint_t;

typedef struct replay_barrier_t {
  uint32_t source_scope, target_scope;
} replay_barrier_t;

typedef struct replay_buffer_barrier_t {
  replay_barrier_t barrier;
  replay_ref_t ref;
} replay_buffer_barrier_t;

// replay_dispatch_t and so on.
#define U64(name) uint64_t name;
#define U32(name) uint32_t name;
#define U16(name) uint16_t name;
#define U32X3(name) uint32_t name[3];
#define ID(name) uint64_t name;
#define REF(name) replay_ref_t name;
#define DIGEST(name) uint8_t name[32];
#define PAD16(name) uint16_t name;
#define PAD32(name) uint32_t name;
#define PAD64(name) uint64_t name;
#define PAYLOAD(name, code, fields, parts, text, json) \
  typedef struct replay_##name##_t {                   \
    fields                                             \
  } replay_##name##_t;
#include "hal/replay/format.def"
#undef U64
#undef U32
#undef U16
#undef U32X3
#undef ID
#undef REF
#undef DIGEST
#undef PAD16
#undef PAD32
#undef PAD64

typedef struct replay_header_t {
  uint32_t magic;
  uint16_t version_major, version_minor;
  uint32_t header_length, flags;
  uint64_t file_length;  // 0 while it is written
} replay_header_t;

typedef struct replay_record_header_t {
  uint64_t record_length, payload_length, sequence_ordinal, thread_id;
  uint64_t device_id, object_id, related_object_id;
  uint32_t header_length;
  uint16_t record_type, record_flags;
  uint32_t payload_type, object_type, operation_code, status_code, pad0;
  uint64_t pad1;
} replay_record_header_t;

// What an executable's functions take (executable_prepare's part `metadata`): this, then for each function one of the
// next, for each parameter one of those after, and the names, one after the other.
typedef struct replay_metadata_t {
  uint64_t function_count, parameter_count, name_length, pad0;
} replay_metadata_t;
typedef struct replay_function_t {
  uint64_t flags;
  uint32_t workgroup_size[3];
  uint16_t constant_count, binding_count, parameter_count, name_length;
} replay_function_t;
typedef struct replay_parameter_t {
  uint16_t offset, flags;
  uint8_t type, size;
  uint16_t pad0;
} replay_parameter_t;

//===----------------------------------------------------------------------------------------------------------------===
// Tables
//===----------------------------------------------------------------------------------------------------------------===

typedef enum {
  REPLAY_FIELD_U64,
  REPLAY_FIELD_U32,
  REPLAY_FIELD_U16,
  REPLAY_FIELD_U32X3,
  REPLAY_FIELD_ID,
  REPLAY_FIELD_REF,
  REPLAY_FIELD_DIGEST,
  REPLAY_FIELD_PAD16,
  REPLAY_FIELD_PAD32,
  REPLAY_FIELD_PAD64,
} replay_field_kind_t;
typedef enum {
  REPLAY_PART_BYTES,
  REPLAY_PART_WORDS,
  REPLAY_PART_IDS,
  REPLAY_PART_REFS,
  REPLAY_PART_TIMEPOINTS,
  REPLAY_PART_BARRIERS,
  REPLAY_PART_BUFFER_BARRIERS,
} replay_part_kind_t;

typedef struct replay_field_t {
  const char* name;  // NULL ends
  replay_field_kind_t kind;
} replay_field_t;
typedef struct replay_part_t {
  const char* name;  // NULL ends
  replay_part_kind_t kind;
  const char* count;  // the field that says how many elements
} replay_part_t;
enum { REPLAY_MAX_PARTS = 4 };
typedef struct replay_payload_kind_t {
  const char* name;
  size_t size;  // bytes of the fields
  const replay_field_t* fields;
  const replay_part_t* parts;
  const char *text, *json;
} replay_payload_kind_t;

// NULL for what is not known.
const replay_payload_kind_t* replay_payload_kind(uint32_t type);
// "none" for 0, "unknown" for what is not known.
const char* replay_record_name(uint32_t type);
const char* replay_object_name(uint32_t type);
const char* replay_operation_name(uint32_t code);
const char* replay_payload_name(uint32_t type);

// Goes through the fields; *offset is where the field is, and what it was called with last before. NULL at the end.
const replay_field_t* replay_field_next(const replay_payload_kind_t* kind, const replay_field_t* field, size_t* offset);
// A number among a payload's fields; 0 when there is none of that name.
uint64_t replay_field_value(const replay_payload_kind_t* kind, const uint8_t* fields, const char* name, size_t length);

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

typedef struct replay_record_t {
  replay_record_header_t header;
  uint64_t offset;          // in the file
  uint64_t payload_offset;  // in the file
  const uint8_t* payload;
} replay_record_t;

// A record's payload. `fields` is as the file has it, perhaps not aligned.
typedef struct replay_payload_t {
  const replay_payload_kind_t* kind;
  const uint8_t* fields;
  struct {
    uint64_t offset;  // in the payload
    uint64_t count, length;
    const uint8_t* data;  // perhaps not aligned
  } parts[REPLAY_MAX_PARTS];
} replay_payload_t;

typedef struct replay_reader_t {
  iree_const_byte_span_t contents;  // up to the end of the last record
  replay_header_t header;
  uint64_t offset;  // of the next record
  uint64_t count;   // of records so far
} replay_reader_t;

// Checks the header. The contents are borrowed. Errors of all: DATA_LOSS, INVALID_ARGUMENT, UNIMPLEMENTED, naming the
// offset.
iree_status_t replay_reader_open(iree_const_byte_span_t contents, replay_reader_t* out_reader);
// The next record and, when it has one of a known kind, its payload (`kind` is NULL otherwise). False at the end.
iree_status_t replay_reader_next(replay_reader_t* reader, bool* out_found, replay_record_t* out_record,
                                 replay_payload_t* out_payload);

// Calls `visit` for each number of an object that a record names, with where it is of which kind (0: any).
typedef iree_status_t (*replay_visit_fn_t)(void* user_data, uint64_t id);
iree_status_t replay_visit_ids(const replay_record_t* record, const replay_payload_t* payload, replay_visit_fn_t visit,
                               void* user_data);

// FNV-1a of 64 bits.
uint64_t replay_digest(uint64_t digest, const void* data, size_t length);
// That of a file's first `length` bytes.
iree_status_t replay_file_digest(int fd, uint64_t length, iree_allocator_t host_allocator, uint64_t* out_digest);
#define REPLAY_DIGEST_START 0xCBF29CE484222325ull

#endif  // IREE_C_HAL_REPLAY_FORMAT_H_
