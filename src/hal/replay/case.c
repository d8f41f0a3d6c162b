// See case.h: records as a program's would be that makes a device's objects, fills buffers, dispatches and reads.
#include "iree/hal/replay/case.h"

#include "hal/replay/executor.h"
#include "hal/replay/recorder.h"

enum { ALIGNMENT = 256 };  // buffers begin where bindings that were aligned stay so

// A buffer of the case: bindings whose ranges overlap have one.
typedef struct region_t {
  const void* allocation;
  uint64_t start, end;  // in the allocation
  uint64_t id;          // of the buffer; 0: part of another region
} region_t;

typedef struct case_t {
  const iree_hal_replay_plan_t* plan;
  const iree_hal_replay_execute_options_t* options;
  iree_hal_replay_recorder_t* recorder;
  const plan_record_t *dispatch, *prepare;
  iree_host_size_t count;
  const iree_hal_replay_case_binding_t* bindings;
  region_t* regions;         // of each binding
  iree_host_size_t* places;  // the region of each binding, once they are merged
  uint64_t device, allocator, executable, semaphore;
} case_t;

//===----------------------------------------------------------------------------------------------------------------===
// What is captured
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t find_records(case_t* c, uint64_t sequence_ordinal) {
  for (uint64_t i = 0; i < c->plan->record_count && !c->dispatch; ++i) {
    const plan_record_t* r = &c->plan->records[i];
    if (r->record.header.sequence_ordinal == sequence_ordinal) c->dispatch = r;
  }
  if (!c->dispatch) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "the capture has no record %" PRIu64, sequence_ordinal);
  }
  REPLAY_FIELDS(c->dispatch, dispatch, p);
  if (p.binding_count != c->count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the dispatch has %" PRIu64 " bindings, not %" PRIhsz,
                            p.binding_count, c->count);
  }
  if (iree_hal_dispatch_uses_indirect_parameters(p.flags) || iree_hal_dispatch_uses_custom_arguments(p.flags)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "a dispatch with counts or arguments in memory cannot be a case of its own");
  }
  for (uint64_t i = 0; i < c->plan->record_count && !c->prepare; ++i) {
    const replay_record_header_t* header = &c->plan->records[i].record.header;
    bool prepares = header->record_type == REPLAY_RECORD_operation &&
                    header->operation_code == REPLAY_EXECUTABLE_CACHE_PREPARE_EXECUTABLE && !header->status_code;
    if (prepares && header->related_object_id == p.executable_id) c->prepare = &c->plan->records[i];
  }
  if (c->prepare) return iree_ok_status();
  return iree_make_status(IREE_STATUS_NOT_FOUND, "the capture has no executable %" PRIu64, p.executable_id);
}

// Merges regions that overlap until none do.
static void merge_regions(case_t* c) {
  for (iree_host_size_t i = 0; i < c->count; ++i) {
    const iree_hal_replay_case_binding_t* b = &c->bindings[i];
    c->regions[i] = (region_t){b->allocation, b->offset - b->offset % ALIGNMENT, b->offset + b->before.data_length, 0};
    c->places[i] = i;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (iree_host_size_t i = 0; i < c->count; ++i) {
      for (iree_host_size_t j = 0; j < i; ++j) {
        region_t *a = &c->regions[c->places[i]], *b = &c->regions[c->places[j]];
        if (a == b || a->allocation != b->allocation || a->start >= b->end || b->start >= a->end) continue;
        b->start = iree_min(a->start, b->start);
        b->end = iree_max(a->end, b->end);
        iree_host_size_t from = c->places[i], to = c->places[j];
        for (iree_host_size_t k = 0; k < c->count; ++k) c->places[k] = c->places[k] == from ? to : c->places[k];
        changed = true;
      }
    }
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

static replay_call_t call_of(const case_t* c, uint32_t operation, uint32_t object_type, uint64_t object_id,
                             uint32_t payload_type) {
  return (replay_call_t){.operation = operation,
                         .object_type = object_type,
                         .payload_type = payload_type,
                         .device_id = c->device,
                         .object_id = object_id};
}

static iree_status_t write_device(case_t* c) {
  c->device = replay_recorder_next_id(c->recorder);
  c->allocator = replay_recorder_next_id(c->recorder);
  IREE_RETURN_IF_ERROR(replay_record_object(c->recorder, 0, c->device, REPLAY_OBJECT_device, 0, NULL, 0));
  return replay_record_object(c->recorder, c->device, c->allocator, REPLAY_OBJECT_allocator, 0, NULL, 0);
}

// The executable's data as it is captured, or as it is replaced.
static iree_status_t choose_data(const case_t* c, iree_string_view_t* format, iree_const_byte_span_t* data) {
  const replay_record_header_t* header = &c->prepare->record.header;
  const iree_hal_replay_executable_substitution_callback_t* callback = &c->options->executable_substitution_callback;
  iree_const_byte_span_t captured_format = replay_part(c->prepare, 0);
  iree_hal_replay_executable_substitution_t substitution = {0};
  *format = iree_make_string_view((const char*)captured_format.data, captured_format.data_length);
  *data = replay_part(c->prepare, 1);
  if (!callback->fn) return iree_ok_status();
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.executable_format = *format;
  params.executable_data = *data;
  iree_hal_replay_executable_substitution_request_t request = {header->sequence_ordinal, header->device_id,
                                                               header->object_id, header->related_object_id, &params};
  IREE_RETURN_IF_ERROR(callback->fn(callback->user_data, &request, &substitution));
  if (!substitution.substitute) return iree_ok_status();
  if (!substitution.executable_format.size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a case with an executable in another's place needs that one's format: ID@FORMAT=file");
  }
  *format = substitution.executable_format;
  *data = substitution.executable_data;
  return iree_ok_status();
}

static iree_status_t write_executable(case_t* c) {
  uint64_t cache = replay_recorder_next_id(c->recorder);
  c->executable = replay_recorder_next_id(c->recorder);
  replay_executable_cache_object_t object = {.identifier_length = 0};
  replay_call_t call = call_of(c, REPLAY_DEVICE_CREATE_EXECUTABLE_CACHE, REPLAY_OBJECT_device, c->device,
                               REPLAY_PAYLOAD_executable_cache_object);
  call.related_id = cache;
  replay_call_add(&call, &object, sizeof(object));
  IREE_RETURN_IF_ERROR(replay_call_begin(c->recorder, &call));
  IREE_RETURN_IF_ERROR(replay_record_object(c->recorder, c->device, cache, REPLAY_OBJECT_executable_cache,
                                            REPLAY_PAYLOAD_executable_cache_object, &object, sizeof(object)));
  REPLAY_FIELDS(c->prepare, executable_prepare, p);
  iree_string_view_t format;
  iree_const_byte_span_t data;
  IREE_RETURN_IF_ERROR(choose_data(c, &format, &data));
  bool is_captured = data.data == replay_part(c->prepare, 1).data;
  p.queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY;
  p.executable_format_length = (uint32_t)format.size;
  p.executable_data_length = data.data_length;
  if (!is_captured) p.constant_count = 0;
  call = call_of(c, REPLAY_EXECUTABLE_CACHE_PREPARE_EXECUTABLE, REPLAY_OBJECT_executable_cache, cache,
                 REPLAY_PAYLOAD_executable_prepare);
  call.related_id = c->executable;
  replay_call_add(&call, &p, sizeof(p));
  replay_call_add(&call, format.data, format.size);
  replay_call_add(&call, data.data, data.data_length);
  if (is_captured) replay_call_add(&call, replay_part(c->prepare, 2).data, replay_part(c->prepare, 2).data_length);
  replay_call_add(&call, replay_part(c->prepare, 3).data, replay_part(c->prepare, 3).data_length);
  IREE_RETURN_IF_ERROR(replay_call_begin(c->recorder, &call));
  return replay_record_object(c->recorder, c->device, c->executable, REPLAY_OBJECT_executable, 0, NULL, 0);
}

static iree_status_t write_buffer(case_t* c, region_t* region) {
  region->id = replay_recorder_next_id(c->recorder);
  replay_allocator_allocate_buffer_t p = {
      .allocation_size = iree_max(region->end - region->start, 1),
      .allocation_affinity = IREE_HAL_QUEUE_AFFINITY_ANY,
      .min_alignment = ALIGNMENT,
      .usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING,
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE | IREE_HAL_MEMORY_TYPE_HOST_LOCAL,
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
  };
  replay_call_t call = call_of(c, REPLAY_ALLOCATOR_ALLOCATE_BUFFER, REPLAY_OBJECT_allocator, c->allocator,
                               REPLAY_PAYLOAD_allocator_allocate_buffer);
  call.related_id = region->id;
  replay_call_add(&call, &p, sizeof(p));
  IREE_RETURN_IF_ERROR(replay_call_begin(c->recorder, &call));
  replay_buffer_object_t object = {
      .allocation_size = p.allocation_size,
      .byte_length = p.allocation_size,
      .queue_affinity = p.allocation_affinity,
      .memory_type = p.type,
      .allowed_usage = p.usage,
      .allowed_access = p.access,
  };
  return replay_record_object(c->recorder, c->device, region->id, REPLAY_OBJECT_buffer, REPLAY_PAYLOAD_buffer_object,
                              &object, sizeof(object));
}

// What the host writes into a binding's range, or is to find there.
static iree_status_t write_range(case_t* c, iree_host_size_t i, bool is_read) {
  const region_t* region = &c->regions[c->places[i]];
  iree_const_byte_span_t data = is_read ? c->bindings[i].expected : c->bindings[i].before;
  if (!data.data_length) return iree_ok_status();
  replay_buffer_range_data_t range = {
      .byte_offset = c->bindings[i].offset - region->start,
      .byte_length = data.data_length,
      .data_length = data.data_length,
      .memory_access = is_read ? IREE_HAL_MEMORY_ACCESS_READ : IREE_HAL_MEMORY_ACCESS_WRITE,
  };
  replay_call_t call = call_of(c, is_read ? REPLAY_BUFFER_INVALIDATE_RANGE : REPLAY_BUFFER_FLUSH_RANGE,
                               REPLAY_OBJECT_buffer, region->id, REPLAY_PAYLOAD_buffer_range_data);
  replay_call_add(&call, &range, sizeof(range));
  replay_call_add(&call, data.data, data.data_length);
  return replay_call_begin(c->recorder, &call);
}

static iree_status_t write_buffers(case_t* c) {
  merge_regions(c);
  for (iree_host_size_t i = 0; i < c->count; ++i) {
    region_t* region = &c->regions[c->places[i]];
    if (!region->id) IREE_RETURN_IF_ERROR(write_buffer(c, region));
    IREE_RETURN_IF_ERROR(write_range(c, i, /*is_read=*/false));
  }
  return iree_ok_status();
}

static iree_status_t write_semaphore(case_t* c) {
  replay_semaphore_object_t object = {.queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY};
  c->semaphore = replay_recorder_next_id(c->recorder);
  replay_call_t call =
      call_of(c, REPLAY_DEVICE_CREATE_SEMAPHORE, REPLAY_OBJECT_device, c->device, REPLAY_PAYLOAD_semaphore_object);
  call.related_id = c->semaphore;
  replay_call_add(&call, &object, sizeof(object));
  IREE_RETURN_IF_ERROR(replay_call_begin(c->recorder, &call));
  return replay_record_object(c->recorder, c->device, c->semaphore, REPLAY_OBJECT_semaphore,
                              REPLAY_PAYLOAD_semaphore_object, &object, sizeof(object));
}

static iree_status_t write_dispatch(case_t* c, replay_ref_t* refs) {
  REPLAY_FIELDS(c->dispatch, dispatch, p);
  for (iree_host_size_t i = 0; i < c->count; ++i) {
    const region_t* region = &c->regions[c->places[i]];
    refs[i] =
        (replay_ref_t){region->id, c->bindings[i].offset - region->start, c->bindings[i].before.data_length, 0, 0};
  }
  replay_timepoint_t signal = {c->semaphore, 1};
  p.executable_id = c->executable;
  p.queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY;
  p.wait_semaphore_count = 0;
  p.signal_semaphore_count = 1;
  replay_call_t call =
      call_of(c, REPLAY_DEVICE_QUEUE_DISPATCH, REPLAY_OBJECT_device, c->device, REPLAY_PAYLOAD_dispatch);
  replay_call_add(&call, &p, sizeof(p));
  replay_call_add(&call, &signal, sizeof(signal));
  replay_call_add(&call, replay_part(c->dispatch, 2).data, replay_part(c->dispatch, 2).data_length);
  replay_call_add(&call, refs, c->count * sizeof(*refs));
  return replay_call_begin(c->recorder, &call);
}

static iree_status_t write_all(case_t* c, uint64_t sequence_ordinal, iree_allocator_t host_allocator) {
  replay_ref_t* refs = NULL;
  IREE_RETURN_IF_ERROR(find_records(c, sequence_ordinal));
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(host_allocator, c->count + 1, sizeof(*c->regions), (void**)&c->regions));
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(host_allocator, c->count + 1, sizeof(*c->places), (void**)&c->places));
  IREE_RETURN_IF_ERROR(write_device(c));
  IREE_RETURN_IF_ERROR(write_executable(c));
  IREE_RETURN_IF_ERROR(write_buffers(c));
  IREE_RETURN_IF_ERROR(write_semaphore(c));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(host_allocator, c->count + 1, sizeof(*refs), (void**)&refs));
  iree_status_t status = write_dispatch(c, refs);
  iree_allocator_free(host_allocator, refs);
  for (iree_host_size_t i = 0; i < c->count && iree_status_is_ok(status); ++i) {
    status = write_range(c, i, /*is_read=*/true);
  }
  return status;
}

iree_status_t iree_hal_replay_case_write(const iree_hal_replay_plan_t* plan, uint64_t sequence_ordinal,
                                         const iree_hal_replay_execute_options_t* options,
                                         iree_host_size_t binding_count, const iree_hal_replay_case_binding_t* bindings,
                                         iree_io_file_handle_t* file_handle, iree_allocator_t host_allocator) {
  static const iree_hal_replay_execute_options_t none;
  case_t c = {.plan = plan, .options = options ? options : &none, .count = binding_count, .bindings = bindings};
  IREE_RETURN_IF_ERROR(iree_hal_replay_recorder_create(file_handle, NULL, host_allocator, &c.recorder));
  iree_status_t status = write_all(&c, sequence_ordinal, host_allocator);
  if (iree_status_is_ok(status)) status = iree_hal_replay_recorder_close(c.recorder);
  iree_hal_replay_recorder_release(c.recorder);
  iree_allocator_free(host_allocator, c.regions);
  iree_allocator_free(host_allocator, c.places);
  return status;
}
