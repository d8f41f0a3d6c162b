// Properties of ops: inherent attributes, which since version 5 have an encoding of the op's own. It is the attributes'
// indices in order of their names; so what must be known of an op is which it has.
#include <string.h>

#include "ir/bytecode_state.h"

static const struct {
  const char *dialect, *ops, *attrs;
} rows[] = {
#define OPS(dialect, ops, attrs) {dialect, ops, attrs},
#include "ir/bytecode_property.def"
#undef OPS
};

static bool has_word(const char* list, const char* word) {
  size_t size = strlen(word);
  for (const char* at = list; *at; at += strspn(at, " ")) {
    size_t length = strcspn(at, " ");
    if (length == size && memcmp(at, word, size) == 0) return true;
    at += length;
  }
  return false;
}

static const char* find_attrs(const char* name) {
  const char *dot = strchr(name, '.'), *versioned = vhlo_attrs(name);
  if (versioned || !dot) return versioned;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    size_t size = strlen(rows[i].dialect);
    if ((size_t)(dot - name) != size || memcmp(name, rows[i].dialect, size) != 0) continue;
    if (has_word(rows[i].ops, dot + 1)) return rows[i].attrs;
  }
  return NULL;
}

// Sizes of so many groups, those at the end that are 0 left out: {count << 1 | sparse, values...}, or, when sparse,
// {..., width of an index, value << width | index...}.
static const ir_attr_t* read_segments(bytecode_t* b, bytecode_bytes_t* c, uint32_t groups) {
  int32_t values[9] = {0};
  uint64_t count, width = 0, value;
  bool sparse;
  bytecode_bytes_t start = *c;
  if (!bytecode_flagged(b, c, &count, &sparse) || (sparse && count && !bytecode_varint(b, c, &width))) return NULL;
  for (uint64_t i = 0; i < count; ++i) {
    if (!bytecode_varint(b, c, &value)) return NULL;
    uint64_t at = sparse && width < 64 ? value & ((1ull << width) - 1) : i;
    if (sparse) value = width < 64 ? value >> width : 0;
    if (at >= groups || value > INT32_MAX) {
      bytecode_fail(b, &start, "the groups of an op's operands are out of range");
      return NULL;
    }
    values[at] = (int32_t)value;
  }
  return ir_attr_dense_array(b->ctx, ir_type_int(b->ctx, 32), values, groups);
}

// The N of ":segN" (one digit), or 0.
static uint32_t segment_count(const char* attr, size_t size) {
  return size > 5 && memcmp(attr + size - 5, ":seg", 4) == 0 ? (uint32_t)(attr[size - 1] - '0') : 0;
}

// One attribute of the row; an absent one gives NULL.
static bool read_attr(bytecode_t* b, bytecode_bytes_t* c, const char* attr, size_t size, const ir_attr_t** out) {
  uint32_t groups = segment_count(attr, size);
  if (groups && b->version >= BYTECODE_HAS_SEGMENTS) return (*out = read_segments(b, c, groups)) != NULL;
  if (attr[size - 1] == '?') return bytecode_optional_attr(b, c, out);
  return (*out = bytecode_attr(b, c)) != NULL;
}

static bool read_row(bytecode_t* b, bytecode_bytes_t* c, const char* row, ir_named_attr_t* attrs, uint32_t* count) {
  for (const char* at = row; *at; at += strspn(at, " ")) {
    size_t size = strcspn(at, " ");
    const ir_attr_t* value;
    if (!read_attr(b, c, at, size, &value)) return false;
    ir_name_t name = ir_intern(b->ctx, at, strcspn(at, " ?:=@#!-"));
    if (value) attrs[(*count)++] = (ir_named_attr_t){name, value};
    at += size;
  }
  return true;
}

static uint32_t count_words(const char* row) {
  uint32_t count = 1;
  for (; *row; ++row) count += *row == ' ';
  return count;
}

// What an op that its writer did not know had: one attribute, a dictionary.
static bool read_unregistered(bytecode_t* b, bytecode_bytes_t* c, ir_named_attr_t** attrs, uint32_t* count) {
  bytecode_bytes_t start = *c;
  const ir_attr_t* dict = bytecode_attr(b, c);
  if (!dict) return false;
  if (dict->kind != IR_ATTR_DICT) return bytecode_fail(b, &start, "the properties of an op are no dictionary");
  ir_named_attr_t* all = ARENA_ARRAY(&b->scratch, ir_named_attr_t, *count + dict->count + 1);
  if (*count) memcpy(all, *attrs, sizeof(*all) * *count);
  if (dict->count) memcpy(all + *count, dict->entries, sizeof(*all) * dict->count);
  *attrs = all;
  *count += dict->count;
  return true;
}

bool bytecode_properties(bytecode_t* b, bytecode_bytes_t* c, const bytecode_name_t* name, ir_named_attr_t** attrs,
                         uint32_t* count) {
  uint64_t index;
  bytecode_bytes_t start = *c;
  if (!bytecode_index(b, c, b->property_count, &index, "property")) return false;
  bytecode_bytes_t data = b->properties[index];
  if (!name->registered) return read_unregistered(b, &data, attrs, count);
  const char* row = find_attrs(name->name);
  if (!row) {
    return bytecode_fail(
        b, &start, "the properties of '%s' cannot be read; write the module as text, or as version 4 of the format",
        name->name);
  }
  ir_named_attr_t* all = ARENA_ARRAY(&b->scratch, ir_named_attr_t, *count + count_words(row));
  if (*count) memcpy(all, *attrs, sizeof(*all) * *count);
  *attrs = all;
  if (!read_row(b, &data, row, all, count)) return false;
  return !bytecode_left(&data) ||
         bytecode_fail(b, &data, "the properties of '%s' are longer than what is known of them", name->name);
}
