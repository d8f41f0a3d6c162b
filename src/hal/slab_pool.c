// What pools over slab providers share.
#include "hal/slab_pool.h"

void hal_slab_pool_initialize(hal_slab_pool_t* pool, const iree_hal_pool_vtable_t* vtable,
                              iree_hal_slab_provider_t* provider, iree_async_notification_t* notification,
                              iree_allocator_t host_allocator) {
  iree_hal_resource_initialize(vtable, &pool->resource);
  pool->host_allocator = host_allocator;
  pool->provider = provider;
  iree_hal_slab_provider_retain(provider);
  pool->notification = notification;
  iree_async_notification_retain(notification);
  iree_slim_mutex_initialize(&pool->mutex);
}

void hal_slab_pool_deinitialize(hal_slab_pool_t* pool) {
  iree_slim_mutex_deinitialize(&pool->mutex);
  iree_async_notification_release(pool->notification);
  iree_hal_slab_provider_release(pool->provider);
}

void hal_slab_pool_note_acquired(hal_slab_pool_t* pool, iree_device_size_t length) {
  pool->stats.bytes_reserved += length;
  ++pool->stats.reservation_count;
  ++pool->stats.reserve_count;
}

void hal_slab_pool_note_released(hal_slab_pool_t* pool, iree_device_size_t length) {
  pool->stats.bytes_reserved -= length;
  --pool->stats.reservation_count;
  ++pool->stats.release_count;
}

static bool is_after(const iree_async_frontier_t* frontier, iree_async_frontier_entry_t entry) {
  for (uint32_t i = 0; frontier && i < frontier->entry_count; ++i) {
    if (frontier->entries[i].axis == entry.axis) return frontier->entries[i].epoch >= entry.epoch;
  }
  return false;
}

bool hal_slab_pool_is_over(const iree_hal_pool_epoch_query_t* query, const iree_async_frontier_t* death,
                           const iree_async_frontier_t* requester) {
  for (uint32_t i = 0; i < death->entry_count; ++i) {
    iree_async_frontier_entry_t entry = death->entries[i];
    bool has_ended = query->fn && query->fn(query->user_data, entry.axis, entry.epoch);
    if (!has_ended && !is_after(requester, entry)) return false;
  }
  return true;
}

// A reservation that a buffer owns, and the pool that it keeps.
typedef struct owned_t {
  iree_hal_pool_t* pool;
  iree_allocator_t host_allocator;
  bool is_owned;
  iree_hal_pool_reservation_t reservation;
} owned_t;

static void release_owned(void* user_data, iree_hal_buffer_t* buffer) {
  owned_t* owned = (owned_t*)user_data;
  iree_hal_pool_t* pool = owned->pool;
  if (owned->is_owned) iree_hal_pool_release_reservation(pool, &owned->reservation, NULL);
  iree_allocator_free(owned->host_allocator, owned);
  iree_hal_pool_release(pool);
}

iree_status_t hal_slab_pool_wrap(hal_slab_pool_t* pool, const iree_hal_slab_t* slab, iree_device_size_t offset,
                                 iree_hal_buffer_params_t params, const iree_hal_pool_reservation_t* reservation,
                                 iree_hal_pool_materialize_flags_t flags, iree_hal_buffer_t** out_buffer) {
  owned_t* owned = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(pool->host_allocator, sizeof(*owned), (void**)&owned));
  owned->pool = (iree_hal_pool_t*)pool;
  owned->host_allocator = pool->host_allocator;
  owned->is_owned = iree_all_bits_set(flags, IREE_HAL_POOL_MATERIALIZE_FLAG_TRANSFER_RESERVATION_OWNERSHIP);
  owned->reservation = *reservation;
  iree_hal_buffer_release_callback_t release = {release_owned, owned};
  iree_status_t status = iree_hal_slab_provider_wrap_buffer(pool->provider, slab, offset, reservation->length, params,
                                                            release, out_buffer);
  if (iree_status_is_ok(status)) {
    iree_hal_pool_retain((iree_hal_pool_t*)pool);
  } else {
    iree_allocator_free(pool->host_allocator, owned);
  }
  return status;
}

void hal_slab_pool_query_capabilities(const iree_hal_pool_t* base, iree_hal_pool_capabilities_t* out_capabilities) {
  const hal_slab_pool_t* pool = (const hal_slab_pool_t*)base;
  iree_hal_slab_provider_query_properties(pool->provider, &out_capabilities->memory_type,
                                          &out_capabilities->supported_usage);
  out_capabilities->min_allocation_size = 1;
  out_capabilities->max_allocation_size = pool->max_size;
}

void hal_slab_pool_query_stats(const iree_hal_pool_t* base, iree_hal_pool_stats_t* out_stats) {
  hal_slab_pool_t* pool = (hal_slab_pool_t*)base;
  iree_slim_mutex_lock(&pool->mutex);
  *out_stats = pool->stats;
  iree_slim_mutex_unlock(&pool->mutex);
}

iree_async_notification_t* hal_slab_pool_notification(iree_hal_pool_t* base) {
  return ((hal_slab_pool_t*)base)->notification;
}
