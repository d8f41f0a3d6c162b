// Pools. Free blocks hang in lists by size: by power of two, and 16 steps between two of them, with bits for the lists
// that have any, so that taking and giving cost the same however many blocks there are (two-level segregated fit). What
// is known of blocks is kept here, not in the memory, which the host may not reach.
#include "hal/pool.h"

#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"

enum { STEP_BITS = 4, STEP_COUNT = 1 << STEP_BITS, LEVEL_COUNT = 40, LARGE_SHARE = 2 };

typedef struct range_t {
  iree_hal_buffer_t* buffer;
  struct range_t* next;
} range_t;

struct hal_pool_block_t {
  range_t* range;
  iree_device_size_t offset, length;
  hal_pool_block_t *before, *after;         // in the range
  hal_pool_block_t *next_free, *prev_free;  // in its list
  bool is_free;
};

struct hal_pool_t {
  iree_atomic_ref_count_t ref_count;
  iree_allocator_t host_allocator;
  iree_hal_allocator_t* allocator;
  hal_pool_params_t params;

  iree_slim_mutex_t mutex;  // guards what follows
  range_t* ranges;
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

// A free block of at least `length`: of the next list, all of whose blocks are large enough; else one of its own list
// that happens to be.
static hal_pool_block_t* find_block(hal_pool_t* pool, iree_device_size_t length) {
  place_t at = place_of(pool, length);
  for (hal_pool_block_t* block = pool->lists[at.level][at.step]; block; block = block->next_free) {
    if (block->length >= length) return block;
  }
  uint32_t steps = pool->steps[at.level] & ~((2u << at.step) - 1);
  if (!steps) {
    uint64_t levels = pool->levels & ~((2ull << at.level) - 1);
    if (!levels) return NULL;
    at.level = (uint32_t)__builtin_ctzll(levels);
    steps = pool->steps[at.level];
  }
  return pool->lists[at.level][__builtin_ctz(steps)];
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

static iree_status_t take_block(hal_pool_t* pool, iree_device_size_t length, hal_pool_block_t** out_block) {
  hal_pool_block_t* block = find_block(pool, length);
  if (!block) {
    IREE_RETURN_IF_ERROR(add_range(pool, length));
    block = find_block(pool, length);
  }
  list_remove(pool, block);
  iree_status_t status = split(pool, block, length);
  if (!iree_status_is_ok(status)) list_insert(pool, block);
  *out_block = block;
  return status;
}

iree_status_t hal_pool_take(hal_pool_t* pool, iree_device_size_t length, hal_pool_slice_t* out_slice) {
  *out_slice = (hal_pool_slice_t){0};
  iree_device_size_t alignment = pool->params.buffer.min_alignment;
  iree_device_size_t size = iree_max((length + alignment - 1) & ~(alignment - 1), alignment);
  hal_pool_block_t* block = NULL;
  iree_slim_mutex_lock(&pool->mutex);
  iree_status_t status = take_block(pool, size, &block);
  iree_slim_mutex_unlock(&pool->mutex);
  if (iree_status_is_ok(status)) *out_slice = (hal_pool_slice_t){block->range->buffer, block->offset, block};
  return status;
}

void hal_pool_give(hal_pool_t* pool, hal_pool_slice_t slice) {
  hal_pool_block_t* block = slice.block;
  iree_slim_mutex_lock(&pool->mutex);
  if (block->after && block->after->is_free) {
    list_remove(pool, block->after);
    join(pool, block, block->after);
  }
  if (block->before && block->before->is_free) {
    list_remove(pool, block->before);
    block = block->before;
    join(pool, block, block->after);
  }
  list_insert(pool, block);
  iree_slim_mutex_unlock(&pool->mutex);
}

bool hal_pool_fits(const hal_pool_t* pool, const iree_hal_buffer_params_t* params, iree_device_size_t length) {
  const iree_hal_buffer_params_t* own = &pool->params.buffer;
  return length <= pool->params.range_length / LARGE_SHARE && params->type == own->type &&
         iree_all_bits_set(own->usage, params->usage) && iree_all_bits_set(own->access, params->access) &&
         params->min_alignment <= own->min_alignment;
}

iree_status_t hal_pool_preallocate(hal_pool_t* pool) {
  iree_slim_mutex_lock(&pool->mutex);
  iree_status_t status = pool->ranges ? iree_ok_status() : add_range(pool, 0);
  iree_slim_mutex_unlock(&pool->mutex);
  return status;
}

// The free block that is a whole range, taken out of its list; NULL when there is none.
static hal_pool_block_t* find_empty(hal_pool_t* pool) {
  for (int level = 0; level < LEVEL_COUNT; ++level) {
    for (int step = 0; step < STEP_COUNT; ++step) {
      for (hal_pool_block_t* block = pool->lists[level][step]; block; block = block->next_free) {
        if (!block->before && !block->after) return block;
      }
    }
  }
  return NULL;
}

void hal_pool_trim(hal_pool_t* pool) {
  iree_slim_mutex_lock(&pool->mutex);
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
  hal_pool_trim(pool);
  while (pool->spare) {
    hal_pool_block_t* block = pool->spare;
    pool->spare = block->next_free;
    iree_allocator_free(pool->host_allocator, block);
  }
  iree_hal_allocator_release(pool->allocator);
  iree_slim_mutex_deinitialize(&pool->mutex);
  iree_allocator_free(pool->host_allocator, pool);
}

iree_hal_allocator_t* hal_pool_allocator(const hal_pool_t* pool) { return pool->allocator; }
