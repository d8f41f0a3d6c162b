// Recording of command buffers.
#include "hal/amdgpu/command_buffer.h"

enum { DEFAULT_BLOCK_SIZE = 32 * 1024 };

typedef struct block_t {
  struct block_t* next;
  size_t used, capacity;
  iree_alignas(16) uint8_t data[];
} block_t;

typedef struct amdgpu_command_buffer_t {
  iree_hal_command_buffer_t base;
  iree_allocator_t host_allocator;
  iree_host_size_t command_count, command_capacity;
  command_t* commands;
  iree_host_size_t resource_count, resource_capacity;
  const void** resources;  // retained
  block_t* blocks;
  size_t block_size;  // bytes
  bool waits;         // a barrier came after the last command
  iree_hal_command_buffer_slot_t slots[];
} amdgpu_command_buffer_t;

static amdgpu_command_buffer_t* cast(iree_hal_command_buffer_t* base) { return (amdgpu_command_buffer_t*)base; }

static void command_buffer_destroy(iree_hal_command_buffer_t* base) {
  amdgpu_command_buffer_t* self = cast(base);
  for (iree_host_size_t i = 0; i < self->resource_count; ++i) iree_hal_resource_release(self->resources[i]);
  while (self->blocks) {
    block_t* block = self->blocks;
    self->blocks = block->next;
    iree_allocator_free(self->host_allocator, block);
  }
  iree_allocator_free(self->host_allocator, self->commands);
  iree_allocator_free(self->host_allocator, (void*)self->resources);
  iree_allocator_free(self->host_allocator, self);
}

//===----------------------------------------------------------------------------------------------------------------===
// Storage
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t allocate(amdgpu_command_buffer_t* self, size_t size, uint8_t** out_data) {
  size = iree_host_align(size, 16);
  block_t* block = self->blocks;
  if (!block || block->capacity - block->used < size) {
    size_t capacity = iree_max(size, self->block_size);
    IREE_RETURN_IF_ERROR(
        iree_allocator_malloc_uninitialized(self->host_allocator, sizeof(*block) + capacity, (void**)&block));
    *block = (block_t){.next = self->blocks, .capacity = capacity};
    self->blocks = block;
  }
  *out_data = block->data + block->used;
  block->used += size;
  return iree_ok_status();
}

static iree_status_t retain(amdgpu_command_buffer_t* self, const void* resource) {
  if (!resource || self->base.mode & IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED) return iree_ok_status();
  if (self->resource_count && self->resources[self->resource_count - 1] == resource) return iree_ok_status();
  if (self->resource_count == self->resource_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(self->host_allocator, 16, sizeof(*self->resources),
                                                   &self->resource_capacity, (void**)&self->resources));
  }
  iree_hal_resource_retain(resource);
  self->resources[self->resource_count++] = resource;
  return iree_ok_status();
}

static iree_status_t append(amdgpu_command_buffer_t* self, command_t** out_command) {
  if (self->command_count == self->command_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(self->host_allocator, 16, sizeof(*self->commands),
                                                   &self->command_capacity, (void**)&self->commands));
  }
  *out_command = &self->commands[self->command_count++];
  return iree_ok_status();
}

static void finish_command(amdgpu_command_buffer_t* self, command_t* command) {
  command->waits = self->waits;
  self->waits = false;
}

//===----------------------------------------------------------------------------------------------------------------===
// Recording
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t command_buffer_end(iree_hal_command_buffer_t* base) { return iree_ok_status(); }

static iree_status_t command_buffer_barrier(iree_hal_command_buffer_t* base,
                                            iree_hal_execution_stage_t source_stage_mask,
                                            iree_hal_execution_stage_t target_stage_mask) {
  cast(base)->waits = true;
  return iree_ok_status();
}

static iree_status_t command_buffer_fill_buffer(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t target_ref,
                                                const void* pattern, iree_host_size_t pattern_length,
                                                iree_hal_fill_flags_t flags) {
  amdgpu_command_buffer_t* self = cast(base);
  command_t* command = NULL;
  IREE_RETURN_IF_ERROR(retain(self, target_ref.buffer));
  IREE_RETURN_IF_ERROR(append(self, &command));
  command_fill(command, target_ref, pattern, pattern_length);
  finish_command(self, command);
  return iree_ok_status();
}

static iree_status_t command_buffer_update_buffer(iree_hal_command_buffer_t* base, const void* source_buffer,
                                                  iree_host_size_t source_offset, iree_hal_buffer_ref_t target_ref,
                                                  iree_hal_update_flags_t flags) {
  amdgpu_command_buffer_t* self = cast(base);
  command_t* command = NULL;
  uint8_t* data = NULL;
  if (target_ref.length == IREE_HAL_WHOLE_BUFFER) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the length of an update must be given");
  }
  IREE_RETURN_IF_ERROR(retain(self, target_ref.buffer));
  IREE_RETURN_IF_ERROR(allocate(self, target_ref.length, &data));
  memcpy(data, (const uint8_t*)source_buffer + source_offset, target_ref.length);
  IREE_RETURN_IF_ERROR(append(self, &command));
  command_update(command, data, target_ref);
  finish_command(self, command);
  return iree_ok_status();
}

static iree_status_t command_buffer_copy_buffer(iree_hal_command_buffer_t* base, iree_hal_buffer_ref_t source_ref,
                                                iree_hal_buffer_ref_t target_ref, iree_hal_copy_flags_t flags) {
  amdgpu_command_buffer_t* self = cast(base);
  command_t* command = NULL;
  IREE_RETURN_IF_ERROR(retain(self, source_ref.buffer));
  IREE_RETURN_IF_ERROR(retain(self, target_ref.buffer));
  IREE_RETURN_IF_ERROR(append(self, &command));
  command_copy(command, source_ref, target_ref);
  finish_command(self, command);
  return iree_ok_status();
}

static iree_status_t command_buffer_dispatch(iree_hal_command_buffer_t* base, iree_hal_executable_t* executable,
                                             iree_hal_executable_function_t function,
                                             const iree_hal_dispatch_config_t* config, iree_const_byte_span_t constants,
                                             iree_hal_buffer_ref_list_t bindings, iree_hal_dispatch_flags_t flags) {
  amdgpu_command_buffer_t* self = cast(base);
  command_dispatch_t dispatch = {executable, function, config, constants, bindings, flags};
  command_t* command = NULL;
  uint8_t* storage = NULL;
  size_t storage_size = 0;
  IREE_RETURN_IF_ERROR(command_dispatch_check(&dispatch, &storage_size));
  IREE_RETURN_IF_ERROR(retain(self, executable));
  if (iree_hal_dispatch_uses_indirect_parameters(flags)) {
    IREE_RETURN_IF_ERROR(retain(self, config->workgroup_count_ref.buffer));
  }
  for (iree_host_size_t i = 0; i < bindings.count; ++i) IREE_RETURN_IF_ERROR(retain(self, bindings.values[i].buffer));
  IREE_RETURN_IF_ERROR(allocate(self, storage_size, &storage));
  IREE_RETURN_IF_ERROR(append(self, &command));
  command_dispatch(command, &dispatch, storage);
  finish_command(self, command);
  return iree_ok_status();
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

bool amdgpu_command_buffer_commands(iree_hal_command_buffer_t* base, const command_t** out_commands,
                                    uint32_t* out_count) {
  if (!iree_hal_resource_is(base, &command_buffer_vtable)) return false;
  *out_commands = cast(base)->commands;
  *out_count = (uint32_t)cast(base)->command_count;
  return true;
}

iree_status_t amdgpu_command_buffer_create(logical_device_t* device, iree_hal_command_buffer_mode_t mode,
                                           iree_hal_command_category_t categories,
                                           iree_hal_queue_affinity_t queue_affinity, iree_host_size_t binding_capacity,
                                           iree_hal_command_buffer_t** out_command_buffer) {
  *out_command_buffer = NULL;
  bool validates = !(mode & IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED);
  amdgpu_command_buffer_t* self = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(device->base.host_allocator, sizeof(*self),
                                                          validates ? binding_capacity : 0, sizeof(self->slots[0]),
                                                          (void**)&self));
  iree_hal_command_buffer_initialize(mode, categories, queue_affinity, binding_capacity, validates ? self->slots : NULL,
                                     &command_buffer_vtable, &self->base);
  self->host_allocator = device->base.host_allocator;
  uint64_t block_size = device->options.user.host_block_pool_command_buffer_size;
  self->block_size = block_size ? block_size : DEFAULT_BLOCK_SIZE;
  *out_command_buffer = &self->base;
  return iree_ok_status();
}
