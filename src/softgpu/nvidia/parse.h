// What the parser's files share: the cursor in a module's text, names and their scopes, operands as written.
#ifndef IREE_C_SOFTGPU_NVIDIA_PARSE_H_
#define IREE_C_SOFTGPU_NVIDIA_PARSE_H_

#include "softgpu/nvidia/module.h"

enum { PARSE_MOST_DEPTH = 64 };
#define NO_REGISTER UINT32_MAX

typedef struct word_t {
  const char* text;
  uint32_t size;
} word_t;

typedef enum {
  SYMBOL_REGISTER,
  SYMBOL_RANGE,
  SYMBOL_VARIABLE,
  SYMBOL_FUNCTION,
  SYMBOL_LABEL,
  SYMBOL_LIST
} symbol_kind_t;
typedef struct symbol_t {
  word_t name;
  symbol_kind_t kind;
  uint32_t depth;
  uint32_t reg;  // register or the count of a range
  uint8_t type;  // of a range
  variable_t* variable;
  function_t* function;
  struct target_list_t* targets;
  uint32_t label;                 // number of the instruction behind it
  struct symbol_t *next, *older;  // same bucket; same scope
} symbol_t;

typedef enum {
  ARG_NONE,
  ARG_REGISTER,
  ARG_SPECIAL,
  ARG_INTEGER,
  ARG_FLOAT,   // value: bits of a double
  ARG_SINGLE,  // value: bits of a float
  ARG_SYMBOL,  // variable, function or label, with an offset
  ARG_MEMORY,  // list[0] is what stands in the brackets; value the offset
  ARG_LIST,    // {...} or (...)
  ARG_SINK,    // _
} arg_kind_t;
typedef struct arg_t {
  uint8_t kind;
  bool is_negated, has_second;  // "p|q"
  uint32_t reg, second;         // registers; NO_REGISTER for a sink
  uint8_t special, component;
  uint64_t value;
  symbol_t* symbol;  // NULL while a label is not known
  word_t name;
  struct arg_t* list;
  uint32_t count;
} arg_t;

// A statement as it was read.
typedef struct statement_t {
  ptx_part_t parts[PTX_MOST_PARTS];
  uint32_t part_count;
  word_t name;
  bool is_guarded, is_guard_negated;
  uint32_t guard;
  arg_t* args;
  uint32_t arg_count;
  uint32_t line;
  line_mark_t source;
  struct statement_t* next;
} statement_t;

typedef struct target_list_t {
  arg_t* labels;
  uint32_t count;
} target_list_t;

// A label that was named before it was seen.
typedef struct pending_t {
  arg_t* arg;
  uint32_t depth, line;
  struct pending_t* next;
} pending_t;

typedef struct parser_t {
  nv_module_t* module;
  nv_fault_t* fault;
  const char *at, *end;
  uint32_t line;
  bool failed;
  arena_t* arena;
  symbol_t** buckets;
  uint32_t bucket_count;
  symbol_t* scopes[PARSE_MOST_DEPTH];
  uint32_t depth;
  pending_t* pending;
  line_mark_t source;
  // The function whose body is read.
  function_t* function;
  ptx_register_t* registers;
  uint32_t register_count, register_capacity;
  statement_t *first, **last;
  uint32_t statement_count;
} parser_t;

// lex.c
// Records the first error; from then on the text is at its end.
bool parse_fail(parser_t* p, const char* format, ...) __attribute__((format(printf, 2, 3)));
bool parse_fail_as(parser_t* p, nv_fault_kind_t kind, const char* format, ...) __attribute__((format(printf, 3, 4)));
void lex_skip(parser_t* p);  // spaces and comments
char lex_peek(parser_t* p);  // next character that is no space; 0 at the end
bool lex_accept(parser_t* p, char c);
bool lex_expect(parser_t* p, char c);
word_t lex_word(parser_t* p);                  // name; size 0 when there is none
word_t lex_directive(parser_t* p);             // ".name" without the dot; size 0 when there is none
bool lex_number(parser_t* p, arg_t* out);      // a number, with its sign
bool lex_integer(parser_t* p, uint64_t* out);  // constant expression of integers
void lex_string(parser_t* p, word_t* out);
bool word_is(word_t word, const char* text);
char* word_copy(parser_t* p, word_t word);

// symbols.c
symbol_t* symbol_add(parser_t* p, word_t name, symbol_kind_t kind);
symbol_t* symbol_find(parser_t* p, word_t name);
bool scope_open(parser_t* p);
bool scope_close(parser_t* p);
uint32_t register_add(parser_t* p, word_t name, ptx_type_t type);
// Register of this name, those of ranges too; NO_REGISTER when there is none.
uint32_t register_find(parser_t* p, word_t name);

// parse_variable.c: behind the space's directive. `formal`: a parameter, which ends with ',' or ')'.
variable_t* parse_variable(parser_t* p, ptx_space_t space, bool is_extern, bool is_formal);

// parse_body.c
bool parse_body(parser_t* p, function_t* function);
bool parse_registers(parser_t* p);
bool parse_location(parser_t* p);

// decode.c: the statements that were read become the function's instructions.
bool decode_function(parser_t* p, function_t* function);

// Special registers: SPECIAL(name, text)
typedef enum special_t {
  SPECIAL_NONE,
#define SPECIAL(name, text, type) SPECIAL_##name,
#include "isa/nvidia/special.def"
#undef SPECIAL
} special_t;
special_t special_find(word_t name);
ptx_type_t special_type(special_t special);

#endif  // IREE_C_SOFTGPU_NVIDIA_PARSE_H_
