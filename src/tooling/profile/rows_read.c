// See rows_read.h.
#include "tooling/profile/rows_read.h"

#include "tokenizer/json.h"
#include "tooling/profile/bundle.h"
#include "tooling/profile/rows.h"

//===----------------------------------------------------------------------------------------------------------------===
// Which cells of which rows are fields of records
//===----------------------------------------------------------------------------------------------------------------===

// Of one number of 32 or 64 bits, or several of 32.
typedef struct field_t {
  const char* name;
  size_t offset, size;
} field_t;

#define CELL(record, member, cell) \
  {cell, offsetof(iree_hal_profile_##record##_t, member), sizeof(((const iree_hal_profile_##record##_t*)NULL)->member)}
#define FIELD(record, member) CELL(record, member, #member)
// What all records of operations have.
#define OPERATION(record)                                                                                        \
  CELL(record, type, "type_value"), FIELD(record, flags), FIELD(record, event_id), FIELD(record, submission_id), \
      FIELD(record, command_buffer_id), FIELD(record, allocation_id), FIELD(record, stream_id),                  \
      FIELD(record, physical_device_ordinal), FIELD(record, queue_ordinal), FIELD(record, operation_count),      \
      FIELD(record, payload_length)

static const field_t device_fields[] = {FIELD(device_record, physical_device_ordinal),
                                        FIELD(device_record, queue_count)};
static const field_t queue_fields[] = {FIELD(queue_record, physical_device_ordinal), FIELD(queue_record, queue_ordinal),
                                       FIELD(queue_record, stream_id)};
static const field_t function_fields[] = {FIELD(executable_function_record, executable_id),
                                          FIELD(executable_function_record, function_ordinal)};
static const field_t clock_fields[] = {
    FIELD(clock_correlation_record, flags),
    FIELD(clock_correlation_record, physical_device_ordinal),
    FIELD(clock_correlation_record, sample_id),
    FIELD(clock_correlation_record, device_tick),
    FIELD(clock_correlation_record, host_cpu_timestamp_ns),
    FIELD(clock_correlation_record, host_system_timestamp),
    FIELD(clock_correlation_record, host_system_frequency_hz),
    FIELD(clock_correlation_record, host_time_begin_ns),
    FIELD(clock_correlation_record, host_time_end_ns),
};
static const field_t dispatch_fields[] = {
    FIELD(dispatch_event, flags),           FIELD(dispatch_event, event_id),
    FIELD(dispatch_event, submission_id),   FIELD(dispatch_event, command_buffer_id),
    FIELD(dispatch_event, executable_id),   FIELD(dispatch_event, command_index),
    FIELD(dispatch_event, workgroup_count), FIELD(dispatch_event, function_ordinal),
    FIELD(dispatch_event, workgroup_size),  FIELD(dispatch_event, start_tick),
    FIELD(dispatch_event, end_tick),
};
static const field_t submission_fields[] = {
    OPERATION(queue_event),         FIELD(queue_event, host_time_ns), FIELD(queue_event, ready_host_time_ns),
    FIELD(queue_event, wait_count), FIELD(queue_event, signal_count), FIELD(queue_event, barrier_count),
};
static const field_t device_event_fields[] = {OPERATION(queue_device_event), FIELD(queue_device_event, start_tick),
                                              FIELD(queue_device_event, end_tick)};
static const field_t host_event_fields[] = {
    OPERATION(host_execution_event),
    FIELD(host_execution_event, status_code),
    FIELD(host_execution_event, executable_id),
    FIELD(host_execution_event, command_index),
    FIELD(host_execution_event, function_ordinal),
    FIELD(host_execution_event, workgroup_count),
    FIELD(host_execution_event, workgroup_size),
    FIELD(host_execution_event, start_host_time_ns),
    FIELD(host_execution_event, end_host_time_ns),
    FIELD(host_execution_event, tile_count),
    FIELD(host_execution_event, tile_duration_sum_ns),
};
static const field_t memory_fields[] = {
    CELL(memory_event, type, "event_type_value"),
    FIELD(memory_event, event_id),
    FIELD(memory_event, host_time_ns),
    FIELD(memory_event, allocation_id),
    FIELD(memory_event, pool_id),
    FIELD(memory_event, backing_id),
    FIELD(memory_event, submission_id),
    FIELD(memory_event, physical_device_ordinal),
    FIELD(memory_event, queue_ordinal),
    FIELD(memory_event, length),
};

typedef struct row_t {
  profile_kind_t kind;
  size_t length;  // of the record
  const field_t* fields;
  size_t count;
} row_t;
#define ROW(kind, record, fields) \
  {PROFILE_KIND_##kind, sizeof(iree_hal_profile_##record##_t), fields, IREE_ARRAYSIZE(fields)}
static const row_t rows[] = {
    ROW(DEVICES, device_record, device_fields),
    ROW(QUEUES, queue_record, queue_fields),
    ROW(FUNCTIONS, executable_function_record, function_fields),
    ROW(CLOCKS, clock_correlation_record, clock_fields),
    ROW(DISPATCH_EVENTS, dispatch_event, dispatch_fields),
    ROW(QUEUE_EVENTS, queue_event, submission_fields),
    ROW(DEVICE_EVENTS, queue_device_event, device_event_fields),
    ROW(HOST_EVENTS, host_execution_event, host_event_fields),
    ROW(MEMORY_EVENTS, memory_event, memory_fields),
};
enum { MAX_RECORD = 512 };

static iree_string_view_t content_type_of(profile_kind_t kind) {
  switch (kind) {
#define KIND(id, content_type, record, name) \
  case PROFILE_KIND_##id:                    \
    return IREE_HAL_PROFILE_CONTENT_TYPE_##content_type;
#include "tooling/profile/kinds.def"
    default:
      return iree_string_view_empty();
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

// Stores a number of `size` bytes. What is not there is none.
static bool store_number(const json_t* value, size_t size, uint8_t* out) {
  uint64_t number = 0;
  int64_t below = 0;
  if (!json_is(value, JSON_NUMBER)) return !value || json_is(value, JSON_NULL);
  if (!iree_string_view_atoi_uint64(value->text, &number)) {
    if (size != sizeof(below) || !iree_string_view_atoi_int64(value->text, &below)) return false;
    number = (uint64_t)below;
  }
  if (size < sizeof(number) && number > UINT32_MAX) return false;
  memcpy(out, &number, size);  // little endian
  return true;
}

static bool store_field(const json_t* row, const field_t* field, uint8_t* record) {
  const json_t* value = json_member(row, field->name);
  uint8_t* out = record + field->offset;
  if (field->size <= sizeof(uint64_t)) return store_number(value, field->size, out);
  if (!json_is(value, JSON_ARRAY) || value->count != field->size / sizeof(uint32_t)) return false;
  for (const json_t* item = value->first; item; item = item->next, out += sizeof(uint32_t)) {
    if (!store_number(item, sizeof(uint32_t), out)) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Rows
//===----------------------------------------------------------------------------------------------------------------===

// Each record is a chunk of its own. Its device and queue are the chunk's too, which dispatches know theirs from.
static iree_status_t write_record(const json_t* row, const row_t* kind, const uint8_t* record,
                                  iree_string_view_t trailing, bytes_t* out) {
  iree_string_view_t content_type = content_type_of(kind->kind);
  iree_hal_profile_file_record_header_t header = {
      .header_length = sizeof(header),
      .content_type_length = (uint32_t)content_type.size,
      .payload_length = kind->length + trailing.size,
      .record_length = sizeof(header) + content_type.size + kind->length + trailing.size,
      .record_type = IREE_HAL_PROFILE_FILE_RECORD_TYPE_CHUNK,
  };
  if (!store_number(json_member(row, "physical_device_ordinal"), sizeof(uint32_t),
                    (uint8_t*)&header.physical_device_ordinal) ||
      !store_number(json_member(row, "queue_ordinal"), sizeof(uint32_t), (uint8_t*)&header.queue_ordinal) ||
      !store_number(json_member(row, "stream_id"), sizeof(uint64_t), (uint8_t*)&header.stream_id)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a device, queue or stream is no number");
  }
  IREE_RETURN_IF_ERROR(bytes_append(out, &header, sizeof(header)));
  IREE_RETURN_IF_ERROR(bytes_append_view(out, content_type));
  IREE_RETURN_IF_ERROR(bytes_append(out, record, kind->length));
  return bytes_append_view(out, trailing);
}

static iree_status_t read_record(const json_t* row, const row_t* kind, bytes_t* out) {
  _Alignas(uint64_t) uint8_t record[MAX_RECORD] = {0};
  static_assert(sizeof(iree_hal_profile_memory_event_t) <= MAX_RECORD, "the longest");
  iree_string_view_t trailing = iree_string_view_empty();
  for (size_t i = 0; i < kind->count; ++i) {
    if (!store_field(row, &kind->fields[i], record)) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "'%s' of a row of type '%s' is no number that it can be",
                              kind->fields[i].name, profile_kind_name(kind->kind));
    }
  }
  if (kind->kind == PROFILE_KIND_FUNCTIONS) {
    trailing = json_text(row, "name", trailing);
    ((iree_hal_profile_executable_function_record_t*)record)->name_length = (uint32_t)trailing.size;
  }
  *(uint32_t*)record = (uint32_t)(kind->length + trailing.size);
  return write_record(row, kind, record, trailing, out);
}

static iree_status_t check_schema(const json_t* row) {
  int64_t version = 0;
  iree_string_view_t format = json_text(row, "format", iree_string_view_empty());
  json_integer(json_member(row, "schema_version"), INT32_MAX, &version);
  if (!iree_string_view_equal(json_text(row, "record_type", iree_string_view_empty()), IREE_SV("schema")) ||
      !iree_string_view_equal(format, IREE_SV("ireeperf-jsonl"))) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "this is neither a profile (.ireeprof) nor rows of `iree-profile export`, which begin with "
                            "their schema");
  }
  if (version == PROFILE_EXPORT_VERSION) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "rows of ireeperf-jsonl's version %" PRId64 "; %d is known",
                          version, PROFILE_EXPORT_VERSION);
}

static iree_status_t read_row(iree_string_view_t line, bool is_first, bytes_t* out) {
  store_t memory = store_make(out->allocator);
  const json_t* row = NULL;
  iree_status_t status = json_parse(line, &memory, &row);
  if (is_first) {
    iree_status_ignore(status);
    status = check_schema(row);
  }
  iree_string_view_t type = json_text(row, "record_type", iree_string_view_empty());
  for (size_t i = 0; i < IREE_ARRAYSIZE(rows) && iree_status_is_ok(status); ++i) {
    if (iree_string_view_equal(type, iree_make_cstring_view(profile_kind_name(rows[i].kind)))) {
      status = read_record(row, &rows[i], out);
    }
  }
  store_free(&memory);
  return status;
}

iree_status_t profile_rows_read(iree_string_view_t text, bytes_t* out_file) {
  const iree_hal_profile_file_header_t header = {
      .magic = IREE_HAL_PROFILE_FILE_MAGIC,
      .version_major = IREE_HAL_PROFILE_FILE_VERSION_MAJOR,
      .version_minor = IREE_HAL_PROFILE_FILE_VERSION_MINOR,
      .header_length = sizeof(header),
  };
  IREE_RETURN_IF_ERROR(bytes_append(out_file, &header, sizeof(header)));
  bool is_first = true;
  for (size_t line = 1; text.size; ++line) {
    iree_string_view_t row;
    iree_string_view_split(text, '\n', &row, &text);
    row = iree_string_view_trim(row);
    if (!row.size) continue;
    IREE_RETURN_IF_ERROR(read_row(row, is_first, out_file), "row %zu", line);
    is_first = false;
  }
  return is_first ? check_schema(NULL) : iree_ok_status();
}
