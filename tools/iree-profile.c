// Reports on profiles of devices.

#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"
#include "tooling/guides.h"
#include "tooling/profile/reports.h"

IREE_FLAG(string, format, "", "`text` or `jsonl`, a row a line; of `export`: `ireeperf-jsonl`; of `report`: `html`.")
IREE_FLAG(string, filter, "*", "Pattern of functions, commands, or types of events, such as `*softmax*`.")
IREE_FLAG(int64_t, id, -1, "Only this event, executable, command buffer, submission or allocation.")
IREE_FLAG(bool, dispatch_events, false, "Each dispatch, not only sums; with --format=jsonl.")
IREE_FLAG(bool, counter_samples, false, "Each sample of counters, not only sums; with --format=jsonl.")
IREE_FLAG(double, peak_gflops, 0, "Of `report`: what the device computes at most, 10^9 operations a second.")
IREE_FLAG(double, peak_gbps, 0, "Of `report`: what the device's memory moves at most, 10^9 bytes a second.")
IREE_FLAG(
    string, rocm_library_path, "",
    "No value but an empty one: traces of software GPUs are decoded without ROCm's decoder, those of hardware not.");
IREE_FLAG(string, output, "-", "File of the report; `-`: standard output.")

static void print_usage(FILE* file) {
  iree_host_size_t count = 0;
  const profile_report_t* reports = profile_reports(&count);
  fprintf(file,
          "Reports on profiles of devices.\n\nUsage: iree-profile COMMAND [--format=text|jsonl] FILE.ireeprof\n"
          "       iree-profile report --output=page.html FILE.ireeprof [FILE.ireeprof to compare with]\n\n");
  for (iree_host_size_t i = 0; i < count; ++i) fprintf(file, "  %-12s %s\n", reports[i].name, reports[i].help);
}

// Whether a list has a word.
static bool has_word(iree_string_view_t list, char separator, iree_string_view_t word) {
  while (list.size) {
    iree_string_view_t one;
    iree_string_view_split(list, separator, &one, &list);
    if (iree_string_view_equal(one, word)) return true;
  }
  return false;
}

// What is asked of a command has to be among what it takes.
static iree_status_t check_options(const profile_report_t* report) {
  const struct {
    const char* name;
    bool is_given;
  } options[] = {
      {"filter", strcmp(FLAG_filter, "*") != 0}, {"id", FLAG_id >= 0},
      {"dispatch_events", FLAG_dispatch_events}, {"counter_samples", FLAG_counter_samples},
      {"peak_gflops", FLAG_peak_gflops != 0},    {"peak_gbps", FLAG_peak_gbps != 0},
  };
  for (size_t i = 0; i < IREE_ARRAYSIZE(options); ++i) {
    if (options[i].is_given &&
        !has_word(iree_make_cstring_view(report->options), ' ', iree_make_cstring_view(options[i].name))) {
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "iree-profile command '%s' does not support --%s",
                              report->name, options[i].name);
    }
  }
  return iree_ok_status();
}

static iree_status_t read_request(const profile_report_t* report, profile_request_t* request) {
  iree_string_view_t formats = iree_make_cstring_view(report->formats), format, rest;
  iree_string_view_split(formats, '|', &format, &rest);  // the default
  if (FLAG_format[0]) format = iree_make_cstring_view(FLAG_format);
  if (!has_word(formats, '|', format)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "iree-profile command '%s' does not support --format=%.*s",
                            report->name, (int)format.size, format.data);
  }
  IREE_RETURN_IF_ERROR(check_options(report));
  request->is_json = iree_string_view_ends_with(format, IREE_SV("jsonl"));
  if (!request->is_json && (FLAG_dispatch_events || FLAG_counter_samples)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--%s requires --format=jsonl",
                            FLAG_dispatch_events ? "dispatch_events" : "counter_samples");
  }
  if (!(FLAG_peak_gflops >= 0 && FLAG_peak_gbps >= 0)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--peak_gflops= and --peak_gbps= are not negative");
  }
  request->selection = (profile_selection_t){iree_make_cstring_view(FLAG_filter), FLAG_id};
  request->dispatch_events = FLAG_dispatch_events;
  request->counter_samples = FLAG_counter_samples;
  request->peak_gflops = FLAG_peak_gflops;
  request->peak_gbps = FLAG_peak_gbps;
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

static iree_status_t unknown_command(const char* command) {
  iree_host_size_t count = 0;
  const profile_report_t* reports = profile_reports(&count);
  near_t near = near_begin(command, strlen(command));
  for (iree_host_size_t i = 0; i < count; ++i) near_offer(&near, reports[i].name);
  const char* meant = near_result(&near);
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "unsupported iree-profile command '%s'; %s%s%siree-profile alone lists them", command,
                          meant ? "did you mean '" : "", meant ? meant : "", meant ? "'? " : "");
}

// A file's bytes and what they are.
typedef struct profile_t {
  iree_io_file_contents_t* contents;
  profile_bundle_t bundle;
} profile_t;

static iree_status_t open_profile(const char* path, profile_t* profile) {
  *profile = (profile_t){.bundle.allocator = iree_allocator_system()};
  IREE_RETURN_IF_ERROR(
      iree_io_file_contents_read(iree_make_cstring_view(path), iree_allocator_system(), &profile->contents));
  iree_status_t status =
      profile_bundle_open(profile->contents->const_buffer, iree_allocator_system(), &profile->bundle);
  return iree_status_annotate_f(status, "reading '%s'", path);
}

static void close_profile(profile_t* profile) {
  profile_bundle_close(&profile->bundle);
  iree_io_file_contents_free(profile->contents);
}

// `other`, which may be NULL, is the path of a profile to compare with.
static iree_status_t run(const char* command, const char* path, const char* other) {
  if (FLAG_rocm_library_path[0]) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "--rocm_library_path: ROCm's decoder is not used; traces of software GPUs need none");
  }
  const profile_report_t* report = profile_report_find(iree_make_cstring_view(command));
  profile_request_t request = {.path = iree_make_cstring_view(path)};
  if (!report) return unknown_command(command);
  if (other && report->print != profile_report_report) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "iree-profile command '%s' takes one profile, not also '%s'",
                            command, other);
  }
  IREE_RETURN_IF_ERROR(read_request(report, &request));
  profile_t profile, second = {.bundle.allocator = iree_allocator_system()};
  iree_status_t status = open_profile(path, &profile);
  request.bundle = &profile.bundle;
  if (iree_status_is_ok(status) && other) {
    status = open_profile(other, &second);
    request.other = &second.bundle;
    request.other_path = iree_make_cstring_view(other);
  }
  if (iree_status_is_ok(status)) status = write_report(report, &request);
  close_profile(&second);
  close_profile(&profile);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-profile", "Reports on profiles of devices: iree-profile COMMAND FILE.ireeprof\n");
  flags_set_guide(guide_profile_md);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "Error: expected profile bundle path.\n");
    print_usage(stderr);
    return EXIT_FAILURE;
  }
  iree_status_t status = run(argv[1], argv[2], argc == 4 ? argv[3] : NULL);
  if (iree_status_is_ok(status)) return EXIT_SUCCESS;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
