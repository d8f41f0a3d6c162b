// Block programs: execution.
#include "hal/detail.h"
#include "hal/local/counters.h"
#include "hal/local/program_internal.h"
#include "hal/local/vmvx.h"

//===----------------------------------------------------------------------------------------------------------------===
// Workers
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t local_worker_reserve(local_worker_t* worker, size_t size) {
  if (size <= worker->local_memory_size) return iree_ok_status();
  local_worker_finish(worker);
  size = iree_host_align(size, IREE_HAL_EXECUTABLE_WORKGROUP_LOCAL_MEMORY_PAGE_SIZE);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_aligned(iree_allocator_system(), size,
                                                     IREE_HAL_EXECUTABLE_WORKGROUP_LOCAL_MEMORY_PAGE_SIZE, 0,
                                                     (void**)&worker->local_memory));
  worker->local_memory_size = size;
  return iree_ok_status();
}

void local_worker_finish(local_worker_t* worker) {
  iree_allocator_free_aligned(iree_allocator_system(), worker->local_memory);
  worker->local_memory = NULL;
  worker->local_memory_size = 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// States
//===----------------------------------------------------------------------------------------------------------------===

// Where the parts of a state are, in bytes from its begin.
typedef struct state_layout_t {
  size_t live, slots, pointers, lengths, size;
} state_layout_t;

static state_layout_t lay_out(const local_program_t* program) {
  state_layout_t at = {.live = iree_host_align(sizeof(local_state_t), 64)};
  at.slots = at.live + program->commands.count * sizeof(program_live_t);
  at.pointers = at.slots + program->slot_count * sizeof(program_pointer_t);
  at.lengths = at.pointers + program->pointers.count * sizeof(void*);
  at.size = at.lengths + program->pointers.count * sizeof(size_t);
  return at;
}

// Fills in what does not change from execution to execution.
static void state_fill(local_state_t* state, const local_program_t* program, const state_layout_t* at) {
  state->recording = program->recording;
  state->live = (program_live_t*)((uint8_t*)state + at->live);
  state->slots = (program_pointer_t*)((uint8_t*)state + at->slots);
  state->pointers = (void**)((uint8_t*)state + at->pointers);
  state->lengths = (size_t*)((uint8_t*)state + at->lengths);
  for (size_t i = 0; i < program->pointers.count; ++i) {
    state->pointers[i] = program->pointers.data[i].data;
    state->lengths[i] = program->pointers.data[i].length;
  }
  for (size_t i = 0; i < program->commands.count; ++i) {
    const program_command_t* command = &program->commands.data[i];
    state->live[i].chunks = command->chunks;
    if (command->kind != HAL_COMMAND_DISPATCH) continue;
    state->live[i].dispatch = command->dispatch.state;
    state->live[i].dispatch.binding_ptrs = state->pointers + command->pointer;
    state->live[i].dispatch.binding_lengths = state->lengths + command->pointer;
  }
}

iree_status_t local_state_acquire(local_program_t* program, hal_profile_operation_t* profile,
                                  local_state_t** out_state) {
  hal_idle_t* idle = hal_idle_list_take(&program->states);
  local_state_t* state = (local_state_t*)hal_idle_object(idle, offsetof(local_state_t, idle));
  state_layout_t at = lay_out(program);
  if (state && state->size < at.size) {
    iree_allocator_free(program->params.host_allocator, state);
    state = NULL;
  }
  if (!state) {
    IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(program->params.host_allocator, at.size, (void**)&state));
    *state = (local_state_t){.program = program, .size = at.size, .recording = program->recording - 1};
  }
  if (state->recording != program->recording) state_fill(state, program, &at);
  state->next_region = 0;
  state->profile = profile;
  *out_state = state;
  return iree_ok_status();
}

void local_state_release(local_state_t* state) { hal_idle_list_give(&state->program->states, &state->idle); }

static void state_fail(local_state_t* state, iree_status_t status) {
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(&state->failure, &expected, (intptr_t)status, iree_memory_order_acq_rel,
                                           iree_memory_order_relaxed)) {
    iree_status_free(status);
  }
}

static bool has_failed(local_state_t* state) {
  return iree_atomic_load(&state->failure, iree_memory_order_relaxed) != 0;
}

iree_status_t local_state_take_failure(local_state_t* state) {
  return (iree_status_t)iree_atomic_exchange(&state->failure, 0, iree_memory_order_acq_rel);
}

//===----------------------------------------------------------------------------------------------------------------===
// Binding
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t bind_slots(const local_program_t* program, iree_hal_buffer_binding_table_t table,
                                program_pointer_t* slots) {
  if (program->slot_count > table.count) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "binding table with %" PRIhsz " entries; %u are needed",
                            table.count, program->slot_count);
  }
  for (uint32_t i = 0; i < program->slot_count; ++i) {
    const iree_hal_buffer_binding_t* binding = &table.bindings[i];
    slots[i] = (program_pointer_t){NULL, 0};
    if (!binding->buffer) continue;
    IREE_RETURN_IF_ERROR(hal_buffer_pointer(binding->buffer, &slots[i].data), "binding table slot %u", i);
    iree_device_size_t offset = 0;
    IREE_RETURN_IF_ERROR(iree_hal_buffer_calculate_range(0, iree_hal_buffer_byte_length(binding->buffer),
                                                         binding->offset, binding->length, &offset, &slots[i].length));
    slots[i].data += offset;
  }
  return iree_ok_status();
}

static iree_status_t fail_patch(const program_patch_t* patch, const program_pointer_t* slot) {
  if (!slot->data) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "binding slot %u has no buffer", patch->slot);
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                          "binding slot %u has %" PRIdsz " bytes; range at %" PRIdsz " of %" PRIdsz " is outside",
                          patch->slot, slot->length, patch->offset, patch->length);
}

static iree_status_t bind_patches(local_state_t* state) {
  const local_program_t* program = state->program;
  for (size_t i = 0; i < program->patches.count; ++i) {
    const program_patch_t* patch = &program->patches.data[i];
    program_pointer_t late;
    const program_pointer_t* slot = &state->slots[patch->slot];
    if (patch->buffer) {
      IREE_RETURN_IF_ERROR(hal_buffer_pointer(patch->buffer, &late.data));
      late.length = iree_hal_buffer_byte_length(patch->buffer);
      slot = &late;
    }
    if (IREE_UNLIKELY(!slot->data || patch->offset > slot->length)) return fail_patch(patch, slot);
    iree_device_size_t left = slot->length - patch->offset;
    iree_device_size_t length = patch->length == IREE_HAL_WHOLE_BUFFER ? left : patch->length;
    if (IREE_UNLIKELY(length > left)) return fail_patch(patch, slot);
    state->pointers[patch->pointer] = slot->data + patch->offset;
    state->lengths[patch->pointer] = length;
  }
  return iree_ok_status();
}

iree_status_t local_state_bind(local_state_t* state, iree_hal_buffer_binding_table_t binding_table) {
  if (state->program->patches.count == 0) return iree_ok_status();
  IREE_RETURN_IF_ERROR(bind_slots(state->program, binding_table, state->slots));
  return bind_patches(state);
}

//===----------------------------------------------------------------------------------------------------------------===
// Regions
//===----------------------------------------------------------------------------------------------------------------===

// Cuts the commands whose size was not known before now. Returns the region's chunks.
static iree_status_t open_commands(local_state_t* state, const program_region_t* region, uint32_t* out_chunk_count) {
  const local_program_t* program = state->program;
  *out_chunk_count = region->chunk_count;
  for (uint32_t i = region->first; i < region->first + region->count; ++i) {
    const program_command_t* command = &program->commands.data[i];
    if (!command->is_open) continue;
    program_live_t* live = &state->live[i];
    if (command->kind == HAL_COMMAND_DISPATCH) {
      uint32_t count[3];
      uint64_t total = 0;
      memcpy(count, state->pointers[command->pointer + command->dispatch.state.binding_count], sizeof(count));
      IREE_RETURN_IF_ERROR(program_set_workgroup_count(&live->dispatch, count, &total));
      live->chunks = program_cut_dispatch(program, command->is_sequential, total);
    } else {
      size_t length = state->lengths[command->pointer];
      if (command->kind == HAL_COMMAND_COPY) length = iree_min(length, state->lengths[command->pointer + 1]);
      if (command->kind == HAL_COMMAND_FILL) {
        IREE_RETURN_IF_ERROR(hal_pattern_check(command->fill.pattern_length, 0, length));
      }
      state->lengths[command->pointer] = length;
      live->chunks = program_cut_transfer(program, length);
    }
    *out_chunk_count += live->chunks.count;
  }
  return iree_ok_status();
}

uint32_t local_state_next_region(local_state_t* state) {
  const local_program_t* program = state->program;
  while (state->next_region < program->regions.count && !has_failed(state)) {
    const program_region_t* region = &program->regions.data[state->next_region++];
    uint32_t chunk_count = region->chunk_count;
    if (region->is_open) {
      iree_status_t status = open_commands(state, region, &chunk_count);
      if (!iree_status_is_ok(status)) {
        state_fail(state, status);
        return 0;
      }
    }
    state->region = region;
    if (chunk_count) return chunk_count;
  }
  return 0;
}

//===----------------------------------------------------------------------------------------------------------------===
// Chunks
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t run_workgroups(const program_command_t* command, const program_live_t* live, uint64_t begin,
                                    uint64_t end, local_worker_t* worker) {
  const iree_hal_executable_dispatch_state_v0_t* dispatch = &live->dispatch;
  if (command->dispatch.local_memory_size > worker->local_memory_size) {
    IREE_RETURN_IF_ERROR(local_worker_reserve(worker, command->dispatch.local_memory_size));
  }
  uint64_t row = begin / dispatch->workgroup_count_x;
  iree_hal_executable_workgroup_state_v0_t group = {
      .workgroup_id_x = (uint32_t)(begin % dispatch->workgroup_count_x),
      .workgroup_id_y = (uint32_t)(row % dispatch->workgroup_count_y),
      .workgroup_id_z = (uint16_t)(row / dispatch->workgroup_count_y),
      .processor_id = worker->processor_id,
      .local_memory = worker->local_memory,
      .local_memory_size = (uint32_t)iree_min(worker->local_memory_size, UINT32_MAX),
  };
  for (uint64_t i = begin; i < end; ++i) {
    int result = command->dispatch.run(command->dispatch.environment, dispatch, &group);
    if (IREE_UNLIKELY(result != 0)) {
      if (command->dispatch.run == local_vmvx_run) return local_vmvx_failure(command->dispatch.environment, result);
      return iree_make_status(IREE_STATUS_INTERNAL, "executable entry point returned catastrophic failure %d", result);
    }
    if (++group.workgroup_id_x < dispatch->workgroup_count_x) continue;
    group.workgroup_id_x = 0;
    if (++group.workgroup_id_y < dispatch->workgroup_count_y) continue;
    group.workgroup_id_y = 0;
    ++group.workgroup_id_z;
  }
  return iree_ok_status();
}

static uint64_t total_workgroups(const iree_hal_executable_dispatch_state_v0_t* dispatch) {
  return (uint64_t)dispatch->workgroup_count_x * dispatch->workgroup_count_y * dispatch->workgroup_count_z;
}

static void run_piece(local_state_t* state, uint32_t index, uint32_t chunk, local_worker_t* worker) {
  const program_command_t* command = &state->program->commands.data[index];
  const program_live_t* live = &state->live[index];
  uint64_t begin = chunk * live->chunks.size;
  uint64_t total = command->kind == HAL_COMMAND_DISPATCH ? total_workgroups(&live->dispatch)
                                                         : (uint64_t)state->lengths[command->pointer];
  uint64_t end = iree_min(begin + live->chunks.size, total);
  // A dispatch may have no bindings, and then no pointer of its own.
  uint8_t* target = command->kind == HAL_COMMAND_DISPATCH ? NULL : (uint8_t*)state->pointers[command->pointer];
  switch (command->kind) {
    case HAL_COMMAND_DISPATCH: {
      iree_status_t status = run_workgroups(command, live, begin, end, worker);
      if (IREE_UNLIKELY(!iree_status_is_ok(status))) state_fail(state, status);
      break;
    }
    case HAL_COMMAND_FILL:
      hal_pattern_fill(target + begin, end - begin, command->fill.pattern, command->fill.pattern_length);
      break;
    case HAL_COMMAND_COPY:
      memmove(target + begin, (uint8_t*)state->pointers[command->pointer + 1] + begin, end - begin);
      break;
    case HAL_COMMAND_UPDATE:
      memcpy(target, command->update.data, total);
      break;
  }
}

static void run_piece_watched(local_state_t* state, uint32_t index, uint32_t chunk, local_worker_t* worker) {
  const program_live_t* live = &state->live[index];
  uint64_t count = 1;
  if (state->program->commands.data[index].kind == HAL_COMMAND_DISPATCH) {
    uint64_t begin = chunk * live->chunks.size, total = total_workgroups(&live->dispatch);
    count = iree_min(begin + live->chunks.size, total) - begin;
  }
  void* counting = hal_profile_counting(state->profile);
  local_reading_t reading;
  if (counting) local_counters_begin(counting, &reading);
  iree_time_t start = iree_time_now();
  run_piece(state, index, chunk, worker);
  hal_profile_piece(state->profile, index, count, start, iree_time_now());
  if (counting) local_counters_end(counting, hal_profile_sample(state->profile, index), &reading);
}

static void run_command_chunk(local_state_t* state, uint32_t index, uint32_t chunk, local_worker_t* worker) {
  (IREE_LIKELY(!state->profile) ? run_piece : run_piece_watched)(state, index, chunk, worker);
}

void local_state_run_chunk(local_state_t* state, uint32_t chunk, local_worker_t* worker) {
  if (IREE_UNLIKELY(has_failed(state))) return;
  uint32_t index = state->region->first;
  while (chunk >= state->live[index].chunks.count) chunk -= state->live[index++].chunks.count;
  run_command_chunk(state, index, chunk, worker);
}

void local_state_run(local_state_t* state, local_worker_t* worker) {
  while (local_state_next_region(state)) {
    const program_region_t* region = state->region;
    for (uint32_t i = region->first; i < region->first + region->count; ++i) {
      for (uint32_t chunk = 0; chunk < state->live[i].chunks.count && !has_failed(state); ++chunk) {
        run_command_chunk(state, i, chunk, worker);
      }
    }
  }
}
