// Virtual memory of GPUs: reservations are buffers without memory, physical memory is a row of pages. Vendors'
// libraries map and unmap a piece of memory as a whole, so each page is a piece.
#include "hal/gpu/allocator.h"

typedef struct physical_t {
  const gpu_allocator_params_t* params;
  iree_allocator_t host_allocator;
  iree_atomic_uint32_t mapped_pages;
  iree_device_size_t size;   // bytes
  iree_device_size_t count;  // of pages
  uint64_t pages[];
} physical_t;

static const gpu_allocator_params_t* params_of(iree_hal_allocator_t* allocator) {
  return gpu_allocator_params((const gpu_allocator_t*)allocator);
}

bool gpu_supports_virtual_memory(iree_hal_allocator_t* allocator) {
  return params_of(allocator)->virtual_page_size != 0;
}

iree_status_t gpu_virtual_memory_query_granularity(iree_hal_allocator_t* allocator,
                                                   const iree_hal_buffer_params_t* buffer_params,
                                                   iree_device_size_t* out_minimum_page_size,
                                                   iree_device_size_t* out_recommended_page_size) {
  *out_minimum_page_size = *out_recommended_page_size = params_of(allocator)->virtual_page_size;
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Reservations
//===----------------------------------------------------------------------------------------------------------------===

void gpu_virtual_memory_free(const gpu_allocator_params_t* params, const gpu_memory_t* memory) {
  const hal_page_table_t* table = memory->pages;
  for (iree_device_size_t i = 0; i < table->page_count; ++i) {
    if (table->pages[i]) params->virtual_calls->unmap(params->source, memory->address + i * table->page_size);
  }
  params->virtual_calls->unreserve(params->source, memory->address, memory->size);
  hal_page_table_free(memory->pages, params->host_allocator);
}

iree_status_t gpu_virtual_memory_reserve(iree_hal_allocator_t* allocator, iree_hal_queue_affinity_t queue_affinity,
                                         iree_device_size_t size, iree_hal_buffer_t** out_virtual_buffer) {
  const gpu_allocator_params_t* params = params_of(allocator);
  gpu_memory_t memory = {
      .source = GPU_MEMORY_RESERVED, .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .size = size, .length = size};
  iree_hal_buffer_params_t buffer = {
      .type = memory.type,
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH,
      .queue_affinity = queue_affinity,
  };
  IREE_RETURN_IF_ERROR(hal_page_table_create(params->virtual_page_size, size, params->host_allocator, &memory.pages));
  iree_status_t status = params->virtual_calls->reserve(params->source, size, &memory.address);
  if (!iree_status_is_ok(status)) {
    hal_page_table_free(memory.pages, params->host_allocator);
    return status;
  }
  return gpu_buffer_create((gpu_allocator_t*)allocator, &buffer, &memory, out_virtual_buffer);
}

static iree_status_t find_reservation(iree_hal_buffer_t* buffer, const gpu_memory_t** out_memory) {
  iree_device_size_t offset = 0;
  *out_memory = gpu_buffer_is_fixed(buffer) ? gpu_buffer_memory(buffer, &offset) : NULL;
  if (*out_memory && (*out_memory)->source == GPU_MEMORY_RESERVED && !offset) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the buffer is no reservation of this device");
}

static iree_status_t lock_pages(iree_hal_buffer_t* buffer, iree_device_size_t offset, iree_device_size_t size,
                                uint64_t* out_address, hal_page_range_t* out_range) {
  const gpu_memory_t* memory = NULL;
  IREE_RETURN_IF_ERROR(find_reservation(buffer, &memory));
  *out_address = memory->address + offset;
  return hal_page_range_lock(memory->pages, offset, size, out_range);
}

iree_status_t gpu_virtual_memory_release(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer) {
  hal_page_range_t range;
  uint64_t address = 0;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, 0, virtual_buffer->allocation_size, &address, &range));
  iree_status_t status = hal_page_range_check(&range, false);
  hal_page_range_unlock(&range);
  if (iree_status_is_ok(status)) iree_hal_buffer_release(virtual_buffer);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Physical memory
//===----------------------------------------------------------------------------------------------------------------===

static void physical_free(physical_t* physical) {
  const gpu_allocator_params_t* params = physical->params;
  while (physical->count) params->virtual_calls->free(params->source, physical->pages[--physical->count]);
  iree_allocator_free(physical->host_allocator, physical);
}

iree_status_t gpu_physical_memory_allocate(iree_hal_allocator_t* allocator,
                                           const iree_hal_buffer_params_t* buffer_params, iree_device_size_t size,
                                           iree_allocator_t host_allocator,
                                           iree_hal_physical_memory_t** out_physical_memory) {
  const gpu_allocator_params_t* params = params_of(allocator);
  if (iree_any_bit_set(buffer_params->type, IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE)) {
    return iree_make_status(IREE_STATUS_UNAVAILABLE, "physical memory is the GPU's, which the host does not see");
  }
  IREE_RETURN_IF_ERROR(hal_page_check_size(size, params->virtual_page_size));
  iree_device_size_t count = size / params->virtual_page_size;
  physical_t* physical = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*physical), count,
                                                          sizeof(physical->pages[0]), (void**)&physical));
  physical->params = params;
  physical->host_allocator = host_allocator;
  physical->size = size;
  uint32_t gpu = gpu_domain_physical(params->domain, gpu_domain_first(params->domain, buffer_params->queue_affinity));
  iree_status_t status = iree_ok_status();
  while (iree_status_is_ok(status) && physical->count < count) {
    status = params->virtual_calls->allocate(params->source, gpu, &physical->pages[physical->count]);
    if (iree_status_is_ok(status)) ++physical->count;
  }
  if (!iree_status_is_ok(status)) {
    physical_free(physical);
    return status;
  }
  *out_physical_memory = (iree_hal_physical_memory_t*)physical;
  return iree_ok_status();
}

iree_status_t gpu_physical_memory_free(iree_hal_allocator_t* allocator, iree_hal_physical_memory_t* physical_memory) {
  physical_t* physical = (physical_t*)physical_memory;
  IREE_RETURN_IF_ERROR(hal_page_check_unmapped(&physical->mapped_pages));
  physical_free(physical);
  return iree_ok_status();
}

//===----------------------------------------------------------------------------------------------------------------===
// Mapping
//===----------------------------------------------------------------------------------------------------------------===

static void unmap_pages(const gpu_allocator_params_t* params, uint64_t address, iree_device_size_t count) {
  for (iree_device_size_t i = 0; i < count; ++i) {
    params->virtual_calls->unmap(params->source, address + i * params->virtual_page_size);
  }
}

static iree_status_t map_pages(const gpu_allocator_params_t* params, uint64_t address, const uint64_t* pages,
                               iree_device_size_t count) {
  iree_device_size_t mapped = 0;
  iree_status_t status = iree_ok_status();
  while (iree_status_is_ok(status) && mapped < count) {
    status = params->virtual_calls->map(params->source, address + mapped * params->virtual_page_size, pages[mapped]);
    if (iree_status_is_ok(status)) ++mapped;
  }
  if (!iree_status_is_ok(status)) unmap_pages(params, address, mapped);
  return status;
}

iree_status_t gpu_virtual_memory_map(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                     iree_device_size_t virtual_offset, iree_hal_physical_memory_t* physical_memory,
                                     iree_device_size_t physical_offset, iree_device_size_t size) {
  const gpu_allocator_params_t* params = params_of(allocator);
  physical_t* physical = (physical_t*)physical_memory;
  hal_page_range_t range;
  uint64_t address = 0;
  IREE_RETURN_IF_ERROR(hal_page_check_physical(physical_offset, size, physical->size, params->virtual_page_size));
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, virtual_offset, size, &address, &range));
  iree_status_t status = hal_page_range_check(&range, false);
  if (iree_status_is_ok(status)) {
    status = map_pages(params, address, physical->pages + physical_offset / params->virtual_page_size, range.count);
  }
  if (iree_status_is_ok(status)) hal_page_range_set(&range, &physical->mapped_pages);
  hal_page_range_unlock(&range);
  return status;
}

iree_status_t gpu_virtual_memory_unmap(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                       iree_device_size_t virtual_offset, iree_device_size_t size) {
  hal_page_range_t range;
  uint64_t address = 0;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, virtual_offset, size, &address, &range));
  iree_status_t status = hal_page_range_check(&range, true);
  if (iree_status_is_ok(status)) {
    unmap_pages(params_of(allocator), address, range.count);
    hal_page_range_set(&range, NULL);
  }
  hal_page_range_unlock(&range);
  return status;
}

// GPUs of which no queue is meant lose their access.
iree_status_t gpu_virtual_memory_protect(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                         iree_device_size_t virtual_offset, iree_device_size_t size,
                                         iree_hal_queue_affinity_t queue_affinity,
                                         iree_hal_memory_protection_t protection) {
  const gpu_allocator_params_t* params = params_of(allocator);
  hal_page_range_t range;
  uint64_t address = 0, gpus = 0;
  for (uint32_t i = 0; i < params->domain.physical_count * params->domain.queue_count; ++i) {
    if (queue_affinity >> i & 1) gpus |= 1ull << gpu_domain_physical(params->domain, i);
  }
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, virtual_offset, size, &address, &range));
  iree_status_t status = hal_page_range_check(&range, true);
  for (iree_device_size_t i = 0; i < range.count && iree_status_is_ok(status); ++i) {
    status = params->virtual_calls->protect(params->source, address + i * params->virtual_page_size, gpus, protection);
  }
  hal_page_range_unlock(&range);
  return status;
}

iree_status_t gpu_virtual_memory_advise(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                        iree_device_size_t virtual_offset, iree_device_size_t size,
                                        iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_advice_t advice) {
  const gpu_memory_t* memory = NULL;
  IREE_RETURN_IF_ERROR(find_reservation(virtual_buffer, &memory));
  if (virtual_offset <= memory->size && size <= memory->size - virtual_offset) return iree_ok_status();  // a hint
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the range is outside a reservation of %" PRIdsz, memory->size);
}
