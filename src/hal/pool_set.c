// See pool_set.h. Entries are sorted, the highest priority first.
#include "iree/hal/pool_set.h"

typedef struct iree_hal_pool_set_entry_t {
  iree_hal_pool_t* pool;  // retained
  int32_t priority;
  iree_hal_pool_capabilities_t capabilities;
} iree_hal_pool_set_entry_t;

enum { DEFAULT_CAPACITY = 4 };

iree_status_t iree_hal_pool_set_initialize(iree_host_size_t initial_capacity, iree_allocator_t host_allocator,
                                           iree_hal_pool_set_t* out_pool_set) {
  memset(out_pool_set, 0, sizeof(*out_pool_set));
  out_pool_set->host_allocator = host_allocator;
  if (!initial_capacity) initial_capacity = DEFAULT_CAPACITY;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(host_allocator, initial_capacity, sizeof(*out_pool_set->entries),
                                                   (void**)&out_pool_set->entries));
  out_pool_set->entry_capacity = initial_capacity;
  return iree_ok_status();
}

void iree_hal_pool_set_deinitialize(iree_hal_pool_set_t* pool_set) {
  for (iree_host_size_t i = 0; i < pool_set->entry_count; ++i) iree_hal_pool_release(pool_set->entries[i].pool);
  iree_allocator_free(pool_set->host_allocator, pool_set->entries);
  memset(pool_set, 0, sizeof(*pool_set));
}

iree_status_t iree_hal_pool_set_register(iree_hal_pool_set_t* pool_set, int32_t priority, iree_hal_pool_t* pool) {
  if (pool_set->entry_count == pool_set->entry_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(pool_set->host_allocator, DEFAULT_CAPACITY,
                                                   sizeof(*pool_set->entries), &pool_set->entry_capacity,
                                                   (void**)&pool_set->entries));
  }
  iree_host_size_t place = pool_set->entry_count++;
  for (; place && pool_set->entries[place - 1].priority < priority; --place) {
    pool_set->entries[place] = pool_set->entries[place - 1];
  }
  iree_hal_pool_set_entry_t* entry = &pool_set->entries[place];
  *entry = (iree_hal_pool_set_entry_t){.pool = pool, .priority = priority};
  iree_hal_pool_query_capabilities(pool, &entry->capabilities);
  iree_hal_pool_retain(pool);
  return iree_ok_status();
}

static bool fits(const iree_hal_pool_capabilities_t* capabilities, const iree_hal_buffer_params_t* params,
                 iree_device_size_t size) {
  iree_hal_memory_type_t type = params->type & ~IREE_HAL_MEMORY_TYPE_OPTIMAL;
  return iree_all_bits_set(capabilities->memory_type, type) &&
         iree_all_bits_set(capabilities->supported_usage, params->usage) && size >= capabilities->min_allocation_size &&
         (!capabilities->max_allocation_size || size <= capabilities->max_allocation_size);
}

iree_hal_pool_t* iree_hal_pool_set_select(const iree_hal_pool_set_t* pool_set, iree_hal_buffer_params_t params,
                                          iree_device_size_t allocation_size) {
  for (iree_host_size_t i = 0; i < pool_set->entry_count; ++i) {
    const iree_hal_pool_set_entry_t* entry = &pool_set->entries[i];
    if (fits(&entry->capabilities, &params, allocation_size)) return entry->pool;
  }
  return NULL;
}

iree_status_t iree_hal_pool_set_allocate_buffer(iree_hal_pool_set_t* pool_set, iree_hal_buffer_params_t params,
                                                iree_device_size_t allocation_size,
                                                const iree_async_frontier_t* requester_frontier, iree_timeout_t timeout,
                                                iree_hal_buffer_t** out_buffer) {
  *out_buffer = NULL;
  iree_hal_pool_t* pool = iree_hal_pool_set_select(pool_set, params, allocation_size);
  if (!pool) {
    return iree_make_status(IREE_STATUS_NOT_FOUND,
                            "none of %" PRIhsz " pools has memory of type %08x and usage %08x for %" PRIdsz " bytes",
                            pool_set->entry_count, params.type, params.usage, allocation_size);
  }
  return iree_hal_pool_allocate_buffer(pool, params, allocation_size, requester_frontier, timeout, out_buffer);
}
