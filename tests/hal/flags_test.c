// Command line flags: forms of arguments, flagfiles, errors.
#include "iree/base/tooling/flags.h"

#include <unistd.h>

#include "hal_test.h"
#include "iree/io/file_contents.h"

IREE_FLAG(bool, a_bool, false, "A bool.");
IREE_FLAG(int32_t, an_int32, 3, "An int32.");
IREE_FLAG(int64_t, an_int64, 0, "An int64.");
IREE_FLAG(float, a_float, 0.5f, "A float.");
IREE_FLAG(double, a_double, 0, "A double.");
IREE_FLAG(string, a_string, "default", "A string.");
IREE_FLAG_LIST(string, a_list, "A list.\nWith two lines.");

static iree_status_t parse(iree_flags_parse_mode_t mode, int* argc, char** argv) {
  for (*argc = 0; argv[*argc];) ++*argc;
  return iree_flags_parse(mode, argc, &argv);
}

static void forms(void** state) {
  char* argv[] = {"program",
                  "--a_bool",
                  "positional",
                  "--an_int32=-7",
                  "--an_int64 = 123456789012 ",
                  "-x=1",
                  "--a_float=1.5",
                  "--a_string=\"quoted text\"",
                  "--a_double=1e3",
                  "--",
                  "--not_a_flag",
                  NULL};
  int argc = 0;
  CHECK_OK(parse(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, argv));
  assert_true(FLAG_a_bool);
  assert_int_equal(FLAG_an_int32, -7);
  assert_int_equal(FLAG_an_int64, 123456789012);
  assert_true(FLAG_a_float == 1.5f && FLAG_a_double == 1000);
  assert_string_equal(FLAG_a_string, "quoted text");
  assert_int_equal(argc, 4);
  assert_string_equal(argv[1], "positional");
  assert_string_equal(argv[2], "-x=1");
  assert_string_equal(argv[3], "--not_a_flag");
  assert_null(argv[4]);
}

static void values(void** state) {
  char* argv[] = {"program", "--a_bool=1", "--a_string", "--a_list=x", "--a_list=", "--a_list=z=1", NULL};
  int argc = 0;
  CHECK_OK(parse(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, argv));
  assert_true(FLAG_a_bool);
  assert_string_equal(FLAG_a_string, "");
  iree_flag_string_list_t list = FLAG_a_list_list();
  assert_int_equal(list.count, 3);
  CHECK_TEXT(list.values[0], "x");
  CHECK_TEXT(list.values[1], "");
  CHECK_TEXT(list.values[2], "z=1");
  char* no[] = {"program", "--a_bool=false", NULL};
  CHECK_OK(parse(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, no));
  assert_false(FLAG_a_bool);
}

static void wrong_values(void** state) {
  static const struct {
    char* argument;
    const char* message;
  } cases[] = {{"--a_bool=yes", "--a_bool= takes true, false, 1 or 0; got 'yes'"},
               {"--an_int32=1x", "--an_int32= takes an integer; got '1x'"},
               {"--an_int32=", "--an_int32= takes an integer; got ''"},
               {"--an_int32=2147483648", "--an_int32= takes an integer; got '2147483648'"},
               {"--an_int64=99999999999999999999", "--an_int64= takes an integer; got '99999999999999999999'"},
               {"--a_float=half", "--a_float= takes a number; got 'half'"},
               {"--a_double=1,5", "--a_double= takes a number; got '1,5'"}};
  for (size_t i = 0; i < IREE_ARRAYSIZE(cases); ++i) {
    char text[256];
    int argc = 0;
    char* argv[] = {"program", cases[i].argument, NULL};
    iree_status_t status = parse(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, argv);
    iree_status_format(status, sizeof(text), text, NULL);
    assert_non_null(strstr(text, cases[i].message));
    iree_status_free(status);
  }
}

static void unknown(void** state) {
  char text[256];
  int argc = 0;
  char* argv[] = {"program", "--nope=1", NULL};
  iree_status_t status = parse(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, argv);
  iree_status_format(status, sizeof(text), text, NULL);
  assert_non_null(strstr(text, "INVALID_ARGUMENT; flag 'nope' not recognized"));
  iree_status_free(status);
  CHECK_OK(parse(IREE_FLAGS_PARSE_MODE_UNDEFINED_OK, &argc, argv));
  assert_int_equal(argc, 2);
  assert_string_equal(argv[1], "--nope=1");
}

static void flagfiles(void** state) {
  static const char contents[] = "# a comment\n// another\n\n  --an_int32=42  \n--a_string=from file\n";
  static const char positional[] = "--an_int32=1\n\nword\n";
  char path[] = "/tmp/iree_flags_XXXXXX", flag[64], text[512];
  int argc = 0, fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  snprintf(flag, sizeof(flag), "--flagfile=%s", path);
  char* argv[] = {"program", flag, NULL};
  CHECK_OK(iree_io_file_contents_write(iree_make_cstring_view(path),
                                       iree_make_const_byte_span(contents, strlen(contents)), iree_allocator_system()));
  CHECK_OK(parse(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, argv));
  assert_int_equal(FLAG_an_int32, 42);
  assert_string_equal(FLAG_a_string, "from file");
  char* again[] = {"program", flag, NULL};
  CHECK_OK(iree_io_file_contents_write(iree_make_cstring_view(path),
                                       iree_make_const_byte_span(positional, strlen(positional)),
                                       iree_allocator_system()));
  iree_status_t status = parse(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, again);
  iree_status_format(status, sizeof(text), text, NULL);
  assert_non_null(strstr(text, ":3: positional arguments not allowed in flag files"));
  iree_status_free(status);
  unlink(path);
  char* missing[] = {"program", "--flagfile=/no/such/file", NULL};
  CHECK_CODE(NOT_FOUND, parse(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, missing));
}

// What --help prints is a flagfile.
static void dump(void** state) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  FLAG_an_int32 = 5;
  iree_flags_dump(IREE_FLAG_DUMP_MODE_VERBOSE, file);
  fclose(file);
  assert_non_null(strstr(text, "# Flags in tests/hal/flags_test.c\n"));
  assert_non_null(strstr(text, "# An int32.\n--an_int32=5\n"));
  assert_non_null(strstr(text, "# A list.\n# With two lines.\n--a_list=\"x\"\n"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forms),        cmocka_unit_test(values),
                                     cmocka_unit_test(wrong_values), cmocka_unit_test(unknown),
                                     cmocka_unit_test(flagfiles),    cmocka_unit_test(dump)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
