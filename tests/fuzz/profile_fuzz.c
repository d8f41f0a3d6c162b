// Profiles, or rows of their export: no bytes may crash the readers, and what they read all reports print and all
// traces show.
#include <stdint.h>

#include "limited_allocator.h"
#include "tooling/profile/render.h"
#include "tooling/profile/reports.h"
#include "tooling/profile/rows_read.h"

static void print(const profile_bundle_t* bundle, FILE* file, bool is_json) {
  iree_host_size_t count = 0;
  const profile_report_t* reports = profile_reports(&count);
  for (iree_host_size_t i = 0; i < count; ++i) {
    profile_request_t request = {.bundle = bundle,
                                 .file = file,
                                 .is_json = is_json || reports[i].print == profile_report_export,
                                 .selection = {IREE_SV("*"), -1}};
    iree_status_ignore(reports[i].print(&request));
    request.dispatch_events = request.counter_samples = request.is_json;
    iree_status_ignore(reports[i].print(&request));
  }
}

static void look(const void* data, size_t size, iree_allocator_t allocator) {
  static FILE* sink;
  profile_bundle_t bundle;
  profile_render_counts_t counts;
  if (!sink) sink = fopen("/dev/null", "w");
  iree_status_t status = profile_bundle_open(iree_make_const_byte_span(data, size), allocator, &bundle);
  if (iree_status_is_ok(status)) {
    print(&bundle, sink, false);
    print(&bundle, sink, true);
    iree_status_ignore(profile_render_json(&bundle, sink, &counts));
    iree_status_ignore(profile_render_perfetto(&bundle, sink, &counts));
  }
  iree_status_ignore(status);
  profile_bundle_close(&bundle);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t used = 0;
  iree_allocator_t allocator = limited_allocator(&used);
  bytes_t file = bytes_make(allocator);
  iree_status_t status = iree_ok_status();
  bool is_rows = size && data[0] == '{';
  if (is_rows) status = profile_rows_read(iree_make_string_view((const char*)data, size), &file);
  if (iree_status_is_ok(status)) look(is_rows ? (const void*)file.data : data, is_rows ? file.size : size, allocator);
  iree_status_ignore(status);
  bytes_free(&file);
  if (used) abort();
  return 0;
}
