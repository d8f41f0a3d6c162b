// Large blocks of host memory that were freed and are kept for the next allocation of their size: the C library gives
// such memory back to the system, and a program that is called again and again would touch new pages each time.
// Thread safe.
#ifndef IREE_C_HAL_KEPT_BLOCKS_H_
#define IREE_C_HAL_KEPT_BLOCKS_H_

#include "iree/base/api.h"
#include "iree/base/threading/mutex.h"

enum { HAL_KEPT_BLOCKS = 16 };

typedef struct hal_kept_blocks_t {
  iree_allocator_t allocator;  // of blocks (iree_allocator_malloc_aligned)
  iree_slim_mutex_t mutex;     // guards what follows
  size_t total;                // bytes
  size_t count;
  struct {
    void* data;
    size_t size;
  } blocks[HAL_KEPT_BLOCKS];  // oldest first
} hal_kept_blocks_t;

void hal_kept_blocks_initialize(hal_kept_blocks_t* kept, iree_allocator_t allocator);
void hal_kept_blocks_deinitialize(hal_kept_blocks_t* kept);
// Frees all.
void hal_kept_blocks_trim(hal_kept_blocks_t* kept);
// A block of that size, with what was in it, or new. Errors: those of the allocator, when keeping nothing does not
// help.
iree_status_t hal_kept_blocks_allocate(hal_kept_blocks_t* kept, size_t size, size_t alignment, void** out_data);
// Keeps the block, or frees it.
void hal_kept_blocks_free(hal_kept_blocks_t* kept, void* data, size_t size);

#endif  // IREE_C_HAL_KEPT_BLOCKS_H_
