// From VHLO, the versioned copy of StableHLO that portable artifacts are written in, back to StableHLO. What VHLO
// always spells out and StableHLO leaves out is dropped; attributes that it has apart become StableHLO's structs again.
#include <stdlib.h>
#include <string.h>

#include "ir/bytecode_state.h"
#include "ir/parse_state.h"

typedef struct row_t {
  const char* name;
  const char* attrs;
} row_t;
static const row_t rows[] = {
#define OP(name, attrs) {name, attrs},
#include "ir/vhlo.def"
#undef OP
};

const char* vhlo_attrs(const char* name) {
  if (strncmp(name, "vhlo.", 5) != 0) return NULL;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (strcmp(rows[i].name, name + 5) == 0) return rows[i].attrs;
  }
  return NULL;
}

// "vhlo.add_v1" without its version; NULL when it has none.
static const char* bare_name(bytecode_t* b, const char* name) {
  size_t size = strlen(name);
  while (size && name[size - 1] >= '0' && name[size - 1] <= '9') --size;
  if (size < 8 || !name[size] || strncmp(name + size - 2, "_v", 2) != 0) return NULL;
  return arena_strndup(&b->scratch, name + 5, size - 7);
}

const char* vhlo_op_name(bytecode_t* b, const char* name, bool in_func) {
  if (strncmp(name, "vhlo.", 5) != 0) return name;
  const char* bare = bare_name(b, name);
  if (!bare) return name;
  bool func = strcmp(bare, "func") == 0 || strcmp(bare, "call") == 0 || (in_func && strcmp(bare, "return") == 0);
  return arena_printf(&b->scratch, "%s.%s", func ? "func" : "stablehlo", bare);
}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes one by one
//===----------------------------------------------------------------------------------------------------------------===

static bool all_are(const ir_attr_t* attr, int64_t value) {
  int64_t count = ir_type_count(attr->type);
  if (ir_type_scalar(attr->type)->kind != IR_TYPE_INTEGER || count == 0) return false;
  for (int64_t i = 0; i < (attr->splat ? 1 : count); ++i) {
    if (ir_attr_element_integer(attr, i) != value) return false;
  }
  return true;
}

// "precision DEFAULT", "..., mode = #stablehlo.result_accuracy_mode<DEFAULT>"
static bool ends_with(const char* body, const char* word) {
  size_t size = strlen(body), end = strlen(word);
  if (size && body[size - 1] == '>') --size;
  return size >= end && memcmp(body + size - end, word, end) == 0;
}

static bool is_default(const ir_attr_t* attr, const char* value) {
  bool number = *value == '-' || ir_is_digit(*value);
  switch (attr->kind) {
    case IR_ATTR_STRING:
      return !*value && !attr->size;
    case IR_ATTR_DICT:
      return !*value && !attr->count;
    case IR_ATTR_INTEGER:
      return number && attr->integer == strtoll(value, NULL, 10);
    case IR_ATTR_ELEMENTS:
      return number ? all_are(attr, strtoll(value, NULL, 10)) : !*value && ir_type_count(attr->type) == 0;
    case IR_ATTR_OPAQUE:
      return *value && !number && attr->body && ends_with(attr->body, value);
    case IR_ATTR_ARRAY:
      for (uint32_t i = 0; i < attr->count; ++i) {
        if (!*value || attr->items[i]->kind != IR_ATTR_OPAQUE || !is_default(attr->items[i], value)) return false;
      }
      return true;
    default:
      return false;
  }
}

static const ir_attr_t* as_symbols(bytecode_t* b, const ir_attr_t* attr) {
  if (attr->kind == IR_ATTR_STRING) return ir_attr_symbol(b->ctx, ir_intern(b->ctx, attr->text, attr->size));
  if (attr->kind != IR_ATTR_ARRAY) return attr;
  const ir_attr_t** items = ARENA_ARRAY(&b->scratch, const ir_attr_t*, attr->count + 1);
  for (uint32_t i = 0; i < attr->count; ++i) {
    const ir_attr_t* item = attr->items[i];
    items[i] = item->kind == IR_ATTR_STRING ? as_symbols(b, item) : item;
  }
  return ir_attr_array(b->ctx, items, attr->count);
}

// What stands in an attribute's place: the attribute itself, another, or none.
static const ir_attr_t* convert(bytecode_t* b, ir_named_attr_t attr, const char* marks, ir_name_t* name) {
  const ir_attr_t* value = attr.value;
  *name = attr.name;
  for (; *marks && *marks != ' ' && *marks != '='; ++marks) {
    if (*marks == '-') return NULL;
    if (*marks == '@') value = as_symbols(b, value);
    if (*marks == '!' && value->kind == IR_ATTR_INTEGER) value = value->integer ? ir_attr_unit(b->ctx) : NULL;
    if (*marks == '#' && value->kind == IR_ATTR_INTEGER) {
      if (!value->integer) return NULL;
      text_t text = {0};
      text_printf(&text, "#stablehlo.channel_handle<handle = %lld, type = 0>", (long long)value->integer);
      *name = ir_intern_cstr(b->ctx, "channel_handle");
      return bytecode_text_attr(b, NULL, &text);
    }
    if (!value) return NULL;
  }
  if (*marks != '=') return value;
  const char* word = arena_strndup(&b->scratch, marks + 1, strcspn(marks + 1, " "));
  return is_default(value, word) ? NULL : value;
}

// The marks behind an attribute's name, or NULL when the row does not have it.
static const char* find_marks(const char* row, const char* name) {
  size_t size = strlen(name);
  for (const char* at = row; *at; at += strspn(at, " ")) {
    size_t length = strcspn(at, " =@#!-");
    if (length == size && memcmp(at, name, size) == 0) return at + size;
    at += strcspn(at, " ");
  }
  return NULL;
}

//===----------------------------------------------------------------------------------------------------------------===
// Structs
//===----------------------------------------------------------------------------------------------------------------===

typedef struct attrs_t {
  ir_named_attr_t* items;
  uint32_t count;
} attrs_t;

static const ir_attr_t* take(attrs_t* attrs, const char* name, size_t size) {
  for (uint32_t i = 0; i < attrs->count; ++i) {
    if (strncmp(attrs->items[i].name, name, size) != 0 || attrs->items[i].name[size]) continue;
    const ir_attr_t* value = attrs->items[i].value;
    memmove(&attrs->items[i], &attrs->items[i + 1], sizeof(attrs->items[0]) * (--attrs->count - i));
    return value;
  }
  return NULL;
}

static bool put_value(text_t* out, const ir_attr_t* attr, char mark) {
  enum { MAX = 64 };
  int64_t values[MAX];
  if (mark == 't') {
    if (attr->kind != IR_ATTR_TYPE) return false;
    ir_print_type(out, attr->type);
    return true;
  }
  if (mark != 'L' && mark != 'l') {
    if (attr->kind != IR_ATTR_INTEGER) return false;
    if (mark == 'b') text_puts(out, attr->integer ? "true" : "false");
    if (mark != 'b') text_printf(out, "%lld", (long long)attr->integer);
    return true;
  }
  uint32_t count = ir_attr_ints(attr, values, MAX);
  if ((attr->kind != IR_ATTR_ELEMENTS && attr->kind != IR_ATTR_DENSE_ARRAY) || count > MAX) return false;
  text_puts(out, "[");
  for (uint32_t i = 0; i < count; ++i) text_printf(out, i ? ", %lld" : "%lld", (long long)values[i]);
  text_puts(out, "]");
  return true;
}

static bool is_none(const ir_attr_t* attr) { return attr->kind == IR_ATTR_TYPE && attr->type->kind == IR_TYPE_NONE; }

static bool left_out(const ir_attr_t* attr, char mark) {
  int64_t ignored;
  if (mark == 'I') return attr->kind == IR_ATTR_INTEGER && !attr->integer;
  return mark == 'L' && ir_attr_ints(attr, &ignored, 1) == 0;
}

// The attributes that `fields` names become one, `target`. Nothing when they say that there is none.
static bool gather_struct(bytecode_t* b, attrs_t* attrs, const char* target, const char* name, const char* fields) {
  text_t text = {0};
  bool ok = true, none = true, first = true;
  text_printf(&text, "#stablehlo.%s<", name);
  for (const char* at = fields; ok && *at;) {
    size_t size = strcspn(at, ":"), own = strcspn(at, ":/");
    const char *field = own < size ? at + own + 1 : at, *what = at;
    const ir_attr_t* value = take(attrs, at, own);
    char mark = at[size + 1];
    at += size + 2;
    at += *at == ' ';
    if (!value || is_none(value)) continue;
    none = false;
    if (left_out(value, mark)) continue;
    text_printf(&text, "%s%.*s = ", first ? "" : ", ", (int)(what + size - field), field);
    first = false;
    ok = put_value(&text, value, mark);
    if (!ok) bytecode_fail(b, NULL, "attribute '%.*s' of an op has a wrong type", (int)own, what);
  }
  text_puts(&text, ">");
  if (!ok || none) return text_finish(&text), ok;
  const ir_attr_t* attr = bytecode_text_attr(b, NULL, &text);
  if (attr) attrs->items[attrs->count++] = (ir_named_attr_t){ir_intern_cstr(b->ctx, target), attr};
  return attr != NULL;
}

// One of the three lists: letters and the numbers of spatial dimensions, each where it is.
static bool put_layout(text_t* out, const int64_t numbers[2], const char letters[2], const int64_t* spatial,
                       uint32_t count) {
  enum { MAX = 64 };
  int places[MAX];
  if (count + 2 > MAX) return false;
  for (uint32_t i = 0; i < count + 2; ++i) places[i] = -1;
  for (uint32_t i = 0; i < count + 2; ++i) {
    int64_t place = i < 2 ? numbers[i] : spatial[i - 2];
    if (place < 0 || place >= count + 2 || places[place] >= 0) return false;
    places[place] = (int)i;
  }
  text_puts(out, "[");
  for (uint32_t i = 0; i < count + 2; ++i) {
    if (i) text_puts(out, ", ");
    if (places[i] < 2) text_append(out, &letters[places[i]], 1);
    if (places[i] >= 2) text_printf(out, "%d", places[i] - 2);
  }
  text_puts(out, "]");
  return true;
}

const ir_attr_t* vhlo_conv(bytecode_t* b, const bytecode_bytes_t* c, const int64_t numbers[6],
                           int64_t* const spatial[3], const uint32_t counts[3]) {
  static const char letters[3][2] = {{'b', 'f'}, {'i', 'o'}, {'b', 'f'}};
  text_t text = {0};
  bool ok = true;
  for (int i = 0; ok && i < 3; ++i) {
    if (i) text_puts(&text, i == 1 ? "x" : "->");
    ok = put_layout(&text, &numbers[2 * i], letters[i], spatial[i], counts[i]);
  }
  const ir_attr_t* attr = ok ? ir_attr_opaque(b->ctx, "stablehlo.conv", text.data, NULL, 0) : NULL;
  text_finish(&text);
  if (!attr) bytecode_fail(b, c, "a convolution's dimension numbers are no permutations");
  return attr;
}

static bool gather_conv(bytecode_t* b, attrs_t* attrs) {
  static const char* const names[] = {"input_batch_dimension",          "input_feature_dimension",
                                      "kernel_input_feature_dimension", "kernel_output_feature_dimension",
                                      "output_batch_dimension",         "output_feature_dimension"};
  static const char* const lists[] = {"input_spatial_dimensions", "kernel_spatial_dimensions",
                                      "output_spatial_dimensions"};
  enum { MAX = 64 };
  int64_t numbers[6], values[3][MAX], *spatial[3] = {values[0], values[1], values[2]};
  uint32_t counts[3];
  for (int i = 0; i < 6; ++i) {
    const ir_attr_t* attr = take(attrs, names[i], strlen(names[i]));
    if (!attr || attr->kind != IR_ATTR_INTEGER) return bytecode_fail(b, NULL, "'%s' is no number", names[i]);
    numbers[i] = attr->integer;
  }
  for (int i = 0; i < 3; ++i) {
    const ir_attr_t* attr = take(attrs, lists[i], strlen(lists[i]));
    counts[i] = attr ? ir_attr_ints(attr, values[i], MAX) : MAX + 1;
    if (counts[i] > MAX) return bytecode_fail(b, NULL, "'%s' is no list", lists[i]);
  }
  const ir_attr_t* attr = vhlo_conv(b, NULL, numbers, spatial, counts);
  if (attr) attrs->items[attrs->count++] = (ir_named_attr_t){ir_intern_cstr(b->ctx, "dimension_numbers"), attr};
  return attr != NULL;
}

static bool gather_structs(bytecode_t* b, const char* op, attrs_t* attrs) {
  static const struct {
    const char *op, *attr, *name, *fields;
  } structs[] = {{"dot_general", "dot_dimension_numbers", "dot", vhlo_dot},
                 {"dot_general", "algorithm", "dot_algorithm", vhlo_algorithm},
                 {"gather", "dimension_numbers", "gather", vhlo_gather},
                 {"dynamic_gather", "dimension_numbers", "gather", vhlo_gather},
                 {"scatter", "scatter_dimension_numbers", "scatter", vhlo_scatter},
                 {"send", "channel_handle", "channel_handle", vhlo_channel},
                 {"recv", "channel_handle", "channel_handle", vhlo_channel}};
  for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); ++i) {
    if (strcmp(structs[i].op, op) != 0) continue;
    if (!gather_struct(b, attrs, structs[i].attr, structs[i].name, structs[i].fields)) return false;
  }
  return (strcmp(op, "convolution") && strcmp(op, "dynamic_conv")) || gather_conv(b, attrs);
}

// Layouts of operands and results are there together or not at all.
static void complete_layouts(bytecode_t* b, attrs_t* attrs) {
  static const char* const names[] = {"operand_layouts", "result_layouts"};
  bool there[2] = {false, false};
  for (uint32_t i = 0; i < attrs->count; ++i) {
    for (int k = 0; k < 2; ++k) there[k] |= strcmp(attrs->items[i].name, names[k]) == 0;
  }
  if (there[0] == there[1]) return;
  ir_name_t name = ir_intern_cstr(b->ctx, names[there[0] ? 1 : 0]);
  attrs->items[attrs->count++] = (ir_named_attr_t){name, ir_attr_array(b->ctx, NULL, 0)};
}

bool vhlo_convert(bytecode_t* b, const char* name, ir_named_attr_t** attrs, uint32_t* count) {
  const char *row = vhlo_attrs(name), *bare = row ? bare_name(b, name) : NULL;
  if (!bare) return true;
  // A convolution's numbers and a custom call's layouts make one more at most.
  attrs_t out = {ARENA_ARRAY(&b->scratch, ir_named_attr_t, *count + 2), 0};
  for (uint32_t i = 0; i < *count; ++i) {
    const char* marks = find_marks(row, (*attrs)[i].name);
    ir_name_t as = (*attrs)[i].name;
    const ir_attr_t* value = marks ? convert(b, (*attrs)[i], marks, &as) : (*attrs)[i].value;
    if (b->failed) return false;
    if (value) out.items[out.count++] = (ir_named_attr_t){as, value};
  }
  if (!gather_structs(b, bare, &out)) return false;
  if (strcmp(bare, "custom_call") == 0) complete_layouts(b, &out);
  *attrs = out.items;
  *count = out.count;
  return true;
}
