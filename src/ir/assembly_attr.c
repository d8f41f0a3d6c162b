// Attributes in the short forms of assembly formats: one row per kind with its reader, writer and check.
#include <stdio.h>
#include <string.h>

#include "ir/assembly_state.h"

typedef assembly_attr_t spec_t;

void assembly_attr_split(assembly_word_t word, assembly_attr_t* out) {
  const char *at = word.text + 1, *end = word.text + word.size;
  size_t n = 0;
  memset(out, 0, sizeof(*out));
  while (at < end && *at != ':' && n + 1 < sizeof(out->name)) out->name[n++] = *at++;
  if (at < end) ++at;
  for (n = 0; at < end && *at != '(' && n + 1 < sizeof(out->kind);) out->kind[n++] = *at++;
  if (at < end) ++at;
  for (n = 0; at < end && *at != ')' && n + 1 < sizeof(out->argument);) out->argument[n++] = *at++;
}

static void set(assembly_t* a, const spec_t* spec, const ir_attr_t* value) {
  ir_draft_attr(a->p, &a->draft, spec->name, value);
}
static const ir_attr_t* get(const assembly_t* a, const spec_t* spec) { return ir_op_attr(a->op, spec->name); }

static bool is_word(const char* text) {
  if (!text || !*text) return false;
  for (const char* c = text; *c; ++c) {
    bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    if (!letter && (c == text || !((*c >= '0' && *c <= '9') || *c == '.'))) return false;
  }
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

static bool read_any(assembly_t* a, const spec_t* spec) {
  const ir_attr_t* attr = ir_parse_attr(a->p, NULL);
  if (attr) set(a, spec, attr);
  return attr != NULL;
}
static void write_any(assembly_t* a, const spec_t* spec) { ir_emit_attr(a->pr, get(a, spec)); }
static bool fits_any(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) { return true; }

static bool read_integer(assembly_t* a, const spec_t* spec) {
  int64_t value;
  if (!ir_parse_integer(a->p, &value)) return false;
  set(a, spec, ir_attr_i64(a->ctx, value));
  return true;
}
static void write_bare(assembly_t* a, const spec_t* spec) { ir_emit_attr_bare(a->pr, get(a, spec)); }
static bool fits_integer(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_INTEGER && attr->type == ir_type_int(a->ctx, 64);
}

static bool read_int32(assembly_t* a, const spec_t* spec) {
  int64_t value;
  if (!ir_parse_integer(a->p, &value)) return false;
  if (value != (int32_t)value) return ir_parse_fail(a->p, "integer does not fit in 32 bits");
  set(a, spec, ir_attr_integer(a->ctx, ir_type_int(a->ctx, 32), value));
  return true;
}
static bool fits_int32(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_INTEGER && attr->type == ir_type_int(a->ctx, 32);
}

static bool read_bool(assembly_t* a, const spec_t* spec) {
  bool value = ir_parse_try(a->p, "true");
  if (!value && !ir_parse_try(a->p, "false")) return ir_parse_fail(a->p, "expected true or false");
  set(a, spec, ir_attr_bool(a->ctx, value));
  return true;
}
static bool fits_bool(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_INTEGER && attr->type == ir_type_int(a->ctx, 1);
}

static bool read_symbol(assembly_t* a, const spec_t* spec) {
  const ir_attr_t* attr = ir_parse_symbol(a->p);
  if (attr) set(a, spec, attr);
  return attr != NULL;
}
static bool fits_symbol(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_SYMBOL;
}

static bool read_string(assembly_t* a, const spec_t* spec) {
  const char* text;
  size_t size;
  if (!ir_parse_string(a->p, &text, &size)) return false;
  set(a, spec, ir_attr_string(a->ctx, text, size));
  return true;
}
static bool fits_string(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_STRING;
}

static bool read_symbol_string(assembly_t* a, const spec_t* spec) {
  ir_name_t name = ir_parse_symbol_name(a->p);
  if (name) set(a, spec, ir_attr_cstring(a->ctx, name));
  return name != NULL;
}
static void write_symbol_string(assembly_t* a, const spec_t* spec) { ir_emit_symbol(a->pr, get(a, spec)->text); }
static bool fits_symbol_string(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_STRING && strlen(attr->text) == attr->size && attr->size;
}

static bool read_word(assembly_t* a, const spec_t* spec) {
  ir_name_t word = ir_parse_keyword(a->p, spec->name);
  if (word) set(a, spec, ir_attr_cstring(a->ctx, word));
  return word != NULL;
}
static void write_word(assembly_t* a, const spec_t* spec) { ir_emit(a->pr, get(a, spec)->text); }
static bool fits_word(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_STRING && strlen(attr->text) == attr->size && is_word(attr->text);
}

static bool read_type(assembly_t* a, const spec_t* spec) {
  const ir_type_t* type = ir_parse_type(a->p);
  if (type) set(a, spec, ir_attr_type(a->ctx, type));
  return type != NULL;
}
static bool fits_type(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) { return attr->kind == IR_ATTR_TYPE; }

//===----------------------------------------------------------------------------------------------------------------===
// Lists
//===----------------------------------------------------------------------------------------------------------------===

static bool read_list(assembly_t* a, const spec_t* spec) {
  int64_t* values;
  uint32_t count;
  if (!ir_parse_int_list(a->p, &values, &count)) return false;
  set(a, spec, ir_attr_i64_array(a->ctx, values, count));
  return true;
}
static void write_list(assembly_t* a, const spec_t* spec) {
  const ir_attr_t* attr = get(a, spec);
  ir_emit(a->pr, "[");
  for (uint32_t i = 0; i < attr->count; ++i) {
    int64_t value = ir_attr_element_integer(attr, i);
    if (i) ir_emit(a->pr, ", ");
    if (attr->type->width == 1) {
      ir_emit(a->pr, value ? "true" : "false");
    } else if (value == IR_DYNAMIC) {
      ir_emit(a->pr, "?");
    } else {
      ir_emitf(a->pr, "%lld", (long long)value);
    }
  }
  ir_emit(a->pr, "]");
}
static bool fits_list(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_DENSE_ARRAY && attr->type == ir_type_int(a->ctx, 64);
}

static bool read_bools(assembly_t* a, const spec_t* spec) {
  const ir_attr_t* list = ir_parse_attr(a->p, NULL);
  if (!list || list->kind != IR_ATTR_ARRAY || list->count > 64) return ir_parse_fail(a->p, "expected [true, ...]");
  unsigned char values[64];
  for (uint32_t i = 0; i < list->count; ++i) values[i] = list->items[i]->integer != 0;
  set(a, spec, ir_attr_dense_array(a->ctx, ir_type_int(a->ctx, 1), values, list->count));
  return true;
}
static bool fits_bools(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_DENSE_ARRAY && attr->type == ir_type_int(a->ctx, 1) && attr->count <= 64;
}

//===----------------------------------------------------------------------------------------------------------------===
// Enums
//===----------------------------------------------------------------------------------------------------------------===

// argument "stablehlo.precision": #stablehlo<precision WORD>
static const ir_attr_t* parse_enum(assembly_t* a, const spec_t* spec) {
  ir_name_t word = ir_parse_keyword(a->p, spec->name);
  if (!word) return NULL;
  const char* dot = strchr(spec->argument, '.');
  char dialect[48], body[160];
  snprintf(dialect, sizeof(dialect), "%.*s", (int)(dot - spec->argument), spec->argument);
  snprintf(body, sizeof(body), "%s %.64s", dot + 1, word);
  return ir_attr_opaque(a->ctx, dialect, body, NULL, 0);
}
static bool read_enum(assembly_t* a, const spec_t* spec) {
  const ir_attr_t* attr = parse_enum(a, spec);
  if (attr) set(a, spec, attr);
  return attr != NULL;
}
static const char* enum_word(const spec_t* spec, const ir_attr_t* attr) {
  const char* dot = strchr(spec->argument, '.');
  size_t dialect = (size_t)(dot - spec->argument), kind = strlen(dot + 1);
  if (attr->kind != IR_ATTR_OPAQUE || !attr->body || strlen(attr->text) != dialect) return NULL;
  if (strncmp(attr->text, spec->argument, dialect) != 0 || strncmp(attr->body, dot + 1, kind) != 0) return NULL;
  return attr->body[kind] == ' ' && is_word(attr->body + kind + 1) ? attr->body + kind + 1 : NULL;
}
static void write_enum(assembly_t* a, const spec_t* spec) { ir_emit(a->pr, enum_word(spec, get(a, spec))); }
static bool fits_enum(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  const char* word = enum_word(spec, attr);
  return word && strlen(word) <= 64;
}

static bool read_enums(assembly_t* a, const spec_t* spec) {
  const ir_attr_t* items[16];
  uint32_t count = 0;
  if (!ir_parse_expect(a->p, "[")) return false;
  while (!ir_parse_try(a->p, "]")) {
    if (count && !ir_parse_expect(a->p, ",")) return false;
    if (count == 16) return ir_parse_fail(a->p, "list is too long");
    if (!(items[count++] = parse_enum(a, spec))) return false;
  }
  set(a, spec, ir_attr_array(a->ctx, items, count));
  return true;
}
static void write_enums(assembly_t* a, const spec_t* spec) {
  const ir_attr_t* attr = get(a, spec);
  ir_emit(a->pr, "[");
  for (uint32_t i = 0; i < attr->count; ++i) ir_emitf(a->pr, i ? ", %s" : "%s", enum_word(spec, attr->items[i]));
  ir_emit(a->pr, "]");
}
static bool fits_enums(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  if (attr->kind != IR_ATTR_ARRAY || attr->count > 16) return false;
  for (uint32_t i = 0; i < attr->count; ++i) {
    if (!fits_enum(a, spec, attr->items[i])) return false;
  }
  return true;
}

// argument "tosa.mode": #tosa.mode<WORD>
static bool read_named_enum(assembly_t* a, const spec_t* spec) {
  ir_name_t word = ir_parse_keyword(a->p, spec->name);
  if (word) set(a, spec, ir_attr_opaque(a->ctx, spec->argument, word, NULL, 0));
  return word != NULL;
}
static void write_named_enum(assembly_t* a, const spec_t* spec) { ir_emit(a->pr, get(a, spec)->body); }
static bool fits_named_enum(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_OPAQUE && strcmp(attr->text, spec->argument) == 0 && is_word(attr->body) &&
         !ir_attr_own_type(attr);
}

// Number of `word` in the comma separated argument, or -1; with word NULL writes the number'th into `out`.
static int find_case(const spec_t* spec, const char* word, int number, char* out, size_t size) {
  const char* at = spec->argument;
  for (int i = 0; *at; ++i) {
    size_t length = strcspn(at, ",");
    if (word ? strlen(word) == length && strncmp(at, word, length) == 0 : i == number) {
      if (out) snprintf(out, size, "%.*s", (int)length, at);
      return i;
    }
    at += length + (at[length] == ',');
  }
  return -1;
}

static bool read_case(assembly_t* a, const spec_t* spec) {
  const char* text = NULL;  // older programs quote the word
  size_t size = 0;
  bool quoted = ir_parse_next(a->p) == '"';
  if (quoted && !ir_parse_string(a->p, &text, &size)) return false;
  ir_name_t word = quoted ? ir_intern(a->ctx, text, size) : ir_parse_try_keyword(a->p);
  int number = word ? find_case(spec, word, 0, NULL, 0) : -1;
  if (number < 0) return ir_parse_fail(a->p, "expected one of %s", spec->argument);
  set(a, spec, ir_attr_integer(a->ctx, ir_type_int(a->ctx, spec->kind[0] == 'W' ? 32 : 64), number));
  return true;
}
static void write_case(assembly_t* a, const spec_t* spec) {
  char word[48] = "";
  find_case(spec, NULL, (int)get(a, spec)->integer, word, sizeof(word));
  ir_emit(a->pr, word);
}
static bool fits_case(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) {
  return attr->kind == IR_ATTR_INTEGER && attr->type == ir_type_int(a->ctx, spec->kind[0] == 'W' ? 32 : 64) &&
         attr->integer >= 0 && attr->integer < 64 && find_case(spec, NULL, (int)attr->integer, NULL, 0) >= 0;
}

static bool read_unit(assembly_t* a, const spec_t* spec) {
  if (ir_parse_try(a->p, spec->argument)) set(a, spec, ir_attr_unit(a->ctx));
  return true;
}
static void write_unit(assembly_t* a, const spec_t* spec) {
  if (get(a, spec)) ir_emit(a->pr, spec->argument);
}
static bool fits_unit(assembly_t* a, const spec_t* spec, const ir_attr_t* attr) { return attr->kind == IR_ATTR_UNIT; }

//===----------------------------------------------------------------------------------------------------------------===
// By kind
//===----------------------------------------------------------------------------------------------------------------===

static const struct {
  const char* kind;
  bool (*read)(assembly_t* a, const spec_t* spec);
  void (*write)(assembly_t* a, const spec_t* spec);
  bool (*fits)(assembly_t* a, const spec_t* spec, const ir_attr_t* attr);
} attr_kinds[] = {
    {"", read_any, write_any, fits_any},
    {"i", read_integer, write_bare, fits_integer},
    {"i32", read_int32, write_bare, fits_int32},
    {"symstr", read_symbol_string, write_symbol_string, fits_symbol_string},
    {"le", read_enums, write_enums, fits_enums},
    {"b", read_bool, write_bare, fits_bool},
    {"sym", read_symbol, write_any, fits_symbol},
    {"str", read_string, write_any, fits_string},
    {"kw", read_word, write_word, fits_word},
    {"type", read_type, write_any, fits_type},
    {"l", read_list, write_list, fits_list},
    {"lb", read_bools, write_list, fits_bools},
    {"e", read_enum, write_enum, fits_enum},
    {"E", read_named_enum, write_named_enum, fits_named_enum},
    {"w", read_case, write_case, fits_case},
    {"W", read_case, write_case, fits_case},
    {"unit", read_unit, write_unit, fits_unit},
};

static size_t kind_of(const spec_t* spec) {
  size_t i = 0;
  while (i + 1 < sizeof(attr_kinds) / sizeof(attr_kinds[0]) && strcmp(attr_kinds[i].kind, spec->kind) != 0) ++i;
  return i;
}

bool assembly_attr_fits(assembly_t* a, const assembly_attr_t* spec) {
  const ir_attr_t* attr = get(a, spec);
  if (!attr) return strcmp(spec->kind, "unit") == 0;
  return attr_kinds[kind_of(spec)].fits(a, spec, attr);
}
bool assembly_attr_read(assembly_t* a, const assembly_attr_t* spec) { return attr_kinds[kind_of(spec)].read(a, spec); }
void assembly_attr_write(assembly_t* a, const assembly_attr_t* spec) { attr_kinds[kind_of(spec)].write(a, spec); }

bool assembly_attr_peek(assembly_t* a, const assembly_attr_t* spec) {
  if (spec->kind[0] != 'w' && spec->kind[0] != 'W') return ir_parse_next(a->p) != 0;
  char word[48];
  for (int i = 0; find_case(spec, NULL, i, word, sizeof(word)) >= 0; ++i) {
    if (ir_parse_peek(a->p, word)) return true;
  }
  return false;
}
