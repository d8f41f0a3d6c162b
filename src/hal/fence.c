// Fences: one block with the head, the semaphores and their values.
#include "iree/hal/fence.h"

static iree_hal_semaphore_t** fence_semaphores(iree_hal_fence_t* fence) {
  return (iree_hal_semaphore_t**)((uint8_t*)fence + iree_sizeof_struct(*fence));
}

static uint64_t* fence_values(iree_hal_fence_t* fence) {
  return (uint64_t*)(fence_semaphores(fence) + fence->capacity);
}

iree_status_t iree_hal_fence_create(iree_host_size_t capacity, iree_allocator_t host_allocator,
                                    iree_hal_fence_t** out_fence) {
  *out_fence = NULL;
  if (capacity > UINT16_MAX) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "capacity %" PRIhsz " is more than a fence can have",
                            capacity);
  }
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, iree_sizeof_struct(*fence), capacity,
                                                          sizeof(iree_hal_semaphore_t*) + sizeof(uint64_t),
                                                          (void**)&fence));
  iree_atomic_ref_count_init(&fence->ref_count);
  fence->host_allocator = host_allocator;
  fence->capacity = (uint16_t)capacity;
  *out_fence = fence;
  return iree_ok_status();
}

iree_status_t iree_hal_fence_create_at(iree_hal_semaphore_t* semaphore, uint64_t value, iree_allocator_t host_allocator,
                                       iree_hal_fence_t** out_fence) {
  IREE_RETURN_IF_ERROR(iree_hal_fence_create(1, host_allocator, out_fence));
  return iree_hal_fence_insert(*out_fence, semaphore, value);
}

iree_status_t iree_hal_fence_join(iree_host_size_t fence_count, iree_hal_fence_t** fences,
                                  iree_allocator_t host_allocator, iree_hal_fence_t** out_fence) {
  *out_fence = NULL;
  iree_host_size_t total = 0, used = 0;
  iree_hal_fence_t* only = NULL;
  for (iree_host_size_t i = 0; i < fence_count; ++i) {
    iree_host_size_t count = fences[i] ? iree_hal_fence_timepoint_count(fences[i]) : 0;
    if (!count) continue;
    total += count;
    only = fences[i];
    ++used;
  }
  if (used == 0) return iree_ok_status();
  if (used == 1) {
    iree_hal_fence_retain(only);
    *out_fence = only;
    return iree_ok_status();
  }
  iree_hal_fence_t* fence = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_fence_create(total, host_allocator, &fence));
  for (iree_host_size_t i = 0; i < fence_count; ++i) {
    // There is room for every point, so this does not fail.
    if (fences[i]) IREE_IGNORE_ERROR(iree_hal_fence_extend(fence, fences[i]));
  }
  *out_fence = fence;
  return iree_ok_status();
}

void iree_hal_fence_retain(iree_hal_fence_t* fence) {
  if (fence) iree_atomic_ref_count_inc(&fence->ref_count);
}

void iree_hal_fence_release(iree_hal_fence_t* fence) {
  if (fence && iree_atomic_ref_count_dec(&fence->ref_count) == 1) iree_hal_fence_destroy(fence);
}

void iree_hal_fence_destroy(iree_hal_fence_t* fence) {
  iree_hal_semaphore_list_release(iree_hal_fence_semaphore_list(fence));
  iree_allocator_free(fence->host_allocator, fence);
}

iree_hal_semaphore_list_t iree_hal_fence_semaphore_list(iree_hal_fence_t* fence) {
  if (!fence) return iree_hal_semaphore_list_empty();
  iree_hal_semaphore_list_t list = {fence->count, fence_semaphores(fence), fence_values(fence)};
  return list;
}

iree_host_size_t iree_hal_fence_timepoint_count(const iree_hal_fence_t* fence) { return fence->count; }

iree_status_t iree_hal_fence_insert(iree_hal_fence_t* fence, iree_hal_semaphore_t* semaphore, uint64_t value) {
  iree_hal_semaphore_t** semaphores = fence_semaphores(fence);
  uint64_t* values = fence_values(fence);
  for (uint16_t i = 0; i < fence->count; ++i) {
    if (semaphores[i] != semaphore) continue;
    values[i] = iree_max(values[i], value);
    return iree_ok_status();
  }
  if (fence->count == fence->capacity) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "the fence's capacity of %d timelines is used up",
                            (int)fence->capacity);
  }
  semaphores[fence->count] = semaphore;
  values[fence->count++] = value;
  iree_hal_semaphore_retain(semaphore);
  return iree_ok_status();
}

iree_status_t iree_hal_fence_extend(iree_hal_fence_t* into_fence, iree_hal_fence_t* from_fence) {
  iree_hal_semaphore_list_t list = iree_hal_fence_semaphore_list(from_fence);
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    IREE_RETURN_IF_ERROR(iree_hal_fence_insert(into_fence, list.semaphores[i], list.payload_values[i]));
  }
  return iree_ok_status();
}

iree_status_t iree_hal_fence_query(iree_hal_fence_t* fence) {
  iree_hal_semaphore_list_t list = iree_hal_fence_semaphore_list(fence);
  bool reached = true;
  for (iree_host_size_t i = 0; i < list.count; ++i) {
    uint64_t value = 0;
    IREE_RETURN_IF_ERROR(iree_hal_semaphore_query(list.semaphores[i], &value));
    reached = reached && value >= list.payload_values[i];
  }
  return reached ? iree_ok_status() : iree_status_from_code(IREE_STATUS_DEFERRED);
}

iree_status_t iree_hal_fence_signal(iree_hal_fence_t* fence) {
  return iree_hal_semaphore_list_signal(iree_hal_fence_semaphore_list(fence), NULL);
}

void iree_hal_fence_fail(iree_hal_fence_t* fence, iree_status_t signal_status) {
  iree_hal_semaphore_list_fail(iree_hal_fence_semaphore_list(fence), signal_status);
}

iree_status_t iree_hal_fence_wait(iree_hal_fence_t* fence, iree_timeout_t timeout, iree_async_wait_flags_t flags) {
  return iree_hal_semaphore_list_wait(iree_hal_fence_semaphore_list(fence), timeout, flags);
}
