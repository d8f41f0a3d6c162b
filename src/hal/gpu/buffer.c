// Buffers in memory that GPUs reach.
#include "hal/gpu/allocator.h"

typedef struct gpu_buffer_t {
  iree_hal_buffer_t base;
  iree_allocator_t host_allocator;
  gpu_allocator_t* allocator;  // retained
  gpu_memory_t memory;
} gpu_buffer_t;

static void buffer_destroy(iree_hal_buffer_t* base) {
  gpu_buffer_t* buffer = (gpu_buffer_t*)base;
  gpu_allocator_t* allocator = buffer->allocator;
  gpu_allocator_free_memory(allocator, &buffer->memory, base);
  iree_hal_buffer_deinitialize(base);
  iree_allocator_free(buffer->host_allocator, buffer);
  iree_hal_resource_release(allocator);
}

static iree_status_t buffer_map_range(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                                      iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                      iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  uint8_t* host = ((gpu_buffer_t*)base)->memory.host;
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

iree_status_t gpu_buffer_create(gpu_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                const gpu_memory_t* memory, iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  gpu_buffer_t* buffer = NULL;
  iree_allocator_t host_allocator = gpu_allocator_params(allocator)->host_allocator;
  iree_status_t status = iree_allocator_malloc(host_allocator, sizeof(*buffer), (void**)&buffer);
  if (!iree_status_is_ok(status)) {
    gpu_memory_t taken = *memory;
    taken.release.fn = NULL;  // only for memory that was imported
    gpu_allocator_free_memory(allocator, &taken, NULL);
    return status;
  }
  iree_hal_buffer_placement_t placement = {.queue_affinity = params->queue_affinity};
  iree_hal_buffer_initialize(placement, &buffer->base, memory->size, 0, memory->length, params->type, params->access,
                             params->usage, &buffer_vtable, &buffer->base);
  buffer->host_allocator = host_allocator;
  buffer->allocator = allocator;
  iree_hal_resource_retain(allocator);
  buffer->memory = *memory;
  *out_buffer = &buffer->base;
  return iree_ok_status();
}

const gpu_memory_t* gpu_buffer_memory(iree_hal_buffer_t* base, iree_device_size_t* out_offset) {
  iree_hal_buffer_t* block = hal_transient_block(base->allocated_buffer, out_offset);
  *out_offset += base->byte_offset;
  return iree_hal_resource_is(block, &buffer_vtable) ? &((gpu_buffer_t*)block)->memory : NULL;
}

bool gpu_buffer_is_fixed(iree_hal_buffer_t* base) {
  return iree_hal_resource_is(base->allocated_buffer, &buffer_vtable);
}

iree_status_t gpu_buffer_address(iree_hal_buffer_t* base, uint64_t* out_address) {
  iree_device_size_t offset = 0;
  const gpu_memory_t* memory = gpu_buffer_memory(base, &offset);
  if (memory) {
    *out_address = memory->address + offset;
    return iree_ok_status();
  }
  if (hal_transient_is(base->allocated_buffer)) return hal_transient_fail();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the buffer is not in memory that the GPU reaches");
}
