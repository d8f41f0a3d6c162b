// What a dialect's custom assembly uses to read its ops (ir_parse_module itself is in ir.h). The parser works on
// characters: after every call the position is at the next character that is neither space nor comment.
//
// Functions that return bool or a pointer report a diagnostic where they fail and return false or NULL; the hook then
// just returns NULL. `try` forms consume nothing and say nothing when the text is something else.
//
//   ir_op_t* parse_negf(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc) {
//     ir_draft_t op;
//     ir_ref_t x;
//     const ir_type_t* type;
//     ir_draft_init(p, &op, info, loc);
//     if (!ir_parse_ref(p, &x) || !ir_parse_attr_dict(p, &op) || !ir_parse_expect(p, ":") ||
//         !(type = ir_parse_type(p)) || !ir_draft_operand(p, &op, &x, type)) {
//       return NULL;
//     }
//     ir_draft_result(p, &op, type);
//     return ir_draft_finish(p, &op);
//   }
#ifndef IREE_C_IR_PARSE_H_
#define IREE_C_IR_PARSE_H_

#include "ir/ir.h"

typedef struct ir_parser_t ir_parser_t;

// A value as written: %name or %name#number. Resolved with its type, which usually comes later in the text.
typedef struct ir_ref_t {
  const char* name;  // with the '%'
  uint32_t size;
  uint32_t number;
  uint32_t line, column;
} ir_ref_t;

// A growing list with room for a few elements in place.
#define IR_LIST(type, name) \
  typedef struct name {     \
    uint32_t count;         \
    uint32_t capacity;      \
    type* items;            \
    type inline_items[8];   \
  } name
IR_LIST(ir_value_t*, ir_value_list_t);
IR_LIST(ir_ref_t, ir_ref_list_t);
IR_LIST(const ir_type_t*, ir_type_list_t);
IR_LIST(ir_named_attr_t, ir_attr_list_t);

// An op being read. Lists live until the parse ends.
typedef struct ir_draft_t {
  const ir_op_info_t* info;
  const char* name;
  const ir_loc_t* loc;
  ir_value_list_t operands;
  ir_type_list_t results;
  ir_attr_list_t attrs;
  ir_region_t* regions[8];
  ir_region_t** more_regions;  // all of them when there are more than 8
  uint32_t region_count;
  ir_block_t** successors;
  uint32_t* successor_operand_counts;
  uint32_t successor_count;
} ir_draft_t;

//===----------------------------------------------------------------------------------------------------------------===
// Words and numbers
//===----------------------------------------------------------------------------------------------------------------===

// Reports at the current position. Only the first message of a parse is shown.
bool ir_parse_fail(ir_parser_t* p, const char* format, ...) __attribute__((format(printf, 2, 3)));
ir_context_t* ir_parse_context(ir_parser_t* p);

// Punctuation ("->") or a whole keyword ("dim").
bool ir_parse_peek(ir_parser_t* p, const char* literal);
bool ir_parse_try(ir_parser_t* p, const char* literal);
bool ir_parse_expect(ir_parser_t* p, const char* literal);
// The first character of what comes next; 0 at the end.
char ir_parse_next(const ir_parser_t* p);
// [A-Za-z_][A-Za-z0-9_$.]*: interned, or NULL when something else comes.
ir_name_t ir_parse_try_keyword(ir_parser_t* p);
ir_name_t ir_parse_keyword(ir_parser_t* p, const char* what);
bool ir_parse_try_integer(ir_parser_t* p, int64_t* value);
bool ir_parse_integer(ir_parser_t* p, int64_t* value);
// "..." without its escapes; in the arena, NUL-terminated.
bool ir_parse_string(ir_parser_t* p, const char** text, size_t* size);
// @name or @"name", interned without '@'; `try` gives NULL when there is none.
ir_name_t ir_parse_try_symbol_name(ir_parser_t* p);
ir_name_t ir_parse_symbol_name(ir_parser_t* p);
// [1, 2, 3] (`?` allowed when `dynamic`: IR_DYNAMIC); in the arena.
bool ir_parse_int_list(ir_parser_t* p, int64_t** values, uint32_t* count);

// The text between balanced < and >, interned; NULL after a diagnostic.
ir_name_t ir_parse_bracketed(ir_parser_t* p);
// The name of the op being read, as written.
ir_name_t ir_parse_op_name(ir_parser_t* p);

//===----------------------------------------------------------------------------------------------------------------===
// Types, attributes, locations
//===----------------------------------------------------------------------------------------------------------------===

const ir_type_t* ir_parse_type(ir_parser_t* p);
// True when a type starts here.
bool ir_parse_peek_type(ir_parser_t* p);
// t, t, ... (at least one).
bool ir_parse_types(ir_parser_t* p, ir_type_list_t* list);
// (t, ...) or () .
bool ir_parse_types_in_parens(ir_parser_t* p, ir_type_list_t* list);
// `(t, ...)` or one type that is not a function.
bool ir_parse_result_types(ir_parser_t* p, ir_type_list_t* list);
// Numbers without `: type` get `type`, or i64 and f64 when it is NULL.
const ir_attr_t* ir_parse_attr(ir_parser_t* p, const ir_type_t* type);
// The type an attribute carries, or NULL.
const ir_type_t* ir_attr_own_type(const ir_attr_t* attr);
// #name<...> whose `#name` the text leaves out: at the `<`.
const ir_attr_t* ir_parse_dialect_attr(ir_parser_t* p, const char* name);
const ir_attr_t* ir_parse_symbol(ir_parser_t* p);
// Optional `{name = value, ...}` and `attributes {...}`; entries are appended to the op's.
bool ir_parse_attr_dict(ir_parser_t* p, ir_draft_t* op);
bool ir_parse_attr_dict_keyword(ir_parser_t* p, ir_draft_t* op);
// Optional `<{...}>`.
bool ir_parse_properties(ir_parser_t* p, ir_draft_t* op);
// Optional `{...}` as an attribute; empty dictionary when absent.
const ir_attr_t* ir_parse_optional_dict(ir_parser_t* p);
// Optional `loc(...)`: *loc stays as it is when absent.
bool ir_parse_optional_loc(ir_parser_t* p, const ir_loc_t** loc);

//===----------------------------------------------------------------------------------------------------------------===
// Values
//===----------------------------------------------------------------------------------------------------------------===

bool ir_parse_try_ref(ir_parser_t* p, ir_ref_t* ref);
bool ir_parse_ref(ir_parser_t* p, ir_ref_t* ref);
// %a, %b, ... ; none is fine.
bool ir_parse_refs(ir_parser_t* p, ir_ref_list_t* list);
// The value, or a placeholder that its later definition replaces.
ir_value_t* ir_parse_resolve(ir_parser_t* p, const ir_ref_t* ref, const ir_type_t* type);
// Type of a value defined above, or NULL.
const ir_type_t* ir_parse_ref_type(ir_parser_t* p, const ir_ref_t* ref);
bool ir_parse_fail_at(ir_parser_t* p, const ir_ref_t* ref, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

//===----------------------------------------------------------------------------------------------------------------===
// Drafts
//===----------------------------------------------------------------------------------------------------------------===

void ir_draft_init(ir_parser_t* p, ir_draft_t* op, const ir_op_info_t* info, const ir_loc_t* loc);
bool ir_draft_operand(ir_parser_t* p, ir_draft_t* op, const ir_ref_t* ref, const ir_type_t* type);
void ir_draft_value(ir_parser_t* p, ir_draft_t* op, ir_value_t* value);
// One type for each ref, reported when the counts differ.
bool ir_draft_operands(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* refs, const ir_type_list_t* types);
void ir_draft_result(ir_parser_t* p, ir_draft_t* op, const ir_type_t* type);
void ir_draft_results(ir_parser_t* p, ir_draft_t* op, const ir_type_list_t* types);
void ir_draft_attr(ir_parser_t* p, ir_draft_t* op, const char* name, const ir_attr_t* value);
const ir_attr_t* ir_draft_find_attr(const ir_draft_t* op, const char* name);
// `{ ... }` whose entry block has `args`. ISOLATED ops' regions see no outer values.
bool ir_draft_region(ir_parser_t* p, ir_draft_t* op, const ir_ref_list_t* args, const ir_type_list_t* types);
// A region that the text leaves out: a fresh empty one, for hooks that build its ops.
ir_region_t* ir_draft_empty_region(ir_parser_t* p, ir_draft_t* op);
// `^bb1` or `^bb1(%a, %b : t, t)`; its operands are appended to the op's.
bool ir_draft_successor(ir_parser_t* p, ir_draft_t* op);
// `^bb1` alone, whatever comes behind it.
bool ir_draft_block(ir_parser_t* p, ir_draft_t* op);
ir_op_t* ir_draft_finish(ir_parser_t* p, ir_draft_t* op);
// Ends each block of the region that has no terminator with an op `name`.
void ir_region_ensure_terminator(ir_context_t* ctx, ir_region_t* region, const char* name, const ir_loc_t* loc);

void ir_list_add_type(ir_parser_t* p, ir_type_list_t* list, const ir_type_t* type);
void ir_list_add_named_attr(ir_parser_t* p, ir_attr_list_t* list, const char* name, const ir_attr_t* value);
void ir_list_add_ref(ir_parser_t* p, ir_ref_list_t* list, const ir_ref_t* ref);
// Scratch memory that lives until the parse ends.
void* ir_parse_scratch(ir_parser_t* p, size_t size);
// The array with room for one item more than it has; `items` may be NULL when `count` is 0.
void* ir_parse_grow(ir_parser_t* p, void* items, size_t count, size_t size);

#endif  // IREE_C_IR_PARSE_H_
