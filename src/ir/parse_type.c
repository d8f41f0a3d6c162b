// Types: built-in ones by name, function types, !dialect.name<...>, !aliases.
#include <stdlib.h>

#include "base/small_float.h"
#include "ir/parse_state.h"

typedef struct dims_t {
  int32_t rank;
  int64_t dims[IR_PARSE_MAX_RANK];
} dims_t;

//===----------------------------------------------------------------------------------------------------------------===
// Lists
//===----------------------------------------------------------------------------------------------------------------===

bool ir_parse_types(ir_parser_t* p, ir_type_list_t* list) {
  do {
    const ir_type_t* type = ir_parse_type(p);
    if (!type) return false;
    ir_list_add_type(p, list, type);
  } while (ir_take(p, ','));
  return true;
}

bool ir_parse_types_in_parens(ir_parser_t* p, ir_type_list_t* list) {
  if (!ir_take_expected(p, '(')) return false;
  if (ir_take(p, ')')) return true;
  return ir_parse_types(p, list) && ir_take_expected(p, ')');
}

bool ir_parse_result_types(ir_parser_t* p, ir_type_list_t* list) {
  if (ir_peek(p, 0) == '(') return ir_parse_types_in_parens(p, list);
  const ir_type_t* type = ir_parse_type(p);
  if (type) ir_list_add_type(p, list, type);
  return type != NULL;
}

static const ir_type_t* parse_function(ir_parser_t* p) {
  ir_type_list_t inputs = {0}, results = {0};
  if (!ir_parse_types_in_parens(p, &inputs) || !ir_parse_expect(p, "->") || !ir_parse_result_types(p, &results)) {
    return NULL;
  }
  return ir_type_function(p->ctx, inputs.items, inputs.count, results.items, results.count);
}

static const ir_type_t* parse_tuple(ir_parser_t* p) {
  ir_type_list_t elements = {0};
  if (!ir_take_expected(p, '<')) return NULL;
  if (ir_peek(p, 0) != '>' && !ir_parse_types(p, &elements)) return NULL;
  if (!ir_take_expected(p, '>')) return NULL;
  return ir_type_tuple(p->ctx, elements.items, elements.count);
}

//===----------------------------------------------------------------------------------------------------------------===
// Shapes
//===----------------------------------------------------------------------------------------------------------------===

static bool add_dim(ir_parser_t* p, dims_t* out, int64_t dim) {
  if (out->rank == IR_PARSE_MAX_RANK) return ir_parse_fail(p, "more than %d dimensions", IR_PARSE_MAX_RANK);
  out->dims[out->rank++] = dim;
  return true;
}

static bool parse_dim(ir_parser_t* p, int64_t* dim) {
  if (ir_take(p, '?')) {
    *dim = IR_DYNAMIC;
    return true;
  }
  const char* at = p->cursor.at;
  int64_t value = 0;
  if (at >= p->end || !ir_is_digit(*at)) return ir_parse_fail(p, "expected a dimension (a number or '?')");
  for (; at < p->end && ir_is_digit(*at); ++at) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at - '0', &value)) {
      return ir_parse_fail(p, "dimension does not fit in 64 bits");
    }
  }
  *dim = value;
  ir_advance(p, (size_t)(at - p->cursor.at));
  return true;
}

static bool check_product(ir_parser_t* p, const dims_t* shape) {
  int64_t product = 1;
  for (int32_t i = 0; i < shape->rank; ++i) {
    if (shape->dims[i] <= 0) continue;
    if (__builtin_mul_overflow(product, shape->dims[i], &product) || product > INT64_MAX / 64) {
      return ir_parse_fail(p, "shape has too many elements");
    }
  }
  return true;
}

// 4x?x8x: each dimension with its 'x'.
static bool parse_dims(ir_parser_t* p, dims_t* out) {
  out->rank = 0;
  while (ir_is_digit(ir_peek(p, 0)) || ir_peek(p, 0) == '?') {
    int64_t dim;
    if (!parse_dim(p, &dim) || !add_dim(p, out, dim)) return false;
    if (!ir_take(p, 'x')) return ir_parse_fail(p, "expected 'x' after a dimension");
  }
  return check_product(p, out);
}

static const ir_type_t* builtin_opaque(ir_parser_t* p, const char* name) {
  ir_name_t body = ir_parse_bracketed(p);
  return body ? ir_type_opaque(p->ctx, name, body) : NULL;
}

static bool check_element(ir_parser_t* p, const ir_type_t* element) {
  switch (element->kind) {
    case IR_TYPE_INTEGER:
    case IR_TYPE_INDEX:
    case IR_TYPE_FLOAT:
    case IR_TYPE_COMPLEX:
    case IR_TYPE_VECTOR:
    case IR_TYPE_OPAQUE:
      return true;
    default:
      return ir_parse_fail(p, "a tensor's elements cannot be '%s'", ir_type_str(p->ctx, element));
  }
}

static const ir_type_t* parse_tensor(ir_parser_t* p) {
  dims_t shape;
  if (!ir_take_expected(p, '<')) return NULL;
  if (ir_take(p, '*')) {
    if (!ir_take(p, 'x')) return ir_parse_fail(p, "expected 'x' after '*'"), NULL;
    const ir_type_t* element = ir_parse_type(p);
    return element && check_element(p, element) && ir_take_expected(p, '>') ? ir_type_unranked_tensor(p->ctx, element)
                                                                            : NULL;
  }
  if (!parse_dims(p, &shape)) return NULL;
  const ir_type_t* element = ir_parse_type(p);
  if (!element || !check_element(p, element)) return NULL;
  const ir_attr_t* encoding = NULL;
  if (ir_take(p, ',') && !(encoding = ir_parse_attr(p, NULL))) return NULL;
  if (!ir_take_expected(p, '>')) return NULL;
  return ir_type_tensor_encoded(p->ctx, element, shape.rank, shape.dims, encoding);
}

// Scalable vectors, which only pass through, keep their text.
static const ir_type_t* parse_vector(ir_parser_t* p) {
  ir_cursor_t start = p->cursor;
  size_t size = ir_take(p, '<') ? ir_balanced_size(p) : SIZE_MAX;
  if (size != SIZE_MAX && memchr(p->cursor.at, '[', size)) {
    p->cursor = start;
    return builtin_opaque(p, "builtin.vector");
  }
  p->cursor = start;
  dims_t shape;
  if (!ir_take_expected(p, '<') || !parse_dims(p, &shape)) return NULL;
  const ir_type_t* element = ir_parse_type(p);
  if (!element || !ir_take_expected(p, '>')) return NULL;
  return ir_type_vector(p->ctx, element, shape.rank, shape.dims);
}

static bool space_of(const ir_attr_t* attr, ir_space_t* space) {
  static const struct {
    const char* body;
    ir_space_t space;
  } known[] = {{"global", IR_SPACE_GLOBAL}, {"workgroup", IR_SPACE_WORKGROUP}, {"private", IR_SPACE_PRIVATE}};
  if (attr->kind == IR_ATTR_INTEGER) {
    *space = (ir_space_t)attr->integer;
    return *space == IR_SPACE_GLOBAL || *space == IR_SPACE_CONSTANT || *space == IR_SPACE_WORKGROUP ||
           *space == IR_SPACE_PRIVATE;
  }
  // What IREE says of bindings is that they are global memory.
  if (attr->kind == IR_ATTR_OPAQUE && strcmp(attr->text, "hal.descriptor_type") == 0) {
    *space = IR_SPACE_GLOBAL;
    return true;
  }
  if (attr->kind != IR_ATTR_OPAQUE || strcmp(attr->text, "gpu.address_space") != 0) return false;
  for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
    *space = known[i].space;
    if (attr->body && strcmp(attr->body, known[i].body) == 0) return true;
  }
  return false;
}

// memref<4x?xf32, layout, space>; unranked ones and unknown spaces keep their text.
static const ir_type_t* parse_memref(ir_parser_t* p) {
  ir_cursor_t start = p->cursor;
  dims_t shape;
  const ir_attr_t* layout = NULL;
  ir_space_t space = IR_SPACE_GLOBAL;
  if (!ir_take_expected(p, '<')) return NULL;
  if (ir_peek(p, 0) == '*') {
    p->cursor = start;
    return builtin_opaque(p, "builtin.memref");
  }
  if (!parse_dims(p, &shape)) return NULL;
  const ir_type_t* element = ir_parse_type(p);
  if (!element) return NULL;
  while (ir_take(p, ',')) {
    const ir_attr_t* attr = ir_parse_attr(p, NULL);
    if (!attr) return NULL;
    bool is_layout = attr->kind == IR_ATTR_AFFINE_MAP ||
                     (attr->kind == IR_ATTR_OPAQUE && strcmp(attr->text, "builtin.strided") == 0);
    if (is_layout && !layout) {
      layout = attr;
    } else if (!space_of(attr, &space)) {
      p->cursor = start;
      return builtin_opaque(p, "builtin.memref");
    }
  }
  if (!ir_take_expected(p, '>')) return NULL;
  return ir_type_memref(p->ctx, element, shape.rank, shape.dims, layout, space);
}

static const ir_type_t* parse_complex(ir_parser_t* p) {
  if (!ir_take_expected(p, '<')) return NULL;
  const ir_type_t* element = ir_parse_type(p);
  if (!element || !ir_take_expected(p, '>')) return NULL;
  if (element->kind != IR_TYPE_FLOAT && element->kind != IR_TYPE_INTEGER && element->kind != IR_TYPE_INDEX) {
    return ir_parse_fail(p, "complex takes an integer or float type"), NULL;
  }
  return ir_type_complex(p->ctx, element);
}

// !torch.vtensor, !torch.vtensor<*,f32>, <[2,?],f32>, <[2],unk>
static const ir_type_t* parse_vtensor(ir_parser_t* p) {
  dims_t shape = {.rank = -1};
  const ir_type_t* element = NULL;
  if (!ir_take(p, '<')) return ir_type_vtensor(p->ctx, NULL, -1, NULL);
  if (!ir_take(p, '*')) {
    shape.rank = 0;
    if (!ir_take_expected(p, '[')) return NULL;
    while (!ir_take(p, ']')) {
      int64_t dim;
      if (shape.rank && !ir_take_expected(p, ',')) return NULL;
      if (!parse_dim(p, &dim) || !add_dim(p, &shape, dim)) return NULL;
    }
    if (!check_product(p, &shape)) return NULL;
  }
  if (!ir_take_expected(p, ',')) return NULL;
  if (!ir_parse_try(p, "unk") && !(element = ir_parse_type(p))) return NULL;
  if (!ir_take_expected(p, '>')) return NULL;
  return ir_type_vtensor(p->ctx, element, shape.rank, shape.rank > 0 ? shape.dims : NULL);
}

//===----------------------------------------------------------------------------------------------------------------===
// Scalars and dispatch by the first character
//===----------------------------------------------------------------------------------------------------------------===

// i32, si8, ui16; NULL (no diagnostic) when `name` is not one.
static const ir_type_t* integer_type(ir_parser_t* p, const char* name, size_t size) {
  size_t digits = name[0] == 'i' ? 1 : size > 1 && (name[0] == 's' || name[0] == 'u') && name[1] == 'i' ? 2 : 0;
  if (!digits || size == digits || size > digits + 8) return NULL;
  uint32_t width = 0;
  for (size_t i = digits; i < size; ++i) {
    if (!ir_is_digit(name[i])) return NULL;
    width = width * 10 + (uint32_t)(name[i] - '0');
  }
  if (!width || width > 128) {
    ir_parse_fail(p, "integer types are 1 to 128 bits wide");
    return NULL;
  }
  return ir_type_integer(p->ctx, width, name[0] == 'i' ? IR_SIGNLESS : name[0] == 's' ? IR_SIGNED : IR_UNSIGNED);
}

static const ir_type_t* simple_type(ir_parser_t* p, const char* name, size_t size) {
  if (name[0] == 'i' || name[0] == 's' || name[0] == 'u') {
    const ir_type_t* type = integer_type(p, name, size);
    if (type) return type;
  }
  if (size == 5 && memcmp(name, "index", 5) == 0) return ir_type_index(p->ctx);
  if (size == 4 && memcmp(name, "none", 4) == 0) return ir_type_none(p->ctx);
  if (name[0] != 'f' && name[0] != 'b' && name[0] != 't') return NULL;
  static const char* const others[] = {"f80", "f128"};
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {  // no arithmetic: they only pass through
    if (strncmp(others[i], name, size) == 0 && !others[i][size]) {
      return ir_type_opaque(p->ctx, arena_printf(&p->scratch, "builtin.%s", others[i]), NULL);
    }
  }
  for (size_t i = 0; i < IR_FLOAT_COUNT; ++i) {
    const char* text = float_formats[i].text;
    if (strncmp(text, name, size) == 0 && !text[size]) return ir_type_float(p->ctx, (ir_float_kind_t)i);
  }
  return NULL;
}

static const struct {
  const char* name;
  const ir_type_t* (*parse)(ir_parser_t* p);
} shaped_types[] = {{"tensor", parse_tensor},
                    {"vector", parse_vector},
                    {"memref", parse_memref},
                    {"complex", parse_complex},
                    {"tuple", parse_tuple}};

static const ir_type_t* parse_named(ir_parser_t* p) {
  size_t size = ir_word_size(p);
  const char* name = p->cursor.at;
  const ir_type_t* type = size ? simple_type(p, name, size) : NULL;
  if (type) {
    ir_advance(p, size);
    return type;
  }
  for (size_t i = 0; i < sizeof(shaped_types) / sizeof(shaped_types[0]); ++i) {
    if (size && strncmp(shaped_types[i].name, name, size) == 0 && !shaped_types[i].name[size]) {
      ir_advance(p, size);
      return shaped_types[i].parse(p);
    }
  }
  if (size) return ir_parse_fail(p, "unknown type '%.*s'", (int)(size < 80 ? size : 80), name), NULL;
  return ir_parse_fail(p, "expected a type"), NULL;
}

// quant types: numbers and spaces in one spelling, so that equal types are one.
static ir_name_t canonical_quant(ir_parser_t* p, const char* body) {
  text_t out = {0};
  for (const char* at = body; *at;) {
    size_t digits = strspn(at, "0123456789");
    bool number = digits && at[digits] == '.' && (at == body || !ir_is_word(at[-1]));
    if (number) {
      char* end;
      const ir_attr_t* value = ir_attr_float(p->ctx, ir_type_float(p->ctx, IR_F64), strtod(at, &end));
      ir_print_attr(&out, value);
      out.size -= strlen(" : f64");
      at = end;
    } else if (*at == ' ') {
      ++at;
    } else {
      text_append(&out, at, 1);
      if (*at++ == ',') text_puts(&out, " ");
    }
  }
  ir_name_t name = ir_intern(p->ctx, out.data ? out.data : "", out.size);
  text_finish(&out);
  return name;
}

// !alias, !dialect.name, !dialect.name<...>, !dialect<...>
static const ir_type_t* parse_dialect_type(ir_parser_t* p) {
  const char* at = p->cursor.at;
  size_t size = 1;
  while (ir_is_word(ir_peek(p, size))) ++size;
  if (size == 1) return ir_parse_fail(p, "expected a type name after '!'"), NULL;
  if (!memchr(at, '.', size) && ir_peek(p, size) != '<') {
    const ir_alias_t* alias = ir_alias_use(p, at, size);
    if (!alias) return NULL;
    ir_advance(p, size);
    return alias->type;
  }
  static const char vtensor[] = "!torch.vtensor";
  if (size == sizeof(vtensor) - 1 && memcmp(at, vtensor, size) == 0) {
    ir_advance(p, size);
    return parse_vtensor(p);
  }
  if (size > 9 && memcmp(at, "!builtin.", 9) == 0) {
    return ir_parse_fail(p, "types of the builtin dialect are written without '!builtin.'"), NULL;
  }
  bool mhlo = size > 6 && memcmp(at, "!mhlo.", 6) == 0;
  char* name = mhlo ? arena_printf(&p->scratch, "stablehlo.%.*s", (int)size - 6, at + 6)
                    : arena_strndup(&p->scratch, at + 1, size - 1);
  ir_advance(p, size);
  ir_name_t body = NULL;
  if (ir_peek(p, 0) == '<' && !(body = ir_parse_bracketed(p))) return NULL;
  if (body && strncmp(name, "quant.", 6) == 0) body = canonical_quant(p, body);
  return ir_type_opaque(p->ctx, name, body);
}

const ir_type_t* ir_parse_type(ir_parser_t* p) {
  if (!ir_enter(p)) return NULL;
  char c = ir_peek(p, 0);
  const ir_type_t* type = c == '!' ? parse_dialect_type(p) : c == '(' ? parse_function(p) : parse_named(p);
  ir_leave(p);
  return p->failed ? NULL : type;
}

bool ir_parse_peek_type(ir_parser_t* p) {
  char c = ir_peek(p, 0);
  if (c == '!' || c == '(') return true;
  size_t size = ir_word_size(p);
  if (!size) return false;
  ++p->quiet;
  bool failed = p->failed, known = simple_type(p, p->cursor.at, size) != NULL;
  --p->quiet;
  p->failed = failed;
  for (size_t i = 0; !known && i < sizeof(shaped_types) / sizeof(shaped_types[0]); ++i) {
    known = strncmp(shaped_types[i].name, p->cursor.at, size) == 0 && !shaped_types[i].name[size];
  }
  return known;
}
