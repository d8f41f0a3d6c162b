// What the unit tests of base and hal share.
#ifndef TESTS_HAL_HAL_TEST_H_
#define TESTS_HAL_HAL_TEST_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs the four above.
#include <cmocka.h>

#include "iree/base/api.h"

// Consumes a status and checks its code.
static inline void check_status(iree_status_t status, iree_status_code_t code, const char* file, int line) {
  if (iree_status_code(status) != code) {
    iree_status_fprint(stderr, status);
    _fail(file, line);
  }
  iree_status_free(status);
}
#define CHECK_OK(expr) check_status((expr), IREE_STATUS_OK, __FILE__, __LINE__)
#define CHECK_CODE(code, expr) check_status((expr), IREE_STATUS_##code, __FILE__, __LINE__)

static inline void check_text(iree_string_view_t text, const char* expected, const char* file, int line) {
  if (iree_string_view_equal(text, iree_make_cstring_view(expected))) return;
  print_error("have '%.*s', expected '%s'\n", (int)text.size, text.data, expected);
  _fail(file, line);
}
#define CHECK_TEXT(text, expected) check_text((text), (expected), __FILE__, __LINE__)

#endif  // TESTS_HAL_HAL_TEST_H_
