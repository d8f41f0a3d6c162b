// Buffers: memory of a pool, or host memory that GPUs were given access to.
#include "hal/amdgpu/allocator.h"

typedef struct amdgpu_buffer_t {
  iree_hal_buffer_t base;
  iree_allocator_t host_allocator;
  amdgpu_allocator_t* allocator;  // retained
  buffer_memory_t memory;
} amdgpu_buffer_t;

static void free_memory(amdgpu_allocator_t* allocator, const buffer_memory_t* memory, iree_hal_buffer_t* buffer) {
  const libhsa_t* hsa = allocator->system->hsa;
  if (memory->source == BUFFER_POOL) hsa->hsa_amd_memory_pool_free((void*)(uintptr_t)memory->address);
  if (memory->source == BUFFER_LOCKED) hsa->hsa_amd_memory_unlock(memory->host);
  if (memory->release.fn) memory->release.fn(memory->release.user_data, buffer);
}

static void buffer_destroy(iree_hal_buffer_t* base) {
  amdgpu_buffer_t* buffer = (amdgpu_buffer_t*)base;
  amdgpu_allocator_t* allocator = buffer->allocator;
  free_memory(allocator, &buffer->memory, base);
  if (buffer->memory.source == BUFFER_POOL) {
    amdgpu_allocator_record(allocator, base->memory_type, buffer->memory.size, /*is_free=*/true);
  }
  iree_hal_buffer_deinitialize(base);
  iree_allocator_free(buffer->host_allocator, buffer);
  iree_hal_resource_release(allocator);
}

static iree_status_t buffer_map_range(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                                      iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                      iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  uint8_t* host = ((amdgpu_buffer_t*)base)->memory.host;
  if (!host) return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "the host cannot reach the buffer's memory");
  mapping->contents = iree_make_byte_span(host + local_byte_offset, local_byte_length);
  return iree_ok_status();
}

static iree_status_t buffer_unmap_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                        iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  return iree_ok_status();
}

static iree_status_t buffer_sync_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                       iree_device_size_t local_byte_length) {
  // What the host can map is coherent: submissions begin and end with a fence of the whole system's scope.
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return iree_ok_status();
}

static const iree_hal_buffer_vtable_t buffer_vtable = {
    .destroy = buffer_destroy,
    .map_range = buffer_map_range,
    .unmap_range = buffer_unmap_range,
    .invalidate_range = buffer_sync_range,
    .flush_range = buffer_sync_range,
};

iree_status_t amdgpu_buffer_create(amdgpu_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                   const buffer_memory_t* memory, iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  amdgpu_buffer_t* buffer = NULL;
  iree_status_t status = iree_allocator_malloc(allocator->host_allocator, sizeof(*buffer), (void**)&buffer);
  if (!iree_status_is_ok(status)) {
    buffer_memory_t taken = *memory;
    taken.release.fn = NULL;  // only for memory that was imported
    free_memory(allocator, &taken, NULL);
    return status;
  }
  iree_hal_buffer_placement_t placement = {.queue_affinity = params->queue_affinity};
  iree_hal_buffer_initialize(placement, &buffer->base, memory->size, 0, memory->length, params->type, params->access,
                             params->usage, &buffer_vtable, &buffer->base);
  buffer->host_allocator = allocator->host_allocator;
  buffer->allocator = allocator;
  iree_hal_resource_retain(allocator);
  buffer->memory = *memory;
  *out_buffer = &buffer->base;
  return iree_ok_status();
}

const buffer_memory_t* amdgpu_buffer_memory(iree_hal_buffer_t* base, iree_device_size_t* out_offset) {
  iree_hal_buffer_t* block = hal_transient_block(base->allocated_buffer, out_offset);
  *out_offset += base->byte_offset;
  return iree_hal_resource_is(block, &buffer_vtable) ? &((amdgpu_buffer_t*)block)->memory : NULL;
}

bool amdgpu_buffer_is_fixed(iree_hal_buffer_t* base) {
  return iree_hal_resource_is(base->allocated_buffer, &buffer_vtable);
}

iree_status_t amdgpu_buffer_address(iree_hal_buffer_t* base, uint64_t* out_address) {
  iree_device_size_t offset = 0;
  const buffer_memory_t* memory = amdgpu_buffer_memory(base, &offset);
  if (memory) {
    *out_address = memory->address + offset;
    return iree_ok_status();
  }
  if (hal_transient_is(base->allocated_buffer)) return hal_transient_fail();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the buffer is not in memory that the GPU reaches");
}
