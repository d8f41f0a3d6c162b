// The parser's state, shared by the parse_*.c files.
#ifndef IREE_C_IR_PARSE_STATE_H_
#define IREE_C_IR_PARSE_STATE_H_

#include <string.h>

#include "ir/context.h"
#include "ir/parse.h"

// Limits on hostile text. Nesting is bounded so that recursion (here and in every later walk over the IR) is.
enum {
  IR_PARSE_MAX_DEPTH = 256,
  IR_PARSE_MAX_BLOCKS = 1024,  // of a region: finding dominators takes the square of it
  IR_PARSE_MAX_RANK = 64,
  IR_PARSE_MAX_AFFINE_NODES = 1024,
  IR_PARSE_MAX_RESULTS = 1 << 16,
};
#define IR_PARSE_MAX_ALIAS_NODES (1u << 24)  // nodes that one alias may stand for, its own aliases expanded

typedef struct ir_cursor_t {
  const char* at;
  const char* line_start;
  uint32_t line;
} ir_cursor_t;

// #name = attribute, !name = type; found ahead by scanning line starts when used before its definition.
typedef struct ir_alias_t {
  const char* name;  // with '#' or '!'
  uint32_t size;
  bool busy;           // being parsed: a use now is a cycle
  ir_cursor_t where;   // after '='
  ir_cursor_t behind;  // after the value
  const ir_attr_t* attr;
  const ir_type_t* type;
  uint32_t depth, nodes;
} ir_alias_t;

typedef struct ir_resource_t {
  const char* name;
  uint32_t size;
  const char* hex;  // digits after "0x"
  size_t hex_size;
  bool checked;         // that they are digits
  ir_lazy_t* lazy;      // of big data, at the first use
  unsigned char* data;  // of other data
} ir_resource_t;

typedef struct ir_forward_t {
  struct ir_forward_t* next;
  uint32_t number;
  uint32_t line, column;
  ir_value_t value;
} ir_forward_t;

// A name in the current isolated scope: %value or ^block.
typedef struct ir_entry_t {
  const char* name;
  uint32_t size;
  uint32_t depth;      // blocks: the region they belong to; values: 0
  ir_value_t* values;  // NULL: not defined (yet, or any more)
  uint32_t count;
  uint32_t line, column;  // of the definition, or of a block's first use
  ir_forward_t* forward;  // uses before the definition
  ir_block_t* block;
  bool defined;            // block: its label was seen
  struct ir_entry_t* log;  // defined before this one in the same isolated scope
  struct ir_entry_t* next_block;
  struct ir_entry_t* next_waiting;
} ir_entry_t;

// One isolated region (function, module): names outside are not seen.
typedef struct ir_scope_t {
  struct ir_scope_t* outer;
  ir_set_t names;
  ir_entry_t* log;      // newest definition
  ir_entry_t* waiting;  // used before their definition, maybe defined since
} ir_scope_t;

struct ir_parser_t {
  ir_context_t* ctx;
  arena_t scratch;
  ir_name_t path;
  const char* begin;
  const char* end;
  ir_cursor_t cursor;
  uint32_t depth, depth_seen;  // nesting now, and the deepest since the enclosing alias began
  uint32_t nodes;              // types and attributes read, aliases expanded
  bool failed;
  uint32_t quiet;  // > 0: trying, failures are not reported
  ir_set_t aliases, resources;
  ir_cursor_t section, behind_section;  // of resources, when it was read
  bool scanned;                         // line starts were scanned for aliases and resources
  ir_scope_t* scope;
  uint32_t region_depth;
  ir_entry_t* region_blocks;      // of the region being read
  const ir_op_info_t* enclosing;  // op whose region is being read
  ir_name_t enclosing_name;
  const char* op_name;  // as written, while a custom form is read
  size_t op_name_size;
};

// Characters.
static inline bool ir_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool ir_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static inline bool ir_is_word(char c) { return ir_is_letter(c) || ir_is_digit(c) || c == '$' || c == '.'; }
static inline bool ir_is_suffix(char c) { return ir_is_word(c) || c == '-'; }
static inline int ir_hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static inline size_t ir_left(const ir_parser_t* p) { return (size_t)(p->end - p->cursor.at); }
static inline char ir_peek(const ir_parser_t* p, size_t ahead) { return ahead < ir_left(p) ? p->cursor.at[ahead] : 0; }
void ir_skip_space(ir_parser_t* p);
static inline void ir_advance(ir_parser_t* p, size_t size) {
  p->cursor.at += size;
  if (p->cursor.at < p->end && (unsigned char)*p->cursor.at > ' ' && *p->cursor.at != '/') return;
  ir_skip_space(p);
}
// Moves to `to`, which lies ahead, counting lines.
void ir_jump(ir_parser_t* p, const char* to);
static inline bool ir_take(ir_parser_t* p, char c) {
  if (ir_peek(p, 0) != c) return false;
  ir_advance(p, 1);
  return true;
}
bool ir_take_expected(ir_parser_t* p, char c);
bool ir_fail_where(ir_parser_t* p, uint32_t line, uint32_t column, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
uint32_t ir_column(const ir_parser_t* p);
const ir_loc_t* ir_loc_where(ir_parser_t* p, uint32_t line, uint32_t column);

// Length of what starts at the position: word characters, suffix-id characters.
size_t ir_word_size(const ir_parser_t* p);
size_t ir_suffix_size(const ir_parser_t* p, size_t from);
// One level deeper; false (reported) when too deep. ir_leave must follow a true answer.
bool ir_enter(ir_parser_t* p);
static inline void ir_leave(ir_parser_t* p) { --p->depth; }

bool ir_parse_number(ir_parser_t* p, double* value);                             // digits '.' digits exponent
bool ir_parse_uint(ir_parser_t* p, uint64_t* value);                             // decimal or 0x
bool ir_parse_string_raw(ir_parser_t* p, const char** begin, const char** end);  // between the quotes
// Length of balanced text up to the closing `>` that ends it (not included), or SIZE_MAX.
size_t ir_balanced_size(const ir_parser_t* p);
bool ir_store_float_bits(const ir_type_t* type, uint64_t bits, double* value);

// An attribute with an optional `: type` where nothing else could own the type.
const ir_attr_t* ir_parse_item(ir_parser_t* p);
// Attributes and types that stand alone, without aliases; NULL, without a message, when the text is something else. The
// text outlives the context.
const ir_attr_t* ir_parse_attr_text(ir_context_t* ctx, const char* text, size_t size);
const ir_type_t* ir_parse_type_text(ir_context_t* ctx, const char* text, size_t size);
// Elements of `type` (or NULL when it cannot have them, or not so many) in bytes that outlive the context; booleans as
// bytes or bits. `resource` may be NULL.
const ir_attr_t* ir_attr_from_bytes(ir_context_t* ctx, const ir_type_t* type, const void* data, size_t size,
                                    const char* resource);
const ir_attr_t* ir_parse_raw_elements(ir_parser_t* p, const ir_type_t* type, const unsigned char* data, size_t size,
                                       const char* resource);
// Whether no name comes twice. Names are interned.
bool ir_unique_names(const ir_named_attr_t* entries, uint32_t count);
// StableHLO's lists of numbers as they are written today.
void ir_modernize_lists(ir_context_t* ctx, const char* op, ir_named_attr_t* attrs, uint32_t count);
// The operands that go to each successor, of an op whose attributes tell.
void ir_split_successor_operands(ir_op_t* op);

const ir_attr_t* ir_parse_dense(ir_parser_t* p);           // after `dense`
const ir_attr_t* ir_parse_dense_resource(ir_parser_t* p);  // after `dense_resource`
const ir_attr_t* ir_parse_dense_array(ir_parser_t* p);     // after `array`
const ir_attr_t* ir_parse_affine_map(ir_parser_t* p);      // after `affine_map`
const ir_attr_t* ir_typed_opaque(ir_parser_t* p, const char* name, const char* body, const ir_type_t* type);
const ir_loc_t* ir_parse_loc_body(ir_parser_t* p);  // after `loc`: (...)
const ir_loc_t* ir_parse_loc_inner(ir_parser_t* p);
void ir_list_add_value(ir_parser_t* p, ir_value_list_t* list, ir_value_t* value);
bool ir_parse_attr_entries(ir_parser_t* p, ir_attr_list_t* list, char close);

const ir_alias_t* ir_alias_use(ir_parser_t* p, const char* name, size_t size);  // NULL: reported
const ir_alias_t* ir_alias_find(ir_parser_t* p, const char* name, size_t size);
bool ir_parse_alias_definition(ir_parser_t* p);
bool ir_parse_resources(ir_parser_t* p);  // at `{-#`
ir_resource_t* ir_resource_find(ir_parser_t* p, const char* name, size_t size);

// How many characters from `text` on are hexadecimal digits.
size_t ir_hex_span(const char* text, size_t size);
// Digits that were checked to bytes.
void ir_hex_decode(const char* digits, size_t bytes, unsigned char* out);
// The same when it is asked for; the text outlives the context.
ir_lazy_t* ir_hex_lazy(ir_context_t* ctx, const char* digits, size_t bytes);

void ir_scope_push(ir_parser_t* p);
bool ir_scope_pop(ir_parser_t* p);
bool ir_define(ir_parser_t* p, const ir_ref_t* ref, ir_value_t* values, uint32_t count);
ir_block_t* ir_block_use(ir_parser_t* p, const char* name, uint32_t size);
ir_entry_t* ir_block_entry(ir_parser_t* p, const char* name, uint32_t size);
void ir_forget(ir_parser_t* p, ir_entry_t* mark);
ir_op_t* ir_parse_op(ir_parser_t* p);
bool ir_parse_region_into(ir_parser_t* p, ir_region_t* region, const ir_ref_list_t* args, const ir_type_list_t* types);

#endif  // IREE_C_IR_PARSE_STATE_H_
