// Buffers in profiles: which allocators are watched, and what of theirs is alive.
//
// A buffer is known by its address from when it is made until it goes, in the profile of its allocator's device; those
// that were there before, or go after, are not told.
#include "hal/profile/buffers.h"

#include "hal/profile/session.h"

iree_atomic_uint32_t hal_profiled_allocators;

// Taken before a profile's mutex.
static iree_slim_mutex_t mutex;  // zero: free
static hal_profile_t* watchers;

void profile_watch_buffers(hal_profile_t* profile, iree_hal_allocator_t* allocator) {
  profile->allocator = allocator;
  iree_slim_mutex_lock(&mutex);
  profile->next_watcher = watchers;
  watchers = profile;
  iree_atomic_fetch_add(&hal_profiled_allocators, 1, iree_memory_order_relaxed);
  iree_slim_mutex_unlock(&mutex);
}

void profile_unwatch_buffers(hal_profile_t* profile) {
  iree_slim_mutex_lock(&mutex);
  for (hal_profile_t** place = &watchers; *place; place = &(*place)->next_watcher) {
    if (*place != profile) continue;
    *place = profile->next_watcher;
    iree_atomic_fetch_sub(&hal_profiled_allocators, 1, iree_memory_order_relaxed);
    break;
  }
  iree_slim_mutex_unlock(&mutex);
}

static hal_profile_memory_t describe(const iree_hal_buffer_t* buffer, const profile_buffer_t* entry, bool is_made) {
  hal_profile_memory_t memory = {
      .type =
          is_made ? IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_ALLOCATE : IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_FREE,
      .queue_affinity = buffer->placement.queue_affinity,
      .allocation_id = entry->allocation_id,
      .backing_id = (uint32_t)((uintptr_t)buffer >> 4),
      .memory_type = buffer->memory_type,
      .buffer_usage = buffer->allowed_usage,
      .length = buffer->allocation_size,
      .alignment = 1,
  };
  if (!entry->is_imported) return memory;
  memory.type =
      is_made ? IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_IMPORT : IREE_HAL_PROFILE_MEMORY_EVENT_TYPE_BUFFER_UNIMPORT;
  memory.flags = IREE_HAL_PROFILE_MEMORY_EVENT_FLAG_EXTERNALLY_OWNED;
  return memory;
}

static bool add(hal_profile_t* profile, profile_buffer_t entry) {
  if (profile->buffer_count == profile->buffer_capacity) {
    iree_status_t status = iree_allocator_grow_array(profile->host_allocator, 64, sizeof(*profile->buffers),
                                                     &profile->buffer_capacity, (void**)&profile->buffers);
    if (!iree_status_is_ok(status)) {
      iree_status_free(status);
      ++profile->records[PROFILE_MEMORY_EVENTS].dropped;
      return false;
    }
  }
  profile->buffers[profile->buffer_count++] = entry;
  return true;
}

void hal_profile_buffer_made(iree_hal_allocator_t* allocator, iree_hal_buffer_t* buffer, bool is_imported) {
  iree_slim_mutex_lock(&mutex);
  hal_profile_t* profile = watchers;
  while (profile && profile->allocator != allocator) profile = profile->next_watcher;
  if (profile) {
    profile_buffer_t entry = {buffer, hal_profile_new_allocation(), is_imported};
    hal_profile_memory_t memory = describe(buffer, &entry, /*is_made=*/true);
    iree_slim_mutex_lock(&profile->mutex);
    if (add(profile, entry)) profile_append_memory(profile, &memory);
    iree_slim_mutex_unlock(&profile->mutex);
  }
  iree_slim_mutex_unlock(&mutex);
}

// Those that go are mostly young.
static bool forget(hal_profile_t* profile, iree_hal_buffer_t* buffer) {
  for (iree_host_size_t i = profile->buffer_count; i-- > 0;) {
    if (profile->buffers[i].buffer != buffer) continue;
    hal_profile_memory_t memory = describe(buffer, &profile->buffers[i], /*is_made=*/false);
    profile_append_memory(profile, &memory);
    profile->buffers[i] = profile->buffers[--profile->buffer_count];
    return true;
  }
  return false;
}

void hal_profile_buffer_gone(iree_hal_buffer_t* buffer) {
  bool is_known = false;
  iree_slim_mutex_lock(&mutex);
  for (hal_profile_t* profile = watchers; profile && !is_known; profile = profile->next_watcher) {
    iree_slim_mutex_lock(&profile->mutex);
    is_known = forget(profile, buffer);
    iree_slim_mutex_unlock(&profile->mutex);
  }
  iree_slim_mutex_unlock(&mutex);
}
