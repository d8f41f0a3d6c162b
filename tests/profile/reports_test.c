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
#include "tooling/profile/work.h"

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
    if (!strstr(reports[i].formats, is_json ? "jsonl" : "text")) continue;
    if (reports[i].print == profile_report_att) continue;  // these have no traces (traces.py)
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

// What names of kernels tell of their work.
static void work_of_names(void** state) {
  static const struct {
    const char* name;
    double flops, bytes;  // -1: not told
  } cases[] = {
      {"main_dispatch_0_matmul_64x32x16_f32", 2. * 64 * 32 * 16, 4 * (64 * 16 + 16 * 32 + 64 * 32)},
      {"a_dispatch_b_dispatch_12_matmul_2x3x4_f16xf16xf32", 2. * 24, 2 * (8 + 12) + 4 * 6},
      {"main_dispatch_0_batch_matmul_5x2x3x4_f8E4M3FNxf8E4M3FNxf32", 2. * 120, 5 * (8 + 12 + 4 * 6)},
      {"main_dispatch_0_matmul_transpose_b_2x3x4_i8xi8xi32", 2. * 24, 8 + 12 + 4 * 6},
      {"main_dispatch_0_conv_1x32x7x7x16x3x3_f32", 2. * 32 * 49 * 16 * 9, -1},
      {"main_dispatch_0_matmul_2x2x3x4_f32", 2. * 48, -1},
      {"main_dispatch_0_matmul_Dx3x4_f32", -1, -1},
      {"main_dispatch_0_matmul_2x3x4_f32xf32", -1, -1},
      {"main_dispatch_0_elementwise_64_f32", -1, -1},
      {"conv_dispatch_0_elementwise_64_f32", -1, -1},
      {"matmul_2x3x4_f32", -1, -1},
      {"_dispatch_", -1, -1},
      {"", -1, -1},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(cases); ++i) {
    profile_work_t work = profile_work_of_name(iree_make_cstring_view(cases[i].name));
    if ((work.has_flops ? work.flops : -1) == cases[i].flops && (work.has_bytes ? work.bytes : -1) == cases[i].bytes) {
      continue;
    }
    fail_msg("%s: %g operations, %g bytes", cases[i].name, work.flops, work.bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_text), cmocka_unit_test(cut_off), cmocka_unit_test(damaged),
                                     cmocka_unit_test(work_of_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
