// Files of device profiles (.ireeprof): what a sink is told, record after record.
//
// A file is a header and records; a record is a header, its content type, its name, and the bytes of a chunk. All is
// little endian and without padding.
#ifndef IREE_HAL_UTILS_PROFILE_FILE_H_
#define IREE_HAL_UTILS_PROFILE_FILE_H_

#include <stdint.h>

#include "iree/base/api.h"
#include "iree/hal/profile_sink.h"
#include "iree/io/file_handle.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IREE_HAL_PROFILE_FILE_MAGIC 0x46505249u  // "IRPF"
enum { IREE_HAL_PROFILE_FILE_VERSION_MAJOR = 1, IREE_HAL_PROFILE_FILE_VERSION_MINOR = 6 };

typedef struct iree_hal_profile_file_header_t {
  uint32_t magic;
  uint16_t version_major;
  uint16_t version_minor;
  uint32_t header_length;
  uint32_t flags;
  uint64_t file_length;  // bytes; 0: the session has not ended
} iree_hal_profile_file_header_t;

enum iree_hal_profile_file_record_type_e {
  IREE_HAL_PROFILE_FILE_RECORD_TYPE_NONE = 0u,
  IREE_HAL_PROFILE_FILE_RECORD_TYPE_SESSION_BEGIN = 1u,
  IREE_HAL_PROFILE_FILE_RECORD_TYPE_CHUNK = 2u,
  IREE_HAL_PROFILE_FILE_RECORD_TYPE_SESSION_END = 3u,
};
typedef uint16_t iree_hal_profile_file_record_type_t;

typedef struct iree_hal_profile_file_record_header_t {
  uint64_t record_length;  // bytes, with everything
  uint64_t payload_length;
  uint64_t session_id;
  uint64_t stream_id;
  uint64_t event_id;
  uint64_t executable_id;
  uint64_t command_buffer_id;
  uint32_t header_length;
  uint32_t content_type_length;
  uint32_t name_length;
  uint32_t physical_device_ordinal;
  uint32_t queue_ordinal;
  uint32_t reserved0;
  iree_hal_profile_chunk_flags_t chunk_flags;
  uint64_t dropped_record_count;
  uint32_t session_status_code;  // of SESSION_END
  iree_hal_profile_file_record_type_t record_type;
  uint16_t reserved1;
} iree_hal_profile_file_record_header_t;

// A record within a file's bytes, to which everything points.
typedef struct iree_hal_profile_file_record_t {
  iree_hal_profile_file_record_header_t header;
  iree_string_view_t content_type;
  iree_string_view_t name;
  iree_const_byte_span_t payload;
} iree_hal_profile_file_record_t;

// Writes the file from its begin. The handle is retained.
IREE_API_EXPORT iree_status_t iree_hal_profile_file_sink_create(iree_io_file_handle_t* file_handle,
                                                                iree_allocator_t host_allocator,
                                                                iree_hal_profile_sink_t** out_sink);

// Finds the first record. Errors: INVALID_ARGUMENT, OUT_OF_RANGE when the file is cut off.
IREE_API_EXPORT iree_status_t iree_hal_profile_file_parse_header(iree_const_byte_span_t file_contents,
                                                                 iree_hal_profile_file_header_t* out_header,
                                                                 iree_host_size_t* out_record_offset);
// Reads the record at an offset, and finds the next one; records may be read until that is the file's length (the
// header's, or that of the bytes). Any bytes are safe. Errors: as above.
IREE_API_EXPORT iree_status_t iree_hal_profile_file_parse_record(iree_const_byte_span_t file_contents,
                                                                 iree_host_size_t record_offset,
                                                                 iree_hal_profile_file_record_t* out_record,
                                                                 iree_host_size_t* out_next_record_offset);

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_UTILS_PROFILE_FILE_H_
