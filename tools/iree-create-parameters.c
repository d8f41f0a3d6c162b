// Makes archives of parameters from declarations.

#include <limits.h>

#include "iree/base/tooling/flags.h"
#include "iree/io/file_contents.h"
#include "tooling/context.h"
#include "tooling/parameter_archive.h"

IREE_FLAG_LIST(string, splat,
               "Declares a parameter that is one value over and over, as `name=shapextype=value`\n"
               "(`--splat=w=4096xf32=4.1`). It takes no space in the file, and programs cannot write it.")
IREE_FLAG_LIST(string, data,
               "Declares a parameter with contents in the file, as `name=shapextype[=contents]`. Contents are a value\n"
               "that fills it, all its values (`w=2x2xf32=1,2,3,4`), or a file of as many bytes (`w=2x2xf32=@w.bin`);\n"
               "none are zeros.")
IREE_FLAG(int32_t, alignment, IREE_IO_PARAMETER_ARCHIVE_DEFAULT_DATA_ALIGNMENT,
          "Contents begin at multiples of so many bytes, a power of two.")
IREE_FLAG(bool, quiet, false, "Does not print what the archive has, nor progress on a terminal.")
IREE_FLAG(string, output, "", "Archive to write (.irpa).")

static const char usage[] =
    "Makes archives of parameters (.irpa) from declarations: with contents, or of one value without any.\n"
    "Shapes and types only tell sizes: a program that wants `tensor<8x2xi4>` takes `8xi8`, `1xi64`, `2xf32`, ...\n"
    "\n"
    "Examples:\n"
    "  iree-create-parameters --data=zeros=4096xf32 --data=filled=8x2xf32=2.1 --output=with_storage.irpa\n"
    "  iree-create-parameters --splat=w=4096xf32=4.1 --splat=v=2x4096xi16=123 --output=without_storage.irpa\n";

// A declaration `name=shapextype[=contents]`.
typedef struct declaration_t {
  iree_string_view_t name, contents;
  iree_hal_element_type_t type;
  uint64_t size;  // bytes
} declaration_t;

static iree_status_t parse_declaration(iree_string_view_t text, declaration_t* out) {
  enum { RANK_LIMIT = 16 };
  iree_string_view_t spec, shape_and_type;
  iree_host_size_t rank = 0;
  iree_hal_dim_t shape[RANK_LIMIT];
  iree_string_view_split(text, '=', &out->name, &spec);
  iree_string_view_split(spec, '=', &shape_and_type, &out->contents);
  if (!out->name.size) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "it has no name");
  IREE_RETURN_IF_ERROR(iree_hal_parse_shape_and_element_type(shape_and_type, RANK_LIMIT, &rank, shape, &out->type));
  if (!iree_hal_element_bit_count(out->type) || !iree_hal_element_is_byte_aligned(out->type)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "its elements are no whole bytes; use a type that is as long (1xi8 for 2xi4)");
  }
  out->size = iree_hal_element_dense_byte_count(out->type);
  for (iree_host_size_t i = 0; i < rank; ++i) {
    if (shape[i] && out->size > (uint64_t)INT64_MAX / shape[i]) {
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "it is too large");
    }
    out->size *= shape[i];
  }
  return iree_ok_status();
}

static iree_status_t declare_splat(iree_string_view_t text, iree_io_parameter_archive_builder_t* builder) {
  declaration_t declaration = {0};
  uint8_t pattern[IREE_IO_PARAMETER_MAX_SPLAT_PATTERN_LENGTH] = {0};
  iree_device_size_t size = 1;
  IREE_RETURN_IF_ERROR(parse_declaration(text, &declaration));
  if (declaration.contents.size) {
    size = iree_hal_element_dense_byte_count(declaration.type);
    if (size > sizeof(pattern)) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "its elements are too long");
    IREE_RETURN_IF_ERROR(iree_hal_parse_element(declaration.contents, declaration.type,
                                                iree_make_byte_span(pattern, (iree_host_size_t)size)));
  }
  return iree_io_parameter_archive_builder_add_splat_entry(builder, declaration.name, iree_const_byte_span_empty(),
                                                           pattern, (uint8_t)size, declaration.size);
}

static iree_status_t declare_data(iree_string_view_t text, iree_io_parameter_archive_builder_t* builder) {
  declaration_t declaration = {0};
  IREE_RETURN_IF_ERROR(parse_declaration(text, &declaration));
  return iree_io_parameter_archive_builder_add_data_entry(builder, declaration.name, iree_const_byte_span_empty(),
                                                          (iree_io_physical_size_t)FLAG_alignment, declaration.size);
}

// Splats have no place in the file, so that they come first.
static iree_status_t declare_all(iree_io_parameter_archive_builder_t* builder) {
  if (FLAG_alignment < 0) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "--alignment= is negative");
  for (iree_host_size_t i = 0; i < FLAG_splat_list().count; ++i) {
    iree_string_view_t text = FLAG_splat_list().values[i];
    IREE_RETURN_IF_ERROR(declare_splat(text, builder), "in --splat=%.*s", (int)text.size, text.data);
  }
  for (iree_host_size_t i = 0; i < FLAG_data_list().count; ++i) {
    iree_string_view_t text = FLAG_data_list().values[i];
    IREE_RETURN_IF_ERROR(declare_data(text, builder), "in --data=%.*s", (int)text.size, text.data);
  }
  return iree_ok_status();
}

static iree_status_t write_file(const declaration_t* declaration, iree_io_stream_t* stream,
                                iree_allocator_t allocator) {
  iree_string_view_t path = iree_string_view_remove_prefix(declaration->contents, 1);
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_map(path, IREE_IO_FILE_ACCESS_READ, allocator, &contents));
  iree_const_byte_span_t bytes = contents->const_buffer;
  iree_status_t status =
      bytes.data_length == declaration->size
          ? iree_io_stream_write(stream, bytes.data_length, bytes.data)
          : iree_make_status(IREE_STATUS_OUT_OF_RANGE, "'%.*s' has %" PRIhsz " bytes; %" PRIu64 " are needed",
                             (int)path.size, path.data, bytes.data_length, declaration->size);
  iree_io_file_contents_free(contents);
  return status;
}

static iree_status_t write_values(const declaration_t* declaration, iree_io_stream_t* stream,
                                  iree_allocator_t allocator) {
  uint8_t* data = NULL;
  iree_device_size_t element = iree_hal_element_dense_byte_count(declaration->type);
  if (iree_string_view_find_first_of(declaration->contents, IREE_SV(", []"), 0) == IREE_STRING_VIEW_NPOS) {
    uint8_t pattern[64];
    if (element > sizeof(pattern)) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "its elements are too long");
    IREE_RETURN_IF_ERROR(iree_hal_parse_element(declaration->contents, declaration->type,
                                                iree_make_byte_span(pattern, (iree_host_size_t)element)));
    return iree_io_stream_fill(stream, (iree_io_stream_pos_t)(declaration->size / element), pattern,
                               (iree_host_size_t)element);
  }
  iree_host_size_t size = (iree_host_size_t)declaration->size;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, size + 1, (void**)&data));
  iree_status_t status =
      iree_hal_parse_buffer_elements(declaration->contents, declaration->type, iree_make_byte_span(data, size));
  if (iree_status_is_ok(status)) status = iree_io_stream_write(stream, size, data);
  iree_allocator_free(allocator, data);
  return status;
}

// Zeros are there already: the file is new.
static iree_status_t write_contents(iree_string_view_t text, iree_io_parameter_index_t* index, iree_io_stream_t* stream,
                                    iree_allocator_t allocator) {
  declaration_t declaration = {0};
  const iree_io_parameter_index_entry_t* entry = NULL;
  IREE_RETURN_IF_ERROR(parse_declaration(text, &declaration));
  if (!declaration.contents.size || !declaration.size) return iree_ok_status();
  IREE_RETURN_IF_ERROR(iree_io_parameter_index_lookup(index, declaration.name, &entry));
  IREE_RETURN_IF_ERROR(
      iree_io_stream_seek(stream, IREE_IO_STREAM_SEEK_SET, (iree_io_stream_pos_t)entry->storage.file.offset));
  return declaration.contents.data[0] == '@' ? write_file(&declaration, stream, allocator)
                                             : write_values(&declaration, stream, allocator);
}

static iree_status_t write_all(const iree_io_parameter_archive_builder_t* builder, iree_io_file_handle_t* handle,
                               iree_io_parameter_index_t* index, iree_allocator_t allocator) {
  iree_io_stream_t* stream = NULL;
  IREE_RETURN_IF_ERROR(iree_io_stream_open(IREE_IO_STREAM_MODE_WRITABLE, handle, 0, allocator, &stream));
  iree_status_t status = iree_io_parameter_archive_builder_write(builder, handle, 0, stream, index);
  for (iree_host_size_t i = 0; i < FLAG_data_list().count && iree_status_is_ok(status); ++i) {
    iree_string_view_t text = FLAG_data_list().values[i];
    status = write_contents(text, index, stream, allocator);
    if (!iree_status_is_ok(status))
      status = iree_status_annotate_f(status, "in --data=%.*s", (int)text.size, text.data);
  }
  iree_io_stream_release(stream);
  return status;
}

static iree_status_t write_archive(const iree_io_parameter_archive_builder_t* builder, iree_io_parameter_index_t* index,
                                   iree_allocator_t allocator) {
  archive_output_t output = {.allocator = allocator, .path = FLAG_output, .quiet = FLAG_quiet};
  iree_io_file_handle_t* handle = NULL;
  iree_status_t status =
      archive_output_open(&output, 0, iree_io_parameter_archive_builder_total_size(builder), &handle);
  if (iree_status_is_ok(status)) status = write_all(builder, handle, index, allocator);
  iree_io_file_handle_release(handle);
  return archive_output_close(&output, status);
}

static iree_status_t run(iree_allocator_t allocator) {
  iree_io_parameter_archive_builder_t builder;
  iree_io_parameter_index_t* index = NULL;
  IREE_RETURN_IF_ERROR(archive_output_check(FLAG_output));
  IREE_RETURN_IF_ERROR(iree_io_parameter_archive_builder_initialize(allocator, &builder));
  iree_status_t status = declare_all(&builder);
  if (iree_status_is_ok(status)) status = iree_io_parameter_index_create(allocator, &index);
  if (iree_status_is_ok(status)) status = write_archive(&builder, index, allocator);
  if (iree_status_is_ok(status) && !FLAG_quiet) {
    status = iree_io_parameter_index_fprint(stdout, iree_string_view_empty(), index);
  }
  iree_io_parameter_index_release(index);
  iree_io_parameter_archive_builder_deinitialize(&builder);
  return status;
}

int main(int argc, char** argv) {
  iree_flags_set_usage("iree-create-parameters", usage);
  iree_flags_parse_checked(IREE_FLAGS_PARSE_MODE_DEFAULT, &argc, &argv);
  iree_status_t status = tooling_refuse_arguments(argc, argv);
  return archive_tool_finish(iree_status_is_ok(status) ? run(iree_allocator_system()) : status);
}
