// Shared by assembly.c (words, types) and assembly_attr.c (attributes in short form).
#ifndef IREE_C_IR_ASSEMBLY_STATE_H_
#define IREE_C_IR_ASSEMBLY_STATE_H_

#include <string.h>

#include "ir/assembly.h"

enum { ASSEMBLY_MAX_SEGMENTS = 8 };

// One walk over a format: reading (p), or checking and writing (op; pr when writing).
typedef struct assembly_t {
  ir_context_t* ctx;
  const char* format;
  // reading
  ir_parser_t* p;
  ir_draft_t draft;
  ir_ref_list_t refs;
  ir_type_list_t ref_types;  // parallel to refs; NULL: not known yet
  const ir_type_t* same;     // the type that T stands for
  bool results_given;
  // checking and writing
  ir_printer_t* pr;
  ir_op_t* op;
  char last;  // class of the word written last: '(' no space follows; 'M' a mixed list
  // both
  uint32_t next;  // operands consumed
  uint32_t star, star_count;
  int32_t segments[ASSEMBLY_MAX_SEGMENTS];
  uint32_t segment_count;
} assembly_t;

typedef struct assembly_word_t {
  const char* text;
  size_t size;
} assembly_word_t;

static inline bool assembly_word_is(assembly_word_t word, const char* text) {
  return strlen(text) == word.size && memcmp(word.text, text, word.size) == 0;
}
static inline uint32_t assembly_word_number(assembly_word_t word) { return (uint32_t)(word.text[1] - '0'); }
static inline const ir_type_t* assembly_operand_type(const assembly_t* a, uint32_t i) {
  if (a->op) return i < a->op->operand_count ? ir_operand(a->op, i)->type : NULL;
  return i < a->ref_types.count ? a->ref_types.items[i] : NULL;
}
static inline const ir_type_t* assembly_result_type(const assembly_t* a, uint32_t i) {
  if (a->op) return i < a->op->result_count ? a->op->results[i].type : NULL;
  return i < a->draft.results.count ? a->draft.results.items[i] : NULL;
}

// How one kind of word is read, whether an op can be written with it, how it is written.
typedef struct assembly_directive_t {
  const char* word;  // whole, or with a trailing '*': what it begins with; '#' stands for the character '*'
  size_t size;
  bool (*read)(assembly_t* a, assembly_word_t word);
  bool (*fits)(assembly_t* a, assembly_word_t word);
  void (*write)(assembly_t* a, assembly_word_t word);
  char spacing;  // 0: a space before it; 'n': none (it makes its own); 'M': attached unless behind another such
} assembly_directive_t;
#define ASSEMBLY_WORD(text) text, sizeof(text) - 1

// The words that stand for types (assembly_type.c).
extern const assembly_directive_t assembly_type_directives[];
extern const size_t assembly_type_directive_count;

// $name:kind(argument)
typedef struct assembly_attr_t {
  char name[48];
  char kind[8];
  char argument[160];
} assembly_attr_t;

void assembly_attr_split(assembly_word_t word, assembly_attr_t* out);
// Can be written in this form (absent is false).
bool assembly_attr_fits(assembly_t* a, const assembly_attr_t* spec);
bool assembly_attr_read(assembly_t* a, const assembly_attr_t* spec);
void assembly_attr_write(assembly_t* a, const assembly_attr_t* spec);
// Whether the form's text comes next.
bool assembly_attr_peek(assembly_t* a, const assembly_attr_t* spec);

#endif  // IREE_C_IR_ASSEMBLY_STATE_H_
