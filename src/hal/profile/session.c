// Sessions: begin, flush, end; see session.h.
#include "hal/profile/session.h"

// What records of one kind may take between two flushes, in bytes.
#define MAX_RECORDS ((size_t)256 << 20)

static iree_atomic_uint64_t last_session;

//===----------------------------------------------------------------------------------------------------------------===
// Life
//===----------------------------------------------------------------------------------------------------------------===

void profile_release(hal_profile_t* profile) {
  if (!profile || iree_atomic_ref_count_dec(&profile->ref_count) != 1) return;
  for (int i = 0; i < PROFILE_CHUNK_COUNT; ++i) iree_allocator_free(profile->host_allocator, profile->records[i].data);
  for (int i = 0; i < HAL_PROFILE_MAX_QUEUES; ++i) {
    iree_allocator_free(profile->host_allocator, profile->dispatches[i].data);
  }
  profile_end_counting(profile);
  profile_end_tracing(profile);
  profile_end_metrics(profile);
  iree_allocator_free(profile->host_allocator, profile->executables);
  iree_allocator_free(profile->host_allocator, profile->buffers);
  iree_allocator_free(profile->host_allocator, profile->pattern);
  iree_hal_profile_sink_release(profile->sink);
  iree_slim_mutex_deinitialize(&profile->mutex);
  iree_slim_mutex_deinitialize(&profile->flushing);
  iree_allocator_free(profile->host_allocator, profile);
}

hal_profile_t* profile_acquire(hal_queued_device_t* device) {
  if (!iree_atomic_load(&device->profile, iree_memory_order_relaxed)) return NULL;
  iree_slim_mutex_lock(&device->mutex);
  hal_profile_t* profile = (hal_profile_t*)iree_atomic_load(&device->profile, iree_memory_order_relaxed);
  if (profile) iree_atomic_ref_count_inc(&profile->ref_count);
  iree_slim_mutex_unlock(&device->mutex);
  return profile;
}

const hal_profile_queue_t* profile_queue(const hal_profile_t* profile, iree_hal_queue_affinity_t affinity) {
  for (uint32_t i = 0; i < profile->queue_count; ++i) {
    if (affinity >> profile->queues[i].bit & 1) return &profile->queues[i];
  }
  return &profile->queues[0];
}

static iree_status_t create(hal_queued_device_t* device, const iree_hal_device_profiling_options_t* options,
                            hal_profile_t** out_profile) {
  hal_profile_t* profile = NULL;
  iree_string_view_t pattern = options->capture_filter.executable_function_pattern;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, sizeof(*profile), (void**)&profile));
  iree_atomic_ref_count_init(&profile->ref_count);
  profile->host_allocator = device->host_allocator;
  profile->interface = device->profile_interface;
  profile->id = iree_atomic_fetch_add(&last_session, 1, iree_memory_order_relaxed) + 1;
  profile->families = options->data_families;
  if (options->flags & IREE_HAL_DEVICE_PROFILING_FLAG_LIGHTWEIGHT_STATISTICS) {
    profile->families |= profile->interface->lightweight;
  }
  // Samples and traces are of dispatches that the profile tells.
  if (profile_wants(
          profile, IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_SAMPLES | IREE_HAL_DEVICE_PROFILING_DATA_EXECUTABLE_TRACES)) {
    profile->families |= IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS;
  }
  profile->filter = options->capture_filter;
  profile->sink = options->sink;
  iree_hal_profile_sink_retain(profile->sink);
  profile->name = device->identifier;
  profile->queue_count = profile->interface->queues(device, profile->queues);
  if (profile->interface->worker_count) profile->worker_count = profile->interface->worker_count(device);
  iree_slim_mutex_initialize(&profile->flushing);
  iree_slim_mutex_initialize(&profile->mutex);
  if (pattern.size) {
    iree_status_t status = iree_allocator_clone(
        device->host_allocator, iree_make_const_byte_span(pattern.data, pattern.size), (void**)&profile->pattern);
    if (!iree_status_is_ok(status)) {
      profile_release(profile);
      return status;
    }
    profile->filter.executable_function_pattern.data = profile->pattern;
  }
  *out_profile = profile;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Records
//===----------------------------------------------------------------------------------------------------------------===

static void append_to(hal_profile_t* profile, profile_records_t* records, const void* record, size_t length,
                      const void* trailing, size_t trailing_length) {
  if (profile->is_closed) return;
  size_t end = records->length + length + trailing_length;
  if (end > records->capacity) {
    size_t capacity = iree_max(end, iree_max(records->capacity * 2, 4096));
    iree_status_t status = end > MAX_RECORDS
                               ? iree_status_from_code(IREE_STATUS_RESOURCE_EXHAUSTED)
                               : iree_allocator_realloc(profile->host_allocator, capacity, (void**)&records->data);
    if (!iree_status_is_ok(status)) {
      iree_status_free(status);
      ++records->dropped;
      return;
    }
    records->capacity = capacity;
  }
  memcpy(records->data + records->length, record, length);
  if (trailing_length) memcpy(records->data + records->length + length, trailing, trailing_length);
  records->length = end;
}

void profile_append_with(hal_profile_t* profile, profile_chunk_t chunk, const void* record, size_t length,
                         const void* trailing, size_t trailing_length) {
  append_to(profile, &profile->records[chunk], record, length, trailing, trailing_length);
}

void profile_append_dispatch(hal_profile_t* profile, const hal_profile_queue_t* queue,
                             const iree_hal_profile_dispatch_event_t* event) {
  append_to(profile, &profile->dispatches[queue - profile->queues], event, sizeof(*event), NULL, 0);
}

void profile_append(hal_profile_t* profile, profile_chunk_t chunk, const void* record, size_t length) {
  profile_append_with(profile, chunk, record, length, NULL, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Chunks
//===----------------------------------------------------------------------------------------------------------------===

iree_hal_profile_chunk_metadata_t profile_metadata(const hal_profile_t* profile, iree_string_view_t content_type) {
  iree_hal_profile_chunk_metadata_t metadata = iree_hal_profile_chunk_metadata_default();
  metadata.content_type = content_type;
  metadata.name = profile->name;
  metadata.session_id = profile->id;
  return metadata;
}

// `queue`: whose records they are; NULL: they say it themselves.
static iree_status_t write_chunk(hal_profile_t* profile, iree_string_view_t content_type,
                                 const hal_profile_queue_t* queue, const void* data, size_t length, uint64_t dropped) {
  iree_hal_profile_chunk_metadata_t metadata = profile_metadata(profile, content_type);
  iree_const_byte_span_t span = iree_make_const_byte_span(data, length);
  if (queue && profile->source) metadata.name = iree_make_cstring_view(profile->source);
  if (queue) {
    metadata.stream_id = queue->bit;
    metadata.physical_device_ordinal = queue->physical;
    metadata.queue_ordinal = queue->ordinal;
  }
  if (dropped) metadata.flags = IREE_HAL_PROFILE_CHUNK_FLAG_TRUNCATED;
  metadata.dropped_record_count = dropped;
  return iree_hal_profile_sink_write(profile->sink, &metadata, length ? 1 : 0, &span);
}

static iree_string_view_t content_type(profile_chunk_t chunk) {
  switch (chunk) {
#define CHUNK(name, content_type, is_precise) \
  case PROFILE_##name:                        \
    return IREE_HAL_PROFILE_CONTENT_TYPE_##content_type;
#include "hal/profile/chunks.def"
    case PROFILE_CHUNK_COUNT:
      break;
  }
  return iree_string_view_empty();
}

static const bool is_precise[] = {
#define CHUNK(name, content_type, is_precise) is_precise,
#include "hal/profile/chunks.def"
};

// The device's clock and the host's, now.
static iree_status_t sample_clocks(hal_queued_device_t* device, hal_profile_t* profile) {
  if (!profile_wants(profile, PROFILE_TICKS | PROFILE_COUNTS)) return iree_ok_status();
  for (uint32_t i = 0, seen = UINT32_MAX; i < profile->queue_count; ++i) {
    if (profile->queues[i].physical == seen) continue;  // queues of a device come together
    seen = profile->queues[i].physical;
    iree_hal_profile_clock_correlation_record_t record = iree_hal_profile_clock_correlation_record_default();
    record.physical_device_ordinal = seen;
    record.flags = IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK |
                   IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_TIME_BRACKET |
                   IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_CPU_TIMESTAMP;
    record.host_time_begin_ns = record.host_time_end_ns = iree_time_now();
    record.device_tick = (uint64_t)record.host_time_begin_ns;
    if (profile->interface->correlate) {
      IREE_RETURN_IF_ERROR(profile->interface->correlate(device, seen, &record));
      record.host_time_end_ns = iree_time_now();
    }
    record.host_cpu_timestamp_ns =
        (uint64_t)(record.host_time_begin_ns + (record.host_time_end_ns - record.host_time_begin_ns) / 2);
    iree_slim_mutex_lock(&profile->mutex);
    record.sample_id = ++profile->clock_samples;
    profile_append(profile, PROFILE_CLOCKS, &record, sizeof(record));
    iree_slim_mutex_unlock(&profile->mutex);
  }
  return iree_ok_status();
}

// What was collected up to a flush.
typedef struct collection_t {
  profile_records_t records[PROFILE_CHUNK_COUNT];
  profile_records_t dispatches[HAL_PROFILE_MAX_QUEUES];
} collection_t;

static void take_collection(hal_profile_t* profile, collection_t* out_collection) {
  iree_slim_mutex_lock(&profile->mutex);
  memcpy(out_collection->records, profile->records, sizeof(profile->records));
  memcpy(out_collection->dispatches, profile->dispatches, sizeof(profile->dispatches));
  memset(profile->records, 0, sizeof(profile->records));
  memset(profile->dispatches, 0, sizeof(profile->dispatches));
  iree_slim_mutex_unlock(&profile->mutex);
}

static void free_collection(hal_profile_t* profile, collection_t* collection) {
  for (int i = 0; i < PROFILE_CHUNK_COUNT; ++i) {
    iree_allocator_free(profile->host_allocator, collection->records[i].data);
  }
  for (int i = 0; i < HAL_PROFILE_MAX_QUEUES; ++i) {
    iree_allocator_free(profile->host_allocator, collection->dispatches[i].data);
  }
}

// Writes records of one kind, if there are any.
static iree_status_t write_records(hal_profile_t* profile, profile_chunk_t chunk, const hal_profile_queue_t* queue,
                                   const profile_records_t* records, bool* is_lossy) {
  if (!records->length && !records->dropped) return iree_ok_status();
  if (chunk == PROFILE_TRACES) return profile_write_traces(profile, records);
  *is_lossy |= records->dropped && is_precise[chunk];
  return write_chunk(profile, content_type(chunk), queue, records->data, records->length, records->dropped);
}

static iree_status_t write_collection(hal_profile_t* profile, const collection_t* collection) {
  bool is_lossy = false;
  for (int i = 0; i < PROFILE_CHUNK_COUNT; ++i) {
    IREE_RETURN_IF_ERROR(write_records(profile, (profile_chunk_t)i, NULL, &collection->records[i], &is_lossy));
  }
  for (uint32_t i = 0; i < profile->queue_count; ++i) {
    IREE_RETURN_IF_ERROR(
        write_records(profile, PROFILE_DISPATCH_EVENTS, &profile->queues[i], &collection->dispatches[i], &is_lossy));
  }
  if (!is_lossy) return iree_ok_status();
  return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                          "no room for all events in the device's time; flushing the profile more often makes some");
}

// Writes what there is. `flushing` is held.
static iree_status_t flush(hal_queued_device_t* device, hal_profile_t* profile) {
  collection_t collection;
  IREE_RETURN_IF_ERROR(profile_sample_ranges(profile));
  IREE_RETURN_IF_ERROR(sample_clocks(device, profile));
  profile_sample_metrics(profile);
  take_collection(profile, &collection);
  iree_status_t status = write_collection(profile, &collection);
  free_collection(profile, &collection);
  return status;
}

// The head of a session: what there is to be profiled.
static iree_status_t write_head(hal_profile_t* profile) {
  iree_hal_profile_chunk_metadata_t metadata = profile_metadata(profile, IREE_HAL_PROFILE_CONTENT_TYPE_SESSION);
  iree_hal_profile_device_record_t devices[HAL_PROFILE_MAX_QUEUES];
  iree_hal_profile_queue_record_t queues[HAL_PROFILE_MAX_QUEUES];
  uint32_t device_count = 0;
  for (uint32_t i = 0; i < profile->queue_count; ++i) {
    const hal_profile_queue_t* queue = &profile->queues[i];
    if (!device_count || devices[device_count - 1].physical_device_ordinal != queue->physical) {
      devices[device_count] = iree_hal_profile_device_record_default();
      devices[device_count++].physical_device_ordinal = queue->physical;
    }
    ++devices[device_count - 1].queue_count;
    queues[i] = iree_hal_profile_queue_record_default();
    queues[i].physical_device_ordinal = queue->physical;
    queues[i].queue_ordinal = queue->ordinal;
    queues[i].stream_id = queue->bit;
  }
  IREE_RETURN_IF_ERROR(iree_hal_profile_sink_begin_session(profile->sink, &metadata));
  IREE_RETURN_IF_ERROR(
      write_chunk(profile, IREE_HAL_PROFILE_CONTENT_TYPE_DEVICES, NULL, devices, device_count * sizeof(*devices), 0));
  return write_chunk(profile, IREE_HAL_PROFILE_CONTENT_TYPE_QUEUES, NULL, queues,
                     profile->queue_count * sizeof(*queues), 0);
}

// Whether the device is to be told when it takes times.
static bool has_switch(const hal_profile_t* profile) {
  return profile->interface->enable && profile_wants(profile, PROFILE_TICKS);
}

// Ends the session for the sink; keeps the first failure.
static iree_status_t finish(hal_queued_device_t* device, hal_profile_t* profile) {
  iree_hal_profile_chunk_metadata_t metadata = profile_metadata(profile, IREE_HAL_PROFILE_CONTENT_TYPE_SESSION);
  iree_slim_mutex_lock(&profile->flushing);
  iree_status_t status = flush(device, profile);
  if (has_switch(profile)) status = iree_status_join(status, profile->interface->enable(device, 0, &profile->source));
  iree_status_t ended = iree_hal_profile_sink_end_session(profile->sink, &metadata, iree_status_code(status));
  iree_slim_mutex_lock(&profile->mutex);
  profile->is_closed = true;
  iree_slim_mutex_unlock(&profile->mutex);
  iree_slim_mutex_unlock(&profile->flushing);
  for (iree_host_size_t i = 0; i < profile->executable_capacity; ++i) {
    iree_hal_executable_release(profile->executables[i].executable);
  }
  return iree_status_join(status, ended);
}

//===----------------------------------------------------------------------------------------------------------------===
// The device's calls
//===----------------------------------------------------------------------------------------------------------------===

static const struct {
  const char *name, *devices;
  iree_hal_device_profiling_data_families_t family;
} families[] = {
#define FAMILY(name, id, devices) {name, devices, IREE_HAL_DEVICE_PROFILING_DATA_##id},
#include "base/profile_families.def"
};

static iree_status_t refuse_families(const hal_profile_interface_t* interface, iree_string_view_t kind,
                                     uint64_t refused) {
  char names[1024];
  size_t size = 0;
  for (size_t i = 0; i < IREE_ARRAYSIZE(families); ++i) {
    if (!(refused & families[i].family)) continue;
    size += (size_t)snprintf(names + size, sizeof(names) - size, "%s%s, which %s tell", size ? "; " : "",
                             families[i].name, families[i].devices);
  }
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "unsupported %.*s profiling data families 0x%" PRIx64 " (%s)%s",
                          (int)kind.size, kind.data, refused, size ? names : "unknown",
                          interface->note ? interface->note : "");
}

static iree_status_t check_options(const hal_queued_device_t* device,
                                   const iree_hal_device_profiling_options_t* options) {
  const hal_profile_interface_t* interface = device->profile_interface;
  if (!interface) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "device '%.*s' has nothing to profile",
                            (int)device->identifier.size, device->identifier.data);
  }
  uint64_t unsupported = options->data_families & ~interface->families;
  iree_string_view_t kind = interface->kind ? iree_make_cstring_view(interface->kind) : device->identifier;
  if (unsupported) return refuse_families(interface, kind, unsupported);
  if (options->counter_set_count && !interface->counting) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "%.*s profiling has no counters", (int)kind.size, kind.data);
  }
  return iree_ok_status();
}

iree_status_t hal_device_profiling_begin(iree_hal_device_t* base, const iree_hal_device_profiling_options_t* options) {
  hal_queued_device_t* device = (hal_queued_device_t*)base;
  hal_profile_t* profile = NULL;
  IREE_RETURN_IF_ERROR(check_options(device, options));
  IREE_RETURN_IF_ERROR(create(device, options, &profile));
  iree_status_t begun = profile_begin_counting(device, profile, options);
  if (iree_status_is_ok(begun)) begun = profile_begin_tracing(device, profile, options);
  if (iree_status_is_ok(begun)) begun = profile_begin_metrics(device, profile);
  if (iree_status_is_ok(begun) && has_switch(profile)) {
    begun = profile->interface->enable(device, profile->families, &profile->source);
  }
  if (!iree_status_is_ok(begun)) {
    profile_release(profile);
    return begun;
  }
  iree_slim_mutex_lock(&profile->flushing);
  iree_slim_mutex_lock(&device->mutex);
  bool is_first = !device->profile;
  if (is_first) iree_atomic_store(&device->profile, (intptr_t)profile, iree_memory_order_release);
  iree_slim_mutex_unlock(&device->mutex);
  iree_status_t status =
      is_first ? write_head(profile)
               : iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the device is being profiled already");
  if (iree_status_is_ok(status)) status = sample_clocks(device, profile);
  iree_slim_mutex_unlock(&profile->flushing);
  if (iree_status_is_ok(status)) {
    if (profile_wants(profile, IREE_HAL_DEVICE_PROFILING_DATA_MEMORY_EVENTS)) {
      profile_watch_buffers(profile, device->allocator);
    }
    return status;
  }
  if (is_first) {
    iree_slim_mutex_lock(&device->mutex);
    iree_atomic_store(&device->profile, 0, iree_memory_order_release);
    iree_slim_mutex_unlock(&device->mutex);
  }
  profile_release(profile);
  return status;
}

iree_status_t hal_device_profiling_flush(iree_hal_device_t* base) {
  hal_queued_device_t* device = (hal_queued_device_t*)base;
  hal_profile_t* profile = profile_acquire(device);
  if (!profile) return iree_ok_status();
  iree_slim_mutex_lock(&profile->flushing);
  // It may have ended meanwhile, and said so.
  iree_status_t status = profile->is_closed ? iree_ok_status() : flush(device, profile);
  iree_slim_mutex_unlock(&profile->flushing);
  profile_release(profile);
  return status;
}

iree_status_t hal_device_profiling_end(iree_hal_device_t* base) {
  hal_queued_device_t* device = (hal_queued_device_t*)base;
  iree_slim_mutex_lock(&device->mutex);
  hal_profile_t* profile = (hal_profile_t*)device->profile;
  iree_atomic_store(&device->profile, 0, iree_memory_order_release);
  iree_slim_mutex_unlock(&device->mutex);
  if (!profile) return iree_ok_status();
  profile_unwatch_buffers(profile);
  iree_status_t status = finish(device, profile);
  profile_release(profile);
  return status;
}
