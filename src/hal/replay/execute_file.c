// Replays files that a program imported: opened again by their paths, or from the capture.
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "hal/replay/executor.h"

// The path of a captured file now, in `path`.
static iree_status_t remap(const iree_hal_replay_execute_options_t* options, iree_string_view_t captured,
                           char path[PATH_MAX]) {
  iree_string_view_t prefix = iree_string_view_empty(), rest = captured;
  for (iree_host_size_t i = 0; i < options->file_path_remap_count; ++i) {
    iree_string_view_t old = options->file_path_remaps[i].captured_prefix;
    if (!iree_string_view_starts_with(captured, old)) continue;
    prefix = options->file_path_remaps[i].replay_prefix;
    rest = iree_string_view_remove_prefix(captured, old.size);
    break;
  }
  if (prefix.size + rest.size >= PATH_MAX || memchr(captured.data, 0, captured.size)) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "a captured file's path is no path");
  }
  if (prefix.size) memcpy(path, prefix.data, prefix.size);
  memcpy(path + prefix.size, rest.data, rest.size);
  path[prefix.size + rest.size] = 0;
  return iree_ok_status();
}

static iree_status_t check_identity(const replay_file_object_t* p, const struct stat* info) {
  uint64_t mtime = (uint64_t)info->st_mtim.tv_sec * 1000000000ull + (uint64_t)info->st_mtim.tv_nsec;
  if (p->file_device == info->st_dev && p->file_inode == info->st_ino && p->file_mtime_ns == mtime) {
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                          "it is not the file that was captured (device, inode or time differ); a capture with "
                          "--device_replay_file_validation=digest takes copies");
}

static iree_status_t check_digest(replay_executor_t* x, const replay_file_object_t* p, int fd) {
  uint64_t digest = 0, captured = 0;
  memcpy(&captured, p->digest, sizeof(captured));
  if (p->digest_type != REPLAY_DIGEST_FNV1A_64) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "digests of type %u are not known", p->digest_type);
  }
  IREE_RETURN_IF_ERROR(replay_file_digest(fd, p->file_length, x->host_allocator, &digest));
  if (digest == captured) return iree_ok_status();
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                          "its contents are not those that were captured: digest 0x%016" PRIx64 ", not 0x%016" PRIx64,
                          digest, captured);
}

static iree_status_t validate(replay_executor_t* x, const replay_file_object_t* p, iree_io_file_handle_t* handle) {
  int fd = iree_io_file_handle_value(handle).fd;
  struct stat info;
  if (fstat(fd, &info) != 0) {
    return iree_make_status(iree_status_code_from_errno(errno), "asking about it failed: %s", strerror(errno));
  }
  if ((uint64_t)info.st_size != p->file_length) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "it has %" PRIu64 " bytes, and had %" PRIu64 " when it was captured",
                            (uint64_t)info.st_size, p->file_length);
  }
  switch (p->validation_type) {
    case REPLAY_VALIDATION_NONE:
      return iree_ok_status();
    case REPLAY_VALIDATION_IDENTITY:
      return check_identity(p, &info);
    case REPLAY_VALIDATION_DIGEST:
      return check_digest(x, p, fd);
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "validation of type %u is not known", p->validation_type);
  }
}

static iree_status_t open_path(replay_executor_t* x, const replay_file_object_t* p, iree_string_view_t captured,
                               iree_io_file_handle_t** out_handle) {
  char path[PATH_MAX];
  IREE_RETURN_IF_ERROR(remap(x->options, captured, path));
  iree_io_file_mode_t mode = IREE_IO_FILE_MODE_RANDOM_ACCESS;
  if (p->access & IREE_HAL_MEMORY_ACCESS_READ) mode |= IREE_IO_FILE_MODE_READ;
  if (p->access & IREE_HAL_MEMORY_ACCESS_WRITE) mode |= IREE_IO_FILE_MODE_WRITE;
  iree_status_t status = iree_io_file_handle_open(mode, iree_make_cstring_view(path), x->host_allocator, out_handle);
  if (iree_status_is_ok(status)) {
    status = validate(x, p, *out_handle);
    if (!iree_status_is_ok(status)) iree_io_file_handle_release(*out_handle);
  }
  if (iree_status_is_ok(status)) return status;
  return iree_status_annotate_f(status,
                                "opening external replay file '%s' captured as '%.*s'; use "
                                "--replay_file_remap=CAPTURED_PREFIX=REPLAY_PREFIX if the parameter root moved",
                                path, (int)captured.size, captured.data);
}

static void free_copy(void* user_data, iree_io_file_handle_primitive_t primitive) {
  iree_allocator_t* allocator = user_data;
  iree_allocator_free(*allocator, allocator);
}

// Memory of its own: work may write into it. The allocator to free it with lies before it.
static iree_status_t wrap_copy(replay_executor_t* x, const replay_file_object_t* p, iree_const_byte_span_t data,
                               iree_io_file_handle_t** out_handle) {
  uint8_t* copy = NULL;
  iree_host_size_t offset = iree_host_align(sizeof(iree_allocator_t), 64);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(x->host_allocator, offset + data.data_length, (void**)&copy));
  memcpy(copy, &x->host_allocator, sizeof(x->host_allocator));
  if (data.data_length) memcpy(copy + offset, data.data, data.data_length);
  iree_io_file_access_t access = IREE_IO_FILE_ACCESS_READ;
  if (p->access & IREE_HAL_MEMORY_ACCESS_WRITE) access |= IREE_IO_FILE_ACCESS_WRITE;
  iree_io_file_handle_release_callback_t release = {free_copy, copy};
  iree_status_t status = iree_io_file_handle_wrap_host_allocation(
      access, iree_make_byte_span(copy + offset, data.data_length), release, x->host_allocator, out_handle);
  if (!iree_status_is_ok(status)) iree_allocator_free(x->host_allocator, copy);
  return status;
}

static iree_status_t open_file(replay_executor_t* x, const replay_file_object_t* p, iree_const_byte_span_t reference,
                               iree_io_file_handle_t** out_handle) {
  switch (p->reference_type) {
    case REPLAY_REFERENCE_PATH:
      return open_path(x, p, iree_make_string_view((const char*)reference.data, reference.data_length), out_handle);
    case REPLAY_REFERENCE_INLINE:
      return wrap_copy(x, p, reference, out_handle);
    case REPLAY_REFERENCE_RANGES:
      return wrap_copy(x, p, iree_const_byte_span_empty(), out_handle);
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "references to files of type %u are not known",
                              p->reference_type);
  }
}

iree_status_t replay_import_file(replay_executor_t* x, const plan_record_t* r) {
  REPLAY_FIELDS(r, file_object, p);
  replay_object_t *device = NULL, *object = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, r->record.header.device_id, REPLAY_OBJECT_device, &device));
  iree_io_file_handle_t* handle = NULL;
  iree_hal_file_t* file = NULL;
  IREE_RETURN_IF_ERROR(open_file(x, &p, replay_part(r, 0), &handle));
  iree_status_t status = iree_hal_file_import(device->device, p.queue_affinity, (iree_hal_memory_access_t)p.access,
                                              handle, p.flags, &file);
  iree_io_file_handle_release(handle);
  if (iree_status_is_ok(status)) {
    status = replay_place(x, r->record.header.related_object_id, REPLAY_OBJECT_file, &object);
  }
  if (!iree_status_is_ok(status)) {
    iree_hal_file_release(file);
    return status;
  }
  object->file = file;
  object->in_ranges = p.reference_type == REPLAY_REFERENCE_RANGES;
  return iree_ok_status();
}
