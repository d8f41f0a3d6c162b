// .npy: a magic string, a header length, a Python dictionary as text, then the elements.

#include "tooling/npy.h"

#include <ctype.h>

// NPY_TYPE(kind letter, bytes, element type) in NumPy's `descr` strings. 'V' are bytes that NumPy has no type for: of
// the packages that add some, ml_dtypes writes no more than their size.
#define NPY_TYPES(NPY_TYPE)            \
  NPY_TYPE('b', 1, BOOL_8)             \
  NPY_TYPE('i', 1, SINT_8)             \
  NPY_TYPE('i', 2, SINT_16)            \
  NPY_TYPE('i', 4, SINT_32)            \
  NPY_TYPE('i', 8, SINT_64)            \
  NPY_TYPE('u', 1, UINT_8)             \
  NPY_TYPE('u', 2, UINT_16)            \
  NPY_TYPE('u', 4, UINT_32)            \
  NPY_TYPE('u', 8, UINT_64)            \
  NPY_TYPE('f', 2, FLOAT_16)           \
  NPY_TYPE('f', 4, FLOAT_32)           \
  NPY_TYPE('f', 8, FLOAT_64)           \
  NPY_TYPE('c', 8, COMPLEX_FLOAT_64)   \
  NPY_TYPE('c', 16, COMPLEX_FLOAT_128) \
  NPY_TYPE('V', 1, OPAQUE_8)           \
  NPY_TYPE('V', 2, OPAQUE_16)          \
  NPY_TYPE('V', 4, OPAQUE_32)          \
  NPY_TYPE('V', 8, OPAQUE_64)

// NAMED_TYPE(name, element type): what stands in `descr` where the name of a type of ml_dtypes is written.
#define NAMED_TYPES(NAMED_TYPE)                         \
  NAMED_TYPE(bfloat16, BFLOAT_16)                       \
  NAMED_TYPE(float8_e3m4, FLOAT_8_E3M4)                 \
  NAMED_TYPE(float8_e4m3, FLOAT_8_E4M3)                 \
  NAMED_TYPE(float8_e4m3fn, FLOAT_8_E4M3_FN)            \
  NAMED_TYPE(float8_e4m3fnuz, FLOAT_8_E4M3_FNUZ)        \
  NAMED_TYPE(float8_e4m3b11fnuz, FLOAT_8_E4M3_B11_FNUZ) \
  NAMED_TYPE(float8_e5m2, FLOAT_8_E5M2)                 \
  NAMED_TYPE(float8_e5m2fnuz, FLOAT_8_E5M2_FNUZ)        \
  NAMED_TYPE(float8_e8m0fnu, FLOAT_8_E8M0_FNU)

typedef struct npy_type_t {
  char kind;
  uint32_t size;
  iree_hal_element_type_t element_type;
} npy_type_t;

static const npy_type_t npy_types[] = {
#define NPY_TYPE(kind, size, name) {kind, size, IREE_HAL_ELEMENT_TYPE_##name},
    NPY_TYPES(NPY_TYPE)
#undef NPY_TYPE
};

static const char npy_magic[6] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y'};
enum { PREFIX_SIZE = 12, HEADER_LIMIT = 1 << 20 };  // the longest prefix; a header is a line of text

//===----------------------------------------------------------------------------------------------------------------===
// Headers
//===----------------------------------------------------------------------------------------------------------------===

// A cursor over the dictionary's text.
typedef struct text_t {
  const char* at;
  const char* end;
} text_t;

static void skip_space(text_t* text) {
  while (text->at < text->end && isspace((unsigned char)*text->at)) ++text->at;
}

static bool take(text_t* text, char c) {
  skip_space(text);
  if (text->at == text->end || *text->at != c) return false;
  ++text->at;
  return true;
}

static bool take_string(text_t* text, iree_string_view_t* out_string) {
  skip_space(text);
  if (text->at == text->end || (*text->at != '\'' && *text->at != '"')) return false;
  char quote = *text->at++;
  const char* start = text->at;
  while (text->at < text->end && *text->at != quote) ++text->at;
  if (text->at == text->end) return false;
  *out_string = iree_make_string_view(start, (iree_host_size_t)(text->at++ - start));
  return true;
}

static bool take_word(text_t* text, iree_string_view_t* out_word) {
  skip_space(text);
  const char* start = text->at;
  while (text->at < text->end && isalnum((unsigned char)*text->at)) ++text->at;
  *out_word = iree_make_string_view(start, (iree_host_size_t)(text->at - start));
  return out_word->size != 0;
}

static iree_status_t parse_type(iree_string_view_t descr, npy_header_t* header) {
  uint32_t size = 0;
  bool ordered = descr.size && strchr("<>|=", descr.data[0]);
  iree_string_view_t type = iree_string_view_substr(descr, ordered, IREE_HOST_SIZE_MAX);
  header->big_endian = ordered && descr.data[0] == '>';
  bool known = type.size >= 2 && iree_string_view_atoi_uint32(iree_string_view_substr(type, 1, 8), &size);
  if (known && type.data[0] == 'U') {
    header->is_text = true;
    header->text_width = size;
    header->element_type = IREE_HAL_ELEMENT_TYPE_SINT_32;
    return iree_ok_status();
  }
  for (size_t i = 0; known && i < IREE_ARRAYSIZE(npy_types); ++i) {
    if (npy_types[i].kind != type.data[0] || npy_types[i].size != size) continue;
    header->element_type = npy_types[i].element_type;
    return iree_ok_status();
  }
#define NAMED_TYPE(name, element)                           \
  if (iree_string_view_equal(type, IREE_SV(#name))) {       \
    header->element_type = IREE_HAL_ELEMENT_TYPE_##element; \
    return iree_ok_status();                                \
  }
  NAMED_TYPES(NAMED_TYPE)
#undef NAMED_TYPE
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "unsupported data type %.*s", (int)descr.size, descr.data);
}

static bool parse_shape(text_t* text, npy_header_t* header) {
  if (!take(text, '(')) return false;
  header->rank = 0;
  iree_string_view_t word;
  while (!take(text, ')')) {
    uint64_t dim = 0;
    if (header->rank == NPY_RANK_LIMIT || !take_word(text, &word)) return false;
    if (!iree_string_view_atoi_uint64(word, &dim)) return false;
    header->dims[header->rank++] = dim;
    if (take(text, ')')) return true;
    if (!take(text, ',')) return false;
  }
  return true;
}

static iree_status_t bad_header(void) {
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "numpy array header is malformed");
}

static iree_status_t parse_entry(text_t* text, npy_header_t* header, uint32_t* seen) {
  iree_string_view_t key, value;
  if (!take_string(text, &key) || !take(text, ':')) return bad_header();
  if (iree_string_view_equal(key, IREE_SV("descr"))) {
    if (!take_string(text, &value)) {
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "structured numpy arrays are not supported");
    }
    *seen |= 1;
    return parse_type(value, header);
  }
  if (iree_string_view_equal(key, IREE_SV("fortran_order"))) {
    if (!take_word(text, &value)) return bad_header();
    header->fortran_order = iree_string_view_equal(value, IREE_SV("True"));
    *seen |= 2;
    return iree_ok_status();
  }
  if (!iree_string_view_equal(key, IREE_SV("shape")) || !parse_shape(text, header)) return bad_header();
  *seen |= 4;
  return iree_ok_status();
}

static iree_status_t parse_dictionary(text_t text, npy_header_t* header) {
  uint32_t seen = 0;
  if (!take(&text, '{')) return bad_header();
  while (!take(&text, '}')) {
    IREE_RETURN_IF_ERROR(parse_entry(&text, header, &seen));
    if (!take(&text, ',') && (text.at == text.end || *text.at != '}')) return bad_header();
  }
  if (seen != 7) return bad_header();
  if (header->is_text) {
    if (header->fortran_order || header->rank == NPY_RANK_LIMIT) {
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "strings in column-major order or of rank %d", NPY_RANK_LIMIT);
    }
    header->dims[header->rank++] = header->text_width;
  }
  return iree_hal_buffer_compute_view_size(header->rank, header->dims, header->element_type,
                                           IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, &header->data_length);
}

// Length of the prefix before the dictionary and of the dictionary; `prefix` has PREFIX_SIZE bytes (zeros at the end of
// short files).
static iree_status_t parse_prefix(const uint8_t* prefix, iree_host_size_t* out_prefix_size,
                                  iree_host_size_t* out_text_size) {
  if (memcmp(prefix, npy_magic, sizeof(npy_magic)) != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "not a numpy array file (.npy)");
  }
  uint8_t major = prefix[6];
  if (major < 1 || major > 3) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "numpy array file version %u.%u", major, prefix[7]);
  }
  *out_prefix_size = major == 1 ? 10 : 12;
  *out_text_size = prefix[8] | (iree_host_size_t)prefix[9] << 8;
  if (major > 1) *out_text_size |= (iree_host_size_t)prefix[10] << 16 | (iree_host_size_t)prefix[11] << 24;
  if (*out_text_size <= HEADER_LIMIT) return iree_ok_status();
  return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "numpy array header of %zu bytes", *out_text_size);
}

iree_status_t npy_header_parse(iree_const_byte_span_t contents, npy_header_t* out_header, iree_host_size_t* out_size) {
  memset(out_header, 0, sizeof(*out_header));
  uint8_t prefix[PREFIX_SIZE] = {0};
  memcpy(prefix, contents.data, iree_min(contents.data_length, sizeof(prefix)));
  iree_host_size_t prefix_size = 0, text_size = 0;
  IREE_RETURN_IF_ERROR(parse_prefix(prefix, &prefix_size, &text_size));
  if (contents.data_length < prefix_size + text_size) return bad_header();
  const char* text = (const char*)contents.data + prefix_size;
  *out_size = prefix_size + text_size;
  return parse_dictionary((text_t){text, text + text_size}, out_header);
}

//===----------------------------------------------------------------------------------------------------------------===
// Elements
//===----------------------------------------------------------------------------------------------------------------===

// Bytes of one scalar: half of a complex element.
static iree_host_size_t scalar_size(iree_hal_element_type_t type) {
  iree_host_size_t size = iree_hal_element_dense_byte_count(type);
  return iree_hal_element_numerical_type_is_complex_float(type) ? size / 2 : size;
}

static void swap_bytes(uint8_t* data, iree_host_size_t length, iree_host_size_t size) {
  for (iree_host_size_t i = 0; i + size <= length; i += size) {
    for (iree_host_size_t k = 0; k < size / 2; ++k) {
      uint8_t byte = data[i + k];
      data[i + k] = data[i + size - 1 - k];
      data[i + size - 1 - k] = byte;
    }
  }
}

// Column-major to row-major: walks the target in order and finds each element's place in the source.
static void transpose(const npy_header_t* header, const uint8_t* source, uint8_t* target) {
  iree_host_size_t size = iree_hal_element_dense_byte_count(header->element_type);
  iree_host_size_t strides[NPY_RANK_LIMIT], indices[NPY_RANK_LIMIT] = {0}, stride = size;
  for (iree_host_size_t d = 0; d < header->rank; ++d) {
    strides[d] = stride;
    stride *= header->dims[d];
  }
  for (iree_host_size_t at = 0; at < header->data_length; at += size) {
    iree_host_size_t from = 0;
    for (iree_host_size_t d = 0; d < header->rank; ++d) from += indices[d] * strides[d];
    memcpy(target + at, source + from, size);
    for (iree_host_size_t d = header->rank; d-- > 0;) {
      if (++indices[d] < header->dims[d]) break;
      indices[d] = 0;
    }
  }
}

void npy_data_normalize(const npy_header_t* header, const uint8_t* source, uint8_t* target) {
  if (header->fortran_order && header->rank > 1) {
    transpose(header, source, target);
  } else if (header->data_length) {
    memcpy(target, source, header->data_length);
  }
  if (header->big_endian) swap_bytes(target, header->data_length, scalar_size(header->element_type));
}

static iree_status_t read_exactly(FILE* file, void* data, iree_host_size_t length, const char* what) {
  if (fread(data, 1, length, file) == length) return iree_ok_status();
  return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "numpy array file ends within its %s", what);
}

// Reads the header of the next array.
static iree_status_t read_header(FILE* file, iree_allocator_t allocator, npy_header_t* header) {
  uint8_t prefix[PREFIX_SIZE] = {0};
  if (fread(prefix, 1, 10, file) != 10) {
    return iree_make_status(feof(file) ? IREE_STATUS_OUT_OF_RANGE : IREE_STATUS_UNKNOWN,
                            "no further array in the numpy array file");
  }
  if (prefix[6] > 1) IREE_RETURN_IF_ERROR(read_exactly(file, prefix + 10, 2, "header"));
  iree_host_size_t prefix_size = 0, text_size = 0;
  IREE_RETURN_IF_ERROR(parse_prefix(prefix, &prefix_size, &text_size));
  char* text = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(allocator, text_size + 1, (void**)&text));
  iree_status_t status = read_exactly(file, text, text_size, "header");
  if (iree_status_is_ok(status)) status = parse_dictionary((text_t){text, text + text_size}, header);
  iree_allocator_free(allocator, text);
  return status;
}

typedef struct source_t {
  FILE* file;
  const uint8_t* data;  // the elements, when they were read before
  const npy_header_t* header;
  iree_allocator_t allocator;
  iree_host_size_t packed_bits;  // of an element that has a byte of its own in the file
} source_t;

static iree_status_t read_elements(const source_t* source, uint8_t* target) {
  if (!source->data) return read_exactly(source->file, target, source->header->data_length, "elements");
  memcpy(target, source->data, source->header->data_length);
  return iree_ok_status();
}

static iree_status_t read_in_place(iree_hal_buffer_mapping_t* mapping, void* user_data) {
  const source_t* source = user_data;
  const npy_header_t* header = source->header;
  if (mapping->contents.data_length < header->data_length) return iree_make_status(IREE_STATUS_OUT_OF_RANGE);
  if (!header->fortran_order || header->rank < 2) {
    IREE_RETURN_IF_ERROR(read_elements(source, mapping->contents.data));
    if (header->big_endian) swap_bytes(mapping->contents.data, header->data_length, scalar_size(header->element_type));
    return iree_ok_status();
  }
  uint8_t* data = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(source->allocator, header->data_length + 1, (void**)&data));
  iree_status_t status = read_elements(source, data);
  if (iree_status_is_ok(status)) npy_data_normalize(header, data, mapping->contents.data);
  iree_allocator_free(source->allocator, data);
  return status;
}

// Elements of a byte each into the lowest bits that are free.
static void pack_bits(const uint8_t* source, iree_host_size_t count, iree_host_size_t bits, uint8_t* target) {
  memset(target, 0, (count * bits + 7) / 8);
  for (iree_host_size_t i = 0, at = 0; i < count; ++i, at += bits) {
    uint32_t value = (source[i] & ((1u << bits) - 1)) << at % 8;
    target[at / 8] |= (uint8_t)value;
    if (value >> 8) target[at / 8 + 1] |= (uint8_t)(value >> 8);
  }
}

static iree_status_t read_packed(iree_hal_buffer_mapping_t* mapping, void* user_data) {
  const source_t* source = user_data;
  const iree_host_size_t length = source->header->data_length;
  if (mapping->contents.data_length < (length * source->packed_bits + 7) / 8)
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE);
  uint8_t* data = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(source->allocator, 2 * length + 1, (void**)&data));
  iree_status_t status = read_elements(source, data);
  if (iree_status_is_ok(status)) {
    npy_data_normalize(source->header, data, data + length);
    pack_bits(data + length, length, source->packed_bits, mapping->contents.data);
  }
  iree_allocator_free(source->allocator, data);
  return status;
}

// What is left of a file; false for pipes, which cannot be measured.
static bool find_bytes_left(FILE* file, iree_host_size_t* out_size) {
  long at = ftell(file);
  if (at < 0 || fseek(file, 0, SEEK_END) != 0) return false;
  long end = ftell(file);
  *out_size = fseek(file, at, SEEK_SET) != 0 || end < at ? 0 : (iree_host_size_t)(end - at);
  return true;
}

// Reads as much as a header has announced, with no more memory than twice what is really there.
static iree_status_t read_unmeasured(FILE* file, iree_host_size_t length, iree_allocator_t allocator,
                                     uint8_t** out_data) {
  iree_host_size_t capacity = 0, at = 0;
  while (at < length || !*out_data) {
    iree_host_size_t next = iree_min(iree_max(capacity * 2, 1 << 20), iree_max(length, 1));
    IREE_RETURN_IF_ERROR(iree_allocator_realloc(allocator, next, (void**)out_data));
    capacity = next;
    iree_host_size_t part = iree_min(capacity, length) - at;
    IREE_RETURN_IF_ERROR(read_exactly(file, *out_data + at, part, "elements"));
    at += part;
  }
  return iree_ok_status();
}

static bool is_to_pack(const npy_header_t* header, const npy_packed_t* packed) {
  if (!packed || iree_hal_element_bit_count(packed->element_type) >= 8 || header->is_text) return false;
  return iree_hal_element_bit_count(header->element_type) == 8 && header->data_length == packed->count;
}

static iree_status_t read_view(const source_t* source, iree_hal_device_t* device, iree_hal_allocator_t* allocator,
                               const npy_packed_t* packed, iree_hal_buffer_view_t** out_view) {
  const npy_header_t* header = source->header;
  iree_hal_buffer_params_t params = {.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL, .usage = IREE_HAL_BUFFER_USAGE_DEFAULT};
  const iree_hal_dim_t line = header->data_length;
  if (!packed) {
    return iree_hal_buffer_view_generate_buffer(device, allocator, header->rank, header->dims, header->element_type,
                                                IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, read_in_place,
                                                (void*)source, out_view);
  }
  return iree_hal_buffer_view_generate_buffer(device, allocator, 1, &line, packed->element_type,
                                              IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR, params, read_packed,
                                              (void*)source, out_view);
}

iree_status_t npy_view_read(FILE* file, iree_hal_device_t* device, iree_hal_allocator_t* allocator,
                            const npy_packed_t* packed, iree_hal_buffer_view_t** out_view) {
  *out_view = NULL;
  npy_header_t header = {0};
  iree_allocator_t host_allocator = iree_hal_allocator_host_allocator(allocator);
  IREE_RETURN_IF_ERROR(read_header(file, host_allocator, &header));
  iree_host_size_t left = 0;
  uint8_t* data = NULL;
  iree_status_t status = iree_ok_status();
  if (!find_bytes_left(file, &left)) {
    status = read_unmeasured(file, header.data_length, host_allocator, &data);
  } else if (header.data_length > left) {
    status = iree_make_status(IREE_STATUS_OUT_OF_RANGE, "numpy array file ends within its elements");
  }
  if (iree_status_is_ok(status)) {
    if (!is_to_pack(&header, packed)) packed = NULL;
    source_t source = {file, data, &header, host_allocator,
                       packed ? iree_hal_element_bit_count(packed->element_type) : 0};
    status = read_view(&source, device, allocator, packed, out_view);
  }
  iree_allocator_free(host_allocator, data);
  return status;
}

//===----------------------------------------------------------------------------------------------------------------===
// Writing
//===----------------------------------------------------------------------------------------------------------------===

static const npy_type_t* find_type(iree_hal_element_type_t element_type) {
  iree_host_size_t bits = iree_hal_element_bit_count(element_type);
  if (bits > 0 && bits < 8) return find_type(IREE_HAL_ELEMENT_TYPE_UINT_8);  // packed
  for (size_t i = 0; i < IREE_ARRAYSIZE(npy_types); ++i) {
    if (npy_types[i].element_type == element_type) return &npy_types[i];
  }
  // Signless integers are written as signed ones, what NumPy lacks as unsigned ones.
  char kind = iree_hal_element_numerical_type_is_integer(element_type) ? 'i' : 'u';
  for (size_t i = 0; i < IREE_ARRAYSIZE(npy_types); ++i) {
    if (npy_types[i].kind == kind && npy_types[i].size * 8 == bits) return &npy_types[i];
  }
  return NULL;
}

// What the header says of an array.
typedef struct form_t {
  const npy_type_t* type;
  iree_host_size_t rank;
  const iree_hal_dim_t* dims;
} form_t;

static iree_status_t format_header(form_t form, iree_string_builder_t* builder) {
  IREE_RETURN_IF_ERROR(
      iree_string_builder_append_format(builder, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (",
                                        form.type->size == 1 ? '|' : '<', form.type->kind, form.type->size));
  for (iree_host_size_t i = 0; i < form.rank; ++i) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_format(builder, "%s%" PRIdim "%s", i ? " " : "", form.dims[i],
                                                           form.rank == 1 || i + 1 < form.rank ? "," : ""));
  }
  IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, "), }"));
  // The elements start at a multiple of 64.
  while ((iree_string_builder_size(builder) + 10 + 1) % 64) {
    IREE_RETURN_IF_ERROR(iree_string_builder_append_cstring(builder, " "));
  }
  return iree_string_builder_append_cstring(builder, "\n");
}

static bool write_array(FILE* file, iree_string_view_t header, iree_const_byte_span_t data) {
  uint8_t prefix[10] = {0};
  memcpy(prefix, npy_magic, sizeof(npy_magic));
  prefix[6] = 1;
  prefix[8] = (uint8_t)header.size;
  prefix[9] = (uint8_t)(header.size >> 8);
  return fwrite(prefix, 1, sizeof(prefix), file) == sizeof(prefix) &&
         fwrite(header.data, 1, header.size, file) == header.size &&
         fwrite(data.data, 1, data.data_length, file) == data.data_length;
}

static iree_status_t write_form(FILE* file, form_t form, iree_const_byte_span_t data) {
  iree_string_builder_t builder;
  iree_string_builder_initialize(iree_allocator_system(), &builder);
  iree_status_t status = format_header(form, &builder);
  if (iree_status_is_ok(status) && !write_array(file, iree_string_builder_view(&builder), data)) {
    status = iree_make_status(iree_status_code_from_errno(errno), "cannot write the array: %s", strerror(errno));
  }
  iree_string_builder_deinitialize(&builder);
  return status;
}

iree_status_t npy_array_write(FILE* file, const iree_hal_buffer_view_t* view, iree_const_byte_span_t data) {
  iree_hal_element_type_t element_type = iree_hal_buffer_view_element_type(view);
  form_t form = {find_type(element_type), iree_hal_buffer_view_shape_rank(view), iree_hal_buffer_view_shape_dims(view)};
  if (!form.type) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "numpy has no element type for %08X", element_type);
  }
  iree_hal_dim_t bytes = iree_hal_buffer_view_byte_length(view);
  if (iree_hal_element_bit_count(element_type) < 8) form.rank = 1, form.dims = &bytes;
  return write_form(file, form, data);
}

iree_status_t npy_value_write(FILE* file, iree_vm_value_t value) {
  static const iree_hal_element_type_t types[] = {[IREE_VM_VALUE_TYPE_I8] = IREE_HAL_ELEMENT_TYPE_SINT_8,
                                                  [IREE_VM_VALUE_TYPE_I16] = IREE_HAL_ELEMENT_TYPE_SINT_16,
                                                  [IREE_VM_VALUE_TYPE_I32] = IREE_HAL_ELEMENT_TYPE_SINT_32,
                                                  [IREE_VM_VALUE_TYPE_I64] = IREE_HAL_ELEMENT_TYPE_SINT_64,
                                                  [IREE_VM_VALUE_TYPE_F32] = IREE_HAL_ELEMENT_TYPE_FLOAT_32,
                                                  [IREE_VM_VALUE_TYPE_F64] = IREE_HAL_ELEMENT_TYPE_FLOAT_64};
  form_t form = {.type = value.type < IREE_ARRAYSIZE(types) ? find_type(types[value.type]) : NULL};
  if (!form.type) return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "there is no value to write");
  return write_form(file, form, iree_make_const_byte_span(value.value_storage, form.type->size));
}
