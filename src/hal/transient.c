// Queue-ordered buffers. The handle is there at once; the memory when the driver stages it: as soon as it is to be had
// where a device's work that uses it is ordered after its allocation anyway, else when the allocation runs. The host
// may map it once the allocation has run. Memory is a slice of the driver's pool where it has one that fits; else a
// block of its own, which the device keeps when it is freed, for the next allocation of about the same size.
#include "hal/queued_device.h"

enum { MAX_BLOCKS = 64 };

// Lives as long as the device, and as any of its handles.
struct hal_transient_store_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  hal_idle_list_t handles;
  iree_slim_mutex_t mutex;                // guards what follows
  iree_hal_buffer_t* blocks[MAX_BLOCKS];  // freed ones, the oldest first
  uint32_t block_count;
  iree_device_size_t free_size;  // bytes of those blocks
  iree_device_size_t used_size;  // bytes of blocks in use
  iree_device_size_t peak_size;  // the most that was in use
};

// Bits of a buffer's state.
enum {
  HAS_MEMORY = 1,    // `block` to `slice` are valid; whoever clears the bit gives the memory back
  IS_COMMITTED = 2,  // the host may see it
  IS_RELEASED = 4,   // its release was submitted
};

typedef struct transient_buffer_t {
  iree_hal_buffer_t base;
  hal_queued_device_t* device;   // not owned: buffers with memory do not outlive their device's queues
  hal_transient_store_t* store;  // retained
  hal_idle_t idle;
  iree_hal_allocator_t* allocator;
  iree_hal_buffer_params_t params;
  iree_hal_buffer_params_t compatible;  // what the allocator makes of them
  iree_atomic_uint32_t state;
  iree_hal_buffer_t* block;
  iree_device_size_t offset;  // of the memory within the block
  hal_pool_t* pool;           // set: the block is its range, `slice` the part
  hal_pool_slice_t slice;
  iree_atomic_uint64_t allocation;  // its number in profiles; 0: none yet
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

// Takes the `place`th free block out. The mutex is held.
static iree_hal_buffer_t* remove_block(hal_transient_store_t* store, uint32_t place) {
  iree_hal_buffer_t* block = store->blocks[place];
  store->free_size -= block->allocation_size;
  memmove(&store->blocks[place], &store->blocks[place + 1], (--store->block_count - place) * sizeof(block));
  return block;
}

// Releases the oldest blocks until there is no more memory than at the peak, and room for `room` more.
static void evict(hal_transient_store_t* store, uint32_t room) {
  iree_hal_buffer_t* evicted[MAX_BLOCKS];
  uint32_t count = 0;
  iree_slim_mutex_lock(&store->mutex);
  while (store->block_count &&
         (store->used_size + store->free_size > store->peak_size || store->block_count + room > MAX_BLOCKS)) {
    evicted[count++] = remove_block(store, 0);
  }
  iree_slim_mutex_unlock(&store->mutex);
  for (uint32_t i = 0; i < count; ++i) iree_hal_buffer_release(evicted[i]);
}

// The newest block that fits; NULL when there is none.
static iree_hal_buffer_t* find_block(transient_buffer_t* buffer) {
  hal_transient_store_t* store = buffer->store;
  iree_hal_buffer_t* block = NULL;
  iree_slim_mutex_lock(&store->mutex);
  for (uint32_t i = store->block_count; i-- > 0 && !block;) {
    if (block_fits(store->blocks[i], buffer)) block = remove_block(store, i);
  }
  if (block) store->used_size += block->allocation_size;
  iree_slim_mutex_unlock(&store->mutex);
  return block;
}

static iree_status_t take_block(transient_buffer_t* buffer, iree_hal_buffer_t** out_block) {
  hal_transient_store_t* store = buffer->store;
  *out_block = find_block(buffer);
  if (*out_block) return iree_ok_status();
  IREE_RETURN_IF_ERROR(
      iree_hal_allocator_allocate_buffer(buffer->allocator, buffer->params, buffer->base.byte_length, out_block));
  iree_slim_mutex_lock(&store->mutex);
  store->used_size += (*out_block)->allocation_size;
  store->peak_size = iree_max(store->peak_size, store->used_size);
  bool is_too_much = store->used_size + store->free_size > store->peak_size;
  iree_slim_mutex_unlock(&store->mutex);
  if (is_too_much) evict(store, 0);
  return iree_ok_status();
}

// A block is not in use any more: it is kept, or goes.
static void give_block(hal_transient_store_t* store, iree_hal_buffer_t* block, bool is_kept) {
  if (is_kept) evict(store, 1);
  iree_slim_mutex_lock(&store->mutex);
  store->used_size -= block->allocation_size;
  if (is_kept && store->block_count < MAX_BLOCKS) {
    store->blocks[store->block_count++] = block;
    store->free_size += block->allocation_size;
    block = NULL;
  }
  iree_slim_mutex_unlock(&store->mutex);
  iree_hal_buffer_release(block);
}

//===----------------------------------------------------------------------------------------------------------------===
// The store
//===----------------------------------------------------------------------------------------------------------------===

static void store_release(hal_transient_store_t* store) {
  if (!store || iree_atomic_ref_count_dec(&store->ref_count) != 1) return;
  for (hal_idle_t* idle; (idle = hal_idle_list_take(&store->handles)) != NULL;) {
    iree_allocator_free(store->host_allocator, hal_idle_object(idle, offsetof(transient_buffer_t, idle)));
  }
  hal_idle_list_deinitialize(&store->handles);
  iree_slim_mutex_deinitialize(&store->mutex);
  iree_allocator_free(store->host_allocator, store);
}

static iree_status_t store_create(iree_allocator_t host_allocator, hal_transient_store_t** out_store) {
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(**out_store), (void**)out_store));
  iree_atomic_ref_count_init(&(*out_store)->ref_count);
  (*out_store)->host_allocator = host_allocator;
  hal_idle_list_initialize(&(*out_store)->handles);
  iree_slim_mutex_initialize(&(*out_store)->mutex);
  return iree_ok_status();
}

// A handle, zeroed but for its store and its allocator.
static iree_status_t take_handle(hal_queued_device_t* device, transient_buffer_t** out_buffer) {
  iree_status_t status = iree_ok_status();
  iree_slim_mutex_lock(&device->mutex);
  if (!device->transients) status = store_create(device->host_allocator, &device->transients);
  hal_transient_store_t* store = device->transients;
  iree_hal_allocator_t* allocator = device->allocator;
  if (iree_status_is_ok(status)) iree_hal_allocator_retain(allocator);
  iree_slim_mutex_unlock(&device->mutex);
  IREE_RETURN_IF_ERROR(status);
  hal_idle_t* idle = hal_idle_list_take(&store->handles);
  transient_buffer_t* buffer = (transient_buffer_t*)hal_idle_object(idle, offsetof(transient_buffer_t, idle));
  if (!buffer) status = iree_allocator_malloc_uninitialized(device->host_allocator, sizeof(*buffer), (void**)&buffer);
  if (!iree_status_is_ok(status)) {
    iree_hal_allocator_release(allocator);
    return status;
  }
  memset(buffer, 0, sizeof(*buffer));
  iree_atomic_ref_count_inc(&store->ref_count);
  buffer->store = store;
  buffer->allocator = allocator;
  *out_buffer = buffer;
  return iree_ok_status();
}

static void give_handle(transient_buffer_t* buffer) {
  hal_transient_store_t* store = buffer->store;
  iree_hal_allocator_release(buffer->allocator);
  hal_idle_list_give(&store->handles, &buffer->idle);
  store_release(store);
}

void hal_transient_trim(hal_queued_device_t* device) {
  if (device->interface->trim) device->interface->trim(device);
  iree_slim_mutex_lock(&device->mutex);
  hal_transient_store_t* store = device->transients;
  iree_slim_mutex_unlock(&device->mutex);
  if (!store) return;
  iree_slim_mutex_lock(&store->mutex);
  store->peak_size = store->used_size;
  iree_slim_mutex_unlock(&store->mutex);
  evict(store, 0);
}

void hal_transient_close(hal_queued_device_t* device) {
  hal_transient_trim(device);
  store_release(device->transients);
  device->transients = NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// The buffer
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_transient_fail(void) {
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                          "queue-ordered buffer has no memory: its allocation has not run yet, or it was deallocated");
}

static uint32_t load_state(const transient_buffer_t* buffer) {
  return iree_atomic_load(&buffer->state, iree_memory_order_acquire);
}

static iree_hal_buffer_t* load_block(const transient_buffer_t* buffer) {
  return load_state(buffer) & HAS_MEMORY ? buffer->block : NULL;
}

// Gives the memory back, if there is any: a slice for use after `point`, a block to be kept or not.
static void give_memory(transient_buffer_t* buffer, hal_pool_point_t point, bool is_kept) {
  uint32_t state =
      iree_atomic_fetch_and(&buffer->state, ~(uint32_t)(HAS_MEMORY | IS_COMMITTED), iree_memory_order_acq_rel);
  if (!(state & HAS_MEMORY)) return;
  if (buffer->pool) {
    hal_pool_give(buffer->pool, buffer->slice, point);
    hal_pool_release(buffer->pool);
  } else {
    give_block(buffer->store, buffer->block, is_kept);
  }
}

// A buffer that was never deallocated gives its memory back to the pool or the system: its device may be gone.
static void transient_destroy(iree_hal_buffer_t* base) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  give_memory(buffer, (hal_pool_point_t){0}, /*is_kept=*/false);
  iree_hal_buffer_deinitialize(base);
  give_handle(buffer);
}

static iree_status_t transient_map_range(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                                         iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                         iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  iree_hal_buffer_t* block = load_block(buffer);
  if (!block || !(load_state(buffer) & IS_COMMITTED)) return hal_transient_fail();
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
  transient_buffer_t* buffer = NULL;
  IREE_RETURN_IF_ERROR(take_handle(device, &buffer));
  iree_hal_buffer_compatibility_t compatibility =
      iree_hal_allocator_query_buffer_compatibility(buffer->allocator, *params, size, &compatible, &allocation_size);
  if (!(compatibility & IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE)) {
    give_handle(buffer);
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no memory has the requested properties");
  }
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
  buffer->params = *params;
  buffer->compatible = compatible;
  *out_buffer = &buffer->base;
  return iree_ok_status();
}

static hal_pool_t* choose_pool(const transient_buffer_t* buffer) {
  const hal_operation_interface_t* interface = buffer->device->interface;
  hal_pool_t* pool = interface->pool ? interface->pool(buffer->device, buffer->params.queue_affinity) : NULL;
  return hal_pool_choose(pool, buffer->allocator, &buffer->compatible, buffer->base.byte_length);
}

//===----------------------------------------------------------------------------------------------------------------===
// In profiles
//===----------------------------------------------------------------------------------------------------------------===

uint64_t hal_transient_allocation(iree_hal_buffer_t* base) {
  if (!hal_transient_is(base)) return 0;
  iree_atomic_uint64_t* allocation = &((transient_buffer_t*)base)->allocation;
  uint64_t number = iree_atomic_load(allocation, iree_memory_order_relaxed);
  if (number) return number;
  uint64_t fresh = hal_profile_new_allocation();
  bool is_set = iree_atomic_compare_exchange_strong(allocation, &number, fresh, iree_memory_order_relaxed,
                                                    iree_memory_order_relaxed);
  return is_set ? fresh : number;
}

static hal_profile_memory_t describe_memory(transient_buffer_t* buffer) {
  hal_transient_store_t* store = buffer->store;
  const void* pool = buffer->pool ? (const void*)buffer->pool : (const void*)store;
  hal_profile_memory_t memory = {
      .flags = IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_QUEUE_OPERATION | IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_RESERVATION,
      .queue_affinity = buffer->params.queue_affinity,
      .allocation_id = hal_transient_allocation(&buffer->base),
      .pool_id = (uint32_t)((uintptr_t)pool >> 4),
      .backing_id = (uint32_t)((uintptr_t)buffer->block >> 4),
      .memory_type = buffer->base.memory_type,
      .buffer_usage = buffer->base.allowed_usage,
      .offset = buffer->offset,
      .length = buffer->base.byte_length,
      .alignment = iree_max(buffer->params.min_alignment, 1),
  };
  if (buffer->pool) return memory;
  memory.flags |= IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_POOL_STATS;
  iree_slim_mutex_lock(&store->mutex);
  memory.bytes_reserved = store->used_size;
  memory.bytes_free = store->free_size;
  memory.bytes_committed = store->used_size + store->free_size;
  iree_slim_mutex_unlock(&store->mutex);
  return memory;
}

static void tell_memory(hal_queued_device_t* device, hal_profile_memory_t* memory,
                        iree_hal_profile_memory_event_type_t first, iree_hal_profile_memory_event_type_t second) {
  memory->type = first;
  hal_profile_memory_watched(device, memory);
  memory->type = second;
  hal_profile_memory_watched(device, memory);
}

// Gives memory back while the device is there.
static void give_memory_told(transient_buffer_t* buffer, hal_pool_point_t point, bool is_kept) {
  hal_queued_device_t* device = buffer->device;
  if (!hal_profile_is_on(device) || !load_block(buffer)) {
    give_memory(buffer, point, is_kept);
    return;
  }
  hal_profile_memory_t memory = describe_memory(buffer);
  give_memory(buffer, point, is_kept);
  tell_memory(device, &memory, IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_DEALLOCA,
              IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RELEASE);
}

//===----------------------------------------------------------------------------------------------------------------===
// Memory comes and goes
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_transient_stage(iree_hal_buffer_t* base, hal_pool_taker_t taker, hal_pool_frontier_t* out_frontier) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  hal_pool_t* pool = choose_pool(buffer);
  out_frontier->count = 0;
  if (pool) {
    IREE_RETURN_IF_ERROR(hal_pool_take(pool, base->byte_length, taker, &buffer->slice, out_frontier));
    hal_pool_retain(pool);
    buffer->pool = pool;
    buffer->offset = buffer->slice.offset;
    buffer->block = buffer->slice.range;
  } else {
    IREE_RETURN_IF_ERROR(take_block(buffer, &buffer->block));
  }
  iree_atomic_fetch_or(&buffer->state, HAS_MEMORY, iree_memory_order_release);
  if (hal_profile_is_on(buffer->device)) {
    hal_profile_memory_t memory = describe_memory(buffer);
    tell_memory(buffer->device, &memory, IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_POOL_RESERVE,
                IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_QUEUE_ALLOCA);
  }
  return iree_ok_status();
}

void hal_transient_commit(iree_hal_buffer_t* base) {
  iree_atomic_fetch_or(&((transient_buffer_t*)base)->state, IS_COMMITTED, iree_memory_order_release);
}

bool hal_transient_mark_released(iree_hal_buffer_t* base, bool is_released) {
  iree_atomic_uint32_t* state = &((transient_buffer_t*)base)->state;
  uint32_t before = is_released ? iree_atomic_fetch_or(state, IS_RELEASED, iree_memory_order_acq_rel)
                                : iree_atomic_fetch_and(state, ~(uint32_t)IS_RELEASED, iree_memory_order_acq_rel);
  return !(before & IS_RELEASED) == is_released;
}

void hal_transient_release_after(iree_hal_buffer_t* base, hal_pool_point_t point) {
  transient_buffer_t* buffer = (transient_buffer_t*)base;
  if (load_block(buffer) && buffer->pool) give_memory_told(buffer, point, /*is_kept=*/false);
}

void hal_transient_decommit(iree_hal_buffer_t* base) {
  give_memory_told((transient_buffer_t*)base, (hal_pool_point_t){0}, /*is_kept=*/true);
}
