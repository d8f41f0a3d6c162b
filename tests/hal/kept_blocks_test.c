// Blocks that are kept: which come back, and how many are.
#include "hal/kept_blocks.h"

#include "hal_test.h"

enum { SIZE = 1 << 20, ALIGNMENT = 64 };

static void* allocate(hal_kept_blocks_t* kept, size_t size, size_t alignment) {
  void* data = NULL;
  IREE_CHECK_OK(hal_kept_blocks_allocate(kept, size, alignment, &data));
  memset(data, 1, size);
  assert_int_equal((uintptr_t)data % alignment, 0);
  return data;
}

static void sizes(void** state) {
  hal_kept_blocks_t kept;
  hal_kept_blocks_initialize(&kept, iree_allocator_system());
  void *first = allocate(&kept, SIZE, ALIGNMENT), *second = allocate(&kept, SIZE, ALIGNMENT);
  hal_kept_blocks_free(&kept, first, SIZE);
  bool keeps = kept.count == 1;  // not under a sanitizer
  void* other = allocate(&kept, SIZE + 64, ALIGNMENT);
  void* again = allocate(&kept, SIZE, ALIGNMENT);
  if (keeps) {
    assert_ptr_equal(again, first);
    assert_ptr_not_equal(other, first);
  }
  assert_int_equal(kept.count, 0);
  assert_int_equal(kept.total, 0);
  hal_kept_blocks_free(&kept, again, SIZE);
  hal_kept_blocks_free(&kept, second, SIZE);
  hal_kept_blocks_free(&kept, other, SIZE + 64);
  void* aligned = allocate(&kept, SIZE, 1 << 16);
  hal_kept_blocks_free(&kept, aligned, SIZE);
  void* small = allocate(&kept, 100, ALIGNMENT);
  size_t count = kept.count;
  hal_kept_blocks_free(&kept, small, 100);
  assert_int_equal(kept.count, count);
  hal_kept_blocks_deinitialize(&kept);
}

static void bounds(void** state) {
  hal_kept_blocks_t kept;
  hal_kept_blocks_initialize(&kept, iree_allocator_system());
  void* blocks[40];
  for (size_t i = 0; i < IREE_ARRAYSIZE(blocks); ++i) {
    IREE_CHECK_OK(hal_kept_blocks_allocate(&kept, (i + 1) * SIZE, ALIGNMENT, &blocks[i]));
  }
  for (size_t i = 0; i < IREE_ARRAYSIZE(blocks); ++i) {
    hal_kept_blocks_free(&kept, blocks[i], (i + 1) * SIZE);
    assert_in_range(kept.count, 0, HAL_KEPT_BLOCKS);
    assert_in_range(kept.total, 0, 64 << 20);
  }
  hal_kept_blocks_trim(&kept);
  assert_int_equal(kept.count, 0);
  assert_int_equal(kept.total, 0);
  hal_kept_blocks_deinitialize(&kept);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(bounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
