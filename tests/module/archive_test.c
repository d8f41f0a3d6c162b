// Archives: what is written is read back, at aligned places; damaged ones are refused.

#include "module/archive.h"

#include "module/crc32.h"
#include "module_test.h"

static iree_status_t write_to_memory(void* sink, uint64_t offset, const void* data, size_t length) {
  iree_byte_span_t* span = sink;
  assert_true(offset <= span->data_length && length <= span->data_length - offset);
  if (length) memcpy(span->data + offset, data, length);
  return iree_ok_status();
}

// Numbered bytes, in pieces of 24.
static bool read_numbers(const void* user, uint64_t offset, size_t size, void* out) {
  assert_int_equal(offset % 24, 0);
  for (size_t i = 0; i < size; ++i) ((uint8_t*)out)[i] = (uint8_t)(offset + i);
  return true;
}
static const archive_source_t numbers = {read_numbers, NULL, 1000003, 24};

static const iree_const_byte_span_t hello = {(const uint8_t*)"hello, ", 7};
static const iree_const_byte_span_t world = {(const uint8_t*)"world", 5};

// Three entries: two parts, empty, page-aligned.
static iree_byte_span_t make_archive(void) {
  static uint8_t large[10000];
  for (size_t i = 0; i < sizeof(large); ++i) large[i] = (uint8_t)(i * 7);
  iree_const_byte_span_t parts[] = {hello, world};
  iree_const_byte_span_t page = {large, sizeof(large)};
  archive_entry_t entries[] = {
      {IREE_SV("program.vm"), 64, 2, parts, NULL},
      {IREE_SV("empty"), 64, 0, NULL, NULL},
      {IREE_SV("constants/weights.bin"), 4096, 1, &page, NULL},
  };
  uint64_t size = module_archive_size(3, entries);
  iree_byte_span_t archive = {malloc(size), size};
  archive_target_t target = {.write = write_to_memory, .sink = &archive, .threads = 1};
  EXPECT_OK(module_archive_write(3, entries, &target, iree_allocator_system()));
  return archive;
}

static void test_round_trip(void** state) {
  iree_byte_span_t data = make_archive();
  archive_t archive;
  EXPECT_OK(module_archive_open(iree_const_cast_byte_span(data), iree_allocator_system(), &archive));
  assert_int_equal(archive.count, 3);
  const archive_file_t* program = module_archive_find(&archive, IREE_SV("program.vm"));
  assert_memory_equal(program->data.data, "hello, world", 12);
  assert_int_equal(program->offset % 64, 0);
  EXPECT_OK(module_archive_file_check(program));
  const archive_file_t* weights = module_archive_find(&archive, IREE_SV("constants/weights.bin"));
  assert_int_equal(weights->offset % 4096, 0);
  assert_int_equal(weights->data.data_length, 10000);
  EXPECT_OK(module_archive_file_check(weights));
  assert_int_equal(module_archive_find(&archive, IREE_SV("empty"))->data.data_length, 0);
  assert_null(module_archive_find(&archive, IREE_SV("nothing")));
  module_archive_close(&archive, iree_allocator_system());
  free(data.data);
}

// Data made while it is written, by several threads.
static void test_source(void** state) {
  archive_entry_t entries[8];
  char names[8][2];
  for (int i = 0; i < 8; ++i) {
    names[i][0] = (char)('a' + i), names[i][1] = 0;
    entries[i] = (archive_entry_t){iree_make_cstring_view(names[i]), 64, 0, NULL, &numbers};
  }
  uint64_t size = module_archive_size(8, entries);
  iree_byte_span_t data = {malloc(size), size};
  archive_target_t target = {.write = write_to_memory, .sink = &data, .threads = 4};
  EXPECT_OK(module_archive_write(8, entries, &target, iree_allocator_system()));
  archive_t archive;
  EXPECT_OK(module_archive_open(iree_const_cast_byte_span(data), iree_allocator_system(), &archive));
  assert_int_equal(archive.count, 8);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_OK(module_archive_file_check(&archive.files[i]));
    assert_int_equal(archive.files[i].data.data_length, numbers.length);
    for (size_t j = 0; j < numbers.length; ++j) assert_int_equal(archive.files[i].data.data[j], (uint8_t)j);
  }
  module_archive_close(&archive, iree_allocator_system());
  free(data.data);
}

static void test_truncated(void** state) {
  iree_byte_span_t data = make_archive();
  for (size_t length = 0; length < data.data_length; length += length < 400 ? 1 : 97) {
    uint8_t* copy = malloc(length + 1);  // its own allocation: sanitizers see overruns
    memcpy(copy, data.data, length);
    archive_t archive;
    iree_status_t status =
        module_archive_open(iree_make_const_byte_span(copy, length), iree_allocator_system(), &archive);
    assert_int_equal(iree_status_consume_code(status), IREE_STATUS_INVALID_ARGUMENT);
    free(copy);
  }
  free(data.data);
}

static void test_damaged(void** state) {
  iree_byte_span_t data = make_archive();
  archive_t archive;
  EXPECT_OK(module_archive_open(iree_const_cast_byte_span(data), iree_allocator_system(), &archive));
  const archive_file_t* program = module_archive_find(&archive, IREE_SV("program.vm"));
  data.data[program->offset + 3] ^= 1;
  EXPECT_STATUS(module_archive_file_check(program), DATA_LOSS, "'program.vm' is damaged");
  module_archive_close(&archive, iree_allocator_system());
  free(data.data);
}

// Any byte of headers and directory may be wrong: an error or another archive, never a crash.
static void test_flipped(void** state) {
  iree_byte_span_t data = make_archive();
  for (size_t i = 0; i < data.data_length; ++i) {
    if (i > 600 && i + 600 < data.data_length) continue;
    for (int bit = 0; bit < 8; ++bit) {
      data.data[i] ^= (uint8_t)(1 << bit);
      archive_t archive;
      iree_status_t status = module_archive_open(iree_const_cast_byte_span(data), iree_allocator_system(), &archive);
      if (iree_status_is_ok(status)) {
        for (size_t k = 0; k < archive.count; ++k) iree_status_ignore(module_archive_file_check(&archive.files[k]));
        module_archive_close(&archive, iree_allocator_system());
      }
      iree_status_ignore(status);
      data.data[i] ^= (uint8_t)(1 << bit);
    }
  }
  free(data.data);
}

// The second entry changed: to lie where the first does, and to have its name.
static void test_shared_entries(void** state) {
  for (int variant = 0; variant < 2; ++variant) {
    iree_const_byte_span_t part = hello;
    archive_entry_t entries[] = {{IREE_SV("a"), 64, 1, &part, NULL}, {IREE_SV("b"), 64, 1, &part, NULL}};
    uint64_t size = module_archive_size(2, entries);
    iree_byte_span_t data = {malloc(size), size};
    archive_target_t target = {.write = write_to_memory, .sink = &data, .threads = 1};
    EXPECT_OK(module_archive_write(2, entries, &target, iree_allocator_system()));
    uint8_t* second = data.data + size - 22 - 47;  // its directory entry: 46 bytes and the name
    assert_memory_equal(second, "PK\1\2", 4);
    if (variant == 0) memset(second + 42, 0, 4);  // the first one's local header
    if (variant == 1) second[46] = 'a';
    archive_t archive;
    EXPECT_STATUS(module_archive_open(iree_const_cast_byte_span(data), iree_allocator_system(), &archive),
                  INVALID_ARGUMENT, variant ? "two entries 'a'" : "overlap");
    free(data.data);
  }
}

static void test_bad_entries(void** state) {
  archive_target_t target = {.write = write_to_memory, .sink = NULL, .threads = 1};
  archive_entry_t entry = {IREE_SV("x"), 48, 0, NULL, NULL};
  EXPECT_STATUS(module_archive_write(1, &entry, &target, iree_allocator_system()), INVALID_ARGUMENT, "alignment 48");
}

// The folding form agrees with the byte-wise one on every length around its block size.
static void test_crc32(void** state) {
  uint8_t data[400];
  for (size_t i = 0; i < sizeof(data); ++i) data[i] = (uint8_t)(i * 31 + 7);
  assert_int_equal(module_crc32(0, "123456789", 9), 0xCBF43926u);
  for (size_t length = 0; length <= sizeof(data); ++length) {
    uint32_t bytes = 0;
    for (size_t i = 0; i < length; ++i) bytes = module_crc32(bytes, data + i, 1);
    assert_int_equal(module_crc32(0, data, length), bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_source),  cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_damaged),        cmocka_unit_test(test_flipped), cmocka_unit_test(test_bad_entries),
      cmocka_unit_test(test_shared_entries), cmocka_unit_test(test_crc32),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
