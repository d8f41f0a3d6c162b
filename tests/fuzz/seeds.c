// Where fuzzers begin: a profile of each kind of records, a capture of each call and of each payload, and one of each
// format with all of them. Fields are as they are by default, with one element in each part that has a length.
//
//   fuzz_seeds PROFILES CAPTURES, two folders that exist
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/replay/format.h"
#include "iree/hal/utils/profile_file.h"
#include "tooling/profile/bundle.h"

enum { PATH_LENGTH = 4096, FILE_LENGTH = 1 << 20, PAYLOAD_LENGTH = 1024 };

static void check(iree_status_t status) {
  if (iree_status_is_ok(status)) return;
  iree_status_fprint(stderr, status);
  exit(EXIT_FAILURE);
}

//===----------------------------------------------------------------------------------------------------------------===
// Profiles
//===----------------------------------------------------------------------------------------------------------------===

// Where a trace's bytes would follow there are none.
static void write_kind(iree_hal_profile_sink_t* sink, profile_kind_t kind) {
  switch (kind) {
#define KIND(id, content, record, name)                                                     \
  case PROFILE_KIND_##id: {                                                                 \
    iree_hal_profile_##record##_t one = iree_hal_profile_##record##_default();              \
    iree_hal_profile_chunk_metadata_t metadata = iree_hal_profile_chunk_metadata_default(); \
    iree_const_byte_span_t bytes = iree_make_const_byte_span(&one, sizeof(one));            \
    metadata.content_type = IREE_HAL_PROFILE_CONTENT_TYPE_##content;                        \
    check(iree_hal_profile_sink_write(sink, &metadata, 1, &bytes));                         \
    break;                                                                                  \
  }
#include "tooling/profile/kinds.def"
    default:
      break;
  }
}

static void write_profile(const char* folder, const char* name, uint32_t first, uint32_t end) {
  char path[PATH_LENGTH];
  iree_allocator_t allocator = iree_allocator_system();
  iree_io_file_handle_t* file = NULL;
  iree_hal_profile_sink_t* sink = NULL;
  iree_hal_profile_chunk_metadata_t session = iree_hal_profile_chunk_metadata_default();
  session.content_type = IREE_HAL_PROFILE_CONTENT_TYPE_SESSION;
  snprintf(path, sizeof(path), "%s/%s.ireeprof", folder, name);
  remove(path);
  check(iree_io_file_handle_create(IREE_IO_FILE_MODE_WRITE, iree_make_cstring_view(path), 0, allocator, &file));
  check(iree_hal_profile_file_sink_create(file, allocator, &sink));
  check(iree_hal_profile_sink_begin_session(sink, &session));
  for (uint32_t kind = first; kind < end; ++kind) write_kind(sink, (profile_kind_t)kind);
  check(iree_hal_profile_sink_end_session(sink, &session, IREE_STATUS_OK));
  iree_hal_profile_sink_release(sink);
  iree_io_file_handle_release(file);
}

static void write_profiles(const char* folder) {
  for (uint32_t kind = 0; kind < PROFILE_KIND_COUNT; ++kind) {
    write_profile(folder, profile_kind_name((profile_kind_t)kind), kind, kind + 1);
  }
  write_profile(folder, "all", 0, PROFILE_KIND_COUNT);
}

//===----------------------------------------------------------------------------------------------------------------===
// Captures
//===----------------------------------------------------------------------------------------------------------------===

typedef struct capture_t {
  size_t length;
  uint64_t count;
  uint8_t bytes[FILE_LENGTH];
} capture_t;

static void put(capture_t* capture, const void* data, size_t length) {
  if (length > sizeof(capture->bytes) - capture->length) exit(EXIT_FAILURE);
  memcpy(capture->bytes + capture->length, data, length);
  capture->length += length;
}

static void begin(capture_t* capture) {
  const replay_header_t header = {REPLAY_MAGIC,     REPLAY_VERSION_MAJOR, REPLAY_VERSION_MINOR, sizeof(header), 0,
                                  /*file_length=*/0};
  capture->length = capture->count = 0;
  put(capture, &header, sizeof(header));
}

// The field that says how many elements a part has.
static void set_count(const replay_payload_kind_t* kind, const char* name, uint8_t* fields) {
  size_t offset = 0;
  for (const replay_field_t* field = NULL; (field = replay_field_next(kind, field, &offset));) {
    if (strcmp(field->name, name) == 0) fields[offset] = 1;
  }
}

static void put_record(capture_t* capture, uint32_t type, uint32_t object, uint32_t operation, uint32_t payload) {
  static const size_t sizes[] = {[REPLAY_PART_BYTES] = 1,
                                 [REPLAY_PART_WORDS] = 4,
                                 [REPLAY_PART_IDS] = 8,
                                 [REPLAY_PART_REFS] = sizeof(replay_ref_t),
                                 [REPLAY_PART_TIMEPOINTS] = sizeof(replay_timepoint_t),
                                 [REPLAY_PART_BARRIERS] = sizeof(replay_barrier_t),
                                 [REPLAY_PART_BUFFER_BARRIERS] = sizeof(replay_buffer_barrier_t)};
  const replay_payload_kind_t* kind = replay_payload_kind(payload);
  uint8_t bytes[PAYLOAD_LENGTH] = {0};
  size_t length = kind ? kind->size : 0;
  for (size_t i = 0; kind && kind->parts[i].name; ++i) {
    set_count(kind, kind->parts[i].count, bytes);
    length += sizes[kind->parts[i].kind];
  }
  const replay_record_header_t header = {.record_length = sizeof(header) + length,
                                         .payload_length = length,
                                         .sequence_ordinal = capture->count++,
                                         .device_id = 1,
                                         .object_id = 1,
                                         .header_length = sizeof(header),
                                         .record_type = (uint16_t)type,
                                         .payload_type = payload,
                                         .object_type = object,
                                         .operation_code = operation};
  put(capture, &header, sizeof(header));
  put(capture, bytes, length);
}

static void write_capture(capture_t* capture, const char* folder, const char* name) {
  char path[PATH_LENGTH];
  replay_header_t header;
  memcpy(&header, capture->bytes, sizeof(header));
  header.file_length = capture->length;
  memcpy(capture->bytes, &header, sizeof(header));
  snprintf(path, sizeof(path), "%s/%s.ireereplay", folder, name);
  FILE* file = fopen(path, "wb");
  bool is_written = file && fwrite(capture->bytes, 1, capture->length, file) == capture->length;
  if (file) is_written &= fclose(file) == 0;
  if (!is_written) check(iree_make_status(IREE_STATUS_PERMISSION_DENIED, "cannot write '%s'", path));
}

// What a call's records have behind them, by the payloads' names; those of a name of their own have it.
static const struct {
  uint32_t operation, payload;
} pairs[] = {
    {REPLAY_ALLOCATOR_ALLOCATE_BUFFER, REPLAY_PAYLOAD_buffer_object},
    {REPLAY_BUFFER_MAP_RANGE, REPLAY_PAYLOAD_buffer_range},
    {REPLAY_BUFFER_UNMAP_RANGE, REPLAY_PAYLOAD_buffer_range_data},
    {REPLAY_BUFFER_INVALIDATE_RANGE, REPLAY_PAYLOAD_buffer_range_data},
    {REPLAY_BUFFER_FLUSH_RANGE, REPLAY_PAYLOAD_buffer_range_data},
    {REPLAY_DEVICE_CREATE_COMMAND_BUFFER, REPLAY_PAYLOAD_command_buffer_object},
    {REPLAY_DEVICE_CREATE_EXECUTABLE_CACHE, REPLAY_PAYLOAD_executable_cache_object},
    {REPLAY_EXECUTABLE_CACHE_PREPARE_EXECUTABLE, REPLAY_PAYLOAD_executable_prepare},
    {REPLAY_DEVICE_QUEUE_DISPATCH, REPLAY_PAYLOAD_dispatch},
    {REPLAY_COMMAND_BUFFER_DISPATCH, REPLAY_PAYLOAD_dispatch},
    {REPLAY_DEVICE_CREATE_SEMAPHORE, REPLAY_PAYLOAD_semaphore_object},
    {REPLAY_DEVICE_CREATE_EVENT, REPLAY_PAYLOAD_event_object},
    {REPLAY_COMMAND_BUFFER_SIGNAL_EVENT, REPLAY_PAYLOAD_command_buffer_event},
    {REPLAY_COMMAND_BUFFER_RESET_EVENT, REPLAY_PAYLOAD_command_buffer_event},
    {REPLAY_DEVICE_IMPORT_FILE, REPLAY_PAYLOAD_file_object},
    {REPLAY_SCOPE_BEGIN, REPLAY_PAYLOAD_replay_scope},
    {REPLAY_SCOPE_END, REPLAY_PAYLOAD_replay_scope},
};
static const struct {
  const char* name;
  uint32_t code;
} operations[] =
    {
#define OPERATION(text, name, code) {text, code},
#include "hal/replay/format.def"
},
  payloads[] = {
#define PAYLOAD(name, code, fields, parts, text, json) {#name, code},
#include "hal/replay/format.def"
};

static uint32_t payload_of(const char* name, uint32_t operation) {
  char plain[64];
  snprintf(plain, sizeof(plain), "%s", name);
  if (strchr(plain, '.')) *strchr(plain, '.') = '_';
  for (size_t i = 0; i < IREE_ARRAYSIZE(payloads); ++i) {
    if (strcmp(payloads[i].name, plain) == 0) return payloads[i].code;
  }
  for (size_t i = 0; i < IREE_ARRAYSIZE(pairs); ++i) {
    if (pairs[i].operation == operation) return pairs[i].payload;
  }
  return 0;
}

static void put_head(capture_t* capture) {
  put_record(capture, REPLAY_RECORD_session, 0, 0, 0);
  put_record(capture, REPLAY_RECORD_object, REPLAY_OBJECT_device, 0, 0);
}

static void write_captures(const char* folder) {
  static capture_t one, all;
  begin(&all);
  put_head(&all);
  for (uint32_t type = REPLAY_RECORD_session; type <= REPLAY_RECORD_unsupported; ++type)
    put_record(&all, type, 0, 0, 0);
  for (size_t i = 0; i < IREE_ARRAYSIZE(payloads); ++i) {
    put_record(&all, REPLAY_RECORD_object, (uint32_t)(i % REPLAY_OBJECT_host_call + 1), 0, payloads[i].code);
  }
  for (size_t i = 0; i < IREE_ARRAYSIZE(operations); ++i) {
    uint32_t payload = payload_of(operations[i].name, operations[i].code);
    begin(&one);
    put_head(&one);
    put_record(&one, REPLAY_RECORD_operation, REPLAY_OBJECT_device, operations[i].code, payload);
    write_capture(&one, folder, operations[i].name);
    put_record(&all, REPLAY_RECORD_operation, REPLAY_OBJECT_device, operations[i].code, payload);
  }
  write_capture(&all, folder, "all");
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "Usage: fuzz_seeds PROFILES CAPTURES\n");
    return EXIT_FAILURE;
  }
  write_profiles(argv[1]);
  write_captures(argv[2]);
  return EXIT_SUCCESS;
}
