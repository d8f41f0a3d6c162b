// Captures of devices: no bytes may crash their reader, their dump, or a replay on a device that executes nothing, but
// takes each executable for what the file says of its functions.
#include <stdint.h>

#include "hal/local/executable.h"
#include "hal/null/device.h"
#include "hal/replay/format.h"
#include "iree/hal/replay/dump.h"
#include "iree/hal/replay/execute.h"
#include "limited_allocator.h"

static iree_status_t drop(void* user_data, iree_string_view_t text) { return iree_ok_status(); }

static iree_status_t note_read(void* user_data, const iree_hal_replay_read_event_t* event) {
  if (event->captured.data_length != event->replayed.data_length) abort();
  return iree_ok_status();
}

static iree_status_t note_dispatch(void* user_data, const iree_hal_replay_dispatch_event_t* event) {
  return iree_ok_status();
}

// Parts of payloads lie inside of them.
static void check(iree_const_byte_span_t contents) {
  replay_reader_t reader;
  replay_record_t record;
  replay_payload_t payload;
  bool found = iree_status_consume_code(replay_reader_open(contents, &reader)) == IREE_STATUS_OK;
  while (found && iree_status_consume_code(replay_reader_next(&reader, &found, &record, &payload)) == IREE_STATUS_OK &&
         found) {
    for (size_t i = 0; payload.kind && payload.kind->parts[i].name; ++i) {
      const uint8_t *begin = payload.parts[i].data, *end = begin + payload.parts[i].length;
      if (begin < contents.data || end > contents.data + contents.data_length) abort();
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Executables
//===----------------------------------------------------------------------------------------------------------------===

typedef struct any_loader_t {
  iree_hal_executable_loader_t base;
  iree_allocator_t host_allocator;
  replay_reader_t reader;  // behind the executable that was loaded last
} any_loader_t;

// Functions as the metadata has them, their names behind the executable.
static void take_functions(local_executable_t* executable, char* names, iree_const_byte_span_t metadata) {
  const uint8_t* at = metadata.data + sizeof(replay_metadata_t);
  const uint8_t *end = metadata.data + metadata.data_length, *text = end;
  replay_metadata_t header;
  memcpy(&header, metadata.data, sizeof(header));
  if (header.name_length <= metadata.data_length) text -= header.name_length;
  for (uint32_t i = 0; i < executable->function_count; ++i, at += sizeof(replay_function_t)) {
    replay_function_t captured;
    memcpy(&captured, at, sizeof(captured));
    executable->functions[i].attrs.constant_count = (uint8_t)captured.constant_count;
    executable->functions[i].attrs.binding_count = (uint8_t)captured.binding_count;
    if (!captured.name_length || captured.name_length > end - text) continue;
    executable->functions[i].name = names;
    memcpy(names, text, captured.name_length);
    names[captured.name_length] = 0;
    names += captured.name_length + 1;
    text += captured.name_length;
  }
}

static void keep(local_executable_t* executable) {}

static iree_status_t make_executable(iree_const_byte_span_t metadata, iree_allocator_t allocator,
                                     iree_hal_executable_t** out_executable) {
  replay_metadata_t header = {0};
  local_executable_t* executable = NULL;
  if (metadata.data_length < sizeof(header)) return iree_status_from_code(IREE_STATUS_INCOMPATIBLE);
  memcpy(&header, metadata.data, sizeof(header));
  if (header.function_count > (metadata.data_length - sizeof(header)) / sizeof(replay_function_t)) {
    return iree_status_from_code(IREE_STATUS_INCOMPATIBLE);
  }
  size_t size = sizeof(*executable) + metadata.data_length + (size_t)header.function_count;
  IREE_RETURN_IF_ERROR(
      local_executable_create(size, (uint32_t)header.function_count, keep, allocator, (void**)&executable));
  take_functions(executable, (char*)(executable + 1), metadata);
  iree_status_t status = local_executable_name_functions(executable);
  if (iree_status_is_ok(status)) {
    *out_executable = (iree_hal_executable_t*)executable;
  } else {
    iree_hal_executable_release((iree_hal_executable_t*)executable);
  }
  return status;
}

static bool takes_any(iree_hal_executable_loader_t* base, iree_hal_executable_caching_mode_t mode,
                      iree_string_view_t format) {
  return true;
}

// What the file's next executable is.
static iree_status_t load_any(iree_hal_executable_loader_t* base, const iree_hal_executable_params_t* params,
                              iree_host_size_t workers, iree_hal_executable_t** out_executable) {
  any_loader_t* loader = (any_loader_t*)base;
  replay_record_t record;
  replay_payload_t payload;
  for (bool found = true; found;) {
    IREE_RETURN_IF_ERROR(replay_reader_next(&loader->reader, &found, &record, &payload));
    if (!found || record.header.payload_type != REPLAY_PAYLOAD_executable_prepare) continue;
    iree_const_byte_span_t metadata = {payload.parts[3].data, (iree_host_size_t)payload.parts[3].length};
    return make_executable(metadata, loader->host_allocator, out_executable);
  }
  return iree_status_from_code(IREE_STATUS_INCOMPATIBLE);
}

// It is the caller's.
static void leave(iree_hal_executable_loader_t* base) {}

static const iree_hal_executable_loader_vtable_t any_vtable = {
    .destroy = leave, .query_support = takes_any, .try_load = load_any};

//===----------------------------------------------------------------------------------------------------------------===

static void replay(iree_const_byte_span_t contents, iree_hal_device_group_t* group, iree_allocator_t allocator) {
  // Paths of the file lead nowhere.
  iree_hal_replay_file_path_remap_t remap = {IREE_SV(""), IREE_SV("/dev/null/")};
  iree_hal_replay_execute_options_t options = iree_hal_replay_execute_options_default();
  options.file_path_remap_count = 1;
  options.file_path_remaps = &remap;
  options.read_event_callback = (iree_hal_replay_read_event_callback_t){note_read, NULL};
  // Some of them command by command.
  if (contents.data_length & 2) {
    options.dispatch_event_callback = (iree_hal_replay_dispatch_event_callback_t){note_dispatch, NULL};
  }
  iree_status_ignore(iree_hal_replay_execute_file(contents, group, &options, allocator));
}

static iree_status_t create_group(iree_hal_executable_loader_t* loader, iree_allocator_t allocator,
                                  iree_hal_device_group_t** out_group) {
  iree_hal_allocator_t* memory = NULL;
  iree_hal_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_create_heap(IREE_SV("fuzz"), allocator, allocator, &memory));
  iree_status_t status = null_device_create(1, &loader, memory, NULL, allocator, &device);
  if (iree_status_is_ok(status)) {
    status = iree_hal_device_group_create_from_device(device, NULL, allocator, out_group);
  }
  iree_hal_device_release(device);
  iree_hal_allocator_release(memory);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t used = 0;
  iree_allocator_t allocator = limited_allocator(&used);
  iree_const_byte_span_t contents = {data, size};
  iree_hal_device_group_t* group = NULL;
  iree_hal_replay_dump_write_callback_t callback = {drop, NULL};
  iree_hal_replay_dump_options_t options = {size & 1 ? IREE_HAL_REPLAY_DUMP_FORMAT_JSONL
                                                     : IREE_HAL_REPLAY_DUMP_FORMAT_TEXT};
  check(contents);
  iree_status_ignore(iree_hal_replay_dump_file(contents, &options, callback, allocator));
  any_loader_t loader = {.host_allocator = allocator};
  iree_hal_executable_loader_initialize(&any_vtable, iree_hal_executable_import_provider_null(), &loader.base);
  bool is_open = iree_status_consume_code(replay_reader_open(contents, &loader.reader)) == IREE_STATUS_OK;
  if (is_open && iree_status_consume_code(create_group(&loader.base, allocator, &group)) == IREE_STATUS_OK) {
    replay(contents, group, allocator);
    iree_hal_device_group_release(group);
  }
  if (used) abort();
  return 0;
}
