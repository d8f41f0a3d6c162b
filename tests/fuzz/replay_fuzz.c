// Captures of devices: no bytes may crash their reader, their dump, or a replay on a device that executes nothing.
#include <stdint.h>

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

static void replay(iree_const_byte_span_t contents, iree_hal_device_group_t* group, iree_allocator_t allocator) {
  // Paths of the file lead nowhere.
  iree_hal_replay_file_path_remap_t remap = {IREE_SV(""), IREE_SV("/dev/null/")};
  iree_hal_replay_execute_options_t options = iree_hal_replay_execute_options_default();
  options.file_path_remap_count = 1;
  options.file_path_remaps = &remap;
  options.read_event_callback = (iree_hal_replay_read_event_callback_t){note_read, NULL};
  iree_status_ignore(iree_hal_replay_execute_file(contents, group, &options, allocator));
}

// A device without loaders: executables of the file are refused.
static iree_status_t create_group(iree_allocator_t allocator, iree_hal_device_group_t** out_group) {
  iree_hal_allocator_t* memory = NULL;
  iree_hal_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_create_heap(IREE_SV("fuzz"), allocator, allocator, &memory));
  iree_status_t status = null_device_create(0, NULL, memory, NULL, allocator, &device);
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
  if (iree_status_consume_code(create_group(allocator, &group)) == IREE_STATUS_OK) {
    replay(contents, group, allocator);
    iree_hal_device_group_release(group);
  }
  if (used) abort();
  return 0;
}
