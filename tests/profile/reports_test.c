// Reports on a profile that IREE 3.13's runtime wrote (iree.ireeprof, of a product and a softmax on local-task): the
// same text as its iree-profile prints (iree.txt); files that are cut off or damaged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
// cmocka.h needs the four above.
#include <cmocka.h>

#include "iree/io/file_contents.h"
#include "tooling/profile/reports.h"

#define FOLDER "tests/profile/"

static iree_io_file_contents_t* read_file(const char* path) {
  iree_io_file_contents_t* contents = NULL;
  IREE_CHECK_OK(iree_io_file_contents_read(iree_make_cstring_view(path), iree_allocator_system(), &contents));
  return contents;
}

// All reports of a bundle, as text or rows.
static iree_status_t print_reports(const profile_bundle_t* bundle, FILE* file, bool is_json) {
  iree_host_size_t count = 0;
  const profile_report_t* reports = profile_reports(&count);
  for (iree_host_size_t i = 0; i < count; ++i) {
    profile_request_t request = {.bundle = bundle, .file = file, .is_json = is_json, .selection = {IREE_SV("*"), -1}};
    if (!is_json && reports[i].print == profile_report_export) continue;
    if (!is_json) fprintf(file, "## %s\n", reports[i].name);
    IREE_RETURN_IF_ERROR(reports[i].print(&request));
    request.dispatch_events = request.counter_samples = is_json;
    if (is_json) IREE_RETURN_IF_ERROR(reports[i].print(&request));
  }
  return iree_ok_status();
}

static void same_text(void** state) {
  iree_io_file_contents_t *profile = read_file(FOLDER "iree.ireeprof"), *expected = read_file(FOLDER "iree.txt");
  profile_bundle_t bundle;
  char* text = NULL;
  size_t length = 0;
  FILE* file = open_memstream(&text, &length);
  IREE_CHECK_OK(profile_bundle_open(profile->const_buffer, iree_allocator_system(), &bundle));
  IREE_CHECK_OK(print_reports(&bundle, file, /*is_json=*/false));
  fclose(file);
  const char* wanted = (const char*)expected->const_buffer.data;
  for (size_t i = 0; i < length && i < expected->const_buffer.data_length; ++i) {
    if (text[i] == wanted[i]) continue;
    while (i && text[i - 1] != '\n') --i;
    fail_msg("have '%.200s', expected '%.200s'", text + i, wanted + i);
  }
  assert_int_equal(length, expected->const_buffer.data_length);
  free(text);
  profile_bundle_close(&bundle);
  iree_io_file_contents_free(profile);
  iree_io_file_contents_free(expected);
}

// Whatever is read of the bytes is printed. Returns whether they are a profile.
static bool try_bytes(const uint8_t* data, size_t size, FILE* sink) {
  profile_bundle_t bundle;
  iree_status_t status = profile_bundle_open(iree_make_const_byte_span(data, size), iree_allocator_system(), &bundle);
  bool is_ok = iree_status_is_ok(status);
  if (is_ok) {
    IREE_CHECK_OK(print_reports(&bundle, sink, /*is_json=*/false));
    IREE_CHECK_OK(print_reports(&bundle, sink, /*is_json=*/true));
  }
  iree_status_free(status);
  profile_bundle_close(&bundle);
  return is_ok;
}

static void cut_off(void** state) {
  iree_io_file_contents_t* profile = read_file(FOLDER "iree.ireeprof");
  size_t size = profile->const_buffer.data_length;
  FILE* sink = fopen("/dev/null", "w");
  assert_true(try_bytes(profile->const_buffer.data, size, sink));
  for (size_t i = 0; i < size; i += 7) {
    uint8_t* part = malloc(i + 1);  // so that a read beyond it is seen
    memcpy(part, profile->const_buffer.data, i);
    assert_false(try_bytes(part, i, sink));
    free(part);
  }
  fclose(sink);
  iree_io_file_contents_free(profile);
}

static void damaged(void** state) {
  iree_io_file_contents_t* profile = read_file(FOLDER "iree.ireeprof");
  size_t size = profile->const_buffer.data_length, refused = 0;
  FILE* sink = fopen("/dev/null", "w");
  uint8_t* copy = malloc(size);
  for (size_t i = 0; i < size; i += 11) {
    memcpy(copy, profile->const_buffer.data, size);
    copy[i] ^= 0xA5;
    refused += !try_bytes(copy, size, sink);
  }
  assert_true(refused > 10);
  free(copy);
  fclose(sink);
  iree_io_file_contents_free(profile);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_text), cmocka_unit_test(cut_off), cmocka_unit_test(damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
