// Rows of the dialects' .def files become ir_op_info_t tables. A row is
//
//   OP(ENUM, name, operands, results, regions, traits, verify, assembly)
//
//   operands, results, regions   exact count, or V
//   traits                       short names below, joined with |
//   verify                       the op's own verifier, or NULL
//   assembly                     F("format"[, "result name"[, "argument name"]])  see ir/assembly.h
//                                HOOK(prefix[, "result name"[, "argument name"]])  prefix_parse and prefix_print
//                                GENERIC                                         generic form only
//
// A dialect's .c defines DIALECT ("arith") and OP as {DIALECT "." #name, ARITH_##ENUM, __VA_ARGS__} around its .def.
#ifndef IREE_C_DIALECTS_TABLE_H_
#define IREE_C_DIALECTS_TABLE_H_

#include "ir/assembly.h"

#define V IR_VARIADIC
#define NONE 0
#define PURE IR_TRAIT_PURE
#define COMM IR_TRAIT_COMMUTATIVE
#define SLOW NONE  // what a scalar function costs: scalar_info_t says it
#define DEAR NONE
#define VAST NONE
#define TERM IR_TRAIT_TERMINATOR
#define SAME IR_TRAIT_SAME_TYPE
#define SHAPE IR_TRAIT_SAME_SHAPE
#define ELEM IR_TRAIT_ELEMENTWISE
#define CONST IR_TRAIT_CONSTANT
#define ISOL IR_TRAIT_ISOLATED
#define SYM IR_TRAIT_SYMBOL
#define NOTERM IR_TRAIT_NO_TERMINATOR
#define ONEBLOCK IR_TRAIT_SINGLE_BLOCK
#define GIVES IR_TRAIT_GIVES_ARGS
#define INDEXMAP IR_TRAIT_INDEX_MAP

#define F(...) \
  ir_assembly_parse, ir_assembly_print, &(const ir_assembly_t) { __VA_ARGS__ }
#define HOOK(prefix, ...) \
  prefix##_parse, prefix##_print, &(const ir_assembly_t) { NULL, ##__VA_ARGS__ }
// prefix_parse reads it, and it prints in the generic form.
#define PARSED(prefix, ...) \
  prefix##_parse, ir_emit_generic, &(const ir_assembly_t) { NULL, ##__VA_ARGS__ }
#define GENERIC NULL, NULL, NULL

#define TABLE_DIALECT(var, id, name, rows) const ir_dialect_t var = {id, name, rows, sizeof(rows) / sizeof(rows[0])}

// Hooks that several dialects share (shared.c).
//   [attr-dict] value       the result has the value's type
ir_op_t* constant_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void constant_print(ir_printer_t* pr, ir_op_t* op);
//   [private|public|nested]
void visibility_parse(ir_parser_t* p, ir_draft_t* op);
//   [visibility] @name(%arg: type {attrs}, ...) -> (type {attrs}, ...) attributes {...} { body }
ir_op_t* function_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void function_print(ir_printer_t* pr, ir_op_t* op);
//   [visibility] [mutable] @name
bool global_name_parse(ir_parser_t* p, ir_draft_t* op);
//   the same, and {attrs} [= value] [: type]
ir_op_t* global_value_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void global_value_print(ir_printer_t* pr, ir_op_t* op);
//   ["name"] {attrs} : type = value
ir_op_t* buffer_constant_parse(ir_parser_t* p, const ir_op_info_t* info, const ir_loc_t* loc);
void buffer_constant_print(ir_printer_t* pr, ir_op_t* op);
//   (%arg = %init, ...)
bool assignments_parse(ir_parser_t* p, ir_ref_list_t* args, ir_ref_list_t* inits);
void assignments_print(ir_printer_t* pr, ir_value_t* const* args, const ir_op_t* op, uint32_t first, uint32_t count);
// The values in a region's entry block are `count` from `first` on, typed as the op's operands from `operand` on.
bool args_are_operands(const ir_region_t* region, uint32_t first, const ir_op_t* op, uint32_t operand, uint32_t count);
// Every result has the type of the operand `operand` places further.
bool results_are_operands(const ir_op_t* op, uint32_t operand);

#endif  // IREE_C_DIALECTS_TABLE_H_
