// Sinks: who gets what a device tells while it is profiled.
//
// A session is one begin_session, any number of chunks and one end_session, all for one thread at a time. Sinks may
// block and allocate: devices call them when they are asked to flush, never where work is submitted or runs.
#ifndef IREE_HAL_PROFILE_SINK_H_
#define IREE_HAL_PROFILE_SINK_H_

#include <stdint.h>
#include <string.h>

#include "iree/base/api.h"
#include "iree/hal/resource.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iree_hal_profile_sink_t iree_hal_profile_sink_t;

enum iree_hal_profile_chunk_flag_bits_t {
  IREE_HAL_PROFILE_CHUNK_FLAG_NONE = 0u,
  IREE_HAL_PROFILE_CHUNK_FLAG_TRUNCATED = 1ull << 0,  // records are missing
};
typedef uint64_t iree_hal_profile_chunk_flags_t;

// What a chunk is about. Strings are the caller's.
typedef struct iree_hal_profile_chunk_metadata_t {
  iree_string_view_t content_type;  // profile_schema.h
  iree_string_view_t name;          // for people
  uint64_t session_id;
  uint64_t stream_id;
  uint64_t event_id;           // 0: none
  uint64_t executable_id;      // 0: none
  uint64_t command_buffer_id;  // 0: none
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  iree_hal_profile_chunk_flags_t flags;
  uint64_t dropped_record_count;  // of a TRUNCATED chunk; 0: not known
} iree_hal_profile_chunk_metadata_t;

static inline iree_hal_profile_chunk_metadata_t iree_hal_profile_chunk_metadata_default(void) {
  iree_hal_profile_chunk_metadata_t metadata;
  memset(&metadata, 0, sizeof(metadata));
  metadata.physical_device_ordinal = metadata.queue_ordinal = UINT32_MAX;
  return metadata;
}

IREE_API_EXPORT void iree_hal_profile_sink_retain(iree_hal_profile_sink_t* sink);
IREE_API_EXPORT void iree_hal_profile_sink_release(iree_hal_profile_sink_t* sink);
IREE_API_EXPORT void iree_hal_profile_sink_destroy(iree_hal_profile_sink_t* sink);

IREE_API_EXPORT iree_status_t iree_hal_profile_sink_begin_session(iree_hal_profile_sink_t* sink,
                                                                  const iree_hal_profile_chunk_metadata_t* metadata);
// One chunk, whose records are in `iovecs` one after the other. None: a TRUNCATED chunk may have lost all.
IREE_API_EXPORT iree_status_t iree_hal_profile_sink_write(iree_hal_profile_sink_t* sink,
                                                          const iree_hal_profile_chunk_metadata_t* metadata,
                                                          iree_host_size_t iovec_count,
                                                          const iree_const_byte_span_t* iovecs);
IREE_API_EXPORT iree_status_t iree_hal_profile_sink_end_session(iree_hal_profile_sink_t* sink,
                                                                const iree_hal_profile_chunk_metadata_t* metadata,
                                                                iree_status_code_t session_status_code);

// A sink that calls functions. Any of them may be NULL; `destroy` is called with the last reference.
typedef struct iree_hal_profile_sink_callbacks_t {
  void* user_data;
  iree_status_t(IREE_API_PTR* begin_session)(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata);
  iree_status_t(IREE_API_PTR* write)(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata,
                                     iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs);
  iree_status_t(IREE_API_PTR* end_session)(void* user_data, const iree_hal_profile_chunk_metadata_t* metadata,
                                           iree_status_code_t session_status_code);
  void(IREE_API_PTR* destroy)(void* user_data);
} iree_hal_profile_sink_callbacks_t;
IREE_API_EXPORT iree_status_t iree_hal_profile_sink_create(iree_hal_profile_sink_callbacks_t callbacks,
                                                           iree_allocator_t host_allocator,
                                                           iree_hal_profile_sink_t** out_sink);

// For who implements sinks.
typedef struct iree_hal_profile_sink_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_profile_sink_t* sink);
  iree_status_t(IREE_API_PTR* begin_session)(iree_hal_profile_sink_t* sink,
                                             const iree_hal_profile_chunk_metadata_t* metadata);
  iree_status_t(IREE_API_PTR* write)(iree_hal_profile_sink_t* sink, const iree_hal_profile_chunk_metadata_t* metadata,
                                     iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs);
  iree_status_t(IREE_API_PTR* end_session)(iree_hal_profile_sink_t* sink,
                                           const iree_hal_profile_chunk_metadata_t* metadata,
                                           iree_status_code_t session_status_code);
} iree_hal_profile_sink_vtable_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_PROFILE_SINK_H_
