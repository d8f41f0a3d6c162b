// Pools of memory: large ranges from an allocator, cut into slices. Thread safe.
#ifndef IREE_C_HAL_POOL_H_
#define IREE_C_HAL_POOL_H_

#include "iree/hal/allocator.h"

typedef struct hal_pool_t hal_pool_t;
typedef struct hal_pool_block_t hal_pool_block_t;

typedef struct hal_pool_params_t {
  iree_hal_buffer_params_t buffer;  // of the ranges; its alignment is that of slices
  iree_device_size_t range_length;  // bytes
} hal_pool_params_t;

typedef struct hal_pool_slice_t {
  iree_hal_buffer_t* range;  // which the pool keeps alive; NULL: no slice
  iree_device_size_t offset;
  hal_pool_block_t* block;
} hal_pool_slice_t;

// `allocator` is retained.
iree_status_t hal_pool_create(const hal_pool_params_t* params, iree_hal_allocator_t* allocator,
                              iree_allocator_t host_allocator, hal_pool_t** out_pool);
void hal_pool_retain(hal_pool_t* pool);
void hal_pool_release(hal_pool_t* pool);
iree_hal_allocator_t* hal_pool_allocator(const hal_pool_t* pool);

// Whether slices are as `params`, which an allocator has resolved, and `length` ask for. Large ones are not for pools.
bool hal_pool_fits(const hal_pool_t* pool, const iree_hal_buffer_params_t* params, iree_device_size_t length);
// Errors: those of the allocator.
iree_status_t hal_pool_take(hal_pool_t* pool, iree_device_size_t length, hal_pool_slice_t* out_slice);
void hal_pool_give(hal_pool_t* pool, hal_pool_slice_t slice);
// Makes the first range. Errors: those of the allocator.
iree_status_t hal_pool_preallocate(hal_pool_t* pool);
// Frees ranges without slices.
void hal_pool_trim(hal_pool_t* pool);

#endif  // IREE_C_HAL_POOL_H_
