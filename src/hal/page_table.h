// What is mapped where in a reserved range of addresses, page by page, so that what is mapped twice, unmapped but not
// mapped, or freed while it is mapped is told and not done.
#ifndef IREE_C_HAL_PAGE_TABLE_H_
#define IREE_C_HAL_PAGE_TABLE_H_

#include "iree/base/internal/atomics.h"
#include "iree/base/threading/mutex.h"
#include "iree/hal/allocator.h"

typedef struct hal_page_table_t {
  iree_slim_mutex_t mutex;  // guards the pages
  iree_device_size_t page_size, page_count;
  iree_atomic_uint32_t* pages[];  // what counts the mapped pages of the memory that is there; NULL: none is
} hal_page_table_t;

// Errors: INVALID_ARGUMENT for sizes that are not whole pages.
iree_status_t hal_page_table_create(iree_device_size_t page_size, iree_device_size_t size,
                                    iree_allocator_t host_allocator, hal_page_table_t** out_table);
// Also forgets what is mapped.
void hal_page_table_free(hal_page_table_t* table, iree_allocator_t host_allocator);

iree_status_t hal_page_check_aligned(iree_device_size_t value, iree_device_size_t page_size, const char* name);
iree_status_t hal_page_check_size(iree_device_size_t size, iree_device_size_t page_size);
// Whether the bytes are inside physical memory and begin at a page.
iree_status_t hal_page_check_physical(iree_device_size_t offset, iree_device_size_t size,
                                      iree_device_size_t memory_size, iree_device_size_t page_size);

// Whole pages of a table, with its mutex held until `unlock`.
typedef struct hal_page_range_t {
  hal_page_table_t* table;
  iree_device_size_t first, count;
} hal_page_range_t;

// Errors: INVALID_ARGUMENT, OUT_OF_RANGE.
iree_status_t hal_page_range_lock(hal_page_table_t* table, iree_device_size_t offset, iree_device_size_t size,
                                  hal_page_range_t* out_range);
void hal_page_range_unlock(const hal_page_range_t* range);
// Whether all pages are mapped, or none is. Errors: FAILED_PRECONDITION.
iree_status_t hal_page_range_check(const hal_page_range_t* range, bool is_mapped);
// Notes that memory is there, or with NULL that none is.
void hal_page_range_set(const hal_page_range_t* range, iree_atomic_uint32_t* mapped_pages);

// For those who free physical memory. Errors: FAILED_PRECONDITION.
iree_status_t hal_page_check_unmapped(iree_atomic_uint32_t* mapped_pages);

#endif  // IREE_C_HAL_PAGE_TABLE_H_
