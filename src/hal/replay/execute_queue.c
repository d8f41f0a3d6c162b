// Replays submissions, and waits for them: see executor.h for which.
#include "hal/replay/executor.h"

//===----------------------------------------------------------------------------------------------------------------===
// What is runnable
//===----------------------------------------------------------------------------------------------------------------===

static replay_timepoint_t point_at(const plan_record_t* r, size_t part, uint64_t i) {
  replay_timepoint_t point;
  memcpy(&point, r->payload.parts[part].data + i * sizeof(point), sizeof(point));
  return point;
}

// A value that no work of the capture signals, or none that is still to come: the host did.
static bool is_hosts(const replay_executor_t* x, replay_timepoint_t point) {
  const plan_object_t* plan = &x->plan->objects[point.semaphore_id];
  if (x->objects[point.semaphore_id].promised >= point.value) return false;
  return point.value > plan->last_signal || plan->last_signaler < x->current;
}

static bool is_runnable(const replay_executor_t* x, const plan_record_t* r) {
  for (uint64_t i = 0; i < r->payload.parts[0].count; ++i) {
    replay_timepoint_t point = point_at(r, 0, i);
    if (x->objects[point.semaphore_id].promised < point.value) return false;
  }
  return true;
}

// Its signals will come.
static void promise(replay_executor_t* x, const plan_record_t* r) {
  for (uint64_t i = 0; i < r->payload.parts[1].count; ++i) {
    replay_timepoint_t point = point_at(r, 1, i);
    replay_object_t* object = &x->objects[point.semaphore_id];
    if (point.value <= object->promised) continue;
    object->promised = point.value;
    if (object->next_pending) continue;
    object->next_pending = x->first_pending ? x->first_pending : point.semaphore_id;
    x->first_pending = point.semaphore_id;
  }
}

// Goes through those that were not runnable until nothing changes.
static void promise_blocked(replay_executor_t* x) {
  for (bool changed = true; changed;) {
    uint64_t count = 0;
    changed = false;
    for (uint64_t i = 0; i < x->blocked_count; ++i) {
      if (is_runnable(x, x->blocked[i])) {
        promise(x, x->blocked[i]);
        changed = true;
      } else {
        x->blocked[count++] = x->blocked[i];
      }
    }
    x->blocked_count = count;
  }
}

static iree_status_t note_submitted(replay_executor_t* x, const plan_record_t* r) {
  if (is_runnable(x, r)) {
    promise(x, r);
    promise_blocked(x);
    return iree_ok_status();
  }
  if (x->blocked_count == x->blocked_capacity) {
    iree_host_size_t capacity = (iree_host_size_t)x->blocked_capacity;
    IREE_RETURN_IF_ERROR(
        iree_allocator_grow_array(x->host_allocator, 16, sizeof(*x->blocked), &capacity, (void**)&x->blocked));
    x->blocked_capacity = capacity;
  }
  x->blocked[x->blocked_count++] = r;
  return iree_ok_status();
}

static iree_status_t wait_pending(replay_executor_t* x) {
  while (x->first_pending) {
    uint64_t id = x->first_pending;
    replay_object_t* object = &x->objects[id];
    IREE_RETURN_IF_ERROR(iree_hal_semaphore_wait(object->semaphore, object->promised, iree_infinite_timeout(),
                                                 IREE_ASYNC_WAIT_FLAG_NONE));
    x->first_pending = object->next_pending == id ? 0 : object->next_pending;
    object->next_pending = 0;
    if (object->dying && !x->blocked_count) replay_object_free(x, object);
  }
  return iree_ok_status();
}

// Does what the host did: once all work that could end has, as values only grow.
static iree_status_t signal(replay_executor_t* x, replay_timepoint_t point) {
  replay_object_t* object = &x->objects[point.semaphore_id];
  if (object->promised >= point.value) return iree_ok_status();
  IREE_RETURN_IF_ERROR(wait_pending(x));
  IREE_RETURN_IF_ERROR(iree_hal_semaphore_signal(object->semaphore, point.value, NULL));
  object->promised = point.value;
  promise_blocked(x);
  return iree_ok_status();
}

// The first wait of work that is blocked which is the host's to signal.
static bool find_hosts(const replay_executor_t* x, replay_timepoint_t* out_point) {
  for (uint64_t i = 0; i < x->blocked_count; ++i) {
    for (uint64_t j = 0; j < x->blocked[i]->payload.parts[0].count; ++j) {
      *out_point = point_at(x->blocked[i], 0, j);
      if (is_hosts(x, *out_point)) return true;
    }
  }
  return false;
}

iree_status_t replay_wait(replay_executor_t* x) {
  replay_timepoint_t point;
  while (find_hosts(x, &point)) IREE_RETURN_IF_ERROR(signal(x, point));
  return wait_pending(x);
}

//===----------------------------------------------------------------------------------------------------------------===
// Lists of semaphores
//===----------------------------------------------------------------------------------------------------------------===

typedef struct lists_t {
  iree_hal_semaphore_list_t waits, signals;
  void* storage;
} lists_t;

static iree_status_t fill_list(replay_executor_t* x, const plan_record_t* r, size_t part,
                               iree_hal_semaphore_list_t* list) {
  for (uint64_t i = 0; i < r->payload.parts[part].count; ++i) {
    replay_timepoint_t point = point_at(r, part, i);
    replay_object_t* object = NULL;
    IREE_RETURN_IF_ERROR(replay_find(x, point.semaphore_id, REPLAY_OBJECT_semaphore, &object));
    if (point.value > IREE_HAL_SEMAPHORE_MAX_VALUE) {
      return iree_make_status(IREE_STATUS_DATA_LOSS, "semaphore %" PRIu64 " cannot have the value %" PRIu64,
                              point.semaphore_id, point.value);
    }
    list->semaphores[list->count] = object->semaphore;
    list->payload_values[list->count++] = point.value;
  }
  return iree_ok_status();
}

static iree_status_t make_lists(replay_executor_t* x, const plan_record_t* r, lists_t* out_lists) {
  iree_host_size_t waits = (iree_host_size_t)r->payload.parts[0].count;
  iree_host_size_t count = waits + (iree_host_size_t)r->payload.parts[1].count;
  memset(out_lists, 0, sizeof(*out_lists));
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc_array(x->host_allocator, count + 1, sizeof(uint64_t) * 2, &out_lists->storage));
  uint64_t* values = out_lists->storage;
  iree_hal_semaphore_t** semaphores = (iree_hal_semaphore_t**)(values + count);
  out_lists->waits = (iree_hal_semaphore_list_t){0, semaphores, values};
  out_lists->signals = (iree_hal_semaphore_list_t){0, semaphores + waits, values + waits};
  iree_status_t status = fill_list(x, r, 0, &out_lists->waits);
  if (iree_status_is_ok(status)) status = fill_list(x, r, 1, &out_lists->signals);
  if (!iree_status_is_ok(status)) iree_allocator_free(x->host_allocator, out_lists->storage);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Submissions
//===----------------------------------------------------------------------------------------------------------------===

typedef struct submission_t {
  replay_executor_t* x;
  const plan_record_t* r;
  iree_hal_device_t* device;
  iree_hal_semaphore_list_t waits, signals;
} submission_t;

static iree_status_t submit_alloca(const submission_t* s) {
  REPLAY_FIELDS(s->r, device_queue_alloca, p);
  iree_hal_buffer_params_t params = {
      .usage = p.usage | IREE_HAL_BUFFER_USAGE_TRANSFER,
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .type = p.type,
      .queue_affinity = p.allocation_affinity,
      .min_alignment = p.min_alignment,
  };
  iree_hal_buffer_t* buffer = NULL;
  replay_object_t* object = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_device_queue_alloca(s->device, p.queue_affinity, s->waits, s->signals, NULL, params,
                                                    (iree_device_size_t)p.allocation_size,
                                                    p.flags | IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME, &buffer));
  iree_status_t status = replay_place(s->x, s->r->record.header.related_object_id, REPLAY_OBJECT_buffer, &object);
  if (iree_status_is_ok(status)) {
    object->buffer = buffer;
  } else {
    iree_hal_buffer_release(buffer);
  }
  return status;
}

static iree_status_t submit_dealloca(const submission_t* s) {
  REPLAY_FIELDS(s->r, device_queue_dealloca, p);
  replay_object_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(replay_find(s->x, p.buffer_ref.buffer_id, REPLAY_OBJECT_buffer, &buffer));
  return iree_hal_device_queue_dealloca(s->device, p.queue_affinity, s->waits, s->signals, buffer->buffer, p.flags);
}

// A reference that has to name a buffer.
static iree_status_t direct_ref(const submission_t* s, const replay_ref_t* ref, iree_hal_buffer_ref_t* out_ref) {
  IREE_RETURN_IF_ERROR(replay_make_ref(s->x, ref, out_ref));
  if (out_ref->buffer) return iree_ok_status();
  return iree_make_status(IREE_STATUS_DATA_LOSS, "a queue's work names no buffer");
}

static iree_status_t submit_fill(const submission_t* s) {
  REPLAY_FIELDS(s->r, device_queue_fill, p);
  iree_hal_buffer_ref_t target;
  IREE_RETURN_IF_ERROR(direct_ref(s, &p.target_ref, &target));
  iree_const_byte_span_t pattern = replay_part(s->r, 2);
  return iree_hal_device_queue_fill(s->device, p.queue_affinity, s->waits, s->signals, target.buffer, target.offset,
                                    target.length, pattern.data, pattern.data_length, p.flags);
}

static iree_status_t submit_update(const submission_t* s) {
  REPLAY_FIELDS(s->r, device_queue_update, p);
  iree_hal_buffer_ref_t target;
  IREE_RETURN_IF_ERROR(direct_ref(s, &p.target_ref, &target));
  IREE_RETURN_IF_ERROR(replay_check_update(&target, p.data_length));
  return iree_hal_device_queue_update(s->device, p.queue_affinity, s->waits, s->signals, replay_part(s->r, 2).data, 0,
                                      target.buffer, target.offset, target.length, p.flags);
}

static iree_status_t submit_copy(const submission_t* s) {
  REPLAY_FIELDS(s->r, device_queue_copy, p);
  iree_hal_buffer_ref_t source, target;
  IREE_RETURN_IF_ERROR(direct_ref(s, &p.source_ref, &source));
  IREE_RETURN_IF_ERROR(direct_ref(s, &p.target_ref, &target));
  return iree_hal_device_queue_copy(s->device, p.queue_affinity, s->waits, s->signals, source.buffer, source.offset,
                                    target.buffer, target.offset, target.length, p.flags);
}

// Bytes that came with the capture are written by the host in the work's place.
static iree_status_t read_captured(const submission_t* s, iree_hal_buffer_ref_t target) {
  replay_executor_t* x = s->x;
  for (iree_host_size_t i = 0; i < s->waits.count; ++i) IREE_RETURN_IF_ERROR(signal(x, point_at(s->r, 0, i)));
  IREE_RETURN_IF_ERROR(wait_pending(x));
  IREE_RETURN_IF_ERROR(replay_write(x, s->r, target.buffer, target.offset, replay_part(s->r, 2)));
  return iree_hal_semaphore_list_signal(s->signals, NULL);
}

static iree_status_t submit_read(const submission_t* s) {
  REPLAY_FIELDS(s->r, device_queue_read, p);
  replay_object_t* file = NULL;
  iree_hal_buffer_ref_t target;
  IREE_RETURN_IF_ERROR(replay_find(s->x, p.source_file_id, REPLAY_OBJECT_file, &file));
  IREE_RETURN_IF_ERROR(direct_ref(s, &p.target_ref, &target));
  if (!file->in_ranges) {
    return iree_hal_device_queue_read(s->device, p.queue_affinity, s->waits, s->signals, file->file, p.source_offset,
                                      target.buffer, target.offset, target.length, p.flags);
  }
  if (p.captured_data_length != target.length) {
    return iree_make_status(IREE_STATUS_DATA_LOSS, "a read of %" PRIdsz " bytes was captured with %" PRIu64,
                            target.length, p.captured_data_length);
  }
  return read_captured(s, target);
}

static iree_status_t submit_write(const submission_t* s) {
  REPLAY_FIELDS(s->r, device_queue_write, p);
  replay_object_t* file = NULL;
  iree_hal_buffer_ref_t source;
  IREE_RETURN_IF_ERROR(replay_find(s->x, p.target_file_id, REPLAY_OBJECT_file, &file));
  IREE_RETURN_IF_ERROR(direct_ref(s, &p.source_ref, &source));
  if (file->in_ranges) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                            "a file of which only what was read was captured cannot be written");
  }
  return iree_hal_device_queue_write(s->device, p.queue_affinity, s->waits, s->signals, source.buffer, source.offset,
                                     file->file, p.target_offset, source.length, p.flags);
}

static iree_status_t submit_dispatch(const submission_t* s) {
  REPLAY_FIELDS(s->r, dispatch, p);
  replay_dispatch_call_t dispatch;
  IREE_RETURN_IF_ERROR(replay_make_dispatch(s->x, s->r, &dispatch));
  iree_status_t status = iree_hal_device_queue_dispatch(s->device, p.queue_affinity, s->waits, s->signals,
                                                        dispatch.executable, dispatch.function, dispatch.config,
                                                        dispatch.constants, dispatch.bindings, dispatch.flags);
  replay_free_dispatch(s->x, &dispatch);
  return status;
}

static iree_status_t submit_execute(const submission_t* s) {
  REPLAY_FIELDS(s->r, device_queue_execute, p);
  replay_object_t* commands = NULL;
  iree_hal_buffer_ref_t* refs = NULL;
  if (p.command_buffer_id) {
    IREE_RETURN_IF_ERROR(replay_find(s->x, p.command_buffer_id, REPLAY_OBJECT_command_buffer, &commands));
  }
  IREE_RETURN_IF_ERROR(replay_make_refs(s->x, s->r, 2, &refs));
  iree_hal_buffer_binding_t* bindings = NULL;
  iree_status_t status = iree_allocator_malloc_array(s->x->host_allocator, (iree_host_size_t)p.binding_count + 1,
                                                     sizeof(*bindings), (void**)&bindings);
  for (uint64_t i = 0; i < p.binding_count && iree_status_is_ok(status); ++i) {
    bindings[i] = (iree_hal_buffer_binding_t){refs[i].buffer, refs[i].offset, refs[i].length};
  }
  if (iree_status_is_ok(status)) {
    iree_hal_buffer_binding_table_t table = {(iree_host_size_t)p.binding_count, bindings};
    status = iree_hal_device_queue_execute(s->device, p.queue_affinity, s->waits, s->signals,
                                           commands ? commands->command_buffer : NULL, table,
                                           p.flags & ~IREE_HAL_EXECUTE_FLAG_BORROW_BINDING_TABLE_LIFETIME);
  }
  iree_allocator_free(s->x->host_allocator, bindings);
  iree_allocator_free(s->x->host_allocator, refs);
  return status;
}

// Runs what the submission asks for command by command, and then signals in its place.
static iree_status_t submit_steps(const submission_t* s) {
  if (!is_runnable(s->x, s->r)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "a replay step by step cannot run work that was submitted before what it waits for");
  }
  IREE_RETURN_IF_ERROR(wait_pending(s->x));
  IREE_RETURN_IF_ERROR(replay_step(s->x, s->r, s->device));
  return iree_hal_semaphore_list_signal(s->signals, NULL);
}

static iree_status_t submit(const submission_t* s) {
  uint32_t code = s->r->record.header.operation_code;
  bool has_dispatches = code == REPLAY_DEVICE_QUEUE_DISPATCH || code == REPLAY_DEVICE_QUEUE_EXECUTE;
  if (has_dispatches && replay_is_stepped(s->x)) return submit_steps(s);
  switch (code) {
    case REPLAY_DEVICE_QUEUE_ALLOCA:
      return submit_alloca(s);
    case REPLAY_DEVICE_QUEUE_DEALLOCA:
      return submit_dealloca(s);
    case REPLAY_DEVICE_QUEUE_FILL:
      return submit_fill(s);
    case REPLAY_DEVICE_QUEUE_UPDATE:
      return submit_update(s);
    case REPLAY_DEVICE_QUEUE_COPY:
      return submit_copy(s);
    case REPLAY_DEVICE_QUEUE_READ:
      return submit_read(s);
    case REPLAY_DEVICE_QUEUE_WRITE:
      return submit_write(s);
    case REPLAY_DEVICE_QUEUE_DISPATCH:
      return submit_dispatch(s);
    case REPLAY_DEVICE_QUEUE_EXECUTE:
      return submit_execute(s);
    default:
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "%s cannot be replayed", replay_operation_name(code));
  }
}

static iree_status_t submit_with_lists(submission_t* s) {
  lists_t lists;
  IREE_RETURN_IF_ERROR(make_lists(s->x, s->r, &lists));
  s->waits = lists.waits;
  s->signals = lists.signals;
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < s->waits.count && iree_status_is_ok(status); ++i) {
    replay_timepoint_t point = point_at(s->r, 0, i);
    if (is_hosts(s->x, point)) status = signal(s->x, point);
  }
  if (iree_status_is_ok(status)) status = submit(s);
  if (iree_status_is_ok(status)) status = note_submitted(s->x, s->r);
  iree_allocator_free(s->x->host_allocator, lists.storage);
  return status;
}

// Payloads of submissions begin with their waits and signals; a flush has none.
static iree_status_t check_lists(const plan_record_t* r) {
  const replay_payload_kind_t* kind = r->payload.kind;
  if (kind && kind->parts[0].name && strcmp(kind->parts[0].name, "wait") == 0) return iree_ok_status();
  return iree_make_status(IREE_STATUS_DATA_LOSS, "%s has the payload %s",
                          replay_operation_name(r->record.header.operation_code),
                          replay_payload_name(r->record.header.payload_type));
}

iree_status_t replay_submit(replay_executor_t* x, const plan_record_t* r) {
  submission_t s = {.x = x, .r = r};
  replay_object_t* device = NULL;
  IREE_RETURN_IF_ERROR(replay_find(x, r->record.header.device_id, REPLAY_OBJECT_device, &device));
  s.device = device->device;
  if (r->record.header.operation_code == REPLAY_DEVICE_QUEUE_FLUSH) {
    return iree_hal_device_queue_flush(s.device, IREE_HAL_QUEUE_AFFINITY_ANY);
  }
  IREE_RETURN_IF_ERROR(check_lists(r));
  return submit_with_lists(&s);
}
