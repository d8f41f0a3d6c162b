// Archives of parameters: what each format says is found, and archives cut anywhere or with any byte changed are
// refused or lead to bytes inside of them only.

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/index_provider.h"
#include "iree/io/formats/gguf/gguf_parser.h"
#include "iree/io/formats/irpa/irpa_parser.h"
#include "iree/io/formats/parser_registry.h"

typedef struct bytes_t {
  uint8_t data[2048];
  size_t size;
} bytes_t;

static void put(bytes_t* b, const void* data, size_t size) {
  assert_true(size <= sizeof(b->data) - b->size);
  memcpy(b->data + b->size, data, size);
  b->size += size;
}
static void put_number(bytes_t* b, uint64_t value, size_t size) { put(b, &value, size); }
static void put_text(bytes_t* b, const char* text) {
  put_number(b, strlen(text), 8);
  put(b, text, strlen(text));
}
static void pad_to(bytes_t* b, size_t size) {
  while (b->size < size) put_number(b, 0, 1);
}

static const float weights[4] = {1, 2, 3, 4};
static const uint8_t pattern[3] = {7, 8, 9};

//===----------------------------------------------------------------------------------------------------------------===
// Archives: "w" is `weights`, "v" its last two numbers
//===----------------------------------------------------------------------------------------------------------------===

static void put_irpa_header(bytes_t* b, uint64_t next, uint64_t count, const uint64_t segments[6]) {
  put(b, "IRPA", 4);
  put_number(b, 0, 4);
  put_number(b, 88, 8);
  put_number(b, next, 8);
  put_number(b, 0, 8);
  put_number(b, count, 8);
  for (int i = 0; i < 6; ++i) put_number(b, segments[i], 8);
}

static void put_irpa_row(bytes_t* b, uint64_t size, uint32_t kind, uint64_t name) {
  put_number(b, size, 8);
  put_number(b, kind, 4);
  put_number(b, 0, 8);
  put_number(b, name, 8);
  put_number(b, 1, 8);
  put_number(b, 0, 8);
  put_number(b, 0, 8);
  put_number(b, 64, 8);
}

// Two headers: "w" and the pattern "p" in the first, "v" in the second.
static void make_irpa(bytes_t* b) {
  put_irpa_header(b, 368, 3, (const uint64_t[]){96, 236, 336, 2, 352, 16});
  pad_to(b, 96);
  put_irpa_row(b, 76, 2, 0);
  put_number(b, 0, 8);
  put_number(b, 16, 8);
  pad_to(b, 176);
  put_irpa_row(b, 85, 1, 1);
  put_number(b, 8, 8);
  put(b, pattern, 3);
  pad_to(b, 176 + 84);
  put_number(b, 3, 1);
  pad_to(b, 272);
  put_number(b, 60, 8);  // a row to skip: nothing but its head
  pad_to(b, 336);
  put(b, "wp", 2);
  pad_to(b, 352);
  put(b, weights, 16);
  put_irpa_header(b, 0, 1, (const uint64_t[]){96, 76, 176, 1, 184, 8});
  pad_to(b, 464);
  put_irpa_row(b, 76, 2, 0);
  put_number(b, 0, 8);
  put_number(b, 8, 8);
  pad_to(b, 544);
  put(b, "v", 1);
  pad_to(b, 552);
  put(b, weights + 2, 8);
}

static void make_safetensors(bytes_t* b) {
  static const char header[] =
      "{\"__metadata__\": {\"a\": [1, {\"b\": null}]}, "
      "\"w\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]},"
      "\"\\u0076\" : {\"data_offsets\" : [8, 16], \"dtype\" : \"F32\"}}  ";
  put_text(b, header);
  put(b, weights, 16);
}

static void make_gguf(bytes_t* b) {
  put(b, "GGUF", 4);
  put_number(b, 3, 4);
  put_number(b, 2, 8);
  put_number(b, 3, 8);
  put_text(b, "names");
  put_number(b, 9, 4);
  put_number(b, 8, 4);
  put_number(b, 2, 8);
  put_text(b, "a");
  put_text(b, "bb");
  put_text(b, "general.alignment");
  put_number(b, 4, 4);
  put_number(b, 16, 4);
  put_text(b, "flag");
  put_number(b, 7, 4);
  put_number(b, 1, 1);
  put_text(b, "w");
  put_number(b, 2, 4);
  put_number(b, 2, 8);
  put_number(b, 2, 8);
  put_number(b, 0, 4);
  put_number(b, 0, 8);
  put_text(b, "v");
  put_number(b, 1, 4);
  put_number(b, 2, 8);
  put_number(b, 0, 4);
  put_number(b, 8, 8);
  pad_to(b, (b->size + 15) / 16 * 16);
  put(b, weights, 16);
}

//===----------------------------------------------------------------------------------------------------------------===
// Tests
//===----------------------------------------------------------------------------------------------------------------===

static iree_io_parameter_index_t* parse_as(const uint8_t* data, size_t size, iree_status_code_t* out_code) {
  iree_io_parameter_index_t* index = NULL;
  iree_io_file_handle_t* handle = NULL;
  iree_status_t status = iree_io_parameter_index_create(iree_allocator_system(), &index);
  assert_true(iree_status_is_ok(status));
  status = iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ, iree_make_byte_span((uint8_t*)(uintptr_t)data, size),
      iree_io_file_handle_release_callback_null(), iree_allocator_system(), &handle);
  assert_true(iree_status_is_ok(status));
  status = iree_io_parse_file_index(IREE_SV("test"), handle, index, iree_allocator_system());
  iree_io_file_handle_release(handle);
  *out_code = iree_status_consume_code(status);
  if (*out_code == IREE_STATUS_OK) return index;
  assert_int_equal(iree_io_parameter_index_count(index), 0);
  iree_io_parameter_index_release(index);
  return NULL;
}

static iree_io_parameter_index_t* parse(const uint8_t* data, size_t size) {
  iree_status_code_t code;
  return parse_as(data, size, &code);
}

static const iree_io_parameter_index_entry_t* find(iree_io_parameter_index_t* index, const char* key) {
  const iree_io_parameter_index_entry_t* entry = NULL;
  iree_status_ignore(iree_io_parameter_index_lookup(index, iree_make_cstring_view(key), &entry));
  return entry;
}

static void expect_entry(iree_io_parameter_index_t* index, const char* key, const void* data, size_t size) {
  const iree_io_parameter_index_entry_t* entry = find(index, key);
  uint8_t read[32];
  assert_non_null(entry);
  assert_int_equal(entry->length, size);
  if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) {
    memcpy(read,
           iree_io_file_handle_value(entry->storage.file.handle).host_allocation.data + entry->storage.file.offset,
           size);
  } else {
    index_provider_expand(entry, 0, read, size);
  }
  assert_memory_equal(read, data, size);
}

static void expect_contents(const bytes_t* b, size_t count) {
  iree_io_parameter_index_t* index = parse(b->data, b->size);
  assert_non_null(index);
  assert_int_equal(iree_io_parameter_index_count(index), count);
  expect_entry(index, "w", weights, 16);
  expect_entry(index, "v", weights + 2, 8);
  assert_null(find(index, "x"));
  iree_io_parameter_index_release(index);
}

// Every entry of the archive, if it is one, lies inside.
static void expect_inside(const uint8_t* data, size_t size) {
  iree_io_parameter_index_t* index = parse(data, size);
  for (iree_host_size_t i = 0; index && i < iree_io_parameter_index_count(index); ++i) {
    const iree_io_parameter_index_entry_t* entry = NULL;
    assert_true(iree_status_is_ok(iree_io_parameter_index_get(index, i, &entry)));
    if (entry->type == IREE_IO_PARAMETER_INDEX_ENTRY_STORAGE_TYPE_FILE) {
      assert_true(entry->storage.file.offset <= size && entry->length <= size - entry->storage.file.offset);
    } else {
      assert_in_range(entry->storage.splat.pattern_length, 1, IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH);
    }
  }
  iree_io_parameter_index_release(index);
}

static void expect_robust(const bytes_t* b) {
  for (size_t size = 0; size <= b->size; ++size) {
    uint8_t* part = malloc(size + 1);  // exactly as long, so that a checker sees every access behind it
    memcpy(part, b->data, size);
    expect_inside(part, size);
    if (size < b->size - 16) assert_null(parse(part, size));
    free(part);
  }
  static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
  for (size_t i = 0; i < b->size; ++i) {
    for (size_t k = 0; k < sizeof(values); ++k) {
      bytes_t changed = *b;
      changed.data[i] = values[k];
      expect_inside(changed.data, changed.size);
    }
  }
}

static void reads_irpa(void** state) {
  bytes_t b = {.size = 0};
  make_irpa(&b);
  expect_contents(&b, 3);
  iree_io_parameter_index_t* index = parse(b.data, b.size);
  expect_entry(index, "p", "\7\10\11\7\10\11\7\10", 8);
  iree_io_parameter_index_release(index);
  expect_robust(&b);
}

static void reads_safetensors(void** state) {
  bytes_t b = {.size = 0};
  make_safetensors(&b);
  expect_contents(&b, 2);
  expect_robust(&b);
}

static void reads_gguf(void** state) {
  bytes_t b = {.size = 0};
  make_gguf(&b);
  expect_contents(&b, 2);
  expect_robust(&b);
}

static void refuses_others(void** state) {
  assert_null(parse((const uint8_t*)"PK\3\4 and more of it", 20));
  assert_null(parse(NULL, 0));
}

// Headers that all have the same rows, and rows that all have the same long name.
static void shared_rows(void** state) {
  (void)state;
  enum { HEADERS = 64, ROWS = 64, NAME = 4096, TABLE = HEADERS * 88, NAMES = TABLE + ROWS * 80 };
  static bytes_t b;
  for (int shared = 0; shared < 2; ++shared) {
    size_t size = NAMES + NAME;
    uint8_t* data = calloc(1, size);
    int headers = shared ? 1 : HEADERS;
    for (int i = 0; i < headers; ++i) {
      b.size = 0;
      uint64_t base = (uint64_t)i * 88;
      put_irpa_header(&b, i + 1 < headers ? 88 : 0, ROWS,
                      (const uint64_t[]){TABLE - base, ROWS * 80, NAMES - base, NAME, 0, 0});
      memcpy(data + base, b.data, b.size);
    }
    for (int i = 0; i < ROWS; ++i) {
      b.size = 0;
      put_irpa_row(&b, 76, 2, 0);
      pad_to(&b, 80);
      uint64_t name_size = shared ? NAME : 1;
      memcpy(b.data + 28, &name_size, 8);
      memcpy(data + TABLE + i * 80, b.data, 80);
    }
    iree_status_code_t code = IREE_STATUS_OK;
    assert_null(parse_as(data, size, &code));
    assert_int_equal(code, IREE_STATUS_INVALID_ARGUMENT);
    free(data);
  }
}

// The first of two entries with the same name counts, wherever sorting would put it.
static void same_name_twice(void** state) {
  (void)state;
  bytes_t b = {.size = 0};
  put_text(&b, "{\"w\":{\"data_offsets\":[0,4]},\"a\":{\"data_offsets\":[4,8]},\"w\":{\"data_offsets\":[8,16]}}");
  put(&b, weights, 16);
  iree_io_parameter_index_t* index = parse(b.data, b.size);
  assert_non_null(index);
  assert_int_equal(iree_io_parameter_index_count(index), 2);
  assert_int_equal(find(index, "w")->length, 4);
  iree_io_parameter_index_release(index);
}

// A reader for one format takes no other; contents in other files are refused by name.
static void wanted_format(void** state) {
  bytes_t b = {.size = 0};
  iree_io_file_handle_t* handle = NULL;
  iree_io_parameter_index_t* index = NULL;
  make_irpa(&b);
  assert_true(iree_status_is_ok(iree_io_parameter_index_create(iree_allocator_system(), &index)));
  assert_true(iree_status_is_ok(iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ, iree_make_byte_span(b.data, b.size), iree_io_file_handle_release_callback_null(),
      iree_allocator_system(), &handle)));
  assert_int_equal(iree_status_consume_code(iree_io_parse_gguf_index(handle, index, iree_allocator_system())),
                   IREE_STATUS_INVALID_ARGUMENT);
  assert_int_equal(iree_status_consume_code(iree_io_parse_irpa_index(handle, index, iree_allocator_system())),
                   IREE_STATUS_OK);
  assert_int_equal(iree_io_parameter_index_count(index), 3);
  b.data[96 + 8] = 3;
  iree_status_code_t code = IREE_STATUS_OK;
  assert_null(parse_as(b.data, b.size, &code));
  assert_int_equal(code, IREE_STATUS_UNIMPLEMENTED);
  iree_io_file_handle_release(handle);
  iree_io_parameter_index_release(index);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wanted_format),   cmocka_unit_test(reads_irpa),        cmocka_unit_test(shared_rows),
      cmocka_unit_test(same_name_twice), cmocka_unit_test(reads_safetensors), cmocka_unit_test(reads_gguf),
      cmocka_unit_test(refuses_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
