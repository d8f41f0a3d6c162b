// Small helpers of iree/base: pages, bitmaps, aligned memory, string builders.
#include "hal_test.h"
#include "iree/base/threading/numa.h"
#include "iree/base/threading/thread.h"
#include "iree/hal/api.h"

static void pages(void** state) {
  assert_int_equal(iree_page_align_start(0x1FFF, 0x1000), 0x1000);
  assert_int_equal(iree_page_align_end(0x1001, 0x1000), 0x2000);
  assert_int_equal(iree_page_align_end(0x1000, 0x1000), 0x1000);
  iree_page_range_t joined = iree_page_range_union((iree_page_range_t){0x3000, 0x1000}, (iree_page_range_t){0, 0x2000});
  assert_int_equal(joined.offset, 0);
  assert_int_equal(joined.length, 0x4000);
  iree_page_range_t rounded = iree_align_byte_range_to_pages((iree_byte_range_t){1, 4097}, 4096);
  assert_int_equal(rounded.offset, 4096);
  assert_int_equal(rounded.length, 8192);
  void* begin = NULL;
  iree_host_size_t length = 0;
  iree_page_align_range((void*)0x10000, (iree_byte_range_t){0xFFF, 2}, 0x1000, &begin, &length);
  assert_ptr_equal(begin, (void*)0x10000);
  assert_int_equal(length, 0x2000);
}

static void bitmaps(void** state) {
  uint64_t words[2] = {0};
  iree_bitmap_t bitmap = {100, words};
  assert_true(iree_bitmap_none_set(bitmap));
  iree_bitmap_set_span(bitmap, 60, 8);
  assert_true(iree_bitmap_any_set(bitmap));
  assert_int_equal(iree_bitmap_count(bitmap), 8);
  assert_int_equal(words[0] >> 60, 15);
  assert_int_equal(words[1], 15);
  assert_int_equal(iree_bitmap_find_first_unset(bitmap, 60), 68);
  assert_int_equal(iree_bitmap_find_first_unset(bitmap, 59), 59);
  assert_int_equal(iree_bitmap_find_first_unset_span(bitmap, 50, 10), 50);
  assert_int_equal(iree_bitmap_find_first_unset_span(bitmap, 51, 10), 68);
  assert_int_equal(iree_bitmap_find_first_unset_span(bitmap, 51, 32), 68);
  assert_int_equal(iree_bitmap_find_first_unset_span(bitmap, 51, 33), 100);
  iree_bitmap_reset_span(bitmap, 60, 7);
  assert_int_equal(iree_bitmap_find_first_set(bitmap, 0), 67);
  iree_bitmap_set_all(bitmap);
  assert_int_equal(iree_bitmap_count(bitmap), 100);
  assert_int_equal(iree_bitmap_find_first_unset(bitmap, 0), 100);
  iree_bitmap_reset_all(bitmap);
  assert_true(iree_bitmap_none_set(bitmap));
}

// Grown and shrunk memory keeps what it has, at an address that is aligned where it was asked for.
static void aligned_memory(void** state) {
  iree_allocator_t allocator = iree_allocator_system();
  uint8_t* data = NULL;
  iree_host_size_t length = 0;
  for (iree_host_size_t size = 24; size < 200000; size = size * 3 / 2) {
    iree_host_size_t alignment = size % 2 ? 16 : 256;
    CHECK_OK(iree_allocator_realloc_aligned(allocator, size, alignment, 8, (void**)&data));
    assert_int_equal(((uintptr_t)data + 8) % alignment, 0);
    for (iree_host_size_t i = 0; i < length; ++i) assert_int_equal(data[i], (uint8_t)(i * 7));
    for (length = 0; length < size; ++length) data[length] = (uint8_t)(length * 7);
  }
  CHECK_OK(iree_allocator_realloc_aligned(allocator, 100, 4096, 0, (void**)&data));
  assert_int_equal((uintptr_t)data % 4096, 0);
  for (iree_host_size_t i = 0; i < 100; ++i) assert_int_equal(data[i], (uint8_t)(i * 7));
  CHECK_CODE(INVALID_ARGUMENT, iree_allocator_realloc_aligned(allocator, 0, 16, 0, (void**)&data));
  CHECK_CODE(INVALID_ARGUMENT, iree_allocator_realloc_aligned(allocator, 64, 24, 0, (void**)&data));
  assert_int_equal(data[99], (uint8_t)(99 * 7));
  iree_allocator_free_aligned(allocator, data);
  uint64_t* trailing = NULL;
  CHECK_OK(iree_allocator_malloc_with_trailing(allocator, 8, 16, (void**)&trailing));
  assert_int_equal(trailing[2], 0);
  iree_allocator_free(allocator, trailing);
  CHECK_CODE(OUT_OF_RANGE, iree_allocator_malloc_with_trailing(allocator, 64, SIZE_MAX, (void**)&trailing));
}

static void appended_in_place(void** state) {
  iree_string_builder_t builder;
  char* buffer = NULL;
  iree_host_size_t capacity = 0;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  CHECK_OK(iree_string_builder_append_cstring(&builder, "ab"));
  CHECK_OK(iree_string_builder_reserve_for_append(&builder, 100, &buffer, &capacity));
  assert_true(capacity >= 100);
  memset(buffer, 'x', capacity);
  iree_string_builder_commit_append(&builder, 3);
  CHECK_TEXT(iree_string_builder_view(&builder), "abxxx");
  assert_string_equal(iree_string_builder_buffer(&builder), "abxxx");
  iree_string_builder_deinitialize(&builder);
  char storage[8];
  iree_string_builder_initialize_with_storage(storage, sizeof(storage), &builder);
  CHECK_OK(iree_string_builder_reserve_for_append(&builder, 7, &buffer, &capacity));
  assert_int_equal(capacity, 7);
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_string_builder_reserve_for_append(&builder, 8, &buffer, &capacity));
}

static void string_pairs(void** state) {
  iree_string_pair_builder_t builder;
  iree_string_pair_builder_initialize(iree_allocator_system(), &builder);
  assert_null(iree_string_pair_builder_pairs(&builder));
  char text[] = "changes";
  iree_string_view_t kept = IREE_SV(text);
  CHECK_OK(iree_string_pair_builder_emplace_string(&builder, &kept));
  text[0] = 'X';
  CHECK_OK(iree_string_pair_builder_add(&builder, iree_make_string_pair(IREE_SV("key"), kept)));
  for (int32_t i = -1; i < 20; ++i) CHECK_OK(iree_string_pair_builder_add_int32(&builder, IREE_SV("i"), i * 100000000));
  assert_int_equal(iree_string_pair_builder_size(&builder), 22);
  const iree_string_pair_t* pairs = iree_string_pair_builder_pairs(&builder);
  CHECK_TEXT(pairs[0].value, "changes");
  CHECK_TEXT(pairs[1].value, "-100000000");
  CHECK_TEXT(pairs[21].second, "1900000000");
  iree_string_pair_builder_deinitialize(&builder);
  iree_mutable_string_view_t mutable_view = iree_make_mutable_string_view(text, 3);
  CHECK_TEXT(iree_make_const_string_view(mutable_view), "Xha");
  assert_true(iree_mutable_string_view_is_empty(iree_mutable_string_view_empty()));
  assert_int_equal(iree_string_pair_list_empty().count + iree_string_view_list_empty().count, 0);
}

static void memory_of_nodes(void** state) {
  iree_bitmap_t nodes = iree_numa_online_nodes();
  assert_int_equal(iree_bitmap_count(nodes), iree_numa_node_count());
  iree_numa_alloc_options_t options = iree_numa_alloc_options_default();
  options.node_id = (iree_numa_node_id_t)iree_bitmap_find_first_set(nodes, 0);
  for (iree_memory_placement_flags_t flags = 0; flags <= 3; ++flags) {
    iree_numa_alloc_info_t info;
    uint8_t* data = NULL;
    options.flags = flags;
    CHECK_OK(iree_numa_alloc(100000, &options, (void**)&data, &info));
    assert_true(info.allocated_size >= 100000);
    if (flags == 0) assert_int_equal(info.method, IREE_NUMA_ALLOC_METHOD_MMAP);
    assert_int_equal(data[99999], 0);
    data[99999] = 1;
    iree_numa_free(data, &info);
  }
  iree_numa_alloc_info_t info;
  void* data = NULL;
  options.node_id = (iree_numa_node_id_t)iree_bitmap_find_first_unset(nodes, 0);
  CHECK_CODE(INVALID_ARGUMENT, iree_numa_alloc(4096, &options, &data, &info));
  assert_null(data);
  CHECK_CODE(INVALID_ARGUMENT, iree_numa_alloc(0, &options, &data, &info));
  iree_thread_affinity_t affinity;
  iree_thread_affinity_set_any(&affinity);
  assert_true(iree_thread_affinity_is_unspecified(affinity));
  iree_thread_affinity_set_group_any(3, &affinity);
  assert_false(iree_thread_affinity_is_unspecified(affinity));
  assert_int_equal(affinity.group, 3);
}

static void frozen_status(void** state) {
  char text[256];
  iree_status_t status = iree_make_status_with_location("dir/file.c", 12, IREE_STATUS_NOT_FOUND, "no %s", "x");
  status = iree_status_freeze(iree_status_annotate_f(status, "looking"));
  CHECK_TEXT(iree_status_message(status), "no x; looking");
  iree_status_format(status, sizeof(text), text, NULL);
  assert_string_equal(text, "dir/file.c:12: NOT_FOUND; no x; looking");
  CHECK_CODE(NOT_FOUND, status);
  CHECK_OK(iree_status_freeze(iree_ok_status()));
  CHECK_CODE(DEFERRED, iree_status_freeze(iree_status_from_code(IREE_STATUS_DEFERRED)));
}

static void references(void** state) {
  iree_hal_allocator_t* allocator = NULL;
  iree_hal_buffer_t *buffer = NULL, *part = NULL;
  iree_allocator_t host_allocator = iree_allocator_system();
  CHECK_OK(iree_hal_allocator_create_heap(IREE_SV("test"), host_allocator, host_allocator, &allocator));
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  CHECK_OK(iree_hal_allocator_allocate_buffer(allocator, params, 256, &buffer));
  CHECK_OK(iree_hal_buffer_subspan(buffer, 64, 128, host_allocator, &part));
  iree_hal_buffer_ref_t ref = iree_hal_make_buffer_ref(part, 16, IREE_HAL_WHOLE_BUFFER);
  CHECK_OK(iree_hal_buffer_ref_normalize(&ref));
  assert_ptr_equal(ref.buffer, buffer);
  assert_int_equal(ref.offset, 80);
  assert_int_equal(ref.length, 112);
  iree_hal_buffer_binding_t binding = {part, 0, 129};
  CHECK_CODE(OUT_OF_RANGE, iree_hal_buffer_binding_normalize(&binding));
  assert_ptr_equal(binding.buffer, part);
  binding.length = 100;
  CHECK_OK(iree_hal_buffer_binding_normalize(&binding));
  assert_int_equal(binding.offset, 64);
  assert_int_equal(binding.length, 100);
  ref = iree_hal_make_indirect_buffer_ref(3, 4, 5);
  CHECK_OK(iree_hal_buffer_ref_normalize(&ref));
  assert_int_equal(ref.buffer_slot, 3);
  iree_hal_buffer_release(part);
  iree_hal_buffer_release(buffer);
  iree_hal_allocator_release(allocator);
  iree_hal_allocator_statistics_t statistics = {0};
  iree_hal_allocator_statistics_record_alloc(&statistics, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, 100);
  iree_hal_allocator_statistics_record_free(&statistics, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, 60);
  iree_hal_allocator_statistics_record_alloc(&statistics, IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, 50);
  iree_hal_allocator_statistics_record_alloc(&statistics, IREE_HAL_MEMORY_TYPE_HOST_LOCAL, 7);
  assert_int_equal(statistics.device_bytes_peak, 100);
  assert_int_equal(statistics.device_bytes_allocated, 150);
  assert_int_equal(statistics.host_bytes_peak, 7);
}

// What a copy of profiling options points to is its own.
static void profiling_options(void** state) {
  iree_string_view_t counters[] = {IREE_SV("waves"), IREE_SV(""), IREE_SV("cycles")};
  iree_hal_profile_counter_set_selection_t sets[] = {
      {.name = IREE_SV("first"), .counter_name_count = 2, .counter_names = counters},
      {.name = IREE_SV("second"), .counter_name_count = 1, .counter_names = counters + 2}};
  char pattern[] = "*matmul*";
  iree_hal_device_profiling_options_t options = {
      .data_families = IREE_HAL_DEVICE_PROFILING_DATA_COUNTER_RANGES, .counter_set_count = 2, .counter_sets = sets};
  options.capture_filter.executable_function_pattern = iree_make_cstring_view(pattern);
  assert_true(iree_hal_device_profiling_options_requests_counters(&options));
  assert_true(iree_hal_device_profiling_options_requests_counter_ranges(&options));
  assert_false(iree_hal_device_profiling_options_requests_counter_samples(&options));
  assert_false(iree_hal_device_profiling_options_requests_executable_traces(&options));
  assert_false(iree_hal_device_profiling_options_requests_device_metrics(&options));
  assert_false(iree_hal_device_profiling_options_requests_lightweight_statistics(&options));
  iree_hal_device_profiling_options_t copy;
  iree_hal_device_profiling_options_storage_t* storage = NULL;
  CHECK_OK(iree_hal_device_profiling_options_clone(&options, iree_allocator_system(), &copy, &storage));
  memset(pattern, 0, sizeof(pattern));
  memset(sets, 0, sizeof(sets));
  memset(counters, 0, sizeof(counters));
  assert_true(iree_string_view_equal(copy.capture_filter.executable_function_pattern, IREE_SV("*matmul*")));
  assert_true(iree_string_view_equal(copy.counter_sets[0].name, IREE_SV("first")));
  assert_true(iree_string_view_equal(copy.counter_sets[0].counter_names[0], IREE_SV("waves")));
  assert_int_equal(copy.counter_sets[0].counter_names[1].size, 0);
  assert_true(iree_string_view_equal(copy.counter_sets[1].counter_names[0], IREE_SV("cycles")));
  iree_hal_device_profiling_options_storage_free(storage, iree_allocator_system());
  iree_hal_device_profiling_options_storage_free(NULL, iree_allocator_system());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pages),
      cmocka_unit_test(bitmaps),
      cmocka_unit_test(aligned_memory),
      cmocka_unit_test(appended_in_place),
      cmocka_unit_test(string_pairs),
      cmocka_unit_test(memory_of_nodes),
      cmocka_unit_test(frozen_status),
      cmocka_unit_test(references),
      cmocka_unit_test(profiling_options),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
