// File handles: an open file or a piece of memory, with reference counting, and mappings of them.
#ifndef IREE_IO_FILE_HANDLE_H_
#define IREE_IO_FILE_HANDLE_H_

#include "iree/base/api.h"
#include "iree/io/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t iree_io_file_access_t;
enum iree_io_file_access_bits_t {
  IREE_IO_FILE_ACCESS_READ = 1u << 0,
  IREE_IO_FILE_ACCESS_WRITE = 1u << 1,
};

typedef uint64_t iree_io_file_mode_t;
enum iree_io_file_mode_bits_t {
  IREE_IO_FILE_MODE_NONE = 0ull,
  IREE_IO_FILE_MODE_READ = 1ull << 0,
  IREE_IO_FILE_MODE_WRITE = 1ull << 1,
  IREE_IO_FILE_MODE_RANDOM_ACCESS = 1ull << 2,    // hint
  IREE_IO_FILE_MODE_SEQUENTIAL_SCAN = 1ull << 3,  // hint
  IREE_IO_FILE_MODE_SHARE_READ = 1ull << 6,       // hint
  IREE_IO_FILE_MODE_SHARE_WRITE = 1ull << 7,      // hint
  IREE_IO_FILE_MODE_OVERWRITE = 1ull << 8,        // create: an existing file is replaced
};

typedef enum iree_io_file_handle_type_e {
  IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION = 0u,
  IREE_IO_FILE_HANDLE_TYPE_FD,
} iree_io_file_handle_type_t;

typedef union iree_io_file_handle_primitive_value_t {
  iree_byte_span_t host_allocation;
  int fd;
} iree_io_file_handle_primitive_value_t;

typedef struct iree_io_file_handle_primitive_t {
  iree_io_file_handle_type_t type;
  iree_io_file_handle_primitive_value_t value;
} iree_io_file_handle_primitive_t;

// Called when the last reference goes: frees or closes what was wrapped.
typedef void(IREE_API_PTR* iree_io_file_handle_release_fn_t)(void* user_data,
                                                             iree_io_file_handle_primitive_t handle_primitive);
typedef struct {
  iree_io_file_handle_release_fn_t fn;
  void* user_data;
} iree_io_file_handle_release_callback_t;
static inline iree_io_file_handle_release_callback_t iree_io_file_handle_release_callback_null(void) {
  iree_io_file_handle_release_callback_t callback = {NULL, NULL};
  return callback;
}

typedef struct iree_io_file_handle_t iree_io_file_handle_t;

// Wraps memory or a file descriptor; `release_callback` gets it back at the end. All handle functions but map are
// thread safe. The caller owns the reference in *out_handle.
IREE_API_EXPORT iree_status_t iree_io_file_handle_wrap(iree_io_file_access_t allowed_access, iree_io_file_mode_t mode,
                                                       iree_io_file_handle_primitive_t handle_primitive,
                                                       iree_io_file_handle_release_callback_t release_callback,
                                                       iree_allocator_t host_allocator,
                                                       iree_io_file_handle_t** out_handle);
IREE_API_EXPORT iree_status_t
iree_io_file_handle_wrap_host_allocation(iree_io_file_access_t allowed_access, iree_byte_span_t host_allocation,
                                         iree_io_file_handle_release_callback_t release_callback,
                                         iree_allocator_t host_allocator, iree_io_file_handle_t** out_handle);
IREE_API_EXPORT void iree_io_file_handle_retain(iree_io_file_handle_t* handle);
IREE_API_EXPORT void iree_io_file_handle_release(iree_io_file_handle_t* handle);

IREE_API_EXPORT iree_io_file_access_t iree_io_file_handle_access(const iree_io_file_handle_t* handle);
IREE_API_EXPORT iree_io_file_handle_primitive_t iree_io_file_handle_primitive(const iree_io_file_handle_t* handle);
// Whether the platform reads it asynchronously: no file is opened so.
IREE_API_EXPORT bool iree_io_file_handle_uses_async_io(const iree_io_file_handle_t* handle);
static inline iree_io_file_handle_type_t iree_io_file_handle_type(const iree_io_file_handle_t* handle) {
  return iree_io_file_handle_primitive(handle).type;
}
static inline iree_io_file_handle_primitive_value_t iree_io_file_handle_value(const iree_io_file_handle_t* handle) {
  return iree_io_file_handle_primitive(handle).value;
}
// Forces written data to the disk.
IREE_API_EXPORT iree_status_t iree_io_file_handle_flush(iree_io_file_handle_t* handle);

// Creates a file of `initial_size` zero bytes. Errors: ALREADY_EXISTS without OVERWRITE, PERMISSION_DENIED, ...
IREE_API_EXPORT iree_status_t iree_io_file_handle_create(iree_io_file_mode_t mode, iree_string_view_t path,
                                                         uint64_t initial_size, iree_allocator_t host_allocator,
                                                         iree_io_file_handle_t** out_handle);
// Opens an existing file. Errors: NOT_FOUND, PERMISSION_DENIED, ...
IREE_API_EXPORT iree_status_t iree_io_file_handle_open(iree_io_file_mode_t mode, iree_string_view_t path,
                                                       iree_allocator_t host_allocator,
                                                       iree_io_file_handle_t** out_handle);
// The same of a descriptor that is open already; the handle has a duplicate of it.
IREE_API_EXPORT iree_status_t iree_io_file_handle_open_fd(iree_io_file_mode_t mode, int fd,
                                                          iree_allocator_t host_allocator,
                                                          iree_io_file_handle_t** out_handle);
// Reads a whole file into memory and wraps that.
IREE_API_EXPORT iree_status_t iree_io_file_handle_preload(iree_io_file_mode_t mode, iree_string_view_t path,
                                                          iree_allocator_t host_allocator,
                                                          iree_io_file_handle_t** out_handle);

typedef uint64_t iree_io_file_mapping_flags_t;
enum iree_io_file_mapping_flag_bits_t {
  IREE_IO_FILE_MAPPING_FLAG_NONE = 0u,
  IREE_IO_FILE_MAPPING_FLAG_SEQUENTIAL_ACCESS = 1ull << 0,
  IREE_IO_FILE_MAPPING_FLAG_LARGE_PAGES = 1ull << 1,         // hint
  IREE_IO_FILE_MAPPING_FLAG_EXCLUDE_FROM_DUMPS = 1ull << 2,  // not in core files
  IREE_IO_FILE_MAPPING_FLAG_PRIVATE = 1ull << 3,             // writes stay in memory
};
typedef struct iree_io_file_mapping_t iree_io_file_mapping_t;

// Maps `length` bytes from `offset`; IREE_HOST_SIZE_MAX is up to the end. A handle on memory is not copied. Errors:
// PERMISSION_DENIED for access that the handle lacks, OUT_OF_RANGE. The mapping keeps the handle alive.
IREE_API_EXPORT iree_status_t iree_io_file_map_view(iree_io_file_handle_t* handle, iree_io_file_access_t access,
                                                    uint64_t offset, iree_host_size_t length,
                                                    iree_io_file_mapping_flags_t flags, iree_allocator_t host_allocator,
                                                    iree_io_file_mapping_t** out_mapping);
IREE_API_EXPORT void iree_io_file_mapping_retain(iree_io_file_mapping_t* mapping);
IREE_API_EXPORT void iree_io_file_mapping_release(iree_io_file_mapping_t* mapping);
IREE_API_EXPORT iree_host_size_t iree_io_file_mapping_length(const iree_io_file_mapping_t* mapping);
IREE_API_EXPORT iree_const_byte_span_t iree_io_file_mapping_contents_ro(const iree_io_file_mapping_t* mapping);
// Empty when the mapping is not writable.
IREE_API_EXPORT iree_byte_span_t iree_io_file_mapping_contents_rw(iree_io_file_mapping_t* mapping);

// A stream over the file from `file_offset`, which is its position 0. It keeps the handle, and can be sought. Errors:
// PERMISSION_DENIED for access that the handle lacks.
IREE_API_EXPORT iree_status_t iree_io_stream_open(iree_io_stream_mode_t mode, iree_io_file_handle_t* file_handle,
                                                  uint64_t file_offset, iree_allocator_t host_allocator,
                                                  iree_io_stream_t** out_stream);
// Writes `length` bytes of a file into a stream.
IREE_API_EXPORT iree_status_t iree_io_stream_write_file(iree_io_stream_t* stream,
                                                        iree_io_file_handle_t* source_file_handle,
                                                        uint64_t source_file_offset, iree_host_size_t length,
                                                        iree_allocator_t host_allocator);

#ifdef __cplusplus
}
#endif

#endif  // IREE_IO_FILE_HANDLE_H_
