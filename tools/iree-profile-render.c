// Makes a profile a trace that Perfetto opens.

#include <stdlib.h>

#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"
#include "tooling/profile/render.h"

IREE_FLAG(string, o, "", "File of the trace; `-`: standard output.")
IREE_FLAG(string, f, "perfetto", "Format: `perfetto`, the JSON that https://ui.perfetto.dev and chrome://tracing open.")
IREE_FLAG(bool, quiet, false, "Does not print what was written.")

static iree_status_t write_trace(const profile_bundle_t* bundle) {
  profile_render_counts_t counts;
  bool is_stdout = strcmp(FLAG_o, "-") == 0;
  FILE* file = is_stdout ? stdout : fopen(FLAG_o, "wb");
  if (!file) return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "cannot write '%s'", FLAG_o);
  iree_status_t status = profile_render(bundle, file, &counts);
  bool is_written = fflush(file) == 0 && !ferror(file);
  if (!is_stdout) is_written &= fclose(file) == 0;
  IREE_RETURN_IF_ERROR(status);
  if (!is_written) return iree_make_status(IREE_STATUS_DATA_LOSS, "cannot write the trace");
  if (!FLAG_quiet) {
    fprintf(stderr, "wrote %s (slices=%" PRIu64 ", instants=%" PRIu64 ", counter_samples=%" PRIu64 ")\n", FLAG_o,
            counts.slices, counts.instants, counts.samples);
  }
  return iree_ok_status();
}

static iree_status_t run(const char* path) {
  if (!FLAG_o[0]) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--o=FILE is needed");
  if (strcmp(FLAG_f, "perfetto") != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--f=%s is not known; --f=perfetto is", FLAG_f);
  }
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read(iree_make_cstring_view(path), iree_allocator_system(), &contents));
  profile_bundle_t bundle;
  iree_status_t status = profile_bundle_open(contents->const_buffer, iree_allocator_system(), &bundle);
  status = iree_status_is_ok(status) ? write_trace(&bundle) : iree_status_annotate_f(status, "reading '%s'", path);
  profile_bundle_close(&bundle);
  iree_io_file_contents_free(contents);
  return status;
}

// `-o FILE` and `-f FORMAT`, as IREE's tool has them, become one argument each.
static void join_short_flags(int* argc, char** argv) {
  int count = 1;
  for (int i = 1; i < *argc; ++i) {
    bool is_short = i + 1 < *argc && (strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "-f") == 0);
    size_t size = is_short ? strlen(argv[i + 1]) + 5 : 0;
    char* joined = is_short ? malloc(size) : argv[i];  // lives as long as the flags
    if (is_short && joined) {
      snprintf(joined, size, "--%c=%s", argv[i][1], argv[i + 1]);
      ++i;
    }
    argv[count++] = joined ? joined : argv[i];
  }
  *argc = count;
}

int main(int argc, char** argv) {
  join_short_flags(&argc, argv);
  iree_flags_set_usage("iree-profile-render",
                       "Makes a profile a trace: iree-profile-render --o=trace.json profile.ireeprof\n");
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status =
      argc == 2 ? run(argv[1]) : iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "expected one profile bundle path");
  if (iree_status_is_ok(status)) return EXIT_SUCCESS;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
