// IREE's containers of executables: what is in them, and those that are damaged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <string.h>

#include "hal/gpu/container.h"

// A container whose root table has the modules in `field`; the FlatBuffer's places are those of `words`.
typedef struct container_t {
  uint32_t header[16];
  uint32_t words[17];
  char code[8];
} container_t;

static uint32_t pair(uint32_t low, uint32_t high) { return high << 16 | low; }

static container_t make(const char* identifier, uint32_t field) {
  container_t c = {
      .header = {[2] = sizeof(c.words) + sizeof(c.code)},
      .words = {[0] = 8,  // root
                [2] = (uint32_t)(8 - 32),
                [3] = 8,  // table: its fields, one of them
                [5] = 1,
                [6] = 24,                      // modules
                [8] = pair(6 + 2 * field, 8),  // fields of the root
                [12] = (uint32_t)(48 - 56),
                [13] = 12,  // module
                [14] = pair(6, 8),
                [15] = 4,  // its fields
                [16] = 7},
      .code = "machine",
  };
  uint16_t at = 4;
  memcpy((uint8_t*)&c.words[9] + 2 * field, &at, sizeof(at));
  memcpy(c.header, identifier, 4);
  memcpy(&c.words[1], identifier, 4);
  return c;
}

static iree_status_t open(const container_t* container, size_t size, iree_const_byte_span_t* out_code) {
  iree_string_view_t format;
  return gpu_container_open(iree_make_const_byte_span(container, size), out_code, &format);
}

static void contents(void** state) {
  static const struct {
    const char* identifier;
    uint32_t field;
    const char* format;
  } rows[] = {{"HIP1", 1, "rocm-hsaco-fb"}, {"CDA1", 1, "cuda-nvptx-fb"}, {"AMD1", 2, ""}};
  for (size_t i = 0; i < 3; ++i) {
    container_t container = make(rows[i].identifier, rows[i].field);
    iree_string_view_t format;
    iree_const_byte_span_t code;
    IREE_CHECK_OK(gpu_container_open(iree_make_const_byte_span(&container, sizeof(container)), &code, &format));
    assert_true(iree_string_view_equal(format, iree_make_cstring_view(rows[i].format)));
    assert_int_equal(code.data_length, 7);
    assert_memory_equal(code.data, "machine", 7);
  }
}

static void no_container(void** state) {
  iree_string_view_t format;
  iree_const_byte_span_t code, data = iree_make_const_byte_span("\177ELF", 4);
  IREE_CHECK_OK(gpu_container_open(data, &code, &format));
  assert_ptr_equal(code.data, data.data);
  assert_int_equal(format.size, 0);
}

static void expect(const container_t* container, size_t size, iree_status_code_t code) {
  iree_const_byte_span_t inner;
  assert_int_equal(iree_status_consume_code(open(container, size, &inner)), code);
}

static void damaged(void** state) {
  container_t good = make("HIP1", 1), bad = good;
  expect(&good, sizeof(good), IREE_STATUS_OK);
  expect(&good, sizeof(good) - 1, IREE_STATUS_INVALID_ARGUMENT);
  expect(&good, 4, IREE_STATUS_INVALID_ARGUMENT);
  bad.words[5] = 2;
  expect(&bad, sizeof(bad), IREE_STATUS_UNIMPLEMENTED);
  const struct {
    uint32_t word, value;
  } rows[] = {{0, 0}, {0, 1000}, {2, 100}, {2, 0x80000000}, {3, 0},  {3, 0xffffffff},
              {6, 0}, {8, 4},    {13, 72}, {15, 0},         {16, 9}, {16, 0xffffffff}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    bad = good;
    bad.words[rows[i].word] = rows[i].value;
    expect(&bad, sizeof(bad), IREE_STATUS_INVALID_ARGUMENT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(contents), cmocka_unit_test(no_container),
                                     cmocka_unit_test(damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
