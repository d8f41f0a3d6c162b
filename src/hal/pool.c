// Pools. Free blocks hang in lists by size: by power of two, and 16 steps between two of them, with bits for the lists
// that have any, so that taking and giving cost the same however many blocks there are (two-level segregated fit). What
// is known of blocks is kept here, not in the memory, which the host may not reach.
#include "hal/pool.h"

#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"

enum { STEP_BITS = 4, STEP_COUNT = 1 << STEP_BITS, LEVEL_COUNT = 40, LARGE_SHARE = 2, DEFAULT_FRONTIER = 4 };

typedef struct range_t {
  iree_hal_buffer_t* buffer;
  hal_pool_block_t* first;  // which stays: blocks join the one before
  struct range_t* next;
} range_t;

struct hal_pool_block_t {
  range_t* range;
  iree_device_size_t offset, length;
  hal_pool_block_t *before, *after;         // in the range
  hal_pool_block_t *next_free, *prev_free;  // in its list
  bool is_free;
  hal_pool_frontier_t frontier;  // of a free block: what is to come before it is really free
};

struct hal_pool_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_hal_allocator_t* allocator;
  hal_pool_params_t params;
  hal_pool_t* next;  // in the chain; owned

  iree_slim_mutex_t mutex;  // guards what follows
  range_t* ranges;
  bool is_split;            // free neighbours may be apart
  hal_pool_block_t* spare;  // blocks of no range, by next_free
  uint64_t levels;          // with free blocks
  uint32_t steps[LEVEL_COUNT];
  hal_pool_block_t* lists[LEVEL_COUNT][STEP_COUNT];
};

//===----------------------------------------------------------------------------------------------------------------===
// Lists
//===----------------------------------------------------------------------------------------------------------------===

typedef struct place_t {
  uint32_t level, step;
} place_t;

// The list for free blocks of some length, counted in the pool's alignment.
static place_t place_of(const hal_pool_t* pool, iree_device_size_t length) {
  uint64_t units = length / pool->params.buffer.min_alignment;
  uint32_t log2 = 63 - (uint32_t)__builtin_clzll(units | 1);
  if (log2 < STEP_BITS) return (place_t){0, (uint32_t)units};
  uint32_t step = (uint32_t)(units >> (log2 - STEP_BITS)) & (STEP_COUNT - 1);
  return (place_t){iree_min(log2 - STEP_BITS + 1, LEVEL_COUNT - 1), step};
}

static void list_insert(hal_pool_t* pool, hal_pool_block_t* block) {
  place_t at = place_of(pool, block->length);
  hal_pool_block_t** head = &pool->lists[at.level][at.step];
  block->is_free = true;
  block->prev_free = NULL;
  block->next_free = *head;
  if (*head) (*head)->prev_free = block;
  *head = block;
  pool->steps[at.level] |= 1u << at.step;
  pool->levels |= 1ull << at.level;
}

static void list_remove(hal_pool_t* pool, hal_pool_block_t* block) {
  place_t at = place_of(pool, block->length);
  block->is_free = false;
  if (block->next_free) block->next_free->prev_free = block->prev_free;
  if (block->prev_free) {
    block->prev_free->next_free = block->next_free;
    return;
  }
  pool->lists[at.level][at.step] = block->next_free;
  if (block->next_free) return;
  pool->steps[at.level] &= ~(1u << at.step);
  if (!pool->steps[at.level]) pool->levels &= ~(1ull << at.level);
}

//===----------------------------------------------------------------------------------------------------------------===
// Frontiers
//===----------------------------------------------------------------------------------------------------------------===

static bool is_over(const hal_pool_t* pool, hal_pool_point_t point) {
  return !point.queue_id || !pool->params.is_over || pool->params.is_over(pool->params.user_data, point);
}

// Forgets points that are over.
static void frontier_refresh(const hal_pool_t* pool, hal_pool_frontier_t* frontier) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < frontier->count; ++i) {
    if (!is_over(pool, frontier->points[i])) frontier->points[count++] = frontier->points[i];
  }
  frontier->count = count;
}

// False when there is no room.
static bool frontier_add(const hal_pool_t* pool, hal_pool_frontier_t* frontier, hal_pool_point_t point) {
  for (uint32_t i = 0; i < frontier->count; ++i) {
    if (frontier->points[i].queue_id != point.queue_id) continue;
    frontier->points[i].epoch = iree_max(frontier->points[i].epoch, point.epoch);
    return true;
  }
  if (frontier->count == pool->params.frontier_capacity) return false;
  frontier->points[frontier->count++] = point;
  return true;
}

static bool frontier_has(const hal_pool_frontier_t* frontier, uint64_t queue_id) {
  for (uint32_t i = 0; i < frontier->count; ++i) {
    if (frontier->points[i].queue_id == queue_id) return true;
  }
  return false;
}

// Makes the first block's frontier that of both. False, when that is not to be: for want of room, or, unless
// `by_force`, when they are for different queues, so that what is free for all stays so.
static bool frontier_merge(const hal_pool_t* pool, hal_pool_block_t* a, hal_pool_block_t* b, bool by_force) {
  frontier_refresh(pool, &a->frontier);
  frontier_refresh(pool, &b->frontier);
  hal_pool_frontier_t merged = a->frontier;
  if (!by_force && merged.count != b->frontier.count) return false;
  for (uint32_t i = 0; i < b->frontier.count; ++i) {
    if (!by_force && !frontier_has(&merged, b->frontier.points[i].queue_id)) return false;
    if (!frontier_add(pool, &merged, b->frontier.points[i])) return false;
  }
  a->frontier = merged;
  return true;
}

// Whether the taker can have a free block, without a wait for another queue or, when `waits`, with one.
static bool can_take(const hal_pool_t* pool, hal_pool_block_t* block, hal_pool_taker_t taker, bool waits) {
  if (block->frontier.count) frontier_refresh(pool, &block->frontier);
  for (uint32_t i = 0; i < block->frontier.count; ++i) {
    bool is_own = block->frontier.points[i].queue_id == taker.queue_id;
    if (!taker.queue_id || (!is_own && !waits)) return false;
  }
  return true;
}

static hal_pool_block_t* find_in_list(const hal_pool_t* pool, place_t at, iree_device_size_t length,
                                      hal_pool_taker_t taker, bool waits) {
  for (hal_pool_block_t* block = pool->lists[at.level][at.step]; block; block = block->next_free) {
    if (block->length >= length && can_take(pool, block, taker, waits)) return block;
  }
  return NULL;
}

// A free block of at least `length`: one of its own list that happens to be, else of the next lists, all of whose
// blocks are large enough.
static hal_pool_block_t* find_block(const hal_pool_t* pool, iree_device_size_t length, hal_pool_taker_t taker,
                                    bool waits) {
  place_t at = place_of(pool, length);
  hal_pool_block_t* block = find_in_list(pool, at, length, taker, waits);
  uint32_t steps = pool->steps[at.level] & ~((2u << at.step) - 1);
  uint64_t levels = pool->levels & ~((2ull << at.level) - 1);
  while (!block && (steps || levels)) {
    if (!steps) {
      at.level = (uint32_t)__builtin_ctzll(levels);
      levels &= levels - 1;
      steps = pool->steps[at.level];
    }
    at.step = (uint32_t)__builtin_ctz(steps);
    steps &= steps - 1;
    block = find_in_list(pool, at, length, taker, waits);
  }
  return block;
}

//===----------------------------------------------------------------------------------------------------------------===
// Blocks and ranges
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t make_block(hal_pool_t* pool, hal_pool_block_t** out_block) {
  *out_block = pool->spare;
  if (!pool->spare) return iree_allocator_malloc(pool->host_allocator, sizeof(**out_block), (void**)out_block);
  pool->spare = (*out_block)->next_free;
  memset(*out_block, 0, sizeof(**out_block));
  return iree_ok_status();
}

static void drop_block(hal_pool_t* pool, hal_pool_block_t* block) {
  block->next_free = pool->spare;
  pool->spare = block;
}

// A range of at least `length` bytes, and shorter than usual when there is no memory for more.
static iree_status_t add_range(hal_pool_t* pool, iree_device_size_t length) {
  range_t* range = NULL;
  hal_pool_block_t* block = NULL;
  iree_device_size_t size = iree_max(length, pool->params.range_length);
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(pool->host_allocator, sizeof(*range), (void**)&range));
  iree_status_t status = make_block(pool, &block);
  if (iree_status_is_ok(status)) {
    status = iree_hal_allocator_allocate_buffer(pool->allocator, pool->params.buffer, size, &range->buffer);
  }
  if (iree_status_is_resource_exhausted(status) && length && length < size && block) {
    iree_status_free(status);
    size = length;
    status = iree_hal_allocator_allocate_buffer(pool->allocator, pool->params.buffer, size, &range->buffer);
  }
  if (!iree_status_is_ok(status)) {
    if (block) drop_block(pool, block);
    iree_allocator_free(pool->host_allocator, range);
    return status;
  }
  range->next = pool->ranges;
  pool->ranges = range;
  block->range = range;
  block->length = size;
  range->first = block;
  list_insert(pool, block);
  return iree_ok_status();
}

// Cuts what is more than `length` off a block that is not in a list.
static iree_status_t split(hal_pool_t* pool, hal_pool_block_t* block, iree_device_size_t length) {
  if (block->length == length) return iree_ok_status();
  hal_pool_block_t* rest = NULL;
  IREE_RETURN_IF_ERROR(make_block(pool, &rest));
  rest->range = block->range;
  rest->offset = block->offset + length;
  rest->length = block->length - length;
  rest->frontier = block->frontier;
  rest->before = block;
  rest->after = block->after;
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->length = length;
  list_insert(pool, rest);
  return iree_ok_status();
}

// Makes one block of two neighbours of which the second is in no list.
static void join(hal_pool_t* pool, hal_pool_block_t* block, hal_pool_block_t* second) {
  block->length += second->length;
  block->after = second->after;
  if (block->after) block->after->before = block;
  drop_block(pool, second);
}

// Makes free neighbours one that were kept apart by what was still to come.
static void join_all(hal_pool_t* pool, bool by_force) {
  for (range_t* range = pool->ranges; range; range = range->next) {
    for (hal_pool_block_t* block = range->first; block; block = block->after) {
      while (block->is_free && block->after && block->after->is_free &&
             frontier_merge(pool, block, block->after, by_force)) {
        list_remove(pool, block);
        list_remove(pool, block->after);
        join(pool, block, block->after);
        list_insert(pool, block);
      }
    }
  }
}

static hal_pool_block_t* find_free(hal_pool_t* pool, iree_device_size_t length, hal_pool_taker_t taker) {
  hal_pool_block_t* block = find_block(pool, length, taker, /*waits=*/false);
  return block || !taker.can_wait ? block : find_block(pool, length, taker, /*waits=*/true);
}

// Free memory first, then what is free for the taker after other work, then new memory.
static iree_status_t take_block(hal_pool_t* pool, iree_device_size_t length, hal_pool_taker_t taker,
                                hal_pool_block_t** out_block) {
  hal_pool_block_t* block = find_free(pool, length, taker);
  for (int by_force = 0; !block && pool->is_split && by_force <= taker.can_wait; ++by_force) {
    join_all(pool, by_force);
    block = find_free(pool, length, taker);
  }
  if (!block && taker.is_modest) return iree_ok_status();
  if (!block) {
    IREE_RETURN_IF_ERROR(add_range(pool, length));
    block = find_block(pool, length, taker, /*waits=*/false);
  }
  list_remove(pool, block);
  iree_status_t status = split(pool, block, length);
  if (!iree_status_is_ok(status)) list_insert(pool, block);
  *out_block = block;
  return status;
}

iree_status_t hal_pool_take(hal_pool_t* pool, iree_device_size_t length, hal_pool_taker_t taker,
                            hal_pool_slice_t* out_slice, hal_pool_frontier_t* out_frontier) {
  *out_slice = (hal_pool_slice_t){0};
  out_frontier->count = 0;
  iree_device_size_t alignment = pool->params.buffer.min_alignment;
  iree_device_size_t size = iree_max((length + alignment - 1) & ~(alignment - 1), alignment);
  hal_pool_block_t* block = NULL;
  iree_slim_mutex_lock(&pool->mutex);
  iree_status_t status = take_block(pool, size, taker, &block);
  if (iree_status_is_ok(status) && block) {
    *out_slice = (hal_pool_slice_t){block->range->buffer, block->offset, block};
    *out_frontier = block->frontier;
  }
  iree_slim_mutex_unlock(&pool->mutex);
  return status;
}

// Joins a free block to a neighbour that is on its way into a list; what was in one is in none then.
static bool try_join(hal_pool_t* pool, hal_pool_block_t* block, hal_pool_block_t* second) {
  if (!frontier_merge(pool, block, second, /*by_force=*/false)) return false;
  list_remove(pool, block->is_free ? block : second);
  join(pool, block, second);
  return true;
}

void hal_pool_give(hal_pool_t* pool, hal_pool_slice_t slice, hal_pool_point_t point) {
  hal_pool_block_t* block = slice.block;
  iree_slim_mutex_lock(&pool->mutex);
  // The point comes after what was to come when the slice was taken; without one that is still to come, or over.
  if (point.queue_id) block->frontier.count = 0;
  if (!is_over(pool, point)) frontier_add(pool, &block->frontier, point);
  hal_pool_block_t *after = block->after, *before = block->before;
  if (after && after->is_free && !try_join(pool, block, after)) pool->is_split = true;
  if (before && before->is_free) {
    if (try_join(pool, before, block)) {
      block = before;
    } else {
      pool->is_split = true;
    }
  }
  list_insert(pool, block);
  iree_slim_mutex_unlock(&pool->mutex);
}

void hal_pool_close(hal_pool_t* pool) {
  for (; pool; pool = pool->next) {
    iree_slim_mutex_lock(&pool->mutex);
    pool->params.is_over = NULL;
    iree_slim_mutex_unlock(&pool->mutex);
  }
}

static bool fits(const hal_pool_t* pool, const iree_hal_buffer_params_t* params, iree_device_size_t length) {
  const iree_hal_buffer_params_t* own = &pool->params.buffer;
  return length <= pool->params.range_length / LARGE_SHARE && params->type == own->type &&
         iree_all_bits_set(own->usage, params->usage) && iree_all_bits_set(own->access, params->access) &&
         params->min_alignment <= own->min_alignment;
}

void hal_pool_append(hal_pool_t* pool, hal_pool_t* next) {
  while (pool->next) pool = pool->next;
  pool->next = next;
}

hal_pool_t* hal_pool_choose(hal_pool_t* pool, const iree_hal_allocator_t* allocator,
                            const iree_hal_buffer_params_t* params, iree_device_size_t length) {
  while (pool && (pool->allocator != allocator || !fits(pool, params, length))) pool = pool->next;
  return pool;
}

iree_status_t hal_pool_preallocate(hal_pool_t* pool) {
  iree_slim_mutex_lock(&pool->mutex);
  iree_status_t status = pool->ranges ? iree_ok_status() : add_range(pool, 0);
  iree_slim_mutex_unlock(&pool->mutex);
  return status;
}

// The free block that is a whole range which nothing uses any more; NULL when there is none.
static hal_pool_block_t* find_empty(hal_pool_t* pool) {
  for (range_t* range = pool->ranges; range; range = range->next) {
    hal_pool_block_t* block = range->first;
    if (block->is_free && !block->after && can_take(pool, block, (hal_pool_taker_t){0}, false)) return block;
  }
  return NULL;
}

static void trim_one(hal_pool_t* pool) {
  iree_slim_mutex_lock(&pool->mutex);
  join_all(pool, /*by_force=*/false);
  for (hal_pool_block_t* block; (block = find_empty(pool)) != NULL;) {
    range_t* range = block->range;
    list_remove(pool, block);
    drop_block(pool, block);
    range_t** link = &pool->ranges;
    while (*link != range) link = &(*link)->next;
    *link = range->next;
    iree_hal_buffer_release(range->buffer);
    iree_allocator_free(pool->host_allocator, range);
  }
  iree_slim_mutex_unlock(&pool->mutex);
}

void hal_pool_trim(hal_pool_t* pool) {
  for (; pool; pool = pool->next) trim_one(pool);
}

//===----------------------------------------------------------------------------------------------------------------===
// The object
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_pool_create(const hal_pool_params_t* params, iree_hal_allocator_t* allocator,
                              iree_allocator_t host_allocator, hal_pool_t** out_pool) {
  *out_pool = NULL;
  hal_pool_t* pool = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*pool), (void**)&pool));
  iree_atomic_ref_count_init(&pool->ref_count);
  pool->host_allocator = host_allocator;
  pool->allocator = allocator;
  iree_hal_allocator_retain(allocator);
  pool->params = *params;
  if (!params->frontier_capacity) pool->params.frontier_capacity = DEFAULT_FRONTIER;
  iree_slim_mutex_initialize(&pool->mutex);
  *out_pool = pool;
  return iree_ok_status();
}

void hal_pool_retain(hal_pool_t* pool) {
  if (pool) iree_atomic_ref_count_inc(&pool->ref_count);
}

// Slices hold references, so that all ranges are empty here.
void hal_pool_release(hal_pool_t* pool) {
  if (!pool || iree_atomic_ref_count_dec(&pool->ref_count) != 1) return;
  pool->params.is_over = NULL;
  hal_pool_release(pool->next);
  trim_one(pool);
  while (pool->spare) {
    hal_pool_block_t* block = pool->spare;
    pool->spare = block->next_free;
    iree_allocator_free(pool->host_allocator, block);
  }
  iree_hal_allocator_release(pool->allocator);
  iree_slim_mutex_deinitialize(&pool->mutex);
  iree_allocator_free(pool->host_allocator, pool);
}
