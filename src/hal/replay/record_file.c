// What a capture says of the files that a program imports.
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hal/replay/recorder.h"

enum { PIECE_SIZE = 1 << 16 };

static iree_status_t bad_file(const char* what) {
  return iree_make_status(iree_status_code_from_errno(errno), "%s an imported file for the capture failed: %s", what,
                          strerror(errno));
}

static iree_status_t read_at(int fd, uint64_t offset, uint8_t* data, size_t length) {
  while (length) {
    ssize_t count = pread(fd, data, length, (off_t)offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return bad_file("reading");
    if (!count) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "an imported file ends before what is read of it");
    data += count, offset += (uint64_t)count, length -= (size_t)count;
  }
  return iree_ok_status();
}

iree_status_t recording_file_read(iree_io_file_handle_t* handle, uint64_t offset, uint64_t length,
                                  iree_allocator_t host_allocator, uint8_t** out_data) {
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_uninitialized(host_allocator, (iree_host_size_t)(length ? length : 1), (void**)out_data));
  iree_status_t status = read_at(iree_io_file_handle_value(handle).fd, offset, *out_data, (size_t)length);
  if (iree_status_is_ok(status)) return status;
  iree_allocator_free(host_allocator, *out_data);
  *out_data = NULL;
  return status;
}

static iree_status_t digest_file(int fd, uint64_t length, uint8_t* piece, uint64_t* out_digest) {
  *out_digest = REPLAY_DIGEST_START;
  for (uint64_t offset = 0; offset < length; offset += PIECE_SIZE) {
    size_t count = (size_t)iree_min(length - offset, (uint64_t)PIECE_SIZE);
    IREE_RETURN_IF_ERROR(read_at(fd, offset, piece, count));
    *out_digest = replay_digest(*out_digest, piece, count);
  }
  return iree_ok_status();
}

iree_status_t replay_file_digest(int fd, uint64_t length, iree_allocator_t host_allocator, uint64_t* out_digest) {
  uint8_t* piece = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(host_allocator, PIECE_SIZE, (void**)&piece));
  iree_status_t status = digest_file(fd, length, piece, out_digest);
  iree_allocator_free(host_allocator, piece);
  return status;
}

static iree_status_t refer_to_path(int fd, iree_allocator_t host_allocator, replay_file_object_t* object,
                                   uint8_t** out_reference) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, PATH_MAX, (void**)out_reference));
  ssize_t length = readlink(link, (char*)*out_reference, PATH_MAX);
  if (length <= 0 || length == PATH_MAX || **out_reference != '/') {
    iree_allocator_free(host_allocator, *out_reference);
    *out_reference = NULL;
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "an imported file has no path that a capture could name; capture its bytes instead "
                            "(capture-all or capture-ranges)");
  }
  object->reference_type = REPLAY_REFERENCE_PATH;
  object->reference_length = (uint64_t)length;
  return iree_ok_status();
}

static iree_status_t describe_descriptor(recording_device_t* device, iree_io_file_handle_t* handle,
                                         replay_file_object_t* object, uint8_t** out_reference) {
  const iree_hal_replay_recorder_options_t* options = replay_recorder_options(device->recorder);
  iree_allocator_t allocator = replay_recorder_allocator(device->recorder);
  int fd = iree_io_file_handle_value(handle).fd;
  struct stat info;
  if (options->external_file_policy == IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_FAIL) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "HAL replay recorder external file policy forbids fd-backed file references");
  }
  if (fstat(fd, &info) != 0) return bad_file("asking about");
  object->file_length = (uint64_t)info.st_size;
  object->file_device = info.st_dev;
  object->file_inode = info.st_ino;
  object->file_mtime_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000ull + (uint64_t)info.st_mtim.tv_nsec;
  if (options->external_file_policy == IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_CAPTURE_RANGES) {
    object->reference_type = REPLAY_REFERENCE_RANGES;
    return iree_ok_status();
  }
  if (options->external_file_policy == IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_CAPTURE_ALL) {
    object->reference_type = REPLAY_REFERENCE_INLINE;
    object->reference_length = object->file_length;
    return recording_file_read(handle, 0, object->file_length, allocator, out_reference);
  }
  object->validation_type = REPLAY_VALIDATION_IDENTITY;
  if (options->external_file_validation == IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_VALIDATION_CONTENT_DIGEST) {
    uint64_t digest = 0;
    IREE_RETURN_IF_ERROR(replay_file_digest(fd, object->file_length, allocator, &digest));
    object->validation_type = REPLAY_VALIDATION_DIGEST;
    object->digest_type = REPLAY_DIGEST_FNV1A_64;
    memcpy(object->digest, &digest, sizeof(digest));
  }
  return refer_to_path(fd, allocator, object, out_reference);
}

iree_status_t recording_file_describe(recording_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                      iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                      iree_hal_external_file_flags_t flags, replay_file_object_t* out_object,
                                      uint8_t** out_reference) {
  *out_reference = NULL;
  *out_object = (replay_file_object_t){
      .queue_affinity = queue_affinity,
      .access = access,
      .flags = flags,
      .handle_type = (uint32_t)iree_io_file_handle_type(handle),
  };
  if (iree_io_file_handle_type(handle) == IREE_IO_FILE_HANDLE_TYPE_FD) {
    return describe_descriptor(device, handle, out_object, out_reference);
  }
  iree_byte_span_t memory = iree_io_file_handle_value(handle).host_allocation;
  out_object->file_length = out_object->reference_length = memory.data_length;
  out_object->reference_type = REPLAY_REFERENCE_INLINE;
  return iree_ok_status();
}
