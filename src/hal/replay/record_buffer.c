// Recording buffers and allocators: what the host writes into memory and reads from it.
#include "hal/replay/recorder.h"

typedef struct recording_buffer_t {
  iree_hal_buffer_t base;
  iree_hal_replay_recorder_t* recorder;  // retained
  uint64_t device_id, id;
  iree_hal_buffer_t* target;  // retained
} recording_buffer_t;

// A mapping that may stay while the device works, of a buffer that is alive.
struct recording_mapping_t {
  recording_mapping_t* next;
  recording_buffer_t* buffer;
  iree_device_size_t offset, length;
  const uint8_t* data;
  uint64_t digest;  // of what was written down last
};

static recording_buffer_t* cast(iree_hal_buffer_t* base) { return (recording_buffer_t*)base; }

static bool writes(iree_hal_memory_access_t access) {
  return access & (IREE_HAL_MEMORY_ACCESS_WRITE | IREE_HAL_MEMORY_ACCESS_ANY);
}

//===----------------------------------------------------------------------------------------------------------------===
// Records of ranges
//===----------------------------------------------------------------------------------------------------------------===

static replay_call_t range_call(const recording_buffer_t* buffer, uint32_t operation, uint32_t payload_type) {
  return (replay_call_t){
      .operation = operation,
      .object_type = REPLAY_OBJECT_buffer,
      .payload_type = payload_type,
      .device_id = buffer->device_id,
      .object_id = buffer->id,
  };
}

static iree_status_t record_range(recording_buffer_t* buffer, uint32_t operation, iree_hal_mapping_mode_t mode,
                                  iree_hal_memory_access_t access, iree_device_size_t offset, iree_device_size_t length,
                                  replay_call_t* out_call) {
  replay_buffer_range_t range = {
      .byte_offset = offset, .byte_length = length, .mapping_mode = mode, .memory_access = access};
  *out_call = range_call(buffer, operation, REPLAY_PAYLOAD_buffer_range);
  replay_call_add(out_call, &range, sizeof(range));
  return replay_call_begin(buffer->recorder, out_call);
}

static iree_status_t record_data(recording_buffer_t* buffer, uint32_t operation, iree_hal_memory_access_t access,
                                 iree_device_size_t offset, const void* data, iree_device_size_t length,
                                 replay_call_t* out_call) {
  replay_buffer_range_data_t range = {
      .byte_offset = offset, .byte_length = length, .data_length = length, .memory_access = access};
  *out_call = range_call(buffer, operation, REPLAY_PAYLOAD_buffer_range_data);
  replay_call_add(out_call, &range, sizeof(range));
  replay_call_add(out_call, data, length);
  return replay_call_begin(buffer->recorder, out_call);
}

//===----------------------------------------------------------------------------------------------------------------===
// Mappings that stay
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t watch(recording_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t length,
                           const uint8_t* data) {
  iree_allocator_t allocator = replay_recorder_allocator(buffer->recorder);
  recording_mapping_t* mapping = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, sizeof(*mapping), (void**)&mapping));
  *mapping =
      (recording_mapping_t){NULL, buffer, offset, length, data, replay_digest(REPLAY_DIGEST_START, data, length)};
  replay_recorder_lock(buffer->recorder);
  recording_mapping_t** list = replay_recorder_mappings(buffer->recorder);
  for (recording_mapping_t* other = *list; other; other = other->next) {
    if (other->buffer != buffer || other->offset != offset || other->length != length) continue;
    iree_allocator_free(allocator, mapping);  // the same once more
    mapping = NULL;
    break;
  }
  if (mapping) {
    mapping->next = *list;
    *list = mapping;
  }
  replay_recorder_unlock(buffer->recorder);
  return iree_ok_status();
}

// Forgets those of a range; of all when `data` is NULL.
static void unwatch(recording_buffer_t* buffer, const uint8_t* data) {
  replay_recorder_lock(buffer->recorder);
  for (recording_mapping_t** link = replay_recorder_mappings(buffer->recorder); *link;) {
    recording_mapping_t* mapping = *link;
    if (mapping->buffer != buffer || (data && mapping->data != data)) {
      link = &mapping->next;
      continue;
    }
    *link = mapping->next;
    iree_allocator_free(replay_recorder_allocator(buffer->recorder), mapping);
  }
  replay_recorder_unlock(buffer->recorder);
}

// One whose contents have changed; its buffer retained.
static bool take_changed(iree_hal_replay_recorder_t* recorder, recording_mapping_t* out_mapping) {
  bool found = false;
  replay_recorder_lock(recorder);
  for (recording_mapping_t* m = *replay_recorder_mappings(recorder); m && !found; m = m->next) {
    uint64_t digest = replay_digest(REPLAY_DIGEST_START, m->data, m->length);
    found = digest != m->digest;
    m->digest = digest;
    if (found) *out_mapping = *m;
  }
  if (found) iree_hal_buffer_retain(&out_mapping->buffer->base);
  replay_recorder_unlock(recorder);
  return found;
}

iree_status_t recording_mappings_flush(iree_hal_replay_recorder_t* recorder) {
  recording_mapping_t mapping;
  iree_status_t status = iree_ok_status();
  while (iree_status_is_ok(status) && take_changed(recorder, &mapping)) {
    replay_call_t call;
    status = record_data(mapping.buffer, REPLAY_BUFFER_FLUSH_RANGE, IREE_HAL_MEMORY_ACCESS_WRITE, mapping.offset,
                         mapping.data, mapping.length, &call);
    iree_hal_buffer_release(&mapping.buffer->base);
  }
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Buffers
//===----------------------------------------------------------------------------------------------------------------===

// The allocation behind, and where the offset is there: what vtables are called with.
static iree_hal_buffer_t* behind(iree_hal_buffer_t* base, iree_device_size_t* offset) {
  iree_hal_buffer_t* target = cast(base)->target;
  *offset += iree_hal_buffer_byte_offset(target);
  return target;
}

static void buffer_destroy(iree_hal_buffer_t* base) {
  recording_buffer_t* buffer = cast(base);
  iree_hal_replay_recorder_t* recorder = buffer->recorder;
  unwatch(buffer, NULL);
  iree_hal_buffer_deinitialize(base);
  iree_hal_buffer_release(buffer->target);
  iree_allocator_free(replay_recorder_allocator(recorder), buffer);
  iree_hal_replay_recorder_release(recorder);
}

// What the host reads is written down where it is there at once.
static iree_status_t record_read(recording_buffer_t* buffer, iree_hal_memory_access_t access, iree_device_size_t offset,
                                 const uint8_t* data, iree_device_size_t length) {
  replay_call_t call;
  bool coherent = buffer->base.memory_type & IREE_HAL_MEMORY_TYPE_HOST_COHERENT;
  if (!(access & IREE_HAL_MEMORY_ACCESS_READ) || !coherent) return iree_ok_status();
  return record_data(buffer, REPLAY_BUFFER_INVALIDATE_RANGE, IREE_HAL_MEMORY_ACCESS_READ, offset, data, length, &call);
}

static iree_status_t buffer_map_range(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                                      iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                      iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  recording_buffer_t* buffer = cast(base);
  replay_call_t call;
  iree_device_size_t offset = local_byte_offset;
  iree_hal_buffer_t* target = behind(base, &offset);
  IREE_RETURN_IF_ERROR(record_range(buffer, REPLAY_BUFFER_MAP_RANGE, mapping_mode, memory_access, local_byte_offset,
                                    local_byte_length, &call));
  iree_status_t status = HAL_CALL(target, iree_hal_buffer, map_range)(target, mapping_mode, memory_access, offset,
                                                                      local_byte_length, mapping);
  IREE_RETURN_IF_ERROR(replay_call_end(buffer->recorder, &call, status));
  const uint8_t* data = mapping->contents.data;
  status = record_read(buffer, memory_access, local_byte_offset, data, local_byte_length);
  if (iree_status_is_ok(status) && mapping_mode & IREE_HAL_MAPPING_MODE_PERSISTENT && writes(memory_access)) {
    status = watch(buffer, local_byte_offset, local_byte_length, data);
  }
  if (iree_status_is_ok(status)) return status;
  return iree_status_join(status,
                          HAL_CALL(target, iree_hal_buffer, unmap_range)(target, offset, local_byte_length, mapping));
}

static iree_status_t buffer_unmap_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                        iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  recording_buffer_t* buffer = cast(base);
  replay_call_t call;
  iree_device_size_t offset = local_byte_offset;
  iree_hal_buffer_t* target = behind(base, &offset);
  iree_hal_memory_access_t access = mapping->impl.allowed_access;
  if (mapping->impl.is_persistent) unwatch(buffer, mapping->contents.data);
  iree_status_t status = writes(access) ? record_data(buffer, REPLAY_BUFFER_UNMAP_RANGE, access, local_byte_offset,
                                                      mapping->contents.data, local_byte_length, &call)
                                        : record_range(buffer, REPLAY_BUFFER_UNMAP_RANGE, 0, access, local_byte_offset,
                                                       local_byte_length, &call);
  iree_status_t unmapped = HAL_CALL(target, iree_hal_buffer, unmap_range)(target, offset, local_byte_length, mapping);
  if (!iree_status_is_ok(status)) return iree_status_join(status, unmapped);
  return replay_call_end(buffer->recorder, &call, unmapped);
}

static iree_status_t buffer_invalidate_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                             iree_device_size_t local_byte_length) {
  recording_buffer_t* buffer = cast(base);
  replay_call_t call;
  iree_device_size_t offset = local_byte_offset;
  iree_hal_buffer_t* target = behind(base, &offset);
  IREE_RETURN_IF_ERROR(record_range(buffer, REPLAY_BUFFER_INVALIDATE_RANGE, 0, IREE_HAL_MEMORY_ACCESS_READ,
                                    local_byte_offset, local_byte_length, &call));
  return replay_call_end(buffer->recorder, &call,
                         HAL_CALL(target, iree_hal_buffer, invalidate_range)(target, offset, local_byte_length));
}

// What was written is in the record of the end of the mapping, or of the next submission where it stays.
static iree_status_t buffer_flush_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                        iree_device_size_t local_byte_length) {
  iree_device_size_t offset = local_byte_offset;
  iree_hal_buffer_t* target = behind(base, &offset);
  return HAL_CALL(target, iree_hal_buffer, flush_range)(target, offset, local_byte_length);
}

static const iree_hal_buffer_vtable_t buffer_vtable = {
    .destroy = buffer_destroy,
    .map_range = buffer_map_range,
    .unmap_range = buffer_unmap_range,
    .invalidate_range = buffer_invalidate_range,
    .flush_range = buffer_flush_range,
};

static iree_status_t record_buffer_object(iree_hal_replay_recorder_t* recorder, uint64_t device_id, uint64_t id,
                                          iree_hal_buffer_t* buffer) {
  iree_hal_buffer_placement_t placement = iree_hal_buffer_allocation_placement(buffer);
  replay_buffer_object_t object = {
      .allocation_size = iree_hal_buffer_allocation_size(buffer),
      .byte_offset = iree_hal_buffer_byte_offset(buffer),
      .byte_length = iree_hal_buffer_byte_length(buffer),
      .queue_affinity = placement.queue_affinity,
      .placement_flags = placement.flags,
      .memory_type = iree_hal_buffer_memory_type(buffer),
      .allowed_usage = iree_hal_buffer_allowed_usage(buffer),
      .allowed_access = iree_hal_buffer_allowed_access(buffer),
  };
  return replay_record_object(recorder, device_id, id, REPLAY_OBJECT_buffer, REPLAY_PAYLOAD_buffer_object, &object,
                              sizeof(object));
}

iree_status_t recording_buffer_create(recording_device_t* device, uint64_t id, iree_hal_buffer_t* base,
                                      iree_hal_buffer_t** out_buffer) {
  iree_hal_replay_recorder_t* recorder = device->recorder;
  recording_buffer_t* buffer = NULL;
  iree_status_t status = iree_allocator_malloc(replay_recorder_allocator(recorder), sizeof(*buffer), (void**)&buffer);
  if (iree_status_is_ok(status)) status = record_buffer_object(recorder, device->id, id, base);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(replay_recorder_allocator(recorder), buffer);
    iree_hal_buffer_release(base);
    return status;
  }
  iree_hal_buffer_placement_t placement = iree_hal_buffer_allocation_placement(base);
  placement.device = (iree_hal_device_t*)device;
  iree_hal_buffer_initialize(placement, &buffer->base, iree_hal_buffer_byte_length(base), 0,
                             iree_hal_buffer_byte_length(base), iree_hal_buffer_memory_type(base),
                             iree_hal_buffer_allowed_access(base), iree_hal_buffer_allowed_usage(base), &buffer_vtable,
                             &buffer->base);
  buffer->recorder = recorder;
  buffer->device_id = device->id;
  buffer->id = id;
  buffer->target = base;
  iree_hal_replay_recorder_retain(recorder);
  *out_buffer = &buffer->base;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Buffers that come from elsewhere
//===----------------------------------------------------------------------------------------------------------------===

static replay_allocator_allocate_buffer_t allocation_of(const iree_hal_buffer_params_t* params,
                                                        iree_device_size_t size) {
  return (replay_allocator_allocate_buffer_t){
      .allocation_size = size,
      .allocation_affinity = params->queue_affinity,
      .min_alignment = params->min_alignment,
      .usage = params->usage,
      .type = params->type,
      .access = params->access,
  };
}

static iree_status_t record_import(recording_device_t* device, uint64_t id, const iree_hal_buffer_params_t* params,
                                   iree_const_byte_span_t data, replay_call_t* out_call) {
  replay_allocator_allocate_buffer_t allocation = allocation_of(params, data.data_length);
  replay_allocator_import_buffer_t import = {
      .external_type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,
      .data_length = data.data_length,
  };
  memcpy(&import, &allocation, sizeof(allocation));
  // IREE's replay asks for both of what only one may be used, and writes through the same buffer.
  import.usage |= IREE_HAL_BUFFER_USAGE_DEFAULT;
  import.access |= IREE_HAL_MEMORY_ACCESS_ALL;
  *out_call = (replay_call_t){
      .operation = REPLAY_ALLOCATOR_IMPORT_BUFFER,
      .object_type = REPLAY_OBJECT_allocator,
      .payload_type = REPLAY_PAYLOAD_allocator_import_buffer,
      .device_id = device->id,
      .object_id = device->allocator_id,
      .related_id = id,
  };
  replay_call_add(out_call, &import, sizeof(import));
  replay_call_add(out_call, data.data, data.data_length);
  return replay_call_begin(device->recorder, out_call);
}

// Writes a buffer of others down as one that is imported.
static iree_status_t adopt(recording_device_t* device, iree_hal_buffer_t* buffer, uint64_t* out_id) {
  replay_call_t call;
  iree_hal_buffer_mapping_t mapping;
  iree_hal_buffer_params_t params = {
      .usage = iree_hal_buffer_allowed_usage(buffer),
      .access = iree_hal_buffer_allowed_access(buffer),
      .type = iree_hal_buffer_memory_type(buffer),
      .queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY,
  };
  IREE_RETURN_IF_ERROR(iree_hal_buffer_map_range(buffer, IREE_HAL_MAPPING_MODE_SCOPED, IREE_HAL_MEMORY_ACCESS_READ, 0,
                                                 IREE_HAL_WHOLE_BUFFER, &mapping),
                       "a buffer that no recording device made, to write down what it holds");
  *out_id = replay_recorder_next_id(device->recorder);
  iree_status_t status = record_import(
      device, *out_id, &params, iree_make_const_byte_span(mapping.contents.data, mapping.contents.data_length), &call);
  if (iree_status_is_ok(status)) status = record_buffer_object(device->recorder, device->id, *out_id, buffer);
  if (iree_status_is_ok(status)) status = replay_recorder_know(device->recorder, buffer, *out_id, 0);
  return iree_status_join(status, iree_hal_buffer_unmap_range(&mapping));
}

iree_status_t recording_buffer_resolve(recording_device_t* device, iree_hal_buffer_t* buffer, iree_device_size_t offset,
                                       iree_hal_buffer_t** out_base, iree_device_size_t* out_offset, uint64_t* out_id) {
  *out_base = NULL;
  *out_offset = offset;
  *out_id = 0;
  if (!buffer) return iree_ok_status();
  iree_hal_buffer_t* allocated = iree_hal_buffer_allocated_buffer(buffer);
  *out_offset = iree_hal_buffer_byte_offset(buffer) + offset;
  if (iree_hal_resource_is(allocated, &buffer_vtable)) {
    *out_base = cast(allocated)->target;
    *out_id = cast(allocated)->id;
    return iree_ok_status();
  }
  *out_base = allocated;
  *out_id = replay_recorder_find(device->recorder, allocated, NULL);
  return *out_id ? iree_ok_status() : adopt(device, allocated, out_id);
}

iree_status_t recording_ref_resolve(recording_device_t* device, iree_hal_buffer_ref_t ref,
                                    iree_hal_buffer_ref_t* out_base, replay_ref_t* out_ref) {
  *out_base = ref;
  *out_ref = (replay_ref_t){.offset = ref.offset, .length = ref.length, .slot = ref.buffer_slot};
  if (!ref.buffer) return iree_ok_status();
  if (ref.length == IREE_HAL_WHOLE_BUFFER) {
    iree_device_size_t offset = 0;
    IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, iree_hal_buffer_byte_length(ref.buffer), ref.offset,
                                                         ref.length, &offset, &out_base->length));
    out_ref->length = out_base->length;
  }
  iree_status_t status = recording_buffer_resolve(device, ref.buffer, ref.offset, &out_base->buffer, &out_base->offset,
                                                  &out_ref->buffer_id);
  out_ref->offset = out_base->offset;
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Allocators
//===----------------------------------------------------------------------------------------------------------------===

typedef struct recording_allocator_t {
  iree_hal_resource_t resource;
  iree_hal_replay_recorder_t* recorder;  // retained
  recording_device_t* device;            // which owns this
  iree_hal_allocator_t* base;            // retained
} recording_allocator_t;

static recording_allocator_t* allocator_cast(const iree_hal_allocator_t* allocator) {
  return (recording_allocator_t*)(uintptr_t)allocator;
}

static void allocator_destroy(iree_hal_allocator_t* allocator) {
  recording_allocator_t* self = allocator_cast(allocator);
  iree_hal_replay_recorder_t* recorder = self->recorder;
  iree_hal_allocator_release(self->base);
  iree_allocator_free(replay_recorder_allocator(recorder), self);
  iree_hal_replay_recorder_release(recorder);
}

static iree_allocator_t allocator_host_allocator(const iree_hal_allocator_t* allocator) {
  return iree_hal_allocator_host_allocator(allocator_cast(allocator)->base);
}

static replay_call_t allocator_call(const recording_allocator_t* self, uint16_t record_type, uint32_t operation) {
  return (replay_call_t){
      .record_type = record_type,
      .operation = operation,
      .object_type = REPLAY_OBJECT_allocator,
      .device_id = self->device->id,
      .object_id = self->device->allocator_id,
  };
}

static iree_status_t allocator_trim(iree_hal_allocator_t* allocator) {
  recording_allocator_t* self = allocator_cast(allocator);
  replay_call_t call = allocator_call(self, 0, REPLAY_ALLOCATOR_TRIM);
  IREE_RETURN_IF_ERROR(replay_call_begin(self->recorder, &call));
  return replay_call_end(self->recorder, &call, iree_hal_allocator_trim(self->base));
}

static void allocator_query_statistics(iree_hal_allocator_t* allocator,
                                       iree_hal_allocator_statistics_t* out_statistics) {
  iree_hal_allocator_query_statistics(allocator_cast(allocator)->base, out_statistics);
}

static iree_status_t allocator_query_memory_heaps(iree_hal_allocator_t* allocator, iree_host_size_t capacity,
                                                  iree_hal_allocator_memory_heap_t* heaps,
                                                  iree_host_size_t* out_count) {
  recording_allocator_t* self = allocator_cast(allocator);
  replay_call_t call = allocator_call(self, 0, REPLAY_ALLOCATOR_QUERY_MEMORY_HEAPS);
  IREE_RETURN_IF_ERROR(replay_call_begin(self->recorder, &call));
  return replay_call_end(self->recorder, &call,
                         iree_hal_allocator_query_memory_heaps(self->base, capacity, heaps, out_count));
}

static iree_hal_buffer_compatibility_t allocator_query_buffer_compatibility(iree_hal_allocator_t* allocator,
                                                                            iree_hal_buffer_params_t* params,
                                                                            iree_device_size_t* allocation_size) {
  return iree_hal_allocator_query_buffer_compatibility(allocator_cast(allocator)->base, *params, *allocation_size,
                                                       params, allocation_size);
}

static iree_status_t allocator_allocate_buffer(iree_hal_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                               iree_device_size_t allocation_size, iree_hal_buffer_t** out_buffer) {
  recording_allocator_t* self = allocator_cast(allocator);
  replay_allocator_allocate_buffer_t payload = allocation_of(params, allocation_size);
  replay_call_t call = allocator_call(self, 0, REPLAY_ALLOCATOR_ALLOCATE_BUFFER);
  call.related_id = replay_recorder_next_id(self->recorder);
  call.payload_type = REPLAY_PAYLOAD_allocator_allocate_buffer;
  replay_call_add(&call, &payload, sizeof(payload));
  IREE_RETURN_IF_ERROR(replay_call_begin(self->recorder, &call));
  iree_hal_buffer_t* base = NULL;
  IREE_RETURN_IF_ERROR(replay_call_end(
      self->recorder, &call, iree_hal_allocator_allocate_buffer(self->base, *params, allocation_size, &base)));
  return recording_buffer_create(self->device, call.related_id, base, out_buffer);
}

static iree_status_t allocator_import_buffer(iree_hal_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                             iree_hal_external_buffer_t* external_buffer,
                                             iree_hal_buffer_release_callback_t release_callback,
                                             iree_hal_buffer_t** out_buffer) {
  recording_allocator_t* self = allocator_cast(allocator);
  bool is_host = external_buffer->type == IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION;
  uint64_t id = replay_recorder_next_id(self->recorder);
  replay_call_t call = allocator_call(self, REPLAY_RECORD_unsupported, REPLAY_ALLOCATOR_IMPORT_BUFFER);
  call.related_id = id;
  iree_const_byte_span_t data =
      iree_make_const_byte_span(external_buffer->handle.host_allocation.ptr, external_buffer->size);
  IREE_RETURN_IF_ERROR(is_host ? record_import(self->device, id, params, data, &call)
                               : replay_call_begin(self->recorder, &call));
  iree_hal_buffer_t* base = NULL;
  IREE_RETURN_IF_ERROR(
      replay_call_end(self->recorder, &call,
                      iree_hal_allocator_import_buffer(self->base, *params, external_buffer, release_callback, &base)));
  return recording_buffer_create(self->device, id, base, out_buffer);
}

static iree_status_t allocator_export_buffer(iree_hal_allocator_t* allocator, iree_hal_buffer_t* buffer,
                                             iree_hal_external_buffer_type_t requested_type,
                                             iree_hal_external_buffer_flags_t requested_flags,
                                             iree_hal_external_buffer_t* out_external_buffer) {
  recording_allocator_t* self = allocator_cast(allocator);
  iree_hal_buffer_t *base = NULL, *part = NULL;
  iree_device_size_t offset = 0;
  replay_call_t call = allocator_call(self, REPLAY_RECORD_unsupported, REPLAY_ALLOCATOR_EXPORT_BUFFER);
  IREE_RETURN_IF_ERROR(recording_buffer_resolve(self->device, buffer, 0, &base, &offset, &call.related_id));
  IREE_RETURN_IF_ERROR(iree_hal_buffer_subspan(base, offset, iree_hal_buffer_byte_length(buffer),
                                               replay_recorder_allocator(self->recorder), &part));
  iree_status_t status = replay_call_begin(self->recorder, &call);
  if (iree_status_is_ok(status)) {
    status = replay_call_end(
        self->recorder, &call,
        iree_hal_allocator_export_buffer(self->base, part, requested_type, requested_flags, out_external_buffer));
  }
  iree_hal_buffer_release(part);
  return status;
}

static const iree_hal_allocator_vtable_t allocator_vtable = {
    .destroy = allocator_destroy,
    .host_allocator = allocator_host_allocator,
    .trim = allocator_trim,
    .query_statistics = allocator_query_statistics,
    .query_memory_heaps = allocator_query_memory_heaps,
    .query_buffer_compatibility = allocator_query_buffer_compatibility,
    .allocate_buffer = allocator_allocate_buffer,
    .import_buffer = allocator_import_buffer,
    .export_buffer = allocator_export_buffer,
};

iree_status_t recording_allocator_create(recording_device_t* device, iree_hal_allocator_t** out_allocator) {
  recording_allocator_t* self = NULL;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(replay_recorder_allocator(device->recorder), sizeof(*self), (void**)&self));
  iree_hal_resource_initialize(&allocator_vtable, &self->resource);
  self->recorder = device->recorder;
  self->device = device;
  self->base = iree_hal_device_allocator(device->base);
  iree_hal_replay_recorder_retain(device->recorder);
  iree_hal_allocator_retain(self->base);
  *out_allocator = (iree_hal_allocator_t*)self;
  return iree_ok_status();
}

void recording_allocator_replace(iree_hal_allocator_t* allocator, iree_hal_allocator_t* base) {
  recording_allocator_t* self = allocator_cast(allocator);
  iree_hal_allocator_retain(base);
  iree_hal_allocator_release(self->base);
  self->base = base;
}
