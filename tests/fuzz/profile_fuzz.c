// Profiles: no bytes may crash the reader, and what it reads all reports print.
#include <stdint.h>

#include "limited_allocator.h"
#include "tooling/profile/reports.h"

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

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static FILE* sink;
  size_t used = 0;
  profile_bundle_t bundle;
  if (!sink) sink = fopen("/dev/null", "w");
  iree_status_t status = profile_bundle_open(iree_make_const_byte_span(data, size), limited_allocator(&used), &bundle);
  if (iree_status_is_ok(status)) {
    print(&bundle, sink, false);
    print(&bundle, sink, true);
  }
  iree_status_ignore(status);
  profile_bundle_close(&bundle);
  if (used) abort();
  return 0;
}
