// Blocks that are kept.
#include "hal/kept_blocks.h"

// Smaller ones the C library keeps itself. What is kept is little beside what a process with such blocks has.
#define MIN_SIZE ((size_t)128 << 10)
#define MAX_TOTAL ((size_t)64 << 20)

// A sanitizer sees uses of what was freed only when it is freed.
#if defined(__SANITIZE_ADDRESS__)
static const bool keeps = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
static const bool keeps = false;
#else
static const bool keeps = true;
#endif
#else
static const bool keeps = true;
#endif

void hal_kept_blocks_initialize(hal_kept_blocks_t* kept, iree_allocator_t allocator) {
  memset(kept, 0, sizeof(*kept));
  kept->allocator = allocator;
  iree_slim_mutex_initialize(&kept->mutex);
}

void hal_kept_blocks_deinitialize(hal_kept_blocks_t* kept) {
  hal_kept_blocks_trim(kept);
  iree_slim_mutex_deinitialize(&kept->mutex);
}

// Takes one out, the mutex being held.
static void* remove_at(hal_kept_blocks_t* kept, size_t index) {
  void* data = kept->blocks[index].data;
  kept->total -= kept->blocks[index].size;
  --kept->count;
  memmove(&kept->blocks[index], &kept->blocks[index + 1], (kept->count - index) * sizeof(kept->blocks[0]));
  return data;
}

void hal_kept_blocks_trim(hal_kept_blocks_t* kept) {
  iree_slim_mutex_lock(&kept->mutex);
  while (kept->count) iree_allocator_free_aligned(kept->allocator, remove_at(kept, kept->count - 1));
  iree_slim_mutex_unlock(&kept->mutex);
}

static void* take(hal_kept_blocks_t* kept, size_t size, size_t alignment) {
  void* data = NULL;
  iree_slim_mutex_lock(&kept->mutex);
  for (size_t i = kept->count; i-- > 0 && !data;) {
    bool fits = kept->blocks[i].size == size && iree_host_ptr_has_alignment(kept->blocks[i].data, alignment);
    if (fits) data = remove_at(kept, i);
  }
  iree_slim_mutex_unlock(&kept->mutex);
  return data;
}

iree_status_t hal_kept_blocks_allocate(hal_kept_blocks_t* kept, size_t size, size_t alignment, void** out_data) {
  *out_data = size >= MIN_SIZE ? take(kept, size, alignment) : NULL;
  if (*out_data) return iree_ok_status();
  iree_status_t status = iree_allocator_malloc_aligned(kept->allocator, size, alignment, 0, out_data);
  if (!iree_status_is_resource_exhausted(status)) return status;
  iree_status_ignore(status);
  hal_kept_blocks_trim(kept);
  return iree_allocator_malloc_aligned(kept->allocator, size, alignment, 0, out_data);
}

void hal_kept_blocks_free(hal_kept_blocks_t* kept, void* data, size_t size) {
  if (!keeps || size < MIN_SIZE || size > MAX_TOTAL) {
    iree_allocator_free_aligned(kept->allocator, data);
    return;
  }
  iree_slim_mutex_lock(&kept->mutex);
  while (kept->count == HAL_KEPT_BLOCKS || kept->total > MAX_TOTAL - size) {
    iree_allocator_free_aligned(kept->allocator, remove_at(kept, 0));
  }
  kept->blocks[kept->count].data = data;
  kept->blocks[kept->count++].size = size;
  kept->total += size;
  iree_slim_mutex_unlock(&kept->mutex);
}
