// The state of the bytecode reader, shared by the bytecode*.c files that read.
#ifndef IREE_C_IR_BYTECODE_STATE_H_
#define IREE_C_IR_BYTECODE_STATE_H_

#include "ir/bytecode.h"
#include "ir/bytecode_format.h"
#include "ir/context.h"

// Limits on hostile files, as those on hostile text (parse_state.h).
enum { BYTECODE_MAX_DEPTH = 256, BYTECODE_MAX_BLOCKS = 1024 };
#define BYTECODE_MAX_NODES (1u << 20)  // that one attribute or type may stand for, all its parts written out

// What is left of a section or of one entry.
typedef struct bytecode_bytes_t {
  const unsigned char* at;
  const unsigned char* end;
} bytecode_bytes_t;

typedef struct bytecode_string_t {
  const char* text;
  size_t size;
} bytecode_string_t;

// An attribute or a type, read when it is first asked for.
typedef struct bytecode_entry_t {
  bytecode_bytes_t data;
  uint32_t dialect;
  bool custom;  // the dialect's own encoding; else text
  bool busy;    // being read: asking for it now is a cycle
  uint32_t depth, nodes;
  const void* value;  // ir_attr_t or ir_type_t
} bytecode_entry_t;

typedef struct bytecode_name_t {
  const char* name;  // with its dialect
  bool registered;   // with whoever wrote it: its properties have the op's own encoding
} bytecode_name_t;

typedef struct bytecode_resource_t {
  const char* name;
  const unsigned char* data;  // NULL: only named
  size_t size;
} bytecode_resource_t;

typedef struct bytecode_t {
  ir_context_t* ctx;
  arena_t scratch;
  ir_name_t path;
  const unsigned char* begin;
  size_t size;
  uint64_t version;
  bool failed;
  uint32_t depth;          // nesting of entries or regions now
  uint32_t height, nodes;  // of the entry being read
  bytecode_bytes_t sections[BYTECODE_SECTION_COUNT];
  bool has[BYTECODE_SECTION_COUNT];
  bytecode_string_t* strings;
  const char** dialects;
  bytecode_name_t* names;
  bytecode_entry_t *attrs, *types;
  bytecode_resource_t* resources;
  bytecode_bytes_t* properties;
  size_t string_count, dialect_count, name_count, attr_count, type_count, resource_count, property_count;
  size_t value_budget;  // values that regions may still announce
  bool shardy;          // something of the sdy dialect was left out
} bytecode_t;

// Reports at the position (or without one: NULL) and returns false. Only the first message is shown.
bool bytecode_fail(bytecode_t* b, const bytecode_bytes_t* at, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
static inline size_t bytecode_left(const bytecode_bytes_t* c) { return (size_t)(c->end - c->at); }
bool bytecode_byte(bytecode_t* b, bytecode_bytes_t* c, uint8_t* out);
bool bytecode_varint(bytecode_t* b, bytecode_bytes_t* c, uint64_t* out);
bool bytecode_svarint(bytecode_t* b, bytecode_bytes_t* c, int64_t* out);
bool bytecode_flagged(bytecode_t* b, bytecode_bytes_t* c, uint64_t* out, bool* flag);
// A number of things that take at least a byte each.
bool bytecode_count(bytecode_t* b, bytecode_bytes_t* c, uint64_t* out, const char* what);
// An index below `count`.
bool bytecode_index(bytecode_t* b, bytecode_bytes_t* c, size_t count, uint64_t* out, const char* what);
bool bytecode_take(bytecode_t* b, bytecode_bytes_t* c, uint64_t size, bytecode_bytes_t* out);
bool bytecode_align(bytecode_t* b, bytecode_bytes_t* c, uint64_t alignment);
bool bytecode_section(bytecode_t* b, bytecode_bytes_t* c, uint8_t* id, bytecode_bytes_t* out);
bool bytecode_blob(bytecode_t* b, bytecode_bytes_t* c, bytecode_bytes_t* out);
bool bytecode_string(bytecode_t* b, bytecode_bytes_t* c, bytecode_string_t* out);
// {count, svarint...} in scratch memory.
bool bytecode_ints(bytecode_t* b, bytecode_bytes_t* c, int64_t** out, uint32_t* count);
// The bits of an integer or float of so many bits; more than 64 are refused.
bool bytecode_bits(bytecode_t* b, bytecode_bytes_t* c, uint32_t width, uint64_t* out);
bool bytecode_double(bytecode_t* b, bytecode_bytes_t* c, double* out);

// Entries by index, NULL after a diagnostic; the forms with bytes read the index there.
const ir_attr_t* bytecode_attr_at(bytecode_t* b, uint64_t index);
const ir_type_t* bytecode_type_at(bytecode_t* b, uint64_t index);
const ir_attr_t* bytecode_attr(bytecode_t* b, bytecode_bytes_t* c);
const ir_type_t* bytecode_type(bytecode_t* b, bytecode_bytes_t* c);
bool bytecode_optional_attr(bytecode_t* b, bytecode_bytes_t* c, const ir_attr_t** out);
const ir_loc_t* bytecode_loc(bytecode_t* b, bytecode_bytes_t* c);
bool bytecode_attr_list(bytecode_t* b, bytecode_bytes_t* c, const ir_attr_t*** out, uint32_t* count);
bool bytecode_type_list(bytecode_t* b, bytecode_bytes_t* c, const ir_type_t*** out, uint32_t* count);
// What text says: types and attributes are checked in one place, the parser. Frees `text`.
const ir_attr_t* bytecode_text_attr(bytecode_t* b, const bytecode_bytes_t* c, text_t* text);
const ir_type_t* bytecode_text_type(bytecode_t* b, const bytecode_bytes_t* c, text_t* text);
const ir_attr_t* bytecode_elements(bytecode_t* b, bytecode_bytes_t* c, const ir_type_t* type);
const ir_attr_t* bytecode_float(bytecode_t* b, bytecode_bytes_t* c, const ir_type_t* type);
const ir_attr_t* bytecode_integer(bytecode_t* b, bytecode_bytes_t* c, const ir_type_t* type);
// `tensor<`, dimensions, element, encoding (or NULL).
const ir_type_t* bytecode_shaped(bytecode_t* b, bytecode_bytes_t* c, const char* name, const ir_attr_t* encoding);
const ir_type_t* bytecode_function(bytecode_t* b, bytecode_bytes_t* c);
// `head`, a type, `>`: complex<...>.
const ir_type_t* bytecode_wrapped(bytecode_t* b, bytecode_bytes_t* c, const char* head);
const ir_type_t* bytecode_tuple(bytecode_t* b, bytecode_bytes_t* c);
const ir_attr_t* bytecode_array(bytecode_t* b, bytecode_bytes_t* c);
const ir_attr_t* bytecode_dict(bytecode_t* b, bytecode_bytes_t* c);

// The dialects' own encodings.
const ir_attr_t* bytecode_builtin_attr(bytecode_t* b, bytecode_bytes_t* c);
const ir_type_t* bytecode_builtin_type(bytecode_t* b, bytecode_bytes_t* c);
const ir_attr_t* bytecode_hlo_attr(bytecode_t* b, bytecode_bytes_t* c);
const ir_attr_t* bytecode_chlo_attr(bytecode_t* b, bytecode_bytes_t* c);
const ir_attr_t* bytecode_vhlo_attr(bytecode_t* b, bytecode_bytes_t* c);
const ir_type_t* bytecode_hlo_type(bytecode_t* b, bytecode_bytes_t* c);
const ir_type_t* bytecode_vhlo_type(bytecode_t* b, bytecode_bytes_t* c);
const ir_type_t* bytecode_quant_type(bytecode_t* b, bytecode_bytes_t* c);

// The ops of the IR section as a module.
ir_op_t* bytecode_module(bytecode_t* b);
// The attributes in an op's properties, appended to `attrs`, which has room (bytecode_property.c).
bool bytecode_properties(bytecode_t* b, bytecode_bytes_t* c, const bytecode_name_t* name, ir_named_attr_t** attrs,
                         uint32_t* count);

// VHLO's ops as StableHLO's (vhlo.c). The row of an op "vhlo.x_v1", or NULL; its attributes' names, each with marks.
const char* vhlo_attrs(const char* name);
// The op's name today; `in_func` tells returns apart.
const char* vhlo_op_name(bytecode_t* b, const char* name, bool in_func);
// Attributes as StableHLO has them, in place. False after a diagnostic.
bool vhlo_convert(bytecode_t* b, const char* name, ir_named_attr_t** attrs, uint32_t* count);

// #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>: {batch, feature} of input, {input, output feature} of the kernel,
// {batch, feature} of the output, and the spatial dimensions of each.
const ir_attr_t* vhlo_conv(bytecode_t* b, const bytecode_bytes_t* c, const int64_t numbers[6],
                           int64_t* const spatial[3], const uint32_t counts[3]);
// Structs of StableHLO's attributes (bytecode_hlo.c): "offset_dims:L ... index_vector_dim:I".
extern const char vhlo_dot[], vhlo_algorithm[], vhlo_gather[], vhlo_scatter[], vhlo_channel[];

#endif  // IREE_C_IR_BYTECODE_STATE_H_
