// Tensors of a model as attributes. Data that is stored as the bytes it needs (raw_data, external data, packed floats)
// is borrowed from the mapped file; only varints and sub-byte elements are decoded, once.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "import/onnx/importer.h"

typedef enum { FIELD_NONE, FIELD_FLOAT, FIELD_INT32, FIELD_INT64, FIELD_DOUBLE, FIELD_UINT64 } field_t;
typedef struct data_type_t {
  const char* name;
  uint8_t bits;   // of an element in raw data
  uint8_t field;  // field_t that holds typed data
  char kind;      // 's' signed, 'u' unsigned, 'b' boolean, 'f' float, 'c' complex
  ir_float_kind_t float_kind;
} data_type_t;

static const data_type_t data_types[] = {
    [ONNX_FLOAT] = {"float", 32, FIELD_FLOAT, 'f', IR_F32},
    [ONNX_UINT8] = {"uint8", 8, FIELD_INT32, 'u', 0},
    [ONNX_INT8] = {"int8", 8, FIELD_INT32, 's', 0},
    [ONNX_UINT16] = {"uint16", 16, FIELD_INT32, 'u', 0},
    [ONNX_INT16] = {"int16", 16, FIELD_INT32, 's', 0},
    [ONNX_INT32] = {"int32", 32, FIELD_INT32, 's', 0},
    [ONNX_INT64] = {"int64", 64, FIELD_INT64, 's', 0},
    [ONNX_STRING] = {"string", 0, FIELD_NONE, 0, 0},
    [ONNX_BOOL] = {"bool", 8, FIELD_INT32, 'b', 0},
    [ONNX_FLOAT16] = {"float16", 16, FIELD_INT32, 'f', IR_F16},
    [ONNX_DOUBLE] = {"double", 64, FIELD_DOUBLE, 'f', IR_F64},
    [ONNX_UINT32] = {"uint32", 32, FIELD_UINT64, 'u', 0},
    [ONNX_UINT64] = {"uint64", 64, FIELD_UINT64, 'u', 0},
    [ONNX_COMPLEX64] = {"complex64", 64, FIELD_FLOAT, 'c', IR_F32},
    [ONNX_COMPLEX128] = {"complex128", 128, FIELD_DOUBLE, 'c', IR_F64},
    [ONNX_BFLOAT16] = {"bfloat16", 16, FIELD_INT32, 'f', IR_BF16},
    [ONNX_FLOAT8E4M3FN] = {"float8e4m3fn", 8, FIELD_INT32, 'f', IR_F8E4M3FN},
    [ONNX_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 8, FIELD_INT32, 'f', IR_F8E4M3FNUZ},
    [ONNX_FLOAT8E5M2] = {"float8e5m2", 8, FIELD_INT32, 'f', IR_F8E5M2},
    [ONNX_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 8, FIELD_INT32, 'f', IR_F8E5M2FNUZ},
    [ONNX_UINT4] = {"uint4", 4, FIELD_INT32, 'u', 0},
    [ONNX_INT4] = {"int4", 4, FIELD_INT32, 's', 0},
    [ONNX_FLOAT4E2M1] = {"float4e2m1", 4, FIELD_INT32, 'f', IR_F4E2M1FN},
    [ONNX_FLOAT8E8M0] = {"float8e8m0", 8, FIELD_INT32, 'f', IR_F8E8M0FNU},
    [ONNX_UINT2] = {"uint2", 2, FIELD_INT32, 'u', 0},
    [ONNX_INT2] = {"int2", 2, FIELD_INT32, 's', 0},
};

static const data_type_t* find_data_type(int64_t number) {
  bool known = number > 0 && number < (int64_t)(sizeof(data_types) / sizeof(*data_types));
  return known ? &data_types[number] : NULL;
}

const char* onnx_data_type_name(int64_t number) {
  const data_type_t* type = find_data_type(number);
  return type ? type->name : "unknown";
}

const ir_type_t* onnx_element_type(ir_context_t* ctx, int64_t number) {
  const data_type_t* type = find_data_type(number);
  switch (type ? type->kind : 0) {
    case 's':
      return ir_type_integer(ctx, type->bits, IR_SIGNED);
    case 'u':
      return ir_type_integer(ctx, type->bits, IR_UNSIGNED);
    case 'b':
      return ir_type_int(ctx, 1);
    case 'f':
      return ir_type_float(ctx, type->float_kind);
    case 'c':
      return ir_type_complex(ctx, ir_type_float(ctx, type->float_kind));
    default:
      return NULL;
  }
}

const ir_type_t* onnx_any_element_type(ir_context_t* ctx, int64_t number) {
  return number == ONNX_STRING ? onnx_str(ctx) : onnx_element_type(ctx, number);
}

static const onnx_chunks_t* typed_field(const onnx_pb_tensor_t* t, const data_type_t* type) {
  switch (type->field) {
    case FIELD_FLOAT:
      return &t->float_data;
    case FIELD_INT32:
      return &t->int32_data;
    case FIELD_INT64:
      return &t->int64_data;
    case FIELD_DOUBLE:
      return &t->double_data;
    case FIELD_UINT64:
      return &t->uint64_data;
    default:
      return NULL;
  }
}

static size_t chunks_size(const onnx_chunks_t* chunks) {
  size_t size = 0;
  for (size_t i = 0; i < chunks->count; ++i) size += chunks->data[i].size;
  return size;
}

// Sub-byte elements, packed from the low bits up, to one byte each.
static void unpack_bits(const data_type_t* type, const uint8_t* packed, size_t count, uint8_t* out) {
  uint32_t per_byte = 8u / type->bits, mask = (1u << type->bits) - 1;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = packed[i / per_byte] >> (i % per_byte * type->bits) & mask;
    bool negative = type->kind == 's' && (bits >> (type->bits - 1));
    out[i] = (uint8_t)(negative ? bits | ~mask : bits);
  }
}

// Varints to little-endian elements of `bytes` each. Returns how many there were, at most `capacity`.
static size_t decode_varints(const onnx_chunks_t* chunks, size_t bytes, size_t capacity, uint8_t* out) {
  size_t count = 0;
  for (size_t i = 0; i < chunks->count; ++i) {
    const uint8_t* at = (const uint8_t*)chunks->data[i].data;
    const uint8_t* end = at + chunks->data[i].size;
    uint64_t value;
    while (at < end && count < capacity && onnx_varint_next(&at, end, &value)) {
      memcpy(out + bytes * count++, &value, bytes);
    }
  }
  return count;
}

static onnx_bytes_t join_chunks(arena_t* arena, const onnx_chunks_t* chunks) {
  if (chunks->count == 1) return chunks->data[0];
  size_t size = chunks_size(chunks), at = 0;
  char* data = arena_alloc(arena, size + 1);
  for (size_t i = 0; i < chunks->count; ++i) {
    memcpy(data + at, chunks->data[i].data, chunks->data[i].size);
    at += chunks->data[i].size;
  }
  return (onnx_bytes_t){data, size};
}

static const char* find_entry(arena_t* arena, const onnx_pb_entrys_t* entries, const char* key) {
  for (size_t i = 0; i < entries->count; ++i) {
    const onnx_pb_entry_t* entry = &entries->data[i];
    if (onnx_bytes_equal(entry->key, key)) return arena_strndup(arena, entry->value.data, entry->value.size);
  }
  return NULL;
}

// A decimal number of at most 18 digits; false for anything else.
static bool parse_size(const char* text, size_t* out) {
  size_t length = strlen(text);
  if (length == 0 || length > 18 || strspn(text, "0123456789") != length) return false;
  *out = (size_t)strtoull(text, NULL, 10);
  return true;
}

static bool external_bytes(onnx_importer_t* im, const onnx_pb_tensor_t* t, const char* name, onnx_bytes_t* out) {
  ir_context_t* ctx = im->ctx;
  arena_t* arena = ir_context_arena(ctx);
  const char* location = find_entry(arena, &t->external_data, "location");
  if (!location) return ir_error(ctx, im->loc, "tensor '%s': external data without a location", name);
  const char* error = NULL;
  char path[PATH_MAX];
  if (!onnx_files_resolve(im->directory, location, path, &error)) {
    return ir_error(ctx, im->loc, "tensor '%s': cannot use external data '%s' in '%s': %s", name, location,
                    im->directory, error);
  }
  const void* data;
  size_t size, offset = 0, length;
  bool mapped = onnx_files_map(im->files, path, &data, &size, &error);
  if (!mapped) return ir_error(ctx, im->loc, "tensor '%s': cannot open '%s': %s", name, location, error);
  const char* offset_text = find_entry(arena, &t->external_data, "offset");
  const char* length_text = find_entry(arena, &t->external_data, "length");
  if (offset_text && !parse_size(offset_text, &offset)) offset = SIZE_MAX;
  length = offset <= size ? size - offset : 0;
  if (length_text && !parse_size(length_text, &length)) length = SIZE_MAX;
  if (offset > size || length > size - offset) {
    return ir_error(ctx, im->loc, "tensor '%s': offset %s and length %s do not lie within '%s' (%zu bytes)", name,
                    offset_text ? offset_text : "0", length_text ? length_text : "(rest)", location, size);
  }
  *out = (onnx_bytes_t){(const char*)data + offset, length};
  return true;
}

// Number of elements, or false when a dim is negative or the product too large.
static bool element_count(const onnx_pb_tensor_t* t, size_t* out) {
  size_t count = 1;
  for (size_t i = 0; i < t->dims.count; ++i) {
    if (t->dims.data[i] < 0 || __builtin_mul_overflow(count, (size_t)t->dims.data[i], &count)) return false;
  }
  *out = count;
  return count <= SIZE_MAX / 256;
}

typedef struct tensor_data_t {
  const void* data;
  size_t size;    // in memory form
  size_t stored;  // elements found
  bool raw;
} tensor_data_t;

// `count` elements in memory form, borrowed where possible.
static bool tensor_data(onnx_importer_t* im, const onnx_pb_tensor_t* t, const data_type_t* type, size_t count,
                        const char* name, tensor_data_t* out) {
  arena_t* arena = ir_context_arena(im->ctx);
  onnx_bytes_t raw = t->raw_data;
  if (t->data_location == 1 && !external_bytes(im, t, name, &raw)) return false;
  size_t bytes = type->bits < 8 ? 1 : type->bits / 8;
  const onnx_chunks_t* chunks = typed_field(t, type);
  *out = (tensor_data_t){.size = bytes * count, .raw = raw.data != NULL};
  bool packed = type->bits < 8;
  if (!raw.data && (type->field == FIELD_FLOAT || type->field == FIELD_DOUBLE)) raw = join_chunks(arena, chunks);
  if (!raw.data) {
    size_t entries = packed ? (count * type->bits + 7) / 8 : count;
    if (entries > chunks_size(chunks)) return out->stored = 0, true;  // a varint takes a byte at least
    uint8_t* data = arena_alloc(arena, (packed ? entries : entries * bytes) + 1);
    size_t found = decode_varints(chunks, packed ? 1 : bytes, entries, data);
    raw = (onnx_bytes_t){(char*)data, packed ? found : found * bytes};
  }
  out->stored = packed ? (raw.size >= (count * type->bits + 7) / 8 ? count : raw.size) : raw.size / bytes;
  if (packed && out->stored == count) {
    uint8_t* data = arena_alloc(arena, count + 1);
    unpack_bits(type, (const uint8_t*)raw.data, count, data);
    raw.data = (char*)data;
  }
  out->data = raw.data;
  return true;
}

// Names of dense_resource blobs: as a model's names may hold anything, what an identifier cannot have becomes '_'.
static const char* resource_name(onnx_importer_t* im, onnx_bytes_t name) {
  arena_t* arena = ir_context_arena(im->ctx);
  char* text = arena_alloc(arena, name.size + 2);
  bool identifier = name.size > 0 && !(name.data[0] >= '0' && name.data[0] <= '9');
  for (size_t i = 0; i < name.size; ++i) {
    char c = name.data[i];
    bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    text[i + 1] = word || c == '.' ? c : '_';
    identifier &= word;
  }
  text[0] = '_';
  return onnx_names_unique(im->resources, im->ctx, identifier ? text + 1 : text);
}

// Dimension `d` and those behind it of strings from `*at` on, as lists of lists.
static const ir_attr_t* nest_strings(onnx_importer_t* im, const onnx_pb_tensor_t* t, size_t d, size_t* at) {
  if (d == t->dims.count) {
    onnx_bytes_t s = t->string_data.data[(*at)++];
    return ir_attr_string(im->ctx, s.data ? s.data : "", s.size);
  }
  uint32_t count = (uint32_t)t->dims.data[d];
  const ir_attr_t** items = memory_array((size_t)count + 1, sizeof(*items));
  for (uint32_t i = 0; i < count; ++i) items[i] = nest_strings(im, t, d + 1, at);
  const ir_attr_t* list = ir_attr_array(im->ctx, items, count);
  memory_free(items);
  return list;
}

static const ir_attr_t* string_attr(onnx_importer_t* im, const onnx_pb_tensor_t* t, size_t count, const char* name) {
  size_t at = 0;
  bool fits = t->dims.count < ONNX_MAX_RANK && count <= UINT32_MAX && t->string_data.count == count;
  for (size_t i = 0; i + 1 < t->dims.count; ++i) fits &= t->dims.data[i] != 0;  // a list of none has no shape
  if (!fits) {
    ir_error(im->ctx, im->loc, "tensor '%s' needs %zu strings but its data holds %zu, or has too many dimensions", name,
             count, t->string_data.count);
    return NULL;
  }
  return nest_strings(im, t, 0, &at);
}

const ir_attr_t* onnx_tensor_attr(onnx_importer_t* im, const onnx_pb_tensor_t* t, const char* name) {
  ir_context_t* ctx = im->ctx;
  const data_type_t* type = find_data_type(t->data_type);
  const ir_type_t* element = onnx_any_element_type(ctx, t->data_type);
  size_t count = 0;
  if (!element) {
    ir_error(ctx, im->loc, "tensor '%s' has element type %s (%lld), which has no counterpart here", name,
             onnx_data_type_name(t->data_type), (long long)t->data_type);
    return NULL;
  }
  if (t->segment || t->dims.count > ONNX_MAX_RANK || !element_count(t, &count)) {
    ir_error(ctx, im->loc, "tensor '%s' has %s", name,
             t->segment ? "segments, which are not supported" : "an invalid or too large shape");
    return NULL;
  }
  if (t->data_type == ONNX_STRING) return string_attr(im, t, count, name);
  tensor_data_t data;
  if (!tensor_data(im, t, type, count, name, &data)) return NULL;
  if (data.stored != count) {
    ir_error(ctx, im->loc, "tensor '%s' needs %zu elements of type %s but its data holds %zu", name, count, type->name,
             data.stored);
    return NULL;
  }
  const ir_type_t* tensor = ir_type_tensor(ctx, element, (int32_t)t->dims.count, t->dims.data);
  if (!data.raw) {
    bool equal =
        count > 1 && memcmp(data.data, (const char*)data.data + data.size / count, data.size - data.size / count) == 0;
    return ir_attr_elements_borrow(ctx, tensor, count ? data.data : "", equal ? data.size / count : data.size);
  }
  return ir_attr_resource(ctx, tensor, resource_name(im, t->name), count ? data.data : "", data.size);
}
