// Block programs: lowering of recordings.
#include "hal/detail.h"
#include "hal/local/program_internal.h"

#define TRANSFER_CHUNK ((iree_device_size_t)128 * 1024)  // bytes
#define CHUNKS_PER_WORKER 32
#define MAX_REGION_COMMANDS 512  // so that a region's chunks can be counted in 24 bits

iree_status_t local_program_create(const local_program_params_t* params, local_program_t** out_program) {
  *out_program = NULL;
  local_program_t* program = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(params->host_allocator, sizeof(*program), (void**)&program));
  program->params = *params;
  hal_idle_list_initialize(&program->states);
  *out_program = program;
  return iree_ok_status();
}

static void program_reset(void* lowered) {
  local_program_t* program = (local_program_t*)lowered;
  program->commands.count = program->regions.count = program->pointers.count = program->patches.count = 0;
  program->slot_count = 0;
  program->region_is_open = false;
  ++program->recording;
  program->profile_id = (hal_profile_id_t){0};
}

void local_program_set_workers(local_program_t* program, uint32_t worker_count) {
  program->params.worker_count = worker_count;
}

static void program_free(void* lowered) {
  local_program_t* program = (local_program_t*)lowered;
  iree_allocator_t allocator = program->params.host_allocator;
  for (hal_idle_t* idle; (idle = hal_idle_list_take(&program->states)) != NULL;) {
    iree_allocator_free(allocator, hal_idle_object(idle, offsetof(local_state_t, idle)));
  }
  hal_idle_list_deinitialize(&program->states);
  iree_allocator_free(allocator, program->commands.data);
  iree_allocator_free(allocator, program->regions.data);
  iree_allocator_free(allocator, program->pointers.data);
  iree_allocator_free(allocator, program->patches.data);
  iree_allocator_free(allocator, program);
}

//===----------------------------------------------------------------------------------------------------------------===
// Storage
//===----------------------------------------------------------------------------------------------------------------===

#define VECTOR_PUSH(program, vector, out_item)                                                                  \
  vector_push((program), &(vector).count, &(vector).capacity, sizeof((vector).data[0]), (void**)&(vector).data, \
              (void**)(out_item))

// Appends a zeroed item.
static iree_status_t vector_push(local_program_t* program, size_t* count, size_t* capacity, size_t item_size,
                                 void** data, void** out_item) {
  if (*count == *capacity) {
    IREE_RETURN_IF_ERROR(
        iree_allocator_grow_array(program->params.host_allocator, iree_max(*count + 1, 8), item_size, capacity, data));
  }
  *out_item = (uint8_t*)*data + (*count)++ * item_size;
  memset(*out_item, 0, item_size);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// References
//===----------------------------------------------------------------------------------------------------------------===

static bool is_late(iree_hal_buffer_t* buffer) {
  return iree_hal_buffer_allocation_placement(buffer).flags & IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS;
}

// Adds a pointer: resolved now for direct references, patched at execution for others.
static iree_status_t add_pointer(local_program_t* program, iree_hal_buffer_ref_t ref) {
  program_pointer_t* pointer = NULL;
  IREE_RETURN_IF_ERROR(VECTOR_PUSH(program, program->pointers, &pointer));
  pointer->length = ref.length;
  if (ref.buffer && !is_late(ref.buffer)) {
    uint8_t* base = NULL;
    IREE_RETURN_IF_ERROR(hal_buffer_pointer(ref.buffer, &base));
    pointer->data = base + ref.offset;
    return iree_ok_status();
  }
  program_patch_t* patch = NULL;
  IREE_RETURN_IF_ERROR(VECTOR_PUSH(program, program->patches, &patch));
  patch->pointer = (uint32_t)(program->pointers.count - 1);
  patch->slot = ref.buffer_slot;
  patch->buffer = ref.buffer;
  patch->offset = ref.offset;
  patch->length = ref.length;
  if (!ref.buffer) program->slot_count = iree_max(program->slot_count, ref.buffer_slot + 1u);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t open_region(local_program_t* program) {
  program_region_t* region = NULL;
  IREE_RETURN_IF_ERROR(VECTOR_PUSH(program, program->regions, &region));
  region->first = (uint32_t)program->commands.count;
  program->region_is_open = true;
  return iree_ok_status();
}

static iree_status_t add_command(local_program_t* program, hal_command_kind_t kind, program_command_t** out_command) {
  program_region_t* region = program->regions.count ? &program->regions.data[program->regions.count - 1] : NULL;
  if (!program->region_is_open || region->count == MAX_REGION_COMMANDS) {
    IREE_RETURN_IF_ERROR(open_region(program));
    region = &program->regions.data[program->regions.count - 1];
  }
  IREE_RETURN_IF_ERROR(VECTOR_PUSH(program, program->commands, out_command));
  ++region->count;
  (*out_command)->kind = kind;
  (*out_command)->pointer = (uint32_t)program->pointers.count;
  return iree_ok_status();
}

program_chunks_t program_cut_transfer(const local_program_t* program, iree_device_size_t length) {
  iree_device_size_t size = TRANSFER_CHUNK;
  if (length == 0) return (program_chunks_t){0, 0};
  if (program->params.worker_count == 1 || length < program->params.inline_threshold) size = length;
  // Few enough to count, and whole patterns.
  size = iree_device_align(iree_max(size, length / ((iree_device_size_t)1 << 14)), 64);
  return (program_chunks_t){(uint32_t)iree_device_size_ceil_div(length, size), size};
}

program_chunks_t program_cut_dispatch(const local_program_t* program, bool is_sequential, uint64_t workgroup_count) {
  if (workgroup_count == 0) return (program_chunks_t){0, 0};
  uint64_t pieces = (uint64_t)program->params.worker_count * CHUNKS_PER_WORKER;
  uint64_t size = iree_max(workgroup_count / pieces, 1);
  if (is_sequential || program->params.worker_count == 1) size = workgroup_count;
  return (program_chunks_t){(uint32_t)iree_device_size_ceil_div(workgroup_count, size), size};
}

static void cut_known_transfer(local_program_t* program, program_command_t* command, iree_device_size_t length) {
  if (length == IREE_HAL_WHOLE_BUFFER) {
    command->is_open = true;  // cut when the buffer is known
    program->regions.data[program->regions.count - 1].is_open = true;
  } else {
    command->chunks = program_cut_transfer(program, length);
  }
}

static iree_status_t add_fill(local_program_t* program, const hal_command_t* source) {
  program_command_t* command = NULL;
  IREE_RETURN_IF_ERROR(add_command(program, HAL_COMMAND_FILL, &command));
  memcpy(command->fill.pattern, source->pattern.data, source->pattern.length);
  command->fill.pattern_length = source->pattern.length;
  cut_known_transfer(program, command, source->target.length);
  return add_pointer(program, source->target);
}

static iree_status_t add_copy(local_program_t* program, const hal_command_t* source) {
  program_command_t* command = NULL;
  IREE_RETURN_IF_ERROR(add_command(program, HAL_COMMAND_COPY, &command));
  cut_known_transfer(program, command, source->target.length);
  IREE_RETURN_IF_ERROR(add_pointer(program, source->target));
  return add_pointer(program, source->source);
}

static iree_status_t add_update(local_program_t* program, const hal_command_t* source) {
  program_command_t* command = NULL;
  IREE_RETURN_IF_ERROR(add_command(program, HAL_COMMAND_UPDATE, &command));
  command->update.data = source->data;
  command->chunks = (program_chunks_t){source->target.length ? 1 : 0, source->target.length};
  return add_pointer(program, source->target);
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t program_set_workgroup_count(iree_hal_executable_dispatch_state_v0_t* state, const uint32_t count[3],
                                          uint64_t* out_total) {
  *out_total = 0;
  uint64_t total = (uint64_t)count[0] * count[1];
  if (count[2] > UINT16_MAX || __builtin_mul_overflow(total, count[2], &total)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "workgroup count %ux%ux%u is too large", count[0], count[1],
                            count[2]);
  }
  state->workgroup_count_x = count[0];
  state->workgroup_count_y = count[1];
  state->workgroup_count_z = (uint16_t)count[2];
  *out_total = total;
  return iree_ok_status();
}

static iree_status_t set_workgroup_size(iree_hal_executable_dispatch_state_v0_t* state,
                                        const iree_hal_executable_dispatch_attrs_v0_t* attrs,
                                        const uint32_t config_size[3]) {
  uint32_t size[3] = {attrs->workgroup_size_x, attrs->workgroup_size_y, attrs->workgroup_size_z};
  for (int i = 0; i < 3; ++i) size[i] = iree_max(config_size[i] ? config_size[i] : size[i], 1);
  if (size[2] > UINT16_MAX) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "workgroup size %ux%ux%u is too large", size[0], size[1],
                            size[2]);
  }
  state->workgroup_size_x = size[0];
  state->workgroup_size_y = size[1];
  state->workgroup_size_z = (uint16_t)size[2];
  return iree_ok_status();
}

static iree_status_t set_dispatch(local_program_t* program, program_command_t* command, const hal_dispatch_t* dispatch,
                                  const local_function_t* function) {
  iree_hal_executable_dispatch_state_v0_t* state = &command->dispatch.state;
  IREE_RETURN_IF_ERROR(set_workgroup_size(state, &function->attrs, dispatch->config.workgroup_size));
  state->constants = (const uint32_t*)dispatch->constants.data;
  state->constant_count = (uint16_t)(dispatch->constants.data_length / sizeof(uint32_t));
  state->binding_count = (uint8_t)dispatch->bindings.count;
  state->max_concurrency = (uint8_t)iree_min(program->params.worker_count, UINT8_MAX);
  command->dispatch.executable = dispatch->executable;
  command->dispatch.function = iree_hal_executable_function_index(dispatch->function);
  command->dispatch.run = function->run;
  command->dispatch.environment = function->environment;
  command->dispatch.local_memory_size =
      (uint32_t)function->attrs.local_memory_pages * IREE_HAL_EXECUTABLE_WORKGROUP_LOCAL_MEMORY_PAGE_SIZE;
  if (__builtin_add_overflow(command->dispatch.local_memory_size, dispatch->config.dynamic_workgroup_local_memory,
                             &command->dispatch.local_memory_size)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "workgroup local memory is too large");
  }
  command->is_sequential = function->attrs.flags & IREE_HAL_EXECUTABLE_DISPATCH_FLAG_V0_SEQUENTIAL;
  return iree_ok_status();
}

static iree_status_t check_dispatch(void* lowered, const hal_dispatch_t* dispatch) {
  if (iree_hal_dispatch_uses_custom_arguments(dispatch->flags)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "custom dispatch arguments are not supported on local devices");
  }
  if (!local_executable_function(dispatch->executable, dispatch->function)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the executable was not loaded by a local device");
  }
  return iree_ok_status();
}

static iree_status_t add_dispatch(local_program_t* program, const hal_command_t* source) {
  const hal_dispatch_t* dispatch = &source->dispatch;
  program_command_t* command = NULL;
  IREE_RETURN_IF_ERROR(add_command(program, HAL_COMMAND_DISPATCH, &command));
  IREE_RETURN_IF_ERROR(
      set_dispatch(program, command, dispatch, local_executable_function(dispatch->executable, dispatch->function)));
  bool is_open = iree_hal_dispatch_uses_indirect_parameters(dispatch->flags);
  if (is_open) {
    command->is_open = true;
    program->regions.data[program->regions.count - 1].is_open = true;
  } else {
    uint64_t total = 0;
    IREE_RETURN_IF_ERROR(
        program_set_workgroup_count(&command->dispatch.state, dispatch->config.workgroup_count, &total));
    command->chunks = program_cut_dispatch(program, command->is_sequential, total);
  }
  for (iree_host_size_t i = 0; i < dispatch->bindings.count; ++i) {
    IREE_RETURN_IF_ERROR(add_pointer(program, dispatch->bindings.values[i]));
  }
  return is_open ? add_pointer(program, dispatch->config.workgroup_count_ref) : iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Lowering
//===----------------------------------------------------------------------------------------------------------------===

static void count_chunks(local_program_t* program) {
  for (size_t i = 0; i < program->regions.count; ++i) {
    program_region_t* region = &program->regions.data[i];
    for (uint32_t j = 0; j < region->count; ++j) {
      region->chunk_count += program->commands.data[region->first + j].chunks.count;
    }
  }
}

static iree_status_t lower(void* lowered, const hal_recording_t* recording) {
  static iree_status_t (*const adders[])(local_program_t* program, const hal_command_t* command) = {
      [HAL_COMMAND_DISPATCH] = add_dispatch,
      [HAL_COMMAND_FILL] = add_fill,
      [HAL_COMMAND_COPY] = add_copy,
      [HAL_COMMAND_UPDATE] = add_update,
  };
  local_program_t* program = (local_program_t*)lowered;
  for (iree_host_size_t i = 0; i < recording->count; ++i) {
    const hal_command_t* command = &recording->commands[i];
    if (command->waits) program->region_is_open = false;
    IREE_RETURN_IF_ERROR(adders[command->kind](program, command));
    program->commands.data[program->commands.count - 1].waits = command->waits;
  }
  count_chunks(program);
  return iree_ok_status();
}

const hal_lowering_t local_lowering = {
    .check = check_dispatch,
    .lower = lower,
    .reset = program_reset,
    .free = program_free,
};
