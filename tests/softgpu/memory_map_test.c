// The map of what GPUs may touch: ranges that do not overlap, found by any address inside; lookups beside changes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// After those that it needs:
#include <cmocka.h>
#include <pthread.h>

#include "softgpu/memory_map.h"

static memory_range_t range_at(uint64_t base, uint64_t size) {
  return (memory_range_t){.base = base, .size = size, .agents = 1, .writable = true, .kind = "test"};
}

static bool insert(memory_map_t* map, uint64_t base, uint64_t size) {
  memory_range_t range = range_at(base, size);
  return memory_map_insert(map, &range);
}

static void test_find(void** state) {
  memory_map_t* map = memory_map_create();
  memory_range_t found;
  assert_false(memory_map_find(map, 0x1000, &found));
  assert_int_equal(found.size, 0);
  assert_true(insert(map, 0x3000, 0x1000));
  assert_true(insert(map, 0x1000, 0x100));
  assert_true(memory_map_find(map, 0x1000, &found));
  assert_true(memory_map_find(map, 0x10ff, &found));
  assert_int_equal(found.base, 0x1000);
  assert_string_equal(found.kind, "test");
  // Outside, the range below is told.
  assert_false(memory_map_find(map, 0x1100, &found));
  assert_int_equal(found.base, 0x1000);
  assert_false(memory_map_find(map, 0xfff, &found));
  assert_false(memory_map_find(map, UINT64_MAX, &found));
  assert_int_equal(found.base, 0x3000);
  memory_map_destroy(map);
}

static void test_overlaps(void** state) {
  memory_map_t* map = memory_map_create();
  assert_true(insert(map, 0x2000, 0x1000));
  assert_false(insert(map, 0x2000, 0x1000));
  assert_false(insert(map, 0x2fff, 1));
  assert_false(insert(map, 0x1000, 0x1001));
  assert_false(insert(map, 0x1000, 0x10000));
  assert_false(insert(map, 0x9000, 0));
  assert_false(insert(map, UINT64_MAX - 10, 100));
  assert_true(insert(map, 0x1000, 0x1000));
  assert_true(insert(map, 0x3000, 1));
  memory_map_destroy(map);
}

static void test_changes(void** state) {
  enum { COUNT = 3000 };
  memory_map_t* map = memory_map_create();
  memory_range_t found;
  for (uint64_t i = 0; i < COUNT; ++i) assert_true(insert(map, ((i * 1237) % COUNT + 1) << 12, 0x800));
  for (uint64_t i = 1; i <= COUNT; ++i) assert_true(memory_map_find(map, (i << 12) + 0x7ff, &found));
  assert_true(memory_map_update(map, 0x1000, 6, false));
  assert_false(memory_map_update(map, 0x1001, 6, false));
  assert_true(memory_map_find(map, 0x1010, &found));
  assert_int_equal(found.agents, 6);
  assert_false(found.writable);
  for (uint64_t i = 2; i <= COUNT; i += 2) assert_true(memory_map_remove(map, i << 12));
  assert_false(memory_map_remove(map, 2 << 12));
  for (uint64_t i = 1; i <= COUNT; ++i) assert_int_equal(memory_map_find(map, i << 12, &found), i % 2);
  memory_map_destroy(map);
}

typedef struct reader_t {
  memory_map_t* map;
  uint32_t stop, wrong;
} reader_t;

// Ranges that stay are always found, whole, however those around them come and go.
static void* read_map(void* data) {
  reader_t* reader = data;
  while (!__atomic_load_n(&reader->stop, __ATOMIC_RELAXED)) {
    memory_range_t found;
    if (!memory_map_find(reader->map, UINT64_C(5) << 32, &found)) {
      __atomic_add_fetch(&reader->wrong, 1, __ATOMIC_RELAXED);
    }
    for (uint64_t i = 1; i < 64; i += 2) {
      if (!memory_map_find(reader->map, (i << 12) + 5, &found) || found.base != i << 12 || found.size != 0x1000) {
        __atomic_add_fetch(&reader->wrong, 1, __ATOMIC_RELAXED);
      }
    }
  }
  return NULL;
}

static void test_readers(void** state) {
  reader_t reader = {.map = memory_map_create()};
  pthread_t threads[2];
  for (uint64_t i = 1; i < 64; i += 2) assert_true(insert(reader.map, i << 12, 0x1000));
  // Of the layer below, one address is there before and after each change, in ranges that differ.
  memory_range_t below[] = {range_at((UINT64_C(5) << 32) - 8, 16), range_at(UINT64_C(5) << 32, 1)};
  assert_true(memory_map_replace_below(reader.map, UINT64_C(4) << 32, UINT64_C(6) << 32, &below[1], 1));
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_create(&threads[i], NULL, read_map, &reader), 0);
  for (int round = 0; round < 300; ++round) {
    for (uint64_t i = 0; i < 64; i += 2) assert_true(insert(reader.map, i << 12, 0x1000));
    for (uint64_t i = 0; i < 64; i += 2) assert_true(memory_map_remove(reader.map, i << 12));
    assert_true(memory_map_replace_below(reader.map, UINT64_C(4) << 32, UINT64_C(6) << 32, &below[round % 2], 1));
  }
  // Enough to outgrow the table.
  for (uint64_t i = 100; i < 1000; ++i) assert_true(insert(reader.map, i << 12, 0x1000));
  __atomic_store_n(&reader.stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  assert_int_equal(reader.wrong, 0);
  memory_map_destroy(reader.map);
}

static bool replace_below(memory_map_t* map, uint64_t begin, uint64_t end, const memory_range_t* with, uint32_t count) {
  return memory_map_replace_below(map, begin, end, with, count);
}

// What lies below counts where nothing is above; replacing cuts what sticks out.
static void test_below(void** state) {
  memory_map_t* map = memory_map_create();
  memory_range_t found, two[] = {range_at(0x1000, 0x800), range_at(0x1800, 0x800)};
  two[1].agents = 3;
  assert_true(replace_below(map, 0x1000, 0x2000, two, 2));
  assert_true(memory_map_find(map, 0x17ff, &found) && found.agents == 1);
  assert_true(memory_map_find(map, 0x1800, &found) && found.agents == 3);
  assert_true(insert(map, 0x1400, 0x800));
  assert_true(memory_map_find(map, 0x1800, &found) && found.base == 0x1400);
  assert_true(memory_map_find(map, 0x13ff, &found) && found.base == 0x1000);
  assert_true(memory_map_remove(map, 0x1400));
  assert_true(memory_map_find(map, 0x1800, &found) && found.base == 0x1800);
  assert_false(memory_map_remove(map, 0x1800));
  // A hole in the middle of one, then over both.
  assert_true(replace_below(map, 0x1100, 0x1200, NULL, 0));
  assert_true(memory_map_find(map, 0x10ff, &found) && found.size == 0x100);
  assert_false(memory_map_find(map, 0x11ff, &found));
  assert_true(memory_map_find(map, 0x1200, &found) && found.size == 0x600);
  assert_true(replace_below(map, 0x1080, 0x1900, NULL, 0));
  assert_true(memory_map_find(map, 0x107f, &found) && found.size == 0x80);
  assert_false(memory_map_find(map, 0x1080, &found));
  assert_true(memory_map_find(map, 0x1900, &found) && found.size == 0x700);
  // Many, and all of them replaced by one.
  for (uint64_t i = 1; i < 300; ++i) {
    memory_range_t one = range_at(i << 12, 0x1000);
    assert_true(replace_below(map, i << 12, (i + 1) << 12, &one, 1));
  }
  for (uint64_t i = 1; i < 300; ++i) {
    assert_true(memory_map_find(map, (i << 12) + 0xfff, &found));
    assert_int_equal(found.base, i << 12);
    assert_int_equal(found.size, 0x1000);
  }
  memory_range_t all = range_at(0, UINT64_C(1) << 32);
  assert_true(replace_below(map, 0, UINT64_C(1) << 32, &all, 1));
  assert_true(memory_map_find(map, 0x123456, &found) && found.base == 0);
  memory_map_destroy(map);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_find),    cmocka_unit_test(test_overlaps), cmocka_unit_test(test_changes),
      cmocka_unit_test(test_readers), cmocka_unit_test(test_below),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
