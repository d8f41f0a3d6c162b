// Writing containers. A FlatBuffer is tables, strings and vectors, which refer to what comes later by its distance, and
// to a table's list of fields by how far back it is; so all is written once from front to back, and references are set
// when what they refer to is there.
#include "compiler/hip_container.h"

#include <string.h>

enum { HEADER_SIZE = 64, SIZE_AT = 8, CODE_ALIGNMENT = 64, FIELDS = 2 };

#define IDENTIFIER "HIP1"

// Field by field: bytes that it takes in the table. struct BlockDims has three words.
#define EXECUTABLE_FIELDS(FIELD) FIELD(exports, 4) FIELD(modules, 4)
#define MODULE_FIELDS(FIELD) FIELD(hsaco_image, 4)
#define EXPORT_FIELDS(FIELD)         \
  FIELD(module_ordinal, 4)           \
  FIELD(kernel_name, 4)              \
  FIELD(block_dims, 12)              \
  FIELD(block_shared_memory_size, 4) \
  FIELD(constant_count, 4)           \
  FIELD(binding_flags, 4)

#define FIELD(name, size) size,
static const uint16_t executable_fields[] = {EXECUTABLE_FIELDS(FIELD)};
static const uint16_t module_fields[] = {MODULE_FIELDS(FIELD)};
static const uint16_t export_fields[] = {EXPORT_FIELDS(FIELD)};
#undef FIELD

typedef struct writer_t {
  uint8_t* data;  // after the header
  size_t size;
} writer_t;

// The memory is zero and large enough.
static size_t align(writer_t* w, size_t alignment, size_t offset) {
  while ((w->size + offset) % alignment) ++w->size;
  return w->size;
}

static void put(writer_t* w, const void* data, size_t size) {
  if (size) memcpy(w->data + w->size, data, size);
  w->size += size;
}

static void put_u32(writer_t* w, uint32_t value) { put(w, &value, sizeof(value)); }

static void put_u16(writer_t* w, size_t value) { put(w, &(uint16_t){(uint16_t)value}, sizeof(uint16_t)); }

// Lets the word at a place refer to what comes next.
static void refer(writer_t* w, size_t place) {
  uint32_t distance = (uint32_t)(w->size - place);
  memcpy(w->data + place, &distance, sizeof(distance));
}

// A list of fields, whose table follows.
static size_t put_fields(writer_t* w, const uint16_t* sizes, size_t count) {
  size_t list = align(w, 4, (FIELDS + count) * sizeof(uint16_t)), end = 4;
  for (size_t i = 0; i < count; ++i) end += sizes[i];
  put_u16(w, (FIELDS + count) * sizeof(uint16_t));
  put_u16(w, end);
  for (size_t i = 0, at = 4; i < count; at += sizes[i++]) put_u16(w, at);
  return list;
}

// A table's first word, behind which its fields are the caller's to put.
static void begin_table(writer_t* w, size_t place, size_t fields) {
  align(w, 4, 0);
  refer(w, place);
  put_u32(w, (uint32_t)(w->size - fields));
}

// A vector of references, which are set later. Returns the place of the first.
static size_t put_references(writer_t* w, size_t place, uint32_t count) {
  align(w, 4, 0);
  refer(w, place);
  put_u32(w, count);
  size_t first = w->size;
  w->size += count * sizeof(uint32_t);
  return first;
}

static void put_string(writer_t* w, size_t place, const void* data, size_t length, size_t alignment) {
  align(w, alignment, sizeof(uint32_t));
  refer(w, place);
  put_u32(w, (uint32_t)length);
  put(w, data, length);
  ++w->size;  // the NUL
}

// Nothing is promised of bindings: their flags are 0.
static void put_flags(writer_t* w, size_t place, uint32_t count) {
  align(w, sizeof(uint64_t), sizeof(uint32_t));
  refer(w, place);
  put_u32(w, count);
  w->size += count * sizeof(uint64_t);
}

static void put_export(writer_t* w, size_t place, size_t fields, const target_entry_t* entry) {
  begin_table(w, place, fields);
  put_u32(w, 0);  // of the one module
  size_t name = w->size;
  put_u32(w, 0);
  put(w, entry->workgroup_size, sizeof(entry->workgroup_size));
  put_u32(w, entry->dynamic_memory_bytes);
  put_u32(w, entry->constant_count);
  size_t flags = w->size;
  put_u32(w, 0);
  put_string(w, name, entry->name, strlen(entry->name), sizeof(uint32_t));
  put_flags(w, flags, entry->binding_count);
}

static void put_executable(writer_t* w, const target_executable_t* e) {
  put_u32(w, 0);  // the root
  put(w, IDENTIFIER, 4);
  size_t fields = put_fields(w, executable_fields, sizeof(executable_fields) / sizeof(executable_fields[0]));
  begin_table(w, 0, fields);
  size_t exports = w->size;
  put_u32(w, 0);
  size_t modules = w->size;
  put_u32(w, 0);
  size_t export = put_references(w, exports, e->entry_count);
  fields = put_fields(w, export_fields, sizeof(export_fields) / sizeof(export_fields[0]));
  for (uint32_t i = 0; i < e->entry_count; ++i) put_export(w, export + i * sizeof(uint32_t), fields, &e->entries[i]);
  size_t module = put_references(w, modules, 1);
  fields = put_fields(w, module_fields, sizeof(module_fields) / sizeof(module_fields[0]));
  begin_table(w, module, fields);
  size_t image = w->size;
  put_u32(w, 0);
  put_string(w, image, e->data, e->size, CODE_ALIGNMENT);
  align(w, sizeof(uint64_t), 0);
}

// More than everything takes but names, flags and the code.
enum { FIXED_BYTES = 512, EXPORT_BYTES = 96 };

hip_container_t hip_container_make(arena_t* arena, const target_executable_t* e) {
  size_t bound = HEADER_SIZE + FIXED_BYTES + e->size;
  for (uint32_t i = 0; i < e->entry_count; ++i) {
    bound += EXPORT_BYTES + strlen(e->entries[i].name) + e->entries[i].binding_count * sizeof(uint64_t);
  }
  uint8_t* data = ARENA_ARRAY(arena, uint8_t, bound);
  memset(data, 0, bound);
  writer_t w = {data + HEADER_SIZE, 0};
  put_executable(&w, e);
  memcpy(data, IDENTIFIER, 4);
  uint64_t size = w.size;
  memcpy(data + SIZE_AT, &size, sizeof(size));
  return (hip_container_t){data, HEADER_SIZE + w.size};
}
