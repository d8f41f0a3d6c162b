// Custom assembly as data: one format string per op drives both its parser and its printer. Rows of the dialects' .def
// files carry it; ops whose syntax no format can say have hooks of their own.
//
// A format is a list of words separated by single spaces. An op is printed by its format only when the format says all
// of it (types that the format leaves out follow from those it has); otherwise its generic form is printed.
//
//   'word'  , : -> ( ) [ ] = < >   literal text
//   %0 %1        one operand;  %*  the remaining operands, maybe none
//   T            the one type of all operands and results
//   T0 T1        type of operand 0, 1;  O*  types of the operands not yet given, comma separated
//   R0 R1        type of result 0, 1;   R*  types of all results, comma separated
//   FT           (operand types) -> result types
//   SAME         T when all types are equal, else FT
//   ARROW        optional `-> types`: all results
//   $name        attribute: any value, with its type
//   $name:i      integer (i64)              $name:n    number without its type (the type of result 0)
//   $name:b      true or false              $name:sym  @symbol
//   $name:str    "string"                   $name:kw   bare word kept as a string
//   $name:l      [1, 2] kept as array<i64>  $name:e(dialect.kind)  bare word kept as #dialect<kind WORD>
//   $name:E(dialect.kind)  the same kept as #dialect.kind<WORD>
//   $name:type   a type                     $name:unit(word)  optional word, kept as unit
//   $name:sp     @symbol or, when anything else comes, nothing
//   {}           attribute dictionary;  {k}  the same behind `attributes`
//   region       { ... };  region-  the same, without its empty terminator
//   ^0           successor
//   (? ... ?)    optional: written when its first attribute is present, or its operands are not empty; read when its
//                first word comes
//   =T0 =T1      the type of all results, when the text does not say, is that of operand 0, 1
//   =i1          operand 0's type with i1 elements;  =elem  its element type;  =index  index
//   ~0           operands whose type the text does not say have the type of operand 0 (~R0: of result 0, ~i1, ~index)
#ifndef IREE_C_IR_ASSEMBLY_H_
#define IREE_C_IR_ASSEMBLY_H_

#include "ir/parse.h"
#include "ir/print.h"

typedef struct ir_assembly_t {
  const char* format;
  const char* result_hint;  // what printed names of its results begin with, or NULL
  const char* arg_hint;     // the same for arguments of its regions; "in/out": by operandSegmentSizes
} ir_assembly_t;

// The ir_op_info_t hooks for ops whose `extra` is an ir_assembly_t with a format.
ir_op_t* ir_assembly_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void ir_assembly_print(ir_printer_t* pr, ir_op_t* op);

#endif  // IREE_C_IR_ASSEMBLY_H_
