// Shows what is in a module.

#include "base/flag_table.h"
#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"
#include "module/dump.h"

IREE_FLAG(string, output, "all",
          "What to print:\n  'all': metadata and disassembly.\n  'metadata': names, attributes and sizes.\n"
          "  'disassembly': the host program.\n  'flatbuffer-binary': the program's tables as they are in the file.\n"
          "  'flatbuffer-json': the program's tables as JSON.")
FLAG_VALUES(output, "all,metadata,disassembly,flatbuffer-binary,flatbuffer-json")
IREE_FLAG(string, function, "", "Disassembles only this function, by name or number.")
IREE_FLAG(bool, bytecode_offsets, false, "Prints the position of each instruction.")
IREE_FLAG(bool, pretty, false, "Indents JSON.")

static const char usage[] =
    "Shows what is in a compiled module.\n"
    "\n"
    "Syntax: iree-dump-module [--output=...] module.vmfb\n"
    "\n"
    "Examples:\n"
    "  iree-dump-module module.vmfb\n"
    "  iree-dump-module --output=metadata module.vmfb\n"
    "  iree-dump-module --output=disassembly --function=main --bytecode_offsets module.vmfb\n";

static iree_status_t dump(const module_image_t* image, size_t file_size) {
  iree_string_view_t output = iree_make_cstring_view(FLAG_output);
  bool all = iree_string_view_equal(output, IREE_SV("all"));
  bool disassembles = all || iree_string_view_equal(output, IREE_SV("disassembly"));
  uint32_t function = 0;
  if (disassembles && FLAG_function[0] &&
      !module_dump_find_function(image, iree_make_cstring_view(FLAG_function), &function)) {
    return iree_make_status(IREE_STATUS_NOT_FOUND, "no function `%s` in the module; --output=metadata lists them",
                            FLAG_function);
  }
  if (all || iree_string_view_equal(output, IREE_SV("metadata"))) {
    module_dump_metadata(image, file_size, stdout);
    if (!all) return iree_ok_status();
    printf("\n");
  }
  if (disassembles) {
    if (FLAG_function[0]) {
      module_dump_function(image, function, FLAG_bytecode_offsets, stdout);
    } else {
      module_dump_disassembly(image, FLAG_bytecode_offsets, stdout);
    }
    return iree_ok_status();
  }
  if (iree_string_view_equal(output, IREE_SV("flatbuffer-json"))) {
    module_dump_json(image, FLAG_pretty, stdout);
    return iree_ok_status();
  }
  if (iree_string_view_equal(output, IREE_SV("flatbuffer-binary"))) {
    fwrite(image->header, 1, image->header->length, stdout);
    return iree_ok_status();
  }
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                          "unrecognized --output= flag value '%s'; --help lists what is known", FLAG_output);
}

static iree_status_t run(const char* path) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_io_file_contents_t* contents = NULL;
  iree_string_view_t name = iree_make_cstring_view(path);
  if (iree_string_view_equal(name, IREE_SV("-"))) {
    IREE_RETURN_IF_ERROR(iree_io_file_contents_read_stdin(allocator, &contents));
  } else {
    IREE_RETURN_IF_ERROR(iree_io_file_contents_map(name, IREE_IO_FILE_ACCESS_READ, allocator, &contents));
  }
  module_image_t image;
  iree_status_t status = module_image_open(contents->const_buffer, allocator, &image);
  if (iree_status_is_ok(status)) {
    status = dump(&image, contents->const_buffer.data_length);
    module_image_close(&image, allocator);
  }
  iree_io_file_contents_free(contents);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-dump-module", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  if (argc != 2) {
    fprintf(stderr,
            "iree-dump-module: one module is needed, got %d\nSyntax: iree-dump-module [--output=...] module.vmfb\n",
            argc - 1);
    return EXIT_FAILURE;
  }
  iree_status_t status = run(argv[1]);
  if (iree_status_is_ok(status)) return EXIT_SUCCESS;
  iree_status_fprint(stderr, status);
  iree_status_free(status);
  return EXIT_FAILURE;
}
