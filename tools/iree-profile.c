// Reports on profiles of devices.

#include <stdlib.h>

#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"
#include "tooling/profile/reports.h"

IREE_FLAG(string, format, "", "`text` or `jsonl`, a row a line; of `export`: `ireeperf-jsonl`.")
IREE_FLAG(string, filter, "*", "Pattern of functions, commands, or types of events, such as `*softmax*`.")
IREE_FLAG(int64_t, id, -1, "Only this event, executable, command buffer, submission or allocation.")
IREE_FLAG(bool, dispatch_events, false, "Each dispatch, not only sums; with --format=jsonl.")
IREE_FLAG(bool, counter_samples, false, "Each sample of counters, not only sums; with --format=jsonl.")
IREE_FLAG(string, output, "-", "File of the report; `-`: standard output.")

static void print_usage(FILE* file) {
  iree_host_size_t count = 0;
  const profile_report_t* reports = profile_reports(&count);
  fprintf(file,
          "Reports on profiles of devices.\n\nUsage: iree-profile COMMAND [--format=text|jsonl] FILE.ireeprof\n\n");
  for (iree_host_size_t i = 0; i < count; ++i) fprintf(file, "  %-12s %s\n", reports[i].name, reports[i].help);
}

static iree_status_t read_request(const profile_report_t* report, profile_request_t* request) {
  iree_string_view_t format = iree_make_cstring_view(FLAG_format);
  bool is_export = report->print == profile_report_export;
  if (!format.size) format = is_export ? IREE_SV("ireeperf-jsonl") : IREE_SV("text");
  bool is_text = iree_string_view_equal(format, IREE_SV("text"));
  request->is_json = iree_string_view_equal(format, is_export ? IREE_SV("ireeperf-jsonl") : IREE_SV("jsonl"));
  if (!request->is_json && (is_export || !is_text)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "iree-profile command '%s' does not support --format=%.*s",
                            report->name, (int)format.size, format.data);
  }
  if (!request->is_json && (FLAG_dispatch_events || FLAG_counter_samples)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s requires --format=jsonl",
                            FLAG_dispatch_events ? "dispatch_events" : "counter_samples");
  }
  request->selection = (profile_selection_t){iree_make_cstring_view(FLAG_filter), FLAG_id};
  request->dispatch_events = FLAG_dispatch_events;
  request->counter_samples = FLAG_counter_samples;
  return iree_ok_status();
}

static iree_status_t write_report(const profile_report_t* report, profile_request_t* request) {
  bool is_stdout = strcmp(FLAG_output, "-") == 0;
  request->file = is_stdout ? stdout : fopen(FLAG_output, "wb");
  if (!request->file) return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "cannot write '%s'", FLAG_output);
  iree_status_t status = report->print(request);
  bool is_written = fflush(request->file) == 0 && !ferror(request->file);
  if (!is_stdout) is_written &= fclose(request->file) == 0;
  if (!is_written && iree_status_is_ok(status)) {
    status = iree_make_status(IREE_STATUS_DATA_LOSS, "cannot write the report");
  }
  return status;
}

static iree_status_t run(const char* command, const char* path) {
  const profile_report_t* report = profile_report_find(iree_make_cstring_view(command));
  profile_request_t request = {0};
  if (!report) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "unsupported iree-profile command '%s'", command);
  IREE_RETURN_IF_ERROR(read_request(report, &request));
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read(iree_make_cstring_view(path), iree_allocator_system(), &contents));
  profile_bundle_t bundle;
  iree_status_t status = profile_bundle_open(contents->const_buffer, iree_allocator_system(), &bundle);
  request.bundle = &bundle;
  status =
      iree_status_is_ok(status) ? write_report(report, &request) : iree_status_annotate_f(status, "reading '%s'", path);
  profile_bundle_close(&bundle);
  iree_io_file_contents_free(contents);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-profile", "Reports on profiles of devices: iree-profile COMMAND FILE.ireeprof\n");
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  if (argc != 3) {
    fprintf(stderr, "Error: expected profile bundle path.\n");
    print_usage(stderr);
    return EXIT_FAILURE;
  }
  iree_status_t status = run(argv[1], argv[2]);
  if (iree_status_is_ok(status)) return EXIT_SUCCESS;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
