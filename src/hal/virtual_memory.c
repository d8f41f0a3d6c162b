// Virtual memory: the public calls, and those of the host.
#include "hal/virtual_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hal/detail.h"
#include "hal/host_buffer.h"
#include "hal/page_table.h"

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
  hal_host_buffer_t base;
  iree_allocator_t host_allocator;
  hal_page_table_t* pages;
} reservation_t;

static iree_device_size_t page_size(void) { return (iree_device_size_t)sysconf(_SC_PAGESIZE); }

static iree_status_t fail_errno(const char* what) {
  return iree_make_status(errno == ENOMEM ? IREE_STATUS_RESOURCE_EXHAUSTED : iree_status_code_from_errno(errno),
                          "%s: %s", what, strerror(errno));
}

static void reservation_destroy(iree_hal_buffer_t* base) {
  reservation_t* self = (reservation_t*)base;
  iree_allocator_t host_allocator = self->host_allocator;
  munmap(self->base.data, base->allocation_size);
  hal_page_table_free(self->pages, host_allocator);
  iree_hal_buffer_deinitialize(base);
  iree_allocator_free(host_allocator, self);
}

static const iree_hal_buffer_vtable_t reservation_vtable = {.destroy = reservation_destroy, HAL_HOST_BUFFER_CALLS};

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
  hal_page_table_t* pages = NULL;
  IREE_RETURN_IF_ERROR(hal_page_table_create(page_size(), size, host_allocator, &pages));
  iree_status_t status = iree_allocator_malloc(host_allocator, sizeof(*self), (void**)&self);
  void* data = NULL;
  if (iree_status_is_ok(status)) {
    data = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) status = fail_errno("reserving addresses");
  }
  if (!iree_status_is_ok(status)) {
    iree_allocator_free(host_allocator, self);
    hal_page_table_free(pages, host_allocator);
    return status;
  }
  self->host_allocator = host_allocator;
  self->base.data = (uint8_t*)data;
  self->pages = pages;
  iree_hal_buffer_placement_t placement = {.queue_affinity = queue_affinity};
  iree_hal_buffer_initialize(
      placement, &self->base.base, size, 0, size,
      IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_CACHED,
      IREE_HAL_MEMORY_ACCESS_ALL,
      IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH | IREE_HAL_BUFFER_USAGE_MAPPING |
          IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT,
      &reservation_vtable, &self->base.base);
  *out_virtual_buffer = &self->base.base;
  return iree_ok_status();
}

static iree_status_t lock_pages(iree_hal_buffer_t* virtual_buffer, iree_device_size_t offset, iree_device_size_t size,
                                hal_page_range_t* out_range) {
  if (!iree_hal_resource_is(virtual_buffer, &reservation_vtable)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the buffer is no reservation of host memory");
  }
  return hal_page_range_lock(((reservation_t*)virtual_buffer)->pages, offset, size, out_range);
}

static uint8_t* page_address(const iree_hal_buffer_t* virtual_buffer, iree_device_size_t offset) {
  return ((const hal_host_buffer_t*)virtual_buffer)->data + offset;
}

iree_status_t hal_host_virtual_memory_release(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer) {
  hal_page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, 0, virtual_buffer->allocation_size, &range));
  iree_status_t status = hal_page_range_check(&range, false);
  hal_page_range_unlock(&range);
  if (iree_status_is_ok(status)) iree_hal_buffer_release(virtual_buffer);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Physical memory of the host
//===----------------------------------------------------------------------------------------------------------------===

iree_status_t hal_host_physical_memory_allocate(iree_hal_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                                iree_device_size_t size, iree_allocator_t host_allocator,
                                                iree_hal_physical_memory_t** out_physical_memory) {
  IREE_RETURN_IF_ERROR(hal_page_check_size(size, page_size()));
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
  IREE_RETURN_IF_ERROR(hal_page_check_unmapped(&physical_memory->mapped_pages));
  close(physical_memory->fd);
  iree_allocator_free(physical_memory->host_allocator, physical_memory);
  return iree_ok_status();
}

iree_status_t hal_host_virtual_memory_map(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                          iree_device_size_t virtual_offset,
                                          iree_hal_physical_memory_t* physical_memory,
                                          iree_device_size_t physical_offset, iree_device_size_t size) {
  IREE_RETURN_IF_ERROR(hal_page_check_physical(physical_offset, size, physical_memory->size, page_size()));
  hal_page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, virtual_offset, size, &range));
  iree_status_t status = hal_page_range_check(&range, false);
  // Without access until it is given.
  if (iree_status_is_ok(status) &&
      mmap(page_address(virtual_buffer, virtual_offset), size, PROT_NONE, MAP_SHARED | MAP_FIXED, physical_memory->fd,
           (off_t)physical_offset) == MAP_FAILED) {
    status = fail_errno("mapping physical memory");
  }
  if (iree_status_is_ok(status)) hal_page_range_set(&range, &physical_memory->mapped_pages);
  hal_page_range_unlock(&range);
  return status;
}

iree_status_t hal_host_virtual_memory_unmap(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                            iree_device_size_t virtual_offset, iree_device_size_t size) {
  hal_page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, virtual_offset, size, &range));
  iree_status_t status = hal_page_range_check(&range, true);
  if (iree_status_is_ok(status) && mmap(page_address(virtual_buffer, virtual_offset), size, PROT_NONE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
    status = fail_errno("unmapping physical memory");
  }
  if (iree_status_is_ok(status)) hal_page_range_set(&range, NULL);
  hal_page_range_unlock(&range);
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
  hal_page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, virtual_offset, size, &range));
  iree_status_t status = hal_page_range_check(&range, true);
  if (iree_status_is_ok(status) && mprotect(page_address(virtual_buffer, virtual_offset), size, access) != 0) {
    status = fail_errno("protecting memory");
  }
  hal_page_range_unlock(&range);
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
  hal_page_range_t range;
  IREE_RETURN_IF_ERROR(lock_pages(virtual_buffer, begin, end - begin, &range));
  int hint = advice == IREE_HAL_MEMORY_ADVICE_WILL_NEED   ? MADV_WILLNEED
             : advice == IREE_HAL_MEMORY_ADVICE_DONT_NEED ? MADV_DONTNEED
                                                          : MADV_NORMAL;
  madvise(page_address(virtual_buffer, begin), end - begin, hint);  // a hint: what cannot be done is not
  hal_page_range_unlock(&range);
  return iree_ok_status();
}
