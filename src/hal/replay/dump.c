// Captures as text or lines of JSON: records by the templates of format.def.
#include "iree/hal/replay/dump.h"

#include "hal/replay/format.h"

typedef struct dump_t {
  bool json;
  iree_string_builder_t builder;
  iree_hal_replay_dump_write_callback_t callback;
} dump_t;

#define PUT(dump, ...) IREE_RETURN_IF_ERROR(iree_string_builder_append_format(&(dump)->builder, __VA_ARGS__))

static iree_status_t flush(dump_t* dump) {
  iree_status_t status = dump->callback.fn(dump->callback.user_data, iree_string_builder_view(&dump->builder));
  iree_string_builder_reset(&dump->builder);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// What all records sum up to
//===----------------------------------------------------------------------------------------------------------------===

typedef struct summary_t {
  uint64_t records, objects, operations, unsupported, scopes_begun, scopes_ended;
  uint64_t files, references[REPLAY_REFERENCE_RANGES + 1], reference_bytes[REPLAY_REFERENCE_RANGES + 1];
  uint64_t validations[REPLAY_VALIDATION_DIGEST + 1], unknown_validations, read_bytes;
} summary_t;

static void add_file(summary_t* summary, const replay_payload_t* payload) {
  replay_file_object_t file;
  memcpy(&file, payload->fields, sizeof(file));
  ++summary->files;
  uint32_t reference = file.reference_type > REPLAY_REFERENCE_RANGES ? REPLAY_REFERENCE_NONE : file.reference_type;
  ++summary->references[reference];
  summary->reference_bytes[reference] +=
      reference == REPLAY_REFERENCE_INLINE ? file.reference_length : file.file_length;
  if (file.validation_type > REPLAY_VALIDATION_DIGEST) {
    ++summary->unknown_validations;
  } else {
    ++summary->validations[file.validation_type];
  }
}

static iree_status_t summarize(replay_reader_t reader, summary_t* out_summary) {
  replay_record_t record;
  replay_payload_t payload;
  memset(out_summary, 0, sizeof(*out_summary));
  for (bool found = true;;) {
    IREE_RETURN_IF_ERROR(replay_reader_next(&reader, &found, &record, &payload));
    if (!found) return iree_ok_status();
    ++out_summary->records;
    out_summary->objects += record.header.record_type == REPLAY_RECORD_object;
    out_summary->operations += record.header.record_type == REPLAY_RECORD_operation;
    out_summary->unsupported += record.header.record_type == REPLAY_RECORD_unsupported;
    if (record.header.record_type == REPLAY_RECORD_operation) {
      out_summary->scopes_begun += record.header.operation_code == REPLAY_SCOPE_BEGIN;
      out_summary->scopes_ended += record.header.operation_code == REPLAY_SCOPE_END;
      if (payload.kind && record.header.payload_type == REPLAY_PAYLOAD_device_queue_read) {
        out_summary->read_bytes += payload.parts[2].length;
      }
    } else if (record.header.record_type == REPLAY_RECORD_object &&
               record.header.payload_type == REPLAY_PAYLOAD_file_object) {
      add_file(out_summary, &payload);
    }
  }
}

static iree_status_t dump_summary(dump_t* dump, const replay_header_t* header, const summary_t* s) {
  uint64_t unknown = s->references[REPLAY_REFERENCE_NONE];
  bool referenced = s->references[REPLAY_REFERENCE_PATH] != 0, hermetic = !referenced && !unknown;
  bool strict = !s->unsupported && !unknown && !s->unknown_validations;
  if (dump->json) {
    static const char* const text[] = {"false", "true"};
    PUT(dump,
        "{\"kind\":\"file\",\"version_major\":%u,\"version_minor\":%u,\"header_length\":%u,\"flags\":%u,"
        "\"file_length\":%" PRIu64 "}\n",
        header->version_major, header->version_minor, header->header_length, header->flags, header->file_length);
    PUT(dump, "{\"kind\":\"summary\",\"hermetic\":%s,\"environment_referenced\":%s,\"strict_replay_supported\":%s",
        text[hermetic], text[referenced], text[strict]);
  } else {
    static const char* const text[] = {"no", "yes"};
    PUT(dump, "IREE HAL replay v%u.%u\nfile_length: %" PRIu64 "\nheader_length: %u\nsummary:\n", header->version_major,
        header->version_minor, header->file_length, header->header_length);
    PUT(dump, "  hermetic: %s\n  environment_referenced: %s\n  strict_replay_supported: %s\n", text[hermetic],
        text[referenced], text[strict]);
  }
#define U PRIu64
  PUT(dump,
      dump->json ? ",\"record_count\":%" U ",\"object_count\":%" U ",\"operation_count\":%" U
                   ",\"unsupported_count\":%" U ",\"scope_begin_count\":%" U ",\"scope_end_count\":%" U
                 : "  records: total=%" U " objects=%" U " operations=%" U " unsupported=%" U "\n  scopes: begin=%" U
                   " end=%" U "\n",
      s->records, s->objects, s->operations, s->unsupported, s->scopes_begun, s->scopes_ended);
  PUT(dump,
      dump->json ? ",\"file_object_count\":%" U ",\"external_file_count\":%" U ",\"inline_file_count\":%" U
                   ",\"range_file_count\":%" U ",\"unknown_file_reference_count\":%" U
                 : "  files: total=%" U " external=%" U " inline=%" U " ranges=%" U " unknown=%" U "\n",
      s->files, s->references[REPLAY_REFERENCE_PATH], s->references[REPLAY_REFERENCE_INLINE],
      s->references[REPLAY_REFERENCE_RANGES], unknown);
  PUT(dump,
      dump->json ? ",\"external_file_total_length\":%" U ",\"inline_file_total_length\":%" U
                   ",\"range_file_total_length\":%" U ",\"captured_read_total_length\":%" U
                 : "  file_bytes: external=%" U " inline=%" U " ranges=%" U " captured_reads=%" U "\n",
      s->reference_bytes[REPLAY_REFERENCE_PATH], s->reference_bytes[REPLAY_REFERENCE_INLINE],
      s->reference_bytes[REPLAY_REFERENCE_RANGES], s->read_bytes);
  PUT(dump,
      dump->json ? ",\"file_validation\":{\"identity\":%" U ",\"digest\":%" U ",\"none\":%" U ",\"unknown\":%" U "}}\n"
                 : "  file_validation: identity=%" U " digest=%" U " none=%" U " unknown=%" U "\nrecords:\n",
      s->validations[REPLAY_VALIDATION_IDENTITY], s->validations[REPLAY_VALIDATION_DIGEST],
      s->validations[REPLAY_VALIDATION_NONE], s->unknown_validations);
#undef U
  return flush(dump);
}

//===----------------------------------------------------------------------------------------------------------------===
// Payloads
//===----------------------------------------------------------------------------------------------------------------===

// Bytes between quotes. Bytes that are no ASCII go as they are into JSON, which may then be no UTF-8.
static iree_status_t put_string(dump_t* dump, const uint8_t* data, uint64_t length) {
  PUT(dump, "\"");
  for (uint64_t i = 0; i < length; ++i) {
    static const char escapes[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    const char* escape = NULL;
    for (size_t j = 0; j + 1 < sizeof(escapes); j += 2) {
      if ((char)data[i] == escapes[j]) escape = &escapes[j + 1];
    }
    if (escape && (dump->json || data[i] < 0x20)) {
      PUT(dump, "\\%c", *escape);
    } else if (data[i] < 0x20) {
      PUT(dump, "\\u%04x", data[i]);
    } else {
      PUT(dump, "%c", data[i]);
    }
  }
  PUT(dump, "\"");
  return iree_ok_status();
}

static iree_status_t put_json_range(dump_t* dump, uint64_t offset, uint64_t length) {
  PUT(dump,
      "{\"offset\":%" PRIu64 ",\"length\":%" PRIu64 ",\"uncompressed_length\":%" PRIu64
      ",\"compression_type\":0,\"digest_type\":0}",
      offset, length, length);
  return iree_ok_status();
}

static iree_status_t put_ref(dump_t* dump, const uint8_t* data) {
  replay_ref_t ref;
  memcpy(&ref, data, sizeof(ref));
  PUT(dump,
      dump->json ? "{\"buffer_id\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"length\":%" PRIu64 ",\"buffer_slot\":%u}"
                 : "{buffer_id=%" PRIu64 " offset=%" PRIu64 " length=%" PRIu64 " slot=%u}",
      ref.buffer_id, ref.offset, ref.length, ref.slot);
  return iree_ok_status();
}

static iree_status_t put_elements(dump_t* dump, const replay_payload_t* payload, size_t part) {
  PUT(dump, "[");
  for (uint64_t i = 0; i < payload->parts[part].count; ++i) {
    if (i) PUT(dump, ",");
    if (payload->kind->parts[part].kind == REPLAY_PART_REFS) {
      IREE_RETURN_IF_ERROR(put_ref(dump, payload->parts[part].data + i * sizeof(replay_ref_t)));
      continue;
    }
    replay_timepoint_t point;
    memcpy(&point, payload->parts[part].data + i * sizeof(point), sizeof(point));
    PUT(dump,
        dump->json ? "{\"semaphore_id\":%" PRIu64 ",\"value\":%" PRIu64 "}"
                   : "{semaphore_id=%" PRIu64 " value=%" PRIu64 "}",
        point.semaphore_id, point.value);
  }
  PUT(dump, "]");
  return iree_ok_status();
}

// An item of a template.
typedef struct item_t {
  char label[64], sigil[3], name[64];
  int digits;
} item_t;

static const char* next_item(const char* text, item_t* out_item) {
  *out_item = (item_t){.digits = 0};
  while (*text == ' ') ++text;
  if (!*text) return NULL;
  size_t length = strcspn(text, " "), label = strcspn(text, "= ");
  const char *value = text, *end = text + length;
  if (label < length) {
    memcpy(out_item->label, text, iree_min(label, sizeof(out_item->label) - 1));
    value += label + 1;
  }
  for (size_t i = 0; strchr("@%'!^~", *value) && i < 2; ++i) out_item->sigil[i] = *value++;
  size_t name = strcspn(value, "# ");
  memcpy(out_item->name, value, iree_min(name, sizeof(out_item->name) - 1));
  if (value[name] == '#') out_item->digits = atoi(value + name + 1);
  if (!out_item->label[0]) memcpy(out_item->label, out_item->name, sizeof(out_item->label));
  return end;
}

static size_t find_part(const replay_payload_kind_t* kind, const char* name) {
  size_t i = 0;
  while (strcmp(kind->parts[i].name, name) != 0) ++i;
  return i;
}

static const char* enumeration_text(const char* name, uint64_t value) {
  static const char* const references[] = {"none", "external_path", "inline_bytes", "captured_ranges"};
  static const char* const validations[] = {"none", "identity", "digest"};
  if (strcmp(name, "reference_type") == 0) return value < IREE_ARRAYSIZE(references) ? references[value] : "unknown";
  return value < IREE_ARRAYSIZE(validations) ? validations[value] : "unknown";
}

static iree_status_t put_field(dump_t* dump, const replay_payload_t* payload, const item_t* item) {
  size_t offset = 0;
  const replay_field_t* field = NULL;
  do {
    field = replay_field_next(payload->kind, field, &offset);
  } while (strcmp(field->name, item->name) != 0);
  const uint8_t* data = payload->fields + offset;
  if (field->kind == REPLAY_FIELD_REF) return put_ref(dump, data);
  if (field->kind == REPLAY_FIELD_U32X3) {
    uint32_t values[3];
    memcpy(values, data, sizeof(values));
    PUT(dump, "[%u,%u,%u]", values[0], values[1], values[2]);
    return iree_ok_status();
  }
  uint64_t value = replay_field_value(payload->kind, payload->fields, item->name, strlen(item->name));
  if (item->sigil[0] == '^') {
    PUT(dump, dump->json ? "\"0x%016" PRIx64 "\"" : "0x%016" PRIx64, value);
  } else if (item->sigil[0] == '!') {
    const char* text = enumeration_text(item->name, value);
    if (item->sigil[1]) {
      PUT(dump, "\"%s\"", text);
    } else {
      PUT(dump, "%s(%" PRIu64 ")", text, value);
    }
  } else if (item->digits && !dump->json) {
    PUT(dump, "0x%0*" PRIx64, item->digits, value);
  } else {
    PUT(dump, "%" PRIu64, value);
  }
  return iree_ok_status();
}

static iree_status_t put_value(dump_t* dump, const replay_record_t* record, const replay_payload_t* payload,
                               const item_t* item) {
  char sigil = item->sigil[0];
  if (sigil == '~') {
    uint64_t word;
    memcpy(&word, payload->parts[find_part(payload->kind, "metadata")].data + 8 * atoi(item->name), sizeof(word));
    PUT(dump, "%" PRIu64, word);
    return iree_ok_status();
  }
  if (sigil != '@' && sigil != '%' && sigil != '\'') return put_field(dump, payload, item);
  size_t part = find_part(payload->kind, item->name);
  if (sigil == '%') return put_elements(dump, payload, part);
  if (sigil == '\'') return put_string(dump, payload->parts[part].data, payload->parts[part].length);
  uint64_t offset = record->payload_offset + payload->parts[part].offset, length = payload->parts[part].length;
  if (dump->json) return put_json_range(dump, offset, length);
  PUT(dump, "[%" PRIu64 ", +%" PRIu64 "]", offset, length);
  return iree_ok_status();
}

static iree_status_t put_payload(dump_t* dump, const replay_record_t* record, const replay_payload_t* payload) {
  const replay_payload_kind_t* kind = payload->kind;
  const char *text = dump->json && kind->json ? kind->json : kind->text, *separator = "";
  item_t item;
  while ((text = next_item(text, &item))) {
    bool is_word = item.sigil[0] == '~';
    if (is_word && payload->parts[find_part(kind, "metadata")].length < sizeof(replay_metadata_t)) continue;
    if (dump->json) {
      PUT(dump, "%s\"%s\":", separator, item.label);
    } else {
      PUT(dump, " %s=", item.label);
    }
    separator = ",";
    IREE_RETURN_IF_ERROR(put_value(dump, record, payload, &item));
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Records
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t dump_text(dump_t* dump, const replay_record_t* record, const replay_payload_t* payload) {
  const replay_record_header_t* h = &record->header;
  PUT(dump,
      "  @%" PRIu64 " #%" PRIu64 " %-11s dev=%" PRIu64 " obj=%" PRIu64 " rel=%" PRIu64 " thread=%" PRIu64 " status=%s",
      record->offset, h->sequence_ordinal, replay_record_name(h->record_type), h->device_id, h->object_id,
      h->related_object_id, h->thread_id, iree_status_code_string((iree_status_code_t)h->status_code));
  if (h->object_type) PUT(dump, " object=%s(%u)", replay_object_name(h->object_type), h->object_type);
  if (h->operation_code) PUT(dump, " op=%s(%u)", replay_operation_name(h->operation_code), h->operation_code);
  if (h->payload_length || h->payload_type) {
    PUT(dump, " payload=%s(%u) range=[%" PRIu64 ", +%" PRIu64 "]", replay_payload_name(h->payload_type),
        h->payload_type, record->payload_offset, h->payload_length);
  }
  if (payload->kind) IREE_RETURN_IF_ERROR(put_payload(dump, record, payload));
  PUT(dump, "\n");
  return flush(dump);
}

static iree_status_t dump_json(dump_t* dump, const replay_record_t* record, const replay_payload_t* payload) {
  const replay_record_header_t* h = &record->header;
  PUT(dump,
      "{\"kind\":\"%s\",\"file_offset\":%" PRIu64 ",\"record_length\":%" PRIu64 ",\"payload_length\":%" PRIu64
      ",\"sequence_ordinal\":%" PRIu64 ",\"thread_id\":%" PRIu64 ",\"device_id\":%" PRIu64 ",\"object_id\":%" PRIu64
      ",\"related_object_id\":%" PRIu64 ",\"record_type_code\":%u,\"record_flags\":%u",
      replay_record_name(h->record_type), record->offset, h->record_length, h->payload_length, h->sequence_ordinal,
      h->thread_id, h->device_id, h->object_id, h->related_object_id, h->record_type, h->record_flags);
  PUT(dump,
      ",\"object_type\":\"%s\",\"object_type_code\":%u,\"operation\":\"%s\",\"operation_code\":%u,\"status_code\":%u,"
      "\"status\":\"%s\",\"payload_type\":\"%s\",\"payload_type_code\":%u,\"payload_range\":",
      replay_object_name(h->object_type), h->object_type, replay_operation_name(h->operation_code), h->operation_code,
      h->status_code, iree_status_code_string((iree_status_code_t)h->status_code), replay_payload_name(h->payload_type),
      h->payload_type);
  IREE_RETURN_IF_ERROR(put_json_range(dump, record->payload_offset, h->payload_length));
  if (payload->kind) {
    PUT(dump, ",\"payload\":{");
    IREE_RETURN_IF_ERROR(put_payload(dump, record, payload));
    PUT(dump, "}");
  } else if (h->payload_length) {
    PUT(dump, ",\"payload\":null");
  }
  PUT(dump, "}\n");
  return flush(dump);
}

static iree_status_t dump_records(dump_t* dump, replay_reader_t reader) {
  summary_t summary;
  IREE_RETURN_IF_ERROR(summarize(reader, &summary));
  IREE_RETURN_IF_ERROR(dump_summary(dump, &reader.header, &summary));
  replay_record_t record;
  replay_payload_t payload;
  for (bool found = true;;) {
    IREE_RETURN_IF_ERROR(replay_reader_next(&reader, &found, &record, &payload));
    if (!found) return iree_ok_status();
    IREE_RETURN_IF_ERROR(dump->json ? dump_json(dump, &record, &payload) : dump_text(dump, &record, &payload));
  }
}

iree_status_t iree_hal_replay_dump_file(iree_const_byte_span_t file_contents,
                                        const iree_hal_replay_dump_options_t* options,
                                        iree_hal_replay_dump_write_callback_t write_callback,
                                        iree_allocator_t host_allocator) {
  replay_reader_t reader;
  IREE_RETURN_IF_ERROR(replay_reader_open(file_contents, &reader));
  dump_t dump = {.json = options && options->format == IREE_HAL_REPLAY_DUMP_FORMAT_JSONL, .callback = write_callback};
  iree_string_builder_initialize(host_allocator, &dump.builder);
  iree_status_t status = dump_records(&dump, reader);
  iree_string_builder_deinitialize(&dump.builder);
  return status;
}
