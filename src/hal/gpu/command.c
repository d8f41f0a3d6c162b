// Lowering of commands, and their final arguments.
#include "hal/gpu/command.h"

#include "hal/gpu/allocator.h"

static const gpu_function_t* function_of(const gpu_backend_t* backend, const hal_dispatch_t* dispatch) {
  return (const gpu_function_t*)gpu_executable_function(dispatch->executable, backend, dispatch->function);
}

//===----------------------------------------------------------------------------------------------------------------===
// What commands use
//===----------------------------------------------------------------------------------------------------------------===

// Lowering of a run of commands. Slots are those of the binding table, then buffers without an address of their own.
typedef struct lowerer_t {
  const gpu_backend_t* backend;
  gpu_slot_t* slots;
  uint32_t table_count;
  uint32_t slot_count;  // so far
  uint8_t* storage;     // for what commands have beside themselves
} lowerer_t;

static uint32_t slot_of(lowerer_t* lowerer, const iree_hal_buffer_ref_t* ref) {
  uint32_t index = ref->buffer_slot;
  if (ref->buffer) {
    index = lowerer->slot_count;  // the last ones first
    while (index > lowerer->table_count && lowerer->slots[index - 1].buffer != ref->buffer) --index;
    if (index == lowerer->table_count) {
      lowerer->slots[lowerer->slot_count++] = (gpu_slot_t){.buffer = ref->buffer};
      index = lowerer->slot_count;
    }
    --index;
  }
  gpu_slot_t* slot = &lowerer->slots[index];
  uint64_t end = ref->offset, length = ref->length == IREE_HAL_WHOLE_BUFFER ? 0 : ref->length;
  if (__builtin_add_overflow(end, length, &end)) end = UINT64_MAX;
  slot->is_used = true;
  slot->end = iree_max(slot->end, end);
  return index;
}

static gpu_ref_t lower_ref(lowerer_t* lowerer, const iree_hal_buffer_ref_t* ref) {
  uint64_t address = 0;
  if (ref->buffer && gpu_buffer_is_fixed(ref->buffer) &&
      iree_status_consume_code(gpu_buffer_address(ref->buffer, &address)) == IREE_STATUS_OK) {
    bool is_whole = ref->length == IREE_HAL_WHOLE_BUFFER;
    uint64_t length = is_whole ? iree_hal_buffer_byte_length(ref->buffer) - ref->offset : ref->length;
    return (gpu_ref_t){GPU_SLOT_NONE, address + ref->offset, length};
  }
  return (gpu_ref_t){slot_of(lowerer, ref), ref->offset, ref->length};
}

typedef struct count_t {
  uint32_t table, loose;  // slots of the table; references that may get a slot of their own
} count_t;

static void count_ref(const iree_hal_buffer_ref_t* ref, count_t* count) {
  if (!ref->buffer) {
    count->table = iree_max(count->table, (uint32_t)ref->buffer_slot + 1);
  } else if (!gpu_buffer_is_fixed(ref->buffer)) {
    ++count->loose;
  }
}

static void count_slots(const hal_command_t* source, count_t* count) {
  if (source->kind != HAL_COMMAND_DISPATCH) {
    count_ref(&source->target, count);
    if (source->kind == HAL_COMMAND_COPY) count_ref(&source->source, count);
    return;
  }
  const hal_dispatch_t* dispatch = &source->dispatch;
  if (iree_hal_dispatch_uses_indirect_parameters(dispatch->flags)) {
    count_ref(&dispatch->config.workgroup_count_ref, count);
  }
  for (iree_host_size_t i = 0; i < dispatch->bindings.count; ++i) count_ref(&dispatch->bindings.values[i], count);
}

iree_status_t gpu_work_resolve(const gpu_work_t* work, iree_hal_buffer_binding_table_t bindings, gpu_range_t* ranges) {
  for (uint32_t i = 0; i < work->slot_count; ++i) {
    const gpu_slot_t* slot = &work->slots[i];
    if (!slot->is_used) continue;
    iree_hal_buffer_ref_t ref = slot->buffer ? iree_hal_make_buffer_ref(slot->buffer, 0, slot->buffer->byte_length)
                                             : iree_hal_make_indirect_buffer_ref(i, 0, IREE_HAL_WHOLE_BUFFER);
    IREE_RETURN_IF_ERROR(iree_hal_buffer_binding_table_resolve_ref(bindings, ref, &ref));
    if (slot->end > ref.length) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "byte %" PRIu64 " of a buffer is used, of which %" PRIu64 " bytes were given", slot->end,
                              (uint64_t)ref.length);
    }
    IREE_RETURN_IF_ERROR(gpu_buffer_address(ref.buffer, &ranges[i].address));
    ranges[i].address += ref.offset;
    ranges[i].length = ref.length;
  }
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Dispatches
//===----------------------------------------------------------------------------------------------------------------===

static uint32_t workgroup_size(const gpu_function_t* function, const hal_dispatch_t* dispatch, int axis) {
  uint32_t size = dispatch->config.workgroup_size[axis];
  return iree_max(size ? size : function->workgroup_size[axis], 1u);
}

static iree_status_t check_grid(const gpu_backend_t* backend, const hal_dispatch_t* dispatch) {
  const gpu_function_t* function = function_of(backend, dispatch);
  if (!backend->max_grid || iree_hal_dispatch_uses_indirect_parameters(dispatch->flags)) return iree_ok_status();
  for (int i = 0; i < 3; ++i) {
    uint32_t count = dispatch->config.workgroup_count[i], size = workgroup_size(function, dispatch, i);
    if ((uint64_t)count * size <= backend->max_grid) continue;
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "a grid of %u workgroups of %u is too large", count, size);
  }
  return iree_ok_status();
}

static iree_status_t check_dispatch(const gpu_backend_t* backend, const hal_dispatch_t* dispatch) {
  if (iree_hal_dispatch_uses_indirect_arguments(dispatch->flags) && !backend->takes_indirect_arguments) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "indirect kernel arguments are not supported");
  }
  IREE_RETURN_IF_ERROR(gpu_function_check(function_of(backend, dispatch), dispatch));
  return check_grid(backend, dispatch);
}

// Bytes for patches, form and arguments.
static size_t dispatch_size(const gpu_backend_t* backend, const hal_dispatch_t* dispatch) {
  return dispatch->bindings.count * sizeof(gpu_patch_t) + iree_host_align(backend->form_size, 8) +
         gpu_command_arguments_size(function_of(backend, dispatch));
}

// Bindings at fixed addresses are arguments already; the rest are patches.
static uint32_t set_bindings(lowerer_t* lowerer, iree_hal_buffer_ref_list_t bindings, uint8_t* arguments,
                             gpu_patch_t* patches) {
  uint32_t patch_count = 0;
  for (iree_host_size_t i = 0; i < bindings.count; ++i) {
    gpu_ref_t ref = lower_ref(lowerer, &bindings.values[i]);
    uint32_t at = (uint32_t)(i * sizeof(uint64_t));
    if (ref.slot == GPU_SLOT_NONE) {
      memcpy(arguments + at, &ref.offset, sizeof(ref.offset));
    } else {
      patches[patch_count++] = (gpu_patch_t){at, ref.slot, ref.offset};
    }
  }
  return patch_count;
}

static void lower_dispatch(lowerer_t* lowerer, const hal_dispatch_t* dispatch, gpu_command_t* command) {
  const gpu_backend_t* backend = lowerer->backend;
  const gpu_function_t* function = function_of(backend, dispatch);
  const iree_hal_dispatch_config_t* config = &dispatch->config;
  command->dispatch.function = function;
  command->dispatch.executable = dispatch->executable;
  command->dispatch.index = iree_hal_executable_function_index(dispatch->function);
  command->dispatch.is_indirect = iree_hal_dispatch_uses_indirect_parameters(dispatch->flags);
  if (command->dispatch.is_indirect) command->target = lower_ref(lowerer, &config->workgroup_count_ref);
  for (int i = 0; i < 3; ++i) {
    command->dispatch.workgroup_size[i] = (uint16_t)workgroup_size(function, dispatch, i);
    command->dispatch.workgroup_count[i] = config->workgroup_count[i];
  }
  command->dispatch.dynamic_memory = config->dynamic_workgroup_local_memory;
  gpu_patch_t* patches = (gpu_patch_t*)lowerer->storage;
  void* form = patches + dispatch->bindings.count;
  uint8_t* arguments = (uint8_t*)form + iree_host_align(backend->form_size, 8);
  size_t size = gpu_command_arguments_size(function);
  memset(arguments, 0, size);
  command->dispatch.arguments = arguments;
  command->dispatch.patches = patches;
  if (iree_hal_dispatch_uses_indirect_arguments(dispatch->flags)) {
    iree_hal_buffer_ref_t ref = dispatch->bindings.values[0];
    ref.length = function->argument_size;
    if (ref.length) command->dispatch.caller_arguments = lower_ref(lowerer, &ref);
  } else if (iree_hal_dispatch_uses_custom_arguments(dispatch->flags)) {
    memcpy(arguments, dispatch->constants.data, dispatch->constants.data_length);
  } else {
    command->dispatch.patch_count = set_bindings(lowerer, dispatch->bindings, arguments, patches);
    size_t constants_at = function->binding_count * sizeof(uint64_t);
    if (dispatch->constants.data_length) {
      memcpy(arguments + constants_at, dispatch->constants.data, dispatch->constants.data_length);
    }
  }
  if (backend->add_arguments) backend->add_arguments(command, arguments);
  if (backend->make_form) backend->make_form(command, form);
  command->dispatch.form = form;
  lowerer->storage = arguments + size;
}

void gpu_command_write_arguments(const gpu_command_t* command, const gpu_range_t* ranges, uint8_t* out_arguments) {
  memcpy(out_arguments, command->dispatch.arguments, gpu_command_arguments_size(command->dispatch.function));
  for (uint32_t i = 0; i < command->dispatch.patch_count; ++i) {
    const gpu_patch_t* patch = &command->dispatch.patches[i];
    uint64_t address = ranges[patch->slot].address + patch->offset;
    memcpy(out_arguments + patch->at, &address, sizeof(address));
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Commands
//===----------------------------------------------------------------------------------------------------------------===

// Bytes that a command needs beside itself and what is recorded.
static size_t storage_size(const gpu_backend_t* backend, const hal_command_t* source) {
  return source->kind == HAL_COMMAND_DISPATCH ? dispatch_size(backend, &source->dispatch) : 0;
}

static void lower_command(lowerer_t* lowerer, const hal_command_t* source, gpu_command_t* command) {
  memset(command, 0, sizeof(*command));
  command->kind = source->kind;
  command->waits = source->waits;
  if (source->kind == HAL_COMMAND_DISPATCH) {
    lower_dispatch(lowerer, &source->dispatch, command);
    return;
  }
  command->target = lower_ref(lowerer, &source->target);
  if (source->kind == HAL_COMMAND_COPY) {
    command->source = lower_ref(lowerer, &source->source);
  } else if (source->kind == HAL_COMMAND_UPDATE) {
    command->data = source->data;
  } else {
    command->pattern.length = source->pattern.length;
    for (size_t i = 0; i < sizeof(command->pattern.data); i += source->pattern.length) {
      memcpy(command->pattern.data + i, source->pattern.data, source->pattern.length);
    }
  }
}

iree_status_t gpu_command_measure(const gpu_backend_t* backend, const hal_command_t* source, size_t* out_size) {
  if (source->kind == HAL_COMMAND_DISPATCH) IREE_RETURN_IF_ERROR(check_dispatch(backend, &source->dispatch));
  count_t count = {0};
  count_slots(source, &count);
  *out_size = sizeof(gpu_command_t) + count.loose * sizeof(gpu_slot_t) + storage_size(backend, source);
  if (source->kind == HAL_COMMAND_UPDATE) *out_size += iree_host_align(source->target.length, 8);
  return iree_ok_status();
}

gpu_work_t gpu_command_lower(const gpu_backend_t* backend, const hal_command_t* source, uint8_t* storage) {
  gpu_command_t* command = (gpu_command_t*)storage;
  count_t count = {0};
  count_slots(source, &count);
  lowerer_t lowerer = {.backend = backend, .slots = (gpu_slot_t*)(command + 1)};
  lowerer.storage = (uint8_t*)(lowerer.slots + count.loose);
  lower_command(&lowerer, source, command);
  if (source->kind == HAL_COMMAND_UPDATE) {
    command->data = (const uint8_t*)memcpy(lowerer.storage, source->data, source->target.length);
  }
  return (gpu_work_t){backend, command, 1, lowerer.slot_count, lowerer.slots, NULL, true};
}

//===----------------------------------------------------------------------------------------------------------------===
// Recordings
//===----------------------------------------------------------------------------------------------------------------===

// The commands of a recording, followed by its slots and what its dispatches have.
typedef struct command_list_t {
  gpu_work_t work;
  hal_profile_id_t profile_id;
  gpu_command_t* storage;  // of the commands and what follows them
  size_t capacity;         // of it, in bytes
  void* cleared_plan;      // of what was recorded before, or NULL
  gpu_device_t* device;
  iree_allocator_t host_allocator;
} command_list_t;

static iree_status_t check(void* lowered, const hal_dispatch_t* dispatch) {
  return check_dispatch(((command_list_t*)lowered)->work.backend, dispatch);
}

static iree_status_t reserve(command_list_t* list, size_t size) {
  if (size <= list->capacity) return iree_ok_status();
  iree_allocator_free(list->host_allocator, list->storage);
  list->storage = NULL;
  list->capacity = 0;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(list->host_allocator, size, (void**)&list->storage));
  list->capacity = size;
  return iree_ok_status();
}

static iree_status_t lower(void* lowered, const hal_recording_t* recording) {
  command_list_t* list = (command_list_t*)lowered;
  const gpu_backend_t* backend = list->work.backend;
  count_t count = {0};
  size_t size = recording->count * sizeof(gpu_command_t);
  if (size == 0) return iree_ok_status();
  for (iree_host_size_t i = 0; i < recording->count; ++i) {
    count_slots(&recording->commands[i], &count);
    size += storage_size(backend, &recording->commands[i]);
  }
  size += ((size_t)count.table + count.loose) * sizeof(gpu_slot_t);
  IREE_RETURN_IF_ERROR(reserve(list, size));
  gpu_command_t* commands = list->storage;
  gpu_slot_t* slots = (gpu_slot_t*)(commands + recording->count);
  memset(slots, 0, count.table * sizeof(*slots));
  lowerer_t lowerer = {.backend = backend, .slots = slots, .table_count = count.table, .slot_count = count.table};
  lowerer.storage = (uint8_t*)(slots + count.table + count.loose);
  for (iree_host_size_t i = 0; i < recording->count; ++i) {
    lower_command(&lowerer, &recording->commands[i], &commands[i]);
  }
  list->work = (gpu_work_t){backend, commands, (uint32_t)recording->count, lowerer.slot_count,
                            slots,   NULL,     list->work.is_one_shot};
  list->work.profile_id = &list->profile_id;
  list->work.plan = list->cleared_plan;
  list->cleared_plan = NULL;
  return backend->make_plan ? backend->make_plan(list->device, &list->work, &list->work.plan) : iree_ok_status();
}

static void list_reset(void* lowered) {
  command_list_t* list = (command_list_t*)lowered;
  const gpu_backend_t* backend = list->work.backend;
  if (list->work.plan && backend->clear_plan && !list->cleared_plan) {
    backend->clear_plan(list->work.plan);
    list->cleared_plan = list->work.plan;
  } else if (list->work.plan) {
    backend->free_plan(list->work.plan);
  }
  list->work = (gpu_work_t){.backend = list->work.backend, .is_one_shot = list->work.is_one_shot};
  list->profile_id = (hal_profile_id_t){0};
}

static void list_free(void* lowered) {
  command_list_t* list = (command_list_t*)lowered;
  list_reset(list);
  if (list->cleared_plan) list->work.backend->free_plan(list->cleared_plan);
  iree_allocator_free(list->host_allocator, list->storage);
  iree_allocator_free(list->host_allocator, list);
}

const hal_lowering_t gpu_lowering = {.check = check, .lower = lower, .reset = list_reset, .free = list_free};

iree_status_t gpu_device_create_command_buffer(iree_hal_device_t* base, iree_hal_command_buffer_mode_t mode,
                                               iree_hal_command_category_t categories,
                                               iree_hal_queue_affinity_t queue_affinity,
                                               iree_host_size_t binding_capacity,
                                               iree_hal_command_buffer_t** out_command_buffer) {
  gpu_device_t* device = (gpu_device_t*)base;
  iree_allocator_t host_allocator = device->base.host_allocator;
  hal_recorded_params_t params = {
      .mode = mode,
      .categories = categories,
      .queue_affinity = queue_affinity,
      .binding_capacity = binding_capacity,
      .block_size = device->recording_block_size,
      .host_allocator = host_allocator,
  };
  *out_command_buffer = NULL;
  command_list_t* list = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*list), (void**)&list));
  list->work.backend = device->backend;
  list->work.is_one_shot = iree_all_bits_set(mode, IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT);
  list->device = device;
  list->host_allocator = host_allocator;
  return hal_recorded_create(&params, &gpu_lowering, list, out_command_buffer);
}
