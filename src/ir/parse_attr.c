// Attributes but for dense elements (parse_dense.c), affine maps (parse_affine.c) and locations (parse_loc.c).
#include <stdlib.h>

#include "ir/parse_state.h"
#include "ir/print_attr.h"

//===----------------------------------------------------------------------------------------------------------------===
// Numbers
//===----------------------------------------------------------------------------------------------------------------===

// The value of a float type's bit pattern.
bool ir_store_float_bits(const ir_type_t* type, uint64_t bits, double* value) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = (unsigned char)(bits >> (8 * i));
  uint32_t bytes_of = ir_type_bytes(type), limit = bytes_of > 1 ? 8 * bytes_of : type->width;  // tf32 is given as f32
  if (limit < 64 && bits >> limit) return false;
  *value = ir_scalar_load_number(type, bytes);
  return true;
}

static bool integer_fits(const ir_type_t* type, uint64_t magnitude, bool negative) {
  uint32_t width = type->kind == IR_TYPE_INTEGER ? type->width : 64;
  if (width > 64) width = 64;
  uint64_t top = width == 64 ? UINT64_MAX : (1ull << width) - 1;
  uint64_t half = 1ull << (width - 1);
  if (type->kind == IR_TYPE_INDEX || type->sign == IR_SIGNED) return negative ? magnitude <= half : magnitude < half;
  if (type->sign == IR_UNSIGNED) return negative ? magnitude == 0 : magnitude <= top;
  return negative ? magnitude <= half : magnitude <= top;
}

static const ir_attr_t* integer_attr(ir_parser_t* p, const ir_type_t* type, uint64_t magnitude, bool negative) {
  if (!integer_fits(type, magnitude, negative)) {
    ir_parse_fail(p, "integer is out of range for '%s'", ir_type_str(p->ctx, type));
    return NULL;
  }
  return ir_attr_integer(p->ctx, type, (int64_t)(negative ? 0 - magnitude : magnitude));
}

static double round_to(const ir_type_t* type, double value) {
  unsigned char bytes[8] = {0};
  ir_scalar_store_number(type, value, bytes);
  return ir_scalar_load_number(type, bytes);
}

static bool is_float_literal(const ir_parser_t* p) {
  size_t i = 0;
  while (ir_is_digit(ir_peek(p, i))) ++i;
  return ir_peek(p, i) == '.';
}

static const ir_attr_t* parse_number_attr(ir_parser_t* p, const ir_type_t* type) {
  bool negative = ir_take(p, '-'), real = is_float_literal(p), hex = ir_peek(p, 1) == 'x';
  double number = 0;
  uint64_t magnitude = 0;
  if (!(real ? ir_parse_number(p, &number) : ir_parse_uint(p, &magnitude))) return NULL;
  if (!type && ir_parse_try(p, ":") && !(type = ir_parse_type(p))) return NULL;
  if (!type) type = real ? ir_type_float(p->ctx, IR_F64) : ir_type_int(p->ctx, 64);
  if (type->kind == IR_TYPE_FLOAT) {
    if (!real && hex && !ir_store_float_bits(type, magnitude, &number)) {
      return ir_parse_fail(p, "hexadecimal float is out of range for '%s'", ir_type_str(p->ctx, type)), NULL;
    }
    if (!real && !hex) number = (double)magnitude;
    return ir_attr_float(p->ctx, type, round_to(type, negative ? -number : number));
  }
  if (type->kind != IR_TYPE_INTEGER && type->kind != IR_TYPE_INDEX) {
    return ir_parse_fail(p, "a number cannot have type '%s'", ir_type_str(p->ctx, type)), NULL;
  }
  if (real) return ir_parse_fail(p, "expected an integer for type '%s'", ir_type_str(p->ctx, type)), NULL;
  return integer_attr(p, type, magnitude, negative);
}

//===----------------------------------------------------------------------------------------------------------------===
// Symbols, strings, lists
//===----------------------------------------------------------------------------------------------------------------===

const ir_attr_t* ir_parse_symbol(ir_parser_t* p) {
  ir_name_t root = ir_parse_symbol_name(p);
  if (!root) return NULL;
  const ir_attr_t* nested[IR_PARSE_MAX_DEPTH];
  uint32_t count = 0;
  while (ir_peek(p, 0) == ':' && ir_peek(p, 1) == ':') {
    ir_advance(p, 2);
    ir_name_t name = ir_parse_symbol_name(p);
    if (!name) return NULL;
    if (count == IR_PARSE_MAX_DEPTH) return ir_parse_fail(p, "symbol reference is too long"), NULL;
    nested[count++] = ir_attr_symbol(p->ctx, name);
  }
  return ir_attr_symbol_nested(p->ctx, root, nested, count);
}

static const ir_attr_t* parse_string_attr(ir_parser_t* p) {
  const char* text;
  size_t size;
  if (!ir_parse_string(p, &text, &size)) return NULL;
  return ir_attr_string(p->ctx, text, size);
}

// A dialect attribute with its type: entry ":" holds the type.
const ir_attr_t* ir_typed_opaque(ir_parser_t* p, const char* name, const char* body, const ir_type_t* type) {
  ir_named_attr_t entry = {":", ir_attr_type(p->ctx, type)};
  return ir_attr_opaque(p->ctx, name, body, &entry, 1);
}

// `#dialect.attr<...> : type` where nothing else could own the type.
const ir_attr_t* ir_parse_item(ir_parser_t* p) {
  const ir_attr_t* attr = ir_parse_attr(p, NULL);
  if (!attr || attr->kind != IR_ATTR_OPAQUE || !ir_parse_try(p, ":")) return attr;
  const ir_type_t* type = ir_parse_type(p);
  return type ? ir_typed_opaque(p, attr->text, attr->body, type) : NULL;
}

static const ir_attr_t* parse_array(ir_parser_t* p) {
  uint32_t count = 0;
  const ir_attr_t* inline_items[8];
  const ir_attr_t** items = inline_items;
  ir_advance(p, 1);
  while (!ir_take(p, ']')) {
    if (count && !ir_parse_expect(p, ",")) return NULL;
    if (count >= 8) items = ir_parse_grow(p, items, count, sizeof(*items));
    if (!(items[count++] = ir_parse_item(p))) return NULL;
  }
  return ir_attr_array(p->ctx, items, count);
}

static int compare_names(const void* a, const void* b) {
  const char *x = ((const ir_named_attr_t*)a)->name, *y = ((const ir_named_attr_t*)b)->name;
  return x < y ? -1 : x > y;
}

bool ir_unique_names(const ir_named_attr_t* entries, uint32_t count) {
  if (count < 2) return true;
  ir_named_attr_t* sorted = memory_array(count, sizeof(*sorted));
  memcpy(sorted, entries, sizeof(*sorted) * count);
  qsort(sorted, count, sizeof(*sorted), compare_names);
  bool unique = true;
  for (uint32_t i = 1; i < count; ++i) unique = unique && sorted[i].name != sorted[i - 1].name;
  memory_free(sorted);
  return unique;
}

static bool check_unique(ir_parser_t* p, const ir_named_attr_t* entries, uint32_t count) {
  if (count < 2) return true;
  ir_named_attr_t small[8], *sorted = count <= 8 ? small : ir_parse_scratch(p, sizeof(*sorted) * count);
  memcpy(sorted, entries, sizeof(*sorted) * count);
  qsort(sorted, count, sizeof(*sorted), compare_names);
  for (uint32_t i = 1; i < count; ++i) {
    if (sorted[i].name == sorted[i - 1].name) return ir_parse_fail(p, "attribute '%s' given twice", sorted[i].name);
  }
  return true;
}

static ir_name_t parse_entry_name(ir_parser_t* p) {
  if (ir_peek(p, 0) != '"') return ir_parse_keyword(p, "an attribute name");
  const char* text;
  size_t size;
  if (!ir_parse_string(p, &text, &size)) return NULL;
  if (!size || memchr(text, 0, size)) return ir_parse_fail(p, "expected an attribute name"), NULL;
  return ir_intern(p->ctx, text, size);
}

// Old spellings of attribute names.
static ir_name_t modern_name(ir_parser_t* p, ir_name_t name) {
  static const char* const renamed[][2] = {{"operand_segment_sizes", "operandSegmentSizes"},
                                           {"result_segment_sizes", "resultSegmentSizes"}};
  if (name[0] != 'o' && name[0] != 'r') return name;
  for (int i = 0; i < 2; ++i) {
    if (strcmp(name, renamed[i][0]) == 0) return ir_intern_cstr(p->ctx, renamed[i][1]);
  }
  return name;
}

// name = value, name, ... up to `close`, which is consumed.
bool ir_parse_attr_entries(ir_parser_t* p, ir_attr_list_t* list, char close) {
  uint32_t first = list->count;
  while (!ir_take(p, close)) {
    if (list->count > first && !ir_take(p, ',')) return ir_parse_fail(p, "expected ',' or '%c'", close);
    ir_name_t name = parse_entry_name(p);
    if (!name) return false;
    const ir_attr_t* value = ir_parse_try(p, "=") ? ir_parse_item(p) : p->failed ? NULL : ir_attr_unit(p->ctx);
    if (!value) return false;
    ir_list_add_named_attr(p, list, modern_name(p, name), value);
  }
  return check_unique(p, list->items, list->count);
}

static const ir_attr_t* parse_dict(ir_parser_t* p) {
  ir_attr_list_t list = {0};
  ir_advance(p, 1);
  return ir_parse_attr_entries(p, &list, '}') ? ir_attr_dict(p->ctx, list.items, list.count) : NULL;
}

const ir_attr_t* ir_parse_optional_dict(ir_parser_t* p) {
  return ir_peek(p, 0) == '{' ? ir_parse_attr(p, NULL) : ir_attr_dict(p->ctx, NULL, 0);
}

bool ir_parse_attr_dict(ir_parser_t* p, ir_draft_t* op) {
  return !ir_take(p, '{') || ir_parse_attr_entries(p, &op->attrs, '}');
}
bool ir_parse_attr_dict_keyword(ir_parser_t* p, ir_draft_t* op) {
  if (!ir_parse_try(p, "attributes")) return true;
  return ir_take_expected(p, '{') && ir_parse_attr_entries(p, &op->attrs, '}');
}
bool ir_parse_properties(ir_parser_t* p, ir_draft_t* op) {
  if (!ir_take(p, '<')) return true;
  return ir_take_expected(p, '{') && ir_parse_attr_entries(p, &op->attrs, '}') && ir_take_expected(p, '>');
}

//===----------------------------------------------------------------------------------------------------------------===
// Dialect attributes
//===----------------------------------------------------------------------------------------------------------------===

// `<key = value, ...>` when the body reads like that; the position stays.
static bool try_entries(ir_parser_t* p, ir_attr_list_t* list) {
  ir_cursor_t start = p->cursor;
  ++p->quiet;
  bool ok = ir_take(p, '<') && ir_word_size(p) > 0;
  while (ok) {
    ir_name_t name = ir_parse_try_keyword(p);
    const ir_attr_t* value = name && ir_take(p, '=') ? ir_parse_attr(p, NULL) : NULL;
    if (!(ok = value != NULL)) break;
    ir_list_add_named_attr(p, list, name, value);
    if (!ir_take(p, ',')) {
      ok = ir_peek(p, 0) == '>';
      break;
    }
    if (ir_peek(p, 0) == '>') break;
  }
  --p->quiet;
  p->failed = false;
  p->cursor = start;
  return ok;
}

// The same in one spelling, so that equal attributes are one.
static ir_name_t entries_text(ir_parser_t* p, const ir_attr_list_t* entries) {
  text_t text = {0};
  for (uint32_t i = 0; i < entries->count; ++i) {
    text_printf(&text, i ? ", %s = " : "%s = ", entries->items[i].name);
    ir_put_attr(&text, entries->items[i].value, IR_ATTR_IN_LIST);
  }
  ir_name_t body = ir_intern(p->ctx, text.data, text.size);
  text_finish(&text);
  return body;
}

// #stablehlo.type_extensions<bounds = [3]>, which is now written #stablehlo.bounds<3>. Entries with '?' do not parse as
// a list, so that the text decides.
static const ir_attr_t* bounds_attr(ir_parser_t* p, const char* body) {
  size_t size = body ? strlen(body) : 0;
  if (size < 11 || strncmp(body, "bounds = [", 10) != 0 || body[size - 1] != ']') {
    return ir_attr_opaque(p->ctx, "stablehlo.type_extensions", body, NULL, 0);
  }
  const char* list = arena_strndup(&p->scratch, body + 10, size - 11);
  return ir_attr_opaque(p->ctx, "stablehlo.bounds", list, NULL, 0);
}

static bool owns_type(const char* name) {
  static const char* const typed[] = {"flow.parameter.named", "stream.parameter.named", "util.uninitialized",
                                      "util.byte_pattern", "util.composite"};
  for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); ++i) {
    if (strcmp(name, typed[i]) == 0) return true;
  }
  return false;
}

// Behind the name: an optional <...>, and the type of those attributes that have one.
const ir_attr_t* ir_parse_dialect_attr(ir_parser_t* p, const char* name) {
  ir_name_t body = NULL;
  ir_attr_list_t entries = {0};
  bool parsed = ir_peek(p, 0) == '<' && try_entries(p, &entries);
  if (ir_peek(p, 0) == '<' && !(body = ir_parse_bracketed(p))) return NULL;
  if (parsed) body = entries_text(p, &entries);
  if (body && strcmp(name, "stablehlo.type_extensions") == 0) return bounds_attr(p, body);
  if (owns_type(name) && ir_parse_try(p, ":")) {
    const ir_type_t* type = ir_parse_type(p);
    return type ? ir_typed_opaque(p, name, body, type) : NULL;
  }
  return ir_attr_opaque(p->ctx, name, body, entries.items, parsed ? entries.count : 0);
}

// #alias, #dialect.name, #dialect.name<...>, #dialect<...>
static const ir_attr_t* parse_dialect_attr(ir_parser_t* p) {
  const char* at = p->cursor.at;
  size_t size = 1;
  while (ir_is_word(ir_peek(p, size)) || (ir_peek(p, size) == '-' && ir_is_suffix(ir_peek(p, size + 1)))) ++size;
  if (size == 1) return ir_parse_fail(p, "expected an attribute name after '#'"), NULL;
  if (!memchr(at, '.', size) && ir_peek(p, size) != '<') {
    const ir_alias_t* alias = ir_alias_use(p, at, size);
    if (!alias) return NULL;
    ir_advance(p, size);
    return alias->attr;
  }
  if (size > 9 && memcmp(at, "#builtin.", 9) == 0) {
    return ir_parse_fail(p, "attributes of the builtin dialect are written without '#builtin.'"), NULL;
  }
  bool mhlo = size >= 5 && memcmp(at, "#mhlo", 5) == 0 && (size == 5 || at[5] == '.');
  char* name = mhlo ? arena_printf(&p->scratch, "stablehlo%.*s", (int)size - 5, at + 5)
                    : arena_strndup(&p->scratch, at + 1, size - 1);
  ir_advance(p, size);
  return ir_parse_dialect_attr(p, name);
}

//===----------------------------------------------------------------------------------------------------------------===
// Keywords
//===----------------------------------------------------------------------------------------------------------------===

static const ir_attr_t* parse_true(ir_parser_t* p) { return ir_attr_bool(p->ctx, true); }
static const ir_attr_t* parse_false(ir_parser_t* p) { return ir_attr_bool(p->ctx, false); }
static const ir_attr_t* parse_unit(ir_parser_t* p) { return ir_attr_unit(p->ctx); }
static const ir_attr_t* parse_loc(ir_parser_t* p) {
  const ir_loc_t* loc = ir_parse_loc_body(p);
  return loc ? ir_attr_loc(p->ctx, loc) : NULL;
}
// Kept as text: these only pass through.
static const ir_attr_t* keep_text(ir_parser_t* p, const char* name, bool typed) {
  ir_name_t body = ir_parse_bracketed(p);
  if (!body) return NULL;
  if (!typed) return ir_attr_opaque(p->ctx, name, body, NULL, 0);
  const ir_type_t* type = ir_parse_expect(p, ":") ? ir_parse_type(p) : NULL;
  return type ? ir_typed_opaque(p, name, body, type) : NULL;
}
// affine_set<(d0)[s0] : (d0 >= 0, ...)>, whose `>=` are not brackets.
static const ir_attr_t* parse_affine_set(ir_parser_t* p) {
  if (!ir_take_expected(p, '<')) return NULL;
  int parens = 0;
  for (const char* at = p->cursor.at; at < p->end && *at && *at != '"' && *at != '\n'; ++at) {
    parens += (*at == '(') - (*at == ')');
    if (parens || *at != '>') continue;
    ir_name_t body = ir_intern(p->ctx, p->cursor.at, (size_t)(at - p->cursor.at));
    ir_jump(p, at + 1);
    return ir_attr_opaque(p->ctx, "builtin.affine_set", body, NULL, 0);
  }
  return ir_parse_fail(p, "expected '>' at the end of the affine set"), NULL;
}
static const ir_attr_t* parse_strided(ir_parser_t* p) { return keep_text(p, "builtin.strided", false); }
static const ir_attr_t* parse_sparse(ir_parser_t* p) { return keep_text(p, "builtin.sparse", true); }
static const ir_attr_t* parse_opaque(ir_parser_t* p) { return keep_text(p, "builtin.opaque", true); }
static const ir_attr_t* parse_distinct(ir_parser_t* p) {
  int64_t number;
  if (!ir_take_expected(p, '[') || !ir_parse_integer(p, &number) || !ir_take_expected(p, ']')) return NULL;
  return keep_text(p, arena_printf(&p->scratch, "builtin.distinct[%lld]", (long long)number), false);
}

static const struct {
  const char* name;
  const ir_attr_t* (*parse)(ir_parser_t* p);
} keywords[] = {
    {"true", parse_true},
    {"false", parse_false},
    {"unit", parse_unit},
    {"dense", ir_parse_dense},
    {"dense_resource", ir_parse_dense_resource},
    {"array", ir_parse_dense_array},
    {"affine_map", ir_parse_affine_map},
    {"affine_set", parse_affine_set},
    {"loc", parse_loc},
    {"strided", parse_strided},
    {"sparse", parse_sparse},
    {"opaque", parse_opaque},
    {"distinct", parse_distinct},
};

static const ir_attr_t* parse_word_attr(ir_parser_t* p) {
  size_t size = ir_word_size(p);
  const char* at = p->cursor.at;
  for (size_t i = 0; size && i < sizeof(keywords) / sizeof(keywords[0]); ++i) {
    if (keywords[i].name[0] == at[0] && strncmp(keywords[i].name, at, size) == 0 && !keywords[i].name[size]) {
      ir_advance(p, size);
      return keywords[i].parse(p);
    }
  }
  if (!ir_parse_peek_type(p)) return ir_parse_fail(p, "expected an attribute value"), NULL;
  const ir_type_t* type = ir_parse_type(p);
  return type ? ir_attr_type(p->ctx, type) : NULL;
}

static const ir_attr_t* parse_attr(ir_parser_t* p, const ir_type_t* type) {
  char c = ir_peek(p, 0);
  if (ir_is_digit(c) || c == '-') return parse_number_attr(p, type);
  switch (c) {
    case '@':
      return ir_parse_symbol(p);
    case '"':
      return parse_string_attr(p);
    case '[':
      return parse_array(p);
    case '{':
      return parse_dict(p);
    case '#':
      return parse_dialect_attr(p);
    case '!':
    case '(': {
      const ir_type_t* t = ir_parse_type(p);
      return t ? ir_attr_type(p->ctx, t) : NULL;
    }
    default:
      return parse_word_attr(p);
  }
}

const ir_attr_t* ir_parse_attr(ir_parser_t* p, const ir_type_t* type) {
  if (!ir_enter(p)) return NULL;
  const ir_attr_t* attr = parse_attr(p, type);
  ir_leave(p);
  return p->failed ? NULL : attr;
}

const ir_type_t* ir_attr_own_type(const ir_attr_t* attr) {
  if (attr->kind == IR_ATTR_OPAQUE) {
    const ir_attr_t* type = ir_attr_dict_get(attr, ":");
    return type ? type->type : NULL;
  }
  return attr->kind == IR_ATTR_TYPE || attr->kind == IR_ATTR_DENSE_ARRAY ? NULL : attr->type;
}
