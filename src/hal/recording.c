// Recordings, and the command buffers around them.
#include "hal/recording.h"

#include "hal/detail.h"

#define DEFAULT_BLOCK_SIZE ((size_t)32 * 1024)
#define MAX_KEPT_BLOCK ((size_t)1 << 20)  // bytes that are kept to be recorded anew
enum { MIN_CAPACITY = 16, RECENT_RESOURCES = 8 };

struct hal_recording_block_t {
  hal_recording_block_t* next;
  size_t length, capacity;
  iree_alignas(16) uint8_t data[];
};

//===----------------------------------------------------------------------------------------------------------------===
// Storage
//===----------------------------------------------------------------------------------------------------------------===

// Returns how many bytes there were room for.
static size_t free_blocks(hal_recording_t* recording) {
  size_t capacity = 0;
  for (hal_recording_block_t *block = recording->blocks, *next; block; block = next) {
    next = block->next;
    capacity += block->capacity;
    iree_allocator_free(recording->host_allocator, block);
  }
  recording->blocks = NULL;
  return capacity;
}

static void release_resources(hal_recording_t* recording) {
  for (iree_host_size_t i = 0; i < recording->resource_count; ++i) iree_hal_resource_release(recording->resources[i]);
  recording->resource_count = 0;
}

// Forgets everything but memory.
static void recording_reset(hal_recording_t* recording) {
  release_resources(recording);
  recording->count = 0;
  recording->waits = false;
  // One block, so that the next recording, if it is like this one, finds room in it.
  if (recording->blocks && (recording->blocks->next || recording->blocks->capacity > MAX_KEPT_BLOCK)) {
    size_t capacity = free_blocks(recording);
    recording->block_size = iree_min(capacity, MAX_KEPT_BLOCK);
  }
  if (recording->blocks) recording->blocks->length = 0;
}

static void recording_free_commands(hal_recording_t* recording) {
  iree_allocator_free(recording->host_allocator, recording->commands);
  recording->commands = NULL;
  recording->count = recording->capacity = 0;
}

static void recording_deinitialize(hal_recording_t* recording) {
  release_resources(recording);
  free_blocks(recording);
  recording_free_commands(recording);
  iree_allocator_free(recording->host_allocator, recording->resources);
}

// A copy that lives as long as the recording.
static iree_status_t copy_bytes(hal_recording_t* recording, const void* data, size_t size, const void** out_copy) {
  hal_recording_block_t* block = recording->blocks;
  *out_copy = NULL;
  if (size == 0) return iree_ok_status();
  if (!block || size > block->capacity - block->length) {
    size_t capacity = iree_max(recording->block_size, size);
    IREE_RETURN_IF_ERROR(
        iree_allocator_malloc_uninitialized(recording->host_allocator, sizeof(*block) + capacity, (void**)&block));
    *block = (hal_recording_block_t){.next = recording->blocks, .capacity = capacity};
    recording->blocks = block;
  }
  *out_copy = memcpy(block->data + block->length, data, size);
  block->length = iree_min(block->capacity, iree_host_align(block->length + size, 16));
  return iree_ok_status();
}

static iree_status_t retain(hal_recording_t* recording, void* resource) {
  if (!resource || !recording->retains) return iree_ok_status();
  // Neighbouring commands mostly name the same objects.
  iree_host_size_t count = recording->resource_count;
  for (iree_host_size_t i = 0; i < iree_min(count, RECENT_RESOURCES); ++i) {
    if (recording->resources[count - 1 - i] == resource) return iree_ok_status();
  }
  if (count == recording->resource_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(recording->host_allocator, MIN_CAPACITY,
                                                   sizeof(*recording->resources), &recording->resource_capacity,
                                                   (void**)&recording->resources));
  }
  iree_hal_resource_retain(resource);
  recording->resources[recording->resource_count++] = resource;
  return iree_ok_status();
}

static iree_status_t append(hal_recording_t* recording, const hal_command_t* command) {
  if (recording->count == recording->capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(recording->host_allocator, MIN_CAPACITY,
                                                   sizeof(*recording->commands), &recording->capacity,
                                                   (void**)&recording->commands));
  }
  hal_command_t* copy = &recording->commands[recording->count++];
  *copy = *command;
  copy->waits = recording->waits;
  recording->waits = false;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

typedef struct recorded_t {
  iree_hal_command_buffer_t base;
  hal_recording_t recording;
  const hal_lowering_t* lowering;
  void* lowered;
  bool revises;  // what comes takes the place of commands, the next of which is `revised`
  iree_host_size_t revised;
  bool has_collectives;
  hal_collectives_t* collectives;  // when it has any, from its end on
  hal_idle_list_t* home;
  hal_idle_t idle;
  iree_hal_command_buffer_slot_t slots[];
} recorded_t;

static recorded_t* cast(iree_hal_command_buffer_t* base) { return (recorded_t*)base; }

//===----------------------------------------------------------------------------------------------------------------===
// Revision
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t recorded_begin_revision(iree_hal_command_buffer_t* base) {
  recorded_t* self = cast(base);
  if (self->has_collectives) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "command buffers with collectives are not revised");
  }
  self->revises = true;
  self->revised = 0;
  return iree_ok_status();
}

static void need_slot(iree_hal_command_buffer_t* base, const iree_hal_buffer_ref_t* ref) {
  if (ref->buffer || !base->slots) return;
  iree_hal_command_buffer_slot_t* slot = &base->slots[ref->buffer_slot];
  iree_device_size_t end = ref->offset + (ref->length == IREE_HAL_WHOLE_BUFFER ? 0 : ref->length);
  slot->min_length = iree_max(slot->min_length, end);
}

static iree_status_t recorded_keep(iree_hal_command_buffer_t* base, iree_host_size_t count) {
  recorded_t* self = cast(base);
  if (!self->revises || count > self->recording.count - self->revised) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "so many commands were not recorded");
  }
  for (; count; --count) {
    const hal_command_t* command = &self->recording.commands[self->revised++];
    if (command->kind != HAL_COMMAND_DISPATCH) {
      need_slot(base, &command->target);
      if (command->kind == HAL_COMMAND_COPY) need_slot(base, &command->source);
      continue;
    }
    const hal_dispatch_t* dispatch = &command->dispatch;
    for (iree_host_size_t i = 0; i < dispatch->bindings.count; ++i) need_slot(base, &dispatch->bindings.values[i]);
    if (iree_hal_dispatch_uses_indirect_parameters(dispatch->flags)) {
      need_slot(base, &dispatch->config.workgroup_count_ref);
    }
  }
  return iree_ok_status();
}

static bool is_alike_dispatch(const hal_dispatch_t* a, const hal_dispatch_t* b) {
  if (a->executable != b->executable || a->function.value != b->function.value || a->flags != b->flags ||
      a->constants.data_length != b->constants.data_length || a->bindings.count != b->bindings.count ||
      a->config.workgroup_count_ref.buffer != b->config.workgroup_count_ref.buffer) {
    return false;
  }
  for (iree_host_size_t i = 0; i < a->bindings.count; ++i) {
    if (a->bindings.values[i].buffer != b->bindings.values[i].buffer) return false;
  }
  return true;
}

// Whether one may take the other's place: it needs no memory and keeps nothing else alive.
static bool is_alike(const hal_command_t* a, const hal_command_t* b) {
  if (a->kind != b->kind) return false;
  if (a->kind == HAL_COMMAND_DISPATCH) return is_alike_dispatch(&a->dispatch, &b->dispatch);
  if (a->target.buffer != b->target.buffer) return false;
  if (a->kind == HAL_COMMAND_COPY) return a->source.buffer == b->source.buffer;
  return a->kind != HAL_COMMAND_UPDATE || a->target.length == b->target.length;
}

// Puts a command, whose data is the caller's, in the place of the next one.
static iree_status_t revise(recorded_t* self, const hal_command_t* command) {
  hal_command_t* place = &self->recording.commands[self->revised];
  if (self->revised == self->recording.count || !is_alike(place, command)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "command %" PRIhsz " is not like the one that was recorded",
                            self->revised);
  }
  ++self->revised;
  if (command->kind == HAL_COMMAND_DISPATCH) {
    hal_dispatch_t* dispatch = &place->dispatch;
    const hal_dispatch_t* source = &command->dispatch;
    dispatch->config = source->config;
    size_t size = source->constants.data_length, refs_size = source->bindings.count * sizeof(*source->bindings.values);
    if (size) memcpy((void*)dispatch->constants.data, source->constants.data, size);
    if (refs_size) memcpy((void*)dispatch->bindings.values, source->bindings.values, refs_size);
    return iree_ok_status();
  }
  place->target = command->target;
  if (command->kind == HAL_COMMAND_COPY) {
    place->source = command->source;
  } else if (command->kind == HAL_COMMAND_FILL) {
    place->pattern = command->pattern;
  } else if (command->target.length) {
    memcpy((void*)place->data, command->data, command->target.length);
  }
  return iree_ok_status();
}

static iree_status_t end_revision(recorded_t* self) {
  if (self->revised != self->recording.count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%" PRIhsz " of %" PRIhsz " commands were revised or kept",
                            self->revised, self->recording.count);
  }
  self->revises = false;
  self->lowering->reset(self->lowered);
  return self->lowering->lower(self->lowered, &self->recording);
}

//===----------------------------------------------------------------------------------------------------------------===
// Recording
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t recorded_end(iree_hal_command_buffer_t* base) {
  recorded_t* self = cast(base);
  if (self->revises) return end_revision(self);
  if (self->has_collectives) {
    hal_recording_t first;
    IREE_RETURN_IF_ERROR(hal_collectives_divide(base, &self->recording, &first, &self->collectives));
    return self->lowering->lower(self->lowered, &first);
  }
  iree_status_t status = self->lowering->lower(self->lowered, &self->recording);
  bool is_needed = self->home || base->mode & IREE_HAL_COMMAND_BUFFER_MODE_REVISABLE;
  if (!is_needed) recording_free_commands(&self->recording);
  return status;
}

static iree_status_t recorded_barrier(iree_hal_command_buffer_t* base, iree_hal_execution_stage_t source_stage_mask,
                                      iree_hal_execution_stage_t target_stage_mask) {
  if (cast(base)->revises) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "barriers are not revised");
  }
  cast(base)->recording.waits = true;
  return iree_ok_status();
}

static iree_status_t recorded_fill(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t target_ref,
                                   const void* pattern, iree_host_size_t pattern_length, iree_hal_fill_flags_t flags) {
  hal_recording_t* recording = &cast(base)->recording;
  hal_command_t command = {.kind = HAL_COMMAND_FILL, .target = target_ref};
  command.pattern.length = (uint8_t)pattern_length;
  memcpy(command.pattern.data, pattern, pattern_length);
  if (cast(base)->revises) return revise(cast(base), &command);
  IREE_RETURN_IF_ERROR(retain(recording, target_ref.buffer));
  return append(recording, &command);
}

static iree_status_t recorded_update(iree_hal_command_buffer_t* base, const void* source_buffer,
                                     iree_host_size_t source_offset, iree_hal_buffer_ref_t target_ref,
                                     iree_hal_update_flags_t flags) {
  hal_recording_t* recording = &cast(base)->recording;
  hal_command_t command = {.kind = HAL_COMMAND_UPDATE, .target = target_ref};
  if (target_ref.length == IREE_HAL_WHOLE_BUFFER) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the length of an update must be given");
  }
  if (cast(base)->revises) {
    command.data = (const uint8_t*)source_buffer + source_offset;
    return revise(cast(base), &command);
  }
  IREE_RETURN_IF_ERROR(copy_bytes(recording, (const uint8_t*)source_buffer + source_offset, target_ref.length,
                                  (const void**)&command.data));
  IREE_RETURN_IF_ERROR(retain(recording, target_ref.buffer));
  return append(recording, &command);
}

static iree_status_t recorded_copy(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t source_ref,
                                   iree_hal_buffer_ref_t target_ref, iree_hal_copy_flags_t flags) {
  hal_recording_t* recording = &cast(base)->recording;
  hal_command_t command = {.kind = HAL_COMMAND_COPY, .target = target_ref};
  command.source = source_ref;
  if (cast(base)->revises) return revise(cast(base), &command);
  IREE_RETURN_IF_ERROR(retain(recording, source_ref.buffer));
  IREE_RETURN_IF_ERROR(retain(recording, target_ref.buffer));
  return append(recording, &command);
}

static iree_status_t recorded_dispatch(iree_hal_command_buffer_t* base, iree_hal_executable_t* executable,
                                       iree_hal_executable_function_t function,
                                       const iree_hal_dispatch_config_t* config, iree_const_byte_span_t constants,
                                       iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  hal_recording_t* recording = &cast(base)->recording;
  hal_command_t command = {.kind = HAL_COMMAND_DISPATCH};
  hal_dispatch_t* dispatch = &command.dispatch;
  *dispatch = (hal_dispatch_t){executable, function, *config, constants, bindings, flags};
  if (!iree_hal_dispatch_uses_indirect_parameters(flags))
    memset(&dispatch->config.workgroup_count_ref, 0, sizeof(dispatch->config.workgroup_count_ref));
  IREE_RETURN_IF_ERROR(cast(base)->lowering->check(cast(base)->lowered, dispatch));
  if (cast(base)->revises) return revise(cast(base), &command);
  IREE_RETURN_IF_ERROR(
      copy_bytes(recording, constants.data, constants.data_length, (const void**)&dispatch->constants.data));
  IREE_RETURN_IF_ERROR(copy_bytes(recording, bindings.values, bindings.count * sizeof(*bindings.values),
                                  (const void**)&dispatch->bindings.values));
  IREE_RETURN_IF_ERROR(retain(recording, executable));
  IREE_RETURN_IF_ERROR(retain(recording, dispatch->config.workgroup_count_ref.buffer));
  for (iree_host_size_t i = 0; i < bindings.count; ++i) {
    IREE_RETURN_IF_ERROR(retain(recording, bindings.values[i].buffer));
  }
  return append(recording, &command);
}

static iree_status_t recorded_collective(iree_hal_command_buffer_t* base, iree_hal_channel_t* channel,
                                         iree_hal_collective_op_t op, uint32_t param, iree_hal_buffer_ref_t send_ref,
                                         iree_hal_buffer_ref_t recv_ref, iree_device_size_t element_count) {
  hal_recording_t* recording = &cast(base)->recording;
  if (!hal_channel_takes_parts(channel)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the channel is of another kind of device");
  }
  const hal_channel_t* taker = hal_channel_cast(channel);
  if (taker->check) IREE_RETURN_IF_ERROR(taker->check(taker, op));
  if (cast(base)->revises) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "collectives cannot be added to what is recorded");
  }
  hal_command_t command = {.kind = HAL_COMMAND_COLLECTIVE};
  command.collective = (hal_collective_t){channel, op, param, element_count, send_ref, recv_ref};
  IREE_RETURN_IF_ERROR(retain(recording, channel));
  IREE_RETURN_IF_ERROR(retain(recording, send_ref.buffer));
  IREE_RETURN_IF_ERROR(retain(recording, recv_ref.buffer));
  cast(base)->has_collectives = true;
  return append(recording, &command);
}

//===----------------------------------------------------------------------------------------------------------------===
// Command buffers
//===----------------------------------------------------------------------------------------------------------------===

static void recorded_free(recorded_t* self) {
  iree_allocator_t host_allocator = self->recording.host_allocator;
  hal_collectives_free(self->collectives);
  self->lowering->free(self->lowered);
  recording_deinitialize(&self->recording);
  iree_allocator_free(host_allocator, self);
}

static void recorded_destroy(iree_hal_command_buffer_t* base) {
  recorded_t* self = cast(base);
  if (!self->home) {
    recorded_free(self);
    return;
  }
  self->lowering->reset(self->lowered);
  hal_collectives_free(self->collectives);
  self->collectives = NULL;
  self->has_collectives = false;
  recording_reset(&self->recording);
  hal_idle_list_give(self->home, &self->idle);
}

static const iree_hal_command_buffer_vtable_t recorded_vtable = {
    .destroy = recorded_destroy,
    .end = recorded_end,
    .barrier = recorded_barrier,
    .fill_buffer = recorded_fill,
    .update_buffer = recorded_update,
    .copy_buffer = recorded_copy,
    .dispatch = recorded_dispatch,
    .collective = recorded_collective,
    .begin_revision = recorded_begin_revision,
    .keep = recorded_keep,
};

static void initialize(recorded_t* self, const hal_recorded_params_t* params) {
  bool validates = !(params->mode & IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED);
  iree_hal_command_buffer_initialize(params->mode, params->categories, params->queue_affinity, params->binding_capacity,
                                     validates ? self->slots : NULL, &recorded_vtable, &self->base);
  self->recording.retains = !(params->mode & IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED);
}

iree_status_t hal_recorded_create(const hal_recorded_params_t* params, const hal_lowering_t* lowering, void* lowered,
                                  iree_hal_command_buffer_t** out_command_buffer) {
  *out_command_buffer = NULL;
  bool validates = !(params->mode & IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED);
  recorded_t* self = NULL;
  iree_status_t status = iree_allocator_malloc_struct_array(params->host_allocator, sizeof(*self),
                                                            validates ? params->binding_capacity : 0,
                                                            sizeof(self->slots[0]), (void**)&self);
  if (!iree_status_is_ok(status)) {
    lowering->free(lowered);
    return status;
  }
  initialize(self, params);
  self->recording.host_allocator = params->host_allocator;
  self->recording.block_size = params->block_size ? params->block_size : DEFAULT_BLOCK_SIZE;
  self->lowering = lowering;
  self->lowered = lowered;
  self->home = params->home;
  *out_command_buffer = &self->base;
  return iree_ok_status();
}

static recorded_t* take_idle(hal_idle_list_t* home) {
  return (recorded_t*)hal_idle_object(hal_idle_list_take(home), offsetof(recorded_t, idle));
}

iree_hal_command_buffer_t* hal_recorded_take(const hal_recorded_params_t* params) {
  recorded_t* self = take_idle(params->home);
  if (!self) return NULL;
  initialize(self, params);
  return &self->base;
}

void hal_recorded_free_idle(hal_idle_list_t* home) {
  for (recorded_t* self; (self = take_idle(home)) != NULL;) recorded_free(self);
}

iree_status_t hal_recorded_lower(iree_hal_command_buffer_t* base, const hal_recording_t* recording) {
  IREE_HAL_ASSERT_TYPE(base, &recorded_vtable);
  IREE_RETURN_IF_ERROR(cast(base)->lowering->lower(cast(base)->lowered, recording));
  base->recording = IREE_HAL_RECORDING_DONE;
  return iree_ok_status();
}

const hal_collectives_t* hal_recorded_collectives(iree_hal_command_buffer_t* base) {
  return iree_hal_resource_is(base, &recorded_vtable) ? cast(base)->collectives : NULL;
}

void* hal_recorded_lowered(iree_hal_command_buffer_t* base, const hal_lowering_t* lowering) {
  if (!iree_hal_resource_is(base, &recorded_vtable) || cast(base)->lowering != lowering) return NULL;
  return cast(base)->lowered;
}
