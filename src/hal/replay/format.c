// The format's tables, and its reader.
#include "hal/replay/format.h"

//===----------------------------------------------------------------------------------------------------------------===
// Tables
//===----------------------------------------------------------------------------------------------------------------===

#define U64(name) {#name, REPLAY_FIELD_U64},
#define U32(name) {#name, REPLAY_FIELD_U32},
#define U16(name) {#name, REPLAY_FIELD_U16},
#define U32X3(name) {#name, REPLAY_FIELD_U32X3},
#define ID(name) {#name, REPLAY_FIELD_ID},
#define REF(name) {#name, REPLAY_FIELD_REF},
#define DIGEST(name) {#name, REPLAY_FIELD_DIGEST},
#define PAD16(name) {#name, REPLAY_FIELD_PAD16},
#define PAD32(name) {#name, REPLAY_FIELD_PAD32},
#define PAD64(name) {#name, REPLAY_FIELD_PAD64},
#define PART(name, kind, count) {#name, REPLAY_PART_##kind, #count},
#define PAYLOAD(name, code, fields, parts, text, json)                \
  static const replay_field_t name##_fields[] = {fields{NULL, 0}};    \
  static const replay_part_t name##_parts[] = {parts{NULL, 0, NULL}}; \
  static const replay_payload_kind_t name##_kind = {                  \
      #name, sizeof(replay_##name##_t), name##_fields, name##_parts, text, json};
#include "hal/replay/format.def"

const replay_payload_kind_t* replay_payload_kind(uint32_t type) {
  switch (type) {
#define PAYLOAD(name, code, fields, parts, text, json) \
  case code:                                           \
    return &name##_kind;
#include "hal/replay/format.def"
    default:
      return NULL;
  }
}

// A function from a table's codes to its texts.
#define NAME_BEGIN(function)            \
  const char* function(uint32_t code) { \
    switch (code) {                     \
      case 0:                           \
        return "none";
#define NAME_END      \
  default:            \
    return "unknown"; \
    }                 \
    }
NAME_BEGIN(replay_record_name)
#define RECORD(name, code) \
  case code:               \
    return #name;
#include "hal/replay/format.def"
NAME_END
NAME_BEGIN(replay_object_name)
#define OBJECT(name, code) \
  case code:               \
    return #name;
#include "hal/replay/format.def"
NAME_END
NAME_BEGIN(replay_operation_name)
#define OPERATION(text, name, code) \
  case code:                        \
    return text;
#include "hal/replay/format.def"
NAME_END
NAME_BEGIN(replay_payload_name)
#define PAYLOAD(name, code, fields, parts, text, json) \
  case code:                                           \
    return #name;
#include "hal/replay/format.def"
NAME_END

static size_t field_size(replay_field_kind_t kind) {
  switch (kind) {
    case REPLAY_FIELD_U16:
    case REPLAY_FIELD_PAD16:
      return 2;
    case REPLAY_FIELD_U32:
    case REPLAY_FIELD_PAD32:
      return 4;
    case REPLAY_FIELD_U32X3:
      return 12;
    case REPLAY_FIELD_REF:
    case REPLAY_FIELD_DIGEST:
      return 32;
    default:
      return 8;
  }
}

static size_t field_alignment(replay_field_kind_t kind) {
  if (kind == REPLAY_FIELD_DIGEST) return 1;
  if (kind == REPLAY_FIELD_U32X3) return 4;
  return iree_min(field_size(kind), (size_t)8);
}

const replay_field_t* replay_field_next(const replay_payload_kind_t* kind, const replay_field_t* field,
                                        size_t* offset) {
  if (!field) {
    field = kind->fields;
    *offset = 0;
  } else {
    *offset += field_size(field->kind);
    ++field;
  }
  if (!field->name) return NULL;
  *offset = iree_host_align(*offset, field_alignment(field->kind));
  return field;
}

static uint64_t read_number(const uint8_t* data, size_t size) {
  uint64_t value = 0;
  memcpy(&value, data, size);
  return value;
}

uint64_t replay_field_value(const replay_payload_kind_t* kind, const uint8_t* fields, const char* name, size_t length) {
  size_t offset = 0;
  for (const replay_field_t* field = NULL; (field = replay_field_next(kind, field, &offset));) {
    if (strncmp(field->name, name, length) == 0 && !field->name[length]) {
      return read_number(fields + offset, iree_min(field_size(field->kind), sizeof(uint64_t)));
    }
  }
  return 0;
}

uint64_t replay_digest(uint64_t digest, const void* data, size_t length) {
  for (size_t i = 0; i < length; ++i) digest = (digest ^ ((const uint8_t*)data)[i]) * 0x100000001B3ull;
  return digest;
}

//===----------------------------------------------------------------------------------------------------------------===
// Reading
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t replay_reader_open(iree_const_byte_span_t contents, replay_reader_t* out_reader) {
  memset(out_reader, 0, sizeof(*out_reader));
  replay_header_t* header = &out_reader->header;
  if (contents.data_length < sizeof(*header)) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "the replay file has %" PRIhsz " bytes, its header takes %zu",
                            contents.data_length, sizeof(*header));
  }
  memcpy(header, contents.data, sizeof(*header));
  if (header->magic != REPLAY_MAGIC) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "invalid IREE HAL replay file magic");
  }
  if (header->version_major != REPLAY_VERSION_MAJOR) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "unsupported IREE HAL replay file version %u.%u; this reads version %d",
                            header->version_major, header->version_minor, REPLAY_VERSION_MAJOR);
  }
  if (header->flags || header->header_length < sizeof(*header) || header->header_length > contents.data_length) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "the replay file's header is damaged: %u bytes, flags 0x%X",
                            header->header_length, header->flags);
  }
  // Without a length it was not closed: what is there counts.
  uint64_t length = header->file_length ? header->file_length : contents.data_length;
  if (length > contents.data_length || length < header->header_length) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "the replay file is cut off: it has %" PRIhsz " bytes of %" PRIu64,
                            contents.data_length, length);
  }
  out_reader->contents = iree_make_const_byte_span(contents.data, (iree_host_size_t)length);
  out_reader->offset = header->header_length;
  return iree_ok_status();
}

// A failure at a record.
#define BAD(record, code, ...)                                                                         \
  iree_status_annotate_f(iree_make_status(code, __VA_ARGS__), "record %" PRIu64 " at offset %" PRIu64, \
                         (record)->header.sequence_ordinal, (record)->offset)

static iree_status_t read_header(replay_reader_t* reader, replay_record_t* record) {
  uint64_t left = reader->contents.data_length - reader->offset;
  record->offset = reader->offset;
  record->header.sequence_ordinal = reader->count;
  if (left < sizeof(record->header)) {
    return BAD(record, IREE_STATUS_DATA_LOSS, "%" PRIu64 " bytes are no record's header", left);
  }
  replay_record_header_t header;
  memcpy(&header, reader->contents.data + reader->offset, sizeof(header));
  if (header.sequence_ordinal != reader->count) {
    return BAD(record, IREE_STATUS_DATA_LOSS, "replay record sequence ordinal mismatch: it says %" PRIu64,
               header.sequence_ordinal);
  }
  record->header = header;
  if (header.record_flags & ~REPLAY_RECORD_OPTIONAL || header.pad0 || header.pad1) {
    return BAD(record, IREE_STATUS_DATA_LOSS, "reserved bits are set");
  }
  if (header.record_length > left || header.header_length < sizeof(header) ||
      header.header_length > header.record_length ||
      header.payload_length != header.record_length - header.header_length) {
    return BAD(record, IREE_STATUS_DATA_LOSS,
               "lengths do not fit: %" PRIu64 " bytes of record, %u of header, %" PRIu64 " of payload, %" PRIu64
               " left in the file",
               header.record_length, header.header_length, header.payload_length, left);
  }
  if (header.record_type < REPLAY_RECORD_session || header.record_type > REPLAY_RECORD_unsupported) {
    if (!(header.record_flags & REPLAY_RECORD_OPTIONAL)) {
      return BAD(record, IREE_STATUS_UNIMPLEMENTED, "records of type %u are not known", header.record_type);
    }
  }
  record->payload_offset = record->offset + header.header_length;
  record->payload = reader->contents.data + record->payload_offset;
  return iree_ok_status();
}

static iree_status_t check_fields(const replay_record_t* record, const replay_payload_kind_t* kind) {
  size_t offset = 0;
  for (const replay_field_t* field = NULL; (field = replay_field_next(kind, field, &offset));) {
    if (field->kind < REPLAY_FIELD_PAD16) continue;
    if (read_number(record->payload + offset, field_size(field->kind))) {
      return BAD(record, IREE_STATUS_DATA_LOSS, "reserved fields of %s are not zero", kind->name);
    }
  }
  return iree_ok_status();
}

static size_t element_size(replay_part_kind_t kind) {
  static const size_t sizes[] = {
      [REPLAY_PART_BYTES] = 1,
      [REPLAY_PART_WORDS] = 4,
      [REPLAY_PART_IDS] = 8,
      [REPLAY_PART_REFS] = sizeof(replay_ref_t),
      [REPLAY_PART_TIMEPOINTS] = sizeof(replay_timepoint_t),
      [REPLAY_PART_BARRIERS] = sizeof(replay_barrier_t),
      [REPLAY_PART_BUFFER_BARRIERS] = sizeof(replay_buffer_barrier_t),
  };
  return sizes[kind];
}

static iree_status_t read_payload(const replay_record_t* record, replay_payload_t* out_payload) {
  memset(out_payload, 0, sizeof(*out_payload));
  const replay_payload_kind_t* kind = replay_payload_kind(record->header.payload_type);
  if (!kind) return iree_ok_status();
  uint64_t length = record->header.payload_length, offset = kind->size;
  if (length < kind->size) {
    return BAD(record, IREE_STATUS_DATA_LOSS, "the payload %s has %" PRIu64 " bytes of at least %zu", kind->name,
               length, kind->size);
  }
  IREE_RETURN_IF_ERROR(check_fields(record, kind));
  for (size_t i = 0; kind->parts[i].name; ++i) {
    uint64_t count = replay_field_value(kind, record->payload, kind->parts[i].count, strlen(kind->parts[i].count));
    size_t size = element_size(kind->parts[i].kind);
    if (count > (length - offset) / size) {
      return BAD(record, IREE_STATUS_DATA_LOSS, "the payload %s is too short for its %s: %" PRIu64 " of %zu bytes each",
                 kind->name, kind->parts[i].name, count, size);
    }
    out_payload->parts[i].offset = offset;
    out_payload->parts[i].count = count;
    out_payload->parts[i].length = count * size;
    out_payload->parts[i].data = record->payload + offset;
    offset += count * size;
  }
  if (offset != length) {
    return BAD(record, IREE_STATUS_DATA_LOSS, "the payload %s has %" PRIu64 " bytes, %" PRIu64 " are described",
               kind->name, length, offset);
  }
  out_payload->kind = kind;
  out_payload->fields = record->payload;
  return iree_ok_status();
}

iree_status_t replay_reader_next(replay_reader_t* reader, bool* out_found, replay_record_t* out_record,
                                 replay_payload_t* out_payload) {
  memset(out_record, 0, sizeof(*out_record));
  *out_found = reader->offset < reader->contents.data_length;
  if (!*out_found) return iree_ok_status();
  IREE_RETURN_IF_ERROR(read_header(reader, out_record));
  IREE_RETURN_IF_ERROR(read_payload(out_record, out_payload));
  reader->offset += out_record->header.record_length;
  ++reader->count;
  return iree_ok_status();
}

iree_status_t replay_visit_ids(const replay_record_t* record, const replay_payload_t* payload, replay_visit_fn_t visit,
                               void* user_data) {
  IREE_RETURN_IF_ERROR(visit(user_data, record->header.device_id));
  IREE_RETURN_IF_ERROR(visit(user_data, record->header.object_id));
  IREE_RETURN_IF_ERROR(visit(user_data, record->header.related_object_id));
  if (!payload->kind) return iree_ok_status();
  size_t offset = 0;
  for (const replay_field_t* field = NULL; (field = replay_field_next(payload->kind, field, &offset));) {
    if (field->kind != REPLAY_FIELD_ID && field->kind != REPLAY_FIELD_REF) continue;
    IREE_RETURN_IF_ERROR(visit(user_data, read_number(payload->fields + offset, 8)));
  }
  for (size_t i = 0; payload->kind->parts[i].name; ++i) {
    replay_part_kind_t kind = payload->kind->parts[i].kind;
    if (kind != REPLAY_PART_IDS && kind != REPLAY_PART_REFS && kind != REPLAY_PART_TIMEPOINTS) continue;
    for (uint64_t j = 0; j < payload->parts[i].count; ++j) {
      IREE_RETURN_IF_ERROR(visit(user_data, read_number(payload->parts[i].data + j * element_size(kind), 8)));
    }
  }
  return iree_ok_status();
}
