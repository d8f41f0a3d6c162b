// Makes a profile a trace that Perfetto opens.

#include <stdlib.h>

#include "base/whole_file.h"
#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"
#include "tooling/profile/render.h"
#include "tooling/profile/rows_read.h"

static const char usage[] =
    "Makes a profile a trace: its file, or the rows of `iree-profile export`; `-` is standard input.\n"
    "\n"
    "  iree-profile-render -o run.pftrace run.ireeprof\n"
    "  iree-profile export --output=- run.ireeprof | iree-profile-render --format=perfetto - -o run.pftrace\n";

IREE_FLAG(string, output, "", "File of the trace, also -o FILE; `-`: standard output.")
IREE_FLAG(string, format, "",
          "Format, also -f FORMAT: `perfetto`, which https://ui.perfetto.dev and its tools open, or `json`, which\n"
          "chrome://tracing opens, too. When none is named, files whose names end in .json are JSON.")
IREE_FLAG(bool, quiet, false, "Does not print what was written.")

static const struct {
  const char* name;
  profile_render_fn_t render;
} formats[] = {{"perfetto", profile_render_perfetto}, {"json", profile_render_json}};

static iree_status_t find_format(size_t* out_index) {
  bool is_json = iree_string_view_ends_with(iree_make_cstring_view(FLAG_output), IREE_SV(".json"));
  const char* name = FLAG_format[0] ? FLAG_format : formats[is_json].name;
  for (*out_index = 0; *out_index < IREE_ARRAYSIZE(formats); ++*out_index) {
    if (strcmp(name, formats[*out_index].name) == 0) return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--format=%s is not known; perfetto and json are", name);
}

static void print_counts(const char* format, const profile_render_counts_t* counts) {
  fprintf(stderr, "wrote %s (format=%s, slices=%" PRIu64 ", instants=%" PRIu64 ", counter_samples=%" PRIu64,
          FLAG_output, format, counts->slices, counts->instants, counts->samples);
  if (counts->skipped) fprintf(stderr, ", skipped_slices=%" PRIu64, counts->skipped);
  fputs(")\n", stderr);
}

static iree_status_t write_trace(const profile_bundle_t* bundle) {
  profile_render_counts_t counts;
  size_t format = 0;
  bool is_stdout = strcmp(FLAG_output, "-") == 0;
  whole_file_t file = {.file = stdout};
  IREE_RETURN_IF_ERROR(find_format(&format));
  if (!is_stdout && !whole_file_open(FLAG_output, &file)) {
    return iree_make_status(IREE_STATUS_PERMISSION_DENIED, "cannot write '%s': %s", FLAG_output, strerror(errno));
  }
  iree_status_t status = formats[format].render(bundle, file.file, &counts);
  bool is_written = fflush(file.file) == 0 && !ferror(file.file);
  if (!is_stdout) is_written = whole_file_close(&file, is_written && iree_status_is_ok(status));
  IREE_RETURN_IF_ERROR(status);
  if (!is_written) return iree_make_status(IREE_STATUS_DATA_LOSS, "cannot write the trace");
  if (!FLAG_quiet) print_counts(formats[format].name, &counts);
  return iree_ok_status();
}

static iree_status_t render(iree_const_byte_span_t contents) {
  profile_bundle_t bundle;
  iree_status_t status = profile_bundle_open(contents, iree_allocator_system(), &bundle);
  if (iree_status_is_ok(status)) status = write_trace(&bundle);
  profile_bundle_close(&bundle);
  return status;
}

// Profiles begin with a number of their own, rows do not.
static iree_status_t render_any(iree_const_byte_span_t contents) {
  const uint32_t magic = IREE_HAL_PROFILE_FILE_MAGIC;
  if (contents.data_length >= sizeof(magic) && memcmp(contents.data, &magic, sizeof(magic)) == 0) {
    return render(contents);
  }
  bytes_t file = bytes_make(iree_allocator_system());
  iree_string_view_t text = iree_make_string_view((const char*)contents.data, contents.data_length);
  iree_status_t status = profile_rows_read(text, &file);
  if (iree_status_is_ok(status)) status = render(iree_make_const_byte_span(file.data, file.size));
  bytes_free(&file);
  return status;
}

static iree_status_t run(const char* path) {
  iree_io_file_contents_t* contents = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  if (!FLAG_output[0]) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--output=FILE is needed");
  IREE_RETURN_IF_ERROR(strcmp(path, "-") == 0
                           ? iree_io_file_contents_read_stdin(allocator, &contents)
                           : iree_io_file_contents_read(iree_make_cstring_view(path), allocator, &contents));
  iree_status_t status = iree_status_annotate_f(render_any(contents->const_buffer), "reading '%s'", path);
  iree_io_file_contents_free(contents);
  return status;
}

// The long flag that an argument is with the next one as its value, as IREE's tool takes them.
static const char* long_flag(const char* argument) {
  static const char* const names[][3] = {{"-o", "--output", "output"}, {"-f", "--format", "format"}};
  for (size_t i = 0; i < IREE_ARRAYSIZE(names); ++i) {
    if (strcmp(argument, names[i][0]) == 0 || strcmp(argument, names[i][1]) == 0) return names[i][2];
  }
  return NULL;
}

static void join_flags(int* argc, char** argv) {
  int count = 1;
  for (int i = 1; i < *argc; ++i) {
    const char* name = i + 1 < *argc ? long_flag(argv[i]) : NULL;
    size_t size = name ? strlen(name) + strlen(argv[i + 1]) + 4 : 0;
    char* joined = name ? malloc(size) : NULL;  // lives as long as the flags
    if (joined) snprintf(joined, size, "--%s=%s", name, argv[++i]);
    argv[count++] = joined ? joined : argv[i];
  }
  *argc = count;
}

int main(int argc, char** argv) {
  join_flags(&argc, argv);
  iree_flags_set_usage("iree-profile-render", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status =
      argc == 2 ? run(argv[1]) : iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "expected one profile bundle path");
  if (iree_status_is_ok(status)) return EXIT_SUCCESS;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
