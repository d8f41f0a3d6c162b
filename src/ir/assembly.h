// Custom assembly as data: one format string per op drives both its parser and its printer. Rows of the dialects' .def
// files carry it; ops whose syntax no format can say have hooks of their own.
//
// An op is printed by its format only when the format says all of it (types that the text leaves out follow from those
// it has); otherwise its generic form is printed. A format is a list of words separated by single spaces:
//
//   , : -> ( ) [ ] < > =   literal punctuation;  'word'  a literal keyword
//   %0 %1        one operand, in order;   %*  the remaining operands, maybe none;   %+  one or more
//   T            the one type of all operands and results
//   T0 T1        type of operand 0, 1;    O*  types of the operands of %*, comma separated
//   R0 R1        type of result 0, 1;     R*  types of all results, comma separated
//   FT           (operand types) -> result types
//   SAME         T when all types are equal, else FT
//   ARROW        `-> types` of all results; nothing when there are none
//   SELECT       `T` with an i1 condition, or `condition type, T` (arith.select)
//   RF           type of result 0, or FT
//   PRED         `condition type, T`, or FT (stablehlo.select)
//   $name        attribute: any value, with its type
//   $name:KIND   attribute in short form; kinds are in attr_kinds (assembly_attr.c):
//                  i 3   b true   sym @f   str "s"   kw word (a string)   type f32
//                  l [1, 2] (array<i64>)   lb [true, false] (array<i1>)
//                  i32 3 (of type i32)   symstr @f (a string)   le(stablehlo.precision) [WORD, ...]
//                  e(stablehlo.precision) WORD for #stablehlo<precision WORD>
//                  E(arith.x) WORD for #arith.x<WORD>
//                  w(eq,ne,...) WORD for its number as i64;  W(...) as i32
//   $name:unit(word)  the optional word stands for a unit attribute
//   fm  ov       optional fastmath<...>, overflow<...>
//   {}           attribute dictionary;    {k}  the same behind `attributes`
//   region       { ... };  region-  the same, without its trailing empty terminator; region-(scf.yield) names it
//   ^0           successor
//   M(name)      [%a, 1, ...]: values and numbers mixed; numbers and kDynamic in the array<i64> attribute
//   MS(name)     the same behind a space
//   SEG          operandSegmentSizes follows from the text: one for each %0, one for each %* and M
//   (? ... ?)    optional: read when its first word comes, written when its first attribute is present or, without
//                attributes, when the op has operands left for its %*
//   =TYPE        type of all results, when the text does not say;  =same  pairwise the operands' types
//   ~TYPE ~0:TYPE  type of the operands (of operand 0) that the text does not say;  ~tuple  elements of result 0
// where TYPE is index, bool, i32, i64, T0.. (operand), R0.. (result), alone or with .elem (its element) or .i1 (with i1
// elements), or ! and the name of a dialect type.
#ifndef IREE_C_IR_ASSEMBLY_H_
#define IREE_C_IR_ASSEMBLY_H_

#include "ir/parse.h"
#include "ir/print.h"

typedef struct ir_assembly_t {
  const char* format;       // NULL: the op has hooks of its own
  const char* result_hint;  // what printed names of its results begin with, or NULL; "cst": by the constant's value
  const char* arg_hint;     // the same for arguments of its regions; "in/out": by operandSegmentSizes
} ir_assembly_t;

// The ir_op_info_t hooks for ops whose `extra` is an ir_assembly_t with a format.
ir_op_t* ir_assembly_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void ir_assembly_print(ir_printer_t* pr, ir_op_t* op);
// Gives an op's results, whatever types they have, those that its text would leave out. False when they follow from
// neither operands nor attributes.
bool ir_assembly_infer(ir_context_t* ctx, ir_op_t* op);

#endif  // IREE_C_IR_ASSEMBLY_H_
