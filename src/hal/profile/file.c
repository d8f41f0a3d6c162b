// Files of profiles: the sink that writes them, and the parser. The structs of the header are the bytes of the file.
#include <errno.h>
#include <unistd.h>

#include "hal/detail.h"
#include "iree/hal/utils/profile_file.h"

static_assert(sizeof(iree_hal_profile_file_header_t) == 24, "is the format");
static_assert(sizeof(iree_hal_profile_file_record_header_t) == 104, "is the format");
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is");

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

typedef struct file_sink_t {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
  iree_io_file_handle_t* handle;  // retained
  uint64_t length;                // bytes so far
  uint32_t open_sessions;
} file_sink_t;

static iree_status_t write_fd(int fd, uint64_t offset, const uint8_t* data, size_t length) {
  while (length) {
    ssize_t written = pwrite(fd, data, length, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return iree_make_status(iree_status_code_from_errno(errno), "cannot write the profile at byte %" PRIu64 ": %s",
                              offset, strerror(errno));
    }
    data += written;
    offset += (uint64_t)written;
    length -= (size_t)written;
  }
  return iree_ok_status();
}

static iree_status_t write_at(file_sink_t* sink, uint64_t offset, const void* data, size_t length) {
  iree_io_file_handle_primitive_t primitive = iree_io_file_handle_primitive(sink->handle);
  if (primitive.type == IREE_IO_FILE_HANDLE_TYPE_FD) return write_fd(primitive.value.fd, offset, data, length);
  iree_byte_span_t memory = primitive.value.host_allocation;
  if (offset > memory.data_length || length > memory.data_length - offset) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "the profile does not fit in %" PRIhsz " bytes",
                            memory.data_length);
  }
  if (length) memcpy(memory.data + offset, data, length);
  return iree_ok_status();
}

static iree_status_t append(file_sink_t* sink, const void* data, size_t length) {
  IREE_RETURN_IF_ERROR(write_at(sink, sink->length, data, length));
  sink->length += length;
  return iree_ok_status();
}

static iree_status_t write_header(file_sink_t* sink, uint64_t file_length) {
  iree_hal_profile_file_header_t header = {
      .magic = IREE_HAL_PROFILE_FILE_MAGIC,
      .version_major = IREE_HAL_PROFILE_FILE_VERSION_MAJOR,
      .version_minor = IREE_HAL_PROFILE_FILE_VERSION_MINOR,
      .header_length = sizeof(header),
      .file_length = file_length,
  };
  return write_at(sink, 0, &header, sizeof(header));
}

static void file_destroy(iree_hal_profile_sink_t* base) {
  file_sink_t* sink = (file_sink_t*)base;
  iree_io_file_handle_release(sink->handle);
  iree_allocator_free(sink->host_allocator, sink);
}

static iree_status_t write_record(file_sink_t* sink, iree_hal_profile_file_record_type_t type,
                                  const iree_hal_profile_chunk_metadata_t* metadata, iree_status_code_t status_code,
                                  iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs) {
  iree_hal_profile_file_record_header_t header = {
      .session_id = metadata->session_id,
      .stream_id = metadata->stream_id,
      .event_id = metadata->event_id,
      .executable_id = metadata->executable_id,
      .command_buffer_id = metadata->command_buffer_id,
      .header_length = sizeof(header),
      .content_type_length = (uint32_t)metadata->content_type.size,
      .name_length = (uint32_t)metadata->name.size,
      .physical_device_ordinal = metadata->physical_device_ordinal,
      .queue_ordinal = metadata->queue_ordinal,
      .chunk_flags = metadata->flags,
      .dropped_record_count = metadata->dropped_record_count,
      .session_status_code = (uint32_t)status_code,
      .record_type = type,
  };
  for (iree_host_size_t i = 0; i < iovec_count; ++i) header.payload_length += iovecs[i].data_length;
  header.record_length =
      sizeof(header) + header.content_type_length + (uint64_t)header.name_length + header.payload_length;
  IREE_RETURN_IF_ERROR(append(sink, &header, sizeof(header)));
  IREE_RETURN_IF_ERROR(append(sink, metadata->content_type.data, metadata->content_type.size));
  IREE_RETURN_IF_ERROR(append(sink, metadata->name.data, metadata->name.size));
  for (iree_host_size_t i = 0; i < iovec_count; ++i) {
    IREE_RETURN_IF_ERROR(append(sink, iovecs[i].data, iovecs[i].data_length));
  }
  return iree_ok_status();
}

static iree_status_t file_begin(iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* metadata) {
  file_sink_t* sink = (file_sink_t*)base;
  IREE_RETURN_IF_ERROR(
      write_record(sink, IREE_HAL_PROFILE_FILE_RECORD_TYPE_SESSION_BEGIN, metadata, IREE_STATUS_OK, 0, NULL));
  ++sink->open_sessions;
  return iree_ok_status();
}

static iree_status_t file_write(iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* metadata,
                                iree_host_size_t iovec_count, const iree_const_byte_span_t* iovecs) {
  return write_record((file_sink_t*)base, IREE_HAL_PROFILE_FILE_RECORD_TYPE_CHUNK, metadata, IREE_STATUS_OK,
                      iovec_count, iovecs);
}

// The last session that ends makes the file whole.
static iree_status_t file_end(iree_hal_profile_sink_t* base, const iree_hal_profile_chunk_metadata_t* metadata,
                              iree_status_code_t session_status_code) {
  file_sink_t* sink = (file_sink_t*)base;
  IREE_RETURN_IF_ERROR(
      write_record(sink, IREE_HAL_PROFILE_FILE_RECORD_TYPE_SESSION_END, metadata, session_status_code, 0, NULL));
  if (sink->open_sessions && --sink->open_sessions) return iree_ok_status();
  return write_header(sink, sink->length);
}

static const iree_hal_profile_sink_vtable_t file_vtable = {
    .destroy = file_destroy,
    .begin_session = file_begin,
    .write = file_write,
    .end_session = file_end,
};

iree_status_t iree_hal_profile_file_sink_create(iree_io_file_handle_t* file_handle, iree_allocator_t host_allocator,
                                                iree_hal_profile_sink_t** out_sink) {
  file_sink_t* sink = NULL;
  *out_sink = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*sink), (void**)&sink));
  iree_hal_resource_initialize(&file_vtable, &sink->resource);
  sink->host_allocator = host_allocator;
  sink->handle = file_handle;
  iree_io_file_handle_retain(file_handle);
  sink->length = sizeof(iree_hal_profile_file_header_t);
  iree_status_t status = write_header(sink, 0);
  if (!iree_status_is_ok(status)) {
    file_destroy((iree_hal_profile_sink_t*)sink);
    return status;
  }
  *out_sink = (iree_hal_profile_sink_t*)sink;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Parsing
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t iree_hal_profile_file_parse_header(iree_const_byte_span_t contents,
                                                 iree_hal_profile_file_header_t* out_header,
                                                 iree_host_size_t* out_record_offset) {
  iree_hal_profile_file_header_t* header = out_header;
  if (contents.data_length < sizeof(*header)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "profile file is too small for header");
  }
  memcpy(header, contents.data, sizeof(*header));
  if (header->magic != IREE_HAL_PROFILE_FILE_MAGIC) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "invalid IREE HAL profile file magic");
  }
  if (header->version_major != IREE_HAL_PROFILE_FILE_VERSION_MAJOR) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unsupported IREE HAL profile file version %u.%u",
                            header->version_major, header->version_minor);
  }
  if (header->flags) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "profile file has flags 0x%" PRIX32 ", which are not known",
                            header->flags);
  }
  if (header->header_length < sizeof(*header) || header->header_length > contents.data_length) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "profile file header has %" PRIu32 " bytes of %" PRIhsz,
                            header->header_length, contents.data_length);
  }
  if (header->file_length &&
      (header->file_length < header->header_length || header->file_length > contents.data_length)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "profile file says that it has %" PRIu64 " bytes; there are %" PRIhsz, header->file_length,
                            contents.data_length);
  }
  *out_record_offset = header->header_length;
  return iree_ok_status();
}

iree_status_t iree_hal_profile_file_parse_record(iree_const_byte_span_t contents, iree_host_size_t offset,
                                                 iree_hal_profile_file_record_t* out_record,
                                                 iree_host_size_t* out_next_offset) {
  iree_hal_profile_file_record_header_t* header = &out_record->header;
  if (offset > contents.data_length || contents.data_length - offset < sizeof(*header)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "profile record at byte %" PRIhsz " is cut off", offset);
  }
  iree_host_size_t left = contents.data_length - offset;
  const uint8_t* data = contents.data + offset;
  memcpy(header, data, sizeof(*header));
  if (header->record_length > left) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "profile record at byte %" PRIhsz " has %" PRIu64 " bytes; there are %" PRIhsz, offset,
                            header->record_length, left);
  }
  uint64_t strings = (uint64_t)header->content_type_length + header->name_length;
  bool fits = header->header_length >= sizeof(*header) && header->header_length <= header->record_length &&
              strings <= header->record_length - header->header_length &&
              header->payload_length == header->record_length - header->header_length - strings;
  if (!fits) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the parts of the profile record at byte %" PRIhsz " are not as long as it is", offset);
  }
  if (header->reserved0 || header->reserved1) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "profile record at byte %" PRIhsz " has flags that are not known", offset);
  }
  const char* text = (const char*)data + header->header_length;
  out_record->content_type = iree_make_string_view(text, header->content_type_length);
  out_record->name = iree_make_string_view(text + header->content_type_length, header->name_length);
  out_record->payload =
      iree_make_const_byte_span((const uint8_t*)text + strings, (iree_host_size_t)header->payload_length);
  *out_next_offset = offset + (iree_host_size_t)header->record_length;
  return iree_ok_status();
}
