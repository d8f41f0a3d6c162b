// IREE's containers of executables: what is in them, and those that are damaged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <string.h>

#include "../../cts/container.h"
#include "hal/gpu/container.h"

static iree_byte_span_t make(const char* identifier, uint32_t field) {
  return container_make(identifier, field, iree_make_const_byte_span("machine", 7));
}

static void contents(void** state) {
  static const struct {
    const char* identifier;
    uint32_t field;
    const char* format;
  } rows[] = {{"HIP1", 1, "rocm-hsaco-fb"}, {"CDA1", 1, "cuda-nvptx-fb"}, {"AMD1", 2, ""}};
  for (size_t i = 0; i < 3; ++i) {
    iree_byte_span_t container = make(rows[i].identifier, rows[i].field);
    iree_string_view_t format;
    iree_const_byte_span_t code;
    IREE_CHECK_OK(gpu_container_open(iree_const_cast_byte_span(container), &code, &format));
    assert_true(iree_string_view_equal(format, iree_make_cstring_view(rows[i].format)));
    assert_int_equal(code.data_length, 7);
    assert_memory_equal(code.data, "machine", 7);
    free(container.data);
  }
}

static void no_container(void** state) {
  iree_string_view_t format;
  iree_const_byte_span_t code, data = iree_make_const_byte_span("\177ELF", 4);
  IREE_CHECK_OK(gpu_container_open(data, &code, &format));
  assert_ptr_equal(code.data, data.data);
  assert_int_equal(format.size, 0);
}

static void expect(iree_byte_span_t container, size_t size, iree_status_code_t code) {
  iree_const_byte_span_t inner;
  iree_string_view_t format;
  iree_status_t status = gpu_container_open(iree_make_const_byte_span(container.data, size), &inner, &format);
  assert_int_equal(iree_status_consume_code(status), code);
}

// With another word in the tables.
static void expect_word(uint32_t word, uint32_t value, iree_status_code_t code) {
  iree_byte_span_t container = make("HIP1", 1);
  memcpy(container.data + (CONTAINER_HEADER_WORDS + word) * sizeof(value), &value, sizeof(value));
  expect(container, container.data_length, code);
  free(container.data);
}

static void damaged(void** state) {
  iree_byte_span_t container = make("HIP1", 1);
  expect(container, container.data_length, IREE_STATUS_OK);
  expect(container, container.data_length - 1, IREE_STATUS_INVALID_ARGUMENT);
  expect(container, 4, IREE_STATUS_INVALID_ARGUMENT);
  free(container.data);
  expect_word(5, 2, IREE_STATUS_UNIMPLEMENTED);
  const struct {
    uint32_t word, value;
  } rows[] = {{0, 0}, {0, 1000}, {2, 100}, {2, 0x80000000}, {3, 0},  {3, 0xffffffff},
              {6, 0}, {8, 4},    {13, 72}, {15, 0},         {16, 9}, {16, 0xffffffff}};
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    expect_word(rows[i].word, rows[i].value, IREE_STATUS_INVALID_ARGUMENT);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(contents), cmocka_unit_test(no_container),
                                     cmocka_unit_test(damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
