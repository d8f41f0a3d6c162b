// Sinks of profiles: their public calls, and the one that calls functions.
#include "hal/detail.h"
#include "iree/hal/profile_options.h"
#include "iree/hal/profile_sink.h"

HAL_DEFINE_LIFETIME(profile_sink)

iree_status_t iree_hal_profile_sink_begin_session(iree_hal_profile_sink_t* sink,
                                                  const iree_hal_profile_chunk_metadata_t* metadata) {
  return HAL_CALL(sink, iree_hal_profile_sink, begin_session)(sink, metadata);
}

iree_status_t iree_hal_profile_sink_write(iree_hal_profile_sink_t* sink,
                                          const iree_hal_profile_chunk_metadata_t* metadata,
                                          iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs) {
  return HAL_CALL(sink, iree_hal_profile_sink, write)(sink, metadata, iovec_count, iovecs);
}

iree_status_t iree_hal_profile_sink_end_session(iree_hal_profile_sink_t* sink,
                                                const iree_hal_profile_chunk_metadata_t* metadata,
                                                iree_status_code_t session_status_code) {
  return HAL_CALL(sink, iree_hal_profile_sink, end_session)(sink, metadata, session_status_code);
}

bool iree_hal_profile_capture_filter_matches_location(const iree_hal_profile_capture_filter_t* filter,
                                                      uint64_t command_buffer_id, uint32_t command_index,
                                                      uint32_t physical_device_ordinal, uint32_t queue_ordinal) {
  iree_hal_profile_capture_filter_flags_t flags = filter->flags;
  return !((flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_BUFFER_ID &&
            filter->command_buffer_id != command_buffer_id) ||
           (flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_INDEX &&
            (!command_buffer_id || filter->command_index != command_index)) ||
           (flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_PHYSICAL_DEVICE_ORDINAL &&
            filter->physical_device_ordinal != physical_device_ordinal) ||
           (flags & IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_QUEUE_ORDINAL && filter->queue_ordinal != queue_ordinal));
}

//===----------------------------------------------------------------------------------------------------------------===
// Functions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct callback_sink_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_hal_profile_sink_callbacks_t callbacks;
} callback_sink_t;

static void callback_destroy(iree_hal_profile_sink_t* base) {
  callback_sink_t* sink = (callback_sink_t*)base;
  if (sink->callbacks.destroy) sink->callbacks.destroy(sink->callbacks.user_data);
  iree_allocator_free(sink->host_allocator, sink);
}

static iree_status_t callback_begin(iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* metadata) {
  const iree_hal_profile_sink_callbacks_t* callbacks = &((callback_sink_t*)base)->callbacks;
  return callbacks->begin_session ? callbacks->begin_session(callbacks->user_data, metadata) : iree_ok_status();
}

static iree_status_t callback_write(iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* metadata,
                                    iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs) {
  const iree_hal_profile_sink_callbacks_t* callbacks = &((callback_sink_t*)base)->callbacks;
  return callbacks->write ? callbacks->write(callbacks->user_data, metadata, iovec_count, iovecs) : iree_ok_status();
}

static iree_status_t callback_end(iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* metadata,
                                  iree_status_code_t session_status_code) {
  const iree_hal_profile_sink_callbacks_t* callbacks = &((callback_sink_t*)base)->callbacks;
  return callbacks->end_session ? callbacks->end_session(callbacks->user_data, metadata, session_status_code)
                                : iree_ok_status();
}

static const iree_hal_profile_sink_vtable_t callback_vtable = {
    .destroy = callback_destroy,
    .begin_session = callback_begin,
    .write = callback_write,
    .end_session = callback_end,
};

iree_status_t iree_hal_profile_sink_create(iree_hal_profile_sink_callbacks_t callbacks, iree_allocator_t host_allocator,
                                           iree_hal_profile_sink_t** out_sink) {
  callback_sink_t* sink = NULL;
  *out_sink = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*sink), (void**)&sink));
  iree_hal_resource_initialize(&callback_vtable, &sink->resource);
  sink->host_allocator = host_allocator;
  sink->callbacks = callbacks;
  *out_sink = (iree_hal_profile_sink_t*)sink;
  return iree_ok_status();
}
