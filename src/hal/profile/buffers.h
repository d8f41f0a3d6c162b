// Buffers that allocators make and that go while somebody takes a profile: hooks of the public calls, which look at one
// word while nobody does.
#ifndef IREE_C_HAL_PROFILE_BUFFERS_H_
#define IREE_C_HAL_PROFILE_BUFFERS_H_

#include "iree/base/internal/atomics.h"
#include "iree/hal/allocator.h"

extern iree_atomic_uint32_t hal_profiled_allocators;  // how many are watched
static inline bool hal_profile_watches_buffers(void) {
  return IREE_UNLIKELY(iree_atomic_load(&hal_profiled_allocators, iree_memory_order_relaxed) != 0);
}

void hal_profile_buffer_made(iree_hal_allocator_t* allocator, iree_hal_buffer_t* buffer, bool is_imported);
void hal_profile_buffer_gone(iree_hal_buffer_t* buffer);

#endif  // IREE_C_HAL_PROFILE_BUFFERS_H_
