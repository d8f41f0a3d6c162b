// Pools that cut slabs into pieces, as the pools of drivers cut the ranges of their allocators (pool.h): slabs are
// given to such a pool as buffers of an allocator that has no others.
#include "iree/hal/memory/tlsf_pool.h"

#include "hal/pool.h"
#include "hal/slab_pool.h"
#include "iree/base/threading/notification.h"

// A slab that is a range of the inner pool, by its buffer.
typedef struct slab_t {
  iree_hal_slab_t slab;
  const iree_hal_buffer_t* buffer;
  struct slab_t* next;
} slab_t;

// A reservation, by its block handle.
typedef struct piece_t {
  hal_pool_slice_t slice;
  iree_device_size_t length;
  struct piece_t* next;          // of those that work may still use
  iree_async_frontier_t* death;  // NULL: larger than are kept
} piece_t;

typedef struct tlsf_pool_t {
  hal_slab_pool_t base;
  iree_hal_resource_t slabs;  // the allocator
  iree_hal_memory_tlsf_options_t options;
  iree_device_size_t budget;
  iree_hal_pool_epoch_query_t epoch_query;
  hal_pool_t* inner;
  iree_slim_mutex_t slab_mutex;  // guards `first`
  slab_t* first;
  piece_t* dying;
} tlsf_pool_t;

//===----------------------------------------------------------------------------------------------------------------===
// Slabs as buffers
//===----------------------------------------------------------------------------------------------------------------===

static tlsf_pool_t* pool_of(const iree_hal_allocator_t* slabs) {
  return (tlsf_pool_t*)((uint8_t*)slabs - offsetof(tlsf_pool_t, slabs));
}

// The pool owns it.
static void slabs_destroy(iree_hal_allocator_t* slabs) {}

static iree_allocator_t slabs_host_allocator(const iree_hal_allocator_t* slabs) {
  return pool_of(slabs)->base.host_allocator;
}

typedef struct slab_owner_t {
  tlsf_pool_t* pool;
  slab_t* slab;
} slab_owner_t;

static void remove_slab(tlsf_pool_t* pool, slab_t* slab) {
  iree_slim_mutex_lock(&pool->slab_mutex);
  slab_t** link = &pool->first;
  while (*link && *link != slab) link = &(*link)->next;
  if (*link) *link = slab->next;
  iree_slim_mutex_unlock(&pool->slab_mutex);
  iree_hal_slab_provider_release_slab(pool->base.provider, &slab->slab);
}

static void release_slab(void* user_data, iree_hal_buffer_t* buffer) {
  slab_owner_t* owner = (slab_owner_t*)user_data;
  iree_allocator_t host_allocator = owner->pool->base.host_allocator;
  remove_slab(owner->pool, owner->slab);
  iree_allocator_free(host_allocator, owner->slab);
  iree_allocator_free(host_allocator, owner);
}

static iree_status_t wrap_slab(tlsf_pool_t* pool, slab_t* slab, const iree_hal_buffer_params_t* params,
                               iree_hal_buffer_t** out_buffer) {
  slab_owner_t* owner = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(pool->base.host_allocator, sizeof(*owner), (void**)&owner));
  *owner = (slab_owner_t){pool, slab};
  iree_hal_buffer_release_callback_t release = {release_slab, owner};
  iree_status_t status = iree_hal_slab_provider_wrap_buffer(pool->base.provider, &slab->slab, 0, slab->slab.length,
                                                            *params, release, out_buffer);
  if (!iree_status_is_ok(status)) iree_allocator_free(pool->base.host_allocator, owner);
  return status;
}

static iree_status_t slabs_allocate_buffer(iree_hal_allocator_t* slabs, const iree_hal_buffer_params_t* params,
                                           iree_device_size_t size, iree_hal_buffer_t** out_buffer) {
  tlsf_pool_t* pool = pool_of(slabs);
  slab_t* slab = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(pool->base.host_allocator, sizeof(*slab), (void**)&slab));
  iree_status_t status = iree_hal_slab_provider_acquire_slab(pool->base.provider, size, &slab->slab);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(pool->base.host_allocator, slab);
    return status;
  }
  status = wrap_slab(pool, slab, params, out_buffer);
  if (!iree_status_is_ok(status)) {
    iree_hal_slab_provider_release_slab(pool->base.provider, &slab->slab);
    iree_allocator_free(pool->base.host_allocator, slab);
    return status;
  }
  slab->buffer = *out_buffer;
  iree_slim_mutex_lock(&pool->slab_mutex);
  slab->next = pool->first;
  pool->first = slab;
  iree_slim_mutex_unlock(&pool->slab_mutex);
  return status;
}

static iree_hal_buffer_compatibility_t slabs_query_compatibility(iree_hal_allocator_t* slabs,
                                                                 iree_hal_buffer_params_t* params,
                                                                 iree_device_size_t* size) {
  return IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE;
}

static const iree_hal_allocator_vtable_t slabs_vtable = {
    .destroy = slabs_destroy,
    .host_allocator = slabs_host_allocator,
    .query_buffer_compatibility = slabs_query_compatibility,
    .allocate_buffer = slabs_allocate_buffer,
};

//===----------------------------------------------------------------------------------------------------------------===
// Reservations that are given back before their work is over. The mutex is held.
//===----------------------------------------------------------------------------------------------------------------===

static void free_piece(tlsf_pool_t* pool, piece_t* piece) {
  hal_pool_give(pool->inner, piece->slice, (hal_pool_point_t){0});
  iree_allocator_free(pool->base.host_allocator, piece->death);
  iree_allocator_free(pool->base.host_allocator, piece);
}

static void reclaim(tlsf_pool_t* pool, const iree_async_frontier_t* requester) {
  for (piece_t** link = &pool->dying; *link;) {
    piece_t* piece = *link;
    if (piece->death && hal_slab_pool_is_over(&pool->epoch_query, piece->death, requester)) {
      *link = piece->next;
      free_piece(pool, piece);
    } else {
      link = &piece->next;
    }
  }
}

static iree_async_frontier_t* copy_frontier(tlsf_pool_t* pool, const iree_async_frontier_t* frontier) {
  iree_async_frontier_t* copy = NULL;
  iree_host_size_t size = sizeof(*frontier) + frontier->entry_count * sizeof(frontier->entries[0]);
  if (frontier->entry_count > pool->options.frontier_capacity ||
      iree_status_consume_code(iree_allocator_malloc(pool->base.host_allocator, size, (void**)&copy))) {
    return NULL;
  }
  return (iree_async_frontier_t*)memcpy(copy, frontier, size);
}

//===----------------------------------------------------------------------------------------------------------------===
// The pool
//===----------------------------------------------------------------------------------------------------------------===

static void pool_destroy(iree_hal_pool_t* base) {
  tlsf_pool_t* pool = (tlsf_pool_t*)base;
  while (pool->dying) {
    piece_t* piece = pool->dying;
    pool->dying = piece->next;
    free_piece(pool, piece);
  }
  hal_pool_release(pool->inner);
  iree_slim_mutex_deinitialize(&pool->slab_mutex);
  hal_slab_pool_deinitialize(&pool->base);
  iree_allocator_free(pool->base.host_allocator, pool);
}

// A slice, or none: of what there is, then of another slab where that is allowed.
static iree_status_t take_slice(tlsf_pool_t* pool, iree_device_size_t size, iree_hal_pool_reserve_flags_t flags,
                                hal_pool_slice_t* out_slice) {
  hal_pool_taker_t taker = {.is_modest = iree_all_bits_set(flags, IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH)};
  hal_pool_frontier_t none;
  iree_status_t status = hal_pool_take(pool->inner, size, taker, out_slice, &none);
  return iree_status_is_resource_exhausted(status) ? iree_status_ignore(status) : status;
}

static iree_status_t acquire(tlsf_pool_t* pool, iree_device_size_t size, iree_hal_pool_reserve_flags_t flags,
                             piece_t* piece, iree_hal_pool_acquire_info_t* out_info,
                             iree_hal_pool_acquire_result_t* out_result) {
  hal_slab_pool_t* base = &pool->base;
  if (pool->budget && (size > pool->budget || base->stats.bytes_reserved > pool->budget - size)) {
    *out_result = IREE_HAL_POOL_ACQUIRE_OVER_BUDGET;
    ++base->stats.over_budget_count;
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(take_slice(pool, size, flags, &piece->slice));
  if (piece->slice.range) {
    piece->length = size;
    hal_slab_pool_note_acquired(base, size);
    *out_result = IREE_HAL_POOL_ACQUIRE_OK;
    return iree_ok_status();
  }
  ++base->stats.exhausted_count;
  if (flags & IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH) {
    out_info->flags |= IREE_HAL_POOL_ACQUIRE_FLAG_GROWTH_REQUIRED;
  }
  return iree_ok_status();
}

static iree_status_t pool_acquire(iree_hal_pool_t* base, iree_device_size_t size, iree_device_size_t alignment,
                                  const iree_async_frontier_t* requester_frontier, iree_hal_pool_reserve_flags_t flags,
                                  iree_hal_pool_reservation_t* out_reservation, iree_hal_pool_acquire_info_t* out_info,
                                  iree_hal_pool_acquire_result_t* out_result) {
  tlsf_pool_t* pool = (tlsf_pool_t*)base;
  if (size == 0 || size > pool->options.range_length || alignment > pool->options.alignment) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the pool has no %" PRIdsz " bytes aligned to %" PRIdsz ": at most %" PRIdsz
                            " aligned to %" PRIdsz,
                            size, alignment, pool->options.range_length, pool->options.alignment);
  }
  piece_t* piece = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(pool->base.host_allocator, sizeof(*piece), (void**)&piece));
  iree_slim_mutex_lock(&pool->base.mutex);
  reclaim(pool, requester_frontier);
  iree_status_t status = acquire(pool, size, flags, piece, out_info, out_result);
  iree_slim_mutex_unlock(&pool->base.mutex);
  if (piece->slice.range) {
    *out_reservation = (iree_hal_pool_reservation_t){
        .offset = piece->slice.offset, .length = size, .block_handle = (uint64_t)(uintptr_t)piece};
  } else {
    iree_allocator_free(pool->base.host_allocator, piece);
  }
  return status;
}

static void pool_release(iree_hal_pool_t* base, const iree_hal_pool_reservation_t* reservation,
                         const iree_async_frontier_t* death_frontier) {
  tlsf_pool_t* pool = (tlsf_pool_t*)base;
  piece_t* piece = (piece_t*)(uintptr_t)reservation->block_handle;
  bool is_dying = death_frontier && death_frontier->entry_count;
  if (is_dying) piece->death = copy_frontier(pool, death_frontier);
  iree_slim_mutex_lock(&pool->base.mutex);
  hal_slab_pool_note_released(&pool->base, piece->length);
  if (is_dying) {
    piece->next = pool->dying;
    pool->dying = piece;
  } else {
    free_piece(pool, piece);
  }
  iree_slim_mutex_unlock(&pool->base.mutex);
  iree_async_notification_signal(pool->base.notification, IREE_ALL_WAITERS);
}

static iree_status_t pool_materialize(iree_hal_pool_t* base, iree_hal_buffer_params_t params,
                                      const iree_hal_pool_reservation_t* reservation,
                                      iree_hal_pool_materialize_flags_t flags, iree_hal_buffer_t** out_buffer) {
  tlsf_pool_t* pool = (tlsf_pool_t*)base;
  const piece_t* piece = (const piece_t*)(uintptr_t)reservation->block_handle;
  iree_slim_mutex_lock(&pool->slab_mutex);
  const slab_t* slab = pool->first;
  while (slab && slab->buffer != piece->slice.range) slab = slab->next;
  iree_slim_mutex_unlock(&pool->slab_mutex);
  return hal_slab_pool_wrap(&pool->base, &slab->slab, piece->slice.offset, params, reservation, flags, out_buffer);
}

static iree_status_t pool_trim(iree_hal_pool_t* base) {
  tlsf_pool_t* pool = (tlsf_pool_t*)base;
  iree_slim_mutex_lock(&pool->base.mutex);
  reclaim(pool, NULL);
  iree_slim_mutex_unlock(&pool->base.mutex);
  hal_pool_trim(pool->inner);
  iree_hal_slab_provider_trim(pool->base.provider, IREE_HAL_SLAB_PROVIDER_TRIM_FLAG_ALL);
  return iree_ok_status();
}

static void pool_query_stats(const iree_hal_pool_t* base, iree_hal_pool_stats_t* out_stats) {
  tlsf_pool_t* pool = (tlsf_pool_t*)base;
  hal_slab_pool_query_stats(base, out_stats);
  iree_slim_mutex_lock(&pool->slab_mutex);
  for (const slab_t* slab = pool->first; slab; slab = slab->next) {
    ++out_stats->slab_count;
    out_stats->bytes_committed += slab->slab.length;
  }
  iree_slim_mutex_unlock(&pool->slab_mutex);
  out_stats->bytes_free = out_stats->bytes_committed - out_stats->bytes_reserved;
  out_stats->budget_limit = pool->budget;
}

static const iree_hal_pool_vtable_t pool_vtable = {
    .destroy = pool_destroy,
    .acquire_reservation = pool_acquire,
    .release_reservation = pool_release,
    .materialize_reservation = pool_materialize,
    .query_capabilities = hal_slab_pool_query_capabilities,
    .query_stats = pool_query_stats,
    .trim = pool_trim,
    .notification = hal_slab_pool_notification,
};

static iree_status_t check_options(iree_hal_memory_tlsf_options_t* options) {
  if (!options->alignment) options->alignment = IREE_HAL_MEMORY_TLSF_MIN_ALIGNMENT;
  if (!options->frontier_capacity) options->frontier_capacity = IREE_HAL_MEMORY_TLSF_DEFAULT_FRONTIER_CAPACITY;
  if (options->alignment & (options->alignment - 1)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "alignment %" PRIdsz " is not a power of two",
                            options->alignment);
  }
  options->alignment = iree_max(options->alignment, (iree_device_size_t)IREE_HAL_MEMORY_TLSF_MIN_ALIGNMENT);
  if (options->range_length && options->range_length % options->alignment == 0) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "slabs of %" PRIdsz " bytes are not a multiple of the alignment of %" PRIdsz,
                          options->range_length, options->alignment);
}

static iree_status_t create_inner(tlsf_pool_t* pool) {
  hal_pool_params_t params = {.range_length = pool->options.range_length};
  iree_hal_slab_provider_query_properties(pool->base.provider, &params.buffer.type, &params.buffer.usage);
  params.buffer.access = IREE_HAL_MEMORY_ACCESS_ALL;
  params.buffer.min_alignment = pool->options.alignment;
  iree_hal_resource_initialize(&slabs_vtable, &pool->slabs);
  return hal_pool_create(&params, (iree_hal_allocator_t*)&pool->slabs, pool->base.host_allocator, &pool->inner);
}

iree_status_t iree_hal_tlsf_pool_create(iree_hal_tlsf_pool_options_t options, iree_hal_slab_provider_t* slab_provider,
                                        iree_async_notification_t* notification,
                                        iree_hal_pool_epoch_query_t epoch_query, iree_allocator_t host_allocator,
                                        iree_hal_pool_t** out_pool) {
  tlsf_pool_t* pool = NULL;
  *out_pool = NULL;
  IREE_RETURN_IF_ERROR(check_options(&options.tlsf_options));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*pool), (void**)&pool));
  hal_slab_pool_initialize(&pool->base, &pool_vtable, slab_provider, notification, host_allocator);
  iree_slim_mutex_initialize(&pool->slab_mutex);
  pool->options = options.tlsf_options;
  pool->base.max_size = pool->options.range_length;
  pool->budget = options.budget_limit;
  pool->epoch_query = epoch_query;
  iree_status_t status = create_inner(pool);
  if (!iree_status_is_ok(status)) {
    pool_destroy((iree_hal_pool_t*)pool);
    return status;
  }
  *out_pool = (iree_hal_pool_t*)pool;
  return iree_ok_status();
}
