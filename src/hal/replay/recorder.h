// What the recording objects share: the file, and numbers of objects.
//
// A call is written before it is passed on, so that no other thread can be seen to use its results before; when it
// fails, its status is written after. Nothing is locked while others' code runs.
#ifndef IREE_C_HAL_REPLAY_RECORDER_H_
#define IREE_C_HAL_REPLAY_RECORDER_H_

#include "hal/detail.h"
#include "hal/recording.h"
#include "hal/replay/format.h"
#include "iree/hal/replay/recorder.h"

typedef struct recording_device_t recording_device_t;

// A record that is about to be written. `device_id` and so on may be 0.
enum { REPLAY_CALL_PARTS = 8 };
typedef struct replay_call_t {
  uint16_t record_type;  // 0: an operation
  uint32_t operation, object_type, payload_type;
  uint64_t device_id, object_id, related_id;
  iree_host_size_t part_count;  // of its payload
  iree_const_byte_span_t parts[REPLAY_CALL_PARTS];
  uint64_t offset;  // where it was written; 0: it was not
} replay_call_t;

// Writes it. Does nothing once the recorder was closed. Errors: those of writing, now or before.
iree_status_t replay_call_begin(iree_hal_replay_recorder_t* recorder, replay_call_t* call);
// Says how the call ended; returns `status`.
iree_status_t replay_call_end(iree_hal_replay_recorder_t* recorder, const replay_call_t* call, iree_status_t status);

static inline void replay_call_add(replay_call_t* call, const void* data, iree_host_size_t length) {
  call->parts[call->part_count++] = iree_make_const_byte_span(data, length);
}

// A number for a new object.
uint64_t replay_recorder_next_id(iree_hal_replay_recorder_t* recorder);
const iree_hal_replay_recorder_options_t* replay_recorder_options(const iree_hal_replay_recorder_t* recorder);
iree_allocator_t replay_recorder_allocator(const iree_hal_replay_recorder_t* recorder);

// Keeps a group of devices alive as long as the recorder, which may hold objects of theirs.
iree_status_t replay_recorder_keep(iree_hal_replay_recorder_t* recorder, iree_hal_device_group_t* group);

// Writes that an object came to be; `data` (may be NULL) is its payload.
iree_status_t replay_record_object(iree_hal_replay_recorder_t* recorder, uint64_t device_id, uint64_t id,
                                   uint32_t object_type, uint32_t payload_type, const void* data, size_t size);

// Objects of others, which keep their numbers as long as anybody but the recorder holds them. `extra` is theirs.
iree_status_t replay_recorder_know(iree_hal_replay_recorder_t* recorder, void* resource, uint64_t id, uint64_t extra);
// 0 when it is not known. `out_extra` may be NULL.
uint64_t replay_recorder_find(iree_hal_replay_recorder_t* recorder, const void* resource, uint64_t* out_extra);

//===----------------------------------------------------------------------------------------------------------------===
// Recording objects
//===----------------------------------------------------------------------------------------------------------------===

struct recording_device_t {
  iree_hal_resource_t resource;
  iree_hal_replay_recorder_t* recorder;
  iree_hal_device_t* base;
  iree_hal_allocator_t* allocator;
  uint64_t id, allocator_id;
  iree_hal_device_topology_info_t topology;
  bool has_topology;
};

// A recording device of `base`, and whether a device is one.
iree_status_t recording_device_create(iree_hal_replay_recorder_t* recorder, iree_hal_device_t* base,
                                      iree_hal_device_t** out_device);
// Allocators belong to their devices, which keep them.
iree_status_t recording_allocator_create(recording_device_t* device, iree_hal_allocator_t** out_allocator);
void recording_allocator_replace(iree_hal_allocator_t* allocator, iree_hal_allocator_t* base);

// Wraps a new buffer, whose reference is taken even when this fails, and writes that it came to be.
iree_status_t recording_buffer_create(recording_device_t* device, uint64_t id, iree_hal_buffer_t* base,
                                      iree_hal_buffer_t** out_buffer);
// The device's own buffer for any one, where `offset` is then, and its number. Buffers of others are written down the
// first time, with what they hold. NULL stays NULL.
iree_status_t recording_buffer_resolve(recording_device_t* device, iree_hal_buffer_t* buffer, iree_device_size_t offset,
                                       iree_hal_buffer_t** out_base, iree_device_size_t* out_offset, uint64_t* out_id);
// A reference for the device behind, and for the file.
iree_status_t recording_ref_resolve(recording_device_t* device, iree_hal_buffer_ref_t ref,
                                    iree_hal_buffer_ref_t* out_base, replay_ref_t* out_ref);
// Writes what the host wrote through mappings that are still open.
iree_status_t recording_mappings_flush(iree_hal_replay_recorder_t* recorder);
typedef struct recording_mapping_t recording_mapping_t;
recording_mapping_t** replay_recorder_mappings(iree_hal_replay_recorder_t* recorder);
void replay_recorder_lock(iree_hal_replay_recorder_t* recorder);
void replay_recorder_unlock(iree_hal_replay_recorder_t* recorder);

iree_status_t recording_command_buffer_create(recording_device_t* device, uint64_t id,
                                              const replay_command_buffer_object_t* object,
                                              iree_hal_command_buffer_t* base,
                                              iree_hal_command_buffer_t** out_command_buffer);
// The one behind a recording one, and its number; NULL for those of others.
iree_hal_command_buffer_t* recording_command_buffer_base(iree_hal_command_buffer_t* command_buffer, uint64_t* out_id);

iree_status_t recording_cache_create(recording_device_t* device, uint64_t id, iree_hal_executable_cache_t* base,
                                     iree_hal_executable_cache_t** out_cache);

// A dispatch for the file, as part of a command buffer or by itself.
typedef struct recording_dispatch_t {
  replay_dispatch_t payload;
  iree_hal_dispatch_config_t config;  // for the device behind
  iree_hal_buffer_ref_t* bindings;    // likewise
  replay_ref_t* refs;
  iree_allocator_t host_allocator;
} recording_dispatch_t;
iree_status_t recording_dispatch_make(recording_device_t* device, const hal_dispatch_t* call,
                                      recording_dispatch_t* out_dispatch);
void recording_dispatch_free(recording_dispatch_t* dispatch);

// What the file says of a file that is imported, and what follows that where it is no memory (freed by the caller).
// Errors: FAILED_PRECONDITION by the recorder's policy.
iree_status_t recording_file_describe(recording_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                      iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                      iree_hal_external_file_flags_t flags, replay_file_object_t* out_object,
                                      uint8_t** out_reference);
// Bytes of a file behind a descriptor; freed by the caller.
iree_status_t recording_file_read(iree_io_file_handle_t* handle, uint64_t offset, uint64_t length,
                                  iree_allocator_t host_allocator, uint8_t** out_data);

#endif  // IREE_C_HAL_REPLAY_RECORDER_H_
