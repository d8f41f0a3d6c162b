// Recording devices: each call is written down and passed on to the device behind.
#include "hal/replay/recorder.h"

static const iree_hal_device_vtable_t device_vtable;

static recording_device_t* cast(iree_hal_device_t* base) { return (recording_device_t*)base; }

static iree_allocator_t allocator_of(const recording_device_t* device) {
  return replay_recorder_allocator(device->recorder);
}

static replay_call_t device_call(const recording_device_t* device, uint32_t operation) {
  return (replay_call_t){
      .operation = operation,
      .object_type = REPLAY_OBJECT_device,
      .device_id = device->id,
      .object_id = device->id,
  };
}

// Records a call without a payload, and `expression`, which passes it on.
#define RECORD(device, record, code, expression)                         \
  do {                                                                   \
    replay_call_t call_ = device_call(device, code);                     \
    call_.record_type = (record);                                        \
    IREE_RETURN_IF_ERROR(replay_call_begin((device)->recorder, &call_)); \
    return replay_call_end((device)->recorder, &call_, expression);      \
  } while (0)

//===----------------------------------------------------------------------------------------------------------------===
// The device
//===----------------------------------------------------------------------------------------------------------------===

static void device_destroy(iree_hal_device_t* base) {
  recording_device_t* device = cast(base);
  iree_hal_replay_recorder_t* recorder = device->recorder;
  iree_hal_allocator_release(device->allocator);
  iree_hal_device_release(device->base);
  iree_allocator_free(allocator_of(device), device);
  iree_hal_replay_recorder_release(recorder);
}

static iree_string_view_t device_id(iree_hal_device_t* base) { return iree_hal_device_id(cast(base)->base); }
static iree_allocator_t device_host_allocator(iree_hal_device_t* base) {
  return iree_hal_device_host_allocator(cast(base)->base);
}
static iree_hal_allocator_t* device_allocator(iree_hal_device_t* base) { return cast(base)->allocator; }

static void device_replace_allocator(iree_hal_device_t* base, iree_hal_allocator_t* new_allocator) {
  iree_hal_device_replace_allocator(cast(base)->base, new_allocator);
  recording_allocator_replace(cast(base)->allocator, new_allocator);
}

static void device_replace_channel_provider(iree_hal_device_t* base, iree_hal_channel_provider_t* new_provider) {
  iree_hal_device_replace_channel_provider(cast(base)->base, new_provider);
}

static iree_status_t device_trim(iree_hal_device_t* base) {
  recording_device_t* device = cast(base);
  RECORD(device, 0, REPLAY_DEVICE_TRIM, iree_hal_device_trim(device->base));
}

static iree_status_t device_query_i64(iree_hal_device_t* base, iree_string_view_t category, iree_string_view_t key,
                                      int64_t* out_value) {
  recording_device_t* device = cast(base);
  RECORD(device, 0, REPLAY_DEVICE_QUERY_I64, iree_hal_device_query_i64(device->base, category, key, out_value));
}

static iree_hal_semaphore_compatibility_t device_query_semaphore_compatibility(iree_hal_device_t* base,
                                                                               iree_hal_semaphore_t* semaphore) {
  return iree_hal_device_query_semaphore_compatibility(cast(base)->base, semaphore);
}

static iree_status_t device_query_capabilities(iree_hal_device_t* base,
                                               iree_hal_device_capabilities_t* out_capabilities) {
  recording_device_t* device = cast(base);
  RECORD(device, 0, REPLAY_DEVICE_QUERY_CAPABILITIES,
         iree_hal_device_query_capabilities(device->base, out_capabilities));
}

static const iree_hal_device_topology_info_t* device_topology_info(iree_hal_device_t* base) {
  recording_device_t* device = cast(base);
  return device->has_topology ? &device->topology : iree_hal_device_topology_info(device->base);
}

// The device behind keeps its place in its own group.
static iree_status_t device_assign_topology_info(iree_hal_device_t* base,
                                                 const iree_hal_device_topology_info_t* topology_info) {
  recording_device_t* device = cast(base);
  device->has_topology = topology_info != NULL;
  if (topology_info) device->topology = *topology_info;
  RECORD(device, 0, REPLAY_DEVICE_ASSIGN_TOPOLOGY_INFO, iree_ok_status());
}

static iree_status_t device_query_queue_pool_backend(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                                     iree_hal_queue_pool_backend_t* out_backend) {
  recording_device_t* device = cast(base);
  RECORD(device, 0, REPLAY_DEVICE_QUERY_QUEUE_POOL_BACKEND,
         iree_hal_device_query_queue_pool_backend(device->base, queue_affinity, out_backend));
}

static iree_status_t device_refine_topology_edge(iree_hal_device_t* src_device, iree_hal_device_t* dst_device,
                                                 iree_hal_topology_edge_t* edge) {
  recording_device_t* device = cast(src_device);
  bool is_recording = iree_hal_resource_is(dst_device, &device_vtable);
  RECORD(device, 0, REPLAY_DEVICE_REFINE_TOPOLOGY_EDGE,
         iree_hal_device_refine_topology_edge(device->base, is_recording ? cast(dst_device)->base : dst_device, edge));
}

//===----------------------------------------------------------------------------------------------------------------===
// Objects
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t device_create_channel(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                           iree_hal_channel_params_t params, iree_hal_channel_t** out_channel) {
  recording_device_t* device = cast(base);
  RECORD(device, REPLAY_RECORD_unsupported, REPLAY_DEVICE_CREATE_CHANNEL,
         iree_hal_channel_create(device->base, queue_affinity, params, out_channel));
}

// Writes a call that makes an object, which gets call->related_id.
static iree_status_t begin_creation(recording_device_t* device, uint32_t operation, uint32_t payload_type,
                                    const void* payload, size_t size, replay_call_t* out_call) {
  *out_call = device_call(device, operation);
  out_call->related_id = replay_recorder_next_id(device->recorder);
  out_call->payload_type = payload_type;
  replay_call_add(out_call, payload, size);
  return replay_call_begin(device->recorder, out_call);
}

// Writes that it is there.
static iree_status_t end_creation(recording_device_t* device, const replay_call_t* call, uint32_t object_type,
                                  const void* payload, size_t size) {
  return replay_record_object(device->recorder, device->id, call->related_id, object_type, call->payload_type, payload,
                              size);
}

static iree_status_t device_create_command_buffer(iree_hal_device_t* base, iree_hal_command_buffer_mode_t mode,
                                                  iree_hal_command_category_t categories,
                                                  iree_hal_queue_affinity_t queue_affinity,
                                                  iree_host_size_t binding_capacity,
                                                  iree_hal_command_buffer_t** out_command_buffer) {
  recording_device_t* device = cast(base);
  replay_call_t call;
  // The format has no word for revisions: without them others are recorded.
  mode &= ~(iree_hal_command_buffer_mode_t)IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE;
  replay_command_buffer_object_t object = {mode, categories, queue_affinity, binding_capacity};
  // What is recorded was checked here; IREE's checks have no word for ranges to the end of a slot's buffer.
  replay_command_buffer_object_t written = object;
  written.mode |= IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED;
  IREE_RETURN_IF_ERROR(begin_creation(device, REPLAY_DEVICE_CREATE_COMMAND_BUFFER, REPLAY_PAYLOAD_command_buffer_object,
                                      &written, sizeof(written), &call));
  iree_hal_command_buffer_t* target = NULL;
  iree_status_t status =
      iree_hal_command_buffer_create(device->base, mode, categories, queue_affinity, binding_capacity, &target);
  IREE_RETURN_IF_ERROR(replay_call_end(device->recorder, &call, status));
  status = end_creation(device, &call, REPLAY_OBJECT_command_buffer, &written, sizeof(written));
  if (iree_status_is_ok(status)) {
    status = recording_command_buffer_create(device, call.related_id, &object, target, out_command_buffer);
  }
  iree_hal_command_buffer_release(target);
  return status;
}

static iree_status_t device_create_executable_cache(iree_hal_device_t* base, iree_string_view_t identifier,
                                                    iree_hal_executable_cache_t** out_executable_cache) {
  recording_device_t* device = cast(base);
  replay_executable_cache_object_t object = {.identifier_length = identifier.size};
  replay_call_t call = device_call(device, REPLAY_DEVICE_CREATE_EXECUTABLE_CACHE);
  call.related_id = replay_recorder_next_id(device->recorder);
  call.payload_type = REPLAY_PAYLOAD_executable_cache_object;
  replay_call_add(&call, &object, sizeof(object));
  replay_call_add(&call, identifier.data, identifier.size);
  IREE_RETURN_IF_ERROR(replay_call_begin(device->recorder, &call));
  iree_hal_executable_cache_t* target = NULL;
  IREE_RETURN_IF_ERROR(
      replay_call_end(device->recorder, &call, iree_hal_executable_cache_create(device->base, identifier, &target)));
  call.record_type = REPLAY_RECORD_object;
  call.object_type = REPLAY_OBJECT_executable_cache;
  call.object_id = call.related_id;
  call.operation = 0;
  call.related_id = 0;
  iree_status_t status = replay_call_begin(device->recorder, &call);
  if (iree_status_is_ok(status)) status = recording_cache_create(device, call.object_id, target, out_executable_cache);
  iree_hal_executable_cache_release(target);
  return status;
}

// The handle's bytes follow the record of the call; those in memory are not said again by the object's.
static iree_status_t begin_import(recording_device_t* device, iree_io_file_handle_t* handle,
                                  const replay_file_object_t* object, const uint8_t* reference, replay_call_t* call) {
  *call = device_call(device, REPLAY_DEVICE_IMPORT_FILE);
  call->related_id = replay_recorder_next_id(device->recorder);
  call->payload_type = REPLAY_PAYLOAD_file_object;
  replay_call_add(call, object, sizeof(*object));
  if (!reference && object->reference_length) reference = iree_io_file_handle_value(handle).host_allocation.data;
  replay_call_add(call, reference, (iree_host_size_t)object->reference_length);
  return replay_call_begin(device->recorder, call);
}

static iree_status_t end_import(recording_device_t* device, iree_io_file_handle_t* handle,
                                const replay_file_object_t* object, const uint8_t* reference, const replay_call_t* call,
                                iree_hal_file_t* file) {
  replay_file_object_t own = *object;
  if (own.reference_type == REPLAY_REFERENCE_INLINE) own.reference_length = 0;
  replay_call_t record = {
      .record_type = REPLAY_RECORD_object,
      .object_type = REPLAY_OBJECT_file,
      .payload_type = REPLAY_PAYLOAD_file_object,
      .device_id = device->id,
      .object_id = call->related_id,
  };
  replay_call_add(&record, &own, sizeof(own));
  replay_call_add(&record, reference, (iree_host_size_t)own.reference_length);
  IREE_RETURN_IF_ERROR(replay_call_begin(device->recorder, &record));
  // Reads of ranges ask the handle, which the file keeps.
  bool in_ranges = own.reference_type == REPLAY_REFERENCE_RANGES;
  return replay_recorder_know(device->recorder, file, call->related_id, in_ranges ? (uint64_t)(uintptr_t)handle : 0);
}

static iree_status_t device_import_file(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                        iree_hal_memory_access_t access, iree_io_file_handle_t* handle,
                                        iree_hal_external_file_flags_t flags, iree_hal_file_t** out_file) {
  recording_device_t* device = cast(base);
  replay_call_t call = {0};
  replay_file_object_t object;
  uint8_t* reference = NULL;
  iree_hal_file_t* file = NULL;
  iree_status_t described = recording_file_describe(device, queue_affinity, access, handle, flags, &object, &reference);
  iree_status_t status = begin_import(device, handle, &object, reference, &call);
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(described);
  } else {
    if (iree_status_is_ok(described)) {
      described = iree_hal_file_import(device->base, queue_affinity, access, handle, flags, &file);
    }
    status = replay_call_end(device->recorder, &call, described);
  }
  if (iree_status_is_ok(status)) status = end_import(device, handle, &object, reference, &call, file);
  iree_allocator_free(allocator_of(device), reference);
  if (iree_status_is_ok(status)) {
    *out_file = file;
  } else {
    iree_hal_file_release(file);
  }
  return status;
}

static iree_status_t device_create_semaphore(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                             uint64_t initial_value, iree_hal_semaphore_flags_t flags,
                                             iree_hal_semaphore_t** out_semaphore) {
  recording_device_t* device = cast(base);
  replay_call_t call;
  replay_semaphore_object_t object = {.queue_affinity = queue_affinity, .initial_value = initial_value, .flags = flags};
  IREE_RETURN_IF_ERROR(begin_creation(device, REPLAY_DEVICE_CREATE_SEMAPHORE, REPLAY_PAYLOAD_semaphore_object, &object,
                                      sizeof(object), &call));
  iree_hal_semaphore_t* semaphore = NULL;
  iree_status_t status = iree_hal_semaphore_create(device->base, queue_affinity, initial_value, flags, &semaphore);
  IREE_RETURN_IF_ERROR(replay_call_end(device->recorder, &call, status));
  status = end_creation(device, &call, REPLAY_OBJECT_semaphore, &object, sizeof(object));
  if (iree_status_is_ok(status)) status = replay_recorder_know(device->recorder, semaphore, call.related_id, 0);
  if (iree_status_is_ok(status)) {
    *out_semaphore = semaphore;
  } else {
    iree_hal_semaphore_release(semaphore);
  }
  return status;
}

// A semaphore of others is written down the first time, with the value that it has.
static iree_status_t semaphore_id(recording_device_t* device, iree_hal_semaphore_t* semaphore, uint64_t* out_id) {
  *out_id = replay_recorder_find(device->recorder, semaphore, NULL);
  if (*out_id) return iree_ok_status();
  replay_call_t call;
  replay_semaphore_object_t object = {.queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY,
                                      .flags = IREE_HAL_SEMAPHORE_FLAG_DEFAULT};
  iree_status_ignore(iree_hal_semaphore_query(semaphore, &object.initial_value));
  if (object.initial_value > IREE_HAL_SEMAPHORE_MAX_VALUE) object.initial_value = 0;
  IREE_RETURN_IF_ERROR(begin_creation(device, REPLAY_DEVICE_CREATE_SEMAPHORE, REPLAY_PAYLOAD_semaphore_object, &object,
                                      sizeof(object), &call));
  IREE_RETURN_IF_ERROR(end_creation(device, &call, REPLAY_OBJECT_semaphore, &object, sizeof(object)));
  *out_id = call.related_id;
  return replay_recorder_know(device->recorder, semaphore, call.related_id, 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Queues
//===----------------------------------------------------------------------------------------------------------------===

// A submission's waits and signals.
typedef struct points_t {
  iree_hal_semaphore_list_t waits, signals;
  replay_timepoint_t* points;
} points_t;

static iree_status_t add_points(recording_device_t* device, iree_hal_semaphore_list_t list,
                                replay_timepoint_t* points) {
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    points[i].value = list.payload_values[i];
    IREE_RETURN_IF_ERROR(semaphore_id(device, list.semaphores[i], &points[i].semaphore_id));
  }
  return iree_ok_status();
}

// Writes a submission: what mappings hold now, then the payload, its points and what follows them.
typedef struct submission_t {
  recording_device_t* device;
  points_t points;
  replay_call_t call;
} submission_t;

static iree_status_t write_submission(submission_t* s, const iree_const_byte_span_t* parts, iree_host_size_t count) {
  recording_device_t* device = s->device;
  iree_host_size_t waits = s->points.waits.count, signals = s->points.signals.count;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(allocator_of(device), waits + signals + 1, sizeof(*s->points.points),
                                                   (void**)&s->points.points));
  IREE_RETURN_IF_ERROR(add_points(device, s->points.waits, s->points.points));
  IREE_RETURN_IF_ERROR(add_points(device, s->points.signals, s->points.points + waits));
  IREE_RETURN_IF_ERROR(recording_mappings_flush(device->recorder));
  replay_call_add(&s->call, parts[0].data, parts[0].data_length);
  replay_call_add(&s->call, s->points.points, (waits + signals) * sizeof(*s->points.points));
  for (iree_host_size_t i = 1; i < count; ++i) replay_call_add(&s->call, parts[i].data, parts[i].data_length);
  return replay_call_begin(device->recorder, &s->call);
}

static iree_status_t begin(submission_t* s, const iree_const_byte_span_t* parts, iree_host_size_t count) {
  iree_status_t status = write_submission(s, parts, count);
  iree_allocator_free(allocator_of(s->device), s->points.points);
  return status;
}

static iree_status_t end(const submission_t* s, iree_status_t status) {
  return replay_call_end(s->device->recorder, &s->call, status);
}

static submission_t make_submission(recording_device_t* device, uint32_t operation, uint32_t payload_type,
                                    iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals) {
  submission_t s = {.device = device, .points = {.waits = waits, .signals = signals}};
  s.call = device_call(device, operation);
  s.call.payload_type = payload_type;
  return s;
}

#define SPAN(object) iree_make_const_byte_span(&(object), sizeof(object))
#define QUEUE_FIELDS                                                                                   \
  .queue_affinity = queue_affinity, .flags = flags, .wait_semaphore_count = wait_semaphore_list.count, \
  .signal_semaphore_count = signal_semaphore_list.count
#define SUBMISSION(NAME, name)                                                                                 \
  make_submission(device, REPLAY_DEVICE_QUEUE_##NAME, REPLAY_PAYLOAD_device_queue_##name, wait_semaphore_list, \
                  signal_semaphore_list)

// A range of a buffer for the device behind, with its place in the file.
typedef struct range_t {
  iree_hal_buffer_t* buffer;
  iree_device_size_t offset;
  replay_ref_t ref;
} range_t;

static iree_status_t resolve(recording_device_t* device, iree_hal_buffer_t* buffer, iree_device_size_t offset,
                             iree_device_size_t length, range_t* out_range) {
  out_range->ref = (replay_ref_t){.length = length};
  IREE_RETURN_IF_ERROR(recording_buffer_resolve(device, buffer, offset, &out_range->buffer, &out_range->offset,
                                                &out_range->ref.buffer_id));
  out_range->ref.offset = out_range->offset;
  return iree_ok_status();
}

static iree_status_t device_queue_alloca(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                         const iree_hal_semaphore_list_t wait_semaphore_list,
                                         const iree_hal_semaphore_list_t signal_semaphore_list, iree_hal_pool_t* pool,
                                         iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
                                         iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer) {
  recording_device_t* device = cast(base);
  replay_device_queue_alloca_t payload = {
      .allocation_size = allocation_size,
      .allocation_affinity = params.queue_affinity,
      .min_alignment = params.min_alignment,
      .usage = params.usage,
      .type = params.type,
      .access = params.access,
      QUEUE_FIELDS,
  };
  submission_t s = SUBMISSION(ALLOCA, alloca);
  s.call.related_id = replay_recorder_next_id(device->recorder);
  IREE_RETURN_IF_ERROR(begin(&s, (iree_const_byte_span_t[]){SPAN(payload)}, 1));
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(
      end(&s, iree_hal_device_queue_alloca(device->base, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                           pool, params, allocation_size, flags, &buffer)));
  return recording_buffer_create(device, s.call.related_id, buffer, out_buffer);
}

static iree_status_t device_queue_dealloca(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                           const iree_hal_semaphore_list_t wait_semaphore_list,
                                           const iree_hal_semaphore_list_t signal_semaphore_list,
                                           iree_hal_buffer_t* buffer, iree_hal_dealloca_flags_t flags) {
  recording_device_t* device = cast(base);
  range_t range;
  IREE_RETURN_IF_ERROR(resolve(device, buffer, 0, iree_hal_buffer_byte_length(buffer), &range));
  replay_device_queue_dealloca_t payload = {.buffer_ref = range.ref, QUEUE_FIELDS};
  submission_t s = SUBMISSION(DEALLOCA, dealloca);
  IREE_RETURN_IF_ERROR(begin(&s, (iree_const_byte_span_t[]){SPAN(payload)}, 1));
  return end(&s, iree_hal_device_queue_dealloca(device->base, queue_affinity, wait_semaphore_list,
                                                signal_semaphore_list, range.buffer, flags));
}

static iree_status_t device_queue_fill(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                       const iree_hal_semaphore_list_t wait_semaphore_list,
                                       const iree_hal_semaphore_list_t signal_semaphore_list,
                                       iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                       iree_device_size_t length, const void* pattern, iree_host_size_t pattern_length,
                                       iree_hal_fill_flags_t flags) {
  recording_device_t* device = cast(base);
  range_t target;
  IREE_RETURN_IF_ERROR(resolve(device, target_buffer, target_offset, length, &target));
  replay_device_queue_fill_t payload = {.target_ref = target.ref, .pattern_length = pattern_length, QUEUE_FIELDS};
  submission_t s = SUBMISSION(FILL, fill);
  iree_const_byte_span_t parts[] = {SPAN(payload), iree_make_const_byte_span(pattern, pattern_length)};
  IREE_RETURN_IF_ERROR(begin(&s, parts, IREE_ARRAYSIZE(parts)));
  return end(&s, iree_hal_device_queue_fill(device->base, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                            target.buffer, target.offset, length, pattern, pattern_length, flags));
}

static iree_status_t device_queue_update(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                         const iree_hal_semaphore_list_t wait_semaphore_list,
                                         const iree_hal_semaphore_list_t signal_semaphore_list,
                                         const void* source_buffer, iree_host_size_t source_offset,
                                         iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                         iree_device_size_t length, iree_hal_update_flags_t flags) {
  recording_device_t* device = cast(base);
  range_t target;
  IREE_RETURN_IF_ERROR(resolve(device, target_buffer, target_offset, length, &target));
  replay_device_queue_update_t payload = {
      .target_ref = target.ref, .source_offset = source_offset, .data_length = length, QUEUE_FIELDS};
  submission_t s = SUBMISSION(UPDATE, update);
  iree_const_byte_span_t data = iree_make_const_byte_span((const uint8_t*)source_buffer + source_offset, length);
  iree_const_byte_span_t parts[] = {SPAN(payload), data};
  IREE_RETURN_IF_ERROR(begin(&s, parts, IREE_ARRAYSIZE(parts)));
  return end(&s,
             iree_hal_device_queue_update(device->base, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                          source_buffer, source_offset, target.buffer, target.offset, length, flags));
}

static iree_status_t device_queue_copy(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                       const iree_hal_semaphore_list_t wait_semaphore_list,
                                       const iree_hal_semaphore_list_t signal_semaphore_list,
                                       iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                       iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                       iree_device_size_t length, iree_hal_copy_flags_t flags) {
  recording_device_t* device = cast(base);
  range_t source, target;
  IREE_RETURN_IF_ERROR(resolve(device, source_buffer, source_offset, length, &source));
  IREE_RETURN_IF_ERROR(resolve(device, target_buffer, target_offset, length, &target));
  replay_device_queue_copy_t payload = {.source_ref = source.ref, .target_ref = target.ref, QUEUE_FIELDS};
  submission_t s = SUBMISSION(COPY, copy);
  IREE_RETURN_IF_ERROR(begin(&s, (iree_const_byte_span_t[]){SPAN(payload)}, 1));
  return end(&s, iree_hal_device_queue_copy(device->base, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                            source.buffer, source.offset, target.buffer, target.offset, length, flags));
}

static iree_status_t find_file(recording_device_t* device, iree_hal_file_t* file, uint64_t* out_id,
                               iree_io_file_handle_t** out_handle) {
  uint64_t extra = 0;
  *out_id = replay_recorder_find(device->recorder, file, &extra);
  *out_handle = (iree_io_file_handle_t*)(uintptr_t)extra;
  if (*out_id) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the file was not imported by this device");
}

static iree_status_t device_queue_read(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                       const iree_hal_semaphore_list_t wait_semaphore_list,
                                       const iree_hal_semaphore_list_t signal_semaphore_list,
                                       iree_hal_file_t* source_file, uint64_t source_offset,
                                       iree_hal_buffer_t* target_buffer, iree_device_size_t target_offset,
                                       iree_device_size_t length, iree_hal_read_flags_t flags) {
  recording_device_t* device = cast(base);
  range_t target;
  iree_io_file_handle_t* handle = NULL;
  replay_device_queue_read_t payload = {.source_offset = source_offset, QUEUE_FIELDS};
  IREE_RETURN_IF_ERROR(find_file(device, source_file, &payload.source_file_id, &handle));
  IREE_RETURN_IF_ERROR(resolve(device, target_buffer, target_offset, length, &target));
  payload.target_ref = target.ref;
  payload.captured_data_length = handle ? length : 0;
  uint8_t* data = NULL;
  if (handle) {
    IREE_RETURN_IF_ERROR(recording_file_read(handle, source_offset, length, allocator_of(device), &data));
  }
  submission_t s = SUBMISSION(READ, read);
  iree_const_byte_span_t parts[] = {SPAN(payload),
                                    iree_make_const_byte_span(data, (iree_host_size_t)payload.captured_data_length)};
  iree_status_t status = begin(&s, parts, IREE_ARRAYSIZE(parts));
  iree_allocator_free(allocator_of(device), data);
  IREE_RETURN_IF_ERROR(status);
  return end(&s, iree_hal_device_queue_read(device->base, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                            source_file, source_offset, target.buffer, target.offset, length, flags));
}

static iree_status_t device_queue_write(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                        const iree_hal_semaphore_list_t wait_semaphore_list,
                                        const iree_hal_semaphore_list_t signal_semaphore_list,
                                        iree_hal_buffer_t* source_buffer, iree_device_size_t source_offset,
                                        iree_hal_file_t* target_file, uint64_t target_offset, iree_device_size_t length,
                                        iree_hal_write_flags_t flags) {
  recording_device_t* device = cast(base);
  range_t source;
  iree_io_file_handle_t* handle = NULL;
  replay_device_queue_write_t payload = {.target_offset = target_offset, QUEUE_FIELDS};
  IREE_RETURN_IF_ERROR(find_file(device, target_file, &payload.target_file_id, &handle));
  IREE_RETURN_IF_ERROR(resolve(device, source_buffer, source_offset, length, &source));
  payload.source_ref = source.ref;
  submission_t s = SUBMISSION(WRITE, write);
  IREE_RETURN_IF_ERROR(begin(&s, (iree_const_byte_span_t[]){SPAN(payload)}, 1));
  return end(&s, iree_hal_device_queue_write(device->base, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                             source.buffer, source.offset, target_file, target_offset, length, flags));
}

// The call gets the device behind: what it makes there is not recorded.
static iree_status_t device_queue_host_call(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                            const iree_hal_semaphore_list_t wait_semaphore_list,
                                            const iree_hal_semaphore_list_t signal_semaphore_list,
                                            iree_hal_host_call_t call, const uint64_t args[4],
                                            iree_hal_host_call_flags_t flags) {
  recording_device_t* device = cast(base);
  RECORD(device, REPLAY_RECORD_unsupported, REPLAY_DEVICE_QUEUE_HOST_CALL,
         iree_hal_device_queue_host_call(device->base, queue_affinity, wait_semaphore_list, signal_semaphore_list, call,
                                         args, flags));
}

static iree_status_t device_queue_dispatch(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                           const iree_hal_semaphore_list_t wait_semaphore_list,
                                           const iree_hal_semaphore_list_t signal_semaphore_list,
                                           iree_hal_executable_t* executable, iree_hal_executable_function_t function,
                                           const iree_hal_dispatch_config_t config, iree_const_byte_span_t constants,
                                           const iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  recording_device_t* device = cast(base);
  recording_dispatch_t dispatch;
  IREE_RETURN_IF_ERROR(recording_dispatch_make(
      device, &(hal_dispatch_t){executable, function, config, constants, bindings, flags}, &dispatch));
  dispatch.payload.queue_affinity = queue_affinity;
  dispatch.payload.wait_semaphore_count = wait_semaphore_list.count;
  dispatch.payload.signal_semaphore_count = signal_semaphore_list.count;
  submission_t s = make_submission(device, REPLAY_DEVICE_QUEUE_DISPATCH, REPLAY_PAYLOAD_dispatch, wait_semaphore_list,
                                   signal_semaphore_list);
  iree_const_byte_span_t parts[] = {SPAN(dispatch.payload), constants,
                                    iree_make_const_byte_span(dispatch.refs, bindings.count * sizeof(*dispatch.refs))};
  iree_status_t status = begin(&s, parts, IREE_ARRAYSIZE(parts));
  if (iree_status_is_ok(status)) {
    iree_hal_buffer_ref_list_t own = {bindings.count, dispatch.bindings};
    status =
        end(&s, iree_hal_device_queue_dispatch(device->base, queue_affinity, wait_semaphore_list, signal_semaphore_list,
                                               executable, function, dispatch.config, constants, own, flags));
  }
  recording_dispatch_free(&dispatch);
  return status;
}

// A binding table for the device behind, and for the file. Slots that nothing was recorded with may hold anything.
static iree_status_t resolve_table(recording_device_t* device, const iree_hal_command_buffer_t* commands,
                                   iree_hal_buffer_binding_table_t table, iree_hal_buffer_binding_t* bindings,
                                   replay_ref_t* refs) {
  for (iree_host_size_t i = 0; i < table.count; ++i) {
    const iree_hal_buffer_binding_t* binding = &table.bindings[i];
    bool is_used = commands && i < commands->binding_count && (!commands->slots || commands->slots[i].is_used);
    if (!is_used) continue;
    iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(binding->buffer, binding->offset, binding->length);
    IREE_RETURN_IF_ERROR(recording_ref_resolve(device, ref, &ref, &refs[i]));
    bindings[i] = (iree_hal_buffer_binding_t){ref.buffer, ref.offset, ref.length};
  }
  return iree_ok_status();
}

static iree_status_t execute(submission_t* s, iree_hal_queue_affinity_t queue_affinity,
                             iree_hal_command_buffer_t* target, const replay_device_queue_execute_t* payload,
                             iree_hal_buffer_binding_table_t table, iree_hal_buffer_binding_t* bindings,
                             replay_ref_t* refs) {
  IREE_RETURN_IF_ERROR(resolve_table(s->device, target, table, bindings, refs));
  iree_const_byte_span_t parts[] = {SPAN(*payload), iree_make_const_byte_span(refs, table.count * sizeof(*refs))};
  IREE_RETURN_IF_ERROR(begin(s, parts, IREE_ARRAYSIZE(parts)));
  iree_hal_buffer_binding_table_t own = {table.count, bindings};
  return end(s, iree_hal_device_queue_execute(s->device->base, queue_affinity, s->points.waits, s->points.signals,
                                              target, own, payload->flags));
}

static iree_status_t device_queue_execute(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity,
                                          const iree_hal_semaphore_list_t wait_semaphore_list,
                                          const iree_hal_semaphore_list_t signal_semaphore_list,
                                          iree_hal_command_buffer_t* command_buffer,
                                          iree_hal_buffer_binding_table_t binding_table,
                                          iree_hal_execute_flags_t flags) {
  recording_device_t* device = cast(base);
  replay_device_queue_execute_t payload = {.binding_count = binding_table.count, QUEUE_FIELDS};
  iree_hal_command_buffer_t* target =
      command_buffer ? recording_command_buffer_base(command_buffer, &payload.command_buffer_id) : NULL;
  if (command_buffer && !target) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the command buffer was not made by a recording device");
  }
  submission_t s = SUBMISSION(EXECUTE, execute);
  s.call.related_id = payload.command_buffer_id;
  iree_hal_buffer_binding_t* bindings = NULL;
  replay_ref_t* refs = NULL;
  iree_status_t status =
      iree_allocator_malloc_array(allocator_of(device), binding_table.count + 1, sizeof(*bindings), (void**)&bindings);
  if (iree_status_is_ok(status)) {
    status = iree_allocator_malloc_array(allocator_of(device), binding_table.count + 1, sizeof(*refs), (void**)&refs);
  }
  if (iree_status_is_ok(status)) {
    status = execute(&s, queue_affinity, target, &payload, binding_table, bindings, refs);
  }
  iree_allocator_free(allocator_of(device), bindings);
  iree_allocator_free(allocator_of(device), refs);
  return status;
}

static iree_status_t device_queue_flush(iree_hal_device_t* base, iree_hal_queue_affinity_t queue_affinity) {
  recording_device_t* device = cast(base);
  RECORD(device, 0, REPLAY_DEVICE_QUEUE_FLUSH, iree_hal_device_queue_flush(device->base, queue_affinity));
}

static iree_status_t device_profiling_begin(iree_hal_device_t* base,
                                            const iree_hal_device_profiling_options_t* options) {
  recording_device_t* device = cast(base);
  RECORD(device, 0, REPLAY_DEVICE_PROFILING_BEGIN, iree_hal_device_profiling_begin(device->base, options));
}

static iree_status_t device_profiling_flush(iree_hal_device_t* base) {
  recording_device_t* device = cast(base);
  RECORD(device, 0, REPLAY_DEVICE_PROFILING_FLUSH, iree_hal_device_profiling_flush(device->base));
}

static iree_status_t device_profiling_end(iree_hal_device_t* base) {
  recording_device_t* device = cast(base);
  RECORD(device, 0, REPLAY_DEVICE_PROFILING_END, iree_hal_device_profiling_end(device->base));
}

static const iree_hal_device_vtable_t device_vtable = {
    .destroy = device_destroy,
#define CALL(result, name, parameters, arguments) .name = device_##name,
#include "iree/hal/device_calls.def"
#undef CALL
};

//===----------------------------------------------------------------------------------------------------------------===
// Groups
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t recording_device_create(iree_hal_replay_recorder_t* recorder, iree_hal_device_t* base,
                                      iree_hal_device_t** out_device) {
  recording_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(replay_recorder_allocator(recorder), sizeof(*device), (void**)&device));
  iree_hal_resource_initialize(&device_vtable, &device->resource);
  device->recorder = recorder;
  device->base = base;
  device->id = replay_recorder_next_id(recorder);
  device->allocator_id = replay_recorder_next_id(recorder);
  iree_hal_replay_recorder_retain(recorder);
  iree_hal_device_retain(base);
  iree_status_t status = replay_record_object(recorder, 0, device->id, REPLAY_OBJECT_device, 0, NULL, 0);
  if (iree_status_is_ok(status)) {
    status = replay_record_object(recorder, device->id, device->allocator_id, REPLAY_OBJECT_allocator, 0, NULL, 0);
  }
  if (iree_status_is_ok(status)) status = recording_allocator_create(device, &device->allocator);
  if (iree_status_is_ok(status)) {
    *out_device = (iree_hal_device_t*)device;
  } else {
    iree_hal_device_release((iree_hal_device_t*)device);
  }
  return status;
}

static iree_status_t replace(iree_hal_device_group_t* source_group, iree_host_size_t device_index,
                             iree_hal_device_t* source_device, void* user_data,
                             iree_hal_device_t** out_replacement_device) {
  return recording_device_create((iree_hal_replay_recorder_t*)user_data, source_device, out_replacement_device);
}

iree_status_t iree_hal_replay_wrap_device_group(iree_hal_replay_recorder_t* recorder,
                                                iree_hal_device_group_t* base_group, iree_allocator_t host_allocator,
                                                iree_hal_device_group_t** out_group) {
  *out_group = NULL;
  IREE_RETURN_IF_ERROR(replay_recorder_keep(recorder, base_group));
  iree_hal_device_group_replacement_callback_t callback = {replace, recorder};
  return iree_hal_device_group_create_with_replacements(base_group, callback, host_allocator, out_group);
}
