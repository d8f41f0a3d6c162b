// Command buffers of local devices.
#include "hal/local/command_buffer.h"

typedef struct local_command_buffer_t {
  iree_hal_command_buffer_t base;
  iree_allocator_t host_allocator;
  local_program_t* program;
  hal_idle_list_t* home;  // where it goes when it is not used any more; NULL: it is freed
  hal_idle_t idle;
  iree_hal_command_buffer_slot_t slots[];
} local_command_buffer_t;

static local_program_t* program_of(iree_hal_command_buffer_t* base) { return ((local_command_buffer_t*)base)->program; }

static void command_buffer_free(local_command_buffer_t* command_buffer) {
  local_program_free(command_buffer->program);
  iree_allocator_free(command_buffer->host_allocator, command_buffer);
}

static void command_buffer_destroy(iree_hal_command_buffer_t* base) {
  local_command_buffer_t* command_buffer = (local_command_buffer_t*)base;
  if (!command_buffer->home) {
    command_buffer_free(command_buffer);
    return;
  }
  local_program_reset(command_buffer->program);
  hal_idle_list_give(command_buffer->home, &command_buffer->idle);
}

static iree_status_t command_buffer_end(iree_hal_command_buffer_t* base) { return local_program_end(program_of(base)); }

static iree_status_t command_buffer_barrier(iree_hal_command_buffer_t* base,
                                            iree_hal_execution_stage_t source_stage_mask,
                                            iree_hal_execution_stage_t target_stage_mask) {
  return local_program_barrier(program_of(base));
}

static iree_status_t command_buffer_fill_buffer(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t target_ref,
                                                const void* pattern, iree_host_size_t pattern_length,
                                                iree_hal_fill_flags_t flags) {
  return local_program_add_fill(program_of(base), target_ref, pattern, pattern_length);
}

static iree_status_t command_buffer_update_buffer(iree_hal_command_buffer_t* base, const void* source_buffer,
                                                  iree_host_size_t source_offset, iree_hal_buffer_ref_t target_ref,
                                                  iree_hal_update_flags_t flags) {
  return local_program_add_update(program_of(base), (const uint8_t*)source_buffer + source_offset, target_ref);
}

static iree_status_t command_buffer_copy_buffer(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t source_ref,
                                                iree_hal_buffer_ref_t target_ref, iree_hal_copy_flags_t flags) {
  return local_program_add_copy(program_of(base), source_ref, target_ref);
}

static iree_status_t command_buffer_dispatch(iree_hal_command_buffer_t* base, iree_hal_executable_t* executable,
                                             iree_hal_executable_function_t function,
                                             const iree_hal_dispatch_config_t* config, iree_const_byte_span_t constants,
                                             iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  local_dispatch_t dispatch = {executable, function, config, constants, bindings, flags};
  return local_program_add_dispatch(program_of(base), &dispatch);
}

static const iree_hal_command_buffer_vtable_t command_buffer_vtable = {
    .destroy = command_buffer_destroy,
    .end = command_buffer_end,
    .barrier = command_buffer_barrier,
    .fill_buffer = command_buffer_fill_buffer,
    .update_buffer = command_buffer_update_buffer,
    .copy_buffer = command_buffer_copy_buffer,
    .dispatch = command_buffer_dispatch,
};

local_program_t* local_command_buffer_program(iree_hal_command_buffer_t* base) {
  return iree_hal_resource_is(base, &command_buffer_vtable) ? program_of(base) : NULL;
}

iree_status_t local_command_buffer_create(iree_hal_command_buffer_mode_t mode,
                                          iree_hal_command_category_t command_categories,
                                          iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                                          const local_program_params_t* params,
                                          iree_hal_command_buffer_t** out_command_buffer) {
  *out_command_buffer = NULL;
  bool validates = !(mode & IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED);
  local_command_buffer_t* command_buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(params->host_allocator, sizeof(*command_buffer),
                                                          validates ? binding_capacity : 0,
                                                          sizeof(command_buffer->slots[0]), (void**)&command_buffer));
  iree_hal_command_buffer_initialize(mode, command_categories, queue_affinity, binding_capacity,
                                     validates ? command_buffer->slots : NULL, &command_buffer_vtable,
                                     &command_buffer->base);
  command_buffer->host_allocator = params->host_allocator;
  local_program_params_t program_params = *params;
  program_params.retain = !(mode & IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED);
  iree_status_t status = local_program_create(&program_params, &command_buffer->program);
  if (!iree_status_is_ok(status)) {
    iree_hal_command_buffer_release(&command_buffer->base);
    return status;
  }
  *out_command_buffer = &command_buffer->base;
  return iree_ok_status();
}

static local_command_buffer_t* take_idle(hal_idle_list_t* home) {
  return (local_command_buffer_t*)hal_idle_object(hal_idle_list_take(home), offsetof(local_command_buffer_t, idle));
}

iree_status_t local_command_buffer_take(hal_idle_list_t* home, iree_hal_queue_affinity_t queue_affinity,
                                        const local_program_params_t* params,
                                        iree_hal_command_buffer_t** out_command_buffer) {
  const iree_hal_command_buffer_mode_t mode =
      IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT | IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED;
  local_command_buffer_t* command_buffer = take_idle(home);
  if (!command_buffer) {
    IREE_RETURN_IF_ERROR(local_command_buffer_create(mode, IREE_HAL_COMMAND_CATEGORY_ANY, queue_affinity, 0, params,
                                                     out_command_buffer));
    ((local_command_buffer_t*)*out_command_buffer)->home = home;
    return iree_ok_status();
  }
  local_program_set_workers(command_buffer->program, params->worker_count);
  iree_hal_command_buffer_initialize(mode, IREE_HAL_COMMAND_CATEGORY_ANY, queue_affinity, 0, NULL,
                                     &command_buffer_vtable, &command_buffer->base);
  *out_command_buffer = &command_buffer->base;
  return iree_ok_status();
}

void local_command_buffer_free_idle(hal_idle_list_t* home) {
  for (local_command_buffer_t* command_buffer; (command_buffer = take_idle(home)) != NULL;) {
    command_buffer_free(command_buffer);
  }
}
