// Pools of memory: large ranges from an allocator, cut into slices. Thread safe.
//
// A slice may be given back while work that uses it is still on its way, with the point at which that work is over. It
// can be taken again at once, for work that comes after that point.
#ifndef IREE_C_HAL_POOL_H_
#define IREE_C_HAL_POOL_H_

#include "iree/hal/allocator.h"

typedef struct hal_pool_t hal_pool_t;
typedef struct hal_pool_block_t hal_pool_block_t;

// A point in some queue's order.
typedef struct hal_pool_point_t {
  uint64_t queue_id;  // 0: none
  uint64_t epoch;
} hal_pool_point_t;

#define HAL_POOL_MAX_FRONTIER 8

typedef struct hal_pool_params_t {
  iree_hal_buffer_params_t buffer;  // of the ranges; its alignment is that of slices
  iree_device_size_t range_length;  // bytes
  uint32_t frontier_capacity;       // points that a free range remembers; 0: 4
  // Whether a point was passed; NULL: all were.
  bool (*is_over)(void* user_data, hal_pool_point_t point);
  void* user_data;
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
// All points are over from here on, and `user_data` is not used any more.
void hal_pool_close(hal_pool_t* pool);

// Pools of several kinds of memory are a chain, of which the first owns the rest: what closes, trims and releases it
// does so to all. Takes over `next`.
void hal_pool_append(hal_pool_t* pool, hal_pool_t* next);
// The first pool of a chain, which may be NULL, that has memory of that allocator and whose slices are as `params`,
// which it has resolved, and `length` ask for. NULL when none is: large ones are not for pools.
hal_pool_t* hal_pool_choose(hal_pool_t* pool, const iree_hal_allocator_t* allocator,
                            const iree_hal_buffer_params_t* params, iree_device_size_t length);
// Who takes a slice: work of a queue, and whether it may wait for points of other queues.
typedef struct hal_pool_taker_t {
  uint64_t queue_id;  // 0: nothing that is not over will do
  bool can_wait;
  bool is_modest;  // does without a new range: then there may be no slice
} hal_pool_taker_t;
// What is still to come before a slice may be used.
typedef struct hal_pool_frontier_t {
  uint32_t count;
  hal_pool_point_t points[HAL_POOL_MAX_FRONTIER];  // one of a queue; the taker's own among them
} hal_pool_frontier_t;
// A slice without a range when there is none. Errors: those of the allocator.
iree_status_t hal_pool_take(hal_pool_t* pool, iree_device_size_t length, hal_pool_taker_t taker,
                            hal_pool_slice_t* out_slice, hal_pool_frontier_t* out_frontier);
// The slice is free from `point` on; without a point, from what had to come before its use.
void hal_pool_give(hal_pool_t* pool, hal_pool_slice_t slice, hal_pool_point_t point);
// Makes the first range, of this pool alone. Errors: those of the allocator.
iree_status_t hal_pool_preallocate(hal_pool_t* pool);
// Frees ranges without slices.
void hal_pool_trim(hal_pool_t* pool);

#endif  // IREE_C_HAL_POOL_H_
