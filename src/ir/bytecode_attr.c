// Attributes and types of bytecode: the table that is read on demand, and the builtin dialect's own encodings.
#include <string.h>

#include "ir/bytecode_state.h"
#include "ir/parse_state.h"
#include "ir/print_attr.h"

//===----------------------------------------------------------------------------------------------------------------===
// Text
//===----------------------------------------------------------------------------------------------------------------===

// Large texts are those of hostile files: real ones stand for one line.
static const char* keep_text(bytecode_t* b, const bytecode_bytes_t* c, text_t* text, size_t* size) {
  enum { MAX_TEXT = 1 << 20 };
  *size = text->size;
  const char* copy = *size < MAX_TEXT ? arena_strndup(ir_context_arena(b->ctx), text->data, *size) : NULL;
  text_finish(text);
  if (!copy) bytecode_fail(b, c, "an attribute or type is too large");
  return copy;
}

static const char* cut(const char* text) { return strlen(text) < 200 ? text : "..."; }

const ir_attr_t* bytecode_text_attr(bytecode_t* b, const bytecode_bytes_t* c, text_t* text) {
  size_t size;
  const char* copy = keep_text(b, c, text, &size);
  const ir_attr_t* attr = copy ? ir_parse_attr_text(b->ctx, copy, size) : NULL;
  if (copy && !attr) bytecode_fail(b, c, "'%s' is no attribute", cut(copy));
  return attr;
}

const ir_type_t* bytecode_text_type(bytecode_t* b, const bytecode_bytes_t* c, text_t* text) {
  size_t size;
  const char* copy = keep_text(b, c, text, &size);
  const ir_type_t* type = copy ? ir_parse_type_text(b->ctx, copy, size) : NULL;
  if (copy && !type) bytecode_fail(b, c, "'%s' is no type", cut(copy));
  return type;
}

static bool entry_text(bytecode_t* b, bytecode_bytes_t* c, text_t* out) {
  const unsigned char* end = memchr(c->at, 0, bytecode_left(c));
  if (!end) return bytecode_fail(b, c, "a text does not end");
  text_append(out, (const char*)c->at, (size_t)(end - c->at));
  c->at = end + 1;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// The table
//===----------------------------------------------------------------------------------------------------------------===

// Shardings are not looked at: what holds them leaves them out.
static const ir_attr_t* skip_sharding(bytecode_t* b, bytecode_bytes_t* c) {
  c->at = c->end;
  return ir_attr_unit(b->ctx);
}

static const struct {
  const char* dialect;
  const ir_attr_t* (*attr)(bytecode_t* b, bytecode_bytes_t* c);
  const ir_type_t* (*type)(bytecode_t* b, bytecode_bytes_t* c);
} encodings[] = {
    {"builtin", bytecode_builtin_attr, bytecode_builtin_type},
    {"vhlo", bytecode_vhlo_attr, bytecode_vhlo_type},
    {"stablehlo", bytecode_hlo_attr, bytecode_hlo_type},
    {"chlo", bytecode_chlo_attr, NULL},
    {"quant", NULL, bytecode_quant_type},
    {"sdy", skip_sharding, NULL},
};

static const void* read_custom(bytecode_t* b, bytecode_bytes_t* c, const char* dialect, bool is_type) {
  for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); ++i) {
    if (strcmp(encodings[i].dialect, dialect) != 0) continue;
    if (is_type && encodings[i].type) return encodings[i].type(b, c);
    if (!is_type && encodings[i].attr) return encodings[i].attr(b, c);
  }
  bytecode_fail(b, c, "the encoding of %s of dialect '%s' is not known; write the module as text",
                is_type ? "types" : "attributes", cut(dialect));
  return NULL;
}

static const void* read_value(bytecode_t* b, bytecode_bytes_t* c, const bytecode_entry_t* e, bool is_type) {
  if (e->custom) return read_custom(b, c, b->dialects[e->dialect], is_type);
  text_t text = {0};
  if (!entry_text(b, c, &text)) return NULL;
  return is_type ? (const void*)bytecode_text_type(b, c, &text) : (const void*)bytecode_text_attr(b, c, &text);
}

// Reads an entry. `depth` and `nodes` are of what it stands for, all its parts written out.
static bool read_entry(bytecode_t* b, bytecode_entry_t* e, bool is_type) {
  bytecode_bytes_t c = e->data;
  uint32_t height = b->height, nodes = b->nodes;
  if (e->busy) return bytecode_fail(b, &c, "an attribute or type has itself as a part");
  if (b->depth >= BYTECODE_MAX_DEPTH) return bytecode_fail(b, &c, "nested more than %d deep", BYTECODE_MAX_DEPTH);
  ++b->depth;
  b->height = 0;
  b->nodes = 1;
  e->busy = true;
  e->value = read_value(b, &c, e, is_type);
  e->busy = false;
  e->depth = b->height + 1;
  e->nodes = b->nodes;
  --b->depth;
  b->height = height;
  b->nodes = nodes;
  if (!e->value || b->failed) return false;
  if (bytecode_left(&c)) return bytecode_fail(b, &c, "an attribute or type is longer than what is read of it");
  if (e->depth > BYTECODE_MAX_DEPTH) return bytecode_fail(b, &c, "nested more than %d deep", BYTECODE_MAX_DEPTH);
  return e->nodes <= BYTECODE_MAX_NODES || bytecode_fail(b, &c, "an attribute or type has too many parts");
}

static const void* entry_value(bytecode_t* b, bytecode_entry_t* entries, size_t count, uint64_t index, bool is_type) {
  const char* what = is_type ? "type" : "attribute";
  if (index >= count) {
    bytecode_fail(b, NULL, "%s %llu of %zu is asked for", what, (unsigned long long)index, count);
    return NULL;
  }
  bytecode_entry_t* e = &entries[index];
  if ((!e->value || e->busy) && !read_entry(b, e, is_type)) return NULL;
  if (e->depth > b->height) b->height = e->depth;
  b->nodes = b->nodes > BYTECODE_MAX_NODES ? b->nodes : b->nodes + e->nodes;
  return e->value;
}

const ir_attr_t* bytecode_attr_at(bytecode_t* b, uint64_t index) {
  return entry_value(b, b->attrs, b->attr_count, index, false);
}
const ir_type_t* bytecode_type_at(bytecode_t* b, uint64_t index) {
  return entry_value(b, b->types, b->type_count, index, true);
}

const ir_attr_t* bytecode_attr(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t index;
  return bytecode_index(b, c, b->attr_count, &index, "attribute") ? bytecode_attr_at(b, index) : NULL;
}
const ir_type_t* bytecode_type(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t index;
  return bytecode_index(b, c, b->type_count, &index, "type") ? bytecode_type_at(b, index) : NULL;
}

bool bytecode_optional_attr(bytecode_t* b, bytecode_bytes_t* c, const ir_attr_t** out) {
  uint64_t index;
  bool there;
  *out = NULL;
  if (!bytecode_flagged(b, c, &index, &there)) return false;
  return !there || (*out = bytecode_attr_at(b, index)) != NULL;
}

const ir_loc_t* bytecode_loc(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  const ir_attr_t* attr = bytecode_attr(b, c);
  if (!attr) return NULL;
  if (attr->kind == IR_ATTR_LOCATION) return attr->loc;
  bytecode_fail(b, &start, "a location is expected");
  return NULL;
}

bool bytecode_attr_list(bytecode_t* b, bytecode_bytes_t* c, const ir_attr_t*** out, uint32_t* count) {
  uint64_t n;
  if (!bytecode_count(b, c, &n, "attributes")) return false;
  *out = ARENA_ARRAY(&b->scratch, const ir_attr_t*, n + 1);
  for (uint64_t i = 0; i < n; ++i) {
    if (!((*out)[i] = bytecode_attr(b, c))) return false;
  }
  *count = (uint32_t)n;
  return true;
}

bool bytecode_type_list(bytecode_t* b, bytecode_bytes_t* c, const ir_type_t*** out, uint32_t* count) {
  uint64_t n;
  if (!bytecode_count(b, c, &n, "types")) return false;
  *out = ARENA_ARRAY(&b->scratch, const ir_type_t*, n + 1);
  for (uint64_t i = 0; i < n; ++i) {
    if (!((*out)[i] = bytecode_type(b, c))) return false;
  }
  *count = (uint32_t)n;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Values that several dialects encode alike
//===----------------------------------------------------------------------------------------------------------------===

const ir_attr_t* bytecode_integer(bytecode_t* b, bytecode_bytes_t* c, const ir_type_t* type) {
  uint64_t bits;
  if (!type) return NULL;
  if (type->kind != IR_TYPE_INTEGER && type->kind != IR_TYPE_INDEX) {
    bytecode_fail(b, c, "an integer cannot have type '%s'", cut(ir_type_str(b->ctx, type)));
    return NULL;
  }
  uint32_t width = type->kind == IR_TYPE_INDEX ? 64 : type->width;
  return bytecode_bits(b, c, width, &bits) ? ir_attr_integer(b->ctx, type, (int64_t)bits) : NULL;
}

const ir_attr_t* bytecode_float(bytecode_t* b, bytecode_bytes_t* c, const ir_type_t* type) {
  uint64_t bits;
  double value;
  if (!type) return NULL;
  if (type->kind != IR_TYPE_FLOAT) {
    bytecode_fail(b, c, "a float cannot have type '%s'", cut(ir_type_str(b->ctx, type)));
    return NULL;
  }
  uint32_t width = type->width;
  if (!bytecode_bits(b, c, width, &bits)) return NULL;
  if (width < 64) bits &= (1ull << width) - 1;
  if (type->float_kind == IR_TF32) bits <<= 13;  // 19 bits, the upper ones of an f32
  if (!ir_store_float_bits(type, bits, &value)) {
    bytecode_fail(b, c, "a float's bits are out of range for '%s'", cut(ir_type_str(b->ctx, type)));
    return NULL;
  }
  return ir_attr_float(b->ctx, type, value);
}

// Element data. Booleans come as bits, or as one byte of ones for all. Where there are no elements, writers put none or
// the one that all would be.
const ir_attr_t* bytecode_elements(bytecode_t* b, bytecode_bytes_t* c, const ir_type_t* type) {
  static const unsigned char one = 1;
  bytecode_bytes_t blob, start = *c;
  if (!type || !bytecode_blob(b, c, &blob)) return NULL;
  const void* data = blob.at;
  const ir_type_t* scalar = ir_type_scalar(type);
  int64_t count = ir_type_count(type);
  bool is_bool = scalar->kind == IR_TYPE_INTEGER && scalar->width == 1;
  if (is_bool && (count == 1 || count > 8) && bytecode_left(&blob) == 1 && *blob.at) data = &one;
  bool is_empty_splat = count == 0 && bytecode_left(&blob) <= (is_bool ? 1 : ir_type_bytes(scalar));
  const ir_attr_t* attr = ir_attr_from_bytes(b->ctx, type, data, is_empty_splat ? 0 : bytecode_left(&blob), NULL);
  if (!attr) {
    bytecode_fail(b, &start, "%zu bytes are no elements of '%s'", bytecode_left(&blob), cut(ir_type_str(b->ctx, type)));
  }
  return attr;
}

const ir_type_t* bytecode_shaped(bytecode_t* b, bytecode_bytes_t* c, const char* name, const ir_attr_t* encoding) {
  bytecode_bytes_t start = *c;
  int64_t* dims;
  uint32_t rank;
  if (!bytecode_ints(b, c, &dims, &rank)) return NULL;
  const ir_type_t* element = bytecode_type(b, c);
  if (!element) return NULL;
  text_t text = {0};
  text_printf(&text, "%s<", name);
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] == IR_DYNAMIC || (dims[i] == -1 && b->version < BYTECODE_HAS_DIALECT_VERSIONS)) {
      text_puts(&text, "?x");
    } else {
      text_printf(&text, "%lldx", (long long)dims[i]);
    }
  }
  ir_print_type(&text, element);
  if (encoding) {
    text_puts(&text, ", ");
    ir_print_attr(&text, encoding);
  }
  text_puts(&text, ">");
  return bytecode_text_type(b, &start, &text);
}

const ir_type_t* bytecode_function(bytecode_t* b, bytecode_bytes_t* c) {
  const ir_type_t **inputs, **results;
  uint32_t input_count, result_count;
  if (!bytecode_type_list(b, c, &inputs, &input_count) || !bytecode_type_list(b, c, &results, &result_count)) {
    return NULL;
  }
  return ir_type_function(b->ctx, inputs, input_count, results, result_count);
}

// {count, name, value...}. Shardings are left out.
const ir_attr_t* bytecode_dict(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t count;
  uint32_t kept = 0;
  if (!bytecode_count(b, c, &count, "entries")) return NULL;
  ir_named_attr_t* entries = ARENA_ARRAY(&b->scratch, ir_named_attr_t, count + 1);
  for (uint64_t i = 0; i < count; ++i) {
    bytecode_bytes_t start = *c;
    const ir_attr_t* name = bytecode_attr(b, c);
    const ir_attr_t* value = name ? bytecode_attr(b, c) : NULL;
    if (!value) return NULL;
    if (name->kind != IR_ATTR_STRING || !name->size || memchr(name->text, 0, name->size)) {
      bytecode_fail(b, &start, "the name of an attribute is expected");
      return NULL;
    }
    if (name->size > 4 && memcmp(name->text, "sdy.", 4) == 0) {
      b->shardy = true;
    } else {
      entries[kept++] = (ir_named_attr_t){ir_intern(b->ctx, name->text, name->size), value};
    }
  }
  if (!ir_unique_names(entries, kept)) {
    bytecode_fail(b, c, "an attribute is given twice");
    return NULL;
  }
  return ir_attr_dict(b->ctx, entries, kept);
}

//===----------------------------------------------------------------------------------------------------------------===
// The builtin dialect
//===----------------------------------------------------------------------------------------------------------------===

static const ir_attr_t* read_string(bytecode_t* b, bytecode_bytes_t* c, bool typed) {
  bytecode_string_t string;
  if (!bytecode_string(b, c, &string) || (typed && !bytecode_type(b, c))) return NULL;
  return ir_attr_string(b->ctx, string.text, string.size);
}

// An attribute that is a string, as a name.
static ir_name_t read_name(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  const ir_attr_t* attr = bytecode_attr(b, c);
  if (!attr) return NULL;
  if (attr->kind == IR_ATTR_STRING && !memchr(attr->text, 0, attr->size)) {
    return ir_intern(b->ctx, attr->text, attr->size);
  }
  bytecode_fail(b, &start, "a name is expected");
  return NULL;
}

static const ir_attr_t* read_symbol(bytecode_t* b, bytecode_bytes_t* c, bool nested) {
  ir_name_t root = read_name(b, c);
  const ir_attr_t** items = NULL;
  uint32_t count = 0;
  if (!root || (nested && !bytecode_attr_list(b, c, &items, &count))) return NULL;
  for (uint32_t i = 0; i < count; ++i) {
    if (items[i]->kind == IR_ATTR_SYMBOL) continue;
    bytecode_fail(b, c, "a symbol is expected");
    return NULL;
  }
  return ir_attr_symbol_nested(b->ctx, root, items, count);
}

static const ir_attr_t* read_file_loc(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t line, column;
  ir_name_t file = read_name(b, c);
  if (!file || !bytecode_varint(b, c, &line) || !bytecode_varint(b, c, &column)) return NULL;
  return ir_attr_loc(b->ctx, ir_loc_file(b->ctx, file, (uint32_t)line, (uint32_t)column));
}

// {count, line, column, end...}: where it begins is kept.
static const ir_attr_t* read_range_loc(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t count, numbers[4] = {0};
  ir_name_t file = read_name(b, c);
  if (!file || !bytecode_count(b, c, &count, "numbers")) return NULL;
  for (uint64_t i = 0; i < count; ++i) {
    if (!bytecode_varint(b, c, &numbers[i < 4 ? i : 3])) return NULL;
  }
  return ir_attr_loc(b->ctx, ir_loc_file(b->ctx, file, (uint32_t)numbers[0], (uint32_t)numbers[1]));
}

static const ir_attr_t* read_fused_loc(bytecode_t* b, bytecode_bytes_t* c, bool metadata) {
  uint64_t count;
  if (!bytecode_count(b, c, &count, "locations")) return NULL;
  const ir_loc_t** locs = ARENA_ARRAY(&b->scratch, const ir_loc_t*, count + 1);
  for (uint64_t i = 0; i < count; ++i) {
    if (!(locs[i] = bytecode_loc(b, c))) return NULL;
  }
  if (metadata && !bytecode_attr(b, c)) return NULL;
  return ir_attr_loc(b->ctx, ir_loc_fused(b->ctx, locs, (uint32_t)count));
}

static const ir_attr_t* read_callsite(bytecode_t* b, bytecode_bytes_t* c) {
  const ir_loc_t* callee = bytecode_loc(b, c);
  const ir_loc_t* caller = callee ? bytecode_loc(b, c) : NULL;
  return caller ? ir_attr_loc(b->ctx, ir_loc_callsite(b->ctx, callee, caller)) : NULL;
}

static const ir_attr_t* read_name_loc(bytecode_t* b, bytecode_bytes_t* c) {
  ir_name_t name = read_name(b, c);
  const ir_loc_t* child = name ? bytecode_loc(b, c) : NULL;
  return child ? ir_attr_loc(b->ctx, ir_loc_name(b->ctx, name, child)) : NULL;
}

static const ir_attr_t* read_resource(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  uint64_t index;
  const ir_type_t* type = bytecode_type(b, c);
  if (!type || !bytecode_index(b, c, b->resource_count, &index, "resource")) return NULL;
  const bytecode_resource_t* resource = &b->resources[index];
  if (resource->data) {
    const ir_attr_t* attr = ir_attr_from_bytes(b->ctx, type, resource->data, resource->size, resource->name);
    if (!attr) {
      bytecode_fail(b, &start, "resource '%s' has %zu bytes, which are no elements of '%s'", cut(resource->name),
                    resource->size, cut(ir_type_str(b->ctx, type)));
    }
    return attr;
  }
  // Data that was left out when the program was written stays left out, as in text.
  if (strcmp(resource->name, "__elided__") != 0) {
    bytecode_fail(b, &start, "no data for resource '%s'", cut(resource->name));
    return NULL;
  }
  ir_named_attr_t entry = {":", ir_attr_type(b->ctx, type)};
  return ir_attr_opaque(b->ctx, "builtin.dense_resource", resource->name, &entry, 1);
}

static const ir_attr_t* read_dense_array(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t count;
  bytecode_bytes_t blob, start = *c;
  const ir_type_t* type = bytecode_type(b, c);
  if (!type || !bytecode_varint(b, c, &count) || !bytecode_blob(b, c, &blob)) return NULL;
  bool number = (type->kind == IR_TYPE_INTEGER && (type->width == 1 || type->width == 8 || type->width == 16 ||
                                                   type->width == 32 || type->width == 64)) ||
                (type->kind == IR_TYPE_FLOAT && (type->float_kind == IR_F32 || type->float_kind == IR_F64));
  if (!number || bytecode_left(&blob) / ir_type_bytes(type) != count || bytecode_left(&blob) % ir_type_bytes(type) ||
      count > UINT32_MAX) {
    bytecode_fail(b, &start, "%zu bytes are no array of %llu '%s'", bytecode_left(&blob), (unsigned long long)count,
                  cut(ir_type_str(b->ctx, type)));
    return NULL;
  }
  return ir_attr_dense_array(b->ctx, type, blob.at, (uint32_t)count);
}

const ir_attr_t* bytecode_array(bytecode_t* b, bytecode_bytes_t* c) {
  const ir_attr_t** items;
  uint32_t count;
  return bytecode_attr_list(b, c, &items, &count) ? ir_attr_array(b->ctx, items, count) : NULL;
}

const ir_attr_t* bytecode_builtin_attr(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  uint64_t code;
  const ir_type_t* type;
  if (!bytecode_varint(b, c, &code)) return NULL;
  switch (code) {
    case BYTECODE_ARRAY:
      return bytecode_array(b, c);
    case BYTECODE_DICT:
      return bytecode_dict(b, c);
    case BYTECODE_STRING:
    case BYTECODE_TYPED_STRING:
      return read_string(b, c, code == BYTECODE_TYPED_STRING);
    case BYTECODE_SYMBOL:
    case BYTECODE_NESTED_SYMBOL:
      return read_symbol(b, c, code == BYTECODE_NESTED_SYMBOL);
    case BYTECODE_TYPE_ATTR:
      type = bytecode_type(b, c);
      return type ? ir_attr_type(b->ctx, type) : NULL;
    case BYTECODE_UNIT:
      return ir_attr_unit(b->ctx);
    case BYTECODE_INTEGER:
      return bytecode_integer(b, c, bytecode_type(b, c));
    case BYTECODE_FLOAT:
      return bytecode_float(b, c, bytecode_type(b, c));
    case BYTECODE_LOC_CALLSITE:
      return read_callsite(b, c);
    case BYTECODE_LOC_FILE:
      return read_file_loc(b, c);
    case BYTECODE_LOC_FUSED:
    case BYTECODE_LOC_FUSED_METADATA:
      return read_fused_loc(b, c, code == BYTECODE_LOC_FUSED_METADATA);
    case BYTECODE_LOC_NAME:
      return read_name_loc(b, c);
    case BYTECODE_LOC_UNKNOWN:
      return ir_attr_loc(b->ctx, ir_loc_unknown(b->ctx));
    case BYTECODE_RESOURCE:
      return read_resource(b, c);
    case BYTECODE_DENSE_ARRAY:
      return read_dense_array(b, c);
    case BYTECODE_ELEMENTS:
      return bytecode_elements(b, c, bytecode_type(b, c));
    case BYTECODE_LOC_RANGE:
      return read_range_loc(b, c);
    default:
      bytecode_fail(b, &start, "attribute %llu of the builtin dialect cannot be read", (unsigned long long)code);
      return NULL;
  }
}

const ir_type_t* bytecode_wrapped(bytecode_t* b, bytecode_bytes_t* c, const char* head) {
  bytecode_bytes_t start = *c;
  const ir_type_t* element = bytecode_type(b, c);
  if (!element) return NULL;
  text_t text = {0};
  text_puts(&text, head);
  ir_print_type(&text, element);
  text_puts(&text, ">");
  return bytecode_text_type(b, &start, &text);
}

const ir_type_t* bytecode_tuple(bytecode_t* b, bytecode_bytes_t* c) {
  const ir_type_t** types;
  uint32_t count;
  return bytecode_type_list(b, c, &types, &count) ? ir_type_tuple(b->ctx, types, count) : NULL;
}

static const ir_type_t* read_integer(bytecode_t* b, bytecode_bytes_t* c) {
  bytecode_bytes_t start = *c;
  uint64_t code;
  if (!bytecode_varint(b, c, &code)) return NULL;
  static const char* const signs[] = {"i", "si", "ui", "?"};
  text_t text = {0};
  text_printf(&text, "%s%llu", signs[code & 3], (unsigned long long)(code >> 2));
  return bytecode_text_type(b, &start, &text);
}

// shape, element, layout: the identity map is no layout.
static const ir_type_t* read_memref(bytecode_t* b, bytecode_bytes_t* c, bool spaced) {
  bytecode_bytes_t start = *c;
  const ir_attr_t* space = spaced ? bytecode_attr(b, c) : NULL;
  if (spaced && !space) return NULL;
  const ir_type_t* plain = bytecode_shaped(b, c, "memref", NULL);
  const ir_attr_t* layout = plain ? bytecode_attr(b, c) : NULL;
  if (!layout) return NULL;
  text_t text = {0};
  ir_print_type(&text, plain);
  --text.size;  // the closing '>'
  if (layout->kind != IR_ATTR_AFFINE_MAP) {
    text_puts(&text, ", ");
    ir_print_attr(&text, layout);
  }
  if (space) {
    text_puts(&text, ", ");
    ir_put_attr(&text, space, IR_ATTR_IN_LIST);
  }
  text_puts(&text, ">");
  return bytecode_text_type(b, &start, &text);
}

const ir_type_t* bytecode_builtin_type(bytecode_t* b, bytecode_bytes_t* c) {
  static const char* const simple[] = {
#define NAME(code, name) [BYTECODE_TYPE_##code] = name,
      BYTECODE_SIMPLE_TYPES(NAME)
#undef NAME
  };
  bytecode_bytes_t start = *c;
  uint64_t code;
  if (!bytecode_varint(b, c, &code)) return NULL;
  if (code < sizeof(simple) / sizeof(simple[0]) && simple[code]) {
    text_t text = {0};
    text_puts(&text, simple[code]);
    return bytecode_text_type(b, &start, &text);
  }
  const ir_attr_t* encoding;
  switch (code) {
    case BYTECODE_TYPE_INTEGER:
      return read_integer(b, c);
    case BYTECODE_TYPE_FUNCTION:
      return bytecode_function(b, c);
    case BYTECODE_TYPE_COMPLEX:
      return bytecode_wrapped(b, c, "complex<");
    case BYTECODE_TYPE_MEMREF:
    case BYTECODE_TYPE_MEMREF_SPACE:
      return read_memref(b, c, code == BYTECODE_TYPE_MEMREF_SPACE);
    case BYTECODE_TYPE_TENSOR:
      return bytecode_shaped(b, c, "tensor", NULL);
    case BYTECODE_TYPE_TENSOR_ENCODED:
      encoding = bytecode_attr(b, c);
      return encoding ? bytecode_shaped(b, c, "tensor", encoding) : NULL;
    case BYTECODE_TYPE_TUPLE:
      return bytecode_tuple(b, c);
    case BYTECODE_TYPE_UNRANKED_TENSOR:
      return bytecode_wrapped(b, c, "tensor<*x");
    case BYTECODE_TYPE_VECTOR:
      return bytecode_shaped(b, c, "vector", NULL);
    default:
      bytecode_fail(b, &start, "type %llu of the builtin dialect cannot be read", (unsigned long long)code);
      return NULL;
  }
}
