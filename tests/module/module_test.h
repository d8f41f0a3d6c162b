// What the tests of modules and of the VM share: cmocka, and checks of statuses.
#ifndef TESTS_MODULE_MODULE_TEST_H_
#define TESTS_MODULE_MODULE_TEST_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka after what it needs.
#include <cmocka.h>

#include "iree/base/api.h"
#include "module/image.h"
#include "module/writer.h"

static inline void expect_ok(iree_status_t status, const char* file, int line) {
  if (iree_status_is_ok(status)) return;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  _fail(file, line);
}
#define EXPECT_OK(expr) expect_ok((expr), __FILE__, __LINE__)

// The status has the code and its text contains `part`.
static inline void expect_status(iree_status_t status, iree_status_code_t code, const char* part, const char* file,
                                 int line) {
  char* text = NULL;
  size_t length = 0;
  iree_allocator_t allocator = iree_allocator_system();
  iree_status_code_t actual = iree_status_code(status);
  iree_status_to_string(status, &allocator, &text, &length);
  bool good = actual == code && (!part || (text && strstr(text, part)));
  if (!good) fprintf(stderr, "expected %s with '%s', got: %s\n", iree_status_code_string(code), part ? part : "", text);
  iree_allocator_free(allocator, text);
  iree_status_free(status);
  if (!good) _fail(file, line);
}
#define EXPECT_STATUS(expr, code, part) expect_status((expr), IREE_STATUS_##code, part, __FILE__, __LINE__)

#endif  // TESTS_MODULE_MODULE_TEST_H_
