// Pools of blocks of one size.
#include "iree/hal/memory/fixed_block_pool.h"

#include "hal/slab_pool.h"
#include "iree/base/threading/notification.h"

enum { MAX_BLOCKS = IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_MAX_BLOCKS, WORDS = MAX_BLOCKS / 64 };

// A bit for each block.
typedef uint64_t bits_t[WORDS];

typedef struct fixed_block_pool_t {
  hal_slab_pool_t base;
  iree_hal_memory_fixed_block_allocator_options_t options;
  iree_device_size_t budget;
  iree_hal_pool_epoch_query_t epoch_query;
  iree_hal_slab_t slab;
  iree_host_size_t stride;                 // bytes of a frontier in `frontiers`
  bits_t free;                             // nobody's, and over
  bits_t fresh;                            // of `free`: never used
  bits_t dying;                            // nobody's, and its frontier may not be over
  bits_t tainted;                          // of `dying`: whose frontier was not kept
  iree_device_size_t lengths[MAX_BLOCKS];  // that were asked for
  uint8_t frontiers[];                     // of the last release of each
} fixed_block_pool_t;

static bool has(const bits_t bits, uint32_t block) { return bits[block / 64] >> block % 64 & 1; }
static void set(bits_t bits, uint32_t block, bool value) {
  uint64_t bit = 1ull << block % 64;
  bits[block / 64] = value ? bits[block / 64] | bit : bits[block / 64] & ~bit;
}

static iree_async_frontier_t* frontier_of(fixed_block_pool_t* pool, uint32_t block) {
  return (iree_async_frontier_t*)(pool->frontiers + pool->stride * block);
}

static void pool_destroy(iree_hal_pool_t* base) {
  fixed_block_pool_t* pool = (fixed_block_pool_t*)base;
  iree_hal_slab_provider_release_slab(pool->base.provider, &pool->slab);
  hal_slab_pool_deinitialize(&pool->base);
  iree_allocator_free(pool->base.host_allocator, pool);
}

// The first block of `bits` that will do; MAX_BLOCKS when none does.
typedef bool (*will_do_fn_t)(fixed_block_pool_t* pool, uint32_t block, const iree_async_frontier_t* requester);
static uint32_t find(fixed_block_pool_t* pool, const bits_t bits, will_do_fn_t will_do,
                     const iree_async_frontier_t* requester) {
  for (uint32_t word = 0; word < WORDS; ++word) {
    for (uint64_t rest = bits[word]; rest; rest &= rest - 1) {
      uint32_t block = word * 64 + (uint32_t)__builtin_ctzll(rest);
      if (will_do(pool, block, requester)) return block;
    }
  }
  return MAX_BLOCKS;
}

static bool always(fixed_block_pool_t* pool, uint32_t block, const iree_async_frontier_t* requester) { return true; }

static bool is_over(fixed_block_pool_t* pool, uint32_t block, const iree_async_frontier_t* requester) {
  return !has(pool->tainted, block) && hal_slab_pool_is_over(&pool->epoch_query, frontier_of(pool, block), requester);
}

static bool is_exact(fixed_block_pool_t* pool, uint32_t block, const iree_async_frontier_t* requester) {
  return !has(pool->tainted, block);
}

// Which block is taken, and what the taker is told. The mutex is held.
static uint32_t choose(fixed_block_pool_t* pool, const iree_async_frontier_t* requester,
                       iree_hal_pool_reserve_flags_t flags, iree_hal_pool_acquire_info_t* out_info,
                       iree_hal_pool_acquire_result_t* out_result) {
  iree_hal_pool_stats_t* stats = &pool->base.stats;
  uint32_t block = find(pool, pool->free, always, requester);
  if (block < MAX_BLOCKS) {
    *out_result = has(pool->fresh, block) ? IREE_HAL_POOL_ACQUIRE_OK_FRESH : IREE_HAL_POOL_ACQUIRE_OK;
    ++*(has(pool->fresh, block) ? &stats->fresh_count : &stats->reuse_count);
    return block;
  }
  block = find(pool, pool->dying, is_over, requester);
  if (block < MAX_BLOCKS) {
    *out_result = IREE_HAL_POOL_ACQUIRE_OK;
    ++stats->reuse_count;
    return block;
  }
  if (flags & IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER) block = find(pool, pool->dying, is_exact, requester);
  if (block < MAX_BLOCKS) {
    *out_result = IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT;
    out_info->wait_frontier = frontier_of(pool, block);
    ++stats->wait_count;
    return block;
  }
  *out_result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  ++stats->exhausted_count;
  return block;
}

static iree_status_t pool_acquire(iree_hal_pool_t* base, iree_device_size_t size, iree_device_size_t alignment,
                                  const iree_async_frontier_t* requester_frontier, iree_hal_pool_reserve_flags_t flags,
                                  iree_hal_pool_reservation_t* out_reservation, iree_hal_pool_acquire_info_t* out_info,
                                  iree_hal_pool_acquire_result_t* out_result) {
  fixed_block_pool_t* pool = (fixed_block_pool_t*)base;
  iree_device_size_t block_size = pool->options.block_size;
  if (size == 0 || size > block_size || (alignment && block_size % alignment)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the pool has no %" PRIdsz " bytes aligned to %" PRIdsz ": its blocks have %" PRIdsz, size,
                            alignment, block_size);
  }
  uint32_t block = MAX_BLOCKS;
  iree_slim_mutex_lock(&pool->base.mutex);
  if (pool->budget && (size > pool->budget || pool->base.stats.bytes_reserved > pool->budget - size)) {
    *out_result = IREE_HAL_POOL_ACQUIRE_OVER_BUDGET;
    ++pool->base.stats.over_budget_count;
  } else {
    block = choose(pool, requester_frontier, flags, out_info, out_result);
  }
  if (block < MAX_BLOCKS) {
    set(pool->free, block, false);
    set(pool->fresh, block, false);
    set(pool->dying, block, false);
    pool->lengths[block] = size;
    hal_slab_pool_note_acquired(&pool->base, size);
    *out_reservation =
        (iree_hal_pool_reservation_t){.offset = block * block_size, .length = size, .block_handle = block};
  }
  iree_slim_mutex_unlock(&pool->base.mutex);
  return iree_ok_status();
}

static void pool_release(iree_hal_pool_t* base, const iree_hal_pool_reservation_t* reservation,
                         const iree_async_frontier_t* death_frontier) {
  fixed_block_pool_t* pool = (fixed_block_pool_t*)base;
  uint32_t block = (uint32_t)reservation->block_handle;
  uint32_t entry_count = death_frontier ? death_frontier->entry_count : 0;
  bool is_tainted = entry_count > pool->options.frontier_capacity;
  iree_slim_mutex_lock(&pool->base.mutex);
  if (entry_count && !is_tainted) {
    memcpy(frontier_of(pool, block), death_frontier,
           sizeof(*death_frontier) + entry_count * sizeof(death_frontier->entries[0]));
  }
  set(pool->dying, block, entry_count > 0);
  set(pool->free, block, entry_count == 0);
  set(pool->tainted, block, is_tainted);
  hal_slab_pool_note_released(&pool->base, pool->lengths[block]);
  iree_slim_mutex_unlock(&pool->base.mutex);
  iree_async_notification_signal(pool->base.notification, IREE_ALL_WAITERS);
}

static iree_status_t pool_materialize(iree_hal_pool_t* base, iree_hal_buffer_params_t params,
                                      const iree_hal_pool_reservation_t* reservation,
                                      iree_hal_pool_materialize_flags_t flags, iree_hal_buffer_t** out_buffer) {
  fixed_block_pool_t* pool = (fixed_block_pool_t*)base;
  return hal_slab_pool_wrap(&pool->base, &pool->slab, reservation->offset, params, reservation, flags, out_buffer);
}

// Its slab it keeps.
static iree_status_t pool_trim(iree_hal_pool_t* base) { return iree_ok_status(); }

static void pool_query_stats(const iree_hal_pool_t* base, iree_hal_pool_stats_t* out_stats) {
  const fixed_block_pool_t* pool = (const fixed_block_pool_t*)base;
  hal_slab_pool_query_stats(base, out_stats);
  out_stats->slab_count = 1;
  out_stats->bytes_committed = pool->slab.length;
  out_stats->bytes_free = out_stats->bytes_committed - out_stats->bytes_reserved;
  out_stats->budget_limit = pool->budget;
}

static iree_status_t check_options(iree_hal_memory_fixed_block_allocator_options_t* options) {
  iree_device_size_t size = 0;
  if (!options->frontier_capacity) {
    options->frontier_capacity = IREE_HAL_MEMORY_FIXED_BLOCK_ALLOCATOR_DEFAULT_FRONTIER_CAPACITY;
  }
  if (options->block_count && options->block_count <= MAX_BLOCKS && options->block_size &&
      iree_device_size_checked_mul(options->block_size, options->block_count, &size)) {
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "%u blocks of %" PRIdsz " bytes are no pool; 1 to %d blocks of a byte or more are",
                          options->block_count, options->block_size, MAX_BLOCKS);
}

iree_status_t iree_hal_fixed_block_pool_create(iree_hal_fixed_block_pool_options_t options,
                                               iree_hal_slab_provider_t* slab_provider,
                                               iree_async_notification_t* notification,
                                               iree_hal_pool_epoch_query_t epoch_query, iree_allocator_t host_allocator,
                                               iree_hal_pool_t** out_pool) {
  static const iree_hal_pool_vtable_t vtable = {
      .destroy = pool_destroy,
      .acquire_reservation = pool_acquire,
      .release_reservation = pool_release,
      .materialize_reservation = pool_materialize,
      .query_capabilities = hal_slab_pool_query_capabilities,
      .query_stats = pool_query_stats,
      .trim = pool_trim,
      .notification = hal_slab_pool_notification,
  };
  iree_hal_memory_fixed_block_allocator_options_t blocks = options.block_allocator_options;
  fixed_block_pool_t* pool = NULL;
  *out_pool = NULL;
  IREE_RETURN_IF_ERROR(check_options(&blocks));
  iree_host_size_t stride =
      sizeof(iree_async_frontier_t) + blocks.frontier_capacity * sizeof(iree_async_frontier_entry_t);
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof(*pool) + blocks.block_count * stride, (void**)&pool));
  iree_status_t status =
      iree_hal_slab_provider_acquire_slab(slab_provider, blocks.block_size * blocks.block_count, &pool->slab);
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(host_allocator, pool);
    return status;
  }
  hal_slab_pool_initialize(&pool->base, &vtable, slab_provider, notification, host_allocator);
  pool->base.max_size = blocks.block_size;
  pool->options = blocks;
  pool->budget = options.budget_limit;
  pool->epoch_query = epoch_query;
  pool->stride = stride;
  for (uint32_t i = 0; i < blocks.block_count; ++i) {
    set(pool->free, i, true);
    set(pool->fresh, i, true);
  }
  *out_pool = (iree_hal_pool_t*)pool;
  return iree_ok_status();
}
