// Queue-ordered buffers. The handle is there at once; the memory when the driver stages it: as soon as it is to be had
// where a device's work that uses it is ordered after its allocation anyway, else when the allocation runs. The host
// may map it once the allocation has run. Memory is a slice of the driver's pool where it has one that fits; else a
// block of its own, which the device keeps when it is freed, for the next allocation of about the same size.
#include "hal/queued_device.h"

typedef struct transient_buffer_t {
  iree_hal_buffer_t base;
  hal_queued_device_t* device;  // not owned: buffers with memory do not outlive their device's queues
  iree_hal_allocator_t* allocator;
  iree_allocator_t host_allocator;
  iree_hal_buffer_params_t params;
  iree_hal_buffer_params_t compatible;  // what the allocator makes of them
  iree_hal_buffer_t* block;             // atomic; NULL while there is no memory
  iree_device_size_t offset;            // of the memory within the block
  hal_pool_t* pool;                     // set: the block is its range, `slice` the part
  hal_pool_slice_t slice;
  bool is_committed;  // atomic: the host may see it
  bool is_released;   // atomic: its release was submitted
} transient_buffer_t;

//===----------------------------------------------------------------------------------------------------------------===
// Freed blocks
//===----------------------------------------------------------------------------------------------------------------===

static bool block_fits(const iree_hal_buffer_t* block, const transient_buffer_t* buffer) {
  iree_device_size_t size = buffer->base.byte_length;
  return block->allocation_size >= size && block->allocation_size <= size + size / 4 + 4096 &&
         block->memory_type == buffer->base.memory_type &&
         iree_all_bits_set(block->allowed_usage, buffer->base.allowed_usage) &&
         buffer->params.min_alignment <= buffer->device->block_alignment;
}

static iree_hal_buffer_t* take_block(transient_buffer_t* buffer) {
  hal_queued_device_t* device = buffer->device;
  iree_hal_buffer_t* block = NULL;
  iree_slim_mutex_lock(&device->mutex);
  for (int i = 0; i < HAL_CACHED_BLOCKS && !block; ++i) {
    if (!device->cached_blocks[i] || !block_fits(device->cached_blocks[i], buffer)) continue;
    block = device->cached_blocks[i];
    device->cached_blocks[i] = NULL;
  }
  iree_slim_mutex_unlock(&device->mutex);
  return block;
}

// Keeps the block; when all places are taken the oldest goes.
static void keep_block(hal_queued_device_t* device, iree_hal_buffer_t* block) {
  iree_hal_buffer_t** blocks = device->cached_blocks;
  iree_slim_mutex_lock(&device->mutex);
  int place = 0;
  while (place < HAL_CACHED_BLOCKS && blocks[place]) ++place;
  iree_hal_buffer_t* evicted = NULL;
  if (place == HAL_CACHED_BLOCKS) {
    evicted = blocks[0];
    memmove(blocks, blocks + 1, (HAL_CACHED_BLOCKS - 1) * sizeof(*blocks));
    --place;
  }
  blocks[place] = block;
  iree_slim_mutex_unlock(&device->mutex);
  iree_hal_buffer_release(evicted);
}

void hal_transient_trim(hal_queued_device_t* device) {
  if (device->interface->trim) device->interface->trim(device);
  for (int i = 0; i < HAL_CACHED_BLOCKS; ++i) {
    iree_slim_mutex_lock(&device->mutex);
    iree_hal_buffer_t* block = device->cached_blocks[i];
    device->cached_blocks[i] = NULL;
    iree_slim_mutex_unlock(&device->mutex);
    iree_hal_buffer_release(block);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// The buffer
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_transient_fail(void) {
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                          "queue-ordered buffer has no memory: its allocation has not run yet, or it was deallocated");
}

static iree_hal_buffer_t* load_block(const transient_buffer_t* buffer) {
  return __atomic_load_n(&buffer->block, __ATOMIC_ACQUIRE);
}

static void give_slice(transient_buffer_t* buffer, hal_pool_point_t point) {
  hal_pool_give(buffer->pool, buffer->slice, point);
  hal_pool_release(buffer->pool);
  buffer->pool = NULL;
}

// A buffer that was never deallocated gives its memory back to the pool or the system: its device may be gone.
static void transient_destroy(iree_hal_buffer_t* base) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  if (buffer->pool) {
    give_slice(buffer, (hal_pool_point_t){0});
  } else {
    iree_hal_buffer_release(buffer->block);
  }
  iree_hal_allocator_release(buffer->allocator);
  iree_hal_buffer_deinitialize(base);
  iree_allocator_free(buffer->host_allocator, buffer);
}

static iree_status_t transient_map_range(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                                         iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                         iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  iree_hal_buffer_t* block = load_block(buffer);
  if (!block || !__atomic_load_n(&buffer->is_committed, __ATOMIC_ACQUIRE)) return hal_transient_fail();
  return IREE_HAL_VTABLE(block, iree_hal_buffer)
      ->map_range(block, mapping_mode, memory_access, buffer->offset + local_byte_offset, local_byte_length, mapping);
}

static iree_status_t transient_unmap_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                           iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  iree_hal_buffer_t* block = load_block(buffer);
  if (!block) return iree_ok_status();
  return IREE_HAL_VTABLE(block, iree_hal_buffer)
      ->unmap_range(block, buffer->offset + local_byte_offset, local_byte_length, mapping);
}

static iree_status_t transient_invalidate_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                                iree_device_size_t local_byte_length) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  iree_hal_buffer_t* block = load_block(buffer);
  if (!block) return iree_ok_status();
  return IREE_HAL_VTABLE(block, iree_hal_buffer)
      ->invalidate_range(block, buffer->offset + local_byte_offset, local_byte_length);
}

static iree_status_t transient_flush_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                           iree_device_size_t local_byte_length) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  iree_hal_buffer_t* block = load_block(buffer);
  if (!block) return iree_ok_status();
  return IREE_HAL_VTABLE(block, iree_hal_buffer)
      ->flush_range(block, buffer->offset + local_byte_offset, local_byte_length);
}

static const iree_hal_buffer_vtable_t transient_vtable = {
    .destroy = transient_destroy,
    .map_range = transient_map_range,
    .unmap_range = transient_unmap_range,
    .invalidate_range = transient_invalidate_range,
    .flush_range = transient_flush_range,
};

bool hal_transient_is(iree_hal_buffer_t* buffer) { return iree_hal_resource_is(buffer, &transient_vtable); }

iree_hal_buffer_t* hal_transient_block(iree_hal_buffer_t* base, iree_device_size_t* out_offset) {
  *out_offset = 0;
  if (!hal_transient_is(base)) return base;
  iree_hal_buffer_t* block = load_block((transient_buffer_t*)base);
  if (block) *out_offset = ((transient_buffer_t*)base)->offset;
  return block;
}

iree_status_t hal_transient_create(hal_queued_device_t* device, iree_hal_queue_affinity_t queue_affinity,
                                   const iree_hal_buffer_params_t* params, iree_device_size_t size,
                                   iree_hal_alloca_flags_t flags, iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  iree_hal_buffer_params_t compatible;
  iree_device_size_t allocation_size = 0;
  iree_hal_buffer_compatibility_t compatibility =
      iree_hal_allocator_query_buffer_compatibility(device->allocator, *params, size, &compatible, &allocation_size);
  if (!(compatibility & IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no memory has the requested properties");
  }
  transient_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, sizeof(*buffer), (void**)&buffer));
  iree_hal_buffer_placement_t placement = {
      .device = (iree_hal_device_t*)device,
      .queue_affinity = queue_affinity,
      .flags = IREE_HAL_BUFFER_PLACEMENT_FLAG_ASYNCHRONOUS,
  };
  if (flags & IREE_HAL_ALLOCA_FLAG_INDETERMINATE_LIFETIME) {
    placement.flags |= IREE_HAL_BUFFER_PLACEMENT_FLAG_INDETERMINATE_LIFETIME;
  }
  iree_hal_buffer_initialize(placement, &buffer->base, allocation_size, 0, size, compatible.type, compatible.access,
                             compatible.usage, &transient_vtable, &buffer->base);
  buffer->device = device;
  buffer->host_allocator = device->host_allocator;
  buffer->allocator = device->allocator;
  iree_hal_allocator_retain(buffer->allocator);
  buffer->params = *params;
  buffer->compatible = compatible;
  *out_buffer = &buffer->base;
  return iree_ok_status();
}

static hal_pool_t* choose_pool(const transient_buffer_t* buffer) {
  const hal_operation_interface_t* interface = buffer->device->interface;
  hal_pool_t* pool = interface->pool ? interface->pool(buffer->device, buffer->params.queue_affinity) : NULL;
  bool fits = pool && hal_pool_allocator(pool) == buffer->allocator &&
              hal_pool_fits(pool, &buffer->compatible, buffer->base.byte_length);
  return fits ? pool : NULL;
}

iree_status_t hal_transient_stage(iree_hal_buffer_t* base, hal_pool_taker_t taker, hal_pool_frontier_t* out_frontier) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  hal_pool_t* pool = choose_pool(buffer);
  iree_hal_buffer_t* block = NULL;
  out_frontier->count = 0;
  if (pool) {
    IREE_RETURN_IF_ERROR(hal_pool_take(pool, base->byte_length, taker, &buffer->slice, out_frontier));
    hal_pool_retain(pool);
    buffer->pool = pool;
    buffer->offset = buffer->slice.offset;
    block = buffer->slice.range;
  } else {
    block = take_block(buffer);
  }
  if (!block) {
    IREE_RETURN_IF_ERROR(
        iree_hal_allocator_allocate_buffer(buffer->allocator, buffer->params, base->byte_length, &block));
  }
  __atomic_store_n(&buffer->block, block, __ATOMIC_RELEASE);
  return iree_ok_status();
}

void hal_transient_commit(iree_hal_buffer_t* base) {
  __atomic_store_n(&((transient_buffer_t*)base)->is_committed, true, __ATOMIC_RELEASE);
}

bool hal_transient_mark_released(iree_hal_buffer_t* base, bool is_released) {
  return __atomic_exchange_n(&((transient_buffer_t*)base)->is_released, is_released, __ATOMIC_ACQ_REL) != is_released;
}

void hal_transient_release_after(iree_hal_buffer_t* base, hal_pool_point_t point) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  if (!buffer->pool) return;
  __atomic_store_n(&buffer->is_committed, false, __ATOMIC_RELEASE);
  if (__atomic_exchange_n(&buffer->block, NULL, __ATOMIC_ACQ_REL)) give_slice(buffer, point);
}

void hal_transient_decommit(iree_hal_buffer_t* base) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  __atomic_store_n(&buffer->is_committed, false, __ATOMIC_RELEASE);
  iree_hal_buffer_t* block = __atomic_exchange_n(&buffer->block, NULL, __ATOMIC_ACQ_REL);
  if (!block) return;
  if (buffer->pool) {
    give_slice(buffer, (hal_pool_point_t){0});
  } else {
    keep_block(buffer->device, block);
  }
}
