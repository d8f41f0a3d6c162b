// Statuses, allocators, strings, bit fields, times, processor features.
#include "hal_test.h"
#include "iree/base/internal/cpu.h"
#include "iree/base/threading/api.h"

static void status_text(void** state) {
  char text[256];
  iree_host_size_t length = 0;
  iree_status_t status = iree_make_status_with_location("dir/file.c", 12, IREE_STATUS_NOT_FOUND, "no %s in %d", "x", 3);
  status = iree_status_annotate_f(status, "looking for %s", "x");
  status = iree_status_annotate(status, IREE_SV("second"));
  assert_true(iree_status_format(status, sizeof(text), text, &length));
  assert_string_equal(text, "dir/file.c:12: NOT_FOUND; no x in 3; looking for x; second");
  assert_int_equal(length, strlen(text));
  assert_false(iree_status_format(status, 8, text, &length));
  assert_string_equal(text, "dir/fil");
  assert_int_equal(iree_status_code(status), IREE_STATUS_NOT_FOUND);
  assert_true(iree_status_is_not_found(status));
  iree_status_t copy = iree_status_clone(status);
  iree_status_free(status);
  iree_allocator_t allocator = iree_allocator_system();
  char* heap_text = NULL;
  assert_true(iree_status_to_string(copy, &allocator, &heap_text, &length));
  assert_string_equal(heap_text, "dir/file.c:12: NOT_FOUND; no x in 3; looking for x; second");
  iree_allocator_free(allocator, heap_text);
  assert_int_equal(iree_status_source_location(copy).line, 12);
  CHECK_TEXT(iree_status_message(copy), "no x in 3");
  assert_int_equal(iree_status_consume_code(copy), IREE_STATUS_NOT_FOUND);
}

static iree_status_t fail_when(bool fails) {
  IREE_RETURN_IF_ERROR(fails ? iree_make_status(IREE_STATUS_ABORTED) : iree_ok_status(), "with %d", 5);
  return iree_ok_status();
}

static void status_passing(void** state) {
  char text[256];
  CHECK_OK(fail_when(false));
  iree_status_t status = fail_when(true);
  iree_status_format(status, sizeof(text), text, NULL);
  assert_non_null(strstr(text, "ABORTED; with 5"));
  status = iree_status_join(status, iree_make_status(IREE_STATUS_INTERNAL, "too"));
  iree_status_format(status, sizeof(text), text, NULL);
  assert_non_null(strstr(text, "INTERNAL; too"));
  CHECK_CODE(ABORTED, status);
  CHECK_CODE(INTERNAL, iree_status_join(iree_ok_status(), iree_make_status(IREE_STATUS_INTERNAL)));
  CHECK_CODE(UNKNOWN, iree_status_annotate(iree_status_from_code(IREE_STATUS_UNKNOWN), IREE_SV("bare")));
  CHECK_OK(iree_status_ignore(iree_make_status(IREE_STATUS_INTERNAL, "dropped")));
  CHECK_OK(iree_make_status(IREE_STATUS_OK, "nothing"));
  assert_string_equal(iree_status_code_string(IREE_STATUS_INCOMPATIBLE), "INCOMPATIBLE");
  assert_int_equal(iree_status_code_from_errno(ENOENT), IREE_STATUS_NOT_FOUND);
  assert_int_equal(iree_status_code_from_errno(99999), IREE_STATUS_UNKNOWN);
}

static void allocators(void** state) {
  iree_allocator_t allocator = iree_allocator_system();
  uint8_t* data = NULL;
  CHECK_CODE(INVALID_ARGUMENT, iree_allocator_malloc(allocator, 0, (void**)&data));
  CHECK_CODE(INVALID_ARGUMENT, iree_allocator_malloc(iree_allocator_null(), 8, (void**)&data));
  CHECK_CODE(OUT_OF_RANGE, iree_allocator_malloc_array(allocator, SIZE_MAX / 2, 4, (void**)&data));
  CHECK_OK(iree_allocator_malloc(allocator, 100, (void**)&data));
  for (int i = 0; i < 100; ++i) assert_int_equal(data[i], 0);
  CHECK_OK(iree_allocator_realloc(allocator, 1000, (void**)&data));
  iree_allocator_free(allocator, data);
  iree_allocator_free(allocator, NULL);
  for (iree_host_size_t alignment = 1; alignment <= 8192; alignment *= 2) {
    for (iree_host_size_t offset = 0; offset < 64; offset += 20) {
      CHECK_OK(iree_allocator_malloc_aligned(allocator, 50, alignment, offset, (void**)&data));
      assert_int_equal(((uintptr_t)data + offset) % alignment, 0);
      memset(data, 1, 50);
      iree_allocator_free_aligned(allocator, data);
    }
  }
  iree_host_size_t capacity = 0;
  uint32_t* array = NULL;
  CHECK_OK(iree_allocator_grow_array(allocator, 3, sizeof(*array), &capacity, (void**)&array));
  assert_int_equal(capacity, 3);
  CHECK_OK(iree_allocator_grow_array(allocator, 4, sizeof(*array), &capacity, (void**)&array));
  assert_int_equal(capacity, 6);
  iree_allocator_free(allocator, array);
}

static void inline_arena(void** state) {
  IREE_ALLOCATOR_INLINE_STORAGE(storage, 256);
  iree_allocator_t arena = iree_allocator_inline_arena(&storage.header);
  void *a = NULL, *b = NULL;
  CHECK_OK(iree_allocator_malloc(arena, 100, &a));
  CHECK_OK(iree_allocator_malloc(arena, 20, &b));
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_allocator_realloc(arena, 120, &a));
  CHECK_OK(iree_allocator_realloc(arena, 60, &b));
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_allocator_malloc(arena, 200, &a));
  iree_allocator_free(arena, b);
}

static void string_views(void** state) {
  iree_string_view_t lhs, rhs, text = IREE_SV("key=value=x");
  assert_int_equal(iree_string_view_split(text, '=', &lhs, &rhs), 3);
  CHECK_TEXT(lhs, "key");
  CHECK_TEXT(rhs, "value=x");
  assert_int_equal(iree_string_view_split(text, '#', &lhs, &rhs), -1);
  CHECK_TEXT(lhs, "key=value=x");
  assert_int_equal(rhs.size, 0);
  CHECK_TEXT(iree_string_view_trim(IREE_SV(" \t a b\n")), "a b");
  CHECK_TEXT(iree_string_view_substr(text, 4, 5), "value");
  CHECK_TEXT(iree_string_view_substr(text, 100, 5), "");
  CHECK_TEXT(iree_string_view_strip_suffix(text, IREE_SV("=x")), "key=value");
  assert_true(iree_string_view_compare(IREE_SV("ab"), IREE_SV("abc")) < 0);
  assert_true(iree_string_view_equal_case(IREE_SV("AbC"), IREE_SV("aBc")));
  assert_int_equal(iree_string_view_find_first_of(text, IREE_SV("=#"), 4), 9);
  assert_int_equal(iree_string_view_find_last_of(text, IREE_SV("="), IREE_STRING_VIEW_NPOS), 9);
  assert_int_equal(iree_string_view_find_char(text, 'q', 0), IREE_STRING_VIEW_NPOS);
  static const struct {
    const char *text, *pattern;
    bool matches;
  } globs[] = {{"", "", true},       {"", "*", true},         {"abc", "a*c", true},    {"abc", "a?c", true},
               {"abc", "a?", false}, {"aXbXc", "*X*c", true}, {"abc", "*b", false},    {"aaab", "*aab", true},
               {"abc", "", false},   {"abc", "***", true},    {"abcabd", "*abd", true}};
  for (size_t i = 0; i < IREE_ARRAYSIZE(globs); ++i) {
    assert_int_equal(
        iree_string_view_match_pattern(iree_make_cstring_view(globs[i].text), iree_make_cstring_view(globs[i].pattern)),
        globs[i].matches);
  }
}

static void numbers(void** state) {
  int32_t i32 = 7;
  uint64_t u64 = 0;
  int64_t i64 = 0;
  float f32 = 0;
  double f64 = 0;
  assert_true(iree_string_view_atoi_int32(IREE_SV(" -123 "), &i32));
  assert_int_equal(i32, -123);
  assert_false(iree_string_view_atoi_int32(IREE_SV("2147483648"), &i32));
  assert_false(iree_string_view_atoi_int32(IREE_SV("12x"), &i32));
  assert_false(iree_string_view_atoi_int32(IREE_SV(""), &i32));
  assert_int_equal(i32, -123);
  assert_true(iree_string_view_atoi_uint64(IREE_SV("0xFFFFFFFFFFFFFFFF"), &u64));
  assert_true(u64 == UINT64_MAX);
  assert_false(iree_string_view_atoi_uint64(IREE_SV("-1"), &u64));
  assert_true(iree_string_view_atoi_int64_base(IREE_SV("0010"), 10, &i64));
  assert_int_equal(i64, 10);
  assert_true(iree_string_view_atof(IREE_SV("1e-3"), &f32));
  assert_true(f32 == 1e-3f);
  assert_true(iree_string_view_atod(IREE_SV("-inf"), &f64));
  assert_false(iree_string_view_atod(IREE_SV("1.5."), &f64));
  uint8_t bytes[3];
  assert_true(iree_string_view_parse_hex_bytes(IREE_SV("00-fF7a"), 3, bytes));
  assert_int_equal(bytes[1], 255);
  assert_false(iree_string_view_parse_hex_bytes(IREE_SV("00fF7"), 3, bytes));
  assert_false(iree_string_view_parse_hex_bytes(IREE_SV("00fF7a00"), 3, bytes));
  iree_device_size_t size = 0;
  CHECK_OK(iree_string_view_parse_device_size(IREE_SV("16KiB"), &size));
  assert_int_equal(size, 16384);
  CHECK_OK(iree_string_view_parse_device_size(IREE_SV("2gb"), &size));
  assert_int_equal(size, 2000000000);
  CHECK_CODE(INVALID_ARGUMENT, iree_string_view_parse_device_size(IREE_SV("kb"), &size));
  CHECK_CODE(OUT_OF_RANGE, iree_string_view_parse_device_size(IREE_SV("99999999999gib"), &size));
}

static void string_builders(void** state) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  for (int i = 0; i < 100; ++i) CHECK_OK(iree_string_builder_append_format(&builder, "%d,", i));
  assert_int_equal(iree_string_builder_size(&builder), 290);
  assert_int_equal(strlen(iree_string_builder_buffer(&builder)), 290);
  iree_string_builder_reset(&builder);
  CHECK_OK(iree_string_builder_append_cstring(&builder, "abc"));
  CHECK_TEXT(iree_string_builder_view(&builder), "abc");
  iree_string_builder_deinitialize(&builder);
  char small[4];
  iree_string_builder_initialize_with_storage(small, sizeof(small), &builder);
  CHECK_OK(iree_string_builder_append_cstring(&builder, "abc"));
  CHECK_CODE(RESOURCE_EXHAUSTED, iree_string_builder_append_cstring(&builder, "def"));
  assert_int_equal(iree_string_builder_size(&builder), 6);
  assert_string_equal(small, "abc");
  iree_string_builder_initialize_with_storage(NULL, 0, &builder);
  CHECK_OK(iree_string_builder_append_format(&builder, "%s", "measured"));
  assert_int_equal(iree_string_builder_size(&builder), 8);
}

static void bitfields(void** state) {
  static const iree_bitfield_string_mapping_t rows[] = {
      {3, IREE_SVL("BOTH")}, {1, IREE_SVL("A")}, {2, IREE_SVL("B")}, {4, IREE_SVL("C")}};
  iree_bitfield_string_temp_t temp;
  uint32_t value = 0;
  CHECK_TEXT(iree_bitfield_format_inline(7, 4, rows, &temp), "BOTH|C");
  CHECK_TEXT(iree_bitfield_format_inline(0, 4, rows, &temp), "");
  CHECK_TEXT(iree_bitfield_format_inline(0x12, 4, rows, &temp), "B|10h");
  CHECK_OK(iree_bitfield_parse(IREE_SV("A | C"), 4, rows, &value));
  assert_int_equal(value, 5);
  CHECK_OK(iree_bitfield_parse(IREE_SV("both|0x10 | 64"), 4, rows, &value));
  assert_int_equal(value, 3 | 0x10 | 64);
  CHECK_CODE(INVALID_ARGUMENT, iree_bitfield_parse(IREE_SV("A|D"), 4, rows, &value));
  assert_int_equal(value, 3 | 0x10 | 64);
  CHECK_OK(iree_bitfield_parse(IREE_SV("|a||B|"), 4, rows, &value));
  assert_int_equal(value, 3);
  CHECK_OK(iree_bitfield_parse(IREE_SV("2h|1h|A0h"), 0, NULL, &value));
  assert_int_equal(value, 0xA3);
  CHECK_CODE(INVALID_ARGUMENT, iree_bitfield_parse(IREE_SV("A|a08"), 4, rows, &value));
  CHECK_TEXT(iree_bitfield_format_inline(3, 3, rows + 1, &temp), "A|B");
}

static void times(void** state) {
  assert_true(iree_timeout_is_immediate(iree_immediate_timeout()));
  assert_true(iree_timeout_is_immediate(iree_make_timeout_ns(0)));
  assert_true(iree_timeout_is_infinite(iree_make_timeout_ms(IREE_DURATION_INFINITE)));
  assert_int_equal(iree_timeout_as_deadline_ns(iree_infinite_timeout()), IREE_TIME_INFINITE_FUTURE);
  iree_time_t start = iree_time_now();
  CHECK_CODE(DEADLINE_EXCEEDED,
             iree_wait_source_wait_one(iree_wait_source_delay(start + 1000000000), iree_make_timeout_ms(2)));
  CHECK_OK(iree_wait_source_wait_one(iree_wait_source_delay(start + 3000000), iree_infinite_timeout()));
  assert_true(iree_time_now() >= start + 3000000);
  assert_int_equal(iree_absolute_deadline_to_timeout_ns(start), 0);
  assert_int_equal(iree_absolute_deadline_to_timeout_ms(IREE_TIME_INFINITE_FUTURE), UINT32_MAX);
}

static void features(void** state) {
  int64_t value = -1;
  CHECK_CODE(NOT_FOUND, iree_cpu_lookup_data_by_key(IREE_SV("warp-drive"), &value));
  iree_string_view_t name;
  bool present = false;
  iree_host_size_t count = 0;
  for (; iree_cpu_enumerate_feature(count, &name, &present); ++count) {
    CHECK_OK(iree_cpu_lookup_data_by_key(name, &value));
    assert_int_equal(value, present);
  }
#if defined(IREE_ARCH_X86_64)
  assert_int_equal(count, 27);
#endif
  uint64_t data[IREE_CPU_DATA_FIELD_COUNT + 1];
  iree_cpu_read_data(IREE_ARRAYSIZE(data), data);
  assert_true(data[0] == iree_cpu_data_field(0));
  assert_true(data[IREE_CPU_DATA_FIELD_COUNT] == 0);
}

//===----------------------------------------------------------------------------------------------------------------===
// Threads
//===----------------------------------------------------------------------------------------------------------------===

typedef struct shared_t {
  iree_slim_mutex_t slim;
  iree_mutex_t mutex;
  iree_notification_t notification;
  int slim_count, count;
  iree_atomic_int32_t posted;
} shared_t;

static int count_main(void* arg) {
  shared_t* shared = (shared_t*)arg;
  for (int i = 0; i < 5000; ++i) {
    iree_slim_mutex_lock(&shared->slim);
    ++shared->slim_count;
    iree_slim_mutex_unlock(&shared->slim);
    iree_mutex_lock(&shared->mutex);
    ++shared->count;
    iree_mutex_unlock(&shared->mutex);
  }
  iree_atomic_fetch_add(&shared->posted, 1, iree_memory_order_seq_cst);
  iree_notification_post(&shared->notification, IREE_ALL_WAITERS);
  return 0;
}

static bool all_posted(void* arg) {
  return iree_atomic_load(&((shared_t*)arg)->posted, iree_memory_order_seq_cst) == 3;
}

static void threads(void** state) {
  shared_t shared = {0};
  iree_slim_mutex_initialize(&shared.slim);
  iree_mutex_initialize(&shared.mutex);
  iree_notification_initialize(&shared.notification);
  assert_false(iree_notification_await(&shared.notification, all_posted, &shared, iree_make_timeout_ms(2)));
  iree_thread_t* threads[3];
  iree_thread_create_params_t params = {.name = IREE_SV("a name that is too long"), .stack_size = 1 << 16};
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(iree_thread_create(count_main, &shared, params, iree_allocator_system(), &threads[i]));
  }
  assert_true(iree_notification_await(&shared.notification, all_posted, &shared, iree_infinite_timeout()));
  for (int i = 0; i < 3; ++i) iree_thread_release(threads[i]);
  assert_int_equal(shared.slim_count, 15000);
  assert_int_equal(shared.count, 15000);
  assert_true(iree_slim_mutex_try_lock(&shared.slim));
  assert_false(iree_slim_mutex_try_lock(&shared.slim));
  iree_slim_mutex_unlock(&shared.slim);
  iree_mutex_deinitialize(&shared.mutex);
  assert_true(iree_numa_node_count() >= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(status_text),     cmocka_unit_test(status_passing), cmocka_unit_test(allocators),
      cmocka_unit_test(inline_arena),    cmocka_unit_test(string_views),   cmocka_unit_test(numbers),
      cmocka_unit_test(string_builders), cmocka_unit_test(bitfields),      cmocka_unit_test(times),
      cmocka_unit_test(features),        cmocka_unit_test(threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
