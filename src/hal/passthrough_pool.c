// Pools without memory of their own.
#include "iree/hal/memory/passthrough_pool.h"

#include "hal/slab_pool.h"
#include "iree/base/threading/notification.h"

// A reservation, by its block handle.
typedef struct piece_t {
  iree_hal_slab_t slab;
  struct piece_t* next;  // of those that work may still use
} piece_t;

typedef struct passthrough_pool_t {
  hal_slab_pool_t base;
  piece_t* dying;
} passthrough_pool_t;

static void free_piece(hal_slab_pool_t* pool, piece_t* piece) {
  iree_hal_slab_provider_release_slab(pool->provider, &piece->slab);
  iree_allocator_free(pool->host_allocator, piece);
}

static void pool_destroy(iree_hal_pool_t* base) {
  passthrough_pool_t* pool = (passthrough_pool_t*)base;
  while (pool->dying) {
    piece_t* piece = pool->dying;
    pool->dying = piece->next;
    free_piece(&pool->base, piece);
  }
  hal_slab_pool_deinitialize(&pool->base);
  iree_allocator_free(pool->base.host_allocator, pool);
}

static iree_status_t pool_acquire(iree_hal_pool_t* base, iree_device_size_t size, iree_device_size_t alignment,
                                  const iree_async_frontier_t* requester_frontier, iree_hal_pool_reserve_flags_t flags,
                                  iree_hal_pool_reservation_t* out_reservation, iree_hal_pool_acquire_info_t* out_info,
                                  iree_hal_pool_acquire_result_t* out_result) {
  hal_slab_pool_t* pool = (hal_slab_pool_t*)base;
  piece_t* piece = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(pool->host_allocator, sizeof(*piece), (void**)&piece));
  iree_status_t status = iree_hal_slab_provider_acquire_slab(pool->provider, size, &piece->slab);
  iree_slim_mutex_lock(&pool->mutex);
  if (iree_status_is_ok(status)) {
    hal_slab_pool_note_acquired(pool, piece->slab.length);
    ++pool->stats.fresh_count;
    ++pool->stats.slab_count;
    pool->stats.bytes_committed += piece->slab.length;
  } else if (iree_status_is_resource_exhausted(status)) {
    ++pool->stats.exhausted_count;
  }
  iree_slim_mutex_unlock(&pool->mutex);
  if (iree_status_is_ok(status)) {
    *out_reservation = (iree_hal_pool_reservation_t){.length = size, .block_handle = (uint64_t)(uintptr_t)piece};
    *out_result = IREE_HAL_POOL_ACQUIRE_OK_FRESH;
    return status;
  }
  iree_allocator_free(pool->host_allocator, piece);
  return iree_status_is_resource_exhausted(status) ? iree_status_ignore(status) : status;
}

static void pool_release(iree_hal_pool_t* base, const iree_hal_pool_reservation_t* reservation,
                         const iree_async_frontier_t* death_frontier) {
  passthrough_pool_t* pool = (passthrough_pool_t*)base;
  piece_t* piece = (piece_t*)(uintptr_t)reservation->block_handle;
  bool is_dying = death_frontier && death_frontier->entry_count;
  iree_slim_mutex_lock(&pool->base.mutex);
  hal_slab_pool_note_released(&pool->base, piece->slab.length);
  if (is_dying) {
    piece->next = pool->dying;
    pool->dying = piece;
  } else {
    --pool->base.stats.slab_count;
    pool->base.stats.bytes_committed -= piece->slab.length;
  }
  iree_slim_mutex_unlock(&pool->base.mutex);
  if (is_dying) return;
  free_piece(&pool->base, piece);
  iree_async_notification_signal(pool->base.notification, IREE_ALL_WAITERS);
}

static iree_status_t pool_materialize(iree_hal_pool_t* base, iree_hal_buffer_params_t params,
                                      const iree_hal_pool_reservation_t* reservation,
                                      iree_hal_pool_materialize_flags_t flags, iree_hal_buffer_t** out_buffer) {
  const piece_t* piece = (const piece_t*)(uintptr_t)reservation->block_handle;
  return hal_slab_pool_wrap((hal_slab_pool_t*)base, &piece->slab, 0, params, reservation, flags, out_buffer);
}

static iree_status_t pool_trim(iree_hal_pool_t* base) {
  iree_hal_slab_provider_trim(((hal_slab_pool_t*)base)->provider, IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_ALL);
  return iree_ok_status();
}

iree_status_t iree_hal_passthrough_pool_create(iree_hal_passthrough_pool_options_t options,
                                               iree_hal_slab_provider_t* slab_provider,
                                               iree_async_notification_t* notification, iree_allocator_t host_allocator,
                                               iree_hal_pool_t** out_pool) {
  static const iree_hal_pool_vtable_t vtable = {
      .destroy = pool_destroy,
      .acquire_reservation = pool_acquire,
      .release_reservation = pool_release,
      .materialize_reservation = pool_materialize,
      .query_capabilities = hal_slab_pool_query_capabilities,
      .query_stats = hal_slab_pool_query_stats,
      .trim = pool_trim,
      .notification = hal_slab_pool_notification,
  };
  passthrough_pool_t* pool = NULL;
  *out_pool = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*pool), (void**)&pool));
  hal_slab_pool_initialize(&pool->base, &vtable, slab_provider, notification, host_allocator);
  *out_pool = (iree_hal_pool_t*)pool;
  return iree_ok_status();
}
