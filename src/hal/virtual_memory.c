// Virtual memory: the public calls, and those of the host.
//
// A reservation keeps for each of its pages which physical memory is there, so that what is mapped twice, unmapped but
// not mapped, or freed while it is mapped is told and not done.
#include "hal/virtual_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hal/detail.h"
#include "iree/base/threading/mutex.h"

//===----------------------------------------------------------------------------------------------------------------===
// Public calls
//===----------------------------------------------------------------------------------------------------------------===

bool iree_hal_allocator_supports_virtual_memory(iree_hal_allocator_t* allocator) {
  const iree_hal_allocator_vtable_t* vtable = IREE_HAL_VTABLE(allocator, iree_hal_allocator);
  return vtable->supports_virtual_memory && vtable->supports_virtual_memory(allocator);
}

static iree_status_t check_supported(iree_hal_allocator_t* allocator) {
  if (iree_hal_allocator_supports_virtual_memory(allocator)) return iree_ok_status();
  return iree_make_status(IREE_STATUS_UNAVAILABLE, "this allocator has no virtual memory: allocate buffers");
}

#define CALL_SUPPORTED(method, ...)                 \
  IREE_RETURN_IF_ERROR(check_supported(allocator)); \
  return HAL_CALL(allocator, iree_hal_allocator, method)(__VA_ARGS__)

iree_status_t iree_hal_allocator_virtual_memory_query_granularity(iree_hal_allocator_t* allocator,
                                                                  iree_hal_buffer_params_t params,
                                                                  iree_device_size_t* out_minimum_page_size,
                                                                  iree_device_size_t* out_recommended_page_size) {
  *out_minimum_page_size = *out_recommended_page_size = 0;
  iree_hal_buffer_params_canonicalize(&params);
  CALL_SUPPORTED(virtual_memory_query_granularity, allocator, &params, out_minimum_page_size,
                 out_recommended_page_size);
}

iree_status_t iree_hal_allocator_virtual_memory_reserve(iree_hal_allocator_t* allocator,
                                                        iree_hal_queue_affinity_t queue_affinity,
                                                        iree_device_size_t size,
                                                        iree_hal_buffer_t** out_virtual_buffer) {
  *out_virtual_buffer = NULL;
  CALL_SUPPORTED(virtual_memory_reserve, allocator, queue_affinity, size, out_virtual_buffer);
}

iree_status_t iree_hal_allocator_virtual_memory_release(iree_hal_allocator_t* allocator,
                                                        iree_hal_buffer_t* virtual_buffer) {
  CALL_SUPPORTED(virtual_memory_release, allocator, virtual_buffer);
}

iree_status_t iree_hal_allocator_physical_memory_allocate(iree_hal_allocator_t* allocator,
                                                          iree_hal_buffer_params_t params, iree_device_size_t size,
                                                          iree_allocator_t host_allocator,
                                                          iree_hal_physical_memory_t** out_physical_memory) {
  *out_physical_memory = NULL;
  iree_hal_buffer_params_canonicalize(&params);
  CALL_SUPPORTED(physical_memory_allocate, allocator, &params, size, host_allocator, out_physical_memory);
}

iree_status_t iree_hal_allocator_physical_memory_free(iree_hal_allocator_t* allocator,
                                                      iree_hal_physical_memory_t* physical_memory) {
  CALL_SUPPORTED(physical_memory_free, allocator, physical_memory);
}

iree_status_t iree_hal_allocator_virtual_memory_map(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                                    iree_device_size_t virtual_offset,
                                                    iree_hal_physical_memory_t* physical_memory,
                                                    iree_device_size_t physical_offset, iree_device_size_t size) {
  CALL_SUPPORTED(virtual_memory_map, allocator, virtual_buffer, virtual_offset, physical_memory, physical_offset, size);
}

iree_status_t iree_hal_allocator_virtual_memory_unmap(iree_hal_allocator_t* allocator,
                                                      iree_hal_buffer_t* virtual_buffer,
                                                      iree_device_size_t virtual_offset, iree_device_size_t size) {
  CALL_SUPPORTED(virtual_memory_unmap, allocator, virtual_buffer, virtual_offset, size);
}

iree_status_t iree_hal_allocator_virtual_memory_protect(iree_hal_allocator_t* allocator,
                                                        iree_hal_buffer_t* virtual_buffer,
                                                        iree_device_size_t virtual_offset, iree_device_size_t size,
                                                        iree_hal_queue_affinity_t queue_affinity,
                                                        iree_hal_memory_protection_t protection) {
  if (protection & ~(iree_hal_memory_protection_t)IREE_HAL_MEMORY_PROTECTION_READ_WRITE) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "protection 0x%" PRIX64 " is not known", protection);
  }
  CALL_SUPPORTED(virtual_memory_protect, allocator, virtual_buffer, virtual_offset, size, queue_affinity, protection);
}

iree_status_t iree_hal_allocator_virtual_memory_advise(iree_hal_allocator_t* allocator,
                                                       iree_hal_buffer_t* virtual_buffer,
                                                       iree_device_size_t virtual_offset, iree_device_size_t size,
                                                       iree_hal_queue_affinity_t queue_affinity,
                                                       iree_hal_memory_advice_t advice) {
  const iree_hal_memory_advice_t known = IREE_HAL_MEMORY_ADVICE_WILL_NEED | IREE_HAL_MEMORY_ADVICE_DONT_NEED;
  if (advice & ~known || advice == known) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "advice 0x%" PRIX64 " is not known", advice);
  }
  CALL_SUPPORTED(virtual_memory_advise, allocator, virtual_buffer, virtual_offset, size, queue_affinity, advice);
}

//===----------------------------------------------------------------------------------------------------------------===
// Reservations of the host
//===----------------------------------------------------------------------------------------------------------------===

enum { RECOMMENDED_PAGE_SIZE = 64 * 1024 };

struct iree_hal_physical_memory_t {
  iree_allocator_t host_allocator;
  int fd;
  iree_device_size_t size;
  iree_atomic_uint32_t mapped_pages;
};

typedef struct reservation_t {
  iree_hal_buffer_t base;
  iree_allocator_t host_allocator;
  uint8_t* data;
  iree_slim_mutex_t mutex;              // guards the pages
  iree_hal_physical_memory_t* pages[];  // NULL: nothing is mapped
} reservation_t;

static iree_device_size_t page_size(void) { return (iree_device_size_t)sysconf(_SC_PAGESIZE); }

static iree_status_t fail_errno(const char* what) {
  return iree_make_status(errno == ENOMEM ? IREE_STATUS_RESOURCE_EXHAUSTED : iree_status_code_from_errno(errno),
                          "%s: %s", what, strerror(errno));
}

static iree_status_t check_aligned(iree_device_size_t value, const char* name) {
  if (value % page_size() == 0) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%s %" PRIdsz " is not a multiple of the page size of %" PRIdsz,
                          name, value, page_size());
}

static iree_status_t check_size(iree_device_size_t size) {
  if (size == 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the size is 0");
  return check_aligned(size, "size");
}

static void reservation_destroy(iree_hal_buffer_t* base) {
  reservation_t* self = (reservation_t*)base;
  iree_allocator_t host_allocator = self->host_allocator;
  munmap(self->data, base->allocation_size);
  for (iree_device_size_t i = 0; i < base->allocation_size / page_size(); ++i) {
    if (self->pages[i]) iree_atomic_fetch_sub(&self->pages[i]->mapped_pages, 1, iree_memory_order_release);
  }
  iree_slim_mutex_deinitialize(&self->mutex);
  iree_hal_buffer_deinitialize(base);
  iree_allocator_free(host_allocator, self);
}

static iree_status_t reservation_map_range(iree_hal_buffer_t* base, iree_hal_mapping_mode_t mapping_mode,
                                           iree_hal_memory_access_t memory_access, iree_device_size_t local_byte_offset,
                                           iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  mapping->contents = iree_make_byte_span(((reservation_t*)base)->data + local_byte_offset, local_byte_length);
  return iree_ok_status();
}

static iree_status_t reservation_unmap_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                             iree_device_size_t local_byte_length, iree_hal_buffer_mapping_t* mapping) {
  return iree_ok_status();
}

static iree_status_t reservation_sync_range(iree_hal_buffer_t* base, iree_device_size_t local_byte_offset,
                                            iree_device_size_t local_byte_length) {
  return iree_ok_status();  // coherent
}

static const iree_hal_buffer_vtable_t reservation_vtable = {
    .destroy = reservation_destroy,
    .map_range = reservation_map_range,
    .unmap_range = reservation_unmap_range,
    .invalidate_range = reservation_sync_range,
    .flush_range = reservation_sync_range,
};

bool hal_host_supports_virtual_memory(iree_hal_allocator_t* allocator) { return true; }

iree_status_t hal_host_virtual_memory_query_granularity(iree_hal_allocator_t* allocator,
                                                        const iree_hal_buffer_params_t* params,
                                                        iree_device_size_t* out_minimum_page_size,
                                                        iree_device_size_t* out_recommended_page_size) {
  *out_minimum_page_size = page_size();
  *out_recommended_page_size = iree_max(page_size(), RECOMMENDED_PAGE_SIZE);
  return iree_ok_status();
}

iree_status_t hal_host_virtual_memory_reserve(iree_hal_allocator_t* allocator, iree_hal_queue_affinity_t queue_affinity,
                                              iree_device_size_t size, iree_hal_buffer_t** out_virtual_buffer) {
  reservation_t* self = NULL;
  iree_allocator_t host_allocator = iree_hal_allocator_host_allocator(allocator);
  IREE_RETURN_IF_ERROR(check_size(size));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*self), size / page_size(),
                                                          sizeof(self->pages[0]), (void**)&self));
  self->host_allocator = host_allocator;
  void* data = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    iree_allocator_free(host_allocator, self);
    return fail_errno("reserving addresses");
  }
  self->data = (uint8_t*)data;
  iree_slim_mutex_initialize(&self->mutex);
  iree_hal_buffer_placement_t placement = {.queue_affinity = queue_affinity};
  iree_hal_buffer_initialize(
      placement, &self->base, size, 0, size,
      IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_CACHED,
      IREE_HAL_MEMORY_ACCESS_ALL,
      IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH | IREE_HAL_BUFFER_USAGE_MAPPING |
          IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT,
      &reservation_vtable, &self->base);
  *out_virtual_buffer = &self->base;
  return iree_ok_status();
}

// A range of a reservation in whole pages, with the mutex held until `unlock_pages`.
typedef struct page_range_t {
  reservation_t* reservation;
  iree_device_size_t first, count;
} page_range_t;

static iree_status_t lock_pages(iree_hal_buffer_t* virtual_buffer, iree_device_size_t offset, iree_device_size_t size,
                                page_range_t* out_range) {
  if (!iree_hal_resource_is(virtual_buffer, &reservation_vtable)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the buffer is no reservation of host memory");
  }
  IREE_RETURN_IF_ERROR(check_size(size));
  IREE_RETURN_IF_ERROR(check_aligned(offset, "virtual offset"));
  if (offset > virtual_buffer->allocation_size || size > virtual_buffer->allocation_size - offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "range of %" PRIdsz " bytes at %" PRIdsz " is outside a reservation of %" PRIdsz, size,
                            offset, virtual_buffer->allocation_size);
  }
  *out_range = (page_range_t){(reservation_t*)virtual_buffer, offset / page_size(), size / page_size()};
  iree_slim_mutex_lock(&out_range->reservation->mutex);
  return iree_ok_status();
}

static void unlock_pages(const page_range_t* range) { iree_slim_mutex_unlock(&range->reservation->mutex); }

static uint8_t* page_address(const page_range_t* range) {
  return range->reservation->data + range->first * page_size();
}

// Whether all pages of a range are mapped, or none is.
static iree_status_t check_pages(const page_range_t* range, bool is_mapped) {
  for (iree_device_size_t i = 0; i < range->count; ++i) {
    if ((range->reservation->pages[range->first + i] != NULL) == is_mapped) continue;
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the page at %" PRIdsz " is %s",
                            (range->first + i) * page_size(), is_mapped ? "not mapped" : "mapped already");
  }
  return iree_ok_status();
}

iree_status_t hal_host_virtual_memory_release(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer) {
  page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, 0, virtual_buffer->allocation_size, &range));
  iree_status_t status = check_pages(&range, false);
  unlock_pages(&range);
  if (iree_status_is_ok(status)) iree_hal_buffer_release(virtual_buffer);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Physical memory of the host
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_host_physical_memory_allocate(iree_hal_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                                iree_device_size_t size, iree_allocator_t host_allocator,
                                                iree_hal_physical_memory_t** out_physical_memory) {
  IREE_RETURN_IF_ERROR(check_size(size));
  iree_hal_physical_memory_t* memory = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*memory), (void**)&memory));
  memory->host_allocator = host_allocator;
  memory->size = size;
  memory->fd = memfd_create("iree-physical-memory", MFD_CLOEXEC);
  iree_status_t status = iree_ok_status();
  if (memory->fd < 0 || size > INT64_MAX || ftruncate(memory->fd, (off_t)size) != 0) {
    status = fail_errno("allocating physical memory");
  }
  if (!iree_status_is_ok(status)) {
    if (memory->fd >= 0) close(memory->fd);
    iree_allocator_free(host_allocator, memory);
    return status;
  }
  *out_physical_memory = memory;
  return iree_ok_status();
}

iree_status_t hal_host_physical_memory_free(iree_hal_allocator_t* allocator,
                                            iree_hal_physical_memory_t* physical_memory) {
  uint32_t mapped = iree_atomic_load(&physical_memory->mapped_pages, iree_memory_order_acquire);
  if (mapped) {
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "%u pages of the physical memory are still mapped",
                            mapped);
  }
  close(physical_memory->fd);
  iree_allocator_free(physical_memory->host_allocator, physical_memory);
  return iree_ok_status();
}

static void set_pages(const page_range_t* range, iree_hal_physical_memory_t* memory) {
  for (iree_device_size_t i = 0; i < range->count; ++i) {
    iree_hal_physical_memory_t** page = &range->reservation->pages[range->first + i];
    if (*page) iree_atomic_fetch_sub(&(*page)->mapped_pages, 1, iree_memory_order_release);
    if (memory) iree_atomic_fetch_add(&memory->mapped_pages, 1, iree_memory_order_relaxed);
    *page = memory;
  }
}

iree_status_t hal_host_virtual_memory_map(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                          iree_device_size_t virtual_offset,
                                          iree_hal_physical_memory_t* physical_memory,
                                          iree_device_size_t physical_offset, iree_device_size_t size) {
  IREE_RETURN_IF_ERROR(check_aligned(physical_offset, "physical offset"));
  if (physical_offset > physical_memory->size || size > physical_memory->size - physical_offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "range of %" PRIdsz " bytes at %" PRIdsz " is outside physical memory of %" PRIdsz, size,
                            physical_offset, physical_memory->size);
  }
  page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, virtual_offset, size, &range));
  iree_status_t status = check_pages(&range, false);
  // Without access until it is given.
  if (iree_status_is_ok(status) && mmap(page_address(&range), size, PROT_NONE, MAP_SHARED | MAP_FIXED,
                                        physical_memory->fd, (off_t)physical_offset) == MAP_FAILED) {
    status = fail_errno("mapping physical memory");
  }
  if (iree_status_is_ok(status)) set_pages(&range, physical_memory);
  unlock_pages(&range);
  return status;
}

iree_status_t hal_host_virtual_memory_unmap(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                            iree_device_size_t virtual_offset, iree_device_size_t size) {
  page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, virtual_offset, size, &range));
  iree_status_t status = check_pages(&range, true);
  if (iree_status_is_ok(status) && mmap(page_address(&range), size, PROT_NONE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    status = fail_errno("unmapping physical memory");
  }
  if (iree_status_is_ok(status)) set_pages(&range, NULL);
  unlock_pages(&range);
  return status;
}

iree_status_t hal_host_virtual_memory_protect(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                              iree_device_size_t virtual_offset, iree_device_size_t size,
                                              iree_hal_queue_affinity_t queue_affinity,
                                              iree_hal_memory_protection_t protection) {
  // What can be written can be read here.
  int access = protection & IREE_HAL_MEMORY_PROTECTION_WRITE  ? PROT_READ | PROT_WRITE
               : protection & IREE_HAL_MEMORY_PROTECTION_READ ? PROT_READ
                                                              : PROT_NONE;
  page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, virtual_offset, size, &range));
  iree_status_t status = check_pages(&range, true);
  if (iree_status_is_ok(status) && mprotect(page_address(&range), size, access) != 0) {
    status = fail_errno("protecting memory");
  }
  unlock_pages(&range);
  return status;
}

iree_status_t hal_host_virtual_memory_advise(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                             iree_device_size_t virtual_offset, iree_device_size_t size,
                                             iree_hal_queue_affinity_t queue_affinity,
                                             iree_hal_memory_advice_t advice) {
  // The pages that are wholly in the range.
  iree_device_size_t begin = iree_device_align(virtual_offset, page_size()), end = 0;
  if (!iree_device_size_checked_add(virtual_offset, size, &end) || begin < virtual_offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "the range is too large");
  }
  end -= end % page_size();
  if (begin >= end) return iree_ok_status();
  page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, begin, end - begin, &range));
  int hint = advice == IREE_HAL_MEMORY_ADVICE_WILL_NEED   ? MADV_WILLNEED
             : advice == IREE_HAL_MEMORY_ADVICE_DONT_NEED ? MADV_DONTNEED
                                                          : MADV_NORMAL;
  madvise(page_address(&range), end - begin, hint);  // a hint: what cannot be done is not
  unlock_pages(&range);
  return iree_ok_status();
}
