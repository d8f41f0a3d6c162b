// Replays calls that make objects, and what the host wrote into buffers and read from them.
#include "hal/replay/executor.h"

// Captured buffers are made so that the replay can always write and read them; where a device has no memory that is
// captured as the host's, its own has to do.
static iree_hal_buffer_params_t buffer_params(iree_hal_allocator_t* allocator,
                                              const replay_allocator_allocate_buffer_t* p) {
  iree_hal_buffer_params_t params = {
      .usage = p->usage | IREE_HAL_BUFFER_USAGE_TRANSFER,
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .type = p->type,
      .queue_affinity = p->allocation_affinity,
      .min_alignment = p->min_alignment,
  };
  iree_hal_buffer_compatibility_t can = iree_hal_allocator_query_buffer_compatibility(
      allocator, params, (iree_device_size_t)p->allocation_size, NULL, NULL);
  if (can & IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE) return params;
  const iree_hal_buffer_usage_t mapping = IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT |
                                          IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL |
                                          IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_SEQUENTIAL_WRITE;
  params.usage &= ~mapping;
  params.type = IREE_HAL_MEMORY_TYPE_OPTIMAL_FOR_DEVICE;
  return params;
}

static iree_status_t find_device(replay_executor_t* x, const plan_record_t* r, iree_hal_device_t** out_device) {
  replay_object_t* object = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, r->record.header.device_id, REPLAY_OBJECT_device, &object));
  *out_device = object->device;
  return iree_ok_status();
}

iree_status_t replay_write(replay_executor_t* x, const plan_record_t* r, iree_hal_buffer_t* buffer, uint64_t offset,
                           iree_const_byte_span_t data) {
  iree_hal_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(find_device(x, r, &device));
  if (!data.data_length) return iree_ok_status();
  return iree_hal_device_transfer_h2d(device, data.data, buffer, (iree_device_size_t)offset, data.data_length,
                                      IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT, iree_infinite_timeout());
}

//===----------------------------------------------------------------------------------------------------------------===
// Buffers
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t allocate(replay_executor_t* x, const plan_record_t* r, const replay_allocator_allocate_buffer_t* p,
                              replay_object_t** out_object) {
  iree_hal_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(find_device(x, r, &device));
  iree_hal_allocator_t* allocator = iree_hal_device_allocator(device);
  iree_hal_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(allocator, buffer_params(allocator, p),
                                                          (iree_device_size_t)p->allocation_size, &buffer));
  iree_status_t status = replay_place(x, r->record.header.related_object_id, REPLAY_OBJECT_buffer, out_object);
  if (iree_status_is_ok(status)) {
    (*out_object)->buffer = buffer;
  } else {
    iree_hal_buffer_release(buffer);
  }
  return status;
}

static iree_status_t allocate_buffer(replay_executor_t* x, const plan_record_t* r) {
  REPLAY_FIELDS(r, allocator_allocate_buffer, p);
  replay_object_t* object = NULL;
  return allocate(x, r, &p, &object);
}

static iree_status_t import_buffer(replay_executor_t* x, const plan_record_t* r) {
  REPLAY_FIELDS(r, allocator_import_buffer, p);
  replay_allocator_allocate_buffer_t allocation;
  memcpy(&allocation, &p, sizeof(allocation));
  replay_object_t* object = NULL;
  if (p.external_type != IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "an imported buffer of type %u cannot be replayed",
                            p.external_type);
  }
  IREE_RETURN_IF_ERROR(allocate(x, r, &allocation, &object));
  return replay_write(x, r, object->buffer, 0, replay_part(r, 0));
}

// The host wrote; what it only read or mapped is of no consequence, but that it had waited for the work before.
static iree_status_t host_write(replay_executor_t* x, const plan_record_t* r) {
  replay_object_t* object = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, r->record.header.object_id, REPLAY_OBJECT_buffer, &object));
  IREE_RETURN_IF_ERROR(replay_wait(x));
  if (r->record.header.payload_type != REPLAY_PAYLOAD_buffer_range_data) return iree_ok_status();
  REPLAY_FIELDS(r, buffer_range_data, p);
  return replay_write(x, r, object->buffer, p.byte_offset, replay_part(r, 0));
}

static iree_status_t report_read(replay_executor_t* x, const plan_record_t* r, iree_hal_buffer_t* buffer,
                                 uint64_t offset, uint8_t* data) {
  iree_hal_device_t* device = NULL;
  iree_const_byte_span_t captured = replay_part(r, 0);
  IREE_RETURN_IF_ERROR(find_device(x, r, &device));
  IREE_RETURN_IF_ERROR(iree_hal_device_transfer_d2h(device, buffer, (iree_device_size_t)offset, data,
                                                    captured.data_length, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
                                                    iree_infinite_timeout()));
  iree_hal_replay_read_event_t event = {
      .sequence_ordinal = r->record.header.sequence_ordinal,
      .buffer_id = r->record.header.object_id,
      .byte_offset = (iree_device_size_t)offset,
      .captured = captured,
      .replayed = iree_make_const_byte_span(data, captured.data_length),
  };
  return x->options->read_event_callback.fn(x->options->read_event_callback.user_data, &event);
}

// The host read, and the capture may have what.
static iree_status_t host_read(replay_executor_t* x, const plan_record_t* r) {
  replay_object_t* object = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, r->record.header.object_id, REPLAY_OBJECT_buffer, &object));
  IREE_RETURN_IF_ERROR(replay_wait(x));
  if (r->record.header.payload_type != REPLAY_PAYLOAD_buffer_range_data || !x->options->read_event_callback.fn) {
    return iree_ok_status();
  }
  REPLAY_FIELDS(r, buffer_range_data, p);
  uint8_t* data = NULL;
  if (!p.data_length) return iree_ok_status();
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_uninitialized(x->host_allocator, (iree_host_size_t)p.data_length, (void**)&data));
  iree_status_t status = report_read(x, r, object->buffer, p.byte_offset, data);
  iree_allocator_free(x->host_allocator, data);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Other objects
//===----------------------------------------------------------------------------------------------------------------===

// Puts a new object, whose reference is taken, in its place.
static iree_status_t place(replay_executor_t* x, const plan_record_t* r, uint32_t type, void* resource) {
  replay_object_t* object = NULL;
  iree_status_t status = replay_place(x, r->record.header.related_object_id, type, &object);
  if (iree_status_is_ok(status)) {
    object->buffer = resource;
  } else {
    iree_hal_resource_release(resource);
  }
  return status;
}

// Everything is checked and kept alive again, whatever the program promised.
static iree_status_t create_command_buffer(replay_executor_t* x, const plan_record_t* r, iree_hal_device_t* device) {
  REPLAY_FIELDS(r, command_buffer_object, p);
  const iree_hal_command_buffer_mode_t kept =
      IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT | IREE_HAL_COMMAND_BUFFER_MODE_ALLOW_INLINE_EXECUTION |
      IREE_HAL_COMMAND_BUFFER_MODE_RETAIN_PROFILE_METADATA | IREE_HAL_COMMAND_BUFFER_MODE_RETAIN_DISPATCH_METADATA;
  iree_hal_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(
      iree_hal_command_buffer_create(device, p.mode & kept, p.command_categories & IREE_HAL_COMMAND_CATEGORY_ANY,
                                     p.queue_affinity, (iree_host_size_t)p.binding_capacity, &command_buffer));
  return place(x, r, REPLAY_OBJECT_command_buffer, command_buffer);
}

static iree_status_t create_executable_cache(replay_executor_t* x, const plan_record_t* r, iree_hal_device_t* device) {
  REPLAY_FIELDS(r, executable_cache_object, p);
  iree_const_byte_span_t identifier = replay_part(r, 0);
  iree_hal_executable_cache_t* cache = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_executable_cache_create(
      device, iree_make_string_view((const char*)identifier.data, identifier.data_length), &cache));
  return place(x, r, REPLAY_OBJECT_executable_cache, cache);
}

static iree_status_t create_semaphore(replay_executor_t* x, const plan_record_t* r, iree_hal_device_t* device) {
  REPLAY_FIELDS(r, semaphore_object, p);
  // The replay waits and signals on the host.
  iree_hal_semaphore_flags_t flags =
      (p.flags & ~(uint64_t)IREE_HAL_SEMAPHORE_FLAG_DEVICE_LOCAL) | IREE_HAL_SEMAPHORE_FLAG_DEFAULT;
  iree_hal_semaphore_t* semaphore = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_create(device, p.queue_affinity, p.initial_value, flags, &semaphore));
  IREE_RETURN_IF_ERROR(place(x, r, REPLAY_OBJECT_semaphore, semaphore));
  replay_object_t* object = &x->objects[r->record.header.related_object_id];
  object->promised = p.initial_value;
  return iree_ok_status();
}

static iree_status_t create_event(replay_executor_t* x, const plan_record_t* r, iree_hal_device_t* device) {
  REPLAY_FIELDS(r, event_object, p);
  iree_hal_event_t* event = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_event_create(device, p.queue_affinity, p.flags, &event));
  return place(x, r, REPLAY_OBJECT_event, event);
}

iree_status_t replay_object_call(replay_executor_t* x, const plan_record_t* r) {
  iree_hal_device_t* device = NULL;
  IREE_RETURN_IF_ERROR(find_device(x, r, &device));
  switch (r->record.header.operation_code) {
    case REPLAY_DEVICE_CREATE_COMMAND_BUFFER:
      return create_command_buffer(x, r, device);
    case REPLAY_DEVICE_CREATE_EVENT:
      return create_event(x, r, device);
    case REPLAY_DEVICE_CREATE_EXECUTABLE_CACHE:
      return create_executable_cache(x, r, device);
    case REPLAY_DEVICE_CREATE_SEMAPHORE:
      return create_semaphore(x, r, device);
    case REPLAY_ALLOCATOR_ALLOCATE_BUFFER:
      return allocate_buffer(x, r);
    case REPLAY_ALLOCATOR_IMPORT_BUFFER:
      return import_buffer(x, r);
    case REPLAY_BUFFER_MAP_RANGE:
    case REPLAY_BUFFER_UNMAP_RANGE:
    case REPLAY_BUFFER_FLUSH_RANGE:
      return host_write(x, r);
    case REPLAY_BUFFER_INVALIDATE_RANGE:
      return host_read(x, r);
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "%s (%u) cannot be replayed",
                              replay_operation_name(r->record.header.operation_code), r->record.header.operation_code);
  }
}
