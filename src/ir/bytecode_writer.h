// The state of the bytecode writer: tables of what was met, each thing once.
#ifndef IREE_C_IR_BYTECODE_WRITER_H_
#define IREE_C_IR_BYTECODE_WRITER_H_

#include "ir/bytecode.h"
#include "ir/bytecode_format.h"
#include "ir/context.h"

// Numbers of things by their addresses.
typedef struct bytecode_number_t {
  const void* key;
  uint64_t number;
} bytecode_number_t;
typedef struct bytecode_table_t {
  ir_set_t set;
  uint64_t count;
} bytecode_table_t;

typedef struct bytecode_entries_t {
  uint64_t *items, *dialects;
  uint64_t count, capacity;
  text_t bytes;
} bytecode_entries_t;

typedef struct bytecode_writer_t {
  ir_context_t* ctx;
  arena_t scratch;
  int64_t version;
  bytecode_table_t strings, dialects, names, attrs, types, resources;
  text_t string_bytes;  // as they are met
  uint64_t *string_sizes, string_capacity;
  text_t dialect_list, name_list;  // encoded
  bytecode_entries_t attr_data, type_data;
  const ir_attr_t** resource_list;
  uint64_t resource_capacity;
} bytecode_writer_t;

void bytecode_put_byte(text_t* out, unsigned value);
void bytecode_put_varint(text_t* out, uint64_t value);
void bytecode_put_flagged(text_t* out, uint64_t value, bool flag);
bool bytecode_find_number(const bytecode_table_t* table, const void* key, uint64_t* number);
uint64_t bytecode_add_number(bytecode_writer_t* w, bytecode_table_t* table, const void* key);

// The number of a thing; it is encoded when it is new.
uint64_t bytecode_dialect_number(bytecode_writer_t* w, const char* text, size_t size);
uint64_t bytecode_name_number(bytecode_writer_t* w, const ir_op_t* op);
uint64_t bytecode_type_number(bytecode_writer_t* w, const ir_type_t* type);
uint64_t bytecode_attr_number(bytecode_writer_t* w, const ir_attr_t* attr);
uint64_t bytecode_loc_number(bytecode_writer_t* w, const ir_loc_t* loc);
uint64_t bytecode_string_number(bytecode_writer_t* w, const char* text, size_t size);

#endif  // IREE_C_IR_BYTECODE_WRITER_H_
