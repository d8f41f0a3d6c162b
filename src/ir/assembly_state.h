// Shared by assembly.c (words, types) and assembly_attr.c (attributes in short form).
#ifndef IREE_C_IR_ASSEMBLY_STATE_H_
#define IREE_C_IR_ASSEMBLY_STATE_H_

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
