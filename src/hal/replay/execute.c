// Replays: plans, the objects of a replay, and the loop over its records.
#include "hal/replay/executor.h"

//===----------------------------------------------------------------------------------------------------------------===
// Plans
//===----------------------------------------------------------------------------------------------------------------===

// Objects of a record: more would be numbers that nothing gave out.
enum { OBJECTS_PER_RECORD = 4, SPARE_OBJECTS = 64 };

typedef struct count_t {
  uint64_t records, highest;
} count_t;

static iree_status_t note_highest(void* user_data, uint64_t id) {
  count_t* count = user_data;
  count->highest = iree_max(count->highest, id);
  return iree_ok_status();
}

static iree_status_t count_records(replay_reader_t reader, count_t* out_count) {
  replay_record_t record;
  replay_payload_t payload;
  *out_count = (count_t){0};
  for (bool found = true;;) {
    IREE_RETURN_IF_ERROR(replay_reader_next(&reader, &found, &record, &payload));
    if (!found) break;
    IREE_RETURN_IF_ERROR(replay_visit_ids(&record, &payload, note_highest, out_count));
    ++out_count->records;
  }
  if (out_count->highest / OBJECTS_PER_RECORD > out_count->records + SPARE_OBJECTS) {
    return iree_make_status(IREE_STATUS_DATA_LOSS,
                            "the replay file names object %" PRIu64 ", but has %" PRIu64 " records", out_count->highest,
                            out_count->records);
  }
  return iree_ok_status();
}

typedef struct use_t {
  iree_hal_replay_plan_t* plan;
  uint64_t index;
} use_t;

// Goes from the last record to the first: what is met first is the last use.
static iree_status_t note_use(void* user_data, uint64_t id) {
  use_t* use = user_data;
  plan_object_t* object = &use->plan->objects[id];
  plan_record_t* record = &use->plan->records[use->index];
  if (!id || object->last_use) return iree_ok_status();
  object->last_use = use->index + 1;
  object->next_dying = record->first_dying;
  record->first_dying = id;
  return iree_ok_status();
}

// Where the signals are among a payload's parts; with false for other records.
static bool has_signals(const plan_record_t* r) {
  return r->payload.kind && r->payload.kind->parts[0].name && strcmp(r->payload.kind->parts[0].name, "wait") == 0;
}

static void note_signals(iree_hal_replay_plan_t* plan, const plan_record_t* r) {
  if (!has_signals(r) || r->record.header.status_code) return;
  for (uint64_t i = 0; i < r->payload.parts[1].count; ++i) {
    replay_timepoint_t point;
    memcpy(&point, r->payload.parts[1].data + i * sizeof(point), sizeof(point));
    plan_object_t* object = &plan->objects[point.semaphore_id];
    object->last_signal = iree_max(object->last_signal, point.value);
    object->last_signaler = r->record.header.sequence_ordinal;
  }
}

static iree_status_t fill_plan(iree_hal_replay_plan_t* plan, replay_reader_t reader) {
  for (uint64_t i = 0; i < plan->record_count; ++i) {
    bool found = false;
    IREE_RETURN_IF_ERROR(replay_reader_next(&reader, &found, &plan->records[i].record, &plan->records[i].payload));
    note_signals(plan, &plan->records[i]);
  }
  for (uint64_t i = plan->record_count; i > 0; --i) {
    use_t use = {plan, i - 1};
    IREE_RETURN_IF_ERROR(replay_visit_ids(&plan->records[i - 1].record, &plan->records[i - 1].payload, note_use, &use));
  }
  return iree_ok_status();
}

iree_status_t iree_hal_replay_plan_create(iree_const_byte_span_t file_contents, iree_allocator_t host_allocator,
                                          iree_hal_replay_plan_t** out_plan) {
  *out_plan = NULL;
  replay_reader_t reader;
  count_t count;
  IREE_RETURN_IF_ERROR(replay_reader_open(file_contents, &reader));
  IREE_RETURN_IF_ERROR(count_records(reader, &count));
  iree_hal_replay_plan_t* plan = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*plan), (void**)&plan));
  plan->host_allocator = host_allocator;
  plan->record_count = count.records;
  plan->object_count = count.highest + 1;
  iree_status_t status = iree_allocator_malloc_array(host_allocator, (iree_host_size_t)plan->record_count + 1,
                                                     sizeof(*plan->records), (void**)&plan->records);
  if (iree_status_is_ok(status)) {
    status = iree_allocator_malloc_array(host_allocator, (iree_host_size_t)plan->object_count, sizeof(*plan->objects),
                                         (void**)&plan->objects);
  }
  if (iree_status_is_ok(status)) status = fill_plan(plan, reader);
  if (!iree_status_is_ok(status)) {
    iree_hal_replay_plan_destroy(plan);
    return status;
  }
  *out_plan = plan;
  return iree_ok_status();
}

void iree_hal_replay_plan_destroy(iree_hal_replay_plan_t* plan) {
  if (!plan) return;
  iree_allocator_free(plan->host_allocator, plan->records);
  iree_allocator_free(plan->host_allocator, plan->objects);
  iree_allocator_free(plan->host_allocator, plan);
}

//===----------------------------------------------------------------------------------------------------------------===
// Objects
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t replay_find(replay_executor_t* x, uint64_t id, uint32_t type, replay_object_t** out_object) {
  *out_object = &x->objects[id];
  if (id && x->objects[id].type == type) return iree_ok_status();
  return iree_make_status(IREE_STATUS_DATA_LOSS, "object %" PRIu64 " is no %s but %s", id, replay_object_name(type),
                          replay_object_name(x->objects[id].type));
}

iree_status_t replay_place(replay_executor_t* x, uint64_t id, uint32_t type, replay_object_t** out_object) {
  *out_object = &x->objects[id];
  if (!id || x->objects[id].type) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "object %" PRIu64 " is made, but it is a %s", id,
                            replay_object_name(x->objects[id].type));
  }
  memset(*out_object, 0, sizeof(**out_object));
  (*out_object)->type = type;
  return iree_ok_status();
}

void replay_object_free(replay_executor_t* x, replay_object_t* object) {
  if (object->type == REPLAY_OBJECT_executable) iree_allocator_free(x->host_allocator, object->functions);
  bool owned = object->type && object->type != REPLAY_OBJECT_device && object->type != REPLAY_OBJECT_allocator;
  // All HAL objects begin with what counts references.
  if (owned) iree_hal_resource_release(object->buffer);
  memset(object, 0, sizeof(*object));
}

// Those whose last use was this record. What command buffers hold is looked at again when they run step by step.
static void free_dying(replay_executor_t* x, const plan_record_t* r) {
  uint32_t code = r->record.header.operation_code;
  bool is_command = code >= REPLAY_COMMAND_BUFFER_BEGIN && code <= REPLAY_COMMAND_BUFFER_DISPATCH;
  if (is_command && replay_is_stepped(x)) return;
  for (uint64_t id = r->first_dying; id; id = x->plan->objects[id].next_dying) {
    replay_object_t* object = &x->objects[id];
    if (object->type == REPLAY_OBJECT_semaphore && (object->next_pending || x->blocked_count)) {
      object->dying = true;
    } else if (object->type != REPLAY_OBJECT_device && object->type != REPLAY_OBJECT_allocator) {
      replay_object_free(x, object);
    }
  }
}

iree_status_t replay_fields(const plan_record_t* r, uint32_t type, void* out_fields, size_t size) {
  if (r->payload.kind != replay_payload_kind(type)) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "%s needs the payload %s, not %s",
                            replay_operation_name(r->record.header.operation_code), replay_payload_name(type),
                            replay_payload_name(r->record.header.payload_type));
  }
  memcpy(out_fields, r->payload.fields, size);
  return iree_ok_status();
}

iree_status_t replay_make_ref(replay_executor_t* x, const replay_ref_t* ref, iree_hal_buffer_ref_t* out_ref) {
  replay_object_t* object = NULL;
  *out_ref = iree_hal_make_indirect_buffer_ref(ref->slot & 0xFFFFFF, (iree_device_size_t)ref->offset,
                                               (iree_device_size_t)ref->length);
  if (ref->slot >> 24) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "slot %u is above all that there can be", ref->slot);
  }
  if (!ref->buffer_id) return iree_ok_status();
  IREE_RETURN_IF_ERROR(replay_find(x, ref->buffer_id, REPLAY_OBJECT_buffer, &object));
  out_ref->buffer = object->buffer;
  out_ref->buffer_slot = 0;
  return iree_ok_status();
}

iree_status_t replay_check_update(const iree_hal_buffer_ref_t* target, uint64_t data_length) {
  if (data_length == target->length) return iree_ok_status();
  return iree_make_status(IREE_STATUS_DATA_LOSS, "an update of %" PRIdsz " bytes has %" PRIu64, target->length,
                          data_length);
}

iree_status_t replay_make_refs(replay_executor_t* x, const plan_record_t* r, size_t part,
                               iree_hal_buffer_ref_t** out_refs) {
  uint64_t count = r->payload.parts[part].count;
  *out_refs = NULL;
  if (!count) return iree_ok_status();
  iree_hal_buffer_ref_t* refs = NULL;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(x->host_allocator, (iree_host_size_t)count, sizeof(*refs), (void**)&refs));
  iree_status_t status = iree_ok_status();
  for (uint64_t i = 0; i < count && iree_status_is_ok(status); ++i) {
    replay_ref_t ref;
    memcpy(&ref, r->payload.parts[part].data + i * sizeof(ref), sizeof(ref));
    status = replay_make_ref(x, &ref, &refs[i]);
  }
  if (iree_status_is_ok(status)) {
    *out_refs = refs;
  } else {
    iree_allocator_free(x->host_allocator, refs);
  }
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Records
//===----------------------------------------------------------------------------------------------------------------===

// Devices take their places in the order in which they were captured.
static iree_status_t place_device(replay_executor_t* x, const replay_record_header_t* header) {
  replay_object_t* object = NULL;
  iree_host_size_t count = iree_hal_device_group_device_count(x->group);
  if (x->next_device >= count) return iree_ok_status();  // counted, and told at the end
  IREE_RETURN_IF_ERROR(replay_place(x, header->object_id, REPLAY_OBJECT_device, &object));
  object->device = iree_hal_device_group_device_at(x->group, x->next_device);
  return iree_ok_status();
}

static iree_status_t place_allocator(replay_executor_t* x, const replay_record_header_t* header) {
  replay_object_t *device = NULL, *object = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, header->device_id, REPLAY_OBJECT_device, &device));
  IREE_RETURN_IF_ERROR(replay_place(x, header->object_id, REPLAY_OBJECT_allocator, &object));
  object->allocator = iree_hal_device_allocator(device->device);
  return iree_ok_status();
}

static iree_status_t report_scope(replay_executor_t* x, const plan_record_t* r, bool begins) {
  REPLAY_FIELDS(r, replay_scope, scope);
  if (!begins) IREE_RETURN_IF_ERROR(replay_wait(x));  // its work is part of it
  if (!x->options->scope_event_callback.fn) return iree_ok_status();
  iree_hal_replay_scope_event_t event = {
      .sequence_ordinal = r->record.header.sequence_ordinal,
      .type = begins ? IREE_HAL_REPLAY_SCOPE_EVENT_TYPE_BEGIN : IREE_HAL_REPLAY_SCOPE_EVENT_TYPE_END,
      .name = iree_make_string_view((const char*)r->payload.parts[0].data, (iree_host_size_t)scope.name_length),
  };
  return x->options->scope_event_callback.fn(x->options->scope_event_callback.user_data, &event);
}

static iree_status_t unsupported(const plan_record_t* r) {
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "the capture has %s, which cannot be replayed",
                          replay_operation_name(r->record.header.operation_code));
}

static iree_status_t replay_operation(replay_executor_t* x, const plan_record_t* r) {
  uint32_t code = r->record.header.operation_code;
  switch (code) {
    case REPLAY_SCOPE_BEGIN:
    case REPLAY_SCOPE_END:
      return report_scope(x, r, code == REPLAY_SCOPE_BEGIN);
    // What asks for facts changes nothing; trimming, profiles and capture tools are the replay's own affair.
    case REPLAY_DEVICE_TRIM:
    case REPLAY_DEVICE_QUERY_I64:
    case REPLAY_DEVICE_QUERY_CAPABILITIES:
    case REPLAY_DEVICE_REFINE_TOPOLOGY_EDGE:
    case REPLAY_DEVICE_ASSIGN_TOPOLOGY_INFO:
    case REPLAY_DEVICE_QUERY_QUEUE_POOL_BACKEND:
    case REPLAY_DEVICE_PROFILING_BEGIN:
    case REPLAY_DEVICE_PROFILING_FLUSH:
    case REPLAY_DEVICE_PROFILING_END:
    case REPLAY_DEVICE_EXTERNAL_CAPTURE_BEGIN:
    case REPLAY_DEVICE_EXTERNAL_CAPTURE_END:
    case REPLAY_ALLOCATOR_TRIM:
    case REPLAY_ALLOCATOR_QUERY_MEMORY_HEAPS:
    case REPLAY_EXECUTABLE_CACHE_INFER_FORMAT:
    case REPLAY_EXECUTABLE_CACHE_CAN_PREPARE_FORMAT:
    case REPLAY_EXECUTABLE_FUNCTION_COUNT:
    case REPLAY_EXECUTABLE_FUNCTION_INFO:
    case REPLAY_EXECUTABLE_FUNCTION_PARAMETERS:
    case REPLAY_EXECUTABLE_LOOKUP_FUNCTION_BY_NAME:
      return iree_ok_status();
    case REPLAY_EXECUTABLE_CACHE_PREPARE_EXECUTABLE:
      return replay_prepare_executable(x, r);
    case REPLAY_DEVICE_IMPORT_FILE:
      return replay_import_file(x, r);
    default:
      if (code >= REPLAY_COMMAND_BUFFER_BEGIN && code <= REPLAY_COMMAND_BUFFER_DISPATCH) return replay_command(x, r);
      if (code >= REPLAY_DEVICE_QUEUE_ALLOCA && code <= REPLAY_DEVICE_QUEUE_FLUSH) return replay_submit(x, r);
      return replay_object_call(x, r);
  }
}

static iree_status_t replay_record(replay_executor_t* x, const plan_record_t* r) {
  const replay_record_header_t* header = &r->record.header;
  if (header->status_code) return iree_ok_status();  // it failed: nothing came of it
  switch (header->record_type) {
    case REPLAY_RECORD_object: {
      if (header->object_type == REPLAY_OBJECT_allocator) return place_allocator(x, header);
      if (header->object_type != REPLAY_OBJECT_device) return iree_ok_status();
      iree_status_t status = place_device(x, header);
      ++x->next_device;
      if (x->next_device <= iree_hal_device_group_device_count(x->group)) return status;
      return iree_status_join(
          status, iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                                   "more devices were captured than the %" PRIhsz " of the target device group",
                                   iree_hal_device_group_device_count(x->group)));
    }
    case REPLAY_RECORD_operation:
      return replay_operation(x, r);
    case REPLAY_RECORD_unsupported:
      return unsupported(r);
    default:
      return iree_ok_status();
  }
}

// All records, the end of all work, and whether all devices were needed.
static iree_status_t replay_records(replay_executor_t* x) {
  for (uint64_t i = 0; i < x->plan->record_count; ++i) {
    const plan_record_t* r = &x->plan->records[i];
    x->current = i;
    iree_status_t status = replay_record(x, r);
    if (!iree_status_is_ok(status)) {
      return iree_status_annotate_f(status, "replaying record %" PRIu64 " (%s) at offset %" PRIu64,
                                    r->record.header.sequence_ordinal,
                                    replay_operation_name(r->record.header.operation_code), r->record.offset);
    }
    free_dying(x, r);
  }
  x->current = x->plan->record_count;
  IREE_RETURN_IF_ERROR(replay_wait(x));
  iree_host_size_t count = iree_hal_device_group_device_count(x->group);
  if (x->next_device == count) return iree_ok_status();
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                          "replay captured %" PRIhsz " device(s) but the target device group contains %" PRIhsz
                          " device(s)",
                          x->next_device, count);
}

iree_status_t iree_hal_replay_plan_execute(const iree_hal_replay_plan_t* plan, iree_hal_device_group_t* device_group,
                                           const iree_hal_replay_execute_options_t* options,
                                           iree_allocator_t host_allocator) {
  static const iree_hal_replay_execute_options_t none;
  replay_executor_t x = {
      .plan = plan, .options = options ? options : &none, .group = device_group, .host_allocator = host_allocator};
  if (x.options->flags) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "replay execute flags are not known");
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(host_allocator, (iree_host_size_t)plan->object_count,
                                                   sizeof(*x.objects), (void**)&x.objects));
  iree_status_t status = replay_records(&x);
  // What was submitted uses no memory of the replay's own, and ends by itself.
  for (uint64_t i = 0; i < plan->object_count; ++i) replay_object_free(&x, &x.objects[i]);
  iree_allocator_free(host_allocator, x.objects);
  iree_allocator_free(host_allocator, x.blocked);
  return status;
}

iree_status_t iree_hal_replay_execute_file(iree_const_byte_span_t file_contents, iree_hal_device_group_t* device_group,
                                           const iree_hal_replay_execute_options_t* options,
                                           iree_allocator_t host_allocator) {
  iree_hal_replay_plan_t* plan = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_replay_plan_create(file_contents, host_allocator, &plan));
  iree_status_t status = iree_hal_replay_plan_execute(plan, device_group, options, host_allocator);
  iree_hal_replay_plan_destroy(plan);
  return status;
}
