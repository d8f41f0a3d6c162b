// What iree-profile prints of a profile: reports in text or JSON lines, or as a page.
#ifndef TOOLING_PROFILE_REPORTS_H_
#define TOOLING_PROFILE_REPORTS_H_

#include "tooling/profile/groups.h"

typedef struct profile_request_t {
  const profile_bundle_t* bundle;
  FILE* file;
  bool is_json;
  profile_selection_t selection;
  bool dispatch_events;  // single ones; JSON only
  bool counter_samples;  // likewise
  // Of pages only.
  iree_string_view_t path;
  const profile_bundle_t* other;  // to compare with; may be NULL
  iree_string_view_t other_path;
  double peak_gflops, peak_gbps;  // of the device; 0: not known
} profile_request_t;

// A command by its name, as rows of reports.def have it; NULL: there is none.
typedef struct profile_report_t {
  const char* name;
  const char* formats;  // "text|jsonl"
  const char* options;  // "filter id", those that it takes of what not all commands do
  const char* help;
  iree_status_t (*print)(const profile_request_t* request);
} profile_report_t;
const profile_report_t* profile_report_find(iree_string_view_t name);
const profile_report_t* profile_reports(iree_host_size_t* out_count);

static inline profile_printer_t profile_printer(const profile_request_t* request) {
  return (profile_printer_t){.bundle = request->bundle, .out = {.file = request->file}};
}
// Prints a row for each record of a kind.
void profile_print_kind(const profile_request_t* request, profile_kind_t kind);

#define REPORT(name, formats, options, help) iree_status_t profile_report_##name(const profile_request_t* request);
#include "tooling/profile/reports.def"

#endif  // TOOLING_PROFILE_REPORTS_H_
