// ir_read_bytecode: the sections of the file, and the tables that the others are read with.
#include <string.h>

#include "ir/bytecode_state.h"

bool ir_is_bytecode(const void* data, size_t size) { return size >= 4 && memcmp(data, BYTECODE_MAGIC, 4) == 0; }

//===----------------------------------------------------------------------------------------------------------------===
// Sections
//===----------------------------------------------------------------------------------------------------------------===

static bool read_header(bytecode_t* b, bytecode_bytes_t* c) {
  c->at += 4;
  if (!bytecode_varint(b, c, &b->version)) return false;
  if (b->version > IR_BYTECODE_VERSION) {
    return bytecode_fail(b, c, "version %llu of the format is not known; versions up to %d are",
                         (unsigned long long)b->version, IR_BYTECODE_VERSION);
  }
  const unsigned char* end = memchr(c->at, 0, bytecode_left(c));
  if (!end) return bytecode_fail(b, c, "the name of the producer does not end");
  c->at = end + 1;
  return true;
}

static bool read_sections(bytecode_t* b, bytecode_bytes_t* c) {
  while (bytecode_left(c)) {
    uint8_t id;
    bytecode_bytes_t start = *c, data;
    if (!bytecode_section(b, c, &id, &data)) return false;
    if (b->has[id]) return bytecode_fail(b, &start, "section %u is there twice", id);
    b->has[id] = true;
    b->sections[id] = data;
  }
  for (int id = BYTECODE_STRINGS; id <= BYTECODE_IR; ++id) {
    if (!b->has[id]) return bytecode_fail(b, c, "section %d is missing", id);
  }
  if (b->has[BYTECODE_RESOURCES] != b->has[BYTECODE_RESOURCE_OFFSETS]) {
    return bytecode_fail(b, c, "one of the two sections of resources is missing");
  }
  return true;
}

// Sizes (with the final NUL) come last string first; the characters stand at the end.
static bool read_strings(bytecode_t* b) {
  bytecode_bytes_t c = b->sections[BYTECODE_STRINGS];
  uint64_t count, size;
  if (!bytecode_count(b, &c, &count, "strings")) return false;
  b->strings = ARENA_ARRAY(&b->scratch, bytecode_string_t, count + 1);
  b->string_count = count;
  const unsigned char* end = c.end;
  for (uint64_t i = count; i-- > 0;) {
    if (!bytecode_varint(b, &c, &size)) return false;
    if (size == 0 || c.at > end || size > (size_t)(end - c.at) || end[-1] != 0) {
      return bytecode_fail(b, &c, "string %llu has a wrong size", (unsigned long long)i);
    }
    end -= size;
    b->strings[i] = (bytecode_string_t){(const char*)end, size - 1};
  }
  return c.at == end || bytecode_fail(b, &c, "there is more between the sizes of strings and their characters");
}

//===----------------------------------------------------------------------------------------------------------------===
// Dialects and names of ops
//===----------------------------------------------------------------------------------------------------------------===

static bool read_dialect_names(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t count;
  if (!bytecode_count(b, c, &count, "dialects")) return false;
  b->dialects = ARENA_ARRAY(&b->scratch, const char*, count + 1);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t index;
    bool versioned = false;
    bool ok = b->version < BYTECODE_HAS_DIALECT_VERSIONS ? bytecode_varint(b, c, &index)
                                                         : bytecode_flagged(b, c, &index, &versioned);
    if (!ok) return false;
    if (index >= b->string_count) return bytecode_fail(b, c, "string %llu is asked for", (unsigned long long)index);
    bytecode_string_t name = b->strings[index];
    if (name.size && memchr(name.text, '.', name.size)) {  // its ops would be another's
      return bytecode_fail(b, c, "'%.*s' is no name of a dialect", (int)(name.size < 64 ? name.size : 64), name.text);
    }
    b->dialects[i] = ir_intern(b->ctx, name.text, name.size);
    uint8_t id;
    bytecode_bytes_t version;
    if (versioned && !bytecode_section(b, c, &id, &version)) return false;
    if (versioned && id != BYTECODE_DIALECT_VERSIONS) return bytecode_fail(b, c, "a dialect's version is expected");
  }
  b->dialect_count = count;
  return true;
}

// Groups of {dialect, count, entries}.
typedef struct group_t {
  uint64_t dialect, left;
} group_t;

static bool next_in_group(bytecode_t* b, bytecode_bytes_t* c, group_t* g) {
  while (!g->left) {
    if (!bytecode_index(b, c, b->dialect_count, &g->dialect, "dialect") || !bytecode_count(b, c, &g->left, "entries")) {
      return false;
    }
  }
  --g->left;
  return true;
}

// mhlo is StableHLO's older name.
static const char* full_name(bytecode_t* b, const char* dialect, bytecode_string_t name) {
  if (strcmp(dialect, "mhlo") == 0) dialect = "stablehlo";
  if (!name.size) return dialect;
  const char* text =
      arena_printf(&b->scratch, "%s.%.*s", dialect, (int)(name.size < 4096 ? name.size : 4096), name.text);
  return ir_intern_cstr(b->ctx, text);
}

static bool read_op_names(bytecode_t* b, bytecode_bytes_t* c) {
  uint64_t ignored;
  group_t group = {0};
  if (b->version >= BYTECODE_HAS_SHORT_ARGS && !bytecode_varint(b, c, &ignored)) return false;
  b->names = ARENA_ARRAY(&b->scratch, bytecode_name_t, bytecode_left(c) + 1);
  while (bytecode_left(c)) {
    uint64_t index;
    bool registered = true;
    if (!next_in_group(b, c, &group)) return false;
    bool ok = b->version < BYTECODE_HAS_PROPERTIES ? bytecode_varint(b, c, &index)
                                                   : bytecode_flagged(b, c, &index, &registered);
    if (!ok) return false;
    if (index >= b->string_count) return bytecode_fail(b, c, "string %llu is asked for", (unsigned long long)index);
    b->names[b->name_count++] =
        (bytecode_name_t){full_name(b, b->dialects[group.dialect], b->strings[index]), registered};
  }
  return !group.left || bytecode_fail(b, c, "the names of ops end too early");
}

static bool read_dialects(bytecode_t* b) {
  bytecode_bytes_t c = b->sections[BYTECODE_DIALECTS];
  return read_dialect_names(b, &c) && read_op_names(b, &c);
}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes and types, resources, properties: where each is
//===----------------------------------------------------------------------------------------------------------------===

static bool read_entries(bytecode_t* b, bytecode_bytes_t* c, bytecode_bytes_t* data, bytecode_entry_t* entries,
                         size_t count) {
  group_t group = {0};
  for (size_t i = 0; i < count; ++i) {
    uint64_t size;
    bytecode_entry_t* e = &entries[i];
    if (!next_in_group(b, c, &group) || !bytecode_flagged(b, c, &size, &e->custom)) return false;
    if (!bytecode_take(b, data, size, &e->data)) return false;
    e->dialect = (uint32_t)group.dialect;
  }
  return !group.left || bytecode_fail(b, c, "there are more attributes or types than announced");
}

static bool read_offsets(bytecode_t* b) {
  bytecode_bytes_t c = b->sections[BYTECODE_ATTR_TYPE_OFFSETS], data = b->sections[BYTECODE_ATTR_TYPES];
  uint64_t attrs, types;
  if (!bytecode_count(b, &c, &attrs, "attributes") || !bytecode_count(b, &c, &types, "types")) return false;
  b->attrs = ARENA_ARRAY(&b->scratch, bytecode_entry_t, attrs + 1);
  b->types = ARENA_ARRAY(&b->scratch, bytecode_entry_t, types + 1);
  b->attr_count = attrs;
  b->type_count = types;
  return read_entries(b, &c, &data, b->attrs, attrs) && read_entries(b, &c, &data, b->types, types) &&
         (!bytecode_left(&c) || bytecode_fail(b, &c, "there is more behind the attributes and types"));
}

static bool read_resource(bytecode_t* b, bytecode_bytes_t* c, bytecode_bytes_t* data, bytecode_resource_t* out) {
  bytecode_string_t name;
  uint64_t size, alignment;
  uint8_t kind;
  bytecode_bytes_t value, blob;
  if (!bytecode_string(b, c, &name) || !bytecode_varint(b, c, &size) || !bytecode_byte(b, c, &kind) ||
      !bytecode_take(b, data, size, &value)) {
    return false;
  }
  *out = (bytecode_resource_t){.name = ir_intern(b->ctx, name.text, name.size)};
  if (kind != BYTECODE_RESOURCE_BLOB || !size) return true;
  if (!bytecode_varint(b, &value, &alignment) || !bytecode_varint(b, &value, &size) ||
      !bytecode_align(b, &value, alignment) || !bytecode_take(b, &value, size, &blob)) {
    return false;
  }
  out->data = blob.at;
  out->size = size;
  return true;
}

static bool read_resource_group(bytecode_t* b, bytecode_bytes_t* c, bytecode_bytes_t* data, bool keep) {
  uint64_t count;
  if (!bytecode_count(b, c, &count, "resources")) return false;
  for (uint64_t i = 0; i < count; ++i) {
    bytecode_resource_t resource;
    if (!read_resource(b, c, data, &resource)) return false;
    if (keep) b->resources[b->resource_count++] = resource;
  }
  return true;
}

static bool read_resources(bytecode_t* b) {
  if (!b->has[BYTECODE_RESOURCES]) return true;
  bytecode_bytes_t c = b->sections[BYTECODE_RESOURCE_OFFSETS], data = b->sections[BYTECODE_RESOURCES];
  uint64_t external, dialect;
  bytecode_string_t provider;
  b->resources = ARENA_ARRAY(&b->scratch, bytecode_resource_t, bytecode_left(&c) + 1);
  if (!bytecode_count(b, &c, &external, "groups of resources")) return false;
  for (uint64_t i = 0; i < external; ++i) {  // for tools: they say nothing about the program
    if (!bytecode_string(b, &c, &provider) || !read_resource_group(b, &c, &data, false)) return false;
  }
  while (bytecode_left(&c)) {
    if (!bytecode_index(b, &c, b->dialect_count, &dialect, "dialect") || !read_resource_group(b, &c, &data, true)) {
      return false;
    }
  }
  return true;
}

static bool read_properties(bytecode_t* b) {
  bytecode_bytes_t c = b->sections[BYTECODE_PROPERTIES];
  uint64_t count;
  if (!bytecode_left(&c)) return true;
  if (!bytecode_count(b, &c, &count, "properties")) return false;
  b->properties = ARENA_ARRAY(&b->scratch, bytecode_bytes_t, count + 1);
  for (; b->property_count < count; ++b->property_count) {
    if (!bytecode_blob(b, &c, &b->properties[b->property_count])) return false;
  }
  return !bytecode_left(&c) || bytecode_fail(b, &c, "there is more behind the properties");
}

ir_op_t* ir_read_bytecode(ir_context_t* ctx, const char* path, const void* data, size_t size) {
  bytecode_t b = {.ctx = ctx, .path = ir_intern_cstr(ctx, path), .begin = data, .size = size, .value_budget = size};
  bytecode_bytes_t c = {b.begin, b.begin + size};
  arena_init(&b.scratch);
  ir_op_t* module = NULL;
  if (read_header(&b, &c) && read_sections(&b, &c) && read_strings(&b) && read_dialects(&b) && read_offsets(&b) &&
      read_resources(&b) && read_properties(&b)) {
    module = bytecode_module(&b);
  }
  if (module && b.shardy) {
    ir_note(ctx, ir_loc_file(ctx, path, 1, 1), "shardings (the sdy dialect) are left out: one device runs the program");
  }
  arena_finish(&b.scratch);
  return module;
}
