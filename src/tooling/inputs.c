// Parses function inputs and expected outputs.

#include "iree/io/file_contents.h"
#include "iree/modules/hal/types.h"
#include "tooling/function_io.h"
#include "tooling/npy.h"

// A file that inputs are read from in turn. Between two inputs it is closed, so that there may be any number, unless it
// is one that cannot be read from the middle.
typedef struct stream_t {
  iree_string_view_t path;
  FILE* file;      // NULL: closed
  off_t position;  // where the last read ended
} stream_t;

typedef struct parser_t {
  iree_string_view_t letters;  // of what is still to come
  iree_vm_list_t* list;
  tooling_device_t device;
  bool expected;  // values are for comparing: (ignored) stays
  stream_t* streams;
  size_t stream_count, stream_capacity;
  iree_io_file_contents_t** texts;  // files with lists of inputs: specs and paths lie in them
  size_t text_count, text_capacity, text_depth;
} parser_t;

//===----------------------------------------------------------------------------------------------------------------===
// Files
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t open_file(iree_string_view_t path, FILE** out_file) {
  char text[IREE_MAX_PATH + 1];
  if (path.size > IREE_MAX_PATH) return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "path too long");
  iree_string_view_to_cstring(path, text, sizeof(text));
  *out_file = fopen(text, "rb");
  if (*out_file) return iree_ok_status();
  return iree_make_status(iree_status_code_from_errno(errno), "unable to open file `%s`: %s", text, strerror(errno));
}

// Adds a stream, which is closed.
static iree_status_t push_stream(parser_t* parser, iree_string_view_t path, stream_t** out_stream) {
  if (parser->stream_count == parser->stream_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(iree_allocator_system(), 8, sizeof(stream_t),
                                                   &parser->stream_capacity, (void**)&parser->streams));
  }
  *out_stream = &parser->streams[parser->stream_count++];
  **out_stream = (stream_t){.path = path};
  return iree_ok_status();
}

static iree_status_t find_stream(parser_t* parser, iree_string_view_t path, stream_t** out_stream) {
  for (size_t i = 0; i < parser->stream_count; ++i) {
    if (!iree_string_view_equal(parser->streams[i].path, path)) continue;
    *out_stream = &parser->streams[i];
    return iree_ok_status();
  }
  return push_stream(parser, path, out_stream);
}

// Opens the file at `path`: at its start, or (`resume`) where the last read ended. Until close_stream.
static iree_status_t open_stream(parser_t* parser, iree_string_view_t path, bool resume, stream_t** out_stream) {
  IREE_RETURN_IF_ERROR(find_stream(parser, path, out_stream));
  stream_t* stream = *out_stream;
  bool was_closed = !stream->file;
  if (was_closed) IREE_RETURN_IF_ERROR(open_file(path, &stream->file));
  if (!resume) {
    rewind(stream->file);
  } else if (was_closed && fseeko(stream->file, stream->position, SEEK_SET) != 0) {
    return iree_make_status(iree_status_code_from_errno(errno), "unable to read on in file `%.*s`: %s", (int)path.size,
                            path.data, strerror(errno));
  }
  return iree_ok_status();
}

static void close_stream(stream_t* stream) {
  stream->position = ftello(stream->file);
  if (stream->position < 0 || fseeko(stream->file, stream->position, SEEK_SET) != 0) return;  // a pipe
  fclose(stream->file);
  stream->file = NULL;
}

static void close_files(parser_t* parser) {
  for (size_t i = 0; i < parser->stream_count; ++i) {
    if (parser->streams[i].file) fclose(parser->streams[i].file);
  }
  for (size_t i = 0; i < parser->text_count; ++i) iree_io_file_contents_free(parser->texts[i]);
  iree_allocator_free(iree_allocator_system(), parser->streams);
  iree_allocator_free(iree_allocator_system(), parser->texts);
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

static char current_letter(const parser_t* parser) { return parser->letters.size ? parser->letters.data[0] : 0; }

static iree_status_t push_variant(parser_t* parser, iree_vm_variant_t variant) {
  if (!parser->letters.size) {
    iree_vm_variant_reset(&variant);
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "function expected fewer input values");
  }
  parser->letters = iree_string_view_remove_prefix(parser->letters, 1);
  iree_status_t status = iree_vm_list_push_variant_move(parser->list, &variant);
  iree_vm_variant_reset(&variant);
  return status;
}

static iree_status_t push_view(parser_t* parser, iree_hal_buffer_view_t* view) {
  return push_variant(parser, iree_vm_make_variant_ref_assign(iree_hal_buffer_view_move_ref(view)));
}

static iree_status_t bad_value(iree_string_view_t spec, const char* type) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "parsing value `%.*s` as %s", (int)spec.size, spec.data, type);
}

// Integers may have a fraction, which is dropped.
static bool parse_integer(iree_string_view_t spec, int64_t* out_value) {
  double real = 0;
  uint64_t bits = 0;
  if (iree_string_view_atoi_int64(spec, out_value)) return true;
  if (iree_string_view_atoi_uint64(spec, &bits)) {
    *out_value = (int64_t)bits;
    return true;
  }
  if (!iree_string_view_atod(spec, &real) || !(real > -9.2e18 && real < 9.2e18)) return false;
  *out_value = (int64_t)real;
  return true;
}

static iree_status_t parse_scalar(parser_t* parser, iree_string_view_t spec) {
  int64_t integer = 0;
  double real = 0;
  iree_vm_value_t value = iree_vm_value_make_none();
  switch (current_letter(parser)) {
    case IREE_VM_CCONV_TYPE_I32:
      if (!parse_integer(spec, &integer) || integer < INT32_MIN || integer > UINT32_MAX) return bad_value(spec, "i32");
      value = iree_vm_value_make_i32((int32_t)integer);
      break;
    case IREE_VM_CCONV_TYPE_I64:
      if (!parse_integer(spec, &integer)) return bad_value(spec, "i64");
      value = iree_vm_value_make_i64(integer);
      break;
    case IREE_VM_CCONV_TYPE_F32:
      if (!iree_string_view_atod(spec, &real)) return bad_value(spec, "f32");
      value = iree_vm_value_make_f32((float)real);
      break;
    default:
      if (!iree_string_view_atod(spec, &real)) return bad_value(spec, "f64");
      value = iree_vm_value_make_f64(real);
      break;
  }
  return push_variant(parser, iree_vm_make_variant_value(value));
}

//===----------------------------------------------------------------------------------------------------------------===
// Tensors
//===----------------------------------------------------------------------------------------------------------------===

typedef struct raw_source_t {
  FILE* file;
  iree_string_view_t path;
} raw_source_t;

static iree_status_t read_raw(iree_hal_buffer_mapping_t* mapping, void* user_data) {
  raw_source_t* source = user_data;
  iree_host_size_t length = mapping->contents.data_length;
  iree_host_size_t read = fread(mapping->contents.data, 1, length, source->file);
  if (read == length) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "file `%.*s` has %zu bytes left of %zu needed",
                          (int)source->path.size, source->path.data, read, length);
}

// Shape and type of a tensor.
typedef struct view_type_t {
  iree_host_size_t rank;
  iree_hal_dim_t shape[NPY_RANK_LIMIT];
  iree_hal_element_type_t element;
} view_type_t;

// An array's bytes as a tensor of another type: what NumPy has no type for is kept as unsigned integers or bytes
// without a type, elements below 8 bits in a byte each or as a line of bytes (npy_array_write).
static iree_status_t view_array(parser_t* parser, FILE* file, const view_type_t* type,
                                iree_hal_buffer_view_t** out_view) {
  iree_hal_buffer_view_t* array = NULL;
  iree_device_size_t wanted = 0;
  IREE_RETURN_IF_ERROR(iree_hal_buffer_compute_view_size(type->rank, type->shape, type->element,
                                                         IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, &wanted));
  npy_packed_t packed = {.element_type = type->element, .count = 1};
  for (iree_host_size_t i = 0; i < type->rank; ++i) packed.count *= type->shape[i];
  IREE_RETURN_IF_ERROR(npy_view_read(file, parser->device.device, parser->device.allocator, &packed, &array));
  iree_device_size_t length = iree_hal_buffer_view_byte_length(array);
  iree_status_t status = iree_ok_status();
  if (length != wanted) {
    status = iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "numpy array has %" PRIdsz " bytes where the tensor takes %" PRIdsz, length, wanted);
  } else {
    status = iree_hal_buffer_view_create(iree_hal_buffer_view_buffer(array), type->rank, type->shape, type->element,
                                         IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR,
                                         iree_hal_allocator_host_allocator(parser->device.allocator), out_view);
  }
  iree_hal_buffer_view_release(array);
  return status;
}

// `4xf32` and a file.
static iree_status_t parse_raw(parser_t* parser, iree_string_view_t type, iree_string_view_t source,
                               iree_hal_buffer_view_t** out_view) {
  view_type_t t = {0};
  IREE_RETURN_IF_ERROR(
      iree_hal_parse_shape_and_element_type(type, IREE_ARRAYSIZE(t.shape), &t.rank, t.shape, &t.element));
  stream_t* stream = NULL;
  raw_source_t raw = {.path = iree_string_view_remove_prefix(source, 1)};
  IREE_RETURN_IF_ERROR(open_stream(parser, raw.path, source.data[0] == '+', &stream));
  raw.file = stream->file;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  iree_status_t status = iree_string_view_ends_with(raw.path, IREE_SV(".npy"))
                             ? view_array(parser, raw.file, &t, out_view)
                             : iree_hal_buffer_view_generate_buffer(
                                   parser->device.device, parser->device.allocator, t.rank, t.shape, t.element,
                                   IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, read_raw, &raw, out_view);
  close_stream(stream);
  return status;
}

static iree_status_t parse_view(parser_t* parser, iree_string_view_t spec, iree_hal_buffer_view_t** out_view) {
  iree_string_view_t type, values;
  bool has_values = iree_string_view_split(spec, '=', &type, &values) >= 0;
  if (!has_values && iree_string_view_find_char(spec, 'x', 0) == IREE_STRING_VIEW_NPOS) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "invalid tensor specification, requires at least a shape/type (`4x2xf32=...`)");
  }
  values = iree_string_view_trim(values);
  if (has_values && values.size && (values.data[0] == '@' || values.data[0] == '+')) {
    // A plus may also be the sign of a number.
    bool number = values.size > 1 && values.data[0] == '+' && strchr("0123456789.in", values.data[1]) &&
                  iree_string_view_find_char(values, '/', 0) == IREE_STRING_VIEW_NPOS &&
                  iree_string_view_find_first_of(values, IREE_SV(" ,]"), 0) != IREE_STRING_VIEW_NPOS;
    if (!number) return parse_raw(parser, iree_string_view_trim(type), values, out_view);
  }
  return iree_hal_buffer_view_parse(spec, parser->device.device, parser->device.allocator, out_view);
}

// Storage without shape or type.
static iree_status_t parse_storage(parser_t* parser, iree_string_view_t spec) {
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(parse_view(parser, spec, &view));
  iree_vm_ref_t ref = iree_hal_buffer_retain_ref(iree_hal_buffer_view_buffer(view));
  iree_hal_buffer_view_release(view);
  return push_variant(parser, iree_vm_make_variant_ref_assign(ref));
}

static bool has_more(FILE* file) {
  int c = fgetc(file);
  if (c == EOF) return false;
  ungetc(c, file);
  return true;
}

static iree_status_t check_typed(const iree_hal_buffer_view_t* view, iree_string_view_t path) {
  iree_hal_element_type_t type = iree_hal_buffer_view_element_type(view);
  if (iree_hal_element_numerical_type(type) != IREE_HAL_NUMERICAL_TYPE_UNKNOWN) return iree_ok_status();
  return iree_make_status(
      IREE_STATUS_INVALID_ARGUMENT,
      "'%.*s' does not say what its elements of %zu bits are (dtype V); put the type in front, such as 2x3x%s=@%.*s",
      (int)path.size, path.data, (size_t)iree_hal_element_bit_count(type),
      iree_hal_element_bit_count(type) == 16 ? "bf16" : "f8E4M3FN", (int)path.size, path.data);
}

static iree_status_t parse_npy(parser_t* parser, char mode, iree_string_view_t path) {
  stream_t* stream = NULL;
  IREE_RETURN_IF_ERROR(open_stream(parser, path, mode != '@', &stream));
  iree_status_t status = iree_ok_status();
  do {
    iree_hal_buffer_view_t* view = NULL;
    status = npy_view_read(stream->file, parser->device.device, parser->device.allocator, NULL, &view);
    if (iree_status_is_ok(status)) status = check_typed(view, path);
    if (iree_status_is_ok(status)) {
      status = push_view(parser, view);
    } else {
      iree_hal_buffer_view_release(view);
    }
  } while (iree_status_is_ok(status) && mode == '*' && has_more(stream->file));
  close_stream(stream);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Specs
//===----------------------------------------------------------------------------------------------------------------===

static iree_status_t parse_spec(parser_t* parser, iree_string_view_t spec);

enum { TEXT_DEPTH = 16 };  // of files with lists of inputs in each other

// One spec a line; empty lines and `#` comments are skipped.
static iree_status_t parse_text(parser_t* parser, iree_string_view_t text) {
  while (text.size) {
    iree_string_view_t line;
    iree_string_view_split(text, '\n', &line, &text);
    line = iree_string_view_trim(line);
    if (line.size && line.data[0] != '#') IREE_RETURN_IF_ERROR(parse_spec(parser, line));
  }
  return iree_ok_status();
}

static iree_status_t parse_lines(parser_t* parser, iree_string_view_t path) {
  if (parser->text_depth == TEXT_DEPTH) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED,
                            "files with lists of inputs name each other more than %d deep", TEXT_DEPTH);
  }
  if (parser->text_count == parser->text_capacity) {
    IREE_RETURN_IF_ERROR(iree_allocator_grow_array(iree_allocator_system(), 8, sizeof(*parser->texts),
                                                   &parser->text_capacity, (void**)&parser->texts));
  }
  iree_io_file_contents_t* contents = NULL;
  IREE_RETURN_IF_ERROR(iree_io_file_contents_read(path, iree_allocator_system(), &contents));
  parser->texts[parser->text_count++] = contents;
  ++parser->text_depth;
  iree_status_t status = parse_text(
      parser, iree_make_string_view((const char*)contents->const_buffer.data, contents->const_buffer.data_length));
  --parser->text_depth;
  return status;
}

static iree_status_t parse_file(parser_t* parser, iree_string_view_t spec) {
  iree_string_view_t path = iree_string_view_remove_prefix(spec, 1);
  if (iree_string_view_ends_with(path, IREE_SV(".npy"))) return parse_npy(parser, spec.data[0], path);
  if (spec.data[0] == '@' && iree_string_view_ends_with(path, IREE_SV(".txt"))) return parse_lines(parser, path);
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "only numpy (.npy) files are supported for metadata-less variant I/O");
}

static bool is_scalar(char letter) {
  return letter == IREE_VM_CCONV_TYPE_I32 || letter == IREE_VM_CCONV_TYPE_I64 || letter == IREE_VM_CCONV_TYPE_F32 ||
         letter == IREE_VM_CCONV_TYPE_F64;
}

static iree_status_t parse_nothing(parser_t* parser, bool ignored) {
  if (ignored && parser->expected) return push_variant(parser, tooling_ignored_variant());
  if (is_scalar(current_letter(parser))) return parse_scalar(parser, IREE_SV("0"));
  return push_variant(parser, iree_vm_variant_empty());
}

static iree_status_t parse_one(parser_t* parser, iree_string_view_t spec) {
  if (!spec.size) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "no value specified for input");
  if (!parser->letters.size) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "function expected fewer input values");
  }
  bool ignored = iree_string_view_equal(spec, IREE_SV("(ignored)"));
  if (ignored || iree_string_view_equal(spec, IREE_SV("(null)"))) return parse_nothing(parser, ignored);
  if (spec.data[0] == '@' || spec.data[0] == '*') return parse_file(parser, spec);
  if (spec.data[0] == '+' && iree_string_view_ends_with(spec, IREE_SV(".npy"))) return parse_file(parser, spec);
  if (is_scalar(current_letter(parser))) return parse_scalar(parser, spec);
  if (spec.data[0] == '&') return parse_storage(parser, iree_string_view_remove_prefix(spec, 1));
  iree_hal_buffer_view_t* view = NULL;
  IREE_RETURN_IF_ERROR(parse_view(parser, spec, &view));
  return push_view(parser, view);
}

static iree_status_t parse_spec(parser_t* parser, iree_string_view_t spec) {
  iree_status_t status = parse_one(parser, iree_string_view_trim(spec));
  if (iree_status_is_ok(status)) return status;
  return iree_status_annotate_f(status, "parsing input `%.*s`", (int)spec.size, spec.data);
}

static iree_status_t parse_all(parser_t* parser, iree_string_view_list_t specs, iree_vm_list_t** out_list) {
  *out_list = NULL;
  IREE_RETURN_IF_ERROR(iree_vm_list_create(iree_vm_make_undefined_type_def(), parser->letters.size,
                                           iree_allocator_system(), &parser->list));
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t i = 0; i < specs.count && iree_status_is_ok(status); ++i) {
    status = parse_spec(parser, specs.values[i]);
  }
  close_files(parser);
  if (iree_status_is_ok(status)) {
    *out_list = parser->list;
  } else {
    iree_vm_list_release(parser->list);
  }
  return status;
}

iree_status_t tooling_inputs_parse(iree_string_view_t letters, iree_string_view_list_t specs, tooling_device_t device,
                                   iree_vm_list_t** out_list) {
  parser_t parser = {.letters = letters, .device = device};
  return parse_all(&parser, specs, out_list);
}

iree_status_t tooling_expected_parse(iree_string_view_t letters, iree_string_view_list_t specs, tooling_device_t device,
                                     iree_vm_list_t** out_list) {
  parser_t parser = {.letters = letters, .device = device, .expected = true};
  return parse_all(&parser, specs, out_list);
}
