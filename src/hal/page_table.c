// Pages of reserved addresses.
#include "hal/page_table.h"

iree_status_t hal_page_check_aligned(iree_device_size_t value, iree_device_size_t page_size, const char* name) {
  if (value % page_size == 0) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "%s %" PRIdsz " is not a multiple of the page size of %" PRIdsz,
                          name, value, page_size);
}

iree_status_t hal_page_check_size(iree_device_size_t size, iree_device_size_t page_size) {
  if (size == 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "the size is 0");
  return hal_page_check_aligned(size, page_size, "size");
}

iree_status_t hal_page_check_physical(iree_device_size_t offset, iree_device_size_t size,
                                      iree_device_size_t memory_size, iree_device_size_t page_size) {
  IREE_RETURN_IF_ERROR(hal_page_check_aligned(offset, page_size, "physical offset"));
  if (offset <= memory_size && size <= memory_size - offset) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                          "range of %" PRIdsz " bytes at %" PRIdsz " is outside physical memory of %" PRIdsz, size,
                          offset, memory_size);
}

iree_status_t hal_page_table_create(iree_device_size_t page_size, iree_device_size_t size,
                                    iree_allocator_t host_allocator, hal_page_table_t** out_table) {
  hal_page_table_t* table = NULL;
  *out_table = NULL;
  IREE_RETURN_IF_ERROR(hal_page_check_size(size, page_size));
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_struct_array(host_allocator, sizeof(*table), size / page_size,
                                                          sizeof(table->pages[0]), (void**)&table));
  iree_slim_mutex_initialize(&table->mutex);
  table->page_size = page_size;
  table->page_count = size / page_size;
  *out_table = table;
  return iree_ok_status();
}

void hal_page_table_free(hal_page_table_t* table, iree_allocator_t host_allocator) {
  hal_page_range_set(&(hal_page_range_t){table, 0, table->page_count}, NULL);
  iree_slim_mutex_deinitialize(&table->mutex);
  iree_allocator_free(host_allocator, table);
}

iree_status_t hal_page_range_lock(hal_page_table_t* table, iree_device_size_t offset, iree_device_size_t size,
                                  hal_page_range_t* out_range) {
  iree_device_size_t page_size = table->page_size, all = table->page_count * page_size;
  IREE_RETURN_IF_ERROR(hal_page_check_size(size, page_size));
  IREE_RETURN_IF_ERROR(hal_page_check_aligned(offset, page_size, "virtual offset"));
  if (offset > all || size > all - offset) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "range of %" PRIdsz " bytes at %" PRIdsz " is outside a reservation of %" PRIdsz, size,
                            offset, all);
  }
  *out_range = (hal_page_range_t){table, offset / page_size, size / page_size};
  iree_slim_mutex_lock(&table->mutex);
  return iree_ok_status();
}

void hal_page_range_unlock(const hal_page_range_t* range) { iree_slim_mutex_unlock(&range->table->mutex); }

iree_status_t hal_page_range_check(const hal_page_range_t* range, bool is_mapped) {
  for (iree_device_size_t i = 0; i < range->count; ++i) {
    if ((range->table->pages[range->first + i] != NULL) == is_mapped) continue;
    return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "the page at %" PRIdsz " is %s",
                            (range->first + i) * range->table->page_size, is_mapped ? "not mapped" : "mapped already");
  }
  return iree_ok_status();
}

void hal_page_range_set(const hal_page_range_t* range, iree_atomic_uint32_t* mapped_pages) {
  for (iree_device_size_t i = 0; i < range->count; ++i) {
    iree_atomic_uint32_t** page = &range->table->pages[range->first + i];
    if (*page) iree_atomic_fetch_sub(*page, 1, iree_memory_order_release);
    if (mapped_pages) iree_atomic_fetch_add(mapped_pages, 1, iree_memory_order_relaxed);
    *page = mapped_pages;
  }
}

iree_status_t hal_page_check_unmapped(iree_atomic_uint32_t* mapped_pages) {
  uint32_t count = iree_atomic_load(mapped_pages, iree_memory_order_acquire);
  if (!count) return iree_ok_status();
  return iree_make_status(IREE_STATUS_FAILED_PRECONDITION, "%u pages of the physical memory are still mapped", count);
}
