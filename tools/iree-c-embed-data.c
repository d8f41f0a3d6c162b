// Writes files as C data: a header and a source file with a table of contents, for programs that carry modules.

#include <stdlib.h>
#include <string.h>

#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"

IREE_FLAG(string, output_header, "", "Header file to write.");
IREE_FLAG(string, output_impl, "", "C file to write.");
IREE_FLAG(string, identifier, "resources", "What the functions' names begin with: `NAME_create`, `NAME_size`.");
IREE_FLAG(string, strip_prefix, "", "What names in the table begin with and leave out.");
IREE_FLAG(bool, flatten, false, "Leaves folders out of names in the table.");

static const char usage[] =
    "Writes files as C data.\n"
    "\n"
    "Example:\n"
    "  iree-c-embed-data --output_header=model_c.h --output_impl=model_c.c --identifier=model model.vmfb\n";

static iree_status_t open_output(const char* path, FILE** out_file) {
  if (!path[0]) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--output_header= and --output_impl= are needed");
  *out_file = fopen(path, "w");
  return *out_file ? iree_ok_status() : iree_make_status(iree_status_code_from_errno(errno), "cannot write '%s'", path);
}

// Nothing is left of a file that could not be written in whole.
static iree_status_t close_output(FILE* file, const char* path, iree_status_t status) {
  if (!file) return status;
  bool failed = ferror(file) != 0;
  failed |= fclose(file) != 0;
  if (failed && iree_status_is_ok(status)) {
    status = iree_make_status(IREE_STATUS_DATA_LOSS, "cannot write '%s'", path);
  }
  if (!iree_status_is_ok(status)) remove(path);
  return status;
}

static void write_header(FILE* file, int count) {
  fprintf(file,
          "#pragma once\n#include <stddef.h>\n"
          "#ifdef __cplusplus\nextern \"C\" {\n#endif  // __cplusplus\n"
          "#ifndef IREE_FILE_TOC\n#define IREE_FILE_TOC\n"
          "typedef struct iree_file_toc_t {\n"
          "  const char* name;  // NULL behind the last file\n"
          "  const char* data;\n"
          "  size_t size;\n"
          "} iree_file_toc_t;\n"
          "#endif  // IREE_FILE_TOC\n");
  fprintf(file, "const iree_file_toc_t* %s_create(void);\n", FLAG_identifier);
  fprintf(file, "static inline size_t %s_size(void) { return %d; }\n", FLAG_identifier, count);
  fprintf(file, "#ifdef __cplusplus\n}  // extern \"C\"\n#endif  // __cplusplus\n");
}

static void write_data(FILE* file, int number, iree_const_byte_span_t data) {
  static const char digits[] = "0123456789abcdef";
  enum { PER_LINE = 24, WIDTH = 5 };
  fprintf(file, "static const unsigned char file_%d[] __attribute__((aligned(64))) = {", number);
  for (size_t i = 0; i < data.data_length;) {
    char line[PER_LINE * WIDTH + 1];
    size_t size = 0;
    for (int k = 0; k < PER_LINE && i < data.data_length; ++k, ++i) {
      const char text[WIDTH] = {'0', 'x', digits[data.data[i] >> 4], digits[data.data[i] & 15], ','};
      memcpy(line + size, text, WIDTH);
      size += WIDTH;
    }
    fputs("\n", file);
    fwrite(line, 1, size, file);
  }
  fputs("\n0x00};\n", file);  // text may be read up to a zero
}

static const char* name_of(const char* path) {
  size_t size = strlen(FLAG_strip_prefix);
  const char* slash = strrchr(path, '/');
  if (FLAG_flatten && slash) return slash + 1;
  return size && strncmp(path, FLAG_strip_prefix, size) == 0 ? path + size : path;
}

static void write_text(FILE* file, const char* text) {
  fputc('"', file);
  for (; *text; ++text) fprintf(file, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
  fputc('"', file);
}

static iree_status_t write_table(FILE* file, int count, char** paths) {
  fprintf(file, "#include \"%s\"\n\n",
          strrchr(FLAG_output_header, '/') ? strrchr(FLAG_output_header, '/') + 1 : FLAG_output_header);
  size_t* sizes = calloc((size_t)count + 1, sizeof(*sizes));
  if (!sizes) return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  iree_status_t status = iree_ok_status();
  for (int i = 0; i < count && iree_status_is_ok(status); ++i) {
    iree_io_file_contents_t* contents = NULL;
    status = iree_io_file_contents_map(iree_make_cstring_view(paths[i]), IREE_IO_FILE_ACCESS_READ,
                                       iree_allocator_system(), &contents);
    if (!iree_status_is_ok(status)) break;
    write_data(file, i, contents->const_buffer);
    sizes[i] = contents->const_buffer.data_length;
    iree_io_file_contents_free(contents);
  }
  fprintf(file, "\nstatic const struct iree_file_toc_t table[] = {\n");
  for (int i = 0; i < count; ++i) {
    fprintf(file, "    {");
    write_text(file, name_of(paths[i]));
    fprintf(file, ", (const char*)file_%d, %zu},\n", i, sizes[i]);
  }
  fprintf(file, "    {NULL, NULL, 0},\n};\n\n");
  fprintf(file, "const struct iree_file_toc_t* %s_create(void) { return table; }\n", FLAG_identifier);
  free(sizes);
  return status;
}

static iree_status_t run(int count, char** paths) {
  FILE *header = NULL, *source = NULL;
  IREE_RETURN_IF_ERROR(open_output(FLAG_output_header, &header));
  iree_status_t status = open_output(FLAG_output_impl, &source);
  if (iree_status_is_ok(status)) status = write_table(source, count, paths);
  if (iree_status_is_ok(status)) write_header(header, count);
  status = close_output(source, FLAG_output_impl, status);
  return close_output(header, FLAG_output_header, status);
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-c-embed-data", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = run(argc - 1, argv + 1);
  if (iree_status_is_ok(status)) return EXIT_SUCCESS;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
