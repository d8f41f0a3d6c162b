// What the bytecode writer's tables hold: strings, dialects, op names, types, attributes, locations. What the builtin
// dialect has an encoding for is written in it, the rest as text.
#include <string.h>

#include "ir/bytecode_writer.h"

//===----------------------------------------------------------------------------------------------------------------===
// Numbers and tables
//===----------------------------------------------------------------------------------------------------------------===

void bytecode_put_byte(text_t* out, unsigned value) {
  char c = (char)value;
  text_append(out, &c, 1);
}

void bytecode_put_varint(text_t* out, uint64_t value) {
  int more = 0;
  while (more < 8 && value >> (7 * (more + 1))) ++more;
  unsigned char bytes[9] = {0};
  if (more == 8) {
    memcpy(bytes + 1, &value, 8);
    return text_append(out, (char*)bytes, 9);
  }
  uint64_t word = (value << 1 | 1) << more;
  memcpy(bytes, &word, 8);
  text_append(out, (char*)bytes, (size_t)more + 1);
}

static void bytecode_put_svarint(text_t* out, int64_t value) {
  bytecode_put_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void bytecode_put_flagged(text_t* out, uint64_t value, bool flag) { bytecode_put_varint(out, value << 1 | flag); }

static uint64_t hash_key(const void* item) { return ir_hash_mix(0, (uintptr_t)((const bytecode_number_t*)item)->key); }
static bool equal_key(const void* a, const void* b) { return ((const bytecode_number_t*)a)->key == b; }

bool bytecode_find_number(const bytecode_table_t* table, const void* key, uint64_t* number) {
  const bytecode_number_t* found = ir_set_find(&table->set, ir_hash_mix(0, (uintptr_t)key), key, equal_key);
  if (found) *number = found->number;
  return found != NULL;
}

uint64_t bytecode_add_number(bytecode_writer_t* w, bytecode_table_t* table, const void* key) {
  bytecode_number_t* item = ARENA_NEW(&w->scratch, bytecode_number_t);
  *item = (bytecode_number_t){key, table->count++};
  ir_set_insert(&table->set, hash_key(item), item, hash_key);
  return item->number;
}

static void* grow(bytecode_writer_t* w, void* items, uint64_t count, uint64_t* capacity, size_t size) {
  if (count < *capacity) return items;
  uint64_t more = *capacity ? 2 * *capacity : 32;
  void* copy = arena_alloc(&w->scratch, size * more);
  if (count) memcpy(copy, items, size * count);
  *capacity = more;
  return copy;
}

uint64_t bytecode_string_number(bytecode_writer_t* w, const char* text, size_t size) {
  uint64_t number;
  ir_name_t key = ir_intern(w->ctx, text, size);
  if (bytecode_find_number(&w->strings, key, &number)) return number;
  number = bytecode_add_number(w, &w->strings, key);
  w->string_sizes = grow(w, w->string_sizes, number, &w->string_capacity, sizeof(*w->string_sizes));
  w->string_sizes[number] = size + 1;
  text_append(&w->string_bytes, text, size);
  bytecode_put_byte(&w->string_bytes, 0);
  return number;
}

uint64_t bytecode_dialect_number(bytecode_writer_t* w, const char* text, size_t size) {
  uint64_t number;
  ir_name_t key = ir_intern(w->ctx, text, size);
  if (bytecode_find_number(&w->dialects, key, &number)) return number;
  uint64_t string = bytecode_string_number(w, text, size);
  if (w->version >= BYTECODE_HAS_DIALECT_VERSIONS) bytecode_put_flagged(&w->dialect_list, string, false);
  if (w->version < BYTECODE_HAS_DIALECT_VERSIONS) bytecode_put_varint(&w->dialect_list, string);
  return bytecode_add_number(w, &w->dialects, key);
}

// Of "dialect.name" the part in front of the dot.
static uint64_t prefix_number(bytecode_writer_t* w, const char* name) {
  return bytecode_dialect_number(w, name, strcspn(name, "."));
}

uint64_t bytecode_name_number(bytecode_writer_t* w, const ir_op_t* op) {
  uint64_t number;
  if (bytecode_find_number(&w->names, op->name, &number)) return number;
  const char* dot = strchr(op->name, '.');
  const char* rest = dot ? dot + 1 : "";
  bytecode_put_varint(&w->name_list, prefix_number(w, op->name));
  bytecode_put_varint(&w->name_list, 1);
  uint64_t string = bytecode_string_number(w, rest, strlen(rest));
  if (w->version >= BYTECODE_HAS_PROPERTIES) {
    bytecode_put_flagged(&w->name_list, string, op->info->code != IR_CODE_UNREGISTERED);
  } else {
    bytecode_put_varint(&w->name_list, string);
  }
  return bytecode_add_number(w, &w->names, op->name);
}

static void add_entry(bytecode_writer_t* w, bytecode_entries_t* to, uint64_t dialect, const text_t* bytes,
                      bool custom) {
  uint64_t capacity = to->capacity;
  to->items = grow(w, to->items, to->count, &to->capacity, sizeof(*to->items));
  to->dialects = grow(w, to->dialects, to->count, &capacity, sizeof(*to->dialects));
  to->items[to->count] = (uint64_t)bytes->size << 1 | custom;
  to->dialects[to->count++] = dialect;
  text_append(&to->bytes, bytes->data ? bytes->data : "", bytes->size);
}

//===----------------------------------------------------------------------------------------------------------------===
// Types
//===----------------------------------------------------------------------------------------------------------------===

static void put_types(bytecode_writer_t* w, text_t* out, const ir_type_t* const* types, uint32_t count) {
  bytecode_put_varint(out, count);
  for (uint32_t i = 0; i < count; ++i) bytecode_put_varint(out, bytecode_type_number(w, types[i]));
}

static void put_shape(bytecode_writer_t* w, text_t* out, const ir_type_t* type) {
  bytecode_put_varint(out, (uint64_t)type->rank);
  for (int32_t i = 0; i < type->rank; ++i) bytecode_put_svarint(out, type->dims[i]);
  bytecode_put_varint(out, bytecode_type_number(w, type->element));
}

// False when the builtin dialect has no encoding that all of its readers know.
static bool encode_type(bytecode_writer_t* w, text_t* out, const ir_type_t* type) {
  static const struct {
    ir_float_kind_t kind;
    bytecode_builtin_type_t code;
  } floats[] = {{IR_BF16, BYTECODE_TYPE_BF16},
                {IR_F16, BYTECODE_TYPE_F16},
                {IR_F32, BYTECODE_TYPE_F32},
                {IR_F64, BYTECODE_TYPE_F64}};
  switch (type->kind) {
    case IR_TYPE_INTEGER:
      bytecode_put_varint(out, BYTECODE_TYPE_INTEGER);
      bytecode_put_varint(out, (uint64_t)type->width << 2 | (unsigned)type->sign);
      return true;
    case IR_TYPE_INDEX:
      bytecode_put_varint(out, BYTECODE_TYPE_INDEX);
      return true;
    case IR_TYPE_FLOAT:
      for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); ++i) {
        if (floats[i].kind != type->float_kind) continue;
        bytecode_put_varint(out, floats[i].code);
        return true;
      }
      return false;
    case IR_TYPE_FUNCTION:
      bytecode_put_varint(out, BYTECODE_TYPE_FUNCTION);
      put_types(w, out, type->inputs, type->input_count);
      put_types(w, out, type->results, type->result_count);
      return true;
    case IR_TYPE_TUPLE:
      bytecode_put_varint(out, BYTECODE_TYPE_TUPLE);
      put_types(w, out, type->inputs, type->input_count);
      return true;
    case IR_TYPE_COMPLEX:
      bytecode_put_varint(out, BYTECODE_TYPE_COMPLEX);
      bytecode_put_varint(out, bytecode_type_number(w, type->element));
      return true;
    case IR_TYPE_TENSOR:
      bytecode_put_varint(out, type->encoding ? BYTECODE_TYPE_TENSOR_ENCODED : BYTECODE_TYPE_TENSOR);
      if (type->encoding) bytecode_put_varint(out, bytecode_attr_number(w, type->encoding));
      put_shape(w, out, type);
      return true;
    default:
      return false;
  }
}

uint64_t bytecode_type_number(bytecode_writer_t* w, const ir_type_t* type) {
  uint64_t number;
  if (bytecode_find_number(&w->types, type, &number)) return number;
  text_t bytes = {0};
  bool custom = encode_type(w, &bytes, type);
  bool dialect = type->kind == IR_TYPE_OPAQUE || type->kind == IR_TYPE_VTENSOR;
  if (!custom) {
    ir_print_type(&bytes, type);
    bytecode_put_byte(&bytes, 0);
  }
  uint64_t owner =
      !dialect ? bytecode_dialect_number(w, "builtin", 7) : prefix_number(w, type->name ? type->name : "torch");
  add_entry(w, &w->type_data, owner, &bytes, custom);
  text_finish(&bytes);
  return bytecode_add_number(w, &w->types, type);
}

//===----------------------------------------------------------------------------------------------------------------===
// Locations
//===----------------------------------------------------------------------------------------------------------------===

static uint64_t string_attr_number(bytecode_writer_t* w, const char* text) {
  return bytecode_attr_number(w, ir_attr_string(w->ctx, text, strlen(text)));
}

uint64_t bytecode_loc_number(bytecode_writer_t* w, const ir_loc_t* loc) {
  return bytecode_attr_number(w, ir_attr_loc(w->ctx, loc));
}

static void encode_fused(bytecode_writer_t* w, text_t* out, const ir_loc_t* loc) {
  uint64_t count = 0;
  for (const ir_loc_t* part = loc; part; part = part->next) count += part->child != NULL;
  bytecode_put_varint(out, BYTECODE_LOC_FUSED);
  bytecode_put_varint(out, count);
  for (const ir_loc_t* part = loc; part; part = part->next) {
    if (part->child) bytecode_put_varint(out, bytecode_loc_number(w, part->child));
  }
}

static void encode_loc(bytecode_writer_t* w, text_t* out, const ir_loc_t* loc) {
  switch (loc->kind) {
    case IR_LOC_FILE:
      bytecode_put_varint(out, BYTECODE_LOC_FILE);
      bytecode_put_varint(out, string_attr_number(w, loc->name));
      bytecode_put_varint(out, loc->line);
      bytecode_put_varint(out, loc->column);
      return;
    case IR_LOC_NAME:
      bytecode_put_varint(out, BYTECODE_LOC_NAME);
      bytecode_put_varint(out, string_attr_number(w, loc->name));
      bytecode_put_varint(out, bytecode_loc_number(w, loc->child ? loc->child : ir_loc_unknown(w->ctx)));
      return;
    case IR_LOC_FUSED:
      encode_fused(w, out, loc);
      return;
    case IR_LOC_CALLSITE:
      bytecode_put_varint(out, BYTECODE_LOC_CALLSITE);
      bytecode_put_varint(out, bytecode_loc_number(w, loc->child));
      bytecode_put_varint(out, bytecode_loc_number(w, loc->next));
      return;
    default:
      bytecode_put_varint(out, BYTECODE_LOC_UNKNOWN);
  }
}

//===----------------------------------------------------------------------------------------------------------------===
// Attributes
//===----------------------------------------------------------------------------------------------------------------===

static void put_blob(text_t* out, const void* data, size_t size) {
  bytecode_put_varint(out, size);
  text_append(out, data ? data : "", size);
}

// As in memory, but booleans are bits, or one byte of ones for all.
static void encode_elements(bytecode_writer_t* w, text_t* out, const ir_attr_t* attr) {
  const ir_type_t* scalar = ir_type_scalar(attr->type);
  const unsigned char* data = ir_attr_data(attr);
  bytecode_put_varint(out, BYTECODE_ELEMENTS);
  bytecode_put_varint(out, bytecode_type_number(w, attr->type));
  if (scalar->kind != IR_TYPE_INTEGER || scalar->width != 1) return put_blob(out, data, attr->size);
  unsigned char all = attr->size && data[0] ? 0xff : 0;
  if (attr->splat || attr->size == 1) return put_blob(out, &all, 1);
  bytecode_put_varint(out, (attr->size + 7) / 8);
  for (size_t i = 0; i < attr->size; i += 8) {
    unsigned bits = 0;
    for (size_t k = i; k < i + 8 && k < attr->size; ++k) bits |= (unsigned)(data[k] != 0) << (k - i);
    bytecode_put_byte(out, bits);
  }
}

static void encode_resource(bytecode_writer_t* w, text_t* out, const ir_attr_t* attr) {
  uint64_t number;
  if (!bytecode_find_number(&w->resources, attr->resource, &number)) {
    number = bytecode_add_number(w, &w->resources, attr->resource);
    w->resource_list = grow(w, w->resource_list, number, &w->resource_capacity, sizeof(*w->resource_list));
    w->resource_list[number] = attr;
  }
  bytecode_put_varint(out, BYTECODE_RESOURCE);
  bytecode_put_varint(out, bytecode_type_number(w, attr->type));
  bytecode_put_varint(out, number);
}

static void encode_integer(bytecode_writer_t* w, text_t* out, const ir_attr_t* attr) {
  bytecode_put_varint(out, BYTECODE_INTEGER);
  bytecode_put_varint(out, bytecode_type_number(w, attr->type));
  if (attr->type->kind == IR_TYPE_INTEGER && attr->type->width <= 8) {
    uint64_t mask = attr->type->width ? ~0ull >> (64 - attr->type->width) : 0;
    bytecode_put_byte(out, (unsigned)((uint64_t)attr->integer & mask));
  } else {
    bytecode_put_svarint(out, attr->integer);
  }
}

static void encode_items(bytecode_writer_t* w, text_t* out, const ir_attr_t* const* items, uint32_t count) {
  bytecode_put_varint(out, count);
  for (uint32_t i = 0; i < count; ++i) bytecode_put_varint(out, bytecode_attr_number(w, items[i]));
}

static void encode_symbol(bytecode_writer_t* w, text_t* out, const ir_attr_t* attr) {
  bytecode_put_varint(out, attr->count ? BYTECODE_NESTED_SYMBOL : BYTECODE_SYMBOL);
  bytecode_put_varint(out, string_attr_number(w, attr->text));
  if (attr->count) encode_items(w, out, attr->items, attr->count);
}

static void encode_dict(bytecode_writer_t* w, text_t* out, const ir_attr_t* attr) {
  bytecode_put_varint(out, BYTECODE_DICT);
  bytecode_put_varint(out, attr->count);
  for (uint32_t i = 0; i < attr->count; ++i) {
    bytecode_put_varint(out, string_attr_number(w, attr->entries[i].name));
    bytecode_put_varint(out, bytecode_attr_number(w, attr->entries[i].value));
  }
}

static void encode_dense_array(bytecode_writer_t* w, text_t* out, const ir_attr_t* attr) {
  bytecode_put_varint(out, BYTECODE_DENSE_ARRAY);
  bytecode_put_varint(out, bytecode_type_number(w, attr->type));
  bytecode_put_varint(out, attr->count);
  put_blob(out, ir_attr_data(attr), attr->size);
}

// Elements of tf32 take another size elsewhere.
static bool has_known_size(const ir_type_t* scalar) {
  if (scalar->kind == IR_TYPE_COMPLEX) scalar = scalar->element;
  return scalar->kind != IR_TYPE_FLOAT || scalar->float_kind != IR_TF32;
}

// False for what is written as text.
static bool encode_attr(bytecode_writer_t* w, text_t* out, const ir_attr_t* attr) {
  switch (attr->kind) {
    case IR_ATTR_UNIT:
      bytecode_put_varint(out, BYTECODE_UNIT);
      return true;
    case IR_ATTR_INTEGER:
      encode_integer(w, out, attr);
      return true;
    case IR_ATTR_STRING:
      bytecode_put_varint(out, BYTECODE_STRING);
      bytecode_put_varint(out, bytecode_string_number(w, attr->text, attr->size));
      return true;
    case IR_ATTR_SYMBOL:
      encode_symbol(w, out, attr);
      return true;
    case IR_ATTR_ARRAY:
      bytecode_put_varint(out, BYTECODE_ARRAY);
      encode_items(w, out, attr->items, attr->count);
      return true;
    case IR_ATTR_DICT:
      encode_dict(w, out, attr);
      return true;
    case IR_ATTR_TYPE:
      bytecode_put_varint(out, BYTECODE_TYPE_ATTR);
      bytecode_put_varint(out, bytecode_type_number(w, attr->type));
      return true;
    case IR_ATTR_ELEMENTS:
      if (attr->resource) encode_resource(w, out, attr);
      if (!attr->resource && has_known_size(ir_type_scalar(attr->type))) encode_elements(w, out, attr);
      return attr->resource || has_known_size(ir_type_scalar(attr->type));
    case IR_ATTR_DENSE_ARRAY:
      encode_dense_array(w, out, attr);
      return true;
    case IR_ATTR_LOCATION:
      encode_loc(w, out, attr->loc);
      return true;
    default:
      return false;
  }
}

uint64_t bytecode_attr_number(bytecode_writer_t* w, const ir_attr_t* attr) {
  uint64_t number;
  if (bytecode_find_number(&w->attrs, attr, &number)) return number;
  text_t bytes = {0};
  bool custom = encode_attr(w, &bytes, attr);
  bool dialect = attr->kind == IR_ATTR_OPAQUE && strncmp(attr->text, "builtin.", 8) != 0;
  if (!custom) {
    ir_print_attr(&bytes, attr);
    bytecode_put_byte(&bytes, 0);
  }
  uint64_t owner = dialect ? prefix_number(w, attr->text) : bytecode_dialect_number(w, "builtin", 7);
  add_entry(w, &w->attr_data, owner, &bytes, custom);
  text_finish(&bytes);
  return bytecode_add_number(w, &w->attrs, attr);
}
