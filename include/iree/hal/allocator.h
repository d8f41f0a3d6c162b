// Allocators of device memory. Thread safe. Allocation may block; queue-ordered allocation that does not is
// iree_hal_device_queue_alloca.
#ifndef IREE_HAL_ALLOCATOR_H_
#define IREE_HAL_ALLOCATOR_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "iree/base/api.h"
#include "iree/hal/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

// A kind of memory that an allocator has.
typedef struct iree_hal_allocator_memory_heap_t {
  iree_hal_memory_type_t type;
  iree_hal_buffer_usage_t allowed_usage;
  iree_device_size_t max_allocation_size;  // bytes
  iree_device_size_t min_alignment;        // bytes
} iree_hal_allocator_memory_heap_t;

// What an allocator can do with a set of buffer parameters.
enum iree_hal_buffer_compatibility_bits_t {
  IREE_HAL_BUFFER_COMPATIBILITY_NONE = 0u,
  IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE = 1u << 0,
  IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE = 1u << 1,
  IREE_HAL_BUFFER_COMPATIBILITY_EXPORTABLE = 1u << 2,
  IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER = 1u << 10,
  IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH = 1u << 11,
  IREE_HAL_BUFFER_COMPATIBILITY_LOW_PERFORMANCE = 1u << 20,
};
typedef uint32_t iree_hal_buffer_compatibility_t;
IREE_API_EXPORT iree_status_t iree_hal_buffer_compatibility_parse(iree_string_view_t value,
                                                                  iree_hal_buffer_compatibility_t* out_value);
IREE_API_EXPORT iree_string_view_t iree_hal_buffer_compatibility_format(iree_hal_buffer_compatibility_t value,
                                                                        iree_bitfield_string_temp_t* out_temp);

// Memory that comes from elsewhere, or that others are to use.
typedef enum iree_hal_external_buffer_type_e {
  IREE_HAL_EXTERNAL_BUFFER_TYPE_NONE = 0,
  IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION,    // handle.host_allocation.ptr
  IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION,  // handle.device_allocation.ptr
  // handle.opaque_fd.fd: stays the caller's when it is imported, becomes the caller's, to be closed, when exported
  IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_FD,
  IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_WIN32,
} iree_hal_external_buffer_type_t;
enum iree_hal_external_buffer_flag_bits_t {
  IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE = 0u,
};
typedef uint32_t iree_hal_external_buffer_flags_t;
typedef struct iree_hal_external_buffer_t {
  iree_hal_external_buffer_type_t type;
  iree_hal_external_buffer_flags_t flags;
  iree_device_size_t size;  // bytes
  union {
    struct {
      void* ptr;
    } host_allocation;
    struct {
      uint64_t ptr;
    } device_allocation;
    struct {
      int fd;
    } opaque_fd;
    struct {
      void* handle;
    } opaque_win32;
  } handle;
} iree_hal_external_buffer_t;

// Bytes; `peak` is the most that was live at once.
typedef struct iree_hal_allocator_statistics_t {
  iree_device_size_t host_bytes_peak;
  iree_device_size_t host_bytes_allocated;
  iree_device_size_t host_bytes_freed;
  iree_device_size_t device_bytes_peak;
  iree_device_size_t device_bytes_allocated;
  iree_device_size_t device_bytes_freed;
} iree_hal_allocator_statistics_t;
// Counts an allocation, and its end.
static inline void iree_hal_allocator_statistics_record_alloc(iree_hal_allocator_statistics_t* statistics,
                                                              iree_hal_memory_type_t memory_type,
                                                              iree_device_size_t allocation_size) {
  if (iree_all_bits_set(memory_type, IREE_HAL_MEMORY_TYPE_HOST_LOCAL)) {
    statistics->host_bytes_allocated += allocation_size;
    statistics->host_bytes_peak =
        iree_max(statistics->host_bytes_peak, statistics->host_bytes_allocated - statistics->host_bytes_freed);
  } else {
    statistics->device_bytes_allocated += allocation_size;
    statistics->device_bytes_peak =
        iree_max(statistics->device_bytes_peak, statistics->device_bytes_allocated - statistics->device_bytes_freed);
  }
}
static inline void iree_hal_allocator_statistics_record_free(iree_hal_allocator_statistics_t* statistics,
                                                             iree_hal_memory_type_t memory_type,
                                                             iree_device_size_t allocation_size) {
  if (iree_all_bits_set(memory_type, IREE_HAL_MEMORY_TYPE_HOST_LOCAL)) {
    statistics->host_bytes_freed += allocation_size;
  } else {
    statistics->device_bytes_freed += allocation_size;
  }
}
IREE_API_EXPORT iree_status_t iree_hal_allocator_statistics_format(const iree_hal_allocator_statistics_t* statistics,
                                                                   iree_string_builder_t* builder);

IREE_API_EXPORT void iree_hal_allocator_retain(iree_hal_allocator_t* allocator);
IREE_API_EXPORT void iree_hal_allocator_release(iree_hal_allocator_t* allocator);
IREE_API_EXPORT void iree_hal_allocator_destroy(iree_hal_allocator_t* allocator);
IREE_API_EXPORT iree_allocator_t iree_hal_allocator_host_allocator(const iree_hal_allocator_t* allocator);
// Gives unused memory back to the system.
IREE_API_EXPORT iree_status_t iree_hal_allocator_trim(iree_hal_allocator_t* allocator);
// Zeros when the allocator does not count.
IREE_API_EXPORT void iree_hal_allocator_query_statistics(iree_hal_allocator_t* allocator,
                                                         iree_hal_allocator_statistics_t* out_statistics);
// Prints the statistics with a heading.
IREE_API_EXPORT iree_status_t iree_hal_allocator_statistics_fprint(FILE* file, iree_hal_allocator_t* allocator);
// Errors: OUT_OF_RANGE when there are more than `capacity`; *out_count (may be NULL) is how many.
IREE_API_EXPORT iree_status_t iree_hal_allocator_query_memory_heaps(iree_hal_allocator_t* allocator,
                                                                    iree_host_size_t capacity,
                                                                    iree_hal_allocator_memory_heap_t* heaps,
                                                                    iree_host_size_t* out_count);
// What can be done with such a buffer. The outputs (may be NULL) are the parameters and size as allocation would use
// them.
IREE_API_EXPORT iree_hal_buffer_compatibility_t iree_hal_allocator_query_buffer_compatibility(
    iree_hal_allocator_t* allocator, iree_hal_buffer_params_t params, iree_device_size_t allocation_size,
    iree_hal_buffer_params_t* out_params, iree_device_size_t* out_allocation_size);

// A new buffer; contents undefined. Errors: INVALID_ARGUMENT for parameters that no heap satisfies,
// RESOURCE_EXHAUSTED.
IREE_API_EXPORT iree_status_t iree_hal_allocator_allocate_buffer(iree_hal_allocator_t* allocator,
                                                                 iree_hal_buffer_params_t params,
                                                                 iree_device_size_t allocation_size,
                                                                 iree_hal_buffer_t** out_buffer);
// A buffer over memory of someone else's, which must stay until `release_callback` runs. Errors: UNAVAILABLE when it
// cannot be used in place (alignment, type): copy it instead.
IREE_API_EXPORT iree_status_t iree_hal_allocator_import_buffer(iree_hal_allocator_t* allocator,
                                                               iree_hal_buffer_params_t params,
                                                               iree_hal_external_buffer_t* external_buffer,
                                                               iree_hal_buffer_release_callback_t release_callback,
                                                               iree_hal_buffer_t** out_buffer);
// A buffer's memory for others. The buffer must outlive its use. Errors: UNAVAILABLE.
IREE_API_EXPORT iree_status_t iree_hal_allocator_export_buffer(iree_hal_allocator_t* allocator,
                                                               iree_hal_buffer_t* buffer,
                                                               iree_hal_external_buffer_type_t requested_type,
                                                               iree_hal_external_buffer_flags_t requested_flags,
                                                               iree_hal_external_buffer_t* out_external_buffer);

// Allocates from host memory: `data_allocator` for contents, `host_allocator` for bookkeeping.
IREE_API_EXPORT iree_status_t iree_hal_allocator_create_heap(iree_string_view_t identifier,
                                                             iree_allocator_t data_allocator,
                                                             iree_allocator_t host_allocator,
                                                             iree_hal_allocator_t** out_allocator);

//===----------------------------------------------------------------------------------------------------------------===
// Virtual memory: address ranges, and physical memory to map into them. A reservation is a buffer that work may use
// where memory is mapped and access to it given; doing either while work uses the range is undefined. Sizes and offsets
// are multiples of the smallest page (query_granularity). Errors of all: UNAVAILABLE where there is none.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_hal_physical_memory_t iree_hal_physical_memory_t;

enum iree_hal_memory_protection_bits_t {
  IREE_HAL_MEMORY_PROTECTION_NONE = 0ull,
  IREE_HAL_MEMORY_PROTECTION_READ = 1ull << 0,
  IREE_HAL_MEMORY_PROTECTION_WRITE = 1ull << 1,
  IREE_HAL_MEMORY_PROTECTION_READ_WRITE = IREE_HAL_MEMORY_PROTECTION_READ | IREE_HAL_MEMORY_PROTECTION_WRITE,
};
typedef uint64_t iree_hal_memory_protection_t;

enum iree_hal_memory_advice_bits_t {
  IREE_HAL_MEMORY_ADVICE_NORMAL = 0ull,
  IREE_HAL_MEMORY_ADVICE_WILL_NEED = 1ull << 0,
  IREE_HAL_MEMORY_ADVICE_DONT_NEED = 1ull << 1,  // contents may go
};
typedef uint64_t iree_hal_memory_advice_t;

IREE_API_EXPORT bool iree_hal_allocator_supports_virtual_memory(iree_hal_allocator_t* allocator);
// The smallest page, and one that works better; bytes.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_query_granularity(
    iree_hal_allocator_t* allocator, iree_hal_buffer_params_t params, iree_device_size_t* out_minimum_page_size,
    iree_device_size_t* out_recommended_page_size);
// Addresses without memory or access.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_reserve(iree_hal_allocator_t* allocator,
                                                                        iree_hal_queue_affinity_t queue_affinity,
                                                                        iree_device_size_t size,
                                                                        iree_hal_buffer_t** out_virtual_buffer);
// Drops the caller's reference; the last one gives the addresses back. Errors: FAILED_PRECONDITION while anything is
// mapped.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_release(iree_hal_allocator_t* allocator,
                                                                        iree_hal_buffer_t* virtual_buffer);
// Memory that is nowhere yet; zeros at first on the host.
IREE_API_EXPORT iree_status_t iree_hal_allocator_physical_memory_allocate(
    iree_hal_allocator_t* allocator, iree_hal_buffer_params_t params, iree_device_size_t size,
    iree_allocator_t host_allocator, iree_hal_physical_memory_t** out_physical_memory);
// Errors: FAILED_PRECONDITION while any of it is mapped.
IREE_API_EXPORT iree_status_t iree_hal_allocator_physical_memory_free(iree_hal_allocator_t* allocator,
                                                                      iree_hal_physical_memory_t* physical_memory);
// Without access. The same memory may be mapped at several places. Errors: FAILED_PRECONDITION where something is
// mapped.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_map(
    iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer, iree_device_size_t virtual_offset,
    iree_hal_physical_memory_t* physical_memory, iree_device_size_t physical_offset, iree_device_size_t size);
// Errors: FAILED_PRECONDITION where nothing is mapped; of protect as well.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_unmap(iree_hal_allocator_t* allocator,
                                                                      iree_hal_buffer_t* virtual_buffer,
                                                                      iree_device_size_t virtual_offset,
                                                                      iree_device_size_t size);
// Gives or takes access, for these queues; on the host for all. What can be written there can be read.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_protect(
    iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer, iree_device_size_t virtual_offset,
    iree_device_size_t size, iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_protection_t protection);
// A hint; the range need not be whole pages.
IREE_API_EXPORT iree_status_t iree_hal_allocator_virtual_memory_advise(
    iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer, iree_device_size_t virtual_offset,
    iree_device_size_t size, iree_hal_queue_affinity_t queue_affinity, iree_hal_memory_advice_t advice);

//===----------------------------------------------------------------------------------------------------------------===
// For drivers. Parameters arrive with defaults filled in.
//===----------------------------------------------------------------------------------------------------------------===

typedef struct iree_hal_allocator_vtable_t {
  void(IREE_API_PTR* destroy)(iree_hal_allocator_t* allocator);
  iree_allocator_t(IREE_API_PTR* host_allocator)(const iree_hal_allocator_t* allocator);
  iree_status_t(IREE_API_PTR* trim)(iree_hal_allocator_t* allocator);
  void(IREE_API_PTR* query_statistics)(iree_hal_allocator_t* allocator,
                                       iree_hal_allocator_statistics_t* out_statistics);
  iree_status_t(IREE_API_PTR* query_memory_heaps)(iree_hal_allocator_t* allocator, iree_host_size_t capacity,
                                                  iree_hal_allocator_memory_heap_t* heaps, iree_host_size_t* out_count);
  iree_hal_buffer_compatibility_t(IREE_API_PTR* query_buffer_compatibility)(iree_hal_allocator_t* allocator,
                                                                            iree_hal_buffer_params_t* params,
                                                                            iree_device_size_t* allocation_size);
  iree_status_t(IREE_API_PTR* allocate_buffer)(iree_hal_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                               iree_device_size_t allocation_size, iree_hal_buffer_t** out_buffer);
  iree_status_t(IREE_API_PTR* import_buffer)(iree_hal_allocator_t* allocator, const iree_hal_buffer_params_t* params,
                                             iree_hal_external_buffer_t* external_buffer,
                                             iree_hal_buffer_release_callback_t release_callback,
                                             iree_hal_buffer_t** out_buffer);
  iree_status_t(IREE_API_PTR* export_buffer)(iree_hal_allocator_t* allocator, iree_hal_buffer_t* buffer,
                                             iree_hal_external_buffer_type_t requested_type,
                                             iree_hal_external_buffer_flags_t requested_flags,
                                             iree_hal_external_buffer_t* out_external_buffer);
  // Optional, all or none.
  bool(IREE_API_PTR* supports_virtual_memory)(iree_hal_allocator_t* allocator);
  iree_status_t(IREE_API_PTR* virtual_memory_query_granularity)(iree_hal_allocator_t* allocator,
                                                                const iree_hal_buffer_params_t* params,
                                                                iree_device_size_t* out_minimum_page_size,
                                                                iree_device_size_t* out_recommended_page_size);
  iree_status_t(IREE_API_PTR* virtual_memory_reserve)(iree_hal_allocator_t* allocator,
                                                      iree_hal_queue_affinity_t queue_affinity, iree_device_size_t size,
                                                      iree_hal_buffer_t** out_virtual_buffer);
  iree_status_t(IREE_API_PTR* virtual_memory_release)(iree_hal_allocator_t* allocator,
                                                      iree_hal_buffer_t* virtual_buffer);
  iree_status_t(IREE_API_PTR* physical_memory_allocate)(iree_hal_allocator_t* allocator,
                                                        const iree_hal_buffer_params_t* params, iree_device_size_t size,
                                                        iree_allocator_t host_allocator,
                                                        iree_hal_physical_memory_t** out_physical_memory);
  iree_status_t(IREE_API_PTR* physical_memory_free)(iree_hal_allocator_t* allocator,
                                                    iree_hal_physical_memory_t* physical_memory);
  iree_status_t(IREE_API_PTR* virtual_memory_map)(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                                  iree_device_size_t virtual_offset,
                                                  iree_hal_physical_memory_t* physical_memory,
                                                  iree_device_size_t physical_offset, iree_device_size_t size);
  iree_status_t(IREE_API_PTR* virtual_memory_unmap)(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                                    iree_device_size_t virtual_offset, iree_device_size_t size);
  iree_status_t(IREE_API_PTR* virtual_memory_protect)(iree_hal_allocator_t* allocator,
                                                      iree_hal_buffer_t* virtual_buffer,
                                                      iree_device_size_t virtual_offset, iree_device_size_t size,
                                                      iree_hal_queue_affinity_t queue_affinity,
                                                      iree_hal_memory_protection_t protection);
  iree_status_t(IREE_API_PTR* virtual_memory_advise)(iree_hal_allocator_t* allocator, iree_hal_buffer_t* virtual_buffer,
                                                     iree_device_size_t virtual_offset, iree_device_size_t size,
                                                     iree_hal_queue_affinity_t queue_affinity,
                                                     iree_hal_memory_advice_t advice);
} iree_hal_allocator_vtable_t;

#ifdef __cplusplus
}
#endif

#endif  // IREE_HAL_ALLOCATOR_H_
