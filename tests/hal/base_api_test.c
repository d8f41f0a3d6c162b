// Small things of the base API: printf, layouts of structs, threads, frontiers, loops over queues.
#include <sys/resource.h>

#include "hal_test.h"
#include "iree/async/frontier.h"
#include "iree/base/printf.h"
#include "iree/base/threading/thread.h"
#include "iree/hal/api.h"

static void append(char character, void* user_data) {
  iree_string_view_t* text = user_data;
  ((char*)(uintptr_t)text->data)[text->size++] = character;
}

static void test_printf(void** state) {
  char text[8], all[512] = {0};
  assert_int_equal(iree_snprintf(text, sizeof(text), "%d and %s", 12, "more"), 11);
  assert_string_equal(text, "12 and ");
  iree_string_view_t written = {all, 0};
  assert_int_equal(iree_fctprintf(append, &written, "%300d|", 7), 301);
  assert_int_equal(written.size, 301);
  assert_string_equal(all + 299, "7|");
}

static void test_layout(void** state) {
  iree_host_size_t total = 0, words = 0, table = 0;
  CHECK_OK(IREE_STRUCT_LAYOUT(5, &total, IREE_STRUCT_FIELD_ALIGNED(3, uint64_t, 8, &words),
                              IREE_STRUCT_ARRAY_FIELD(2, 5, uint16_t, &table), IREE_STRUCT_FIELD_FAM(1, uint32_t)));
  assert_int_equal(words, 8);
  assert_int_equal(table, 32);
  assert_int_equal(total, 56);
  CHECK_CODE(OUT_OF_RANGE, IREE_STRUCT_LAYOUT(0, &total, IREE_STRUCT_FIELD(SIZE_MAX, uint16_t, NULL)));
  CHECK_CODE(OUT_OF_RANGE, IREE_STRUCT_LAYOUT(8, &total, IREE_STRUCT_ARRAY_FIELD(SIZE_MAX, 2, uint8_t, NULL)));
  CHECK_CODE(OUT_OF_RANGE, IREE_STRUCT_LAYOUT(8, &total, IREE_STRUCT_FIELD(SIZE_MAX - 7, uint8_t, NULL)));
}

//===----------------------------------------------------------------------------------------------------------------===
// Threads
//===----------------------------------------------------------------------------------------------------------------===

typedef struct worker_t {
  iree_atomic_int32_t ran, go_on;
  int nice_value;
} worker_t;

static int work(void* arg) {
  worker_t* worker = arg;
  iree_atomic_store(&worker->ran, 1, iree_memory_order_release);
  while (!iree_atomic_load(&worker->go_on, iree_memory_order_acquire)) iree_thread_yield();
  worker->nice_value = getpriority(PRIO_PROCESS, 0);
  return 0;
}

// Nothing of it runs before it is resumed; the priority is in force when it does.
static void test_thread(void** state) {
  worker_t worker = {0};
  iree_thread_t* thread = NULL;
  iree_thread_create_params_t params = {
      .name = IREE_SV("worker"), .create_suspended = true, .priority_class = IREE_THREAD_PRIORITY_CLASS_LOW};
  CHECK_OK(iree_thread_create(work, &worker, params, iree_allocator_system(), &thread));
  for (int i = 0; i < 100; ++i) iree_thread_yield();
  assert_int_equal(iree_atomic_load(&worker.ran, iree_memory_order_acquire), 0);
  assert_true(iree_thread_id(thread) != 0);
  int before = getpriority(PRIO_PROCESS, 0);
  iree_thread_resume(thread);
  iree_thread_resume(thread);
  while (!iree_atomic_load(&worker.ran, iree_memory_order_acquire)) iree_thread_yield();
  // An override counts instead of the thread's own, and the highest one of several.
  iree_thread_override_t* lowest = iree_thread_priority_class_override_begin(thread, IREE_THREAD_PRIORITY_CLASS_LOWEST);
  assert_non_null(lowest);
  iree_atomic_store(&worker.go_on, 1, iree_memory_order_release);
  iree_thread_join(thread);
  assert_int_equal(worker.nice_value, 19);
  assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
  iree_thread_override_end(lowest);
  iree_thread_override_end(NULL);
  iree_thread_release(thread);
}

//===----------------------------------------------------------------------------------------------------------------===
// Frontiers
//===----------------------------------------------------------------------------------------------------------------===

IREE_ASYNC_FIXED_FRONTIER_TYPE(wide_frontier_t, 4);

static wide_frontier_t make(uint8_t count, const uint64_t pairs[][2]) {
  wide_frontier_t frontier = {.entry_count = count};
  for (uint8_t i = 0; i < count; ++i) {
    frontier.entries[i] = (iree_async_frontier_entry_t){pairs[i][0], pairs[i][1]};
  }
  return frontier;
}
#define MAKE(...) make(sizeof((uint64_t[][2]){__VA_ARGS__}) / sizeof(uint64_t[2]), (const uint64_t[][2]){__VA_ARGS__})

static iree_async_frontier_comparison_t compare(wide_frontier_t a, wide_frontier_t b) {
  return iree_async_frontier_compare(iree_async_fixed_frontier_as_const_frontier(&a),
                                     iree_async_fixed_frontier_as_const_frontier(&b));
}

static void test_axis(void** state) {
  iree_async_axis_t axis = iree_async_axis_make_queue(1, 3, 5, 7);
  assert_int_equal(iree_async_axis_session(axis), 1);
  assert_int_equal(iree_async_axis_machine(axis), 3);
  assert_int_equal(iree_async_axis_domain(axis), IREE_ASYNC_CAUSAL_DOMAIN_QUEUE);
  assert_int_equal(iree_async_axis_device_index(axis), 5);
  assert_int_equal(iree_async_axis_queue_index(axis), 7);
  assert_true(iree_async_axis_ordinal(iree_async_axis_make(1, 2, 3, UINT64_MAX)) == 0xFFFFFFFFFFull);
}

static void test_frontier_order(void** state) {
  wide_frontier_t a = MAKE({1, 3}, {2, 5}), empty = {0};
  assert_int_equal(compare(a, a), IREE_ASYNC_FRONTIER_EQUAL);
  assert_int_equal(compare(a, MAKE({1, 4}, {2, 5})), IREE_ASYNC_FRONTIER_BEFORE);
  assert_int_equal(compare(a, MAKE({1, 3})), IREE_ASYNC_FRONTIER_AFTER);
  assert_int_equal(compare(a, MAKE({1, 4}, {2, 4})), IREE_ASYNC_FRONTIER_CONCURRENT);
  assert_int_equal(compare(empty, a), IREE_ASYNC_FRONTIER_BEFORE);
  wide_frontier_t twice = MAKE({2, 1}, {2, 2}), zero = MAKE({1, 1}, {2, 0});
  CHECK_OK(iree_async_frontier_validate(iree_async_fixed_frontier_as_frontier(&a)));
  CHECK_CODE(INVALID_ARGUMENT, iree_async_frontier_validate(iree_async_fixed_frontier_as_frontier(&twice)));
  CHECK_CODE(INVALID_ARGUMENT, iree_async_frontier_validate(iree_async_fixed_frontier_as_frontier(&zero)));
}

static void test_frontier_merge(void** state) {
  wide_frontier_t target = MAKE({1, 3}, {3, 5}), source = MAKE({1, 7}, {2, 2}), wanted = MAKE({1, 7}, {2, 2}, {3, 5});
  iree_async_frontier_t *to = iree_async_fixed_frontier_as_frontier(&target),
                        *from = iree_async_fixed_frontier_as_frontier(&source);
  bool dominates = true;
  assert_false(iree_async_frontier_merge(to, 2, from));
  assert_int_equal(target.entry_count, 2);
  assert_true(iree_async_frontier_merge_and_test_source_dominance(to, 4, from, &dominates));
  assert_false(dominates);
  assert_int_equal(compare(target, wanted), IREE_ASYNC_FRONTIER_EQUAL);
  assert_int_equal(target.entry_count, 3);
  source = MAKE({1, 7}, {2, 3}, {3, 5}, {4, 1});
  assert_true(iree_async_frontier_merge_and_test_source_dominance(to, 4, from, &dominates));
  assert_true(dominates);
  assert_int_equal(compare(target, source), IREE_ASYNC_FRONTIER_EQUAL);
}

static void test_frontier_progress(void** state) {
  wide_frontier_t wanted = MAKE({1, 3}, {3, 5}), reached = MAKE({1, 3}, {2, 1}, {3, 4});
  const iree_async_frontier_t *target = iree_async_fixed_frontier_as_const_frontier(&wanted),
                              *reference = iree_async_fixed_frontier_as_const_frontier(&reached);
  iree_async_frontier_entry_t ahead[1];
  assert_false(iree_async_frontier_is_satisfied(target, reached.entries, 3));
  assert_int_equal(iree_async_frontier_find_undominated(reference, target, 1, ahead), 1);
  assert_int_equal(ahead[0].axis, 3);
  assert_int_equal(ahead[0].epoch, 5);
  reached.entries[2].epoch = 5;
  assert_true(iree_async_frontier_is_satisfied(target, reached.entries, 3));
  assert_int_equal(iree_async_frontier_find_undominated(reference, target, 0, NULL), 0);
  iree_async_single_frontier_t single;
  iree_host_size_t size = 0;
  iree_async_single_frontier_initialize(&single, 9, 4);
  assert_false(iree_async_frontier_is_satisfied(iree_async_single_frontier_as_const_frontier(&single), NULL, 0));
  CHECK_OK(iree_async_frontier_size(1, &size));
  assert_int_equal(size, sizeof(single));
}

static void test_queues(void** state) {
  int ordinals[3] = {0}, seen = 0;
  IREE_HAL_FOR_QUEUE_AFFINITY(0x8000000000000005ull) {
    assert_int_equal(queue_count, 3);
    assert_int_equal(queue_index, seen);
    ordinals[seen++] = queue_ordinal;
  }
  assert_int_equal(seen, 3);
  assert_int_equal(ordinals[0], 0);
  assert_int_equal(ordinals[1], 2);
  assert_int_equal(ordinals[2], 63);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_printf),         cmocka_unit_test(test_layout),
      cmocka_unit_test(test_thread),         cmocka_unit_test(test_axis),
      cmocka_unit_test(test_frontier_order), cmocka_unit_test(test_frontier_merge),
      cmocka_unit_test(test_queues),         cmocka_unit_test(test_frontier_progress),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
