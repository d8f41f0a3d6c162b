// #name = attribute, !name = type, and the resource section {-# ... #-}. Each may be used before its place in the text:
// the first unknown name makes one scan over the line starts, which notes where every definition is.
#include <stdlib.h>

#include "ir/parse_state.h"

typedef struct name_key_t {
  const char* name;
  size_t size;
} name_key_t;

static bool alias_equal(const void* a, const void* key) {
  const ir_alias_t* alias = a;
  const name_key_t* k = key;
  return alias->size == k->size && memcmp(alias->name, k->name, k->size) == 0;
}
static uint64_t alias_hash(const void* a) {
  return ir_hash_bytes(((const ir_alias_t*)a)->name, ((const ir_alias_t*)a)->size);
}
static bool resource_equal(const void* a, const void* key) {
  const ir_resource_t* resource = a;
  const name_key_t* k = key;
  return resource->size == k->size && memcmp(resource->name, k->name, k->size) == 0;
}
static uint64_t resource_hash(const void* a) {
  return ir_hash_bytes(((const ir_resource_t*)a)->name, ((const ir_resource_t*)a)->size);
}

static ir_alias_t* lookup(ir_parser_t* p, const char* name, size_t size) {
  name_key_t key = {name, size};
  return ir_set_find(&p->aliases, ir_hash_bytes(name, size), &key, alias_equal);
}

static ir_alias_t* add_alias(ir_parser_t* p, const char* name, size_t size, ir_cursor_t where) {
  ir_alias_t* alias = ARENA_NEW(&p->scratch, ir_alias_t);
  *alias = (ir_alias_t){.name = name, .size = (uint32_t)size, .where = where};
  ir_set_insert(&p->aliases, alias_hash(alias), alias, alias_hash);
  return alias;
}

//===----------------------------------------------------------------------------------------------------------------===
// Scan for definitions
//===----------------------------------------------------------------------------------------------------------------===

// At a line's first character: notes `#name =` and `!name =`, reads the resource section.
static bool scan_line(ir_parser_t* p) {
  char c = ir_peek(p, 0);
  if (c == '{' && ir_peek(p, 1) == '-' && ir_peek(p, 2) == '#') return ir_parse_resources(p);
  if (c != '#' && c != '!') return true;
  const char* name = p->cursor.at;
  size_t size = ir_suffix_size(p, 1) + 1;
  ir_advance(p, size);
  if (!ir_take(p, '=') || lookup(p, name, size)) return true;
  add_alias(p, name, size, p->cursor);
  return true;
}

static bool scan(ir_parser_t* p) {
  if (p->scanned) return true;
  p->scanned = true;
  ir_cursor_t saved = p->cursor;
  p->cursor = (ir_cursor_t){p->begin, p->begin, 1};
  bool ok = true;
  while (ok && p->cursor.at < p->end) {
    ir_skip_space(p);
    ok = scan_line(p);
    const char* newline = ir_left(p) ? memchr(p->cursor.at, '\n', ir_left(p)) : NULL;
    if (!newline) break;
    p->cursor = (ir_cursor_t){newline + 1, newline + 1, p->cursor.line + 1};
  }
  p->cursor = saved;
  return ok;
}

//===----------------------------------------------------------------------------------------------------------------===
// Aliases
//===----------------------------------------------------------------------------------------------------------------===

// Reads the value at the position. Depth and size are kept with it: names for names for names could otherwise stand
// for values without bound.
static bool parse_value(ir_parser_t* p, ir_alias_t* alias) {
  uint32_t depth = p->depth, seen = p->depth_seen, nodes = p->nodes;
  p->depth_seen = depth;
  alias->busy = true;
  if (alias->name[0] == '!') {
    ir_parse_try(p, "type");  // an old spelling
    alias->type = ir_parse_type(p);
  } else {
    alias->attr = ir_parse_item(p);
  }
  alias->busy = false;
  alias->depth = p->depth_seen - depth;
  alias->nodes = p->nodes - nodes;
  p->depth_seen = seen > p->depth_seen ? seen : p->depth_seen;
  p->nodes = nodes + 1;
  alias->behind = p->cursor;
  return alias->type || alias->attr;
}

// NULL without a diagnostic when there is no such alias.
const ir_alias_t* ir_alias_find(ir_parser_t* p, const char* name, size_t size) {
  ir_alias_t* alias = lookup(p, name, size);
  if (!alias && !p->scanned) {
    if (!scan(p)) return NULL;
    alias = lookup(p, name, size);
  }
  if (!alias) return NULL;
  if (alias->busy) return ir_parse_fail(p, "alias '%.*s' is defined by itself", (int)size, name), NULL;
  if (!alias->type && !alias->attr) {
    ir_cursor_t saved = p->cursor;
    p->cursor = alias->where;
    bool ok = parse_value(p, alias);
    p->cursor = saved;
    if (!ok) return NULL;
  }
  if (p->depth + alias->depth > IR_PARSE_MAX_DEPTH) {
    return ir_parse_fail(p, "nested more than %d levels deep", IR_PARSE_MAX_DEPTH), NULL;
  }
  if (p->depth + alias->depth > p->depth_seen) p->depth_seen = p->depth + alias->depth;
  if (alias->nodes > IR_PARSE_MAX_ALIAS_NODES || p->nodes > UINT32_MAX - alias->nodes) {
    return ir_parse_fail(p, "aliases expand to too much"), NULL;
  }
  p->nodes += alias->nodes;
  return alias;
}

const ir_alias_t* ir_alias_use(ir_parser_t* p, const char* name, size_t size) {
  const ir_alias_t* alias = ir_alias_find(p, name, size);
  if (!alias) ir_parse_fail(p, "alias '%.*s' is not defined", (int)(size < 80 ? size : 80), name);
  return alias;
}

// `#name = value` at the position.
bool ir_parse_alias_definition(ir_parser_t* p) {
  const char* name = p->cursor.at;
  size_t size = ir_suffix_size(p, 1) + 1;
  if (size == 1 || memchr(name, '.', size)) return ir_parse_fail(p, "expected the name of an alias (without '.')");
  ir_cursor_t start = p->cursor;
  ir_advance(p, size);
  if (!ir_parse_expect(p, "=")) return false;
  ir_alias_t* alias = lookup(p, name, size);
  if (!alias) alias = add_alias(p, name, size, p->cursor);
  if (alias->where.at != p->cursor.at) {
    p->cursor = start;
    return ir_parse_fail(p, "alias '%.*s' is defined twice", (int)(size < 80 ? size : 80), name);
  }
  if (!alias->type && !alias->attr) return parse_value(p, alias);
  p->cursor = alias->behind;
  return true;
}

//===----------------------------------------------------------------------------------------------------------------===
// Resources
//===----------------------------------------------------------------------------------------------------------------===

static bool parse_resource_name(ir_parser_t* p, const char** text, size_t* size) {
  if (ir_peek(p, 0) == '"') return ir_parse_string(p, text, size);
  *size = ir_suffix_size(p, 0);
  *text = p->cursor.at;
  if (!*size) return ir_parse_fail(p, "expected the name of a resource");
  ir_advance(p, *size);
  return true;
}

// A string "0x..." of digits only: read once, however long.
static bool parse_digits(ir_parser_t* p, const char** begin, const char** end) {
  if (ir_peek(p, 1) != '0' || ir_peek(p, 2) != 'x') return false;
  *begin = p->cursor.at + 1;
  *end = *begin + 2 + ir_hex_span(*begin + 2, (size_t)(p->end - *begin) - 2);
  if (*end == p->end || **end != '"') return false;
  ir_context_note_read(p->ctx, (size_t)(*end - *begin));
  ir_advance(p, (size_t)(*end + 1 - p->cursor.at));
  return true;
}

// name: "0x...", kept undecoded; other values (external resources) are read over.
static bool parse_resource(ir_parser_t* p, bool keep) {
  const char *name, *begin, *end;
  size_t size;
  if (!parse_resource_name(p, &name, &size) || !ir_take_expected(p, ':')) return false;
  if (ir_peek(p, 0) != '"') return ir_parse_attr(p, NULL) != NULL;
  bool digits = parse_digits(p, &begin, &end);
  if (!digits && !ir_parse_string_raw(p, &begin, &end)) return false;
  name_key_t key = {name, size};
  if (!keep || ir_set_find(&p->resources, ir_hash_bytes(name, size), &key, resource_equal)) return true;
  if (end - begin < 10 || begin[0] != '0' || begin[1] != 'x') {
    return ir_parse_fail(p, "resource data starts with 0x and four bytes of alignment");
  }
  ir_resource_t* resource = ARENA_NEW(&p->scratch, ir_resource_t);
  *resource = (ir_resource_t){.name = name,
                              .size = (uint32_t)size,
                              .hex = begin + 10,
                              .hex_size = (size_t)(end - begin) - 10,
                              .checked = digits && (end - begin) % 2 == 0};
  ir_set_insert(&p->resources, resource_hash(resource), resource, resource_hash);
  return true;
}

// pipeline: "...", verify_each: false, and what says how the pipeline ran
static bool parse_reproducer(ir_parser_t* p) {
  const char* name;
  size_t size;
  if (!parse_resource_name(p, &name, &size) || !ir_take_expected(p, ':')) return false;
  const ir_attr_t* value = ir_parse_attr(p, NULL);
  if (!value) return false;
  if (size == 8 && memcmp(name, "pipeline", 8) == 0 && value->kind == IR_ATTR_STRING) {
    p->ctx->reproducer = value->text;
  } else if (size == 11 && memcmp(name, "verify_each", 11) == 0 && value->kind == IR_ATTR_INTEGER) {
    p->ctx->reproducer_verifies = value->integer != 0;
  }
  return true;
}

// group: { name: "0x...", ... }
static bool parse_resource_group(ir_parser_t* p, bool keep) {
  static const char reproducer[] = "mlir_reproducer";
  const char* name;
  size_t size;
  if (!parse_resource_name(p, &name, &size) || !ir_take_expected(p, ':') || !ir_take_expected(p, '{')) return false;
  bool builtin = keep && size == 7 && memcmp(name, "builtin", 7) == 0;
  bool reproduces = !keep && size == strlen(reproducer) && memcmp(name, reproducer, size) == 0;
  p->ctx->reproducer_verifies |= reproduces;  // where nothing else is said
  while (!ir_take(p, '}')) {
    if (reproduces ? !parse_reproducer(p) : !parse_resource(p, builtin)) return false;
    if (!ir_take(p, ',') && ir_peek(p, 0) != '}') return ir_parse_fail(p, "expected ',' or '}'");
  }
  return true;
}

bool ir_parse_resources(ir_parser_t* p) {
  if (p->section.at == p->cursor.at) {  // the scan has been here
    p->cursor = p->behind_section;
    return true;
  }
  ir_cursor_t start = p->cursor;
  if (!ir_parse_expect(p, "{-#")) return false;
  while (!ir_parse_try(p, "#-}")) {
    ir_name_t section = ir_parse_keyword(p, "'dialect_resources', 'external_resources' or '#-}'");
    if (!section || !ir_take_expected(p, ':') || !ir_take_expected(p, '{')) return false;
    bool keep = strcmp(section, "dialect_resources") == 0;
    while (!ir_take(p, '}')) {
      if (!parse_resource_group(p, keep)) return false;
      if (!ir_take(p, ',') && ir_peek(p, 0) != '}') return ir_parse_fail(p, "expected ',' or '}'");
    }
    ir_take(p, ',');
  }
  p->section = start;
  p->behind_section = p->cursor;
  return true;
}

// NULL without a diagnostic when there is no such resource.
ir_resource_t* ir_resource_find(ir_parser_t* p, const char* name, size_t size) {
  name_key_t key = {name, size};
  if (!scan(p)) return NULL;
  ir_resource_t* resource = ir_set_find(&p->resources, ir_hash_bytes(name, size), &key, resource_equal);
  if (!resource || resource->checked) return resource;
  if (resource->hex_size % 2 || ir_hex_span(resource->hex, resource->hex_size) != resource->hex_size) {
    ir_parse_fail(p, "data of resource '%.*s' is not hexadecimal", (int)(size < 80 ? size : 80), name);
    return NULL;
  }
  resource->checked = true;
  return resource;
}
