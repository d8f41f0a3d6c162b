// See recorder.h: the file that is written, and who has which number.
#include "hal/replay/recorder.h"

#include <errno.h>
#include <unistd.h>

#include "iree/base/threading/mutex.h"

enum { BUFFER_SIZE = 1 << 16, FIRST_CAPACITY = 64 };

// An object of others. `resource` is retained.
typedef struct known_t {
  void* resource;  // NULL: free
  uint64_t id, extra;
} known_t;

typedef struct kept_group_t {
  struct kept_group_t* next;
  iree_hal_device_group_t* group;
} kept_group_t;

struct iree_hal_replay_recorder_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_hal_replay_recorder_options_t options;
  iree_io_file_handle_t* handle;
  iree_slim_mutex_t mutex;  // guards what follows
  iree_status_t failure;    // the first one
  bool closed;
  uint64_t sequence, next_id;
  uint64_t written;  // bytes that are in the file; behind them are those of `buffer`
  size_t buffered;
  uint8_t* buffer;
  iree_host_size_t known_count, known_capacity;  // a power of two
  known_t* known;                                // by hash, then the next free place
  recording_mapping_t* mappings;
  kept_group_t* groups;
};

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t write_at(iree_io_file_handle_t* handle, uint64_t offset, const uint8_t* data, size_t length) {
  iree_io_file_handle_primitive_value_t value = iree_io_file_handle_value(handle);
  if (iree_io_file_handle_type(handle) == IREE_IO_FILE_HANDLE_TYPE_HOST_ALLOCATION) {
    iree_byte_span_t memory = value.host_allocation;
    if (offset > memory.data_length || length > memory.data_length - offset) {
      return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "the capture does not fit into %" PRIhsz " bytes",
                              memory.data_length);
    }
    if (length) memcpy(memory.data + offset, data, length);
    return iree_ok_status();
  }
  while (length) {
    ssize_t count = pwrite(value.fd, data, length, (off_t)offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return iree_make_status(iree_status_code_from_errno(errno), "writing the capture failed: %s", strerror(errno));
    }
    data += count, offset += (uint64_t)count, length -= (size_t)count;
  }
  return iree_ok_status();
}

static iree_status_t flush(iree_hal_replay_recorder_t* recorder) {
  IREE_RETURN_IF_ERROR(write_at(recorder->handle, recorder->written, recorder->buffer, recorder->buffered));
  recorder->written += recorder->buffered;
  recorder->buffered = 0;
  return iree_ok_status();
}

static iree_status_t append(iree_hal_replay_recorder_t* recorder, const void* data, size_t length) {
  if (length > BUFFER_SIZE - recorder->buffered) {
    IREE_RETURN_IF_ERROR(flush(recorder));
    if (length > BUFFER_SIZE) {
      IREE_RETURN_IF_ERROR(write_at(recorder->handle, recorder->written, data, length));
      recorder->written += length;
      return iree_ok_status();
    }
  }
  if (length) memcpy(recorder->buffer + recorder->buffered, data, length);
  recorder->buffered += length;
  return iree_ok_status();
}

static iree_status_t append_record(iree_hal_replay_recorder_t* recorder, replay_call_t* call) {
  replay_record_header_t header = {
      .sequence_ordinal = recorder->sequence,
      .device_id = call->device_id,
      .object_id = call->object_id,
      .related_object_id = call->related_id,
      .header_length = sizeof(header),
      .record_type = call->record_type ? call->record_type : REPLAY_RECORD_operation,
      .payload_type = call->payload_type,
      .object_type = call->object_type,
      .operation_code = call->operation,
  };
  for (iree_host_size_t i = 0; i < call->part_count; ++i) header.payload_length += call->parts[i].data_length;
  header.record_length = sizeof(header) + header.payload_length;
  call->offset = recorder->written + recorder->buffered;
  ++recorder->sequence;
  IREE_RETURN_IF_ERROR(append(recorder, &header, sizeof(header)));
  for (iree_host_size_t i = 0; i < call->part_count; ++i) {
    IREE_RETURN_IF_ERROR(append(recorder, call->parts[i].data, call->parts[i].data_length));
  }
  return iree_ok_status();
}

// Keeps the first failure.
static void settle(iree_hal_replay_recorder_t* recorder, iree_status_t status) {
  if (iree_status_is_ok(recorder->failure)) {
    recorder->failure = status;
  } else {
    iree_status_ignore(status);
  }
}

iree_status_t replay_call_begin(iree_hal_replay_recorder_t* recorder, replay_call_t* call) {
  iree_slim_mutex_lock(&recorder->mutex);
  if (!recorder->closed && iree_status_is_ok(recorder->failure)) settle(recorder, append_record(recorder, call));
  iree_status_t status = recorder->closed ? iree_ok_status() : iree_status_clone(recorder->failure);
  iree_slim_mutex_unlock(&recorder->mutex);
  return status;
}

iree_status_t replay_call_end(iree_hal_replay_recorder_t* recorder, const replay_call_t* call, iree_status_t status) {
  if (iree_status_is_ok(status) || !call->offset) return status;
  uint32_t code = iree_status_code(status);
  uint64_t offset = call->offset + offsetof(replay_record_header_t, status_code);
  iree_slim_mutex_lock(&recorder->mutex);
  if (recorder->closed || !iree_status_is_ok(recorder->failure)) {
  } else if (offset >= recorder->written) {
    memcpy(recorder->buffer + (offset - recorder->written), &code, sizeof(code));
  } else {
    settle(recorder, write_at(recorder->handle, offset, (const uint8_t*)&code, sizeof(code)));
  }
  iree_slim_mutex_unlock(&recorder->mutex);
  return status;
}

iree_status_t replay_record_object(iree_hal_replay_recorder_t* recorder, uint64_t device_id, uint64_t id,
                                   uint32_t object_type, uint32_t payload_type, const void* data, size_t size) {
  replay_call_t call = {
      .record_type = REPLAY_RECORD_object,
      .object_type = object_type,
      .payload_type = payload_type,
      .device_id = device_id,
      .object_id = id,
  };
  replay_call_add(&call, data, size);
  return replay_call_begin(recorder, &call);
}

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

uint64_t replay_recorder_next_id(iree_hal_replay_recorder_t* recorder) {
  iree_slim_mutex_lock(&recorder->mutex);
  uint64_t id = recorder->next_id++;
  iree_slim_mutex_unlock(&recorder->mutex);
  return id;
}

static known_t* place_of(known_t* known, iree_host_size_t capacity, const void* resource) {
  uint64_t hash = ((uint64_t)(uintptr_t)resource >> 4) * 0x9E3779B97F4A7C15ull;
  for (iree_host_size_t i = hash >> 32;; ++i) {
    known_t* place = &known[i & (capacity - 1)];
    if (!place->resource || place->resource == resource) return place;
  }
}

static bool is_ours_alone(const void* resource) {
  return iree_atomic_ref_count_load(&((iree_hal_resource_t*)(uintptr_t)resource)->ref_count) == 1;
}

// Makes room for another: forgets what nobody else holds, which is for the caller to release, in *out_old.
static iree_status_t make_room(iree_hal_replay_recorder_t* recorder, known_t** out_old, iree_host_size_t* out_count) {
  iree_host_size_t live = 0, capacity = FIRST_CAPACITY;
  for (iree_host_size_t i = 0; i < recorder->known_capacity; ++i) {
    live += recorder->known[i].resource && !is_ours_alone(recorder->known[i].resource);
  }
  while (capacity < 4 * (live + 1)) capacity *= 2;
  known_t* known = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(recorder->host_allocator, capacity, sizeof(*known), (void**)&known));
  iree_host_size_t old = 0, count = 0;
  for (iree_host_size_t i = 0; i < recorder->known_capacity; ++i) {
    known_t entry = recorder->known[i];
    if (!entry.resource) continue;
    // What is held now may be let go a moment later: there is room for all that is live, and a little more.
    if (is_ours_alone(entry.resource) || count == capacity / 2) {
      recorder->known[old++] = entry;
    } else {
      *place_of(known, capacity, entry.resource) = entry;
      ++count;
    }
  }
  *out_old = recorder->known;
  *out_count = old;
  recorder->known = known;
  recorder->known_capacity = capacity;
  recorder->known_count = count;
  return iree_ok_status();
}

iree_status_t replay_recorder_know(iree_hal_replay_recorder_t* recorder, void* resource, uint64_t id, uint64_t extra) {
  known_t* old = NULL;
  iree_host_size_t old_count = 0;
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&recorder->mutex);
  if (2 * (recorder->known_count + 1) > recorder->known_capacity) status = make_room(recorder, &old, &old_count);
  if (iree_status_is_ok(status)) {
    iree_hal_resource_retain(resource);
    *place_of(recorder->known, recorder->known_capacity, resource) = (known_t){resource, id, extra};
    ++recorder->known_count;
  }
  iree_slim_mutex_unlock(&recorder->mutex);
  for (iree_host_size_t i = 0; i < old_count; ++i) iree_hal_resource_release(old[i].resource);
  iree_allocator_free(recorder->host_allocator, old);
  return status;
}

uint64_t replay_recorder_find(iree_hal_replay_recorder_t* recorder, const void* resource, uint64_t* out_extra) {
  known_t known = {0};
  iree_slim_mutex_lock(&recorder->mutex);
  if (recorder->known_capacity) known = *place_of(recorder->known, recorder->known_capacity, resource);
  iree_slim_mutex_unlock(&recorder->mutex);
  if (out_extra) *out_extra = known.extra;
  return known.id;
}

//===----------------------------------------------------------------------------------------------------------------===
// The recorder
//===----------------------------------------------------------------------------------------------------------------===

const iree_hal_replay_recorder_options_t* replay_recorder_options(const iree_hal_replay_recorder_t* recorder) {
  return &recorder->options;
}
iree_allocator_t replay_recorder_allocator(const iree_hal_replay_recorder_t* recorder) {
  return recorder->host_allocator;
}
recording_mapping_t** replay_recorder_mappings(iree_hal_replay_recorder_t* recorder) { return &recorder->mappings; }
void replay_recorder_lock(iree_hal_replay_recorder_t* recorder) { iree_slim_mutex_lock(&recorder->mutex); }
void replay_recorder_unlock(iree_hal_replay_recorder_t* recorder) { iree_slim_mutex_unlock(&recorder->mutex); }

iree_status_t replay_recorder_keep(iree_hal_replay_recorder_t* recorder, iree_hal_device_group_t* group) {
  kept_group_t* kept = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(recorder->host_allocator, sizeof(*kept), (void**)&kept));
  kept->group = group;
  iree_hal_device_group_retain(group);
  iree_slim_mutex_lock(&recorder->mutex);
  kept->next = recorder->groups;
  recorder->groups = kept;
  iree_slim_mutex_unlock(&recorder->mutex);
  return iree_ok_status();
}

static iree_status_t write_header(iree_hal_replay_recorder_t* recorder, uint64_t length) {
  replay_header_t header = {REPLAY_MAGIC, REPLAY_VERSION_MAJOR, REPLAY_VERSION_MINOR, sizeof(header), 0, length};
  return write_at(recorder->handle, 0, (const uint8_t*)&header, sizeof(header));
}

static iree_status_t begin(iree_hal_replay_recorder_t* recorder) {
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(recorder->host_allocator, BUFFER_SIZE, (void**)&recorder->buffer));
  IREE_RETURN_IF_ERROR(write_header(recorder, 0));
  recorder->written = sizeof(replay_header_t);
  replay_call_t session = {.record_type = REPLAY_RECORD_session};
  return replay_call_begin(recorder, &session);
}

iree_status_t iree_hal_replay_recorder_create(iree_io_file_handle_t* file_handle,
                                              const iree_hal_replay_recorder_options_t* options,
                                              iree_allocator_t host_allocator,
                                              iree_hal_replay_recorder_t** out_recorder) {
  *out_recorder = NULL;
  iree_hal_replay_recorder_options_t given = options ? *options : iree_hal_replay_recorder_options_default();
  if (given.flags || given.external_file_policy > IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_POLICY_FAIL ||
      given.external_file_validation > IREE_HAL_REPLAY_RECORDER_EXTERNAL_FILE_VALIDATION_CONTENT_DIGEST) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "options of a recorder that are not known");
  }
  if (!(iree_io_file_handle_access(file_handle) & IREE_IO_FILE_ACCESS_WRITE)) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "the capture's file is not writable");
  }
  iree_hal_replay_recorder_t* recorder = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*recorder), (void**)&recorder));
  iree_atomic_ref_count_init(&recorder->ref_count);
  iree_slim_mutex_initialize(&recorder->mutex);
  recorder->host_allocator = host_allocator;
  recorder->options = given;
  recorder->handle = file_handle;
  recorder->next_id = 1;
  iree_io_file_handle_retain(file_handle);
  iree_status_t status = begin(recorder);
  if (!iree_status_is_ok(status)) {
    iree_hal_replay_recorder_release(recorder);
    return status;
  }
  *out_recorder = recorder;
  return iree_ok_status();
}

void iree_hal_replay_recorder_retain(iree_hal_replay_recorder_t* recorder) {
  if (recorder) iree_atomic_ref_count_inc(&recorder->ref_count);
}

void iree_hal_replay_recorder_release(iree_hal_replay_recorder_t* recorder) {
  if (!recorder || iree_atomic_ref_count_dec(&recorder->ref_count) != 1) return;
  for (iree_host_size_t i = 0; i < recorder->known_capacity; ++i) {
    iree_hal_resource_release(recorder->known[i].resource);
  }
  iree_allocator_free(recorder->host_allocator, recorder->known);
  for (kept_group_t *kept = recorder->groups, *next; kept; kept = next) {
    next = kept->next;
    iree_hal_device_group_release(kept->group);
    iree_allocator_free(recorder->host_allocator, kept);
  }
  iree_allocator_free(recorder->host_allocator, recorder->buffer);
  iree_status_ignore(recorder->failure);
  iree_slim_mutex_deinitialize(&recorder->mutex);
  iree_io_file_handle_release(recorder->handle);
  iree_allocator_free(recorder->host_allocator, recorder);
}

iree_status_t iree_hal_replay_recorder_close(iree_hal_replay_recorder_t* recorder) {
  iree_slim_mutex_lock(&recorder->mutex);
  if (!recorder->closed && iree_status_is_ok(recorder->failure)) {
    iree_status_t status = flush(recorder);
    if (iree_status_is_ok(status)) status = write_header(recorder, recorder->written);
    settle(recorder, status);
  }
  recorder->closed = true;
  iree_status_t status = iree_status_clone(recorder->failure);
  iree_slim_mutex_unlock(&recorder->mutex);
  return status;
}

static iree_status_t mark(iree_hal_replay_recorder_t* recorder, uint32_t operation, iree_string_view_t name) {
  if (!name.size) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "a scope has a name");
  replay_replay_scope_t scope = {.name_length = name.size};
  replay_call_t call = {.operation = operation, .payload_type = REPLAY_PAYLOAD_replay_scope};
  replay_call_add(&call, &scope, sizeof(scope));
  replay_call_add(&call, name.data, name.size);
  return replay_call_begin(recorder, &call);
}

iree_status_t iree_hal_replay_recorder_scope_begin(iree_hal_replay_recorder_t* recorder,
                                                   iree_string_view_t scope_name) {
  return mark(recorder, REPLAY_SCOPE_BEGIN, scope_name);
}

iree_status_t iree_hal_replay_recorder_scope_end(iree_hal_replay_recorder_t* recorder, iree_string_view_t scope_name) {
  return mark(recorder, REPLAY_SCOPE_END, scope_name);
}
