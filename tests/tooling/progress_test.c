// Progress of files on a terminal, which is a pseudo-terminal here.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// After the others.
#include <cmocka.h>

#include "base/progress.h"

enum { SIZE = 1 << 20 };

// What is drawn while a file of SIZE bytes has half of them.
static void watch_half(bool quiet, char* text, size_t capacity) {
  char path[] = "/tmp/progress-XXXXXX";
  int file = mkstemp(path), terminal = posix_openpt(O_RDWR | O_NOCTTY);
  assert_true(file >= 0 && terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  int side = open(ptsname(terminal), O_RDWR | O_NOCTTY), before = dup(STDERR_FILENO);
  assert_true(side >= 0 && before >= 0);
  static char data[SIZE / 2];
  memset(data, 1, sizeof(data));
  assert_int_equal(write(file, data, sizeof(data)), sizeof(data));
  fsync(file);
  fflush(stderr);
  dup2(side, STDERR_FILENO);
  progress_file_t watch;
  progress_file_begin(&watch, "writing", file, SIZE, quiet);
  usleep(1500000);
  progress_file_end(&watch);
  fflush(stderr);
  dup2(before, STDERR_FILENO);
  fcntl(terminal, F_SETFL, O_NONBLOCK);
  size_t size = 0;
  for (ssize_t got; (got = read(terminal, text + size, capacity - 1 - size)) > 0;) size += (size_t)got;
  text[size] = 0;
  close(before);
  close(side);
  close(terminal);
  close(file);
  unlink(path);
}

static void test_file(void** state) {
  char text[1024];
  setenv("TERM", "xterm", 1);
  watch_half(false, text, sizeof(text));
  assert_non_null(strstr(text, " 50 %  writing, "));
  assert_non_null(strstr(text, " s left"));
  assert_string_equal(text + strlen(text) - 4, "\r\033[K");  // taken away
}

static void test_quiet(void** state) {
  char text[1024];
  watch_half(true, text, sizeof(text));
  assert_string_equal(text, "");
  setenv("TERM", "dumb", 1);
  watch_half(false, text, sizeof(text));
  assert_string_equal(text, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_file), cmocka_unit_test(test_quiet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
