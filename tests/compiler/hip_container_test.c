// Containers of code objects as a reader of FlatBuffers sees them: every offset, alignment and field.
#include "compiler/hip_container.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// After those.
#include <cmocka.h>

enum { HEADER_SIZE = 64 };

static const uint8_t* buffer;
static size_t buffer_size;

static void read_aligned(size_t at, void* value, size_t size) {
  assert_int_equal(at % size, 0);
  assert_true(at + size <= buffer_size);
  memcpy(value, buffer + at, size);
}

static uint32_t word(size_t at) {
  uint32_t value = 0;
  read_aligned(at, &value, sizeof(value));
  return value;
}

static uint16_t half(size_t at) {
  uint16_t value = 0;
  read_aligned(at, &value, sizeof(value));
  return value;
}

static size_t follow(size_t at) {
  assert_true(word(at) > 0);
  return at + word(at);
}

// Where a field of a table is; it is present, and inside.
static size_t field(size_t table, unsigned index, size_t size) {
  size_t list = table - (size_t)(int64_t)(int32_t)word(table);
  assert_true(4 + 2 * index + 2 <= half(list));
  uint16_t place = half(list + 4 + 2 * index);
  assert_true(place >= 4 && place + size <= half(list + 2));
  return table + place;
}

static void check_string(size_t at, const void* data, size_t length) {
  assert_int_equal(word(at), length);
  assert_true(at + 4 + length < buffer_size);
  assert_memory_equal(buffer + at + 4, data, length);
  assert_int_equal(buffer[at + 4 + length], 0);
}

static void check_export(size_t table, const target_entry_t* entry) {
  assert_int_equal(word(field(table, 0, 4)), 0);
  check_string(follow(field(table, 1, 4)), entry->name, strlen(entry->name));
  size_t dims = field(table, 2, 12);
  for (size_t i = 0; i < 3; ++i) assert_int_equal(word(dims + 4 * i), entry->workgroup_size[i]);
  assert_int_equal(word(field(table, 3, 4)), entry->dynamic_memory_bytes);
  assert_int_equal(word(field(table, 4, 4)), entry->constant_count);
  size_t flags = follow(field(table, 5, 4));
  assert_int_equal(word(flags), entry->binding_count);
  assert_int_equal((flags + 4) % 8, 0);
  assert_true(flags + 4 + 8 * (size_t)entry->binding_count <= buffer_size);
}

static void check(target_executable_t executable) {
  arena_t arena;
  arena_init(&arena);
  hip_container_t container = hip_container_make(&arena, &executable);
  assert_memory_equal(container.data, "HIP1", 4);
  uint64_t size = 0;
  memcpy(&size, container.data + 8, sizeof(size));
  assert_int_equal(HEADER_SIZE + size, container.size);
  buffer = container.data + HEADER_SIZE;
  buffer_size = (size_t)size;
  assert_memory_equal(buffer + 4, "HIP1", 4);
  size_t root = follow(0), exports = follow(field(root, 0, 4)), modules = follow(field(root, 1, 4));
  assert_int_equal(word(exports), executable.entry_count);
  for (uint32_t i = 0; i < executable.entry_count; ++i) {
    check_export(follow(exports + 4 + 4 * (size_t)i), &executable.entries[i]);
  }
  assert_int_equal(word(modules), 1);
  size_t code = follow(field(follow(modules + 4), 0, 4));
  assert_int_equal((code + 4) % 64, 0);
  check_string(code, executable.data, executable.size);
  arena_finish(&arena);
}

static void contents(void** state) {
  char data[300];
  memset(data, 0x5a, sizeof(data));
  target_entry_t entries[] = {
      {.name = "a", .workgroup_size = {64, 1, 1}, .constant_count = 3, .binding_count = 2},
      {.name = "a_longer_name", .workgroup_size = {8, 8, 4}, .dynamic_memory_bytes = 1024, .binding_count = 7},
      {.name = "", .workgroup_size = {1, 1, 1}},
  };
  for (uint32_t count = 0; count <= 3; ++count) {
    check((target_executable_t){.data = data, .size = 300 - count, .entries = entries, .entry_count = count});
  }
  check((target_executable_t){.data = data, .entries = entries, .entry_count = 1});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(contents)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
