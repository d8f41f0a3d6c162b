// Element data: dense<1.0>, dense<[[1, 2], [3, 4]]>, dense<"0x...">, dense_resource<name>, array<i64: 1, 2>.
//
// The type stands behind the data, so the data is skipped first, the type read, then the data converted straight into
// its final memory.
#include "ir/parse_state.h"

typedef struct dense_t {
  ir_parser_t* p;
  const ir_type_t* type;
  const ir_type_t* scalar;
  uint32_t bytes;
  unsigned char* out;
  int64_t count;  // elements written
  int64_t total;
} dense_t;

//===----------------------------------------------------------------------------------------------------------------===
// Hexadecimal data
//===----------------------------------------------------------------------------------------------------------------===

// Packed bits, as some writers store i1: eight elements a byte, lowest first.
static void unpack_bits(const unsigned char* in, int64_t count, unsigned char* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = in[i / 8] >> (i % 8) & 1;
}

// Bytes that say it all: those of one element when all are equal.
static size_t significant_size(const unsigned char* data, size_t size, size_t bytes) {
  return size > bytes && bytes && memcmp(data, data + bytes, size - bytes) == 0 ? bytes : size;
}

// Raw bytes as elements of `type`; NULL (reported) when the size is wrong.
static const ir_attr_t* raw_elements(ir_parser_t* p, const ir_type_t* type, const unsigned char* data, size_t size,
                                     const char* resource) {
  const ir_type_t* scalar = ir_type_scalar(type);
  size_t bytes = ir_type_bytes(scalar);
  int64_t count = ir_type_count(type);
  bool is_bool = scalar->kind == IR_TYPE_INTEGER && scalar->width == 1;
  if (is_bool && count > 1 && size == (size_t)(count + 7) / 8 && !resource) {
    bool splat = size == 1 && (data[0] == 0 || data[0] == 255);
    unsigned char* bits = arena_alloc(&p->ctx->arena, splat ? 1 : (size_t)count);
    unpack_bits(data, splat ? 1 : count, bits);
    size_t given = splat ? 1 : (size_t)count;
    return ir_attr_elements_borrow(p->ctx, type, bits, significant_size(bits, given, 1));
  }
  if (is_bool && count == 1 && size == 1) {
    unsigned char bit = data[0] & 1;
    return ir_attr_elements(p->ctx, type, &bit, 1);
  }
  if (size != (size_t)count * bytes && (size != bytes || count == 0)) {
    ir_parse_fail(p, "element data has %zu bytes where '%s' takes %lld", size, ir_type_str(p->ctx, type),
                  (long long)count * (long long)bytes);
    return NULL;
  }
  if (resource) return ir_attr_resource(p->ctx, type, resource, data, size);
  return ir_attr_elements_borrow(p->ctx, type, data, significant_size(data, size, bytes));
}

// Data that stays text until it is asked for: weights, and nothing that needs a look at its values.
static bool is_lazy(const ir_type_t* type, size_t size) {
  enum { LEAST = 4096 };
  const ir_type_t* scalar = ir_type_scalar(type);
  bool is_bool = scalar->kind == IR_TYPE_INTEGER && scalar->width == 1;
  return size >= LEAST && !is_bool && size == (size_t)ir_type_count(type) * ir_type_bytes(scalar);
}

static unsigned char* decode(ir_parser_t* p, const char* hex, size_t bytes) {
  unsigned char* data = arena_alloc(&p->ctx->arena, bytes + 1);
  ir_hex_decode(hex, bytes, data);
  return data;
}

static const ir_attr_t* hex_elements(ir_parser_t* p, const ir_type_t* type, const char* hex, size_t digits) {
  if (digits % 2 || ir_hex_span(hex, digits) != digits) {
    return ir_parse_fail(p, "expected an even number of hexadecimal digits"), NULL;
  }
  size_t size = digits / 2, bytes = ir_type_bytes(ir_type_scalar(type));
  if (!is_lazy(type, size)) return raw_elements(p, type, decode(p, hex, size), size, NULL);
  ir_context_note_read(p->ctx, digits);
  bool splat = bytes && memcmp(hex, hex + 2 * bytes, digits - 2 * bytes) == 0;
  if (splat) return ir_attr_elements_borrow(p->ctx, type, decode(p, hex, bytes), bytes);
  return ir_attr_lazy(p->ctx, type, NULL, ir_hex_lazy(p->ctx, hex, size));
}

static const ir_attr_t* resource_elements(ir_parser_t* p, const ir_type_t* type, ir_resource_t* resource,
                                          const char* name) {
  size_t size = resource->hex_size / 2;
  if (is_lazy(type, size)) {
    if (!resource->lazy) resource->lazy = ir_hex_lazy(p->ctx, resource->hex, size);
    return ir_attr_lazy(p->ctx, type, name, resource->lazy);
  }
  if (!resource->data) resource->data = decode(p, resource->hex, size);
  return raw_elements(p, type, resource->data, size, name);
}

//===----------------------------------------------------------------------------------------------------------------===
// Lists of numbers
//===----------------------------------------------------------------------------------------------------------------===

static bool parse_scalar(dense_t* d, const ir_type_t* type, unsigned char* out) {
  ir_parser_t* p = d->p;
  char c = ir_peek(p, 0);
  if (type->kind == IR_TYPE_FLOAT) {
    bool negative = c == '-' && ir_take(p, '-');
    double value;
    if (ir_peek(p, 0) == '0' && ir_peek(p, 1) == 'x') {
      uint64_t bits;
      if (!ir_parse_uint(p, &bits)) return false;
      if (!ir_store_float_bits(type, bits, &value)) return ir_parse_fail(p, "hexadecimal float is out of range");
      for (uint32_t i = 0; i < ir_type_bytes(type); ++i) out[i] = (unsigned char)(bits >> (8 * i));
      return true;
    }
    if (!ir_parse_number(p, &value)) return false;
    if (type->float_kind == IR_F32) {
      float narrow = (float)(negative ? -value : value);
      memcpy(out, &narrow, 4);
    } else {
      ir_scalar_store_number(type, negative ? -value : value, out);
    }
    return true;
  }
  if (c == 't' && ir_parse_try(p, "true")) {
    ir_scalar_store_integer(type, 1, out);
  } else if (c == 'f' && ir_parse_try(p, "false")) {
    ir_scalar_store_integer(type, 0, out);
  } else {
    const ir_attr_t* number = NULL;
    if (!ir_is_digit(c) && c != '-')
      return ir_parse_fail(p, "expected a number of type '%s'", ir_type_str(p->ctx, type));
    if (type->kind == IR_TYPE_INTEGER && type->width > 64) {
      return ir_parse_fail(p, "elements wider than 64 bits are given as dense<\"0x...\">");
    }
    int64_t small;
    ir_cursor_t start = p->cursor;
    ++p->quiet;
    bool fast = type->width >= 8 && type->sign != IR_UNSIGNED && ir_parse_integer(p, &small);
    --p->quiet;
    p->failed = false;
    uint32_t width = type->kind == IR_TYPE_INDEX ? 64 : type->width;
    if (fast && (width == 64 || (small >= -(1ll << (width - 1)) && small < 1ll << (width - 1))) &&
        ir_peek(p, 0) != '.') {
      ir_scalar_store_integer(type, small, out);
      return true;
    }
    p->cursor = start;
    if (!(number = ir_parse_attr(p, type))) return false;
    ir_scalar_store_integer(type, number->integer, out);
  }
  return true;
}

static bool parse_element(dense_t* d, unsigned char* out) {
  if (d->scalar->kind != IR_TYPE_COMPLEX) return parse_scalar(d, d->scalar, out);
  const ir_type_t* part = d->scalar->element;
  return ir_take_expected(d->p, '(') && parse_scalar(d, part, out) && ir_take_expected(d->p, ',') &&
         parse_scalar(d, part, out + d->bytes / 2) && ir_take_expected(d->p, ')');
}

// [..] of dimension `dim`, nested for the dimensions behind it.
static bool parse_level(dense_t* d, int32_t dim) {
  ir_parser_t* p = d->p;
  if (dim == d->type->rank) {
    if (d->count >= d->total) return ir_parse_fail(p, "more elements than '%s' has", ir_type_str(p->ctx, d->type));
    return parse_element(d, d->out + (size_t)d->count++ * d->bytes);
  }
  int64_t size = d->type->dims[dim], seen = 0;
  if (!ir_take(p, '[')) return ir_parse_fail(p, "expected '[' of dimension %d", dim);
  while (!ir_take(p, ']')) {
    if (seen++ && !ir_take(p, ',')) return ir_parse_fail(p, "expected ',' or ']'");
    if (seen > size) {
      return ir_parse_fail(p, "dimension %d of '%s' has only %lld elements", dim, ir_type_str(p->ctx, d->type),
                           (long long)size);
    }
    if (!parse_level(d, dim + 1)) return false;
  }
  if (seen == size) return true;
  return ir_parse_fail(p, "dimension %d of '%s' has %lld elements, only %lld were given", dim,
                       ir_type_str(p->ctx, d->type), (long long)size, (long long)seen);
}

static const ir_attr_t* list_elements(ir_parser_t* p, const ir_type_t* type, size_t text_size) {
  dense_t d = {.p = p, .type = type, .scalar = ir_type_scalar(type), .total = ir_type_count(type)};
  d.bytes = ir_type_bytes(d.scalar);
  if (ir_peek(p, 0) == '>') {
    if (d.total != 0) return ir_parse_fail(p, "expected elements"), NULL;
    return ir_attr_elements(p->ctx, type, "", 0);
  }
  if (ir_peek(p, 0) != '[') {
    unsigned char splat[16] = {0};
    if (d.bytes > sizeof(splat)) return ir_parse_fail(p, "unsupported element type"), NULL;
    if (!parse_element(&d, splat)) return NULL;
    return ir_attr_elements(p->ctx, type, splat, d.total == 0 ? 0 : d.bytes);
  }
  if (d.total > (int64_t)text_size) {
    return ir_parse_fail(p, "fewer elements than '%s' has", ir_type_str(p->ctx, type)), NULL;
  }
  d.out = arena_alloc(&p->ctx->arena, (size_t)d.total * d.bytes + 1);
  if (!parse_level(&d, 0)) return NULL;
  return ir_attr_elements_borrow(p->ctx, type, d.out, significant_size(d.out, (size_t)d.total * d.bytes, d.bytes));
}

//===----------------------------------------------------------------------------------------------------------------===
// dense<...> : type
//===----------------------------------------------------------------------------------------------------------------===

static bool is_data_type(const ir_type_t* type) {
  const ir_type_t* scalar = ir_type_scalar(type);
  if (scalar->kind == IR_TYPE_COMPLEX) scalar = scalar->element;
  return scalar->kind == IR_TYPE_INTEGER || scalar->kind == IR_TYPE_INDEX || scalar->kind == IR_TYPE_FLOAT;
}

// Bits of an element's bytes beyond its width say nothing: equal elements become equal bytes.
static bool has_unused_bits(const ir_type_t* scalar) {
  return scalar->kind == IR_TYPE_FLOAT ? scalar->width < 8
                                       : scalar->kind == IR_TYPE_INTEGER && scalar->width % 8 && scalar->width < 64;
}

static const unsigned char* clear_unused_bits(ir_parser_t* p, const ir_type_t* scalar, const unsigned char* data,
                                              size_t size) {
  unsigned char* clear = arena_copy(&p->ctx->arena, data, size);
  uint32_t bytes = ir_type_bytes(scalar);
  for (size_t i = 0; i + bytes <= size; i += bytes) {
    if (scalar->kind == IR_TYPE_FLOAT) clear[i] &= (unsigned char)((1u << scalar->width) - 1);
    if (scalar->kind == IR_TYPE_INTEGER) {
      ir_scalar_store_integer(scalar, ir_scalar_load_integer(scalar, &clear[i]), &clear[i]);
    }
  }
  return clear;
}

const ir_attr_t* ir_parse_raw_elements(ir_parser_t* p, const ir_type_t* type, const unsigned char* data, size_t size,
                                       const char* resource) {
  bool shaped = type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_VECTOR;
  if (!shaped || !ir_type_is_static(type) || !is_data_type(type)) return ir_parse_fail(p, "no elements"), NULL;
  const ir_type_t* scalar = ir_type_scalar(type);
  bool bits = scalar->kind == IR_TYPE_INTEGER && scalar->width == 1 && (int64_t)size != ir_type_count(type);
  if (has_unused_bits(scalar) && !bits && size) data = clear_unused_bits(p, scalar, data, size);
  return raw_elements(p, type, data, size, resource);
}

static const ir_type_t* parse_elements_type(ir_parser_t* p) {
  if (!ir_parse_expect(p, ":")) return NULL;
  ir_cursor_t start = p->cursor;
  const ir_type_t* type = ir_parse_type(p);
  if (!type) return NULL;
  bool shaped = type->kind == IR_TYPE_TENSOR || type->kind == IR_TYPE_VECTOR || type->kind == IR_TYPE_VTENSOR;
  if (shaped && type->element && ir_type_is_static(type)) return type;
  p->cursor = start;
  ir_parse_fail(p, "element data needs a static shape, got '%s'", ir_type_str(p->ctx, type));
  return NULL;
}

// The `>` that ends the literal, or NULL.
static const char* find_end(ir_parser_t* p) {
  const char* at = p->cursor.at;
  if (ir_peek(p, 0) == '"' && ir_peek(p, 1) == '0' && ir_peek(p, 2) == 'x') {  // read long data once
    const char* behind = at + 3 + ir_hex_span(at + 3, ir_left(p) - 3);
    if (p->end - behind > 1 && behind[0] == '"' && behind[1] == '>') return behind + 1;
  }
  const char* close = memchr(at, '>', ir_left(p));
  if (!close) return NULL;
  if (!memchr(at, '"', (size_t)(close - at))) return close;
  size_t size = ir_balanced_size(p);
  return size == SIZE_MAX ? NULL : at + size;
}

// Data in a string, or of a type that has no numbers.
static const ir_attr_t* text_elements(ir_parser_t* p, const char* begin, const char* end, const ir_type_t* type) {
  if (!is_data_type(type)) {  // strings, quantised: only pass through
    ir_name_t body = ir_intern(p->ctx, begin, (size_t)(end - begin));
    return ir_typed_opaque(p, "builtin.dense", body, type);
  }
  const char* quote = end - 1;
  while (quote > begin && *quote != '"') --quote;
  if (quote - begin < 3 || begin[1] != '0' || begin[2] != 'x') {
    return ir_parse_fail(p, "element data in a string starts with 0x"), NULL;
  }
  return hex_elements(p, type, begin + 3, (size_t)(quote - begin) - 3);
}

// At the literal: converts it, leaving the position behind the type.
static const ir_attr_t* parse_literal(ir_parser_t* p) {
  ir_cursor_t start = p->cursor;
  const char* end = find_end(p);
  if (!end) return ir_parse_fail(p, "expected '>' at the end of the elements"), NULL;
  ir_jump(p, end);
  const ir_type_t* type = ir_take_expected(p, '>') ? parse_elements_type(p) : NULL;
  if (!type) return NULL;
  if (*start.at == '"' || !is_data_type(type)) return text_elements(p, start.at, end, type);
  ir_cursor_t behind = p->cursor;
  p->cursor = start;
  const ir_attr_t* attr = list_elements(p, type, (size_t)(end - start.at));
  if (!attr) return NULL;
  if (p->cursor.at != end) return ir_parse_fail(p, "expected '>' behind the elements"), NULL;
  p->cursor = behind;
  return attr;
}

const ir_attr_t* ir_parse_dense(ir_parser_t* p) { return ir_take_expected(p, '<') ? parse_literal(p) : NULL; }

// Data that was left out when the text was printed stays left out: not elements, but the same text again.
static const ir_attr_t* elided(ir_parser_t* p, const char* name, const ir_type_t* type) {
  return ir_typed_opaque(p, "builtin.dense_resource", name, type);
}

const ir_attr_t* ir_parse_dense_resource(ir_parser_t* p) {
  const char* text;
  size_t size;
  if (!ir_take_expected(p, '<')) return NULL;
  ir_cursor_t start = p->cursor;
  if (ir_peek(p, 0) == '"') {
    if (!ir_parse_string(p, &text, &size)) return NULL;
  } else {
    size = ir_suffix_size(p, 0);
    text = arena_strndup(&p->scratch, p->cursor.at, size);
    if (!size) return ir_parse_fail(p, "expected the name of a resource"), NULL;
    ir_advance(p, size);
  }
  if (!ir_take_expected(p, '>')) return NULL;
  const ir_type_t* type = parse_elements_type(p);
  if (!type) return NULL;
  ir_resource_t* resource = ir_resource_find(p, text, size);
  if (p->failed) return NULL;
  if (!resource) {
    if (strcmp(text, "__elided__") == 0) return elided(p, text, type);
    p->cursor = start;
    return ir_parse_fail(p, "no data for resource '%s': expected it in {-# dialect_resources #-}", text), NULL;
  }
  if (!is_data_type(type)) return elided(p, text, type);
  return resource_elements(p, type, resource, text);
}

// array<i64: 1, 2>
const ir_attr_t* ir_parse_dense_array(ir_parser_t* p) {
  if (!ir_take_expected(p, '<')) return NULL;
  const ir_type_t* type = ir_parse_type(p);
  if (!type) return NULL;
  bool integer = type->kind == IR_TYPE_INTEGER && type->width <= 64 && (type->width & (type->width - 1)) == 0;
  if (!integer && type->kind != IR_TYPE_FLOAT) return ir_parse_fail(p, "array<> takes integers or floats"), NULL;
  dense_t d = {.p = p, .type = type, .scalar = type, .bytes = ir_type_bytes(type)};
  size_t capacity = 8;
  d.out = ir_parse_scratch(p, capacity * d.bytes);
  if (ir_take(p, ':') || ir_peek(p, 0) != '>') {
    do {
      if ((size_t)d.count == capacity) {
        unsigned char* wider = ir_parse_scratch(p, (capacity *= 2) * d.bytes);
        d.out = memcpy(wider, d.out, (size_t)d.count * d.bytes);
      }
      if (!parse_element(&d, d.out + (size_t)d.count++ * d.bytes)) return NULL;
    } while (ir_take(p, ','));
  }
  if (!ir_take_expected(p, '>')) return NULL;
  if (d.count > UINT32_MAX) return ir_parse_fail(p, "array is too long"), NULL;
  return ir_attr_dense_array(p->ctx, type, d.out, (uint32_t)d.count);
}
